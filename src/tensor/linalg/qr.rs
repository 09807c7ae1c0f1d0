//! Householder reflectors with LAPACK's choice of signs, and QR factorizations with them. Follows LAPACK's larfg, larf,
//! geqrf, orgqr and ormqr. All of them stop after Ctrl-C.

use super::field::Field;
use super::matrix::Matrix;
use crate::{Result, interrupt};
use num_traits::{Float, One, Zero};

/// A reflector that maps a vector to a multiple of the first unit vector, chosen like in `larfg`.
pub(super) struct Reflection<T: Field> {
    /// The new first element; real.
    pub beta: T::Real,
    pub tau: T,
    divisor: T,
    /// A power of two that a tiny vector is multiplied by first: its squares would underflow, and denormal numbers lose
    /// digits.
    raise: T::Real,
}

impl<T: Field> Reflection<T> {
    /// Converts an element of the rest of the vector to the reflector's own: divides in single precision and multiplies
    /// by the inverse in double precision, like the library.
    pub(super) fn own(&self, value: T) -> T {
        let value = value.scale(self.raise);
        if size_of::<T::Real>() == 4 { value / self.divisor } else { value * (T::one() / self.divisor) }
    }
}

/// Computes the reflector for a vector with this first element and rest.
pub(crate) fn reflection<T: Field>(alpha: T, rest: impl Iterator<Item = T> + Clone) -> Reflection<T> {
    let one = T::Real::one();
    let (mut alpha, mut raise, mut norm) = (alpha, one, length_of(rest.clone()));
    let (length, root) = (span([alpha.re(), alpha.im(), norm]), T::Real::min_positive_value().sqrt());
    // Once for tiny vectors, twice for vectors that may be denormal.
    for _ in 0..2 {
        if length * raise < root.sqrt() {
            raise = raise / root;
        }
    }
    if raise != one {
        alpha = alpha.scale(raise);
        norm = length_of(rest.map(|value| value.scale(raise)));
    }
    if norm == T::Real::zero() && alpha.im() == T::Real::zero() {
        return Reflection { beta: alpha.re() / raise, tau: T::zero(), divisor: T::one(), raise: one };
    }
    let length = span([alpha.re(), alpha.im(), norm]);
    let beta = if alpha.re() >= T::Real::zero() { -length } else { length };
    let tau = T::new((beta - alpha.re()) / beta, -alpha.im() / beta);
    Reflection { beta: beta / raise, tau, divisor: alpha - T::of(beta), raise }
}

/// Returns the norm of a vector.
fn length_of<T: Field>(values: impl Iterator<Item = T>) -> T::Real {
    length(values.flat_map(|value| [value.re(), value.im()]))
}

/// Returns the norm of three numbers, rounded like in LAPACK's `lapy2` and `lapy3`.
fn span<R: Float>(parts: [R; 3]) -> R {
    let parts = parts.map(R::abs);
    let largest = parts.into_iter().fold(R::zero(), R::max);
    let square = |part: R| (part / largest) * (part / largest);
    let [a, b, c] = parts;
    if b.is_zero() {
        let other = a.min(c);
        return if other.is_zero() { largest } else { largest * (R::one() + square(other)).sqrt() };
    }
    largest * (square(a) + square(b) + square(c)).sqrt()
}

/// Returns the root of the sum of squares, safe from overflow.
fn length<R: Float>(parts: impl Iterator<Item = R>) -> R {
    let (mut largest, mut sum) = (R::zero(), R::one());
    for part in parts.map(|part| part.abs()) {
        if largest < part {
            let ratio = largest / part;
            sum = R::one() + sum * (ratio * ratio);
            largest = part;
        } else if part != R::zero() {
            let ratio = part / largest;
            sum = sum + ratio * ratio;
        }
    }
    largest * sum.sqrt()
}

/// The number of columns whose products are summed side by side, so that sums do not wait for each other.
const TOGETHER: usize = 4;

/// `(1 - tau v vᴴ) C` for the part of C from `row` and `column` on; `v[0]` counts as one.
pub(crate) fn reflect_left<T: Field>(c: &mut Matrix<T>, row: usize, column: usize, v: &[T], tau: T) {
    let (rows, end) = (c.rows, row + v.len());
    if tau.is_zero() || v.is_empty() || end > rows {
        return;
    }
    for columns in c.columns_from(column).chunks_mut(TOGETHER * rows) {
        if interrupt::requested() {
            return;
        }
        let part = |k: usize| &columns[k * rows + row..k * rows + end];
        let mut products = [T::zero(); TOGETHER];
        if columns.len() == TOGETHER * rows {
            let parts: [&[T]; TOGETHER] = std::array::from_fn(part);
            products = parts.map(|part| part[0]);
            for (i, value) in v.iter().enumerate().skip(1) {
                for (product, part) in products.iter_mut().zip(parts) {
                    *product = *product + value.conj() * part[i];
                }
            }
        } else {
            for (k, product) in products.iter_mut().enumerate().take(columns.len() / rows) {
                let terms = part(k).iter().zip(v).skip(1);
                *product = terms.fold(part(k)[0], |sum, (&x, &value)| sum + value.conj() * x);
            }
        }
        for (column, product) in columns.chunks_exact_mut(rows).zip(products) {
            let product = tau * product;
            let [first, rest @ ..] = &mut column[row..end] else { return };
            *first = *first - product;
            for (x, &value) in rest.iter_mut().zip(&v[1..]) {
                *x = *x - value * product;
            }
        }
    }
}

