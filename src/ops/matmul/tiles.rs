//! Products of small matrices, element by element in the order in which the library behind PyTorch adds: to the last bit, on
//! any processor. It works in tiles, whose sums begin at zero; what is left beside and beneath them begins at what it is
//! added to.

use super::product::{Ring, buffer};
use crate::tensor::parallel::{Matrix, vectorised};
use crate::tensor::{Result, Scalar, interrupt};

/// How the library makes a small product.
pub struct Tiling<'m, C> {
    /// The rows and columns of which it makes whole tiles. Their sums begin at zero; those of the others begin at what they
    /// are added to, with the first matrix multiplied beforehand.
    whole: [usize; 2],
    /// The second matrix as the tiles meet it.
    b: Matrix<'m, C>,
    /// The factor of complete sums.
    alpha: C,
    /// The products that a tile adds up before it adds them to what there is.
    depth: usize,
}

impl<'m, C: Ring> Tiling<'m, C> {
    /// A single tile: every sum begins at zero, and is multiplied when it is complete.
    pub fn one([n, _, p]: [usize; 3], alpha: C, b: Matrix<'m, C>) -> Self {
        Tiling { whole: [n, p], b, alpha, depth: usize::MAX }
    }

    /// No tiles: every sum begins at what it is added to.
    pub fn without_tiles(self) -> Self {
        Tiling { whole: [0, 0], ..self }
    }

    /// The library's tiles for numbers that it adds in lanes: four rows by two vectors of as many lanes in single precision,
    /// by one in double precision, and no more products deep than its memory next to the processor has room for. `b` has
    /// been multiplied beforehand.
    pub fn of_library([n, m, p]: [usize; 3], b: Matrix<'m, C>) -> Self {
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

/// Row by row, each element's products added in their order.
pub fn in_order<C: Ring>(
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

/// `totals += factor · row k of b`, from a column on.
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
