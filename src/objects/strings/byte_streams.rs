//! Python's `io.BytesIO` and `open`: bytes with a position, in memory or in a file that is written on flush and close.

use crate::strings::codecs;
use call::{Call, Row, function, method};
use files::Source;
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::path::Path;
use std::rc::Rc;
use tensor::bail;
use tensor::system::{Files, PathKind, System, Temporary};
use tensor::{Buffer, Error, Memory, Result, interrupt, limits};
use value::{Object, Value};

pub(crate) const ROWS: &[Row] = &[
    function(
        "io.BytesIO(any initial_bytes=None) -> any",
        |c| {
            let bytes = match c.value(0) {
                Value::None => Vec::new(),
                Value::Buffer(buffer) => buffer.to_vec()?,
                other => bail!(TypeError, "a bytes-like object is required, not '{}'", other.type_name()),
            };
            Ok(Value::Object(Rc::new(ByteStream::of(bytes, None))))
        },
        "Creates a file of bytes in memory.",
    )
    .python("BytesIO"),
    function(
        "tempfile.NamedTemporaryFile(str mode=\"w+b\", any buffering=-1, any encoding=None, any newline=None, any suffix=None, \
         any prefix=None, any dir=None, any delete=True, *, any errors=None, any delete_on_close=True) -> any",
        |c| temporary(c, Some("tempfile._TemporaryFileWrapper"), 0),
        "Creates a file that is deleted when it is closed.",
    )
    .python("NamedTemporaryFile"),
    function(
        "tempfile.TemporaryFile(str mode=\"w+b\", any buffering=-1, any encoding=None, any newline=None, any suffix=None, \
         any prefix=None, any dir=None, *, any errors=None) -> any",
        |c| temporary(c, None, 0),
        "Creates a file that is deleted when it is closed; its name is not known.",
    )
    .python("TemporaryFile"),
    function(
        "tempfile.SpooledTemporaryFile(any max_size=0, str mode=\"w+b\", any buffering=-1, any encoding=None, any newline=None, \
         any suffix=None, any prefix=None, any dir=None, *, any errors=None) -> any",
        |c| temporary(c, Some("tempfile.SpooledTemporaryFile"), 1),
        "Creates a file that is deleted when it is closed; its name is not known.",
    )
    .python("SpooledTemporaryFile"),
    method(
        "truncate(Object self, any size=None) -> int",
        |c| {
            let size = match c.value(1) {
                Value::None => None,
                given => Some(crate::plain::numbers::size(&given)?),
            };
            with(c, |stream| stream.truncate(size))
        },
        "Cuts a file at a size, or at the position.",
    ),
    method("readable(Object self) -> bool", |c| with(c, |s| Ok(Value::Bool(s.check_readable().is_ok()))), "Returns whether a file can be read."),
    method("writable(Object self) -> bool", |c| with(c, |s| Ok(Value::Bool(s.is_writable()))), "Returns whether a file can be written."),
    method("seekable(Object self) -> bool", |c| with(c, |_| Ok(Value::Bool(true))), "Returns whether the position of a file can be moved: always."),
    method("seek(Object self, int offset, int whence=0) -> int", seek, "Moves the position in a BytesIO.")
        .python("BytesIO.seek"),
    method(
        "tell(Object self) -> int",
        |c| with(c, |stream| Ok(Value::Int(stream.position.get() as i64))),
        "Returns the position in a BytesIO.",
    )
    .python("BytesIO.tell"),
    function(
        "py.open(any file, str mode=\"r\", any buffering=-1, any encoding=None, any errors=None, any newline=None, any closefd=True, \
         any opener=None) -> any",
        open,
        "Opens a file of the system for reading or writing.",
    )
    .python("open"),
    method(
        "readline(Object self) -> any",
        |c| with(c, |stream| stream.shown(stream.line())),
        "Reads the next line of a file.",
    ),
    method(
        "readlines(Object self) -> any",
        |c| with(c, |stream| Ok(Value::list(stream.lines()?))),
        "Reads the remaining lines of a file.",
    ),
    method(
        "writelines(Object self, any lines) -> None",
        |c| {
            for line in crate::iterate::items(c.state, &c.value(1))? {
                with(c, |stream| stream.put(&line))?;
            }
            Ok(Value::None)
        },
        "Writes texts one after the other.",
    ),
    method(
        "read(Object self, any size=None) -> any",
        |c| {
            let most = match c.value(1) {
                Value::Int(size) => usize::try_from(size).unwrap_or(usize::MAX),
                _ => usize::MAX,
            };
            with(c, |stream| {
                stream.check_readable()?;
                stream.shown(stream.read(most))
            })
        },
        "Reads the rest of a file, or a number of bytes of it.",
    )
    .python("BytesIO.read"),
    method(
        "write(Object self, any b) -> int",
        |c| {
            let value = c.value(1);
            with(c, |stream| stream.put(&value))
        },
        "Writes bytes or text at the position of a file.",
    )
    .python("BytesIO.write"),
    method(
        "getvalue(Object self) -> Buffer",
        |c| with(c, |stream| Buffer::bytes(&stream.bytes.borrow()).map(Value::Buffer)),
        "Returns all bytes of a BytesIO.",
    )
    .python("BytesIO.getvalue"),
    method(
        "getbuffer(Object self) -> Buffer",
        |c| {
            with(c, |stream| {
                let bytes = Buffer::bytes(&stream.bytes.borrow())?;
                Ok(Value::Buffer(bytes))
            })
        },
        "Returns the bytes of a BytesIO, as they are now.",
    ),
    method(
        "flush(Object self) -> None",
        |c| with(c, |stream| stream.flush().map(|()| Value::None)),
        "Writes out what is buffered for a file.",
    )
    .python("BytesIO.flush"),
    method(
        "close(Object self) -> None",
        |c| {
            on_stream(c, |stream| {
                stream.close()?;
                Ok(Value::None)
            })
        },
        "Releases the bytes of a BytesIO.",
    )
    .python("BytesIO.close"),
];

