//! Finds the variables that hold memory, for functions that inspect all variables. A call sees the variables of the
//! scope it is in: weaving turns `aliases()` into `public aliases()` (see `weave.rs`), a custom syntax that has access
//! to the scope.

use super::runtime::Runtime;
use super::values::{from_python, shared, to_value};
use super::words::LOOKING;
use explain::tensors::parts;
use explain::{Holder, Shown};
use rhai::{Dynamic, Engine, EvalContext, Expression};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use tensor::{Buffer, Storage, Tensor};
use value::Value;

/// The number of list items to search for tensors.
const ITEMS: usize = 1000;
/// The depth of nested lists to search.
const DEPTH: usize = 3;

/// Counts handles of storages, by identity.
pub type Handles = HashMap<usize, usize>;

/// Registers the custom syntax with the engine: a call after `LOOKING` sees the variables of its scope.
pub fn register(engine: &mut Engine, state: &Rc<Runtime>) {
    let state = state.clone();
    engine.register_custom_syntax_with_state_raw(
        LOOKING,
        |read, _, _| Ok((read.len() == 1).then(|| "$expr$".into())),
        false,
        move |context: &mut EvalContext, inputs: &[Expression], _| {
            let Some(body) = inputs.first() else { return Ok(Dynamic::UNIT) };
            let found = Rc::new(in_scope(&state, context));
            let before = state.variables_seen.replace(Some(Rc::new(move || found.clone())));
            // A call whose row records its arguments ends the recording itself.
            state.trace.begin();
            let result = context.eval_expression_tree(body);
            state.trace.end();
            state.variables_seen.replace(before);
            result
        },
    );
}

fn in_scope(state: &Runtime, context: &EvalContext) -> Vec<Holder> {
    let mut remembered = state.remembered.borrow().clone();
    let mut entries: Vec<_> = context.scope().iter_raw().map(|(name, _, value)| (name, value)).collect();
    // The scope lists the newest entry first; it hides older entries of the same name.
    let mut known = HashSet::new();
    entries.retain(|(name, _)| known.insert(*name));
    let globals = state.globals.borrow();
    let (copies, mut others): (Vec<_>, Vec<_>) = globals.iter().partition(|(name, _)| known.contains(name.as_str()));
    count(&mut remembered, copies.into_iter().map(|(_, value)| value));
    others.sort_by_key(|(name, _)| *name);
    entries.extend(others.into_iter().rev().map(|(name, value)| (name.as_str(), value)));
    holders(entries.into_iter().rev(), remembered)
}

/// Adds the storage handles that variables hold to `handles`.
pub fn count<'v>(handles: &mut Handles, values: impl Iterator<Item = &'v Dynamic>) {
    for storage in values.filter(|value| !value.is::<Tensor>()).filter_map(storage_of) {
        *handles.entry(storage.identity()).or_default() += 1;
    }
}

/// Returns the memory held by variables, also inside lists and dictionaries. `remembered` is the number of internal
/// handles to leave out of the count. Earlier results are not variables.
pub fn holders<'v>(entries: impl Iterator<Item = (&'v str, &'v Dynamic)>, mut remembered: Handles) -> Vec<Holder> {
    let (results, variables): (Vec<_>, Vec<_>) = entries.partition(|(name, _)| is_result(name));
    let mut found = FoundHolders::default();
    variables.into_iter().for_each(|(name, value)| found.add(name, value, 0));
    let named: HashSet<usize> = found.all.iter().map(|(_, holder)| holder.identity).collect();
    let mut unnamed = FoundHolders::default();
    results.into_iter().for_each(|(name, value)| unnamed.add(name, value, 0));
    let mut counted = HashSet::new();
    for (_, holder) in unnamed.all {
        if !named.contains(&holder.identity) && counted.insert(holder.identity) {
            *remembered.entry(holder.storage.identity()).or_default() += 1;
        }
    }
    let mut holders = found.with_buffers();
    for holder in &mut holders {
        holder.remembered = remembered.get(&holder.storage.identity()).copied().unwrap_or_default();
    }
    holders
}

/// Returns whether a variable is an earlier result: `_`, or its name in Rhai.
pub fn is_result(name: &str) -> bool {
    let signs = name.strip_prefix("underscore").unwrap_or(name);
    !signs.is_empty() && signs.bytes().all(|byte| byte == b'_')
}

/// The holders found so far, numbered in the order of the variables.
#[derive(Default)]
struct FoundHolders {
    all: Vec<(usize, Holder)>,
    buffers: Vec<(usize, String, Buffer)>,
    number: usize,
}

