//! The parts that subscripts and composite functions are made of. They have no name in a session. They follow the
//! operators of the same name in PyTorch's `native_functions.yaml`.

use super::pointwise::default;
use call::facets::{
    Dispatch::{OneScale, Refused},
    NameInference::Keeps,
};
use call::reads::Reads;
use call::{Call, Row, both, function, internal};
use tensor::bail;
use tensor::index::{Index, Resolved, resolve};
use tensor::layout::wrap_dim;
use tensor::ops::fft::{self, Norm, Transform, TransformKind};
use tensor::ops::pointwise::{BinaryOp, Output, binary};
use tensor::ops::promote::Operand;
use tensor::ops::{index, pixels, view as views};
use tensor::{Result, View};
use value::Value;

pub(crate) const ROWS: &[Row] = &[
    both(
        "_neg_view(Tensor(a) self) -> Tensor(a)",
        |c| {
            let view = c.view(0)?;
            c.view_of(0, View { neg: !view.neg, ..view })
        },
        "Returns the negative of the elements, computed when it is read.",
    )
    .names(Keeps),
    internal(
        "slice.Tensor(Tensor(a) self, int dim=0, int? start=None, int? end=None, int step=1) -> Tensor(a)",
        slice,
        "Selects a range of a dimension.",
    )
    .names(Keeps)
    .sparse(Refused("as_strided")),
    function(
        "_unsafe_view(Tensor self, int[] size) -> Tensor",
        |c| views::reshape(&c.view(0)?, &c.ints(1)?).map(Value::from),
        "Returns the only view of a tensor that nobody else holds.",
    )
    .reads(Reads::Moved),
    internal(
        "index.Tensor(Tensor self, any indices) -> Tensor",
        |c| index::index_tensors(&c.view(0)?, &places(c)?).map(Value::from),
        "Selects the elements at indices given as tensors, one for each dimension or None.",
    )
    .reads(Reads::Moved)
    .quantized(OneScale(
        "self.qscheme() == c10::kPerTensorAffine || self.qscheme() == c10::kPerTensorSymmetric INTERNAL ASSERT FAILED \
         at \"/pytorch/aten/src/ATen/native/TensorAdvancedIndexing.cpp\":743, please report a bug to PyTorch. Indexing \
         is only supported for per-Tensor quantized Tensors.",
    )),
    internal(
        "_index_put_impl_(Tensor(a!) self, any indices, Tensor values, bool accumulate=False) -> Tensor(a!)",
        |c| {
            index::index_put_(&c.view(0)?, &places(c)?, &c.view(2)?, c.bool(3)?)?;
            Ok(c.itself())
        },
        "Writes at indices given as tensors, one for each dimension or None.",
    )
    .reads(Reads::Moved)
    .operation("index_put_"),
    internal(
        "mul.Scalar(Tensor self, Scalar other) -> Tensor",
        |c| number(c, BinaryOp::Mul),
        "Multiplies by a number.",
    ),
    internal(
        "div.Scalar(Tensor self, Scalar other) -> Tensor",
        |c| number(c, BinaryOp::TrueDivide),
        "Divides by a number.",
    ),
    internal("add.Number(Tensor self, Scalar other) -> Tensor", |c| number(c, BinaryOp::Add), "Adds a number."),
    internal("sub.Number(Tensor self, Scalar other) -> Tensor", |c| number(c, BinaryOp::Sub), "Subtracts a number."),
    function(
        "constant_pad_nd(Tensor self, int[] pad, Scalar value=0) -> Tensor",
        |c| pixels::pad(&c.view(0)?, &c.ints(1)?, c.scalar(2)?).map(Value::from),
        "Adds a border of one number.",
    )
    .reads(Reads::Moved),
    internal(
        "_fft_c2c(Tensor self, int[] dim, str? norm, bool forward) -> Tensor",
        |c| transform(c, TransformKind::Complex, c.bool(3)?, None),
        "Computes the Fourier transform of complex numbers.",
    ),
    internal(
        "_fft_r2c(Tensor self, int[] dim, str? norm, bool onesided) -> Tensor",
        |c| transform(c, if c.bool(3)? { TransformKind::RealToHalf } else { TransformKind::Complex }, true, None),
        "Computes the spectrum of a real signal, or half of it.",
    ),
    internal(
        "_fft_c2r(Tensor self, int[] dim, str? norm, int last_dim_size) -> Tensor",
        |c| transform(c, TransformKind::HalfToReal, false, Some(c.int(3)?)),
        "Computes a real signal from half its spectrum.",
    ),
];

fn number(call: &mut Call, op: BinaryOp) -> Result<Value> {
    let (view, number) = (call.view(0)?, call.scalar(1)?);
    binary(op, Operand::Tensor(&view), Operand::Number(number), Output::New, default(call)).map(Value::from)
}

/// Transforms along dimensions. `last` is the length of the last one, which half a spectrum does not determine.
fn transform(call: &mut Call, kind: TransformKind, forward: bool, last: Option<i64>) -> Result<Value> {
    let norm = Norm::parse(if call.is_none(2) { None } else { Some(call.str(2)?) })?;
    let how = Transform { name: "fft", kind, forward, norm, default: default(call) };
    let (view, dims) = (call.view(0)?, call.ints(1)?);
    if let [dim] = dims.as_slice() {
        return fft::one(&view, last, *dim, &how).map(Value::from);
    }
    let lengths = last.map(|last| {
        let mut lengths = vec![-1; dims.len()];
        lengths.pop();
        lengths.push(last);
        lengths
    });
    fft::several(&view, lengths.as_deref(), Some(&dims), &how).map(Value::from)
}

fn slice(call: &mut Call) -> Result<Value> {
    let view = call.view(0)?;
    let dim = wrap_dim(call.int(1)?, view.ndim())?;
    let bound = |i: usize| if call.is_none(i) { Ok(None) } else { call.int(i).map(Some) };
    let mut indices = vec![Index::Slice { start: None, stop: None, step: 1 }; dim];
    indices.push(Index::Slice { start: bound(2)?, stop: bound(3)?, step: call.int(4)? });
    match resolve(&view, &indices)? {
        Resolved::Basic(layout) => call.view_of(0, view.with_layout(layout)),
        Resolved::Advanced { .. } => bail!(IndexError, "a slice selects a range"),
    }
}

/// Returns the index tensors. `None` selects a whole dimension.
fn places(call: &Call) -> Result<Vec<Option<View>>> {
    let items = call.value(1).sequence().unwrap_or_default();
    let places = items.iter().map(|item| match item {
        Value::Tensor(tensor) => Ok(Some(tensor.view())),
        Value::None => Ok(None),
        other => bail!(TypeError, "tensors can be indexed by tensors, not {}", other.type_name()),
    });
    places.collect()
}
