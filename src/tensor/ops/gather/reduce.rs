//! Reductions of several values written to one element: `scatter_reduce_` and `index_reduce_`. Follows
//! <https://pytorch.org/docs/2.7/generated/torch.Tensor.scatter_reduce_.html> and its neighbour. A mean is a sum
//! divided by the number of values.

use super::scatter::{
    Scattered, check_scatter, check_slices, index_add_, index_fill_, scatter, scatter_add_, within_slices,
};
use super::spread::{Reduce, Spread};
use crate::bail;
use crate::element::integer_limits;
use crate::ops::check::{UnsupportedDtypes, at_least_1d, not_implemented, resolved, supported, through_bits};
use crate::ops::compare::{CompareOp, compare};
use crate::ops::create::{full_like, zeros_like};
use crate::ops::mask::masked_fill_;
use crate::ops::pointwise::{BinaryOp, Output, binary};
use crate::ops::promote::Operand;
use crate::{DType, Result, Scalar, View};

/// The reduction of values written to the same element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ScatterReduction {
    Sum,
    Prod,
    Mean,
    Amax,
    Amin,
}

impl ScatterReduction {
    /// Parses a reduction's name, including the older names that `scatter_reduce` still accepts.
    fn parse(name: &str) -> Option<ScatterReduction> {
        Some(match name {
            "sum" => ScatterReduction::Sum,
            "prod" => ScatterReduction::Prod,
            "mean" => ScatterReduction::Mean,
            "amax" | "max" => ScatterReduction::Amax,
            "amin" | "min" => ScatterReduction::Amin,
            _ => return None,
        })
    }

    fn reduce(self) -> Reduce {
        match self {
            ScatterReduction::Sum | ScatterReduction::Mean => Reduce::Add,
            ScatterReduction::Prod => Reduce::Multiply,
            ScatterReduction::Amax => Reduce::Largest,
            ScatterReduction::Amin => Reduce::Smallest,
        }
    }

    /// Returns the neutral value, which initialises elements whose own value is not included.
    fn neutral(self, dtype: DType) -> Scalar {
        let integer = |bound: i128| i64::try_from(bound).map_or(Scalar::Int(0), Scalar::Int);
        match self {
            ScatterReduction::Sum | ScatterReduction::Mean => Scalar::Int(0),
            ScatterReduction::Prod => Scalar::Int(1),
            _ if dtype == DType::Bool => Scalar::Bool(self == ScatterReduction::Amin),
            ScatterReduction::Amax if dtype.is_floating_point() => Scalar::Float(f64::NEG_INFINITY),
            ScatterReduction::Amin if dtype.is_floating_point() => Scalar::Float(f64::INFINITY),
            ScatterReduction::Amax => integer(integer_limits(dtype).0),
            ScatterReduction::Amin => integer(integer_limits(dtype).1),
        }
    }
}

/// `x.scatter_reduce_(dim, index, src, reduce, include_self)`: like `scatter_`, but reduces values written to the same
/// element.
///
/// # Errors
/// Those of `scatter_`; RuntimeError for a `reduce` other than `sum`, `prod`, `mean`, `amax` and `amin`.
pub fn scatter_reduce_(
    view: &View,
    dim: i64,
    index: &View,
    source: &View,
    reduce: &str,
    include_self: bool,
) -> Result<()> {
    let d = check_scatter(view, dim, index, Scattered::Source(source))?;
    let Some(meeting) = ScatterReduction::parse(reduce) else {
        bail!(RuntimeError, "reduce argument must be either sum, prod, mean, amax or amin, got {reduce}");
    };
    if index.numel() == 0 || [view, index, source].iter().any(|v| v.device().is_meta()) {
        return Ok(());
    }
    let kernel = match meeting {
        ScatterReduction::Sum | ScatterReduction::Prod => "scatter_gather_tensor_cpu",
        ScatterReduction::Mean => "scatter_gather_tensor_cpu_reduce_mean",
        ScatterReduction::Amax => "scatter_gather_tensor_cpu_reduce_amax",
        ScatterReduction::Amin => "scatter_gather_tensor_cpu_reduce_amin",
    };
    let refused = match meeting {
        ScatterReduction::Mean => view.dtype == DType::Bool,
        ScatterReduction::Amax | ScatterReduction::Amin => {
            matches!(view.dtype, DType::ComplexFloat | DType::ComplexDouble)
        }
        ScatterReduction::Sum | ScatterReduction::Prod => false,
    };
    if refused {
        return not_implemented(kernel, view.dtype);
    }
    if !include_self {
        check_neutral_values(
            "scatter_reduce_exclude_input_init",
            view,
            &[DType::Bool, DType::ComplexFloat, DType::ComplexDouble],
        )?;
        let neutral = Scattered::Value(meeting.neutral(view.dtype));
        scatter(view, d, index, neutral, None, "scatter_gather_scalar_cpu")?;
    }
    scatter(view, d, index, Scattered::Source(source), Some(meeting.reduce()), kernel)?;
    if meeting == ScatterReduction::Mean {
        let ones = full_like(source, Scalar::Int(1), None, None)?;
        divide_by_counts(view, include_self, |counts| scatter_add_(counts, dim, index, &ones))?;
    }
    Ok(())
}

