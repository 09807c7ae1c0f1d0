//! LU and Cholesky factorizations, and solving with them, like LAPACK's getrf, getrs, potrf and trtrs. All of them stop
//! after Ctrl-C.

use super::field::Field;
use super::matrix::Matrix;
use crate::parallel::{self, Kernel, vectorised, vectorised_kernel};
use crate::{Result, interrupt, limits};
use num_traits::{Float, One, Zero};
use std::ops::Range;

/// `P A = L U`: both factors in one matrix, the row exchanged at each step, and the first zero on the diagonal, counted
/// from one, if any.
pub(super) struct Lu<T> {
    pub factors: Matrix<T>,
    pub pivots: Vec<usize>,
    pub zero: Option<usize>,
}

/// The most rows or columns of a matrix that is decomposed step by step, like the library does. Larger ones are divided
/// into blocks, so that most of the work becomes products of matrices.
pub(super) const BLOCK: usize = 64;

/// The number of columns that are eliminated one by one within a larger matrix.
const PANEL: usize = 8;

/// Eliminates column by column, with the largest element of each as its pivot.
pub(super) fn lu<T: Field>(mut a: Matrix<T>) -> Result<Lu<T>> {
    let (steps, columns) = (a.rows.min(a.columns), a.columns);
    let (mut pivots, mut zero) = (Vec::new(), None);
    if steps <= BLOCK {
        eliminate_columns(&mut a, 0..columns, &mut pivots, &mut zero)?;
    } else {
        eliminate(&mut a, 0..steps, &mut pivots, &mut zero)?;
        follow(&mut a, 0..steps, steps..columns, &pivots)?;
    }
    Ok(Lu { factors: a, pivots, zero })
}

/// Eliminates some columns: the first half, then the other half with the rows that are left, like LAPACK's `getrf2`.
fn eliminate<T: Field>(
    a: &mut Matrix<T>,
    columns: Range<usize>,
    pivots: &mut Vec<usize>,
    zero: &mut Option<usize>,
) -> Result<()> {
    interrupt::check()?;
    if columns.len() <= PANEL {
        return eliminate_columns(a, columns, pivots, zero);
    }
    let middle = columns.start + (columns.len() / 2).next_multiple_of(PANEL);
    let [left, right] = [columns.start..middle, middle..columns.end];
    eliminate(a, left.clone(), pivots, zero)?;
    follow(a, left.clone(), right.clone(), pivots)?;
    eliminate(a, right.clone(), pivots, zero)?;
    for j in left {
        exchange(a.column_mut(j), right.clone(), pivots);
    }
    Ok(())
}

/// Exchanges the elements of a column at some steps.
fn exchange<T>(column: &mut [T], steps: Range<usize>, pivots: &[usize]) {
    for (i, &pivot) in steps.clone().zip(&pivots[steps]) {
        column.swap(i, pivot);
    }
}

/// Repeats the elimination of the columns `done` in other columns.
fn follow<T: Field>(a: &mut Matrix<T>, done: Range<usize>, columns: Range<usize>, pivots: &[usize]) -> Result<()> {
    if columns.is_empty() {
        return Ok(());
    }
    for j in columns.clone() {
        exchange(a.column_mut(j), done.clone(), pivots);
    }
    let corner = a.copied(done.clone(), done.clone())?;
    let mut top = a.copied(done.clone(), columns.clone())?;
    solve_triangular(&corner, &mut top, Triangular { upper: false, unit: true })?;
    a.put(done.start, columns.start, &top);
    let below = a.copied(done.end..a.rows, done.clone())?;
    a.add_product([done.end, columns.start], -T::one(), &below, &top)
}

