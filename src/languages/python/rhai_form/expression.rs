//! Expressions as a person would write them in Rhai. Each text comes with its precedence, which decides on parentheses.
//! What is known of its value decides where the two languages differ (`7 / 2`, `if xs`).
//!
//! Does not know the statement that contains the expression.

use super::words::{BUILTINS, SHAPES, VALUES, ValueHint, has, is_name, is_number, literal, map_key, quoted};
use super::{Printer, TranslatedLines, Translation, VariableKind, no_form};
use ruff_python_ast::{
    BoolOp, CmpOp, Comprehension, ConversionFlag, DictItem, Expr, ExprCall, ExprCompare, ExprFString,
    ExprNumberLiteral, FStringPart, InterpolatedStringElement, Number, Operator, UnaryOp,
};
use ruff_text_size::Ranged;

/// The precedence of an expression in Rhai, loosest first. `Open` is `if` and a closure.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Bind {
    Open,
    Bits,
    Or,
    And,
    Compare,
    Sum,
    Product,
    Power,
    Unary,
    Number,
    Closed,
}

type TranslatedExpression = Result<(String, Bind), String>;

impl Printer<'_> {
    /// Writes an expression that needs no parentheses: an argument, an element, the right-hand side of `=`.
    pub(super) fn value(&mut self, e: &Expr) -> Translation {
        Ok(self.written(e)?.0)
    }

    /// Writes an operand, in parentheses unless it binds tightly enough.
    pub(super) fn operand(&mut self, e: &Expr, least: Bind) -> Translation {
        self.written(e).map(|written| enclosed(written, least))
    }

    fn written(&mut self, e: &Expr) -> TranslatedExpression {
        let text = match e {
            Expr::Name(e) if self.functions.contains(e.id.as_str()) => format!("Fn(\"{}\")", e.id),
            Expr::Name(e) if e.id == "print" && !self.is_known("print") => return no_form("`print` as a value has"),
            Expr::Name(e) if has(VALUES, &e.id) && !self.is_known(&e.id) => format!("py.{}", e.id),
            Expr::Name(e) => self.spelled(&e.id)?,
            Expr::BinOp(e) => return self.binary(&e.left, e.op, &e.right),
            Expr::UnaryOp(e) => match e.op {
                UnaryOp::Not => {
                    let test = self.condition(&e.operand)?;
                    return Ok((format!("!{}", enclosed(test, Bind::Number)), Bind::Unary));
                }
                UnaryOp::Invert
                    if matches!(self.kind(&e.operand), ValueHint::Count | ValueHint::Int)
                        || e.operand.is_name_expr() && self.is_tensor(&e.operand) == Some(false) =>
                {
                    return Ok((format!("-{} - 1", self.operand(&e.operand, Bind::Number)?), Bind::Sum));
                }
                UnaryOp::Invert => format!("{}.bitwise_not()", self.receiver(&e.operand)?),
                op => return Ok((format!("{}{}", op.as_str(), self.operand(&e.operand, Bind::Number)?), Bind::Unary)),
            },
            Expr::BoolOp(b) if self.kind(e) == ValueHint::Bool => return self.condition(e),
            Expr::BoolOp(b) => match &*b.values {
                [first @ Expr::Name(_), second] if b.op == BoolOp::Or => return self.choice(first, first, second),
                [first @ Expr::Name(_), second] => return self.choice(first, second, first),
                _ => return no_form("`and` and `or` between values that are no conditions have"),
            },
            Expr::Compare(e) => return self.compare(e),
            Expr::If(e) => return self.choice(&e.test, &e.body, &e.orelse),
            Expr::Lambda(e) => {
                let names = e.parameters.as_deref().map_or(Ok(Vec::new()), |p| self.parameters(p))?;
                return Ok((self.closure(&names, |this| this.value(&e.body))?, Bind::Open));
            }
            Expr::Call(e) => self.call(e)?,
            Expr::Attribute(e) if !is_name(&e.attr) || e.attr.as_str() == "switch" => {
                return no_form("such attributes have");
            }
            Expr::Attribute(e) => format!("{}.{}", self.receiver(&e.value)?, e.attr),
            Expr::Subscript(e) => match (self.receiver(&e.value)?, &*e.slice) {
                (value, Expr::Tuple(items)) => {
                    let parts = items.elts.iter().map(|item| self.item(item)).collect::<TranslatedLines>()?.join(", ");
                    let is_plain = items.len() > 1 && !self.by_grammar;
                    if is_plain { format!("{value}[{parts}]") } else { format!("{value}[at({parts})]") }
                }
                (value, Expr::Slice(range)) if self.kind(&e.value) == ValueHint::List => {
                    match self.range(range.lower.as_deref(), range.upper.as_deref())? {
                        text if range.step.is_some() || text.contains(['-', '(']) => {
                            return no_form("lists cut from the end or in steps have");
                        }
                        text => format!("{value}.extract({text})"),
                    }
                }
                (value, Expr::Slice(range)) if self.kind(&e.value) == ValueHint::Plain && range.step.is_none() => {
                    // A string in Rhai is sliced only by a range.
                    format!("{value}[{}]", self.range(range.lower.as_deref(), range.upper.as_deref())?)
                }
                (value, item) if self.kind(&e.value) == ValueHint::List && self.is_tensor(item) == Some(true) => {
                    format!("{value}[{}.item()]", self.receiver(item)?)
                }
                (value, item) => format!("{value}[{}]", self.item(item)?),
            },
            Expr::List(e) => format!("[{}]", self.values(&e.elts)?),
            Expr::Tuple(e) => format!("tuple([{}])", self.values(&e.elts)?),
            Expr::Dict(e) => self.dict(&e.items)?,
            Expr::ListComp(e) => self.comprehension(&e.elt, &e.generators)?,
            Expr::FString(e) => self.template(e)?,
            Expr::StringLiteral(e) => quoted(e.value.to_str()),
            Expr::BytesLiteral(e) => {
                let bytes = e.value.iter().flat_map(|part| part.value.iter()).map(u8::to_string);
                format!("bytes([{}])", bytes.collect::<Vec<_>>().join(", "))
            }
            Expr::NumberLiteral(e) => return self.number(e),
            Expr::BooleanLiteral(e) => e.value.to_string(),
            Expr::NoneLiteral(_) => "()".into(),
            Expr::EllipsisLiteral(_) => "Ellipsis".into(),
            Expr::Set(_) | Expr::SetComp(_) => return no_form("sets have"),
            Expr::DictComp(_) => return no_form("dictionary comprehensions have"),
            Expr::Generator(_) | Expr::Yield(_) | Expr::YieldFrom(_) => return no_form("generators have"),
            Expr::Starred(_) => return no_form("starred expressions have"),
            Expr::Named(_) => return no_form("assignments within an expression (`:=`) have"),
            Expr::Await(_) => return no_form("`await` has"),
            Expr::Slice(_) => return no_form("slices outside of a subscript have"),
            Expr::TString(_) => return no_form("template strings have"),
            Expr::IpyEscapeCommand(_) => return no_form("IPython commands have"),
        };
        Ok((text, Bind::Closed))
    }

    fn values(&mut self, values: &[Expr]) -> Translation {
        Ok(values.iter().map(|e| self.value(e)).collect::<TranslatedLines>()?.join(", "))
    }

    /// Writes the expression before a dot or a bracket.
    fn receiver(&mut self, e: &Expr) -> Translation {
        self.operand(e, Bind::Closed)
    }

    fn choice(&mut self, test: &Expr, yes: &Expr, no: &Expr) -> TranslatedExpression {
        let (test, yes, no) = (self.condition(test)?.0, self.value(yes)?, self.value(no)?);
        Ok((format!("if {test} {{ {yes} }} else {{ {no} }}"), Bind::Open))
    }

    /// Writes `|x, y| body`. The parameters hide variables of the same names.
    fn closure(&mut self, names: &[String], body: impl FnOnce(&mut Self) -> Translation) -> Translation {
        let outer = self.known.clone();
        self.known.extend(names.iter().map(|name| (name.clone(), ValueHint::Unknown)));
        let body = body(self);
        self.known = outer;
        let names = names.iter().map(|name| self.spelled(name)).collect::<TranslatedLines>()?;
        Ok(format!("|{}| {}", names.join(", "), body?))
    }

    fn number(&self, e: &ExprNumberLiteral) -> TranslatedExpression {
        let typed = self.source.get(e.range().to_std_range()).unwrap_or_default().to_lowercase();
        let text = match &e.value {
            Number::Int(value) if value.as_i64().is_none() => return no_form("integers beyond 64 bits have"),
            Number::Float(value) if value.is_infinite() => "inf".into(),
            // Rhai requires a digit on both sides of the dot.
            Number::Float(value) if typed.starts_with('.') || typed.ends_with('.') || typed.contains(".e") => {
                format!("{value:?}")
            }
            Number::Complex { imag, .. } => return Ok((format!("complex(0, {imag})"), Bind::Closed)),
            Number::Int(_) | Number::Float(_) => typed,
        };
        Ok((text, Bind::Number))
    }

    /// Writes an operand as a float, if an integer would give a different result.
    fn floating(&mut self, e: &Expr) -> Translation {
        let text = self.value(e)?;
        Ok(if text.bytes().all(|b| b.is_ascii_digit()) { format!("{text}.0") } else { format!("py.float({text})") })
    }

    pub(super) fn binary(&mut self, left: &Expr, op: Operator, right: &Expr) -> TranslatedExpression {
        let kinds = (self.kind(left), self.kind(right));
        let is_int = |kind| matches!(kind, ValueHint::Count | ValueHint::Int);
        let counts = kinds == (ValueHint::Count, ValueHint::Count);
        let int = kinds.0 == ValueHint::Int || kinds.1 == ValueHint::Int;
        if is_beyond(left, op, right) {
            return no_form("integers beyond 64 bits have");
        }
        let (bind, least, next) = match op {
            Operator::Add | Operator::Sub => (Bind::Sum, Bind::Sum, Bind::Product),
            // Rhai truncates quotients, and remainders take the sign of the dividend.
            Operator::FloorDiv | Operator::Mod if int || op == Operator::FloorDiv && !counts => {
                let of_tensors = match (self.is_tensor(left), self.is_tensor(right)) {
                    (Some(true), _) | (_, Some(true)) => true,
                    (Some(false), Some(false)) => false,
                    _ => return no_form("`//` and `%` of what may be a number or a tensor have"),
                };
                let (a, b) = (self.value(left)?, self.value(right)?);
                let text = match (of_tensors, op) {
                    (true, Operator::FloorDiv) => format!("floor_divide({a}, {b})"),
                    (true, _) => format!("remainder({a}, {b})"),
                    (false, Operator::FloorDiv) => format!("divmod({a}, {b})[0]"),
                    (false, _) => format!("divmod({a}, {b})[1]"),
                };
                return Ok((text, Bind::Closed));
            }
            Operator::Mult | Operator::MatMult | Operator::Div | Operator::FloorDiv | Operator::Mod => {
                (Bind::Product, Bind::Product, Bind::Power)
            }
            Operator::Pow => (Bind::Power, Bind::Number, Bind::Unary),
            _ => (Bind::Bits, Bind::Number, Bind::Number),
        };
        if let (Bind::Sum, Expr::NumberLiteral(number), true) = (bind, right, is_number(left))
            && let Number::Complex { imag, .. } = number.value
        {
            let imag = if op == Operator::Sub { -imag } else { imag };
            return Ok((format!("complex({}, {imag})", self.value(left)?), Bind::Closed));
        }
        let needs_float = op == Operator::Div && !is_int(kinds.1) || op == Operator::Pow && kinds.1 == ValueHint::Int;
        let left = if needs_float && is_int(kinds.0) { self.floating(left)? } else { self.operand(left, least)? };
        let divides = op == Operator::Div && is_int(kinds.1);
        let right = if divides { self.floating(right)? } else { self.operand(right, next)? };
        let sign = if op == Operator::FloorDiv { "/" } else { op.as_str() };
        Ok((format!("{left} {sign} {right}"), bind))
    }

    /// Writes a condition: Rhai text of type bool.
    pub(super) fn condition(&mut self, e: &Expr) -> TranslatedExpression {
        match e {
            Expr::BoolOp(e) => {
                let (bind, next, sign) = match e.op {
                    BoolOp::And => (Bind::And, Bind::Compare, " && "),
                    BoolOp::Or => (Bind::Or, Bind::And, " || "),
                };
                let parts =
                    e.values.iter().map(|e| Ok(enclosed(self.condition(e)?, next))).collect::<TranslatedLines>()?;
                Ok((parts.join(sign), bind))
            }
            e if self.kind(e) == ValueHint::Bool => self.written(e),
            e => Ok((format!("py.bool({})", self.value(e)?), Bind::Closed)),
        }
    }

    fn compare(&mut self, e: &ExprCompare) -> TranslatedExpression {
        let mut parts = Vec::new();
        let mut left = &*e.left;
        for (op, right) in e.ops.iter().zip(&e.comparators) {
            if !parts.is_empty() && !left.is_name_expr() && !left.is_literal_expr() {
                return no_form("chained comparisons around anything but a name or a number have");
            }
            let first = self.operand(left, Bind::Sum)?;
            let is_constant = right.is_none_literal_expr() || right.is_boolean_literal_expr();
            let second = match (op, right) {
                (CmpOp::In | CmpOp::NotIn, Expr::Tuple(items)) => format!("[{}]", self.values(&items.elts)?),
                _ => self.operand(right, Bind::Sum)?,
            };
            parts.push(match op {
                CmpOp::Is if is_constant => format!("{first} == {second}"),
                CmpOp::IsNot if is_constant => format!("{first} != {second}"),
                CmpOp::Is => format!("id({first}) == id({second})"),
                CmpOp::IsNot => format!("id({first}) != id({second})"),
                CmpOp::NotIn => format!("{first} !in {second}"),
                op => format!("{first} {} {second}", op.as_str()),
            });
            left = right;
        }
        Ok((parts.join(" && "), if parts.len() > 1 { Bind::And } else { Bind::Compare }))
    }

    fn call(&mut self, e: &ExprCall) -> Translation {
        let (args, has_keywords) = (&*e.arguments.args, !e.arguments.keywords.is_empty());
        let name = match &*e.func {
            Expr::Name(name) => name.id.as_str(),
            Expr::Attribute(method) => {
                let is_container = method.value.as_name_expr().is_some_and(|e| {
                    let name = e.id.as_str();
                    !self.known.contains_key(name) && (self.variable)(name) == Some(VariableKind::Container)
                });
                let is_outer = |e: &Expr| e.as_name_expr().is_some_and(|e| !self.known.contains_key(e.id.as_str()));
                let name = match (method.attr.as_str(), args) {
                    ("append" | "extend" | "update" | "pop", _) if self.in_function && is_outer(&method.value) => {
                        return no_form("functions that change what they have not made have");
                    }
                    _ if is_container => return Ok(format!("{}({})", self.value(&e.func)?, self.arguments(e, true)?)),
                    // A slice of a list is a copy already, so `x[1:].copy()` copies an array.
                    ("copy", []) if !matches!(&*method.value, Expr::Subscript(part) if part.slice.is_slice_expr()) => {
                        return self.receiver(&method.value);
                    }
                    ("append", [_]) => "push",
                    ("extend", [_]) => "append",
                    ("update", [_]) => "mixin",
                    ("pop", [_]) => "remove",
                    (name @ "remove", [_]) | (name @ "replace", [_, _]) => {
                        return no_form(&format!("Python's method `{name}` has"));
                    }
                    _ => return Ok(format!("{}({})", self.value(&e.func)?, self.arguments(e, true)?)),
                };
                return Ok(format!("{}.{name}({})", self.receiver(&method.value)?, self.arguments(e, false)?));
            }
            function => return Ok(format!("{}.call({})", self.receiver(function)?, self.arguments(e, false)?)),
        };
        let is_function = self.functions.contains(name);
        if is_function || self.is_known(name) {
            if has_keywords {
                return no_form("calls of one's own functions by keyword have");
            }
            let call = if is_function { "" } else { ".call" };
            return Ok(format!("{}{call}({})", self.spelled(name)?, self.arguments(e, false)?));
        }
        let prefix = match (name, args) {
            ("dict", []) => return Ok(keyword_map(&self.keywords(e)?)),
            // Rhai lines have names for these values.
            ("float", [Expr::StringLiteral(e)])
                if let text @ ("nan" | "inf") = e.value.to_str()
                    && !self.is_known(text) =>
            {
                return Ok(text.into());
            }
            ("set" | "frozenset" | "iter" | "next", _) => return no_form("sets and iterators have"),
            // For a tensor or a storage, Rhai's `bytes` draws a picture.
            ("bytes", [of]) if self.kind(of) == ValueHint::Unknown => "py.",
            ("sum", [of, ..]) if self.kind(of) != ValueHint::List => "py.",
            // For a list of lists, Python returns one of the lists; torch descends into them.
            ("max" | "min", [of]) if self.is_tensor(of) != Some(false) => "py.",
            _ if has(BUILTINS, name) => "py.",
            _ => "",
        };
        Ok(format!("{prefix}{name}({})", self.arguments(e, false)?))
    }

    /// Writes `a, b, key=c`. A parameter that takes a shape also takes an array.
    fn arguments(&mut self, e: &ExprCall, takes_shapes: bool) -> Translation {
        let mut texts = Vec::new();
        for argument in &e.arguments.args {
            texts.push(match argument {
                Expr::Generator(e) => self.comprehension(&e.elt, &e.generators)?,
                _ if takes_shapes => self.shape(argument)?,
                _ => self.value(argument)?,
            });
        }
        if takes_shapes && e.arguments.keywords.is_empty() && e.arguments.args.last().is_some_and(Expr::is_dict_expr) {
            // Without keywords after it, Rhai would take the dictionary for keywords.
            texts.push("#{}".into());
        }
        let keywords = self.keywords(e)?;
        if (self.by_grammar && !keywords.is_empty()) || keywords.iter().any(|(name, _)| map_key(name) != *name) {
            texts.push(keyword_map(&keywords));
        } else {
            texts.extend(keywords.into_iter().map(|(name, value)| format!("{name}={value}")));
        }
        Ok(texts.join(", "))
    }

    fn keywords<'e>(&mut self, e: &'e ExprCall) -> Result<Vec<(&'e str, String)>, String> {
        let mut keywords = Vec::new();
        for keyword in &e.arguments.keywords {
            let Some(name) = &keyword.arg else { return no_form("`**` in a call has") };
            let value = if has(SHAPES, name) { self.shape(&keyword.value)? } else { self.value(&keyword.value)? };
            keywords.push((name.as_str(), value));
        }
        Ok(keywords)
    }

    /// Writes a tuple of numbers as an array.
    fn shape(&mut self, e: &Expr) -> Translation {
        match e {
            Expr::Tuple(e) if e.elts.iter().all(|e| is_number(e) || e.is_tuple_expr()) => {
                Ok(format!("[{}]", e.elts.iter().map(|e| self.shape(e)).collect::<TranslatedLines>()?.join(", ")))
            }
            _ => self.value(e),
        }
    }

    /// Writes a single subscript.
    fn item(&mut self, e: &Expr) -> Translation {
        let Expr::Slice(slice) = e else {
            return match e {
                Expr::NoneLiteral(_) => Ok("None".into()),
                Expr::EllipsisLiteral(_) if !self.by_grammar => Ok("...".into()),
                _ => self.value(e),
            };
        };
        let (ends, absent) = ([&slice.lower, &slice.upper], if self.by_grammar { "()" } else { "" });
        if let (None, false) = (&slice.step, self.by_grammar) {
            return self.range(slice.lower.as_deref(), slice.upper.as_deref());
        }
        let ends = ends.map(|end| end.as_deref().map_or(Ok(absent.to_owned()), |end| self.value(end)));
        let [lower, upper] = ends;
        let step = slice.step.as_deref().map_or(Ok(absent.to_owned()), |step| self.value(step));
        let (lower, upper, step) = (lower?, upper?, step?);
        Ok(if self.by_grammar { format!("slice({lower}, {upper}, {step})") } else { format!("{lower}:{upper}:{step}") })
    }

    pub(super) fn range(&mut self, lower: Option<&Expr>, upper: Option<&Expr>) -> Translation {
        let mut end = |e: Option<&Expr>| e.map_or(Ok(String::new()), |e| self.operand(e, Bind::Sum));
        Ok(format!("{}..{}", end(lower)?, end(upper)?))
    }

    fn dict(&mut self, items: &[DictItem]) -> Translation {
        let is_text = items.iter().all(|item| matches!(item.key, Some(Expr::StringLiteral(_))));
        let mut entries = Vec::new();
        for item in items {
            let value = self.value(&item.value)?;
            entries.push(match &item.key {
                Some(Expr::StringLiteral(key)) if is_text => format!("{}: {value}", map_key(key.value.to_str())),
                Some(key) => format!("[{}, {value}]", self.value(key)?),
                None => return no_form("`**` in a dictionary has"),
            });
        }
        let entries = entries.join(", ");
        Ok(if is_text { format!("#{{{entries}}}") } else { format!("dict([{entries}])") })
    }

    /// Writes `xs.filter(|x| …).map(|x| …)`.
    fn comprehension(&mut self, element: &Expr, loops: &[Comprehension]) -> Translation {
        let [Comprehension { target: Expr::Name(target), iter, ifs, is_async: false, .. }] = loops else {
            return no_form("comprehensions of several loops or variables have");
        };
        let name = &[target.id.to_string()];
        let mut text = self.receiver(iter)?;
        for test in ifs {
            text += &format!(".filter({})", self.closure(name, |this| Ok(this.condition(test)?.0))?);
        }
        if element.as_name_expr().is_none_or(|e| e.id != target.id) {
            text += &format!(".map({})", self.closure(name, |this| this.value(element))?);
        } else if ifs.is_empty() {
            text = format!("list({text})");
        }
        Ok(text)
    }

    fn template(&mut self, e: &ExprFString) -> Translation {
        let mut text = String::new();
        for part in &e.value {
            match part {
                FStringPart::Literal(part) => text += &literal(&part.value),
                FStringPart::FString(part) => {
                    text.extend(part.elements.iter().map(|e| self.element(e)).collect::<TranslatedLines>()?);
                }
            }
        }
        Ok(format!("`{text}`"))
    }

    fn element(&mut self, element: &InterpolatedStringElement) -> Translation {
        let field = match element {
            InterpolatedStringElement::Literal(part) => return Ok(literal(&part.value)),
            InterpolatedStringElement::Interpolation(field) => field,
        };
        let before = literal(field.debug_text.as_ref().map_or("", |debug| debug.as_str()));
        let value = self.value(&field.expression)?;
        let value = match (field.conversion, self.kind(&field.expression)) {
            (ConversionFlag::Repr, _) => format!("repr({value})"),
            (ConversionFlag::None, _) if field.debug_text.is_some() => format!("repr({value})"),
            // Rhai formats these values differently.
            (ConversionFlag::None, ValueHint::Bool | ValueHint::List) if field.format_spec.is_none() => {
                format!("str({value})")
            }
            (ConversionFlag::Str, _) => format!("str({value})"),
            (ConversionFlag::Ascii, _) => format!("ascii({value})"),
            (ConversionFlag::None, _) => value,
        };
        let spec = field.format_spec.iter().flat_map(|spec| spec.elements.iter());
        let spec = spec.map(|part| part.as_literal().map(|part| &*part.value)).collect::<Option<String>>();
        match spec {
            None => no_form("computed formats have"),
            Some(spec) if spec.is_empty() => Ok(format!("{before}${{{value}}}")),
            Some(spec) => Ok(format!("{before}${{py.format({value}, {})}}", quoted(&spec))),
        }
    }
}

/// Returns whether a power or a shift of two integers exceeds 64 bits.
fn is_beyond(left: &Expr, op: Operator, right: &Expr) -> bool {
    let int = |e: &Expr| e.as_number_literal_expr().and_then(|e| e.value.as_int()?.as_i64());
    let (Some(base), Some(by)) = (int(left), int(right).and_then(|by| u32::try_from(by).ok())) else { return false };
    match op {
        Operator::Pow => base.checked_pow(by).is_none(),
        Operator::LShift => 2_i64.checked_pow(by).and_then(|times| base.checked_mul(times)).is_none(),
        _ => false,
    }
}

pub(super) fn enclosed((text, bind): (String, Bind), least: Bind) -> String {
    if bind < least { format!("({text})") } else { text }
}

/// Writes keywords as an object map.
fn keyword_map(keywords: &[(&str, String)]) -> String {
    let entries: Vec<String> = keywords.iter().map(|(name, value)| format!("{}: {value}", map_key(name))).collect();
    format!("#{{{}}}", entries.join(", "))
}
