//! An entry while it is typed: whether Enter should run it, its language, and its completions. Looks names up and
//! evaluates nothing.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::commands::{self, is_command};
use super::help::uses;
use super::paste::{Parser, Pasted, Stopped, is_open_block, read_session, with_python_prompts};
use crate::transcript::prompt_of;
use crate::{Candidate, Completeness, Failure, Language, Session, stopped};

/// Reads a pasted session. `None` for a text without prompts.
///
/// # Errors
/// Fails with KeyboardInterrupt if the session is asked to stop meanwhile.
pub fn read(session: &Session, text: &str) -> Result<Option<Pasted>, Box<Failure>> {
    let is_unfinished = |language, source: &str| is_unfinished(session, language, source);
    let parser = Parser { is_unfinished: &is_unfinished, is_stopped: &|| session.is_asked_to_stop() };
    read_session(text, &parser).map_err(|Stopped| stopped())
}

/// Returns whether a source needs more lines to be a statement.
pub(crate) fn is_unfinished(session: &Session, language: Language, source: &str) -> bool {
    matches!(session.completeness(language, source), Completeness::Incomplete)
}

/// Returns whether Enter should run an entry at a prompt for `language`, or continue on another line. Invalid entries
/// run and report their error. So do entries whose reading was stopped by Ctrl-C.
pub fn completeness(session: &Session, language: Language, entry: &str) -> Completeness {
    completeness_of(session, language, entry, true)
}

/// Like [`completeness`], for an entry that was just pasted. A block does not wait for a blank line to end it.
pub fn completeness_of_paste(session: &Session, language: Language, entry: &str) -> Completeness {
    completeness_of(session, language, entry, false)
}

fn completeness_of(session: &Session, language: Language, entry: &str, is_typed: bool) -> Completeness {
    let is_unfinished = |language, source: &str| is_unfinished(session, language, source);
    if entry.trim().is_empty() || is_command(entry) {
        return Completeness::Complete;
    }
    match read(session, &with_python_prompts(entry)) {
        Err(_) => return Completeness::Invalid,
        // The complete statements of a pasted page run; an unfinished one at its end is returned for completion.
        Ok(Some(pasted)) => {
            return match pasted.statements.as_slice() {
                [only] if is_typed && only.is_unfinished(is_unfinished) || only.is_cut(is_unfinished) => {
                    Completeness::Incomplete
                }
                _ => Completeness::Complete,
            };
        }
        Ok(None) => {}
    }
    match session.completeness(language, entry) {
        // Python is accepted without its prompt too. A typed block ends with an empty line.
        Completeness::Complete if is_typed && is_open_block(entry) && has_python_header(entry) => {
            Completeness::Incomplete
        }
        completeness => completeness,
    }
}

/// Returns whether a block's header ends with a colon, like Python's. Rhai's end with a brace.
fn has_python_header(entry: &str) -> bool {
    entry.lines().any(|line| line.split('#').next().unwrap_or(line).trim_end().ends_with(':'))
}

/// Returns the language of a line at a prompt for `language`, the text after the line's own prompt, and the length of
/// that prompt.
fn input(language: Language, line: &str) -> (Language, &str, usize) {
    match prompt_of(line) {
        Some((Language::Python, rest)) => (Language::Python, rest, line.len() - rest.len()),
        _ => (language, line, 0),
    }
}

/// Returns the signatures of the call that is open at byte `at` of a line.
pub fn usages(session: &Session, language: Language, line: &str, at: usize) -> Vec<String> {
    let (language, input, skipped) = input(language, line);
    at.checked_sub(skipped).and_then(|at| session.call_hint(language, input, at)).unwrap_or_default()
}

/// A completion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedCompletion {
    /// The name shown in a list.
    pub name: String,
    /// The text inserted into the line.
    pub text: String,
    /// The description.
    pub doc: String,
}

