//! Subscripts as the engine evaluates them: `target[index]`, and `target.name`, which arrives as a subscript with a
//! string. An assignment through the result of a call is rewritten to a subscript as well: see [`PROXY_VARIABLE`].

use super::native::{add, any, check_complete};
use super::runtime::Runtime;
use super::values::{is_ours, to_subscript, to_value};
use call::registry::Attributes;
use objects::members::{self, attribute, set_attribute};
use objects::subscript::{item, set_item};
use rhai::{AST, ASTFlags, ASTNode, Dynamic, Engine, EvalAltResult, Expr, ImmutableString, Module, Position, Stmt};
use std::any::TypeId;
use std::collections::HashSet;
use std::rc::Rc;
use tensor::{Error, Result};
use value::Value;
use value::equality::{equal, equals, is};

/// The depth of nested subscripts that the engine may write back.
const READS: usize = 16;

/// Evaluates `target[index]`, or `target.name`, which arrives as a subscript with a string.
pub fn get(state: &Runtime, target: Value, index: &Dynamic) -> Result<Value> {
    if let Some(name) = index.read_lock::<ImmutableString>() {
        return named(state, target, Value::str(name.as_str()), &name, &[]);
    }
    let by = to_subscript(index)?;
    let found = item(state, &target, &by)?;
    note_read(state, target, by, &found);
    Ok(found)
}

/// Evaluates `target[by]` for a read that the engine does not write back.
pub fn part(state: &Runtime, target: Value, by: Value) -> Result<Value> {
    item(state, &target, &by)
}

/// Evaluates `target.name`. `attributes` are the table's attributes of that name.
fn named(state: &Runtime, target: Value, by: Value, name: &str, attributes: &Attributes) -> Result<Value> {
    let found = match members::read_directly(state, attributes, &target) {
        Some(found) => found?,
        None if let Value::Dict(_) = target => item(state, &target, &by)?,
        None => attribute(state, &target, name)?,
    };
    note_read(state, target, by, &found);
    Ok(found)
}

fn note_read(state: &Runtime, target: Value, by: Value, found: &Value) {
    let mut read = state.read.borrow_mut();
    if read.len() >= READS {
        read.pop_front();
    }
    read.push_back((target, by, found.clone()));
    state.changed.set(None);
}

/// Registers a property with the engine. Without it, every read would first fail to find the name and format an error
/// before trying a string subscript. Reads that fail here still fall through to the string subscript, which reports the
/// error.
pub(crate) fn register_attribute(engine: &mut Engine, state: &Rc<Runtime>, name: &'static str) {
    let (state, by) = (state.clone(), Value::str(name));
    let attributes = state.registry.plain_attributes_of(name);
    engine.register_raw_fn(format!("get${name}"), any(1), move |context, args: &mut [&mut Dynamic]| {
        let Some(target) = args.first() else { return Ok(Dynamic::UNIT) };
        let read =
            |target| named(&state, target, by.clone(), name, attributes).and_then(|found| state.to_script(found));
        if (is_ours(target) || target.is_fnptr())
            && let Ok(found) = to_value(target).and_then(read).and_then(check_complete)
        {
            return Ok(found);
        }
        let class = context.engine().map_type_name(Dynamic::type_name(target));
        let text = format!("Unknown property '{name}' - a getter is not registered for type '{class}'");
        Err(EvalAltResult::ErrorDotExpr(text, Position::NONE).into())
    });
}

/// Finds the positions of a text where the engine assigns to a subscript or an attribute. Other write-backs are not
/// assignments: after a call on a value that was read, or to the subscripts before the last. An in-place operator may
/// leave an attribute its own value, which need not be written.
pub fn assigned(ast: &AST) -> HashSet<Position> {
    fn last(expr: &Expr) -> Option<(Position, bool)> {
        match expr {
            Expr::Index(parts, options, position) | Expr::Dot(parts, options, position) => match &parts.rhs {
                rest @ (Expr::Index(..) | Expr::Dot(..)) if !options.contains(ASTFlags::BREAK) => last(rest),
                _ => Some((*position, matches!(expr, Expr::Dot(..)))),
            },
            _ => None,
        }
    }
    let mut found = HashSet::new();
    ast.walk(&mut |path| {
        if let Some(ASTNode::Stmt(Stmt::Assignment(parts))) = path.last()
            && let Some((position, is_named)) = last(&parts.1.lhs)
            && !(is_named && parts.0.is_op_assignment())
        {
            found.insert(position);
        }
        true
    });
    found
}

