//! Gradients that PyTorch computes in one step, and whose own derivative is one node. They have no name in a session.
//! They follow the operators of the same name in PyTorch's `native_functions.yaml`, but most are composed of several
//! functions here.

use autograd::{Expr, Functions};
use call::{Call, Row, internal};
use std::f64::consts::{FRAC_1_SQRT_2, PI};
use tensor::bail;
use tensor::layout::wrap_dim;
use tensor::ops::softmax::{Softmax, softmax_backward};
use tensor::ops::view as views;
use tensor::{DType, Result, Scalar, Tensor, View};
use value::{Value, as_tensor};

/// The end of a refusal: the result of a function with such a slope does not tell what its argument was.
const NEGATIVE_SLOPE: &str = "backward calculation is triggered with a negative slope which is not supported. This is \
                              caused by calling in-place forward function with a negative slope, please call \
                              out-of-place version instead.";

pub(crate) const ROWS: &[Row] = &[
    internal(
        "sigmoid_backward(Tensor grad_output, Tensor output) -> Tensor",
        |c| steps(c, |c| grad(c) * ((-at(c, 1) + 1.0) * at(c, 1)).conj()),
        "Computes the gradient of the logistic function.",
    ),
    internal(
        "tanh_backward(Tensor grad_output, Tensor output) -> Tensor",
        |c| steps(c, |c| grad(c) * (-at(c, 1).squared() + 1.0).conj()),
        "Computes the gradient of the hyperbolic tangent.",
    ),
    internal(
        "threshold_backward(Tensor grad_output, Tensor self, Scalar threshold) -> Tensor",
        |c| steps(c, |c| grad(c).cleared(&at(c, 1).compare("le", c.value(2)))),
        "Passes the gradient where the argument is above a number.",
    ),
    internal(
        "_softmax_backward_data(Tensor grad_output, Tensor output, int dim) -> Tensor",
        |c| softmax(c, Softmax::Plain),
        "Computes the gradient of `softmax`.",
    ),
    internal(
        "_log_softmax_backward_data(Tensor grad_output, Tensor output, int dim) -> Tensor",
        |c| softmax(c, Softmax::Log),
        "Computes the gradient of `log_softmax`.",
    ),
    internal(
        "gelu_backward(Tensor grad_output, Tensor self, str approximate=\"none\") -> Tensor",
        |c| steps(c, gelu),
        "Computes the gradient of `gelu`.",
    ),
    internal(
        "elu_backward(Tensor grad_output, Tensor self, float alpha, float scale, float input_scale, \
         bool is_result=False) -> Tensor",
        |c| {
            let of_result = c.bool(5)?;
            if of_result && c.scalar(2)?.to_f64() < 0.0 {
                bail!(RuntimeError, "In-place elu {NEGATIVE_SLOPE}");
            }
            steps(c, |c| {
                let (alpha, scale, inner) = (number(c, 2), number(c, 3), number(c, 4));
                let curved = if of_result {
                    grad(c) * inner * (at(c, 1) + alpha * scale)
                } else {
                    grad(c) * (inner * alpha * scale) * (at(c, 1) * inner).call("exp", &[])
                };
                curved.or_where(&at(c, 1).compare("le", Value::Int(0)), grad(c) * scale)
            })
        },
        "Computes the gradient of `elu` and its relatives.",
    ),
    internal(
        "leaky_relu_backward(Tensor grad_output, Tensor self, Scalar negative_slope, bool self_is_result=False) -> \
         Tensor",
        |c| {
            if c.bool(3)? && c.scalar(2)?.to_f64() < 0.0 {
                bail!(
                    RuntimeError,
                    "In-place leakyReLu {NEGATIVE_SLOPE} File an issue at https://github.com/pytorch/pytorch if you do \
                     require supporting in-place leakRelu backward calculation with negative slope"
                );
            }
            steps(c, |c| grad(c).or_where(&at(c, 1).compare("gt", Value::Int(0)), grad(c) * number(c, 2)))
        },
        "Computes the gradient of `leaky_relu`.",
    ),
    internal(
        "hardtanh_backward(Tensor grad_output, Tensor self, Scalar min_val, Scalar max_val) -> Tensor",
        |c| {
            steps(c, |c| {
                let (below, above) = (at(c, 1).compare("le", c.value(2)), at(c, 1).compare("ge", c.value(3)));
                grad(c).cleared(&below).cleared(&above)
            })
        },
        "Passes the gradient between two numbers.",
    ),
    internal(
        "softplus_backward(Tensor grad_output, Tensor self, Scalar beta, Scalar threshold) -> Tensor",
        |c| {
            steps(c, |c| {
                let scaled = at(c, 1) * number(c, 2);
                let straight = scaled.compare("gt", c.value(3));
                grad(c).or_where(&straight, grad(c) * scaled.call("sigmoid", &[]))
            })
        },
        "Computes the gradient of `softplus`.",
    ),
    internal(
        "hardshrink_backward(Tensor grad_output, Tensor self, Scalar lambd) -> Tensor",
        |c| steps(c, beyond),
        "Passes the gradient far from zero.",
    ),
    internal(
        "softshrink_backward(Tensor grad_output, Tensor self, Scalar lambd) -> Tensor",
        |c| steps(c, beyond),
        "Passes the gradient far from zero.",
    ),
    internal(
        "hardswish_backward(Tensor grad_output, Tensor self) -> Tensor",
        |c| {
            steps(c, |c| {
                let (low, high) = (at(c, 1).compare("lt", Value::Int(-3)), at(c, 1).compare("gt", Value::Int(3)));
                let sloped = grad(c) * (at(c, 1) / 3.0 + 0.5);
                grad(c).or_where(&high, sloped.cleared(&low))
            })
        },
        "Computes the gradient of `hardswish`.",
    ),
    internal(
        "log_sigmoid_backward(Tensor grad_output, Tensor self) -> Tensor",
        |c| steps(c, |c| grad(c) * (-at(c, 1)).call("sigmoid", &[])),
        "Computes the gradient of `logsigmoid`.",
    ),
    internal(
        "select_backward(Tensor grad_output, int[] input_sizes, int dim, int index) -> Tensor",
        |c| placed(c, "select.int"),
        "Puts a gradient in the place of a part.",
    ),
    internal(
        "slice_backward(Tensor grad_output, int[] input_sizes, int dim, int? start, int? end, int step) -> \
 Tensor",
        |c| placed(c, "slice.Tensor"),
        "Puts a gradient in the place of a range.",
    ),
    internal(
        "diagonal_backward(Tensor grad_output, int[] input_sizes, int offset, int dim1, int dim2) -> Tensor",
        |c| placed(c, "diagonal"),
        "Puts a gradient in the place of a diagonal.",
    ),
    internal(
        "unfold_backward(Tensor grad_in, int[] input_sizes, int dim, int size, int step) -> Tensor",
        unfold,
        "Adds up the gradients of windows where they overlap.",
    ),
];

