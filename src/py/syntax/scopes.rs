//! Which names each scope binds and declares, and what is wrong with that.
//!
//! It must not know the values of names, nor which of them are defined.

use ruff_python_ast::{
    Comprehension, ExceptHandler, Expr, ExprContext, Identifier, Parameters, Pattern, Stmt, StmtAnnAssign,
};
use ruff_text_size::{Ranged, TextRange};
use std::collections::HashMap;

use super::check::{Checked, each_annotation, each_default, each_part};
use super::raised::Raised;
use super::start;

/// What is known of a name in a scope.
#[derive(Clone, Copy, Default)]
struct Symbol {
    global: bool,
    nonlocal: bool,
    assigned: bool,
    parameter: bool,
    used: bool,
    annotated: bool,
    imported: bool,
    /// A comprehension goes through its values.
    iterates: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Module,
    Class,
    Function,
    Annotation,
    /// With its name.
    Comprehension(&'static str),
}

struct Scope<'a> {
    kind: Kind,
    parent: Option<usize>,
    symbols: HashMap<&'a str, usize>,
    in_order: Vec<(&'a str, Symbol)>,
    /// What `global` and `nonlocal` name, and where.
    directives: Vec<(&'a str, usize)>,
    /// How many sources of comprehensions are being read.
    sources: usize,
    /// The target of a comprehension is being read.
    in_target: bool,
    coroutine: bool,
    generator: bool,
}

/// What the scope of a function or comprehension turned out to be.
#[derive(Clone, Copy, Default)]
pub struct Nature {
    /// It awaits something.
    pub coroutine: bool,
    /// It yields something.
    pub generator: bool,
}

pub struct Scopes<'a> {
    all: Vec<Scope<'a>>,
    here: usize,
    /// Annotations are not evaluated.
    future_annotations: bool,
    natures: HashMap<TextRange, Nature>,
}

impl<'a> Scopes<'a> {
    /// # Errors
    /// The first fault in the use of names.
    pub fn of(body: &'a [Stmt], future_annotations: bool) -> Result<Self, Raised> {
        let mut scopes = Self { all: Vec::new(), here: 0, future_annotations, natures: HashMap::new() };
        scopes.enter(Kind::Module);
        scopes.body(body)?;
        scopes.check_declarations()?;
        Ok(scopes)
    }

    pub fn nature(&self, scope: &impl Ranged) -> Nature {
        self.natures.get(&scope.range()).copied().unwrap_or_default()
    }

    fn enter(&mut self, kind: Kind) {
        let parent = (!self.all.is_empty()).then_some(self.here);
        let sources = parent.and_then(|parent| self.all.get(parent)).map_or(0, |scope| scope.sources);
        self.here = self.all.len();
        self.all.push(Scope {
            kind,
            parent,
            symbols: HashMap::new(),
            in_order: Vec::new(),
            directives: Vec::new(),
            sources,
            in_target: false,
            coroutine: false,
            generator: false,
        });
    }

    /// Leaves the scope of a node, and notes what it was.
    fn leave(&mut self, node: &impl Ranged) {
        let Some(scope) = self.all.get(self.here) else { return };
        self.natures.insert(node.range(), Nature { coroutine: scope.coroutine, generator: scope.generator });
        self.here = scope.parent.unwrap_or_default();
    }

    fn current(&mut self) -> Option<&mut Scope<'a>> {
        self.all.get_mut(self.here)
    }

    fn is_module(&self) -> bool {
        self.here == 0
    }

    fn symbol(&self, scope: usize, name: &str) -> Symbol {
        let scope = self.all.get(scope);
        scope
            .and_then(|scope| scope.in_order.get(*scope.symbols.get(name)?))
            .map(|(_, symbol)| *symbol)
            .unwrap_or_default()
    }

    /// Notes something about a name in a scope.
    fn note(&mut self, scope: usize, name: &'a str, at: usize, note: impl FnOnce(&mut Symbol)) -> Checked {
        let Some(scope) = self.all.get_mut(scope) else { return Ok(()) };
        let next = scope.in_order.len();
        let index = *scope.symbols.entry(name).or_insert(next);
        if index == next {
            scope.in_order.push((name, Symbol::default()));
        }
        let Some((_, symbol)) = scope.in_order.get_mut(index) else { return Ok(()) };
        let was_parameter = std::mem::take(&mut symbol.parameter);
        note(symbol);
        if was_parameter && symbol.parameter {
            let message = format!("duplicate argument '{name}' in function definition");
            return Err(Raised::syntax(message, at));
        }
        symbol.parameter |= was_parameter;
        if scope.in_target {
            if symbol.global || symbol.nonlocal {
                let message = format!("comprehension inner loop cannot rebind assignment expression target '{name}'");
                return Err(Raised::syntax(message, at));
            }
            symbol.iterates = true;
        }
        Ok(())
    }