/// Eliminates some columns one by one, in all columns of the range. The rows above them belong to U already.
fn eliminate_columns<T: Field>(
    a: &mut Matrix<T>,
    columns: Range<usize>,
    pivots: &mut Vec<usize>,
    zero: &mut Option<usize>,
) -> Result<()> {
    for j in columns.start..columns.end.min(a.rows) {
        interrupt::check()?;
        let pivot = j + largest(&a.column(j)[j..]);
        pivots.push(pivot);
        if a[(pivot, j)].is_zero() {
            *zero = zero.or(Some(j + 1));
        } else {
            columns.clone().for_each(|k| a.column_mut(k).swap(j, pivot));
            let (divisor, inverse) = (a[(j, j)], a[(j, j)].inverse());
            // Like the library, divides the last column of the smallest real square matrices, and multiplies all others
            // by the inverse.
            let divides = !T::DTYPE.is_complex() && a.rows <= 4 && a.columns == a.rows && j + 2 == a.rows;
            for value in &mut a.column_mut(j)[j + 1..] {
                *value = if divides { *value / divisor } else { *value * inverse };
            }
        }
        for k in j + 1..columns.end {
            let [own, other] = a.two_columns(j, k);
            let factor = other[j];
            vectorised(|| {
                other[j + 1..].iter_mut().zip(&own[j + 1..]).for_each(|(x, &value)| *x = *x - value * factor)
            });
        }
    }
    Ok(())
}

/// Returns the index of the first of the largest numbers. NaN is not larger than a number, and no number is larger than
/// a NaN that comes first.
fn largest<T: Field>(values: &[T]) -> usize {
    const LANES: usize = 16;
    let Some(first) = values.first().map(|value| value.size()) else { return 0 };
    let larger = |a: T::Real, b: T::Real| if b > a { b } else { a };
    let (groups, rest) = values.as_chunks::<LANES>();
    let lanes = vectorised(|| {
        let mut lanes = [first; LANES];
        for group in groups {
            lanes.iter_mut().zip(group).for_each(|(most, value)| *most = larger(*most, value.size()));
        }
        lanes
    });
    let most = lanes.into_iter().chain(rest.iter().map(|value| value.size())).fold(first, larger);
    values.iter().position(|value| value.size() == most).unwrap_or(0)
}

impl<T: Field> Lu<T> {
    /// Returns whether the number of exchanges is odd, which gives the sign of the permutation.
    pub(crate) fn is_odd(&self) -> bool {
        self.pivots.iter().enumerate().filter(|&(i, &pivot)| i != pivot).count() % 2 == 1
    }

    /// Returns the permutation as an order of rows.
    pub(super) fn rows(&self) -> Vec<usize> {
        let mut rows: Vec<usize> = (0..self.factors.rows).collect();
        for (i, &pivot) in self.pivots.iter().enumerate() {
            rows.swap(i, pivot);
        }
        rows
    }

    /// Returns the lower factor, with ones on its diagonal, and the upper factor.
    pub(super) fn split(&self) -> Result<(Matrix<T>, Matrix<T>)> {
        let (m, n) = (self.factors.rows, self.factors.columns);
        let k = m.min(n);
        let (mut lower, mut upper) = (Matrix::identity(m, k)?, Matrix::zeros(k, n)?);
        for (i, j) in self.factors.places() {
            let part = if i > j { &mut lower } else { &mut upper };
            part[(i, j)] = self.factors[(i, j)];
        }
        Ok((lower, upper))
    }

    /// Solves `A X = B` in place.
    pub(super) fn solve(&self, b: &mut Matrix<T>) -> Result<()> {
        for j in b.filled_columns() {
            exchange(b.column_mut(j), 0..self.pivots.len(), &self.pivots);
        }
        solve_triangular(&self.factors, b, Triangular { upper: false, unit: true })?;
        solve_triangular(&self.factors, b, Triangular { upper: true, unit: false })
    }

    /// Solves `Aᴴ X = B` in place.
    pub(crate) fn solve_adjoint(&self, b: &mut Matrix<T>) -> Result<()> {
        self.solve_with_transposed(&self.factors.adjoint()?, b)
    }

    /// Solves `Aᵀ X = B` in place.
    pub(crate) fn solve_transposed(&self, b: &mut Matrix<T>) -> Result<()> {
        self.solve_with_transposed(&self.factors.transpose()?, b)
    }

    fn solve_with_transposed(&self, turned: &Matrix<T>, b: &mut Matrix<T>) -> Result<()> {
        solve_triangular(turned, b, Triangular { upper: false, unit: false })?;
        solve_triangular(turned, b, Triangular { upper: true, unit: true })?;
        for j in b.filled_columns() {
            let column = b.column_mut(j);
            self.pivots.iter().enumerate().rev().for_each(|(i, &pivot)| column.swap(i, pivot));
        }
        Ok(())
    }
}

