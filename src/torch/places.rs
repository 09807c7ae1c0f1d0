//! Conversion of flat positions to indices. Follows <https://pytorch.org/docs/2.7/generated/torch.unravel_index.html>.

use super::steps::Steps;
use call::{Call, Row, function, one};
use tensor::{DType, Error, Result, Scalar, View, bail};
use value::Value;

pub(crate) const ROWS: &[Row] = &[function(
    "unravel_index(any indices, any shape) -> any",
    unravel_index,
    "Converts row-by-row element numbers to indices, dimension by dimension.",
)
.python("unravel_index")
.recorded_in_steps()];

fn unravel_index(call: &mut Call) -> Result<Value> {
    let Value::Tensor(indices) = call.value(0) else {
        return Err(Error::attribute(format!("'{}' object has no attribute 'is_complex'", call.value(0).type_name())));
    };
    let dtype = indices.borrow().dtype;
    if !dtype.is_integral(false) {
        bail!(TypeError, "expected 'indices' to be integer dtype, but got {}", call.state.str(&Value::DType(dtype))?);
    }
    let class = |value: &Value| call.state.str(&Value::Type(value.class_name()));
    let items = match call.value(1) {
        size @ Value::Int(_) => vec![size],
        other => match other.sequence() {
            Some(items) => items,
            None => bail!(TypeError, "expected 'shape' to be int or sequence of ints, but got {}", class(&other)?),
        },
    };
    let mut sizes = Vec::new();
    for item in &items {
        match item {
            Value::Int(size) => sizes.push(*size),
            other => bail!(TypeError, "expected 'shape' sequence to only contain ints, but got {}", class(other)?),
        }
    }
    if sizes.iter().any(|&size| size < 0) {
        bail!(ValueError, "'shape' cannot have negative values, but got {}", call.state.str(&Value::tuple(items))?);
    }
    // For each dimension, the number of flat positions that one step along it skips.
    let mut steps: Vec<i64> = Vec::new();
    let mut passed = 1i64;
    for &size in sizes.iter().rev() {
        steps.push(passed);
        passed = passed.wrapping_mul(size);
    }
    steps.reverse();
    let row = |values: &[i64]| {
        let made = View::from_scalars(&[values.len() as i64], DType::Long, values.iter().copied().map(Scalar::Int))?;
        Ok::<_, Error>(tensor::Tensor::new(made))
    };
    let on = Steps::of(call);
    let column = on.unsqueeze(&indices, -1)?;
    let found = on.pair("remainder", &on.pair("floor_divide", &column, &row(&steps)?)?, &row(&sizes)?)?;
    (0..sizes.len() as i64)
        .map(|i| one(on.on(&found, "select", &[Value::Int(-1), Value::Int(i)])?.into()).map(Value::Tensor))
        .collect::<Result<Vec<Value>>>()
        .map(Value::tuple)
}
