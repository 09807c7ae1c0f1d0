//! `choice`, `permutation`, `shuffle` and `permuted`: methods that choose or rearrange items.

use super::arguments::{self, Args, bounds};
use super::classes::Random;
use super::{Api, choose};
use crate::array::{Array, Order};
use crate::ndarray::{NdArray, Number as NumpyNumber};
use crate::{convert, create, index, strided};
use call::State;
use std::any::Any;
use tensor::interrupt::check_at;
use tensor::memory::set;
use tensor::{DType, Error, ErrorKind, Result, Scalar, bail};
use value::Value;

/// Returns the count that an integer for `choice` or `permutation` names.
fn count_of(value: &Value) -> Option<i128> {
    match value {
        Value::Bool(truth) => Some(i128::from(*truth)),
        Value::Int(count) => Some(i128::from(*count)),
        Value::BigInt(_) => bounds(value).ok()?.values.first().copied(),
        _ => {
            let number = NumpyNumber::in_value(value)?;
            number.descr.is_integral().then(|| i128::from(number.value.to_i64()))
        }
    }
}

/// Returns whether a value can only be an element: text, `None`, a number.
fn is_element(value: &Value) -> bool {
    matches!(value, Value::Str(_) | Value::None | Value::Float(_) | Value::Complex(_) | Value::Dict(_) | Value::Set(_))
}

/// `choice(a, size=None, replace=True, p=None)`, in `Generator` with `axis=0` and `shuffle=True`.
pub(super) fn choice(random: &Random, args: &Args) -> Result<Value> {
    let api = random.api;
    let a = args.value(0);
    let no_population = || match api {
        Api::RandomState => Error::value("a must be 1-dimensional or an integer"),
        Api::Generator => {
            let shown = format!("<class '{}'>", a.class_name());
            Error::value(format!("a must be a sequence or an integer, not {shown}"))
        }
    };
    let zero_dimensional = NdArray::of(&a).map(|a| a.array()).filter(|a| a.ndim() == 0);
    let number = match &zero_dimensional {
        Some(array) if array.descr.is_integral() => Some(i128::from(array.item()?.to_i64())),
        Some(_) => return Err(no_population()),
        None => count_of(&a),
    };
    let axis = create::integer(&args.or(4, Value::Int(0)))?;
    let (population, items) = match number {
        Some(count) => (count, None),
        None if is_element(&a) || NumpyNumber::in_value(&a).is_some() => return Err(no_population()),
        None => {
            let array = convert::array(&a, None)?;
            if api == Api::RandomState && array.ndim() != 1 {
                bail!(ValueError, "a must be 1-dimensional");
            }
            let from_front = if axis < 0 { axis.saturating_add(array.ndim() as i64) } else { axis };
            let length = usize::try_from(from_front).ok().and_then(|axis| array.shape().get(axis).copied());
            let Some(length) = length else { bail!(IndexError, "tuple index out of range") };
            (i128::from(length), Some((array, from_front as usize)))
        }
    };
    if let Value::Str(text) = args.value(1) {
        bail!(ValueError, "invalid literal for int() with base 10: np.str_('{}')", &*text);
    }
    let size = arguments::size(&args.value(1))?;
    let samples = match &size {
        None => 1,
        Some(shape) => tensor::limits::count(strided::checked_count(shape, 8)?),
    };
    choose::check_population(api, population, items.is_some(), samples)?;
    if population > i128::from(i64::MAX) {
        bail!(ValueError, "high is out of bounds for int64");
    }
    let population = usize::try_from(population).unwrap_or(0);
    let chances = match args.value(3) {
        Value::None => None,
        p => Some(chances(api, &p, population)?),
    };
    let replace = args.truth(2, true)?;
    let chosen = match (&chances, replace) {
        (Some(chances), true) => random.with(|source| choose::weighted(source.bits, chances, samples))?,
        (None, true) => random.with(|source| choose::with_replacement(source.bits, api, population, samples))?,
        (chances, false) => {
            choose::check_sample(api, population, samples, chances.as_deref())?;
            let is_shuffled = args.truth(5, true)?;
            random.with(|source| match (chances, api) {
                (Some(chances), _) => choose::weighted_without_replacement(source.bits, chances, samples),
                (None, Api::RandomState) => choose::legacy_without_replacement(source.bits, population, samples),
                (None, Api::Generator) => choose::without_replacement(source.bits, population, samples, is_shuffled),
            })?
        }
    };
    match (items, size) {
        (None, None) => Ok(Value::Int(chosen.first().copied().unwrap_or(0))),
        (None, Some(shape)) => index::integers(&shape, &chosen).map(NdArray::value),
        (Some((array, axis)), None) => {
            let taken = taken(&array, axis, &chosen)?;
            let single = taken.places.select(axis, 0);
            convert::result(taken.at(single))
        }
        (Some((array, axis)), Some(shape)) => {
            let taken = taken(&array, axis, &chosen)?;
            let whole: Vec<i64> = [&array.shape()[..axis], &shape, &array.shape()[axis + 1..]].concat();
            let places = strided::Strided::dense(&whole, taken.itemsize(), false);
            Ok(NdArray::value(taken.at(places)))
        }
    }
}