/// Runs `run` with the recording of gradients switched off.
fn steps(call: &Call, run: impl for<'a> FnOnce(&'a Call<'a>) -> Expr<'a>) -> Result<Value> {
    let before = call.state.set_recording(false);
    let result = run(call).value;
    call.state.set_recording(before);
    // The steps are one operation, whose result was never written to.
    result.map(|value| as_tensor(&value).map_or_else(|| value.clone(), |tensor| Tensor::new(tensor.view()).into()))
}

fn at<'a>(call: &'a Call, index: usize) -> Expr<'a> {
    Expr { functions: call.state, value: Ok(call.value(index)) }
}

fn grad<'a>(call: &'a Call) -> Expr<'a> {
    at(call, 0)
}

fn number(call: &Call, index: usize) -> f64 {
    call.value(index).as_scalar().map_or(0.0, |number| number.to_f64())
}

fn softmax(call: &Call, which: Softmax) -> Result<Value> {
    softmax_backward(which, &call.view(0)?, &call.view(1)?, call.int(2)?).map(Value::from)
}

fn beyond<'a>(call: &'a Call<'a>) -> Expr<'a> {
    grad(call).cleared(&at(call, 1).call("abs", &[]).compare("le", call.value(2)))
}

fn gelu<'a>(call: &'a Call<'a>) -> Expr<'a> {
    let x = at(call, 1);
    if matches!(call.value(2), Value::Str(kind) if &*kind == "tanh") {
        let factor = (2.0 / PI).sqrt();
        let bent = ((x.clone() + x.pow(Value::Int(3)) * 0.044715) * factor).call("tanh", &[]);
        let slope = (x.clone().squared() * (3.0 * 0.044715) + 1.0) * factor;
        let curved = x * (-bent.clone().squared() + 1.0) * slope;
        return grad(call) * ((bent + 1.0 + curved) * 0.5);
    }
    let below = ((x.clone() * FRAC_1_SQRT_2).call("erf", &[]) + 1.0) * 0.5;
    let density = (x.clone().squared() * -0.5).call("exp", &[]) * (1.0 / (2.0 * PI).sqrt());
    grad(call) * (below + x * density)
}

/// Allocates zeros of the input's size and copies the gradient to the part that the view shows.
fn placed(call: &Call, view: &str) -> Result<Value> {
    let grad = call.view(0)?;
    let room: Value = View::zeros(&call.ints(1)?, grad.dtype, grad.device())?.into();
    steps(call, |call| {
        let room = Expr { functions: call.state, value: Ok(room.clone()) };
        let slot = room.call(view, call.args.get(2..).unwrap_or_default());
        slot.with("copy_", &at(call, 0), &[]).then(room)
    })
}

/// The gradient of `unfold`. Windows may overlap, so the gradients of all windows that hold an element are added up.
fn unfold(call: &mut Call) -> Result<Value> {
    let (grad, sizes, size, step) = (call.view(0)?, call.ints(1)?, call.int(3)?, call.int(4)?);
    let dim = wrap_dim(call.int(2)?, sizes.len())?;
    if sizes.is_empty() {
        return views::reshape(&grad, &[]).map(Value::from);
    }
    let windows = grad.sizes().get(dim).copied().unwrap_or(0);
    let mut merged = sizes.clone();
    if let Some(slot) = merged.get_mut(dim) {
        *slot = windows.saturating_mul(size);
    }
    let places = (0..windows).flat_map(|window| (0..size).map(move |i| Scalar::Int(window * step + i)));
    let places: Vec<Scalar> = places.collect();
    let index = View::from_scalars(&[places.len() as i64], DType::Long, places)?;
    let rows = views::reshape(&views::movedim(&grad, &[-1], &[dim as i64 + 1])?, &merged)?;
    let room: Value = View::zeros(&sizes, grad.dtype, grad.device())?.into();
    steps(call, |call| {
        let room = Expr { functions: call.state, value: Ok(room) };
        room.call("index_add_", &[Value::Int(dim as i64), index.into(), rows.into()])
    })
}
