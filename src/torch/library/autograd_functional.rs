//! Derivatives of functions: `torch.autograd.functional`. Follows
//! <https://pytorch.org/docs/2.7/autograd.html#functional-higher-level-api>.

use crate::steps::Steps;
use autograd::{self, Functions, Pass};
use call::{Call, Row, State, function, one};
use objects::calling::call_plain;
use tensor::bail;
use tensor::layout::show;
use tensor::ops::create;
use tensor::{Dims, Result, Scalar, Tensor, View};
use value::Value;

pub(super) const ROWS: &[Row] = &[
    function(
        "autograd.functional.jacobian(any func, any inputs, bool create_graph=False, bool strict=False, bool \
 vectorize=False, str strategy=\"reverse-mode\") -> any",
        |c| {
            let how = How::of(c, "jacobian", 2, 3)?;
            recording(c, |c| jacobian(c, &how))
        },
        "Computes the derivatives of every result of a function by every element of its inputs.",
    )
    .python("jacobian"),
    function(
        "autograd.functional.hessian(any func, any inputs, bool create_graph=False, bool strict=False, bool \
 vectorize=False, str outer_jacobian_strategy=\"reverse-mode\") -> any",
        |c| {
            let how = How::of(c, "hessian", 2, 3)?;
            recording(c, |c| hessian(c, &how))
        },
        "Computes the second derivatives of a function of one result.",
    )
    .python("hessian"),
    function(
        "autograd.functional.vjp(any func, any inputs, any v=None, bool create_graph=False, bool \
 strict=False) -> any",
        |c| {
            let how = How::of(c, "vjp", 3, 4)?;
            recording(c, |c| {
                let (inputs, outputs) = how.run(c)?;
                let Some(v) = how.vector(c, &outputs.tensors, Vector::OfOutputs)? else {
                    let v = ones_like(&outputs.tensors)?;
                    return how.pulled(c, &outputs, &inputs, &v);
                };
                how.pulled(c, &outputs, &inputs, &v)
            })
        },
        "Computes the product of a vector and the Jacobian, with the function's results.",
    )
    .python("vjp"),
    function(
        "autograd.functional.jvp(any func, any inputs, any v=None, bool create_graph=False, bool \
 strict=False) -> any",
        |c| {
            let how = How::of(c, "jvp", 3, 4)?;
            recording(c, |c| {
                let (inputs, outputs) = how.run(c)?;
                let v = match how.vector(c, &inputs, Vector::OfInputs)? {
                    Some(v) => v,
                    None => ones_like(&inputs)?,
                };
                // A vector-Jacobian product is linear in its vector, so its derivative by that vector is the
                // Jacobian-vector product.
                let seeds = leaves_like(&outputs.tensors)?;
                let back = how.gradients(c, &outputs.tensors, &inputs, Some(&seeds), true)?;
                let pushed = how.gradients(c, &back, &seeds, Some(&v), how.create_graph)?;
                Ok(Value::tuple([how.given(c, &outputs)?, how.shaped(c, pushed, outputs.several)?]))
            })
        },
        "Computes the product of the Jacobian and a vector, with the function's results.",
    )
    .python("jvp"),
    function(
        "autograd.functional.vhp(any func, any inputs, any v=None, bool create_graph=False, bool \
 strict=False) -> any",
        |c| hessian_product(c, "vhp"),
        "Computes the product of a vector and the Hessian, with the function's result.",
    )
    .python("vhp"),
    function(
        "autograd.functional.hvp(any func, any inputs, any v=None, bool create_graph=False, bool \
 strict=False) -> any",
        |c| hessian_product(c, "hvp"),
        "Computes the product of the Hessian and a vector, with the function's result.",
    )
    .python("hvp"),
];

/// Runs `run` with the recording of gradients switched on.
pub(super) fn recording(call: &Call, run: impl FnOnce(&Call) -> Result<Value>) -> Result<Value> {
    let before = call.state.set_recording(true);
    let result = run(call);
    call.state.set_recording(before);
    result
}

/// Tensors, and whether they were passed in a tuple.
pub(super) struct Several {
    pub tensors: Vec<Tensor>,
    pub several: bool,
}

