//! What `match` asks of a subject: whether it is a sequence, a mapping or an object of a class, and its parts.

use call::State;
use objects::members;
use objects::plain::classes::is_instance_of;
use tensor::{ErrorKind, Result, bail};
use value::{Dict, Value};

/// The classes whose one positional pattern is matched with the whole subject.
const WHOLE: [&str; 11] =
    ["bool", "bytearray", "bytes", "dict", "float", "frozenset", "int", "list", "set", "str", "tuple"];

/// Returns the items of a sequence of `count` items, of which the one at `star`, if any, is a list of any length. `None` if
/// the subject is no such sequence.
pub(super) fn sequence(subject: &Value, count: usize, star: Option<usize>) -> Result<Value> {
    let length = match subject {
        Value::Tuple(items) => items.len(),
        Value::List(list) => list.len(),
        Value::Size(sizes) => sizes.len(),
        Value::NamedTuple(tuple) => tuple.fields.len(),
        Value::Range(range) => range.count(),
        _ => return Ok(Value::None),
    };
    if if star.is_some() { length + 1 < count } else { length != count } {
        return Ok(Value::None);
    }
    let Some(mut items) = subject.sequence() else { bail!(MemoryError, "") };
    if let Some(star) = star {
        let behind = items.split_off(items.len() - (count - star - 1));
        let middle = items.split_off(star);
        items.push(Value::list(middle));
        items.extend(behind);
    }
    Ok(Value::tuple(items))
}

/// Returns the values of some keys, followed by the other entries if they are asked for. `None` if the subject is no
/// dictionary, or lacks a key.
pub(super) fn mapping(subject: &Value, keys: &Value, has_rest: bool) -> Result<Value> {
    let Value::Dict(dict) = subject else { return Ok(Value::None) };
    let keys = keys.sequence().unwrap_or_default();
    let mut values = Vec::with_capacity(keys.len() + 1);
    for key in &keys {
        let Some(value) = dict.get(key)? else { return Ok(Value::None) };
        values.push(value);
    }
    if has_rest {
        let rest = Dict::new(dict.to_vec())?;
        for key in &keys {
            rest.remove(key)?;
        }
        values.push(Value::Dict(rest));
    }
    Ok(Value::tuple(values))
}

/// Returns attributes of an object of a class: those that `__match_args__` lists, `positional` in all, and those named.
/// `None` if the subject is of another class, or lacks one.
pub(super) fn object(
    state: &State,
    subject: &Value,
    class: &Value,
    positional: usize,
    names: &[Value],
) -> Result<Value> {
    let is_class = match class {
        Value::Type(_) => true,
        Value::Object(object) => object.derives(class).is_some(),
        _ => false,
    };
    if !is_class {
        bail!(TypeError, "called match pattern must be a type");
    }
    if !is_instance_of(subject, class)? {
        return Ok(Value::None);
    }
    let text = |name: &Value| if let Value::Str(name) = name { name.to_string() } else { String::new() };
    let class_name = text(&members::attribute(state, class, "__name__")?);
    let optional = |object: &Value, name: &str| match members::attribute(state, object, name) {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.kind == ErrorKind::AttributeError => Ok(None),
        Err(error) => Err(error),
    };
    let is_whole = WHOLE.iter().any(|whole| {
        value::equality::is(class, &Value::Type(whole))
            || matches!(class, Value::Object(_)) && is_instance_of(subject, &Value::Type(whole)).unwrap_or(false)
    });
    let mut wanted = Vec::new();
    let mut values = Vec::new();
    if positional > 0 {
        let listed = match optional(class, "__match_args__")? {
            Some(listed @ Value::Tuple(_)) => listed.sequence().unwrap_or_default(),
            Some(other) => bail!(TypeError, "{class_name}.__match_args__ must be a tuple (got {})", other.type_name()),
            None => Vec::new(),
        };
        let whole = listed.is_empty() && is_whole;
        let allowed = if whole { 1 } else { listed.len() };
        if positional > allowed {
            let plural = if allowed == 1 { "" } else { "s" };
            bail!(TypeError, "{class_name}() accepts {allowed} positional sub-pattern{plural} ({positional} given)");
        }
        if whole {
            values.push(subject.clone());
        } else {
            wanted.extend(listed.into_iter().take(positional));
        }
    }
    for (i, name) in wanted.iter().chain(names).enumerate() {
        let Value::Str(name) = name else {
            bail!(TypeError, "__match_args__ elements must be strings (got {})", name.type_name());
        };
        if wanted.iter().chain(names).take(i).any(|known| text(known) == **name) {
            bail!(TypeError, "{class_name}() got multiple sub-patterns for attribute '{name}'");
        }
        match optional(subject, name)? {
            Some(value) => values.push(value),
            None => return Ok(Value::None),
        }
    }
    Ok(Value::tuple(values))
}
