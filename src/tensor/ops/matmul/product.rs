//! The loops of every matrix product: batches of matrices in the compute type. Large products of floats and complex
//! numbers use vector instructions. Small ones and products with a vector are summed in the order of the library behind
//! PyTorch (`tiles`, `vector`), and integers in order. The callers check sizes.

use super::tiles::{Lanes, PER_ELEMENT, Tiling, in_order};
use super::vector;
use crate::bail;
use crate::memory::set;
use crate::ops::block::values;
use crate::ops::check::resolved;
use crate::ops::copy::{cast, contiguous, copy_into, write_into};
use crate::ops::number::{Number, Stored, compute_dtype};
use crate::parallel::{self, Matrix, add_product, add_product_fused};
use crate::thresholds::THREAD;
use crate::{DType, Dims, Layout, Result, Scalar, View, interrupt, limits};
use num_complex::Complex;
use std::borrow::Cow;

/// The element types of matrices that can be multiplied.
pub trait Ring: Number {
    /// The type of sums: narrow integers are summed in a wider type, which wraps to the same values.
    type Sum: Lanes;

    fn widened(self) -> Self::Sum;

    fn narrowed(sum: Self::Sum) -> Self;

    /// `total + a * b`.
    fn plus_product(total: Self, a: Self, b: Self) -> Self;

    fn times(a: Self, b: Self) -> Self;

    fn plus(a: Self, b: Self) -> Self;

    /// The number of lanes in the library's sums; 0 if it sums without lanes.
    const LANES: usize = 0;

    /// Whether the library, for types without lanes, starts small sums from the value that they are added to.
    const FROM_RESULT: bool = false;

    /// `into += alpha · a @ b`; `into` is row-major. Sums are in order and fused if `fused`, else as the processor prefers.
    fn accumulate(
        into: &mut [Self],
        sizes: [usize; 3],
        alpha: Self,
        a: Matrix<Self>,
        b: Matrix<Self>,
        _fused: bool,
    ) -> Result<()> {
        in_order(into, sizes, alpha, a, b, Tiling::one(sizes, alpha, b))
    }
}

macro_rules! wrapping_ring {
    ($($t:ty, $sum:ty;)*) => {$(
        impl Ring for $t {
            type Sum = $sum;
            #[inline(always)]
            fn widened(self) -> $sum {
                self.into()
            }
            #[inline(always)]
            fn narrowed(sum: $sum) -> $t {
                sum as $t
            }
            #[inline(always)]
            fn plus_product(total: $t, a: $t, b: $t) -> $t {
                total.wrapping_add(a.wrapping_mul(b))
            }
            #[inline(always)]
            fn times(a: $t, b: $t) -> $t {
                a.wrapping_mul(b)
            }
            #[inline(always)]
            fn plus(a: $t, b: $t) -> $t {
                a.wrapping_add(b)
            }
        }
    )*};
}
wrapping_ring!(u8, i32; i16, i32; i32, i32; i64, i64;);

/// For a type whose sums need no wider one.
macro_rules! sums_of_its_own_type {
    () => {
        type Sum = Self;
        #[inline(always)]
        fn widened(self) -> Self {
            self
        }
        #[inline(always)]
        fn narrowed(sum: Self) -> Self {
            sum
        }
    };
}

