//! Copying forms of view operations: `*_copy` returns a copy of the view, and `*_scatter` a copy of the input in which
//! the view is replaced. Follows <https://pytorch.org/docs/2.7/generated/torch.slice_scatter.html> and its neighbours.

use super::sparse_kernels;
use call::facets::{Dispatch::Own, NameInference::Keeps, Out, Takes};
use call::reads::Reads;
use call::{Row, both, function, method};
use tensor::ops::{copy, slice_scatter as scatter, view as ops};
use tensor::{Result, View};
use value::Value;

pub(crate) const ROWS: &[Row] = &[
    function(
        "view_copy.dtype(Tensor self, ScalarType dtype, *, Tensor? out=None) -> Tensor",
        |c| {
            let view = c.view(0)?;
            copied(view.view_dtype(c.opt_dtype(1).unwrap_or(view.dtype)))
        },
        "Copies the tensor, with the same bytes read as another dtype.",
    ).not_differentiable().grad_refused_by_fallback(),
    function(
        "view_copy(Tensor self, int[] size, *, Tensor? out=None) -> Tensor",
        |c| copied(ops::reshape(&c.view(0)?, &c.ints(1)?)),
        "Copies the same elements under another shape.",
    ).grad_refused_by_fallback(),
    // Unlike a subscript, it refuses steps as `slice` of PyTorch's C++ does.
    function(
        "slice_copy.Tensor(Tensor self, int dim=0, SymInt? start=None, SymInt? end=None, SymInt step=1, *, Tensor? \
 out=None) -> Tensor",
        |c| copied(ops::slice(&c.view(0)?, c.int(1)?, c.opt_int(2)?, c.opt_int(3)?, c.int(4)?)),
        "Copies a slice.",
    )
    .grad_refused_by_fallback(),
    both(
        "narrow_copy(Tensor self, int dim, SymInt start, SymInt length, *, Tensor? out=None) -> Tensor",
        |c| copied(ops::narrow_copied(&c.view(0)?, c.int(1)?, c.int(2)?, c.int(3)?)),
        "Copies a run of indices of one dimension.",
    ).reads(Reads::Moved)
    .out(Out::PLAIN.unguarded().takes(&[(Takes::Same, "Expected self.dtype() == output.dtype() to be true, but got false.  (Could this error message be improved?  If so, please report an enhancement request to PyTorch.)")])).grad_refused_by_fallback()
    .sparse(Own(sparse_kernels::narrow_copy)),
    both(
        "diagonal_scatter(Tensor self, Tensor src, int offset=0, int dim1=0, int dim2=1) -> Tensor",
        |c| {
            let (view, source) = (c.view(0)?, c.view(1)?);
            scatter::diagonal_scatter(&view, &source, c.int(2)?, c.int(3)?, c.int(4)?).map(Value::from)
        },
        "Copies the tensor with another diagonal.",
    ).reads(Reads::Moved),
    both(
        "select_scatter(Tensor self, Tensor src, int dim, SymInt index) -> Tensor",
        |c| scatter::select_scatter(&c.view(0)?, &c.view(1)?, c.int(2)?, c.int(3)?).map(Value::from),
        "Copies the tensor with one index of a dimension replaced.",
    ).reads(Reads::Moved),
    both(
        "slice_scatter(Tensor self, Tensor src, int dim=0, SymInt? start=None, SymInt? end=None, SymInt step=1, *, Tensor? out=None) -> \
 Tensor",
        |c| {
            let (view, source) = (c.view(0)?, c.view(1)?);
            scatter::slice_scatter(&view, &source, c.int(2)?, c.opt_int(3)?, c.opt_int(4)?, c.int(5)?).map(Value::from)
        },
        "Copies the tensor with a slice replaced.",
    ).reads(Reads::Moved).grad_refused_by_fallback(),
    both(
        "as_strided_scatter(Tensor self, Tensor src, int[] size, int[] stride, SymInt? storage_offset=None) -> \
 Tensor",
        |c| {
            let (view, source) = (c.view(0)?, c.view(1)?);
            scatter::as_strided_scatter(&view, &source, &c.ints(2)?, &c.ints(3)?, c.opt_int(4)?).map(Value::from)
        },
        "Copies the tensor with a window of the storage replaced.",
    ).reads(Reads::Moved),
    method(
        "fill_diagonal_(Tensor(a!) self, Scalar fill_value, bool wrap=False) -> Tensor(a!)",
        |c| {
            let value = c.scalar(1)?;
            scatter::fill_diagonal_(&c.view(0)?, value, c.bool(2)?)?;
            Ok(c.itself())
        },
        "Fills the main diagonal.",
    ).reads(Reads::Moved)
    .names(Keeps),
];

/// Returns a row-major copy of a view.
fn copied(view: Result<View>) -> Result<Value> {
    copy::row_major(&view?).map(Value::from)
}
