//! Quantized tensors: integers that represent real numbers with a scale and a zero point. Follows
//! <https://pytorch.org/docs/2.7/generated/torch.quantize_per_tensor.html>.

use super::{copy, reduce, view as views};
use crate::bail;
use crate::form::dequantized;
use crate::layout::show;
use crate::{DType, Error, Form, Layout, Quantizer, Result, Scalar, View};
use std::rc::Rc;

/// Returns the smallest and the largest integer of a quantized dtype.
///
/// # Errors
/// RuntimeError for other dtypes.
pub fn limits(dtype: DType) -> Result<(i64, i64)> {
    Ok(match dtype {
        DType::QInt8 => (-128, 127),
        DType::QUInt8 => (0, 255),
        DType::QInt32 => (i64::from(i32::MIN), i64::from(i32::MAX)),
        DType::QUInt4x2 | DType::QUInt2x4 => {
            bail!(RuntimeError, "torch.{} packs several numbers into a byte, which is not supported", dtype.name())
        }
        other => bail!(RuntimeError, "ScalarType {} is not supported in new_qtensor.", other.scalar_type()),
    })
}

/// Wraps integers as a quantized tensor.
pub fn wrap(integers: View, dtype: DType, quantizer: Quantizer) -> View {
    View { dtype, form: Some(Rc::new(Form::Quantized(quantizer))), ..integers }
}

/// Wraps integers as a tensor quantized like `model`.
///
/// # Errors
/// RuntimeError unless there is one scale for each channel.
pub fn wrap_like(integers: View, model: &View) -> Result<View> {
    let Some(quantizer) = model.quantizer() else { return Ok(integers) };
    if let Quantizer::PerChannel { scales, axis, .. } = quantizer {
        let channels = integers.sizes().get(*axis).copied().unwrap_or(0);
        if channels != scales.numel() {
            bail!(RuntimeError, "length of scales must equal to channel, expected {channels} got, {}", scales.numel());
        }
    }
    Ok(wrap(integers, model.dtype, quantizer.clone()))
}

/// Returns the underlying integers, sharing storage; other tensors are returned unchanged.
pub fn integers(view: &View) -> View {
    match view.quantizer() {
        Some(_) => View { dtype: view.dtype.stored_integers(), form: None, ..view.clone() },
        None => view.clone(),
    }
}

fn check_input(view: &View, dtype: DType) -> Result<(i64, i64)> {
    let limits = limits(dtype)?;
    if view.dtype != DType::Float {
        bail!(RuntimeError, "Quantize only works on Float Tensor, got {}", view.dtype.scalar_type());
    }
    Ok(limits)
}

fn check_zero_point(function: &str, zero_point: i64, (low, high): (i64, i64)) -> Result<()> {
    if zero_point > high {
        bail!(RuntimeError, "{function} zero_point {zero_point} is above upper bound.");
    }
    if zero_point < low {
        bail!(RuntimeError, "{function} zero_point {zero_point} is below lower bound.");
    }
    Ok(())
}

/// Quantizes one number: rounds to the nearest integer, ties to even, and clamps. Computed in single precision, like
/// PyTorch.
fn quantized(value: f64, scale: f64, zero_point: i64, (low, high): (i64, i64)) -> Scalar {
    let inverse = 1.0 / scale as f32;
    let steps = f64::from((value as f32) * inverse);
    if steps.is_nan() {
        return Scalar::Int(high);
    }
    let integer = steps.round_ties_even() + zero_point as f64;
    Scalar::Int((integer.clamp(low as f64, high as f64)) as i64)
}

/// `torch.quantize_per_tensor(x, scale, zero_point, dtype)`.
///
/// # Errors
/// RuntimeError for a dtype that is not quantized, an input other than float32, or a zero point out of range.
pub fn per_tensor(view: &View, scale: f64, zero_point: i64, dtype: DType) -> Result<View> {
    let limits = check_input(view, dtype)?;
    check_zero_point("quantize_tensor_per_tensor_affine", zero_point, limits)?;
    let values = view.scalars()?.into_iter().map(|value| quantized(value.to_f64(), scale, zero_point, limits));
    let integers = View::from_scalars(view.sizes(), dtype.stored_integers(), values)?;
    Ok(wrap(integers, dtype, Quantizer::PerTensor { scale, zero_point }))
}

