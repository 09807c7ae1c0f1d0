//! safetensors: a JSON header of names, dtypes, shapes and offsets, followed by the bytes. The crate parses the header;
//! tensors are mapped from the file. Follows <https://huggingface.co/docs/safetensors>.

use super::archive::{Body, write_body};
use super::checkpoint::replacing;
use super::contents::{Bytes, Contents};
use super::progress;
use super::source::Source;
use safetensors::Dtype;
use safetensors::tensor::{Metadata, TensorInfo};
use std::collections::{BTreeMap, HashMap};
use std::io::Write;
use tensor::bail;
use tensor::ops::copy;
use tensor::{DType, Dims, Error, ErrorKind, Layout, Result, Tensor, View};
use value::{Dict, Value};

/// The crate's own limit on the header, in bytes.
const LARGEST_HEADER: usize = 100_000_000;

/// A tensor's entry in the header, with the offset of its bytes in the file.
pub(crate) struct TensorHeader {
    pub name: String,
    pub dtype: DType,
    pub layout: Layout,
    pub place: usize,
    pub nbytes: usize,
}

impl TensorHeader {
    /// Returns the tensor, mapped from the file if `mapped`.
    ///
    /// # Errors
    /// Fails with SafetensorError if the file is too short.
    pub(crate) fn tensor(self, source: &Source, mapped: bool) -> Result<Value> {
        let storage = source.storage(self.place, self.nbytes).ok_or_else(|| invalid("a tensor is cut off"))?;
        let storage = if mapped { storage } else { storage.duplicate()? };
        let view = View { storage, layout: self.layout, dtype: self.dtype, conj: false, neg: false, form: None };
        view.check_bounds()?;
        Ok(Value::from(view))
    }
}

fn invalid(why: impl std::fmt::Display) -> Error {
    Error::new(ErrorKind::SafetensorError, format!("Error while deserializing header: {why}"))
}

/// Returns whether a file begins with the length of a header, followed by a header.
pub(crate) fn is_one(source: &Source) -> bool {
    let length = source.bytes(0, 8).and_then(|bytes| <[u8; 8]>::try_from(bytes).ok()).map(u64::from_le_bytes);
    let fits = length.is_some_and(|length| length.saturating_add(8) <= source.len() as u64);
    fits && source.bytes(8, 1).is_some_and(|first| first == b"{")
}

/// Reads the header, in byte order.
///
/// # Errors
/// Fails with SafetensorError if it is invalid.
pub(crate) fn header(source: &Source) -> Result<Vec<TensorHeader>> {
    let (metadata, begin) = parsed(source)?;
    if metadata.data_len().checked_add(begin) != Some(source.len()) {
        return Err(invalid("incomplete metadata, file not fully covered"));
    }
    let described = |name: String| {
        let info = metadata.info(&name).ok_or_else(|| invalid("a tensor is missing"))?;
        let sizes = info.shape.iter().map(|&size| i64::try_from(size).map_err(|_| invalid("an invalid size")));
        let layout = Layout::contiguous(&sizes.collect::<Result<Dims>>()?);
        let (start, end) = info.data_offsets;
        let dtype = dtype_of(info.dtype);
        let dtype = dtype.ok_or_else(|| invalid(format_args!("{name}: dtype {:?} is not supported", info.dtype)))?;
        Ok(TensorHeader { name, dtype, layout, place: begin + start, nbytes: end - start })
    };
    metadata.offset_keys().into_iter().map(described).collect()
}

/// Returns the text metadata, in order.
///
/// # Errors
/// The errors of [`header`].
pub(crate) fn metadata(source: &Source) -> Result<BTreeMap<String, String>> {
    let (metadata, _) = parsed(source)?;
    Ok(metadata.metadata().clone().unwrap_or_default().into_iter().collect())
}

/// Parses the header, and returns it with the offset of the data.
fn parsed(source: &Source) -> Result<(Metadata, usize)> {
    let length = source.bytes(0, 8).and_then(|bytes| <[u8; 8]>::try_from(bytes).ok()).map(u64::from_le_bytes);
    let length = length.ok_or_else(|| invalid("header too small"))?;
    let length = usize::try_from(length).ok().filter(|&length| length <= LARGEST_HEADER);
    let length = length.ok_or_else(|| invalid("header too large"))?;
    let bytes = source.bytes(8, length).ok_or_else(|| invalid("invalid header length"))?;
    Ok((serde_json::from_slice(&bytes).map_err(invalid)?, 8 + length))
}

/// Returns the contents of a file.
///
/// # Errors
/// The errors of [`header`].
pub(crate) fn contents(source: &Source) -> Result<Contents> {
    let mut contents = Contents::new(source, "safetensors");
    contents.metadata = metadata(source)?;
    for TensorHeader { name, dtype, layout, place, nbytes } in header(source)? {
        contents.add(name, dtype, layout, nbytes, Bytes::Stored(source.clone(), place));
    }
    Ok(contents)
}

