//! What NumPy's functions on files are made of. They have no public name; `src/numpy/python/files.py` calls them. Follows
//! <https://numpy.org/doc/2.4/reference/routines.io.html>.

use call::{Call, Row, function};
use files::{ArrayArchive, NamedArray, Source};
use numpy::memmap::storage_of;
use objects::strings::byte_streams::ByteStream;
use std::io::Cursor;
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;
use tensor::system::{Files, System};
use tensor::{Buffer, Error, Result, Storage, bail};
use value::{Object, Value};

pub(crate) const ROWS: &[Row] = &[
    function(
        "numpy._file_storage(str path, bool shared=False, int nbytes=0) -> any",
        |c| {
            let path = c.str(0)?;
            let source = Source::open(path)?;
            if c.bool(1)? {
                return Storage::from_file(path, true, c.int(2)?).map(Value::Storage);
            }
            let storage = source.storage(0, source.len());
            storage.map(Value::Storage).ok_or_else(|| Error::runtime("the file cannot be read"))
        },
        "Maps a file: all of it copy-on-write, or its first bytes shared with the file, which grows to them.",
    )
    .python("numpy._file_storage"),
    function(
        "numpy._npy_literal(str text) -> any",
        |c| Ok(files::python_literal(c.str(0)?)?.map_or(Value::None, |value| Value::tuple([value]))),
        "Reads a Python literal, and returns it alone in a tuple; None for anything else.",
    )
    .python("numpy._npy_literal"),
    function(
        "numpy._npy_save(str path, any head, any array) -> None",
        |c| {
            let head = bytes(&c.value(1))?;
            files::save_array(&head, &storage_of(&c.value(2))?, c.str(0)?)?;
            Ok(Value::None)
        },
        "Writes a header and the elements of a row-major array to a file.",
    )
    .python("numpy._npy_save"),
    function(
        "numpy._npz_save(str path, any entries, bool compressed) -> None",
        |c| {
            files::save_arrays(&entries(&c.value(1))?, c.bool(2)?, c.str(0)?)?;
            Ok(Value::None)
        },
        "Writes an archive of names, headers and row-major arrays to a file.",
    )
    .python("numpy._npz_save"),
    function(
        "numpy._npz_bytes(any entries, bool compressed) -> any",
        |c| {
            let mut to = Cursor::new(Vec::new());
            files::write_arrays(&entries(&c.value(0))?, c.bool(1)?, &mut to)?;
            Buffer::bytes(&to.into_inner()).map(Value::Buffer)
        },
        "Returns the bytes of an archive of names, headers and row-major arrays.",
    )
    .python("numpy._npz_bytes"),
    function(
        "numpy._npz_open(any file) -> any",
        |c| {
            let source = match c.value(0) {
                Value::Str(path) => Source::open(&path)?,
                other => match stream(&other) {
                    Some(stream) => stream.rest()?,
                    None => Source::of_reader(Cursor::new(read_by_script(c, &other)?), "object")?,
                },
            };
            Ok(Value::Object(Rc::new(Zip(ArrayArchive::new(&source)?))))
        },
        "Opens an archive in a file, or in an open file from its position on.",
    )
    .python("numpy._npz_open"),
    function(
        "numpy._npz_entries(any zip) -> any",
        |c| {
            let pair = |(name, size): (String, u64)| Value::tuple([Value::str(name), Value::Int(size as i64)]);
            with(&c.value(0), |zip| Ok(Value::list(zip.entries().into_iter().map(pair).collect::<Vec<_>>())))
        },
        "Returns the names and sizes of an archive's entries.",
    )
    .python("numpy._npz_entries"),
    function(
        "numpy._npz_head(any zip, str name, int most) -> any",
        |c| {
            let (name, most) = (c.str(1)?.to_owned(), u64::try_from(c.int(2)?).unwrap_or(0));
            with(&c.value(0), |zip| Buffer::bytes(&zip.head(&name, most)?).map(Value::Buffer))
        },
        "Returns the first bytes of an archive's entry.",
    )
    .python("numpy._npz_head"),
    function(
        "numpy._npz_storage(any zip, str name, int skip, int nbytes) -> any",
        |c| {
            let name = c.str(1)?.to_owned();
            let count = |i: usize| usize::try_from(c.int(i)?).map_err(|_| Error::value("a negative count of bytes"));
            let (skip, nbytes) = (count(2)?, count(3)?);
            with(&c.value(0), |zip| zip.storage(&name, skip, nbytes).map(Value::Storage))
        },
        "Copies the bytes of an archive's entry from some byte on, all that follow it.",
    )
    .python("numpy._npz_storage"),
    function(
        "numpy._absolute(str path) -> str",
        |c| Ok(Value::str(absolute(Path::new(c.str(0)?)).to_string_lossy())),
        "Returns a path from the root on.",
    )
    .python("numpy._absolute"),
];

/// Returns a path from the root on, without `.` and `..`, like Python's `os.path.abspath`.
fn absolute(path: &Path) -> PathBuf {
    let mut whole = PathBuf::new();
    for part in System::current_folder().join(path).components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                whole.pop();
            }
            other => whole.push(other),
        }
    }
    whole
}

/// An open archive, which scripts see as `NpzFile.zip`.
struct Zip(ArrayArchive);

impl Object for Zip {
    fn class_name(&self) -> &'static str {
        "zipfile.ZipFile"
    }
    fn type_name(&self) -> &str {
        "ZipFile"
    }
    fn repr(&self) -> String {
        "<zipfile.ZipFile mode='r'>".to_owned()
    }
}

fn with(value: &Value, body: impl FnOnce(&ArrayArchive) -> Result<Value>) -> Result<Value> {
    match value {
        Value::Object(object) => match object.as_any().downcast_ref::<Zip>() {
            Some(zip) => body(&zip.0),
            None => bail!(TypeError, "an archive is needed, not a {}", value.type_name()),
        },
        other => bail!(TypeError, "an archive is needed, not a {}", other.type_name()),
    }
}

fn stream(value: &Value) -> Option<&ByteStream> {
    match value {
        Value::Object(object) => object.as_any().downcast_ref::<ByteStream>(),
        _ => None,
    }
}

fn bytes(value: &Value) -> Result<Vec<u8>> {
    match value {
        Value::Buffer(buffer) => buffer.to_vec(),
        other => bail!(TypeError, "a bytes-like object is required, not '{}'", other.type_name()),
    }
}

/// Reads the rest of a file that is an object of a script.
fn read_by_script(call: &Call, file: &Value) -> Result<Vec<u8>> {
    bytes(&objects::calling::call_method(call.state, file, "read", Vec::new(), Vec::new())?)
}

/// Reads the entries of an archive to be written: names, headers and arrays.
fn entries(value: &Value) -> Result<Vec<NamedArray>> {
    let entry = |entry: &Value| match entry.sequence().as_deref() {
        Some([Value::Str(name), head, array]) => {
            Ok(NamedArray { name: name.to_string(), head: bytes(head)?, storage: storage_of(array)? })
        }
        _ => bail!(TypeError, "an entry is a name, a header and an array"),
    };
    value.sequence().unwrap_or_default().iter().map(entry).collect()
}