/// Reads and checks `p` of `choice`.
fn chances(api: Api, p: &Value, population: usize) -> Result<Vec<f64>> {
    if let Value::Float(_) | Value::Int(_) | Value::Bool(_) = p {
        bail!(TypeError, "object of type '{}' has no len()", p.type_name());
    }
    let array = arguments::real(p)?;
    if array.ndim() != 1 {
        return Err(Error::value(match api {
            Api::RandomState => "'p' must be 1-dimensional",
            Api::Generator => "p must be 1-dimensional",
        }));
    }
    let chances: Vec<f64> = array.scalars()?.into_iter().map(Scalar::to_f64).collect();
    let epsilon = match NdArray::of(p).map(|p| p.array().descr.dtype) {
        Some(DType::Float) => f64::from(f32::EPSILON),
        Some(DType::Half) => 1.0 / 1024.0,
        _ => f64::EPSILON,
    };
    choose::check_chances(api, &chances, population, epsilon)?;
    Ok(chances)
}

/// Returns a row-major copy of the chosen positions along an axis.
fn taken(array: &Array, axis: usize, positions: &[i64]) -> Result<Array> {
    let mut shape = array.shape().to_vec();
    if let Some(size) = shape.get_mut(axis) {
        *size = positions.len() as i64;
    }
    let out = Array::unwritten(&shape, array.descr, false)?;
    for (i, position) in positions.iter().enumerate() {
        check_at(i)?;
        let to = out.at(out.places.select(axis, i as i64));
        to.assign(&array.at(array.places.select(axis, *position)))?;
    }
    Ok(out)
}

/// `permutation(x)`; `axis` is `None` in `RandomState`.
pub(super) fn permutation(random: &Random, x: &Value, axis: Option<i64>) -> Result<Value> {
    if let Some(count) = count_of(x) {
        let count = tensor::limits::count(i64::try_from(count).unwrap_or(i64::MAX));
        tensor::limits::room_for::<i64>(count)?;
        let order = random.with(|source| choose::permutation(source.bits, count))?;
        return index::integers(&[order.len() as i64], &order).map(NdArray::value);
    }
    let no_dimensions = || match axis {
        None => Error::index("x must be an integer or at least 1-dimensional"),
        Some(axis) => strided::axis_error(axis, 0),
    };
    if is_element(x) {
        return Err(no_dimensions());
    }
    let array = convert::array(x, None)?;
    if array.ndim() == 0 {
        return Err(no_dimensions());
    }
    let axis = strided::axis(axis.unwrap_or(0), array.ndim())?;
    let count = tensor::limits::count(array.shape().get(axis).copied().unwrap_or(0));
    let order = random.with(|source| choose::permutation(source.bits, count))?;
    taken(&array, axis, &order).map(NdArray::value)
}

