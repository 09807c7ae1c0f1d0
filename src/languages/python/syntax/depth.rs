//! Checks that a source is shallow enough to parse. This runs before a tree exists, so that walking or dropping the
//! tree never exhausts the stack.
//!
//! Knows only the tokens of the grammar.

use ruff_python_ast::token::TokenKind;
use ruff_python_parser::{Mode, lexer};

use super::SyntaxFault;

/// The same limit as in CPython's tokenizer.
const MAX_BRACKETS: usize = 200;
/// The same limit as in CPython's tokenizer.
const MAX_INDENTS: usize = 100;
/// The maximum depth of the syntax tree, so that walking or dropping it never exhausts the stack.
const MAX_DEPTH: usize = 500;

const TOO_MANY_BRACKETS: &str = "too many nested parentheses";
const TOO_MANY_INDENTS: &str = "too many levels of indentation";
const TOO_DEEP: &str = "expression is nested too deeply (more than 500 levels)";

/// Rejects source whose syntax tree could be too deep, before any tree is built.
pub(crate) fn check(source: &str) -> Result<(), SyntaxFault> {
    if u32::try_from(source.len()).is_err() {
        return Err(SyntaxFault::syntax("the input is longer than 4 GB", 0));
    }
    let Some(message) = excess(source, MAX_DEPTH) else {
        return Ok(());
    };
    // The lexer does not report its position. The fault is at the end of the shortest faulty prefix.
    let (mut fine, mut faulty) = (0, source.len());
    loop {
        let middle = source.floor_char_boundary(fine + (faulty - fine) / 2);
        if middle <= fine {
            return Err(SyntaxFault::syntax(message, fine));
        }
        match source.get(..middle).and_then(|source| excess(source, MAX_DEPTH)) {
            Some(_) => faulty = middle,
            None => fine = middle,
        }
    }
}

/// The tokens since the last separator between two open brackets. Each may add one level of nesting.
#[derive(Default)]
struct Level {
    nesting: usize,
    /// Number of lambdas. A lambda's parameters contain commas, so a comma does not end its nesting.
    lambdas: usize,
}

/// Returns a message about excessive nesting if the expressions of a source could be deeper than `deepest`.
pub(crate) fn excess(source: &str, deepest: usize) -> Option<&'static str> {
    let mut lexer = lexer::lex(source, Mode::Module);
    let mut levels = vec![Level::default()];
    let mut outer = 0;
    let mut indents = 0_usize;
    let mut strings = 0_usize;
    loop {
        let token = lexer.next_token();
        let level = levels.last_mut()?;
        match token {
            TokenKind::EndOfFile => return None,
            TokenKind::Lpar | TokenKind::Lsqb | TokenKind::Lbrace => {
                level.nesting += 1;
                outer += level.nesting + level.lambdas;
                levels.push(Level::default());
                if levels.len() > MAX_BRACKETS + 1 + strings {
                    return Some(TOO_MANY_BRACKETS);
                }
            }
            TokenKind::FStringStart | TokenKind::TStringStart => {
                strings += 1;
                outer += level.nesting + level.lambdas;
                levels.push(Level::default());
            }
            TokenKind::Rpar | TokenKind::Rsqb | TokenKind::Rbrace | TokenKind::FStringEnd | TokenKind::TStringEnd => {
                if levels.len() > 1 {
                    levels.pop();
                }
                if matches!(token, TokenKind::FStringEnd | TokenKind::TStringEnd) {
                    strings = strings.saturating_sub(1);
                }
                if let Some(level) = levels.last_mut() {
                    outer -= (level.nesting + level.lambdas).min(outer);
                    // The braces of an f-string follow each other without nesting, and cannot be called or subscripted.
                    if token == TokenKind::Rbrace {
                        level.nesting = level.nesting.saturating_sub(1);
                    }
                }
            }
            TokenKind::Comma => level.nesting = 0,
            TokenKind::Newline | TokenKind::Semi => {
                levels = vec![Level::default()];
                outer = 0;
                strings = 0;
            }
            TokenKind::Lambda => level.lambdas += 1,
            TokenKind::Indent => {
                indents += 1;
                if indents > MAX_INDENTS {
                    return Some(TOO_MANY_INDENTS);
                }
            }
            TokenKind::Dedent => indents = indents.saturating_sub(1),
            TokenKind::Name
            | TokenKind::Int
            | TokenKind::Float
            | TokenKind::Complex
            | TokenKind::String
            | TokenKind::FStringMiddle
            | TokenKind::TStringMiddle
            | TokenKind::Comment
            | TokenKind::NonLogicalNewline
            | TokenKind::Unknown
            | TokenKind::None
            | TokenKind::True
            | TokenKind::False
            | TokenKind::Ellipsis => {}
            _ => level.nesting += 1,
        }
        let here = levels.last().map_or(0, |l| l.nesting + l.lambdas);
        if outer + here > deepest {
            return Some(TOO_DEEP);
        }
    }
}
