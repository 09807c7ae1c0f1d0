//! The stack machine. It builds a list of nodes that refer to each other by index. Shared objects and cycles therefore
//! need no special care, and dropping nodes takes no recursion. Memory is bounded by the length of the pickle and by
//! [`MOST_NODES`], time by the length alone.

mod arrays;
mod calls;
mod nested;
mod newer;

pub(crate) use arrays::Array;

use super::names::{self, Class};
use super::refused;
use num_bigint::BigInt;
use num_complex::Complex;
use std::collections::HashMap;
use std::rc::Rc;
use tensor::{DType, Device, Dims, Error, ErrorKind, Layout, Result, bail};
use value::TensorLayout;

/// The maximum number of objects in a pickle.
const MOST_NODES: usize = 1 << 24;

/// The index of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Id(u32);

/// An object of a pickle.
#[derive(Clone, Debug)]
pub(crate) enum Node {
    None,
    Bool(bool),
    Int(i128),
    /// An integer with more than 16 bytes.
    Long(Rc<BigInt>),
    Float(f64),
    Complex(Complex<f64>),
    Str(Rc<str>),
    Bytes(Rc<[u8]>),
    ByteArray(Rc<[u8]>),
    List(Vec<Id>),
    Tuple(Vec<Id>),
    /// A dictionary, and whether it is an `OrderedDict`. Of repeated keys, the last counts.
    Dict(Vec<(Id, Id)>, bool),
    Class(Class),
    Device(Device),
    Layout(TensorLayout),
    Size(Dims),
    /// A storage, by its index in [`Pickled::storages`].
    Storage(usize),
    Tensor(Rc<TensorDescription>),
    /// A dtype of numpy, with its byte order.
    Number(Rc<str>),
    /// An array of numpy; `None` until its state is known.
    Array(Option<Rc<Array>>),
    Sparse(Rc<Sparse>),
    /// A tensor with attributes of its own, and their dictionary.
    Attributed(Id, Id),
    /// An object that a pickle may contain but does not exist here, with the nodes of its parts.
    Foreign(&'static str, Vec<Id>),
    /// The result of calling a name that is not allowed, by the index of the name. Occurs only in reports.
    Unknown(usize, Vec<Id>, Vec<(Id, Id)>),
}

/// How to treat names that `weights_only` does not allow. In no case is anything looked up or called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Reject them.
    Load,
    /// Reject them, except those for plain numpy arrays.
    Arrays,
    /// Record them, with their arguments.
    Report,
}

/// A pickle's description of a storage.
#[derive(Clone, Debug)]
pub(crate) struct Saved {
    /// The name under which its bytes are stored.
    pub key: Rc<str>,
    /// `None` for an untyped storage.
    pub dtype: Option<DType>,
    pub nbytes: usize,
    /// The device it was saved from: `cpu`, `cuda:0`.
    pub location: Rc<str>,
    /// For a part of another storage, as in files of PyTorch 0.3: the index of the storage, and the first byte.
    pub part_of: Option<(usize, usize)>,
    /// The bytes, for a storage inside the pickle, and where it begins in them.
    pub inline: Option<(Rc<[u8]>, usize)>,
}

/// A pickle's description of a tensor.
#[derive(Clone, Debug)]
pub(crate) struct TensorDescription {
    /// `None` on the `meta` device.
    pub storage: Option<usize>,
    pub dtype: DType,
    pub layout: Layout,
    pub requires_grad: bool,
    pub is_parameter: bool,
    pub scale: Option<Scale>,
    pub conj: bool,
    pub neg: bool,
}

/// The scale and zero point of a quantized tensor.
#[derive(Clone, Debug)]
pub(crate) enum Scale {
    PerTensor {
        scale: f64,
        zero_point: i64,
    },
    /// Tensors with a number for each index of a dimension.
    PerChannel {
        scales: Id,
        zero_points: Id,
        axis: i64,
    },
}

