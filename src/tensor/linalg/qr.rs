//! Householder reflectors with LAPACK's choice of signs, and QR factorizations with them. Follows LAPACK's larfg, larf,
//! geqrf, orgqr and ormqr. All of them stop after Ctrl-C.

use super::field::Field;
use super::lu::BLOCK;
use super::matrix::Matrix;
use crate::parallel::vectorised;
use crate::{Result, interrupt};
use num_traits::{Float, One, Zero};
use std::ops::Range;

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
            let terms = rest.iter_mut().zip(&v[1..]);
            vectorised(|| terms.for_each(|(x, &value)| *x = *x - value * product));
        }
    }
}

/// `C (1 - tau v vᴴ)` for the part of C from `row` and `column` on; `v[0]` counts as one. The sums of all rows at once,
/// column by column.
pub(crate) fn reflect_right<T: Field>(c: &mut Matrix<T>, row: usize, column: usize, v: &[T], tau: T) {
    if tau.is_zero() || v.is_empty() || row >= c.rows || interrupt::requested() {
        return;
    }
    let mut products = c.column(column)[row..].to_vec();
    for (k, &value) in v.iter().enumerate().skip(1) {
        let terms = products.iter_mut().zip(&c.column(column + k)[row..]);
        vectorised(|| terms.for_each(|(sum, &x)| *sum = *sum + x * value));
    }
    products.iter_mut().for_each(|product| *product = *product * tau);
    for (k, &value) in v.iter().enumerate() {
        let terms = c.column_mut(column + k)[row..].iter_mut().zip(&products);
        let by = if k == 0 { T::one() } else { value.conj() };
        vectorised(|| terms.for_each(|(x, &product)| *x = *x - product * by));
    }
}

/// Returns the vector of reflector `j`, stored below the diagonal of a factored matrix.
pub(super) fn vector<T: Field>(factored: &Matrix<T>, j: usize) -> Vec<T> {
    let rest = (j + 1..factored.rows).map(|i| factored[(i, j)]);
    [T::one()].into_iter().chain(rest).collect()
}

/// A reflector: its first row, its vector from that row on, whose first element counts as one, and its factor.
pub(super) type Reflector<T> = (usize, Vec<T>, T);

/// The number of reflectors that are applied at once to a large matrix.
const REFLECTORS: usize = 32;

/// The product of some reflectors, `1 - V T Vᴴ`, as LAPACK's larft computes it.
struct BlockReflector<T> {
    row: usize,
    v: Matrix<T>,
    adjoint: Matrix<T>,
    t: Matrix<T>,
}

impl<T: Field> BlockReflector<T> {
    /// Multiplies reflectors in ascending order of their first rows.
    fn of(reflectors: &[Reflector<T>]) -> Result<BlockReflector<T>> {
        let row = reflectors.first().map_or(0, |first| first.0);
        let (rows, count) = (reflectors.first().map_or(0, |first| first.1.len()), reflectors.len());
        let mut v = Matrix::zeros(rows, count)?;
        for (j, (start, vector, _)) in reflectors.iter().enumerate() {
            let own = &mut v.column_mut(j)[start - row..];
            own.copy_from_slice(vector);
            own[0] = T::one();
        }
        let adjoint = v.adjoint()?;
        let mut products = Matrix::zeros(count, count)?;
        products.add_product([0, 0], T::one(), &adjoint, &v)?;
        let mut t = Matrix::zeros(count, count)?;
        for (j, &(_, _, tau)) in reflectors.iter().enumerate() {
            for i in 0..j {
                t[(i, j)] = (i..j).fold(T::zero(), |sum, k| sum - t[(i, k)] * products[(k, j)]) * tau;
            }
            t[(j, j)] = tau;
        }
        Ok(BlockReflector { row, v, adjoint, t })
    }

