//! The lines of notebooks that IPython reads and Python does not: magics, commands of the system, questions about a name,
//! and the calls that `jupyter nbconvert --to script` writes in their place. They are removed and named, so that the rest
//! runs.

use super::Language;
use super::logical::LineScanner;

/// The magics of a cell whose lines are Python that runs as usual.
const OF_PYTHON: &[&str] = &["%%time", "%%timeit", "%%capture"];

/// Beginnings of the lines that mark a new cell in a script.
const CELL_MARKS: &[&str] = &["# %%", "#%%", "# In["];

/// Removes the magics of a Python source and keeps its line numbers. Returns the remaining source, and the removed lines
/// with their numbers, from 1. The magic `%%name` in the first line of a cell removes the whole cell, except `%%time`,
/// `%%timeit` and `%%capture`. A source is one cell, or several with lines like `# %%` or `# In[1]:` between them.
pub fn without_magics(source: &str) -> (String, Vec<(usize, String)>) {
    let mut reader = MagicReader::default();
    for (number, line) in (1..).zip(source.split_inclusive('\n')) {
        reader.line(number, line);
    }
    (reader.code, reader.removed)
}

/// The kind of lines that are being read.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Within {
    /// The lines above the first code of a cell.
    #[default]
    Start,
    Code,
    /// A removed line that a backslash or an open bracket continues.
    Magic,
    /// A removed cell.
    Foreign,
}

struct MagicReader {
    code: String,
    removed: Vec<(usize, String)>,
    within: Within,
    scanner: LineScanner,
}

impl Default for MagicReader {
    fn default() -> MagicReader {
        let scanner = LineScanner::new(Language::Python);
        MagicReader { code: String::new(), removed: Vec::new(), within: Within::default(), scanner }
    }
}

impl MagicReader {
    fn line(&mut self, number: usize, whole: &str) {
        let line = whole.trim_end_matches(['\n', '\r']);
        let text = line.trim();
        let is_open = self.scanner.is_open();
        if !is_open && CELL_MARKS.iter().any(|mark| line.starts_with(mark)) {
            self.within = Within::Start;
        }
        let was_magic = self.within == Within::Magic;
        let is_removed = match self.within {
            Within::Foreign => true,
            Within::Magic => {
                self.reads(line, is_python(text) || is_open);
                true
            }
            Within::Start if !is_open && (text.is_empty() || text.starts_with('#')) => false,
            within if !is_open && is_magic(text) => {
                self.removed.push((number, text.to_owned()));
                let name = text.split_whitespace().next().unwrap_or_default();
                if within == Within::Start && name.starts_with("%%") && !OF_PYTHON.contains(&name) {
                    self.within = Within::Foreign;
                } else {
                    self.reads(line, is_python(text));
                }
                true
            }
            _ => {
                self.within = Within::Code;
                self.scanner.line(line);
                if self.scanner.is_faulty() {
                    self.scanner = LineScanner::new(Language::Python);
                }
                false
            }
        };
        if !is_removed {
            self.code.push_str(whole);
            return;
        }
        if self.within != Within::Foreign && !was_magic && line.starts_with([' ', '\t']) {
            // The block around it may have no other statement.
            self.code.push_str(line.get(..line.len() - line.trim_start().len()).unwrap_or_default());
            self.code.push_str("pass");
        }
        self.code.push_str(whole.get(line.len()..).unwrap_or_default());
    }

    /// Reads a removed line, to learn whether the next one continues it.
    fn reads(&mut self, line: &str, is_python: bool) {
        if is_python {
            self.scanner.line(line);
        }
        let goes_on = if is_python { self.scanner.is_open() } else { line.ends_with('\\') };
        self.within = if goes_on { Within::Magic } else { Within::Code };
    }
}

/// Returns whether a removed line follows Python's rules for brackets and strings.
fn is_python(line: &str) -> bool {
    calls_ipython(line) || assigned(line).is_some_and(calls_ipython)
}