/// Bytes with a position.
pub struct ByteStream {
    bytes: RefCell<Vec<u8>>,
    position: Cell<usize>,
    is_closed: Cell<bool>,
    file: Option<OnDisk>,
}

/// The file behind a [`ByteStream`].
struct OnDisk {
    path: String,
    mode: String,
    /// How a file of text is read and written.
    encoding: String,
    errors: String,
    /// Whether the file lacks some of the written bytes.
    changed: Cell<bool>,
    /// The file to delete when the stream is closed.
    temporary: RefCell<Option<Temporary>>,
    /// The class of a temporary file, if it is not that of `open`.
    wrapper: Option<&'static str>,
}

impl OnDisk {
    fn is_text(&self) -> bool {
        !self.mode.contains('b')
    }

    fn may(&self, letters: &[char]) -> bool {
        self.mode.contains('+') || self.mode.contains(letters)
    }

    fn class(&self) -> &'static str {
        if let Some(wrapper) = self.wrapper {
            return wrapper;
        }
        match (self.is_text(), self.mode.contains('+'), self.mode.contains('r')) {
            (true, ..) => "_io.TextIOWrapper",
            (_, true, _) => "_io.BufferedRandom",
            (.., true) => "_io.BufferedReader",
            _ => "_io.BufferedWriter",
        }
    }
}

/// Flushes when the last owner is dropped.
impl Drop for ByteStream {
    fn drop(&mut self) {
        // An error here cannot be reported.
        let _ = self.flush();
    }
}

fn check_mode(mode: &str) -> Result<()> {
    let kinds = mode.chars().filter(|c| "rwax".contains(*c)).count();
    let known = mode.chars().all(|c| "rwaxbt+".contains(c));
    if !known {
        bail!(ValueError, "invalid mode: '{mode}'");
    }
    if mode.contains('b') && mode.contains('t') {
        bail!(ValueError, "can't have text and binary mode at once");
    }
    if kinds != 1 {
        bail!(ValueError, "must have exactly one of create/read/write/append mode");
    }
    Ok(())
}

