//! Iteration over any value, like Python's `iter`. Items are produced on demand. This file must not know the consumer,
//! nor how an object of a script finds its next item.

use crate::{operators, subscript};
use call::{Call, State};
use std::rc::Rc;
use tensor::bail;
use tensor::ops::split;
use tensor::{Buffer, Error, ErrorKind, Result, Scalar, Tensor, interrupt, limits};
use value::{Dict, List, Object, Range, Set, Text, Tuple, Value};

/// The part of a dictionary's entries that an iterator yields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    Keys,
    Values,
    Items,
}

/// The remaining items of a value. An iterator over a list sees later changes of the list.
pub enum Iter {
    Done,
    Range {
        range: Range,
        next: usize,
    },
    List {
        list: List,
        next: usize,
    },
    Tuple {
        items: Tuple,
        next: usize,
    },
    /// Items computed in advance.
    Made(std::vec::IntoIter<Value>),
    Bytes(std::vec::IntoIter<u8>),
    Scalars(std::vec::IntoIter<Scalar>),
    Text {
        text: Text,
        at: usize,
    },
    Dict {
        dict: Dict,
        part: Part,
        at: usize,
        length: usize,
    },
    Set {
        set: Set,
        items: std::vec::IntoIter<Value>,
        length: usize,
    },
    Buffer {
        buffer: Buffer,
        next: usize,
    },
    /// The rows of a tensor along its first dimension.
    Rows {
        state: Rc<State>,
        whole: Value,
        next: i64,
        length: i64,
    },
    /// An object that implements the iterator protocol.
    Object(Rc<dyn Object>),
    /// An object without an iterator, subscripted from 0 on. `first` holds the item that was read to test this.
    Indexed {
        object: Rc<dyn Object>,
        first: Option<Value>,
        next: i64,
    },
}

/// Returns an iterator over a value.
///
/// # Errors
/// TypeError if the value is not iterable; errors of a script's `__iter__`.
pub fn iterate(state: &State, value: &Value) -> Result<Iter> {
    Ok(match value {
        Value::Range(range) => Iter::Range { range: *range, next: 0 },
        Value::List(list) => Iter::List { list: list.clone(), next: 0 },
        Value::Tuple(items) => Iter::Tuple { items: items.clone(), next: 0 },
        Value::Size(_) | Value::NamedTuple(_) => Iter::Made(value.sequence().unwrap_or_default().into_iter()),
        Value::Str(text) => Iter::Text { text: text.clone(), at: 0 },
        Value::Dict(dict) => Iter::over_dict(dict, Part::Keys),
        Value::Set(set) => Iter::Set { set: set.clone(), items: set.to_vec().into_iter(), length: set.len() },
        Value::Buffer(buffer) => Iter::Buffer { buffer: buffer.clone(), next: 0 },
        Value::Storage(storage) => Iter::Bytes(storage.to_vec()?.into_iter()),
        Value::TypedStorage(typed) => Iter::Scalars(typed.scalars()?.into_iter()),
        Value::Tensor(tensor) => rows(state, tensor)?,
        Value::Object(object) => over_object(value, object)?,
        other => return Err(not_iterable(other)),
    })
}

fn not_iterable(value: &Value) -> Error {
    Error::type_error(format!("'{}' object is not iterable", value.type_name()))
}

/// Returns whether an error says that a value is not iterable.
pub fn is_not_iterable(error: &Error) -> bool {
    error.kind == ErrorKind::TypeError && error.message.ends_with("' object is not iterable")
}

fn rows(state: &State, tensor: &Tensor) -> Result<Iter> {
    let Some(&length) = tensor.borrow().sizes().first() else { bail!(TypeError, "iteration over a 0-d tensor") };
    let whole = Value::Tensor(tensor.clone());
    split::room_for(length)?;
    if tensor.requires_grad() && state.grad_enabled.get() || tensor.has_names() {
        // PyTorch calls `unbind` too, which shows in the gradient history of the rows.
        let rows = operators::call_on(state, "unbind", &whole, &[Value::Int(0)])?;
        return Ok(Iter::Made(rows.sequence().unwrap_or_default().into_iter()));
    }
    Ok(Iter::Rows { state: state.handle(), whole, next: 0, length })
}

fn over_object(value: &Value, object: &Rc<dyn Object>) -> Result<Iter> {
    if let Some(iterator) = object.iterator() {
        return match iterator? {
            Value::Object(iterator) if iterator.is_iterator() => Ok(Iter::Object(iterator)),
            other => bail!(TypeError, "iter() returned non-iterator of type '{}'", other.type_name()),
        };
    }
    if object.is_iterator() {
        return Ok(Iter::Object(object.clone()));
    }
    match object.special("__getitem__", &[Value::Int(0)]) {
        None => Err(not_iterable(value)),
        Some(Ok(first)) => Ok(Iter::Indexed { object: object.clone(), first: Some(first), next: 1 }),
        Some(Err(error)) if error.kind == ErrorKind::IndexError => Ok(Iter::Done),
        Some(Err(error)) => Err(error),
    }
}

impl Iter {
    /// Iterates over the keys, the values or the items of a dictionary.
    pub(crate) fn over_dict(dict: &Dict, part: Part) -> Iter {
        Iter::Dict { dict: dict.clone(), part, at: 0, length: dict.len() }
    }

