//! Arguments of calls: names and defaults as in NumPy's signatures, sizes, parameters that are numbers or arrays.

use super::table::{Argument, Parameter};
use crate::array::{Array, Order};
use crate::convert;
use crate::descr::{Casting, Descr};
use crate::strided::{MOST_DIMS, show};
use call::State;
use tensor::{Error, ErrorKind, Result, Scalar, bail, limits};
use value::{Keywords, Value};

/// The parameters of a method.
pub(super) struct Signature<'s> {
    method: &'s str,
    /// Names, and whether an argument is required.
    parameters: Vec<(&'s str, bool)>,
    /// The number of parameters that can be given by position.
    positional: usize,
}

impl<'s> Signature<'s> {
    /// Reads names separated by commas. A name with `?` is optional; `*` comes before those that are keywords only.
    pub(super) fn parse(method: &'s str, text: &'s str) -> Signature<'s> {
        let mut positional = None;
        let mut parameters = Vec::new();
        for name in text.split(", ").filter(|name| !name.is_empty()) {
            match name {
                "*" => positional = Some(parameters.len()),
                _ => parameters.push((name.trim_end_matches('?'), !name.ends_with('?'))),
            }
        }
        let positional = positional.unwrap_or(parameters.len());
        Signature { method, parameters, positional }
    }

    /// Returns the signature of a distribution: its parameters, then `size`.
    pub(super) fn of(method: &'s str, parameters: &'s [Parameter]) -> Signature<'s> {
        let names = parameters.iter().map(|parameter| (parameter.name, parameter.default.is_none()));
        let parameters: Vec<(&str, bool)> = names.chain([("size", false)]).collect();
        Signature { method, positional: parameters.len(), parameters }
    }

    /// Assigns arguments to parameters.
    ///
    /// # Errors
    /// TypeError in NumPy's words if they do not fit.
    pub(super) fn bind(&self, args: &[Value], keywords: &Keywords) -> Result<Args> {
        let method = self.method;
        let required = self.parameters.iter().filter(|(_, required)| *required).count();
        let count = |bound: &str, expected: usize, given: usize| {
            let plural = if expected == 1 { "" } else { "s" };
            let bound = if required == self.parameters.len() { "exactly" } else { bound };
            Error::type_error(format!(
                "{method}() takes {bound} {expected} positional argument{plural} ({given} given)"
            ))
        };
        if args.len() > self.positional {
            return Err(count("at most", self.positional, args.len()));
        }
        let mut values: Vec<Option<Value>> = args.iter().cloned().map(Some).collect();
        values.resize(self.parameters.len(), None);
        for (keyword, value) in keywords {
            match self.parameters.iter().position(|(name, _)| **name == **keyword) {
                None => bail!(TypeError, "{method}() got an unexpected keyword argument '{keyword}'"),
                Some(at) => match values.get_mut(at) {
                    Some(place @ None) => *place = Some(value.clone()),
                    _ => bail!(TypeError, "{method}() got multiple values for keyword argument '{keyword}'"),
                },
            }
        }
        let is_missing = |((_, required), value): (&(&str, bool), &Option<Value>)| *required && value.is_none();
        if let Some(missing) = self.parameters.iter().zip(&values).position(is_missing) {
            return Err(count("at least", required, missing));
        }
        Ok(Args { values })
    }
}

/// The arguments of a call, by the positions of parameters.
pub(super) struct Args {
    values: Vec<Option<Value>>,
}

impl Args {
    /// Returns an argument; `None` if it was not given.
    pub(super) fn value(&self, index: usize) -> Value {
        self.or(index, Value::None)
    }

    pub(super) fn or(&self, index: usize, default: Value) -> Value {
        self.values.get(index).cloned().flatten().unwrap_or(default)
    }

    /// Returns whether there is an argument other than `None`.
    pub(super) fn is_given(&self, index: usize) -> bool {
        !matches!(self.value(index), Value::None)
    }

    pub(super) fn truth(&self, index: usize, default: bool) -> Result<bool> {
        match self.values.get(index) {
            Some(Some(value)) => value::equality::truth(value),
            _ => Ok(default),
        }
    }
}

/// Reads a `size`.
///
/// # Errors
/// TypeError in NumPy's words.
pub(super) fn shape(size: &Value) -> Result<Vec<i64>> {
    match size {
        Value::Str(text) if !text.is_empty() => bail!(TypeError, "'str' object cannot be interpreted as an integer"),
        Value::Bool(truth) => {
            let shown = if *truth { "True" } else { "False" };
            bail!(TypeError, "expected a sequence of integers or a single integer, got '{shown}'")
        }
        _ => {
            let shape = convert::shape(size)?;
            crate::strided::checked_count(&shape, 1)?;
            Ok(shape)
        }
    }
}

/// Reads a `size` of which `None` stands for a single number.
pub(super) fn size(value: &Value) -> Result<Option<Vec<i64>>> {
    if let Value::None = value { Ok(None) } else { shape(value).map(Some) }
}

