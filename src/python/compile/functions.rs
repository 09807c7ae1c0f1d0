//! Functions, classes and comprehensions: each becomes a code of its own, and an instruction that makes the object.

use super::{Compiled, Compiler, place};
use crate::python::code::{Op, Parameters};
use crate::python::scope::Kind;
use crate::python::syntax::SyntaxFault;
use crate::value::Value;
use ruff_python_ast::{Comprehension, Decorator, Expr, ExprLambda, Stmt, StmtClassDef, StmtFunctionDef};
use ruff_text_size::Ranged;
use std::rc::Rc;

impl<'a> Compiler<'a, '_> {
    pub(super) fn function(&mut self, function: &'a StmtFunctionDef) -> Compiled {
        if function.is_async {
            return Err(SyntaxFault::unsupported("async functions", function));
        }
        self.decorators(&function.decorator_list)?;
        let at = place(&function.name);
        self.defaults(&function.parameters, at)?;
        let (scope, parameters) = (self.scopes.of(function), parameters(&function.parameters));
        self.begin(scope, Kind::Function, function.name.as_str(), parameters);
        self.unit().code.doc = doc(&function.body);
        self.body(&function.body)?;
        self.none(at);
        self.emit(Op::Return, at);
        self.made(at);
        self.decorated(&function.decorator_list);
        self.store(function.name.as_str(), at);
        Ok(())
    }

    pub(super) fn lambda(&mut self, lambda: &'a ExprLambda) -> Compiled {
        let at = place(lambda);
        let taken = match &lambda.parameters {
            Some(given) => {
                self.defaults(given, at)?;
                parameters(given)
            }
            None => {
                self.emit(Op::Tuple(0), at);
                self.emit(Op::Dict(0), at);
                Parameters::default()
            }
        };
        let scope = self.scopes.of(lambda);
        self.begin(scope, Kind::Function, "<lambda>", taken);
        self.expression(&lambda.body)?;
        self.emit(Op::Return, at);
        self.made(at);
        Ok(())
    }

    /// Ends the code of a function and makes the function: the defaults lie on the stack.
    fn made(&mut self, at: u32) {
        let code = self.end();
        let free = code.free.clone();
        for name in &free {
            let cell = self.cell(name);
            self.emit(Op::PushCell(cell), at);
        }
        let codes = &mut self.unit().code.codes;
        codes.push(code);
        let code = codes.len() as u32 - 1;
        self.emit(Op::Function(code, free.len() as u32), at);
    }

    /// Pushes the defaults: a tuple of those by position, a dictionary of those by keyword.
    fn defaults(&mut self, parameters: &'a ruff_python_ast::Parameters, at: u32) -> Compiled {
        let mut count = 0;
        for parameter in parameters.posonlyargs.iter().chain(&parameters.args) {
            if let Some(default) = &parameter.default {
                self.expression(default)?;
                count += 1;
            }
        }
        self.emit(Op::Tuple(count), at);
        let mut count = 0;
        for parameter in &parameters.kwonlyargs {
            if let Some(default) = &parameter.default {
                let name = self.constant(Value::str(parameter.parameter.name.as_str()));
                self.emit(name, at);
                self.expression(default)?;
                count += 1;
            }
        }
        self.emit(Op::Dict(count), at);
        Ok(())
    }

    fn decorators(&mut self, decorators: &'a [Decorator]) -> Compiled {
        decorators.iter().try_for_each(|decorator| self.expression(&decorator.expression))
    }

    fn decorated(&mut self, decorators: &'a [Decorator]) {
        for decorator in decorators.iter().rev() {
            self.emit(Op::Call(1), place(&decorator.expression));
        }
    }

    pub(super) fn class(&mut self, class: &'a StmtClassDef) -> Compiled {
        self.decorators(&class.decorator_list)?;
        let at = place(&class.name);
        self.emit(Op::Tuple(0), at);
        self.emit(Op::Dict(0), at);
        let scope = self.scopes.of(class);
        self.begin(scope, Kind::Class, class.name.as_str(), Parameters::default());
        self.unit().code.doc = doc(&class.body);
        self.body(&class.body)?;
        self.none(at);
        self.emit(Op::Return, at);
        self.made(at);
        self.emit(Op::List(0), at);
        self.emit(Op::Dict(0), at);
        if let Some(arguments) = &class.arguments {
            for base in &arguments.args {
                match base {
                    Expr::Starred(_) => return Err(SyntaxFault::unsupported("unpacked base classes", base)),
                    base => {
                        self.emit(Op::Swap, at);
                        self.expression(base)?;
                        self.emit(Op::Append, place(base));
                        self.emit(Op::Swap, at);
                    }
                }
            }
            for keyword in &arguments.keywords {
                match &keyword.arg {
                    Some(name) if name.as_str() != "metaclass" => {
                        let name = self.constant(Value::str(name.as_str()));
                        self.emit(name, at);
                        self.expression(&keyword.value)?;
                        self.emit(Op::SetEntry, at);
                    }
                    _ => return Err(SyntaxFault::unsupported("metaclasses", keyword)),
                }
            }
        }
        self.emit(Op::Class, at);
        self.decorated(&class.decorator_list);
        self.store(class.name.as_str(), at);
        Ok(())
    }

    pub(super) fn comprehension(
        &mut self,
        node: &impl Ranged,
        name: &str,
        generators: &'a [Comprehension],
        parts: &[&'a Expr],
    ) -> Compiled {
        let at = place(node);
        if generators.iter().any(|generator| generator.is_async) {
            return Err(SyntaxFault::unsupported("async comprehensions", node));
        }
        let Some(first) = generators.first() else { return Ok(()) };
        self.emit(Op::Tuple(0), at);
        self.emit(Op::Dict(0), at);
        let scope = self.scopes.of(node);
        let parameters = Parameters { names: vec![".0".into()], positional: 1, ..Parameters::default() };
        self.begin(scope, Kind::Comprehension, name, parameters);
        match name {
            "<listcomp>" => self.emit(Op::List(0), at),
            "<setcomp>" => self.emit(Op::Set(0), at),
            "<dictcomp>" => self.emit(Op::Dict(0), at),
            _ => {}
        }
        let taken = self.slot(".0");
        self.emit(Op::LoadLocal(taken), place(&first.iter));
        self.loops(generators, parts, name)?;
        if name == "<genexpr>" {
            self.none(at);
        }
        self.emit(Op::Return, at);
        self.made(at);
        self.expression(&first.iter)?;
        // What cannot be iterated over is refused here, as in Python.
        self.emit(Op::Iterator, place(&first.iter));
        self.emit(Op::Call(1), at);
        Ok(())
    }

    /// The loops of a comprehension, the iterable of the first one on the stack.
    fn loops(&mut self, generators: &'a [Comprehension], parts: &[&'a Expr], name: &str) -> Compiled {
        let Some((generator, rest)) = generators.split_first() else {
            parts.iter().try_for_each(|part| self.expression(part))?;
            let at = parts.first().map_or(0, |part| place(*part));
            match name {
                "<listcomp>" => self.emit(Op::Append, at),
                "<setcomp>" => self.emit(Op::Add, at),
                "<dictcomp>" => self.emit(Op::SetEntry, at),
                _ => {
                    self.emit(Op::Yield, at);
                    self.emit(Op::Pop, at);
                }
            }
            return Ok(());
        };
        let at = place(&generator.iter);
        self.emit(Op::Begin, at);
        let start = self.here();
        let end = self.jump(Op::Next, at);
        self.assign(&generator.target)?;
        for test in &generator.ifs {
            self.expression(test)?;
            self.emit(Op::JumpIfFalse(start), place(test));
        }
        if let Some(next) = rest.first() {
            self.expression(&next.iter)?;
        }
        self.loops(rest, parts, name)?;
        self.emit(Op::Jump(start), at);
        self.land(end);
        Ok(())
    }
}

fn parameters(given: &ruff_python_ast::Parameters) -> Parameters {
    let name = |parameter: &ruff_python_ast::ParameterWithDefault| Rc::from(parameter.parameter.name.as_str());
    let positional = given.posonlyargs.iter().chain(&given.args).map(name);
    let others = given.kwonlyargs.iter().map(name);
    let gathered = given.vararg.iter().chain(&given.kwarg).map(|parameter| Rc::from(parameter.name.as_str()));
    Parameters {
        names: positional.chain(others).chain(gathered).collect(),
        positional_only: given.posonlyargs.len(),
        positional: given.posonlyargs.len() + given.args.len(),
        keyword_only: given.kwonlyargs.len(),
        has_rest: given.vararg.is_some(),
        has_keywords: given.kwarg.is_some(),
    }
}

/// The text that a body begins with.
fn doc(body: &[Stmt]) -> Option<Rc<str>> {
    match body.first() {
        Some(Stmt::Expr(first)) => match &*first.value {
            Expr::StringLiteral(text) => Some(text.value.to_str().into()),
            _ => None,
        },
        _ => None,
    }
}
