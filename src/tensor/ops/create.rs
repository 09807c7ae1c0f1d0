//! Creates tensors from numbers: filled, counted and evenly spaced ones, and ones like another tensor. Follows
//! <https://pytorch.org/docs/2.7/torch.html#creation-ops>. Values are computed as by PyTorch's CPU kernels, vector by
//! vector if the last bit depends on it.

use super::copy::{check_fits, fill};
use super::number::{Number, Real, Stored};
use super::promote::number_dtype;
use crate::bail;
use crate::layout::show;
use crate::parallel::{self, vectorised};
use crate::{Category, DType, Device, Dims, Element, Result, Scalar, View};
use half::{bf16, f16};
use num_complex::Complex;

/// Allocates a row-major tensor of zeros.
pub fn zeros(sizes: &[i64], dtype: DType, device: Device) -> Result<View> {
    View::zeros(sizes, dtype, device)
}

/// Allocates a row-major tensor of ones.
pub fn ones(sizes: &[i64], dtype: DType, device: Device) -> Result<View> {
    full(sizes, Scalar::Int(1), Some(dtype), dtype, device)
}

/// Allocates a row-major tensor filled with `value`; `dtype` defaults to the value's own.
///
/// # Errors
/// RuntimeError for negative sizes, insufficient memory, or a value the dtype cannot hold.
pub fn full(sizes: &[i64], value: Scalar, dtype: Option<DType>, default: DType, device: Device) -> Result<View> {
    let dtype = match dtype {
        Some(dtype) => dtype,
        // `complex32` is never inferred here.
        None if value.category() == Category::Complex && default != DType::Double => DType::ComplexFloat,
        None => number_dtype(value, default)?,
    };
    let out = View::unwritten(sizes, dtype, device)?;
    fill(&out, value)?;
    Ok(out)
}

/// Allocates a tensor of zeros with the given strides.
///
/// # Errors
/// RuntimeError for lists of different lengths, and negative sizes or strides.
pub fn empty_strided(sizes: &[i64], strides: &[i64], dtype: DType, device: Device) -> Result<View> {
    if sizes.len() != strides.len() {
        bail!(
            RuntimeError,
            "dimensionality of sizes ({}) must match dimensionality of strides ({})",
            sizes.len(),
            strides.len()
        );
    }
    if let Some(&negative) = sizes.iter().find(|&&s| s < 0) {
        bail!(RuntimeError, "Trying to create tensor with negative dimension {negative}: {}", show(sizes));
    }
    View::zeros_strided(sizes, Dims::from_slice(strides), dtype, device)
}

/// Allocates a tensor of zeros with another's sizes and, if that tensor is dense, its strides.
pub fn zeros_like(like: &View, dtype: Option<DType>, device: Option<Device>) -> Result<View> {
    let (dtype, device) = (dtype.unwrap_or(like.dtype), device.unwrap_or(like.device()));
    View::zeros_strided(like.sizes(), like.layout.like_strides(), dtype, device)
}

/// Like [`zeros_like`], filled with a number.
pub(crate) fn full_like(like: &View, value: Scalar, dtype: Option<DType>, device: Option<Device>) -> Result<View> {
    let out = zeros_like(like, dtype, device)?;
    fill(&out, value)?;
    Ok(out)
}

/// Creates the `n` by `m` matrix with ones on its diagonal.
///
/// # Errors
/// RuntimeError for negative sizes and unsupported dtypes.
pub fn eye(n: i64, m: i64, dtype: DType, device: Device) -> Result<View> {
    for (name, size) in [("n", n), ("m", m)] {
        if size < 0 {
            bail!(RuntimeError, "{name} must be greater or equal to 0, got {size}");
        }
    }
    if n.checked_mul(m).is_none() {
        bail!(RuntimeError, "numel: integer multiplication overflow");
    }
    let out = View::zeros(&[n, m], dtype, device)?;
    if dtype.is_bare_unsigned() || dtype == DType::ComplexHalf {
        return unsupported("eye", dtype, device).map(|()| out);
    }
    fill(&out.with_layout(out.layout.diagonal(0, 0, 1)?), Scalar::Int(1))?;
    Ok(out)
}

/// Refuses a dtype without this kernel. Meta tensors need no kernel.
fn unsupported(kernel: &str, dtype: DType, device: Device) -> Result<()> {
    if device.is_meta() {
        return Ok(());
    }
    bail!(RuntimeError, "\"{kernel}\" not implemented for '{}'", dtype.scalar_type())
}

