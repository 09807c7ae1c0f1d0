//! Statements: the simple ones, and the way to the room of each compound one.

use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
use ruff_python_ast::{Alias, Expr, Stmt, StmtImport, StmtImportFrom, StmtRaise};

use super::expression::{Shape, shape};
use super::scope::Known;
use super::{Statement, SyntaxFault, Translator, Written, names, start};

impl<'a> Translator<'a> {
    /// A statement of the input itself: becomes one `Statement::Run`, or none if there is nothing to do.
    pub(super) fn top_level(&mut self, statement: &'a Stmt) -> Written {
        match statement {
            Stmt::Expr(e) => {
                let names = self.declare_named(statement);
                if !names.is_empty() {
                    self.out.line();
                }
                self.statement_expression(&e.value)?;
                self.run(true, names);
            }
            Stmt::FunctionDef(e) => {
                self.named_function(e)?;
                self.run(false, assigned_names(std::slice::from_ref(statement)));
            }
            Stmt::Delete(e) => e.targets.iter().try_for_each(|t| self.top_level_delete(t))?,
            _ => {
                self.statement(statement)?;
                self.run(false, assigned_names(std::slice::from_ref(statement)));
            }
        }
        Ok(())
    }

    /// Ends the text written so far as a statement of its own.
    fn run(&mut self, echo: bool, names: Vec<String>) {
        let out = std::mem::take(&mut self.out);
        self.methods.clear();
        if !out.is_empty() {
            let (rhai, map) = out.finish();
            let globals = std::mem::take(&mut self.globals);
            self.statements.push(Statement::Run { rhai, echo, map, names, globals });
        }
        let names = std::mem::take(&mut self.leftovers);
        if !names.is_empty() {
            self.statements.push(Statement::Delete { names, offset: 0 });
        }
    }

    fn top_level_delete(&mut self, target: &'a Expr) -> Written {
        match target {
            Expr::Tuple(e) => e.elts.iter().try_for_each(|t| self.top_level_delete(t)),
            Expr::List(e) => e.elts.iter().try_for_each(|t| self.top_level_delete(t)),
            Expr::Name(name) => {
                let name = names::variable(name.id.as_str()).into_owned();
                self.scope.define(&name, Known::Deleted);
                self.statements.push(Statement::Delete { names: vec![name], offset: start(target) });
                Ok(())
            }
            other => {
                self.delete(other)?;
                self.run(false, Vec::new());
                Ok(())
            }
        }
    }

    /// Declares the variables that `:=` assigns somewhere in a statement.
    fn declare_named(&mut self, statement: &'a Stmt) -> Vec<String> {
        let mut search = NamedTargets::default();
        search.visit_stmt(statement);
        for name in &search.spelled {
            if !self.scope.is_assignable(name) {
                self.bind(name);
                self.out.push("();");
            }
        }
        search.spelled
    }

    /// An expression where Rhai expects a statement: it must not be taken for a block.
    fn statement_expression(&mut self, expression: &'a Expr) -> Written {
        let is_taken = matches!(shape(expression), Shape::Block | Shape::Closure) || expression.is_list_comp_expr();
        self.out.push(if is_taken { "(" } else { "" });
        self.argument(expression)?;
        self.out.push(if is_taken { ")" } else { "" });
        Ok(())
    }

    pub(super) fn statements(&mut self, body: &'a [Stmt]) -> Written {
        body.iter().try_for_each(|statement| self.statement(statement))
    }

