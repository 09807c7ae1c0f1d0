//! Calls of values: functions of the table, methods, classes and callable objects. Functions of a script are opaque
//! here: they run through [`Object::call`].

use crate::contexts;
use crate::legacy_classes::{kind_of_class, refuse_elsewhere};
use crate::plain::exceptions;
use call::bind::Arguments;
use call::dispatch;
use call::registry::{Family, Overloads};
use call::signature::Kind;
use call::{Keywords, Receiver, State, stack, suggest};
use std::rc::Rc;
use tensor::{Error, Result};
use value::{Object, Value};

/// The signature of a Rust function that a script can call.
pub type Native = dyn Fn(Vec<Value>, Keywords) -> Result<Value>;

/// A callable object that wraps a [`Native`] function.
pub struct NativeFunction {
    name: Rc<str>,
    run: Rc<Native>,
    /// The decorated function, which gives this one its name.
    wrapped: Option<Value>,
    /// The object whose method it is.
    this: Option<Value>,
}

impl NativeFunction {
    /// Wraps a closure as a callable value.
    pub fn value(name: &str, run: impl Fn(Vec<Value>, Keywords) -> Result<Value> + 'static) -> Value {
        Value::Object(Rc::new(NativeFunction { name: name.into(), run: Rc::new(run), wrapped: None, this: None }))
    }

    /// Wraps a closure as a method of an object.
    pub fn method(name: &str, this: &Value, run: impl Fn(Vec<Value>, Keywords) -> Result<Value> + 'static) -> Value {
        let this = Some(this.clone());
        Value::Object(Rc::new(NativeFunction { name: name.into(), run: Rc::new(run), wrapped: None, this }))
    }

    /// Wraps a closure that decorates `wrapped` and takes over its name.
    pub fn around(wrapped: &Value, run: impl Fn(Vec<Value>, Keywords) -> Result<Value> + 'static) -> Value {
        let name = name_of(wrapped).unwrap_or_else(|| "wrapper".into());
        Value::Object(Rc::new(NativeFunction { name, run: Rc::new(run), wrapped: Some(wrapped.clone()), this: None }))
    }
}

impl Object for NativeFunction {
    fn class_name(&self) -> &'static str {
        if self.wrapped.is_some() { "function" } else { "builtin_function_or_method" }
    }
    fn repr(&self) -> String {
        let address = std::ptr::from_ref(self).cast::<()>() as usize;
        match (&self.wrapped, &self.this) {
            (Some(_), _) => format!("<function {} at {address:#x}>", self.name),
            (None, Some(this)) => format!("<built-in method {} of {} object>", self.name, this.type_name()),
            (None, None) => format!("<built-in function {}>", self.name),
        }
    }
    fn attribute(&self, name: &str) -> Option<Value> {
        match (name, &self.wrapped) {
            ("__name__" | "__qualname__", _) => Some(Value::Str(self.name.clone().into())),
            ("__self__", _) => self.this.clone(),
            ("__wrapped__", Some(wrapped)) => Some(wrapped.clone()),
            ("__doc__" | "__module__" | "__code__" | "__annotations__", Some(Value::Object(wrapped))) => {
                match wrapped.own_attribute(name) {
                    Some(found) => found.ok(),
                    None => wrapped.attribute(name),
                }
            }
            ("__doc__", _) => Some(Value::None),
            _ => None,
        }
    }
    fn is_callable(&self) -> bool {
        true
    }
    fn call(&self, args: Vec<Value>, keywords: Keywords) -> Option<Result<Value>> {
        Some((self.run)(args, keywords))
    }
}

/// Returns the name of a function, method or class; `None` for other values.
pub fn name_of(function: &Value) -> Option<Rc<str>> {
    match function {
        Value::Object(object) => match object.own_attribute("__name__") {
            Some(Ok(Value::Str(name))) => Some(name.to_rc()),
            Some(_) => None,
            None => match object.attribute("__name__") {
                Some(Value::Str(name)) => Some(name.to_rc()),
                _ => None,
            },
        },
        Value::Function(path) => Some(path.rsplit('.').next().unwrap_or(path).into()),
        Value::Method(method) => Some(method.name.into()),
        Value::Type(class) => Some(class.rsplit('.').next().unwrap_or(class).into()),
        _ => None,
    }
}

