//! The history for arrow keys, searches and hints. Entries stay in the text of the history file, one per line, and are
//! decoded only when shown: a session uses a few of a hundred thousand, and starts without decoding the rest.

use std::path::Path;

use rustyline::Result;
use rustyline::history::{History, SearchDirection, SearchResult};

use super::history::{HistoryText, escape, unescape};

/// The newest entries, oldest first.
#[derive(Debug, Default)]
pub(crate) struct FileHistory {
    kept: HistoryText,
    limit: usize,
}

impl FileHistory {
    /// Creates the history from the newest `limit` entries of a file.
    pub(crate) fn new(mut kept: HistoryText, limit: usize) -> FileHistory {
        kept.lines.drain(..kept.lines.len().saturating_sub(limit));
        FileHistory { kept, limit }
    }

    fn line(&self, index: usize) -> Option<&str> {
        self.kept.text.get(self.kept.lines.get(index)?.clone())
    }

    /// Returns the nearest entry, from `start` on, in which `find` returns a position.
    fn nearest(
        &self,
        start: usize,
        direction: SearchDirection,
        find: impl Fn(&str) -> Option<usize>,
    ) -> Option<SearchResult<'_>> {
        let seen = |index: usize| {
            let line = self.line(index)?;
            Some(SearchResult { pos: find(line)?, entry: unescape(line), idx: index })
        };
        match direction {
            _ if start >= self.kept.lines.len() => None,
            SearchDirection::Reverse => (0..=start).rev().find_map(seen),
            SearchDirection::Forward => (start..self.kept.lines.len()).find_map(seen),
        }
    }
}

impl History for FileHistory {
    fn get(&self, index: usize, _: SearchDirection) -> Result<Option<SearchResult<'_>>> {
        Ok(self.line(index).map(|line| SearchResult { entry: unescape(line), idx: index, pos: 0 }))
    }

    fn add(&mut self, entry: &str) -> Result<bool> {
        let line = escape(entry);
        if self.limit == 0 || line.is_empty() || self.line(self.kept.lines.len().wrapping_sub(1)) == Some(&*line) {
            return Ok(false);
        }
        let start = self.kept.text.len();
        self.kept.text.push_str(&line);
        self.kept.lines.push_back(start..self.kept.text.len());
        self.set_max_len(self.limit)?;
        Ok(true)
    }

    fn add_owned(&mut self, entry: String) -> Result<bool> {
        self.add(&entry)
    }

    fn len(&self) -> usize {
        self.kept.lines.len()
    }

    fn is_empty(&self) -> bool {
        self.kept.lines.is_empty()
    }

    fn set_max_len(&mut self, limit: usize) -> Result<()> {
        self.limit = limit;
        self.kept.lines.drain(..self.kept.lines.len().saturating_sub(limit));
        Ok(())
    }

    // Consecutive duplicates are always merged, and a leading space has no meaning.
    fn ignore_dups(&mut self, _: bool) -> Result<()> {
        Ok(())
    }

    fn ignore_space(&mut self, _: bool) {}

    // The store writes the file, which other shells may also write to.
    fn save(&mut self, _: &Path) -> Result<()> {
        Ok(())
    }

    fn append(&mut self, _: &Path) -> Result<()> {
        Ok(())
    }

    fn load(&mut self, _: &Path) -> Result<()> {
        Ok(())
    }

    fn clear(&mut self) -> Result<()> {
        *self = FileHistory { limit: self.limit, ..FileHistory::default() };
        Ok(())
    }

    fn search(&self, term: &str, start: usize, direction: SearchDirection) -> Result<Option<SearchResult<'_>>> {
        if term.is_empty() {
            return Ok(None);
        }
        let escaped = escape(term);
        // Reject matches of only half of an escape sequence.
        Ok(self.nearest(start, direction, |line| line.find(&*escaped).and_then(|_| unescape(line).find(term))))
    }

    fn starts_with(&self, term: &str, start: usize, direction: SearchDirection) -> Result<Option<SearchResult<'_>>> {
        if term.is_empty() {
            return Ok(None);
        }
        let escaped = escape(term);
        Ok(self.nearest(start, direction, |line| line.starts_with(&*escaped).then_some(term.len())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use SearchDirection::{Forward, Reverse};

    fn past() -> FileHistory {
        let mut past =
            FileHistory::new(HistoryText::of("#V2\nold\n\nlet a\nlet b = [\\n1]\n'\\\\n'\nnever ended".to_owned()), 4);
        past.add("lot").unwrap();
        past
    }

    #[test]
    fn the_newest_entries_are_kept() {
        let mut past = past();
        let entries = |past: &FileHistory| {
            (0..=past.len())
                .filter_map(|at| Some(past.get(at, Forward).unwrap()?.entry.into_owned()))
                .collect::<Vec<_>>()
        };
        assert_eq!(entries(&past), ["let a", "let b = [\n1]", "'\\n'", "lot"]);
        assert!(!past.add("lot").unwrap() && !past.add("").unwrap() && past.add("größe\n").unwrap());
        assert_eq!(entries(&past), ["let b = [\n1]", "'\\n'", "lot", "größe\n"]);
        past.set_max_len(0).unwrap();
        assert!(past.is_empty() && !past.add("more").unwrap());
    }

    #[test]
    fn searches_see_entries_as_they_were_typed() {
        let past = past();
        let search =
            |term, start, direction| past.search(term, start, direction).unwrap().map(|found| (found.idx, found.pos));
        assert_eq!(search("l", 3, Reverse), Some((3, 0)));
        assert_eq!(search("let", 3, Reverse), Some((1, 0)));
        assert_eq!(search("\n1", 3, Reverse), Some((1, 9)));
        assert_eq!(search("n", 3, Reverse), Some((2, 2)));
        assert_eq!(search("n1", 3, Reverse), None);
        assert_eq!(search("l", 1, Forward), Some((1, 0)));
        assert_eq!((search("l", 4, Reverse), search("", 0, Forward)), (None, None));
        let begins = |term| past.starts_with(term, 3, Reverse).unwrap().map(|found| (found.idx, found.pos));
        assert_eq!(begins("let b = [\n"), Some((1, 10)));
        assert_eq!((begins("'\\n"), begins("et"), begins("'\n")), (Some((2, 3)), None, None));
    }
}
