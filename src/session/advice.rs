//! Hints for errors: the Rhai code to write instead, if the message alone does not say so.

use super::failure::{Failure, offset_of};
use super::foreign;
use languages::script::fault::{follows_dot, split_at};
use languages::script::own;

/// Returns advice on an error, from its message and the text at its position.
pub(super) fn in_terms_of_rhai(failure: &Failure, typed: &str) -> Option<String> {
    let first = failure.message.lines().next()?;
    let (before, rest) = split_at(typed, failure.position).unwrap_or_default();
    match failure.kind.as_str() {
        "SyntaxError" => match destructured_names(before, rest) {
            Some(names) => {
                let parts = names.iter().enumerate().map(|(index, name)| format!(" let {name} = parts[{index}];"));
                Some(format!("`let` makes one variable: `let parts = …;{}`", parts.collect::<String>()))
            }
            None if first.ends_with("not an object map") => {
                Some("write `for (key, value) in map.items() { … }`".to_owned())
            }
            None if first.starts_with("Expecting an iterable value") => {
                Some("to count, write a range: `for i in 0..n`".to_owned())
            }
            None => foreign::on_syntax(first, before, rest),
        },
        "AttributeError" => {
            let mut quoted = first.split('\'').skip(1).step_by(2);
            foreign::on_member(quoted.next()?, quoted.next()?)
        }
        "OverflowError" if first.contains("negative power") => Some("write a float: `2.0 ** -1`".to_owned()),
        "RuntimeError" if first.starts_with("Boolean value of Tensor with more") => {
            Some("write `.all().item()` or `.any().item()` after a comparison of many values".to_owned())
        }
        "TypeError" if first.ends_with("object is not callable") => {
            let name: String = rest.chars().take_while(|&c| is_part(c)).collect();
            let is_member = !name.is_empty() && follows_dot(typed, failure.position, &name);
            is_member.then(|| without_brackets(&name))
        }
        "TypeError" | "RuntimeError" | "ValueError" => on_types(failure, first, before, rest),
        _ => None,
    }
}

/// Parts of messages about a value's type, and the advice for each.
const TYPES: &[(&str, &str)] = &[
    ("multiply sequence by non-int of type 'float'", "repeat a string or a list with an integer: `\"#\" * x.to_int()`"),
    ("a bool is needed here, not int", "compare it: `x != 0`"),
    ("a bool is needed here, not float", "compare it: `x != 0.0`"),
    ("a bool is needed here, not str", "compare it: `text != \"\"`"),
    ("a bool is needed here, not list", "test it: `!list.is_empty()`"),
    ("a bool is needed here, not dict", "test it: `!map.is_empty()`"),
    ("a bool is needed here, not NoneType", "compare it: `x == ()`"),
    ("an int is needed here, not range", "a slice cannot be assigned: `list.splice(1..3, [7, 8])` replaces one"),
    ("an int is needed here, not slice", "arrays and strings are sliced with a range: `list[1..3]`, `text[1..3]`"),
    (
        "an int is needed here, not tuple",
        "index an array of arrays with `a[0][1]`, or convert it with `torch.tensor(a)`",
    ),
    ("an int is needed here, not str", "an array is indexed by numbers; an object map, `#{…}`, by names"),
    ("an int is needed here, not float", "convert it to an integer: `x.to_int()`"),
    (
        "object does not implement Python buffer protocol",
        "`bytearray([1, 2, 3])` and `blob(3)` are buffers, whose bytes a tensor can share",
    ),
    ("can't assign a list", "convert it first: `torch.tensor([1, 2])`"),
    ("a character is needed here", "a character is written in single quotes: `'x'`"),
    ("an iterator cannot be used here", "iterate over it: `for x in … { … }`"),
    ("for -: 'str'", "`parse_int(text)` or `parse_float(text)` converts a string to a number"),
    ("for /: 'str'", "`parse_int(text)` or `parse_float(text)` converts a string to a number"),
    (
        "'NoneType'",
        "one operand is `()`, from a call that returns nothing: `sort`, `trim`, `push` and others change the value in place",
    ),
];

