//! Writes pickles in protocol 2, with the instructions used in PyTorch's own files.

use num_bigint::BigInt;
use num_complex::Complex;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use tensor::bail;
use tensor::memory::get;
use tensor::names::not_saved;
use tensor::{Buffer, BufferKind, DType, Device, Error, Form, Quantizer, Result, Storage, Tensor, View};
use value::{Dict, TensorLayout, Value};

/// A pickle, and the storages whose bytes are stored separately, by their keys: `0`, `1`, ….
pub(crate) struct PickleOutput {
    pub bytes: Vec<u8>,
    pub storages: Vec<Storage>,
}

/// What a pickle says of tensors and storages beside themselves.
#[derive(Default)]
pub(crate) struct Facts<'f> {
    /// Returns the attributes that were given to a tensor.
    pub attributes: Option<&'f Attributes<'f>>,
    /// Returns the device that a storage is to be saved from, if it is not its own.
    pub location: Option<&'f SavedFrom<'f>>,
}

/// Returns the attributes that were given to a tensor.
pub(crate) type Attributes<'a> = dyn Fn(&Tensor) -> Option<Dict> + 'a;

/// Returns the device that a storage is to be saved from.
type SavedFrom<'a> = dyn Fn(&Storage) -> Option<Rc<str>> + 'a;

/// Pickles a value.
///
/// # Errors
/// Fails with TypeError for values that a pickle of tensors cannot contain, and with RuntimeError for storages that are
/// read as two dtypes.
pub(crate) fn write(value: &Value, facts: &Facts) -> Result<PickleOutput> {
    let mut writer = Writer {
        out: vec![0x80, 2],
        facts,
        with_attributes: false,
        memo: HashMap::new(),
        storages: Vec::new(),
        keys: HashMap::new(),
        dtypes: HashMap::new(),
        made: Vec::new(),
        shared: HashSet::new(),
        depth: 0,
    };
    note_shared(value, &mut HashSet::new(), &mut writer.shared, 0)?;
    writer.value(value)?;
    writer.out.push(b'.');
    Ok(PickleOutput { bytes: writer.out, storages: writer.storages })
}

/// A value that is written once and then referenced.
#[derive(PartialEq, Eq, Hash)]
enum MemoKey {
    Global(&'static str, String),
    Text(String),
    Tensor(usize),
    Buffer(usize),
    /// A list or a dictionary that occurs in several places.
    Shared(usize),
}

struct Writer<'f> {
    out: Vec<u8>,
    facts: &'f Facts<'f>,
    /// Whether the tensor being written has attributes.
    with_attributes: bool,
    memo: HashMap<MemoKey, u32>,
    storages: Vec<Storage>,
    /// The index of each storage, by its identity.
    keys: HashMap<usize, usize>,
    /// The dtype under which the bytes at an address are written.
    dtypes: HashMap<usize, DType>,
    /// Temporary tensors, kept alive so that no later tensor gets the identity of a written one.
    made: Vec<Tensor>,
    /// The lists and dictionaries that occur in several places. Only they are memoized.
    shared: HashSet<usize>,
    /// The depth of nested containers.
    depth: usize,
}

/// The maximum depth of nested containers, which is also the limit when reading.
const DEEPEST: usize = 200;
/// The maximum number of bits of an integer. A longer one needs an instruction that `torch.load` rejects.
const MOST_BITS: u64 = 255 * 8;

/// The hooks of every tensor: an empty `OrderedDict`.
const NO_HOOKS: (&str, &str) = ("collections", "OrderedDict");

/// Records the lists and dictionaries that occur in several places, including inside themselves.
fn note_shared(value: &Value, seen: &mut HashSet<usize>, shared: &mut HashSet<usize>, depth: usize) -> Result<()> {
    if depth > DEEPEST {
        bail!(RecursionError, "maximum recursion depth exceeded while pickling an object");
    }
    let (own, parts) = match value {
        Value::List(list) => (Some(list.identity()), list.to_vec()),
        Value::Dict(dict) => (Some(dict.identity()), dict.to_vec().into_iter().map(|(_, value)| value).collect()),
        Value::Tuple(items) => (None, items.to_vec()),
        _ => return Ok(()),
    };
    if let Some(own) = own.filter(|own| !seen.insert(*own)) {
        shared.insert(own);
        return Ok(());
    }
    parts.iter().try_for_each(|part| note_shared(part, seen, shared, depth + 1))
}

