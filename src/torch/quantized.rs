//! Quantized tensors: creating them, and the kernels that functions for dense tensors use for them. Follows
//! <https://pytorch.org/docs/2.7/quantization-support.html>.

use super::deterministic;
use call::facets::{Dispatch::AsIs, ONE_SCALE};
use call::reads::EACH;
use call::{Call, Row, both, function, method};
use tensor::bail;
use tensor::layout::wrap_dim;
use tensor::ops::pointwise::{self, Output, UnaryOp};
use tensor::ops::quantize::{self as ops, PoolWindow};
use tensor::ops::{copy, view as views};
use tensor::{DType, Error, Quantizer, Result, Scalar, Tensor, View};
use value::Value;

pub(crate) const ROWS: &[Row] = &[
    function(
        "quantize_per_tensor.tensor_qparams(Tensor input, Tensor scale, Tensor zero_point, ScalarType dtype) \
 -> Tensor",
        |c| {
            let (scale, zero_point) = (c.view(1)?.item()?.to_f64(), c.view(2)?.item()?.to_i64());
            ops::per_tensor(&c.view(0)?, scale, zero_point, dtype(c, 3)?).map(Value::from)
        },
        "Quantizes numbers to integers of a dtype, by one scale and zero point.",
    ),
    function(
        "quantize_per_tensor(Tensor input, float scale, int zero_point, ScalarType dtype) -> Tensor",
        |c| ops::per_tensor(&c.view(0)?, c.scalar(1)?.to_f64(), c.int(2)?, dtype(c, 3)?).map(Value::from),
        "Quantizes numbers to integers of a dtype, by one scale and zero point.",
    ),
    function(
        "quantize_per_tensor.tensors(Tensor[] tensors, Tensor scales, Tensor zero_points, ScalarType dtype) \
 -> Tensor[]",
        |c| {
            let (scales, points) = (c.view(1)?.scalars()?, c.view(2)?.scalars()?);
            let each = c.views(0)?.into_iter().zip(scales).zip(points);
            let quantized: Result<Vec<Value>> = each
                .map(|((view, scale), point)| {
                    ops::per_tensor(&view, scale.to_f64(), point.to_i64(), dtype(c, 3)?).map(Value::from)
                })
                .collect();
            Ok(Value::tuple(quantized?))
        },
        "Quantizes several tensors, each by its own scale and zero point.",
    ),
    function(
        "quantize_per_tensor_dynamic(Tensor input, ScalarType dtype, bool reduce_range) -> Tensor",
        |c| {
            let (view, dtype) = (c.view(0)?, dtype(c, 1)?);
            if dtype == DType::Half {
                return copy::cast(&view, dtype).map(Value::from);
            }
            let (scale, zero_point) = ops::choose_parameters(&view, dtype, c.bool(2)?)?;
            ops::per_tensor(&view, scale, zero_point, dtype).map(Value::from)
        },
        "Quantizes numbers to integers by the scale and zero point that suit them.",
    ),
    function(
        "quantize_per_channel(Tensor input, Tensor scales, Tensor zero_points, int axis, ScalarType dtype) \
 -> Tensor",
        |c| ops::per_channel(&c.view(0)?, &c.view(1)?, &c.view(2)?, c.int(3)?, dtype(c, 4)?).map(Value::from),
        "Quantizes numbers to integers, by a scale and zero point for each index of a dimension.",
    ),
    both(
        "dequantize(Tensor self) -> Tensor",
        |c| {
            let view = c.view(0)?;
            let is_plain = view.dtype == DType::Float && view.quantizer().is_none();
            if is_plain { Ok(c.itself()) } else { ops::dequantize(&view).map(Value::from) }
        },
        "Returns the numbers as float32.",
    )
    .operation("dequantize.self")
    .quantized(AsIs),
    function(
        "dequantize.tensors(Tensor[] tensors) -> Tensor[]",
        |c| {
            let numbers: Result<Vec<Value>> =
                c.views(0)?.iter().map(|view| ops::dequantize(view).map(Value::from)).collect();
            Ok(Value::tuple(numbers?))
        },
        "Returns the numbers of several tensors as float32.",
    )
    .quantized(AsIs),
    both(
        "int_repr(Tensor self) -> Tensor",
        |c| {
            let view = c.view(0)?;
            quantizer(&view, "int_repr")?;
            copy::clone(&ops::integers(&view)).map(Value::from)
        },
        "Returns the integers.",
    )
    .any_layout()
    .not_differentiable(),
    method(
        "qscheme(Tensor self) -> any",
        |c| {
            let view = c.view(0)?;
            let name = quantizer(&view, "qscheme")?.scheme();
            objects::modules::scheme(name).ok_or_else(|| Error::runtime("unknown quantization scheme"))
        },
        "Returns the quantization scheme.",
    )
    .any_layout()
    .not_differentiable(),
    both(
        "q_scale(Tensor self) -> float",
        |c| match quantizer(&c.view(0)?, "q_scale")? {
            Quantizer::PerTensor { scale, .. } => Ok(Value::Float(*scale)),
            _ => expected("quantizer->qscheme() == kPerTensorAffine"),
        },
        "Returns the number that one step of the integers stands for.",
    )
    .any_layout(),
    both(
        "q_zero_point(Tensor self) -> int",
        |c| match quantizer(&c.view(0)?, "q_zero_point")? {
            Quantizer::PerTensor { zero_point, .. } => Ok(Value::Int(*zero_point)),
            _ => expected("quantizer->qscheme() == kPerTensorAffine"),
        },
        "Returns the integer that stands for zero.",
    )
    .any_layout(),
    both(
        "q_per_channel_scales(Tensor self) -> Tensor",
        |c| per_channel(c, |scales, _, _| Value::from(scales.clone())),
        "Returns the scale of each channel.",
    )
    .any_layout()
    .not_differentiable(),
    both(
        "q_per_channel_zero_points(Tensor self) -> Tensor",
        |c| per_channel(c, |_, points, _| Value::from(points.clone())),
        "Returns the zero point of each channel.",
    )
    .any_layout()
    .not_differentiable(),
    both(
        "q_per_channel_axis(Tensor self) -> int",
        |c| per_channel(c, |_, _, axis| Value::Int(axis as i64)),
        "Returns the dimension with a scale for each index.",
    )
    .any_layout(),
    function(
        "fake_quantize_per_tensor_affine.tensor_qparams(Tensor self, Tensor scale, Tensor zero_point, int \
 quant_min, int quant_max) -> Tensor",
        |c| {
            let (scale, point) = (c.view(1)?.item()?.to_f64(), c.view(2)?.item()?.to_f64());
            ops::fake(&c.view(0)?, &[scale], &[point], None, (c.int(3)?, c.int(4)?)).map(Value::from)
        },
        "Rounds numbers as quantizing would.",
    )
    .operation("_fake_quantize_per_tensor_affine_cachemask_tensor_qparams"),
    function(
        "fake_quantize_per_tensor_affine(Tensor self, float scale, int zero_point, int quant_min, int \
 quant_max) -> Tensor",
        |c| {
            let (scale, point) = (c.scalar(1)?.to_f64(), c.int(2)? as f64);
            ops::fake(&c.view(0)?, &[scale], &[point], None, (c.int(3)?, c.int(4)?)).map(Value::from)
        },
        "Rounds numbers as quantizing would.",
    )
    .reads(EACH)
    .operation("fake_quantize_per_tensor_affine_cachemask"),
    function(
        "fake_quantize_per_channel_affine(Tensor self, Tensor scale, Tensor zero_point, int axis, int \
 quant_min, int quant_max) -> Tensor",
        fake_per_channel,
        "Rounds numbers as quantizing by a scale for each channel would.",
    )
    .operation("fake_quantize_per_channel_affine_cachemask"),
    function(
        "quantized_max_pool1d(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] padding=0, int[1] \
 dilation=1, bool ceil_mode=False) -> Tensor",
        |c| max_pool(c, 1),
        "Returns the largest number of every window along the last dimension.",
    )
    .quantized(AsIs),
    function(
        "quantized_max_pool2d(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, int[2] \
 dilation=1, bool ceil_mode=False) -> Tensor",
        |c| max_pool(c, 2),
        "Returns the largest number of every window along the last two dimensions.",
    )
    .quantized(AsIs),
    function(
        "quantized_batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor mean, Tensor var, float eps, \
 float output_scale, int output_zero_point) -> Tensor",
        batch_norm,
        "Shifts and scales each channel to a mean and a variance, and quantizes again.",
    )
    .quantized(AsIs),
];

