//! Selects tensors by name, and renames them.

use super::contents::shown;
use super::names::parts_at_most;
use std::cell::Cell;
use std::collections::HashMap;
use tensor::{Result, bail};

/// The number of parts of a name that a pattern may select. More only occur in damaged files.
const DEEPEST: usize = 64;

/// A pattern of names. `*` stands for any characters and `?` for one. What is below a selected name is selected, too:
/// `model` selects `model.weight` and `model[0]`.
#[derive(Debug)]
pub(crate) struct Pattern(Vec<char>);

impl Pattern {
    pub(crate) fn new(text: &str) -> Pattern {
        Pattern(text.chars().collect())
    }

    /// Returns whether the pattern selects a name.
    pub(crate) fn selects(&self, name: &str) -> bool {
        let mut end = 0;
        parts_at_most(name, DEEPEST).into_iter().any(|part| {
            end += part.len();
            name.get(..end).is_some_and(|start| self.is_like(start))
        }) || name.is_empty() && self.is_like(name)
    }

    /// Returns whether the pattern stands for a whole text.
    fn is_like(&self, name: &str) -> bool {
        let name: Vec<char> = name.chars().collect();
        let (mut at, mut place) = (0, 0);
        // The last star, and the place up to which it reaches.
        let mut star = None;
        while place < name.len() {
            match self.0.get(at) {
                Some('*') => {
                    star = Some((at, place));
                    at += 1;
                }
                Some(&c) if c == '?' || name.get(place) == Some(&c) => (at, place) = (at + 1, place + 1),
                _ => {
                    let Some((before, reached)) = star else { return false };
                    star = Some((before, reached + 1));
                    (at, place) = (before + 1, reached + 1);
                }
            }
        }
        self.0.get(at..).is_some_and(|rest| rest.iter().all(|&c| c == '*'))
    }
}

/// Returns whether a name may end here, so that what follows is something within it.
fn is_part(rest: &str) -> bool {
    rest.is_empty() || rest.starts_with(['.', '[', '('])
}

/// What to take, and under which names.
#[derive(Debug)]
pub(crate) struct Selection {
    only: Vec<(Pattern, String, Cell<bool>)>,
    rename: Vec<(String, String, Cell<bool>)>,
}

impl Selection {
    /// Takes the names that match any pattern, or all names if `only` is empty. A name that begins with the first half of
    /// a pair in `rename` begins with the second half instead; the first matching pair counts.
    pub(crate) fn new(only: &[String], rename: &[(String, String)]) -> Selection {
        let pattern = |text: &String| (Pattern::new(text), text.clone(), Cell::new(false));
        let pair = |(old, new): &(String, String)| (old.clone(), new.clone(), Cell::new(false));
        Selection { only: only.iter().map(pattern).collect(), rename: rename.iter().map(pair).collect() }
    }

    /// Returns whether everything is taken, under its own name.
    pub(crate) fn is_all(&self) -> bool {
        self.only.is_empty() && self.rename.is_empty()
    }

    /// Returns whether a name is selected.
    pub(crate) fn takes(&self, name: &str) -> bool {
        let mut is_taken = self.only.is_empty();
        for (pattern, _, is_used) in &self.only {
            if pattern.selects(name) {
                is_used.set(true);
                is_taken = true;
            }
        }
        is_taken
    }

    /// Returns the new name for a name.
    pub(crate) fn renamed(&self, name: &str) -> String {
        for (old, new, is_used) in &self.rename {
            // `model.` is any beginning, `model` a whole part.
            let Some(rest) = name.strip_prefix(old.as_str()) else { continue };
            if old.ends_with('.') || is_part(rest) {
                is_used.set(true);
                return format!("{new}{rest}");
            }
        }
        name.to_owned()
    }

    /// Rejects patterns and names that were never used, which are likely mistakes.
    ///
    /// # Errors
    /// Fails with ValueError for the first of them.
    pub(crate) fn check_used(&self) -> Result<()> {
        let unused = |is_used: &Cell<bool>| !is_used.get();
        if let Some((_, text, _)) = self.only.iter().find(|(.., is_used)| unused(is_used)) {
            bail!(ValueError, "--only {}: no name is like this; inspect lists the names", shown(text));
        }
        if let Some((old, new, _)) = self.rename.iter().find(|(.., is_used)| unused(is_used)) {
            bail!(ValueError, "--rename {} {}: no name begins like this", shown(old), shown(new));
        }
        Ok(())
    }
}

/// Rejects names that two things would have.
///
/// # Errors
/// Fails with ValueError, with where both come from.
pub(crate) fn check_distinct<'n>(names: impl IntoIterator<Item = (&'n str, &'n str)>) -> Result<()> {
    let mut owners: HashMap<&str, (usize, &str)> = HashMap::new();
    for (number, (name, origin)) in names.into_iter().enumerate() {
        let Some((before, other)) = owners.insert(name, (number, origin)) else { continue };
        match other == origin {
            true => bail!(
                ValueError,
                "two tensors would both be called {}: number {before} and number {number} of the file, counted from 0",
                shown(name)
            ),
            false => bail!(ValueError, "{} and {} would both be called {}", shown(other), shown(origin), shown(name)),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A pattern's first character, then the rest, in the simplest way.
    fn simply(pattern: &[char], name: &[char]) -> bool {
        match (pattern.split_first(), name.split_first()) {
            (None, None) => true,
            (Some(('*', rest)), _) if simply(rest, name) => true,
            (Some(('*', _)), Some((_, after))) => simply(pattern, after),
            (Some((&c, rest)), Some((d, after))) => (c == '?' || c == *d) && simply(rest, after),
            _ => false,
        }
    }

    #[test]
    fn patterns_select_like_the_simplest_matcher() {
        let letters = ['a', '.', '*', '?'];
        let word = |mut number: usize, length: usize| -> String {
            let letter = |_| {
                let letter = letters[number % 4];
                number /= 4;
                letter
            };
            (0..length).map(letter).collect()
        };
        for (length, other) in (0..5).flat_map(|length| (0..5).map(move |other| (length, other))) {
            for pattern in (0..4usize.pow(length)).map(|number| word(number, length as usize)) {
                for name in (0..4usize.pow(other)).map(|number| word(number, other as usize)) {
                    let [p, n] = [&pattern, &name].map(|text| text.chars().collect::<Vec<_>>());
                    let ends = (0..=n.len()).filter(|&end| end == n.len() || end > 0 && n[end] == '.');
                    let is_selected = ends.map(|end| &n[..end]).any(|start| simply(&p, start));
                    assert_eq!(Pattern::new(&pattern).selects(&name), is_selected, "{pattern} {name}");
                }
            }
        }
        for (name, is_selected) in [("model", true), ("model.a", true), ("model[0]", true), ("models", false)] {
            assert_eq!(Pattern::new("model").selects(name), is_selected, "{name}");
        }
    }

    #[test]
    fn names_are_renamed_by_whole_parts() {
        let pair = |old: &str, new: &str| (old.to_owned(), new.to_owned());
        let selection = Selection::new(&[], &[pair("module.", ""), pair("head", "tail")]);
        let names = ["module.a", "module", "head", "head.b", "headline"].map(|name| selection.renamed(name));
        assert_eq!(names, ["a", "module", "tail", "tail.b", "headline"]);
        assert!(selection.check_used().is_ok() && !selection.is_all());
        let error = Selection::new(&["x*".to_owned()], &[]).check_used().unwrap_err();
        assert!(error.message.starts_with("--only x*: "), "{error}");
    }
}