/// Returns an attribute of a function of the table, such as `__name__` or `__doc__`.
pub(crate) fn function_attribute(state: &State, path: &str, name: &str) -> Option<Value> {
    let (module, short) = path.rsplit_once('.').unwrap_or(("", path));
    Some(match name {
        "__name__" | "__qualname__" => Value::str(short),
        "__module__" if module == "py" => Value::str("builtins"),
        "__module__" if module.is_empty() => Value::None,
        "__module__" => Value::str(module),
        "__doc__" => {
            let overloads = of_module(state.registry.family(short)?, module)?;
            Value::str(overloads.functions.first()?.row.doc)
        }
        "from_iterable" if path == "itertools.chain" => Value::Function("itertools.chain_from_iterable".into()),
        _ => return None,
    })
}

/// Returns whether a value can be called, like Python's `callable`.
pub fn is_callable(value: &Value) -> bool {
    match value {
        Value::Function(_) | Value::Method(_) | Value::Type(_) => true,
        Value::Object(object) => object.is_callable(),
        _ => false,
    }
}

fn not_callable(value: &Value) -> Error {
    Error::type_error(format!("'{}' object is not callable", value.type_name()))
}

/// Calls a value without keyword arguments.
///
/// # Errors
/// Those of [`call_value`].
pub fn call_plain(state: &State, callee: &Value, args: Vec<Value>) -> Result<Value> {
    call_value(state, callee, args, Keywords::new())
}

/// `callee(*args, **keywords)`, for any callee.
///
/// # Errors
/// Errors of the callee; TypeError if it is not callable; RecursionError if calls are nested too deeply.
pub fn call_value(state: &State, callee: &Value, args: Vec<Value>, keywords: Keywords) -> Result<Value> {
    match callee {
        Value::Object(object) => {
            stack::check()?;
            if contexts::is_context(callee)
                && let [function] = args.as_slice()
                && keywords.is_empty()
                && is_callable(function)
            {
                return within(state, callee, function);
            }
            // Dimension names apply inside the object, even if the caller has suspended them.
            let nameless = state.nameless.replace(false);
            let result = object.call(args, keywords);
            state.nameless.set(nameless);
            result.unwrap_or_else(|| Err(not_callable(callee)))
        }
        Value::Function(path) => {
            let (module, name) = path.rsplit_once('.').unwrap_or(("", path));
            let module = if module == "torch" { "" } else { module };
            match state.registry.family(name).and_then(|family| of_module(family, module)) {
                Some(overloads) => dispatched(state, overloads, None, args, keywords),
                None => Err(suggest::no_attribute(state, &Value::Module("torch"), name)),
            }
        }
        Value::Method(method) => match &method.of {
            class @ Value::Type(_) => call_method(state, class, method.name, args, keywords),
            receiver => call_method(state, receiver, method.name, args, keywords),
        },
        Value::Type(class) => construct(state, class, args, keywords),
        other => Err(not_callable(other)),
    }
}

/// Returns the overloads of a family in a module. Static methods are found under the name of their class.
fn of_module<'f>(family: &'f Family, module: &str) -> Option<&'f Overloads> {
    let is_it = |receiver: &Receiver| matches!(receiver, Receiver::Module(known) if *known == module);
    family.members().find(|(receiver, _)| is_it(receiver)).map(|(_, overloads)| overloads)
}

fn dispatched(
    state: &State,
    overloads: &Overloads,
    receiver: Option<&Value>,
    args: Vec<Value>,
    keywords: Keywords,
) -> Result<Value> {
    dispatch::call(state, overloads, receiver, &Arguments { positional: args.into(), keywords })
}

