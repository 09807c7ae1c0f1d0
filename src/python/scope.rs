//! Which names are defined where, so that the writer knows `let x = 1` from `x = 1` and a function from a variable
//! that holds one.
//!
//! Names are spelled as in Rhai. It must not know the syntax of either language.

use std::collections::HashMap;

/// The meaning of a name.
#[derive(Clone, PartialEq, Eq)]
pub enum Known {
    Variable,
    /// A Rhai function of this input, with its parameters.
    Function(Vec<Parameter>),
    /// Deleted by this input.
    Deleted,
    /// A variable of the session, which a function may assign.
    Global,
    /// An attribute of the class whose body is being written.
    Attribute,
}

/// The arguments a parameter takes.
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

/// The construct a frame belongs to.
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
    /// The body of a class.
    Class,
}

/// The cleanup when a `with` or a `try … finally` is left before its end.
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
    /// The Python name of the function or class.
    name: String,
    /// The variable that holds the class being made.
    making: String,
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

    /// As [`Scope::push`], for a function with a name.
    pub fn push_function(&mut self, body: Body, name: &str) {
        self.inner.push(Frame { body, name: name.to_owned(), ..Frame::default() });
    }

    /// As [`Scope::push`], for a class that is being made in a variable.
    pub fn push_class(&mut self, name: &str, making: &str) {
        let (name, making) = (name.to_owned(), making.to_owned());
        self.inner.push(Frame { body: Body::Class, name, making, ..Frame::default() });
    }

    pub fn pop(&mut self) {
        self.inner.pop();
    }

    /// The statement being written belongs to the body of a class.
    pub fn is_class(&self) -> bool {
        self.inner.last().is_some_and(|frame| frame.body == Body::Class)
    }

    /// The variable that holds the class whose body is being written.
    pub fn class_being_made(&self) -> Option<&str> {
        self.inner.last().filter(|frame| frame.body == Body::Class).map(|frame| frame.making.as_str())
    }

    /// The statement being written stands in no block and no function, at most in classes: a Rhai `fn` may stand here.
    pub fn only_classes(&self) -> bool {
        self.outer.compounds == 0 && self.inner.iter().all(|frame| frame.body == Body::Class && frame.compounds == 0)
    }

    /// The names of the classes around, the innermost first.
    pub fn class_names(&self) -> impl Iterator<Item = &str> {
        self.inner.iter().rev().filter(|frame| frame.body == Body::Class).map(|frame| frame.name.as_str())
    }

    /// Nothing goes by this name so far, and what is being written is a closure.
    pub fn is_late(&self, name: &str) -> bool {
        let in_closure =
            |frame: &Frame<'_>| frame.body == Body::Closure || frame.body == Body::Expression && !frame.name.is_empty();
        self.inner.iter().any(in_closure) && self.lookup(name).is_none()
    }

    /// Counts the bodies of classes being written, one within the other.
    pub fn classes(&self) -> usize {
        self.inner.iter().filter(|frame| frame.body == Body::Class).count()
    }

    /// The innermost class around the place being written.
    pub fn class_name(&self) -> Option<&str> {
        self.inner.iter().rev().find(|frame| frame.body == Body::Class).map(|frame| frame.name.as_str())
    }

    /// The name of a function or class with what it stands in, as Python shows it.
    pub fn qualified(&self, name: &str) -> String {
        let mut path = String::new();
        for frame in &self.inner {
            match frame.body {
                Body::Class => path += &format!("{}.", frame.name),
                Body::Function | Body::Closure => path += &format!("{}.<locals>.", frame.name),
                _ if !frame.name.is_empty() => path += &format!("{}.<locals>.", frame.name),
                _ => {}
            }
        }
        path + name
    }

    /// A `global` statement has named it in the function being written.
    pub fn is_global(&self, name: &str) -> bool {
        self.inner.last().is_some_and(|frame| frame.names.get(name) == Some(&Known::Global))
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
        for frame in self.seen() {
            if let Some(known) = frame.names.get(name) {
                return matches!(known, Known::Variable | Known::Attribute);
            }
        }
        !self.in_named_function() && self.session(name).is_some()
    }

    /// Returns the meaning of a name at the current position, if it has one.
    pub fn lookup(&self, name: &str) -> Option<Known> {
        let local = self.seen().find_map(|f| f.names.get(name));
        match local {
            Some(Known::Global) => self.session(name).or(Some(Known::Variable)),
            Some(known) => Some(known.clone()),
            None => self.session(name),
        }
    }

    /// The frames whose names can be seen, from the inside out: what a class holds is seen in its own body alone.
    fn seen(&self) -> impl Iterator<Item = &Frame<'a>> {
        let inside = self.inner.len();
        self.inner
            .iter()
            .enumerate()
            .rev()
            .filter(move |(i, frame)| frame.body != Body::Class || i + 1 == inside)
            .map(|(_, frame)| frame)
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
        outermost.is_some_and(|frame| matches!(frame.body, Body::Function | Body::Class))
    }
}
