//! Formats values like Python and PyTorch would print them. Evaluates nothing and prints nothing.
//!
//! All text is written directly into one growing string, so that a storage of a gigabyte is not copied repeatedly.
//! [`style`] marks up finished text for coloured output.

pub mod arrays;
mod form;
pub mod number;
mod repr;
mod spec;
mod storage;
pub mod style;
mod tensors;
#[cfg(test)]
mod tests;

use tensor::{DType, Result, Scalar, Tensor, bail};
use value::Value;

pub(crate) use number::{complex_repr, float_repr};
pub use repr::is_printable;
#[cfg(test)]
use repr::str_repr;

/// The settings of `torch.set_printoptions`; the defaults are PyTorch's. See
/// <https://pytorch.org/docs/2.7/generated/torch.set_printoptions.html>.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PrintOptions {
    /// Digits after the point. Like in PyTorch, negative values are rejected only when a number is printed.
    pub precision: i64,
    /// Tensors with more elements than this are summarised. [`PrintOptions::UNLIMITED`] stands for `inf`.
    pub threshold: i64,
    /// Elements shown at each end of a summarised dimension.
    pub edgeitems: i64,
    /// Characters per line.
    pub linewidth: i64,
    /// Forces or forbids scientific notation. `None` decides by the values.
    pub sci_mode: Option<bool>,
}

impl PrintOptions {
    /// The threshold of the `full` profile: never summarise.
    pub(crate) const UNLIMITED: i64 = i64::MAX;

    /// Returns the options of the profile `default`, `short` or `full`. `None` for any other name.
    pub fn profile(name: &str) -> Option<PrintOptions> {
        let default = PrintOptions::default();
        Some(match name {
            "default" => default,
            "short" => PrintOptions { precision: 2, edgeitems: 2, ..default },
            "full" => PrintOptions { threshold: PrintOptions::UNLIMITED, ..default },
            _ => return None,
        })
    }
}

impl Default for PrintOptions {
    fn default() -> PrintOptions {
        PrintOptions { precision: 4, threshold: 1000, edgeitems: 3, linewidth: 80, sci_mode: None }
    }
}

/// Formats values. The text does not end in a newline.
#[derive(Clone, Copy)]
pub struct Formatter<'a> {
    pub options: &'a PrintOptions,
    /// `torch.get_default_dtype()`. Tensors of this dtype are printed without a dtype.
    pub default_dtype: DType,
}

impl Formatter<'_> {
    /// Returns whether the numbers alone imply the dtype.
    fn dtype_is_clear(&self, dtype: DType) -> bool {
        let complex = if self.default_dtype == DType::Double { DType::ComplexDouble } else { DType::ComplexFloat };
        dtype == self.default_dtype || dtype == complex || matches!(dtype, DType::Long | DType::Bool)
    }

    /// Python's `repr(value)`, which a prompt echoes.
    ///
    /// # Errors
    /// Fails with RuntimeError for a tensor that extends beyond its storage, with ValueError for invalid print options,
    /// and with RecursionError for values nested too deeply.
    pub fn repr(&self, value: &Value) -> Result<String> {
        let mut out = String::new();
        repr::write(&mut out, *self, value, 0)?;
        Ok(out)
    }

    /// Python's `str(value)`, which `print` shows. Equals `repr` except for strings and devices.
    ///
    /// # Errors
    /// The errors of [`Formatter::repr`].
    pub fn str(&self, value: &Value) -> Result<String> {
        match value {
            Value::Str(text) => Ok(text.as_ref().to_owned()),
            Value::Device(device) => Ok(device.to_string()),
            Value::Object(object) => match object.special("__str__", &[]) {
                Some(text) => text_from_script("__str__", text?),
                // The result of `__repr__` then counts as that of `__str__`.
                None => match object.special("__repr__", &[]) {
                    Some(text) => text_from_script("__str__", text?),
                    None => Ok(object.text()),
                },
            },
            other => self.repr(other),
        }
    }

    /// Python's `format(value, spec)`, which `f"{value:spec}"` also uses. A 0-dimensional tensor formats as its number.
    ///
    /// # Errors
    /// Fails with ValueError for a specification that the value's class does not accept, and with TypeError for a class
    /// that accepts none.
    pub fn format(&self, value: &Value, spec: &str) -> Result<String> {
        if let Value::Tensor(tensor) = value {
            let view = tensor.view();
            if view.ndim() == 0 && !view.device().is_meta() {
                return self.format(&Value::from(view.item()?), spec);
            }
        }
        if let Value::Object(object) = value
            && let Some(text) = object.special("__format__", &[Value::str(spec)])
        {
            return match text? {
                Value::Str(text) => Ok(text.to_string()),
                other => bail!(TypeError, "__format__ must return a str, not {}", other.type_name()),
            };
        }
        match value {
            // A scalar of NumPy is formatted like the number of Python, but for bools.
            Value::Object(object) if let Some(number) = object.number() => match number {
                Scalar::Bool(truth) if spec.is_empty() => Ok(if truth { "True" } else { "False" }.to_owned()),
                Scalar::Bool(truth) => self.format(&Value::Int(i64::from(truth)), spec),
                number => self.format(&Value::from(number), spec),
            },
            _ if spec.is_empty() => self.str(value),
            _ => spec::format(value, spec),
        }
    }

    /// Formats a tensor like PyTorch.
    ///
    /// # Errors
    /// The errors of [`Formatter::repr`].
    pub fn tensor(&self, tensor: &Tensor) -> Result<String> {
        let mut out = String::new();
        tensors::write(&mut out, *self, tensor)?;
        Ok(out)
    }
}

/// Returns the text from a script's `__str__` or `__repr__`; fails if the result is not a string.
fn text_from_script(name: &str, text: Value) -> Result<String> {
    match text {
        Value::Str(text) => Ok(text.as_ref().to_owned()),
        other => bail!(TypeError, "{name} returned non-string (type {})", other.type_name()),
    }
}

/// Python's `repr` of a value, with default options for tensors.
///
/// # Errors
/// The errors of [`Formatter::repr`].
pub fn repr_by_default(value: &Value) -> Result<String> {
    Formatter { options: &PrintOptions::default(), default_dtype: DType::Float }.repr(value)
}

/// Python's `str` of a value, with default options for tensors.
///
/// # Errors
/// The errors of [`Formatter::repr`].
pub fn plain_text(value: &Value) -> Result<String> {
    Formatter { options: &PrintOptions::default(), default_dtype: DType::Float }.str(value)
}
