//! Expressions: each leaves its value on the stack.

use super::{Compiled, Compiler, place};
use crate::bail_syntax;
use crate::functions::operators;
use crate::python::code::{Comparison, Conversion, Op, Quick, keyword_constant};
use crate::python::scope::Place;
use crate::python::syntax::SyntaxFault;
use crate::tensor::Buffer;
use crate::value::Value;
use num_complex::Complex;
use ruff_python_ast::{
    Arguments, BoolOp, CmpOp, ConversionFlag, Expr, ExprCall, ExprCompare, ExprDict, FStringPart,
    InterpolatedStringElement, InterpolatedStringElements, Number, Operator, UnaryOp,
};
use ruff_text_size::Ranged;

/// The operator of the table for one of the grammar.
pub(super) fn operator(operator: Operator) -> Option<&'static operators::Operator> {
    operators::find(match operator {
        Operator::Add => "+",
        Operator::Sub => "-",
        Operator::Mult => "*",
        Operator::Div => "/",
        Operator::FloorDiv => "//",
        Operator::Mod => "%",
        Operator::Pow => "**",
        Operator::MatMult => "@",
        Operator::BitAnd => "&",
        Operator::BitOr => "|",
        Operator::BitXor => "^",
        Operator::LShift => "<<",
        Operator::RShift => ">>",
    })
}

fn comparison(operator: CmpOp) -> Option<Comparison> {
    let symbol = match operator {
        CmpOp::Is => return Some(Comparison::Is),
        CmpOp::IsNot => return Some(Comparison::IsNot),
        CmpOp::In => return Some(Comparison::In),
        CmpOp::NotIn => return Some(Comparison::NotIn),
        CmpOp::Eq => "==",
        CmpOp::NotEq => "!=",
        CmpOp::Lt => "<",
        CmpOp::LtE => "<=",
        CmpOp::Gt => ">",
        CmpOp::GtE => ">=",
    };
    operators::find(symbol).map(|found| Comparison::Operator(Quick::of(found), found))
}

