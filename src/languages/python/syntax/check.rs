//! Faults that CPython reports after parsing: names declared too late, `return` outside a function, a starred
//! expression in the wrong place.
//!
//! Knows nothing about how a program runs.
//!
//! The order is CPython's, since only the first fault is reported: first the names of all scopes, then the statements
//! one by one.

use super::scope::scopes;
use super::{SyntaxFault, start};
use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{Arguments, ExceptHandler, Expr, ExprContext, ModModule, Stmt};

/// # Errors
/// Fails with the first fault of a parsed source.
pub(super) fn check(module: &ModModule) -> Result<(), SyntaxFault> {
    if let Some(fault) = scopes(module, None).fault {
        return Err(fault);
    }
    let mut places = PositionChecker::default();
    places.visit_body(&module.body);
    places.fault.map_or(Ok(()), Err)
}

/// The kind of code around a statement.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum EnclosingBlock {
    #[default]
    Module,
    Class,
    Function,
    AsyncFunction,
}

/// Checks that each statement and expression is allowed at its position.
#[derive(Default)]
struct PositionChecker {
    fault: Option<SyntaxFault>,
    unit: EnclosingBlock,
    loops: usize,
    /// The offset of the current statement.
    at: usize,
}

impl PositionChecker {
    fn refuse(&mut self, message: impl Into<String>) {
        self.refuse_at(message, self.at);
    }

    fn refuse_at(&mut self, message: impl Into<String>, at: usize) {
        self.fault.get_or_insert_with(|| SyntaxFault::of_compiler(message, at));
    }

    fn within(&mut self, unit: EnclosingBlock, look: impl FnOnce(&mut Self)) {
        let around = (self.unit, self.loops);
        (self.unit, self.loops) = (unit, 0);
        look(self);
        (self.unit, self.loops) = around;
    }

    fn is_function(&self) -> bool {
        !matches!(self.unit, EnclosingBlock::Module | EnclosingBlock::Class)
    }

    /// Checks the parts of a tuple or list. In a target, at most one part may be starred.
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
        if is_async && self.unit != EnclosingBlock::AsyncFunction {
            self.refuse(format!("'{what}' outside async function"));
        }
    }
}

impl<'a> Visitor<'a> for PositionChecker {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        self.at = start(statement);
        match statement {
            Stmt::FunctionDef(s) => {
                s.decorator_list.iter().for_each(|decorator| self.visit_decorator(decorator));
                self.visit_parameters(&s.parameters);
                s.returns.iter().for_each(|annotation| self.visit_annotation(annotation));
                let unit = if s.is_async { EnclosingBlock::AsyncFunction } else { EnclosingBlock::Function };
                self.within(unit, |places| places.visit_body(&s.body));
            }
            Stmt::ClassDef(s) => {
                s.decorator_list.iter().for_each(|decorator| self.visit_decorator(decorator));
                self.within(EnclosingBlock::Class, |places| places.visit_body(&s.body));
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
                    self.refuse_at("default 'except:' must be last", start(early));
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
            Expr::YieldFrom(_) if self.unit == EnclosingBlock::AsyncFunction => "'yield from' inside async function",
            Expr::Await(_) if !self.is_function() => "'await' outside function",
            Expr::Await(_) if self.unit == EnclosingBlock::Function => "'await' outside async function",
            Expr::Starred(_) => "can't use starred expression here",
            _ => "",
        };
        if !message.is_empty() {
            return self.refuse_at(message, start(expression));
        }
        match expression {
            Expr::Tuple(e) => self.parts(&e.elts, e.ctx),
            Expr::List(e) => self.parts(&e.elts, e.ctx),
            Expr::Set(e) => self.starred(&e.elts),
            Expr::Lambda(e) => {
                e.parameters.iter().for_each(|parameters| self.visit_parameters(parameters));
                self.within(EnclosingBlock::Function, |places| places.visit_expr(&e.body));
            }
            _ => visitor::walk_expr(self, expression),
        }
    }

    fn visit_arguments(&mut self, arguments: &'a Arguments) {
        let keywords = &arguments.keywords;
        for (index, keyword) in keywords.iter().enumerate() {
            let Some(name) = &keyword.arg else { continue };
            if keywords.iter().take(index).any(|other| other.arg.as_deref() == Some(name.as_str())) {
                self.refuse_at(format!("keyword argument repeated: {name}"), start(keyword));
            }
        }
        self.starred(&arguments.args);
        keywords.iter().for_each(|keyword| self.visit_expr(&keyword.value));
    }
}
