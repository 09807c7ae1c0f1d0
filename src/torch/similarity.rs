//! Angles and distances between vectors, and normalization to unit length. Follows
//! <https://pytorch.org/docs/2.7/nn.functional.html#distance-functions>.

use super::steps::Steps;
use call::{Call, Row, function, one};
use tensor::bail;
use tensor::ops::promote::result_type;
use tensor::{Result, Tensor};
use value::Value;

pub(crate) const ROWS: &[Row] = &[
    function(
        "cosine_similarity(Tensor x1, Tensor x2, int dim=1, float eps=1e-08) -> Tensor",
        cosine_similarity,
        "Computes the cosines of the angles between vectors.",
    )
    .aliases(&["nn.functional.cosine_similarity"])
    .operation("linalg_vector_norm")
    .recorded_in_steps(),
    function(
        "pairwise_distance(Tensor x1, Tensor x2, float p=2.0, float eps=1e-06, bool keepdim=False) -> Tensor",
        pairwise_distance,
        "Computes the distances between vectors.",
    )
    .aliases(&["nn.functional.pairwise_distance"])
    .operation("norm.ScalarOpt_dim")
    .recorded_in_steps(),
    function(
        "nn.functional.normalize(Tensor input, float p=2.0, int dim=1, float eps=1e-12, Tensor? out=None) \
 -> Tensor",
        normalize,
        "Scales vectors to length one.",
    )
    .operation("linalg_vector_norm")
    .python("normalize")
    .recorded_in_steps(),
];

/// Computes the norms of vectors along a dimension, raised to at least `least`. The clamping is not recorded.
fn lengths(steps: Steps, tensor: &Tensor, p: Value, dim: Value, least: Value) -> Result<Tensor> {
    let norm = one(steps.torch("linalg.vector_norm", &[tensor.clone().into(), p, dim, Value::Bool(true)])?)?;
    let norm = steps.on(&norm, "clone", &[])?;
    let recording = steps.0.grad_enabled.replace(false);
    let limited = steps.on(&norm, "clamp_min_", &[least]);
    steps.0.grad_enabled.set(recording);
    limited.map(|_| norm)
}

fn cosine_similarity(call: &mut Call) -> Result<Value> {
    let steps = Steps::of(call);
    let (a, b) = (call.tensor(0)?.clone(), call.tensor(1)?.clone());
    let common = result_type(&[(&a.view()).into(), (&b.view()).into()], steps.0.default_dtype.get())?;
    if !common.is_floating_point() {
        bail!(RuntimeError, "expected common dtype to be floating point, yet common dtype is {}", common.scalar_type());
    }
    let sizes = tensor::layout::broadcast_sizes(a.borrow().sizes(), b.borrow().sizes())?;
    let unit = |tensor: Tensor| {
        let same = steps.sized("expand", &steps.on(&tensor, "to", &[Value::DType(common)])?, &sizes)?;
        let lengths = lengths(steps, &same, Value::Float(2.0), call.value(2), call.value(3))?;
        steps.pair("div", &same, &lengths)
    };
    let product = steps.pair("mul", &unit(a)?, &unit(b)?)?;
    steps.on(&product, "sum", &[call.value(2)]).map(Value::Tensor)
}

fn pairwise_distance(call: &mut Call) -> Result<Value> {
    let steps = Steps::of(call);
    let apart = steps.pair("sub", &call.tensor(0)?.clone(), &call.tensor(1)?.clone())?;
    let apart = steps.on(&apart, "add", &[call.value(3)])?;
    steps.torch("linalg.vector_norm", &[apart.into(), call.value(2), Value::Int(-1), call.value(4)])
}

fn normalize(call: &mut Call) -> Result<Value> {
    let steps = Steps::of(call);
    let tensor = call.tensor(0)?.clone();
    let keep = [tensor.clone().into(), call.value(1), call.value(2), Value::Bool(true)];
    let norm = one(steps.torch("linalg.vector_norm", &keep)?)?;
    let limited = steps.on(&norm, "clamp_min", &[call.value(3)])?;
    let lengths = steps.on(&limited, "expand_as", &[tensor.clone().into()])?;
    steps.pair("div", &tensor, &lengths).map(Value::Tensor)
}
