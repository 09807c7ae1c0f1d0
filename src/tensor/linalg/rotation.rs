//! Plane rotations, and the two-by-two problems at the end of iterations. Follows LAPACK's lartg, lasr, laev2, las2 and
//! lasv2.

use super::field::Field;
use super::matrix::Matrix;
use crate::parallel::{self, Kernel, vectorised_kernel};
use crate::{Error, Result, limits};
use num_traits::Float;

/// A rotation's cosine and sine.
pub(super) type Rotation<R> = [R; 2];

/// Returns the rotation that maps `(f, g)` to `(r, 0)`, and `r`.
pub(crate) fn rotation<R: Field<Real = R> + Float>(f: R, g: R) -> (Rotation<R>, R) {
    let (zero, one) = (<R as num_traits::Zero>::zero(), <R as num_traits::One>::one());
    if g == zero {
        return ([one, zero], f);
    }
    if f == zero {
        return ([zero, Float::signum(g)], Float::abs(g));
    }
    // Squares of tiny or huge numbers would underflow or overflow.
    let (least, largest) = (Float::min(Float::abs(f), Float::abs(g)), Float::max(Float::abs(f), Float::abs(g)));
    let small = <R as Float>::min_positive_value();
    let fits = least > Float::sqrt(small) && largest < Float::sqrt(one / small / (one + one));
    let scale = if fits { one } else { Float::min(one / small, Float::max(small, largest)) };
    let (f, g) = (f / scale, g / scale);
    let length = Float::sqrt(f * f + g * g);
    let r = length * Float::signum(f);
    ([Float::abs(f) / length, g / r], r * scale)
}

/// Like [`rotation`], with the signs of LAPACK before 3.10: the cosine is positive only if `f` is larger in magnitude,
/// and `r` only if `g` is. The library still computes the eigenvectors of symmetric matrices with it, and their signs
/// depend on it.
pub(crate) fn older_rotation<R: Field<Real = R> + Float>(f: R, g: R) -> (Rotation<R>, R) {
    let (rotation, r) = rotation(f, g);
    let zero = <R as num_traits::Zero>::zero();
    let turns = if f == zero { g < zero } else { f < zero && g != zero && Float::abs(f) <= Float::abs(g) };
    if turns { (rotation.map(|part| -part), -r) } else { (rotation, r) }
}

/// `[x, y] ← [c x + s y, c y - s x]` for two columns; `b` must come after `a`.
pub(crate) fn rotate_columns<T: Field>(m: &mut Matrix<T>, a: usize, b: usize, [c, s]: Rotation<T::Real>) {
    let [first, second] = m.two_columns(a, b);
    for (x, y) in first.iter_mut().zip(second) {
        (*x, *y) = (x.scale(c) + y.scale(s), y.scale(c) - x.scale(s));
    }
}

/// `[x, y] ← [c x + s y, c y - s x]` for two rows.
pub(crate) fn rotate_rows<T: Field>(m: &mut Matrix<T>, a: usize, b: usize, [c, s]: Rotation<T::Real>) {
    for j in 0..m.columns {
        let (x, y) = (m[(a, j)], m[(b, j)]);
        m[(a, j)] = x.scale(c) + y.scale(s);
        m[(b, j)] = y.scale(c) - x.scale(s);
    }
}

/// A matrix whose neighbouring columns are rotated many times. Rotations are collected and applied to one strip of rows
/// after another, which stays in a cache, and on all cores.
pub(super) struct RotatedColumns<T: Field> {
    rows: usize,
    columns: usize,
    /// One strip of rows after another, each by columns.
    strips: Vec<T>,
    pending: Vec<(usize, Rotation<T::Real>)>,
}

/// The rows of a strip, and the rotations that are collected before they are applied.
const STRIP: usize = 32;
const PENDING: usize = 1 << 12;

impl<T: Field> RotatedColumns<T> {
    /// The identity. Without rows, rotations do nothing.
    pub(super) fn identity(rows: usize, columns: usize) -> Result<RotatedColumns<T>> {
        let count = rows.checked_mul(columns).ok_or_else(|| Error::runtime("a matrix is too large"))?;
        let mut strips = limits::filled(T::zero(), count)?;
        for i in 0..rows.min(columns) {
            let start = i / STRIP * STRIP;
            strips[start * columns + i * STRIP.min(rows - start) + i - start] = T::one();
        }
        Ok(RotatedColumns { rows, columns, strips, pending: Vec::new() })
    }

    /// `[x, y] ← [c x + s y, c y - s x]` for a column and the next one.
    pub(super) fn rotate(&mut self, column: usize, by: Rotation<T::Real>) -> Result<()> {
        if self.rows == 0 {
            return Ok(());
        }
        self.pending.push((column, by));
        if self.pending.len() >= PENDING { self.apply() } else { Ok(()) }
    }

