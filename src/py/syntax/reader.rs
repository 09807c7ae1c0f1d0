//! Reads tokens forth and back as a grammar of ordered choices asks for them, and remembers what it has read where.
//!
//! A source is read twice: first by the rules of the language alone; if that fails, again with the rules for what people
//! get wrong, which raise the words of the fault. It is read in the order of CPython's own grammar, because that order
//! decides which of several faults is the one.
//!
//! It must not know the grammar.

use super::node::{Kind as NodeKind, Node, NodeRef};
use super::raised::{Found, Raised};
use super::tokens::{Kind, Stop, Token, Tokens};
use std::collections::HashMap;

/// What is remembered of each place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Rule {
    Arguments,
    AwaitPrimary,
    BitwiseOr,
    Block,
    ClosedPattern,
    Conjunction,
    DeleteTarget,
    Disjunction,
    Expression,
    Factor,
    Inversion,
    InvalidNamed,
    Primary,
    SimpleStatement,
    StarExpression,
    StarTarget,
    Strings,
    TargetPrimary,
    TargetWithStar,
}

pub struct Reader<'s> {
    pub text: &'s str,
    lexer: Tokens<'s>,
    tokens: Vec<Token>,
    pub mark: usize,
    /// The rules for what people get wrong are in force.
    pub suspicious: bool,
    remembered: HashMap<(Rule, usize), (Option<NodeRef>, usize)>,
    /// How many formatted strings are around this text.
    pub formatted: bool,
}

/// Leaves a rule that does not apply.
macro_rules! need {
    ($found:expr) => {
        match $found? {
            Some(found) => found,
            None => return Ok(None),
        }
    };
}
pub(super) use need;

impl<'s> Reader<'s> {
    pub fn new(text: &'s str, formatted: bool) -> Self {
        Self {
            text,
            lexer: Tokens::new(text),
            tokens: Vec::new(),
            mark: 0,
            suspicious: false,
            remembered: HashMap::new(),
            formatted,
        }
    }

    /// The one fault of the text, if `rule` does not fit it.
    pub fn fault_of(mut self, rule: impl Fn(&mut Self) -> Found<()>) -> Option<Raised> {
        match rule(&mut self) {
            Ok(Some(())) => return None,
            Err(raised) => return Some(self.or_of_tokens(raised)),
            Ok(None) => {}
        }
        let Some(last) = self.tokens.last().copied() else {
            return Some(Raised::syntax("invalid syntax", 0));
        };
        self.mark = 0;
        self.suspicious = true;
        self.remembered.clear();
        if let Err(raised) = rule(&mut self) {
            return Some(self.or_of_tokens(raised));
        }
        let message = match last.kind {
            Kind::Indent => "unexpected indent",
            Kind::Dedent => "unexpected unindent",
            _ => {
                let raised = self.raise(last.start, "invalid syntax");
                return Some(self.or_of_tokens(raised));
            }
        };
        Some(self.raise_indentation(message))
    }

    /// A fault of the tokens further on counts more than one of the grammar.
    fn or_of_tokens(&mut self, raised: Raised) -> Raised {
        if raised.lexical {
            return raised;
        }
        let line = self.tokens.last().map_or(1, |token| token.line);
        loop {
            match self.lexer.next() {
                Ok(token) if token.kind == Kind::End => return raised,
                Ok(_) => {}
                Err(Stop::Raised(of_tokens)) => return of_tokens,
                Err(Stop::Quiet(_) | Stop::Unindented(_) | Stop::Ended) => {
                    return self.lexer.open_before(line).unwrap_or(raised);
                }
            }
        }
    }

    /// A fault at a place that is known.
    pub fn raise(&self, at: usize, message: impl Into<String>) -> Raised {
        let message = message.into();
        Raised::syntax(if self.formatted { format!("f-string: {message}") } else { message }, at)
    }

    /// A fault at the last token that has been looked at.
    pub fn raise_last(&self, message: impl Into<String>) -> Raised {
        let at = match self.tokens.last() {
            Some(token) if !matches!(token.kind, Kind::Indent | Kind::Dedent | Kind::End) => token.start,
            Some(_) => self.before_here(),
            None => 0,
        };
        self.raise(at, message)
    }

    pub fn raise_indentation(&self, message: impl Into<String>) -> Raised {
        Raised { kind: "IndentationError", ..self.raise_last(message) }
    }

    /// The last character that the lexer took, if its line has one.
    fn before_here(&self) -> usize {
        let here = self.lexer.here;
        if here == self.lexer.line_start && here < self.text.len() {
            return here;
        }
        self.text.get(..here).and_then(|before| before.char_indices().next_back()).map_or(0, |(at, _)| at)
    }

    /// The token at the mark.
    pub fn peek(&mut self) -> Result<Token, Raised> {
        self.token(self.mark)
    }

