//! Reductions. Follows <https://pytorch.org/docs/2.7/torch.html#reduction-ops>.

use super::dimnames;
use super::norms::matrix_norm;
use super::sparse_kernels;
use call::facets::{
    Dispatch::{OneScale, Own, Refused, RequantizedOneScale, Split, Total},
    Folds,
    NameInference::{Keeps, Nameless, Removes},
    ONE_SCALE, Out, Repeats, Shares, Start, Takes,
};
use call::reads::{ALONG, CHOOSES, Reads, Span, Takes as Taken};
use call::{Call, Row, both, function};
use tensor::bail;
use tensor::ops::pointwise::classes;
use tensor::ops::reduce::{self as ops, Extremum, Running, SpreadMeasure};
use tensor::{Dims, Result};
use value::Value;

/// The conditions on the `out` tensor of a variance: the result is computed in its dtype and must be castable to it.
const SPREAD: &[(Takes, &str)] =
    &[Out::CAST_DTYPE, (Takes::OfUnless(classes::FLOAT, classes::COMPLEX), "\"std_cpu\" not implemented for '{out}'")];

/// The refusals of tensors with a scale for each channel.
macro_rules! of_channels {
    ($name:literal) => {
        concat!(
            $name,
            " operator for quantized tensors only works for per tensor quantized tensors. Please open an issue on \
             https://github.com/pytorch/pytorch/issues if you need per channel quantized tensor support."
        )
    };
}

/// The conditions on the `out` tensor of `any` and `all`.
macro_rules! truth {
    ($name:literal, $start:literal) => {
        Out::PLAIN
            .unguarded()
            .folding(Folds::Each(Start::Number($start)))
            .takes(&[(Takes::Truth, concat!($name, " only supports bool tensor for result, got: {out}"))])
    };
}

