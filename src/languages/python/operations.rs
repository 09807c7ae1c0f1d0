//! Instructions that do more than move values: operators, attributes, subscripts, iteration, contexts and imports.
//! Anything not specific to Python goes through the function table.

use super::cell::Cell;
use super::class::{Base, Class, Entry, Instance, as_rc, instance_of};
use super::code::{Code, Op, Quick, Variable};
use super::descriptors::{BoundDescriptor, ReceiverKind, Super};
use super::frame::Frame;
use super::generator::Generator;
use super::machine::Machine;
use super::{builtins, calls, descriptors};
use call::State;
use call::module_names::is_absent;
use objects::calling::{NativeFunction, call_value, is_callable};
use objects::container_methods;
use objects::contexts::{enter_context, exit_context};
use objects::iterate::{is_not_iterable, iterate};
use objects::lazy::next_item;
use objects::{members, subscript};
use std::rc::{Rc, Weak};
use tensor::{Error, ErrorKind, Result, bail, interrupt, limits};
use value::equality::truth;
use value::{Keywords, List, Object, Slot as _, Value};

/// Applies an operator to small integers or floats. `None` for other operands, and on overflow.
#[inline]
pub(crate) fn quickly(quick: Quick, a: &Value, b: &Value) -> Option<Value> {
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => Some(Value::Int(match quick {
            Quick::Plus => a.checked_add(*b)?,
            Quick::Minus => a.checked_sub(*b)?,
            Quick::Times => a.checked_mul(*b)?,
            _ => return compared(quick, a, b),
        })),
        (Value::Float(a), Value::Float(b)) => Some(Value::Float(match quick {
            Quick::Plus => a + b,
            Quick::Minus => a - b,
            Quick::Times => a * b,
            _ => return compared(quick, a, b),
        })),
        _ => None,
    }
}

#[inline]
fn compared<T: PartialOrd>(quick: Quick, a: &T, b: &T) -> Option<Value> {
    Some(Value::Bool(match quick {
        Quick::Equal => a == b,
        Quick::NotEqual => a != b,
        Quick::Less => a < b,
        Quick::LessOrEqual => a <= b,
        Quick::Greater => a > b,
        Quick::GreaterOrEqual => a >= b,
        Quick::Plus | Quick::Minus | Quick::Times | Quick::Other => return None,
    }))
}

/// `object.name`
pub(super) fn attribute(machine: &Machine, object: &Value, name: &str) -> Result<Value> {
    if let Some(method) = container_methods::method(object, name) {
        return Ok(method);
    }
    match object {
        Value::Type(class) if let Some(member) = member_of_builtin(class, name) => Ok(member),
        _ => members::attribute(&machine.state, object, name),
    }
}

/// Returns an attribute that Python gives to all values, whatever else their classes have: `__class__`, the special methods
/// of `object`, and `__dict__` of a builtin class.
pub(super) fn special_attribute(machine: &Machine, object: &Value, name: &str) -> Result<Option<Value>> {
    match (object, name) {
        (Value::Object(this), "__next__" | "__iter__") if this.is_iterator() && instance_of(object).is_none() => {
            let (machine, this, called) = (machine.handle()?, object.clone(), name.trim_matches('_').to_owned());
            let method = move |_, _| calls::builtin_function(&machine, &called, vec![this.clone()]);
            return Ok(Some(NativeFunction::method(name, object, method)));
        }
        (Value::Module(module), "__dict__") => return machine.names_of_module(module).map(Value::Dict).map(Some),
        (_, "__dir__") => {
            let (machine, of) = (machine.handle()?, object.clone());
            return Ok(Some(NativeFunction::method(name, object, move |_, _| machine.dir(std::slice::from_ref(&of)))));
        }
        (Value::Type("type"), "__call__") => {}
        (Value::Function(_) | Value::Method(_) | Value::Type(_) | Value::Object(_), "__call__")
            if instance_of(object).is_none() && is_callable(object) =>
        {
            return Ok(Some(Value::Object(Rc::new(CallMethod { of: object.clone(), state: machine.state.clone() }))));
        }
        (_, "__get__" | "__set__" | "__delete__") => return Ok(descriptors::protocol(object, name)),
        (Value::Type(class), "__dict__") => return machine.namespace_of(class).map(Some),
        (Value::Type(class), _) if let Some(member) = member_of_builtin(class, name) => return Ok(Some(member)),
        (Value::Object(_), "__class__") if instance_of(object).is_some() => return Ok(None),
        (Value::Type("object"), "__text_signature__") => return Ok(Some(Value::str("()"))),
        (Value::None | Value::Type("NoneType"), "__doc__") => return Ok(Some(Value::None)),
        (_, "__class__") => return calls::builtin_function(machine, "type", vec![object.clone()]).map(Some),
        _ => {}
    }
    // What a class lacks, its own class has: a builtin class's is `type`.
    let class = if let Value::Type(_) = object { "type" } else { object.class_name() };
    Ok(match Base::Builtin(class).find(name) {
        Some(Entry::Native(method)) => Some(BoundDescriptor::native(
            method,
            match method.takes {
                ReceiverKind::This => Some(object.clone()),
                ReceiverKind::Class => Some(Value::Type(class)),
                ReceiverKind::Nothing => None,
            },
        )),
        _ => None,
    })
}

