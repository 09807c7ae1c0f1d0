//! The parts of the method tables of Python's built-in classes: a row, the arguments of a call, and CPython's argument
//! errors. This file must not name any class.

use crate::plain::slices::slice_part;
use call::State;
use tensor::{Error, Result, bail};
use value::{Keywords, Value};

/// The arguments of a method call.
pub struct Given<'a> {
    pub state: &'a State,
    pub args: &'a [Value],
    pub keywords: &'a Keywords,
}

impl<'a> Given<'a> {
    pub fn at(&self, index: usize) -> Value {
        self.args.get(index).cloned().unwrap_or(Value::None)
    }

    pub fn named(&self, name: &str) -> Option<&Value> {
        self.keywords.iter().find(|(known, _)| &**known == name).map(|(_, value)| value)
    }

    /// Returns an argument given by position or by keyword.
    pub fn option(&self, index: usize, name: &str) -> Option<&Value> {
        self.args.get(index).or_else(|| self.named(name))
    }

    /// Returns a string argument. `whose` starts the error for other types: `must be str`, `replace() argument 1 must
    /// be str`.
    ///
    /// # Errors
    /// TypeError.
    pub fn str(&self, index: usize, whose: &str) -> Result<&'a str> {
        match self.args.get(index).unwrap_or(&Value::None) {
            Value::Str(text) => Ok(text),
            // Messages that name the argument show `None` instead of its class.
            Value::None if whose.contains("argument") => bail!(TypeError, "{whose}, not None"),
            other => bail!(TypeError, "{whose}, not {}", other.type_name()),
        }
    }

    /// Returns an optional string argument, given by position or by keyword.
    ///
    /// # Errors
    /// TypeError.
    pub(crate) fn str_option(&self, index: usize, method: &str, name: &str) -> Result<Option<&str>> {
        match self.option(index, name) {
            None => Ok(None),
            Some(Value::Str(text)) => Ok(Some(text)),
            Some(other) => {
                let class = if let Value::None = other { "None" } else { other.type_name() };
                bail!(TypeError, "{method}() argument '{name}' must be str, not {class}")
            }
        }
    }

    /// Returns the two arguments from `from` on as the bounds of a search in `length` items; `None` if the start is
    /// behind the end.
    ///
    /// # Errors
    /// TypeError if an argument cannot be a slice bound.
    pub fn span(&self, from: usize, length: usize) -> Result<Option<(usize, usize)>> {
        let length = i64::try_from(length).unwrap_or(i64::MAX);
        let end = |at: usize, default: i64| -> Result<i64> {
            let given = self.args.get(at).map_or(Ok(None), slice_part)?.unwrap_or(default);
            Ok(if given < 0 { given.saturating_add(length).max(0) } else { given })
        };
        let (start, stop) = (end(from, 0)?, end(from + 1, length)?.min(length));
        Ok((start <= stop).then_some((start as usize, stop as usize)))
    }
}

/// A row of a method table.
pub struct ContainerMethod<T: ?Sized> {
    pub name: &'static str,
    /// The minimum and maximum number of positional arguments.
    pub takes: (usize, usize),
    /// Whether the method reads the keyword arguments itself.
    pub named: bool,
    /// The keywords of a method whose arguments CPython parses by a format string.
    pub names: Option<&'static [&'static str]>,
    pub run: fn(&T, &Given) -> Result<Value>,
    pub doc: &'static str,
}

/// Builds a row for a method without keyword arguments.
pub(crate) const fn takes<T: ?Sized>(
    name: &'static str,
    takes: (usize, usize),
    run: fn(&T, &Given) -> Result<Value>,
    doc: &'static str,
) -> ContainerMethod<T> {
    ContainerMethod { name, takes, named: false, names: None, run, doc }
}

/// Builds a row for a method whose arguments CPython parses by a format string; `names` are its keywords.
pub(crate) const fn parsed<T: ?Sized>(
    name: &'static str,
    takes: (usize, usize),
    names: &'static [&'static str],
    run: fn(&T, &Given) -> Result<Value>,
    doc: &'static str,
) -> ContainerMethod<T> {
    ContainerMethod { name, takes, named: false, names: Some(names), run, doc }
}

pub(crate) type Table<T> = &'static [ContainerMethod<T>];

/// Runs the method of this name; `None` if no table has one.
pub(crate) fn run<T: ?Sized>(
    tables: &[Table<T>],
    class: &str,
    this: &T,
    name: &str,
    given: &Given,
) -> Option<Result<Value>> {
    let method = tables.iter().flat_map(|table| *table).find(|method| method.name == name)?;
    Some(check(method, class, given).and_then(|()| (method.run)(this, given)))
}

fn check<T: ?Sized>(method: &ContainerMethod<T>, class: &str, given: &Given) -> Result<()> {
    let (name, count) = (method.name, given.args.len());
    let names = method.names.unwrap_or_default();
    if !method.named && names.is_empty() && !given.keywords.is_empty() {
        bail!(TypeError, "{class}.{name}() takes no keyword arguments");
    }
    let (least, most) = method.takes;
    let s = |count: usize| if count == 1 { "" } else { "s" };
    if method.names.is_some() {
        let (all, most_named) = (count + given.keywords.len(), most.max(names.len()));
        if all > most_named {
            bail!(TypeError, "{name}() takes at most {most_named} argument{} ({all} given)", s(most_named));
        }
        if count > most {
            bail!(TypeError, "{name}() takes at most {most} positional argument{} ({count} given)", s(most));
        }
        for (at, known) in names.iter().enumerate() {
            let is_given = given.named(known).is_some();
            if at < count && is_given {
                let place = at + 1;
                bail!(TypeError, "argument for {name}() given by name ('{known}') and position ({place})");
            }
            if at >= count && at < least && !is_given {
                bail!(TypeError, "{name}() missing required argument '{known}' (pos {})", at + 1);
            }
        }
        if let Some((unknown, _)) = given.keywords.iter().find(|(key, _)| !names.contains(&&**key)) {
            bail!(TypeError, "'{unknown}' is an invalid keyword argument for {name}()");
        }
        if names.is_empty() && count < least {
            bail!(TypeError, "{name}() takes at least {least} argument{} ({count} given)", s(least));
        }
        return Ok(());
    }
    if (least..=most).contains(&count) || name.starts_with("__") {
        return Ok(());
    }
    Err(Error::type_error(match (least, most) {
        (0, 0) if method.named => format!("{name}() takes no positional arguments"),
        (0, 0) => format!("{class}.{name}() takes no arguments ({count} given)"),
        (1, 1) => format!("{class}.{name}() takes exactly one argument ({count} given)"),
        (least, most) if least == most => format!("{name} expected {least} argument{}, got {count}", s(least)),
        (least, _) if count < least => format!("{name} expected at least {least} argument{}, got {count}", s(least)),
        (_, most) => format!("{name} expected at most {most} argument{}, got {count}", s(most)),
    }))
}
