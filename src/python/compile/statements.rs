//! Statements, but for those with blocks that may be left early.

use super::{Compiled, Compiler, expressions, place};
use crate::bail_syntax;
use crate::python::code::{Op, Quick};
use crate::python::scope::Kind;
use crate::python::syntax::SyntaxFault;
use crate::value::Value;
use ruff_python_ast::{Expr, Stmt, StmtAnnAssign, StmtAugAssign, StmtIf, StmtImport, StmtImportFrom};

impl<'a> Compiler<'a, '_> {
    pub(super) fn statement(&mut self, statement: &'a Stmt) -> Compiled {
        let at = place(statement);
        match statement {
            Stmt::Expr(e) => {
                let shown = self.shows && self.unit().code.kind == Kind::Module;
                // A literal that nobody sees.
                if !shown && e.value.is_literal_expr() {
                    return Ok(());
                }
                self.expression(&e.value)?;
                self.emit(if shown { Op::Show } else { Op::Pop }, at);
            }
            Stmt::Assign(e) => {
                self.expression(&e.value)?;
                for (i, target) in e.targets.iter().enumerate() {
                    if i + 1 < e.targets.len() {
                        self.emit(Op::Duplicate, at);
                    }
                    self.assign(target)?;
                }
            }
            Stmt::AnnAssign(e) => self.annotated(e)?,
            Stmt::AugAssign(e) => self.augmented(e)?,
            Stmt::Delete(e) => e.targets.iter().try_for_each(|target| self.delete(target))?,
            Stmt::Pass(_) | Stmt::Global(_) | Stmt::Nonlocal(_) => {}
            Stmt::Assert(e) => {
                self.expression(&e.test)?;
                let fine = self.jump(Op::JumpIfTrue, at);
                if let Some(message) = &e.msg {
                    self.expression(message)?;
                }
                self.emit(Op::FailAssertion(e.msg.is_some()), at);
                self.land(fine);
            }
            Stmt::Raise(e) => {
                let parts = [&e.exc, &e.cause];
                let given = parts.into_iter().flatten();
                given.clone().try_for_each(|part| self.expression(part))?;
                self.emit(Op::Raise(given.count() as u8), at);
            }
            Stmt::Import(e) => self.import(e),
            Stmt::ImportFrom(e) => self.import_from(e)?,
            Stmt::If(e) => self.if_statement(e)?,
            Stmt::While(e) => self.while_loop(e)?,
            Stmt::For(e) => self.for_loop(e)?,
            Stmt::With(e) => self.with(e)?,
            Stmt::Try(e) => self.try_statement(e)?,
            Stmt::Break(_) => self.leave_loop(true, at)?,
            Stmt::Continue(_) => self.leave_loop(false, at)?,
            Stmt::Return(e) => {
                if self.unit().code.kind != Kind::Function {
                    bail_syntax!(at, "'return' outside function");
                }
                match &e.value {
                    Some(value) => self.expression(value)?,
                    None => self.none(at),
                }
                self.leave_function(at)?;
            }
            Stmt::FunctionDef(e) => self.function(e)?,
            Stmt::ClassDef(e) => self.class(e)?,
            Stmt::Match(e) => return Err(SyntaxFault::unsupported("match statements", e)),
            Stmt::TypeAlias(e) => return Err(SyntaxFault::unsupported("type aliases", e)),
            Stmt::IpyEscapeCommand(e) => return Err(SyntaxFault::unsupported("IPython commands", e)),
        }
        Ok(())
    }

    fn if_statement(&mut self, statement: &'a StmtIf) -> Compiled {
        let mut ends = Vec::new();
        self.expression(&statement.test)?;
        let mut next = Some(self.jump(Op::JumpIfFalse, place(&*statement.test)));
        self.body(&statement.body)?;
        for clause in &statement.elif_else_clauses {
            ends.push(self.jump(Op::Jump, place(statement)));
            if let Some(next) = next.take() {
                self.land(next);
            }
            if let Some(test) = &clause.test {
                self.expression(test)?;
                next = Some(self.jump(Op::JumpIfFalse, place(test)));
            }
            self.body(&clause.body)?;
        }
        if let Some(next) = next {
            self.land(next);
        }
        ends.into_iter().for_each(|end| self.land(end));
        Ok(())
    }

    fn annotated(&mut self, statement: &'a StmtAnnAssign) -> Compiled {
        if let Some(value) = &statement.value {
            self.expression(value)?;
            self.assign(&statement.target)?;
        }
        if let Expr::Name(name) = &*statement.target
            && self.unit().code.kind == Kind::Class
        {
            self.expression(&statement.annotation)?;
            let name = self.name(name.id.as_str());
            self.emit(Op::Annotate(name), place(statement));
        }
        Ok(())
    }

    fn augmented(&mut self, statement: &'a StmtAugAssign) -> Compiled {
        let Some(operator) = expressions::operator(statement.op) else { return Ok(()) };
        let (at, operation) = (place(&*statement.target), place(statement));
        match &*statement.target {
            Expr::Name(name) => {
                self.load(name.id.as_str(), at);
                self.expression(&statement.value)?;
                self.emit(Op::InPlace(Quick::of(operator), operator), operation);
                self.store(name.id.as_str(), at);
            }
            Expr::Attribute(attribute) => {
                self.expression(&attribute.value)?;
                let name = self.mangled(attribute.attr.as_str()).into_owned();
                let name = self.name(&name);
                self.emit(Op::Duplicate, at);
                self.emit(Op::Attribute(name), place(&attribute.attr));
                self.expression(&statement.value)?;
                self.emit(Op::InPlace(Quick::of(operator), operator), operation);
                self.emit(Op::Swap, at);
                self.emit(Op::StoreAttribute(name), place(&attribute.attr));
            }
            Expr::Subscript(subscript) => {
                self.expression(&subscript.value)?;
                self.expression(&subscript.slice)?;
                self.emit(Op::DuplicateTwo, at);
                self.emit(Op::Item, at);
                self.expression(&statement.value)?;
                self.emit(Op::InPlace(Quick::of(operator), operator), operation);
                self.emit(Op::Rotate, at);
                self.emit(Op::StoreItem, at);
            }
            other => bail_syntax!(place(other), "illegal expression for augmented assignment"),
        }
        Ok(())
    }

    fn import(&mut self, statement: &'a StmtImport) {
        for alias in &statement.names {
            let at = place(alias);
            let path = self.constant_at(Value::str(alias.name.as_str()));
            match &alias.asname {
                Some(name) => {
                    self.emit(Op::ImportLeaf(path), at);
                    self.store(name.as_str(), at);
                }
                None => {
                    self.emit(Op::Import(path), at);
                    self.store(alias.name.as_str().split('.').next().unwrap_or_default(), at);
                }
            }
        }
    }

    fn import_from(&mut self, statement: &'a StmtImportFrom) -> Compiled {
        let module = match &statement.module {
            Some(module) if statement.level == 0 => module.as_str(),
            _ => return Err(SyntaxFault::unsupported("relative imports", statement)),
        };
        if module == "__future__" {
            return Ok(());
        }
        for alias in &statement.names {
            if alias.name.as_str() == "*" {
                return Err(SyntaxFault::unsupported("imports of *", alias));
            }
            let at = place(alias);
            let (module, name) = (self.constant_at(Value::str(module)), self.name(alias.name.as_str()));
            self.emit(Op::ImportFrom(module, name), at);
            self.store(alias.asname.as_ref().unwrap_or(&alias.name).as_str(), at);
        }
        Ok(())
    }
}
