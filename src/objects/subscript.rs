//! Reads and writes `x[…]` on every value that has subscripts.

use crate::data::{self, index_tensor};
use crate::operators;
use crate::plain::containers;
use crate::plain::slices::{as_index, positions, slice_bounds, slice_of, slice_part};
use crate::plain::type_forms;
use crate::storages;
use crate::strings::bytes;
use call::dispatch::{count_write, names};
use call::indexes::index_of;
use call::{Call, State};
use tensor::bail;
use tensor::index::Index;
use tensor::interrupt::watched;
use tensor::{Buffer, BufferKind, DType, Error, Result, Scalar, Tensor, View, journal, limits, ops};
use value::{Range, Text, Value};

/// `value[index]`.
pub fn item(state: &State, value: &Value, index: &Value) -> Result<Value> {
    match value {
        Value::Tensor(tensor) => tensor_item(state, tensor, index),
        Value::Storage(storage) => storages::item(storage, index),
        Value::TypedStorage(typed) => storages::typed_item(state, typed, index),
        Value::Tuple(items) => tuple_item(items, index),
        Value::List(list) => containers::list_item(list, index),
        Value::Size(sizes) => match index {
            Value::Slice(slice) => {
                let (start, stop, step) = slice_bounds(slice, sizes.len())?;
                Ok(Value::Size(positions(start, stop, step).filter_map(|i| sizes.get(i).copied()).collect()))
            }
            _ => tuple_item(&value.sequence().unwrap_or_default(), index),
        },
        Value::Range(range) => range_item(*range, index),
        Value::NamedTuple(_) => tuple_item(&value.sequence().unwrap_or_default(), index),
        Value::Dict(dict) => containers::dict_item(state, dict, index),
        Value::Str(text) => text_item(text, index),
        Value::Buffer(buffer) => buffer_item(buffer, index),
        Value::Object(object) if let Some(item) = object.item(state, index) => item,
        Value::Type(class) if let Some(form) = type_forms::parametrised(state, class, index) => Ok(form),
        Value::Type(class) => {
            bail!(TypeError, "type '{}' is not subscriptable", class.rsplit('.').next().unwrap_or(class))
        }
        other => bail!(TypeError, "'{}' object is not subscriptable", other.type_name()),
    }
}

fn tuple_item(items: &[Value], index: &Value) -> Result<Value> {
    match index {
        Value::Slice(slice) => {
            let (start, stop, step) = slice_bounds(slice, items.len())?;
            Ok(Value::tuple(positions(start, stop, step).filter_map(|i| items.get(i).cloned())))
        }
        _ => match as_index(index)? {
            Some(i) => {
                let position = if i < 0 { i.saturating_add(items.len() as i64) } else { i };
                let item = usize::try_from(position).ok().and_then(|p| items.get(p).cloned());
                item.ok_or_else(|| Error::index("tuple index out of range"))
            }
            None => bail!(TypeError, "tuple indices must be integers or slices, not {}", index.type_name()),
        },
    }
}

fn range_item(range: Range, index: &Value) -> Result<Value> {
    let length = range.len();
    let number = |place: i64| i128::from(range.start) + i128::from(place) * i128::from(range.step);
    match index {
        Value::Slice(slice) => {
            let (start, stop, step) = slice_of(slice, i64::try_from(length).unwrap_or(i64::MAX))?;
            let part = |number: i128| number.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64;
            let step = part(i128::from(step) * i128::from(range.step));
            Ok(Value::Range(Range { start: part(number(start)), stop: part(number(stop)), step }))
        }
        Value::BigInt(_) => bail!(IndexError, "range object index out of range"),
        _ => match as_index(index)? {
            Some(i) => {
                let place = if i < 0 { i128::from(i) + i128::from(length) } else { i128::from(i) };
                let found = u64::try_from(place).ok().and_then(|place| range.at(place));
                found.map(Value::Int).ok_or_else(|| Error::index("range object index out of range"))
            }
            None => bail!(TypeError, "range indices must be integers or slices, not {}", index.type_name()),
        },
    }
}

