//! Sparse tensors: creating them, taking them apart, and functions on them. Follows
//! <https://pytorch.org/docs/2.7/sparse.html>.

use super::sparse_kernels::{
    add_product, hybrid_product, multiply, multiply_reduced, product_as_sparse, sparse_sum_and_product, sum,
};
use call::facets::{
    Dispatch::AsIs,
    NameInference::{Keeps, Nameless},
};
use call::{Call, Row, attribute, both, function, method};
use objects::data::from_data;
use tensor::bail;
use tensor::layout::check_numel;
use tensor::ops::copy;
use tensor::ops::softmax::Softmax;
use tensor::ops::sparse::softmax::softmax;
use tensor::ops::sparse::{self as ops, compressed, rearrange};
use tensor::{DType, Error, Result, TensorLayout, View};
use value::Value;

pub(crate) const ROWS: &[Row] = &[
    function(
        "sparse_coo_tensor.indices(any indices, any values, *, ScalarType? dtype=None, Device? device=None, \
 bool pin_memory=False, bool requires_grad=False, bool? check_invariants=None) -> \
 Tensor",
        |c| new_coo(c, None),
        "Creates a sparse tensor of the listed elements, as large as they need.",
    )
    .shown_as("sparse_coo_tensor"),
    function(
        "sparse_coo_tensor.indices_size(any indices, any values, int[] size, *, ScalarType? dtype=None, \
 Device? device=None, bool pin_memory=False, bool requires_grad=False, bool? check_invariants=None, \
 bool? is_coalesced=None) -> Tensor",
        |c| new_coo(c, Some(2)),
        "Creates a sparse tensor of the listed elements.",
    )
    .shown_as("sparse_coo_tensor"),
    function(
        "sparse_coo_tensor.size(int[] size, *, ScalarType? dtype=None, Device? device=None, bool \
 requires_grad=False, bool? check_invariants=None) -> Tensor",
        |c| {
            let dtype = c.dtype_keyword().unwrap_or(c.state.default_dtype.get());
            check_numel(&c.ints(0)?)?;
            ops::empty_coo(&c.ints(0)?, 0, dtype, c.device_keyword()?).map(Value::from)
        },
        "Creates a sparse tensor without elements.",
    )
    .shown_as("sparse_coo_tensor"),
    function(
        "sparse_compressed_tensor(any compressed_indices, any plain_indices, any values, int[] size, \
 *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool pin_memory=False, bool \
 requires_grad=False, bool? check_invariants=None) -> Tensor",
        |c| {
            let layout = match c.position("layout").map(|i| c.value(i)) {
                Some(Value::Layout(layout)) if layout.is_compressed() => layout,
                Some(Value::Layout(layout)) => bail!(
                    RuntimeError,
                    "sparse_compressed_tensor expected sparse compressed tensor layout but got {}",
                    layout.cpp_name()
                ),
                _ => bail!(
                    RuntimeError,
                    "sparse_compressed_tensor expected sparse compressed tensor layout but got none"
                ),
            };
            new_compressed(c, layout)
        },
        "Creates a sparse tensor with compressed rows or columns.",
    )
    .aliases(&[
        "sparse_compressed_tensor.no_size(any compressed_indices, any plain_indices, any values, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool \
         pin_memory=False, bool requires_grad=False, bool? check_invariants=None) -> Tensor",
    ]),
    function(
        "sparse_csr_tensor(any crow_indices, any col_indices, any values, int[] size, *, ScalarType? \
 dtype=None, Layout? layout=None, Device? device=None, bool pin_memory=False, bool \
 requires_grad=False, bool? check_invariants=None) -> Tensor",
        |c| new_compressed(c, TensorLayout::SparseCsr),
        "Creates a sparse tensor with compressed rows.",
    )
    .aliases(&[
        "sparse_csr_tensor.no_size(any crow_indices, any col_indices, any values, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool \
         pin_memory=False, bool requires_grad=False, bool? check_invariants=None) -> Tensor",
    ]),
    function(
        "sparse_csc_tensor(any ccol_indices, any row_indices, any values, int[] size, *, ScalarType? \
 dtype=None, Layout? layout=None, Device? device=None, bool pin_memory=False, bool \
 requires_grad=False, bool? check_invariants=None) -> Tensor",
        |c| new_compressed(c, TensorLayout::SparseCsc),
        "Creates a sparse tensor with compressed columns.",
    )
    .aliases(&[
        "sparse_csc_tensor.no_size(any ccol_indices, any row_indices, any values, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool \
         pin_memory=False, bool requires_grad=False, bool? check_invariants=None) -> Tensor",
    ]),
    function(
        "sparse_bsr_tensor(any crow_indices, any col_indices, any values, int[] size, *, ScalarType? \
 dtype=None, Layout? layout=None, Device? device=None, bool pin_memory=False, bool \
 requires_grad=False, bool? check_invariants=None) -> Tensor",
        |c| new_compressed(c, TensorLayout::SparseBsr),
        "Creates a sparse tensor with compressed rows of blocks.",
    )
    .aliases(&[
        "sparse_bsr_tensor.no_size(any crow_indices, any col_indices, any values, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool \
         pin_memory=False, bool requires_grad=False, bool? check_invariants=None) -> Tensor",
    ]),
    function(
        "sparse_bsc_tensor(any ccol_indices, any row_indices, any values, int[] size, *, ScalarType? \
 dtype=None, Layout? layout=None, Device? device=None, bool pin_memory=False, bool \
 requires_grad=False, bool? check_invariants=None) -> Tensor",
        |c| new_compressed(c, TensorLayout::SparseBsc),
        "Creates a sparse tensor with compressed columns of blocks.",
    )
    .aliases(&[
        "sparse_bsc_tensor.no_size(any ccol_indices, any row_indices, any values, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool \
         pin_memory=False, bool requires_grad=False, bool? check_invariants=None) -> Tensor",
    ]),
    attribute(
        "is_sparse_csr(Tensor self) -> bool",
        |c| Ok(Value::Bool(c.tensor(0)?.borrow().tensor_layout() == TensorLayout::SparseCsr)),
        "Whether rows are compressed.",
    )
    .names(Nameless)
    .any_layout(),
    method(
        "sparse_dim(Tensor self) -> int",
        |c| Ok(Value::Int(ops::sparse_dim(&c.tensor(0)?.borrow()) as i64)),
        "Returns the number of dimensions that have indices.",
    )
    .any_layout(),
    method(
        "dense_dim(Tensor self) -> int",
        |c| Ok(Value::Int(ops::dense_dim(&c.tensor(0)?.borrow()) as i64)),
        "Returns the number of dimensions of each element.",
    )
    .any_layout(),
    method(
        "_nnz(Tensor self) -> int",
        |c| nnz(&c.tensor(0)?.borrow()).map(Value::Int),
        "Returns the number of elements given.",
    )
    .any_layout(),
    method(
        "is_coalesced(Tensor self) -> bool",
        |c| Ok(Value::Bool(ops::expect_coo(&c.tensor(0)?.borrow(), "is_coalesced")?.coalesced)),
        "Returns whether every index is given once, and all in order.",
    )
    .any_layout(),
    method("coalesce(Tensor(a) self) -> Tensor(a)", coalesce, "Merges repeated indices by adding up their values.")
        .any_layout(),
    method(
        "_coalesced_(Tensor(a!) self, bool coalesced) -> Tensor(a!)",
        set_coalesced,
        "Sets whether the tensor counts as coalesced.",
    )
    .any_layout(),
    method(
        "_indices(Tensor(a) self) -> Tensor(a)",
        |c| bare_part(c, "_indices"),
        "Returns the indices, whether coalesced or not.",
    )
    .any_layout().not_differentiable(),
    method(
        "_values(Tensor(a) self) -> Tensor(a)",
        |c| bare_part(c, "_values"),
        "Returns the values, whether coalesced or not.",
    )
    .any_layout().not_differentiable(),
    method(
        "indices(Tensor(a) self) -> Tensor(a)",
        |c| part(c, "indices"),
        "Returns the indices of a coalesced tensor.",
    )
    .any_layout().not_differentiable(),
    method("values(Tensor(a) self) -> Tensor(a)", |c| part(c, "values"), "Returns the values of a coalesced tensor.")
        .any_layout(),
    method("crow_indices(Tensor(a) self) -> Tensor(a)", |c| indices(c, ROW, 0), "Returns the beginning of each row.")
        .any_layout().not_differentiable(),
    method("col_indices(Tensor(a) self) -> Tensor(a)", |c| indices(c, ROW, 1), "Returns the column of each element.")
        .any_layout().not_differentiable(),
    method(
        "ccol_indices(Tensor(a) self) -> Tensor(a)",
        |c| indices(c, COLUMN, 0),
        "Returns the beginning of each column.",
    )
    .any_layout().not_differentiable(),
    method("row_indices(Tensor(a) self) -> Tensor(a)", |c| indices(c, COLUMN, 1), "Returns the row of each element.")
        .any_layout().not_differentiable(),
    method(
        "to_dense(Tensor self, ScalarType? dtype=None, *, bool? masked_grad=None) -> Tensor",
        to_dense,
        "Lists every element, zeros included.",
    )
    .names(Keeps)
    .sparse(AsIs),
    method(
        "to_sparse(Tensor self, *, Layout? layout=None, int[2]? blocksize=None, int? dense_dim=None) -> \
 Tensor",
        |c| {
            let layout = match c.value(1) {
                Value::Layout(layout) => layout,
                _ => TensorLayout::SparseCoo,
            };
            converted(c, layout, Some(2), 3)
        },
        "Keeps only the elements that are not zero.",
    )
    .operation("_to_sparse")
    .sparse(AsIs),
    method(
        "to_sparse.sparse_dim(Tensor self, int sparse_dim) -> Tensor",
        to_coo,
        "Keeps only the slices that are not zero.",
    )
    .operation("_to_sparse.sparse_dim")
    .sparse(AsIs),
    method(
        "to_sparse_coo(Tensor self) -> Tensor",
        |c| converted(c, TensorLayout::SparseCoo, None, 1),
        "Keeps only the elements that are not zero, listed by their indices.",
    )
    .operation("_to_sparse")
    .sparse(AsIs)
    .python("Tensor.to_sparse_coo"),
    method(
        "to_sparse_csr(Tensor self, int? dense_dim=None) -> Tensor",
        |c| converted(c, TensorLayout::SparseCsr, None, 1),
        "Keeps only the elements that are not zero, with compressed rows.",
    )
    .operation("_to_sparse_csr")
    .sparse(AsIs),
    method(
        "to_sparse_csc(Tensor self, int? dense_dim=None) -> Tensor",
        |c| converted(c, TensorLayout::SparseCsc, None, 1),
        "Keeps only the elements that are not zero, with compressed columns.",
    )
    .operation("_to_sparse_csc")
    .sparse(AsIs),
    method(
        "to_sparse_bsr(Tensor self, int[2] blocksize, int? dense_dim=None) -> Tensor",
        |c| converted(c, TensorLayout::SparseBsr, Some(1), 2),
        "Keeps only the blocks that are not zero, with compressed rows.",
    )
    .operation("_to_sparse_bsr")
    .sparse(AsIs),
    method(
        "to_sparse_bsc(Tensor self, int[2] blocksize, int? dense_dim=None) -> Tensor",
        |c| converted(c, TensorLayout::SparseBsc, Some(1), 2),
        "Keeps only the blocks that are not zero, with compressed columns.",
    )
    .operation("_to_sparse_bsc")
    .sparse(AsIs),
    method(
        "sparse_mask(Tensor self, Tensor mask) -> Tensor",
        |c| match c.tensor(1)?.borrow().is_sparse() {
            _ if c.tensor(0)?.is(c.tensor(1)?) => Ok(c.itself()),
            true => ops::mask_like(&c.view(0)?, &c.view(1)?).map(Value::from),
            false => Err(Error::no_backend("sparse_mask", c.tensor(0)?.borrow().backend())),
        },
        "Selects the elements at the indices of a sparse tensor.",
    )
    .sparse(AsIs),
    method(
        "sparse_resize_(Tensor(a!) self, int[] size, int sparse_dim, int dense_dim) -> Tensor(a!)",
        sparse_resize,
        "Changes the sizes, which must not shrink where there are elements.",
    )
    .sparse(AsIs),
    method(
        "sparse_resize_and_clear_(Tensor(a!) self, int[] size, int sparse_dim, int dense_dim) -> Tensor(a!)",
        sparse_resize_and_clear,
        "Changes the sizes and drops all elements.",
    )
    .sparse(AsIs),
    function(
        "sparse.mm(Tensor self, Tensor mat2) -> Tensor",
        |c| multiply(&c.view(0)?, &c.view(1)?).map(Value::from),
        "Multiplies a sparse matrix by a sparse or dense one.",
    )
    .operation("_sparse_addmm")
    .sparse(AsIs),
    function(
        "sparse.mm.reduce(Tensor self, Tensor mat2, str reduce) -> Tensor",
        multiply_reduced,
        "Multiplies with another way of joining the terms of a row.",
    )
    .operation("_sparse_mm_reduce_impl")
    .sparse(AsIs),
    both(
        "smm(Tensor self, Tensor mat2) -> Tensor",
        product_as_sparse,
        "Multiplies by a dense matrix, with a sparse result.",
    )
    .operation("sspaddmm.out")
    .sparse(AsIs),
    both(
        "hspmm(Tensor mat1, Tensor mat2, *, Tensor? out=None) -> Tensor",
        hybrid_product,
        "Multiplies by a dense matrix, with a result whose first dimension is sparse.",
    )
    .sparse(AsIs),
    both(
        "sspaddmm(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1, Tensor? out=None) \
 -> Tensor",
        sparse_sum_and_product,
        "Puts the product of a sparse and a dense matrix beside a sparse matrix.",
    )
    .orders(&["beta self alpha mat1 mat2", "beta self mat1 mat2"])
    .operation("sspaddmm.out")
    .out_refused_as("sspaddmm.out")
    .sparse(AsIs),
    function(
        "sparse.addmm(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
        add_product,
        "Adds the product of a sparse and a dense matrix to a dense one.",
    )
    .operation("_sparse_addmm")
    .sparse(AsIs),
    function(
        "sparse.sum(Tensor input, int[1]? dim=None, ScalarType? dtype=None) -> Tensor",
        |c| {
            let dims = if c.is_none(1) { Default::default() } else { c.ints(1)? };
            let whole = ops::coalesce(&c.view(0)?)?;
            if dims.is_empty() {
                return sum(&whole, &dims, false, c.opt_dtype(2)).map(Value::from);
            }
            sum(&c.view(0)?, &dims, false, c.opt_dtype(2)).map(Value::from)
        },
        "Sums over some dimensions; the result is sparse as long as a sparse dimension is left.",
    )
    .sparse(AsIs),
    function(
        "_sparse_sum.dim(Tensor self, int[1] dim) -> Tensor",
        |c| sum(&c.view(0)?, &c.ints(1)?, false, None).map(Value::from),
        "Sums over some dimensions; the result is sparse as long as a sparse dimension is left.",
    )
    .sparse(AsIs),
    function(
        "sparse.softmax(Tensor input, int dim, *, ScalarType? dtype=None) -> Tensor",
        |c| softmax(Softmax::Plain, &c.view(0)?, c.int(1)?, c.opt_dtype(2)).map(Value::from),
        "Computes the shares of exponentials among the given elements.",
    )
    .sparse(AsIs),
    function(
        "sparse.log_softmax(Tensor input, int dim, *, ScalarType? dtype=None) -> Tensor",
        |c| softmax(Softmax::Log, &c.view(0)?, c.int(1)?, c.opt_dtype(2)).map(Value::from),
        "Computes the logarithms of the shares among the given elements.",
    )
    .sparse(AsIs),
    function(
        "sparse.spdiags(Tensor diagonals, Tensor offsets, int[] shape, Layout? layout=None) -> Tensor",
        |c| {
            let out = rearrange::from_diagonals(&c.view(0)?, &c.view(1)?, &c.ints(2)?)?;
            match c.value(3) {
                Value::Layout(layout) => ops::to_layout(&out, layout).map(Value::from),
                _ => Ok(out.into()),
            }
        },
        "Creates a sparse matrix with the given diagonals.",
    )
    .operation("_spdiags"),
];

