//! The variables of a session as a table: the class of each, and which share bytes. Formats no elements.

use std::collections::{BTreeMap, HashMap};

use rhai::Dynamic;

use super::Session;
use super::complete::class_of_dynamic;
use super::results::{hidden_name, shown_name};
use call::Receiver;
use explain::tensors::describe;
use explain::turn::Turn;
use explain::{Holder, Ink, Picture, RedrawContext, Scene, byte_count, span};
use explain::{aliases, arrays};
use languages::script::holders::{Handles, holders, is_container, is_result, memory_of, place_in};
use languages::script::values::{shared, to_value};
use tensor::{Dims, Storage, Tensor, View};
use torch::library::help;
use value::{ArrayMemory, Value};

/// A variable, as `:vars` shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    pub name: String,
    /// Python's name for the class.
    pub class: String,
    /// The contents in a few words: the number of items of a list, or a short number itself.
    pub summary: String,
    /// The memory in use, if any.
    pub memory: Option<MemoryUse>,
}

/// The memory of a tensor, a storage or a buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryUse {
    pub dtype: Option<String>,
    /// `None` for a storage.
    pub size: Option<Dims>,
    /// In elements for a tensor, in bytes for an array.
    pub stride: Option<Dims>,
    pub offset: Option<i64>,
    /// Whether strides and offset are in bytes.
    pub is_in_bytes: bool,
    /// The number of the storage, from 1, in the order in which variables use storages.
    pub storage: usize,
    /// The number of bytes of the whole storage.
    pub nbytes: usize,
    /// The number of bytes of the visible elements; for a storage, all bytes.
    pub shown: usize,
    /// The other variables with the same storage.
    pub shared_with: Vec<String>,
}

impl Variable {
    /// Returns the type shown in a table: a tensor's dtype, the class of anything else.
    pub fn kind(&self) -> &str {
        self.memory.as_ref().and_then(|memory| memory.dtype.as_deref()).unwrap_or(&self.class)
    }
}

impl MemoryUse {
    fn of_array(array: &ArrayMemory, storage: usize, shared_with: Vec<String>) -> MemoryUse {
        let layout = &array.layout;
        let count = usize::try_from(layout.numel()).unwrap_or_default();
        MemoryUse {
            dtype: Some(array.dtype_name.clone()),
            size: Some(layout.sizes.clone()),
            stride: Some(layout.strides.clone()),
            offset: Some(layout.offset),
            is_in_bytes: true,
            storage,
            nbytes: array.storage.nbytes(),
            shown: count.saturating_mul(array.dtype.itemsize()),
            shared_with,
        }
    }
}

/// Returns the array that a variable holds.
fn array_of(value: &Dynamic) -> Option<ArrayMemory> {
    if is_container(value) { None } else { to_value(value).ok()?.array_memory() }
}

impl Session {
    /// Returns every variable, oldest first. Earlier results, whose names begin with an underscore, come last.
    pub fn variables(&self) -> Vec<Variable> {
        let mut entries: Vec<_> = self.scope.iter_raw().map(|(name, _, value)| (name, value)).collect();
        // The scope lists the newest entry first.
        entries.reverse();
        entries.retain(|(name, value)| *name != "ARGS" || !is_empty_list(value));
        let mut entries: Vec<_> = entries.into_iter().map(|(name, value)| (shown_name(name), value)).collect();
        entries.sort_by_key(|(name, _)| name.starts_with('_'));
        let own: Vec<_> = entries.iter().map(|(_, value)| memory_of(value)).collect();
        // A buffer has a storage if a tensor shares its bytes.
        let beneath = |(value, storage): (&Dynamic, &Option<Storage>)| match storage {
            Some(storage) => Some(storage.clone()),
            None => shared_storage(value, &own),
        };
        let storages: Vec<_> = entries.iter().map(|(_, value)| *value).zip(&own).map(beneath).collect();
        let present: Vec<Storage> = storages.iter().flatten().cloned().collect();
        let mut numbers: HashMap<usize, usize> = HashMap::new();
        let numbered = present.iter().zip(aliases::numbered(&present));
        numbers.extend(numbered.map(|(storage, number)| (storage.identity(), number + 1)));
        drop(present);
        let mut holders: HashMap<usize, Vec<&str>> = HashMap::new();
        for ((name, _), storage) in entries.iter().zip(&storages) {
            // Kept results do not count as sharing.
            if let Some(number) = storage.as_ref().and_then(|storage| numbers.get(&storage.identity()))
                && !is_result(name)
            {
                holders.entry(*number).or_default().push(name);
            }
        }
        let variable = |((name, value), storage): (&(&str, &Dynamic), &Option<Storage>)| Variable {
            name: (*name).to_owned(),
            class: class_name(value),
            summary: summary(value),
            memory: storage.as_ref().map(|storage| {
                let number = numbers.get(&storage.identity()).copied().unwrap_or_default();
                let others = holders.get(&number).into_iter().flatten().filter(|other| *other != name);
                if let Some(array) = array_of(value) {
                    return MemoryUse::of_array(&array, number, others.map(|other| (*other).to_owned()).collect());
                }
                let tensor = value.read_lock::<Tensor>().map(|tensor| tensor.view());
                MemoryUse {
                    dtype: tensor.as_ref().map(|view| view.dtype.name().to_owned()),
                    size: tensor.as_ref().map(|view| Dims::from_slice(view.sizes())),
                    stride: tensor.as_ref().map(|view| Dims::from_slice(view.strides())),
                    offset: tensor.as_ref().map(|view| view.layout.offset),
                    is_in_bytes: false,
                    storage: number,
                    nbytes: storage.nbytes(),
                    shown: tensor.as_ref().map_or(storage.nbytes(), shown_nbytes),
                    shared_with: others.map(|other| (*other).to_owned()).collect(),
                }
            }),
        };
        entries.iter().zip(&storages).map(variable).collect()
    }

