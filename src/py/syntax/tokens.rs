//! Takes Python apart into the tokens that CPython 3.11 sees, one at a time, with its words where there is none: the
//! strings are still whole, their prefixes and insides are not looked at.
//!
//! It must not know the grammar.

use super::raised::Raised;

/// As in CPython's tokenizer.
const MAX_BRACKETS: usize = 200;
/// As in CPython's tokenizer, which counts the outermost one.
const MAX_INDENTS: usize = 100;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Name,
    Keyword,
    Number,
    Text,
    Sign,
    Newline,
    Indent,
    Dedent,
    End,
}

#[derive(Debug, Clone, Copy)]
pub struct Token {
    pub kind: Kind,
    pub start: usize,
    pub end: usize,
    /// Counted from one.
    pub line: usize,
    /// The open brackets, this token's own included.
    pub level: usize,
}

/// Why there is no token.
#[derive(Debug)]
pub enum Stop {
    /// The words are known.
    Raised(Raised),
    /// The words are known, but whoever looks ahead for faults passes over them.
    Quiet(Raised),
    /// A line is indented as none around it is; the place is the end of the line.
    Unindented(usize),
    /// The source ended in a bracket or behind a backslash.
    Ended,
}

const KEYWORDS: &[&str] = &[
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del",
    "elif", "else", "except", "finally", "for", "from", "global", "if", "import", "in", "is", "lambda", "nonlocal",
    "not", "or", "pass", "raise", "return", "try", "while", "with", "yield",
];

/// The signs of more than one character, longest first.
const LONG_SIGNS: &[&str] = &[
    "**=", "//=", "<<=", ">>=", "...", "!=", "<>", "==", "<=", ">=", "->", "+=", "-=", "*=", "/=", "%=", "&=", "|=",
    "^=", "@=", ":=", "**", "//", "<<", ">>",
];

/// An open bracket: the character, its line, its place.
#[derive(Debug, Clone, Copy)]
struct Bracket {
    sign: char,
    line: usize,
    at: usize,
}

pub struct Tokens<'s> {
    text: &'s str,
    /// The place of the next character.
    pub here: usize,
    line: usize,
    pub line_start: usize,
    /// Where the lines begin that a backslash or the quotes of a string have made one.
    joined_start: usize,
    /// The columns of the lines around, with tabs to multiples of eight and with tabs as one.
    indents: Vec<(usize, usize)>,
    /// Tokens of indentation that are still to be given; negative for those that end one.
    pending: isize,
    at_line_start: bool,
    brackets: Vec<Bracket>,
}

impl<'s> Tokens<'s> {
    pub fn new(text: &'s str) -> Self {
        Self {
            text,
            here: 0,
            line: 1,
            line_start: 0,
            joined_start: 0,
            indents: vec![(0, 0)],
            pending: 0,
            at_line_start: true,
            brackets: Vec::new(),
        }
    }

    /// The innermost open bracket that stands on a line before this one.
    pub fn open_before(&self, line: usize) -> Option<Raised> {
        self.brackets.last().filter(|bracket| bracket.line < line).and_then(|_| self.open())
    }

    /// The innermost open bracket, as a fault.
    pub fn open(&self) -> Option<Raised> {
        let bracket = self.brackets.last()?;
        Some(Raised::lexical("SyntaxError", format!("'{}' was never closed", bracket.sign), bracket.at))
    }