/// `text[index]`.
fn text_item(text: &Text, index: &Value) -> Result<Value> {
    let length = text.characters();
    match index {
        Value::Slice(slice) => {
            let (start, stop, step) = slice_bounds(slice, length)?;
            if step == 1 {
                let byte_of = |place: i64| text.byte_of(usize::try_from(place).unwrap_or(0));
                return Ok(Value::str(text.get(byte_of(start)..byte_of(stop)).unwrap_or_default()));
            }
            limits::room(length.saturating_mul(size_of::<char>()))?;
            let chars: Vec<char> = text.chars().collect();
            let part: String = watched(positions(start, stop, step)).filter_map(|i| chars.get(i)).collect();
            Ok(Value::str(part))
        }
        _ => match as_index(index)? {
            Some(i) => {
                let place = if i < 0 { i.saturating_add(length as i64) } else { i };
                let found = usize::try_from(place).ok().and_then(|place| text.character(place));
                let found = found.map(|c| Value::str(&*c.encode_utf8(&mut [0; 4])));
                found.ok_or_else(|| Error::index("string index out of range"))
            }
            None => bail!(TypeError, "string indices must be integers, not '{}'", index.type_name()),
        },
    }
}

/// Converts a script's subscript to indices of the core.
///
/// # Errors
/// IndexError, TypeError and ValueError in PyTorch's words if the value cannot be a subscript.
pub fn indices(index: &Value) -> Result<Vec<Index>> {
    match index {
        Value::Tuple(parts) => parts.iter().map(one_index).collect(),
        Value::Size(_) => index.sequence().unwrap_or_default().iter().map(one_index).collect(),
        // A short list that contains lists, slices, tensors … stands for a tuple.
        Value::List(parts) if treat_as_tuple(&parts.borrow()) => parts.to_vec().iter().map(one_index).collect(),
        Value::Object(_) => match data::items(index)? {
            Some(parts) if index_of(index).is_none() && treat_as_tuple(&parts) => parts.iter().map(one_index).collect(),
            _ => Ok(vec![one_index(index)?]),
        },
        single => Ok(vec![one_index(single)?]),
    }
}

fn treat_as_tuple(parts: &[Value]) -> bool {
    parts.len() < 32
        && parts.iter().any(|p| match p {
            Value::Object(object) => match object.elements() {
                Some(_) => object.number().is_none(),
                None => object.has_special("__getitem__"),
            },
            other => matches!(
                other,
                Value::List(_)
                    | Value::Tuple(_)
                    | Value::Tensor(_)
                    | Value::Slice(_)
                    | Value::Ellipsis
                    | Value::None
                    | Value::Range(_)
                    | Value::Size(_)
            ),
        })
}

fn one_index(value: &Value) -> Result<Index> {
    Ok(match value {
        Value::Int(i) => Index::Int(*i),
        Value::BigInt(_) => bail!(RuntimeError, "Overflow when unpacking long"),
        Value::None => Index::NewAxis,
        Value::Ellipsis => Index::Ellipsis,
        Value::Bool(b) => Index::Bool(*b),
        Value::Slice(slice) => {
            let step = slice_part(&slice.step)?.unwrap_or(1);
            match step {
                0 => bail!(ValueError, "slice step cannot be zero"),
                s if s < 0 => bail!(ValueError, "step must be greater than zero"),
                _ => {}
            }
            Index::Slice { start: slice_part(&slice.start)?, stop: slice_part(&slice.stop)?, step }
        }
        Value::Tensor(tensor) => Index::Tensor(tensor.clone()),
        Value::List(_) | Value::Tuple(_) | Value::Range(_) | Value::Size(_) => {
            Index::Tensor(index_tensor(value)?.into())
        }
        Value::Str(_) => bail!(TypeError, "new(): invalid data type 'str'"),
        Value::Object(object) if object.elements().is_some_and(|array| array.ndim() > 0) => {
            Index::Tensor(index_tensor(value)?.into())
        }
        Value::Object(_) if let Some(index) = index_of(value) => return one_index(&index),
        Value::Object(object) if object.has_special("__getitem__") => Index::Tensor(index_tensor(value)?.into()),
        other => bail!(
            IndexError,
            "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices \
 (got {})",
            other.type_name()
        ),
    })
}

