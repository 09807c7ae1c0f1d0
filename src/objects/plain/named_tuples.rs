//! `collections.namedtuple`: classes of tuples with named fields. Follows
//! <https://docs.python.org/3.11/library/collections.html#collections.namedtuple>.

use crate::calling::NativeFunction;
use crate::iterate::items;
use call::bind::missing_names;
use call::module_names::is_keyword;
use call::{Call, Keywords, Row, State, function};
use std::rc::{Rc, Weak};
use tensor::{Error, Result, bail};
use value::equality::{is, truth};
use value::{Dict, NamedTuple, Object, Value, intern};

pub(crate) const ROWS: &[Row] = &[function(
    "collections.namedtuple(any typename, any field_names, *, any rename=False, any defaults=None, any module=None) -> any",
    class,
    "Creates a class of tuples whose items have names.",
)
.python("namedtuple")];

/// A class that `namedtuple` has created.
pub(crate) struct NamedTupleClass {
    own: Weak<NamedTupleClass>,
    state: Rc<State>,
    path: &'static str,
    fields: Vec<&'static str>,
    /// The default values of the last fields.
    defaults: Vec<Value>,
}

impl Object for NamedTupleClass {
    fn class_name(&self) -> &'static str {
        "type"
    }
    fn repr(&self) -> String {
        format!("<class '{}'>", self.path)
    }
    fn attribute(&self, name: &str) -> Option<Value> {
        let this = self.own.upgrade()?;
        Some(match name {
            "_fields" | "__match_args__" => Value::tuple(self.fields.iter().map(Value::str)),
            "__name__" | "__qualname__" => Value::str(self.name()),
            "__module__" => Value::str("__main__"),
            "__doc__" => Value::str(format!("{}({})", self.name(), self.fields.join(", "))),
            "_field_defaults" => {
                let skipped = self.fields.len().saturating_sub(self.defaults.len());
                let names = self.fields.iter().copied().skip(skipped);
                Value::Dict(Dict::of_names(names.zip(self.defaults.iter().cloned())))
            }
            "_make" => NativeFunction::value(name, move |args, _| {
                let Some(source) = args.first() else {
                    bail!(TypeError, "{}._make() missing 1 required positional argument: 'iterable'", this.name())
                };
                let values = items(&this.state, source)?;
                if values.len() != this.fields.len() {
                    bail!(TypeError, "Expected {} arguments, got {}", this.fields.len(), values.len());
                }
                Ok(this.tuple(values))
            }),
            // Read from the class, these methods take the tuple as their first argument.
            "_asdict" | "_replace" => {
                let name = name.to_owned();
                NativeFunction::value(&name.clone(), move |mut args, keywords| {
                    if args.is_empty() {
                        bail!(TypeError, "{}.{name}() missing 1 required positional argument: 'self'", this.name());
                    }
                    match args.remove(0) {
                        Value::NamedTuple(tuple) => match attribute(&this.state, &tuple, &name) {
                            Some(Value::Object(method)) => method.call(args, keywords).unwrap_or(Ok(Value::None)),
                            _ => Ok(Value::None),
                        },
                        other => bail!(AttributeError, "'{}' object has no attribute '{name}'", other.type_name()),
                    }
                })
            }
            _ => return None,
        })
    }
    fn is_callable(&self) -> bool {
        true
    }
    fn call(&self, args: Vec<Value>, keywords: Keywords) -> Option<Result<Value>> {
        Some(self.bind(args, keywords).map(|values| self.tuple(values)))
    }
    fn derives(&self, class: &Value) -> Option<bool> {
        Some(match class {
            Value::Type(name) => matches!(*name, "tuple" | "object"),
            Value::Object(other) => self.own.upgrade().is_some_and(|own| {
                let own: Rc<dyn Object> = own;
                is(&Value::Object(own), &Value::Object(other.clone()))
            }),
            _ => false,
        })
    }
}

