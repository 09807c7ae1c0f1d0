//! The Python builtins that documentation sessions use: bare names in scripts, `py.` in translated lines.

use super::bounds;
use super::hooks::is_function;
use super::identity::{escaped, hash, id};
use super::operators;
use super::sorting::sort_by_keys;
use super::subscript;
use crate::bail;
use crate::call::{Call, Receiver, Row, function, method};
use crate::dispatch::names;
use crate::tensor::interrupt::watched;
use crate::tensor::names::not_saved;
use crate::tensor::{Error, ErrorKind, Result, Scalar, interrupt, limits};
use crate::value::equality;
use crate::value::equality::{equal, truth};
use crate::value::hashed::Hashed;
use crate::value::sets::distinct;
use crate::value::{Range, Value, integers, numbers};
use num_complex::Complex;

pub const ROWS: &[Row] = &[
    function("py.len(any obj) -> int", len, "Returns the number of items."),
    function("py.list(any iterable=[]) -> any", |c| items(c, 0).map(Value::list), "Collects the items in a list."),
    function("py.iter(any iterable) -> any", iter, "Iterates over the items."),
    function("py.tuple(any iterable=[]) -> any", |c| items(c, 0).map(Value::tuple), "Collects the items in a tuple."),
    function("py.dict(any entries=[]) -> any", dict, "Creates a dictionary of keys and values."),
    function(
        "py.set(any iterable=[]) -> any",
        |c| {
            let items = distinct(items(c, 0)?)?;
            // A line of Rhai keeps the order it knows.
            Ok(if c.state.python.get() {
                Value::Set(crate::value::sets::in_set_order(&items).into())
            } else {
                Value::list(items)
            })
        },
        "Collects the items, each once; in Rhai as an array.",
    ),
    function("py.range(int start, int? stop=None, int step=1) -> any", range, "Creates a range of integers."),
    function(
        "py.slice(any start, any stop=None, any step=None) -> any",
        |c| Ok(subscript::slice(c.value(0), c.value(1), c.value(2))),
        "Creates a slice to use as a subscript.",
    ),
    function("py.at(any[] indices) -> any", |c| Ok(c.value(0)), "Combines several subscripts."),
    function("py.bool(any x=False) -> bool", |c| truth(&c.value(0)).map(Value::Bool), "Returns whether x is true."),
    function("py.truth(any x) -> bool", |c| truth(&c.value(0)).map(Value::Bool), "Returns whether x is true."),
    function("py.complex(any real=0, any imag=0) -> any", complex, "Creates a complex number."),
    function("py.str(any object=\"\") -> str", |c| c.state.str(&c.value(0)).map(Value::str), "Converts to text."),
    function(
        "py.repr(any object) -> str",
        |c| c.state.repr(&c.value(0)).map(Value::str),
        "Returns the value as the prompt shows it.",
    ),
    function(
        "py.format(any value, str spec=\"\") -> str",
        |c| {
            let spec = c.str(1)?.to_string();
            let v = c.value(0);
            c.state.with_formatter(|f| f.format(&v, &spec)).map(Value::str)
        },
        "Formats the value as text.",
    ),
    function(
        "py.fstring(any parts) -> str",
        |c| {
            let parts: Result<Vec<String>> = items(c, 0)?.iter().map(|p| c.state.str(p)).collect();
            bounds::joined(&parts?, "").map(Value::str)
        },
        "Joins texts.",
    ),
    function(
        "py.type(any object) -> any",
        |c| {
            let value = c.value(0);
            Ok(class_value(&value))
        },
        "Returns the class of a value.",
    ),
    function("py.id(any object) -> int", id, "Returns a number that is the same for the same object."),
    function(
        "py.hash(any object) -> int",
        |c| hash(&c.value(0)).map(Value::Int),
        "Returns a number that is the same for equal values.",
    ),
    function("py.abs(any x) -> any", abs, "Computes the absolute value."),
    function("py.sum(any iterable, any start=0) -> any", sum, "Adds up the items."),
    function("py.min(any[] items, *, any default=None) -> any", |c| extreme(c, "<"), "Returns the smallest item."),
    function("py.max(any[] items, *, any default=None) -> any", |c| extreme(c, ">"), "Returns the largest item."),
    function(
        "py.callable(any object) -> bool",
        |c| {
            let value = c.value(0);
            Ok(Value::Bool(is_function(&value) || matches!(value, Value::Method(_) | Value::Type(_))))
        },
        "Returns whether the value can be called.",
    ),
    function(
        "py.all(any iterable) -> bool",
        |c| {
            for (i, v) in each(c, &c.value(0))?.enumerate() {
                interrupt::check_at(i)?;
                if !truth(&v)? {
                    return Ok(Value::Bool(false));
                }
            }
            Ok(Value::Bool(true))
        },
        "Returns whether all items are true.",
    ),
    function(
        "py.any(any iterable) -> bool",
        |c| {
            for (i, v) in each(c, &c.value(0))?.enumerate() {
                interrupt::check_at(i)?;
                if truth(&v)? {
                    return Ok(Value::Bool(true));
                }
            }
            Ok(Value::Bool(false))
        },
        "Returns whether any item is true.",
    ),
    function("py.zip(any[] iterables) -> any", zip, "Pairs up the items of several sequences."),
    function(
        "py.enumerate(any iterable, int start=0) -> any",
        |c| {
            let start = c.int(1)?;
            Ok(Value::list(
                items(c, 0)?
                    .into_iter()
                    .enumerate()
                    .map(|(i, v)| Value::tuple([Value::Int(start.saturating_add(i as i64)), v])),
            ))
        },
        "Numbers the items.",
    ),
    function("py.sorted(any iterable, bool reverse=False) -> any", sorted, "Sorts the items."),
    function(
        "py.getattr(any object, str name, any[] default) -> any",
        |c| match (get_attribute(c), c.value(2).sequence().unwrap_or_default().first()) {
            (Err(_), Some(default)) => Ok(default.clone()),
            (found, _) => found,
        },
        "Returns an attribute by its name.",
    ),
    function("py.setattr(any object, str name, any value) -> None", set_attribute, "Sets an attribute by its name."),
    function("py.delattr(any object, str name) -> None", delete_attribute, "Deletes an attribute by its name."),
    function(
        "py.hasattr(any object, str name) -> bool",
        |c| Ok(Value::Bool(get_attribute(c).is_ok())),
        "Returns whether there is such an attribute or method.",
    ),
    function(
        "py.ascii(any object) -> str",
        |c| c.state.repr(&c.value(0)).map(|text| Value::str(escaped(&text))),
        "Returns the value as the prompt shows it, with escapes for all but ASCII.",
    ),
    function(
        "py.unpack_star(any value, int before, int after) -> any",
        unpack_star,
        "Unpacks the items, the middle ones as a list.",
    ),
    function(
        "py.echo_(any value) -> None",
        |c| {
            let v = c.value(0);
            if !matches!(v, Value::None) {
                let text = c.state.repr(&v)?;
                c.state.print(&format!("{text}\n"));
            }
            Ok(Value::None)
        },
        "Shows a value as the prompt does.",
    ),
    function(
        "py.reversed(any sequence) -> any",
        |c| match c.value(0) {
            // One that is too long for a list stays a range.
            Value::Range(range) if limits::room_for::<Value>(range.len()).is_err() => {
                Ok(Value::Range(range.reversed()))
            }
            _ => Ok(Value::list(items(c, 0)?.into_iter().rev())),
        },
        "Iterates over the items backwards.",
    ),
    function("py.unpack(any value, int count) -> any", unpack, "Unpacks the items, whose number must match."),
    function(
        "py.__concat__(any lists) -> any",
        |c| {
            let mut all = Vec::new();
            for part in items(c, 0)? {
                let part = subscript::items(c.state, &part)?;
                limits::room_for::<Value>(all.len() + part.len())?;
                all.extend(part);
            }
            Ok(Value::list(all))
        },
        "Joins lists.",
    ),
    function(
        "py.__is__(any a, any b) -> bool",
        |c| Ok(Value::Bool(equality::is(&c.value(0), &c.value(1)))),
        "Returns whether two values are the same object.",
    ),
    function(
        "py.builtin(str name) -> any",
        |c| {
            let name = c.str(0)?;
            let function = || {
                let known = name == "print"
                    || c.state.caller().is_ok_and(|caller| caller.has_function(name))
                    || c.state.registry.find(name, Receiver::Module("py")).is_some();
                known.then(|| Value::Function(format!("py.{name}").into()))
            };
            super::module_value("py", name)
                .or_else(function)
                .ok_or_else(|| Error::new(ErrorKind::NameError, format!("name '{name}' is not defined")))
        },
        "Returns a builtin class or function by its name.",
    ),
    function("py.import_(str name) -> any", import, "Imports a module by its name."),
    function("py.import_from(str module, str name) -> any", import_from, "Imports a name from a module."),
    function(
        "py.assert_(any condition, any message=None) -> None",
        |c| {
            if truth(&c.value(0))? {
                return Ok(Value::None);
            }
            let text = if c.is_none(1) { String::new() } else { c.state.str(&c.value(1))? };
            Err(Error::new(ErrorKind::AssertionError, text))
        },
        "Fails unless the condition is true.",
    ),
    function("py.exit(any code=None) -> None", exit, "Leaves the session."),
    function("py.quit(any code=None) -> None", exit, "Leaves the session."),
    function("copy.copy(any x) -> any", duplicate, "Copies a value; a tensor's copy shares elements.").python("copy"),
    function("copy.deepcopy(any x) -> any", duplicate, "Copies a value into memory of its own.").python("deepcopy"),
    function("py.__truediv__(any a, any b) -> any", |c| binary(c, "/"), "Implements Python's / operator."),
    function("py.__floordiv__(any a, any b) -> any", |c| binary(c, "//"), "Implements Python's // operator."),
    function("py.__mod__(any a, any b) -> any", |c| binary(c, "%"), "Implements Python's % operator."),
    function("py.__pow__(any a, any b) -> any", |c| binary(c, "**"), "Implements Python's ** operator."),
    function(
        "py.__invert__(any a) -> any",
        |c| operators::unary(c.state, "bitwise_not", &c.value(0)),
        "Implements Python's ~ operator.",
    ),
    function(
        "py.__pos__(any a) -> any",
        |c| operators::unary(c.state, "positive", &c.value(0)),
        "Implements Python's unary + operator.",
    ),
    function("py.__iadd__(any a, any b) -> any", |c| assign(c, "+"), "Implements Python's += operator."),
    function("py.__isub__(any a, any b) -> any", |c| assign(c, "-"), "Implements Python's -= operator."),
    function("py.__imul__(any a, any b) -> any", |c| assign(c, "*"), "Implements Python's *= operator."),
    function("py.__itruediv__(any a, any b) -> any", |c| assign(c, "/"), "Implements Python's /= operator."),
    function("py.__ifloordiv__(any a, any b) -> any", |c| assign(c, "//"), "Implements Python's //= operator."),
    function("py.__imod__(any a, any b) -> any", |c| assign(c, "%"), "Implements Python's %= operator."),
    function("py.__ipow__(any a, any b) -> any", |c| assign(c, "**"), "Implements Python's **= operator."),
    function("py.__iand__(any a, any b) -> any", |c| assign(c, "&"), "Implements Python's &= operator."),
    function("py.__ior__(any a, any b) -> any", |c| assign(c, "|"), "Implements Python's |= operator."),
    function("py.__ixor__(any a, any b) -> any", |c| assign(c, "^"), "Implements Python's ^= operator."),
    function("py.__ilshift__(any a, any b) -> any", |c| assign(c, "<<"), "Implements Python's <<= operator."),
    function("py.__irshift__(any a, any b) -> any", |c| assign(c, ">>"), "Implements Python's >>= operator."),
    function("py.__imatmul__(any a, any b) -> any", |c| binary(c, "@"), "Implements Python's @= operator."),
    function(
        "py.__getitem__(any object, any index) -> any",
        |c| subscript::item_of(c),
        "Implements Python's subscript.",
    ),
    function(
        "py.__setitem__(any object, any index, any value) -> None",
        |c| subscript::set_item_of(c),
        "Implements Python's assignment to a subscript.",
    ),
    function(
        "py.__delitem__(any object, any index) -> None",
        |c| match c.value(0) {
            Value::Tensor(_) => bail!(TypeError, "Tensor does not support deleting items"),
            Value::TypedStorage(_) => bail!(AttributeError, "__delitem__"),
            other => bail!(TypeError, "'{}' object doesn't support item deletion", other.type_name()),
        },
        "Deletes at a subscript; no value here supports it.",
    ),
    function(
        "py.__contains__(any object, any item) -> bool",
        |c| {
            let wanted = c.value(1);
            match (c.value(0), &wanted) {
                (Value::Str(text), Value::Str(part)) => Ok(Value::Bool(text.contains(&**part))),
                (Value::Str(_), other) => {
                    bail!(TypeError, "'in <string>' requires string as left operand, not {}", other.type_name())
                }
                (Value::Range(range), wanted) if !matches!(wanted, Value::Object(_)) => {
                    Ok(Value::Bool(range_index(range, wanted).is_some()))
                }
                _ => Ok(Value::Bool(watched(each(c, &c.value(0))?).any(|v| equal(&v, &wanted)))),
            }
        },
        "Returns whether the item is among the items.",
    ),
    method(
        "index(Sequence self, any value) -> int",
        |c| {
            let wanted = c.value(1);
            let found = match c.value(0) {
                Value::Range(range) => range_index(range, &wanted),
                sequence => watched(each(c, &sequence)?).position(|v| equal(&v, &wanted)),
            };
            match found {
                Some(i) => Ok(Value::Int(i as i64)),
                None if matches!(c.value(0), Value::Range(_)) => {
                    bail!(ValueError, "{} is not in range", c.state.repr(&wanted)?)
                }
                None if matches!(c.value(0), Value::List(_)) => {
                    bail!(ValueError, "{} is not in list", c.state.repr(&wanted)?)
                }
                None => bail!(ValueError, "tuple.index(x): x not in tuple"),
            }
        },
        "Returns the position of a value's first occurrence.",
    ),
    method(
        "count(Sequence self, any value) -> int",
        |c| {
            let wanted = c.value(1);
            Ok(Value::Int(match c.value(0) {
                Value::Range(range) => i64::from(range_index(range, &wanted).is_some()),
                sequence => watched(each(c, &sequence)?).filter(|v| equal(v, &wanted)).count() as i64,
            }))
        },
        "Counts how often a value occurs.",
    ),
];

