//! Sums, products and quotients with sparse tensors. The rows of these functions name the kernels here.

use super::sparse_kernels::{plus, times};
use call::Call;
use call::dispatch::forms::on_elements;
use tensor::ops::sparse::{self as ops, compressed, rearrange};
use tensor::ops::{copy, pointwise, promote};
use tensor::{Compressed, DType, Error, Result, Scalar, TensorLayout, View, bail, can_cast};
use value::Value;

/// An operand of arithmetic: a tensor or a number.
enum Part {
    Tensor(View),
    Number(Scalar),
}

impl Part {
    fn of(call: &Call, index: usize) -> Result<Part> {
        match call.value(index) {
            Value::Tensor(tensor) => Ok(Part::Tensor(tensor.view())),
            _ => call.scalar(index).map(Part::Number),
        }
    }
}

/// Stores the result of an in-place function in its first operand, which must have the result's layout.
///
/// # Errors
/// RuntimeError if the result's dtype cannot be cast to the operand's.
pub(super) fn finished(call: &Call, result: View) -> Result<Value> {
    let target = match call.args.first() {
        Some(Value::Tensor(target)) if call.signature.in_place => target.clone(),
        _ => return Ok(result.into()),
    };
    let (wanted, made) = (target.borrow().dtype, result.dtype);
    if !can_cast(made, wanted) {
        let (made, wanted) = (made.scalar_type(), wanted.scalar_type());
        if call.signature.name == "mul_" && target.borrow().coo().is_some() {
            bail!(RuntimeError, "dtype of values ({made}) must match dtype of sparse tensor ({wanted})");
        }
        bail!(RuntimeError, "Can't convert result type {made} to output {wanted} in add operation");
    }
    if target.borrow().is_sparse() {
        let elements = copy::cast(ops::elements(&result), wanted)?;
        target.set_view(ops::with_values(&result, elements)?);
    } else {
        copy::copy_into(&target.view(), &result)?;
    }
    Ok(Value::Tensor(target))
}

type Scaled = fn(promote::Operand, promote::Operand, Scalar, pointwise::Output, DType) -> Result<View>;

pub(crate) fn add(call: &mut Call) -> Result<Value> {
    let alpha = call.position("alpha").map_or(Ok(Scalar::Int(1)), |i| call.scalar(i))?;
    let sum = added(call, alpha, alpha, pointwise::add)?;
    finished(call, sum)
}

pub(crate) fn sub(call: &mut Call) -> Result<Value> {
    let alpha = call.position("alpha").map_or(Ok(Scalar::Int(1)), |i| call.scalar(i))?;
    if let (Part::Tensor(a), Part::Tensor(b)) = (Part::of(call, 0)?, Part::of(call, 1)?)
        && (a.compressed().is_some() || b.compressed().is_some())
    {
        let layout = if a.is_sparse() { a.tensor_layout() } else { b.tensor_layout() };
        bail!(RuntimeError, "unsupported tensor layout: {}", layout.cpp_name());
    }
    if call.tensor(0)?.borrow().compressed().is_some() {
        return super::sparse_kernels::no_layout(call);
    }
    let difference = added(call, alpha, pointwise::negated(alpha), pointwise::sub)?;
    finished(call, difference)
}