/// Evaluates `target[index] = value`, or `target.name = value`. When the engine writes back, the value and the place
/// are identical to those it has read. `is_assigned` is called only if this could be a write-back.
pub fn set(
    state: &Runtime,
    target: &Value,
    index: &Dynamic,
    value: &Dynamic,
    is_assigned: impl FnOnce() -> bool,
) -> Result<()> {
    let value = to_value(value)?;
    let name = index.read_lock::<ImmutableString>().map(|name| name.clone());
    let by = match &name {
        Some(name) => Value::str(name.as_str()),
        None => to_subscript(index)?,
    };
    let is_changed = state.changed.take().is_some_and(|changed| value.address() == Some(changed));
    // Every read of a shape or a device creates a new object.
    let is_part =
        |part: &Value| is(part, &value) || part.address().is_none() && value.address().is_none() && equal(part, &value);
    let is_read =
        |(whole, at, part): &(Value, Value, Value)| is(whole, target) && is_part(part) && is_same_place(at, &by);
    let back = state.read.borrow().iter().rposition(is_read);
    // The assignment came from a text that a script evaluated, which was not rewritten.
    if let Some(back) = back.filter(|_| !(is_changed && name.is_none() || is_assigned())) {
        state.read.borrow_mut().remove(back);
        return Ok(());
    }
    match (&name, target) {
        (Some(_), Value::Dict(dict)) => dict.insert(by, value),
        (Some(name), _) => set_attribute(state, target, name, &value),
        (None, _) => set_item(state, target, &by, &value),
    }
}

/// Returns whether two subscripts are the same. The engine's arrays and ranges become a new list or slice at each
/// conversion.
fn is_same_place(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Slice(a), Value::Slice(b)) => is(&a.start, &b.start) && is(&a.stop, &b.stop) && is(&a.step, &b.step),
        (Value::List(a), Value::List(b)) => {
            let (a, b) = (a.borrow(), b.borrow());
            a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| is_same_place(a, b))
        }
        _ => is(a, b),
    }
}

/// A variable whose subscripts evaluate to themselves: `f(x)[0] = 1` is rewritten to `held_[f(x)][0] = 1`, because Rhai
/// assigns only through a variable.
pub(crate) const PROXY_VARIABLE: &str = "held_";

/// The value of the variable [`PROXY_VARIABLE`].
#[derive(Clone)]
pub struct AssignmentProxy;

/// The depth to which copies are searched for assignments.
const DEPTH: usize = 100;

pub(crate) fn register_proxy(module: &mut Module) {
    let (held, any) = (TypeId::of::<AssignmentProxy>(), TypeId::of::<Dynamic>());
    add(module, "index$get$", &[held, any], |args| Ok(args.get(1).map(|value| (**value).clone()).unwrap_or_default()));
    // The engine writes back after an assignment.
    add(module, "index$set$", &[held, any, any], |args| match args {
        [_, before, after] if !is_unchanged(before, after, DEPTH) => {
            let class = to_value(before).map_or("value", |value| value.class_name());
            let error =
                Error::type_error(format!("this call returns a copy of the {class}, so the assignment would be lost"));
            Err(error.with_hint("keep it first: `let copy = …;`".to_owned()))
        }
        _ => Ok(Dynamic::UNIT),
    });
}

/// Returns whether a copy itself is unmodified; changes to values it shares are not counted.
fn is_unchanged(before: &Dynamic, after: &Dynamic, depth: usize) -> bool {
    if depth == 0 || is_ours(before) && is_ours(after) {
        return true;
    }
    if let (Some(before), Some(after)) = (before.read_lock::<rhai::Array>(), after.read_lock::<rhai::Array>()) {
        return before.iter().zip(after.iter()).all(|(before, after)| is_unchanged(before, after, depth - 1));
    }
    if let (Some(before), Some(after)) = (before.read_lock::<rhai::Map>(), after.read_lock::<rhai::Map>()) {
        return before.len() == after.len()
            && before.values().zip(after.values()).all(|(before, after)| is_unchanged(before, after, depth - 1));
    }
    match (to_value(before), to_value(after)) {
        (Ok(before), Ok(after)) => is(&before, &after) || equals(&before, &after).unwrap_or(false),
        _ => true,
    }
}
