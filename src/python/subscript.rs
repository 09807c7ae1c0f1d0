//! Attributes and subscripts that are read: `x.a`, `x[0]`, `x[0, 1:]`.

use ruff_python_ast::{Expr, Identifier};

use super::call::MAX_ARGUMENTS;
use super::expression::{Shape, shape};
use super::{Translator, Written, names, start};

impl Translator<'_> {
    /// What a method is called on, or a subscript is taken of. Rhai would write the element of `x[0].item()` back
    /// into `x`, so that subscripts become calls here.
    pub(super) fn receiver(&mut self, expression: &Expr) -> Written {
        match expression {
            Expr::Attribute(e) => {
                self.out.mark(start(expression));
                self.attribute(&e.value, &e.attr, true)
            }
            Expr::Subscript(e) => {
                self.out.mark(start(expression));
                self.subscript(&e.value, &e.slice, true)
            }
            _ if shape(expression) == Shape::Number => {
                self.out.push("(");
                self.expression(expression)?;
                self.out.push(")");
                Ok(())
            }
            _ => self.operand(expression, &[]),
        }
    }

    pub(super) fn attribute(&mut self, value: &Expr, attribute: &Identifier, is_receiver: bool) -> Written {
        let name = &*self.mangled(attribute.as_str());
        if !names::is_property(name) {
            self.out.push("getattr(");
            self.expression(value)?;
            self.out.push(", ");
            self.string(name);
            self.out.push(")");
            return Ok(());
        }
        if is_receiver || !matches!(value, Expr::Attribute(_) | Expr::Subscript(_)) {
            self.receiver(value)?;
        } else {
            self.expression(value)?;
        }
        self.out.push(".");
        self.out.mark(start(attribute));
        self.out.push(name);
        Ok(())
    }

    pub(super) fn subscript(&mut self, value: &Expr, index: &Expr, is_receiver: bool) -> Written {
        // Rhai checks the index of a literal by its own rules while it parses.
        let native = !matches!(value, Expr::List(_) | Expr::UnaryOp(_) | Expr::FString(_)) && !value.is_literal_expr();
        self.receiver(value)?;
        let (open, close) =
            if native && !is_receiver && !index.is_slice_expr() { ("[", "]") } else { (".__getitem__(", ")") };
        self.out.mark(start(index));
        self.out.push(open);
        self.index(index)?;
        self.out.push(close);
        Ok(())
    }

    /// Writes the text between the brackets of a subscript.
    pub(super) fn index(&mut self, index: &Expr) -> Written {
        let Expr::Tuple(tuple) = index else {
            return self.index_item(index);
        };
        // More than a function can take, or not known before it runs.
        if tuple.elts.len() > MAX_ARGUMENTS || tuple.elts.iter().any(Expr::is_starred_expr) {
            return self.expression(index);
        }
        self.out.push("at(");
        for (i, item) in tuple.elts.iter().enumerate() {
            if i > 0 {
                self.out.push(", ");
            }
            self.index_item(item)?;
        }
        self.out.push(")");
        Ok(())
    }

    pub(super) fn index_item(&mut self, item: &Expr) -> Written {
        let slice = match item {
            Expr::Slice(slice) => slice,
            Expr::StringLiteral(_) => {
                self.out.push("key_(");
                self.expression(item)?;
                self.out.push(")");
                return Ok(());
            }
            _ => return self.argument(item),
        };
        self.out.mark(start(item));
        self.out.push("slice(");
        self.slice_part(slice.lower.as_deref())?;
        self.out.push(", ");
        self.slice_part(slice.upper.as_deref())?;
        if let Some(step) = &slice.step {
            self.out.push(", ");
            self.expression(step)?;
        }
        self.out.push(")");
        Ok(())
    }

    fn slice_part(&mut self, part: Option<&Expr>) -> Written {
        match part {
            Some(part) => self.expression(part),
            None => {
                self.out.push("()");
                Ok(())
            }
        }
    }
}