    fn assign(&mut self, name: &'a str, at: usize) -> Checked {
        self.note(self.here, name, at, |symbol| symbol.assigned = true)
    }

    fn assign_identifier(&mut self, name: Option<&'a Identifier>) -> Checked {
        name.map_or(Ok(()), |name| self.assign(name.as_str(), start(name)))
    }

    fn body(&mut self, body: &'a [Stmt]) -> Checked {
        body.iter().try_for_each(|statement| self.statement(statement))
    }

    fn expressions(&mut self, expressions: impl IntoIterator<Item = &'a Expr>) -> Checked {
        expressions.into_iter().try_for_each(|expression| self.expression(expression))
    }

    fn statement(&mut self, statement: &'a Stmt) -> Checked {
        match statement {
            Stmt::FunctionDef(s) => {
                self.assign(s.name.as_str(), start(&s.name))?;
                each_default(&s.parameters, &mut |default| self.expression(default))?;
                each_annotation(&s.parameters, &mut |annotation| self.annotation(annotation))?;
                s.returns.as_deref().map_or(Ok(()), |returns| self.annotation(returns))?;
                self.expressions(s.decorator_list.iter().map(|decorator| &decorator.expression))?;
                self.enter(Kind::Function);
                if let Some(scope) = self.current() {
                    scope.coroutine = s.is_async;
                }
                self.parameters(&s.parameters)?;
                self.body(&s.body)?;
                self.leave(s);
                Ok(())
            }
            Stmt::ClassDef(s) => {
                self.assign(s.name.as_str(), start(&s.name))?;
                if let Some(arguments) = &s.arguments {
                    self.expressions(&arguments.args)?;
                    self.expressions(arguments.keywords.iter().map(|keyword| &keyword.value))?;
                }
                self.expressions(s.decorator_list.iter().map(|decorator| &decorator.expression))?;
                self.enter(Kind::Class);
                self.body(&s.body)?;
                self.leave(s);
                Ok(())
            }
            Stmt::Return(s) => self.expressions(s.value.as_deref()),
            Stmt::Delete(s) => self.expressions(&s.targets),
            Stmt::Assign(s) => {
                self.expressions(&s.targets)?;
                self.expression(&s.value)
            }
            Stmt::AugAssign(s) => {
                self.expression(&s.target)?;
                self.expression(&s.value)
            }
            Stmt::AnnAssign(s) => self.annotated_assignment(s),
            Stmt::For(s) => {
                self.expression(&s.target)?;
                self.expression(&s.iter)?;
                self.body(&s.body)?;
                self.body(&s.orelse)
            }
            Stmt::While(s) => {
                self.expression(&s.test)?;
                self.body(&s.body)?;
                self.body(&s.orelse)
            }
            Stmt::If(s) => {
                self.expression(&s.test)?;
                self.body(&s.body)?;
                for clause in &s.elif_else_clauses {
                    self.expressions(clause.test.as_ref())?;
                    self.body(&clause.body)?;
                }
                Ok(())
            }
            Stmt::With(s) => {
                for item in &s.items {
                    self.expression(&item.context_expr)?;
                    self.expressions(item.optional_vars.as_deref())?;
                }
                self.body(&s.body)
            }
            Stmt::Match(s) => {
                self.expression(&s.subject)?;
                for case in &s.cases {
                    self.pattern(&case.pattern)?;
                    self.expressions(case.guard.as_deref())?;
                    self.body(&case.body)?;
                }
                Ok(())
            }
            Stmt::Raise(s) => {
                self.expressions(s.exc.as_deref())?;
                self.expressions(s.cause.as_deref())
            }
            Stmt::Try(s) => {
                self.body(&s.body)?;
                self.body(&s.orelse)?;
                for ExceptHandler::ExceptHandler(handler) in &s.handlers {
                    self.expressions(handler.type_.as_deref())?;
                    self.assign_identifier(handler.name.as_ref())?;
                    self.body(&handler.body)?;
                }
                self.body(&s.finalbody)
            }
            Stmt::Assert(s) => {
                self.expression(&s.test)?;
                self.expressions(s.msg.as_deref())
            }
            Stmt::Import(s) => self.imports(&s.names),
            Stmt::ImportFrom(s) => self.imports(&s.names),
            Stmt::Global(s) => self.declare(&s.names, start(s), "global"),
            Stmt::Nonlocal(s) => self.declare(&s.names, start(s), "nonlocal"),
            Stmt::Expr(s) => self.expression(&s.value),
            _ => Ok(()),
        }
    }

