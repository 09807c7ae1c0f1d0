//! What CPython refuses after it has parsed: names that are declared too late, `return` outside a function, a starred
//! expression in the wrong place.
//!
//! It must not know how a program runs.
//!
//! The order is CPython's, for the first fault is the one: first the names of all scopes, then the statements one by one.

use std::collections::HashMap;

use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{Comprehension, ExceptHandler, Expr, ExprContext, Keyword, ModModule, Parameters, Pattern, Stmt};

use super::{Stage, SyntaxFault, start};

/// # Errors
/// The first fault of a source that has been parsed.
pub fn check(module: &ModModule) -> Result<(), SyntaxFault> {
    let mut names = Names { scopes: vec![Scope::default()], ..Names::default() };
    names.visit_body(&module.body);
    let unbound = || names.scopes.iter().find_map(|scope| scope.unbound(&names.scopes));
    let mut places = Places { fault: names.fault.or_else(unbound), ..Places::default() };
    places.visit_body(&module.body);
    places.fault.map_or(Ok(()), Err)
}

fn refuse(fault: &mut Option<SyntaxFault>, message: impl Into<String>, at: usize) {
    fault.get_or_insert_with(|| SyntaxFault { stage: Stage::Compiler, ..SyntaxFault::syntax(message, at) });
}

/// What the code stands in.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Unit {
    #[default]
    Module,
    Class,
    Function,
    AsyncFunction,
    /// With its name in CPython's words.
    Comprehension(&'static str),
}

/// What is known of a name in a scope.
#[derive(Clone, Copy, Default)]
struct Symbol {
    parameter: bool,
    used: bool,
    assigned: bool,
    imported: bool,
    annotated: bool,
    global: bool,
    /// Where it is declared nonlocal.
    nonlocal: Option<usize>,
}

#[derive(Default)]
struct Scope<'a> {
    unit: Unit,
    parent: Option<usize>,
    symbols: HashMap<&'a str, Symbol>,
}

impl Scope<'_> {
    /// A nonlocal name that no function around has.
    fn unbound(&self, all: &[Scope<'_>]) -> Option<SyntaxFault> {
        let mut fault = None;
        let mut declared: Vec<_> = self.symbols.iter().filter_map(|(name, s)| Some((s.nonlocal?, name, s))).collect();
        declared.sort_by_key(|(at, ..)| *at);
        for (at, name, symbol) in declared {
            let mut around = std::iter::successors(self.parent.and_then(|i| all.get(i)), |s| all.get(s.parent?));
            let binds = |s: &Scope<'_>| {
                let bound = |s: &Symbol| (s.assigned || s.imported || s.parameter) && s.nonlocal.is_none() && !s.global;
                !matches!(s.unit, Unit::Module | Unit::Class) && s.symbols.get(name).is_some_and(bound)
            };
            if symbol.global {
                refuse(&mut fault, format!("name '{name}' is nonlocal and global"), at);
            } else if self.parent.is_none() {
                refuse(&mut fault, "nonlocal declaration not allowed at module level", at);
            } else if !around.any(binds) {
                refuse(&mut fault, format!("no binding for nonlocal '{name}' found"), at);
            }
        }
        fault
    }
}

#[derive(Default)]
struct Names<'a> {
    scopes: Vec<Scope<'a>>,
    here: usize,
    fault: Option<SyntaxFault>,
    /// How many comprehensions it is in the iterables of, where nothing can be assigned.
    iterables: usize,
}

impl<'a> Names<'a> {
    fn note(&mut self, name: &'a str, set: impl FnOnce(&mut Symbol)) {
        let Some(scope) = self.scopes.get_mut(self.here) else { return };
        set(scope.symbols.entry(name).or_default());
    }

    fn within(&mut self, unit: Unit, look: impl FnOnce(&mut Self)) {
        let around = self.here;
        self.here = self.scopes.len();
        self.scopes.push(Scope { unit, parent: Some(around), ..Scope::default() });
        look(self);
        self.here = around;
    }