impl NamedTupleClass {
    fn name(&self) -> &'static str {
        self.path.rsplit('.').next().unwrap_or(self.path)
    }

    /// Creates a tuple of this class.
    fn tuple(&self, values: Vec<Value>) -> Value {
        let fields = self.fields.iter().copied().zip(values).collect();
        let class = self.own.upgrade().map(|own| own as Rc<dyn Object>);
        Value::NamedTuple(Rc::new(NamedTuple { type_name: self.path, fields, class }))
    }

    /// Binds arguments to the fields, with the errors of a function written in Python.
    fn bind(&self, args: Vec<Value>, keywords: Keywords) -> Result<Vec<Value>> {
        let (name, count, given) = (self.name(), self.fields.len(), args.len());
        if given > count {
            let least = count - self.defaults.len();
            // Python counts the class as an argument.
            let takes =
                if least < count { format!("from {} to {}", least + 1, count + 1) } else { (count + 1).to_string() };
            let plural = if count == 0 { "" } else { "s" };
            bail!(TypeError, "{name}.__new__() takes {takes} positional argument{plural} but {} were given", given + 1);
        }
        let mut values: Vec<Option<Value>> = args.into_iter().map(Some).collect();
        values.resize(count, None);
        for (key, value) in keywords {
            match self.fields.iter().position(|field| *field == &*key).and_then(|place| values.get_mut(place)) {
                Some(slot @ None) => *slot = Some(value),
                Some(Some(_)) => bail!(TypeError, "{name}.__new__() got multiple values for argument '{key}'"),
                None => bail!(TypeError, "{name}.__new__() got an unexpected keyword argument '{key}'"),
            }
        }
        for (slot, default) in values.iter_mut().rev().zip(self.defaults.iter().rev()) {
            slot.get_or_insert_with(|| default.clone());
        }
        let missing = self.fields.iter().zip(&values).filter(|(_, value)| value.is_none());
        let missing: Vec<&str> = missing.map(|(field, _)| field.as_ref()).collect();
        if !missing.is_empty() {
            return Err(missing_names(&format!("{name}.__new__"), "positional", &missing));
        }
        Ok(values.into_iter().flatten().collect())
    }
}

fn is_reserved(word: &str) -> bool {
    is_keyword(word) || matches!(word, "True" | "False" | "None")
}

fn is_identifier(name: &str) -> bool {
    let mut letters = name.chars();
    letters.next().is_some_and(|first| first == '_' || first.is_alphabetic())
        && letters.all(|letter| letter == '_' || letter.is_alphanumeric())
}

fn class(call: &mut Call) -> Result<Value> {
    let name = call.state.str(&call.value(0))?;
    let mut fields: Vec<String> = match call.value(1) {
        Value::Str(text) => text.replace(',', " ").split_whitespace().map(str::to_owned).collect(),
        other => items(call.state, &other)?.iter().map(|field| call.state.str(field)).collect::<Result<_>>()?,
    };
    if truth(&call.value(2))? {
        for place in 0..fields.len() {
            let (before, rest) = fields.split_at_mut(place);
            let Some(field) = rest.first_mut() else { break };
            let bad = !is_identifier(field) || is_reserved(field) || field.starts_with('_');
            if bad || before.contains(field) {
                *field = format!("_{place}");
            }
        }
    }
    for word in fields.iter().chain([&name]) {
        if !is_identifier(word) {
            bail!(
                ValueError,
                "Type names and field names must be valid identifiers: {}",
                explain::format::str_repr(word)
            );
        }
        if is_reserved(word) {
            bail!(ValueError, "Type names and field names cannot be a keyword: {}", explain::format::str_repr(word));
        }
    }
    let renamed = truth(&call.value(2))?;
    for (i, field) in fields.iter().enumerate() {
        if field.starts_with('_') && !renamed {
            bail!(ValueError, "Field names cannot start with an underscore: '{field}'");
        }
        if fields.iter().take(i).any(|other| other == field) {
            bail!(ValueError, "Encountered duplicate field name: '{field}'");
        }
    }
    let defaults = if call.is_none(3) { Vec::new() } else { items(call.state, &call.value(3))? };
    if defaults.len() > fields.len() {
        bail!(TypeError, "Got more default values than field names");
    }
    let path = intern(&format!("__main__.{name}"));
    let fields = fields.iter().map(|field| intern(field)).collect();
    let state = call.state.handle();
    let class = Rc::new_cyclic(|own| NamedTupleClass { own: own.clone(), state, path, fields, defaults });
    Ok(Value::Object(class))
}

/// Returns an attribute of a named tuple other than a field.
pub(crate) fn attribute(state: &State, tuple: &Rc<NamedTuple>, name: &str) -> Option<Value> {
    if let Some(own) = tuple.class.as_ref().filter(|_| !matches!(name, "_asdict" | "_replace")) {
        return own.attribute(name).filter(|_| name.starts_with('_'));
    }
    let (state, tuple) = (state.handle(), tuple.clone());
    let is_ours = tuple.class.is_some();
    Some(match name {
        "_asdict" if is_ours => NativeFunction::value(name, move |_, _| {
            Ok(Value::Dict(Dict::of_names(tuple.fields.iter().map(|(field, value)| (*field, value.clone())))))
        }),
        "_replace" if is_ours => NativeFunction::value(name, move |_, keywords| {
            let mut fields = tuple.fields.clone();
            let mut unknown = Vec::new();
            for (key, value) in keywords {
                match fields.iter_mut().find(|(field, _)| *field == &*key) {
                    Some((_, slot)) => *slot = value,
                    None => unknown.push(Value::Str(key.into())),
                }
            }
            if !unknown.is_empty() {
                let names = state.repr(&Value::list(unknown))?;
                return Err(Error::value(format!("Got unexpected field names: {names}")));
            }
            let (type_name, class) = (tuple.type_name, tuple.class.clone());
            Ok(Value::NamedTuple(Rc::new(NamedTuple { type_name, fields, class })))
        }),
        _ => return None,
    })
}