impl FoundHolders {
    /// Adds the memory that a variable, or one of its items, holds.
    fn add(&mut self, name: &str, value: &Dynamic, depth: usize) {
        if self.number >= ITEMS || depth > DEPTH {
            return;
        }
        if let Some(tensor) = value.read_lock::<Tensor>() {
            let view = tensor.view();
            match parts(&view) {
                Some(parts) => parts.into_iter().for_each(|(part, view)| {
                    let identity = view.storage.identity();
                    let shown = Some(Shown::of_view(view));
                    self.hold(Holder::new(format!("{name}.{part}()"), "", view.storage.clone(), shown, identity));
                }),
                None => {
                    let shown = Some(Shown::of_view(&view));
                    self.hold(Holder::new(name.to_owned(), "", view.storage.clone(), shown, tensor.identity()));
                }
            }
            return;
        }
        let mut item = |key: String, item: &Dynamic| self.add(&format!("{name}[{key}]"), item, depth + 1);
        if let Some(array) = value.read_lock::<rhai::Array>() {
            array.iter().take(ITEMS).enumerate().for_each(|(i, value)| item(i.to_string(), value));
            return;
        }
        if let Some(map) = value.read_lock::<rhai::Map>() {
            map.iter().take(ITEMS).for_each(|(key, value)| item(format!("'{key}'"), value));
            return;
        }
        if let Some(container) = shared(value) {
            if let Value::List(list) = container {
                let items: Vec<Value> = list.borrow().iter().take(ITEMS).cloned().collect();
                items.into_iter().enumerate().for_each(|(i, value)| item(i.to_string(), &from_python(value)));
            }
            return;
        }
        // Each handle of a storage is its own holder; this one belongs to the variable.
        let identity = std::ptr::from_ref(value) as usize;
        match to_value(value) {
            Ok(Value::Storage(storage)) => {
                self.hold(Holder::new(name.to_owned(), "storage", storage, None, identity));
            }
            Ok(Value::TypedStorage(typed)) => {
                self.hold(Holder::new(name.to_owned(), "storage", typed.storage, None, identity));
            }
            Ok(Value::Buffer(buffer)) => {
                self.buffers.push((self.number, name.to_owned(), buffer));
                self.number += 1;
            }
            Ok(other) => {
                if let Some(array) = other.array_memory() {
                    let shown = Some(Shown::of_array(&array));
                    let identity = other.address().unwrap_or(identity);
                    self.hold(Holder::new(name.to_owned(), "ndarray", array.storage, shown, identity));
                }
            }
            Err(_) => {}
        }
    }

    fn hold(&mut self, holder: Holder) {
        self.all.push((self.number, holder));
        self.number += 1;
    }

    /// Returns all holders in order. A buffer follows each storage that shares its bytes.
    fn with_buffers(self) -> Vec<Holder> {
        let FoundHolders { mut all, buffers, .. } = self;
        let mut seen = HashSet::new();
        let storages: Vec<_> = all.iter().map(|(_, holder)| holder.storage.clone()).collect();
        for storage in storages.into_iter().filter(|storage| seen.insert(storage.identity())) {
            for (number, name, buffer) in &buffers {
                if let Some(from) = place_in(buffer, &storage) {
                    let class = Value::Buffer(buffer.clone()).type_name().to_owned();
                    let class = class.rsplit('.').next().unwrap_or_default().to_owned();
                    let holder = Holder::new(name.clone(), &class, storage.clone(), None, buffer.identity());
                    all.push((*number, Holder { within: Some(from), ..holder }));
                }
            }
        }
        all.sort_by_key(|(number, _)| *number);
        all.into_iter().map(|(_, holder)| holder).collect()
    }
}

/// Returns the byte offset in a buffer at which a storage begins, if the storage lies in the buffer's memory.
pub fn place_in(buffer: &Buffer, storage: &Storage) -> Option<usize> {
    let from = storage.data_ptr().checked_sub(buffer.memory().address())?;
    (storage.nbytes() > 0 && from < buffer.nbytes()).then_some(from)
}

/// Returns the storage of which a variable is a handle: a tensor or a storage.
pub fn storage_of(value: &Dynamic) -> Option<Storage> {
    if let Some(tensor) = value.read_lock::<Tensor>() {
        return Some(tensor.borrow().storage.clone());
    }
    if is_container(value) {
        return None;
    }
    match to_value(value).ok()? {
        Value::Storage(storage) => Some(storage),
        Value::TypedStorage(typed) => Some(typed.storage),
        _ => None,
    }
}

/// Returns the storage of a variable, an array's included: an array is one handle of its storage, however many variables
/// hold the array.
pub fn memory_of(value: &Dynamic) -> Option<Storage> {
    let array = || if is_container(value) { None } else { to_value(value).ok()?.array_memory() };
    storage_of(value).or_else(|| Some(array()?.storage))
}

/// Returns whether a value is a list or a dictionary of either language; walking these could take long.
pub fn is_container(value: &Dynamic) -> bool {
    value.is_array() || value.is_map() || shared(value).is_some()
}
