//! The tokens of a source as CPython 3.11 splits it, with a formatted string as one token, and their faults:
//! indentation, brackets, numbers, escapes and the braces of formatted strings.
//!
//! Knows no other grammar, and does not compute the values of strings.

use ruff_python_ast::token::TokenKind;
use ruff_python_parser::{Mode, lexer};

use super::SyntaxFault;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TokenClass {
    Name,
    Number,
    Text,
    Sign,
    Newline,
    Indent,
    Dedent,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Token {
    pub kind: TokenClass,
    pub start: usize,
    pub end: usize,
}

/// All tokens up to the first faulty one.
#[derive(Default)]
pub(super) struct Tokens<'s> {
    source: &'s str,
    pub all: Vec<Token>,
    pub fault: Option<SyntaxFault>,
    /// Whether CPython reports the fault only if its parser reaches the token.
    pub quiet: bool,
    /// The offsets of the unclosed brackets.
    pub open: Vec<usize>,
    here: usize,
}

/// `Ok` if there is no fault.
type Checked = Result<(), SyntaxFault>;

impl<'s> Tokens<'s> {
    pub(super) fn of(source: &'s str) -> Self {
        let here = if source.starts_with('\u{feff}') { 3 } else { 0 };
        let mut tokens = Self { source, here, ..Self::default() };
        tokens.fault = tokens.lines().err();
        tokens
    }

    pub(super) fn line(&self, at: usize) -> usize {
        1 + self.source.bytes().take(at).filter(|byte| *byte == b'\n').count()
    }

