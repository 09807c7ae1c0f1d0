//! safetensors: a JSON header of names, dtypes, shapes and offsets, followed by the bytes. The crate parses the header;
//! tensors are mapped from the file. Follows <https://huggingface.co/docs/safetensors>.

use super::archive::{Body, write_body};
use super::checkpoint::replacing;
use super::contents::{Blocks, Bytes, Contents, Elements, shown};
use super::names::quoted;
use super::progress;
use super::source::Source;
use safetensors::Dtype;
use safetensors::SafeTensors;
use safetensors::tensor::{Metadata, TensorInfo};
use serde_json::{Map, Value as Json, json};
use std::collections::{BTreeMap, HashMap};
use std::io::Write;
use std::path::Path;
use std::rc::Rc;
use tensor::bail;
use tensor::ops::copy;
use tensor::system::{Files, System};
use tensor::{DType, Dims, Error, ErrorKind, Layout, Raised, Result, Tensor, View};
use value::{Dict, TensorLayout, Value};

/// The library's limit on the header, in bytes.
const LARGEST_HEADER: usize = 100_000_000;

/// A tensor's entry in the header, with the offset of its bytes in the file.
#[derive(Clone)]
pub(crate) struct TensorHeader {
    pub name: String,
    pub elements: Elements,
    pub layout: Layout,
    place: usize,
    nbytes: usize,
    /// The dtype in the header, if it is not known. The elements are then the bytes.
    unknown: Option<String>,
}

impl TensorHeader {
    /// Returns the tensor, mapped from the file if `mapped`. A tensor of elements that do not exist here becomes a
    /// tensor of its bytes, with a note to `say`.
    ///
    /// # Errors
    /// Fails with SafetensorError if the file is too short, and without `say` for elements that do not exist here.
    pub(crate) fn tensor(self, source: &Source, mapped: bool, say: Option<&dyn Fn(String)>) -> Result<Value> {
        let storage = source.storage(self.place, self.nbytes).ok_or_else(|| invalid("a tensor is cut off"))?;
        let storage = if mapped { storage } else { storage.duplicate()? };
        let (dtype, layout) = match self.elements {
            Elements::Plain(dtype) => (dtype, self.layout.clone()),
            Elements::Blocks(_) => (DType::Byte, self.layout_of_bytes()),
        };
        let name =
            self.unknown.as_deref().or(matches!(self.elements, Elements::Blocks(_)).then(|| self.elements.name()));
        match (name, say) {
            (None, _) => {}
            (Some(dtype), Some(say)) => {
                say(format!("{} has dtype {}, and is loaded as its bytes", shown(&self.name), shown(dtype)));
            }
            (Some(dtype), None) => return Err(invalid(format_args!("{}: dtype {dtype} is not supported", self.name))),
        }
        let view = View { storage, layout, dtype, conj: false, neg: false, form: None };
        view.check_bounds()?;
        Ok(Value::from(view))
    }

    /// Returns the layout of the bytes: with rows of bytes for rows of elements if these fill whole bytes.
    fn layout_of_bytes(&self) -> Layout {
        let mut sizes = self.layout.sizes.clone();
        if let Some(inner) = sizes.last_mut()
            && let Some(nbytes) = usize::try_from(*inner).ok().and_then(|count| self.elements.nbytes(count).ok())
        {
            *inner = nbytes as i64;
            return Layout::contiguous(&sizes);
        }
        Layout::contiguous(&[self.nbytes as i64])
    }
}

/// Elements of less than a byte. The format does not say in which order they lie in their bytes.
static SMALL: [(Dtype, Blocks); 3] = [
    (Dtype::F4, Blocks { name: "F4", count: 2, nbytes: 1, take_apart: None }),
    (Dtype::F6_E2M3, Blocks { name: "F6_E2M3", count: 4, nbytes: 3, take_apart: None }),
    (Dtype::F6_E3M2, Blocks { name: "F6_E3M2", count: 4, nbytes: 3, take_apart: None }),
];

fn invalid(why: impl std::fmt::Display) -> Error {
    Error::new(ErrorKind::SafetensorError, format!("Error while deserializing header: {why}"))
}

/// Returns whether a file begins with the length of a header, followed by a header.
pub(crate) fn is_one(source: &Source) -> bool {
    let length = source.bytes(0, 8).and_then(|bytes| <[u8; 8]>::try_from(bytes).ok()).map(u64::from_le_bytes);
    let fits = length.is_some_and(|length| length.saturating_add(8) <= source.len() as u64);
    fits && source.bytes(8, 1).is_some_and(|first| first == b"{")
}

