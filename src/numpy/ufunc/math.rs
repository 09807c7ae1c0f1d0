//! [`Real`]: single and double precision with the functions that kernels need, each with NumPy's digits. Single
//! precision has NumPy's own series for some; the others are those of the system's library. Where Rust's library has
//! formulas of its own (the inverse hyperbolic functions), the library's are written out here.

use super::run::{map, map_plain};
use super::{series, tanh};
use num_traits::Float;
use tensor::memory::Plain;

/// `f32` or `f64`.
pub(super) trait Real: Float + Plain + Default + 'static {
    const PI_BY_180: Self;
    const BY_PI_180: Self;
    const LN_2: Self;
    const LOG2_E: Self;
    fn of(value: f64) -> Self;
    fn to_f64(self) -> f64;
    /// `self * factor + addend` with one rounding.
    fn fused(self, factor: Self, addend: Self) -> Self;
    fn rint(self) -> Self;
    fn with_sign(self, sign: Self) -> Self;
    fn neighbour(self, up: bool) -> Self;
    fn times_power(self, exponent: i64) -> Self;
    /// Returns mantissa and exponent.
    fn parts(self) -> (Self, i32);
    /// The system's exponential, which NumPy uses for half precision and inside other functions.
    fn plain_exp(self) -> Self {
        self.exp()
    }
    /// Vectors of NumPy's own exponentials, logarithms and waves; the others are the system's.
    fn exp_all(from: &[Self], out: &mut [Self]);
    fn log_all(from: &[Self], out: &mut [Self]);
    fn sin_all(from: &[Self], out: &mut [Self]);
    fn cos_all(from: &[Self], out: &mut [Self]);
    fn tanh_all(from: &[Self], out: &mut [Self]);
    fn cube_root(self) -> Self;
    fn arcsinh(self) -> Self;
    fn arccosh(self) -> Self;
    fn arctanh(self) -> Self;
}

macro_rules! reals {
    ($($t:ident $bits:ident $mantissa:literal $bias:literal $fraction:literal $small:literal { $($own:item)* })*) => {$(
        impl Real for $t {
            const PI_BY_180: $t = std::$t::consts::PI / 180.0;
            const BY_PI_180: $t = 180.0 / std::$t::consts::PI;
            const LN_2: $t = std::$t::consts::LN_2;
            const LOG2_E: $t = std::$t::consts::LOG2_E;
            #[inline(always)]
            fn of(value: f64) -> $t {
                value as $t
            }
            #[inline(always)]
            fn to_f64(self) -> f64 {
                self as f64
            }
            #[inline(always)]
            fn fused(self, factor: $t, addend: $t) -> $t {
                self.mul_add(factor, addend)
            }
            #[inline(always)]
            fn rint(self) -> $t {
                self.round_ties_even()
            }
            #[inline(always)]
            fn with_sign(self, sign: $t) -> $t {
                self.copysign(sign)
            }
            #[inline(always)]
            fn neighbour(self, up: bool) -> $t {
                if up { self.next_up() } else { self.next_down() }
            }
            fn times_power(self, exponent: i64) -> $t {
                // A product by a power of two rounds once: first to the last step within the normal range.
                const MOST: i64 = $bias;
                const LEAST: i64 = 1 - MOST;
                let power = |exponent: i64| <$t>::from_bits(((exponent + MOST) as $bits) << ($mantissa - 1));
                let mut left = exponent.clamp(-4 * MOST, 4 * MOST);
                let mut value = self;
                while left > MOST {
                    value *= power(MOST);
                    left -= MOST;
                }
                // Leaves enough of the mantissa that only the last product rounds.
                const SHORT: i64 = LEAST + $mantissa;
                while left < LEAST {
                    value *= power(SHORT);
                    left -= SHORT;
                }
                value * power(left)
            }
            fn parts(self) -> ($t, i32) {
                if self == 0.0 || !self.is_finite() {
                    return (self, 0);
                }
                let (value, shift) = if self.is_subnormal() { (self * power_of_mantissa::<$t>(), $mantissa) } else { (self, 0) };
                let bits = value.to_bits();
                let exponent = ((bits << 1) >> $mantissa) as i32;
                let exponents: $bits = ($bits::MAX >> $mantissa) << ($mantissa - 1);
                let kept = bits & !exponents | ($bias - 1) << ($mantissa - 1);
                (<$t>::from_bits(kept), exponent - ($bias - 1) - shift)
            }
            $($own)*
            fn arcsinh(self) -> $t {
                let size = self.abs();
                if !self.is_finite() || size < $small {
                    return self;
                }
                let result = if size > (1.0 / $small) {
                    size.ln() + std::$t::consts::LN_2
                } else if size > 2.0 {
                    (2.0 * size + 1.0 / ((self * self + 1.0).sqrt() + size)).ln()
                } else {
                    let square = self * self;
                    (size + square / (1.0 + (1.0 + square).sqrt())).ln_1p()
                };
                result.copysign(self)
            }
            fn arccosh(self) -> $t {
                if self < 1.0 {
                    return <$t>::NAN;
                }
                if self >= (1.0 / $fraction) {
                    return if self.is_finite() { self.ln() + std::$t::consts::LN_2 } else { self };
                }
                if self > 2.0 {
                    let square = self * self;
                    return (2.0 * self - 1.0 / (self + (square - 1.0).sqrt())).ln();
                }
                let above = self - 1.0;
                (above + (2.0 * above + above * above).sqrt()).ln_1p()
            }
            fn arctanh(self) -> $t {
                let size = self.abs();
                if size > 1.0 {
                    return <$t>::NAN;
                }
                if size < $fraction {
                    return self;
                }
                let result = if size < 0.5 {
                    let twice = size + size;
                    0.5 * (twice + twice * size / (1.0 - size)).ln_1p()
                } else {
                    0.5 * ((size + size) / (1.0 - size)).ln_1p()
                };
                result.copysign(self)
            }
        }
    )*};
}

