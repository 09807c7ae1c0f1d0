//! `a.flat`: the elements of an array in row-major order, as an iterator with subscripts.

use crate::array::Array;
use crate::ndarray::{NdArray, Number};
use crate::strided::Strided;
use crate::{convert, index};
use objects::plain::slices::slice_of;
use std::any::Any;
use std::cell::Cell;
use std::rc::Rc;
use tensor::{Dims, Error, Result, bail, interrupt, limits};
use value::{Object, ObjectState, Range, Value};

pub(crate) struct Flat {
    of: Value,
    next: Cell<i64>,
}

/// The operators that compare elements one by one.
const COMPARISONS: [&str; 6] = ["__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"];

/// Copies all elements to an array of one dimension.
fn copied(array: &Array) -> Result<Array> {
    let flat = array.copied(array.descr, crate::Order::C)?;
    let places = Strided::dense(&[flat.count()], flat.itemsize(), false);
    Ok(flat.at(places))
}

impl Flat {
    pub(crate) fn value(of: Value) -> Value {
        Value::Object(Rc::new(Flat { of, next: Cell::new(0) }))
    }

    fn array(&self) -> Option<Array> {
        NdArray::of(&self.of).map(|this| this.array())
    }
}

/// Returns the byte offset of an element by its number in row-major order.
pub(crate) fn offset_of(places: &Strided, number: i64) -> i64 {
    let (mut rest, mut offset) = (number, places.offset);
    for (&size, &stride) in places.shape.iter().zip(&places.strides).rev() {
        offset += rest % size * stride;
        rest /= size;
    }
    offset
}

fn element(array: &Array, number: i64) -> Result<Value> {
    let places = Strided { shape: Dims::new(), strides: Dims::new(), offset: offset_of(&array.places, number) };
    Number::of(&array.at(places)).map(Number::value)
}

/// Sets all elements from those of a value, which are repeated as needed.
pub(crate) fn assign_all(array: &Array, value: &Value) -> Result<()> {
    assign(array, &listed(0..array.count(), array.count())?, value)
}

/// Collects the numbers of elements. An array whose elements are repeated may have more than fit into memory.
///
/// # Errors
/// MemoryError if they do not fit; KeyboardInterrupt.
fn listed(numbers: impl Iterator<Item = i64>, count: i64) -> Result<Vec<i64>> {
    let mut list = limits::list(limits::count(count))?;
    for (at, number) in numbers.enumerate() {
        interrupt::check_at(at)?;
        list.push(number);
    }
    Ok(list)
}

fn assign(array: &Array, numbers: &[i64], value: &Value) -> Result<()> {
    let source = index::source(value, array.descr)?.scalars()?;
    if source.is_empty() {
        return if numbers.is_empty() { Ok(()) } else { Err(Error::value("Error setting single item of array.")) };
    }
    for (at, (number, value)) in numbers.iter().zip(source.iter().cycle()).enumerate() {
        interrupt::check_at(at)?;
        array.put(offset_of(&array.places, *number), *value)?;
    }
    Ok(())
}

/// The numbers of the elements that a subscript chooses, and whether it chooses a single one.
fn chosen(subscript: &Value, count: i64) -> Result<(Vec<i64>, bool)> {
    let single = |index: i64| match if index < 0 { index.saturating_add(count) } else { index } {
        place if (0..count).contains(&place) => Ok(place),
        _ => bail!(IndexError, "index {index} is out of bounds for size {count}"),
    };
    match subscript {
        Value::Ellipsis => Ok((listed(0..count, count)?, false)),
        Value::Tuple(items) if items.is_empty() => Ok((listed(0..count, count)?, false)),
        Value::Tuple(items) if items.len() == 1 && !matches!(items[0], Value::Tuple(_)) => chosen(&items[0], count),
        Value::Slice(slice) => {
            let (start, stop, step) = slice_of(slice, count)?;
            let range = Range { start, stop, step };
            Ok((listed(range.iter(), range.len() as i64)?, false))
        }
        Value::List(_) | Value::Object(_) if call::indexes::index_of(subscript).is_none() => {
            let array = convert::array(subscript, None)?;
            if array.descr.dtype == tensor::DType::Bool {
                let at = index::nonzero(&array)?;
                let at = at.first().map(Array::scalars).transpose()?.unwrap_or_default();
                return Ok((at.iter().map(|at| at.to_i64()).collect(), false));
            }
            let at = array.scalars()?.iter().map(|at| single(at.to_i64())).collect::<Result<_>>()?;
            Ok((at, false))
        }
        other => match call::indexes::index_of(other) {
            Some(Value::Int(index)) => Ok((vec![single(index)?], true)),
            _ => bail!(IndexError, "unsupported iterator index"),
        },
    }
}

