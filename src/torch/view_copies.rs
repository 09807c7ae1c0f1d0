//! Copying forms of view operations: `*_copy` returns a copy of the view, and `*_scatter` a copy of the input in which
//! the view is replaced. Follows <https://pytorch.org/docs/2.7/generated/torch.slice_scatter.html> and its neighbours.

use super::sparse_kernels;
use call::facets::{Dispatch::Own, NameInference::Keeps, Out, Takes};
use call::{Row, both, function, method};
use tensor::ops::{copy, slice_scatter as scatter, split, view as ops};
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
    ),
    function(
        "view_copy(Tensor self, int[] size, *, Tensor? out=None) -> Tensor",
        |c| copied(ops::reshape(&c.view(0)?, &c.ints(1)?)),
        "Copies the same elements under another shape.",
    ),
    function(
        "expand_copy(Tensor self, int[] size, *, bool implicit=False, Tensor? out=None) -> Tensor",
        |c| copied(ops::expand(&c.view(0)?, &c.ints(1)?)),
        "Repeats dimensions of size 1 in a copy.",
    ),
    function(
        "permute_copy(Tensor self, int[] dims, *, Tensor? out=None) -> Tensor",
        |c| copied(ops::permute(&c.view(0)?, &c.ints(1)?)),
        "Copies the tensor with its dimensions in another order.",
    ),
    function(
        "transpose_copy.int(Tensor self, int dim0, int dim1, *, Tensor? out=None) -> Tensor",
        |c| copied(ops::transpose(&c.view(0)?, c.int(1)?, c.int(2)?)),
        "Copies the tensor with two dimensions swapped.",
    ),
    function(
        "t_copy(Tensor self, *, Tensor? out=None) -> Tensor",
        |c| copied(ops::t(&c.view(0)?)),
        "Copies the transpose.",
    ),
    function(
        "select_copy.int(Tensor self, int dim, int index, *, Tensor? out=None) -> Tensor",
        |c| copied(ops::select(&c.view(0)?, c.int(1)?, c.int(2)?)),
        "Copies one index of one dimension.",
    ),
    function(
        "slice_copy.Tensor(Tensor self, int dim=0, int? start=None, int? end=None, int step=1, *, Tensor? \
 out=None) -> Tensor",
        |c| copied(ops::slice(&c.view(0)?, c.int(1)?, c.opt_int(2)?, c.opt_int(3)?, c.int(4)?)),
        "Copies a slice.",
    ),
    both(
        "narrow_copy(Tensor self, int dim, int start, int length, *, Tensor? out=None) -> Tensor",
        |c| copied(ops::narrow_copied(&c.view(0)?, c.int(1)?, c.int(2)?, c.int(3)?)),
        "Copies a run of indices of one dimension.",
    )
    .out(Out::PLAIN.unguarded().takes(&[(Takes::Same, "Expected self.dtype() == output.dtype() to be true, but got false.  (Could this error message be improved?  If so, please report an enhancement request to PyTorch.)")]))
    .sparse(Own(sparse_kernels::narrow_copy)),
    function(
        "squeeze_copy(Tensor self, *, Tensor? out=None) -> Tensor",
        |c| copied(ops::squeeze(&c.view(0)?, None)),
        "Copies the tensor without its dimensions of size 1.",
    ),
    function(
        "squeeze_copy.dim(Tensor self, int dim, *, Tensor? out=None) -> Tensor",
        |c| copied(ops::squeeze(&c.view(0)?, Some(&[c.int(1)?]))),
        "Copies the tensor without one dimension, if its size is 1.",
    ),
    function(
        "squeeze_copy.dims(Tensor self, int[] dim, *, Tensor? out=None) -> Tensor",
        |c| copied(ops::squeeze(&c.view(0)?, Some(&c.ints(1)?))),
        "Copies the tensor without the given dimensions, where their size is 1.",
    ),
    function(
        "unsqueeze_copy(Tensor self, int dim, *, Tensor? out=None) -> Tensor",
        |c| copied(ops::unsqueeze(&c.view(0)?, c.int(1)?)),
        "Copies the tensor with a dimension of size 1 inserted.",
    ),
    function(
        "diagonal_copy(Tensor self, int offset=0, int dim1=0, int dim2=1, *, Tensor? out=None) -> Tensor",
        |c| copied(ops::diagonal(&c.view(0)?, c.int(1)?, c.int(2)?, c.int(3)?)),
        "Copies a diagonal.",
    ),
    function(
        "unfold_copy(Tensor self, int dimension, int size, int step, *, Tensor? out=None) -> Tensor",
        |c| copied(ops::unfold(&c.view(0)?, c.int(1)?, c.int(2)?, c.int(3)?)),
        "Copies sliding windows along one dimension.",
    ),
    function(
        "as_strided_copy(Tensor self, int[] size, int[] stride, int? storage_offset=None, *, Tensor? \
 out=None) -> Tensor",
        |c| copied(ops::as_strided(&c.view(0)?, &c.ints(1)?, &c.ints(2)?, c.opt_int(3)?)),
        "Copies any window of the storage.",
    ),
    function(
        "view_as_real_copy(Tensor self, *, Tensor? out=None) -> Tensor",
        |c| copied(ops::view_as_real(&c.view(0)?)),
        "Copies a complex tensor as pairs of real numbers.",
    ),
    function(
        "view_as_complex_copy(Tensor self, *, Tensor? out=None) -> Tensor",
        |c| copied(ops::view_as_complex(&c.view(0)?)),
        "Copies pairs of real numbers as a complex tensor.",
    ),
    function("alias_copy(Tensor self, *, Tensor? out=None) -> Tensor", |c| copied(c.view(0)), "Copies all elements."),
    function(
        "detach_copy(Tensor self, *, Tensor? out=None) -> Tensor",
        |c| copied(c.view(0)),
        "Copies the tensor outside the gradient graph.",
    ),
    function(
        "unbind_copy.int(Tensor self, int dim=0, *, Tensor[]? out=None) -> Tensor[]",
        |c| all_copied(split::unbind(&c.view(0)?, c.int(1)?)),
        "Copies every index of a dimension to a tensor of its own.",
    ),
    function(
        "split_copy.Tensor(Tensor self, int split_size, int dim=0, *, Tensor[]? out=None) -> Tensor[]",
        |c| all_copied(split::split(&c.view(0)?, c.int(1)?, c.int(2)?)),
        "Copies chunks of one size.",
    ),
    function(
        "split_with_sizes_copy(Tensor self, int[] split_sizes, int dim=0, *, Tensor[]? out=None) -> Tensor[]",
        |c| all_copied(split::split_with_sizes(&c.view(0)?, &c.ints(1)?, c.int(2)?)),
        "Copies chunks of the given sizes.",
    ),
    both(
        "diagonal_scatter(Tensor self, Tensor src, int offset=0, int dim1=0, int dim2=1) -> Tensor",
        |c| {
            let (view, source) = (c.view(0)?, c.view(1)?);
            scatter::diagonal_scatter(&view, &source, c.int(2)?, c.int(3)?, c.int(4)?).map(Value::from)
        },
        "Copies the tensor with another diagonal.",
    ),
    both(
        "select_scatter(Tensor self, Tensor src, int dim, int index) -> Tensor",
        |c| scatter::select_scatter(&c.view(0)?, &c.view(1)?, c.int(2)?, c.int(3)?).map(Value::from),
        "Copies the tensor with one index of a dimension replaced.",
    ),
    both(
        "slice_scatter(Tensor self, Tensor src, int dim=0, int? start=None, int? end=None, int step=1, *, Tensor? out=None) -> \
 Tensor",
        |c| {
            let (view, source) = (c.view(0)?, c.view(1)?);
            scatter::slice_scatter(&view, &source, c.int(2)?, c.opt_int(3)?, c.opt_int(4)?, c.int(5)?).map(Value::from)
        },
        "Copies the tensor with a slice replaced.",
    ),
    both(
        "as_strided_scatter(Tensor self, Tensor src, int[] size, int[] stride, int? storage_offset=None) -> \
 Tensor",
        |c| {
            let (view, source) = (c.view(0)?, c.view(1)?);
            scatter::as_strided_scatter(&view, &source, &c.ints(2)?, &c.ints(3)?, c.opt_int(4)?).map(Value::from)
        },
        "Copies the tensor with a window of the storage replaced.",
    ),
    method(
        "fill_diagonal_(Tensor(a!) self, Scalar fill_value, bool wrap=False) -> Tensor(a!)",
        |c| {
            let value = c.scalar(1)?;
            scatter::fill_diagonal_(&c.view(0)?, value, c.bool(2)?)?;
            Ok(c.itself())
        },
        "Fills the main diagonal.",
    )
    .names(Keeps),
];

/// Returns a row-major copy of a view.
fn copied(view: Result<View>) -> Result<Value> {
    copy::row_major(&view?).map(Value::from)
}

fn all_copied(views: Result<Vec<View>>) -> Result<Value> {
    let copies: Result<Vec<View>> = views?.iter().map(copy::row_major).collect();
    Ok(Value::tuple(copies?.into_iter().map(Value::from)))
}
