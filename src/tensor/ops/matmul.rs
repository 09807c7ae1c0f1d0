//! Products of matrices and vectors: `mm`, `bmm`, `mv`, `dot`, and the forms that add to another tensor. Follows
//! <https://pytorch.org/docs/2.7/torch.html#blas-and-lapack-operations>. This file checks shapes and dtypes; the loops
//! are in `product`.

mod cross;
mod halves;
pub mod order;
mod product;
mod tiles;
mod triangles;
mod vector;

pub use cross::{ByProduct, cdist, cross, trace};
pub use triangles::{block_diag, triangle_indices};

use super::check::{same_device, size_at};
use super::copy::{cast, check_fits};
use super::number::compute_dtype;
use super::pointwise::{BinaryOp, Output, binary, check_kernel, classes, conj};
use super::promote::{Operand, result_type};
use super::view;
use crate::bail;
use crate::layout::show;
use crate::{Category, DType, Layout, Result, Scalar, View, interrupt};
pub use product::Ring;
use product::{Scaling, Sums, batch_of_one, multiply};

/// The factors of `addmm` and related functions: `beta · input + alpha · product`. If `beta` is zero, `input` is not
/// read.
#[derive(Clone, Copy, Debug)]
pub struct Factors {
    pub beta: Scalar,
    pub alpha: Scalar,
}

impl Factors {
    /// Refuses factors that the compute dtype cannot hold.
    fn check(self, dtype: DType) -> Result<()> {
        check_fits(self.alpha, compute_dtype(dtype))?;
        check_fits(self.beta, compute_dtype(dtype))
    }
}

/// Dtypes with a kernel for products of single matrices.
const MATRICES: classes::Classes = classes::NUMBERS | classes::FLOAT8 | classes::COMPLEX;
/// Dtypes with a kernel for all other products here.
const PLAIN: classes::Classes = classes::NUMBERS | classes::COMPLEX;

/// `a @ b` of two matrices with fused multiply-adds, as in convolutions.
///
/// # Errors
/// Those of [`mm`].
pub(crate) fn mm_fused(a: &View, b: &View) -> Result<View> {
    mm_with(a, b, Sums::Fused)
}

/// `a @ b` of two matrices; the result is row-major.
///
/// # Errors
/// RuntimeError unless both have two dimensions, for sizes or dtypes that differ, and for unsupported dtypes.
pub fn mm(a: &View, b: &View) -> Result<View> {
    mm_with(a, b, Sums::Library)
}

fn mm_with(a: &View, b: &View, sums: Sums) -> Result<View> {
    if a.ndim() != 2 {
        bail!(RuntimeError, "self must be a matrix");
    }
    if b.ndim() != 2 {
        bail!(RuntimeError, "mat2 must be a matrix");
    }
    check_matrices(a, b)?;
    if a.dtype != b.dtype {
        let (a, b) = (a.dtype.cpp_name(), b.dtype.cpp_name());
        bail!(RuntimeError, "expected m1 and m2 to have the same dtype, but got: {a} != {b}");
    }
    matrix_product(a, b, None, Factors { beta: Scalar::Int(0), alpha: Scalar::Int(1) }, sums)
}

/// `beta · input + alpha · a @ b` of two matrices; `input` broadcasts.
pub fn addmm(input: &View, a: &View, b: &View, factors: Factors) -> Result<View> {
    for (name, first) in [("self", input), ("mat1", a)] {
        if first.dtype != b.dtype {
            let (own, other) = (first.dtype.scalar_type(), b.dtype.scalar_type());
            bail!(RuntimeError, "{name} and mat2 must have the same dtype, but got {own} and {other}");
        }
    }
    if a.ndim() != 2 {
        bail!(RuntimeError, "mat1 must be a matrix, got {}-D tensor", a.ndim());
    }
    if b.ndim() != 2 {
        bail!(RuntimeError, "mat2 must be a matrix, got {}-D tensor", b.ndim());
    }
    check_matrices(a, b)?;
    let sizes = [a.sizes()[0], b.sizes()[1]];
    let meta = input.device().is_meta();
    let input = if meta { meta_broadcast(input, &sizes)? } else { broadcast(input, &sizes)? };
    matrix_product(a, b, Some(&input), factors, Sums::Library)
}

