//! The session as it was before an input: its variables, their bytes, its settings.
//!
//! An input may write through any view of any storage, so there is nothing to record but the bytes themselves. They are
//! compared with the copy before and kept once as long as they are the same; what is too large to copy at every input is
//! left as it is, and said so.

use std::collections::{HashMap, HashSet, VecDeque};
use std::rc::Rc;

use rhai::{Dynamic, Scope};

use super::Session;
use super::results::shown_name;
use crate::format::PrintOptions;
use crate::script::holders::storage_of;
use crate::script::value::to_value;
use crate::tensor::memory::{get, set};
use crate::tensor::{AutogradMeta, DType, Memory, Names, Result, Storage, Tensor, View};
use crate::value::equality::{equal, is};
use crate::value::{Dict, List, Value};

/// The number of inputs that can be undone.
const STEPS: usize = 32;
/// The number of bytes of storages copied for one input. What does not fit is not undone.
const STEP_BYTES: usize = 32 << 20;
/// The number of bytes all copies may take together; the oldest go first.
const ALL_BYTES: usize = 128 << 20;
/// The number of items of lists that are searched for tensors.
const ITEMS: usize = 100_000;
/// The maximum depth of nested lists; a variable that holds deeper ones is not undone.
const DEPTH: usize = 100;

/// The latest states, the newest last.
#[derive(Default)]
pub(super) struct Past {
    steps: VecDeque<Snapshot>,
}

impl Past {
    /// For every storage, by its identity, the handles that are here only so that inputs can be undone: those of the
    /// snapshots, and those of tensors that nobody else holds any more.
    pub(super) fn handles(&self) -> HashMap<usize, usize> {
        let mut handles: HashMap<usize, usize> = HashMap::new();
        let mut tensors: HashMap<usize, (&Tensor, usize)> = HashMap::new();
        let mut named: HashMap<usize, usize> = HashMap::new();
        for snapshot in &self.steps {
            let places = snapshot.bytes.iter().filter_map(|(place, _)| match place {
                Place::Storage(storage) => Some(storage.identity()),
                Place::Memory(_) => None,
            });
            let views = snapshot.tensors.iter().map(|(_, view, ..)| view.storage.identity());
            places.chain(views).for_each(|storage| *handles.entry(storage).or_default() += 1);
            for (tensor, ..) in &snapshot.tensors {
                tensors.entry(tensor.identity()).or_insert((tensor, 0)).1 += 1;
            }
            let in_lists = snapshot.lists.iter().flat_map(|(_, items)| items);
            let in_dicts = snapshot.dicts.iter().flat_map(|(_, entries)| entries.iter().map(|(_, value)| value));
            for value in snapshot.variables.iter().map(|(_, value)| value) {
                if let Some(tensor) = value.read_lock::<Tensor>() {
                    *named.entry(tensor.identity()).or_default() += 1;
                } else if let Some(storage) = storage_of(value) {
                    *handles.entry(storage.identity()).or_default() += 1;
                }
            }
            for value in in_lists.chain(in_dicts) {
                match value {
                    Value::Tensor(tensor) => *named.entry(tensor.identity()).or_default() += 1,
                    Value::Storage(storage) => *handles.entry(storage.identity()).or_default() += 1,
                    Value::TypedStorage(typed) => *handles.entry(typed.storage.identity()).or_default() += 1,
                    _ => {}
                }
            }
        }
        for (identity, (tensor, listed)) in tensors {
            if tensor.holders() == listed + named.get(&identity).copied().unwrap_or(0) {
                *handles.entry(tensor.borrow().storage.identity()).or_default() += 1;
            }
        }
        handles
    }
}

