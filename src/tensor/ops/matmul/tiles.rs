//! Products of small matrices, summed element by element in the order of the library behind PyTorch: identical to the
//! last bit on any processor. The library works in tiles, whose sums start from zero. Sums of the remaining rows and
//! columns start from the value that they are added to.

use super::product::Ring;
use crate::ops::number::Number;
use crate::parallel::{self, Kernel, Matrix, vectorised_kernel};
use crate::thresholds::{ORDERED, THREAD};
use crate::{Result, Scalar, interrupt, limits};
use num_complex::Complex;
use std::ops::Range;

/// How the library divides a small product into tiles.
pub(super) struct Tiling<'m, C> {
    /// The number of rows and columns covered by whole tiles. Their sums start from zero. Sums of the other elements
    /// start from the value that they are added to, with `alpha` applied to the first matrix.
    whole: [usize; 2],
    /// The second matrix in the layout that tiles read.
    b: Matrix<'m, C>,
    /// The factor of complete sums.
    alpha: C,
    /// The number of products that a tile sums before adding them to the result.
    depth: usize,
}

impl<'m, C: Ring> Tiling<'m, C> {
    /// A single tile: every sum starts from zero and is multiplied by `alpha` when complete.
    pub(super) fn one([n, _, p]: [usize; 3], alpha: C, b: Matrix<'m, C>) -> Self {
        Tiling { whole: [n, p], b, alpha, depth: usize::MAX }
    }

    /// No tiles: every sum starts from the value that it is added to.
    pub(crate) fn without_tiles(self) -> Self {
        Tiling { whole: [0, 0], ..self }
    }

    /// The library's tiles for numbers that it sums in lanes: four rows by two vectors in single precision, by one in
    /// double precision. Their depth is limited by the cache. `b` already includes the factor.
    pub(crate) fn of_library([n, m, p]: [usize; 3], b: Matrix<'m, C>) -> Self {
        let alpha = C::from_scalar(Scalar::Int(1));
        let is_single = C::LANES == 4;
        let depth = match m {
            _ if is_single => 112,
            ..=128 | 256.. => 128,
            _ => m / 8 * 4,
        };
        let is_tiled = if is_single { n.min(m).min(p) >= 8 } else { m > 1 };
        let columns = if is_single { 8 } else { 2 };
        let whole = if is_tiled { [n / 4 * 4, p / columns * columns] } else { [0, 0] };
        Tiling { whole, b, alpha, depth }
    }
}

/// Rows that are computed side by side, so that an element of the second matrix is read once for all of them.
const ROWS: usize = 4;

/// Steps of a sum between two changes of strip: their part of the second matrix fits a level-1 cache.
const STEPS: usize = 256;

/// Multiplications that take as long as one element of other loops.
pub(super) const PER_ELEMENT: usize = 16;

/// A type in which sums are computed, by lines of adjacent columns.
pub trait Lanes: Number {
    /// As many numbers as the widest vectors hold.
    type Line: Copy + Default;
    const WIDTH: usize;

    fn lane(line: &Self::Line, lane: usize) -> Self;

    fn set_lane(line: &mut Self::Line, lane: usize, value: Self);

    /// `sums += factor * line`, lane by lane.
    fn add_line(sums: &mut Self::Line, factor: Self, line: &Self::Line);
}

macro_rules! lanes {
    ($($t:ty, $width:literal;)*) => {$(
        impl Lanes for $t {
            type Line = [$t; $width];
            const WIDTH: usize = $width;
            #[inline(always)]
            fn lane(line: &Self::Line, lane: usize) -> $t {
                line[lane]
            }
            #[inline(always)]
            fn set_lane(line: &mut Self::Line, lane: usize, value: $t) {
                line[lane] = value;
            }
            #[inline(always)]
            fn add_line(sums: &mut Self::Line, factor: $t, line: &Self::Line) {
                sums.iter_mut().zip(line).for_each(|(sum, &value)| *sum = <$t>::plus_product(*sum, factor, value));
            }
        }
    )*};
}
lanes!(f32, 16; f64, 8; i32, 16; i64, 8;);

