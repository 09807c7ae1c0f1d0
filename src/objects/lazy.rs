//! Iterators that produce their items on demand: `iter`, `map`, `filter`, `zip`, `enumerate`, `reversed`. `next`
//! advances them. [`Lazy::value`] makes an iterator from a closure.

use crate::calling::{call_plain, is_callable};
use crate::iterate::{Iter, iterate};
use crate::operators;
use crate::plain::slices::as_index;
use call::{Call, Row, State, function, stack};
use std::cell::RefCell;
use std::rc::Rc;
use tensor::{BufferKind, Error, ErrorKind, Result, bail, interrupt};
use value::equality::truth;
use value::{List, Object, Value, discard};

pub const ROWS: &[Row] = &[
    function("py.iter(any iterable, any[] sentinel) -> any", iter, "Iterates over the items."),
    function(
        "py.next(any iterator, any[] default) -> any",
        |c| match (asked(&c.value(0)), c.value(1).items().as_deref()) {
            (found, Some([])) => found?.ok_or_else(|| Error::new(ErrorKind::StopIteration, "")),
            (Err(end), Some([default])) if end.kind == ErrorKind::StopIteration => Ok(default.clone()),
            (found, Some([default])) => Ok(found?.unwrap_or_else(|| default.clone())),
            (_, given) => {
                bail!(TypeError, "next expected at most 2 arguments, got {}", 1 + given.map_or(0, <[Value]>::len))
            }
        },
        "Returns the next item of an iterator.",
    ),
    function("py.map(any[] args) -> any", map, "Gives what a function makes of each item."),
    function("py.filter(any[] args) -> any", filter, "Gives the items for which a function is true."),
    function("py.zip(any[] iterables, *, any strict=False) -> any", zip, "Pairs up the items of several sequences."),
    function("py.enumerate(any iterable, any start=0) -> any", enumerate, "Numbers the items."),
    function(
        "py.reversed(any sequence) -> any",
        |c| reversed(c.state, &c.value(0)),
        "Iterates over the items backwards.",
    ),
];

/// Produces the next item, or `None` at the end.
pub type Step = dyn FnMut() -> Result<Option<Value>>;

/// An iterator driven by a closure.
pub struct Lazy {
    class: &'static str,
    /// `None` while the closure runs.
    step: RefCell<Option<Box<Step>>>,
}

/// The closure of a dropped iterator. Iterators may be nested deeply, so [`discard`] drops them without recursion.
struct Remains {
    _step: Box<Step>,
}

impl Object for Remains {}

impl Drop for Lazy {
    fn drop(&mut self) {
        discard(self.step.take().map(|step| Value::Object(Rc::new(Remains { _step: step }))));
    }
}

impl Lazy {
    /// Creates an iterator of the named class from a closure.
    pub fn value(class: &'static str, step: impl FnMut() -> Result<Option<Value>> + 'static) -> Value {
        Value::Object(Rc::new(Lazy { class, step: RefCell::new(Some(Box::new(step))) }))
    }

    /// Creates an iterator of the named class over the items of another.
    pub fn over(class: &'static str, mut items: Iter) -> Value {
        Lazy::value(class, move || items.next())
    }
}

impl Object for Lazy {
    fn class_name(&self) -> &'static str {
        self.class
    }
    fn type_name(&self) -> &str {
        self.class
    }
    fn is_iterator(&self) -> bool {
        true
    }
    fn next(&self) -> Option<Result<Option<Value>>> {
        let step = self.step.borrow_mut().take();
        let Some(mut step) = step else {
            // Only a function that the iterator itself calls can get here.
            return Some(Err(Error::value(format!("{} already executing", self.class))));
        };
        let found = stack::check().and_then(|()| step());
        self.step.replace(Some(step));
        Some(found)
    }
}

/// Advances an iterator. A generator's StopIteration is passed on, because it carries the return value.
fn asked(iterator: &Value) -> Result<Option<Value>> {
    match iterator {
        Value::Object(object) if let Some(found) = object.next() => found,
        other => bail!(TypeError, "'{}' object is not an iterator", other.type_name()),
    }
}

/// Returns the next item of an iterator, or `None` at the end.
///
/// # Errors
/// TypeError if the value is not an iterator; errors of the iterator.
pub fn next_item(iterator: &Value) -> Result<Option<Value>> {
    match asked(iterator) {
        Err(end) if end.kind == ErrorKind::StopIteration => Ok(None),
        found => found,
    }
}

