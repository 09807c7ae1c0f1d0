//! Kernels for sparse tensors of functions that are written for dense ones. Their rows name these kernels. Follows
//! <https://pytorch.org/docs/2.7/sparse.html#supported-operations>.

use super::sparse_arithmetic::finished;
use autograd::Functions;
use call::dispatch::forms::{on_elements, total};
use call::{Call, as_tensor};
use tensor::bail;
use tensor::layout::wrap_dim;
use tensor::ops::sparse::{self as ops, compressed, product, rearrange};
use tensor::ops::{copy, pointwise, promote, view as views};
use tensor::{DType, Device, Dims, Error, Result, Scalar, Tensor, TensorLayout, View, interrupt};
use value::Value;

/// Refuses a tensor with compressed rows or columns.
pub(crate) fn no_layout(call: &mut Call) -> Result<Value> {
    bail!(RuntimeError, "unsupported tensor layout: {}", call.tensor(0)?.borrow().tensor_layout().cpp_name())
}

/// Refuses `linalg.vector_norm` of a compressed tensor: PyTorch asks for a result in the same layout first.
pub(crate) fn no_vector_norm(call: &mut Call) -> Result<Value> {
    let (view, keepdim) = (call.view(0)?, call.bool(3)?);
    let mut gone = vec![call.is_none(2); view.ndim()];
    if !call.is_none(2) {
        for dim in call.ints(2)? {
            gone[wrap_dim(dim, view.ndim())?] = true;
        }
    }
    let left = |(&size, gone): (&i64, bool)| if gone { keepdim.then_some(1) } else { Some(size) };
    let sizes: Dims = view.sizes().iter().zip(gone).filter_map(left).collect();
    compressed::empty(&sizes, view.tensor_layout(), view.dtype, view.device())?;
    Err(Error::no_backend("linalg_vector_norm.out", view.backend()))
}

/// `type_as` and `to(other)`, which only convert between dtypes. `type_as` also asks for the same layout.
pub(crate) fn to_other(call: &mut Call) -> Result<Value> {
    let (view, other) = (call.view(0)?, call.view(1)?);
    if call.signature.name == "type_as" && view.tensor_layout() != other.tensor_layout() {
        bail!(
            RuntimeError,
            "to(options) doesn't support converting to a different layout, but got self.layout being {} and \
             options.layout set as {}",
            view.tensor_layout().cpp_name(),
            other.tensor_layout().cpp_name()
        );
    }
    let Some(dense) = call.state.registry.overload(call.signature.key) else { bail!(RuntimeError, "no such overload") };
    if view.is_sparse() { on_elements(dense.row.run, call, false) } else { (dense.row.run)(call) }
}

pub(crate) fn contiguous(_: &mut Call) -> Result<Value> {
    bail!(RuntimeError, "unsupported memory format option Contiguous")
}

pub(crate) fn sum_dims(call: &mut Call) -> Result<Value> {
    let dims = if call.is_none(1) { Default::default() } else { call.ints(1)? };
    sum(&call.view(0)?, &dims, call.bool(2)?, call.dtype_keyword()).map(Value::from)
}

pub(crate) fn data_ptr(_: &mut Call) -> Result<Value> {
    bail!(RuntimeError, "Cannot access data pointer of Tensor that doesn't have storage")
}

pub(crate) fn is_nonzero(call: &mut Call) -> Result<Value> {
    let some = match call.tensor(0)?.borrow().numel() {
        0 => "no values",
        1 => return Ok(Value::Bool(ops::item(&call.view(0)?)?.truth())),
        _ => "more than one value",
    };
    bail!(RuntimeError, "Boolean value of Tensor with {some} is ambiguous")
}