/// Returns the values or indices of a constructor. A tensor with the requested dtype is shared, not copied.
fn data(call: &Call, index: usize, dtype: Option<DType>) -> Result<View> {
    match call.value(index) {
        Value::Tensor(tensor) => {
            let view = tensor.view();
            match dtype {
                Some(dtype) if dtype != view.dtype => copy::cast(&view, dtype),
                _ => Ok(view),
            }
        }
        data => from_data(&data, dtype, call.state.default_dtype.get()),
    }
}

fn flag(call: &Call, name: &str) -> bool {
    call.position(name).is_some_and(|i| matches!(call.value(i), Value::Bool(true)))
}

/// Returns a part on the device that the call asks for.
fn on_device(call: &Call, part: View) -> Result<View> {
    let device = call.device_keyword()?;
    let asked = call.position("device").is_some_and(|i| !call.is_none(i));
    match part.device().is_meta() {
        false if device.is_meta() => View::zeros(part.sizes(), part.dtype, device),
        true if asked && !device.is_meta() => {
            bail!(NotImplementedError, "Cannot copy out of meta tensor; no data!")
        }
        _ => Ok(part),
    }
}

fn new_coo(call: &mut Call, size: Option<usize>) -> Result<Value> {
    let indices = on_device(call, data(call, 0, Some(DType::Long))?)?;
    let values = on_device(call, data(call, 1, call.dtype_keyword())?)?;
    let size = size.map(|i| call.ints(i)).transpose()?;
    size.as_deref().map_or(Ok(()), check_numel)?;
    let coalesced = match call.position("is_coalesced").map(|i| call.value(i)) {
        Some(Value::Bool(coalesced)) => Some(coalesced),
        _ => None,
    };
    let check = flag(call, "check_invariants");
    ops::new_coo(&indices, &values, size.as_deref(), coalesced, check).map(Value::from)
}

