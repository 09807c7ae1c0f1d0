//! Finds out, before anything is compiled, where each name of each function, class and comprehension lives: in a slot of
//! its own, in a cell that others share, or among the variables of the session. It must not know what is compiled.

use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
use ruff_python_ast::{Comprehension, ExceptHandler, Expr, ExprContext, ModModule, Parameters, Stmt};
use ruff_text_size::{Ranged, TextRange};
use std::collections::{BTreeSet, HashMap};

/// The scope whose names have no slots.
pub const MODULE: usize = 0;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Module,
    Class,
    Function,
    /// A comprehension or a generator expression.
    Comprehension,
}

/// Where a name lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In a slot of the frame.
    Local,
    /// In a cell of the frame, which functions within share.
    Cell,
    /// In a cell of a frame around.
    Free,
    /// Among the variables of the session.
    Global,
    /// In the namespace of a class that is being made.
    Namespace,
}

/// The names of one scope.
pub struct Scope<'a> {
    pub kind: Kind,
    parent: usize,
    /// In the order in which they come up; parameters first.
    pub order: Vec<&'a str>,
    assigned: BTreeSet<&'a str>,
    global: BTreeSet<&'a str>,
    nonlocal: BTreeSet<&'a str>,
    /// The parts of the names in cells, told when all scopes are known.
    cells: BTreeSet<&'a str>,
    free: BTreeSet<&'a str>,
    pub is_generator: bool,
}

impl<'a> Scope<'a> {
    /// Where a name of this scope lives.
    pub fn place(&self, name: &str) -> Place {
        let is_own = self.assigned.contains(name) && !self.global.contains(name) && !self.nonlocal.contains(name);
        if self.kind == Kind::Class && is_own {
            Place::Namespace
        } else if self.cells.contains(name) {
            Place::Cell
        } else if self.free.contains(name) {
            Place::Free
        } else if self.kind == Kind::Module || self.global.contains(name) || !self.assigned.contains(name) {
            Place::Global
        } else {
            Place::Local
        }
    }

    /// The names in cells that belong to this scope.
    pub fn cells(&self) -> impl Iterator<Item = &'a str> {
        self.cells.iter().copied()
    }

    /// The names in cells of scopes around.
    pub fn free(&self) -> impl Iterator<Item = &'a str> {
        self.free.iter().copied()
    }

    fn note(&mut self, name: &'a str) {
        if !self.order.contains(&name) {
            self.order.push(name);
        }
    }
}

/// All scopes of an input.
pub struct Scopes<'a> {
    pub all: Vec<Scope<'a>>,
    /// The scope of a function, class or comprehension, by its place in the source.
    of: HashMap<TextRange, usize>,
    current: usize,
}

/// Reads the names of an input.
pub fn scopes(module: &ModModule) -> Scopes<'_> {
    let mut scopes = Scopes { all: Vec::new(), of: HashMap::new(), current: MODULE };
    scopes.all.push(scope(Kind::Module, MODULE));
    scopes.visit_body(&module.body);
    scopes.resolve();
    scopes
}

fn scope<'a>(kind: Kind, parent: usize) -> Scope<'a> {
    Scope {
        kind,
        parent,
        order: Vec::new(),
        assigned: BTreeSet::new(),
        global: BTreeSet::new(),
        nonlocal: BTreeSet::new(),
        cells: BTreeSet::new(),
        free: BTreeSet::new(),
        is_generator: false,
    }
}

impl<'a> Scopes<'a> {
    /// The scope that a node opens.
    pub fn of(&self, node: &impl Ranged) -> usize {
        self.of.get(&node.range()).copied().unwrap_or(MODULE)
    }