pub(crate) fn norm(call: &mut Call) -> Result<Value> {
    if call.tensor(0)?.borrow().compressed().is_some() {
        return Err(Error::no_backend("norm.out", call.tensor(0)?.borrow().backend()));
    }
    let dims = if call.is_none(2) { 0 } else { call.ints(2)?.len() };
    if dims > 0 && dims < call.tensor(0)?.borrow().ndim() {
        bail!(
            RuntimeError,
            "norm_sparse currently only supports full reductions, so 'dim' must either be empty or contain all dimensions \
             of the input"
        );
    }
    if call.bool(3)? {
        bail!(RuntimeError, "norm_sparse currently does not support keepdim=True");
    }
    if !call.is_none(4) {
        if matches!(call.value(1), Value::Str(p) if &*p == "fro") {
            bail!(ValueError, "dtype argument is not supported in frobenius norm");
        }
        bail!(RuntimeError, "norm_sparse currently does not support 'dtype' argument");
    }
    let dtype = call.tensor(0)?.borrow().dtype;
    if dtype.is_integral(true) {
        bail!(
            RuntimeError,
            "norm(): input dtype should be either floating point or complex. Got {} instead.",
            dtype.scalar_type()
        );
    }
    call.args[2] = Value::None;
    total(super::reduce::norm, call)
}

pub(crate) fn item(call: &mut Call) -> Result<Value> {
    ops::item(&call.view(0)?).map(Value::from)
}

pub(crate) fn nbytes(_: &mut Call) -> Result<Value> {
    bail!(
        RuntimeError,
        "nbytes is not defined for sparse tensors.  If you want the size of the constituent tensors, add the \
         nbytes of the indices and values.  If you want the size of the  equivalent dense tensor, multiply \
         numel() by element_size()"
    )
}

pub(crate) fn sum_all(call: &mut Call) -> Result<Value> {
    let view = call.view(0)?;
    tensor::ops::reduce::sum(ops::elements(&view), None, false, call.dtype_keyword()).map(Value::from)
}

pub(crate) fn transpose(call: &mut Call) -> Result<Value> {
    let (dim0, dim1) = (call.int(1)?, call.int(2)?);
    transposed(call, dim0, dim1)
}

pub(crate) fn t(call: &mut Call) -> Result<Value> {
    let last = if call.tensor(0)?.borrow().ndim() < 2 { 0 } else { 1 };
    transposed(call, 0, last)
}

/// The sparse kernel of `transpose_` and its aliases.
pub(crate) fn transpose_in_place(call: &mut Call) -> Result<Value> {
    let (dim0, dim1) = (call.int(1)?, call.int(2)?);
    transposed_in_place(call, dim0, dim1)
}

pub(crate) fn t_in_place(call: &mut Call) -> Result<Value> {
    let last = if call.tensor(0)?.borrow().ndim() < 2 { 0 } else { 1 };
    transposed_in_place(call, 0, last)
}

fn transposed_in_place(call: &mut Call, dim0: i64, dim1: i64) -> Result<Value> {
    let layout = call.tensor(0)?.borrow().tensor_layout();
    if layout.is_compressed() {
        bail!(
            RuntimeError,
            "torch.transpose_: in-place transposition is not supported for {} layout",
            layout.cpp_name()
        );
    }
    if let Value::Tensor(turned) = transposed(call, dim0, dim1)? {
        let view = turned.view();
        let parts = ops::expect_coo(&view, "transpose_")?;
        let coalesced = parts.values.sizes().first() == Some(&0);
        call.tensor(0)?.set_view(ops::coo(view.sizes(), parts.indices.clone(), parts.values.clone(), coalesced)?);
    }
    Ok(call.itself())
}

pub(crate) fn expand(_: &mut Call) -> Result<Value> {
    bail!(RuntimeError, "expand is unsupported for Sparse tensors")
}

pub(crate) fn cat(call: &mut Call) -> Result<Value> {
    rearrange::cat(&call.views(0)?, call.int(1)?).map(Value::from)
}

pub(crate) fn mm(call: &mut Call) -> Result<Value> {
    multiply(&call.view(0)?, &call.view(1)?).map(Value::from)
}

pub(crate) fn reshape(_: &mut Call) -> Result<Value> {
    bail!(RuntimeError, "reshape is not implemented for sparse tensors")
}

pub(crate) fn reversed(call: &mut Call) -> Result<Value> {
    let view = call.view(0)?;
    let dims: Vec<i64> = (0..view.ndim() as i64).rev().collect();
    if view.compressed().is_some() {
        return Err(Error::no_backend("as_strided", view.backend()));
    }
    rearrange::permute(&view, &dims).map(Value::from)
}

