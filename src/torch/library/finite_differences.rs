//! Checks of gradients against finite differences: `gradcheck` and `gradgradcheck`. Follows
//! <https://pytorch.org/docs/2.7/generated/torch.autograd.gradcheck.gradcheck.html>.

use super::autograd_functional::recording;
use autograd::{self, Functions, Pass};
use call::{Call, Row, State, function};
use objects::calling::call_plain;
use tensor::bail;
use tensor::ops::create;
use tensor::view::complex;
use tensor::{DType, Error, ErrorKind, Result, Scalar, Tensor, View};
use value::Value;

pub(super) const ROWS: &[Row] = &[
    function(
        "autograd.gradcheck(any func, any inputs, *, float eps=1e-6, float atol=1e-5, float rtol=1e-3, bool \
 raise_exception=True, float nondet_tol=0.0, bool check_undefined_grad=True, bool \
 check_grad_dtypes=False, bool check_batched_grad=False, bool check_batched_forward_grad=False, bool \
 check_forward_ad=False, bool check_backward_ad=True, bool fast_mode=False, any masked=None) -> bool",
        |c| {
            let inputs = listed(&c.value(1));
            recording(c, |c| {
                let run = c.value(0);
                check(c, &inputs, 2, &|inputs| tensors_of(&call_plain(c.state, &run, inputs.to_vec())?))
            })
        },
        "Returns whether the gradients of a function agree with finite differences.",
    )
    .python("gradcheck"),
    function(
        "autograd.gradgradcheck(any func, any inputs, any grad_outputs=None, *, float eps=1e-6, float \
 atol=1e-5, float rtol=1e-3, bool gen_non_contig_grad_outputs=False, bool raise_exception=True, float \
 nondet_tol=0.0, bool check_undefined_grad=True, bool check_grad_dtypes=False, bool \
 check_batched_grad=False, bool check_fwd_over_rev=False, bool check_rev_over_rev=True, bool \
 fast_mode=False, any masked=False) -> bool",
        |c| recording(c, of_gradients),
        "Returns whether the gradients of a function's gradients agree with finite differences.",
    )
    .python("gradgradcheck"),
];

type Run<'r> = dyn Fn(&[Value]) -> Result<Vec<Tensor>> + 'r;

fn listed(value: &Value) -> Vec<Value> {
    value.items().map_or_else(|| vec![value.clone()], |items| items.to_vec())
}

fn tensors_of(value: &Value) -> Result<Vec<Tensor>> {
    Ok(listed(value).into_iter().filter_map(|v| if let Value::Tensor(t) = v { Some(t) } else { None }).collect())
}

/// Returns the tensors that require gradients. If none does, returns all whose dtype could.
fn differentiable(tensors: Vec<Tensor>) -> Vec<Tensor> {
    let could = |tensor: &Tensor| tensor.borrow().dtype.is_differentiable();
    let mut tensors: Vec<Tensor> = tensors.into_iter().filter(could).collect();
    if tensors.iter().any(Tensor::requires_grad) {
        tensors.retain(Tensor::requires_grad);
    }
    tensors
}

fn of_gradients(c: &Call) -> Result<Value> {
    let inputs = listed(&c.value(1));
    let run = c.value(0);
    let outputs = differentiable(tensors_of(&call_plain(c.state, &run, inputs.clone())?)?);
    let seeds = match c.value(2) {
        Value::None => outputs.iter().map(|output| random_like(c.state, output)).collect::<Result<Vec<Value>>>()?,
        given => listed(&given),
    };
    let all: Vec<Value> = inputs.iter().chain(&seeds).cloned().collect();
    let slopes = |args: &[Value]| -> Result<Vec<Tensor>> {
        let (inputs, seeds) = args.split_at(inputs.len().min(args.len()));
        let outputs = differentiable(tensors_of(&call_plain(c.state, &run, inputs.to_vec())?)?);
        let seeds =
            seeds.iter().filter_map(|seed| if let Value::Tensor(seed) = seed { Some(seed.clone()) } else { None });
        let roots: Vec<(Tensor, Tensor)> = outputs.into_iter().zip(seeds).filter(|(o, _)| o.requires_grad()).collect();
        let wanted: Vec<Tensor> = wanted(inputs);
        if roots.is_empty() || wanted.is_empty() {
            return Ok(Vec::new());
        }
        let pass = Pass { functions: c.state, retain_graph: true, create_graph: true };
        Ok(autograd::gradients(pass, &roots, &wanted)?.into_iter().flatten().collect())
    };
    check(c, &all, 3, &slopes)
}