struct Snapshot {
    variables: Vec<(String, Dynamic)>,
    /// Python's lists and dictionaries, which all who hold them share, with what they held.
    lists: Vec<(List, Vec<Value>)>,
    dicts: Vec<(Dict, Vec<(Value, Value)>)>,
    tensors: Vec<(Tensor, View, Option<AutogradMeta>, Option<Names>)>,
    bytes: Vec<(Place, Rc<[u8]>)>,
    /// Variables whose bytes are too many.
    left_out: Vec<String>,
    default_dtype: DType,
    print_options: PrintOptions,
    grad_enabled: bool,
    generator: Vec<u8>,
}

/// The place where bytes are put back.
#[derive(Clone)]
enum Place {
    Storage(Storage),
    /// A buffer's own memory.
    Memory(Rc<Memory>),
}

impl Place {
    fn identity(&self) -> usize {
        match self {
            Place::Storage(storage) => storage.identity(),
            Place::Memory(memory) => Rc::as_ptr(memory) as usize,
        }
    }

    fn memory(&self) -> Rc<Memory> {
        match self {
            Place::Storage(storage) => storage.memory(),
            Place::Memory(memory) => Rc::clone(memory),
        }
    }

    fn restore(&self, bytes: &[u8]) -> Result<()> {
        if let Place::Storage(storage) = self {
            storage.resize(bytes.len())?;
        }
        for (cell, byte) in self.memory().bytes().iter().zip(bytes) {
            // Writing only what differs leaves pages of a mapped file alone.
            if get(cell) != *byte {
                set(cell, *byte);
            }
        }
        Ok(())
    }
}

/// The effect of an undo. Names of variables, in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Undone {
    /// Those that hold what they held before, or show the bytes they showed.
    pub restored: Vec<String>,
    /// Those that there were not yet.
    pub gone: Vec<String>,
    /// Those that had been deleted.
    pub back: Vec<String>,
    /// Settings that are as before.
    pub settings: Vec<&'static str>,
    /// What is told of watched storages, if nobody listens.
    pub text: String,
    /// Variables that were too large to be remembered, and are as they were left.
    pub left_out: Vec<String>,
}

impl Session {
    /// Remembers the present state, to be called before an input.
    pub fn remember(&mut self) {
        let snapshot = Snapshot::take(self);
        let steps = &mut self.past.steps;
        steps.push_back(snapshot);
        while steps.len() > STEPS || (steps.len() > 1 && total(steps) > ALL_BYTES) {
            steps.pop_front();
        }
    }

    /// Takes the session back to before the last input that was remembered; `None` if there is none.
    ///
    /// # Errors
    /// RuntimeError if a storage has been made so that it cannot get its size back.
    pub fn undo(&mut self) -> Option<Result<Undone>> {
        let snapshot = self.past.steps.pop_back()?;
        let mut undone = snapshot.restore(self);
        // It is this that has changed them, and not the next input.
        self.runtime.tell_changes(|| self.holders());
        if let Ok(undone) = &mut undone {
            undone.text = self.runtime.take_printed();
        }
        Some(undone)
    }

    /// Forgets the newest state, when the input it was taken for changed nothing.
    pub fn forget_last(&mut self) {
        self.past.steps.pop_back();
    }
}

fn total(steps: &VecDeque<Snapshot>) -> usize {
    let mut seen = HashSet::new();
    let copies = steps.iter().flat_map(|step| &step.bytes);
    copies.filter(|(_, bytes)| seen.insert(bytes.as_ptr())).map(|(_, bytes)| bytes.len()).sum()
}

/// The things reached from a variable.
#[derive(Default)]
struct Reached {
    tensors: Vec<Tensor>,
    places: Vec<Place>,
    lists: Vec<(List, Vec<Value>)>,
    dicts: Vec<(Dict, Vec<(Value, Value)>)>,
    items: usize,
}

impl Reached {
    /// Adds what `value` holds. A list may hold itself, and lists may be nested deeply.
    fn add(&mut self, value: &Dynamic, depth: usize) {
        self.items += 1;
        if self.items > ITEMS || depth > DEPTH {
            self.items = ITEMS + 1;
            return;
        }
        if let Some(array) = value.read_lock::<rhai::Array>() {
            array.iter().for_each(|item| self.add(item, depth + 1));
        } else if let Some(map) = value.read_lock::<rhai::Map>() {
            map.values().for_each(|item| self.add(item, depth + 1));
        } else if let Ok(value) = to_value(value) {
            self.add_value(&value, depth);
        }
    }