/// `len.__call__`
struct CallMethod {
    of: Value,
    state: Rc<State>,
}

impl Object for CallMethod {
    fn class_name(&self) -> &'static str {
        "method-wrapper"
    }
    fn is_callable(&self) -> bool {
        true
    }
    fn call(&self, args: Vec<Value>, keywords: Keywords) -> Option<Result<Value>> {
        Some(call_value(&self.state, &self.of, args, keywords))
    }
}

/// Returns an inheritance attribute of a builtin class.
fn member_of_builtin(class: &'static str, name: &str) -> Option<Value> {
    let base = Base::Builtin(class);
    let classes = |classes: &[Base]| Value::tuple(classes.iter().map(Base::value));
    match name {
        "__mro__" => Some(classes(&base.ancestors())),
        "__bases__" => Some(classes(base.ancestors().get(1..2).unwrap_or_default())),
        "__base__" => Some(base.ancestors().get(1).map_or(Value::None, Base::value)),
        _ if let Some(slot) = Machine::slot_of(class, name) => Some(slot),
        _ => match base.find(name)? {
            Entry::Native(method) if !method.of_class() => Some(BoundDescriptor::native(method, None)),
            Entry::Native(method) => Some(BoundDescriptor::native(method, Some(base.value()))),
            _ => None,
        },
    }
}

/// Appends an item.
#[inline]
pub(super) fn push(list: &List, item: Value) -> Result<()> {
    list.change(|items| {
        limits::grown_to::<Value>(items.len() + 1)?;
        items.push(item);
        Ok(())
    })?
}

/// Loads an unset variable. A global one is looked up elsewhere, then among the builtins.
pub(crate) fn load_missing(machine: &Machine, code: &Code, variable: Variable) -> Result<Value> {
    let (Variable::Global(slot) | Variable::Namespace(_, slot)) = variable else { return Err(unbound(code, variable)) };
    let known = machine.variables.borrow().builtin(slot);
    let name = machine.variables.borrow().name(slot);
    if let Some(value) = look_up_outside(machine, &name) {
        // Keep it as a variable here, so that all readers share in-place changes.
        machine.variables.borrow_mut().set(slot, Some(value.clone()));
        return Ok(value);
    }
    if let Some(value) = builtins::imported(machine, &name).or(known) {
        return Ok(value);
    }
    let value = builtins::find(machine, &name)?.ok_or_else(|| not_defined(&name))?;
    machine.variables.borrow_mut().set_builtin(slot, value.clone());
    Ok(value)
}

/// Deletes a variable that is not set here.
pub(crate) fn delete_missing(machine: &Machine, code: &Code, variable: Variable) -> Result<()> {
    match variable {
        Variable::Local(_) | Variable::Cell(_) => Err(unbound(code, variable)),
        Variable::Namespace(name, _) => Err(not_defined(code.name(name))),
        Variable::Global(slot) => {
            let name = machine.variables.borrow().name(slot);
            look_up_outside(machine, &name).map(drop).ok_or_else(|| not_defined(&name))
        }
    }
}

