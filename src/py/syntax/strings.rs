//! What stands within the quotes: prefixes, escapes, and the expressions of formatted strings, by the rules and in the
//! words of CPython 3.11.
//!
//! It must not know what a string's value is.

use super::raised::Raised;
use super::reader::Reader;
use super::tokens::Token;

/// As in CPython's tokenizer.
const MAX_BRACKETS: usize = 200;

/// Looks at strings that stand next to one another; tells whether one of them is formatted.
///
/// # Errors
/// The first fault in one of them.
pub fn check(reader: &Reader<'_>, parts: &[Token]) -> Result<bool, Raised> {
    let mut any_formatted = false;
    let mut bytes_before = None;
    for part in parts {
        let string = Literal::of(reader.text_of(*part), part.start);
        if string.bytes && !string.body.is_ascii() {
            return Err(reader.raise(part.start, "bytes can only contain ASCII literal characters"));
        }
        if !string.formatted {
            check_escapes(reader, &string, string.body)?;
        }
        if bytes_before.is_some_and(|before| before != string.bytes) {
            return Err(reader.raise_last("cannot mix bytes and nonbytes literals"));
        }
        bytes_before = Some(string.bytes);
        if string.formatted {
            any_formatted = true;
            let mut scan = Scan { reader, string: &string, here: 0 };
            scan.formatted(0)?;
        }
    }
    Ok(any_formatted)
}

/// Whether ruff and CPython 3.11 surely agree about formatted strings: ruff reads them as newer Pythons do. May be asked
/// on any stack.
pub fn is_plain(text: &str) -> bool {
    /// So many brackets fit on a small stack.
    const FEW: usize = 16;
    text.bytes().filter(|byte| matches!(byte, b'(' | b'[' | b'{')).count() <= FEW
        && Reader::new(&format!("({text})\n"), true).fault_of(Reader::formatted_expression).is_none()
}

/// One string, taken apart.
struct Literal<'s> {
    raw: bool,
    bytes: bool,
    formatted: bool,
    body: &'s str,
    /// Where the body begins.
    start: usize,
}

impl<'s> Literal<'s> {
    fn of(text: &'s str, start: usize) -> Self {
        let quote = text.find(['"', '\'']).unwrap_or_default();
        let (prefix, quoted) = text.split_at_checked(quote).unwrap_or_default();
        let size = if quoted.len() >= 6 && (quoted.starts_with("\"\"\"") || quoted.starts_with("'''")) { 3 } else { 1 };
        let body = quoted.get(size..quoted.len().saturating_sub(size)).unwrap_or_default();
        let has = |letter: char| prefix.contains(letter) || prefix.contains(letter.to_ascii_uppercase());
        Self { raw: has('r'), bytes: has('b'), formatted: has('f'), body, start: start + quote + size }
    }
}

fn check_escapes(reader: &Reader<'_>, string: &Literal<'_>, text: &str) -> Result<(), Raised> {
    if string.raw || !text.contains('\\') {
        return Ok(());
    }
    let fault = if string.bytes { bytes_escape(text) } else { text_escape(text) };
    match fault {
        Some(message) => Err(reader.raise_last(message)),
        None => Ok(()),
    }
}

fn bytes_escape(text: &str) -> Option<String> {
    let mut bytes = text.bytes().enumerate();
    while let Some((at, byte)) = bytes.next() {
        if byte == b'\\' && bytes.next()?.1 == b'x' {
            let digits = text.get(at + 2..).unwrap_or_default().bytes().take(2);
            if digits.filter(u8::is_ascii_hexdigit).count() < 2 {
                return Some(format!("(value error) invalid \\x escape at position {at}"));
            }
        }
    }
    None
}

