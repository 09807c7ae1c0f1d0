//! The text that the engine reads: the typed text with small edits inside its lines. Every position of the engine is
//! mapped back to the typed text.

use std::borrow::Cow;

/// An edit: replaces bytes of the typed text. Neither the old nor the new text contains a line break.
#[derive(Clone, Debug)]
pub struct Edit {
    pub at: usize,
    pub removed: usize,
    pub text: Cow<'static, str>,
}

/// The edited text and its edits.
#[derive(Clone, Debug)]
pub struct EditedText {
    pub text: String,
    edits: Vec<Edit>,
    /// The edits in characters, in order of position.
    shifts: Vec<SourceShift>,
}

/// An edit at a line and a column of the typed text, both from 1.
#[derive(Clone, Debug)]
struct SourceShift {
    line: usize,
    column: usize,
    removed: usize,
    inserted: usize,
}

impl EditedText {
    /// Applies edits to a text. For insertions at the same place, later ones come first, and replacements last.
    pub fn new(source: &str, mut edits: Vec<Edit>) -> EditedText {
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
            shifts.push(SourceShift { line, column, removed, inserted: edit.text.chars().count() });
            column += removed;
        }
        text.push_str(source.get(done..).unwrap_or_default());
        EditedText { text, edits, shifts }
    }

    /// Returns the edits in their original order.
    pub(crate) fn edits(&self) -> Vec<Edit> {
        self.edits.iter().rev().cloned().collect()
    }

    /// Returns whether `text` was inserted at a position of the typed text.
    pub(crate) fn inserts(&self, line: usize, column: usize, text: &str) -> bool {
        let mut changes = self.shifts.iter().zip(&self.edits);
        changes.any(|(shift, edit)| (shift.line, shift.column) == (line, column) && edit.text == text)
    }

    /// Returns the byte of the typed text for a position of this text.
    pub(crate) fn typed_offset(&self, source: &str, line: usize, column: usize) -> Option<usize> {
        let start: usize = source.split_inclusive('\n').take(line - 1).map(str::len).sum();
        let text = source.get(start..)?;
        let column = self.typed_column(line, column);
        text.char_indices().map(|(at, _)| start + at).nth(column - 1)
    }

    /// For a position inside inserted text, returns the index of the edit in [`EditedText::edits`] and the character
    /// within its text.
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

    /// Returns the column of the typed text for a position of this text. Inside inserted text, this is the column of
    /// the insertion.
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

/// Converts ascending positions to byte offsets.
pub struct Offsets<'s> {
    rest: std::str::CharIndices<'s>,
    line: usize,
    column: usize,
}

impl<'s> Offsets<'s> {
    pub fn new(source: &'s str) -> Offsets<'s> {
        Offsets { rest: source.char_indices(), line: 1, column: 1 }
    }

    /// Returns `None` for a position before the last one: the engine counts lines and columns only up to 65,535.
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
        // Of two brackets inserted at one place, the outer one is given later.
        let edits =
            vec![edit(7, 0, "slice(()"), edit(7, 1, ", ()"), edit(8, 0, ")"), edit(7, 0, "at("), edit(12, 0, ")")];
        let written = EditedText::new(typed, edits);
        assert_eq!(written.text, "é = x[at(slice((), ()), ü)]\ny[1]");
        for (line, (typed, text)) in typed.lines().zip(written.text.lines()).enumerate() {
            for (column, c) in text.chars().enumerate() {
                let told = written.typed_column(line + 1, column + 1);
                let at = typed.chars().nth(told - 1);
                assert!(at == Some(c) || "at(slice(), )]:".contains(c), "{line}:{column} is at {told}, {at:?}");
            }
        }
        assert_eq!(written.typed_column(1, 25), 10);
        let further = EditedText::new(typed, [vec![edit(0, 0, "let ")], written.edits()].concat());
        assert_eq!(further.text, "let é = x[at(slice((), ()), ü)]\ny[1]");
        assert_eq!((further.typed_column(1, 29), further.typed_column(2, 3)), (10, 3));
    }
}
