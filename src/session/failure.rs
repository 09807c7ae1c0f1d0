//! Describes a failed input: its position, its message in the language of the input, the calls that led there, and a
//! hint.

use std::collections::BTreeSet;

use rhai::{AST, Dynamic, EvalAltResult, Expr, ParseError, Stmt};

use super::misspelt::nearest_module;
use super::{Language, Session, advice, foreign, python};
use call::{LIBRARY, suggest};
use languages::script::fault::{self, Fault, ScriptCall};
use languages::script::input::{Defined, RhaiInput, near};
use languages::script::own;
use tensor::{Error, ErrorKind};

/// A failure, ready to be shown.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Failure {
    /// The name of Python's exception class, e.g. `RuntimeError`.
    pub kind: String,
    /// PyTorch's message, which may have several lines.
    pub message: String,
    /// Line and column from 1, the column in characters. Refers to the input, or to `source`.
    pub position: Option<(usize, usize)>,
    /// The earlier input that defines the function that failed.
    pub source: Option<String>,
    /// The number of lines above the text that the position refers to, if this is a statement of a script that runs
    /// statement by statement. The line in the file is the sum of both.
    pub lines_above: Option<usize>,
    /// The file of the module that contains the position.
    pub file: Option<String>,
    /// CPython's name for a source without a file, for syntax errors. It differs between its parser and its compiler.
    pub unread: Option<&'static str>,
    /// A suggestion of what to try instead.
    pub hint: Option<String>,
    /// The calls of script functions that led to the error, innermost first.
    pub trace: Vec<String>,
    /// Whether Ctrl-C stopped the input.
    pub interrupted: bool,
}

/// Returns the hint for a probable misspelling.
pub(super) fn did_you_mean(word: impl std::fmt::Display) -> String {
    format!("did you mean '{word}'?")
}

/// The number of calls listed at each end of a deep recursion.
const LISTED: usize = 5;
/// The number of characters of a line shown with a call.
const QUOTED: usize = 60;

impl Session {
    /// Records the functions that an input defines.
    pub(super) fn define(&mut self, ast: &AST, cell: &RhaiInput) {
        let mut functions = self.runtime.defined.borrow_mut();
        for function in ast.iter_functions() {
            let fresh = || Defined { cell: cell.clone(), parameters: BTreeSet::new() };
            let defined = functions.entry(function.name.to_owned()).or_insert_with(fresh);
            defined.cell = cell.clone();
            defined.parameters.insert(function.params.len());
        }
    }

    /// Describes a parse error.
    pub(super) fn refused(&self, error: &ParseError, cell: &RhaiInput) -> Box<Failure> {
        self.explain(fault::from_parse(error), cell)
    }

    /// Describes the error of a failed evaluation.
    pub(super) fn failed(&self, error: &EvalAltResult, cell: &RhaiInput) -> Box<Failure> {
        self.explain(fault::from_eval(error, &self.runtime, cell), cell)
    }

