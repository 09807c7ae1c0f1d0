//! The values that formulas read. They are saved when a call is recorded, and restored in the pass with their history.
//! Hooks can pack them meanwhile ([`Packing`]).

use super::graph::{Edge, Node, edge_of, grad_fn};
use std::rc::Rc;
use tensor::bail;
use tensor::layout::show;
use tensor::{GradFn, Result, Tensor};
use value::Value;

/// A pair of hooks that pack and unpack saved values: `saved_tensors_hooks`.
pub trait Packing {
    /// Returns a value from which the tensor can be restored.
    fn pack(&self, tensor: &Tensor) -> Result<Value>;
    fn unpack(&self, packed: Value) -> Result<Tensor>;
}

/// A packing, with the order in which a call saves its arguments. Hooks can observe that order.
pub struct Packer {
    pub packing: Rc<dyn Packing>,
    pub order: Vec<usize>,
}

/// The values of a tensor, saved for a formula.
pub struct Saved {
    values: Values,
    pub edge: Edge,
}

enum Values {
    /// An argument: the tensor itself, whose history is looked up in the pass.
    Argument { tensor: Tensor, version: u64, leaf: bool },
    /// A tensor that shares memory and version with the saved one, but has no history.
    Kept { values: Tensor, version: u64 },
    /// The value that a pack hook returned.
    Packed { value: Value, packing: Rc<dyn Packing> },
    /// A pack hook returned the tensor unchanged. It is kept without its history, which would keep the node alive.
    Unchanged { values: Tensor, packing: Rc<dyn Packing> },
    /// Unpacked for one pass.
    Ready(Tensor),
}

impl Saved {
    /// Saves an argument of the call.
    ///
    /// # Errors
    /// Any error of a pack hook. RuntimeError if the hook changes the tensor, or for an inference tensor.
    pub fn argument(tensor: &Tensor, packing: Option<&Rc<dyn Packing>>) -> Result<Saved> {
        let edge = edge_of(tensor)?;
        let values = match packing {
            Some(packing) => pack(tensor, packing)?,
            // Formulas do not know dimension names, so a nameless alias is saved.
            None if tensor.has_names() => keep(tensor)?,
            None => {
                refuse_inference(tensor)?;
                Values::Argument { tensor: tensor.clone(), version: tensor.version(), leaf: tensor.is_leaf() }
            }
        };
        Ok(Saved { values, edge })
    }

    /// Saves a result of the call without its node, which would otherwise keep itself alive.
    ///
    /// # Errors
    /// Those of [`Saved::argument`].
    pub fn result(tensor: &Tensor, packing: Option<&Rc<dyn Packing>>) -> Result<Saved> {
        Saved::copy(tensor, Edge::default(), packing)
    }

    /// Saves a copy of a tensor whose gradient flows along `edge`.
    ///
    /// # Errors
    /// Those of [`Saved::argument`].
    pub fn copy(copy: &Tensor, edge: Edge, packing: Option<&Rc<dyn Packing>>) -> Result<Saved> {
        let values = match packing {
            Some(packing) => pack(copy, packing)?,
            None => keep(copy)?,
        };
        Ok(Saved { values, edge })
    }

    /// Restores the tensor as a part of the graph. A result of `owner` is saved without its edge, so `owner` is its
    /// source.
    ///
    /// # Errors
    /// RuntimeError if the tensor was changed in place since. Any error of an unpack hook.
    pub fn unpack(&self, owner: Option<(&Rc<Node>, usize)>) -> Result<Tensor> {
        let source = || match owner {
            Some((node, output)) => Some((node.clone(), output)),
            None => self.edge.node.clone().map(|node| (node, self.edge.output)),
        };
        match &self.values {
            Values::Ready(tensor) => Ok(tensor.clone()),
            Values::Argument { tensor, version, leaf } => {
                // PyTorch ignores which of several results an argument was.
                let source = grad_fn(tensor)?.map(|(node, _)| (node, 0));
                if source.is_none() && !leaf {
                    bail!(
                        RuntimeError,
                        "Trying to use a saved tensor that has been detached in-place, i.e. with .detach_().This is not \
                         supported, please use out-of-place `.detach()` instead"
                    );
                }
                check_version(tensor, *version, source.as_ref())?;
                Ok(tensor.clone())
            }
            Values::Kept { values, version } => {
                let source = source();
                check_version(values, *version, source.as_ref())?;
                Ok(in_graph(values, source))
            }
            Values::Packed { value, packing } => Ok(instead(&packing.unpack(value.clone())?, source())),
            Values::Unchanged { values, packing } => {
                let given = in_graph(values, source());
                Ok(instead(&packing.unpack(Value::Tensor(given))?, source()))
            }
        }
    }

