//! Checks the source as a whole: whether it is shallow enough to be parsed, what its first fault is, and whether more
//! lines would mend it.
//!
//! It must not know how anything is translated.

use ruff_python_ast::token::{TokenKind, Tokens};
use ruff_python_parser::{
    InterpolatedStringErrorType, LexicalErrorType, Mode, ParseError, ParseErrorType, ParseOptions, lexer,
    parse_unchecked,
};

use super::{SyntaxFault, Written, start};

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
pub fn check_depth(source: &str) -> Written {
    if u32::try_from(source.len()).is_err() {
        return Err(SyntaxFault::syntax("the input is longer than 4 GB", 0));
    }
    let Some(message) = excess(source) else {
        return Ok(());
    };
    // The lexer does not tell where it stands: the fault is at the end of the shortest prefix that has it.
    let (mut fine, mut faulty) = (0, source.len());
    loop {
        let middle = source.floor_char_boundary(fine + (faulty - fine) / 2);
        if middle <= fine {
            return Err(SyntaxFault::syntax(message, fine));
        }
        match source.get(..middle).and_then(excess) {
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

fn excess(source: &str) -> Option<&'static str> {
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
        if outer + here > MAX_DEPTH {
            return Some(TOO_DEEP);
        }
    }
}

/// The fault a reader meets first, in Python's words.
pub fn first_fault(source: &str, errors: &[ParseError], tokens: &Tokens) -> Option<SyntaxFault> {
    let first = errors.iter().min_by_key(|error| start(*error))?;
    let mut offset = start(first);
    let mut message = message(source, first);
    if matches!(first.error, ParseErrorType::Lexical(LexicalErrorType::Eof))
        && let Some((at, bracket)) = unclosed(source, tokens)
    {
        offset = at;
        message = format!("'{bracket}' was never closed");
    }
    Some(SyntaxFault { incomplete: is_incomplete(source, first, tokens), ..SyntaxFault::syntax(message, offset) })
}

fn message(source: &str, error: &ParseError) -> String {
    match &error.error {
        ParseErrorType::Lexical(lexical) => match lexical {
            LexicalErrorType::UnclosedStringError => {
                let end = error.location.end().to_usize();
                let line = source.get(..end).map_or(0, |s| s.lines().count());
                let kind = if is_triple_quoted(source, start(error)) { "triple-quoted string" } else { "string" };
                format!("unterminated {kind} literal (detected at line {line})")
            }
            LexicalErrorType::UnrecognizedToken { tok } if !tok.is_ascii() => {
                format!("invalid character '{tok}' (U+{:04X})", u32::from(*tok))
            }
            LexicalErrorType::UnrecognizedToken { .. } => "invalid syntax".into(),
            LexicalErrorType::LineContinuationError => "unexpected character after line continuation character".into(),
            LexicalErrorType::Eof => "unexpected EOF while parsing".into(),
            LexicalErrorType::OtherError(text) if text.starts_with("ParseIntError") => "invalid integer literal".into(),
            other => lower_first(&other.to_string()),
        },
        ParseErrorType::UnexpectedIndentation => "unexpected indent".into(),
        ParseErrorType::SimpleStatementsOnSameLine => "invalid syntax".into(),
        ParseErrorType::PositionalAfterKeywordArgument => "positional argument follows keyword argument".into(),
        ParseErrorType::InvalidAssignmentTarget => "cannot assign to this expression".into(),
        ParseErrorType::InvalidDeleteTarget => "cannot delete this expression".into(),
        ParseErrorType::ExpectedExpression => "invalid syntax (expected an expression)".into(),
        ParseErrorType::ExpectedToken { .. } => {
            format!("invalid syntax ({})", lower_first(&error.error.to_string()))
        }
        ParseErrorType::OtherError(text) if text == "Expected a statement" => "invalid syntax".into(),
        other => lower_first(&other.to_string()),
    }
}

fn lower_first(text: &str) -> String {
    let mut characters = text.chars();
    match characters.next() {
        Some(first) => first.to_lowercase().chain(characters).collect(),
        None => String::new(),
    }
}

fn is_triple_quoted(source: &str, string: usize) -> bool {
    let literal = source.get(string..).unwrap_or_default();
    let quotes = literal.trim_start_matches(|c: char| c.is_ascii_alphabetic());
    quotes.starts_with("\"\"\"") || quotes.starts_with("'''")
}

/// The innermost bracket that is still open at the end.
fn unclosed(source: &str, tokens: &Tokens) -> Option<(usize, char)> {
    let mut open = Vec::new();
    for token in tokens {
        match token.kind() {
            TokenKind::Lpar | TokenKind::Lsqb | TokenKind::Lbrace => open.push(start(token)),
            TokenKind::Rpar | TokenKind::Rsqb | TokenKind::Rbrace => {
                open.pop();
            }
            _ => {}
        }
    }
    let at = open.pop()?;
    Some((at, source.get(at..)?.chars().next()?))
}

/// Whether lines typed after the source could mend its first fault.
fn is_incomplete(source: &str, first: &ParseError, tokens: &Tokens) -> bool {
    match &first.error {
        ParseErrorType::Lexical(LexicalErrorType::UnclosedStringError) => {
            return is_triple_quoted(source, start(first));
        }
        ParseErrorType::Lexical(LexicalErrorType::FStringError(error)) | ParseErrorType::FStringError(error) => {
            let open = tokens.iter().rev().find(|t| t.kind() == TokenKind::FStringStart);
            return matches!(
                error,
                InterpolatedStringErrorType::UnterminatedTripleQuotedString
                    | InterpolatedStringErrorType::UnterminatedString
            ) && open.is_some_and(|t| is_triple_quoted(source, start(t)));
        }
        ParseErrorType::OtherError(text)
            if text.starts_with("Expected an indented block")
                || text.starts_with("Expected class, function")
                || text.starts_with("Expected `except`") =>
        {
            let last = tokens.iter().rev().find(|token| {
                !matches!(
                    token.kind(),
                    TokenKind::Newline
                        | TokenKind::NonLogicalNewline
                        | TokenKind::Comment
                        | TokenKind::Dedent
                        | TokenKind::EndOfFile
                )
            });
            return last.is_none_or(|token| start(first) >= super::end(token));
        }
        _ => {}
    }
    match closing(source) {
        Some(closing) => {
            let probe = format!("{source}{closing}");
            let parsed = parse_unchecked(&probe, ParseOptions::from(Mode::Module));
            parsed.errors().iter().all(|e| start(e) >= source.len())
        }
        None => false,
    }
}

/// A text that would end the source's open brackets or its backslash, if it has any: when the source with this text
/// has its first fault beyond the source, then so far nothing is wrong.
fn closing(source: &str) -> Option<String> {
    let mut lexer = lexer::lex(source, Mode::Module);
    let mut open = Vec::new();
    loop {
        match lexer.next_token() {
            TokenKind::EndOfFile => break,
            TokenKind::Lpar => open.push(')'),
            TokenKind::Lsqb => open.push(']'),
            TokenKind::Lbrace => open.push('}'),
            TokenKind::Rpar | TokenKind::Rsqb | TokenKind::Rbrace => {
                open.pop();
            }
            _ => {}
        }
    }
    let line_end = if source.ends_with('\n') { "" } else { "\n" };
    if !open.is_empty() {
        return Some(line_end.chars().chain(open.into_iter().rev()).collect());
    }
    let last_line = source.strip_suffix('\n').unwrap_or(source);
    let last_line = last_line.strip_suffix('\r').unwrap_or(last_line);
    last_line.ends_with('\\').then(|| format!("{line_end}0"))
}
