//! npy: a header in the form of a Python literal, followed by one array. Follows
//! <https://numpy.org/doc/2.2/reference/generated/numpy.lib.format.html>.

use super::archive::{Body, write_body};
use super::atomic::{COMMON, rewrite};
use super::checkpoint::replacing;
use super::contents::{Bytes, Contents, Plain, shown};
use super::literal::Literal;
use super::progress;
use super::records::{DTYPES, Element};
use super::source::{Source, refused};
use std::io::Write;
use std::path::Path;
use tensor::bail;
use tensor::layout::{checked_numel, contiguous_strides};
use tensor::ops::copy;
use tensor::{DType, Dims, Error, Layout, Result, Storage, Tensor};
use value::Value;

pub(crate) const MAGIC: &[u8] = b"\x93NUMPY";

/// The maximum length of a header in bytes, as in numpy.
const LONGEST_HEADER: usize = 1 << 20;

/// The header of an array.
pub(crate) struct Header {
    pub element: Element,
    /// The layout, with strides in elements.
    pub layout: Layout,
    /// The offset of the elements.
    pub start: usize,
    pub nbytes: usize,
}

fn invalid(why: impl std::fmt::Display) -> Error {
    Error::value(format!("Cannot parse header: {why}"))
}

/// The number of bytes sufficient for any header.
pub(crate) const MOST_OF_A_HEADER: usize = LONGEST_HEADER + 16;

/// Parses the header in the first bytes of a file.
///
/// # Errors
/// Fails with ValueError if it is invalid, or describes an array that cannot be a tensor: of objects, strings or times.
pub(crate) fn header(bytes: &[u8]) -> Result<Header> {
    let Described { descr, fortran_order, sizes, start } = described(bytes)?;
    let element = Element::of(&descr).map_err(|error| match error.message.starts_with("Object arrays") {
        true => error,
        false => invalid(error.message),
    })?;
    if sizes.iter().any(|&size| size < 0) {
        return Err(invalid("a size is negative"));
    }
    let count = checked_numel(&sizes)?;
    let nbytes = usize::try_from(count).ok().and_then(|count| count.checked_mul(element.nbytes()));
    let nbytes = nbytes.ok_or_else(|| invalid("its shape is invalid"))?;
    let strides = if fortran_order { reversed(&sizes) } else { contiguous_strides(&sizes) };
    let layout = Layout { sizes, strides, offset: 0 };
    Ok(Header { element, layout, start, nbytes })
}

/// The entries of a header, and where the elements begin.
struct Described {
    descr: Literal,
    fortran_order: bool,
    sizes: Dims,
    start: usize,
}

fn described(bytes: &[u8]) -> Result<Described> {
    let Some([major, _minor]) = bytes.strip_prefix(MAGIC).and_then(|rest| rest.first_chunk::<2>()) else {
        return Err(invalid("the magic string is not correct"));
    };
    let rest = bytes.get(MAGIC.len() + 2..).unwrap_or_default();
    let (length, prefix) = match major {
        1 => (rest.first_chunk().map(|length| usize::from(u16::from_le_bytes(*length))), 2),
        2 | 3 => (rest.first_chunk().map(|length| u32::from_le_bytes(*length) as usize), 4),
        other => return Err(invalid(format_args!("version {other} is not 1, 2 or 3"))),
    };
    let length = length.filter(|&length| length <= LONGEST_HEADER).ok_or_else(|| invalid("its length is invalid"))?;
    let text = rest.get(prefix..prefix + length).ok_or_else(|| invalid("it is cut off"))?;
    let text = match major {
        3 => str::from_utf8(text).map_err(|_| invalid("it is not text"))?.to_owned(),
        // Latin-1, which is the first 256 characters of Unicode.
        _ => text.iter().copied().map(char::from).collect(),
    };
    let unreadable = || invalid(format_args!("{:?}", text.trim_end()));
    let (descr, fortran_order, sizes) = Literal::parse(&text).and_then(entries).ok_or_else(unreadable)?;
    Ok(Described { descr, fortran_order, sizes, start: MAGIC.len() + 2 + prefix + length })
}

/// The class of an array that cannot be a tensor.
pub(crate) const CLASS: &str = "numpy.ndarray";