pub(super) fn look_up_outside(machine: &Machine, name: &str) -> Option<Value> {
    let outer_lookup = machine.outer_lookup.borrow().clone();
    outer_lookup.and_then(|outer_lookup| outer_lookup(name))
}

fn not_defined(name: &str) -> Error {
    if is_absent("py", name) {
        return Error::not_implemented(format!("{name} is not supported at this prompt"));
    }
    Error::new(ErrorKind::NameError, format!("name '{name}' is not defined"))
}

fn unbound(code: &Code, variable: Variable) -> Error {
    let (name, is_own) = match variable {
        Variable::Local(slot) => (code.locals.get(slot as usize), true),
        Variable::Cell(cell) => {
            let (cell, own) = (cell as usize, code.cells.len());
            let name = code.cells.get(cell).map(|(name, _)| name);
            (name.or_else(|| code.free.get(cell.checked_sub(own)?)), cell < own)
        }
        Variable::Global(_) | Variable::Namespace(..) => (None, true),
    };
    let name = name.map_or("?", |name| name);
    let (which, place, kind) = match is_own {
        true => ("local", "", ErrorKind::Other("UnboundLocalError")),
        false => ("free", " in enclosing scope", ErrorKind::NameError),
    };
    Error::new(kind, format!("cannot access {which} variable '{name}' where it is not associated with a value{place}"))
}

/// A cell, as `function.__closure__` has it.
struct CellObject(Cell);

impl Object for CellObject {
    fn class_name(&self) -> &'static str {
        "cell"
    }
    fn own_attribute(&self, name: &str) -> Option<Result<Value>> {
        let held = || self.0.get().and_then(WeakClass::class_in);
        (name == "cell_contents").then(|| held().ok_or_else(|| Error::value("Cell is empty")))
    }
    fn set_attribute(&self, name: &str, value: &Value) -> Option<Result<()>> {
        (name == "cell_contents").then(|| {
            drop(self.0.set(Some(value.clone())));
            Ok(())
        })
    }
    fn identity(&self) -> Option<usize> {
        Some(self.0.identity())
    }
}

impl Cell {
    /// Returns the cell as a value.
    pub(super) fn object(&self) -> Value {
        Value::Object(Rc::new(CellObject(self.clone())))
    }
}

/// The class around a method, as a weak reference: the class already holds its methods.
pub(super) struct WeakClass(Weak<Class>);

impl Object for WeakClass {
    fn class_name(&self) -> &'static str {
        "weakref"
    }
}

impl WeakClass {
    pub(super) fn value(class: &Rc<Class>) -> Value {
        Value::Object(Rc::new(WeakClass(Rc::downgrade(class))))
    }

    /// Returns what a variable has: for `__class__` the class, which its methods do not keep alive.
    #[inline]
    pub(super) fn class_in(value: Value) -> Option<Value> {
        match &value {
            Value::Object(object) if let Some(held) = object.as_any().downcast_ref::<WeakClass>() => {
                held.0.upgrade().map(|class| Value::Object(class))
            }
            _ => Some(value),
        }
    }
}

/// `super()` in a method, whose first parameter is the object.
pub(crate) fn super_of(frame: &Frame, cell: Option<u32>) -> Result<Value> {
    let held = cell.and_then(|cell| frame.cells.get(cell as usize)).and_then(Cell::get);
    let class = held.as_ref().and_then(as_rc::<WeakClass>).and_then(|held| held.0.upgrade());
    let own_cell = frame.code.cells.iter().position(|(_, parameter)| *parameter == Some(0));
    let first = match own_cell {
        Some(cell) => frame.cells.get(cell).and_then(Cell::get),
        None => frame.locals.first().cloned().flatten(),
    };
    match (class, first.filter(|_| !frame.code.parameters.names.is_empty())) {
        (_, None) => Err(Error::runtime("super(): no arguments")),
        (None, _) => Err(Error::runtime("super(): __class__ cell not found")),
        (Some(after), Some(this)) => Ok(Value::Object(Rc::new(Super { after, this }))),
    }
}

