//! Syntax that Rhai's parser rejects: subscripts with several parts, `x[0, 1..3]`, slices, `x[:, ::2]`, and keywords,
//! `zeros(2, dtype=int16)`.
//!
//! One pass over Rhai's own tokens rewrites them to `at(…)`, `slice(…)` and a last object map. Rhai assigns only
//! through a variable, so a variable is inserted for assignments through a call, as in `x.view(2, 3)[0] = 1`. Code that
//! Rhai accepts is left unchanged.

use super::weave::Tokens;
use super::written::{Edit, Offsets};
use crate::script::subscripts::PROXY_VARIABLE;
use rhai::{Position, Token};

/// The kind of a token, as far as this pass distinguishes it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TokenRole {
    /// `(`, `[`, `{`, or the start of a block within a string.
    OpenBracket(char),
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

struct PlacedToken {
    sign: TokenRole,
    position: Position,
    /// The byte at which the token begins, if an edit can be made there.
    at: usize,
}

/// The position of a positional argument that follows a keyword.
#[derive(Debug)]
pub(super) struct MisplacedArgument(pub Position);

/// Returns the edits that turn a text with these forms into one that Rhai accepts.
///
/// # Errors
/// Fails if a positional argument follows a keyword.
pub(crate) fn edits(tokens: &Tokens, source: &str) -> Result<Vec<Edit>, MisplacedArgument> {
    let Some(places) = placed_tokens(tokens, source) else { return Ok(Vec::new()) };
    let mut pass = FormRewriter { places: &places, edits: Vec::new(), open: Vec::new() };
    for i in 0..places.len() {
        pass.step(i)?;
    }
    pass.insert_proxies();
    Ok(pass.edits)
}

/// Returns the tokens of a text. `None` if the tokenizer found a faulty token.
fn placed_tokens(tokens: &Tokens, source: &str) -> Option<Vec<PlacedToken>> {
    let Tokens { found, are_all: true } = tokens else { return None };
    let mut offsets = Offsets::new(source);
    let mut places = Vec::new();
    for (token, position) in found.iter().map(|(token, position)| (token, *position)) {
        let sign = match token {
            Token::LeftParen => TokenRole::OpenBracket('('),
            Token::LeftBracket | Token::QuestionBracket => TokenRole::OpenBracket('['),
            Token::LeftBrace | Token::MapStart => TokenRole::OpenBracket('{'),
            Token::RightParen | Token::RightBracket | Token::RightBrace => TokenRole::Close,
            Token::Comma => TokenRole::Comma,
            Token::Colon => TokenRole::Colon,
            Token::DoubleColon => TokenRole::DoubleColon,
            Token::Equals => TokenRole::Equals,
            Token::Period | Token::Elvis => TokenRole::Dot,
            token if token.is_op_assignment() => TokenRole::Changes,
            Token::Fn => TokenRole::Definition,
            Token::Let | Token::Const | Token::For => TokenRole::Binding,
            Token::Identifier(_) => TokenRole::Name,
            Token::Reserved(word) if &***word == "..." => TokenRole::Ellipsis,
            Token::Reserved(word) if rhai::is_valid_identifier(word) => TokenRole::Name,
            Token::StringConstant(_) => TokenRole::Value,
            _ => TokenRole::Other,
        };
        // `()` is one token.
        if let Token::Unit = token {
            let at = offsets.of(position.line()?, position.position()?)?;
            places.push(PlacedToken { sign: TokenRole::OpenBracket('('), position, at });
            places.push(PlacedToken { sign: TokenRole::Close, position, at: at + 1 });
            continue;
        }
        // The pieces of a string around embedded code have wrong positions; no edit is made there.
        let at = if matches!(
            sign,
            TokenRole::Value | TokenRole::Other | TokenRole::Dot | TokenRole::Changes | TokenRole::Binding
        ) {
            0
        } else {
            offsets.of(position.line()?, position.position()?)?
        };
        places.push(PlacedToken { sign, position, at });
    }
    Some(places)
}

/// An open bracket.
enum OpenBracket {
    /// A call, with the token of its first keyword.
    Call {
        keywords: Option<usize>,
        argument: Argument,
    },
    /// A subscript.
    Index {
        at: usize,
        several: bool,
        part: SubscriptPart,
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
struct SubscriptPart {
    start: usize,
    colons: Vec<usize>,
    /// Whether there is a token before the first colon, after it, and after the second.
    filled: [bool; 3],
}

struct FormRewriter<'p> {
    places: &'p [PlacedToken],
    edits: Vec<Edit>,
    open: Vec<OpenBracket>,
}

impl FormRewriter<'_> {
    fn sign(&self, i: Option<usize>) -> TokenRole {
        i.and_then(|i| self.places.get(i)).map_or(TokenRole::Other, |place| place.sign)
    }

    fn edit(&mut self, at: usize, removed: usize, text: &'static str) {
        self.edits.push(Edit { at, removed, text: text.into() });
    }