/// Returns the inputs whose gradients are checked.
fn wanted(inputs: &[Value]) -> Vec<Tensor> {
    let tensors = inputs.iter().filter_map(|input| if let Value::Tensor(tensor) = input { Some(tensor) } else { None });
    tensors.filter(|tensor| tensor.requires_grad()).cloned().collect()
}

/// Fills a tensor like `output` with random numbers between -1 and 1. It requires gradients.
fn random_like(state: &State, output: &Tensor) -> Result<Value> {
    let room = Tensor::new(create::zeros_like(&output.borrow(), None, None)?);
    let before = state.set_recording(false);
    let filled = state.call("uniform_", &[Value::Tensor(room.clone()), Value::Float(-1.0), Value::Float(1.0)]);
    state.set_recording(before);
    filled?;
    room.autograd_mut(|meta| meta.requires_grad = true);
    Ok(Value::Tensor(room))
}

/// Compares the gradient of every real part of every result with finite differences. The arguments `eps`, `atol` and
/// `rtol` start at position `numbers`.
fn check(call: &Call, inputs: &[Value], numbers: usize, run: &Run) -> Result<Value> {
    let number = |name: &str| call.position(name).map_or(Ok(0.0), |i| call.scalar(i).map(Scalar::to_f64));
    let (eps, atol, rtol) = (call.scalar(numbers)?.to_f64(), number("atol")?, number("rtol")?);
    let raises = call.position("raise_exception").is_none_or(|i| call.bool(i) != Ok(false));
    let leaves = wanted(inputs);
    if leaves.is_empty() {
        bail!(
            ValueError,
            "gradcheck expects at least one input tensor to require gradient, but none of the them have \
             requires_grad=True."
        );
    }
    let outputs = differentiable(run(inputs)?);
    let is_recorded = outputs.iter().any(Tensor::requires_grad);
    for (o, output) in outputs.iter().enumerate() {
        for (i, leaf) in leaves.iter().enumerate() {
            let analytical = analytical(call.state, output, leaf)?;
            let numerical = numerical(inputs, leaf, o, eps, run)?;
            let close = |(a, n): (&f64, &f64)| a == n || is_recorded && (a - n).abs() <= atol + rtol * n.abs();
            if analytical.len() != numerical.len() || !analytical.iter().zip(&numerical).all(close) {
                if !raises {
                    return Ok(Value::Bool(false));
                }
                if !is_recorded {
                    bail!(GradcheckError, "Numerical gradient for function expected to be zero");
                }
                let columns = parts(output);
                let shown = |values: &[f64]| -> Result<String> {
                    let sizes = [(values.len() as i64).checked_div(columns).unwrap_or(0), columns];
                    let values = values.iter().map(|&value| Scalar::Float(value)).collect::<Vec<_>>();
                    call.state.repr(&Value::from(View::from_scalars(&sizes, DType::Double, values)?))
                };
                let (numerical, analytical) = (shown(&numerical)?, shown(&analytical)?);
                return Err(Error::new(
                    ErrorKind::GradcheckError,
                    format!(
                        "Jacobian mismatch for output {o} with respect to input {i},\nnumerical:{numerical}\n\
                         analytical:{analytical}\n"
                    ),
                ));
            }
        }
    }
    Ok(Value::Bool(true))
}

/// Counts the real numbers in a tensor; a complex element has two.
fn parts(tensor: &Tensor) -> i64 {
    let view = tensor.borrow();
    view.numel() * if view.dtype.is_complex() { 2 } else { 1 }
}

