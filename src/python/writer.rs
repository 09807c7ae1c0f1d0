//! The text being written, its indentation, and the way back from it to the Python source.
//!
//! It must not know either language.

/// Leads from a place in the written text to a place in the source. Coarse: it knows where expressions start.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SourceMap {
    /// (offset in the text, offset in the source), both in bytes, the first ascending.
    entries: Vec<(usize, usize)>,
}

impl SourceMap {
    /// The source offset for a byte offset of the written text: that of the nearest entry at or before it.
    pub fn source_offset(&self, offset: usize) -> usize {
        let after = self.entries.partition_point(|&(at, _)| at <= offset);
        let entry = self.entries.get(after.saturating_sub(1));
        entry.map_or(0, |&(_, source)| source)
    }
}

#[derive(Default)]
pub struct Writer {
    text: String,
    map: SourceMap,
    indent: usize,
    /// Statements follow each other on the same line: they are inside an expression.
    pub inline: usize,
}

impl Writer {
    pub fn push(&mut self, text: &str) {
        self.text.push_str(text);
    }

    pub fn push_char(&mut self, character: char) {
        self.text.push(character);
    }

    /// Marks that the following text stems from this offset of the source. The last mark at a place counts.
    pub fn mark(&mut self, source: usize) {
        let at = self.text.len();
        match self.map.entries.last_mut() {
            Some(last) if last.0 == at => last.1 = source,
            _ => self.map.entries.push((at, source)),
        }
    }

    /// Starts a line, except at the very beginning of the text.
    pub fn line(&mut self) {
        if self.inline > 0 {
            self.text.push(' ');
            return;
        }
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        for _ in 0..self.indent {
            self.text.push_str("    ");
        }
    }

    pub fn line_of(&mut self, text: &str) {
        self.line();
        self.push(text);
    }

    /// Ends a line with an opening brace; what follows is indented.
    pub fn open(&mut self) {
        self.text.push('{');
        self.indent += 1;
    }

    /// A closing brace on its own line.
    pub fn close(&mut self) {
        self.indent = self.indent.saturating_sub(1);
        self.line();
        self.text.push('}');
    }

    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    pub fn finish(self) -> (String, SourceMap) {
        (self.text, self.map)
    }
}
