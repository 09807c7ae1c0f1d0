//! Whether lines typed after a faulty source could mend it: what a prompt asks before it complains.
//!
//! It must not know the words of any fault.

use ruff_python_ast::token::{TokenKind, Tokens};
use ruff_python_parser::{
    InterpolatedStringErrorType, LexicalErrorType, Mode, ParseError, ParseErrorType, lexer, parse_unchecked,
};

use super::{end, options, start};

fn is_triple_quoted(source: &str, string: usize) -> bool {
    let literal = source.get(string..).unwrap_or_default();
    let quotes = literal.trim_start_matches(|c: char| c.is_ascii_alphabetic());
    quotes.starts_with("\"\"\"") || quotes.starts_with("'''")
}

/// Whether lines typed after the source could mend its first fault.
pub fn could_be_mended(source: &str, first: &ParseError, tokens: &Tokens) -> bool {
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
            return last.is_none_or(|token| start(first) >= end(token));
        }
        _ => {}
    }
    match closing(source) {
        Some(closing) => {
            let probe = format!("{source}{closing}");
            let parsed = parse_unchecked(&probe, options());
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
