//! Rhai's blobs as buffers. `blob(4)` and `"abcd".to_blob()` return a bytearray, whose bytes a tensor or a storage can
//! share; Rhai's own blob would be copied at every call. The blob methods work on the bytearray. If Python has a method
//! of the same name, Python's is used, except for argument types that only Rhai knows.

use super::Scripted;
use super::fault;
use super::native::add_calling;
use super::runtime::Runtime;
use super::values::{BoxedBuffer, to_dynamic, to_value};
use rhai::{Blob, Dynamic, ImmutableString, Module, NativeCallContext};
use std::any::TypeId;
use std::ops::{Range, RangeInclusive};
use std::rc::Rc;
use tensor::{Buffer, BufferKind, Result, Scalar, limits};
use value::Value;

/// A parameter of a method, after the blob itself.
#[derive(Clone, Copy)]
enum Parameter {
    Int,
    Float,
    Text,
    Char,
    Blob,
    /// A range of either kind.
    Range,
}
use Parameter::{Char, Float, Int, Range as Span, Text};

/// Methods that do not change the bytes.
const READERS: &[(&str, &[Parameter])] = &[
    ("to_array", &[]),
    ("as_string", &[]),
    ("get", &[Int]),
    ("is_empty", &[]),
    ("extract", &[Span]),
    ("extract", &[Int]),
    ("extract", &[Int, Int]),
    ("parse_le_int", &[Span]),
    ("parse_le_int", &[Int, Int]),
    ("parse_be_int", &[Span]),
    ("parse_be_int", &[Int, Int]),
    ("parse_le_float", &[Span]),
    ("parse_le_float", &[Int, Int]),
    ("parse_be_float", &[Span]),
    ("parse_be_float", &[Int, Int]),
];

/// Methods that change the bytes or their number.
const WRITERS: &[(&str, &[Parameter])] = &[
    ("set", &[Int, Int]),
    ("push", &[Int]),
    ("append", &[Parameter::Blob]),
    ("append", &[Text]),
    ("append", &[Char]),
    ("pad", &[Int, Int]),
    ("shift", &[]),
    ("truncate", &[Int]),
    ("chop", &[Int]),
    ("splice", &[Span, Parameter::Blob]),
    ("splice", &[Int, Int, Parameter::Blob]),
    ("split", &[Int]),
    ("drain", &[Span]),
    ("drain", &[Int, Int]),
    ("retain", &[Span]),
    ("retain", &[Int, Int]),
    ("write_le", &[Span, Int]),
    ("write_le", &[Int, Int, Int]),
    ("write_be", &[Span, Int]),
    ("write_be", &[Int, Int, Int]),
    ("write_le", &[Span, Float]),
    ("write_le", &[Int, Int, Float]),
    ("write_be", &[Span, Float]),
    ("write_be", &[Int, Int, Float]),
    ("write_utf8", &[Span, Text]),
    ("write_utf8", &[Int, Int, Text]),
    ("write_ascii", &[Span, Text]),
    ("write_ascii", &[Int, Int, Text]),
];

pub(super) fn register(module: &mut Module, state: &Rc<Runtime>) {
    let int = TypeId::of::<i64>();
    for count in 0..=2 {
        add_calling(module, state, "blob", &vec![int; count], true, |_, _, args| {
            let number = |at: usize| args.get(at).and_then(|arg| arg.as_int().ok()).unwrap_or(0);
            filled(number(0), number(1)).map(to_dynamic_buffer).map_err(fault::thrown)
        });
    }
    add_calling(module, state, "to_blob", &[TypeId::of::<ImmutableString>()], true, |_, _, args| {
        let text = args.first().map(ToString::to_string).unwrap_or_default();
        Buffer::bytearray(text.as_bytes()).map(to_dynamic_buffer).map_err(fault::thrown)
    });
    for (methods, is_pure) in [(READERS, true), (WRITERS, false)] {
        for (name, parameters) in methods {
            for types in types_of(parameters) {
                let run = if is_pure { read } else { write };
                add_calling(module, state, name, &types, true, run);
            }
        }
    }
}