fn check_matrices(a: &View, b: &View) -> Result<()> {
    let (&[n, m], &[k, p]) = (a.sizes(), b.sizes()) else { bail!(RuntimeError, "two matrices are needed") };
    if m == k {
        return Ok(());
    }
    if a.device().is_meta() {
        let (a, b) = (show(a.sizes()), show(b.sizes()));
        bail!(RuntimeError, "a and b must have same reduction dim, but got {a} X {b}.");
    }
    bail!(RuntimeError, "mat1 and mat2 shapes cannot be multiplied ({n}x{m} and {k}x{p})")
}

/// Allocates the result for inner dimension `products`. Also returns whether it is already complete: empty, meta, or
/// all zeros.
fn room_for_sums(sizes: &[i64], products: i64, like: &View, added: Option<&View>) -> Result<(View, bool)> {
    let nothing = products == 0 && added.is_none();
    let make = if nothing { View::zeros } else { View::unwritten };
    let out = make(sizes, like.dtype, like.device())?;
    let done = nothing || out.device().is_meta() || out.numel() == 0;
    Ok((out, done))
}

fn matrix_product(a: &View, b: &View, added: Option<&View>, factors: Factors, sums: Sums) -> Result<View> {
    let (&[n, m], &[_, p]) = (a.sizes(), b.sizes()) else { bail!(RuntimeError, "two matrices are needed") };
    let (out, done) = room_for_sums(&[n, p], m, a, added)?;
    if done {
        return Ok(out);
    }
    same_device(a, b)?;
    check_kernel("addmm_impl_cpu_", MATRICES, out.dtype)?;
    factors.check(out.dtype)?;
    let added = added.map(batch_of_one);
    // If the inner dimension is empty, PyTorch rounds the factor to the result's dtype.
    let beta = if m == 0 { View::scalar(factors.beta, out.dtype)?.item()? } else { factors.beta };
    let scaling = Scaling { alpha: factors.alpha, added: added.as_ref().map(|v| (v, beta)), sums };
    multiply(&batch_of_one(&out), &batch_of_one(a), &batch_of_one(b), scaling)?;
    Ok(out)
}

/// Expands the summand to the result's sizes.
fn broadcast(input: &View, sizes: &[i64]) -> Result<View> {
    input.layout.expand(sizes, &input.type_name()).map(|layout| input.with_layout(layout))
}

fn meta_broadcast(input: &View, sizes: &[i64]) -> Result<View> {
    let pairs = input.sizes().iter().rev().zip(sizes.iter().rev());
    for (place, (&own, &wanted)) in pairs.enumerate() {
        if own != wanted && own != 1 {
            bail!(
                RuntimeError,
                "Attempting to broadcast a dimension of length {own} at -{}! Mismatching argument at index 1 had \
                 torch.Size({}); but expected shape should be broadcastable to {}",
                place + 1,
                show(input.sizes()),
                show(sizes)
            );
        }
    }
    broadcast(input, sizes)
}

/// Multiplies two batches of matrices, `[b, n, m]` and `[b, m, p]`.
pub fn bmm(a: &View, b: &View) -> Result<View> {
    check_batches(a, b)?;
    if a.dtype != b.dtype {
        return expected_dtype(a.dtype, b.dtype);
    }
    batch_product("bmm", a, b, None, Factors { beta: Scalar::Int(0), alpha: Scalar::Int(1) })
}

/// `beta · input + alpha · a @ b` of two batches of matrices; `input` broadcasts.
pub fn baddbmm(input: &View, a: &View, b: &View, factors: Factors) -> Result<View> {
    let size = |batch: &View, dim| size_at(&batch.layout, dim).map(|(_, size)| size);
    let input = broadcast(input, &[size(a, 0)?, size(a, 1)?, size(b, 2)?])?;
    check_batches(a, b)?;
    if input.dtype != a.dtype {
        let [own, a, b] = [input.dtype, a.dtype, b.dtype].map(DType::cpp_name);
        bail!(RuntimeError, "Input dtypes must be the same, got: input {own}, batch1: {a}, batch2: {b}");
    }
    if a.dtype != b.dtype {
        return expected_dtype(a.dtype, b.dtype);
    }
    batch_product("baddbmm", a, b, Some(&input), factors)
}