    fn function(&mut self, parameters: Option<&'a Parameters>, look: impl FnOnce(&mut Self)) {
        if let Some(parameters) = parameters {
            self.visit_parameters(parameters);
        }
        self.within(Unit::Function, |names| {
            for parameter in parameters.into_iter().flatten() {
                let (name, at) = (parameter.name().as_str(), start(parameter.name()));
                if names.symbol(name).parameter {
                    refuse(&mut names.fault, format!("duplicate argument '{name}' in function definition"), at);
                }
                names.note(name, |symbol| symbol.parameter = true);
            }
            look(names);
        });
    }

    fn symbol(&self, name: &str) -> Symbol {
        self.scopes.get(self.here).and_then(|scope| scope.symbols.get(name)).copied().unwrap_or_default()
    }

    fn declare(&mut self, names: &'a [ruff_python_ast::Identifier], at: usize, how: &str) {
        for name in names {
            let symbol = self.symbol(name);
            let message = match symbol {
                Symbol { parameter: true, .. } => format!("name '{name}' is parameter and {how}"),
                Symbol { used: true, .. } => format!("name '{name}' is used prior to {how} declaration"),
                Symbol { annotated: true, .. } => format!("annotated name '{name}' can't be {how}"),
                Symbol { assigned: true, .. } => format!("name '{name}' is assigned to before {how} declaration"),
                _ => String::new(),
            };
            if !message.is_empty() {
                refuse(&mut self.fault, message, at);
            }
            self.note(name, |symbol| match how {
                "global" => symbol.global = true,
                _ => symbol.nonlocal = Some(at),
            });
        }
    }

    fn iterable(&mut self, expression: &'a Expr) {
        self.iterables += 1;
        self.visit_expr(expression);
        self.iterables -= 1;
    }

    fn comprehension(&mut self, name: &'static str, generators: &'a [Comprehension], results: [Option<&'a Expr>; 2]) {
        let Some((first, rest)) = generators.split_first() else { return };
        self.iterable(&first.iter);
        self.within(Unit::Comprehension(name), |names| {
            names.visit_expr(&first.target);
            first.ifs.iter().for_each(|condition| names.visit_expr(condition));
            for generator in rest {
                names.iterable(&generator.iter);
                names.visit_expr(&generator.target);
                generator.ifs.iter().for_each(|condition| names.visit_expr(condition));
            }
            results.into_iter().flatten().for_each(|result| names.visit_expr(result));
        });
    }
}

impl<'a> Visitor<'a> for Names<'a> {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        match statement {
            Stmt::FunctionDef(s) => {
                self.note(&s.name, |symbol| symbol.assigned = true);
                s.decorator_list.iter().for_each(|decorator| self.visit_decorator(decorator));
                s.returns.iter().for_each(|annotation| self.visit_annotation(annotation));
                self.function(Some(&s.parameters), |names| names.visit_body(&s.body));
            }
            Stmt::ClassDef(s) => {
                self.note(&s.name, |symbol| symbol.assigned = true);
                s.decorator_list.iter().for_each(|decorator| self.visit_decorator(decorator));
                s.arguments.iter().for_each(|arguments| self.visit_arguments(arguments));
                self.within(Unit::Class, |names| names.visit_body(&s.body));
            }
            Stmt::Global(s) => self.declare(&s.names, start(s), "global"),
            Stmt::Nonlocal(s) => self.declare(&s.names, start(s), "nonlocal"),
            Stmt::AnnAssign(s) if s.simple && s.target.is_name_expr() => {
                let Expr::Name(target) = &*s.target else { return };
                let symbol = self.symbol(&target.id);
                if self.here > 0 && (symbol.global || symbol.nonlocal.is_some()) {
                    let how = if symbol.global { "global" } else { "nonlocal" };
                    refuse(&mut self.fault, format!("annotated name '{}' can't be {how}", target.id), start(s));
                }
                self.note(&target.id, |symbol| (symbol.annotated, symbol.assigned) = (true, true));
                self.visit_annotation(&s.annotation);
                s.value.iter().for_each(|value| self.visit_expr(value));
            }
            _ => visitor::walk_stmt(self, statement),
        }
    }

    fn visit_alias(&mut self, alias: &'a ruff_python_ast::Alias) {
        let name = alias.asname.as_ref().unwrap_or(&alias.name).as_str();
        if name == "*" && self.here > 0 {
            refuse(&mut self.fault, "import * only allowed at module level", start(alias));
        }
        let name = name.split('.').next().unwrap_or_default();
        self.note(name, |symbol| symbol.imported = true);
    }

    fn visit_except_handler(&mut self, handler: &'a ExceptHandler) {
        let ExceptHandler::ExceptHandler(inner) = handler;
        inner.name.iter().for_each(|name| self.note(name, |symbol| symbol.assigned = true));
        visitor::walk_except_handler(self, handler);
    }

    fn visit_pattern(&mut self, pattern: &'a Pattern) {
        let name = match pattern {
            Pattern::MatchAs(p) => p.name.as_ref(),
            Pattern::MatchStar(p) => p.name.as_ref(),
            Pattern::MatchMapping(p) => p.rest.as_ref(),
            _ => None,
        };
        name.into_iter().for_each(|name| self.note(name, |symbol| symbol.assigned = true));
        visitor::walk_pattern(self, pattern);
    }

    fn visit_expr(&mut self, expression: &'a Expr) {
        match expression {
            Expr::Named(e) => {
                if self.iterables > 0 {
                    let message = "assignment expression cannot be used in a comprehension iterable expression";
                    return refuse(&mut self.fault, message, start(expression));
                }
                self.visit_expr(&e.value);
                // In a comprehension it binds the name around it.
                let inside = self.here;
                while let Some(Scope { unit: Unit::Comprehension(_), parent: Some(parent), .. }) =
                    self.scopes.get(self.here)
                {
                    self.here = *parent;
                }
                self.visit_expr(&e.target);
                self.here = inside;
            }
            Expr::Lambda(e) => {
                let iterables = std::mem::take(&mut self.iterables);
                self.function(e.parameters.as_deref(), |names| names.visit_expr(&e.body));
                self.iterables = iterables;
            }
            Expr::ListComp(e) => self.comprehension("list comprehension", &e.generators, [Some(&*e.elt), None]),
            Expr::SetComp(e) => self.comprehension("set comprehension", &e.generators, [Some(&*e.elt), None]),
            Expr::DictComp(e) => {
                self.comprehension("dict comprehension", &e.generators, [Some(&*e.value), e.key.as_deref()]);
            }
            Expr::Generator(e) => self.comprehension("generator expression", &e.generators, [Some(&*e.elt), None]),
            Expr::Yield(_) | Expr::YieldFrom(_) => {
                visitor::walk_expr(self, expression);
                if let Some(Scope { unit: Unit::Comprehension(name), .. }) = self.scopes.get(self.here) {
                    refuse(&mut self.fault, format!("'yield' inside {name}"), start(expression));
                }
            }
            Expr::Name(e) if e.ctx == ExprContext::Load => self.note(&e.id, |symbol| symbol.used = true),
            Expr::Name(e) => self.note(&e.id, |symbol| symbol.assigned = true),
            other => visitor::walk_expr(self, other),
        }
    }
}

