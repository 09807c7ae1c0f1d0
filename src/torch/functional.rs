//! The smaller functions of `torch.nn.functional`, and those it shares with `torch`. Follows
//! <https://pytorch.org/docs/2.7/nn.functional.html>.

mod activations;

use super::dimnames;
use super::origin::windows;
use super::pointwise::{default, result};
use super::statistics::softmax;
use super::steps::Steps;
use activations::*;
use call::facets::{
    Dispatch::{Coalesced, RequantizedOneScale},
    NameInference::Keeps,
    ONE_SCALE, Out, Takes,
};
use call::reads::{EACH, Reads};
use call::{Call, Row, both, function};
use tensor::bail;
use tensor::ops::compare::{CompareOp, compare};
use tensor::ops::compose::Math;
use tensor::ops::pixels::Border;
use tensor::ops::pointwise::{self as ops, FLOATS, Output, RealFunction, UnaryOp};
use tensor::ops::promote::Operand;
use tensor::ops::softmax::Softmax;
use tensor::ops::{copy, create, gather, mask, pixels, view as views};
use tensor::{DType, Result, Scalar, View};
use value::{MemoryFormat, Value};

pub(crate) const ROWS: &[Row] = &[
    function(
        "nn.functional.relu(Tensor input, bool inplace=False) -> Tensor",
        |c| unary(c, UnaryOp::Relu),
        "Replaces negative elements with zero.",
    )
    .python("relu")
    .names(Keeps),
    function(
        "nn.functional.relu_(Tensor(a!) self) -> Tensor(a!)",
        |c| unary(c, UnaryOp::Relu),
        "Replaces negative elements with zero, in place.",
    )
    .names(Keeps)
    .sparse(Coalesced)
    .quantized(RequantizedOneScale(ONE_SCALE))
    .derivative_of("relu"),
    function(
        "nn.functional.sigmoid(Tensor self) -> Tensor",
        |c| unary(c, UnaryOp::Sigmoid),
        "Computes the logistic function.",
    )
    .reads(EACH)
    .names(Keeps)
    .derivative_of("sigmoid"),
    function(
        "nn.functional.tanh(Tensor self) -> Tensor",
        |c| unary(c, UnaryOp::Tanh),
        "Computes the hyperbolic tangent.",
    )
    .reads(EACH)
    .names(Keeps)
    .derivative_of("tanh"),
    function(
        "nn.functional.relu6(Tensor input, bool inplace=False) -> Tensor",
        |c| bounded(c, 0.0, 6.0),
        "Clamps every element between 0 and 6.",
    )
    .reads(EACH)
    .python("relu6")
    .operation("hardtanh"),
    function(
        "nn.functional.hardtanh(Tensor input, float min_val=-1.0, float max_val=1.0, bool inplace=False) -> \
 Tensor",
        hardtanh,
        "Clamps every element between two numbers.",
    )
    .reads(EACH)
    .python("hardtanh"),
    function(
        "nn.functional.gelu(Tensor self, *, str approximate=\"none\", Tensor? out=None) -> Tensor",
        gelu,
        "Multiplies each element by the normal distribution function at it.",
    )
    .reads(EACH)
    .out(Out::UNCAST),
    function(
        "nn.functional.silu(Tensor input, bool inplace=False) -> Tensor",
        silu,
        "Multiplies each element by its logistic function.",
    )
    .reads(EACH)
    .python("silu"),
    function(
        "nn.functional.mish(Tensor input, bool inplace=False) -> Tensor",
        |c| apply(c, "mish_cpu", &Mish),
        "Multiplies each element by the hyperbolic tangent of its softplus.",
    )
    .reads(EACH)
    .python("mish"),
    function(
        "nn.functional.tanhshrink(Tensor input) -> Tensor",
        tanhshrink,
        "Subtracts from each element its hyperbolic tangent.",
    )
    .reads(EACH)
    .python("tanhshrink")
    .names(Keeps),
    function(
        "nn.functional.softplus(Tensor self, float beta=1.0, float threshold=20.0, *, Tensor? out=None) -> Tensor",
        |c| {
            let (beta, threshold) = (number(c, 1)?, number(c, 2)?);
            apply(c, "softplus_cpu", &Softplus { beta, threshold })
        },
        "Computes a smooth form of the larger of x and 0.",
    )
    .reads(EACH)
    .out(Out::UNCAST),
    function(
        "nn.functional.elu(Tensor input, Scalar alpha=1.0, bool inplace=False) -> Tensor",
        |c| {
            let alpha = number(c, 1)?;
            apply(c, "elu_cpu", &Elu { above: 1.0, below: alpha, input: 1.0 })
        },
        "Replaces negative elements with an exponential.",
    )
    .reads(EACH)
    .python("elu"),
    function(
        "nn.functional.celu(Tensor input, Scalar alpha=1.0, bool inplace=False) -> Tensor",
        celu,
        "Replaces negative elements with a scaled exponential.",
    )
    .reads(EACH)
    .python("celu"),
    function(
        "nn.functional.selu(Tensor input, bool inplace=False) -> Tensor",
        selu,
        "Computes the scaled exponential linear unit.",
    )
    .reads(EACH)
    .python("selu")
    .operation("elu"),
    function(
        "nn.functional.leaky_relu(Tensor input, Scalar negative_slope=0.01, bool inplace=False) -> Tensor",
        leaky_relu,
        "Scales negative elements down.",
    )
    .reads(EACH)
    .python("leaky_relu"),
    function(
        "nn.functional.threshold(Tensor input, Scalar threshold, Scalar value, bool inplace=False) -> Tensor",
        threshold,
        "Replaces elements that are at most a threshold with a value.",
    )
    .reads(EACH)
    .python("threshold")
    .names(Keeps),
    function(
        "celu(Tensor self, Scalar alpha=1.0) -> Tensor",
        celu,
        "Replaces negative elements with a scaled exponential.",
    )
    .derivative_of("nn.functional.celu"),
    function(
        "celu_(Tensor(a!) self, Scalar alpha=1.0) -> Tensor(a!)",
        celu,
        "Replaces negative elements with a scaled exponential, in place.",
    )
    .aliases(&["nn.functional.celu_"])
    .derivative_of("nn.functional.celu_"),
    function("selu(Tensor self) -> Tensor", selu, "Computes the scaled exponential linear unit.")
        .operation("elu")
        .derivative_of("nn.functional.selu"),
    function("selu_(Tensor(a!) self) -> Tensor(a!)", selu, "Computes the scaled exponential linear unit, in place.")
        .operation("elu")
        .aliases(&["nn.functional.selu_"])
        .derivative_of("nn.functional.selu_"),
    function(
        "threshold(Tensor self, Scalar threshold, Scalar value, *, Tensor? out=None) -> Tensor",
        threshold,
        "Replaces elements that are at most a threshold with a value.",
    )
    .out(Out::ELEMENTWISE)
    .names(Keeps)
    .derivative_of("nn.functional.threshold"),
    function(
        "threshold_(Tensor(a!) self, Scalar threshold, Scalar value) -> Tensor(a!)",
        threshold,
        "Replaces elements that are at most a threshold with a value, in place.",
    )
    .aliases(&["nn.functional.threshold_"])
    .names(Keeps)
    .derivative_of("nn.functional.threshold_"),
    function(
        "nn.functional.elu_(Tensor(a!) self, Scalar alpha=1, Scalar scale=1, Scalar input_scale=1) -> Tensor(a!)",
        |c| {
            let (alpha, scale, input) = (number(c, 1)?, number(c, 2)?, number(c, 3)?);
            apply(c, "elu_cpu", &Elu { above: scale, below: alpha * scale, input })
        },
        "Replaces negative elements with an exponential, in place.",
    )
    .derivative_of("nn.functional.elu_"),
    function(
        "nn.functional.leaky_relu_(Tensor(a!) self, Scalar negative_slope=0.01) -> Tensor(a!)",
        leaky_relu,
        "Scales negative elements down, in place.",
    )
    .derivative_of("nn.functional.leaky_relu_"),
    function(
        "nn.functional.hardtanh_(Tensor(a!) self, Scalar min_val=-1, Scalar max_val=1) -> Tensor(a!)",
        hardtanh,
        "Clamps every element between two numbers, in place.",
    )
    .derivative_of("nn.functional.hardtanh"),
    function(
        "nn.functional.hardsigmoid(Tensor input, bool inplace=False) -> Tensor",
        |c| apply(c, "hardsigmoid_cpu", &Hardsigmoid),
        "Computes a logistic function of straight lines.",
    )
    .reads(EACH)
    .python("hardsigmoid"),
    function(
        "nn.functional.hardswish(Tensor input, bool inplace=False) -> Tensor",
        |c| apply(c, "hardswish_cpu", &Hardswish),
        "Multiplies each element by its hard sigmoid.",
    )
    .reads(EACH)
    .python("hardswish"),
    both(
        "hardshrink(Tensor self, Scalar lambd=0.5, *, Tensor? out=None) -> Tensor",
        hardshrink,
        "Replaces elements near zero with zero.",
    )
    .reads(EACH)
    .out(Out::UNCAST)
    .aliases(&["nn.functional.hardshrink"]),
    function(
        "nn.functional.softshrink(Tensor self, Scalar lambd=0.5, *, Tensor? out=None) -> Tensor",
        |c| {
            let by = number(c, 1)?;
            if by < 0.0 {
                bail!(RuntimeError, "lambda must be greater or equal to 0, but found to be {by}.");
            }
            apply(c, "softshrink_cpu", &Softshrink(by))
        },
        "Moves elements towards zero.",
    )
    .reads(EACH)
    .out(Out::UNCAST),
    function(
        "nn.functional.logsigmoid(Tensor self, *, Tensor? out=None) -> Tensor",
        |c| {
            let view = copy::contiguous(&c.view(0)?)?;
            ops::map_real("log_sigmoid_cpu", FLOATS, &view, Output::New, None, &LogSigmoid).map(Value::from)
        },
        "Computes the logarithm of the logistic function.",
    )
    .out(Out::PLAIN.takes(&[(Takes::Same, "expected scalar type {result} but found {out}")]))
    .operation("log_sigmoid_forward"),
    function(
        "nn.functional.softmax(Tensor input, int? dim=None, int _stacklevel=3, ScalarType? dtype=None) -> \
 Tensor",
        |c| any_softmax(c, Softmax::Plain),
        "Computes each exponential's share of their sum.",
    )
    .names(Keeps)
    .by_name("Dimname", dimnames::by_position),
    function(
        "nn.functional.log_softmax(Tensor input, int? dim=None, int _stacklevel=3, ScalarType? dtype=None) \
 -> Tensor",
        |c| any_softmax(c, Softmax::Log),
        "Computes the logarithm of each exponential's share of their sum.",
    )
    .names(Keeps)
    .by_name("Dimname", dimnames::by_position),
    function(
        "nn.functional.one_hot(Tensor self, int num_classes=-1) -> Tensor",
        one_hot,
        "Encodes every class number as a one among zeros.",
    )
    .operation("unsqueeze")
    .not_differentiable(),
    function(
        "nn.functional.pad(Tensor self, int[] pad, str mode=\"constant\", float? value=None) -> Tensor",
        pad,
        "Adds a border.",
    )
    .reads(Reads::Moved)
    .operation("constant_pad_nd")
    .recorded_in_steps(),
    function(
        "avg_pool1d(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] padding=[0], bool \
 ceil_mode=False, bool count_include_pad=True) -> Tensor",
        avg_pool1d,
        "Averages windows.",
    )
    .reads(Reads::Own(windows::avg_pool))
    .aliases(&["nn.functional.avg_pool1d"])
    .operation("unsqueeze"),
    function(
        "pixel_shuffle(Tensor self, int upscale_factor) -> Tensor",
        |c| pixels::pixel_shuffle(&c.view(0)?, c.int(1)?).map(Value::from),
        "Rearranges channels into blocks of pixels.",
    )
    .reads(Reads::Moved)
    .aliases(&["nn.functional.pixel_shuffle"]),
    function(
        "pixel_unshuffle(Tensor self, int downscale_factor) -> Tensor",
        |c| pixels::pixel_unshuffle(&c.view(0)?, c.int(1)?).map(Value::from),
        "Rearranges blocks of pixels into channels.",
    )
    .reads(Reads::Moved)
    .aliases(&["nn.functional.pixel_unshuffle"]),
    function(
        "channel_shuffle(Tensor self, SymInt groups) -> Tensor",
        |c| pixels::channel_shuffle(&c.view(0)?, c.int(1)?).map(Value::from),
        "Interleaves channels.",
    )
    .reads(Reads::Moved)
    .aliases(&["nn.functional.channel_shuffle"]),
    function(
        "native_channel_shuffle(Tensor self, int groups) -> Tensor",
        |c| pixels::channel_shuffle(&c.view(0)?, c.int(1)?).map(Value::from),
        "Interleaves channels.",
    )
    .aliases(&["nn.functional.native_channel_shuffle"]),
    both(
        "nonzero_static(Tensor self, *, SymInt size, int fill_value=-1, Tensor? out=None) -> Tensor",
        nonzero_static,
        "Returns the indices of nonzero elements, in as many rows as asked.",
    )
    .out(Out::PLAIN.takes(&[(
        Takes::Same,
        "nonzero_static: Expected out tensor to have scalar type Long but got scalar type{out}",
    )]))
    .grad_refused_by_fallback()
    .not_differentiable(),
];