macro_rules! complex_lanes {
    ($($t:ty)*) => {$(
        // Real and imaginary parts are apart: side by side, compilers shuffle them in every step.
        impl Lanes for Complex<$t> {
            type Line = [[$t; 8]; 2];
            const WIDTH: usize = 8;
            #[inline(always)]
            fn lane([re, im]: &Self::Line, lane: usize) -> Self {
                Complex::new(re[lane], im[lane])
            }
            #[inline(always)]
            fn set_lane([re, im]: &mut Self::Line, lane: usize, value: Self) {
                (re[lane], im[lane]) = (value.re, value.im);
            }
            #[inline(always)]
            fn add_line([re, im]: &mut Self::Line, factor: Self, [x, y]: &Self::Line) {
                for lane in 0..8 {
                    re[lane] += factor.re * x[lane] - factor.im * y[lane];
                }
                for lane in 0..8 {
                    im[lane] += factor.re * y[lane] + factor.im * x[lane];
                }
            }
        }
    )*};
}
complex_lanes!(f32 f64);

/// Computes the product, summing each element's products in order.
pub(super) fn in_order<C: Ring>(
    into: &mut [C],
    [n, m, p]: [usize; 3],
    alpha: C,
    a: Matrix<C>,
    b: Matrix<C>,
    tiling: Tiling<C>,
) -> Result<()> {
    if p == 0 {
        return Ok(());
    }
    let into = into.get_mut(..n * p).unwrap_or_default();
    let is_one_tile = tiling.whole == [n, p] && tiling.depth == usize::MAX;
    if p == 1 && n > 1 && is_one_tile {
        // Lines are as long as a row of the result, so a column is computed as the row of the transposed product.
        let [a, b] = [a, b].map(|Matrix { values, strides: [down, along] }| Matrix { values, strides: [along, down] });
        return in_order(into, [1, m, n], alpha, b, a, Tiling::one([1, m, n], tiling.alpha, a));
    }
    let [rows, columns] = tiling.whole;
    let product = &InOrder { m, alpha, a, b, tiling };
    let of_row = m.saturating_mul(p).max(1);
    let work = of_row.saturating_mul(n) / PER_ELEMENT;
    let bands = if work < 2 * THREAD { 1 } else { parallel::cores() };
    if n == 1 {
        let width = C::Sum::WIDTH;
        let size = (ORDERED / m.max(1)).min(p.div_ceil(bands)).max(1).next_multiple_of(width);
        return parallel::parts_of(into, size, work, &|start, part| {
            let (tiled, rest) =
                part.split_at_mut(if rows == 1 { columns.saturating_sub(start).min(part.len()) } else { 0 });
            let behind = start + tiled.len();
            product.rectangle::<1>(tiled, tiled.len(), 0..1, start..behind, true)?;
            product.rectangle::<1>(rest, rest.len(), 0..1, behind..behind + rest.len(), false)
        });
    }
    let size = (ORDERED / of_row).min(n.div_ceil(bands)).max(1).next_multiple_of(ROWS) * p;
    parallel::parts_of(into, size, work, &|start, part| {
        let row = start / p;
        let (tiled, rest) = part.split_at_mut((rows.saturating_sub(row) * p).min(part.len()));
        let (between, end) = (row + tiled.len() / p, row + tiled.len() / p + rest.len() / p);
        product.rectangle::<ROWS>(tiled, p, row..between, 0..columns, true)?;
        product.rectangle::<ROWS>(tiled.get_mut(columns..).unwrap_or_default(), p, row..between, columns..p, false)?;
        product.rectangle::<ROWS>(rest, p, between..end, 0..p, false)
    })
}

/// A product that is summed in order.
struct InOrder<'m, C> {
    m: usize,
    alpha: C,
    a: Matrix<'m, C>,
    b: Matrix<'m, C>,
    tiling: Tiling<'m, C>,
}