/// The dtypes and shapes of tensors with an unknown dtype, by name.
type Unknown = HashMap<String, (String, Vec<usize>)>;

/// A parsed header, the offset of the data, and the dtypes and shapes of tensors with an unknown dtype.
pub(crate) struct Header {
    metadata: Metadata,
    begin: usize,
    unknown: Unknown,
}

impl Header {
    /// Parses the header of a file.
    ///
    /// # Errors
    /// Fails with SafetensorError in the words of the library if it is invalid, or does not describe the whole file.
    pub(crate) fn of(source: &Source) -> Result<Header> {
        let (length, metadata) = source.reading(|bytes| SafeTensors::read_metadata(bytes))?.map_err(invalid)?;
        Ok(Header { metadata, begin: 8 + length, unknown: HashMap::new() })
    }

    /// Like [`Header::of`], but describes a tensor with an unknown dtype as its bytes, and says more of a file of another
    /// length.
    ///
    /// # Errors
    /// The errors of [`Header::of`].
    fn leniently(source: &Source) -> Result<Header> {
        let error = match Header::of(source) {
            Err(error) if error.kind == ErrorKind::SafetensorError => error,
            header => return header,
        };
        let length = source.bytes(0, 8).and_then(|bytes| <[u8; 8]>::try_from(bytes).ok()).map(u64::from_le_bytes);
        let length = length.and_then(|length| usize::try_from(length).ok()).filter(|&length| length <= LARGEST_HEADER);
        let Some((length, bytes)) = length.and_then(|length| Some((length, source.bytes(8, length)?))) else {
            return Err(error);
        };
        let (metadata, unknown) = match serde_json::from_slice(&bytes) {
            Ok(metadata) => (metadata, HashMap::new()),
            Err(why) if why.to_string().starts_with("unknown variant") => with_bytes(&bytes)?,
            Err(_) => return Err(error),
        };
        let header = Header { metadata, begin: 8 + length, unknown };
        match header.metadata.data_len().checked_add(header.begin) {
            Some(end) if end == source.len() && !header.unknown.is_empty() => Ok(header),
            Some(end) if end != source.len() => {
                let cut = if end > source.len() { ": the file is cut off" } else { "" };
                let (end, length) = (super::inspect::bytes(end as u64), super::inspect::bytes(source.len() as u64));
                Err(invalid(format_args!("it describes a file of {end}, but the file has {length}{cut}")))
            }
            _ => Err(error),
        }
    }

    /// Returns the text metadata, in order. `None` if the header does not have any.
    pub(crate) fn texts(&self) -> Option<BTreeMap<String, String>> {
        self.metadata.metadata().clone().map(|texts| texts.into_iter().collect())
    }

    /// Returns the tensors, in byte order.
    ///
    /// # Errors
    /// Fails with SafetensorError for a size that no tensor has.
    pub(crate) fn tensors(&self) -> Result<Vec<TensorHeader>> {
        let described = |name: String| {
            let info = self.metadata.info(&name).ok_or_else(|| invalid("a tensor is missing"))?;
            let size = |&size: &usize| i64::try_from(size).map_err(|_| invalid("an invalid size"));
            let layout = Layout::contiguous(&info.shape.iter().map(size).collect::<Result<Dims>>()?);
            let (start, end) = info.data_offsets;
            let elements = elements_of(info.dtype);
            let elements =
                elements.ok_or_else(|| invalid(format_args!("{name}: dtype {:?} is not supported", info.dtype)))?;
            let unknown = self.unknown.get(&name).map(|(dtype, _)| dtype.clone());
            Ok(TensorHeader { name, elements, layout, place: self.begin + start, nbytes: end - start, unknown })
        };
        self.metadata.offset_keys().into_iter().map(described).collect()
    }
}

