//! Signatures in the form of PyTorch's schemas: `transpose.int(Tensor(a) self, int dim0, int dim1) -> Tensor(a)`. A
//! parsed signature is used for binding, error messages, help and completion. This file knows no values except
//! defaults.

use super::MODULES;
use std::ops::RangeInclusive;
use tensor::{Device, Dims};
use value::{MemoryFormat, TensorLayout, Value};

/// A parsed signature.
#[derive(Clone, Debug)]
pub struct Signature {
    /// The name used in calls, with the module path if there is one: `transpose`, `linalg.inv`.
    pub name: &'static str,
    /// Name and overload, the key of the derivative table: `transpose.int`.
    pub key: &'static str,
    pub params: Vec<Param>,
    /// The part after `->`.
    pub returns: &'static str,
    /// The number of parameters, including `self`, that can be passed by position.
    pub positional: usize,
    /// Whether a parameter takes all remaining arguments.
    pub unbounded: bool,
    /// Whether the function writes to its first argument.
    pub in_place: bool,
    /// The position of the parameter that asks to work in place: `inplace` in `torch.nn.functional`.
    pub switch: Option<usize>,
    /// Whether it has a parameter that is handled after the function ran: `out` or `requires_grad`.
    pub finishes: bool,
    /// The position of the parameter `out`.
    pub out: Option<usize>,
    /// The position of the parameter `requires_grad`.
    pub requires_grad: Option<usize>,
    /// Whether it is one of Python's builtins, or a method of its values.
    pub python: bool,
    /// For a deprecated order of the parameters, their positions in the row. Empty for the row's own order.
    pub places: Vec<usize>,
}

/// One parameter.
#[derive(Clone, Debug)]
pub struct Param {
    pub name: &'static str,
    pub kind: Kind,
    /// Whether `None` is accepted.
    pub nullable: bool,
    pub keyword_only: bool,
    /// The value of a missing argument, or `None` if the argument is required.
    pub default: Option<Default>,
    /// The default as written.
    pub default_text: &'static str,
    /// Whether the function writes to the argument, marked `(a!)`.
    pub written: bool,
    /// Whether PyTorch has one overload for a tensor here and another for a number.
    pub either: Option<Either>,
    /// Whether an integer may be any object with `__index__`: PyTorch declares the parameter as `SymInt`.
    pub symbolic: bool,
}

/// The parameters of the overload for a number, if there is one for a tensor as well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Either {
    /// All other parameters. Written `Either`.
    Whole,
    /// All other parameters but `out`. Written `EitherNew`.
    New,
}

/// A default value. Plain data, so that all threads can share the table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Default {
    None,
    Bool(bool),
    Int(i64),
    Float(f64),
    Str(&'static str),
    Ints(&'static [i64]),
    Device(Device),
    MemoryFormat(MemoryFormat),
    Layout(TensorLayout),
}

impl Default {
    pub fn to_value(self) -> Value {
        match self {
            Default::None => Value::None,
            Default::Bool(b) => Value::Bool(b),
            Default::Int(i) => Value::Int(i),
            Default::Float(f) => Value::Float(f),
            Default::Str(s) => Value::str(s),
            Default::Ints(dims) => Value::Size(Dims::from_slice(dims)),
            Default::Device(device) => Value::Device(device),
            Default::MemoryFormat(format) => Value::MemoryFormat(format),
            Default::Layout(layout) => Value::Layout(layout),
        }
    }
}

/// The kind of value a parameter accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    Tensor,
    Tensors,
    /// A tensor, or a number in place of one. Messages call it a Tensor.
    Operand,
    Number,
    Int,
    Float,
    Bool,
    Str,
    /// Numbers, as a list or a tuple.
    Numbers,
    /// Floating-point numbers, as a list or a tuple.
    Floats,
    /// Integers. With a length, a single integer is repeated to that length.
    Ints(Option<u8>),
    DType,
    Device,
    Layout,
    MemoryFormat,
    Generator,
    UntypedStorage,
    TypedStorage,
    /// Either storage class, as `set_` accepts.
    Storage,
    /// A dimension's name, or `None` for a nameless dimension.
    Name,
    /// Dimension names. If `alone` is set, a single name is accepted without a list.
    Names {
        alone: bool,
    },
    Size,
    Buffer,
    Type,
    /// A NumPy array or scalar.
    Array,
    /// Any rarer class: see [`Value::Object`].
    Object,
    Any,
    /// A list, tuple or range.
    Sequence,
    /// All remaining positional arguments, as a tuple.
    Rest,
    /// All remaining keyword arguments, as a dictionary.
    Keywords,
}