impl<C: Ring> InOrder<'_, C> {
    /// Computes some rows and columns, `R` rows side by side. `into` begins with the first element; its rows are
    /// `stride` elements apart.
    fn rectangle<const R: usize>(
        &self,
        into: &mut [C],
        stride: usize,
        rows: Range<usize>,
        columns: Range<usize>,
        is_tiled: bool,
    ) -> Result<()> {
        if rows.is_empty() || columns.is_empty() {
            return Ok(());
        }
        let m = self.m;
        let (b, factor, depth) = match is_tiled {
            true => (self.tiling.b, None, self.tiling.depth),
            false => (self.b, Some(self.alpha), usize::MAX),
        };
        let groups = rows.len().div_ceil(R);
        let width = C::Sum::WIDTH;
        let size = groups.saturating_mul(R).saturating_mul(m);
        let mut factors = limits::filled(C::Sum::default(), size)?;
        for (row, to) in rows.clone().zip(factors.chunks_exact_mut(m.max(1))) {
            let values = self.a.values.get(row * self.a.strides[0]..).unwrap_or_default();
            let scaled = |&value: &C| factor.map_or(value, |factor| C::times(factor, value)).widened();
            // Adjacent elements are copied in vectors.
            match self.a.strides[1] {
                1 => to.iter_mut().zip(values).for_each(|(to, value)| *to = scaled(value)),
                step => {
                    to.iter_mut().zip(values.iter().step_by(step.max(1))).for_each(|(to, value)| *to = scaled(value))
                }
            }
        }
        let mut lines = limits::vector(m.min(STEPS))?;
        let mut sums = limits::filled([<C::Sum as Lanes>::Line::default(); R], groups)?;
        for first in columns.clone().step_by(width) {
            let strip = first..columns.end.min(first + width);
            let at = first - columns.start;
            let place = (stride, at..at + strip.len());
            if !is_tiled {
                exchange::<C>(sums.as_flattened_mut(), rows.len(), into, place.clone(), |result, _| result.widened());
            }
            for start in (0..m.max(1)).step_by(depth.min(STEPS)) {
                interrupt::check()?;
                let steps = start..m.min(start.saturating_add(depth.min(STEPS)));
                pack::<C>(&mut lines, b, steps.clone(), strip.clone());
                for (group, sums) in sums.iter_mut().enumerate() {
                    let rows: [&[C::Sum]; R] = std::array::from_fn(|r| {
                        let start = (group * R + r) * m;
                        factors.get(start + steps.start..start + steps.end).unwrap_or_default()
                    });
                    vectorised_kernel(AddSteps { sums, rows, lines: &lines });
                }
                if is_tiled && (depth <= STEPS || steps.end == m) {
                    let alpha = self.tiling.alpha;
                    exchange::<C>(sums.as_flattened_mut(), rows.len(), into, place.clone(), |result, sum| {
                        *result = C::plus_product(*result, alpha, C::narrowed(sum));
                        C::Sum::default()
                    });
                }
            }
            if !is_tiled {
                exchange::<C>(sums.as_flattened_mut(), rows.len(), into, place, |result, sum| {
                    *result = C::narrowed(sum);
                    sum
                });
            }
        }
        Ok(())
    }
}

/// Calls `body` with each result of a strip and its sum; `body` returns the new sum. `place` is the distance between rows
/// of the results, and the columns of the strip.
#[inline(always)]
fn exchange<C: Ring>(
    lines: &mut [<C::Sum as Lanes>::Line],
    rows: usize,
    into: &mut [C],
    (stride, columns): (usize, Range<usize>),
    body: impl Fn(&mut C, C::Sum) -> C::Sum,
) {
    for (line, row) in lines.iter_mut().take(rows).zip(into.chunks_mut(stride)) {
        let mut each = |(lane, result): (usize, &mut C)| {
            let sum = body(result, C::Sum::lane(line, lane));
            C::Sum::set_lane(line, lane, sum);
        };
        let results = row.get_mut(columns.clone()).unwrap_or_default();
        // A whole line is exchanged in vectors.
        match results.get_mut(..C::Sum::WIDTH) {
            Some(results) => results.iter_mut().enumerate().for_each(each),
            None => results.iter_mut().enumerate().for_each(&mut each),
        }
    }
}

