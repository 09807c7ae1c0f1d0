//! Between the values of scripts and arrays: reading nested sequences, packing single numbers into a dtype, and turning
//! results into arrays or scalars. Follows <https://numpy.org/doc/2.4/reference/generated/numpy.array.html>.

use crate::array::Array;
use crate::descr::{Descr, Kind, promoted};
use crate::dtypes;
use crate::ndarray::{NdArray, Number};
use num_traits::ToPrimitive;
use tensor::{BufferKind, DType, Error, ErrorKind, Result, Scalar, bail, interrupt, limits};
use value::equality::Number as PythonNumber;
use value::{Object, Value};

/// Returns a result as NumPy does: an array without dimensions becomes a scalar.
pub(crate) fn result(array: Array) -> Result<Value> {
    if array.ndim() == 0 { Number::of(&array).map(Number::value) } else { Ok(NdArray::value(array)) }
}

/// The class of `a.flat`.
pub(crate) const FLAT: &str = "numpy.flatiter";

/// Returns the array of a value that holds one: an array, a scalar or a tensor. `None` for any other value.
///
/// # Errors
/// Those of `Tensor.numpy()` for tensors that have no array.
pub(crate) fn held(value: &Value) -> Result<Option<Array>> {
    Ok(match value {
        Value::Object(object) => match object.as_any().downcast_ref::<NdArray>() {
            Some(array) => Some(array.array()),
            None => match object.as_any().downcast_ref::<Number>() {
                Some(number) => Some(number.array()?),
                None if object.class_name() == FLAT => match object.special("__array__", &[]) {
                    Some(elements) => NdArray::of(&elements?).map(|elements| elements.array()),
                    None => None,
                },
                None => None,
            },
        },
        Value::Tensor(tensor) => Some(crate::bridge::array_of(tensor)?),
        Value::Buffer(buffer) if !matches!(buffer.kind(), BufferKind::Bytes) => crate::bridge::array_of_buffer(buffer)?,
        _ => None,
    })
}

/// The most levels of nested sequences: as many as an array has dimensions.
const DEPTH: usize = crate::strided::MOST_DIMS;

/// A nest of sequences, flattened.
struct Nest {
    shape: Vec<i64>,
    leaves: Vec<Leaf>,
}

enum Leaf {
    Number(Value),
    Array(Array),
}

/// Returns the items of a value that counts as a sequence.
fn items(value: &Value) -> Result<Option<Vec<Value>>> {
    Ok(match value {
        Value::List(_) | Value::Tuple(_) | Value::Size(_) | Value::NamedTuple(_) => value.sequence(),
        Value::Range(range) => {
            limits::room_for::<Value>(range.count())?;
            value.sequence()
        }
        // Of a class written in a script.
        Value::Object(object) if !object.is_array() && object.has_special("__getitem__") => {
            let Some(length) = object.special("__len__", &[]) else { return Ok(None) };
            let Value::Int(length) = length? else { return Ok(None) };
            limits::room_for::<Value>(limits::count(length))?;
            let item = |at| object.special("__getitem__", &[Value::Int(at)]).unwrap_or(Ok(Value::None));
            Some((0..length).map(item).collect::<Result<_>>()?)
        }
        _ => None,
    })
}

fn inhomogeneous(found: &[i64]) -> Error {
    let shape = match found {
        [one] => format!("({one},)"),
        many => format!("({})", many.iter().map(i64::to_string).collect::<Vec<_>>().join(", ")),
    };
    let count = found.len();
    Error::value(format!(
        "setting an array element with a sequence. The requested array has an inhomogeneous shape after {count} \
         dimensions. The detected shape was {shape} + inhomogeneous part."
    ))
}

impl Nest {
    fn of(value: &Value) -> Result<Nest> {
        let mut nest = Nest { shape: Vec::new(), leaves: Vec::new() };
        let mut most = None;
        nest.add(value, 0, &mut most)?;
        if let Some(most) = most {
            return Err(inhomogeneous(nest.shape.get(..most).unwrap_or_default()));
        }
        Ok(nest)
    }