    /// Multiplies the columns of `c` from `column` on from the left.
    fn left(&self, c: &mut Matrix<T>, column: usize, adjoint: bool) -> Result<()> {
        let part = c.copied(self.row..self.row + self.v.rows, column..c.columns)?;
        let mut products = Matrix::zeros(self.v.columns, part.columns)?;
        products.add_product([0, 0], T::one(), &self.adjoint, &part)?;
        let t = if adjoint { &self.t.adjoint()? } else { &self.t };
        c.add_product([self.row, column], -T::one(), &self.v, &t.times(&products)?)
    }

    /// Multiplies all rows of `c` from the right.
    fn right(&self, c: &mut Matrix<T>, adjoint: bool) -> Result<()> {
        let part = c.copied(0..c.rows, self.row..self.row + self.v.rows)?;
        let mut products = Matrix::zeros(part.rows, self.v.columns)?;
        products.add_product([0, 0], T::one(), &part, &self.v)?;
        let t = if adjoint { &self.t.adjoint()? } else { &self.t };
        c.add_product([0, self.row], -T::one(), &products.times(t)?, &self.adjoint)
    }
}

/// Multiplies `c` by the product of reflectors, or by its adjoint, from the left or the right. Few are applied one by
/// one, like in LAPACK.
pub(super) fn reflect<T: Field>(
    c: &mut Matrix<T>,
    reflectors: &[Reflector<T>],
    left: bool,
    adjoint: bool,
) -> Result<()> {
    let blocks = reflectors.len() > BLOCK && c.rows.min(c.columns) > 1;
    let groups = reflectors.chunks(if blocks { REFLECTORS } else { 1 });
    let mut groups: Vec<&[Reflector<T>]> = groups.collect();
    if left != adjoint {
        groups.reverse();
    }
    for group in groups {
        interrupt::check()?;
        match group {
            [(row, v, tau)] => {
                let tau = if adjoint { tau.conj() } else { *tau };
                if left { reflect_left(c, *row, 0, v, tau) } else { reflect_right(c, 0, *row, v, tau) }
            }
            _ if left => BlockReflector::of(group)?.left(c, 0, adjoint)?,
            _ => BlockReflector::of(group)?.right(c, adjoint)?,
        }
    }
    Ok(())
}

/// Returns some reflectors of a factored matrix.
fn stored<T: Field>(factored: &Matrix<T>, taus: &[T], range: Range<usize>) -> Vec<Reflector<T>> {
    range.map(|j| (j, vector(factored, j), taus[j])).collect()
}

/// Computes `A = Q R`. Returns R on and above the diagonal with the reflectors below it, and their factors.
pub(super) fn qr<T: Field>(mut a: Matrix<T>) -> Result<(Matrix<T>, Vec<T>)> {
    let steps = a.rows.min(a.columns);
    let mut taus = Vec::new();
    if steps <= BLOCK {
        factor(&mut a, &mut taus)?;
        return Ok((a, taus));
    }
    for start in (0..steps).step_by(REFLECTORS) {
        let end = steps.min(start + REFLECTORS);
        let mut panel = a.copied(start..a.rows, start..end)?;
        factor(&mut panel, &mut taus)?;
        a.put(start, start, &panel);
        if end < a.columns {
            BlockReflector::of(&stored(&a, &taus, start..end))?.left(&mut a, end, true)?;
        }
    }
    Ok((a, taus))
}

/// Factors a matrix column by column, and appends the factors of its reflectors.
fn factor<T: Field>(a: &mut Matrix<T>, taus: &mut Vec<T>) -> Result<()> {
    for j in 0..a.rows.min(a.columns) {
        interrupt::check()?;
        let found = reflection(a[(j, j)], a.column(j)[j + 1..].iter().copied());
        a.column_mut(j)[j + 1..].iter_mut().for_each(|value| *value = found.own(*value));
        a[(j, j)] = T::of(found.beta);
        let v = vector(a, j);
        reflect_left(a, j, j + 1, &v, found.tau.conj());
        taus.push(found.tau);
    }
    Ok(())
}