/// The parameters that most creation functions share, written `{factory}` in a signature.
const FACTORY: &str = "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=False, bool? requires_grad=False";

impl Kind {
    /// Returns the name of the kind in PyTorch's argument errors.
    pub fn type_name(self) -> &'static str {
        match self {
            Kind::Tensor | Kind::Operand => "Tensor",
            Kind::Tensors => "tuple of Tensors",
            Kind::Number => "Number",
            Kind::Numbers => "tuple of Scalars",
            Kind::Floats => "tuple of floats",
            Kind::Int => "int",
            Kind::Float => "float",
            Kind::Bool => "bool",
            Kind::Str => "str",
            Kind::Ints(_) => "tuple of ints",
            Kind::DType => "torch.dtype",
            Kind::Device => "torch.device",
            Kind::Layout => "torch.layout",
            Kind::MemoryFormat => "torch.memory_format",
            Kind::Generator => "torch.Generator",
            Kind::UntypedStorage => "torch.UntypedStorage",
            Kind::TypedStorage => "torch.TypedStorage",
            Kind::Storage => "torch.Storage",
            Kind::Name => "name",
            Kind::Names { .. } => "tuple of names",
            Kind::Size => "torch.Size",
            Kind::Buffer => "buffer",
            Kind::Type => "type",
            Kind::Array => "numpy.ndarray",
            Kind::Any | Kind::Object => "object",
            Kind::Sequence => "tuple",
            Kind::Rest | Kind::Keywords => "objects",
        }
    }

    /// Returns the class of a value as a receiver.
    pub fn of(value: &Value) -> Option<Kind> {
        Some(match value {
            Value::Tensor(_) => Kind::Tensor,
            Value::Storage(_) => Kind::UntypedStorage,
            Value::TypedStorage(_) => Kind::TypedStorage,
            Value::DType(_) => Kind::DType,
            Value::Device(_) => Kind::Device,
            Value::Size(_) => Kind::Size,
            Value::Buffer(_) => Kind::Buffer,
            Value::Generator(_) => Kind::Generator,
            Value::Str(_) => Kind::Str,
            // A bool is an integer, and has its methods.
            Value::Bool(_) | Value::Int(_) | Value::BigInt(_) => Kind::Int,
            Value::Float(_) => Kind::Float,
            Value::Complex(_) => Kind::Number,
            Value::Tuple(_) | Value::List(_) | Value::Range(_) => Kind::Sequence,
            Value::Object(object) if object.is_array() => Kind::Array,
            Value::Object(_) => Kind::Object,
            _ => return None,
        })
    }

    /// Returns whether the kind takes dimension names.
    pub fn is_of_names(self) -> bool {
        matches!(self, Kind::Name | Kind::Names { .. })
    }

    /// Parses a kind (without `?`). Also returns whether it has a write mark.
    fn parse(text: &str) -> Option<(Kind, bool)> {
        // `Tensor(a!)[]` and `Tensor(a)` carry alias marks.
        let (base, written, suffix) = match text.split_once('(') {
            Some((base, rest)) => {
                let (mark, suffix) = rest.split_once(')')?;
                (base, mark.contains('!'), suffix)
            }
            None => match text.split_once('[') {
                Some((base, _)) => (base, false, &text[base.len()..]),
                None => (text, false, ""),
            },
        };
        let kind = match (base, suffix) {
            ("Tensor", "") => Kind::Tensor,
            ("Tensor", "[]") => Kind::Tensors,
            ("Operand" | "Either" | "EitherNew", "") => Kind::Operand,
            ("Scalar" | "Number", "") => Kind::Number,
            ("Scalar", "[]") => Kind::Numbers,
            ("float", "[]") => Kind::Floats,
            ("int" | "SymInt", "") => Kind::Int,
            ("int", "[]") => Kind::Ints(None),
            ("int", sized) => Kind::Ints(Some(sized.trim_matches(['[', ']']).parse().ok()?)),
            ("float", "") => Kind::Float,
            ("bool", "") => Kind::Bool,
            ("str", "") => Kind::Str,
            ("ScalarType", "") => Kind::DType,
            ("Device", "") => Kind::Device,
            ("Layout", "") => Kind::Layout,
            ("MemoryFormat", "") => Kind::MemoryFormat,
            ("Generator", "") => Kind::Generator,
            ("UntypedStorage", "") => Kind::UntypedStorage,
            ("TypedStorage", "") => Kind::TypedStorage,
            ("Storage", "") => Kind::Storage,
            ("Dimname", "") => Kind::Name,
            ("Dimname", sized) => Kind::Names { alone: sized == "[1]" },
            ("Size", "") => Kind::Size,
            ("Buffer", "") => Kind::Buffer,
            ("Type", "") => Kind::Type,
            ("ndarray", "") => Kind::Array,
            ("Object", "") => Kind::Object,
            ("any", "") => Kind::Any,
            ("any", "[]") => Kind::Rest,
            ("any{}", "") => Kind::Keywords,
            ("Sequence", "") => Kind::Sequence,
            _ => return None,
        };
        Some((kind, written))
    }
}

