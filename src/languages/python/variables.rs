//! The variables of a session or a module as Python functions see them. Each has a slot, which the compiler knows. The owner
//! copies variables in and copies changes back; this module does not know where else they are stored.
//!
//! Those of an imported module are in a dictionary instead, and so are those of the session once a script has asked for one by
//! `globals()`.

use rustc_hash::FxHashMap;
use std::rc::Rc;
use tensor::Result;
use value::{Dict, Value};

#[derive(Default)]
pub struct Variables {
    slots: Vec<Variable>,
    places: FxHashMap<Rc<str>, u32>,
    dict: Option<Dict>,
}

struct Variable {
    name: Rc<str>,
    /// `None` while the variables are in a dictionary.
    value: Option<Value>,
    /// The builtin of this name, resolved on first use.
    builtin: Option<Value>,
    /// Whether the variable was set or deleted since changes were last taken.
    has_changed: bool,
    /// Whether it had a value in the dictionary when changes were last taken.
    was_bound: bool,
}

impl Variables {
    /// Returns variables that are in a dictionary.
    pub(super) fn of(dict: Dict) -> Variables {
        Variables { dict: Some(dict), ..Variables::default() }
    }

    /// Returns the variables as a dictionary, in which they are from now on.
    ///
    /// # Errors
    /// MemoryError.
    pub(super) fn in_dict(&mut self) -> Result<Dict> {
        if let Some(dict) = &self.dict {
            return Ok(dict.clone());
        }
        let bound = self.bound().into_iter().map(|(name, value)| (Value::Str(name.into()), value));
        let dict = Dict::new(bound)?;
        for variable in &mut self.slots {
            variable.was_bound = variable.value.take().is_some();
        }
        Ok(self.dict.insert(dict).clone())
    }

    /// Returns the dictionary that the variables are in.
    pub(super) fn dict(&self) -> Option<&Dict> {
        self.dict.as_ref()
    }

    /// Returns the slot of a name, which is created if it does not exist.
    pub fn slot(&mut self, name: &str) -> u32 {
        if let Some(slot) = self.places.get(name) {
            return *slot;
        }
        let (slot, name): (_, Rc<str>) = (self.slots.len() as u32, name.into());
        let variable =
            Variable { name: name.clone(), value: None, builtin: None, has_changed: false, was_bound: false };
        self.slots.push(variable);
        self.places.insert(name, slot);
        slot
    }

    #[inline]
    pub fn get(&self, slot: u32) -> Option<Value> {
        let variable = self.slots.get(slot as usize)?;
        match &self.dict {
            None => variable.value.clone(),
            Some(dict) => dict.get_str(&variable.name),
        }
    }

    /// Returns the value of a name.
    pub fn named(&self, name: &str) -> Option<Value> {
        match &self.dict {
            None => self.get(*self.places.get(name)?),
            Some(dict) => dict.get_str(name),
        }
    }

    /// Sets or deletes a variable, and returns its old value.
    #[inline]
    pub fn set(&mut self, slot: u32, value: Option<Value>) -> Option<Value> {
        let variable = self.slots.get_mut(slot as usize)?;
        variable.has_changed = true;
        match &self.dict {
            None => std::mem::replace(&mut variable.value, value),
            Some(dict) => replaced(dict, &variable.name, value),
        }
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
        let is_bound = value.is_some();
        let before = self.set(slot, value);
        if let Some(variable) = self.slots.get_mut(slot as usize) {
            (variable.has_changed, variable.was_bound) = (false, is_bound);
        }
        before
    }

    /// Returns the changes since the last call. Deleted variables have no value.
    pub fn take_changes(&mut self) -> Vec<(Rc<str>, Option<Value>)> {
        let dict = self.dict.clone();
        let changed = self.slots.iter_mut().filter(|variable| variable.has_changed);
        changed
            .map(|variable| {
                variable.has_changed = false;
                let value = dict.as_ref().map_or_else(|| variable.value.clone(), |dict| dict.get_str(&variable.name));
                (variable.name.clone(), value)
            })
            .collect()
    }

    /// Returns everything in the dictionary, and what was deleted: a script may have changed it in any way. Only right after
    /// Python ran, since the owner does not copy its own changes in before.
    pub fn take_dict(&mut self) -> Vec<(Rc<str>, Option<Value>)> {
        let Some(dict) = self.dict.clone() else { return Vec::new() };
        for (key, _) in dict.to_vec() {
            if let Value::Str(name) = key {
                self.slot(&name);
            }
        }
        let mut changes = Vec::new();
        for variable in &mut self.slots {
            let value = dict.get_str(&variable.name);
            if value.is_some() || variable.was_bound || variable.has_changed {
                (variable.has_changed, variable.was_bound) = (false, value.is_some());
                changes.push((variable.name.clone(), value));
            }
        }
        changes
    }

    /// Returns the slot of a name, if it has one.
    pub fn slot_of(&self, name: &str) -> Option<u32> {
        self.places.get(name).copied()
    }

    /// Returns all slots, also those of variables without a value.
    pub(super) fn slots(&self) -> std::ops::Range<u32> {
        0..self.slots.len() as u32
    }

    /// Returns every variable that has a value.
    pub fn bound(&self) -> Vec<(Rc<str>, Value)> {
        if let Some(dict) = &self.dict {
            let named = dict.to_vec().into_iter().filter_map(|(key, value)| match key {
                Value::Str(name) => Some((name.to_rc(), value)),
                _ => None,
            });
            return named.collect();
        }
        let bound = self.slots.iter().filter_map(|variable| Some((variable.name.clone(), variable.value.clone()?)));
        bound.collect()
    }

    /// Returns whether a variable was deleted since changes were last taken.
    pub fn is_deleted(&self, name: &str) -> bool {
        let variable = self.slot_of(name).and_then(|slot| self.slots.get(slot as usize));
        variable.is_some_and(|variable| variable.has_changed) && self.named(name).is_none()
    }

    /// Returns the names of variables that have a value.
    pub fn names(&self) -> Vec<Rc<str>> {
        self.bound().into_iter().map(|(name, _)| name).collect()
    }
}

/// Sets or removes an entry, and returns the old value.
pub(super) fn replaced(dict: &Dict, name: &Rc<str>, value: Option<Value>) -> Option<Value> {
    let before = dict.get_str(name);
    // Texts are hashable, and nothing borrows the dictionary here.
    match value {
        Some(value) => drop(dict.insert(Value::Str(name.clone().into()), value)),
        None => drop(dict.remove(&Value::Str(name.clone().into()))),
    }
    before
}
