//! Which names are defined where, so that the writer knows `let x = 1` from `x = 1` and a function from a variable
//! that holds one.
//!
//! Names are spelled as in Rhai. It must not know the syntax of either language.

use std::collections::HashMap;

/// What a name stands for.
#[derive(Clone, PartialEq, Eq)]
pub enum Known {
    Variable,
    /// A Rhai function of this input, with its parameters.
    Function(Vec<Parameter>),
    /// Deleted by this input.
    Deleted,
}

/// What arguments a parameter takes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// One, by position or by name.
    Plain,
    /// One, by name.
    KeywordOnly,
    /// `*args`
    Rest,
    /// `**kwargs`
    Keywords,
}

#[derive(Clone, PartialEq, Eq)]
pub struct Parameter {
    pub name: String,
    pub role: Role,
    /// The Rhai text of a default that is a literal, which a call may repeat.
    pub literal_default: Option<String>,
}

/// What a frame belongs to.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub enum Body {
    /// The session itself.
    #[default]
    Session,
    /// A Rhai `fn`, which sees none of the session's variables except through the engine, to read.
    Function,
    /// A `def` inside something else, written as a closure.
    Closure,
    /// A lambda or a comprehension: it holds no statements.
    Expression,
}

/// What must happen when a `with` or a `try … finally` is left before its end.
#[derive(Clone)]
pub enum Cleanup<'a> {
    Exit(String),
    Finally(&'a [ruff_python_ast::Stmt]),
}

/// The names of one function body, lambda or comprehension; the outermost frame is the session.
#[derive(Default)]
pub struct Frame<'a> {
    names: HashMap<String, Known>,
    body: Body,
    /// Compound statements around the current statement: it may run never, once or often.
    pub compounds: usize,
    /// Of each loop around the current statement: the cleanups that were open when it began, and what tells its `else`
    /// clause that it was broken off.
    pub loops: Vec<(usize, Option<String>)>,
    pub cleanups: Vec<Cleanup<'a>>,
    /// `except` blocks around the current statement.
    pub handlers: usize,
}

pub struct Scope<'a> {
    is_defined: &'a dyn Fn(&str) -> bool,
    /// Never empty.
    outer: Frame<'a>,
    inner: Vec<Frame<'a>>,
}

impl<'a> Scope<'a> {
    pub fn new(is_defined: &'a dyn Fn(&str) -> bool) -> Self {
        Self { is_defined, outer: Frame::default(), inner: Vec::new() }
    }

    pub fn push(&mut self, body: Body) {
        self.inner.push(Frame { body, ..Frame::default() });
    }

    pub fn pop(&mut self) {
        self.inner.pop();
    }

    pub fn frame(&mut self) -> &mut Frame<'a> {
        self.inner.last_mut().unwrap_or(&mut self.outer)
    }

    /// The statement being written belongs to the session, not to a function.
    pub fn is_session(&self) -> bool {
        self.inner.is_empty()
    }

    pub fn in_function(&self) -> bool {
        let body = self.inner.last().map_or(Body::Session, |f| f.body);
        matches!(body, Body::Function | Body::Closure)
    }

    pub fn define(&mut self, name: &str, known: Known) {
        self.frame().names.insert(name.to_string(), known);
    }

    /// The name can be assigned without `let` here.
    pub fn is_assignable(&self, name: &str) -> bool {
        match self.inner.last() {
            Some(frame) => frame.names.get(name) == Some(&Known::Variable),
            None => self.session(name).is_some(),
        }
    }

    /// The name can be the root of `name[0] = …` and `name.x = …` here: Rhai does not let a function change a
    /// variable of the session.
    pub fn is_changeable(&self, name: &str) -> bool {
        for frame in self.inner.iter().rev() {
            if let Some(known) = frame.names.get(name) {
                return *known == Known::Variable;
            }
        }
        !self.in_named_function() && self.session(name).is_some()
    }

    /// What the name means where the writer is, if it means anything.
    pub fn lookup(&self, name: &str) -> Option<Known> {
        let local = self.inner.iter().rev().find_map(|f| f.names.get(name));
        match local {
            Some(known) => Some(known.clone()),
            None => self.session(name),
        }
    }

    fn session(&self, name: &str) -> Option<Known> {
        match self.outer.names.get(name) {
            Some(Known::Deleted) => None,
            Some(known) => Some(known.clone()),
            None => (self.is_defined)(name).then_some(Known::Variable),
        }
    }

    fn in_named_function(&self) -> bool {
        let outermost = self.inner.first();
        outermost.is_some_and(|frame| frame.body == Body::Function)
    }
}
