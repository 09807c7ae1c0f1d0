//! The four 8-bit floating-point formats: one encoder and one decoder, generic over a format's description.
//! Conversions go through `f32` with round-to-nearest-even, as PyTorch's do.

/// How the 8 bits of a format are read.
pub trait Format {
    const EXPONENT_BITS: u32;
    const BIAS: i32;
    /// `fnuz` formats have no infinity, no negative zero, and one NaN at `0x80`.
    const FNUZ: bool;
    /// Does the format have infinities? (Only `e5m2`.)
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
        impl Format for $format {
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

impl<F: Format> Float8<F> {
    const MANTISSA_BITS: u32 = 7 - F::EXPONENT_BITS;

    pub fn from_bits(bits: u8) -> Self {
        Float8(bits, std::marker::PhantomData)
    }

    pub fn to_bits(self) -> u8 {
        self.0
    }

    pub fn to_f32(self) -> f32 {
        let magnitude = u32::from(self.0 & 0x7f);
        let negative = self.0 & 0x80 != 0;
        if Self::is_nan_pattern(self.0) {
            return f32::NAN;
        }
        let mantissa = magnitude & ((1 << Self::MANTISSA_BITS) - 1);
        let exponent = magnitude >> Self::MANTISSA_BITS;
        let scale = |m: u32, e: i32| m as f32 * 2f32.powi(e - Self::MANTISSA_BITS as i32);
        let value = if F::INFINITE && exponent == (1 << F::EXPONENT_BITS) - 1 {
            f32::INFINITY
        } else if exponent == 0 {
            scale(mantissa, 1 - F::BIAS)
        } else {
            scale(mantissa | 1 << Self::MANTISSA_BITS, exponent as i32 - F::BIAS)
        };
        if negative { -value } else { value }
    }

    fn is_nan_pattern(bits: u8) -> bool {
        if F::FNUZ {
            bits == 0x80
        } else if F::INFINITE {
            bits & 0x7f > 0x7c
        } else {
            bits & 0x7f == 0x7f
        }
    }

    /// Rounds to nearest, ties to even. Overflow becomes infinity where the format has one and NaN where it has not.
    pub fn from_f32(value: f32) -> Self {
        let sign = if value.is_sign_negative() { 0x80u8 } else { 0 };
        let nan = if F::FNUZ { 0x80 } else { 0x7f | sign };
        if value.is_nan() {
            return Self::from_bits(nan);
        }
        let overflow = if F::INFINITE { 0x7c | sign } else { nan };
        if value.is_infinite() {
            return Self::from_bits(overflow);
        }
        let bits = value.abs().to_bits();
        // In units of 2^-149 a float32 is (mantissa << shift); round it to this format's spacing at its exponent.
        let exponent = ((bits >> 23) as i32 - 127).max(1 - F::BIAS);
        let step = exponent - Self::MANTISSA_BITS as i32;
        // value / 2^step is exact: both are within float64's range.
        let scaled = f64::from(value.abs()) * 2f64.powi(-step);
        let rounded = scaled.round_ties_even() as u32;
        // A rounded mantissa of one more bit carries into the exponent by plain addition.
        let code = (((exponent - (1 - F::BIAS)) as u32) << Self::MANTISSA_BITS) + rounded;
        let largest = if F::INFINITE {
            0x7b
        } else if F::FNUZ {
            0x7f
        } else {
            0x7e
        };
        if code > largest {
            return Self::from_bits(overflow);
        }
        let code = code as u8;
        Self::from_bits(if F::FNUZ && code == 0 { 0 } else { code | sign })
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
        assert_eq!(E5M2::from_f32(1e9).to_f32(), f32::INFINITY);
    }
}
