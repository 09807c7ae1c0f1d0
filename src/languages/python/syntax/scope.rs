//! The names of an input, by scope: where each is stored (in a slot, in a shared cell, or among the session's
//! variables), and the faults that CPython's symbol table reports. Knows nothing about compilation.

use super::outline::{Body, Outline};
use super::{SyntaxFault, start};
use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{
    Alias, Comprehension, ExceptHandler, Expr, ExprContext, Identifier, ModModule, Parameters, Pattern, Stmt,
};
use ruff_text_size::{Ranged, TextRange};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// The scope of the module, whose names do not have slots.
pub const MODULE: usize = 0;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScopeKind {
    Module,
    /// Code that `exec` runs with names of its own.
    Namespace,
    Class,
    Function,
    /// A comprehension or a generator expression, with CPython's name for it.
    Comprehension(&'static str),
}

/// The storage of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameScope {
    /// In a slot of the frame.
    Local,
    /// In a cell of the frame or of an enclosing frame, shared with inner functions.
    Cell,
    /// Among the variables of the session.
    Global,
    /// In the namespace of a class body or of `exec`.
    Namespace,
}

/// The uses of a name in a scope.
#[derive(Clone, Copy, Default)]
struct Symbol {
    parameter: bool,
    used: bool,
    assigned: bool,
    imported: bool,
    annotated: bool,
    global: bool,
    /// The offset of its nonlocal declaration.
    nonlocal: Option<usize>,
    /// Whether it is in a cell shared with inner functions, or in a cell of an enclosing function.
    cell: bool,
    free: bool,
}

impl Symbol {
    /// Returns whether the name belongs to this scope.
    fn is_own(&self) -> bool {
        (self.parameter || self.assigned || self.imported) && !self.global && self.nonlocal.is_none()
    }
}

/// The names of one scope.
pub struct Scope<'a> {
    pub kind: ScopeKind,
    parent: usize,
    symbols: BTreeMap<&'a str, Symbol>,
    pub is_generator: bool,
}

impl<'a> Scope<'a> {
    /// Returns where a name of this scope is stored.
    pub fn place(&self, name: &str) -> NameScope {
        let symbol = self.symbols.get(name).copied().unwrap_or_default();
        match self.kind {
            ScopeKind::Class if symbol.is_own() => NameScope::Namespace,
            ScopeKind::Namespace if !symbol.global => NameScope::Namespace,
            _ if symbol.cell || symbol.free => NameScope::Cell,
            // A metaclass may have put it there.
            ScopeKind::Class if !symbol.global => NameScope::Namespace,
            ScopeKind::Function | ScopeKind::Comprehension(_) if symbol.is_own() => NameScope::Local,
            _ => NameScope::Global,
        }
    }

    /// Returns the names in cells that belong to this scope.
    pub fn cells(&self) -> impl Iterator<Item = &'a str> {
        self.symbols.iter().filter(|(_, symbol)| symbol.cell).map(|(name, _)| *name)
    }

    /// Returns the names in cells of enclosing scopes.
    pub fn free(&self) -> impl Iterator<Item = &'a str> {
        self.symbols.iter().filter(|(_, symbol)| symbol.free).map(|(name, _)| *name)
    }
}

/// All scopes of an input.
#[derive(Default)]
pub struct Scopes<'a> {
    pub all: Vec<Scope<'a>>,
    /// The scope of a function, class or comprehension, by its range in the source.
    of: FxHashMap<TextRange, usize>,
    outline: Option<&'a Outline>,
    here: usize,
    /// The first fault.
    pub fault: Option<SyntaxFault>,
    /// Number of comprehensions whose iterable is being visited. Assignment is not allowed there.
    iterables: usize,
}

/// Collects the names of an input, or of its outline.
pub(crate) fn scopes<'a>(module: &'a ModModule, outline: Option<&'a Outline>) -> Scopes<'a> {
    let mut scopes = Scopes { outline, ..Scopes::default() };
    scopes.within(module, ScopeKind::Module, |this| this.visit_body(&module.body));
    scopes.resolve();
    scopes
}

impl<'a> Scopes<'a> {
    /// Returns the scope that a node opens.
    pub fn of(&self, node: &impl Ranged) -> usize {
        self.of.get(&node.range()).copied().unwrap_or(MODULE)
    }

