//! Remembers the statements of a script that runs statement by statement, so that failures in functions that they define
//! count lines in the script.

use std::collections::HashMap;
use std::rc::Rc;

/// A statement at the outer level of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    pub text: Rc<str>,
    /// The number of lines of the script above it.
    pub lines_above: usize,
}

/// The statements of the script that have begun, by the address of their text.
#[derive(Default)]
pub(super) struct Begun(HashMap<*const u8, Statement>);

impl Begun {
    pub(super) fn insert(&mut self, statement: &Statement) {
        // The entry keeps the text, so no other text gets its address.
        self.0.insert(statement.text.as_ptr(), statement.clone());
    }

    /// Returns the number of lines above a statement, if `text` is the text of one.
    pub(super) fn lines_above(&self, text: &Rc<str>) -> Option<usize> {
        self.0.get(&text.as_ptr()).map(|statement| statement.lines_above)
    }
}
