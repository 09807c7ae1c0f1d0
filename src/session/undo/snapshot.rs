//! A saved state of a session, and how to restore it.

use super::reached::ReachableObjects;
use super::settings::Settings;
use super::{Undone, holds};
use crate::Session;
use crate::results::shown_name;
use call::extras::Extras;
use languages::script::holders::{is_container, storage_of};
use languages::script::input::Defined;
use languages::script::values::{from_python, to_value};
use rhai::{Dynamic, Module, Scope, Shared};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::PathBuf;
use std::rc::Rc;
use tensor::journal::{self, Journal};
use tensor::memory::{get, set};
use tensor::{AutogradMeta, Buffer, DType, Memory, Names, Storage, Tensor, TypedStorage, View};
use value::equality::{equal, is};
use value::{Dict, List, Object, Set, Slot, Value};

/// The maximum number of bytes of memory copied for one input. Memory beyond that is not undone.
const STEP_BYTES: usize = 32 << 20;

/// A variable: its name, its value, and whether it is a constant.
type Variable = (String, Dynamic, bool);

/// An entry of a dictionary.
type Entry = (Value, Value);

/// Functions of Rhai and imported modules.
#[derive(Clone, Default)]
struct FunctionTable {
    /// Number of function modules given to the engine.
    count: usize,
    modules: Vec<Shared<Module>>,
    defined: BTreeMap<String, Defined>,
    named: BTreeMap<String, Shared<Module>>,
}

struct TensorState {
    tensor: Tensor,
    view: View,
    autograd: Option<AutogradMeta>,
    names: Option<Names>,
    version: u64,
    told: u64,
}

pub(super) struct Snapshot {
    variables: Vec<Variable>,
    /// Variables that refer to too much.
    left_out: Vec<String>,
    tensors: Vec<TensorState>,
    storages: Vec<(Storage, Rc<Memory>, bool)>,
    buffers: Vec<(Buffer, Rc<Memory>)>,
    generators: Vec<(Value, Vec<u8>)>,
    /// Containers, each with a copy of what it held. Snapshots share the copies of what has not changed.
    lists: Vec<(List, Rc<[Value]>)>,
    dicts: Vec<(Dict, Rc<[Entry]>)>,
    sets: Vec<(Set, Rc<[Value]>)>,
    slots: Vec<(Rc<dyn Slot>, Option<Value>)>,
    cells: Vec<(Dynamic, Dynamic)>,
    /// Copies of whole memories, not of slices.
    bytes: Vec<(Rc<Memory>, Rc<[u8]>)>,
    /// Memories that exceeded the limit and were not copied.
    uncopied: HashSet<usize>,
    /// The bytes of the copies that the snapshot before does not share.
    own_bytes: usize,
    /// The writes of the input after this state to memories too large to copy.
    journal: Journal,
    /// The files written by that input.
    files: Vec<PathBuf>,
    functions: FunctionTable,
    settings: Settings,
}

