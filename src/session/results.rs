//! The latest results of a prompt, under the names `_`, `__` and `___`.

use rhai::Dynamic;

use super::{Failure, Language, Outcome, Session};
use languages::script::holders::storage_of;
use languages::script::values::to_value;
use value::Value;

/// Whether values that an input shows are handed to the caller.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Capture {
    #[default]
    Nothing,
    /// They are shown as well.
    Shown,
    /// They are neither shown nor kept as results.
    Hidden,
}

/// The variables that hold the results, newest first. Rhai cannot have a variable named `_`.
const NAMES: [&str; 3] = ["underscore_", "underscore__", "underscore___"];
/// The maximum size of a storage that a result keeps alive on its own.
const LARGEST: usize = 64 << 20;

/// Returns the name shown for a variable that holds a result.
pub(super) fn shown_name(variable: &str) -> &str {
    if NAMES.contains(&variable) { variable.strip_prefix("underscore").unwrap_or(variable) } else { variable }
}

/// Returns the variable behind a shown name.
pub(super) fn hidden_name(name: &str) -> &str {
    match name {
        "_" => NAMES[0],
        "__" => NAMES[1],
        "___" => NAMES[2],
        other => other,
    }
}

impl Session {
    /// Evaluates an input like [`Session::eval`]. Also returns the value that it has shown last.
    pub(crate) fn eval_with_value(&mut self, language: Language, source: &str) -> (Outcome, Option<Value>) {
        self.capturing(Capture::Shown, language, source)
    }

    /// Returns the value of an expression, which is neither shown nor kept as a result. `None` for a statement.
    ///
    /// # Errors
    /// The failure of the expression.
    pub(crate) fn value_of(&mut self, language: Language, source: &str) -> Result<Option<Value>, Box<Failure>> {
        let (outcome, value) = self.capturing(Capture::Hidden, language, source);
        outcome.error.map_or(Ok(value), |failure| Err(Box::new(failure)))
    }

    fn capturing(&mut self, capture: Capture, language: Language, source: &str) -> (Outcome, Option<Value>) {
        self.capture.set(capture);
        let outcome = self.eval(language, source);
        self.capture.set(Capture::Nothing);
        (outcome, self.captured.take())
    }

    /// Makes a value the newest result. A value on a large storage that no variable holds is dropped, and `_` is then
    /// undefined.
    pub(super) fn keep_result(&mut self, value: &Dynamic) {
        let capture = self.capture.get();
        if capture != Capture::Nothing {
            self.captured = to_value(value).ok();
        }
        if !self.keeps_results || capture == Capture::Hidden {
            return;
        }
        for pair in NAMES.windows(2).rev() {
            let [newer, older] = pair else { continue };
            match self.scope.get(newer).cloned() {
                Some(result) => drop(self.scope.set_value(*older, result)),
                None => drop(self.scope.remove::<Dynamic>(older)),
            }
        }
        let [newest, ..] = NAMES;
        if self.is_worth_keeping(value) {
            self.scope.set_value(newest, value.clone());
        } else {
            let _ = self.scope.remove::<Dynamic>(newest);
        }
    }

    fn is_worth_keeping(&self, value: &Dynamic) -> bool {
        let Some(storage) = storage_of(value).filter(|storage| storage.nbytes() > LARGEST) else { return true };
        let mut variables = self.scope.iter_raw().filter(|(name, ..)| !NAMES.contains(name));
        variables.any(|(_, _, held)| storage_of(held).is_some_and(|held| held == storage))
    }
}

#[cfg(test)]
mod tests {
    use crate::{Language, Session, SessionOptions};

    #[test]
    fn results_move_on() {
        let mut session = Session::new(SessionOptions { keeps_results: true, ..SessionOptions::default() });
        for (language, input, wanted) in [
            (Language::Rhai, "40 + 1", "41\n"),
            (Language::Rhai, "_ + 1", "42\n"),
            (Language::Python, "_ + __", "83\n"),
            (Language::Rhai, "let x = ___; x", "41\n"),
            (Language::Rhai, "switch 3 { 1 => 2, _ => 5 }", "5\n"),
            (Language::Rhai, "_", "5\n"),
        ] {
            let outcome = session.eval(language, input);
            assert_eq!((outcome.text.as_str(), outcome.error), (wanted, None), "{input}");
        }
    }

    #[test]
    fn a_large_result_is_let_go() {
        let mut session = Session::new(SessionOptions { keeps_results: true, ..SessionOptions::default() });
        session.eval(Language::Rhai, "torch.zeros(20000000)");
        assert!(session.eval(Language::Rhai, "_").error.is_some_and(|error| error.kind == "NameError"));
        session.eval(Language::Rhai, "let big = torch.zeros(20000000); big[0]");
        assert_eq!(session.eval(Language::Rhai, "_").text, "tensor(0.)\n");
    }
}