/// `torch.quantize_per_channel(x, scales, zero_points, axis, dtype)`. Zero points of dtype float32 are added before
/// rounding.
///
/// # Errors
/// Those of [`per_tensor`]; RuntimeError if scales, zero points and axis do not match.
pub fn per_channel(view: &View, scales: &View, zero_points: &View, axis: i64, dtype: DType) -> Result<View> {
    let limits = check_input(view, dtype)?;
    if scales.ndim() != 1 {
        bail!(RuntimeError, "scale tensor must have dimension 1");
    }
    if zero_points.ndim() != 1 {
        bail!(RuntimeError, "zero_points tensor must have dimension 1");
    }
    if scales.numel() != zero_points.numel() {
        bail!(RuntimeError, "number of elements in scales and zero_points must match");
    }
    let Some(&channels) = usize::try_from(axis).ok().and_then(|axis| view.sizes().get(axis)) else {
        bail!(
            RuntimeError,
            "Channel axis out of range in per channel affine quantization. Got: {axis}Expected: [0, {})",
            view.ndim()
        );
    };
    if channels != scales.numel() {
        bail!(RuntimeError, "length of scales must equal to channel, expected {channels} got, {}", scales.numel());
    }
    let floating = zero_points.dtype.is_floating_point();
    let (scales, zero_points) = match floating {
        true => (copy::cast(scales, DType::Float)?, copy::cast(zero_points, DType::Float)?),
        false => (copy::cast(scales, DType::Double)?, copy::cast(zero_points, DType::Long)?),
    };
    let points = zero_points.scalars()?;
    if !floating {
        points
            .iter()
            .try_for_each(|point| check_zero_point("quantize_tensor_per_channel_affine", point.to_i64(), limits))?;
    }
    let factors = scales.scalars()?;
    let values = view.scalars()?.into_iter().zip(channel_of(view.sizes(), axis as usize)).map(|(value, channel)| {
        let (scale, point) = (factors[channel].to_f64(), points[channel]);
        match floating {
            true => {
                let steps = value.to_f64() as f32 * (1.0 / scale as f32) + point.to_f64() as f32;
                Scalar::Int((f64::from(steps).round_ties_even().clamp(limits.0 as f64, limits.1 as f64)) as i64)
            }
            false => quantized(value.to_f64(), scale, point.to_i64(), limits),
        }
    });
    let integers = View::from_scalars(view.sizes(), dtype.stored_integers(), values)?;
    Ok(wrap(
        integers,
        dtype,
        Quantizer::PerChannel { scales: Box::new(scales), zero_points: Box::new(zero_points), axis: axis as usize },
    ))
}

/// Iterates over the elements' indices along one dimension, in row-major order of the elements.
fn channel_of(sizes: &[i64], axis: usize) -> impl Iterator<Item = usize> {
    let channels = sizes[axis].max(1) as usize;
    let inner = sizes[axis + 1..].iter().product::<i64>().max(1) as usize;
    (0..).map(move |position| position / inner % channels)
}

/// `dequantize()`: converts to float32. Tensors that are not quantized are cast.
pub fn dequantize(view: &View) -> Result<View> {
    let plain = integers(view).scalars()?;
    let value = |integer: Scalar, scale: f64, point: f64| Scalar::Float(dequantized(integer.to_f64(), scale, point));
    match view.quantizer() {
        None => copy::cast(view, DType::Float),
        Some(Quantizer::PerTensor { scale, zero_point }) => {
            let values = plain.into_iter().map(|integer| value(integer, *scale, *zero_point as f64));
            View::from_scalars(view.sizes(), DType::Float, values)
        }
        Some(Quantizer::PerChannel { scales, zero_points, axis }) => {
            let (factors, points) = (scales.scalars()?, zero_points.scalars()?);
            let values = plain.into_iter().zip(channel_of(view.sizes(), *axis)).map(|(integer, channel)| {
                let (scale, point) = (factors[channel].to_f64(), points[channel].to_f64());
                value(integer, scale, point)
            });
            View::from_scalars(view.sizes(), DType::Float, values)
        }
    }
}

