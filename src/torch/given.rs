//! Methods that call a function of the script for every element. They are slow, and exist because PyTorch has them.
//! Follows <https://pytorch.org/docs/2.7/generated/torch.Tensor.apply_.html>. Also `sum_to_size`, which undoes a
//! broadcast.

use super::steps::Steps;
use call::{Call, Row, method};
use tensor::bail;
use tensor::ops::{copy, view as views};
use tensor::{Dims, Error, Layout, Result, Scalar, View, interrupt};
use value::{Value, equality};

pub(crate) const ROWS: &[Row] = &[
    method(
        "apply_(Tensor(a!) self, any callable) -> Tensor(a!)",
        |c| each(c, "apply_", &[], &c.value(1)),
        "Replaces every element with what a function makes of it.",
    )
    .python("TensorBase.apply_")
    .recorded_in_steps(),
    method(
        "map_(Tensor(a!) self, Tensor other, any callable) -> Tensor(a!)",
        |c| each(c, "map_", &[1], &c.value(2)),
        "Replaces every element with what a function makes of it and another tensor's.",
    )
    .recorded_in_steps(),
    method(
        "map2_(Tensor(a!) self, Tensor x, Tensor y, any callable) -> Tensor(a!)",
        |c| each(c, "map2_", &[1, 2], &c.value(3)),
        "Replaces every element with what a function makes of it and two other tensors'.",
    )
    .recorded_in_steps(),
    method(
        "sum_to_size(Tensor self, int[] size) -> Tensor",
        sum_to_size,
        "Sums to a size that broadcasts to this one.",
    )
    .recorded_in_steps(),
];

/// Calls a function with each element and the elements of the arguments `others` at the same position, and stores the
/// result. Works in order: an element that the view shows twice is replaced twice.
fn each(call: &Call, name: &str, others: &[usize], function: &Value) -> Result<Value> {
    let target = call.view(0)?;
    let tensors = [0].iter().chain(others).map(|&i| call.tensor(i)).collect::<Result<Vec<_>>>()?;
    if tensors.iter().any(|tensor| tensor.requires_grad()) {
        bail!(RuntimeError, "Can't call {name}() on Variable that requires grad. Use var.detach().{name}() instead.");
    }
    let mut read = vec![target.clone()];
    for (&i, argument) in others.iter().zip(["other", "y"]) {
        let other = call.view(i)?;
        if other.dtype != target.dtype {
            let argument = if others.len() == 1 { argument } else { ["x", "y"][i - 1] };
            bail!(
                TypeError,
                "{name}: expected torch.{} for '{argument}' (got torch.{})",
                target.type_name(),
                other.type_name()
            );
        }
        read.push(views::expand(&other, target.sizes())?);
    }
    if target.device().is_meta() {
        return Ok(call.itself());
    }
    let count = target.numel();
    let mut place = Dims::from_elem(0, target.ndim());
    for i in 0..count {
        interrupt::check_at(i as usize)?;
        let items = read.iter().map(|view| Ok(Value::from(element(view, &place)?.item()?))).collect::<Result<_>>()?;
        let made = call.state.call_given(function, items)?;
        copy::fill(&element(&target, &place)?, stored(&made, &target)?)?;
        for (position, &size) in place.iter_mut().zip(target.sizes()).rev() {
            *position += 1;
            if *position < size {
                break;
            }
            *position = 0;
        }
    }
    Ok(call.itself())
}

/// Returns a view of one element.
fn element(view: &View, place: &[i64]) -> Result<View> {
    let mut steps = place.iter().zip(view.strides());
    let offset = steps.try_fold(view.layout.offset, |sum, (&position, &stride)| {
        position.checked_mul(stride).and_then(|step| sum.checked_add(step))
    });
    let Some(offset) = offset else { bail!(RuntimeError, "Storage size calculation overflowed") };
    Ok(view.with_layout(Layout { sizes: Dims::new(), strides: Dims::new(), offset }))
}

/// Converts the result of a script function to a number that `target` can store.
fn stored(made: &Value, target: &View) -> Result<Scalar> {
    let dtype = target.dtype;
    let number = match made {
        Value::Tensor(tensor) if tensor.borrow().numel() == 1 => Some(tensor.borrow().item()?),
        other => other.as_scalar(),
    };
    match number {
        _ if dtype.is_integral(true) && !dtype.is_integral(false) => equality::truth(made).map(Scalar::Bool),
        Some(Scalar::Complex(_)) | None if !dtype.is_complex() => {
            let class = made.type_name();
            Err(Error::type_error(if dtype.is_integral(false) {
                format!("'{class}' object cannot be interpreted as an integer")
            } else {
                format!("must be real number, not {class}")
            }))
        }
        Some(number) => Ok(number),
        None => Err(Error::type_error(format!("must be real number, not {}", made.type_name()))),
    }
}

/// Sums the dimensions that a broadcast from `size` would have added or stretched.
fn sum_to_size(call: &mut Call) -> Result<Value> {
    let (tensor, size) = (call.tensor(0)?, call.ints(1)?);
    let sizes = Dims::from_slice(tensor.borrow().sizes());
    let leading = sizes.len().checked_sub(size.len());
    let fits = |added: usize| size.iter().zip(&sizes[added..]).all(|(&to, &from)| to == from || to == 1);
    let Some(added) = leading.filter(|&added| fits(added)) else {
        let list = |dims: &[i64]| dims.iter().map(i64::to_string).collect::<Vec<_>>().join(", ");
        bail!(RuntimeError, "size {{[{}]}} is not expandable to size {{[{}]}}.", list(&size), list(&sizes));
    };
    let steps = Steps::of(call);
    let stretched = size.iter().zip(&sizes[added..]).enumerate().filter(|(_, (to, from))| **to == 1 && **from != 1);
    let summed: Vec<i64> = (0..added).chain(stretched.map(|(i, _)| added + i)).map(|dim| dim as i64).collect();
    if summed.is_empty() {
        return Ok(call.itself());
    }
    let sum = steps.sum(tensor, &summed, true)?;
    if added == 0 { Ok(Value::Tensor(sum)) } else { steps.sized("view", &sum, &size).map(Value::Tensor) }
}