    fn imports(&mut self, names: &'a [ruff_python_ast::Alias]) -> Checked {
        for alias in names {
            let name = alias.asname.as_ref().unwrap_or(&alias.name).as_str();
            if name == "*" {
                if !self.is_module() {
                    return Err(Raised::syntax("import * only allowed at module level", start(alias)));
                }
                continue;
            }
            let name = name.split('.').next().unwrap_or_default();
            self.note(self.here, name, start(alias), |symbol| symbol.imported = true)?;
        }
        Ok(())
    }

    fn declare(&mut self, names: &'a [Identifier], at: usize, how: &'static str) -> Checked {
        for name in names {
            let name = name.as_str();
            let symbol = self.symbol(self.here, name);
            let fault = if symbol.parameter {
                Some(format!("name '{name}' is parameter and {how}"))
            } else if symbol.used {
                Some(format!("name '{name}' is used prior to {how} declaration"))
            } else if symbol.annotated {
                Some(format!("annotated name '{name}' can't be {how}"))
            } else if symbol.assigned {
                Some(format!("name '{name}' is assigned to before {how} declaration"))
            } else {
                None
            };
            if let Some(message) = fault {
                return Err(Raised::syntax(message, at));
            }
            self.declared(self.here, name, at, how)?;
        }
        Ok(())
    }

    fn declared(&mut self, scope: usize, name: &'a str, at: usize, how: &str) -> Checked {
        self.note(scope, name, at, |symbol| match how {
            "global" => symbol.global = true,
            _ => symbol.nonlocal = true,
        })?;
        if let Some(scope) = self.all.get_mut(scope) {
            scope.directives.push((name, at));
        }
        Ok(())
    }

    fn annotated_assignment(&mut self, s: &'a StmtAnnAssign) -> Checked {
        match &*s.target {
            Expr::Name(target) => {
                let name = target.id.as_str();
                let symbol = self.symbol(self.here, name);
                if s.simple && !self.is_module() && (symbol.global || symbol.nonlocal) {
                    let how = if symbol.global { "global" } else { "nonlocal" };
                    return Err(Raised::syntax(format!("annotated name '{name}' can't be {how}"), start(s)));
                }
                let (annotated, assigned) = (s.simple, s.simple || s.value.is_some());
                if assigned {
                    self.note(self.here, name, start(target), |symbol| {
                        symbol.annotated |= annotated;
                        symbol.assigned = true;
                    })?;
                }
            }
            other => self.expression(other)?,
        }
        self.annotation(&s.annotation)?;
        self.expressions(s.value.as_deref())
    }

    fn annotation(&mut self, annotation: &'a Expr) -> Checked {
        if !self.future_annotations {
            return self.expression(annotation);
        }
        self.enter(Kind::Annotation);
        self.expression(annotation)?;
        if let Some(parent) = self.all.get(self.here).and_then(|scope| scope.parent) {
            self.here = parent;
        }
        Ok(())
    }

    fn parameters(&mut self, parameters: &'a Parameters) -> Checked {
        let ordinary = parameters.iter_non_variadic_params().map(|parameter| &parameter.parameter);
        let stars = parameters.vararg.iter().chain(&parameters.kwarg).map(|parameter| &**parameter);
        for parameter in ordinary.chain(stars) {
            let at = start(&parameter.name);
            self.note(self.here, parameter.name.as_str(), at, |symbol| symbol.parameter = true)?;
        }
        Ok(())
    }

