//! Script functions as values. The function table calls them back, for hooks on gradients and for functions that take
//! functions, and so does Python.

use super::fault;
use super::runtime::Runtime;
use super::values::{from_python, to_value};
use call::stack;
use objects::{calling, members};
use rhai::{Array, Dynamic, Engine, FnPtr, Identifier, Map, NativeCallContext, Position};
use std::cell::RefCell;
use std::rc::{Rc, Weak};
use tensor::{Error, ErrorKind, Result};
use value::{Keywords, Object, Value};

/// The maximum depth of scripts and the function table calling each other, as in Python. The engine's own count
/// restarts at each such call.
const MAX_DEPTH: usize = 1000;

/// A function of the script, or a closure.
pub struct ScriptFunction {
    pub pointer: FnPtr,
    home: EngineHandle,
}

impl ScriptFunction {
    /// The name of a function. All closures share one name.
    fn name(&self) -> &str {
        match self.pointer.fn_name() {
            name if name.starts_with("anon$") => "<lambda>",
            name => name,
        }
    }
}

impl Object for ScriptFunction {
    fn type_name(&self) -> &str {
        "function"
    }
    fn class_name(&self) -> &'static str {
        "function"
    }
    fn repr(&self) -> String {
        format!("<function {} at {:#x}>", self.name(), std::ptr::from_ref(self) as usize)
    }
    fn attribute(&self, name: &str) -> Option<Value> {
        matches!(name, "__name__" | "__qualname__").then(|| Value::str(self.name()))
    }
    fn is_callable(&self) -> bool {
        true
    }
    fn call(&self, args: Vec<Value>, keywords: Keywords) -> Option<Result<Value>> {
        Some(self.home.call(&self.pointer, args, keywords))
    }
}

/// A weak handle to the engine and its state, for calling script functions from Rust.
#[derive(Clone, Default)]
pub struct EngineHandle {
    engine: Weak<RefCell<Engine>>,
    runtime: Weak<Runtime>,
}

thread_local! {
    /// The engine that calls the functions of the session on this thread.
    static HERE: RefCell<EngineHandle> = RefCell::default();
}

impl EngineHandle {
    pub fn new(engine: &Rc<RefCell<Engine>>, runtime: &Rc<Runtime>) -> EngineHandle {
        EngineHandle { engine: Rc::downgrade(engine), runtime: Rc::downgrade(runtime) }
    }

    /// Makes this the engine that calls functions which become values from now on.
    pub fn settle(&self) {
        HERE.with_borrow_mut(|here| *here = self.clone());
    }

    fn call(&self, function: &FnPtr, args: Vec<Value>, keywords: Keywords) -> Result<Value> {
        let ended = || Error::runtime("the session of this function has ended");
        let engine = self.engine.upgrade().ok_or_else(ended)?;
        let runtime = self.runtime.upgrade().ok_or_else(ended)?;
        let depth = runtime.callbacks.get();
        if depth >= MAX_DEPTH || !stack::has_room() {
            return Err(Error::new(ErrorKind::RecursionError, "maximum recursion depth exceeded"));
        }
        let mut args: Array = args.into_iter().map(from_python).collect();
        if !keywords.is_empty() {
            let named: Map =
                keywords.into_iter().map(|(name, value)| (Identifier::from(&*name), from_python(value))).collect();
            args.push(named.into());
        }
        runtime.callbacks.set(depth + 1);
        let engine = engine.borrow();
        let mut global = engine.new_global_runtime_state();
        global.constants = runtime.constants.borrow().clone();
        let context = (&*engine, "call", None, &global, Position::NONE).into();
        let result = function.call_within_context::<Dynamic>(&context, args);
        runtime.callbacks.set(depth);
        result.map_err(|error| fault::error_of(&error, &runtime)).and_then(|value| to_value(&value))
    }
}

/// Wraps a function of another language as a script function. The wrapped function is the first curried argument of the
/// pointer.
pub fn pointer(function: Value) -> Dynamic {
    let name = calling::name_of(&function).unwrap_or_else(|| "function".into());
    let name = if rhai::is_valid_identifier(&name) { &*name } else { "function" };
    let run = |_: NativeCallContext, args: &mut [&mut Dynamic]| {
        let Some((function, args)) = args.split_first() else { return Ok(Dynamic::UNIT) };
        let home = HERE.with_borrow(EngineHandle::clone);
        let runtime = home.runtime.upgrade().ok_or_else(|| fault::thrown(Error::runtime("the session has ended")))?;
        let called = to_value(function).and_then(|function| call(&runtime, &function, args));
        called.map_err(fault::thrown)
    };
    #[expect(deprecated, reason = "Rhai marks this method as unstable that way")]
    let made = FnPtr::from_fn(name, run);
    match made {
        Ok(mut pointer) => {
            pointer.add_curry(super::values::boxed(function));
            Dynamic::from(pointer)
        }
        Err(_) => super::values::boxed(function),
    }
}

/// Converts a script function to a value.
pub fn function(pointer: FnPtr) -> Value {
    // Leave captured variables alone: they may hold the closure itself.
    if let [carried] = pointer.curry()
        && super::values::is_boxed(Some(carried))
        && let Ok(carried @ (Value::Object(_) | Value::Function(_) | Value::Method(_))) = to_value(carried)
    {
        return carried;
    }
    let home = HERE.with_borrow(EngineHandle::clone);
    Value::Object(Rc::new(ScriptFunction { pointer, home }))
}

/// Calls a value from the script language. A last object map holds keyword arguments.
pub fn call(runtime: &Runtime, callee: &Value, args: &[&mut Dynamic]) -> Result<Dynamic> {
    let (positional, keywords) = super::values::arguments(args)?;
    calling::call_value(&runtime.state, callee, positional, keywords).and_then(|value| runtime.to_script(value))
}

/// Returns the object that `x.name()` calls, if it is the value of an attribute.
pub(super) fn callable_attribute(state: &Runtime, name: &str, args: &[&mut Dynamic]) -> Option<Value> {
    let receiver = to_value(args.first()?).ok()?;
    let value = members::attribute(state, &receiver, name).ok()?;
    let is_class = matches!(value, Value::Type(class) if class.starts_with("numpy."));
    (is_class || matches!(value, Value::Object(_)) && calling::is_callable(&value)).then_some(value)
}
