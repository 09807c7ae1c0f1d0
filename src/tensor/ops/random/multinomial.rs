//! Weighted sampling: `torch.multinomial`. Checks the weights, with PyTorch's messages; the caller checks the shape.
//!
//! <https://pytorch.org/docs/2.7/generated/torch.multinomial.html>

use super::RealKind;
use super::continuous::exponential;
use super::generator::Generator;
use super::top::{first_greatest, top};
use crate::interrupt::watched;

/// Draws `samples` categories for each row of `weights`, a matrix with `categories` columns and elements of dtype
/// `kind`. The result has a row of `samples` category numbers for each row of weights.
pub fn multinomial(
    generator: &mut Generator,
    weights: &[f64],
    categories: usize,
    samples: usize,
    replacement: bool,
    kind: RealKind,
) -> Result<Vec<i64>, String> {
    if samples == 0 {
        return Err("cannot sample n_sample <= 0 samples".to_owned());
    }
    if !replacement && samples > categories {
        return Err("cannot sample n_sample > prob_dist.size(-1) samples without replacement".to_owned());
    }
    if replacement && samples > 1 {
        with_replacement(generator, weights, categories, samples, kind)
    } else {
        without_replacement(generator, weights, categories, samples, kind)
    }
}

/// Samples by exponential races: every category gets an exponential time with its weight as rate, and the first ones
/// are chosen.
fn without_replacement(
    generator: &mut Generator,
    weights: &[f64],
    categories: usize,
    samples: usize,
    kind: RealKind,
) -> Result<Vec<i64>, String> {
    if !weights.iter().all(|weight| (0.0..f64::INFINITY).contains(weight)) {
        return Err("probability tensor contains either `inf`, `nan` or element < 0".to_owned());
    }
    if rows(weights, categories).any(|row| row.iter().all(|&weight| weight == 0.0)) {
        return Err("invalid multinomial distribution (sum of probabilities <= 0)".to_owned());
    }
    // Waiting times, which become speeds.
    let mut speeds = vec![0.0; weights.len()];
    exponential(generator, &mut speeds, kind, 1.0);
    speeds.iter_mut().zip(weights).for_each(|(time, weight)| *time = kind.round(weight / *time));
    let chosen = rows(&speeds, categories).flat_map(|row| match samples {
        1 => first_greatest(row).into_iter().collect(),
        _ => top(row, samples),
    });
    Ok(chosen.map(|category| category as i64).collect())
}

/// Looks up uniform numbers in the cumulative sums of the weights.
fn with_replacement(
    generator: &mut Generator,
    weights: &[f64],
    categories: usize,
    samples: usize,
    kind: RealKind,
) -> Result<Vec<i64>, String> {
    // 16-bit weights are summed in single precision.
    let sums = if kind == RealKind::F64 { kind } else { RealKind::F32 };
    let mut chosen = Vec::new();
    for row in rows(weights, categories) {
        let mut total = 0.0;
        let mut bounds = Vec::with_capacity(categories);
        for &weight in row {
            if weight.is_nan() || weight < 0.0 {
                return Err("invalid multinomial distribution (encountering probability entry < 0)".to_owned());
            }
            if weight.is_infinite() {
                return Err(
                    "invalid multinomial distribution (encountering probability entry = infinity or NaN)".to_owned()
                );
            }
            total = sums.round(total + weight);
            bounds.push(total);
        }
        if total <= 0.0 {
            return Err("invalid multinomial distribution (sum of probabilities <= 0)".to_owned());
        }
        for bound in &mut bounds {
            *bound = sums.round(*bound / total);
        }
        // The last category includes the rounding error.
        bounds.pop();
        for _ in watched(0..samples) {
            let sample = generator.unit();
            chosen.push(bounds.partition_point(|&bound| bound < sample) as i64);
        }
    }
    Ok(chosen)
}

fn rows(values: &[f64], columns: usize) -> std::slice::ChunksExact<'_, f64> {
    values.chunks_exact(columns.max(1))
}

#[cfg(test)]
mod tests {
    use super::super::tests::seeded;
    use super::RealKind::{BF16, F32};
    use super::*;

    #[test]
    fn weighted_choices() {
        let column = [0.0, 10.0, 3.0, 0.0];
        let rows = [1.0, 2.0, 3.0, 4.0, 4.0, 3.0, 2.0, 1.0];
        let expected: [(&[f64], usize, bool, &[i64]); 6] = [
            (&column, 2, false, &[1, 2]),
            (&column, 4, false, &[1, 2, 0, 3]),
            (&column, 1, false, &[1]),
            (&column, 6, true, &[2, 1, 1, 2, 1, 2]),
            (&rows, 3, false, &[2, 1, 3, 2, 0, 3]),
            (&rows, 3, true, &[3, 3, 2, 3, 1, 2]),
        ];
        for (weights, samples, replacement, expected) in expected {
            let got = multinomial(&mut seeded(0), weights, 4, samples, replacement, F32);
            assert_eq!(got, Ok(expected.to_vec()), "{weights:?}, {samples}, {replacement}");
        }
    }

    #[test]
    fn arrivals_of_few_digits_meet_in_ties() {
        let expected = [11, 6, 17, 9, 7, 12, 16, 15, 10, 2, 14, 8, 13, 4, 18, 1, 19, 5, 3, 0];
        let got = multinomial(&mut seeded(0), &[1.0; 20], 20, 20, false, BF16);
        assert_eq!(got, Ok(expected.to_vec()));
        let got = multinomial(&mut seeded(0), &[1.0; 200], 200, 3, false, BF16);
        assert_eq!(got, Ok(vec![58, 74, 168]));
    }

    #[test]
    fn weights_that_are_refused() {
        let zero = "invalid multinomial distribution (sum of probabilities <= 0)";
        let bad = "probability tensor contains either `inf`, `nan` or element < 0";
        let negative = "invalid multinomial distribution (encountering probability entry < 0)";
        let infinite = "invalid multinomial distribution (encountering probability entry = infinity or NaN)";
        let many = "cannot sample n_sample > prob_dist.size(-1) samples without replacement";
        let none = "cannot sample n_sample <= 0 samples";
        let (inf, nan) = (f64::INFINITY, f64::NAN);
        let expected: [(&[f64], usize, bool, &str); 11] = [
            (&[0.0, 0.0], 1, false, zero),
            (&[1.0, 1.0, 0.0, 0.0], 2, true, zero),
            (&[1.0, 1.0, 0.0, 0.0], 1, true, zero),
            (&[-1.0, 2.0], 2, false, bad),
            (&[nan, 2.0], 1, false, bad),
            (&[inf, 2.0], 1, true, bad),
            (&[-1.0, 2.0], 2, true, negative),
            (&[nan, 2.0], 2, true, negative),
            (&[inf, 2.0], 2, true, infinite),
            (&[1.0, 2.0], 3, false, many),
            (&[1.0, 2.0], 0, true, none),
        ];
        for (weights, samples, replacement, message) in expected {
            let got = multinomial(&mut seeded(0), weights, 2, samples, replacement, F32);
            assert_eq!(got, Err(message.to_owned()), "{weights:?}, {samples}, {replacement}");
        }
        assert_eq!(multinomial(&mut seeded(0), &[], 3, 2, true, F32), Ok(Vec::new()));
    }
}
