//! What the running script has, and no function of the table reads: variables as functions see them, and which functions
//! the engine knows. What both need is in [`State`], to which this gives way.

use super::callback::EngineHandle;
use super::cell::{self, Defined};
use super::holders::Handles;
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

/// Constants as the engine keeps them: it adds those of the input that runs.
pub type Constants = Rc<RefCell<BTreeMap<rhai::ImmutableString, rhai::Dynamic>>>;

/// More parameters than any function has that is called as a method.
pub(crate) const MOST_PARAMETERS: usize = 14;

/// The script's part of a session.
pub struct Runtime {
    pub state: Rc<State>,
    /// How to call functions of the script.
    pub home: RefCell<EngineHandle>,
    /// The text that is parsed now has a `switch`, in which `_` is not a name.
    pub has_switch: Cell<bool>,
    /// The functions of the table that the engine knows, and those that the text being parsed names besides.
    pub known: RefCell<HashSet<&'static str>>,
    pub named: RefCell<Vec<&'static Family>>,
    /// The same for attributes of the table and members of `torch`.
    pub known_attributes: RefCell<HashSet<&'static str>>,
    pub named_attributes: RefCell<Vec<&'static str>>,
    /// The functions whose bare name means something else than their method, and whether any text has used it so.
    pub bare: RefCell<HashMap<&'static str, Rc<Cell<bool>>>>,
    /// Whether a text has named functions by texts, which can be any.
    pub names_functions: Cell<bool>,
    /// Functions of scripts that share their name with one of the table, by their number of parameters, and those of them
    /// that the engine has still to be told.
    pub shadowed: RefCell<HashSet<(&'static str, usize)>>,
    pub shadowing: RefCell<Vec<(&'static str, usize)>>,
    /// Variables as functions of scripts see them.
    pub globals: RefCell<HashMap<String, rhai::Dynamic>>,
    /// The constants of the input that runs and of those before, which functions see as `global::NAME`, too.
    pub constants: RefCell<Option<Constants>>,
    /// The variables that earlier inputs have made, with the names of their classes.
    pub variables: RefCell<HashMap<String, String>>,
    /// The functions that scripts have defined.
    pub defined: RefCell<BTreeMap<String, Defined>>,
    /// The input that runs.
    pub cell: RefCell<cell::Cell>,
    /// Where texts assign to subscripts and attributes, by the names that the engine knows their sources by.
    pub assigned: RefCell<HashMap<Rc<str>, HashSet<rhai::Position>>>,
    /// What the engine has read last by subscripts and attributes: what, by which, and the value. It writes them back.
    pub read: RefCell<VecDeque<(Value, Value, Value)>>,
    /// The tensor that an operator has just changed in place, by its identity.
    pub changed: Cell<Option<usize>>,
    /// Whether a line of Rhai is read as Python, where the names of Rhai lines are known as well.
    pub is_rhai: Cell<bool>,
    /// The operators whose result a note has compared with Python's, and the notes of the input that runs.
    pub noted: RefCell<BTreeSet<&'static str>>,
    pub notes: RefCell<Vec<(&'static str, String)>>,
    /// How many calls back into the script are going on, one within the other.
    pub callbacks: Cell<usize>,
    /// Handles of storages that only the session has: what could be undone, and copies of variables.
    pub remembered: RefCell<Handles>,
    /// The scripts that scripts import.
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

    /// Returns whether a function goes by a name, of the table, of the language or of a script.
    pub(crate) fn is_function(&self, name: &str) -> bool {
        self.registry.family(name).is_some()
            || own::functions().any(|own| own == name)
            || self.defined.borrow().contains_key(name)
    }

    /// The number of parameters of a script's function, if no other function of that name takes another number.
    pub(crate) fn only_arity(&self, name: &str) -> Option<usize> {
        let defined = self.defined.borrow();
        let parameters = &defined.get(name)?.parameters;
        parameters.first().copied().filter(|_| parameters.len() == 1)
    }

    /// The input that defines a function; for no function, and for an undefined one, `here`.
    pub(crate) fn cell_of(&self, function: Option<&str>, here: &cell::Cell) -> cell::Cell {
        let defined = self.defined.borrow();
        function.and_then(|name| defined.get(name)).map_or(here, |defined| &defined.cell).clone()
    }

    /// The input that the engine knows by this name of a source; for none, the one that runs.
    pub(crate) fn cell_of_source(&self, source: Option<&str>) -> cell::Cell {
        let defined = self.defined.borrow();
        if let Some(module) = source.and_then(|source| self.modules.source(source)) {
            return module.cell.clone();
        }
        let found = source.and_then(|source| defined.values().find(|defined| *defined.cell.id == *source));
        found.map_or_else(|| self.cell.borrow().clone(), |defined| defined.cell.clone())
    }

    /// Notes the functions of a text whose names the table has.
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

    /// Notes where a text assigns.
    pub fn note_assigned(&self, id: &Rc<str>, ast: &rhai::AST) {
        let found = subscripts::assigned(ast);
        if !found.is_empty() {
            self.assigned.borrow_mut().insert(id.clone(), found);
        }
    }

    /// Returns whether a text assigns at a place; without a source, it is the input that runs.
    pub(crate) fn assigns(&self, source: Option<&str>, position: rhai::Position) -> bool {
        let assigned = self.assigned.borrow();
        let found = match source {
            Some(source) => assigned.get(source),
            None => assigned.get(&self.cell.borrow().id),
        };
        found.is_some_and(|found| found.contains(&position))
    }

    /// A function's result in the script language: an array of what an iterator has to give.
    ///
    /// # Errors
    /// What the iterator raises, MemoryError.
    pub fn give(&self, value: Value) -> Result<rhai::Dynamic> {
        // Anything else is neither made nor copied.
        if !matches!(value, Value::Object(_) | Value::Str(_) | Value::List(_) | Value::Set(_)) {
            return Ok(to_dynamic(value));
        }
        // The keys, values and items of a dictionary are an array, as those of an object map are.
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

/// Bytes that the script language's form of a value takes besides it: its texts and lists are copies, one for each time
/// they stand in the value.
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
