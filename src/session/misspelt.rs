//! Suggests corrections for misspelt words: an existing name, or a keyword that makes the input parse. Knows no
//! messages.

use super::complete::{constants, keywords};
use super::failure::offset_of;
use super::{Completeness, Language, Session, foreign};
use call::suggest::{near, nearest, suggestion};
use call::{LIBRARY, Receiver};
use languages::python::syntax::{Stage, parse};
use languages::script::own;

/// The number of words before a fault to consider as its cause, besides the one after it.
const WORDS: usize = 4;
/// The maximum length of an input to parse again.
const LONGEST: usize = 20_000;

impl Session {
    /// Returns the variable, function or keyword closest to a misspelt name.
    pub fn nearest(&self, language: Language, name: &str) -> Option<String> {
        let registry = self.runtime.registry;
        let variables = self.scope.iter_raw().map(|(known, ..)| known);
        let functions = self.runtime.defined.borrow();
        let own = variables.chain(functions.keys().map(String::as_str));
        let near = nearest(name, own).map(str::to_owned);
        let words = || {
            let words = keywords(language).iter().chain(constants(language)).copied();
            let language = own::functions().filter(|_| language == Language::Rhai);
            nearest(name, words.chain(language).chain(registry.names(Receiver::Module("py")))).map(str::to_owned)
        };
        near.or_else(words).or_else(|| suggestion(registry, Some(Receiver::Module("")), name).map(str::to_owned))
    }

    /// Finds a misspelt keyword at a syntax error or before it: a correction with which the input parses.
    pub(super) fn nearest_keyword(
        &self,
        language: Language,
        source: &str,
        place: (usize, usize),
    ) -> Option<&'static str> {
        let fault = offset_of(source, place).filter(|_| source.len() <= LONGEST)?;
        let can_be_read = |text: &str| match self.completeness(language, text) {
            Completeness::Complete => true,
            Completeness::Incomplete => text.trim_end().ends_with([':', '{', '(', '[']),
            // A statement in the wrong place, such as `return` outside a function, still parses.
            Completeness::Invalid => {
                language == Language::Python && matches!(parse(text), Err(fault) if fault.stage == Stage::Compiler)
            }
        };
        let meant = |(start, word): (usize, &str)| {
            // The prompt for Rhai accepts Python as well.
            let other = keywords(Language::Python).iter().filter(|_| language == Language::Rhai);
            let mut found = near(word, keywords(language).iter().chain(other).copied()).into_iter();
            let (before, after) = (source.get(..start)?, source.get(start + word.len()..)?);
            found.find(|keyword| can_be_read(&format!("{before}{keyword}{after}")))
        };
        let before = words(source).take_while(|(start, _)| *start <= fault).count();
        let around = words(source).skip(before.saturating_sub(WORDS)).take(WORDS.min(before) + 1);
        let mut misspelt: Vec<_> = around.filter(|(_, word)| !is_word(word)).collect();
        misspelt.reverse();
        misspelt.into_iter().find_map(meant)
    }
}

/// Returns the module closest to a missing one.
pub(super) fn nearest_module(name: &str) -> Option<&'static str> {
    nearest(name, LIBRARY.iter().copied().chain(["torch"]))
}

/// Returns whether a word is correct, or has advice of its own.
fn is_word(word: &str) -> bool {
    [Language::Rhai, Language::Python].iter().any(|language| keywords(*language).contains(&word))
        || foreign::is_word(word)
}

/// Returns the words of a text, each with its byte offset.
fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let mut end = 0;
    std::iter::from_fn(move || {
        let rest = text.get(end..)?;
        let start = end + rest.find(is_part)?;
        let rest = text.get(start..)?;
        end = start + rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        Some((start, text.get(start..end)?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SessionOptions;

    #[test]
    fn a_misspelt_keyword_is_told_by_what_can_be_read() {
        use Language::{Python, Rhai};
        let rows = [
            (Rhai, "lte x = 1", Some("let")),
            (Rhai, "cosnt X = 1", Some("const")),
            (Rhai, "whiel true { }", Some("while")),
            (Rhai, "ofr i in 0..3 { print(i) }", Some("for")),
            (Rhai, "if true { } esle { }", Some("else")),
            (Rhai, "let f = |x| { retrun x; }", Some("return")),
            (Rhai, "fn f() {\n    retrun 3\n}", Some("return")),
            (Rhai, "impotr torch", Some("import")),
            (Rhai, "retrun 3", Some("return")),
            (Rhai, "foo bar", None),
            (Rhai, "form bar", None),
            (Rhai, "let let = 1", None),
            (Python, "retrun 3", Some("return")),
            (Python, "def f():\n    retrun 3", Some("return")),
            (Python, "impotr torch", Some("import")),
            (Python, "form torch import zeros", Some("from")),
            (Python, "fro i in range(3):\n    pass", Some("for")),
            (Python, "whiel True:", Some("while")),
            (Python, "if x:\n    pass\nesle:\n    pass", Some("else")),
            (Python, "wiht torch.no_grad():\n    pass", Some("with")),
            (Python, "f = lamda y: y", Some("lambda")),
            (Python, "x = 1 adn 2", Some("and")),
            (Python, "[i fro i in y]", Some("for")),
            (Python, "foo bar", None),
            (Python, "x = = 1", None),
        ];
        for (language, source, wanted) in rows {
            let mut session = Session::new(SessionOptions::default());
            let failure = session.eval(language, source).error.unwrap();
            let hint = failure.hint.filter(|hint| hint.starts_with("did you mean"));
            assert_eq!(hint, wanted.map(|word| format!("did you mean '{word}'?")), "{source}");
        }
    }

    #[test]
    fn names_and_keywords_are_found_alike() {
        use Language::{Python, Rhai};
        let rows = [
            (Python, "x = Flase", Some("False")),
            (Python, "Nnoe", Some("None")),
            (Python, "brek", Some("break")),
            (Python, "retrun", Some("return")),
            (Python, "enumerte([1])", Some("enumerate")),
            (Python, "pirnt(3)", Some("print")),
            (Python, "import troch", Some("torch")),
            (Python, "import itertols", Some("itertools")),
            (Python, "qqqqqq", None),
            (Rhai, "contineu", Some("continue")),
            (Rhai, "let x = flase", Some("false")),
            (Rhai, "zreos(3)", Some("zeros")),
        ];
        for (language, source, wanted) in rows {
            let mut session = Session::new(SessionOptions::default());
            let hint = session.eval(language, source).error.unwrap().hint;
            assert_eq!(hint, wanted.map(|word| format!("did you mean '{word}'?")), "{source}");
        }
    }
}