/// Returns whether counting kernels support the dtype: `uint8` to `int64`, and the real floating types except the 8-bit
/// ones.
fn is_countable(dtype: DType) -> bool {
    dtype.is_integral(false) && !dtype.is_bare_unsigned() || dtype.is_floating_point() && !dtype.is_float8()
}

/// Writes `value(i)` to each element of a new row-major tensor. The function should own its captures: those behind
/// references are read again for each element.
fn generate<S: Stored>(out: &View, value: impl Fn(i64) -> S::Compute + Copy + Sync + Send) -> Result<()> {
    if out.device().is_meta() {
        return Ok(());
    }
    let filled = parallel::writing(&*out.memory()?, 0..out.numel() as usize, |elements: &mut [S]| {
        parallel::parts(elements, 1, &|first, part| {
            let places = (first as i64..).zip(part);
            vectorised(move || places.for_each(|(i, element)| *element = S::narrow(value(i))));
            Ok(())
        })
    });
    filled.unwrap_or(Ok(()))
}

/// Converts the number to `double`; refuses numbers with an imaginary part.
fn as_double(value: Scalar) -> Result<f64> {
    check_fits(value, DType::Double)?;
    Ok(value.to_f64())
}

/// `start`, `start + step`, … up to but excluding `end`. Integers give `int64`, floats the default dtype.
///
/// # Errors
/// RuntimeError for a zero step, a step of the wrong sign, infinite ranges, and unsupported dtypes.
pub fn arange(
    start: Scalar,
    end: Scalar,
    step: Scalar,
    dtype: Option<DType>,
    default: DType,
    device: Device,
) -> Result<View> {
    let integral = [start, end, step].iter().all(|s| s.category() <= Category::Integral);
    let dtype = dtype.unwrap_or(if integral { DType::Long } else { default });
    let device = device.available()?;
    if !is_countable(dtype) {
        unsupported("arange_cpu", dtype, device)?;
    }
    check_range([start, end, step], dtype, "larger")?;
    let length = if dtype == DType::Long {
        // In integers, to be exact beyond 2^53.
        let [a, b, s] = [start, end, step].map(|s| i128::from(s.to_i64()));
        ((b - a + s - s.signum()) / s) as f64
    } else {
        ((as_double(end)? - as_double(start)?) / as_double(step)?).ceil()
    };
    let out = View::unwritten(&[checked_length(length)?], dtype, device)?;
    let (first, stride) = (start.to_f64(), step.to_f64());
    match dtype {
        DType::Float => vectors::<f32>(&out, first, stride)?,
        DType::Double => vectors::<f64>(&out, first, stride)?,
        DType::Half => reduced_vectors::<f16>(&out, first as f32, stride as f32)?,
        DType::BFloat16 => reduced_vectors::<bf16>(&out, first as f32, stride as f32)?,
        _ => {
            let (a, s) = (start.to_i64(), step.to_i64());
            integers(&out, move |i| a.wrapping_add(s.wrapping_mul(i)))?;
        }
    }
    Ok(out)
}

/// Refuses zero steps, infinite ranges and steps of the wrong sign. Integral dtypes truncate the numbers. `bounds` names
/// the function's lower bound in the message.
fn check_range(numbers: [Scalar; 3], dtype: DType, bounds: &str) -> Result<[f64; 3]> {
    let mut parts = [0.0; 3];
    for (part, number) in parts.iter_mut().zip(numbers) {
        *part = if dtype.is_integral(true) {
            check_fits(number, DType::Long)?;
            number.to_i64() as f64
        } else {
            as_double(number)?
        };
    }
    let [first, stop, stride] = parts;
    if stride == 0.0 || stride.is_nan() {
        bail!(RuntimeError, "step must be nonzero");
    }
    if !first.is_finite() || !stop.is_finite() {
        bail!(RuntimeError, "unsupported range: {} -> {}", shown(first), shown(stop));
    }
    if !(stride > 0.0 && stop >= first || stride < 0.0 && stop <= first) {
        bail!(RuntimeError, "upper bound and {bounds} bound inconsistent with step sign");
    }
    Ok(parts)
}

/// Formats a double like a C++ stream, as far as messages need it.
fn shown(value: f64) -> String {
    if value.is_nan() { "nan".into() } else { format!("{value}") }
}

