//! A text as the engine reads it, made of a typed one by small changes within its lines. Every place of the engine's is
//! told in the text that was typed.

use std::borrow::Cow;

/// A change: bytes of the typed text give way to others. Neither have a line's end.
#[derive(Clone, Debug)]
pub struct Edit {
    pub at: usize,
    pub removed: usize,
    pub text: Cow<'static, str>,
}

/// The text and its changes.
#[derive(Clone, Debug)]
pub struct Written {
    pub text: String,
    edits: Vec<Edit>,
    /// The changes in characters, from the first line to the last.
    shifts: Vec<Shift>,
}

/// A change at a line and a column of the typed text, both from 1.
#[derive(Clone, Debug)]
struct Shift {
    line: usize,
    column: usize,
    removed: usize,
    inserted: usize,
}

impl Written {
    /// Changes a text. Of insertions at one place those given later come first, and what is put in place of others last.
    pub fn new(source: &str, mut edits: Vec<Edit>) -> Written {
        edits.reverse();
        edits.sort_by_key(|edit| (edit.at, edit.removed > 0));
        let mut text = String::with_capacity(source.len() + 8 * edits.len());
        let mut shifts = Vec::with_capacity(edits.len());
        let (mut done, mut line, mut column) = (0, 1, 1);
        for edit in &edits {
            let kept = source.get(done..edit.at).unwrap_or_default();
            text.push_str(kept);
            text.push_str(&edit.text);
            line += kept.matches('\n').count();
            column = match kept.rsplit_once('\n') {
                Some((_, last)) => last.chars().count() + 1,
                None => column + kept.chars().count(),
            };
            done = edit.at + edit.removed;
            let removed = source.get(edit.at..done).unwrap_or_default().chars().count();
            shifts.push(Shift { line, column, removed, inserted: edit.text.chars().count() });
            column += removed;
        }
        text.push_str(source.get(done..).unwrap_or_default());
        Written { text, edits, shifts }
    }

    /// The changes, as they were given.
    pub(crate) fn edits(&self) -> Vec<Edit> {
        self.edits.iter().rev().cloned().collect()
    }

    /// Returns whether a text was inserted at a place of the typed one.
    pub(crate) fn inserts(&self, line: usize, column: usize, text: &str) -> bool {
        let mut changes = self.shifts.iter().zip(&self.edits);
        changes.any(|(shift, edit)| (shift.line, shift.column) == (line, column) && edit.text == text)
    }

    /// The byte of the typed text behind a place of this one.
    pub(crate) fn typed_offset(&self, source: &str, line: usize, column: usize) -> Option<usize> {
        let start: usize = source.split_inclusive('\n').take(line - 1).map(str::len).sum();
        let text = source.get(start..)?;
        let column = self.typed_column(line, column);
        text.char_indices().map(|(at, _)| start + at).nth(column - 1)
    }

    /// The change, as [`Written::edits`] counts them, and the character of its text at a place that was not typed.
    pub fn inserted(&self, line: usize, column: usize) -> Option<(usize, usize)> {
        let mut typed = column;
        for (index, shift) in self.shifts.iter().enumerate().filter(|(_, shift)| shift.line == line) {
            let within = typed.checked_sub(shift.column)?;
            if within < shift.inserted {
                return (within > 0).then_some((self.shifts.len() - 1 - index, within));
            }
            typed = typed - shift.inserted + shift.removed;
        }
        None
    }

    /// The column of the typed text behind a place of this one; in what was inserted, the column where it was.
    pub(crate) fn typed_column(&self, line: usize, column: usize) -> usize {
        let mut typed = column;
        let first = self.shifts.partition_point(|shift| shift.line < line);
        for shift in self.shifts.iter().skip(first).take_while(|shift| shift.line == line) {
            if typed < shift.column {
                break;
            }
            if typed < shift.column + shift.inserted {
                return shift.column;
            }
            typed = typed - shift.inserted + shift.removed;
        }
        typed
    }
}

/// Finds the bytes of places that come one behind the other.
pub struct Offsets<'s> {
    rest: std::str::CharIndices<'s>,
    line: usize,
    column: usize,
}

impl<'s> Offsets<'s> {
    pub fn new(source: &'s str) -> Offsets<'s> {
        Offsets { rest: source.char_indices(), line: 1, column: 1 }
    }

    /// Nothing for a place that lies before the last one: the engine counts lines and columns to 65,535 only.
    pub fn of(&mut self, line: usize, column: usize) -> Option<usize> {
        while (self.line, self.column) < (line, column) {
            match self.rest.next()?.1 {
                '\n' => (self.line, self.column) = (self.line + 1, 1),
                _ => self.column += 1,
            }
        }
        ((self.line, self.column) == (line, column)).then(|| self.rest.offset())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edit(at: usize, removed: usize, text: &'static str) -> Edit {
        Edit { at, removed, text: text.into() }
    }

    #[test]
    fn every_column_of_what_was_kept_is_told_where_it_was_typed() {
        let typed = "é = x[:, ü]\ny[1]";
        // Of brackets in one place the outer one is given later.
        let edits =
            vec![edit(7, 0, "slice(()"), edit(7, 1, ", ()"), edit(8, 0, ")"), edit(7, 0, "at("), edit(12, 0, ")")];
        let written = Written::new(typed, edits);
        assert_eq!(written.text, "é = x[at(slice((), ()), ü)]\ny[1]");
        for (line, (typed, text)) in typed.lines().zip(written.text.lines()).enumerate() {
            for (column, c) in text.chars().enumerate() {
                let told = written.typed_column(line + 1, column + 1);
                let at = typed.chars().nth(told - 1);
                assert!(at == Some(c) || "at(slice(), )]:".contains(c), "{line}:{column} is at {told}, {at:?}");
            }
        }
        assert_eq!(written.typed_column(1, 25), 10);
        let further = Written::new(typed, [vec![edit(0, 0, "let ")], written.edits()].concat());
        assert_eq!(further.text, "let é = x[at(slice((), ()), ü)]\ny[1]");
        assert_eq!((further.typed_column(1, 29), further.typed_column(2, 3)), (10, 3));
    }
}