    fn explain(&self, mut fault: Fault, here: &RhaiInput) -> Box<Failure> {
        fault.settle(&self.runtime, here);
        let cell = fault.place.clone().unwrap_or_else(|| here.clone());
        let position = cell.place(fault.position).or_else(|| {
            // The end of the text counts as the position after its last character.
            let is_at_end = fault.error.kind == ErrorKind::SyntaxError && fault.calls.is_empty();
            is_at_end.then(|| line_and_column(&here.typed, here.typed.len()))
        });
        let mut trace: Vec<_> = fault.calls.iter().map(|call| format_call(call, here)).collect();
        let source = Some(cell.typed.to_string()).filter(|_| !cell.is(here));
        let (file, kind) = (cell.file().map(near), fault.kind());
        let mut failure =
            Failure { position, source, file, kind, interrupted: fault.interrupted, ..Failure::default() };
        if let Some(within) = python::within(&fault.error, &here.typed, &self.python) {
            // A Python function called from here has failed.
            if let Some((line, _)) = position {
                trace.insert(
                    0,
                    call_line(&format!("{}, called", within.outermost), &cell.typed, line, 0, &origin(&cell, here)),
                );
            }
            trace.splice(0..0, within.calls);
            failure.position = Some(within.position);
            failure.source = Some(within.source);
            failure.file = within.file;
        }
        let told = failure_of(fault.error);
        let failure = Failure { trace: shorten_trace(trace), message: told.message, hint: told.hint, ..failure };
        let mut failure = self.advise(failure, Some(&cell));
        failure.position = failure.position.or_else(|| advice::place_of_call(&failure, &cell.typed));
        // Advice is more useful than a guess at a misspelt attribute.
        let is_guess =
            failure.kind == "AttributeError" && failure.hint.as_ref().is_some_and(|hint| hint.starts_with("did"));
        if failure.hint.is_none() || is_guess {
            let rest = fault::split_at(&cell.typed, failure.position).map_or("", |(_, rest)| rest);
            let advice = self.on_modules(&failure, rest);
            let place = failure.position.filter(|_| failure.kind == "SyntaxError");
            let keyword = || self.nearest_keyword(Language::Rhai, &cell.typed, place?).map(did_you_mean);
            let advice = advice.or_else(keyword).or_else(|| advice::in_terms_of_rhai(&failure, &cell.typed));
            failure.hint = advice.or(failure.hint);
        }
        if failure.kind == "SyntaxError" && failure.message.starts_with("Expecting ';'") {
            failure.position = advice::end_before(&cell.typed, failure.position).or(failure.position);
        }
        Box::new(failure)
    }

    /// Adds advice on an undefined name.
    pub(super) fn advise(&self, mut failure: Failure, cell: Option<&RhaiInput>) -> Failure {
        if failure.hint.is_none() && failure.kind == "ModuleNotFoundError" {
            let near = || failure.message.split('\'').nth(1).and_then(nearest_module).map(did_you_mean);
            failure.hint = self.on_modules(&failure, "").or_else(near);
        }
        if failure.kind == "KeyError"
            && let Some(cell) = cell
            && let Some(near) = self.near_key(&failure, &cell.typed)
        {
            failure.hint = Some(did_you_mean(near));
        }
        if failure.kind != "NameError" || failure.hint.is_some() {
            return failure;
        }
        let Some(name) = failure.message.split('\'').nth(1).map(str::to_owned) else { return failure };
        if !failure.trace.is_empty() && cell.is_some() && self.scope.contains(&name) {
            let advice = format!("pass it as an argument, or make it a constant: `const {name} = …;`");
            failure.hint = Some(format!("functions do not see the script's variable '{name}': {advice}"));
            return failure;
        }
        let known = name.as_str();
        if let (Some(cell), Some(position)) = (cell, failure.position)
            && is_assigned(&cell.typed, position, &name)
        {
            failure.hint = Some(format!("`let {name} = …` makes a new variable"));
            return failure;
        }
        failure.hint = if LIBRARY.contains(&known) && known != "py" {
            Some(format!("`import {known}` first"))
        } else if known.contains("::") || self.runtime.modules.named.borrow().contains_key(known) {
            None
        } else {
            let is_rhai = cell.is_some() || self.runtime.is_rhai.get();
            let foreign = if is_rhai { foreign::on_name(known) } else { None };
            let language = if is_rhai { Language::Rhai } else { Language::Python };
            foreign.or_else(|| self.nearest(language, known).map(did_you_mean))
        };
        failure
    }

    /// Returns the key of an object map closest to the one in a KeyError, for `map.kye` with a variable `map`.
    fn near_key(&self, failure: &Failure, typed: &str) -> Option<String> {
        let (before, _) = fault::split_at(typed, failure.position)?;
        let name = before.trim_end_matches('.').rsplit(|c: char| !c.is_alphanumeric() && c != '_').next()?;
        let map = self.scope.get(name)?.read_lock::<rhai::Map>()?;
        let key = failure.message.trim_matches('\'');
        suggest::nearest(key, map.keys().map(|key| key.as_str())).map(str::to_owned)
    }