/// Returns the name in an overload's key. `linalg.inv` is a path, `sum.dim_IntList` an overload: the overload name
/// follows the last dot, unless the part before it is a module. `UntypedStorage::from_file` belongs to a class and has
/// no overloads.
pub fn name_in(key: &str) -> &str {
    let dot = key.bytes().position(|byte| byte == b'.').filter(|_| !key.bytes().any(|byte| byte == b':'));
    let Some(first) = dot.and_then(|dot| key.get(..dot)) else { return key };
    // Every start asks this for thousands of keys. Most differ from a module in the first two letters.
    let begins_alike = |module: &&&str| module.as_bytes().first_chunk::<2>() == key.as_bytes().first_chunk::<2>();
    let candidates = MODULES.iter().filter(begins_alike);
    let behind = candidates.filter_map(|module| key.strip_prefix(module)?.strip_prefix('.'));
    match behind.map(str::len).min() {
        Some(rest) => {
            let (module, rest) = key.split_at(key.len() - rest);
            &key[..module.len() + rest.find('.').unwrap_or(rest.len())]
        }
        None => first,
    }
}

fn position(params: &[Param], name: &str) -> Option<usize> {
    params.iter().position(|param| param.name == name)
}

impl Signature {
    /// Parses a schema. Returns `None` if it is malformed. A test checks every row of the table.
    pub fn parse(text: &'static str) -> Option<Signature> {
        let (head, returns) = text.split_once(" -> ")?;
        let (key, params) = head.split_once('(')?;
        let params = params.strip_suffix(')')?;
        let mut out = Vec::new();
        let mut keyword_only = false;
        for part in split_params(params) {
            match part {
                "*" => keyword_only = true,
                "{factory}" => {
                    for shared in split_params(FACTORY) {
                        out.push(Param::parse(shared, keyword_only)?);
                    }
                }
                part => out.push(Param::parse(part, keyword_only)?),
            }
        }
        let name = name_in(key);
        let in_place = out.first().is_some_and(|p| p.written);
        let switch = out.iter().position(|p| p.name == "inplace");
        let (out_at, requires_grad) = (position(&out, "out"), position(&out, "requires_grad"));
        let positional = out.iter().filter(|p| !p.keyword_only).count();
        let unbounded = out.iter().any(|p| p.kind == Kind::Rest);
        let python = name.starts_with("py.")
            || out.first().is_some_and(|p| p.name == "self" && matches!(p.kind, Kind::Sequence | Kind::Str));
        Some(Signature {
            name,
            key,
            params: out,
            returns,
            positional,
            unbounded,
            in_place,
            switch,
            finishes: out_at.is_some() || requires_grad.is_some(),
            out: out_at,
            requires_grad,
            python,
            places: Vec::new(),
        })
    }

