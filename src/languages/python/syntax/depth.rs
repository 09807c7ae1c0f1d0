//! Whether a source is shallow enough to be parsed: asked before there is a tree, so that no walk over one, and no drop
//! of one, exhausts the stack.
//!
//! It must not know anything of the grammar beyond its tokens.

use ruff_python_ast::token::TokenKind;
use ruff_python_parser::{Mode, lexer};

use super::SyntaxFault;

/// As in CPython's tokenizer.
const MAX_BRACKETS: usize = 200;
/// As in CPython's tokenizer.
const MAX_INDENTS: usize = 100;
/// Nothing in the syntax tree can be deeper, so that no walk over it, and no drop of it, exhausts the stack.
const MAX_DEPTH: usize = 500;

const TOO_MANY_BRACKETS: &str = "too many nested parentheses";
const TOO_MANY_INDENTS: &str = "too many levels of indentation";
const TOO_DEEP: &str = "expression is nested too deeply (more than 500 levels)";

/// Refuses source whose syntax tree could be too deep, before any tree is built.
pub(crate) fn check(source: &str) -> Result<(), SyntaxFault> {
    if u32::try_from(source.len()).is_err() {
        return Err(SyntaxFault::syntax("the input is longer than 4 GB", 0));
    }
    let Some(message) = excess(source, MAX_DEPTH) else {
        return Ok(());
    };
    // The lexer does not tell where it stands: the fault is at the end of the shortest prefix that has it.
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

/// The tokens since the last separator between two open brackets; each of them may nest one level deeper.
#[derive(Default)]
struct Level {
    nesting: usize,
    /// A lambda's parameters contain commas, so that a comma does not separate lambdas.
    lambdas: usize,
}

/// What there is too much of in a source, if its expressions may be so deep.
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
                    // Braces follow one another in an f-string without nesting, and cannot be applied to anything.
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
