//! Nested values: the leaves of tuples, lists and dictionaries, as in `torch.utils._pytree`. `None` and `torch.Size`
//! are leaves.

use crate::state::State;
use std::rc::Rc;
use tensor::{Error, ErrorKind, Result};
use value::{Dict, NamedTuple, Object, Value};

/// Returns the parts of a value, or `None` for a leaf.
fn parts(value: &Value) -> Option<Vec<Value>> {
    Some(match value {
        Value::Tuple(items) => items.to_vec(),
        Value::List(list) => list.to_vec(),
        Value::Dict(dict) => dict.borrow().iter().map(|(_, value)| value.clone()).collect(),
        Value::NamedTuple(tuple) => tuple.fields.iter().map(|(_, value)| value.clone()).collect(),
        _ => return None,
    })
}

/// The maximum depth, which is far more than a real tree has and far less than the stack allows. A list can contain
/// itself.
const MAX_DEPTH: usize = 200;

fn deeper(depth: usize) -> Result<usize> {
    if depth < MAX_DEPTH {
        return Ok(depth + 1);
    }
    Err(Error::new(ErrorKind::RecursionError, "maximum recursion depth exceeded"))
}

/// Collects all leaves, from left to right.
///
/// # Errors
/// RecursionError for a value that is nested too deeply or contains itself.
pub fn leaves(value: &Value) -> Result<Vec<Value>> {
    fn collect(value: &Value, depth: usize, into: &mut Vec<Value>) -> Result<()> {
        match parts(value) {
            Some(parts) => {
                let depth = deeper(depth)?;
                parts.iter().try_for_each(|part| collect(part, depth, into))
            }
            None => {
                into.push(value.clone());
                Ok(())
            }
        }
    }
    let mut found = Vec::new();
    collect(value, 0, &mut found)?;
    Ok(found)
}

/// Returns the same tree with every leaf replaced.
///
/// # Errors
/// Those of [`leaves`], and any error of `change`.
pub fn map(value: &Value, change: &mut impl FnMut(&Value) -> Result<Value>) -> Result<Value> {
    map_at(value, 0, change)
}

fn map_at(value: &Value, depth: usize, change: &mut impl FnMut(&Value) -> Result<Value>) -> Result<Value> {
    let depth = deeper(depth)?;
    let map = |value: &Value, change: &mut _| map_at(value, depth, change);
    Ok(match value {
        Value::Tuple(items) => Value::Tuple(items.iter().map(|item| map(item, change)).collect::<Result<_>>()?),
        Value::List(list) => Value::List(list.to_vec().iter().map(|item| map(item, change)).collect::<Result<_>>()?),
        Value::Dict(dict) => {
            let entries = dict.to_vec().into_iter().map(|(key, value)| Ok((key, map(&value, change)?)));
            Value::Dict(Dict::new(entries.collect::<Result<Vec<_>>>()?)?.to_kind(dict.is_ordered()))
        }
        Value::NamedTuple(tuple) => {
            let fields = tuple.fields.iter().map(|(name, field)| Ok((*name, map(field, change)?)));
            let fields = fields.collect::<Result<_>>()?;
            Value::NamedTuple(Rc::new(NamedTuple { fields, type_name: tuple.type_name }))
        }
        leaf => change(leaf)?,
    })
}

/// Returns the same tree with other leaves, from left to right.
pub fn filled(value: &Value, leaves: impl IntoIterator<Item = Value>) -> Result<Value> {
    let mut leaves = leaves.into_iter();
    map(value, &mut |_| Ok(leaves.next().unwrap_or(Value::None)))
}

/// Returns whether two values are nested in the same way.
pub fn same(a: &Value, b: &Value) -> bool {
    same_at(a, b, 0)
}

fn same_at(a: &Value, b: &Value, depth: usize) -> bool {
    let all =
        |a: Vec<Value>, b: Vec<Value>| a.len() == b.len() && a.iter().zip(&b).all(|(a, b)| same_at(a, b, depth + 1));
    if depth > MAX_DEPTH {
        return false;
    }
    if let (Some(a), Some(b)) = (a.entries(), b.entries())
        && (a.len() != b.len() || a.iter().zip(b.iter()).any(|((a, _), (b, _))| !value::equality::equal(a, b)))
    {
        return false;
    }
    match (parts(a), parts(b)) {
        (Some(inner_a), Some(inner_b)) => a.class_name() == b.class_name() && all(inner_a, inner_b),
        (None, None) => true,
        _ => false,
    }
}

/// Shows the nesting with a star for every leaf: `(*, {'a': *})`.
pub fn show(state: &State, value: &Value) -> Result<String> {
    state.repr(&map(value, &mut |_| Ok(Value::Object(Rc::new(Star))))?)
}

/// Shows the nesting as PyTorch's `TreeSpec` does, with each part after the first on its own line.
pub fn spec(state: &State, value: &Value) -> Result<String> {
    fn write(state: &State, value: &Value, indent: usize) -> Result<String> {
        let Some(parts) = parts(value) else { return Ok("*".to_owned()) };
        deeper(indent / 2)?;
        let context = match value.entries() {
            Some(entries) => state.repr(&Value::list(entries.iter().map(|(key, _)| key.clone())))?,
            None => "None".to_owned(),
        };
        let parts = parts.iter().map(|part| write(state, part, indent + 2)).collect::<Result<Vec<_>>>()?;
        let separator = format!(",\n{}", " ".repeat(indent + 2));
        Ok(format!("TreeSpec({}, {context}, [{}])", value.type_name(), parts.join(&separator)))
    }
    write(state, value, 0)
}

/// Stands for a leaf when only the nesting is shown.
struct Star;

impl Object for Star {
    fn type_name(&self) -> &str {
        "_DummyLeaf"
    }
    fn repr(&self) -> String {
        "*".to_owned()
    }
}