    /// Adds a value at a depth. `most` is the number of dimensions in which all sequences agree, once they differ.
    fn add(&mut self, value: &Value, depth: usize, most: &mut Option<usize>) -> Result<()> {
        interrupt::check_at(self.leaves.len())?;
        let mut differs = |at: usize| *most = Some(most.map_or(at, |most| most.min(at)));
        let is_first = self.leaves.is_empty();
        if let Some(array) = held(value)? {
            let own = array.shape();
            match is_first && self.shape.len() == depth {
                true => self.shape.extend_from_slice(own),
                false => {
                    let expected = self.shape.get(depth..).unwrap_or_default();
                    if expected != own {
                        let agree = expected.iter().zip(own).take_while(|(a, b)| a == b).count();
                        differs(depth + agree);
                    }
                }
            }
            self.leaves.push(Leaf::Array(array));
            return Ok(());
        }
        let Some(items) = items(value)? else {
            if self.shape.len() > depth && !(is_first && self.shape.len() == depth) {
                differs(depth);
            }
            limits::push(&mut self.leaves, Leaf::Number(value.clone()))?;
            return Ok(());
        };
        if depth >= DEPTH {
            bail!(
                ValueError,
                "setting an array element with a sequence. The requested array would exceed the maximum \
                               number of dimension of {DEPTH}."
            );
        }
        let length = items.len() as i64;
        match self.shape.get(depth) {
            None if is_first => self.shape.push(length),
            // An earlier item at this depth was a number.
            None => differs(depth),
            Some(&size) if size != length => differs(depth),
            Some(_) => {}
        }
        for item in &items {
            self.add(item, depth + 1, most)?;
        }
        Ok(())
    }

    fn dtype(&self) -> Result<Option<Descr>> {
        let mut found: Option<DType> = None;
        for leaf in &self.leaves {
            let own = match leaf {
                Leaf::Array(array) => array.descr.dtype,
                Leaf::Number(number) => natural(number)?.dtype,
            };
            found = Some(found.map_or(own, |found| promoted(found, own)));
        }
        Ok(found.map(Descr::native))
    }
}

/// Returns the dtype of an array made of one number.
fn natural(value: &Value) -> Result<Descr> {
    Ok(Descr::native(match value {
        Value::Bool(_) => DType::Bool,
        Value::Int(_) => DType::Long,
        Value::BigInt(i) if i.to_u64().is_some() => DType::UInt64,
        Value::Float(_) => DType::Double,
        Value::Complex(_) => DType::ComplexDouble,
        other => return Err(refused_element(other)),
    }))
}

fn refused_element(value: &Value) -> Error {
    let what = match value {
        Value::Str(_) => "text",
        Value::Buffer(_) => "bytes",
        Value::BigInt(_) => "integers beyond 64 bits",
        _ => "objects",
    };
    Error::not_implemented(format!("arrays of {what} ('{}') are not supported here", value.type_name()))
}

/// Converts any value to an array: numbers, nested sequences, arrays and tensors. An array of a value that has one
/// already shares its memory if the dtype is the same.
///
/// # Errors
/// ValueError in NumPy's words for ragged sequences; NotImplementedError for other things than numbers; OverflowError
/// and TypeError for numbers that the dtype cannot hold.
pub(crate) fn array(value: &Value, descr: Option<Descr>) -> Result<Array> {
    if let Some(held) = held(value)? {
        return match descr {
            Some(descr) if descr != held.descr => held.copied(descr, crate::array::Order::Keep),
            _ => Ok(held),
        };
    }
    fresh(value, descr)
}

/// Converts a value that has no array.
fn fresh(value: &Value, descr: Option<Descr>) -> Result<Array> {
    if let Value::Buffer(_) = value {
        return Err(refused_element(value));
    }
    let nest = Nest::of(value)?;
    let descr = match descr {
        Some(descr) => descr,
        None => nest.dtype()?.unwrap_or(Descr::DOUBLE),
    };
    let out = Array::zeros(&nest.shape, descr, false)?;
    let memory = out.storage.data()?;
    let size = descr.itemsize() as i64;
    let mut at = 0i64;
    for (i, leaf) in nest.leaves.iter().enumerate() {
        interrupt::check_at(i)?;
        match leaf {
            Leaf::Number(number) => {
                out.write_at(&memory, at, pack(number, descr)?);
                at += size;
            }
            Leaf::Array(array) => {
                let source = array.memory()?;
                for offset in array.offsets() {
                    out.write_at(&memory, at, array.read_at(&source, offset));
                    at += size;
                }
            }
        }
    }
    Ok(out)
}

