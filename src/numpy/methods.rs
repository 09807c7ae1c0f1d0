//! The methods of arrays and scalars. Follows <https://numpy.org/doc/2.4/reference/arrays.ndarray.html#array-methods>.

use crate::array::{Array, Order};
use crate::attributes::{reshape, set_writeable, viewed_as};
use crate::call_ufunc::{self, Reduction, accumulate, order, output, reduce};
use crate::convert::{self, dtype_argument, result};
use crate::create::integer;
use crate::descr::{Descr, Kind};
use crate::dtypes::descr_of;
use crate::ndarray::{NdArray, Number};
use crate::python::in_python;
use crate::strided::{self, Strided};
use crate::{index, order as sorting};
use call::{Call, Row, method};
use objects::strings::byte_streams::ByteStream;
use std::path::Path;
use std::rc::Rc;
use tensor::rehearsal::to_write;
use tensor::system::{Files, System};
use tensor::{Buffer, Dims, Error, Result, Scalar, bail, limits};
use value::equality::truth;
use value::{Object, Value, nested_list};

pub(crate) const ROWS: &[Row] = &[
    method("reshape(ndarray self, any[] shape, *, any order=\"C\", any copy=None) -> any", reshaped, "Returns the elements in another shape, on the same memory if possible.").python("numpy.reshape"),
    method("ravel(ndarray self, any order=\"C\") -> any", ravel, "Returns all elements in one dimension, on the same memory if possible.").python("numpy.ravel"),
    method("flatten(ndarray self, any order=\"C\") -> any", flatten, "Copies all elements to an array of one dimension.").python("numpy.flatten"),
    method("transpose(ndarray self, any[] axes) -> any", transpose, "Returns a view with the dimensions in another order.").python("numpy.transpose"),
    method("swapaxes(ndarray self, any axis1, any axis2) -> any", swapaxes, "Returns a view with two dimensions exchanged.").python("numpy.swapaxes"),
    method("squeeze(ndarray self, any axis=None) -> any", squeeze, "Returns a view without dimensions of size 1.").python("numpy.squeeze"),
    method("diagonal(ndarray self, any offset=0, any axis1=0, any axis2=1) -> any", diagonal, "Returns a read-only view of a diagonal.").python("numpy.diagonal"),
    method("astype(ndarray self, any dtype, any order=\"K\", any casting=\"unsafe\", any subok=True, any copy=True) -> any", astype, "Converts to another dtype.").python("numpy.astype"),
    method("copy(ndarray self, any order=\"C\") -> any", copy, "Copies the array.").python("numpy.copy"),
    method("view(ndarray self, any dtype=None, any type=None) -> any", view, "Returns a view of the same bytes, as another dtype if one is given.").python("numpy.view"),
    method("fill(ndarray self, any value) -> None", fill, "Sets every element.").python("numpy.fill"),
    method("item(ndarray self, any[] args) -> any", item, "Returns an element as a number of Python.").python("numpy.item"),
    method("tolist(ndarray self) -> any", tolist, "Returns the elements as nested lists.").python("tolist"),
    method("tobytes(ndarray self, any order=\"C\") -> any", tobytes, "Returns the bytes of all elements.").python("numpy.tobytes"),
    method("tofile(ndarray self, any file, any sep=\"\", any format=\"%s\") -> None", tofile, "Writes the bytes of all elements to a file.").python("numpy.tofile"),
    method("byteswap(ndarray self, any inplace=False) -> any", byteswap, "Reverses the bytes of every element.").python("numpy.byteswap"),
    method("sum(ndarray self, any axis=None, any dtype=None, any out=None, any keepdims=False, any initial=None, any where=True) -> any", |c| reduction(c, "add", true), "Adds elements up.").python("_sum"),
    method("prod(ndarray self, any axis=None, any dtype=None, any out=None, any keepdims=False, any initial=None, any where=True) -> any", |c| reduction(c, "multiply", true), "Multiplies elements.").python("_prod"),
    method("max(ndarray self, any axis=None, any out=None, any keepdims=False, any initial=None, any where=True) -> any", |c| reduction(c, "maximum", false), "Returns the largest element.").python("_amax"),
    method("min(ndarray self, any axis=None, any out=None, any keepdims=False, any initial=None, any where=True) -> any", |c| reduction(c, "minimum", false), "Returns the smallest element.").python("_amin"),
    method("any(ndarray self, any axis=None, any out=None, any keepdims=False, *, any where=True) -> any", |c| test(c, "logical_or"), "Returns whether any element is true.").python("_any"),
    method("all(ndarray self, any axis=None, any out=None, any keepdims=False, *, any where=True) -> any", |c| test(c, "logical_and"), "Returns whether all elements are true.").python("_all"),
    method("argmax(ndarray self, any axis=None, any out=None, *, any keepdims=False) -> any", |c| extreme(c, true), "Returns the position of the largest element.").python("numpy.argmax"),
    method("argmin(ndarray self, any axis=None, any out=None, *, any keepdims=False) -> any", |c| extreme(c, false), "Returns the position of the smallest element.").python("numpy.argmin"),
    method("cumsum(ndarray self, any axis=None, any dtype=None, any out=None) -> any", |c| cumulated(c, "add"), "Returns the sums of the elements so far.").python("numpy.cumsum"),
    method("cumprod(ndarray self, any axis=None, any dtype=None, any out=None) -> any", |c| cumulated(c, "multiply"), "Returns the products of the elements so far.").python("numpy.cumprod"),
    method("mean(ndarray self, any axis=None, any dtype=None, any out=None, any keepdims=False, *, any where=True) -> any", |c| in_python(c, "methods.mean"), "Returns the mean of the elements.").python("_mean"),
    method("var(ndarray self, any axis=None, any dtype=None, any out=None, any ddof=0, any keepdims=False, *, any where=True, any mean=None) -> any", |c| in_python(c, "methods.var"), "Returns the variance of the elements.").python("_var"),
    method("std(ndarray self, any axis=None, any dtype=None, any out=None, any ddof=0, any keepdims=False, *, any where=True, any mean=None) -> any", |c| in_python(c, "methods.std"), "Returns the standard deviation of the elements.").python("_std"),
    method("clip(ndarray self, any min=None, any max=None, any out=None) -> any", |c| in_python(c, "methods.clip"), "Limits the elements to a range.").python("_clip"),
    method("round(ndarray self, any decimals=0, any out=None) -> any", round, "Rounds to a number of decimals.").python("numpy.round"),
    method("conj(ndarray self) -> any", conjugate, "Returns the conjugates of the elements.").python("conj"),
    method("conjugate(ndarray self) -> any", conjugate, "Returns the conjugates of the elements.").python("conjugate"),
    method("dot(ndarray self, any b, any out=None) -> any", |c| in_python(c, "methods.dot"), "Returns the product with another array.").python("numpy.dot"),
    method("nonzero(ndarray self) -> any", nonzero, "Returns the positions of the elements that are not zero.").python("nonzero"),
    method("sort(ndarray self, any axis=-1, any kind=None, any order=None, *, any stable=None) -> None", sort, "Sorts the array in place.").python("numpy.sort"),
    method("argsort(ndarray self, any axis=-1, any kind=None, any order=None, *, any stable=None) -> any", argsort, "Returns the positions that sort the array.").python("numpy.argsort"),
    method("partition(ndarray self, any kth, any axis=-1, any kind=\"introselect\", any order=None) -> None", |c| in_python(c, "methods.partition"), "Puts the k-th smallest element in its place, smaller ones before it and larger ones behind.").python("numpy.partition"),
    method("argpartition(ndarray self, any kth, any axis=-1, any kind=\"introselect\", any order=None) -> any", |c| in_python(c, "methods.argpartition"), "Returns the positions that partition the array.").python("numpy.argpartition"),
    method("searchsorted(ndarray self, any v, any side=\"left\", any sorter=None) -> any", searchsorted, "Returns where values would be inserted into a sorted array.").python("numpy.searchsorted"),
    method("take(ndarray self, any indices, any axis=None, any out=None, any mode=\"raise\") -> any", |c| in_python(c, "methods.take"), "Returns the elements at positions along a dimension.").python("numpy.take"),
    method("put(ndarray self, any indices, any values, any mode=\"raise\") -> None", |c| in_python(c, "methods.put"), "Sets elements by their number in row-major order.").python("numpy.put"),
    method("repeat(ndarray self, any repeats, any axis=None) -> any", |c| in_python(c, "methods.repeat"), "Repeats each element.").python("numpy.repeat"),
    method("compress(ndarray self, any condition, any axis=None, any out=None) -> any", |c| in_python(c, "methods.compress"), "Returns the parts along a dimension for which a condition holds.").python("numpy.compress"),
    method("choose(ndarray self, any choices, any out=None, any mode=\"raise\") -> any", |c| in_python(c, "methods.choose"), "Chooses each element from one of several arrays.").python("numpy.choose"),
    method("trace(ndarray self, any offset=0, any axis1=0, any axis2=1, any dtype=None, any out=None) -> any", |c| in_python(c, "methods.trace"), "Adds the elements of a diagonal up.").python("numpy.trace"),
    method("resize(ndarray self, any[] new_shape, *, any refcheck=True) -> None", resize, "Changes the shape and the number of elements in place.").python("numpy.resize"),
    method("setflags(ndarray self, any write=None, any align=None, any uic=None) -> None", setflags, "Sets whether the array can be written to.").python("numpy.setflags"),
    method("__array__(ndarray self, any dtype=None, any copy=None) -> any", array, "Returns the array itself, or a copy in another dtype.").python("__array__"),
    method("to_device(ndarray self, any device, *, any stream=None) -> any", |c| Ok(c.value(0)), "Returns the array itself: all arrays are on the CPU.").python("to_device"),
    method("is_integer(ndarray self) -> any", is_integer, "Returns whether a scalar is a whole number.").python("is_integer"),
    method("as_integer_ratio(ndarray self) -> any", |c| of_python(c, "as_integer_ratio"), "Returns a scalar as a fraction.").python("as_integer_ratio"),
    method("bit_count(ndarray self) -> any", |c| of_python(c, "bit_count"), "Returns the number of bits that are set in a scalar.").python("bit_count"),
    method("hex(ndarray self) -> any", |c| of_python(c, "hex"), "Returns a scalar as hexadecimal text.").python("hex"),
];

