//! Products of small matrices, summed element by element in the order of the library behind PyTorch: identical to the
//! last bit on any processor. The library works in tiles, whose sums start from zero. Sums of the remaining rows and
//! columns start from the value that they are added to.

use super::product::{Ring, buffer};
use crate::parallel::{self, Matrix, vectorised};
use crate::thresholds::ORDERED;
use crate::{Result, Scalar, interrupt};
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

/// Multiplications that take as long as one element of other loops.
const PER_ELEMENT: usize = 4;

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
    let [rows, columns] = tiling.whole;
    let product = &InOrder { m, p, alpha, a, b, tiling };
    let of_row = m.saturating_mul(p).max(1);
    let size = (ORDERED / of_row).max(1).next_multiple_of(ROWS) * p;
    let into = into.get_mut(..n * p).unwrap_or_default();
    parallel::parts_of(into, size, of_row.saturating_mul(n) / PER_ELEMENT, &|start, part| {
        let row = start / p;
        let (tiled, rest) = part.split_at_mut((rows.saturating_sub(row) * p).min(part.len()));
        product.strips(tiled, row, columns.min(p))?;
        product.strips(rest, row.max(rows), 0)
    })
}

/// A product that is summed in order.
struct InOrder<'m, C> {
    m: usize,
    p: usize,
    alpha: C,
    a: Matrix<'m, C>,
    b: Matrix<'m, C>,
    tiling: Tiling<'m, C>,
}

impl<C: Ring> InOrder<'_, C> {
    /// Computes rows, of which the first is number `row`: as many columns at a time as fit registers. The first `split`
    /// columns are covered by tiles.
    fn strips(&self, into: &mut [C], row: usize, split: usize) -> Result<()> {
        let (mut column, is_small) = (0, size_of::<C>() <= 4);
        while column < self.p && !into.is_empty() {
            let is_tiled = column < split;
            let place = [row, column];
            column += match if is_tiled { split } else { self.p } - column {
                16.. if is_small => self.strip::<16>(into, place, is_tiled)?,
                8.. if !is_small => self.strip::<8>(into, place, is_tiled)?,
                4.. => self.strip::<4>(into, place, is_tiled)?,
                _ => self.strip::<1>(into, place, is_tiled)?,
            };
        }
        Ok(())
    }

    /// Computes `W` columns of the rows. Returns their number.
    fn strip<const W: usize>(&self, into: &mut [C], [row, column]: [usize; 2], is_tiled: bool) -> Result<usize> {
        let mut b = if is_tiled { self.tiling.b } else { self.b };
        b.values = b.values.get(column * b.strides[1]..).unwrap_or_default();
        // For several rows, the strip is copied, so that its lines are adjacent.
        let mut copied = Vec::new();
        if into.len() > ROWS * self.p {
            copied = buffer::<C>(self.m * W)?;
            for (k, line) in copied.as_chunks_mut::<W>().0.iter_mut().enumerate() {
                *line = line_of(b, k);
            }
        }
        let b = Strip { matrix: b, copied: copied.as_chunks().0 };
        for (row, rows) in (row..).step_by(ROWS).zip(into.chunks_mut(ROWS * self.p)) {
            if rows.len() == ROWS * self.p {
                self.columns::<ROWS, W>(rows, [row, column], b, is_tiled)?;
                continue;
            }
            for (row, line) in (row..).zip(rows.chunks_mut(self.p)) {
                self.columns::<1, W>(line, [row, column], b, is_tiled)?;
            }
        }
        Ok(W)
    }

    /// Computes `W` columns of `R` rows.
    fn columns<const R: usize, const W: usize>(
        &self,
        into: &mut [C],
        [row, column]: [usize; 2],
        b: Strip<C, W>,
        is_tiled: bool,
    ) -> Result<()> {
        let mut totals = [[C::default(); W]; R];
        for (totals, line) in totals.iter_mut().zip(into.chunks_exact(self.p)) {
            *totals = line.get(column..).and_then(|line| line.first_chunk().copied()).unwrap_or(*totals);
        }
        let Tiling { alpha, depth, .. } = self.tiling;
        if is_tiled {
            for start in (0..self.m.max(1)).step_by(depth) {
                let mut sums = [[C::default(); W]; R];
                self.add(&mut sums, row, b, start..self.m.min(start.saturating_add(depth)), None)?;
                for (total, &sum) in totals.as_flattened_mut().iter_mut().zip(sums.as_flattened()) {
                    *total = C::plus_product(*total, alpha, sum);
                }
            }
        } else {
            self.add(&mut totals, row, b, 0..self.m, Some(self.alpha))?;
        }
        for (totals, line) in totals.iter().zip(into.chunks_exact_mut(self.p)) {
            if let Some(line) = line.get_mut(column..).and_then(|line| line.first_chunk_mut()) {
                *line = *totals;
            }
        }
        Ok(())
    }

    /// Adds the products of some steps to sums, with `alpha` applied to the first factor if there is one.
    fn add<const R: usize, const W: usize>(
        &self,
        sums: &mut [[C; W]; R],
        row: usize,
        b: Strip<C, W>,
        steps: Range<usize>,
        alpha: Option<C>,
    ) -> Result<()> {
        let [of_rows, along] = self.a.strides;
        for piece in interrupt::pieces(steps, R * W) {
            let piece = piece?;
            vectorised(|| {
                let mut own = *sums;
                let mut step = |k: usize, line: &[C; W]| {
                    for (r, sums) in own.iter_mut().enumerate() {
                        let factor = self.a.values.get((row + r) * of_rows + k * along).copied().unwrap_or_default();
                        let factor = alpha.map_or(factor, |alpha| C::times(alpha, factor));
                        sums.iter_mut().zip(line).for_each(|(sum, &value)| *sum = C::plus_product(*sum, factor, value));
                    }
                };
                match b.copied.get(piece.clone()) {
                    Some(lines) => piece.zip(lines).for_each(|(k, line)| step(k, line)),
                    None => piece.for_each(|k| step(k, &line_of(b.matrix, k))),
                }
                *sums = own;
            });
        }
        Ok(())
    }
}

/// Some columns of the second matrix.
#[derive(Clone, Copy)]
struct Strip<'m, C, const W: usize> {
    /// The matrix from the first of them on.
    matrix: Matrix<'m, C>,
    /// Their lines, if they were copied.
    copied: &'m [[C; W]],
}

/// Returns the first elements of row `k`.
#[inline(always)]
fn line_of<C: Ring, const W: usize>(b: Matrix<C>, k: usize) -> [C; W] {
    let line = b.values.get(k * b.strides[0]..).unwrap_or_default();
    match line.first_chunk() {
        Some(line) if b.strides[1] == 1 => *line,
        _ => std::array::from_fn(|j| line.get(j * b.strides[1]).copied().unwrap_or_default()),
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
        for [n, m, p] in
            [[1, 1, 1], [1, 300, 1], [2, 3, 1], [3, 0, 5], [4, 7, 3], [5, 9, 16], [9, 20, 37], [70, 31, 18]]
        {
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
        check_twin::<num_complex::Complex<f32>>(|k| num_complex::Complex::new((k % 17) as f32 / 3.0, (k % 5) as f32));
        check_twin::<crate::memory::BoolByte>(|k| crate::memory::BoolByte::new(k % 3 == 0));
    }
}
