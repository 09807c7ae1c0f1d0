//! Checkpoints and other files of tensors. Follows <https://pytorch.org/docs/2.7/generated/torch.save.html> and
//! `torch.load`. Only `weights_only=True` is supported: a file never executes code.

use super::typed_storages::not_wrapped;
use call::state::State;
use call::{Call, Row, function};
use files::{self, Input, Loading, Location, Options, SaveOptions, Source};
use objects::operators;
use objects::strings::byte_streams::{ByteStream, path_of};
use std::any::Any;
use std::cell::Cell;
use std::io::Cursor;
use std::rc::Rc;
use tensor::{Element, Error, Result, Storage, Tensor, bail};
use value::{Dict, Object, Value};

pub(crate) const ROWS: &[Row] = &[
    function(
        "save(any obj, any f, any pickle_module=None, int pickle_protocol=2, bool \
 _use_new_zipfile_serialization=True, bool _disable_byteorder_record=False) -> None",
        save,
        "Writes a value to a file or BytesIO as a PyTorch checkpoint; shared storages stay shared.",
    )
    .any_layout()
    .python("save"),
    function(
        "load(any f, any map_location=None, any pickle_module=None, *, any weights_only=None, any mmap=None, \
 any encoding=None) -> any",
        load,
        "Reads a checkpoint without executing anything in it; with mmap=True its tensors lie on the file.",
    )
    .python("load"),
    function(
        "serialization.skip_data(bool materialize_fake_tensors=False) -> any",
        |_| Ok(Value::Object(Rc::new(SkipData { before: Cell::new(false) }))),
        "Creates a context in which files are written and read without the bytes of storages.",
    )
    .python("skip_data"),
    function(
        "collections.OrderedDict(any[] items, *, any{} entries) -> any",
        ordered,
        "Creates a dictionary that keeps its order.",
    )
    .python("OrderedDict"),
    function(
        "py.save(any obj, str path) -> None",
        |c| {
            let attributes = attributes(c.state);
            let options = SaveOptions { attributes: Some(&attributes), ..SaveOptions::default() };
            files::save_as(&c.value(0), c.str(1)?, &options).map(|()| Value::None)
        },
        "Writes a value in the format of the file name's ending: .pt, .safetensors, .npy or .npz.",
    )
    .python("save"),
    function(
        "py.load(str path, *, bool mmap=True) -> any",
        |c| {
            let state = c.state;
            let say = |note| state.warn_once("UserWarning", note);
            let attach = attach(state);
            let how = Loading { mapped: c.bool(1)?, say: &say, attach: Some(&attach), devices: None };
            Input::at(c.str(0)?)?.load(&how)
        },
        "Reads a checkpoint, safetensors, npy, npz or GGUF file, or a folder of such; tensors lie on the file where they can.",
    )
    .python("load"),
    function(
        "py.inspect(str path) -> any",
        |c| {
            let contents = Input::at(c.str(0)?)?.contents()?;
            Ok(Value::Object(Rc::new(Inspected(contents))))
        },
        "Lists the tensors of a file or folder without reading data: layouts, shared storages, unused bytes.",
    )
    .python("inspect"),
    function(
        "py.diff(any a, any b, *, float tolerance=0) -> any",
        |c| {
            let [a, b] = [0, 1].map(|side| match c.value(side) {
                Value::Str(path) => Input::at(&path)?.contents(),
                value => files::contents_of(&value),
            });
            let tolerance = f64::store(c.scalar(2)?);
            if tolerance.is_nan() || tolerance < 0.0 {
                bail!(ValueError, "a tolerance is not negative");
            }
            Ok(Value::Object(Rc::new(Compared(files::diff(&a?, &b?, tolerance)?))))
        },
        "Says what changed between two files of tensors, or two tensors or containers of them: names, shapes, elements, \
         sharing.",
    )
    .python("diff"),
    function(
        "safetensors.torch.save_file(any tensors, str filename, any metadata=None) -> None",
        |c| files::save_safetensors(&c.value(0), &c.value(2), c.str(1)?).map(|()| Value::None),
        "Writes a dictionary of tensors as safetensors.",
    )
    .python("save_file"),
];

fn ordered(call: &mut Call) -> Result<Value> {
    let dict = Dict::default().to_kind(true);
    match call.value(0).items().as_deref() {
        None | Some([]) => {}
        Some([from]) => operators::update(call.state, &dict, from)?,
        Some(several) => bail!(TypeError, "expected at most 1 arguments, got {}", several.len()),
    }
    operators::update(call.state, &dict, &call.value(1))?;
    Ok(Value::Dict(dict))
}

/// `torch.serialization.skip_data`. Keeps the previous setting, to restore it on exit.
struct SkipData {
    before: Cell<bool>,
}

impl Object for SkipData {
    fn type_name(&self) -> &str {
        "skip_data"
    }
    fn repr(&self) -> String {
        format!("<torch.serialization.skip_data object at {:#x}>", std::ptr::from_ref(self).addr())
    }
    fn enter(&self, session: &dyn Any) -> Option<Result<Option<Value>>> {
        Some(State::of(session).map(|state| {
            self.before.set(state.skip_data.replace(true));
            Some(Value::None)
        }))
    }
    fn exit(&self, session: &dyn Any) -> Result<()> {
        State::of(session)?.skip_data.set(self.before.get());
        Ok(())
    }
}

