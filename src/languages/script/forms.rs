//! Syntax that Rhai's parser rejects: subscripts with several parts, `x[0, 1..3]`, slices, `x[:, ::2]`, and keywords,
//! `zeros(2, dtype=int16)`.
//!
//! One pass over Rhai's own tokens rewrites them to `at(…)`, `slice(…)` and a last object map. Rhai assigns only
//! through a variable, so a variable is inserted for assignments through a call, as in `x.view(2, 3)[0] = 1`. Code that
//! Rhai accepts is left unchanged.

use super::subscripts::HELD;
use super::weave::Tokens;
use super::written::{Edit, Offsets};
use rhai::{Position, Token};

/// The kind of a token, as far as this pass distinguishes it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sign {
    /// `(`, `[`, `{`, or the start of a block within a string.
    Open(char),
    Close,
    Comma,
    Colon,
    DoubleColon,
    Equals,
    /// `+=` and similar operators.
    Changes,
    Dot,
    Ellipsis,
    /// A name, which may begin a keyword argument.
    Name,
    /// A value that can be subscripted.
    Value,
    /// The `fn` of a definition.
    Definition,
    /// `let`, `const` and `for`, which names follow.
    Binding,
    Other,
}

struct Place {
    sign: Sign,
    position: Position,
    /// The byte at which the token begins, if an edit can be made there.
    at: usize,
}

/// The position of a positional argument that follows a keyword.
#[derive(Debug)]
pub(super) struct Misplaced(pub Position);

/// Returns the edits that turn a text with these forms into one that Rhai accepts.
///
/// # Errors
/// Fails if a positional argument follows a keyword.
pub(crate) fn edits(tokens: &Tokens, source: &str) -> Result<Vec<Edit>, Misplaced> {
    let Some(places) = places(tokens, source) else { return Ok(Vec::new()) };
    let mut pass = Pass { places: &places, edits: Vec::new(), open: Vec::new() };
    for i in 0..places.len() {
        pass.step(i)?;
    }
    pass.hold();
    Ok(pass.edits)
}

/// Returns the tokens of a text. `None` if the tokenizer found a faulty token.
fn places(tokens: &Tokens, source: &str) -> Option<Vec<Place>> {
    let Tokens { found, are_all: true } = tokens else { return None };
    let mut offsets = Offsets::new(source);
    let mut places = Vec::new();
    for (token, position) in found.iter().map(|(token, position)| (token, *position)) {
        let sign = match token {
            Token::LeftParen => Sign::Open('('),
            Token::LeftBracket | Token::QuestionBracket => Sign::Open('['),
            Token::LeftBrace | Token::MapStart => Sign::Open('{'),
            Token::RightParen | Token::RightBracket | Token::RightBrace => Sign::Close,
            Token::Comma => Sign::Comma,
            Token::Colon => Sign::Colon,
            Token::DoubleColon => Sign::DoubleColon,
            Token::Equals => Sign::Equals,
            Token::Period | Token::Elvis => Sign::Dot,
            token if token.is_op_assignment() => Sign::Changes,
            Token::Fn => Sign::Definition,
            Token::Let | Token::Const | Token::For => Sign::Binding,
            Token::Identifier(_) => Sign::Name,
            Token::Reserved(word) if &***word == "..." => Sign::Ellipsis,
            Token::Reserved(word) if rhai::is_valid_identifier(word) => Sign::Name,
            Token::StringConstant(_) => Sign::Value,
            _ => Sign::Other,
        };
        // `()` is one token.
        if let Token::Unit = token {
            let at = offsets.of(position.line()?, position.position()?)?;
            places.push(Place { sign: Sign::Open('('), position, at });
            places.push(Place { sign: Sign::Close, position, at: at + 1 });
            continue;
        }
        // The pieces of a string around embedded code have wrong positions; no edit is made there.
        let at = if matches!(sign, Sign::Value | Sign::Other | Sign::Dot | Sign::Changes | Sign::Binding) {
            0
        } else {
            offsets.of(position.line()?, position.position()?)?
        };
        places.push(Place { sign, position, at });
    }
    Some(places)
}