pub(super) fn binary(call: &Call, symbol: &str) -> Result<Value> {
    match operators::find(symbol) {
        Some(operator) => operators::binary(call.state, operator, &call.value(0), &call.value(1)),
        None => bail!(TypeError, "there is no operator {symbol}"),
    }
}

fn assign(call: &Call, symbol: &str) -> Result<Value> {
    match operators::find(symbol) {
        Some(operator) => operators::in_place(call.state, operator, &call.value(0), &call.value(1)),
        None => bail!(TypeError, "there is no operator {symbol}="),
    }
}

fn items(call: &Call, index: usize) -> Result<Vec<Value>> {
    subscript::items(call.state, &call.value(index))
}

/// One item after the other; the numbers of a range are never all there at once.
fn each(call: &Call, value: &Value) -> Result<Box<dyn Iterator<Item = Value>>> {
    Ok(match value {
        Value::Range(range) => Box::new(range.iter().map(Value::Int)),
        other => Box::new(subscript::items(call.state, other)?.into_iter()),
    })
}

/// Returns the position of a value in a range: a whole number of any class.
fn range_index(range: Range, wanted: &Value) -> Option<usize> {
    let wanted = match wanted {
        Value::Bool(wanted) => i64::from(*wanted),
        Value::Int(wanted) => *wanted,
        Value::Float(wanted) => Some(*wanted as i64).filter(|whole| *whole as f64 == *wanted && *whole < i64::MAX)?,
        Value::Complex(wanted) if wanted.im == 0.0 => return range_index(range, &Value::Float(wanted.re)),
        _ => return None,
    };
    range.position(wanted)
}