/// Returns the number of storage handles held only by snapshots, by storage identity.
pub(super) fn handles<'s>(snapshots: impl Iterator<Item = &'s Snapshot>) -> HashMap<usize, usize> {
    let mut handles: HashMap<usize, usize> = HashMap::new();
    let mut tensors: HashMap<usize, (&Tensor, usize)> = HashMap::new();
    let mut named: HashMap<usize, usize> = HashMap::new();
    let mut arrays: HashMap<usize, (Rc<dyn Object>, usize)> = HashMap::new();
    let mut count = |value: &Value, handles: &mut HashMap<usize, usize>| match value {
        Value::Object(object) if object.memory().is_some() => {
            let identity = Rc::as_ptr(object).cast::<()>() as usize;
            arrays.entry(identity).or_insert_with(|| (object.clone(), 0)).1 += 1;
        }
        Value::Tensor(tensor) => *named.entry(tensor.identity()).or_default() += 1,
        Value::Storage(storage) => *handles.entry(storage.identity()).or_default() += 1,
        Value::TypedStorage(typed) => *handles.entry(typed.storage.identity()).or_default() += 1,
        _ => {}
    };
    // Snapshots may share a copy, which holds its values once.
    let mut copies = HashSet::new();
    for snapshot in snapshots {
        let storages = snapshot.storages.iter().map(|(storage, ..)| storage.identity());
        let views = snapshot.tensors.iter().map(|state| state.view.storage.identity());
        storages.chain(views).for_each(|storage| *handles.entry(storage).or_default() += 1);
        for state in &snapshot.tensors {
            tensors.entry(state.tensor.identity()).or_insert((&state.tensor, 0)).1 += 1;
        }
        let variables = snapshot.variables.iter().map(|(_, value, _)| value);
        for value in variables.chain(snapshot.cells.iter().map(|(_, value)| value)) {
            if let Some(tensor) = value.read_lock::<Tensor>() {
                count(&Value::Tensor(tensor.clone()), &mut handles);
            } else if let Some(storage) = storage_of(value) {
                *handles.entry(storage.identity()).or_default() += 1;
            } else if !is_container(value)
                && let Ok(object @ Value::Object(_)) = to_value(value)
            {
                count(&object, &mut handles);
            }
        }
        for (_, items) in snapshot.lists.iter().filter(|(_, items)| copies.insert(Rc::as_ptr(items).cast::<()>())) {
            items.iter().for_each(|value| count(value, &mut handles));
        }
        for (_, entries) in snapshot.dicts.iter().filter(|(_, entries)| copies.insert(Rc::as_ptr(entries).cast::<()>()))
        {
            entries.iter().for_each(|(_, value)| count(value, &mut handles));
        }
        let in_slots = snapshot.slots.iter().filter_map(|(_, value)| value.as_ref());
        in_slots.for_each(|value| count(value, &mut handles));
    }
    for (identity, (tensor, listed)) in tensors {
        if tensor.holders() == listed + named.get(&identity).copied().unwrap_or(0) {
            *handles.entry(tensor.borrow().storage.identity()).or_default() += 1;
        }
    }
    for (array, listed) in arrays.into_values() {
        // The list itself holds the array once.
        if Rc::strong_count(&array) == listed + 1
            && let Some(memory) = array.memory()
        {
            *handles.entry(memory.storage.identity()).or_default() += 1;
        }
    }
    handles
}

impl Snapshot {
    /// Saves the present state. Copies that are equal are shared with `other`.
    pub(super) fn take(session: &Session, other: Option<&Snapshot>) -> Snapshot {
        let state = &session.runtime;
        let mut snapshot = Snapshot {
            variables: Vec::new(),
            left_out: Vec::new(),
            tensors: Vec::new(),
            storages: Vec::new(),
            buffers: Vec::new(),
            generators: Vec::new(),
            lists: Vec::new(),
            dicts: Vec::new(),
            sets: Vec::new(),
            slots: Vec::new(),
            cells: Vec::new(),
            bytes: Vec::new(),
            uncopied: HashSet::new(),
            own_bytes: 0,
            journal: Journal::default(),
            files: Vec::new(),
            functions: FunctionTable {
                count: session.functions.len(),
                modules: session.functions.clone(),
                defined: state.defined.borrow().clone(),
                named: state.modules.named.borrow().clone(),
            },
            settings: Settings::take(state),
        };
        let mut reached = ReachableObjects::new(&state.extras);
        // The scope lists the newest entry first.
        let mut scope: Vec<_> = session.scope.iter_raw().collect();
        scope.reverse();
        for (name, is_constant, value) in scope {
            if reached.add(value) {
                snapshot.variables.push((name.to_owned(), value.clone(), is_constant));
            } else {
                snapshot.left_out.push(name.to_owned());
            }
        }
        // The variables of imported modules.
        if !reached.add(&from_python(Value::Dict(state.sys.clone()))) {
            snapshot.left_out.push("sys.modules".to_owned());
        }
        snapshot.note(reached, other);
        snapshot.copy_bytes(other);
        snapshot.count_bytes(other);
        snapshot
    }