pub(crate) fn permute(call: &mut Call) -> Result<Value> {
    if call.tensor(0)?.borrow().compressed().is_some() {
        return Err(Error::no_backend("as_strided", call.tensor(0)?.borrow().backend()));
    }
    rearrange::permute(&call.view(0)?, &call.ints(1)?).map(Value::from)
}

pub(crate) fn unsqueeze(call: &mut Call) -> Result<Value> {
    rearrange::unsqueeze(&call.view(0)?, call.int(1)?).map(Value::from)
}

pub(crate) fn index_select(call: &mut Call) -> Result<Value> {
    rearrange::index_select(&call.view(0)?, call.int(1)?, &call.view(2)?).map(Value::from)
}

pub(crate) fn narrow_copy(call: &mut Call) -> Result<Value> {
    rearrange::narrow(&call.view(0)?, call.int(1)?, call.int(2)?, call.int(3)?).map(Value::from)
}

pub(crate) fn stack(call: &mut Call) -> Result<Value> {
    rearrange::stack(&call.views(0)?, call.int(1)?).map(Value::from)
}

/// `new_zeros` and the functions beside it, for a sparse tensor.
pub(crate) fn new_filled(call: &mut Call) -> Result<Value> {
    let view = call.view(0)?;
    let dtype = call.dtype_keyword().unwrap_or(view.dtype);
    let strided = |i| matches!(call.value(i), Value::Layout(TensorLayout::Strided));
    if call.position("layout").is_some_and(strided) {
        let Some(dense) = call.state.registry.overload(call.signature.key) else {
            bail!(RuntimeError, "no such overload")
        };
        return (dense.row.run)(call);
    }
    let device = super::create::device_like(call, &view)?;
    let empty = match view.compressed() {
        Some(parts) => compressed::empty(&call.ints(1)?, parts.layout, dtype, device)?,
        None => ops::empty_coo(&call.ints(1)?, 0, dtype, device)?,
    };
    if matches!(call.signature.name, "new_ones" | "new_full") {
        return Err(Error::no_backend("fill_.Scalar", view.backend()));
    }
    Ok(empty.into())
}

/// Multiplies two matrices, at least one of them sparse. The product is sparse if both are.
pub(crate) fn multiply(a: &View, b: &View) -> Result<View> {
    check_layouts(a, b, None)?;
    multiplied(a, b)
}

fn multiplied(a: &View, b: &View) -> Result<View> {
    match (a.is_sparse(), b.is_sparse()) {
        (true, true) => {
            let product = product::sparse_sparse(a, b)?;
            let compressed = a.tensor_layout().is_compressed() && b.tensor_layout().is_compressed();
            if compressed { compressed::from_coo(&product, TensorLayout::SparseCsr) } else { Ok(product) }
        }
        (true, false) => product::sparse_dense(a, b),
        (false, true) => product::dense_sparse(a, b),
        (false, false) => tensor::ops::matmul::mm(a, b),
    }
}

/// Fails with RuntimeError for layouts that PyTorch does not multiply. `added` is the matrix that the product is added to.
fn check_layouts(a: &View, b: &View, added: Option<&View>) -> Result<()> {
    use TensorLayout::{SparseBsc, SparseBsr, SparseCoo, SparseCsc, SparseCsr, Strided};
    let (left, right) = (a.tensor_layout(), b.tensor_layout());
    let supported = match (left, right) {
        (Strided, SparseCoo) | (SparseCoo, SparseCoo) => added.is_none(),
        (Strided | SparseCoo | SparseCsr | SparseCsc | SparseBsr, Strided) => true,
        (Strided, SparseCsr | SparseCsc | SparseBsc) => true,
        (SparseCsr, SparseCsr | SparseCsc) | (SparseCsc, SparseCsc) => true,
        (SparseCsc, SparseCsr) => added.is_none(),
        _ => false,
    };
    let (left, right) = (left.cpp_name(), right.cpp_name());
    match added {
        _ if supported => Ok(()),
        Some(_) if a.compressed().is_none() && b.compressed().is_none() => bail!(
            RuntimeError,
            "addmm_sparse_dense: expected either 'mat1' to have sparse layout and 'mat2' to have strided layout, got \
             'mat1' with layout {left} and 'mat2' with layout {right}"
        ),
        None if a.tensor_layout().is_blocked() && b.is_sparse() => bail!(
            RuntimeError,
            "zeros_sparse_compressed expected sparse compressed (non-block) tensor layout but got {left}"
        ),
        _ => bail!(
            RuntimeError,
            "addmm: computation on CPU is not implemented for {} + {left} @ {right}",
            if added.is_none() && b.is_sparse() { left } else { "Strided" }
        ),
    }
}