/// `shuffle(x)`, in place.
pub(super) fn shuffle(random: &Random, x: &Value, axis: i64) -> Result<Value> {
    if let Some(object) = NdArray::of(x) {
        let array = object.array();
        if array.ndim() == 0 {
            bail!(TypeError, "len() of unsized object");
        }
        let axis = strided::axis(axis, array.ndim())?;
        if !object.is_writeable() {
            bail!(ValueError, "array is read-only");
        }
        if array.count() > 0 {
            let count = tensor::limits::count(array.shape().get(axis).copied().unwrap_or(0));
            let order = random.with(|source| choose::permutation(source.bits, count))?;
            array.assign(&taken(&array, axis, &order)?)?;
        }
        return Ok(Value::None);
    }
    let state = State::current()?;
    let length = state.call_given(&Value::Function("py.len".into()), vec![x.clone()])?;
    if axis != 0 {
        bail!(NotImplementedError, "Axis argument is only supported on ndarray objects");
    }
    let count = tensor::limits::count(create::integer(&length)?);
    match x {
        Value::List(items) => {
            let order = random.with(|source| choose::permutation(source.bits, count))?;
            let before = items.to_vec();
            let item = |at: &i64| before.get(*at as usize).cloned().unwrap_or(Value::None);
            items.replace(order.iter().map(item).collect())?;
        }
        Value::Tuple(_) | Value::Str(_) | Value::Range(_) if count > 1 => {
            bail!(TypeError, "'{}' object does not support item assignment", x.type_name())
        }
        Value::Set(_) if count > 1 => bail!(TypeError, "'set' object is not subscriptable"),
        Value::Dict(items) => {
            let order = random.with(|source| choose::permutation(source.bits, count))?;
            let key = |at: i64| Value::Int(at);
            let missing = |at: i64| Error::new(ErrorKind::KeyError, at.to_string());
            let before = (0..count as i64).map(|at| items.get(&key(at))?.ok_or_else(|| missing(at)));
            let before = before.collect::<Result<Vec<_>>>()?;
            for (at, from) in order.iter().enumerate() {
                items.insert(key(at as i64), before.get(*from as usize).cloned().unwrap_or(Value::None))?;
            }
        }
        Value::Object(object) => {
            let order = random.with(|source| choose::permutation(source.bits, count))?;
            let session: &dyn Any = &*state;
            let refused = || Error::type_error(format!("'{}' object is not subscriptable", x.type_name()));
            let item = |at: usize| object.item(session, &Value::Int(at as i64)).unwrap_or_else(|| Err(refused()));
            let before = (0..count).map(item).collect::<Result<Vec<_>>>()?;
            for (at, from) in order.iter().enumerate() {
                let item = before.get(*from as usize).cloned().unwrap_or(Value::None);
                object.set_item(session, &Value::Int(at as i64), &item).unwrap_or_else(|| Err(refused()))?;
            }
        }
        _ => {}
    }
    Ok(Value::None)
}

/// `permuted(x, axis=None, out=None)`: each line along the axis by itself.
pub(super) fn permuted(random: &Random, args: &Args) -> Result<Value> {
    let source = convert::array(&args.value(0), None)?;
    let (target, result) = match args.value(2) {
        Value::None => {
            let copy = source.copied(source.descr, Order::Keep)?;
            (copy.clone(), NdArray::value(copy))
        }
        out => {
            let Some(object) = NdArray::of(&out) else { bail!(TypeError, "out must be a numpy array") };
            object.check_writeable("assignment destination")?;
            let array = object.array();
            if array.shape() != source.shape() {
                bail!(ValueError, "out must have the same shape as x");
            }
            arguments::cast(&source, array.descr)?;
            array.assign(&source)?;
            (array, out)
        }
    };
    if source.ndim() == 0 {
        bail!(TypeError, "len() of unsized object");
    }
    let axis = match args.value(1) {
        Value::None => None,
        Value::Float(_) => bail!(TypeError, "integer argument expected, got float"),
        axis => Some(strided::axis(create::integer(&axis)?, source.ndim())?),
    };
    let offsets: Vec<i64> = target.offsets().collect();
    let memory = target.memory()?;
    let bytes = memory.bytes();
    let size = target.itemsize();
    let swap = |a: i64, b: i64| {
        for byte in 0..size {
            let (a, b) = (bytes.get(a as usize + byte), bytes.get(b as usize + byte));
            if let (Some(a), Some(b)) = (a, b) {
                let (x, y) = (tensor::memory::get(a), tensor::memory::get(b));
                set(a, y);
                set(b, x);
            }
        }
    };
    random.with(|source| {
        let mut line = |offsets: &[i64]| -> Result<()> {
            for (i, j) in choose::Swaps::new(source.bits, offsets.len()) {
                check_at(i)?;
                if let (Some(a), Some(b)) = (offsets.get(i), offsets.get(j)) {
                    swap(*a, *b);
                }
            }
            Ok(())
        };
        let Some(axis) = axis else { return line(&offsets) };
        let mut others = target.places.clone();
        let (length, stride) = (others.shape[axis], others.strides[axis]);
        others.shape[axis] = 1;
        if length == 0 {
            return Ok(());
        }
        for start in target.at(others).offsets() {
            let along: Vec<i64> = (0..length).map(|i| start + i * stride).collect();
            line(&along)?;
        }
        Ok(())
    })?;
    Ok(result)
}