    fn add_value(&mut self, value: &Value, depth: usize) {
        self.items += 1;
        if depth > DEPTH {
            self.items = ITEMS + 1;
        }
        match value {
            _ if self.items > ITEMS => {}
            Value::Tensor(tensor) => {
                self.places.push(Place::Storage(tensor.borrow().storage.clone()));
                self.tensors.push(tensor.clone());
                if let Some(grad) = tensor.autograd(|meta| meta.grad.clone()) {
                    self.add_value(&Value::Tensor(grad), depth + 1);
                }
            }
            Value::Storage(storage) => self.places.push(Place::Storage(storage.clone())),
            Value::TypedStorage(typed) => self.places.push(Place::Storage(typed.storage.clone())),
            Value::Buffer(buffer) => self.places.push(Place::Memory(buffer.memory())),
            Value::Tuple(items) => items.iter().for_each(|item| self.add_value(item, depth + 1)),
            Value::List(list) if !self.lists.iter().any(|(known, _)| known.is(list)) => {
                let items = list.to_vec();
                self.lists.push((list.clone(), items.clone()));
                items.iter().for_each(|item| self.add_value(item, depth + 1));
            }
            Value::Dict(dict) if !self.dicts.iter().any(|(known, _)| known.is(dict)) => {
                let entries = dict.to_vec();
                self.dicts.push((dict.clone(), entries.clone()));
                entries.iter().for_each(|(_, item)| self.add_value(item, depth + 1));
            }
            _ => {}
        }
    }
}

impl Snapshot {
    fn take(session: &Session) -> Snapshot {
        let state = &session.runtime;
        let before = session.past.steps.back();
        let mut snapshot = Snapshot {
            variables: Vec::new(),
            lists: Vec::new(),
            dicts: Vec::new(),
            tensors: Vec::new(),
            bytes: Vec::new(),
            left_out: Vec::new(),
            default_dtype: state.default_dtype.get(),
            print_options: *state.print_options.borrow(),
            grad_enabled: state.grad_enabled.get(),
            generator: state.generator.borrow().state_bytes(),
        };
        let mut seen = HashSet::new();
        let mut left = STEP_BYTES;
        for (name, _, value) in session.scope.iter_raw() {
            let mut reached = Reached::default();
            reached.add(value, 0);
            let fresh: Vec<_> = reached.places.into_iter().filter(|place| !seen.contains(&place.identity())).collect();
            let needed: usize = {
                let mut once = HashSet::new();
                fresh.iter().filter(|place| once.insert(place.identity())).map(size_of).sum()
            };
            if reached.items > ITEMS || needed > left {
                snapshot.left_out.push(name.to_owned());
                continue;
            }
            left -= needed;
            for place in fresh {
                if seen.insert(place.identity())
                    && let Some(bytes) = copy(&place, before)
                {
                    snapshot.bytes.push((place, bytes));
                }
            }
            for tensor in reached.tensors {
                let view = tensor.view();
                let autograd = tensor.has_autograd().then(|| tensor.autograd(AutogradMeta::clone));
                let names = tensor.names();
                snapshot.tensors.push((tensor, view, autograd, names));
            }
            snapshot.lists.extend(reached.lists);
            snapshot.dicts.extend(reached.dicts);
            snapshot.variables.push((name.to_owned(), value.clone()));
        }
        // The scope lists its newest entry first.
        snapshot.variables.reverse();
        snapshot
    }