    /// Returns the note on a method that modifies its receiver and returns nothing, if the receiver is a temporary or a
    /// result is expected.
    pub(super) fn note_on_mutation(&self, ast: &AST, is_shown: bool) -> Option<String> {
        let (receiver, assigned) = match ast.statements().last()? {
            Stmt::Expr(expr) if is_shown => (&**expr, None),
            Stmt::Var(parts, ..) => (&parts.1, Some(parts.0.as_str())),
            Stmt::Assignment(parts) => match &parts.1.lhs {
                Expr::Variable(variable, ..) => (&parts.1.rhs, Some(variable.1.as_str())),
                _ => return None,
            },
            _ => return None,
        };
        let Expr::Dot(call, ..) = receiver else { return None };
        let Expr::MethodCall(method, _) = &call.rhs else { return None };
        let is_literal = matches!(
            call.lhs,
            Expr::StringConstant(..)
                | Expr::InterpolatedString(..)
                | Expr::Array(..)
                | Expr::Map(..)
                | Expr::DynamicConstant(..)
        );
        let is_nothing = assigned.is_some_and(|name| self.scope.get(name).is_some_and(Dynamic::is_unit));
        let is_meant = is_literal && assigned.is_none() || is_nothing;
        (is_meant && own::changes(&method.name)).then(|| {
            let name = &method.name;
            format!(
                "`{name}()` changes the value in place and returns nothing: `let x = …; x.{name}(…);`, then use `x`"
            )
        })
    }
}

/// Marks a call's line as part of an earlier input.
pub(super) const EARLIER: &str = " of an earlier input";

/// Formats a call for a trace. `step` says what was done: `f(), called`. `lines_above` is the number of lines of a script above the text, and `origin` says which
/// input contains the line.
pub(super) fn call_line(step: &str, typed: &str, line: usize, lines_above: usize, origin: &str) -> String {
    let text = typed.lines().nth(line.saturating_sub(1)).unwrap_or_default().trim();
    let cut: String = text.chars().take(QUOTED).collect();
    let more = if cut.len() < text.len() { "…" } else { "" };
    format!("in {step} at line {}{origin}: {cut}{more}", line + lines_above)
}

/// Shortens the trace of a deep recursion to the calls at each end.
pub(super) fn shorten_trace(mut lines: Vec<String>) -> Vec<String> {
    if lines.len() > 2 * LISTED + 1 {
        let left_out = lines.len() - 2 * LISTED;
        lines.splice(LISTED..LISTED + left_out, [format!("… and {left_out} more calls …")]);
    }
    lines
}

/// Formats one call that led to an error.
fn format_call(call: &ScriptCall, here: &RhaiInput) -> String {
    let shown = call.shown_name();
    if let Some(file) = call.module() {
        let place = call.place.as_ref().and_then(|cell| cell.place(call.position).map(|(line, _)| (cell, line)));
        let place = place.map_or_else(String::new, |(cell, line)| format!(" at line {line}{}", origin(cell, here)));
        return format!("importing {}{place}", near(file));
    }
    let name = if fault::is_unnamed(&call.name) { shown.to_owned() } else { format!("{shown}()") };
    let place = call.place.as_ref().and_then(|cell| Some((cell, cell.place(call.position)?.0)));
    let Some((cell, line)) = place else { return format!("in {name}") };
    call_line(&format!("{name}, called"), &cell.typed, line, 0, &origin(cell, here))
}

/// Names the input that contains a line, if it is not the running one.
fn origin(cell: &RhaiInput, here: &RhaiInput) -> String {
    match cell.file() {
        _ if cell.is(here) => String::new(),
        Some(file) => format!(" of {}", near(file)),
        None => EARLIER.to_owned(),
    }
}

/// Returns whether `name` at a position is followed by `=`.
fn is_assigned(source: &str, (line, column): (usize, usize), name: &str) -> bool {
    let line = source.lines().nth(line.saturating_sub(1)).unwrap_or_default();
    let rest: String = line.chars().skip(column.saturating_sub(1)).collect();
    let after = rest.strip_prefix(name).map(str::trim_start).and_then(|rest| rest.strip_prefix('='));
    after.is_some_and(|rest| !rest.starts_with('='))
}

