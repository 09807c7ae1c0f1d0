//! Calls in a pickle. The allowed names create containers, small values, storages and tensors, all of them as
//! descriptions.

use super::nested::storage_in;
use super::{Id, Mode, Node, PickleMachine, Saved, Scale, Sparse, TensorDescription};
use crate::pickle::names::{self, Class, Rebuild};
use crate::pickle::refused;
use num_complex::Complex;
use std::rc::Rc;
use tensor::{DType, Device, Dims, Error, ErrorKind, Layout, Result};
use value::TensorLayout;

impl PickleMachine<'_> {
    pub(super) fn new_object(&mut self) -> Result<()> {
        let (args, class) = (self.pop()?, self.pop()?);
        match self.node(class) {
            Node::Class(Class::Parameter) => self.call(Class::Parameter, args),
            Node::Class(Class::OrderedDict) => self.push(Node::Dict(Vec::new(), true)),
            Node::Class(Class::Unknown(name)) => self.call(Class::Unknown(*name), args),
            other => Err(refused(format!(
                "Can only create new object for nn.Parameter or classes allowlisted via `add_safe_globals` but got {}",
                other.class()
            ))),
        }
    }

    pub(super) fn reduce(&mut self) -> Result<()> {
        let (args, function) = (self.pop()?, self.pop()?);
        match *self.node(function) {
            Node::Class(class) => self.call(class, args),
            // The result of such a call may itself be called.
            Node::Unknown(name, ..) => self.call(Class::Unknown(name), args),
            ref other => Err(refused(format!("Trying to call reduce for unrecognized function {}", other.class()))),
        }
    }

    pub(super) fn build(&mut self) -> Result<()> {
        let (state, mode) = (self.pop()?, self.mode);
        match self.top_node()? {
            Node::Number(_) | Node::Array(_) => self.build_numpy(state),
            Node::Unknown(_, parts, _) => {
                parts.push(state);
                Ok(())
            }
            _ if mode == Mode::Report => Ok(()),
            // Attributes of the dictionary itself, such as the `_metadata` of a module's state.
            Node::Dict(_, true) => Ok(()),
            other => Err(refused(format!(
                "Can only build Tensor, Parameter, OrderedDict or types allowlisted via `add_safe_globals`, but got {}",
                other.class()
            ))),
        }
    }

    pub(super) fn items(&self, id: Id) -> Option<&[Id]> {
        match self.node(id) {
            Node::Tuple(items) | Node::List(items) => Some(items),
            _ => None,
        }
    }

    /// Calls a class or function, and pushes the result.
    fn call(&mut self, class: Class, args: Id) -> Result<()> {
        let Some(args) = self.items(args).map(<[Id]>::to_vec) else {
            return Err(refused("the arguments of a call are not a tuple"));
        };
        self.charge(args.len())?;
        let made = match self.make(class, &args) {
            Err(error) if self.mode == Mode::Report && error.kind == ErrorKind::UnpicklingError => {
                Node::Foreign("what cannot be put together here", args)
            }
            made => made?,
        };
        self.push(made)
    }

    fn make(&mut self, class: Class, args: &[Id]) -> Result<Node> {
        let wrong = || refused(format!("{class:?} does not take these arguments"));
        Ok(match (class, args) {
            (Class::Unknown(name), args) => Node::Unknown(name, args.to_vec(), Vec::new()),
            (Class::OrderedDict, []) => Node::Dict(Vec::new(), true),
            (Class::OrderedDict, &[pairs]) => Node::Dict(self.pairs(pairs)?, true),
            (Class::Set, _) => Node::Foreign("a set", args.to_vec()),
            (Class::Counter, _) => Node::Foreign("a Counter", args.to_vec()),
            (Class::Complex, &[re, im]) => Node::Complex(Complex::new(self.float(re)?, self.float(im)?)),
            (Class::Encode, &[text, _]) => Node::Bytes(self.latin1(text)?),
            (Class::ByteArray, []) => Node::ByteArray(Rc::from([])),
            (Class::ByteArray, &[bytes]) => match self.node(bytes) {
                Node::Bytes(bytes) => Node::ByteArray(bytes.clone()),
                _ => return Err(wrong()),
            },
            (Class::Bytes, []) => Node::Bytes(Rc::from([])),
            (Class::NumPy(name), args) => self.numpy(name, args)?,
            (Class::StorageOfBytes, &[bytes]) => {
                let (Node::Bytes(bytes) | Node::ByteArray(bytes)) = self.node(bytes).clone() else {
                    return Err(wrong());
                };
                self.charge(bytes.len())?;
                let (saved, start) = storage_in(&bytes, self.mode)?;
                let key = self.storages.len().to_string().into();
                Node::Storage(self.storage(Saved { key, inline: Some((bytes, start)), ..saved })?)
            }
            (Class::Size, &[sizes]) => Node::Size(self.dims(sizes)?),
            (Class::Device, &[name]) => Node::Device(Device::parse(self.str(name)?)?),
            (Class::Device, &[name, index]) => {
                Node::Device(Device::parse(&format!("{}:{}", self.str(name)?, self.int(index)?))?)
            }
            (Class::Layout, &[name]) => Node::Layout(names::layout(self.str(name)?).ok_or_else(wrong)?),
            (Class::Parameter, &[data]) => self.parameter(data, true)?,
            (Class::Parameter, &[data, requires_grad]) => {
                let requires_grad = self.bool(requires_grad)?;
                self.parameter(data, requires_grad)?
            }
            (Class::Rebuild(how), args) => self.rebuild(how, args)?,
            _ => return Err(wrong()),
        })
    }

    fn pairs(&mut self, id: Id) -> Result<Vec<(Id, Id)>> {
        let items = match self.node(id) {
            Node::Dict(entries, _) => {
                let entries = entries.clone();
                self.charge(entries.len())?;
                return Ok(entries);
            }
            Node::List(items) | Node::Tuple(items) => items.clone(),
            _ => return Err(refused("a dictionary is made of pairs")),
        };
        self.charge(items.len())?;
        let pair = |item| match self.items(item) {
            Some(&[key, value]) => Ok((key, value)),
            _ => Err(refused("a dictionary is made of pairs")),
        };
        items.into_iter().map(pair).collect()
    }

    fn latin1(&mut self, id: Id) -> Result<Rc<[u8]>> {
        let Node::Str(text) = self.node(id).clone() else { return Err(refused("only a str can be encoded")) };
        self.charge(text.len())?;
        let byte = |c: char| u8::try_from(u32::from(c)).map_err(|_| refused("a byte is larger than 255"));
        text.chars().map(byte).collect()
    }

    pub(super) fn str(&self, id: Id) -> Result<&str> {
        match self.node(id) {
            Node::Str(text) => Ok(text),
            other => Err(refused(format!("a str is needed, not {}", other.class()))),
        }
    }

    fn int(&self, id: Id) -> Result<i64> {
        match self.node(id) {
            Node::Int(number) => i64::try_from(*number).map_err(|_| Error::runtime("Overflow when unpacking long")),
            Node::Long(_) => Err(Error::runtime("Overflow when unpacking long")),
            Node::Bool(b) => Ok(i64::from(*b)),
            other => Err(refused(format!("a whole number is needed, not {}", other.class()))),
        }
    }

    fn float(&self, id: Id) -> Result<f64> {
        match self.node(id) {
            Node::Float(number) => Ok(*number),
            _ => self.int(id).map(|number| number as f64),
        }
    }

    pub(super) fn bool(&self, id: Id) -> Result<bool> {
        match self.node(id) {
            Node::Bool(b) => Ok(*b),
            other => Err(refused(format!("True or False is needed, not {}", other.class()))),
        }
    }

    pub(super) fn dims(&mut self, id: Id) -> Result<Dims> {
        if let Node::Size(dims) = self.node(id) {
            let dims = dims.clone();
            self.charge(dims.len())?;
            return Ok(dims);
        }
        let Some(items) = self.items(id) else { return Err(refused("sizes are a tuple of whole numbers")) };
        let dims = items.iter().map(|&item| self.int(item)).collect::<Result<Dims>>()?;
        self.charge(dims.len())?;
        Ok(dims)
    }

    fn dtype(&self, id: Id) -> Result<DType> {
        match self.node(id) {
            Node::Class(Class::DType(dtype)) => Ok(*dtype),
            other => Err(refused(format!("a dtype is needed, not {}", other.class()))),
        }
    }

    fn tensor(&self, id: Id) -> Result<Rc<TensorDescription>> {
        match self.node(id) {
            Node::Tensor(tensor) => Ok(tensor.clone()),
            // Attributes of the data of a parameter are not its own.
            Node::Attributed(tensor, _) if let Node::Tensor(tensor) = self.node(*tensor) => Ok(tensor.clone()),
            other => Err(refused(format!("a tensor is needed, not {}", other.class()))),
        }
    }

    fn parameter(&mut self, data: Id, requires_grad: bool) -> Result<Node> {
        let data = self.tensor(data)?;
        self.charge(2 * data.layout.ndim())?;
        Ok(Node::Tensor(Rc::new(TensorDescription { requires_grad, is_parameter: true, ..(*data).clone() })))
    }

    fn rebuild(&mut self, how: Rebuild, args: &[Id]) -> Result<Node> {
        Ok(match (how, args) {
            (Rebuild::Tensor, &[storage, offset, size, stride]) => {
                Node::Tensor(Rc::new(self.shown(storage, offset, size, stride)?))
            }
            (Rebuild::TensorV2, &[storage, offset, size, stride, requires_grad, _, ref metadata @ ..]) => {
                let shown = self.shown(storage, offset, size, stride)?;
                Node::Tensor(Rc::new(self.completed(shown, requires_grad, metadata)?))
            }
            (Rebuild::TensorV3, &[storage, offset, size, stride, requires_grad, _, dtype, ref metadata @ ..]) => {
                let shown = self.shown(storage, offset, size, stride)?;
                let shown = TensorDescription { dtype: self.dtype(dtype)?, ..shown };
                Node::Tensor(Rc::new(self.completed(shown, requires_grad, metadata)?))
            }
            (Rebuild::Meta, &[dtype, size, stride, requires_grad]) => {
                let layout = Layout { sizes: self.dims(size)?, strides: self.dims(stride)?, offset: 0 };
                let shown = TensorDescription::new(None, self.dtype(dtype)?, layout);
                Node::Tensor(Rc::new(self.completed(shown, requires_grad, &[])?))
            }
            (Rebuild::Quantized, &[storage, offset, size, stride, scale, requires_grad, ..]) => {
                let shown = self.shown(storage, offset, size, stride)?;
                let shown = TensorDescription { scale: Some(self.scale(scale)?), ..shown };
                Node::Tensor(Rc::new(self.completed(shown, requires_grad, &[])?))
            }
            (Rebuild::Parameter, &[data, requires_grad, _]) => {
                let requires_grad = self.bool(requires_grad)?;
                self.parameter(data, requires_grad)?
            }
            (Rebuild::ParameterWithState, &[data, requires_grad, _, state]) => {
                let requires_grad = self.bool(requires_grad)?;
                let made = self.parameter(data, requires_grad)?;
                self.attributed(made, state)?
            }
            (Rebuild::FromType, &[function, _, inner, state]) => match (self.node(function), self.items(inner)) {
                // A function of the same kind inside itself would recurse forever.
                (Node::Class(Class::Rebuild(how)), Some(inner)) if *how != Rebuild::FromType => {
                    let (how, inner) = (*how, inner.to_vec());
                    self.charge(inner.len())?;
                    let made = self.rebuild(how, &inner)?;
                    self.attributed(made, state)?
                }
                _ => return Err(refused("a tensor is rebuilt by an unsupported function")),
            },
            (Rebuild::Sparse, &[layout, parts]) => Node::Sparse(Rc::new(self.sparse(layout, parts)?)),
            (Rebuild::Foreign(what), parts) => Node::Foreign(what, parts.to_vec()),
            _ => return Err(refused(format!("{how:?} does not take {} arguments", args.len()))),
        })
    }

    /// Gives a tensor the attributes in its state: a dictionary, or a tuple of one and of the attributes in slots.
    fn attributed(&mut self, made: Node, state: Id) -> Result<Node> {
        let attributes = match self.node(state) {
            Node::Dict(..) => state,
            Node::Tuple(parts)
                if let &[own, slots] = parts.as_slice()
                    && self.is_empty(slots) =>
            {
                own
            }
            _ => state,
        };
        Ok(match self.node(attributes) {
            _ if self.is_empty(attributes) => made,
            Node::Dict(..) => Node::Attributed(self.add(made)?, attributes),
            _ => Node::Foreign("a tensor with a state of its own", vec![self.add(made)?]),
        })
    }

    fn scale(&self, id: Id) -> Result<Scale> {
        let Some(&[scheme, scale, zero_point, ref axis @ ..]) = self.items(id) else {
            return Err(refused("a quantized tensor has a scheme, a scale and a zero point"));
        };
        Ok(match (self.node(scheme), axis) {
            (Node::Class(Class::Scheme(false)), []) => {
                Scale::PerTensor { scale: self.float(scale)?, zero_point: self.int(zero_point)? }
            }
            (Node::Class(Class::Scheme(true)), &[axis]) => {
                let axis = self.int(axis)?;
                self.tensor(scale)?;
                self.tensor(zero_point)?;
                Scale::PerChannel { scales: scale, zero_points: zero_point, axis }
            }
            _ => return Err(refused("a quantized tensor has an unknown scheme")),
        })
    }

    fn sparse(&mut self, layout: Id, parts: Id) -> Result<Sparse> {
        let wrong = || refused("a sparse tensor has a layout, indices, values and a size");
        let &Node::Layout(layout) = self.node(layout) else { return Err(wrong()) };
        let Some(parts) = self.items(parts).map(<[Id]>::to_vec) else { return Err(wrong()) };
        self.charge(parts.len())?;
        let (tensors, size, is_coalesced) = match (layout, parts.as_slice()) {
            (TensorLayout::SparseCoo, &[indices, values, size]) => (vec![indices, values], size, false),
            (TensorLayout::SparseCoo, &[indices, values, size, is_coalesced]) => {
                let is_coalesced = !matches!(self.node(is_coalesced), Node::None) && self.bool(is_coalesced)?;
                (vec![indices, values], size, is_coalesced)
            }
            (TensorLayout::Strided, _) => return Err(wrong()),
            (_, &[compressed, plain, values, size]) => (vec![compressed, plain, values], size, false),
            _ => return Err(wrong()),
        };
        tensors.iter().try_for_each(|&part| self.tensor(part).map(drop))?;
        Ok(Sparse { layout, parts: tensors, sizes: self.dims(size)?, is_coalesced })
    }

    fn is_empty(&self, id: Id) -> bool {
        match self.node(id) {
            Node::None => true,
            Node::Dict(entries, _) => entries.is_empty(),
            Node::Tuple(items) | Node::List(items) => items.is_empty(),
            _ => false,
        }
    }

    fn shown(&mut self, storage: Id, offset: Id, size: Id, stride: Id) -> Result<TensorDescription> {
        let Node::Storage(index) = *self.node(storage) else {
            return Err(refused("a tensor is rebuilt from something other than a storage"));
        };
        let layout = Layout { sizes: self.dims(size)?, strides: self.dims(stride)?, offset: self.int(offset)? };
        let dtype = self.storages.get(index).and_then(|saved| saved.dtype).unwrap_or(DType::Byte);
        Ok(TensorDescription::on(index, dtype, layout))
    }

    /// Applies the arguments after the layout.
    fn completed(&mut self, shown: TensorDescription, requires_grad: Id, metadata: &[Id]) -> Result<TensorDescription> {
        let mut shown = TensorDescription { requires_grad: self.bool(requires_grad)?, ..shown };
        match metadata {
            [] => {}
            [metadata] => match self.node(*metadata) {
                Node::None => {}
                Node::Dict(..) => {
                    for (key, value) in self.pairs(*metadata)? {
                        match self.str(key)? {
                            "conj" => shown.conj = self.bool(value)?,
                            "neg" => shown.neg = self.bool(value)?,
                            other => return Err(refused(format!("a tensor's metadata has no {other}"))),
                        }
                    }
                }
                _ => return Err(refused("a tensor's metadata is a dictionary")),
            },
            _ => return Err(refused("a tensor has too many parts")),
        }
        Ok(shown)
    }

    /// Reads the tuple that identifies a storage: its kind, class, key, device and size, and in old files the part.
    pub(super) fn persistent(&mut self) -> Result<()> {
        let id = self.pop()?;
        let object = match self.node(id) {
            Node::Str(name) => self.objects.get(&**name).copied(),
            Node::Int(number) => self.objects.get(&number.to_string()).copied(),
            _ => None,
        };
        if let Some(object) = object {
            self.stack.push(object);
            return Ok(());
        }
        let Node::Tuple(parts) = self.node(id) else {
            return Err(refused(format!("persistent_load id must be tuple or int, but got {}", self.node(id).class())));
        };
        if let (Mode::Report, &[kind, class, ..]) = (self.mode, parts.as_slice())
            && self.str(kind).is_ok_and(|kind| kind == "module")
        {
            // In old files, a class is stored with its source code.
            self.stack.push(class);
            return Ok(());
        }
        let &[kind, class, key, location, numel, ref part @ ..] = parts.as_slice() else {
            return Err(refused("a storage has too few parts"));
        };
        let part = part.first().copied();
        if self.str(kind)? != "storage" {
            return Err(refused(format!("Only persistent_load of storage is allowed, but got {}", self.str(kind)?)));
        }
        let Node::Class(Class::Storage(dtype)) = *self.node(class) else {
            return Err(refused("a storage has an invalid class"));
        };
        let key = match self.node(key) {
            Node::Str(key) => key.clone(),
            Node::Int(key) => key.to_string().into(),
            _ => return Err(refused("a storage has no name")),
        };
        let location: Rc<str> = self.str(location)?.into();
        self.charge(location.len())?;
        let itemsize = dtype.map_or(1, DType::itemsize);
        let bytes = |count: i64| usize::try_from(count).ok().and_then(|count| count.checked_mul(itemsize));
        let absurd = || Error::runtime("a storage has an invalid size");
        let nbytes = bytes(self.int(numel)?).filter(|&nbytes| i64::try_from(nbytes).is_ok()).ok_or_else(absurd)?;
        let whole =
            self.storage(Saved { key, dtype, nbytes, location: location.clone(), part_of: None, inline: None })?;
        let index = match part.map(|part| self.node(part)) {
            None | Some(Node::None) => whole,
            Some(Node::Tuple(part)) => {
                let &[key, offset, length] = part.as_slice() else {
                    return Err(refused("a part of a storage needs a name, an offset and a size"));
                };
                let (key, offset) = (self.str(key)?.into(), bytes(self.int(offset)?).ok_or_else(absurd)?);
                let nbytes = bytes(self.int(length)?).ok_or_else(absurd)?;
                self.storage(Saved { key, dtype, nbytes, location, part_of: Some((whole, offset)), inline: None })?
            }
            Some(_) => return Err(refused("a part of a storage is a tuple")),
        };
        self.push(Node::Storage(index))
    }

    /// Returns the index of a storage. Storages with the same key share the first one's, unless they have no bytes: then
    /// each has a dtype of its own.
    fn storage(&mut self, saved: Saved) -> Result<usize> {
        if let Some(&index) = self.keys.get(&saved.key)
            && saved.nbytes > 0
        {
            return Ok(index);
        }
        self.charge(saved.key.len())?;
        self.keys.insert(saved.key.clone(), self.storages.len());
        self.storages.push(saved);
        Ok(self.storages.len() - 1)
    }
}