/// Copies a strip of the second matrix, widened, so that its lines are adjacent. Lanes after the last column are zero.
fn pack<C: Ring>(lines: &mut Vec<<C::Sum as Lanes>::Line>, b: Matrix<C>, steps: Range<usize>, columns: Range<usize>) {
    let [along, across] = b.strides;
    lines.clear();
    lines.resize(steps.len(), Default::default());
    if across == 1 {
        for (k, line) in steps.zip(lines) {
            let values = b.values.get(k * along + columns.start..).unwrap_or_default();
            match values.get(..C::Sum::WIDTH) {
                // A whole line is copied in vectors.
                Some(values) if columns.len() == C::Sum::WIDTH => {
                    values.iter().enumerate().for_each(|(lane, value)| C::Sum::set_lane(line, lane, value.widened()));
                }
                _ => values.iter().take(columns.len()).enumerate().for_each(|(lane, value)| {
                    C::Sum::set_lane(line, lane, value.widened());
                }),
            }
        }
        return;
    }
    for (lane, column) in columns.enumerate() {
        let values = b.values.get(steps.start * along + column * across..).unwrap_or_default();
        for (line, value) in lines.iter_mut().zip(values.iter().step_by(along.max(1))) {
            C::Sum::set_lane(line, lane, value.widened());
        }
    }
}

/// Adds the products of some steps to the sums of `R` rows.
struct AddSteps<'a, S: Lanes, const R: usize> {
    sums: &'a mut [S::Line; R],
    rows: [&'a [S]; R],
    lines: &'a [S::Line],
}

