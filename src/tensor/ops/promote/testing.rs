//! Notation for operands and results in the tests of this room: `"int8 1 2 3"` is a 1-d tensor, `"int8[] 5"` a 0-d one,
//! `"float32[2,2] 1 2 3 4"` one with these sizes. `"#1.5"`, `"#3"` and `"#True"` are numbers.

use super::Operand;
use crate::{DType, Device, Layout, Result, Scalar, View};

/// An owned tensor or number that an [`Operand`] can refer to.
pub(crate) enum OwnedOperand {
    Tensor(View),
    Number(Scalar),
}

impl OwnedOperand {
    pub(crate) fn operand(&self) -> Operand<'_> {
        match self {
            OwnedOperand::Tensor(view) => Operand::Tensor(view),
            OwnedOperand::Number(number) => Operand::Number(*number),
        }
    }
}

fn number(text: &str) -> Scalar {
    let float = || text.parse::<f64>().map(Scalar::Float);
    match text {
        "True" => Scalar::Bool(true),
        "False" => Scalar::Bool(false),
        _ if text.ends_with('j') => complex(text),
        _ => match text.parse::<i64>().map(Scalar::Int).or_else(|_| float()) {
            Ok(number) => number,
            Err(error) => panic!("{text}: {error}"),
        },
    }
}

/// Parses `1+2j`, `1-2j`, `2j`.
fn complex(text: &str) -> Scalar {
    let body = text.trim_end_matches('j');
    let split = body.rfind(['+', '-']).filter(|&i| i > 0).unwrap_or(0);
    let part = |part: &str| if part.is_empty() { 0.0 } else { number(part).to_f64() };
    crate::view::complex(part(&body[..split]), part(body[split..].trim_start_matches('+')))
}

/// Parses an operand.
pub(crate) fn held(text: &str) -> OwnedOperand {
    match text.strip_prefix('#') {
        Some(digits) => OwnedOperand::Number(number(digits)),
        None => OwnedOperand::Tensor(tensor(text)),
    }
}

/// Parses a tensor.
pub(crate) fn tensor(text: &str) -> View {
    let mut words = text.split_whitespace();
    let head = words.next().unwrap_or_default();
    let (name, sizes) = head.split_once('[').unwrap_or((head, ""));
    let Some(dtype) = DType::from_name(name) else { panic!("no dtype {name}") };
    let values: Vec<Scalar> = words.map(number).collect();
    let sizes: Vec<i64> = match head.contains('[') {
        true => sizes.trim_end_matches(']').split(',').filter_map(|s| s.parse().ok()).collect(),
        false => vec![values.len() as i64],
    };
    checked(View::from_scalars(&sizes, dtype, values))
}

/// Parses a tensor and drops its data.
pub(crate) fn meta(text: &str) -> View {
    let view = tensor(text);
    checked(View::zeros(view.sizes(), view.dtype, Device::META))
}

/// Returns a transposed view.
pub(crate) fn transposed(view: &View) -> View {
    view.with_layout(checked(view.layout.transpose(0, 1)))
}

pub(crate) fn checked<T>(result: Result<T>) -> T {
    match result {
        Ok(value) => value,
        Err(error) => panic!("{error}"),
    }
}

/// Formats a result or an error on one line.
pub(crate) fn show(result: Result<View>) -> String {
    let view = match result {
        Ok(view) => view,
        Err(error) => return format!("{}: {}", error.kind.name(), error.message),
    };
    let sizes: Vec<String> = view.sizes().iter().map(i64::to_string).collect();
    let mut text = match view.ndim() {
        1 => view.dtype.name().to_string(),
        _ => format!("{}[{}]", view.dtype.name(), sizes.join(",")),
    };
    let Ok(values) = view.scalars() else { return text + " without data" };
    for value in values {
        text.push(' ');
        text += &match value {
            Scalar::Bool(b) => if b { "True" } else { "False" }.to_string(),
            Scalar::Int(i) => i.to_string(),
            Scalar::UInt(u) => u.to_string(),
            Scalar::Float(f) if f.is_nan() => "nan".to_string(),
            Scalar::Float(f) => f.to_string(),
            Scalar::Complex(c) => format!("{}{:+}j", c.re, c.im),
        };
    }
    text
}

/// Returns the strides.
pub(crate) fn strides(view: &View) -> Vec<i64> {
    view.strides().to_vec()
}

/// Returns a strided view of a tensor's elements.
pub(crate) fn window(view: &View, sizes: &[i64], strides: &[i64], offset: i64) -> View {
    view.with_layout(Layout { sizes: sizes.into(), strides: strides.into(), offset })
}

/// Returns a contiguous tensor of varied numbers: integers of any size, and floats around 1.
pub(crate) fn numbers(sizes: &[i64], dtype: DType, seed: u64) -> View {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        match dtype.is_integral(false) {
            true => Scalar::Int((state >> (64 - 8 * dtype.itemsize() as u32)) as i64),
            false => Scalar::Float((state >> 11) as f64 / (1u64 << 52) as f64 - 0.75),
        }
    };
    let count = sizes.iter().product::<i64>();
    View::from_scalars(sizes, dtype, (0..count).map(|_| next())).expect("these are few")
}
