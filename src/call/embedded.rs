//! Functions of rows that are written in Python. This crate only passes the calls on: the language that runs them is
//! installed in the [`State`] of a session.

use super::state::State;
use tensor::system::Part;
use tensor::{Error, Result};
use value::Value;

/// Python source that is part of the program.
pub struct Source {
    pub name: &'static str,
    pub part: Part,
}

impl Source {
    /// Returns the text, which a page fetches first.
    ///
    /// # Errors
    /// RuntimeError if the page cannot fetch it.
    pub fn text(&self) -> Result<&'static str> {
        self.part.text().map_err(|error| Error::runtime(error.to_string()))
    }
}

/// Returns what a source defines under a name; `None` if it does not define it.
pub type Loader = dyn Fn(&'static Source, &str) -> Result<Option<Value>>;

impl State {
    /// Returns what a source defines under a name: a function or a class. The source is compiled when it is first used
    /// in a session.
    ///
    /// # Errors
    /// Any error of the source, and RuntimeError in a session without Python.
    pub fn embedded_value(&self, source: &'static Source, name: &str) -> Result<Option<Value>> {
        let loader = self.embedded.borrow().clone();
        let loader = loader.ok_or_else(|| Error::runtime(format!("{name} needs Python")))?;
        loader(source, name)
    }

    /// Calls a function of a source with positional arguments.
    ///
    /// # Errors
    /// Any error of the function, and those of [`State::embedded_value`].
    pub fn call_embedded(&self, source: &'static Source, function: &str, args: Vec<Value>) -> Result<Value> {
        let callee = self.embedded_value(source, function)?;
        let missing = || Error::runtime(format!("{} does not define {function}()", source.name));
        self.call_given(&callee.ok_or_else(missing)?, args)
    }
}