macro_rules! vector_ring {
    ($($t:ty)*) => {$(
        impl Ring for $t {
            sums_of_its_own_type!();
            const LANES: usize = 16 / size_of::<$t>();
            #[inline(always)]
            fn plus_product(total: $t, a: $t, b: $t) -> $t {
                total + a * b
            }
            #[inline(always)]
            fn times(a: Self, b: Self) -> Self {
                a * b
            }
            #[inline(always)]
            fn plus(a: Self, b: Self) -> Self {
                a + b
            }
            fn accumulate(
                into: &mut [$t],
                sizes: [usize; 3],
                alpha: $t,
                a: Matrix<$t>,
                b: Matrix<$t>,
                fused: bool,
            ) -> Result<()> {
                let add = if fused { add_product_fused } else { add_product };
                add(into, sizes, alpha, a, b)
            }
        }

        impl Ring for Complex<$t> {
            sums_of_its_own_type!();
            const FROM_RESULT: bool = size_of::<$t>() == 4;

            #[inline(always)]
            fn plus_product(total: Self, a: Self, b: Self) -> Self {
                total + a * b
            }
            #[inline(always)]
            fn times(a: Self, b: Self) -> Self {
                a * b
            }
            #[inline(always)]
            fn plus(a: Self, b: Self) -> Self {
                a + b
            }

            // Four real products: in the product of a number with its conjugate, the imaginary parts then cancel
            // exactly.
            fn accumulate(
                into: &mut [Self],
                sizes: [usize; 3],
                alpha: Self,
                a: Matrix<Self>,
                b: Matrix<Self>,
                fused: bool,
            ) -> Result<()> {
                let add = if fused { add_product_fused } else { add_product };
                let part = |values: &[Self], imaginary: bool| -> Result<Vec<$t>> {
                    let mut parts = limits::filled::<$t>(0.0, values.len())?;
                    let part = |value: &Self| if imaginary { value.im } else { value.re };
                    parts.iter_mut().zip(values).for_each(|(to, value)| *to = part(value));
                    Ok(parts)
                };
                let product = |i: bool, j: bool| -> Result<Vec<$t>> {
                    let (x, y) = (part(a.values, i)?, part(b.values, j)?);
                    let mut total = limits::filled::<$t>(0.0, into.len())?;
                    let (x, y) = (Matrix { values: &x, strides: a.strides }, Matrix { values: &y, strides: b.strides });
                    add(&mut total, sizes, 1.0, x, y)?;
                    Ok(total)
                };
                let (re, im) = (product(false, false)?, product(true, true)?);
                let (cross, other) = (product(false, true)?, product(true, false)?);
                let real = re.iter().zip(&im).map(|(a, b)| a - b);
                let imaginary = cross.iter().zip(&other).map(|(a, b)| a + b);
                for ((into, re), im) in into.iter_mut().zip(real).zip(imaginary) {
                    *into += alpha * Complex::new(re, im);
                }
                Ok(())
            }
        }
    )*};
}
vector_ring!(f32 f64);

/// The number of multiplications up to which a product is summed in order. For small matrices, the library behind
/// PyTorch gives these results on any processor, to the last bit. Larger products are worth vector instructions, whose
/// fused steps round differently.
pub(super) const SMALL: usize = 1 << 20;
/// The same limit for a single column of a type without lanes, where each addition depends on the one before.
pub(super) const SMALL_COLUMN: usize = 1 << 12;

/// The pieces of a batch for each core.
const PIECES: usize = 4;

/// Multiplies a column by a row without summing, which preserves negative zeros.
fn outer<C: Ring>(into: &mut [C], p: usize, a: Matrix<C>, b: Matrix<C>) -> Result<()> {
    let value = |m: &Matrix<C>, place: usize| m.values.get(place).copied().unwrap_or_default();
    for (i, row) in into.chunks_exact_mut(p.max(1)).enumerate() {
        interrupt::check()?;
        let factor = value(&a, i * a.strides[0]);
        for (j, into) in row.iter_mut().enumerate() {
            *into = C::times(factor, value(&b, j * b.strides[1]));
        }
    }
    Ok(())
}

/// Returns whether both operands are stored along the inner dimension, and one of the sizes is small.
fn is_by_lanes<C: Ring>([n, m, p]: [usize; 3], a: &Matrix<C>, b: &Matrix<C>) -> bool {
    let by_rows = a.strides[1] == 1 && b.strides[0] == 1 && b.strides[1] > 1;
    C::LANES == 4 && by_rows && n > 1 && p > 1 && n.min(m).min(p) < 8
}

