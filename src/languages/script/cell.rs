//! An input as it was typed, and where the engine's places are in it. Knows nothing about errors.

use super::fault::around;
use super::words::CALLED;
use super::written::Written;
use rhai::Position;
use std::collections::BTreeSet;
use std::path::Path;
use std::rc::Rc;
use tensor::system::{Files, System};

/// An input in Rhai.
#[derive(Clone, Debug, Default)]
pub struct Cell {
    pub typed: Rc<str>,
    /// The text that the engine has read, where it is another.
    written: Option<Rc<Written>>,
    /// What the engine knows as the source of a function: the file of a module, or a number that tells inputs apart.
    pub id: Rc<str>,
}

impl Cell {
    pub fn new(typed: &str, written: Option<Written>, id: &str) -> Cell {
        Cell { typed: typed.into(), written: written.map(Rc::new), id: id.into() }
    }

    /// The file of a module: every other input has a number.
    pub fn file(&self) -> Option<&str> {
        self.id.contains(std::path::MAIN_SEPARATOR).then_some(&*self.id)
    }

    /// Line and column of an engine's position in what was typed.
    pub fn place(&self, position: Position) -> Option<(usize, usize)> {
        let (line, column) = (position.line()?, position.position()?.max(1));
        Some((line, self.written.as_ref().map_or(column, |written| written.typed_column(line, column))))
    }

    /// The variable that is called as a function is, if its first argument stands at a position of the engine.
    pub fn called(&self, position: Position) -> Option<&str> {
        let place = self.place(position)?;
        let name = around(&self.typed, Some(place))?.0.trim_end().strip_suffix('(')?;
        let column = name.chars().count() + 1;
        let is_called = self.written.as_ref().is_some_and(|written| written.inserts(place.0, column, CALLED));
        let start = name.rfind(|c: char| !(c.is_alphanumeric() || c == '_')).map_or(0, |at| at + 1);
        is_called.then(|| name.get(start..)).flatten()
    }

    /// Returns whether a variable of this name is made here.
    pub fn declares(&self, name: &str) -> bool {
        let is_part = |c: char| c.is_alphanumeric() || c == '_';
        self.typed.match_indices(name).any(|(at, _)| {
            let (before, rest) = self.typed.split_at(at);
            let rest = rest.get(name.len()..).unwrap_or_default().trim_start();
            !before.ends_with(is_part) && rest.starts_with('=') && !rest.starts_with("==")
        })
    }

    /// Returns whether both are the same input, not just the same text.
    pub fn is(&self, other: &Cell) -> bool {
        Rc::ptr_eq(&self.typed, &other.typed)
    }
}

/// A function that an input has defined.
#[derive(Clone, Debug)]
pub struct Defined {
    pub cell: Cell,
    /// The numbers of arguments it takes, by which Rhai tells functions of one name apart.
    pub parameters: BTreeSet<usize>,
}

/// A file as it is reached from the folder one is in.
pub fn near(file: &str) -> String {
    let here = System::current_folder();
    Path::new(file).strip_prefix(here).unwrap_or(Path::new(file)).display().to_string()
}
