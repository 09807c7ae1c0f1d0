//! `def`, `lambda` and `return`.
//!
//! A `def` of the session becomes a Rhai `fn`, one overload per number of arguments, and a variable that holds it: so
//! it can call itself, can be passed on, and reads the session's variables through the engine. A `def` anywhere else
//! becomes a closure, since only a closure sees the variables around it.

use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
use ruff_python_ast::{Expr, ExprLambda, Parameters, Stmt, StmtFunctionDef, StmtReturn};

use super::scope::{Body, Known, Parameter};
use super::statement::assigned_names;
use super::{SyntaxFault, Translator, Written, names, start};

const MAX_PARAMETERS: usize = 100;

impl<'a> Translator<'a> {
    pub(super) fn lambda(&mut self, lambda: &ExprLambda) -> Written {
        let parameters = match &lambda.parameters {
            Some(parameters) => self.parameters(parameters)?,
            None => Vec::new(),
        };
        no_defaults(&parameters, "default values in a lambda", lambda)?;
        self.closure_header(&parameters);
        self.scope.push(Body::Expression);
        self.define_parameters(&parameters);
        self.expression(&lambda.body)?;
        self.scope.pop();
        Ok(())
    }

    fn closure_header(&mut self, parameters: &[Parameter]) {
        self.out.push(&format!("|{}| ", list(parameters)));
    }

    fn define_parameters(&mut self, parameters: &[Parameter]) {
        for parameter in parameters {
            self.scope.define(&parameter.name, Known::Variable);
        }
    }

    fn parameters(&mut self, parameters: &Parameters) -> Result<Vec<Parameter>, SyntaxFault> {
        if let Some(star) = parameters.vararg.as_ref().or(parameters.kwarg.as_ref()) {
            let what = "functions with *args or **kwargs";
            return Err(SyntaxFault::unsupported(what, star.as_ref()));
        }
        let positional = parameters.posonlyargs.iter().chain(&parameters.args);
        let positional = positional.map(|p| (p, false));
        let keyword_only = parameters.kwonlyargs.iter().map(|p| (p, true));
        let mut all: Vec<Parameter> = Vec::new();
        for (parameter, keyword_only) in positional.chain(keyword_only) {
            let name = parameter.parameter.name.as_str();
            let spelled = names::variable(name).into_owned();
            if all.len() >= MAX_PARAMETERS {
                let what = format!("functions with more than {MAX_PARAMETERS} parameters");
                return Err(SyntaxFault::unsupported(&what, parameter));
            }
            if all.iter().any(|other| other.name == spelled) {
                let message = format!("duplicate argument '{name}' in function definition");
                return Err(SyntaxFault::syntax(message, start(parameter)));
            }
            let default = parameter.default.as_deref();
            let literal_default = match default {
                Some(value) if value.is_literal_expr() => {
                    let out = std::mem::take(&mut self.out);
                    self.expression(value)?;
                    let (text, _) = std::mem::replace(&mut self.out, out).finish();
                    Some(text)
                }
                _ => None,
            };
            all.push(Parameter { name: spelled, keyword_only, has_default: default.is_some(), literal_default });
        }
        Ok(all)
    }

    /// A `def` of the session itself.
    pub(super) fn named_function(&mut self, function: &'a StmtFunctionDef) -> Written {
        check(function)?;
        let name = names::variable(function.name.as_str());
        let parameters = self.parameters(&function.parameters)?;
        let is_defined = self.scope.is_assignable(&name);
        let is_decorated = !function.decorator_list.is_empty();
        let plain = if is_decorated {
            self.scope.define(&name, Known::Variable);
            format!("{name}_undecorated")
        } else {
            self.scope.define(&name, Known::Function(parameters.clone()));
            name.to_string()
        };
        self.out.mark(start(&function.name));
        self.out.push(&format!("fn {plain}({}) ", list(&parameters)));
        self.function_body(function, &parameters, Body::Function)?;
        self.overloads(&plain, function, &parameters)?;

        let binding = if is_defined { "" } else { "let " };
        self.out.line_of(&format!("{binding}{name} = "));
        self.decorated(&name, &format!("Fn(\"{plain}\")"), function)
    }

    /// The value of a `def` behind `name = `, with every decorator applied.
    fn decorated(&mut self, name: &str, value: &str, function: &'a StmtFunctionDef) -> Written {
        let mut value = value.to_string();
        for (i, decorator) in function.decorator_list.iter().rev().enumerate() {
            if i > 0 {
                self.out.line_of(&format!("{name} = "));
            }
            self.out.push("call_(");
            self.expression(&decorator.expression)?;
            self.out.push(&format!(", [{value}]);"));
            value = name.to_string();
        }
        if function.decorator_list.is_empty() {
            self.out.push(&value);
            self.out.push(";");
        }
        Ok(())
    }

