//! The judge of an exercise. It has a session of its own, in which the expressions of the page are evaluated: a learner
//! may give new meanings to `int`, `torch` or the exercise's variables in the session of the attempt, and the judge sees
//! none of them, only the values.
//!
//! What the judge remembers of the given variables are weak handles and copies of bytes, because the pictures that a
//! learner draws count the handles of a storage.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::{Rc, Weak};
use std::sync::atomic::Ordering;

use super::Exercise;
use crate::transcript::OnOpen;
use crate::{Language, Session, SessionOptions};
use tensor::journal::{self, Writer, WritesSeen};
use tensor::{DType, Layout, Memory, Storage, View, WeakStorage, WeakTensor};
use value::{Object, Value};

/// The names that expressions may use.
const NAMES: &str = include_str!("judge.py");

/// The depth of lists in lists, and the number of their items, up to which a value is looked at.
const MOST: (usize, usize) = (8, 1 << 16);

/// Memory of more bytes is not copied, so a change of its bytes alone is not seen.
const LARGEST: usize = 64 << 20;

/// The judge of one attempt.
pub(super) struct Judge<'e> {
    exercise: &'e Exercise,
    session: Session,
    /// The names of the given variables.
    names: Vec<String>,
    givens: Vec<Given>,
}

/// A given variable that has memory.
struct Given {
    name: String,
    handle: Handle,
    storage: Option<WeakStorage>,
    /// The memory. Unlike a handle of the storage, it is not counted anywhere; held, its address is not used again.
    memory: Rc<Memory>,
    /// The layout of a tensor. Other values are looked at as bytes.
    shape: Option<(Layout, DType)>,
    /// The bytes at the beginning; none if there are too many.
    bytes: Vec<u8>,
}

/// A reference that tells whether a variable is still bound to what was given.
enum Handle {
    Tensor(WeakTensor),
    Object(Weak<dyn Object>),
    /// The identity of a buffer or a storage. Their memory is held, and with it their address.
    Kept(Value),
}

/// What an input has called and written to.
#[derive(Clone, Debug, Default)]
pub(super) struct Activity {
    pub(super) calls: BTreeMap<&'static str, usize>,
    pub(super) writes: WritesSeen,
}

/// What the judge finds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Finding {
    /// The check holds, and nothing is forbidden.
    Met,
    /// A forbidden way, with its sentence.
    Forbidden(String),
    /// Unmet, with the sentence on a likely error, if it is one.
    Unmet(Option<String>),
}

/// The state of the given variables, to be compared with that before an input.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct GivenState {
    /// Names bound to something else than what was given.
    pub(super) rebound: BTreeSet<String>,
    /// Names of tensors that show other memory than they did.
    pub(super) moved: BTreeSet<String>,
    /// The number of bytes of its memory that differ from those given, by name.
    pub(super) changed: BTreeMap<String, usize>,
    /// Everything else that can be different: layouts, memory, bytes.
    details: Vec<(String, Vec<u8>)>,
}