const ALPHA: f64 = 1.673_263_242_354_377_2;
const SCALE: f64 = 1.050_700_987_355_480_5;

fn number(call: &Call, index: usize) -> Result<f64> {
    call.scalar(index).map(Scalar::to_f64)
}

fn unary(call: &mut Call, op: UnaryOp) -> Result<Value> {
    let view = call.view(0)?;
    result(call, |output| ops::unary(op, &view, output, default(call)))
}

fn tanhshrink(call: &mut Call) -> Result<Value> {
    let (view, default) = (call.view(0)?, default(call));
    let tanh = ops::unary(UnaryOp::Tanh, &view, Output::New, default)?;
    ops::sub((&view).into(), (&tanh).into(), Scalar::Int(1), Output::New, default).map(Value::from)
}

/// Applies a function that is computed in the elements' own type, or in single precision for 16-bit floats.
fn apply(call: &mut Call, stub: &str, function: &impl RealFunction) -> Result<Value> {
    let view = call.view(0)?;
    result(call, |output| ops::map_real(stub, FLOATS, &view, output, None, function))
}

fn threshold(call: &mut Call) -> Result<Value> {
    let (view, limit, value) = (call.view(0)?, call.scalar(1)?, call.scalar(2)?);
    let computed = if matches!(view.dtype, DType::Half | DType::BFloat16) { DType::Float } else { view.dtype };
    if !view.dtype.is_integral(false) || view.dtype.is_bare_unsigned() {
        if !view.dtype.is_complex() {
            copy::check_fits(limit, computed).and_then(|()| copy::check_fits(value, computed))?;
        }
        return apply(call, "threshold_cpu", &Threshold { limit: limit.to_f64(), value: value.to_f64() });
    }
    let number = |number: Scalar| {
        copy::check_fits(number, computed)?;
        View::scalar(number, computed)
    };
    let (limit, value) = (number(limit)?, number(value)?);
    let low = compare(CompareOp::Le, (&view).into(), (&limit).into(), Output::New, default(call))?;
    let chosen = mask::where_(&low, &value, &view, computed)?;
    delivered(call, chosen)
}

