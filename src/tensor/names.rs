//! Names of dimensions, and how a result's names follow from those of its inputs. Pure functions of names; tensors
//! store the names, and the script room knows which function follows which rule. Follows
//! <https://pytorch.org/docs/2.7/name_inference.html>.

use super::error::{Error, Result};
use super::layout::MOST_NAMED;
use crate::bail;
use std::rc::Rc;

/// The name of one dimension; `None` matches any name.
pub type Name = Option<Rc<str>>;

/// The names of all dimensions, in order. A tensor without names has no `Names`.
pub type Names = Rc<[Name]>;

/// Formats a name like PyTorch: `'N'`, or `None`.
pub fn show_name(name: &Name) -> String {
    match name {
        Some(name) => format!("'{name}'"),
        None => "None".to_owned(),
    }
}

/// Formats a list of names for messages: `['N', None]`.
pub fn show_names(names: &[Name]) -> String {
    format!("[{}]", names.iter().map(show_name).collect::<Vec<_>>().join(", "))
}

/// Checks that a text is a valid dimension name.
///
/// # Errors
/// RuntimeError unless it is an identifier of ASCII letters, digits and underscores.
pub fn check_identifier(name: &str) -> Result<()> {
    let starts_well = name.chars().next().is_some_and(|first| !first.is_ascii_digit());
    if starts_well && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
        return Ok(());
    }
    bail!(
        RuntimeError,
        "Invalid name: a valid identifier contains only digits, alphabetical characters, and/or underscore and starts with \
         a non-digit. got: '{name}'."
    )
}

/// Checks that a tensor of `ndim` dimensions may have these names.
///
/// # Errors
/// RuntimeError if their number differs or a name occurs twice.
pub fn check_valid(ndim: usize, names: &[Name]) -> Result<()> {
    if ndim > MOST_NAMED {
        bail!(
            RuntimeError,
            "Named tensors only support up to {MOST_NAMED} dims: Attempted to create a tensor with dim {ndim} with names {}",
            show_names(names)
        );
    }
    if names.len() != ndim {
        bail!(
            RuntimeError,
            "Number of names ({}) and number of dimensions in tensor ({ndim}) do not match. Attempted to create a tensor \
             with names {}",
            names.len(),
            show_names(names)
        );
    }
    let is_double = |(i, name): (usize, &Name)| name.is_some() && names.iter().skip(i + 1).any(|other| other == name);
    if names.iter().enumerate().any(is_double) {
        bail!(RuntimeError, "Cannot construct a tensor with duplicate names. Got names: {}.", show_names(names));
    }
    Ok(())
}

/// Returns PyTorch's error for writing a tensor with names to a file.
pub fn not_saved() -> Error {
    Error::runtime(
        "NYI: Named tensors don't support serialization. Please drop names via `tensor = tensor.rename(None)` before \
         serialization.",
    )
}

/// Returns the position of the dimension with this name.
///
/// # Errors
/// RuntimeError if there is no such dimension, and for `None`.
pub fn position(names: &[Name], name: &Name) -> Result<usize> {
    if name.is_none() {
        bail!(RuntimeError, "Please look up dimensions by name, got: name = None.");
    }
    names
        .iter()
        .position(|known| known == name)
        .ok_or_else(|| Error::runtime(format!("Name {} not found in Tensor{}.", show_name(name), show_names(names))))
}