    fn note(&mut self, reached: ReachableObjects, other: Option<&Snapshot>) {
        self.tensors.extend(reached.tensors.into_iter().map(|tensor| TensorState {
            view: tensor.view(),
            autograd: tensor.has_autograd().then(|| tensor.autograd(AutogradMeta::clone)),
            names: tensor.names(),
            version: tensor.version(),
            told: tensor.described_version(),
            tensor,
        }));
        self.storages.extend(reached.storages.into_iter().map(|storage| {
            let (memory, resizable) = (storage.memory(), storage.resizable());
            (storage, memory, resizable)
        }));
        self.buffers.extend(reached.buffers.into_iter().map(|buffer| {
            let memory = buffer.memory();
            (buffer, memory)
        }));
        self.generators.extend(reached.generators.into_iter().map(|generator| {
            let bytes = state_bytes(&generator);
            (generator, bytes)
        }));
        let known: HashMap<usize, &Rc<[Value]>> = other
            .map(|other| {
                let lists = other.lists.iter().map(|(list, items)| (list.identity(), items));
                lists.chain(other.sets.iter().map(|(set, items)| (set.identity(), items))).collect()
            })
            .unwrap_or_default();
        let known_dicts: HashMap<usize, &Rc<[Entry]>> = other
            .map(|other| other.dicts.iter().map(|(dict, entries)| (dict.identity(), entries)).collect())
            .unwrap_or_default();
        self.lists.extend(reached.lists.into_iter().map(|list| {
            let items = copied(&list.borrow(), known.get(&list.identity()).copied(), is);
            (list, items)
        }));
        self.dicts.extend(reached.dicts.into_iter().map(|dict| {
            let is_same = |(k, v): &Entry, (key, value): &Entry| is(k, key) && is(v, value);
            let entries = copied(&dict.to_vec(), known_dicts.get(&dict.identity()).copied(), is_same);
            (dict, entries)
        }));
        self.sets.extend(reached.sets.into_iter().map(|set| {
            let items = copied(&set.to_vec(), known.get(&set.identity()).copied(), is);
            (set, items)
        }));
        self.slots.extend(reached.slots.into_iter().map(|slot| {
            let value = slot.value();
            (slot, value)
        }));
        self.cells = reached.cells;
    }

    /// Copies the bytes of all memories once, except those recorded in the journal.
    fn copy_bytes(&mut self, other: Option<&Snapshot>) {
        let known: HashMap<usize, &Rc<[u8]>> = other
            .map(|other| other.bytes.iter().map(|(memory, bytes)| (journal::identity(memory), bytes)).collect())
            .unwrap_or_default();
        let memories = self.storages.iter().map(|(_, memory, _)| memory);
        let roots = memories.chain(self.buffers.iter().map(|(_, memory)| memory)).map(|memory| journal::root(memory).0);
        let (mut seen, mut left) = (HashSet::new(), STEP_BYTES);
        let roots: Vec<_> = roots.filter(|root| seen.insert(journal::identity(root))).collect();
        for root in roots {
            let nbytes = root.nbytes();
            if root.is_meta() || nbytes > journal::LARGE || root.check().is_err() {
                continue;
            }
            let copied = match known.get(&journal::identity(&root)) {
                Some(bytes) if bytes.len() == nbytes && holds(&root, bytes) => Some(Rc::clone(bytes)),
                _ if nbytes <= left => root.to_vec().ok().map(Rc::from),
                _ => None,
            };
            match copied {
                Some(bytes) => {
                    left = left.saturating_sub(nbytes);
                    self.bytes.push((root, bytes));
                }
                None => drop(self.uncopied.insert(journal::identity(&root))),
            }
        }
    }

    pub(crate) fn add_writes(&mut self, journal: Journal, files: Vec<PathBuf>) {
        self.journal = journal;
        self.files = files;
    }

    /// Counts the bytes of the copies that are not those of the snapshot before.
    pub(super) fn count_bytes(&mut self, before: Option<&Snapshot>) {
        let shared: HashSet<*const u8> =
            before.into_iter().flat_map(Snapshot::copies).map(|(begin, _)| begin).collect();
        let own = self.copies().filter(|(begin, _)| !shared.contains(begin));
        self.own_bytes = own.map(|(_, nbytes)| nbytes).sum();
    }

    /// Iterates over the address and the number of bytes of each copy.
    fn copies(&self) -> impl Iterator<Item = (*const u8, usize)> {
        let memories = self.bytes.iter().map(|(_, bytes)| (bytes.as_ptr(), size_of_val::<[u8]>(bytes)));
        let items = self.lists.iter().map(|(_, items)| items).chain(self.sets.iter().map(|(_, items)| items));
        let items = items.map(|items| (items.as_ptr().cast(), size_of_val::<[Value]>(items)));
        let entries = self.dicts.iter().map(|(_, entries)| (entries.as_ptr().cast(), size_of_val::<[Entry]>(entries)));
        memories.chain(items).chain(entries)
    }

    /// Returns the number of bytes that this snapshot has and the one before has not.
    pub(super) fn nbytes(&self) -> usize {
        self.own_bytes + self.journal.entries.iter().map(|entry| entry.bytes.len()).sum::<usize>()
    }

