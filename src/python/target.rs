//! Everything that can stand left of `=`, and `del`.

use std::borrow::Cow;

use ruff_python_ast::helpers::any_over_expr;
use ruff_python_ast::{Expr, Operator, StmtAugAssign, UnaryOp};

use super::scope::Known;
use super::{SyntaxFault, Translator, Written, names, start};

/// The value that is assigned.
pub(super) enum Value<'a> {
    Source(&'a Expr),
    /// Rhai text that may be evaluated once.
    Text(Cow<'static, str>),
}

impl Translator<'_> {
    /// `a = b = value`
    pub(super) fn assign(&mut self, targets: &[Expr], value: &Expr) -> Written {
        self.temporaries.clear();
        let (first, rest) = match targets {
            [only] => return self.assign_to(only, &Value::Source(value)),
            [first, rest @ ..] => (first, rest),
            [] => return Ok(()),
        };
        // The value is evaluated once: the first name keeps it for the others, or a temporary does.
        let (kept, rest) = match first {
            Expr::Name(name) => {
                self.assign_to(first, &Value::Source(value))?;
                (names::variable(name.id.as_str()).into_owned(), rest)
            }
            _ => {
                let kept = self.temporary("value");
                self.out.line_of(&format!("let {kept} = "));
                self.expression(value)?;
                self.out.push(";");
                (kept, targets)
            }
        };
        for target in rest {
            self.assign_to(target, &Value::Text(kept.clone().into()))?;
        }
        Ok(())
    }

    /// Writes the statements that assign a value to a target.
    pub(super) fn assign_to(&mut self, target: &Expr, value: &Value<'_>) -> Written {
        match target {
            Expr::Name(name) => self.assign_name(name.id.as_str(), value),
            Expr::Tuple(tuple) => self.unpack(&tuple.elts, value),
            Expr::List(list) => self.unpack(&list.elts, value),
            Expr::Attribute(e) => {
                self.out.line();
                self.out.mark(start(target));
                let name = &*self.mangled(e.attr.as_str());
                if names::is_property(name) && self.is_place(&e.value) {
                    self.place(target)?;
                    self.out.push(" = ");
                    self.value(value)?;
                    self.out.push(";");
                } else {
                    self.out.push("setattr(");
                    self.expression(&e.value)?;
                    self.out.push(", ");
                    self.string(name);
                    self.out.push(", ");
                    self.value(value)?;
                    self.out.push(");");
                }
                Ok(())
            }
            Expr::Subscript(e) => {
                self.out.line();
                self.out.mark(start(target));
                if !e.slice.is_slice_expr() && self.is_place(&e.value) {
                    self.place(&e.value)?;
                    self.out.push("[");
                    self.key(&e.slice)?;
                    self.out.push("] = ");
                    self.value(value)?;
                    self.out.push(";");
                } else {
                    self.receiver(&e.value)?;
                    self.out.push(".__setitem__(");
                    self.index(&e.slice)?;
                    self.out.push(", ");
                    self.value(value)?;
                    self.out.push(");");
                }
                Ok(())
            }
            Expr::Starred(e) => {
                Err(SyntaxFault::syntax("starred assignment target must be in a list or tuple", start(e)))
            }
            other => Err(SyntaxFault::syntax("cannot assign to this expression", start(other))),
        }
    }

    fn assign_name(&mut self, name: &str, value: &Value<'_>) -> Written {
        let name = names::variable(name);
        if let Some(class) = self.class_being_made()
            && !names::is_property(&name)
        {
            self.out.line_of(&format!("setattr({class}, "));
            self.string(&name);
            self.out.push(", ");
            self.value(value)?;
            self.out.push(");");
            self.scope.define(&name, Known::Attribute);
            return Ok(());
        }
        let lambda = match value {
            Value::Source(expression @ Expr::Lambda(_)) => Some(*expression),
            _ => None,
        };
        // A closure looks its variables up when it is made, so that one that calls itself must exist before.
        let is_recursive = lambda.is_some_and(|lambda| mentions(lambda, &name));
        if is_recursive && !self.scope.is_assignable(&name) {
            self.bind(&name);
            self.out.push("();");
        }
        self.open_binding(&name);
        self.value(value)?;
        self.out.push(";");
        self.defined(&name);
        Ok(())
    }

    /// The name is assigned from here on.
    pub(super) fn defined(&mut self, name: &str) {
        if self.scope.is_global(name) {
            return;
        }
        let known = if self.scope.is_class() { Known::Attribute } else { Known::Variable };
        self.scope.define(name, known);
    }

    /// `let name = ` or `name = ` on a new line.
    pub(super) fn open_binding(&mut self, name: &str) {
        self.out.line();
        if let Some(class) = self.class_being_made() {
            self.out.push(&format!("{class}."));
            let name = self.mangled(name);
            self.out.push(&name);
            self.out.push(" = ");
            return;
        }
        if self.scope.is_global(name) {
            self.out.push("globals_.");
        } else if !self.scope.is_assignable(name) {
            self.out.push("let ");
        }
        self.out.push(name);
        self.out.push(" = ");
    }

    /// As `open_binding`, and the name is a variable from here on.
    pub(super) fn bind(&mut self, name: &str) {
        self.open_binding(name);
        self.defined(name);
    }

    fn value(&mut self, value: &Value<'_>) -> Written {
        match value {
            Value::Source(expression) => self.expression(expression),
            Value::Text(text) => {
                self.out.push(text);
                Ok(())
            }
        }
    }

    fn unpack(&mut self, targets: &[Expr], value: &Value<'_>) -> Written {
        let mut starred = targets.iter().filter(|t| t.is_starred_expr());
        if let Some(second) = starred.nth(1) {
            return Err(SyntaxFault::syntax("multiple starred expressions in assignment", start(second)));
        }
        let star = targets.iter().position(Expr::is_starred_expr);
        let literal = match value {
            Value::Source(Expr::Tuple(tuple)) => Some(&tuple.elts),
            _ => None,
        };
        let literal = literal.filter(|values| {
            star.is_none() && values.len() == targets.len() && !values.iter().any(Expr::is_starred_expr)
        });
        if let Some(values) = literal
            && can_assign_in_turn(targets, values)
        {
            for (target, value) in targets.iter().zip(values) {
                self.assign_to(target, &Value::Source(value))?;
            }
            return Ok(());
        }
        let unpacked = self.temporary("unpacked");
        self.out.line_of(&format!("let {unpacked} = "));
        if let Some(values) = literal {
            // Lists among the values must not stay arrays.
            let holds_list = values.iter().any(|value| value.is_list_expr() || value.is_list_comp_expr());
            self.out.push(if holds_list { "list(" } else { "" });
            self.elements(values)?;
            self.out.push(if holds_list { ");" } else { ";" });
        } else {
            let (function, counts) = match star {
                Some(before) => {
                    let after = targets.len() - before - 1;
                    ("unpack_star(", format!("{before}, {after}"))
                }
                None => ("unpack(", targets.len().to_string()),
            };
            self.out.push(function);
            self.value(value)?;
            self.out.push(&format!(", {counts});"));
        }
        for (i, target) in targets.iter().enumerate() {
            let target = match target {
                Expr::Starred(starred) => &starred.value,
                other => other,
            };
            let element = format!("{unpacked}[{i}]");
            self.assign_to(target, &Value::Text(element.into()))?;
        }
        Ok(())
    }

    /// A name for a temporary, unlike any other of the current simple statement. In the session itself it is deleted again, since a shell that
    /// shows who shares memory must not hold tensors under names the user does not know.
    fn temporary(&mut self, stem: &str) -> String {
        let count = self.temporaries.iter().filter(|t| t.starts_with(stem));
        let number = match count.count() {
            0 => String::new(),
            others => (others + 1).to_string(),
        };
        let name = format!("{stem}{number}_");
        self.temporaries.push(name.clone());
        if self.scope.is_session() && self.scope.frame().compounds == 0 {
            self.leftovers.push(name.clone());
        }
        name
    }

    /// Rhai can assign through this: names, attributes and simple subscripts that start at a variable it may change.
    fn is_place(&self, expression: &Expr) -> bool {
        match expression {
            Expr::Name(name) => {
                let spelled = names::variable(name.id.as_str());
                self.scope.is_changeable(&spelled)
            }
            Expr::Attribute(e) => names::is_property(e.attr.as_str()) && self.is_place(&e.value),
            Expr::Subscript(e) => is_simple_index(&e.slice) && self.is_place(&e.value),
            _ => false,
        }
    }

    /// An index that something is assigned to: Rhai takes a bare text for the name of an attribute.
    fn key(&mut self, index: &Expr) -> Written {
        let may_be_text = matches!(
            index,
            Expr::Name(_)
                | Expr::Attribute(_)
                | Expr::Subscript(_)
                | Expr::Call(_)
                | Expr::FString(_)
                | Expr::BinOp(_)
                | Expr::BoolOp(_)
                | Expr::If(_)
        );
        if !may_be_text {
            return self.index(index);
        }
        self.out.push("key_(");
        self.index(index)?;
        self.out.push(")");
        Ok(())
    }

    fn place(&mut self, expression: &Expr) -> Written {
        match expression {
            Expr::Attribute(e) => {
                self.place(&e.value)?;
                self.out.push(".");
                self.out.mark(start(&e.attr));
                let name = self.mangled(e.attr.as_str());
                self.out.push(&name);
            }
            Expr::Subscript(e) => {
                self.place(&e.value)?;
                self.out.push("[");
                self.key(&e.slice)?;
                self.out.push("]");
            }
            other => self.expression(other)?,
        }
        Ok(())
    }

    /// `x += 1`: the target's parts are evaluated once.
    pub(super) fn augmented(&mut self, statement: &StmtAugAssign) -> Written {
        let function = in_place_function(statement.op);
        let target: &Expr = &statement.target;
        self.out.line();
        self.out.mark(start(statement));
        if target.is_name_expr() || self.is_place(target) {
            if let Expr::Name(name) = target
                && self.scope.is_global(&names::variable(name.id.as_str()))
            {
                self.out.push("globals_.");
            }
            self.place(target)?;
            self.out.push(" = ");
            self.function_of(function, &[target, &statement.value])?;
            self.out.push(";");
            return Ok(());
        }
        match target {
            Expr::Attribute(e) => {
                let name = &*self.mangled(e.attr.as_str());
                self.out.push("{ let base_ = ");
                self.expression(&e.value)?;
                let (before, between, after) = if names::is_property(name) {
                    (format!("; base_.{name} = "), format!("{function}(base_.{name}, "), "); }")
                } else {
                    (
                        format!("; setattr(base_, \"{name}\", "),
                        format!("{function}(getattr(base_, \"{name}\"), "),
                        ")); }",
                    )
                };
                self.out.push(&before);
                self.out.push(&between);
                self.expression(&statement.value)?;
                self.out.push(after);
            }
            Expr::Subscript(e) => {
                self.out.push("{ let base_ = ");
                self.expression(&e.value)?;
                self.out.push("; let index_ = ");
                self.index(&e.slice)?;
                self.out.push("; base_.__setitem__(index_, ");
                self.out.push(function);
                self.out.push("(base_.__getitem__(index_), ");
                self.expression(&statement.value)?;
                self.out.push(")); }");
            }
            other => {
                return Err(SyntaxFault::syntax(
                    "this expression is an illegal target for augmented assignment",
                    start(other),
                ));
            }
        }
        Ok(())
    }

    /// One target of a `del` that is not a variable of the session.
    pub(super) fn delete(&mut self, target: &Expr) -> Written {
        match target {
            Expr::Tuple(tuple) => tuple.elts.iter().try_for_each(|e| self.delete(e)),
            Expr::List(list) => list.elts.iter().try_for_each(|e| self.delete(e)),
            Expr::Name(name) => {
                // Rhai cannot remove a variable from inside a block; this lets go of its value.
                self.bind(&names::variable(name.id.as_str()));
                self.out.push("();");
                Ok(())
            }
            Expr::Subscript(e) => {
                self.out.line();
                self.out.mark(start(target));
                self.receiver(&e.value)?;
                self.out.push(".__delitem__(");
                self.index(&e.slice)?;
                self.out.push(");");
                Ok(())
            }
            Expr::Attribute(e) => {
                self.out.line();
                self.out.mark(start(target));
                self.out.push("delattr(");
                self.expression(&e.value)?;
                self.out.push(", ");
                let name = self.mangled(e.attr.as_str());
                self.string(&name);
                self.out.push(");");
                Ok(())
            }
            other => Err(SyntaxFault::syntax("cannot delete this expression", start(other))),
        }
    }
}

