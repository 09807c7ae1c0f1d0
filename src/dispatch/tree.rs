//! Nested values: the leaves of tuples, lists and dictionaries, as `torch.utils._pytree` sees them. `None` and
//! `torch.Size` are leaves.

use crate::call::state::State;
use crate::tensor::Result;
use crate::value::{NamedTuple, Object, Value};
use std::any::Any;
use std::rc::Rc;

/// Returns the parts of a value; none for a leaf.
fn parts(value: &Value) -> Option<Vec<Value>> {
    Some(match value {
        Value::Tuple(items) | Value::List(items) => items.to_vec(),
        Value::Dict(entries) | Value::OrderedDict(entries) => entries.iter().map(|(_, value)| value.clone()).collect(),
        Value::NamedTuple(tuple) => tuple.fields.iter().map(|(_, value)| value.clone()).collect(),
        _ => return None,
    })
}

/// Everything at the ends, from left to right.
pub fn leaves(value: &Value) -> Vec<Value> {
    match parts(value) {
        Some(parts) => parts.iter().flat_map(leaves).collect(),
        None => vec![value.clone()],
    }
}

/// The same with every end replaced.
pub fn map(value: &Value, change: &mut impl FnMut(&Value) -> Result<Value>) -> Result<Value> {
    fn entries(
        entries: &[(Value, Value)],
        change: &mut impl FnMut(&Value) -> Result<Value>,
    ) -> Result<Rc<[(Value, Value)]>> {
        entries.iter().map(|(key, value)| Ok((key.clone(), map(value, change)?))).collect()
    }
    Ok(match value {
        Value::Tuple(items) => Value::Tuple(items.iter().map(|item| map(item, change)).collect::<Result<_>>()?),
        Value::List(items) => Value::List(items.iter().map(|item| map(item, change)).collect::<Result<_>>()?),
        Value::Dict(of) => Value::Dict(entries(of, change)?),
        Value::OrderedDict(of) => Value::OrderedDict(entries(of, change)?),
        Value::NamedTuple(tuple) => {
            let fields = tuple.fields.iter().map(|(name, field)| Ok((*name, map(field, change)?)));
            let fields = fields.collect::<Result<_>>()?;
            Value::NamedTuple(Rc::new(NamedTuple { type_name: tuple.type_name, fields }))
        }
        leaf => change(leaf)?,
    })
}

/// The same with other ends, taken from left to right.
pub fn filled(value: &Value, leaves: impl IntoIterator<Item = Value>) -> Result<Value> {
    let mut leaves = leaves.into_iter();
    map(value, &mut |_| Ok(leaves.next().unwrap_or(Value::None)))
}

/// Returns whether they are nested alike.
pub fn same(a: &Value, b: &Value) -> bool {
    let all = |a: Vec<Value>, b: Vec<Value>| a.len() == b.len() && a.iter().zip(&b).all(|(a, b)| same(a, b));
    if let (Some(a), Some(b)) = (a.entries(), b.entries())
        && (a.len() != b.len() || a.iter().zip(b.iter()).any(|((a, _), (b, _))| !crate::value::equality::equal(a, b)))
    {
        return false;
    }
    match (parts(a), parts(b)) {
        (Some(inner_a), Some(inner_b)) => a.class_name() == b.class_name() && all(inner_a, inner_b),
        (None, None) => true,
        _ => false,
    }
}

/// The nesting with a star for every end: `(*, {'a': *})`.
pub fn show(state: &State, value: &Value) -> Result<String> {
    state.repr(&map(value, &mut |_| Ok(Value::Object(Rc::new(Star))))?)
}

/// The nesting as PyTorch's `TreeSpec` writes it, each part but the first on a line of its own.
pub fn spec(state: &State, value: &Value) -> Result<String> {
    fn write(state: &State, value: &Value, indent: usize) -> Result<String> {
        let Some(parts) = parts(value) else { return Ok("*".to_owned()) };
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

/// Stands for an end where only the nesting is shown.
struct Star;

impl Object for Star {
    fn type_name(&self) -> &str {
        "_DummyLeaf"
    }
    fn repr(&self) -> String {
        "*".to_owned()
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}