/// Returns the names of the result of broadcasting: pairs are matched from the right, and a name takes precedence over
/// `None`. `action` describes the attempt in messages.
///
/// # Errors
/// RuntimeError if a pair differs, or if a name matched with `None` occurs elsewhere in the other list.
pub fn unify(names: &[Name], other: &[Name], action: &str) -> Result<Vec<Name>> {
    let size = names.len().max(other.len());
    let from_right = |list: &[Name], i: usize| list.len().checked_sub(i + 1).and_then(|at| list[at].clone());
    let mut result = vec![None; size];
    for i in 0..size {
        let pair = (from_right(names, i), from_right(other, i));
        let unified = match &pair {
            (Some(a), Some(b)) if a != b => bail!(
                RuntimeError,
                "Error when attempting to {action} dims {} and dims {}: dim '{a}' and dim '{b}' are at the same position \
                 from the right but do not match.",
                show_names(names),
                show_names(other)
            ),
            (a, b) => a.clone().or_else(|| b.clone()),
        };
        result[size - i - 1] = unified;
        if pair.0.is_none() || pair.1.is_none() {
            check_aligned(&pair.0, names, other, action)?;
            check_aligned(&pair.1, other, names, action)?;
        }
    }
    Ok(result)
}

/// Refuses a name that was matched with `None` but occurs elsewhere among the others.
fn check_aligned(name: &Name, names: &[Name], other: &[Name], action: &str) -> Result<()> {
    if name.is_none() || !other.contains(name) {
        return Ok(());
    }
    bail!(
        RuntimeError,
        "Misaligned dims when attempting to {action} dims {} and dims {}: dim {} appears in a different position from the \
         right across both lists.",
        show_names(names),
        show_names(other),
        show_name(name)
    )
}

/// A name and where it comes from, for the messages of [`unify_batches`].
#[derive(Clone, Copy)]
struct Origin<'a> {
    names: &'a [Name],
    /// Negative indices count from the end.
    index: i64,
}

impl<'a> Origin<'a> {
    fn name(self) -> &'a Name {
        const ANY: &Name = &None;
        let at = if self.index < 0 { self.index + self.names.len() as i64 } else { self.index };
        usize::try_from(at).ok().and_then(|at| self.names.get(at)).unwrap_or(ANY)
    }

    fn show(self) -> String {
        format!("{} (index {} of {})", show_name(self.name()), self.index, show_names(self.names))
    }
}

/// Broadcasts the names of all but the last two dimensions of both operands; returns each with its origin.
fn unify_batches<'a>(names: &'a [Name], other: &'a [Name], function: &str) -> Result<Vec<Origin<'a>>> {
    let batch = |names: &'a [Name]| -> Vec<Origin<'a>> {
        (0..names.len().saturating_sub(2)).map(|i| Origin { names, index: i as i64 }).collect()
    };
    let (mut longer, mut shorter) = (batch(names), batch(other));
    if longer.len() < shorter.len() {
        std::mem::swap(&mut longer, &mut shorter);
    }
    let surplus = longer.len() - shorter.len();
    for (long, short) in longer[surplus..].iter_mut().zip(shorter) {
        // Messages name the first operand first.
        let (first, second) = if std::ptr::eq(long.names, names) { (*long, short) } else { (short, *long) };
        *long = match (first.name(), second.name()) {
            (None, None) => first,
            (Some(a), Some(b)) if a == b => first,
            (Some(_), None) => unnamed_match(first, second, function)?,
            (None, Some(_)) => unnamed_match(second, first, function)?,
            (Some(_), Some(_)) => bail!(
                RuntimeError,
                "{function}: Expected {} to match {} but they do not match.",
                first.show(),
                second.show()
            ),
        };
    }
    Ok(longer)
}

/// Returns the name that was matched with `None`, unless it occurs elsewhere in the list that has the `None`.
fn unnamed_match<'a>(named: Origin<'a>, any: Origin<'a>, function: &str) -> Result<Origin<'a>> {
    if !any.names.contains(named.name()) {
        return Ok(named);
    }
    bail!(
        RuntimeError,
        "{function}: Cannot match {} with {} because the latter names already have {}. Are your tensors misaligned?",
        named.show(),
        any.show(),
        show_name(named.name())
    )
}