/// A pickle's description of a sparse tensor: its indices and, last, its values.
#[derive(Clone, Debug)]
pub(crate) struct Sparse {
    pub layout: TensorLayout,
    pub parts: Vec<Id>,
    pub sizes: Dims,
    pub is_coalesced: bool,
}

impl Sparse {
    /// Returns each part with its name.
    pub(crate) fn named_parts(&self) -> impl Iterator<Item = (&'static str, Id)> {
        let (compressed, plain) = self.layout.index_names();
        let names = if self.parts.len() == 2 { ["indices", "values", ""] } else { [compressed, plain, "values"] };
        names.into_iter().zip(self.parts.iter().copied())
    }
}

/// The contents of a pickle.
#[derive(Debug)]
pub(crate) struct Pickled {
    nodes: Vec<Node>,
    pub root: Id,
    pub storages: Vec<Saved>,
    /// The names that are not allowed. Empty unless the pickle was read for a report.
    pub unknown: Vec<Rc<str>>,
}

impl Pickled {
    pub(crate) fn node(&self, id: Id) -> &Node {
        self.nodes.get(id.0 as usize).unwrap_or(&Node::None)
    }
}

/// Reads the pickle at `position`, and advances `position` past it.
///
/// # Errors
/// Fails with UnpicklingError for values that `weights_only` rejects, and with EOFError, RuntimeError and others for
/// damaged files.
pub(crate) fn read(bytes: &[u8], position: &mut usize, mode: Mode) -> Result<Pickled> {
    let mut machine = PickleMachine::new(bytes, *position, mode);
    let root = machine.run()?;
    *position = machine.at;
    Ok(machine.pickled(root))
}

/// Like [`read`], for a pickle that refers to these storages, and to these objects by name.
///
/// # Errors
/// The errors of [`read`].
pub(crate) fn read_with(
    bytes: &[u8],
    mode: Mode,
    storages: Vec<Saved>,
    objects: HashMap<String, Node>,
) -> Result<Pickled> {
    let mut machine = PickleMachine { storages, ..PickleMachine::new(bytes, 0, mode) };
    for (name, object) in objects {
        let id = machine.add(object)?;
        machine.objects.insert(name, id);
    }
    let root = machine.run()?;
    Ok(machine.pickled(root))
}

struct PickleMachine<'b> {
    bytes: &'b [u8],
    at: usize,
    nodes: Vec<Node>,
    stack: Vec<Id>,
    /// The positions of the open marks on the stack. Items below the last one are inaccessible.
    marks: Vec<usize>,
    memo: HashMap<u32, Id>,
    storages: Vec<Saved>,
    keys: HashMap<Rc<str>, usize>,
    /// Objects outside of the pickle, by their names in it.
    objects: HashMap<String, Id>,
    unknown: Vec<Rc<str>>,
    mode: Mode,
    /// The number of bytes that may still be copied between objects: a few bytes must not copy a long text often.
    budget: usize,
}

