//! View operations that change the tensor itself: every handle to it sees the new shape. Follows
//! <https://pytorch.org/docs/2.7/tensors.html>.

use crate::dimnames;
use crate::sparse_kernels;
use call::facets::Dispatch::Own;
use call::{Call, Row, method};
use tensor::bail;
use tensor::ops::view as ops;
use tensor::{Layout, Result, View};
use value::Value;

pub(crate) const ROWS: &[Row] = &[
    method(
        "transpose_(Tensor(a!) self, int dim0, int dim1) -> Tensor(a!)",
        transpose_,
        "Swaps two dimensions in place.",
    )
    .aliases(&["swapdims_"])
    .sparse(Own(sparse_kernels::transpose_in_place)),
    method(
        "swapaxes_(Tensor(a!) self, int axis0, int axis1) -> Tensor(a!)",
        transpose_,
        "Swaps two dimensions in place, by NumPy's name.",
    )
    .operation("transpose_")
    .sparse(Own(sparse_kernels::transpose_in_place)),
    method(
        "t_(Tensor(a!) self) -> Tensor(a!)",
        |c| {
            let view = c.view(0)?;
            if view.ndim() > 2 {
                bail!(RuntimeError, "t_() expects a tensor with <= 2 dimensions, but self is {}D", view.ndim());
            }
            show(c, ops::t(&view)?)
        },
        "Transposes a matrix in place.",
    )
    .sparse(Own(sparse_kernels::t_in_place)),
    method(
        "unsqueeze_(Tensor(a!) self, int dim) -> Tensor(a!)",
        |c| change(c, |layout| layout.unsqueeze(c.int(1)?)),
        "Inserts a dimension of size 1 in place.",
    ),
    method(
        "squeeze_(Tensor(a!) self) -> Tensor(a!)",
        |c| change(c, |layout| Ok(layout.squeeze(|_| true))),
        "Removes all dimensions of size 1 in place.",
    ),
    method(
        "squeeze_.dim(Tensor(a!) self, int dim) -> Tensor(a!)",
        |c| show(c, ops::squeeze(&c.view(0)?, Some(&[c.int(1)?]))?),
        "Removes one dimension in place if its size is 1.",
    )
    .by_name("dimname", dimnames::not_yet),
    method(
        "squeeze_.dims(Tensor(a!) self, int[] dim) -> Tensor(a!)",
        |c| show(c, ops::squeeze(&c.view(0)?, Some(&c.ints(1)?))?),
        "Removes the given dimensions in place where their size is 1.",
    ),
    method(
        "as_strided_(Tensor(a!) self, int[] size, int[] stride, int? storage_offset=None) -> Tensor(a!)",
        |c| show(c, ops::as_strided(&c.view(0)?, &c.ints(1)?, &c.ints(2)?, c.opt_int(3)?)?),
        "Makes the tensor show any window of its storage, in place.",
    ),
];

/// Replaces the receiver's view by another view of its storage.
fn show(call: &Call, view: View) -> Result<Value> {
    call.tensor(0)?.set_view(view);
    Ok(call.itself())
}

fn change(call: &Call, to: impl FnOnce(&Layout) -> Result<Layout>) -> Result<Value> {
    let view = call.view(0)?;
    let layout = to(&view.layout)?;
    show(call, view.with_layout(layout))
}

fn transpose_(call: &mut Call) -> Result<Value> {
    change(call, |layout| layout.transpose(call.int(1)?, call.int(2)?))
}
