//! What a value looks like: the text Python and PyTorch would print for it. Evaluates nothing and prints nothing.
//!
//! Everything is written straight into one growing string, so that a storage of a gigabyte is not copied on its way
//! out. [`style`] marks up finished text afterwards, for those who want colours.

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

use tensor::{DType, Result, Tensor, bail};
use value::Value;

pub(crate) use number::{complex_repr, float_repr};
pub use repr::{is_printable, str_repr};

/// What `torch.set_printoptions` sets; the default is PyTorch's.
/// See <https://pytorch.org/docs/2.7/generated/torch.set_printoptions.html>.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PrintOptions {
    /// Digits after the point. Negative values are accepted here and refused when a number is printed, as in PyTorch.
    pub precision: i64,
    /// Tensors of more elements than this are summarised; [`PrintOptions::UNLIMITED`] stands for `inf`.
    pub threshold: i64,
    /// Elements shown at each end of a summarised dimension.
    pub edgeitems: i64,
    /// Characters per line.
    pub linewidth: i64,
    /// Forces (or forbids) scientific notation; `None` lets the values decide.
    pub sci_mode: Option<bool>,
}

impl PrintOptions {
    /// The threshold of the `full` profile: nothing is ever summarised.
    pub(crate) const UNLIMITED: i64 = i64::MAX;

    /// The options of the profile `default`, `short` or `full`; `None` for any other name.
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

/// Turns values into text. The text never ends in a newline of its own.
#[derive(Clone, Copy)]
pub struct Formatter<'a> {
    pub options: &'a PrintOptions,
    /// `torch.get_default_dtype()`: a tensor of this dtype does not say so.
    pub default_dtype: DType,
}

impl Formatter<'_> {
    /// Returns whether a reader can tell this dtype from the numbers alone.
    fn dtype_is_clear(&self, dtype: DType) -> bool {
        let complex = if self.default_dtype == DType::Double { DType::ComplexDouble } else { DType::ComplexFloat };
        dtype == self.default_dtype || dtype == complex || matches!(dtype, DType::Long | DType::Bool)
    }

    /// Python's `repr(value)`, which is also what a prompt echoes.
    ///
    /// # Errors
    /// RuntimeError for a tensor that reaches beyond its storage; ValueError for print options no number can be
    /// written with; RecursionError for values nested too deeply.
    pub fn repr(&self, value: &Value) -> Result<String> {
        let mut out = String::new();
        repr::write(&mut out, *self, value, 0)?;
        Ok(out)
    }

    /// Python's `str(value)`, which is what `print` shows: `repr` except for strings and devices.
    ///
    /// # Errors
    /// Those of [`Formatter::repr`].
    pub fn str(&self, value: &Value) -> Result<String> {
        match value {
            Value::Str(text) => Ok(text.as_ref().to_owned()),
            Value::Device(device) => Ok(device.to_string()),
            Value::Object(object) => match object.special("__str__", &[]) {
                Some(text) => written("__str__", text?),
                // The text of `__repr__` then counts as that of `__str__`.
                None => match object.special("__repr__", &[]) {
                    Some(text) => written("__str__", text?),
                    None => Ok(object.text()),
                },
            },
            other => self.repr(other),
        }
    }

    /// Python's `format(value, spec)`, which is also what `f"{value:spec}"` inserts. A 0-d tensor formats as its number.
    ///
    /// # Errors
    /// ValueError for a specification the value's class does not accept, TypeError for a class that accepts none.
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
        if spec.is_empty() { self.str(value) } else { spec::format(value, spec) }
    }

    /// A tensor as PyTorch prints it.
    ///
    /// # Errors
    /// Those of [`Formatter::repr`].
    pub fn tensor(&self, tensor: &Tensor) -> Result<String> {
        let mut out = String::new();
        tensors::write(&mut out, *self, tensor)?;
        Ok(out)
    }
}

/// Returns the text that a script's `__str__` or `__repr__` gives; anything else is an error.
fn written(name: &str, text: Value) -> Result<String> {
    match text {
        Value::Str(text) => Ok(text.as_ref().to_owned()),
        other => bail!(TypeError, "{name} returned non-string (type {})", other.type_name()),
    }
}

/// Python's `repr` of a value where no session says how tensors are printed.
///
/// # Errors
/// Those of [`Formatter::repr`].
pub fn repr_by_default(value: &Value) -> Result<String> {
    Formatter { options: &PrintOptions::default(), default_dtype: DType::Float }.repr(value)
}

/// Python's `str`, likewise.
///
/// # Errors
/// Those of [`Formatter::repr`].
pub fn plain_text(value: &Value) -> Result<String> {
    Formatter { options: &PrintOptions::default(), default_dtype: DType::Float }.str(value)
}