/// The first escape that means no character. CPython counts places after it has spelled every character beyond ASCII as
/// an escape of ten letters.
fn text_escape(text: &str) -> Option<String> {
    let mut spelled = String::new();
    let mut escaped = false;
    for character in text.chars() {
        if character.is_ascii() {
            spelled.push(character);
            escaped = character == '\\' && !escaped;
            continue;
        }
        if escaped {
            spelled.push_str("u005c");
        }
        escaped = false;
        spelled.push_str(&format!("\\U{:08x}", u32::from(character)));
    }
    let mut rest = spelled.as_str();
    while let Some(backslash) = rest.find('\\') {
        let start = spelled.len() - rest.len() + backslash;
        let escape = spelled.get(start + 1..)?;
        let letter = escape.chars().next()?;
        let behind = escape.get(1..)?;
        // How far it reaches, and why it is none.
        let fault = match letter {
            'x' => digits(behind, 2).map(|n| (n, "truncated \\xXX escape")),
            'u' => digits(behind, 4).map(|n| (n, "truncated \\uXXXX escape")),
            'U' => match digits(behind, 8) {
                Some(n) => Some((n, "truncated \\UXXXXXXXX escape")),
                None => {
                    let code = behind.get(..8).and_then(|code| u32::from_str_radix(code, 16).ok());
                    code.is_none_or(|code| code > 0x10_ffff).then_some((8, "illegal Unicode character"))
                }
            },
            'N' => match behind.strip_prefix('{') {
                None => Some((0, "malformed \\N character escape")),
                Some(name) => match name.find('}') {
                    None => Some((behind.len(), "malformed \\N character escape")),
                    Some(0) => Some((2, "malformed \\N character escape")),
                    Some(end) if is_character(name.get(..end)?) => None,
                    Some(end) => Some((end + 2, "unknown Unicode character name")),
                },
            },
            _ => None,
        };
        if let Some((length, reason)) = fault {
            let last = start + 1 + length;
            return Some(format!(
                "(unicode error) 'unicodeescape' codec can't decode bytes in position {start}-{last}: {reason}"
            ));
        }
        rest = behind;
    }
    None
}

/// How many digits there are if they are fewer than there must be.
fn digits(text: &str, wanted: usize) -> Option<usize> {
    let found = text.bytes().take(wanted).take_while(u8::is_ascii_hexdigit).count();
    (found < wanted).then_some(found)
}

/// Whether Unicode has a character of that name. Ruff knows.
fn is_character(name: &str) -> bool {
    let probe = format!("'\\N{{{name}}}'");
    ruff_python_parser::parse_unchecked(&probe, super::options()).errors().is_empty()
}

/// A walk through a formatted string.
struct Scan<'a, 's> {
    reader: &'a Reader<'s>,
    string: &'a Literal<'s>,
    here: usize,
}

const OPEN_END: &str = "f-string: expecting '}'";

impl Scan<'_, '_> {
    fn peek(&self) -> Option<char> {
        self.string.body.get(self.here..)?.chars().next()
    }

    fn second(&self) -> Option<char> {
        self.string.body.get(self.here..)?.chars().nth(1)
    }

    fn bump(&mut self) -> Option<char> {
        let character = self.peek()?;
        self.here += character.len_utf8();
        Some(character)
    }

    fn fault(&self, message: impl Into<String>) -> Raised {
        self.reader.raise_last(message)
    }

    /// A formatted string, or the part of one behind a colon.
    fn formatted(&mut self, depth: usize) -> Result<(), Raised> {
        loop {
            if self.literal(depth)? {
                continue;
            }
            if matches!(self.peek(), None | Some('}')) {
                break;
            }
            self.expression(depth)?;
        }
        match self.peek() {
            Some('}') if depth > 0 => Ok(()),
            _ if depth > 0 => Err(self.fault(OPEN_END)),
            _ => Ok(()),
        }
    }

    /// What stands before the next brace; tells whether that is a doubled one.
    fn literal(&mut self, depth: usize) -> Result<bool, Raised> {
        let start = self.here;
        let mut end = self.string.body.len();
        let mut doubled = false;
        while let Some(mut character) = self.bump() {
            if character == '\\' && !self.string.raw {
                let Some(escaped) = self.bump() else { break };
                if escaped == 'N' {
                    if self.bump() == Some('{') {
                        while self.bump().is_some_and(|c| c != '}') {}
                    }
                    continue;
                }
                character = escaped;
            }
            if !matches!(character, '{' | '}') {
                continue;
            }
            end = self.here;
            if depth == 0 && self.peek() == Some(character) {
                self.here += 1;
                doubled = true;
                break;
            }
            if depth == 0 && character == '}' {
                return Err(self.fault("f-string: single '}' is not allowed"));
            }
            self.here -= 1;
            end = self.here;
            break;
        }
        let text = self.string.body.get(start..end).unwrap_or_default();
        check_escapes(self.reader, self.string, text)?;
        Ok(doubled)
    }

