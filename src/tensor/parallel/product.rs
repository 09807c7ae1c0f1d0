//! Work for all cores: products of matrices, by the `gemm` crate, whose interface is pointers. This file gives it safe
//! hands: slices, and strides that are checked to stay within them.

use crate::tensor::error::{Error, Result};
use crate::tensor::interrupt;

/// Types that matrix products are computed in by vectors of the processor.
pub trait Multiplied: Copy + Sync + Send + 'static {
    const ONE: Self;
}

macro_rules! multiplied {
    ($($t:ty: $one:expr;)*) => {$(
        impl Multiplied for $t {
            const ONE: $t = $one;
        }
    )*};
}
multiplied! {
    f32: 1.0;
    f64: 1.0;
}

/// A matrix in a slice: how far apart its rows and its columns are.
#[derive(Clone, Copy)]
pub struct Matrix<'a, T> {
    pub values: &'a [T],
    pub strides: [usize; 2],
}

/// Products that one call of `gemm`, which cannot be stopped, may add up: some tens of milliseconds' worth.
const CALL: usize = 1 << 31;

impl<T> Matrix<'_, T> {
    /// Does every element of a matrix of these sizes lie within the slice?
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
/// RuntimeError when an operand is smaller than the sizes say, which is a mistake of the caller; KeyboardInterrupt.
pub fn add_product<T: Multiplied>(
    into: &mut [T],
    [n, m, p]: [usize; 3],
    alpha: T,
    a: Matrix<T>,
    b: Matrix<T>,
) -> Result<()> {
    if n == 0 || m == 0 || p == 0 {
        return Ok(());
    }
    if !a.holds([n, m]) || !b.holds([m, p]) || n.checked_mul(p) != Some(into.len()) {
        return Err(Error::runtime("a matrix lies outside of its memory"));
    }
    let [a_row, a_column] = a.strides.map(|s| s as isize);
    let [b_row, b_column] = b.strides.map(|s| s as isize);
    // A large product is made square by square.
    let whole = n.saturating_mul(p).saturating_mul(m) <= CALL;
    let side = if whole { n.max(p) } else { (CALL / m).isqrt().max(64) };
    for i in (0..n).step_by(side) {
        for j in (0..p).step_by(side) {
            interrupt::check()?;
            let (rows, columns) = (side.min(n - i), side.min(p - j));
            // SAFETY: the three matrices lie within their slices, as checked above, and so do `rows` rows and `columns`
            // columns from `i` and `j` on; `into` is borrowed exclusively, so nothing that is read is written; strides
            // fit `isize` since they lie within slices. `Multiplied` has only the types that `gemm` has kernels for.
            unsafe {
                gemm::gemm(
                    rows,
                    columns,
                    m,
                    into.as_mut_ptr().add(i * p + j),
                    1,
                    p as isize,
                    true,
                    a.values.as_ptr().offset(i as isize * a_row),
                    a_column,
                    a_row,
                    b.values.as_ptr().offset(j as isize * b_column),
                    b_column,
                    b_row,
                    T::ONE,
                    alpha,
                    false,
                    false,
                    false,
                    gemm::Parallelism::Rayon(0),
                );
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strides_are_honoured_and_checked() {
        let a = Matrix { values: &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], strides: [3, 1] };
        let transposed = Matrix { strides: [1, 3], ..a };
        let mut into = [1.0; 4];
        assert_eq!(add_product(&mut into, [2, 3, 2], 2.0, a, transposed), Ok(()));
        assert_eq!(into, [29.0, 65.0, 65.0, 155.0]);
        assert!(add_product(&mut into, [2, 4, 2], 1.0, a, transposed).is_err());
        assert!(add_product(&mut into[..3], [2, 3, 2], 1.0, a, transposed).is_err());
    }

    #[test]
    fn a_large_product_is_made_in_squares() {
        // One column and one row more than a square has.
        let (m, side) = (1 << 19, 64);
        let ones = vec![1.0f32; m];
        let (a, b) = (Matrix { values: &ones, strides: [0, 1] }, Matrix { values: &ones, strides: [1, 0] });
        let mut into = vec![0.0; (side + 1) * (side + 1)];
        assert_eq!(add_product(&mut into, [side + 1, m, side + 1], 1.0, a, b), Ok(()));
        assert!(into.iter().all(|&sum| sum == m as f32));
    }
}