/// A range stays one: its numbers are made as a loop asks for them.
fn iter(call: &mut Call) -> Result<Value> {
    match call.value(0) {
        range @ Value::Range(_) => Ok(range),
        Value::Object(object) if let Some(iterator) = object.special("__iter__", &[]) => iterator,
        _ => items(call, 0).map(Value::list),
    }
}

fn len(call: &mut Call) -> Result<Value> {
    let count = match call.value(0) {
        Value::Tensor(t) => return super::tensors::length(&t),
        Value::Storage(s) => s.nbytes(),
        Value::TypedStorage(s) => s.len(),
        Value::Buffer(b) => b.len(),
        Value::Str(s) => s.chars().count(),
        Value::Dict(d) | Value::OrderedDict(d) => d.len(),
        Value::Range(r) => r.len(),
        Value::Object(object) if let Some(length) = object.special("__len__", &[]) => {
            return match length? {
                Value::Int(length) if length < 0 => bail!(ValueError, "__len__() should return >= 0"),
                length @ Value::Int(_) => Ok(length),
                other => {
                    bail!(TypeError, "'{}' object cannot be interpreted as an integer", other.type_name())
                }
            };
        }
        other => match other.sequence() {
            Some(items) => items.len(),
            None => bail!(TypeError, "object of type '{}' has no len()", other.type_name()),
        },
    };
    match i64::try_from(count) {
        Ok(count) => Ok(Value::Int(count)),
        Err(_) => bail!(OverflowError, "Python int too large to convert to C ssize_t"),
    }
}

