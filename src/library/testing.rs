//! `torch.testing.assert_close`: compares values of any kind as PyTorch does. Follows
//! <https://pytorch.org/docs/2.7/testing.html>.

use crate::bail;
use crate::call::state::State;
use crate::call::{Call, Row, function};
use crate::functions::array_view;
use crate::functions::calling::call_plain;
use crate::ops::compare::{Tolerance, isclose};
use crate::ops::promote::{Operand, result_type};
use crate::ops::{copy, reduce};
use crate::tensor::{DType, Error, ErrorKind, Result, Scalar, View};
use crate::value::Value;
use crate::value::equality::equal;

pub const ROWS: &[Row] = &[function(
    "testing.assert_close(any actual, any expected, *, any allow_subclasses=True, any rtol=None, any \
 atol=None, any equal_nan=False, any check_device=True, any check_dtype=True, any check_layout=True, \
 any check_stride=False, any msg=None) -> None",
    assert_close,
    "Raises an AssertionError unless two values are close to each other.",
)
.python("assert_close")];

/// The options of a comparison.
struct Options {
    subclasses: bool,
    tolerances: Option<(f64, f64)>,
    equal_nan: bool,
    device: bool,
    dtype: bool,
    stride: bool,
}

/// Values and where they stand within what was given.
struct Pair<'s> {
    state: &'s State,
    options: &'s Options,
    path: String,
}

fn assert_close(call: &mut Call) -> Result<Value> {
    let flag = |index: usize| crate::value::equality::truth(&call.value(index));
    let number = |index: usize| call.value(index).as_scalar().map(Scalar::to_f64);
    let tolerances = match (number(3), number(4)) {
        (Some(rtol), Some(atol)) => Some((rtol, atol)),
        (None, None) => None,
        (rtol, _) => {
            let missing = if rtol.is_none() { "rtol" } else { "atol" };
            bail!(ValueError, "Both 'rtol' and 'atol' must be either specified or omitted, but got no {missing}.")
        }
    };
    let options = Options {
        subclasses: flag(2)?,
        tolerances,
        equal_nan: flag(5)?,
        device: flag(6)?,
        dtype: flag(7)?,
        stride: flag(9)?,
    };
    let pair = Pair { state: call.state, options: &options, path: String::new() };
    match pair.compare(&call.value(0), &call.value(1)) {
        Err(error) if error.kind == ErrorKind::AssertionError => match call.value(10) {
            Value::None => Err(error),
            Value::Str(message) => Err(Error::new(ErrorKind::AssertionError, message.as_ref())),
            // A function of the message that would be shown.
            function => {
                let message = call_plain(call.state, &function, vec![Value::str(&error.message)])?;
                Err(Error::new(ErrorKind::AssertionError, call.state.str(&message)?))
            }
        },
        other => other.map(|()| Value::None),
    }
}