    fn step(&mut self, i: usize) -> Result<(), MisplacedArgument> {
        let Some(&PlacedToken { sign, position, at }) = self.places.get(i) else { return Ok(()) };
        let (before, next) = (self.sign(i.checked_sub(1)), self.sign(Some(i + 1)));
        let begins = matches!(self.sign(i.checked_sub(2)), TokenRole::Comma | TokenRole::OpenBracket('('));
        let name = i.checked_sub(1).and_then(|i| self.places.get(i)).map(|place| place.at);
        if let TokenRole::Close = sign {
            self.close(at);
            return Ok(());
        }
        // Everything inside a bracket, including nested brackets, belongs to the current part or argument.
        match self.open.last_mut() {
            Some(OpenBracket::Index { several, part, .. }) => match sign {
                TokenRole::Comma => {
                    *several = true;
                    let part = std::mem::take(part);
                    self.end_part(&part, at);
                    self.start_part(at + 1);
                }
                TokenRole::Colon => part.colons.push(at),
                TokenRole::DoubleColon if before != TokenRole::Name || next != TokenRole::Name => {
                    part.colons.extend([at, at + 1]);
                }
                TokenRole::Ellipsis => {
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
            Some(OpenBracket::Call { keywords, argument }) => match sign {
                TokenRole::Comma => *argument = Argument::Empty,
                TokenRole::Equals if *argument == Argument::Positional && before == TokenRole::Name => {
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
                    let is_keyword = sign == TokenRole::Name && next == TokenRole::Equals;
                    if keywords.is_some() && !is_keyword {
                        return Err(MisplacedArgument(position));
                    }
                    *argument = Argument::Positional;
                }
                _ => {}
            },
            Some(OpenBracket::Group { several, .. }) => *several |= sign == TokenRole::Comma,
            _ => {}
        }
        if let TokenRole::OpenBracket(bracket) = sign {
            self.open(i, bracket, before);
        }
        Ok(())
    }

    fn open(&mut self, i: usize, bracket: char, before: TokenRole) {
        let Some(place) = self.places.get(i) else { return };
        let is_defined = self.sign(i.checked_sub(2)) == TokenRole::Definition;
        let on_this_line = i
            .checked_sub(1)
            .and_then(|i| self.places.get(i))
            .is_some_and(|last| last.position.line() == place.position.line());
        let open = match (bracket, before) {
            ('(', TokenRole::Name) if !is_defined => OpenBracket::Call { keywords: None, argument: Argument::Empty },
            ('[', TokenRole::Name | TokenRole::Value | TokenRole::Close) if on_this_line => OpenBracket::Index {
                at: place.at,
                several: false,
                part: SubscriptPart { start: place.at + 1, ..SubscriptPart::default() },
            },
            ('(', before)
                if !is_defined && !matches!(before, TokenRole::Binding | TokenRole::Close | TokenRole::Value) =>
            {
                OpenBracket::Group { at: place.at, several: false }
            }
            _ => OpenBracket::Other,
        };
        self.open.push(open);
    }

    fn start_part(&mut self, start: usize) {
        if let Some(OpenBracket::Index { part, .. }) = self.open.last_mut() {
            part.start = start;
        }
    }

    fn end_part(&mut self, part: &SubscriptPart, end: usize) {
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
            Some(OpenBracket::Index { at: start, several, part }) => {
                self.end_part(&part, at);
                if several {
                    self.edit(start + 1, 0, "at(");
                    self.edit(at, 0, ")");
                }
            }
            Some(OpenBracket::Call { keywords: Some(_), .. }) => self.edit(at, 0, "}"),
            Some(OpenBracket::Group { at: start, several: true }) => {
                self.edit(start, 1, "tuple([");
                self.edit(at, 1, "])");
            }
            _ => {}
        }
    }

    /// Inserts a variable for the results of calls that are assigned through.
    fn insert_proxies(&mut self) {
        let mut open = Vec::new();
        let mut opening = vec![0; self.places.len()];
        for (i, place) in self.places.iter().enumerate() {
            match place.sign {
                TokenRole::OpenBracket(_) => open.push(i),
                TokenRole::Close => opening[i] = open.pop().unwrap_or_default(),
                _ => {}
            }
        }
        for (i, place) in self.places.iter().enumerate() {
            if matches!(place.sign, TokenRole::Equals | TokenRole::Changes)
                && let Some((start, end)) = self.called(i, &opening)
            {
                self.edits.push(Edit { at: start, removed: 0, text: format!("{PROXY_VARIABLE}[").into() });
                self.edits.push(Edit { at: end, removed: 0, text: "]".into() });
            }
        }
    }

    /// Returns the first and last token of the calls on the left-hand side of `assignment`. `None` if it contains no
    /// call.
    fn called(&self, assignment: usize, opening: &[usize]) -> Option<(usize, usize)> {
        let (mut i, mut end) = (assignment.checked_sub(1)?, None);
        loop {
            if let TokenRole::Close = self.sign(Some(i)) {
                let open = *opening.get(i)?;
                let before = open.checked_sub(1)?;
                if !matches!(self.sign(Some(before)), TokenRole::Name | TokenRole::Close) {
                    return None;
                }
                if self.sign(Some(open)) == TokenRole::OpenBracket('(') && end.is_none() {
                    // A call itself cannot be assigned to, only its elements or attributes.
                    end = Some(i).filter(|call| call + 1 < assignment);
                    end?;
                }
                i = before;
                continue;
            }
            if self.sign(Some(i)) != TokenRole::Name {
                return None;
            }
            match i.checked_sub(2) {
                Some(before) if matches!(self.sign(Some(i - 1)), TokenRole::Dot | TokenRole::DoubleColon) => i = before,
                _ => break,
            }
        }
        Some((self.places.get(i)?.at, self.places.get(end?)?.at + 1))
    }
}