pub(crate) fn multiply_reduced(call: &mut Call) -> Result<Value> {
    let (a, b) = (call.view(0)?, call.view(1)?);
    product::reduced(&a, &b, call.str(2)?).map(Value::from)
}

/// Fails with RuntimeError unless the view is sparse.
fn only_sparse(view: &View) -> Result<()> {
    if !view.is_sparse() {
        bail!(RuntimeError, "tensor.sspaddmm(...) can only be called on sparse tensors");
    }
    Ok(())
}

/// Fails with RuntimeError for a compressed view: PyTorch asks for a vector in its layout, which does not exist.
fn only_coo(view: &View) -> Result<()> {
    if view.compressed().is_some() {
        compressed::empty(&[0], view.tensor_layout(), view.dtype, view.device())?;
    }
    Ok(())
}

/// Fails with RuntimeError for a dtype that `sspaddmm` does not compute.
fn summed_apart(view: &View) -> Result<()> {
    ops::supported("sspmm", view.dtype, !view.dtype.is_reduced_floating_point() && view.dtype != DType::Bool)
}

pub(crate) fn product_as_sparse(call: &mut Call) -> Result<Value> {
    only_sparse(&call.view(0)?)?;
    only_coo(&call.view(0)?)?;
    summed_apart(&call.view(0)?)?;
    let product = product::sparse_dense(&call.view(0)?, &call.view(1)?)?;
    product::rows_of(&call.view(0)?, &product).map(Value::from)
}

pub(crate) fn hybrid_product(call: &mut Call) -> Result<Value> {
    let (a, b) = (call.view(0)?, call.view(1)?);
    if let Some(refused) = [&a, &b].into_iter().find(|view| view.compressed().is_some()) {
        return Err(Error::no_backend("hspmm", refused.backend()));
    }
    if !a.is_sparse() && !b.is_sparse() {
        return Err(Error::no_backend("hspmm", a.backend()));
    }
    let product = product::sparse_dense(&a, &b)?;
    product::hybrid_rows_of(&a, &product).map(Value::from)
}

pub(crate) fn sparse_sum_and_product(call: &mut Call) -> Result<Value> {
    let (input, a, b) = (call.view(0)?, call.view(1)?, call.view(2)?);
    if !a.is_sparse() && !b.is_sparse() {
        only_sparse(&input)?;
    }
    only_coo(&input)?;
    summed_apart(&input)?;
    let product = product::rows_of(&a, &product::sparse_dense(&a, &b)?)?;
    let factor = |view: &View, factor: Scalar| -> Result<View> {
        let parts = ops::expect_coo(view, "sspaddmm")?;
        ops::with_values(view, times(&parts.values, promote::Operand::Number(factor))?)
    };
    rearrange::beside(&factor(&input, call.scalar(3)?)?, &factor(&product, call.scalar(4)?)?).map(Value::from)
}

