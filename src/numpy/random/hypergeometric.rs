//! Hypergeometric numbers of `Generator`, univariate and multivariate.

use super::common::requested_at;
use super::common::{interval, to_long};
use super::logarithms::log_factorial;
use super::source::Source;
use tensor::Result;
use tensor::limits::list as with_room;

/// `hypergeometric(ngood, nbad, nsample)`.
pub(super) fn hypergeometric(source: &mut Source<'_>, good: i64, bad: i64, sample: i64) -> i64 {
    let population = good.wrapping_add(bad);
    if sample >= 10 && sample <= population.wrapping_sub(10) {
        by_ratio(source, good, bad, sample)
    } else {
        by_drawing(source, good, bad, sample)
    }
}

/// Draws one by one, or draws the items that stay behind if these are fewer.
fn by_drawing(source: &mut Source<'_>, good: i64, bad: i64, sample: i64) -> i64 {
    let all = good.wrapping_add(bad);
    let complement = sample > all / 2;
    let mut to_draw = if complement { all.wrapping_sub(sample) } else { sample };
    let (mut left, mut left_good) = (all, good);
    while to_draw > 0 && left_good > 0 && left > left_good {
        left -= 1;
        if (interval(source.bits, left as u64) as i64) < left_good {
            left_good -= 1;
        }
        to_draw -= 1;
    }
    if left == left_good {
        left_good -= to_draw;
    }
    if complement { left_good } else { good.wrapping_sub(left_good) }
}

/// Stadlober's ratio of uniforms (HRUA, 1989).
fn by_ratio(source: &mut Source<'_>, good: i64, bad: i64, sample: i64) -> i64 {
    // 2 sqrt(2 / e), and 3 - 2 sqrt(3 / e).
    const SLOPE: f64 = 1.7155277699214135;
    const OFFSET: f64 = 0.8989161620588988;
    let population = good.wrapping_add(bad);
    let drawn = sample.min(population.wrapping_sub(sample));
    let (smaller, larger) = (good.min(bad), good.max(bad));
    let share = smaller as f64 / population as f64;
    let other = larger as f64 / population as f64;
    let centre = drawn as f64 * share + 0.5;
    let variance =
        population.wrapping_sub(drawn) as f64 * drawn as f64 * share * other / population.wrapping_sub(1) as f64;
    let spread = (variance + 0.5).sqrt();
    let width = SLOPE * spread + OFFSET;
    let mode = (drawn + 1) as f64 * (smaller + 1) as f64 / population.wrapping_add(2) as f64;
    let log_density = |k: i64| {
        log_factorial(k) + log_factorial(smaller - k) + log_factorial(drawn - k) + log_factorial(larger - drawn + k)
    };
    let at_mode = log_density(to_long(mode.floor()));
    let limit = (centre + 16.0 * spread).floor();
    let most = (drawn.min(smaller) + 1) as f64;
    let limit = if most < limit { most } else { limit };
    let k = loop {
        let u = source.uniform();
        let v = source.uniform();
        let x = centre + width * (v - 0.5) / u;
        if x < 0.0 || x >= limit {
            continue;
        }
        let k = to_long(x.floor());
        let t = at_mode - log_density(k);
        if u * (4.0 - u) - 3.0 <= t {
            break k;
        }
        if u * (u - t) >= 1.0 {
            continue;
        }
        if 2.0 * u.ln() <= t {
            break k;
        }
    };
    let k = if good > bad { drawn - k } else { k };
    if drawn < sample { good - k } else { k }
}

/// Fills one draw of `multivariate_hypergeometric(colors, nsample, method='marginals')`: color by color. The arguments
/// passed [`check::colors`](super::check::colors).
pub(super) fn by_marginals(source: &mut Source<'_>, colors: &[i64], sample: i64, counts: &mut [i64]) {
    counts.fill(0);
    let total = sum(colors);
    if total == 0 || sample == 0 {
        return;
    }
    let complement = sample > total / 2;
    let mut to_draw = if complement { total.wrapping_sub(sample) } else { sample };
    let mut remaining = total;
    let last = counts.len().saturating_sub(1);
    for (count, color) in counts.iter_mut().zip(colors).take(last) {
        if to_draw <= 0 {
            break;
        }
        remaining = remaining.wrapping_sub(*color);
        *count = hypergeometric(source, *color, remaining, to_draw);
        to_draw -= *count;
    }
    if let Some(count) = counts.last_mut().filter(|_| to_draw > 0) {
        *count = to_draw;
    }
    if complement {
        subtract_from(colors, counts);
    }
}

/// The draws of one call of `multivariate_hypergeometric(…, method='count')`. All items lie in one array whose order
/// carries over to the next draw, so make one of these for each call.
pub(super) struct Urn {
    items: Vec<usize>,
}

impl Urn {
    pub(super) fn new(colors: &[i64]) -> Result<Self> {
        let mut items = with_room(usize::try_from(sum(colors)).unwrap_or(usize::MAX))?;
        for (color, count) in colors.iter().enumerate() {
            items.extend((0..*count).map(|_| color));
        }
        Ok(Urn { items })
    }

    /// Fills one draw.
    pub(super) fn draw(&mut self, source: &mut Source<'_>, colors: &[i64], sample: i64, counts: &mut [i64]) {
        counts.fill(0);
        let total = self.items.len();
        let sample = usize::try_from(sample).unwrap_or(0);
        if total == 0 || sample == 0 {
            return;
        }
        let complement = sample > total / 2;
        let drawn = if complement { total.saturating_sub(sample) } else { sample };
        for at in 0..drawn {
            if requested_at(at) {
                return;
            }
            let other = at + interval(source.bits, (total - at - 1) as u64) as usize;
            self.items.swap(at, other);
            if let Some(count) = counts.get_mut(self.items[at]) {
                *count += 1;
            }
        }
        if complement {
            subtract_from(colors, counts);
        }
    }
}

fn sum(colors: &[i64]) -> i64 {
    colors.iter().fold(0, |sum, count| sum.saturating_add(*count))
}

fn subtract_from(colors: &[i64], counts: &mut [i64]) {
    for (count, color) in counts.iter_mut().zip(colors) {
        *count = color.wrapping_sub(*count);
    }
}
