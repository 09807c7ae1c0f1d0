//! Names, and whatever else can be assigned to or deleted.

use super::{Compiled, Compiler, place};
use crate::bail_syntax;
use crate::python::code::{Op, mangled};
use crate::python::scope::{Kind, Place};
use crate::value::Value;
use ruff_python_ast::Expr;
use std::borrow::Cow;

impl<'a> Compiler<'a, '_> {
    /// Where a name lives in what is being compiled.
    pub(super) fn place_of(&mut self, name: &str) -> Place {
        let scope = self.unit().scope;
        self.scopes.all.get(scope).map_or(Place::Global, |scope| scope.place(name))
    }

    /// The number of a cell: its own come first, then those from around.
    pub(super) fn cell(&mut self, name: &str) -> u32 {
        let code = &self.unit().code;
        let own = code.cells.iter().position(|(cell, _)| &**cell == name);
        let free = || code.free.iter().position(|cell| &**cell == name).map(|at| code.cells.len() + at);
        own.or_else(free).unwrap_or_default() as u32
    }

    /// A name as it is kept: with the class's in front if it is the class's own.
    pub(super) fn mangled<'n>(&mut self, name: &'n str) -> Cow<'n, str> {
        let class = self.unit().class.clone();
        mangled(class.as_deref().unwrap_or_default(), name)
    }

    pub(super) fn load(&mut self, name: &str, place: u32) {
        let is_class = self.unit().code.kind == Kind::Class;
        let op = match self.place_of(name) {
            Place::Local => Op::LoadLocal(self.slot(name)),
            Place::Cell | Place::Free if is_class => {
                let kept = self.mangled(name).into_owned();
                Op::LoadNameOrCell(self.name(&kept), self.cell(name))
            }
            Place::Cell | Place::Free => Op::LoadCell(self.cell(name)),
            Place::Global => Op::LoadGlobal((self.slot_of)(name)),
            Place::Namespace => {
                let kept = self.mangled(name).into_owned();
                let global = (self.slot_of)(name);
                Op::LoadName(self.name(&kept), global)
            }
        };
        self.emit(op, place);
    }

    pub(super) fn store(&mut self, name: &str, place: u32) {
        let op = match self.place_of(name) {
            Place::Local => Op::StoreLocal(self.slot(name)),
            Place::Cell | Place::Free => Op::StoreCell(self.cell(name)),
            Place::Global => Op::StoreGlobal((self.slot_of)(name)),
            Place::Namespace => {
                let kept = self.mangled(name).into_owned();
                Op::StoreName(self.name(&kept))
            }
        };
        self.emit(op, place);
    }

    fn delete_name(&mut self, name: &str, place: u32) {
        let op = match self.place_of(name) {
            Place::Local => Op::DeleteLocal(self.slot(name)),
            Place::Cell | Place::Free => Op::DeleteCell(self.cell(name)),
            Place::Global => Op::DeleteGlobal((self.slot_of)(name)),
            Place::Namespace => {
                let kept = self.mangled(name).into_owned();
                Op::DeleteName(self.name(&kept))
            }
        };
        self.emit(op, place);
    }

    /// Unbinds a name that may or may not be bound: after `except … as name`.
    pub(super) fn forget(&mut self, name: &str, place: u32) {
        let none = self.constant(Value::None);
        self.emit(none, place);
        self.store(name, place);
        self.delete_name(name, place);
    }

    /// Assigns the value on top of the stack.
    pub(super) fn assign(&mut self, target: &'a Expr) -> Compiled {
        let at = place(target);
        match target {
            Expr::Name(name) => self.store(name.id.as_str(), at),
            Expr::Attribute(attribute) => {
                self.expression(&attribute.value)?;
                let name = self.mangled(attribute.attr.as_str()).into_owned();
                let name = self.name(&name);
                self.emit(Op::StoreAttribute(name), place(&attribute.attr));
            }
            Expr::Subscript(subscript) => {
                self.expression(&subscript.value)?;
                self.expression(&subscript.slice)?;
                self.emit(Op::StoreItem, at);
            }
            Expr::Tuple(tuple) => self.unpack(&tuple.elts, at)?,
            Expr::List(list) => self.unpack(&list.elts, at)?,
            Expr::Starred(_) => {
                bail_syntax!(at, "starred assignment target must be in a list or tuple")
            }
            _ => bail_syntax!(at, "cannot assign to this expression"),
        }
        Ok(())
    }

    fn unpack(&mut self, targets: &'a [Expr], at: u32) -> Compiled {
        let mut starred = targets.iter().enumerate().filter(|(_, target)| target.is_starred_expr());
        match (starred.next(), starred.next()) {
            (_, Some(_)) => bail_syntax!(at, "multiple starred expressions in assignment"),
            (Some((before, _)), None) => {
                let after = targets.len() - before - 1;
                self.emit(Op::UnpackStarred(before as u32, after as u32), at);
            }
            (None, None) => self.emit(Op::Unpack(targets.len() as u32), at),
        }
        targets.iter().try_for_each(|target| match target {
            Expr::Starred(starred) => self.assign(&starred.value),
            target => self.assign(target),
        })
    }

    pub(super) fn delete(&mut self, target: &'a Expr) -> Compiled {
        let at = place(target);
        match target {
            Expr::Name(name) => self.delete_name(name.id.as_str(), at),
            Expr::Attribute(attribute) => {
                self.expression(&attribute.value)?;
                let name = self.mangled(attribute.attr.as_str()).into_owned();
                let name = self.name(&name);
                self.emit(Op::DeleteAttribute(name), place(&attribute.attr));
            }
            Expr::Subscript(subscript) => {
                self.expression(&subscript.value)?;
                self.expression(&subscript.slice)?;
                self.emit(Op::DeleteItem, at);
            }
            Expr::Tuple(tuple) => tuple.elts.iter().try_for_each(|target| self.delete(target))?,
            Expr::List(list) => list.elts.iter().try_for_each(|target| self.delete(target))?,
            _ => bail_syntax!(at, "cannot delete this expression"),
        }
        Ok(())
    }
}
