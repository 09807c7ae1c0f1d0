//! Python idioms that Rhai would misread, or reject at run time: one element of a tensor as a condition, pairs in `for
//! (a, b) in zip(…)`, slices of arrays and strings, `let [a, b] = …`. Each is rewritten within its lines; the functions
//! that the rewritten code calls are below.

use super::chains::{chain_end, closing, opens};
use super::weave::{is, place};
use crate::script::Scripted;
use crate::script::fault;
use crate::script::native::{add, add_calling, any};
use crate::script::runtime::Runtime;
use crate::script::subscripts;
use crate::script::values::{is_ours, is_range, to_dynamic, to_subscript, to_value};
use crate::script::words::COMPARISONS;
use objects::iterate::iterate;
use objects::plain::numbers;
use rhai::{Array, Dynamic, Module, NativeCallContext, Position, Token};
use std::any::TypeId;
use std::collections::HashSet;
use std::rc::Rc;
use tensor::{DType, Error, Result};
use value::Value;
use value::equality::truth;

/// An edit: replaces `removed` characters at a position.
pub(super) struct Change {
    pub line: usize,
    pub column: usize,
    pub removed: usize,
    pub text: String,
}

/// Returns all edits for a text with matching brackets.
pub(super) fn changes(tokens: &[(Token, Position)]) -> Vec<Change> {
    let mut found = Vec::new();
    let counters = counters(tokens);
    for (index, (token, _)) in tokens.iter().enumerate() {
        match token {
            Token::If | Token::While | Token::Until => {
                if let Some(end) = condition_end(tokens, index + 1) {
                    condition(tokens, index + 1, end, &mut found);
                }
            }
            Token::For if is(tokens, index + 1, &Token::LeftParen) => pairs(tokens, index, &mut found),
            Token::LeftBracket => subscript(tokens, index, &counters, &mut found),
            Token::Let | Token::Const => unpacking(tokens, index, &mut found),
            _ => {}
        }
    }
    found
}

fn change(
    tokens: &[(Token, Position)],
    index: usize,
    after: usize,
    removed: usize,
    text: impl Into<String>,
) -> Option<Change> {
    let (line, column) = place(tokens.get(index)?.1)?;
    Some(Change { line, column: column + after, removed, text: text.into() })
}

/// Returns the token that ends the condition which begins at `from`.
fn condition_end(tokens: &[(Token, Position)], from: usize) -> Option<usize> {
    let mut at = from;
    loop {
        match tokens.get(at).map(|(token, _)| token) {
            // A block as the condition is not supported here.
            Some(Token::LeftBrace | Token::DoubleArrow) => return (at > from).then_some(at),
            Some(Token::SemiColon | Token::RightBrace) | None => return Some(at).filter(|at| *at > from),
            Some(token) if opens(token) => at = closing(tokens, at)? + 1,
            _ => at += 1,
        }
    }
}

/// Wraps each part of a condition, so that it becomes true or false: the parts between `&&` and `||`, also in
/// parentheses.
fn condition(tokens: &[(Token, Position)], from: usize, end: usize, found: &mut Vec<Change>) {
    let mut parts = Vec::new();
    let (mut start, mut at) = (from, from);
    while at < end {
        match tokens.get(at).map(|(token, _)| token) {
            Some(Token::And | Token::Or) => {
                parts.push((start, at));
                start = at + 1;
            }
            Some(token) if opens(token) => at = closing(tokens, at).unwrap_or(end),
            _ => {}
        }
        at += 1;
    }
    parts.push((start, end));
    for (start, end) in parts.into_iter().filter(|(start, end)| start < end) {
        part(tokens, start, end, found);
    }
}

fn part(tokens: &[(Token, Position)], from: usize, end: usize, found: &mut Vec<Change>) {
    if is(tokens, from, &Token::LeftParen) && closing(tokens, from) == Some(end - 1) {
        return condition(tokens, from + 1, end - 1, found);
    }
    let mut at = from;
    let mut comparison = None;
    while at < end {
        match tokens.get(at).map(|(token, _)| token) {
            Some(Token::Custom(symbol)) => {
                let named = COMPARISONS.iter().find(|(known, _)| *known == symbol.as_str());
                comparison = named.map(|named| (at, named)).or(comparison);
            }
            Some(Token::In | Token::NotIn) => return,
            // These operators bind less tightly than a comparison, or contain one.
            Some(Token::Pipe | Token::Ampersand | Token::XOr | Token::If | Token::Switch | Token::Equals) => {
                comparison = None;
                break;
            }
            Some(token) if opens(token) => at = closing(tokens, at).unwrap_or(end),
            _ => {}
        }
        at += 1;
    }
    if let (Some((at, (symbol, name))), false) = (comparison, is(tokens, from, &Token::Bang)) {
        return found.extend(change(tokens, at, 0, symbol.len(), format!(" {name} ")));
    }
    // The parser has its own message for a number or a string used as a condition.
    let is_plain = |token: &Token| {
        use Token::{CharConstant, False, FloatConstant, IntegerConstant, StringConstant, True};
        matches!(token, True | False | IntegerConstant(_) | FloatConstant(_) | StringConstant(_) | CharConstant(_))
    };
    if end - from == 1 && tokens.get(from).is_some_and(|(token, _)| is_plain(token)) {
        return;
    }
    found.extend(change(tokens, from, 0, 0, "truth_("));
    found.extend(change(tokens, end, 0, 0, ") "));
}