/// Loads all tensors of a file by name, mapped from the file if `mapped`.
///
/// # Errors
/// Fails with SafetensorError for an invalid file.
pub fn load(source: &Source, mapped: bool) -> Result<Value> {
    let tensor = |described: TensorHeader| {
        let name = Value::str(&*described.name);
        described.tensor(source, mapped).map(|tensor| (name, tensor))
    };
    Dict::new(header(source)?.into_iter().map(tensor).collect::<Result<Vec<_>>>()?).map(Value::Dict)
}

/// Writes named tensors. Tensors that share memory are rejected, because the format cannot express sharing.
///
/// # Errors
/// Fails with TypeError for anything other than a dictionary of tensors, with RuntimeError for shared memory or a file
/// that cannot be written, and with KeyboardInterrupt.
pub fn save(tensors: &Value, metadata: &Value, path: &str) -> Result<()> {
    let Some(entries) = tensors.entries() else {
        bail!(ValueError, "Expected a dict of [str, torch.Tensor] but received <class '{}'>", tensors.class_name())
    };
    let mut named = Vec::new();
    for (name, tensor) in entries.iter() {
        let (Value::Str(name), Value::Tensor(tensor)) = (name, tensor) else {
            bail!(
                ValueError,
                "Key `{}` is invalid, expected torch.Tensor but received <class '{}'>",
                shown(name),
                tensor.class_name()
            )
        };
        named.push((name.to_string(), tensor.clone()));
    }
    refuse_shared(&named)?;
    let mut written = Vec::new();
    for (name, tensor) in named {
        let view = tensor.view();
        if view.form.is_some() {
            bail!(ValueError, "safetensors has neither sparse nor quantized tensors: `{name}`");
        }
        if !view.layout.is_contiguous() {
            bail!(
                ValueError,
                "You are trying to save a non contiguous tensor: `{name}` which is not allowed. It either means you are \
                 trying to save tensors which are reference of each other in which case it's recommended to save only \
                 the full tensors, and reslice at load time, or simply call `.contiguous()` on your tensor to pack it \
                 before saving."
            );
        }
        let sizes = view.sizes().into();
        let packed = packed(&view)?;
        written.push(Outgoing { name, dtype: view.dtype, sizes, body: Box::new(packed.storage) });
    }
    write(written, text_metadata(metadata)?, path)
}

/// A tensor to be written.
pub(crate) struct Outgoing {
    pub name: String,
    pub dtype: DType,
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
    let known = |tensor: Outgoing| match dtype_for(tensor.dtype) {
        Some(dtype) => Ok((dtype, tensor)),
        None => bail!(ValueError, "safetensors has no dtype {}", tensor.dtype.name()),
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
    let _task = progress::begin(end as u64);
    let refused = |error: &std::io::Error| Error::runtime(format!("{path} cannot be written: {error}"));
    replacing(path, |file| {
        file.write_all(&(header.len() as u64).to_le_bytes()).map_err(|error| refused(&error))?;
        file.write_all(&header).map_err(|error| refused(&error))?;
        written.iter().try_for_each(|(_, tensor)| write_body(&*tensor.body, file, refused))
    })
}

fn shown(name: &Value) -> &str {
    match name {
        Value::Str(name) => name,
        other => other.type_name(),
    }
}

/// Returns the text metadata of the header.
fn text_metadata(metadata: &Value) -> Result<Option<HashMap<String, String>>> {
    let Some(entries) = metadata.entries() else { return Ok(None) };
    let text = |(key, value): &(Value, Value)| match (key, value) {
        (Value::Str(key), Value::Str(value)) => Ok((key.to_string(), value.to_string())),
        _ => bail!(TypeError, "the metadata of safetensors must be strings"),
    };
    entries.iter().map(text).collect::<Result<HashMap<_, _>>>().map(Some)
}

fn refuse_shared(named: &[(String, Tensor)]) -> Result<()> {
    let mut seen: HashMap<usize, &str> = HashMap::new();
    for (name, tensor) in named {
        let view = tensor.borrow();
        if view.storage.nbytes() == 0 || view.storage.data_ptr() == 0 {
            continue;
        }
        if let Some(other) = seen.insert(view.storage.identity(), name) {
            bail!(
                RuntimeError,
                "Some tensors share memory, this will lead to duplicate memory on disk and potential differences when \
                 loading them again: {{'{other}', '{name}'}}. Copy them first, or save a checkpoint, which keeps the \
                 sharing"
            );
        }
    }
    Ok(())
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

fn dtype_of(dtype: Dtype) -> Option<DType> {
    DTYPES.iter().find(|(theirs, _)| *theirs == dtype).map(|(_, ours)| *ours)
}

fn dtype_for(dtype: DType) -> Option<Dtype> {
    DTYPES.iter().find(|(_, ours)| *ours == dtype).map(|(theirs, _)| *theirs)
}