/// Computes the first columns of Q from the reflectors, like `org2r`: the reflector's own column is its vector times a
/// factor, which determines the signs of zeros.
pub(crate) fn form_q<T: Field>(factored: &Matrix<T>, taus: &[T], columns: usize) -> Result<Matrix<T>> {
    let mut q = Matrix::identity(factored.rows, columns)?;
    let count = taus.len().min(columns);
    if count <= BLOCK {
        form(&mut q, 0, &stored(factored, taus, 0..count))?;
        return Ok(q);
    }
    for start in (0..count).step_by(REFLECTORS).rev() {
        let end = count.min(start + REFLECTORS);
        let reflectors = stored(factored, taus, start..end);
        if end < columns {
            BlockReflector::of(&reflectors)?.left(&mut q, end, false)?;
        }
        let mut own = q.copied(0..q.rows, start..end)?;
        form(&mut own, start, &reflectors)?;
        q.put(0, start, &own);
    }
    Ok(q)
}

/// Forms the columns of Q that belong to some reflectors, the first of them in column `first` of the whole Q.
fn form<T: Field>(q: &mut Matrix<T>, first: usize, reflectors: &[Reflector<T>]) -> Result<()> {
    for &(row, ref v, tau) in reflectors.iter().rev() {
        interrupt::check()?;
        let column = row - first;
        reflect_left(q, row, column + 1, v, tau);
        for (k, &value) in v.iter().enumerate() {
            q[(row + k, column)] = if k == 0 { T::one() - tau } else { -tau * value };
        }
    }
    Ok(())
}

/// `Q C`, `Qᴴ C`, `C Q` or `C Qᴴ` in place.
pub(crate) fn apply_q<T: Field>(
    factored: &Matrix<T>,
    taus: &[T],
    c: &mut Matrix<T>,
    left: bool,
    adjoint: bool,
) -> Result<()> {
    reflect(c, &stored(factored, taus, 0..taus.len()), left, adjoint)
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
    #[test]
    fn blocks_of_reflectors_give_what_each_alone_gives() {
        let number = |i: usize| ((i * i * 7919 + 31 * i) % 1009) as f64 / 504.0 - 1.0;
        let matrix = |rows: usize, columns: usize| {
            let mut out = Matrix::<Complex<f64>>::zeros(rows, columns).unwrap();
            for (i, j) in out.places() {
                out[(i, j)] = Complex::new(number(1013 * i + 7 * j), number(i + 331 * j + 90_000));
            }
            out
        };
        let assert_near = |a: &Matrix<Complex<f64>>, b: &Matrix<Complex<f64>>, what: &str| {
            assert_eq!((a.rows, a.columns), (b.rows, b.columns), "{what}");
            assert!(a.places().all(|at| (a[at] - b[at]).norm() < 1e-11), "{what}");
        };
        for (m, n) in [(BLOCK, BLOCK), (BLOCK + 1, BLOCK + 1), (2 * BLOCK + 9, BLOCK + 7), (BLOCK + 7, 2 * BLOCK)] {
            let a = matrix(m, n);
            let (factored, taus) = qr(a.clone()).unwrap();
            let (mut alone, mut own_taus) = (a, Vec::new());
            factor(&mut alone, &mut own_taus).unwrap();
            assert_near(&factored, &alone, "factors");
            let mut wanted = Matrix::identity(m, m).unwrap();
            for (row, v, tau) in stored(&factored, &taus, 0..taus.len()).iter().rev() {
                reflect_left(&mut wanted, *row, 0, v, *tau);
            }
            let k = m.min(n);
            assert_near(&form_q(&factored, &taus, m).unwrap(), &wanted, "Q");
            assert_near(&form_q(&factored, &taus, k).unwrap(), &wanted.copied(0..m, 0..k).unwrap(), "columns of Q");
            let adjoint = wanted.adjoint().unwrap();
            let (tall, wide) = (matrix(m, 3), matrix(3, m));
            for (left, turned) in [(true, false), (true, true), (false, false), (false, true)] {
                let q = if turned { &adjoint } else { &wanted };
                let mut c = if left { tall.clone() } else { wide.clone() };
                let wanted = if left { q.times(&c) } else { c.times(q) }.unwrap();
                apply_q(&factored, &taus, &mut c, left, turned).unwrap();
                assert_near(&c, &wanted, "a product with Q");
            }
        }
    }
}