/// Parses a header in which tensors have unknown dtypes: these are read as bytes.
fn with_bytes(bytes: &[u8]) -> Result<(Metadata, Unknown)> {
    let mut header: Map<String, Json> = serde_json::from_slice(bytes).map_err(invalid)?;
    let mut unknown = HashMap::new();
    for (name, info) in header.iter_mut().filter(|(name, _)| *name != "__metadata__") {
        let dtype = info.get("dtype").cloned().unwrap_or_default();
        if serde_json::from_value::<Dtype>(dtype.clone()).is_ok() {
            continue;
        }
        let offsets: Option<(usize, usize)> = serde_json::from_value(info["data_offsets"].clone()).ok();
        let shape: Option<Vec<usize>> = serde_json::from_value(info["shape"].clone()).ok();
        let nbytes = offsets.and_then(|(start, end)| end.checked_sub(start));
        let (Some(nbytes), Some(shape), Json::String(dtype)) = (nbytes, shape, dtype) else {
            return Err(invalid(format_args!("{}: its description is invalid", shown(name))));
        };
        unknown.insert(name.clone(), (dtype, shape));
        info["dtype"] = json!("U8");
        info["shape"] = json!([nbytes]);
    }
    Ok((serde_json::from_value(Json::Object(header)).map_err(invalid)?, unknown))
}

/// Returns the contents of a file.
///
/// # Errors
/// Fails with SafetensorError if its header is invalid.
pub(crate) fn contents(source: &Source) -> Result<Contents> {
    let mut contents = Contents::new(source, "safetensors");
    let header = Header::leniently(source)?;
    contents.metadata = header.texts().unwrap_or_default();
    for TensorHeader { name, elements, layout, place, nbytes, unknown } in header.tensors()? {
        let unknown = unknown.as_ref().and_then(|_| header.unknown.get(&name));
        if let Some((dtype, shape)) = unknown {
            contents.metadata.insert(format!("dtype of {name}"), format!("{dtype} {shape:?}"));
        }
        let is_unknown = unknown.is_some();
        contents.add_of(name, elements, layout, nbytes, Bytes::Stored(source.clone(), place));
        if let Some(entry) = contents.entries.last_mut().filter(|_| is_unknown) {
            entry.kind = "bytes";
        }
    }
    Ok(contents)
}

/// Loads all tensors of a file by name, mapped from the file if `mapped`.
///
/// # Errors
/// Fails with SafetensorError for an invalid file, and for one with dtypes that do not exist here.
pub fn load(source: &Source, mapped: bool) -> Result<Value> {
    load_with(source, mapped, None)
}

/// Like [`load`], but loads tensors of dtypes that do not exist here as their bytes, with a note to `say`.
///
/// # Errors
/// Fails with SafetensorError for an invalid file.
pub(crate) fn load_more(source: &Source, mapped: bool, say: &dyn Fn(String)) -> Result<Value> {
    load_with(source, mapped, Some(say))
}

fn load_with(source: &Source, mapped: bool, say: Option<&dyn Fn(String)>) -> Result<Value> {
    let tensor = |described: TensorHeader| {
        let name = Value::str(&*described.name);
        described.tensor(source, mapped, say).map(|tensor| (name, tensor))
    };
    let header = if say.is_some() { Header::leniently(source)? } else { Header::of(source)? };
    let tensors = header.tensors()?;
    Dict::new(tensors.into_iter().map(tensor).collect::<Result<Vec<_>>>()?).map(Value::Dict)
}

/// Writes named tensors. Tensors that share memory are rejected, because the format cannot express sharing.
///
/// # Errors
/// Fails with TypeError for anything other than a dictionary of tensors, with RuntimeError for shared memory or a file
/// that cannot be written, and with KeyboardInterrupt.
pub fn save(tensors: &Value, metadata: &Value, path: &str) -> Result<()> {
    let (tensors, texts) = (outgoing(tensors)?, text_metadata(metadata)?);
    let folder = Path::new(path).parent().filter(|folder| !folder.as_os_str().is_empty());
    if folder.is_some_and(|folder| System::kind(folder).is_err()) {
        let why = "Error while serializing: I/O error: No such file or directory (os error 2)";
        return Err(Error::new(ErrorKind::SafetensorError, format!("{why} at path \"{path}\"")));
    }
    write(tensors, texts, path)
}

/// Returns the bytes of a file with named tensors.
///
/// # Errors
/// The errors of [`save`], except those of writing a file.
pub fn to_bytes(tensors: &Value, metadata: &Value) -> Result<Vec<u8>> {
    let (tensors, texts) = (outgoing(tensors)?, text_metadata(metadata)?);
    let mut bytes = Vec::new();
    let refused = |error: &std::io::Error| Error::new(ErrorKind::MemoryError, error.to_string());
    Prepared::new(tensors, texts)?.write(&mut bytes, &refused)?;
    Ok(bytes)
}