impl<'a> Compiler<'a, '_> {
    pub(super) fn expression(&mut self, expression: &'a Expr) -> Compiled {
        let at = place(expression);
        if let Some(value) = constant(expression)? {
            let op = self.constant(value);
            self.emit(op, at);
            return Ok(());
        }
        match expression {
            Expr::Name(name) => self.load(name.id.as_str(), at),
            Expr::BinOp(e) => {
                self.expression(&e.left)?;
                self.expression(&e.right)?;
                let at = self.between(&e.left, &e.right);
                if let Some(operator) = operator(e.op) {
                    self.emit(Op::Binary(Quick::of(operator), operator), at);
                }
            }
            Expr::UnaryOp(e) => {
                self.expression(&e.operand)?;
                self.emit(
                    match e.op {
                        UnaryOp::Not => Op::Not,
                        UnaryOp::USub => Op::Unary("neg"),
                        UnaryOp::UAdd => Op::Unary("positive"),
                        UnaryOp::Invert => Op::Unary("bitwise_not"),
                    },
                    at,
                );
            }
            Expr::BoolOp(e) => {
                let jump = if e.op == BoolOp::And { Op::JumpIfFalseOrPop } else { Op::JumpIfTrueOrPop };
                let Some((last, parts)) = e.values.split_last() else { return Ok(()) };
                let mut ends = Vec::new();
                for part in parts {
                    self.expression(part)?;
                    ends.push(self.jump(jump, place(part)));
                }
                self.expression(last)?;
                ends.into_iter().for_each(|end| self.land(end));
            }
            Expr::Compare(e) => self.comparisons(e)?,
            Expr::If(e) => {
                self.expression(&e.test)?;
                let other = self.jump(Op::JumpIfFalse, place(&*e.test));
                self.expression(&e.body)?;
                let end = self.jump(Op::Jump, at);
                self.land(other);
                self.expression(&e.orelse)?;
                self.land(end);
            }
            Expr::Named(e) => {
                self.expression(&e.value)?;
                self.emit(Op::Duplicate, at);
                self.assign(&e.target)?;
            }
            Expr::Call(e) => self.call(e)?,
            Expr::Attribute(e) => {
                self.expression(&e.value)?;
                let name = self.mangled(e.attr.as_str()).into_owned();
                let name = self.name(&name);
                self.emit(Op::Attribute(name), place(&e.attr));
            }
            Expr::Subscript(e) => {
                self.expression(&e.value)?;
                self.expression(&e.slice)?;
                self.emit(Op::Item, at);
            }
            Expr::Slice(e) => {
                for part in [&e.lower, &e.upper, &e.step] {
                    match part {
                        Some(part) => self.expression(part)?,
                        None => {
                            let none = self.constant(Value::None);
                            self.emit(none, at);
                        }
                    }
                }
                self.emit(Op::Slice, at);
            }
            Expr::Tuple(e) if self.items(&e.elts, Op::Tuple, Op::Extend, at)? => {
                self.emit(Op::ListToTuple, at);
            }
            Expr::List(e) => drop(self.items(&e.elts, Op::List, Op::Extend, at)?),
            Expr::Set(e) => {
                if e.elts.iter().any(Expr::is_starred_expr) {
                    self.emit(Op::Set(0), at);
                    for item in &e.elts {
                        match item {
                            Expr::Starred(starred) => {
                                self.expression(&starred.value)?;
                                self.emit(Op::ExtendSet, place(item));
                            }
                            item => {
                                self.expression(item)?;
                                self.emit(Op::Add, place(item));
                            }
                        }
                    }
                } else {
                    e.elts.iter().try_for_each(|item| self.expression(item))?;
                    self.emit(Op::Set(e.elts.len() as u32), at);
                }
            }
            Expr::Dict(e) => self.dict(e)?,
            Expr::ListComp(e) => self.comprehension(e, "<listcomp>", &e.generators, &[&e.elt])?,
            Expr::SetComp(e) => self.comprehension(e, "<setcomp>", &e.generators, &[&e.elt])?,
            Expr::Generator(e) => self.comprehension(e, "<genexpr>", &e.generators, &[&e.elt])?,
            Expr::DictComp(e) => {
                let Some(key) = &e.key else {
                    return Err(SyntaxFault::unsupported("comprehensions of dictionaries", e));
                };
                self.comprehension(e, "<dictcomp>", &e.generators, &[key, &e.value])?;
            }
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
            Expr::Starred(_) => bail_syntax!(at, "can't use starred expression here"),
            Expr::Yield(e) => {
                match &e.value {
                    Some(value) => self.expression(value)?,
                    None => {
                        let none = self.constant(Value::None);
                        self.emit(none, at);
                    }
                }
                self.emit(Op::Yield, at);
            }
            Expr::YieldFrom(e) => {
                self.expression(&e.value)?;
                self.emit(Op::YieldFrom, at);
            }
            Expr::Await(e) => return Err(SyntaxFault::unsupported("await expressions", e)),
            Expr::TString(e) => return Err(SyntaxFault::unsupported("template strings", e)),
            Expr::IpyEscapeCommand(e) => return Err(SyntaxFault::unsupported("IPython commands", e)),
            // Literals are constants.
            _ => {}
        }
        Ok(())
    }

    /// The place of the operator between two operands.
    fn between(&self, left: &Expr, right: &Expr) -> u32 {
        let (from, to) = (left.range().end().to_usize(), right.range().start().to_usize());
        let gap = self.source.text.get(from..to).unwrap_or_default();
        let skipped = gap.find(|c: char| !c.is_whitespace() && c != ')' && c != '\\').unwrap_or_default();
        (from + skipped) as u32
    }

    /// Items that go together; returns whether there are starred ones, and a list was made.
    fn items(&mut self, items: &'a [Expr], whole: fn(u32) -> Op, spread: Op, at: u32) -> Result<bool, SyntaxFault> {
        if !items.iter().any(Expr::is_starred_expr) {
            items.iter().try_for_each(|item| self.expression(item))?;
            self.emit(whole(items.len() as u32), at);
            return Ok(false);
        }
        let plain = items.iter().take_while(|item| !item.is_starred_expr()).count();
        for item in items.iter().take(plain) {
            self.expression(item)?;
        }
        self.emit(Op::List(plain as u32), at);
        for item in items.iter().skip(plain) {
            match item {
                Expr::Starred(starred) => {
                    self.expression(&starred.value)?;
                    self.emit(spread, place(item));
                }
                item => {
                    self.expression(item)?;
                    self.emit(Op::Append, place(item));
                }
            }
        }
        Ok(true)
    }

    fn dict(&mut self, dict: &'a ExprDict) -> Compiled {
        let plain = dict.items.iter().take_while(|item| item.key.is_some()).count();
        for item in dict.items.iter().take(plain) {
            if let Some(key) = &item.key {
                self.expression(key)?;
            }
            self.expression(&item.value)?;
        }
        self.emit(Op::Dict(plain as u32), place(dict));
        for item in dict.items.iter().skip(plain) {
            match &item.key {
                Some(key) => {
                    self.expression(key)?;
                    self.expression(&item.value)?;
                    self.emit(Op::SetEntry, place(key));
                }
                None => {
                    self.expression(&item.value)?;
                    self.emit(Op::Update, place(&item.value));
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
                // `a b → b (a op b)`: the next comparison is about b.
                self.emit(Op::Duplicate, at);
                self.emit(Op::Rotate, at);
            }
            if let Some(comparison) = comparison(*op) {
                self.emit(Op::Compare(comparison), at);
            }
            if i < last {
                ends.push(self.jump(Op::JumpIfFalseOrPop, at));
            }
            left = right;
        }
        if !ends.is_empty() {
            let done = self.jump(Op::Jump, place(compare));
            ends.into_iter().for_each(|end| self.land(end));
            self.emit(Op::Swap, place(compare));
            self.emit(Op::Pop, place(compare));
            self.land(done);
        }
        Ok(())
    }

    fn call(&mut self, call: &'a ExprCall) -> Compiled {
        let arguments = &call.arguments;
        let spreads = arguments.args.iter().any(Expr::is_starred_expr)
            || arguments.keywords.iter().any(|keyword| keyword.arg.is_none());
        if let Expr::Name(name) = &*call.func
            && name.id.as_str() == "super"
            && arguments.args.is_empty()
            && arguments.keywords.is_empty()
        {
            let cell = match self.place_of("__class__") {
                Place::Cell | Place::Free => Some(self.cell("__class__")),
                _ => None,
            };
            self.emit(Op::Super(cell), place(name));
            return Ok(());
        }
        if let Expr::Attribute(method) = &*call.func
            && !spreads
        {
            self.expression(&method.value)?;
            let name = self.mangled(method.attr.as_str()).into_owned();
            let (name, count, at) = (self.name(&name), arguments.args.len(), place(&method.attr));
            // A method that is not there is missed before its arguments fail.
            let named = arguments.keywords.iter().map(|keyword| &keyword.value);
            if arguments
                .args
                .iter()
                .chain(named)
                .any(|argument| !argument.is_literal_expr() && !argument.is_name_expr())
            {
                self.emit(Op::Expect(name), at);
            }
            self.arguments(arguments)?;
            if arguments.keywords.is_empty() {
                self.emit(Op::CallMethod(name, count as u32), at);
            } else {
                let names = self.keyword_names(arguments);
                let Ok(count) = u16::try_from(count) else {
                    return Err(SyntaxFault::unsupported("calls with more than 65535 arguments", call));
                };
                self.emit(Op::CallMethodNamed(name, names, count), at);
            }
            return Ok(());
        }
        self.expression(&call.func)?;
        let at = match &*call.func {
            Expr::Attribute(method) => place(&method.attr),
            function => place(function),
        };
        if spreads {
            return self.call_spread(arguments, at);
        }
        self.arguments(arguments)?;
        if arguments.keywords.is_empty() {
            self.emit(Op::Call(arguments.args.len() as u32), at);
        } else {
            let names = self.keyword_names(arguments);
            self.emit(Op::CallNamed(arguments.args.len() as u32, names), at);
        }
        Ok(())
    }

    fn arguments(&mut self, arguments: &'a Arguments) -> Compiled {
        arguments.args.iter().try_for_each(|argument| self.expression(argument))?;
        arguments.keywords.iter().try_for_each(|keyword| self.expression(&keyword.value))
    }

    fn keyword_names(&mut self, arguments: &'a Arguments) -> u32 {
        let names = arguments.keywords.iter().filter_map(|keyword| keyword.arg.as_ref()).map(|name| name.as_str());
        self.constant_at(keyword_constant(names))
    }

    /// A call with `*list` or `**dict` among its arguments; the function lies on the stack.
    pub(super) fn call_spread(&mut self, arguments: &'a Arguments, at: u32) -> Compiled {
        // What is spread alone is refused in the name of the function, like CPython, which else makes a list first.
        let spread = if arguments.args.len() == 1 { Op::Spread } else { Op::Extend };
        self.items(&arguments.args, Op::List, spread, at)?;
        self.emit(Op::Dict(0), at);
        for keyword in &arguments.keywords {
            match &keyword.arg {
                Some(name) => {
                    let name = self.constant(Value::str(name.as_str()));
                    self.emit(name, place(keyword));
                    self.expression(&keyword.value)?;
                    self.emit(Op::Dict(1), place(keyword));
                }
                None => self.expression(&keyword.value)?,
            }
            self.emit(Op::Merge, place(keyword));
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
            let mut conversion = match field.conversion {
                ConversionFlag::None => Conversion::None,
                ConversionFlag::Str => Conversion::Str,
                ConversionFlag::Ascii => Conversion::Ascii,
                ConversionFlag::Repr => Conversion::Repr,
            };
            if let Some(debug) = &field.debug_text {
                pieces.text.push_str(debug.as_str());
                if matches!(conversion, Conversion::None) && field.format_spec.is_none() {
                    conversion = Conversion::Repr;
                }
            }
            self.text(pieces, place(field));
            self.expression(&field.expression)?;
            let mut spec = Pieces::default();
            if let Some(given) = &field.format_spec {
                self.pieces(&given.elements, &mut spec)?;
            }
            self.joined(spec, place(field));
            self.emit(Op::Format(conversion), place(&*field.expression));
            pieces.count += 1;
        }
        Ok(())
    }

    /// Pushes the text gathered since the last field.
    fn text(&mut self, pieces: &mut Pieces, at: u32) {
        let text = std::mem::take(&mut pieces.text);
        if !text.is_empty() {
            let text = self.constant(Value::str(text));
            self.emit(text, at);
            pieces.count += 1;
        }
    }

    fn joined(&mut self, mut pieces: Pieces, at: u32) {
        if pieces.count == 0 {
            let text = self.constant(Value::str(&pieces.text));
            self.emit(text, at);
            return;
        }
        self.text(&mut pieces, at);
        self.emit(Op::Join(pieces.count), at);
    }
}

