//! Functions that add elements at places given by an index: `scatter_add`, `index_add`.

use super::patterns::{index_of, item, number_of};
use call::reads::{Finder, Part, Read, TracedCall};
use tensor::Dims;
use tensor::layout::wrap_dim;
use value::Value;

fn dim_of(call: &TracedCall, ndim: usize) -> Option<usize> {
    match call.argument("dim") {
        Some(Value::Int(dim)) => wrap_dim(*dim, ndim).ok(),
        _ => None,
    }
}

/// `scatter_add(self, dim, index, src)`: the element of `self`, and those of `src` whose index leads there.
pub(crate) fn scattered(call: &TracedCall) -> Option<Finder> {
    let shape = Dims::from_slice(call.tensors.first()?.sizes());
    let dim = dim_of(call, shape.len())?;
    let (at, from) = (call.tensor_of("index")?, call.tensor_of("src")?);
    let (index, source) = (call.tensors.get(at)?.clone(), Dims::from_slice(call.tensors.get(from)?.sizes()));
    if !index.is_unchanged() {
        return None;
    }
    Some(Box::new(move |_, element| {
        let mut place = index_of(element, &shape);
        let wanted = place.get(dim).copied();
        let mut found = vec![Read { tensor: 0, element, part: Part::Taken }];
        for step in 0..index.sizes().get(dim).copied().unwrap_or(0) {
            if let Some(along) = place.get_mut(dim) {
                *along = step;
            }
            if !place.iter().zip(index.sizes()).all(|(at, size)| at < size) {
                break;
            }
            let number = number_of(&place, index.sizes());
            found.push(Read { tensor: at, element: number, part: Part::Compared });
            if item(&index.view, number).map(|to| to.to_i64()) == wanted {
                found.push(Read { tensor: from, element: number_of(&place, &source), part: Part::Taken });
            }
        }
        found
    }))
}

/// `index_add(self, dim, index, source)`: the element of `self`, and those of the slices whose index leads there.
pub(crate) fn indexed(call: &TracedCall) -> Option<Finder> {
    let shape = Dims::from_slice(call.tensors.first()?.sizes());
    let dim = dim_of(call, shape.len())?;
    let (at, from) = (call.tensor_of("index")?, call.tensor_of("source")?);
    let (index, source) = (call.tensors.get(at)?.clone(), Dims::from_slice(call.tensors.get(from)?.sizes()));
    if !index.is_unchanged() {
        return None;
    }
    Some(Box::new(move |_, element| {
        let mut place = index_of(element, &shape);
        let wanted = place.get(dim).copied();
        let mut found = vec![Read { tensor: 0, element, part: Part::Taken }];
        for step in 0..index.view.numel() {
            found.push(Read { tensor: at, element: step, part: Part::Compared });
            if item(&index.view, step).map(|to| to.to_i64()) == wanted {
                if let Some(along) = place.get_mut(dim) {
                    *along = step;
                }
                found.push(Read { tensor: from, element: number_of(&place, &source), part: Part::Taken });
            }
        }
        found
    }))
}