impl Several {
    fn of(value: &Value, what: &str, function: &str) -> Result<Several> {
        let (items, several) = match value {
            Value::Tuple(items) => (items.to_vec(), true),
            other => (vec![other.clone()], false),
        };
        let mut tensors = Vec::with_capacity(items.len());
        for (i, item) in items.iter().enumerate() {
            match item {
                Value::Tensor(tensor) => tensors.push(tensor.clone()),
                other if several => bail!(
                    TypeError,
                    "The {what} given to {function} must be either a Tensor or a tuple of Tensors but the value at index \
                     {i} has type <class '{}'>.",
                    other.type_name()
                ),
                other => bail!(
                    TypeError,
                    "The {what} given to {function} must be either a Tensor or a tuple of Tensors but the given {what} \
                     has type <class '{}'>.",
                    other.type_name()
                ),
            }
        }
        Ok(Several { tensors, several })
    }
}

/// The inputs and options that all of these functions share.
struct How {
    name: &'static str,
    inputs: Several,
    create_graph: bool,
    strict: bool,
}

/// Whether the vector of a product has the shape of the outputs or of the inputs.
#[derive(Clone, Copy, PartialEq)]
enum Vector {
    OfOutputs,
    OfInputs,
}

impl How {
    fn of(call: &Call, name: &'static str, create_graph: usize, strict: usize) -> Result<How> {
        Ok(How {
            name,
            inputs: Several::of(&call.value(1), "inputs", name)?,
            create_graph: call.bool(create_graph)?,
            strict: call.bool(strict)?,
        })
    }

    /// Returns the inputs as leaves of a new graph. With `create_graph`, inputs that require gradients become views, so
    /// their graph continues.
    fn prepared(&self, call: &Call) -> Result<Vec<Tensor>> {
        let fresh = |tensor: &Tensor| -> Result<Tensor> {
            if self.create_graph && tensor.requires_grad() {
                return Steps::of(call).pair("view_as", tensor, tensor);
            }
            let leaf = tensor.detach();
            leaf.autograd_mut(|meta| meta.requires_grad = true);
            Ok(leaf)
        };
        self.inputs.tensors.iter().map(fresh).collect()
    }

    fn outputs(&self, call: &Call, inputs: &[Tensor]) -> Result<Several> {
        let args = inputs.iter().cloned().map(Value::Tensor).collect();
        let outputs = call_plain(call.state, &call.value(0), args)?;
        let outputs = Several::of(&outputs, "outputs of the user-provided function", self.name)?;
        if self.strict
            && let Some(i) = outputs.tensors.iter().position(|tensor| !tensor.requires_grad())
        {
            bail!(
                RuntimeError,
                "Output {i} of the user-provided function does not require gradients. The outputs must be computed in a \
                 differentiable manner from the input when running in strict mode."
            );
        }
        Ok(outputs)
    }

    fn run(&self, call: &Call) -> Result<(Vec<Tensor>, Several)> {
        let inputs = self.prepared(call)?;
        let outputs = self.outputs(call, &inputs)?;
        Ok((inputs, outputs))
    }

    /// Returns the vector of a product. `None` stands for 1, and is allowed only for a single element.
    fn vector(&self, call: &Call, like: &[Tensor], which: Vector) -> Result<Option<Vec<Tensor>>> {
        let Value::None = call.value(2) else {
            let v = Several::of(&call.value(2), "v", self.name)?.tensors;
            if v.len() != like.len() {
                bail!(RuntimeError, "v is a tuple of invalid length: should be {} but got {}.", like.len(), v.len());
            }
            for (i, (v, like)) in v.iter().zip(like).enumerate() {
                let (got, wanted) = (v.borrow(), like.borrow());
                if got.sizes() != wanted.sizes() {
                    let entry =
                        if call.value(2).sequence().is_some() { format!("Entry {i} in ") } else { String::new() };
                    bail!(
                        RuntimeError,
                        "{entry}v has invalid size: should be torch.Size({}) but got torch.Size({}).",
                        show(wanted.sizes()),
                        show(got.sizes())
                    );
                }
            }
            return Ok(Some(v));
        };
        let single = matches!(like, [only] if only.borrow().numel() == 1);
        match which {
            _ if single => Ok(None),
            Vector::OfOutputs => bail!(
                RuntimeError,
                "The vector v can only be None if the user-provided function returns a single Tensor with a single \
                 element."
            ),
            Vector::OfInputs => bail!(
                RuntimeError,
                "The vector v can only be None if the input to the user-provided function is a single Tensor with a \
                 single element."
            ),
        }
    }

