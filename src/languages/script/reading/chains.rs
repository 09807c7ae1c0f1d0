//! Finds where operands begin and end among the tokens of a text, for two rewrites. `-x ** 2` becomes `-(x ** 2)`, as
//! in mathematics. `xs.len` becomes `xs.len_()`, because the engine goes through all items of an array after it reads a
//! property.

use super::weave::{Insertion, is, place};
use crate::script::words::PROPERTIES;
use rhai::{Position, Token};

/// The suffix that turns reading an array's property into a call: see [`crate::script::bounds::property`].
pub(crate) const PROPERTY_CALL: &str = "_()";

/// Puts parentheses around powers that follow a minus sign.
pub(super) fn powers(tokens: &[(Token, Position)], source: &str) -> Vec<Insertion> {
    let mut found = Vec::new();
    // Finding a line anew for every number would take time in proportion to the square of the length.
    let lines: Vec<&str> = source.lines().collect();
    for (index, (token, position)) in tokens.iter().enumerate() {
        let Some((line, column)) = place(*position) else { continue };
        let first = match token {
            Token::UnaryMinus => index + 1,
            Token::IntegerConstant(_) | Token::FloatConstant(_) if rest(&lines, line, column).starts_with('-') => index,
            _ => continue,
        };
        if let Some(last) = operand_end(tokens, first)
            && is(tokens, last + 1, &Token::PowerOf)
            && let Some(last) = power_end(tokens, last)
            && let Some((end_line, end)) = end(tokens, &lines, last)
        {
            found.push(Insertion { line, column: column + 1, text: "(" });
            found.push(Insertion { line: end_line, column: end, text: ")" });
        }
    }
    found
}

/// Puts an empty string into `${}`.
pub(crate) fn nothings(tokens: &[(Token, Position)]) -> Vec<Insertion> {
    let empty = tokens.windows(3).filter_map(|three| match three {
        [(Token::InterpolatedString(_), _), (Token::LeftBrace, _), (Token::RightBrace, position)] => place(*position),
        _ => None,
    });
    empty.map(|(line, column)| Insertion { line, column, text: "\"\"" }).collect()
}

/// Adds a call after properties of arrays that are read.
pub(super) fn properties(tokens: &[(Token, Position)]) -> Vec<Insertion> {
    let read = tokens.iter().enumerate().filter_map(|(index, (token, position))| {
        let Token::Identifier(name) = token else { return None };
        let is_property = PROPERTIES.contains(&name.as_str())
            && matches!(tokens.get(index.checked_sub(1)?), Some((Token::Period | Token::Elvis, _)));
        let is_called = is(tokens, index + 1, &Token::LeftParen) || is(tokens, index + 1, &Token::Unit);
        if !is_property || is_called {
            return None;
        }
        let behind = tokens.get(chain_end(tokens, index)? + 1).map(|(token, _)| token);
        let is_assigned = behind.is_some_and(|token| *token == Token::Equals || token.is_op_assignment());
        let (line, column) = place(*position)?;
        (!is_assigned).then_some(Insertion { line, column: column + name.chars().count(), text: PROPERTY_CALL })
    });
    read.collect()
}

/// Returns the last token of a power whose base ends at `last`. Powers are right-associative.
fn power_end(tokens: &[(Token, Position)], mut last: usize) -> Option<usize> {
    while is(tokens, last + 1, &Token::PowerOf) {
        last = operand_end(tokens, last + 2)?;
    }
    Some(last)
}

/// Returns the last token of the operand that begins at `first`: signs, a value, and the calls and subscripts after it.
fn operand_end(tokens: &[(Token, Position)], mut first: usize) -> Option<usize> {
    while let Some((Token::UnaryMinus | Token::UnaryPlus | Token::Bang, _)) = tokens.get(first) {
        first += 1;
    }
    let value = match tokens.get(first).map(|(token, _)| token)? {
        Token::Identifier(_) | Token::IntegerConstant(_) | Token::FloatConstant(_) | Token::Unit => first,
        Token::Reserved(word) if word.as_str() == "this" => first,
        Token::LeftParen | Token::LeftBracket | Token::MapStart => closing(tokens, first)?,
        _ => return None,
    };
    chain_end(tokens, value)
}

/// Returns the last token of a chain of members, calls and subscripts, given one of its tokens.
pub(super) fn chain_end(tokens: &[(Token, Position)], mut last: usize) -> Option<usize> {
    loop {
        last = match tokens.get(last + 1).map(|(token, _)| token) {
            Some(Token::Period | Token::Elvis | Token::DoubleColon) => last + 2,
            Some(Token::LeftParen | Token::LeftBracket | Token::QuestionBracket) => closing(tokens, last + 1)?,
            Some(Token::Unit) => last + 1,
            _ => return Some(last),
        };
    }
}