/// Creates a temporary file. `first` is the position of the argument `mode`.
fn temporary(call: &mut Call, wrapper: Option<&'static str>, first: usize) -> Result<Value> {
    let text = |place: usize, usual: &str| match call.value(first + place) {
        Value::None => Ok(usual.to_owned()),
        Value::Str(text) => Ok(text.to_string()),
        other => bail!(TypeError, "expected str, bytes or os.PathLike object, not {}", other.type_name()),
    };
    let (mode, suffix, prefix) = (text(0, "w+b")?, text(4, "")?, text(5, "tmp")?);
    check_mode(&mode)?;
    if !call.is_none(first + 6) {
        bail!(NotImplementedError, "temporary files are created in the system's folder here: leave out dir");
    }
    if call.position("delete").is_some_and(|i| matches!(call.value(i), Value::Bool(false))) {
        bail!(
            NotImplementedError,
            "a temporary file is deleted when it is closed: open another file instead of delete=False"
        );
    }
    let held = files::temporary(&prefix, &suffix)?;
    let path: &Path = held.as_ref();
    let path = path.to_string_lossy().into_owned();
    let file = OnDisk {
        path,
        mode,
        encoding: "utf-8".to_owned(),
        errors: "strict".to_owned(),
        changed: Cell::new(false),
        temporary: RefCell::new(Some(held)),
        wrapper,
    };
    Ok(Value::Object(Rc::new(ByteStream::of(Vec::new(), Some(file)))))
}

/// Returns the path that a value is: a text, bytes, or an object with `__fspath__`.
///
/// # Errors
/// TypeError in Python's words for anything else.
pub fn path_of(value: &Value) -> Result<String> {
    match value {
        Value::Str(path) => Ok(path.to_string()),
        Value::Buffer(buffer) => codecs::decode(&crate::strings::bytes::raw(buffer)?, "utf-8", "strict"),
        Value::Object(object) if let Some(path) = object.special("__fspath__", &[]) => path_of(&path?),
        other => bail!(TypeError, "expected str, bytes or os.PathLike object, not {}", other.type_name()),
    }
}

fn open(call: &mut Call) -> Result<Value> {
    let (path, mode) = (path_of(&call.value(0))?, call.str(1)?.to_owned());
    check_mode(&mode)?;
    let option = |at: usize| match call.value(at) {
        Value::Str(_) if mode.contains('b') => {
            let name = if at == 3 { "encoding" } else { "errors" };
            bail!(ValueError, "binary mode doesn't take an {name} argument")
        }
        Value::Str(text) if *text == *"locale" => Ok(None),
        Value::Str(text) => Ok(Some(text.to_string())),
        _ => Ok(None),
    };
    let (encoding, errors) =
        (option(3)?.unwrap_or_else(|| "utf-8".to_owned()), option(4)?.unwrap_or_else(|| "strict".to_owned()));
    codecs::encode("", &encoding, &errors)?;
    let exists = System::kind(Path::new(&path)).is_ok();
    if mode.contains('x') && exists {
        return Err(Error::new(
            tensor::ErrorKind::Other("FileExistsError"),
            format!("[Errno 17] File exists: '{path}'"),
        ));
    }
    let is_read = mode.contains('r') || mode.contains('a') && exists;
    let bytes = match is_read {
        true => files::read_whole(&path, limits::budget() as u64)?,
        false => Vec::new(),
    };
    let end = if mode.contains('a') { bytes.len() } else { 0 };
    let changed = Cell::new(!is_read);
    if let Ok(PathKind::Folder) = System::kind(Path::new(&path)) {
        return Err(Error::new(
            tensor::ErrorKind::Other("IsADirectoryError"),
            format!("[Errno 21] Is a directory: '{path}'"),
        ));
    }
    let file = OnDisk { path, mode, encoding, errors, changed, temporary: RefCell::default(), wrapper: None };
    let stream = ByteStream::of(bytes, Some(file));
    stream.position.set(end);
    stream.flush()?;
    Ok(Value::Object(Rc::new(stream)))
}

