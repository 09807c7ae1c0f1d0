//! The exponential of one matrix.

use super::field::Field;
use super::matrix::Matrix;
use crate::ops::number::Real;
use crate::tensor::Result;

/// A Taylor series of the matrix halved until it is small, squared as often.
pub fn exponential<T: Field>(mut a: Matrix<T>) -> Result<Matrix<T>> {
    let n = a.rows;
    let column = |j: usize| (0..n).fold(0.0, |sum: f64, i| sum + a[(i, j)].magnitude().as_f64());
    let norm = (0..n).map(column).fold(0.0, f64::max);
    let halvings = if norm.is_finite() && norm > 0.5 { (norm / 0.5).log2().ceil() as i32 } else { 0 };
    let factor = <T::Real as Real>::from_f64(0.5f64.powi(halvings));
    for j in 0..n {
        for i in 0..n {
            a[(i, j)] = a[(i, j)].scale(factor);
        }
    }
    let (mut sum, mut term) = (Matrix::identity(n, n)?, Matrix::identity(n, n)?);
    for k in 1..=18 {
        term = term.times(&a)?;
        let divisor = <T::Real as Real>::from_f64(1.0 / f64::from(k));
        for j in 0..n {
            for i in 0..n {
                term[(i, j)] = term[(i, j)].scale(divisor);
                sum[(i, j)] = sum[(i, j)] + term[(i, j)];
            }
        }
    }
    for _ in 0..halvings {
        sum = sum.times(&sum)?;
    }
    Ok(sum)
}