    fn pattern(&mut self, pattern: &'a Pattern) -> Checked {
        match pattern {
            Pattern::MatchValue(p) => self.expression(&p.value),
            Pattern::MatchSingleton(_) => Ok(()),
            Pattern::MatchSequence(p) => p.patterns.iter().try_for_each(|inner| self.pattern(inner)),
            Pattern::MatchMapping(p) => {
                self.expressions(&p.keys)?;
                p.patterns.iter().try_for_each(|inner| self.pattern(inner))?;
                self.assign_identifier(p.rest.as_ref())
            }
            Pattern::MatchClass(p) => {
                self.expression(&p.cls)?;
                p.arguments.patterns.iter().try_for_each(|inner| self.pattern(inner))?;
                p.arguments.keywords.iter().try_for_each(|keyword| self.pattern(&keyword.pattern))
            }
            Pattern::MatchStar(p) => self.assign_identifier(p.name.as_ref()),
            Pattern::MatchAs(p) => {
                p.pattern.as_deref().map_or(Ok(()), |inner| self.pattern(inner))?;
                self.assign_identifier(p.name.as_ref())
            }
            Pattern::MatchOr(p) => p.patterns.iter().try_for_each(|inner| self.pattern(inner)),
        }
    }

    fn expression(&mut self, expression: &'a Expr) -> Checked {
        match expression {
            Expr::Named(e) => {
                self.refuse_in_annotation("named expression", start(e))?;
                if self.current().is_some_and(|scope| scope.sources > 0) {
                    let message = "assignment expression cannot be used in a comprehension iterable expression";
                    return Err(Raised::syntax(message, start(e)));
                }
                if let Expr::Name(target) = &*e.target {
                    self.name_in_comprehension(target.id.as_str(), start(e))?;
                }
                self.expression(&e.value)?;
                self.expression(&e.target)
            }
            Expr::Lambda(e) => {
                if let Some(parameters) = &e.parameters {
                    each_default(parameters, &mut |default| self.expression(default))?;
                }
                self.enter(Kind::Function);
                if let Some(parameters) = &e.parameters {
                    self.parameters(parameters)?;
                }
                self.expression(&e.body)?;
                self.leave(e);
                Ok(())
            }
            Expr::ListComp(e) => self.comprehension(e, "list comprehension", &e.generators, [Some(&*e.elt), None]),
            Expr::SetComp(e) => self.comprehension(e, "set comprehension", &e.generators, [Some(&*e.elt), None]),
            Expr::DictComp(e) => {
                let parts = [Some(&*e.value), e.key.as_deref()];
                self.comprehension(e, "dict comprehension", &e.generators, parts)
            }
            Expr::Generator(e) => self.comprehension(e, "generator expression", &e.generators, [Some(&*e.elt), None]),
            Expr::Yield(_) | Expr::YieldFrom(_) => {
                let at = start(expression);
                self.refuse_in_annotation("yield expression", at)?;
                each_part(expression, &mut |part| self.expression(part))?;
                let Some(scope) = self.current() else { return Ok(()) };
                scope.generator = true;
                match scope.kind {
                    Kind::Comprehension(name) => Err(Raised::syntax(format!("'yield' inside {name}"), at)),
                    _ => Ok(()),
                }
            }
            Expr::Await(e) => {
                self.refuse_in_annotation("await expression", start(e))?;
                self.expression(&e.value)?;
                if let Some(scope) = self.current() {
                    scope.coroutine = true;
                }
                Ok(())
            }
            Expr::Name(e) => {
                let loads = e.ctx == ExprContext::Load;
                self.note(self.here, e.id.as_str(), start(e), |symbol| {
                    if loads {
                        symbol.used = true;
                    } else {
                        symbol.assigned = true;
                    }
                })
            }
            other => each_part(other, &mut |part| self.expression(part)),
        }
    }

    fn refuse_in_annotation(&mut self, what: &str, at: usize) -> Checked {
        match self.current().map(|scope| scope.kind) {
            Some(Kind::Annotation) => Err(Raised::syntax(format!("'{what}' can not be used within an annotation"), at)),
            _ => Ok(()),
        }
    }