pub(crate) fn matrix_vector(call: &mut Call) -> Result<Value> {
    let (a, v) = (call.view(0)?, call.view(1)?);
    if !a.is_sparse() {
        // PyTorch adds up the columns of the matrix that the elements of the vector stand for.
        call.args[1] = ops::to_dense(&v)?.into();
        let product = call.state.call("mv", &[call.value(0), call.value(1)]);
        call.args[1] = v.into();
        return product;
    }
    if a.compressed().is_some() {
        if a.tensor_layout() == TensorLayout::SparseBsc {
            bail!(RuntimeError, "torch.addmv: operation not supported for mat with SparseBsc layout");
        }
        if a.ndim() != 2 || v.ndim() != 1 {
            bail!(RuntimeError, "vector + matrix @ vector expected, got 1, {}, {}", a.ndim(), v.ndim());
        }
        if a.sizes()[1] != v.sizes()[0] {
            let ([rows, columns], length) = ([a.sizes()[0], a.sizes()[1]], v.sizes()[0]);
            bail!(RuntimeError, "size mismatch, got input ({rows}), mat ({rows}x{columns}), vec ({length})");
        }
    } else if a.ndim() != 2 || v.ndim() != 1 {
        bail!(
            RuntimeError,
            "mv: two tensor dim should be 2 and 1, but got SparseTensor Dim: {}Tensor Dim: {}",
            a.ndim(),
            v.ndim()
        );
    }
    if v.is_sparse() {
        return Err(Error::no_backend("as_strided", v.backend()));
    }
    if a.sizes()[1] != v.sizes()[0] {
        bail!(RuntimeError, "mv: expected self.size(-1) == vec.size(-1)");
    }
    if a.compressed().is_some() {
        ops::supported("addmv_out_sparse_csr_impl_mkl", a.dtype, ops::in_library(a.dtype))?;
    }
    let product = multiply(&a, &views::unsqueeze(&v, 1)?)?;
    views::squeeze(&product, Some(&[1])).map(Value::from)
}

/// Computes `beta * x + alpha * (a @ b)` as a dense tensor.
pub(crate) fn add_product(call: &mut Call) -> Result<Value> {
    let input = call.view(0)?;
    if input.is_sparse() {
        bail!(
            RuntimeError,
            "addmm_sparse_dense: expected strided result tensor, got tensor with layout {}",
            input.tensor_layout().cpp_name()
        );
    }
    check_layouts(&call.view(1)?, &call.view(2)?, Some(&input))?;
    let scaled = |view: &View, factor: Scalar| times(view, promote::Operand::Number(factor));
    let (a, b) = (call.view(1)?, call.view(2)?);
    if let (Some(parts), false) = (a.coo(), b.is_sparse()) {
        // PyTorch adds the products one by one to the scaled matrix.
        let sums = product::sized_like_product(&scaled(&input, call.scalar(3)?)?, &a, &b)?;
        let factors = ops::with_values(&a, scaled(&parts.values, call.scalar(4)?)?)?;
        product::add_sparse_dense(&sums, &factors, &b)?;
        return finished(call, sums);
    }
    let product = multiplied(&a, &b)?;
    let product = if product.is_sparse() { ops::to_dense(&product)? } else { product };
    let (input, product) = (scaled(&input, call.scalar(3)?)?, scaled(&product, call.scalar(4)?)?);
    finished(call, plus(&input, &product)?)
}

/// Computes `beta * x + alpha * (a @ v)` of a compressed matrix and a vector.
pub(crate) fn add_vector_product(call: &mut Call) -> Result<Value> {
    if call.tensor(0)?.borrow().ndim() != 1 {
        let [input, a, v] = [0, 1, 2].map(|i| call.tensor(i).map(|tensor| tensor.borrow().ndim()));
        bail!(RuntimeError, "vector + matrix @ vector expected, got {}, {}, {}", input?, a?, v?);
    }
    let product = call.state.call("mv", &[call.value(1), call.value(2)])?;
    let product = Tensor::view(as_tensor(&product).ok_or_else(|| Error::runtime("mv returns a tensor"))?);
    let scaled = |view: &View, factor: Scalar| times(view, promote::Operand::Number(factor));
    plus(&scaled(&call.view(0)?, call.scalar(3)?)?, &scaled(&product, call.scalar(4)?)?).map(Value::from)
}

/// Multiplies a batch of sparse matrices by a batch of dense ones.
pub(crate) fn multiply_batches(call: &mut Call) -> Result<Value> {
    product::batches(&call.view(0)?, &call.view(1)?).map(Value::from)
}

pub(super) fn times(a: &View, b: promote::Operand) -> Result<View> {
    pointwise::binary(pointwise::BinaryOp::Mul, a.into(), b, pointwise::Output::New, DType::Float)
}

pub(super) fn plus(a: &View, b: &View) -> Result<View> {
    pointwise::binary(pointwise::BinaryOp::Add, a.into(), b.into(), pointwise::Output::New, DType::Float)
}