pub(crate) const ROWS: &[Row] = &[
    both(
        "sum(Tensor self, *, ScalarType? dtype=None) -> Tensor",
        |c| ops::sum(&c.view(0)?, None, false, c.opt_dtype(1)).map(Value::from),
        "Sums all elements.",
    ).reads(ALONG)
    .names(Nameless)
    .sparse(Own(sparse_kernels::sum_all))
    .quantized(Refused("sum.IntList_out")),
    both(
        "sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None, Tensor? \
 out=None) -> Tensor",
        |c| {
            let d = dims(c, 1)?;
            ops::sum(&c.view(0)?, Some(&d), c.bool(2)?, c.opt_dtype(3)).map(Value::from)
        },
        "Sums along dimensions.",
    ).reads(ALONG)
    .out(Out::REDUCED.folding(Folds::Sums))
    .names(Removes)
    .sparse(Own(sparse_kernels::sum_dims))
    .quantized(Refused("sum.IntList_out")).by_name("dim_DimnameList", dimnames::by_position),
    both(
        "mean(Tensor self, *, ScalarType? dtype=None, Tensor? out=None) -> Tensor",
        |c| ops::mean(&c.view(0)?, None, false, c.opt_dtype(1)).map(Value::from),
        "Averages all elements.",
    ).reads(ALONG)
    .out(Out::PLAIN.unguarded().folding(Folds::Cleared).takes(&[(Takes::Castable, "mean.dtype_out(): input types can't be cast to the desired output type {out}")]))
    .names(Nameless)
    .out_refused_as("mean.dtype_out")
    .quantized(RequantizedOneScale(ONE_SCALE)),
    both(
        "mean.dim(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None, Tensor? out=None) \
 -> Tensor",
        |c| {
            let d = dims(c, 1)?;
            ops::mean(&c.view(0)?, Some(&d), c.bool(2)?, c.opt_dtype(3)).map(Value::from)
        },
        "Averages along dimensions.",
    ).reads(ALONG)
    .out(Out::ELEMENTWISE.repeating(Repeats::RefusedResized).sharing(Shares::Allowed).folding(Folds::InTurnCleared))
    .names(Removes)
    .quantized(RequantizedOneScale(ONE_SCALE)).by_name("names_dim", dimnames::by_position),
    both(
        "prod(Tensor self, *, ScalarType? dtype=None) -> Tensor",
        |c| ops::prod(&c.view(0)?, None, false, c.opt_dtype(1)).map(Value::from),
        "Multiplies all elements.",
    ).reads(ALONG)
    .names(Nameless),
    both(
        "prod.dim_int(Tensor self, int dim, bool keepdim=False, *, ScalarType? dtype=None, Tensor? out=None) \
 -> Tensor",
        |c| ops::prod(&c.view(0)?, Some(c.int(1)?), c.bool(2)?, c.opt_dtype(3)).map(Value::from),
        "Multiplies along a dimension.",
    ).reads(ALONG)
    .out(Out::REDUCED.folding(Folds::Each(Start::Number(1))))
    .names(Removes).by_name("dim_Dimname", dimnames::by_position),
    both(
        "any(Tensor self, *, Tensor? out=None) -> Tensor",
        |c| ops::any(&c.view(0)?, None, false).map(Value::from),
        "Returns whether any element is true.",
    ).reads(Reads::Spanned(Span::Along, Taken::None))
    .out(truth!("any", 0))
    .names(Nameless)
    .sparse(Split(&Total, &Refused("any.all_out"))).not_differentiable(),
    both(
        "any.dims(Tensor self, int[]? dim=None, bool keepdim=False, *, Tensor? out=None) -> Tensor",
        |c| {
            let d = if c.is_none(1) { None } else { Some(c.ints(1)?) };
            ops::any(&c.view(0)?, d.as_deref(), c.bool(2)?).map(Value::from)
        },
        "Tells whether any element along dimensions is true.",
    ).reads(Reads::Spanned(Span::Along, Taken::None))
    .out(truth!("any", 0)).not_differentiable(),
    both(
        "any.dim(Tensor self, int dim, bool keepdim=False, *, Tensor? out=None) -> Tensor",
        |c| ops::any(&c.view(0)?, Some(&[c.int(1)?]), c.bool(2)?).map(Value::from),
        "Tells whether any element along a dimension is true.",
    ).reads(Reads::Spanned(Span::Along, Taken::None))
    .out(truth!("any", 0))
    .operation("any.dim").by_name("dimname", dimnames::not_yet).not_differentiable(),
    both(
        "all(Tensor self, *, Tensor? out=None) -> Tensor",
        |c| ops::all(&c.view(0)?, None, false).map(Value::from),
        "Returns whether all elements are true.",
    ).reads(Reads::Spanned(Span::Along, Taken::None))
    .out(truth!("all", 1))
    .names(Nameless).not_differentiable(),
    both(
        "all.dims(Tensor self, int[]? dim=None, bool keepdim=False, *, Tensor? out=None) -> Tensor",
        |c| {
            let d = if c.is_none(1) { None } else { Some(c.ints(1)?) };
            ops::all(&c.view(0)?, d.as_deref(), c.bool(2)?).map(Value::from)
        },
        "Tells whether all elements along dimensions are true.",
    ).reads(Reads::Spanned(Span::Along, Taken::None))
    .out(truth!("all", 1)).not_differentiable(),
    both(
        "all.dim(Tensor self, int dim, bool keepdim=False, *, Tensor? out=None) -> Tensor",
        |c| ops::all(&c.view(0)?, Some(&[c.int(1)?]), c.bool(2)?).map(Value::from),
        "Tells whether all elements along a dimension are true.",
    ).reads(Reads::Spanned(Span::Along, Taken::None))
    .out(truth!("all", 1))
    .operation("all.dim").by_name("dimname", dimnames::not_yet).not_differentiable(),
    both(
        "max(Tensor self, *, Tensor? out=None) -> Tensor",
        |c| ops::extremum_all(Extremum::Max, &c.view(0)?).map(Value::from),
        "Returns the largest element.",
    ).reads(Reads::Spanned(Span::Along, Taken::Equal))
    .out(Out::PLAIN.unguarded().takes(&[(Takes::Castable, "Expected canCast( typeMetaToScalarType(self.dtype()), typeMetaToScalarType(out.dtype())) to be true, but got false.  (Could this error message be improved?  If so, please report an enhancement request to PyTorch.)")]))
    .names(Nameless)
    .quantized(OneScale(of_channels!("Max"))),
    both(
        "max.other(Tensor self, Tensor other, *, Tensor? out=None) -> Tensor",
        |c| pair(c, tensor::ops::pointwise::BinaryOp::Maximum),
        "Returns the larger of two elements.",
    ).reads(CHOOSES)
    .out(Out::ELEMENTWISE).grad_refused_by("maximum")
    .operation("maximum").derivative_of("maximum"),
    both(
        "max.dim(Tensor self, int dim, bool keepdim=False, *, Tensor[]? out=None) -> any",
        |c| extremum(c, Extremum::Max, "torch.return_types.max"),
        "Returns the largest elements along a dimension, and their positions.",
    ).reads(Reads::Spanned(Span::Along, Taken::Indexed))
    .out(Out::PLAIN.sharing(Shares::Never))
    .names(Removes)
    .quantized(OneScale(of_channels!("Max"))).by_name("names_dim", dimnames::by_position),
    both(
        "min(Tensor self, *, Tensor? out=None) -> Tensor",
        |c| ops::extremum_all(Extremum::Min, &c.view(0)?).map(Value::from),
        "Returns the smallest element.",
    ).reads(Reads::Spanned(Span::Along, Taken::Equal))
    .out(Out::PLAIN.unguarded().takes(&[(Takes::Castable, "Expected canCast( typeMetaToScalarType(self.dtype()), typeMetaToScalarType(out.dtype())) to be true, but got false.  (Could this error message be improved?  If so, please report an enhancement request to PyTorch.)")]))
    .names(Nameless)
    .quantized(OneScale(of_channels!("Min"))),
    both(
        "min.other(Tensor self, Tensor other, *, Tensor? out=None) -> Tensor",
        |c| pair(c, tensor::ops::pointwise::BinaryOp::Minimum),
        "Returns the smaller of two elements.",
    ).reads(CHOOSES)
    .out(Out::ELEMENTWISE).grad_refused_by("minimum")
    .operation("minimum").derivative_of("minimum"),
    both(
        "min.dim(Tensor self, int dim, bool keepdim=False, *, Tensor[]? out=None) -> any",
        |c| extremum(c, Extremum::Min, "torch.return_types.min"),
        "Returns the smallest elements along a dimension, and their positions.",
    ).reads(Reads::Spanned(Span::Along, Taken::Indexed))
    .out(Out::PLAIN.sharing(Shares::Never))
    .names(Removes)
    .quantized(OneScale(of_channels!("Min"))).by_name("names_dim", dimnames::by_position),
    both(
        "amax(Tensor self, int[1] dim=(), bool keepdim=False, *, Tensor? out=None) -> Tensor",
        |c| ops::extremum(Extremum::Max, &c.view(0)?, &c.ints(1)?, c.bool(2)?).map(Value::from),
        "Returns the largest elements along dimensions.",
    ).reads(Reads::Spanned(Span::Along, Taken::Equal))
    .out(Out::PLAIN.unguarded().folding(Folds::Each(Start::Lowest)).takes(&[(Takes::Same, "Expected the dtype for input and out to match, but got {result} for input's dtype and {out} for out's dtype.")])),
    both(
        "amin(Tensor self, int[1] dim=(), bool keepdim=False, *, Tensor? out=None) -> Tensor",
        |c| ops::extremum(Extremum::Min, &c.view(0)?, &c.ints(1)?, c.bool(2)?).map(Value::from),
        "Returns the smallest elements along dimensions.",
    ).reads(Reads::Spanned(Span::Along, Taken::Equal))
    .out(Out::PLAIN.unguarded().folding(Folds::Each(Start::Highest)).takes(&[(Takes::Same, "Expected the dtype for input and out to match, but got {result} for input's dtype and {out} for out's dtype.")])),
    both(
        "argmax(Tensor self, int? dim=None, bool keepdim=False, *, Tensor? out=None) -> Tensor",
        |c| ops::arg_extremum(Extremum::Max, &c.view(0)?, c.opt_int(1)?, c.bool(2)?).map(Value::from),
        "Returns the position of the largest element.",
    ).reads(Reads::Spanned(Span::Along, Taken::None))
    .out(Out::PLAIN.unguarded().folding(Folds::InTurn)).not_differentiable(),
    both(
        "argmin(Tensor self, int? dim=None, bool keepdim=False, *, Tensor? out=None) -> Tensor",
        |c| ops::arg_extremum(Extremum::Min, &c.view(0)?, c.opt_int(1)?, c.bool(2)?).map(Value::from),
        "Returns the position of the smallest element.",
    ).reads(Reads::Spanned(Span::Along, Taken::None))
    .out(Out::PLAIN.unguarded().folding(Folds::InTurn)).not_differentiable(),
    both(
        "var.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False, *, Tensor? out=None) -> Tensor",
        |c| {
            let d = dims(c, 1)?;
            let correction = f64::from(u8::from(c.bool(2)?));
            let keep = c.bool(3)?;
            spread(c, SpreadMeasure::Variance, Some(d), correction, keep)
        },
        "Computes the variance along dimensions.",
    )
    .out(Out::PLAIN.unguarded().folding(Folds::InTurn).takes(SPREAD))
    .names(Removes)
    .complex_refused_as("view_as_real").by_name("names_dim", dimnames::by_position),
    both(
        "var.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False, Tensor? out=None) -> \
 Tensor",
        |c| corrected(c, SpreadMeasure::Variance),
        "Computes the variance along dimensions.",
    ).reads(ALONG)
    .out(Out::PLAIN.unguarded().folding(Folds::InTurn).takes(SPREAD))
    .names(Removes)
    .complex_refused_as("view_as_real").by_name("correction_names", dimnames::by_position),
    both(
        "var(Tensor self, bool unbiased=True) -> Tensor",
        |c| {
            let correction = f64::from(u8::from(c.bool(1)?));
            spread(c, SpreadMeasure::Variance, None, correction, false)
        },
        "Computes the variance of all elements.",
    ).reads(ALONG)
    .names(Nameless)
    .complex_refused_as("view_as_real"),
    both(
        "std.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False, *, Tensor? out=None) -> Tensor",
        |c| {
            let d = dims(c, 1)?;
            let correction = f64::from(u8::from(c.bool(2)?));
            let keep = c.bool(3)?;
            spread(c, SpreadMeasure::StandardDeviation, Some(d), correction, keep)
        },
        "Computes the standard deviation along dimensions.",
    )
    .out(Out::PLAIN.unguarded().folding(Folds::InTurn).takes(SPREAD))
    .names(Removes)
    .complex_refused_as("view_as_real").by_name("names_dim", dimnames::by_position),
    both(
        "std.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False, Tensor? out=None) -> \
 Tensor",
        |c| corrected(c, SpreadMeasure::StandardDeviation),
        "Computes the standard deviation along dimensions.",
    ).reads(ALONG)
    .out(Out::PLAIN.unguarded().folding(Folds::InTurn).takes(SPREAD))
    .names(Removes)
    .complex_refused_as("view_as_real").by_name("correction_names", dimnames::by_position),
    both(
        "std(Tensor self, bool unbiased=True) -> Tensor",
        |c| {
            let correction = f64::from(u8::from(c.bool(1)?));
            spread(c, SpreadMeasure::StandardDeviation, None, correction, false)
        },
        "Computes the standard deviation of all elements.",
    ).reads(ALONG)
    .names(Nameless)
    .complex_refused_as("view_as_real"),
    both(
        "norm(Tensor self, any p=\"fro\", int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None, \
 Tensor? out=None) -> Tensor",
        norm,
        "Computes the norm of all elements, or along dimensions.",
    ).reads(ALONG)
    .out(Out::PLAIN.unguarded().folding(Folds::InTurn)).grad_refused_by("linalg_vector_norm")
    .operation("linalg_vector_norm")
    .sparse(Own(sparse_kernels::norm)),
    both(
        "cumsum(Tensor self, int dim, *, ScalarType? dtype=None, Tensor? out=None) -> Tensor",
        |c| ops::cumulative(Running::Sum, &c.view(0)?, c.int(1)?, c.opt_dtype(2)).map(Value::from),
        "Computes the running sum along a dimension.",
    ).reads(Reads::Spanned(Span::UpTo, Taken::All))
    .out(Out::PLAIN.sharing(Shares::Wholly).giving_dtype())
    .names(Keeps).by_name("dimname", dimnames::by_position),
    both(
        "cumprod(Tensor self, int dim, *, ScalarType? dtype=None, Tensor? out=None) -> Tensor",
        |c| ops::cumulative(Running::Product, &c.view(0)?, c.int(1)?, c.opt_dtype(2)).map(Value::from),
        "Computes the running product along a dimension.",
    ).reads(Reads::Spanned(Span::UpTo, Taken::All))
    .out(Out::PLAIN.sharing(Shares::Wholly).giving_dtype())
    .names(Keeps).by_name("dimname", dimnames::by_position),
    function(
        "linalg.vector_norm(Tensor input, Scalar ord=2, int[1]? dim=None, bool keepdim=False, *, ScalarType? \
 dtype=None, Tensor? out=None) -> Tensor",
        |c| {
            let d = if c.is_none(2) { None } else { Some(c.ints(2)?) };
            let p = c.scalar(1)?.to_f64();
            ops::norm(&c.view(0)?, p, d.as_deref(), c.bool(3)?, c.opt_dtype(4)).map(Value::from)
        },
        "Computes the vector norm.",
    ).reads(ALONG)
    .out(Out::PLAIN.unguarded().folding(Folds::InTurn))
    .sparse(Split(&Refused("linalg_vector_norm"), &Own(sparse_kernels::no_vector_norm))),
];