fn dict(call: &mut Call) -> Result<Value> {
    let mut entries: Hashed<Value> = Hashed::default();
    for entry in items(call, 0)? {
        let Some([key, value]) = entry.sequence().and_then(|pair| <[Value; 2]>::try_from(pair).ok()) else {
            bail!(ValueError, "dictionary update sequence element has the wrong length; 2 is required")
        };
        match entries.position(&key).and_then(|at| entries.at_mut(at)) {
            Some(slot) => *slot = value,
            None => entries.push(key, value),
        }
    }
    Ok(Value::Dict(entries.into_entries().collect()))
}

fn range(call: &mut Call) -> Result<Value> {
    let step = call.int(2)?;
    if step == 0 {
        bail!(ValueError, "range() arg 3 must not be zero");
    }
    Ok(Value::Range(match call.opt_int(1)? {
        Some(stop) => Range { start: call.int(0)?, stop, step },
        None => Range { start: 0, stop: call.int(0)?, step },
    }))
}

/// A number from a number, a one-element tensor or text.
pub(super) fn scalar(value: &Value, class: &str) -> Result<Scalar> {
    match value {
        Value::Tensor(t) => {
            if t.borrow().numel() != 1 {
                bail!(ValueError, "only one element tensors can be converted to Python scalars");
            }
            t.borrow().item()
        }
        Value::BigInt(i) if u64::try_from(&**i).is_err() => integers::to_float(i).map(Scalar::Float),
        other => other.as_scalar().ok_or_else(|| no_number(class, other)),
    }
}