    fn rest(&self) -> &'s str {
        self.text.get(self.here..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// Takes one character.
    fn bump(&mut self) -> Option<char> {
        let character = self.peek()?;
        self.here += character.len_utf8();
        if character == '\n' {
            self.line += 1;
            self.line_start = self.here;
        }
        Some(character)
    }

    fn bump_if(&mut self, takes: impl Fn(char) -> bool) -> bool {
        let fits = self.peek().is_some_and(takes);
        if fits {
            self.bump();
        }
        fits
    }

    fn bump_while(&mut self, takes: impl Fn(char) -> bool) {
        while self.bump_if(&takes) {}
    }

    /// The end of the line that is being read, its line end included.
    fn line_end(&self) -> usize {
        self.rest().find('\n').map_or(self.text.len(), |length| self.here + length + 1)
    }

    /// A fault at the character that was taken last.
    fn fault(&self, message: impl Into<String>) -> Stop {
        let before = self.text.get(self.line_start..self.here).unwrap_or_default();
        let length = before.chars().next_back().map_or(0, char::len_utf8);
        self.fault_at(message, self.here - length)
    }

    fn fault_at(&self, message: impl Into<String>, at: usize) -> Stop {
        Stop::Raised(Raised::lexical("SyntaxError", message, at))
    }

    fn token(&self, kind: Kind, start: usize, line: usize) -> Token {
        Token { kind, start, end: self.here, line, level: self.brackets.len() }
    }

    pub fn next(&mut self) -> Result<Token, Stop> {
        let mut blank = false;
        loop {
            if self.at_line_start {
                self.at_line_start = false;
                blank = self.indentation()?;
            }
            if self.pending != 0 {
                let kind = if self.pending < 0 { Kind::Dedent } else { Kind::Indent };
                self.pending -= self.pending.signum();
                return Ok(self.between(kind));
            }
            self.bump_while(|c| matches!(c, ' ' | '\t' | '\x0c'));
            let (start, line) = (self.here, self.line);
            if self.peek() == Some('#') {
                self.bump_while(|c| c != '\n');
            }
            let Some(character) = self.peek() else {
                return if self.brackets.is_empty() { Ok(self.between(Kind::End)) } else { Err(Stop::Ended) };
            };
            match character {
                '\n' => {
                    let level = self.brackets.len();
                    let token = Token { kind: Kind::Newline, start, end: self.here, line, level };
                    self.bump();
                    self.joined_start = self.here;
                    if level > 0 {
                        continue;
                    }
                    self.at_line_start = true;
                    if !blank {
                        return Ok(token);
                    }
                }
                '\\' => self.continuation()?,
                _ if is_name_start(character) => return self.name(start),
                '0'..='9' => return self.number(start),
                '.' if self.rest().chars().nth(1).is_some_and(|c| c.is_ascii_digit()) => return self.number(start),
                '"' | '\'' => return self.string(start),
                _ => return self.sign(start),
            }
        }
    }

    /// A token that stands between two characters. Behind the last line there is no other.
    fn between(&self, kind: Kind) -> Token {
        let (mut line, mut start) = (self.line, self.line_start);
        if self.here >= self.text.len() {
            let before = self.text.strip_suffix('\n').unwrap_or(self.text);
            start = before.rfind('\n').map_or(0, |end| end + 1);
            line = self.line.saturating_sub(1).max(1);
        }
        Token { kind, start, end: start, line, level: self.brackets.len() }
    }

    /// Reads the white space before a line; tells whether the line is blank.
    fn indentation(&mut self) -> Result<bool, Stop> {
        let (mut column, mut narrow) = (0, 0);
        // A line that goes on behind a backslash is indented as it was before.
        let mut continued = None;
        loop {
            match self.peek() {
                Some(' ') => (column, narrow) = (column + 1, narrow + 1),
                Some('\t') => (column, narrow) = ((column / 8 + 1) * 8, narrow + 1),
                Some('\x0c') => (column, narrow) = (0, 0),
                Some('\\') => {
                    continued = continued.or(Some(column)).filter(|column| *column != 0);
                    self.continuation()?;
                    continue;
                }
                _ => break,
            }
            self.bump();
        }
        let blank = matches!(self.peek(), Some('#' | '\n'));
        if blank || !self.brackets.is_empty() {
            return Ok(blank);
        }
        if let Some(first) = continued {
            (column, narrow) = (first, first);
        }
        let mixed = || {
            let message = "inconsistent use of tabs and spaces in indentation";
            Stop::Quiet(Raised::lexical("TabError", message, self.line_start))
        };
        let last = self.indents.last().copied().unwrap_or_default();
        if column == last.0 {
            return if narrow == last.1 { Ok(false) } else { Err(mixed()) };
        }
        if column > last.0 {
            if self.indents.len() >= MAX_INDENTS {
                let message = "too many levels of indentation";
                return Err(Stop::Quiet(Raised::lexical("IndentationError", message, self.line_start)));
            }
            if narrow <= last.1 {
                return Err(mixed());
            }
            self.pending += 1;
            self.indents.push((column, narrow));
            return Ok(false);
        }
        while self.indents.len() > 1 && self.indents.last().is_some_and(|indent| column < indent.0) {
            self.indents.pop();
            self.pending -= 1;
        }
        let around = self.indents.last().copied().unwrap_or_default();
        if column != around.0 {
            return Err(Stop::Unindented(self.line_end().saturating_sub(1)));
        }
        if narrow != around.1 { Err(mixed()) } else { Ok(false) }
    }

    fn continuation(&mut self) -> Result<(), Stop> {
        self.bump();
        if self.peek() != Some('\n') {
            let message = "unexpected character after line continuation character";
            // CPython counts the column from where the joined lines begin.
            let at = self.line_start + (self.here - self.joined_start);
            return Err(Stop::Quiet(Raised::lexical("SyntaxError", message, at.min(self.line_end() - 1))));
        }
        self.bump();
        if self.peek().is_none() {
            return Err(Stop::Ended);
        }
        Ok(())
    }

    fn name(&mut self, start: usize) -> Result<Token, Stop> {
        self.bump_while(is_name_part);
        let name = self.text.get(start..self.here).unwrap_or_default();
        // The letters before a string say how it is to be read.
        if matches!(self.peek(), Some('"' | '\'')) && is_prefix(name) {
            return self.string(start);
        }
        if !name.is_ascii()
            && let Some((at, character)) = unfit(name)
        {
            let code = u32::from(character);
            let message = if is_printable(character) {
                format!("invalid character '{character}' (U+{code:04X})")
            } else {
                format!("invalid non-printable character U+{code:04X}")
            };
            return Err(self.fault_at(message, start + at));
        }
        let kind = if KEYWORDS.contains(&name) { Kind::Keyword } else { Kind::Name };
        Ok(self.token(kind, start, self.line))
    }

    fn string(&mut self, start: usize) -> Result<Token, Stop> {
        let line = self.line;
        let Some(quote) = self.bump() else { return Err(Stop::Ended) };
        let mut size = 1;
        if self.peek() == Some(quote) {
            self.bump();
            if self.peek() != Some(quote) {
                return Ok(self.token(Kind::Text, start, line));
            }
            self.bump();
            size = 3;
        }
        let mut closing = 0;
        while closing < size {
            match self.peek() {
                None => {
                    // The source ends with a line end, which begins no line of its own.
                    let detected = self.line - 1;
                    return Err(self.fault_at(
                        format!("unterminated triple-quoted string literal (detected at line {detected})"),
                        start,
                    ));
                }
                Some('\n') if size == 1 => {
                    let detected = self.line;
                    return Err(
                        self.fault_at(format!("unterminated string literal (detected at line {detected})"), start)
                    );
                }
                Some(character) if character == quote => closing += 1,
                Some('\\') => {
                    closing = 0;
                    self.bump();
                }
                Some(_) => closing = 0,
            }
            self.bump();
        }
        Ok(self.token(Kind::Text, start, line))
    }

    fn sign(&mut self, start: usize) -> Result<Token, Stop> {
        let rest = self.rest();
        if let Some(long) = LONG_SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
            self.here += long.len();
            return Ok(self.token(Kind::Sign, start, self.line));
        }
        let Some(sign) = self.bump() else { return Err(Stop::Ended) };
        match sign {
            '(' | '[' | '{' => {
                if self.brackets.len() >= MAX_BRACKETS {
                    return Err(self.fault("too many nested parentheses"));
                }
                self.brackets.push(Bracket { sign, line: self.line, at: start });
            }
            ')' | ']' | '}' => {
                let Some(open) = self.brackets.pop() else {
                    return Err(self.fault(format!("unmatched '{sign}'")));
                };
                if !matches!((open.sign, sign), ('(', ')') | ('[', ']') | ('{', '}')) {
                    let on_line =
                        if open.line == self.line { String::new() } else { format!(" on line {}", open.line) };
                    let pair =
                        format!("closing parenthesis '{sign}' does not match opening parenthesis '{}'", open.sign);
                    return Err(self.fault(format!("{pair}{on_line}")));
                }
            }
            _ if sign.is_ascii_control() => {
                return Err(self.fault(format!("invalid non-printable character U+{:04X}", u32::from(sign))));
            }
            _ => {}
        }
        Ok(self.token(Kind::Sign, start, self.line))
    }