/// Returns the shape of shapes broadcast together. `numbers` are those by which the message names them.
///
/// # Errors
/// ValueError in NumPy's words.
pub(super) fn broadcast(shapes: &[&[i64]]) -> Result<Vec<i64>> {
    let ndim = shapes.iter().map(|shape| shape.len()).max().unwrap_or(0);
    let mut out = vec![1; ndim];
    for (d, wanted) in out.iter_mut().enumerate() {
        let mut from = 0;
        for (number, shape) in shapes.iter().enumerate() {
            let size = (d + shape.len()).checked_sub(ndim).and_then(|d| shape.get(d)).copied().unwrap_or(1);
            if size == 1 || size == *wanted {
                continue;
            }
            if *wanted != 1 {
                let plain = |shape: &[i64]| show(shape).replace(',', ", ").replace(", )", ",)");
                bail!(
                    ValueError,
                    "shape mismatch: objects cannot be broadcast to a single shape.  Mismatch is between arg {from} with \
                     shape {} and arg {number} with shape {}.",
                    plain(shapes.get(from).copied().unwrap_or_default()),
                    plain(shape)
                );
            }
            (*wanted, from) = (size, number);
        }
    }
    Ok(out)
}

/// Like [`broadcast`] for the operands of an arithmetic function, whose message differs.
pub(super) fn broadcast_operands(a: &[i64], b: &[i64]) -> Result<Vec<i64>> {
    broadcast(&[a, b]).map_err(|_| {
        Error::value(format!("operands could not be broadcast together with shapes {} {} ", show(a), show(b)))
    })
}

/// A parameter's values, in `float64` or `int64`.
pub(super) struct Given {
    pub array: Array,
    integer: bool,
}

impl Given {
    /// Reads the argument for a parameter.
    ///
    /// # Errors
    /// TypeError and ValueError in NumPy's words for values that are not numbers.
    pub(super) fn read(value: &Value, integer: bool) -> Result<Given> {
        let array = if integer { integral(value)? } else { real(value)? };
        Ok(Given { array, integer })
    }

    pub(super) fn shape(&self) -> &[i64] {
        self.array.shape()
    }

    pub(super) fn is_scalar(&self) -> bool {
        self.array.ndim() == 0
    }

    /// Returns the values as `f64`, for checks: all of a shape, or a single one if there are no dimensions.
    pub(super) fn floats(&self, shape: &[i64]) -> Result<Vec<f64>> {
        let wide =
            if self.is_scalar() { self.array.clone() } else { self.array.at(self.array.places.broadcast_to(shape)) };
        Ok(wide.scalars()?.into_iter().map(Scalar::to_f64).collect())
    }

    /// Returns the values for draws. The shape must be one that the parameter broadcasts to.
    pub(super) fn arguments(&self, shape: &[i64]) -> Result<Vec<Argument>> {
        let wide =
            if self.is_scalar() { self.array.clone() } else { self.array.at(self.array.places.broadcast_to(shape)) };
        let one = |number: Scalar| match self.integer {
            true => Argument::Integer(number.to_i64()),
            false => Argument::Real(number.to_f64()),
        };
        Ok(wide.scalars()?.into_iter().map(one).collect())
    }
}

/// Returns the error for text that is not a number.
///
/// Lists nested deeper than an array can be are not searched: a list may contain itself.
fn not_a_number(value: &Value, integer: bool, depth: usize) -> Option<Error> {
    match value {
        Value::Str(text) if integer => {
            Some(Error::value(format!("invalid literal for int() with base 10: '{}'", &**text)))
        }
        Value::Str(text) => Some(Error::value(format!("could not convert string to float: '{}'", &**text))),
        _ if depth > MOST_DIMS => None,
        Value::List(items) => items.to_vec().iter().find_map(|item| not_a_number(item, integer, depth + 1)),
        Value::Tuple(items) => items.iter().find_map(|item| not_a_number(item, integer, depth + 1)),
        _ => None,
    }
}

/// Converts a value to an array of `float64`, without losing more than precision.
pub(super) fn real(value: &Value) -> Result<Array> {
    if let Some(held) = convert::held(value)? {
        cast(&held, Descr::DOUBLE)?;
        return held.copied(Descr::DOUBLE, Order::C);
    }
    match value {
        Value::None => bail!(TypeError, "must be real number, not NoneType"),
        Value::Complex(_) | Value::Dict(_) | Value::Set(_) => {
            bail!(TypeError, "float() argument must be a string or a real number, not '{}'", value.type_name())
        }
        _ => {}
    }
    if let Some(error) = not_a_number(value, false, 0) {
        return Err(error);
    }
    convert::array(value, Some(Descr::DOUBLE))
}

