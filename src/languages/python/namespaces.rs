//! `__dict__` of classes: a view of their members, which cannot be changed through it.

use super::class::Base;
use super::descriptors;
use super::machine::Machine;
use call::{Receiver, State};
use objects::{container_methods, members};
use std::rc::Rc;
use tensor::{Error, Result, bail};
use value::{Dict, Keywords, Object, ObjectState, Value};

/// `types.MappingProxyType(mapping)`: shows a mapping, and passes on what only reads it.
struct MappingProxy {
    mapping: Value,
    state: Rc<State>,
}

/// The methods that a mapping proxy passes on.
const METHODS: [&str; 5] = ["copy", "get", "items", "keys", "values"];
const SPECIAL: [&str; 9] =
    ["__contains__", "__eq__", "__getitem__", "__iter__", "__len__", "__ne__", "__or__", "__reversed__", "__ror__"];

impl Machine {
    /// Returns `__dict__` of a builtin class: the members that this program knows.
    pub(super) fn namespace_of(&self, class: &'static str) -> Result<Value> {
        if let Some(known) = self.namespaces.borrow().get(class) {
            return Ok(known.clone());
        }
        let state = &*self.state;
        let of = Value::Type(class);
        let mut names = container_methods::members_of(class);
        if class.starts_with("torch.")
            && let Some(kind) = objects::legacy_classes::kind_of_class(class)
        {
            let rows = state.registry.names(Receiver::Class(kind));
            names.extend(rows.into_iter().filter(|name| name.starts_with("__")));
        }
        names.extend(descriptors::native_names(class));
        let members = Dict::default();
        for name in names {
            if members.get_str(name).is_none() {
                let member = match Base::Builtin(class).find(name) {
                    Some(super::class::Entry::ObjectState(value)) => value,
                    _ => members::attribute(state, &of, name)?,
                };
                members.insert(Value::str(name), member)?;
            }
        }
        // Whether a class has these, `collections.abc` asks.
        if let Some(super::class::Entry::ObjectState(Value::None)) = Base::Builtin(class).find("__hash__") {
            members.insert(Value::str("__hash__"), Value::None)?;
        }
        if matches!(class, "function" | "builtin_function_or_method" | "method" | "type" | "numpy.ufunc") {
            let slot = Slot { owner: class, name: "__call__", kind: "wrapper_descriptor" };
            members.insert(Value::str("__call__"), Value::Object(Rc::new(slot)))?;
        }
        let view = self.view(Value::Dict(members));
        self.namespaces.borrow_mut().insert(class, view.clone());
        Ok(view)
    }

    /// Returns an attribute of a builtin class that its objects have, such as `types.FunctionType.__code__`.
    pub(super) fn slot_of(class: &str, name: &str) -> Option<Value> {
        let (owner, name, kind) = SLOTS.iter().find(|(owner, known, _)| *owner == class && *known == name)?;
        Some(Value::Object(Rc::new(Slot { owner, name, kind })))
    }

    /// Returns a view of a mapping.
    pub(super) fn view(&self, mapping: Value) -> Value {
        Value::Object(Rc::new(MappingProxy { mapping, state: self.state.clone() }))
    }

    /// `types.MappingProxyType(mapping)`
    ///
    /// # Errors
    /// TypeError unless there is one argument, a mapping.
    pub(super) fn proxy(&self, args: &[Value], keywords: &Keywords) -> Result<Value> {
        match args {
            [mapping] if keywords.is_empty() => match mapping {
                Value::Dict(_) | Value::Object(_) => Ok(self.view(mapping.clone())),
                other => bail!(TypeError, "mappingproxy() argument must be a mapping, not {}", other.type_name()),
            },
            [] => bail!(TypeError, "mappingproxy() missing required argument 'mapping' (pos 1)"),
            _ => bail!(TypeError, "mappingproxy() takes at most 1 argument ({} given)", args.len()),
        }
    }
}

impl Object for MappingProxy {
    fn class_name(&self) -> &'static str {
        "mappingproxy"
    }
    fn object_state(&self) -> ObjectState {
        ObjectState { values: vec![self.mapping.clone()], ..ObjectState::default() }
    }
    fn underlying(&self) -> Option<Value> {
        self.mapping.entries().map(|_| self.mapping.clone())
    }
    fn repr(&self) -> String {
        format!("mappingproxy({})", self.state.repr(&self.mapping).unwrap_or_default())
    }
    fn text(&self) -> String {
        self.state.str(&self.mapping).unwrap_or_default()
    }
    fn attribute(&self, name: &str) -> Option<Value> {
        METHODS.contains(&name).then(|| members::attribute(&self.state, &self.mapping, name).ok())?
    }
    fn iterator(&self) -> Option<Result<Value>> {
        self.special("__iter__", &[])
    }
    fn has_special(&self, name: &str) -> bool {
        SPECIAL.contains(&name)
    }
    fn special(&self, name: &str, args: &[Value]) -> Option<Result<Value>> {
        match &self.mapping {
            _ if name == "__hash__" => Some(Err(Error::type_error("unhashable type: 'mappingproxy'"))),
            _ if !SPECIAL.contains(&name) => None,
            Value::Object(mapping) => mapping.special(name, args),
            mapping => container_methods::call(&self.state, mapping, name, args, &Keywords::new()),
        }
    }
}

/// An attribute of a builtin class that its objects have: `types.FunctionType.__code__`.
struct Slot {
    owner: &'static str,
    name: &'static str,
    /// `getset_descriptor` or `member_descriptor`.
    kind: &'static str,
}

impl Object for Slot {
    fn class_name(&self) -> &'static str {
        self.kind
    }
    fn repr(&self) -> String {
        let what = if self.kind == "member_descriptor" { "member" } else { "attribute" };
        format!("<{what} '{}' of '{}' objects>", self.name, self.owner)
    }
    fn attribute(&self, name: &str) -> Option<Value> {
        match name {
            "__name__" => Some(Value::str(self.name)),
            "__objclass__" => Some(Value::Type(self.owner)),
            _ => None,
        }
    }
}

/// The slots of builtin classes that scripts name.
const SLOTS: &[(&str, &str, &str)] =
    &[("function", "__code__", "getset_descriptor"), ("function", "__globals__", "member_descriptor")];