/// Converts a single value for an element of a dtype, as an assignment does: an integer must fit, the fraction of a
/// float is dropped, and text is read as Python reads it.
///
/// # Errors
/// OverflowError, ValueError and TypeError in NumPy's words.
pub(crate) fn pack(value: &Value, descr: Descr) -> Result<Scalar> {
    if let Some(array) = held(value)? {
        let is_single = array.ndim() == 0 || descr.kind() == Kind::Bool && array.count() == 1;
        if !is_single && descr.kind() == Kind::Complex {
            bail!(TypeError, "only 0-dimensional arrays can be converted to Python scalars");
        }
        if !is_single {
            bail!(ValueError, "setting an array element with a sequence.");
        }
        let offset = array.offsets().next().unwrap_or(array.places.offset);
        return array.get(offset);
    }
    let read;
    let value = match value {
        Value::Object(object) => {
            read = number_of(object, descr)?;
            &read
        }
        Value::None if descr.is_inexact() => return Ok(Scalar::Float(f64::NAN)),
        other if descr.kind() == Kind::Bool => return value::equality::truth(other).map(Scalar::Bool),
        Value::Str(_) | Value::Buffer(_) => {
            let function = match descr.kind() {
                Kind::Complex => "py.complex",
                Kind::Floating => "py.float",
                _ => "py.int",
            };
            let state = call::State::current()?;
            read = state.call_given(&Value::Function(function.into()), vec![value.clone()])?;
            &read
        }
        other => other,
    };
    let number = match value::equality::number(value) {
        Some(number) => number,
        None if descr.kind() == Kind::Floating && items(value)?.is_some() => {
            bail!(ValueError, "setting an array element with a sequence.")
        }
        None => return Err(wrong_class(value, descr)),
    };
    match (descr.kind(), number) {
        (Kind::Bool, number) => Ok(Scalar::Bool(match number {
            PythonNumber::Int(i) => i != 0,
            PythonNumber::Big(_) => true,
            PythonNumber::Float(f) => f != 0.0,
            PythonNumber::Complex(c) => c.re != 0.0 || c.im != 0.0,
        })),
        (Kind::Unsigned | Kind::Signed, PythonNumber::Complex(_)) => Err(wrong_class(value, descr)),
        (Kind::Unsigned | Kind::Signed, PythonNumber::Float(f)) => match f {
            f if f.is_nan() => bail!(ValueError, "cannot convert float NaN to integer"),
            f if f.is_infinite() => {
                Err(Error::new(ErrorKind::OverflowError, "cannot convert float infinity to integer"))
            }
            f => integer(&value::Value::Float(f.trunc()), f.trunc().to_i128(), descr),
        },
        (Kind::Unsigned | Kind::Signed, PythonNumber::Int(i)) => integer(value, Some(i128::from(i)), descr),
        (Kind::Unsigned | Kind::Signed, PythonNumber::Big(i)) => integer(value, i.to_i128(), descr),
        (Kind::Floating, PythonNumber::Complex(_)) => Err(wrong_class(value, descr)),
        (_, PythonNumber::Int(i)) => Ok(Scalar::Int(i)),
        (_, PythonNumber::Complex(c)) => Ok(Scalar::Complex(c)),
        (_, number) => Ok(Scalar::Float(number.to_float()?)),
    }
}

/// Checks an integer against the range of a dtype.
fn integer(shown: &Value, number: Option<i128>, descr: Descr) -> Result<Scalar> {
    let (low, high) = tensor::element::integer_limits(descr.dtype);
    match number.filter(|number| (low..=high).contains(number)) {
        Some(number) => Ok(i64::try_from(number).map_or(Scalar::UInt(number as u64), Scalar::Int)),
        None => {
            let text = match (shown, number) {
                (_, Some(number)) => number.to_string(),
                (Value::BigInt(i), None) => i.to_string(),
                _ => "number".to_owned(),
            };
            Err(out_of_bounds(number, &text, descr))
        }
    }
}

fn out_of_bounds(number: Option<i128>, text: &str, descr: Descr) -> Error {
    // What does not fit C's long is refused before the dtype counts.
    let fits = number.is_some_and(|number| i64::try_from(number).is_ok());
    let message = match fits {
        true => format!("Python integer {text} out of bounds for {}", descr.name()),
        false => "Python int too large to convert to C long".to_owned(),
    };
    Error::new(ErrorKind::OverflowError, message)
}