fn checked_length(length: f64) -> Result<i64> {
    const LIMIT: f64 = 9223372036854775808.0;
    if !(0.0..LIMIT).contains(&length) {
        bail!(RuntimeError, "invalid size, possible overflow?");
    }
    Ok(length as i64)
}

/// The floats of `arange`. Two vectors of 32 bytes are computed at a time, each from its own rounded start; the
/// remaining elements one by one.
fn vectors<S: Stored<Compute: Real>>(out: &View, start: f64, step: f64) -> Result<()> {
    let lanes = 32 / size_of::<S>() as i64;
    let whole = out.numel() - out.numel() % (2 * lanes);
    generate::<S>(out, move |i| {
        if i >= whole {
            return Real::from_f64(step.mul_add(i as f64, start));
        }
        let (lane, first) = (i % lanes, i - i % lanes);
        let base: S::Compute = Real::from_f64(step.mul_add(first as f64, start));
        Real::from_f64(step.mul_add(lane as f64, base.as_f64()))
    })
}

/// Like [`vectors`], for the 16-bit floats, which are computed in `float32`.
fn reduced_vectors<S: Stored<Compute = f32>>(out: &View, start: f32, step: f32) -> Result<()> {
    let lanes = 16;
    let whole = out.numel() - out.numel() % (2 * lanes);
    generate::<S>(out, move |i| {
        if i >= whole {
            return step.mul_add(i as f32, start);
        }
        let (lane, first) = (i % lanes, i - i % lanes);
        let base = S::narrow(step.mul_add(first as f32, start)).widen();
        step.mul_add(lane as f32, base)
    })
}

/// Fills an integral tensor with values that wrap into its dtype.
fn integers(out: &View, value: impl Fn(i64) -> i64 + Copy + Sync + Send) -> Result<()> {
    match out.dtype {
        DType::Byte => generate::<u8>(out, move |i| value(i) as u8),
        DType::Char => generate::<i8>(out, move |i| value(i) as i8),
        DType::Short => generate::<i16>(out, move |i| value(i) as i16),
        DType::Int => generate::<i32>(out, move |i| value(i) as i32),
        DType::Long => generate::<i64>(out, value),
        // Meta tensors have nothing to fill.
        _ => Ok(()),
    }
}

/// Counts from `start` to `end` inclusive, like the deprecated `torch.range`.
pub fn range(
    start: Scalar,
    end: Scalar,
    step: Scalar,
    dtype: Option<DType>,
    default: DType,
    device: Device,
) -> Result<View> {
    let dtype = dtype.unwrap_or(default);
    let device = device.available()?;
    if !is_countable(dtype) {
        unsupported("range_cpu", dtype, device)?;
    }
    let [first, stop, stride] = check_range([start, end, step], dtype, "lower")?;
    let out = View::unwritten(&[checked_length(((stop - first) / stride).floor() + 1.0)?], dtype, device)?;
    let (narrow_first, narrow_stride) = (first as f32, stride as f32);
    match dtype {
        DType::Float => generate::<f32>(&out, move |i| (first + i as f64 * stride) as f32)?,
        DType::Double => generate::<f64>(&out, move |i| first + i as f64 * stride)?,
        DType::Half => generate::<f16>(&out, move |i| narrow_first + i as f32 * narrow_stride)?,
        DType::BFloat16 => generate::<bf16>(&out, move |i| narrow_first + i as f32 * narrow_stride)?,
        _ => integers(&out, |i| start.to_i64().wrapping_add(step.to_i64().wrapping_mul(i)))?,
    }
    Ok(out)
}

/// Returns the dtype of `linspace` and `logspace`; complex ends make it complex.
fn spaced_dtype(name: &str, ends: [Scalar; 2], steps: i64, dtype: Option<DType>, default: DType) -> Result<DType> {
    if steps < 0 {
        bail!(RuntimeError, "number of steps must be non-negative");
    }
    if ends.iter().all(|s| s.category() < Category::Complex) {
        return Ok(dtype.unwrap_or(default));
    }
    let inferred = default.to_complex()?;
    match dtype {
        None => Ok(inferred),
        Some(dtype) if dtype.is_complex() => Ok(dtype),
        Some(dtype) => bail!(
            RuntimeError,
            "torch.{name}(): inferred dtype {} can't be safely cast to passed dtype {}",
            inferred.cpp_name(),
            dtype.scalar_type()
        ),
    }
}