/// The pieces of an f-string that lie on the stack, and the text since the last of them.
#[derive(Default)]
struct Pieces {
    text: String,
    count: u32,
}

/// The value of a literal, of a negative number, and of a tuple of such.
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
                Err(error) => bail_syntax!(place(e), "{}", error.message),
            }
        }
        Expr::NumberLiteral(e) => number(&e.value, place(e))?,
        Expr::UnaryOp(e) if e.op == UnaryOp::USub && e.operand.is_number_literal_expr() => {
            match constant(&e.operand)? {
                Some(Value::Int(number)) => Value::from(-i128::from(number)),
                Some(Value::Float(number)) => Value::Float(-number),
                Some(Value::Complex(number)) => Value::Complex(-number),
                _ => return Ok(None),
            }
        }
        Expr::Tuple(e) if !e.elts.is_empty() && e.elts.iter().all(is_plain) => {
            let items = e.elts.iter().map(|item| constant(item).map(|item| item.unwrap_or(Value::None)));
            Value::Tuple(items.collect::<Result<Vec<Value>, SyntaxFault>>()?.into())
        }
        _ => return Ok(None),
    }))
}

/// Returns whether an expression is a constant that nobody can tell from another one like it.
fn is_plain(expression: &Expr) -> bool {
    match expression {
        Expr::UnaryOp(e) => {
            e.op == UnaryOp::USub && matches!(&*e.operand, Expr::NumberLiteral(n) if is_small(&n.value))
        }
        Expr::NumberLiteral(number) => is_small(&number.value),
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
                crate::functions::numbers::literal(&digits)
                    .map_err(|error| SyntaxFault::syntax(error.message, at as usize))?
            }
        },
    })
}