    fn here(&mut self) -> Option<&mut Scope<'a>> {
        self.all.get_mut(self.current)
    }

    fn within(&mut self, node: &impl Ranged, kind: Kind, read: impl FnOnce(&mut Self)) {
        let (outer, inner) = (self.current, self.all.len());
        self.all.push(scope(kind, outer));
        self.of.insert(node.range(), inner);
        self.current = inner;
        read(self);
        self.current = outer;
    }

    fn assign(&mut self, name: &'a str) {
        if let Some(here) = self.here() {
            here.note(name);
            here.assigned.insert(name);
        }
    }

    fn read(&mut self, name: &'a str) {
        if let Some(here) = self.here() {
            here.note(name);
        }
    }

    fn parameters(&mut self, parameters: &'a Parameters) {
        for parameter in parameters.posonlyargs.iter().chain(&parameters.args).chain(&parameters.kwonlyargs) {
            self.assign(parameter.parameter.name.as_str());
        }
        for parameter in parameters.vararg.iter().chain(&parameters.kwarg) {
            self.assign(parameter.name.as_str());
        }
    }

    /// Defaults and annotations are evaluated around the function.
    fn defaults(&mut self, parameters: &'a Parameters) {
        for default in parameters.iter_non_variadic_params().filter_map(|parameter| parameter.default.as_ref()) {
            self.visit_expr(default);
        }
    }

    fn comprehension(&mut self, node: &impl Ranged, parts: &[&'a Expr], generators: &'a [Comprehension], lazy: bool) {
        let Some((first, rest)) = generators.split_first() else { return };
        self.visit_expr(&first.iter);
        self.within(node, Kind::Comprehension, |this| {
            if let Some(here) = this.here() {
                here.is_generator = lazy;
            }
            this.assign(".0");
            this.visit_expr(&first.target);
            first.ifs.iter().for_each(|test| this.visit_expr(test));
            for generator in rest {
                this.visit_expr(&generator.iter);
                this.visit_expr(&generator.target);
                generator.ifs.iter().for_each(|test| this.visit_expr(test));
            }
            parts.iter().for_each(|part| this.visit_expr(part));
        });
    }

    /// Finds for every name that is read where it was made, and makes it a cell there.
    fn resolve(&mut self) {
        for inner in 0..self.all.len() {
            let Some(scope) = self.all.get(inner) else { continue };
            let wanted: Vec<&str> = scope
                .order
                .iter()
                .copied()
                .filter(|name| !scope.global.contains(name))
                .filter(|name| !scope.assigned.contains(name) || scope.nonlocal.contains(name))
                .collect();
            for name in wanted {
                self.share(inner, name);
            }
        }
    }

    fn share(&mut self, inner: usize, name: &'a str) {
        let mut between = vec![inner];
        let mut at = inner;
        while at != MODULE {
            at = self.all.get(at).map_or(MODULE, |scope| scope.parent);
            let Some(scope) = self.all.get_mut(at) else { return };
            let is_class_cell = scope.kind == Kind::Class && name == "__class__";
            if at == MODULE || scope.global.contains(name) {
                return;
            }
            if is_class_cell
                || scope.kind != Kind::Class && scope.assigned.contains(name) && !scope.nonlocal.contains(name)
            {
                scope.cells.insert(name);
                for scope in between {
                    if let Some(scope) = self.all.get_mut(scope) {
                        scope.free.insert(name);
                    }
                }
                return;
            }
            between.push(at);
        }
    }
}

