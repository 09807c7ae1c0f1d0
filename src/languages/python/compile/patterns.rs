//! `match` statements. The subject of each pattern is in a slot without a name in the source, so that a pattern that does
//! not match leaves nothing on the stack. Names are bound when the whole pattern has matched.

use super::{Compiled, Compiler, source_offset};
use crate::python::code::{Op, Quick, Variable};
use crate::python::syntax::SyntaxFault;
use objects::operators;
use ruff_python_ast::{Expr, Pattern, Singleton, StmtMatch};
use std::collections::HashSet;
use value::Value;

/// A case while it is compiled.
#[derive(Default)]
struct Case<'a> {
    /// The jumps of what does not match.
    fails: Vec<usize>,
    /// The names that are bound, each with the slot of its value.
    bound: Vec<(&'a str, u32)>,
    /// The slots used.
    used: Vec<u32>,
}

impl<'a> Compiler<'a, '_> {
    pub(super) fn match_statement(&mut self, statement: &'a StmtMatch) -> Compiled {
        let at = source_offset(statement);
        self.expression(&statement.subject)?;
        let subject = self.fresh_slot(&mut Case::default());
        self.emit(Op::Store(Variable::Local(subject)), at);
        let mut ends = Vec::new();
        for (i, clause) in statement.cases.iter().enumerate() {
            if i + 1 < statement.cases.len() && clause.guard.is_none() {
                refuse_irrefutable(&clause.pattern)?;
            }
            refuse_repeated(&clause.pattern, &mut HashSet::new())?;
            let mut case = Case::default();
            self.pattern(subject, &clause.pattern, &mut case)?;
            for (name, slot) in std::mem::take(&mut case.bound) {
                self.emit(Op::Load(Variable::Local(slot)), source_offset(&clause.pattern));
                self.store(name, source_offset(&clause.pattern));
            }
            if let Some(guard) = &clause.guard {
                self.expression(guard)?;
                let fail = self.jump(|to| Op::JumpIf(false, to), source_offset(&**guard));
                case.fails.push(fail);
            }
            let used: Vec<u32> = case.used.iter().copied().chain([subject]).collect();
            self.release(&used, at);
            self.body(&clause.body)?;
            ends.push(self.jump(Op::Jump, at));
            case.fails.into_iter().for_each(|fail| self.land(fail));
            self.release(&case.used, at);
        }
        self.release(&[subject], at);
        ends.into_iter().for_each(|end| self.land(end));
        Ok(())
    }

    /// Lets go of what slots hold.
    fn release(&mut self, slots: &[u32], at: u32) {
        for slot in slots {
            self.push(Value::None, at);
            self.emit(Op::Store(Variable::Local(*slot)), at);
        }
    }

    fn fresh_slot(&mut self, case: &mut Case) -> u32 {
        let slot = self.slot(&format!(".pattern {}", self.unit.code.locals.len()));
        case.used.push(slot);
        slot
    }

    fn load_slot(&mut self, slot: u32, at: u32) {
        self.emit(Op::Load(Variable::Local(slot)), at);
    }

    /// Goes on if the value on top of the stack, which is taken, is true.
    fn only_if(&mut self, case: &mut Case, at: u32) {
        let fail = self.jump(|to| Op::JumpIf(false, to), at);
        case.fails.push(fail);
    }

    /// Goes on if the value on top of the stack, which is taken, is a tuple, and matches its items. Returns the slots of the
    /// items.
    fn only_items(
        &mut self,
        patterns: &[Option<&'a Pattern>],
        case: &mut Case<'a>,
        at: u32,
    ) -> Result<Vec<u32>, SyntaxFault> {
        let items = self.fresh_slot(case);
        self.emit(Op::Store(Variable::Local(items)), at);
        self.load_slot(items, at);
        self.push(Value::None, at);
        self.emit(Op::Is, at);
        self.emit(Op::Not, at);
        self.only_if(case, at);
        let slots: Vec<u32> = patterns.iter().map(|_| self.fresh_slot(case)).collect();
        self.load_slot(items, at);
        self.emit(Op::Unpack(slots.len() as u32), at);
        slots.iter().for_each(|slot| self.emit(Op::Store(Variable::Local(*slot)), at));
        for (slot, pattern) in slots.iter().zip(patterns) {
            if let Some(pattern) = pattern {
                self.pattern(*slot, pattern, case)?;
            }
        }
        Ok(slots)
    }

    fn bind(&mut self, subject: u32, name: &'a str, case: &mut Case<'a>, at: u32) {
        let slot = match case.bound.iter().find(|(known, _)| *known == name) {
            Some((_, slot)) => *slot,
            None => {
                let slot = self.fresh_slot(case);
                case.bound.push((name, slot));
                slot
            }
        };
        self.load_slot(subject, at);
        self.emit(Op::Store(Variable::Local(slot)), at);
    }

    fn pattern(&mut self, subject: u32, pattern: &'a Pattern, case: &mut Case<'a>) -> Compiled {
        let at = source_offset(pattern);
        match pattern {
            Pattern::MatchValue(p) => {
                if let Expr::FString(_) = &*p.value {
                    let message = "patterns may only match literals and attribute lookups";
                    return Err(SyntaxFault::syntax(message, at as usize));
                }
                self.load_slot(subject, at);
                self.expression(&p.value)?;
                let Some(equal) = operators::find("==") else { return Ok(()) };
                self.emit(Op::Binary(Quick::of(equal), equal), at);
                self.only_if(case, at);
            }
            Pattern::MatchSingleton(p) => {
                self.load_slot(subject, at);
                let value = match p.value {
                    Singleton::None => Value::None,
                    Singleton::True => Value::Bool(true),
                    Singleton::False => Value::Bool(false),
                };
                self.push(value, at);
                self.emit(Op::Is, at);
                self.only_if(case, at);
            }
            Pattern::MatchAs(p) => {
                p.pattern.iter().try_for_each(|inner| self.pattern(subject, inner, case))?;
                if let Some(name) = &p.name {
                    self.bind(subject, name, case, at);
                }
            }
            Pattern::MatchStar(p) => {
                if let Some(name) = &p.name {
                    self.bind(subject, name, case, at);
                }
            }
            Pattern::MatchOr(p) => {
                let mut done = Vec::new();
                for (i, alternative) in p.patterns.iter().enumerate() {
                    let is_last = i + 1 == p.patterns.len();
                    let outer = std::mem::take(&mut case.fails);
                    self.pattern(subject, alternative, case)?;
                    let fails = std::mem::replace(&mut case.fails, outer);
                    if is_last {
                        case.fails.extend(fails);
                    } else {
                        done.push(self.jump(Op::Jump, at));
                        fails.into_iter().for_each(|fail| self.land(fail));
                    }
                }
                done.into_iter().for_each(|jump| self.land(jump));
            }
            Pattern::MatchSequence(p) => {
                let mut stars = p.patterns.iter().enumerate().filter(|(_, inner)| inner.is_match_star());
                let star = stars.next().map(|(place, _)| place as u32);
                if stars.next().is_some() {
                    return Err(SyntaxFault::syntax("multiple starred names in sequence pattern", at as usize));
                }
                self.load_slot(subject, at);
                self.emit(Op::MatchSequence(p.patterns.len() as u32, star), at);
                let inner: Vec<_> = p.patterns.iter().map(Some).collect();
                self.only_items(&inner, case, at)?;
            }
            Pattern::MatchMapping(p) => {
                self.load_slot(subject, at);
                p.keys.iter().try_for_each(|key| self.expression(key))?;
                self.emit(Op::Tuple(p.keys.len() as u32), at);
                self.emit(Op::MatchMapping(p.rest.is_some()), at);
                let mut inner: Vec<_> = p.patterns.iter().map(Some).collect();
                if p.rest.is_some() {
                    inner.push(None);
                }
                let slots = self.only_items(&inner, case, at)?;
                if let (Some(rest), Some(slot)) = (&p.rest, slots.last()) {
                    self.bind(*slot, rest, case, at);
                }
            }
            Pattern::MatchClass(p) => {
                self.load_slot(subject, at);
                self.expression(&p.cls)?;
                let names = p.arguments.keywords.iter().map(|keyword| Value::str(keyword.attr.as_str()));
                let names = self.constant(Value::tuple(names.collect::<Vec<_>>()));
                let positional = p.arguments.patterns.len() as u32;
                self.emit(Op::MatchClass(positional, names), at);
                let keywords = p.arguments.keywords.iter().map(|keyword| &keyword.pattern);
                let inner: Vec<_> = p.arguments.patterns.iter().chain(keywords).map(Some).collect();
                self.only_items(&inner, case, at)?;
            }
        }
        Ok(())
    }
}

