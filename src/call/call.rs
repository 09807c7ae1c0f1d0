//! The bound arguments of one call, which a row's function reads by their position in the signature.

use super::Function;
use super::bind::Bound;
use super::facets::RefusedBy;
use super::signature::{Signature, name_in};
use super::state::State;
use tensor::{DType, Device, Dims, Error, ErrorKind, Result, Scalar, Storage, Tensor, View, bail};
use value::equality::truth;
use value::{MemoryFormat, Value, any_tensor, as_tensor, integers};

/// A call with its arguments bound. A row's function reads them from here.
pub struct Call<'a> {
    pub state: &'a State,
    pub signature: &'a Signature,
    pub args: Bound,
}

/// Builds the error for an argument of the wrong kind. The binder has already refused most of them, but functions that
/// PyTorch writes in Python accept anything at first.
fn row_error(call: &Call, index: usize) -> Error {
    let param = call.signature.params.get(index);
    let (name, wanted) = param.map_or(("", "object"), |param| (param.shown_name(), param.kind.type_name()));
    let (called, given) = (call.signature.called(), call.value(index));
    let place = index + 1;
    // PyTorch runs the in-place function then, whose name ends with an underscore.
    let end = if call.is_switched() { "_" } else { "" };
    Error::type_error(format!(
        "{called}{end}(): argument '{name}' (position {place}) must be {wanted}, not {}",
        given.type_name()
    ))
}

impl<'a> Call<'a> {
    /// A call of `function` with all its arguments.
    pub fn of(state: &'a State, function: &'a Function, args: Bound) -> Call<'a> {
        Call { state, signature: &function.signature, args }
    }
}