/// Multiplications that take as long as one element of other loops.
const PER_ELEMENT: usize = 8;

/// Which triangle of a matrix to read, and whether its diagonal is taken as ones.
#[derive(Clone, Copy)]
pub(super) struct Triangular {
    pub upper: bool,
    pub unit: bool,
}

/// The number of columns solved side by side, in vectors, so that steps do not wait for each other.
const ABREAST: usize = 16;

/// Solves `A X = B` in place for a triangular `A`.
pub(super) fn solve_triangular<T: Field>(a: &Matrix<T>, b: &mut Matrix<T>, shape: Triangular) -> Result<()> {
    let n = a.columns.min(a.rows);
    if n <= BLOCK {
        return solve_small(a, b, shape);
    }
    if b.columns == 1 {
        solve_column(a, b, shape);
        return interrupt::check();
    }
    let mut blocks: Vec<Range<usize>> = (0..n).step_by(BLOCK).map(|start| start..n.min(start + BLOCK)).collect();
    if shape.upper {
        blocks.reverse();
    }
    for block in blocks {
        interrupt::check()?;
        let corner = a.copied(block.clone(), block.clone())?;
        let found = solve_block(&corner, b.copied(block.clone(), 0..b.columns)?, shape)?;
        b.put(block.start, 0, &found);
        let others = if shape.upper { 0..block.start } else { block.end..n };
        b.add_product([others.start, 0], -T::one(), &a.copied(others, block)?, &found)?;
    }
    Ok(())
}

/// Solves `A X = B` for one block by the inverse of `A`. Numbers that are not finite would spread to more of the result.
fn solve_block<T: Field>(a: &Matrix<T>, mut b: Matrix<T>, shape: Triangular) -> Result<Matrix<T>> {
    let mut inverse = Matrix::identity(a.rows, a.columns)?;
    solve_small(a, &mut inverse, shape)?;
    if !inverse.has_only_finite() || !b.has_only_finite() {
        solve_small(a, &mut b, shape)?;
        return Ok(b);
    }
    let mut found = Matrix::zeros(b.rows, b.columns)?;
    found.add_product([0, 0], T::one(), &inverse, &b)?;
    Ok(found)
}

/// Solves `A X = B` in place for a small triangular `A`, with the library's steps for several columns: the terms of the
/// elements already found are summed first, and the difference is multiplied by the inverse of the diagonal.
fn solve_small<T: Field>(a: &Matrix<T>, b: &mut Matrix<T>, shape: Triangular) -> Result<()> {
    let n = a.columns.min(a.rows);
    let at = |step: usize| if shape.upper { n - 1 - step } else { step };
    // The factors of the elements found before, for one step after another.
    let mut factors = limits::filled(T::zero(), n * n.saturating_sub(1) / 2)?;
    for k in 0..n {
        let column = a.column(at(k));
        (k + 1..n).for_each(|step| factors[step * (step - 1) / 2 + k] = column[at(step)]);
    }
    let inverse = |step: usize| if shape.unit { T::one() } else { a[(at(step), at(step))].inverse() };
    let inverses: Vec<T> = (0..n).map(inverse).collect();
    let rows = b.rows;
    let filled = b.filled_columns().end;
    let work = n.saturating_mul(n).saturating_mul(filled) / PER_ELEMENT;
    parallel::parts_of(b.columns_from(0), rows.max(1) * ABREAST, work, &|_, b| {
        // The elements of these columns side by side, in the order of the steps.
        let mut elements = limits::filled([T::zero(); ABREAST], n)?;
        for (lane, column) in b.chunks_exact(rows).enumerate() {
            elements.iter_mut().enumerate().for_each(|(step, lanes)| lanes[lane] = column[at(step)]);
        }
        vectorised_kernel(SolveAbreast {
            elements: &mut elements,
            factors: &factors,
            inverses: &inverses,
            unit: shape.unit,
        });
        for (lane, column) in b.chunks_exact_mut(rows).enumerate() {
            elements.iter().enumerate().for_each(|(step, lanes)| column[at(step)] = lanes[lane]);
        }
        Ok(())
    })
}