fn dtype(call: &Call, index: usize) -> Result<DType> {
    call.opt_dtype(index).ok_or_else(|| Error::type_error("a dtype is needed"))
}

fn quantizer<'v>(view: &'v View, function: &str) -> Result<&'v Quantizer> {
    view.quantizer().ok_or_else(|| Error::no_backend(function, view.backend()))
}

fn expected<T>(condition: &str) -> Result<T> {
    bail!(
        RuntimeError,
        "Expected {condition} to be true, but got false.  (Could this error message be improved?  If so, please report an \
         enhancement request to PyTorch.)"
    )
}

fn per_channel(call: &mut Call, read: fn(&View, &View, usize) -> Value) -> Result<Value> {
    match quantizer(&call.view(0)?, call.signature.name)? {
        Quantizer::PerChannel { scales, zero_points, axis } => Ok(read(scales, zero_points, *axis)),
        Quantizer::PerTensor { .. } => expected(
            "quantizer->qscheme() == kPerChannelAffine || quantizer->qscheme() == kPerChannelAffineFloatQParams",
        ),
    }
}

/// `q.isinf()` and `q.isfinite()`, which have no kernel for the integers.
pub(crate) fn not_for_integers(call: &mut Call) -> Result<Value> {
    let (name, scalar_type) = (call.signature.name, call.tensor(0)?.borrow().dtype.scalar_type());
    bail!(RuntimeError, "\"{name}\" not implemented for '{scalar_type}'")
}

