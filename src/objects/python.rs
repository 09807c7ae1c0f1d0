//! Python's builtin functions: rows under `py`, which both languages call by their bare names.

use crate::bounds;
use crate::calling::{call_plain, is_callable};
use crate::identity::{escaped, id};
use crate::plain::{containers, slices};
use crate::strings::{bytes, codecs};
use crate::{members, operators, standard_streams, subscript};
use call::dispatch::names;
use call::state::Import;
use call::{Call, Row, State, function, stack};
use std::collections::HashMap;
use std::rc::Rc;
use tensor::bail;
use tensor::names::not_saved;
use tensor::ops::copy;
use tensor::{Error, ErrorKind, Result, Tensor, TypedStorage, View, interrupt};
use value::equality;
use value::equality::truth;
use value::hashed::hash;
use value::{Dict, List, Object, Set, Value, numbers};

pub(crate) const ROWS: &[Row] = &[
    function(
        "py.slice(any[] bounds) -> any",
        |c| {
            let part = |parts: &[Value], i: usize| parts.get(i).cloned().unwrap_or(Value::None);
            Ok(match c.value(0).sequence().unwrap_or_default().as_slice() {
                [stop] => slices::slice(Value::None, stop.clone(), Value::None),
                parts => slices::slice(part(parts, 0), part(parts, 1), part(parts, 2)),
            })
        },
        "Creates a slice to use as a subscript.",
    ),
    function("py.at(any[] indices) -> any", |c| Ok(c.value(0)), "Combines several subscripts."),
    function("py.bool(any x=False) -> bool", |c| truth(&c.value(0)).map(Value::Bool), "Returns whether x is true."),
    function(
        "py.str(any object=\"\", any encoding=None, any errors=None) -> str",
        text,
        "Converts to text; bytes in an encoding are read.",
    ),
    function(
        "py.repr(any object) -> str",
        |c| c.state.repr(&c.value(0)).map(Value::str),
        "Returns the value as the prompt shows it.",
    ),
    function(
        "py.format(any value, str spec=\"\") -> str",
        |c| {
            let spec = c.str(1)?.to_string();
            let v = c.value(0);
            c.state.with_formatter(|f| f.format(&v, &spec)).map(Value::str)
        },
        "Formats the value as text.",
    ),
    function(
        "py.type(any[] object) -> any",
        |c| match c.value(0).sequence().unwrap_or_default().as_slice() {
            [value] => Ok(class_value(value)),
            _ => bail!(TypeError, "type() takes 1 or 3 arguments"),
        },
        "Returns the class of a value; of a name, bases and members makes a class.",
    ),
    function("py.id(any object) -> int", id, "Returns a number that is the same for the same object."),
    function(
        "py.hash(any object) -> int",
        |c| hash(&c.value(0)).map(Value::Int),
        "Returns a number that is the same for equal values.",
    ),
    function("py.abs(any x) -> any", abs, "Computes the absolute value."),
    function(
        "py.callable(any object) -> bool",
        |c| {
            let value = c.value(0);
            Ok(Value::Bool(is_callable(&value)))
        },
        "Returns whether the value can be called.",
    ),
    function(
        "py.getattr(any object, str name, any[] default) -> any",
        |c| match c.value(2).sequence().unwrap_or_default().first() {
            None => get_attribute(c),
            Some(default) => match probed(c) {
                Err(error) if error.kind == ErrorKind::AttributeError => Ok(default.clone()),
                found => found,
            },
        },
        "Returns an attribute by its name.",
    ),
    function("py.setattr(any object, str name, any value) -> None", set_attribute, "Sets an attribute by its name."),
    function("py.delattr(any object, str name) -> None", delete_attribute, "Deletes an attribute by its name."),
    function(
        "py.hasattr(any object, str name) -> bool",
        |c| match probed(c) {
            Err(error) if error.kind != ErrorKind::AttributeError => Err(error),
            found => Ok(Value::Bool(found.is_ok())),
        },
        "Returns whether there is such an attribute or method.",
    ),
    function(
        "py.ascii(any object) -> str",
        |c| c.state.repr(&c.value(0)).map(|text| Value::str(escaped(&text))),
        "Returns the value as the prompt shows it, with escapes for all but ASCII.",
    ),
    function(
        "py.print(any[] values, *, any sep=None, any end=None, any file=None, any flush=False) -> None",
        print,
        "Writes values, with blanks between them and a newline behind them.",
    )
    .python("print"),
    function("py.import_(str name) -> any", import_row, "Imports a module by its name."),
    function("py.import_from(str module, str name) -> any", import_from_row, "Imports a name from a module."),
    function("py.exit(any code=None) -> None", exit, "Leaves the session."),
    function("py.quit(any code=None) -> None", exit, "Leaves the session."),
    function(
        "sys.exit(any[] status) -> None",
        |c| {
            let args = c.value(0).sequence().unwrap_or_default();
            match call_plain(c.state, &Value::Type("SystemExit"), args)? {
                Value::Object(raised) => Err(raised.error().unwrap_or_else(|| Error::new(ErrorKind::SystemExit, ""))),
                _ => Err(Error::new(ErrorKind::SystemExit, "")),
            }
        },
        "Raises SystemExit, which ends a script.",
    ),
    function(
        "sys.exc_info() -> any",
        |c| {
            let handled = c.state.handling.borrow().last().cloned();
            let Some(exception @ Value::Object(_)) = handled else { return Ok(Value::tuple(vec![Value::None; 3])) };
            let traceback = members::attribute(c.state, &exception, "__traceback__")?;
            Ok(Value::tuple([class_value(&exception), exception, traceback]))
        },
        "Returns the class, the exception and the traceback that an except clause handles.",
    ),
    function(
        "sys._getframe(int depth=0) -> any",
        |c| {
            let importer = c.state.importer.borrow().clone();
            importer
                .map_or_else(|| bail!(ValueError, "call stack is not deep enough"), |ask| ask(Import::Frame(c.int(0)?)))
        },
        "Returns a call that runs now.",
    ),
    function("copy.copy(any x) -> any", duplicate, "Copies a value; a tensor's copy shares elements.").python("copy"),
    function("copy.deepcopy(any x) -> any", duplicate, "Copies a value into memory of its own.").python("deepcopy"),
    function(
        "py.__invert__(any a) -> any",
        |c| operators::unary(c.state, "bitwise_not", &c.value(0)),
        "Implements Python's ~ operator.",
    ),
    function(
        "py.__neg__(any a) -> any",
        |c| operators::unary(c.state, "neg", &c.value(0)),
        "Implements Python's unary - operator.",
    ),
    function(
        "py.__pos__(any a) -> any",
        |c| operators::unary(c.state, "positive", &c.value(0)),
        "Implements Python's unary + operator.",
    ),
    function(
        "py.__getitem__(any object, any index) -> any",
        |c| subscript::item_of(c),
        "Implements Python's subscript.",
    ),
    function(
        "py.__setitem__(any object, any index, any value) -> None",
        |c| subscript::set_item_of(c),
        "Implements Python's assignment to a subscript.",
    ),
    function(
        "py.__delitem__(any object, any index) -> None",
        |c| containers::delete_item(c.state, &c.value(0), &c.value(1)).map(|()| Value::None),
        "Implements Python's deletion at a subscript.",
    ),
    function(
        "py.__contains__(any object, any item) -> bool",
        |c| containers::contains(c.state, &c.value(0), &c.value(1)).map(Value::Bool),
        "Returns whether the item is among the items.",
    ),
];