fn expected_dtype<T>(expected: DType, found: DType) -> Result<T> {
    bail!(RuntimeError, "expected scalar type {} but found {}", expected.scalar_type(), found.scalar_type())
}

fn check_batches(a: &View, b: &View) -> Result<()> {
    for (name, batch) in [("batch1", a), ("batch2", b)] {
        if batch.ndim() != 3 {
            bail!(RuntimeError, "{name} must be a 3D tensor");
        }
    }
    let expected = [a.sizes()[0], a.sizes()[2]];
    if b.sizes()[..2] != expected {
        bail!(
            RuntimeError,
            "Expected size for first two dimensions of batch2 tensor to be: {} but got: {}.",
            show(&expected),
            show(&b.sizes()[..2])
        );
    }
    Ok(())
}

fn batch_product(kernel: &str, a: &View, b: &View, added: Option<&View>, factors: Factors) -> Result<View> {
    let (&[batch, n, m], &[_, _, p]) = (a.sizes(), b.sizes()) else { bail!(RuntimeError, "two batches are needed") };
    let (out, done) = room_for_sums(&[batch, n, p], m, a, added)?;
    if done {
        return Ok(out);
    }
    same_device(a, b)?;
    check_kernel(kernel, PLAIN, out.dtype)?;
    factors.check(out.dtype)?;
    // PyTorch calls BLAS only above this size.
    let sums = if m.saturating_mul(n).saturating_mul(p) < 400 { Sums::InOrder } else { Sums::Library };
    multiply(&out, a, b, Scaling { alpha: factors.alpha, added: added.map(|v| (v, factors.beta)), sums })?;
    Ok(out)
}

/// `beta · input + alpha · Σ a[i] @ b[i]` over a batch; `input` broadcasts to a matrix.
pub fn addbmm(input: &View, a: &View, b: &View, factors: Factors) -> Result<View> {
    let input = broadcast(input, &[size_at(&a.layout, 1)?.1, size_at(&b.layout, 2)?.1])?;
    for (name, batch) in [("batch1", a), ("batch2", b)] {
        if batch.ndim() != 3 {
            bail!(RuntimeError, "{name} must be a 3D tensor");
        }
    }
    let (&[count, n, m], &[other, k, p]) = (a.sizes(), b.sizes()) else {
        bail!(RuntimeError, "two batches are needed")
    };
    if count != other {
        bail!(RuntimeError, "batch1 and batch2 must have same number of batches, got {count} and {other}");
    }
    if m != k {
        bail!(RuntimeError, "Incompatible matrix sizes for bmm ({n}x{m} and {k}x{p})");
    }
    if count == 0 {
        let nothing = |sizes: [i64; 2]| View::zeros(&sizes, input.dtype, a.device());
        return addmm(&input, &nothing([n, 0])?, &nothing([0, p])?, factors);
    }
    let mut sum = input;
    let mut beta = factors.beta;
    for i in 0..count {
        interrupt::check()?;
        sum = addmm(&sum, &view::select(a, 0, i)?, &view::select(b, 0, i)?, Factors { beta, ..factors })?;
        beta = Scalar::Int(1);
    }
    Ok(sum)
}