/// Returns a new tensor, or copies the result into the input if the call is in place.
fn delivered(call: &Call, found: View) -> Result<Value> {
    result(call, |output| match output {
        Output::InPlace(target) => copy::copy_into(target, &found).map(|()| found),
        _ => Ok(found),
    })
}

fn silu(call: &mut Call) -> Result<Value> {
    let view = call.view(0)?;
    if !matches!(view.dtype, DType::ComplexFloat | DType::ComplexDouble) {
        return apply(call, "silu_cpu", &Silu);
    }
    if call.tensor(0)?.requires_grad() && call.state.grad_enabled.get() {
        bail!(RuntimeError, "silu does not support automatic differentiation for outputs with complex dtype.");
    }
    let math = Math(default(call));
    let shrinking = math.unary(UnaryOp::Exp, &math.unary(UnaryOp::Neg, &view)?)?;
    let found = math.div(&view, &math.add(&shrinking, Operand::Number(Scalar::Int(1)))?)?;
    delivered(call, found)
}

fn bounded(call: &mut Call, low: f64, high: f64) -> Result<Value> {
    let view = call.view(0)?;
    if view.dtype == DType::Bool {
        bail!(RuntimeError, "Bool inputs not supported for hardtanh");
    }
    let whole = |bound: f64| match view.dtype.is_integral(true) {
        true => Scalar::Int(bound as i64),
        false => Scalar::Float(bound),
    };
    let bounds = [Some(whole(low)), Some(whole(high))];
    result(call, |output| ops::clamp(&view, bounds, output, default(call)))
}

