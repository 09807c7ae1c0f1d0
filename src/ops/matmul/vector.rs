//! A matrix times a vector, added up in the order of the library behind PyTorch where it makes the results the same on every
//! processor: to the last bit, at any size. It knows numbers in a row, no tensors.

use super::product::Ring;
use crate::tensor::parallel::{Matrix, parts, vectorised};
use crate::tensor::{Result, interrupt};

/// The rows that are added up together.
const ROWS: usize = 4;
/// The columns that the rows left over take at a time.
const COLUMNS: usize = 8;
/// The chains of lanes that the products of two vectors are added to.
const CHAINS: usize = 4;
/// The rows of which every column is added before the next rows' begin.
const STRIP: usize = 1 << 10;

/// `into += alpha · a @ v`, where sums are made in `L` lanes. `v` holds an element for each column of `a`.
///
/// # Errors
/// KeyboardInterrupt.
pub fn add_product<C: Ring, const L: usize>(into: &mut [C], alpha: C, a: Matrix<C>, v: &[C]) -> Result<()> {
    match a.strides {
        [1, column] => by_columns(into, alpha, a.values, column, v),
        [row, _] => by_rows::<C, L>(into, alpha, a.values, row, v),
    }
}

/// Column by column, each multiplied by its factor. The columns begin `step` elements from each other.
fn by_columns<C: Ring>(into: &mut [C], alpha: C, values: &[C], step: usize, v: &[C]) -> Result<()> {
    parts(into, STRIP, &|start, into| {
        for (first, into) in (start..).step_by(STRIP).zip(into.chunks_mut(STRIP)) {
            for (j, &factor) in v.iter().enumerate() {
                interrupt::check_at(j)?;
                let factor = C::times(alpha, factor);
                let column = values.get(j * step + first..).unwrap_or_default();
                vectorised(|| {
                    into.iter_mut().zip(column).for_each(|(to, &x)| *to = C::plus_product(*to, factor, x));
                });
            }
        }
        Ok(())
    })
}

/// Row by row, four at a time. The rows begin `step` elements from each other.
fn by_rows<C: Ring, const L: usize>(into: &mut [C], alpha: C, values: &[C], step: usize, v: &[C]) -> Result<()> {
    let row = |i: usize| values.get(i * step..i * step + v.len()).unwrap_or_default();
    let whole = into.len() / ROWS * ROWS;
    let (fours, left) = into.split_at_mut(whole);
    let unit = (STRIP / v.len().max(1)).max(1) * ROWS;
    parts(fours, unit, &|start, fours| {
        for (i, four) in (start..).step_by(ROWS).zip(fours.chunks_exact_mut(ROWS)) {
            interrupt::check()?;
            let sums = vectorised(|| four_sums::<C, L>([row(i), row(i + 1), row(i + 2), row(i + 3)], v));
            four.iter_mut().zip(sums).for_each(|(to, sum)| *to = C::plus_product(*to, alpha, sum));
        }
        Ok(())
    })?;
    // A pair has its own sums, and so has a row on its own: of as many chains of lanes as it has registers for.
    let alone = if L == 4 { 2 } else { 4 };
    let chains: &[usize] = match left.len() {
        1 => &[alone],
        2 => &[2, 1],
        _ => &[2, 1, alone],
    };
    for (k, (to, &chains)) in left.iter_mut().zip(chains).enumerate() {
        interrupt::check()?;
        *to = C::plus_product(*to, alpha, one_sum::<C, L>(row(whole + k), v, chains));
    }
    Ok(())
}

/// The sums of four rows' products with `v`: in lanes, of which the first begins with the first product.
#[inline(always)]
fn four_sums<C: Ring, const L: usize>(rows: [&[C]; ROWS], v: &[C]) -> [C; ROWS] {
    let Some((&first, rest)) = v.split_first() else { return [C::default(); ROWS] };
    let mut lanes = [[C::default(); L]; ROWS];
    let mut behind = rows;
    for ((lanes, row), behind) in lanes.iter_mut().zip(rows).zip(&mut behind) {
        let Some((&x, after)) = row.split_first() else { continue };
        lanes[0] = C::times(x, first);
        *behind = after;
    }
    let whole = rest.len() / L * L;
    let [a, b, c, d] = behind;
    let pieces = a.chunks_exact(L).zip(b.chunks_exact(L)).zip(c.chunks_exact(L)).zip(d.chunks_exact(L));
    for (y, (((a, b), c), d)) in rest.chunks_exact(L).zip(pieces) {
        for (lanes, x) in lanes.iter_mut().zip([a, b, c, d]) {
            for lane in 0..L {
                lanes[lane] = C::plus_product(lanes[lane], x[lane], y[lane]);
            }
        }
    }
    let mut sums = [C::default(); ROWS];
    for ((sum, lanes), row) in sums.iter_mut().zip(lanes).zip(behind) {
        *sum = with_rest(together(lanes), row.get(whole..).unwrap_or_default(), &rest[whole..]);
    }
    sums
}