impl<'e> Judge<'e> {
    /// Begins the judgement of an attempt whose session has run the code `given`.
    pub(super) fn begin(exercise: &'e Exercise, given: &str, attempt: &Session, on_open: &OnOpen) -> Judge<'e> {
        let mut session = Session::new(SessionOptions { live: Some(Box::new(|_| {})), ..SessionOptions::default() });
        on_open(&session);
        session.eval(Language::Python, NAMES);
        session.eval(Language::Python, given);
        session.eval(Language::Python, "fresh, given = Names(), Names()");
        let variables = attempt.variable_values();
        for (name, _) in &variables {
            session.eval(Language::Python, &format!("fresh.{name} = {name}"));
        }
        let names = variables.iter().map(|(name, _)| name.clone()).collect();
        let givens = variables.into_iter().filter_map(|(name, value)| Given::of(name, value)).collect();
        Judge { exercise, session, names, givens }
    }

    /// Returns the state of the given variables.
    pub(super) fn state(&self, attempt: &Session) -> GivenState {
        let mut state = GivenState::default();
        for given in &self.givens {
            let value = attempt.value_of_variable(&given.name);
            let name = || given.name.clone();
            if !value.as_ref().is_some_and(|value| given.handle.is(value)) {
                state.rebound.insert(name());
            }
            if let Some(Value::Tensor(tensor)) = &value {
                let view = tensor.view();
                if given.storage().is_none_or(|storage| storage != view.storage) {
                    state.moved.insert(name());
                }
                let shown = format!("{:?} {:?} {}", view.layout, view.dtype, view.storage.identity());
                state.details.push((shown, Vec::new()));
            }
            let memory = given.present_memory();
            let bytes = copied(&memory);
            let differ = bytes.iter().zip(&given.bytes).filter(|(now, then)| now != then).count();
            state.changed.insert(name(), differ + bytes.len().abs_diff(given.bytes.len()));
            state.details.push((format!("{}", journal::identity(&memory)), bytes));
        }
        state
    }

    /// Evaluates the expressions of the page on the answer and on the present variables.
    pub(super) fn find(
        &mut self,
        attempt: &Session,
        answer: Option<&Value>,
        state: &GivenState,
        activity: &[Activity],
    ) -> Finding {
        // Ctrl-C during an input asks every open session to stop.
        self.session.interrupt_flag().store(false, Ordering::Relaxed);
        let mut names = vec![("answer".to_owned(), answer.cloned().unwrap_or(Value::None))];
        let present = |name: &String| (name.clone(), attempt.value_of_variable(name).unwrap_or(Value::None));
        names.extend(self.names.iter().map(present));
        let over: Vec<_> =
            self.givens.iter().map(|given| (given.name.clone(), given.as_tensor().unwrap_or(Value::None))).collect();
        let facts = self.facts(answer, state, activity);
        let foreign: Vec<_> =
            names.iter().filter(|(_, value)| !is_admitted(value, &mut 0, 0)).map(|(name, _)| name.clone()).collect();
        for (name, value) in &names {
            let admitted = if foreign.contains(name) { Value::None } else { value.clone() };
            self.session.put(name, admitted);
        }
        for (name, value) in &over {
            self.session.put(&format!("given_{name}"), value.clone());
        }
        let assigned = over.iter().map(|(name, _)| format!("given.{name} = given_{name}\n"));
        let replaced = foreign.iter().map(|name| format!("{name} = ForeignObject()\n"));
        let prepared: String = assigned.chain(replaced).collect();
        self.session.eval(Language::Python, &format!("given = Names()\n{prepared}{facts}"));
        let exercise = self.exercise;
        let forbidden = exercise.forbidden.iter().find(|(is, _)| self.is_true(is));
        let found = match forbidden {
            Some((_, why)) => Finding::Forbidden(why.clone()),
            None if self.is_true(&exercise.check) => Finding::Met,
            None => Finding::Unmet(self.likely(&foreign)),
        };
        // Nothing of the attempt is kept, or its storages would have more handles.
        for name in names.into_iter().map(|(name, _)| name).chain(over.iter().map(|(name, _)| format!("given_{name}")))
        {
            self.session.put(&name, Value::None);
        }
        self.session.eval(Language::Python, "given = Names()");
        found
    }

    fn likely(&mut self, foreign: &[String]) -> Option<String> {
        if let Some(name) = foreign.first() {
            let what = if name == "answer" { "the answer".to_owned() } else { format!("`{name}`") };
            return Some(format!("{what} is or holds an object that is not a plain value."));
        }
        let exercise = self.exercise;
        exercise.likely.iter().find(|(is, _)| self.is_true(is)).map(|(_, why)| why.clone())
    }

    /// Returns assignments of what was noted, in Python.
    fn facts(&self, answer: Option<&Value>, state: &GivenState, activity: &[Activity]) -> String {
        let mut calls: BTreeMap<&str, usize> = BTreeMap::new();
        let mut writes: BTreeMap<&str, usize> = BTreeMap::new();
        for input in activity {
            input.calls.iter().for_each(|(name, count)| *calls.entry(name).or_default() += count);
            for ((memory, writer), seen) in &input.writes {
                if self.is_given(*memory) {
                    let writer = match writer {
                        Writer::Tensor => "tensor",
                        Writer::Array => "array",
                        Writer::Storage => "storage",
                    };
                    let largest = writes.entry(writer).or_default();
                    *largest = seen.largest.max(*largest);
                }
            }
        }
        let mut steps = Vec::new();
        if let Some(Value::Tensor(tensor)) = answer {
            let mut step = tensor.step();
            while let Some(last) = step {
                steps.insert(0, last.name);
                step = last.earlier.clone();
            }
        }
        let (rebound, moved) = (&state.rebound, &state.moved);
        format!(
            "calls = {calls:?}\nwrites = {writes:?}\nsteps = {steps:?}\nchanged = {:?}\nrebound = {:?}\nmoved = {:?}\nelsewhere = {}\n",
            state.changed,
            Vec::from_iter(rebound),
            Vec::from_iter(moved),
            if activity.last().is_some_and(|last| self.wrote_elsewhere(last)) { "True" } else { "False" },
        )
    }

    /// Returns whether a memory belongs to a given variable.
    fn is_given(&self, memory: usize) -> bool {
        let roots = |given: &Given| [&given.memory, &given.present_memory()].map(|memory| journal::root(memory).0);
        self.givens.iter().any(|given| roots(given).iter().any(|root| journal::identity(root) == memory))
    }

    /// Returns whether an input has written to memory of a tensor, an array or a storage that was not given.
    pub(super) fn wrote_elsewhere(&self, activity: &Activity) -> bool {
        activity.writes.keys().any(|(memory, _)| !self.is_given(*memory))
    }

    /// Returns whether an input may have written to given memory, even if the bytes are the same. Writes to buffers are
    /// not noted.
    pub(super) fn may_have_written(&self, activity: &Activity) -> bool {
        let has_buffer = self.givens.iter().any(|given| matches!(given.handle, Handle::Kept(_)));
        has_buffer || activity.writes.keys().any(|(memory, _)| self.is_given(*memory))
    }

    /// Returns whether an expression of the page is true.
    fn is_true(&mut self, expression: &str) -> bool {
        self.session.eval(Language::Python, &format!("assert ({expression})")).error.is_none()
    }
}

impl Given {
    /// Returns what is to be remembered of a value with memory.
    fn of(name: String, value: Value) -> Option<Given> {
        let (handle, storage, memory, shape) = match &value {
            Value::Tensor(tensor) => {
                let view = tensor.view();
                let shape = Some((view.layout.clone(), view.dtype));
                (Handle::Tensor(tensor.downgrade()), Some(view.storage.downgrade()), view.storage.memory(), shape)
            }
            Value::Buffer(buffer) => (Handle::Kept(value.clone()), None, buffer.memory(), None),
            Value::Object(object) => {
                let storage = object.memory()?.storage;
                (Handle::Object(Rc::downgrade(object)), Some(storage.downgrade()), storage.memory(), None)
            }
            _ => return None,
        };
        let bytes = copied(&memory);
        Some(Given { name, handle, storage, memory, shape, bytes })
    }