/// Rewrites `for (a, b) in pairs {`: if the items are pairs, the names are bound as in Python.
fn pairs(tokens: &[(Token, Position)], index: usize, found: &mut Vec<Change>) {
    let name = |at: usize| match tokens.get(at) {
        Some((Token::Identifier(name), _)) => Some(name.as_str()),
        _ => None,
    };
    let (Some(first), Some(second)) = (name(index + 2), name(index + 4)) else { return };
    if !is(tokens, index + 6, &Token::In) {
        return;
    }
    let mut at = index + 7;
    let body = loop {
        match tokens.get(at).map(|(token, _)| token) {
            Some(Token::LeftBrace) => break at,
            Some(token) if opens(token) => match closing(tokens, at) {
                Some(close) => at = close + 1,
                None => return,
            },
            Some(_) => at += 1,
            None => return,
        }
    };
    // The names remain the loop's own variables, which closures share between iterations.
    let text = format!(" {second} = second_({first}, {second}); {first} = first_({first});");
    found.extend(change(tokens, body, 1, 0, text));
}

/// Returns the names that certainly hold integers: loop variables over a range, and variables that start as a number
/// and are changed only by numbers.
fn counters(tokens: &[(Token, Position)]) -> HashSet<&str> {
    let name = |at: usize| match tokens.get(at) {
        Some((Token::Identifier(name), _)) => Some(name.as_str()),
        _ => None,
    };
    let is_number = |at: usize, end: &Token| {
        matches!(tokens.get(at), Some((Token::IntegerConstant(_), _))) && is(tokens, at + 1, end)
    };
    let (mut counting, mut others) = (HashSet::new(), HashSet::new());
    // The variable of a loop whose body has not started.
    let mut looping = None;
    for (index, (token, _)) in tokens.iter().enumerate() {
        match token {
            Token::For if !is(tokens, index + 1, &Token::LeftParen) => looping = name(index + 1),
            // Parameters, and several names bound at once: their values are unknown.
            Token::For | Token::Fn | Token::Catch | Token::Pipe => others.extend(names_from(tokens, index + 1)),
            Token::Let | Token::Const if name(index + 1).is_none() => others.extend(names_from(tokens, index + 1)),
            Token::ExclusiveRange | Token::InclusiveRange => counting.extend(looping.take()),
            Token::LeftBrace => others.extend(looping.take()),
            Token::Equals
                if index > 1 && is(tokens, index - 2, &Token::Let) && is_number(index + 1, &Token::SemiColon) =>
            {
                counting.extend(name(index - 1));
            }
            token if token.is_op_assignment() && is_number(index + 1, &Token::SemiColon) => {}
            token if *token == Token::Equals || token.is_op_assignment() => {
                others.extend(index.checked_sub(1).and_then(name));
            }
            _ => {}
        }
    }
    counting.retain(|name| !others.contains(name));
    counting
}

/// Returns the names in the list that begins here.
fn names_from(tokens: &[(Token, Position)], from: usize) -> impl Iterator<Item = &str> {
    let listed = tokens.iter().skip(from).map_while(|(token, _)| match token {
        Token::Identifier(name) => Some(Some(name.as_str())),
        Token::LeftParen | Token::LeftBracket | Token::Comma => Some(None),
        _ => None,
    });
    listed.flatten()
}

