//! The parts of Python's library that documentation sessions use: `math`, `operator` and `time`.

use call::state::Import;
use call::{Call, Row, function};
use num_bigint::BigInt;
use num_traits::{Signed, Zero};
use objects::bounds;
use objects::iterate::items_of as items;
use objects::operators::{self, called as binary};
use objects::plain::numbers::float_of_number;
use objects::plain::special::{float_of, index};
use std::time::Duration;
use tensor::bail;
use tensor::ops::special;
use tensor::system::{Clock, System};
use tensor::{Error, ErrorKind, Result};
use value::equality::{self, Number};
use value::{Value, integers, numbers};

pub(super) const ROWS: &[Row] = &[
    function("math.sqrt(any x) -> float", |c| real(c, f64::sqrt, |x| x >= 0.0), "Computes the square root."),
    function("math.exp(any x) -> float", |c| bounded(c, f64::exp), "Raises e to the power of x."),
    function("math.log(any x, any base=None) -> float", log, "Computes the logarithm, natural unless a base is given."),
    function(
        "math.log2(any x) -> float",
        |c| logarithm(c, 0, f64::log2).map(Value::Float),
        "Computes the logarithm to base 2.",
    ),
    function(
        "math.log10(any x) -> float",
        |c| logarithm(c, 0, f64::log10).map(Value::Float),
        "Computes the logarithm to base 10.",
    ),
    function("math.log1p(any x) -> float", |c| real(c, f64::ln_1p, |x| x > -1.0), "Computes the logarithm of 1 + x."),
    function("math.expm1(any x) -> float", |c| bounded(c, f64::exp_m1), "Raises e to the power of x and subtracts 1."),
    function("math.sin(any x) -> float", |c| real(c, f64::sin, f64::is_finite), "Computes the sine."),
    function("math.cos(any x) -> float", |c| real(c, f64::cos, f64::is_finite), "Computes the cosine."),
    function("math.tan(any x) -> float", |c| real(c, f64::tan, f64::is_finite), "Computes the tangent."),
    function("math.asin(any x) -> float", |c| real(c, f64::asin, |x| x.abs() <= 1.0), "Computes the arc sine."),
    function("math.acos(any x) -> float", |c| real(c, f64::acos, |x| x.abs() <= 1.0), "Computes the arc cosine."),
    function("math.atan(any x) -> float", |c| real(c, f64::atan, |_| true), "Computes the arc tangent."),
    function("math.atan2(any y, any x) -> float", |c| pair(c, f64::atan2), "Computes the angle of the point (x, y)."),
    function("math.sinh(any x) -> float", |c| bounded(c, f64::sinh), "Computes the hyperbolic sine."),
    function("math.cosh(any x) -> float", |c| bounded(c, f64::cosh), "Computes the hyperbolic cosine."),
    function("math.tanh(any x) -> float", |c| real(c, f64::tanh, |_| true), "Computes the hyperbolic tangent."),
    function(
        "math.asinh(any x) -> float",
        |c| real(c, special::asinh, |_| true),
        "Computes the inverse hyperbolic sine.",
    ),
    function(
        "math.acosh(any x) -> float",
        |c| real(c, special::acosh, |x| x >= 1.0),
        "Computes the inverse hyperbolic cosine.",
    ),
    function(
        "math.atanh(any x) -> float",
        |c| real(c, special::atanh, |x| x.abs() < 1.0),
        "Computes the inverse hyperbolic tangent.",
    ),
    function("math.erf(any x) -> float", |c| real(c, special::erf, |_| true), "Computes the error function."),
    function(
        "math.erfc(any x) -> float",
        |c| real(c, special::erfc, |_| true),
        "Computes the complementary error function.",
    ),
    function("math.dist(any p, any q) -> float", distance, "Computes the distance between two points."),
    function("math.cbrt(any x) -> float", |c| real(c, f64::cbrt, |_| true), "Computes the cube root."),
    function("math.exp2(any x) -> float", |c| bounded(c, f64::exp2), "Raises 2 to the power of x."),
    function("math.fmod(any x, any y) -> float", remainder, "Returns the rest of x / y, with the sign of x."),
    function("math.remainder(any x, any y) -> float", remainder, "Returns x less the nearest multiple of y."),
    function("math.fsum(any seq) -> float", exact_sum, "Adds floats up without losing digits between them."),
    function(
        "math.modf(any x) -> any",
        |c| {
            let x = number(c, 0)?;
            let rest = if x.is_infinite() { 0.0 } else { x.fract() };
            Ok(Value::tuple([rest.copysign(x), x.trunc()].map(Value::Float)))
        },
        "Returns what is behind the point and what is before it.",
    ),
    function(
        "math.frexp(any x) -> any",
        |c| match number(c, 0)? {
            x if x == 0.0 || !x.is_finite() => Ok(Value::tuple([Value::Float(x), Value::Int(0)])),
            x => {
                let (mantissa, exponent) = special::frexp(x);
                Ok(Value::tuple([Value::Float(mantissa), Value::Int(i64::from(exponent))]))
            }
        },
        "Returns a mantissa from 0.5 on and a power of two.",
    ),
    function("math.ldexp(any x, any i) -> float", scaled, "Multiplies x by a power of two."),
    function(
        "math.nextafter(any x, any y) -> float",
        |c| {
            let (x, y) = (number(c, 0)?, number(c, 1)?);
            let step = |x: f64, up: bool| if up { x.next_up() } else { x.next_down() };
            Ok(Value::Float(special::next_after(x, y, step)))
        },
        "Returns the float next to x in the direction of y.",
    ),
    function(
        "math.ulp(any x) -> float",
        |c| match number(c, 0)?.abs() {
            x if !x.is_finite() => Ok(Value::Float(x)),
            f64::MAX => Ok(Value::Float(f64::MAX - f64::MAX.next_down())),
            x => Ok(Value::Float(x.next_up() - x)),
        },
        "Returns the distance from x to the next larger float.",
    ),
    function("math.fabs(any x) -> float", |c| real(c, f64::abs, |_| true), "Computes the absolute value."),
    function("math.pow(any x, any y) -> float", |c| pair(c, f64::powf), "Raises x to the power of y."),
    function("math.copysign(any x, any y) -> float", |c| pair(c, f64::copysign), "Returns x with the sign of y."),
    function("math.hypot(any x, any y) -> float", |c| pair(c, f64::hypot), "Computes the length of the vector (x, y)."),
    function("math.degrees(any x) -> float", |c| real(c, f64::to_degrees, |_| true), "Converts radians to degrees."),
    function("math.radians(any x) -> float", |c| real(c, f64::to_radians, |_| true), "Converts degrees to radians."),
    function("math.floor(any x) -> int", |c| whole(c, f64::floor), "Returns the largest integer that is not greater."),
    function("math.ceil(any x) -> int", |c| whole(c, f64::ceil), "Returns the smallest integer that is not smaller."),
    function("math.trunc(any x) -> int", |c| whole(c, f64::trunc), "Returns the integer towards zero."),
    function(
        "math.isnan(any x) -> bool",
        |c| Ok(Value::Bool(number(c, 0)?.is_nan())),
        "Returns whether a number is NaN.",
    ),
    function(
        "math.isinf(any x) -> bool",
        |c| Ok(Value::Bool(number(c, 0)?.is_infinite())),
        "Returns whether a number is infinite.",
    ),
    function(
        "math.isfinite(any x) -> bool",
        |c| Ok(Value::Bool(number(c, 0)?.is_finite())),
        "Returns whether a number is finite.",
    ),
    function(
        "math.isclose(any a, any b, *, any rel_tol=1e-09, any abs_tol=0.0) -> bool",
        is_close,
        "Returns whether two numbers are close.",
    ),
    function("math.prod(any iterable, *, any start=1) -> any", product_of, "Multiplies the items."),
    function("math.factorial(any n) -> int", factorial, "Multiplies the integers up to n."),
    function("math.gcd(any[] integers) -> int", gcd, "Computes the greatest common divisor."),
    function("math.lcm(any[] integers) -> int", lcm, "Computes the least common multiple."),
    function("math.isqrt(any n) -> int", root, "Computes the square root, rounded down to an integer."),
    function("math.comb(any n, any k) -> int", comb, "Counts the choices of k items out of n."),
    function("math.perm(any n, any k=None) -> int", perm, "Counts the ordered choices of k items out of n."),
    function(
        "importlib.import_module(str name, str? package=None) -> any",
        import_module,
        "Imports a module by its name, which may begin with dots for one relative to a package.",
    ),
    function(
        "importlib.reload(any module) -> any",
        |c| import(c, Import::Again(&c.value(0))),
        "Runs the file of a module again, in the same module.",
    ),
    function("operator.add(any a, any b) -> any", |c| binary(c, "+"), "Returns a + b."),
    function("operator.sub(any a, any b) -> any", |c| binary(c, "-"), "Returns a - b."),
    function("operator.mul(any a, any b) -> any", |c| binary(c, "*"), "Returns a * b."),
    function("operator.truediv(any a, any b) -> any", |c| binary(c, "/"), "Returns a / b."),
    function("operator.floordiv(any a, any b) -> any", |c| binary(c, "//"), "Returns a // b."),
    function("operator.mod(any a, any b) -> any", |c| binary(c, "%"), "Returns the remainder of a / b."),
    function("operator.pow(any a, any b) -> any", |c| binary(c, "**"), "Raises a to the power of b."),
    function("operator.matmul(any a, any b) -> any", |c| binary(c, "@"), "Returns a @ b."),
    function("operator.eq(any a, any b) -> any", |c| binary(c, "=="), "Returns whether two values are equal."),
    function("operator.lt(any a, any b) -> any", |c| binary(c, "<"), "Returns whether a is less than b."),
    function("operator.ne(any a, any b) -> any", |c| binary(c, "!="), "Returns whether two values differ."),
    function("operator.le(any a, any b) -> any", |c| binary(c, "<="), "Returns whether a is at most b."),
    function("operator.ge(any a, any b) -> any", |c| binary(c, ">="), "Returns whether a is at least b."),
    function("operator.and_(any a, any b) -> any", |c| binary(c, "&"), "Returns a & b."),
    function("operator.or_(any a, any b) -> any", |c| binary(c, "|"), "Returns a | b."),
    function("operator.xor(any a, any b) -> any", |c| binary(c, "^"), "Returns a ^ b."),
    function("operator.lshift(any a, any b) -> any", |c| binary(c, "<<"), "Returns a << b."),
    function("operator.rshift(any a, any b) -> any", |c| binary(c, ">>"), "Returns a >> b."),
    function("operator.gt(any a, any b) -> any", |c| binary(c, ">"), "Returns whether a is greater than b."),
    function("time.time() -> float", now, "Returns the seconds since 1970."),
    function("time.perf_counter() -> float", now, "Returns the seconds of a clock for intervals."),
    function("time.sleep(any seconds) -> None", sleep, "Waits for a number of seconds, or until Ctrl-C."),
];

