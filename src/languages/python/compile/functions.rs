//! Functions, classes and comprehensions. Each becomes its own code, plus an instruction that creates the object.

use super::{CodeHeader, Compiled, Compiler, NO_NAMES, begun, source_offset};
use crate::python::code::{Code, Late, Op, Parameters};
use crate::python::syntax::SyntaxFault;
use crate::python::syntax::outline::Body;
use crate::python::syntax::scope::{NameScope, ScopeKind};
use ruff_python_ast::{Comprehension, Decorator, Expr, ExprLambda, Stmt, StmtClassDef, StmtFunctionDef};
use ruff_text_size::Ranged;
use std::cell::OnceCell;
use std::rc::Rc;
use value::Value;

impl<'a> Compiler<'a, '_> {
    pub(super) fn function(&mut self, function: &'a StmtFunctionDef) -> Compiled {
        self.decorators(&function.decorator_list)?;
        let (at, scope) = (source_offset(&function.name), self.scopes.of(function));
        self.defaults(&function.parameters, at)?;
        let head = (scope, &*function.name, parameters(&function.parameters));
        let code = match self.scopes.left_out(&function.body) {
            Some(body) => self.outlined(head, body),
            None => self.nested_code(head, |this| this.function_body(function))?,
        };
        self.emit_function(code, at);
        self.annotations(function, at)?;
        self.decorated(&function.decorator_list);
        self.store(&function.name, at);
        Ok(())
    }

    /// Compiles the body of the function that the current unit is.
    pub(super) fn function_body(&mut self, function: &'a StmtFunctionDef) -> Compiled {
        self.unit.code.is_async = function.is_async;
        self.documented_body(&function.body)?;
        self.ends(source_offset(&function.name));
        Ok(())
    }

    /// Returns what is known of a function without its body.
    fn outlined(&self, head: CodeHeader<'_>, body: &Body) -> Rc<Code> {
        let class = self.unit.class.clone();
        let mut code = begun(self.scopes, self.source, Some(&self.unit), head);
        code.late = Some(Late {
            range: body.function.clone(),
            is_indented: body.column > 0,
            class,
            is_method: self.unit.code.kind == ScopeKind::Class,
            annotations_are_texts: self.annotations_are_texts,
            code: OnceCell::new(),
        });
        Rc::new(code)
    }

    /// Compiles what is raised where a form that is not supported runs, so that the rest of a module does.
    pub(super) fn refused(&mut self, form: &str, at: u32) {
        self.push(Value::Type("NotImplementedError"), at);
        self.push(Value::str(format!("{form} are not supported at this prompt")), at);
        self.emit(Op::Call(1, NO_NAMES), at);
        self.emit(Op::Raise(1), at);
    }

    /// Gives the function on the stack the annotations of its parameters.
    fn annotations(&mut self, function: &'a StmtFunctionDef, at: u32) -> Compiled {
        let given = &function.parameters;
        let of = |parameter: &'a ruff_python_ast::Parameter| Some((&parameter.name, parameter.annotation.as_deref()?));
        let singles = given.posonlyargs.iter().chain(&given.args).map(|parameter| of(&parameter.parameter));
        let named = given.kwonlyargs.iter().map(|parameter| of(&parameter.parameter));
        let all = singles.chain([given.vararg.as_deref().and_then(of)]).chain(named);
        let mut all: Vec<(&str, &Expr)> = all
            .chain([given.kwarg.as_deref().and_then(of)])
            .flatten()
            .map(|(name, annotation)| (name.as_str(), annotation))
            .collect();
        all.extend(function.returns.as_deref().map(|annotation| ("return", annotation)));
        if all.is_empty() {
            return Ok(());
        }
        let refusal = self.jump(Op::Try, at);
        for (name, annotation) in &all {
            self.push(Value::str(*name), at);
            self.annotation(annotation)?;
        }
        self.emit(Op::Dict(all.len() as u32), at);
        self.emit(Op::EndTry, at);
        self.emit(Op::Annotate, at);
        let end = self.jump(Op::Jump, at);
        self.land(refusal);
        self.emit(Op::AnnotateLater, at);
        self.land(end);
        Ok(())
    }

    /// Compiles an annotation, which is a text after `from __future__ import annotations`.
    pub(super) fn annotation(&mut self, annotation: &'a Expr) -> Compiled {
        if !self.annotations_are_texts {
            return self.expression(annotation);
        }
        let range = annotation.range();
        let text = self.source_of(range.start().to_usize()..range.end().to_usize());
        self.push(Value::str(text), source_offset(annotation));
        Ok(())
    }

    pub(super) fn lambda(&mut self, lambda: &'a ExprLambda) -> Compiled {
        let (at, scope) = (source_offset(lambda), self.scopes.of(lambda));
        let given = lambda.parameters.as_deref();
        match given {
            Some(given) => self.defaults(given, at)?,
            None => self.no_defaults(at),
        }
        let code = self.nested_code((scope, "<lambda>", given.map(parameters).unwrap_or_default()), |this| {
            this.expression(&lambda.body)?;
            this.emit(Op::Return, at);
            Ok(())
        })?;
        self.emit_function(code, at);
        Ok(())
    }

    /// Emits the creation of a function from its code. The defaults are on the stack.
    fn emit_function(&mut self, code: Rc<Code>, at: u32) {
        let cells = code.free.iter().map(|name| self.cell(name)).collect();
        let codes = &mut self.unit.code.codes;
        codes.push((code, cells));
        let code = codes.len() as u32 - 1;
        self.emit(Op::Function(code), at);
    }

    pub(super) fn documented_body(&mut self, body: &'a [Stmt]) -> Compiled {
        if let Some(Stmt::Expr(first)) = body.first()
            && let Expr::StringLiteral(text) = &*first.value
        {
            self.unit.code.doc = Some(text.value.to_str().into());
        }
        self.body(body)
    }

    fn no_defaults(&mut self, at: u32) {
        self.emit(Op::Tuple(0), at);
        self.emit(Op::Dict(0), at);
    }

    /// Pushes the defaults: a tuple for positional parameters, a dictionary for keyword-only ones.
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
                self.push(Value::str(parameter.name().as_str()), at);
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
            self.emit(Op::Call(1, NO_NAMES), source_offset(&decorator.expression));
        }
    }

    pub(super) fn class(&mut self, class: &'a StmtClassDef) -> Compiled {
        self.decorators(&class.decorator_list)?;
        let (at, scope) = (source_offset(&class.name), self.scopes.of(class));
        self.no_defaults(at);
        let code = self.nested_code((scope, &class.name, Parameters::default()), |this| {
            if this.scope_of("__annotations__") == NameScope::Namespace {
                this.emit(Op::Dict(0), at);
                this.store("__annotations__", at);
            }
            this.documented_body(&class.body)?;
            this.ends(at);
            Ok(())
        })?;
        self.emit_function(code, at);
        self.emit(Op::List(0), at);
        self.emit(Op::Dict(0), at);
        if let Some(arguments) = &class.arguments {
            for base in &arguments.args {
                if base.is_starred_expr() {
                    return Err(SyntaxFault::unsupported("unpacked base classes", base));
                }
                self.emit(Op::Swap(2), at);
                self.expression(base)?;
                self.emit(Op::Append, source_offset(base));
                self.emit(Op::Swap(2), at);
            }
            for keyword in &arguments.keywords {
                let Some(name) = keyword.arg.as_deref() else {
                    return Err(SyntaxFault::unsupported("unpacked keywords of classes", keyword));
                };
                self.push(Value::str(name), at);
                self.expression(&keyword.value)?;
                self.emit(Op::SetEntry, at);
            }
        }
        self.emit(Op::Class, at);
        self.decorated(&class.decorator_list);
        self.store(&class.name, at);
        Ok(())
    }

    /// Compiles a comprehension. `makes` are the instructions that create the container and append to it; a generator
    /// does not have them.
    pub(super) fn comprehension(
        &mut self,
        node: &impl Ranged,
        name: &str,
        generators: &'a [Comprehension],
        parts: &[&'a Expr],
        makes: Option<(Op, Op)>,
    ) -> Compiled {
        let (at, scope) = (source_offset(node), self.scopes.of(node));
        if generators.iter().any(|generator| generator.is_async) {
            return Err(SyntaxFault::unsupported("async comprehensions", node));
        }
        let Some(first) = generators.first() else { return Ok(()) };
        self.no_defaults(at);
        let parameters = Parameters { names: vec![".0".into()], positional: 1, ..Parameters::default() };
        let code = self.nested_code((scope, name, parameters), |this| {
            if let Some((begin, _)) = makes {
                this.emit(begin, at);
            }
            this.load(".0", source_offset(&first.iter));
            this.loops(generators, parts, makes.map(|(_, add)| add))?;
            match makes {
                Some(_) => this.emit(Op::Return, at),
                None => this.ends(at),
            }
            Ok(())
        })?;
        self.emit_function(code, at);
        // Values that cannot be iterated over are rejected here, like in Python.
        self.push(Value::Function("py.iter".into()), source_offset(&first.iter));
        self.expression(&first.iter)?;
        self.emit(Op::Call(1, NO_NAMES), source_offset(&first.iter));
        self.emit(Op::Call(1, NO_NAMES), at);
        Ok(())
    }

    /// Compiles the loops of a comprehension. The iterable of the first loop is on the stack.
    fn loops(&mut self, generators: &'a [Comprehension], parts: &[&'a Expr], add: Option<Op>) -> Compiled {
        let Some((generator, rest)) = generators.split_first() else {
            parts.iter().try_for_each(|part| self.expression(part))?;
            let at = parts.first().map_or(0, |part| source_offset(*part));
            match add {
                Some(add) => self.emit(add, at),
                None => {
                    self.emit(Op::Yield, at);
                    self.emit(Op::Pop, at);
                }
            }
            return Ok(());
        };
        let at = source_offset(&generator.iter);
        self.emit(Op::Begin, at);
        let start = self.here();
        let end = self.jump(Op::Next, at);
        self.assign(&generator.target)?;
        for test in &generator.ifs {
            self.expression(test)?;
            self.emit(Op::JumpIf(false, start), source_offset(test));
        }
        if let Some(next) = rest.first() {
            self.expression(&next.iter)?;
        }
        self.loops(rest, parts, add)?;
        self.emit(Op::Jump(start), at);
        self.land(end);
        Ok(())
    }
}

pub(super) fn parameters(given: &ruff_python_ast::Parameters) -> Parameters {
    let singles = given.posonlyargs.iter().chain(&given.args).chain(&given.kwonlyargs);
    let gathered = given.vararg.iter().chain(&given.kwarg).map(|parameter| &parameter.name);
    Parameters {
        names: singles.map(|parameter| parameter.name()).chain(gathered).map(|name| Rc::from(name.as_str())).collect(),
        positional_only: given.posonlyargs.len(),
        positional: given.posonlyargs.len() + given.args.len(),
        keyword_only: given.kwonlyargs.len(),
        has_rest: given.vararg.is_some(),
        has_keywords: given.kwarg.is_some(),
    }
}