/// `x.index_reduce_(dim, index, source, reduce, include_self)`: reduces the source's slices into the slices at the
/// indices.
///
/// # Errors
/// Those of `index_add_`; RuntimeError for a `reduce` other than `prod`, `mean`, `amax` and `amin`.
pub fn index_reduce_(
    view: &View,
    dim: i64,
    index: &View,
    source: &View,
    reduce: &str,
    include_self: bool,
) -> Result<()> {
    let Some(meeting) = ScatterReduction::parse(reduce).filter(|_| matches!(reduce, "prod" | "mean" | "amax" | "amin"))
    else {
        bail!(RuntimeError, "index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got {reduce}.");
    };
    let d = check_slices("index_reduce_", view, dim, index, source)?;
    if [view, index, source].iter().any(|v| v.device().is_meta()) {
        return Ok(());
    }
    if !include_self {
        check_neutral_values("index_reduce_func_exclude_input_init", view, &[])?;
        let index = crate::ops::copy::cast(index, DType::Long)?;
        index_fill_(view, dim, &index, meeting.neutral(view.dtype))?;
    }
    if view.ndim() > 1 && index.numel() == 0 {
        return Ok(());
    }
    join_slices(view, d, index, source, meeting)?;
    if meeting == ScatterReduction::Mean {
        let ones = full_like(source, Scalar::Int(1), None, None)?;
        divide_by_counts(view, include_self, |counts| index_add_(counts, dim, index, &ones, Scalar::Int(1)))?;
    }
    Ok(())
}

fn join_slices(view: &View, d: usize, index: &View, source: &View, meeting: ScatterReduction) -> Result<()> {
    within_slices(view, d, index, || {
        if view.ndim() < 2 {
            return match view.dtype == DType::Bool || view.dtype.is_complex() {
                true => not_implemented("index_func_", view.dtype),
                false => supported("index_func_", view.dtype, UnsupportedDtypes::Float8),
            };
        }
        match meeting {
            ScatterReduction::Prod => Ok(()),
            ScatterReduction::Sum | ScatterReduction::Mean => {
                supported("add_stub", view.dtype, UnsupportedDtypes::Float8)
            }
            ScatterReduction::Amax | ScatterReduction::Amin => {
                let kernel = if meeting == ScatterReduction::Amax { "maximum_cpu" } else { "minimum_cpu" };
                match view.dtype.is_complex() {
                    true => not_implemented(kernel, view.dtype),
                    false => supported(kernel, view.dtype, UnsupportedDtypes::Float8),
                }
            }
        }
    })?;
    let source = resolved(source)?;
    let source = source.with_layout(at_least_1d(&source.layout));
    through_bits(view, |view| {
        let spread = Spread::of_slices(view, d, index, source)?;
        dispatch!(view.dtype, T => spread.reduce::<T>(meeting.reduce()))
    })
}

/// Refuses dtypes without neutral values. PyTorch's loop supports integers, floats and the dtypes in `besides`.
fn check_neutral_values(kernel: &str, view: &View, besides: &[DType]) -> Result<()> {
    if !besides.contains(&view.dtype) && (view.dtype == DType::Bool || view.dtype.is_complex()) {
        return not_implemented(kernel, view.dtype);
    }
    supported(kernel, view.dtype, UnsupportedDtypes::Float8)
}

/// Divides the sums by the number of values; `count` adds a one wherever a value was written.
fn divide_by_counts(view: &View, include_self: bool, count: impl FnOnce(&View) -> Result<()>) -> Result<()> {
    let plain = View { conj: false, neg: false, ..view.clone() };
    let counts = match include_self {
        true => full_like(&plain, Scalar::Int(1), None, None)?,
        false => zeros_like(&plain, None, None)?,
    };
    count(&counts)?;
    let zero = Operand::Number(Scalar::Int(0));
    let none = compare(CompareOp::Eq, Operand::Tensor(&counts), zero, Output::New, DType::Float)?;
    masked_fill_(&counts, &none, Scalar::Int(1))?;
    let exact = view.dtype.is_floating_point() || view.dtype.is_complex();
    let divide = if exact { BinaryOp::TrueDivide } else { BinaryOp::FloorDivide };
    binary(divide, Operand::Tensor(view), Operand::Tensor(&counts), Output::InPlace(view), DType::Float).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Element;
    use crate::ops::gather::Joined;

    #[test]
    fn neutral_values_change_nothing() {
        for dtype in [DType::Bool, DType::Char, DType::Long, DType::Half, DType::Double] {
            for meeting in [ScatterReduction::Amax, ScatterReduction::Amin, ScatterReduction::Prod] {
                dispatch!(dtype, T => {
                    let (neutral, one) = (T::store(meeting.neutral(dtype)), T::store(Scalar::Int(1)));
                    let joined = match meeting {
                        ScatterReduction::Amax => neutral.larger(one),
                        ScatterReduction::Amin => neutral.smaller(one),
                        _ => neutral.times(one),
                    };
                    assert_eq!(joined.load().to_f64(), 1.0, "{meeting:?} of {dtype:?}");
                });
            }
        }
    }
}