/// `a @ v` for a matrix and a vector.
pub fn mv(a: &View, v: &View) -> Result<View> {
    if a.device().is_meta() {
        if a.ndim() != 2 || v.ndim() != 1 {
            bail!(RuntimeError, "matrix @ vector expected, got {}, {}", a.ndim(), v.ndim());
        }
        if a.sizes()[1] != v.sizes()[0] {
            let &[n, m] = a.sizes() else { bail!(RuntimeError, "a matrix is needed") };
            bail!(RuntimeError, "size mismatch, got input ({n}x{m}), vec ({})", v.sizes()[0]);
        }
        return View::zeros(&a.sizes()[..1], a.dtype, a.device());
    }
    let rows = if a.ndim() > 0 { a.sizes()[0] } else { 0 };
    let none = View::zeros(&[rows], v.dtype, v.device())?;
    addmv(&none, a, v, Factors { beta: Scalar::Int(0), alpha: Scalar::Int(1) })
}

/// Returns whether PyTorch walks through a matrix column by column.
fn is_column_major(a: &View) -> bool {
    let (&[rows, columns], &[down, across]) = (a.sizes(), a.strides()) else { return false };
    down == 1 && (columns == 1 || across >= rows.max(1))
}

/// `beta · input + alpha · a @ v`; `input` is a vector or a single number.
pub fn addmv(input: &View, a: &View, v: &View, factors: Factors) -> Result<View> {
    if a.ndim() != 2 || v.ndim() != 1 || input.ndim() > 1 {
        bail!(RuntimeError, "vector + matrix @ vector expected, got {}, {}, {}", input.ndim(), a.ndim(), v.ndim());
    }
    let (&[n, m], &[length]) = (a.sizes(), v.sizes()) else { bail!(RuntimeError, "a matrix and a vector are needed") };
    if m != length || (input.numel() != 1 && input.sizes() != [n]) {
        let size = input.sizes().first().copied().unwrap_or(1);
        bail!(RuntimeError, "size mismatch, got input ({size}), mat ({n}x{m}), vec ({length})");
    }
    if a.dtype != v.dtype {
        return expected_dtype(a.dtype, v.dtype);
    }
    let out = View::zeros(&[n], v.dtype, a.device())?;
    if out.device().is_meta() || out.numel() == 0 || (m == 0 && !factors.beta.truth()) {
        return Ok(out);
    }
    same_device(a, v)?;
    check_kernel("addmv_impl_cpu", PLAIN, out.dtype)?;
    factors.check(out.dtype)?;
    let flat = input.with_layout(input.layout.broadcast_to(&[n]));
    let flat = if flat.dtype == out.dtype { flat } else { super::copy::cast(&flat, out.dtype)? };
    if halves::has_own_loop(a, v, factors) {
        halves::addmv(&out, &flat, a, v, factors)?;
        return Ok(out);
    }
    let added = batch_of_one(&view::unsqueeze(&flat, 1)?);
    // A single row stored column by column takes the path of a matrix.
    let sums = if n == 1 && is_column_major(a) { Sums::Library } else { Sums::Vector };
    let scaling = Scaling { alpha: factors.alpha, added: Some((&added, factors.beta)), sums };
    let column = batch_of_one(&view::unsqueeze(&out, 1)?);
    multiply(&column, &batch_of_one(a), &batch_of_one(&view::unsqueeze(v, 1)?), scaling)?;
    Ok(out)
}

/// The dot product of two vectors.
pub fn dot(a: &View, b: &View) -> Result<View> {
    if a.ndim() != 1 || b.ndim() != 1 {
        bail!(RuntimeError, "1D tensors expected, but got {}D and {}D tensors", a.ndim(), b.ndim());
    }
    if a.dtype != b.dtype {
        let (a, b) = (a.dtype.scalar_type(), b.dtype.scalar_type());
        bail!(RuntimeError, "dot : expected both vectors to have same dtype, but found {a} and {b}");
    }
    let (n, k) = (a.numel(), b.numel());
    if n != k {
        let the = if a.device().is_meta() { "thesame" } else { "the same" };
        bail!(
            RuntimeError,
            "inconsistent tensor size, expected tensor [{n}] and src [{k}] to have {the} number of elements, but got {n} \
             and {k} elements respectively"
        );
    }
    let out = View::zeros(&[], a.dtype, a.device())?;
    if out.device().is_meta() {
        return Ok(out);
    }
    same_device(a, b)?;
    check_kernel("dot", PLAIN, a.dtype)?;
    if matches!(out.dtype, DType::Half | DType::BFloat16) {
        halves::dot(&out, a, b)?;
        return Ok(out);
    }
    let one = out.with_layout(Layout::contiguous(&[1, 1, 1]));
    let row = batch_of_one(&view::unsqueeze(a, 0)?);
    let scaling = Scaling { sums: Sums::Dot, ..Scaling::NONE };
    multiply(&one, &row, &batch_of_one(&view::unsqueeze(b, 1)?), scaling)?;
    Ok(out)
}