/// Converts a value to an array of `int64`; fractions are dropped.
fn integral(value: &Value) -> Result<Array> {
    if let Some(held) = convert::held(value)? {
        return held.copied(Descr::LONG, Order::C);
    }
    match value {
        Value::None | Value::Complex(_) | Value::Dict(_) | Value::Set(_) => bail!(
            TypeError,
            "int() argument must be a string, a bytes-like object or a real number, not '{}'",
            value.type_name()
        ),
        _ => {}
    }
    if let Some(error) = not_a_number(value, true, 0) {
        return Err(error);
    }
    convert::array(value, Some(Descr::LONG))
}

/// Fails unless a cast keeps values.
///
/// # Errors
/// TypeError in NumPy's words.
pub(super) fn cast(array: &Array, to: Descr) -> Result<()> {
    if Casting::Safe.allows(array.descr, to) {
        return Ok(());
    }
    let what = if array.ndim() == 0 { "scalar" } else { "array data" };
    bail!(
        TypeError,
        "Cannot cast {what} from dtype('{}') to dtype('{}') according to the rule 'safe'",
        array.descr.name(),
        to.name()
    )
}

/// Reads a count or another integer, in the words of C extensions.
pub(super) fn c_long(value: &Value) -> Result<i64> {
    match value {
        Value::Float(number) => Ok(*number as i64),
        _ => match objects::plain::special::index(value) {
            Ok(Value::Int(number)) => Ok(number),
            Ok(_) => Err(Error::new(ErrorKind::OverflowError, "Python int too large to convert to C long")),
            Err(_) => bail!(TypeError, "an integer is required"),
        },
    }
}

/// Bounds of integers, each clamped to 128 bits.
pub(super) struct Bounds {
    pub shape: Vec<i64>,
    pub values: Vec<i128>,
}

/// Reads bounds of integers: numbers, whose fractions are dropped, or arrays of them.
///
/// # Errors
/// TypeError, ValueError and OverflowError in NumPy's words.
pub(super) fn bounds(value: &Value) -> Result<Bounds> {
    bounds_within(value, 0)
}

fn bounds_within(value: &Value, depth: usize) -> Result<Bounds> {
    if let Some(array) = convert::held(value)? {
        let values = array.scalars()?.into_iter().map(whole).collect::<Result<_>>()?;
        return Ok(Bounds { shape: array.shape().to_vec(), values });
    }
    let single = |value: i128| Ok(Bounds { shape: Vec::new(), values: vec![value] });
    let clamped = |number: &num_bigint::BigInt| {
        let most = if value::integers::is_negative(number) { i128::MIN / 2 } else { i128::MAX / 2 };
        num_traits::ToPrimitive::to_i128(number).unwrap_or(most)
    };
    match value {
        Value::Bool(truth) => single(i128::from(*truth)),
        Value::Int(number) => single(i128::from(*number)),
        Value::BigInt(number) => single(clamped(number)),
        Value::Float(number) => single(whole(Scalar::Float(*number))?),
        Value::Str(text) => match text.trim().parse::<i128>() {
            Ok(number) => single(number),
            Err(_) => bail!(ValueError, "invalid literal for int() with base 10: {}", State::current()?.repr(value)?),
        },
        // Reports lists nested deeper than an array can be, and those that contain themselves.
        Value::List(_) | Value::Tuple(_) if depth > MOST_DIMS => match convert::array(value, None) {
            Err(error) => Err(error),
            Ok(_) => bail!(ValueError, "the bounds are nested too deeply"),
        },
        Value::List(_) | Value::Tuple(_) | Value::Range(_) => {
            if let Value::Range(range) = value {
                limits::room_for::<Value>(range.count())?;
            }
            let items = value.sequence().unwrap_or_default();
            let parts = items.iter().map(|item| bounds_within(item, depth + 1)).collect::<Result<Vec<Bounds>>>()?;
            let inner = parts.first().map(|part| part.shape.clone()).unwrap_or_default();
            if parts.iter().any(|part| part.shape != inner) {
                // Reports the shape in NumPy's words.
                convert::array(value, None)?;
            }
            let shape = [items.len() as i64].into_iter().chain(inner).collect();
            Ok(Bounds { shape, values: parts.into_iter().flat_map(|part| part.values).collect() })
        }
        other => bail!(
            TypeError,
            "int() argument must be a string, a bytes-like object or a real number, not '{}'",
            other.type_name()
        ),
    }
}

fn whole(number: Scalar) -> Result<i128> {
    match number {
        Scalar::UInt(number) => Ok(i128::from(number)),
        Scalar::Float(f) if f.is_nan() => bail!(ValueError, "cannot convert float NaN to integer"),
        Scalar::Float(f) if f.is_infinite() => {
            Err(Error::new(ErrorKind::OverflowError, "cannot convert float infinity to integer"))
        }
        Scalar::Float(f) => Ok((f.trunc() as i128).clamp(i128::MIN / 2, i128::MAX / 2)),
        Scalar::Complex(_) => {
            bail!(TypeError, "int() argument must be a string, a bytes-like object or a real number, not 'complex'")
        }
        other => Ok(i128::from(other.to_i64())),
    }
}
