//! Subscripts of tensors: integers and slices select views, tensors and masks gather elements. Follows
//! <https://pytorch.org/docs/2.7/tensor_view.html>.

use autograd::Functions;
use call::state::State;
use call::warnings::{self, Writer};
use std::cell::Ref;
use tensor::bail;
use tensor::index::{Index, Resolved, SubscriptStep, resolve, steps};
use tensor::journal;
use tensor::ops::{copy, index as gather};
use tensor::{DType, Result, Scalar, Tensor, View};
use value::Value;

/// `x[indices]`. Also returns whether the elements were copied.
pub fn subscript(state: &State, tensor: &Tensor, indices: &[Index]) -> Result<(Tensor, bool)> {
    if tensor.borrow().form.is_some() || state.grad_enabled.get() && tensor.requires_grad() || tensor.has_names() {
        return subscript_recorded(state, tensor, indices);
    }
    warnings::byte_masks(state, index_tensors(indices));
    // Nothing is borrowed for longer: what is recorded below may change the tensor.
    let resolved = resolve(&tensor.borrow(), indices)?;
    let (out, copied) = match resolved {
        Resolved::Basic(layout) if !matches!(indices, [Index::Bool(_)]) => {
            let selected = tensor.borrow().with_layout(layout);
            selected.check_bounds()?;
            let out = tensor.new_view(selected);
            out.note_step("[ ]", tensor);
            if state.trace.is_on() {
                call::dispatch::tracing::note_view(state, tensor, &out, code(indices));
            }
            (out, false)
        }
        _ if state.trace.is_on() => return subscript_recorded(state, tensor, indices),
        _ => (Tensor::new(gather::index(&tensor.view(), indices)?), true),
    };
    if !state.grad_enabled.get() {
        call::dispatch::mark_views(state, &Value::Tensor(out.clone()), &[]);
    }
    Ok((out, copied))
}

/// Returns a subscript of views as it is typed: `[:, 1:3]`.
fn code(indices: &[Index]) -> String {
    let bound = |bound: &Option<i64>| bound.map(|bound| bound.to_string()).unwrap_or_default();
    let part = |index: &Index| match index {
        Index::Int(at) => at.to_string(),
        Index::Slice { start, stop, step: 1 } => format!("{}:{}", bound(start), bound(stop)),
        Index::Slice { start, stop, step } => format!("{}:{}:{step}", bound(start), bound(stop)),
        Index::Ellipsis => "...".to_owned(),
        Index::NewAxis => "None".to_owned(),
        Index::Bool(is) => if *is { "True" } else { "False" }.to_owned(),
        Index::Tensor(_) => "…".to_owned(),
    };
    format!("[{}]", indices.iter().map(part).collect::<Vec<_>>().join(", "))
}

/// `x[indices] = value`.
pub fn assign(state: &State, tensor: &Tensor, indices: &[Index], value: &Value) -> Result<()> {
    let view = tensor.view();
    let source = assigned(&view, value)?;
    warn_of_assignment(state, &view, indices, &source.borrow());
    let recorded =
        state.grad_enabled.get() && (tensor.requires_grad() || source.requires_grad()) || state.trace.is_on();
    let named = tensor.has_names() || source.has_names();
    if view.form.is_some() || source.borrow().form.is_some() || recorded || named {
        return assign_recorded(state, tensor, indices, source);
    }
    match resolve(&view, indices) {
        Ok(Resolved::Basic(layout)) if !matches!(indices, [Index::Bool(_)]) => journal::note(&view.with_layout(layout)),
        _ => journal::note_some(&view),
    }
    gather::set(&view, indices, &source.view())?;
    call::dispatch::count_write(state, tensor)
}

/// Converts the value assigned to `place` to a tensor. A number takes the dtype of `place`.
pub(crate) fn assigned(place: &View, value: &Value) -> Result<Tensor> {
    match value {
        Value::Tensor(source) => Ok(source.clone()),
        // PyTorch unpacks Python integers as 64 bits for every dtype.
        Value::BigInt(_) => bail!(RuntimeError, "Overflow when unpacking long"),
        // Of NumPy's numbers, PyTorch takes those that are Python's as well, and the integers.
        Value::Object(object) if matches!(object.elements(), Some(array) if array.dtype != DType::Double && !array.dtype.is_integral(false)) =>
        {
            bail!(TypeError, "can't assign a {} to a torch.{}", object.type_name(), place.type_name())
        }
        other => match other.as_scalar() {
            Some(scalar) => Ok(Tensor::new(View::scalar(scalar, number_dtype(scalar, place.dtype)?)?)),
            None => bail!(TypeError, "can't assign a {} to a torch.{}", other.type_name(), place.type_name()),
        },
    }
}

