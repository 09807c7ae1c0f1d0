//! Python literals, as in the headers of npy files: None, strings, integers, booleans, tuples, lists and dictionaries.
//! Nothing else of Python is parsed, and nothing is evaluated.

use tensor::Result;
use value::{Dict, Value};

/// The maximum depth of nested literals.
const DEEPEST: usize = 32;

/// Reads a Python literal as a value. `None` for anything else.
///
/// # Errors
/// Fails with TypeError for a dictionary with a key that cannot be one.
pub fn python_literal(text: &str) -> Result<Option<Value>> {
    Literal::parse(text).map(Literal::value).transpose()
}

/// The value of a literal.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Literal {
    None,
    Text(String),
    Int(i64),
    Bool(bool),
    Tuple(Vec<Literal>),
    List(Vec<Literal>),
    Dict(Vec<(Literal, Literal)>),
}

impl Literal {
    /// Parses a literal, surrounded only by white space. `None` for anything else.
    pub(crate) fn parse(text: &str) -> Option<Literal> {
        let mut reader = Reader { rest: text };
        let literal = reader.literal(0)?;
        reader.skip();
        reader.rest.is_empty().then_some(literal)
    }

    fn value(self) -> Result<Value> {
        let all = |items: Vec<Literal>| items.into_iter().map(Literal::value).collect::<Result<Vec<_>>>();
        Ok(match self {
            Literal::None => Value::None,
            Literal::Text(text) => Value::str(text),
            Literal::Int(number) => Value::Int(number),
            Literal::Bool(truth) => Value::Bool(truth),
            Literal::Tuple(items) => Value::tuple(all(items)?),
            Literal::List(items) => Value::list(all(items)?),
            Literal::Dict(entries) => {
                let pairs = entries.into_iter().map(|(key, value)| Ok((key.value()?, value.value()?)));
                Value::Dict(Dict::new(pairs.collect::<Result<Vec<_>>>()?)?)
            }
        })
    }

    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Literal::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn tuple(&self) -> Option<&[Literal]> {
        match self {
            Literal::Tuple(items) => Some(items),
            _ => None,
        }
    }

    /// Returns the numbers of a tuple of integers.
    pub(crate) fn ints<C: FromIterator<i64>>(&self) -> Option<C> {
        let int = |item: &Literal| match item {
            Literal::Int(number) => Some(*number),
            _ => None,
        };
        self.tuple()?.iter().map(int).collect()
    }
}

struct Reader<'t> {
    rest: &'t str,
}

impl<'t> Reader<'t> {
    fn skip(&mut self) {
        self.rest = self.rest.trim_start();
    }

    /// Skips a word or sign if it is next.
    fn take(&mut self, word: &str) -> Option<()> {
        self.skip();
        self.rest = self.rest.strip_prefix(word)?;
        Some(())
    }

    fn literal(&mut self, depth: usize) -> Option<Literal> {
        if depth > DEEPEST {
            return None;
        }
        self.skip();
        match self.rest.chars().next()? {
            quote @ ('\'' | '"') => self.text(quote).map(Literal::Text),
            '(' => {
                let (items, has_comma) = self.items('(', ")", |reader| reader.literal(depth + 1))?;
                match <[Literal; 1]>::try_from(items) {
                    Ok([item]) if !has_comma => Some(item),
                    Ok(item) => Some(Literal::Tuple(item.into())),
                    Err(items) => Some(Literal::Tuple(items)),
                }
            }
            '[' => self.items('[', "]", |reader| reader.literal(depth + 1)).map(|(items, _)| Literal::List(items)),
            '{' => {
                let entry = |reader: &mut Reader<'t>| {
                    let key = reader.literal(depth + 1)?;
                    reader.take(":")?;
                    Some((key, reader.literal(depth + 1)?))
                };
                self.items('{', "}", entry).map(|(entries, _)| Literal::Dict(entries))
            }
            _ => {
                if self.take("None").is_some() {
                    return Some(Literal::None);
                }
                let truth = [("True", true), ("False", false)].into_iter().find(|(word, _)| self.take(word).is_some());
                truth.map(|(_, truth)| Literal::Bool(truth)).or_else(|| self.int())
            }
        }
    }

    /// Parses the items between two brackets. Also returns whether a comma follows the last.
    fn items<T>(
        &mut self,
        open: char,
        close: &str,
        mut item: impl FnMut(&mut Reader<'t>) -> Option<T>,
    ) -> Option<(Vec<T>, bool)> {
        self.rest = self.rest.strip_prefix(open)?;
        let (mut items, mut has_comma) = (Vec::new(), true);
        while self.take(close).is_none() {
            if !has_comma {
                return None;
            }
            items.push(item(self)?);
            has_comma = self.take(",").is_some();
        }
        Some((items, has_comma))
    }

    fn int(&mut self) -> Option<Literal> {
        let digits = self.rest.strip_prefix('-').unwrap_or(self.rest);
        let count = digits.bytes().take_while(u8::is_ascii_digit).count();
        let (number, rest) = self.rest.split_at_checked(self.rest.len() - digits.len() + count)?;
        // Python 2 wrote an L after a long integer.
        self.rest = rest.strip_prefix('L').unwrap_or(rest);
        number.parse().ok().map(Literal::Int)
    }

    /// Parses a quoted string with Python's escapes.
    fn text(&mut self, quote: char) -> Option<String> {
        let (mut text, mut chars) = (String::new(), self.rest.chars());
        chars.next();
        loop {
            match chars.next()? {
                '\\' => text.push(escaped(&mut chars)?),
                '\n' => return None,
                c if c == quote => break,
                c => text.push(c),
            }
        }
        self.rest = chars.as_str();
        Some(text)
    }
}

/// Returns the character for the letters after a backslash.
fn escaped(chars: &mut std::str::Chars) -> Option<char> {
    let length = match chars.next()? {
        'n' => return Some('\n'),
        'r' => return Some('\r'),
        't' => return Some('\t'),
        c @ ('\\' | '\'' | '"') => return Some(c),
        'x' => 2,
        'u' => 4,
        'U' => 8,
        _ => return None,
    };
    let (digits, rest) = chars.as_str().split_at_checked(length)?;
    if !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return None;
    }
    *chars = rest.chars();
    u32::from_str_radix(digits, 16).ok().and_then(char::from_u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_are_read_as_python_writes_them() {
        let int = Literal::Int;
        let text = |text: &str| Literal::Text(text.to_owned());
        for (spelt, read) in [
            (" (2, -3,) ", Some(Literal::Tuple(vec![int(2), int(-3)]))),
            ("(2,)", Some(Literal::Tuple(vec![int(2)]))),
            ("(2)", Some(int(2))),
            ("()", Some(Literal::Tuple(Vec::new()))),
            ("[5L, True]", Some(Literal::List(vec![int(5), Literal::Bool(true)]))),
            ("{'a': {}, }", Some(Literal::Dict(vec![(text("a"), Literal::Dict(Vec::new()))]))),
            (r#""\x1b[31m\u00e9\'""#, Some(text("\u{1b}[31mé'"))),
            ("'é", None),
            (r"'\x1'", None),
            (r"'\ud800'", None),
            ("(,)", None),
            ("(1 2)", None),
            ("{'a'}", None),
            ("-", None),
            ("99999999999999999999", None),
            ("f()", None),
            ("1 + 1", None),
            ("", None),
        ] {
            assert_eq!(Literal::parse(spelt), read, "{spelt}");
        }
        assert_eq!(Literal::parse(&"[".repeat(100_000)), None);
    }
}
