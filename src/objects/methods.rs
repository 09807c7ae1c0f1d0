//! The vocabulary of the tables of methods of Python's own classes: a row, the arguments of a call, and how CPython refuses
//! them. It must not know any class.

use crate::plain::slices::slice_part;
use call::State;
use tensor::{Error, Result, bail};
use value::{Keywords, Value};

/// The arguments of a call of a method.
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

    /// An argument given by its place or by its name.
    pub fn option(&self, index: usize, name: &str) -> Option<&Value> {
        self.args.get(index).or_else(|| self.named(name))
    }

    /// A text; `whose` begins the refusal of anything else: `must be str`, `replace() argument 1 must be str`.
    ///
    /// # Errors
    /// TypeError.
    pub fn str(&self, index: usize, whose: &str) -> Result<&'a str> {
        match self.args.get(index).unwrap_or(&Value::None) {
            Value::Str(text) => Ok(text),
            // What names the argument calls none by its value.
            Value::None if whose.contains("argument") => bail!(TypeError, "{whose}, not None"),
            other => bail!(TypeError, "{whose}, not {}", other.type_name()),
        }
    }

    /// A text that may be left out, of a method that takes its arguments by name too.
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

    /// The two arguments from `from` on as the bounds of a search in `length` items; `None` if the start is behind the
    /// end.
    ///
    /// # Errors
    /// TypeError for what cannot be an end of a slice.
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

/// A method of a class.
pub struct ContainerMethod<T: ?Sized> {
    pub name: &'static str,
    /// The fewest and the most arguments that it takes.
    pub takes: (usize, usize),
    /// Whether it looks at keyword arguments itself.
    pub named: bool,
    /// For a method that CPython takes the arguments of apart by a format: the names that they may have.
    pub names: Option<&'static [&'static str]>,
    pub run: fn(&T, &Given) -> Result<Value>,
    pub doc: &'static str,
}

/// A row of such a table.
pub(crate) const fn takes<T: ?Sized>(
    name: &'static str,
    takes: (usize, usize),
    run: fn(&T, &Given) -> Result<Value>,
    doc: &'static str,
) -> ContainerMethod<T> {
    ContainerMethod { name, takes, named: false, names: None, run, doc }
}

/// A row of a method whose arguments may have names.
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

/// Runs the method of a name, if one of the tables has it.
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