    fn apply(&mut self) -> Result<()> {
        let (columns, pending) = (self.columns, &self.pending);
        let work = pending.len().saturating_mul(self.rows);
        parallel::parts_of(&mut self.strips, (STRIP * columns).max(1), work, &|_, strip| {
            let rows = strip.len() / columns;
            vectorised_kernel(StripRotations { strip, rows, pending });
            Ok(())
        })?;
        self.pending.clear();
        Ok(())
    }

    /// Returns the matrix after all rotations.
    pub(super) fn finish(mut self) -> Result<Matrix<T>> {
        self.apply()?;
        let mut out = Matrix::zeros(self.rows, self.columns)?;
        for (k, strip) in self.strips.chunks((STRIP * self.columns).max(1)).enumerate() {
            let rows = strip.len() / self.columns;
            for (j, part) in strip.chunks_exact(rows).enumerate() {
                out.column_mut(j)[k * STRIP..k * STRIP + rows].copy_from_slice(part);
            }
        }
        Ok(out)
    }
}

/// Rotates the columns of one strip.
struct StripRotations<'a, T: Field> {
    strip: &'a mut [T],
    rows: usize,
    pending: &'a [(usize, Rotation<T::Real>)],
}

impl<T: Field> Kernel for StripRotations<'_, T> {
    type Output = ();
    #[inline(always)]
    fn run(self, _fuses: bool) {
        let StripRotations { strip, rows, pending } = self;
        for &(column, [c, s]) in pending {
            let (first, second) = strip[column * rows..(column + 2) * rows].split_at_mut(rows);
            for (x, y) in first.iter_mut().zip(second) {
                (*x, *y) = (x.scale(c) + y.scale(s), y.scale(c) - x.scale(s));
            }
        }
    }
}

/// Returns the eigenvalues of `[[a, b], [b, c]]`, the one of larger magnitude first, and the rotation to its
/// eigenvector.
pub(crate) fn symmetric_pair<R: Field<Real = R> + Float>(a: R, b: R, c: R) -> ([R; 2], Rotation<R>) {
    let (zero, one) = (<R as num_traits::Zero>::zero(), <R as num_traits::One>::one());
    let half = one / (one + one);
    let (sum, difference, twice) = (a + c, a - c, b + b);
    let root = Float::hypot(difference, twice);
    let (large, small) = if Float::abs(a) > Float::abs(c) { (a, c) } else { (c, a) };
    let (first, second, sign) = if sum < zero {
        let first = half * (sum - root);
        (first, (large / first) * small - (b / first) * b, -1)
    } else if sum > zero {
        let first = half * (sum + root);
        (first, (large / first) * small - (b / first) * b, 1)
    } else {
        (half * root, -half * root, 1)
    };
    let (cosine, other) = if difference >= zero { (difference + root, 1) } else { (difference - root, -1) };
    let (c1, s1) = if Float::abs(cosine) > Float::abs(twice) {
        let cotangent = -twice / cosine;
        let s1 = one / Float::sqrt(one + cotangent * cotangent);
        (cotangent * s1, s1)
    } else if twice == zero {
        (one, zero)
    } else {
        let tangent = -cosine / twice;
        let c1 = one / Float::sqrt(one + tangent * tangent);
        (c1, tangent * c1)
    };
    let rotation = if sign == other { [-s1, c1] } else { [c1, s1] };
    ([first, second], rotation)
}

/// Returns the singular values of `[[f, g], [0, h]]`, smaller first.
pub(crate) fn triangular_values<R: Field<Real = R> + Float>(f: R, g: R, h: R) -> [R; 2] {
    let (zero, one) = (<R as num_traits::Zero>::zero(), <R as num_traits::One>::one());
    let two = one + one;
    let (f, g, h) = (Float::abs(f), Float::abs(g), Float::abs(h));
    let (small, large) = (Float::min(f, h), Float::max(f, h));
    if small == zero {
        let most = if large == zero {
            g
        } else {
            let (a, b) = (Float::max(large, g), Float::min(large, g));
            a * Float::sqrt(one + (b / a) * (b / a))
        };
        return [zero, most];
    }
    let (ratio, gap) = (one + small / large, (large - small) / large);
    if g < large {
        let square = (g / large) * (g / large);
        let c = two / (Float::sqrt(ratio * ratio + square) + Float::sqrt(gap * gap + square));
        return [small * c, large / c];
    }
    let part = large / g;
    if part == zero {
        return [(small * large) / g, g];
    }
    let (x, y) = (ratio * part, gap * part);
    let c = one / (Float::sqrt(one + x * x) + Float::sqrt(one + y * y));
    let least = (small * c) * part;
    [least + least, g / (c + c)]
}