impl ListedCompletion {
    /// Creates a completion that is listed by its text.
    pub fn new((text, doc): (String, String)) -> ListedCompletion {
        ListedCompletion { name: text.clone(), text, doc }
    }
}

/// Finds files and folders whose path begins with a word. Returns the number of the word's bytes to replace, and the
/// matches.
pub type Paths<'p> = &'p dyn Fn(&str) -> (usize, Vec<(String, String)>);

/// Returns the completions of a line at byte `at`, and the byte from which they replace it.
pub fn completions(
    session: &Session,
    language: Language,
    line: &str,
    at: usize,
    paths: Paths,
) -> (usize, Vec<ListedCompletion>) {
    if let Some((start, found)) = commands::complete(line, at, paths) {
        return (start, found.into_iter().map(ListedCompletion::new).collect());
    }
    let (language, input, skipped) = input(language, line);
    let Some(at) = at.checked_sub(skipped) else { return (at, Vec::new()) };
    let completion = session.complete(language, input, at);
    let word = input.get(completion.start..at).unwrap_or_default();
    if completion.in_string {
        let (length, found) = paths(word);
        return (skipped + at - length, found.into_iter().map(ListedCompletion::new).collect());
    }
    (skipped + completion.start, folded(word, completion.candidates))
}

/// With more completions than this, not all are listed individually …
const MANY: usize = 40;
/// … but this many functions are, and the others only by subject.
const LIKELY: usize = 8;