/// `C (1 - tau v vᴴ)` for the part of C from `row` and `column` on; `v[0]` counts as one.
pub(crate) fn reflect_right<T: Field>(c: &mut Matrix<T>, row: usize, column: usize, v: &[T], tau: T) {
    if tau.is_zero() {
        return;
    }
    for i in row..c.rows {
        if interrupt::requested() {
            return;
        }
        let mut product = c[(i, column)];
        for (k, &value) in v.iter().enumerate().skip(1) {
            product = product + c[(i, column + k)] * value;
        }
        let product = product * tau;
        c[(i, column)] = c[(i, column)] - product;
        for (k, &value) in v.iter().enumerate().skip(1) {
            c[(i, column + k)] = c[(i, column + k)] - product * value.conj();
        }
    }
}

/// Returns the vector of reflector `j`, stored below the diagonal of a factored matrix.
pub(super) fn vector<T: Field>(factored: &Matrix<T>, j: usize) -> Vec<T> {
    let rest = (j + 1..factored.rows).map(|i| factored[(i, j)]);
    [T::one()].into_iter().chain(rest).collect()
}

/// Computes `A = Q R`. Returns R on and above the diagonal with the reflectors below it, and their factors.
pub(super) fn qr<T: Field>(mut a: Matrix<T>) -> (Matrix<T>, Vec<T>) {
    let mut taus = Vec::new();
    for j in 0..a.rows.min(a.columns) {
        if interrupt::requested() {
            break;
        }
        let found = reflection(a[(j, j)], (j + 1..a.rows).map(|i| a[(i, j)]));
        for i in j + 1..a.rows {
            a[(i, j)] = found.own(a[(i, j)]);
        }
        a[(j, j)] = T::of(found.beta);
        let v = vector(&a, j);
        reflect_left(&mut a, j, j + 1, &v, found.tau.conj());
        taus.push(found.tau);
    }
    (a, taus)
}

/// Computes the first columns of Q from the reflectors, like `org2r`: the reflector's own column is its vector times a
/// factor, which determines the signs of zeros.
pub(crate) fn form_q<T: Field>(factored: &Matrix<T>, taus: &[T], columns: usize) -> Result<Matrix<T>> {
    let mut q = Matrix::identity(factored.rows, columns)?;
    for (j, &tau) in taus.iter().enumerate().take(columns).rev() {
        interrupt::check()?;
        let v = vector(factored, j);
        reflect_left(&mut q, j, j + 1, &v, tau);
        for (k, &value) in v.iter().enumerate() {
            q[(j + k, j)] = if k == 0 { T::one() - tau } else { -tau * value };
        }
    }
    Ok(q)
}

/// `Q C`, `Qᴴ C`, `C Q` or `C Qᴴ` in place.
pub(crate) fn apply_q<T: Field>(factored: &Matrix<T>, taus: &[T], c: &mut Matrix<T>, left: bool, adjoint: bool) {
    let mut order: Vec<usize> = (0..taus.len()).collect();
    if left != adjoint {
        order.reverse();
    }
    for j in order {
        let Some(&tau) = taus.get(j) else { continue };
        let (tau, v) = (if adjoint { tau.conj() } else { tau }, vector(factored, j));
        if left {
            reflect_left(c, j, 0, &v, tau);
        } else {
            reflect_right(c, 0, j, &v, tau);
        }
    }
}

/// Returns the elements on and above the diagonal of the first rows.
pub(super) fn upper<T: Field>(factored: &Matrix<T>, rows: usize) -> Result<Matrix<T>> {
    let mut r = Matrix::zeros(rows, factored.columns)?;
    for (i, j) in r.places().filter(|&(i, j)| i <= j && i < factored.rows) {
        r[(i, j)] = factored[(i, j)];
    }
    Ok(r)
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_complex::Complex;

    #[test]
    fn reflections_are_the_same_at_every_size() {
        let parts = |power: i32| {
            let scale = f32::powi(2.0, power);
            let [alpha, first, second] =
                [(1.0, 2.0), (-3.0, 0.5), (0.25, 4.0)].map(|(re, im)| Complex::new(re, im) * scale);
            let found = reflection(alpha, [first, second].into_iter());
            (found.tau, found.own(first), found.own(second), found.beta / scale)
        };
        // Down to vectors that are denormal: until then, powers of two change nothing.
        for power in -122..=60 {
            assert_eq!(parts(power), parts(0), "2^{power}");
        }
        // The remaining bits are multiplied exactly.
        let least = f32::from_bits(1);
        let found = reflection(Complex::new(3.0 * least, 0.0), [Complex::new(0.0, 4.0 * least)].into_iter());
        assert_eq!((found.beta, found.tau), (-5.0 * least, Complex::new(1.6, 0.0)));
    }

    #[test]
    fn columns_together_are_reflected_as_each_alone() {
        let number = |i: usize| ((i * i * 7919 + 31 * i) % 1009) as f32 / 504.0 - 1.0;
        let v: Vec<f32> = (0..6).map(number).collect();
        for columns in 0..=3 * TOGETHER + 1 {
            let mut together = Matrix::<f32>::zeros(7, columns).unwrap();
            for (i, j) in together.places() {
                together[(i, j)] = number(7 * j + i + 50);
            }
            let whole = together.clone();
            let from = columns.min(2);
            reflect_left(&mut together, 1, from, &v, 0.75);
            for j in 0..columns {
                let mut alone = Matrix::<f32>::zeros(7, 1).unwrap();
                alone.column_mut(0).copy_from_slice(whole.clone().column_mut(j));
                reflect_left(&mut alone, 1, if j < from { 1 } else { 0 }, &v, 0.75);
                let bits = |column: &[f32]| column.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
                assert_eq!(bits(alone.column_mut(0)), bits(together.column_mut(j)), "column {j} of {columns}");
            }
        }
    }
}
