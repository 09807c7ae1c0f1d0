//! Carries out the facet `reads`: finds which elements a recorded call read for an element of its result.

use super::chosen::{chosen_by, index_elements};
use super::spans::spanned;
use autograd::Functions;
use call::State;
use call::reads::{Finder, Part, Read, Reads, Span, Takes, TracedCall, tensors_in};
pub(super) use explain::index_of;
use std::rc::Rc;
use tensor::ops::copy;
use tensor::{DType, Device, Scalar, Tensor, View};
use value::Value;

/// The most elements whose numbers are passed through a function.
const MOST_MOVED: i64 = 1 << 24;

/// The number of the first element while elements are replaced by their numbers. No fill value is likely to be as large.
const FIRST: i64 = 1 << 40;

/// Returns a function that finds the elements read by a call. `None` if they are not known.
pub fn origin_finder(state: &State, call: &Rc<TracedCall>) -> Option<Finder> {
    match call.reads {
        Reads::Unknown => None,
        Reads::Nothing => Some(Box::new(|_, _| Vec::new())),
        Reads::Place if is_view(call) => place(call),
        // A function that returns a view if it can has made a copy.
        Reads::Place => {
            let (source, result) = (call.tensors.first()?, call.outputs.first()?);
            let is_each = call.outputs.len() == 1 && source.sizes() == result.sizes();
            if is_each { spanned(call, Span::Same, Takes::All) } else { moved(state, call) }
        }
        Reads::Moved => moved(state, call),
        Reads::Spanned(span, takes) => spanned(call, span, takes),
        Reads::Own(own) => own(call),
    }
}

/// Returns the integers of a list.
pub(super) fn ints(value: &Value) -> Option<Vec<i64>> {
    let item = |value: &Value| if let Value::Int(number) = value { Some(*number) } else { None };
    value.sequence()?.iter().map(item).collect()
}

/// Returns the number of an element in row-major order.
pub(super) fn number_of(index: &[i64], sizes: &[i64]) -> i64 {
    index.iter().zip(sizes).fold(0i64, |number, (at, size)| number.saturating_mul(*size).saturating_add(*at))
}

/// Returns the number of the element of a tensor that stands at an index of a shape to which it was broadcast. `None` if
/// it cannot be broadcast there.
pub(super) fn broadcast(index: &[i64], sizes: &[i64]) -> Option<i64> {
    let own = index.get(index.len().checked_sub(sizes.len())?..)?;
    Some(own.iter().zip(sizes).fold(0, |number, (at, size)| number * size + if *size == 1 { 0 } else { *at }))
}

/// Returns the position of an element in its storage. `None` for a number beyond the elements.
pub(super) fn place_of(view: &View, number: i64) -> Option<i64> {
    (0..view.numel()).contains(&number).then(|| view.layout.offset_of(number))
}

/// Returns an element of a view.
pub(super) fn item(view: &View, number: i64) -> Option<Scalar> {
    let place = place_of(view, number)?;
    let memory = view.memory().ok()?;
    Some(view.read(&memory, place))
}

/// Returns whether all results show the memory of the first tensor.
pub(super) fn is_view(call: &TracedCall) -> bool {
    let source = call.tensors.first();
    source.is_some_and(|source| call.outputs.iter().all(|output| output.view.storage == source.view.storage))
}

/// The element of a view lies where the element of the first tensor lies that it shows.
fn place(call: &Rc<TracedCall>) -> Option<Finder> {
    let (source, outputs) = (call.tensors.first()?.view.clone(), call.outputs.clone());
    let width = |view: &View| view.dtype.itemsize() as i64;
    let (wide, bytes) = (width(&source), explain::Shown::of_view(&source));
    Some(Box::new(move |output, element| {
        let Some(shown) = outputs.get(output).map(|output| &output.view) else { return Vec::new() };
        let Some(place) = place_of(shown, element) else { return Vec::new() };
        let first = place.saturating_mul(width(shown));
        // An element of a wider dtype is made of several.
        let starts = (first - wide + 1..first + width(shown)).filter(|at| at.rem_euclid(wide) == 0);
        let found = starts.filter_map(|at| {
            let index = bytes.index_at(at)?;
            Some(Read { tensor: 0, element: number_of(&index, source.sizes()), part: Part::Taken })
        });
        found.collect()
    }))
}