fn text(call: &mut Call) -> Result<Value> {
    let value = call.value(0);
    if call.is_none(1) && call.is_none(2) {
        return call.state.str(&value).map(Value::str);
    }
    let option = |at: usize, name: &str, default: &str| match call.value(at) {
        Value::None => Ok(default.to_owned()),
        Value::Str(text) => Ok(text.to_string()),
        other => bail!(TypeError, "str() argument '{name}' must be str, not {}", other.type_name()),
    };
    let (encoding, errors) = (option(1, "encoding", "utf-8")?, option(2, "errors", "strict")?);
    match value {
        Value::Buffer(buffer) => codecs::decode(&bytes::raw(&buffer)?, &encoding, &errors).map(Value::str),
        Value::Str(text) if text.is_empty() => Ok(Value::Str(text)),
        Value::Str(_) => bail!(TypeError, "decoding str is not supported"),
        other => bail!(TypeError, "decoding to str: need a bytes-like object, {} found", other.type_name()),
    }
}

fn abs(call: &mut Call) -> Result<Value> {
    match call.value(0) {
        tensor @ Value::Tensor(_) => operators::method(call.state, "abs", &tensor),
        Value::Object(object) if let Some(answer) = object.special("__abs__", &[]) => answer,
        other => match equality::number(&other) {
            Some(number) => numbers::absolute(number),
            None => bail!(TypeError, "bad operand type for abs(): '{}'", other.type_name()),
        },
    }
}