fn tensor_item(state: &State, tensor: &Tensor, index: &Value) -> Result<Value> {
    let view = tensor.borrow();
    let is_recorded = tensor.requires_grad() || state.trace.is_on();
    // A fast path for the most common subscript.
    if let (Value::Int(i), false) = (index, is_recorded || !state.grad_enabled.get() || tensor.has_names())
        && view.ndim() > 0
        && view.form.is_none()
    {
        let size = view.sizes()[0];
        if *i >= -size && *i < size {
            let selected = view.with_layout(view.layout.select(0, if *i < 0 { i + size } else { *i }));
            selected.check_bounds()?;
            drop(view);
            let item = tensor.new_view(selected);
            item.note_step("[ ]", tensor);
            return Ok(Value::Tensor(item));
        }
    }
    drop(view);
    refuse_named(state, index, "index.Tensor")?;
    check_count(tensor, index)?;
    let (one, several);
    let indices = match index {
        Value::Slice(_) => {
            one = [one_index(index)?];
            one.as_slice()
        }
        _ => {
            several = indices(index)?;
            several.as_slice()
        }
    };
    crate::indexing::subscript(state, tensor, indices).map(|(item, _)| Value::Tensor(item))
}

/// Fails if an index is a tensor with named dimensions.
fn refuse_named(state: &State, index: &Value, operation: &str) -> Result<()> {
    let named = state.has_names.get() && names::is_named(index);
    if named { Err(names::refusal(operation)) } else { Ok(()) }
}

pub fn set_item(state: &State, target: &Value, index: &Value, value: &Value) -> Result<()> {
    match target {
        Value::Tensor(tensor) => set_tensor_item(state, tensor, index, value),
        Value::Storage(storage) => storages::set_item(storage, index, value),
        Value::TypedStorage(typed) => storages::set_typed_item(state, typed, index, value),
        Value::Buffer(buffer) => set_buffer_item(state, buffer, index, value),
        Value::List(list) => containers::set_list_item(state, list, index, value),
        Value::Dict(dict) => dict.insert(index.clone(), value.clone()),
        Value::Object(object) if let Some(done) = object.set_item(state, index, value) => done,
        other if matches!(index, Value::BigInt(_)) && operators::has_items(other) => as_index(index).map(drop),
        other => bail!(TypeError, "'{}' object does not support item assignment", other.type_name()),
    }
}

/// `tensor[index] = value`.
fn set_tensor_item(state: &State, tensor: &Tensor, index: &Value, value: &Value) -> Result<()> {
    refuse_named(state, index, "index_put_")?;
    if let (Value::Int(i), Some(scalar), false) =
        (index, value.as_scalar(), tensor.requires_grad() || state.trace.is_on())
        && !matches!(value, Value::BigInt(_) | Value::Object(_))
        && set_element(&tensor.borrow(), *i, scalar)?
    {
        return count_write(state, tensor);
    }
    let source = crate::indexing::assigned(&tensor.view(), value)?;
    check_count(tensor, index)?;
    crate::indexing::assign(state, tensor, &indices(index)?, &Value::Tensor(source))
}

/// Counts the dimensions that a tuple of subscripts names. PyTorch does so before it converts any of them.
fn check_count(tensor: &Tensor, index: &Value) -> Result<()> {
    let (Value::Tuple(parts), ndim) = (index, tensor.borrow().ndim()) else { return Ok(()) };
    let named = parts.iter().map(|part| match part {
        Value::None | Value::Ellipsis | Value::Bool(_) => 0,
        Value::Tensor(mask) if matches!(mask.borrow().dtype, DType::Bool | DType::Byte) => mask.borrow().ndim(),
        _ => 1,
    });
    if named.sum::<usize>() > ndim {
        bail!(IndexError, "too many indices for tensor of dimension {ndim}");
    }
    Ok(())
}

