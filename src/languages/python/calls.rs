//! Calls: functions and classes of a script directly, everything else through the function table.

use super::class::{Base, Entry, Instance, call_entry};
use super::code::Name;
use super::descriptors::{BoundMethod, is_function};
use super::frame::Frame;
use super::function::Function;
use super::machine::Machine;
use super::operations;
use call::bind::Arguments;
use call::{Family, Kind, Receiver, dispatch};
use objects::calling::call_value;
use objects::container_methods;
use tensor::Result;
use value::{Keywords, Value};

/// `callee(*args, **keywords)`
pub fn call(machine: &Machine, callee: &Value, args: Vec<Value>, keywords: Keywords) -> Result<Value> {
    if let Value::Object(object) = callee
        && let Some(function) = object.as_any().downcast_ref::<Function>()
    {
        return match function.runs_on(machine) {
            true => machine.call_function(function, args, keywords),
            false => function.machine()?.call_function(function, args, keywords),
        };
    }
    if let Value::Method(method) = callee
        && let Some(answer) = container_methods::call(&machine.state, &method.of, method.name, &args, &keywords)
    {
        return answer;
    }
    call_value(&machine.state, callee, args, keywords)
}

/// Calls a builtin of the table by name.
pub(crate) fn builtin_function(machine: &Machine, name: &str, args: Vec<Value>) -> Result<Value> {
    call_value(&machine.state, &Value::Function(format!("py.{name}").into()), args, Keywords::new())
}

/// Calls `receiver.name(*args, **keywords)`. The arguments are on the stack from index `from` on, the receiver below
/// them.
pub fn call_method(
    machine: &Machine,
    frame: &mut Frame,
    from: usize,
    name: &Name,
    keywords: Keywords,
) -> Result<Value> {
    if keywords.is_empty()
        && let Some(methods) = name.methods
        && let Some(Value::Tensor(tensor)) = frame.stack.get(from.wrapping_sub(1))
        && let given = frame.stack.get(from..).unwrap_or_default().iter()
        && let Some(result) = dispatch::try_plain_method(&machine.state, methods, tensor.clone(), given)
    {
        frame.stack.truncate(from.saturating_sub(1));
        return result;
    }
    let args = frame.stack.split_off(from.min(frame.stack.len()));
    let receiver = frame.pop();
    method(machine, &receiver, &name.text, name.family, args, keywords)
}

/// Checks that a receiver has a method, without a lookup that might run code.
pub fn expect(machine: &Machine, receiver: &Value, name: &Name) -> Result<()> {
    let known = match receiver {
        Value::Module(_) | Value::Type(_) => false,
        Value::Object(object) if let Some(this) = object.as_any().downcast_ref::<Instance>() => {
            this.finds() || this.class.find(&name.text).is_some() || this.class.find("__getattr__").is_some()
        }
        other => {
            let found = |(kind, family): (Kind, &Family)| family.find(Receiver::Class(kind)).is_some();
            Kind::of(other).zip(name.family).is_some_and(found)
        }
    };
    if known { Ok(()) } else { operations::attribute(machine, receiver, &name.text).map(drop) }
}

/// Calls `receiver.name(*args, **keywords)`.
fn method(
    machine: &Machine,
    receiver: &Value,
    name: &str,
    family: Option<&'static Family>,
    args: Vec<Value>,
    keywords: Keywords,
) -> Result<Value> {
    if let Some(answer) = container_methods::call(&machine.state, receiver, name, &args, &keywords) {
        return answer;
    }
    if let Value::Object(object) = receiver
        && let Some(this) = object.as_any().downcast_ref::<Instance>()
        && !this.finds()
        && this.fields.get(name).is_none()
        && let Some(entry) = this.class.find(name)
        && !matches!(&entry, Entry::ObjectState(held) if !is_function(held))
    {
        // The most frequent call does not allocate a method object.
        return call_entry(&entry, receiver, &this.class, args, keywords);
    }
    let holder = match receiver {
        Value::Type(_) => None,
        Value::Module(path) => Some((Receiver::Module(if *path == "torch" { "" } else { path }), None)),
        // An object's own attribute takes precedence over its class's entry in the table.
        Value::Object(object) if is_of_script(receiver) || object.attribute(name).is_some() => None,
        other => Kind::of(other).map(|kind| (Receiver::Class(kind), Some(receiver))),
    };
    if let Some((holder, this)) = holder
        && let Some(overloads) = family.and_then(|family| family.find(holder))
    {
        return dispatch::call(&machine.state, overloads, this, &Arguments { positional: args.into(), keywords });
    }
    let callee = operations::attribute(machine, receiver, name)?;
    call(machine, &callee, args, keywords)
}

/// Returns whether an object has no methods but those that it finds itself.
fn is_of_script(value: &Value) -> bool {
    let Value::Object(object) = value else { return false };
    object.as_any().is::<Instance>()
        || matches!(object.class_name(), "module" | "super" | "type" | "types.GenericAlias")
}

/// Returns a function's name as shown in errors about its arguments.
pub fn shown_name(callee: &Value) -> String {
    let Value::Object(object) = callee else {
        return match callee {
            Value::Function(path) => format!("{}()", path.strip_prefix("py.").unwrap_or(path)),
            Value::Type(class) => format!("{class}()"),
            other => format!("{}()", other.type_name()),
        };
    };
    if let Some(function) = object.as_any().downcast_ref::<Function>() {
        return format!("{}.{}()", function.module_name(), function.head.qualified);
    }
    if let Some(method) = object.as_any().downcast_ref::<BoundMethod>() {
        return shown_name(&method.function);
    }
    match Base::of(callee) {
        Some(class) => format!("{}.{}()", class.module(), class.name()),
        None => format!("{} object", callee.type_name()),
    }
}
