//! Tokens that are inserted into a typed text, on the same lines, before the engine reads it. The body of `try` goes
//! through a step that keeps errors whole (see `caught.rs`), and a closure in a variable can be called like a function:
//! `f(2)` becomes `f.call(2)`.

use super::chains;
use super::forms_of_python::{self, Change};
use super::written::{Edit, Offsets};
use crate::script::bounds::MAX_EXPRESSION_DEPTH;
use crate::script::words::CALLED;
use rhai::{Engine, Position, Token};
use std::collections::{HashMap, HashSet};
use torch::READ_VARIABLES;

/// The engine counts lines and columns only up to a limit; positions beyond are not reliable.
const COUNTED: usize = 60_000;

/// More nested brackets than the engine accepts.
const DEEPEST: usize = 2 * MAX_EXPRESSION_DEPTH;

/// Text inserted before a character. Line and column refer to the typed text and start at 1.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Insertion {
    pub line: usize,
    pub column: usize,
    pub text: &'static str,
}

/// Returns the insertions. `is_closure` tells which names are variables holding closures; `is_function` tells which
/// names are functions already.
pub(crate) fn edits(
    all: &Tokens,
    source: &str,
    is_closure: &dyn Fn(&str) -> bool,
    is_function: &dyn Fn(&str) -> bool,
) -> Vec<Edit> {
    let Tokens { found: tokens, .. } = all;
    if !all.are_matched() || source.lines().count() > COUNTED || source.lines().any(|line| line.len() > COUNTED) {
        return Vec::new();
    }
    let mut found = enclosed(tokens);
    found.extend(calls(tokens, is_closure, is_function));
    found.extend(looks(tokens));
    found.extend(chains::powers(tokens, source));
    found.extend(chains::properties(tokens));
    found.extend(chains::nothings(tokens));
    found.sort_by_key(|insertion| (insertion.line, insertion.column));
    let mut offsets = Offsets::new(source);
    let mut edits: Vec<Edit> = Vec::new();
    for insertion in found {
        let at = offsets.of(insertion.line, insertion.column);
        edits.extend(at.map(|at| Edit { at, removed: 0, text: insertion.text.into() }));
    }
    edits
}

/// Returns the further edits that make the engine accept Python idioms.
pub(crate) fn changes(all: &Tokens, source: &str) -> Vec<Edit> {
    if !all.are_all || !all.are_matched() {
        return Vec::new();
    }
    let mut changes = forms_of_python::changes(&all.found);
    changes.sort_by_key(|change| (change.line, change.column));
    let mut offsets = Offsets::new(source);
    let edit = |Change { line, column, removed, text }: Change| {
        // Only single-byte characters are ever removed.
        offsets.of(line, column).map(|at| Edit { at, removed, text: text.into() })
    };
    changes.into_iter().filter_map(edit).collect()
}

/// The tokens of a text, up to the first faulty one.
pub(crate) struct Tokens {
    pub found: Vec<(Token, Position)>,
    /// Whether these are all the tokens of the text.
    pub are_all: bool,
}

impl Tokens {
    /// Returns whether all brackets match and none is nested too deeply. The engine rejects any other text, and
    /// searching it for matching brackets would take long.
    fn are_matched(&self) -> bool {
        let mut open = 0usize;
        self.found.iter().all(|(token, _)| {
            if chains::opens(token) {
                open += 1;
            } else if chains::closes(token) {
                let Some(left) = open.checked_sub(1) else { return false };
                open = left;
            }
            open <= DEEPEST
        }) && open == 0
    }
}

/// Tokenizes a text like the engine does.
pub(crate) fn tokens(engine: &Engine, source: &str) -> Tokens {
    /// An open brace: of a block or a map, or of an expression inside a string.
    enum Brace {
        Block,
        InText,
    }
    let texts = [source];
    let (stream, control) = engine.lex(&texts);
    let (mut found, mut open): (Vec<(Token, Position)>, Vec<Brace>) = (Vec::new(), Vec::new());
    for (token, position) in stream {
        match &token {
            Token::EOF => return Tokens { found, are_all: true },
            Token::LexError(_) => return Tokens { found, are_all: false },
            Token::LeftBrace if matches!(found.last(), Some((Token::InterpolatedString(_), _))) => {
                open.push(Brace::InText);
            }
            Token::LeftBrace | Token::MapStart => open.push(Brace::Block),
            // The parser tells the tokenizer the same: the string continues here.
            Token::RightBrace if matches!(open.pop(), Some(Brace::InText)) => {
                control.borrow_mut().is_within_text = true
            }
            _ => {}
        }
        found.push((token, position));
    }
    Tokens { found, are_all: true }
}

