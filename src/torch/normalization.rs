//! Normalisations of `torch`: by layer and by batch. Follows
//! <https://pytorch.org/docs/2.7/nn.functional.html>.

use super::python::in_python;
use call::{Call, Row, function};
use tensor::ops::normalization::{self as ops, Channels, Normalized};
use tensor::{Result, View};
use value::Value;

pub(crate) const ROWS: &[Row] = &[
    function(
        "native_layer_norm(Tensor input, int[] normalized_shape, Tensor? weight, Tensor? bias, float eps) \
 -> (Tensor, Tensor, Tensor)",
        layer,
        "Normalises over the last dimensions; returns the result, the means and the reciprocals of the deviations.",
    ),
    function(
        "layer_norm(Tensor input, int[] normalized_shape, Tensor? weight=None, Tensor? bias=None, float eps=1e-05, \
 bool cudnn_enable=True) -> Tensor",
        |c| in_python(c, "composites.layer_norm"),
        "Normalises over the last dimensions.",
    )
    .recorded_in_steps(),
    function(
        "native_batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, \
 bool training, float momentum, float eps, *, Tensor[]? out=None) -> (Tensor, Tensor, Tensor)",
        batch,
        "Normalises each channel; returns the result, the means and the reciprocals of the deviations.",
    ),
];

fn optional(call: &Call, index: usize) -> Result<Option<View>> {
    if call.is_none(index) { Ok(None) } else { call.view(index).map(Some) }
}

fn three(results: Normalized) -> Value {
    Value::tuple(results.map(Value::from).to_vec())
}

fn layer(call: &mut Call) -> Result<Value> {
    let (weight, bias) = (optional(call, 2)?, optional(call, 3)?);
    let eps = call.scalar(4)?.to_f64();
    ops::layer(&call.view(0)?, &call.ints(1)?, weight.as_ref(), bias.as_ref(), eps).map(three)
}

fn batch(call: &mut Call) -> Result<Value> {
    let [weight, bias, running_mean, running_variance] = [1, 2, 3, 4].map(|index| optional(call, index));
    let (weight, bias, running_mean, running_variance) = (weight?, bias?, running_mean?, running_variance?);
    let by = Channels {
        weight: weight.as_ref(),
        bias: bias.as_ref(),
        running_mean: running_mean.as_ref(),
        running_variance: running_variance.as_ref(),
        training: call.bool(5)?,
        momentum: call.scalar(6)?.to_f64(),
        eps: call.scalar(7)?.to_f64(),
    };
    ops::batch(&call.view(0)?, &by).map(three)
}
