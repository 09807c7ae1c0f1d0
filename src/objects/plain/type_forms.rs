//! Forms of types: unions (`int | None`) and parametrised classes (`list[int]`), as annotations have them.

use std::rc::Rc;
use tensor::{Error, Result, bail};
use value::equality::{NotImplemented, equal};
use value::{Object, Value};

/// Builtin classes that take parameters.
const GENERIC: [&str; 7] = ["list", "dict", "tuple", "set", "frozenset", "type", "collections.OrderedDict"];

/// `int | str`
struct Union {
    args: Vec<Value>,
}

/// `list[int]`
struct GenericAlias {
    origin: Value,
    args: Vec<Value>,
}

fn form<T: Object>(value: &Value) -> Option<&T> {
    match value {
        Value::Object(object) => object.as_any().downcast_ref(),
        _ => None,
    }
}

fn is_class(value: &Value) -> bool {
    match value {
        Value::Type(_) => true,
        Value::Object(object) => object.derives(value).is_some(),
        _ => false,
    }
}

/// Returns a type as a form shows it: a class by its path, without the module of a builtin one.
fn shown(value: &Value) -> String {
    match value {
        Value::None | Value::Type("NoneType") => "None".to_owned(),
        Value::Ellipsis => "...".to_owned(),
        Value::Type(path) => (*path).to_owned(),
        Value::List(items) => {
            format!("[{}]", items.to_vec().iter().map(shown).collect::<Vec<_>>().join(", "))
        }
        Value::Str(text) => format!("'{}'", &**text),
        Value::Object(object) => {
            let text = object.repr();
            text.strip_prefix("<class '").and_then(|rest| rest.strip_suffix("'>")).map(str::to_owned).unwrap_or(text)
        }
        other => other.type_name().to_owned(),
    }
}

/// Returns `a | b` if both are types, and at least one is not `None`.
pub(crate) fn union(a: &Value, b: &Value) -> Option<Value> {
    let is_form = |value: &Value| form::<Union>(value).is_some() || form::<GenericAlias>(value).is_some();
    let is_type = |value: &Value| is_class(value) || is_form(value);
    let fits = |value: &Value| is_type(value) || matches!(value, Value::None);
    if !(fits(a) && fits(b) && (is_type(a) || is_type(b))) {
        return None;
    }
    let mut args: Vec<Value> = Vec::new();
    for value in [a, b] {
        let parts = form::<Union>(value).map_or_else(|| vec![value.clone()], |union| union.args.clone());
        for part in parts {
            let part = if matches!(part, Value::None) { Value::Type("NoneType") } else { part };
            if !args.iter().any(|known| equal(known, &part)) {
                args.push(part);
            }
        }
    }
    match args.as_slice() {
        [one] => Some(one.clone()),
        _ => Some(Value::Object(Rc::new(Union { args }))),
    }
}

/// Returns `class[index]` for a builtin class that takes parameters.
pub(crate) fn parametrised(class: &'static str, index: &Value) -> Option<Value> {
    let args = match index {
        Value::Tuple(items) => items.to_vec(),
        one => vec![one.clone()],
    };
    let origin = Value::Type(class);
    GENERIC.contains(&class).then(|| Value::Object(Rc::new(GenericAlias { origin, args })))
}

/// Returns the types of a union that an `isinstance` goes through.
///
/// # Errors
/// TypeError for a parametrised class, and for a union with one.
pub(crate) fn members(classes: &Value) -> Result<Option<Vec<Value>>> {
    let is_generic = |value: &Value| form::<GenericAlias>(value).is_some();
    let union = form::<Union>(classes);
    if is_generic(classes) || union.is_some_and(|union| union.args.iter().any(is_generic)) {
        bail!(TypeError, "isinstance() argument 2 cannot be a parameterized generic");
    }
    Ok(union.map(|union| union.args.clone()))
}

fn same_members(a: &[Value], b: &[Value]) -> bool {
    a.len() == b.len() && a.iter().all(|value| b.iter().any(|other| equal(value, other)))
}