/// Collects the remaining items of a [`Lazy`] iterator; `None` for any other value.
///
/// # Errors
/// Errors of the iterator; MemoryError.
pub fn drained(state: &State, value: &Value) -> Result<Option<Vec<Value>>> {
    match value {
        Value::Object(object) if object.as_any().is::<Lazy>() => iterate(state, value)?.collect().map(Some),
        _ => Ok(None),
    }
}

/// Returns Python's name for the class of an iterator over a value.
fn class_of_iterator(value: &Value) -> &'static str {
    match value {
        Value::List(_) => "list_iterator",
        Value::Str(text) if text.is_ascii() => "str_ascii_iterator",
        Value::Str(_) => "str_iterator",
        Value::Dict(dict) if dict.is_ordered() => "odict_iterator",
        Value::Dict(_) => "dict_keyiterator",
        Value::Set(_) => "set_iterator",
        Value::Range(_) => "range_iterator",
        Value::Buffer(buffer) => match buffer.kind() {
            BufferKind::Bytes => "bytes_iterator",
            BufferKind::ByteArray => "bytearray_iterator",
            BufferKind::Array(_) => "array.arrayiterator",
            BufferKind::MemoryView { .. } => "memory_iterator",
        },
        Value::Tuple(_) | Value::Size(_) | Value::NamedTuple(_) | Value::Tensor(_) => "tuple_iterator",
        _ => "iterator",
    }
}

/// `iter(value)`
///
/// # Errors
/// TypeError if the value is not iterable.
pub fn iterator_of(state: &State, value: &Value) -> Result<Value> {
    Ok(match iterate(state, value)? {
        Iter::Object(iterator) => Value::Object(iterator),
        items => Lazy::over(class_of_iterator(value), items),
    })
}

fn iter(call: &mut Call) -> Result<Value> {
    let source = call.value(0);
    match call.value(1).items().as_deref() {
        None | Some([]) => iterator_of(call.state, &source),
        Some([sentinel]) => {
            if !is_callable(&source) {
                bail!(TypeError, "iter(v, w): v must be callable");
            }
            let (state, sentinel, mut is_done) = (call.state.handle(), sentinel.clone(), false);
            Ok(Lazy::value("callable_iterator", move || {
                if is_done {
                    return Ok(None);
                }
                let item = call_plain(&state, &source, Vec::new())?;
                is_done = operators::is_or_equals(&state, &item, &sentinel)?;
                Ok(Some(item).filter(|_| !is_done))
            }))
        }
        Some(more) => bail!(TypeError, "iter expected at most 2 arguments, got {}", 1 + more.len()),
    }
}

fn map(call: &mut Call) -> Result<Value> {
    let args = call.value(0).sequence().unwrap_or_default();
    let [function, sources @ ..] = args.as_slice() else { bail!(TypeError, "map() must have at least two arguments.") };
    if sources.is_empty() {
        bail!(TypeError, "map() must have at least two arguments.");
    }
    let (state, function) = (call.state.handle(), function.clone());
    let mut sources = sources.iter().map(|source| iterate(&state, source)).collect::<Result<Vec<_>>>()?;
    Ok(Lazy::value("map", move || {
        let mut row = Vec::with_capacity(sources.len());
        for source in &mut sources {
            match source.next()? {
                Some(item) => row.push(item),
                None => return Ok(None),
            }
        }
        call_plain(&state, &function, row).map(Some)
    }))
}

fn filter(call: &mut Call) -> Result<Value> {
    let args = call.value(0).sequence().unwrap_or_default();
    let [function, source] = args.as_slice() else {
        bail!(TypeError, "filter expected 2 arguments, got {}", args.len())
    };
    let (state, function) = (call.state.handle(), function.clone());
    let mut source = iterate(&state, source)?;
    Ok(Lazy::value("filter", move || {
        let mut at = 0;
        while let Some(item) = source.next()? {
            interrupt::check_at(at)?;
            at += 1;
            let is_kept = match &function {
                Value::None | Value::Type("bool") => truth(&item)?,
                function => truth(&call_plain(&state, function, vec![item.clone()])?)?,
            };
            if is_kept {
                return Ok(Some(item));
            }
        }
        Ok(None)
    }))
}

