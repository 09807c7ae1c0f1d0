//! The grammar of the patterns behind `case`, and what people get wrong in them.
//!
//! It must not know which values fit a pattern.

use super::node::{Kind, NodeRef};
use super::raised::{Found, Raised};
use super::reader::{Reader, Rule, need};
use super::tokens::{Kind as TokenKind, Token};

impl Reader<'_> {
    pub fn patterns(&mut self) -> Found<()> {
        match self.attempt(Self::open_sequence)? {
            Some(()) => Ok(Some(())),
            None => Ok(self.pattern()?.map(|_| ())),
        }
    }

    /// Gives where the pattern begins.
    fn pattern(&mut self) -> Found<usize> {
        let start = self.peek()?.start;
        let named = self.attempt(|r| {
            need!(r.or_pattern());
            need!(r.sign("as"));
            r.capture()
        })?;
        if named.is_some() {
            return Ok(Some(start));
        }
        if self.suspicious {
            self.invalid_as()?;
        }
        Ok(self.or_pattern()?.map(|()| start))
    }

    fn invalid_as(&mut self) -> Result<(), Raised> {
        if let Some(name) = self.attempt(|r| {
            need!(r.or_pattern());
            need!(r.sign("as"));
            r.soft("_")
        })? {
            return Err(self.raise(name.start, "cannot use '_' as a target"));
        }
        if let Some(target) = self.attempt(|r| {
            need!(r.or_pattern());
            need!(r.sign("as"));
            if r.sees_kind(TokenKind::Name)? {
                return Ok(None);
            }
            r.expression()
        })? {
            return Err(self.raise(target.start, "invalid pattern target"));
        }
        Ok(())
    }

    fn or_pattern(&mut self) -> Found<()> {
        self.attempt(|r| {
            need!(r.closed());
            while r
                .attempt(|r| {
                    need!(r.sign("|"));
                    r.closed()
                })?
                .is_some()
            {}
            Ok(Some(()))
        })
    }

    fn closed(&mut self) -> Found<NodeRef> {
        self.remember(Rule::ClosedPattern, |r| {
            let start = r.peek()?.start;
            let rules: &[fn(&mut Self) -> Found<()>] = &[
                Self::literal,
                |r| Ok(r.capture()?.map(|_| ())),
                |r| Ok(r.soft("_")?.map(|_| ())),
                Self::value,
                Self::group_pattern,
                Self::sequence,
                Self::mapping,
                Self::class_pattern,
            ];
            for rule in rules {
                if r.attempt(rule)?.is_some() {
                    return Ok(Some(r.node(Kind::Other, start, Vec::new())));
                }
            }
            Ok(None)
        })
    }

    fn literal(&mut self) -> Found<()> {
        let number = self.attempt(|r| {
            need!(r.signed_number());
            Ok(if r.sees_any(&["+", "-"])? { None } else { Some(()) })
        })?;
        if number.is_some() {
            return Ok(Some(()));
        }
        let complex = self.attempt(|r| {
            need!(r.signed_number());
            if r.sign("+")?.is_none() {
                need!(r.sign("-"));
            }
            let imaginary = need!(r.kind(TokenKind::Number));
            if !r.is_imaginary(imaginary) {
                return Err(r.raise(imaginary.start, "imaginary number required in complex literal"));
            }
            Ok(Some(()))
        })?;
        if complex.is_some() {
            return Ok(Some(()));
        }
        if self.sees_kind(TokenKind::Text)? {
            return Ok(self.strings()?.map(|_| ()));
        }
        for word in ["None", "True", "False"] {
            if self.sign(word)?.is_some() {
                return Ok(Some(()));
            }
        }
        Ok(None)
    }

    fn is_imaginary(&self, token: Token) -> bool {
        self.text_of(token).ends_with(['j', 'J'])
    }

    fn signed_number(&mut self) -> Found<Token> {
        self.attempt(|r| {
            r.sign("-")?;
            let number = need!(r.kind(TokenKind::Number));
            // Before a sign stands the real part of a complex number.
            if r.is_imaginary(number) && r.sees_any(&["+", "-"])? {
                return Err(r.raise(number.start, "real number required in complex literal"));
            }
            Ok(Some(number))
        })
    }

    fn capture(&mut self) -> Found<Token> {
        self.attempt(|r| {
            if r.soft("_")?.is_some() {
                return Ok(None);
            }
            let name = need!(r.name());
            Ok(if r.sees_any(&[".", "(", "="])? { None } else { Some(name) })
        })
    }

    fn value(&mut self) -> Found<()> {
        need!(self.dotted());
        Ok(if self.sees_any(&[".", "(", "="])? { None } else { Some(()) })
    }

    /// `a.b`, with at least one dot.
    fn dotted(&mut self) -> Found<()> {
        self.attempt(|r| {
            need!(r.name());
            let parts = r.many(|r| {
                need!(r.sign("."));
                r.name()
            })?;
            Ok((!parts.is_empty()).then_some(()))
        })
    }

    fn name_or_dotted(&mut self) -> Found<()> {
        match self.dotted()? {
            Some(()) => Ok(Some(())),
            None => Ok(self.name()?.map(|_| ())),
        }
    }

    fn group_pattern(&mut self) -> Found<()> {
        need!(self.sign("("));
        need!(self.pattern());
        need!(self.sign(")"));
        Ok(Some(()))
    }

    fn sequence(&mut self) -> Found<()> {
        if self.sign("[")?.is_some() {
            self.maybe_sequence()?;
            return Ok(self.sign("]")?.map(|_| ()));
        }
        need!(self.sign("("));
        self.attempt(Self::open_sequence)?;
        Ok(self.sign(")")?.map(|_| ()))
    }

    fn open_sequence(&mut self) -> Found<()> {
        need!(self.maybe_star());
        need!(self.sign(","));
        self.maybe_sequence()?;
        Ok(Some(()))
    }

    fn maybe_sequence(&mut self) -> Found<()> {
        need!(self.listed(Self::maybe_star));
        self.sign(",")?;
        Ok(Some(()))
    }

    fn maybe_star(&mut self) -> Found<()> {
        let star = self.attempt(|r| {
            need!(r.sign("*"));
            match r.capture()? {
                Some(name) => Ok(Some(name)),
                None => r.soft("_"),
            }
        })?;
        match star {
            Some(_) => Ok(Some(())),
            None => Ok(self.pattern()?.map(|_| ())),
        }
    }

    fn mapping(&mut self) -> Found<()> {
        need!(self.sign("{"));
        if self.listed(Self::item)?.is_some() {
            self.attempt(|r| {
                need!(r.sign(","));
                r.rest_of_mapping()
            })?;
        } else {
            self.rest_of_mapping()?;
        }
        self.sign(",")?;
        Ok(self.sign("}")?.map(|_| ()))
    }

    fn rest_of_mapping(&mut self) -> Found<Token> {
        self.attempt(|r| {
            need!(r.sign("**"));
            r.capture()
        })
    }

    fn item(&mut self) -> Found<()> {
        if self.attempt(Self::literal)?.is_none() {
            need!(self.dotted());
        }
        need!(self.sign(":"));
        Ok(self.pattern()?.map(|_| ()))
    }

    fn class_pattern(&mut self) -> Found<()> {
        let found = self.attempt(|r| {
            need!(r.name_or_dotted());
            need!(r.sign("("));
            if r.listed(Self::pattern)?.is_some() {
                r.attempt(|r| {
                    need!(r.sign(","));
                    r.keyword_patterns()
                })?;
                r.sign(",")?;
            } else if r.keyword_patterns()?.is_some() {
                r.sign(",")?;
            }
            Ok(r.sign(")")?.map(|_| ()))
        })?;
        if found.is_none() && self.suspicious {
            let misplaced = self.attempt(|r| {
                need!(r.name_or_dotted());
                need!(r.sign("("));
                r.attempt(|r| {
                    need!(r.listed(Self::pattern));
                    r.sign(",")
                })?;
                need!(r.keyword_patterns());
                need!(r.sign(","));
                r.listed(Self::pattern)
            })?;
            if let Some(first) = misplaced.and_then(|all| all.first().copied()) {
                return Err(self.raise(first, "positional patterns follow keyword patterns"));
            }
        }
        Ok(found)
    }

    fn keyword_patterns(&mut self) -> Found<Vec<usize>> {
        self.listed(|r| {
            need!(r.name());
            need!(r.sign("="));
            r.pattern()
        })
    }
}
