//! Sums of gradients: those that meet at a node during a pass, and those that are added to a tensor's `grad`. Follows
//! `InputBuffer::accumulate` and `AccumulateGrad` of PyTorch, which also decide whose memory a sum is in.

use super::Functions;
use super::engine::{Pass, as_tensor};
use tensor::form::Form;
use tensor::{Layout, MemoryFormat, Result, Tensor, View, bail};
use value::Value;

fn call(functions: &dyn Functions, key: &str, args: [&Tensor; 2]) -> Result<Tensor> {
    functions.call(key, &args.map(|arg| Value::Tensor(arg.clone()))).and_then(as_tensor)
}

/// Returns whether a tensor is sparse in coordinate form, which is the second operand of every sum.
fn is_coo(tensor: &Tensor) -> bool {
    matches!(tensor.borrow().form.as_deref(), Some(Form::Coo(_)))
}

/// Returns whether this handle is the only one to a dense tensor and to its memory.
fn is_sole(tensor: &Tensor) -> bool {
    let view = tensor.borrow();
    let is_dense = view.form.is_none() && view.layout.is_non_overlapping_and_dense();
    is_dense && tensor.holders() == 1 && view.storage.holders() == 1
}

/// Adds two gradients of the same result. Reuses memory that nothing else refers to, unless the pass is recorded.
pub(super) fn sum(pass: Pass, before: Tensor, gradient: Tensor) -> Result<Tensor> {
    let functions = pass.functions;
    if pass.create_graph {
        return call(functions, "add.Tensor", [&before, &gradient]);
    }
    let (first, second) = if is_coo(&before) { (gradient, before) } else { (before, gradient) };
    let key = if is_sole(&first) { "add_.Tensor" } else { "add.Tensor" };
    call(functions, key, [&first, &second])
}

/// Adds a gradient to the `grad` of a leaf. An existing `grad` is changed in place, unless the pass is recorded or the
/// sum of a sparse and a dense tensor needs another form. A first gradient becomes the `grad` itself if it has the
/// layout of the leaf and at most `holders` handles.
pub(super) fn into_leaf(pass: Pass, leaf: &Tensor, gradient: Tensor, holders: usize) -> Result<()> {
    if !leaf.is_leaf() {
        bail!(RuntimeError, "leaf variable has been moved into the graph interior");
    }
    // The leaf was frozen after the call that was recorded.
    if !leaf.requires_grad() {
        return Ok(());
    }
    let functions = pass.functions;
    let total = match leaf.autograd(|meta| meta.grad.clone()) {
        Some(existing) if is_coo(&existing) && !is_coo(&gradient) => {
            call(functions, "add.Tensor", [&gradient, &existing])?
        }
        Some(existing) if pass.create_graph => call(functions, "add.Tensor", [&existing, &gradient])?,
        Some(existing) => {
            call(functions, "add_.Tensor", [&existing, &gradient])?;
            return Ok(());
        }
        None => first(pass, leaf, gradient, holders)?,
    };
    leaf.autograd_mut(|meta| meta.grad = Some(total));
    Ok(())
}

/// Returns the `grad` of a leaf that has none: the gradient itself, or a copy with the layout of the leaf.
fn first(pass: Pass, leaf: &Tensor, gradient: Tensor, holders: usize) -> Result<Tensor> {
    let (dtype, device, is_sparse) = {
        let view = gradient.borrow();
        (view.dtype, view.device(), view.form.is_some())
    };
    if is_sparse {
        return pass.functions.call("clone", &[gradient.into()]).and_then(as_tensor);
    }
    let layout = leaf.borrow().layout.clone();
    let is_dense = layout.is_non_overlapping_and_dense();
    let as_is = match is_dense {
        true => has_strides_of(&gradient.borrow().layout, &layout),
        false => gradient.borrow().layout.is_contiguous(),
    };
    if as_is && !pass.create_graph && gradient.holders() <= holders {
        return Ok(gradient.detach());
    }
    if !is_dense {
        return contiguous(pass, &gradient);
    }
    let copy = Tensor::new(View::zeros_strided(&layout.sizes, layout.strides, dtype, device)?);
    call(pass.functions, "copy_", [&copy, &gradient])
}

/// Returns whether a gradient has the strides of its tensor. Strides of dimensions of size 1 differ freely, but a
/// stride of 0 marks a tensor that was expanded.
fn has_strides_of(gradient: &Layout, of: &Layout) -> bool {
    let own = gradient.sizes.iter().zip(&gradient.strides);
    own.zip(&of.strides).all(|((&size, &stride), &wanted)| if size == 1 { stride != 0 } else { stride == wanted })
}

fn contiguous(pass: Pass, gradient: &Tensor) -> Result<Tensor> {
    let format = Value::MemoryFormat(MemoryFormat::Contiguous);
    pass.functions.call("clone", &[gradient.clone().into(), format]).and_then(as_tensor)
}

/// Adds a gradient to the `grad` of a tensor that is not a leaf: `retain_grad`. An existing `grad` is never changed.
pub(super) fn into_retained(pass: Pass, tensor: &Tensor, gradient: &Tensor) -> Result<()> {
    let total = match tensor.autograd(|meta| meta.grad.clone()) {
        Some(existing) => call(pass.functions, "add.Tensor", [&existing, gradient])?,
        None if gradient.borrow().form.is_some() => {
            pass.functions.call("clone", &[gradient.clone().into()]).and_then(as_tensor)?
        }
        None => contiguous(pass, gradient)?,
    };
    tensor.autograd_mut(|meta| meta.grad = Some(total));
    Ok(())
}