    fn rest(&self) -> &'s str {
        self.source.get(self.here..).unwrap_or_default()
    }

    fn peek(&self) -> char {
        self.rest().chars().next().unwrap_or('\0')
    }

    fn skip(&mut self, takes: impl Fn(char) -> bool) {
        let rest = self.rest();
        self.here += rest.find(|c| !takes(c)).unwrap_or(rest.len());
    }

    fn push(&mut self, kind: TokenClass, start: usize) {
        self.all.push(Token { kind, start, end: self.here });
    }

    /// Returns a fault at the last character taken.
    fn fault(&self, message: impl Into<String>) -> SyntaxFault {
        let last = self.source.get(..self.here).and_then(|before| before.chars().next_back());
        SyntaxFault::syntax(message, self.here - last.map_or(0, char::len_utf8))
    }

    fn quiet(&mut self, kind: &'static str, message: &str, at: usize) -> SyntaxFault {
        self.quiet = true;
        SyntaxFault::new(kind, message, at)
    }

    fn lines(&mut self) -> Checked {
        // The columns of the enclosing indentation levels, once with tabs to multiples of eight and once with tabs as
        // one column.
        let mut indents = vec![(0, 0)];
        let mut begins = true;
        loop {
            if begins && self.open.is_empty() {
                self.indentation(&mut indents)?;
            }
            begins = false;
            self.skip(|c| matches!(c, ' ' | '\t' | '\x0c'));
            if self.peek() == '#' {
                self.skip(|c| !matches!(c, '\n' | '\r'));
            }
            let start = self.here;
            let blank =
                self.all.last().is_none_or(|last| matches!(last.kind, TokenClass::Newline | TokenClass::Dedent));
            match self.peek() {
                '\0' if self.rest().is_empty() => {
                    if !blank && self.open.is_empty() {
                        self.push(TokenClass::Newline, start);
                    }
                    if self.open.is_empty() {
                        (1..indents.len()).for_each(|_| self.push(TokenClass::Dedent, start));
                    }
                    return Ok(());
                }
                '\n' | '\r' => {
                    self.here += if self.rest().starts_with("\r\n") { 2 } else { 1 };
                    begins = true;
                    if !blank && self.open.is_empty() {
                        self.all.push(Token { kind: TokenClass::Newline, start, end: start });
                    }
                }
                '\\' => {
                    self.here += 1;
                    let behind = self.rest();
                    let line_end = behind.strip_prefix("\r\n").or(behind.strip_prefix(['\n', '\r']));
                    match line_end {
                        Some(rest) if !rest.is_empty() => self.here += behind.len() - rest.len(),
                        None if !behind.is_empty() => {
                            let message = "unexpected character after line continuation character";
                            return Err(self.quiet("SyntaxError", message, self.here));
                        }
                        _ => return Err(self.quiet("SyntaxError", "unexpected EOF while parsing", self.source.len())),
                    }
                }
                '"' | '\'' => self.string(start)?,
                '0'..='9' => self.number(start)?,
                '.' if self.rest().as_bytes().get(1).is_some_and(u8::is_ascii_digit) => self.number(start)?,
                c if is_letter(c) => self.name(start)?,
                _ => self.sign(start)?,
            }
        }
    }

    fn indentation(&mut self, indents: &mut Vec<(usize, usize)>) -> Checked {
        let start = self.here;
        let (mut column, mut narrow) = (0, 0);
        loop {
            (column, narrow) = match self.peek() {
                ' ' => (column + 1, narrow + 1),
                '\t' => ((column / 8 + 1) * 8, narrow + 1),
                '\x0c' => (0, 0),
                _ => break,
            };
            self.here += 1;
        }
        if matches!(self.peek(), '#' | '\n' | '\r') || self.rest().is_empty() {
            return Ok(());
        }
        let last = indents.last().copied().unwrap_or_default();
        if column > last.0 && narrow > last.1 {
            indents.push((column, narrow));
            self.push(TokenClass::Indent, start);
            return Ok(());
        }
        let kept = indents.iter().rposition(|indent| indent.0 <= column).unwrap_or_default();
        let around = indents.get(kept).copied().unwrap_or_default();
        if column < last.0 && column != around.0 {
            let end = self.here + self.rest().find('\n').unwrap_or(self.rest().len());
            return Err(self.quiet("IndentationError", "unindent does not match any outer indentation level", end));
        }
        if (column, narrow) != around {
            return Err(self.quiet("TabError", "inconsistent use of tabs and spaces in indentation", start));
        }
        indents
            .drain(kept + 1..)
            .for_each(|_| self.all.push(Token { kind: TokenClass::Dedent, start: self.here, end: self.here }));
        Ok(())
    }

    fn name(&mut self, start: usize) -> Checked {
        self.skip(|c| is_letter(c) || c.is_ascii_digit());
        let name = self.source.get(start..self.here).unwrap_or_default();
        let prefix = matches!(name.to_ascii_lowercase().as_str(), "r" | "u" | "b" | "br" | "rb" | "f" | "fr" | "rf");
        if prefix && matches!(self.peek(), '"' | '\'') {
            return self.string(start);
        }
        for (at, character) in name.char_indices().filter(|(_, c)| !c.is_ascii()) {
            // ruff has the Unicode tables. Some characters may continue a name but not begin one.
            let probe = format!("{}{character}", if at == 0 { "" } else { "a" });
            let mut lexer = lexer::lex(&probe, Mode::Module);
            let first = lexer.next_token();
            if first != TokenKind::Name || !matches!(lexer.next_token(), TokenKind::Newline | TokenKind::EndOfFile) {
                let code = u32::from(character);
                let hidden = character.is_whitespace() || format!("a{character}").escape_debug().nth(1) == Some('\\');
                let message = if hidden {
                    format!("invalid non-printable character U+{code:04X}")
                } else {
                    format!("invalid character '{character}' (U+{code:04X})")
                };
                return Err(SyntaxFault::syntax(message, start + at));
            }
        }
        self.push(TokenClass::Name, start);
        Ok(())
    }

    fn string(&mut self, start: usize) -> Checked {
        let rest = self.rest();
        let long = rest.starts_with("\"\"\"") || rest.starts_with("'''");
        let quote = rest.get(..if long { 3 } else { 1 }).unwrap_or_default();
        self.here += quote.len();
        while !self.rest().starts_with(quote) {
            let width = |text: &str| text.chars().next().map_or(0, char::len_utf8);
            let rest = self.rest();
            if rest.is_empty() || !long && rest.starts_with(['\n', '\r']) {
                let end = if long { self.source.trim_end_matches('\n').len() } else { self.here };
                let (what, line) = (if long { "triple-quoted " } else { "" }, self.line(end));
                let message = format!("unterminated {what}string literal (detected at line {line})");
                return Err(SyntaxFault::syntax(message, start));
            }
            let escaped = rest.strip_prefix('\\');
            self.here += escaped.map_or(width(rest), |behind| 1 + width(behind));
        }
        self.here += quote.len();
        self.push(TokenClass::Text, start);
        Ok(())
    }

    fn sign(&mut self, start: usize) -> Checked {
        const LONG: &[&str] = &[
            "**=", "//=", ">>=", "<<=", "...", "**", "//", ">>", "<<", "<=", ">=", "==", "!=", "<>", "->", "+=", "-=",
            "*=", "/=", "%=", "&=", "|=", "^=", "@=", ":=",
        ];
        let rest = self.rest();
        let long = LONG.iter().find(|sign| rest.starts_with(**sign));
        let sign = self.peek();
        self.here += long.map_or(sign.len_utf8(), |long| long.len());
        match sign {
            '(' | '[' | '{' => self.open.push(start),
            ')' | ']' | '}' => {
                let Some(open) = self.open.pop() else { return Err(self.fault(format!("unmatched '{sign}'"))) };
                let opening = self.source.get(open..).and_then(|text| text.chars().next()).unwrap_or_default();
                if !is_pair(opening, sign) {
                    let (first, line) = (self.line(open), self.line(start));
                    let place = if first == line { String::new() } else { format!(" on line {first}") };
                    return Err(self.fault(format!(
                        "closing parenthesis '{sign}' does not match opening parenthesis '{opening}'{place}"
                    )));
                }
            }
            _ if sign.is_ascii_control() => {
                return Err(self.fault(format!("invalid non-printable character U+{:04X}", u32::from(sign))));
            }
            _ => {}
        }
        self.push(TokenClass::Sign, start);
        Ok(())
    }

    fn number(&mut self, start: usize) -> Checked {
        let lower = self.rest().get(..2).unwrap_or_default().to_ascii_lowercase();
        let based = match lower.as_str() {
            "0x" => Some((16, "hexadecimal")),
            "0o" => Some((8, "octal")),
            "0b" => Some((2, "binary")),
            _ => None,
        };
        if let Some((radix, name)) = based {
            self.here += if self.rest().get(2..3) == Some("_") { 3 } else { 2 };
            let digits = self.digits(radix, name)?;
            let next = self.peek();
            if next.is_ascii_digit() {
                self.here += 1;
                return Err(self.fault(format!("invalid digit '{next}' in {name} literal")));
            }
            let none = || self.fault(format!("invalid {name} literal"));
            return if digits.is_empty() { Err(none()) } else { self.number_ends(start, name) };
        }
        let whole = self.digits(10, "decimal")?;
        let mut real = false;
        if self.peek() == '.' {
            (real, self.here) = (true, self.here + 1);
            self.digits(10, "decimal")?;
        }
        let exponent = self.rest().strip_prefix(['e', 'E']).unwrap_or_default();
        let signed = exponent.strip_prefix(['+', '-']);
        if signed.unwrap_or(exponent).starts_with(|c: char| c.is_ascii_digit()) {
            real = true;
            self.here += if signed.is_some() { 2 } else { 1 };
            self.digits(10, "decimal")?;
        } else if signed.is_some() {
            self.here += 2;
            return Err(self.fault("invalid decimal literal"));
        }
        if matches!(self.peek(), 'j' | 'J') {
            self.here += 1;
            return self.number_ends(start, "imaginary");
        }
        if !real && whole.starts_with('0') && whole.contains(|c| matches!(c, '1'..='9')) {
            let message =
                "leading zeros in decimal integer literals are not permitted; use an 0o prefix for octal integers";
            return Err(SyntaxFault::syntax(message, start));
        }
        self.number_ends(start, "decimal")
    }

    /// Reads digits in groups separated by single underscores.
    fn digits(&mut self, radix: u32, name: &str) -> Result<&'s str, SyntaxFault> {
        let start = self.here;
        loop {
            self.skip(|c| c.is_digit(radix));
            if self.peek() != '_' {
                return Ok(self.source.get(start..self.here).unwrap_or_default());
            }
            self.here += 1;
            if !self.peek().is_digit(radix) {
                return Err(self.fault(format!("invalid {name} literal")));
            }
        }
    }

    /// Checks the text directly after a number: only words that may follow an operand are allowed.
    fn number_ends(&mut self, start: usize, name: &str) -> Checked {
        let rest = self.rest();
        let word = rest.get(..rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len()));
        let word = word.unwrap_or_default();
        let fits = matches!(word, "" | "and" | "else" | "for" | "not" | "or")
            || ["if", "in", "is"].iter().any(|begin| word.starts_with(begin));
        if !fits {
            return Err(self.fault(format!("invalid {name} literal")));
        }
        self.push(TokenClass::Number, start);
        Ok(())
    }
}