    /// Returns the layout of a variable, to be changed by hand.
    ///
    /// # Errors
    /// Fails with the reason why there is none.
    pub fn turn(&self, name: &str) -> Result<Turn, String> {
        let value = self.scope.get(hidden_name(name)).ok_or_else(|| match name.contains(['.', '[', '(']) {
            true => format!(":turn takes a variable; give {name} a name first"),
            false => format!("there is no variable {name}"),
        })?;
        if is_container(value) {
            return Err(format!("{name} is a container; give one of its tensors a name first"));
        }
        Turn::of(&to_value(value).map_err(|error| error.message)?).map_err(|why| format!("{name}: {why}"))
    }

    /// Returns the storages by their numbers, each with a drawing of its variables.
    pub fn storages(&self) -> Vec<(usize, Picture)> {
        let holders = self.holders();
        let mut numbers = BTreeMap::new();
        for Variable { name, memory, .. } in self.variables() {
            if let (Some(memory), Some(holder)) = (memory, holders.iter().find(|holder| holder.name == name)) {
                numbers.entry(memory.storage).or_insert(holder);
            }
        }
        let width = self.runtime.width.get();
        let scene = |(number, holder): (usize, &Holder)| {
            (number, Picture::of(aliases::of_storage(number, &holder.storage, &holders), width))
        };
        numbers.into_iter().map(scene).collect()
    }
}

/// Returns the number of bytes of a view's elements.
fn shown_nbytes(view: &View) -> usize {
    usize::try_from(view.numel()).unwrap_or_default().saturating_mul(view.dtype.itemsize())
}

impl Session {
    /// Returns the variables that hold memory, also inside lists and dictionaries, without kept results.
    pub(super) fn holders(&self) -> Vec<Holder> {
        let mut entries: Vec<_> = self.scope.iter_raw().map(|(name, _, value)| (name, value)).collect();
        // The scope lists the newest entry first.
        entries.reverse();
        holders(entries.into_iter(), self.handles_of_ours(true))
    }

    /// Returns the data from which pictures are redrawn.
    pub fn seen(&self) -> RedrawContext {
        RedrawContext { holders: self.holders(), remembered: self.handles_of_ours(true) }
    }

    /// Returns the storage handles held only by the session: the undo history and, while Rhai runs, Python's copies of
    /// variables.
    pub(super) fn handles_of_ours(&self, is_rhai: bool) -> Handles {
        let mut handles = self.past.handles();
        if is_rhai {
            self.python_handles().into_iter().for_each(|(id, count)| *handles.entry(id).or_default() += count);
        }
        handles
    }

