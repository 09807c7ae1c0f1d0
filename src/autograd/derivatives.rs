//! THE derivative table: one row per differentiable overload, keyed as in the function table. A row says what printing
//! calls the node and how the gradient of the result becomes the gradients of the arguments.

use super::tape::Inputs;
use crate::ops::pointwise::{BinaryOp, Output, UnaryOp, binary, unary};
use crate::ops::promote::Operand;
use crate::ops::{copy, create, pointwise, view as views};
use crate::tensor::{DType, Dims, Error, Layout, Result, Scalar, View};
use crate::value::Value;

/// What a formula may look at.
pub struct Context<'a> {
    pub inputs: &'a Inputs,
    /// The operation's result.
    pub output: Option<&'a View>,
}

/// The gradients of the arguments, in their order; `None` where there is none.
type Gradients = Result<Vec<Option<View>>>;

/// One row.
pub struct Derivative {
    /// The overload, as in the function table.
    pub key: &'static str,
    pub name: &'static str,
    /// Are values saved for the formula, so that a second pass needs `retain_graph`?
    pub saves: bool,
    /// The arguments whose values the formula reads; they must not change in place before the pass.
    pub uses: &'static [usize],
    /// Does the formula read the result?
    pub uses_output: bool,
    pub backward: fn(&Context, &View) -> Gradients,
}

const fn row(key: &'static str, name: &'static str, backward: fn(&Context, &View) -> Gradients) -> Derivative {
    Derivative { key, name, saves: false, uses: &[], uses_output: false, backward }
}

impl Derivative {
    const fn uses(self, uses: &'static [usize]) -> Derivative {
        Derivative { saves: true, uses, ..self }
    }

    const fn uses_output(self) -> Derivative {
        Derivative { saves: true, uses_output: true, ..self }
    }
}

/// The row of an overload.
pub fn find(key: &str) -> Option<&'static Derivative> {
    DERIVATIVES.iter().find(|d| d.key == key)
}