/// Returns the insertions around the body of `try`.
fn enclosed(tokens: &[(Token, Position)]) -> Vec<Insertion> {
    let (mut found, mut open) = (Vec::new(), Vec::new());
    for (index, (token, position)) in tokens.iter().enumerate() {
        match token {
            Token::LeftBrace | Token::MapStart => {
                let is_body = index.checked_sub(1).is_some_and(|before| is(tokens, before, &Token::Try));
                open.push(place(*position).filter(|_| is_body));
            }
            Token::RightBrace => {
                if let Some(Some((line, column))) = open.pop()
                    && is(tokens, index + 1, &Token::Catch)
                    && let Some((last, end)) = place(*position)
                {
                    found.push(Insertion { line, column: column + 1, text: " protected {" });
                    found.push(Insertion { line: last, column: end, text: "}" });
                }
            }
            _ => {}
        }
    }
    found
}

/// Returns the insertions after variables that are called, and after subscripts and calls whose result is called:
/// `f[0](2)`, `f(1)(2)`.
fn calls(
    tokens: &[(Token, Position)],
    is_closure: &dyn Fn(&str) -> bool,
    is_function: &dyn Fn(&str) -> bool,
) -> Vec<Insertion> {
    let (variables, functions) = declared(tokens);
    let mut closures = Closures::new();
    let called = tokens.iter().enumerate().filter_map(|(index, (token, position))| {
        closures.step(tokens, index, token);
        let is_called = is(tokens, index + 1, &Token::LeftParen) || is(tokens, index + 1, &Token::Unit);
        if matches!(token, Token::RightBracket | Token::RightParen | Token::Unit) {
            let (line, column) = place(*position)?;
            let column = column + if *token == Token::Unit { 2 } else { 1 };
            // After white space, a new statement may begin.
            let is_close = tokens.get(index + 1).and_then(|(_, position)| place(*position)) == Some((line, column));
            return (is_called && is_close).then_some(Insertion { line, column, text: CALLED });
        }
        let Token::Identifier(name) = token else { return None };
        let name = name.as_str();
        let before = index.checked_sub(1).and_then(|before| tokens.get(before)).map(|(token, _)| token);
        let is_bare = !matches!(before, Some(Token::Period | Token::Elvis | Token::Fn | Token::DoubleColon));
        if !is_bare || !is_called || functions.contains(name) {
            return None;
        }
        // A closure hides a function of the same name; other variables do not.
        let hides = || is_closure(name) || closures.sees(name);
        if !(variables.contains(name) && !is_function(name) || hides()) {
            return None;
        }
        let (line, column) = place(*position)?;
        Some(Insertion { line, column: column + name.chars().count(), text: CALLED })
    });
    called.collect()
}

/// The variables that hold a closure at the current token of a pass: `let f = |x| …`.
struct Closures<'t> {
    /// For each name, the functions in whose blocks it was defined, the innermost last. The text itself is number 0.
    made: HashMap<&'t str, Vec<usize>>,
    /// The open blocks, each with the function it belongs to and the names defined in it.
    blocks: Vec<(usize, Vec<&'t str>)>,
    functions: usize,
    /// Whether the next brace begins the body of a function.
    is_function: bool,
}

impl<'t> Closures<'t> {
    fn new() -> Closures<'t> {
        Closures { made: HashMap::new(), blocks: vec![(0, Vec::new())], functions: 0, is_function: false }
    }

    fn step(&mut self, tokens: &'t [(Token, Position)], index: usize, token: &Token) {
        match token {
            Token::Fn => self.is_function = true,
            Token::LeftBrace | Token::MapStart => {
                let is_function = std::mem::take(&mut self.is_function);
                self.functions += usize::from(is_function);
                let function = if is_function { self.functions } else { self.function() };
                self.blocks.push((function, Vec::new()));
            }
            Token::RightBrace if self.blocks.len() > 1 => {
                for name in self.blocks.pop().map(|(_, names)| names).unwrap_or_default() {
                    self.made.get_mut(name).and_then(Vec::pop);
                }
            }
            Token::Pipe | Token::Or if index > 1 && is(tokens, index - 1, &Token::Equals) => {
                let function = self.function();
                if let (Some((Token::Identifier(name), _)), Some((_, names))) =
                    (tokens.get(index - 2), self.blocks.last_mut())
                {
                    names.push(name);
                    self.made.entry(name).or_default().push(function);
                }
            }
            _ => {}
        }
    }

    /// Returns the function whose body contains the current token.
    fn function(&self) -> usize {
        self.blocks.last().map_or(0, |(function, _)| *function)
    }

    /// Returns whether a closure of this name is visible. A function does not see the closures outside.
    fn sees(&self, name: &str) -> bool {
        self.made.get(name).and_then(|made| made.last()).is_some_and(|made| *made == self.function())
    }
}

