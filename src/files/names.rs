//! The names of tensors and other values: the keys that lead to them. A name is short where it can be. Where two would
//! be the same, as of `{"a.b": t, "a": {"b": u}}`, keys that are not words are quoted: `'a.b'` and `a.b`.

use std::collections::HashMap;
use tensor::{BufferKind, Result};
use value::Value;

/// How keys are written in names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keys {
    /// As they are.
    Plain,
    /// In quotes, unless they are words. No two paths then have the same name.
    Quoted,
}

impl Keys {
    /// Returns the name of the value under a string key.
    pub(crate) fn under(self, name: &str, key: &str) -> String {
        let key = if self == Keys::Quoted && !is_word(key) { quoted(key) } else { key.to_owned() };
        if name.is_empty() { key } else { format!("{name}.{key}") }
    }

    /// Returns whether an attribute of a module does not show in names: its dictionaries of parts, as in `state_dict`.
    pub(crate) fn hides(self, attribute: &str) -> bool {
        self == Keys::Plain && matches!(attribute, "_modules" | "_parameters" | "_buffers")
    }
}

/// Returns the name of the value at an index, or under a key that is not a string. `text` is as in Python.
pub(crate) fn at(name: &str, text: impl std::fmt::Display) -> String {
    format!("{name}[{text}]")
}

/// Splits a name before its dots and brackets: `a`, `.b`, `[0]`. What is in quotes or brackets stays together.
pub(crate) fn parts(name: &str) -> impl Iterator<Item = &str> {
    let mut rest = name;
    std::iter::from_fn(move || {
        let (mut quote, mut is_escaped, mut depth) = (None, false, 0usize);
        let mut length = rest.len();
        for (place, c) in rest.char_indices() {
            let is_start = place > 0 && quote.is_none() && depth == 0 && matches!(c, '.' | '[' | '(');
            if is_start {
                length = place;
                break;
            }
            match quote {
                Some(_) if is_escaped => is_escaped = false,
                Some(_) if c == '\\' => is_escaped = true,
                Some(open) if c == open => quote = None,
                None if matches!(c, '\'' | '"') => quote = Some(c),
                None if matches!(c, '[' | '(') => depth += 1,
                None if matches!(c, ']' | ')') => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
        let (part, after) = rest.split_at_checked(length)?;
        rest = after;
        (!part.is_empty()).then_some(part)
    })
}

/// Splits a name into at most `most` parts, of which the last is all the rest.
pub(crate) fn parts_at_most(name: &str, most: usize) -> Vec<&str> {
    let (mut found, mut start) = (Vec::new(), 0);
    for part in parts(name) {
        if found.len() + 1 == most {
            found.extend(name.get(start..));
            break;
        }
        found.push(part);
        start += part.len();
    }
    found
}

/// Returns a key that sorts names with numbers in them by the value of the numbers.
pub(crate) fn natural(name: &str) -> Vec<(String, u64)> {
    let mut key = Vec::new();
    let mut rest = name;
    while !rest.is_empty() {
        let text = rest.find(|c: char| c.is_ascii_digit()).unwrap_or(rest.len());
        let (before, after) = rest.split_at_checked(text).unwrap_or((rest, ""));
        let digits = after.find(|c: char| !c.is_ascii_digit()).unwrap_or(after.len());
        let (digits, after) = after.split_at_checked(digits).unwrap_or((after, ""));
        key.push((before.to_owned(), digits.parse().unwrap_or(u64::MAX)));
        rest = after;
    }
    key
}

fn is_word(key: &str) -> bool {
    !key.is_empty() && key.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-')
}

/// Quotes a string like Python.
pub(crate) fn quoted(text: &str) -> String {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    let mut out = String::from(quote);
    for c in text.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\\' => out.push_str("\\\\"),
            c if c == quote => out.extend(['\\', c]),
            c if c.is_control() => out.extend(format!("\\x{:02x}", u32::from(c)).chars()),
            c => out.push(c),
        }
    }
    out.push(quote);
    out
}

/// Returns the name of the value under a key of a dictionary. `place` is the key's position, which names a key without
/// a text of its own, such as a tensor.
pub(crate) fn under_key(keys: Keys, name: &str, key: &Value, place: usize) -> String {
    match key {
        Value::Str(key) => keys.under(name, key),
        other => at(name, text_of(other).unwrap_or_else(|| format!("{} {place}", other.type_name()))),
    }
}

