//! Functions of a script as values: how the function table calls back into the script, for hooks on gradients and
//! functions that take functions.

use super::callable::call_named;
use super::fault;
use super::functions::MODULES;
use super::state::State;
use super::value::{to_dynamic, to_value};
use crate::tensor::{Error, ErrorKind, Hook, Result, Tensor};
use crate::value::{Object, Value};
use rhai::{AST, Dynamic, Engine, FnPtr, Map};
use std::any::Any;
use std::cell::RefCell;
use std::rc::{Rc, Weak};

/// How deep a script may call the table that calls the script: each time the engine starts to count anew.
const MAX_DEPTH: usize = 8;

/// A function of the script, or a lambda.
pub struct ScriptFunction(pub FnPtr);

impl ScriptFunction {
    /// The name of a `def`; all lambdas have the same.
    fn name(&self) -> &str {
        match self.0.fn_name() {
            name if name.starts_with("anon$") || name == "function" => "<lambda>",
            name => name,
        }
    }
}

impl Object for ScriptFunction {
    fn type_name(&self) -> &str {
        "function"
    }
    fn repr(&self) -> String {
        format!("<function {} at {:#x}>", self.name(), std::ptr::from_ref(self) as usize)
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
        let (engine, state) = (self.engine.upgrade().ok_or_else(ended)?, self.state()?);
        let depth = state.callbacks.get();
        if depth >= MAX_DEPTH {
            return Err(Error::new(ErrorKind::RecursionError, "maximum recursion depth exceeded"));
        }
        state.callbacks.set(depth + 1);
        let nameless = state.nameless.replace(false);
        let result = called(&engine.borrow(), &state, function, args);
        state.nameless.set(nameless);
        state.callbacks.set(depth);
        result
    }
}

fn ended() -> Error {
    Error::runtime("the session of this function has ended")
}

fn called(engine: &Engine, state: &Rc<State>, function: &Value, args: Vec<Value>) -> Result<Value> {
    let args = args.into_iter().map(|arg| state.give(arg)).collect::<Result<Vec<Dynamic>>>()?;
    let result = match function {
        Value::Object(object) if let Some(ScriptFunction(function)) = object.as_any().downcast_ref() => {
            function.call::<Dynamic>(engine, &AST::empty(), args)
        }
        Value::Function(path) => {
            let (module, name) = path.rsplit_once('.').unwrap_or(("torch", path));
            let module = MODULES.iter().copied().find(|known| *known == module).unwrap_or("torch");
            call_named(state, name, Some(to_dynamic(Value::Module(module))), args, Map::new())
        }
        other => return Err(Error::type_error(format!("'{}' object is not callable", other.type_name()))),
    };
    result.map_err(|error| fault::from_eval(&error, &|_| String::new()).error).and_then(|value| to_value(&value))
}

/// Is it a function?
pub fn is_function(value: &Value) -> bool {
    match value {
        Value::Function(_) => true,
        Value::Object(object) => object.as_any().is::<ScriptFunction>(),
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
        check_replacement(function_name(&self.function), gradient, &replaced)?;
        Ok(Some(replaced))
    }
}

/// The name of a function as messages about hooks show it.
pub fn function_name(function: &Value) -> &str {
    match function {
        Value::Object(object) => object.as_any().downcast_ref::<ScriptFunction>().map_or("", ScriptFunction::name),
        Value::Function(path) => path,
        _ => "",
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