/// Refuses dtypes that `linspace` and `logspace` do not support. Returns whether values must be computed.
fn check_spaced(kernel: &str, steps: i64, dtype: DType, device: Device) -> Result<bool> {
    let supported = is_countable(dtype) || dtype.is_complex() && dtype != DType::ComplexHalf;
    if steps > 1 && !supported {
        unsupported(kernel, dtype, device)?;
    }
    Ok(steps > 1 && !device.is_meta())
}

/// Computes `steps` values from `start` to `end` inclusive. The first half counts up from `start`, the second down from
/// `end`.
///
/// # Errors
/// RuntimeError for negative `steps`, ends the dtype cannot hold, and unsupported dtypes.
pub fn linspace(
    start: Scalar,
    end: Scalar,
    steps: i64,
    dtype: Option<DType>,
    default: DType,
    device: Device,
) -> Result<View> {
    let dtype = spaced_dtype("linspace", [start, end], steps, dtype, default)?;
    let compute = check_spaced("linspace_cpu", steps, dtype, device.available()?)?;
    let out = View::zeros(&[steps], dtype, device)?;
    if steps == 1 {
        fill(&out, start)?;
    }
    if !compute {
        return Ok(out);
    }
    check_fits(start, dtype)?;
    check_fits(end, dtype)?;
    match dtype {
        DType::Float => {
            let (a, b) = (start.to_f32(), end.to_f32());
            let step = (b - a) / (steps - 1) as f32;
            generate::<f32>(&out, move |i| {
                // Without a branch, so that the loop is vectorised.
                let near = i < steps / 2;
                let (count, step, end) = if near { (i, step, a) } else { (steps - i - 1, -step, b) };
                step.mul_add(count as f32, end)
            })?;
        }
        DType::Double => {
            let (a, b) = (start.to_f64(), end.to_f64());
            let step = (b - a) / (steps - 1) as f64;
            generate::<f64>(&out, move |i| spaced(i, steps, a, b, step))?;
        }
        DType::Half => stepwise::<f16>(&out, start, end, steps)?,
        DType::BFloat16 => stepwise::<bf16>(&out, start, end, steps)?,
        d if d.is_complex() => {
            dispatch!(d, T => complex_spaced::<T>(&out, start, end, steps))?;
        }
        d => {
            // Round the ends to the dtype first, then step in double.
            let (a, b) = (rounded(start, d), rounded(end, d));
            let step = (b - a) / (steps - 1) as f64;
            integers(&out, move |i| Scalar::Float(spaced(i, steps, a, b, step)).to_i64())?;
        }
    }
    Ok(out)
}

/// Returns `Ok` with the steps from the start to `i` or, in the second half, `Err` with the steps from the end.
fn from_nearer_end(i: i64, steps: i64) -> Result<i64, i64> {
    if i < steps / 2 { Ok(i) } else { Err(steps - i - 1) }
}

#[inline(always)]
fn spaced(i: i64, steps: i64, a: f64, b: f64, step: f64) -> f64 {
    let near = i < steps / 2;
    let (count, step, end) = if near { (i, step, a) } else { (steps - i - 1, -step, b) };
    step.mul_add(count as f64, end)
}

/// `linspace` in a 16-bit float, with every operation rounded.
fn stepwise<S: Stored<Compute = f32>>(out: &View, start: Scalar, end: Scalar, steps: i64) -> Result<()> {
    let round = |v: f32| S::narrow(v).widen();
    let (a, b) = (round(start.to_f32()), round(end.to_f32()));
    let step = round(round(b - a) / round((steps - 1) as f32));
    generate::<S>(out, |i| match from_nearer_end(i, steps) {
        Ok(i) => a + round(step * round(i as f32)),
        Err(back) => b - round(step * round(back as f32)),
    })
}

/// `linspace` of complex numbers: real and imaginary parts are spaced separately.
fn complex_spaced<S: Stored>(out: &View, start: Scalar, end: Scalar, steps: i64) -> Result<()> {
    let single = out.dtype == DType::ComplexFloat;
    let (a, b) = (start.to_complex(), end.to_complex());
    let part = |i: i64, a: f64, b: f64| {
        if single {
            let (a, b) = (a as f32, b as f32);
            let step = (b - a) / (steps - 1) as f32;
            f64::from(match from_nearer_end(i, steps) {
                Ok(i) => step.mul_add(i as f32, a),
                Err(back) => (-step).mul_add(back as f32, b),
            })
        } else {
            spaced(i, steps, a, b, (b - a) / (steps - 1) as f64)
        }
    };
    generate::<S>(out, move |i| {
        let value = Complex::new(part(i, a.re, b.re), part(i, a.im, b.im));
        S::Compute::from_scalar(Scalar::Complex(value))
    })
}