/// Returns every list of argument types that a method accepts.
fn types_of(parameters: &[Parameter]) -> Vec<Vec<TypeId>> {
    let mut lists = vec![vec![TypeId::of::<BoxedBuffer>()]];
    for parameter in parameters {
        let choices = match parameter {
            Int => vec![TypeId::of::<i64>()],
            Float => vec![TypeId::of::<f64>()],
            Text => vec![TypeId::of::<ImmutableString>()],
            Char => vec![TypeId::of::<char>()],
            Parameter::Blob => vec![TypeId::of::<BoxedBuffer>()],
            Span => vec![TypeId::of::<Range<i64>>(), TypeId::of::<RangeInclusive<i64>>()],
        };
        lists =
            lists.iter().flat_map(|list| choices.iter().map(|choice| [list.as_slice(), &[*choice]].concat())).collect();
    }
    lists
}

fn to_dynamic_buffer(buffer: Buffer) -> Dynamic {
    to_dynamic(Value::Buffer(buffer))
}

/// Allocates a bytearray of `count` copies of the lowest byte of `value`.
fn filled(count: i64, value: i64) -> Result<Buffer> {
    let count = usize::try_from(count).unwrap_or(0);
    let byte = value.to_le_bytes()[0];
    if byte == 0 {
        return Buffer::zeroed(BufferKind::ByteArray, count);
    }
    limits::room(count.saturating_mul(2))?;
    Buffer::bytearray(&vec![byte; count])
}

/// Returns the buffer in an argument.
fn buffer_of(arg: &Dynamic) -> Option<Buffer> {
    match to_value(arg) {
        Ok(Value::Buffer(buffer)) => Some(buffer),
        _ => None,
    }
}

fn raw(buffer: &Buffer) -> Result<Vec<u8>> {
    buffer.to_vec()
}

/// Calls Rhai's method on a copy of the bytes. Returns the copy and the method's result.
fn called(context: &NativeCallContext, args: &mut [&mut Dynamic]) -> Scripted<(Blob, Dynamic)> {
    let mut copies: Vec<Dynamic> = Vec::with_capacity(args.len());
    for arg in args.iter() {
        copies.push(match buffer_of(arg) {
            Some(buffer) => Dynamic::from_blob(raw(&buffer).map_err(fault::thrown)?),
            None => (**arg).clone(),
        });
    }
    let mut passed: Vec<&mut Dynamic> = copies.iter_mut().collect();
    let result = context.call_native_fn_raw(context.fn_name(), true, &mut passed)?;
    let result = match result.read_lock::<Blob>().map(|blob| Buffer::bytearray(&blob)) {
        Some(made) => to_dynamic_buffer(made.map_err(fault::thrown)?),
        None => result.clone(),
    };
    let bytes = copies.into_iter().next().and_then(|blob| blob.into_blob().ok()).unwrap_or_default();
    Ok((bytes, result))
}

fn read(_: &Runtime, context: &NativeCallContext, args: &mut [&mut Dynamic]) -> Scripted<Dynamic> {
    called(context, args).map(|(_, result)| result)
}

/// Calls a method that changes the bytes. If their number stays the same, they are written in place, so that tensors
/// sharing them see the change.
fn write(_: &Runtime, context: &NativeCallContext, args: &mut [&mut Dynamic]) -> Scripted<Dynamic> {
    let Some(buffer) = args.first().and_then(|arg| buffer_of(arg)) else { return Ok(Dynamic::UNIT) };
    let (bytes, result) = called(context, args)?;
    stored(&buffer, &bytes).map_err(fault::thrown)?;
    Ok(result)
}

fn stored(buffer: &Buffer, bytes: &[u8]) -> Result<()> {
    if !buffer.writable() || matches!(buffer.kind(), BufferKind::Array(_)) {
        tensor::bail!(TypeError, "only a bytearray, or a memoryview of one, can be changed byte by byte");
    }
    if bytes.len() != buffer.nbytes() {
        if buffer.kind() != BufferKind::ByteArray {
            tensor::bail!(TypeError, "only a bytearray can change its length");
        }
        return buffer.replace(bytes);
    }
    let old = raw(buffer)?;
    let mut changed = old.iter().zip(bytes).enumerate().filter(|(_, (old, new))| old != new);
    changed.try_for_each(|(at, (_, new))| buffer.set_item(at, Scalar::Int(i64::from(*new))))
}