const DERIVATIVES: &[Derivative] = &[
    // Views: the gradient goes back through the inverse view, or into zeros where elements were left out.
    row("view", "ViewBackward0", reshaped),
    row("view_as", "ViewBackward0", reshaped),
    row("reshape", "ViewBackward0", reshaped),
    row("reshape_as", "ViewBackward0", reshaped),
    row("flatten.using_ints", "ViewBackward0", reshaped),
    row("ravel", "ViewBackward0", reshaped),
    row("unflatten.int", "ViewBackward0", reshaped),
    row("_VF.unflatten.int", "ViewBackward0", reshaped),
    row("unsqueeze", "UnsqueezeBackward0", reshaped),
    row("squeeze", "SqueezeBackward0", reshaped),
    row("squeeze.dim", "SqueezeBackward1", reshaped),
    row("squeeze.dims", "SqueezeBackward2", reshaped),
    row("transpose.int", "TransposeBackward0", transposed),
    row("swapaxes", "TransposeBackward0", transposed),
    row("swapdims", "TransposeBackward0", transposed),
    row("t", "TBackward0", |_, g| one(views::t(g))),
    row("T", "PermuteBackward0", |_, g| one(Ok(views::numpy_t(g)))),
    row("mT", "TransposeBackward0", |_, g| one(g.layout.transpose(-2, -1).map(|l| g.with_layout(l)))),
    row("permute", "PermuteBackward0", permuted),
    row("expand", "ExpandBackward0", |_, g| one(Ok(g.clone()))),
    row("expand_as", "ExpandBackward0", |_, g| one(Ok(g.clone()))),
    row("broadcast_to", "ExpandBackward0", |_, g| one(Ok(g.clone()))),
    row("alias", "AliasBackward0", |_, g| one(Ok(g.clone()))),
    row("select.int", "SelectBackward0", scattered),
    row("narrow", "SliceBackward0", scattered),
    row("diagonal", "DiagonalBackward0", scattered),
    row("as_strided", "AsStridedBackward0", scattered),
    row("unfold", "UnfoldBackward0", scattered),
    row("_VF.split.Tensor", "SplitBackward0", scattered),
    row("_VF.split.sizes", "SplitWithSizesBackward0", scattered),
    row("split_with_sizes", "SplitWithSizesBackward0", scattered),
    row("chunk", "SplitBackward0", scattered),
    row("unbind.int", "UnbindBackward0", scattered),
    // Copies.
    row("clone", "CloneBackward0", |_, g| one(Ok(g.clone()))),
    row("contiguous", "CloneBackward0", |_, g| one(Ok(g.clone()))),
    row("to.device", "ToCopyBackward0", |_, g| one(Ok(g.clone()))),
    row("to.dtype", "ToCopyBackward0", |_, g| one(Ok(g.clone()))),
    row("to.other", "ToCopyBackward0", |_, g| one(Ok(g.clone()))),
    row("half", "ToCopyBackward0", |_, g| one(Ok(g.clone()))),
    row("bfloat16", "ToCopyBackward0", |_, g| one(Ok(g.clone()))),
    row("float", "ToCopyBackward0", |_, g| one(Ok(g.clone()))),
    row("double", "ToCopyBackward0", |_, g| one(Ok(g.clone()))),
    row("cfloat", "ToCopyBackward0", |_, g| one(Ok(g.clone()))),
    row("cdouble", "ToCopyBackward0", |_, g| one(Ok(g.clone()))),
    row("copy_", "CopyBackwards", |_, g| Ok(vec![None, Some(g.clone())])),
    row("fill_.Scalar", "FillBackward0", |_, _| Ok(vec![None])),
    row("fill_.Tensor", "FillBackward1", |_, g| Ok(vec![None, Some(g.clone())])),
    row("zero_", "ZeroBackward0", |_, _| Ok(vec![None])),
    // Arithmetic.
    row("add.Tensor", "AddBackward0", |c, g| Ok(vec![Some(g.clone()), Some(scale(g, number(c, 2))?)])),
    row("add_.Tensor", "AddBackward0", |c, g| Ok(vec![Some(g.clone()), Some(scale(g, number(c, 2))?)])),
    row("sub.Tensor", "SubBackward0", |c, g| Ok(vec![Some(g.clone()), Some(neg(&scale(g, number(c, 2))?)?)])),
    row("sub_.Tensor", "SubBackward0", |c, g| Ok(vec![Some(g.clone()), Some(neg(&scale(g, number(c, 2))?)?)])),
    row("rsub.Tensor", "RsubBackward1", |c, g| Ok(vec![Some(neg(&scale(g, number(c, 2))?)?), Some(g.clone())])),
    row("mul", "MulBackward0", product).uses(&[0, 1]),
    row("mul_", "MulBackward0", product).uses(&[0, 1]),
    row("multiply", "MulBackward0", product).uses(&[0, 1]),
    row("div.Tensor", "DivBackward0", quotient).uses(&[0, 1]),
    row("div_.Tensor", "DivBackward0", quotient).uses(&[0, 1]),
    row("true_divide.Tensor", "DivBackward0", quotient).uses(&[0, 1]),
    row("pow.Tensor_Scalar", "PowBackward0", power_of_number).uses(&[0]),
    row("neg", "NegBackward0", |_, g| one(neg(g))),
    row("reciprocal", "ReciprocalBackward0", |c, g| {
        let out = output(c)?;
        one(neg(&mul(g, &conj(&mul(&out, &out)?))?))
    })
    .uses_output(),
    row("exp", "ExpBackward0", |c, g| one(mul(g, &conj(&output(c)?)))).uses_output(),
    row("log", "LogBackward0", |c, g| one(div(g, &conj(&input(c, 0)?)))).uses(&[0]),
    row("sqrt", "SqrtBackward0", |c, g| {
        let twice = scale(&conj(&output(c)?), Scalar::Int(2))?;
        one(div(g, &twice))
    })
    .uses_output(),
    row("sin", "SinBackward0", |c, g| one(mul(g, &conj(&apply(UnaryOp::Cos, &input(c, 0)?)?)))).uses(&[0]),
    row("cos", "CosBackward0", |c, g| one(neg(&mul(g, &conj(&apply(UnaryOp::Sin, &input(c, 0)?)?))?))).uses(&[0]),
    row("tanh", "TanhBackward0", |c, g| {
        let out = output(c)?;
        let square = mul(&out, &out)?;
        one(sub(g, &mul(g, &conj(&square))?))
    })
    .uses_output(),
    row("sigmoid", "SigmoidBackward0", |c, g| {
        let out = output(c)?;
        let square = mul(&out, &out)?;
        one(mul(g, &conj(&sub(&out, &square)?)))
    })
    .uses_output(),
    row("abs", "AbsBackward0", |c, g| one(mul(g, &apply(UnaryOp::Sgn, &input(c, 0)?)?))).uses(&[0]),
    row("relu", "ReluBackward0", |c, g| one(mul(g, &apply(UnaryOp::Sign, &output(c)?)?))).uses_output(),
    // Reductions.
    row("sum", "SumBackward0", |c, g| one(spread(g, &input(c, 0)?, &[], true))),
    row("sum.dim_IntList", "SumBackward1", |c, g| {
        let (dims, keep) = reduced(c)?;
        one(spread(g, &input(c, 0)?, &dims, keep))
    }),
    row("mean", "MeanBackward0", |c, g| {
        let x = input(c, 0)?;
        one(average(g, &x, &[], true))
    }),
    row("mean.dim", "MeanBackward1", |c, g| {
        let (dims, keep) = reduced(c)?;
        one(average(g, &input(c, 0)?, &dims, keep))
    }),
];

