//! Products of matrices on all cores, by the `gemm` crates, whose interface uses pointers. This file wraps it safely,
//! with slices and strides that are checked to stay within them.

use super::vectors::fuses;
use super::{Kernel, cores, fused, parts_of, tasks, vectorised_kernel};
use crate::error::{Error, Result};
use crate::thresholds::{PRODUCTS, THREAD};
use crate::{interrupt, limits};
use gemm_common::Parallelism;

/// The signature of the kernels of `gemm`: sizes; the result, with its strides between columns and between rows, and
/// whether to add to it; both operands with their strides; two factors; which operands to conjugate; threads.
// SAFETY: this is only the type. Callers pass pointers to matrices that have these sizes and strides.
type Gemm<T> = unsafe fn(
    usize,
    usize,
    usize,
    *mut T,
    isize,
    isize,
    bool,
    *const T,
    isize,
    isize,
    *const T,
    isize,
    isize,
    T,
    T,
    bool,
    bool,
    bool,
    Parallelism,
);

/// Element types for which `gemm` has kernels.
pub trait GemmElement: Copy + Sync + Send + 'static {
    const ZERO: Self;
    const ONE: Self;
    /// Returns the kernel for the processor at hand.
    fn kernel() -> Gemm<Self>;
    /// `self * factor + addend`, rounded once. `fuses` tells whether the processor has an instruction for it.
    fn fused(self, factor: Self, addend: Self, fuses: bool) -> Self;
}

impl GemmElement for f32 {
    const ZERO: f32 = 0.0;
    const ONE: f32 = 1.0;
    fn kernel() -> Gemm<f32> {
        gemm_f32::gemm::f32::get_gemm_fn()
    }
    #[inline(always)]
    fn fused(self, factor: f32, addend: f32, fuses: bool) -> f32 {
        fused::fma(self, factor, addend, fuses)
    }
}

impl GemmElement for f64 {
    const ZERO: f64 = 0.0;
    const ONE: f64 = 1.0;
    fn kernel() -> Gemm<f64> {
        gemm_f64::gemm::f64::get_gemm_fn()
    }
    #[inline(always)]
    fn fused(self, factor: f64, addend: f64, _fuses: bool) -> f64 {
        self.mul_add(factor, addend)
    }
}

/// A matrix in a slice, with the strides of its rows and columns.
#[derive(Clone, Copy)]
pub struct Matrix<'a, T> {
    pub values: &'a [T],
    pub strides: [usize; 2],
}

/// Multiplications that take as long as one element of other loops.
pub(crate) const PER_ELEMENT: usize = 64;

/// The destination of the product, shared by several threads.
struct Target<T>(*mut T);

// SAFETY: in `add_product` the threads write to parts of the target that share no element, and numbers may be written
// by any thread.
unsafe impl<T: Send> Sync for Target<T> {}

impl<T> Target<T> {
    fn start(&self) -> *mut T {
        self.0
    }
}

impl<T> Matrix<'_, T> {
    fn transposed(self) -> Self {
        Matrix { strides: [self.strides[1], self.strides[0]], ..self }
    }

    /// Returns whether all elements of a matrix of these sizes are within the slice.
    fn holds(&self, sizes: [usize; 2]) -> bool {
        let last = |size: usize, stride: usize| size.checked_sub(1)?.checked_mul(stride);
        let end = |[a, b]: [Option<usize>; 2]| a?.checked_add(b?);
        end([last(sizes[0], self.strides[0]), last(sizes[1], self.strides[1])])
            .is_some_and(|end| end < self.values.len())
    }
}

/// `into += alpha · a @ b` for `a` of n × m, `b` of m × p and a row-major `into` of n × p elements.
///
/// # Errors
/// RuntimeError if an operand is smaller than the sizes require, which is a bug of the caller; KeyboardInterrupt.
pub fn add_product<T: GemmElement>(
    into: &mut [T],
    sizes @ [n, _, p]: [usize; 3],
    alpha: T,
    a: Matrix<T>,
    b: Matrix<T>,
) -> Result<()> {
    if n.checked_mul(p) != Some(into.len()) {
        return Err(Error::runtime("a matrix lies outside of its memory"));
    }
    add_product_within(into, p, sizes, alpha, a, b)
}

