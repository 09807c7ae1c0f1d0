//! `randint`, `random_integers` and `integers`.

use super::Api;
use super::arguments::{self, Args, bounds, broadcast};
use super::bounded::{IntegerType, Integers};
use super::classes::Random;
use super::methods::{check_size, fill, unsupported};
use super::state::long;
use crate::array::Array;
use crate::descr::Descr;
use crate::ndarray::{NdArray, Number as NumpyNumber};
use crate::{convert, strided};
use call::State;
use tensor::{Result, Scalar, bail};
use value::Value;

/// `randint(low, high=None, size=None, dtype=int)`.
pub(super) fn randint(random: &Random, args: &Args) -> Result<Value> {
    let dtype = args.or(3, Value::Type("int"));
    bounded_integers(random, "randint", [&args.value(0), &args.value(1), &args.value(2)], &dtype, false)
}

/// `integers(low, high=None, size=None, dtype=np.int64, endpoint=False)`.
pub(super) fn integers(random: &Random, args: &Args) -> Result<Value> {
    let dtype = args.or(3, Value::Type("numpy.int64"));
    let endpoint = args.truth(4, false)?;
    bounded_integers(random, "integers", [&args.value(0), &args.value(1), &args.value(2)], &dtype, endpoint)
}

pub(super) fn random_integers(random: &Random, args: &Args) -> Result<Value> {
    let (low, high) = match args.value(1) {
        Value::None => (Value::Int(1), args.value(0)),
        high => (args.value(0), high),
    };
    let state = State::current()?;
    let shown = format!("({}, {} + 1)", state.str(&low)?, state.str(&high)?);
    state.warn_once("DeprecationWarning", format!("This function is deprecated. Please call randint{shown} instead"));
    let last = bounds(&high)?.values.first().copied().unwrap_or(0).saturating_add(1);
    let dtype = Value::Type("numpy.int64");
    bounded_integers(random, "randint", [&low, &Value::from(last), &args.value(2)], &dtype, false)
}

/// Returns whether a `dtype` is Python's own class, for which a single number is Python's too.
fn is_python_class(dtype: &Value) -> bool {
    match dtype {
        Value::Type(class) => matches!(*class, "int" | "bool"),
        Value::Function(path) => matches!(&**path, "py.int" | "py.bool"),
        _ => false,
    }
}

fn bounded_integers(
    random: &Random,
    method: &str,
    [low, high, size]: [&Value; 3],
    dtype: &Value,
    endpoint: bool,
) -> Result<Value> {
    let zero = Value::Int(0);
    let (low, high) = if let Value::None = high { (&zero, low) } else { (low, high) };
    let descr = convert::dtype_argument(dtype)?.unwrap_or(Descr::DOUBLE);
    if !descr.is_native() && random.api == Api::Generator {
        bail!(
            ValueError,
            "Providing a dtype with a non-native byteorder is not supported. If you require platform-independent \
             byteorder, call byteswap when required."
        );
    }
    let descr = descr.to_native();
    let kind = IntegerType::from_name(descr.name()).ok_or_else(|| unsupported(method, descr))?;
    let size = arguments::size(size)?;
    if let Some(size) = &size
        && size.contains(&0)
    {
        return Array::zeros(size, descr, false).map(NdArray::value);
    }
    let (lows, highs) = (bounds(low)?, bounds(high)?);
    let is_scalar = lows.shape.is_empty() && highs.shape.is_empty();
    let common = match is_scalar {
        true => Vec::new(),
        false => arguments::broadcast_operands(&lows.shape, &highs.shape)?,
    };
    let wide = |bounds: &arguments::Bounds| spread(&bounds.values, &bounds.shape, &common);
    let (lows_wide, highs_wide) = (wide(&lows), wide(&highs));
    kind.check(&lows_wide, &highs_wide, endpoint)?;
    let open = i128::from(!endpoint);
    let mut numbers = match random.api {
        Api::RandomState => Integers::legacy(kind),
        Api::Generator => Integers::new(kind),
    };
    let scalar = |number: i128| match kind {
        IntegerType::Bool => Scalar::Bool(number != 0),
        _ => long_or_int(number),
    };
    let first = |values: &[i128]| values.first().copied().unwrap_or(0);
    if is_scalar {
        let (low, last) = (first(&lows.values), first(&highs.values) - open);
        let Some(shape) = size else {
            let number = random.with(|source| Ok(numbers.draw(source.bits, low, last)))?;
            return Ok(match is_python_class(dtype) {
                true => Value::from(scalar(number)),
                false => NumpyNumber { value: scalar(number), descr }.value(),
            });
        };
        let out = Array::unwritten(&shape, descr, false)?;
        fill(random, &out, |source| scalar(numbers.draw(source.bits, low, last)))?;
        return Ok(NdArray::value(out));
    }
    let shape = match size {
        None => common,
        Some(size) => {
            let all = broadcast(&[&lows.shape, &highs.shape, &size])?;
            if all != size {
                check_size(&size, &[&lows.shape, &highs.shape])?;
            }
            size
        }
    };
    let lows = spread(&lows.values, &lows.shape, &shape);
    let highs = spread(&highs.values, &highs.shape, &shape);
    let out = Array::unwritten(&shape, descr, false)?;
    let mut at = 0;
    fill(random, &out, |source| {
        let of = |values: &[i128]| values.get(at).copied().unwrap_or(0);
        let (low, last) = (of(&lows), of(&highs) - open);
        at += 1;
        scalar(numbers.draw(source.bits, low, last))
    })?;
    Ok(NdArray::value(out))
}

fn long_or_int(number: i128) -> Scalar {
    i64::try_from(number).map_or_else(|_| long(number as u64), Scalar::Int)
}

/// Repeats values of one shape for a shape that it broadcasts to.
fn spread(values: &[i128], shape: &[i64], to: &[i64]) -> Vec<i128> {
    let places = strided::Strided::dense(shape, 1, false).broadcast_to(to);
    let count = strided::Strided::dense(to, 1, false).count();
    tensor::interrupt::watched(0..count)
        .map(|number| {
            let at = usize::try_from(crate::flat::offset_of(&places, number)).unwrap_or(0);
            values.get(at).copied().unwrap_or(0)
        })
        .collect()
}
