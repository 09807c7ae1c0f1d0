//! An input as it was typed, and where the engine's places are in it. Knows nothing about errors.

use super::fault::around;
use super::weave::{self, Insertion};
use rhai::Position;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::rc::Rc;

/// An input in Rhai.
#[derive(Clone, Debug, Default)]
pub struct Cell {
    pub typed: Rc<str>,
    /// What the engine read besides.
    insertions: Rc<[Insertion]>,
    /// Tells inputs that define functions apart: what the engine knows as the source of a function.
    pub id: Rc<str>,
}

impl Cell {
    pub fn new(typed: &str, insertions: Vec<Insertion>, id: usize) -> Cell {
        Cell { typed: typed.into(), insertions: insertions.into(), id: id.to_string().into() }
    }

    /// What the engine reads.
    pub fn woven(&self) -> Cow<'_, str> {
        if self.insertions.is_empty() {
            return Cow::Borrowed(&self.typed);
        }
        Cow::Owned(weave::woven(&self.typed, &self.insertions))
    }

    /// Line and column of an engine's position in what was typed.
    pub fn place(&self, position: Position) -> Option<(usize, usize)> {
        let (line, column) = (position.line()?, position.position()?.max(1));
        Some((line, weave::typed_column(&self.insertions, line, column)))
    }

    /// The variable that is called as a function is, if its first argument stands at a position of the engine.
    pub fn called(&self, position: Position) -> Option<&str> {
        let place = self.place(position)?;
        weave::called(&self.insertions, place.0, around(&self.typed, Some(place))?.0)
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