pub(super) fn norm(c: &mut Call) -> Result<Value> {
    let d = if c.is_none(2) { None } else { Some(c.ints(2)?) };
    let p = match c.value(1) {
        Value::None => 2.0,
        Value::Str(kind) if &*kind == "fro" => 2.0,
        kind @ Value::Str(_) => {
            let dims = d.unwrap_or_else(|| Dims::from_slice(&[-2, -1]));
            return matrix_norm(&c.view(0)?, &kind, &dims, c.bool(3)?, c.opt_dtype(4)).map(Value::from);
        }
        Value::Object(object) if object.number().is_none() => bail!(
            TypeError,
            "linalg_vector_norm(): argument 'ord' (position 2) must be Number, not {}",
            object.type_name()
        ),
        _ => c.scalar(1)?.to_f64(),
    };
    ops::norm(&c.view(0)?, p, d.as_deref(), c.bool(3)?, c.opt_dtype(4)).map(Value::from)
}

/// Returns the dimensions to reduce. An empty list means all of them.
fn dims(call: &Call, index: usize) -> Result<Dims> {
    if call.is_none(index) { Ok(Dims::new()) } else { call.ints(index) }
}

fn extremum(call: &Call, which: Extremum, name: &'static str) -> Result<Value> {
    let (values, indices) = ops::extremum_dim(which, &call.view(0)?, call.int(1)?, call.bool(2)?)?;
    Ok(Value::named_tuple(name, vec![("values", values.into()), ("indices", indices.into())]))
}

