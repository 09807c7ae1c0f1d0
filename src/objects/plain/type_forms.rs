//! Forms of types: unions (`int | None`) and parametrised classes (`list[int]`), as annotations have them.

use crate::calling::{NativeFunction, call_plain, call_value};
use crate::members;
use call::State;
use call::state::Import;
use explain::format;
use std::rc::Rc;
use tensor::{Result, bail};
use value::equality::{NotImplemented, equal, is};
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
    state: Rc<State>,
}

/// The special methods of a [`GenericAlias`].
pub const SPECIAL: [&str; 6] = ["__eq__", "__getitem__", "__hash__", "__or__", "__repr__", "__ror__"];

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
            let text = format::repr_by_default(value).unwrap_or_else(|_| object.repr());
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
pub(crate) fn parametrised(state: &State, class: &'static str, index: &Value) -> Option<Value> {
    GENERIC.contains(&class).then(|| alias(state, Value::Type(class), index.clone()))
}

/// `types.GenericAlias(origin, args)`
pub fn alias(state: &State, origin: Value, args: Value) -> Value {
    let args = match args {
        Value::Tuple(items) => items.to_vec(),
        one => vec![one],
    };
    Value::Object(Rc::new(GenericAlias { origin, args, state: state.handle() }))
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
        match name {
            "__args__" => Some(Value::tuple(self.args.clone())),
            "__parameters__" => Some(Value::tuple([])),
            _ => None,
        }
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

impl GenericAlias {
    fn itself(&self) -> Value {
        let (origin, args, state) = (self.origin.clone(), self.args.clone(), self.state.clone());
        Value::Object(Rc::new(GenericAlias { origin, args, state }))
    }

    /// Returns the type parameters among the arguments, in the order of their first occurrence.
    fn parameters(&self) -> Vec<Value> {
        let mut found: Vec<Value> = Vec::new();
        for arg in &self.args {
            let own = |name: &str| match arg {
                Value::Object(object) => match object.own_attribute(name) {
                    Some(found) => found.ok(),
                    None => object.attribute(name),
                },
                _ => None,
            };
            let parameters = match own("__typing_subst__") {
                Some(_) => vec![arg.clone()],
                None => own("__parameters__").and_then(|parameters| parameters.sequence()).unwrap_or_default(),
            };
            for parameter in parameters {
                if !found.iter().any(|known| is(known, &parameter)) {
                    found.push(parameter);
                }
            }
        }
        found
    }

    /// `alias[item]`: puts types in the places of the parameters.
    fn substituted(&self, item: &Value) -> Result<Value> {
        let parameters = self.parameters();
        if parameters.is_empty() {
            bail!(TypeError, "{} is not a generic class", self.repr());
        }
        let Some(importer) = self.state.importer.borrow().clone() else {
            bail!(RuntimeError, "there is nothing to import from here")
        };
        let module = importer(Import::Module("_generic_alias"))?;
        let substituted = members::attribute(&self.state, &module, "substituted")?;
        let args = vec![self.itself(), Value::tuple(self.args.clone()), Value::tuple(parameters), item.clone()];
        let args = call_plain(&self.state, &substituted, args)?;
        Ok(alias(&self.state, self.origin.clone(), args))
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
    fn own_attribute(&self, name: &str) -> Option<Result<Value>> {
        match name {
            "__args__" => Some(Ok(Value::tuple(self.args.clone()))),
            "__origin__" => Some(Ok(self.origin.clone())),
            "__parameters__" => Some(Ok(Value::tuple(self.parameters()))),
            "__unpacked__" => Some(Ok(Value::Bool(false))),
            "__mro_entries__" => {
                let origin = self.origin.clone();
                Some(Ok(NativeFunction::value(name, move |_, _| Ok(Value::tuple([origin.clone()])))))
            }
            "__class__" | "__reduce__" | "__reduce_ex__" | "__copy__" | "__deepcopy__" => None,
            _ if SPECIAL.contains(&name) => {
                let (this, called) = (self.itself(), name.to_owned());
                Some(Ok(NativeFunction::value(name, move |args, _| match &this {
                    Value::Object(this) => this.special(&called, &args).unwrap_or(Ok(Value::None)),
                    _ => Ok(Value::None),
                })))
            }
            _ => Some(members::attribute(&self.state, &self.origin, name)),
        }
    }
    fn is_callable(&self) -> bool {
        true
    }
    fn call(&self, args: Vec<Value>, keywords: value::Keywords) -> Option<Result<Value>> {
        let made = call_value(&self.state, &self.origin, args, keywords);
        if let Ok(Value::Object(object)) = &made {
            // Objects that cannot have it do without.
            drop(object.set_attribute("__orig_class__", &self.itself()));
        }
        Some(made)
    }
    fn has_special(&self, name: &str) -> bool {
        SPECIAL.contains(&name)
    }
    fn special(&self, name: &str, args: &[Value]) -> Option<Result<Value>> {
        match (name, args.first()) {
            ("__or__" | "__ror__", _) => joined(name, &self.itself(), args),
            ("__getitem__", Some(item)) => Some(self.substituted(item)),
            ("__repr__", _) => Some(Ok(Value::str(self.repr()))),
            ("__hash__", _) => {
                Some(Ok(Value::Int(hash_of(&self.args).wrapping_add(hash_of(std::slice::from_ref(&self.origin))))))
            }
            ("__eq__", Some(other)) => {
                let held = other.underlying();
                let Some(other) = form::<GenericAlias>(held.as_ref().unwrap_or(other)) else {
                    return Some(Ok(Value::Object(Rc::new(NotImplemented))));
                };
                let pairs = self.args.iter().zip(&other.args);
                let is_as_long = self.args.len() == other.args.len();
                Some(Ok(Value::Bool(
                    is_as_long && equal(&self.origin, &other.origin) && pairs.into_iter().all(|(a, b)| equal(a, b)),
                )))
            }
            _ => None,
        }
    }
}
