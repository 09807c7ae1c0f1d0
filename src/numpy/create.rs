//! Functions of `numpy` that make arrays, and questions about dtypes and memory. Follows
//! <https://numpy.org/doc/2.4/reference/routines.array-creation.html>.

use crate::array::{Array, Order};
use crate::bridge;
use crate::call_ufunc::order;
use crate::convert::{self, dtype_argument};
use crate::descr::{Descr, promoted};
use crate::dtypes::descr_of;
use crate::ndarray::{NdArray, Number};
use crate::strided::{Strided, checked_count};
use call::{Call, Row, function};
use objects::iterate::iterate;
use tensor::{DType, Error, ErrorKind, Result, Scalar, bail, interrupt, limits};
use value::Value;
use value::equality::truth;

pub(crate) const ROWS: &[Row] = &[
    function(
        "numpy.array(any object, any dtype=None, *, any copy=True, any order=\"K\", any subok=False, any ndmin=0, any like=None) \
         -> any",
        array,
        "Creates an array from numbers, nested sequences, arrays or tensors.",
    )
    .python("numpy.array"),
    function(
        "numpy.asarray(any a, any dtype=None, any order=None, *, any device=None, any copy=None, any like=None) -> any",
        |c| {
            let made = as_array(c, 2, 4)?;
            Ok(NdArray::of(&made).map_or(made, |this| this.plain()))
        },
        "Converts to an array; an array is returned as it is.",
    )
    .python("numpy.asarray"),
    function(
        "numpy.asanyarray(any a, any dtype=None, any order=None, *, any device=None, any copy=None, any like=None) -> any",
        |c| as_array(c, 2, 4),
        "Converts to an array; an array is returned as it is.",
    )
    .python("numpy.asanyarray"),
    function(
        "numpy.ascontiguousarray(any a, any dtype=None, *, any like=None) -> any",
        |c| contiguous(c, Order::C),
        "Returns a row-major array with the same elements, the array itself if it is one.",
    )
    .python("numpy.ascontiguousarray"),
    function(
        "numpy.asfortranarray(any a, any dtype=None, *, any like=None) -> any",
        |c| contiguous(c, Order::F),
        "Returns a column-major array with the same elements, the array itself if it is one.",
    )
    .python("numpy.asfortranarray"),
    function(
        "numpy.zeros(any shape, any dtype=None, any order=\"C\", *, any device=None, any like=None) -> any",
        |c| filled(c, None),
        "Creates an array of zeros.",
    )
    .python("numpy.zeros"),
    function(
        "numpy.empty(any shape, any dtype=None, any order=\"C\", *, any device=None, any like=None) -> any",
        |c| filled(c, None),
        "Creates an array whose elements are not set; here they are zero.",
    )
    .python("numpy.empty"),
    function(
        "numpy.ones(any shape, any dtype=None, any order=\"C\", *, any device=None, any like=None) -> any",
        |c| filled(c, Some(Scalar::Int(1))),
        "Creates an array of ones.",
    )
    .python("ones"),
    function(
        "numpy.arange(any start=None, any stop=None, any step=None, any dtype=None, *, any device=None, any like=None) -> any",
        arange,
        "Creates an array of numbers at equal distances, without the stop.",
    )
    .python("numpy.arange"),
    function(
        "numpy.frombuffer(any buffer, any dtype=None, any count=-1, any offset=0, *, any like=None) -> any",
        |c| {
            let descr = dtype_argument(&c.value(1))?.unwrap_or(Descr::DOUBLE);
            let whole = |i: usize| integer(&c.value(i));
            bridge::frombuffer(&c.value(0), descr, whole(2)?, whole(3)?)
        },
        "Creates an array on the memory of a buffer.",
    )
    .python("numpy.frombuffer"),
    function(
        "numpy.fromiter(any iter, any dtype, any count=-1, *, any like=None) -> any",
        fromiter,
        "Creates an array from the items of an iterable.",
    )
    .python("numpy.fromiter"),
];

/// Reads an integer argument.
///
/// # Errors
/// TypeError for anything else.
pub(crate) fn integer(value: &Value) -> Result<i64> {
    match objects::plain::special::index(value)? {
        Value::Int(i) => Ok(i),
        _ => bail!(OverflowError, "Python int too large to convert to C ssize_t"),
    }
}

/// Whether an array has an order already.
fn is_ordered(array: &Array, order: Order) -> bool {
    match order {
        Order::C => array.is_c(),
        Order::F => array.is_f(),
        Order::Any | Order::Keep => true,
    }
}

