//! Derivatives of the gradients that are computed in one step.

use crate::context::{Context, Expr};
use crate::derivative::{Derivative, row, zero};
use std::f64::consts::PI;
use value::Value;

pub(super) const ROWS: &[Derivative] = &[
    row("sigmoid_backward", "SigmoidBackwardBackward0")
        .grad(0, &[1], |c| c.g().with("sigmoid_backward", &c.arg(1).conj(), &[]))
        .grad(1, &[0, 1], |c| c.g().conj() * c.arg(0) * (c.arg(1).conj() * -2.0 + 1.0)),
    row("tanh_backward", "TanhBackwardBackward0")
        .grad(0, &[1], |c| c.g().with("tanh_backward", &c.arg(1).conj(), &[]))
        .grad(1, &[0, 1], |c| c.g().conj() * (c.arg(1).conj() * -2.0 * c.arg(0))),
    row("threshold_backward", "ThresholdBackwardBackward0")
        .grad(0, &[1], |c| c.g().with("threshold_backward", &c.arg(1), &[c.value(2)]))
        .grad(1, &[], zero),
    row("_softmax_backward_data", "SoftmaxBackwardDataBackward0")
        .grad(0, &[1], |c| c.g().with("_softmax_backward_data", &c.arg(1), &[c.value(2)]))
        .grad(1, &[0, 1], |c| {
            let dim = [c.int(2)];
            c.arg(0) * c.g()
                - (c.arg(1) * c.arg(0)).sum(&dim, true) * c.g()
                - c.arg(0) * (c.arg(1) * c.g()).sum(&dim, true)
        }),
    row("_log_softmax_backward_data", "LogSoftmaxBackwardDataBackward0")
        .grad(0, &[1], |c| c.g() - (c.g() * c.arg(1).call("exp", &[])).sum(&[c.int(2)], true))
        .grad(1, &[0, 1], |c| -c.arg(0).sum(&[c.int(2)], true) * c.arg(1).call("exp", &[]) * c.g()),
    row("gelu_backward", "GeluBackwardBackward0")
        .grad(0, &[1], |c| c.g().with("gelu_backward", &c.arg(1), &[c.value(2)]))
        .grad(1, &[0, 1], |c| c.g() * c.arg(0) * gelu_curvature(c)),
    row("elu_backward", "EluBackwardBackward0")
        .grad(0, &[1], |c| c.g().with("elu_backward", &c.arg(1), &[c.value(2), c.value(3), c.value(4), c.value(5)]))
        .grad(1, &[0, 1], |c| {
            let [alpha, scale, inner] = [2, 3, 4].map(|i| c.number(i).to_f64());
            let curved = if matches!(c.value(5), Value::Bool(true)) {
                c.g() * c.arg(0) * inner
            } else {
                c.g() * c.arg(0) * ((c.arg(1) * inner).call("exp", &[]) * (inner * inner * alpha * scale))
            };
            curved.cleared(&c.arg(1).compare("gt", Value::Int(0)))
        }),
    row("leaky_relu_backward", "LeakyReluBackwardBackward0")
        .grad(0, &[1], |c| c.g().with("leaky_relu_backward", &c.arg(1), &[c.value(2), c.value(3)]))
        .grad(1, &[], zero),
    row("hardtanh_backward", "HardtanhBackwardBackward0")
        .grad(0, &[1], |c| c.g().with("hardtanh_backward", &c.arg(1), &[c.value(2), c.value(3)]))
        .grad(1, &[], zero),
    row("softplus_backward", "SoftplusBackwardBackward0")
        .grad(0, &[1], |c| c.g().with("softplus_backward", &c.arg(1), &[c.value(2), c.value(3)]))
        .grad(1, &[0, 1], |c| {
            let beta = c.number(2).to_f64();
            let scaled = c.arg(1) * beta;
            let straight = scaled.compare("gt", c.value(3));
            let share = scaled.call("sigmoid", &[]);
            (c.g() * c.arg(0) * (share.clone() * (-share + 1.0) * beta)).cleared(&straight)
        }),
    row("hardshrink_backward", "HardshrinkBackwardBackward0")
        .grad(0, &[1], |c| c.g().with("hardshrink_backward", &c.arg(1), &[c.value(2)]))
        .grad(1, &[], zero),
    row("softshrink_backward", "SoftshrinkBackwardBackward0")
        .grad(0, &[1], |c| c.g().with("softshrink_backward", &c.arg(1), &[c.value(2)]))
        .grad(1, &[], zero),
    row("hardswish_backward", "HardswishBackwardBackward0")
        .grad(0, &[1], |c| c.g().with("hardswish_backward", &c.arg(1), &[]))
        .grad(1, &[0, 1], |c| {
            let outside = c.arg(1).call("abs", &[]).compare("gt", Value::Int(3));
            (c.g() * c.arg(0) / 3.0).cleared(&outside)
        }),
    row("log_sigmoid_backward", "LogSigmoidBackwardBackward0")
        .grad(0, &[1], |c| c.g().with("log_sigmoid_backward", &c.arg(1), &[]))
        .grad(1, &[0, 1], |c| {
            let share = c.arg(1).call("sigmoid", &[]);
            -c.g() * c.arg(0) * (share.clone() * (-share + 1.0))
        }),
    row("select_backward", "SelectBackwardBackward0")
        .grad(0, &[], |c| c.g().call("select.int", &[c.value(2), c.value(3)])),
    row("slice_backward", "SliceBackwardBackward0")
        .grad(0, &[], |c| c.g().call("slice.Tensor", &[c.value(2), c.value(3), c.value(4), c.value(5)])),
    row("unfold_backward", "UnfoldBackwardBackward0")
        .grad(0, &[], |c| c.g().call("unfold", &[c.value(2), c.value(3), c.value(4)])),
    row("diagonal_backward", "DiagonalBackwardBackward0")
        .grad(0, &[], |c| c.g().call("diagonal", &[c.value(2), c.value(3), c.value(4)])),
];

/// The second derivative of `gelu`.
fn gelu_curvature<'a>(c: &Context<'a>) -> Expr<'a> {
    let x = c.arg(1);
    if !matches!(c.value(2), Value::Str(kind) if &*kind == "tanh") {
        let density = (x.clone().squared() * -0.5).call("exp", &[]) * (1.0 / (2.0 * PI).sqrt());
        return density * (-x.squared() + 2.0);
    }
    let factor = (2.0 / PI).sqrt();
    let bent = ((x.clone() + x.pow(Value::Int(3)) * 0.044715) * factor).call("tanh", &[]);
    let slope = (x.clone().squared() * (3.0 * 0.044715) + 1.0) * factor;
    let bend = x.clone() * (6.0 * 0.044715 * factor);
    let rest = -bent.clone().squared() + 1.0;
    let turned = bend - bent * slope.clone().squared() * 2.0;
    rest * (slope + x * turned * 0.5)
}