/// Like [`add_product`], with the same sums on every processor: in order, each step rounded once. Sums of more than [`DEPTH`]
/// steps are divided evenly, and their parts are added one after the other.
///
/// # Errors
/// Those of [`add_product`].
pub(crate) fn add_product_fused<T: GemmElement>(
    into: &mut [T],
    sizes @ [n, m, p]: [usize; 3],
    alpha: T,
    a: Matrix<T>,
    b: Matrix<T>,
) -> Result<()> {
    if p == 1 {
        return in_order(into, [1, m, n], alpha, b.transposed(), a.transposed());
    }
    // The kernels sum the product of a vector in lanes, and start one or two steps from the value that they are added to.
    if n > 1 && m > 2 && fuses() {
        // They sum a small one in lanes as well, if both operands are stored along the steps.
        if a.strides[1] == 1 && b.strides[0] == 1 && b.holds([m, p]) {
            let mut turned = limits::vector(m.saturating_mul(p))?;
            for k in 0..m {
                interrupt::check_at(k)?;
                turned.extend((0..p).map(|j| b.values[k + j * b.strides[1]]));
            }
            return add_product(into, sizes, alpha, a, Matrix { values: &turned, strides: [p, 1] });
        }
        return add_product(into, sizes, alpha, a, b);
    }
    in_order(into, sizes, alpha, a, b)
}

/// The most steps that `gemm` takes at once on every processor. It divides longer sums at a depth that depends on the caches.
const DEPTH: usize = 512;

/// The columns of a product that are summed at a time.
const STRIP: usize = 64;

/// [`add_product_fused`] by a loop of our own.
fn in_order<T: GemmElement>(into: &mut [T], [n, m, p]: [usize; 3], alpha: T, a: Matrix<T>, b: Matrix<T>) -> Result<()> {
    if n.checked_mul(p) != Some(into.len()) || !(into.is_empty() || m == 0 || a.holds([n, m]) && b.holds([m, p])) {
        return Err(Error::runtime("a matrix lies outside of its memory"));
    }
    let work = into.len().saturating_mul(m) / STRIP;
    // Parts of a row.
    let size = if n == 1 { STRIP } else { p.max(1) };
    parts_of(into, size, work, &|first, into| {
        let (row, column) = (first / p.max(1), first % p.max(1));
        for (column, into) in (column..).step_by(STRIP).zip(into.chunks_mut(STRIP)) {
            vectorised_kernel(InOrder { into, row, column, steps: m, alpha, a, b })?;
        }
        Ok(())
    })
}

/// Adds the elements of a row from a column on, at most [`STRIP`] of them.
struct InOrder<'a, T> {
    into: &'a mut [T],
    row: usize,
    column: usize,
    steps: usize,
    alpha: T,
    a: Matrix<'a, T>,
    b: Matrix<'a, T>,
}

impl<T: GemmElement> Kernel for InOrder<'_, T> {
    type Output = Result<()>;

    #[inline(always)]
    fn run(self, fuses: bool) -> Result<()> {
        let InOrder { into, row, column, steps, alpha, a, b } = self;
        let parts = Bands::of(steps, DEPTH);
        for (start, steps) in parts.all() {
            let mut sums = [T::ZERO; STRIP];
            for k in start..start + steps {
                interrupt::check_at(k)?;
                let factor = a.values[row * a.strides[0] + k * a.strides[1]];
                let others = &b.values[k * b.strides[0] + column * b.strides[1]..];
                // Plain loops: what iterators take as closures may be compiled for another processor.
                match others.first_chunk::<STRIP>() {
                    Some(others) if b.strides[1] == 1 && into.len() == STRIP => {
                        for j in 0..STRIP {
                            sums[j] = factor.fused(others[j], sums[j], fuses);
                        }
                    }
                    _ => {
                        for j in 0..into.len() {
                            sums[j] = factor.fused(others[j * b.strides[1]], sums[j], fuses);
                        }
                    }
                }
            }
            for j in 0..into.len() {
                into[j] = alpha.fused(sums[j], into[j], fuses);
            }
        }
        Ok(())
    }
}

