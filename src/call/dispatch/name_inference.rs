//! Name inference for functions with their own rules: how the dimension names of a result follow from those of the
//! arguments. Follows <https://pytorch.org/docs/2.7/name_inference.html>. The rows say which function uses which rule.

use super::names::{all_names, check_size, names_in, refusal, unified};
use crate::Call;
use tensor::bail;
use tensor::layout::{show, wrap_dim};
use tensor::names::{distances, matmul, show_name, show_names, unify};
use tensor::{Name, Result};
use value::Value;

/// Swaps two dimensions: the ones given, or the last two.
pub fn transposed(call: &Call) -> Result<Option<Vec<Name>>> {
    let Some(mut names) = names_in(call, 0) else { return Ok(None) };
    let ndim = names.len();
    let (a, b) = match (call.args.get(1), call.args.get(2)) {
        (Some(Value::Int(a)), Some(Value::Int(b))) => (wrap_dim(*a, ndim)?, wrap_dim(*b, ndim)?),
        _ => (ndim.saturating_sub(2), ndim.saturating_sub(1)),
    };
    if a.max(b) < ndim {
        names.swap(a, b);
    }
    Ok(Some(names))
}

/// Removes one dimension. An index out of range is reported with the dimension's name.
pub fn selected_at(call: &Call) -> Result<Option<Vec<Name>>> {
    let Some(mut names) = names_in(call, 0) else { return Ok(None) };
    let (dim, index) = (wrap_dim(call.int(1)?, names.len())?, call.int(2)?);
    let sizes = call.tensor(0)?.borrow().layout.sizes.clone();
    let name = names.remove(dim);
    if name.is_some() && !(-sizes[dim]..sizes[dim]).contains(&index) {
        bail!(
            IndexError,
            "select(): index {index} out of range for tensor of size {} at dimension {}",
            show(&sizes),
            show_name(&name)
        );
    }
    Ok(Some(names))
}

/// New leading dimensions have no names.
pub fn expanded(call: &Call, result: &Value) -> Result<Option<Vec<Name>>> {
    let (Some(names), Value::Tensor(result)) = (names_in(call, 0), result) else { return Ok(None) };
    let new = result.borrow().ndim().saturating_sub(names.len());
    Ok(Some([vec![None; new], names].concat()))
}

/// Removes the names of dimensions of size 1. If one given dimension stays, PyTorch forgets all names.
pub fn squeezed(call: &Call) -> Result<Option<Vec<Name>>> {
    let Some(names) = names_in(call, 0) else { return Ok(None) };
    let sizes = call.tensor(0)?.borrow().layout.sizes.clone();
    let dim = match call.args.get(1) {
        Some(Value::Int(dim)) => Some(wrap_dim(*dim, names.len())?),
        _ => None,
    };
    if dim.is_some_and(|dim| sizes.get(dim).is_some_and(|size| *size != 1)) {
        return Ok(None);
    }
    let stays = |i: usize| sizes[i] != 1 || dim.is_some_and(|dim| dim != i);
    Ok(Some(names.into_iter().enumerate().filter(|(i, _)| stays(*i)).map(|(_, name)| name).collect()))
}

/// Removes two dimensions and appends a nameless one.
pub fn diagonal(call: &Call, _: &Value) -> Result<Option<Vec<Name>>> {
    let Some(mut names) = names_in(call, 0) else { return Ok(None) };
    let (a, b) = (wrap_dim(call.int(2)?, names.len())?, wrap_dim(call.int(3)?, names.len())?);
    names.remove(a.max(b));
    names.remove(a.min(b));
    names.push(None);
    Ok(Some(names))
}

pub fn concatenated(call: &Call) -> Result<Option<Vec<Name>>> {
    let items = call.value(0).sequence().unwrap_or_default();
    if let (Some(Value::Tensor(first)), Some(Value::Int(dim))) = (items.first(), call.args.get(1)) {
        wrap_dim(*dim, first.borrow().ndim())?;
    }
    let mut names: Vec<Name> = Vec::new();
    for item in items.iter() {
        let Value::Tensor(tensor) = item else { return Ok(None) };
        let given = tensor.all_names();
        if given.is_empty() {
            bail!(RuntimeError, "zero-dimensional tensor cannot be concatenated");
        }
        if !names.is_empty() && names.len() != given.len() {
            let (had, has) = (names.len(), given.len());
            bail!(RuntimeError, "Tensors must have same number of dimensions: got {had} and {has}");
        }
        names = unify(&names, &given, "cat")?;
    }
    Ok(Some(names))
}

pub fn product(call: &Call) -> Result<Option<Vec<Name>>> {
    matmul(&all_names(call, 0)?, &all_names(call, 1)?).map(Some)
}

pub fn batches(call: &Call) -> Result<Option<Vec<Name>>> {
    product(call)
}

/// Names of `input + a @ b`.
pub fn product_added(call: &Call) -> Result<Option<Vec<Name>>> {
    let tensors: Vec<usize> = (0..call.args.len())
        .filter(|&i| matches!(call.args[i], Value::Tensor(_)) && call.signature.params[i].name != "out")
        .collect();
    let [input, a, b] = tensors[..] else { return Ok(None) };
    let names = matmul(&all_names(call, a)?, &all_names(call, b)?)?;
    unify(&names, &all_names(call, input)?, "broadcast").map(Some)
}

pub fn between(call: &Call) -> Result<Option<Vec<Name>>> {
    let (a, b) = (all_names(call, 0)?, all_names(call, 1)?);
    if a.len() < 2 || b.len() < 2 {
        return Ok(None);
    }
    distances(&a, &b).map(Some)
}

/// Unifies the names of a tensor and a mask. The mask must not have more dimensions than the tensor. In place, it must
/// not have fewer.
pub fn masked(call: &Call) -> Result<Option<Vec<Name>>> {
    let (this, mask) = (all_names(call, 0)?, all_names(call, 1)?);
    let (from, to) = if call.signature.in_place { (&this, &mask) } else { (&mask, &this) };
    if from.len() > to.len() {
        bail!(
            RuntimeError,
            "{}: attempted to broadcast Tensor{} to Tensor{} but the number of dims ({}) must be less than or equal to the \
             number of dims in the tensor ({})",
            call.signature.name,
            show_names(from),
            show_names(to),
            from.len(),
            to.len()
        );
    }
    unify(to, from, "broadcast").map(Some)
}

/// Accepts only a range of one dimension, which stays as it is.
pub fn flattened(call: &Call) -> Result<Option<Vec<Name>>> {
    let names = all_names(call, 0)?;
    let (first, last) = (wrap_dim(call.int(1)?, names.len())?, wrap_dim(call.int(2)?, names.len())?);
    if first < last { Err(refusal("view")) } else { Ok(names_in(call, 0)) }
}

/// Checks that the names match. The selected elements have no names.
pub fn selected(call: &Call) -> Result<Option<Vec<Name>>> {
    unified(call).map(|_| None)
}

/// Checks that a named tensor keeps its size. The names stay.
pub fn resized(call: &Call) -> Result<Option<Vec<Name>>> {
    let this = call.tensor(0)?;
    let (wanted, names) = match call.args.get(1) {
        Some(Value::Tensor(other)) => (other.borrow().layout.sizes.clone(), names_in(call, 1)),
        _ => (call.ints(1)?, names_in(call, 0)),
    };
    check_size(this, &wanted)?;
    Ok(names)
}