    /// Restores this state. Returns the changes, and `present` as the state for redo.
    pub(super) fn restore(mut self, session: &mut Session, mut present: Snapshot) -> (Undone, Snapshot) {
        let mut undone = self.changes(&present, &session.runtime.extras);
        let added: Vec<Dict> = self.new_attributes(&session.runtime.extras).collect();
        present.files = std::mem::take(&mut self.files);
        present.journal = std::mem::take(&mut self.journal).swap();
        for (storage, memory, resizable) in &self.storages {
            storage.restore(memory.clone(), *resizable);
        }
        for (buffer, memory) in &self.buffers {
            buffer.restore(memory.clone());
        }
        for (memory, bytes) in &self.bytes {
            // Writing only differing bytes leaves other pages of a mapped file untouched.
            for (cell, byte) in memory.bytes().iter().zip(bytes.iter()).filter(|(cell, byte)| get(cell) != **byte) {
                set(cell, *byte);
            }
        }
        for state in self.tensors {
            let TensorState { tensor, view, autograd, names, version, told } = state;
            tensor.set_view(view);
            tensor.set_names(names.as_deref().unwrap_or_default());
            if autograd.is_some() || tensor.has_autograd() {
                tensor.autograd_mut(|meta| *meta = autograd.unwrap_or_default());
            }
            tensor.restore_version(version, told);
        }
        for (generator, bytes) in &self.generators {
            if let Value::Generator(generator) = generator {
                // Cannot fail: the bytes come from a generator of the same kind.
                let _ = generator.borrow_mut().set_state_bytes(bytes);
            }
        }
        // Cannot fail: between inputs, no container is borrowed, and the keys were valid before.
        let _ = added.into_iter().try_for_each(|own| own.replace(Vec::new()));
        let _ = self.lists.into_iter().try_for_each(|(list, items)| list.replace(items.to_vec()));
        let _ = self.dicts.into_iter().try_for_each(|(dict, entries)| dict.replace(entries.to_vec()));
        let _ = self.sets.into_iter().try_for_each(|(set, items)| set.replace(items.to_vec()));
        self.slots.into_iter().for_each(|(slot, value)| slot.put(value));
        for (mut cell, value) in self.cells {
            if let Some(mut held) = cell.write_lock::<Dynamic>() {
                *held = value;
            }
        }
        let mut scope = Scope::new();
        for name in &self.left_out {
            if let Some(value) = session.scope.get(name) {
                scope.push_dynamic(name.clone(), value.clone());
            }
        }
        for (name, value, is_constant) in self.variables {
            if is_constant {
                scope.push_constant_dynamic(name, value);
            } else {
                scope.push_dynamic(name, value);
            }
        }
        session.scope = scope;
        session.python.is_stale();
        self.settings.restore(&session.runtime);
        self.functions.restore(session);
        undone.files = present.files.iter().map(|file| file.display().to_string()).collect();
        (undone, present)
    }

    /// Returns the differences between the present state and this one.
    fn changes(&self, present: &Snapshot, extras: &Extras) -> Undone {
        let lost = self.lost();
        let changed = self.changed(extras);
        let mut undone = Undone { settings: self.settings.differences(&present.settings), ..Undone::default() };
        let named: HashMap<&str, &Dynamic> =
            present.variables.iter().map(|(name, value, _)| (&**name, value)).collect();
        for (name, then, _) in &self.variables {
            let shown = shown_name(name).to_owned();
            let leads_to = |identities: &HashSet<usize>| {
                let mut reached = ReachableObjects::new(extras);
                reached.reach(then);
                reached.identities().any(|identity| identities.contains(&identity))
            };
            if !lost.is_empty() && leads_to(&lost) {
                undone.left_out.push(shown.clone());
            }
            match named.get(&**name) {
                None if present.left_out.contains(name) => undone.restored.push(shown),
                None => undone.back.push(shown),
                Some(now) if !is_same(now, then) || !changed.is_empty() && leads_to(&changed) => {
                    undone.restored.push(shown);
                }
                Some(_) => {}
            }
        }
        undone.left_out.extend(self.left_out.iter().map(|name| shown_name(name).to_owned()));
        let known = |name: &str| self.variables.iter().any(|(known, ..)| known == name);
        let gone = present.variables.iter().map(|(name, ..)| name).chain(&present.left_out);
        let gone = gone.filter(|name| !known(name) && !self.left_out.contains(name));
        undone.gone = gone.map(|name| shown_name(name).to_owned()).collect();
        // Earlier results change with every input.
        for names in [&mut undone.restored, &mut undone.gone, &mut undone.back, &mut undone.left_out] {
            names.retain(|name| !name.starts_with('_'));
        }
        self.functions.changes(&present.functions, &mut undone);
        undone
    }

