//! Python's `io.BytesIO`: bytes with a position, which stand for a file.

use super::{Call, Row, function, method};
use crate::bail;
use crate::files::Source;
use crate::tensor::{Buffer, Error, Memory, Result};
use crate::value::{Object, Value};
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

pub const ROWS: &[Row] = &[
    function(
        "io.BytesIO(any initial_bytes=None) -> any",
        |c| {
            let bytes = match c.value(0) {
                Value::None => Vec::new(),
                Value::Buffer(buffer) => buffer.memory().to_vec()?,
                other => bail!(TypeError, "a bytes-like object is required, not '{}'", other.type_name()),
            };
            let stream = ByteStream { bytes: RefCell::new(bytes), position: Cell::new(0), is_closed: Cell::new(false) };
            Ok(Value::Object(Rc::new(stream)))
        },
        "Bytes in memory that stand for a file.",
    )
    .python("BytesIO"),
    method("seek(Object self, int offset, int whence=0) -> int", seek, "Moves the position in a BytesIO.")
        .python("BytesIO.seek"),
    method(
        "tell(Object self) -> int",
        |c| with(c, |stream| Ok(Value::Int(stream.position.get() as i64))),
        "The position in a BytesIO.",
    )
    .python("BytesIO.tell"),
    method(
        "read(Object self, any size=None) -> Buffer",
        |c| {
            let most = match c.value(1) {
                Value::Int(size) => usize::try_from(size).unwrap_or(usize::MAX),
                _ => usize::MAX,
            };
            with(c, |stream| Buffer::bytes(&stream.read(most)).map(Value::Buffer))
        },
        "The next bytes of a BytesIO.",
    )
    .python("BytesIO.read"),
    method(
        "write(Object self, any b) -> int",
        |c| {
            let Value::Buffer(buffer) = c.value(1) else {
                bail!(TypeError, "a bytes-like object is required, not '{}'", c.value(1).type_name())
            };
            let bytes = buffer.memory().to_vec()?;
            with(c, |stream| stream.write(&bytes).map(|()| Value::Int(bytes.len() as i64)))
        },
        "Writes bytes at the position of a BytesIO.",
    )
    .python("BytesIO.write"),
    method(
        "getvalue(Object self) -> Buffer",
        |c| with(c, |stream| Buffer::bytes(&stream.bytes.borrow()).map(Value::Buffer)),
        "All bytes of a BytesIO.",
    )
    .python("BytesIO.getvalue"),
    method("flush(Object self) -> None", |c| with(c, |_| Ok(Value::None)), "Does nothing to a BytesIO.")
        .python("BytesIO.flush"),
    method(
        "close(Object self) -> None",
        |c| {
            on_stream(c, |stream| {
                stream.close();
                Ok(Value::None)
            })
        },
        "Gives up the bytes of a BytesIO.",
    )
    .python("BytesIO.close"),
];

/// Bytes with a position.
pub struct ByteStream {
    bytes: RefCell<Vec<u8>>,
    position: Cell<usize>,
    is_closed: Cell<bool>,
}

impl Object for ByteStream {
    fn type_name(&self) -> &str {
        "_io.BytesIO"
    }
    fn repr(&self) -> String {
        format!("<_io.BytesIO object at {:#x}>", std::ptr::from_ref(self).addr())
    }
    fn attribute(&self, name: &str) -> Option<Value> {
        (name == "closed").then(|| Value::Bool(self.is_closed.get()))
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl ByteStream {
    fn open(&self) -> Result<&ByteStream> {
        if self.is_closed.get() { Err(Error::value("I/O operation on closed file.")) } else { Ok(self) }
    }

    /// What stands from the position on, as a file.
    pub fn rest(&self) -> Result<Source> {
        let memory = Rc::new(Memory::from_bytes(&self.open()?.bytes.borrow())?);
        Source::of_memory(&memory, self.position.get())
    }

    pub fn close(&self) {
        self.is_closed.set(true);
        self.bytes.take();
    }

    /// Everything was read.
    pub fn finish(&self) {
        self.position.set(self.bytes.borrow().len());
    }

    /// Puts bytes at the position, over what stands there.
    ///
    /// # Errors
    /// ValueError once closed; MemoryError.
    pub fn write(&self, bytes: &[u8]) -> Result<()> {
        let start = self.open()?.position.get();
        let end = start.checked_add(bytes.len()).ok_or_else(no_memory)?;
        let mut held = self.bytes.borrow_mut();
        let more = end.saturating_sub(held.len());
        held.try_reserve(more).map_err(|_| no_memory())?;
        let length = held.len().max(end);
        held.resize(length, 0);
        if let Some(place) = held.get_mut(start..end) {
            place.copy_from_slice(bytes);
        }
        self.position.set(end);
        Ok(())
    }

    fn read(&self, most: usize) -> Vec<u8> {
        let held = self.bytes.borrow();
        let rest = held.get(self.position.get()..).unwrap_or_default();
        let part = rest.get(..most).unwrap_or(rest);
        self.position.set(self.position.get() + part.len());
        part.to_vec()
    }
}

fn no_memory() -> Error {
    Error::new(crate::tensor::ErrorKind::MemoryError, "")
}

/// Runs `action` on the receiver, which must be a stream that is not closed.
fn with(call: &Call, action: impl FnOnce(&ByteStream) -> Result<Value>) -> Result<Value> {
    on_stream(call, |stream| action(stream.open()?))
}

fn on_stream(call: &Call, action: impl FnOnce(&ByteStream) -> Result<Value>) -> Result<Value> {
    let this = call.value(0);
    if let Value::Object(object) = &this
        && let Some(stream) = object.as_any().downcast_ref::<ByteStream>()
    {
        return action(stream);
    }
    bail!(AttributeError, "'{}' object has no attribute '{}'", this.type_name(), call.signature.name)
}

fn seek(call: &mut Call) -> Result<Value> {
    let (offset, whence) = (call.int(1)?, call.int(2)?);
    with(call, |stream| {
        let from = match whence {
            0 if offset < 0 => bail!(ValueError, "negative seek value {offset}"),
            0 => 0,
            1 => stream.position.get(),
            2 => stream.bytes.borrow().len(),
            other => bail!(ValueError, "invalid whence ({other}, should be 0, 1 or 2)"),
        };
        let position = (from as i64).saturating_add(offset).max(0);
        stream.position.set(position as usize);
        Ok(Value::Int(position))
    })
}
