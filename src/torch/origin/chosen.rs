//! Which elements of an index, a mask or a count decide about an element that a function moves.

use super::patterns::{broadcast, index_of, number_of};
use call::reads::{Part, Read, TracedCall};
use tensor::{DType, Dims};
use value::{Value, as_tensor};

/// The parameters whose tensors choose among the elements of others.
const CHOOSING: [&str; 6] = ["index", "indices", "mask", "condition", "repeats", "shifts"];

/// Returns the tensors of a call that choose, by their positions among its tensors, each with its parameter.
pub(super) fn chosen_by(call: &TracedCall) -> Vec<(usize, &'static str)> {
    let (mut found, mut position) = (Vec::new(), 0);
    for (param, value) in call.signature.params.iter().zip(&call.args) {
        let count = match value {
            Value::Tensor(_) => 1,
            Value::List(_) | Value::Tuple(_) => {
                value.sequence().unwrap_or_default().iter().filter(|item| as_tensor(item).is_some()).count()
            }
            _ => 0,
        };
        if CHOOSING.contains(&param.name) {
            found.extend((position..position + count).map(|at| (at, param.name)));
        }
        position += count;
    }
    found
}

/// Adds the elements of the tensor at position `at` that decide about an element of a result.
pub(super) fn index_elements(
    call: &TracedCall,
    at: usize,
    name: &str,
    output: usize,
    element: i64,
    found: &mut Vec<Read>,
) {
    let (Some(chooser), Some(result)) = (call.tensors.get(at), call.outputs.get(output)) else { return };
    let index = index_of(element, result.sizes());
    let known = match (name, call.signature.name) {
        // The index has the shape of the result.
        ("index", "gather" | "take") | ("indices", "take_along_dim") => broadcast(&index, chooser.sizes()),
        ("index", "index_select") => along(call, &index),
        ("indices", "index") if chooser.view.dtype != DType::Bool => {
            indexed(call, &index).and_then(|part| broadcast(&part, chooser.sizes()))
        }
        ("indices", "embedding") => index.split_last().map(|(_, place)| number_of(place, chooser.sizes())),
        _ => None,
    };
    let all = match known {
        Some(element) => element..element + 1,
        None => 0..chooser.view.numel(),
    };
    found.extend(all.map(|element| Read { tensor: at, element, part: Part::Compared }));
}

/// The part of an index along `dim`.
fn along(call: &TracedCall, index: &[i64]) -> Option<i64> {
    let Value::Int(dim) = call.argument("dim")? else { return None };
    index.get(tensor::layout::wrap_dim(*dim, index.len()).ok()?).copied()
}

/// The part of an index of `x[…]` that counts the elements of the index tensors, which replace the dimensions of `x` that
/// they index: at the first of them if they are neighbours, or else in front.
fn indexed(call: &TracedCall, index: &[i64]) -> Option<Dims> {
    let indices = call.argument("indices")?.sequence()?;
    let (mut first, mut is_split, mut dim, mut last) = (None, false, 0, 0);
    let (mut shape, mut result) = (Dims::new(), Dims::new());
    for item in &indices {
        let Some(tensor) = as_tensor(item) else {
            dim += 1;
            continue;
        };
        let view = tensor.view();
        let is_mask = view.dtype == DType::Bool;
        is_split |= first.is_some() && last != dim;
        first.get_or_insert(dim);
        dim += if is_mask { view.ndim() } else { 1 };
        last = dim;
        // The number of elements that a mask selects is seen in the result.
        let sizes = if is_mask { Dims::from_slice(&[1]) } else { Dims::from_slice(view.sizes()) };
        shape = tensor::layout::broadcast_sizes(&shape, &sizes).ok()?;
    }
    let start = if is_split { 0 } else { first? };
    result.extend_from_slice(index.get(start..start + shape.len())?);
    Some(result)
}
