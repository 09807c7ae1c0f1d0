//! Matrix-vector products, summed in the order of the library behind PyTorch wherever that order is the same on every
//! processor: identical to the last bit at any size. Works on slices, not tensors.

use super::product::Ring;
use crate::parallel::{Kernel, Matrix, PER_ELEMENT, parts_of, vectorised, vectorised_kernel};
use crate::thresholds::{SHORT_COLUMN, STRIP};
use crate::{Result, interrupt};

/// The number of rows whose sums are computed together.
const ROWS: usize = 4;
/// The number of columns that the remaining rows process at a time.
const COLUMNS: usize = 8;
/// The maximum number of chains of lanes in a sum.
const CHAINS: usize = 4;

/// `into += alpha · a @ v`, with sums in `L` lanes. `v` has one element for each column of `a`.
///
/// # Errors
/// KeyboardInterrupt.
pub(super) fn add_product<C: Ring, const L: usize>(into: &mut [C], alpha: C, a: Matrix<C>, v: &[C]) -> Result<()> {
    let work = into.len().saturating_mul(v.len()) / PER_ELEMENT;
    match a.strides {
        [1, step] if into.len() < SHORT_COLUMN => short_columns(into, alpha, a.values, step, v),
        [1, step] => {
            parts_of(into, STRIP, work, &|first, into| by_columns(into, alpha, a.values.get(first..), step, v))
        }
        [step, _] => {
            let whole = into.len() / ROWS * ROWS;
            let (fours, left) = into.split_at_mut(whole);
            parts_of(fours, STRIP, work, &|first, into| {
                by_rows::<C, L>(into, alpha, a.values.get(first * step..).unwrap_or_default(), step, v)
            })?;
            rows_left::<C, L>(left, alpha, a.values.get(whole * step..).unwrap_or_default(), step, v)
        }
    }
}

/// Adds column by column, each multiplied by its factor. Columns are `step` elements apart.
fn by_columns<C: Ring>(into: &mut [C], alpha: C, values: Option<&[C]>, step: usize, v: &[C]) -> Result<()> {
    for (j, &factor) in v.iter().enumerate() {
        interrupt::check_at(j)?;
        let factor = C::times(alpha, factor);
        let column = values.and_then(|values| values.get(j * step..)).unwrap_or_default();
        vectorised(|| into.iter_mut().zip(column).for_each(|(to, &x)| *to = C::plus_product(*to, factor, x)));
    }
    Ok(())
}

/// Like [`by_columns`], one element of the result at a time.
fn short_columns<C: Ring>(into: &mut [C], alpha: C, values: &[C], step: usize, v: &[C]) -> Result<()> {
    for (i, to) in into.iter_mut().enumerate() {
        for (j, v) in (0..).step_by(interrupt::STRIDE).zip(v.chunks(interrupt::STRIDE)) {
            interrupt::check()?;
            let row = values.get(j * step + i..).unwrap_or_default().iter().step_by(step.max(1));
            *to = row.zip(v).fold(*to, |sum, (&x, &y)| C::plus_product(sum, C::times(alpha, y), x));
        }
    }
    Ok(())
}

/// Multiplies row by row, eight or four at a time. Rows are `step` elements apart.
fn by_rows<C: Ring, const L: usize>(into: &mut [C], alpha: C, values: &[C], step: usize, v: &[C]) -> Result<()> {
    let piece = (interrupt::STRIDE / v.len().max(1)).max(1) * 2 * ROWS;
    for (first, into) in (0..).step_by(piece).zip(into.chunks_mut(piece)) {
        interrupt::check()?;
        vectorised_kernel(Rows::<C, L> {
            into,
            alpha,
            values: values.get(first * step..).unwrap_or_default(),
            step,
            v,
        });
    }
    Ok(())
}

/// Some rows of [`by_rows`]. A kernel, because compilers do not inline so large a closure.
struct Rows<'a, C, const L: usize> {
    into: &'a mut [C],
    alpha: C,
    values: &'a [C],
    step: usize,
    v: &'a [C],
}

impl<C: Ring, const L: usize> Kernel for Rows<'_, C, L> {
    type Output = ();

    #[inline(always)]
    fn run(self, _fuses: bool) {
        let Rows { into, alpha, values, step, v } = self;
        let row = |i: usize| values.get(i * step..i * step + v.len()).unwrap_or_default();
        for (i, into) in (0..).step_by(2 * ROWS).zip(into.chunks_mut(2 * ROWS)) {
            let rows: [&[C]; 2 * ROWS] = std::array::from_fn(|k| row(i + k));
            let sums = match rows {
                [a, b, c, d, ..] if into.len() == ROWS => {
                    let [a, b, c, d] = sums_in_step::<C, L, ROWS>([a, b, c, d], v);
                    [a, b, c, d, a, b, c, d]
                }
                rows => sums_in_step::<C, L, { 2 * ROWS }>(rows, v),
            };
            into.iter_mut().zip(sums).for_each(|(to, sum)| *to = C::plus_product(*to, alpha, sum));
        }
    }
}