    /// Returns the identities of storages and buffers whose earlier bytes are unknown.
    fn lost(&self) -> HashSet<usize> {
        let mut memories: HashSet<usize> = self.journal.lost.union(&self.uncopied).copied().collect();
        // The tensor's version counter reveals writes that were not recorded.
        let noted: HashSet<usize> = self.journal.entries.iter().map(|entry| journal::identity(&entry.memory)).collect();
        for state in &self.tensors {
            let root = journal::root(&state.view.storage.memory()).0;
            if root.nbytes() > journal::LARGE && state.tensor.version() != state.version {
                let identity = journal::identity(&root);
                memories.extend(Some(identity).filter(|identity| !noted.contains(identity)));
            }
        }
        if memories.is_empty() {
            return memories;
        }
        let is_lost = |memory: &Rc<Memory>| memories.contains(&journal::identity(&journal::root(memory).0));
        let storages =
            self.storages.iter().filter(|(_, memory, _)| is_lost(memory)).map(|(storage, ..)| storage.identity());
        let buffers = self.buffers.iter().filter(|(_, memory)| is_lost(memory)).map(|(buffer, _)| buffer.identity());
        storages.chain(buffers).collect()
    }

    /// Returns the attributes of tensors and storages that had none in this state.
    fn new_attributes(&self, extras: &Extras) -> impl Iterator<Item = Dict> {
        let tensors = self.tensors.iter().map(|state| Value::Tensor(state.tensor.clone()));
        let storages = self.storages.iter().flat_map(|(storage, ..)| {
            // The attributes of typed storages are those of one storage, whatever the dtype.
            let typed = TypedStorage::new(storage.clone(), DType::Byte);
            [Value::Storage(storage.clone()), Value::TypedStorage(typed)]
        });
        let present = tensors.chain(storages).filter_map(|object| extras.of(&object));
        present.filter(|own| !self.dicts.iter().any(|(dict, _)| dict.is(own)))
    }

    /// Returns the identities of all objects modified in place.
    fn changed(&self, extras: &Extras) -> HashSet<usize> {
        let noted: HashSet<usize> = self.journal.entries.iter().map(|entry| journal::identity(&entry.memory)).collect();
        let written: HashSet<usize> = self
            .bytes
            .iter()
            .filter(|(memory, bytes)| !holds(memory, bytes))
            .map(|(memory, _)| journal::identity(memory))
            .chain(noted)
            .collect();
        let is_written = |memory: &Rc<Memory>| written.contains(&journal::identity(&journal::root(memory).0));
        let mut changed = HashSet::new();
        for (storage, memory, _) in &self.storages {
            if is_written(memory) || !Rc::ptr_eq(memory, &storage.memory()) {
                changed.insert(storage.identity());
            }
        }
        for (buffer, memory) in &self.buffers {
            if is_written(memory) || !Rc::ptr_eq(memory, &buffer.memory()) {
                changed.insert(buffer.identity());
            }
        }
        for state in &self.tensors {
            let (tensor, view) = (&state.tensor, &state.view);
            let now = tensor.view();
            let is_other = now.layout != view.layout
                || now.dtype != view.dtype
                || now.storage != view.storage
                || tensor.names() != state.names
                || tensor.has_autograd() != state.autograd.is_some()
                || gradient_state(tensor, state);
            if is_other {
                changed.insert(tensor.identity());
            }
        }
        let lists = self.lists.iter().filter(|(list, items)| !is_each(&list.to_vec(), items, is_alike));
        changed.extend(lists.map(|(list, _)| list.identity()));
        let dicts = self.dicts.iter().filter(|(dict, entries)| {
            !is_each(&dict.to_vec(), entries, |(k, v), (key, value)| is_alike(k, key) && is_alike(v, value))
        });
        changed.extend(dicts.map(|(dict, _)| dict.identity()));
        changed.extend(self.new_attributes(extras).filter(|own| !own.is_empty()).map(|own| own.identity()));
        let sets = self.sets.iter().filter(|(set, items)| !is_each(&set.to_vec(), items, is_alike));
        changed.extend(sets.map(|(set, _)| set.identity()));
        let slots = self.slots.iter().filter(|(slot, then)| match (slot.value(), then) {
            (Some(now), Some(then)) => !is_alike(&now, then),
            (now, then) => now.is_some() != then.is_some(),
        });
        changed.extend(slots.map(|(slot, _)| slot.identity()));
        let generators = self.generators.iter().filter(|(generator, bytes)| state_bytes(generator) != *bytes);
        changed.extend(generators.filter_map(|(generator, _)| generator.address()));
        changed
    }
}