impl Call<'_> {
    /// Returns the argument at a position of the signature, or `None` if there is no such parameter.
    pub fn value(&self, index: usize) -> Value {
        self.args.get(index).cloned().unwrap_or(Value::None)
    }

    /// Returns whether the `inplace` argument asks to work in place. Any true value counts.
    pub fn is_switched(&self) -> bool {
        self.signature.switch.is_some_and(|i| truth(&self.value(i)) == Ok(true))
    }

    /// Returns the tensor that the call writes to in place.
    pub fn target(&self) -> Option<Tensor> {
        if self.signature.in_place || self.is_switched() {
            self.args.first().and_then(as_tensor).cloned()
        } else {
            None
        }
    }

    /// Fails with RuntimeError if the call has an `out` argument. A result that is written to an existing tensor cannot
    /// be recorded.
    pub(crate) fn refuse_out(&self, function: &Function) -> Result<()> {
        let name = || name_in(function.row.alias_of.unwrap_or(function.signature.key)).replace('.', "_");
        match self.position("out").and_then(|i| self.args.get(i)) {
            Some(Value::Tensor(_) | Value::List(_) | Value::Tuple(_)) => bail!(
                RuntimeError,
                "{}(): functions with out=... arguments don't support automatic differentiation, but one of the arguments \
                 requires grad.",
                match function.row.out.refused_by {
                    RefusedBy::Itself => name(),
                    RefusedBy::Operation(operation) => operation.to_owned(),
                    RefusedBy::Fallback => format!("aten::{}", name()),
                }
            ),
            _ => Ok(()),
        }
    }

    /// Like [`Call::refuse_out`], but fails only if the `out` tensor itself requires a gradient.
    pub(crate) fn refuse_recorded_out(&self, function: &Function) -> Result<()> {
        match self.position("out").and_then(|i| self.args.get(i)) {
            Some(out) if wants_grad(out) => self.refuse_out(function),
            _ => Ok(()),
        }
    }

    pub fn is_none(&self, index: usize) -> bool {
        matches!(self.args.get(index), None | Some(Value::None))
    }

    pub fn tensor(&self, index: usize) -> Result<&Tensor> {
        self.args.get(index).and_then(as_tensor).ok_or_else(|| row_error(self, index))
    }

    pub fn view(&self, index: usize) -> Result<View> {
        Ok(self.tensor(index)?.view())
    }

    /// Makes a result that is a view of the argument and shares its version counter.
    #[inline]
    pub fn view_of(&self, index: usize, view: View) -> Result<Value> {
        Ok(Value::Tensor(view_on(self.tensor(index)?, view)?))
    }

    /// Returns the receiver itself, for functions that return what they changed.
    pub fn itself(&self) -> Value {
        self.value(0)
    }

    pub fn views(&self, index: usize) -> Result<Vec<View>> {
        let items = self.value(index).sequence().ok_or_else(|| row_error(self, index))?;
        items.iter().map(|v| as_tensor(v).map(Tensor::view).ok_or_else(|| row_error(self, index))).collect()
    }

    pub fn storage(&self, index: usize) -> Result<Storage> {
        match self.args.get(index) {
            Some(Value::Storage(storage)) => Ok(storage.clone()),
            Some(Value::TypedStorage(typed)) => Ok(typed.storage.clone()),
            _ => Err(row_error(self, index)),
        }
    }

    pub fn int(&self, index: usize) -> Result<i64> {
        match self.args.get(index) {
            Some(Value::Int(i)) => Ok(*i),
            _ => Err(row_error(self, index)),
        }
    }

    pub fn opt_int(&self, index: usize) -> Result<Option<i64>> {
        if self.is_none(index) { Ok(None) } else { self.int(index).map(Some) }
    }

    pub fn bool(&self, index: usize) -> Result<bool> {
        match self.args.get(index) {
            Some(Value::Bool(b)) => Ok(*b),
            _ => Err(row_error(self, index)),
        }
    }

    pub fn str(&self, index: usize) -> Result<&str> {
        match self.args.get(index) {
            Some(Value::Str(s)) => Ok(s),
            _ => Err(row_error(self, index)),
        }
    }

    pub fn ints(&self, index: usize) -> Result<Dims> {
        match self.args.get(index) {
            Some(Value::Size(dims)) => Ok(dims.clone()),
            // A default that applies to any number of dimensions.
            Some(Value::Int(one)) => Ok(Dims::from_slice(&[*one])),
            _ => Err(row_error(self, index)),
        }
    }

    pub fn scalar(&self, index: usize) -> Result<Scalar> {
        match self.args.get(index) {
            Some(Value::BigInt(i)) if u64::try_from(&**i).is_err() => Err(too_big(integers::is_negative(i))),
            Some(value) => value.as_scalar().ok_or_else(|| row_error(self, index)),
            None => Err(row_error(self, index)),
        }
    }

    pub fn opt_dtype(&self, index: usize) -> Option<DType> {
        match self.args.get(index) {
            Some(Value::DType(dtype)) => Some(*dtype),
            _ => None,
        }
    }

    pub fn opt_device(&self, index: usize) -> Result<Option<Device>> {
        match self.args.get(index) {
            Some(Value::Device(device)) if self.state.fake_mode.get().is_some() => Ok(Some(device.as_fake())),
            Some(Value::Device(device)) => device.available().map(Some),
            _ => Ok(None),
        }
    }

    pub fn memory_format(&self, index: usize) -> Option<MemoryFormat> {
        match self.args.get(index) {
            Some(Value::MemoryFormat(format)) => Some(*format),
            _ => None,
        }
    }

    /// Returns the position of a parameter by name.
    pub fn position(&self, name: &str) -> Option<usize> {
        self.signature.params.iter().position(|p| p.name == name)
    }

    /// Returns the `dtype` argument, if the signature has one and it was given.
    pub fn dtype_keyword(&self) -> Option<DType> {
        self.position("dtype").and_then(|i| self.opt_dtype(i))
    }

    /// Returns the `device` argument, or the default device.
    pub fn device_keyword(&self) -> Result<Device> {
        let given = self.position("device").map_or(Ok(None), |i| self.opt_device(i))?;
        let usual = if self.state.fake_mode.get().is_some() { Device::CPU.as_fake() } else { Device::CPU };
        match (given, self.state.default_device.get()) {
            (Some(given), _) => Ok(given),
            (None, Some(chosen)) if self.state.fake_mode.get().is_none() => chosen.available(),
            _ => Ok(usual),
        }
    }
}

/// Returns whether a value holds a tensor that requires gradients.
pub(crate) fn wants_grad(value: &Value) -> bool {
    any_tensor(value, &mut Tensor::requires_grad)
}

/// Makes a view of a tensor. The offset of an empty tensor can be so large that those of its views overflow to negative
/// numbers. As in PyTorch, that fails with RuntimeError.
#[inline]
pub fn view_on(tensor: &Tensor, view: View) -> Result<Tensor> {
    if view.layout.offset < 0 {
        bail!(RuntimeError, "Tensor: invalid storage offset {}", view.layout.offset);
    }
    Ok(tensor.new_view(view))
}

/// Returns the tensor in a function's result.
///
/// # Errors
/// TypeError for any other value.
pub fn one(value: Value) -> Result<Tensor> {
    match value {
        Value::Tensor(tensor) => Ok(tensor),
        other => Err(Error::type_error(format!("expected a Tensor, not {}", other.type_name()))),
    }
}

/// The error for a number beyond 64 bits.
fn too_big(is_negative: bool) -> Error {
    Error::new(
        ErrorKind::OverflowError,
        if is_negative { "can't convert negative int to unsigned" } else { "int too big to convert" },
    )
}