    /// What is other than it was.
    fn changes(&self, session: &Session) -> Undone {
        let is_as_copied = |place: &Place, bytes: &[u8]| {
            let memory = place.memory();
            memory.nbytes() == bytes.len() && holds(&memory, bytes)
        };
        let places = self.bytes.iter().filter(|(place, bytes)| !is_as_copied(place, bytes));
        let written: HashSet<usize> = places.map(|(place, _)| place.identity()).collect();
        let tensors = self.tensors.iter().filter(|(tensor, view, autograd, names)| {
            let now = tensor.view();
            now.layout != view.layout
                || now.dtype != view.dtype
                || now.storage != view.storage
                || tensor.names() != *names
                || tensor.has_autograd() != autograd.is_some()
        });
        let shaped: HashSet<usize> = tensors.map(|(tensor, ..)| tensor.identity()).collect();
        let lists = self.lists.iter().filter(|(list, items)| !is_each(&list.to_vec(), items, is_alike));
        let lists: Vec<&List> = lists.map(|(list, _)| list).collect();
        let dicts = self.dicts.iter().filter(|(dict, entries)| {
            !is_each(&dict.to_vec(), entries, |(k, v), (key, value)| is_alike(k, key) && is_alike(v, value))
        });
        let dicts: Vec<&Dict> = dicts.map(|(dict, _)| dict).collect();
        let mut undone = Undone::default();
        for (name, then) in &self.variables {
            let shown = shown_name(name).to_owned();
            let Some(now) = session.scope.get(name) else {
                undone.back.push(shown);
                continue;
            };
            let mut reached = Reached::default();
            reached.add(then, 0);
            let has_changed = !is_same(now, then)
                || reached.places.iter().any(|place| written.contains(&place.identity()))
                || reached.tensors.iter().any(|tensor| shaped.contains(&tensor.identity()))
                || reached.lists.iter().any(|(list, _)| lists.iter().any(|changed| changed.is(list)))
                || reached.dicts.iter().any(|(dict, _)| dicts.iter().any(|changed| changed.is(dict)));
            if has_changed {
                undone.restored.push(shown);
            }
        }
        let known = |name: &str| self.variables.iter().any(|(known, _)| known == name);
        let mut names: Vec<_> = session.scope.iter_raw().map(|(name, ..)| name).collect();
        names.reverse();
        names.retain(|name| !known(name) && !self.left_out.iter().any(|left| left == name));
        undone.gone = names.into_iter().map(|name| shown_name(name).to_owned()).collect();
        // Earlier results move on with every input.
        for names in [&mut undone.restored, &mut undone.gone, &mut undone.back] {
            names.retain(|name| !name.starts_with('_'));
        }
        let state = &session.runtime;
        let settings = [
            (state.default_dtype.get() != self.default_dtype, "default dtype"),
            (*state.print_options.borrow() != self.print_options, "print options"),
            (state.grad_enabled.get() != self.grad_enabled, "grad mode"),
            (state.generator.borrow().state_bytes() != self.generator, "random generator"),
        ];
        undone.settings = settings.into_iter().filter(|(has_changed, _)| *has_changed).map(|(_, name)| name).collect();
        undone
    }

    fn restore(self, session: &mut Session) -> Result<Undone> {
        let mut undone = self.changes(session);
        for (place, bytes) in &self.bytes {
            place.restore(bytes)?;
        }
        for (tensor, view, autograd, names) in self.tensors {
            tensor.set_view(view);
            tensor.set_names(names.as_deref().unwrap_or_default());
            if autograd.is_some() || tensor.has_autograd() {
                tensor.autograd_mut(|meta| *meta = autograd.unwrap_or_default());
            }
        }
        self.lists.into_iter().try_for_each(|(list, items)| list.replace(items))?;
        self.dicts.into_iter().try_for_each(|(dict, entries)| dict.replace(entries))?;
        let mut scope = Scope::new();
        for name in self.left_out {
            if let Some(value) = session.scope.get(&name) {
                scope.push_dynamic(name.clone(), value.clone());
                undone.left_out.push(name);
            }
        }
        for (name, value) in self.variables {
            scope.push_dynamic(name, value);
        }
        session.scope = scope;
        session.python.is_stale();
        let state = &session.runtime;
        state.default_dtype.set(self.default_dtype);
        *state.print_options.borrow_mut() = self.print_options;
        state.grad_enabled.set(self.grad_enabled);
        // The bytes come from a generator of the same kind.
        let _ = state.generator.borrow_mut().set_state_bytes(&self.generator);
        Ok(undone)
    }
}

