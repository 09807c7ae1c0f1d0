//! Expressions: each leaves its value on the stack.

use super::names::READS;
use super::{Compiled, Compiler, NO_NAMES, source_offset};
use crate::python::code::{Op, Quick, SEEING};
use crate::python::syntax::SyntaxFault;
use crate::python::syntax::scope::{NameScope, ScopeKind};
use num_complex::Complex;
use objects::operators::{self, Operator};
use objects::plain::slices::slice;
use ruff_python_ast::{
    Arguments, BoolOp, CmpOp, ConversionFlag, Expr, ExprCall, ExprCompare, ExprDict, FStringPart,
    InterpolatedStringElement, InterpolatedStringElements, Number, UnaryOp,
};
use ruff_text_size::Ranged;
use tensor::Buffer;
use torch::RECORDING;
use value::Value;

/// Returns the instruction for an operator of the table.
pub(super) fn operation(symbol: &str, op: fn(Quick, &'static Operator) -> Op) -> Result<Op, SyntaxFault> {
    match operators::find(symbol) {
        Some(operator) => Ok(op(Quick::of(operator), operator)),
        None => Err(SyntaxFault::syntax("invalid syntax", 0)),
    }
}

impl<'a> Compiler<'a, '_> {
    pub(super) fn expression(&mut self, expression: &'a Expr) -> Compiled {
        let at = source_offset(expression);
        if let Some(value) = constant(expression)? {
            self.push(value, at);
            return Ok(());
        }
        match expression {
            Expr::Name(_) | Expr::Attribute(_) | Expr::Subscript(_) => self.access(expression, &READS)?,
            Expr::BinOp(e) => {
                self.expression(&e.left)?;
                self.expression(&e.right)?;
                let at = self.between(&e.left, &e.right);
                self.emit(operation(e.op.as_str(), Op::Binary)?, at);
            }
            Expr::UnaryOp(e) => {
                self.expression(&e.operand)?;
                let op = match e.op {
                    UnaryOp::Not => Op::Not,
                    UnaryOp::USub => Op::Unary("neg"),
                    UnaryOp::UAdd => Op::Unary("positive"),
                    UnaryOp::Invert => Op::Unary("bitwise_not"),
                };
                self.emit(op, at);
            }
            Expr::BoolOp(e) => {
                let jump = match e.op {
                    BoolOp::And => |to| Op::JumpIfOrPop(false, to),
                    BoolOp::Or => |to| Op::JumpIfOrPop(true, to),
                };
                let Some((last, parts)) = e.values.split_last() else { return Ok(()) };
                let mut ends = Vec::new();
                for part in parts {
                    self.expression(part)?;
                    ends.push(self.jump(jump, source_offset(part)));
                }
                self.expression(last)?;
                ends.into_iter().for_each(|end| self.land(end));
            }
            Expr::Compare(e) => self.comparisons(e)?,
            Expr::If(e) => {
                self.expression(&e.test)?;
                let other = self.jump(|to| Op::JumpIf(false, to), source_offset(&*e.test));
                self.expression(&e.body)?;
                let end = self.jump(Op::Jump, at);
                self.land(other);
                self.expression(&e.orelse)?;
                self.land(end);
            }
            Expr::Named(e) => {
                self.expression(&e.value)?;
                self.emit(Op::Copy(1), at);
                self.assign(&e.target)?;
            }
            Expr::Call(e) => self.call(e)?,
            Expr::Slice(e) => {
                for part in [&e.lower, &e.upper, &e.step] {
                    self.optional(part.as_deref(), at)?;
                }
                self.emit(Op::Slice, at);
            }
            Expr::Tuple(e) if self.items(&e.elts, Op::Tuple, Op::List, Op::Extend, at)? => {
                self.emit(Op::ListToTuple, at);
            }
            Expr::List(e) => drop(self.items(&e.elts, Op::List, Op::List, Op::Extend, at)?),
            Expr::Set(e) => drop(self.items(&e.elts, Op::Set, Op::Set, Op::Extend, at)?),
            Expr::Dict(e) => self.dict(e)?,
            Expr::ListComp(e) => {
                self.comprehension(e, "<listcomp>", &e.generators, &[&e.elt], Some((Op::List(0), Op::Append)))?;
            }
            Expr::SetComp(e) => {
                self.comprehension(e, "<setcomp>", &e.generators, &[&e.elt], Some((Op::Set(0), Op::Append)))?;
            }
            Expr::DictComp(e) => {
                let Some(key) = &e.key else {
                    return Err(SyntaxFault::unsupported("comprehensions of dictionaries", e));
                };
                let made = Some((Op::Dict(0), Op::SetEntry));
                self.comprehension(e, "<dictcomp>", &e.generators, &[key, &e.value], made)?;
            }
            Expr::Generator(e) => self.comprehension(e, "<genexpr>", &e.generators, &[&e.elt], None)?,
            Expr::Lambda(e) => self.lambda(e)?,
            Expr::FString(e) => {
                let mut pieces = Pieces::default();
                for part in &e.value {
                    match part {
                        FStringPart::Literal(text) => pieces.text.push_str(&text.value),
                        FStringPart::FString(part) => self.pieces(&part.elements, &mut pieces)?,
                    }
                }
                self.joined(pieces, at);
            }
            Expr::Starred(e) => return Err(SyntaxFault::unsupported("such starred expressions", e)),
            Expr::Yield(e) => {
                self.optional(e.value.as_deref(), at)?;
                self.emit(Op::Yield, at);
            }
            Expr::YieldFrom(e) => {
                self.push(Value::Function("py.iter".into()), at);
                self.expression(&e.value)?;
                self.emit(Op::Call(1, NO_NAMES), at);
                self.emit(Op::YieldFrom, at);
            }
            Expr::Await(e) => {
                self.expression(&e.value)?;
                self.emit(Op::Await, at);
                self.emit(Op::YieldFrom, at);
            }
            Expr::TString(e) => return Err(SyntaxFault::unsupported("template strings", e)),
            Expr::IpyEscapeCommand(e) => return Err(SyntaxFault::unsupported("IPython commands", e)),
            // Literals are constants.
            _ => {}
        }
        Ok(())
    }

    /// Compiles an optional expression; `None` if it is absent.
    pub(super) fn optional(&mut self, expression: Option<&'a Expr>, at: u32) -> Compiled {
        match expression {
            Some(expression) => self.expression(expression),
            None => {
                self.push(Value::None, at);
                Ok(())
            }
        }
    }

    /// Returns the offset of the operator between two operands.
    fn between(&self, left: &Expr, right: &Expr) -> u32 {
        let (from, to) = (left.range().end().to_usize(), right.range().start().to_usize());
        let gap = self.source_of(from..to);
        let skipped = gap.find(|c: char| !c.is_whitespace() && c != ')' && c != '\\').unwrap_or_default();
        (from + skipped) as u32
    }

    /// Compiles the items of a container: as one instruction, or one item at a time if any is starred. Returns whether
    /// any is starred.
    fn items(
        &mut self,
        items: &'a [Expr],
        whole: fn(u32) -> Op,
        begun: fn(u32) -> Op,
        spread: Op,
        at: u32,
    ) -> Result<bool, SyntaxFault> {
        let plain = items.iter().take_while(|item| !item.is_starred_expr()).count();
        let (first, rest) = items.split_at(plain);
        first.iter().try_for_each(|item| self.expression(item))?;
        self.emit(if rest.is_empty() { whole } else { begun }(plain as u32), at);
        for item in rest {
            let (item, op) = item.as_starred_expr().map_or((item, Op::Append), |starred| (&*starred.value, spread));
            self.expression(item)?;
            self.emit(op, source_offset(item));
        }
        Ok(!rest.is_empty())
    }

    fn dict(&mut self, dict: &'a ExprDict) -> Compiled {
        let plain = dict.items.iter().take_while(|item| item.key.is_some()).count();
        for item in dict.items.iter().take(plain) {
            item.key.iter().chain([&item.value]).try_for_each(|part| self.expression(part))?;
        }
        self.emit(Op::Dict(plain as u32), source_offset(dict));
        for item in dict.items.iter().skip(plain) {
            match &item.key {
                Some(key) => {
                    self.expression(key)?;
                    self.expression(&item.value)?;
                    self.emit(Op::SetEntry, source_offset(key));
                }
                None => {
                    self.expression(&item.value)?;
                    self.emit(Op::Extend, source_offset(&item.value));
                }
            }
        }
        Ok(())
    }

    fn comparisons(&mut self, compare: &'a ExprCompare) -> Compiled {
        self.expression(&compare.left)?;
        let mut left = &*compare.left;
        let mut ends = Vec::new();
        let last = compare.ops.len().saturating_sub(1);
        for (i, (op, right)) in compare.ops.iter().zip(&*compare.comparators).enumerate() {
            self.expression(right)?;
            let at = self.between(left, right);
            if i < last {
                // `a b → b a b`: the next comparison needs `b` again.
                self.emit(Op::Swap(2), at);
                self.emit(Op::Copy(2), at);
            }
            self.emit(
                match op {
                    CmpOp::Is | CmpOp::IsNot => Op::Is,
                    CmpOp::In | CmpOp::NotIn => Op::In,
                    op => operation(op.as_str(), Op::Binary)?,
                },
                at,
            );
            if matches!(op, CmpOp::IsNot | CmpOp::NotIn) {
                self.emit(Op::Not, at);
            }
            if i < last {
                ends.push(self.jump(|to| Op::JumpIfOrPop(false, to), at));
            }
            left = right;
        }
        if !ends.is_empty() {
            let done = self.jump(Op::Jump, source_offset(compare));
            ends.into_iter().for_each(|end| self.land(end));
            self.emit(Op::Swap(2), source_offset(compare));
            self.emit(Op::Pop, source_offset(compare));
            self.land(done);
        }
        Ok(())
    }

    fn call(&mut self, call: &'a ExprCall) -> Compiled {
        let arguments = &call.arguments;
        if let Expr::Name(name) = &*call.func
            && name.id == "super"
            && arguments.is_empty()
        {
            let cell = (self.scope_of("__class__") == NameScope::Cell).then(|| self.cell("__class__"));
            self.emit(Op::Super(cell), source_offset(name));
            return Ok(());
        }
        let spreads = arguments.args.iter().any(Expr::is_starred_expr)
            || arguments.keywords.iter().any(|keyword| keyword.arg.is_none());
        let count = arguments.args.len() as u32;
        if let Expr::Attribute(method) = &*call.func
            && !spreads
        {
            self.expression(&method.value)?;
            let (name, at) = (self.member(&method.attr), source_offset(&method.attr));
            // A missing method is reported before errors of its arguments.
            let named = arguments.keywords.iter().map(|keyword| &keyword.value);
            let mut all = arguments.args.iter().chain(named);
            if all.any(|argument| !argument.is_literal_expr() && !argument.is_name_expr()) {
                self.emit(Op::Expect(name), at);
            }
            let names = self.arguments(arguments)?;
            self.emit(Op::CallMethod(name, count, names), at);
            return Ok(());
        }
        self.expression(&call.func)?;
        let at = match &*call.func {
            Expr::Attribute(method) => source_offset(&method.attr),
            function => source_offset(function),
        };
        if let Expr::Name(name) = &*call.func
            && RECORDING.contains(&name.id.as_str())
        {
            self.emit(Op::Record, at);
        }
        if spreads {
            return self.call_spread(arguments, at);
        }
        let names = self.arguments(arguments)?;
        if let Expr::Name(name) = &*call.func
            && SEEING.contains(&name.id.as_str())
            && self.unit.code.kind != ScopeKind::Module
        {
            self.emit(Op::Names(count + arguments.keywords.len() as u32), at);
        }
        self.emit(Op::Call(count, names), at);
        Ok(())
    }

    /// Pushes the arguments, and returns the constant with the keywords of the last ones.
    fn arguments(&mut self, arguments: &'a Arguments) -> Result<u32, SyntaxFault> {
        arguments.args.iter().try_for_each(|argument| self.expression(argument))?;
        arguments.keywords.iter().try_for_each(|keyword| self.expression(&keyword.value))?;
        if arguments.keywords.is_empty() {
            return Ok(NO_NAMES);
        }
        let names = arguments.keywords.iter().filter_map(|keyword| keyword.arg.as_deref());
        Ok(self.constant(Value::tuple(names.map(Value::str))))
    }

    /// Compiles a call with `*list` or `**dict` among its arguments. The function is on the stack.
    fn call_spread(&mut self, arguments: &'a Arguments, at: u32) -> Compiled {
        // With a single spread argument, CPython's error names the function; otherwise it builds a list first.
        let spread = if arguments.args.len() == 1 { Op::Spread } else { Op::Extend };
        self.items(&arguments.args, Op::List, Op::List, spread, at)?;
        self.emit(Op::Dict(0), at);
        for keyword in &arguments.keywords {
            match &keyword.arg {
                Some(name) => {
                    self.push(Value::str(name.as_str()), source_offset(keyword));
                    self.expression(&keyword.value)?;
                    self.emit(Op::Dict(1), source_offset(keyword));
                }
                None => self.expression(&keyword.value)?,
            }
            self.emit(Op::Merge, source_offset(keyword));
        }
        self.emit(Op::CallSpread, at);
        Ok(())
    }

    fn pieces(&mut self, elements: &'a InterpolatedStringElements, pieces: &mut Pieces) -> Compiled {
        for element in elements {
            let field = match element {
                InterpolatedStringElement::Literal(text) => {
                    pieces.text.push_str(&text.value);
                    continue;
                }
                InterpolatedStringElement::Interpolation(field) => field,
            };
            let mut conversion = field.conversion;
            if let Some(debug) = &field.debug_text {
                pieces.text.push_str(debug.as_str());
                if conversion == ConversionFlag::None && field.format_spec.is_none() {
                    conversion = ConversionFlag::Repr;
                }
            }
            self.text(pieces, source_offset(field));
            let at = source_offset(&*field.expression);
            let function = match conversion {
                ConversionFlag::None => None,
                ConversionFlag::Str => Some("py.str"),
                ConversionFlag::Repr => Some("py.repr"),
                ConversionFlag::Ascii => Some("py.ascii"),
            };
            function.iter().for_each(|name| self.push(Value::Function((*name).into()), at));
            self.expression(&field.expression)?;
            function.iter().for_each(|_| self.emit(Op::Call(1, NO_NAMES), at));
            let mut spec = Pieces::default();
            if let Some(given) = &field.format_spec {
                self.pieces(&given.elements, &mut spec)?;
            }
            self.joined(spec, source_offset(field));
            self.emit(Op::Format, at);
            pieces.count += 1;
        }
        Ok(())
    }

    /// Pushes the text collected since the last field.
    fn text(&mut self, pieces: &mut Pieces, at: u32) {
        let text = std::mem::take(&mut pieces.text);
        if !text.is_empty() {
            self.push(Value::str(text), at);
            pieces.count += 1;
        }
    }

    fn joined(&mut self, mut pieces: Pieces, at: u32) {
        if pieces.count == 0 {
            return self.push(Value::str(pieces.text), at);
        }
        self.text(&mut pieces, at);
        self.emit(Op::Join(pieces.count), at);
    }
}

