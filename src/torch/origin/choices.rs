//! Functions that take one of several operands by a condition: `where`, `masked_fill`, `clamp`.

use super::patterns::{broadcast, index_of, item};
use call::reads::{Finder, Part, Read, TracedCall};
use tensor::Dims;

/// `where(condition, self, other)`.
pub(crate) fn by_condition(call: &TracedCall) -> Option<Finder> {
    chosen(
        call,
        call.tensor_of("condition")?,
        call.tensor_of("self").or_else(|| call.tensor_of("input")),
        call.tensor_of("other"),
    )
}

/// `masked_fill(self, mask, value)`.
pub(crate) fn filled(call: &TracedCall) -> Option<Finder> {
    chosen(call, call.tensor_of("mask")?, call.tensor_of("value"), Some(0))
}

fn chosen(call: &TracedCall, condition: usize, then: Option<usize>, otherwise: Option<usize>) -> Option<Finder> {
    let tested = call.tensors.get(condition)?.clone();
    if !tested.is_unchanged() {
        return None;
    }
    let sizes: Vec<Dims> = call.tensors.iter().map(|traced| Dims::from_slice(traced.sizes())).collect();
    let shape = Dims::from_slice(call.outputs.first()?.sizes());
    Some(Box::new(move |_, element| {
        let index = index_of(element, &shape);
        let read = |tensor: usize, part| {
            let element = broadcast(&index, sizes.get(tensor)?)?;
            Some(Read { tensor, element, part })
        };
        let asked = read(condition, Part::Compared);
        let is_true =
            asked.and_then(|asked| item(&tested.view, asked.element)).is_some_and(|value| value.to_f64() != 0.0);
        let taken = if is_true { then } else { otherwise };
        let taken = taken.and_then(|tensor| read(tensor, Part::Taken));
        asked.into_iter().chain(taken).collect()
    }))
}

/// In place, by the elements of the second tensor: `copy_`. The old elements are not read.
pub(crate) fn replaced(call: &TracedCall) -> Option<Finder> {
    let shape = Dims::from_slice(call.tensors.first()?.sizes());
    let sizes = call.tensors.get(1).map(|source| Dims::from_slice(source.sizes()));
    Some(Box::new(move |_, element| {
        let Some(sizes) = &sizes else { return Vec::new() };
        let read = broadcast(&index_of(element, &shape), sizes);
        read.map(|element| Read { tensor: 1, element, part: Part::Taken }).into_iter().collect()
    }))
}

/// Elements that are compared with all of another tensor: `isin`, `bucketize`, `searchsorted` in one sequence.
fn searched(call: &TracedCall, own: usize, others: usize) -> Option<Finder> {
    let (sizes, count) = (Dims::from_slice(call.tensors.get(own)?.sizes()), call.tensors.get(others)?.view.numel());
    let shape = Dims::from_slice(call.outputs.first()?.sizes());
    if sizes != shape || call.tensors.len() > 2 {
        return None;
    }
    Some(Box::new(move |_, element| {
        let first = Read { tensor: own, element, part: Part::Compared };
        let all = (0..count).map(|element| Read { tensor: others, element, part: Part::Compared });
        std::iter::once(first).chain(all).collect()
    }))
}

/// `isin(elements, test_elements)`, `bucketize(self, boundaries)`.
pub(crate) fn among(call: &TracedCall) -> Option<Finder> {
    searched(call, 0, 1)
}

/// `searchsorted(sorted_sequence, self)` with a sequence of one dimension.
pub(crate) fn in_order(call: &TracedCall) -> Option<Finder> {
    if call.tensors.first()?.view.ndim() != 1 {
        return None;
    }
    searched(call, 1, 0)
}