/// Returns whether two lists agree item for item.
fn is_each<T>(now: &[T], then: &[T], is_alike: impl Fn(&T, &T) -> bool) -> bool {
    now.len() == then.len() && now.iter().zip(then).all(|(now, then)| is_alike(now, then))
}

/// Returns whether a variable holds what it held: the same object, or an equal value.
fn is_same(now: &Dynamic, then: &Dynamic) -> bool {
    if let (Some(now), Some(then)) = (now.read_lock::<rhai::Array>(), then.read_lock::<rhai::Array>()) {
        return is_each(&now, &then, is_same);
    }
    if let (Some(now), Some(then)) = (now.read_lock::<rhai::Map>(), then.read_lock::<rhai::Map>()) {
        return now.len() == then.len()
            && now.iter().all(|(key, now)| then.get(key).is_some_and(|then| is_same(now, then)));
    }
    match (to_value(now), to_value(then)) {
        (Ok(now), Ok(then)) => is_alike(&now, &then),
        _ => now.type_id() == then.type_id(),
    }
}

fn is_alike(now: &Value, then: &Value) -> bool {
    match (now, then) {
        (Value::Tensor(now), Value::Tensor(then)) => now.identity() == then.identity(),
        (Value::Storage(now), Value::Storage(then)) => now == then,
        (Value::Buffer(now), Value::Buffer(then)) => now.identity() == then.identity(),
        (Value::List(now), Value::List(then)) => now.is(then),
        (Value::Dict(now), Value::Dict(then)) => now.is(then),
        (Value::Tuple(now), Value::Tuple(then)) => is_each(now, then, is_alike),
        (now, then) => now.type_name() == then.type_name() && (is(now, then) || equal(now, then)),
    }
}

fn size_of(place: &Place) -> usize {
    let memory = place.memory();
    if memory.is_meta() { 0 } else { memory.nbytes() }
}

/// The bytes at a place: the copy of the step before, if they are still the same.
fn copy(place: &Place, before: Option<&Snapshot>) -> Option<Rc<[u8]>> {
    let memory = place.memory();
    if memory.is_meta() || memory.check().is_err() {
        return None;
    }
    let known = before.and_then(|before| before.bytes.iter().find(|(other, _)| other.identity() == place.identity()));
    if let Some((_, bytes)) = known
        && bytes.len() == memory.nbytes()
        && holds(&memory, bytes)
    {
        return Some(Rc::clone(bytes));
    }
    memory.to_vec().ok().map(Rc::from)
}

/// Whether the memory holds these very bytes. Compares words, as this is done at every input.
pub(super) fn holds(memory: &Memory, bytes: &[u8]) -> bool {
    let (words, tail) = bytes.as_chunks::<8>();
    let rest = memory.bytes().get(bytes.len() - tail.len()..).unwrap_or_default();
    memory.typed::<u64>().iter().zip(words).all(|(cell, word)| get(cell) == u64::from_ne_bytes(*word))
        && rest.iter().zip(tail).all(|(cell, byte)| get(cell) == *byte)
}

#[cfg(test)]
mod tests {
    use super::Undone;
    use crate::session::{Language, Session, SessionOptions};

    fn eval(session: &mut Session, input: &str) -> String {
        let outcome = session.eval(Language::Python, input);
        assert_eq!(outcome.error, None, "{input}");
        outcome.text
    }

