//! Literals: numbers, strings, bytes, dictionaries and f-strings.

use std::fmt::Write as _;

use ruff_python_ast::{
    ConversionFlag, ExprBytesLiteral, ExprDict, ExprFString, FStringPart, Int, InterpolatedStringElement,
    InterpolatedStringElements, Number,
};

use super::{SyntaxFault, Translator, Written};

/// As CPython: longer decimal literals are refused, since their conversion takes quadratic time.
const MAX_DIGITS: usize = 4300;

impl Translator<'_> {
    pub(super) fn number(&mut self, number: &Number, negative: bool, offset: usize) -> Written {
        let sign = if negative { "-" } else { "" };
        let text = match number {
            Number::Int(value) => return self.integer(value, sign, offset),
            Number::Float(value) if value.is_infinite() => format!("float(\"{sign}inf\")"),
            Number::Float(value) => format!("{sign}{}", float(*value)),
            Number::Complex { real, imag } => {
                format!("{sign}complex({}, {})", float(*real), float(*imag))
            }
        };
        self.out.push(&text);
        Ok(())
    }

    fn integer(&mut self, value: &Int, sign: &str, offset: usize) -> Written {
        let digits = match value.as_u64() {
            Some(small) => small.to_string(),
            None => decimal(&value.to_string()).ok_or_else(|| {
                let limit = format!("Exceeds the limit ({MAX_DIGITS} digits) for integer string conversion");
                SyntaxFault::syntax(limit, offset)
            })?,
        };
        let signed = format!("{sign}{digits}");
        if signed.parse::<i64>().is_ok() {
            self.out.push(&signed);
        } else {
            self.out.push("int(\"");
            self.out.push(&signed);
            self.out.push("\")");
        }
        Ok(())
    }

    /// A string in double quotes, with Rhai's escapes.
    pub(super) fn string(&mut self, value: &str) {
        self.out.push_char('"');
        for character in value.chars() {
            match character {
                '"' => self.out.push("\\\""),
                '\\' => self.out.push("\\\\"),
                '\n' => self.out.push("\\n"),
                '\r' => self.out.push("\\r"),
                '\t' => self.out.push("\\t"),
                c if is_invisible(c) => {
                    let code = u32::from(c);
                    let escape = match code {
                        0..=0xff => format!("\\x{code:02x}"),
                        0x100..=0xffff => format!("\\u{code:04x}"),
                        _ => format!("\\U{code:08x}"),
                    };
                    self.out.push(&escape);
                }
                c => self.out.push_char(c),
            }
        }
        self.out.push_char('"');
    }

    pub(super) fn bytes(&mut self, literal: &ExprBytesLiteral) {
        self.out.push("bytes([");
        let bytes = literal.value.iter().flat_map(|part| part.value.iter());
        for (i, byte) in bytes.enumerate() {
            let separator = if i > 0 { ", " } else { "" };
            self.out.push(&format!("{separator}{byte}"));
        }
        self.out.push("])");
    }

    pub(super) fn dict(&mut self, dict: &ExprDict) -> Written {
        if dict.items.iter().all(|item| item.key.is_some()) {
            self.out.push("dict(");
            self.pairs(&dict.items)?;
            self.out.push(")");
            return Ok(());
        }
        self.out.push("dict(__concat__([");
        let mut rest = dict.items.as_slice();
        while let Some((first, others)) = rest.split_first() {
            if rest.len() < dict.items.len() {
                self.out.push(", ");
            }
            if first.key.is_none() {
                self.out.push("iter(");
                self.receiver(&first.value)?;
                self.out.push(".items())");
                rest = others;
            } else {
                let plain = rest.iter().take_while(|i| i.key.is_some()).count();
                let (run, after) = rest.split_at(plain);
                self.pairs(run)?;
                rest = after;
            }
        }
        self.out.push("]))");
        Ok(())
    }

    fn pairs(&mut self, items: &[ruff_python_ast::DictItem]) -> Written {
        self.out.push("[");
        for (i, item) in items.iter().enumerate() {
            self.out.push(if i > 0 { ", [" } else { "[" });
            if let Some(key) = &item.key {
                self.expression(key)?;
            }
            self.out.push(", ");
            self.argument(&item.value)?;
            self.out.push("]");
        }
        self.out.push("]");
        Ok(())
    }

    pub(super) fn f_string(&mut self, literal: &ExprFString) -> Written {
        self.out.push("fstring([");
        let mut pieces = Pieces::default();
        for part in &literal.value {
            match part {
                FStringPart::Literal(text) => pieces.text.push_str(&text.value),
                FStringPart::FString(part) => self.f_string_elements(&part.elements, &mut pieces)?,
            }
        }
        self.f_string_text(&mut pieces);
        self.out.push("])");
        Ok(())
    }

    fn f_string_elements(&mut self, elements: &InterpolatedStringElements, pieces: &mut Pieces) -> Written {
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
            self.f_string_text(pieces);
            pieces.separator(self);
            let convert = match conversion {
                ConversionFlag::None => "",
                ConversionFlag::Str => "str(",
                ConversionFlag::Ascii => "ascii(",
                ConversionFlag::Repr => "repr(",
            };
            // A conversion gives a string, which needs no formatting unless there is something to format.
            let formats = convert.is_empty() || field.format_spec.is_some();
            // Bare, it would be the method of a text that is called so.
            self.out.push(if formats { "py.format(" } else { "" });
            self.out.push(convert);
            self.expression(&field.expression)?;
            self.out.push(if convert.is_empty() { "" } else { ")" });
            if formats {
                self.out.push(", ");
                match &field.format_spec {
                    None => self.out.push("\"\""),
                    Some(spec) => self.format_spec(&spec.elements)?,
                }
                self.out.push(")");
            }
        }
        Ok(())
    }

    fn format_spec(&mut self, elements: &InterpolatedStringElements) -> Written {
        if elements.interpolations().next().is_none() {
            let text: String = elements.literals().map(|part| &*part.value).collect();
            self.string(&text);
            return Ok(());
        }
        self.out.push("fstring([");
        let mut pieces = Pieces::default();
        self.f_string_elements(elements, &mut pieces)?;
        self.f_string_text(&mut pieces);
        self.out.push("])");
        Ok(())
    }

    /// Writes the text gathered since the last field.
    fn f_string_text(&mut self, pieces: &mut Pieces) {
        let text = std::mem::take(&mut pieces.text);
        if !text.is_empty() {
            pieces.separator(self);
            self.string(&text);
        }
    }
}

