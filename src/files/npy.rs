//! npy: a header that is a literal of Python, and one array behind it.
//! Follows <https://numpy.org/doc/2.2/reference/generated/numpy.lib.format.html>.

use super::archive::{Body, put};
use super::checkpoint::replacing;
use super::contents::{Bytes, Contents};
use super::progress;
use super::source::Source;
use crate::bail;
use crate::ops::copy;
use crate::tensor::layout::{checked_numel, contiguous_strides};
use crate::tensor::{DType, Dims, Error, Layout, Result, Storage, Tensor, View};
use crate::value::Value;
use std::io::Write;

pub const MAGIC: &[u8] = b"\x93NUMPY";

/// numpy refuses longer headers than this too, in bytes.
const LONGEST_HEADER: usize = 1 << 20;

/// The header of an array.
pub struct Header {
    pub dtype: DType,
    pub layout: Layout,
    /// Whether the bytes of each element are in the other order.
    pub is_swapped: bool,
    /// The position of the elements.
    pub start: usize,
    pub nbytes: usize,
}

fn invalid(why: impl std::fmt::Display) -> Error {
    Error::value(format!("Cannot parse header: {why}"))
}

/// Bytes that hold every header that is read.
pub const MOST_OF_A_HEADER: usize = LONGEST_HEADER + 16;

/// Reads the header from the first bytes of a file.
///
/// # Errors
/// ValueError when it is none, or is of an array that is no tensor: of objects, texts, records.
pub fn header(bytes: &[u8]) -> Result<Header> {
    let Some([major, _minor]) = bytes.strip_prefix(MAGIC).and_then(|rest| rest.first_chunk::<2>()) else {
        return Err(invalid("the magic string is not correct"));
    };
    let rest = bytes.get(MAGIC.len() + 2..).unwrap_or_default();
    let (length, prefix) = match major {
        1 => (rest.first_chunk().map(|length| usize::from(u16::from_le_bytes(*length))), 2),
        2 | 3 => (rest.first_chunk().map(|length| u32::from_le_bytes(*length) as usize), 4),
        other => return Err(invalid(format_args!("version {other} is none of 1, 2 and 3"))),
    };
    let length = length.filter(|&length| length <= LONGEST_HEADER).ok_or_else(|| invalid("its length is absurd"))?;
    let text = rest.get(prefix..prefix + length).ok_or_else(|| invalid("it is cut off"))?;
    let text = str::from_utf8(text).map_err(|_| invalid("it is not text"))?;
    let literal = Literal::parse(text).ok_or_else(|| invalid(format_args!("{:?}", text.trim_end())))?;
    let (dtype, is_swapped) = dtype_of(&literal.descr)?;
    if literal.shape.iter().any(|&size| size < 0) {
        return Err(invalid("a size is negative"));
    }
    let count = checked_numel(&literal.shape)?;
    let nbytes = usize::try_from(count).ok().and_then(|count| count.checked_mul(dtype.itemsize()));
    let nbytes = nbytes.ok_or_else(|| invalid("its shape is absurd"))?;
    let strides = if literal.fortran_order { reversed(&literal.shape) } else { contiguous_strides(&literal.shape) };
    let layout = Layout { sizes: literal.shape, strides, offset: 0 };
    Ok(Header { dtype, layout, is_swapped, start: MAGIC.len() + 2 + prefix + length, nbytes })
}

/// Strides that put the first dimension innermost.
fn reversed(sizes: &[i64]) -> Dims {
    let turned: Dims = sizes.iter().rev().copied().collect();
    contiguous_strides(&turned).into_iter().rev().collect()
}

/// The three entries of the header's dictionary.
struct Literal {
    descr: String,
    fortran_order: bool,
    shape: Dims,
}