impl<'a> Visitor<'a> for Scopes<'a> {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        match statement {
            Stmt::FunctionDef(function) => {
                function.decorator_list.iter().for_each(|decorator| self.visit_expr(&decorator.expression));
                self.defaults(&function.parameters);
                self.assign(function.name.as_str());
                self.within(function, Kind::Function, |this| {
                    this.parameters(&function.parameters);
                    this.visit_body(&function.body);
                });
            }
            Stmt::ClassDef(class) => {
                class.decorator_list.iter().for_each(|decorator| self.visit_expr(&decorator.expression));
                if let Some(arguments) = &class.arguments {
                    self.visit_arguments(arguments);
                }
                self.assign(class.name.as_str());
                self.within(class, Kind::Class, |this| this.visit_body(&class.body));
            }
            Stmt::Import(import) => {
                for alias in &import.names {
                    let first = || alias.name.as_str().split('.').next().unwrap_or_default();
                    self.assign(alias.asname.as_ref().map_or_else(first, |name| name.as_str()));
                }
            }
            Stmt::ImportFrom(import) => {
                for alias in &import.names {
                    self.assign(alias.asname.as_ref().unwrap_or(&alias.name).as_str());
                }
            }
            Stmt::Global(names) => {
                if let Some(here) = self.here() {
                    here.global.extend(names.names.iter().map(|name| name.as_str()));
                }
                names.names.iter().for_each(|name| self.read(name.as_str()));
            }
            Stmt::Nonlocal(names) => {
                if let Some(here) = self.here() {
                    here.nonlocal.extend(names.names.iter().map(|name| name.as_str()));
                }
                names.names.iter().for_each(|name| self.read(name.as_str()));
            }
            Stmt::AnnAssign(annotated) => {
                if let Some(value) = &annotated.value {
                    self.visit_expr(value);
                }
                self.visit_expr(&annotated.target);
                if self.all.get(self.current).is_some_and(|here| here.kind != Kind::Function) {
                    self.visit_expr(&annotated.annotation);
                }
            }
            other => walk_stmt(self, other),
        }
    }

    fn visit_except_handler(&mut self, handler: &'a ExceptHandler) {
        let ExceptHandler::ExceptHandler(handler) = handler;
        if let Some(class) = &handler.type_ {
            self.visit_expr(class);
        }
        if let Some(name) = &handler.name {
            self.assign(name.as_str());
        }
        self.visit_body(&handler.body);
    }

    fn visit_expr(&mut self, expression: &'a Expr) {
        match expression {
            Expr::Name(name) => match name.ctx {
                ExprContext::Load => {
                    self.read(name.id.as_str());
                    if name.id.as_str() == "super" {
                        // `super()` means the class that the method stands in.
                        self.read("__class__");
                    }
                }
                _ => self.assign(name.id.as_str()),
            },
            Expr::Lambda(lambda) => {
                if let Some(parameters) = &lambda.parameters {
                    self.defaults(parameters);
                }
                self.within(lambda, Kind::Function, |this| {
                    if let Some(parameters) = &lambda.parameters {
                        this.parameters(parameters);
                    }
                    this.visit_expr(&lambda.body);
                });
            }
            Expr::ListComp(e) => self.comprehension(e, &[&e.elt], &e.generators, false),
            Expr::SetComp(e) => self.comprehension(e, &[&e.elt], &e.generators, false),
            Expr::Generator(e) => self.comprehension(e, &[&e.elt], &e.generators, true),
            Expr::DictComp(e) => {
                let key = e.key.as_deref();
                let parts: Vec<&Expr> = key.into_iter().chain([&*e.value]).collect();
                self.comprehension(e, &parts, &e.generators, false);
            }
            Expr::Named(named) => {
                self.visit_expr(&named.value);
                let Expr::Name(target) = named.target.as_ref() else { return };
                // It belongs to what is around the comprehensions.
                let inner = self.current;
                while self.all.get(self.current).is_some_and(|scope| scope.kind == Kind::Comprehension) {
                    self.current = self.all.get(self.current).map_or(MODULE, |scope| scope.parent);
                }
                self.assign(target.id.as_str());
                let outer = std::mem::replace(&mut self.current, inner);
                if inner != outer {
                    let is_global = self
                        .all
                        .get(outer)
                        .is_some_and(|scope| scope.kind == Kind::Module || scope.global.contains(target.id.as_str()));
                    let mut at = inner;
                    while at != outer {
                        let Some(scope) = self.all.get_mut(at) else { return };
                        scope.note(target.id.as_str());
                        if is_global {
                            scope.global.insert(target.id.as_str());
                        }
                        at = scope.parent;
                    }
                }
            }
            Expr::Yield(_) | Expr::YieldFrom(_) => {
                if let Some(here) = self.here() {
                    here.is_generator = true;
                }
                walk_expr(self, expression);
            }
            other => walk_expr(self, other),
        }
    }
}
