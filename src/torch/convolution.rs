//! Convolutions of `torch` and `torch.nn.functional`. Follows
//! <https://pytorch.org/docs/2.7/nn.functional.html#convolution-functions>.

use super::origin::windows;
use super::steps::Steps;
use autograd::Functions;
use call::reads::Reads;
use call::{Call, Row, function, one};
use tensor::bail;
use tensor::layout::show;
use tensor::ops::convolution::{self as ops, for_each_dimension};
use tensor::{Dims, Error, Result};
use value::Value;

/// Declares two rows per function: one takes the padding as numbers, the other by name.
macro_rules! forwards {
    ($($dims:literal $name:literal $n:literal;)*) => {
        &[$(
            function(
                concat!($name, "(Tensor input, Tensor weight, Tensor? bias=None, int[", $n, "] stride=1, int[", $n, "] padding=0, int[", $n, "] dilation=1, SymInt groups=1) -> Tensor"),
                |c| forward(c, $dims),
                "Convolves with kernels.",
            )
            .aliases(&[concat!("nn.functional.", $name)])
            .operation("convolution")
            .recorded_in_steps()
            .few_refused_as($dims + 2, "unsqueeze"),
            function(
                concat!($name, ".padding(Tensor input, Tensor weight, Tensor? bias=None, int[", $n, "] stride=1, str padding=\"valid\", int[", $n, "] dilation=1, SymInt groups=1) -> Tensor"),
                |c| named_padding(c, $dims),
                "Convolves with kernels, with padding given by name.",
            )
            .aliases(&[concat!("nn.functional.", $name)])
            .operation("convolution")
            .recorded_in_steps()
            .few_refused_as($dims + 2, "unsqueeze"),
        )*]
    };
}

macro_rules! transposed {
    ($($dims:literal $name:literal $overload:literal $n:literal;)*) => {
        &[$(
            function(
                concat!($name, $overload, "(Tensor input, Tensor weight, Tensor? bias=None, int[", $n, "] stride=1, int[", $n, "] padding=0, int[", $n, "] output_padding=0, SymInt groups=1, int[", $n, "] dilation=1) -> Tensor"),
                |c| transposed(c, $dims),
                "Computes the transposed convolution with kernels.",
            )
            .aliases(&[concat!("nn.functional.", $name)])
            .operation("convolution")
            .recorded_in_steps()
            .few_refused_as($dims + 2, "unsqueeze"),
        )*]
    };
}

pub(crate) const FORWARDS: &[Row] = forwards! {
    1 "conv1d" "1";
    2 "conv2d" "2";
    3 "conv3d" "3";
};

pub(crate) const TRANSPOSED: &[Row] = transposed! {
    1 "conv_transpose1d" "" "1";
    2 "conv_transpose2d" ".input" "2";
    3 "conv_transpose3d" ".input" "3";
};

pub(crate) const ROWS: &[Row] = &[function(
    "convolution(Tensor input, Tensor weight, Tensor? bias, int[] stride, int[] padding, int[] dilation, \
 bool transposed, int[] output_padding, int groups) -> Tensor",
    convolution,
    "Computes the general convolution, of which all others are cases.",
)
.reads(Reads::Own(windows::convolution))];

fn convolution(call: &mut Call) -> Result<Value> {
    let (input, weight) = (call.view(0)?, call.view(1)?);
    let bias = if call.is_none(2) { None } else { Some(call.view(2)?) };
    let count = weight.ndim().saturating_sub(2);
    let each = |index: usize, name: &str| for_each_dimension(&call.ints(index)?, name, count);
    let steps = ops::ConvolutionParameters {
        stride: each(3, "stride")?,
        padding: each(4, "padding")?,
        dilation: each(5, "dilation")?,
        transposed: call.bool(6)?,
        output_padding: each(7, "output_padding")?,
        groups: call.int(8)?,
    };
    ops::convolution(&input, &weight, bias.as_ref(), &steps).map(Value::from)
}

/// The arguments that are passed on to `convolution`.
struct Parts {
    stride: Value,
    padding: Value,
    dilation: Value,
    output_padding: Option<Value>,
    groups: Value,
}

