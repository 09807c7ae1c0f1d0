//! Gradients as methods. Follows <https://pytorch.org/docs/2.7/autograd.html>.

use super::{Call, Row, method};
use crate::tensor::{Error, Result, Tensor};
use crate::value::Value;
use crate::{autograd, bail};

pub const ROWS: &[Row] = &[
    method("requires_grad_(Tensor self, bool requires_grad=True) -> Tensor", |c| { let on = c.bool(1)?; set_requires_grad(c.tensor(0)?, on, false)?; Ok(c.itself()) }, "Turns the recording of gradients on or off, in place."),
    method("backward(Tensor self, any gradient=None, any retain_graph=None, bool create_graph=False, any inputs=None) -> None", backward, "Computes the gradients of the leaves this tensor came from.").python("Tensor.backward"),
    method("retain_grad(Tensor self) -> None", retain_grad, "Keeps the gradient of a tensor that is not a leaf."),
    method("detach_(Tensor self) -> Tensor", |c| { c.tensor(0)?.autograd_mut(|m| { m.grad_fn = None; m.requires_grad = false; }); Ok(c.itself()) }, "Cuts the tensor off from the gradient graph."),
];

/// `requires_grad_()`, or the assignment to the attribute.
pub fn set_requires_grad(tensor: &Tensor, on: bool, attribute: bool) -> Result<()> {
    if !tensor.is_leaf() && !on {
        bail!(
            RuntimeError,
            "you can only change requires_grad flags of leaf variables. If you want to use a computed variable in a \
             subgraph that doesn't require differentiation use var_no_grad = var.detach()."
        );
    }
    if on && !tensor.borrow().dtype.is_differentiable() {
        let word = if attribute {
            "only Tensors of floating point and complex dtype can require gradients"
        } else {
            "only Tensors of floating point dtype can require gradients"
        };
        return Err(Error::runtime(word));
    }
    if tensor.is_leaf() && (on || tensor.has_autograd()) {
        tensor.autograd_mut(|meta| meta.requires_grad = on);
    }
    Ok(())
}

fn retain_grad(call: &mut Call) -> Result<Value> {
    let tensor = call.tensor(0)?;
    if !tensor.requires_grad() {
        bail!(RuntimeError, "can't retain_grad on Tensor that has requires_grad=False");
    }
    autograd::retain_grad(tensor);
    Ok(Value::None)
}

fn backward(call: &mut Call) -> Result<Value> {
    let gradient = match call.value(1) {
        Value::None => None,
        Value::Tensor(gradient) => Some(gradient),
        other => bail!(TypeError, "'{}' object is not iterable", other.type_name()),
    };
    let create_graph = matches!(call.value(3), Value::Bool(true));
    if create_graph {
        bail!(NotImplementedError, "create_graph=True is not supported: gradients of gradients are not recorded");
    }
    let retain = matches!(call.value(2), Value::Bool(true));
    autograd::backward(call.tensor(0)?, gradient.as_ref(), retain)?;
    Ok(Value::None)
}
