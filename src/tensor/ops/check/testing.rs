//! Helpers shared by the tests of this room: sample tensors, and results as one line of text, in the format of the
//! oracle that wrote the expectations.

use crate::index::Index;
use crate::layout::show;
use crate::{DType, Result, Scalar, View};

/// `torch.arange(n).reshape(sizes)` in the given dtype.
pub(crate) fn arange(sizes: &[i64], dtype: DType) -> View {
    let count: i64 = sizes.iter().product();
    tensor(sizes, dtype, &(0..count).map(|i| i as f64).collect::<Vec<_>>())
}

/// A row-major tensor with the given values.
pub(crate) fn tensor(sizes: &[i64], dtype: DType, values: &[f64]) -> View {
    let scalars = values.iter().map(|&value| Scalar::Float(value));
    View::from_scalars(sizes, dtype, scalars).unwrap_or_else(|error| panic!("{error}"))
}

/// A vector of `int64`.
pub(crate) fn long(values: &[i64]) -> View {
    tensor(&[values.len() as i64], DType::Long, &values.iter().map(|&i| i as f64).collect::<Vec<_>>())
}

/// A vector of `bool`, from zeros and ones.
pub(crate) fn bools(values: &[i64]) -> View {
    tensor(&[values.len() as i64], DType::Bool, &values.iter().map(|&i| i as f64).collect::<Vec<_>>())
}

/// Returns the view, or fails the test.
pub(crate) fn must(result: Result<View>) -> View {
    result.unwrap_or_else(|error| panic!("{error}"))
}

/// Formats dtype, sizes, strides, offset and up to a dozen values, or the error.
pub(crate) fn line(result: &Result<View>) -> String {
    let view = match result {
        Ok(view) => view,
        Err(error) => return error.to_string().lines().next().unwrap_or_default().to_string(),
    };
    let strides: Vec<String> = view.strides().iter().map(i64::to_string).collect();
    let head = format!("{} {} ({}) @{}", view.dtype.name(), show(view.sizes()), strides.join(","), view.layout.offset);
    if view.device().is_meta() {
        return format!("{head} meta");
    }
    let bits = [(view.conj, " conj"), (view.neg, " neg")].map(|(set, name)| if set { name } else { "" }).concat();
    let values = view.scalars().unwrap_or_else(|error| panic!("{error}"));
    let values: Vec<String> = values.iter().take(12).map(number).collect();
    format!("{head}{bits}: {}", values.join(" "))
}

fn number(value: &Scalar) -> String {
    match value {
        Scalar::Bool(b) => u8::from(*b).to_string(),
        Scalar::Int(i) => i.to_string(),
        Scalar::UInt(u) => u.to_string(),
        Scalar::Float(f) => f.to_string(),
        Scalar::Complex(c) => format!("{}{:+}j", c.re, c.im),
    }
}

/// Formats each result like [`line`], separated by bars.
pub(crate) fn lines(results: Result<Vec<View>>) -> String {
    match results {
        Ok(views) => views.into_iter().map(|view| line(&Ok(view))).collect::<Vec<_>>().join(" | "),
        Err(error) => line(&Err(error)),
    }
}

/// Compares each row's result with the output of PyTorch 2.7.0 for the Python in that row.
pub(crate) fn check(rows: &[(&str, String, &str)]) {
    let wrong: Vec<String> = rows
        .iter()
        .filter(|(_, got, want)| got != want)
        .map(|(python, got, want)| format!("{python}\n  want {want}\n  got  {got}"))
        .collect();
    assert!(wrong.is_empty(), "{} of {} rows\n{}", wrong.len(), rows.len(), wrong.join("\n"));
}

pub(crate) fn int(i: i64) -> Index {
    Index::Int(i)
}

/// `start:stop:step`.
pub(crate) fn slice(start: impl Into<Option<i64>>, stop: impl Into<Option<i64>>, step: i64) -> Index {
    Index::Slice { start: start.into(), stop: stop.into(), step }
}

/// `:`.
pub(crate) const ALL: Index = Index::Slice { start: None, stop: None, step: 1 };

pub(crate) fn by(tensor: &View) -> Index {
    Index::Tensor(tensor.clone().into())
}