/// Returns advice on values of the wrong type.
fn on_types(failure: &Failure, message: &str, before: &str, rest: &str) -> Option<String> {
    let is_open =
        [before, rest].iter().any(|text| text.contains("..)") || text.contains("(..") || text.contains(".. "));
    if message.contains("slice") && is_open && !message.starts_with("an int is needed") {
        return Some("a range needs an end: write `0..n`".to_owned());
    }
    if message.contains("'NoneType'") && failure.trace.iter().any(|call| call.starts_with("in reduce")) {
        return Some(
            "without an initial value `reduce` starts from `()`: `list.reduce(|sum, x| sum + x, 0)`".to_owned(),
        );
    }
    if let Some((name, given)) = message.split_once("(): argument ")
        && given.ends_with("must be Tensor, not list")
        && own::functions().any(|own| own == name)
    {
        return Some(format!("`{name}` takes a tensor, `torch.tensor(…)`, or a number"));
    }
    let lists_tensors =
        message.contains("got (Tensor, Tensor") && failure.message.contains("(tuple of Tensors tensors");
    if let Some((name, given)) = message.split_once('(')
        && (lists_tensors || given.ends_with("must be tuple of Tensors, not Tensor"))
    {
        return Some(format!("pass the tensors in an array: `{name}([a, b])`"));
    }
    let is_message = message.contains("is needed here")
        || message.contains("buffer protocol")
        || message.contains("can't assign")
        || message.contains("operand")
        || message.contains("cannot be used")
        || message.contains("multiply");
    let row = TYPES.iter().find(|(part, _)| is_message && message.contains(part));
    row.map(|(_, advice)| (*advice).to_owned())
}

/// The advice on `x.name()` if `name` is not a function.
fn without_brackets(name: &str) -> String {
    format!("`{name}` is not a function: write `.{name}` without `()`")
}

/// Returns the names in `let [a, b] = …` or `let a, b = …`. The fault lies between `before` and `rest`.
fn destructured_names<'s>(before: &'s str, rest: &'s str) -> Option<Vec<&'s str>> {
    let (_, declared) = before.rsplit_once("let").or_else(|| before.rsplit_once("const"))?;
    let (first, more) = match rest.strip_prefix(['[', '(']) {
        Some(more) if declared.trim().is_empty() => ("", more),
        None if rest.starts_with(',') => (declared.trim(), rest),
        _ => return None,
    };
    let (list, _) = more.split_once('=')?;
    let list = list.trim().trim_end_matches([']', ')']);
    let names: Vec<_> = [first].into_iter().chain(list.split(',')).map(str::trim).filter(|n| !n.is_empty()).collect();
    names.iter().all(|name| name.chars().all(is_part)).then_some(names)
}

/// Returns whether a text is Rhai with a mistake in it, even if Python's parser accepts it.
pub(super) fn is_rhai(source: &str) -> bool {
    let source = source.trim_start();
    let rest = source.strip_prefix("let").or_else(|| source.strip_prefix("const"));
    rest.is_some_and(|rest| {
        rest.starts_with(char::is_whitespace) && rest.trim_start().starts_with(|c| is_part(c) || c == '[' || c == '(')
    })
}

/// Returns the note on `a // b` if a division was meant. Rhai reads it as `a` followed by a comment.
pub(super) fn division(source: &str, is_variable: &dyn Fn(&str) -> bool) -> Option<String> {
    source.lines().find_map(|line| {
        let (code, comment) = line.split_at_checked(comment_in(line)?)?;
        let (code, divisor) = (code.trim(), comment.get(2..)?.trim().trim_end_matches(';').trim_end());
        let is_value = code.ends_with(|c| is_part(c) || c == ')' || c == ']');
        if !is_value || !is_number_or_variable(divisor, is_variable) {
            return None;
        }
        let dividend = code.rsplit(['=', ';', '{']).next().unwrap_or(code).trim();
        let (dividend, divisor) = if is_plain(dividend) { (dividend, divisor) } else { ("a", "b") };
        Some(format!("`//` begins a comment in Rhai; to divide, write `torch.floor_divide({dividend}, {divisor})`"))
    })
}

/// Returns whether a text can be an argument: its brackets match, and it does not contain a statement.
fn is_plain(text: &str) -> bool {
    let depth = text.chars().try_fold(0usize, |depth, c| match c {
        '(' | '[' => Some(depth + 1),
        ')' | ']' => depth.checked_sub(1),
        _ => Some(depth),
    });
    depth == Some(0) && !["let ", "return ", "if "].iter().any(|word| text.starts_with(word))
}

/// Returns where a comment begins in a line.
fn comment_in(line: &str) -> Option<usize> {
    let mut chars = line.char_indices().peekable();
    let mut quote = None;
    while let Some((at, c)) = chars.next() {
        match (quote, c) {
            (Some(_), '\\') => drop(chars.next()),
            (Some(open), c) if c == open => quote = None,
            (Some(_), _) => {}
            (None, '"' | '`' | '\'') => quote = Some(c),
            (None, '/') if chars.peek().is_some_and(|(_, next)| *next == '/') => return Some(at),
            _ => {}
        }
    }
    None
}