/// Computes `a + alpha * b`. The function for dense tensors, called without elements, checks dtypes and `given`.
fn added(call: &Call, given: Scalar, alpha: Scalar, dense: Scaled) -> Result<View> {
    let (a, b) = match (Part::of(call, 0)?, Part::of(call, 1)?) {
        (Part::Number(number), Part::Tensor(b)) => (View::scalar(number, number_dtype(call, number)?)?, b),
        (Part::Tensor(a), Part::Tensor(b)) if a.coo().is_none() || b.is_sparse() => (a, b),
        _ => bail!(RuntimeError, "add(sparse, dense) is not supported. Use add(dense, sparse) instead."),
    };
    if a.is_sparse() && a.coo().is_some() && b.sizes() != a.sizes() {
        return rearrange::add(&a, &b, alpha);
    }
    let none = |view: &View| View::zeros(&[0], view.dtype, view.device());
    let (left, right) = (none(&a)?, none(&b)?);
    dense((&left).into(), (&right).into(), given, pointwise::Output::New, DType::Float)?;
    if let [Some(sparse), None] | [None, Some(sparse)] = [a.compressed(), b.compressed()]
        && !(a.is_sparse() && b.is_sparse())
        && sparse.layout.is_blocked()
    {
        bail!(
            RuntimeError,
            "src.layout() == kSparseCsr || src.layout() == kSparseCsc INTERNAL ASSERT FAILED at \
             \"/pytorch/aten/src/ATen/native/sparse/SparseCsrTensorMath.cpp\":817, please report a bug to PyTorch. "
        );
    }
    match (a.compressed().is_some(), b.is_sparse()) {
        (true, false) => {
            rearrange::check_same_size(&b, &a)?;
            plus(&ops::to_dense(&a)?, &times(&b, promote::Operand::Number(alpha))?)
        }
        (true, true) => {
            let same = call.tensor(0)?.is(call.tensor(1)?);
            if same {
                let elements = ops::elements(&a);
                return ops::with_values(&a, plus(elements, &times(elements, promote::Operand::Number(alpha))?)?);
            }
            check_rows(&a, &b)?;
            ops::supported("add_out_sparse_csr_impl_mkl", a.dtype, ops::in_library(a.dtype))?;
            compressed::from_blocks(&rearrange::add(&compressed::blocks(&a)?, &compressed::blocks(&b)?, alpha)?, &a)
        }
        (false, _) if !a.is_sparse() => rearrange::add_to_dense(&a, &b, alpha),
        _ if b.coo().is_some() => rearrange::add(&a, &b, alpha),
        _ => bail!(RuntimeError, "memory format option is only supported by strided tensors"),
    }
}

/// Fails with RuntimeError for compressed matrices that PyTorch's library does not add.
fn check_rows(a: &View, b: &View) -> Result<()> {
    if b.compressed().is_none() {
        bail!(
            RuntimeError,
            "at::sparse_csr::is_sparse_compressed(other) INTERNAL ASSERT FAILED at \
             \"/pytorch/aten/src/ATen/SparseCsrTensorUtils.h\":371, please report a bug to PyTorch. "
        );
    }
    if let Some(columns) = [b, a].into_iter().find(|view| !view.tensor_layout().by_rows()) {
        bail!(
            RuntimeError,
            "crow_indices expected sparse row compressed tensor layout but got {}",
            columns.tensor_layout().cpp_name()
        );
    }
    if [a, b].into_iter().filter_map(View::compressed).any(|parts| parts.block().0 != parts.block().1) {
        bail!(RuntimeError, "MKL Sparse doesn't support matrices with non-square blocks.");
    }
    if a.tensor_layout() != b.tensor_layout()
        || a.compressed().map(Compressed::block) != b.compressed().map(Compressed::block)
    {
        bail!(
            RuntimeError,
            "MKL error: SPARSE_STATUS_NOT_SUPPORTED when calling `mkl_sparse_s_add(operation, A, alpha, B, C)`"
        );
    }
    Ok(())
}

fn number_dtype(call: &Call, number: Scalar) -> Result<DType> {
    promote::number_dtype(number, call.state.default_dtype.get())
}

fn by_coordinates(view: &View) -> Result<View> {
    ops::coalesce(&ops::to_layout(view, TensorLayout::SparseCoo)?)
}

pub(crate) fn mul(call: &mut Call) -> Result<Value> {
    let product = multiplied(call)?;
    let target = call.args.first().filter(|_| call.signature.in_place);
    if let Some(Value::Tensor(target)) = target
        && !target.borrow().is_sparse()
    {
        // PyTorch clears the dense tensor and adds the sparse product to it.
        if product.compressed().is_some() {
            bail!(RuntimeError, "Expected result Tensor to be of format CSR");
        }
        let zeros = View::zeros(target.borrow().sizes(), target.borrow().dtype, target.borrow().device())?;
        return finished(call, rearrange::add_to_dense(&zeros, &product, Scalar::Int(1))?);
    }
    finished(call, product)
}