/// Rewrites the subscript after a value: slices such as `a[1..]` and `a[-2:]` if they are read, and a tensor of one
/// element, which Python accepts as an index.
fn subscript(tokens: &[(Token, Position)], open: usize, counters: &HashSet<&str>, found: &mut Vec<Change>) {
    let Some(before) = open.checked_sub(1).and_then(|before| tokens.get(before)) else { return };
    let is_value = matches!(
        before.0,
        Token::Identifier(_) | Token::RightParen | Token::RightBracket | Token::StringConstant(_) | Token::Unit
    ) || matches!(&before.0, Token::Reserved(word) if word.as_str() == "this");
    let is_same_line = tokens.get(open).is_some_and(|(_, position)| position.line() == before.1.line());
    let Some(close) = closing(tokens, open).filter(|_| is_value && is_same_line) else { return };
    let (mut at, mut is_slice, mut is_number) = (open + 1, false, true);
    while at < close {
        let token = tokens.get(at).map(|(token, _)| token);
        is_number &= match token {
            Some(Token::Identifier(name)) => counters.contains(name.as_str()),
            Some(token) => is_of_numbers(token),
            None => true,
        };
        match token {
            Some(Token::Comma) => return,
            Some(Token::ExclusiveRange | Token::InclusiveRange | Token::Colon | Token::DoubleColon) => is_slice = true,
            Some(token) if opens(token) => at = closing(tokens, at).unwrap_or(close),
            _ => {}
        }
        at += 1;
    }
    if is_slice {
        let behind = chain_end(tokens, close).and_then(|last| tokens.get(last + 1)).map(|(token, _)| token);
        let is_assigned = behind.is_some_and(|token| *token == Token::Equals || token.is_op_assignment());
        if !is_assigned {
            found.extend(change(tokens, open, 0, 1, ".part_("));
            found.extend(change(tokens, close, 0, 1, ")"));
        }
    } else if !is_number {
        found.extend(change(tokens, open, 1, 0, "index_("));
        found.extend(change(tokens, close, 0, 0, ")"));
    }
}

/// Returns whether a token combines numbers into numbers, or is a number or a string, and so never yields a tensor.
fn is_of_numbers(token: &Token) -> bool {
    use Token::{Divide, IntegerConstant, Minus, Modulo, Multiply, Plus, StringConstant, UnaryMinus, UnaryPlus};
    matches!(
        token,
        IntegerConstant(_) | StringConstant(_) | Plus | Minus | UnaryMinus | UnaryPlus | Multiply | Divide | Modulo
    )
}

/// Rewrites `let [a, b] = …` and `let (a, b) = …`.
fn unpacking(tokens: &[(Token, Position)], index: usize, found: &mut Vec<Change>) {
    let Some(open) =
        Some(index + 1).filter(|open| matches!(tokens.get(*open), Some((Token::LeftBracket | Token::LeftParen, _))))
    else {
        return;
    };
    let Some(close) = closing(tokens, open).filter(|close| is(tokens, close + 1, &Token::Equals)) else { return };
    let mut names = Vec::new();
    for (position, (token, _)) in tokens.iter().enumerate().take(close).skip(open + 1) {
        match token {
            Token::Identifier(name) if (position - open) % 2 == 1 => names.push(name.as_str()),
            Token::Comma if (position - open) % 2 == 0 => {}
            _ => return,
        }
    }
    let mut end = close + 2;
    while let Some((token, _)) = tokens.get(end) {
        match token {
            Token::SemiColon | Token::RightBrace => break,
            token if opens(token) => match closing(tokens, end) {
                Some(close) => end = close + 1,
                None => return,
            },
            _ => end += 1,
        }
    }
    // Without a semicolon the statement is the value of the text, and is left alone.
    if !is(tokens, end, &Token::SemiColon) {
        return;
    }
    let word = if is(tokens, index, &Token::Const) { "const" } else { "let" };
    let makers: Vec<String> =
        names.iter().enumerate().map(|(at, name)| format!("{word} {name} = parts_[{at}];")).collect();
    let column = |at: usize| tokens.get(at).and_then(|(_, position)| place(*position));
    let (Some((first, start)), Some((last, stop))) = (column(open), column(close)) else { return };
    if first != last {
        return;
    }
    found.push(Change { line: first, column: start, removed: stop + 1 - start, text: "parts_".to_owned() });
    if word == "const" {
        found.extend(change(tokens, index, 0, 5, "let"));
    }
    found.extend(change(tokens, close + 1, 1, 0, " unpacked_("));
    found.extend(change(tokens, end, 0, 1, format!(", {}); {}", names.len(), makers.join(" "))));
}

