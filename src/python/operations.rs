//! What the instructions of the machine do beyond moving values: operators, attributes, subscripts, iteration, contexts,
//! imports. Whatever is not of Python alone is asked of the function table.

use super::class::{Base, Class, Entry, Instance, as_rc, instance_of};
use super::code::{Code, Comparison, Op, Quick};
use super::descriptors::{Bound, Super};
use super::exceptions;
use super::function::Cell;
use super::generator::Generator;
use super::machine::{Frame, Machine};
use super::{builtins, calls};
use crate::bail;
use crate::call::module_names::is_absent;
use crate::functions::calling::NativeFunction;
use crate::functions::iterate::{is_not_iterable, iterate};
use crate::functions::lazy::next_item;
use crate::functions::operators::{self, Operator};
use crate::functions::{container_methods, containers, enter_context, exit_context, subscript};
use crate::tensor::{Error, ErrorKind, Result, interrupt, limits};
use crate::value::equality::{is, truth};
use crate::value::{Dict, Keywords, List, Object, Value};
use std::any::Any;
use std::rc::{Rc, Weak};

/// The result for small integers and floats; `None` for anything else, and where a result is too large.
#[inline]
pub fn quickly(quick: Quick, a: &Value, b: &Value) -> Option<Value> {
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => Some(match quick {
            Quick::Plus => Value::Int(a.checked_add(*b)?),
            Quick::Minus => Value::Int(a.checked_sub(*b)?),
            Quick::Times => Value::Int(a.checked_mul(*b)?),
            Quick::Equal => Value::Bool(a == b),
            Quick::NotEqual => Value::Bool(a != b),
            Quick::Less => Value::Bool(a < b),
            Quick::LessOrEqual => Value::Bool(a <= b),
            Quick::Greater => Value::Bool(a > b),
            Quick::GreaterOrEqual => Value::Bool(a >= b),
            Quick::Other => return None,
        }),
        (Value::Float(a), Value::Float(b)) => Some(match quick {
            Quick::Plus => Value::Float(a + b),
            Quick::Minus => Value::Float(a - b),
            Quick::Times => Value::Float(a * b),
            Quick::Equal => Value::Bool(a == b),
            Quick::NotEqual => Value::Bool(a != b),
            Quick::Less => Value::Bool(a < b),
            Quick::LessOrEqual => Value::Bool(a <= b),
            Quick::Greater => Value::Bool(a > b),
            Quick::GreaterOrEqual => Value::Bool(a >= b),
            Quick::Other => return None,
        }),
        _ => None,
    }
}

#[inline]
pub fn is_true(value: &Value) -> Result<bool> {
    match value {
        Value::Bool(answer) => Ok(*answer),
        other => truth(other),
    }
}

pub fn binary(machine: &Machine, operator: &Operator, a: &Value, b: &Value) -> Result<Value> {
    operators::binary(&machine.state, operator, a, b)
}

pub fn compare(machine: &Machine, comparison: Comparison, a: &Value, b: &Value) -> Result<Value> {
    Ok(Value::Bool(match comparison {
        Comparison::Operator(quick, operator) => {
            return match quickly(quick, a, b) {
                Some(value) => Ok(value),
                None => binary(machine, operator, a, b),
            };
        }
        Comparison::Is => is(a, b),
        Comparison::IsNot => !is(a, b),
        Comparison::In => containers::contains(&machine.state, b, a)?,
        Comparison::NotIn => !containers::contains(&machine.state, b, a)?,
    }))
}