/// An open bracket.
enum Open {
    /// A call, with the token of its first keyword.
    Call {
        keywords: Option<usize>,
        argument: Argument,
    },
    /// A subscript.
    Index {
        at: usize,
        several: bool,
        part: Part,
    },
    /// Parentheses, which make a tuple if they contain a comma.
    Group {
        at: usize,
        several: bool,
    },
    Other,
}

/// The argument being read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Argument {
    Empty,
    Positional,
    Keyword,
}

/// The part of a subscript being read, between commas.
#[derive(Default)]
struct Part {
    start: usize,
    colons: Vec<usize>,
    /// Whether there is a token before the first colon, after it, and after the second.
    filled: [bool; 3],
}

struct Pass<'p> {
    places: &'p [Place],
    edits: Vec<Edit>,
    open: Vec<Open>,
}

impl Pass<'_> {
    fn sign(&self, i: Option<usize>) -> Sign {
        i.and_then(|i| self.places.get(i)).map_or(Sign::Other, |place| place.sign)
    }

    fn edit(&mut self, at: usize, removed: usize, text: &'static str) {
        self.edits.push(Edit { at, removed, text: text.into() });
    }

    fn step(&mut self, i: usize) -> Result<(), Misplaced> {
        let Some(&Place { sign, position, at }) = self.places.get(i) else { return Ok(()) };
        let (before, next) = (self.sign(i.checked_sub(1)), self.sign(Some(i + 1)));
        let begins = matches!(self.sign(i.checked_sub(2)), Sign::Comma | Sign::Open('('));
        let name = i.checked_sub(1).and_then(|i| self.places.get(i)).map(|place| place.at);
        if let Sign::Close = sign {
            self.close(at);
            return Ok(());
        }
        // Everything inside a bracket, including nested brackets, belongs to the current part or argument.
        match self.open.last_mut() {
            Some(Open::Index { several, part, .. }) => match sign {
                Sign::Comma => {
                    *several = true;
                    let part = std::mem::take(part);
                    self.end_part(&part, at);
                    self.start_part(at + 1);
                }
                Sign::Colon => part.colons.push(at),
                Sign::DoubleColon if before != Sign::Name || next != Sign::Name => {
                    part.colons.extend([at, at + 1]);
                }
                Sign::Ellipsis => {
                    *several = true;
                    part.filled[0] = true;
                    self.edit(at, 3, "Ellipsis");
                }
                _ => {
                    if let Some(filled) = part.filled.get_mut(part.colons.len()) {
                        *filled = true;
                    }
                }
            },
            Some(Open::Call { keywords, argument }) => match sign {
                Sign::Comma => *argument = Argument::Empty,
                Sign::Equals if *argument == Argument::Positional && before == Sign::Name => {
                    // The argument consists only of the name so far.
                    if let (Some(name), true) = (name, begins) {
                        *argument = Argument::Keyword;
                        let first = keywords.replace(name).is_none();
                        if first {
                            self.edit(name, 0, "#{");
                        }
                        self.edit(at, 1, ":");
                    }
                }
                _ if *argument == Argument::Empty => {
                    let is_keyword = sign == Sign::Name && next == Sign::Equals;
                    if keywords.is_some() && !is_keyword {
                        return Err(Misplaced(position));
                    }
                    *argument = Argument::Positional;
                }
                _ => {}
            },
            Some(Open::Group { several, .. }) => *several |= sign == Sign::Comma,
            _ => {}
        }
        if let Sign::Open(bracket) = sign {
            self.open(i, bracket, before);
        }
        Ok(())
    }

    fn open(&mut self, i: usize, bracket: char, before: Sign) {
        let Some(place) = self.places.get(i) else { return };
        let is_defined = self.sign(i.checked_sub(2)) == Sign::Definition;
        let on_this_line = i
            .checked_sub(1)
            .and_then(|i| self.places.get(i))
            .is_some_and(|last| last.position.line() == place.position.line());
        let open = match (bracket, before) {
            ('(', Sign::Name) if !is_defined => Open::Call { keywords: None, argument: Argument::Empty },
            ('[', Sign::Name | Sign::Value | Sign::Close) if on_this_line => {
                Open::Index { at: place.at, several: false, part: Part { start: place.at + 1, ..Part::default() } }
            }
            ('(', before) if !is_defined && !matches!(before, Sign::Binding | Sign::Close | Sign::Value) => {
                Open::Group { at: place.at, several: false }
            }
            _ => Open::Other,
        };
        self.open.push(open);
    }

    fn start_part(&mut self, start: usize) {
        if let Some(Open::Index { part, .. }) = self.open.last_mut() {
            part.start = start;
        }
    }

    fn end_part(&mut self, part: &Part, end: usize) {
        let (Some(&first), [start, stop, step]) = (part.colons.first(), part.filled) else { return };
        self.edit(part.start, 0, if start { "slice(" } else { "slice(()" });
        self.edit(first, 1, if stop { "," } else { ", ()" });
        if let Some(&second) = part.colons.get(1) {
            self.edit(second, 1, if step { "," } else { "" });
        }
        self.edit(end, 0, ")");
    }

    fn close(&mut self, at: usize) {
        match self.open.pop() {
            Some(Open::Index { at: start, several, part }) => {
                self.end_part(&part, at);
                if several {
                    self.edit(start + 1, 0, "at(");
                    self.edit(at, 0, ")");
                }
            }
            Some(Open::Call { keywords: Some(_), .. }) => self.edit(at, 0, "}"),
            Some(Open::Group { at: start, several: true }) => {
                self.edit(start, 1, "tuple([");
                self.edit(at, 1, "])");
            }
            _ => {}
        }
    }

    /// Inserts a variable for the results of calls that are assigned through.
    fn hold(&mut self) {
        let mut open = Vec::new();
        let mut opening = vec![0; self.places.len()];
        for (i, place) in self.places.iter().enumerate() {
            match place.sign {
                Sign::Open(_) => open.push(i),
                Sign::Close => opening[i] = open.pop().unwrap_or_default(),
                _ => {}
            }
        }
        for (i, place) in self.places.iter().enumerate() {
            if matches!(place.sign, Sign::Equals | Sign::Changes)
                && let Some((start, end)) = self.called(i, &opening)
            {
                self.edits.push(Edit { at: start, removed: 0, text: format!("{HELD}[").into() });
                self.edits.push(Edit { at: end, removed: 0, text: "]".into() });
            }
        }
    }

    /// Returns the first and last token of the calls on the left-hand side of `assignment`. `None` if it contains no
    /// call.
    fn called(&self, assignment: usize, opening: &[usize]) -> Option<(usize, usize)> {
        let (mut i, mut end) = (assignment.checked_sub(1)?, None);
        loop {
            if let Sign::Close = self.sign(Some(i)) {
                let open = *opening.get(i)?;
                let before = open.checked_sub(1)?;
                if !matches!(self.sign(Some(before)), Sign::Name | Sign::Close) {
                    return None;
                }
                if self.sign(Some(open)) == Sign::Open('(') && end.is_none() {
                    // A call itself cannot be assigned to, only its elements or attributes.
                    end = Some(i).filter(|call| call + 1 < assignment);
                    end?;
                }
                i = before;
                continue;
            }
            if self.sign(Some(i)) != Sign::Name {
                return None;
            }
            match i.checked_sub(2) {
                Some(before) if matches!(self.sign(Some(i - 1)), Sign::Dot | Sign::DoubleColon) => i = before,
                _ => break,
            }
        }
        Some((self.places.get(i)?.at, self.places.get(end?)?.at + 1))
    }
}