    fn storage(&self) -> Option<Storage> {
        self.storage.as_ref().and_then(WeakStorage::upgrade)
    }

    /// Returns the memory of the storage that was given. It is another one than at the beginning after
    /// `share_memory_`.
    fn present_memory(&self) -> Rc<Memory> {
        self.storage().map_or_else(|| self.memory.clone(), |storage| storage.memory())
    }

    /// Returns a tensor over the memory that the variable had, with the layout that it had. `None` if the memory is
    /// gone or too small.
    fn as_tensor(&self) -> Option<Value> {
        let storage = match (&self.storage, &self.handle) {
            (Some(storage), _) => storage.upgrade()?,
            (None, Handle::Kept(Value::Buffer(buffer))) => buffer.storage(0, buffer.nbytes())?,
            _ => return None,
        };
        let (layout, dtype) = match &self.shape {
            Some(shape) => shape.clone(),
            None => (Layout::contiguous(&[i64::try_from(storage.nbytes()).ok()?]), DType::Byte),
        };
        let is_inside =
            usize::try_from(layout.storage_elements().ok()?).ok()?.checked_mul(dtype.itemsize())? <= storage.nbytes();
        is_inside.then(|| Value::from(View { storage, layout, dtype, conj: false, neg: false, form: None }))
    }
}

/// Returns the bytes of a memory; none if there are too many, or if they cannot be read.
fn copied(memory: &Memory) -> Vec<u8> {
    if memory.nbytes() > LARGEST { Vec::new() } else { memory.to_vec().unwrap_or_default() }
}

impl Handle {
    /// Returns whether a value is what was given.
    fn is(&self, value: &Value) -> bool {
        match (self, value) {
            (Handle::Tensor(given), Value::Tensor(tensor)) => given.upgrade().is_some_and(|given| given.is(tensor)),
            (Handle::Object(given), Value::Object(object)) => {
                given.upgrade().is_some_and(|given| Rc::ptr_eq(&given, object))
            }
            (Handle::Kept(given), value) => given.address().is_some() && given.address() == value.address(),
            _ => false,
        }
    }
}

/// Returns whether a value is one of Python, PyTorch or NumPy through and through, and not an object of a learner's
/// class, whose methods the judge would call.
fn is_admitted(value: &Value, seen: &mut usize, depth: usize) -> bool {
    *seen += 1;
    if depth > MOST.0 || *seen > MOST.1 {
        return false;
    }
    let mut all = |values: &[Value]| values.iter().all(|value| is_admitted(value, seen, depth + 1));
    match value {
        Value::Tuple(items) => all(items),
        Value::List(list) => all(&list.to_vec()),
        Value::Set(set) => all(&set.to_vec()),
        Value::Dict(dict) => dict.to_vec().iter().all(|(key, value)| all(&[key.clone(), value.clone()])),
        Value::Object(object) => {
            object.number().is_some() || object.is_array() && object.class_name() == "numpy.ndarray"
        }
        Value::Function(_) | Value::Method(_) | Value::Generator(_) => false,
        _ => true,
    }
}
