//! `A = L D Lᵀ` of symmetric and `A = L D Lᴴ` of Hermitian matrices, with blocks of one and two rows on the diagonal of
//! D. Follows LAPACK's sytf2, hetf2, sytrs and hetrs for the lower triangle.

use super::field::Field;
use super::matrix::Matrix;
use crate::interrupt;
use num_traits::{Float, Zero};

/// L and D in one matrix, and the exchanges. The pivot is `p + 1` if row `p` was exchanged with the row of a block of
/// one, and `-(p + 1)`, twice, if it was exchanged with the second row of a block of two.
pub(super) struct Ldl<T> {
    pub factors: Matrix<T>,
    pub pivots: Vec<i64>,
    /// The first zero block, counted from one.
    pub zero: Option<usize>,
}

/// Returns the row of the largest element of a column in a range of rows, and the element's size.
fn largest<T: Field>(rows: std::ops::Range<usize>, size: impl Fn(usize) -> T::Real) -> (usize, T::Real) {
    let first = rows.start;
    rows.fold((first, T::Real::zero()), |best, i| if size(i) > best.1 { (i, size(i)) } else { best })
}

/// Factors a matrix; only the lower triangle is read.
pub(crate) fn ldl<T: Field>(mut a: Matrix<T>, hermitian: bool) -> Ldl<T> {
    let n = a.rows;
    let turn = |x: T| if hermitian { x.conj() } else { x };
    let real = |x: T| if hermitian { T::of(x.re()) } else { x };
    // The limit on the growth of elements that makes both kinds of steps equally safe.
    let limit = <T::Real as crate::ops::number::Real>::from_f64((1.0 + 17f64.sqrt()) / 8.0);
    let (mut pivots, mut zero) = (vec![0; n], None);
    for j in 0..n {
        for i in 0..j {
            a[(i, j)] = T::zero();
        }
    }
    let mut k = 0;
    // After Ctrl-C the partial result is discarded.
    while k < n && !interrupt::requested() {
        let own = real(a[(k, k)]).size();
        let (other, beside) = largest::<T>(k + 1..n, |i| a[(i, k)].size());
        let (mut partner, mut step) = (k, 1);
        let is_zero = Float::max(own, beside) == T::Real::zero() || Float::is_nan(own);
        if is_zero {
            zero = zero.or(Some(k + 1));
        } else if own < limit * beside {
            let (_, left) = largest::<T>(k..other, |j| a[(other, j)].size());
            let (_, below) = largest::<T>(other + 1..n, |i| a[(i, other)].size());
            let row = Float::max(left, below);
            if own < limit * beside * (beside / row) {
                partner = other;
                step = if real(a[(other, other)]).size() >= limit * row { 1 } else { 2 };
            }
        }
        let exchanged = k + step - 1;
        if partner != exchanged {
            for i in partner + 1..n {
                let (x, y) = (a[(i, exchanged)], a[(i, partner)]);
                a[(i, exchanged)] = y;
                a[(i, partner)] = x;
            }
            for j in exchanged + 1..partner {
                let (x, y) = (a[(j, exchanged)], a[(partner, j)]);
                a[(j, exchanged)] = turn(y);
                a[(partner, j)] = turn(x);
            }
            a[(partner, exchanged)] = turn(a[(partner, exchanged)]);
            let (x, y) = (a[(exchanged, exchanged)], a[(partner, partner)]);
            a[(exchanged, exchanged)] = real(y);
            a[(partner, partner)] = real(x);
            if step == 2 {
                let (x, y) = (a[(k + 1, k)], a[(partner, k)]);
                a[(k + 1, k)] = y;
                a[(partner, k)] = x;
            }
        }
        if step == 1 {
            if !is_zero {
                eliminate_one(&mut a, k, hermitian);
            }
            pivots[k] = partner as i64 + 1;
        } else {
            eliminate_two(&mut a, k, hermitian);
            pivots[k] = -(partner as i64 + 1);
            pivots[k + 1] = pivots[k];
        }
        k += step;
    }
    Ldl { factors: a, pivots, zero }
}