fn set_attribute(call: &mut Call) -> Result<Value> {
    let name = call.str(1)?.to_string();
    members::set_attribute(call.state, &call.value(0), &name, &call.value(2)).map(|()| Value::None)
}

fn delete_attribute(call: &mut Call) -> Result<Value> {
    let name = call.str(1)?.to_string();
    members::delete_attribute(call.state, &call.value(0), &name).map(|()| Value::None)
}

/// Looks up an attribute that may be missing.
fn probed(call: &mut Call) -> Result<Value> {
    let before = call.state.is_probing.replace(true);
    let found = get_attribute(call);
    call.state.is_probing.set(before);
    found
}

fn get_attribute(call: &mut Call) -> Result<Value> {
    let name = call.str(1)?.to_string();
    members::attribute(call.state, &call.value(0), &name)
}

fn import_row(call: &mut Call) -> Result<Value> {
    let name = call.str(0)?;
    let importer = call.state.importer.borrow().clone();
    match (import(name), importer) {
        (Err(error), Some(importer)) if error.kind == ErrorKind::ModuleNotFoundError => importer(Import::Module(name)),
        (found, _) => found,
    }
}

/// Imports a module of PyTorch's or Python's library by its name.
///
/// # Errors
/// ModuleNotFoundError, and NotImplementedError for a module that only PyTorch has.
pub fn import(name: &str) -> Result<Value> {
    // PyTorch's modules are imported by their paths, library modules by their names.
    let library = |name: &str| call::LIBRARY.iter().chain(&["torch"]).find(|m| **m == name && **m != "py");
    let found = match name.strip_prefix("torch.") {
        Some(inner) => call::MODULES.iter().find(|m| **m == inner && !call::LIBRARY.contains(m)),
        None => library(name),
    };
    match found {
        Some(module) => Ok(Value::Module(module)),
        None if let Some((outer, inner)) = name.rsplit_once('.')
            && call::module_names::is_absent(outer.strip_prefix("torch.").unwrap_or(outer), inner) =>
        {
            Err(Error::new(ErrorKind::NotImplementedError, format!("{name} is not supported at this prompt")))
        }
        None => {
            // Of the library modules, only `torch` and `collections` are packages.
            let outer = name.rsplit_once('.').map(|(outer, _)| outer).filter(|outer| library(outer).is_some());
            let why = outer.filter(|outer| *outer != "torch" && *outer != "collections");
            let why = why.map_or(String::new(), |outer| format!("; '{outer}' is not a package"));
            let why = call::module_names::instead(name).map_or(why, |instead| format!(": {instead}"));
            Err(Error::new(ErrorKind::ModuleNotFoundError, format!("No module named '{name}'{why}")))
        }
    }
}

fn import_from_row(call: &mut Call) -> Result<Value> {
    let module = import_row(call)?;
    import_from(call.state, &module, call.str(0)?, call.str(1)?)
}

/// Imports a name from a module of PyTorch's or Python's library, whose name is `path`.
///
/// # Errors
/// ImportError, and NotImplementedError for a name that only PyTorch has.
pub fn import_from(state: &State, module: &Value, path: &str, name: &str) -> Result<Value> {
    members::attribute(state, module, name).map_err(|error| {
        if error.kind == ErrorKind::NotImplementedError {
            return error;
        }
        let message = format!("cannot import name '{name}' from '{path}' (unknown location)");
        Error::new(ErrorKind::Other("ImportError"), message)
    })
}

fn exit(call: &mut Call) -> Result<Value> {
    let code = match call.value(0) {
        Value::None => 0,
        Value::Int(code) => code as i32,
        Value::Bool(b) => i32::from(b),
        other => {
            let text = call.state.str(&other)?;
            call.state.print(&format!("{text}\n"));
            1
        }
    };
    call.state.exit.set(Some(code));
    Err(Error::new(ErrorKind::SystemExit, ""))
}

fn duplicate(call: &mut Call) -> Result<Value> {
    let deep = call.signature.name == "copy.deepcopy";
    copied(&call.value(0), &Copying { state: call.state, deep }, &mut HashMap::new())
}

/// The options of a copy.
struct Copying<'a> {
    state: &'a State,
    /// Whether to copy the contained values too.
    deep: bool,
}