    fn token(&mut self, index: usize) -> Result<Token, Raised> {
        loop {
            if let Some(token) = self.tokens.get(index) {
                return Ok(*token);
            }
            match self.lexer.next() {
                Ok(token) => self.tokens.push(token),
                Err(Stop::Raised(raised) | Stop::Quiet(raised)) => return Err(raised),
                Err(Stop::Unindented(at)) => {
                    let message = "unindent does not match any outer indentation level";
                    return Err(Raised::lexical("IndentationError", message, at));
                }
                Err(Stop::Ended) => {
                    let end = self.text.len().saturating_sub(1);
                    let ended = || Raised { lexical: true, ..self.raise(end, "unexpected EOF while parsing") };
                    return Err(self.lexer.open().unwrap_or_else(ended));
                }
            }
        }
    }

    /// The token before the mark.
    pub fn previous(&self) -> Option<Token> {
        self.tokens.get(self.mark.checked_sub(1)?).copied()
    }

    /// Where what has been taken ends.
    pub fn end(&self) -> usize {
        self.previous().map_or(0, |token| token.end)
    }

    pub fn text_of(&self, token: Token) -> &'s str {
        self.text.get(token.start..token.end).unwrap_or_default()
    }

    fn take_if(&mut self, fits: impl Fn(&Self, Token) -> bool) -> Found<Token> {
        let token = self.peek()?;
        if !fits(self, token) {
            return Ok(None);
        }
        self.mark += 1;
        Ok(Some(token))
    }

    pub fn kind(&mut self, kind: Kind) -> Found<Token> {
        self.take_if(|_, token| token.kind == kind)
    }

    pub fn name(&mut self) -> Found<Token> {
        self.kind(Kind::Name)
    }

    /// A keyword or a sign.
    pub fn sign(&mut self, text: &str) -> Found<Token> {
        self.take_if(|reader, token| matches!(token.kind, Kind::Keyword | Kind::Sign) && reader.text_of(token) == text)
    }

    /// A name that is a keyword here.
    pub fn soft(&mut self, word: &str) -> Found<Token> {
        self.take_if(|reader, token| token.kind == Kind::Name && reader.text_of(token) == word)
    }

    /// A sign without which nothing can be right any more.
    pub fn demand(&mut self, text: &str) -> Result<Token, Raised> {
        match self.sign(text)? {
            Some(token) => Ok(token),
            None => {
                let at = self.peek()?.start;
                Err(self.raise(at, format!("expected '{text}'")))
            }
        }
    }

    pub fn sees(&mut self, text: &str) -> Result<bool, Raised> {
        let seen = self.sign(text)?.is_some();
        if seen {
            self.mark -= 1;
        }
        Ok(seen)
    }

    pub fn sees_any(&mut self, texts: &[&str]) -> Result<bool, Raised> {
        for text in texts {
            if self.sees(text)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    pub fn sees_kind(&mut self, kind: Kind) -> Result<bool, Raised> {
        Ok(self.peek()?.kind == kind)
    }

    /// Tries a rule; one that does not apply takes nothing.
    pub fn attempt<T>(&mut self, rule: impl FnOnce(&mut Self) -> Found<T>) -> Found<T> {
        let mark = self.mark;
        let found = rule(self)?;
        if found.is_none() {
            self.mark = mark;
        }
        Ok(found)
    }

    /// Whether a rule applies here; takes nothing.
    pub fn ahead<T>(&mut self, rule: impl FnOnce(&mut Self) -> Found<T>) -> Result<bool, Raised> {
        let mark = self.mark;
        let found = rule(self)?;
        self.mark = mark;
        Ok(found.is_some())
    }

    /// As often as it applies.
    pub fn many<T>(&mut self, mut rule: impl FnMut(&mut Self) -> Found<T>) -> Result<Vec<T>, Raised> {
        let mut all = Vec::new();
        while let Some(one) = self.attempt(&mut rule)? {
            all.push(one);
        }
        Ok(all)
    }

    /// At least one, with commas between them; a comma behind the last is left where it is.
    pub fn listed<T>(&mut self, mut rule: impl FnMut(&mut Self) -> Found<T>) -> Found<Vec<T>> {
        let mut all = vec![need!(self.attempt(&mut rule))];
        while let Some(next) = self.attempt(|reader| {
            need!(reader.sign(","));
            rule(reader)
        })? {
            all.push(next);
        }
        Ok(Some(all))
    }

    pub fn remember(&mut self, rule: Rule, read: impl FnOnce(&mut Self) -> Found<NodeRef>) -> Found<NodeRef> {
        let key = (rule, self.mark);
        if let Some((found, mark)) = self.remembered.get(&key) {
            if found.is_some() {
                self.mark = *mark;
            }
            return Ok(found.clone());
        }
        let found = self.attempt(read)?;
        self.remembered.insert(key, (found.clone(), self.mark));
        Ok(found)
    }

    /// A node from `start` to the last token that has been taken.
    pub fn node(&self, kind: NodeKind, start: usize, items: Vec<NodeRef>) -> NodeRef {
        NodeRef::new(Node { kind, start, end: self.end(), items })
    }
}