impl<'b> PickleMachine<'b> {
    fn new(bytes: &'b [u8], at: usize, mode: Mode) -> PickleMachine<'b> {
        PickleMachine {
            bytes,
            at,
            nodes: Vec::new(),
            stack: Vec::new(),
            marks: Vec::new(),
            memo: HashMap::new(),
            storages: Vec::new(),
            keys: HashMap::new(),
            objects: HashMap::new(),
            unknown: Vec::new(),
            mode,
            budget: bytes.len().saturating_mul(4).saturating_add(1 << 16),
        }
    }

    fn pickled(self, root: Id) -> Pickled {
        Pickled { nodes: self.nodes, root, storages: self.storages, unknown: self.unknown }
    }

    fn run(&mut self) -> Result<Id> {
        loop {
            let [operation] = self.array()?;
            match operation {
                b'.' => return self.pop(),
                b'\x80' => drop(self.array::<1>()?),
                b'c' => {
                    let (module, name) = (self.line()?, self.line()?);
                    self.name(module, name)?;
                }
                b'\x81' => self.new_object()?,
                b'R' => self.reduce()?,
                b'b' => self.build()?,
                b'Q' => self.persistent()?,
                b'a' => {
                    let item = self.pop()?;
                    self.list()?.push(item);
                }
                b'e' => {
                    let items = self.pop_mark()?;
                    self.list()?.extend(items);
                }
                b's' => {
                    let (value, key) = (self.pop()?, self.pop()?);
                    self.dict()?.push((key, value));
                }
                b'u' => {
                    let items = self.pop_mark()?;
                    if !items.len().is_multiple_of(2) {
                        return Err(refused("a dictionary has a key without a value"));
                    }
                    let pairs = items.chunks_exact(2).filter_map(|pair| Some((*pair.first()?, *pair.get(1)?)));
                    self.dict()?.extend(pairs);
                }
                b'(' => self.marks.push(self.stack.len()),
                b't' => {
                    let items = self.pop_mark()?;
                    self.push(Node::Tuple(items))?;
                }
                b'\x85' => self.tuple(1)?,
                b'\x86' => self.tuple(2)?,
                b'\x87' => self.tuple(3)?,
                b'N' => self.push(Node::None)?,
                b'\x88' => self.push(Node::Bool(true))?,
                b'\x89' => self.push(Node::Bool(false))?,
                b')' => self.push(Node::Tuple(Vec::new()))?,
                b']' => self.push(Node::List(Vec::new()))?,
                b'}' => self.push(Node::Dict(Vec::new(), false))?,
                b'\x8f' => self.push(Node::Foreign("a set", Vec::new()))?,
                b'J' => {
                    let number = i32::from_le_bytes(self.array()?);
                    self.push(Node::Int(number.into()))?;
                }
                b'K' => {
                    let number = u8::from_le_bytes(self.array()?);
                    self.push(Node::Int(number.into()))?;
                }
                b'M' => {
                    let number = u16::from_le_bytes(self.array()?);
                    self.push(Node::Int(number.into()))?;
                }
                b'\x8a' => self.long()?,
                b'G' => {
                    let number = f64::from_be_bytes(self.array()?);
                    self.push(Node::Float(number))?;
                }
                b'X' => {
                    let length = u32::from_le_bytes(self.array()?);
                    let text = self.text(length as usize)?;
                    self.push(Node::Str(text))?;
                }
                b'U' => {
                    let [length] = self.array()?;
                    let text = self.text(length.into())?;
                    self.push(Node::Str(text))?;
                }
                b'h' => {
                    let [index] = self.array()?;
                    self.recall(index.into())?;
                }
                b'j' => {
                    let index = u32::from_le_bytes(self.array()?);
                    self.recall(index)?;
                }
                b'q' => {
                    let [index] = self.array()?;
                    let top = self.top()?;
                    self.memo.insert(index.into(), top);
                }
                b'r' => {
                    let index = u32::from_le_bytes(self.array()?);
                    let top = self.top()?;
                    self.memo.insert(index, top);
                }
                other if self.mode != Mode::Load => self.newer(other)?,
                other => return Err(refused(format!("Unsupported operand {other}"))),
            }
        }
    }

    /// Pushes the meaning of a name.
    fn name(&mut self, module: &str, name: &str) -> Result<()> {
        let found = match self.mode {
            Mode::Load => names::find(module, name),
            Mode::Arrays | Mode::Report => names::find_more(module, name),
        };
        let class = match found {
            Err(_) if self.mode == Mode::Report => self.unknown(names::path(module, name)),
            found => found?,
        };
        self.push(Node::Class(class))
    }

    fn take(&mut self, length: usize) -> Result<&'b [u8]> {
        let end = self.at.checked_add(length);
        let taken = end.and_then(|end| self.bytes.get(self.at..end)).ok_or_else(ended)?;
        self.at += length;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        self.take(N)?.try_into().map_err(|_| ended())
    }