fn hardtanh(call: &mut Call) -> Result<Value> {
    let (low, high) = (number(call, 1)?, number(call, 2)?);
    if low > high && !call.signature.in_place {
        bail!(ValueError, "min_val cannot be greater than max_val");
    }
    bounded(call, low, high)
}

fn celu(call: &mut Call) -> Result<Value> {
    let alpha = number(call, 1)?;
    if alpha == 0.0 {
        bail!(RuntimeError, "ZeroDivisionError: alpha cannot be 0 for CELU");
    }
    apply(call, "elu_cpu", &Elu { above: 1.0, below: alpha, input: 1.0 / alpha })
}

fn selu(call: &mut Call) -> Result<Value> {
    apply(call, "elu_cpu", &Elu { above: SCALE, below: ALPHA * SCALE, input: 1.0 })
}

fn leaky_relu(call: &mut Call) -> Result<Value> {
    let slope = number(call, 1)?;
    apply(call, "leaky_relu_cpu", &LeakyRelu(slope))
}

fn gelu(call: &mut Call) -> Result<Value> {
    match call.str(1)? {
        "none" => apply(call, "GeluKernelImpl", &Gelu),
        "tanh" => apply(call, "GeluKernelImpl", &TanhGelu),
        _ => bail!(RuntimeError, "approximate argument must be either none or tanh."),
    }
}

