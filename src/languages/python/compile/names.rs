//! Names and other targets of assignment and deletion.

use super::{Compiled, Compiler, source_offset};
use crate::python::code::{Op, Variable, mangled};
use crate::python::syntax::SyntaxFault;
use crate::python::syntax::scope::NameScope;
use ruff_python_ast::Expr;
use value::Value;

/// Instructions for the same operation on a variable, an attribute and an item.
pub(super) struct Access {
    variable: fn(Variable) -> Op,
    attribute: fn(u32) -> Op,
    item: Op,
}

pub(super) const READS: Access = Access { variable: Op::Load, attribute: Op::Attribute, item: Op::Item };
const WRITES: Access = Access { variable: Op::Store, attribute: Op::StoreAttribute, item: Op::StoreItem };
const DELETES: Access = Access { variable: Op::Delete, attribute: Op::DeleteAttribute, item: Op::DeleteItem };

/// The slot of a name that is not read.
const NO_SLOT: u32 = u32::MAX;

impl<'a> Compiler<'a, '_> {
    /// Returns where the current unit stores a name.
    pub(super) fn scope_of(&self, name: &str) -> NameScope {
        self.scopes.all.get(self.unit.scope).map_or(NameScope::Global, |scope| scope.place(name))
    }

    /// Returns the index of a cell. The code's own cells come first, then those of enclosing functions.
    pub(super) fn cell(&self, name: &str) -> u32 {
        let code = &self.unit.code;
        let own = code.cells.iter().position(|(cell, _)| &**cell == name);
        let free = || code.free.iter().position(|cell| &**cell == name).map(|at| code.cells.len() + at);
        own.or_else(free).unwrap_or_default() as u32
    }

    /// Returns the index of a member's mangled name.
    pub(super) fn member(&mut self, name: &str) -> u32 {
        let class = self.unit.class.clone();
        self.name(&mangled(class.as_deref().unwrap_or_default(), name))
    }

    fn variable(&mut self, name: &str) -> Variable {
        match self.target(name) {
            // A name of a class body may be a global one there.
            Variable::Namespace(member, _) => Variable::Namespace(member, (self.slot_of)(name)),
            other => other,
        }
    }

    /// Returns the variable of a name that is assigned to or deleted.
    fn target(&mut self, name: &str) -> Variable {
        match self.scope_of(name) {
            NameScope::Local => Variable::Local(self.slot(name)),
            NameScope::Cell => Variable::Cell(self.cell(name)),
            NameScope::Global => Variable::Global((self.slot_of)(name)),
            NameScope::Namespace => Variable::Namespace(self.member(name), NO_SLOT),
        }
    }

    pub(super) fn load(&mut self, name: &str, place: u32) {
        let variable = self.variable(name);
        self.emit(Op::Load(variable), place);
    }

    pub(super) fn store(&mut self, name: &str, place: u32) {
        let variable = self.target(name);
        self.emit(Op::Store(variable), place);
    }

    /// Unbinds a name that may be unbound already: after `except … as name`.
    pub(super) fn forget(&mut self, name: &str, place: u32) {
        let variable = self.target(name);
        self.push(Value::None, place);
        self.emit(Op::Store(variable), place);
        self.emit(Op::Delete(variable), place);
    }

    /// Reads, assigns to or deletes a variable, an attribute or an item.
    pub(super) fn access(&mut self, target: &'a Expr, access: &Access) -> Compiled {
        let at = source_offset(target);
        match target {
            Expr::Name(name) => {
                let variable = self.variable(&name.id);
                self.emit((access.variable)(variable), at);
            }
            Expr::Attribute(attribute) => {
                self.expression(&attribute.value)?;
                let name = self.member(&attribute.attr);
                self.emit((access.attribute)(name), source_offset(&attribute.attr));
            }
            Expr::Subscript(subscript) => {
                self.expression(&subscript.value)?;
                self.expression(&subscript.slice)?;
                self.emit(access.item, at);
            }
            other => return Err(SyntaxFault::unsupported("such targets", other)),
        }
        Ok(())
    }

    /// Assigns the value on top of the stack to a target.
    pub(super) fn assign(&mut self, target: &'a Expr) -> Compiled {
        match target {
            Expr::Tuple(tuple) => self.unpack(&tuple.elts, source_offset(target)),
            Expr::List(list) => self.unpack(&list.elts, source_offset(target)),
            target => self.access(target, &WRITES),
        }
    }

    fn unpack(&mut self, targets: &'a [Expr], at: u32) -> Compiled {
        match targets.iter().position(Expr::is_starred_expr) {
            Some(before) => self.emit(Op::UnpackStarred(before as u32, (targets.len() - before - 1) as u32), at),
            None => self.emit(Op::Unpack(targets.len() as u32), at),
        }
        targets.iter().try_for_each(|target| match target {
            Expr::Starred(starred) => self.assign(&starred.value),
            target => self.assign(target),
        })
    }

    pub(super) fn delete(&mut self, target: &'a Expr) -> Compiled {
        match target {
            Expr::Tuple(tuple) => tuple.elts.iter().try_for_each(|target| self.delete(target)),
            Expr::List(list) => list.elts.iter().try_for_each(|target| self.delete(target)),
            target => self.access(target, &DELETES),
        }
    }
}