/// Runs the function on the numbers of the elements in place of the elements.
fn moved(state: &State, call: &Rc<TracedCall>) -> Option<Finder> {
    if let Some(Value::Bool(true)) = call.argument("accumulate") {
        return None;
    }
    let choosing = chosen_by(call);
    let is_choosing = |position: usize| choosing.iter().any(|(at, _)| *at == position);
    let mut starts = Vec::new();
    let mut end = 0i64;
    for traced in &call.tensors {
        starts.push(end);
        end = end.checked_add(traced.view.numel()).filter(|end| *end <= MOST_MOVED)?;
    }
    if choosing.iter().any(|(at, _)| call.tensors.get(*at).is_none_or(|traced| !traced.is_unchanged())) {
        return None;
    }
    // Some functions refuse integers.
    let results = [DType::Long, DType::Double].into_iter().find_map(|dtype| {
        let mut position = 0;
        let mut replaced = |value: &Value| -> Option<Value> {
            let Value::Tensor(tensor) = value else { return Some(value.clone()) };
            let (at, start) = (position, *starts.get(position)?);
            position += 1;
            let shown = &call.tensors.get(at)?.view;
            if is_choosing(at) {
                Some(Value::Tensor(tensor.clone()))
            } else {
                numbers(start, shown, dtype).map(Value::from)
            }
        };
        let mut args = Vec::new();
        for value in &call.args {
            args.push(match value {
                Value::List(_) | Value::Tuple(_) => {
                    Value::list(value.sequence()?.iter().map(&mut replaced).collect::<Option<Vec<_>>>()?)
                }
                other => replaced(other)?,
            });
        }
        // A function that reads the elements in another dtype does not move them.
        let result = state.call(call.key, &args).ok()?;
        tensors_in([&result]).iter().all(|output| output.view.dtype == dtype).then_some(result)
    })?;
    let mut origins: Vec<Vec<i64>> = Vec::new();
    for output in tensors_in([&results]) {
        let numbers = output.view.scalars().ok()?;
        origins.push(numbers.into_iter().map(|number| number.to_i64().saturating_sub(FIRST)).collect());
    }
    let traced = call.clone();
    Some(Box::new(move |output, element| {
        let all = origins.get(output);
        let number = all.and_then(|all| all.get(usize::try_from(element).ok()?)).copied().unwrap_or(-1);
        let mut found = Vec::new();
        if (0..end).contains(&number) {
            // Several tensors begin at the same number if some are empty.
            let tensor = starts.partition_point(|start| *start <= number).saturating_sub(1);
            let element = number - starts.get(tensor).copied().unwrap_or_default();
            found.push(Read { tensor, element, part: Part::Taken });
        }
        choosing.iter().for_each(|(at, name)| index_elements(&traced, *at, name, output, element, &mut found));
        found
    }))
}

/// A tensor of the numbers of elements, laid out like another if no two elements of that share a place.
fn numbers(start: i64, like: &View, dtype: DType) -> Option<Tensor> {
    let sizes = like.sizes();
    let count = sizes.iter().product::<i64>();
    let all = (0..count).map(|number| Scalar::Int(FIRST + start + number));
    let view = View::from_scalars(sizes, DType::Long, all).ok()?;
    let view = if dtype == DType::Long { view } else { copy::cast(&view, dtype).ok()? };
    let room = like.layout.storage_elements().ok().filter(|room| *room <= MOST_MOVED);
    let Some(room) = room.filter(|_| like.layout.has_distinct_elements()) else { return Some(Tensor::new(view)) };
    let laid = View::zeros(&[room], dtype, Device::CPU).ok()?.with_layout(like.layout.clone());
    copy::copy_into(&laid, &view).ok()?;
    Some(Tensor::new(laid))
}