fn one(grad: Result<View>) -> Gradients {
    Ok(vec![Some(grad?)])
}

fn input(context: &Context, index: usize) -> Result<View> {
    let view = context.inputs.views.get(index).cloned().flatten();
    view.ok_or_else(|| super::tape::missing("this operand"))
}

fn output(context: &Context) -> Result<View> {
    context.output.cloned().ok_or_else(|| super::tape::missing("this result"))
}

/// A number among the arguments, 1 where there is none.
fn number(context: &Context, index: usize) -> Scalar {
    context.inputs.args.get(index).and_then(Value::as_scalar).unwrap_or(Scalar::Int(1))
}

fn int(context: &Context, index: usize) -> i64 {
    number(context, index).to_i64()
}

fn sizes(context: &Context, index: usize) -> Dims {
    match context.inputs.args.get(index) {
        Some(Value::Size(sizes)) => sizes.clone(),
        Some(Value::Int(one)) => Dims::from_slice(&[*one]),
        _ => Dims::new(),
    }
}

fn on(op: BinaryOp, a: &View, b: &View) -> Result<View> {
    binary(op, Operand::Tensor(a), Operand::Tensor(b), Output::New, DType::Float)
}

fn mul(a: &View, b: &View) -> Result<View> {
    on(BinaryOp::Mul, a, b)
}

fn div(a: &View, b: &View) -> Result<View> {
    on(BinaryOp::TrueDivide, a, b)
}

fn sub(a: &View, b: &View) -> Result<View> {
    on(BinaryOp::Sub, a, b)
}

fn apply(op: UnaryOp, a: &View) -> Result<View> {
    unary(op, a, Output::New, DType::Float)
}

fn neg(a: &View) -> Result<View> {
    apply(UnaryOp::Neg, a)
}

fn conj(a: &View) -> View {
    pointwise::conj(a)
}

fn scale(a: &View, by: Scalar) -> Result<View> {
    if by == Scalar::Int(1) {
        return Ok(a.clone());
    }
    binary(BinaryOp::Mul, Operand::Tensor(a), Operand::Number(by), Output::New, DType::Float)
}

fn reshaped(context: &Context, grad: &View) -> Gradients {
    one(views::reshape(grad, input(context, 0)?.sizes()))
}

fn transposed(context: &Context, grad: &View) -> Gradients {
    one(grad.layout.transpose(int(context, 1), int(context, 2)).map(|l| grad.with_layout(l)))
}

fn permuted(context: &Context, grad: &View) -> Gradients {
    let dims = sizes(context, 1);
    let mut inverse = Dims::from_elem(0, dims.len());
    for (to, &from) in dims.iter().enumerate() {
        let from = crate::tensor::layout::wrap_dim(from, dims.len())?;
        inverse[from] = to as i64;
    }
    one(grad.layout.permute(&inverse).map(|l| grad.with_layout(l)))
}

/// For views that leave elements out or repeat them: every element of the gradient is added where the view's element
/// lies in a copy of the input's window.
fn scattered(context: &Context, grad: &View) -> Gradients {
    let (from, to) = (input(context, 0)?, output(context)?);
    // Room as large as the span of addresses both windows use.
    let start = from.layout.offset.min(to.layout.offset);
    let shifted = |layout: &Layout| Layout { offset: layout.offset - start, ..layout.clone() };
    let (from, to) = (shifted(&from.layout), shifted(&to.layout));
    let room = View::zeros(&[from.storage_elements()?.max(to.storage_elements()?)], grad.dtype, grad.device())?;
    let slot = room.with_layout(to);
    if slot.layout.is_non_overlapping_and_dense() || !slot.layout.has_internal_overlap() && slot.ndim() <= 1 {
        copy::copy_into(&slot, grad)?;
    } else {
        let (memory, source) = (room.memory()?, grad.memory()?);
        for (at, g) in slot.layout.offsets().zip(grad.layout.offsets()) {
            let sum = add_scalars(slot.read(&memory, at), grad.read(&source, g));
            let element = room.with_layout(Layout { sizes: Dims::new(), strides: Dims::new(), offset: at });
            copy::fill(&element, sum)?;
        }
    }
    one(copy::clone(&room.with_layout(from)))
}

