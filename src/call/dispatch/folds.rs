//! Reductions into an output that shares memory with the input, or shows one element at several positions. PyTorch reduces
//! in the output's own memory, so what it has written is read again. Where no memory is shared, the result is computed
//! aside instead, which gives the same.

use crate::facets::Folds;
use crate::registry::Function;
use crate::{Call, one};
use tensor::layout::wrap_dim;
use tensor::ops::view::{flatten, select};
use tensor::ops::{copy, join};
use tensor::{Dims, Layout, Result, Tensor, View, interrupt};
use value::Value;

/// Returns whether a reduction must run in the memory of its output.
pub(super) fn applies(folds: Folds, inputs: &[Tensor], out: &Tensor) -> bool {
    let out = out.borrow();
    folds != Folds::Aside
        && !out.device().is_meta()
        && (inputs.iter().any(|input| input.borrow().storage == out.storage) || out.layout.has_internal_overlap())
}

/// Reduces the first argument of a call into `out`, which has the size of the result.
pub(super) fn fold(function: &Function, call: &mut Call, folds: Folds, out: &View) -> Result<()> {
    if let Some(start) = folds.start(out.dtype) {
        copy::fill(out, start)?;
    }
    if folds == Folds::Cleared {
        return copy::write_into(out, &one((function.row.run)(call)?)?.view());
    }
    let given = call.args.clone();
    let done = one_by_one(function, call, folds, out);
    call.args = given;
    done
}

/// Computes the elements of the output one after another, by calls of the function with other arguments.
fn one_by_one(function: &Function, call: &mut Call, folds: Folds, out: &View) -> Result<()> {
    let input = call.view(0)?;
    let reduced = reduced(call, input.ndim())?;
    let mut spread = out.clone();
    if out.ndim() != input.ndim() {
        reduced.iter().try_for_each(|&d| spread.layout.insert(d as i64))?;
    }
    // A dimension along which the output does not move counts as reduced, except where each element is added in.
    let in_turn = matches!(folds, Folds::InTurn | Folds::InTurnCleared);
    let kept: Vec<usize> =
        (0..input.ndim()).filter(|&d| !(reduced.contains(&d) || in_turn && spread.layout.strides[d] == 0)).collect();
    let sizes: Dims = kept.iter().map(|&d| input.layout.sizes[d]).collect();
    let mut reduce = |values: &View| -> Result<View> {
        for (param, value) in call.signature.params.iter().zip(call.args.iter_mut()) {
            match param.name {
                "dim" => *value = Value::Int(0),
                "keepdim" => *value = Value::Bool(false),
                _ => {}
            }
        }
        if let Some(first) = call.args.first_mut() {
            *first = Value::Tensor(Tensor::from(values.clone()));
        }
        let result = one((function.row.run)(call)?)?.view();
        copy::cast(&result, out.dtype)
    };
    for number in 0..Layout::contiguous(&sizes).numel() {
        interrupt::check()?;
        let (mut slice, mut place, mut rest) = (input.clone(), spread.clone(), number);
        for (&d, &size) in kept.iter().zip(&sizes).rev() {
            (slice, place) = (select(&slice, d as i64, rest % size)?, select(&place, d as i64, rest % size)?);
            rest /= size;
        }
        let place = View { layout: Layout { sizes: Dims::new(), strides: Dims::new(), ..place.layout }, ..place };
        let with_place = |value: View| join::stack(&[copy::clone(&place)?, value], 0);
        match folds {
            Folds::Each(_) => {
                for i in 0..slice.numel() {
                    interrupt::check()?;
                    let element =
                        Layout { sizes: Dims::new(), strides: Dims::new(), offset: slice.layout.offset_of(i) };
                    let element = flatten(&copy::clone(&slice.with_layout(element))?, 0, -1)?;
                    let element = reduce(&element)?;
                    copy::write_into(&place, &reduce(&with_place(element)?)?)?;
                }
            }
            Folds::Sums => {
                let sum = reduce(&flatten(&slice, 0, -1)?)?;
                copy::write_into(&place, &reduce(&with_place(sum)?)?)?;
            }
            _ => copy::write_into(&place, &reduce(&flatten(&slice, 0, -1)?)?)?,
        }
    }
    Ok(())
}

/// Returns the dimensions that a call reduces, in ascending order.
fn reduced(call: &Call, ndim: usize) -> Result<Vec<usize>> {
    let dims = match call.position("dim") {
        Some(index) if !call.is_none(index) => call.ints(index)?,
        _ => Dims::new(),
    };
    if dims.is_empty() {
        return Ok((0..ndim).collect());
    }
    let mut dims = dims.iter().map(|&d| wrap_dim(d, ndim)).collect::<Result<Vec<_>>>()?;
    dims.sort_unstable();
    dims.retain(|&d| d < ndim);
    Ok(dims)
}