fn domain() -> Error {
    Error::value("math domain error")
}

/// Returns a number argument. A tensor of one element counts as a number.
fn number(call: &Call, index: usize) -> Result<f64> {
    float(&call.value(index))
}

fn float(value: &Value) -> Result<f64> {
    match value {
        Value::Tensor(_) => float_of_number(value),
        Value::Object(object) if let Some(float) = float_of(object) => float,
        other => match equality::number(other) {
            Some(number) if !matches!(number, Number::Complex(_)) => number.to_float(),
            _ => bail!(TypeError, "must be real number, not {}", other.type_name()),
        },
    }
}

/// Applies a function of one number. Fails with ValueError outside its domain.
fn real(call: &mut Call, function: fn(f64) -> f64, is_defined: impl Fn(f64) -> bool) -> Result<Value> {
    let x = number(call, 0)?;
    if !x.is_nan() && !is_defined(x) {
        return Err(domain());
    }
    Ok(Value::Float(function(x)))
}

/// Applies a function of one number. Fails with OverflowError if the result is too large for a float.
fn bounded(call: &mut Call, function: fn(f64) -> f64) -> Result<Value> {
    let x = number(call, 0)?;
    let y = function(x);
    if y.is_infinite() && x.is_finite() {
        return Err(Error::new(ErrorKind::OverflowError, "math range error"));
    }
    Ok(Value::Float(y))
}

