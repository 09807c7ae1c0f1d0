//! Functions without a name of their own in a session: the parts that subscripts and composite functions are made of.
//! They follow the operators of the same name in PyTorch's `native_functions.yaml`.

use super::{Call, Role, Row, row};
use crate::bail;
use crate::ops::{index, view as views};
use crate::tensor::index::{Index, Resolved, resolve};
use crate::tensor::layout::wrap_dim;
use crate::tensor::{Result, View};
use crate::value::Value;

const fn internal(signature: &'static str, run: super::Run, doc: &'static str) -> Row {
    row(signature, run, doc, Role::Internal)
}

pub const ROWS: &[Row] = &[
    internal(
        "slice.Tensor(Tensor(a) self, int dim=0, int? start=None, int? end=None, int step=1) -> Tensor(a)",
        slice,
        "A range of a dimension.",
    ),
    super::function(
        "_unsafe_view(Tensor self, int[] size) -> Tensor",
        |c| views::reshape(&c.view(0)?, &c.ints(1)?).map(Value::from),
        "The only view of a tensor nobody else holds.",
    ),
    internal(
        "index.Tensor(Tensor self, any indices) -> Tensor",
        |c| index::index_tensors(&c.view(0)?, &places(c)?).map(Value::from),
        "The elements at the places that tensors name, one for each dimension or None.",
    ),
    internal(
        "_index_put_impl_(Tensor(a!) self, any indices, Tensor values, bool accumulate=False) -> Tensor(a!)",
        |c| {
            index::index_put_(&c.view(0)?, &places(c)?, &c.view(2)?, c.bool(3)?)?;
            Ok(c.itself())
        },
        "Writes at the places that tensors name, one for each dimension or None.",
    ),
];

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

/// Index tensors; `None` leaves a dimension whole.
fn places(call: &Call) -> Result<Vec<Option<View>>> {
    let items = call.value(1).sequence().unwrap_or_default();
    let places = items.iter().map(|item| match item {
        Value::Tensor(tensor) => Ok(Some(tensor.view())),
        Value::None => Ok(None),
        other => bail!(TypeError, "tensors can be indexed by tensors, not {}", other.type_name()),
    });
    places.collect()
}
