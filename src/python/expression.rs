//! Expressions: operators, comparisons, `and`/`or`, and the way to the room of every other kind.
//!
//! Rhai's precedences differ from Python's (`&` is below `==`, `<<` above `*`), so only sums and products nest without
//! parentheses.

use ruff_python_ast::{BoolOp, CmpOp, Expr, ExprBoolOp, ExprCompare, Number, Operator, UnaryOp};

use super::scope::Known;
use super::{SyntaxFault, Translator, Written, end, names, start};

/// A check behind the one over the tokens: no walk goes deeper than this.
const MAX_DEPTH: usize = 2_000;

/// The outer form of an expression's written text, which decides on parentheses.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// A name, a literal, a call, something in brackets: can be followed by a dot.
    Closed,
    Number,
    Unary,
    Product,
    Sum,
    /// `a & b` and the like.
    Bits(Operator),
    Comparison,
    /// `{ let … }`
    Block,
    /// `|x| …`
    Closure,
}

pub(super) fn shape(expression: &Expr) -> Shape {
    match expression {
        Expr::BinOp(e) => match e.op {
            Operator::Add | Operator::Sub => Shape::Sum,
            Operator::Mult | Operator::MatMult => Shape::Product,
            op if native_operator(op).is_some() => Shape::Bits(op),
            _ => Shape::Closed,
        },
        Expr::UnaryOp(e) => match e.op {
            UnaryOp::USub | UnaryOp::Not => Shape::Unary,
            UnaryOp::UAdd | UnaryOp::Invert => Shape::Closed,
        },
        Expr::Compare(e) => match e.ops.as_ref() {
            [CmpOp::IsNot | CmpOp::NotIn] => Shape::Unary,
            [CmpOp::Is | CmpOp::In] => Shape::Closed,
            [_] => Shape::Comparison,
            _ => Shape::Block,
        },
        Expr::BoolOp(_) | Expr::Generator(_) | Expr::Named(_) => Shape::Block,
        Expr::Lambda(_) => Shape::Closure,
        Expr::NumberLiteral(e) if !matches!(e.value, Number::Complex { .. }) => Shape::Number,
        _ => Shape::Closed,
    }
}

/// The operators that are written as Rhai's own.
fn native_operator(op: Operator) -> Option<&'static str> {
    match op {
        Operator::Add
        | Operator::Sub
        | Operator::Mult
        | Operator::MatMult
        | Operator::BitAnd
        | Operator::BitOr
        | Operator::BitXor
        | Operator::LShift
        | Operator::RShift => Some(op.as_str()),
        Operator::Div | Operator::FloorDiv | Operator::Mod | Operator::Pow => None,
    }
}

/// Evaluating it twice costs nothing and changes nothing.
fn is_simple(expression: &Expr) -> bool {
    expression.is_name_expr() || expression.is_literal_expr()
}

