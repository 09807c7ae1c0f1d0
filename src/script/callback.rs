//! Functions of a script as values: the function table calls them back for hooks on gradients and for functions that
//! take functions.

use super::callable::{Def, Scripted, call_value, native, split_keywords};
use super::descriptors::missing;
use super::runtime::Runtime;
use super::value::{to_dynamic, to_value};
use super::{fault, higher, stack};
use crate::call::state::Native;
use crate::call::{Caller, Keywords, State};
use crate::tensor::{Error, ErrorKind, Result};
use crate::value::{Object, Value};
use rhai::{Array, Dynamic, Engine, FnPtr, Identifier, Map, Position};
use std::any::Any;
use std::cell::RefCell;
use std::rc::{Rc, Weak};

/// The maximum depth of a script calling the table that calls the script, as Python allows. Each time the engine
/// counts anew.
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
    fn attribute(&self, name: &str) -> Option<Value> {
        (name == "__name__").then(|| Value::Str(self.name()))
    }
    fn own_attribute(&self, name: &str) -> Option<Result<Value>> {
        Some(match Def::attribute(&self.0, name) {
            Some(found) => to_value(&found),
            None => Err(missing("function", name)),
        })
    }
    fn set_attribute(&self, name: &str, value: &Value) -> Option<Result<()>> {
        let set = Def::set_attribute(&self.0, name, &to_dynamic(value.clone()));
        Some(set.map_err(|error| fault::error_of(&error)))
    }
    fn is_callable(&self) -> bool {
        true
    }
    fn identity(&self) -> Option<usize> {
        Def::of_pointer(&self.0).map(|def| Rc::as_ptr(&def) as usize)
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// The requirements for calling back: the engine a session evaluates with, and its state.
#[derive(Clone, Default)]
pub struct Home {
    engine: Weak<RefCell<Engine>>,
    runtime: Weak<Runtime>,
}

impl Home {
    pub fn new(engine: &Rc<RefCell<Engine>>, runtime: &Rc<Runtime>) -> Home {
        Home { engine: Rc::downgrade(engine), runtime: Rc::downgrade(runtime) }
    }

    /// The running script.
    ///
    /// # Errors
    /// RuntimeError when the session is gone.
    pub fn runtime(&self) -> Result<Rc<Runtime>> {
        self.runtime.upgrade().ok_or_else(ended)
    }

    /// As [`Caller::call`], within the script language.
    ///
    /// # Errors
    /// As [`Caller::call`].
    pub fn invoke(&self, callee: &Dynamic, args: Array, keywords: Map) -> Scripted<Dynamic> {
        let engine = self.engine.upgrade().ok_or_else(|| fault::thrown(ended()))?;
        let state = self.runtime().map_err(fault::thrown)?;
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

impl Caller for Home {
    fn call_with(&self, function: &Value, args: Vec<Value>, keywords: Keywords) -> Result<Value> {
        let runtime = self.runtime()?;
        let args = args.into_iter().map(|arg| runtime.give(arg)).collect::<Result<Array>>()?;
        let keyword = |(name, value): (Rc<str>, Value)| Ok((Identifier::from(&*name), runtime.give(value)?));
        let keywords = keywords.into_iter().map(keyword).collect::<Result<Map>>()?;
        let result = self.invoke(&to_dynamic(function.clone()), args, keywords);
        result.map_err(|error| fault::error_of(&error)).and_then(|value| to_value(&value))
    }

    fn function(&self, name: &str, run: Rc<Native>) -> Result<Value> {
        let home = self.clone();
        let run = move |args: Array| -> Result<Dynamic> {
            let (args, keywords) = split_keywords(args);
            let args = args.iter().map(to_value).collect::<Result<Vec<Value>>>()?;
            let keyword = |(name, value): (&Identifier, &Dynamic)| Ok((Rc::from(name.as_str()), to_value(value)?));
            let keywords = keywords.iter().map(keyword).collect::<Result<Keywords>>()?;
            run(args, keywords).and_then(|value| home.runtime()?.give(value))
        };
        let pointer = native(name, move |_, args| run(args).map_err(fault::thrown));
        Ok(Value::Object(Rc::new(ScriptFunction(pointer.map_err(|error| fault::error_of(&error))?))))
    }

    fn has_function(&self, name: &str) -> bool {
        higher::find(name).is_some()
    }

    fn state(&self) -> Result<Rc<State>> {
        Ok(self.runtime()?.state.clone())
    }
}

fn ended() -> Error {
    Error::runtime("the session of this function has ended")
}
