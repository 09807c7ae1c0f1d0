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
loops! { exp2 exp_m1 ln log2 log10 ln_1p sinh cosh tanh sin cos tan asin acos atan atanh erf erfc erfinv }

/// Computes [`series::exp`] of every value.
#[inline(never)]
pub fn exp(values: &[f32], out: &mut [f32]) {
    #[cfg(target_feature = "simd128")]
    pairs::each(values, out, series::exp::<pairs::Steps>, series::exp::<Fused>);
    #[cfg(not(target_feature = "simd128"))]
    each(values, out, series::exp::<Plain>, series::exp::<Fused>);
}

/// Computes [`series::sigmoid`] of every value.
#[inline(never)]
pub fn sigmoid(values: &[f32], out: &mut [f32]) {
    #[cfg(target_feature = "simd128")]
    pairs::each(values, out, |x| series::exp::<pairs::Steps>(-x), |x| series::exp::<Fused>(-x));
    #[cfg(not(target_feature = "simd128"))]
    each(values, out, |x| series::exp::<Plain>(-x), |x| series::exp::<Fused>(-x));
    out.iter_mut().for_each(|power| *power = 1.0 / (1.0 + *power));
}

/// Adds rows of numbers to `sums`, lane by lane. `rows` holds rows of 32 numbers, as `sums` does.
#[inline(never)]
pub fn add_rows(sums: &mut [f32; 32], rows: &[[f32; 32]]) {
    #[cfg(target_feature = "simd128")]
    return pairs::add_rows(sums, rows);
    #[cfg(not(target_feature = "simd128"))]
    for row in rows {
        sums.iter_mut().zip(row).for_each(|(sum, number)| *sum += number);
    }
}

/// Two doubles in a vector of WebAssembly.
#[cfg(target_feature = "simd128")]
mod pairs {
    use super::GROUP;
    use super::series::{self, EXTRA, Lanes, MARGIN};
    use std::arch::wasm32::*;
    use std::ops::{Add, Div, Mul, Neg, Sub};

    #[derive(Clone, Copy)]
    pub(super) struct Pair(v128);

    macro_rules! operators {
        ($($operator:ident $method:ident $instruction:ident;)*) => {$(
            impl $operator for Pair {
                type Output = Pair;
                #[inline(always)]
                fn $method(self, other: Pair) -> Pair {
                    Pair($instruction(self.0, other.0))
                }
            }
        )*};
    }
    operators! {
        Add add f64x2_add;
        Sub sub f64x2_sub;
        Mul mul f64x2_mul;
        Div div f64x2_div;
    }

    impl Neg for Pair {
        type Output = Pair;
        #[inline(always)]
        fn neg(self) -> Pair {
            Pair(f64x2_neg(self.0))
        }
    }

    impl Lanes for Pair {
        #[inline(always)]
        fn of(number: f64) -> Pair {
            Pair(f64x2_splat(number))
        }
        #[inline(always)]
        fn within(self, limit: f64) -> Pair {
            Pair(f64x2_pmax(f64x2_pmin(self.0, f64x2_splat(limit)), f64x2_splat(-limit)))
        }
        #[inline(always)]
        fn times_power(self, rounded: Pair) -> Pair {
            Pair(i64x2_add(self.0, i64x2_shl(rounded.0, 52)))
        }
    }

    /// Plain steps for two numbers.
    pub(super) struct Steps;

    impl series::Steps for Steps {
        type N = Pair;
        const IN_FOURS: bool = true;
        #[inline(always)]
        fn fused(a: Pair, b: Pair, c: Pair) -> Pair {
            a * b + c
        }
    }

    /// Rounds four numbers to `f32`, and returns all bits of those that may round otherwise: [`series::is_doubtful`].
    #[inline(always)]
    fn rounded(low: Pair, high: Pair) -> (v128, v128) {
        const MOST: u32 = EXTRA as u32 - 1;
        const FROM_MIDDLE: u32 = (EXTRA / 2 - MARGIN) as u32;
        let singles = |pair: Pair| f32x4_demote_f64x2_zero(pair.0);
        let rounded = i32x4_shuffle::<0, 1, 4, 5>(singles(low), singles(high));
        // What an f32 lacks is in the lower halves of the doubles.
        let halves = i32x4_shuffle::<0, 2, 4, 6>(low.0, high.0);
        let from_middle = v128_and(i32x4_sub(halves, u32x4_splat(FROM_MIDDLE)), u32x4_splat(MOST));
        let is_near = u32x4_lt(from_middle, u32x4_splat(2 * MARGIN as u32));
        let is_small = f32x4_le(f32x4_abs(rounded), f32x4_splat(f32::MIN_POSITIVE));
        (rounded, v128_or(is_near, is_small))
    }