/// Refuses a tensor with a scale for each channel.
fn expect_one_scale(call: &Call) -> Result<()> {
    match call.tensor(0)?.borrow().quantizer() {
        Some(Quantizer::PerChannel { .. }) => bail!(RuntimeError, "{ONE_SCALE}"),
        _ => Ok(()),
    }
}

pub(crate) fn sigmoid(call: &mut Call) -> Result<Value> {
    expect_one_scale(call)?;
    let numbers = ops::dequantize(&call.view(0)?)?;
    let result = pointwise::unary(UnaryOp::Sigmoid, &numbers, Output::New, DType::Float)?;
    // Results lie between 0 and 1, so their scale does not depend on that of the input.
    ops::per_tensor(&result, 1.0 / 256.0, 0, call.tensor(0)?.borrow().dtype).map(Value::from)
}

pub(crate) fn type_name(call: &mut Call) -> Result<Value> {
    Ok(Value::str(format!("torch.quantized.{}", call.view(0)?.type_name())))
}

pub(crate) fn add(call: &mut Call) -> Result<Value> {
    arithmetic(call, "add.out")
}

pub(crate) fn div(call: &mut Call) -> Result<Value> {
    arithmetic(call, "div.out")
}

pub(crate) fn mul(call: &mut Call) -> Result<Value> {
    arithmetic(call, "mul.out")
}

pub(crate) fn sub(call: &mut Call) -> Result<Value> {
    arithmetic(call, "sub.out")
}

pub(crate) fn is_signed(_: &mut Call) -> Result<Value> {
    bail!(RuntimeError, "isSignedType not supported for quantized types")
}

pub(crate) fn tolist(_: &mut Call) -> Result<Value> {
    bail!(RuntimeError, "load_scalar: invalid type")
}

pub(crate) fn select(call: &mut Call) -> Result<Value> {
    let view = call.view(0)?;
    let (dim, at) = (wrap_dim(call.int(1)?, view.ndim())?, call.int(2)?);
    // Checks the bounds as for any tensor.
    let dense = views::select(&ops::integers(&view), dim as i64, at)?;
    match view.quantizer() {
        Some(Quantizer::PerChannel { .. }) => {
            let at = if at < 0 { at + view.sizes()[dim] } else { at };
            call.view_of(0, ops::select_channel(&view, dim, at)?)
        }
        Some(quantizer) => call.view_of(0, ops::wrap(dense, view.dtype, quantizer.clone())),
        None => call.view_of(0, dense),
    }
}