/// Like [`add_product`], for a part of a larger matrix, whose rows are `stride` elements apart.
///
/// # Errors
/// Those of [`add_product`].
pub(crate) fn add_product_within<T: GemmElement>(
    into: &mut [T],
    stride: usize,
    [n, m, p]: [usize; 3],
    alpha: T,
    a: Matrix<T>,
    b: Matrix<T>,
) -> Result<()> {
    if n == 0 || m == 0 || p == 0 {
        return Ok(());
    }
    let whole = Matrix { values: &*into, strides: [stride, 1] };
    if !a.holds([n, m]) || !b.holds([m, p]) || stride < p || !whole.holds([n, p]) {
        return Err(Error::runtime("a matrix lies outside of its memory"));
    }
    let [a_row, a_column] = a.strides.map(|s| s as isize);
    let [b_row, b_column] = b.strides.map(|s| s as isize);
    // If threads are worthwhile, each core computes a band of rows or columns. A very large product is computed in
    // square tiles.
    let products = n.saturating_mul(p).saturating_mul(m);
    let work = products / PER_ELEMENT;
    let side = if products <= PRODUCTS { n.max(p) } else { (PRODUCTS / m).isqrt().max(64) };
    let bands = if work < 2 * THREAD { 1 } else { cores() };
    let (rows, columns) = if n >= p { (n.div_ceil(bands), p) } else { (n, p.div_ceil(bands)) };
    let [down, across] = [Bands::of(n, rows.min(side)), Bands::of(p, columns.min(side))];
    let parts = Bands::of(m, DEPTH);
    let target = Target(into.as_mut_ptr());
    tasks(down.count * across.count, work, &|part| {
        let (i, rows) = down.band(part / across.count);
        let (j, columns) = across.band(part % across.count);
        for (k, steps) in parts.all() {
            // SAFETY: the three matrices lie within their slices, as checked above, and so do `rows` rows and `columns`
            // columns from `i` and `j` on, and `steps` steps from `k` on. `into` is borrowed exclusively, its rows are at
            // least as far apart as they are long, and no two parts share an element of it, so nothing that is read or
            // written by one is written by another; strides fit `isize` since they lie within slices.
            unsafe {
                let into = target.start().add(i * stride + j);
                let a = a.values.as_ptr().add(i * a.strides[0] + k * a.strides[1]);
                let b = b.values.as_ptr().add(k * b.strides[0] + j * b.strides[1]);
                let (gemm, one, down, no, alone) = (T::kernel(), T::ONE, stride as isize, false, Parallelism::None);
                // The kernels prefer a result that is contiguous along its columns. A row-major one is the transpose of
                // such a result: the product of the transposed operands.
                if p > 1 {
                    gemm(
                        columns, rows, steps, into, down, 1, true, b, b_row, b_column, a, a_row, a_column, one, alpha,
                        no, no, no, alone,
                    );
                } else {
                    gemm(
                        rows, columns, steps, into, 1, down, true, a, a_column, a_row, b, b_column, b_row, one, alpha,
                        no, no, no, alone,
                    );
                }
            }
        }
        Ok(())
    })
}

/// Rows, columns or steps, divided evenly. None is left alone: the kernels sum a single one in another order.
#[derive(Clone, Copy)]
struct Bands {
    size: usize,
    count: usize,
}

impl Bands {
    /// Divides `size` rows into bands of `most`, or of two and three if `most` is one.
    fn of(size: usize, most: usize) -> Bands {
        Bands { size, count: size.div_ceil(most.max(1)).min(size / 2).max(1) }
    }

    /// Returns where each band starts, and its size.
    fn all(self) -> impl Iterator<Item = (usize, usize)> {
        (0..self.count).map(move |index| self.band(index))
    }

    fn band(self, index: usize) -> (usize, usize) {
        let (each, longer) = (self.size / self.count, self.size % self.count);
        (index * each + index.min(longer), each + usize::from(index < longer))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parallel::set_width;

    #[test]
    fn strides_are_honoured_and_checked() {
        let a = Matrix { values: &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], strides: [3, 1] };
        let transposed = Matrix { strides: [1, 3], ..a };
        let mut into = [1.0; 4];
        assert_eq!(add_product(&mut into, [2, 3, 2], 2.0, a, transposed), Ok(()));
        assert_eq!(into, [29.0, 65.0, 65.0, 155.0]);
        // The first two columns of a wider matrix.
        let mut wide = [1.0; 5];
        assert_eq!(add_product_within(&mut wide, 3, [2, 3, 2], 2.0, a, transposed), Ok(()));
        assert_eq!(wide, [29.0, 65.0, 1.0, 65.0, 155.0]);
        assert!(add_product_within(&mut wide, 4, [2, 3, 2], 2.0, a, transposed).is_err());
        assert!(add_product_within(&mut wide, 1, [2, 3, 2], 2.0, a, transposed).is_err());
        assert!(add_product(&mut into, [2, 4, 2], 1.0, a, transposed).is_err());
        assert!(add_product(&mut into[..3], [2, 3, 2], 1.0, a, transposed).is_err());
    }