/// Returns the array of the receiver.
fn this(call: &Call) -> Result<Array> {
    convert::array(&call.value(0), None)
}

/// Returns the receiver as an object: a scalar as an array without dimensions.
fn object(call: &Call) -> Result<Rc<NdArray>> {
    let value = call.value(0);
    let made = match NdArray::of(&value) {
        Some(this) => return Ok(this),
        None => NdArray::value(convert::array(&value, None)?),
    };
    NdArray::of(&made).ok_or_else(|| Error::type_error("not an array"))
}

/// Reads arguments that may be given one by one or as a sequence.
fn spread(value: &Value) -> Result<Option<Vec<i64>>> {
    let items = value.sequence().unwrap_or_default();
    match &items[..] {
        [] => Ok(None),
        [Value::None] => Ok(None),
        [one] => convert::shape(one).map(Some),
        several => several.iter().map(integer).collect::<Result<_>>().map(Some),
    }
}

fn reshaped(call: &mut Call) -> Result<Value> {
    let given = call.value(1).sequence().unwrap_or_default();
    if given.is_empty() {
        bail!(TypeError, "reshape() takes exactly 1 argument (0 given)");
    }
    let shape = spread(&call.value(1))?.unwrap_or_default();
    let copies = if call.is_none(3) { None } else { Some(truth(&call.value(3))?) };
    let receiver = object(call)?;
    let (array, order) = (receiver.array(), order(&call.value(2))?);
    if let Some(copies) = copies {
        let whole = crate::strided::infer_shape(&shape, array.count())?;
        let column_major = order == Order::F || order == Order::Any && array.is_f() && !array.is_c();
        let is_view = array.places.reshaped(&whole, array.itemsize(), column_major).is_some();
        match copies {
            false if !is_view => bail!(ValueError, "Unable to avoid creating a copy while reshaping."),
            true if is_view => {
                let copy = NdArray::value(array.copied(array.descr, Order::Keep)?);
                let copy = NdArray::of(&copy).ok_or_else(|| Error::type_error("not an array"))?;
                return reshape(&copy, &shape, order);
            }
            _ => {}
        }
    }
    reshape(&receiver, &shape, order)
}