/// `q.resize_(size)` and `q.resize_as_(x)`, which resize the integers.
pub(crate) fn resize(call: &mut Call) -> Result<Value> {
    deterministic::alert(call.state, "quantized_resize_cpu_")?;
    let target = call.tensor(0)?.clone();
    let view = target.view();
    if let Some(Quantizer::PerChannel { .. }) = view.quantizer() {
        bail!(RuntimeError, "Can only resize quantized tensors with per-tensor schemes!");
    }
    let Some(dense) = call.state.registry.overload(call.signature.key) else { bail!(RuntimeError, "no such overload") };
    let integers = Tensor::new(ops::integers(&view));
    call.args[0] = Value::Tensor(integers.clone());
    let result = (dense.row.run)(call);
    call.args[0] = Value::Tensor(target.clone());
    result?;
    target.set_view(ops::wrap_like(integers.view(), &view)?);
    Ok(Value::Tensor(target))
}

/// `q.copy_(x)`: quantizes the numbers with the quantizer of `q`.
pub(crate) fn copy_numbers(call: &mut Call) -> Result<Value> {
    let (target, source) = (call.view(0)?, call.view(1)?);
    if target.quantizer().is_none() {
        bail!(
            RuntimeError,
            "Copying from quantized Tensor to non-quantized Tensor is not allowed, please use dequantize to get \
 a float Tensor from a quantized Tensor"
        );
    }
    let integers = match source.quantizer() {
        Some(_) if source.dtype != target.dtype => {
            bail!(RuntimeError, "Quantized Copy only works with same dtypes")
        }
        Some(_) => ops::integers(&source),
        None if source.dtype != DType::Float => {
            bail!(RuntimeError, "Quantized copy only works with kFloat as source Tensor")
        }
        None => {
            let source = views::expand(&source, target.sizes())?;
            ops::integers(&ops::like(&source, &target)?)
        }
    };
    copy::copy_into(&ops::integers(&target), &integers)?;
    Ok(call.itself())
}

/// Fails like PyTorch, which has arithmetic on quantized tensors in another module.
fn arithmetic(call: &mut Call, operation: &str) -> Result<Value> {
    match (call.value(0), call.value(1)) {
        (Value::Tensor(_), Value::Tensor(_)) => Err(Error::no_backend(operation, "QuantizedCPU")),
        _ => bail!(
            RuntimeError,
            "empty_strided not supported on quantized tensors yet see \
 https://github.com/pytorch/pytorch/issues/74540"
        ),
    }
}

/// Converts a quantized tensor to the dtype among the arguments, or that of the tensor. Only its own is accepted.
pub(crate) fn convert(call: &mut Call) -> Result<Value> {
    let own = call.tensor(0)?.borrow().dtype;
    let wanted = call.args.iter().skip(1).find_map(|value| match value {
        Value::DType(dtype) => Some(*dtype),
        Value::Tensor(other) => Some(other.borrow().dtype),
        _ => None,
    });
    match wanted {
        None => Ok(call.itself()),
        Some(dtype) if dtype == own => Ok(call.itself()),
        Some(dtype) if dtype.is_quantized() => expected("self.scalar_type() == src.scalar_type()"),
        Some(_) => cast(call),
    }
}

/// Fails with RuntimeError: a quantized tensor has no conversion to a dtype that is not.
pub(crate) fn cast(_: &mut Call) -> Result<Value> {
    bail!(RuntimeError, "Creation of quantized tensor requires quantized dtype like torch.quint8")
}

