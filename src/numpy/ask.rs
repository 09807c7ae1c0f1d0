//! Functions of `numpy` that answer questions about dtypes and memory, and views with any strides. Follows
//! <https://numpy.org/doc/2.4/reference/routines.dtype.html>.

use crate::array::{Array, Order};
use crate::convert;
use crate::create::converted;
use crate::descr::{Casting, Descr, Kind, Weak, promoted};
use crate::dtypes::{ABSTRACT, DTypeObject, class_of, descr_of, is_dtype_like};
use crate::ndarray::{NdArray, Number};
use crate::operate;
use crate::overlap;
use crate::strided::{Strided, checked_count};
use crate::ufunc::{In, Operand};
use call::{Call, Row, function};
use objects::plain::classes::derives;
use std::rc::Rc;
use tensor::{DType, Device, Dims, Error, Result, Scalar, Storage, bail};
use value::equality::{number, truth};
use value::{Object, ObjectState, Value};

pub(crate) const ROWS: &[Row] = &[
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
            Ok(Value::Bool(casting(&c.value(2), false)?.allows(from, descr_of(&c.value(1))?)))
        },
        "Returns whether values of one dtype may be converted to another.",
    )
    .python("numpy.can_cast"),
    function(
        "numpy.promote_types(any type1, any type2) -> any",
        |c| {
            let (a, b) = (descr_of(&c.value(0))?, descr_of(&c.value(1))?);
            Ok(DTypeObject::value(Descr::native(promoted(a.dtype, b.dtype))))
        },
        "Returns the smallest dtype that both can be cast to safely.",
    )
    .python("numpy.promote_types"),
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

/// Reads a `casting` argument; see [`Casting::parse`].
pub(crate) fn casting(value: &Value, copies: bool) -> Result<Casting> {
    match value {
        Value::Str(text) => Casting::parse(text, copies),
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
    checked_count(&shape, array.itemsize())?;
    let places =
        Strided { shape: Dims::from_slice(&shape), strides: Dims::from_slice(&strides), offset: array.places.offset };
    if !places.is_addressable(array.itemsize()) {
        bail!(ValueError, "as_strided: the strides reach beyond all memory");
    }
    if let Some((low, high)) = places.span(array.itemsize())
        && (low < 0 || high > array.storage.nbytes() as i64)
    {
        // An array without elements has memory all the same in NumPy, with any values in it.
        if let (0, 0.., Ok(length)) = (array.storage.nbytes(), low, usize::try_from(high)) {
            return Ok(Array { storage: Storage::zeroed(length, Device::CPU)?, descr: array.descr, places });
        }
        bail!(
            ValueError,
            "as_strided: the view would reach from byte {low} to {high} of a memory of {} bytes",
            array.storage.nbytes()
        );
    }
    Ok(array.at(places))
}

fn is_scalar(call: &mut Call) -> Result<Value> {
    let value = call.value(0);
    let text = matches!(value, Value::Str(_))
        || matches!(&value, Value::Buffer(buffer) if matches!(buffer.kind(), tensor::BufferKind::Bytes));
    Ok(Value::Bool(text || number(&value).is_some() || Number::in_value(&value).is_some()))
}

fn is_subdtype(call: &mut Call) -> Result<Value> {
    let class = |value: &Value| -> Result<&'static str> {
        Ok(match value {
            Value::Type(class) if ABSTRACT.iter().any(|name| class.strip_prefix("numpy.") == Some(name)) => class,
            other => class_of(descr_of(other)?),
        })
    };
    Ok(Value::Bool(derives(class(&call.value(0))?, class(&call.value(1))?)))
}
