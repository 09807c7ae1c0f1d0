//! Converts the nodes of a pickle to values. Identity is preserved for storages, tensors, and other values that can be
//! shared.

use super::read::{Id, Node, Pickled, Saved, Scale, Sparse, TensorDescription};
use std::collections::{HashMap, HashSet};
use tensor::bail;
use tensor::layout::checked_numel;
use tensor::ops::{quantize, sparse};
use tensor::view::check_bounds;
use tensor::{
    Buffer, BufferKind, DType, Device, Error, ErrorKind, Quantizer, Result, Storage, Tensor, TypedStorage, View,
    interrupt,
};
use value::{Dict, List, Value};

/// The maximum depth of nested containers, as everywhere here.
const DEEPEST: usize = 200;

/// The maximum number of values of a pickle, counting a shared value at each place: a script would copy it.
const MOST_VALUES: usize = 1 << 24;

/// Returns the value of a key of a dictionary. `None` for one that needs the bytes of a storage, or does not exist here.
pub(crate) fn key_value(pickled: &Pickled, id: Id) -> Option<Value> {
    /// A key of more values has no name: it could make a long one of few bytes.
    const MOST: usize = 1000;
    let no_bytes = |_: &Saved| Err(Error::runtime("a key has no storage"));
    Builder { most: MOST, ..Builder::new(pickled, no_bytes, |_, _| ()) }.value(id).ok()
}

/// Makes the values of a pickle. What is shared in it is shared by all values made.
pub(crate) struct Builder<'p, F, A> {
    pickled: &'p Pickled,
    fetch: F,
    attach: A,
    /// The maximum number of values in a value.
    most: usize,
    /// The storages fetched so far, by their index.
    storages: HashMap<usize, Storage>,
    /// The values built so far, each with its number of nested values.
    made: HashMap<Id, (Value, usize)>,
    /// The containers being built.
    open: HashSet<Id>,
}