/// `object.name`
pub fn attribute(machine: &Machine, object: &Value, name: &str) -> Result<Value> {
    if let Some(method) = container_methods::method(object, name) {
        return Ok(method);
    }
    match (object, name) {
        (Value::Object(_), "__next__" | "__iter__" | "close" | "send" | "throw")
            if let Some(generator) = as_rc::<Generator>(object) =>
        {
            let called = name.to_owned();
            Ok(NativeFunction::value(name, move |args, _| generator.method(&called, &args).unwrap_or(Ok(Value::None))))
        }
        (Value::Object(this), "__next__" | "__iter__") if this.is_iterator() && instance_of(object).is_none() => {
            let (machine, this, called) = (machine.handle()?, object.clone(), name.trim_matches('_').to_owned());
            Ok(NativeFunction::value(name, move |_, _| calls::builtin_function(&machine, &called, vec![this.clone()])))
        }
        (Value::Type(class), _) => match builtin_member(class, name) {
            Some(member) => Ok(member),
            None => subscript::attribute(&machine.state, object, name),
        },
        (Value::Object(_) | Value::Module(_), _) => subscript::attribute(&machine.state, object, name),
        (_, "__class__") => calls::builtin_function(machine, "type", vec![object.clone()]),
        _ => subscript::attribute(&machine.state, object, name),
    }
}

/// What a class that is there from the start has under a name because of what it is derived from.
fn builtin_member(class: &'static str, name: &str) -> Option<Value> {
    let base = Base::Builtin(class);
    let classes = |classes: &[Base]| Value::tuple(classes.iter().map(Base::value));
    match name {
        "__mro__" => Some(classes(&base.ancestors())),
        "__bases__" => Some(classes(base.ancestors().get(1..2).unwrap_or_default())),
        "__base__" => Some(base.ancestors().get(1).map_or(Value::None, Base::value)),
        _ => match base.find(name)? {
            Entry::Native(method) if !method.of_class() => Some(Bound::native(method, None)),
            _ => None,
        },
    }
}

/// `object[index]`
pub fn item(machine: &Machine, object: &Value, index: &Value) -> Result<Value> {
    match object {
        Value::List(list) => {
            if let Value::Int(at) = index {
                let items = list.borrow();
                let place = if *at < 0 { at.saturating_add(items.len() as i64) } else { *at };
                let found = usize::try_from(place).ok().and_then(|place| items.get(place));
                return found.cloned().ok_or_else(|| Error::index("list index out of range"));
            }
            subscript::item(&machine.state, object, index)
        }
        Value::Dict(dict) => dict.get(index)?.ok_or_else(|| exceptions::key_error(index)),
        Value::Object(this) => match this.special("__getitem__", std::slice::from_ref(index)) {
            Some(found) => found,
            None => subscript::item(&machine.state, object, index),
        },
        Value::Type(name) => {
            bail!(TypeError, "type '{}' is not subscriptable", name.rsplit('.').next().unwrap_or(name))
        }
        _ => subscript::item(&machine.state, object, index),
    }
}

pub fn set_item(machine: &Machine, object: &Value, index: &Value, value: Value) -> Result<()> {
    match object {
        Value::List(list) => containers::set_list_item(&machine.state, list, index, &value),
        Value::Dict(dict) => dict.insert(index.clone(), value),
        _ => subscript::set_item(&machine.state, object, index, &value),
    }
}

pub fn delete_item(machine: &Machine, object: &Value, index: &Value) -> Result<()> {
    match object {
        Value::Dict(dict) => dict.remove(index)?.map(drop).ok_or_else(|| exceptions::key_error(index)),
        _ => containers::delete_item(&machine.state, object, index),
    }
}

/// Appends an item.
#[inline]
pub fn push(list: &List, item: Value) -> Result<()> {
    list.change(|items| {
        limits::grown_to::<Value>(items.len() + 1)?;
        items.push(item);
        Ok(())
    })?
}