fn add_scalars(a: Scalar, b: Scalar) -> Scalar {
    match (a, b) {
        (Scalar::Complex(_), _) | (_, Scalar::Complex(_)) => Scalar::Complex(a.to_complex() + b.to_complex()),
        _ => Scalar::Float(a.to_f64() + b.to_f64()),
    }
}

/// The other operand of a product or quotient: a tensor, or the number as a 0-d tensor.
fn operand(context: &Context, index: usize, like: &View) -> Result<View> {
    match context.inputs.views.get(index).cloned().flatten() {
        Some(view) => Ok(view),
        None => {
            let number = number(context, index);
            let dtype = if matches!(number, Scalar::Complex(_)) { like.dtype.to_complex()? } else { like.dtype };
            View::scalar(number, dtype)
        }
    }
}

fn product(context: &Context, grad: &View) -> Gradients {
    let (a, b) = (operand(context, 0, grad)?, operand(context, 1, grad)?);
    Ok(vec![Some(mul(grad, &conj(&b))?), Some(mul(grad, &conj(&a))?)])
}

fn quotient(context: &Context, grad: &View) -> Gradients {
    let (a, b) = (operand(context, 0, grad)?, operand(context, 1, grad)?);
    let by_divisor = div(&div(&a, &b)?, &b)?;
    Ok(vec![Some(div(grad, &conj(&b))?), Some(neg(&mul(grad, &conj(&by_divisor))?)?)])
}

fn power_of_number(context: &Context, grad: &View) -> Gradients {
    let (x, exponent) = (input(context, 0)?, number(context, 1));
    if exponent.to_complex() == Scalar::Int(0).to_complex() {
        return one(create::zeros_like(&x, None, None));
    }
    let less = match exponent {
        Scalar::Int(i) => Scalar::Int(i.wrapping_sub(1)),
        Scalar::Complex(c) => Scalar::Complex(c - 1.0),
        other => Scalar::Float(other.to_f64() - 1.0),
    };
    let lower = pointwise::pow(Operand::Tensor(&x), Operand::Number(less), Output::New, DType::Float)?;
    one(mul(grad, &conj(&scale(&lower, exponent)?)))
}

/// The dimensions a reduction ran over, and whether they were kept.
fn reduced(context: &Context) -> Result<(Dims, bool)> {
    Ok((sizes(context, 1), matches!(context.inputs.args.get(2), Some(Value::Bool(true)))))
}

/// The gradient of a sum: the same number for every element that went into it.
fn spread(grad: &View, input: &View, dims: &[i64], kept: bool) -> Result<View> {
    let mut layout = grad.layout.clone();
    if !kept && !dims.is_empty() {
        let mut places: Vec<usize> =
            dims.iter().map(|&d| crate::tensor::layout::wrap_dim(d, input.ndim())).collect::<Result<_>>()?;
        places.sort_unstable();
        for d in places {
            if input.ndim() > 0 {
                layout = layout.unsqueeze(d as i64)?;
            }
        }
    }
    Ok(grad.with_layout(layout.expand(input.sizes(), &input.type_name())?))
}

fn average(grad: &View, input: &View, dims: &[i64], kept: bool) -> Result<View> {
    let spread = spread(grad, input, dims, kept)?;
    let count: i64 = if dims.is_empty() {
        input.numel()
    } else {
        let sizes: Result<Vec<i64>> = dims
            .iter()
            .map(|&d| {
                let d = crate::tensor::layout::wrap_dim(d, input.ndim())?;
                input.sizes().get(d).copied().ok_or_else(|| Error::index("no such dimension"))
            })
            .collect();
        sizes?.iter().product()
    };
    binary(
        BinaryOp::TrueDivide,
        Operand::Tensor(&spread),
        Operand::Number(Scalar::Int(count)),
        Output::New,
        DType::Float,
    )
}
