//! Whether the patterns of a `match` can be told apart: which names they bind, and which of them always fit.
//!
//! It must not know which values fit a pattern.

use ruff_python_ast::{Expr, MatchCase, Number, Pattern, PatternArguments, UnaryOp};

use super::check::Checked;
use super::flow::Flow;
use super::raised::Raised;
use super::start;

/// What is known within one pattern.
struct Captures<'a> {
    names: Vec<&'a str>,
    /// May a part that always fits stand here?
    may_always_fit: bool,
}

impl<'a> Flow<'a> {
    pub fn cases(&mut self, cases: &'a [MatchCase]) -> Checked {
        let last = cases.len().saturating_sub(1);
        for (index, case) in cases.iter().enumerate() {
            let is_default = cases.len() > 1 && index == last && is_wildcard(&case.pattern);
            if !is_default {
                let may_always_fit = case.guard.is_some() || index == last;
                let mut captures = Captures { names: Vec::new(), may_always_fit };
                self.pattern(&case.pattern, &mut captures)?;
            }
            self.case_body(case.guard.as_deref(), &case.body)?;
        }
        Ok(())
    }

    fn fault(&self, message: impl Into<String>) -> Raised {
        Raised::syntax(message, self.place)
    }

    fn pattern(&mut self, pattern: &'a Pattern, captures: &mut Captures<'a>) -> Checked {
        self.place = start(pattern);
        match pattern {
            Pattern::MatchValue(p) => {
                if !is_literal(&p.value) && !p.value.is_attribute_expr() {
                    return Err(self.fault("patterns may only match literals and attribute lookups"));
                }
                self.whole(&p.value)
            }
            Pattern::MatchSingleton(_) => Ok(()),
            Pattern::MatchSequence(p) => {
                if p.patterns.iter().filter(|inner| inner.is_match_star()).count() > 1 {
                    return Err(self.fault("multiple starred names in sequence pattern"));
                }
                p.patterns.iter().try_for_each(|inner| self.part(inner, captures))
            }
            Pattern::MatchMapping(p) => {
                self.keys(&p.keys)?;
                p.patterns.iter().try_for_each(|inner| self.part(inner, captures))?;
                self.capture(p.rest.as_ref().map(|name| name.as_str()), captures)
            }
            Pattern::MatchClass(p) => {
                self.attributes(&p.arguments)?;
                self.whole(&p.cls)?;
                p.arguments.patterns.iter().try_for_each(|inner| self.part(inner, captures))?;
                p.arguments.keywords.iter().try_for_each(|keyword| self.part(&keyword.pattern, captures))
            }
            Pattern::MatchStar(p) => self.capture(p.name.as_ref().map(|name| name.as_str()), captures),
            Pattern::MatchAs(p) => {
                let name = p.name.as_ref().map(|name| name.as_str());
                match &p.pattern {
                    Some(inner) => self.pattern(inner, captures)?,
                    None if captures.may_always_fit => {}
                    None => {
                        let what = name.map_or("wildcard".to_owned(), |name| format!("name capture '{name}'"));
                        return Err(self.fault(format!("{what} makes remaining patterns unreachable")));
                    }
                }
                self.capture(name, captures)
            }
            Pattern::MatchOr(p) => self.alternatives(&p.patterns, captures),
        }
    }

    /// A part of a pattern: if it always fits, the pattern may still not.
    fn part(&mut self, pattern: &'a Pattern, captures: &mut Captures<'a>) -> Checked {
        let before = std::mem::replace(&mut captures.may_always_fit, true);
        self.pattern(pattern, captures)?;
        captures.may_always_fit = before;
        Ok(())
    }

    fn capture(&self, name: Option<&'a str>, captures: &mut Captures<'a>) -> Checked {
        let Some(name) = name else { return Ok(()) };
        self.check_bound(name, self.place)?;
        if captures.names.contains(&name) {
            return Err(self.fault(format!("multiple assignments to name '{name}' in pattern")));
        }
        captures.names.push(name);
        Ok(())
    }

    fn alternatives(&mut self, patterns: &'a [Pattern], captures: &mut Captures<'a>) -> Checked {
        let last = patterns.len().saturating_sub(1);
        let mut control: Option<Vec<&str>> = None;
        for (index, alternative) in patterns.iter().enumerate() {
            let may_always_fit = index == last && captures.may_always_fit;
            let mut inner = Captures { names: Vec::new(), may_always_fit };
            self.pattern(alternative, &mut inner)?;
            match &control {
                None => control = Some(inner.names),
                Some(names) => {
                    let same = names.len() == inner.names.len() && names.iter().all(|n| inner.names.contains(n));
                    if !same {
                        return Err(self.fault("alternative patterns bind different names"));
                    }
                }
            }
        }
        for name in control.unwrap_or_default() {
            if captures.names.contains(&name) {
                return Err(self.fault(format!("multiple assignments to name '{name}' in pattern")));
            }
            captures.names.push(name);
        }
        Ok(())
    }