fn new_compressed(call: &mut Call, layout: TensorLayout) -> Result<Value> {
    warn_of_compressed(call);
    let part = |index, dtype| on_device(call, data(call, index, dtype)?);
    let parts = [part(0, None)?, part(1, None)?, part(2, call.dtype_keyword())?];
    let size = call.position("size").map(|i| call.ints(i)).transpose()?;
    let [starts, plain, values] = &parts;
    compressed::new(layout, [starts, plain, values], size.as_deref(), flag(call, "check_invariants")).map(Value::from)
}

fn warn_of_compressed(call: &Call) {
    call.state.warn_once(
        "UserWarning",
        "Sparse CSR tensor support is in beta state. If you miss a functionality in the sparse tensor support, please \
         submit a feature request to https://github.com/pytorch/pytorch/issues. (Triggered internally at \
         /pytorch/aten/src/ATen/SparseCsrTensorImpl.cpp:53.)",
    );
}

fn nnz(view: &View) -> Result<i64> {
    match (view.coo(), view.compressed()) {
        (Some(parts), _) => Ok(parts.values.sizes().first().copied().unwrap_or(0)),
        (_, Some(parts)) => Ok(parts.nnz()),
        _ => Err(Error::no_backend("_nnz", view.backend())),
    }
}

fn coalesce(call: &mut Call) -> Result<Value> {
    let view = call.view(0)?;
    match ops::expect_coo(&view, "coalesce")?.coalesced {
        true => Ok(call.itself()),
        false => ops::coalesce(&view).map(Value::from),
    }
}

