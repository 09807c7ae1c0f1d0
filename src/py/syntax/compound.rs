//! The grammar of statements with a header and a block, and what people get wrong in their headers.
//!
//! It must not know what a statement does.

use super::node::Purpose;
use super::raised::{Found, Raised};
use super::reader::{Reader, need};
use super::tokens::{Kind as TokenKind, Token};

impl Reader<'_> {
    pub fn compound_statement(&mut self) -> Found<()> {
        let token = self.peek()?;
        let word = match token.kind {
            TokenKind::Keyword | TokenKind::Sign => self.text_of(token),
            TokenKind::Name => return self.attempt(Self::match_statement),
            _ => return Ok(None),
        };
        // Some words begin several statements, which are tried in this order.
        let rules: &[fn(&mut Self) -> Found<()>] = match word {
            "def" => &[Self::function],
            "@" => &[Self::function, Self::class],
            "async" => &[Self::function, Self::with, Self::for_loop],
            "if" => &[Self::if_statement],
            "class" => &[Self::class],
            "with" => &[Self::with],
            "for" => &[Self::for_loop],
            "try" => &[Self::try_statement],
            "while" => &[Self::while_loop],
            _ => return Ok(None),
        };
        for rule in rules {
            if let Some(()) = self.attempt(rule)? {
                return Ok(Some(()));
            }
        }
        Ok(None)
    }

    /// The end of a header that a line end has instead of a colon.
    fn colon_forgotten(&mut self, header: impl FnOnce(&mut Self) -> Found<()>) -> Result<(), Raised> {
        if !self.suspicious {
            return Ok(());
        }
        let forgotten = self.attempt(|r| {
            need!(header(r));
            r.kind(TokenKind::Newline)
        })?;
        match forgotten {
            Some(_) => Err(self.raise_last("expected ':'")),
            None => Ok(()),
        }
    }

    /// A header whose block is not there.
    fn block_forgotten(&mut self, what: &str, header: impl FnOnce(&mut Self) -> Found<Token>) -> Result<(), Raised> {
        if !self.suspicious {
            return Ok(());
        }
        let forgotten = self.attempt(|r| {
            let word = need!(header(r));
            need!(r.sign(":"));
            need!(r.kind(TokenKind::Newline));
            Ok(if r.sees_kind(TokenKind::Indent)? { None } else { Some(word) })
        })?;
        match forgotten {
            Some(word) => {
                Err(self.raise_indentation(format!("expected an indented block after {what} on line {}", word.line)))
            }
            None => Ok(()),
        }
    }

    /// `word test:` and its block.
    fn tested(&mut self, word: &str) -> Found<()> {
        self.colon_forgotten(|r| {
            need!(r.sign(word));
            need!(r.named_expression());
            Ok(Some(()))
        })?;
        self.block_forgotten(&format!("'{word}' statement"), |r| {
            let token = need!(r.sign(word));
            need!(r.named_expression());
            Ok(Some(token))
        })?;
        need!(self.sign(word));
        need!(self.named_expression());
        need!(self.sign(":"));
        need!(self.block());
        Ok(Some(()))
    }

    fn if_statement(&mut self) -> Found<()> {
        need!(self.tested("if"));
        self.after_if()
    }

    /// Any `elif`s and an `else`.
    fn after_if(&mut self) -> Found<()> {
        while self.attempt(|r| r.tested("elif"))?.is_some() {}
        self.otherwise()?;
        Ok(Some(()))
    }

    /// `else:` and its block.
    fn otherwise(&mut self) -> Found<()> {
        self.attempt(|r| {
            r.block_forgotten("'else' statement", |r| r.sign("else"))?;
            need!(r.sign("else"));
            r.demand(":")?;
            need!(r.block());
            Ok(Some(()))
        })
    }

    fn while_loop(&mut self) -> Found<()> {
        need!(self.tested("while"));
        self.otherwise()?;
        Ok(Some(()))
    }

    fn for_loop(&mut self) -> Found<()> {
        self.colon_forgotten(|r| {
            r.sign("async")?;
            need!(r.sign("for"));
            need!(r.star_targets());
            need!(r.sign("in"));
            Ok(r.star_expressions()?.map(|_| ()))
        })?;
        self.block_forgotten("'for' statement", |r| {
            r.sign("async")?;
            let word = need!(r.sign("for"));
            need!(r.star_targets());
            need!(r.sign("in"));
            need!(r.star_expressions());
            Ok(Some(word))
        })?;
        // Behind `in` there is no other way to read it.
        let mut sure = false;
        let found = self.attempt(|r| {
            r.sign("async")?;
            need!(r.sign("for"));
            need!(r.star_targets());
            need!(r.sign("in"));
            sure = true;
            need!(r.star_expressions());
            need!(r.sign(":"));
            need!(r.block());
            r.otherwise()?;
            Ok(Some(()))
        })?;
        if found.is_some() || sure {
            return Ok(found);
        }
        self.invalid_for_target()
    }

    fn with(&mut self) -> Found<()> {
        for in_brackets in [false, true] {
            self.block_forgotten("'with' statement", |r| {
                r.sign("async")?;
                let word = need!(r.sign("with"));
                need!(r.loose_items(in_brackets));
                Ok(Some(word))
            })?;
        }
        for in_brackets in [true, false] {
            if let Some(()) = self.attempt(|r| {
                r.sign("async")?;
                need!(r.sign("with"));
                if in_brackets {
                    need!(r.sign("("));
                    need!(r.listed(Self::with_item));
                    r.sign(",")?;
                    need!(r.sign(")"));
                } else {
                    need!(r.listed(Self::with_item));
                }
                need!(r.sign(":"));
                need!(r.block());
                Ok(Some(()))
            })? {
                return Ok(Some(()));
            }
        }
        for in_brackets in [false, true] {
            self.colon_forgotten(|r| {
                r.sign("async")?;
                need!(r.sign("with"));
                r.loose_items(in_brackets)
            })?;
        }
        Ok(None)
    }

    /// The items of a `with` as they are read where something is wrong behind them.
    fn loose_items(&mut self, in_brackets: bool) -> Found<()> {
        if in_brackets {
            need!(self.sign("("));
        }
        need!(self.listed(|r| {
            if in_brackets {
                need!(r.expressions());
            } else {
                need!(r.expression());
            }
            r.attempt(|r| {
                need!(r.sign("as"));
                r.star_target()
            })?;
            Ok(Some(()))
        }));
        if in_brackets {
            self.sign(",")?;
            need!(self.sign(")"));
        }
        Ok(Some(()))
    }

    fn with_item(&mut self) -> Found<()> {
        const ENDS: &[&str] = &[",", ")", ":"];
        if let Some(()) = self.attempt(|r| {
            need!(r.expression());
            need!(r.sign("as"));
            need!(r.star_target());
            Ok(if r.sees_any(ENDS)? { Some(()) } else { None })
        })? {
            return Ok(Some(()));
        }
        if self.suspicious
            && let Some(target) = self.attempt(|r| {
                need!(r.expression());
                need!(r.sign("as"));
                let target = need!(r.expression());
                Ok(if r.sees_any(ENDS)? { Some(target) } else { None })
            })?
        {
            self.check_target(&target, Purpose::Assign)?;
            return Ok(None);
        }
        Ok(self.expression()?.map(|_| ()))
    }

    fn try_statement(&mut self) -> Found<()> {
        self.block_forgotten("'try' statement", |r| r.sign("try"))?;
        if self.suspicious {
            self.invalid_try()?;
        }
        need!(self.sign("try"));
        self.demand(":")?;
        need!(self.block());
        if let Some(()) = self.attempt(Self::finally)? {
            return Ok(Some(()));
        }
        for handler in [Self::except, Self::except_star] {
            let found = self.attempt(|r| {
                if r.many(handler)?.is_empty() {
                    return Ok(None);
                }
                r.otherwise()?;
                r.attempt(Self::finally)?;
                Ok(Some(()))
            })?;
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    fn invalid_try(&mut self) -> Result<(), Raised> {
        let without_handlers = self.attempt(|r| {
            need!(r.sign("try"));
            need!(r.sign(":"));
            need!(r.block());
            Ok(if r.sees_any(&["except", "finally"])? { None } else { Some(()) })
        })?;
        if without_handlers.is_some() {
            return Err(self.raise_last("expected 'except' or 'finally' block"));
        }
        let both = self.attempt(|r| {
            need!(r.sign("try"));
            need!(r.sign(":"));
            r.many(Self::block)?;
            let plain_first = r.attempt(|r| {
                if r.many(Self::except)?.is_empty() {
                    return Ok(None);
                }
                let word = need!(r.sign("except"));
                need!(r.sign("*"));
                need!(r.expression());
                r.alias_of_exception()?;
                need!(r.sign(":"));
                Ok(Some(word))
            })?;
            if plain_first.is_some() {
                return Ok(plain_first);
            }
            if r.many(Self::except_star)?.is_empty() {
                return Ok(None);
            }
            let word = need!(r.sign("except"));
            if r.expression()?.is_some() {
                r.alias_of_exception()?;
            }
            need!(r.sign(":"));
            Ok(Some(word))
        })?;
        match both {
            Some(word) => Err(self.raise(word.start, "cannot have both 'except' and 'except*' on the same 'try'")),
            None => Ok(()),
        }
    }

    fn alias_of_exception(&mut self) -> Found<()> {
        self.attempt(|r| {
            need!(r.sign("as"));
            r.name()
        })?;
        Ok(Some(()))
    }

    fn except(&mut self) -> Found<()> {
        self.block_forgotten("'except' statement", |r| {
            let word = need!(r.sign("except"));
            need!(r.expression());
            r.alias_of_exception()?;
            Ok(Some(word))
        })?;
        self.block_forgotten("'except' statement", |r| r.sign("except"))?;
        if let Some(()) = self.attempt(|r| {
            need!(r.sign("except"));
            need!(r.expression());
            r.alias_of_exception()?;
            need!(r.sign(":"));
            need!(r.block());
            Ok(Some(()))
        })? {
            return Ok(Some(()));
        }
        if let Some(()) = self.attempt(|r| {
            need!(r.sign("except"));
            need!(r.sign(":"));
            need!(r.block());
            Ok(Some(()))
        })? {
            return Ok(Some(()));
        }
        self.invalid_except()
    }

    fn except_star(&mut self) -> Found<()> {
        self.block_forgotten("'except*' statement", |r| {
            let word = need!(r.sign("except"));
            need!(r.sign("*"));
            need!(r.expression());
            r.alias_of_exception()?;
            Ok(Some(word))
        })?;
        if let Some(()) = self.attempt(|r| {
            need!(r.sign("except"));
            need!(r.sign("*"));
            need!(r.expression());
            r.alias_of_exception()?;
            need!(r.sign(":"));
            need!(r.block());
            Ok(Some(()))
        })? {
            return Ok(Some(()));
        }
        self.invalid_except()
    }

    fn invalid_except(&mut self) -> Found<()> {
        if !self.suspicious {
            return Ok(None);
        }
        if let Some(first) = self.attempt(|r| {
            need!(r.sign("except"));
            r.sign("*")?;
            let first = need!(r.expression());
            need!(r.sign(","));
            need!(r.expressions());
            r.alias_of_exception()?;
            need!(r.sign(":"));
            Ok(Some(first))
        })? {
            return Err(self.raise(first.start, "multiple exception types must be parenthesized"));
        }
        self.colon_forgotten(|r| {
            need!(r.sign("except"));
            r.sign("*")?;
            need!(r.expression());
            r.alias_of_exception()
        })?;
        self.colon_forgotten(|r| Ok(r.sign("except")?.map(|_| ())))?;
        let untyped = self.attempt(|r| {
            need!(r.sign("except"));
            need!(r.sign("*"));
            if let Some(end) = r.kind(TokenKind::Newline)? {
                return Ok(Some(end));
            }
            r.sign(":")
        })?;
        match untyped {
            Some(_) => Err(self.raise_last("expected one or more exception types")),
            None => Ok(None),
        }
    }

    fn finally(&mut self) -> Found<()> {
        self.block_forgotten("'finally' statement", |r| r.sign("finally"))?;
        need!(self.sign("finally"));
        self.demand(":")?;
        need!(self.block());
        Ok(Some(()))
    }

    /// The lines `@…` above a definition.
    fn decorators(&mut self) -> Result<(), Raised> {
        self.many(|r| {
            need!(r.sign("@"));
            need!(r.named_expression());
            r.kind(TokenKind::Newline)
        })?;
        Ok(())
    }

    fn function(&mut self) -> Found<()> {
        self.decorators()?;
        self.block_forgotten("function definition", |r| {
            r.sign("async")?;
            let word = need!(r.sign("def"));
            need!(r.name());
            need!(r.sign("("));
            r.parameters()?;
            need!(r.sign(")"));
            r.returned_type()?;
            Ok(Some(word))
        })?;
        self.sign("async")?;
        need!(self.sign("def"));
        need!(self.name());
        self.demand("(")?;
        self.attempt(Self::parameters)?;
        need!(self.sign(")"));
        self.returned_type()?;
        self.demand(":")?;
        need!(self.block());
        Ok(Some(()))
    }

    fn returned_type(&mut self) -> Found<()> {
        self.attempt(|r| {
            need!(r.sign("->"));
            need!(r.expression());
            Ok(Some(()))
        })
    }

    fn class(&mut self) -> Found<()> {
        self.decorators()?;
        self.colon_forgotten(|r| Ok(r.class_header()?.map(|_| ())))?;
        self.block_forgotten("class definition", Self::class_header)?;
        need!(self.class_header());
        need!(self.sign(":"));
        need!(self.block());
        Ok(Some(()))
    }

    fn class_header(&mut self) -> Found<Token> {
        let word = need!(self.sign("class"));
        need!(self.name());
        self.attempt(|r| {
            need!(r.sign("("));
            r.arguments()?;
            r.sign(")")
        })?;
        Ok(Some(word))
    }

    fn match_statement(&mut self) -> Found<()> {
        let whole = self.attempt(|r| {
            need!(r.soft("match"));
            need!(r.subject());
            need!(r.sign(":"));
            need!(r.kind(TokenKind::Newline));
            need!(r.kind(TokenKind::Indent));
            if r.many(Self::case)?.is_empty() {
                return Ok(None);
            }
            need!(r.kind(TokenKind::Dedent));
            Ok(Some(()))
        })?;
        if whole.is_some() {
            return Ok(whole);
        }
        self.colon_forgotten(|r| {
            need!(r.soft("match"));
            r.subject()
        })?;
        self.block_forgotten("'match' statement", |r| {
            let word = need!(r.soft("match"));
            need!(r.subject());
            Ok(Some(word))
        })?;
        Ok(None)
    }

    fn subject(&mut self) -> Found<()> {
        let several = self.attempt(|r| {
            need!(r.star_named_expression());
            need!(r.sign(","));
            r.star_named_expressions()?;
            Ok(Some(()))
        })?;
        match several {
            Some(()) => Ok(Some(())),
            None => Ok(self.named_expression()?.map(|_| ())),
        }
    }

    fn case(&mut self) -> Found<()> {
        self.colon_forgotten(|r| Ok(r.case_header()?.map(|_| ())))?;
        self.block_forgotten("'case' statement", Self::case_header)?;
        need!(self.case_header());
        need!(self.sign(":"));
        need!(self.block());
        Ok(Some(()))
    }

    fn case_header(&mut self) -> Found<Token> {
        let word = need!(self.soft("case"));
        need!(self.patterns());
        self.attempt(|r| {
            need!(r.sign("if"));
            r.named_expression()
        })?;
        Ok(Some(word))
    }
}
