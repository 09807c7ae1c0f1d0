//! Conversion of nested sequences to tensors, for `torch.tensor` and related functions. Follows
//! <https://pytorch.org/docs/2.7/generated/torch.tensor.html>.

use crate::plain::slices::index_dtype;
use crate::plain::special;
use num_bigint::Sign;
use std::rc::Rc;
use tensor::bail;
use tensor::layout::checked_numel;
use tensor::ops::{copy, split};
use tensor::{BufferKind, DType, Device, Error, Result, Scalar, Tensor, TypedStorage, View, interrupt, limits};
use value::{Object, Value, integers};

/// `torch.tensor(data)`: the sizes follow the nesting, and the dtype is that of the widest number. A bare storage is
/// shared, not copied.
///
/// # Errors
/// TypeError, ValueError and RuntimeError in PyTorch's words for data that is not a rectangular nest of numbers.
pub fn from_data(data: &Value, dtype: Option<DType>, default: DType) -> Result<View> {
    if let Value::Tensor(tensor) = data {
        let view = tensor.view();
        return copy::cast(&view, dtype.unwrap_or(view.dtype))
            .and_then(|v| if v.storage == view.storage { copy::clone(&v) } else { Ok(v) });
    }
    match data {
        Value::Str(_) => bail!(TypeError, "new(): invalid data type 'str'"),
        Value::Buffer(buffer) if buffer.kind() == BufferKind::Bytes => {
            bail!(TypeError, "new(): invalid data type 'bytes'")
        }
        _ => {}
    }
    if let Value::Object(object) = data
        && let Some(array) = object.tensor_elements()
    {
        let array = array?;
        return match dtype.filter(|dtype| *dtype != array.dtype) {
            Some(dtype) => copy::cast(&array, dtype),
            None => copy::clone(&array),
        };
    }
    match data {
        Value::Storage(storage) if storage.device().is_meta() => {
            bail!(ValueError, "could not determine the shape of object type 'torch.storage.UntypedStorage'");
        }
        Value::Storage(storage) => {
            let dtype = dtype.unwrap_or(if storage.nbytes() == 0 { default } else { DType::Long });
            return Ok(TypedStorage::new(storage.clone(), dtype).view());
        }
        Value::TypedStorage(typed) if typed.storage.device().is_meta() => {
            bail!(NotImplementedError, "Not available for 'meta' device type");
        }
        Value::TypedStorage(typed) => {
            let (wanted, got) = (dtype.unwrap_or(default), typed.dtype);
            if wanted != got {
                bail!(
                    RuntimeError,
                    "Expected a Storage of type {} or an UntypedStorage, but got {}",
                    wanted.scalar_type(),
                    got.scalar_type()
                );
            }
            return Ok(typed.view());
        }
        _ => {}
    }
    let mut sizes = Vec::new();
    measure(data, &mut sizes)?;
    let dtype = match dtype {
        Some(dtype) => dtype,
        None => infer(&Part::of(data), default, 0)?.unwrap_or(default),
    };
    if sizes.contains(&0) {
        // PyTorch does not look at the other elements if the first ones show that the tensor is empty.
        return View::zeros(&sizes, dtype, Device::CPU);
    }
    // The same list may occur many times in a nest, so the product of the sizes can be huge.
    let count = limits::count(checked_numel(&sizes)?);
    let mut values = limits::vector(count).map_err(|_| limits::refusal(count.saturating_mul(dtype.itemsize())))?;
    flatten(&Part::of(data), &sizes, 0, dtype, &mut values)?;
    View::from_scalars(&sizes, dtype, values)
}

/// The maximum nesting depth. Without a limit, a list that contains itself would never end.
const MOST_DIMENSIONS: usize = 128;

/// A part of the data: a value of the script, or a row or an element of a NumPy array.
#[derive(Clone)]
enum Part {
    Value(Value),
    Row(View),
}

impl Part {
    fn of(value: &Value) -> Part {
        Part::Value(value.clone())
    }

