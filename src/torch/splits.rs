//! Splits of a tensor into views along one dimension. Follows
//! <https://pytorch.org/docs/2.7/generated/torch.tensor_split.html> and its neighbours.

use super::dimnames;
use super::sparse_kernels;
use call::facets::{
    Dispatch::{Own, Refused},
    NameInference::{Keeps, Removes},
};
use call::reads::Reads;
use call::{Call, Row, both, function, method, view_on};
use tensor::bail;
use tensor::ops::split::{self, SplitAxis};
use tensor::{DType, Dims, Result, View, interrupt};
use value::Value;

pub(crate) const ROWS: &[Row] = &[
    // PyTorch implements `split` in Python, on top of these functions.
    function(
        "_VF.split.Tensor(Tensor(a) self, SymInt split_size, int dim=0) -> Tensor(a)[]",
        |c| views_of(c, split::split(&c.view(0)?, c.int(1)?, c.int(2)?)),
        "Splits into chunks of one size.",
    )
    .sparse(Refused("as_strided"))
    .copied("Copies chunks of one size."),
    function(
        "_VF.split.sizes(Tensor(a) self, int[] split_size, int dim=0) -> Tensor(a)[]",
        |c| views_of(c, split::split_with_sizes(&c.view(0)?, &c.ints(1)?, c.int(2)?)),
        "Splits into chunks of the given sizes.",
    ),
    method(
        "split(Tensor self, any split_size, any dim=0) -> any",
        split_,
        "Splits into chunks of one size, or of the given sizes.",
    )
    .names(Keeps)
    .any_layout()
    .python("Tensor.split")
    .not_differentiable(),
    function(
        "split(any tensor, any split_size_or_sections, any dim=0) -> any",
        split_,
        "Splits into chunks of one size, or of the given sizes.",
    )
    .names(Keeps)
    .any_layout()
    .python("split")
    .not_differentiable(),
    both(
        "split_with_sizes(Tensor(a) self, int[] split_sizes, int dim=0) -> Tensor(a)[]",
        |c| views_of(c, split::split_with_sizes(&c.view(0)?, &c.ints(1)?, c.int(2)?)),
        "Splits into chunks of the given sizes.",
    )
    .names(Keeps)
    .copied("Copies chunks of the given sizes."),
    both(
        "chunk(Tensor(a) self, int chunks, int dim=0) -> Tensor(a)[]",
        |c| views_of(c, split::chunk(&c.view(0)?, c.int(1)?, c.int(2)?)),
        "Splits into at most the given number of chunks.",
    )
    .names(Keeps)
    .sparse(Refused("as_strided")),
    both(
        "unsafe_split.Tensor(Tensor self, SymInt split_size, int dim=0) -> Tensor[]",
        |c| apart(split::split(&c.view(0)?, c.int(1)?, c.int(2)?)),
        "Splits into chunks of one size that are not known to be views.",
    )
    .reads(Reads::Moved)
    .names(Keeps),
    both(
        "unsafe_split_with_sizes(Tensor self, int[] split_sizes, int dim=0) -> Tensor[]",
        |c| apart(split::split_with_sizes(&c.view(0)?, &c.ints(1)?, c.int(2)?)),
        "Splits into chunks of the given sizes that are not known to be views.",
    )
    .reads(Reads::Moved)
    .names(Keeps),
    both(
        "unsafe_chunk(Tensor self, int chunks, int dim=0) -> Tensor[]",
        |c| apart(split::chunk(&c.view(0)?, c.int(1)?, c.int(2)?)),
        "Splits into at most the given number of chunks, which are not known to be views.",
    )
    .reads(Reads::Moved)
    .names(Keeps),
    both(
        "tensor_split.indices(Tensor(a) self, int[] indices, int dim=0) -> Tensor(a)[]",
        |c| views_of(c, split::tensor_split_indices(&c.view(0)?, &c.ints(1)?, c.int(2)?)),
        "Splits at the given indices.",
    )
    .names(Keeps),
    both(
        "tensor_split.tensor_indices_or_sections(Tensor(a) self, Tensor tensor_indices_or_sections, int \
 dim=0) -> Tensor(a)[]",
        tensor_split_by_tensor,
        "Splits into nearly equal chunks, or at indices, as a tensor says.",
    )
    .names(Keeps),
    both(
        "tensor_split.sections(Tensor(a) self, SymInt sections, int dim=0) -> Tensor(a)[]",
        |c| views_of(c, split::tensor_split_sections(&c.view(0)?, c.int(1)?, c.int(2)?)),
        "Splits into nearly equal chunks.",
    )
    .names(Keeps),
    both(
        "hsplit.int(Tensor(a) self, int sections) -> Tensor(a)[]",
        |c| views_of(c, SplitAxis::H.split_sections(&c.view(0)?, c.int(1)?)),
        "Splits along the columns.",
    )
    .names(Keeps),
    both(
        "hsplit.array(Tensor(a) self, int[] indices) -> Tensor(a)[]",
        |c| views_of(c, SplitAxis::H.split_indices(&c.view(0)?, &c.ints(1)?)),
        "Splits along the columns at the given indices.",
    )
    .names(Keeps),
    both(
        "vsplit.int(Tensor(a) self, int sections) -> Tensor(a)[]",
        |c| views_of(c, SplitAxis::V.split_sections(&c.view(0)?, c.int(1)?)),
        "Splits along the rows.",
    )
    .names(Keeps),
    both(
        "vsplit.array(Tensor(a) self, int[] indices) -> Tensor(a)[]",
        |c| views_of(c, SplitAxis::V.split_indices(&c.view(0)?, &c.ints(1)?)),
        "Splits along the rows at the given indices.",
    )
    .names(Keeps),
    both(
        "dsplit.int(Tensor(a) self, int sections) -> Tensor(a)[]",
        |c| views_of(c, SplitAxis::D.split_sections(&c.view(0)?, c.int(1)?)),
        "Splits along the depth.",
    )
    .names(Keeps),
    both(
        "dsplit.array(Tensor(a) self, int[] indices) -> Tensor(a)[]",
        |c| views_of(c, SplitAxis::D.split_indices(&c.view(0)?, &c.ints(1)?)),
        "Splits along the depth at the given indices.",
    )
    .names(Keeps),
    both(
        "unbind.int(Tensor(a) self, int dim=0) -> Tensor(a)[]",
        |c| views_of(c, split::unbind(&c.view(0)?, c.int(1)?)),
        "Returns one view for every index of a dimension.",
    )
    .names(Removes)
    .sparse(Own(sparse_kernels::unbind))
    .by_name("Dimname", dimnames::by_position)
    .copied("Copies every index of a dimension to a tensor of its own."),
];

