//! Standard normal and exponential numbers of `Generator`, by the ziggurat method.
//!
//! Most draws cost one word: the low byte chooses a layer and the upper bits a point in it. The rest compare the
//! density at the point, and layer 0 holds the tail.

use super::bits::BitGenerator;
use super::tables::{
    EXPONENTIAL_HEIGHT, EXPONENTIAL_INNER, EXPONENTIAL_SCALE, NORMAL_HEIGHT, NORMAL_INNER, NORMAL_SCALE,
};

/// Where the tails begin.
const NORMAL_TAIL: f64 = 3.654_152_885_361_009;
const NORMAL_TAIL_INVERSE: f64 = 0.273_661_237_329_758_3;
const EXPONENTIAL_TAIL: f64 = 7.697_117_470_131_05;

/// `Generator.standard_normal()`.
pub(super) fn standard_normal(bits: &mut dyn BitGenerator) -> f64 {
    loop {
        let word = bits.next_u64();
        let layer = (word & 0xff) as usize;
        let inner = (word >> 9) & 0x000f_ffff_ffff_ffff;
        let size = inner as f64 * NORMAL_SCALE[layer];
        let x = if word & 0x100 == 0 { size } else { -size };
        if inner < NORMAL_INNER[layer] {
            return x;
        }
        if layer == 0 {
            let tail = NORMAL_TAIL + normal_tail(bits);
            return if inner & 0x100 == 0 { tail } else { -tail };
        }
        let (below, above) = (NORMAL_HEIGHT[layer], NORMAL_HEIGHT[layer - 1]);
        if (above - below) * bits.next_double() + below < (-0.5 * x * x).exp() {
            return x;
        }
    }
}

/// The distance from the start of the normal tail.
fn normal_tail(bits: &mut dyn BitGenerator) -> f64 {
    loop {
        let x = -NORMAL_TAIL_INVERSE * (-bits.next_double()).ln_1p();
        let y = -(-bits.next_double()).ln_1p();
        if y + y > x * x {
            return x;
        }
    }
}

/// `Generator.standard_normal(dtype=np.float32)`.
pub(super) fn standard_normal_f32(bits: &mut dyn BitGenerator) -> f32 {
    loop {
        let word = bits.next_u32();
        let layer = (word & 0xff) as usize;
        let inner = word >> 9;
        // Halves of the `f64` tables: 23 bits take the place of 52.
        let size = inner as f32 * (NORMAL_SCALE[layer] * 536_870_912.0) as f32;
        let x = if word & 0x100 == 0 { size } else { -size };
        if u64::from(inner) < (NORMAL_INNER[layer] + (1 << 28)) >> 29 {
            return x;
        }
        if layer == 0 {
            let tail = NORMAL_TAIL as f32 + normal_tail_f32(bits);
            return if inner & 0x100 == 0 { tail } else { -tail };
        }
        let (below, above) = (NORMAL_HEIGHT[layer] as f32, NORMAL_HEIGHT[layer - 1] as f32);
        // NumPy compares in `f64` here, because the density's exponent is computed in `f64`.
        if f64::from((above - below) * bits.next_float() + below) < (-0.5 * f64::from(x) * f64::from(x)).exp() {
            return x;
        }
    }
}

fn normal_tail_f32(bits: &mut dyn BitGenerator) -> f32 {
    loop {
        let x = -(NORMAL_TAIL_INVERSE as f32) * (-bits.next_float()).ln_1p();
        let y = -(-bits.next_float()).ln_1p();
        if y + y > x * x {
            return x;
        }
    }
}

/// `Generator.standard_exponential()`.
pub(super) fn standard_exponential(bits: &mut dyn BitGenerator) -> f64 {
    loop {
        let word = bits.next_u64() >> 3;
        let layer = (word & 0xff) as usize;
        let inner = word >> 8;
        let x = inner as f64 * EXPONENTIAL_SCALE[layer];
        if inner < EXPONENTIAL_INNER[layer] {
            return x;
        }
        if layer == 0 {
            return EXPONENTIAL_TAIL - (-bits.next_double()).ln_1p();
        }
        let (below, above) = (EXPONENTIAL_HEIGHT[layer], EXPONENTIAL_HEIGHT[layer - 1]);
        if (above - below) * bits.next_double() + below < (-x).exp() {
            return x;
        }
    }
}

/// `Generator.standard_exponential(dtype=np.float32)`.
pub(super) fn standard_exponential_f32(bits: &mut dyn BitGenerator) -> f32 {
    loop {
        let word = bits.next_u32() >> 1;
        let layer = (word & 0xff) as usize;
        let inner = word >> 8;
        let x = inner as f32 * exponential_scale_f32(layer);
        if u64::from(inner) < (EXPONENTIAL_INNER[layer] + (1 << 29)) >> 30 {
            return x;
        }
        if layer == 0 {
            return EXPONENTIAL_TAIL as f32 - (-bits.next_float()).ln_1p();
        }
        let (below, above) = (exponential_height_f32(layer), exponential_height_f32(layer - 1));
        if (above - below) * bits.next_float() + below < (-x).exp() {
            return x;
        }
    }
}

/// One entry of NumPy's `f32` table is off by a bit: it was rounded to nine digits first.
fn exponential_scale_f32(layer: usize) -> f32 {
    match layer {
        226 => f32::from_bits(0x34ec_3ca4),
        _ => (EXPONENTIAL_SCALE[layer] * 1_073_741_824.0) as f32,
    }
}

/// Three entries of NumPy's `f32` table are off by a bit, for the same reason.
fn exponential_height_f32(layer: usize) -> f32 {
    match layer {
        128 => f32::from_bits(0x3e40_b292),
        154 => f32::from_bits(0x3e07_9fc0),
        171 => f32::from_bits(0x3dcf_826e),
        _ => EXPONENTIAL_HEIGHT[layer] as f32,
    }
}

/// `Generator.standard_exponential(method='inv')`.
pub(super) fn inverse_exponential(bits: &mut dyn BitGenerator) -> f64 {
    -(-bits.next_double()).ln_1p()
}

/// `Generator.standard_exponential(method='inv', dtype=np.float32)`: the logarithm is taken in `f64`.
pub(super) fn inverse_exponential_f32(bits: &mut dyn BitGenerator) -> f32 {
    -f64::from(-bits.next_float()).ln_1p() as f32
}