fn eliminate_one<T: Field>(a: &mut Matrix<T>, k: usize, hermitian: bool) {
    if hermitian {
        a[(k, k)] = T::of(a[(k, k)].re());
    }
    let inverse = T::one() / a[(k, k)];
    // A real factor preserves the signs of zeros.
    let times = |value: T| if hermitian { value.scale(inverse.re()) } else { value * inverse };
    for j in k + 1..a.rows {
        let factor = times(if hermitian { a[(j, k)].conj() } else { a[(j, k)] });
        for i in j..a.rows {
            a[(i, j)] = a[(i, j)] - a[(i, k)] * factor;
        }
        if hermitian {
            a[(j, j)] = T::of(a[(j, j)].re());
        }
    }
    for i in k + 1..a.rows {
        a[(i, k)] = times(a[(i, k)]);
    }
}

fn eliminate_two<T: Field>(a: &mut Matrix<T>, k: usize, hermitian: bool) {
    let turn = |x: T| if hermitian { x.conj() } else { x };
    // The block's inverse, scaled by its off-diagonal element to avoid overflow.
    let scale = if hermitian { T::of(a[(k + 1, k)].magnitude()) } else { a[(k + 1, k)] };
    let unit = a[(k + 1, k)] / scale;
    let (lower, upper) = (a[(k + 1, k + 1)] / scale, a[(k, k)] / scale);
    let factor = T::one() / (lower * upper - T::one()) / scale;
    for j in k + 2..a.rows {
        let first = factor * (lower * a[(j, k)] - unit * a[(j, k + 1)]);
        let second = factor * (upper * a[(j, k + 1)] - turn(unit) * a[(j, k)]);
        for i in j..a.rows {
            a[(i, j)] = a[(i, j)] - a[(i, k)] * turn(first) - a[(i, k + 1)] * turn(second);
        }
        a[(j, k)] = first;
        a[(j, k + 1)] = second;
        if hermitian {
            a[(j, j)] = T::of(a[(j, j)].re());
        }
    }
}

impl<T: Field> Ldl<T> {
    /// Returns the row of a pivot.
    fn partner(&self, k: usize) -> usize {
        let pivot = self.pivots.get(k).map_or(1, |pivot| pivot.unsigned_abs() as usize);
        pivot.saturating_sub(1).min(self.factors.rows.saturating_sub(1))
    }

    fn is_double(&self, k: usize) -> bool {
        k + 1 < self.factors.rows && self.pivots.get(k).is_some_and(|&pivot| pivot < 0)
    }

    /// Solves `A X = B` in place.
    pub(super) fn solve(&self, b: &mut Matrix<T>, hermitian: bool) {
        let (a, n) = (&self.factors, self.factors.rows);
        let turn = |x: T| if hermitian { x.conj() } else { x };
        let mut starts = Vec::new();
        let mut k = 0;
        while k < n && !interrupt::requested() {
            starts.push(k);
            let double = self.is_double(k);
            let end = if double { k + 2 } else { k + 1 };
            b.swap_rows(end - 1, self.partner(k));
            for column in 0..b.columns {
                for j in k..end {
                    let value = b[(j, column)];
                    for i in end..n {
                        b[(i, column)] = b[(i, column)] - a[(i, j)] * value;
                    }
                }
                if double {
                    let beside = a[(k + 1, k)];
                    let (upper, lower) = (a[(k, k)] / turn(beside), a[(k + 1, k + 1)] / beside);
                    let determinant = upper * lower - T::one();
                    let (first, second) = (b[(k, column)] / turn(beside), b[(k + 1, column)] / beside);
                    b[(k, column)] = (lower * first - second) / determinant;
                    b[(k + 1, column)] = (upper * second - first) / determinant;
                } else {
                    b[(k, column)] = b[(k, column)] / a[(k, k)];
                }
            }
            k = end;
        }
        for &k in starts.iter().rev().take_while(|_| !interrupt::requested()) {
            let end = if self.is_double(k) { k + 2 } else { k + 1 };
            for column in 0..b.columns {
                for j in k..end {
                    let below = (end..n).fold(T::zero(), |sum, i| sum + turn(a[(i, j)]) * b[(i, column)]);
                    b[(j, column)] = b[(j, column)] - below;
                }
            }
            b.swap_rows(end - 1, self.partner(k));
        }
    }
}
