//! Finds everything that variables refer to: tensors, memory, containers, fields of objects, and variables captured by
//! closures. The walk is iterative, so cycles and long chains are safe.

use call::extras::Extras;
use languages::script::callback::ScriptFunction;
use languages::script::values::to_value;
use rhai::{Dynamic, FnPtr};
use std::collections::HashSet;
use std::rc::Rc;
use tensor::{Buffer, DType, Storage, Tensor, TypedStorage};
use value::{Dict, List, Set, Slot, Value};

/// The maximum number of values to visit for one variable.
const ITEMS: usize = 100_000;
/// The maximum depth of nested arrays and maps in a Rhai value.
const DEPTH: usize = 500;

/// The objects found, each listed once.
#[derive(Default)]
pub(super) struct ReachableObjects<'e> {
    /// The attributes that scripts gave to tensors and storages.
    extras: Option<&'e Extras>,
    pub tensors: Vec<Tensor>,
    pub storages: Vec<Storage>,
    pub buffers: Vec<Buffer>,
    /// Generators of random numbers.
    pub generators: Vec<Value>,
    pub lists: Vec<List>,
    pub dicts: Vec<Dict>,
    pub sets: Vec<Set>,
    pub slots: Vec<Rc<dyn Slot>>,
    /// Variables that Rhai closures share, with the current value of each.
    pub cells: Vec<(Dynamic, Dynamic)>,
    seen: HashSet<usize>,
    /// The identities in `seen`, in the order in which they were found.
    order: Vec<usize>,
    waiting: Vec<Value>,
    items: usize,
}