/// Returns whether a token is an opening bracket of any kind.
pub(super) fn opens(token: &Token) -> bool {
    matches!(token, Token::LeftParen | Token::LeftBracket | Token::QuestionBracket | Token::LeftBrace | Token::MapStart)
}

/// Returns whether a token is a closing bracket of any kind.
pub(super) fn closes(token: &Token) -> bool {
    matches!(token, Token::RightParen | Token::RightBracket | Token::RightBrace)
}

/// Returns the bracket that closes the one at `open`.
pub(super) fn closing(tokens: &[(Token, Position)], open: usize) -> Option<usize> {
    let mut depth = 0usize;
    for (index, (token, _)) in tokens.iter().enumerate().skip(open) {
        if opens(token) {
            depth += 1;
        } else if closes(token) {
            depth = depth.checked_sub(1)?;
            if depth == 0 {
                return Some(index);
            }
        }
    }
    None
}

/// Returns the position after a token that ends an operand. A token knows only where it begins, so its text is read
/// again.
fn end(tokens: &[(Token, Position)], lines: &[&str], index: usize) -> Option<(usize, usize)> {
    let (token, position) = tokens.get(index)?;
    let (line, column) = place(*position)?;
    let length = match token {
        Token::Identifier(name) => name.chars().count(),
        Token::Reserved(word) => word.chars().count(),
        Token::Unit => 2,
        Token::RightParen | Token::RightBracket | Token::RightBrace => 1,
        Token::IntegerConstant(_) | Token::FloatConstant(_) => number_length(rest(lines, line, column)),
        _ => return None,
    };
    Some((line, column + length))
}

/// Returns the number of characters of the number at the start of a text.
fn number_length(text: &str) -> usize {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let is_decimal = !digits.starts_with("0x") && !digits.starts_with("0X");
    let mut last = '\0';
    let mut chars = digits.chars().peekable();
    let mut length = text.len() - digits.len();
    while let Some(c) = chars.next() {
        let is_exponent = is_decimal && matches!(last, 'e' | 'E') && matches!(c, '+' | '-');
        let is_point = c == '.' && chars.peek().is_some_and(char::is_ascii_digit);
        if !(c.is_ascii_alphanumeric() || c == '_' || is_exponent || is_point) {
            break;
        }
        length += 1;
        last = c;
    }
    length
}

/// Returns the rest of a line from a column on.
fn rest<'l>(lines: &[&'l str], line: usize, column: usize) -> &'l str {
    let text = line.checked_sub(1).and_then(|line| lines.get(line).copied()).unwrap_or_default();
    let at = text.char_indices().nth(column.saturating_sub(1)).map_or(text.len(), |(at, _)| at);
    text.get(at..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use crate::script::reading::weave;
    use crate::script::reading::written::EditedText;
    use rhai::Engine;

    #[test]
    fn a_minus_sign_stands_before_a_power_and_properties_are_calls() {
        let rows = [
            ("-x ** 2", "-(x ** 2)"),
            ("-2 ** 2 + 1", "-(2 ** 2) + 1"),
            ("a - -2.5e-3 ** 0x1F // -x ** 2", "a - -(2.5e-3 ** 0x1F) // -x ** 2"),
            ("-x.f(1)[0] ** -y ** (1 + 2)", "-(x.f(1)[0] ** -(y ** (1 + 2)))"),
            ("-x.y * z ** 2", "-x.y * z ** 2"),
            ("(-x) ** 2 - y ** 2", "(-x) ** 2 - y ** 2"),
            ("`${-x ** 2}`", "`${-(x ** 2)}`"),
            ("!-t() ** 2", "!-(t() ** 2)"),
            ("while i < xs.len { xs[xs.len - 1].len }", "while i < xs.len_() { xs[xs.len_() - 1].len_() }"),
            ("m.len = 3; m.len.x += 1; xs.len(); len(xs)", "m.len = 3; m.len.x += 1; xs.len(); len(xs)"),
            ("`${xs?.len}`", "`${xs?.len_()}`"),
            ("`a ${} b ${1}`", "`a ${\"\"} b ${1}`"),
        ];
        let engine = Engine::new_raw();
        for (source, wanted) in rows {
            let found = weave::edits(&weave::tokens(&engine, source), source, &|_| false, &|_| true);
            assert_eq!(EditedText::new(source, found).text, wanted);
        }
    }
}