fn views_of(call: &Call, views: Result<Vec<View>>) -> Result<Value> {
    let this = call.tensor(0)?;
    let views = views?.into_iter().enumerate().map(|(i, view)| {
        interrupt::check_at(i)?;
        view_on(this, view).map(Value::Tensor)
    });
    views.collect::<Result<_>>().map(Value::Tuple)
}

/// Returns tensors that share the storage but are not recorded as views.
fn apart(views: Result<Vec<View>>) -> Result<Value> {
    Ok(Value::tuple(views?.into_iter().map(Value::from)))
}

fn split_(call: &mut Call) -> Result<Value> {
    let this = call.value(0);
    if !matches!(this, Value::Tensor(_)) {
        bail!(AttributeError, "'{}' object has no attribute 'split'", this.type_name());
    }
    // A tensor of one element is accepted as a number.
    let size = match call.value(1) {
        Value::Tensor(t) if t.borrow().numel() == 1 => Value::Int(t.borrow().item()?.to_i64()),
        other => other,
    };
    let name = if matches!(size, Value::Int(_) | Value::Bool(_)) { "split" } else { "split_with_sizes" };
    call::dispatch::call_below(call.state, name, &[this, size, call.value(2)])
}

fn tensor_split_by_tensor(call: &mut Call) -> Result<Value> {
    let (view, places, dim) = (call.view(0)?, call.view(1)?, call.int(2)?);
    if places.device().is_meta() {
        bail!(RuntimeError, "tensor_split expected tensor_indices_or_sections to be on cpu, but it's on meta");
    }
    if places.dtype != DType::Long {
        bail!(
            RuntimeError,
            "tensor_split expected tensor_indices_or_sections to have dtype of long, but got {}",
            places.dtype.scalar_type()
        );
    }
    match places.ndim() {
        0 => views_of(call, split::tensor_split_sections(&view, places.item()?.to_i64(), dim)),
        1 => {
            let indices: Dims = places.scalars()?.into_iter().map(|index| index.to_i64()).collect();
            views_of(call, split::tensor_split_indices(&view, &indices, dim))
        }
        ndim => bail!(
            RuntimeError,
            "tensor_split expected tensor_indices_or_sections to be a zero-dimensional or one-dimensional tensor, but got \
             a tensor with {ndim} dims"
        ),
    }
}
