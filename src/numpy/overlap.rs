//! Whether two arrays have a byte in common, exactly. Follows
//! <https://numpy.org/doc/2.4/reference/generated/numpy.shares_memory.html>.

use crate::array::Array;
use tensor::{Result, interrupt};

/// A dimension of either array: the distance of a step, which is positive, and the largest number of steps.
type Term = (i128, i128);

/// Returns whether two arrays have a byte in common.
///
/// A byte of the first is a sum of steps along its dimensions and within an element, one of the second too. The
/// question is whether the two sums can be equal: whether an equation with bounded whole numbers has a solution.
///
/// # Errors
/// KeyboardInterrupt: the search can be long.
pub(crate) fn shares(a: &Array, b: &Array) -> Result<bool> {
    let (Some((low, _)), Some((other, _))) = (a.bounds(), b.bounds()) else { return Ok(false) };
    let mut terms: Vec<Term> = Vec::new();
    for array in [a, b] {
        for (&size, &stride) in array.places.shape.iter().zip(&array.places.strides) {
            if size > 1 && stride != 0 {
                terms.push((i128::from(stride.unsigned_abs()), i128::from(size) - 1));
            }
        }
        terms.push((1, array.itemsize() as i128 - 1));
    }
    // The steps of the second array count downwards from its last byte, so that all have the same sign.
    let reach = |array: &Array| -> i128 {
        let steps = array.places.shape.iter().zip(&array.places.strides);
        let along: i128 =
            steps.map(|(&size, &stride)| (i128::from(size) - 1) * i128::from(stride.unsigned_abs())).sum();
        along + array.itemsize() as i128 - 1
    };
    let target = i128::from(other) + reach(b) - i128::from(low);
    terms.sort_unstable_by(|x, y| y.cmp(x));
    let rests: Vec<(i128, i128)> = (0..=terms.len())
        .map(|from| {
            let rest = &terms[from..];
            (rest.iter().map(|(step, most)| step * most).sum(), rest.iter().fold(0, |all, (step, _)| gcd(all, *step)))
        })
        .collect();
    let mut work = 0;
    reaches(&terms, &rests, target, &mut work)
}

/// Returns whether steps of these terms can add up to `target`. `rests` holds, for each term, the largest sum of it and
/// those behind it, and the divisor that all their sums have.
fn reaches(terms: &[Term], rests: &[(i128, i128)], target: i128, work: &mut usize) -> Result<bool> {
    *work += 1;
    interrupt::check_at(*work)?;
    let Some((&(most, divisor), behind)) = rests.split_first() else { return Ok(target == 0) };
    if target < 0 || target > most || divisor != 0 && target % divisor != 0 || divisor == 0 && target != 0 {
        return Ok(false);
    }
    let Some((&(step, count), rest)) = terms.split_first() else { return Ok(target == 0) };
    let beyond = behind.first().map_or(0, |(most, _)| *most);
    // At least as many steps that the others can add what is missing.
    let least = ((target - beyond).max(0) + step - 1) / step;
    let mut steps = (target / step).min(count);
    while steps >= least {
        if reaches(rest, behind, target - steps * step, work)? {
            return Ok(true);
        }
        steps -= 1;
    }
    Ok(false)
}

fn gcd(a: i128, b: i128) -> i128 {
    if b == 0 { a } else { gcd(b, a % b) }
}