/// A name of a variable that is not there.
pub fn load_missing(machine: &Machine, slot: u32) -> Result<Value> {
    let known = machine.variables.borrow().builtin(slot);
    let name = machine.variables.borrow().name(slot);
    let elsewhere = machine.elsewhere.borrow().clone();
    if let Some(value) = elsewhere.and_then(|elsewhere| elsewhere(&name)) {
        // From here on it is one of ours: what is changed in place has to be the same for all.
        machine.variables.borrow_mut().set(slot, Some(value.clone()));
        return Ok(value);
    }
    if let Some(value) = known {
        return Ok(value);
    }
    match builtins::find(machine, &name)? {
        Some(value) => {
            machine.variables.borrow_mut().set_builtin(slot, value.clone());
            Ok(value)
        }
        None => Err(not_defined(&name)),
    }
}

fn not_defined(name: &str) -> Error {
    if is_absent("py", name) {
        return Error::not_implemented(format!("{name} is not supported at this prompt"));
    }
    Error::new(ErrorKind::NameError, format!("name '{name}' is not defined"))
}

pub fn unbound_local(code: &Code, slot: u32) -> Error {
    unbound(code.locals.get(slot as usize).map_or("?", |name| name))
}

fn unbound(name: &str) -> Error {
    let message = format!("cannot access local variable '{name}' where it is not associated with a value");
    Error::new(ErrorKind::Other("UnboundLocalError"), message)
}

pub fn unbound_cell(code: &Code, cell: u32) -> Error {
    let name = code.cell_name(cell as usize);
    if (cell as usize) < code.cells.len() {
        return unbound(name);
    }
    let message =
        format!("cannot access free variable '{name}' where it is not associated with a value in enclosing scope");
    Error::new(ErrorKind::NameError, message)
}

/// Names of class bodies, and names that are deleted.
pub fn rare_name(machine: &Machine, frame: &mut Frame, op: Op) -> Result<()> {
    let code = frame.code.clone();
    let name_at = |at: u32| code.names.get(at as usize).map_or("", |name| &*name.text);
    match op {
        Op::LoadName(name, slot) => {
            let own = frame.class.as_ref().and_then(|class| class.fields.get(name_at(name)));
            let value = own.or_else(|| machine.variables.borrow().get(slot).cloned());
            let value = value.map_or_else(|| load_missing(machine, slot), Ok)?;
            frame.push(value);
        }
        Op::LoadNameOrCell(name, cell) => {
            let own = frame.class.as_ref().and_then(|class| class.fields.get(name_at(name)));
            let value = own.or_else(|| frame.cells.get(cell as usize).and_then(Cell::get));
            frame.push(value.ok_or_else(|| unbound_cell(&code, cell))?);
        }
        Op::StoreName(name) => {
            let value = frame.pop();
            if let Some(class) = &frame.class {
                class.fields.set(name_at(name), value);
            }
        }
        Op::DeleteName(name) => {
            let was = frame.class.as_ref().is_some_and(|class| class.fields.remove(name_at(name)));
            if !was {
                return Err(not_defined(name_at(name)));
            }
        }
        Op::DeleteLocal(slot) => match frame.locals.get_mut(slot as usize).and_then(Option::take) {
            Some(value) => drop(value),
            None => return Err(unbound_local(&code, slot)),
        },
        Op::DeleteCell(cell) => match frame.cells.get(cell as usize).and_then(|cell| cell.set(None)) {
            Some(value) => drop(value),
            None => return Err(unbound_cell(&code, cell)),
        },
        Op::DeleteGlobal(slot) => {
            let is_there = machine.variables.borrow().get(slot).is_some() || {
                let name = machine.variables.borrow().name(slot);
                let elsewhere = machine.elsewhere.borrow().clone();
                elsewhere.is_some_and(|elsewhere| elsewhere(&name).is_some())
            };
            let before = machine.variables.borrow_mut().set(slot, None);
            drop(before);
            if !is_there {
                return Err(not_defined(&machine.variables.borrow().name(slot)));
            }
        }
        Op::Annotate(name) => {
            let annotation = frame.pop();
            if let Some(class) = &frame.class {
                let known = match class.fields.get("__annotations__") {
                    Some(Value::Dict(known)) => known,
                    _ => Dict::default(),
                };
                known.insert(Value::str(name_at(name)), annotation)?;
                class.fields.set("__annotations__", Value::Dict(known));
            }
        }
        _ => {}
    }
    Ok(())
}