/// Sums the products of rows with `v` in lanes; the first lane starts with the first product.
#[inline(always)]
fn sums_in_step<C: Ring, const L: usize, const R: usize>(rows: [&[C]; R], v: &[C]) -> [C; R] {
    let Some((&first, v)) = v.split_first() else { return [C::default(); R] };
    let mut lanes = [[C::default(); L]; R];
    let rows = std::array::from_fn(|r| {
        let (&x, behind) = rows[r].split_first().unwrap_or((&first, &[]));
        lanes[r][0] = C::times(x, first);
        behind
    });
    let (steps, v_left) = v.as_chunks::<L>();
    let pieces: [&[[C; L]]; R] = rows.map(|row: &[C]| row.as_chunks::<L>().0);
    // Equal lengths spare the loop its bounds checks.
    if pieces.iter().any(|row| row.len() != steps.len()) {
        return [C::default(); R];
    }
    for k in 0..steps.len() {
        for r in 0..R {
            add_lanes(&mut lanes[r], &pieces[r][k], &steps[k]);
        }
    }
    let sums = all_together(&lanes);
    std::array::from_fn(|r| with_rest(sums[r], rows[r].get(steps.len() * L..), v_left))
}

/// Sums the lanes of each row. If inlined, the compiler would transpose rows and lanes in every step.
#[inline(never)]
fn all_together<C: Ring, const L: usize, const R: usize>(lanes: &[[C; L]; R]) -> [C; R] {
    lanes.map(sum_lanes)
}

/// Multiplies the remaining rows. Two rows are summed together, a single row by itself, in as many chains of lanes as
/// the library has registers for.
fn rows_left<C: Ring, const L: usize>(into: &mut [C], alpha: C, values: &[C], step: usize, v: &[C]) -> Result<()> {
    let row = |i: usize| values.get(i * step..i * step + v.len()).unwrap_or_default();
    let alone = |row: &[C]| match L {
        4 => one_sum::<C, L, 2>(row, v),
        _ => one_sum::<C, L, 4>(row, v),
    };
    let sums = match into.len() {
        0 => return Ok(()),
        1 => [alone(row(0))?, C::default(), C::default()],
        2 => [one_sum::<C, L, 2>(row(0), v)?, one_sum::<C, L, 1>(row(1), v)?, C::default()],
        _ => [one_sum::<C, L, 2>(row(0), v)?, one_sum::<C, L, 1>(row(1), v)?, alone(row(2))?],
    };
    into.iter_mut().zip(sums).for_each(|(to, sum)| *to = C::plus_product(*to, alpha, sum));
    Ok(())
}

/// Sums a row's products with `v` in `K` chains of lanes; short rows are summed in order.
fn one_sum<C: Ring, const L: usize, const K: usize>(row: &[C], v: &[C]) -> Result<C> {
    let (Some((&x, row)), Some((&y, v))) = (row.split_first(), v.split_first()) else { return Ok(C::default()) };
    let mut sums = [[C::default(); L]; K];
    sums[0][0] = C::times(x, y);
    let whole = v.len() / COLUMNS * COLUMNS;
    add_pieces(&mut sums, row.get(..whole).unwrap_or_default(), &v[..whole])?;
    let lanes = match K {
        4 => both(both(sums[0], sums[1 % K]), both(sums[2 % K], sums[3 % K])),
        2 => both(sums[0], sums[1 % K]),
        _ => sums[0],
    };
    Ok(with_rest(sum_lanes(lanes), row.get(whole..), &v[whole..]))
}

/// Sums the products of two vectors in four chains of lanes. The remaining products are added in smaller and smaller
/// steps.
///
/// # Errors
/// KeyboardInterrupt.
pub(super) fn dot<C: Ring, const L: usize>(a: &[C], b: &[C]) -> Result<C> {
    let mut chains = [[C::default(); L]; CHAINS];
    let whole = a.len() / (CHAINS * L) * CHAINS * L;
    let (a, a_left) = a.split_at(whole);
    let (b, b_left) = b.split_at(whole.min(b.len()));
    add_pieces(&mut chains, a, b)?;
    // In single precision, two chains take one more step.
    let pair = if L == 4 && a_left.len() >= 2 * L { 2 * L } else { 0 };
    let (a, a_left) = a_left.split_at(pair);
    let (b, b_left) = b_left.split_at(pair.min(b_left.len()));
    for (chain, (x, y)) in chains.iter_mut().zip(a.as_chunks().0.iter().zip(b.as_chunks().0)) {
        add_lanes(chain, x, y);
    }
    let ((a, a_left), (b, b_left)) = (a_left.as_chunks::<L>(), b_left.as_chunks::<L>());
    a.iter().zip(b).for_each(|(x, y)| add_lanes(&mut chains[0], x, y));
    // The last products go to the first lane.
    chains[0][0] = with_rest(chains[0][0], Some(a_left), b_left);
    let [first, others @ ..] = chains;
    Ok(sum_lanes(others.into_iter().fold(first, both)))
}

