//! Help on a name: the text from the function table, with an example from the recorded sessions, which the tests run.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::texts::texts;
use crate::transcript::{Case, Document, Form};
use crate::{Language, Session};

/// Returns how often the recorded sessions use a name after a dot. Frequent names are likely completions.
pub(super) fn uses(name: &str) -> usize {
    static USES: LazyLock<HashMap<&str, usize>> = LazyLock::new(|| {
        let mut uses = HashMap::new();
        for behind in texts().examples.iter().flat_map(|text| text.split('.').skip(1)) {
            let name = behind.split(|c: char| !(c.is_alphanumeric() || c == '_')).next().unwrap_or_default();
            *uses.entry(name).or_default() += 1;
        }
        uses
    });
    USES.get(name).copied().unwrap_or_default()
}

/// The maximum number of lines of an example.
const LONGEST: usize = 12;

/// Returns help on `topic`: a name, or words to search for.
pub fn help(session: &Session, topic: &str) -> String {
    let topic = topic.trim();
    if let Some(text) = session.help(topic) {
        let name = topic.rsplit('.').next().unwrap_or(topic);
        let example = example(name).map(|lines| format!("\nExample\n{lines}")).unwrap_or_default();
        return format!("{text}{example}");
    }
    let found = session.search(topic);
    if found.is_empty() {
        return match session.nearest(Language::Rhai, topic) {
            Some(near) => format!("there is no help on {topic}; did you mean {near}?\n"),
            None => format!("there is no help on {topic}, and no description mentions it\n"),
        };
    }
    let widest = found.iter().take(20).map(|candidate| candidate.text.len()).max().unwrap_or_default();
    let mut text = String::new();
    for candidate in found.iter().take(20) {
        text.push_str(&format!("{:widest$}  {}\n", candidate.text, candidate.doc));
    }
    if let Some(more) = found.len().checked_sub(20).filter(|more| *more > 0) {
        text.push_str(&format!("and {more} more\n"));
    }
    text
}

/// Returns the shortest recorded session whose last input is the first to use `name`: that input with its output, and
/// the inputs it needs.
fn example(name: &str) -> Option<String> {
    static CASES: LazyLock<Vec<Case>> = LazyLock::new(|| {
        texts().examples.iter().flat_map(|text| Document::parse(text, Form::Markdown).cases).collect()
    });
    let shown = |case: &Case| {
        let end = case.examples.iter().position(|example| calls(&example.source, name))?;
        let language = case.examples.first()?.language;
        let lines: String = case
            .examples
            .iter()
            .take(end + 1)
            .map(|example| {
                let output =
                    if example.expected.is_empty() { String::new() } else { format!("{}\n", example.expected) };
                format!("{}{output}", example.input)
            })
            .collect();
        let lines = if lines.ends_with('\n') { lines } else { lines + "\n" };
        (lines.lines().count() <= LONGEST).then_some((language == Language::Rhai, lines))
    };
    let found = CASES.iter().filter_map(shown).min_by_key(|(is_rhai, lines)| (*is_rhai, lines.lines().count()));
    found.map(|(_, lines)| lines)
}

/// Returns whether a source contains `name` as a whole word.
fn calls(source: &str, name: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    source
        .match_indices(name)
        .any(|(at, _)| !source[..at].ends_with(is_part) && !source[at + name.len()..].starts_with(is_part))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SessionOptions;

    #[test]
    fn topics() {
        let session = Session::new(SessionOptions::default());
        let text = help(&session, "untyped_storage");
        assert!(text.contains("Tensor.untyped_storage()") && text.contains("Example\n>>> "), "{text}");
        assert!(help(&session, "dimensions swapped").contains("transpose"), "{}", help(&session, "dimensions swapped"));
        assert!(help(&session, "transpos").contains("transpose"));
        assert!(help(&session, "xyzzy").starts_with("there is no help on xyzzy"));
    }
}