    fn keys(&mut self, keys: &'a [Expr]) -> Checked {
        let mut seen = Vec::new();
        for key in keys {
            if let Some((value, shown)) = constant(key) {
                if seen.contains(&value) {
                    return Err(self.fault(format!("mapping pattern checks duplicate key ({shown})")));
                }
                seen.push(value);
            } else if !key.is_attribute_expr() && !is_literal(key) {
                return Err(self.fault("mapping pattern keys may only match literals and attribute lookups"));
            }
            self.whole(key)?;
        }
        Ok(())
    }

    fn attributes(&mut self, arguments: &'a PatternArguments) -> Checked {
        for (index, keyword) in arguments.keywords.iter().enumerate() {
            let name = keyword.attr.as_str();
            self.place = start(&keyword.pattern);
            self.check_bound(name, self.place)?;
            let later = arguments.keywords.get(index + 1..).unwrap_or_default();
            if let Some(other) = later.iter().find(|other| other.attr.as_str() == name) {
                self.place = start(&other.pattern);
                return Err(self.fault(format!("attribute name repeated in class pattern: {name}")));
            }
        }
        Ok(())
    }
}

fn is_wildcard(pattern: &Pattern) -> bool {
    matches!(pattern, Pattern::MatchAs(p) if p.name.is_none())
}

/// A literal, or what CPython makes one of before it looks: `-1`, `1+2j`.
fn is_literal(expression: &Expr) -> bool {
    match expression {
        Expr::UnaryOp(e) => e.op == UnaryOp::USub && e.operand.is_number_literal_expr(),
        Expr::BinOp(e) => is_literal(&e.left) && e.right.is_number_literal_expr(),
        other => other.is_literal_expr(),
    }
}

/// A key that can be compared with others before the program runs, and how Python shows it. Equal numbers are one key.
#[derive(PartialEq)]
enum Constant<'a> {
    Number(f64),
    Long(String),
    Complex(f64, f64),
    Text(&'a str),
    Bytes(Vec<u8>),
    None,
}

fn constant(expression: &Expr) -> Option<(Constant<'_>, String)> {
    Some(match expression {
        Expr::NumberLiteral(e) => match &e.value {
            Number::Int(int) => {
                let shown = int.to_string();
                match int.as_i32() {
                    Some(small) => (Constant::Number(f64::from(small)), shown),
                    None => (Constant::Long(shown.clone()), shown),
                }
            }
            Number::Float(float) => (Constant::Number(*float), format!("{float:?}")),
            Number::Complex { real, imag } => (Constant::Complex(*real, *imag), format!("{imag}j")),
        },
        Expr::UnaryOp(e) if e.op == UnaryOp::USub => {
            let (value, shown) = constant(&e.operand)?;
            match value {
                Constant::Number(number) => (Constant::Number(-number), format!("-{shown}")),
                _ => return None,
            }
        }
        Expr::BooleanLiteral(e) => {
            (Constant::Number(f64::from(u8::from(e.value))), if e.value { "True" } else { "False" }.to_owned())
        }
        Expr::NoneLiteral(_) => (Constant::None, "None".to_owned()),
        Expr::StringLiteral(e) => (Constant::Text(e.value.to_str()), quoted(e.value.to_str())),
        Expr::BytesLiteral(e) => {
            let bytes: Vec<u8> = e.value.bytes().collect();
            let shown = bytes.iter().map(|byte| char::from(*byte)).collect::<String>();
            (Constant::Bytes(bytes), format!("b{}", quoted(&shown)))
        }
        _ => return None,
    })
}

/// As `repr` shows short texts.
fn quoted(text: &str) -> String {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    let mut shown = String::from(quote);
    for character in text.chars() {
        match character {
            '\\' => shown.push_str("\\\\"),
            '\n' => shown.push_str("\\n"),
            '\r' => shown.push_str("\\r"),
            '\t' => shown.push_str("\\t"),
            c if c == quote => shown.extend(['\\', c]),
            c if c.is_ascii_control() => shown.push_str(&format!("\\x{:02x}", u32::from(c))),
            c => shown.push(c),
        }
    }
    shown.push(quote);
    shown
}
