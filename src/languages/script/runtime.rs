//! The script's part of a session, which no table function reads: variables as functions see them, and the functions
//! that the engine knows. State that both need is in [`State`], to which this dereferences.

use super::callback::EngineHandle;
use super::holders::Handles;
use super::input::{Defined, RhaiInput};
use super::modules::Modules;
use super::own;
use super::subscripts;
use super::values::{reaches_itself, to_dynamic};
use call::State;
use call::registry::Family;
use objects::iterate::iterate;
use objects::lazy;
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::ops::Deref;
use std::rc::Rc;
use tensor::{Result, limits};
use value::Value;

/// Constants in the engine's representation. The engine adds the constants of the running input.
pub type Constants = Rc<RefCell<BTreeMap<rhai::ImmutableString, rhai::Dynamic>>>;

/// The maximum number of parameters for script functions that share a name with a method.
pub(crate) const MOST_PARAMETERS: usize = 14;

/// The script's part of a session.
pub struct Runtime {
    pub state: Rc<State>,
    /// The engine that calls script functions.
    pub home: RefCell<EngineHandle>,
    /// Whether the text being parsed contains a `switch`, in which `_` is not a name.
    pub has_switch: Cell<bool>,
    /// The table functions that the engine knows, and further ones named by the text being parsed.
    pub known: RefCell<HashSet<&'static str>>,
    pub named: RefCell<Vec<&'static Family>>,
    /// The same for attributes of the table and members of `torch`.
    pub known_attributes: RefCell<HashSet<&'static str>>,
    pub named_attributes: RefCell<Vec<&'static str>>,
    /// The functions whose bare name means something different from their method, and whether any text has used the
    /// bare name.
    pub bare: RefCell<HashMap<&'static str, Rc<Cell<bool>>>>,
    /// Whether a text has named functions by strings, which could be any.
    pub names_functions: Cell<bool>,
    /// Script functions that share their name with a table function, by number of parameters, and those among them that
    /// the engine does not know yet.
    pub shadowed: RefCell<HashSet<(&'static str, usize)>>,
    pub shadowing: RefCell<Vec<(&'static str, usize)>>,
    /// Variables as script functions see them.
    pub globals: RefCell<HashMap<String, rhai::Dynamic>>,
    /// The constants of the running input and of earlier inputs, which functions also see as `global::NAME`.
    pub constants: RefCell<Option<Constants>>,
    /// The variables created by earlier inputs, with the names of their classes.
    pub variables: RefCell<HashMap<String, String>>,
    /// The functions defined by scripts.
    pub defined: RefCell<BTreeMap<String, Defined>>,
    /// The running input.
    pub cell: RefCell<RhaiInput>,
    /// The positions where texts assign to subscripts and attributes, by the engine's source name.
    pub assigned: RefCell<HashMap<Rc<str>, HashSet<rhai::Position>>>,
    /// The latest reads of subscripts and attributes by the engine: target, subscript and value. The engine writes
    /// these values back.
    pub read: RefCell<VecDeque<(Value, Value, Value)>>,
    /// The identity of the tensor that an operator has just modified in place.
    pub changed: Cell<Option<usize>>,
    /// Whether a Rhai line is being read as Python, with the names of Rhai lines defined as well.
    pub is_rhai: Cell<bool>,
    /// The operators whose result a note has compared with Python's, and the notes of the running input.
    pub noted: RefCell<BTreeSet<&'static str>>,
    pub notes: RefCell<Vec<(&'static str, String)>>,
    /// The depth of nested calls back into the script.
    pub callbacks: Cell<usize>,
    /// Storage handles that only the session holds: the undo history, and copies of variables.
    pub remembered: RefCell<Handles>,
    /// The imported scripts.
    pub modules: Modules,
}

impl Deref for Runtime {
    type Target = State;
    fn deref(&self) -> &State {
        &self.state
    }
}

impl Runtime {
    pub fn new(state: Rc<State>) -> Runtime {
        Runtime {
            state,
            home: RefCell::default(),
            has_switch: Cell::new(false),
            known: RefCell::default(),
            named: RefCell::default(),
            known_attributes: RefCell::default(),
            named_attributes: RefCell::default(),
            bare: RefCell::default(),
            names_functions: Cell::new(false),
            shadowed: RefCell::default(),
            shadowing: RefCell::default(),
            globals: RefCell::default(),
            constants: RefCell::default(),
            variables: RefCell::default(),
            defined: RefCell::default(),
            cell: RefCell::default(),
            assigned: RefCell::default(),
            read: RefCell::default(),
            changed: Cell::default(),
            is_rhai: Cell::new(false),
            noted: RefCell::default(),
            notes: RefCell::default(),
            callbacks: Cell::new(0),
            remembered: RefCell::default(),
            modules: Modules::default(),
        }
    }

    /// Returns whether a function of this name exists in the table, in Rhai or in a script.
    pub(crate) fn is_function(&self, name: &str) -> bool {
        self.registry.family(name).is_some()
            || own::functions().any(|own| own == name)
            || self.defined.borrow().contains_key(name)
    }

    /// Returns the number of parameters of a script function, if all functions of that name have the same number.
    pub(crate) fn only_arity(&self, name: &str) -> Option<usize> {
        let defined = self.defined.borrow();
        let parameters = &defined.get(name)?.parameters;
        parameters.first().copied().filter(|_| parameters.len() == 1)
    }

    /// Returns the input that defines a function; `here` for an undefined function or `None`.
    pub(crate) fn cell_of(&self, function: Option<&str>, here: &RhaiInput) -> RhaiInput {
        let defined = self.defined.borrow();
        function.and_then(|name| defined.get(name)).map_or(here, |defined| &defined.cell).clone()
    }

    /// Returns the input that the engine knows by this source name; the running input if there is none.
    pub(crate) fn cell_of_source(&self, source: Option<&str>) -> RhaiInput {
        let defined = self.defined.borrow();
        if let Some(module) = source.and_then(|source| self.modules.source(source)) {
            return module.cell.clone();
        }
        let found = source.and_then(|source| defined.values().find(|defined| *defined.cell.id == *source));
        found.map_or_else(|| self.cell.borrow().clone(), |defined| defined.cell.clone())
    }

    /// Records the functions of a text that share their name with a table function.
    pub(crate) fn note_shadowed(&self, ast: &rhai::AST) {
        for function in ast.iter_functions().filter(|function| function.params.len() <= MOST_PARAMETERS) {
            if let Some(family) = self.registry.family(function.name) {
                let shadow = (family.name, function.params.len());
                if self.shadowed.borrow_mut().insert(shadow) {
                    self.shadowing.borrow_mut().push(shadow);
                }
            }
        }
    }

    /// Records where a text assigns to subscripts and attributes.
    pub fn note_assigned(&self, id: &Rc<str>, ast: &rhai::AST) {
        let found = subscripts::assigned(ast);
        if !found.is_empty() {
            self.assigned.borrow_mut().insert(id.clone(), found);
        }
    }

    /// Returns whether a text assigns at a position. Without a source, the text is the running input.
    pub(crate) fn assigns(&self, source: Option<&str>, position: rhai::Position) -> bool {
        let assigned = self.assigned.borrow();
        let found = match source {
            Some(source) => assigned.get(source),
            None => assigned.get(&self.cell.borrow().id),
        };
        found.is_some_and(|found| found.contains(&position))
    }

    /// Converts a function's result for the script language. Iterators are collected into an array.
    ///
    /// # Errors
    /// Fails with the iterator's error, or MemoryError.
    pub(crate) fn to_script(&self, value: Value) -> Result<rhai::Dynamic> {
        // No other value is allocated or copied here.
        if !matches!(value, Value::Object(_) | Value::Str(_) | Value::List(_) | Value::Set(_)) {
            return Ok(to_dynamic(value));
        }
        // The keys, values and items of a dictionary become an array, like those of an object map.
        if let Value::Object(object) = &value
            && matches!(object.type_name(), "dict_keys" | "dict_values" | "dict_items")
        {
            return Ok(to_dynamic(Value::list(iterate(&self.state, &value)?.collect()?)));
        }
        let value = match lazy::drained(&self.state, &value)? {
            Some(items) => Value::List(items.into()),
            None => value,
        };
        if !matches!(&value, Value::List(list) if reaches_itself(list)) {
            limits::grown_to::<u8>(copied(&value))?;
        }
        Ok(to_dynamic(value))
    }
}

/// Returns the number of bytes that converting a value to the script language allocates. Strings and lists are copied
/// once for each occurrence in the value.
fn copied(value: &Value) -> usize {
    let held = |items: &[Value]| {
        let room = items.len().saturating_mul(size_of::<rhai::Dynamic>());
        items.iter().map(copied).fold(room, usize::saturating_add)
    };
    match value {
        Value::Str(text) => text.len(),
        Value::List(list) => held(&list.borrow()),
        Value::Set(set) => held(&set.to_vec()),
        _ => 0,
    }
}
