//! View operations. Follows <https://pytorch.org/docs/2.7/tensor_view.html>.

use super::{Call, Row, attribute, both, function, method};
use crate::bail;
use crate::ops::split::{self, Along};
use crate::ops::{copy, view as ops};
use crate::tensor::{Dims, Error, Result, View};
use crate::value::{MemoryFormat, Value};

pub const ROWS: &[Row] = &[
    method(
        "view.dtype(Tensor(a) self, ScalarType dtype) -> Tensor(a)",
        |c| {
            let v = c.tensor(0)?.borrow().view_dtype(c.opt_dtype(1).unwrap_or(c.tensor(0)?.borrow().dtype))?;
            c.view_of(0, v)
        },
        "The same bytes read as another dtype.",
    ),
    method(
        "view(Tensor(a) self, int[] size) -> Tensor(a)",
        view,
        "The same elements under another shape, without a copy.",
    ),
    method(
        "view_as(Tensor(a) self, Tensor other) -> Tensor(a)",
        |c| {
            let sizes = Dims::from_slice(c.tensor(1)?.borrow().sizes());
            let layout = c.tensor(0)?.borrow().layout.view(&sizes)?;
            same_view(c, layout)
        },
        "A view with the shape of another tensor.",
    ),
    both(
        "reshape(Tensor(a) self, int[] shape) -> Tensor(a)",
        |c| {
            let v = ops::reshape(&c.view(0)?, &c.ints(1)?)?;
            view_or_copy(c, v)
        },
        "Another shape, as a view where possible, else as a copy.",
    ),
    method(
        "reshape_as(Tensor(a) self, Tensor other) -> Tensor(a)",
        |c| {
            let sizes = Dims::from_slice(c.tensor(1)?.borrow().sizes());
            let v = ops::reshape(&c.view(0)?, &sizes)?;
            view_or_copy(c, v)
        },
        "The shape of another tensor, as a view where possible.",
    ),
    both("transpose.int(Tensor(a) self, int dim0, int dim1) -> Tensor(a)", transpose, "Two dimensions swapped."),
    both(
        "transpose.Dimname(Tensor(a) self, Dimname dim0, Dimname dim1) -> Tensor(a)",
        transpose,
        "Two named dimensions swapped.",
    ),
    both(
        "swapaxes(Tensor(a) self, int axis0, int axis1) -> Tensor(a)",
        transpose,
        "Two dimensions swapped, by NumPy's name.",
    ),
    both("swapdims(Tensor(a) self, int dim0, int dim1) -> Tensor(a)", transpose, "Two dimensions swapped."),
    both(
        "t(Tensor(a) self) -> Tensor(a)",
        |c| {
            let v = ops::t(&c.view(0)?)?;
            c.view_of(0, v)
        },
        "The transpose of a matrix.",
    ),
    both(
        "permute(Tensor(a) self, int[] dims) -> Tensor(a)",
        |c| {
            let layout = c.tensor(0)?.borrow().layout.permute(&c.ints(1)?)?;
            same_view(c, layout)
        },
        "The dimensions in another order.",
    ),
    both(
        "movedim.intlist(Tensor(a) self, int[] source, int[] destination) -> Tensor(a)",
        |c| movedim(c, true),
        "Dimensions moved to other positions.",
    ),
    both(
        "movedim.int(Tensor(a) self, int source, int destination) -> Tensor(a)",
        |c| movedim(c, false),
        "One dimension moved to another position.",
    ),
    both(
        "moveaxis.intlist(Tensor(a) self, int[] source, int[] destination) -> Tensor(a)",
        |c| movedim(c, true),
        "Dimensions moved, by NumPy's name.",
    ),
    both(
        "moveaxis.int(Tensor(a) self, int source, int destination) -> Tensor(a)",
        |c| movedim(c, false),
        "One dimension moved, by NumPy's name.",
    ),
    both(
        "unsqueeze(Tensor(a) self, int dim) -> Tensor(a)",
        |c| {
            let layout = c.tensor(0)?.borrow().layout.unsqueeze(c.int(1)?)?;
            same_view(c, layout)
        },
        "A dimension of size 1 inserted.",
    ),
    both(
        "squeeze(Tensor(a) self) -> Tensor(a)",
        |c| {
            let layout = c.tensor(0)?.borrow().layout.squeeze(|_| true);
            same_view(c, layout)
        },
        "All dimensions of size 1 removed.",
    ),
    both(
        "squeeze.dim(Tensor(a) self, int dim) -> Tensor(a)",
        |c| {
            let d = c.int(1)?;
            let v = ops::squeeze(&c.view(0)?, Some(&[d]))?;
            c.view_of(0, v)
        },
        "One dimension removed if its size is 1.",
    ),
    both(
        "squeeze.dims(Tensor(a) self, int[] dim) -> Tensor(a)",
        |c| {
            let v = ops::squeeze(&c.view(0)?, Some(&c.ints(1)?))?;
            c.view_of(0, v)
        },
        "The given dimensions removed where their size is 1.",
    ),
    both("squeeze.dimname(Tensor(a) self, Dimname dim) -> Tensor(a)", |c| Ok(c.itself()), "A named dimension removed."),
    both(
        "flatten.using_ints(Tensor(a) self, int start_dim=0, int end_dim=-1) -> Tensor(a)",
        |c| {
            let v = ops::flatten(&c.view(0)?, c.int(1)?, c.int(2)?)?;
            view_or_copy(c, v)
        },
        "A range of dimensions merged into one.",
    ),
    both(
        "ravel(Tensor(a) self) -> Tensor(a)",
        |c| {
            let v = ops::reshape(&c.view(0)?, &[-1])?;
            view_or_copy(c, v)
        },
        "All elements in one dimension.",
    ),
    both(
        "unflatten.int(Tensor(a) self, int dim, int[] sizes) -> Tensor(a)",
        |c| {
            let v = ops::unflatten(&c.view(0)?, c.int(1)?, &c.ints(2)?)?;
            c.view_of(0, v)
        },
        "One dimension split into several.",
    ),
    method(
        "expand(Tensor(a) self, int[] size, *, bool implicit=False) -> Tensor(a)",
        |c| expand(c, c.ints(1)?),
        "Dimensions of size 1 repeated without copying.",
    ),
    method(
        "expand_as(Tensor(a) self, Tensor other) -> Tensor(a)",
        |c| expand(c, Dims::from_slice(c.tensor(1)?.borrow().sizes())),
        "Expanded to the size of another tensor.",
    ),
    both(
        "broadcast_to(Tensor(a) self, int[] size) -> Tensor(a)",
        |c| expand(c, c.ints(1)?),
        "Expanded by the rules of broadcasting.",
    ),
    both(
        "narrow(Tensor(a) self, int dim, int start, int length) -> Tensor(a)",
        |c| {
            let v = ops::narrow(&c.view(0)?, c.int(1)?, c.int(2)?, c.int(3)?)?;
            c.view_of(0, v)
        },
        "A run of indices of one dimension.",
    ),
    both(
        "narrow.Tensor(Tensor(a) self, int dim, Tensor start, int length) -> Tensor(a)",
        |c| {
            let start = c.view(2)?.item()?.to_i64();
            let v = ops::narrow(&c.view(0)?, c.int(1)?, start, c.int(3)?)?;
            c.view_of(0, v)
        },
        "A run of indices from a start given as a tensor.",
    ),
    both(
        "select.Dimname(Tensor(a) self, Dimname dim, int index) -> Tensor(a)",
        |c| Ok(c.itself()),
        "One index of a named dimension.",
    ),
    both(
        "select.int(Tensor(a) self, int dim, int index) -> Tensor(a)",
        |c| {
            let v = ops::select(&c.view(0)?, c.int(1)?, c.int(2)?)?;
            c.view_of(0, v)
        },
        "One index of one dimension.",
    ),
    both(
        "diagonal(Tensor(a) self, int offset=0, int dim1=0, int dim2=1) -> Tensor(a)",
        |c| {
            let layout = c.tensor(0)?.borrow().layout.diagonal(c.int(1)?, c.int(2)?, c.int(3)?)?;
            same_view(c, layout)
        },
        "A diagonal as the last dimension.",
    ),
    method(
        "unfold(Tensor(a) self, int dimension, int size, int step) -> Tensor(a)",
        |c| {
            let v = ops::unfold(&c.view(0)?, c.int(1)?, c.int(2)?, c.int(3)?)?;
            c.view_of(0, v)
        },
        "Sliding windows along one dimension.",
    ),
    both(
        "as_strided(Tensor(a) self, int[] size, int[] stride, int? storage_offset=None) -> Tensor(a)",
        |c| {
            let v = ops::as_strided(&c.view(0)?, &c.ints(1)?, &c.ints(2)?, c.opt_int(3)?)?;
            c.view_of(0, v)
        },
        "Any window of the storage, by size, stride and offset.",
    ),
    both(
        "split.Tensor(Tensor(a) self, int split_size, int dim=0) -> Tensor(a)[]",
        |c| {
            let parts = split::split(&c.view(0)?, c.int(1)?, c.int(2)?)?;
            views_of(c, parts)
        },
        "Chunks of one size.",
    ),
    both(
        "split.sizes(Tensor(a) self, int[] split_size, int dim=0) -> Tensor(a)[]",
        |c| {
            let parts = split::split_with_sizes(&c.view(0)?, &c.ints(1)?, c.int(2)?)?;
            views_of(c, parts)
        },
        "Chunks of the given sizes.",
    ),
    both(
        "split_with_sizes(Tensor(a) self, int[] split_sizes, int dim=0) -> Tensor(a)[]",
        |c| {
            let parts = split::split_with_sizes(&c.view(0)?, &c.ints(1)?, c.int(2)?)?;
            views_of(c, parts)
        },
        "Chunks of the given sizes.",
    ),
    both(
        "chunk(Tensor(a) self, int chunks, int dim=0) -> Tensor(a)[]",
        |c| {
            let parts = split::chunk(&c.view(0)?, c.int(1)?, c.int(2)?)?;
            views_of(c, parts)
        },
        "At most so many chunks.",
    ),
    both(
        "tensor_split.indices(Tensor(a) self, int[] indices, int dim=0) -> Tensor(a)[]",
        |c| {
            let parts = split::tensor_split_indices(&c.view(0)?, &c.ints(1)?, c.int(2)?)?;
            views_of(c, parts)
        },
        "Chunks between the given indices.",
    ),
    both(
        "tensor_split.sections(Tensor(a) self, int sections, int dim=0) -> Tensor(a)[]",
        |c| {
            let parts = split::tensor_split_sections(&c.view(0)?, c.int(1)?, c.int(2)?)?;
            views_of(c, parts)
        },
        "Nearly equal chunks.",
    ),
    both(
        "hsplit.int(Tensor(a) self, int sections) -> Tensor(a)[]",
        |c| {
            let parts = Along::H.split_sections(&c.view(0)?, c.int(1)?)?;
            views_of(c, parts)
        },
        "Chunks along the columns.",
    ),
    both(
        "vsplit.int(Tensor(a) self, int sections) -> Tensor(a)[]",
        |c| {
            let parts = Along::V.split_sections(&c.view(0)?, c.int(1)?)?;
            views_of(c, parts)
        },
        "Chunks along the rows.",
    ),
    both(
        "dsplit.int(Tensor(a) self, int sections) -> Tensor(a)[]",
        |c| {
            let parts = Along::D.split_sections(&c.view(0)?, c.int(1)?)?;
            views_of(c, parts)
        },
        "Chunks along the depth.",
    ),
    both(
        "unbind.int(Tensor(a) self, int dim=0) -> Tensor(a)[]",
        |c| {
            let parts = split::unbind(&c.view(0)?, c.int(1)?)?;
            views_of(c, parts)
        },
        "One view for every index of a dimension.",
    ),
    both(
        "adjoint(Tensor(a) self) -> Tensor(a)",
        |c| {
            let v = ops::adjoint(&c.view(0)?, "adjoint()")?;
            c.view_of(0, v)
        },
        "The conjugate transpose of the last two dimensions.",
    ),
    attribute(
        "T(Tensor(a) self) -> Tensor(a)",
        |c| {
            if c.tensor(0)?.borrow().ndim() != 2 {
                c.state.warn_once("UserWarning", "The use of `x.T` on tensors of dimension other than 2 to reverse their shape is deprecated and it will throw an error in a future release. Consider `x.mT` to transpose batches of matrices or `x.permute(*torch.arange(x.ndim - 1, -1, -1))` to reverse the dimensions of a tensor. (Triggered internally at /pytorch/aten/src/ATen/native/TensorShape.cpp:4413.)");
            }
            let v = ops::numpy_t(&c.view(0)?);
            c.view_of(0, v)
        },
        "The dimensions reversed.",
    ),
    attribute(
        "mT(Tensor(a) self) -> Tensor(a)",
        |c| {
            let v = ops::matrix_t(&c.view(0)?)?;
            c.view_of(0, v)
        },
        "The last two dimensions swapped.",
    ),
    attribute(
        "H(Tensor(a) self) -> Tensor(a)",
        |c| {
            let v = ops::matrix_h(&c.view(0)?)?;
            c.view_of(0, v)
        },
        "The conjugate transpose of a matrix.",
    ),
    attribute(
        "mH(Tensor(a) self) -> Tensor(a)",
        |c| {
            let v = ops::adjoint(&c.view(0)?, "mH")?;
            c.view_of(0, v)
        },
        "The conjugate transpose of the last two dimensions.",
    ),
    attribute("real(Tensor(a) self) -> Tensor(a)", real, "The real part, as a view."),
    attribute("imag(Tensor(a) self) -> Tensor(a)", imag, "The imaginary part, as a view."),
    function("real(Tensor(a) self) -> Tensor(a)", real, "The real part, as a view."),
    function("imag(Tensor(a) self) -> Tensor(a)", imag, "The imaginary part, as a view."),
    function(
        "view_as_real(Tensor(a) self) -> Tensor(a)",
        |c| {
            let v = ops::view_as_real(&c.view(0)?)?;
            c.view_of(0, v)
        },
        "A complex tensor as pairs of real numbers.",
    ),
    function(
        "view_as_complex(Tensor(a) self) -> Tensor(a)",
        |c| {
            let v = ops::view_as_complex(&c.view(0)?)?;
            c.view_of(0, v)
        },
        "Pairs of real numbers as a complex tensor.",
    ),
    both(
        "conj(Tensor(a) self) -> Tensor(a)",
        |c| {
            let view = c.view(0)?;
            if view.dtype.is_complex() { c.view_of(0, View { conj: !view.conj, ..view }) } else { Ok(c.itself()) }
        },
        "The complex conjugate, computed when it is read.",
    ),
    both(
        "resolve_conj(Tensor(a) self) -> Tensor(a)",
        |c| {
            let v = c.view(0)?;
            if v.conj { copy::resolve_conj(&v).map(Value::from) } else { Ok(c.itself()) }
        },
        "The tensor with its conjugate bit carried out.",
    ),
    both(
        "resolve_neg(Tensor(a) self) -> Tensor(a)",
        |c| {
            let v = c.view(0)?;
            if v.neg { copy::resolve_neg(&v).map(Value::from) } else { Ok(c.itself()) }
        },
        "The tensor with its negative bit carried out.",
    ),
    both(
        "detach(Tensor(a) self) -> Tensor(a)",
        |c| Ok(Value::Tensor(c.tensor(0)?.detach())),
        "The same elements outside the gradient graph.",
    ),
    method(
        "contiguous(Tensor(a) self, *, MemoryFormat memory_format=torch.contiguous_format) -> Tensor(a)",
        contiguous,
        "The tensor itself if contiguous, else a contiguous copy.",
    ),
    both(
        "alias(Tensor(a) self) -> Tensor(a)",
        |c| {
            let v = c.view(0)?;
            c.view_of(0, v)
        },
        "A view of all elements.",
    ),
];

