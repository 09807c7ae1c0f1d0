//! Creates the classes of a script and their objects.

use super::calls::call;
use super::class::{Base, Class, Entry, Instance, as_rc, call_entry, class_attribute, instance_of};
use super::descriptors::{self, ClassMethod, StaticMethod, Super, is_function};
use super::exceptions;
use super::frame::Frame;
use super::function::Function;
use super::machine::Machine;
use super::operations;
use objects::plain::type_forms;
use objects::subscript;
use std::rc::{Rc, Weak};
use tensor::{Error, Result, bail};
use value::{Dict, Keywords, Value};

/// Begins a class.
///
/// # Errors
/// Fails with TypeError or NotImplementedError for bases that cannot be derived from.
fn begin(machine: &Rc<Machine>, module: &str, name: &str, bases: &[Value], meta: Base) -> Result<Rc<Class>> {
    let class = Class::new(machine, module, name, bases_of(bases)?, meta)?;
    class.fields.set("__module__", Value::str(module));
    Ok(class)
}

fn bases_of(bases: &[Value]) -> Result<Vec<Base>> {
    let base = |base: &Value| {
        Base::of(base).ok_or_else(|| {
            let class = base.type_name();
            Error::not_implemented(format!("classes derived from a {class} are not supported at this prompt"))
        })
    };
    bases.iter().map(base).collect()
}

/// Returns the metaclass that derives from that of a statement and from those of all bases.
fn most_derived(given: Base, bases: &[Value]) -> Result<Base> {
    let mut most = given;
    for base in bases_of(bases)? {
        let meta = match base {
            Base::User(class) => class.meta.clone(),
            Base::Builtin(_) => Base::Builtin("type"),
        };
        if meta.derives(&most) {
            most = meta;
        } else if !most.derives(&meta) {
            bail!(
                TypeError,
                "metaclass conflict: the metaclass of a derived class must be a (non-strict) subclass of the metaclasses of \
                 all its bases"
            )
        }
    }
    Ok(most)
}

/// Replaces what is no class among the bases of a class statement by what its `__mro_entries__` returns.
fn resolved_bases(machine: &Machine, given: &[Value]) -> Result<Vec<Value>> {
    let mut bases = Vec::new();
    for base in given {
        let entries = match (Base::of(base), base) {
            (None, Value::Object(object)) => match object.own_attribute("__mro_entries__") {
                Some(Ok(entries)) => Some(entries),
                _ => None,
            },
            (None, Value::Function(_)) => objects::members::attribute(&machine.state, base, "__mro_entries__").ok(),
            _ => None,
        };
        match entries {
            Some(entries) => {
                let made = call(machine, &entries, vec![Value::tuple(given.to_vec())], Keywords::new())?;
                let Value::Tuple(made) = made else { bail!(TypeError, "__mro_entries__ must return a tuple") };
                bases.extend(made.iter().cloned());
            }
            None => bases.push(base.clone()),
        }
    }
    Ok(bases)
}

/// Returns `__orig_bases__`, if the bases are not those that were written.
fn original(given: &[Value], bases: &[Value]) -> Option<Value> {
    let is_same = given.len() == bases.len() && given.iter().zip(bases).all(|(a, b)| value::equality::is(a, b));
    (!is_same).then(|| Value::tuple(given.to_vec()))
}