/// Returns the names of a product of matrices or vectors, or of batches of them, without the dimensions that are
/// summed.
///
/// # Errors
/// RuntimeError if an operand has no dimension, batches differ, or both remaining dimensions have the same name.
pub fn matmul(names: &[Name], other: &[Name]) -> Result<Vec<Name>> {
    let (Some(_), Some(_)) = (names.first(), other.first()) else {
        bail!(
            RuntimeError,
            "both arguments to matmul need to be at least 1D, but they are {}D and {}D",
            names.len(),
            other.len()
        );
    };
    let batch = unify_batches(names, other, "matmul")?;
    let mut result: Vec<Name> = batch.iter().map(|origin| origin.name().clone()).collect();
    if let [.., row, _] = names {
        result.push(row.clone());
    }
    if let [.., _, column] = other {
        result.push(column.clone());
    }
    if let ([.., a, b], true) = (result.as_slice(), names.len() >= 2 && other.len() >= 2)
        && a.is_some()
        && a == b
    {
        bail!(
            RuntimeError,
            "Matrix multiplying Tensor{} with Tensor{} would produce output tensor with duplicate names {}. Please rename \
             the input tensors with `Tensor.rename` to prevent this.",
            show_names(names),
            show_names(other),
            show_names(&result)
        );
    }
    Ok(result)
}

/// Returns the names of the distances between the vectors of two batches: each operand's batch names and its dimension
/// of vectors.
///
/// # Errors
/// RuntimeError if batches differ or a name would occur twice.
pub fn distances(names: &[Name], other: &[Name]) -> Result<Vec<Name>> {
    let mut origins = unify_batches(names, other, "cdist")?;
    origins.push(Origin { names, index: -2 });
    origins.push(Origin { names: other, index: -2 });
    for (i, origin) in origins.iter().enumerate() {
        let twice = origins.iter().skip(i + 1).find(|later| later.name() == origin.name());
        if let (Some(_), Some(twice)) = (origin.name(), twice) {
            let all: Vec<String> = origins.iter().map(|origin| show_name(origin.name())).collect();
            bail!(
                RuntimeError,
                "cdist: Attempted to propagate dims {} and {} to the output, but that would create a tensor with duplicate \
                 names [{}]. Please rename your inputs with Tensor.rename to prevent this.",
                origin.show(),
                twice.show(),
                all.join(" ")
            );
        }
    }
    Ok(origins.into_iter().map(|origin| origin.name().clone()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<Name> {
        text.split_whitespace().map(|name| (name != "_").then(|| name.into())).collect()
    }

    fn error_text(result: Result<Vec<Name>>) -> String {
        result.map_or_else(|error| error.message, |names| show_names(&names))
    }

    #[test]
    fn names_are_matched_from_the_right() {
        let rows = [
            ("N C", "C", "['N', 'C']"),
            ("N _", "_ C", "['N', 'C']"),
            ("", "N", "['N']"),
            (
                "N C",
                "N",
                "Error when attempting to broadcast dims ['N', 'C'] and dims ['N']: dim 'C' and dim 'N' are at \
                          the same position from the right but do not match.",
            ),
            (
                "N _",
                "N",
                "Misaligned dims when attempting to broadcast dims ['N', None] and dims ['N']: dim 'N' appears in \
                          a different position from the right across both lists.",
            ),
        ];
        for (a, b, wanted) in rows {
            let got = error_text(unify(&names(a), &names(b), "broadcast"));
            assert!(
                got.replace("dims ['N'] and dims ['N', None]", "dims ['N', None] and dims ['N']") == wanted,
                "{got}"
            );
        }
    }

    #[test]
    fn products_drop_what_is_multiplied_away() {
        let rows = [
            ("A B", "B C", "['A', 'C']"),
            ("N A B", "B", "['N', 'A']"),
            ("B", "N B C", "['N', 'C']"),
            ("B", "B", "[]"),
            ("N A B", "X N B C", "['X', 'N', 'A', 'C']"),
        ];
        for (a, b, wanted) in rows {
            assert_eq!(error_text(matmul(&names(a), &names(b))), wanted);
        }
    }
}