/// Returns the signed singular values of `[[f, g], [0, h]]`, smaller magnitude first, and the rotations to the singular
/// vectors of the larger one: right, then left.
pub(crate) fn triangular_pair<R: Field<Real = R> + Float>(f: R, g: R, h: R) -> ([R; 2], Rotation<R>, Rotation<R>) {
    let (zero, one) = (<R as num_traits::Zero>::zero(), <R as num_traits::One>::one());
    let two = one + one;
    let four = two + two;
    let sign = |of: R| if Float::is_sign_negative(of) { -one } else { one };
    let swapped = Float::abs(h) > Float::abs(f);
    let (ft, ht) = if swapped { (h, f) } else { (f, h) };
    let (fa, ha, ga) = (Float::abs(ft), Float::abs(ht), Float::abs(g));
    // The element of largest magnitude determines the sign.
    let mut largest = if swapped { 3 } else { 1 };
    let (mut least, mut most) = (ha, fa);
    let (mut cl, mut sl, mut cr, mut sr) = (one, zero, one, zero);
    if ga != zero {
        let mut ordinary = true;
        if ga > fa {
            largest = 2;
            if fa / ga < R::epsilon() {
                ordinary = false;
                most = ga;
                least = if ha > one { fa / (ga / ha) } else { (fa / ga) * ha };
                cl = one;
                sl = ht / g;
                sr = one;
                cr = ft / g;
            }
        }
        if ordinary {
            let d = fa - ha;
            let mut l = if d == fa { one } else { d / fa };
            let m = g / ft;
            let mut t = two - l;
            let (mm, tt) = (m * m, t * t);
            let s = Float::sqrt(tt + mm);
            let r = if l == zero { Float::abs(m) } else { Float::sqrt(l * l + mm) };
            let a = (s + r) / two;
            least = ha / a;
            most = fa * a;
            t = if mm == zero {
                if l == zero { two * sign(ft) * sign(g) } else { g / (Float::abs(d) * sign(ft)) + m / t }
            } else {
                (m / (s + t) + m / (r + l)) * (one + a)
            };
            l = Float::sqrt(t * t + four);
            cr = two / l;
            sr = t / l;
            cl = (cr + sr * m) / a;
            sl = (ht / ft) * sr / a;
        }
    }
    let (left, right) = if swapped { ([sr, cr], [sl, cl]) } else { ([cl, sl], [cr, sr]) };
    let overall = match largest {
        1 => sign(right[0]) * sign(left[0]) * sign(f),
        2 => sign(right[1]) * sign(left[0]) * sign(g),
        _ => sign(right[1]) * sign(left[1]) * sign(h),
    };
    let most = Float::abs(most) * overall;
    let least = Float::abs(least) * (overall * sign(f) * sign(h));
    ([least, most], right, left)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Scales a number by every power of 2 for which the rotation's length stays in range, and compares the results.
    fn same_at_every_size<R: Field<Real = R> + Float + std::fmt::Debug>(powers: std::ops::Range<i32>) {
        let number = |value: f64| <R as num_traits::NumCast>::from(value).unwrap();
        for power in powers {
            let scale = Float::powi(number(2.0), power);
            let ([c, s], r) = rotation(number(-3.0) * scale, number(4.0) * scale);
            let near = |found: R, wanted: f64| Float::abs(found - number(wanted)) <= number(4.0) * Float::epsilon();
            assert!(
                near(c, 0.6) && near(s, -0.8) && near(r / scale / number(5.0), -1.0),
                "2^{power}: {c:?} {s:?} {r:?}"
            );
        }
    }

    #[test]
    fn rotations_are_the_same_at_every_size() {
        same_at_every_size::<f32>(-126..124);
        same_at_every_size::<f64>(-1022..1020);
    }
    #[test]
    fn collected_rotations_give_the_same_as_each_alone() {
        for (rows, columns) in [(1, 2), (STRIP - 1, 5), (STRIP, 5), (STRIP + 1, 70), (3 * STRIP + 7, 9), (0, 4)] {
            let mut together = RotatedColumns::<f32>::identity(rows, columns).unwrap();
            let mut alone = Matrix::<f32>::identity(rows, columns).unwrap();
            for step in 0..2 * PENDING + 3 {
                let (column, angle) = (step * 7 % (columns - 1), step as f32);
                let by = [angle.cos(), angle.sin()];
                together.rotate(column, by).unwrap();
                rotate_columns(&mut alone, column, column + 1, by);
            }
            let together = together.finish().unwrap();
            for (i, j) in alone.places() {
                assert_eq!(alone[(i, j)].to_bits(), together[(i, j)].to_bits(), "{rows} by {columns}: {i}, {j}");
            }
        }
    }
}
