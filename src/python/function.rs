//! `def`, `lambda` and `return`.
//!
//! A `def` of the session becomes a Rhai `fn` that takes every parameter, and a variable that holds it together with
//! what Python knows of its parameters (`function_`): so it can call itself, can be passed on, and reads the session's
//! variables through the engine. A `def` anywhere else becomes a closure, since only a closure sees the variables
//! around it.

use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
use ruff_python_ast::{Expr, ExprLambda, Parameters, Stmt, StmtFunctionDef, StmtReturn};

use super::scope::{Body, Known, Parameter, Role};
use super::statement::assigned_names;
use super::{SyntaxFault, Translator, Written, names, start};

const MAX_PARAMETERS: usize = 100;

impl<'a> Translator<'a> {
    pub(super) fn lambda(&mut self, lambda: &ExprLambda) -> Written {
        let parameters = match &lambda.parameters {
            Some(parameters) => self.parameters(parameters)?,
            None => Vec::new(),
        };
        let described = parameters.iter().any(|p| p.role != Role::Plain)
            || lambda.parameters.iter().any(|p| p.iter_non_variadic_params().any(|p| p.default.is_some()));
        if described {
            let name = self.scope.qualified("<lambda>");
            self.out.push(&format!("function_(\"{name}\", "));
        }
        self.closure_header(&parameters);
        self.scope.push_function(Body::Expression, "<lambda>");
        self.define_parameters(&parameters);
        self.expression(&lambda.body)?;
        self.scope.pop();
        if let (true, Some(definitions)) = (described, &lambda.parameters) {
            self.description(definitions)?;
        }
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
        let plain = |p| (p, Role::Plain);
        let single = parameters.posonlyargs.iter().chain(&parameters.args).map(plain);
        let single = single.chain(parameters.kwonlyargs.iter().map(|p| (p, Role::KeywordOnly)));
        let single = single.map(|(p, role)| (&p.parameter, p.default.as_deref(), role));
        let rest = parameters.vararg.iter().map(|p| (p.as_ref(), None, Role::Rest));
        let keywords = parameters.kwarg.iter().map(|p| (p.as_ref(), None, Role::Keywords));
        let mut all: Vec<Parameter> = Vec::new();
        for (parameter, default, role) in single.chain(rest).chain(keywords) {
            let name = parameter.name.as_str();
            let spelled = names::variable(name).into_owned();
            if all.len() >= MAX_PARAMETERS {
                let what = format!("functions with more than {MAX_PARAMETERS} parameters");
                return Err(SyntaxFault::unsupported(&what, parameter));
            }
            if all.iter().any(|other| other.name == spelled) {
                let message = format!("duplicate argument '{name}' in function definition");
                return Err(SyntaxFault::syntax(message, start(parameter)));
            }
            let literal_default = match default {
                Some(value) if value.is_literal_expr() => {
                    let out = std::mem::take(&mut self.out);
                    self.expression(value)?;
                    let (text, _) = std::mem::replace(&mut self.out, out).finish();
                    Some(text)
                }
                _ => None,
            };
            all.push(Parameter { name: spelled, role, literal_default });
        }
        Ok(all)
    }

    /// `, ["a", "b", "*args"], #{b: 1})`: how a function may be called, in Python's own notation, and its defaults.
    /// They are evaluated here, once, as Python does.
    fn description(&mut self, parameters: &Parameters) -> Written {
        let mut names: Vec<String> = Vec::new();
        names.extend(parameters.posonlyargs.iter().chain(&parameters.args).map(|p| p.parameter.name.to_string()));
        match &parameters.vararg {
            Some(rest) => names.push(format!("*{}", rest.name)),
            None if !parameters.kwonlyargs.is_empty() => names.push("*".into()),
            None => {}
        }
        names.extend(parameters.kwonlyargs.iter().map(|p| p.parameter.name.to_string()));
        names.extend(parameters.kwarg.iter().map(|p| format!("**{}", p.name)));
        self.out.push(", [");
        for (i, name) in names.iter().enumerate() {
            self.out.push(if i > 0 { ", " } else { "" });
            self.string(name);
        }
        self.out.push("], #{");
        let defaults = parameters.iter_non_variadic_params().filter_map(|p| Some((p, p.default.as_deref()?)));
        for (i, (parameter, default)) in defaults.enumerate() {
            self.out.push(if i > 0 { ", " } else { "" });
            self.out.push(&names::map_key(parameter.parameter.name.as_str()));
            self.out.push(": ");
            self.expression(default)?;
        }
        self.out.push("})");
        Ok(())
    }

    /// A `def` of the session itself.
    pub(super) fn named_function(&mut self, function: &'a StmtFunctionDef) -> Written {
        check(function, false)?;
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
        let binding = if is_defined { "" } else { "let " };
        self.out.line_of(&format!("{binding}{name} = "));
        self.decorated(&name, function, |t| {
            t.out.push(&format!("function_(\"{}\", Fn(\"{plain}\")", function.name));
            t.description(&function.parameters)
        })?;
        self.documented(&name, function)
    }