fn multiplied(call: &Call) -> Result<View> {
    for value in call.args.iter().take(2) {
        if let Value::Tensor(tensor) = value
            && tensor.borrow().is_sparse()
            && tensor.borrow().device().is_meta()
        {
            return Err(Error::no_backend("mul.Tensor", tensor.borrow().backend()));
        }
    }
    let (sparse, other) = match (Part::of(call, 0)?, Part::of(call, 1)?) {
        (Part::Tensor(a), Part::Tensor(b)) if a.is_sparse() && b.is_sparse() => {
            check_product(call, &a, &b)?;
            return match (a.compressed().is_some(), a.ndim(), b.ndim()) {
                (true, ..) => {
                    let product = rearrange::multiply(&by_coordinates(&a)?, &by_coordinates(&b)?)?;
                    compressed::from_coo(&product, a.tensor_layout())
                }
                (_, _, 0) => scaled(&a, (&ops::to_dense(&b)?).into()),
                (_, 0, _) => scaled(&b, (&ops::to_dense(&a)?).into()),
                _ => rearrange::multiply(&a, &ops::to_layout(&b, TensorLayout::SparseCoo)?),
            };
        }
        (Part::Tensor(a), b) if a.is_sparse() => (a, b),
        (a, Part::Tensor(b)) => (b, a),
        _ => bail!(RuntimeError, "a sparse tensor is needed"),
    };
    match other {
        Part::Tensor(dense) if dense.ndim() > 0 => {
            check_product(call, &call.view(0)?, &call.view(1)?)?;
            let product = rearrange::multiply_dense(&ops::to_layout(&sparse, TensorLayout::SparseCoo)?, &dense)?;
            match sparse.tensor_layout() {
                layout if layout.is_compressed() => compressed::from_coo(&product, layout),
                _ => Ok(product),
            }
        }
        Part::Tensor(number) => scaled(&sparse, promote::Operand::Tensor(&number)),
        Part::Number(number) => scaled(&sparse, promote::Operand::Number(number)),
    }
}

/// Fails with RuntimeError for a product in a compressed layout other than CSR. The first operand gives the layout.
fn check_product(call: &Call, a: &View, b: &View) -> Result<()> {
    let layout = if a.compressed().is_some() { a.tensor_layout() } else { b.tensor_layout() };
    let csr = layout == TensorLayout::SparseCsr && a.coo().is_none();
    if !layout.is_compressed() || csr {
        return Ok(());
    }
    if a.compressed().is_some() && layout.is_blocked() && !call.signature.in_place {
        compressed::empty(a.sizes(), layout, a.dtype, a.device())?;
    }
    bail!(RuntimeError, "Expected result Tensor to be of format CSR")
}

fn scaled(sparse: &View, by: promote::Operand) -> Result<View> {
    ops::with_values(sparse, times(ops::elements(sparse), by)?)
}

/// Divides the elements. With a rounding mode, elements with the same index are added up first, because the quotient of
/// a sum is then not the sum of the quotients.
pub(crate) fn divide(call: &mut Call) -> Result<Value> {
    let floors = call.signature.name.starts_with("floor_divide");
    let layout = call.tensor(0)?.borrow().tensor_layout();
    if floors && layout.is_compressed() {
        let name = if call.signature.in_place { "floor_divide_.Tensor" } else { "floor_divide" };
        return Err(Error::no_backend(name, call.tensor(0)?.borrow().backend()));
    }
    if let Part::Tensor(divisor) = Part::of(call, 1)?
        && (divisor.is_sparse() || divisor.ndim() > 0)
    {
        bail!(
            RuntimeError,
            "Sparse {} requires a scalar or zero-dim dense tensor divisor (got shape {:?} for divisor)",
            if floors { "floor division" } else { "division" },
            divisor.sizes()
        );
    }
    if layout.is_compressed() {
        bail!(RuntimeError, "unsupported tensor layout: {}", layout.cpp_name());
    }
    let mode = call.position("rounding_mode").map(|i| call.value(i));
    let rounds = floors || matches!(&mode, Some(Value::Str(mode)) if matches!(&**mode, "floor" | "trunc"));
    let target = call.tensor(0)?;
    if rounds && call.signature.in_place {
        target.set_view(ops::coalesce(&target.view())?);
    }
    let Some(dense) = call.state.registry.overload(call.signature.key) else { bail!(RuntimeError, "no such overload") };
    on_elements(dense.row.run, call, rounds)
}

/// `s ** number`, of the elements with the same index added up.
pub(crate) fn pow(call: &mut Call) -> Result<Value> {
    if call.tensor(0)?.borrow().compressed().is_some() {
        return super::sparse_kernels::no_layout(call);
    }
    if !call.scalar(1)?.truth() {
        bail!(
            RuntimeError,
            "pow: cannot raise to zeroth power on sparse tensor; it would make the result tensor dense"
        );
    }
    let Some(dense) = call.state.registry.overload(call.signature.key) else { bail!(RuntimeError, "no such overload") };
    on_elements(dense.row.run, call, true)
}
