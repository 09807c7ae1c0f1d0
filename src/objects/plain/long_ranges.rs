//! Ranges with bounds beyond 64 bits. They are iterated over and shown; nothing else needs them.

use crate::lazy::Lazy;
use num_bigint::{BigInt, Sign};
use std::rc::Rc;
use tensor::{Error, ErrorKind, Result, bail};
use value::numbers::integer;
use value::{Object, Value};

struct LongRange {
    start: BigInt,
    stop: BigInt,
    step: BigInt,
}

/// `range(...)` of numbers at least one of which is beyond 64 bits.
///
/// # Errors
/// TypeError for what is not an integer; ValueError for a step of zero.
pub(crate) fn range(bounds: &[Value]) -> Result<Value> {
    let number = |value: &Value| match integer(value) {
        Some(number) => Ok(number.into_owned()),
        None => bail!(TypeError, "'{}' object cannot be interpreted as an integer", value.type_name()),
    };
    let bounds = bounds.iter().map(number).collect::<Result<Vec<_>>>()?;
    let (start, stop, step) = match bounds.as_slice() {
        [stop] => (BigInt::ZERO, stop.clone(), BigInt::from(1)),
        [start, stop] => (start.clone(), stop.clone(), BigInt::from(1)),
        [start, stop, step] => (start.clone(), stop.clone(), step.clone()),
        _ => bail!(TypeError, "range expected at most 3 arguments, got {}", bounds.len()),
    };
    if step.sign() == Sign::NoSign {
        bail!(ValueError, "range() arg 3 must not be zero");
    }
    Ok(Value::Object(Rc::new(LongRange { start, stop, step })))
}

impl LongRange {
    fn count(&self) -> BigInt {
        let (from, to, step) = match self.step.sign() {
            Sign::Minus => (&self.stop, &self.start, -&self.step),
            _ => (&self.start, &self.stop, self.step.clone()),
        };
        if from < to { (to - from - 1u8) / step + 1u8 } else { BigInt::ZERO }
    }
}

impl Object for LongRange {
    fn class_name(&self) -> &'static str {
        "range"
    }
    fn repr(&self) -> String {
        let step = if self.step == BigInt::from(1) { String::new() } else { format!(", {}", self.step) };
        format!("range({}, {}{step})", self.start, self.stop)
    }
    fn attribute(&self, name: &str) -> Option<Value> {
        match name {
            "start" => Some(self.start.clone().into()),
            "stop" => Some(self.stop.clone().into()),
            "step" => Some(self.step.clone().into()),
            _ => None,
        }
    }
    fn length(&self) -> Option<Result<Value>> {
        Some(match i64::try_from(self.count()) {
            Ok(count) => Ok(Value::Int(count)),
            Err(_) => Err(Error::new(ErrorKind::OverflowError, "Python int too large to convert to C ssize_t")),
        })
    }
    fn iterator(&self) -> Option<Result<Value>> {
        let (mut next, stop, step) = (self.start.clone(), self.stop.clone(), self.step.clone());
        Some(Ok(Lazy::value("longrange_iterator", move || {
            let ended = if step.sign() == Sign::Minus { next <= stop } else { next >= stop };
            if ended {
                return Ok(None);
            }
            let item = next.clone();
            next += &step;
            Ok(Some(item.into()))
        })))
    }
}