/// Checks named tensors, and returns them as they are written.
fn outgoing(tensors: &Value) -> Result<Vec<Outgoing>> {
    let Some(entries) = tensors.entries() else {
        bail!(ValueError, "Expected a dict of [str, torch.Tensor] but received <class '{}'>", tensors.class_name())
    };
    let (mut named, mut sparse) = (Vec::new(), Vec::new());
    for (name, tensor) in entries.iter() {
        let Value::Tensor(tensor) = tensor else {
            bail!(
                ValueError,
                "Key `{}` is invalid, expected torch.Tensor but received <class '{}'>",
                key_text(name),
                tensor.class_name()
            )
        };
        if tensor.borrow().tensor_layout() != TensorLayout::Strided {
            sparse.push(quoted(key_text(name)));
        }
        named.push((name.clone(), tensor.clone()));
    }
    if !sparse.is_empty() {
        bail!(
            ValueError,
            "You are trying to save a sparse tensors: `[{}]` which this library does not support. You can make it a dense \
             tensor before saving with `.to_dense()` but be aware this might make a much larger file than needed.",
            sparse.join(", ")
        );
    }
    refuse_shared(&named)?;
    let mut written = Vec::new();
    for (name, tensor) in &named {
        let (name, view) = (key_text(name), tensor.view());
        if !view.layout.is_contiguous() {
            bail!(
                ValueError,
                "You are trying to save a non contiguous tensor: `{name}` which is not allowed. It either means you are \
                 trying to save tensors which are reference of each other in which case it's recommended to save only \
                 the full tensors, and reslice at load time, or simply call `.contiguous()` on your tensor to pack it \
                 before saving."
            );
        }
        let (sizes, elements) = (view.sizes().into(), Elements::Plain(view.dtype));
        check_dtype(view.dtype)?;
        let packed = packed(&view)?;
        written.push(Outgoing { name: name.to_owned(), elements, sizes, body: Box::new(packed.storage) });
    }
    // The library looks at the names last.
    named.iter().try_for_each(|(name, _)| check_text(name, "tensor_dict"))?;
    Ok(written)
}

/// A tensor to be written.
pub(crate) struct Outgoing {
    pub name: String,
    pub elements: Elements,
    pub sizes: Dims,
    /// Its elements in row-major order.
    pub body: Box<dyn Body>,
}

/// Writes tensors and texts.
///
/// # Errors
/// Fails with ValueError for a dtype that the format does not have, with RuntimeError if the file cannot be written,
/// and with the errors of the bodies.
pub(crate) fn write(tensors: Vec<Outgoing>, texts: Option<HashMap<String, String>>, path: &str) -> Result<()> {
    write_then(tensors, texts, path, || Ok(()))
}

/// Like [`write()`], and calls `then` before the file takes its place.
///
/// # Errors
/// The errors of [`write()`] and of `then`.
pub(crate) fn write_then(
    tensors: Vec<Outgoing>,
    texts: Option<HashMap<String, String>>,
    path: &str,
    then: impl FnOnce() -> Result<()>,
) -> Result<()> {
    let prepared = Prepared::new(tensors, texts)?;
    let _task = progress::begin(prepared.nbytes as u64);
    let refused = |error: &std::io::Error| Error::runtime(format!("{path} cannot be written: {error}"));
    replacing(path, |file| {
        prepared.write(file, &refused)?;
        then()
    })
}

/// A file to be written: its header, and the tensors in the order of the file.
struct Prepared {
    header: Vec<u8>,
    tensors: Vec<(Dtype, Outgoing)>,
    /// The number of bytes of all tensors.
    nbytes: usize,
}

impl Prepared {
    /// Makes the header for tensors and texts.
    fn new(tensors: Vec<Outgoing>, texts: Option<HashMap<String, String>>) -> Result<Prepared> {
        let known = |tensor: Outgoing| match dtype_for(tensor.elements) {
            Some(dtype) => Ok((dtype, tensor)),
            None => {
                let (name, dtype) = (shown(&tensor.name), tensor.elements.name());
                bail!(
                    ValueError,
                    "{name}: safetensors has no dtype {dtype}; --as converts it to one it has, such as float32"
                )
            }
        };
        let mut written = tensors.into_iter().map(known).collect::<Result<Vec<_>>>()?;
        // The crate's order: widest dtypes first, so that every tensor is aligned.
        written.sort_by(|(dtype, a), (other, b)| other.cmp(dtype).then(a.name.cmp(&b.name)));
        let (mut infos, mut end) = (Vec::new(), 0usize);
        for (dtype, tensor) in &written {
            let (start, shape) = (end, tensor.sizes.iter().map(|&size| size as usize).collect());
            end = end.checked_add(tensor.body.nbytes()).ok_or_else(|| Error::runtime("the file would be too large"))?;
            infos.push((tensor.name.clone(), TensorInfo { dtype: *dtype, shape, data_offsets: (start, end) }));
        }
        let header = Metadata::new(texts, infos).map_err(|error| Error::runtime(error.to_string()))?;
        let mut header = serde_json::to_vec(&header).map_err(|error| Error::runtime(error.to_string()))?;
        header.resize(header.len().next_multiple_of(8), b' ');
        Ok(Prepared { header, tensors: written, nbytes: end })
    }