    /// Returns the elements of a NumPy array or scalar. A row of an array is one, too.
    fn array(&self) -> Option<View> {
        match self {
            Part::Value(value) => value.elements(),
            Part::Row(view) => Some(view.clone()),
        }
    }

    fn type_name(&self) -> String {
        match self {
            Part::Value(value) => value.type_name().to_owned(),
            Part::Row(view) if view.ndim() == 0 => format!("numpy.{}", view.dtype.name()),
            Part::Row(_) => "numpy.ndarray".to_owned(),
        }
    }
}

/// Determines the sizes by following the first element of every level.
fn measure(data: &Value, sizes: &mut Vec<i64>) -> Result<()> {
    let mut current = Part::of(data);
    while let Some((length, first)) = first_of(&current)? {
        if sizes.len() >= MOST_DIMENSIONS {
            bail!(ValueError, "too many dimensions '{}'", current.type_name());
        }
        sizes.push(length);
        match first {
            Some(first) => current = first,
            None => return Ok(()),
        }
    }
    if let (Part::Value(Value::Str(_)), true) = (&current, !sizes.is_empty()) {
        bail!(ValueError, "too many dimensions 'str'");
    }
    Ok(())
}

/// Returns the number of items and the first item, or `None` if the part is not a sequence. Tensors are not sequences
/// in this sense: in a list, a tensor of one element is a number. Ranges are not expanded into a list for this.
fn first_of(part: &Part) -> Result<Option<(i64, Option<Part>)>> {
    let value = match part {
        Part::Value(value) => value,
        Part::Row(view) => {
            let Some(&count) = view.sizes().first() else { return Ok(None) };
            return Ok(Some((count, (count > 0).then(|| row(view, 0)))));
        }
    };
    Ok(match value {
        Value::Range(range) => {
            Some((range.len() as i64, range.iter().next().map(|first| Part::Value(Value::Int(first)))))
        }
        Value::Object(object) => match value.elements() {
            Some(view) if is_array(value) => match view.sizes().first() {
                None => bail!(TypeError, "len() of unsized object"),
                Some(&count) => Some((count, (count > 0).then(|| row(&view, 0)))),
            },
            Some(_) => None,
            None => match length_of(object)? {
                None => None,
                Some(0) => Some((0, None)),
                Some(length) => match object.special("__getitem__", &[Value::Int(0)]) {
                    Some(Ok(first)) => Some((length, Some(Part::Value(first)))),
                    _ => {
                        bail!(ValueError, "could not determine the shape of object type '{}'", value.type_name())
                    }
                },
            },
        },
        Value::Tensor(_) => None,
        other => parts_of(&Part::of(other))?.map(|items| (items.len() as i64, items.first().cloned())),
    })
}

fn row(view: &View, at: i64) -> Part {
    Part::Row(view.with_layout(view.layout.select(0, at)))
}

/// Returns whether a value is a NumPy array, and not a NumPy scalar.
fn is_array(value: &Value) -> bool {
    matches!(value.class_name(), "numpy.ndarray" | "numpy.memmap")
}

/// Returns the length of an object that Python counts as a sequence: one of a class with `__getitem__`. `None` for any
/// other object.
///
/// # Errors
/// TypeError without `__len__`, and the errors of the method.
fn length_of(object: &Rc<dyn Object>) -> Result<Option<i64>> {
    if !object.has_special("__getitem__") {
        return Ok(None);
    }
    match object.special("__len__", &[]) {
        None => bail!(TypeError, "object of type '{}' has no len()", object.type_name()),
        Some(length) => match special::index(&length?)? {
            Value::Int(length) if length >= 0 => Ok(Some(length)),
            Value::Int(_) => bail!(ValueError, "__len__() should return >= 0"),
            _ => bail!(OverflowError, "cannot fit 'int' into an index-sized integer"),
        },
    }
}