    /// Like the loop for single numbers.
    #[inline(always)]
    pub(super) fn each(values: &[f32], out: &mut [f32], plain: impl Fn(Pair) -> Pair, fused: impl Fn(f64) -> f64) {
        let (groups, rest) = values.as_chunks::<GROUP>();
        let (outs, out_rest) = out.as_chunks_mut::<GROUP>();
        for (out, group) in outs.iter_mut().zip(groups) {
            let mut any = u32x4_splat(0);
            for (out, &[a, b, c, d]) in out.as_chunks_mut::<4>().0.iter_mut().zip(group.as_chunks::<4>().0) {
                let pair = |a: f32, b: f32| plain(Pair(f64x2(f64::from(a), f64::from(b))));
                let (rounded, doubtful) = rounded(pair(a, b), pair(c, d));
                any = v128_or(any, doubtful);
                *out = numbers(rounded);
            }
            if v128_any_true(any) {
                exactly(group, out, &fused);
            }
        }
        exactly(rest, out_rest, &fused);
    }

    #[inline(always)]
    fn vector([a, b, c, d]: [f32; 4]) -> v128 {
        f32x4(a, b, c, d)
    }

    #[inline(always)]
    fn numbers(vector: v128) -> [f32; 4] {
        [
            f32x4_extract_lane::<0>(vector),
            f32x4_extract_lane::<1>(vector),
            f32x4_extract_lane::<2>(vector),
            f32x4_extract_lane::<3>(vector),
        ]
    }

    #[inline(always)]
    pub(super) fn add(sums: &mut [f32], row: &[f32]) {
        let (fours, rest) = row.as_chunks::<4>();
        for (sums, four) in sums.as_chunks_mut::<4>().0.iter_mut().zip(fours) {
            *sums = numbers(f32x4_add(vector(*sums), vector(*four)));
        }
        sums.iter_mut().skip(4 * fours.len()).zip(rest).for_each(|(sum, number)| *sum += number);
    }

    /// Adds rows lane by lane, with the sums in vectors.
    #[inline(always)]
    pub(super) fn add_rows(sums: &mut [f32; 32], rows: &[[f32; 32]]) {
        let vectors = |numbers: &[f32; 32]| {
            let (fours, _) = numbers.as_chunks::<4>();
            std::array::from_fn::<_, 8, _>(|k| vector(fours[k]))
        };
        let mut lanes = vectors(sums);
        for row in rows {
            let row = vectors(row);
            for (lane, number) in lanes.iter_mut().zip(row) {
                *lane = f32x4_add(*lane, number);
            }
        }
        for (four, lane) in sums.as_chunks_mut::<4>().0.iter_mut().zip(lanes) {
            *four = numbers(lane);
        }
    }

    /// Computes a function of every value with fused steps, which are calls here.
    #[cold]
    #[inline(never)]
    fn exactly(values: &[f32], out: &mut [f32], fused: &impl Fn(f64) -> f64) {
        for (out, &value) in out.iter_mut().zip(values) {
            *out = fused(f64::from(value)) as f32;
        }
    }
}

/// Adds a row of numbers to `sums`.
#[inline(never)]
pub fn add(sums: &mut [f32], row: &[f32]) {
    #[cfg(target_feature = "simd128")]
    pairs::add(sums, row);
    #[cfg(not(target_feature = "simd128"))]
    sums.iter_mut().zip(row).for_each(|(sum, number)| *sum += number);
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
        for length in 0..=32 {
            let mut one = [1.5; 32];
            rows.iter().for_each(|row| add(&mut one, &row[..length]));
            assert_eq!((&one[..length], one[length..].iter().all(|sum| *sum == 1.5)), (&sums[..length], true));
        }
        for (k, sum) in sums.into_iter().enumerate() {
            assert_eq!(sum, rows.iter().fold(1.5, |total, row| total + row[k]));
        }
    }
}