impl Object for Flat {
    fn class_name(&self) -> &'static str {
        convert::FLAT
    }
    fn is_iterator(&self) -> bool {
        true
    }
    fn next(&self) -> Option<Result<Option<Value>>> {
        let array = self.array()?;
        let at = self.next.get();
        if at >= array.count() {
            return Some(Ok(None));
        }
        self.next.set(at + 1);
        Some(element(&array, at).map(Some))
    }
    fn length(&self) -> Option<Result<Value>> {
        Some(Ok(Value::Int(self.array()?.count())))
    }
    fn attribute(&self, name: &str) -> Option<Value> {
        let array = self.array()?;
        let this = self.of.clone();
        Some(match name {
            "base" => this,
            "index" => Value::Int(self.next.get()),
            "coords" => {
                let mut rest = self.next.get();
                let mut coords: Vec<i64> = array
                    .shape()
                    .iter()
                    .enumerate()
                    .rev()
                    .map(|(d, &size)| {
                        // Past the end, the first coordinate is its size.
                        let at = if d == 0 { rest } else { rest % size.max(1) };
                        rest /= size.max(1);
                        at
                    })
                    .collect();
                coords.reverse();
                Value::ints(&coords)
            }
            "copy" | "__array__" => {
                let of = array;
                objects::calling::NativeFunction::value(name, move |_, _| copied(&of).map(NdArray::value))
            }
            _ => return None,
        })
    }
    fn item(&self, _session: &dyn Any, subscript: &Value) -> Option<Result<Value>> {
        let array = self.array()?;
        let items = || {
            let (numbers, single) = chosen(subscript, array.count())?;
            if let (true, [number]) = (single, &numbers[..]) {
                return element(&array, *number);
            }
            let mut values = limits::list(numbers.len())?;
            for (at, &number) in numbers.iter().enumerate() {
                interrupt::check_at(at)?;
                values.push(array.get(offset_of(&array.places, number))?);
            }
            Array::of(&values, array.descr).map(NdArray::value)
        };
        Some(items())
    }
    fn set_item(&self, _session: &dyn Any, subscript: &Value, value: &Value) -> Option<Result<()>> {
        let this = NdArray::of(&self.of)?;
        let set = || {
            this.check_writeable("underlying array")?;
            let array = this.array();
            let (numbers, single) = chosen(subscript, array.count())?;
            if single && index::source(value, array.descr)?.count() != 1 {
                bail!(ValueError, "Error setting single item of array.");
            }
            assign(&array, &numbers, value)
        };
        Some(set())
    }
    fn has_special(&self, name: &str) -> bool {
        name == "__array__" || COMPARISONS.contains(&name)
    }
    fn special(&self, name: &str, args: &[Value]) -> Option<Result<Value>> {
        if !self.has_special(name) {
            return None;
        }
        match copied(&self.array()?) {
            Ok(flat) if name == "__array__" => Some(Ok(NdArray::value(flat))),
            Ok(flat) => crate::operate::special(&NdArray::value(flat), name, args),
            Err(error) => Some(Err(error)),
        }
    }
    fn object_state(&self) -> ObjectState {
        ObjectState { values: vec![self.of.clone()], ..ObjectState::default() }
    }
}