    /// `name := …` in a comprehension binds the name around it.
    fn name_in_comprehension(&mut self, name: &'a str, at: usize) -> Checked {
        let mut next = Some(self.here);
        if !matches!(self.current().map(|scope| scope.kind), Some(Kind::Comprehension(_))) {
            return Ok(());
        }
        while let Some(index) = next {
            let Some(scope) = self.all.get(index) else { return Ok(()) };
            next = scope.parent;
            match scope.kind {
                Kind::Comprehension(_) if self.symbol(index, name).iterates => {
                    let message =
                        format!("assignment expression cannot rebind comprehension iteration variable '{name}'");
                    return Err(Raised::syntax(message, at));
                }
                Kind::Comprehension(_) | Kind::Annotation => {}
                Kind::Function => {
                    let how = if self.symbol(index, name).global { "global" } else { "nonlocal" };
                    self.declared(self.here, name, at, how)?;
                    return self.note(index, name, at, |symbol| symbol.assigned = true);
                }
                Kind::Module => {
                    self.declared(self.here, name, at, "global")?;
                    return self.note(index, name, at, |symbol| symbol.global = true);
                }
                Kind::Class => {
                    let message = "assignment expression within a comprehension cannot be used in a class body";
                    return Err(Raised::syntax(message, at));
                }
            }
        }
        Ok(())
    }

    /// `results` are what it makes, in the order in which CPython looks at them.
    fn comprehension(
        &mut self,
        node: &impl Ranged,
        name: &'static str,
        generators: &'a [Comprehension],
        results: [Option<&'a Expr>; 2],
    ) -> Checked {
        let Some((first, rest)) = generators.split_first() else { return Ok(()) };
        self.source(&first.iter)?;
        self.enter(Kind::Comprehension(name));
        self.target(&first.target)?;
        self.expressions(&first.ifs)?;
        for generator in rest {
            self.target(&generator.target)?;
            self.source(&generator.iter)?;
            self.expressions(&generator.ifs)?;
        }
        results.into_iter().flatten().try_for_each(|result| self.expression(result))?;
        let awaits = self.current().is_some_and(|scope| {
            scope.coroutine |= generators.iter().any(|generator| generator.is_async);
            scope.coroutine && scope.kind != Kind::Comprehension("generator expression")
        });
        self.leave(node);
        // What awaits inside makes what is around it wait.
        if awaits && let Some(around) = self.current() {
            around.coroutine = true;
        }
        Ok(())
    }

    fn source(&mut self, iterated: &'a Expr) -> Checked {
        if let Some(scope) = self.current() {
            scope.sources += 1;
        }
        self.expression(iterated)?;
        if let Some(scope) = self.current() {
            scope.sources = scope.sources.saturating_sub(1);
        }
        Ok(())
    }

    fn target(&mut self, target: &'a Expr) -> Checked {
        if let Some(scope) = self.current() {
            scope.in_target = true;
        }
        self.expression(target)?;
        if let Some(scope) = self.current() {
            scope.in_target = false;
        }
        Ok(())
    }

    /// Whether every `nonlocal` has something to mean. The scopes stand in the order in which they begin.
    fn check_declarations(&self) -> Checked {
        for (index, scope) in self.all.iter().enumerate() {
            for (name, symbol) in scope.in_order.iter().filter(|(_, symbol)| symbol.nonlocal) {
                let message = if symbol.global {
                    format!("name '{name}' is nonlocal and global")
                } else if index == 0 {
                    "nonlocal declaration not allowed at module level".to_owned()
                } else if self.binds_around(scope, name) {
                    continue;
                } else {
                    format!("no binding for nonlocal '{name}' found")
                };
                let directive = scope.directives.iter().find(|(declared, _)| declared == name);
                return Err(Raised::syntax(message, directive.map_or(0, |(_, at)| *at)));
            }
        }
        Ok(())
    }

    fn binds_around(&self, scope: &Scope<'a>, name: &str) -> bool {
        let mut next = scope.parent;
        while let Some((index, around)) = next.and_then(|index| Some((index, self.all.get(index)?))) {
            let symbol = self.symbol(index, name);
            match around.kind {
                Kind::Class if name == "__class__" => return true,
                Kind::Module => return false,
                Kind::Class | Kind::Annotation => {}
                Kind::Function | Kind::Comprehension(_) if symbol.global => return false,
                Kind::Function | Kind::Comprehension(_) => {
                    let binds = symbol.assigned || symbol.parameter || symbol.imported;
                    if binds && !symbol.nonlocal {
                        return true;
                    }
                }
            }
            next = around.parent;
        }
        false
    }
}
