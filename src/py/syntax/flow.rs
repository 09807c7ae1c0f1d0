//! Whether each statement and expression stands where it may: in a function, in a loop, as a target.
//!
//! It must not know names beyond those that no program may bind.

use ruff_python_ast::{
    Alias, Comprehension, ExceptHandler, Expr, ExprContext, Keyword, Parameters, Stmt, StmtAnnAssign, StmtFunctionDef,
    StmtTry,
};
use ruff_text_size::Ranged;

use super::check::{Checked, Future, definition, each_annotation, each_default, each_part, late_future};
use super::raised::Raised;
use super::scopes::{Nature, Scopes};
use super::{end, start, strings};

/// As in CPython's compiler.
const MAX_BLOCKS: usize = 20;

/// What the code stands in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Unit {
    Module,
    Class,
    Function,
    AsyncFunction,
    Lambda,
    Comprehension,
}

impl Unit {
    fn is_function(self) -> bool {
        !matches!(self, Self::Module | Self::Class)
    }
}

/// What a statement stands in within its unit.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Block {
    Loop,
    /// The handler of an `except*`.
    Group,
    Other,
}

pub struct Flow<'a> {
    source: &'a str,
    scopes: &'a Scopes<'a>,
    future: &'a Future,
    unit: Unit,
    nature: Nature,
    blocks: Vec<Block>,
    /// Expressions around the one that is looked at, up to its statement.
    depth: usize,
    /// Where the compiler thinks that it is.
    pub place: usize,
    /// The tree has a form that ruff makes of sources that are not Python.
    pub doubtful: bool,
}

impl<'a> Flow<'a> {
    pub fn new(source: &'a str, scopes: &'a Scopes<'a>, future: &'a Future) -> Self {
        Self {
            source,
            scopes,
            future,
            unit: Unit::Module,
            nature: Nature::default(),
            blocks: Vec::new(),
            depth: 0,
            place: 0,
            doubtful: false,
        }
    }

    pub fn module(&mut self, body: &'a [Stmt]) -> Checked {
        self.body(body)
    }

    fn body(&mut self, body: &'a [Stmt]) -> Checked {
        body.iter().try_for_each(|statement| self.statement(statement))
    }

    fn within(&mut self, unit: Unit, nature: Nature, check: impl FnOnce(&mut Self) -> Checked) -> Checked {
        let around = (self.unit, self.nature, self.depth);
        let blocks = std::mem::take(&mut self.blocks);
        (self.unit, self.nature, self.depth) = (unit, nature, 0);
        check(self)?;
        (self.unit, self.nature, self.depth) = around;
        self.blocks = blocks;
        Ok(())
    }

    fn block(&mut self, block: Block, check: impl FnOnce(&mut Self) -> Checked) -> Checked {
        if self.blocks.len() >= MAX_BLOCKS {
            return Err(Raised::syntax("too many statically nested blocks", self.place));
        }
        self.blocks.push(block);
        check(self)?;
        self.blocks.pop();
        Ok(())
    }

    fn expressions(&mut self, expressions: impl IntoIterator<Item = &'a Expr>) -> Checked {
        expressions.into_iter().try_for_each(|expression| self.whole(expression))
    }

    /// An expression that belongs to its statement directly.
    pub fn whole(&mut self, expression: &'a Expr) -> Checked {
        self.depth = 0;
        self.expression(expression)
    }