fn view(call: &mut Call) -> Result<Value> {
    let tensor = call.tensor(0)?;
    let layout = match call.args.get(1) {
        Some(Value::Size(sizes)) => tensor.borrow().layout.view(sizes)?,
        _ => bail!(TypeError, "view(): size must be integers"),
    };
    same_view(call, layout)
}

/// The receiver's storage and dtype under another layout.
fn same_view(call: &Call, layout: crate::tensor::Layout) -> Result<Value> {
    let view = call.tensor(0)?.borrow().with_layout(layout);
    call.view_of(0, view)
}

/// A result that is a view of the receiver if it shares its storage, and a tensor of its own otherwise.
fn view_or_copy(call: &Call, view: View) -> Result<Value> {
    let this = call.tensor(0)?;
    let shares = this.borrow().storage == view.storage;
    if shares && this.borrow().layout == view.layout && call.signature.name == "flatten" && view.ndim() == 1 {
        return Ok(call.itself());
    }
    if shares { call.view_of(0, view) } else { Ok(view.into()) }
}

fn views_of(call: &Call, views: Vec<View>) -> Result<Value> {
    let this = call.tensor(0)?;
    Ok(Value::tuple(views.into_iter().map(|v| Value::Tensor(this.new_view(v)))))
}

fn transpose(call: &mut Call) -> Result<Value> {
    let layout = call.tensor(0)?.borrow().layout.transpose(call.int(1)?, call.int(2)?)?;
    same_view(call, layout)
}