impl Writer<'_> {
    fn value(&mut self, value: &Value) -> Result<()> {
        // A list may contain itself.
        if self.depth >= DEEPEST {
            bail!(RecursionError, "maximum recursion depth exceeded while pickling an object");
        }
        self.depth += 1;
        let written = self.write(value);
        self.depth -= 1;
        written
    }

    fn write(&mut self, value: &Value) -> Result<()> {
        match value {
            Value::None => self.out.push(b'N'),
            Value::Bool(b) => self.bool(*b),
            Value::Int(number) => self.int(i128::from(*number)),
            Value::BigInt(number) => self.long(number)?,
            Value::Float(number) => self.float(*number),
            Value::Complex(number) => self.complex(*number),
            Value::Str(text) if u32::try_from(text.len()).is_err() => {
                bail!(OverflowError, "cannot serialize a string larger than 4GiB")
            }
            Value::Str(text) => self.text(text),
            Value::Tensor(tensor) => self.tensor(tensor)?,
            Value::Storage(storage) => self.storage(storage, None)?,
            Value::TypedStorage(typed) => self.storage(&typed.storage, Some(typed.dtype))?,
            Value::DType(dtype) => self.global("torch", dtype.name()),
            Value::Device(device) => self.device(*device),
            Value::Layout(layout) => {
                self.global("torch.serialization", "_get_layout");
                self.text(&format!("torch.{}", layout.name()));
                self.call_with(1);
            }
            Value::Size(sizes) => {
                self.global("torch", "Size");
                self.ints(sizes);
                self.call_with(1);
            }
            Value::Tuple(items) => {
                let begun = self.begin_tuple(items.len());
                items.iter().try_for_each(|item| self.value(item))?;
                self.end_tuple(items.len(), begun);
            }
            Value::List(list) => {
                let known = MemoKey::Shared(list.identity());
                if self.recall(&known) {
                    return Ok(());
                }
                self.out.push(b']');
                if self.shared.contains(&list.identity()) {
                    self.remember(known);
                }
                if !list.is_empty() {
                    self.out.push(b'(');
                    list.to_vec().iter().try_for_each(|item| self.value(item))?;
                    self.out.push(b'e');
                }
            }
            Value::Dict(dict) => {
                let known = MemoKey::Shared(dict.identity());
                if self.recall(&known) {
                    return Ok(());
                }
                if dict.is_ordered() {
                    self.global("collections", "OrderedDict");
                    self.out.extend([b')', b'R']);
                } else {
                    self.out.push(b'}');
                }
                if self.shared.contains(&dict.identity()) {
                    self.remember(known);
                }
                self.entries(&dict.to_vec())?;
            }
            Value::Buffer(buffer) => self.buffer(buffer)?,
            other => bail!(TypeError, "cannot pickle '{}' object", other.type_name()),
        }
        Ok(())
    }

    fn entries(&mut self, entries: &[(Value, Value)]) -> Result<()> {
        if entries.is_empty() {
            return Ok(());
        }
        self.out.push(b'(');
        for (key, value) in entries {
            self.value(key)?;
            self.value(value)?;
        }
        self.out.push(b'u');
        Ok(())
    }

    /// Writes a reference to a value written before. Returns whether it was.
    fn recall(&mut self, known: &MemoKey) -> bool {
        let Some(&index) = self.memo.get(known) else { return false };
        match u8::try_from(index) {
            Ok(index) => self.out.extend([b'h', index]),
            Err(_) => {
                self.out.push(b'j');
                self.out.extend(index.to_le_bytes());
            }
        }
        true
    }

    fn remember(&mut self, known: MemoKey) {
        let index = self.memo.len() as u32;
        self.memo.insert(known, index);
        match u8::try_from(index) {
            Ok(index) => self.out.extend([b'q', index]),
            Err(_) => {
                self.out.push(b'r');
                self.out.extend(index.to_le_bytes());
            }
        }
    }

    fn global(&mut self, module: &'static str, name: &str) {
        let known = MemoKey::Global(module, name.to_owned());
        if !self.recall(&known) {
            self.out.extend(format!("c{module}\n{name}\n").bytes());
            self.remember(known);
        }
    }

    fn text(&mut self, text: &str) {
        let known = MemoKey::Text(text.to_owned());
        if !self.recall(&known) {
            self.out.push(b'X');
            self.out.extend((text.len() as u32).to_le_bytes());
            self.out.extend(text.bytes());
            self.remember(known);
        }
    }

    fn bool(&mut self, value: bool) {
        self.out.push(if value { 0x88 } else { 0x89 });
    }

    fn int(&mut self, value: i128) {
        if let Ok(byte) = u8::try_from(value) {
            self.out.extend([b'K', byte]);
        } else if let Ok(short) = u16::try_from(value) {
            self.out.push(b'M');
            self.out.extend(short.to_le_bytes());
        } else if let Ok(int) = i32::try_from(value) {
            self.out.push(b'J');
            self.out.extend(int.to_le_bytes());
        } else {
            let bytes = value.to_le_bytes();
            // The minimum number of bytes that preserves the sign.
            let bits = 128 - (if value < 0 { !value } else { value }).leading_zeros() as usize;
            let length = bits / 8 + 1;
            self.out.extend([0x8a, length as u8]);
            self.out.extend(bytes.iter().take(length));
        }
    }

    fn long(&mut self, value: &BigInt) -> Result<()> {
        let bytes = if value.bits() <= MOST_BITS { value.to_signed_bytes_le() } else { Vec::new() };
        let (Ok(length), false) = (u8::try_from(bytes.len()), bytes.is_empty()) else {
            bail!(OverflowError, "an integer of more than 255 bytes cannot be loaded again")
        };
        self.out.extend([0x8a, length]);
        self.out.extend(bytes);
        Ok(())
    }

    fn float(&mut self, value: f64) {
        self.out.push(b'G');
        self.out.extend(value.to_be_bytes());
    }

    fn complex(&mut self, value: Complex<f64>) {
        self.global("__builtin__", "complex");
        self.float(value.re);
        self.float(value.im);
        self.call_with(2);
    }

    /// A tuple of up to three items needs no mark; a longer one needs a mark before them.
    fn begin_tuple(&mut self, length: usize) -> bool {
        if length > 3 {
            self.out.push(b'(');
        }
        length > 3
    }

    fn end_tuple(&mut self, length: usize, begun: bool) {
        self.out.push(match length {
            _ if begun => b't',
            0 => b')',
            1 => 0x85,
            2 => 0x86,
            _ => 0x87,
        });
    }

    /// Calls the global below on the stack with a tuple of the last `count` items, at most three.
    fn call_with(&mut self, count: usize) {
        self.end_tuple(count, false);
        self.out.push(b'R');
    }

    fn ints(&mut self, values: &[i64]) {
        let begun = self.begin_tuple(values.len());
        values.iter().for_each(|&value| self.int(i128::from(value)));
        self.end_tuple(values.len(), begun);
    }

    fn device(&mut self, device: Device) {
        self.global("torch", "device");
        self.text(device.name());
        if let Some(index) = device.index {
            self.int(i128::from(index));
        }
        self.call_with(1 + usize::from(device.index.is_some()));
    }

    fn buffer(&mut self, buffer: &Buffer) -> Result<()> {
        let is_array = match buffer.kind() {
            BufferKind::Bytes => false,
            BufferKind::ByteArray => true,
            BufferKind::MemoryView { .. } => bail!(TypeError, "cannot pickle memoryview objects"),
            BufferKind::Array(_) => bail!(TypeError, "cannot pickle 'array.array' object"),
        };
        let known = MemoKey::Buffer(buffer.identity());
        if self.recall(&known) {
            return Ok(());
        }
        if is_array {
            self.global("__builtin__", "bytearray");
        }
        let memory = buffer.memory();
        let text: String = memory.bytes().iter().map(|cell| char::from(get(cell))).collect();
        if u32::try_from(text.len()).is_err() {
            bail!(OverflowError, "cannot serialize a bytes object larger than 4 GiB");
        }
        self.global("_codecs", "encode");
        self.text(&text);
        self.text("latin1");
        self.call_with(2);
        if is_array {
            self.call_with(1);
        }
        self.remember(known);
        Ok(())
    }

    /// Writes the tuple that identifies a storage. Its bytes are stored separately.
    fn storage(&mut self, storage: &Storage, dtype: Option<DType>) -> Result<()> {
        let read_as = dtype.unwrap_or(DType::Byte);
        if dtype.is_some() && read_as.legacy_name().is_empty() {
            bail!(KeyError, "'dtype torch.{} is not recognized'", read_as.name());
        }
        // Of a mapped file, a tensor without elements has the address of its neighbour.
        let has_bytes = storage.data_ptr() != 0 && storage.nbytes() > 0;
        if has_bytes && *self.dtypes.entry(storage.data_ptr()).or_insert(read_as) != read_as {
            bail!(RuntimeError, "Cannot save multiple tensors or storages that view the same data as different types");
        }
        let key = match self.keys.get(&storage.identity()) {
            Some(&key) => key,
            None => {
                self.keys.insert(storage.identity(), self.storages.len());
                self.storages.push(storage.clone());
                self.storages.len() - 1
            }
        };
        self.out.push(b'(');
        self.text("storage");
        match dtype {
            Some(dtype) => self.global("torch", &format!("{}Storage", dtype.legacy_name())),
            None => self.global("torch.storage", "UntypedStorage"),
        }
        self.text(&key.to_string());
        let location = self.facts.location.and_then(|location| location(storage));
        self.text(&location.unwrap_or_else(|| storage.tensor_device().to_string().into()));
        self.int((storage.nbytes() / read_as.itemsize()) as i128);
        self.out.extend([b't', b'Q']);
        Ok(())
    }

    fn tensor(&mut self, tensor: &Tensor) -> Result<()> {
        let known = MemoKey::Tensor(tensor.identity());
        if self.recall(&known) {
            return Ok(());
        }
        if tensor.has_names() {
            return Err(not_saved());
        }
        let attributes = self.facts.attributes.and_then(|attributes| attributes(tensor));
        let attributes = attributes.filter(|attributes| !attributes.is_empty());
        let outer = std::mem::replace(&mut self.with_attributes, attributes.is_some());
        match &attributes {
            Some(attributes) if tensor.is_parameter() => self.parameter(tensor, Some(attributes))?,
            None if tensor.is_parameter() => self.parameter(tensor, None)?,
            Some(attributes) => {
                self.global("torch._tensor", "_rebuild_from_type_v2");
                self.out.push(b'(');
                self.rebuilt(tensor)?;
                self.value(&Value::Dict(attributes.clone()))?;
                self.out.extend([b't', b'R']);
            }
            None => {
                self.rebuilt(tensor)?;
                self.out.push(b'R');
            }
        }
        self.with_attributes = outer;
        self.remember(known);
        Ok(())
    }

    fn parameter(&mut self, tensor: &Tensor, attributes: Option<&Dict>) -> Result<()> {
        let function = if attributes.is_some() { "_rebuild_parameter_with_state" } else { "_rebuild_parameter" };
        self.global("torch._utils", function);
        self.out.extend(attributes.map(|_| b'('));
        let data = tensor.detach();
        self.tensor(&data)?;
        self.made.push(data);
        self.bool(tensor.requires_grad());
        self.empty_hooks();
        match attributes {
            Some(attributes) => {
                self.value(&Value::Dict(attributes.clone()))?;
                self.out.extend([b't', b'R']);
            }
            None => self.call_with(3),
        }
        Ok(())
    }

    /// Writes the function that rebuilds a tensor, followed by its class if it has attributes.
    fn function(&mut self, name: &'static str) {
        self.global("torch._utils", name);
        if self.with_attributes {
            self.global("torch", "Tensor");
        }
    }

    /// Writes the function that rebuilds a tensor, and the tuple of its arguments.
    fn rebuilt(&mut self, tensor: &Tensor) -> Result<()> {
        let view = tensor.view();
        if let Some(form) = view.form.clone() {
            match &*form {
                Form::Quantized(quantizer) => self.quantized(tensor, &view, quantizer)?,
                Form::Coo(coo) => {
                    let is_coalesced = coo.coalesced;
                    self.sparse(
                        TensorLayout::SparseCoo,
                        &[&coo.indices, &coo.values],
                        view.sizes(),
                        Some(is_coalesced),
                    )?;
                }
                Form::Compressed(parts) => {
                    let tensors = [&parts.compressed, &parts.plain, &parts.values];
                    self.sparse(parts.layout, &tensors, view.sizes(), None)?;
                }
            }
            return Ok(());
        }
        if view.device().is_fake() {
            return Err(Error::runtime("a FakeTensor has no data to be saved"));
        }
        let requires_grad = tensor.requires_grad();
        if view.device().is_meta() {
            // PyTorch does not preserve sharing here.
            self.function("_rebuild_meta_tensor_no_storage");
            self.out.push(b'(');
            self.global("torch", view.dtype.name());
            self.ints(view.sizes());
            self.ints(view.strides());
            self.bool(requires_grad);
        } else {
            // Dtypes newer than typed storages do not have one.
            let is_typed = !view.dtype.legacy_name().is_empty();
            self.function(if is_typed { "_rebuild_tensor_v2" } else { "_rebuild_tensor_v3" });
            self.out.push(b'(');
            self.storage(&view.storage, is_typed.then_some(view.dtype))?;
            self.int(i128::from(view.layout.offset));
            self.ints(view.sizes());
            self.ints(view.strides());
            self.bool(requires_grad);
            self.empty_hooks();
            if !is_typed {
                self.global("torch", view.dtype.name());
            }
            let bits: Vec<&str> =
                [("conj", view.conj), ("neg", view.neg)].iter().filter(|bit| bit.1).map(|bit| bit.0).collect();
            if !bits.is_empty() {
                self.out.extend([b'}', b'(']);
                for bit in bits {
                    self.text(bit);
                    self.bool(true);
                }
                self.out.push(b'u');
            }
        }
        self.out.push(b't');
        Ok(())
    }

    /// Writes a tensor that is a component of the current one.
    fn part(&mut self, view: &View) -> Result<()> {
        let part = Tensor::new(view.clone());
        self.tensor(&part)?;
        self.made.push(part);
        Ok(())
    }

    fn quantized(&mut self, tensor: &Tensor, view: &View, quantizer: &Quantizer) -> Result<()> {
        self.function("_rebuild_qtensor");
        self.out.push(b'(');
        self.storage(&view.storage, Some(view.dtype))?;
        self.int(i128::from(view.layout.offset));
        self.ints(view.sizes());
        self.ints(view.strides());
        match quantizer {
            Quantizer::PerTensor { scale, zero_point } => {
                self.global("torch", "per_tensor_affine");
                self.float(*scale);
                self.int(i128::from(*zero_point));
                self.end_tuple(3, false);
            }
            Quantizer::PerChannel { scales, zero_points, axis } => {
                self.out.push(b'(');
                // This name stands for both kinds of zero points, which their dtype distinguishes.
                self.global("torch", "per_channel_affine");
                self.part(scales)?;
                self.part(zero_points)?;
                self.int(*axis as i128);
                self.out.push(b't');
            }
        }
        self.bool(tensor.requires_grad());
        self.empty_hooks();
        self.out.push(b't');
        Ok(())
    }

    fn sparse(
        &mut self,
        layout: TensorLayout,
        parts: &[&View],
        sizes: &[i64],
        is_coalesced: Option<bool>,
    ) -> Result<()> {
        self.function("_rebuild_sparse_tensor");
        self.value(&Value::Layout(layout))?;
        self.out.push(b'(');
        parts.iter().try_for_each(|part| self.part(part))?;
        self.value(&Value::size(sizes))?;
        if let Some(is_coalesced) = is_coalesced {
            self.bool(is_coalesced);
        }
        self.out.push(b't');
        self.end_tuple(2, false);
        Ok(())
    }

    fn empty_hooks(&mut self) {
        self.global(NO_HOOKS.0, NO_HOOKS.1);
        self.out.extend([b')', b'R']);
    }
}