/// The refusal of a class of numbers to convert a value.
pub(super) fn no_number(class: &str, value: &Value) -> Error {
    let buffer = if class == "int" { "a string, a bytes-like object" } else { "a string" };
    Error::type_error(format!("{class}() argument must be {buffer} or a real number, not '{}'", value.type_name()))
}

fn complex(call: &mut Call) -> Result<Value> {
    let (real, imag) = (scalar(&call.value(0), "complex")?, scalar(&call.value(1), "complex")?);
    // Two real parts are taken as they are, down to the sign of a zero.
    Ok(Value::Complex(match (real, imag) {
        (Scalar::Complex(_), _) | (_, Scalar::Complex(_)) => {
            real.to_complex() + Complex::new(0.0, 1.0) * imag.to_complex()
        }
        _ => Complex::new(real.to_f64(), imag.to_f64()),
    }))
}

fn abs(call: &mut Call) -> Result<Value> {
    match call.value(0) {
        tensor @ Value::Tensor(_) => operators::method(call.state, "abs", &tensor),
        Value::Object(object) if let Some(answer) = object.special("__abs__", &[]) => answer,
        other => match equality::number(&other) {
            Some(number) => numbers::absolute(number),
            None => bail!(TypeError, "bad operand type for abs(): '{}'", other.type_name()),
        },
    }
}

