//! The grammar of expressions, without calls, displays and lambdas, and what people get wrong in them.
//!
//! It must not know statements.

use super::node::{Kind, NodeRef};
use super::raised::Found;
use super::reader::{Reader, Rule, need};
use super::tokens::{Kind as TokenKind, Token};

/// The binary operators that bind more closely than comparisons, the loosest first.
const BINARY: &[&[&str]] = &[&["|"], &["^"], &["&"], &["<<", ">>"], &["+", "-"], &["*", "/", "//", "%", "@"]];

impl Reader<'_> {
    /// `a, b`: one expression or a tuple of them.
    pub fn tuple_of(&mut self, element: impl Fn(&mut Self) -> Found<NodeRef>) -> Found<NodeRef> {
        let start = self.peek()?.start;
        let first = need!(element(self));
        let mut items = vec![first];
        let is_tuple = self.sees(",")?;
        items.extend(self.many(|r| {
            need!(r.sign(","));
            element(r)
        })?);
        self.sign(",")?;
        if is_tuple {
            return Ok(Some(self.node(Kind::Tuple, start, items)));
        }
        Ok(items.pop())
    }

    pub fn expressions(&mut self) -> Found<NodeRef> {
        self.tuple_of(Self::expression)
    }

    pub fn star_expressions(&mut self) -> Found<NodeRef> {
        self.tuple_of(Self::star_expression)
    }

    pub fn star_expression(&mut self) -> Found<NodeRef> {
        self.remember(Rule::StarExpression, |r| match r.starred(Self::bitwise_or)? {
            Some(starred) => Ok(Some(starred)),
            None => r.expression(),
        })
    }

    fn starred(&mut self, of: impl Fn(&mut Self) -> Found<NodeRef>) -> Found<NodeRef> {
        self.attempt(|r| {
            let star = need!(r.sign("*"));
            let value = need!(of(r));
            Ok(Some(r.node(Kind::Starred, star.start, vec![value])))
        })
    }

    pub fn starred_expression(&mut self) -> Found<NodeRef> {
        self.starred(Self::expression)
    }

    pub fn star_named_expression(&mut self) -> Found<NodeRef> {
        match self.starred(Self::bitwise_or)? {
            Some(starred) => Ok(Some(starred)),
            None => self.named_expression(),
        }
    }

    /// With a comma behind the last, if it has one.
    pub fn star_named_expressions(&mut self) -> Found<Vec<NodeRef>> {
        let all = need!(self.listed(Self::star_named_expression));
        self.sign(",")?;
        Ok(Some(all))
    }

    pub fn assignment_expression(&mut self) -> Found<NodeRef> {
        self.attempt(|r| {
            let name = need!(r.name());
            need!(r.sign(":="));
            need!(r.expression());
            Ok(Some(r.node(Kind::Named, name.start, Vec::new())))
        })
    }

    pub fn named_expression(&mut self) -> Found<NodeRef> {
        let mark = self.mark;
        if let Some(named) = self.assignment_expression()? {
            return Ok(Some(named));
        }
        if self.suspicious {
            self.invalid_named_expression()?;
            self.mark = mark;
        }
        self.expression_unnamed()
    }

    /// An expression that is not followed by `:=`.
    pub fn expression_unnamed(&mut self) -> Found<NodeRef> {
        self.attempt(|r| {
            let found = need!(r.expression());
            Ok(if r.sees(":=")? { None } else { Some(found) })
        })
    }

    fn invalid_named_expression(&mut self) -> Found<NodeRef> {
        self.remember(Rule::InvalidNamed, |r| {
            let before = r.mark;
            if let Some(target) = r.attempt(|r| {
                let target = need!(r.expression());
                need!(r.sign(":="));
                need!(r.expression());
                Ok(Some(target))
            })? {
                let kind = target.kind.spoken();
                return Err(r.raise(target.start, format!("cannot use assignment expressions with {kind}")));
            }
            if let Some(name) = r.attempt(|r| {
                let name = need!(r.name());
                need!(r.sign("="));
                need!(r.bitwise_or());
                Ok(if r.sees_any(&["=", ":="])? { None } else { Some(name) })
            })? {
                return Err(r.raise(name.start, MEANT_EQUAL));
            }
            r.mark = before;
            let is_literal = r.ahead(Self::list)?
                || r.ahead(Self::tuple)?
                || r.ahead(Self::generator)?
                || r.sees_any(&["True", "None", "False"])?;
            if is_literal {
                return Ok(None);
            }
            if let Some(target) = r.attempt(|r| {
                let target = need!(r.bitwise_or());
                need!(r.sign("="));
                need!(r.bitwise_or());
                Ok(if r.sees_any(&["=", ":="])? { None } else { Some(target) })
            })? {
                let kind = target.kind.spoken();
                let message = format!("cannot assign to {kind} here. Maybe you meant '==' instead of '='?");
                return Err(r.raise(target.start, message));
            }
            Ok(None)
        })
    }

    pub fn expression(&mut self) -> Found<NodeRef> {
        self.remember(Rule::Expression, |r| {
            if r.suspicious {
                let mark = r.mark;
                r.invalid_expression()?;
                r.mark = mark;
                r.invalid_legacy_expression()?;
                r.mark = mark;
            }
            r.any_expression()
        })
    }

    fn any_expression(&mut self) -> Found<NodeRef> {
        if let Some(conditional) = self.attempt(|r| {
            let start = r.peek()?.start;
            need!(r.disjunction());
            need!(r.sign("if"));
            need!(r.disjunction());
            need!(r.sign("else"));
            need!(r.expression());
            Ok(Some(r.node(Kind::Conditional, start, Vec::new())))
        })? {
            return Ok(Some(conditional));
        }
        match self.disjunction()? {
            Some(found) => Ok(Some(found)),
            None => self.lambda(),
        }
    }

    fn invalid_expression(&mut self) -> Found<()> {
        let mark = self.mark;
        // A name before a string may be a prefix that there is not.
        let is_word = self.ahead(|r| {
            need!(r.name());
            r.kind(TokenKind::Text)
        })? || self.ahead(|r| {
            let name = need!(r.name());
            // CPython compares only as many letters as the name has.
            let text = r.text_of(name);
            Ok(["_", "case", "match"].iter().any(|word| word.starts_with(text)).then_some(()))
        })?;
        if !is_word
            && let Some(first) = self.disjunction()?
            && self.unsuspicious_expression()?.is_some()
        {
            let nested = self.previous().is_some_and(|token| token.level > 0);
            if self.legacy(&first).is_none() && nested {
                return Err(self.raise(first.start, "invalid syntax. Perhaps you forgot a comma?"));
            }
            return Ok(None);
        }
        self.mark = mark;
        let body = need!(self.disjunction());
        need!(self.sign("if"));
        need!(self.disjunction());
        if self.sees_any(&["else", ":"])? {
            return Ok(None);
        }
        Err(self.raise(body.start, "expected 'else' after 'if' expression"))
    }

    fn unsuspicious_expression(&mut self) -> Found<NodeRef> {
        self.suspicious = false;
        let found = self.attempt(Self::any_expression);
        self.suspicious = true;
        found
    }

    /// A statement of Python 2 that is a function now.
    fn legacy(&self, node: &NodeRef) -> Option<&'static str> {
        let name = self.text.get(node.start..node.end).filter(|_| node.kind == Kind::Name)?;
        ["print", "exec"].into_iter().find(|legacy| *legacy == name)
    }

    fn invalid_legacy_expression(&mut self) -> Found<()> {
        let name = need!(self.name());
        if self.sees("(")? {
            return Ok(None);
        }
        need!(self.star_expressions());
        match self.text_of(name) {
            word @ ("print" | "exec") => {
                let message = format!("Missing parentheses in call to '{word}'. Did you mean {word}(...)?");
                Err(self.raise(name.start, message))
            }
            _ => Ok(None),
        }
    }

    pub fn disjunction(&mut self) -> Found<NodeRef> {
        self.remember(Rule::Disjunction, |r| r.joined("or", Self::conjunction))
    }

    fn conjunction(&mut self) -> Found<NodeRef> {
        self.remember(Rule::Conjunction, |r| r.joined("and", Self::inversion))
    }

    fn joined(&mut self, word: &str, operand: impl Fn(&mut Self) -> Found<NodeRef>) -> Found<NodeRef> {
        let start = self.peek()?.start;
        let first = need!(operand(self));
        let more = self.many(|r| {
            need!(r.sign(word));
            operand(r)
        })?;
        if more.is_empty() {
            return Ok(Some(first));
        }
        Ok(Some(self.node(Kind::Operation, start, Vec::new())))
    }

    fn inversion(&mut self) -> Found<NodeRef> {
        self.remember(Rule::Inversion, |r| {
            if let Some(inverted) = r.prefixed("not", Self::inversion)? {
                return Ok(Some(inverted));
            }
            r.comparison()
        })
    }

    fn prefixed(&mut self, sign: &str, operand: impl Fn(&mut Self) -> Found<NodeRef>) -> Found<NodeRef> {
        self.attempt(|r| {
            let sign = need!(r.sign(sign));
            need!(operand(r));
            Ok(Some(r.node(Kind::Operation, sign.start, Vec::new())))
        })
    }

    fn comparison(&mut self) -> Found<NodeRef> {
        let start = self.peek()?.start;
        let left = need!(self.bitwise_or());
        let mut kind = None;
        while let Some(is_in) = self.attempt(|r| {
            let is_in = need!(r.comparison_sign());
            need!(r.bitwise_or());
            Ok(Some(is_in))
        })? {
            kind = kind.or(Some(if is_in { Kind::ComparisonIn } else { Kind::Comparison }));
        }
        Ok(Some(match kind {
            Some(kind) => self.node(kind, start, vec![left]),
            None => left,
        }))
    }

    /// Tells whether it is `in`.
    fn comparison_sign(&mut self) -> Found<bool> {
        for sign in ["==", "!=", "<=", "<", ">=", ">"] {
            if self.sign(sign)?.is_some() {
                return Ok(Some(false));
            }
        }
        if self.sign("not")?.is_some() {
            return Ok(self.sign("in")?.map(|_| false));
        }
        if self.sign("in")?.is_some() {
            return Ok(Some(true));
        }
        need!(self.sign("is"));
        self.sign("not")?;
        Ok(Some(false))
    }

    pub fn bitwise_or(&mut self) -> Found<NodeRef> {
        self.remember(Rule::BitwiseOr, |r| r.binary(0))
    }

    /// Operators that bind at least as closely as those of a row of [`BINARY`].
    fn binary(&mut self, loosest: usize) -> Found<NodeRef> {
        let start = self.peek()?.start;
        let mut left = need!(self.factor());
        // Closest first: what has been read is the left side of the looser ones.
        for level in (loosest..BINARY.len()).rev() {
            let signs = BINARY.get(level).copied().unwrap_or_default();
            while self
                .attempt(|r| {
                    let token = r.peek()?;
                    if token.kind != TokenKind::Sign || !signs.contains(&r.text_of(token)) {
                        return Ok(None);
                    }
                    r.mark += 1;
                    r.binary(level + 1)
                })?
                .is_some()
            {
                left = self.node(Kind::Operation, start, Vec::new());
            }
        }
        Ok(Some(left))
    }

    fn factor(&mut self) -> Found<NodeRef> {
        self.remember(Rule::Factor, |r| {
            for sign in ["+", "-", "~"] {
                if let Some(found) = r.prefixed(sign, Self::factor)? {
                    return Ok(Some(found));
                }
            }
            let start = r.peek()?.start;
            let base = need!(r.await_primary());
            let power = r.attempt(|r| {
                need!(r.sign("**"));
                r.factor()
            })?;
            Ok(Some(match power {
                Some(_) => r.node(Kind::Operation, start, Vec::new()),
                None => base,
            }))
        })
    }

    fn await_primary(&mut self) -> Found<NodeRef> {
        self.remember(Rule::AwaitPrimary, |r| {
            let awaited = r.attempt(|r| {
                let word = need!(r.sign("await"));
                need!(r.primary());
                Ok(Some(r.node(Kind::Await, word.start, Vec::new())))
            })?;
            match awaited {
                Some(found) => Ok(Some(found)),
                None => r.primary(),
            }
        })
    }

    fn primary(&mut self) -> Found<NodeRef> {
        self.remember(Rule::Primary, |r| {
            let start = r.peek()?.start;
            let mut found = need!(r.atom());
            while let Some(kind) = r.attempt(Self::suffix)? {
                found = r.node(kind, start, Vec::new());
            }
            Ok(Some(found))
        })
    }

    /// What may follow an operand directly.
    fn suffix(&mut self) -> Found<Kind> {
        if self.sees(".")? {
            return self.attribute_suffix();
        }
        if self.generator()?.is_some() {
            return Ok(Some(Kind::Call));
        }
        if let Some(kind) = self.attempt(|r| {
            need!(r.sign("("));
            r.arguments()?;
            need!(r.sign(")"));
            Ok(Some(Kind::Call))
        })? {
            return Ok(Some(kind));
        }
        self.subscript_suffix()
    }

    fn attribute_suffix(&mut self) -> Found<Kind> {
        self.attempt(|r| {
            need!(r.sign("."));
            need!(r.name());
            Ok(Some(Kind::Attribute))
        })
    }

    fn subscript_suffix(&mut self) -> Found<Kind> {
        self.attempt(|r| {
            need!(r.sign("["));
            need!(r.slices());
            need!(r.sign("]"));
            Ok(Some(Kind::Subscript))
        })
    }

    fn slices(&mut self) -> Found<()> {
        if let Some(()) = self.attempt(|r| {
            need!(r.slice());
            Ok(if r.sees(",")? { None } else { Some(()) })
        })? {
            return Ok(Some(()));
        }
        need!(self.listed(|r| match r.slice()? {
            Some(()) => Ok(Some(())),
            None => Ok(r.starred_expression()?.map(|_| ())),
        }));
        self.sign(",")?;
        Ok(Some(()))
    }

    fn slice(&mut self) -> Found<()> {
        if let Some(()) = self.attempt(|r| {
            r.expression()?;
            need!(r.sign(":"));
            r.expression()?;
            if r.sign(":")?.is_some() {
                r.expression()?;
            }
            Ok(Some(()))
        })? {
            return Ok(Some(()));
        }
        Ok(self.named_expression()?.map(|_| ()))
    }

    fn atom(&mut self) -> Found<NodeRef> {
        let token = self.peek()?;
        let simple = match (token.kind, self.text_of(token)) {
            (TokenKind::Name, _) => Kind::Name,
            (TokenKind::Keyword, "True") => Kind::True,
            (TokenKind::Keyword, "False") => Kind::False,
            (TokenKind::Keyword, "None") => Kind::None,
            (TokenKind::Sign, "...") => Kind::Ellipsis,
            (TokenKind::Text, _) => return self.strings(),
            (TokenKind::Number, digits) => {
                self.check_number(token, digits)?;
                Kind::Literal
            }
            (TokenKind::Sign, "(") => return self.parenthesized(),
            (TokenKind::Sign, "[") => return self.bracketed(),
            (TokenKind::Sign, "{") => return self.braced(),
            _ => return Ok(None),
        };
        self.mark += 1;
        Ok(Some(self.node(simple, token.start, Vec::new())))
    }

    fn check_number(&self, token: Token, digits: &str) -> Result<(), super::raised::Raised> {
        /// As CPython's `sys.int_info.default_max_str_digits`.
        const MOST_DIGITS: usize = 4300;
        let count = digits.bytes().filter(u8::is_ascii_digit).count();
        if count <= MOST_DIGITS || !digits.bytes().all(|b| b.is_ascii_digit() || b == b'_') {
            return Ok(());
        }
        let message = format!(
            "Exceeds the limit ({MOST_DIGITS} digits) for integer string conversion: value has {count} digits; use \
             sys.set_int_max_str_digits() to increase the limit - Consider hexadecimal for huge integer literals to avoid \
             decimal conversion limits."
        );
        let line_start = self.text.get(..token.start).and_then(|before| before.rfind('\n')).map_or(0, |end| end + 1);
        Err(self.raise(line_start, message))
    }

    pub fn strings(&mut self) -> Found<NodeRef> {
        self.remember(Rule::Strings, |r| {
            let parts = r.many(|r| r.kind(TokenKind::Text))?;
            // The token behind the last string has been looked at.
            r.peek()?;
            let formatted = super::strings::check(r, &parts)?;
            let start = parts.first().map_or(0, |token| token.start);
            let kind = if formatted { Kind::FormattedText } else { Kind::Literal };
            Ok(Some(r.node(kind, start, Vec::new())))
        })
    }

    /// An operand that goes on, as the beginning of a target; its last part is left.
    fn target_primary(&mut self) -> Found<NodeRef> {
        self.remember(Rule::TargetPrimary, |r| {
            let start = r.peek()?.start;
            let mut found = need!(r.atom());
            if !r.goes_on()? {
                return Ok(None);
            }
            while let Some(kind) = r.attempt(|r| {
                let kind = need!(r.suffix());
                Ok(if r.goes_on()? { Some(kind) } else { None })
            })? {
                found = r.node(kind, start, Vec::new());
            }
            Ok(Some(found))
        })
    }

    fn goes_on(&mut self) -> Result<bool, super::raised::Raised> {
        self.sees_any(&["(", "[", "."])
    }

    /// `a.b` or `a[b]`.
    pub fn part_target(&mut self) -> Found<NodeRef> {
        for suffix in [Self::attribute_suffix as fn(&mut Self) -> Found<Kind>, Self::subscript_suffix] {
            if let Some(target) = self.attempt(|r| {
                let start = r.peek()?.start;
                need!(r.target_primary());
                let kind = need!(suffix(r));
                Ok(if r.goes_on()? { None } else { Some(r.node(kind, start, Vec::new())) })
            })? {
                return Ok(Some(target));
            }
        }
        Ok(None)
    }

    pub fn single_target(&mut self) -> Found<NodeRef> {
        if let Some(part) = self.part_target()? {
            return Ok(Some(part));
        }
        if let Some(name) = self.name()? {
            return Ok(Some(self.node(Kind::Name, name.start, Vec::new())));
        }
        self.attempt(|r| {
            need!(r.sign("("));
            let inner = need!(r.single_target());
            need!(r.sign(")"));
            Ok(Some(inner))
        })
    }

    pub fn star_targets(&mut self) -> Found<NodeRef> {
        self.tuple_of(Self::star_target)
    }

    pub fn star_target(&mut self) -> Found<NodeRef> {
        self.remember(Rule::StarTarget, |r| {
            let starred = r.attempt(|r| {
                let star = need!(r.sign("*"));
                if r.sees("*")? {
                    return Ok(None);
                }
                let target = need!(r.star_target());
                Ok(Some(r.node(Kind::Starred, star.start, vec![target])))
            })?;
            match starred {
                Some(found) => Ok(Some(found)),
                None => r.target_with_star(),
            }
        })
    }

    fn target_with_star(&mut self) -> Found<NodeRef> {
        self.remember(Rule::TargetWithStar, |r| match r.part_target()? {
            Some(part) => Ok(Some(part)),
            None => r.atom_target(Self::target_with_star, Self::star_target),
        })
    }

    pub fn delete_target(&mut self) -> Found<NodeRef> {
        self.remember(Rule::DeleteTarget, |r| match r.part_target()? {
            Some(part) => Ok(Some(part)),
            None => r.atom_target(Self::delete_target, Self::delete_target),
        })
    }

    /// A name, a target in brackets, or several.
    fn atom_target(
        &mut self,
        single: impl Fn(&mut Self) -> Found<NodeRef>,
        element: impl Fn(&mut Self) -> Found<NodeRef>,
    ) -> Found<NodeRef> {
        if let Some(name) = self.name()? {
            return Ok(Some(self.node(Kind::Name, name.start, Vec::new())));
        }
        if let Some(inner) = self.attempt(|r| {
            need!(r.sign("("));
            let inner = need!(single(r));
            need!(r.sign(")"));
            Ok(Some(inner))
        })? {
            return Ok(Some(inner));
        }
        for (open, close, kind) in [("(", ")", Kind::Tuple), ("[", "]", Kind::List)] {
            if let Some(found) = self.attempt(|r| {
                let bracket = need!(r.sign(open));
                let items = r.listed(&element)?.unwrap_or_default();
                if !items.is_empty() {
                    r.sign(",")?;
                }
                need!(r.sign(close));
                Ok(Some(r.node(kind, bracket.start, items)))
            })? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    pub fn yield_expression(&mut self) -> Found<NodeRef> {
        let from = self.attempt(|r| {
            let word = need!(r.sign("yield"));
            need!(r.sign("from"));
            need!(r.expression());
            Ok(Some(r.node(Kind::Yield, word.start, Vec::new())))
        })?;
        if from.is_some() {
            return Ok(from);
        }
        self.attempt(|r| {
            let word = need!(r.sign("yield"));
            r.star_expressions()?;
            Ok(Some(r.node(Kind::Yield, word.start, Vec::new())))
        })
    }

    pub fn yield_or_expressions(&mut self) -> Found<NodeRef> {
        match self.yield_expression()? {
            Some(found) => Ok(Some(found)),
            None => self.star_expressions(),
        }
    }
}

pub const MEANT_EQUAL: &str = "invalid syntax. Maybe you meant '==' or ':=' instead of '='?";