    fn statement(&mut self, statement: &'a Stmt) -> Checked {
        self.place = start(statement);
        match statement {
            Stmt::FunctionDef(s) => {
                self.place = definition(statement, self.source);
                self.function(s)
            }
            Stmt::ClassDef(s) => {
                self.place = definition(statement, self.source);
                let place = self.place;
                self.expressions(s.decorator_list.iter().map(|decorator| &decorator.expression))?;
                self.within(Unit::Class, Nature::default(), |f| f.body(&s.body))?;
                self.place = place;
                if let Some(arguments) = &s.arguments {
                    self.check_keywords(&arguments.keywords)?;
                    self.expressions_or_starred(&arguments.args)?;
                    self.expressions(arguments.keywords.iter().map(|keyword| &keyword.value))?;
                }
                self.check_bound(s.name.as_str(), place)
            }
            Stmt::Return(s) => {
                if !self.unit.is_function() {
                    return Err(self.refuse("'return' outside function"));
                }
                if s.value.is_some() && self.nature.coroutine && self.nature.generator {
                    return Err(self.refuse("'return' with value in async generator"));
                }
                self.expressions(s.value.as_deref())?;
                self.check_leaves_group(&self.blocks)
            }
            Stmt::Delete(s) => self.expressions(&s.targets),
            Stmt::Assign(s) => {
                self.whole(&s.value)?;
                self.expressions(&s.targets)
            }
            Stmt::AugAssign(s) => {
                if let Expr::Name(_) = &*s.target {
                    self.whole(&s.value)?;
                    return self.whole(&s.target);
                }
                // What is bound here exists already.
                each_part(&s.target, &mut |part| self.whole(part))?;
                self.whole(&s.value)
            }
            Stmt::AnnAssign(s) => self.annotated_assignment(s),
            Stmt::For(s) => {
                if s.is_async {
                    self.check_async("async for")?;
                }
                self.whole(&s.iter)?;
                self.block(Block::Loop, |f| {
                    f.whole(&s.target)?;
                    f.body(&s.body)
                })?;
                self.body(&s.orelse)
            }
            Stmt::While(s) => {
                self.block(Block::Loop, |f| {
                    f.whole(&s.test)?;
                    f.body(&s.body)
                })?;
                self.body(&s.orelse)
            }
            Stmt::If(s) => {
                self.whole(&s.test)?;
                self.body(&s.body)?;
                for clause in &s.elif_else_clauses {
                    self.expressions(clause.test.as_ref())?;
                    self.body(&clause.body)?;
                }
                Ok(())
            }
            Stmt::With(s) => {
                if s.is_async {
                    self.check_async("async with")?;
                }
                self.with(&s.items, &s.body)
            }
            Stmt::Match(s) => {
                self.whole(&s.subject)?;
                self.cases(&s.cases)
            }
            Stmt::Raise(s) => {
                self.expressions(s.exc.as_deref())?;
                self.expressions(s.cause.as_deref())
            }
            Stmt::Try(s) => self.try_statement(s),
            Stmt::Assert(s) => {
                self.whole(&s.test)?;
                self.expressions(s.msg.as_deref())
            }
            Stmt::Import(s) => self.imports(&s.names),
            Stmt::ImportFrom(s) => {
                let is_future = s.module.as_ref().is_some_and(|name| name.as_str() == "__future__");
                if is_future && self.future.last.is_none_or(|last| last < start(s)) {
                    return Err(late_future(start(s)));
                }
                self.imports(&s.names)
            }
            Stmt::Expr(s) => self.whole(&s.value),
            Stmt::Break(_) => self.check_loop("'break' outside loop"),
            Stmt::Continue(_) => self.check_loop("'continue' not properly in loop"),
            _ => Ok(()),
        }
    }

    fn refuse(&self, message: &str) -> Raised {
        Raised::syntax(message, self.place)
    }

    fn check_async(&self, what: &str) -> Checked {
        if self.unit == Unit::AsyncFunction {
            return Ok(());
        }
        Err(self.refuse(&format!("'{what}' outside async function")))
    }

    fn check_leaves_group(&self, left: &[Block]) -> Checked {
        if left.contains(&Block::Group) {
            return Err(self.refuse("'break', 'continue' and 'return' cannot appear in an except* block"));
        }
        Ok(())
    }

    /// For what leaves the innermost loop.
    fn check_loop(&self, outside: &str) -> Checked {
        let innermost = self.blocks.iter().rposition(|block| *block == Block::Loop);
        let left = self.blocks.get(innermost.unwrap_or_default()..).unwrap_or_default();
        self.check_leaves_group(left)?;
        if innermost.is_none() { Err(self.refuse(outside)) } else { Ok(()) }
    }

    fn with(&mut self, items: &'a [ruff_python_ast::WithItem], body: &'a [Stmt]) -> Checked {
        let Some((first, rest)) = items.split_first() else { return self.body(body) };
        self.whole(&first.context_expr)?;
        self.block(Block::Other, |f| {
            f.expressions(first.optional_vars.as_deref())?;
            f.with(rest, body)
        })
    }

    fn try_statement(&mut self, s: &'a StmtTry) -> Checked {
        if s.handlers.is_empty() && s.finalbody.is_empty() {
            self.doubtful = true;
        }
        if s.finalbody.is_empty() {
            return self.handled(s);
        }
        self.block(Block::Other, |f| f.handled(s))?;
        self.body(&s.finalbody)
    }

