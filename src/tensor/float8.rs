//! The five 8-bit floating-point formats. Four have a sign, an exponent and a mantissa: they share an encoder and a
//! decoder, generic over the description of a format. The fifth is an exponent alone. Conversions go through `f32` with
//! round-to-nearest-even, as in PyTorch.

/// How 8 bits are converted.
pub trait Format {
    fn decode(code: u8) -> f32;
    /// Rounds to nearest, ties to even.
    fn encode(value: f32) -> u8;
}

/// The layout of the 8 bits of a format with a sign.
pub trait Layout {
    const EXPONENT_BITS: u32;
    const BIAS: i32;
    /// `fnuz` formats have no infinity, no negative zero, and one NaN at `0x80`.
    const FNUZ: bool;
    /// Whether the format has infinities (only `e5m2` does).
    const INFINITE: bool;
}

/// An 8-bit float of the given format; every bit pattern is valid.
#[derive(Debug)]
#[repr(transparent)]
pub struct Float8<F>(u8, std::marker::PhantomData<F>);

impl<F> Clone for Float8<F> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<F> Copy for Float8<F> {}

macro_rules! formats {
    ($($alias:ident, $format:ident: $exponent:literal, $bias:literal, $fnuz:literal, $infinite:literal;)*) => {$(
        #[derive(Debug)]
        pub struct $format;
        impl Layout for $format {
            const EXPONENT_BITS: u32 = $exponent;
            const BIAS: i32 = $bias;
            const FNUZ: bool = $fnuz;
            const INFINITE: bool = $infinite;
        }
        pub type $alias = Float8<$format>;
    )*};
}

formats! {
    // type,  format: exponent bits, bias, fnuz, infinities;
    E4M3Fn,   E4M3FnFormat:   4, 7,  false, false;
    E5M2,     E5M2Format:     5, 15, false, true;
    E4M3Fnuz, E4M3FnuzFormat: 4, 8,  true,  false;
    E5M2Fnuz, E5M2FnuzFormat: 5, 16, true,  false;
}

/// The exponents of the powers of two from 2⁻¹²⁷ to 2¹²⁷, and NaN.
#[derive(Debug)]
pub struct E8M0FnuFormat;

pub type E8M0Fnu = Float8<E8M0FnuFormat>;

impl Format for E8M0FnuFormat {
    #[inline]
    fn decode(code: u8) -> f32 {
        match code {
            0 => f32::from_bits(1 << (f32::MANTISSA_DIGITS - 2)),
            0xff => f32::NAN,
            code => f32::from_bits(u32::from(code) << (f32::MANTISSA_DIGITS - 1)),
        }
    }

    /// Drops the sign. Zero becomes the smallest number, and what is too large becomes NaN.
    #[inline]
    fn encode(value: f32) -> u8 {
        let magnitude = value.to_bits() & 0x7fff_ffff;
        let exponent = magnitude >> (f32::MANTISSA_DIGITS - 1);
        let (half, rest) = (magnitude & 0x0040_0000 != 0, magnitude & 0x003f_ffff != 0);
        let rounds_up = half && (rest || exponent > 0);
        (exponent + u32::from(rounds_up)).min(0xff) as u8
    }
}

impl<F: Format> Float8<F> {
    pub fn from_bits(bits: u8) -> Self {
        Float8(bits, std::marker::PhantomData)
    }

    pub fn to_bits(self) -> u8 {
        self.0
    }

    #[inline]
    pub fn to_f32(self) -> f32 {
        F::decode(self.0)
    }

    /// Rounds to nearest, ties to even. Overflow gives infinity, or NaN if the format has no infinity.
    #[inline]
    pub fn from_f32(value: f32) -> Self {
        Self::from_bits(F::encode(value))
    }
}

/// Returns the smallest positive number, a power of two.
#[inline(always)]
const fn smallest<F: Layout>() -> f32 {
    f32::from_bits(((127 + 1 - F::BIAS - (7 - F::EXPONENT_BITS as i32)) as u32) << (f32::MANTISSA_DIGITS - 1))
}

#[inline(always)]
fn is_nan_pattern<F: Layout>(bits: u8) -> bool {
    if F::FNUZ {
        bits == 0x80
    } else if F::INFINITE {
        bits & 0x7f > 0x7c
    } else {
        bits & 0x7f == 0x7f
    }
}

