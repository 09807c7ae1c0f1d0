//! Functions of a script as values: how the function table calls back into the script, for hooks on gradients and
//! functions that take functions.

use super::callable::{Def, Scripted, call_value};
use super::class::{Class, Instance};
use super::descriptors::{BoundMethod, BoundNative};
use super::state::State;
use super::value::{to_dynamic, to_value};
use super::{fault, stack};
use crate::tensor::{Error, ErrorKind, Hook, Result, Tensor};
use crate::value::{Object, Value};
use rhai::{Array, Dynamic, Engine, FnPtr, Map, Position};
use std::any::Any;
use std::cell::RefCell;
use std::rc::{Rc, Weak};

/// How deep a script may call the table that calls the script, as Python allows. Each time the engine starts to count anew.
const MAX_DEPTH: usize = 1000;

/// A function of the script, or a lambda.
pub struct ScriptFunction(pub FnPtr);

impl ScriptFunction {
    /// The name of a `def`; all lambdas have the same.
    fn name(&self) -> Rc<str> {
        match (Def::of_pointer(&self.0), self.0.fn_name()) {
            (Some(def), _) => def.name.clone(),
            (None, name) if name.starts_with("anon$") => "<lambda>".into(),
            (None, name) => name.into(),
        }
    }
}

impl Object for ScriptFunction {
    fn type_name(&self) -> &str {
        "function"
    }
    fn repr(&self) -> String {
        let address = self.identity().unwrap_or(std::ptr::from_ref(self) as usize);
        format!("<function {} at {address:#x}>", self.name())
    }
    fn identity(&self) -> Option<usize> {
        Def::of_pointer(&self.0).map(|def| Rc::as_ptr(&def) as usize)
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// What calling back needs: the engine a session evaluates with, and its state.
#[derive(Clone, Default)]
pub struct Home {
    engine: Weak<RefCell<Engine>>,
    state: Weak<State>,
}

impl Home {
    pub fn new(engine: &Rc<RefCell<Engine>>, state: &Rc<State>) -> Home {
        Home { engine: Rc::downgrade(engine), state: Rc::downgrade(state) }
    }

    /// The state of the session.
    ///
    /// # Errors
    /// RuntimeError when the session is gone.
    pub fn state(&self) -> Result<Rc<State>> {
        self.state.upgrade().ok_or_else(ended)
    }

    /// Calls a function of the script or of the table.
    ///
    /// # Errors
    /// What the function raises, TypeError for what is none, RecursionError for calls too deep within each other.
    pub fn call(&self, function: &Value, args: Vec<Value>) -> Result<Value> {
        let state = self.state()?;
        let args = args.into_iter().map(|arg| state.give(arg)).collect::<Result<Vec<Dynamic>>>()?;
        let result = self.invoke(&to_dynamic(function.clone()), args, Map::new());
        result.map_err(|error| fault::error_of(&error)).and_then(|value| to_value(&value))
    }

    /// As [`Home::call`], within the script language.
    ///
    /// # Errors
    /// As [`Home::call`].
    pub fn invoke(&self, callee: &Dynamic, args: Array, keywords: Map) -> Scripted<Dynamic> {
        let engine = self.engine.upgrade().ok_or_else(|| fault::thrown(ended()))?;
        let state = self.state().map_err(fault::thrown)?;
        let depth = state.callbacks.get();
        if depth >= MAX_DEPTH || !stack::has_room() {
            let message = "maximum recursion depth exceeded";
            return Err(fault::thrown(Error::new(ErrorKind::RecursionError, message)));
        }
        state.callbacks.set(depth + 1);
        let nameless = state.nameless.replace(false);
        let engine = engine.borrow();
        let global = engine.new_global_runtime_state();
        let context = (&*engine, "call_", None, &global, Position::NONE).into();
        let result = call_value(&state, &context, callee, args, keywords);
        state.nameless.set(nameless);
        state.callbacks.set(depth);
        result
    }
}

fn ended() -> Error {
    Error::runtime("the session of this function has ended")
}

/// Is it a function?
pub fn is_function(value: &Value) -> bool {
    match value {
        Value::Function(_) => true,
        Value::Object(object) => {
            let any = object.as_any();
            any.is::<ScriptFunction>()
                || any.is::<BoundMethod>()
                || any.is::<BoundNative>()
                || any.is::<Class>()
                || any.downcast_ref::<Instance>().is_some_and(|this| this.class.find("__call__").is_some())
        }
        _ => false,
    }
}

/// A hook on a gradient that is a function of the script.
pub struct ScriptHook {
    pub home: Home,
    pub function: Value,
}

impl Hook for ScriptHook {
    fn call(&self, gradient: &Tensor) -> Result<Option<Tensor>> {
        let replaced = match self.home.call(&self.function, vec![Value::Tensor(gradient.clone())])? {
            Value::None => return Ok(None),
            Value::Tensor(replaced) => replaced,
            other => {
                let message = format!("expected Variable, but hook returned '{}'", other.type_name());
                return Err(Error::type_error(message));
            }
        };
        check_replacement(&function_name(&self.function), gradient, &replaced)?;
        Ok(Some(replaced))
    }
}

/// The name of a function as messages about hooks show it.
pub fn function_name(function: &Value) -> Rc<str> {
    match function {
        Value::Object(object) => {
            object.as_any().downcast_ref::<ScriptFunction>().map_or_else(|| "".into(), ScriptFunction::name)
        }
        Value::Function(path) => path.clone(),
        _ => "".into(),
    }
}

/// May a hook put one gradient in the place of another?
///
/// # Errors
/// RuntimeError for another dtype or size.
pub fn check_replacement(name: &str, before: &Tensor, after: &Tensor) -> Result<()> {
    let (before, after) = (before.borrow(), after.borrow());
    if before.dtype != after.dtype {
        let class = |dtype: crate::tensor::DType| match dtype.is_complex() {
            true => format!("CPU{}Type", dtype.scalar_type()),
            false => format!("torch.{}Tensor", dtype.scalar_type()),
        };
        let (was, got) = (class(before.dtype), class(after.dtype));
        return Err(Error::runtime(format!("hook '{name}' has changed the type of value (was {was} got {got})")));
    }
    if before.sizes() != after.sizes() {
        return Err(Error::runtime(format!("hook '{name}' has changed the size of value")));
    }
    Ok(())
}