    /// Same as [`slopes`].
    fn gradients(
        &self,
        call: &Call,
        outputs: &[Tensor],
        inputs: &[Tensor],
        seeds: Option<&[Tensor]>,
        create_graph: bool,
    ) -> Result<Vec<Tensor>> {
        slopes(call.state, outputs, inputs, seeds, create_graph)
    }

    fn pulled(&self, call: &Call, outputs: &Several, inputs: &[Tensor], v: &[Tensor]) -> Result<Value> {
        let found = self.gradients(call, &outputs.tensors, inputs, Some(v), self.create_graph)?;
        Ok(Value::tuple([self.given(call, outputs)?, self.shaped(call, found, self.inputs.several)?]))
    }

    /// Wraps results in a tuple if there are several. They are detached unless a graph was requested.
    fn shaped(&self, _: &Call, tensors: Vec<Tensor>, several: bool) -> Result<Value> {
        let free = |tensor: Tensor| if self.create_graph { tensor } else { tensor.detach() };
        let mut tensors = tensors.into_iter().map(free).map(Value::Tensor);
        match (several, tensors.len()) {
            (false, 1) => Ok(tensors.next().unwrap_or(Value::None)),
            _ => Ok(Value::tuple(tensors.collect::<Vec<Value>>())),
        }
    }

    fn given(&self, call: &Call, outputs: &Several) -> Result<Value> {
        self.shaped(call, outputs.tensors.clone(), outputs.several)
    }
}

/// Computes the gradients of `outputs` by `inputs`. An input that the outputs do not depend on has gradient zero.
pub(super) fn slopes(
    state: &State,
    outputs: &[Tensor],
    inputs: &[Tensor],
    seeds: Option<&[Tensor]>,
    create_graph: bool,
) -> Result<Vec<Tensor>> {
    let pass = Pass { functions: state, retain_graph: true, create_graph };
    let ones = ones_like(outputs)?;
    let seeds = seeds.unwrap_or(&ones);
    let roots: Vec<(Tensor, Tensor)> =
        outputs.iter().zip(seeds).filter(|(o, _)| o.requires_grad()).map(|(o, s)| (o.clone(), s.clone())).collect();
    let found = match roots.is_empty() {
        true => vec![None; inputs.len()],
        false => autograd::gradients(pass, &roots, inputs)?,
    };
    let zeros = |input: &Tensor| create::zeros_like(&input.borrow(), None, None).map(Tensor::new);
    found.into_iter().zip(inputs).map(|(found, input)| found.map_or_else(|| zeros(input), Ok)).collect()
}

pub(super) fn ones_like(tensors: &[Tensor]) -> Result<Vec<Tensor>> {
    let ones = |tensor: &Tensor| {
        let view = tensor.borrow();
        create::full(view.sizes(), Scalar::Int(1), Some(view.dtype), view.dtype, view.device()).map(Tensor::new)
    };
    tensors.iter().map(ones).collect()
}

/// Allocates zeros that require gradients.
pub(super) fn leaves_like(tensors: &[Tensor]) -> Result<Vec<Tensor>> {
    let leaf = |tensor: &Tensor| {
        let zeros = Tensor::new(create::zeros_like(&tensor.borrow(), None, None)?);
        zeros.autograd_mut(|meta| meta.requires_grad = true);
        Ok(zeros)
    };
    tensors.iter().map(leaf).collect()
}

/// Selects one element of a tensor, as a 0-dimensional tensor.
fn element(steps: Steps, tensor: &Tensor, index: i64) -> Result<Tensor> {
    let flat = steps.sized("reshape", tensor, &[-1])?;
    steps.on(&flat, "select", &[Value::Int(0), Value::Int(index)])
}