/// Multiplies rows by rows. Each element is a sum in four lanes, or in eight for the columns after the last group of
/// four. The lanes are added by halves, and the remaining products one by one.
fn by_lanes<C: Ring>(into: &mut [C], [n, m, p]: [usize; 3], alpha: C, a: Matrix<C>, b: Matrix<C>) -> Result<()> {
    for (i, into) in into.chunks_exact_mut(p.max(1)).enumerate().take(n) {
        interrupt::check()?;
        let row = a.values.get(i * a.strides[0]..i * a.strides[0] + m).unwrap_or_default();
        for (j, into) in into.iter_mut().enumerate() {
            let column = b.values.get(j * b.strides[1]..j * b.strides[1] + m).unwrap_or_default();
            let width = if j < p / 4 * 4 { 4 } else { 8 };
            let whole = m / width * width;
            let mut lanes = [C::default(); 8];
            for (k, (&x, &y)) in row.iter().zip(column).enumerate().take(whole) {
                lanes[k % width] = C::plus_product(lanes[k % width], x, y);
            }
            let [a, b, c, d, ..] = lanes;
            let total = if width == 4 { vector::sum_lanes([a, b, c, d]) } else { vector::sum_lanes(lanes) };
            let total = vector::with_rest(total, row.get(whole..), column.get(whole..).unwrap_or_default());
            *into = C::plus_product(*into, alpha, total);
        }
    }
    Ok(())
}

/// Returns the matrix and the vector of a product with a single row (transposed) or a single column.
fn matrix_and_vector<'m, C: Ring>(
    [n, m, p]: [usize; 3],
    a: Matrix<'m, C>,
    b: Matrix<'m, C>,
    sums: Sums,
) -> Option<(Matrix<'m, C>, &'m [C])> {
    if n == 1 && sums == Sums::Library && a.strides[1] <= 1 {
        Some((Matrix { values: b.values, strides: [b.strides[1], b.strides[0]] }, a.values.get(..m)?))
    } else if p == 1 && b.strides[0] <= 1 {
        Some((a, b.values.get(..m)?))
    } else {
        None
    }
}

/// The positions of a batch's matrices among its elements.
#[derive(Clone, Copy)]
struct Batch {
    strides: [usize; 2],
    /// The number of elements from one matrix to the next.
    step: usize,
}

impl Batch {
    /// Makes the batch contiguous. Column-major matrices stay column-major.
    fn of(view: &View) -> Result<(Cow<'_, View>, Batch)> {
        let &[_, rows, columns] = view.sizes() else { bail!(RuntimeError, "a batch of matrices has three dimensions") };
        let (rows, columns) = (rows.max(0) as usize, columns.max(0) as usize);
        let by_rows = Batch { strides: [columns, 1], step: rows * columns };
        if !view.conj && !view.neg && view.layout.is_contiguous() {
            return Ok((Cow::Borrowed(view), by_rows));
        }
        let view = resolved(view)?;
        let turned = view.with_layout(view.layout.transpose(1, 2)?);
        let by_columns = !view.layout.is_contiguous() && turned.layout.is_contiguous();
        let batch = if by_columns { Batch { strides: [1, rows], ..by_rows } } else { by_rows };
        Ok((contiguous(if by_columns { &turned } else { &view }).map(Cow::Owned)?, batch))
    }

    fn matrix<C>(self, values: &[C], index: usize) -> Matrix<'_, C> {
        let start = index * self.step;
        Matrix { values: values.get(start..start + self.step).unwrap_or_default(), strides: self.strides }
    }
}

/// The factors and the order of summation of a product of batches.
#[derive(Clone, Copy)]
pub(super) struct Scaling<'v> {
    pub alpha: Scalar,
    /// The summand, expanded to the result's sizes, and its factor. With a factor of zero, the summand is not read.
    pub added: Option<(&'v View, Scalar)>,
    pub sums: Sums,
}

/// The order in which the products of an element are summed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Sums {
    /// In order, with each product rounded: PyTorch's own loop for small batches.
    InOrder,
    /// Like the matrix library: small products in order or, along rows, in lanes.
    Library,
    /// Like the matrix-vector product of the library.
    Vector,
    /// Like the dot product of the library.
    Dot,
    /// In order with fused multiply-adds, like the convolution library.
    Fused,
}

impl Scaling<'_> {
    /// A product without factors.
    pub(super) const NONE: Scaling<'static> = Scaling { alpha: Scalar::Int(1), added: None, sums: Sums::Library };
}