/// Converts a value to an array object: itself if nothing has to change and `copies` allows it.
pub(crate) fn converted(value: &Value, descr: Option<Descr>, order: Order, copies: Option<bool>) -> Result<Value> {
    let held = convert::held(value)?;
    let Some(array) = held else {
        if copies == Some(false) {
            bail!(
                ValueError,
                "Unable to avoid copy while creating an array as requested.\nIf using `np.array(obj, copy=False)` replace \
                 it with `np.asarray(obj)` to allow a copy when needed (no behavior change in NumPy 1.x).\nFor more \
                 details, see https://numpy.org/devdocs/numpy_2_0_migration_guide.html#adapting-to-changes-in-the-copy-keyword."
            );
        }
        let array = convert::array(value, descr)?;
        return Ok(NdArray::value(match order {
            Order::F => array.copied(array.descr, Order::F)?,
            _ => array,
        }));
    };
    let wanted = descr.unwrap_or(array.descr);
    let fits = wanted == array.descr && is_ordered(&array, order);
    let is_scalar = Number::in_value(value).is_some();
    if copies == Some(true) || !fits || is_scalar {
        if copies == Some(false) {
            bail!(ValueError, "Unable to avoid copy while creating an array as requested.");
        }
        return Ok(NdArray::value(array.copied(wanted, order)?));
    }
    match value {
        Value::Tensor(tensor) => bridge::numpy(tensor, false),
        Value::Buffer(buffer) => Ok(NdArray::on(array, value.clone(), buffer.writable())),
        _ => Ok(value.clone()),
    }
}

fn copy_argument(value: &Value) -> Result<Option<bool>> {
    match value {
        Value::None => Ok(None),
        other => truth(other).map(Some),
    }
}

fn array(call: &mut Call) -> Result<Value> {
    let copies = copy_argument(&call.value(2))?;
    let made = converted(&call.value(0), dtype_argument(&call.value(1))?, order(&call.value(3))?, copies)?;
    let made = match NdArray::of(&made) {
        Some(this) if !truth(&call.value(4))? => this.plain(),
        _ => made,
    };
    let least = integer(&call.value(5))?.clamp(0, 64) as usize;
    match NdArray::of(&made) {
        Some(this) if this.array().ndim() < least => {
            let array = this.array();
            let mut places = array.places.clone();
            while places.ndim() < least {
                // NumPy gives new leading dimensions the strides of a dense array.
                let step = match (places.shape.first(), places.strides.first()) {
                    (Some(&size), Some(&stride)) => size.saturating_mul(stride),
                    _ => array.itemsize() as i64,
                };
                places.shape.insert(0, 1);
                places.strides.insert(0, step);
            }
            match this.base().is_none() && copies == Some(true) {
                true => Ok(NdArray::value(array.at(places))),
                false => Ok(this.view(array.at(places))),
            }
        }
        _ => Ok(made),
    }
}

fn as_array(call: &mut Call, order_at: usize, copy_at: usize) -> Result<Value> {
    let descr = dtype_argument(&call.value(1))?;
    converted(&call.value(0), descr, order(&call.value(order_at))?, copy_argument(&call.value(copy_at))?)
}

fn contiguous(call: &mut Call, order: Order) -> Result<Value> {
    let made = converted(&call.value(0), dtype_argument(&call.value(1))?, order, None)?;
    match NdArray::of(&made) {
        // At least one dimension.
        Some(this) if this.array().ndim() == 0 => {
            let array = this.array();
            let places = Strided { offset: array.places.offset, ..Strided::dense(&[1], array.itemsize(), false) };
            Ok(this.view(array.at(places)))
        }
        _ => Ok(made),
    }
}

fn filled(call: &mut Call, value: Option<Scalar>) -> Result<Value> {
    let shape = convert::shape(&call.value(0))?;
    let descr = dtype_argument(&call.value(1))?.unwrap_or(Descr::DOUBLE);
    let column_major = match order(&call.value(2))? {
        Order::F => true,
        Order::C => false,
        _ => bail!(ValueError, "only 'C' or 'F' order is permitted"),
    };
    let array = Array::zeros(&shape, descr, column_major)?;
    if let Some(value) = value {
        array.fill(value)?;
    }
    Ok(NdArray::value(array))
}

