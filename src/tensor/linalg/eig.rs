//! Eigenvalues and eigenvectors of general matrices: balanced, reduced to Hessenberg form, and iterated to Schur form.
//! The vectors are computed from the triangle by substitution. Follows LAPACK's geev, including order and signs.

use super::field::Field;
use super::lu::BLOCK;
use super::matrix::Matrix;
use super::qr::{reflect, reflect_left, reflect_right, reflection};
use super::schur::Schur;
use crate::ops::number::Real;
use crate::{Result, interrupt};
use num_complex::Complex;
use num_traits::{Float, One, Zero};
use std::ops::Range;

/// Eigenvalues, and eigenvectors as columns.
pub(super) type Eigen<R> = (Vec<Complex<R>>, Matrix<Complex<R>>);

/// Computes eigenvalues and eigenvectors of a square matrix.
///
/// # Errors
/// RuntimeError if the iteration does not converge.
pub(super) fn eig<T: Schur>(mut a: Matrix<T>) -> Result<Eigen<T::Real>>
where
    Complex<T::Real>: Field<Real = T::Real>,
{
    let n = a.rows;
    let balance = Balance::of(&mut a);
    let mut q = hessenberg(&mut a, balance.active.clone())?;
    let values = T::schur(&mut a, &mut q, balance.active.clone())?;
    let mut vectors: Matrix<Complex<T::Real>> = Matrix::zeros(n, n)?;
    let by_rows = a.transpose()?;
    for k in 0..n {
        interrupt::check()?;
        if is_second::<T>(&a, k) {
            continue;
        }
        let found = vector(&a, &by_rows, &values, k);
        if n > BLOCK {
            vectors.column_mut(k)[..found.len()].copy_from_slice(&found);
            continue;
        }
        for (j, &value) in found.iter().enumerate() {
            for i in 0..n {
                vectors[(i, k)] = vectors[(i, k)] + wide(q[(i, j)]) * value;
            }
        }
    }
    if n > BLOCK {
        let mut wide_q = Matrix::zeros(n, n)?;
        for j in 0..n {
            wide_q.column_mut(j).iter_mut().zip(q.column(j)).for_each(|(to, &value)| *to = wide(value));
        }
        vectors = wide_q.times(&vectors)?;
    }
    balance.undo(&mut vectors);
    for k in 0..n {
        if is_second::<T>(&a, k) {
            for i in 0..n {
                vectors[(i, k)] = vectors[(i, k - 1)].conj();
            }
        } else {
            let real = values.get(k).is_none_or(|value| value.im == T::Real::zero());
            let turn = match (T::IS_COMPLEX, real) {
                (true, _) => PhaseConvention::Positive,
                (false, true) => PhaseConvention::None,
                (false, false) => PhaseConvention::OwnSign,
            };
            normalise(&mut vectors, k, turn);
        }
    }
    Ok((values, vectors))
}

fn wide<T: Field>(value: T) -> Complex<T::Real> {
    Complex::new(value.re(), value.im())
}

/// The balancing of a matrix, which gives its rows and columns similar norms: the range of the balanced rows, and how
/// rows were exchanged and scaled. Follows `gebal`.
struct Balance<R> {
    active: Range<usize>,
    /// The exchanges, in order.
    exchanges: Vec<[usize; 2]>,
    scales: Vec<R>,
}

impl<R: Field<Real = R> + Real + Float> Balance<R> {
    fn of<T: Field<Real = R>>(a: &mut Matrix<T>) -> Balance<R> {
        let n = a.rows;
        let (mut low, mut high) = (0, n);
        let mut exchanges = Vec::new();
        let mut exchange = |a: &mut Matrix<T>, i: usize, j: usize| {
            a.swap_columns(i, j);
            a.swap_rows(i, j);
            exchanges.push([i, j]);
        };
        // A row with zeros beside its diagonal isolates an eigenvalue and moves to the end; such a column moves to the
        // front.
        while let Some(i) = (0..high).rev().find(|&i| (0..high).all(|j| i == j || a[(i, j)].is_zero())) {
            exchange(a, i, high - 1);
            high -= 1;
        }
        while let Some(j) = (low..high).find(|&j| (low..high).all(|i| i == j || a[(i, j)].is_zero())) {
            exchange(a, j, low);
            low += 1;
        }
        let mut balance = Balance { active: low..high, exchanges, scales: vec![<R as One>::one(); n] };
        while balance.scale(a) {}
        balance
    }