/// Writes `beta · added + alpha · a @ b` to every element of the row-major `out`, which must not overlap the operands.
/// All have three dimensions, the same dtype and matching sizes.
pub(super) fn multiply(out: &View, a: &View, b: &View, scaling: Scaling) -> Result<()> {
    match out.dtype {
        DType::Float => multiply_as::<f32>(out, a, b, scaling, true),
        DType::Double => multiply_as::<f64>(out, a, b, scaling, true),
        DType::ComplexFloat => multiply_as::<Complex<f32>>(out, a, b, scaling, true),
        DType::ComplexDouble => multiply_as::<Complex<f64>>(out, a, b, scaling, true),
        DType::Byte => multiply_as::<u8>(out, a, b, scaling, true),
        DType::Short => multiply_as::<i16>(out, a, b, scaling, true),
        DType::Int => multiply_as::<i32>(out, a, b, scaling, true),
        DType::Long => multiply_as::<i64>(out, a, b, scaling, true),
        // Products that wrap have the same bits with and without a sign.
        DType::Char => {
            let bytes = |view: &View| View { dtype: DType::Byte, ..view.clone() };
            let added = scaling.added.map(|(added, beta)| (bytes(added), beta));
            let added = added.as_ref().map(|(added, beta)| (added, *beta));
            multiply_as::<u8>(&bytes(out), &bytes(a), &bytes(b), Scaling { added, ..scaling }, true)
        }
        dtype if compute_dtype(dtype) == DType::Float => {
            let wide = |view| cast(view, DType::Float);
            let result = View::unwritten(out.sizes(), DType::Float, out.device())?;
            multiply_as::<f32>(&result, &wide(a)?, &wide(b)?, scaling, false)?;
            write_into(out, &result)
        }
        dtype => bail!(RuntimeError, "matrices of {} have no product", dtype.scalar_type()),
    }
}

/// Like [`multiply`], for the dtype of `S`. `as_stored` tells whether this is the operands' own dtype; the library sums
/// converted numbers in another order.
fn multiply_as<S: Stored<Compute = S> + Ring>(
    out: &View,
    a: &View,
    b: &View,
    scaling: Scaling,
    as_stored: bool,
) -> Result<()> {
    let (&[batch, n, p], &[_, _, m]) = (out.sizes(), a.sizes()) else {
        bail!(RuntimeError, "a batch of matrices has three dimensions");
    };
    if out.numel() == 0 {
        return Ok(());
    }
    let sizes @ [rows, inner, columns] = [n, m, p].map(|size| size.max(0) as usize);
    let ((a, of_a), (b, of_b)) = (Batch::of(a)?, Batch::of(b)?);
    let added = scaling.added.filter(|(_, beta)| beta.truth());
    if let Some((added, _)) = added {
        copy_into(out, added)?;
    }
    let beta = added.map(|(_, beta)| S::from_scalar(beta));
    let (alpha, sums) = (S::from_scalar(scaling.alpha), scaling.sums);
    // If an operand has a single element, or elements have 16 bits, the library starts from zero.
    let is_outer = inner == 1 && rows > 1 && columns > 1 && as_stored;
    let is_bare_product = scaling.added.is_none() && alpha == S::from_scalar(Scalar::Int(1));
    let is_outer = is_outer && is_bare_product && sums != Sums::InOrder;
    let product = |a: &[S], b: &[S], result: &mut [S]| -> Result<()> {
        parallel::parts(result, 1, &|_, part| {
            match beta {
                Some(beta) => part.iter_mut().for_each(|value| *value = S::times(beta, *value)),
                None => part.fill(S::default()),
            }
            Ok(())
        })?;
        let size = (rows * columns).max(1);
        let time = size.saturating_mul(inner) / PER_ELEMENT;
        // Matrices that are not worth several threads each are divided among them.
        let together =
            if time < 2 * THREAD { result.len() / size / (PIECES * parallel::cores()) + 1 } else { usize::MAX };
        let work = time.saturating_mul(batch.max(0) as usize);
        parallel::parts_of(result, size.saturating_mul(together), work, &|start, part| {
            for (i, into) in (start / size..).zip(part.chunks_exact_mut(size)) {
                let (a, b) = (of_a.matrix(a, i), of_b.matrix(b, i));
                match is_outer {
                    true => outer(into, columns, a, b)?,
                    false => multiply_one(into, sizes, alpha, a, b, sums, as_stored)?,
                }
            }
            Ok(())
        })
    };
    let range = |view: &View| {
        let start = usize::try_from(view.layout.offset).unwrap_or(usize::MAX);
        start..start.saturating_add(view.numel().max(0) as usize)
    };
    // If elements need no conversion, the operands are not copied.
    let (memories, of_operands) = ([&*a.memory()?, &*b.memory()?], [range(&a), range(&b)]);
    let lent = parallel::from_both::<S, S, _>(memories, &*out.memory()?, range(out), |[a, b], result| {
        let [of_a, of_b] = of_operands;
        Some(product(S::as_computed(a)?.get(of_a)?, S::as_computed(b)?.get(of_b)?, S::as_computed_mut(result)?))
    });
    if let Some(done) = lent.flatten() {
        return done;
    }
    let mut result =
        if added.is_some() { values::<S>(out)? } else { limits::filled(S::default(), out.numel().max(0) as usize)? };
    product(&values::<S>(&a)?, &values::<S>(&b)?, &mut result)?;
    write::<S>(out, &result)
}