fn pair(call: &mut Call, function: fn(f64, f64) -> f64) -> Result<Value> {
    let (x, y) = (number(call, 0)?, number(call, 1)?);
    let z = function(x, y);
    if z.is_nan() && !x.is_nan() && !y.is_nan() || z.is_infinite() && x == 0.0 && y.is_finite() {
        return Err(domain());
    }
    if z.is_infinite() && x.is_finite() && y.is_finite() {
        return Err(Error::new(ErrorKind::OverflowError, "math range error"));
    }
    Ok(Value::Float(z))
}

/// Computes `fmod` or `remainder`, which round the quotient differently.
fn remainder(call: &mut Call) -> Result<Value> {
    let (x, y) = (number(call, 0)?, number(call, 1)?);
    let rest = if call.signature.name == "math.fmod" { x % y } else { special::remainder(x, y) };
    if rest.is_nan() && !x.is_nan() && !y.is_nan() {
        return Err(domain());
    }
    Ok(Value::Float(rest))
}

/// Adds floats by Shewchuk's algorithm, which keeps non-overlapping partial sums and rounds their total once.
fn exact_sum(call: &mut Call) -> Result<Value> {
    let (mut parts, mut infinite, mut special) = (Vec::<f64>::new(), 0.0, 0.0);
    for item in items(call, 0)? {
        let given = float(&item)?;
        let mut sum = given;
        for part in std::mem::take(&mut parts) {
            let (large, small) = if sum.abs() < part.abs() { (part, sum) } else { (sum, part) };
            sum = large + small;
            let lost = small - (sum - large);
            if lost != 0.0 {
                parts.push(lost);
            }
        }
        if sum.is_finite() {
            parts.push(sum);
            continue;
        }
        if given.is_finite() {
            return Err(Error::new(ErrorKind::OverflowError, "intermediate overflow in fsum"));
        }
        infinite += if given.is_infinite() { given } else { 0.0 };
        special += given;
        parts.clear();
    }
    if special != 0.0 {
        return if infinite.is_nan() { Err(Error::value("-inf + inf in fsum")) } else { Ok(Value::Float(special)) };
    }
    let mut total = parts.pop().unwrap_or(0.0);
    while let Some(part) = parts.pop() {
        let before = total;
        total = before + part;
        let lost = part - (total - before);
        if lost == 0.0 {
            continue;
        }
        // If the total is halfway between two floats, the next partial sum decides how it rounds.
        let decides = parts.last().is_some_and(|next| (*next < 0.0) == (lost < 0.0) && *next != 0.0);
        let other = total + lost * 2.0;
        return Ok(Value::Float(if decides && other - total == lost * 2.0 { other } else { total }));
    }
    Ok(Value::Float(total))
}