fn zip(call: &mut Call) -> Result<Value> {
    let strict = truth(&call.value(1))?;
    let sources = call.value(0).sequence().unwrap_or_default();
    let mut sources = sources.iter().map(|source| iterate(call.state, source)).collect::<Result<Vec<_>>>()?;
    Ok(Lazy::value("zip", move || {
        let mut row = Vec::with_capacity(sources.len());
        for (i, source) in sources.iter_mut().enumerate() {
            match source.next()? {
                Some(item) => row.push(item),
                None if !strict => return Ok(None),
                None if i > 0 => return Err(uneven(i, "shorter")),
                None => {
                    for (i, longer) in sources.iter_mut().enumerate().skip(1) {
                        if longer.next()?.is_some() {
                            return Err(uneven(i, "longer"));
                        }
                    }
                    return Ok(None);
                }
            }
        }
        Ok(if row.is_empty() { None } else { Some(Value::Tuple(row.into())) })
    }))
}

/// The error of `zip(strict=True)` for the argument at index `before`.
fn uneven(before: usize, how: &str) -> Error {
    let others = if before == 1 { " 1".to_owned() } else { format!("s 1-{before}") };
    Error::value(format!("zip() argument {} is {how} than argument{others}", before + 1))
}

fn enumerate(call: &mut Call) -> Result<Value> {
    let mut source = iterate(call.state, &call.value(0))?;
    let (state, mut count) = (call.state.handle(), call.value(1));
    count = match count {
        Value::BigInt(_) => count,
        other => match as_index(&other)? {
            Some(start) => Value::Int(start),
            None => bail!(TypeError, "'{}' object cannot be interpreted as an integer", other.type_name()),
        },
    };
    Ok(Lazy::value("enumerate", move || {
        let Some(item) = source.next()? else { return Ok(None) };
        let next = match (&count, operators::find("+")) {
            (Value::Int(i), _) if let Some(next) = i.checked_add(1) => Value::Int(next),
            (large, Some(plus)) => operators::binary(&state, plus, large, &Value::Int(1))?,
            (large, None) => large.clone(),
        };
        Ok(Some(Value::tuple([std::mem::replace(&mut count, next), item])))
    }))
}

/// `reversed(value)`
///
/// # Errors
/// TypeError if the value is not reversible.
pub fn reversed(state: &State, value: &Value) -> Result<Value> {
    let of_items = |items: Vec<Value>, class| {
        let mut left = items.into_iter().rev();
        Lazy::value(class, move || Ok(left.next()))
    };
    Ok(match value {
        Value::List(list) => backwards(list),
        Value::Range(range) => Lazy::over("range_iterator", Iter::Range { range: range.reversed(), next: 0 }),
        Value::Dict(dict) => {
            let (dict, length) = (dict.clone(), dict.len());
            let mut keys = dict.borrow().iter().map(|(key, _)| key.clone()).collect::<Vec<_>>().into_iter().rev();
            Lazy::value("dict_reversekeyiterator", move || {
                if dict.len() != length {
                    bail!(RuntimeError, "dictionary changed size during iteration");
                }
                Ok(keys.next())
            })
        }
        Value::Tuple(_) | Value::Size(_) | Value::NamedTuple(_) | Value::Str(_) | Value::Buffer(_) => {
            of_items(iterate(state, value)?.collect()?, "reversed")
        }
        // `reversed` of a tensor is a flipped tensor in PyTorch, not an iterator.
        Value::Tensor(tensor) if tensor.borrow().ndim() == 0 => value.clone(),
        Value::Tensor(_) => operators::call_on(state, "flip", value, &[Value::ints(&[0])])?,
        Value::Object(object) if let Some(made) = object.special("__reversed__", &[]) => made?,
        Value::Object(object) if let Some(length) = object.special("__len__", &[]) => {
            let Some(mut left) = as_index(&length?)? else {
                bail!(TypeError, "'{}' object is not reversible", value.type_name())
            };
            let (state, value) = (state.handle(), value.clone());
            Lazy::value("reversed", move || {
                if left <= 0 {
                    return Ok(None);
                }
                left -= 1;
                crate::subscript::item(&state, &value, &Value::Int(left)).map(Some)
            })
        }
        other => bail!(TypeError, "'{}' object is not reversible", other.type_name()),
    })
}

/// Iterates over a list backwards, from its current end.
fn backwards(list: &List) -> Value {
    let (list, mut left) = (list.clone(), list.len());
    Lazy::value("list_reverseiterator", move || {
        let Some(place) = left.checked_sub(1) else { return Ok(None) };
        let item = list.get(place);
        // If the list has become too short, the iterator ends for good.
        left = if item.is_some() { place } else { 0 };
        Ok(item)
    })
}