    /// Scales by powers of two where that makes the norms of a row and its column more similar. Returns whether
    /// anything was scaled.
    fn scale<T: Field<Real = R>>(&mut self, a: &mut Matrix<T>) -> bool {
        let (one, n) = (<R as One>::one(), a.rows);
        let two = one + one;
        let nearly = <R as Real>::from_f64(0.95);
        let (largest, least) = (<R as Float>::max_value() / two, <R as Float>::min_positive_value() * two);
        let mut scaled = false;
        let length =
            |parts: &mut dyn Iterator<Item = R>| Float::sqrt(parts.fold(<R as Zero>::zero(), |s, x| s + x * x));
        for i in self.active.clone() {
            let mut column = length(&mut self.active.clone().map(|k| a[(k, i)].magnitude()));
            let mut row = length(&mut self.active.clone().map(|k| a[(i, k)].magnitude()));
            if column.is_zero() || row.is_zero() || !Float::is_finite(column + row) {
                continue;
            }
            let (before, mut factor) = (column + row, one);
            while column < row / two && Float::max(factor, column) < largest / two && row > least {
                (factor, column, row) = (factor * two, column * two, row / two);
            }
            while column / two >= row && Float::max(row, column) < largest / two && factor > least {
                (factor, column, row) = (factor / two, column / two, row * two);
            }
            if column + row >= nearly * before {
                continue;
            }
            scaled = true;
            self.scales[i] = self.scales[i] * factor;
            for j in self.active.start..n {
                a[(i, j)] = a[(i, j)].scale(one / factor);
            }
            for j in 0..self.active.end {
                a[(j, i)] = a[(j, i)].scale(factor);
            }
        }
        scaled
    }

    /// Transforms eigenvectors of the balanced matrix to those of the original.
    fn undo<T: Field<Real = R>>(&self, vectors: &mut Matrix<T>) {
        for (i, &scale) in self.scales.iter().enumerate() {
            for j in 0..vectors.columns {
                vectors[(i, j)] = vectors[(i, j)].scale(scale);
            }
        }
        for &[i, j] in self.exchanges.iter().rev() {
            vectors.swap_rows(i, j);
        }
    }
}

/// Reduces to Hessenberg form and returns the transformation. Follows `gehrd` and `orghr`.
fn hessenberg<T: Field>(a: &mut Matrix<T>, active: Range<usize>) -> Result<Matrix<T>> {
    let n = a.rows;
    let mut q = Matrix::identity(n, n)?;
    let mut reflections = Vec::new();
    for k in active.start..active.end.saturating_sub(2) {
        interrupt::check()?;
        let first = k + 1;
        let found = reflection(a[(first, k)], (first + 1..active.end).map(|i| a[(i, k)]));
        let v: Vec<T> =
            std::iter::once(T::one()).chain((first + 1..active.end).map(|i| found.own(a[(i, k)]))).collect();
        a[(first, k)] = T::of(found.beta);
        for i in first + 1..active.end {
            a[(i, k)] = T::zero();
        }
        reflect_right(a, 0, first, &v, found.tau);
        reflect_left(a, first, first, &v, found.tau.conj());
        reflections.push((first, v, found.tau));
    }
    if reflections.len() > BLOCK {
        reflect(&mut q, &reflections, true, false)?;
        return Ok(q);
    }
    for (first, v, tau) in reflections.iter().rev() {
        interrupt::check()?;
        reflect_left(&mut q, *first, *first, v, *tau);
    }
    Ok(q)
}

/// Returns whether row `k` is the second of a two-by-two block of a (quasi-)triangular matrix.
fn is_second<T: Field>(t: &Matrix<T>, k: usize) -> bool {
    k > 0 && !t[(k, k - 1)].is_zero()
}