impl Translator<'_> {
    /// Writes an expression that stands by itself: an argument, an element, the right side of `=`.
    pub(super) fn expression(&mut self, expression: &Expr) -> Written {
        if self.depth >= MAX_DEPTH {
            return Err(SyntaxFault::syntax("expression is nested too deeply", start(expression)));
        }
        self.depth += 1;
        self.out.mark(start(expression));
        let written = self.expression_inside(expression);
        self.depth -= 1;
        written
    }

    fn expression_inside(&mut self, expression: &Expr) -> Written {
        match expression {
            Expr::Name(e) => {
                self.load(e.id.as_str());
                Ok(())
            }
            Expr::BinOp(e) => self.binary(&e.left, e.op, &e.right),
            Expr::UnaryOp(e) => match e.op {
                UnaryOp::Not => self.test(expression),
                UnaryOp::Invert => self.function_of("__invert__", &[&e.operand]),
                UnaryOp::UAdd => self.function_of("__pos__", &[&e.operand]),
                UnaryOp::USub => match e.operand.as_ref() {
                    Expr::NumberLiteral(number) => self.number(&number.value, true, start(expression)),
                    operand => {
                        self.out.push("-");
                        self.operand(operand, &[Shape::Closed])
                    }
                },
            },
            Expr::BoolOp(e) => self.bool_op(e),
            Expr::Compare(e) => self.compare(e),
            Expr::If(e) => {
                self.out.push("(if ");
                self.test(&e.test)?;
                self.out.push(" { ");
                self.expression(&e.body)?;
                self.out.push(" } else { ");
                self.expression(&e.orelse)?;
                self.out.push(" })");
                Ok(())
            }
            Expr::Call(e) => self.call(e),
            Expr::Attribute(e) => self.attribute(&e.value, &e.attr, false),
            Expr::Subscript(e) => self.subscript(&e.value, &e.slice, false),
            // A Rhai array is a value; a list is shared by all who hold it.
            Expr::List(_) | Expr::ListComp(_) => {
                self.out.push("list(");
                self.argument(expression)?;
                self.out.push(")");
                Ok(())
            }
            Expr::Tuple(e) => {
                self.out.push("tuple(");
                self.elements(&e.elts)?;
                self.out.push(")");
                Ok(())
            }
            Expr::Set(e) => {
                self.out.push("set(");
                self.elements(&e.elts)?;
                self.out.push(")");
                Ok(())
            }
            Expr::Dict(e) => self.dict(e),
            Expr::SetComp(_) | Expr::DictComp(_) | Expr::Generator(_) => self.comprehension(expression),
            Expr::Lambda(e) => self.lambda(e),
            Expr::FString(e) => self.f_string(e),
            Expr::StringLiteral(e) => {
                self.string(e.value.to_str());
                Ok(())
            }
            Expr::BytesLiteral(e) => {
                self.bytes(e);
                Ok(())
            }
            Expr::NumberLiteral(e) => self.number(&e.value, false, start(e)),
            Expr::BooleanLiteral(e) => {
                self.out.push(if e.value { "true" } else { "false" });
                Ok(())
            }
            Expr::NoneLiteral(_) => {
                self.out.push("()");
                Ok(())
            }
            Expr::EllipsisLiteral(_) => {
                self.out.push("Ellipsis");
                Ok(())
            }
            Expr::Slice(_) => self.index_item(expression),
            Expr::Starred(e) => Err(SyntaxFault::syntax("can't use starred expression here", start(e))),
            Expr::Named(e) => match e.target.as_ref() {
                // The statement around has declared the name.
                Expr::Name(name) => {
                    let name = names::variable(name.id.as_str());
                    self.out.push(&format!("{{ {name} = "));
                    self.expression(&e.value)?;
                    self.out.push(&format!("; {name} }}"));
                    Ok(())
                }
                target => Err(SyntaxFault::syntax("cannot use assignment expressions with this", start(target))),
            },
            Expr::Await(e) => Err(SyntaxFault::unsupported("await expressions", e)),
            Expr::Yield(e) => Err(SyntaxFault::unsupported("generators (yield)", e)),
            Expr::YieldFrom(e) => Err(SyntaxFault::unsupported("generators (yield)", e)),
            Expr::TString(e) => Err(SyntaxFault::unsupported("template strings", e)),
            Expr::IpyEscapeCommand(e) => Err(SyntaxFault::unsupported("IPython commands", e)),
        }
    }

    /// What a function of the engine takes or a literal holds: a list may be a plain array there, since the function
    /// only reads it and the literal makes it its own.
    pub(super) fn argument(&mut self, expression: &Expr) -> Written {
        match expression {
            Expr::List(e) => {
                self.out.mark(start(expression));
                self.elements(&e.elts)
            }
            Expr::ListComp(_) => self.comprehension(expression),
            other => self.expression(other),
        }
    }

    /// A name that is read.
    pub(super) fn load(&mut self, name: &str) {
        let spelled = names::variable(name);
        if names::is_builtin(name) && self.scope.lookup(&spelled).is_none() {
            self.out.push("builtin(\"");
            self.out.push(name);
            self.out.push("\")");
            return;
        }
        if let (Some(Known::Attribute), Some(class)) = (self.scope.lookup(&spelled), self.class_being_made()) {
            self.out.push(&format!("{class}."));
            let name = self.mangled(&spelled);
            self.out.push(&name);
            return;
        }
        // A closure takes hold of every variable it names when it is made. What is not there yet is asked for later.
        if self.scope.is_late(&spelled) {
            self.out.push(&format!("global_(\"{spelled}\")"));
            return;
        }
        self.out.push(&spelled);
    }

    /// Writes an expression that something binds to, in parentheses unless it is a call, a name, a literal or one of
    /// the shapes that may go without.
    pub(super) fn operand(&mut self, expression: &Expr, allowed: &[Shape]) -> Written {
        let shape = shape(expression);
        let bare = shape == Shape::Closed || shape == Shape::Number || allowed.contains(&shape);
        if bare {
            return self.expression(expression);
        }
        self.out.push("(");
        self.expression(expression)?;
        self.out.push(")");
        Ok(())
    }

    /// `name(a, b)` for an engine function.
    pub(super) fn function_of(&mut self, name: &str, arguments: &[&Expr]) -> Written {
        self.out.push(name);
        self.out.push("(");
        for (i, argument) in arguments.iter().enumerate() {
            if i > 0 {
                self.out.push(", ");
            }
            self.argument(argument)?;
        }
        self.out.push(")");
        Ok(())
    }

    fn binary(&mut self, left: &Expr, op: Operator, right: &Expr) -> Written {
        let Some(symbol) = native_operator(op) else {
            let name = match op {
                Operator::Div => "__truediv__",
                Operator::FloorDiv => "__floordiv__",
                Operator::Mod => "__mod__",
                _ => "__pow__",
            };
            return self.function_of(name, &[left, right]);
        };
        let (on_left, on_right): (&[Shape], &[Shape]) = match op {
            Operator::Add | Operator::Sub => {
                (&[Shape::Unary, Shape::Product, Shape::Sum], &[Shape::Unary, Shape::Product])
            }
            Operator::Mult | Operator::MatMult => (&[Shape::Unary, Shape::Product], &[Shape::Unary]),
            _ => (&[Shape::Unary, Shape::Bits(op)], &[Shape::Unary]),
        };
        self.operand(left, on_left)?;
        self.out.push(" ");
        let gap = self.source.get(end(left)..start(right));
        let at = gap.and_then(|gap| gap.find(op.as_str())).unwrap_or(0);
        self.out.mark(end(left) + at);
        self.out.push(symbol);
        self.out.push(" ");
        self.operand(right, on_right)
    }

    /// An expression as a condition: Rhai text of type bool.
    pub(super) fn test(&mut self, expression: &Expr) -> Written {
        match expression {
            Expr::BoolOp(e) => {
                let symbol = match e.op {
                    BoolOp::And => " && ",
                    BoolOp::Or => " || ",
                };
                for (i, value) in e.values.iter().enumerate() {
                    if i > 0 {
                        self.out.push(symbol);
                    }
                    self.test_operand(value, value.is_bool_op_expr())?;
                }
                Ok(())
            }
            Expr::UnaryOp(e) if e.op == UnaryOp::Not => {
                self.out.push("!");
                let operand: &Expr = &e.operand;
                let is_negated =
                    shape(operand) == Shape::Unary && !matches!(operand, Expr::UnaryOp(e) if e.op == UnaryOp::USub);
                self.test_operand(operand, is_negated || operand.is_bool_op_expr())
            }
            Expr::Compare(e) => match e.ops.as_ref() {
                [CmpOp::Is | CmpOp::IsNot | CmpOp::In | CmpOp::NotIn] => self.expression(expression),
                _ => self.function_of("truth", &[expression]),
            },
            _ => self.function_of("truth", &[expression]),
        }
    }

    fn test_operand(&mut self, expression: &Expr, parenthesised: bool) -> Written {
        if !parenthesised {
            return self.test(expression);
        }
        self.out.push("(");
        self.test(expression)?;
        self.out.push(")");
        Ok(())
    }

    /// `a and b`, `a or b`: the value of the last operand that was looked at.
    fn bool_op(&mut self, e: &ExprBoolOp) -> Written {
        let Some((first, rest)) = e.values.split_first() else {
            return Ok(());
        };
        let condition = match e.op {
            BoolOp::And => "truth(left_)",
            BoolOp::Or => "!truth(left_)",
        };
        self.out.push("{ let left_ = ");
        self.expression(first)?;
        self.out.push("; ");
        for value in rest {
            self.out.push("if ");
            self.out.push(condition);
            self.out.push(" { left_ = ");
            self.expression(value)?;
            self.out.push("; } ");
        }
        self.out.push("left_ }");
        Ok(())
    }

    fn compare(&mut self, e: &ExprCompare) -> Written {
        if let ([op], [right]) = (e.ops.as_ref(), e.comparators.as_ref()) {
            return self.comparison(&e.left, *op, right);
        }
        // Each operand in the middle belongs to two comparisons but is evaluated once.
        let repeatable = e.comparators.iter().rev().skip(1).all(is_simple);
        let pairs = e.ops.iter().zip(e.comparators.iter());
        if repeatable {
            let mut left: &Expr = &e.left;
            for (i, (op, right)) in pairs.enumerate() {
                self.out.push(if i == 0 { "{ let result_ = " } else { "if truth(result_) { result_ = " });
                self.comparison(left, *op, right)?;
                self.out.push(if i == 0 { "; " } else { "; } " });
                left = right;
            }
        } else {
            self.out.push("{ let left_ = ");
            self.expression(&e.left)?;
            self.out.push("; let right_ = ");
            for (i, (op, right)) in pairs.enumerate() {
                if i > 0 {
                    self.out.push("if truth(result_) { left_ = right_; right_ = ");
                }
                self.expression(right)?;
                self.out.push(if i == 0 { "; let result_ = " } else { "; result_ = " });
                let (before, between, after) = comparison_parts(*op);
                let (left, right) =
                    if op.is_in() || op.is_not_in() { ("right_", "left_") } else { ("left_", "right_") };
                for part in [before, left, between, right, after] {
                    self.out.push(part);
                }
                self.out.push(if i == 0 { "; " } else { "; } " });
            }
        }
        self.out.push("result_ }");
        Ok(())
    }

    fn comparison(&mut self, left: &Expr, op: CmpOp, right: &Expr) -> Written {
        let (before, between, after) = comparison_parts(op);
        self.out.push(before);
        match op {
            CmpOp::In | CmpOp::NotIn => {
                self.receiver(right)?;
                self.out.push(between);
                self.expression(left)?;
            }
            CmpOp::Is | CmpOp::IsNot => {
                self.expression(left)?;
                self.out.push(between);
                self.expression(right)?;
            }
            _ => {
                let allowed = [Shape::Unary, Shape::Product, Shape::Sum];
                self.operand(left, &allowed)?;
                let gap = self.source.get(end(left)..start(right));
                let at = gap.and_then(|gap| gap.find(op.as_str())).unwrap_or(0);
                self.out.push(" ");
                self.out.mark(end(left) + at);
                self.out.push(between.trim_start());
                self.operand(right, &allowed)?;
            }
        }
        self.out.push(after);
        Ok(())
    }

    /// An array of elements, some of them perhaps starred.
    pub(super) fn elements(&mut self, elements: &[Expr]) -> Written {
        if !elements.iter().any(Expr::is_starred_expr) {
            return self.array(elements);
        }
        self.out.push("__concat__([");
        let mut rest = elements;
        while let Some((first, others)) = rest.split_first() {
            if rest.len() < elements.len() {
                self.out.push(", ");
            }
            if let Expr::Starred(starred) = first {
                self.function_of("iter", &[&starred.value])?;
                rest = others;
            } else {
                let plain = rest.iter().take_while(|e| !e.is_starred_expr()).count();
                let (run, after) = rest.split_at(plain);
                self.array(run)?;
                rest = after;
            }
        }
        self.out.push("])");
        Ok(())
    }

    fn array(&mut self, elements: &[Expr]) -> Written {
        self.out.push("[");
        for (i, element) in elements.iter().enumerate() {
            if i > 0 {
                self.out.push(", ");
            }
            self.argument(element)?;
        }
        self.out.push("]");
        Ok(())
    }
}

/// Returns what stands before, between and after the operands of a comparison; `in` and `not in` swap them.
fn comparison_parts(op: CmpOp) -> (&'static str, &'static str, &'static str) {
    match op {
        CmpOp::Eq => ("", " == ", ""),
        CmpOp::NotEq => ("", " != ", ""),
        CmpOp::Lt => ("", " < ", ""),
        CmpOp::LtE => ("", " <= ", ""),
        CmpOp::Gt => ("", " > ", ""),
        CmpOp::GtE => ("", " >= ", ""),
        CmpOp::Is => ("__is__(", ", ", ")"),
        CmpOp::IsNot => ("!__is__(", ", ", ")"),
        CmpOp::In => ("", ".__contains__(", ")"),
        CmpOp::NotIn => ("!", ".__contains__(", ")"),
    }
}