/// Sums a sparse tensor over dimensions.
pub(crate) fn sum(view: &View, dims: &[i64], keepdim: bool, dtype: Option<DType>) -> Result<View> {
    if view.compressed().is_none() {
        return rearrange::sum(view, dims, keepdim, dtype);
    }
    if !dims.is_empty() && !keepdim {
        bail!(RuntimeError, "reduction operations on CSR tensors with keepdim=False is unsupported");
    }
    if !dims.is_empty() && view.tensor_layout() != TensorLayout::SparseCsr {
        bail!(
            RuntimeError,
            "Currently the only compressed sparse format supported for sum.dim_IntList is CSR, but got layout {}",
            view.tensor_layout().cpp_name()
        );
    }
    let out = rearrange::sum(&compressed::to_coo(view)?, dims, keepdim, dtype)?;
    if out.is_sparse() { compressed::from_coo(&out, view.tensor_layout()) } else { Ok(out) }
}

fn transposed(call: &mut Call, dim0: i64, dim1: i64) -> Result<Value> {
    let view = call.view(0)?;
    if view.compressed().is_some() {
        let (d0, d1) = (wrap_dim(dim0, view.ndim())?, wrap_dim(dim1, view.ndim())?);
        return compressed::transpose(&view, d0, d1).map(Value::from);
    }
    let (sparse, dense) = (ops::sparse_dim(&view), ops::dense_dim(&view));
    let name = call.signature.name;
    if matches!(name, "t" | "t_") && (sparse > 2 || dense > 0) {
        bail!(
            RuntimeError,
            "{name}() expects a tensor with <= 2 sparse and 0 dense dimensions, but got {sparse} sparse and {dense} dense \
             dimensions"
        );
    }
    rearrange::transpose(&view, dim0, dim1).map(Value::from)
}

pub(crate) fn select(call: &mut Call) -> Result<Value> {
    let (view, dim, at) = (call.view(0)?, call.int(1)?, call.int(2)?);
    let d = wrap_dim(dim, view.ndim())?;
    let size = view.sizes().get(d).copied().unwrap_or(0);
    if at < -size || at >= size {
        bail!(IndexError, "select(): index {at} out of range for tensor of size {:?} at dimension {dim}", view.sizes());
    }
    ops::select(&view, d, if at < 0 { at + size } else { at }).map(Value::from)
}

pub(crate) fn unbind(call: &mut Call) -> Result<Value> {
    let (view, dim) = (call.view(0)?, call.int(1)?);
    let d = wrap_dim(dim, view.ndim())?;
    let size = view.sizes().get(d).copied().unwrap_or(0);
    tensor::ops::split::room_for(size)?;
    let item = |at: i64| {
        interrupt::check()?;
        ops::select(&view, d, at).map(Value::from)
    };
    let items: Result<Vec<Value>> = (0..size).map(item).collect();
    Ok(Value::tuple(items?))
}

fn without_elements(view: &View, dtype: DType, device: Device) -> Result<View> {
    match view.compressed() {
        Some(_) => compressed::cleared(view, dtype, device),
        None => ops::empty_coo(view.sizes(), ops::dense_dim(view), dtype, device),
    }
}

pub(crate) fn zero(call: &mut Call) -> Result<Value> {
    let view = call.view(0)?;
    call.tensor(0)?.set_view(without_elements(&view, view.dtype, view.device())?);
    Ok(call.itself())
}

/// The functions that create a tensor like a sparse one. If another layout is named, the tensor has that one.
pub(crate) fn like(call: &mut Call) -> Result<Value> {
    let view = call.view(0)?;
    let dtype = call.dtype_keyword().unwrap_or(view.dtype);
    let wanted = match call.position("layout").map(|i| call.value(i)) {
        Some(Value::Layout(layout)) => layout,
        _ => view.tensor_layout(),
    };
    let name = call.signature.name;
    let device = super::create::device_like(call, &view)?;
    if wanted == TensorLayout::Strided && view.coo().is_some() {
        let Some(dense) = call.state.registry.overload(call.signature.key) else {
            bail!(RuntimeError, "no such overload")
        };
        let sparse = std::mem::replace(&mut call.args[0], View::zeros(view.sizes(), view.dtype, view.device())?.into());
        let made = (dense.row.run)(call);
        call.args[0] = sparse;
        return made;
    }
    if wanted == TensorLayout::Strided {
        bail!(
            RuntimeError,
            "empty_like with different sparse layout is not supported (self is {} but you requested Strided)",
            view.tensor_layout().cpp_name()
        );
    }
    if view.coo().is_some() && call.position("memory_format").is_some_and(|i| !call.is_none(i)) {
        bail!(RuntimeError, "memory format option is only supported by strided tensors");
    }
    if wanted == view.tensor_layout() && view.compressed().is_some() && matches!(name, "ones_like" | "full_like") {
        let value = if name == "ones_like" { Scalar::Int(1) } else { call.scalar(1)? };
        let elements = View::zeros(ops::elements(&view).sizes(), dtype, view.device())?;
        copy::fill(&elements, value)?;
        return ops::with_values(&view, elements).map(Value::from);
    }
    let fills = match name {
        "zeros_like" | "empty_like" => return without_elements_as(&view, wanted, dtype, device).map(Value::from),
        "rand_like" => "uniform_",
        "randn_like" => "normal_",
        "randint_like" => "random_.from",
        _ => "fill_.Scalar",
    };
    Err(Error::no_backend(fills, view.backend()))
}