/// Returns the number of an object of a script, by its special methods.
fn number_of(object: &std::rc::Rc<dyn Object>, descr: Descr) -> Result<Value> {
    let names: &[&str] = match descr.kind() {
        Kind::Unsigned | Kind::Signed => &["__int__", "__index__"],
        Kind::Complex => &["__complex__", "__float__", "__index__"],
        _ => &["__float__", "__index__"],
    };
    match names.iter().find_map(|name| object.special(name, &[])) {
        Some(number) => number,
        None => Err(wrong_class(&Value::Object(object.clone()), descr)),
    }
}

fn wrong_class(value: &Value, descr: Descr) -> Error {
    let class = value.type_name();
    Error::type_error(match (value, descr.kind()) {
        (_, Kind::Unsigned | Kind::Signed) => {
            format!("int() argument must be a string, a bytes-like object or a real number, not '{class}'")
        }
        (_, Kind::Complex) => format!("must be real number, not {class}"),
        _ => format!("float() argument must be a string or a real number, not '{class}'"),
    })
}

/// Reads a `dtype` argument; `None` means that none was given.
///
/// # Errors
/// TypeError in NumPy's words.
pub(crate) fn dtype_argument(value: &Value) -> Result<Option<Descr>> {
    if let Value::None = value { Ok(None) } else { dtypes::descr_of(value).map(Some) }
}

/// Reads a shape: an integer, or a sequence of integers.
///
/// # Errors
/// TypeError and ValueError in NumPy's words.
pub(crate) fn shape(value: &Value) -> Result<Vec<i64>> {
    let size = |item: &Value| match call::indexes::index_of(item) {
        Some(Value::Int(size)) => Ok(size),
        Some(_) => bail!(ValueError, "Maximum allowed dimension exceeded"),
        None => match item {
            Value::Bool(size) => Ok(i64::from(*size)),
            other => bail!(TypeError, "'{}' object cannot be interpreted as an integer", other.type_name()),
        },
    };
    match value {
        Value::Str(_) => bail!(TypeError, "'str' object cannot be interpreted as an integer"),
        Value::None => bail!(TypeError, "Use () not None as shape arguments"),
        Value::Object(object) if object.is_array() => {
            let array = array(value, None)?;
            if array.ndim() == 0 && array.descr.is_integral() {
                return Ok(vec![array.item()?.to_i64()]);
            }
            if !array.descr.is_integral() || array.ndim() != 1 {
                bail!(TypeError, "expected a sequence of integers or a single integer, got '{}'", value_text(value)?);
            }
            Ok(array.scalars()?.iter().map(|size| size.to_i64()).collect())
        }
        _ => match items(value)? {
            Some(sizes) => sizes.iter().map(size).collect(),
            None => match size(value) {
                Ok(size) => Ok(vec![size]),
                Err(error) if error.kind == ErrorKind::TypeError => bail!(
                    TypeError,
                    "expected a sequence of integers or a single integer, got '{}'",
                    value_text(value)?
                ),
                Err(error) => Err(error),
            },
        },
    }
}

fn value_text(value: &Value) -> Result<String> {
    call::State::current()?.repr(value)
}

/// Returns the axes that an `axis` argument names; `None` for all of them.
///
/// # Errors
/// AxisError, and ValueError for axes that occur twice.
pub(crate) fn axes(value: &Value, ndim: usize) -> Result<Option<Vec<usize>>> {
    let one = |item: &Value| match call::indexes::index_of(item) {
        Some(Value::Int(axis)) => crate::strided::axis(axis, ndim),
        _ => bail!(TypeError, "'{}' object cannot be interpreted as an integer", item.type_name()),
    };
    match value {
        Value::None => Ok(None),
        Value::Tuple(items) => {
            let mut axes = Vec::new();
            for item in items.iter() {
                let axis = one(item)?;
                if axes.contains(&axis) {
                    bail!(ValueError, "duplicate value in 'axis'");
                }
                axes.push(axis);
            }
            Ok(Some(axes))
        }
        other => Ok(Some(vec![one(other)?])),
    }
}