fn ravel(call: &mut Call) -> Result<Value> {
    let object = object(call)?;
    let array = object.array();
    let wanted = order(&call.value(1))?;
    // In the order of memory if that is asked for.
    let wanted = match wanted {
        Order::Keep if array.is_f() && !array.is_c() => Order::F,
        Order::Keep => Order::C,
        Order::Any if array.is_f() && !array.is_c() => Order::F,
        Order::Any => Order::C,
        other => other,
    };
    let dense = if wanted == Order::F { array.is_f() } else { array.is_c() };
    let places = Strided {
        shape: Dims::from_slice(&[array.count()]),
        strides: Dims::from_slice(&[array.itemsize() as i64]),
        offset: array.places.offset,
    };
    if dense {
        return Ok(object.view(array.at(places)));
    }
    if let (1, Order::C) = (array.ndim(), wanted) {
        return Ok(NdArray::value(array.copied(array.descr, Order::C)?));
    }
    let copy = array.copied(array.descr, wanted)?;
    Ok(NdArray::value(copy.at(Strided { offset: 0, ..places })))
}

fn flatten(call: &mut Call) -> Result<Value> {
    let array = this(call)?;
    let wanted = match order(&call.value(1))? {
        Order::Any | Order::Keep if array.is_f() && !array.is_c() => Order::F,
        Order::F => Order::F,
        _ => Order::C,
    };
    let copy = array.copied(array.descr, wanted)?;
    let places = Strided::dense(&[copy.count()], copy.itemsize(), false);
    Ok(object(call)?.copy_of_class(copy.at(places)))
}