/// The steps of [`solve_small`] for some columns. A kernel, because compilers do not inline so large a closure.
struct SolveAbreast<'a, T> {
    elements: &'a mut [[T; ABREAST]],
    factors: &'a [T],
    inverses: &'a [T],
    unit: bool,
}

impl<T: Field> Kernel for SolveAbreast<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self, _fuses: bool) {
        let SolveAbreast { elements, mut factors, inverses, unit } = self;
        for (step, &inverse) in inverses.iter().enumerate() {
            let (found, rest) = elements.split_at_mut(step);
            let (own, others) = factors.split_at(step);
            factors = others;
            let mut sums = [T::zero(); ABREAST];
            for (&factor, found) in own.iter().zip(&*found) {
                sums.iter_mut().zip(found).for_each(|(sum, &value)| *sum = *sum + factor * value);
            }
            for (value, sum) in rest.iter_mut().take(1).flatten().zip(sums) {
                let difference = if step == 0 { *value } else { *value - sum };
                *value = if unit { difference } else { difference * inverse };
            }
        }
    }
}

/// Like [`solve_triangular`], with the library's steps for a single column: each element is divided by the diagonal and
/// subtracted from the others as soon as it is found.
pub(crate) fn solve_column<T: Field>(a: &Matrix<T>, b: &mut Matrix<T>, shape: Triangular) {
    let n = a.columns.min(a.rows);
    let b = b.column_mut(0);
    for step in 0..n {
        if interrupt::requested() {
            return;
        }
        let k = if shape.upper { n - 1 - step } else { step };
        let column = a.column(k);
        if !shape.unit {
            b[k] = b[k] / column[k];
        }
        let (value, others) = (b[k], if shape.upper { 0..k } else { k + 1..n });
        let others = b[others.clone()].iter_mut().zip(&column[others]);
        vectorised(|| others.for_each(|(x, &factor)| *x = *x - factor * value));
    }
}

/// Returns the lower Cholesky factor of a positive-definite matrix, and the order of the first leading minor that is
/// not positive-definite. Only the lower triangle is read.
pub(super) fn cholesky<T: Field>(mut a: Matrix<T>) -> Result<(Matrix<T>, Option<usize>)> {
    let n = a.rows;
    let failed = if n <= BLOCK { factor(&mut a) } else { factor_blocks(&mut a)? };
    for j in 1..n {
        a.column_mut(j)[..j].fill(T::zero());
    }
    // The imaginary part of the second diagonal element as the library's code for a few rows leaves it.
    if (3..=5).contains(&n) && failed.is_none_or(|order| order > 2) {
        a[(1, 1)] = T::new(a[(1, 1)].re(), -T::Real::zero());
    }
    Ok((a, failed))
}

/// Factors a large matrix block by block.
fn factor_blocks<T: Field>(a: &mut Matrix<T>) -> Result<Option<usize>> {
    let n = a.rows;
    let blocks = |from: usize| (from..n).step_by(BLOCK).map(move |start| start..n.min(start + BLOCK));
    for block in blocks(0) {
        interrupt::check()?;
        let mut corner = a.copied(block.clone(), block.clone())?;
        let failed = factor(&mut corner);
        a.put(block.start, block.start, &corner);
        if let Some(order) = failed {
            return Ok(Some(block.start + order));
        }
        // L₂₁ᴴ solves L₁₁ L₂₁ᴴ = A₂₁ᴴ.
        let below = a.copied(block.end..n, block.clone())?.adjoint()?;
        let turned = solve_block(&corner, below, Triangular { upper: false, unit: false })?;
        let below = turned.adjoint()?;
        a.put(block.end, block.start, &below);
        // Below the diagonal only.
        for strip in blocks(block.end) {
            let from = strip.start - block.end;
            let rows = below.copied(from..below.rows, 0..below.columns)?;
            let columns = turned.copied(0..turned.rows, from..strip.end - block.end)?;
            a.add_product([strip.start, strip.start], -T::one(), &rows, &columns)?;
        }
    }
    Ok(None)
}