/// Adds the items of an iterable to the list, set or dictionary below it on the stack.
pub(super) fn extend(machine: &Machine, frame: &mut Frame, op: Op) -> Result<()> {
    let source = frame.pop();
    let class = source.type_name();
    let called = |depth: usize| {
        let callee = frame.stack.len().checked_sub(depth).and_then(|at| frame.stack.get(at));
        callee.map_or_else(String::new, calls::shown_name)
    };
    match (frame.stack.last(), op) {
        (Some(Value::List(list)), _) => {
            let mut items = iterate(&machine.state, &source).map_err(|error| match op {
                _ if !is_not_iterable(&error) => error,
                Op::Spread => {
                    Error::type_error(format!("{} argument after * must be an iterable, not {class}", called(2)))
                }
                _ => Error::type_error(format!("Value after * must be an iterable, not {class}")),
            })?;
            while let Some(item) = items.next()? {
                interrupt::check()?;
                push(list, item)?;
            }
        }
        (Some(Value::Set(set)), _) => {
            let mut items = iterate(&machine.state, &source)?;
            while let Some(item) = items.next()? {
                interrupt::check()?;
                set.insert(item)?;
            }
        }
        (Some(Value::Dict(dict)), Op::Merge) => {
            let name = called(3);
            let Some(entries) = mapping(machine, &source)? else {
                bail!(TypeError, "{name} argument after ** must be a mapping, not {class}")
            };
            for (key, value) in entries {
                if !matches!(key, Value::Str(_)) {
                    bail!(TypeError, "keywords must be strings");
                }
                if dict.get(&key)?.is_some() {
                    let key = machine.state.str(&key)?;
                    bail!(TypeError, "{name} got multiple values for keyword argument '{key}'");
                }
                dict.insert(key, value)?;
            }
        }
        (Some(Value::Dict(dict)), _) => {
            let Some(entries) = mapping(machine, &source)? else {
                bail!(TypeError, "'{class}' object is not a mapping")
            };
            entries.into_iter().try_for_each(|(key, value)| dict.insert(key, value))?;
        }
        _ => {}
    }
    Ok(())
}

/// Returns the entries of a dictionary, or of an object that has `keys`.
fn mapping(machine: &Machine, source: &Value) -> Result<Option<Vec<(Value, Value)>>> {
    if let Some(entries) = source.entries() {
        return Ok(Some(entries));
    }
    let Some(instance) = instance_of(source) else { return Ok(None) };
    let Some(keys) = instance.method("keys", Vec::new()) else { return Ok(None) };
    let keys = iterate(&machine.state, &keys?)?.collect()?;
    let entries = keys.into_iter().map(|key| Ok((key.clone(), subscript::item(&machine.state, source, &key)?)));
    entries.collect::<Result<_>>().map(Some)
}

/// Returns the entries of a dictionary as keyword arguments.
pub(super) fn spread(named: &Value) -> Result<Keywords> {
    let keyword = |(key, value): (Value, Value)| match key {
        Value::Str(name) => Ok((name.to_rc(), value)),
        _ => Err(Error::type_error("keywords must be strings")),
    };
    named.entries().unwrap_or_default().into_iter().map(keyword).collect()
}

pub(super) fn joined(parts: &[Value]) -> Result<Value> {
    let texts = parts.iter().filter_map(|part| if let Value::Str(text) = part { Some(&**text) } else { None });
    limits::room(texts.clone().map(str::len).sum())?;
    Ok(Value::str(texts.collect::<String>()))
}

/// Returns the next item of an iterator, or its return value at the end.
pub(super) fn next_of(source: &Value) -> Result<Result<Value, Value>> {
    if let Some(generator) = as_rc::<Generator>(source) {
        return generator.resume();
    }
    Ok(next_item(source)?.ok_or(Value::None))
}

/// Shows the value of an expression that `exec` runs as a prompt does: by `sys.displayhook`.
pub(super) fn display(machine: &Machine, value: &Value) -> Result<()> {
    if let Some(hook) = machine.state.flag("sys.displayhook") {
        return calls::call(machine, &hook, vec![value.clone()], Keywords::new()).map(drop);
    }
    if matches!(value, Value::None) {
        return Ok(());
    }
    let text = Value::str(machine.state.repr(value)?);
    calls::builtin_function(machine, "print", vec![text]).map(drop)
}