/// Returns the insertions before calls that inspect variables: `aliases()`, `x.t().explain()`.
fn looks(tokens: &[(Token, Position)]) -> Vec<Insertion> {
    let called = tokens.iter().enumerate().filter_map(|(index, (token, _))| {
        let Token::Identifier(name) = token else { return None };
        let is_called = is(tokens, index + 1, &Token::LeftParen) || is(tokens, index + 1, &Token::Unit);
        if !is_called || !READ_VARIABLES.contains(&name.as_str()) {
            return None;
        }
        let first = chain_start(tokens, index)?;
        let (line, column) = tokens.get(first).and_then(|(_, position)| place(*position))?;
        Some(Insertion { line, column, text: "public " })
    });
    called.collect()
}

/// Returns the start of the chain of names, calls and subscripts that leads to a name. `None` after `fn`, and for a
/// name in a module.
fn chain_start(tokens: &[(Token, Position)], name: usize) -> Option<usize> {
    let mut at = name;
    loop {
        let before = at.checked_sub(1);
        match before.and_then(|before| tokens.get(before)).map(|(token, _)| token) {
            Some(Token::Period | Token::Elvis) => at = at.checked_sub(2)?,
            Some(Token::Fn | Token::DoubleColon) => return None,
            _ => return Some(at),
        }
        // A dot follows a name, a value, or one or more brackets.
        loop {
            at = match tokens.get(at).map(|(token, _)| token)? {
                Token::RightParen => opening(tokens, at, &Token::LeftParen, &Token::RightParen)?,
                Token::RightBracket => opening(tokens, at, &Token::LeftBracket, &Token::RightBracket)?,
                Token::Unit => at,
                _ => break,
            };
            let before = at.checked_sub(1).and_then(|before| tokens.get(before)).map(|(token, _)| token);
            match before {
                Some(Token::Identifier(_) | Token::RightParen | Token::RightBracket | Token::Unit) => at -= 1,
                _ => break,
            }
        }
    }
}

/// Returns the opening bracket that matches the one at `close`.
fn opening(tokens: &[(Token, Position)], close: usize, opens: &Token, closes: &Token) -> Option<usize> {
    let mut depth = 0usize;
    (0..=close).rev().find(|index| {
        depth += usize::from(is(tokens, *index, closes));
        depth -= usize::from(is(tokens, *index, opens)).min(depth);
        depth == 0
    })
}

/// Returns the variables, including parameters, and the functions that a text names.
fn declared(tokens: &[(Token, Position)]) -> (HashSet<&str>, HashSet<&str>) {
    let (mut variables, mut functions) = (HashSet::new(), HashSet::new());
    let name_at = |index: usize| match tokens.get(index) {
        Some((Token::Identifier(name), _)) => Some(name.as_str()),
        _ => None,
    };
    let mut names_until = |from: usize, end: &Token| {
        for index in from..tokens.len() {
            match tokens.get(index) {
                Some((Token::Identifier(name), _)) => drop(variables.insert(name.as_str())),
                Some((Token::Comma, _)) => {}
                Some((token, _)) if token == end => return index,
                _ => return from,
            }
        }
        from
    };
    let mut assigned = Vec::new();
    let mut behind = 0;
    for (index, (token, _)) in tokens.iter().enumerate() {
        match token {
            _ if index < behind => {}
            // A variable with another value is not called; Rhai would take the first argument for the function.
            Token::Let | Token::Const if !tokens.get(index + 3).is_some_and(|(token, _)| is_literal(token)) => {
                names_until(index + 1, &Token::Equals);
            }
            Token::For => {
                let from = if is(tokens, index + 1, &Token::LeftParen) { index + 2 } else { index + 1 };
                names_until(from, if from == index + 1 { &Token::In } else { &Token::RightParen });
            }
            Token::Catch if is(tokens, index + 1, &Token::LeftParen) => {
                names_until(index + 2, &Token::RightParen);
            }
            Token::Fn => {
                functions.extend(name_at(index + 1));
                names_until(index + 3, &Token::RightParen);
            }
            // An assignment, perhaps the first one to the variable.
            Token::Equals
                if begins(tokens, index) && !tokens.get(index + 1).is_some_and(|(token, _)| is_literal(token)) =>
            {
                assigned.extend(index.checked_sub(1).and_then(name_at));
            }
            Token::Pipe => behind = names_until(index + 1, &Token::Pipe) + 1,
            _ => {}
        }
    }
    variables.extend(assigned);
    (variables, functions)
}