    /// Returns the function that has this body in the outline, in which it is blank.
    pub(crate) fn left_out(&self, body: &[Stmt]) -> Option<&'a Body> {
        self.outline?.function_at(start(body.first()?))
    }

    /// Makes the names outside functions and classes those of a namespace.
    pub(crate) fn look_in_namespace(&mut self) {
        if let Some(module) = self.all.first_mut() {
            module.kind = ScopeKind::Namespace;
        }
    }

    fn refuse(&mut self, message: impl Into<String>, at: usize) {
        self.fault.get_or_insert_with(|| SyntaxFault::of_compiler(message, at));
    }

    fn symbol(&self, name: &str) -> Symbol {
        self.all.get(self.here).and_then(|scope| scope.symbols.get(name)).copied().unwrap_or_default()
    }

    fn note(&mut self, name: &'a str, set: impl FnOnce(&mut Symbol)) {
        self.note_in(self.here, name, set);
    }

    fn note_in(&mut self, scope: usize, name: &'a str, set: impl FnOnce(&mut Symbol)) {
        if let Some(scope) = self.all.get_mut(scope) {
            set(scope.symbols.entry(name).or_default());
        }
    }

    fn within(&mut self, node: &impl Ranged, kind: ScopeKind, look: impl FnOnce(&mut Self)) {
        let (around, inner) = (self.here, self.all.len());
        let is_generator = kind == ScopeKind::Comprehension("generator expression");
        self.all.push(Scope { kind, parent: around, symbols: BTreeMap::new(), is_generator });
        self.of.insert(node.range(), inner);
        self.here = inner;
        look(self);
        self.here = around;
    }

    /// Visits a function. Defaults and annotations are evaluated in the enclosing scope.
    fn function(&mut self, node: &impl Ranged, parameters: Option<&'a Parameters>, look: impl FnOnce(&mut Self)) {
        parameters.iter().for_each(|parameters| self.visit_parameters(parameters));
        self.within(node, ScopeKind::Function, |this| {
            for parameter in parameters.into_iter().flatten() {
                let (name, at) = (parameter.name().as_str(), start(parameter.name()));
                if this.symbol(name).parameter {
                    this.refuse(format!("duplicate argument '{name}' in function definition"), at);
                }
                this.note(name, |symbol| symbol.parameter = true);
            }
            look(this);
        });
    }

    fn declare(&mut self, names: &'a [Identifier], at: usize, how: &str) {
        for name in names {
            let message = match self.symbol(name) {
                Symbol { parameter: true, .. } => format!("name '{name}' is parameter and {how}"),
                Symbol { used: true, .. } => format!("name '{name}' is used prior to {how} declaration"),
                Symbol { annotated: true, .. } => format!("annotated name '{name}' can't be {how}"),
                Symbol { assigned: true, .. } => format!("name '{name}' is assigned to before {how} declaration"),
                _ => String::new(),
            };
            if !message.is_empty() {
                self.refuse(message, at);
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

    fn comprehension(
        &mut self,
        node: &impl Ranged,
        name: &'static str,
        generators: &'a [Comprehension],
        results: [Option<&'a Expr>; 2],
    ) {
        let Some((first, rest)) = generators.split_first() else { return };
        self.iterable(&first.iter);
        self.within(node, ScopeKind::Comprehension(name), |this| {
            this.note(".0", |symbol| symbol.parameter = true);
            this.visit_expr(&first.target);
            first.ifs.iter().for_each(|condition| this.visit_expr(condition));
            for generator in rest {
                this.iterable(&generator.iter);
                this.visit_expr(&generator.target);
                generator.ifs.iter().for_each(|condition| this.visit_expr(condition));
            }
            results.into_iter().flatten().for_each(|result| this.visit_expr(result));
        });
    }

    /// Finds the owning scope of every name that a scope does not own, and makes the name a cell there.
    fn resolve(&mut self) {
        for inner in 0..self.all.len() {
            let Some(scope) = self.all.get(inner) else { continue };
            let others = scope.symbols.iter().filter(|(_, symbol)| !symbol.is_own());
            let mut others: Vec<_> = others.map(|(name, symbol)| (symbol.nonlocal, *name, symbol.global)).collect();
            others.sort_unstable();
            for (nonlocal, name, is_global) in others {
                let is_found = !is_global && self.share(inner, name);
                let Some(at) = nonlocal else { continue };
                if is_global {
                    self.refuse(format!("name '{name}' is nonlocal and global"), at);
                } else if inner == MODULE {
                    self.refuse("nonlocal declaration not allowed at module level", at);
                } else if !is_found {
                    self.refuse(format!("no binding for nonlocal '{name}' found"), at);
                }
            }
        }
    }

    /// Makes a name a cell of the enclosing function that owns it. Returns whether there is one.
    fn share(&mut self, inner: usize, name: &'a str) -> bool {
        let (mut between, mut at) = (vec![inner], inner);
        loop {
            at = self.all.get(at).map_or(MODULE, |scope| scope.parent);
            let Some(scope) = self.all.get(at).filter(|_| at != MODULE) else { return false };
            let symbol = scope.symbols.get(name).copied().unwrap_or_default();
            // Functions in a class see none of its names except `__class__`.
            if if scope.kind == ScopeKind::Class { name == "__class__" } else { symbol.is_own() } {
                self.note_in(at, name, |symbol| symbol.cell = true);
                between.into_iter().for_each(|scope| self.note_in(scope, name, |symbol| symbol.free = true));
                return true;
            }
            if symbol.global {
                return false;
            }
            between.push(at);
        }
    }
}

impl<'a> Visitor<'a> for Scopes<'a> {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        match statement {
            Stmt::FunctionDef(s) => {
                self.note(&s.name, |symbol| symbol.assigned = true);
                s.decorator_list.iter().for_each(|decorator| self.visit_decorator(decorator));
                s.returns.iter().for_each(|annotation| self.visit_annotation(annotation));
                match self.left_out(&s.body) {
                    None => self.function(s, Some(&s.parameters), |this| this.visit_body(&s.body)),
                    Some(left_out) => {
                        self.visit_parameters(&s.parameters);
                        self.within(s, ScopeKind::Function, |this| {
                            if left_out.sees_class {
                                this.note("__class__", |symbol| symbol.used = true);
                            }
                        });
                    }
                }
            }
            Stmt::ClassDef(s) => {
                self.note(&s.name, |symbol| symbol.assigned = true);
                s.decorator_list.iter().for_each(|decorator| self.visit_decorator(decorator));
                s.arguments.iter().for_each(|arguments| self.visit_arguments(arguments));
                self.within(s, ScopeKind::Class, |this| this.visit_body(&s.body));
            }
            Stmt::Global(s) => self.declare(&s.names, start(s), "global"),
            Stmt::Nonlocal(s) => self.declare(&s.names, start(s), "nonlocal"),
            Stmt::AnnAssign(s) if s.simple && s.target.is_name_expr() => {
                let Expr::Name(target) = &*s.target else { return };
                let symbol = self.symbol(&target.id);
                if self.here != MODULE && (symbol.global || symbol.nonlocal.is_some()) {
                    let how = if symbol.global { "global" } else { "nonlocal" };
                    self.refuse(format!("annotated name '{}' can't be {how}", target.id), start(s));
                }
                self.note(&target.id, |symbol| (symbol.annotated, symbol.assigned) = (true, true));
                if self.all.get(self.here).is_some_and(|scope| scope.kind == ScopeKind::Class) {
                    self.note("__annotations__", |symbol| symbol.assigned = true);
                }
                self.visit_annotation(&s.annotation);
                s.value.iter().for_each(|value| self.visit_expr(value));
            }
            _ => visitor::walk_stmt(self, statement),
        }
    }

    fn visit_alias(&mut self, alias: &'a Alias) {
        let name = alias.asname.as_ref().unwrap_or(&alias.name).as_str();
        if name == "*" && self.here != MODULE {
            self.refuse("import * only allowed at module level", start(alias));
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
                    return self.refuse(message, start(expression));
                }
                self.visit_expr(&e.value);
                // In a comprehension, `:=` binds the name in the enclosing scope.
                let inside = self.here;
                while let Some(Scope { kind: ScopeKind::Comprehension(_), parent, .. }) = self.all.get(self.here) {
                    let parent = *parent;
                    e.target.as_name_expr().iter().for_each(|name| self.note(&name.id, |symbol| symbol.used = true));
                    self.here = parent;
                }
                self.visit_expr(&e.target);
                self.here = inside;
            }
            Expr::Lambda(e) => {
                let iterables = std::mem::take(&mut self.iterables);
                self.function(e, e.parameters.as_deref(), |this| this.visit_expr(&e.body));
                self.iterables = iterables;
            }
            Expr::ListComp(e) => self.comprehension(e, "list comprehension", &e.generators, [Some(&*e.elt), None]),
            Expr::SetComp(e) => self.comprehension(e, "set comprehension", &e.generators, [Some(&*e.elt), None]),
            Expr::DictComp(e) => {
                self.comprehension(e, "dict comprehension", &e.generators, [Some(&*e.value), e.key.as_deref()]);
            }
            Expr::Generator(e) => self.comprehension(e, "generator expression", &e.generators, [Some(&*e.elt), None]),
            Expr::Yield(_) | Expr::YieldFrom(_) => {
                visitor::walk_expr(self, expression);
                match self.all.get_mut(self.here) {
                    Some(Scope { kind: ScopeKind::Comprehension(name), .. }) => {
                        let message = format!("'yield' inside {name}");
                        self.refuse(message, start(expression));
                    }
                    Some(scope) => scope.is_generator = true,
                    None => {}
                }
            }
            Expr::Name(e) if e.ctx == ExprContext::Load => {
                self.note(&e.id, |symbol| symbol.used = true);
                if e.id == "super" {
                    // `super()` refers to the class that contains the method.
                    self.note("__class__", |symbol| symbol.used = true);
                }
            }
            Expr::Name(e) => self.note(&e.id, |symbol| symbol.assigned = true),
            other => visitor::walk_expr(self, other),
        }
    }
}