/// Formats a key like Python. `None` for values that are told apart by identity.
fn text_of(key: &Value) -> Option<String> {
    Some(match key {
        Value::None => "None".to_owned(),
        Value::Bool(truth) => if *truth { "True" } else { "False" }.to_owned(),
        Value::Int(number) => number.to_string(),
        Value::BigInt(number) => number.to_string(),
        Value::Float(number) => format!("{number:?}"),
        Value::Complex(number) => format!("complex({:?}, {:?})", number.re, number.im),
        Value::Str(text) => quoted(text),
        Value::DType(dtype) => format!("torch.{}", dtype.name()),
        Value::Device(device) => device.to_string(),
        Value::Size(sizes) => format!("torch.Size({:?})", sizes.as_slice()),
        Value::Buffer(buffer) if buffer.kind() == BufferKind::Bytes => {
            format!("b'{}'", buffer.memory().to_vec().ok()?.escape_ascii())
        }
        Value::Tuple(items) => match items.iter().map(text_of).collect::<Option<Vec<_>>>()?.as_slice() {
            [one] => format!("({one},)"),
            several => format!("({})", several.join(", ")),
        },
        _ => return None,
    })
}

/// A tensor or another value that contains no others, by its name.
#[derive(Clone, Debug)]
pub(crate) struct Leaf<T> {
    pub name: String,
    pub of: T,
}

/// Returns the leaves found by `walk`, with keys quoted in names that would occur twice. `parts` says which names a leaf
/// is listed under: its own, or those of its parts.
///
/// # Errors
/// The errors of `walk`, which finds the same leaves in the same order each time.
pub(crate) fn distinct<T>(
    walk: impl Fn(Keys) -> Result<Vec<Leaf<T>>>,
    parts: impl Fn(&Leaf<T>) -> Vec<String>,
) -> Result<Vec<Leaf<T>>> {
    /// A quoted name is equal to a plain one only by intent, and the quotes of each round are longer.
    const ROUNDS: usize = 8;
    let mut leaves = walk(Keys::Plain)?;
    let mut clashing = repeated(&leaves, &parts);
    if clashing.is_empty() {
        return Ok(leaves);
    }
    let quoted = walk(Keys::Quoted)?;
    for _ in 0..ROUNDS {
        for &index in &clashing {
            if let (Some(leaf), Some(quoted)) = (leaves.get_mut(index), quoted.get(index)) {
                leaf.name.clone_from(&quoted.name);
            }
        }
        clashing = repeated(&leaves, &parts);
        if clashing.is_empty() {
            return Ok(leaves);
        }
    }
    Ok(quoted)
}

/// Returns the indices of all leaves with a name that occurs more than once.
fn repeated<T>(leaves: &[Leaf<T>], parts: impl Fn(&Leaf<T>) -> Vec<String>) -> Vec<usize> {
    let mut owners: HashMap<String, usize> = HashMap::new();
    let mut clashing = Vec::new();
    for (index, leaf) in leaves.iter().enumerate() {
        for name in parts(leaf) {
            if let Some(&other) = owners.get(&name) {
                clashing.extend([other, index]);
            } else {
                owners.insert(name, index);
            }
        }
    }
    clashing
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(paths: &[&[&str]]) -> Vec<String> {
        let walk = |keys: Keys| {
            let name = |path: &&[&str]| path.iter().fold(String::new(), |name, key| keys.under(&name, key));
            Ok(paths.iter().map(|path| Leaf { name: name(path), of: () }).collect())
        };
        let found = distinct(walk, |leaf| vec![leaf.name.clone()]).unwrap();
        found.into_iter().map(|leaf| leaf.name).collect()
    }

    #[test]
    fn names_have_parts_and_a_natural_order() {
        let split = |name| parts(name).collect::<Vec<_>>();
        assert_eq!(split("a.b[0](1).c"), ["a", ".b", "[0]", "(1)", ".c"]);
        assert_eq!(split("'a.b'.c"), ["'a.b'", ".c"]);
        assert_eq!(split("'it\\'s.x'.y['.z']"), ["'it\\'s.x'", ".y", "['.z']"]);
        assert_eq!(split("it's.x"), ["it's.x"]);
        assert_eq!(split("[(1, 'x')].a[1.5](0)"), ["[(1, 'x')]", ".a", "[1.5]", "(0)"]);
        assert_eq!(split("a[0"), ["a", "[0"]);
        assert!(split("").is_empty());
        let mut names = ["layers.10.w", "layers.9.w", "layers.9.b", "a"];
        names.sort_by_key(|name| natural(name));
        assert_eq!(names, ["a", "layers.9.b", "layers.9.w", "layers.10.w"]);
    }

    #[test]
    fn keys_are_quoted_only_where_two_names_would_be_the_same() {
        assert_eq!(names(&[&["a.b"], &["a", "c"]]), ["a.b", "a.c"]);
        assert_eq!(names(&[&["a.b"], &["a", "b"], &["x.y"]]), ["'a.b'", "a.b", "x.y"]);
        assert_eq!(names(&[&["a", "b.c"], &["a.b", "c"]]), ["a.'b.c'", "'a.b'.c"]);
        // A key may be what quoting makes of another.
        assert_eq!(names(&[&["a.b"], &["a", "b"], &["'a.b'"]]), ["'a.b'", "a.b", "\"'a.b'\""]);
        assert_eq!(quoted("it's\n\"x\"\u{1b}"), "'it\\'s\\n\"x\"\\x1b'");
    }
}
