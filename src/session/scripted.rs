//! Converts typed inputs to lines of a script. A script in Rhai needs `let` where a prompt does not, ends its
//! statements with semicolons, and contains Python in its Rhai form.

use super::cursor::{comment_length, string_length};
use super::failure::offset_of;
use super::{Language, Session};
use languages::python::rhai_form::{VariableKind, rhai_form};
use languages::python::syntax;
use languages::script::reading::names;
use rhai::{ASTFlags, Stmt};
use std::collections::BTreeSet;

/// The lines for an input.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lines {
    pub text: String,
    /// The Rhai functions that the lines define, each with its number of parameters.
    pub functions: Vec<(String, usize)>,
    /// Whether the lines contain only definitions.
    pub only_defines: bool,
}

impl Session {
    /// Returns the script lines for an input. `known` are the variables created by the lines before.
    ///
    /// # Errors
    /// Fails with a sentence that says why there are none.
    pub(crate) fn scripted(
        &self,
        script: Language,
        language: Language,
        source: &str,
        known: &mut BTreeSet<String>,
    ) -> Result<Lines, String> {
        let is_python = language == Language::Python || self.is_only_python(source);
        match script {
            Language::Python if is_python || syntax::parse(source).is_ok() => {
                Ok(Lines { text: source.trim_end().to_owned(), ..Lines::default() })
            }
            Language::Python => Err("Python does not read it".to_owned()),
            Language::Rhai if is_python => {
                let form = rhai_form(source, &|name| known.contains(name).then_some(VariableKind::Unknown))?;
                self.lines(&form, known)
            }
            Language::Rhai => self.lines(source, known),
        }
    }

    fn lines(&self, source: &str, known: &mut BTreeSet<String>) -> Result<Lines, String> {
        let unread = |(error, _): (rhai::ParseError, _)| error.to_string();
        let (ast, cell) = self.compile(source, false).map_err(unread)?;
        let mut text = source.trim_end().to_owned();
        let mut declarations: Vec<_> = names::missing(&ast, &|name| known.contains(name))
            .into_iter()
            .filter_map(|(position, word)| Some((offset_of(source, cell.place(position)?)?, word)))
            .collect();
        declarations.sort_by_key(|(at, _)| *at);
        for (at, word) in declarations.iter().rev() {
            text.insert_str(*at, word);
        }
        let (ast, _) = self.compile(&text, false).map_err(unread)?;
        known.extend(ast.statements().iter().filter_map(|statement| match statement {
            Stmt::Var(variable, flags, _) if !flags.contains(ASTFlags::CONSTANT) => Some(variable.0.name.to_string()),
            _ => None,
        }));
        let end = code_end(&text);
        let is_ended = match text.get(..end).and_then(|code| code.chars().next_back()) {
            None | Some(';') => true,
            Some('}') => ast.statements().last().is_none_or(Stmt::is_self_terminated),
            Some(_) => false,
        };
        if !is_ended {
            text.insert(end, ';');
        }
        let functions =
            ast.iter_functions().map(|function| (function.name.to_owned(), function.params.len())).collect();
        Ok(Lines { text, functions, only_defines: ast.statements().is_empty() })
    }
}

/// Returns the byte after the last character of Rhai code, leaving out comments.
fn code_end(source: &str) -> usize {
    let (mut at, mut end) = (0, 0);
    while let Some(first) = source.get(at..).and_then(|rest| rest.chars().next()) {
        let rest = source.get(at..).unwrap_or_default();
        if let Some(length) = string_length(Language::Rhai, rest) {
            at += length.unwrap_or(rest.len());
            end = at;
        } else if let Some(length) = comment_length(Language::Rhai, rest) {
            at += length.unwrap_or(rest.len());
        } else {
            at += first.len_utf8();
            if !first.is_whitespace() {
                end = at;
            }
        }
    }
    end
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SessionOptions;

    #[test]
    fn a_script_in_rhai_declares_and_ends_what_a_prompt_does_not() {
        let session = Session::new(SessionOptions::default());
        let mut known = BTreeSet::new();
        let rows = [
            (Language::Rhai, "x = ones(3)", "let x = ones(3);"),
            (Language::Rhai, "x = x[0, 1..3] // \"the rest\"", "x = x[0, 1..3]; // \"the rest\""),
            (Language::Rhai, "if x { y = 1 } else { y = 2 }", "let y; if x { y = 1 } else { y = 2 }"),
            (Language::Rhai, "f = |a| { a + 1 }", "let f = |a| { a + 1 };"),
            (Language::Rhai, "fn g(a) { b = 1; a }", "fn g(a) { b = 1; a }"),
            (Language::Rhai, "a = 1; b = \"}\"", "let a = 1; let b = \"}\";"),
            (Language::Rhai, "for i in 0..3 { z = i; }", "for i in 0..3 { let z = i; }"),
            (Language::Rhai, "// nothing", "// nothing"),
            (Language::Rhai, "x", "x;"),
            (Language::Rhai, "import \"stats\" as s;", "import \"stats\" as s;"),
            (Language::Python, "n = 3", "let n = 3;"),
            (Language::Python, "n = 4", "n = 4;"),
            (Language::Rhai, "for i in range(3):\n    total = i\n", "let total;\nfor i in 0..3 { total = i; }"),
        ];
        for (language, source, wanted) in rows {
            let lines = session.scripted(Language::Rhai, language, source, &mut known);
            assert_eq!(lines.map(|lines| lines.text).as_deref(), Ok(wanted), "{source}");
        }
        let python = |language, source| session.scripted(Language::Python, language, source, &mut BTreeSet::new());
        assert_eq!(
            python(Language::Rhai, "x = torch.ones(3);").map(|lines| lines.text).as_deref(),
            Ok("x = torch.ones(3);")
        );
        assert!(python(Language::Rhai, "let x = 3").is_err());
        let lines = session.scripted(Language::Rhai, Language::Rhai, "fn f(x) { x }", &mut known).unwrap();
        assert_eq!((lines.functions, lines.only_defines), (vec![("f".to_owned(), 1)], true));
    }
}
