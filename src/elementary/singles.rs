//! Loops over slices of `f32` for WebAssembly, whose vectors have two doubles and no fused steps. Elsewhere a kernel inlines
//! the functions of [`super::series`] into a loop for the processor's vectors.

use super::series::{self, Fused, Plain, all_checked};

/// The elements that are computed together.
const GROUP: usize = 16;

/// Computes a function of every value: with plain steps, and with fused ones where the last bit of an `f32` could differ.
#[inline(always)]
fn each(values: &[f32], out: &mut [f32], plain: impl Fn(f64) -> f64, fused: impl Fn(f64) -> f64) {
    let (groups, rest) = values.as_chunks::<GROUP>();
    let (outs, out_rest) = out.as_chunks_mut::<GROUP>();
    for (out, group) in outs.iter_mut().zip(groups) {
        *out = of_group(group, &plain, &fused);
    }
    // The last ones are computed in a group that has other numbers, too.
    let mut last = [1.0; GROUP];
    last.iter_mut().zip(rest).for_each(|(to, &value)| *to = value);
    let last = of_group(&last, plain, fused);
    out_rest.iter_mut().zip(last).for_each(|(out, value)| *out = value);
}

#[inline(always)]
fn of_group(group: &[f32; GROUP], plain: impl Fn(f64) -> f64, fused: impl Fn(f64) -> f64) -> [f32; GROUP] {
    let mut numbers = [0.0; GROUP];
    numbers.iter_mut().zip(group).for_each(|(number, &value)| *number = f64::from(value));
    let numbers = all_checked(numbers, plain, fused);
    let mut results = [0.0; GROUP];
    results.iter_mut().zip(numbers).for_each(|(result, number)| *result = number as f32);
    results
}

macro_rules! loops {
    ($($name:ident)*) => {$(
        #[doc = concat!("Computes [`series::", stringify!($name), "`] of every value.")]
        #[inline(never)]
        pub fn $name(values: &[f32], out: &mut [f32]) {
            each(values, out, series::$name::<Plain>, series::$name::<Fused>);
        }
    )*};
}
loops! { exp exp2 exp_m1 ln log2 log10 ln_1p sinh cosh tanh sin cos tan asin acos atan atanh erf erfc erfinv }

/// Computes [`series::sigmoid`] of every value.
#[inline(never)]
pub fn sigmoid(values: &[f32], out: &mut [f32]) {
    each(values, out, |x| series::exp::<Plain>(-x), |x| series::exp::<Fused>(-x));
    out.iter_mut().for_each(|power| *power = 1.0 / (1.0 + *power));
}

/// Adds rows of numbers to `sums`, lane by lane. `rows` holds rows of 32 numbers, as `sums` does.
#[inline(never)]
pub fn add_rows(sums: &mut [f32; 32], rows: &[[f32; 32]]) {
    let mut lanes = *sums;
    for row in rows {
        lanes.iter_mut().zip(row).for_each(|(lane, number)| *lane += number);
    }
    *sums = lanes;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every length around a group, beside one element at a time with fused steps.
    #[test]
    fn loops_compute_what_single_elements_do() {
        let values: Vec<f32> = (0..3 * GROUP).map(|k| (k as f32 - 20.0) * 0.37).chain([0.0, -0.0, f32::NAN]).collect();
        macro_rules! each_loop {
            ($($name:ident)*) => {$(
                for length in 0..=values.len() {
                    let values = &values[values.len() - length..];
                    let mut out = vec![7.0; length];
                    $name(values, &mut out);
                    for (&value, got) in values.iter().zip(out) {
                        let wanted = series::$name::<Fused>(f64::from(value)) as f32;
                        assert!(got.to_bits() == wanted.to_bits() || got.is_nan() && wanted.is_nan(), "{value} {got} {wanted}");
                    }
                }
            )*};
        }
        each_loop! {
            exp exp2 exp_m1 ln log2 log10 ln_1p sinh cosh tanh sin cos tan asin acos atan atanh erf erfc erfinv sigmoid
        }
    }

    #[test]
    fn rows_are_added_lane_by_lane() {
        let rows: Vec<[f32; 32]> = (0..7).map(|i| std::array::from_fn(|k| 0.1 + i as f32 * k as f32)).collect();
        let mut sums = [1.5; 32];
        add_rows(&mut sums, &rows);
        for (k, sum) in sums.into_iter().enumerate() {
            assert_eq!(sum, rows.iter().fold(1.5, |total, row| total + row[k]));
        }
    }
}
