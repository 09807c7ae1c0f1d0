//! Multiply-adds in single precision that are rounded once, as by an instruction, on processors without one.

/// `a * b + c`, rounded once. `fuses` tells whether the processor has an instruction for it.
#[inline(always)]
pub(crate) fn fma(a: f32, b: f32, c: f32, fuses: bool) -> f32 {
    if !fuses {
        let mut quick = Quick::default();
        let sum = quick.fma(a, b, c);
        if !quick.doubtful {
            return sum;
        }
    }
    Exact.fma(a, b, c)
}

/// A way to compute `a * b + c` with a single rounding.
pub(crate) trait Fma {
    fn fma(&mut self, a: f32, b: f32, c: f32) -> f32;
}

/// Always exact, but a function call unless the loop is compiled for processors with the instruction.
pub(crate) struct Exact;

impl Fma for Exact {
    #[inline(always)]
    fn fma(&mut self, a: f32, b: f32, c: f32) -> f32 {
        a.mul_add(b, c)
    }
}

/// Computes in double precision, and records whether the result may be the wrong float.
///
/// The product of two floats is exact in double precision, so `sum` is the true result rounded to a double. Rounding is
/// monotonic, and the halfway points between floats are doubles. Therefore a `sum` that is not a halfway point lies on
/// the same side of each halfway point as the true result, and rounds to the same float. Halfway points are the doubles
/// whose 29 extra bits are a one followed by zeros. Below the smallest normal float, where floats are further apart,
/// there are other halfway points. A zero is exact.
#[derive(Default)]
pub(crate) struct Quick {
    pub(crate) doubtful: bool,
}

impl Fma for Quick {
    #[inline(always)] // So that the loop over a block is compiled to vector instructions.
    fn fma(&mut self, a: f32, b: f32, c: f32) -> f32 {
        let sum = f64::from(a) * f64::from(b) + f64::from(c);
        let halfway = sum.to_bits() & 0x1FFF_FFFF == 0x1000_0000;
        let tiny = sum.abs() < f64::from(f32::MIN_POSITIVE) && sum != 0.0;
        self.doubtful |= halfway | tiny;
        sum as f32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The substitute for `f32::mul_add` agrees with it: for arbitrary bits, near halfway points, and for the smallest
    /// floats.
    #[test]
    fn quick_multiplication_and_addition_rounds_once() {
        let mut state = 1_u64;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 32) as u32
        };
        // Keeps the bits of `keep` and moves the exponent to one of `1 << spread` values starting at `least`.
        let shaped = |bits: u32, keep: u32, least: u32, spread: u32| {
            f32::from_bits((bits & keep) | ((least + (bits >> 23 & ((1 << spread) - 1))) << 23))
        };
        for _ in 0..100_000 {
            let (a, b, c) = (random(), random(), random());
            let short = 0x8070_0000;
            let whole = 0x807f_ffff;
            for (a, b, c) in [
                (f32::from_bits(a), f32::from_bits(b), f32::from_bits(c)),
                (shaped(a, whole, 121, 3), shaped(b, whole, 121, 3), shaped(c, whole, 121, 3)),
                (shaped(a, short, 121, 3), shaped(b, short, 121, 3), shaped(c, whole, 135, 4)),
                (shaped(a, 0x8000_0003, 115, 0), shaped(b, 0x8000_0003, 115, 0), shaped(c, whole, 127, 0)),
                (f32::from_bits(a & 1 << 31), f32::from_bits(b), f32::from_bits(c & 1 << 31)),
                (shaped(a, short, 121, 3), 1.0, -shaped(a, short, 121, 3)),
                (shaped(a, whole, 1, 6), shaped(b, whole, 40, 6), f32::from_bits(c & 0x80ff_ffff)),
            ] {
                let (got, expected) = (fma(a, b, c, false), a.mul_add(b, c));
                assert!(
                    got.to_bits() == expected.to_bits() || (got.is_nan() && expected.is_nan()),
                    "{a:e} * {b:e} + {c:e}"
                );
            }
        }
    }
}
