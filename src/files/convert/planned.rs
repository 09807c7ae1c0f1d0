//! A checkpoint whose bytes are produced while it is written: its values, with other dtypes or with storages of their own.

use super::elements::{ConvertedElements, becomes};
use crate::contents::{DEEPEST, Elements};
use crate::names::Leaf;
use crate::safetensors::area;
use crate::values::leaves;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;
use tensor::{DType, Form, Layout, Result, Storage, Tensor, TypedStorage, View, bail};
use value::{Dict, List, Value};

/// Returns the dense tensors in a value that have data, each once.
pub(super) fn tensors_in(value: &Value) -> Result<Vec<Tensor>> {
    let mut seen = HashSet::new();
    let mut tensors = Vec::new();
    for Leaf { of, .. } in leaves(value)? {
        if let Value::Tensor(tensor) = of {
            let is_dense = { tensor.view().form.is_none() && !tensor.view().device().is_meta() };
            if is_dense && seen.insert(tensor.identity()) {
                tensors.push(tensor);
            }
        }
    }
    Ok(tensors)
}

/// Returns the identities of tensors that share no bytes with another.
pub(super) fn independent(tensors: &[Tensor]) -> HashSet<usize> {
    let mut together: BTreeMap<usize, Vec<(usize, usize, usize)>> = BTreeMap::new();
    for tensor in tensors {
        let view = tensor.view();
        let (start, end) = area(&view.layout, view.dtype);
        together.entry(view.storage.identity()).or_default().push((start, end, tensor.identity()));
    }
    let mut alone = HashSet::new();
    for mut areas in together.into_values() {
        areas.sort_unstable();
        let mut reached = 0;
        for (index, &(start, end, tensor)) in areas.iter().enumerate() {
            let next = areas.get(index + 1).map_or(usize::MAX, |(start, ..)| *start);
            if start >= reached && next >= end {
                alone.insert(tensor);
            }
            reached = reached.max(end);
        }
    }
    alone
}

/// Tensors on storages whose bytes are produced while they are written.
#[derive(Default)]
pub(super) struct PlannedCheckpoint {
    dtype: Option<DType>,
    /// The identities of the tensors that get a storage of their own.
    pub alone: HashSet<usize>,
    /// The bytes to write for a storage, by its identity.
    pub bodies: HashMap<usize, Rc<ConvertedElements>>,
    /// The storage that replaces another, by the identity of the original.
    storages: HashMap<usize, Storage>,
    /// The identity of the original, by that of the storage that replaces it.
    pub origins: HashMap<usize, usize>,
    /// The tensor that replaces another, by the identity of the original.
    made: HashMap<usize, Tensor>,
    /// Lists and dictionaries, likewise.
    containers: HashMap<usize, Value>,
    /// The attributes of tensors, by their identity. The tensors are kept, so that no other gets the identity.
    pub attributes: HashMap<usize, (Tensor, Dict)>,
}

impl PlannedCheckpoint {
    /// Creates a plan to convert floats to a dtype, if one is given.
    pub(super) fn new(dtype: Option<DType>) -> PlannedCheckpoint {
        PlannedCheckpoint { dtype, ..PlannedCheckpoint::default() }
    }

    pub(super) fn attach(&mut self, tensor: &Tensor, attributes: Dict) {
        self.attributes.insert(tensor.identity(), (tensor.clone(), attributes));
    }

    pub(super) fn promise(&mut self, body: ConvertedElements) -> Storage {
        let storage = Storage::absent(body.nbytes);
        self.bodies.insert(storage.identity(), Rc::new(body));
        storage
    }