    /// Returns help on the value of a variable: its class, its memory, who shares it and what it can do. `None` if
    /// there is no such variable.
    pub(super) fn describe(&self, name: &str) -> Option<String> {
        let value = self.scope.get(hidden_name(name))?;
        let plain = |text: String| span(Ink::Plain, text);
        let mut facts = Vec::new();
        let mut scene = if let Some(tensor) = value.read_lock::<Tensor>() {
            let view = tensor.view();
            if view.device().is_meta() {
                facts.push(("device".to_owned(), plain("meta: a shape without elements".to_owned())));
            }
            if tensor.requires_grad() {
                let made = tensor.autograd(|meta| meta.grad_fn.as_ref().map(|(node, _)| node.name()));
                let from =
                    made.map_or(format!("a leaf: backward() fills {name}.grad"), |made| format!("recorded by {made}"));
                facts.push(("gradient".to_owned(), plain(from)));
            }
            describe(&view, &self.holders())
        } else if let Some(array) = array_of(value) {
            arrays::describe(&array, &self.holders())
        } else {
            if let Some(memory) = self.variables().into_iter().find(|variable| variable.name == name)?.memory {
                facts.push(("storage".to_owned(), plain(byte_count(memory.nbytes as u64))));
                if !memory.shared_with.is_empty() {
                    facts.push(("shared with".to_owned(), plain(memory.shared_with.join(", "))));
                }
            }
            Scene::new(summary(value))
        };
        scene.title = format!("{name}: {}", scene.title);
        if let Some(kind) = class_of_dynamic(value) {
            facts.push(("can do".to_owned(), plain(abilities(Receiver::Class(kind)))));
        }
        scene.facts(facts);
        Some(Picture::of(scene, self.runtime.width.get()).text())
    }

    /// Returns the class of a variable as help names it.
    pub(super) fn class_path(&self, variable: &str) -> Option<&'static str> {
        match to_value(self.scope.get(variable)?).ok()? {
            Value::Tensor(_) => Some("Tensor"),
            Value::Storage(_) => Some("UntypedStorage"),
            Value::TypedStorage(_) => Some("TypedStorage"),
            _ => None,
        }
    }
}

/// With more names than this, only their subjects are listed.
const NAMES: usize = 40;

/// Lists what the values of a class can do: the names or, if there are many, their number by subject.
fn abilities(receiver: Receiver) -> String {
    let mut members = help::members(receiver);
    members.retain(|member| !member.name.starts_with('_'));
    let mut told: Vec<String> = members.iter().map(|member| member.name.to_owned()).collect();
    if told.len() > NAMES {
        let mut subjects: BTreeMap<&str, usize> = BTreeMap::new();
        for subject in members.iter().map(|member| help::subject(member.name)).filter(|subject| !subject.is_empty()) {
            *subjects.entry(subject).or_default() += 1;
        }
        told = subjects.into_iter().map(|(subject, count)| format!("{subject} ({count})")).collect();
    }
    told.join(", ")
}

/// Returns the first of these storages that shares the bytes of a buffer.
fn shared_storage(value: &Dynamic, storages: &[Option<Storage>]) -> Option<Storage> {
    let Ok(Value::Buffer(buffer)) = (if is_container(value) { return None } else { to_value(value) }) else {
        return None;
    };
    storages.iter().flatten().find(|storage| place_in(&buffer, storage).is_some()).cloned()
}

fn is_empty_list(value: &Dynamic) -> bool {
    let is_empty = value.read_lock::<rhai::Array>().is_some_and(|array| array.is_empty());
    is_empty || matches!(shared(value), Some(Value::List(list)) if list.is_empty())
}

/// Returns Python's name for a variable's class, without its module and without walking containers.
pub(super) fn class_name(value: &Dynamic) -> String {
    if let Some(container) = shared(value) {
        return container.type_name().to_owned();
    }
    if value.is_array() {
        return "list".to_owned();
    }
    if value.is_map() {
        return "dict".to_owned();
    }
    let name = to_value(value).map_or_else(|_| "object".to_owned(), |value| value.type_name().to_owned());
    name.rsplit('.').next().map(str::to_owned).unwrap_or(name)
}

/// Describes a variable in a few words: its class and size.
pub(super) fn summary(value: &Dynamic) -> String {
    if let Some(tensor) = value.read_lock::<Tensor>() {
        let view = tensor.borrow();
        return format!("Tensor {} {:?}", view.dtype.name(), view.sizes());
    }
    if let Some(array) = array_of(value) {
        return format!("ndarray {} {:?}", array.dtype_name, array.layout.sizes);
    }
    if let Some(array) = value.read_lock::<rhai::Array>() {
        return format!("list of {}", array.len());
    }
    if let Some(Value::List(list)) = shared(value) {
        return format!("list of {}", list.len());
    }
    if let Ok(number) = value.as_int() {
        return format!("int {number}");
    }
    if let Ok(number) = value.as_float() {
        return format!("float {number}");
    }
    if let Ok(truth) = value.as_bool() {
        return format!("bool {}", if truth { "True" } else { "False" });
    }
    if let Some(text) = value.read_lock::<rhai::ImmutableString>() {
        return format!("str of {}", text.chars().count());
    }
    class_name(value)
}