/// An array that cannot be a tensor: of objects, texts, times, or of records with such a field.
pub(crate) struct OtherArray {
    dtype: String,
    sizes: Dims,
}

impl OtherArray {
    /// Says what it is.
    pub(crate) fn text(&self) -> String {
        let kind = match self.dtype.trim_start_matches(['<', '>', '|', '=']).chars().next() {
            Some('U' | 'S' | 'a') => "texts",
            Some('O') => "objects",
            Some('M') => "times",
            Some('m') => "durations",
            _ => return format!("an array of {}", shown(&self.dtype)),
        };
        format!("an array of {kind} ({})", shown(&self.dtype))
    }

    /// Returns it as a value in a report.
    pub(crate) fn listed(&self, name: &str) -> Plain {
        let text = format!("{} {}", self.dtype, super::inspect::tuple(&self.sizes));
        Plain { name: name.to_owned(), class: CLASS.to_owned(), text: Some(text) }
    }
}

/// Returns what an array is that cannot be a tensor. `None` for numbers, and for records of them.
///
/// # Errors
/// Fails with ValueError if the header is invalid.
pub(crate) fn other_array(bytes: &[u8]) -> Result<Option<OtherArray>> {
    let Described { descr, sizes, .. } = described(bytes)?;
    let dtype = match (Element::of(&descr), descr) {
        (Err(_), Literal::Text(name)) => name,
        (Err(error), Literal::List(_)) => format!("records ({})", error.message),
        _ => return Ok(None),
    };
    Ok(Some(OtherArray { dtype, sizes }))
}

/// Returns the three entries of the header's dictionary, which may be in any order: `descr`, `fortran_order` and
/// `shape`.
fn entries(header: Literal) -> Option<(Literal, bool, Dims)> {
    let Literal::Dict(entries) = header else { return None };
    let (mut descr, mut fortran_order, mut shape) = (None, None, None);
    for (key, value) in entries {
        match (key.text()?, value) {
            ("descr", value) => descr = Some(value),
            ("fortran_order", Literal::Bool(truth)) => fortran_order = Some(truth),
            ("shape", value) => shape = Some(value.ints()?),
            _ => return None,
        }
    }
    Some((descr?, fortran_order?, shape?))
}

/// Returns contiguous strides with the first dimension innermost.
pub(crate) fn reversed(sizes: &[i64]) -> Dims {
    let turned: Dims = sizes.iter().rev().copied().collect();
    contiguous_strides(&turned).into_iter().rev().collect()
}

impl Header {
    /// Returns the value over these element bytes: a tensor, or a dictionary of the fields of records. A storage that
    /// `is_own` may be modified.
    ///
    /// # Errors
    /// Fails with RuntimeError if there are too few bytes.
    pub(crate) fn value(&self, storage: &Storage, is_own: bool) -> Result<Value> {
        self.element.value(&self.layout, storage, is_own)
    }
}

/// Reads the header of a file, and checks that the file contains all elements.
///
/// # Errors
/// Fails with ValueError if the header is invalid or the file too short.
pub(crate) fn header_of(source: &Source) -> Result<Header> {
    let head = source.bytes(0, source.len().min(MOST_OF_A_HEADER)).unwrap_or_default();
    let header = header(&head)?;
    if header.start.checked_add(header.nbytes).is_none_or(|end| end > source.len()) {
        bail!(ValueError, "the file is too short for its array of {} bytes", header.nbytes);
    }
    Ok(header)
}

/// Returns the contents of a file with one array. The array does not have a name, but the fields of its records do.
///
/// # Errors
/// The errors of [`header_of`].
pub(crate) fn contents(source: &Source) -> Result<Contents> {
    let mut contents = Contents::new(source, "npy");
    let head = source.bytes(0, source.len().min(MOST_OF_A_HEADER)).unwrap_or_default();
    if let Some(other) = other_array(&head)? {
        contents.values.push(other.listed(""));
        return Ok(contents);
    }
    let Header { element, layout, start, nbytes } = header_of(source)?;
    element.list(&mut contents, String::new(), layout, nbytes, Bytes::Stored(source.clone(), start))?;
    Ok(contents)
}