fn transpose(call: &mut Call) -> Result<Value> {
    let object = object(call)?;
    let array = object.array();
    let ndim = array.ndim();
    let places = match spread(&call.value(1))? {
        None => crate::attributes::reversed(&array.places),
        Some(axes) => {
            if axes.len() != ndim {
                bail!(ValueError, "axes don't match array");
            }
            let mut order = Vec::new();
            for axis in axes {
                let axis = strided::axis(axis, ndim)?;
                if order.contains(&axis) {
                    bail!(ValueError, "repeated axis in transpose");
                }
                order.push(axis);
            }
            array.places.permuted(&order)
        }
    };
    shown(call, &object, array.at(places))
}

/// Returns a view of the receiver; of a scalar, the scalar.
fn shown(call: &Call, object: &NdArray, view: Array) -> Result<Value> {
    match Number::in_value(&call.value(0)) {
        Some(_) => result(view),
        None => Ok(object.view(view)),
    }
}

fn swapaxes(call: &mut Call) -> Result<Value> {
    let object = object(call)?;
    let array = object.array();
    let axis = |i: usize| {
        strided::axis(integer(&call.value(i))?, array.ndim())
            .map_err(|error| Error { message: format!("axis{i}: {}", error.message), ..error })
    };
    let mut order: Vec<usize> = (0..array.ndim()).collect();
    order.swap(axis(1)?, axis(2)?);
    Ok(object.view(array.at(array.places.permuted(&order))))
}

fn squeeze(call: &mut Call) -> Result<Value> {
    let object = object(call)?;
    let array = object.array();
    let axes = match convert::axes(&call.value(1), array.ndim())? {
        None => (0..array.ndim()).filter(|&d| array.shape()[d] == 1).collect(),
        Some(axes) => axes,
    };
    if axes.iter().any(|&axis| array.shape()[axis] != 1) {
        bail!(ValueError, "cannot select an axis to squeeze out which has size not equal to one");
    }
    let kept: Vec<usize> = (0..array.ndim()).filter(|d| !axes.contains(d)).collect();
    if kept.len() == array.ndim() {
        return Ok(call.value(0));
    }
    shown(call, &object, array.at(array.places.permuted(&kept)))
}