    /// Like [`Saved::unpack`], but keeps the tensor for one pass.
    pub fn ready(&self, owner: Option<(&Rc<Node>, usize)>) -> Result<Saved> {
        Ok(Saved { values: Values::Ready(self.unpack(owner)?), edge: self.edge.clone() })
    }
}

/// Attaches the history of the saved tensor to its values. Returns the leaf itself, or a result of the node.
fn in_graph(values: &Tensor, source: Option<(Rc<Node>, usize)>) -> Tensor {
    match source {
        Some((node, output)) => node.variable().unwrap_or_else(|| instead(values, Some((node, output)))),
        None => values.clone(),
    }
}

/// Attaches the history of a tensor to other values. Their gradients flow where the tensor's own would.
fn instead(values: &Tensor, source: Option<(Rc<Node>, usize)>) -> Tensor {
    let Some((node, output)) = source else { return values.detach() };
    let leaf = node.variable();
    if let Some(leaf) = leaf.as_ref().filter(|leaf| leaf.is(values)) {
        return leaf.clone();
    }
    let tensor = values.detach();
    let recorded: Rc<dyn GradFn> = node;
    tensor.autograd_mut(|meta| match leaf.is_some() {
        true => {
            meta.requires_grad = true;
            meta.accumulator = Some(Rc::downgrade(&recorded));
        }
        false => meta.grad_fn = Some((recorded, output)),
    });
    tensor
}

fn keep(tensor: &Tensor) -> Result<Values> {
    refuse_inference(tensor)?;
    Ok(Values::Kept { values: tensor.detach(), version: tensor.version() })
}

fn pack(tensor: &Tensor, packing: &Rc<dyn Packing>) -> Result<Values> {
    let version = tensor.version();
    let value = packing.pack(tensor)?;
    if tensor.version() != version {
        bail!(
            RuntimeError,
            "A saved tensor pack hook is modifying its input in place. Tensors provided as input to pack hook can not be \
             modified by in-place operations as this can lead to unexpected side-effects. Please open an issue if you need \
             to perform in-place operations on the input to a pack hook."
        );
    }
    let packing = packing.clone();
    Ok(match value {
        Value::Tensor(same) if same.is(tensor) => Values::Unchanged { values: tensor.detach(), packing },
        value => Values::Packed { value, packing },
    })
}

fn refuse_inference(tensor: &Tensor) -> Result<()> {
    if tensor.is_inference() {
        bail!(
            RuntimeError,
            "Inference tensors cannot be saved for backward. To work around you can make a clone to get a normal tensor \
             and use it in autograd."
        );
    }
    Ok(())
}

/// Fails with RuntimeError if the values were changed in place since they were saved.
fn check_version(values: &Tensor, version: u64, source: Option<&(Rc<Node>, usize)>) -> Result<()> {
    if values.version() == version {
        return Ok(());
    }
    let view = values.borrow();
    let origin = match source {
        Some((node, output)) if !node.accumulates() => {
            format!(", which is output {output} of {},", node.full_name())
        }
        _ => String::new(),
    };
    bail!(
        RuntimeError,
        "one of the variables needed for gradient computation has been modified by an inplace operation: \
             [{} {}]{origin} is at version {}; expected version {} instead. Hint: enable anomaly detection to find \
             the operation that failed to compute its gradient, with torch.autograd.set_detect_anomaly(True).",
        view.dtype.legacy_class(),
        show(view.sizes()),
        values.version(),
        version
    );
}