/// Returns the items of a sequence, or `None` if the part is not one.
fn parts_of(part: &Part) -> Result<Option<Vec<Part>>> {
    let value = match part {
        Part::Value(value) => value,
        Part::Row(view) => {
            let Some(&count) = view.sizes().first() else { return Ok(None) };
            split::room_for(count)?;
            return Ok(Some(interrupt::watched(0..count).map(|at| row(view, at)).collect()));
        }
    };
    let made: Option<Vec<Value>> = match value {
        Value::List(_) | Value::Tuple(_) | Value::Size(_) | Value::NamedTuple(_) => value.sequence(),
        Value::Range(range) => {
            limits::room_for::<Value>(range.count())?;
            value.sequence()
        }
        Value::Storage(storage) => {
            limits::room_for::<Value>(storage.nbytes())?;
            let bytes = storage.to_vec().unwrap_or_default();
            Some(interrupt::watched(bytes).map(|b| Value::Int(i64::from(b))).collect())
        }
        Value::TypedStorage(typed) => {
            let numbers = typed.scalars()?;
            limits::room_for::<Value>(numbers.len())?;
            Some(interrupt::watched(numbers).map(Value::from).collect())
        }
        Value::Buffer(buffer) => {
            limits::room_for::<Value>(buffer.len())?;
            Some(buffer.items().into_iter().map(Value::from).collect())
        }
        Value::Object(object) => match value.elements() {
            Some(view) if is_array(value) => return parts_of(&Part::Row(view)),
            Some(_) => None,
            None => match length_of(object)? {
                None => None,
                Some(length) => {
                    limits::room_for::<Value>(limits::count(length))?;
                    let item = |at| match object.special("__getitem__", &[Value::Int(at)]) {
                        Some(item) => item,
                        None => bail!(TypeError, "'{}' object is not subscriptable", object.type_name()),
                    };
                    Some(interrupt::watched(0..length).map(item).collect::<Result<_>>()?)
                }
            },
        },
        _ => None,
    };
    Ok(made.map(|items| items.into_iter().map(Part::Value).collect()))
}

/// Like [`parts_of`], for a level whose length is known: here a tensor is a sequence of its rows.
fn rows_of(part: &Part) -> Result<Option<Vec<Part>>> {
    match part {
        Part::Value(Value::Tensor(tensor)) if tensor.borrow().ndim() > 0 => {
            let view = tensor.view();
            let count = view.sizes().first().copied().unwrap_or_default();
            split::room_for(count)?;
            let row = |i| Part::Value(Value::from(view.with_layout(view.layout.select(0, i))));
            Ok(Some(interrupt::watched(0..count).map(row).collect()))
        }
        Part::Value(Value::Str(text)) => {
            limits::room_for::<Value>(text.len())?;
            let letter = |c: char| Part::Value(Value::str(&*c.encode_utf8(&mut [0; 4])));
            Ok(Some(interrupt::watched(text.chars()).map(letter).collect()))
        }
        Part::Value(Value::Set(set)) => Ok(Some(set.to_vec().into_iter().map(Part::Value).collect())),
        Part::Value(Value::Dict(dict)) => {
            Ok(Some(dict.to_vec().into_iter().map(|(key, _)| Part::Value(key)).collect()))
        }
        other => parts_of(other),
    }
}

/// Returns the dtype that holds all numbers, or `None` if there are no numbers.
fn infer(part: &Part, default: DType, depth: usize) -> Result<Option<DType>> {
    if let Some(array) = part.array() {
        return Ok(Some(array.dtype));
    }
    let Part::Value(value) = part else { return Ok(None) };
    let one = match value {
        Value::Bool(_) => DType::Bool,
        Value::Int(_) | Value::BigInt(_) => DType::Long,
        Value::Float(_) => default,
        Value::Complex(_) => default.to_complex()?,
        Value::Tensor(t) => t.borrow().dtype,
        Value::Str(_) => bail!(TypeError, "new(): invalid data type 'str'"),
        Value::Buffer(buffer) if buffer.kind() == BufferKind::Bytes => {
            bail!(TypeError, "new(): invalid data type 'bytes'")
        }
        other => {
            let Some(items) = parts_of(part)? else {
                bail!(RuntimeError, "Could not infer dtype of {}", other.type_name())
            };
            if items.is_empty() {
                return Ok(Some(default));
            }
            if depth >= MOST_DIMENSIONS {
                bail!(ValueError, "too many dimensions '{}'", other.type_name());
            }
            let mut widest = None;
            for (i, item) in items.iter().enumerate() {
                interrupt::check_at(i)?;
                let next = infer(item, default, depth + 1)?;
                widest = match (widest, next) {
                    (Some(a), Some(b)) => Some(tensor::promote_types(a, b)?),
                    (a, b) => a.or(b),
                };
            }
            return Ok(widest);
        }
    };
    Ok(Some(one))
}