/// Copies a value, and the values it contains if the copy is deep. `made` maps the address of each original to its
/// copy: shared values stay shared, and a list may contain itself.
fn copied(value: &Value, how: &Copying, made: &mut HashMap<usize, Value>) -> Result<Value> {
    let deep = how.deep;
    let known = value.address().filter(|_| deep);
    if let Some(copy) = known.and_then(|address| made.get(&address)) {
        return Ok(copy.clone());
    }
    stack::check()?;
    interrupt::check()?;
    let note = |copy: Value, made: &mut HashMap<usize, Value>| {
        made.extend(known.map(|address| (address, copy.clone())));
        copy
    };
    Ok(match value {
        Value::List(list) => {
            let copy = List::default();
            note(Value::List(copy.clone()), made);
            let items = list.to_vec();
            copy.replace(if deep {
                items.iter().map(|item| copied(item, how, made)).collect::<Result<_>>()?
            } else {
                items
            })?;
            Value::List(copy)
        }
        Value::Tuple(items) if deep => {
            let parts = items.iter().map(|item| copied(item, how, made)).collect::<Result<Vec<_>>>()?;
            // A tuple of unchanged items is not copied.
            let is_same = parts.iter().zip(items.iter()).all(|(part, item)| equality::is(part, item));
            // Copying an item may have copied this tuple already, through a list that contains it.
            match known.and_then(|address| made.get(&address)) {
                Some(copy) => copy.clone(),
                None if is_same => value.clone(),
                None => note(Value::Tuple(parts.into()), made),
            }
        }
        Value::Dict(dict) if deep => {
            let copy = Dict::default().to_kind(dict.is_ordered());
            note(Value::Dict(copy.clone()), made);
            for (key, value) in dict.to_vec() {
                copy.insert(copied(&key, how, made)?, copied(&value, how, made)?)?;
            }
            Value::Dict(copy)
        }
        Value::Dict(dict) => Value::Dict(dict.to_kind(dict.is_ordered())),
        Value::Set(set) if set.is_frozen() && !deep => value.clone(),
        Value::Set(set) if deep => {
            let items = set.to_vec().iter().map(|item| copied(item, how, made)).collect::<Result<Vec<_>>>()?;
            note(Value::Set(Set::new(items)?.to_kind(set.is_frozen())), made)
        }
        Value::Set(set) => Value::Set(set.to_kind(false)),
        Value::Tensor(t) if t.has_names() => {
            return Err(if deep { names::refusal("new_empty") } else { not_saved() });
        }
        Value::Tensor(t) if deep && !t.is_leaf() => bail!(
            RuntimeError,
            "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the moment.  If \
             you were attempting to deepcopy a module, this may be because of a torch.nn.utils.weight_norm usage, see \
             https://github.com/pytorch/pytorch/pull/103001"
        ),
        // A parameter is copied by its class: only the values and whether it requires a gradient.
        Value::Tensor(t) if deep && t.is_parameter() => {
            let copy = Tensor::new(copy::clone(&t.view())?);
            copy.autograd_mut(|meta| (meta.requires_grad, meta.parameter) = (t.requires_grad(), true));
            note(Value::Tensor(copy), made)
        }
        // A deep copy duplicates the whole storage, even if the tensor views only a part of it.
        Value::Tensor(t) => {
            let view = t.view();
            let storage = match deep.then(|| copied(&Value::Storage(view.storage.clone()), how, made)).transpose()? {
                Some(Value::Storage(storage)) => storage,
                _ => view.storage.clone(),
            };
            let view = View { storage, ..view };
            let is_lazy = deep && (view.conj || view.neg);
            let copy = Tensor::new(if is_lazy { copy::clone(&view)? } else { view });
            if t.requires_grad() || t.is_parameter() {
                copy.autograd_mut(|meta| (meta.requires_grad, meta.parameter) = (t.requires_grad(), t.is_parameter()));
            }
            let whole = note(Value::Tensor(copy.clone()), made);
            if let Some(grad) = t.autograd(|meta| meta.grad.clone()).filter(|_| deep)
                && let Value::Tensor(grad) = copied(&Value::Tensor(grad), how, made)?
            {
                copy.autograd_mut(|meta| meta.grad = Some(grad));
            }
            if let Some(own) = how.state.extras.of(value)
                && let Some(new) = how.state.extras.all(&whole)
            {
                for (name, extra) in own.to_vec() {
                    new.insert(name, if deep { copied(&extra, how, made)? } else { extra })?;
                }
            }
            whole
        }
        Value::Storage(s) => note(s.duplicate().map(Value::Storage)?, made),
        Value::TypedStorage(typed) => match copied(&Value::Storage(typed.storage.clone()), how, made)? {
            Value::Storage(storage) => note(Value::TypedStorage(TypedStorage::new(storage, typed.dtype)), made),
            other => other,
        },
        // An object of a script defines its own copy.
        Value::Object(object) if deep => match object.special("__deepcopy__", &[Value::Dict(Dict::default())]) {
            Some(copy) => note(copy?, made),
            None => of_class(value, object, how, made)?,
        },
        Value::Object(object) => match object.special("__copy__", &[]) {
            Some(copy) => copy?,
            None => of_class(value, object, how, made)?,
        },
        other => other.clone(),
    })
}

