//! The variables of a session as Python functions see them. Each has a slot, which the compiler knows. The owner copies
//! variables in and copies changes back; this module does not know where else they are stored.

use std::collections::HashMap;
use std::rc::Rc;
use value::Value;

#[derive(Default)]
pub struct Variables {
    slots: Vec<Variable>,
    places: HashMap<Rc<str>, u32>,
}

struct Variable {
    name: Rc<str>,
    value: Option<Value>,
    /// The builtin of this name, resolved on first use.
    builtin: Option<Value>,
    /// Whether the variable was set or deleted since changes were last taken.
    has_changed: bool,
}

impl Variables {
    /// Returns the slot of a name, which is created if it does not exist.
    pub fn slot(&mut self, name: &str) -> u32 {
        if let Some(slot) = self.places.get(name) {
            return *slot;
        }
        let (slot, name): (_, Rc<str>) = (self.slots.len() as u32, name.into());
        self.slots.push(Variable { name: name.clone(), value: None, builtin: None, has_changed: false });
        self.places.insert(name, slot);
        slot
    }

    #[inline]
    pub fn get(&self, slot: u32) -> Option<&Value> {
        self.slots.get(slot as usize)?.value.as_ref()
    }

    /// Sets or deletes a variable, and returns its old value.
    #[inline]
    pub fn set(&mut self, slot: u32, value: Option<Value>) -> Option<Value> {
        let variable = self.slots.get_mut(slot as usize)?;
        variable.has_changed = true;
        std::mem::replace(&mut variable.value, value)
    }

    pub fn name(&self, slot: u32) -> Rc<str> {
        self.slots.get(slot as usize).map_or_else(|| "?".into(), |variable| variable.name.clone())
    }

    pub fn builtin(&self, slot: u32) -> Option<Value> {
        self.slots.get(slot as usize)?.builtin.clone()
    }

    pub(crate) fn set_builtin(&mut self, slot: u32, value: Value) {
        if let Some(variable) = self.slots.get_mut(slot as usize) {
            variable.builtin = Some(value);
        }
    }

    /// Copies a variable in, without marking it as changed.
    pub fn put(&mut self, name: &str, value: Option<Value>) -> Option<Value> {
        let slot = self.slot(name);
        let variable = self.slots.get_mut(slot as usize)?;
        variable.has_changed = false;
        std::mem::replace(&mut variable.value, value)
    }

    /// Returns the changes since the last call. Deleted variables have no value.
    pub fn take_changes(&mut self) -> Vec<(Rc<str>, Option<Value>)> {
        let changed = self.slots.iter_mut().filter(|variable| variable.has_changed);
        changed
            .map(|variable| {
                variable.has_changed = false;
                (variable.name.clone(), variable.value.clone())
            })
            .collect()
    }

    /// Returns the slot of a name, if it has one.
    pub fn slot_of(&self, name: &str) -> Option<u32> {
        self.places.get(name).copied()
    }

    /// Returns all slots, also those of variables without a value.
    pub(super) fn slots(&self) -> std::ops::Range<u32> {
        0..self.slots.len() as u32
    }

    pub fn values(&self) -> impl Iterator<Item = &Value> {
        self.slots.iter().filter_map(|variable| variable.value.as_ref())
    }

    /// Returns every variable that has a value.
    pub fn bound(&self) -> Vec<(Rc<str>, Value)> {
        let bound = self.slots.iter().filter_map(|variable| Some((variable.name.clone(), variable.value.clone()?)));
        bound.collect()
    }

    /// Returns whether a variable was deleted since changes were last taken.
    pub fn is_deleted(&self, name: &str) -> bool {
        let variable = self.slot_of(name).and_then(|slot| self.slots.get(slot as usize));
        variable.is_some_and(|variable| variable.has_changed && variable.value.is_none())
    }

    /// Returns the names of variables that have a value.
    pub fn names(&self) -> Vec<Rc<str>> {
        let bound = self.slots.iter().filter(|variable| variable.value.is_some());
        bound.map(|variable| variable.name.clone()).collect()
    }
}