fn diagonal(call: &mut Call) -> Result<Value> {
    let object = object(call)?;
    let array = object.array();
    if array.ndim() < 2 {
        bail!(ValueError, "diag requires an array of at least two dimensions");
    }
    let offset = integer(&call.value(1))?;
    let axis = |i: usize, name: &str| {
        strided::axis(integer(&call.value(i))?, array.ndim())
            .map_err(|error| Error { message: format!("{name}: {}", error.message), ..error })
    };
    let (first, second) = (axis(2, "axis1")?, axis(3, "axis2")?);
    if first == second {
        bail!(ValueError, "axis1 and axis2 cannot be the same");
    }
    let (rows, columns) = (array.shape()[first], array.shape()[second]);
    let (step, along) = (array.places.strides[first], array.places.strides[second]);
    let (length, shift) = match offset {
        0.. => (rows.min(columns.saturating_sub(offset)).max(0), offset.saturating_mul(along)),
        _ => (rows.saturating_add(offset).min(columns).max(0), offset.saturating_neg().saturating_mul(step)),
    };
    let rest: Vec<usize> = (0..array.ndim()).filter(|&d| d != first && d != second).collect();
    let mut places = array.places.permuted(&rest);
    if length > 0 {
        places.offset += shift;
    }
    places.shape.push(length);
    places.strides.push(step.saturating_add(along));
    Ok(object.read_only_view(array.at(places)))
}

fn astype(call: &mut Call) -> Result<Value> {
    let array = this(call)?;
    let descr = descr_of(&call.value(1))?;
    let rule = crate::ask::casting(&call.value(3), true)?;
    if !rule.allows(array.descr, descr) {
        bail!(
            TypeError,
            "Cannot cast array data from {} to {} according to the rule '{}'",
            format!("dtype({})", array.descr.inner_repr()),
            format!("dtype({})", descr.inner_repr()),
            rule.name()
        );
    }
    let order = order(&call.value(2))?;
    if array.descr.kind() == Kind::Complex && descr.kind() < Kind::Complex && descr.kind() != Kind::Bool {
        call.state.warn_once("ComplexWarning", "Casting complex values to real discards the imaginary part");
    }
    let unchanged = descr == array.descr
        && match order {
            Order::C => array.is_c(),
            Order::F => array.is_f(),
            _ => true,
        };
    if unchanged && !truth(&call.value(5))? && NdArray::of(&call.value(0)).is_some() {
        return Ok(call.value(0));
    }
    let copy = array.copied(descr, order)?;
    crate::settings::report("cast", crate::ufunc::cast_faults(&array, &copy)?, false)?;
    match Number::in_value(&call.value(0)) {
        Some(_) => result(copy),
        None => Ok(object(call)?.copy_of_class(copy)),
    }
}

fn copy(call: &mut Call) -> Result<Value> {
    let array = this(call)?;
    let copy = array.copied(array.descr, order(&call.value(1))?)?;
    match Number::in_value(&call.value(0)) {
        Some(_) => result(copy),
        None => Ok(object(call)?.copy_of_class(copy)),
    }
}

fn view(call: &mut Call) -> Result<Value> {
    let object = object(call)?;
    let array = object.array();
    if let (Value::Type("numpy.ndarray"), _) | (_, Value::Type("numpy.ndarray")) = (call.value(1), call.value(2))
        && object.mapping().is_some()
    {
        return Ok(object.plain());
    }
    let dtype = match (call.value(1), call.value(2)) {
        (Value::Type("numpy.ndarray"), _) | (Value::None, _) => None,
        (dtype, _) => Some(descr_of(&dtype)?),
    };
    let viewed = match dtype {
        None => array.clone(),
        Some(descr) => viewed_as(&array, descr)?,
    };
    shown(call, &object, viewed)
}

fn fill(call: &mut Call) -> Result<Value> {
    let object = object(call)?;
    object.check_writeable("assignment destination")?;
    let array = object.array();
    array.fill(convert::pack(&call.value(1), array.descr)?)?;
    Ok(Value::None)
}

fn item(call: &mut Call) -> Result<Value> {
    let array = this(call)?;
    let Some(at) = spread(&call.value(1))? else {
        if array.count() != 1 {
            bail!(ValueError, "can only convert an array of size 1 to a Python scalar");
        }
        return Ok(array.scalars()?.first().map_or(Value::None, |value| Value::from(*value)));
    };
    let offset = match &at[..] {
        [number] if array.ndim() != 1 => {
            let count = array.count();
            let place = if *number < 0 { number.saturating_add(count) } else { *number };
            if !(0..count).contains(&place) {
                bail!(IndexError, "index {number} is out of bounds for size {count}");
            }
            crate::flat::offset_of(&array.places, place)
        }
        numbers if numbers.len() == array.ndim() => {
            let mut offset = array.places.offset;
            for (axis, (&number, &size)) in numbers.iter().zip(array.shape()).enumerate() {
                let place = if number < 0 { number.saturating_add(size) } else { number };
                if !(0..size).contains(&place) {
                    bail!(IndexError, "index {number} is out of bounds for axis {axis} with size {size}");
                }
                offset += place * array.places.strides[axis];
            }
            offset
        }
        _ => bail!(ValueError, "incorrect number of indices for array"),
    };
    array.get(offset).map(Value::from)
}