impl Object for ByteStream {
    fn enter(&self, _session: &dyn Any) -> Option<Result<Option<Value>>> {
        Some(Ok(None))
    }
    fn exit(&self, _session: &dyn Any) -> Result<()> {
        self.close()
    }
    fn class_name(&self) -> &'static str {
        self.file.as_ref().map_or("_io.BytesIO", OnDisk::class)
    }
    fn type_name(&self) -> &str {
        let class = self.class_name();
        class.strip_prefix("tempfile.").unwrap_or(class)
    }
    fn repr(&self) -> String {
        let class = self.class_name();
        match &self.file {
            None => format!("<{class} object at {:#x}>", std::ptr::from_ref(self).addr()),
            Some(file) if file.is_text() => {
                format!("<{class} name='{}' mode='{}' encoding='UTF-8'>", file.path, file.mode)
            }
            Some(file) => format!("<{class} name='{}'>", file.path),
        }
    }
    fn attribute(&self, name: &str) -> Option<Value> {
        match (name, &self.file) {
            ("closed", _) => Some(Value::Bool(self.is_closed.get())),
            ("name", Some(file)) => Some(Value::str(&file.path)),
            ("mode", Some(file)) if file.wrapper.is_some() && file.mode == "w+b" => Some(Value::str("rb+")),
            ("mode", Some(file)) => Some(Value::str(&file.mode)),
            _ => None,
        }
    }
    fn is_iterator(&self) -> bool {
        true
    }
    fn next(&self) -> Option<Result<Option<Value>>> {
        let line = || {
            self.open()?.check_readable()?;
            let line = self.line();
            if line.is_empty() { Ok(None) } else { self.shown(line).map(Some) }
        };
        Some(line())
    }
}

impl ByteStream {
    fn of(bytes: Vec<u8>, file: Option<OnDisk>) -> ByteStream {
        ByteStream { bytes: RefCell::new(bytes), position: Cell::new(0), is_closed: Cell::new(false), file }
    }

    fn unsupported(what: &str) -> Error {
        Error::new(tensor::ErrorKind::Other("UnsupportedOperation"), what)
    }

    fn check_readable(&self) -> Result<()> {
        match &self.file {
            Some(file) if !file.may(&['r']) => {
                Err(ByteStream::unsupported(if file.is_text() { "not readable" } else { "read" }))
            }
            _ => Ok(()),
        }
    }

    /// Converts bytes to the class that the file yields: `str` for a text file, `bytes` otherwise.
    fn shown(&self, bytes: Vec<u8>) -> Result<Value> {
        if !self.file.as_ref().is_some_and(OnDisk::is_text) {
            return Buffer::bytes(&bytes).map(Value::Buffer);
        }
        let (encoding, errors) =
            self.file.as_ref().map_or(("utf-8", "strict"), |file| (file.encoding.as_str(), file.errors.as_str()));
        codecs::decode(&bytes, encoding, errors).map(Value::str)
    }

    fn line(&self) -> Vec<u8> {
        let length = {
            let held = self.bytes.borrow();
            let rest = held.get(self.position.get()..).unwrap_or_default();
            rest.iter().position(|byte| *byte == b'\n').map_or(rest.len(), |at| at + 1)
        };
        self.read(length)
    }

    /// Reads the remaining lines.
    ///
    /// # Errors
    /// ValueError if the stream is closed; UnsupportedOperation if the file is write-only.
    fn lines(&self) -> Result<Vec<Value>> {
        self.open()?.check_readable()?;
        let mut lines = Vec::new();
        loop {
            interrupt::check_at(lines.len())?;
            limits::grown_to::<Value>(lines.len() + 1)?;
            let line = self.line();
            if line.is_empty() {
                return Ok(lines);
            }
            lines.push(self.shown(line)?);
        }
    }

    /// Writes a value. Returns the number of characters written to a text file, or of bytes otherwise.
    fn put(&self, value: &Value) -> Result<Value> {
        if let Some(file) = self.file.as_ref().filter(|_| !self.is_writable()) {
            return Err(ByteStream::unsupported(if file.is_text() { "not writable" } else { "write" }));
        }
        let is_text = self.file.as_ref().is_some_and(OnDisk::is_text);
        let (bytes, count) = match value {
            Value::Str(text) if let Some(file) = self.file.as_ref().filter(|_| is_text) => {
                (codecs::encode(text, &file.encoding, &file.errors)?, text.chars().count())
            }
            other if is_text => bail!(TypeError, "write() argument must be str, not {}", other.type_name()),
            Value::Buffer(buffer) => {
                let bytes = buffer.to_vec()?;
                let count = bytes.len();
                (bytes, count)
            }
            other => bail!(TypeError, "a bytes-like object is required, not '{}'", other.type_name()),
        };
        self.write(&bytes)?;
        Ok(Value::Int(count as i64))
    }