fn flatten(data: &Part, sizes: &[i64], depth: usize, dtype: DType, out: &mut Vec<Scalar>) -> Result<()> {
    let Some((&size, rest)) = sizes.split_first() else {
        out.push(number(data, dtype)?);
        return Ok(());
    };
    let Some(items) = rows_of(data)? else { bail!(TypeError, "not a sequence") };
    // An interrupted iterator yields fewer items.
    interrupt::check()?;
    if items.len() as i64 != size {
        bail!(ValueError, "expected sequence of length {size} at dim {depth} (got {})", items.len());
    }
    items.iter().enumerate().try_for_each(|(i, item)| {
        interrupt::check_at(i)?;
        flatten(item, rest, depth + 1, dtype, out)
    })
}

/// Converts one element by the rules of Python: `__index__` for an integer, `__float__` for a floating-point number,
/// `__complex__` for a complex one.
fn number(part: &Part, dtype: DType) -> Result<Scalar> {
    let scalar = match part {
        Part::Value(value) if value.elements().is_none() => match value {
            Value::Tensor(t) => of_tensor(t, dtype)?,
            Value::Object(object) => of_object(object, dtype)?,
            plain => plain_number(plain, dtype)?,
        },
        array => of_array(array, dtype)?,
    };
    if let (Scalar::Complex(_), true) = (scalar, dtype.is_integral(false)) {
        bail!(TypeError, "'complex' object cannot be interpreted as an integer");
    }
    if let (Scalar::Complex(_), false) = (scalar, dtype.is_complex() || dtype == DType::Bool) {
        bail!(TypeError, "must be real number, not complex");
    }
    // A float that is too large becomes infinity. Integers must fit, except that negative numbers wrap in unsigned
    // dtypes.
    if dtype.is_integral(false) && !scalar.fits(dtype) {
        bail!(RuntimeError, "value cannot be converted to type {} without overflow", dtype.name());
    }
    Ok(scalar)
}

/// Converts a value that is neither a tensor nor an object.
fn plain_number(value: &Value, dtype: DType) -> Result<Scalar> {
    if dtype == DType::UInt64 {
        return match value {
            Value::Int(i) if *i < 0 => bail!(OverflowError, "can't convert negative int to unsigned"),
            Value::Int(_) | Value::Bool(_) => Ok(value.as_scalar().unwrap_or(Scalar::Int(0))),
            Value::BigInt(i) if i.sign() == Sign::Minus => {
                bail!(OverflowError, "can't convert negative int to unsigned")
            }
            Value::BigInt(i) => match u64::try_from(&**i) {
                Ok(u) => Ok(Scalar::UInt(u)),
                Err(_) => bail!(OverflowError, "int too big to convert"),
            },
            _ => bail!(TypeError, "an integer is required"),
        };
    }
    Ok(match value {
        // Any number but zero is true.
        Value::BigInt(_) if dtype == DType::Bool => Scalar::Bool(true),
        Value::BigInt(i) => match u64::try_from(&**i) {
            Ok(u) if !dtype.is_integral(true) => Scalar::UInt(u),
            _ if !dtype.is_integral(true) => Scalar::Float(integers::to_float(i)?),
            _ => return Err(Error::runtime("Overflow when unpacking long")),
        },
        other => match other.as_scalar() {
            Some(scalar) => scalar,
            None => return Err(not_a_number(other.type_name(), dtype)),
        },
    })
}

fn not_a_number(class: &str, dtype: DType) -> Error {
    if dtype == DType::UInt64 {
        return Error::type_error("an integer is required");
    }
    Error::type_error(if dtype.is_integral(true) {
        format!("'{class}' object cannot be interpreted as an integer")
    } else {
        format!("must be real number, not {class}")
    })
}

