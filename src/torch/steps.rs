//! Shorthand for functions that PyTorch composes of others. Each step calls the function table, so gradients are
//! recorded step by step.

use call::bind::Arguments;
use call::dispatch::call;
use call::one;
use call::state::State;
use call::{Call, MODULES, Receiver};
use objects::operators::call_on;
use tensor::{Result, Tensor, View, bail};
use value::Value;

/// Calls functions of the table on tensors.
#[derive(Clone, Copy)]
pub struct Steps<'s>(pub &'s State);

impl<'s> Steps<'s> {
    pub fn of(call: &Call<'s>) -> Steps<'s> {
        Steps(call.state)
    }

    /// Calls `tensor.name(arguments)`.
    pub fn on(self, tensor: &Tensor, name: &str, arguments: &[Value]) -> Result<Tensor> {
        one(call_on(self.0, name, &Value::Tensor(tensor.clone()), arguments)?)
    }

    /// Calls `torch.name(arguments)`.
    pub fn torch(self, name: &str, arguments: &[Value]) -> Result<Value> {
        let (module, short) = name.rsplit_once('.').unwrap_or(("", name));
        let module = MODULES.iter().copied().find(|known| *known == module).unwrap_or("");
        let Some(overloads) = self.0.registry.find(short, Receiver::Module(module)) else {
            bail!(AttributeError, "module 'torch' has no attribute '{name}'");
        };
        let arguments = Arguments { positional: arguments.iter().cloned().collect(), keywords: Vec::new() };
        call(self.0, overloads, None, &arguments)
    }

    pub fn pair(self, name: &str, a: &Tensor, b: &Tensor) -> Result<Tensor> {
        self.on(a, name, &[Value::Tensor(b.clone())])
    }

    /// Calls a function whose argument is a list of sizes or dimensions.
    pub fn sized(self, name: &str, tensor: &Tensor, sizes: &[i64]) -> Result<Tensor> {
        self.on(tensor, name, &[Value::size(sizes)])
    }

    pub fn unsqueeze(self, tensor: &Tensor, dim: i64) -> Result<Tensor> {
        self.on(tensor, "unsqueeze", &[Value::Int(dim)])
    }

    pub fn transpose(self, tensor: &Tensor, dim0: i64, dim1: i64) -> Result<Tensor> {
        self.on(tensor, "transpose", &[Value::Int(dim0), Value::Int(dim1)])
    }

    pub fn sum(self, tensor: &Tensor, dims: &[i64], keepdim: bool) -> Result<Tensor> {
        self.on(tensor, "sum", &[Value::size(dims), Value::Bool(keepdim)])
    }

    /// Reshapes a tensor that no one else holds.
    pub(crate) fn unsafe_view(self, tensor: &Tensor, sizes: &[i64]) -> Result<Tensor> {
        one(self.torch("_unsafe_view", &[Value::Tensor(tensor.clone()), Value::size(sizes)])?)
    }
}

/// Writes a result to the first argument.
pub fn in_place(call: &Call, result: &View) -> Result<Value> {
    let target = call.view(0)?;
    if target.sizes() != result.sizes() {
        let show = tensor::layout::show;
        bail!(
            RuntimeError,
            "Bad in-place call: input tensor size {} and output tensor size {} should match",
            show(target.sizes()),
            show(result.sizes())
        );
    }
    tensor::ops::copy::copy_into(&target, result)?;
    Ok(call.itself())
}