fn hardshrink(call: &mut Call) -> Result<Value> {
    let (limit, dtype) = (call.scalar(1)?, call.view(0)?.dtype);
    if !dtype.is_floating_point() {
        return apply(call, "hardshrink_cpu", &Hardshrink(0.0));
    }
    // Rounds the bound to the dtype of the elements.
    copy::check_fits(limit, dtype)?;
    apply(call, "hardshrink_cpu", &Hardshrink(View::scalar(limit, dtype)?.item()?.to_f64()))
}

/// A softmax whose dimension may be missing. Like PyTorch, it then chooses one from the number of dimensions.
fn any_softmax(call: &mut Call, which: Softmax) -> Result<Value> {
    if call.is_none(1) {
        let dim = if matches!(call.view(0)?.ndim(), 0 | 1 | 3) { 0 } else { 1 };
        call.args[1] = Value::Int(dim);
    }
    softmax(call, which, 1, 3)
}

fn one_hot(call: &mut Call) -> Result<Value> {
    let (view, asked) = (call.view(0)?, call.int(1)?);
    if view.dtype != DType::Long {
        bail!(RuntimeError, "one_hot is only applicable to index tensor of type LongTensor.");
    }
    let classes: Vec<i64> = view.scalars()?.into_iter().map(Scalar::to_i64).collect();
    let largest = classes.iter().copied().max();
    if classes.is_empty() && asked <= 0 {
        bail!(RuntimeError, "Can not infer total number of classes from empty tensor.");
    }
    if classes.iter().any(|&class| class < 0) {
        bail!(RuntimeError, "Class values must be non-negative.");
    }
    let count = match (asked, largest) {
        (-1, Some(largest)) => largest.saturating_add(1),
        (asked, _) if asked < 1 => bail!(RuntimeError, "num_classes should be positive"),
        (asked, Some(largest)) if largest >= asked => {
            bail!(RuntimeError, "Class values must be smaller than num_classes.")
        }
        (asked, _) => asked,
    };
    let sizes: Vec<i64> = view.sizes().iter().copied().chain([count]).collect();
    let out = create::zeros(&sizes, DType::Long, view.device())?;
    let index = views::unsqueeze(&view, -1)?;
    gather::scatter_(&out, -1, &index, gather::Scattered::Value(Scalar::Int(1)), None)?;
    Ok(out.into())
}