/// Returns two to the number of bits of the mantissa.
fn power_of_mantissa<T: Real>() -> T {
    T::of(if size_of::<T>() == 4 { 16_777_216.0 } else { 9_007_199_254_740_992.0 })
}

/// Returns the cube root of two to a power between -2 and 2.
fn cube_root_of_power(exponent: i32) -> f64 {
    const CBRT_2: f64 = 1.259_921_049_894_873_2;
    const CBRT_4: f64 = 1.587_401_051_968_199_6;
    match exponent {
        -2 => 1.0 / CBRT_4,
        -1 => 1.0 / CBRT_2,
        1 => CBRT_2,
        2 => CBRT_4,
        _ => 1.0,
    }
}

// The type and that of its bits, the bits of its mantissa, its largest exponent, and the sizes below which `atanh(x)` and
// `asinh(x)` are `x`.
reals! {
    f32 u32 24 127 3.725_290_3e-9 6.103_515_6e-5 {
        fn exp_all(from: &[f32], out: &mut [f32]) {
            map(from, out, series::exp);
        }
        fn log_all(from: &[f32], out: &mut [f32]) {
            map(from, out, series::log);
        }
        fn sin_all(from: &[f32], out: &mut [f32]) {
            series::sines(from, out);
        }
        fn cos_all(from: &[f32], out: &mut [f32]) {
            series::cosines(from, out);
        }
        fn tanh_all(from: &[f32], out: &mut [f32]) {
            map(from, out, tanh::single);
        }
        fn cube_root(self) -> f32 {
            if self == 0.0 || !self.is_finite() {
                return self + self;
            }
            let (m, exponent) = self.abs().parts();
            let m = f64::from(m);
            let u = (0.492_659_620_528_969_56 + (0.697_570_460_207_922_8 - 0.191_502_161_678_719_06 * m) * m) as f32;
            let (u, cube) = (f64::from(u), f64::from(u * u * u));
            let root = u * (cube + 2.0 * m) / (2.0 * cube + m) * cube_root_of_power(exponent % 3);
            (root as f32).copysign(self).times_power(i64::from(exponent / 3))
        }
    }
    f64 u64 53 1023 3.725_290_298_461_914e-9 3.725_290_298_461_914e-9 {
        fn exp_all(from: &[f64], out: &mut [f64]) {
            map_plain(from, out, f64::exp);
        }
        fn log_all(from: &[f64], out: &mut [f64]) {
            map_plain(from, out, f64::ln);
        }
        fn sin_all(from: &[f64], out: &mut [f64]) {
            map_plain(from, out, f64::sin);
        }
        fn cos_all(from: &[f64], out: &mut [f64]) {
            map_plain(from, out, f64::cos);
        }
        fn tanh_all(from: &[f64], out: &mut [f64]) {
            map(from, out, tanh::double);
        }
        // The system's formula, which is not correctly rounded.
        fn cube_root(self) -> f64 {
            if self == 0.0 || !self.is_finite() {
                return self + self;
            }
            let (m, exponent) = self.abs().parts();
            let u = 0.354_895_765_043_919_86
                + (1.508_191_937_815_849
                    - (2.114_994_941_673_713
                        - (2.446_931_225_635_344_4
                            - (1.834_692_774_836_130_8 - (0.784_932_344_976_639_2 - 0.145_263_899_385_486_37 * m) * m)
                                * m)
                            * m)
                        * m)
                    * m;
            let cube = u * u * u;
            let root = u * (cube + 2.0 * m) / (2.0 * cube + m) * cube_root_of_power(exponent % 3);
            root.copysign(self).times_power(i64::from(exponent / 3))
        }
    }
}
