//! Runs the cells of a notebook.

use super::magics::without_magics;
use super::{Outcome, Session};
use languages::python::compile::Shows;

impl Session {
    /// Runs a cell in Python. Like Jupyter, shows only the value of the last statement, and none if a semicolon follows.
    /// Lines that only IPython reads do not run; [`without_magics`] names them.
    pub fn eval_cell(&mut self, source: &str) -> Outcome {
        let (code, _) = without_magics(source);
        self.guarded(|session| session.eval_python(&code, Shows::Last))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Language, SessionOptions};

    #[test]
    fn a_cell_shows_its_last_value() {
        // The cell, its output, and its error with the line.
        let rows = [
            ("1\n2", "2\n", None),
            ("1\n2;", "", None),
            ("1\n2 ;  # two\n\n", "", None),
            ("1; 2  # two;\n", "2\n", None),
            ("(1,\n  2\n)\n", "(1, 2)\n", None),
            ("x = 3", "", None),
            ("x\nif x:\n    x\n", "", None),
            ("lambda: 1\nNone", "", None),
            ("'a'\nprint('b')\n'c'", "b\n'c'\n", None),
            ("def f(y):\n    y\n    return y\nf(x)", "3\n", None),
            ("print(x)\nf(z)\nx", "3\n", Some(("NameError", 2))),
            ("%time x\n!ls\nx?\nx + 1", "4\n", None),
            ("%%time\nx + 2", "5\n", None),
            ("%%bash\nls\nx", "", None),
            ("%matplotlib inline\n\nx.nope", "", Some(("AttributeError", 3))),
            ("x = = 1\nprint(1)", "", Some(("SyntaxError", 1))),
            ("", "", None),
        ];
        let mut session = Session::new(SessionOptions { keeps_results: true, ..SessionOptions::default() });
        for (cell, text, error) in rows {
            let outcome = session.eval_cell(cell);
            assert_eq!(outcome.text, text, "{cell:?}");
            let told = outcome.error.as_ref().map(|error| (&*error.kind, error.position.unwrap_or_default().0));
            assert_eq!(told, error, "{cell:?}");
        }
        assert_eq!(session.eval_cell("_").text, "5\n");
        // A prompt shows each value, and a script none.
        assert_eq!(session.eval(Language::Python, "1\n2").text, "1\n2\n");
        assert_eq!(session.run_script(Language::Python, "1\n2", None).text, "");
    }
}
