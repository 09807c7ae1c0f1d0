//! `torch.testing.make_tensor`: tensors of random elements for tests. Follows
//! <https://pytorch.org/docs/2.7/testing.html#torch.testing.make_tensor>.

use super::Steps;
use autograd::Functions;
use call::{Call, Row, function, one};
use std::cmp::Ordering;
use tensor::bail;
use tensor::element::{integer_limits, largest_finite};
use tensor::layout::checked_numel;
use tensor::{DType, Device, Dims, Error, Result, Tensor, View};
use value::{Value, integers, numbers};

pub(crate) const ROWS: &[Row] = &[function(
    "testing.make_tensor(any[] shape, *, any dtype, any device, any low=None, any high=None, bool \
 requires_grad=False, bool noncontiguous=False, bool exclude_zero=False, any memory_format=None) -> \
 Tensor",
    make_tensor,
    "Creates a tensor of random elements between two numbers.",
)
.python("make_tensor")];

/// The bounds of the elements. The lower bound is included, the upper one is not.
struct Interval {
    low: Value,
    high: Value,
}

impl Interval {
    /// Returns the requested bounds, or those of `usual`, limited to the range of the dtype.
    fn new(call: &Call, dtype: DType, usual: Interval, holds: Interval) -> Result<Interval> {
        let given = |index: usize, usual: Value| if call.is_none(index) { usual } else { call.value(index) };
        let (low, high) = (given(3, usual.low), given(4, usual.high));
        let text = |value: &Value| call.state.str(value);
        let (from, to) = (number(&low)?, number(&high)?);
        if from.is_nan() || to.is_nan() {
            bail!(ValueError, "`low` and `high` cannot be NaN, but got low={} and high={}", text(&low)?, text(&high)?);
        }
        // Python compares integers exactly, also with floats.
        let is_less = |a: &Value, b: &Value| matches!((numbers::number(a), numbers::number(b)), (Some(a), Some(b)) if numbers::order(&a, &b) == Some(Ordering::Less));
        let equal_floats = from == to && dtype.is_differentiable();
        if equal_floats {
            call.state.warn_once(
                "FutureWarning",
                "Passing `low==high` to `torch.testing.make_tensor` for floating or complex types is deprecated since \
 2.1 and will be removed in 2.3. Use `torch.full(...)` instead.",
            );
        } else if !is_less(&low, &high) {
            bail!(ValueError, "`low` must be less than `high`, but got {} >= {}", text(&low)?, text(&high)?);
        }
        if !equal_floats && (is_less(&high, &holds.low) || !is_less(&low, &holds.high)) {
            bail!(
                ValueError,
                "The value interval specified by `low` and `high` is [{}, {}), but torch.{} only supports [{}, {})",
                text(&low)?,
                text(&high)?,
                dtype.name(),
                text(&holds.low)?,
                text(&holds.high)?
            );
        }
        let within = |value: Value| match () {
            () if is_less(&value, &holds.low) => holds.low.clone(),
            () if is_less(&holds.high, &value) => holds.high.clone(),
            () => value,
        };
        Ok(Interval { low: within(low), high: within(high) })
    }

    fn floats(&self) -> Result<(f64, f64)> {
        Ok((number(&self.low)?, number(&self.high)?))
    }

    /// Returns the bounds as integers, rounded up.
    fn whole(&self) -> Result<[Value; 2]> {
        let whole = |value: &Value| -> Result<Value> {
            Ok(match value {
                Value::Int(_) | Value::BigInt(_) => value.clone(),
                other => numbers::truncated(number(other)?.ceil())?,
            })
        };
        Ok([whole(&self.low)?, whole(&self.high)?])
    }
}

fn number(value: &Value) -> Result<f64> {
    match value {
        Value::BigInt(i) => integers::to_float(i),
        other => other.as_scalar().map(|scalar| scalar.to_f64()).ok_or_else(|| {
            Error::type_error(format!("'<' not supported between instances of '{}' and 'float'", other.type_name()))
        }),
    }
}

fn sizes(call: &Call) -> Result<Dims> {
    let given = call.value(0).sequence().unwrap_or_default();
    let items = match given.as_slice() {
        [only] => only.sequence().unwrap_or(given.clone()),
        _ => given.clone(),
    };
    let size = |item: &Value| match item {
        Value::Int(size) => Ok(*size),
        other => bail!(
            TypeError,
            "empty(): argument 'size' failed to unpack the object at pos 1 with error \"type must be tuple of \
 ints,but got {}\"",
            other.type_name()
        ),
    };
    items.iter().map(size).collect()
}