fn pad(call: &mut Call) -> Result<Value> {
    let pads = call.ints(1)?;
    let (mode, ndim) = (call.str(2)?, call.view(0)?.ndim());
    if mode == "constant" {
        let value = if call.is_none(3) { Value::Int(0) } else { call.value(3) };
        return Steps::of(call).torch("constant_pad_nd", &[call.value(0), call.value(1), value]);
    }
    let Some(border) = Border::named(mode) else { bail!(NotImplementedError, "Unrecognised padding mode {mode}") };
    if pads.len() % 2 != 0 {
        bail!(RuntimeError, "Padding length must be divisible by 2");
    }
    if pads.len() > 2 * ndim {
        bail!(
            RuntimeError,
            "Padding length should be less than or equal to two times the input dimension but got padding length {} and \
             input of dimension {ndim}",
            pads.len()
        );
    }
    if !call.is_none(3) && call.scalar(3)?.to_f64() != 0.0 {
        bail!(RuntimeError, "Padding mode \"{mode}\" doesn't take in value argument");
    }
    let spatial = pads.len() / 2;
    if !(1..=3).contains(&spatial) || !(1..=2).contains(&(ndim - spatial)) {
        bail!(NotImplementedError, "Only 2D, 3D, 4D, 5D padding with non-constant padding are supported for now");
    }
    let mut result = call.tensor(0)?.clone();
    pixels::check_border(&result.view(), border, &pads)?;
    for (i, pair) in pads.chunks_exact(2).enumerate() {
        let dim = ndim - 1 - i;
        let size = result.borrow().sizes()[dim];
        let count = pair.iter().fold(size, |count, &width| count.saturating_add(width)).max(0);
        let places = match result.borrow().device() {
            device if device.is_meta() => View::zeros(&[count], DType::Long, device)?,
            _ => {
                let places = (0..count).map(|i| border.place(i.saturating_sub(pair[0]), size));
                View::from_scalars(&[count], DType::Long, places.map(Scalar::Int))?
            }
        };
        let arguments = [Value::Int(dim as i64), places.into()];
        result = Steps::of(call).on(&result, "index_select", &arguments)?;
    }
    let format = MemoryFormat::suggested(&call.view(0)?.layout);
    if format != MemoryFormat::Contiguous && mode != "circular" && ndim - spatial == 2 {
        let args = [result.into(), Value::MemoryFormat(format)];
        return autograd::Functions::call(call.state, "contiguous", &args);
    }
    Ok(Value::Tensor(result))
}

fn avg_pool1d(call: &mut Call) -> Result<Value> {
    let view = call.view(0)?;
    pixels::check_pooled(&view)?;
    let [kernel, stride, padding] = [("kernel_size", 1), ("stride", 2), ("padding", 3)].map(|(name, i)| {
        let given = call.ints(i)?;
        match given.as_slice() {
            [] if name == "stride" => Ok(None),
            [one] => Ok(Some(*one)),
            several => {
                bail!(RuntimeError, "avg_pool1d() argument '{name}' should contain one int (got {})", several.len())
            }
        }
    });
    let kernel = kernel?.unwrap_or(1);
    let windows = pixels::Windows {
        kernel,
        stride: stride?.unwrap_or(kernel),
        padding: padding?.unwrap_or(0),
        ceil: call.bool(4)?,
        count_padding: call.bool(5)?,
    };
    pixels::avg_pool1d(&view, &windows).map(Value::from)
}

fn nonzero_static(call: &mut Call) -> Result<Value> {
    let (view, size, fill) = (call.view(0)?, call.int(1)?, call.int(2)?);
    if size < 0 {
        bail!(RuntimeError, "nonzero_static: 'size' must be an non-negative integer");
    }
    let found = mask::nonzero(&view)?;
    let out =
        create::full(&[size, view.ndim() as i64], Scalar::Int(fill), Some(DType::Long), DType::Long, view.device())?;
    let rows = size.min(found.sizes().first().copied().unwrap_or(0));
    let part = |view: &View| views::narrow(view, 0, 0, rows);
    copy::copy_into(&part(&out)?, &part(&found)?)?;
    Ok(out.into())
}