/// The pieces of an f-string on the stack, and the text after the last piece.
#[derive(Default)]
struct Pieces {
    text: String,
    count: u32,
}

/// Returns the value of a literal, a negative number, or a slice or a tuple of these.
fn constant(expression: &Expr) -> Result<Option<Value>, SyntaxFault> {
    Ok(Some(match expression {
        Expr::NoneLiteral(_) => Value::None,
        Expr::BooleanLiteral(e) => Value::Bool(e.value),
        Expr::EllipsisLiteral(_) => Value::Ellipsis,
        Expr::StringLiteral(e) => Value::str(e.value.to_str()),
        Expr::BytesLiteral(e) => {
            let bytes: Vec<u8> = e.value.bytes().collect();
            match Buffer::bytes(&bytes) {
                Ok(buffer) => Value::Buffer(buffer),
                Err(error) => return Err(SyntaxFault::syntax(error.message, e.range().start().to_usize())),
            }
        }
        Expr::NumberLiteral(e) => number(&e.value, source_offset(e))?,
        Expr::UnaryOp(e) if e.op == UnaryOp::USub && e.operand.is_number_literal_expr() => {
            match constant(&e.operand)? {
                Some(Value::Int(number)) => Value::from(-i128::from(number)),
                Some(Value::Float(number)) => Value::Float(-number),
                Some(Value::Complex(number)) => Value::Complex(-number),
                _ => return Ok(None),
            }
        }
        Expr::Slice(e) if is_plain(expression) => {
            let part = |part: &Option<Box<Expr>>| match part {
                Some(part) => constant(part).map(|part| part.unwrap_or(Value::None)),
                None => Ok(Value::None),
            };
            slice(part(&e.lower)?, part(&e.upper)?, part(&e.step)?)
        }
        Expr::Tuple(e) if !e.elts.is_empty() && e.elts.iter().all(is_plain) => {
            let items = e.elts.iter().map(|item| constant(item).map(|item| item.unwrap_or(Value::None)));
            Value::Tuple(items.collect::<Result<Vec<Value>, SyntaxFault>>()?.into())
        }
        _ => return Ok(None),
    }))
}