fn sum(call: &mut Call) -> Result<Value> {
    let Some(plus) = operators::find("+") else { return Ok(Value::None) };
    watched(each(call, &call.value(0))?)
        .try_fold(call.value(1), |total, item| operators::binary(call.state, plus, &total, &item))
}

fn zip(call: &mut Call) -> Result<Value> {
    let mut columns = items(call, 0)?.iter().map(|v| each(call, v)).collect::<Result<Vec<_>>>()?;
    let mut rows = Vec::new();
    // As many as the shortest has, however long the others are.
    while let Some(row) =
        columns.iter_mut().map(Iterator::next).collect::<Option<Vec<Value>>>().filter(|r| !r.is_empty())
    {
        interrupt::check_at(rows.len())?;
        limits::grown_to::<[Value; 2]>((rows.len() + 1).saturating_mul(1 + row.len() / 2))?;
        rows.push(Value::tuple(row));
    }
    Ok(Value::list(rows))
}

fn sorted(call: &mut Call) -> Result<Value> {
    let items = items(call, 0)?.into_iter().map(|item| (item, ())).collect();
    let sorted = sort_by_keys(call.state, items, call.bool(1)?)?;
    Ok(Value::list(sorted.into_iter().map(|(item, ())| item)))
}

fn unpack_star(call: &mut Call) -> Result<Value> {
    let (items, before, after) = (items(call, 0)?, call.int(1)? as usize, call.int(2)? as usize);
    let Some(middle) = items.len().checked_sub(before + after) else {
        bail!(ValueError, "not enough values to unpack (expected at least {}, got {})", before + after, items.len())
    };
    let starred = Value::list(items.iter().skip(before).take(middle).cloned());
    let head = items.iter().take(before).cloned();
    Ok(Value::list(head.chain([starred]).chain(items.iter().skip(before + middle).cloned())))
}

fn set_attribute(call: &mut Call) -> Result<Value> {
    let name = call.str(1)?.to_string();
    subscript::set_attribute(call.state, &call.value(0), &name, &call.value(2)).map(|()| Value::None)
}

fn delete_attribute(call: &mut Call) -> Result<Value> {
    let name = call.str(1)?.to_string();
    subscript::delete_attribute(call.state, &call.value(0), &name).map(|()| Value::None)
}

fn get_attribute(call: &mut Call) -> Result<Value> {
    let name = call.str(1)?.to_string();
    subscript::attribute(call.state, &call.value(0), &name)
}

fn extreme(call: &mut Call, symbol: &str) -> Result<Value> {
    let given = items(call, 0)?;
    let mut candidates = match given.as_slice() {
        [only] => each(call, only)?,
        _ => Box::new(given.into_iter()),
    };
    let Some(mut best) = candidates.next() else {
        if !call.is_none(1) {
            return Ok(call.value(1));
        }
        let name = call.signature.name.trim_start_matches("py.");
        bail!(ValueError, "{name}() arg is an empty sequence")
    };
    let Some(operator) = operators::find(symbol) else { return Ok(best) };
    for candidate in watched(candidates) {
        if truth(&operators::binary(call.state, operator, &candidate, &best)?)? {
            best = candidate;
        }
    }
    Ok(best)
}

fn unpack(call: &mut Call) -> Result<Value> {
    if let Value::Range(range) = call.value(0)
        && range.len() > call.int(1)? as usize
    {
        bail!(ValueError, "too many values to unpack (expected {})", call.int(1)?);
    }
    let (items, count) = (items(call, 0), call.int(1)? as usize);
    let items = items
        .map_err(|_| Error::type_error(format!("cannot unpack non-iterable {} object", call.value(0).type_name())))?;
    if items.len() > count {
        bail!(ValueError, "too many values to unpack (expected {count})");
    }
    if items.len() < count {
        bail!(ValueError, "not enough values to unpack (expected {count}, got {})", items.len());
    }
    Ok(Value::list(items))
}