/// Quantizes real numbers with the parameters of `model`.
///
/// # Errors
/// RuntimeError if `model` has a scale for each channel and other sizes.
pub fn like(values: &View, model: &View) -> Result<View> {
    let values = copy::cast(values, DType::Float)?;
    match model.quantizer() {
        Some(Quantizer::PerTensor { scale, zero_point }) => per_tensor(&values, *scale, *zero_point, model.dtype),
        Some(Quantizer::PerChannel { scales, zero_points, axis }) => {
            per_channel(&values, scales, zero_points, *axis as i64, model.dtype)
        }
        None => Ok(values),
    }
}

/// Smaller scales are not used: their reciprocals would lose precision.
const SMALLEST_SCALE: f64 = 6.1e-5;

/// Chooses the scale and zero point that fit a tensor's range into a quantized dtype. Zero is represented exactly.
///
/// # Errors
/// RuntimeError for dtypes other than qint8 and quint8, and for an empty tensor.
pub fn choose_parameters(view: &View, dtype: DType, reduce_range: bool) -> Result<(f64, i64)> {
    let (mut low, mut high) = match dtype {
        DType::QInt8 | DType::QUInt8 => limits(dtype)?,
        other => bail!(RuntimeError, "dtype {}not supported", other.scalar_type()),
    };
    if reduce_range {
        (low, high) = (low / 2, high / 2);
    }
    if view.numel() == 0 {
        bail!(
            RuntimeError,
            "aminmax(): Expected reduction dim to be specified for input.numel() == 0, got {}",
            show(view.sizes())
        );
    }
    let (least, most) = reduce::aminmax(view, None, false)?;
    let (mut least, mut most) = (least.item()?.to_f64().min(0.0), most.item()?.to_f64().max(0.0));
    let range = (high - low) as f64;
    let mut scale = (most - least) / range;
    if scale as f32 == 0.0 || (1.0 / scale as f32).is_infinite() {
        scale = 0.1;
    }
    if scale < SMALLEST_SCALE {
        let by = SMALLEST_SCALE / scale;
        if least == 0.0 {
            most = SMALLEST_SCALE * range;
        } else if most == 0.0 {
            least = -SMALLEST_SCALE * range;
        } else {
            (least, most) = (least * by, most * by);
        }
        scale = SMALLEST_SCALE;
    }
    let from_low = low as f64 - least / scale;
    let from_high = high as f64 - most / scale;
    let low_error = (low as f64).abs() - (least / scale).abs();
    let high_error = (high as f64).abs() - (most / scale).abs();
    let point = if low_error < high_error { from_low } else { from_high };
    let point = if point < low as f64 {
        low
    } else if point > high as f64 {
        high
    } else {
        point.round_ties_even() as i64
    };
    Ok((scale, point))
}

/// Computes the maximum of every window along the last dimensions; there is one [`PoolWindow`] per dimension.
///
/// # Errors
/// RuntimeError for invalid windows.
pub fn max_pool(view: &View, windows: &[PoolWindow]) -> Result<View> {
    let Some(quantizer) = view.quantizer() else { bail!(RuntimeError, "a quantized tensor is needed") };
    let lowest = Scalar::Int(limits(view.dtype)?.0);
    let leading = view.ndim().saturating_sub(windows.len());
    let mut out = integers(view);
    for (d, window) in (leading..).zip(windows) {
        out = window.pool(&out, d, lowest)?;
    }
    Ok(wrap(copy::clone(&out)?, view.dtype, quantizer.clone()))
}

/// The windows along one dimension.
#[derive(Clone, Copy, Debug)]
pub struct PoolWindow {
    pub size: i64,
    pub stride: i64,
    pub padding: i64,
    pub dilation: i64,
    /// Whether to count a window that begins within the input and ends beyond it.
    pub ceil: bool,
}

impl PoolWindow {
    /// Counts the windows.
    fn count(&self, size: i64) -> Result<i64> {
        if self.size <= 0 || self.stride <= 0 || self.dilation <= 0 {
            bail!(RuntimeError, "kernel_size, stride and dilation should be greater than zero.");
        }
        if self.padding < 0 || self.padding > self.size / 2 {
            bail!(
                RuntimeError,
                "pad should be at most half of effective kernel size, but got pad={}, kernel_size={} and dilation={}",
                self.padding,
                self.size,
                self.dilation
            );
        }
        let [wide, stride, padding] = [size, self.stride, self.padding].map(i128::from);
        let room = wide + 2 * padding - i128::from(self.dilation) * i128::from(self.size - 1) - 1;
        let mut count = if self.ceil { room + stride - 1 } else { room }.div_euclid(stride) + 1;
        if self.ceil && (count - 1) * stride >= wide + padding {
            count -= 1;
        }
        if count <= 0 {
            bail!(
                RuntimeError,
                "Given input size: ({size}). Calculated output size: ({count}). Output size is too small"
            );
        }
        i64::try_from(count).map_err(|_| Error::runtime("integer out of range"))
    }