/// Returns the iterator that `await` runs.
pub(super) fn awaitable(machine: &Machine, awaited: &Value) -> Result<Value> {
    if as_rc::<Generator>(awaited).is_some_and(|generator| generator.class_name() == "coroutine") {
        return Ok(awaited.clone());
    }
    match instance_of(awaited).and_then(|instance| instance.method("__await__", Vec::new())) {
        Some(iterator) => calls::builtin_function(machine, "iter", vec![iterator?]),
        None => bail!(TypeError, "object {} can't be used in 'await' expression", awaited.type_name()),
    }
}

/// Unpacks `value` into `count` items and pushes them, the first one on top.
pub(super) fn unpack(machine: &Machine, frame: &mut Frame, value: &Value, count: usize) -> Result<()> {
    if let Value::Tuple(items) = value
        && items.len() == count
    {
        frame.stack.extend(items.iter().rev().cloned());
        return Ok(());
    }
    let mut items = unpacked(machine, value)?;
    let mut taken = limits::list(count)?;
    while taken.len() < count {
        match items.next()? {
            Some(item) => taken.push(item),
            None => bail!(ValueError, "not enough values to unpack (expected {count}, got {})", taken.len()),
        }
    }
    if items.next()?.is_some() {
        bail!(ValueError, "too many values to unpack (expected {count})");
    }
    frame.stack.extend(taken.into_iter().rev());
    Ok(())
}

fn unpacked(machine: &Machine, value: &Value) -> Result<objects::iterate::Iter> {
    iterate(&machine.state, value).map_err(|error| match (&error.kind, value) {
        (ErrorKind::TypeError, Value::Tensor(_)) => error,
        (ErrorKind::TypeError, _) if error.message.ends_with("is not iterable") => {
            Error::type_error(format!("cannot unpack non-iterable {} object", value.type_name()))
        }
        _ => error,
    })
}

pub(crate) fn unpack_starred(
    machine: &Machine,
    frame: &mut Frame,
    value: &Value,
    before: usize,
    after: usize,
) -> Result<()> {
    let mut items = unpacked(machine, value)?.collect()?;
    let least = before + after;
    if items.len() < least {
        bail!(ValueError, "not enough values to unpack (expected at least {least}, got {})", items.len());
    }
    let behind = items.split_off(items.len() - after);
    let middle = items.split_off(before);
    frame.stack.extend(behind.into_iter().rev());
    frame.push(Value::List(middle.into()));
    frame.stack.extend(items.into_iter().rev());
    Ok(())
}

/// Enters a context, and returns the result of `__enter__`.
pub(super) fn enter(machine: &Machine, context: &Value) -> Result<Value> {
    let Some(instance) = instance_of(context) else { return enter_context(&machine.state, context) };
    let refused = || {
        let class = context.type_name();
        Error::type_error(format!("'{class}' object does not support the context manager protocol"))
    };
    if instance.class.find("__exit__").is_none() {
        return Err(refused());
    }
    instance.method("__enter__", Vec::new()).unwrap_or_else(|| Err(refused()))
}

/// Leaves a context, with an exception if there is one. Returns whether the context suppresses the exception.
pub(super) fn leave(machine: &Machine, context: &Value, exception: Option<Rc<Instance>>) -> Result<bool> {
    let Some(instance) = instance_of(context) else {
        exit_context(&machine.state, context)?;
        return Ok(false);
    };
    let args = match exception {
        None => vec![Value::None; 3],
        Some(exception) => vec![exception.class.value(), Value::Object(exception), Value::None],
    };
    instance.method("__exit__", args).map_or(Ok(false), |answer| truth(&answer?))
}

/// Leaves a builtin context while the script is being stopped.
pub(crate) fn leave_natively(machine: &Machine, context: &Value) {
    if instance_of(context).is_none() {
        // Errors are ignored here, like in CPython.
        let _ = exit_context(&machine.state, context);
    }
}