fn set_coalesced(call: &mut Call) -> Result<Value> {
    let view = call.view(0)?;
    let Some(parts) = view.coo() else { return Err(Error::no_backend("_coalesced_", view.backend())) };
    call.tensor(0)?.set_view(ops::coo(view.sizes(), parts.indices.clone(), parts.values.clone(), call.bool(1)?)?);
    Ok(call.itself())
}

/// `_indices()` and `_values()`, which only COO tensors have.
fn bare_part(call: &mut Call, name: &str) -> Result<Value> {
    let view = call.view(0)?;
    let Some(parts) = view.coo() else { return Err(Error::no_backend(name, view.backend())) };
    Ok(if name == "_indices" { parts.indices.clone() } else { parts.values.clone() }.into())
}

/// `indices()` and `values()`.
fn part(call: &mut Call, name: &str) -> Result<Value> {
    let view = call.view(0)?;
    match (name, view.compressed()) {
        ("values", Some(parts)) => return Ok(parts.values.clone().into()),
        ("values", None) if !view.is_sparse() => {
            bail!(RuntimeError, "values expected sparse tensor layout but got {}", view.tensor_layout().cpp_name())
        }
        _ => {}
    }
    let parts = ops::expect_coo(&view, name)?;
    if !parts.coalesced {
        bail!(RuntimeError, "Cannot get {name} on an uncoalesced tensor, please call .coalesce() first");
    }
    Ok(if name == "indices" { parts.indices.clone() } else { parts.values.clone() }.into())
}