impl Literal {
    /// Reads `{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }`, in any order; nothing else is a header.
    fn parse(text: &str) -> Option<Literal> {
        let (mut descr, mut fortran_order, mut shape) = (None, None, None);
        let mut rest = text.trim().strip_prefix('{')?.strip_suffix('}')?.trim();
        while !rest.is_empty() {
            let (key, behind) = quoted(rest)?;
            let behind = behind.trim_start().strip_prefix(':')?.trim_start();
            let behind = match key {
                "descr" => {
                    let (text, behind) = quoted(behind)?;
                    descr = Some(text.to_owned());
                    behind
                }
                "fortran_order" => {
                    let (word, value) =
                        [("True", true), ("False", false)].into_iter().find(|(word, _)| behind.starts_with(word))?;
                    fortran_order = Some(value);
                    behind.get(word.len()..)?
                }
                "shape" => {
                    let (inner, behind) = behind.strip_prefix('(')?.split_once(')')?;
                    let sizes = inner.trim().trim_end_matches(',');
                    let parse = |size: &str| size.trim().trim_end_matches('L').parse().ok();
                    shape = Some(if sizes.trim().is_empty() {
                        Dims::new()
                    } else {
                        sizes.split(',').map(parse).collect::<Option<Dims>>()?
                    });
                    behind
                }
                _ => return None,
            };
            let behind = behind.trim_start();
            rest = match behind.strip_prefix(',') {
                Some(behind) => behind.trim_start(),
                None if behind.is_empty() => behind,
                None => return None,
            };
        }
        Some(Literal { descr: descr?, fortran_order: fortran_order?, shape: shape? })
    }
}

/// A quoted text without escapes, and what stands behind it.
fn quoted(text: &str) -> Option<(&str, &str)> {
    let quote = text.chars().next().filter(|quote| matches!(quote, '\'' | '"'))?;
    text.get(1..)?.split_once(quote)
}

/// The names of dtypes without their byte order.
const DTYPES: &[(&str, DType)] = &[
    ("b1", DType::Bool),
    ("u1", DType::Byte),
    ("i1", DType::Char),
    ("i2", DType::Short),
    ("i4", DType::Int),
    ("i8", DType::Long),
    ("u2", DType::UInt16),
    ("u4", DType::UInt32),
    ("u8", DType::UInt64),
    ("f2", DType::Half),
    ("f4", DType::Float),
    ("f8", DType::Double),
    ("c8", DType::ComplexFloat),
    ("c16", DType::ComplexDouble),
];

fn dtype_of(descr: &str) -> Result<(DType, bool)> {
    let (order, name) = descr.split_at_checked(1).unwrap_or_default();
    let is_swapped = match order {
        "<" => cfg!(target_endian = "big"),
        ">" => cfg!(target_endian = "little"),
        "|" | "=" => false,
        _ => return Err(invalid(format_args!("the dtype {descr:?} is no tensor's"))),
    };
    if name == "O" {
        bail!(ValueError, "Object arrays cannot be loaded when allow_pickle=False");
    }
    match DTYPES.iter().find(|(known, _)| *known == name) {
        Some((_, dtype)) => Ok((*dtype, is_swapped && dtype.to_real().itemsize() > 1)),
        None => Err(invalid(format_args!("the dtype {descr:?} is no tensor's"))),
    }
}

impl Header {
    /// The tensor over these bytes, which are the elements.
    ///
    /// # Errors
    /// RuntimeError when they are too few.
    pub fn tensor(self, storage: Storage, is_own: bool) -> Result<Tensor> {
        let storage = if self.is_swapped && !is_own { storage.duplicate()? } else { storage };
        if self.is_swapped {
            storage.byteswap(self.dtype.to_real().itemsize())?;
        }
        let view = View { storage, layout: self.layout, dtype: self.dtype, conj: false, neg: false, form: None };
        view.check_bounds()?;
        Ok(Tensor::new(view))
    }
}

/// The header of a file, checked to have all its elements.
///
/// # Errors
/// ValueError when it is no header or the file too short.
pub fn header_of(source: &Source) -> Result<Header> {
    let head = source.bytes(0, source.len().min(MOST_OF_A_HEADER)).unwrap_or_default();
    let header = header(&head)?;
    if header.start.checked_add(header.nbytes).is_none_or(|end| end > source.len()) {
        bail!(ValueError, "the file is too short for its array of {} bytes", header.nbytes);
    }
    Ok(header)
}

/// What a file of one array holds; it has no name.
///
/// # Errors
/// As [`header_of`].
pub fn contents(source: &Source) -> Result<Contents> {
    let mut contents = Contents::new(source, "npy");
    let Header { dtype, layout, is_swapped, start, nbytes } = header_of(source)?;
    let stored = Bytes::Stored(source.clone(), start);
    let bytes = if is_swapped { stored.swapped(nbytes, dtype.to_real().itemsize()) } else { stored };
    contents.add(String::new(), dtype, layout, nbytes, bytes);
    Ok(contents)
}