/// Whether each statement and expression stands where it may.
#[derive(Default)]
struct Places {
    fault: Option<SyntaxFault>,
    unit: Unit,
    loops: usize,
    /// Where the statement stands.
    at: usize,
}

impl Places {
    fn refuse(&mut self, message: impl Into<String>) {
        let at = self.at;
        refuse(&mut self.fault, message, at);
    }

    fn within(&mut self, unit: Unit, look: impl FnOnce(&mut Self)) {
        let around = (self.unit, self.loops);
        (self.unit, self.loops) = (unit, 0);
        look(self);
        (self.unit, self.loops) = around;
    }

    fn is_function(&self) -> bool {
        !matches!(self.unit, Unit::Module | Unit::Class)
    }

    fn keywords(&mut self, keywords: &[Keyword]) {
        for (index, keyword) in keywords.iter().enumerate() {
            let Some(name) = &keyword.arg else { continue };
            let earlier = keywords.iter().take(index).any(|other| other.arg.as_deref() == Some(name.as_str()));
            if earlier {
                refuse(&mut self.fault, format!("keyword argument repeated: {name}"), start(keyword));
            }
        }
    }

    /// The parts of a tuple or list; of a target at most one may be starred.
    fn parts(&mut self, parts: &[Expr], context: ExprContext) {
        if context == ExprContext::Store && parts.iter().filter(|part| part.is_starred_expr()).count() > 1 {
            self.refuse("multiple starred expressions in assignment");
        }
        self.starred(parts);
    }

