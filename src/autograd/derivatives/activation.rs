//! Activation functions and other functions of `torch.nn.functional`.

use crate::context::{Context, Expr};
use crate::derivative::{Derivative, RESULT, row};
use tensor::bail;
use tensor::layout::wrap_dim;
use tensor::{Dims, Scalar};
use value::Value;

pub(super) const ROWS: &[Derivative] = &[
    row("relu", "ReluBackward0")
        .grad(0, &[RESULT], |c| c.g().with("threshold_backward", &c.result(), &[Value::Int(0)])),
    row("sigmoid", "SigmoidBackward0").grad(0, &[RESULT], |c| c.g().with("sigmoid_backward", &c.result(), &[])),
    row("tanh", "TanhBackward0").grad(0, &[RESULT], |c| c.g().with("tanh_backward", &c.result(), &[])),
    row("nn.functional.hardtanh", "HardtanhBackward0")
        .grad(0, &[0], |c| one_step(c, "hardtanh_backward", &[c.value(1), c.value(2)])),
    row("nn.functional.relu6", "HardtanhBackward0")
        .grad(0, &[0], |c| one_step(c, "hardtanh_backward", &[Value::Int(0), Value::Int(6)])),
    row("nn.functional.leaky_relu", "LeakyReluBackward0")
        .grad(0, &[0], |c| one_step(c, "leaky_relu_backward", &[c.value(1)])),
    row("nn.functional.elu", "EluBackward0").grad(0, &[0], |c| elu(c, c.number(1).to_f64(), 1.0, 1.0)),
    row("nn.functional.celu", "CeluBackward0").grad(0, &[0], |c| {
        let alpha = c.number(1).to_f64();
        elu(c, alpha, 1.0, 1.0 / alpha)
    }),
    row("nn.functional.selu", "EluBackward0").grad(0, &[0], |c| elu(c, SELU_ALPHA, SELU_SCALE, 1.0)),
    // In place, the argument is gone, and the gradient is computed from the result.
    row("nn.functional.elu_", "EluBackward1").grad(0, &[RESULT], |c| {
        // `elu` has its argument `inplace` there.
        let scale_at = |i| if matches!(c.value(2), Value::Bool(_)) { 1.0 } else { c.number(i).to_f64() };
        elu_of_result(c, c.number(1).to_f64(), scale_at(2), scale_at(3))
    }),
    row("nn.functional.celu_", "CeluBackward1").grad(0, &[RESULT], |c| {
        let alpha = c.number(1).to_f64();
        elu_of_result(c, alpha, 1.0, 1.0 / alpha)
    }),
    row("nn.functional.selu_", "EluBackward1").grad(0, &[RESULT], |c| elu_of_result(c, SELU_ALPHA, SELU_SCALE, 1.0)),
    row("nn.functional.leaky_relu_", "LeakyReluBackward1")
        .grad(0, &[RESULT], |c| c.g().with("leaky_relu_backward", &c.result(), &[c.value(1), Value::Bool(true)])),
    row("nn.functional.threshold_", "ThresholdBackward1")
        .grad(0, &[0], |c| one_step(c, "threshold_backward", &[c.value(1)])),
    row("nn.functional.gelu", "GeluBackward0").grad(0, &[0], |c| one_step(c, "gelu_backward", &[c.value(1)])),
    row("nn.functional.silu", "SiluBackward0").grad(0, &[0], |c| {
        let share = c.arg(0).call("sigmoid", &[]);
        c.g() * (share.clone() * (c.arg(0) * (-share + 1.0) + 1.0))
    }),
    row("nn.functional.mish", "MishBackward0").grad(0, &[0], |c| {
        let share = c.arg(0).call("sigmoid", &[]);
        let bent = c.arg(0).call("nn.functional.softplus", &[]).call("tanh", &[]);
        c.g() * (bent.clone() + c.arg(0) * share * (-bent.squared() + 1.0))
    }),
    row("nn.functional.softplus", "SoftplusBackward0")
        .grad(0, &[0], |c| one_step(c, "softplus_backward", &[c.value(1), c.value(2)])),
    row("nn.functional.hardsigmoid", "HardsigmoidBackward0")
        .grad(0, &[0], |c| one_step(c, "hardtanh_backward", &[Value::Int(-3), Value::Int(3)]) / 6.0),
    row("nn.functional.hardswish", "HardswishBackward0").grad(0, &[0], |c| one_step(c, "hardswish_backward", &[])),
    row("hardshrink", "HardshrinkBackward0").grad(0, &[0], |c| one_step(c, "hardshrink_backward", &[c.value(1)])),
    row("nn.functional.softshrink", "SoftshrinkBackward0")
        .grad(0, &[0], |c| one_step(c, "softshrink_backward", &[c.value(1)])),
    row("nn.functional.logsigmoid", "LogSigmoidBackward0").grad(0, &[0], |c| one_step(c, "log_sigmoid_backward", &[])),
    row("nn.functional.threshold", "ThresholdBackward0")
        .grad(0, &[0], |c| one_step(c, "threshold_backward", &[c.value(1)])),
    row("softmax.int", "SoftmaxBackward0")
        .grad(0, &[RESULT], |c| c.g().with("_softmax_backward_data", &c.result(), &[c.value(1)])),
    row("log_softmax.int", "LogSoftmaxBackward0")
        .grad(0, &[RESULT], |c| c.g().with("_log_softmax_backward_data", &c.result(), &[c.value(1)])),
    row("native_dropout", "NativeDropoutBackward0").grad(0, &[RESULT], |c| {
        let kept = 1.0 - c.number(1).to_f64();
        let is_idle = matches!(c.value(2), Value::Bool(false));
        c.g()
            * c.result_at(1)
            * if is_idle {
                1.0
            } else if kept == 0.0 {
                0.0
            } else {
                1.0 / kept
            }
    }),
    row("constant_pad_nd", "ConstantPadNdBackward0").grad(0, &[], |c| {
        let back: Dims = c.dims(1).iter().map(|width| width.saturating_neg()).collect();
        c.g().call("constant_pad_nd", &[Value::Size(back)])
    }),
    row("pixel_shuffle", "PixelShuffleBackward0").grad(0, &[], |c| c.g().call("pixel_unshuffle", &[c.value(1)])),
    row("pixel_unshuffle", "PixelUnshuffleBackward0").grad(0, &[], |c| c.g().call("pixel_shuffle", &[c.value(1)])),
    row("channel_shuffle", "ChannelShuffleBackward0").grad(0, &[], |c| {
        let channels = c.sizes(0).get(1).copied().unwrap_or(1);
        let groups = channels.checked_div(c.int(1)).unwrap_or(1);
        c.g().call("channel_shuffle", &[Value::Int(groups)])
    }),
    // PyTorch composes this of a two-dimensional pooling. The squeeze is its last step.
    row("avg_pool1d", "SqueezeBackward1").grad(0, &[], pooled),
];