/// Factors a small matrix, or a block of a large one. Returns the order of the minor that failed.
fn factor<T: Field>(a: &mut Matrix<T>) -> Option<usize> {
    let n = a.rows;
    for j in 0..n {
        if interrupt::requested() {
            break;
        }
        let squares = (0..j).fold(T::Real::zero(), |sum, k| sum + a[(j, k)].magnitude() * a[(j, k)].magnitude());
        let square = a[(j, j)].re() - squares;
        // NaN is not positive either.
        if square <= T::Real::zero() || Float::is_nan(square) {
            a[(j, j)] = T::of(square);
            return Some(j + 1);
        }
        let root = Float::sqrt(square);
        a[(j, j)] = T::of(root);
        // Single precision multiplies by the inverse, like the library.
        let inverse = T::Real::one() / root;
        let divide = |value: T| {
            if size_of::<T::Real>() == 4 { value.scale(inverse) } else { T::new(value.re() / root, value.im() / root) }
        };
        for i in j + 1..n {
            let sum = (0..j).fold(T::zero(), |sum, k| sum + a[(i, k)] * a[(j, k)].conj());
            a[(i, j)] = divide(a[(i, j)] - sum);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_complex::Complex;

    /// A matrix whose diagonal elements are the largest if `dominant`.
    fn matrix<T: Field>(rows: usize, columns: usize, dominant: bool) -> Matrix<T> {
        let number = |i: usize| ((i * i * 7919 + 31 * i) % 1009) as f64 / 504.0 - 1.0;
        let mut out = Matrix::zeros(rows, columns).unwrap();
        for (i, j) in out.places() {
            let own = if i == j && dominant { 4.0 * rows as f64 } else { 0.0 };
            let place = 1013 * i + 7 * j;
            out[(i, j)] = T::new(real::<T>(number(place) + own), real::<T>(number(place + 500_000)));
        }
        out
    }

    fn real<T: Field>(value: f64) -> T::Real {
        <T::Real as crate::ops::number::Real>::from_f64(value)
    }

    fn product<T: Field>(a: &Matrix<T>, b: &Matrix<T>) -> Matrix<T> {
        let mut out = Matrix::zeros(a.rows, b.columns).unwrap();
        for (i, j) in out.places() {
            out[(i, j)] = (0..a.columns).fold(T::zero(), |sum, k| sum + a[(i, k)] * b[(k, j)]);
        }
        out
    }

    fn assert_near<T: Field>(a: &Matrix<T>, b: &Matrix<T>, bound: f64, what: &str) {
        assert_eq!((a.rows, a.columns), (b.rows, b.columns), "{what}");
        for (i, j) in a.places() {
            let apart = (a[(i, j)] - b[(i, j)]).magnitude();
            assert!(apart <= real::<T>(bound), "{what}: {apart:?} at {i}, {j}");
        }
    }

    /// Solves for one column: sums the terms of the elements already found, then subtracts.
    fn one_by_one<T: Field>(a: &Matrix<T>, b: &[T], shape: Triangular) -> Vec<T> {
        let (n, mut x) = (b.len(), b.to_vec());
        let at = |step: usize| if shape.upper { n - 1 - step } else { step };
        for step in 0..n {
            let i = at(step);
            let sum = (0..step).map(at).fold(T::zero(), |sum, k| sum + a[(i, k)] * x[k]);
            let difference = if step == 0 { x[i] } else { x[i] - sum };
            x[i] = if shape.unit { difference } else { difference * a[(i, i)].inverse() };
        }
        x
    }

    /// Sizes around a block, and around several.
    const SIZES: [usize; 4] = [1, BLOCK, BLOCK + 1, 2 * BLOCK + 5];

    fn check<T: Field>(bound: f64) {
        for n in SIZES {
            for m in [n, n + 5, (n / 2).max(n.min(BLOCK + 2))] {
                let a = matrix::<T>(m, n, false);
                let found = lu(a.clone()).unwrap();
                let (lower, upper) = found.split().unwrap();
                let permuted = found.rows();
                let mut wanted = Matrix::zeros(m, n).unwrap();
                for (i, j) in wanted.places() {
                    wanted[(i, j)] = a[(permuted[i], j)];
                }
                assert_near(&product(&lower, &upper), &wanted, bound, &format!("LU of {m} by {n}"));
                // The same pivots as step by step.
                let (mut pivots, mut zero) = (Vec::new(), None);
                eliminate_columns(&mut a.clone(), 0..n, &mut pivots, &mut zero).unwrap();
                assert_eq!(pivots, found.pivots, "{m} by {n}");
            }
            let a = matrix::<T>(n, n, true);
            for width in [1, 2, 9, ABREAST, ABREAST + 3] {
                let b = matrix::<T>(n, width, false);
                for (upper, unit) in [(false, false), (true, false), (false, true), (true, true)] {
                    let mut a = a.clone();
                    for (i, j) in a.places().filter(|&(i, j)| if upper { i > j } else { i < j } || (unit && i == j)) {
                        a[(i, j)] = if i == j { T::one() } else { T::zero() };
                    }
                    if unit {
                        // Small elements, so that solutions do not grow.
                        for (i, j) in a.places().filter(|&(i, j)| i != j) {
                            a[(i, j)] = a[(i, j)].scale(real::<T>(1.0 / n as f64));
                        }
                    }
                    let mut x = b.clone();
                    solve_triangular(&a, &mut x, Triangular { upper, unit }).unwrap();
                    assert_near(&product(&a, &x), &b, bound, &format!("{n}, {width} columns, {upper}, {unit}"));
                    // Side by side, columns have the bits that they have one by one.
                    let mut together = b.clone();
                    solve_small(&a, &mut together, Triangular { upper, unit }).unwrap();
                    for column in 0..width {
                        let alone = one_by_one(&a, b.column(column), Triangular { upper, unit });
                        assert!(
                            alone.as_slice() == together.column(column),
                            "{n}, {column} of {width}, {upper}, {unit}"
                        );
                    }
                }
            }
            let positive = product(&a, &a.adjoint().unwrap());
            let (factor, failed) = cholesky(positive.clone()).unwrap();
            assert_eq!(failed, None);
            let scale = 16.0 * (n * n) as f64;
            assert_near(&product(&factor, &factor.adjoint().unwrap()), &positive, bound * scale, "Cholesky");
            // The order of the minor that is not positive.
            let mut spoiled = positive;
            spoiled[(n / 2, n / 2)] = -T::one();
            assert_eq!(cholesky(spoiled).unwrap().1, Some(n / 2 + 1));
        }
    }

    #[test]
    fn blocks_give_what_steps_give() {
        check::<f32>(2e-3);
        check::<Complex<f64>>(1e-11);
    }

    #[test]
    fn a_pivot_is_the_first_of_the_largest() {
        let one_by_one = |values: &[f64]| {
            (0..values.len()).fold(0, |best, i| if values[i].abs() > values[best].abs() { i } else { best })
        };
        for n in [1, 2, 15, 16, 17, 31, 32, 33, 100] {
            for special in [0.5, 0.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
                for place in 0..n {
                    let mut values: Vec<f64> = (0..n).map(|i| ((i * 7919) % 23) as f64 - 11.0).collect();
                    values[place] = special;
                    assert_eq!(largest(&values), one_by_one(&values), "{n}, {special} at {place}");
                }
            }
        }
        assert_eq!(largest::<f64>(&[]), 0);
    }

    #[test]
    fn numbers_that_are_not_finite_stay_where_they_belong() {
        let n = 2 * BLOCK;
        let mut a = matrix::<f64>(n, n, true);
        for (i, j) in a.places().filter(|&(i, j)| i < j) {
            a[(i, j)] = 0.0;
        }
        let mut b = matrix::<f64>(n, 2, false);
        b[(5, 0)] = f64::NAN;
        solve_triangular(&a, &mut b, Triangular { upper: false, unit: false }).unwrap();
        assert!((0..5).all(|i| b[(i, 0)].is_finite()) && (5..n).all(|i| b[(i, 0)].is_nan()));
        assert!((0..n).all(|i| b[(i, 1)].is_finite()));
    }
}