    fn number(&mut self, start: usize) -> Result<Token, Stop> {
        let radix = match self.rest().get(..2) {
            Some("0x" | "0X") => Some((16, "hexadecimal")),
            Some("0o" | "0O") => Some((8, "octal")),
            Some("0b" | "0B") => Some((2, "binary")),
            _ => None,
        };
        match radix {
            Some((radix, name)) => self.digits_of(radix, name)?,
            None => self.decimal(start)?,
        }
        Ok(self.token(Kind::Number, start, self.line))
    }

    fn digits_of(&mut self, radix: u32, name: &str) -> Result<(), Stop> {
        self.here += 2;
        loop {
            self.bump_if(|c| c == '_');
            if !self.peek().is_some_and(|c| c.is_digit(radix)) {
                self.wrong_digit(name)?;
                return Err(self.fault(format!("invalid {name} literal")));
            }
            self.bump_while(|c| c.is_digit(radix));
            if self.peek() != Some('_') {
                break;
            }
        }
        self.wrong_digit(name)?;
        self.number_ends(name)
    }

    /// A digit that the radix does not have.
    fn wrong_digit(&mut self, name: &str) -> Result<(), Stop> {
        match self.peek() {
            Some(digit) if digit.is_ascii_digit() => {
                self.bump();
                Err(self.fault(format!("invalid digit '{digit}' in {name} literal")))
            }
            _ => Ok(()),
        }
    }

