//! The grammar of parameters, of functions and of lambdas, and what people get wrong in them.
//!
//! It must not know what a function is made of besides.

use super::node::{Kind, NodeRef};
use super::raised::{Found, Raised};
use super::reader::{Reader, need};
use super::tokens::Token;

/// Whose parameters they are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Owner {
    Function,
    Lambda,
}

impl Owner {
    fn end(self) -> &'static str {
        match self {
            Self::Function => ")",
            Self::Lambda => ":",
        }
    }
}

impl Reader<'_> {
    pub fn lambda(&mut self) -> Found<NodeRef> {
        self.attempt(|r| {
            let word = need!(r.sign("lambda"));
            r.parameters_of(Owner::Lambda)?;
            need!(r.sign(":"));
            need!(r.expression());
            Ok(Some(r.node(Kind::Lambda, word.start, Vec::new())))
        })
    }

    pub fn parameters(&mut self) -> Found<()> {
        self.parameters_of(Owner::Function)
    }

    fn parameters_of(&mut self, owner: Owner) -> Found<()> {
        if self.suspicious {
            self.invalid_parameters(owner)?;
        }
        let first = [Self::slash_without_defaults, Self::slash_with_defaults];
        for slash in first {
            if self.attempt(|r| slash(r, owner))?.is_some() {
                self.many(|r| r.plain(owner))?;
                self.many(|r| r.with_default(owner))?;
                self.star_etc(owner)?;
                return Ok(Some(()));
            }
        }
        let plain = self.many(|r| r.plain(owner))?;
        let defaults = self.many(|r| r.with_default(owner))?;
        let rest = self.star_etc(owner)?;
        Ok((!plain.is_empty() || !defaults.is_empty() || rest.is_some()).then_some(()))
    }

    fn slash_without_defaults(&mut self, owner: Owner) -> Found<()> {
        if self.many(|r| r.plain(owner))?.is_empty() {
            return Ok(None);
        }
        need!(self.sign("/"));
        self.parameter_ends(owner)
    }

    fn slash_with_defaults(&mut self, owner: Owner) -> Found<()> {
        self.many(|r| r.plain(owner))?;
        if self.many(|r| r.with_default(owner))?.is_empty() {
            return Ok(None);
        }
        need!(self.sign("/"));
        self.parameter_ends(owner)
    }

    /// A comma, which is taken, or the end, which is not.
    fn parameter_ends(&mut self, owner: Owner) -> Found<()> {
        if self.sign(",")?.is_some() || self.sees(owner.end())? { Ok(Some(())) } else { Ok(None) }
    }

    /// A name, with an annotation if it can have one.
    fn parameter(&mut self, owner: Owner) -> Found<Token> {
        let name = need!(self.name());
        if owner == Owner::Function {
            self.attempt(|r| {
                need!(r.sign(":"));
                r.expression()
            })?;
        }
        Ok(Some(name))
    }

    fn plain(&mut self, owner: Owner) -> Found<Token> {
        let name = need!(self.parameter(owner));
        need!(self.parameter_ends(owner));
        Ok(Some(name))
    }

    fn default(&mut self, owner: Owner) -> Found<()> {
        let value = self.attempt(|r| {
            need!(r.sign("="));
            r.expression()
        })?;
        if value.is_some() {
            return Ok(Some(()));
        }
        if self.suspicious
            && let Some(equal) = self.attempt(|r| r.sign("="))?
            && self.sees_any(&[owner.end(), ","])?
        {
            return Err(self.raise(equal.start, "expected default value expression"));
        }
        Ok(None)
    }

    fn with_default(&mut self, owner: Owner) -> Found<Token> {
        let name = need!(self.parameter(owner));
        need!(self.attempt(|r| r.default(owner)));
        need!(self.parameter_ends(owner));
        Ok(Some(name))
    }

    fn maybe_default(&mut self, owner: Owner) -> Found<Token> {
        let name = need!(self.parameter(owner));
        self.attempt(|r| r.default(owner))?;
        need!(self.parameter_ends(owner));
        Ok(Some(name))
    }

    fn star_etc(&mut self, owner: Owner) -> Found<()> {
        if self.suspicious {
            self.invalid_star_etc(owner)?;
        }
        if self
            .attempt(|r| {
                need!(r.sign("*"));
                need!(r.plain(owner));
                Ok(Some(()))
            })?
            .is_some()
        {
            return self.after_star(owner);
        }
        if owner == Owner::Function
            && self
                .attempt(|r| {
                    need!(r.sign("*"));
                    need!(r.name());
                    need!(r.sign(":"));
                    need!(r.star_expression());
                    r.parameter_ends(owner)
                })?
                .is_some()
        {
            return self.after_star(owner);
        }
        if self
            .attempt(|r| {
                need!(r.sign("*"));
                need!(r.sign(","));
                r.maybe_default(owner)
            })?
            .is_some()
        {
            return self.after_star(owner);
        }
        self.double_star(owner)
    }

    fn after_star(&mut self, owner: Owner) -> Found<()> {
        self.many(|r| r.maybe_default(owner))?;
        self.double_star(owner)?;
        Ok(Some(()))
    }

    fn double_star(&mut self, owner: Owner) -> Found<()> {
        if self.suspicious {
            self.invalid_double_star(owner)?;
        }
        self.attempt(|r| {
            need!(r.sign("**"));
            need!(r.plain(owner));
            Ok(Some(()))
        })
    }

    fn invalid_parameters(&mut self, owner: Owner) -> Result<(), Raised> {
        if let Some(parameter) = self.attempt(|r| {
            r.many(|r| r.plain(owner))?;
            if r.attempt(|r| r.slash_with_defaults(owner))?.is_none() && r.many(|r| r.with_default(owner))?.is_empty() {
                return Ok(None);
            }
            r.plain(owner)
        })? {
            return Err(self.raise(parameter.start, "non-default argument follows default argument"));
        }
        if let Some(open) = self.attempt(|r| {
            r.many(|r| r.plain(owner))?;
            let open = need!(r.sign("("));
            // Inside, the end of a lambda's parameters is no end.
            let names = match owner {
                Owner::Function => r.many(|r| r.plain(owner))?,
                Owner::Lambda => r.listed(|r| r.name())?.unwrap_or_default(),
            };
            if names.is_empty() {
                return Ok(None);
            }
            r.sign(",")?;
            need!(r.sign(")"));
            Ok(Some(open))
        })? {
            let whose = if owner == Owner::Function { "Function" } else { "Lambda expression" };
            return Err(self.raise(open.start, format!("{whose} parameters cannot be parenthesized")));
        }
        if let Some(slash) = self.attempt(|r| {
            let slash = need!(r.sign("/"));
            need!(r.sign(","));
            Ok(Some(slash))
        })? {
            return Err(self.raise(slash.start, "at least one argument must precede /"));
        }
        if let Some(slash) = self.attempt(|r| {
            need!(r.any_slash(owner));
            r.many(|r| r.maybe_default(owner))?;
            r.sign("/")
        })? {
            return Err(self.raise(slash.start, "/ may appear only once"));
        }
        if let Some(slash) = self.attempt(|r| {
            r.any_slash(owner)?;
            r.many(|r| r.maybe_default(owner))?;
            need!(r.sign("*"));
            need!(r.comma_or_plain(owner));
            r.many(|r| r.maybe_default(owner))?;
            r.sign("/")
        })? {
            return Err(self.raise(slash.start, "/ must be ahead of *"));
        }
        if let Some(star) = self.attempt(|r| {
            if r.many(|r| r.maybe_default(owner))?.is_empty() {
                return Ok(None);
            }
            need!(r.sign("/"));
            r.sign("*")
        })? {
            return Err(self.raise(star.start, "expected comma between / and *"));
        }
        Ok(())
    }

    fn any_slash(&mut self, owner: Owner) -> Found<()> {
        match self.attempt(|r| r.slash_without_defaults(owner))? {
            Some(()) => Ok(Some(())),
            None => self.attempt(|r| r.slash_with_defaults(owner)),
        }
    }

    fn comma_or_plain(&mut self, owner: Owner) -> Found<()> {
        if self.sign(",")?.is_some() {
            return Ok(Some(()));
        }
        Ok(self.attempt(|r| r.plain(owner))?.map(|_| ()))
    }

    fn invalid_star_etc(&mut self, owner: Owner) -> Result<(), Raised> {
        if let Some(star) = self.attempt(|r| {
            let star = need!(r.sign("*"));
            if r.sees(owner.end())? {
                r.mark += 1;
                return Ok(Some(star));
            }
            need!(r.sign(","));
            Ok(if r.sees_any(&[owner.end(), "**"])? { Some(star) } else { None })
        })? {
            let message = "named arguments must follow bare *";
            return Err(match owner {
                Owner::Function => self.raise(star.start, message),
                Owner::Lambda => self.raise_last(message),
            });
        }
        if let Some(equal) = self.attempt(|r| {
            need!(r.sign("*"));
            need!(r.parameter(owner));
            r.sign("=")
        })? {
            return Err(self.raise(equal.start, "var-positional argument cannot have default value"));
        }
        if let Some(star) = self.attempt(|r| {
            need!(r.sign("*"));
            need!(r.comma_or_plain(owner));
            r.many(|r| r.maybe_default(owner))?;
            let star = need!(r.sign("*"));
            need!(r.comma_or_plain(owner));
            Ok(Some(star))
        })? {
            return Err(self.raise(star.start, "* argument may appear only once"));
        }
        Ok(())
    }

    fn invalid_double_star(&mut self, owner: Owner) -> Result<(), Raised> {
        if let Some(equal) = self.attempt(|r| {
            need!(r.sign("**"));
            need!(r.parameter(owner));
            r.sign("=")
        })? {
            return Err(self.raise(equal.start, "var-keyword argument cannot have default value"));
        }
        if let Some(next) = self.attempt(|r| {
            need!(r.sign("**"));
            need!(r.parameter(owner));
            need!(r.sign(","));
            if let Some(next) = r.attempt(|r| r.parameter(owner))? {
                return Ok(Some(next));
            }
            for sign in ["*", "**", "/"] {
                if let Some(next) = r.sign(sign)? {
                    return Ok(Some(next));
                }
            }
            Ok(None)
        })? {
            return Err(self.raise(next.start, "arguments cannot follow var-keyword argument"));
        }
        Ok(())
    }
}