fn make_tensor(call: &mut Call) -> Result<Value> {
    let Value::DType(dtype) = call.value(1) else {
        bail!(TypeError, "dtype must be torch.dtype, not {}", call.value(1).type_name())
    };
    let device = match call.value(2) {
        Value::Str(name) => Device::parse(&name)?.available()?,
        Value::Device(device) => device.available()?,
        other => bail!(TypeError, "device must be torch.device or str, not {}", other.type_name()),
    };
    let (requires_grad, noncontiguous, exclude_zero) = (call.bool(5)?, call.bool(6)?, call.bool(7)?);
    let mut sizes = sizes(call)?;
    if noncontiguous && !call.is_none(8) {
        bail!(
            ValueError,
            "The parameters `noncontiguous` and `memory_format` are mutually exclusive, but got noncontiguous=True and \
             memory_format={}",
            call.state.repr(&call.value(8))?
        );
    }
    if requires_grad && dtype.is_integral(true) {
        bail!(
            ValueError,
            "`requires_grad=True` is not supported for boolean and integral dtypes, but got dtype=torch.{}",
            dtype.name()
        );
    }
    let skips = noncontiguous && checked_numel(&sizes)? > 1;
    if let Some(last) = sizes.last_mut().filter(|_| skips) {
        // Every other element is dropped again to make the tensor noncontiguous.
        *last = last.checked_mul(2).ok_or_else(|| Error::runtime("the tensor is too large"))?;
    }
    let steps = Steps::of(call);
    let mut result = if dtype.is_integral(true) {
        whole(call, dtype, &sizes, device)?
    } else if dtype.is_quantized() {
        bail!(
            TypeError,
            "The requested dtype 'torch.{}' is not supported by torch.testing.make_tensor(). To request support, file an \
             issue at: https://github.com/pytorch/pytorch/issues",
            dtype.name()
        );
    } else {
        uniform(call, dtype, &sizes, device)?
    };
    if skips {
        let last = result.borrow().ndim() as i64 - 1;
        let size = *sizes.last().unwrap_or(&0);
        let every_other = [result.into(), Value::Int(last), Value::Int(1), Value::Int(size), Value::Int(2)];
        result = one(call.state.call("slice.Tensor", &every_other)?)?;
    }
    if let Value::MemoryFormat(format) = call.value(8) {
        result = Tensor::new(tensor::ops::copy::cast_as(&result.view(), dtype, format)?);
    }
    if exclude_zero {
        let zero = steps.on(&result, "eq", &[Value::Int(0)])?;
        let least = if dtype.is_integral(true) { Value::Int(1) } else { Value::Float(tiny(dtype)) };
        steps.on(&result, "masked_fill_", &[zero.into(), least])?;
    }
    Ok(result.into())
}

fn whole(call: &Call, dtype: DType, sizes: &[i64], device: Device) -> Result<Tensor> {
    let interval = if dtype == DType::Bool {
        let usual = || Interval { low: Value::Int(0), high: Value::Int(2) };
        Interval::new(call, dtype, usual(), usual())?
    } else {
        let (least, most) = integer_limits(dtype);
        // The upper bound is excluded, so the largest `int64` is never drawn.
        let beyond = if dtype == DType::Long { most } else { most + 1 };
        let holds = Interval { low: Value::from(least), high: Value::from(beyond) };
        Interval::new(call, dtype, Interval { low: Value::Int(-9), high: Value::Int(10) }, holds)?
    };
    let room = Tensor::new(View::zeros(sizes, dtype, device)?);
    Steps::of(call).on(&room, "random_", &interval.whole()?)
}

fn uniform(call: &Call, dtype: DType, sizes: &[i64], device: Device) -> Result<Tensor> {
    let most = largest_finite(dtype.to_real());
    let holds = Interval { low: Value::Float(-most), high: Value::Float(most) };
    let usual = Interval { low: Value::Int(-9), high: Value::Int(9) };
    let (low, high) = Interval::new(call, dtype, usual, holds)?.floats()?;
    let steps = Steps::of(call);
    let stored = if dtype.is_float8() { DType::Float } else { dtype };
    let result = Tensor::new(View::zeros(sizes, stored, device)?);
    let parts =
        if dtype.is_complex() { one(steps.torch("view_as_real", &[result.clone().into()])?)? } else { result.clone() };
    // A range that is too wide for the dtype is drawn at half its width and doubled.
    if high - low >= largest_finite(stored.to_real()) {
        steps.on(&parts, "uniform_", &[Value::Float(low / 2.0), Value::Float(high / 2.0)])?;
        steps.on(&parts, "mul_", &[Value::Int(2)])?;
    } else {
        steps.on(&parts, "uniform_", &[Value::Float(low), Value::Float(high)])?;
    }
    if stored == dtype { Ok(result) } else { tensor::ops::copy::cast(&result.borrow(), dtype).map(Tensor::new) }
}

/// The smallest normal number of a dtype.
fn tiny(dtype: DType) -> f64 {
    crate::modes::precision(dtype.to_real()).map_or(f64::MIN_POSITIVE, |(_, exponent)| 2f64.powi(exponent))
}