impl<'p, F: FnMut(&Saved) -> Result<Storage>, A: FnMut(&Tensor, Dict)> Builder<'p, F, A> {
    /// `fetch` returns the bytes of a storage, and is called once for each one needed. `attach`
    /// receives the attributes of a tensor.
    pub(crate) fn new(pickled: &'p Pickled, fetch: F, attach: A) -> Builder<'p, F, A> {
        let (storages, made, open) = Default::default();
        Builder { pickled, fetch, attach, most: MOST_VALUES, storages, made, open }
    }

    /// Returns the value of a node.
    ///
    /// # Errors
    /// Fails with RuntimeError for tensors that extend beyond their storage or are not supported here, with
    /// RecursionError for containers nested too deeply and tuples that contain themselves, and with the errors of
    /// `fetch`.
    pub(crate) fn value(&mut self, id: Id) -> Result<Value> {
        self.weighed(id).map(|(value, _)| value)
    }

    /// Returns a value, and the number of values in it.
    fn weighed(&mut self, id: Id) -> Result<(Value, usize)> {
        if let Some(made) = self.made.get(&id) {
            return Ok(made.clone());
        }
        if self.open.len() > DEEPEST || !self.open.insert(id) {
            bail!(RecursionError, "maximum recursion depth exceeded: the file nests its containers too deeply");
        }
        let mut weight = 1;
        let value = self.make(id, &mut weight)?;
        self.open.remove(&id);
        self.made.insert(id, (value.clone(), weight));
        Ok((value, weight))
    }

    fn part(&mut self, id: Id, weight: &mut usize) -> Result<Value> {
        let (value, of_part) = self.weighed(id)?;
        *weight = weight.saturating_add(of_part);
        if *weight > self.most {
            bail!(RuntimeError, "a file of more than {} values is not read", self.most);
        }
        Ok(value)
    }

    fn make(&mut self, id: Id, weight: &mut usize) -> Result<Value> {
        let pickled = self.pickled;
        Ok(match pickled.node(id) {
            Node::None => Value::None,
            Node::Bool(b) => Value::Bool(*b),
            Node::Int(number) => Value::from(*number),
            Node::Long(number) => Value::from((**number).clone()),
            Node::Float(number) => Value::Float(*number),
            Node::Complex(number) => Value::Complex(*number),
            Node::Str(text) => Value::Str(text.clone().into()),
            Node::Bytes(bytes) => Value::Buffer(Buffer::bytes(bytes)?),
            Node::ByteArray(bytes) => Value::Buffer(Buffer::bytearray(bytes)?),
            Node::List(items) => {
                let list = List::default();
                // The list may contain itself.
                self.made.insert(id, (Value::List(list.clone()), 1));
                list.replace(items.iter().map(|&item| self.part(item, weight)).collect::<Result<_>>()?)?;
                Value::List(list)
            }
            Node::Tuple(items) => {
                Value::Tuple(items.iter().map(|&item| self.part(item, weight)).collect::<Result<_>>()?)
            }
            Node::Dict(entries, is_ordered) => {
                let dict = Dict::default().to_kind(*is_ordered);
                self.made.insert(id, (Value::Dict(dict.clone()), 1));
                for (key, value) in self.entries(entries, weight)? {
                    dict.insert(key, value)?;
                }
                Value::Dict(dict)
            }
            Node::Class(super::names::Class::DType(dtype)) => Value::DType(*dtype),
            Node::Class(class) => {
                bail!(RuntimeError, "the file holds {class:?} itself, which cannot be loaded as a value")
            }
            Node::Device(device) => Value::Device(*device),
            Node::Layout(layout) => Value::Layout(*layout),
            Node::Size(dims) => Value::Size(dims.clone()),
            Node::Storage(index) => {
                let dtype = pickled.storages.get(*index).and_then(|saved| saved.dtype).unwrap_or(DType::Byte);
                Value::TypedStorage(TypedStorage::new(self.storage(*index)?, dtype))
            }
            Node::Tensor(shown) => Value::Tensor(self.tensor(shown)?),
            Node::Array(Some(array)) => {
                interrupt::check()?;
                Value::from(array.view()?)
            }
            Node::Array(None) => bail!(RuntimeError, "the file holds an array without its state"),
            Node::Number(_) => {
                bail!(RuntimeError, "the file holds numpy's dtype itself, which cannot be loaded as a value")
            }
            Node::Sparse(sparse) => Value::from(self.sparse(sparse)?),
            Node::Attributed(tensor, attributes) => {
                let (tensor, attributes) = (self.part(*tensor, weight)?, self.part(*attributes, weight)?);
                let (Value::Tensor(of), Value::Dict(attributes)) = (&tensor, attributes) else {
                    bail!(RuntimeError, "the file gives attributes to something other than a tensor")
                };
                (self.attach)(of, attributes);
                tensor
            }
            Node::Unknown(..) => bail!(RuntimeError, "the file holds an object of a class that is not allowed"),
            Node::Foreign(what, _) => bail!(RuntimeError, "the file holds {what}, which tensorsh does not support"),
        })
    }

    fn entries(&mut self, entries: &[(Id, Id)], weight: &mut usize) -> Result<Vec<(Value, Value)>> {
        let mut places = HashMap::new();
        let mut kept: Vec<(Value, Value)> = Vec::new();
        for &(key, value) in entries {
            let (key, value) = (self.part(key, weight)?, self.part(value, weight)?);
            let word = key_text(&key)?;
            match places.get(&word).and_then(|&place: &usize| kept.get_mut(place)) {
                Some(entry) => entry.1 = value,
                None => {
                    places.insert(word, kept.len());
                    kept.push((key, value));
                }
            }
        }
        Ok(kept)
    }

    fn storage(&mut self, index: usize) -> Result<Storage> {
        interrupt::check()?;
        if let Some(storage) = self.storages.get(&index) {
            return Ok(storage.clone());
        }
        let pickled = self.pickled;
        let saved = pickled.storages.get(index).ok_or_else(|| Error::runtime("a storage is missing"))?;
        let storage = match saved.part_of {
            // Parts are not nested: the whole storage was listed before its part.
            Some((whole, start)) if whole < index => {
                self.storage(whole)?.slice(start, start.saturating_add(saved.nbytes))?
            }
            _ => (self.fetch)(saved)?,
        };
        self.storages.insert(index, storage.clone());
        Ok(storage)
    }

    /// Returns a tensor that is a component of another.
    fn view(&mut self, id: Id) -> Result<View> {
        match self.value(id)? {
            Value::Tensor(tensor) => {
                let view = tensor.view();
                refuse_expanded(&view)?;
                Ok(view)
            }
            other => bail!(RuntimeError, "a part of a tensor is a {}", other.type_name()),
        }
    }

    /// Builds a quantized tensor from its integers.
    fn quantized(&mut self, integers: View, dtype: DType, scale: &Scale) -> Result<View> {
        quantize::limits(dtype)?;
        let quantizer = match *scale {
            Scale::PerTensor { scale, zero_point } => Quantizer::PerTensor { scale, zero_point },
            Scale::PerChannel { scales, zero_points, axis } => {
                let (scales, zero_points) = (self.view(scales)?, self.view(zero_points)?);
                let axis = usize::try_from(axis).ok().filter(|&axis| axis < integers.ndim());
                let channels = axis.and_then(|axis| integers.sizes().get(axis).copied());
                let kinds = (scales.dtype, zero_points.dtype);
                let are_numbers = matches!(kinds, (DType::Double, DType::Long) | (DType::Float, DType::Float));
                let (Some(axis), Some(channels), true) = (axis, channels, are_numbers) else {
                    bail!(RuntimeError, "a quantized tensor has scales that do not fit it")
                };
                if scales.sizes() != [channels] || zero_points.sizes() != [channels] {
                    bail!(RuntimeError, "a quantized tensor has scales for another number of channels");
                }
                Quantizer::PerChannel { scales: Box::new(scales), zero_points: Box::new(zero_points), axis }
            }
        };
        Ok(quantize::wrap(integers, dtype, quantizer))
    }

    fn sparse(&mut self, sparse: &Sparse) -> Result<View> {
        let parts = sparse.parts.iter().map(|&part| self.view(part)).collect::<Result<Vec<View>>>()?;
        if parts.iter().any(|part| part.form.is_some() || part.device().is_meta()) {
            bail!(RuntimeError, "a sparse tensor consists of dense ones with data");
        }
        match parts.as_slice() {
            [indices, values] => sparse::new_coo(indices, values, Some(&sparse.sizes), Some(sparse.is_coalesced), true),
            [starts, plain, values] => {
                sparse::compressed::new(sparse.layout, [starts, plain, values], Some(&sparse.sizes), true)
            }
            _ => bail!(RuntimeError, "a sparse tensor lacks its indices"),
        }
    }

    fn tensor(&mut self, shown: &TensorDescription) -> Result<Tensor> {
        let (layout, dtype) = (shown.layout.clone(), shown.dtype);
        if shown.scale.is_some() != dtype.is_quantized() {
            bail!(RuntimeError, "a tensor of dtype torch.{} is not quantized", dtype.name());
        }
        if layout.sizes.len() != layout.strides.len() {
            bail!(RuntimeError, "mismatch in length of strides and shape");
        }
        if let Some(size) = layout.sizes.iter().find(|&&size| size < 0) {
            bail!(
                RuntimeError,
                "Trying to create tensor with negative dimension {size}: {:?}",
                layout.sizes.as_slice()
            );
        }
        if layout.strides.iter().any(|&stride| stride < 0) {
            bail!(
                RuntimeError,
                "as_strided: Negative strides are not supported at the moment, got strides: {:?}",
                layout.strides.as_slice()
            );
        }
        checked_numel(&layout.sizes)?;
        let view = match shown.storage {
            None => View::zeros_strided(&layout.sizes, layout.strides, dtype, Device::META)?,
            Some(index) => {
                let storage = self.storage(index)?;
                check_bounds(&layout, dtype, storage.nbytes())?;
                let dtype = dtype.stored_integers();
                View { storage, layout, dtype, conj: shown.conj && dtype.is_complex(), neg: shown.neg, form: None }
            }
        };
        let view = match &shown.scale {
            None => view,
            Some(scale) => self.quantized(view, dtype, scale)?,
        };
        let tensor = Tensor::new(view);
        if shown.requires_grad && !dtype.is_differentiable() {
            bail!(RuntimeError, "only Tensors of floating point dtype can require gradients");
        }
        if shown.is_parameter {
            return Ok(tensor.to_parameter(shown.requires_grad));
        }
        if shown.requires_grad {
            tensor.autograd_mut(|meta| meta.requires_grad = true);
        }
        Ok(tensor)
    }
}

/// Rejects indices and scales with fewer bytes than elements: processing them could take forever.
fn refuse_expanded(view: &View) -> Result<()> {
    let nbytes = usize::try_from(view.numel()).ok().and_then(|numel| numel.checked_mul(view.dtype.itemsize()));
    if nbytes.is_none_or(|nbytes| nbytes > view.storage.nbytes()) {
        bail!(RuntimeError, "a part of a sparse or quantized tensor is larger than its storage");
    }
    Ok(())
}

/// Returns a text that identifies keys like Python: `1`, `1.0` and `True` are the same key.
fn key_text(key: &Value) -> Result<String> {
    Ok(match key {
        Value::Str(text) => format!("s{text}"),
        Value::Bool(b) => format!("n{}", i32::from(*b)),
        Value::Float(number) if number.fract() == 0.0 && number.abs() < 1e18 => format!("n{}", *number as i64),
        Value::Float(number) => format!("f{:x}", number.to_bits()),
        Value::Int(number) => format!("n{number}"),
        Value::BigInt(number) => format!("n{number}"),
        Value::Buffer(bytes) if bytes.kind() == BufferKind::Bytes => format!("b{}", bytes.to_vec()?.escape_ascii()),
        Value::None => "N".to_owned(),
        Value::DType(dtype) => format!("d{}", dtype.name()),
        Value::Device(device) => format!("v{device}"),
        Value::Tensor(tensor) => format!("t{}", tensor.identity()),
        Value::Tuple(items) => {
            let mut words = "(".to_owned();
            for item in items.iter() {
                let word = key_text(item)?;
                // Lengths prevent ambiguous concatenations.
                words.push_str(&format!("{}:{word}", word.len()));
            }
            words
        }
        Value::Size(sizes) => return key_text(&Value::ints(sizes)),
        other => {
            return Err(Error::new(ErrorKind::TypeError, format!("unhashable type: '{}'", other.type_name())));
        }
    })
}

#[cfg(test)]
mod tests {
    use super::super::{Facts, Mode, read, write};
    use super::*;