/// Returns the row or column indices of a compressed tensor: the plain ones or the compressed ones.
/// The compressed dimension of a layout, for [`indices`].
const ROW: bool = true;
const COLUMN: bool = false;

fn indices(call: &mut Call, of_rows: bool, plain: usize) -> Result<Value> {
    let view = call.view(0)?;
    match view.compressed() {
        Some(parts) if parts.layout.by_rows() == of_rows => {
            Ok(if plain == 1 { parts.plain.clone() } else { parts.compressed.clone() }.into())
        }
        _ => bail!(
            RuntimeError,
            "{} expected sparse {} compressed tensor layout but got {}",
            call.signature.name,
            if of_rows { "row" } else { "column" },
            view.tensor_layout().cpp_name()
        ),
    }
}

fn to_dense(call: &mut Call) -> Result<Value> {
    let view = call.view(0)?;
    if !view.is_sparse() {
        return match call.opt_dtype(1) {
            Some(dtype) => copy::cast(&view, dtype).map(Value::from),
            None => Ok(call.itself()),
        };
    }
    if !call.is_none(1) {
        bail!(RuntimeError, "dtype argument is not supported by sparse_to_dense");
    }
    ops::to_dense(&view).map(Value::from)
}

fn to_coo(call: &mut Call) -> Result<Value> {
    let (view, dims) = (call.view(0)?, call.int(1)?);
    match view.tensor_layout() {
        TensorLayout::Strided => ops::from_dense(&view, dims).map(Value::from),
        layout if dims == ops::sparse_dim(&view) as i64 => match layout {
            TensorLayout::SparseCoo => Ok(call.itself()),
            _ => ops::to_layout(&view, TensorLayout::SparseCoo).map(Value::from),
        },
        TensorLayout::SparseCoo => bail!(
            RuntimeError,
            "to_sparse: conversion from Sparse to Sparse with sparse_dim argument !=self.sparse_dim() is not supported"
        ),
        layout => bail!(
            RuntimeError,
            "sparse_compressed_to_sparse: conversion from {} to Sparse with sparse_dim argument !=2 is not supported",
            layout.cpp_name()
        ),
    }
}