/// Computes `x * 2 ** i`.
fn scaled(call: &mut Call) -> Result<Value> {
    let x = number(call, 0)?;
    let power = match call.value(1) {
        Value::Int(power) => i32::try_from(power).unwrap_or(if power < 0 { i32::MIN } else { i32::MAX }),
        Value::Bool(power) => i32::from(power),
        Value::BigInt(power) => {
            if power.is_negative() {
                i32::MIN
            } else {
                i32::MAX
            }
        }
        _ => bail!(TypeError, "Expected an int as second argument to ldexp."),
    };
    match special::ldexp(x, power) {
        y if y.is_infinite() && x.is_finite() => Err(Error::new(ErrorKind::OverflowError, "math range error")),
        y => Ok(Value::Float(y)),
    }
}

/// Number of leading bits used for a logarithm: more than a float's precision, within its range.
const UPPER: u64 = 1000;

/// Computes a logarithm. For an integer too large for a float, adds the logarithms of its leading bits and of the
/// remaining power of two.
fn logarithm(call: &Call, index: usize, function: fn(f64) -> f64) -> Result<f64> {
    match call.value(index) {
        Value::BigInt(x) if x.is_positive() && x.bits() > 1023 => {
            let upper = integers::to_float(&(&*x >> (x.bits() - UPPER)))? * 0.5f64.powi(UPPER as i32);
            Ok(function(upper) + function(2.0) * x.bits() as f64)
        }
        Value::BigInt(x) if x.is_negative() => Err(domain()),
        _ => match number(call, index)? {
            x if x <= 0.0 => Err(domain()),
            x => Ok(function(x)),
        },
    }
}