/// An index that costs nothing to evaluate and that Rhai can assign through.
fn is_simple_index(index: &Expr) -> bool {
    match index {
        Expr::Name(_) => true,
        Expr::NumberLiteral(number) => number.value.is_int(),
        Expr::UnaryOp(e) => e.op == UnaryOp::USub && is_simple_index_number(&e.operand),
        _ => false,
    }
}

fn is_simple_index_number(operand: &Expr) -> bool {
    matches!(operand, Expr::NumberLiteral(number) if number.value.is_int())
}

/// `a, b = 1, 2` can be two assignments: no value reads a name that an earlier one has set.
fn can_assign_in_turn(targets: &[Expr], values: &[Expr]) -> bool {
    let names: Vec<_> = targets.iter().filter_map(Expr::as_name_expr).collect();
    names.len() == targets.len()
        && !values.iter().any(|value| {
            any_over_expr(value, |part| match part {
                Expr::Name(name) => names.iter().any(|target| target.id == name.id),
                _ => false,
            })
        })
}

/// The expression reads a variable, given in Rhai's spelling.
fn mentions(expression: &Expr, spelled: &str) -> bool {
    any_over_expr(expression, |part| match part {
        Expr::Name(name) => names::variable(name.id.as_str()) == spelled,
        _ => false,
    })
}

fn in_place_function(op: Operator) -> &'static str {
    match op {
        Operator::Add => "__iadd__",
        Operator::Sub => "__isub__",
        Operator::Mult => "__imul__",
        Operator::MatMult => "__imatmul__",
        Operator::Div => "__itruediv__",
        Operator::FloorDiv => "__ifloordiv__",
        Operator::Mod => "__imod__",
        Operator::Pow => "__ipow__",
        Operator::LShift => "__ilshift__",
        Operator::RShift => "__irshift__",
        Operator::BitAnd => "__iand__",
        Operator::BitOr => "__ior__",
        Operator::BitXor => "__ixor__",
    }
}
