//! Statements, except those with blocks that can be left early.

use super::expressions::operation;
use super::{Compiled, Compiler, NO_NAMES, Shows, source_offset};
use crate::python::code::Op;
use crate::python::syntax::SyntaxFault;
use crate::python::syntax::scope::ScopeKind;
use ruff_python_ast::{Expr, Stmt, StmtAnnAssign, StmtAugAssign, StmtIf, StmtImport, StmtImportFrom};
use value::Value;

impl<'a> Compiler<'a, '_> {
    pub(super) fn statement(&mut self, statement: &'a Stmt) -> Compiled {
        let at = source_offset(statement);
        match statement {
            Stmt::Expr(e) => {
                let is_meant = match self.shows {
                    Shows::Nothing => false,
                    Shows::Every => true,
                    Shows::Last => self.last == Some(at),
                    Shows::Result => {
                        self.expression(&e.value)?;
                        self.emit(Op::Return, at);
                        return Ok(());
                    }
                };
                let is_outside = matches!(self.unit.code.kind, ScopeKind::Module | ScopeKind::Namespace);
                let shown = is_meant && is_outside;
                // Skip a literal whose value is unused.
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
                        self.emit(Op::Copy(1), at);
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
                let fine = self.jump(|to| Op::JumpIf(true, to), at);
                self.push(Value::Type("AssertionError"), at);
                e.msg.iter().try_for_each(|message| self.expression(message))?;
                self.emit(Op::Call(u32::from(e.msg.is_some()), NO_NAMES), at);
                self.emit(Op::Raise(1), at);
                self.land(fine);
            }
            Stmt::Raise(e) => {
                let parts = [&e.exc, &e.cause];
                let given = parts.into_iter().flatten();
                given.clone().try_for_each(|part| self.expression(part))?;
                self.emit(Op::Raise(given.count() as u8), at);
            }
            Stmt::Import(e) => self.import(e),
            Stmt::ImportFrom(e) => self.import_from(e),
            Stmt::If(e) => self.if_statement(e)?,
            Stmt::While(e) => self.while_loop(e)?,
            Stmt::For(e) => self.for_loop(e)?,
            Stmt::With(e) => self.with(e)?,
            Stmt::Try(e) => self.try_statement(e)?,
            Stmt::Break(_) => self.leave_loop(true, at)?,
            Stmt::Continue(_) => self.leave_loop(false, at)?,
            Stmt::Return(e) => {
                self.optional(e.value.as_deref(), at)?;
                self.leave_function(at)?;
            }
            Stmt::FunctionDef(e) => self.function(e)?,
            Stmt::ClassDef(e) => self.class(e)?,
            Stmt::Match(e) => self.match_statement(e)?,
            Stmt::TypeAlias(e) => return Err(SyntaxFault::unsupported("type aliases", e)),
            Stmt::IpyEscapeCommand(e) => return Err(SyntaxFault::unsupported("IPython commands", e)),
        }
        Ok(())
    }

    fn if_statement(&mut self, statement: &'a StmtIf) -> Compiled {
        let mut ends = Vec::new();
        self.expression(&statement.test)?;
        let mut next = Some(self.jump(|to| Op::JumpIf(false, to), source_offset(&*statement.test)));
        self.body(&statement.body)?;
        for clause in &statement.elif_else_clauses {
            ends.push(self.jump(Op::Jump, source_offset(statement)));
            if let Some(next) = next.take() {
                self.land(next);
            }
            if let Some(test) = &clause.test {
                self.expression(test)?;
                next = Some(self.jump(|to| Op::JumpIf(false, to), source_offset(test)));
            }
            self.body(&clause.body)?;
        }
        if let Some(next) = next {
            self.land(next);
        }
        ends.into_iter().for_each(|end| self.land(end));
        Ok(())
    }

    /// Compiles an annotated assignment. The annotation is evaluated only in a class body.
    fn annotated(&mut self, statement: &'a StmtAnnAssign) -> Compiled {
        if let Some(value) = &statement.value {
            self.expression(value)?;
            self.assign(&statement.target)?;
        }
        if let Expr::Name(name) = &*statement.target
            && self.unit.code.kind == ScopeKind::Class
            && statement.simple
        {
            let at = source_offset(statement);
            self.annotation(&statement.annotation)?;
            self.load("__annotations__", at);
            let member = self.member(&name.id);
            self.push(Value::str(self.unit.code.name(member)), at);
            self.emit(Op::StoreItem, at);
        }
        Ok(())
    }

    fn augmented(&mut self, statement: &'a StmtAugAssign) -> Compiled {
        let at = source_offset(&*statement.target);
        match &*statement.target {
            Expr::Name(name) => {
                self.load(&name.id, at);
                self.in_place(statement)?;
                self.store(&name.id, at);
            }
            Expr::Attribute(attribute) => {
                self.expression(&attribute.value)?;
                let name = self.member(&attribute.attr);
                self.emit(Op::Copy(1), at);
                self.emit(Op::Attribute(name), source_offset(&attribute.attr));
                self.in_place(statement)?;
                self.emit(Op::Swap(2), at);
                self.emit(Op::StoreAttribute(name), source_offset(&attribute.attr));
            }
            Expr::Subscript(subscript) => {
                self.expression(&subscript.value)?;
                self.expression(&subscript.slice)?;
                self.emit(Op::Copy(2), at);
                self.emit(Op::Copy(2), at);
                self.emit(Op::Item, at);
                self.in_place(statement)?;
                // `a b c → c a b`
                self.emit(Op::Swap(3), at);
                self.emit(Op::Swap(2), at);
                self.emit(Op::StoreItem, at);
            }
            other => return Err(SyntaxFault::unsupported("such targets", other)),
        }
        Ok(())
    }

    fn in_place(&mut self, statement: &'a StmtAugAssign) -> Compiled {
        self.expression(&statement.value)?;
        let op = operation(statement.op.as_str(), Op::InPlace)?;
        self.emit(op, source_offset(statement));
        Ok(())
    }

    fn import(&mut self, statement: &'a StmtImport) {
        for alias in &statement.names {
            let (at, path) = (source_offset(alias), alias.name.as_str());
            let constant = self.constant(Value::str(path));
            // Without `as`, the statement binds the name of the outermost package.
            self.emit(Op::Import(constant, alias.asname.is_none()), at);
            let outer = path.split('.').next().unwrap_or_default();
            self.store(alias.asname.as_ref().map_or(outer, |name| name.as_str()), at);
        }
    }

    fn import_from(&mut self, statement: &'a StmtImportFrom) {
        let module = statement.module.as_ref().map_or("", |module| module.as_str());
        let path = format!("{}{module}", ".".repeat(statement.level as usize));
        if path == "__future__" {
            self.annotations_are_texts |= statement.names.iter().any(|alias| alias.name.as_str() == "annotations");
            return;
        }
        let path = self.constant(Value::str(path));
        for (i, alias) in statement.names.iter().enumerate() {
            let at = source_offset(alias);
            // A module that is not there is reported at the first name.
            if i == 0 {
                self.emit(Op::Import(path, false), at);
            }
            if alias.name.as_str() == "*" {
                return self.emit(Op::ImportAll, at);
            }
            let name = self.constant(Value::str(alias.name.as_str()));
            self.emit(Op::ImportFrom(path, name), at);
            self.store(alias.asname.as_ref().unwrap_or(&alias.name), at);
        }
        self.emit(Op::Pop, source_offset(statement));
    }
}