fn log(call: &mut Call) -> Result<Value> {
    let x = logarithm(call, 0, f64::ln)?;
    if call.is_none(1) {
        return Ok(Value::Float(x));
    }
    match logarithm(call, 1, f64::ln)? {
        0.0 => Err(Error::new(ErrorKind::ZeroDivisionError, "float division by zero")),
        base => Ok(Value::Float(x / base)),
    }
}

fn whole(call: &mut Call, round: fn(f64) -> f64) -> Result<Value> {
    match call.value(0) {
        integer @ (Value::Int(_) | Value::BigInt(_)) => Ok(integer),
        Value::Object(object)
            if let Some(answer) =
                object.special(&format!("__{}__", call.signature.name.trim_start_matches("math.")), &[]) =>
        {
            answer
        }
        other @ (Value::Complex(_) | Value::Str(_) | Value::None | Value::Tensor(_))
            if call.signature.name == "math.trunc" =>
        {
            bail!(TypeError, "type {} doesn't define __trunc__ method", other.type_name())
        }
        _ => numbers::truncated(round(number(call, 0)?)),
    }
}

fn is_close(call: &mut Call) -> Result<Value> {
    let (a, b) = (number(call, 0)?, number(call, 1)?);
    let (relative, absolute) = (number(call, 2)?, number(call, 3)?);
    let distance = (a - b).abs();
    let close = a == b || distance.is_finite() && distance <= (relative * a.abs().max(b.abs())).max(absolute);
    Ok(Value::Bool(close))
}

fn fold(call: &Call, symbol: &str, start: Value, items: Vec<Value>) -> Result<Value> {
    let Some(operator) = operators::find(symbol) else { return Ok(start) };
    items.iter().try_fold(start, |total, item| operators::binary(call.state, operator, &total, item))
}

fn product_of(call: &mut Call) -> Result<Value> {
    fold(call, "*", call.value(1), items(call, 0)?)
}

fn factorial(call: &mut Call) -> Result<Value> {
    let n = integer_of(&call.value(0))?;
    if n.is_negative() {
        bail!(ValueError, "factorial() not defined for negative values");
    }
    product_up_to(&n)
}

fn product_up_to(n: &BigInt) -> Result<Value> {
    let Ok(factors) = i64::try_from(n) else {
        bail!(OverflowError, "factorial() argument should not exceed {}", i64::MAX)
    };
    integers::falling(n, factors.unsigned_abs()).map(Value::from)
}

fn integer_of(value: &Value) -> Result<BigInt> {
    Ok(numbers::integer(&index(value)?).unwrap_or_default().into_owned())
}

fn gcd(call: &mut Call) -> Result<Value> {
    let mut divisor = BigInt::ZERO;
    for item in items(call, 0)? {
        divisor = integers::divisor(&divisor, &integer_of(&item)?)?;
    }
    Ok(Value::from(divisor))
}

fn lcm(call: &mut Call) -> Result<Value> {
    let mut multiple = BigInt::from(1);
    for item in items(call, 0)? {
        let item = integer_of(&item)?.abs();
        let divisor = integers::divisor(&multiple, &item)?;
        multiple = match divisor.is_zero() || item.is_zero() {
            true => BigInt::ZERO,
            false => integers::product(&multiple, &integers::divided(&item, &divisor)?.0)?,
        };
    }
    Ok(Value::from(multiple))
}

fn root(call: &mut Call) -> Result<Value> {
    let n = integer_of(&call.value(0))?;
    if n.is_negative() {
        bail!(ValueError, "isqrt() argument must be nonnegative");
    }
    integers::root(&n).map(Value::from)
}