/// Returns whether an expression is a constant without observable identity.
fn is_plain(expression: &Expr) -> bool {
    match expression {
        Expr::UnaryOp(e) => {
            e.op == UnaryOp::USub && matches!(&*e.operand, Expr::NumberLiteral(n) if is_small(&n.value))
        }
        Expr::NumberLiteral(number) => is_small(&number.value),
        Expr::Slice(e) => [&e.lower, &e.upper, &e.step].into_iter().flatten().all(|part| is_plain(part)),
        Expr::StringLiteral(_) | Expr::NoneLiteral(_) | Expr::BooleanLiteral(_) | Expr::EllipsisLiteral(_) => true,
        _ => false,
    }
}

fn is_small(number: &Number) -> bool {
    !matches!(number, Number::Int(number) if number.as_i64().is_none())
}

fn number(number: &Number, at: u32) -> Result<Value, SyntaxFault> {
    Ok(match number {
        Number::Float(number) => Value::Float(*number),
        Number::Complex { real, imag } => Value::Complex(Complex::new(*real, *imag)),
        Number::Int(number) => match number.as_i64() {
            Some(number) => Value::Int(number),
            None => {
                let digits: String = number.to_string().chars().filter(|c| *c != '_').collect();
                objects::plain::numbers::literal(&digits)
                    .map_err(|error| SyntaxFault::syntax(error.message, at as usize))?
            }
        },
    })
}