/// Loads the array of a file, as a tensor on the file itself. An array of records becomes a dictionary of its fields.
///
/// # Errors
/// Fails with ValueError for an invalid file.
pub(crate) fn load(source: &Source, mapped: bool) -> Result<Value> {
    let header = header_of(source)?;
    let storage = source.storage(header.start, header.nbytes);
    let storage = storage.ok_or_else(|| Error::value("the file is too short for its array"))?;
    let storage = if mapped { storage } else { storage.duplicate()? };
    header.value(&storage, !mapped)
}

/// Returns the header and the elements in numpy's form.
///
/// # Errors
/// Fails with TypeError for a dtype that numpy does not have, and with RuntimeError and others for a tensor without
/// data.
pub(crate) fn parts(tensor: &Tensor) -> Result<(Vec<u8>, Storage)> {
    let view = tensor.view();
    if view.form.is_some() {
        bail!(TypeError, "numpy has neither sparse nor quantized arrays");
    }
    view.memory()?;
    // Keep column-major order.
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

/// Returns whether numpy has a dtype.
pub(crate) fn holds(dtype: DType) -> bool {
    DTYPES.iter().any(|(_, known)| *known == dtype)
}

/// Returns the header of an array in numpy's form.
///
/// # Errors
/// Fails with TypeError for a dtype that numpy does not have, and with ValueError for too many dimensions and for a shape
/// that numpy refuses: other sizes count for it even if one is zero.
pub(crate) fn head(dtype: DType, sizes: &[i64], fortran_order: bool) -> Result<Vec<u8>> {
    let Some((name, _)) = DTYPES.iter().find(|(_, known)| *known == dtype) else {
        bail!(TypeError, "Got unsupported ScalarType {}", dtype.scalar_type())
    };
    let mut others = sizes.iter().filter(|size| **size != 0);
    if others.try_fold(dtype.itemsize() as i64, |nbytes, size| nbytes.checked_mul(*size)).is_none() {
        bail!(
            ValueError,
            "array is too big; `arr.size * arr.dtype.itemsize` is larger than the maximum possible size."
        );
    }
    let order = if dtype.itemsize() == 1 { '|' } else { '<' };
    let shape = sizes.iter().map(i64::to_string).collect::<Vec<_>>().join(", ");
    let comma = if sizes.len() == 1 { "," } else { "" };
    let fortran = if fortran_order { "True" } else { "False" };
    let mut text = format!("{{'descr': '{order}{name}', 'fortran_order': {fortran}, 'shape': ({shape}{comma}), }}");
    // Like numpy, leave space for the array to grow in place.
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
/// Fails with TypeError for anything other than a tensor with a dtype of numpy's, with RuntimeError if the file cannot
/// be written, and with KeyboardInterrupt.
pub(crate) fn save(value: &Value, path: &str) -> Result<()> {
    let Value::Tensor(tensor) = value else {
        bail!(TypeError, "an .npy file holds one tensor, not a {}", value.type_name())
    };
    let (head, storage) = parts(tensor)?;
    write(&head, &storage, path)
}

/// Writes an array whose header is given: what `np.save` does with a file name.
///
/// # Errors
/// Fails like Python's `open` if the file cannot be written, and with KeyboardInterrupt.
pub fn save_array(head: &[u8], storage: &Storage, path: &str) -> Result<()> {
    let _task = progress::begin(storage.nbytes() as u64);
    rewrite(
        Path::new(path),
        COMMON,
        |error| refused(&error, path),
        |file| {
            file.write_all(head).map_err(|error| refused(&error, path))?;
            write_body(storage, file, |error| refused(error, path))
        },
    )
}

/// Writes an array.
///
/// # Errors
/// Fails with RuntimeError if the file cannot be written, and with the errors of the body.
pub(crate) fn write(head: &[u8], body: &dyn Body, path: &str) -> Result<()> {
    let _task = progress::begin(body.nbytes() as u64);
    let refused = |error: &std::io::Error| Error::runtime(format!("{path} cannot be written: {error}"));
    replacing(path, |file| {
        file.write_all(head).map_err(|error| refused(&error))?;
        write_body(body, file, refused)
    })
}
