//! The package `safetensors`: files opened tensor by tensor, bytes, and files of arrays. Follows
//! <https://huggingface.co/docs/safetensors>. Whole files are in [`super::files`].

use super::python::in_python;
use call::{Call, Row, function};
use files::{Source, TensorFile};
use std::rc::Rc;
use tensor::{Buffer, BufferKind, Error, ErrorKind, Memory, Result, bail};
use value::{Dict, Object, Value};

pub(crate) const ROWS: &[Row] = &[
    function(
        "safetensors.safe_open(any filename, any framework, any device=None, *, any backend=\"mmap\") -> any",
        |c| in_python(c, "safetensors.safe_open"),
        "Opens a safetensors file, whose tensors are read when they are asked for; framework is 'pt' or 'np'.",
    )
    .python("safe_open"),
    function(
        "safetensors.torch.load_file(any filename, any device=\"cpu\", *, any backend=\"mmap\") -> any",
        |c| in_python(c, "safetensors.load_file"),
        "Reads the tensors of a safetensors file; they lie on the file.",
    )
    .python("load_file"),
    function(
        "safetensors.torch.save(any tensors, any metadata=None) -> any",
        |c| {
            let bytes = files::safetensors_bytes(&c.value(0), &c.value(1))?;
            Buffer::bytes(&bytes).map(Value::Buffer)
        },
        "Returns a dictionary of tensors as the bytes of a safetensors file.",
    )
    .python("safetensors.torch.save"),
    function(
        "safetensors.torch.load(any data) -> any",
        |c| load(&c.value(0)),
        "Reads the tensors from the bytes of a safetensors file.",
    )
    .python("safetensors.torch.load"),
    function(
        "safetensors.numpy.save_file(any tensor_dict, any filename, any metadata=None) -> None",
        |c| in_python(c, "safetensors.save_arrays"),
        "Writes a dictionary of arrays as safetensors.",
    )
    .python("safetensors.numpy.save_file"),
    function(
        "safetensors.numpy.load_file(any filename, *, any backend=\"mmap\") -> any",
        |c| in_python(c, "safetensors.load_file_arrays"),
        "Reads the arrays of a safetensors file.",
    )
    .python("safetensors.numpy.load_file"),
    function(
        "safetensors.numpy.save(any tensor_dict, any metadata=None) -> any",
        |c| in_python(c, "safetensors.array_bytes"),
        "Returns a dictionary of arrays as the bytes of a safetensors file.",
    )
    .python("safetensors.numpy.save"),
    function(
        "safetensors.numpy.load(any data) -> any",
        |c| in_python(c, "safetensors.load_arrays"),
        "Reads the arrays from the bytes of a safetensors file.",
    )
    .python("safetensors.numpy.load"),
];

/// What `python/safetensors.py` is made of. These rows have no public name.
pub(crate) const INTERNAL: &[Row] = &[
    function(
        "safetensors._open(str filename) -> any",
        |c| {
            let source = Source::open(c.str(0)?).map_err(|error| match error.kind {
                ErrorKind::FileNotFoundError => {
                    let name = c.str(0).unwrap_or_default();
                    Error::new(error.kind, format!("No such file or directory: {name}"))
                }
                ErrorKind::IsADirectoryError => Error::new(ErrorKind::OSError, "No such device (os error 19)"),
                _ => error,
            })?;
            Ok(Value::Object(Rc::new(Opened(TensorFile::new(&source)?))))
        },
        "Reads the header of a safetensors file.",
    )
    .python("safetensors._open"),
    function(
        "safetensors._entries(any file) -> any",
        |c| {
            with(c, |file| {
                let entry = |entry: files::TensorEntry| {
                    let sizes = entry.sizes.iter().map(|&size| Value::Int(size)).collect::<Vec<_>>();
                    Value::tuple([Value::str(entry.name), Value::str(entry.dtype), Value::list(sizes)])
                };
                Ok(Value::list(file.entries().into_iter().map(entry).collect::<Vec<_>>()))
            })
        },
        "Returns the names, dtypes and shapes of a file's tensors, in the order of their bytes.",
    )
    .python("safetensors._entries"),
    function(
        "safetensors._metadata(any file) -> any",
        |c| {
            with(c, |file| match file.metadata() {
                None => Ok(Value::None),
                Some(texts) => {
                    let pair = |(key, text): (&String, &String)| (Value::str(key), Value::str(text));
                    Dict::new(texts.iter().map(pair).collect::<Vec<_>>()).map(Value::Dict)
                }
            })
        },
        "Returns the texts of a file's header; None if it has none.",
    )
    .python("safetensors._metadata"),
    function(
        "safetensors._tensor(any file, str name) -> any",
        |c| {
            let name = c.str(1)?.to_owned();
            with(c, |file| file.tensor(&name))
        },
        "Returns a tensor on a file.",
    )
    .python("safetensors._tensor"),
];

/// An open file.
struct Opened(TensorFile);

impl Object for Opened {
    fn class_name(&self) -> &'static str {
        "safetensors._Opened"
    }
}

fn with(call: &Call, body: impl FnOnce(&TensorFile) -> Result<Value>) -> Result<Value> {
    let value = call.value(0);
    if let Value::Object(object) = &value
        && let Some(opened) = object.as_any().downcast_ref::<Opened>()
    {
        return body(&opened.0);
    }
    bail!(TypeError, "an open safetensors file is needed, not a {}", value.type_name())
}

/// `safetensors.torch.load`.
fn load(data: &Value) -> Result<Value> {
    let Value::Buffer(buffer) = data else { return Err(not_bytes(data)) };
    if !matches!(buffer.kind(), BufferKind::Bytes) || buffer.writable() {
        return Err(not_bytes(data));
    }
    let memory = Rc::new(Memory::from_bytes(&buffer.to_vec()?)?);
    files::load_safetensors(&Source::of_memory(&memory, 0)?, false).map_err(|error| Error {
        message: error.message.replacen("Error while deserializing header: ", "Error while deserializing: ", 1),
        ..error
    })
}

fn not_bytes(value: &Value) -> Error {
    Error::type_error(format!("argument 'bytes': '{}' object is not an instance of 'bytes'", value.type_name()))
}