    #[test]
    fn what_is_shared_stays_shared() -> Result<()> {
        let (inner, dict) = (List::default(), Dict::default().to_kind(true));
        let whole = List::default();
        dict.insert(Value::str("list"), Value::List(inner.clone()))?;
        whole.replace(vec![
            Value::List(inner),
            Value::Dict(dict.clone()),
            Value::Dict(dict),
            Value::List(whole.clone()),
        ])?;
        let pickled = read(&write(&Value::List(whole.clone()), &Facts::default())?.bytes, &mut 0, Mode::Load)?;
        let fetch = |_: &Saved| Err(Error::runtime("no storage"));
        let Value::List(built) = Builder::new(&pickled, fetch, |_, _| ()).value(pickled.root)? else {
            return Err(Error::runtime("no list"));
        };
        let item = |i| built.get(i).unwrap_or(Value::None);
        let (Value::List(inner), Value::Dict(dict)) = (item(0), item(1)) else { return Err(Error::runtime("other")) };
        assert!(matches!(item(2), Value::Dict(other) if other.is(&dict)) && dict.is_ordered());
        assert!(matches!(item(3), Value::List(other) if other.is(&built)));
        assert!(matches!(dict.get_str("list"), Some(Value::List(other)) if other.is(&inner)));
        // Reference counting never frees a cycle.
        built.replace(Vec::new())?;
        whole.replace(Vec::new())
    }
}