fn converted(call: &mut Call, layout: TensorLayout, block: Option<usize>, dense_dim: usize) -> Result<Value> {
    let view = call.view(0)?;
    let from = view.tensor_layout();
    let source = match from {
        TensorLayout::Strided => "dense",
        TensorLayout::SparseCoo if call.signature.name == "to_sparse" => "sparse_coo",
        TensorLayout::SparseCoo => "coo",
        _ => "sparse_compressed",
    };
    let name = format!("{source}_{}", call.signature.name);
    let block = match block {
        Some(i) if !call.is_none(i) => match call.ints(i)?.as_slice() {
            &[rows, columns] => Some((rows, columns)),
            other => bail!(RuntimeError, "{name}: blocksize needs to be a tuple of size 2, but got {}", other.len()),
        },
        _ => None,
    };
    if block.is_some() != layout.is_blocked() && (block.is_some() || from != layout) {
        bail!(
            RuntimeError,
            "{name}: conversion from {} to {} with{} blocksize argument given is not supported",
            from.cpp_name(),
            layout.cpp_name(),
            if block.is_some() { "" } else { "out" }
        );
    }
    let name = if from == layout { call.signature.name.to_owned() } else { name };
    if view.is_sparse() && call.args.get(dense_dim).is_some_and(|_| !call.is_none(dense_dim)) {
        let (from, to) = (from.cpp_name(), layout.cpp_name());
        bail!(RuntimeError, "{name}: conversion from {from} to {to} with dense_dim argument given is not supported");
    }
    if from == layout && block.is_none() {
        return Ok(call.itself());
    }
    if from == TensorLayout::SparseCoo && ops::sparse_dim(&view) != 2 {
        bail!(
            RuntimeError,
            "{name}: conversion from Sparse to {} for input tensors with sparse_dim()!=2 is not supported",
            layout.cpp_name()
        );
    }
    if layout.is_compressed() {
        warn_of_compressed(call);
    }
    let dense_dims = if dense_dim < call.args.len() { call.opt_int(dense_dim)? } else { None }.unwrap_or(0);
    let most = if layout.is_compressed() { view.ndim().saturating_sub(2) } else { view.ndim() };
    match usize::try_from(dense_dims) {
        Ok(dense_dims) if dense_dims <= most => {
            ops::converted(&view, layout, block, dense_dims, &name).map(Value::from)
        }
        _ => bail!(RuntimeError, "{name}: dense_dim argument must be in [0,{most}] range, but {dense_dims} is given"),
    }
}