/// Adds products to `K` chains in turn, one vector of lanes each.
fn add_pieces<C: Ring, const L: usize, const K: usize>(chains: &mut [[C; L]; K], a: &[C], b: &[C]) -> Result<()> {
    let piece = interrupt::STRIDE / (K * L) * K * L;
    for (a, b) in a.chunks(piece).zip(b.chunks(piece)) {
        interrupt::check()?;
        vectorised_kernel(Chains { chains, a, b });
    }
    Ok(())
}

/// A piece of [`add_pieces`].
struct Chains<'a, C, const L: usize, const K: usize> {
    chains: &'a mut [[C; L]; K],
    a: &'a [C],
    b: &'a [C],
}

impl<C: Ring, const L: usize, const K: usize> Kernel for Chains<'_, C, L, K> {
    type Output = ();

    #[inline(always)]
    fn run(self, _fuses: bool) {
        let mut sums = *self.chains;
        let [a, b] = [self.a, self.b].map(|values| values.as_chunks::<L>().0.as_chunks::<K>().0);
        for (a, b) in a.iter().zip(b) {
            for k in 0..K {
                add_lanes(&mut sums[k], &a[k], &b[k]);
            }
        }
        *self.chains = sums;
    }
}

#[inline(always)]
fn add_lanes<C: Ring, const L: usize>(lanes: &mut [C; L], x: &[C; L], y: &[C; L]) {
    for lane in 0..L {
        lanes[lane] = C::plus_product(lanes[lane], x[lane], y[lane]);
    }
}

#[inline(always)]
fn both<C: Ring, const L: usize>(a: [C; L], b: [C; L]) -> [C; L] {
    std::array::from_fn(|lane| C::plus(a[lane], b[lane]))
}

/// Sums all lanes by halves.
#[inline(always)]
pub(super) fn sum_lanes<C: Ring, const L: usize>(mut lanes: [C; L]) -> C {
    let mut width = L;
    while width > 1 {
        width /= 2;
        for lane in 0..width {
            lanes[lane] = C::plus(lanes[lane], lanes[lane + width]);
        }
    }
    lanes[0]
}