fn is_letter(c: char) -> bool {
    c.is_ascii_alphabetic() || c == '_' || !c.is_ascii()
}

fn is_pair(open: char, close: char) -> bool {
    matches!((open, close), ('(', ')') | ('[', ']') | ('{', '}'))
}

/// Returns the first fault in the strings among these tokens: CPython's message and the offset.
pub(crate) fn string_fault<'t>(source: &str, tokens: impl Iterator<Item = &'t Token>) -> Option<(String, usize)> {
    let mut before: Option<bool> = None;
    for token in tokens {
        if token.kind != TokenClass::Text {
            before = None;
            continue;
        }
        let text = source.get(token.start..token.end)?;
        let (prefix, quoted) = text.split_at_checked(text.find(['"', '\''])?)?;
        let size = if quoted.starts_with("\"\"\"") || quoted.starts_with("'''") { 3 } else { 1 };
        let body = quoted.get(size..quoted.len().saturating_sub(size)).unwrap_or_default();
        let has = |letter: char| prefix.contains([letter, letter.to_ascii_uppercase()]);
        let (raw, bytes) = (has('r'), has('b'));
        if bytes && !body.is_ascii() {
            return Some(("bytes can only contain ASCII literal characters".to_owned(), token.start));
        }
        let behind = token.end + source.get(token.end..)?.bytes().take_while(|byte| *byte == b' ').count();
        if before.replace(bytes).is_some_and(|before| before != bytes) {
            return Some(("cannot mix bytes and nonbytes literals".to_owned(), behind));
        }
        if !raw && let Some(message) = escape(body, bytes) {
            return Some((message, behind));
        }
        if has('f') {
            let mut braces = Braces { body, raw, here: 0, inner: None };
            if let Err(message) = braces.text(0) {
                return Some((message, braces.inner.map_or(behind, |at| token.end - size - body.len() + at)));
            }
        }
    }
    None
}