    /// Reads text up to the end of the line.
    fn line(&mut self) -> Result<&'b str> {
        str::from_utf8(self.bytes_to_newline()?).map_err(|_| refused("a name is not UTF-8"))
    }

    fn bytes_to_newline(&mut self) -> Result<&'b [u8]> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let length = rest.iter().position(|&byte| byte == b'\n').ok_or_else(ended)?;
        let line = self.take(length)?;
        self.at += 1;
        Ok(line)
    }

    fn text(&mut self, length: usize) -> Result<Rc<str>> {
        let bytes = self.take(length)?;
        str::from_utf8(bytes).map(Rc::from).map_err(|_| refused("a string is not UTF-8"))
    }

    /// Reads an integer of any length.
    fn long(&mut self) -> Result<()> {
        let [length] = self.array()?;
        self.long_of(length.into())
    }

    fn long_of(&mut self, length: usize) -> Result<()> {
        let bytes = self.take(length)?;
        if bytes.len() > 16 {
            let long = BigInt::from_signed_bytes_le(bytes);
            return self.push(Node::Long(Rc::new(long)));
        }
        let negative = bytes.last().is_some_and(|&byte| byte >= 128);
        let mut wide = [if negative { 255 } else { 0 }; 16];
        wide.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
        self.push(Node::Int(i128::from_le_bytes(wide)))
    }

    fn add(&mut self, node: Node) -> Result<Id> {
        let id = Id(self.nodes.len() as u32);
        if self.nodes.len() >= MOST_NODES {
            bail!(RuntimeError, "a pickle of more than {MOST_NODES} objects is not read");
        }
        self.nodes.push(node);
        Ok(id)
    }

    fn push(&mut self, node: Node) -> Result<()> {
        let id = self.add(node)?;
        self.stack.push(id);
        Ok(())
    }

    /// Returns the lowest accessible position of the stack.
    fn floor(&self) -> usize {
        self.marks.last().copied().unwrap_or(0)
    }

    fn pop(&mut self) -> Result<Id> {
        if self.stack.len() <= self.floor() {
            bail!(IndexError, "pop from empty list");
        }
        self.stack.pop().ok_or_else(|| Error::index("pop from empty list"))
    }

    fn top(&self) -> Result<Id> {
        let top = self.stack.get(self.floor()..).and_then(<[Id]>::last);
        top.copied().ok_or_else(|| Error::index("list index out of range"))
    }

    fn pop_mark(&mut self) -> Result<Vec<Id>> {
        let mark = self.marks.pop().ok_or_else(|| Error::index("pop from empty list"))?;
        Ok(self.stack.split_off(mark))
    }

    fn tuple(&mut self, length: usize) -> Result<()> {
        if self.stack.len() - self.floor() < length {
            bail!(IndexError, "list index out of range");
        }
        let items = self.stack.split_off(self.stack.len() - length);
        self.push(Node::Tuple(items))
    }

    fn recall(&mut self, index: u32) -> Result<()> {
        let found = self.memo.get(&index).copied();
        let id = found.ok_or_else(|| Error::new(ErrorKind::KeyError, index.to_string()))?;
        self.stack.push(id);
        Ok(())
    }

    fn node(&self, id: Id) -> &Node {
        self.nodes.get(id.0 as usize).unwrap_or(&Node::None)
    }

    fn top_node(&mut self) -> Result<&mut Node> {
        let id = self.top()?;
        self.nodes.get_mut(id.0 as usize).ok_or_else(|| Error::index("list index out of range"))
    }

    fn list(&mut self) -> Result<&mut Vec<Id>> {
        match self.top_node()? {
            Node::List(items) | Node::Unknown(_, items, _) => Ok(items),
            other => Err(refused(format!("Can only append to lists, but got {}", other.class()))),
        }
    }

    fn dict(&mut self) -> Result<&mut Vec<(Id, Id)>> {
        match self.top_node()? {
            Node::Dict(entries, _) | Node::Unknown(_, _, entries) => Ok(entries),
            other => Err(Error::type_error(format!("'{}' object does not support item assignment", other.class()))),
        }
    }

    /// Returns the class for a name that is not allowed; the same class for the same name.
    fn unknown(&mut self, path: String) -> Class {
        let known = self.unknown.iter().position(|known| **known == *path);
        Class::Unknown(known.unwrap_or_else(|| {
            self.unknown.push(path.into());
            self.unknown.len() - 1
        }))
    }

    /// Counts this many copied items against the budget.
    fn charge(&mut self, count: usize) -> Result<()> {
        let rest = self.budget.checked_sub(count);
        self.budget = rest.ok_or_else(|| Error::runtime("a pickle that copies itself over and over is not read"))?;
        Ok(())
    }
}

