//! Quantiles without sorting or copying: the number of a given rank is found 16 bits at a time, by counting.

use super::figure::for_each_element;
use tensor::{Result, View};

/// The number of bits that one pass decides.
const DIGIT: u32 = 16;

/// Maps a finite float to an integer with the same order.
fn ordered(value: f64) -> u64 {
    // Both zeros are the same number.
    let bits = (value + 0.0).to_bits();
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}

fn value_of(ordered: u64) -> f64 {
    f64::from_bits(if ordered >> 63 == 1 { ordered & !(1 << 63) } else { !ordered })
}

/// A number being searched: its known leading bits, and its rank among the numbers with the same leading bits.
struct Wanted {
    prefix: u64,
    rank: u64,
}

/// Returns the quantiles of the finite elements, `count` in number, interpolated like `torch.quantile`.
pub(super) fn quantiles(view: &View, count: u64, parts: &[f64]) -> Result<Vec<f64>> {
    let Some(last) = count.checked_sub(1) else { return Ok(Vec::new()) };
    let places: Vec<f64> = parts.iter().map(|part| part * last as f64).collect();
    let ranks = places.iter().flat_map(|place| [place.floor() as u64, place.ceil() as u64]);
    let mut wanted: Vec<Wanted> = ranks.map(|rank| Wanted { prefix: 0, rank: rank.min(last) }).collect();
    for step in 1..=64 / DIGIT {
        let shift = 64 - DIGIT * step;
        let mut prefixes: Vec<u64> = wanted.iter().map(|wanted| wanted.prefix).collect();
        prefixes.dedup();
        let mut counts = vec![vec![0u64; 1 << DIGIT]; prefixes.len()];
        for_each_element(view, |_, value| {
            if value.is_finite() {
                let bits = ordered(value) >> shift;
                for (prefix, counts) in prefixes.iter().zip(&mut counts) {
                    if bits >> DIGIT == *prefix
                        && let Some(count) = counts.get_mut((bits & ((1 << DIGIT) - 1)) as usize)
                    {
                        *count += 1;
                    }
                }
            }
        })?;
        for wanted in &mut wanted {
            let Some(counts) =
                prefixes.iter().position(|prefix| *prefix == wanted.prefix).and_then(|at| counts.get(at))
            else {
                continue;
            };
            let digit = counts.iter().take_while(|count| {
                let is_below = **count <= wanted.rank;
                wanted.rank -= if is_below { **count } else { 0 };
                is_below
            });
            wanted.prefix = wanted.prefix << DIGIT | digit.count() as u64;
        }
    }
    let between = |(pair, place): (&[Wanted], &f64)| {
        let [low, high] = pair else { return f64::NAN };
        let (low, high, part) = (value_of(low.prefix), value_of(high.prefix), place.fract());
        low * (1.0 - part) + high * part
    };
    Ok(wanted.chunks(2).zip(&places).map(between).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use tensor::{DType, Scalar};

    #[test]
    fn quantiles_are_those_of_the_sorted_numbers() {
        let mut state = 7u64;
        for count in [1usize, 2, 3, 10, 257] {
            let mut numbers: Vec<f64> = (0..count)
                .map(|i| {
                    state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    let value = f64::from_bits(state & !(1 << 62));
                    if i % 7 == 3 { -0.0 } else { value }
                })
                .filter(|value| value.is_finite())
                .collect();
            let mut all = numbers.clone();
            all.extend([f64::NAN, f64::INFINITY]);
            let view =
                View::from_scalars(&[all.len() as i64], DType::Double, all.into_iter().map(Scalar::Float)).unwrap();
            numbers.sort_by(f64::total_cmp);
            let parts = [0.0, 0.25, 0.5, 1.0];
            let found = quantiles(&view, numbers.len() as u64, &parts).unwrap();
            for (part, found) in parts.iter().zip(found) {
                let place = part * (numbers.len() - 1) as f64;
                let (low, high) = (numbers[place.floor() as usize], numbers[place.ceil() as usize]);
                assert_eq!(found, low * (1.0 - place.fract()) + high * place.fract(), "{count} {part}");
            }
        }
    }
}