    /// Returns the signature with its parameters in a deprecated order: the named ones, all required, then `out`.
    pub fn reordered(&self, order: &str, method: bool) -> Signature {
        let this = if method { Some("self") } else { None };
        let names = order.split(' ').filter(|name| !(method && *name == "self"));
        let names: Vec<&str> = this.into_iter().chain(names).chain(["out"]).collect();
        let places: Vec<usize> =
            names.iter().filter_map(|name| self.params.iter().position(|param| param.name == *name)).collect();
        let params = places.iter().filter_map(|place| self.params.get(*place)).map(|param| match param.name {
            "out" => param.clone(),
            _ => Param { keyword_only: false, default: None, default_text: "", ..param.clone() },
        });
        let params: Vec<Param> = params.collect();
        let positional = params.iter().filter(|param| !param.keyword_only).count();
        let (out, requires_grad) = (position(&params, "out"), position(&params, "requires_grad"));
        Signature { params, positional, places, out, requires_grad, ..self.clone() }
    }

    /// Returns whether this is one of Python's builtins, or a method of its values. PyTorch's own handling of calls
    /// does not apply to it.
    #[inline]
    pub fn is_python(&self) -> bool {
        self.python
    }

    /// Returns whether the function takes dimension names.
    pub fn takes_names(&self) -> bool {
        self.params.iter().any(|param| param.kind.is_of_names())
    }

    /// Returns the class of the first parameter, if that makes the function a method.
    pub fn receiver(&self) -> Option<Kind> {
        let kind = self.params.first().filter(|p| p.name == "self")?.kind;
        Some(if kind == Kind::Operand { Kind::Tensor } else { kind })
    }

    /// Returns the parameters that a caller passes: all but `self` for a method.
    pub fn visible(&self, method: bool) -> &[Param] {
        if method { self.params.get(1..).unwrap_or_default() } else { &self.params }
    }

    /// Lists the overloads that the signature represents, as error messages do. If it has `Either`, the overload with
    /// tensors comes first, followed by those with a number in one place.
    pub(crate) fn listings(&self, method: bool) -> Vec<String> {
        let params = self.visible(method);
        let mut listings = vec![self.listing(method)];
        for (i, param) in params.iter().enumerate() {
            let Some(either) = param.either else { continue };
            let number = Param { kind: Kind::Number, ..param.clone() };
            let mut params: Vec<Param> = [&params[..i], &[number], &params[i + 1..]].concat();
            params.retain(|param| either == Either::Whole || param.name != "out");
            listings.push(listed(&params));
        }
        listings
    }

    /// Returns the numbers of arguments that each of these overloads accepts.
    pub fn lengths(&self, method: bool) -> impl Iterator<Item = RangeInclusive<usize>> {
        let params = self.visible(method);
        let required = params.iter().filter(|param| param.default.is_none()).count();
        let without_out = params.iter().filter(|param| param.name != "out").count();
        let most = params.iter().filter_map(|param| param.either).map(move |either| match either {
            Either::Whole => None,
            Either::New => Some(without_out),
        });
        let whole = params.len();
        std::iter::once(None).chain(most).map(move |most| required..=most.unwrap_or(whole))
    }

    /// Returns whether the signature represents several overloads.
    pub(crate) fn is_several(&self, method: bool) -> bool {
        self.visible(method).iter().any(|param| param.either.is_some())
    }

    /// Lists the signature as error messages do: `(Tensor input, int dim0, int dim1)`.
    pub fn listing(&self, method: bool) -> String {
        listed(self.visible(method))
    }
}

/// Lists parameters as error messages do.
fn listed(params: &[Param]) -> String {
    let mut text = String::from("(");
    let mut starred = false;
    for (i, param) in params.iter().enumerate() {
        if i > 0 {
            text += ", ";
        }
        if param.keyword_only && !starred {
            text += "*, ";
            starred = true;
        }
        text += param.kind.type_name();
        text += " ";
        text += param.shown_name();
        if param.default.is_some() {
            text += " = ";
            text += param.default_text;
        }
    }
    text + ")"
}