    /// The kernels that fuse, our loop with such an instruction, and without, beside the plainest loop.
    #[test]
    fn a_fused_product_is_summed_in_order() {
        fn compare<T: GemmElement + PartialEq + std::fmt::Debug>(value: impl Fn(usize) -> T) {
            let values: Vec<T> = (0..620_000).map(value).collect();
            let check = |sizes @ [n, m, p]: [usize; 3], [along_a, along_b]: [bool; 2]| {
                let strides = |rows: usize, columns: usize, along| if along { [1, rows] } else { [columns, 1] };
                let a = Matrix { values: &values[7..], strides: strides(n, m, along_a) };
                let b = Matrix { values: &values, strides: strides(m, p, along_b) };
                // The fewest parts of at most 512 steps, as even as can be, the longer ones first.
                let parts = m.div_ceil(512).max(1);
                let start = |part: usize| part * (m / parts) + part.min(m % parts);
                let expected: Vec<T> = (0..n * p)
                    .map(|at| {
                        let of_a = |k| a.values[at / p * a.strides[0] + k * a.strides[1]];
                        let of_b = |k| b.values[k * b.strides[0] + at % p * b.strides[1]];
                        (0..parts).fold(values[at], |total, part| {
                            let sum = (start(part)..start(part + 1))
                                .fold(T::ZERO, |sum, k| of_a(k).fused(of_b(k), sum, true));
                            values[1].fused(sum, total, true)
                        })
                    })
                    .collect();
                for width in [0, 256, 128] {
                    set_width(width);
                    let mut into = values[..n * p].to_vec();
                    assert_eq!(add_product_fused(&mut into, sizes, values[1], a, b), Ok(()));
                    assert_eq!(into, expected, "{sizes:?}, turned: {along_a} {along_b}, width {width}");
                }
                set_width(0);
            };
            for sizes in [
                [1, 1, 1],
                [3, 7, 5],
                [2, 100, 1],
                [70, 20, 1],
                [1, 200, 130],
                [40, 144, 66],
                [9, 33, 200],
                [0, 3, 4],
                [4, 0, 3],
                // One strip, one column less and one more; few steps.
                [2, 1, 63],
                [3, 2, 64],
                [2, 3, 65],
                // Around the depth, and beyond the caches of small processors.
                [7, 511, 3],
                [16, 512, 16],
                [16, 513, 17],
                [65, 1025, 66],
                [2, 3000, 2],
                [20, 3000, 14],
                [1, 4097, 3],
            ] {
                for turned in [[false, false], [false, true], [true, false], [true, true]] {
                    check(sizes, turned);
                }
            }
            // Enough work for several threads, and one row too many.
            check([33, 2 * THREAD / 16 + 1, 33], [false, true]);
            // Parts of 512 steps would leave one.
            check([2, 600 * DEPTH + 1, 2], [false, false]);
            let few = Matrix { values: &values[..5], strides: [3, 1] };
            assert!(in_order(&mut [T::ZERO; 4], [2, 3, 2], T::ONE, few, few).is_err());
        }
        let value = |k: usize| ((k as f64) * 0.618_034).fract() - 0.3;
        compare(value);
        compare(|k| value(k) as f32);
    }

    #[test]
    fn bands_are_even_and_none_is_alone() {
        for size in 1..40 {
            for most in 0..=size + 1 {
                let bands = Bands::of(size, most);
                let mut next = 0;
                for (start, length) in bands.all() {
                    assert_eq!(start, next);
                    assert!(length >= size.min(2) && length <= most.max(3), "{size} by {most}");
                    next += length;
                }
                assert_eq!(next, size);
            }
        }
    }

    #[test]
    fn a_large_product_is_made_in_squares() {
        // One column and one row more than a tile has.
        let (m, side) = (1 << 19, 64);
        let ones = vec![1.0f32; m];
        let (a, b) = (Matrix { values: &ones, strides: [0, 1] }, Matrix { values: &ones, strides: [1, 0] });
        let mut into = vec![0.0; (side + 1) * (side + 1)];
        assert_eq!(add_product(&mut into, [side + 1, m, side + 1], 1.0, a, b), Ok(()));
        assert!(into.iter().all(|&sum| sum == m as f32));
    }
}