fn tolist(call: &mut Call) -> Result<Value> {
    nested_list(&this(call)?.readable()?)
}

fn tobytes(call: &mut Call) -> Result<Value> {
    let array = this(call)?;
    let wanted = match order(&call.value(1))? {
        Order::Any | Order::Keep if array.is_f() && !array.is_c() => Order::F,
        Order::F => Order::F,
        _ => Order::C,
    };
    let copy = array.copied(array.descr, wanted)?;
    Buffer::bytes(&copy.storage.to_vec()?).map(Value::Buffer)
}

fn tofile(call: &mut Call) -> Result<Value> {
    match call.value(2) {
        Value::Str(sep) if sep.is_empty() => {}
        _ => bail!(NotImplementedError, "tofile() with a separator (text files) is not supported here"),
    }
    let array = this(call)?;
    let bytes = array.copied(array.descr, Order::C)?.storage.to_vec()?;
    let file = call.value(1);
    if let Value::Object(object) = &file
        && let Some(stream) = object.as_any().downcast_ref::<ByteStream>()
    {
        return stream.write(&bytes).map(|()| Value::None);
    }
    System::replace_contents(&to_write(Path::new(call.str(1)?)), &bytes)
        .map_err(|error| Error::runtime(error.to_string()))?;
    Ok(Value::None)
}

fn byteswap(call: &mut Call) -> Result<Value> {
    let array = this(call)?;
    let swapped = Array { descr: array.descr.with_swapped(!array.descr.swapped), ..array.clone() };
    // The same numbers in the other order are the reversed bytes.
    let copy = array.copied(swapped.descr, Order::Keep)?;
    let reversed = Array { descr: array.descr, ..copy };
    if truth(&call.value(1))? {
        object(call)?.check_writeable("array to be byte-swapped")?;
        array.assign(&reversed)?;
        return Ok(call.value(0));
    }
    match Number::in_value(&call.value(0)) {
        Some(_) => result(reversed),
        None => Ok(object(call)?.copy_of_class(reversed)),
    }
}

fn reduction(call: &mut Call, ufunc: &str, has_dtype: bool) -> Result<Value> {
    let from = 2 + usize::from(has_dtype);
    let asked = Reduction {
        axis: Some(call.value(1)),
        dtype: if has_dtype { call.value(2) } else { Value::None },
        out: call.value(from),
        keepdims: truth(&call.value(from + 1))?,
        initial: Some(call.value(from + 2)).filter(|initial| !matches!(initial, Value::None)),
        mask: call.value(from + 3),
    };
    reduce(ufunc, &call.value(0), &asked)
}

fn test(call: &mut Call, ufunc: &str) -> Result<Value> {
    let asked = Reduction {
        axis: Some(call.value(1)),
        out: call.value(2),
        keepdims: truth(&call.value(3))?,
        mask: call.value(4),
        ..Reduction::default()
    };
    reduce(ufunc, &call.value(0), &asked)
}

/// Writes a result to `out` if there is one, and restores the dimension that was reduced if asked.
fn delivered(found: Array, out: &Value) -> Result<Value> {
    match output(out)? {
        None => result(found),
        Some(target) => {
            if target.shape() != found.shape() {
                bail!(ValueError, "output array does not match result of np.argmax.");
            }
            target.assign(&found)?;
            Ok(out.clone())
        }
    }
}

fn extreme(call: &mut Call, largest: bool) -> Result<Value> {
    let array = this(call)?;
    let name = if largest { "argmax" } else { "argmin" };
    let keepdims = truth(&call.value(3))?;
    let (lines, axis) = match call.value(1) {
        Value::None => (sorting::flat(&array)?, 0),
        _ if array.ndim() == 0 => (sorting::flat(&array)?, 0),
        axis => (array.clone(), strided::axis(integer(&axis)?, array.ndim())?),
    };
    if lines.shape()[axis] == 0 {
        bail!(ValueError, "attempt to get {name} of an empty sequence");
    }
    let mut found = sorting::extreme(&lines, axis, largest)?;
    if keepdims {
        let mut shape = array.places.shape.clone();
        match call.value(1) {
            Value::None => shape.iter_mut().for_each(|size| *size = 1),
            // A scalar has no dimension to keep.
            _ => shape.iter_mut().skip(axis).take(1).for_each(|size| *size = 1),
        }
        found = found.at(Strided::dense(&shape, found.itemsize(), false));
    }
    delivered(found, &call.value(2))
}