fn movedim(call: &mut Call, lists: bool) -> Result<Value> {
    let (source, destination) = if lists {
        (call.ints(1)?, call.ints(2)?)
    } else {
        (Dims::from_slice(&[call.int(1)?]), Dims::from_slice(&[call.int(2)?]))
    };
    let moved = ops::movedim(&call.view(0)?, &source, &destination)?;
    call.view_of(0, moved)
}

fn expand(call: &Call, sizes: Dims) -> Result<Value> {
    let this = call.tensor(0)?.borrow();
    let layout = this.layout.expand(&sizes, &this.type_name())?;
    let view = this.with_layout(layout);
    drop(this);
    call.view_of(0, view)
}

fn real(call: &mut Call) -> Result<Value> {
    let view = call.view(0)?;
    if view.dtype.is_complex() { call.view_of(0, view.complex_part(false)) } else { Ok(call.itself()) }
}

fn imag(call: &mut Call) -> Result<Value> {
    let view = call.view(0)?;
    if !view.dtype.is_complex() {
        return Err(Error::runtime("imag is not implemented for tensors with non-complex dtypes."));
    }
    call.view_of(0, view.complex_part(true))
}

fn contiguous(call: &mut Call) -> Result<Value> {
    let view = call.view(0)?;
    match call.memory_format(1) {
        Some(MemoryFormat::Preserve) => {
            bail!(RuntimeError, "preserve memory format is unsupported by the contiguous operator")
        }
        Some(format @ (MemoryFormat::ChannelsLast | MemoryFormat::ChannelsLast3d)) => {
            let out = ops::channels_last(&view, if format == MemoryFormat::ChannelsLast { 4 } else { 5 })?;
            if out.storage == view.storage { Ok(call.itself()) } else { Ok(out.into()) }
        }
        _ if view.layout.is_contiguous() => Ok(call.itself()),
        _ => copy::contiguous(&view).map(Value::from),
    }
}