    /// Converts the floats of a value to another dtype. Tensors that shared a storage still share one.
    pub(super) fn recast(&mut self, value: &Value, depth: usize) -> Result<Value> {
        if depth > DEEPEST {
            bail!(RecursionError, "maximum recursion depth exceeded: the file nests its containers too deeply");
        }
        // A container may occur in several places, or contain itself, so it is registered before it is filled.
        Ok(match value {
            Value::Tensor(tensor) => Value::Tensor(self.tensor(tensor)?),
            Value::TypedStorage(typed) => match self.dtype.filter(|_| typed.dtype.is_floating_point()) {
                Some(dtype) => Value::TypedStorage(TypedStorage::new(self.storage(&typed.view(), dtype)?, dtype)),
                None => value.clone(),
            },
            Value::Tuple(items) => Value::Tuple(self.all(items, depth)?.into_iter().collect()),
            Value::List(list) => match self.containers.get(&list.identity()) {
                Some(made) => made.clone(),
                None => {
                    let made = List::default();
                    self.containers.insert(list.identity(), Value::List(made.clone()));
                    made.replace(self.all(&list.to_vec(), depth)?)?;
                    Value::List(made)
                }
            },
            Value::Dict(dict) => match self.containers.get(&dict.identity()) {
                Some(made) => made.clone(),
                None => {
                    let made = Dict::default().to_kind(dict.is_ordered());
                    self.containers.insert(dict.identity(), Value::Dict(made.clone()));
                    for (key, value) in dict.to_vec() {
                        made.insert(key, self.recast(&value, depth + 1)?)?;
                    }
                    Value::Dict(made)
                }
            },
            other => other.clone(),
        })
    }

    fn all(&mut self, items: &[Value], depth: usize) -> Result<Vec<Value>> {
        items.iter().map(|item| self.recast(item, depth + 1)).collect()
    }

    fn tensor(&mut self, tensor: &Tensor) -> Result<Tensor> {
        if let Some(made) = self.made.get(&tensor.identity()) {
            return Ok(made.clone());
        }
        let view = match self.alone.contains(&tensor.identity()) {
            true => self.alone(&tensor.view())?,
            false => self.view(&tensor.view())?,
        };
        let requires_grad = tensor.requires_grad();
        let made = Tensor::new(view);
        let made = if tensor.is_parameter() {
            made.to_parameter(requires_grad)
        } else {
            made.autograd_mut(|meta| meta.requires_grad = requires_grad);
            made
        };
        self.made.insert(tensor.identity(), made.clone());
        if let Some((_, attributes)) = self.attributes.get(&tensor.identity()).cloned()
            && let Value::Dict(attributes) = self.recast(&Value::Dict(attributes), 0)?
        {
            self.attach(&made, attributes);
        }
        Ok(made)
    }

    /// Returns a tensor's elements in a storage of their own.
    fn alone(&mut self, view: &View) -> Result<View> {
        let dtype = becomes(Elements::Plain(view.dtype), self.dtype);
        let storage = self.promise(ConvertedElements::of_view(view, dtype)?);
        self.origins.insert(storage.identity(), view.storage.identity());
        let layout = Layout::contiguous(view.sizes());
        Ok(View { storage, layout, dtype, conj: false, neg: false, form: None })
    }

    fn view(&mut self, view: &View) -> Result<View> {
        let Some(dtype) = self.dtype.filter(|_| view.dtype.is_floating_point()) else { return Ok(view.clone()) };
        match view.form.as_deref() {
            None => Ok(View { storage: self.storage(view, dtype)?, dtype, ..view.clone() }),
            Some(Form::Coo(coo)) => {
                let mut coo = coo.clone();
                coo.values = self.view(&coo.values)?;
                Ok(View { form: Some(Rc::new(Form::Coo(coo))), dtype, ..view.clone() })
            }
            Some(Form::Compressed(of)) => {
                let mut of = of.clone();
                of.values = self.view(&of.values)?;
                Ok(View { form: Some(Rc::new(Form::Compressed(of))), dtype, ..view.clone() })
            }
            Some(Form::Quantized(_)) => Ok(view.clone()),
        }
    }

    fn storage(&mut self, view: &View, dtype: DType) -> Result<Storage> {
        if view.device().is_meta() {
            return Ok(view.storage.clone());
        }
        if let Some(storage) = self.storages.get(&view.storage.identity()) {
            return Ok(storage.clone());
        }
        let storage = self.promise(ConvertedElements::of_storage(&view.storage, view.dtype, dtype)?);
        self.storages.insert(view.storage.identity(), storage.clone());
        self.origins.insert(storage.identity(), view.storage.identity());
        Ok(storage)
    }
}