/// A tensor in a list. PyTorch converts it by `__index__` or `item()`, which decides the words of the error.
fn of_tensor(tensor: &Tensor, dtype: DType) -> Result<Scalar> {
    let view = tensor.borrow();
    if dtype == DType::UInt64 {
        return Err(not_a_number("Tensor", dtype));
    }
    if dtype.is_integral(true) && (view.numel() != 1 || !view.dtype.is_integral(true)) {
        bail!(TypeError, "only integer tensors of a single element can be converted to an index");
    }
    if view.numel() != 1 {
        return Err(Error::value("only one element tensors can be converted to Python scalars"));
    }
    let scalar = view.item()?;
    if let (Scalar::Complex(z), false) = (scalar, dtype.is_complex()) {
        if z.im != 0.0 {
            bail!(RuntimeError, "value cannot be converted to type double without overflow");
        }
        return Ok(Scalar::Float(z.re));
    }
    Ok(scalar)
}

/// A NumPy array without dimensions, or a NumPy scalar. Only integers have `__index__`, and a `float64` is a float.
fn of_array(part: &Part, dtype: DType) -> Result<Scalar> {
    let Some(view) = part.array() else { return Err(not_a_number("numpy.ndarray", dtype)) };
    let whole = matches!(part, Part::Value(value) if is_array(value));
    let as_index = view.ndim() == 0 && view.dtype.is_integral(false);
    let is_float = !whole && view.dtype == DType::Double && dtype != DType::UInt64;
    if dtype.is_integral(true) && (dtype == DType::UInt64 || !as_index) && !is_float {
        return Err(match dtype {
            DType::UInt64 => Error::type_error("an integer is required"),
            _ if whole => Error::type_error("only integer scalar arrays can be converted to a scalar index"),
            _ => not_a_number(&part.type_name(), dtype),
        });
    }
    if view.numel() != 1 {
        bail!(TypeError, "only length-1 arrays can be converted to Python scalars");
    }
    view.item()
}

/// An object of a script's class.
fn of_object(object: &Rc<dyn Object>, dtype: DType) -> Result<Scalar> {
    let refused = || not_a_number(object.type_name(), dtype);
    if dtype == DType::UInt64 {
        return Err(refused());
    }
    if dtype.is_integral(true) {
        if !object.has_special("__index__") {
            return Err(refused());
        }
        return plain_number(&special::index(&Value::Object(object.clone()))?, dtype);
    }
    if dtype.is_complex()
        && let Some(answer) = object.special("__complex__", &[])
    {
        return match answer? {
            Value::Complex(z) => Ok(Scalar::Complex(z)),
            other => bail!(
                TypeError,
                "{}.__complex__() returned non-complex (type {})",
                object.type_name(),
                other.type_name()
            ),
        };
    }
    special::float_of(object).unwrap_or_else(|| Err(refused())).map(Scalar::Float)
}

/// Converts a list used as a subscript to an index tensor.
pub(crate) fn index_tensor(value: &Value) -> Result<View> {
    let view = from_data(value, None, DType::Float)?;
    let dtype = index_dtype(view.dtype);
    if dtype == view.dtype { Ok(view) } else { copy::cast(&view, dtype) }
}

/// Returns the items of a sequence; rows of a NumPy array as tensors. `None` for any other value.
pub(crate) fn items(value: &Value) -> Result<Option<Vec<Value>>> {
    let part = Part::of(value);
    // An array without dimensions has no length, but it is no error as a subscript.
    if part.array().is_some_and(|array| array.ndim() == 0) {
        return Ok(None);
    }
    let items = parts_of(&part)?.map(|parts| {
        let value = |part| match part {
            Part::Value(value) => value,
            Part::Row(row) if row.ndim() == 0 => row.item().map_or(Value::None, Value::from),
            Part::Row(row) => Value::from(row),
        };
        parts.into_iter().map(value).collect()
    });
    Ok(items)
}
