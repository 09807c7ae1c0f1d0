//! Functions of rows that are written in Python. This crate only passes the calls on: the language that runs them is
//! installed in the [`State`] of a session.

use super::state::State;
use tensor::{Error, Result};
use value::Value;

/// Python source that is part of the program.
pub struct Source {
    pub name: &'static str,
    pub text: &'static str,
}

/// Calls a function of a source with positional arguments.
pub type Runner = dyn Fn(&'static Source, &str, Vec<Value>) -> Result<Value>;

impl State {
    /// Calls a function of a source. The source is compiled when it is first used in a session.
    ///
    /// # Errors
    /// Any error of the function, and RuntimeError in a session without Python.
    pub fn call_embedded(&self, source: &'static Source, function: &str, args: Vec<Value>) -> Result<Value> {
        let runner = self.embedded.borrow().clone();
        let runner = runner.ok_or_else(|| Error::runtime(format!("{function}() needs Python")))?;
        runner(source, function, args)
    }
}