/// Computes the Jacobian of every output by every input. Its sizes are those of the output, then those of the input.
pub(super) fn matrix(state: &State, outputs: &[Tensor], inputs: &[Tensor], create: bool) -> Result<Vec<Vec<Tensor>>> {
    let steps = Steps(state);
    let mut rows = Vec::new();
    for output in outputs {
        let (sizes, count) = (output.borrow().layout.sizes.clone(), output.borrow().numel());
        let mut columns: Vec<Vec<Value>> = vec![Vec::new(); inputs.len()];
        for index in 0..count {
            let one = element(steps, output, index)?;
            let found = slopes(state, &[one], inputs, None, create)?;
            for (column, gradient) in columns.iter_mut().zip(found) {
                column.push(Value::Tensor(gradient));
            }
        }
        let stacked = |(column, input): (Vec<Value>, &Tensor)| -> Result<Tensor> {
            let wanted: Dims = sizes.iter().chain(input.borrow().sizes()).copied().collect();
            if column.is_empty() {
                let view = input.borrow();
                return View::zeros(&wanted, view.dtype, view.device()).map(Tensor::new);
            }
            let stacked = one(steps.torch("stack", &[Value::list(column), Value::Int(0)])?)?;
            steps.sized("view", &stacked, &wanted)
        };
        rows.push(columns.into_iter().zip(inputs).map(stacked).collect::<Result<Vec<Tensor>>>()?);
    }
    Ok(rows)
}

/// Converts rows of tensors to nested tuples. A level is a tuple only if the function takes or returns a tuple there.
fn nested(call: &Call, how: &How, rows: Vec<Vec<Tensor>>, outer: bool, inner: bool) -> Result<Value> {
    let rows = rows.into_iter().map(|row| how.shaped(call, row, inner)).collect::<Result<Vec<Value>>>()?;
    match (outer, rows.as_slice()) {
        (false, [only]) => Ok(only.clone()),
        _ => Ok(Value::tuple(rows)),
    }
}

fn jacobian(call: &Call, how: &How) -> Result<Value> {
    let (inputs, outputs) = how.run(call)?;
    let rows = matrix(call.state, &outputs.tensors, &inputs, how.create_graph)?;
    nested(call, how, rows, outputs.several, how.inputs.several)
}

/// Fails with RuntimeError unless the function returns a single tensor of one element.
fn refuse_several(name: &str, outputs: &Several) -> Result<()> {
    let [only] = outputs.tensors.as_slice() else {
        bail!(RuntimeError, "The function given to {name} should return a single Tensor");
    };
    if outputs.several {
        bail!(RuntimeError, "The function given to {name} should return a single Tensor");
    }
    if only.borrow().numel() != 1 {
        bail!(RuntimeError, "The Tensor returned by the function given to {name} should contain a single element");
    }
    Ok(())
}

fn hessian(call: &Call, how: &How) -> Result<Value> {
    let (inputs, outputs) = how.run(call)?;
    refuse_several(how.name, &outputs)?;
    let total = Steps::of(call).on(&outputs.tensors[0], "squeeze", &[])?;
    let slopes = how.gradients(call, &[total], &inputs, None, true)?;
    let rows = matrix(call.state, &slopes, &inputs, how.create_graph)?;
    nested(call, how, rows, how.inputs.several, how.inputs.several)
}

/// Computes the product of a Hessian and a vector. The Hessian is symmetric, so the product is the same from both
/// sides.
fn hessian_product(call: &mut Call, name: &'static str) -> Result<Value> {
    let how = How::of(call, name, 3, 4)?;
    recording(call, |call| {
        let (inputs, outputs) = how.run(call)?;
        let v = match how.vector(call, &inputs, Vector::OfInputs)? {
            Some(v) => v,
            None => ones_like(&inputs)?,
        };
        refuse_several(name, &outputs)?;
        let slopes = how.gradients(call, &outputs.tensors, &inputs, None, true)?;
        let found = how.gradients(call, &slopes, &inputs, Some(&v), how.create_graph)?;
        Ok(Value::tuple([how.given(call, &outputs)?, how.shaped(call, found, how.inputs.several)?]))
    })
}