/// Stores values in a row-major view.
pub(super) fn write<S: Stored>(out: &View, values: &[S::Compute]) -> Result<()> {
    let memory = out.memory()?;
    let start = usize::try_from(out.layout.offset).unwrap_or(usize::MAX);
    let cells = memory.typed::<S>().get(start..).unwrap_or_default();
    cells.iter().zip(values).for_each(|(cell, &value)| set(cell, S::narrow(value)));
    Ok(())
}

/// `into += alpha · a @ b`, by the loop that matches the library's sums.
fn multiply_one<S: Ring>(
    into: &mut [S],
    sizes: [usize; 3],
    alpha: S,
    a: Matrix<S>,
    b: Matrix<S>,
    sums: Sums,
    as_stored: bool,
) -> Result<()> {
    let [n, m, p] = sizes;
    let lanes = if as_stored { S::LANES } else { 0 };
    match (sums, lanes) {
        (Sums::InOrder, _) => return in_order(into, sizes, alpha, a, b, Tiling::one(sizes, alpha, b)),
        (Sums::Fused, _) => return S::accumulate(into, sizes, alpha, a, b, true),
        (Sums::Dot, 0) => return S::accumulate(into, sizes, alpha, a, b, false),
        (Sums::Dot, 4) => return vector::dot::<_, 4>(a.values, b.values).map(|total| into.fill(total)),
        (Sums::Dot, _) => return vector::dot::<_, 2>(a.values, b.values).map(|total| into.fill(total)),
        (Sums::Library | Sums::Vector, _) => {}
    }
    if lanes > 0
        && let Some((matrix, vector)) = matrix_and_vector(sizes, a, b, sums)
    {
        return match lanes {
            4 => vector::add_product::<_, 4>(into, alpha, matrix, vector),
            _ => vector::add_product::<_, 2>(into, alpha, matrix, vector),
        };
    }
    let most = if p == 1 { SMALL_COLUMN } else { SMALL };
    if n * p == 1 || n.saturating_mul(p).saturating_mul(m) > most {
        return S::accumulate(into, sizes, alpha, a, b, false);
    }
    if is_by_lanes(sizes, &a, &b) {
        return by_lanes(into, sizes, alpha, a, b);
    }
    let is_straight = b.strides[1] == 1;
    if is_straight && lanes > 0 {
        let mut scaled = Vec::new();
        let one = S::from_scalar(Scalar::Int(1));
        if alpha != one {
            scaled = limits::filled(S::default(), b.values.len())?;
            scaled.iter_mut().zip(b.values).for_each(|(to, &value)| *to = S::times(alpha, value));
        }
        let b_of_tiles = if scaled.is_empty() { b } else { Matrix { values: &scaled, ..b } };
        return in_order(into, sizes, alpha, a, b, Tiling::of_library(sizes, b_of_tiles));
    }
    // Few rows or columns.
    let is_narrow = n > 1 && m > 1 && p > 1 && n.min(m).min(p) < 8;
    let at_result = is_straight && S::FROM_RESULT && is_narrow && as_stored;
    let tiling = Tiling::one(sizes, alpha, b);
    in_order(into, sizes, alpha, a, b, if at_result { tiling.without_tiles() } else { tiling })
}