    /// Returns the next item, or `None` at the end.
    ///
    /// # Errors
    /// RuntimeError if a dictionary or set has changed its size; errors of a script's iterator.
    #[expect(clippy::should_implement_trait, reason = "it may fail")]
    pub fn next(&mut self) -> Result<Option<Value>> {
        let found = match self {
            Iter::Done => None,
            Iter::Range { range, next } => counted(next, |at| range.at(at as u64).map(Value::Int)),
            Iter::List { list, next } => counted(next, |at| list.get(at)),
            Iter::Tuple { items, next } => counted(next, |at| items.get(at).cloned()),
            Iter::Made(items) => items.next(),
            Iter::Bytes(bytes) => bytes.next().map(|byte| Value::Int(i64::from(byte))),
            Iter::Scalars(scalars) => scalars.next().map(Value::from),
            Iter::Buffer { buffer, next } => counted(next, |at| buffer.item(at).map(Value::from)),
            Iter::Text { text, at } => text.get(*at..).and_then(|rest| rest.chars().next()).map(|c| {
                *at += c.len_utf8();
                Value::str(&*c.encode_utf8(&mut [0; 4]))
            }),
            Iter::Dict { dict, part, at, length } => {
                if dict.len() != *length {
                    // Every later call fails too.
                    *length = usize::MAX;
                    bail!(RuntimeError, "dictionary changed size during iteration");
                }
                dict.borrow().next(*at).map(|(behind, key, value)| {
                    *at = behind;
                    match part {
                        Part::Keys => key.clone(),
                        Part::Values => value.clone(),
                        Part::Items => Value::tuple([key.clone(), value.clone()]),
                    }
                })
            }
            Iter::Set { set, items, length } => {
                if set.len() != *length {
                    *length = usize::MAX;
                    bail!(RuntimeError, "Set changed size during iteration");
                }
                items.next()
            }
            Iter::Rows { next, length, .. } if *next >= *length => None,
            Iter::Rows { state, whole, next, .. } => {
                let index = Value::Int(*next);
                *next += 1;
                Some(subscript::item(state, whole, &index)?)
            }
            Iter::Object(iterator) => match iterator.next() {
                // After `Ok(None)`, the iterator is asked again: it may yield more items.
                Some(Err(error)) if error.kind == ErrorKind::StopIteration => None,
                Some(found) => return found,
                None => bail!(TypeError, "'{}' object is not an iterator", iterator.type_name()),
            },
            Iter::Indexed { first, .. } if first.is_some() => first.take(),
            Iter::Indexed { object, next, .. } => {
                let index = Value::Int(*next);
                *next += 1;
                match object.special("__getitem__", &[index]) {
                    Some(Err(error)) if !matches!(error.kind, ErrorKind::IndexError | ErrorKind::StopIteration) => {
                        return Err(error);
                    }
                    Some(Ok(item)) => Some(item),
                    _ => None,
                }
            }
        };
        if found.is_none() {
            // An exhausted iterator stays exhausted, even if its list grows.
            *self = Iter::Done;
        }
        Ok(found)
    }

    /// Returns a lower bound of the number of remaining items, provided that the value does not shrink.
    pub fn size_hint(&self) -> usize {
        match self {
            Iter::Done | Iter::Object(_) | Iter::Indexed { .. } => 0,
            Iter::Range { range, next } => range.count().saturating_sub(*next),
            Iter::List { list, next } => list.len().saturating_sub(*next),
            Iter::Tuple { items, next } => items.len().saturating_sub(*next),
            Iter::Made(items) => items.len(),
            Iter::Bytes(bytes) => bytes.len(),
            Iter::Scalars(scalars) => scalars.len(),
            // A character takes at most four bytes.
            Iter::Text { text, at } => text.len().saturating_sub(*at).div_ceil(4),
            Iter::Dict { dict, at, .. } => dict.len().saturating_sub(*at),
            Iter::Set { items, .. } => items.len(),
            Iter::Buffer { buffer, next } => buffer.len().saturating_sub(*next),
            Iter::Rows { next, length, .. } => usize::try_from(length - next).unwrap_or(0),
        }
    }

    /// Returns the bytes that an item takes besides its slot in a list.
    fn weight(&self) -> usize {
        match self {
            // Each character becomes a string of its own.
            Iter::Text { .. } => size_of::<Value>(),
            Iter::Rows { .. } => 16 * size_of::<Value>(),
            _ => 0,
        }
    }

    /// Collects the remaining items.
    ///
    /// # Errors
    /// Those of [`Iter::next`]; MemoryError if the items exceed the memory budget; KeyboardInterrupt.
    pub fn collect(mut self) -> Result<Vec<Value>> {
        match &self {
            Iter::List { list, next: 0 } => {
                limits::room_for::<Value>(list.len())?;
                return Ok(list.to_vec());
            }
            Iter::Tuple { items, next: 0 } => {
                limits::room_for::<Value>(items.len())?;
                return Ok(items.to_vec());
            }
            _ => {}
        }
        let each = size_of::<Value>() + self.weight();
        limits::room(self.size_hint().saturating_mul(each))?;
        let mut items = limits::list(self.size_hint())?;
        while let Some(item) = self.next()? {
            interrupt::check_at(items.len())?;
            if items.len() == items.capacity() {
                // The vector is about to double.
                limits::grown_to::<u8>((items.len() + 1).saturating_mul(2).saturating_mul(each))?;
            }
            items.push(item);
        }
        interrupt::check()?;
        Ok(items)
    }
}

/// Returns the item at position `next` and advances the position.
fn counted(next: &mut usize, item: impl FnOnce(usize) -> Option<Value>) -> Option<Value> {
    let found = item(*next)?;
    *next += 1;
    Some(found)
}

/// Collects the items of a value.
///
/// # Errors
/// TypeError if the value is not iterable; MemoryError if the items exceed the memory budget.
pub fn items(state: &State, value: &Value) -> Result<Vec<Value>> {
    iterate(state, value)?.collect()
}

/// Collects the items of an argument of a call.
///
/// # Errors
/// Those of [`items`].
pub fn items_of(call: &Call, index: usize) -> Result<Vec<Value>> {
    items(call.state, &call.value(index))
}