/// A report on a file, shown as a table.
struct Inspected(files::Contents);

impl Object for Inspected {
    fn type_name(&self) -> &str {
        "Report"
    }
    fn repr(&self) -> String {
        self.0.text()
    }
    fn attribute(&self, name: &str) -> Option<Value> {
        (name == "json").then(|| Value::str(self.0.json()))
    }
}

/// The differences between two files, shown line by line.
struct Compared(files::Differences);

impl Object for Compared {
    fn type_name(&self) -> &str {
        "Differences"
    }
    fn repr(&self) -> String {
        self.0.text()
    }
    fn attribute(&self, name: &str) -> Option<Value> {
        match name {
            "json" => Some(Value::str(self.0.json())),
            "is_equal" => Some(Value::Bool(self.0.is_equal())),
            _ => None,
        }
    }
}

/// Returns a function that gives a loaded tensor its attributes.
fn attach(state: &State) -> impl Fn(&Tensor, Dict) {
    |tensor, attributes| {
        let tensor = Value::Tensor(tensor.clone());
        for (name, value) in attributes.to_vec() {
            // Only strings name attributes, and a string can always be a key.
            if let Value::Str(name) = name {
                let _ = state.extras.set(&tensor, &name, &value);
            }
        }
    }
}

/// Returns a function that gives the attributes of a tensor.
fn attributes(state: &State) -> impl Fn(&Tensor) -> Option<Dict> {
    |tensor| state.extras.of(&Value::Tensor(tensor.clone()))
}

fn save(call: &mut Call) -> Result<Value> {
    if !call.bool(4)? {
        bail!(NotImplementedError, "files of before PyTorch 1.6 are read here, not written");
    }
    let attributes = attributes(call.state);
    let options = SaveOptions { skip_data: call.state.skip_data.get(), attributes: Some(&attributes) };
    match file_given(call.value(1))? {
        Value::Str(path) => files::save(&call.value(0), &path, &options)?,
        Value::Object(object) => match object.as_any().downcast_ref::<ByteStream>() {
            Some(stream) => {
                let mut bytes = Cursor::new(Vec::new());
                files::write(&call.value(0), "archive", &options, &mut bytes)?;
                stream.write(&bytes.into_inner())?;
            }
            None => return Err(no_file()),
        },
        _ => return Err(no_file()),
    }
    Ok(Value::None)
}

/// Returns the path of an object with `__fspath__`, and any other value as it is.
fn file_given(file: Value) -> Result<Value> {
    match &file {
        Value::Object(object) if object.has_special("__fspath__") => path_of(&file).map(Value::str),
        _ => Ok(file),
    }
}

fn no_file() -> Error {
    Error::attribute("expected 'f' to be string, path, or a file-like object with a 'write' attribute")
}

fn load(call: &mut Call) -> Result<Value> {
    if !call.is_none(2) {
        bail!(RuntimeError, "Can not safely load weights when explicit pickle_module is specified");
    }
    let state = call.state;
    let location = match call.value(1) {
        Value::None => Location::Own,
        Value::Str(name) => Location::To(name.to_string()),
        Value::Device(device) => Location::To(device.to_string()),
        Value::Dict(dict) => {
            let place = |value: &Value| match value {
                Value::Str(name) => Ok(name.to_string()),
                Value::Device(device) => Ok(device.to_string()),
                other => bail!(TypeError, "map_location maps names of devices, not a {}", other.type_name()),
            };
            let pair = |(from, to): &(Value, Value)| Ok((place(from)?, place(to)?));
            Location::Table(dict.to_vec().iter().map(pair).collect::<Result<_>>()?)
        }
        function => Location::Asked(Box::new(move |storage, tag| {
            let given = state.call_given(&function, vec![Value::Storage(storage.clone()), Value::str(tag)])?;
            placed(given)
        })),
    };
    let mapped = matches!(call.value(4), Value::Bool(true));
    let (attach, skip_data) = (attach(state), state.skip_data.get());
    let options = Options { location, mapped, skip_data, with_arrays: false, attach: Some(&attach), say: None };
    match file_given(call.value(0))? {
        Value::Str(path) => files::load(&Source::open(&path)?, &options),
        other => match &other {
            Value::Object(object) => match object.as_any().downcast_ref::<ByteStream>() {
                Some(stream) => {
                    let source = stream.rest()?;
                    if options.mapped && source.is_archive() {
                        bail!(ValueError, "f must be a file path in order to use the mmap argument");
                    }
                    let value = files::load(&source, &options)?;
                    stream.finish();
                    Ok(value)
                }
                None => Err(not_seekable(&other)),
            },
            _ => Err(not_seekable(&other)),
        },
    }
}

/// Returns the storage that a `map_location` function returned, or `None` if it returned None.
fn placed(given: Value) -> Result<Option<Storage>> {
    match given {
        Value::None => Ok(None),
        Value::Storage(storage) => Ok(Some(storage)),
        other => Err(not_wrapped(&other)),
    }
}

fn not_seekable(value: &Value) -> Error {
    Error::attribute(format!(
        "'{}' object has no attribute 'seek'. You can only torch.load from a file that is seekable. Please pre-load the \
         data into a buffer like io.BytesIO and try to load from it instead.",
        value.type_name()
    ))
}