/// Returns CPython's message for the first invalid escape.
fn escape(body: &str, bytes: bool) -> Option<String> {
    let mut rest = body;
    while let Some(backslash) = rest.find('\\') {
        let escape = rest.get(backslash + 1..)?;
        let letter = escape.chars().next()?;
        let behind = escape.get(letter.len_utf8()..)?;
        // CPython expands every non-ASCII character to a ten-letter escape before it counts.
        let before = body.get(..body.len() - rest.len() + backslash)?;
        let at: usize = before.chars().map(|c| if c.is_ascii() { 1 } else { 10 }).sum();
        let digits = behind.bytes().take_while(u8::is_ascii_hexdigit).count();
        let fault = match letter {
            'x' if digits < 2 => Some((digits, "truncated \\xXX escape")),
            'u' if digits < 4 && !bytes => Some((digits, "truncated \\uXXXX escape")),
            'U' if digits < 8 && !bytes => Some((digits, "truncated \\UXXXXXXXX escape")),
            'N' if !bytes => match behind.strip_prefix('{').map(|name| name.find('}')) {
                None => Some((0, "malformed \\N character escape")),
                Some(None) => Some((behind.len(), "malformed \\N character escape")),
                // ruff has the table of names.
                Some(Some(end)) => ruff_python_parser::parse_expression(&format!("'\\N{}'", behind.get(..end + 2)?))
                    .err()
                    .map(|_| (end + 2, "unknown Unicode character name")),
            },
            _ => None,
        };
        if let Some((length, reason)) = fault {
            if bytes {
                return Some(format!("(value error) invalid \\x escape at position {at}"));
            }
            let codec = "(unicode error) 'unicodeescape' codec can't decode bytes in position";
            return Some(format!("{codec} {at}-{}: {reason}", at + 1 + length));
        }
        rest = behind;
    }
    None
}

/// A scanner for a formatted string.
struct Braces<'s> {
    body: &'s str,
    raw: bool,
    here: usize,
    /// The offset in the body of a fault in an expression.
    inner: Option<usize>,
}

const OPEN: &str = "f-string: expecting '}'";