/// The sum of a row's products with `v`, in as many chains of lanes; in order where there are few.
#[inline(always)]
fn one_sum<C: Ring, const L: usize>(row: &[C], v: &[C], chains: usize) -> C {
    let (Some((&x, row)), Some((&y, v))) = (row.split_first(), v.split_first()) else { return C::default() };
    let mut sums = [[C::default(); L]; 4];
    sums[0][0] = C::times(x, y);
    let whole = v.len() / COLUMNS * COLUMNS;
    for (x, y) in row.chunks_exact(COLUMNS).zip(v.chunks_exact(COLUMNS)) {
        for (k, (x, y)) in x.chunks_exact(L).zip(y.chunks_exact(L)).enumerate() {
            let lanes = &mut sums[k % chains];
            for lane in 0..L {
                lanes[lane] = C::plus_product(lanes[lane], x[lane], y[lane]);
            }
        }
    }
    let [a, b, c, d] = sums;
    let lanes = match chains {
        4 => both(both(a, b), both(c, d)),
        2 => both(a, b),
        _ => a,
    };
    with_rest(together(lanes), row.get(whole..).unwrap_or_default(), &v[whole..])
}

/// The sum of two vectors' products: four chains of lanes, to which what is left is added by shorter and shorter steps.
///
/// # Errors
/// KeyboardInterrupt.
pub fn dot<C: Ring, const L: usize>(a: &[C], b: &[C]) -> Result<C> {
    let mut chains = [[C::default(); L]; CHAINS];
    let step = CHAINS * L;
    let whole = a.len() / step * step;
    let piece = interrupt::STRIDE / step * step;
    let (a, a_rest) = a.split_at(whole);
    let (b, b_rest) = b.split_at(whole.min(b.len()));
    for (a, b) in a.chunks(piece).zip(b.chunks(piece)) {
        interrupt::check()?;
        vectorised(|| a.chunks_exact(step).zip(b.chunks_exact(step)).for_each(|(a, b)| add_step(&mut chains, a, b)));
    }
    // In single precision two chains go on for once.
    let pair = if L == 4 && a_rest.len() >= 2 * L { 2 * L } else { 0 };
    let (a, a_rest) = a_rest.split_at(pair);
    let (b, b_rest) = b_rest.split_at(pair.min(b_rest.len()));
    add_step(&mut chains, a, b);
    for (a, b) in a_rest.chunks(L).zip(b_rest.chunks(L)) {
        match a.len() == L {
            true => add_step(&mut chains, a, b),
            // Each to the first lane.
            false => a.iter().zip(b).for_each(|(&x, &y)| chains[0][0] = C::plus_product(chains[0][0], x, y)),
        }
    }
    let [first, others @ ..] = chains;
    Ok(together(others.into_iter().fold(first, both)))
}

/// Adds the products of so many steps to as many chains.
#[inline(always)]
fn add_step<C: Ring, const L: usize>(chains: &mut [[C; L]; CHAINS], a: &[C], b: &[C]) {
    for (lanes, (x, y)) in chains.iter_mut().zip(a.chunks_exact(L).zip(b.chunks_exact(L))) {
        for lane in 0..L {
            lanes[lane] = C::plus_product(lanes[lane], x[lane], y[lane]);
        }
    }
}

#[inline(always)]
fn both<C: Ring, const L: usize>(mut a: [C; L], b: [C; L]) -> [C; L] {
    a.iter_mut().zip(b).for_each(|(a, b)| *a = C::plus(*a, b));
    a
}

/// The sum of all lanes, by halves.
#[inline(always)]
fn together<C: Ring, const L: usize>(mut lanes: [C; L]) -> C {
    let mut width = L;
    while width > 1 {
        width /= 2;
        for lane in 0..width {
            lanes[lane] = C::plus(lanes[lane], lanes[lane + width]);
        }
    }
    lanes.first().copied().unwrap_or_default()
}

#[inline(always)]
fn with_rest<C: Ring>(sum: C, row: &[C], v: &[C]) -> C {
    row.iter().zip(v).fold(sum, |sum, (&x, &y)| C::plus_product(sum, x, y))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rule as it was found: a lane takes every `L`-th product behind the first, chain after chain; lanes are added by
    /// halves, and what is left one by one.
    fn slowly(products: &[f64], lanes: usize, block: usize, chains: usize, round: fn(f64) -> f64) -> f64 {
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
        for n in 0..10 {
            for m in (0..40).chain([64, 100, 1023, 1024, 1025, 3000]) {
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
                    let want = slowly(&products, L, block, chains, round);
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
    }

    /// The rule of [`dot`], one lane at a time.
    fn dot_slowly(products: &[f64], lanes: usize, round: fn(f64) -> f64) -> f64 {
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
            assert_eq!(got.ok(), Some(dot_slowly(&products, L, round).to_bits()), "{m} products");
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