/// Creates the class of a class statement. Runs the body, whose names become the members.
pub fn class(machine: &Machine, function: &Value, bases: &Value, named: &Value) -> Result<Value> {
    let Some(function) = as_rc::<Function>(function) else { return Ok(Value::None) };
    let given_bases = bases.sequence().unwrap_or_default();
    let bases = resolved_bases(machine, &given_bases)?;
    let code = function.code()?;
    let mut keywords = operations::spread(named)?;
    let given = keywords.iter().position(|(name, _)| &**name == "metaclass").map(|at| keywords.remove(at).1);
    let own_cell = code.cells.iter().position(|(name, _)| &**name == "__class__");
    let meta = match given.as_ref().map(Base::of) {
        None => most_derived(Base::Builtin("type"), &bases)?.value(),
        Some(Some(given)) if given.derives_builtin("type") => most_derived(given, &bases)?.value(),
        // Any function may make a class.
        Some(_) => given.unwrap_or(Value::None),
    };
    if matches!(meta, Value::Type("type")) {
        let handle = machine.handle()?;
        let qualified = &code.qualified;
        let class = begin(&handle, &machine.module_name(), qualified, &bases, Base::Builtin("type"))?;
        if let Some(doc) = &code.doc {
            class.fields.set("__doc__", Value::str(doc));
        }
        let mut frame = Frame::new(code.clone(), Vec::new(), &function.cells);
        if let Some(bases) = original(&given_bases, &bases) {
            class.fields.set("__orig_bases__", bases);
        }
        frame.namespace = Some(class.fields.dict());
        if let Some(cell) = own_cell.and_then(|at| frame.cells.get(at)) {
            cell.set(Some(operations::WeakClass::value(&class)));
        }
        machine.run(&mut frame)?;
        finish(&class, keywords)?;
        return Ok(Value::Object(class));
    }
    let original = original(&given_bases, &bases);
    let (name, bases) = (Value::str(&code.name), Value::tuple(bases));
    let namespace = match as_rc::<Class>(&meta).map(|meta| class_attribute(&meta, "__prepare__")).transpose()?.flatten()
    {
        Some(prepare) => call(machine, &prepare, vec![name.clone(), bases.clone()], keywords.clone())?,
        None => Value::Dict(Dict::default()),
    };
    let prepared = namespace.underlying().map(|_| namespace.clone());
    let Value::Dict(names) = namespace.underlying().unwrap_or_else(|| namespace.clone()) else {
        let of = Base::of(&meta).map_or("<metaclass>", |meta| meta.name());
        bail!(TypeError, "{of}.__prepare__() must return a mapping, not {}", namespace.type_name())
    };
    let mut first =
        vec![("__module__", Value::Str(machine.module_name().into())), ("__qualname__", Value::str(&code.qualified))];
    first.extend(code.doc.as_ref().map(|doc| ("__doc__", Value::str(doc))));
    for (name, value) in first {
        subscript::set_item(&machine.state, &namespace, &Value::str(name), &value)?;
    }
    let mut frame = Frame::new(code.clone(), Vec::new(), &function.cells);
    frame.namespace = Some(names);
    frame.prepared = prepared;
    machine.run(&mut frame)?;
    if let Some(bases) = original {
        subscript::set_item(&machine.state, &namespace, &Value::str("__orig_bases__"), &bases)?;
    }
    let made = call(machine, &meta, vec![name, bases, namespace], keywords)?;
    if let (Some(class), Some(cell)) = (as_rc::<Class>(&made), own_cell.and_then(|at| frame.cells.get(at))) {
        cell.set(Some(operations::WeakClass::value(&class)));
    }
    Ok(made)
}

/// `type.__new__(meta, name, bases, members)` with a metaclass of a script.
///
/// # Errors
/// Those of [`of_members`].
pub(super) fn new_class(meta: &Base, args: &[Value], keywords: &Keywords) -> Result<Value> {
    match meta {
        Base::User(class) if meta.derives_builtin("type") => {
            of_members(&class.machine()?, args, keywords, meta.clone())
        }
        _ => bail!(TypeError, "type.__new__({0}): {0} is not a subtype of type", meta.name()),
    }
}