    /// Computes the maximum of each window along dimension `d`.
    fn pool(&self, view: &View, d: usize, lowest: Scalar) -> Result<View> {
        let size = view.sizes()[d];
        let count = self.count(size)?;
        let mut sizes = view.layout.sizes.clone();
        sizes[d] = count;
        let out = View::zeros(&sizes, view.dtype, view.device())?;
        copy::fill(&out, lowest)?;
        for window in 0..count {
            let start = window * self.stride - self.padding;
            let target = out.with_layout(out.layout.select(d, window));
            // Positions outside the dimension are padding and are skipped.
            let steps = |distance: i64| distance.max(0).saturating_add(self.dilation - 1) / self.dilation;
            for i in steps(-start)..steps(size - start).min(self.size) {
                let at = start + i * self.dilation;
                let source = view.with_layout(view.layout.select(d, at));
                let larger = super::pointwise::binary(
                    super::pointwise::BinaryOp::Maximum,
                    (&target).into(),
                    (&source).into(),
                    super::pointwise::Output::New,
                    DType::Float,
                )?;
                copy::copy_into(&target, &larger)?;
            }
        }
        Ok(out)
    }
}

/// `x[index]` for a tensor with a scale for each channel: the result has the scale of the selected channel.
///
/// # Errors
/// RuntimeError for other views, because PyTorch cannot set their strides.
pub fn select_channel(view: &View, dim: usize, at: i64) -> Result<View> {
    match view.quantizer() {
        Some(Quantizer::PerChannel { scales, zero_points, axis }) if *axis == dim => {
            let item = |parameters: &View| views::select(parameters, 0, at)?.item();
            let quantizer =
                Quantizer::PerTensor { scale: item(scales)?.to_f64(), zero_point: item(zero_points)?.to_i64() };
            let chosen: Layout = view.layout.select(dim, at);
            Ok(wrap(integers(view).with_layout(chosen), view.dtype, quantizer))
        }
        _ => bail!(RuntimeError, "Setting strides is possible only on uniformly quantized tensor"),
    }
}

/// Quantizes and dequantizes without an intermediate quantized tensor. With `axis`, this is
/// `torch.fake_quantize_per_channel_affine`, with a scale and zero point for each index; otherwise
/// `torch.fake_quantize_per_tensor_affine`.
///
/// # Errors
/// RuntimeError for inconsistent limits, or zero points outside of them.
pub fn fake(view: &View, scales: &[f64], points: &[f64], axis: Option<usize>, limits: (i64, i64)) -> Result<View> {
    let (low, high) = limits;
    if low > high {
        bail!(RuntimeError, "`quant_min` should be less than or \n        equal to `quant_max`.");
    }
    let outside = |point: &&f64| !(low as f64..=high as f64).contains(*point);
    if points.iter().find(outside).is_some() {
        bail!(RuntimeError, "`zero_point` must be between `quant_min` and `quant_max`.");
    }
    let channels: Box<dyn Iterator<Item = usize>> = match axis {
        Some(axis) => Box::new(channel_of(view.sizes(), axis)),
        None => Box::new(std::iter::repeat(0)),
    };
    let values = view.scalars()?.into_iter().zip(channels).map(|(value, channel)| {
        let scale = scales[channel] as f32;
        let steps = f64::from(value.to_f64() as f32 * (1.0 / scale)).round_ties_even() + points[channel];
        let integer = steps.clamp(low as f64, high as f64);
        Scalar::Float(f64::from((integer - points[channel]) as f32 * scale))
    });
    let out = View::zeros_strided(view.sizes(), view.layout.like_strides(), view.dtype, view.device())?;
    copy::copy_into(&out, &View::from_scalars(view.sizes(), view.dtype, values)?)?;
    Ok(out)
}
