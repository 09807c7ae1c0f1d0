//! How each overload is recorded: by the tables under its key, or as its row says.

use super::composite::{self, Composite};
use super::derivative::Derivative;
use super::derivatives::{TABLES, views::VIEWS};
use std::collections::HashMap;
use std::sync::LazyLock;
use value::{LIBRARY, Value};

/// The way a call is recorded.
#[derive(Clone, Copy)]
pub enum Rule {
    /// Recorded with a row of the derivative table.
    Derivative(&'static Derivative),
    /// Recorded as the calls that the function is composed of.
    Composite(Composite),
    /// Not recorded. The result is not a differentiable function of the arguments, not a tensor, or recorded elsewhere.
    Plain,
    /// Should be recorded, but has no rule. The node fails when a gradient reaches it.
    Missing,
}

/// What the row of a function says about how its calls are recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recorded {
    /// With the derivative or the parts under its own key.
    ByKey,
    /// With those under another key. The arguments are the same.
    Like(&'static str),
    /// Not at all.
    Never,
    /// Not itself, but it calls functions that are.
    InSteps,
}

/// Modules of PyTorch whose functions record for themselves.
const RECORDING: &[&str] = &["autograd", "serialization", "storage", "testing"];

/// The key suffixes of rows for operands that are numbers.
const NUMBER: &str = ".number";
const NUMBER_FIRST: &str = ".number_first";

static RULES: LazyLock<HashMap<&'static str, Rule>> = LazyLock::new(|| {
    let composites = composite::TABLES.iter().copied().flatten();
    let mut rules: HashMap<_, _> = composites.map(|(key, parts)| (*key, Rule::Composite(*parts))).collect();
    rules.extend(derivatives().map(|row| (row.key, Rule::Derivative(row))));
    // A number modulo a tensor. PyTorch cannot differentiate it either.
    rules.insert("remainder.number_first", Rule::Missing);
    rules
});

/// The derivatives of functions that copy a view, which are those of the views. The nodes have names of their own.
static COPIES: LazyLock<Vec<Derivative>> = LazyLock::new(|| {
    let of_view = |row: &Derivative| {
        let (name, overload) = row.key.split_at(row.key.find('.').unwrap_or(row.key.len()));
        let key = format!("{name}_copy{overload}").leak();
        Derivative { key, name: format!("{}_copy", row.name).leak(), ..*row }
    };
    VIEWS.iter().map(of_view).collect()
});

/// Iterates over the rows of the derivative table.
pub fn derivatives() -> impl Iterator<Item = &'static Derivative> {
    TABLES.iter().copied().flatten().chain(&*COPIES)
}

/// Returns the rule for a call. An in-place function has the rule of its out-of-place form, unless it has its own.
/// `in_place` also chooses the in-place form for a function that is told by an argument to work in place.
pub fn rule(key: &str, recorded: Recorded, args: &[Value], in_place: bool) -> Rule {
    let key = match recorded {
        Recorded::Never | Recorded::InSteps => return Rule::Plain,
        Recorded::Like(other) => other,
        Recorded::ByKey => key,
    };
    let is_number = |arg: Option<&Value>| arg.is_some_and(|value| value.as_scalar().is_some());
    let variant = if is_number(args.first()) {
        Some(NUMBER_FIRST)
    } else if is_number(args.get(1)) {
        Some(NUMBER)
    } else {
        None
    };
    let of = |key: &str| {
        let special = variant.and_then(|suffix| RULES.get(format!("{key}{suffix}").as_str()));
        special.or_else(|| RULES.get(key)).copied()
    };
    let within = if in_place && !key.ends_with('_') { of(&format!("{key}_")) } else { None };
    let found = within.or_else(|| of(key)).or_else(|| of(&out_of_place(key)?));
    // Python's own functions compute with functions that are recorded.
    let of_python = || {
        let mut modules = LIBRARY.iter().chain(RECORDING);
        modules.any(|module| key.strip_prefix(module).is_some_and(|rest| rest.starts_with('.')))
    };
    found.unwrap_or_else(|| if of_python() { Rule::Plain } else { Rule::Missing })
}

/// Returns a key such as `mul_.Tensor` without the underscore of in-place functions.
fn out_of_place(key: &str) -> Option<String> {
    match key.split_once('.') {
        Some((name, overload)) => Some(format!("{}.{overload}", name.strip_suffix('_')?)),
        None => key.strip_suffix('_').map(str::to_string),
    }
}