    fn write(&self, to: &mut dyn Write, refused: &dyn Fn(&std::io::Error) -> Error) -> Result<()> {
        to.write_all(&(self.header.len() as u64).to_le_bytes()).map_err(|error| refused(&error))?;
        to.write_all(&self.header).map_err(|error| refused(&error))?;
        self.tensors.iter().try_for_each(|(_, tensor)| write_body(&*tensor.body, to, refused))
    }
}

fn key_text(name: &Value) -> &str {
    match name {
        Value::Str(name) => name,
        other => other.type_name(),
    }
}

/// Returns the text metadata of the header.
fn text_metadata(metadata: &Value) -> Result<Option<HashMap<String, String>>> {
    if matches!(metadata, Value::None) {
        return Ok(None);
    }
    let Some(entries) = metadata.entries() else {
        bail!(TypeError, "argument 'metadata': '{}' object is not an instance of 'dict'", metadata.type_name())
    };
    let mut texts = HashMap::new();
    for (key, value) in &entries {
        check_text(key, "metadata")?;
        check_text(value, "metadata")?;
        texts.insert(key_text(key).to_owned(), key_text(value).to_owned());
    }
    Ok(Some(texts))
}

/// Rejects anything but a string, in the library's words.
fn check_text(value: &Value, argument: &str) -> Result<()> {
    match value {
        Value::Str(_) => Ok(()),
        Value::None => bail!(TypeError, "argument '{argument}': 'None' is not an instance of 'str'"),
        other => {
            bail!(TypeError, "argument '{argument}': '{}' object is not an instance of 'str'", other.type_name())
        }
    }
}

/// Rejects a dtype that the library does not have, with its KeyError.
fn check_dtype(dtype: DType) -> Result<()> {
    match dtype_for(Elements::Plain(dtype)) {
        Some(_) => Ok(()),
        None => {
            let raised = Some(Raised(Rc::new(Value::DType(dtype))));
            Err(Error { raised, ..Error::new(ErrorKind::KeyError, format!("torch.{}", dtype.name())) })
        }
    }
}

/// Rejects tensors that share bytes, like the library: tensors on one storage may lie side by side.
fn refuse_shared(named: &[(Value, Tensor)]) -> Result<()> {
    // In the order of the dictionary.
    let mut together: Vec<Vec<(&str, View)>> = Vec::new();
    let mut places: HashMap<usize, usize> = HashMap::new();
    for (name, tensor) in named {
        let view = tensor.view();
        if view.storage.nbytes() > 0 && view.storage.data_ptr() != 0 && !view.device().is_meta() {
            let place = *places.entry(view.storage.identity()).or_insert(together.len());
            if place == together.len() {
                together.push(Vec::new());
            }
            if let Some(group) = together.get_mut(place) {
                group.push((key_text(name), view));
            }
        }
    }
    let mut failing = Vec::new();
    for group in together.iter().filter(|group| group.len() > 1) {
        let mut areas = Vec::new();
        for (name, view) in group {
            if view.numel() > 0 {
                // The library looks at the last element through `view(-1)`.
                view.layout.view(&[view.numel()])?;
                check_dtype(view.dtype)?;
            }
            let (start, end) = area(&view.layout, view.dtype);
            areas.push((start, end, *name));
        }
        failing.extend(overlapping(areas).iter().map(|names| set_text(names)));
    }
    if failing.is_empty() {
        return Ok(());
    }
    // The message begins with an empty line, and is indented.
    bail!(
        RuntimeError,
        "\n            Some tensors share memory, this will lead to duplicate memory on disk and potential differences when \
         loading them again: [{}].\n            A potential way to correctly save your model is to use \
         `save_model`.\n            More information at \
         https://huggingface.co/docs/safetensors/torch_shared_tensors\n            ",
        failing.join(", ")
    )
}

