//! The spelling of names and strings in Rhai, and what the text of an expression implies about its value.
//!
//! Does not know how an expression is written.

use super::{Printer, Translation, VariableKind, no_form};
use ruff_python_ast::{Expr, Operator, UnaryOp};

/// What the text of an expression implies about its value. A count is a non-negative integer. A plain value is
/// certainly not a tensor.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ValueHint {
    Count,
    Int,
    Bool,
    Plain,
    List,
    Unknown,
}

/// A block with one line of up to this many characters is written on a single line.
const SHORT: usize = 60;
/// Words that Rhai does not accept as a name.
const RESERVED: &str = "Fn as async await break call case catch const continue curry debug default do else eval export \
    false fn for go goto if import in is is_def_fn is_def_var is_shared let loop match module new nil null package print \
    private protected public return shared spawn static super switch sync this thread throw true try type_of until use \
    var void while with yield";
/// Words that Rhai does not accept even as a key.
const KEYWORDS: &str = "as break const continue do else export false fn for if import in let loop private return switch \
    throw true try until while";
/// Python functions that mean something else in Rhai: `BUILTINS` when called, `VALUES` when used as values.
pub(super) const BUILTINS: &str = "all any bool float format int round type";
pub(super) const VALUES: &str = "abs bool bytearray bytes chr complex dict divmod enumerate float hash hex id input int len list max min object \
    ord pow range repr reversed round slice sorted str sum tuple type zip";
/// Calls and attributes whose result is certainly not a tensor: a count, a bool, a list, or another value.
const COUNTS: &str = "data_ptr dim element_size len nbytes ndim itemsize numel ord storage_offset";
const TESTS: &str = "allclose bool callable equal hasattr isinstance issubclass requires_grad startswith endswith";
const LISTS: &str = "keys list sorted tolist";
const PLAIN: &str = "device dtype float format get item layout names repr shape size str stride type";
/// Keywords that take a shape or dimensions, which are an array in Rhai.
pub(super) const SHAPES: &str = "dim dims size shape stride axis shifts repeats";

pub(super) fn has(words: &str, word: &str) -> bool {
    words.split(' ').any(|other| other == word)
}

/// Returns whether Rhai accepts the name as an identifier.
pub(super) fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_alphabetic() || c == '_') && name.chars().all(|c| c.is_alphanumeric() || c == '_')
}

impl Printer<'_> {
    pub(super) fn spelled(&self, name: &str) -> Translation {
        match name {
            name if !is_name(name) => no_form("names of signs have"),
            name if has(RESERVED, name) => Ok(format!("{name}_")),
            name => Ok(name.to_owned()),
        }
    }

    pub(super) fn is_known(&self, name: &str) -> bool {
        self.known.contains_key(name) || (self.variable)(name).is_some()
    }

    /// Returns whether an expression may be a tensor. A bare name in a comparison is assumed to be a number: `if x >
    /// 0`.
    fn may_be_tensor(&self, e: &Expr) -> bool {
        self.kind(e) == ValueHint::Unknown
            && matches!(e, Expr::Call(_) | Expr::Subscript(_) | Expr::BinOp(_) | Expr::UnaryOp(_))
    }

    /// Returns whether an operand is a tensor. `None` if unknown.
    pub(super) fn is_tensor(&self, e: &Expr) -> Option<bool> {
        match (self.kind(e), e) {
            (ValueHint::Unknown, Expr::Name(name)) if !self.known.contains_key(name.id.as_str()) => {
                match (self.variable)(&name.id)? {
                    VariableKind::Tensor => Some(true),
                    VariableKind::Container | VariableKind::Other => Some(false),
                    VariableKind::Unknown => None,
                }
            }
            (ValueHint::Unknown, Expr::Call(_) | Expr::Subscript(_) | Expr::BinOp(_) | Expr::UnaryOp(_)) => Some(true),
            (ValueHint::Unknown, _) => None,
            _ => Some(false),
        }
    }

    pub(super) fn kind(&self, e: &Expr) -> ValueHint {
        match e {
            Expr::Name(e) => self.known.get(e.id.as_str()).copied().unwrap_or(ValueHint::Unknown),
            Expr::NumberLiteral(e) if e.value.is_int() => ValueHint::Count,
            Expr::NumberLiteral(_) | Expr::StringLiteral(_) | Expr::FString(_) | Expr::NoneLiteral(_) => {
                ValueHint::Plain
            }
            Expr::Tuple(_) | Expr::Dict(_) | Expr::BytesLiteral(_) => ValueHint::Plain,
            Expr::BooleanLiteral(_) => ValueHint::Bool,
            Expr::List(_) | Expr::ListComp(_) | Expr::Generator(_) => ValueHint::List,
            Expr::UnaryOp(e) if e.op == UnaryOp::Not => ValueHint::Bool,
            Expr::UnaryOp(e) => match self.kind(&e.operand) {
                ValueHint::Count => ValueHint::Int,
                kind => kind,
            },
            Expr::BoolOp(e) if e.values.iter().all(|e| self.kind(e) == ValueHint::Bool) => ValueHint::Bool,
            Expr::Compare(e) => {
                let tests = e.ops.len() > 1
                    || e.ops.iter().all(|op| !matches!(op.as_str(), "==" | "!=" | "<" | "<=" | ">" | ">="));
                let plain = !self.may_be_tensor(&e.left) && !e.comparators.iter().any(|e| self.may_be_tensor(e));
                if tests || plain { ValueHint::Bool } else { ValueHint::Unknown }
            }
            Expr::BinOp(e) => match (self.kind(&e.left), e.op, self.kind(&e.right)) {
                (ValueHint::Count | ValueHint::Int, Operator::Div, ValueHint::Count | ValueHint::Int) => {
                    ValueHint::Plain
                }
                (ValueHint::Count, Operator::Sub, ValueHint::Count) => ValueHint::Int,
                (ValueHint::Count, _, ValueHint::Count) => ValueHint::Count,
                (ValueHint::Count | ValueHint::Int, _, ValueHint::Count | ValueHint::Int) => ValueHint::Int,
                (
                    ValueHint::Count | ValueHint::Int | ValueHint::Plain,
                    _,
                    ValueHint::Count | ValueHint::Int | ValueHint::Plain,
                ) => ValueHint::Plain,
                (ValueHint::List, ..) => ValueHint::List,
                _ => ValueHint::Unknown,
            },
            Expr::Call(e) => match &*e.func {
                Expr::Name(name) if self.is_known(&name.id) => ValueHint::Unknown,
                Expr::Name(name) if name.id == "int" => ValueHint::Int,
                Expr::Name(name) => of_name(&name.id),
                // With an argument, these methods return the value for a single dimension.
                Expr::Attribute(e2) if matches!(&*e2.attr, "size" | "stride") && !e.arguments.args.is_empty() => {
                    ValueHint::Count
                }
                Expr::Attribute(e) => of_name(&e.attr),
                _ => ValueHint::Unknown,
            },
            Expr::Attribute(e) => of_name(&e.attr),
            Expr::Subscript(e) if matches!(&*e.value, Expr::Attribute(e) if e.attr.as_str() == "shape") => {
                ValueHint::Count
            }
            _ => ValueHint::Unknown,
        }
    }
}