/// Adds the remaining products to a sum, one by one.
#[inline(always)]
pub(crate) fn with_rest<C: Ring>(sum: C, row: Option<&[C]>, v: &[C]) -> C {
    row.unwrap_or_default().iter().zip(v).fold(sum, |sum, (&x, &y)| C::plus_product(sum, x, y))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rule as observed: each lane takes every `L`-th product after the first, chain after chain. Lanes are summed
    /// by halves, and the remaining products one by one.
    fn reference_sum(products: &[f64], lanes: usize, block: usize, chains: usize, round: fn(f64) -> f64) -> f64 {
        let Some((&first, rest)) = products.split_first() else { return 0.0 };
        let whole = rest.len() / block * block;
        let mut sums = vec![0.0; lanes * chains];
        sums[0] = first;
        for (k, product) in rest[..whole].iter().enumerate() {
            let place = k % block % (lanes * chains);
            sums[place] = round(sums[place] + product);
        }
        let mut of_chains: Vec<Vec<f64>> = sums.chunks(lanes).map(<[f64]>::to_vec).collect();
        while of_chains.len() > 1 {
            of_chains = of_chains
                .chunks(2)
                .map(|pair| pair[0].iter().zip(&pair[1]).map(|(a, b)| round(a + b)).collect())
                .collect();
        }
        let mut sums = of_chains.remove(0);
        while sums.len() > 1 {
            let half = sums.split_off(sums.len() / 2);
            sums.iter_mut().zip(half).for_each(|(a, b)| *a = round(*a + b));
        }
        rest[whole..].iter().fold(sums[0], |sum, product| round(sum + product))
    }

    fn check<C: Ring, const L: usize>(make: fn(f64) -> C, to_f64: fn(C) -> f64, round: fn(f64) -> f64) {
        let number = |k: usize| make(((k * 37 + 11) % 1009) as f64 / 7.0 - 70.0);
        let few = (0..10).flat_map(|n| (0..40).chain([64, 100, 1023, 1024, 1025, 3000]).map(move |m| (n, m)));
        let around = |size: usize| [size - 1, size, size + 1];
        // Enough rows for several cores, and sizes just below and above the limits.
        let many =
            around(SHORT_COLUMN).into_iter().chain(around(STRIP)).chain(around(2 * STRIP)).chain([100 * STRIP + 5]);
        let many = many.flat_map(|n| [(n, 1), (n, 3), (n, 100)]);
        for (n, m) in few.chain(many).chain([(3, 100_000), (100_000, 3)]) {
            let values: Vec<C> = (0..n * m).map(number).collect();
            let v: Vec<C> = (0..m).map(|k| number(k * k + 5)).collect();
            let mut into = vec![make(0.0); n];
            let by_rows = Matrix { values: &values, strides: [m, 2] };
            assert!(add_product::<C, L>(&mut into, make(1.0), by_rows, &v).is_ok());
            for (i, sum) in into.iter().enumerate() {
                let row = &values[i * m..(i + 1) * m];
                let products: Vec<f64> = row.iter().zip(&v).map(|(&x, &y)| to_f64(C::times(x, y))).collect();
                let alone = if L == 4 { 2 } else { 4 };
                let (block, chains) = match (i - i / 4 * 4, n - i / 4 * 4) {
                    (_, 4..) => (L, 1),
                    (0, 1) | (2, 3) => (COLUMNS, alone),
                    (0, _) => (COLUMNS, 2),
                    _ => (COLUMNS, 1),
                };
                let want = reference_sum(&products, L, block, chains, round);
                assert_eq!(to_f64(*sum).to_bits(), want.to_bits(), "row {i} of {n}, {m} columns");
            }
            let turned: Vec<C> = (0..n * m).map(|k| values[k % n.max(1) * m + k / n.max(1)]).collect();
            let mut into = vec![make(0.0); n];
            let columns = Matrix { values: &turned, strides: [1, n] };
            assert!(add_product::<C, L>(&mut into, make(1.0), columns, &v).is_ok());
            for (i, sum) in into.iter().enumerate() {
                let row = &values[i * m..(i + 1) * m];
                let want = row.iter().zip(&v).fold(0.0, |sum, (&x, &y)| round(sum + to_f64(C::times(x, y))));
                assert_eq!(to_f64(*sum).to_bits(), want.to_bits(), "column {i} of {n}, {m} terms");
            }
        }
    }

    /// The rule of [`dot`], one lane at a time.
    fn reference_dot(products: &[f64], lanes: usize, round: fn(f64) -> f64) -> f64 {
        let mut sums = vec![0.0; CHAINS * lanes];
        let mut rest = products;
        let mut take = |rest: &mut &[f64], count: usize, to: &dyn Fn(usize) -> usize| {
            let (taken, left) = rest.split_at(count);
            taken.iter().enumerate().for_each(|(k, product)| sums[to(k)] = round(sums[to(k)] + product));
            *rest = left;
        };
        while rest.len() >= CHAINS * lanes {
            take(&mut rest, CHAINS * lanes, &|k| k);
        }
        if lanes == 4 && rest.len() >= 8 {
            take(&mut rest, 8, &|k| k);
        }
        while rest.len() >= lanes {
            take(&mut rest, lanes, &|k| k);
        }
        let count = rest.len();
        take(&mut rest, count, &|_| 0);
        let chain = |lane: usize| (1..CHAINS).fold(sums[lane], |sum, k| round(sum + sums[k * lanes + lane]));
        match lanes {
            4 => round(round(chain(0) + chain(2)) + round(chain(1) + chain(3))),
            _ => round(chain(0) + chain(1)),
        }
    }

    fn check_dot<C: Ring, const L: usize>(make: fn(f64) -> C, to_f64: fn(C) -> f64, round: fn(f64) -> f64) {
        for m in (0..200).chain([1023, 4096, 100_001]) {
            let a: Vec<C> = (0..m).map(|k| make(((k * 37 + 11) % 1009) as f64 / 7.0 - 70.0)).collect();
            let b: Vec<C> = (0..m).map(|k| make(((k * 53 + 5) % 907) as f64 / 11.0 - 40.0)).collect();
            let products: Vec<f64> = a.iter().zip(&b).map(|(&x, &y)| to_f64(C::times(x, y))).collect();
            let got = dot::<C, L>(&a, &b).map(to_f64).map(f64::to_bits);
            assert_eq!(got.ok(), Some(reference_dot(&products, L, round).to_bits()), "{m} products");
        }
    }

    #[test]
    fn dots_are_those_of_the_rule() {
        check_dot::<f32, 4>(|x| x as f32, f64::from, |x| f64::from(x as f32));
        check_dot::<f64, 2>(|x| x, |x| x, |x| x);
    }

    #[test]
    fn sums_are_those_of_the_rule() {
        check::<f32, 4>(|x| x as f32, f64::from, |x| f64::from(x as f32));
        check::<f64, 2>(|x| x, |x| x, |x| x);
    }
}