/// Converts an error without a position.
pub(super) fn failure_of(error: Error) -> Failure {
    Failure {
        kind: error.kind.name(),
        message: error.message,
        hint: error.hint.map(String::from),
        ..Failure::default()
    }
}

/// Returns the line and column, both from 1, of a byte offset.
pub(super) fn line_and_column(source: &str, offset: usize) -> (usize, usize) {
    let before = source.get(..offset.min(source.len())).unwrap_or(source);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
    (line, column)
}

/// Returns the byte offset of a line and a column.
pub(super) fn offset_of(source: &str, (line, column): (usize, usize)) -> Option<usize> {
    let start: usize = source.split_inclusive('\n').take(line - 1).map(str::len).sum();
    let text = source.get(start..)?;
    Some(start + text.char_indices().nth(column.saturating_sub(1)).map_or(text.len(), |(i, _)| i))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Language, SessionOptions};

    #[test]
    fn places_are_counted_in_characters_from_one() {
        assert_eq!(line_and_column("ab\ncöd", 6), (2, 3));
        assert_eq!(line_and_column("", 0), (1, 1));
    }

    /// Runs inputs, of which the last fails, and returns the failure.
    fn failure(inputs: &[(Language, &str)]) -> Failure {
        let mut session = Session::new(SessionOptions::default());
        let mut outcome = Default::default();
        for (language, input) in inputs {
            outcome = session.eval(*language, input);
        }
        outcome.error.unwrap_or_default()
    }

    #[test]
    fn a_trace_leads_through_the_inputs_of_both_languages() {
        use Language::*;
        let found = failure(&[
            (Python, "import torch\n\ndef inner(t):\n    u = t + 1\n    return u.view(9)"),
            (Rhai, "fn middle(t) {\n  inner.call(t)\n}"),
            (Rhai, "\nmiddle(torch.ones(2))"),
        ]);
        assert_eq!(found.message, "shape '[9]' is invalid for input of size 2");
        assert!(found.source.is_some_and(|source| source.starts_with("import torch")));
        assert_eq!(found.position.map(|(line, _)| line), Some(5));
        assert_eq!(
            found.trace,
            [
                "in inner(), called at line 2 of an earlier input: inner.call(t)",
                "in middle(), called at line 2: middle(torch.ones(2))"
            ]
        );
    }

    #[test]
    fn advice() {
        use Language::*;
        /// The input, the error, and the advice.
        type Row<'a> = (&'a [(Language, &'a str)], &'a str, Option<&'a str>);
        let rows: &[Row] = &[
            (&[(Rhai, "fn f(a) {}"), (Rhai, "f(1, 2)")], "f() takes 1 positional argument but 2 were given", None),
            (&[(Rhai, "let d = #{}"), (Rhai, "d()")], "'dict' object is not callable", None),
            (&[(Rhai, "let d = #{}; d()")], "'d' is not a function", None),
            (&[(Rhai, "y += 1")], "name 'y' is not defined", None),
            (&[(Rhai, "fn f() { y = 1 } f()")], "name 'y' is not defined", Some("`let y = …` makes a new variable")),
            (&[(Rhai, "y == 1")], "name 'y' is not defined", None),
            (&[(Python, "math.pi")], "name 'math' is not defined", Some("`import math` first")),
            (&[(Python, "breakpoint()")], "breakpoint is not supported at this prompt", None),
            (&[(Rhai, "let weight = 1; wieght")], "name 'wieght' is not defined", Some("did you mean 'weight'?")),
            (&[(Rhai, "1 in 5")], "argument of type 'int' is not iterable", None),
            (&[(Rhai, "().foo()")], "'NoneType' object has no attribute 'foo'", None),
            (&[(Rhai, "throw torch.ones(1)")], "tensor([1.])", None),
            (
                &[(Rhai, "try { torch.ones(2).view(3) } catch (e) { throw `no: ${e}` }")],
                "no: RuntimeError: shape '[3]' is invalid for input of size 2",
                None,
            ),
        ];
        for (inputs, message, hint) in rows {
            let found = failure(inputs);
            assert_eq!((found.message.as_str(), found.hint.as_deref()), (*message, *hint), "{inputs:?}");
        }
    }
}