    /// `f.__doc__ = "…"` for a function that begins with a text.
    fn documented(&mut self, holder: &str, function: &'a StmtFunctionDef) -> Written {
        let Some(Stmt::Expr(first)) = function.body.first() else { return Ok(()) };
        if !first.value.is_string_literal_expr() || !function.decorator_list.is_empty() {
            return Ok(());
        }
        self.out.line_of(&format!("setattr({holder}, \"__doc__\", "));
        self.expression(&first.value)?;
        self.out.push(");");
        Ok(())
    }

    /// The value of a `def` behind `name = `, with every decorator applied.
    fn decorated(
        &mut self,
        name: &str,
        function: &'a StmtFunctionDef,
        value: impl FnOnce(&mut Self) -> Written,
    ) -> Written {
        let mut value = Some(value);
        for (i, decorator) in function.decorator_list.iter().rev().enumerate() {
            let class = self.class_being_made().map_or_else(String::new, |class| format!("{class}."));
            if i > 0 {
                self.out.line_of(&format!("{class}{name} = "));
            }
            self.out.push("call_(");
            self.expression(&decorator.expression)?;
            self.out.push(", [");
            match value.take() {
                Some(value) => value(self)?,
                None => self.out.push(&format!("{class}{name}")),
            }
            self.out.push("]);");
        }
        if let Some(value) = value {
            value(self)?;
            self.out.push(";");
        }
        Ok(())
    }

    /// A `def` inside something else.
    pub(super) fn nested_function(&mut self, function: &'a StmtFunctionDef) -> Written {
        check(function, self.scope.is_class())?;
        let name = names::variable(function.name.as_str());
        let parameters = self.parameters(&function.parameters)?;
        // A closure looks its variables up when it is made, so that one that calls itself must exist before.
        if mentions(function) && !self.scope.is_assignable(&name) && !self.scope.is_class() {
            self.bind(&name);
            self.out.push("();");
        }
        let qualified = self.scope.qualified(function.name.as_str());
        if let Some(class) = self.class_being_made()
            && !names::is_property(&name)
        {
            return Err(SyntaxFault::unsupported(&format!("methods named {name} of {class}"), function));
        }
        let own = match self.scope.is_class() && self.scope.only_classes() {
            true => Some(self.method(function, &name, &parameters)?),
            false => None,
        };
        self.open_binding(&name);
        self.decorated(&name, function, |t| {
            t.out.push(&format!("function_(\"{qualified}\", "));
            match own {
                Some(own) => t.out.push(&format!("Fn(\"{own}\")")),
                None => {
                    t.closure_header(&parameters);
                    t.function_body(function, &parameters, Body::Closure)?;
                }
            }
            t.description(&function.parameters)
        })?;
        self.defined(&name);
        Ok(())
    }

    /// A method as a Rhai `fn`, which holds nothing: `fn get_of_C(self) { … }`.
    fn method(
        &mut self,
        function: &'a StmtFunctionDef,
        name: &str,
        parameters: &[Parameter],
    ) -> Result<String, SyntaxFault> {
        let mut own = name.to_owned();
        for class in self.scope.class_names() {
            own += &format!("_of_{}", names::variable(class));
        }
        // A property has several functions of one name.
        while !self.methods.insert(own.clone()) {
            own.push_str("_again");
        }
        self.out.line();
        self.out.mark(start(&function.name));
        self.out.push(&format!("fn {own}({}) ", list(parameters)));
        self.function_body(function, parameters, Body::Function)?;
        Ok(own)
    }

    fn function_body(&mut self, function: &'a StmtFunctionDef, parameters: &[Parameter], body: Body) -> Written {
        self.scope.push_function(body, function.name.as_str());
        self.define_parameters(parameters);
        let blocks = std::mem::take(&mut self.blocks);
        self.out.open();
        // A closure must find every variable it may read later.
        if has_closure(&function.body) {
            for name in assigned_names(&function.body) {
                if !self.scope.is_assignable(&name) && !is_declared(&function.body, &name) {
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

/// A `global` or `nonlocal` statement of the body names it.
fn is_declared(body: &[Stmt], spelled: &str) -> bool {
    let is = |name: &ruff_python_ast::Identifier| names::variable(name.as_str()) == spelled;
    body.iter().any(|statement| match statement {
        Stmt::Global(e) => e.names.iter().any(is),
        Stmt::Nonlocal(e) => e.names.iter().any(is),
        _ => false,
    })
}

fn check(function: &StmtFunctionDef, is_method: bool) -> Written {
    if function.is_async {
        return Err(SyntaxFault::unsupported("async functions", function));
    }
    if names::is_engine_function(function.name.as_str()) && !is_method {
        let what = format!("functions named {}", function.name);
        return Err(SyntaxFault::unsupported(&what, &function.name));
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
        self.found |= self.name.is_none() && (statement.is_function_def_stmt() || statement.is_class_def_stmt());
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