/// A cell on its way into a function.
pub struct PassedCell(Cell);

impl Object for PassedCell {
    fn class_name(&self) -> &'static str {
        "cell"
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl PassedCell {
    pub fn value(cell: Cell) -> Value {
        Value::Object(Rc::new(PassedCell(cell)))
    }

    pub fn of(value: &Value) -> Cell {
        as_rc::<PassedCell>(value).map_or_else(Cell::default, |passed| passed.0.clone())
    }
}

/// The class around a method, which does not keep it: the class keeps its methods.
pub struct WeakClass(Weak<Class>);

impl Object for WeakClass {
    fn class_name(&self) -> &'static str {
        "weakref"
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl WeakClass {
    pub fn value(class: &Rc<Class>) -> Value {
        Value::Object(Rc::new(WeakClass(Rc::downgrade(class))))
    }
}

/// `super()` of a method, whose first parameter is its object.
pub fn super_of(frame: &Frame, cell: Option<u32>) -> Result<Value> {
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

/// Takes the items of an iterable into the list, set or dictionary below it.
pub fn extend(machine: &Machine, frame: &mut Frame, op: Op) -> Result<()> {
    let source = frame.pop();
    match (op, frame.stack.last()) {
        (Op::Extend | Op::Spread, Some(Value::List(list))) => {
            let mut items = iterate(&machine.state, &source).map_err(|error| match op {
                _ if !is_not_iterable(&error) => error,
                Op::Spread => {
                    let called = frame.stack.len().checked_sub(2).and_then(|at| frame.stack.get(at));
                    let (name, class) = (called.map_or_else(String::new, calls::shown_name), source.type_name());
                    Error::type_error(format!("{name} argument after * must be an iterable, not {class}"))
                }
                _ => Error::type_error(format!("Value after * must be an iterable, not {}", source.type_name())),
            })?;
            while let Some(item) = items.next()? {
                interrupt::check()?;
                push(list, item)?;
            }
        }
        (Op::ExtendSet, Some(Value::Set(set))) => {
            let mut items = iterate(&machine.state, &source)?;
            while let Some(item) = items.next()? {
                interrupt::check()?;
                set.insert(item)?;
            }
        }
        (Op::Update, Some(Value::Dict(dict))) => {
            let Some(entries) = mapping(machine, &source)? else {
                bail!(TypeError, "'{}' object is not a mapping", source.type_name())
            };
            entries.into_iter().try_for_each(|(key, value)| dict.insert(key, value))?;
        }
        (Op::Merge, Some(Value::Dict(dict))) => {
            let called = frame.stack.len().checked_sub(3).and_then(|at| frame.stack.get(at));
            let name = called.map_or_else(String::new, calls::shown_name);
            let Some(entries) = mapping(machine, &source)? else {
                let class = source.type_name();
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
        _ => {}
    }
    Ok(())
}

/// The entries of a dictionary, or of an object that has `keys`.
fn mapping(machine: &Machine, source: &Value) -> Result<Option<Vec<(Value, Value)>>> {
    if let Some(entries) = source.entries() {
        return Ok(Some(entries));
    }
    let Some(instance) = instance_of(source) else { return Ok(None) };
    let Some(keys) = instance.method("keys", Vec::new(), Keywords::new()) else { return Ok(None) };
    let keys = iterate(&machine.state, &keys?)?.collect()?;
    let entries = keys.into_iter().map(|key| Ok((key.clone(), item(machine, source, &key)?)));
    entries.collect::<Result<_>>().map(Some)
}

/// The keyword arguments in a dictionary.
pub fn spread(named: &Value) -> Result<Keywords> {
    let keyword = |(key, value): (Value, Value)| match key {
        Value::Str(name) => Ok((name.to_rc(), value)),
        _ => Err(Error::type_error("keywords must be strings")),
    };
    named.entries().unwrap_or_default().into_iter().map(keyword).collect()
}

/// Checks that a text may grow. With the room that it keeps, it takes up to twice its length.
pub fn room_to_grow(text: &str, more: &str) -> Result<()> {
    limits::grown_to::<u8>(text.len().saturating_add(more.len()))
}

pub fn joined(parts: &[Value]) -> Result<Value> {
    let texts = parts.iter().filter_map(|part| if let Value::Str(text) = part { Some(&**text) } else { None });
    limits::room(texts.clone().map(str::len).sum())?;
    Ok(Value::str(texts.collect::<String>()))
}

/// `iter(iterable)`, for a generator expression: what is iterated over is settled when it is made.
pub fn iterator(machine: &Machine, iterable: Value) -> Result<Value> {
    calls::builtin_function(machine, "iter", vec![iterable])
}

/// The next item of an iterator; at its end what it returned.
pub fn next_of(source: &Value) -> Result<Result<Value, Value>> {
    if let Some(generator) = as_rc::<Generator>(source) {
        return generator.resume();
    }
    Ok(next_item(source)?.ok_or(Value::None))
}

/// Pushes so many items, the first one on top.
pub fn unpack(machine: &Machine, frame: &mut Frame, value: &Value, count: usize) -> Result<()> {
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

fn unpacked(machine: &Machine, value: &Value) -> Result<crate::functions::iterate::Iter> {
    iterate(&machine.state, value).map_err(|error| match (&error.kind, value) {
        (ErrorKind::TypeError, Value::Tensor(_)) => error,
        (ErrorKind::TypeError, _) if error.message.ends_with("is not iterable") => {
            Error::type_error(format!("cannot unpack non-iterable {} object", value.type_name()))
        }
        _ => error,
    })
}

pub fn unpack_starred(machine: &Machine, frame: &mut Frame, value: &Value, before: usize, after: usize) -> Result<()> {
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

/// Enters a context, and returns what it gives.
pub fn enter(machine: &Machine, context: &Value) -> Result<Value> {
    let Some(instance) = instance_of(context) else { return enter_context(&machine.state, context) };
    let refused = || {
        let class = context.type_name();
        Error::type_error(format!("'{class}' object does not support the context manager protocol"))
    };
    if instance.class.find("__exit__").is_none() {
        return Err(refused());
    }
    instance.method("__enter__", Vec::new(), Keywords::new()).unwrap_or_else(|| Err(refused()))
}

/// Leaves a context, perhaps by an exception; returns whether that is settled.
pub fn leave(machine: &Machine, context: &Value, exception: Option<Rc<Instance>>) -> Result<bool> {
    let Some(instance) = instance_of(context) else {
        exit_context(&machine.state, context)?;
        return Ok(false);
    };
    let args = match exception {
        None => vec![Value::None; 3],
        Some(exception) => vec![exception.class.value(), Value::Object(exception), Value::None],
    };
    instance.method("__exit__", args, Keywords::new()).map_or(Ok(false), |answer| truth(&answer?))
}

/// Leaves a context of ours while the script is being stopped.
pub fn leave_natively(machine: &Machine, context: &Value) {
    if instance_of(context).is_none() {
        // What goes wrong now is heard by nobody.
        let _ = exit_context(&machine.state, context);
    }
}

/// `import path`: the first module of the path, or its last.
pub fn import(machine: &Machine, path: &Value, leaf: bool) -> Result<Value> {
    let found = calls::builtin_function(machine, "import_", vec![path.clone()])?;
    match path {
        Value::Str(path) if !leaf && path.starts_with("torch.") => Ok(Value::Module("torch")),
        _ => Ok(found),
    }
}

pub fn import_from(machine: &Machine, path: &Value, name: &str) -> Result<Value> {
    calls::builtin_function(machine, "import_from", vec![path.clone(), Value::str(name)])
}
