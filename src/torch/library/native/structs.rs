//! `_struct`: the bits of floats.

use call::{Row, function};
use half::f16;
use objects::plain::numbers::float_of_number;
use tensor::{Error, Result, bail};
use value::Value;

pub(in crate::library) const ROWS: &[Row] = &[
    function(
        "_struct._bits(any x, int size) -> int",
        |c| {
            let x = float_of_number(&c.value(0))?;
            let too_large = |known: bool| match known {
                true => Ok(()),
                false => Err(Error::new(tensor::ErrorKind::OverflowError, "float too large to pack")),
            };
            Ok(Value::from(num_bigint::BigInt::from(match c.int(1)? {
                2 => {
                    let half = f16::from_f64(x);
                    too_large(half.is_finite() || !x.is_finite())?;
                    u64::from(half.to_bits())
                }
                4 => {
                    let single = x as f32;
                    too_large(single.is_finite() || !x.is_finite())?;
                    u64::from(single.to_bits())
                }
                _ => x.to_bits(),
            })))
        },
        "Returns the bits of a float of 2, 4 or 8 bytes.",
    ),
    function(
        "_struct._value(any bits, int size) -> float",
        |c| of_bits(&c.value(0), c.int(1)?),
        "Returns the float with these bits.",
    ),
];

fn of_bits(bits: &Value, size: i64) -> Result<Value> {
    let Some(bits) = value::numbers::integer(bits).and_then(|bits| u64::try_from(&*bits).ok()) else {
        bail!(TypeError, "the bits of a float are an integer")
    };
    Ok(Value::Float(match size {
        2 => f16::from_bits(bits as u16).to_f64(),
        4 => f64::from(f32::from_bits(bits as u32)),
        _ => f64::from_bits(bits),
    }))
}