fn fake_per_channel(call: &mut Call) -> Result<Value> {
    let (view, scales, points, axis) = (call.view(0)?, call.view(1)?, call.view(2)?, call.int(3)?);
    if scales.dtype != DType::Float {
        bail!(RuntimeError, "Scale must be Float, found {}", scales.dtype.scalar_type());
    }
    if !matches!(points.dtype, DType::Int | DType::Float | DType::Half) {
        bail!(RuntimeError, "Zero-point must be Int32, Float or Half, found {}", points.dtype.scalar_type());
    }
    if scales.ndim() != 1 {
        bail!(RuntimeError, "scale should be a 1-D tensor");
    }
    if points.ndim() != 1 {
        bail!(RuntimeError, "zero point should be a 1-D tensor");
    }
    if scales.numel() != points.numel() {
        bail!(RuntimeError, "scale and zero-point need to have the same dimensions");
    }
    let Some(&channels) = usize::try_from(axis).ok().and_then(|axis| view.sizes().get(axis)) else {
        bail!(RuntimeError, "`axis` must be between 0 and number of dimensions of input");
    };
    if scales.numel() != channels {
        bail!(RuntimeError, "dimensions of scale and zero-point are not consistent with input tensor");
    }
    let numbers = |view: &View| -> Result<Vec<f64>> { Ok(view.scalars()?.into_iter().map(Scalar::to_f64).collect()) };
    let limits = (call.int(4)?, call.int(5)?);
    ops::fake(&view, &numbers(&scales)?, &numbers(&points)?, Some(axis as usize), limits).map(Value::from)
}

fn max_pool(call: &mut Call, dims: usize) -> Result<Value> {
    expect_one_scale(call)?;
    let number = |list: usize, d: usize, default: i64| -> Result<i64> {
        let given = match call.value(list) {
            Value::Int(one) => [one].into_iter().collect(),
            _ => call.ints(list)?,
        };
        Ok(match given.as_slice() {
            [] => default,
            [one] => *one,
            several => several.get(d).copied().unwrap_or(default),
        })
    };
    let windows: Result<Vec<PoolWindow>> = (0..dims)
        .map(|d| {
            let size = number(1, d, 1)?;
            let (stride, padding, dilation) = (number(2, d, size)?, number(3, d, 0)?, number(4, d, 1)?);
            Ok(PoolWindow { size, stride, padding, dilation, ceil: call.bool(5)? })
        })
        .collect();
    let view = call.view(0)?;
    quantizer(&view, call.signature.name)?;
    if view.ndim() <= dims {
        bail!(RuntimeError, "Expecting the input tensor of rank {} or {}.", dims + 1, dims + 2);
    }
    ops::max_pool(&view, &windows?).map(Value::from)
}

fn batch_norm(call: &mut Call) -> Result<Value> {
    let view = call.view(0)?;
    quantizer(&view, "quantized_batch_norm")?;
    if view.ndim() < 2 {
        bail!(RuntimeError, "Expecting the input tensor of at least 2 dimensions.");
    }
    let channels = view.sizes()[1];
    let parameter = |index: usize, default: f64| -> Result<Vec<f64>> {
        let numbers = if call.is_none(index) {
            vec![default; channels as usize]
        } else {
            call.view(index)?.scalars()?.into_iter().map(Scalar::to_f64).collect()
        };
        if numbers.len() as i64 != channels {
            bail!(RuntimeError, "Expect {channels} numbers, one for each channel, got {}", numbers.len());
        }
        Ok(numbers)
    };
    let (weight, bias) = (parameter(1, 1.0)?, parameter(2, 0.0)?);
    let (mean, variance) = (parameter(3, 0.0)?, parameter(4, 1.0)?);
    let (eps, scale, zero_point) = (call.scalar(5)?.to_f64(), call.scalar(6)?.to_f64(), call.int(7)?);
    let numbers = ops::dequantize(&view)?;
    let inner = view.sizes()[2..].iter().product::<i64>().max(1) as usize;
    let normal = |(position, value): (usize, Scalar)| {
        let channel = position / inner % channels.max(1) as usize;
        let factor = weight[channel] as f32 / (variance[channel] as f32 + eps as f32).sqrt();
        let shift = bias[channel] as f32 - mean[channel] as f32 * factor;
        Scalar::Float(f64::from(value.to_f64() as f32 * factor + shift))
    };
    let normalised =
        View::from_scalars(view.sizes(), DType::Float, numbers.scalars()?.into_iter().enumerate().map(normal))?;
    ops::per_tensor(&normalised, scale, zero_point, view.dtype).map(Value::from)
}