/// Returns where in its storage a tensor begins and ends, in bytes.
pub(crate) fn area(layout: &Layout, dtype: DType) -> (usize, usize) {
    let first = usize::try_from(layout.offset).unwrap_or(0).saturating_mul(dtype.itemsize());
    let end = layout.storage_elements().ok().and_then(|count| usize::try_from(count).ok());
    (first, end.map_or(first, |end| end.saturating_mul(dtype.itemsize())).max(first))
}

/// Returns the groups of two or more tensors of one storage that overlap, given where each begins and ends.
pub(crate) fn overlapping(mut areas: Vec<(usize, usize, &str)>) -> Vec<Vec<&str>> {
    areas.sort_unstable();
    let mut groups: Vec<Vec<&str>> = Vec::new();
    let mut last = None;
    for (start, end, name) in areas {
        match groups.last_mut().filter(|_| last.is_some_and(|last| start < last)) {
            Some(group) => group.push(name),
            None => groups.push(vec![name]),
        }
        // The end of the last, as in the library, even if one before it reaches further.
        last = Some(end);
    }
    groups.retain(|group| group.len() > 1);
    groups
}

/// Formats a set of names like Python.
pub(crate) fn set_text(names: &[&str]) -> String {
    format!("{{{}}}", names.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(", "))
}

/// Returns the tensor's elements contiguous, alone in a storage.
fn packed(view: &View) -> Result<View> {
    let nbytes = view.numel() as usize * view.dtype.itemsize();
    let as_it_is = view.layout.is_contiguous() && !view.conj && !view.neg && !view.device().is_meta();
    match usize::try_from(view.layout.offset).ok().and_then(|offset| offset.checked_mul(view.dtype.itemsize())) {
        Some(start) if as_it_is => {
            view.check_bounds()?;
            let storage =
                view.storage.slice(start.min(view.storage.nbytes()), start.min(view.storage.nbytes()) + nbytes)?;
            Ok(View { storage, layout: Layout::contiguous(view.sizes()), ..view.clone() })
        }
        _ => {
            view.memory()?;
            copy::row_major(&copy::resolve_neg(&copy::resolve_conj(view)?)?)
        }
    }
}

/// The corresponding dtypes of both sides.
const DTYPES: &[(Dtype, DType)] = &[
    (Dtype::BOOL, DType::Bool),
    (Dtype::U8, DType::Byte),
    (Dtype::I8, DType::Char),
    (Dtype::I16, DType::Short),
    (Dtype::I32, DType::Int),
    (Dtype::I64, DType::Long),
    (Dtype::U16, DType::UInt16),
    (Dtype::U32, DType::UInt32),
    (Dtype::U64, DType::UInt64),
    (Dtype::F16, DType::Half),
    (Dtype::BF16, DType::BFloat16),
    (Dtype::F32, DType::Float),
    (Dtype::F64, DType::Double),
    (Dtype::C64, DType::ComplexFloat),
    (Dtype::F8_E4M3, DType::Float8_e4m3fn),
    (Dtype::F8_E5M2, DType::Float8_e5m2),
    (Dtype::F8_E4M3FNUZ, DType::Float8_e4m3fnuz),
    (Dtype::F8_E5M2FNUZ, DType::Float8_e5m2fnuz),
    (Dtype::F8_E8M0, DType::Float8_e8m0fnu),
];

/// Returns the elements for a dtype of the format.
fn elements_of(dtype: Dtype) -> Option<Elements> {
    let small = SMALL.iter().find(|(theirs, _)| *theirs == dtype).map(|(_, blocks)| Elements::Blocks(blocks));
    small.or_else(|| DTYPES.iter().find(|(theirs, _)| *theirs == dtype).map(|(_, ours)| Elements::Plain(*ours)))
}

pub(crate) fn dtype_for(elements: Elements) -> Option<Dtype> {
    match elements {
        Elements::Plain(dtype) => DTYPES.iter().find(|(_, ours)| *ours == dtype).map(|(theirs, _)| *theirs),
        Elements::Blocks(blocks) => SMALL.iter().find(|(_, small)| small == blocks).map(|(theirs, _)| *theirs),
    }
}

/// Returns whether the format has a dtype for elements.
pub(crate) fn holds(elements: Elements) -> bool {
    dtype_for(elements).is_some()
}