/// A fast path for the most common assignment: writes one element of a one-dimensional tensor. Returns false if the
/// general path is needed.
fn set_element(view: &View, index: i64, value: Scalar) -> Result<bool> {
    let [size] = *view.sizes() else { return Ok(false) };
    if index < -size || index >= size || !value.fits(view.dtype) || view.conj || view.neg || view.device().is_meta() {
        return Ok(false);
    }
    if value.category() == tensor::Category::Complex && !view.dtype.is_complex() {
        return Ok(false);
    }
    let element = view.with_layout(view.layout.select(0, if index < 0 { index + size } else { index }));
    journal::note(&element);
    ops::copy::fill(&element, value)?;
    Ok(true)
}

fn buffer_kind(buffer: &Buffer) -> &'static str {
    match buffer.kind() {
        BufferKind::Array(_) => "array",
        BufferKind::ByteArray => "bytearray",
        BufferKind::Bytes | BufferKind::MemoryView { .. } => "index",
    }
}

fn buffer_item(buffer: &Buffer, index: &Value) -> Result<Value> {
    let n = buffer.len();
    match index {
        Value::Slice(slice) => {
            let (start, stop, step) = slice_bounds(slice, n)?;
            let part = || {
                let part = buffer.slice(start as usize, Range { start, stop, step }.count(), step as isize);
                part.ok_or_else(|| Error::index("index out of bounds on dimension 1"))
            };
            match buffer.kind() {
                BufferKind::MemoryView { .. } => return part().map(Value::Buffer),
                BufferKind::Bytes | BufferKind::ByteArray => {
                    return bytes::of_kind(buffer.kind(), &bytes::raw(&part()?)?);
                }
                BufferKind::Array(_) => {}
            }
            let items: Vec<Scalar> = watched(positions(start, stop, step)).filter_map(|i| buffer.item(i)).collect();
            Buffer::array(buffer.code(), &items).map(Value::Buffer)
        }
        _ => match as_index(index)? {
            Some(i) => {
                let position = if i < 0 { i + n as i64 } else { i };
                let item = usize::try_from(position).ok().and_then(|p| buffer.item(p));
                item.map(Value::from).ok_or_else(|| {
                    let beyond = match buffer.kind() {
                        BufferKind::Bytes => "index out of range",
                        BufferKind::ByteArray => "bytearray index out of range",
                        BufferKind::Array(_) => "array index out of range",
                        BufferKind::MemoryView { .. } => "index out of bounds on dimension 1",
                    };
                    Error::index(beyond)
                })
            }
            None => {
                let class = index.type_name();
                match buffer.kind() {
                    BufferKind::Bytes => bail!(TypeError, "byte indices must be integers or slices, not {class}"),
                    BufferKind::ByteArray => {
                        bail!(TypeError, "bytearray indices must be integers or slices, not {class}")
                    }
                    BufferKind::Array(_) => bail!(TypeError, "array indices must be integers"),
                    BufferKind::MemoryView { .. } => bail!(TypeError, "memoryview: invalid slice key"),
                }
            }
        },
    }
}

fn set_buffer_item(state: &State, buffer: &Buffer, index: &Value, value: &Value) -> Result<()> {
    if buffer.kind() == BufferKind::ByteArray {
        return bytes::set_part(state, buffer, index, Some(value));
    }
    if buffer.kind() == BufferKind::Bytes {
        bail!(TypeError, "'bytes' object does not support item assignment");
    }
    if let Value::Slice(slice) = index {
        return crate::strings::buffers::set_slice(buffer, slice, value);
    }
    let n = buffer.len() as i64;
    match as_index(index)? {
        // A position before the start becomes out of range, like one beyond the end.
        Some(i) => {
            let scalar = crate::strings::buffers::element(buffer.kind(), value)?;
            buffer.set_item(usize::try_from(if i < 0 { i + n } else { i }).unwrap_or(usize::MAX), scalar)
        }
        None => bail!(TypeError, "{} indices must be integers", buffer_kind(buffer)),
    }
}

/// Subscripts the first argument of a call with the second.
pub fn item_of(call: &Call) -> Result<Value> {
    item(call.state, &call.value(0), &call.value(1))
}

/// Assigns the third argument of a call to a subscript of the first.
pub fn set_item_of(call: &Call) -> Result<Value> {
    set_item(call.state, &call.value(0), &call.value(1), &call.value(2)).map(|()| Value::None)
}