/// Writes `value` to a part of a tensor that an attribute names: `x.real = value`.
pub fn assign_part(state: &State, attribute: &str, tensor: &Tensor, value: &Value) -> Result<()> {
    let part: Tensor = call::one(state.call(attribute, &[tensor.clone().into()])?)?;
    let source = assigned(&part.view(), value)?;
    state.call("copy_", &[part.into(), source.into()])?;
    Ok(())
}

/// Applies the view operations of a subscript, each recorded as a separate call. Returns the view, the index tensors
/// still to be applied to it, and whether there was any view operation.
fn viewed(state: &State, tensor: &Tensor, indices: &[Index]) -> Result<(Value, Vec<Value>, bool)> {
    let (steps, tensors) = steps(&tensor.view(), indices)?;
    let moved = !steps.is_empty();
    let bound = |i: Option<i64>| i.map_or(Value::None, Value::Int);
    let viewed = steps.into_iter().try_fold(Value::Tensor(tensor.clone()), |this, step| match step {
        SubscriptStep::Select { dim, index } => {
            state.call("select.int", &[this, Value::Int(dim as i64), Value::Int(index)])
        }
        SubscriptStep::Slice { dim, start, stop, step } => {
            let range = [this, Value::Int(dim as i64), bound(start), bound(stop), Value::Int(step)];
            state.call("slice.Tensor", &range)
        }
        SubscriptStep::Unsqueeze { dim } => state.call("unsqueeze", &[this, Value::Int(dim as i64)]),
    })?;
    let tensors = tensors.into_iter().map(|t| t.map_or(Value::None, Value::Tensor)).collect();
    Ok((viewed, tensors, moved))
}

fn subscript_recorded(state: &State, tensor: &Tensor, indices: &[Index]) -> Result<(Tensor, bool)> {
    let (viewed, tensors, moved) = viewed(state, tensor, indices)?;
    let copied = !tensors.is_empty();
    let out = match (copied, moved) {
        (true, _) => state.call("index.Tensor", &[viewed, Value::list(tensors)])?,
        (false, false) => state.call("alias", &[viewed])?,
        (false, true) => viewed,
    };
    match out {
        Value::Tensor(out) => Ok((out, copied)),
        other => bail!(TypeError, "a subscript gives a Tensor, not {}", other.type_name()),
    }
}

fn assign_recorded(state: &State, tensor: &Tensor, indices: &[Index], source: Tensor) -> Result<()> {
    let (viewed, tensors, _) = viewed(state, tensor, indices)?;
    let Value::Tensor(place) = &viewed else { bail!(TypeError, "a place is a Tensor, not {}", viewed.type_name()) };
    let (sizes, wanted) = (source.borrow().layout.sizes.clone(), place.borrow().layout.sizes.clone());
    if tensors.is_empty() && sizes == wanted {
        state.call("copy_", &[viewed, source.into()])?;
        return Ok(());
    }
    if tensors.is_empty() && sizes.is_empty() {
        state.call("fill_.Tensor", &[viewed, source.into()])?;
        return Ok(());
    }
    // Drops leading dimensions of size 1.
    let ones = sizes.iter().take_while(|&&size| size == 1).count();
    let source = match sizes.get(ones..) {
        Some(rest) if ones > 0 || tensors.is_empty() => state.call("view", &[source.into(), Value::size(rest)])?,
        _ => Value::Tensor(source),
    };
    if tensors.is_empty() {
        let source = state.call("expand", &[source, Value::Size(wanted)])?;
        state.call("copy_", &[viewed, source])?;
    } else {
        state.call("index_put_", &[viewed, Value::list(tensors), source, Value::Bool(false)])?;
    }
    Ok(())
}

/// Warns like PyTorch about assignments by tensors or booleans. They run `index_put_`, or `masked_fill_` for one number
/// and a mask.
fn warn_of_assignment(state: &State, view: &View, indices: &[Index], source: &View) {
    warnings::byte_masks(state, index_tensors(indices));
    if indices.iter().any(|index| matches!(index, Index::Tensor(_) | Index::Bool(_))) {
        warnings::expanded(state, Writer::IndexPut, view);
        if source.numel() == 1 && index_tensors(indices).any(|index| index.dtype == DType::Bool) {
            warnings::expanded(state, Writer::MaskedFill, view);
        }
    }
}

fn index_tensors(indices: &[Index]) -> impl Iterator<Item = Ref<'_, View>> {
    indices.iter().filter_map(|index| if let Index::Tensor(tensor) = index { Some(tensor.borrow()) } else { None })
}

/// Returns `target` as the dtype of an assigned number, after PyTorch's range check.
fn number_dtype(scalar: Scalar, target: DType) -> Result<DType> {
    if !scalar.fits(target) {
        copy::check_fits(scalar, target)?;
    }
    Ok(target)
}