fn calls_ipython(code: &str) -> bool {
    code.starts_with("get_ipython(")
}

/// Returns whether a line is one that only IPython reads.
fn is_magic(line: &str) -> bool {
    let is_command = |code: &str| code.starts_with(['%', '!']) || calls_ipython(code);
    is_command(line) || assigned(line).is_some_and(is_command) || is_question(line)
}

/// Returns the right side of `name = …`.
fn assigned(line: &str) -> Option<&str> {
    let (target, value) = line.split_once('=')?;
    let is_target = |c: char| c.is_alphanumeric() || "_., []".contains(c);
    (!value.starts_with('=') && !target.is_empty() && target.chars().all(is_target)).then(|| value.trim_start())
}

/// Returns whether a line asks for help: `name?`, `?name`, `name??`.
fn is_question(line: &str) -> bool {
    let name = line.strip_prefix('?').or_else(|| line.strip_suffix('?'));
    let name = name.map(|name| name.trim_matches('?').trim());
    name.is_some_and(|name| !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "_.*%".contains(c)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_of_ipython_are_removed_and_named() {
        /// The source, the rest of it, and the removed lines.
        type Row<'a> = (&'a str, &'a str, &'a [(usize, &'a str)]);
        let rows: &[Row] = &[
            ("", "", &[]),
            ("x = 1", "x = 1", &[]),
            ("%matplotlib inline\nx = 1\n", "\nx = 1\n", &[(1, "%matplotlib inline")]),
            ("x\r\n!pip install y \\\r\n  z\r\nw", "x\r\n\r\n\r\nw", &[(2, "!pip install y \\")]),
            ("x?\n?x.y\nx??\n??x", "\n\n\n", &[(1, "x?"), (2, "?x.y"), (3, "x??"), (4, "??x")]),
            ("files = !ls\na, b = %time f()", "\n", &[(1, "files = !ls"), (2, "a, b = %time f()")]),
            ("x %= 3\ny = x != 3\nx == 3\nx[1] = 'a%?'  # ok?", "x %= 3\ny = x != 3\nx == 3\nx[1] = 'a%?'  # ok?", &[]),
            ("y = (x\n% 3)\n'''\n%a\n!b\nc?\n'''", "y = (x\n% 3)\n'''\n%a\n!b\nc?\n'''", &[]),
            ("if x:\n    %time f()\nelse:\n\t!ls", "if x:\n    pass\nelse:\n\tpass", &[(2, "%time f()"), (4, "!ls")]),
            ("get_ipython().system(\n'ls')\nx", "\n\nx", &[(1, "get_ipython().system(")]),
            ("y = get_ipython().getoutput('(')\nx", "\nx", &[(1, "y = get_ipython().getoutput('(')")]),
            ("# c\n\n%%bash\nls\n\nrm x\n", "# c\n\n\n\n\n\n", &[(3, "%%bash")]),
            ("%%bash\nls\n# In[2]:\n\nx = 1", "\n\n# In[2]:\n\nx = 1", &[(1, "%%bash")]),
            ("x\n# %%\n%%html\n<b>\n# %%\ny", "x\n# %%\n\n\n# %%\ny", &[(3, "%%html")]),
            ("%%time\nx = 1\n", "\nx = 1\n", &[(1, "%%time")]),
            ("%%capture out\nx = 1\n%%bash\ny", "\nx = 1\n\ny", &[(1, "%%capture out"), (3, "%%bash")]),
            ("f(]\n%time x\ny", "f(]\n\ny", &[(2, "%time x")]),
        ];
        for (source, code, removed) in rows {
            let (found, lines) = without_magics(source);
            let lines: Vec<_> = lines.iter().map(|(number, line)| (*number, line.as_str())).collect();
            assert_eq!((found.as_str(), lines.as_slice()), (*code, *removed), "{source:?}");
        }
    }
}