/// A number that equal members give in any order.
fn hash_of(args: &[Value]) -> i64 {
    args.iter().fold(0, |sum: i64, value| {
        let bytes = shown(value);
        sum.wrapping_add(bytes.bytes().fold(7, |hash: i64, byte| hash.wrapping_mul(31).wrapping_add(i64::from(byte))))
    })
}

fn joined(name: &str, this: &Value, args: &[Value]) -> Option<Result<Value>> {
    let other = args.first()?;
    let made = if name == "__ror__" { union(other, this) } else { union(this, other) };
    Some(Ok(made.unwrap_or_else(|| Value::Object(Rc::new(NotImplemented)))))
}

impl Object for Union {
    fn type_name(&self) -> &str {
        "types.UnionType"
    }
    fn class_name(&self) -> &'static str {
        "types.UnionType"
    }
    fn repr(&self) -> String {
        self.args.iter().map(shown).collect::<Vec<_>>().join(" | ")
    }
    fn attribute(&self, name: &str) -> Option<Value> {
        (name == "__args__").then(|| Value::tuple(self.args.clone()))
    }
    fn has_special(&self, name: &str) -> bool {
        matches!(name, "__or__" | "__ror__" | "__eq__" | "__hash__")
    }
    fn special(&self, name: &str, args: &[Value]) -> Option<Result<Value>> {
        let this = || Value::Object(Rc::new(Union { args: self.args.clone() }));
        match name {
            "__or__" | "__ror__" => joined(name, &this(), args),
            "__hash__" => Some(Ok(Value::Int(hash_of(&self.args)))),
            "__eq__" => {
                let is_same = form::<Union>(args.first()?).is_some_and(|other| same_members(&self.args, &other.args));
                Some(Ok(Value::Bool(is_same)))
            }
            _ => None,
        }
    }
}

impl Object for GenericAlias {
    fn type_name(&self) -> &str {
        "types.GenericAlias"
    }
    fn class_name(&self) -> &'static str {
        "types.GenericAlias"
    }
    fn repr(&self) -> String {
        let args: Vec<String> = self.args.iter().map(shown).collect();
        format!("{}[{}]", shown(&self.origin), if args.is_empty() { "()".to_owned() } else { args.join(", ") })
    }
    fn attribute(&self, name: &str) -> Option<Value> {
        match name {
            "__args__" => Some(Value::tuple(self.args.clone())),
            "__origin__" => Some(self.origin.clone()),
            _ => None,
        }
    }
    fn is_callable(&self) -> bool {
        true
    }
    fn call(&self, _args: Vec<Value>, _keywords: value::Keywords) -> Option<Result<Value>> {
        let message =
            format!("objects of {} are not supported at this prompt; write {}()", self.repr(), shown(&self.origin));
        Some(Err(Error::not_implemented(message)))
    }
    fn has_special(&self, name: &str) -> bool {
        matches!(name, "__or__" | "__ror__" | "__eq__" | "__hash__")
    }
    fn special(&self, name: &str, args: &[Value]) -> Option<Result<Value>> {
        let this = || Value::Object(Rc::new(GenericAlias { origin: self.origin.clone(), args: self.args.clone() }));
        match name {
            "__or__" | "__ror__" => joined(name, &this(), args),
            "__hash__" => {
                Some(Ok(Value::Int(hash_of(&self.args).wrapping_add(hash_of(std::slice::from_ref(&self.origin))))))
            }
            "__eq__" => {
                let is_same = form::<GenericAlias>(args.first()?).is_some_and(|other| {
                    let pairs = self.args.iter().zip(&other.args);
                    let is_as_long = self.args.len() == other.args.len();
                    is_as_long && equal(&self.origin, &other.origin) && pairs.into_iter().all(|(a, b)| equal(a, b))
                });
                Some(Ok(Value::Bool(is_same)))
            }
            _ => None,
        }
    }
}