    /// What stands in braces.
    fn expression(&mut self, depth: usize) -> Result<(), Raised> {
        if depth >= 2 {
            return Err(self.fault("f-string: expressions nested too deeply"));
        }
        self.bump();
        let start = self.here;
        self.find_end()?;
        let end = self.here;
        let Some(mut next) = self.peek() else { return Err(self.fault(OPEN_END)) };
        self.check_inner(start, end, next)?;
        if next == '=' {
            self.bump();
            while self.peek().is_some_and(|c| c.is_ascii_whitespace() || c == '\x0b') {
                self.bump();
            }
            next = self.peek().ok_or_else(|| self.fault(OPEN_END))?;
        }
        if next == '!' {
            self.bump();
            let conversion = self.bump().ok_or_else(|| self.fault(OPEN_END))?;
            if !matches!(conversion, 's' | 'r' | 'a') {
                return Err(self.fault("f-string: invalid conversion character: expected 's', 'r', or 'a'"));
            }
            next = self.peek().ok_or_else(|| self.fault(OPEN_END))?;
        }
        if next == ':' {
            self.bump();
            if self.peek().is_none() {
                return Err(self.fault(OPEN_END));
            }
            self.formatted(depth + 1)?;
        }
        if self.peek() != Some('}') {
            return Err(self.fault(OPEN_END));
        }
        self.bump();
        Ok(())
    }

    /// Goes to where the expression ends, over strings and brackets.
    fn find_end(&mut self) -> Result<(), Raised> {
        let mut quote: Option<(char, bool)> = None;
        let mut brackets = Vec::new();
        while let Some(character) = self.peek() {
            if character == '\\' {
                return Err(self.fault("f-string expression part cannot include a backslash"));
            }
            let tripled = || {
                let rest = self.string.body.get(self.here..).unwrap_or_default();
                rest.chars().take(3).filter(|c| *c == character).count() == 3
            };
            if let Some((open, triple)) = quote {
                if character == open && (!triple || tripled()) {
                    self.here += if triple { 2 } else { 0 };
                    quote = None;
                }
                self.bump();
                continue;
            }
            match character {
                '\'' | '"' => {
                    let triple = tripled();
                    self.here += if triple { 2 } else { 0 };
                    quote = Some((character, triple));
                }
                '[' | '{' | '(' => {
                    if brackets.len() >= MAX_BRACKETS {
                        return Err(self.fault("f-string: too many nested parenthesis"));
                    }
                    brackets.push(character);
                }
                '#' => return Err(self.fault("f-string expression part cannot include '#'")),
                '!' | ':' | '}' | '=' | '<' | '>' if brackets.is_empty() => {
                    if matches!(character, '!' | '=' | '<' | '>') && self.second() == Some('=') {
                        self.bump();
                    } else if !matches!(character, '<' | '>') {
                        break;
                    }
                }
                ']' | '}' | ')' => {
                    let Some(open) = brackets.pop() else {
                        return Err(self.fault(format!("f-string: unmatched '{character}'")));
                    };
                    if !matches!((open, character), ('(', ')') | ('[', ']') | ('{', '}')) {
                        return Err(self.fault(format!(
                            "f-string: closing parenthesis '{character}' does not match opening parenthesis '{open}'"
                        )));
                    }
                }
                _ => {}
            }
            self.bump();
        }
        if quote.is_some() {
            return Err(self.fault("f-string: unterminated string"));
        }
        match brackets.pop() {
            Some(open) => Err(self.fault(format!("f-string: unmatched '{open}'"))),
            None => Ok(()),
        }
    }

    /// Reads the expression itself, as Python does: in parentheses.
    fn check_inner(&self, start: usize, end: usize, next: char) -> Result<(), Raised> {
        let expression = self.string.body.get(start..end).unwrap_or_default();
        if expression.chars().all(|c| matches!(c, ' ' | '\t' | '\n' | '\x0c' | '\r')) {
            return Err(self.fault(match next {
                '!' | ':' | '=' => format!("f-string: expression required before '{next}'"),
                _ => "f-string: empty expression not allowed".to_owned(),
            }));
        }
        let text = format!("({expression})\n");
        let Some(raised) = Reader::new(&text, true).fault_of(Reader::formatted_expression) else { return Ok(()) };
        let at = self.string.start + start + raised.at.saturating_sub(1).min(expression.len());
        Err(Raised { at, lexical: false, ..raised })
    }
}