/// Raises `base` to the powers given by [`linspace`].
///
/// # Errors
/// Those of [`linspace`].
pub fn logspace(
    start: Scalar,
    end: Scalar,
    steps: i64,
    base: f64,
    dtype: Option<DType>,
    default: DType,
    device: Device,
) -> Result<View> {
    let dtype = spaced_dtype("logspace", [start, end], steps, dtype, default)?;
    let compute = check_spaced("logspace_cpu", steps, dtype, device.available()?)?;
    let out = View::zeros(&[steps], dtype, device)?;
    if dtype.is_complex() {
        let (a, b) = (start.to_complex(), end.to_complex());
        let step = (b - a) / (steps - 1).max(1) as f64;
        let power = |exponent: Complex<f64>| Scalar::Complex(Complex::new(base, 0.0).powc(exponent));
        if steps == 1 {
            fill(&out, power(a))?;
        }
        if compute {
            dispatch!(dtype, T => generate::<T>(&out, |i| Number::from_scalar(power(match from_nearer_end(i, steps) {
                Ok(i) => a + step * i as f64,
                Err(back) => b - step * back as f64,
            }))))?;
        }
        return Ok(out);
    }
    if steps == 1 {
        fill(&out, Scalar::Float(base.powf(as_double(start)?)))?;
    }
    if compute {
        check_fits(start, dtype)?;
        check_fits(end, dtype)?;
        logarithmic(&out, start, end, steps, base)?;
    }
    Ok(out)
}

fn logarithmic(out: &View, start: Scalar, end: Scalar, steps: i64, base: f64) -> Result<()> {
    let (a, b) = (rounded(start, out.dtype), rounded(end, out.dtype));
    // The difference of floating ends is rounded to their own type.
    let span = if out.dtype.is_floating_point() { rounded(Scalar::Float(b - a), out.dtype) } else { b - a };
    let step = span / (steps - 1) as f64;
    dispatch!(out.dtype, T => {
        generate::<T>(out, |i| {
            let exponent = match from_nearer_end(i, steps) {
                Ok(i) => a + step * i as f64,
                Err(back) => b - step * back as f64,
            };
            Number::from_scalar(Scalar::Float(base.powf(exponent)))
        })
    })
}