/// Returns whether a statement begins with the name before this token.
fn begins(tokens: &[(Token, Position)], equals: usize) -> bool {
    let before = equals.checked_sub(2).and_then(|before| tokens.get(before));
    before.is_none_or(|(token, _)| matches!(token, Token::SemiColon | Token::LeftBrace | Token::RightBrace))
}

/// Returns whether a value begins here that is not a function.
fn is_literal(token: &Token) -> bool {
    use Token::{CharConstant, FloatConstant, IntegerConstant, LeftBracket, MapStart, StringConstant};
    matches!(
        token,
        MapStart | LeftBracket | IntegerConstant(_) | FloatConstant(_) | StringConstant(_) | CharConstant(_)
    )
}

pub(super) fn is(tokens: &[(Token, Position)], index: usize, wanted: &Token) -> bool {
    tokens.get(index).is_some_and(|(token, _)| token == wanted)
}

pub(super) fn place(position: Position) -> Option<(usize, usize)> {
    Some((position.line()?, position.position()?.max(1)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::reading::written::EditedText;

    #[test]
    fn the_engine_reads_more_than_was_typed() {
        let rows = [
            ("try { f() } catch (e) {}", "try { protected { f() }} catch (e) {}"),
            ("print(aliases())", "print(public aliases())"),
            ("-x[0].f(1)(2).explain() + 1", "-public x[0].f(1).call(2).explain() + 1"),
            ("fn explain(t) { t }", "fn explain(t) { t }"),
            ("try {\n1\n} catch {}", "try { protected {\n1\n}} catch {}"),
            ("try { try {1} catch {} } catch {}", "try { protected { try { protected {1}} catch {} }} catch {}"),
            ("try { 1", "try { 1"),
            ("`a ${try {1} catch {2}} }` + f", "`a ${try { protected {1}} catch {2}} }` + f"),
            ("// try { 1 } catch {}", "// try { 1 } catch {}"),
            ("let f = |x| x; f(2)", "let f = |x| x; f.call(2)"),
            ("fn f(x) {} let f = 1; f(2)", "fn f(x) {} let f = 1; f(2)"),
            ("fn g(h, x) { h(x) }", "fn g(h, x) { h.call(x) }"),
            ("|k| k()", "|k| k.call()"),
            ("q = || 1; q()", "q = || 1; q.call()"),
            ("q = fs[0]; q(1)", "q = fs[0]; q.call(1)"),
            ("for a in fs { q = a; q() }", "for a in fs { q = a; q.call() }"),
            ("q = 5; q(1); p(dim = d); d(1)", "q = 5; q(1); p(dim = d); d(1)"),
            ("fs[0](1) + h(1)(2)() + (a)()", "fs[0].call(1) + h(1).call(2).call() + (a).call()"),
            ("fs[0]\n(1); fs[0] (1)", "fs[0]\n(1); fs[0] (1)"),
            ("let x = a | b | c; c(2)", "let x = a | b | c; c(2)"),
            ("let n = 5; n(2)", "let n = 5; n(2)"),
            ("let d = #{}; d(2)", "let d = #{}; d(2)"),
            ("y.f(1); g(1); print(2)", "y.f(1); g.call(1); print(2)"),
            ("let max = |x| x; max(2)", "let max = |x| x; max.call(2)"),
            ("{ let max = || 1; max() } max(2)", "{ let max = || 1; max.call() } max(2)"),
            ("let max = || 1; fn f() { max(1) } max()", "let max = || 1; fn f() { max(1) } max.call()"),
            ("let max = x; max(2)", "let max = x; max(2)"),
        ];
        let engine = Engine::new_raw();
        for (source, wanted) in rows {
            let found =
                edits(&tokens(&engine, source), source, &|name| name == "g", &|name| ["print", "max"].contains(&name));
            assert_eq!(EditedText::new(source, found).text, wanted);
        }
    }

    #[test]
    fn places_are_those_of_what_was_typed() {
        let source = "try {f()} catch {g}";
        let written =
            EditedText::new(source, edits(&tokens(&Engine::new_raw(), source), source, &|_| false, &|_| false));
        for (index, character) in source.char_indices().filter(|(_, character)| "f()g".contains(*character)) {
            let there = written.text.find(character).unwrap();
            assert_eq!(written.typed_column(1, there + 1), index + 1, "{character}");
        }
        assert_eq!(written.typed_column(2, 30), 30);
    }
}
