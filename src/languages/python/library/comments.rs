//! The texts of Python's library without their comments, which take a fifth of the space and are never shown. Lines keep
//! their numbers. A comment with a notice of copyright stays. Used by the build script.

/// Removes the comments that have lines of their own.
pub(crate) fn without_comments(text: &str) -> String {
    let lines: Vec<&str> = text.split('\n').collect();
    let mut is_comment = vec![false; lines.len()];
    // The quotes of a string that goes on in the next line, and whether the line before ends with a backslash.
    let (mut open, mut continues) = (None, false);
    for (line, is_comment) in lines.iter().zip(&mut is_comment) {
        *is_comment = open.is_none() && !continues && line.trim_start().starts_with('#');
        if !*is_comment {
            open = open_after(line, open);
            continues = line.ends_with('\\');
        }
    }
    let mut kept = Vec::with_capacity(lines.len());
    let mut at = 0;
    while let Some(&first) = is_comment.get(at) {
        let length = is_comment.iter().skip(at).take_while(|is_comment| **is_comment == first).count();
        let block = lines.get(at..at + length).unwrap_or_default();
        let stays = !first || block.iter().any(|line| is_notice(line));
        kept.extend(block.iter().map(|line| if stays { *line } else { "" }));
        at += length;
    }
    kept.join("\n")
}

fn is_notice(line: &str) -> bool {
    let line = line.to_ascii_lowercase();
    ["copyright", "license", "licence", "(c)"].iter().any(|word| line.contains(word))
}

/// Returns the triple quotes of a string that is open at the end of a line, given those open at its beginning. A string in
/// single quotes ends with its line, so that a nested quote in an f-string confuses no other line.
fn open_after(line: &str, open: Option<&'static str>) -> Option<&'static str> {
    const QUOTES: [&str; 4] = ["\"\"\"", "'''", "\"", "'"];
    let (mut open, mut rest) = (open, line);
    while let Some(first) = rest.chars().next() {
        let step = match open {
            Some(_) if first == '\\' => first.len_utf8() + rest.chars().nth(1).map_or(0, char::len_utf8),
            Some(quotes) if rest.starts_with(quotes) => {
                open = None;
                quotes.len()
            }
            None if first == '#' => break,
            None => {
                open = QUOTES.into_iter().find(|quotes| rest.starts_with(quotes));
                open.map_or(first.len_utf8(), str::len)
            }
            Some(_) => first.len_utf8(),
        };
        rest = rest.get(step..).unwrap_or_default();
    }
    open.filter(|quotes| quotes.len() == 3)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ruff_python_ast::comparable::ComparableStmt;
    use ruff_python_parser::parse_module;
    use std::fs;
    use std::path::{Path, PathBuf};

    #[test]
    fn lines_keep_their_numbers_and_notices_stay() {
        let text = "# Copyright one\n# two\n\n# three\nx = '''\n# four\n'''  # five\n  # six\ny = \\\n# seven\n";
        let without = "# Copyright one\n# two\n\n\nx = '''\n# four\n'''  # five\n\ny = \\\n# seven\n";
        assert_eq!(without_comments(text), without);
    }

    #[test]
    fn the_library_means_the_same_without_its_comments() {
        let library = Path::new(rustpython_pylib::LIB_PATH);
        let listed = include_str!("modules.txt").lines().map(|path| library.join(format!("{path}.py")));
        let mut files: Vec<PathBuf> = listed.filter(|file| file.exists()).collect();
        let theirs = files.len();
        add_files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("python/library"), &mut files);
        assert!(theirs > 50 && files.len() > theirs + 30, "{theirs} of {} modules", files.len());
        let mut saved = 0;
        for file in &files {
            let name = file.display();
            let text = fs::read_to_string(file).unwrap_or_else(|error| panic!("{name}: {error}"));
            let without = without_comments(&text);
            let [before, after] =
                [&text, &without].map(|text| parse_module(text).unwrap_or_else(|error| panic!("{name}: {error}")));
            let [before, after] =
                [&before, &after].map(|module| module.suite().iter().map(ComparableStmt::from).collect::<Vec<_>>());
            assert!(before == after, "{name}");
            assert_eq!(text.lines().count(), without.lines().count(), "{name}");
            saved += text.len() - without.len();
        }
        assert!(saved > 100_000, "{saved} bytes");
    }

    /// Adds the Python files of a folder and of the folders in it.
    fn add_files(folder: &Path, files: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                add_files(&path, files);
            } else if path.extension().is_some_and(|extension| extension == "py") {
                files.push(path);
            }
        }
    }
}
