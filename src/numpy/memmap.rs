//! Arrays on the bytes of a storage, among them those of a mapped file: `np.memmap`. Follows
//! <https://numpy.org/doc/2.4/reference/generated/numpy.memmap.html>. Knows no files: a storage is given.

use crate::array::Array;
use crate::convert;
use crate::dtypes::descr_of;
use crate::ndarray::{Mapping, NdArray};
use crate::strided::{Strided, checked_count};
use call::{Call, Row, function};
use std::rc::Rc;
use tensor::{Error, Result, Storage, bail};
use value::{Object, Value};

pub(crate) const ROWS: &[Row] = &[function(
    "numpy._on_storage(any storage, any dtype, any shape, any order=\"C\", int offset=0, any mode=None, any filename=None, bool own=False) -> \
     any",
    on_storage,
    "Creates an array on the bytes of a storage: a memmap if a mode is given, its owner if asked for, else read-only.",
)
.python("numpy._on_storage")];

/// The memory of a mapped file, as `memmap.base` shows it.
struct MappedFile {
    mode: Rc<str>,
    nbytes: usize,
}

impl Object for MappedFile {
    fn class_name(&self) -> &'static str {
        "mmap.mmap"
    }
    fn type_name(&self) -> &str {
        "mmap.mmap"
    }
    fn repr(&self) -> String {
        let access = match &*self.mode {
            "r" => "ACCESS_READ",
            "c" => "ACCESS_COPY",
            _ => "ACCESS_WRITE",
        };
        format!("<mmap.mmap closed=False, access={access}, length={}, pos=0, offset=0>", self.nbytes)
    }
}

fn on_storage(call: &mut Call) -> Result<Value> {
    let Value::Storage(storage) = call.value(0) else { bail!(TypeError, "a storage is needed") };
    let (descr, shape) = (descr_of(&call.value(1))?, convert::shape(&call.value(2))?);
    let column_major = matches!(call.value(3), Value::Str(order) if &*order == "F");
    let offset = call.int(4)?;
    let count = checked_count(&shape, descr.itemsize())?;
    let nbytes = usize::try_from(count).ok().and_then(|count| count.checked_mul(descr.itemsize()));
    let start = usize::try_from(offset).map_err(|_| Error::value("offset must be non-negative"))?;
    let end = nbytes.and_then(|nbytes| nbytes.checked_add(start));
    if end.is_none_or(|end| end > storage.nbytes()) {
        bail!(ValueError, "mmap length is greater than file size");
    }
    storage.keep_size();
    let places = Strided { offset, ..Strided::dense(&shape, descr.itemsize(), column_major) };
    let array = Array { storage: storage.clone(), descr, places };
    Ok(match call.value(5) {
        Value::Str(mode) => {
            let mode = mode.to_rc();
            let base = MappedFile { mode: mode.clone(), nbytes: storage.nbytes() };
            let writeable = &*mode != "r";
            let mapping = Mapping { filename: call.value(6), mode: call.value(5), offset: Value::Int(offset) };
            NdArray::mapped(array, Value::Object(Rc::new(base)), writeable, mapping)
        }
        _ if call.bool(7)? => NdArray::value(array),
        _ => NdArray::on(array, call.value(0), false),
    })
}

/// Returns the bytes of a row-major array, as a storage of their own.
///
/// # Errors
/// TypeError for anything but a row-major array.
pub fn storage_of(value: &Value) -> Result<Storage> {
    let array = NdArray::of(value).map(|this| this.array()).filter(Array::is_c);
    let array = array.ok_or_else(|| Error::type_error("a row-major array is needed"))?;
    array.memory()?;
    let start = usize::try_from(array.places.offset).unwrap_or_default();
    let nbytes = usize::try_from(array.count()).unwrap_or_default().saturating_mul(array.itemsize());
    array.storage.slice(start, start.saturating_add(nbytes))
}