/// Calls `convolution`. An input without a batch dimension gets one for the call.
fn run(call: &Call, dims: usize, name: &str, input: &Value, parts: Parts) -> Result<Value> {
    let steps = Steps::of(call);
    let input = one(input.clone())?;
    let ndim = input.borrow().ndim();
    if ndim != dims + 1 && ndim != dims + 2 {
        bail!(
            RuntimeError,
            "Expected {}D (unbatched) or {}D (batched) input to {name}, but got input of size: {}",
            dims + 1,
            dims + 2,
            show(input.borrow().sizes())
        );
    }
    let batch = if ndim == dims + 1 { steps.unsqueeze(&input, 0)? } else { input.clone() };
    let transposed = Value::Bool(parts.output_padding.is_some());
    let extra = parts.output_padding.unwrap_or_else(|| Value::size(&[0]));
    let (weight, bias) = (call.value(1), call.value(2));
    let result = steps.torch(
        "convolution",
        &[batch.into(), weight, bias, parts.stride, parts.padding, parts.dilation, transposed, extra, parts.groups],
    )?;
    if ndim == dims + 1 { steps.on(&one(result)?, "squeeze", &[Value::Int(0)]).map(Value::Tensor) } else { Ok(result) }
}

fn forward(call: &mut Call, dims: usize) -> Result<Value> {
    let parts = Parts {
        stride: Value::Size(call.ints(3)?),
        padding: Value::Size(call.ints(4)?),
        dilation: Value::Size(call.ints(5)?),
        output_padding: None,
        groups: call.value(6),
    };
    run(call, dims, &format!("conv{dims}d"), &call.value(0), parts)
}

fn transposed(call: &mut Call, dims: usize) -> Result<Value> {
    let sizes = |index: usize, name: &str| for_each_dimension(&call.ints(index)?, name, dims);
    let (stride, extra, dilation) = (sizes(3, "stride")?, sizes(5, "output_padding")?, sizes(7, "dilation")?);
    if (0..dims).any(|d| extra[d] >= stride[d] && extra[d] >= dilation[d]) && stride.iter().all(|&step| step > 0) {
        return Err(refuse_output_padding(&extra, &stride, &dilation));
    }
    let parts = Parts {
        stride: Value::Size(call.ints(3)?),
        padding: Value::Size(call.ints(4)?),
        dilation: Value::Size(call.ints(7)?),
        output_padding: Some(Value::Size(call.ints(5)?)),
        groups: call.value(6),
    };
    run(call, dims, &format!("conv_transpose{dims}d"), &call.value(0), parts)
}

/// Builds PyTorch's error for an output padding that is too large. PyTorch computes one dimension as two, the first of
/// size 1, so the message lists both.
fn refuse_output_padding(extra: &Dims, stride: &Dims, dilation: &Dims) -> Error {
    let flat = |values: &Dims, first: i64| match values.as_slice() {
        [one] => Dims::from_slice(&[first, *one]),
        _ => values.clone(),
    };
    let parts = [("output_padding", flat(extra, 0)), ("stride", flat(stride, 1)), ("dilation", flat(dilation, 1))];
    let said = parts.iter().flat_map(|(name, values)| {
        let names: &[&str] = if values.len() == 3 { &["depth", "height", "width"] } else { &["height", "width"] };
        names.iter().zip(values).map(move |(side, value)| format!("{name}_{side}: {value}"))
    });
    let said: Vec<String> = said.collect();
    Error::runtime(format!("output padding must be smaller than either stride or dilation, but got {}", said.join(" ")))
}

fn named_padding(call: &mut Call, dims: usize) -> Result<Value> {
    let name = format!("conv{dims}d");
    let mut parts = Parts {
        stride: Value::Size(call.ints(3)?),
        padding: Value::size(&[0]),
        dilation: Value::Size(call.ints(5)?),
        output_padding: None,
        groups: call.value(6),
    };
    match call.str(4)? {
        "valid" => return run(call, dims, &name, &call.value(0), parts),
        "same" => {}
        other => bail!(RuntimeError, "Invalid padding string: '{other}'"),
    }
    let weight = call.view(1)?;
    let (stride, dilation) =
        (for_each_dimension(&call.ints(3)?, "stride", dims)?, for_each_dimension(&call.ints(5)?, "dilation", dims)?);
    if stride.iter().any(|&step| step != 1) {
        bail!(RuntimeError, "padding='same' is not supported for strided convolutions");
    }
    // Half of the total padding goes before the elements. If the total is odd, one more element goes after them.
    let kernels = weight.sizes().get(2..).unwrap_or_default();
    let totals: Dims = kernels.iter().zip(&dilation).map(|(size, step)| step.saturating_mul(size - 1).max(0)).collect();
    parts.padding = Value::Size(totals.iter().map(|total| total / 2).collect());
    let mut input = call.value(0);
    if totals.iter().any(|total| total % 2 != 0) {
        let after: Dims = totals.iter().rev().flat_map(|total| [0, total % 2]).collect();
        input = Functions::call(call.state, "constant_pad_nd", &[input, Value::Size(after), Value::Int(0)])?;
    }
    run(call, dims, &name, &input, parts)
}