impl Signature {
    /// Returns the name in argument errors, which includes the module for some modules.
    pub fn called(&self) -> std::borrow::Cow<'static, str> {
        match self.name.rsplit_once('.') {
            Some((module @ ("special" | "fft" | "linalg"), name)) => format!("{module}_{name}").into(),
            Some((_, name)) => name.into(),
            None => self.name.into(),
        }
    }

    /// Returns whether a result may be or hold a tensor.
    pub(crate) fn may_return_tensor(&self) -> bool {
        self.returns.contains("Tensor") || self.returns == "any"
    }

    /// Returns whether a result shares memory with an argument (`Tensor(a)` in the result).
    pub fn is_view(&self) -> bool {
        self.returns.starts_with("Tensor(a)")
    }
}

impl Param {
    fn parse(text: &'static str, keyword_only: bool) -> Option<Param> {
        let (declaration, default_text) = match text.split_once('=') {
            Some((declaration, default)) => (declaration, Some(default)),
            None => (text, None),
        };
        let (kind, name) = declaration.rsplit_once(' ')?;
        let (kind, nullable) = match kind.strip_suffix('?') {
            Some(kind) => (kind, true),
            None => (kind, false),
        };
        let symbolic = kind == "SymInt";
        let (kind, written) = Kind::parse(kind)?;
        let default = match default_text {
            Some(text) => Some(parse_default(text)?),
            None => None,
        };
        Some(Param {
            name,
            kind,
            nullable: nullable || default_text == Some("None"),
            keyword_only,
            default,
            default_text: default_text.unwrap_or_default(),
            written,
            either: match declaration.split_once(' ') {
                Some(("Either", _)) => Some(Either::Whole),
                Some(("EitherNew", _)) => Some(Either::New),
                _ => None,
            },
            symbolic,
        })
    }

    /// Returns the name in messages. A tensor that is `self` in a method is `input` in a function.
    pub fn shown_name(&self) -> &'static str {
        if self.name == "self" && self.kind != Kind::Number { "input" } else { self.name }
    }
}

/// Splits at top-level commas.
fn split_params(text: &'static str) -> impl Iterator<Item = &'static str> {
    let mut depth = 0;
    text.split(move |c| {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            _ => {}
        }
        c == ',' && depth == 0
    })
    .map(str::trim)
    .filter(|part| !part.is_empty())
}

fn parse_default(text: &'static str) -> Option<Default> {
    Some(match text {
        "None" => Default::None,
        "True" => Default::Bool(true),
        "False" => Default::Bool(false),
        "[]" | "()" | "{}" => Default::Ints(&[]),
        "[0]" => Default::Ints(&[0]),
        "[0,1]" => Default::Ints(&[0, 1]),
        "[-2,-1]" | "{-2,-1}" => Default::Ints(&[-2, -1]),
        "cpu" => Default::Device(Device::CPU),
        "torch.contiguous_format" => Default::MemoryFormat(MemoryFormat::Contiguous),
        "torch.preserve_format" => Default::MemoryFormat(MemoryFormat::Preserve),
        "torch.strided" => Default::Layout(TensorLayout::Strided),
        quoted if quoted.starts_with('"') => Default::Str(quoted.trim_matches('"')),
        number => match number.parse::<i64>() {
            Ok(i) => Default::Int(i),
            Err(_) => Default::Float(number.parse().ok()?),
        },
    })
}

/// Returns whether a keyword names the parameter. NumPy's spellings of some common names are accepted.
pub(crate) fn matches_name(param: &Param, keyword: &str) -> bool {
    let name = param.shown_name();
    keyword == name
        || matches!(
            (name, keyword),
            ("dim", "axis") | ("keepdim", "keepdims") | ("input", "x" | "a" | "x1") | ("other", "x2")
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schema_gives_names_kinds_and_the_listing() {
        let Some(s) = Signature::parse(
            "sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
        ) else {
            panic!("does not parse")
        };
        assert_eq!((s.name, s.key), ("sum", "sum.dim_IntList"));
        assert_eq!(s.receiver(), Some(Kind::Tensor));
        assert_eq!(s.listing(true), "(tuple of ints dim, bool keepdim = False, *, torch.dtype dtype = None)");
        assert_eq!(
            s.listing(false),
            "(Tensor input, tuple of ints dim, bool keepdim = False, *, torch.dtype dtype = None)"
        );
        assert!(s.params[1].nullable && !s.params[2].keyword_only && s.params[3].keyword_only);
    }
}