/// The array of a file, as a tensor on the file itself.
///
/// # Errors
/// ValueError when the file is not what the format allows.
pub fn load(source: &Source, mapped: bool) -> Result<Value> {
    let header = header_of(source)?;
    let storage = source.storage(header.start, header.nbytes);
    let storage = storage.ok_or_else(|| Error::value("the file is too short for its array"))?;
    let storage = if mapped { storage } else { storage.duplicate()? };
    header.tensor(storage, !mapped).map(Value::Tensor)
}

/// The header and the elements behind it, as numpy writes them.
///
/// # Errors
/// TypeError for a dtype that numpy does not have; RuntimeError and others for a tensor without data.
pub fn parts(tensor: &Tensor) -> Result<(Vec<u8>, Storage)> {
    let view = tensor.view();
    if view.form.is_some() {
        bail!(TypeError, "numpy has neither sparse nor quantized arrays");
    }
    view.memory()?;
    // Columns stay columns.
    let fortran_order = !view.layout.is_contiguous() && view.layout.strides == reversed(view.sizes());
    let head = head(view.dtype, view.sizes(), fortran_order)?;
    let rows = if fortran_order {
        let (sizes, strides) = (view.sizes().iter().rev().copied(), view.strides().iter().rev().copied());
        view.with_layout(Layout { sizes: sizes.collect(), strides: strides.collect(), offset: view.layout.offset })
    } else {
        view.clone()
    };
    let rows = copy::resolve_neg(&copy::resolve_conj(&rows)?)?;
    let storage = copy::row_major(&rows)?.storage;
    Ok((head, storage))
}

/// The header of an array, as numpy writes it.
///
/// # Errors
/// TypeError for a dtype that numpy does not have; ValueError for too many dimensions.
pub fn head(dtype: DType, sizes: &[i64], fortran_order: bool) -> Result<Vec<u8>> {
    let Some((name, _)) = DTYPES.iter().find(|(_, known)| *known == dtype) else {
        bail!(TypeError, "Got unsupported ScalarType {}", dtype.scalar_type())
    };
    let order = if dtype.itemsize() == 1 { '|' } else { '<' };
    let shape = sizes.iter().map(i64::to_string).collect::<Vec<_>>().join(", ");
    let comma = if sizes.len() == 1 { "," } else { "" };
    let fortran = if fortran_order { "True" } else { "False" };
    let mut text = format!("{{'descr': '{order}{name}', 'fortran_order': {fortran}, 'shape': ({shape}{comma}), }}");
    // Room for the array to grow in place, which numpy leaves.
    let growing = if fortran_order { sizes.last() } else { sizes.first() };
    text.extend(
        growing
            .into_iter()
            .flat_map(|size| " ".repeat(21usize.saturating_sub(size.to_string().len())).into_bytes())
            .map(char::from),
    );
    let bare = MAGIC.len() + 4 + text.len() + 1;
    text.push_str(&" ".repeat(bare.next_multiple_of(64) - bare));
    text.push('\n');
    let mut head = [MAGIC, &[1, 0]].concat();
    let length = u16::try_from(text.len()).map_err(|_| Error::value("the tensor has too many dimensions"))?;
    head.extend(length.to_le_bytes());
    head.extend(text.bytes());
    Ok(head)
}

/// Writes a tensor.
///
/// # Errors
/// TypeError for what is no tensor or has no dtype of numpy's; RuntimeError when the file cannot be written;
/// KeyboardInterrupt.
pub fn save(value: &Value, path: &str) -> Result<()> {
    let Value::Tensor(tensor) = value else {
        bail!(TypeError, "an .npy file holds one tensor, not a {}", value.type_name())
    };
    let (head, storage) = parts(tensor)?;
    write(&head, &storage, path)
}

/// Writes an array.
///
/// # Errors
/// RuntimeError when the file cannot be written; what the bytes give.
pub fn write(head: &[u8], body: &dyn Body, path: &str) -> Result<()> {
    let _task = progress::begin(body.nbytes() as u64);
    let refused = |error: &std::io::Error| Error::runtime(format!("{path} cannot be written: {error}"));
    replacing(path, |file| {
        file.write_all(head).map_err(|error| refused(&error))?;
        put(body, file, refused)
    })
}