    fn handled(&mut self, s: &'a StmtTry) -> Checked {
        if s.handlers.is_empty() {
            self.body(&s.body)?;
            return self.body(&s.orelse);
        }
        self.block(Block::Other, |f| f.body(&s.body))?;
        self.body(&s.orelse)?;
        self.block(if s.is_star { Block::Group } else { Block::Other }, |f| {
            let last = s.handlers.len() - 1;
            for (index, ExceptHandler::ExceptHandler(handler)) in s.handlers.iter().enumerate() {
                f.place = start(handler);
                if handler.type_.is_none() && index < last {
                    return Err(f.refuse("default 'except:' must be last"));
                }
                f.expressions(handler.type_.as_deref())?;
                if let Some(name) = &handler.name {
                    f.check_bound(name.as_str(), start(handler))?;
                }
                f.block(Block::Other, |f| f.body(&handler.body))?;
            }
            Ok(())
        })
    }

    fn imports(&self, names: &[Alias]) -> Checked {
        names.iter().try_for_each(|alias| {
            let name = alias.asname.as_ref().unwrap_or(&alias.name).as_str();
            self.check_bound(name.split('.').next().unwrap_or_default(), self.place)
        })
    }

    fn function(&mut self, s: &'a StmtFunctionDef) -> Checked {
        let place = self.place;
        self.check_parameters(&s.parameters)?;
        self.expressions(s.decorator_list.iter().map(|decorator| &decorator.expression))?;
        each_default(&s.parameters, &mut |default| self.whole(default))?;
        if !self.future.annotations {
            each_annotation(&s.parameters, &mut |annotation| match annotation {
                Expr::Starred(unpacked) => self.whole(&unpacked.value),
                other => self.whole(other),
            })?;
            self.expressions(s.returns.as_deref())?;
        }
        let unit = if s.is_async { Unit::AsyncFunction } else { Unit::Function };
        self.within(unit, self.scopes.nature(s), |f| f.body(&s.body))?;
        self.check_bound(s.name.as_str(), place)
    }

    fn check_parameters(&self, parameters: &Parameters) -> Checked {
        parameters.iter().try_for_each(|parameter| self.check_bound(parameter.name().as_str(), self.place))
    }

    /// No program may bind `__debug__`.
    pub fn check_bound(&self, name: &str, at: usize) -> Checked {
        if name == "__debug__" { Err(Raised::syntax("cannot assign to __debug__", at)) } else { Ok(()) }
    }

    fn annotated_assignment(&mut self, s: &'a StmtAnnAssign) -> Checked {
        if let Some(value) = &s.value {
            self.whole(value)?;
            self.whole(&s.target)?;
        }
        // Only in a module or class is the annotation evaluated.
        let evaluated = !self.unit.is_function() && !self.future.annotations;
        match &*s.target {
            Expr::Name(target) => self.check_bound(target.id.as_str(), self.place)?,
            Expr::Attribute(target) => {
                self.check_bound(target.attr.as_str(), self.place)?;
                if s.value.is_none() {
                    self.whole(&target.value)?;
                }
            }
            Expr::Subscript(target) if s.value.is_none() => {
                self.whole(&target.value)?;
                self.whole(&target.slice)?;
            }
            _ => {}
        }
        if evaluated { self.whole(&s.annotation) } else { Ok(()) }
    }

    /// `keywords` of a call.
    fn check_keywords(&self, keywords: &[Keyword]) -> Checked {
        for (index, keyword) in keywords.iter().enumerate() {
            let Some(name) = &keyword.arg else { continue };
            self.check_bound(name.as_str(), self.place)?;
            let later = keywords.get(index + 1..).unwrap_or_default();
            let same = later.iter().find(|other| other.arg.as_ref().is_some_and(|arg| arg.as_str() == name.as_str()));
            if let Some(other) = same {
                return Err(Raised::syntax(format!("keyword argument repeated: {name}"), start(other)));
            }
        }
        Ok(())
    }

    /// What may be starred: elements and arguments.
    fn expressions_or_starred(&mut self, expressions: impl IntoIterator<Item = &'a Expr>) -> Checked {
        expressions.into_iter().try_for_each(|expression| match expression {
            Expr::Starred(starred) => self.expression(&starred.value),
            other => self.expression(other),
        })
    }

    fn expression(&mut self, expression: &'a Expr) -> Checked {
        let around = (self.place, self.depth);
        self.place = start(expression);
        self.depth += 1;
        self.at_place(expression)?;
        (self.place, self.depth) = around;
        Ok(())
    }