    /// Writes the bytes to the file if they have changed.
    fn flush(&self) -> Result<()> {
        let Some(file) = self.file.as_ref().filter(|file| file.changed.get() && !self.is_closed.get()) else {
            return Ok(());
        };
        files::write_whole(&file.path, &self.bytes.borrow())?;
        file.changed.set(false);
        Ok(())
    }

    fn is_writable(&self) -> bool {
        self.file.as_ref().is_none_or(|file| file.may(&['w', 'a', 'x']))
    }

    /// Reads a temporary file again: others may have written to it under its name.
    fn refresh(&self) {
        if let Some(file) = self.file.as_ref().filter(|file| file.temporary.borrow().is_some() && !file.changed.get())
            && let Ok(bytes) = files::read_whole(&file.path, limits::budget() as u64)
        {
            self.bytes.replace(bytes);
        }
    }

    fn truncate(&self, size: Option<i64>) -> Result<Value> {
        if !self.is_writable() {
            return Err(ByteStream::unsupported("truncate"));
        }
        let size = size.unwrap_or(self.position.get() as i64);
        let Ok(count) = usize::try_from(size) else { bail!(ValueError, "negative size value {size}") };
        let mut held = self.bytes.borrow_mut();
        match &self.file {
            // A file grows, and bytes in memory do not.
            Some(file) => {
                limits::grown_to::<u8>(count)?;
                held.resize(count, 0);
                file.changed.set(true);
            }
            None => held.truncate(count),
        }
        Ok(Value::Int(size))
    }

    /// Checks that the stream is open. A closed binary file names the operation.
    fn open_for(&self, operation: &str) -> Result<&ByteStream> {
        let is_binary = self.file.as_ref().is_some_and(|file| !file.is_text());
        if !self.is_closed.get() || !is_binary {
            return self.open();
        }
        Err(Error::value(match operation {
            "write" => "write to closed file".to_owned(),
            "read" | "seek" | "readline" | "flush" | "truncate" => format!("{operation} of closed file"),
            "tell" => "I/O operation on closed file".to_owned(),
            _ => return self.open(),
        }))
    }

    fn open(&self) -> Result<&ByteStream> {
        if self.is_closed.get() { Err(Error::value("I/O operation on closed file.")) } else { Ok(self) }
    }

    /// Returns the bytes from the position on, as a [`Source`].
    pub fn rest(&self) -> Result<Source> {
        self.refresh();
        let memory = Rc::new(Memory::from_bytes(&self.open()?.bytes.borrow())?);
        Source::of_memory(&memory, self.position.get())
    }

    /// Flushes the stream and releases its bytes.
    ///
    /// # Errors
    /// Errors of the system if the file cannot be written.
    pub(crate) fn close(&self) -> Result<()> {
        let flushed = self.flush();
        self.is_closed.set(true);
        self.bytes.take();
        if let Some(file) = &self.file {
            file.temporary.take();
        }
        flushed
    }

    /// Moves the position to the end.
    pub fn finish(&self) {
        self.position.set(self.bytes.borrow().len());
    }

    /// Writes bytes at the position, overwriting what is there.
    ///
    /// # Errors
    /// ValueError if the stream is closed; MemoryError.
    pub fn write(&self, bytes: &[u8]) -> Result<()> {
        let start = self.open()?.position.get();
        let end = start.checked_add(bytes.len()).ok_or_else(limits::full)?;
        let mut held = self.bytes.borrow_mut();
        let more = end.saturating_sub(held.len());
        if more > 0 {
            limits::grown_to::<u8>(end)?;
        }
        held.try_reserve(more).map_err(|_| limits::full())?;
        let length = held.len().max(end);
        held.resize(length, 0);
        if let Some(place) = held.get_mut(start..end) {
            place.copy_from_slice(bytes);
        }
        self.position.set(end);
        if let Some(file) = &self.file {
            file.changed.set(true);
        }
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

/// Runs `action` on the receiver, which must be an open stream.
fn with(call: &Call, action: impl FnOnce(&ByteStream) -> Result<Value>) -> Result<Value> {
    let operation = call.signature.name;
    on_stream(call, |stream| {
        let open = stream.open_for(operation)?;
        open.refresh();
        action(open)
    })
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
        stream.flush()?;
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