/// Copies an object of a script's class: its attributes, or the state that `__getstate__` returns and `__setstate__`
/// takes. Other objects are not copied.
fn of_class(value: &Value, object: &Rc<dyn Object>, how: &Copying, made: &mut HashMap<usize, Value>) -> Result<Value> {
    let own = object.object_state().dicts;
    let (Some((copy, fields)), Some(own)) = (object.fresh(), own.first()) else { return Ok(value.clone()) };
    if let Some(address) = value.address().filter(|_| how.deep) {
        made.insert(address, copy.clone());
    }
    if how.deep
        && let Some(held) = copy.underlying()
    {
        match (&held, object.underlying()) {
            (Value::List(new), Some(Value::List(old))) => {
                new.replace(old.to_vec().iter().map(|item| copied(item, how, made)).collect::<Result<_>>()?)?;
            }
            (Value::Dict(new), Some(Value::Dict(old))) => {
                for (key, value) in old.to_vec() {
                    new.insert(key, copied(&value, how, made)?)?;
                }
            }
            _ => {}
        }
    }
    let state = object.special("__getstate__", &[]).transpose()?;
    let state = match state {
        Some(state) if how.deep => Some(copied(&state, how, made)?),
        other => other,
    };
    if let Value::Object(new) = &copy
        && let Some(state) = &state
        && let Some(done) = new.special("__setstate__", std::slice::from_ref(state))
    {
        done?;
        return Ok(copy);
    }
    let entries = match &state {
        Some(Value::Dict(state)) => state.to_vec(),
        _ => own.to_vec(),
    };
    for (name, held) in entries {
        let held = if how.deep && state.is_none() { copied(&held, how, made)? } else { held };
        fields.insert(name, held)?;
    }
    Ok(copy)
}

/// Returns the class of a value, like Python's `type`.
fn class_value(value: &Value) -> Value {
    let written = match value {
        Value::Object(object) => object.class(),
        _ => None,
    };
    written.unwrap_or_else(|| Value::Type(crate::plain::classes::class_name(value)))
}

fn print(call: &mut Call) -> Result<Value> {
    let option = |index: usize, name: &str, default: &str| match call.value(index) {
        Value::None => Ok(default.to_owned()),
        Value::Str(text) => Ok(text.to_string()),
        other => bail!(TypeError, "{name} must be None or a string, not {}", other.type_name()),
    };
    let (separator, end) = (option(1, "sep", " ")?, option(2, "end", "\n")?);
    let values = call.value(0).sequence().unwrap_or_default();
    let texts = values.iter().map(|value| call.state.str(value)).collect::<Result<Vec<_>>>()?;
    // A script may have put another stream in the place of `sys.stdout`.
    let file = match call.value(3) {
        Value::None => members::of_module(call.state, "sys", "stdout").unwrap_or(Value::None),
        file => file,
    };
    if matches!(file, Value::None) || standard_streams::is_standard_output(&file) {
        call.state.print(&(bounds::joined(&texts, &separator)? + end.as_str()));
        return Ok(Value::None);
    }
    // Like CPython, piece by piece.
    let write = members::attribute(call.state, &file, "write")?;
    let write = |piece: &str| call_plain(call.state, &write, vec![Value::str(piece)]).map(drop);
    for (i, text) in texts.iter().enumerate() {
        if i > 0 {
            write(&separator)?;
        }
        write(text)?;
    }
    write(&end)?;
    if truth(&call.value(4))? {
        let flush = members::attribute(call.state, &file, "flush")?;
        call_plain(call.state, &flush, Vec::new())?;
    }
    Ok(Value::None)
}