/// Returns a matrix as a batch of one.
pub(crate) fn batch_of_one(view: &View) -> View {
    let (mut sizes, mut strides) = (Dims::from_slice(&[1]), Dims::from_slice(&[0]));
    sizes.extend_from_slice(view.sizes());
    strides.extend_from_slice(view.strides());
    view.with_layout(Layout { sizes, strides, offset: view.layout.offset })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Device;
    use crate::parallel::set_cores;

    fn number(place: usize) -> i64 {
        (place * place * 37 + place) as i64 % 11 - 5
    }

    /// Computes `beta · added + 3 · a @ b` of integers. If `apart`, the result has memory of its own; otherwise it
    /// shares the operands' memory, and they are copied.
    fn made<S: Stored>(dtype: DType, [n, m, p]: [usize; 3], apart: bool, turned: bool, beta: Option<i64>) -> Vec<f64> {
        let [rows, inner, columns] = [n, m, p].map(|size| size as i64);
        let room = View::zeros(&[(n * m + m * p + n * p) as i64], dtype, Device::CPU).expect("memory");
        let fill = |view: &View| {
            let memory = view.memory().expect("memory");
            for (k, cell) in memory.typed::<S>().iter().enumerate() {
                set(cell, S::narrow(S::Compute::from_scalar(Scalar::Int(number(k)))));
            }
        };
        fill(&room);
        let part = |sizes: &[i64], offset: usize| {
            let layout = Layout::contiguous(sizes);
            room.with_layout(Layout { offset: offset as i64, ..layout })
        };
        let turn = |view: View| view.with_layout(view.layout.transpose(1, 2).expect("two dimensions"));
        let a = if turned { turn(part(&[1, inner, rows], 0)) } else { part(&[1, rows, inner], 0) };
        let b = if turned { turn(part(&[1, columns, inner], n * m)) } else { part(&[1, inner, columns], n * m) };
        let added = View::zeros(&[columns], dtype, Device::CPU).expect("memory");
        fill(&added);
        let added = added.with_layout(added.layout.broadcast_to(&[1, rows, columns]));
        let out = match apart {
            true => View::unwritten(&[1, rows, columns], dtype, Device::CPU).expect("memory"),
            false => part(&[1, rows, columns], n * m + m * p),
        };
        let added = beta.map(|beta| (&added, Scalar::Int(beta)));
        let scaling = Scaling { alpha: Scalar::Int(3), added, sums: Sums::Library };
        multiply(&out, &a, &b, scaling).expect("sizes fit");
        values::<S>(&out).expect("memory").into_iter().map(|sum| sum.to_scalar().to_f64()).collect()
    }

    fn check<S: Stored>(dtype: DType) {
        let few = [[1, 1, 1], [3, 0, 2], [3, 1, 4], [3, 5, 2], [7, 300, 1], [1, 9, 300], [64, 30, 100]];
        // Around `SMALL`; the last ones are computed in tiles.
        let many = [[64, 127, 129], [128, 64, 128], [64, 127, 130], [130, 129, 131]];
        for sizes in few.into_iter().chain(many) {
            let [n, m, p] = sizes;
            for (turned, beta) in [(false, Some(2)), (false, None), (true, Some(2)), (true, None)] {
                let a = |i: usize, k: usize| number(if turned { k * n + i } else { i * m + k });
                let b = |k: usize, j: usize| number(n * m + if turned { j * m + k } else { k * p + j });
                let sum = |i: usize, j: usize| {
                    beta.unwrap_or(0) * number(j) + 3 * (0..m).map(|k| a(i, k) * b(k, j)).sum::<i64>()
                };
                let wanted: Vec<_> = (0..n * p).map(|place| sum(place / p, place % p)).collect();
                for (cores, apart) in [(1, true), (1, false), (3, true), (3, false)] {
                    set_cores(cores);
                    let got = made::<S>(dtype, sizes, apart, turned, beta);
                    let same = got.iter().zip(&wanted).all(|(&got, &wanted)| got == wanted as f64);
                    assert!(same && got.len() == wanted.len(), "{dtype:?} {sizes:?} {turned} {beta:?} {cores} {apart}");
                }
            }
        }
        set_cores(0);
    }

    #[test]
    fn products_are_the_sums_written_out() {
        check::<f32>(DType::Float);
        check::<f64>(DType::Double);
        check::<i32>(DType::Int);
        check::<Complex<f32>>(DType::ComplexFloat);
    }
}