/// Splits values into their real parts, in order.
fn split(values: Vec<Scalar>, is_complex: bool) -> Vec<f64> {
    let both = |value: Scalar| match is_complex {
        true => vec![value.to_complex().re, value.to_complex().im],
        false => vec![value.to_f64()],
    };
    values.into_iter().flat_map(both).collect()
}

/// Computes the derivatives of every real part of the output by every real part of the leaf, with one row for each part
/// of the leaf.
fn analytical(state: &State, output: &Tensor, leaf: &Tensor) -> Result<Vec<f64>> {
    let columns = parts(output);
    let rows = parts(leaf);
    let mut matrix = vec![0.0; usize::try_from(rows.saturating_mul(columns)).unwrap_or(0)];
    if !output.requires_grad() {
        return Ok(matrix);
    }
    let (sizes, dtype) = (output.borrow().layout.sizes.clone(), output.borrow().dtype);
    let pass = Pass { functions: state, retain_graph: true, create_graph: false };
    for column in 0..columns {
        let one = |i: i64| match dtype.is_complex() {
            true if i == column / 2 && column % 2 == 0 => complex(1.0, 0.0),
            true if i == column / 2 => complex(0.0, 1.0),
            true => complex(0.0, 0.0),
            false => Scalar::Float(f64::from(u8::from(i == column))),
        };
        let seed = View::from_scalars(&sizes, dtype, (0..output.borrow().numel()).map(one))?;
        let found = autograd::gradients(pass, &[(output.clone(), Tensor::new(seed))], std::slice::from_ref(leaf))?;
        let Some(Some(gradient)) = found.into_iter().next() else { continue };
        let gradient = split(gradient.borrow().scalars()?, leaf.borrow().dtype.is_complex());
        for (row, slope) in gradient.into_iter().enumerate() {
            if let Some(slot) = matrix.get_mut(row * columns as usize + column as usize) {
                *slot = slope;
            }
        }
    }
    Ok(matrix)
}

/// Computes the same matrix from central differences of the results.
fn numerical(inputs: &[Value], leaf: &Tensor, output: usize, eps: f64, run: &Run) -> Result<Vec<f64>> {
    let (values, dtype) = (leaf.borrow().scalars()?, leaf.borrow().dtype);
    let at = |place: usize, step: (f64, f64)| -> Result<Vec<f64>> {
        let moved = values.iter().enumerate().map(|(i, value)| match i == place {
            false => *value,
            true if dtype.is_complex() => {
                let value = value.to_complex();
                complex(value.re + step.0, value.im + step.1)
            }
            true => Scalar::Float(value.to_f64() + step.0),
        });
        let moved = Tensor::new(View::from_scalars(leaf.borrow().sizes(), dtype, moved.collect::<Vec<_>>())?);
        moved.autograd_mut(|meta| meta.requires_grad = true);
        let args: Vec<Value> = inputs
            .iter()
            .map(|input| match input {
                Value::Tensor(tensor) if tensor.is(leaf) => Value::Tensor(moved.clone()),
                other => other.clone(),
            })
            .collect();
        let outputs = differentiable(run(&args)?);
        let Some(output) = outputs.get(output) else { bail!(RuntimeError, "the function gave fewer results") };
        let (values, is_complex) = (output.borrow().scalars()?, output.borrow().dtype.is_complex());
        Ok(split(values, is_complex))
    };
    let mut matrix = Vec::new();
    for place in 0..values.len() {
        let steps: &[(f64, f64)] = if dtype.is_complex() { &[(eps, 0.0), (0.0, eps)] } else { &[(eps, 0.0)] };
        for &(re, im) in steps {
            tensor::interrupt::check()?;
            let (above, below) = (at(place, (re, im))?, at(place, (-re, -im))?);
            matrix.extend(above.iter().zip(below).map(|(above, below)| (above - below) / (2.0 * eps)));
        }
    }
    Ok(matrix)
}