fn import(call: &mut Call) -> Result<Value> {
    let name = call.str(0)?;
    // A module of PyTorch's is imported by its path, one of the library's by its name.
    let found = match name.strip_prefix("torch.") {
        Some(inner) => crate::call::MODULES.iter().find(|m| **m == inner && !crate::call::LIBRARY.contains(m)),
        None => crate::call::LIBRARY.iter().chain(&["torch"]).find(|m| **m == name && **m != "py"),
    };
    match found {
        Some(module) => Ok(Value::Module(module)),
        None => Err(Error::new(ErrorKind::ModuleNotFoundError, format!("No module named '{name}'"))),
    }
}

fn import_from(call: &mut Call) -> Result<Value> {
    let (module, name) = (call.str(0)?.to_string(), call.str(1)?.to_string());
    let mut inner =
        Call { state: call.state, signature: call.signature, args: [Value::str(&module)].into_iter().collect() };
    let found = import(&mut inner)?;
    subscript::attribute(call.state, &found, &name)
        .map_err(|_| Error::new(ErrorKind::ModuleNotFoundError, format!("cannot import name '{name}' from '{module}'")))
}

fn exit(call: &mut Call) -> Result<Value> {
    let code = match call.value(0) {
        Value::None => 0,
        Value::Int(code) => code as i32,
        Value::Bool(b) => i32::from(b),
        other => {
            let text = call.state.str(&other)?;
            call.state.print(&format!("{text}\n"));
            1
        }
    };
    call.state.exit.set(Some(code));
    Err(Error::new(ErrorKind::SystemExit, ""))
}

fn duplicate(call: &mut Call) -> Result<Value> {
    copied(&call.value(0), call.signature.name == "copy.deepcopy")
}

/// A copy of a value, of what it holds too if it is to be deep.
fn copied(value: &Value, deep: bool) -> Result<Value> {
    match value.clone() {
        Value::List(items) if deep => {
            Ok(Value::List(items.iter().map(|item| copied(item, deep)).collect::<Result<_>>()?))
        }
        Value::Tuple(items) if deep => {
            Ok(Value::Tuple(items.iter().map(|item| copied(item, deep)).collect::<Result<_>>()?))
        }
        Value::Dict(ref entries) | Value::OrderedDict(ref entries) if deep => {
            let entry = |(key, value): &(Value, Value)| Ok((key.clone(), copied(value, deep)?));
            let entries = entries.iter().map(entry).collect::<Result<_>>()?;
            Ok(if let Value::OrderedDict(_) = value { Value::OrderedDict(entries) } else { Value::Dict(entries) })
        }
        Value::Tensor(t) if t.has_names() => Err(if deep { names::refusal("new_empty") } else { not_saved() }),
        // The whole storage is copied, however little of it the tensor shows.
        Value::Tensor(t) if deep => {
            let view = t.view();
            let copy = crate::tensor::Tensor::new(crate::tensor::View { storage: view.storage.duplicate()?, ..view });
            if t.is_leaf() && t.requires_grad() {
                copy.autograd_mut(|meta| meta.requires_grad = true);
            }
            Ok(Value::Tensor(copy))
        }
        Value::Tensor(t) => Ok(Value::Tensor(crate::tensor::Tensor::new(t.view()))),
        Value::Storage(s) => s.duplicate().map(Value::Storage),
        Value::TypedStorage(typed) => {
            let storage = typed.storage.duplicate()?;
            Ok(Value::TypedStorage(crate::tensor::TypedStorage::new(storage, typed.dtype)))
        }
        other => Ok(other),
    }
}

/// The class of a value, as `type` gives it.
fn class_value(value: &Value) -> Value {
    let written = if let Value::Object(object) = value { object.class() } else { None };
    written.unwrap_or_else(|| Value::Type(super::classes::class_name(value)))
}