    fn at_place(&mut self, expression: &'a Expr) -> Checked {
        match expression {
            Expr::Starred(e) if e.ctx == ExprContext::Store => {
                Err(self.refuse("starred assignment target must be in a list or tuple"))
            }
            Expr::Starred(_) => Err(self.refuse("can't use starred expression here")),
            Expr::List(e) => self.elements(&e.elts, e.ctx),
            Expr::Tuple(e) => self.elements(&e.elts, e.ctx),
            Expr::Set(e) => self.expressions_or_starred(&e.elts),
            Expr::Name(e) => match e.ctx {
                ExprContext::Store => self.check_bound(e.id.as_str(), self.place),
                ExprContext::Del if e.id.as_str() == "__debug__" => Err(self.refuse("cannot delete __debug__")),
                _ => Ok(()),
            },
            Expr::Attribute(e) => {
                self.expression(&e.value)?;
                if e.ctx == ExprContext::Store { self.check_bound(e.attr.as_str(), self.place) } else { Ok(()) }
            }
            Expr::Call(e) => {
                self.expression(&e.func)?;
                self.check_keywords(&e.arguments.keywords)?;
                self.expressions_or_starred(&e.arguments.args)?;
                e.arguments.keywords.iter().try_for_each(|keyword| self.expression(&keyword.value))
            }
            Expr::Lambda(e) => {
                if let Some(parameters) = &e.parameters {
                    self.check_parameters(parameters)?;
                    each_default(parameters, &mut |default| self.expression(default))?;
                }
                self.within(Unit::Lambda, self.scopes.nature(e), |f| f.expression(&e.body))
            }
            Expr::Yield(_) | Expr::YieldFrom(_) => {
                self.doubtful |= self.depth > 1 && !self.is_bracketed();
                if !self.unit.is_function() {
                    return Err(self.refuse("'yield' outside function"));
                }
                if self.unit == Unit::AsyncFunction && expression.is_yield_from_expr() {
                    return Err(self.refuse("'yield from' inside async function"));
                }
                each_part(expression, &mut |part| self.expression(part))
            }
            Expr::Await(e) => {
                if !self.unit.is_function() {
                    return Err(self.refuse("'await' outside function"));
                }
                if !matches!(self.unit, Unit::AsyncFunction | Unit::Comprehension) {
                    return Err(self.refuse("'await' outside async function"));
                }
                self.expression(&e.value)
            }
            Expr::ListComp(e) => self.comprehension(e, false, &e.generators, [Some(&*e.elt), None]),
            Expr::SetComp(e) => self.comprehension(e, false, &e.generators, [Some(&*e.elt), None]),
            Expr::DictComp(e) => self.comprehension(e, false, &e.generators, [e.key.as_deref(), Some(&*e.value)]),
            Expr::Generator(e) => self.comprehension(e, true, &e.generators, [Some(&*e.elt), None]),
            Expr::FString(e) => {
                let text = self.source.get(start(e)..end(e)).unwrap_or_default();
                self.doubtful |= !strings::is_plain(text);
                each_part(expression, &mut |part| self.expression(part))
            }
            other => each_part(other, &mut |part| self.expression(part)),
        }
    }

    /// Whether a bracket opens right before the place.
    fn is_bracketed(&self) -> bool {
        self.source.get(..self.place).is_some_and(|before| before.trim_end().ends_with(['(', '{']))
    }

    fn elements(&mut self, elements: &'a [Expr], context: ExprContext) -> Checked {
        if context == ExprContext::Store && elements.iter().filter(|element| element.is_starred_expr()).count() > 1 {
            return Err(self.refuse("multiple starred expressions in assignment"));
        }
        self.expressions_or_starred(elements)
    }

    fn comprehension(
        &mut self,
        node: &impl Ranged,
        is_generator: bool,
        generators: &'a [Comprehension],
        results: [Option<&'a Expr>; 2],
    ) -> Checked {
        let Some((first, rest)) = generators.split_first() else { return Ok(()) };
        let nature = self.scopes.nature(node);
        let may_wait = matches!(self.unit, Unit::AsyncFunction | Unit::Comprehension);
        if nature.coroutine && !is_generator && !may_wait {
            return Err(self.refuse("asynchronous comprehension outside of an asynchronous function"));
        }
        self.within(Unit::Comprehension, nature, |f| {
            f.expression(&first.target)?;
            first.ifs.iter().try_for_each(|test| f.expression(test))?;
            for generator in rest {
                f.expression(&generator.iter)?;
                f.expression(&generator.target)?;
                generator.ifs.iter().try_for_each(|test| f.expression(test))?;
            }
            results.into_iter().flatten().try_for_each(|result| f.expression(result))
        })?;
        self.expression(&first.iter)
    }

    /// What the cases of a `match` have behind their patterns.
    pub fn case_body(&mut self, guard: Option<&'a Expr>, body: &'a [Stmt]) -> Checked {
        self.expressions(guard)?;
        self.body(body)
    }
}