impl<S: Lanes, const R: usize> Kernel for AddSteps<'_, S, R> {
    type Output = ();

    #[inline(always)]
    fn run(self, _fuses: bool) {
        let AddSteps { sums, rows, lines } = self;
        // Equal lengths spare the loop its bounds checks.
        let rows = rows.map(|row| &row[..lines.len()]);
        let mut own = *sums;
        for k in 0..lines.len() {
            // Keeps compilers from vectorising integers along the steps, by gathering.
            std::hint::black_box(());
            for r in 0..R {
                S::add_line(&mut own[r], rows[r][k], &lines[k]);
            }
        }
        *sums = own;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Computes an element by the rule. In a tile, sums of `depth` products start from zero, with `alpha` applied to
    /// the second factor. Elsewhere, one sum starts from `added`, with `alpha` applied to the first factor.
    fn element(added: f64, row: &[f64], column: &[f64], alpha: f64, tile: Option<usize>, round: fn(f64) -> f64) -> f64 {
        let add = |sum: f64, x: f64, y: f64| round(sum + round(x * y));
        let products = row.iter().zip(column);
        let Some(depth) = tile else { return products.fold(added, |sum, (&x, &y)| add(sum, round(alpha * x), y)) };
        let pieces = row.chunks(depth).zip(column.chunks(depth));
        pieces.fold(added, |sum, (row, column)| {
            let piece = row.iter().zip(column).fold(0.0, |sum, (&x, &y)| add(sum, x, round(alpha * y)));
            round(sum + piece)
        })
    }

    fn check<C: Ring>(make: fn(f64) -> C, to_f64: fn(C) -> f64, round: fn(f64) -> f64) {
        let is_single = C::LANES == 4;
        let alpha = round(0.6);
        let number = |k: usize| round(((k * 37 + 11) % 1009) as f64 / 7.0 - 70.0);
        for n in [1, 3, 4, 5, 8, 9] {
            for p in [1, 2, 3, 7, 8, 9, 17] {
                for m in [1, 2, 7, 8, 9, 111, 112, 113, 128, 129, 130, 200, 255, 256, 257, 300] {
                    let (a, b): (Vec<f64>, Vec<f64>) =
                        ((0..n * m).map(number).collect(), (0..m * p).map(|k| number(k * k + 3)).collect());
                    let added: Vec<f64> = (0..n * p).map(|k| number(5 * k)).collect();
                    let [made_a, made_b, mut into] =
                        [&a, &b, &added].map(|v| v.iter().map(|&x| make(x)).collect::<Vec<_>>());
                    let scaled: Vec<C> = b.iter().map(|&x| make(round(alpha * x))).collect();
                    let [matrix_a, matrix_b, matrix_scaled] = [(&made_a, m), (&made_b, p), (&scaled, p)]
                        .map(|(values, row)| Matrix { values: values.as_slice(), strides: [row, 1] });
                    let tiling = Tiling::of_library([n, m, p], matrix_scaled);
                    assert!(in_order(&mut into, [n, m, p], make(alpha), matrix_a, matrix_b, tiling).is_ok());
                    for (i, line) in into.chunks(p).enumerate() {
                        for (j, &got) in line.iter().enumerate() {
                            let whole = match is_single {
                                true => n >= 8 && m >= 8 && p >= 8 && i < n / 4 * 4 && j < p / 8 * 8,
                                false => m > 1 && i < n / 4 * 4 && j < p / 2 * 2,
                            };
                            let depth = match (is_single, m) {
                                (true, _) => 112,
                                (false, 129..256) => m / 2 / 4 * 4,
                                (false, _) => 128,
                            };
                            let column: Vec<f64> = b.iter().skip(j).step_by(p).copied().collect();
                            let row = &a[i * m..(i + 1) * m];
                            let want = element(added[i * p + j], row, &column, alpha, whole.then_some(depth), round);
                            assert_eq!(to_f64(got).to_bits(), want.to_bits(), "{n} x {m} x {p}, {i}, {j}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn elements_are_those_of_the_rule() {
        check::<f32>(|x| x as f32, f64::from, |x| f64::from(x as f32));
        check::<f64>(|x| x, |x| x, |x| x);
    }

    /// Rows and columns side by side, in any layout and on any number of cores, give what one element after another
    /// gives.
    fn check_twin<C: Ring + std::fmt::Debug>(make: fn(usize) -> C) {
        for [n, m, p] in [
            [1, 1, 1],
            [1, 300, 1],
            [2, 3, 1],
            [3, 0, 5],
            [4, 7, 3],
            [5, 9, 16],
            [9, 20, 37],
            [70, 31, 18],
            [1, 300, 70],
            [70, 300, 1],
            [5, 257, 33],
        ] {
            let values = |count: usize, seed: usize| -> Vec<C> { (0..count).map(|k| make(k * 7 + seed)).collect() };
            let (a, b, added) = (values(n * m, 1), values(m * p, 2), values(n * p, 3));
            for by_columns in [false, true] {
                let strides = |rows: usize, columns: usize| if by_columns { [1, rows] } else { [columns, 1] };
                let (x, y) = (
                    Matrix { values: a.as_slice(), strides: strides(n, m) },
                    Matrix { values: b.as_slice(), strides: strides(m, p) },
                );
                let at = |matrix: Matrix<C>, i: usize, j: usize| {
                    matrix.values[i * matrix.strides[0] + j * matrix.strides[1]]
                };
                for alpha in [C::from_scalar(Scalar::Int(1)), make(5)] {
                    for from_result in [false, true] {
                        let mut wanted = added.clone();
                        for (place, value) in wanted.iter_mut().enumerate() {
                            let (i, j) = (place / p, place % p);
                            *value = if from_result {
                                (0..m).fold(*value, |sum, k| {
                                    C::plus_product(sum, C::times(alpha, at(x, i, k)), at(y, k, j))
                                })
                            } else {
                                let sum =
                                    (0..m).fold(C::default(), |sum, k| C::plus_product(sum, at(x, i, k), at(y, k, j)));
                                C::plus_product(*value, alpha, sum)
                            };
                        }
                        for cores in [1, 3] {
                            parallel::set_cores(cores);
                            let tiling = Tiling::one([n, m, p], alpha, y);
                            let tiling = if from_result { tiling.without_tiles() } else { tiling };
                            let mut found = added.clone();
                            in_order(&mut found, [n, m, p], alpha, x, y, tiling).unwrap();
                            assert_eq!(found, wanted, "{n} x {m} x {p}, {by_columns}, {from_result}, {cores}");
                        }
                        parallel::set_cores(0);
                    }
                }
            }
        }
    }

    #[test]
    fn rows_side_by_side_are_what_single_elements_are() {
        check_twin::<i64>(|k| (k as i64).wrapping_mul(0x9e37_79b9_7f4a_7c15_u64 as i64));
        check_twin::<u8>(|k| k as u8);
        check_twin::<f64>(|k| (k % 101) as f64 / 7.0 - 5.0);
        check_twin::<f32>(|k| (k % 101) as f32 / 7.0 - 5.0);
        check_twin::<Complex<f32>>(|k| Complex::new((k % 17) as f32 / 3.0, (k % 5) as f32));
        check_twin::<i16>(|k| (k as i16).wrapping_mul(31_337));
        check_twin::<i32>(|k| (k as i32).wrapping_mul(0x9e37_79b9_u32 as i32));
        check_twin::<Complex<f64>>(|k| Complex::new((k % 17) as f64 / 3.0, (k % 5) as f64 - 2.0));
    }
}