/// Refuses a pattern that everything matches, where others follow.
fn refuse_irrefutable(pattern: &Pattern) -> Compiled {
    let message = match pattern {
        Pattern::MatchAs(p) => match (&p.pattern, &p.name) {
            (Some(inner), _) => return refuse_irrefutable(inner),
            (None, Some(name)) => format!("name capture '{name}' makes remaining patterns unreachable"),
            (None, None) => "wildcard makes remaining patterns unreachable".to_owned(),
        },
        Pattern::MatchOr(p) => return p.patterns.last().map_or(Ok(()), refuse_irrefutable),
        _ => return Ok(()),
    };
    Err(SyntaxFault::syntax(message, source_offset(pattern) as usize))
}

/// Refuses a name that a pattern binds twice, and alternatives that bind other names than the first. Adds the names that are
/// bound to `names`.
fn refuse_repeated<'a>(pattern: &'a Pattern, names: &mut HashSet<&'a str>) -> Compiled {
    let at = source_offset(pattern) as usize;
    let add = |name: &'a str, names: &mut HashSet<&'a str>| match names.insert(name) {
        true => Ok(()),
        false => Err(SyntaxFault::syntax(format!("multiple assignments to name '{name}' in pattern"), at)),
    };
    match pattern {
        Pattern::MatchValue(_) | Pattern::MatchSingleton(_) => Ok(()),
        Pattern::MatchAs(p) => {
            p.pattern.iter().try_for_each(|inner| refuse_repeated(inner, names))?;
            p.name.iter().try_for_each(|name| add(name, names))
        }
        Pattern::MatchStar(p) => p.name.iter().try_for_each(|name| add(name, names)),
        Pattern::MatchSequence(p) => p.patterns.iter().try_for_each(|inner| refuse_repeated(inner, names)),
        Pattern::MatchMapping(p) => {
            p.patterns.iter().try_for_each(|inner| refuse_repeated(inner, names))?;
            p.rest.iter().try_for_each(|name| add(name, names))
        }
        Pattern::MatchClass(p) => {
            let mut attributes = HashSet::new();
            for keyword in &p.arguments.keywords {
                if !attributes.insert(keyword.attr.as_str()) {
                    let message = format!("attribute name repeated in class pattern: {}", keyword.attr);
                    return Err(SyntaxFault::syntax(message, source_offset(&keyword.pattern) as usize));
                }
            }
            let keywords = p.arguments.keywords.iter().map(|keyword| &keyword.pattern);
            p.arguments.patterns.iter().chain(keywords).try_for_each(|inner| refuse_repeated(inner, names))
        }
        Pattern::MatchOr(p) => {
            let mut first: Option<HashSet<&str>> = None;
            let mut all_but_last = p.patterns.iter().take(p.patterns.len().saturating_sub(1));
            all_but_last.try_for_each(refuse_irrefutable)?;
            for alternative in &p.patterns {
                let mut own = HashSet::new();
                refuse_repeated(alternative, &mut own)?;
                if first.as_ref().is_some_and(|first| *first != own) {
                    return Err(SyntaxFault::syntax("alternative patterns bind different names", at));
                }
                first = Some(own);
            }
            first.into_iter().flatten().try_for_each(|name| add(name, names))
        }
    }
}