/// `type(name, bases, members)`
///
/// # Errors
/// Fails with TypeError for arguments of other types, and with the errors of [`begin`] and [`finish`].
fn of_members(machine: &Rc<Machine>, args: &[Value], keywords: &Keywords, meta: Base) -> Result<Value> {
    let given = args;
    let wrong = |place: usize, wanted: &str| {
        let given = given.get(place - 1).map_or("NoneType", Value::type_name);
        Err(Error::type_error(format!("type.__new__() argument {place} must be {wanted}, not {given}")))
    };
    let mut args = args.to_vec();
    if let Some(members) = args.get_mut(2)
        && let Some(held) = members.underlying()
    {
        *members = held;
    }
    let (name, bases, members) = match args.as_slice() {
        [Value::Str(name), Value::Tuple(bases), Value::Dict(members)] => (name, bases, members),
        [Value::Str(_), Value::Tuple(_), _] => return wrong(3, "dict"),
        [Value::Str(_), ..] => return wrong(2, "tuple"),
        _ => return wrong(1, "str"),
    };
    let meta = most_derived(meta, bases)?;
    let text = |name: &str| match members.get_str(name) {
        Some(Value::Str(text)) => Some(text.to_rc()),
        _ => None,
    };
    let module = text("__module__").unwrap_or_else(|| machine.module_name());
    let qualified = text("__qualname__").unwrap_or_else(|| name.to_rc());
    let class = begin(machine, &module, &qualified, bases, meta)?;
    for (name, value) in members.to_vec() {
        if let Value::Str(name) = name
            && !matches!(&*name, "__module__" | "__qualname__")
        {
            class.fields.set(&name, value);
        }
    }
    finish(&class, keywords.clone())?;
    Ok(Value::Object(class))
}

/// Completes a class after its body has run, like Python.
fn finish(class: &Rc<Class>, keywords: Keywords) -> Result<()> {
    let itself = Value::Object(class.clone());
    if class.fields.get("__doc__").is_none() {
        class.fields.set("__doc__", Value::None);
    }
    // A class that defines `__eq__` without `__hash__` is unhashable.
    if class.fields.get("__eq__").is_some() && class.fields.get("__hash__").is_none() {
        class.fields.set("__hash__", Value::None);
    }
    for name in ["__init_subclass__", "__class_getitem__"] {
        if let Some(function) = class.fields.get(name).filter(is_function) {
            class.fields.set(name, Value::Object(Rc::new(ClassMethod(function))));
        }
    }
    class.settle();
    for name in class.fields.names() {
        if let Some(descriptor) = class.fields.get(&name).as_ref().and_then(instance_of)
            && let Some(done) = descriptor.method("__set_name__", vec![itself.clone(), Value::str(&name)])
        {
            done?;
        }
    }
    let above = Super { after: class.clone(), this: itself }.lookup("__init_subclass__")?;
    call(&*class.machine()?, &above, Vec::new(), keywords).map(drop)
}

fn text_of(value: &Value) -> Option<&str> {
    if let Value::Str(text) = value { Some(text) } else { None }
}