/// The pieces of an f-string while they are written.
#[derive(Default)]
struct Pieces {
    text: String,
    written: bool,
}

impl Pieces {
    fn separator(&mut self, translator: &mut Translator<'_>) {
        translator.out.push(if self.written { ", " } else { "" });
        self.written = true;
    }
}

/// Rhai wants a digit after the dot.
fn float(value: f64) -> String {
    if value.is_infinite() {
        return "float(\"inf\")".into();
    }
    let text = format!("{value:?}");
    match text.split_once('e') {
        Some((mantissa, exponent)) if !mantissa.contains('.') => {
            format!("{mantissa}.0e{exponent}")
        }
        _ => text,
    }
}

/// Control characters and those that steer the direction or the joining of a text, which would not be seen.
fn is_invisible(c: char) -> bool {
    c.is_control() || matches!(u32::from(c), 0xad | 0x200b..=0x200f | 0x2028..=0x202e | 0x2060..=0x206f | 0xfeff)
}

/// The decimal digits of a literal too large for 64 bits; none if there are too many of them.
fn decimal(literal: &str) -> Option<String> {
    let digits: String = literal.chars().filter(|c| *c != '_').collect();
    let radix = match digits.get(..2) {
        Some("0x" | "0X") => 16,
        Some("0o" | "0O") => 8,
        Some("0b" | "0B") => 2,
        _ => return (digits.len() <= MAX_DIGITS).then_some(digits),
    };
    let digits = digits.get(2..)?.trim_start_matches('0');
    if digits.len() > MAX_DIGITS {
        return None;
    }
    // Little-endian, nine decimal digits each.
    let mut limbs = vec![0_u64];
    for digit in digits.chars() {
        let mut carry = u64::from(digit.to_digit(radix)?);
        for limb in &mut limbs {
            let value = *limb * u64::from(radix) + carry;
            *limb = value % 1_000_000_000;
            carry = value / 1_000_000_000;
        }
        if carry > 0 {
            limbs.push(carry);
        }
    }
    let mut text = String::new();
    for (i, limb) in limbs.iter().rev().enumerate() {
        let width = if i == 0 { 1 } else { 9 };
        // Writing to a string cannot fail.
        let _ = write!(text, "{limb:0width$}");
    }
    Some(text)
}