fn arange(call: &mut Call) -> Result<Value> {
    let (mut start, mut stop, step) = (call.value(0), call.value(1), call.value(2));
    if let Value::None = stop {
        if let Value::None = start {
            bail!(TypeError, "arange() requires stop to be specified.");
        }
        stop = std::mem::replace(&mut start, Value::Int(0));
    }
    let start = if let Value::None = start { Value::Int(0) } else { start };
    let step = if let Value::None = step { Value::Int(1) } else { step };
    let mut natural = DType::Long;
    for value in [&start, &stop, &step] {
        let array = convert::array(value, None)?;
        if array.ndim() > 0 && array.count() != 1 {
            bail!(TypeError, "only 0-dimensional arrays can be converted to Python scalars");
        }
        natural = promoted(natural, array.descr.dtype);
    }
    let descr = dtype_argument(&call.value(3))?.unwrap_or(Descr::native(natural));
    let single = |value: &Value| -> Result<Scalar> {
        let array = convert::array(value, None)?;
        Ok(array.scalars()?.first().copied().unwrap_or(Scalar::Int(0)))
    };
    let [first, last, by] = [single(&start)?, single(&stop)?, single(&step)?];
    let length = match (first, last, by) {
        (Scalar::Complex(_), ..) | (_, Scalar::Complex(_), _) | (.., Scalar::Complex(_)) => {
            let (a, b, s) = (first.to_complex(), last.to_complex(), by.to_complex());
            let steps = (b - a) / s;
            steps.re.ceil().min(steps.im.ceil())
        }
        _ => {
            if by.to_f64() == 0.0 {
                return Err(Error::new(ErrorKind::ZeroDivisionError, "division by zero"));
            }
            let exact = |value: Scalar| match value {
                Scalar::Float(_) => None,
                other => Some(i128::from(other.to_i64())),
            };
            match (exact(first), exact(last), exact(by)) {
                (Some(a), Some(b), Some(s)) => {
                    let span = b - a;
                    let whole = span / s + i128::from(span % s != 0 && (span % s > 0) == (s > 0));
                    whole as f64
                }
                _ => ((last.to_f64() - first.to_f64()) / by.to_f64()).ceil(),
            }
        }
    };
    if length.is_nan() {
        bail!(ValueError, "arange: cannot compute length");
    }
    if length >= i64::MAX as f64 {
        bail!(ValueError, "Maximum allowed size exceeded");
    }
    let length = (length.max(0.0)) as i64;
    if descr.dtype == DType::Bool && length > 2 {
        bail!(TypeError, "arange() is only supported for booleans when the result has at most length 2.");
    }
    checked_count(&[length], descr.itemsize())?;
    let array = Array::unwritten(&[length], descr.to_native(), false)?;
    fill_steps(&array, first, by, length)?;
    Ok(NdArray::value(if descr.swapped { array.copied(descr, Order::C)? } else { array }))
}

/// Fills an array with numbers at equal distances. NumPy computes the first two in the dtype of the arguments and the
/// rest from their difference.
fn fill_steps(array: &Array, first: Scalar, by: Scalar, length: i64) -> Result<()> {
    let memory = array.storage.data()?;
    let size = array.itemsize() as i64;
    let second = match (first, by) {
        (Scalar::Complex(_), _) | (_, Scalar::Complex(_)) => Scalar::Complex(first.to_complex() + by.to_complex()),
        (Scalar::Float(_), _) | (_, Scalar::Float(_)) => Scalar::Float(first.to_f64() + by.to_f64()),
        _ => Scalar::Int(first.to_i64().wrapping_add(by.to_i64())),
    };
    for (i, value) in [first, second].into_iter().enumerate().take(limits::count(length)) {
        array.write_at(&memory, i as i64 * size, value);
    }
    if length <= 2 {
        return Ok(());
    }
    let (start, next) = (array.read_at(&memory, 0), array.read_at(&memory, size));
    for i in 2..length {
        interrupt::check_at(i as usize)?;
        let value = match (array.descr.dtype, start, next) {
            (DType::Float | DType::Half, Scalar::Float(start), Scalar::Float(next)) => {
                let (start, delta) = (start as f32, next as f32 - start as f32);
                Scalar::Float(f64::from(start + i as f32 * delta))
            }
            (_, Scalar::Float(start), Scalar::Float(next)) => Scalar::Float(start + i as f64 * (next - start)),
            (DType::ComplexFloat, Scalar::Complex(start), Scalar::Complex(next)) => {
                let part = |start: f64, next: f64| {
                    let (start, delta) = (start as f32, next as f32 - start as f32);
                    f64::from(start + i as f32 * delta)
                };
                Scalar::Complex(num_complex::Complex::new(part(start.re, next.re), part(start.im, next.im)))
            }
            (_, Scalar::Complex(start), Scalar::Complex(next)) => Scalar::Complex(start + (next - start) * i as f64),
            (_, start, next) => {
                let (start, delta) = (start.to_i64(), next.to_i64().wrapping_sub(start.to_i64()));
                Scalar::Int(start.wrapping_add(delta.wrapping_mul(i)))
            }
        };
        array.write_at(&memory, i * size, value);
    }
    Ok(())
}

fn fromiter(call: &mut Call) -> Result<Value> {
    let descr = descr_of(&call.value(1))?;
    let count = integer(&call.value(2))?;
    let mut values = Vec::new();
    let mut items = iterate(call.state, &call.value(0))?;
    while count < 0 || (values.len() as i64) < count {
        interrupt::check()?;
        match items.next()? {
            Some(item) => limits::push(&mut values, convert::pack(&item, descr)?)?,
            None if count < 0 => break,
            None => {
                bail!(ValueError, "iterator too short: Expected {count} but iterator had only {} items.", values.len())
            }
        }
    }
    Array::of(&values, descr).map(NdArray::value)
}