/// Creates an instance of a class of the table.
fn construct(state: &State, class: &'static str, args: Vec<Value>, keywords: Keywords) -> Result<Value> {
    let maker = state.maker.borrow().clone();
    if let Some(made) = maker.and_then(|maker| maker(class, &args, &keywords)) {
        return made;
    }
    if let Some(made) = (state.registry.outside.construct)(state, class, &args, &keywords) {
        return made;
    }
    let (path, name) = class.rsplit_once('.').unwrap_or(("", class));
    let inner = path.strip_prefix("torch").map_or(path, |inner| inner.trim_start_matches('.'));
    let family = state.registry.family(name).filter(|_| !exceptions::is_class(class));
    let overloads = family.and_then(|family| {
        // A class is registered in its own module, in `torch`, or as a builtin.
        let first = if path.is_empty() { "py" } else { inner };
        let places = [first, if class.contains("torch") { "" } else { "py" }];
        let found = places.into_iter().find_map(|module| of_module(family, module));
        // `torch.nn.parameter.Parameter` is `torch.nn.Parameter` in the table.
        found.or_else(|| {
            let outer = inner.rsplit_once('.').map_or("", |(outer, _)| outer);
            of_module(family, outer)
        })
    });
    match overloads {
        Some(overloads) => dispatched(state, overloads, None, args, keywords),
        None => Err(Error::type_error(format!("cannot create '{class}' instances"))),
    }
}

/// `receiver.name(*args, **keywords)` for a method of the table. If `receiver` is a class, the first argument of an
/// instance method is the instance.
///
/// # Errors
/// AttributeError if there is no such method; errors of the method.
pub fn call_method(
    state: &State,
    receiver: &Value,
    name: &str,
    mut args: Vec<Value>,
    keywords: Keywords,
) -> Result<Value> {
    if let Some(done) = (state.registry.methods.call)(state, receiver, name, &args, &keywords) {
        return done;
    }
    let missing = || suggest::no_attribute(state, receiver, name);
    let family = state.registry.family(name).ok_or_else(missing)?;
    if let Value::Type(class) = receiver {
        let short = class.rsplit('.').next().unwrap_or(class);
        if let Some(overloads) = of_module(family, short) {
            refuse_elsewhere(class, family.name)?;
            return dispatched(state, overloads, None, args, keywords);
        }
        // `torch.Tensor.view(x, 2)` passes the receiver explicitly.
        let method = kind_of_class(class).and_then(|kind| family.find(Receiver::Class(kind)));
        let overloads = method.ok_or_else(missing)?;
        if args.is_empty() {
            return Err(dispatch::unbound(overloads, None));
        }
        let this = args.remove(0);
        return match Kind::of(&this).and_then(|kind| family.find(Receiver::Class(kind))) {
            Some(overloads) => dispatched(state, overloads, Some(&this), args, keywords),
            None => Err(dispatch::unbound(overloads, Some(&this))),
        };
    }
    if let Some(overloads) = Kind::of(receiver).and_then(|kind| family.find(Receiver::Class(kind))) {
        return dispatched(state, overloads, Some(receiver), args, keywords);
    }
    // A class method called on an instance.
    let class = receiver.class_name().rsplit('.').next().unwrap_or_default();
    match of_module(family, class) {
        Some(overloads) => dispatched(state, overloads, None, args, keywords),
        None => Err(missing()),
    }
}

/// Returns a function that runs `function` within a context. A generator runs within it from each request to the next
/// `yield`.
fn within(state: &State, manager: &Value, function: &Value) -> Result<Value> {
    let renewed = match manager {
        Value::Object(object) => object.renewed(state),
        _ => None,
    };
    let is_generator = matches!(function, Value::Object(object) if object.is_generator_function());
    if let Some(renewed) = renewed.clone().filter(|_| is_generator) {
        return dispatch::call_internal(state, "_generator_within", &[renewed, function.clone()]);
    }
    let (state, manager, inner) = (state.handle(), manager.clone(), function.clone());
    Ok(NativeFunction::around(function, move |args, keywords| {
        let manager = match &renewed {
            Some(renewed) => call_plain(&state, renewed, Vec::new())?,
            None => manager.clone(),
        };
        contexts::enter_context(&state, &manager)?;
        let result = call_value(&state, &inner, args, keywords);
        contexts::exit_context(&state, &manager)?;
        result
    }))
}