/// Like [`dot`], with the first vector conjugated.
pub fn vdot(a: &View, b: &View) -> Result<View> {
    dot(&if a.dtype.is_complex() { conj(a) } else { a.clone() }, b)
}

/// `beta · input + alpha · outer(v, w)`; `input` broadcasts, and dtypes promote as in a sum.
///
/// # Errors
/// RuntimeError unless `v` and `w` are vectors, for sizes that do not broadcast, and for fractional factors of
/// integers.
pub fn addr(input: &View, v: &View, w: &View, factors: Factors) -> Result<View> {
    for (name, vector) in [("vec1", v), ("vec2", w)] {
        if vector.ndim() != 1 {
            bail!(RuntimeError, "addr: Expected 1-D argument {name}, but got {}-D", vector.ndim());
        }
    }
    let input = broadcast(input, &[v.sizes()[0], w.sizes()[0]])?;
    let operands = [Operand::Tensor(&input), Operand::Tensor(v), Operand::Tensor(w)];
    let dtype = result_type(&operands, DType::Float)?;
    if dtype.is_integral(true) {
        for (name, factor) in [("beta", factors.beta), ("alpha", factors.alpha)] {
            if !matches!(factor.category(), Category::Bool | Category::Integral) {
                bail!(RuntimeError, "For integral input tensors, argument {name} must not be a floating point number.");
            }
        }
    }
    let on = |op, a: Operand, b: Operand| binary(op, a, b, Output::New, DType::Float);
    let column = view::unsqueeze(v, 1)?;
    if dtype.is_floating_point() && [input.dtype, v.dtype, w.dtype] == [dtype; 3] {
        // The first vector is scaled first, and every step is rounded.
        let [alpha, beta] = [factors.alpha, factors.beta].map(|factor| View::scalar(factor, dtype));
        let scaled = on(BinaryOp::Mul, Operand::Tensor(&column), Operand::Tensor(&alpha?))?;
        let product = on(BinaryOp::Mul, Operand::Tensor(&scaled), Operand::Tensor(w))?;
        if !factors.beta.truth() {
            return Ok(product);
        }
        let added = on(BinaryOp::Mul, Operand::Tensor(&input), Operand::Tensor(&beta?))?;
        return on(BinaryOp::Add, Operand::Tensor(&added), Operand::Tensor(&product));
    }
    let product = on(BinaryOp::Mul, Operand::Tensor(&column), Operand::Tensor(w))?;
    if dtype == DType::Bool {
        let kept = |view: &View, factor: Scalar| {
            on(BinaryOp::Mul, Operand::Tensor(view), Operand::Number(Scalar::Bool(factor.truth())))
        };
        let (input, product) = (kept(&input, factors.beta)?, kept(&product, factors.alpha)?);
        return on(BinaryOp::BitwiseOr, Operand::Tensor(&input), Operand::Tensor(&product));
    }
    // Only the tensors determine the dtype; a number would promote narrower tensors, such as `bool` ones.
    let promoted = |view: &View| if view.dtype == dtype { Ok(view.clone()) } else { cast(view, dtype) };
    let product = on(BinaryOp::Mul, Operand::Tensor(&promoted(&product)?), Operand::Number(factors.alpha))?;
    if !factors.beta.truth() {
        return Ok(product);
    }
    let scaled = on(BinaryOp::Mul, Operand::Tensor(&promoted(&input)?), Operand::Number(factors.beta))?;
    on(BinaryOp::Add, Operand::Tensor(&scaled), Operand::Tensor(&product))
}