/// Registers the functions that the rewritten code calls.
pub(crate) fn register(module: &mut Module, state: &Rc<Runtime>) {
    add(module, "truth_", &any(1), |args| match args {
        [value] if is_ours(value) => truth(&to_value(value)?).map(Dynamic::from),
        [value] => Ok((**value).clone()),
        _ => Ok(Dynamic::UNIT),
    });
    add(module, "index_", &any(1), |args| match args {
        [index] if is_ours(index) => match to_value(index)? {
            // An index of uint8 or bool is a mask.
            Value::Tensor(t)
                if t.borrow().layout.ndim() == 0
                    && t.borrow().dtype.is_integral(false)
                    && t.borrow().dtype != DType::Byte =>
            {
                numbers::size(&Value::Tensor(t)).map(Dynamic::from)
            }
            _ => Ok((**index).clone()),
        },
        [index] => Ok((**index).clone()),
        _ => Ok(Dynamic::UNIT),
    });
    add(module, "first_", &any(1), |args| match args {
        [item] => Ok(pair(item)?.map_or_else(|| (**item).clone(), |(first, _)| first)),
        _ => Ok(Dynamic::UNIT),
    });
    add(module, "second_", &any(2), |args| match args {
        [item, index] => Ok(pair(item)?.map_or_else(|| (**index).clone(), |(_, second)| second)),
        _ => Ok(Dynamic::UNIT),
    });
    add_calling(module, state, "part_", &any(2), true, |state, context, args| match args {
        [whole, index] => part_of(state, context, whole, index),
        _ => Ok(Dynamic::UNIT),
    });
    add_calling(module, state, "unpacked_", &[TypeId::of::<Dynamic>(), TypeId::of::<i64>()], true, |state, _, args| {
        match args {
            [whole, count] => unpacked(state, whole, count.as_int().unwrap_or(0)).map_err(fault::thrown),
            _ => Ok(Dynamic::UNIT),
        }
    });
    add_calling(module, state, "..", &any(2), true, |_, _, args| match args {
        [start, stop] => {
            let end = |end: &Dynamic| -> Result<i64> { to_value(end).and_then(|end| numbers::size(&end)) };
            let (start, stop) = (end(start).map_err(fault::thrown)?, end(stop).map_err(fault::thrown)?);
            Ok(Dynamic::from(start..stop))
        }
        _ => Ok(Dynamic::UNIT),
    });
}

/// Returns the two parts of an item that is a pair.
///
/// # Errors
/// Fails with TypeError for an array: its two names would mean the array and its index.
fn pair(item: &Dynamic) -> Result<Option<(Dynamic, Dynamic)>> {
    let several = || {
        let error =
            Error::type_error("two names over an array of arrays: the engine would take the second for an index");
        let hint =
            "write `for pair in pairs { pair[0] … }` for the parts, `for (index, item) in enumerate(items)` to count";
        Err(error.with_hint(hint.to_owned()))
    };
    if item.is_array() {
        return several();
    }
    match is_ours(item).then(|| to_value(item)).transpose()? {
        Some(Value::Tuple(parts)) => match &*parts {
            [first, second] => Ok(Some((to_dynamic(first.clone()), to_dynamic(second.clone())))),
            [_, _, ..] => Err(Error::value("too many values to unpack (expected 2)")),
            parts => Err(Error::value(format!("not enough values to unpack (expected 2, got {})", parts.len()))),
        },
        Some(Value::List(_)) => several(),
        _ => Ok(None),
    }
}

/// Slices an array, a string, or any other value that takes a range as its subscript.
fn part_of(state: &Runtime, context: &NativeCallContext, whole: &Dynamic, index: &Dynamic) -> Scripted<Dynamic> {
    if whole.is_int() {
        return context.call_native_fn_raw("get_bits", true, &mut [&mut whole.clone(), &mut index.clone()]);
    }
    let own = whole.is_array() || whole.is_string() || whole.is_char();
    if own && !is_ours(index) && !is_range(index) {
        let error = Error::type_error("arrays and strings are sliced by integers: `a[1..3]`, `a[-2:]`");
        return Err(fault::thrown(error));
    }
    let part = to_value(whole).and_then(|whole| subscripts::part(state, whole, to_subscript(index)?));
    part.and_then(|part| state.to_script(part)).map_err(fault::thrown)
}

/// Returns the items of an unpacked value.
///
/// # Errors
/// Fails with Python's ValueError for a different number of items.
fn unpacked(state: &Runtime, whole: &Dynamic, count: i64) -> Result<Dynamic> {
    let mut items = iterate(state, &to_value(whole)?)?;
    let wanted = usize::try_from(count).unwrap_or(0);
    let mut parts = Array::new();
    while let Some(item) = items.next()? {
        if parts.len() == wanted {
            return Err(Error::value(format!("too many values to unpack (expected {wanted})")));
        }
        parts.push(state.to_script(item)?);
    }
    if parts.len() < wanted {
        let got = parts.len();
        return Err(Error::value(format!("not enough values to unpack (expected {wanted}, got {got})")));
    }
    Ok(parts.into())
}