fn of_name(name: &str) -> ValueHint {
    match name {
        name if has(COUNTS, name) => ValueHint::Count,
        name if has(TESTS, name) || name.starts_with("is_") => ValueHint::Bool,
        name if has(LISTS, name) => ValueHint::List,
        name if has(PLAIN, name) => ValueHint::Plain,
        _ => ValueHint::Unknown,
    }
}

pub(super) fn is_number(e: &Expr) -> bool {
    match e {
        Expr::UnaryOp(e) => e.op == UnaryOp::USub && e.operand.is_number_literal_expr(),
        e => e.as_number_literal_expr().is_some_and(|e| !e.value.is_complex()),
    }
}

pub(super) fn map_key(key: &str) -> String {
    if is_name(key) && !has(KEYWORDS, key) { key.to_owned() } else { quoted(key) }
}

/// Writes a string in double quotes. Invisible characters are escaped.
pub(super) fn quoted(value: &str) -> String {
    let mut text = String::from('"');
    for c in value.chars() {
        match c {
            '"' | '\\' => text.extend(['\\', c]),
            '\n' => text += "\\n",
            '\t' => text += "\\t",
            c if c.is_control() => text += &format!("\\x{:02x}", u32::from(c)),
            c => text.push(c),
        }
    }
    text + "\""
}

/// Writes a string between backticks. These allow no escapes, so other characters are interpolated as values.
pub(super) fn literal(value: &str) -> String {
    let mut text = String::new();
    let mut rest = value.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '`' => text += "``",
            '$' if rest.peek().is_none_or(|next| *next == '{') => text += "${\"$\"}",
            c if c.is_control() => text += &format!("${{{}}}", quoted(&c.to_string())),
            c => text.push(c),
        }
    }
    text
}

/// Writes `head { … }`, on one line if it is short.
pub(super) fn braced(head: &str, body: &[String]) -> Vec<String> {
    match body {
        [] => vec![format!("{head} {{}}")],
        [line] if line.len() <= SHORT && !line.starts_with("//") && !line.contains('\n') => {
            vec![format!("{head} {{ {line} }}")]
        }
        lines => {
            let inner = lines.iter().flat_map(|line| line.lines()).map(|line| format!("    {line}"));
            std::iter::once(format!("{head} {{")).chain(inner).chain(std::iter::once("}".to_owned())).collect()
        }
    }
}

/// Returns whether a text mentions a name. For `name[…]`, only the variable counts.
pub(super) fn names(text: &str, name: &str) -> bool {
    let name = name.split(['.', '[']).next().unwrap_or_default();
    text.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == name)
}