/// Returns the two arguments of `comb` and `perm`. Fails with ValueError if one is negative.
fn choices(call: &Call) -> Result<(BigInt, BigInt)> {
    let (n, k) = (integer_of(&call.value(0))?, integer_of(&call.value(1))?);
    for (name, number) in [("n", &n), ("k", &k)] {
        if number.is_negative() {
            bail!(ValueError, "{name} must be a non-negative integer");
        }
    }
    Ok((n, k))
}

fn comb(call: &mut Call) -> Result<Value> {
    let (n, k) = choices(call)?;
    if k > n {
        return Ok(Value::Int(0));
    }
    let fewer = k.clone().min(&n - &k);
    let Ok(factors) = i64::try_from(&fewer) else { bail!(OverflowError, "min(n - k, k) must not exceed {}", i64::MAX) };
    let (above, below) =
        (integers::falling(&n, factors.unsigned_abs())?, integers::falling(&fewer, factors.unsigned_abs())?);
    Ok(Value::from(integers::divided(&above, &below)?.0))
}

fn perm(call: &mut Call) -> Result<Value> {
    if call.is_none(1) {
        return factorial(call);
    }
    let (n, k) = choices(call)?;
    if k > n {
        return Ok(Value::Int(0));
    }
    match i64::try_from(&k) {
        Ok(factors) => integers::falling(&n, factors.unsigned_abs()).map(Value::from),
        Err(_) => bail!(OverflowError, "k must not exceed {}", i64::MAX),
    }
}

fn sleep(call: &mut Call) -> Result<Value> {
    let seconds = match call.value(0) {
        Value::BigInt(_) => f64::INFINITY,
        value => match value.as_scalar() {
            Some(number) => number.to_f64(),
            None => bail!(TypeError, "'{}' object cannot be interpreted as an integer", value.type_name()),
        },
    };
    if seconds.is_nan() {
        bail!(ValueError, "Invalid value NaN (not a number)");
    }
    if !matches!(call.value(0), Value::Int(_) | Value::BigInt(_)) && seconds.abs() >= 2f64.powi(63) {
        bail!(OverflowError, "timestamp out of range for platform time_t");
    }
    if seconds.abs() >= MOST_SECONDS {
        bail!(OverflowError, "timestamp too large to convert to C _PyTime_t");
    }
    if seconds < 0.0 {
        bail!(ValueError, "sleep length must be non-negative");
    }
    bounds::sleep(Duration::from_secs_f64(seconds)).map(|()| Value::None)
}

/// The largest number of seconds whose nanoseconds fit 64 bits.
const MOST_SECONDS: f64 = 9_223_372_036.0;

fn now(_: &mut Call) -> Result<Value> {
    Ok(Value::Float(System::since_epoch().as_secs_f64()))
}

fn distance(call: &mut Call) -> Result<Value> {
    let (p, q) = (items(call, 0)?, items(call, 1)?);
    if p.len() != q.len() {
        bail!(ValueError, "both points must have the same number of dimensions");
    }
    let mut length = 0.0;
    for (p, q) in p.iter().zip(&q) {
        length = f64::hypot(length, float_of_number(p)? - float_of_number(q)?);
    }
    Ok(Value::Float(length))
}

fn import(call: &Call, what: Import) -> Result<Value> {
    let importer = call.state.importer.borrow().clone();
    importer.map_or_else(|| bail!(RuntimeError, "there is nothing to import from here"), |importer| importer(what))
}

fn import_module(call: &mut Call) -> Result<Value> {
    let name = call.str(0)?;
    let ups = name.len() - name.trim_start_matches('.').len();
    let Value::Str(package) = call.value(1) else {
        if ups > 0 {
            let message = "the 'package' argument is required to perform a relative import for";
            bail!(TypeError, "{message} {}", call.state.repr(&Value::str(name))?)
        }
        return import(call, Import::Module(name));
    };
    let mut parts: Vec<&str> = if ups > 0 { package.split('.').collect() } else { Vec::new() };
    if ups > parts.len() {
        return Err(Error::new(ErrorKind::Other("ImportError"), "attempted relative import beyond top-level package"));
    }
    parts.truncate((parts.len() + 1).saturating_sub(ups));
    parts.extend(Some(name.trim_start_matches('.')).filter(|rest| !rest.is_empty()));
    import(call, Import::Module(&parts.join(".")))
}