/// Creates an object of a class.
///
/// # Errors
/// Fails with the errors of `__new__` and `__init__`, and with TypeError for surplus arguments.
pub fn construct(class: &Rc<Class>, args: Vec<Value>, keywords: Keywords) -> Result<Value> {
    let base = Base::User(class.clone());
    if base.derives_builtin("torch.Tensor") {
        bail!(NotImplementedError, "objects of classes derived from torch.Tensor are not supported at this prompt");
    }
    if let Base::User(_) = class.meta
        && let Some(missing) = class.fields.get("__abstractmethods__").and_then(|names| names.sequence())
        && !missing.is_empty()
    {
        let mut names: Vec<String> = missing.iter().filter_map(|name| Some(text_of(name)?.to_string())).collect();
        names.sort();
        let (plural, names) = (if names.len() == 1 { "" } else { "s" }, names.join(", "));
        bail!(TypeError, "Can't instantiate abstract class {} with abstract method{plural} {names}", class.name());
    }
    let makes_classes = base.derives_builtin("type");
    let has_new = matches!(base.find("__new__"), Some(Entry::ObjectState(_)));
    let made = match base.find("__new__") {
        Some(Entry::ObjectState(function)) => {
            let function = as_rc::<StaticMethod>(&function).map_or(function, |method| method.0.clone());
            let all = std::iter::once(base.value()).chain(args.iter().cloned()).collect();
            call(&*class.machine()?, &function, all, keywords.clone())?
        }
        _ if makes_classes => new_class(&base, &args, &keywords)?,
        _ if let Some(held) = class.holds => Base::new_held(class, held, args.clone(), keywords.clone())?,
        _ => Value::Object(Instance::new(base.clone())),
    };
    if makes_classes {
        // What `__new__` made is initialised if it is a class of this metaclass.
        if let Some(class) = as_rc::<Class>(&made).filter(|class| class.meta.derives(&base))
            && let Some(entry @ Entry::ObjectState(_)) = class.meta.find("__init__")
        {
            call_entry(&entry, &made, &class.meta, args, keywords)?;
        }
        return Ok(made);
    }
    let Some(instance) = instance_of(&made).filter(|instance| instance.class.derives(&base)) else { return Ok(made) };
    let class = instance.class.clone();
    if instance.is_exception() {
        exceptions::set_args(&instance, args.clone());
    }
    let is_given = !args.is_empty() || !keywords.is_empty();
    match class.find("__init__") {
        Some(entry @ Entry::ObjectState(_)) => match call_entry(&entry, &made, &class, args, keywords)? {
            Value::None => {}
            given => bail!(TypeError, "__init__() should return None, not '{}'", given.type_name()),
        },
        Some(Entry::Native(method)) if made.underlying().is_some() => {
            (method.run)(&made, args, keywords)?;
        }
        _ if is_given && !instance.is_exception() && !has_new => {
            bail!(TypeError, "{}() takes no arguments", class.name())
        }
        _ if instance.is_exception() && !keywords.is_empty() => {
            bail!(TypeError, "{}() takes no keyword arguments", class.name())
        }
        _ => {}
    }
    Ok(made)
}

/// Creates an object of a builtin class that only scripts instantiate: a class, an exception, or `object()`.
pub fn builtin(
    machine: &Weak<Machine>,
    class: &'static str,
    args: &[Value],
    keywords: &Keywords,
) -> Option<Result<Value>> {
    match class {
        "type" if args.len() == 3 => {
            // Bases may have another metaclass, which is then asked.
            let meta = args.get(1).and_then(Value::sequence).map(|bases| most_derived(Base::Builtin("type"), &bases));
            return Some(match meta {
                Some(Ok(Base::User(meta))) => construct(&meta, args.to_vec(), keywords.clone()),
                Some(Err(error)) => Err(error),
                _ => of_members(&machine.upgrade()?, args, keywords, Base::Builtin("type")),
            });
        }
        "types.GenericAlias" => {
            let [origin, parameters] = args else {
                let message = format!("GenericAlias expected 2 arguments, got {}", args.len());
                return Some(Err(Error::type_error(message)));
            };
            return Some(Ok(type_forms::alias(&machine.upgrade()?.state, origin.clone(), parameters.clone())));
        }
        "method" => {
            return Some(match args {
                [function, this] => Ok(Value::Object(Rc::new(descriptors::BoundMethod {
                    this: this.clone(),
                    function: function.clone(),
                }))),
                _ => Err(Error::type_error(format!("method expected 2 arguments, got {}", args.len()))),
            });
        }
        "module" => return Some(machine.upgrade()?.new_module(args, keywords)),
        "mappingproxy" => return Some(machine.upgrade()?.proxy(args, keywords)),
        "property" | "staticmethod" | "classmethod" | "super" => {
            return Some(descriptors::construct(class, args, keywords));
        }
        _ => {}
    }
    if !exceptions::is_class(class) && class != "object" {
        return None;
    }
    if !keywords.is_empty() {
        let name = Base::Builtin(class).name();
        return Some(Err(Error::type_error(format!("{name}() takes no keyword arguments"))));
    }
    Some(Ok(Value::Object(match class {
        "object" if !args.is_empty() => return Some(Err(Error::type_error("object() takes no arguments"))),
        "object" => Instance::new(Base::Builtin(class)),
        class => exceptions::new(class, args.to_vec()),
    })))
}