fn ended() -> Error {
    Error::new(ErrorKind::EOFError, "")
}

impl TensorDescription {
    /// Creates a tensor on a storage of the pickle, given by index.
    pub(crate) fn on(storage: usize, dtype: DType, layout: Layout) -> TensorDescription {
        TensorDescription::new(Some(storage), dtype, layout)
    }

    fn new(storage: Option<usize>, dtype: DType, layout: Layout) -> TensorDescription {
        let (requires_grad, is_parameter, conj, neg) = (false, false, false, false);
        TensorDescription { storage, dtype, layout, requires_grad, is_parameter, scale: None, conj, neg }
    }
}

impl Node {
    /// Returns whether this is an object or a function that does not exist here.
    pub(crate) fn is_foreign(&self) -> bool {
        match self {
            Node::Unknown(..) | Node::Foreign(..) | Node::Number(_) | Node::Array(None) => true,
            Node::Class(class) => !matches!(class, Class::DType(_)),
            _ => false,
        }
    }

    /// Returns the full name of its class in Python.
    pub(crate) fn class_in<'p>(&'p self, pickled: &'p Pickled) -> &'p str {
        match self {
            Node::Unknown(class, ..) => pickled.unknown.get(*class).map_or("object", |class| class),
            other => other.class_name(),
        }
    }

    /// Returns the name of Python's class of the object, without its module.
    pub(crate) fn class_name(&self) -> &str {
        let class = self.class().trim_start_matches("<class '").trim_end_matches("'>");
        class.rsplit('.').next().unwrap_or(class)
    }

    /// Returns Python's class of the object, for messages.
    fn class(&self) -> &'static str {
        match self {
            Node::None => "<class 'NoneType'>",
            Node::Bool(_) => "<class 'bool'>",
            Node::Int(_) | Node::Long(_) => "<class 'int'>",
            Node::Float(_) => "<class 'float'>",
            Node::Complex(_) => "<class 'complex'>",
            Node::Str(_) => "<class 'str'>",
            Node::Bytes(_) => "<class 'bytes'>",
            Node::ByteArray(_) => "<class 'bytearray'>",
            Node::List(_) => "<class 'list'>",
            Node::Tuple(_) => "<class 'tuple'>",
            Node::Dict(_, false) => "<class 'dict'>",
            Node::Dict(_, true) => "<class 'collections.OrderedDict'>",
            Node::Class(_) => "<class 'type'>",
            Node::Device(_) => "<class 'torch.device'>",
            Node::Layout(_) => "<class 'torch.layout'>",
            Node::Size(_) => "<class 'torch.Size'>",
            Node::Storage(_) => "<class 'torch.storage.TypedStorage'>",
            Node::Number(_) => "<class 'numpy.dtype'>",
            Node::Array(_) => "<class 'numpy.ndarray'>",
            Node::Tensor(_) | Node::Sparse(_) | Node::Attributed(..) => "<class 'torch.Tensor'>",
            Node::Foreign(what, _) => what,
            Node::Unknown(..) => "<class 'object'>",
        }
    }
}
