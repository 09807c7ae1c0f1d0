//! The grammar of what stands in brackets: tuples, lists, sets, dictionaries, comprehensions; the arguments of calls; and
//! what people get wrong in them.
//!
//! It must not know statements.

use super::expressions::MEANT_EQUAL;
use super::node::{Kind, NodeRef, Purpose, unfit};
use super::raised::{Found, Raised};
use super::reader::{Reader, Rule, need};

const NEEDS_PARENTHESES: &str = "Generator expression must be parenthesized";

/// The arguments of a call as far as their faults tell.
struct Arguments {
    start: usize,
    /// Those without a name.
    positional: Vec<NodeRef>,
    /// Is there a `**mapping`?
    unpacks: bool,
}

/// A named or unpacked argument.
enum Named {
    Keyword,
    Starred(NodeRef),
    Unpacked,
}

impl Reader<'_> {
    pub fn parenthesized(&mut self) -> Found<NodeRef> {
        if let Some(found) = self.tuple()? {
            return Ok(Some(found));
        }
        if let Some(found) = self.group()? {
            return Ok(Some(found));
        }
        self.generator()
    }

    pub fn bracketed(&mut self) -> Found<NodeRef> {
        match self.list()? {
            Some(found) => Ok(Some(found)),
            None => self.comprehension("[", "]", Kind::ListComp, Self::named_expression),
        }
    }

    pub fn braced(&mut self) -> Found<NodeRef> {
        if let Some(found) = self.dict()? {
            return Ok(Some(found));
        }
        if let Some(found) = self.attempt(|r| {
            let open = need!(r.sign("{"));
            need!(r.star_named_expressions());
            need!(r.sign("}"));
            Ok(Some(r.node(Kind::Set, open.start, Vec::new())))
        })? {
            return Ok(Some(found));
        }
        if let Some(found) = self.dict_comprehension()? {
            return Ok(Some(found));
        }
        self.comprehension("{", "}", Kind::SetComp, Self::named_expression)
    }

    pub fn tuple(&mut self) -> Found<NodeRef> {
        self.attempt(|r| {
            let open = need!(r.sign("("));
            let items = r.attempt(|r| {
                let first = need!(r.star_named_expression());
                need!(r.sign(","));
                let mut items = vec![first];
                items.extend(r.star_named_expressions()?.unwrap_or_default());
                Ok(Some(items))
            })?;
            need!(r.sign(")"));
            Ok(Some(r.node(Kind::Tuple, open.start, items.unwrap_or_default())))
        })
    }

    fn group(&mut self) -> Found<NodeRef> {
        if let Some(inner) = self.attempt(|r| {
            need!(r.sign("("));
            let inner = match r.yield_expression()? {
                Some(found) => found,
                None => need!(r.named_expression()),
            };
            need!(r.sign(")"));
            Ok(Some(inner))
        })? {
            return Ok(Some(inner));
        }
        if !self.suspicious {
            return Ok(None);
        }
        if let Some(starred) = self.attempt(|r| {
            need!(r.sign("("));
            let starred = need!(r.starred_expression());
            need!(r.sign(")"));
            Ok(Some(starred))
        })? {
            return Err(self.raise(starred.start, "cannot use starred expression here"));
        }
        if let Some(stars) = self.attempt(|r| {
            need!(r.sign("("));
            let stars = need!(r.sign("**"));
            need!(r.expression());
            need!(r.sign(")"));
            Ok(Some(stars))
        })? {
            return Err(self.raise(stars.start, "cannot use double starred expression here"));
        }
        Ok(None)
    }

    pub fn generator(&mut self) -> Found<NodeRef> {
        self.comprehension("(", ")", Kind::Generator, |r| match r.assignment_expression()? {
            Some(found) => Ok(Some(found)),
            None => r.expression_unnamed(),
        })
    }

    pub fn list(&mut self) -> Found<NodeRef> {
        self.attempt(|r| {
            let open = need!(r.sign("["));
            let items = r.star_named_expressions()?.unwrap_or_default();
            need!(r.sign("]"));
            Ok(Some(r.node(Kind::List, open.start, items)))
        })
    }

    fn comprehension(
        &mut self,
        open: &str,
        close: &str,
        kind: Kind,
        element: impl Fn(&mut Self) -> Found<NodeRef>,
    ) -> Found<NodeRef> {
        let found = self.attempt(|r| {
            let bracket = need!(r.sign(open));
            need!(element(r));
            need!(r.for_if_clauses());
            need!(r.sign(close));
            Ok(Some(r.node(kind, bracket.start, Vec::new())))
        })?;
        if found.is_none() && self.suspicious {
            self.invalid_comprehension()?;
        }
        Ok(found)
    }

    fn invalid_comprehension(&mut self) -> Result<(), Raised> {
        if let Some(starred) = self.attempt(|r| {
            need!(r.open_bracket(&["[", "(", "{"]));
            let starred = need!(r.starred_expression());
            need!(r.for_if_clauses());
            Ok(Some(starred))
        })? {
            return Err(self.raise(starred.start, "iterable unpacking cannot be used in comprehension"));
        }
        for with_more in [true, false] {
            if let Some(first) = self.attempt(|r| {
                need!(r.open_bracket(&["[", "{"]));
                let first = need!(r.star_named_expression());
                need!(r.sign(","));
                if with_more {
                    need!(r.star_named_expressions());
                }
                need!(r.for_if_clauses());
                Ok(Some(first))
            })? {
                let message = "did you forget parentheses around the comprehension target?";
                return Err(self.raise(first.start, message));
            }
        }
        Ok(())
    }

    fn open_bracket(&mut self, among: &[&str]) -> Found<()> {
        for bracket in among {
            if self.sign(bracket)?.is_some() {
                return Ok(Some(()));
            }
        }
        Ok(None)
    }

    pub fn for_if_clauses(&mut self) -> Found<()> {
        let clauses = self.many(Self::for_if_clause)?;
        Ok((!clauses.is_empty()).then_some(()))
    }

    fn for_if_clause(&mut self) -> Found<()> {
        for is_async in [true, false] {
            let mark = self.mark;
            // Behind `in` there is no other way to read it.
            let mut sure = false;
            let found = self.attempt(|r| {
                if is_async {
                    need!(r.sign("async"));
                }
                need!(r.sign("for"));
                need!(r.star_targets());
                need!(r.sign("in"));
                sure = true;
                need!(r.disjunction());
                r.many(|r| {
                    need!(r.sign("if"));
                    r.disjunction()
                })?;
                Ok(Some(()))
            })?;
            if found.is_some() || sure {
                return Ok(found);
            }
            self.mark = mark;
        }
        self.invalid_for_target()
    }

    pub fn invalid_for_target<T>(&mut self) -> Found<T> {
        if !self.suspicious {
            return Ok(None);
        }
        self.attempt(|r| {
            r.sign("async")?;
            need!(r.sign("for"));
            let target = need!(r.star_expressions());
            r.check_target(&target, Purpose::For)?;
            Ok(None)
        })
    }

    /// Raises a fault at the part of a target that cannot be one.
    pub fn check_target(&self, target: &NodeRef, purpose: Purpose) -> Result<(), Raised> {
        let Some(part) = unfit(target, purpose) else { return Ok(()) };
        let verb = if purpose == Purpose::Delete { "delete" } else { "assign to" };
        Err(self.raise(part.start, format!("cannot {verb} {}", part.kind.spoken())))
    }

    fn dict(&mut self) -> Found<NodeRef> {
        let found = self.attempt(|r| {
            let open = need!(r.sign("{"));
            if r.listed(Self::pair)?.is_some() {
                r.sign(",")?;
            }
            need!(r.sign("}"));
            Ok(Some(r.node(Kind::Dict, open.start, Vec::new())))
        })?;
        if found.is_some() {
            return Ok(found);
        }
        // This rule is in force in the first reading already, unlike all others of its kind.
        self.attempt(|r| {
            need!(r.sign("{"));
            r.invalid_pairs()
        })
    }

    /// `key: value` or `**mapping`.
    fn pair(&mut self) -> Found<()> {
        let unpacked = self.attempt(|r| {
            need!(r.sign("**"));
            need!(r.bitwise_or());
            Ok(Some(()))
        })?;
        match unpacked {
            Some(()) => Ok(Some(())),
            None => self.key_and_value(),
        }
    }

    fn key_and_value(&mut self) -> Found<()> {
        self.attempt(|r| {
            need!(r.expression());
            need!(r.sign(":"));
            need!(r.expression());
            Ok(Some(()))
        })
    }

    fn invalid_pairs(&mut self) -> Found<NodeRef> {
        self.attempt(|r| {
            need!(r.listed(Self::pair));
            need!(r.sign(","));
            let mark = r.mark;
            if let Some(key) = r.attempt(|r| {
                let key = need!(r.expression());
                Ok(if r.sees(":")? { None } else { Some(key) })
            })? {
                let last = r.text.get(..key.end).and_then(|text| text.char_indices().next_back());
                return Err(r.raise(last.map_or(key.start, |(at, _)| at), "':' expected after dictionary key"));
            }
            r.mark = mark;
            r.invalid_value()
        })?;
        self.invalid_value()
    }

    fn invalid_value(&mut self) -> Found<NodeRef> {
        if let Some(star) = self.attempt(|r| {
            need!(r.expression());
            need!(r.sign(":"));
            let star = need!(r.sign("*"));
            need!(r.bitwise_or());
            Ok(Some(star))
        })? {
            return Err(self.raise(star.start, "cannot use a starred expression in a dictionary value"));
        }
        if let Some(colon) = self.attempt(|r| {
            need!(r.expression());
            let colon = need!(r.sign(":"));
            Ok(if r.sees_any(&["}", ","])? { Some(colon) } else { None })
        })? {
            return Err(self.raise(colon.start, "expression expected after dictionary key and ':'"));
        }
        Ok(None)
    }

    fn dict_comprehension(&mut self) -> Found<NodeRef> {
        let found = self.attempt(|r| {
            let open = need!(r.sign("{"));
            need!(r.key_and_value());
            need!(r.for_if_clauses());
            need!(r.sign("}"));
            Ok(Some(r.node(Kind::DictComp, open.start, Vec::new())))
        })?;
        if found.is_some() || !self.suspicious {
            return Ok(found);
        }
        match self.attempt(|r| {
            need!(r.sign("{"));
            let stars = need!(r.sign("**"));
            need!(r.bitwise_or());
            need!(r.for_if_clauses());
            need!(r.sign("}"));
            Ok(Some(stars))
        })? {
            Some(stars) => Err(self.raise(stars.start, "dict unpacking cannot be used in dict comprehension")),
            None => Ok(None),
        }
    }

    pub fn arguments(&mut self) -> Found<NodeRef> {
        self.remember(Rule::Arguments, |r| {
            if let Some(found) = r.attempt(|r| {
                let found = need!(r.args());
                r.sign(",")?;
                Ok(if r.sees(")")? { Some(r.node(Kind::Call, found.start, found.positional)) } else { None })
            })? {
                return Ok(Some(found));
            }
            if r.suspicious { r.attempt(Self::invalid_arguments) } else { Ok(None) }
        })
    }

    fn args(&mut self) -> Found<Arguments> {
        let positional = self.attempt(|r| {
            let start = r.peek()?.start;
            let mut positional = need!(r.listed(Self::positional));
            let mut unpacks = false;
            if let Some(named) = r.attempt(|r| {
                need!(r.sign(","));
                r.named_arguments()
            })? {
                unpacks = take_named(&mut positional, named);
            }
            Ok(Some(Arguments { start, positional, unpacks }))
        })?;
        if positional.is_some() {
            return Ok(positional);
        }
        let start = self.peek()?.start;
        let named = need!(self.named_arguments());
        let mut positional = Vec::new();
        let unpacks = take_named(&mut positional, named);
        Ok(Some(Arguments { start, positional, unpacks }))
    }

    fn positional(&mut self) -> Found<NodeRef> {
        if let Some(starred) = self.starred_expression()? {
            return Ok(Some(starred));
        }
        self.attempt(|r| {
            let value = match r.assignment_expression()? {
                Some(found) => found,
                None => need!(r.expression_unnamed()),
            };
            Ok(if r.sees("=")? { None } else { Some(value) })
        })
    }

    fn named_arguments(&mut self) -> Found<Vec<Named>> {
        if let Some(both) = self.attempt(|r| {
            let mut all = need!(r.listed(Self::keyword_or_starred));
            need!(r.sign(","));
            all.extend(need!(r.listed(Self::keyword_or_unpacked)));
            Ok(Some(all))
        })? {
            return Ok(Some(both));
        }
        match self.listed(Self::keyword_or_starred)? {
            Some(found) => Ok(Some(found)),
            None => self.listed(Self::keyword_or_unpacked),
        }
    }

    fn keyword_or_starred(&mut self) -> Found<Named> {
        self.invalid_keyword()?;
        match self.keyword()? {
            Some(found) => Ok(Some(found)),
            None => Ok(self.starred_expression()?.map(Named::Starred)),
        }
    }

    fn keyword_or_unpacked(&mut self) -> Found<Named> {
        self.invalid_keyword()?;
        if let Some(found) = self.keyword()? {
            return Ok(Some(found));
        }
        self.attempt(|r| {
            need!(r.sign("**"));
            need!(r.expression());
            Ok(Some(Named::Unpacked))
        })
    }

    fn keyword(&mut self) -> Found<Named> {
        self.attempt(|r| {
            need!(r.name());
            need!(r.sign("="));
            need!(r.expression());
            Ok(Some(Named::Keyword))
        })
    }

    fn invalid_keyword(&mut self) -> Result<(), Raised> {
        if !self.suspicious {
            return Ok(());
        }
        let mark = self.mark;
        for word in ["True", "False", "None"] {
            if let Some(token) = self.sign(word)?
                && self.sign("=")?.is_some()
            {
                return Err(self.raise(token.start, format!("cannot assign to {word}")));
            }
            self.mark = mark;
        }
        self.check_keyword_generator()?;
        let is_keyword = self.ahead(|r| {
            need!(r.name());
            r.sign("=")
        })?;
        if is_keyword {
            return Ok(());
        }
        if let Some(target) = self.attempt(|r| {
            let target = need!(r.expression());
            need!(r.sign("="));
            Ok(Some(target))
        })? {
            let message = "expression cannot contain assignment, perhaps you meant \"==\"?";
            return Err(self.raise(target.start, message));
        }
        Ok(())
    }

    /// `f(a=b for b in c)`.
    fn check_keyword_generator(&mut self) -> Result<(), Raised> {
        match self.attempt(|r| {
            let name = need!(r.name());
            need!(r.sign("="));
            need!(r.expression());
            need!(r.for_if_clauses());
            Ok(Some(name))
        })? {
            Some(name) => Err(self.raise(name.start, MEANT_EQUAL)),
            None => Ok(()),
        }
    }

    fn invalid_arguments(&mut self) -> Found<NodeRef> {
        if let Some(star) = self.attempt(|r| {
            let behind_positional = r.attempt(|r| {
                need!(r.listed(Self::positional));
                need!(r.sign(","));
                r.named_arguments()
            })?;
            if behind_positional.is_none() {
                need!(r.named_arguments());
            }
            need!(r.sign(","));
            r.sign("*")
        })? {
            let message = "iterable argument unpacking follows keyword argument unpacking";
            return Err(self.raise(star.start, message));
        }
        if let Some(element) = self.attempt(|r| {
            let element = need!(r.expression());
            need!(r.for_if_clauses());
            need!(r.sign(","));
            if r.args()?.is_none() {
                r.attempt(Self::bare_generator)?;
            }
            Ok(Some(element))
        })? {
            return Err(self.raise(element.start, NEEDS_PARENTHESES));
        }
        self.check_keyword_generator()?;
        if let Some(args) = self.attempt(|r| {
            let args = need!(r.args());
            need!(r.for_if_clauses());
            Ok(Some(args))
        })? {
            // One alone may stand in the parentheses of the call.
            return match args.positional.last() {
                Some(last) if args.positional.len() > 1 => Err(self.raise(last.start, NEEDS_PARENTHESES)),
                _ => Ok(None),
            };
        }
        if let Some(element) = self.attempt(|r| {
            need!(r.args());
            need!(r.sign(","));
            r.bare_generator()
        })? {
            return Err(self.raise(element.start, NEEDS_PARENTHESES));
        }
        if let Some(args) = self.attempt(|r| {
            let args = need!(r.args());
            need!(r.sign(","));
            need!(r.args());
            Ok(Some(args))
        })? {
            let behind = if args.unpacks { " unpacking" } else { "" };
            return Err(self.raise_last(format!("positional argument follows keyword argument{behind}")));
        }
        Ok(None)
    }

    fn bare_generator(&mut self) -> Found<NodeRef> {
        let element = need!(self.expression());
        need!(self.for_if_clauses());
        Ok(Some(element))
    }
}

/// Adds the starred ones; tells whether a mapping is unpacked.
fn take_named(positional: &mut Vec<NodeRef>, named: Vec<Named>) -> bool {
    let mut unpacks = false;
    for argument in named {
        match argument {
            Named::Keyword => {}
            Named::Starred(node) => positional.push(node),
            Named::Unpacked => unpacks = true,
        }
    }
    unpacks
}
