//! Functions of `numpy` that choose and join elements of several arrays. Follows
//! <https://numpy.org/doc/2.4/reference/routines.array-manipulation.html>.

use crate::array::{Array, Order};
use crate::ask::{casting, common};
use crate::convert::{self, dtype_argument};
use crate::create::integer;
use crate::descr::{Casting, Descr, promoted};
use crate::index;
use crate::ndarray::NdArray;
use crate::strided::{Strided, broadcast, checked_count};
use call::{Call, Row, function};
use tensor::{DType, Error, Result, Scalar, bail, interrupt, limits};
use value::Value;
use value::equality::number;

pub(crate) const ROWS: &[Row] = &[
    function(
        "numpy.copyto(any dst, any src, any casting=\"same_kind\", any where=True) -> None",
        copyto,
        "Copies elements to an array, broadcast, where a mask is true.",
    )
    .python("numpy.copyto"),
    function(
        "numpy.where(any condition, any x=None, any y=None) -> any",
        chosen,
        "Chooses elements of two arrays by a condition; with the condition alone, returns where it is true.",
    )
    .python("numpy.where"),
    function(
        "numpy.concatenate(any arrays, any axis=0, any out=None, *, any dtype=None, any casting=\"same_kind\") -> any",
        concatenate,
        "Joins arrays along an existing dimension.",
    )
    .python("numpy.concatenate"),
    function(
        "numpy.bincount(any x, any weights=None, any minlength=0) -> any",
        bincount,
        "Counts how often each number occurs.",
    )
    .python("numpy.bincount"),
];

fn target(value: &Value, function: &str) -> Result<std::rc::Rc<NdArray>> {
    let this = NdArray::of(value).ok_or_else(|| {
        Error::type_error(format!("{function}() argument 1 must be a numpy.ndarray, not {}", value.type_name()))
    })?;
    this.check_writeable("assignment destination")?;
    Ok(this)
}

fn copyto(call: &mut Call) -> Result<Value> {
    let this = target(&call.value(0), "copyto")?;
    let array = this.array();
    let weak = number(&call.value(1)).is_some();
    let source = match weak {
        true => index::source(&call.value(1), array.descr)?,
        false => convert::array(&call.value(1), None)?,
    };
    let rule = casting(&call.value(2), true)?;
    let natural = if weak { convert::array(&call.value(1), None)?.descr } else { source.descr };
    // A number of a script may become a number of its kind, whatever the size.
    let fits = natural.kind() <= array.descr.kind() || natural.is_integral() && array.descr.is_integral();
    if weak && !fits && !rule.allows(natural, array.descr) {
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
    let rule = casting(&call.value(4), true)?;
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
    // Like NumPy, takes the widest unsigned numbers too.
    let is_taken = array.descr.dtype == tensor::DType::UInt64 || Casting::Safe.allows(array.descr, Descr::LONG);
    if array.count() > 0 && !is_taken {
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
