//! The vocabulary of the function table: what a row is, and how it is reached.

use super::Call;
use crate::tensor::Result;
use crate::value::Value;

/// What a row's function looks like: bound arguments in, value out.
pub type Run = fn(&mut Call) -> Result<Value>;

/// One overload of one function.
pub struct Row {
    pub signature: &'static str,
    pub run: Run,
    pub doc: &'static str,
    pub role: Role,
    /// A deprecated order of arguments, still accepted but not listed in messages.
    pub hidden: bool,
    /// The name that messages show, where it is not the one called: all legacy constructors say `new`.
    pub shown: Option<&'static str>,
    /// The qualified name in Python, for functions PyTorch writes in Python; decides the words of argument errors.
    pub python: Option<&'static str>,
}

/// How a row is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// `x.f()` only.
    Method,
    /// `torch.f()` and bare `f()` only.
    Function,
    /// `x.f()`, `torch.f(x)` and `f(x)`.
    Both,
    /// `x.f` without parentheses.
    Attribute,
    /// `x.f = value`.
    Setter,
    /// `torch.UntypedStorage.f()`: through the class before the `::` of the signature.
    Static,
    /// By its key alone: a part that other functions are made of.
    Internal,
}

/// A row that is reached in this way.
pub const fn row(signature: &'static str, run: Run, doc: &'static str, role: Role) -> Row {
    Row { signature, run, doc, role, hidden: false, shown: None, python: None }
}

pub const fn method(signature: &'static str, run: Run, doc: &'static str) -> Row {
    row(signature, run, doc, Role::Method)
}

pub const fn function(signature: &'static str, run: Run, doc: &'static str) -> Row {
    row(signature, run, doc, Role::Function)
}

pub const fn both(signature: &'static str, run: Run, doc: &'static str) -> Row {
    row(signature, run, doc, Role::Both)
}

pub const fn attribute(signature: &'static str, run: Run, doc: &'static str) -> Row {
    row(signature, run, doc, Role::Attribute)
}

impl Row {
    /// Marks a function that is written in Python there, under this qualified name.
    pub const fn python(self, path: &'static str) -> Row {
        Row { python: Some(path), ..self }
    }

    /// Gives the row another name in messages.
    pub const fn named(self, name: &'static str) -> Row {
        Row { shown: Some(name), ..self }
    }

    /// Marks a deprecated overload.
    pub const fn hidden(self) -> Row {
        Row { hidden: true, ..self }
    }
}
