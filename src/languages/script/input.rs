//! An input as typed, and how the engine's positions map to it. Knows nothing about errors.

use super::fault::split_at;
use super::reading::written::EditedText;
use super::words::CALLED;
use rhai::Position;
use std::collections::BTreeSet;
use std::path::Path;
use std::rc::Rc;
use tensor::system::{Files, System};

/// An input in Rhai.
#[derive(Clone, Debug, Default)]
pub struct RhaiInput {
    pub typed: Rc<str>,
    /// The text that the engine has read, if it differs from the typed text.
    written: Option<Rc<EditedText>>,
    /// The function source that the engine knows this input by: the file of a module, or a number unique to the input.
    pub id: Rc<str>,
}

impl RhaiInput {
    pub fn new(typed: &str, written: Option<EditedText>, id: &str) -> RhaiInput {
        RhaiInput { typed: typed.into(), written: written.map(Rc::new), id: id.into() }
    }

    /// The file of a module. `None` for any other input, whose id is a number.
    pub fn file(&self) -> Option<&str> {
        self.id.contains(std::path::is_separator).then_some(&*self.id)
    }

    /// Converts an engine position to a line and column of the typed text.
    pub fn place(&self, position: Position) -> Option<(usize, usize)> {
        let (line, column) = (position.line()?, position.position()?.max(1));
        Some((line, self.written.as_ref().map_or(column, |written| written.typed_column(line, column))))
    }

    /// Returns the variable that is called like a function, if its first argument is at an engine position.
    pub fn called(&self, position: Position) -> Option<&str> {
        let place = self.place(position)?;
        let name = split_at(&self.typed, Some(place))?.0.trim_end().strip_suffix('(')?;
        let column = name.chars().count() + 1;
        let is_called = self.written.as_ref().is_some_and(|written| written.inserts(place.0, column, CALLED));
        let start = name.rfind(|c: char| !(c.is_alphanumeric() || c == '_')).map_or(0, |at| at + 1);
        is_called.then(|| name.get(start..)).flatten()
    }

    /// Returns whether this input assigns to a variable of this name.
    pub fn declares(&self, name: &str) -> bool {
        let is_part = |c: char| c.is_alphanumeric() || c == '_';
        self.typed.match_indices(name).any(|(at, _)| {
            let (before, rest) = self.typed.split_at(at);
            let rest = rest.get(name.len()..).unwrap_or_default().trim_start();
            !before.ends_with(is_part) && rest.starts_with('=') && !rest.starts_with("==")
        })
    }

    /// Returns whether both are the same input, not just the same text.
    pub fn is(&self, other: &RhaiInput) -> bool {
        Rc::ptr_eq(&self.typed, &other.typed)
    }
}

/// A function defined by an input.
#[derive(Clone, Debug)]
pub struct Defined {
    pub cell: RhaiInput,
    /// The numbers of parameters it is defined with. Rhai distinguishes functions of the same name by them.
    pub parameters: BTreeSet<usize>,
}

/// Returns the path of a file relative to the current folder, if it is inside.
pub fn near(file: &str) -> String {
    let here = System::current_folder();
    Path::new(file).strip_prefix(here).unwrap_or(Path::new(file)).display().to_string()
}