fn cumulated(call: &mut Call, ufunc: &str) -> Result<Value> {
    let (value, axis) = match call.value(1) {
        Value::None => (NdArray::value(sorting::flat(&this(call)?)?), Value::Int(0)),
        axis => (call.value(0), axis),
    };
    accumulate(ufunc, &value, &axis, &call.value(2), &call.value(3))
}

fn round(call: &mut Call) -> Result<Value> {
    if !call.is_none(2) {
        return in_python(call, "methods.round");
    }
    crate::operate::rounded(call.state, &call.value(0), &call.value(1))
}

fn conjugate(call: &mut Call) -> Result<Value> {
    let array = this(call)?;
    match array.descr.kind() {
        Kind::Complex => call_ufunc::apply("conjugate", &[call.value(0)], None),
        _ => Ok(call.value(0)),
    }
}

fn nonzero(call: &mut Call) -> Result<Value> {
    let array = this(call)?;
    if array.ndim() == 0 {
        bail!(
            ValueError,
            "Calling nonzero on 0d arrays is not allowed. Use np.atleast_1d(scalar).nonzero() instead.\nIf the context of \
             this error is of the form `arr[nonzero(cond)]`, just use `arr[cond]`."
        );
    }
    index::nonzero_values(&array)
}

/// Checks the `kind` of a sort. All kinds sort alike here, and stably.
fn check_kind(value: &Value) -> Result<()> {
    match value {
        Value::None => Ok(()),
        Value::Str(kind) if matches!(kind.chars().next(), Some('q' | 'Q' | 'h' | 'H' | 'm' | 'M' | 's' | 'S')) => {
            Ok(())
        }
        Value::Str(kind) => bail!(ValueError, "sort kind must be one of 'quick', 'heap', or 'stable' (got '{kind}')"),
        other => bail!(TypeError, "sort kind must be str, not {}", other.type_name()),
    }
}

fn sort(call: &mut Call) -> Result<Value> {
    let object = object(call)?;
    check_kind(&call.value(2))?;
    object.check_writeable("sort array")?;
    let array = object.array();
    let axis = strided::axis(integer(&call.value(1))?, array.ndim())?;
    sorting::sort(&array, axis)?;
    Ok(Value::None)
}

fn argsort(call: &mut Call) -> Result<Value> {
    let array = this(call)?;
    check_kind(&call.value(2))?;
    let (array, axis) = match call.value(1) {
        Value::None => (sorting::flat(&array)?, 0),
        // A scalar has one element.
        Value::Int(-1 | 0) if array.ndim() == 0 => (sorting::flat(&array)?, 0),
        axis => {
            let axis = strided::axis(integer(&axis)?, array.ndim())?;
            (array, axis)
        }
    };
    let stable = match (call.value(2), call.value(4)) {
        (Value::None, Value::None) => false,
        (Value::Str(kind), _) => !kind.starts_with(['q', 'Q']),
        (_, stable) => truth(&stable)?,
    };
    Ok(object(call)?.copy_of_class(sorting::argsort(&array, axis, stable)?))
}