    pub(super) fn statement(&mut self, statement: &'a Stmt) -> Written {
        self.declare_named(statement);
        match statement {
            Stmt::Expr(e) => self.expression_statement(&e.value),
            Stmt::Assign(e) => self.assign(&e.targets, &e.value),
            Stmt::AnnAssign(e) => match &e.value {
                Some(value) => self.assign(std::slice::from_ref(&e.target), value),
                None => Ok(()),
            },
            Stmt::AugAssign(e) => self.augmented(e),
            Stmt::Delete(e) => e.targets.iter().try_for_each(|target| self.delete(target)),
            Stmt::Pass(_) => Ok(()),
            Stmt::Assert(e) => {
                self.out.line();
                self.out.mark(start(e));
                self.out.push("assert_(");
                self.expression(&e.test)?;
                if let Some(message) = &e.msg {
                    self.out.push(", ");
                    self.expression(message)?;
                }
                self.out.push(");");
                Ok(())
            }
            Stmt::Raise(e) => self.raise(e),
            Stmt::Import(e) => self.import(e),
            Stmt::ImportFrom(e) => self.import_from(e),
            Stmt::If(e) => self.compound(statement, |t| t.if_statement(e)),
            Stmt::While(e) => self.compound(statement, |t| t.while_loop(e)),
            Stmt::For(e) => self.compound(statement, |t| t.for_loop(e)),
            Stmt::With(e) => self.compound(statement, |t| t.with(e)),
            Stmt::Try(e) => self.compound(statement, |t| t.try_statement(e)),
            Stmt::Break(e) => self.leave_loop("break", start(e)),
            Stmt::Continue(e) => self.leave_loop("continue", start(e)),
            Stmt::Return(e) => self.return_statement(e),
            Stmt::FunctionDef(e) => self.nested_function(e),
            // In the session itself every variable is global already.
            Stmt::Global(_) if self.scope.is_session() => Ok(()),
            Stmt::Global(e) => {
                for name in &e.names {
                    let name = names::variable(name.as_str()).into_owned();
                    self.scope.define(&name, Known::Global);
                    self.globals.push(name);
                }
                Ok(())
            }
            // A closure shares the variables around it already.
            Stmt::Nonlocal(e) => {
                for name in &e.names {
                    self.scope.define(&names::variable(name.as_str()), Known::Variable);
                }
                Ok(())
            }
            Stmt::ClassDef(e) => self.class(e),
            Stmt::Match(e) => Err(SyntaxFault::unsupported("match statements", e)),
            Stmt::TypeAlias(e) => Err(SyntaxFault::unsupported("type aliases", e)),
            Stmt::IpyEscapeCommand(e) => Err(SyntaxFault::unsupported("IPython commands", e)),
        }
    }

    /// An expression by itself inside a block: Python's prompt shows its value if the block is not a function's.
    fn expression_statement(&mut self, expression: &'a Expr) -> Written {
        if self.scope.in_function() || self.scope.is_class() {
            if expression.is_literal_expr() {
                return Ok(());
            }
            self.out.line();
            self.statement_expression(expression)?;
            self.out.push(";");
        } else {
            self.out.line();
            if self.is_print(expression) {
                self.expression(expression)?;
            } else {
                self.function_of("echo_", &[expression])?;
            }
            self.out.push(";");
        }
        Ok(())
    }

    /// A call of the built-in `print`, whose value is never shown.
    fn is_print(&self, expression: &Expr) -> bool {
        let Expr::Call(call) = expression else {
            return false;
        };
        let callee = call.func.as_name_expr().map(|name| name.id.as_str());
        callee == Some("print") && self.scope.lookup(&names::variable("print")).is_none()
    }

    fn raise(&mut self, statement: &'a StmtRaise) -> Written {
        self.out.line();
        self.out.mark(start(statement));
        let Some(exception) = statement.exc.as_deref() else {
            if self.scope.frame().handlers > 0 {
                self.out.push("throw;");
            } else {
                self.out.push("raise_(RuntimeError(\"No active exception to reraise\"));");
            }
            return Ok(());
        };
        self.out.push("raise_(");
        self.expression(exception)?;
        if let Some(cause) = &statement.cause {
            self.out.push(", ");
            self.expression(cause)?;
        }
        self.out.push(");");
        Ok(())
    }

    /// The name of a class of exceptions that is there from the start, without the modules before it; `None` for one that
    /// must be evaluated.
    pub(super) fn exception_name(&self, class: &'a Expr) -> Option<&'a str> {
        let name = match class {
            Expr::Name(name) => name.id.as_str(),
            Expr::Attribute(e) => e.attr.as_str(),
            _ => return None,
        };
        let is_own = class.is_name_expr() && self.scope.lookup(&names::variable(name)).is_some();
        let is_usual = ["Error", "Exception", "Warning", "Interrupt", "Exit", "Iteration"];
        (!is_own && is_usual.iter().any(|end| name.ends_with(end))).then_some(name)
    }

    fn import(&mut self, statement: &'a StmtImport) -> Written {
        for alias in &statement.names {
            let module = alias.name.as_str();
            let name = bound_name(alias);
            if name == "torch" {
                self.out.line();
            } else if alias.asname.is_none() && module.contains('.') {
                // Loads the whole path, but binds only its first part.
                self.out.line();
                self.out.mark(start(alias));
                self.out.push(&format!("import_(\"{module}\");"));
                self.bind(&names::variable(name));
            } else {
                self.bind(&names::variable(name));
            }
            self.out.mark(start(alias));
            let bound = if name == "torch" || alias.asname.is_some() { module } else { name };
            self.out.push(&format!("import_(\"{bound}\");"));
        }
        Ok(())
    }

    fn import_from(&mut self, statement: &'a StmtImportFrom) -> Written {
        let module = match &statement.module {
            Some(module) if statement.level == 0 => module.as_str(),
            _ => return Err(SyntaxFault::unsupported("relative imports", statement)),
        };
        if module == "__future__" {
            return Ok(());
        }
        for alias in &statement.names {
            let name = alias.name.as_str();
            if name == "*" {
                return Err(SyntaxFault::unsupported("imports of *", alias));
            }
            self.bind(&names::variable(bound_name(alias)));
            self.out.mark(start(alias));
            self.out.push(&format!("import_from(\"{module}\", \"{name}\");"));
        }
        Ok(())
    }
}

/// Collects the targets of `:=` that belong to the scope of a statement.
#[derive(Default)]
struct NamedTargets {
    spelled: Vec<String>,
}

impl<'n> Visitor<'n> for NamedTargets {
    fn visit_stmt(&mut self, statement: &'n Stmt) {
        if !statement.is_function_def_stmt() {
            walk_stmt(self, statement);
        }
    }