const SELU_ALPHA: f64 = 1.673_263_242_354_377_2;
const SELU_SCALE: f64 = 1.050_700_987_355_480_5;

/// Calls one function that computes the gradient from the argument and some numbers.
fn one_step<'a>(c: &Context<'a>, key: &str, numbers: &[Value]) -> Expr<'a> {
    c.g().with(key, &c.arg(0), numbers)
}

fn elu<'a>(c: &Context<'a>, alpha: f64, scale: f64, input_scale: f64) -> Expr<'a> {
    one_step(c, "elu_backward", &[alpha, scale, input_scale].map(Value::Float))
}

fn elu_of_result<'a>(c: &Context<'a>, alpha: f64, scale: f64, input_scale: f64) -> Expr<'a> {
    let [alpha, scale, input_scale] = [alpha, scale, input_scale].map(Value::Float);
    c.g().with("elu_backward", &c.result(), &[alpha, scale, input_scale, Value::Bool(true)])
}

/// Distributes the gradient of each window's mean among the window's elements.
fn pooled<'a>(c: &Context<'a>) -> Expr<'a> {
    c.g().and(|g| {
        let sizes = c.sizes(0);
        let (Some(&length), Some(windows)) = (sizes.last(), g.borrow().sizes().last().copied()) else {
            bail!(RuntimeError, "avg_pool1d needs a dimension to pool");
        };
        let first = |index: usize| c.dims(index).first().copied();
        let kernel = first(1).unwrap_or(1);
        let (stride, padding) = (first(2).unwrap_or(kernel), first(3).unwrap_or(0));
        let include_padding = c.flag(5);
        let last = wrap_dim(-1, sizes.len())? as i64;
        let mut shares = Vec::new();
        let mut places = Vec::new();
        let mut sources = Vec::new();
        for window in 0..windows {
            let start = window.saturating_mul(stride).saturating_sub(padding);
            let end = start.saturating_add(kernel).min(length.saturating_add(padding));
            let inside = start.max(0)..end.min(length);
            let count = if include_padding { end - start } else { inside.end - inside.start };
            for place in inside {
                places.push(place);
                sources.push(window);
                shares.push(Scalar::Float(1.0 / count as f64));
            }
        }
        let dtype = g.borrow().dtype;
        let shares = tensor::View::from_scalars(&[shares.len() as i64], dtype, shares)?;
        let (places, sources) = (c.index(places.into_iter()), c.index(sources.into_iter()));
        let given = c.g().apply("index_select", [Ok(Value::Int(last)), sources.value]) * c.expr(Ok(shares.into()));
        Ok(c.room(0).apply("index_add_", [Ok(Value::Int(last)), places.value, given.value]))
    })
}