fn sparse_resize(call: &mut Call) -> Result<Value> {
    resize(call, false)
}

fn sparse_resize_and_clear(call: &mut Call) -> Result<Value> {
    resize(call, true)
}

fn resize(call: &Call, clear: bool) -> Result<Value> {
    let (view, sizes) = (call.view(0)?, call.ints(1)?);
    let (sparse, dense) = (call.int(2)?, call.int(3)?);
    let parts = ops::expect_coo(&view, call.signature.name)?;
    if sparse.checked_add(dense) != Some(sizes.len() as i64) || sparse < 0 || dense < 0 {
        bail!(
            RuntimeError,
            "number of dimensions must be sparse_dim ({sparse}) + dense_dim ({dense}), but got {}",
            sizes.len()
        );
    }
    let empty = clear || nnz(&view)? == 0;
    if empty {
        call.tensor(0)?.set_view(ops::empty_coo(&sizes, dense as usize, view.dtype, view.device())?);
        return Ok(call.itself());
    }
    for (kind, old, new) in
        [("sparse", ops::sparse_dim(&view) as i64, sparse), ("dense", ops::dense_dim(&view) as i64, dense)]
    {
        if old != new {
            bail!(
                RuntimeError,
                "changing the number of {kind} dimensions (from {old} to {new}) on a non-empty sparse tensor is not \
                 supported."
            );
        }
    }
    let (before, after) = (&view.sizes()[..sparse as usize], &sizes[..sparse as usize]);
    if before.iter().zip(after).any(|(old, new)| new < old) {
        bail!(
            RuntimeError,
            "shrinking the size of sparse dimensions (from {before:?} to {after:?}) on a non-empty sparse tensor is not \
             supported."
        );
    }
    ops::new_coo(&parts.indices, &parts.values, Some(&sizes), Some(parts.coalesced), false)?;
    call.tensor(0)?.set_view(ops::coo(&sizes, parts.indices.clone(), parts.values.clone(), parts.coalesced)?);
    Ok(call.itself())
}