    fn decimal(&mut self, start: usize) -> Result<(), Stop> {
        let mut padded = false;
        if self.peek() == Some('0') {
            loop {
                self.bump_while(|c| c == '0');
                if !self.bump_if(|c| c == '_') {
                    break;
                }
                if !self.peek().is_some_and(|c| c.is_ascii_digit()) {
                    return Err(self.fault("invalid decimal literal"));
                }
                if self.peek() != Some('0') {
                    break;
                }
            }
            if self.peek().is_some_and(|c| c.is_ascii_digit()) {
                padded = true;
                self.digits()?;
            }
        } else if self.peek() != Some('.') {
            self.digits()?;
        }
        let mut real = false;
        if self.bump_if(|c| c == '.') {
            real = true;
            if self.peek().is_some_and(|c| c.is_ascii_digit()) {
                self.digits()?;
            }
        }
        if matches!(self.peek(), Some('e' | 'E')) {
            let mut behind = self.rest().chars().skip(1);
            match behind.next() {
                Some('+' | '-') => {
                    self.here += 2;
                    if !behind.next().is_some_and(|c| c.is_ascii_digit()) {
                        return Err(self.fault("invalid decimal literal"));
                    }
                    real = true;
                    self.digits()?;
                }
                Some(digit) if digit.is_ascii_digit() => {
                    self.here += 1;
                    real = true;
                    self.digits()?;
                }
                // What looks like an exponent may be a word, as in `1else`.
                _ => return self.number_ends("decimal"),
            }
        }
        if self.bump_if(|c| matches!(c, 'j' | 'J')) {
            return self.number_ends("imaginary");
        }
        if padded && !real {
            let message =
                "leading zeros in decimal integer literals are not permitted; use an 0o prefix for octal integers";
            return Err(self.fault_at(message, start));
        }
        self.number_ends("decimal")
    }

    /// Digits in groups that single underscores separate.
    fn digits(&mut self) -> Result<(), Stop> {
        loop {
            self.bump_while(|c| c.is_ascii_digit());
            if !self.bump_if(|c| c == '_') {
                return Ok(());
            }
            if !self.peek().is_some_and(|c| c.is_ascii_digit()) {
                return Err(self.fault("invalid decimal literal"));
            }
        }
    }

    /// A number may be followed at once by the words that may follow an operand, and by no other.
    fn number_ends(&self, name: &str) -> Result<(), Stop> {
        const WORDS: &[&str] = &["and", "else", "for", "not", "or"];
        const BEGINNINGS: &[&str] = &["if", "in", "is"];
        let rest = self.rest();
        let is_word = |word: &&str| rest.strip_prefix(*word).is_some_and(|behind| !behind.starts_with(is_name_part));
        if BEGINNINGS.iter().any(|word| rest.starts_with(word))
            || WORDS.iter().any(is_word)
            || !self.peek().is_some_and(|c| c.is_ascii() && is_name_part(c))
        {
            return Ok(());
        }
        Err(self.fault(format!("invalid {name} literal")))
    }
}

fn is_name_start(c: char) -> bool {
    c.is_ascii_alphabetic() || c == '_' || !c.is_ascii()
}

fn is_name_part(c: char) -> bool {
    is_name_start(c) || c.is_ascii_digit()
}

fn is_prefix(letters: &str) -> bool {
    matches!(letters.to_ascii_lowercase().as_str(), "r" | "u" | "b" | "br" | "rb" | "f" | "fr" | "rf")
}

/// The first character that cannot stand where it stands in a name. Characters are asked of ruff's lexer, which knows
/// the tables of Unicode.
fn unfit(name: &str) -> Option<(usize, char)> {
    name.char_indices().find(|(at, character)| {
        if character.is_ascii() {
            return false;
        }
        // One that may not begin a name may still go on with one.
        let probe = if *at == 0 { character.to_string() } else { format!("a{character}") };
        !is_one_name(&probe)
    })
}

fn is_one_name(text: &str) -> bool {
    use ruff_python_ast::token::TokenKind;
    use ruff_python_parser::{Mode, lexer};
    let mut lexer = lexer::lex(text, Mode::Module);
    let first = lexer.next_token();
    let second = lexer.next_token();
    first == TokenKind::Name && matches!(second, TokenKind::Newline | TokenKind::EndOfFile)
}

/// As `str.isprintable`, for the characters that names cannot have: separators and controls are not shown.
fn is_printable(c: char) -> bool {
    // Behind a letter even what combines with it is shown.
    let shown: String = format!("a{c}").escape_debug().collect();
    !c.is_whitespace() && !c.is_control() && !shown.starts_with("a\\u")
}
