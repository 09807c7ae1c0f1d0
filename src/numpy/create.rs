//! Functions of `numpy` that make arrays, and questions about dtypes and memory. Follows
//! <https://numpy.org/doc/2.4/reference/routines.array-creation.html>.

use crate::array::{Array, Order};
use crate::call_ufunc::order;
use crate::convert::{self, dtype_argument};
use crate::descr::{Casting, Descr, Kind, Weak, promoted};
use crate::dtypes::{DTypeObject, descr_of, is_dtype_like};
use crate::ndarray::{NdArray, Number};
use crate::overlap;
use crate::strided::{Strided, broadcast, checked_count};
use crate::ufunc::{In, Operand};
use crate::{bridge, index, operate};
use call::{Call, Row, function};
use objects::iterate::iterate;
use std::rc::Rc;
use tensor::{DType, Dims, Error, ErrorKind, Result, Scalar, bail, interrupt, limits};
use value::equality::{number, truth};
use value::{Object, ObjectState, Value};

pub(crate) const ROWS: &[Row] = &[
    function(
        "numpy.array(any object, any dtype=None, *, any copy=True, any order=\"K\", any subok=False, any ndmin=0, any like=None) \
         -> any",
        array,
        "Creates an array from numbers, nested sequences, arrays or tensors.",
    )
    .python("array"),
    function(
        "numpy.asarray(any a, any dtype=None, any order=None, *, any device=None, any copy=None, any like=None) -> any",
        |c| as_array(c, 2, 4),
        "Converts to an array; an array is returned as it is.",
    )
    .python("asarray"),
    function(
        "numpy.asanyarray(any a, any dtype=None, any order=None, *, any device=None, any copy=None, any like=None) -> any",
        |c| as_array(c, 2, 4),
        "Converts to an array; an array is returned as it is.",
    )
    .python("asanyarray"),
    function(
        "numpy.ascontiguousarray(any a, any dtype=None, *, any like=None) -> any",
        |c| contiguous(c, Order::C),
        "Returns a row-major array with the same elements, the array itself if it is one.",
    )
    .python("ascontiguousarray"),
    function(
        "numpy.asfortranarray(any a, any dtype=None, *, any like=None) -> any",
        |c| contiguous(c, Order::F),
        "Returns a column-major array with the same elements, the array itself if it is one.",
    )
    .python("asfortranarray"),
    function(
        "numpy.zeros(any shape, any dtype=None, any order=\"C\", *, any device=None, any like=None) -> any",
        |c| filled(c, None),
        "Creates an array of zeros.",
    )
    .python("zeros"),
    function(
        "numpy.empty(any shape, any dtype=None, any order=\"C\", *, any device=None, any like=None) -> any",
        |c| filled(c, None),
        "Creates an array whose elements are not set; here they are zero.",
    )
    .python("empty"),
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
    .python("arange"),
    function(
        "numpy.frombuffer(any buffer, any dtype=None, any count=-1, any offset=0, *, any like=None) -> any",
        |c| {
            let descr = dtype_argument(&c.value(1))?.unwrap_or(Descr::DOUBLE);
            let whole = |i: usize| integer(&c.value(i));
            bridge::frombuffer(&c.value(0), descr, whole(2)?, whole(3)?)
        },
        "Creates an array on the memory of a buffer.",
    )
    .python("frombuffer"),
    function(
        "numpy.fromiter(any iter, any dtype, any count=-1, *, any like=None) -> any",
        fromiter,
        "Creates an array from the items of an iterable.",
    )
    .python("fromiter"),
    function(
        "numpy.copyto(any dst, any src, any casting=\"same_kind\", any where=True) -> None",
        copyto,
        "Copies elements to an array, broadcast, where a mask is true.",
    )
    .python("copyto"),
    function(
        "numpy.where(any condition, any x=None, any y=None) -> any",
        chosen,
        "Chooses elements of two arrays by a condition; with the condition alone, returns where it is true.",
    )
    .python("where"),
    function(
        "numpy.concatenate(any arrays, any axis=0, any out=None, *, any dtype=None, any casting=\"same_kind\") -> any",
        concatenate,
        "Joins arrays along an existing dimension.",
    )
    .python("concatenate"),
    function(
        "numpy.shares_memory(any a, any b, any max_work=None) -> bool",
        |c| memory_in_common(c, true),
        "Returns whether two arrays have a byte in common.",
    )
    .python("shares_memory"),
    function(
        "numpy.may_share_memory(any a, any b, any max_work=None) -> bool",
        |c| memory_in_common(c, false),
        "Returns whether the ranges of memory of two arrays meet.",
    )
    .python("may_share_memory"),
    function(
        "numpy.can_cast(any from_, any to, any casting=\"safe\") -> bool",
        |c| {
            if number(&c.value(0)).is_some() {
                bail!(
                    TypeError,
                    "can_cast() does not support Python ints, floats, and complex because the result used to depend on the \
                     value.\nThis change was part of adopting NEP 50, we may explicitly allow them again in the future."
                );
            }
            let from = dtype_of(&c.value(0))?;
            Ok(Value::Bool(casting(&c.value(2))?.allows(from, descr_of(&c.value(1))?)))
        },
        "Returns whether values of one dtype may be converted to another.",
    )
    .python("can_cast"),
    function(
        "numpy.promote_types(any type1, any type2) -> any",
        |c| {
            let (a, b) = (descr_of(&c.value(0))?, descr_of(&c.value(1))?);
            Ok(DTypeObject::value(Descr::native(promoted(a.dtype, b.dtype))))
        },
        "Returns the smallest dtype that both can be cast to safely.",
    )
    .python("promote_types"),
    function("numpy.result_type(any[] arrays_and_dtypes) -> any", result_type, "Returns the dtype of an operation on all of these.")
        .python("result_type"),
    function(
        "numpy.min_scalar_type(any a) -> any",
        min_scalar_type,
        "Returns the smallest dtype that holds a number.",
    )
    .python("min_scalar_type"),
    function(
        "numpy.as_strided(any x, any shape=None, any strides=None, any subok=False, any writeable=True, *, any check_bounds=None) \
         -> any",
        as_strided,
        "Returns a view with any shape and strides, in bytes, on the memory of an array.",
    )
    .python("as_strided"),
    function(
        "numpy._strided(any x, any shape, any strides, any writeable) -> any",
        |c| {
            let (shape, strides) = (convert::shape(&c.value(1))?, convert::shape(&c.value(2))?);
            let this = NdArray::of(&c.value(0)).ok_or_else(|| Error::type_error("not an array"))?;
            let view = strided_view(&this, shape, strides)?;
            Ok(if truth(&c.value(3))? { this.view(view) } else { this.read_only_view(view) })
        },
        "Returns a view with any shape and strides whose base is that of other views.",
    ),
    function(
        "numpy.bincount(any x, any weights=None, any minlength=0) -> any",
        bincount,
        "Counts how often each number occurs.",
    )
    .python("bincount"),
    function(
        "numpy._warn(any category, any message) -> None",
        |c| {
            c.state.warn_once(value::intern(c.str(0)?), c.str(1)?.to_owned());
            Ok(Value::None)
        },
        "Reports a warning.",
    ),
    function("numpy.isscalar(any element) -> bool", is_scalar, "Returns whether a value is a single number or text.")
        .python("isscalar"),
    function(
        "numpy.issubdtype(any arg1, any arg2) -> bool",
        is_subdtype,
        "Returns whether a dtype or class of scalars derives from another.",
    )
    .python("issubdtype"),
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

pub(crate) fn casting(value: &Value) -> Result<Casting> {
    match value {
        Value::Str(text) => Casting::parse(text),
        other => bail!(TypeError, "casting must be str, not {}", other.type_name()),
    }
}

/// Returns the dtype that a value has or names.
fn dtype_of(value: &Value) -> Result<Descr> {
    match NdArray::of(value) {
        Some(array) => Ok(array.array().descr),
        None => match Number::in_value(value) {
            Some(number) => Ok(number.descr),
            None => descr_of(value),
        },
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
fn converted(value: &Value, descr: Option<Descr>, order: Order, copies: Option<bool>) -> Result<Value> {
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

fn target(value: &Value, function: &str) -> Result<std::rc::Rc<NdArray>> {
    let this = NdArray::of(value).ok_or_else(|| {
        Error::type_error(format!("{function}() argument 1 must be numpy.ndarray, not {}", value.type_name()))
    })?;
    this.check_writeable("assignment destination")?;
    Ok(this)
}

fn copyto(call: &mut Call) -> Result<Value> {
    let this = target(&call.value(0), "copyto")?;
    let array = this.array();
    let weak = number(&call.value(1)).is_some();
    let source = index::source(&call.value(1), array.descr)?;
    let rule = casting(&call.value(2))?;
    let natural = if weak { convert::array(&call.value(1), None)?.descr } else { source.descr };
    if weak && !(if natural.kind() <= array.descr.kind() { Casting::Unsafe } else { rule }).allows(natural, array.descr)
    {
        bail!(
            TypeError,
            "Cannot cast scalar from dtype({}) to dtype({}) according to the rule '{}'",
            natural.inner_repr(),
            array.descr.inner_repr(),
            rule.name()
        );
    }
    if !weak && !rule.allows(source.descr, array.descr) {
        bail!(
            TypeError,
            "Cannot cast array data from dtype({}) to dtype({}) according to the rule '{}'",
            source.descr.inner_repr(),
            array.descr.inner_repr(),
            rule.name()
        );
    }
    match call.value(3) {
        Value::Bool(true) => index::assign_broadcast(&array, &source)?,
        mask => {
            let mask = convert::array(&mask, None)?;
            let both = broadcast([mask.shape(), array.shape()].into_iter());
            if both.is_none_or(|both| both[..] != *array.shape()) {
                bail!(
                    ValueError,
                    "could not broadcast where mask from shape {} into shape {}",
                    crate::strided::show(mask.shape()),
                    crate::strided::show(array.shape())
                );
            }
            let mask = mask.at(mask.places.broadcast_to(array.shape()));
            let spread = Array::unwritten(array.shape(), source.descr, false)?;
            index::assign_broadcast(&spread, &source)?;
            let (memory, of_mask, of_source) = (array.memory()?, mask.memory()?, spread.memory()?);
            for (i, ((to, on), from)) in array.offsets().zip(mask.offsets()).zip(spread.offsets()).enumerate() {
                interrupt::check_at(i)?;
                if mask.read_at(&of_mask, on).truth() {
                    array.write_at(&memory, to, spread.read_at(&of_source, from));
                }
            }
        }
    }
    Ok(Value::None)
}

/// Returns the dtype of an operation on these values, with numbers of a script counting by kind alone.
pub(crate) fn common(values: &[Value]) -> Result<Option<Descr>> {
    let mut dtype: Option<DType> = None;
    let mut weak: Vec<Weak> = Vec::new();
    for value in values {
        let found = match value {
            _ if is_dtype_like(value) => Some(In::Array(descr_of(value)?)),
            other => operate::operand(other)?.map(|operand| match operand {
                Operand::Array(array) => In::Array(array.descr),
                Operand::Weak(weak, _) => In::Weak(weak),
                Operand::Big(..) => In::Weak(Weak::Integer),
            }),
        };
        match found {
            Some(In::Array(descr)) => dtype = Some(dtype.map_or(descr.dtype, |dtype| promoted(dtype, descr.dtype))),
            Some(In::Weak(kind)) => weak.push(kind),
            None => return descr_of(value).map(Some),
        }
    }
    Ok(match dtype {
        Some(dtype) => Some(Descr::native(weak.iter().fold(dtype, |dtype, weak| weak.with(dtype)))),
        None => weak.iter().map(|weak| weak.default()).reduce(promoted).map(Descr::native),
    })
}

fn result_type(call: &mut Call) -> Result<Value> {
    let values = call.value(0).sequence().unwrap_or_default();
    match (&values[..], common(&values)?) {
        ([], _) | (_, None) => bail!(ValueError, "at least one array or dtype is required"),
        // A single dtype keeps its byte order.
        ([only], Some(_)) if is_dtype_like(only) => Ok(DTypeObject::value(descr_of(only)?.to_native())),
        (_, Some(descr)) => Ok(DTypeObject::value(descr)),
    }
}

fn min_scalar_type(call: &mut Call) -> Result<Value> {
    let value = call.value(0);
    let array = convert::array(&value, None)?;
    if array.ndim() > 0 {
        return Ok(DTypeObject::value(array.descr));
    }
    let item = array.item()?;
    let dtype = match (array.descr.kind(), item) {
        (Kind::Bool, _) => DType::Bool,
        (Kind::Unsigned | Kind::Signed, item) => {
            let whole = match item {
                Scalar::UInt(u) => i128::from(u),
                other => i128::from(other.to_i64()),
            };
            let unsigned = [DType::Byte, DType::UInt16, DType::UInt32, DType::UInt64];
            let signed = [DType::Char, DType::Short, DType::Int, DType::Long];
            let candidates = if whole < 0 { signed } else { unsigned };
            let holds = |dtype: &DType| {
                let (low, high) = tensor::element::integer_limits(*dtype);
                (low..=high).contains(&whole)
            };
            candidates.into_iter().find(holds).unwrap_or(DType::Long)
        }
        (Kind::Floating, Scalar::Float(f)) => match f.abs() {
            _ if !f.is_finite() => DType::Half,
            size if size < 65000.0 => DType::Half,
            size if size < 3.4e38 => {
                if array.descr.dtype == DType::Half {
                    DType::Half
                } else {
                    DType::Float
                }
            }
            _ => DType::Double,
        },
        (_, Scalar::Complex(c)) => match c.re.abs().max(c.im.abs()) {
            size if size < 3.4e38 => DType::ComplexFloat,
            _ => DType::ComplexDouble,
        },
        (_, _) => array.descr.dtype,
    };
    Ok(DTypeObject::value(Descr::native(dtype)))
}

fn chosen(call: &mut Call) -> Result<Value> {
    let condition = convert::array(&call.value(0), None)?;
    let (x, y) = (call.value(1), call.value(2));
    match (call.is_none(1), call.is_none(2)) {
        (true, true) => {
            if condition.ndim() == 0 {
                bail!(
                    ValueError,
                    "Calling nonzero on 0d arrays is not allowed. Use np.atleast_1d(scalar).nonzero() instead.\nIf the \
                     context of this error is of the form `arr[nonzero(cond)]`, just use `arr[cond]`."
                );
            }
            return index::nonzero_values(&condition);
        }
        (false, false) => {}
        _ => bail!(ValueError, "either both or neither of x and y should be given"),
    }
    let descr = common(&[x.clone(), y.clone()])?.unwrap_or(Descr::DOUBLE);
    let source = |value: &Value| match convert::held(value)? {
        Some(array) => Ok(array),
        None if number(value).is_some() => Array::scalar(convert::pack(value, descr)?, descr),
        None => convert::array(value, None),
    };
    let (a, b) = (source(&x)?, source(&y)?);
    let shapes = [condition.shape(), a.shape(), b.shape()];
    let Some(shape) = broadcast(shapes.into_iter()) else {
        let shapes: Vec<String> = shapes.iter().map(|shape| crate::strided::show(shape)).collect();
        bail!(ValueError, "operands could not be broadcast together with shapes {} ", shapes.join(" "));
    };
    let out = Array::unwritten(&shape, descr, false)?;
    let spread = |array: &Array| array.at(array.places.broadcast_to(&shape));
    let (mask, a, b) = (spread(&condition), spread(&a).copied(descr, Order::C)?, spread(&b).copied(descr, Order::C)?);
    let (memory, of_mask, of_a, of_b) = (out.memory()?, mask.memory()?, a.memory()?, b.memory()?);
    for (i, (at, on)) in out.offsets().zip(mask.offsets()).enumerate() {
        interrupt::check_at(i)?;
        let value = if mask.read_at(&of_mask, on).truth() { a.read_at(&of_a, at) } else { b.read_at(&of_b, at) };
        out.write_at(&memory, at, value);
    }
    Ok(NdArray::value(out))
}

fn concatenate(call: &mut Call) -> Result<Value> {
    let given = call.value(0);
    let items = match given.sequence() {
        Some(items) => items,
        None => match NdArray::of(&given) {
            Some(this) if this.array().ndim() > 0 => {
                let array = this.array();
                (0..array.shape()[0]).map(|at| this.view(array.at(array.places.select(0, at)))).collect()
            }
            _ => bail!(TypeError, "The first input argument needs to be a sequence"),
        },
    };
    let mut arrays = items.iter().map(|item| convert::array(item, None)).collect::<Result<Vec<Array>>>()?;
    let Some(first) = arrays.first().cloned() else { bail!(ValueError, "need at least one array to concatenate") };
    let axis = match call.value(1) {
        Value::None => {
            arrays = arrays
                .iter()
                .map(|array| {
                    let flat = array.copied(array.descr, Order::C)?;
                    let places = Strided::dense(&[flat.count()], flat.itemsize(), false);
                    Ok(flat.at(places))
                })
                .collect::<Result<_>>()?;
            0
        }
        value => {
            if first.ndim() == 0 {
                bail!(ValueError, "zero-dimensional arrays cannot be concatenated");
            }
            crate::strided::axis(integer(&value)?, first.ndim())?
        }
    };
    let first = arrays.first().cloned().unwrap_or(first);
    let mut shape = first.places.shape.clone();
    for (i, array) in arrays.iter().enumerate().skip(1) {
        if array.ndim() != first.ndim() {
            bail!(
                ValueError,
                "all the input arrays must have same number of dimensions, but the array at index 0 has {} dimension(s) and \
                 the array at index {i} has {} dimension(s)",
                first.ndim(),
                array.ndim()
            );
        }
        for (d, (&own, &wanted)) in array.shape().iter().zip(first.shape()).enumerate() {
            if d != axis && own != wanted {
                bail!(
                    ValueError,
                    "all the input array dimensions except for the concatenation axis must match exactly, but along \
                     dimension {d}, the array at index 0 has size {wanted} and the array at index {i} has size {own}"
                );
            }
        }
        shape[axis] = shape[axis].saturating_add(array.shape()[axis]);
    }
    let out = match (call.value(2), call.value(3)) {
        (Value::None, _) => None,
        (_, dtype) if !matches!(dtype, Value::None) => {
            bail!(TypeError, "concatenate() only takes `out` or `dtype` as an argument, but both were provided.")
        }
        (value, _) => Some((target(&value, "concatenate")?, value)),
    };
    let natural = arrays.iter().map(|array| array.descr.dtype).reduce(promoted).unwrap_or(DType::Double);
    let rule = casting(&call.value(4))?;
    let result = match &out {
        Some((out, _)) => {
            let out = out.array();
            if out.shape() != &shape[..] {
                bail!(ValueError, "Output array is the wrong shape");
            }
            out
        }
        None => {
            let descr = dtype_argument(&call.value(3))?.unwrap_or(Descr::native(natural));
            // Column-major if all of them are.
            let shapes: Vec<&Strided> = arrays.iter().map(|array| &array.places).collect();
            let strides = crate::array::kept_strides(&shape, &shapes, descr.itemsize());
            let places = Strided { shape: shape.clone(), strides, offset: 0 };
            let dense = Array::unwritten(&shape, descr, false)?;
            dense.at(places)
        }
    };
    let mut at = 0;
    for array in &arrays {
        if !rule.allows(array.descr, result.descr) {
            bail!(
                TypeError,
                "Cannot cast array data from dtype({}) to dtype({}) according to the rule '{}'",
                array.descr.inner_repr(),
                result.descr.inner_repr(),
                rule.name()
            );
        }
        let mut places = result.places.clone();
        places.offset += at * places.strides[axis];
        places.shape[axis] = array.shape()[axis];
        result.at(places).assign(array)?;
        at += array.shape()[axis];
    }
    match out {
        Some((_, value)) => Ok(value),
        None => Ok(NdArray::value(result)),
    }
}

fn memory_in_common(call: &mut Call, exact: bool) -> Result<Value> {
    let array = |i: usize| convert::array(&call.value(i), None);
    let (a, b) = (array(0)?, array(1)?);
    if !a.may_share(&b) {
        return Ok(Value::Bool(false));
    }
    Ok(Value::Bool(!exact || overlap::shares(&a, &b)?))
}

fn as_strided(call: &mut Call) -> Result<Value> {
    let made = converted(&call.value(0), None, Order::Keep, None)?;
    let this = NdArray::of(&made).ok_or_else(|| Error::type_error("as_strided() needs an array"))?;
    let array = this.array();
    let shape = if call.is_none(1) { array.places.shape.to_vec() } else { convert::shape(&call.value(1))? };
    let strides = if call.is_none(2) { array.places.strides.to_vec() } else { convert::shape(&call.value(2))? };
    let view = strided_view(&this, shape, strides)?;
    let writeable = truth(&call.value(4))? && this.is_writeable();
    // The base is an object that only holds the array.
    Ok(NdArray::on(view, Value::Object(Rc::new(Holder(made))), writeable))
}

/// The base of what `as_strided` returns.
struct Holder(Value);

impl Object for Holder {
    fn class_name(&self) -> &'static str {
        "numpy.lib._stride_tricks_impl.DummyArray"
    }
    fn attribute(&self, name: &str) -> Option<Value> {
        (name == "base").then(|| self.0.clone())
    }
    fn object_state(&self) -> ObjectState {
        ObjectState { values: vec![self.0.clone()], ..ObjectState::default() }
    }
}

/// Returns the memory of an array with another shape and other strides.
///
/// # Errors
/// ValueError for a view beyond the storage, where NumPy would read any memory.
fn strided_view(this: &NdArray, shape: Vec<i64>, strides: Vec<i64>) -> Result<Array> {
    let array = this.array();
    if shape.len() != strides.len() {
        bail!(ValueError, "mismatch in length of strides and shape");
    }
    checked_count(&shape, 1)?;
    let places =
        Strided { shape: Dims::from_slice(&shape), strides: Dims::from_slice(&strides), offset: array.places.offset };
    if let Some((low, high)) = places.span(array.itemsize())
        && (low < 0 || high > array.storage.nbytes() as i64)
    {
        bail!(
            ValueError,
            "as_strided: the view would reach from byte {low} to {high} of a memory of {} bytes",
            array.storage.nbytes()
        );
    }
    Ok(array.at(places))
}

fn bincount(call: &mut Call) -> Result<Value> {
    let array = convert::array(&call.value(0), None)?;
    if array.ndim() != 1 {
        bail!(
            ValueError,
            "object {} deep enough for desired array",
            if array.ndim() < 1 {
                "of too small depth for desired array, not"
            } else {
                "too deep for desired array, too"
            }
        );
    }
    if array.count() > 0 && !Casting::Safe.allows(array.descr, Descr::LONG) {
        bail!(
            TypeError,
            "Cannot cast array data from dtype({}) to dtype('int64') according to the rule 'safe'",
            array.descr.inner_repr()
        );
    }
    let least = integer(&call.value(2))?;
    if least < 0 {
        bail!(ValueError, "'minlength' must not be negative");
    }
    let numbers = array.scalars()?;
    let mut length = least;
    for number in &numbers {
        let number = number.to_i64();
        if number < 0 {
            bail!(ValueError, "'list' argument must have no negative elements");
        }
        length = length.max(number.saturating_add(1));
    }
    let place = |number: &Scalar| usize::try_from(number.to_i64()).unwrap_or(usize::MAX);
    if call.is_none(1) {
        checked_count(&[length], 8)?;
        let mut counts = limits::filled(0i64, limits::count(length))?;
        for (i, number) in numbers.iter().enumerate() {
            interrupt::check_at(i)?;
            if let Some(count) = counts.get_mut(place(number)) {
                *count += 1;
            }
        }
        return index::integers(&[length], &counts).map(NdArray::value);
    }
    let weights = convert::array(&call.value(1), None)?;
    if !Casting::Safe.allows(weights.descr, Descr::DOUBLE) {
        bail!(
            TypeError,
            "Cannot cast array data from dtype({}) to dtype('float64') according to the rule 'safe'",
            weights.descr.inner_repr()
        );
    }
    let weights = weights.scalars()?;
    if weights.len() != numbers.len() {
        bail!(ValueError, "The weights and list don't have the same length.");
    }
    checked_count(&[length], 8)?;
    let mut sums = limits::filled(0f64, limits::count(length))?;
    for (i, (number, weight)) in numbers.iter().zip(&weights).enumerate() {
        interrupt::check_at(i)?;
        if let Some(sum) = sums.get_mut(place(number)) {
            *sum += weight.to_f64();
        }
    }
    let sums: Vec<Scalar> = sums.into_iter().map(Scalar::Float).collect();
    Array::of(&sums, Descr::DOUBLE).map(NdArray::value)
}

fn is_scalar(call: &mut Call) -> Result<Value> {
    let value = call.value(0);
    let text = matches!(value, Value::Str(_))
        || matches!(&value, Value::Buffer(buffer) if matches!(buffer.kind(), tensor::BufferKind::Bytes));
    Ok(Value::Bool(text || number(&value).is_some() || Number::in_value(&value).is_some()))
}

fn is_subdtype(call: &mut Call) -> Result<Value> {
    let class = |value: &Value| -> Result<String> {
        Ok(match value {
            Value::Type(class)
                if crate::dtypes::ABSTRACT.iter().any(|name| class.strip_prefix("numpy.") == Some(name)) =>
            {
                class.trim_start_matches("numpy.").to_owned()
            }
            other => descr_of(other)?.name().to_owned(),
        })
    };
    let (one, other) = (class(&call.value(0))?, class(&call.value(1))?);
    Ok(Value::Bool(crate::dtypes::derives(&one, &other)))
}