impl ReachableObjects<'_> {
    pub(super) fn new(extras: &Extras) -> ReachableObjects<'_> {
        ReachableObjects { extras: Some(extras), ..ReachableObjects::default() }
    }

    /// Adds everything that a variable refers to. Returns false if that is too much to remember; then nothing is added, as
    /// a part of it could not be restored alone.
    pub(super) fn add(&mut self, variable: &Dynamic) -> bool {
        let before = self.lengths();
        let is_within = self.reach(variable);
        if !is_within {
            self.waiting.clear();
            self.shorten(before);
        }
        is_within
    }

    fn lengths(&self) -> [usize; 10] {
        [
            self.tensors.len(),
            self.storages.len(),
            self.buffers.len(),
            self.generators.len(),
            self.lists.len(),
            self.dicts.len(),
            self.sets.len(),
            self.slots.len(),
            self.cells.len(),
            self.order.len(),
        ]
    }

    /// Forgets what was found since [`Self::lengths`].
    fn shorten(
        &mut self,
        [tensors, storages, buffers, generators, lists, dicts, sets, slots, cells, order]: [usize; 10],
    ) {
        self.tensors.truncate(tensors);
        self.storages.truncate(storages);
        self.buffers.truncate(buffers);
        self.generators.truncate(generators);
        self.lists.truncate(lists);
        self.dicts.truncate(dicts);
        self.sets.truncate(sets);
        self.slots.truncate(slots);
        self.cells.truncate(cells);
        for identity in self.order.drain(order..) {
            self.seen.remove(&identity);
        }
    }

    /// Like [`Self::add`], but keeps what was found before it became too much.
    pub(super) fn reach(&mut self, variable: &Dynamic) -> bool {
        self.items = 0;
        let mut first = self.cells.len();
        self.take(variable, 0);
        loop {
            while let Some(value) = self.waiting.pop() {
                self.take_value(&value);
                if self.items > ITEMS {
                    return false;
                }
            }
            let Some((_, held)) = self.cells.get(first) else { return self.items <= ITEMS };
            let held = held.clone();
            first += 1;
            self.take(&held, 0);
        }
    }

    /// Returns the identities of all objects found.
    pub(crate) fn identities(&self) -> impl Iterator<Item = usize> {
        self.order.iter().copied()
    }

    fn is_new(&mut self, identity: usize) -> bool {
        let is_new = self.seen.insert(identity);
        if is_new {
            self.order.push(identity);
        }
        is_new
    }

    /// Returns whether a container is to be gone through: it is new, and small enough. A larger one is not copied to find
    /// that out.
    fn enters(&mut self, identity: usize, items: usize) -> bool {
        let is_new = self.is_new(identity);
        let has_room = self.items.saturating_add(items) <= ITEMS;
        if is_new && !has_room {
            self.items = ITEMS + 1;
        }
        is_new && has_room
    }

    /// Leaves values for later; those that refer to nothing are only counted.
    fn wait<'v>(&mut self, values: impl Iterator<Item = &'v Value>) {
        for value in values {
            match value {
                Value::None | Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Str(_) => self.items += 1,
                value => self.waiting.push(value.clone()),
            }
        }
    }

    fn take(&mut self, value: &Dynamic, depth: usize) {
        self.items += 1;
        if depth > DEPTH || self.items > ITEMS {
            self.items = ITEMS + 1;
        } else if value.is_shared() {
            let held = value.read_lock::<Dynamic>().map(|held| (std::ptr::from_ref(&*held) as usize, held.clone()));
            if let Some((address, held)) = held
                && self.is_new(address)
            {
                self.cells.push((value.clone(), held));
            }
        } else if let Some(array) = value.read_lock::<rhai::Array>() {
            array.iter().for_each(|item| self.take(item, depth + 1));
        } else if let Some(map) = value.read_lock::<rhai::Map>() {
            map.values().for_each(|item| self.take(item, depth + 1));
        } else if let Some(closure) = value.read_lock::<FnPtr>() {
            closure.curry().iter().for_each(|captured| self.take(captured, depth + 1));
        } else if let Ok(value) = to_value(value) {
            self.waiting.push(value);
        }
    }

    fn take_value(&mut self, value: &Value) {
        self.items += 1;
        self.add_attributes(value);
        match value {
            Value::Tensor(tensor) if self.is_new(tensor.identity()) => {
                self.tensors.push(tensor.clone());
                let view = tensor.view();
                self.add_storage(&view.storage);
                view.form.iter().flat_map(|form| form.parts()).for_each(|(_, part)| self.add_storage(&part.storage));
                let gradient = tensor.has_autograd().then(|| tensor.autograd(|meta| meta.grad.clone())).flatten();
                self.waiting.extend(gradient.into_iter().chain(tensor.base().cloned()).map(Value::Tensor));
            }
            Value::Storage(storage) => self.add_storage(storage),
            Value::TypedStorage(typed) => self.add_storage(&typed.storage),
            Value::Buffer(buffer) if self.is_new(buffer.identity()) => self.buffers.push(buffer.clone()),
            Value::Generator(generator) if self.is_new(Rc::as_ptr(generator) as usize) => {
                self.generators.push(value.clone());
            }
            Value::Tuple(items) if self.enters(items.identity(), items.len()) => self.wait(items.iter()),
            Value::NamedTuple(tuple) => self.waiting.extend(tuple.fields.iter().map(|(_, value)| value.clone())),
            Value::List(list) if self.enters(list.identity(), list.len()) => {
                self.lists.push(list.clone());
                self.wait(list.borrow().iter());
            }
            Value::Dict(dict) => self.add_dict(dict),
            Value::Set(set) if self.enters(set.identity(), set.len()) => {
                self.sets.push(set.clone());
                self.wait(set.borrow().iter().map(|(item, ())| item));
            }
            Value::Object(object) => {
                if let Some(function) = object.as_any().downcast_ref::<ScriptFunction>() {
                    return function.pointer.curry().iter().for_each(|captured| self.take(captured, 0));
                }
                let held = object.object_state();
                held.dicts.iter().for_each(|dict| self.add_dict(dict));
                for slot in held.slots {
                    if self.is_new(slot.identity()) {
                        self.waiting.extend(slot.value());
                        self.slots.push(slot);
                    }
                }
                // These objects have no identity here; only what they refer to does.
                let identity = value.address();
                if identity.is_none_or(|identity| self.is_new(identity)) {
                    self.waiting.extend(held.values);
                }
            }
            _ => {}
        }
    }

    fn add_attributes(&mut self, object: &Value) {
        if let Some(own) = self.extras.and_then(|extras| extras.of(object)) {
            self.add_dict(&own);
        }
    }

    fn add_dict(&mut self, dict: &Dict) {
        if self.enters(dict.identity(), 2 * dict.len()) {
            self.dicts.push(dict.clone());
            self.wait(dict.borrow().iter().flat_map(|(key, value)| [key, value]));
        }
    }

    fn add_storage(&mut self, storage: &Storage) {
        if self.is_new(storage.identity()) {
            self.storages.push(storage.clone());
            // The attributes of typed storages are those of one storage, whatever the dtype.
            let typed = TypedStorage::new(storage.clone(), DType::Byte);
            for object in [Value::Storage(storage.clone()), Value::TypedStorage(typed)] {
                self.add_attributes(&object);
            }
        }
    }
}
