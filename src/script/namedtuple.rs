//! `collections.namedtuple`: classes of tuples with named fields.

use super::callable::{Scripted, split_keywords};
use super::fault;
use super::list::List;
use super::parameters::Parameters;
use super::value::{object, to_dynamic, to_value};
use crate::tensor::{Error, Result};
use crate::value::equality::truth;
use crate::value::{NamedTuple, Object, Value, intern};
use rhai::{Array, Dynamic, Map};
use std::any::Any;
use std::rc::Rc;

/// A class of such tuples.
pub struct NamedTupleClass {
    path: &'static str,
    fields: Vec<&'static str>,
    parameters: Parameters,
}

impl Object for NamedTupleClass {
    fn class_name(&self) -> &'static str {
        "type"
    }
    fn repr(&self) -> String {
        format!("<class '{}'>", self.path)
    }
    fn attribute(&self, name: &str) -> Option<Value> {
        match name {
            "_fields" => Some(Value::tuple(self.fields.iter().map(Value::str))),
            "__name__" | "__qualname__" => self.path.rsplit('.').next().map(Value::str),
            _ => None,
        }
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl NamedTupleClass {
    /// A tuple of this class.
    pub fn make(&self, args: Array, keywords: Map) -> Scripted<Dynamic> {
        let values = self.parameters.bind(args, keywords).map_err(fault::thrown)?;
        let values = values.iter().map(to_value).collect::<Result<Vec<_>>>().map_err(fault::thrown)?;
        let fields = self.fields.iter().copied().zip(values).collect();
        Ok(to_dynamic(Value::NamedTuple(Rc::new(NamedTuple { type_name: self.path, fields }))))
    }
}

/// `namedtuple(name, fields, *, rename=False, defaults=None)`
pub fn class(args: Array) -> Scripted<Dynamic> {
    let (args, keywords) = split_keywords(args);
    made(&args, &keywords).map_err(fault::thrown)
}

fn made(args: &[Dynamic], keywords: &Map) -> Result<Dynamic> {
    let [name, fields] = args else {
        return Err(Error::type_error("namedtuple() takes 2 positional arguments"));
    };
    let name = name.to_string();
    let fields: Vec<String> = match to_value(fields)? {
        Value::Str(text) => text.replace(',', " ").split_whitespace().map(str::to_owned).collect(),
        other => {
            let fields = other.sequence().unwrap_or_default();
            fields
                .iter()
                .map(|field| if let Value::Str(text) = field { text.to_string() } else { String::new() })
                .collect()
        }
    };
    for (i, field) in fields.iter().enumerate() {
        let valid = rhai::is_valid_identifier(field);
        if !valid {
            return Err(Error::value(format!("Type names and field names must be valid identifiers: '{field}'")));
        }
        if field.starts_with('_') {
            return Err(Error::value(format!("Field names cannot start with an underscore: '{field}'")));
        }
        if fields.iter().take(i).any(|other| other == field) {
            return Err(Error::value(format!("Encountered duplicate field name: '{field}'")));
        }
    }
    if keywords.get("rename").map_or(Ok(false), |rename| truth(&to_value(rename)?))? {
        return Err(Error::not_implemented("namedtuple() with rename=True is not supported at this prompt"));
    }
    let given = match keywords.get("defaults").filter(|given| !given.is_unit()) {
        Some(given) => given.read_lock::<List>().map_or_else(
            || Ok(to_value(given)?.sequence().unwrap_or_default().into_iter().map(to_dynamic).collect()),
            |list| Result::Ok(list.items()),
        )?,
        None => Vec::new(),
    };
    if given.len() > fields.len() {
        return Err(Error::type_error("Got more default values than field names"));
    }
    let defaults =
        fields.iter().skip(fields.len() - given.len()).map(|field| field.as_str().into()).zip(given).collect();
    let names: Array = fields.iter().cloned().map(Dynamic::from).collect();
    let parameters = Parameters::new(&format!("{name}.__new__"), &names, defaults);
    let path = intern(&format!("__main__.{name}"));
    let fields = fields.iter().map(|field| intern(field)).collect();
    Ok(object(Rc::new(NamedTupleClass { path, fields, parameters })))
}
