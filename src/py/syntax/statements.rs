//! The grammar of simple statements and of blocks, and what people get wrong in them.
//!
//! It must not know what a statement does.

use super::node::{Kind, NodeRef, Purpose};
use super::raised::{Found, Raised};
use super::reader::{Reader, Rule, need};
use super::tokens::{Kind as TokenKind, Token};

const AUGMENTED: &[&str] = &["+=", "-=", "*=", "@=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", "**=", "//="];

impl Reader<'_> {
    /// A whole source.
    pub fn file(&mut self) -> Found<()> {
        self.statements()?;
        Ok(self.kind(TokenKind::End)?.map(|_| ()))
    }

    /// What stands in the braces of a formatted string, in parentheses.
    pub fn formatted_expression(&mut self) -> Found<()> {
        Ok(self.star_expressions()?.map(|_| ()))
    }

    fn statements(&mut self) -> Found<()> {
        let all = self.many(|r| match r.compound_statement()? {
            Some(()) => Ok(Some(())),
            None => r.simple_statements(),
        })?;
        Ok((!all.is_empty()).then_some(()))
    }

    fn simple_statements(&mut self) -> Found<()> {
        self.attempt(|r| {
            need!(r.simple_statement());
            while r
                .attempt(|r| {
                    need!(r.sign(";"));
                    r.simple_statement()
                })?
                .is_some()
            {}
            r.sign(";")?;
            need!(r.kind(TokenKind::Newline));
            Ok(Some(()))
        })
    }

    /// The statements of a header, on its line or indented beneath it.
    pub fn block(&mut self) -> Found<NodeRef> {
        self.remember(Rule::Block, |r| {
            let start = r.peek()?.start;
            let indented = r.attempt(|r| {
                need!(r.kind(TokenKind::Newline));
                need!(r.kind(TokenKind::Indent));
                need!(r.statements());
                need!(r.kind(TokenKind::Dedent));
                Ok(Some(()))
            })?;
            if indented.is_none() && r.simple_statements()?.is_none() {
                if r.suspicious && r.kind(TokenKind::Newline)?.is_some() && !r.sees_kind(TokenKind::Indent)? {
                    return Err(r.raise_indentation("expected an indented block"));
                }
                return Ok(None);
            }
            Ok(Some(r.node(Kind::Other, start, Vec::new())))
        })
    }

    fn simple_statement(&mut self) -> Found<NodeRef> {
        self.remember(Rule::SimpleStatement, |r| {
            let start = r.peek()?.start;
            need!(r.any_simple_statement());
            Ok(Some(r.node(Kind::Other, start, Vec::new())))
        })
    }

    fn any_simple_statement(&mut self) -> Found<()> {
        if let Some(()) = self.assignment()? {
            return Ok(Some(()));
        }
        if self.star_expressions()?.is_some() {
            return Ok(Some(()));
        }
        let token = self.peek()?;
        if token.kind != TokenKind::Keyword {
            return Ok(None);
        }
        let word = self.text_of(token);
        self.attempt(|r| match word {
            "return" => {
                r.mark += 1;
                r.star_expressions()?;
                Ok(Some(()))
            }
            "import" => {
                r.mark += 1;
                need!(r.listed(|r| {
                    need!(r.dotted_name());
                    r.alias()
                }));
                Ok(Some(()))
            }
            "from" => r.import_from(),
            "raise" => {
                r.mark += 1;
                if r.expression()?.is_some() {
                    r.attempt(|r| {
                        need!(r.sign("from"));
                        r.expression()
                    })?;
                }
                Ok(Some(()))
            }
            "pass" | "break" | "continue" => {
                r.mark += 1;
                Ok(Some(()))
            }
            "del" => r.delete(),
            "yield" => Ok(r.yield_expression()?.map(|_| ())),
            "assert" => {
                r.mark += 1;
                need!(r.expression());
                r.attempt(|r| {
                    need!(r.sign(","));
                    r.expression()
                })?;
                Ok(Some(()))
            }
            "global" | "nonlocal" => {
                r.mark += 1;
                Ok(r.listed(Self::name)?.map(|_| ()))
            }
            _ => Ok(None),
        })
    }

    fn assignment(&mut self) -> Found<()> {
        if let Some(()) = self.attempt(|r| {
            need!(r.name());
            r.annotation()
        })? {
            return Ok(Some(()));
        }
        if let Some(()) = self.attempt(|r| {
            let in_brackets = r.attempt(|r| {
                need!(r.sign("("));
                need!(r.single_target());
                r.sign(")")
            })?;
            if in_brackets.is_none() {
                need!(r.part_target());
            }
            r.annotation()
        })? {
            return Ok(Some(()));
        }
        if let Some(()) = self.attempt(|r| {
            if r.targets()?.is_empty() {
                return Ok(None);
            }
            need!(r.yield_or_expressions());
            Ok(if r.sees("=")? { None } else { Some(()) })
        })? {
            return Ok(Some(()));
        }
        let mut sure = false;
        let augmented = self.attempt(|r| {
            need!(r.single_target());
            need!(r.augmented());
            sure = true;
            need!(r.yield_or_expressions());
            Ok(Some(()))
        })?;
        if augmented.is_some() || sure || !self.suspicious {
            return Ok(augmented);
        }
        self.invalid_assignment()?;
        Ok(None)
    }

    fn annotation(&mut self) -> Found<()> {
        need!(self.sign(":"));
        need!(self.expression());
        self.attempt(|r| {
            need!(r.sign("="));
            r.yield_or_expressions()
        })?;
        Ok(Some(()))
    }

    /// `a = b =`, as often as it goes on.
    fn targets(&mut self) -> Result<Vec<Token>, Raised> {
        self.many(|r| {
            need!(r.star_targets());
            r.sign("=")
        })
    }

    fn augmented(&mut self) -> Found<Token> {
        for sign in AUGMENTED {
            if let Some(token) = self.sign(sign)? {
                return Ok(Some(token));
            }
        }
        Ok(None)
    }

    fn invalid_assignment(&mut self) -> Result<(), Raised> {
        if let Some((target, kind)) = self.attempt(|r| {
            let found = need!(r.unannotatable());
            need!(r.sign(":"));
            need!(r.expression());
            Ok(Some(found))
        })? {
            return Err(self.raise(target, format!("only single target (not {kind}) can be annotated")));
        }
        if let Some(target) = self.attempt(|r| {
            let first = need!(r.star_named_expression());
            need!(r.sign(","));
            r.many(Self::star_named_expressions)?;
            need!(r.sign(":"));
            need!(r.expression());
            Ok(Some(first))
        })? {
            return Err(self.raise(target.start, "only single target (not tuple) can be annotated"));
        }
        if let Some(target) = self.attempt(|r| {
            let target = need!(r.expression());
            need!(r.sign(":"));
            need!(r.expression());
            Ok(Some(target))
        })? {
            return Err(self.raise(target.start, "illegal target for annotation"));
        }
        if let Some(target) = self.attempt(|r| {
            r.targets()?;
            let target = need!(r.star_expressions());
            need!(r.sign("="));
            Ok(Some(target))
        })? {
            return self.check_target(&target, Purpose::Assign);
        }
        if let Some(target) = self.attempt(|r| {
            r.targets()?;
            let target = need!(r.yield_expression());
            need!(r.sign("="));
            Ok(Some(target))
        })? {
            return Err(self.raise(target.start, "assignment to yield expression not possible"));
        }
        if let Some(target) = self.attempt(|r| {
            let target = need!(r.star_expressions());
            need!(r.augmented());
            need!(r.yield_or_expressions());
            Ok(Some(target))
        })? {
            let kind = target.kind.spoken();
            let message = format!("'{kind}' is an illegal expression for augmented assignment");
            return Err(self.raise(target.start, message));
        }
        Ok(())
    }

    /// A list or tuple where only one target may be annotated: its place and what it is.
    fn unannotatable(&mut self) -> Found<(usize, &'static str)> {
        if let Some(list) = self.list()? {
            return Ok(Some((list.start, "list")));
        }
        if let Some(tuple) = self.tuple()? {
            return Ok(Some((tuple.start, "tuple")));
        }
        self.attempt(|r| {
            need!(r.sign("("));
            let inner = need!(r.unannotatable());
            need!(r.sign(")"));
            Ok(Some(inner))
        })
    }

    fn delete(&mut self) -> Found<()> {
        if let Some(()) = self.attempt(|r| {
            need!(r.sign("del"));
            need!(r.listed(Self::delete_target));
            r.sign(",")?;
            Ok(if r.sees(";")? || r.sees_kind(TokenKind::Newline)? { Some(()) } else { None })
        })? {
            return Ok(Some(()));
        }
        if self.suspicious {
            need!(self.sign("del"));
            let target = need!(self.star_expressions());
            self.check_target(&target, Purpose::Delete)?;
        }
        Ok(None)
    }

    fn dotted_name(&mut self) -> Found<()> {
        need!(self.name());
        while self
            .attempt(|r| {
                need!(r.sign("."));
                r.name()
            })?
            .is_some()
        {}
        Ok(Some(()))
    }

    fn alias(&mut self) -> Found<()> {
        self.attempt(|r| {
            need!(r.sign("as"));
            r.name()
        })?;
        Ok(Some(()))
    }

    fn import_from(&mut self) -> Found<()> {
        need!(self.sign("from"));
        let mut dots = 0;
        while self.sign(".")?.is_some() || self.sign("...")?.is_some() {
            dots += 1;
        }
        if self.attempt(Self::dotted_name)?.is_none() && dots == 0 {
            return Ok(None);
        }
        need!(self.sign("import"));
        if let Some(()) = self.attempt(|r| {
            need!(r.sign("("));
            need!(r.imported_names());
            r.sign(",")?;
            need!(r.sign(")"));
            Ok(Some(()))
        })? {
            return Ok(Some(()));
        }
        if let Some(()) = self.attempt(|r| {
            need!(r.imported_names());
            Ok(if r.sees(",")? { None } else { Some(()) })
        })? {
            return Ok(Some(()));
        }
        if self.sign("*")?.is_some() {
            return Ok(Some(()));
        }
        if self.suspicious
            && self
                .attempt(|r| {
                    need!(r.imported_names());
                    need!(r.sign(","));
                    r.kind(TokenKind::Newline)
                })?
                .is_some()
        {
            return Err(self.raise_last("trailing comma not allowed without surrounding parentheses"));
        }
        Ok(None)
    }

    fn imported_names(&mut self) -> Found<()> {
        need!(self.listed(|r| {
            need!(r.name());
            r.alias()
        }));
        Ok(Some(()))
    }
}