/// Rounds a number to a dtype.
pub fn rounded(value: Scalar, dtype: DType) -> f64 {
    dispatch!(dtype, T => <T as Element>::store(value).load()).to_f64()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::promote::Operand;
    use crate::ops::promote::testing::{held, show};

    fn number(text: &str) -> Scalar {
        match held(&format!("#{text}")).operand() {
            Operand::Number(number) => number,
            Operand::Tensor(_) => panic!("{text}"),
        }
    }

    /// start | end | step | dtype | result of PyTorch 2.7.0
    const ARANGE: &str = r#"
    0 | 5 | 1 | - | int64 0 1 2 3 4
    1 | 2.5 | 0.5 | - | float32 1 1.5 2
    5 | 0 | -2 | - | int64 5 3 1
    0 | 0 | 1 | - | int64
    0 | 1 | 0.1 | - | float32 0 0.10000000149011612 0.20000000298023224 0.30000001192092896 0.4000000059604645 0.5 0.6000000238418579 0.699999988079071 0.800000011920929 0.8999999761581421
    0 | 5 | 0 | - | RuntimeError: step must be nonzero
    0 | 5 | -1 | - | RuntimeError: upper bound and larger bound inconsistent with step sign
    0.0 | nan | 1 | - | RuntimeError: unsupported range: 0 -> nan
    0 | inf | 1 | - | RuntimeError: unsupported range: 0 -> inf
    0 | 1e+30 | 1 | - | RuntimeError: invalid size, possible overflow?
    1 | 5 | 0.5 | int64 | RuntimeError: step must be nonzero
    0.5 | 5 | 1 | int64 | int64 0 1 2 3 4
    0 | 300 | 100 | int8 | int8 0 100 -56
    -1 | 3 | 1 | uint8 | uint8 255 0 1 2
    0 | 3 | 1 | bool | RuntimeError: "arange_cpu" not implemented for 'Bool'
    0 | 3 | 1 | uint16 | RuntimeError: "arange_cpu" not implemented for 'UInt16'
    0+1j | 5 | 1 | - | RuntimeError: value cannot be converted to type double without overflow
    0 | 9007199254740995 | 9007199254740993 | - | int64 0 9007199254740993
    0.9 | 5.9 | 1.3 | int32 | int32 0 1 2 3
    0 | 3 | 1 | float16 | float16 0 1 2
    "#;

    #[test]
    fn counted() {
        for line in ARANGE.lines().map(str::trim).filter(|line| !line.is_empty()) {
            let cells: Vec<&str> = line.split(" | ").collect();
            let [start, end, step, dtype, want] = cells[..] else { panic!("{line}") };
            let dtype = DType::from_name(dtype);
            let got = arange(number(start), number(end), number(step), dtype, DType::Float, Device::CPU);
            assert_eq!(show(got), want, "{line}");
        }
    }

    /// start | end | steps | dtype | result of PyTorch 2.7.0
    const LINSPACE: &str = r#"
    0 | 1 | 5 | - | float32 0 0.25 0.5 0.75 1
    0 | 10 | 1 | - | float32 0
    0 | 1 | 0 | - | float32
    0 | 10 | 4 | int64 | int64 0 3 6 10
    3 | -3 | 4 | - | float32 3 1 -1 -3
    0 | 1 | -1 | - | RuntimeError: number of steps must be non-negative
    0 | 1 | 3 | bool | RuntimeError: "linspace_cpu" not implemented for 'Bool'
    0 | 1 | 1 | bool | bool False
    0 | 300 | 3 | uint8 | RuntimeError: value cannot be converted to type uint8_t without overflow
    0.9 | 5.9 | 3 | int32 | int32 0 2 5
    0+1j | 3 | 3 | - | complex64 0+1j 1.5+0.5j 3+0j
    0 | 0+1j | 3 | float32 | RuntimeError: torch.linspace(): inferred dtype c10::complex<float> can't be safely cast to passed dtype Float
    0 | 1 | 4 | float16 | float16 0 0.333251953125 0.6669921875 1
    0 | 0.7 | 7 | - | float32 0 0.11666666716337204 0.23333333432674408 0.3499999940395355 0.46666663885116577 0.5833333134651184 0.699999988079071
    "#;

    #[test]
    fn spaced_evenly() {
        for line in LINSPACE.lines().map(str::trim).filter(|line| !line.is_empty()) {
            let cells: Vec<&str> = line.split(" | ").collect();
            let [start, end, steps, dtype, want] = cells[..] else { panic!("{line}") };
            let (steps, dtype) = (number(steps).to_i64(), DType::from_name(dtype));
            let got = linspace(number(start), number(end), steps, dtype, DType::Float, Device::CPU);
            assert_eq!(show(got), want, "{line}");
        }
    }

    #[test]
    fn the_rest() {
        let (float, cpu) = (DType::Float, Device::CPU);
        let int = Scalar::Int;
        assert_eq!(show(logspace(int(0), int(2), 3, 10.0, None, float, cpu)), "float32 1 10 100");
        assert_eq!(show(eye(2, 3, DType::Long, cpu)), "int64[2,3] 1 0 0 0 1 0");
        assert_eq!(show(eye(-1, 3, float, cpu)), "RuntimeError: n must be greater or equal to 0, got -1");
        assert_eq!(show(eye(2, 2, DType::UInt16, cpu)), "RuntimeError: \"eye\" not implemented for 'UInt16'");
        assert_eq!(show(full(&[2], Scalar::Bool(true), None, float, cpu)), "bool True True");
        assert_eq!(show(full(&[2], int(7), None, float, cpu)), "int64 7 7");
        assert_eq!(show(range(int(1), int(3), int(1), None, float, cpu)), "float32 1 2 3");
        assert_eq!(
            show(empty_strided(&[2, 3], &[1], float, cpu)),
            "RuntimeError: dimensionality of sizes (2) must match dimensionality of strides (1)"
        );
        assert_eq!(show(arange(int(0), int(3), int(1), Some(DType::Bool), float, Device::META)), "bool without data");
    }
}