    fn starred(&mut self, parts: &[Expr]) {
        for part in parts {
            self.visit_expr(part.as_starred_expr().map_or(part, |starred| &*starred.value));
        }
    }

    fn looped(&mut self, body: &[Stmt], orelse: &[Stmt]) {
        self.loops += 1;
        self.visit_body(body);
        self.loops -= 1;
        self.visit_body(orelse);
    }

    fn asynchronous(&mut self, is_async: bool, what: &str) {
        if is_async && self.unit != Unit::AsyncFunction {
            self.refuse(format!("'{what}' outside async function"));
        }
    }
}

impl<'a> Visitor<'a> for Places {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        self.at = start(statement);
        match statement {
            Stmt::FunctionDef(s) => {
                s.decorator_list.iter().for_each(|decorator| self.visit_decorator(decorator));
                self.visit_parameters(&s.parameters);
                s.returns.iter().for_each(|annotation| self.visit_annotation(annotation));
                let unit = if s.is_async { Unit::AsyncFunction } else { Unit::Function };
                self.within(unit, |places| places.visit_body(&s.body));
            }
            Stmt::ClassDef(s) => {
                s.decorator_list.iter().for_each(|decorator| self.visit_decorator(decorator));
                self.within(Unit::Class, |places| places.visit_body(&s.body));
                s.arguments.iter().for_each(|arguments| self.visit_arguments(arguments));
            }
            Stmt::Return(_) if !self.is_function() => self.refuse("'return' outside function"),
            Stmt::Break(_) if self.loops == 0 => self.refuse("'break' outside loop"),
            Stmt::Continue(_) if self.loops == 0 => self.refuse("'continue' not properly in loop"),
            Stmt::For(s) => {
                self.asynchronous(s.is_async, "async for");
                self.visit_expr(&s.iter);
                self.visit_expr(&s.target);
                self.looped(&s.body, &s.orelse);
            }
            Stmt::While(s) => {
                self.visit_expr(&s.test);
                self.looped(&s.body, &s.orelse);
            }
            Stmt::Try(s) => {
                let last = s.handlers.len().saturating_sub(1);
                let bare = |handler: &ExceptHandler| handler.as_except_handler().is_some_and(|h| h.type_.is_none());
                if let Some(early) = s.handlers.iter().take(last).find(|handler| bare(handler)) {
                    refuse(&mut self.fault, "default 'except:' must be last", start(early));
                }
                visitor::walk_stmt(self, statement);
            }
            Stmt::With(s) => {
                self.asynchronous(s.is_async, "async with");
                visitor::walk_stmt(self, statement);
            }
            Stmt::Assign(s) => {
                self.visit_expr(&s.value);
                for target in &s.targets {
                    if target.is_starred_expr() {
                        self.refuse("starred assignment target must be in a list or tuple");
                    }
                    self.visit_expr(target);
                }
            }
            _ => visitor::walk_stmt(self, statement),
        }
    }

    fn visit_expr(&mut self, expression: &'a Expr) {
        let message = match expression {
            Expr::Yield(_) | Expr::YieldFrom(_) if !self.is_function() => "'yield' outside function",
            Expr::YieldFrom(_) if self.unit == Unit::AsyncFunction => "'yield from' inside async function",
            Expr::Await(_) if !self.is_function() => "'await' outside function",
            Expr::Await(_) if self.unit == Unit::Function => "'await' outside async function",
            Expr::Starred(_) => "can't use starred expression here",
            _ => "",
        };
        if !message.is_empty() {
            return refuse(&mut self.fault, message, start(expression));
        }
        match expression {
            Expr::Tuple(e) => self.parts(&e.elts, e.ctx),
            Expr::List(e) => self.parts(&e.elts, e.ctx),
            Expr::Set(e) => self.starred(&e.elts),
            Expr::Lambda(e) => {
                e.parameters.iter().for_each(|parameters| self.visit_parameters(parameters));
                self.within(Unit::Function, |places| places.visit_expr(&e.body));
            }
            _ => visitor::walk_expr(self, expression),
        }
    }

    fn visit_arguments(&mut self, arguments: &'a ruff_python_ast::Arguments) {
        self.keywords(&arguments.keywords);
        self.starred(&arguments.args);
        arguments.keywords.iter().for_each(|keyword| self.visit_expr(&keyword.value));
    }
}