    /// `fn f(a) { f(a, 1) }` for every argument that can be left out at the end. Unlike Python's, a default is
    /// evaluated anew in each call.
    fn overloads(&mut self, name: &str, function: &'a StmtFunctionDef, parameters: &[Parameter]) -> Written {
        let definitions = &function.parameters;
        let positional = definitions.posonlyargs.iter().chain(&definitions.args);
        let definitions: Vec<_> = positional.chain(&definitions.kwonlyargs).collect();
        for (i, definition) in definitions.iter().enumerate().rev() {
            let Some(default) = &definition.default else {
                break;
            };
            let given = list(parameters.get(..i).unwrap_or_default());
            let separator = if i > 0 { ", " } else { "" };
            self.out.line_of(&format!("fn {name}({given}) {{ {name}({given}{separator}"));
            self.scope.push(Body::Function);
            self.expression(default)?;
            self.scope.pop();
            self.out.push(") }");
        }
        Ok(())
    }

    /// A `def` inside something else.
    pub(super) fn nested_function(&mut self, function: &'a StmtFunctionDef) -> Written {
        check(function)?;
        let name = names::variable(function.name.as_str());
        let parameters = self.parameters(&function.parameters)?;
        no_defaults(&parameters, "default values in a nested function", function)?;
        let is_recursive = mentions(function);
        // A closure looks its variables up when it is made, so that one that calls itself must exist before.
        if is_recursive && !self.scope.is_assignable(&name) {
            self.bind(&name);
            self.out.push("();");
        }
        self.open_binding(&name);
        self.closure_header(&parameters);
        self.function_body(function, &parameters, Body::Closure)?;
        self.out.push(";");
        if !function.decorator_list.is_empty() {
            self.out.line_of(&format!("{name} = "));
            self.decorated(&name, &name, function)?;
        }
        let is_certain = !is_recursive && function.decorator_list.is_empty() && self.scope.frame().compounds == 0;
        let known = if is_certain { Known::Closure } else { Known::Variable };
        self.scope.define(&name, known);
        Ok(())
    }

    fn function_body(&mut self, function: &'a StmtFunctionDef, parameters: &[Parameter], body: Body) -> Written {
        self.scope.push(body);
        self.define_parameters(parameters);
        let blocks = std::mem::take(&mut self.blocks);
        self.out.open();
        // A closure must find every variable it may read later.
        if has_closure(&function.body) {
            for name in assigned_names(&function.body) {
                if !self.scope.is_assignable(&name) {
                    self.bind(&name);
                    self.out.push("();");
                }
            }
        }
        self.statements(&function.body)?;
        // Rhai would return the value of the last statement.
        if !function.body.last().is_some_and(Stmt::is_return_stmt) {
            self.out.line_of("return;");
        }
        self.out.close();
        self.blocks = blocks;
        self.scope.pop();
        Ok(())
    }

    pub(super) fn return_statement(&mut self, statement: &'a StmtReturn) -> Written {
        if !self.scope.in_function() {
            return Err(SyntaxFault::syntax("'return' outside function", start(statement)));
        }
        let is_inside = !self.scope.frame().cleanups.is_empty();
        match &statement.value {
            Some(value) if is_inside => {
                self.out.line();
                self.out.mark(start(statement));
                self.out.push("let returned_ = ");
                self.expression(value)?;
                self.out.push(";");
                self.clean_up_to(0)?;
                self.out.line_of("return returned_;");
            }
            Some(value) => {
                self.out.line();
                self.out.mark(start(statement));
                self.out.push("return ");
                self.expression(value)?;
                self.out.push(";");
            }
            None => {
                self.clean_up_to(0)?;
                self.out.line_of("return;");
            }
        }
        Ok(())
    }
}

fn check(function: &StmtFunctionDef) -> Written {
    if function.is_async {
        return Err(SyntaxFault::unsupported("async functions", function));
    }
    if names::is_engine_function(function.name.as_str()) {
        let what = format!("functions named {}", function.name);
        return Err(SyntaxFault::unsupported(&what, &function.name));
    }
    Ok(())
}

fn no_defaults(parameters: &[Parameter], what: &str, node: &impl ruff_text_size::Ranged) -> Written {
    if parameters.iter().any(|parameter| parameter.has_default) {
        return Err(SyntaxFault::unsupported(what, node));
    }
    Ok(())
}

fn list(parameters: &[Parameter]) -> String {
    let names: Vec<&str> = parameters.iter().map(|p| p.name.as_str()).collect();
    names.join(", ")
}

/// The function's body reads the function's own name.
fn mentions(function: &StmtFunctionDef) -> bool {
    let mut search = Search { name: Some(function.name.as_str()), found: false };
    search.visit_body(&function.body);
    search.found
}

/// There is a `def` or a `lambda` inside.
fn has_closure(body: &[Stmt]) -> bool {
    let mut search = Search { name: None, found: false };
    search.visit_body(body);
    search.found
}

/// Looks for a name, or else for a closure.
struct Search<'n> {
    name: Option<&'n str>,
    found: bool,
}

impl<'n> Visitor<'n> for Search<'_> {
    fn visit_stmt(&mut self, statement: &'n Stmt) {
        self.found |= self.name.is_none() && statement.is_function_def_stmt();
        walk_stmt(self, statement);
    }

    fn visit_expr(&mut self, expression: &'n Expr) {
        self.found |= match (expression, self.name) {
            (Expr::Name(name), Some(wanted)) => name.id.as_str() == wanted,
            (Expr::Lambda(_), None) => true,
            _ => false,
        };
        walk_expr(self, expression);
    }
}