/// Returns whether a text consists of numbers and variables with operators between them, unlike the words of a
/// sentence.
fn is_number_or_variable(text: &str, is_variable: &dyn Fn(&str) -> bool) -> bool {
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches(['(', '-', ' ']);
        let word = rest.find(|c| !(is_part(c) || c == '.')).map_or(rest, |end| rest.get(..end).unwrap_or(rest));
        let root = word.split('.').next().unwrap_or_default();
        if word.is_empty() || !(word.parse::<f64>().is_ok() || is_variable(root)) {
            return false;
        }
        rest = rest.get(word.len()..).unwrap_or_default().trim_start_matches([')', ' ']);
        while let Some(inner) = rest.strip_prefix(['(', '[']) {
            let Some((_, behind)) = inner.split_once([')', ']']) else { return false };
            rest = behind.trim_start_matches([')', ' ']);
        }
        match rest.strip_prefix(['+', '-', '*', '/', '%', '.']) {
            Some(more) => rest = more,
            None => return rest.is_empty(),
        }
    }
}

/// Returns the position of the function or method call that an error names, if the text has only one. The engine does
/// not report it.
pub(super) fn place_of_call(failure: &Failure, typed: &str) -> Option<(usize, usize)> {
    let name = match failure.hint.as_deref().and_then(|hint| hint.split('`').nth(1)) {
        Some(name) if failure.message.ends_with("is not callable") => name,
        _ if let Some((_, name)) = failure.message.split_once("' has no attribute '") => name.trim_end_matches('\''),
        _ => failure.message.split_once(" of ")?.1.split_once("()")?.0,
    };
    let calls = |text: &str| -> Option<usize> {
        text.match_indices(name).map(|(at, _)| at).find(|at| {
            let before = text.get(..*at).and_then(|before| before.chars().next_back());
            let after = text.get(at + name.len()..).map(str::trim_start);
            !before.is_some_and(is_part) && after.is_some_and(|after| after.starts_with('('))
        })
    };
    let at = calls(typed)?;
    let place = super::failure::line_and_column(typed, at);
    // With a second call, the culprit would be ambiguous.
    let end = offset_of(typed, place)? + name.len();
    calls(typed.get(end..)?).is_none().then_some(place)
}

/// If a line begins at this position, returns the end of the previous line, where a semicolon is missing.
pub(super) fn end_before(typed: &str, place: Option<(usize, usize)>) -> Option<(usize, usize)> {
    let (before, _) = split_at(typed, place)?;
    let lines: Vec<&str> = typed.lines().take(place?.0.checked_sub(1)?).collect();
    let code = |line: &str| {
        line.get(..comment_in(line).unwrap_or(line.len())).map_or(0, |code| code.trim_end().chars().count())
    };
    let last = lines.iter().rposition(|line| code(line) > 0).filter(|_| before.trim().is_empty())?;
    Some((last + 1, lines.get(last).map_or(0, |line| code(line)) + 1))
}

fn is_part(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_division_is_told_from_a_comment() {
        let rows = [
            ("torch.arange(7) // 2", Some("torch.floor_divide(torch.arange(7), 2)")),
            ("let y = x // n", Some("torch.floor_divide(x, n)")),
            ("x // n.shape[0] + 1;", Some("torch.floor_divide(x, n.shape[0] + 1)")),
            ("x // (n - 1)", Some("torch.floor_divide(x, (n - 1))")),
            ("if x // 2", Some("torch.floor_divide(a, b)")),
            ("x // the n", None),
            ("x // n is what counts", None),
            ("x // 2 rows", None),
            ("x; // 2", None),
            ("\"a // 2\"", None),
            ("// 2", None),
            ("x // unknown", None),
        ];
        for (source, wanted) in rows {
            let found = division(source, &|name| name == "n");
            assert_eq!(found.is_some(), wanted.is_some(), "{source}: {found:?}");
            assert!(found.unwrap_or_default().contains(wanted.unwrap_or_default()), "{source}");
        }
    }

    #[test]
    fn what_is_taken_apart_is_named() {
        assert_eq!(destructured_names("let ", "[a, b] = [1, 2];"), Some(vec!["a", "b"]));
        assert_eq!(destructured_names("let a", ", b = f()"), Some(vec!["a", "b"]));
        assert_eq!(destructured_names("let a = f(x", ", b"), None);
        assert_eq!((is_rhai("let [a] = b"), is_rhai("let = 1"), is_rhai("letter [0]")), (true, false, false));
    }
}
