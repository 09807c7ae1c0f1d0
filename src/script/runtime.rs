//! What the running script has, and no function of the table reads: variables as functions see them, closures, the methods
//! that are running, which functions the engine knows. What both need is in [`State`], to which this gives way.

use super::callback::Home;
use super::class::Class;
use super::value::{to_dynamic, to_object};
use crate::call::State;
use crate::call::registry::Family;
use crate::tensor::{Result, limits};
use crate::value::Value;
use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::ops::Deref;
use std::rc::{Rc, Weak};

/// The script's part of a session.
pub struct Runtime {
    pub state: Rc<State>,
    /// How to call functions of the script.
    pub home: RefCell<Home>,
    /// The text that is parsed now has a `switch`, in which `_` is not a name.
    pub has_switch: Cell<bool>,
    /// The functions of the table that the engine knows, and those that the text being parsed names besides.
    pub known: RefCell<HashSet<&'static str>>,
    pub named: RefCell<Vec<&'static Family>>,
    /// Variables as functions of scripts see them.
    pub globals: RefCell<HashMap<String, rhai::Dynamic>>,
    /// How many calls back into the script are going on, one within the other.
    pub callbacks: Cell<usize>,
    /// The parameters of functions without a name, by the name that the engine gives them.
    pub closures: RefCell<HashMap<String, Vec<String>>>,
    /// The methods that are running, each with the class that holds it and its first argument.
    pub frames: RefCell<Vec<(Weak<Class>, rhai::Dynamic)>>,
    /// What was last read as an attribute of an object of a script, the attribute and the object.
    pub read_back: RefCell<Option<(rhai::Dynamic, String, rhai::Dynamic)>>,
    /// What functions have assigned to variables of the session that did not share them yet.
    pub assigned: RefCell<Vec<(String, rhai::Dynamic)>>,
}

impl Deref for Runtime {
    type Target = State;
    fn deref(&self) -> &State {
        &self.state
    }
}

impl Runtime {
    pub fn new(state: State) -> Runtime {
        Runtime {
            state: Rc::new(state),
            home: RefCell::default(),
            has_switch: Cell::new(false),
            known: RefCell::default(),
            named: RefCell::default(),
            globals: RefCell::default(),
            callbacks: Cell::new(0),
            closures: RefCell::default(),
            frames: RefCell::default(),
            read_back: RefCell::default(),
            assigned: RefCell::default(),
        }
    }

    /// A function's result in the script language.
    ///
    /// # Errors
    /// TypeError for a dictionary with keys that can change, MemoryError.
    pub fn give(&self, value: Value) -> Result<rhai::Dynamic> {
        limits::grown_to::<u8>(copied(&value))?;
        if self.python.get() { to_object(value) } else { Ok(to_dynamic(value)) }
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
        Value::List(items) | Value::Set(items) => held(items),
        Value::Dict(entries) | Value::OrderedDict(entries) => {
            entries.iter().map(|(_, value)| copied(value)).fold(0, usize::saturating_add)
        }
        _ => 0,
    }
}