/// Groups the completions of a word, with likely functions first. If there are many, functions are grouped by subject;
/// typing a subject selects its functions.
fn folded(word: &str, found: Vec<Candidate>) -> Vec<ListedCompletion> {
    let all = found.len();
    let (mut functions, mut ways): (Vec<_>, Vec<_>) = found.into_iter().partition(|way| !way.subject.is_empty());
    let is_one_subject = functions.windows(2).all(|pair| matches!(pair, [a, b] if a.subject == b.subject));
    functions.sort_by_cached_key(|way| Reverse(uses(&way.text)));
    let listed = if all > MANY && !is_one_subject { LIKELY.min(functions.len()) } else { functions.len() };
    let others = functions.split_off(listed);
    ways.extend(functions);
    let mut subjects: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for way in &others {
        subjects.entry(way.subject).or_default().push(&way.text);
    }
    // Choosing a subject leaves the word unchanged.
    let told = subjects.iter().map(|(subject, names)| ListedCompletion {
        name: (*subject).to_owned(),
        text: word.to_owned(),
        doc: format!("{}: {}", names.len(), names.join(" ")),
    });
    ways.into_iter().map(|way| ListedCompletion::new((way.text, way.doc))).chain(told).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SessionOptions;

    #[test]
    fn entries_go_on_until_they_are_complete() {
        let session = Session::new(SessionOptions::default());
        for (entry, wanted) in [
            ("", false),
            ("1 + 1", false),
            ("let a = [1,", true),
            ("let a = [1,\n2]", false),
            (">>> x = [1,", true),
            (">>> x = [1,\n...      2]", false),
            (">>> for i in range(3):", true),
            (">>> for i in range(3):\n...     print(i)", true),
            (">>> for i in range(3):\n...     print(i)\n...", false),
            (">>> for i in range(3):\n    print(i)\n", false),
            (">>> x\n1\n>>> y", false),
            (">>> x\n>>> f(", false),
            ("for i in range(3):", true),
            ("for i in range(3):  # thrice\n    print(i)", true),
            ("for i in range(3):\n    print(i)\n", false),
            ("for i in 0..3 {\n  print(i);", true),
            ("for i in 0..3 {\n  print(i);\n}", false),
            (":time [1,", false),
            ("for i in range(3):\n    print(i)\nx = 1", false),
            ("for i in range(3):\n    print(i)\nelse:\n    x = 1", true),
            ("for i in range(3):\n    print(i)\nfor j in x:\n    j", true),
            ("for i in range(3):\n    print(\n1\n)", true),
            ("@f\ndef g():\n    pass", true),
        ] {
            let found = completeness(&session, Language::Rhai, entry);
            assert_eq!(found == Completeness::Incomplete, wanted, "{entry:?}");
        }
    }

    #[test]
    fn a_pasted_block_is_complete() {
        let session = Session::new(SessionOptions::default());
        for (entry, wanted) in [
            ("for i in range(3):", true),
            ("for i in range(3):\n    print(i)", false),
            ("for i in range(3):\n    print(", true),
            (">>> for i in range(3):\n...     print(i)", false),
            (">>> for i in range(3):", true),
            ("In [1]: for i in range(3):\n   ...:     print(i)", false),
            ("let a = [1,", true),
        ] {
            let found = completeness_of_paste(&session, Language::Rhai, entry);
            assert_eq!(found == Completeness::Incomplete, wanted, "{entry:?}");
        }
    }

    fn complete(language: Language, line: &str) -> (usize, Vec<ListedCompletion>) {
        let session = Session::new(SessionOptions::default());
        let paths: Paths = &|word| (word.len(), vec![("Cargo.toml".to_owned(), String::new())]);
        completions(&session, language, line, line.len(), paths)
    }

    #[test]
    fn completion() {
        let rows = [
            (Language::Rhai, "torch.zero", 6, "zeros"),
            (Language::Python, ">>> x = tor", 8, "torch"),
            (Language::Python, "torch.zeros(3, dt", 15, "dtype="),
            (Language::Rhai, "torch.zeros(3, #{dt", 17, "dtype: "),
            (Language::Rhai, "torch.zeros(3, dt", 15, "dtype="),
            (Language::Rhai, "torch.zeros(3, dtype=int", 21, "int32"),
            (Language::Rhai, "torch.zeros(3, #{dtype: torch.int", 30, "int32"),
            (Language::Python, "torch.zeros(3, dtype=", 21, "torch.int32"),
            (Language::Python, "torch.zeros(3, dtype=int", 21, "torch.int32"),
            (Language::Python, "torch.zeros(3, pin_memory=", 26, "False"),
            (Language::Python, "torch.zeros(3).bernou", 15, "bernoulli"),
            // A word that is not a prefix of any name is searched for.
            (Language::Python, "torch.zeros(3).s_contig", 15, "is_contiguous"),
            (Language::Python, "torch.zeros(3).views", 15, "transpose"),
            (Language::Rhai, "torch.floa", 6, "float32"),
            (Language::Rhai, ":he", 0, ":help"),
            (Language::Rhai, "open(\"Cargo.to", 6, "Cargo.toml"),
        ];
        for (language, line, start, wanted) in rows {
            let (at, found) = complete(language, line);
            assert_eq!(at, start, "{line}");
            assert!(found.iter().any(|way| way.text == wanted), "{line}");
        }
    }

    #[test]
    fn many_ways_are_told_by_their_subjects() {
        let (_, all) = complete(Language::Python, "torch.zeros(3).");
        assert!(all.len() < 40, "{}", all.len());
        assert!(all.iter().take(LIKELY).any(|way| way.text == "view"), "{:?}", all.first());
        assert_eq!(all.iter().find(|way| way.name == "views").map(|way| way.text.as_str()), Some(""));
        // Only values of the keyword are offered.
        let (_, dtypes) = complete(Language::Python, "torch.zeros(3, dtype=torch.");
        assert!(dtypes.iter().all(|way| way.doc.ends_with("dtype")) && dtypes.len() > 10);
    }

    #[test]
    fn the_signature_of_an_open_call_is_told() {
        let session = Session::new(SessionOptions::default());
        let found = usages(&session, Language::Rhai, "torch.transpose(", 16);
        assert!(found.iter().any(|usage| usage.contains("transpose(input, dim0, dim1)")), "{found:?}");
        assert_eq!(usages(&session, Language::Rhai, ">>> f", 2), Vec::<String>::new());
    }
}