impl Braces<'_> {
    fn peek(&self) -> Option<char> {
        self.body.get(self.here..)?.chars().next()
    }

    fn bump(&mut self) -> Option<char> {
        let character = self.peek()?;
        self.here += character.len_utf8();
        Some(character)
    }

    fn text(&mut self, depth: usize) -> Result<(), String> {
        while let Some(character) = self.peek() {
            let rest = self.body.get(self.here..).unwrap_or_default();
            let doubled = depth == 0 && (rest.starts_with("{{") || rest.starts_with("}}"));
            if doubled {
                self.here += 2;
            } else if rest.starts_with("\\N{") && !self.raw {
                self.here += rest.find('}').map_or(rest.len(), |end| end + 1);
            } else if character == '}' && depth > 0 {
                return Ok(());
            } else if character == '}' {
                return Err("f-string: single '}' is not allowed".into());
            } else if character == '{' {
                self.braced(depth)?;
            } else {
                self.bump();
            }
        }
        if depth > 0 { Err(OPEN.into()) } else { Ok(()) }
    }

    fn braced(&mut self, depth: usize) -> Result<(), String> {
        if depth >= 2 {
            return Err("f-string: expressions nested too deeply".into());
        }
        self.bump();
        let start = self.here;
        self.expression()?;
        let expression = self.body.get(start..self.here).unwrap_or_default();
        let mut next = self.peek().ok_or(OPEN)?;
        if expression.trim().is_empty() {
            return Err(match next {
                '!' | ':' | '=' => format!("f-string: expression required before '{next}'"),
                _ => "f-string: empty expression not allowed".into(),
            });
        }
        if let Err(fault) = super::read(&format!("({expression})"))
            && fault.stage == super::Stage::Grammar
        {
            self.inner = Some(start + fault.offset.saturating_sub(1));
            return Err(format!("f-string: {}", fault.message.trim_start_matches("f-string: ")));
        }
        if next == '=' {
            self.bump();
            while self.peek().is_some_and(|c| c.is_ascii_whitespace()) {
                self.bump();
            }
            next = self.peek().ok_or(OPEN)?;
        }
        if next == '!' {
            self.bump();
            if !matches!(self.bump().ok_or(OPEN)?, 's' | 'r' | 'a') {
                return Err("f-string: invalid conversion character: expected 's', 'r', or 'a'".into());
            }
            next = self.peek().ok_or(OPEN)?;
        }
        if next == ':' {
            self.bump();
            self.text(depth + 1)?;
        }
        if self.bump() == Some('}') { Ok(()) } else { Err(OPEN.into()) }
    }

    /// Skips to the end of an expression, over strings and brackets.
    fn expression(&mut self) -> Result<(), String> {
        let mut quote: Option<&str> = None;
        let mut brackets = Vec::new();
        while let Some(character) = self.peek() {
            let rest = self.body.get(self.here..).unwrap_or_default();
            if character == '\\' {
                return Err("f-string expression part cannot include a backslash".into());
            }
            if let Some(open) = quote {
                self.here += if rest.starts_with(open) { open.len() } else { character.len_utf8() };
                quote = quote.filter(|open| !rest.starts_with(open));
                continue;
            }
            match character {
                '\'' | '"' => {
                    let long = rest.starts_with("\"\"\"") || rest.starts_with("'''");
                    quote = rest.get(..if long { 3 } else { 1 });
                    self.here += if long { 2 } else { 0 };
                }
                '[' | '{' | '(' => brackets.push(character),
                '#' => return Err("f-string expression part cannot include '#'".into()),
                '!' | '=' | '<' | '>' if brackets.is_empty() && rest.get(1..2) == Some("=") => self.here += 1,
                '!' | ':' | '}' | '=' if brackets.is_empty() => return Ok(()),
                ']' | '}' | ')' => match brackets.pop() {
                    None => return Err(format!("f-string: unmatched '{character}'")),
                    Some(open) if is_pair(open, character) => {}
                    Some(open) => {
                        return Err(format!(
                            "f-string: closing parenthesis '{character}' does not match opening parenthesis '{open}'"
                        ));
                    }
                },
                _ => {}
            }
            self.bump();
        }
        if quote.is_some() {
            return Err("f-string: unterminated string".into());
        }
        brackets.pop().map_or(Ok(()), |open| Err(format!("f-string: unmatched '{open}'")))
    }
}