    fn visit_expr(&mut self, expression: &'n Expr) {
        if let Expr::Named(named) = expression
            && let Expr::Name(name) = named.target.as_ref()
        {
            let spelled = names::variable(name.id.as_str()).into_owned();
            if !self.spelled.contains(&spelled) {
                self.spelled.push(spelled);
            }
        }
        if !expression.is_lambda_expr() {
            walk_expr(self, expression);
        }
    }
}

/// The variable that an import defines.
fn bound_name(alias: &Alias) -> &str {
    match &alias.asname {
        Some(name) => name.as_str(),
        None => alias.name.split('.').next().unwrap_or_default(),
    }
}

/// The variables that statements assign in their own scope, in Rhai's spelling, each once, in order.
pub(super) fn assigned_names(statements: &[Stmt]) -> Vec<String> {
    let mut names = Names::default();
    names.of_statements(statements);
    names.spelled
}

#[derive(Default)]
struct Names {
    spelled: Vec<String>,
    seen: std::collections::HashSet<String>,
}

impl Names {
    fn add(&mut self, name: &str) {
        let spelled = names::variable(name).into_owned();
        if self.seen.insert(spelled.clone()) {
            self.spelled.push(spelled);
        }
    }

    fn of_statements(&mut self, statements: &[Stmt]) {
        for statement in statements {
            self.of_statement(statement);
        }
    }

    fn of_statement(&mut self, statement: &Stmt) {
        match statement {
            Stmt::Assign(e) => e.targets.iter().for_each(|t| self.of_target(t)),
            Stmt::AugAssign(e) => self.of_target(&e.target),
            Stmt::AnnAssign(e) if e.value.is_some() => self.of_target(&e.target),
            Stmt::FunctionDef(e) => self.add(e.name.as_str()),
            Stmt::ClassDef(e) => self.add(e.name.as_str()),
            Stmt::Import(e) => {
                for name in e.names.iter().map(bound_name) {
                    if name != "torch" {
                        self.add(name);
                    }
                }
            }
            Stmt::ImportFrom(e) if e.module.as_deref() != Some("__future__") => {
                e.names.iter().for_each(|alias| self.add(bound_name(alias)));
            }
            Stmt::For(e) => {
                self.of_target(&e.target);
                self.of_statements(&e.body);
                self.of_statements(&e.orelse);
            }
            Stmt::While(e) => {
                self.of_statements(&e.body);
                self.of_statements(&e.orelse);
            }
            Stmt::If(e) => {
                self.of_statements(&e.body);
                for clause in &e.elif_else_clauses {
                    self.of_statements(&clause.body);
                }
            }
            Stmt::With(e) => {
                for target in e.items.iter().filter_map(|i| i.optional_vars.as_deref()) {
                    self.of_target(target);
                }
                self.of_statements(&e.body);
            }
            Stmt::Try(e) => {
                self.of_statements(&e.body);
                for handler in &e.handlers {
                    let ruff_python_ast::ExceptHandler::ExceptHandler(handler) = handler;
                    if let Some(name) = &handler.name {
                        self.add(name.as_str());
                    }
                    self.of_statements(&handler.body);
                }
                self.of_statements(&e.orelse);
                self.of_statements(&e.finalbody);
            }
            _ => {}
        }
    }

    fn of_target(&mut self, target: &Expr) {
        match target {
            Expr::Name(name) => self.add(name.id.as_str()),
            Expr::Tuple(e) => e.elts.iter().for_each(|t| self.of_target(t)),
            Expr::List(e) => e.elts.iter().for_each(|t| self.of_target(t)),
            Expr::Starred(e) => self.of_target(&e.value),
            _ => {}
        }
    }
}