fn searchsorted(call: &mut Call) -> Result<Value> {
    let array = this(call)?;
    if array.ndim() != 1 {
        bail!(ValueError, "object too deep for desired array");
    }
    let right = match call.value(2) {
        Value::Str(side) if side.starts_with(['l', 'L']) => false,
        Value::Str(side) if side.starts_with(['r', 'R']) => true,
        Value::Str(side) => bail!(ValueError, "search side must be 'left' or 'right' (got '{side}')"),
        other => bail!(TypeError, "search side must be str, not {}", other.type_name()),
    };
    let values = convert::array(&call.value(1), None)?;
    let common = Descr::native(crate::promoted(array.descr.dtype, values.descr.dtype));
    let mut line = array.copied(common, Order::C)?.scalars()?;
    if !call.is_none(3) {
        let sorter = convert::array(&call.value(3), None)?;
        if !sorter.descr.is_integral() {
            bail!(TypeError, "sorter must only contain integers");
        }
        if sorter.count() != array.count() {
            bail!(ValueError, "sorter.size must equal a.size");
        }
        let pick = |at: &Scalar| usize::try_from(at.to_i64()).ok().and_then(|at| line.get(at).copied());
        let sorted = sorter.scalars()?.iter().map(pick).collect::<Option<Vec<Scalar>>>();
        line = sorted.ok_or_else(|| Error::value("Sorter index out of range."))?;
    }
    let found = sorting::searchsorted(&line, &values.copied(common, Order::C)?, right)?;
    result(found)
}

fn resize(call: &mut Call) -> Result<Value> {
    let object = object(call)?;
    let Some(shape) = spread(&call.value(1))? else { return Ok(Value::None) };
    let array = object.array();
    if shape.iter().any(|&size| size < 0) {
        bail!(ValueError, "negative dimensions not allowed");
    }
    if !array.is_c() && !array.is_f() {
        bail!(ValueError, "resize only works on single-segment arrays");
    }
    let count = strided::checked_count(&shape, array.itemsize())?;
    if count != array.count() && object.base().is_some() {
        bail!(ValueError, "cannot resize this array: it does not own its data");
    }
    if !call.is_none(2) && truth(&call.value(2))? && object.is_shared() {
        bail!(
            ValueError,
            "cannot resize an array that references or is referenced\nby another array in this way.\nUse the np.resize \
             function or refcheck=False"
        );
    }
    let resized = Array::zeros(&shape, array.descr, false)?;
    let (from, to) = (array.memory()?, resized.storage.data()?);
    for (i, offset) in array.offsets().enumerate().take(limits::count(count)) {
        tensor::interrupt::check_at(i)?;
        resized.write_at(&to, (i * array.itemsize()) as i64, array.read_at(&from, offset));
    }
    object.show(resized);
    Ok(Value::None)
}

fn setflags(call: &mut Call) -> Result<Value> {
    let object = object(call)?;
    if !call.is_none(1) {
        set_writeable(&object, truth(&call.value(1))?)?;
    }
    if !call.is_none(3) && truth(&call.value(3))? {
        bail!(ValueError, "cannot set WRITEBACKIFCOPY flag to True");
    }
    Ok(Value::None)
}

fn array(call: &mut Call) -> Result<Value> {
    match dtype_argument(&call.value(1))? {
        Some(descr) => {
            let array = this(call)?;
            if array.descr == descr { Ok(call.value(0)) } else { array.copied(descr, Order::Keep).map(NdArray::value) }
        }
        None => match Number::in_value(&call.value(0)) {
            Some(number) => Ok(NdArray::value(number.array()?)),
            None => Ok(call.value(0)),
        },
    }
}

fn number(call: &Call, name: &str) -> Result<Number> {
    Number::in_value(&call.value(0))
        .ok_or_else(|| Error::attribute(format!("'numpy.ndarray' object has no attribute '{name}'")))
}

fn is_integer(call: &mut Call) -> Result<Value> {
    let number = number(call, "is_integer")?;
    match number.value {
        Scalar::Float(f) => Ok(Value::Bool(f.is_finite() && f.fract() == 0.0)),
        Scalar::Complex(_) => bail!(AttributeError, "'{}' object has no attribute 'is_integer'", number.type_name()),
        _ => Ok(Value::Bool(true)),
    }
}

/// Calls a method that numbers of Python have.
fn of_python(call: &mut Call, name: &str) -> Result<Value> {
    let number = number(call, name)?;
    let lacks = || {
        let class = crate::dtypes::class_of(number.descr);
        Error::attribute(format!("'{class}' object has no attribute '{name}'"))
    };
    // Only the float of Python's own size has this method.
    if name == "hex" && number.descr != Descr::DOUBLE {
        return Err(lacks());
    }
    objects::calling::call_method(call.state, &number.python(), name, Vec::new(), Vec::new()).map_err(|error| {
        match error.kind {
            tensor::ErrorKind::AttributeError => lacks(),
            _ => error,
        }
    })
}