    #[test]
    fn names_of_dimensions_come_back() {
        let mut session = Session::new(SessionOptions::default());
        eval(&mut session, "import torch\nt = torch.zeros(1, 1, names=('A', 'B'))\nu = torch.zeros(1)");
        session.remember();
        eval(&mut session, "_ = t.rename_(None), u.rename_('C')");
        assert!(session.undo().is_some_and(|undone| undone.is_ok()));
        assert_eq!(eval(&mut session, "t.names, u.names"), "(('A', 'B'), (None,))\n");
    }

    #[test]
    fn bytes_shapes_and_names_come_back() {
        let mut session = Session::new(SessionOptions::default());
        eval(&mut session, "import torch\nt = torch.arange(5.)\nv = t[1:3]\nb = bytearray(3)\nx = [t, 1]");
        session.remember();
        eval(&mut session, "x.append(5); v.fill_(9); t.resize_(2, 4); b[1] = 7; x = 3; y = 4; torch.manual_seed(1)");
        session.remember();
        eval(&mut session, "del t");
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let undone = session.undo().unwrap().unwrap();
        assert_eq!(undone, Undone { back: names(&["t"]), ..Undone::default() });
        assert_eq!(eval(&mut session, "t.shape, x, y"), "(torch.Size([2, 4]), 3, 4)\n");
        let undone = session.undo().unwrap().unwrap();
        let (restored, gone) = (names(&["t", "v", "b", "x"]), names(&["y"]));
        assert_eq!(undone, Undone { restored, gone, settings: vec!["random generator"], ..Undone::default() });
        assert_eq!(eval(&mut session, "t"), "tensor([0., 1., 2., 3., 4.])\n");
        assert_eq!(eval(&mut session, "v, b, x[0] is t"), "(tensor([1., 2.]), bytearray(b'\\x00\\x00\\x00'), True)\n");
        assert_eq!(eval(&mut session, "len(x)"), "2\n");
        assert!(session.eval(Language::Python, "y").error.is_some());
        assert!(session.undo().is_none());
    }

    #[test]
    fn watched_storages_tell_what_undo_has_changed() {
        let mut session = Session::new(SessionOptions::default());
        eval(&mut session, "import torch\nt = torch.arange(3)\nwatch(t)");
        session.remember();
        assert!(eval(&mut session, "t[1] = 7").contains("watch: 1 int64 element changed"));
        let undone = session.undo().unwrap().unwrap();
        assert!(undone.text.contains("before │ 7") && undone.text.contains("after  │ 1"), "{}", undone.text);
        assert_eq!(eval(&mut session, "t"), "tensor([0, 1, 2])\n");
    }

    #[test]
    fn what_is_remembered_is_no_handle() {
        let mut session = Session::new(SessionOptions::default());
        eval(
            &mut session,
            "import torch\nt = torch.arange(5.)\nv = t[1:3]\nx = [t[2:]]\nw = t[3:]\ns = t.untyped_storage()",
        );
        let handles = |session: &mut Session| {
            let text = eval(session, "aliases()");
            text.lines().find(|line| line.starts_with("storage #1")).map(str::to_owned)
        };
        let before = handles(&mut session);
        assert_eq!(before.as_deref(), Some("storage #1: 20 bytes, held by 5 handles"));
        session.remember();
        session.remember();
        assert_eq!(handles(&mut session), before);
        eval(&mut session, "del w, s; x.clear()");
        assert_eq!(handles(&mut session).as_deref(), Some("storage #1: 20 bytes, held by 2 handles"));
    }

    #[test]
    fn what_is_too_large_is_left_and_said() {
        let mut session = Session::new(SessionOptions::default());
        eval(&mut session, "import torch\nbig = torch.zeros(10000000)\nsmall = torch.zeros(2)");
        session.remember();
        eval(&mut session, "big[0] = 1; small[0] = 1");
        let undone = session.undo().map(|undone| undone.map(|undone| undone.left_out));
        assert!(matches!(undone, Some(Ok(names)) if names == ["big"]));
        assert_eq!(eval(&mut session, "big[0], small[0]"), "(tensor(1.), tensor(0.))\n");
    }
}