/// Returns the state of a random number generator.
fn state_bytes(generator: &Value) -> Vec<u8> {
    match generator {
        Value::Generator(generator) => generator.borrow().state_bytes(),
        _ => Vec::new(),
    }
}

/// Returns whether a tensor's autograd state has changed.
fn gradient_state(tensor: &Tensor, state: &TensorState) -> bool {
    let Some(then) = &state.autograd else { return false };
    tensor.autograd(|now| {
        let gradient = |meta: &AutogradMeta| meta.grad.as_ref().map(Tensor::identity);
        now.requires_grad != then.requires_grad
            || now.retains_grad != then.retains_grad
            || gradient(now) != gradient(then)
            || now.grad_fn.is_some() != then.grad_fn.is_some()
    })
}

impl FunctionTable {
    /// Restores the engine's functions and modules.
    fn restore(self, session: &mut Session) {
        let is_same =
            self.count == session.functions.len() && self.named.len() == session.runtime.modules.named.borrow().len();
        session.runtime.defined.replace(self.defined);
        session.runtime.modules.named.replace(self.named);
        session.functions = self.modules;
        if !is_same {
            session.rebuild_engine();
        }
    }

    /// Adds the functions that differ from the present ones.
    fn changes(&self, present: &FunctionTable, undone: &mut Undone) {
        let shown = |name: &String| Some(format!("{name}()")).filter(|_| !name.contains('$'));
        for (name, then) in &self.defined {
            match present.defined.get(name) {
                None => undone.back.extend(shown(name)),
                Some(now) if now.cell.id != then.cell.id => undone.restored.extend(shown(name)),
                Some(_) => {}
            }
        }
        undone.gone.extend(present.defined.keys().filter(|name| !self.defined.contains_key(*name)).filter_map(shown));
        for name in present.named.keys().filter(|name| !self.named.contains_key(*name)) {
            undone.gone.push(format!("the module {name}"));
        }
    }
}

/// Copies the contents of a container, or returns the copy that is known, if it is the same item by item.
fn copied<T: Clone>(now: &[T], known: Option<&Rc<[T]>>, is_same: impl Fn(&T, &T) -> bool) -> Rc<[T]> {
    match known {
        Some(then) if is_each(now, then, is_same) => Rc::clone(then),
        _ => now.into(),
    }
}

/// Returns whether two lists agree item by item.
fn is_each<T>(now: &[T], then: &[T], is_alike: impl Fn(&T, &T) -> bool) -> bool {
    now.len() == then.len() && now.iter().zip(then).all(|(now, then)| is_alike(now, then))
}

/// Returns whether a variable still has its value: the same object, or an equal value.
fn is_same(now: &Dynamic, then: &Dynamic) -> bool {
    if let (Some(now), Some(then)) = (now.read_lock::<rhai::Array>(), then.read_lock::<rhai::Array>()) {
        return is_each(&now, &then, is_same);
    }
    if let (Some(now), Some(then)) = (now.read_lock::<rhai::Map>(), then.read_lock::<rhai::Map>()) {
        return now.len() == then.len()
            && now.iter().all(|(key, now)| then.get(key).is_some_and(|then| is_same(now, then)));
    }
    if let (Some(now), Some(then)) = (now.read_lock::<rhai::FnPtr>(), then.read_lock::<rhai::FnPtr>()) {
        return now.fn_name() == then.fn_name() && now.curry().len() == then.curry().len();
    }
    match (to_value(now), to_value(then)) {
        (Ok(now), Ok(then)) => is_alike(&now, &then),
        _ => now.type_name() == then.type_name(),
    }
}

/// Returns whether two values are the same object, or equal if they do not have an identity.
fn is_alike(now: &Value, then: &Value) -> bool {
    match (now.address(), then.address()) {
        (Some(now), Some(then)) => now == then,
        _ => now.type_name() == then.type_name() && (is(now, then) || equal(now, then)),
    }
}
