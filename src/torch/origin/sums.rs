//! Functions that add elements at places given by an index: `scatter_add`, `index_add`.

use super::patterns::{index_of, item, number_of};
use call::reads::{Finder, Part, Read, TracedCall};
use tensor::Dims;
use tensor::layout::wrap_dim;
use value::Value;

/// Finds the element of `self`, and those of the tensor `source` whose index along `dim` leads there. `at` returns the
/// element of the index for a place in the source. `None` beyond the index.
fn added(call: &TracedCall, source: &str, at: fn(&Dims, usize, &[i64]) -> Option<i64>) -> Option<Finder> {
    let shape = Dims::from_slice(call.tensors.first()?.sizes());
    let dim = match call.argument("dim") {
        Some(Value::Int(dim)) => wrap_dim(*dim, shape.len()).ok()?,
        _ => return None,
    };
    let (chooser, from) = (call.tensor_of("index")?, call.tensor_of(source)?);
    let (index, source) = (call.tensors.get(chooser)?.clone(), Dims::from_slice(call.tensors.get(from)?.sizes()));
    if !index.is_unchanged() {
        return None;
    }
    Some(Box::new(move |_, element| {
        let mut place = index_of(element, &shape);
        let wanted = place.get(dim).copied();
        let mut found = vec![Read { tensor: 0, element, part: Part::Taken }];
        for step in 0..source.get(dim).copied().unwrap_or(0) {
            if let Some(along) = place.get_mut(dim) {
                *along = step;
            }
            let Some(number) = at(&place, dim, index.sizes()) else { break };
            found.push(Read { tensor: chooser, element: number, part: Part::Compared });
            if item(&index.view, number).map(|to| to.to_i64()) == wanted {
                found.push(Read { tensor: from, element: number_of(&place, &source), part: Part::Taken });
            }
        }
        found
    }))
}

/// `scatter_add(self, dim, index, src)`: an index for each element of `src`, which may be larger.
pub(crate) fn scattered(call: &TracedCall) -> Option<Finder> {
    added(call, "src", |place, _, sizes| {
        let is_inside = place.iter().zip(sizes).all(|(at, size)| at < size);
        is_inside.then(|| number_of(place, sizes))
    })
}

/// `index_add(self, dim, index, source)`: an index for each slice.
pub(crate) fn indexed(call: &TracedCall) -> Option<Finder> {
    added(call, "source", |place, dim, _| place.get(dim).copied())
}