/// Computes the eigenvector of a (quasi-)triangular matrix, also given by rows, for its `k`th eigenvalue, which must not be the second of a
/// pair. Follows `trevc`.
fn vector<T: Field>(t: &Matrix<T>, by_rows: &Matrix<T>, values: &[Complex<T::Real>], k: usize) -> Vec<Complex<T::Real>>
where
    Complex<T::Real>: Field<Real = T::Real>,
{
    let zero = T::Real::zero();
    let paired = |j: usize| j + 1 < t.rows && !t[(j + 1, j)].is_zero();
    let last = if paired(k) { k + 1 } else { k };
    let value = values.get(k).copied().unwrap_or_default();
    let mut x = vec![Complex::new(zero, zero); last + 1];
    let top = k;
    if top < last {
        let (beside, below) = (t[(top, last)].re(), t[(last, top)].re());
        if Float::abs(beside) >= Float::abs(below) {
            x[top] = Complex::one();
            x[last] = Complex::new(zero, value.im / beside);
        } else {
            x[top] = Complex::new(-value.im / below, zero);
            x[last] = Complex::new(zero, T::Real::one());
        }
    } else {
        x[last] = Complex::one();
    }
    let epsilon = <T::Real as Float>::epsilon();
    let least = Float::max(epsilon * value.size(), <T::Real as Float>::min_positive_value() / epsilon);
    let apart = |j: usize| {
        let difference = wide(t[(j, j)]) - value;
        if difference.size() < least { Complex::new(least, zero) } else { difference }
    };
    let rest = |x: &[Complex<T::Real>], row: usize, from: usize| {
        let terms = x[from..].iter().zip(&by_rows.column(row)[from..]);
        terms.fold(Complex::zero(), |sum: Complex<T::Real>, (&x, &value)| sum - wide(value) * x)
    };
    let mut j = top;
    while j > 0 {
        j -= 1;
        if j > 0 && paired(j - 1) {
            let (first, second) = (rest(&x, j - 1, j + 1), rest(&x, j, j + 1));
            let (a, b, c, d) = (apart(j - 1), wide(t[(j - 1, j)]), wide(t[(j, j - 1)]), apart(j));
            let determinant = a * d - b * c;
            x[j - 1] = (d * first - b * second) / determinant;
            x[j] = (a * second - c * first) / determinant;
            j -= 1;
        } else {
            x[j] = rest(&x, j, j + 1) / apart(j);
        }
    }
    x
}

/// How a vector is rotated with respect to its largest element.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PhaseConvention {
    None,
    /// The element becomes real and positive.
    Positive,
    /// The element becomes real and keeps the sign of its real part: in single precision always, like the newer
    /// `lartg`; in double precision only if the real part was the larger one, like the older `lartg`.
    OwnSign,
}

/// Normalises a column to length one.
fn normalise<R: Field<Real = R> + Float>(vectors: &mut Matrix<Complex<R>>, k: usize, turn: PhaseConvention)
where
    Complex<R>: Field<Real = R>,
{
    let n = vectors.rows;
    let length = (0..n).fold(<R as Zero>::zero(), |length, i| Float::hypot(length, vectors[(i, k)].magnitude()));
    let inverse = <R as One>::one() / length;
    for i in 0..n {
        vectors[(i, k)] = vectors[(i, k)].scale(inverse);
    }
    if turn == PhaseConvention::None {
        return;
    }
    let mut largest = 0;
    for i in 1..n {
        if vectors[(i, k)].norm_sqr() > vectors[(largest, k)].norm_sqr() {
            largest = i;
        }
    }
    let element = vectors[(largest, k)];
    let keeps = turn == PhaseConvention::OwnSign && (size_of::<R>() == 4 || -element.re > Float::abs(element.im));
    let negative = keeps && element.re < <R as Zero>::zero();
    let size = if negative { -element.magnitude() } else { element.magnitude() };
    let turned = element.conj().scale(<R as One>::one() / size);
    for i in 0..n {
        vectors[(i, k)] = vectors[(i, k)] * turned;
    }
    vectors[(largest, k)].im = <R as Zero>::zero();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<T: Schur>(n: usize)
    where
        Complex<T::Real>: Field<Real = T::Real>,
    {
        let number = |i: usize| <T::Real as Real>::from_f64(((i * i * 7919 + 31 * i) % 1009) as f64 / 504.0 - 1.0);
        let mut a = Matrix::<T>::zeros(n, n).unwrap();
        for (i, j) in a.places() {
            a[(i, j)] = T::new(number(1013 * i + 7 * j), number(i + 331 * j + 90_000));
        }
        let (values, vectors) = eig(a.clone()).unwrap();
        let bound = <T::Real as Real>::from_f64(1e-10);
        for (i, k) in a.places() {
            let sum = (0..n).fold(Complex::zero(), |sum: Complex<T::Real>, j| sum + wide(a[(i, j)]) * vectors[(j, k)]);
            assert!((sum - values[k] * vectors[(i, k)]).magnitude() < bound, "{n} rows: {i}, {k}");
        }
    }

    #[test]
    fn vectors_are_scaled_by_their_values() {
        // Around a block of rows, from which on products of matrices are used.
        for n in [1, 2, 3, 9, BLOCK - 1, BLOCK, BLOCK + 1, BLOCK + 4, BLOCK + 30] {
            check::<f64>(n);
            check::<Complex<f64>>(n);
        }
    }
}
