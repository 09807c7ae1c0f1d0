//! Hashes of numbers, as CPython has them.

use super::Value;

/// The hash of a number; `None` for any other value.
pub fn hash_number(value: &Value) -> Option<i64> {
    const MODULUS: u64 = (1 << 61) - 1;
    let signed = |magnitude: u64, negative: bool| match if negative { -(magnitude as i64) } else { magnitude as i64 } {
        -1 => -2,
        hash => hash,
    };
    let whole = |i: i128| signed((i.unsigned_abs() % u128::from(MODULUS)) as u64, i < 0);
    Some(match value {
        Value::Bool(b) => i64::from(*b),
        Value::Int(i) => whole(i128::from(*i)),
        Value::BigInt(i) => whole(**i),
        Value::Float(f) if f.is_infinite() => {
            if *f > 0.0 {
                314_159
            } else {
                -314_159
            }
        }
        Value::Float(f) if f.is_nan() => 0,
        Value::Float(f) => {
            let bits = f.abs().to_bits();
            let (exponent, fraction) = ((bits >> 52) as i64, bits & ((1 << 52) - 1));
            let mantissa = if exponent == 0 { fraction } else { fraction | 1 << 52 };
            let turns = (exponent.max(1) - 1075).rem_euclid(61) as u32;
            signed(((u128::from(mantissa) << turns) % u128::from(MODULUS)) as u64, *f < 0.0)
        }
        Value::Complex(c) if c.im == 0.0 => return hash_number(&Value::Float(c.re)),
        Value::Complex(c) => {
            let part = |f| hash_number(&Value::Float(f)).unwrap_or(0);
            part(c.re).wrapping_add(part(c.im).wrapping_mul(1_000_003))
        }
        _ => return None,
    })
}