impl Pair<'_> {
    fn fail(&self, message: impl Into<String>) -> Error {
        self.error(ErrorKind::AssertionError, message)
    }

    fn error(&self, kind: ErrorKind, message: impl Into<String>) -> Error {
        let mut message = message.into();
        if !self.path.is_empty() {
            message.push_str(&format!("\n\nThe failure occurred for item {}", self.path));
        }
        Error::new(kind, message)
    }

    fn text(&self, value: &Value) -> String {
        self.state.str(value).unwrap_or_default()
    }

    fn inner(&self, key: &Value) -> Self {
        let key = self.state.repr(key).unwrap_or_default();
        Pair { path: format!("{}[{key}]", self.path), ..*self }
    }

    fn compare(&self, actual: &Value, expected: &Value) -> Result<()> {
        match (actual.entries(), expected.entries()) {
            (Some(a), Some(b)) => self.mappings(&a, &b),
            _ => match (actual.sequence(), expected.sequence()) {
                (Some(a), Some(b)) => self.sequences(&a, &b),
                _ => self.single(actual, expected),
            },
        }
    }

    fn sequences(&self, actual: &[Value], expected: &[Value]) -> Result<()> {
        let (a, b) = (actual.len(), expected.len());
        if a != b {
            return Err(self.fail(format!("The length of the sequences mismatch: {a} != {b}")));
        }
        let mut pairs = (0..).zip(actual.iter().zip(expected));
        pairs.try_for_each(|(i, (a, b))| self.inner(&Value::Int(i)).compare(a, b))
    }

    fn mappings(&self, actual: &[(Value, Value)], expected: &[(Value, Value)]) -> Result<()> {
        let lacks = |of: &[(Value, Value)], from: &[(Value, Value)]| -> Vec<Value> {
            let missing = of.iter().filter(|(key, _)| !from.iter().any(|(other, _)| equal(key, other)));
            missing.map(|(key, _)| key.clone()).collect()
        };
        let (missing, additional) = (lacks(expected, actual), lacks(actual, expected));
        if !missing.is_empty() || !additional.is_empty() {
            return Err(self.fail(format!(
                "The keys of the mappings do not match:\nMissing keys in the actual mapping: {}\nAdditional keys in \
 the actual mapping: {}",
                self.text(&Value::list(missing)),
                self.text(&Value::list(additional))
            )));
        }
        for (key, value) in actual {
            if let Some((_, other)) = expected.iter().find(|(other, _)| equal(key, other)) {
                self.inner(key).compare(value, other)?;
            }
        }
        Ok(())
    }

    fn single(&self, actual: &Value, expected: &Value) -> Result<()> {
        match (actual, expected) {
            (Value::None, Value::None) => Ok(()),
            (Value::None, _) | (_, Value::None) => {
                let (a, b) = (self.text(actual), self.text(expected));
                Err(self.fail(format!("None mismatch: {a} is not {b}")))
            }
            (Value::Bool(a), Value::Bool(b)) => match a == b {
                true => Ok(()),
                false => {
                    let (a, b) = (self.text(actual), self.text(expected));
                    Err(self.fail(format!("Booleans mismatch: {a} is not {b}")))
                }
            },
            (Value::Tensor(a), Value::Tensor(b))
                if self.options.subclasses || actual.class_name() == expected.class_name() =>
            {
                self.tensors(&a.view(), &b.view())
            }
            _ if let (Some(a), Some(b)) = (array_view(actual), array_view(expected)) => self.tensors(&a, &b),
            _ => match (actual.as_scalar(), expected.as_scalar()) {
                (Some(a), Some(b)) => self.numbers((actual, a), (expected, b)),
                _ => {
                    let class = |value: &Value| self.text(&Value::Type(value.class_name()));
                    Err(self.error(
                        ErrorKind::TypeError,
                        format!(
                            "No comparison pair was able to handle inputs of type {} and {}.",
                            class(actual),
                            class(expected)
                        ),
                    ))
                }
            },
        }
    }

    fn numbers(&self, (actual, a): (&Value, Scalar), (expected, b): (&Value, Scalar)) -> Result<()> {
        if self.options.dtype && actual.class_name() != expected.class_name() {
            let class = |value: &Value| self.text(&Value::Type(value.class_name()));
            return Err(self.fail(format!("The (d)types do not match: {} != {}.", class(actual), class(expected))));
        }
        let dtype = |scalar: Scalar| match scalar {
            Scalar::Float(_) => DType::Double,
            Scalar::Complex(_) => DType::ComplexDouble,
            _ => DType::Long,
        };
        let (rtol, atol) = self.tolerances(&[dtype(a), dtype(b)]);
        let (x, y) = (a.to_complex(), b.to_complex());
        let nan = |z: num_complex::Complex<f64>| z.re.is_nan() || z.im.is_nan();
        if x == y || self.options.equal_nan && nan(x) && nan(y) {
            return Ok(());
        }
        let distance = (x - y).norm();
        if distance.is_finite() && distance <= atol + rtol * y.norm() {
            return Ok(());
        }
        Err(self.fail(self.scalar_mismatch(actual, expected, (a, b), (rtol, atol))))
    }

    /// The usual tolerances of the dtypes: the looser one.
    fn tolerances(&self, dtypes: &[DType]) -> (f64, f64) {
        let usual = |dtype: &DType| match dtype {
            DType::Half | DType::ComplexHalf => (1e-3, 1e-5),
            DType::BFloat16 => (1.6e-2, 1e-5),
            DType::Float | DType::ComplexFloat => (1.3e-6, 1e-5),
            DType::Double | DType::ComplexDouble => (1e-7, 1e-7),
            _ => (0.0, 0.0),
        };
        let loosest = || dtypes.iter().map(usual).fold((0.0, 0.0), |a: (f64, f64), b| (a.0.max(b.0), a.1.max(b.1)));
        self.options.tolerances.unwrap_or_else(loosest)
    }

    fn scalar_mismatch(
        &self,
        actual: &Value,
        expected: &Value,
        (a, b): (Scalar, Scalar),
        tolerances: (f64, f64),
    ) -> String {
        let distance = match (a, b) {
            (Scalar::Float(_) | Scalar::Complex(_), _) | (_, Scalar::Float(_) | Scalar::Complex(_)) => {
                Value::Float((a.to_complex() - b.to_complex()).norm())
            }
            _ => Value::from(i128::from((i128::from(a.to_i64()) - i128::from(b.to_i64())).abs() as i64)),
        };
        let size = distance.as_scalar().map_or(0.0, Scalar::to_f64);
        let of = b.to_complex().norm();
        let relative = if of == 0.0 { f64::INFINITY } else { size / of };
        let said = format!("Expected {} but got {}.", self.text(expected), self.text(actual));
        let name = if tolerances == (0.0, 0.0) { "equal" } else { "close" };
        let mut text = format!("Scalars are not {name}!\n\n{said}\n");
        for (kind, value, limit) in
            [("Absolute", distance, tolerances.1), ("Relative", Value::Float(relative), tolerances.0)]
        {
            text.push_str(&format!("{kind} difference: {}{}\n", self.text(&value), self.allowed(limit, tolerances)));
        }
        text.trim_end().to_owned()
    }

    fn allowed(&self, limit: f64, tolerances: (f64, f64)) -> String {
        match tolerances {
            (0.0, 0.0) => String::new(),
            _ => format!(" (up to {} allowed)", self.text(&Value::Float(limit))),
        }
    }

    fn tensors(&self, a: &View, b: &View) -> Result<()> {
        let differ = |name: &str, a: Value, b: Value| {
            let (a, b) = (self.text(&a), self.text(&b));
            Err(self.fail(format!("The values for attribute '{name}' do not match: {a} != {b}.")))
        };
        if a.sizes() != b.sizes() {
            return differ("shape", Value::size(a.sizes()), Value::size(b.sizes()));
        }
        if self.options.stride && a.layout.strides != b.layout.strides {
            return differ("stride()", Value::ints(&a.layout.strides), Value::ints(&b.layout.strides));
        }
        if self.options.device && a.device() != b.device() {
            return differ("device", Value::Device(a.device()), Value::Device(b.device()));
        }
        if self.options.dtype && a.dtype != b.dtype {
            return differ("dtype", Value::DType(a.dtype), Value::DType(b.dtype));
        }
        if a.device().is_meta() || b.device().is_meta() {
            return Ok(());
        }
        let tolerances = self.tolerances(&[a.dtype, b.dtype]);
        let default = self.state.default_dtype.get();
        let common = if a.dtype == b.dtype { a.dtype } else { result_type(&[Operand::from(a), b.into()], default)? };
        let (a, b) = (copy::cast(a, common)?, copy::cast(b, common)?);
        let tolerance = Tolerance { rtol: tolerances.0, atol: tolerances.1, equal_nan: self.options.equal_nan };
        let matches = isclose(&a, &b, tolerance, default)?;
        if reduce::all(&matches, None, false)?.item()?.truth() {
            return Ok(());
        }
        Err(self.fail(match a.ndim() {
            0 => {
                let (x, y) = (a.item()?, b.item()?);
                self.scalar_mismatch(&x.into(), &y.into(), (x, y), tolerances)
            }
            _ => self.tensor_mismatch(&a, &b, &matches, tolerances)?,
        }))
    }

    fn tensor_mismatch(&self, a: &View, b: &View, matches: &View, tolerances: (f64, f64)) -> Result<String> {
        let matches: Vec<bool> = matches.scalars()?.into_iter().map(Scalar::truth).collect();
        let (total, failed) = (matches.len(), matches.iter().filter(|matched| !**matched).count());
        let integral = a.dtype.is_integral(true);
        // Computed in the tensors' own precision, as there.
        let precision = if integral { DType::Double } else { a.dtype.to_real() };
        let round = |value: f64| Ok::<_, Error>(View::scalar(Scalar::Float(value), precision)?.item()?.to_f64());
        let (mut greatest, mut relative) = ((0.0, 0), (0.0, 0));
        let pairs = a.scalars()?.into_iter().zip(b.scalars()?).zip(&matches);
        for (i, ((x, y), matched)) in pairs.enumerate() {
            if *matched {
                continue;
            }
            let distance = round((x.to_complex() - y.to_complex()).norm())?;
            let share = distance / y.to_complex().norm();
            let share = if integral { f64::from(share as f32) } else { round(share)? };
            // Not a number is more than everything.
            let more = |new: f64, old: f64| new > old || new.is_nan() && !old.is_nan();
            if more(distance, greatest.0) {
                greatest = (distance, i);
            }
            if more(share, relative.0) {
                relative = (share, i);
            }
        }
        let name = if tolerances == (0.0, 0.0) { "equal" } else { "close" };
        let percent = 100.0 * failed as f64 / total as f64;
        let mut text =
            format!("Tensor-likes are not {name}!\n\nMismatched elements: {failed} / {total} ({percent:.1}%)\n");
        for (kind, (value, index), limit) in
            [("absolute", greatest, tolerances.1), ("relative", relative, tolerances.0)]
        {
            let whole = integral && kind == "absolute";
            let value = if whole { Value::Int(value as i64) } else { Value::Float(value) };
            text.push_str(&format!(
                "Greatest {kind} difference: {} at index {}{}\n",
                self.text(&value),
                self.text(&Value::ints(&place(index as i64, a.sizes()))),
                self.allowed(limit, tolerances)
            ));
        }
        Ok(text.trim_end().to_owned())
    }
}

/// The index of the element with this number, row by row.
fn place(mut number: i64, sizes: &[i64]) -> Vec<i64> {
    let mut index: Vec<i64> = Vec::new();
    for &size in sizes.iter().rev() {
        index.push(number % size.max(1));
        number /= size.max(1);
    }
    index.reverse();
    index
}
