//! Products of small matrices, summed element by element in the order of the library behind PyTorch: identical to the
//! last bit on any processor. The library works in tiles, whose sums start from zero. Sums of the remaining rows and
//! columns start from the value that they are added to.

use super::product::{Ring, buffer};
use crate::parallel::{Matrix, vectorised};
use crate::{Result, Scalar, interrupt};

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

/// Computes the product row by row, summing each element's products in order.
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
    let mut row = buffer::<C>(p)?;
    for (i, into) in into.chunks_exact_mut(p).enumerate().take(n) {
        interrupt::check()?;
        let split = if i < rows { columns.min(p) } else { 0 };
        let (tiled, rest) = row.split_at_mut(split);
        let (tiles, others) = into.split_at_mut(split);
        rest.copy_from_slice(others);
        for start in (0..m.max(1)).step_by(tiling.depth) {
            tiled.fill(C::default());
            for piece in interrupt::pieces(start..m.min(start.saturating_add(tiling.depth)), p) {
                let piece = piece?;
                vectorised(|| {
                    for k in piece {
                        let factor = a.values.get(i * a.strides[0] + k * a.strides[1]).copied().unwrap_or_default();
                        add_line(tiled, factor, tiling.b, k, 0);
                        add_line(rest, C::times(alpha, factor), b, k, split);
                    }
                });
            }
            let tiles = tiles.iter_mut().zip(tiled.iter());
            tiles.for_each(|(into, total)| *into = C::plus_product(*into, tiling.alpha, *total));
        }
        others.copy_from_slice(rest);
    }
    Ok(())
}

/// `totals += factor · row k of b`, starting at a column.
#[inline(always)]
fn add_line<C: Ring>(totals: &mut [C], factor: C, b: Matrix<C>, k: usize, column: usize) {
    let line = b.values.get(k * b.strides[0] + column * b.strides[1]..).unwrap_or_default();
    match b.strides[1] {
        0 | 1 => totals.iter_mut().zip(line).for_each(|(t, &value)| *t = C::plus_product(*t, factor, value)),
        step => {
            let line = line.iter().step_by(step);
            totals.iter_mut().zip(line).for_each(|(t, &value)| *t = C::plus_product(*t, factor, value));
        }
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
}