/// Creates a tensor without elements in a sparse layout.
///
/// # Errors
/// RuntimeError if a compressed layout is wanted and there are too few dimensions.
pub(crate) fn without_elements_as(view: &View, layout: TensorLayout, dtype: DType, device: Device) -> Result<View> {
    match layout {
        _ if layout == view.tensor_layout() => without_elements(view, dtype, device),
        TensorLayout::SparseCoo => ops::empty_coo(view.sizes(), 0, dtype, device),
        _ if view.ndim() < 2 => bail!(
            RuntimeError,
            "sparse_compressed_tensor_with_dims: dimensionality must be at least dense_dim(=0) + sparse_dim(=2), but got \
             {}",
            view.ndim()
        ),
        _ => compressed::empty(view.sizes(), layout, dtype, device),
    }
}

pub(crate) fn copy_between(call: &mut Call) -> Result<Value> {
    let (target, source) = (call.view(0)?, call.view(1)?);
    if target.tensor_layout() != source.tensor_layout() {
        bail!(
            RuntimeError,
            "copy_() between dense and sparse Tensors is not implemented! Found self type = {} and src type = \
 {}",
            legacy_name(&target),
            legacy_name(&source)
        );
    }
    if target.sizes() != source.sizes() {
        bail!(RuntimeError, "copy_() of a sparse tensor needs the same size, got {:?}", source.sizes());
    }
    call.tensor(0)?
        .set_view(ops::with_values(&source, copy::clone(&copy::cast(ops::elements(&source), target.dtype)?)?)?);
    Ok(call.itself())
}

fn legacy_name(view: &View) -> String {
    let module = if view.coo().is_some() { "sparse." } else { "" };
    format!("torch.{module}{}", view.type_name())
}

pub(crate) fn strides(call: &mut Call) -> Result<Value> {
    let view = call.view(0)?;
    let name = call.signature.name;
    if view.compressed().is_some() {
        let what = if name == "stride" { "strides" } else { name };
        bail!(RuntimeError, "Sparse CSR tensors do not have {what}");
    }
    match name {
        "stride" if call.signature.key == "stride" || call.is_none(1) => Ok(Value::ints(view.strides())),
        "stride" => Ok(Value::Int(view.strides().get(wrap_dim(call.int(1)?, view.ndim())?).copied().unwrap_or(0))),
        _ => Ok(Value::Bool(false)),
    }
}

pub(crate) fn no_storage(call: &mut Call) -> Result<Value> {
    let class = if call.tensor(0)?.borrow().coo().is_some() { "SparseTensorImpl" } else { "SparseCsrTensorImpl" };
    bail!(NotImplementedError, "Cannot access storage of {class}")
}

pub(crate) fn type_name(call: &mut Call) -> Result<Value> {
    let view = call.view(0)?;
    match (view.coo(), call.is_none(1)) {
        (Some(_), true) => Ok(Value::str(legacy_name(&view))),
        (None, true) => bail!(RuntimeError, "Unimplemented backend {}", view.backend()),
        _ => {
            let Some(dense) = call.state.registry.overload("type") else { bail!(RuntimeError, "no such overload") };
            on_elements(dense.row.run, call, false)
        }
    }
}