fn pair(call: &Call, op: tensor::ops::pointwise::BinaryOp) -> Result<Value> {
    use tensor::ops::pointwise::{Output, binary};
    use tensor::ops::promote::Operand;
    let (a, b) = (call.view(0)?, call.view(1)?);
    binary(op, Operand::Tensor(&a), Operand::Tensor(&b), Output::New, call.state.default_dtype.get()).map(Value::from)
}

fn corrected(call: &Call, which: SpreadMeasure) -> Result<Value> {
    let dims = if call.is_none(1) { None } else { Some(call.ints(1)?) };
    let correction = if call.is_none(2) { 1.0 } else { call.scalar(2)?.to_f64() };
    spread(call, which, dims, correction, call.bool(3)?)
}

fn spread(call: &Call, which: SpreadMeasure, dims: Option<Dims>, correction: f64, keepdim: bool) -> Result<Value> {
    let view = call.view(0)?;
    if ops::has_no_freedom(&view, dims.as_deref(), correction)? {
        call.state.warn_once(
            "UserWarning",
            match which {
                SpreadMeasure::Variance => {
                    "var(): degrees of freedom is <= 0. Correction should be strictly less than the reduction factor \
 (input numel divided by output numel). (Triggered internally at \
 /pytorch/aten/src/ATen/native/ReduceOps.cpp:1839.)"
                }
                SpreadMeasure::StandardDeviation => {
                    "std(): degrees of freedom is <= 0. Correction should be strictly less than the reduction factor \
 (input numel divided by output numel). (Triggered internally at \
 /pytorch/aten/src/ATen/native/ReduceOps.cpp:1839.)"
                }
            },
        );
    }
    ops::variance(which, &view, dims.as_deref(), correction, keepdim).map(Value::from)
}