impl<F: Layout> Format for F {
    #[inline]
    fn decode(code: u8) -> f32 {
        let magnitude = u32::from(code & 0x7f);
        let sign = u32::from(code & 0x80) << 24;
        let mantissa_bits = 7 - F::EXPONENT_BITS;
        let shift = f32::MANTISSA_DIGITS - 1 - mantissa_bits;
        // The fields of a normal number are shifted; a subnormal number is a multiple of the smallest one.
        let normal = (magnitude << shift) + (((127 - F::BIAS) as u32) << (f32::MANTISSA_DIGITS - 1));
        let subnormal = (magnitude as f32 * smallest::<F>()).to_bits();
        let value = if magnitude >> mantissa_bits == 0 { subnormal } else { normal };
        let infinite = F::INFINITE && magnitude == 0x7c;
        let value = if infinite { f32::INFINITY.to_bits() } else { value };
        if is_nan_pattern::<F>(code) { f32::NAN } else { f32::from_bits(value | sign) }
    }

    #[inline]
    fn encode(value: f32) -> u8 {
        let mantissa_bits = 7 - F::EXPONENT_BITS;
        let bits = value.to_bits();
        let sign = (bits >> 24) & 0x80;
        let magnitude = bits & 0x7fff_ffff;
        let shift = f32::MANTISSA_DIGITS - 1 - mantissa_bits;
        // Normal numbers keep their leading bits. Half a unit is added first, or less if that would round a tie to odd.
        // A carry into the exponent gives the next power of two.
        let even = (magnitude >> shift) & 1;
        let bias = ((127 - F::BIAS) as u32) << mantissa_bits;
        let normal = ((magnitude + (1 << (shift - 1)) - 1 + even) >> shift).wrapping_sub(bias);
        // Smaller numbers are rounded by adding a number whose last bit has the value of the smallest subnormal.
        let large = smallest::<F>() * (1u32 << (f32::MANTISSA_DIGITS - 1)) as f32;
        let subnormal = (f32::from_bits(magnitude) + large).to_bits().wrapping_sub(large.to_bits());
        let least_normal = ((128 - F::BIAS) as u32) << (f32::MANTISSA_DIGITS - 1);
        let code = if magnitude < least_normal { subnormal } else { normal };

        let (largest, nan) = if F::INFINITE {
            (0x7b, 0x7f | sign)
        } else if F::FNUZ {
            (0x7f, 0x80)
        } else {
            (0x7e, 0x7f | sign)
        };
        let overflow = if F::INFINITE { 0x7c | sign } else { nan };
        let signed = if F::FNUZ && code == 0 { 0 } else { code | sign };
        let code = if code > largest { overflow } else { signed };
        (if magnitude > f32::INFINITY.to_bits() { nan } else { code }) as u8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn every_code_survives<F: Format>() {
        for bits in 0..=255u8 {
            let value = Float8::<F>::from_bits(bits).to_f32();
            let back = Float8::<F>::from_f32(value);
            if value.is_nan() {
                assert!(back.to_f32().is_nan(), "{bits:#x}");
            } else {
                assert_eq!(back.to_bits(), bits, "{value}");
            }
        }
    }

    #[test]
    fn decoding_then_encoding_is_the_identity() {
        every_code_survives::<E4M3FnFormat>();
        every_code_survives::<E5M2Format>();
        every_code_survives::<E4M3FnuzFormat>();
        every_code_survives::<E5M2FnuzFormat>();
        every_code_survives::<E8M0FnuFormat>();
    }

    #[test]
    fn limits_are_those_of_finfo() {
        assert_eq!(E4M3Fn::from_bits(0x7e).to_f32(), 448.0);
        assert_eq!(E5M2::from_bits(0x7b).to_f32(), 57344.0);
        assert_eq!(E4M3Fnuz::from_bits(0x7f).to_f32(), 240.0);
        assert_eq!(E5M2Fnuz::from_bits(0x7f).to_f32(), 57344.0);
        assert_eq!(E4M3Fn::from_f32(464.0).to_f32(), 448.0);
        assert!(E4M3Fn::from_f32(465.0).to_f32().is_nan());
        assert!(E4M3Fn::from_f32(f32::INFINITY).to_f32().is_nan());
        assert_eq!(E8M0Fnu::from_bits(0xfe).to_f32(), 2f32.powi(127));
        assert_eq!(E8M0Fnu::from_f32(0.0).to_f32(), 2f32.powi(-127));
        assert!(E8M0Fnu::from_f32(f32::MAX).to_f32().is_nan());
        assert_eq!(E5M2::from_f32(1e9).to_f32(), f32::INFINITY);
    }
}
