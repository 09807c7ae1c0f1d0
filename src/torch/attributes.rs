//! Attributes: read without parentheses, and a few of them assignable.

use super::dimnames;
use super::quantized;
use super::sparse_kernels;
use call::facets::{
    Dispatch::{AsIs, Own},
    NameInference::{Itself, Keeps, Nameless},
};
use call::{Call, Row, attribute, setter};
use num_complex::Complex;
use tensor::{Result, Tensor, bail};
use value::Value;

pub(crate) const ROWS: &[Row] = &[
    attribute(
        "shape(Tensor self) -> Size",
        |c| Ok(Value::size(c.tensor(0)?.borrow().sizes())),
        "The size of every dimension.",
    )
    .names(Nameless)
    .any_layout(),
    attribute(
        "dtype(Tensor self) -> ScalarType",
        |c| Ok(Value::DType(c.tensor(0)?.borrow().dtype)),
        "The element type.",
    )
    .names(Nameless)
    .any_layout(),
    attribute(
        "device(Tensor self) -> Device",
        |c| Ok(Value::Device(c.tensor(0)?.borrow().device())),
        "The device the tensor lives on.",
    )
    .names(Nameless)
    .any_layout(),
    attribute(
        "layout(Tensor self) -> Layout",
        |c| Ok(Value::Layout(c.tensor(0)?.borrow().tensor_layout())),
        "The way the tensor is stored.",
    )
    .names(Nameless)
    .any_layout(),
    attribute(
        "ndim(Tensor self) -> int",
        |c| Ok(Value::Int(c.tensor(0)?.borrow().ndim() as i64)),
        "The number of dimensions.",
    )
    .names(Nameless)
    .any_layout(),
    attribute(
        "itemsize(Tensor self) -> int",
        |c| Ok(Value::Int(c.tensor(0)?.borrow().dtype.itemsize() as i64)),
        "The number of bytes per element.",
    )
    .names(Nameless)
    .any_layout(),
    attribute(
        "nbytes(Tensor self) -> int",
        |c| {
            let v = c.tensor(0)?.borrow();
            Ok(Value::Int(v.numel().saturating_mul(v.dtype.itemsize() as i64)))
        },
        "The number of bytes of all elements shown.",
    )
    .names(Nameless)
    .sparse(Own(sparse_kernels::nbytes))
    .quantized(AsIs),
    attribute(
        "requires_grad(Tensor self) -> bool",
        |c| Ok(Value::Bool(c.tensor(0)?.requires_grad())),
        "Whether gradients are recorded for this tensor.",
    )
    .names(Nameless)
    .any_layout(),
    setter(
        "requires_grad(Tensor self, any requires_grad) -> None",
        |c| {
            let Value::Bool(on) = c.value(1) else { bail!(RuntimeError, "requires_grad must be a bool") };
            super::autograd_rows::set_requires_grad(c.state, c.tensor(0)?, on, true)?;
            Ok(Value::None)
        },
        "Turns recording on or off for a leaf.",
    )
    .names(Nameless)
    .any_layout(),
    attribute("grad(Tensor self) -> Tensor", grad, "The gradient accumulated by backward().")
        .names(Nameless)
        .any_layout().not_differentiable(),
    setter("grad(Tensor self, Tensor? grad) -> None", set_grad, "Replaces the accumulated gradient.")
        .names(Nameless)
        .any_layout(),
    attribute(
        "grad_fn(Tensor self) -> any",
        |c| Ok(autograd::grad_fn(c.tensor(0)?)?.map_or(Value::None, |(node, _)| super::graph::node_value(c.state, node))),
        "The operation this tensor came from.",
    )
    .names(Nameless)
    .any_layout().not_differentiable(),
    attribute(
        "is_leaf(Tensor self) -> bool",
        |c| {
            let tensor = c.tensor(0)?;
            Ok(Value::Bool(autograd::grad_fn(tensor)?.is_none()))
        },
        "Whether the tensor is not the result of a recorded operation.",
    )
    .names(Nameless)
    .any_layout(),
    attribute(
        "retains_grad(Tensor self) -> bool",
        |c| Ok(Value::Bool(c.tensor(0)?.autograd(|m| m.retains_grad))),
        "Whether a non-leaf keeps its gradient.",
    )
    .names(Nameless)
    .any_layout(),
    attribute(
        "output_nr(Tensor self) -> int",
        |c| Ok(Value::Int(c.tensor(0)?.autograd(|m| m.grad_fn.as_ref().map_or(0, |(_, nr)| *nr as i64)))),
        "The position of the tensor among the outputs of its operation.",
    )
    .names(Nameless),
    attribute(
        "data(Tensor self) -> Tensor",
        |c| Ok(Value::Tensor(tensor::Tensor::new(c.view(0)?))),
        "The same elements outside the gradient graph, with a version of its own.",
    )
    .names(Keeps)
    .any_layout().not_differentiable(),
    setter(
        "data(Tensor self, any data) -> None",
        |c| {
            let Value::Tensor(data) = c.value(1) else {
                bail!(TypeError, "Variable data has to be a tensor, but got {}", c.value(1).type_name());
            };
            let (tensor, data) = (c.tensor(0)?, data.view());
            if tensor.requires_grad() && !data.dtype.is_differentiable() {
                bail!(
                    RuntimeError,
                    "data set to a tensor that requires gradients must be floating point or complex dtype"
                );
            }
            let kind = |view: &tensor::View| (view.device(), view.form.as_ref().map(|form| std::mem::discriminant(&**form)));
            if kind(&tensor.borrow()) != kind(&data) {
                bail!(
                    RuntimeError,
                    "Attempted to call `variable.set_data(tensor)`, but `variable` and `tensor` have incompatible tensor \
                     type."
                );
            }
            // The node that gets the gradient of a leaf keeps the old size, but not the old dtype, like in PyTorch.
            if tensor.has_autograd() && tensor.borrow().dtype != data.dtype {
                tensor.autograd_mut(|meta| meta.accumulator = None);
            }
            tensor.set_view(data);
            Ok(Value::None)
        },
        "Makes the tensor show another tensor's elements.",
    )
    .names(Keeps)
    .any_layout(),
    attribute(
        "_grad_fn(Tensor self) -> any",
        |c| Ok(autograd::grad_fn(c.tensor(0)?)?.map_or(Value::None, |(node, _)| super::graph::node_value(c.state, node))),
        "The operation this tensor came from, like grad_fn.",
    )
    .names(Nameless)
    .any_layout().not_differentiable(),
    attribute(
        "_backward_hooks(Tensor self) -> any",
        |c| match c.tensor(0)?.autograd(|meta| meta.hooks.is_empty()) {
            true => Ok(Value::None),
            false => bail!(NotImplementedError, "the hooks of a tensor cannot be listed at this prompt"),
        },
        "The hooks on the gradient, or None.",
    )
    .names(Nameless)
    .any_layout().not_differentiable(),
    setter(
        "_backward_hooks(Tensor self, any hooks) -> None",
        |c| match c.value(1) {
            Value::None => {
                c.tensor(0)?.autograd_mut(|meta| meta.hooks.clear());
                Ok(Value::None)
            }
            _ => bail!(NotImplementedError, "hooks are registered by register_hook"),
        },
        "Removes the hooks on the gradient.",
    )
    .names(Nameless)
    .any_layout(),
    attribute(
        "_base(Tensor self) -> any",
        |c| Ok(c.tensor(0)?.base().cloned().map_or(Value::None, Value::Tensor)),
        "The tensor this one is a view of.",
    )
    .names(Nameless)
    .any_layout().not_differentiable(),
    attribute(
        "_version(Tensor self) -> int",
        |c| match c.tensor(0)? {
            tensor if tensor.is_inference() => bail!(RuntimeError, "Inference tensors do not track version counter."),
            tensor => Ok(Value::Int(tensor.version() as i64)),
        },
        "The number of in-place operations that have written to the tensor.",
    )
    .names(Nameless)
    .any_layout(),
    attribute(
        "is_cuda(Tensor self) -> bool",
        |_| Ok(Value::Bool(false)),
        "Whether the tensor is on a CUDA device: never here.",
    )
    .names(Nameless)
    .any_layout(),
    attribute(
        "is_cpu(Tensor self) -> bool",
        |c| Ok(Value::Bool(!c.tensor(0)?.borrow().device().is_meta())),
        "Whether the tensor is on the CPU.",
    )
    .names(Nameless)
    .any_layout(),
    attribute(
        "is_meta(Tensor self) -> bool",
        |c| Ok(Value::Bool(c.tensor(0)?.borrow().device().name() == "meta")),
        "Whether the tensor has no data.",
    )
    .names(Nameless)
    .any_layout(),
    attribute(
        "is_sparse(Tensor self) -> bool",
        |c| Ok(Value::Bool(c.tensor(0)?.borrow().coo().is_some())),
        "Whether the elements are listed by their indices.",
    )
    .names(Nameless)
    .any_layout(),
    attribute(
        "is_quantized(Tensor self) -> bool",
        |c| Ok(Value::Bool(c.tensor(0)?.borrow().quantizer().is_some())),
        "Whether integers stand for the numbers.",
    )
    .names(Nameless)
    .any_layout(),
    attribute("names(Tensor self) -> any", |c| Ok(dimnames::names_of(c.tensor(0)?)), "The names of the dimensions.")
        .names(Itself)
        .any_layout().not_differentiable(),
    setter(
        "names(Tensor self, any names) -> None",
        dimnames::set_names,
        "Renames the dimensions, or removes their names.",
    )
    .names(Itself)
    .any_layout(),
    attribute(
        "itemsize(ScalarType self) -> int",
        |c| Ok(Value::Int(dtype(c)?.itemsize() as i64)),
        "The number of bytes per element.",
    )
    .names(Nameless)
    .any_layout(),
    attribute(
        "is_floating_point(ScalarType self) -> bool",
        |c| Ok(Value::Bool(dtype(c)?.is_floating_point())),
        "Whether the dtype is a real floating-point one.",
    )
    .names(Nameless)
    .any_layout(),
    attribute(
        "is_complex(ScalarType self) -> bool",
        |c| Ok(Value::Bool(dtype(c)?.is_complex())),
        "Whether the dtype is complex.",
    )
    .names(Nameless)
    .any_layout(),
    attribute(
        "is_signed(ScalarType self) -> bool",
        |c| match dtype(c)? {
            dtype if dtype.is_quantized() => bail!(RuntimeError, "isSignedType not supported for quantized types"),
            dtype => Ok(Value::Bool(dtype.is_signed())),
        },
        "Whether the dtype has negative numbers.",
    )
    .names(Nameless)
    .sparse(AsIs)
    .quantized(Own(quantized::is_signed)),
    attribute("type(Device self) -> str", |c| Ok(Value::str(device(c)?.name())), "The kind of device."),
    attribute(
        "index(Device self) -> int",
        |c| Ok(device(c)?.index.map_or(Value::None, |i| Value::Int(i64::from(i)))),
        "The number of the device, if one was given.",
    ),
    attribute("real(Number self) -> float", |c| part(c, |z| z.re, |itself| itself), "The real part."),
    attribute("imag(Number self) -> float", |c| part(c, |z| z.im, |_| Value::Int(0)), "The imaginary part."),
];

/// Returns the real or imaginary part of a number. `whole` computes the part of an integer, `complex` that of any other
/// number.
fn part(call: &Call, complex: fn(Complex<f64>) -> f64, whole: fn(Value) -> Value) -> Result<Value> {
    match call.value(0) {
        Value::Bool(b) => Ok(whole(Value::Int(i64::from(b)))),
        integer @ (Value::Int(_) | Value::BigInt(_)) => Ok(whole(integer)),
        _ => Ok(Value::Float(complex(call.scalar(0)?.to_complex()))),
    }
}

fn dtype(call: &Call) -> Result<tensor::DType> {
    match call.value(0) {
        Value::DType(dtype) => Ok(dtype),
        _ => bail!(TypeError, "a dtype is needed"),
    }
}

fn device(call: &Call) -> Result<tensor::Device> {
    match call.value(0) {
        Value::Device(device) => Ok(device),
        _ => bail!(TypeError, "a device is needed"),
    }
}

fn grad(call: &mut Call) -> Result<Value> {
    let tensor = call.tensor(0)?;
    if !tensor.is_leaf() && !tensor.autograd(|m| m.retains_grad) {
        call.state.warn_once(
            "UserWarning",
            "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad attribute \
 won't be populated during autograd.backward(). If you indeed want the .grad field to be populated \
 for a non-leaf Tensor, use .retain_grad() on the non-leaf Tensor. If you access the non-leaf Tensor \
 by mistake, make sure you access the leaf Tensor instead. See github.com/pytorch/pytorch/pull/30531 \
 for more informations. (Triggered internally at /pytorch/build/aten/src/ATen/core/TensorBody.h:489.)",
        );
    }
    Ok(tensor.autograd(|m| m.grad.clone()).map_or(Value::None, Value::Tensor))
}

/// Fails with RuntimeError if `grad` cannot be the gradient of `tensor`.
fn check_grad(tensor: &Tensor, grad: &Tensor) -> Result<()> {
    if tensor.is(grad) {
        bail!(RuntimeError, "can't assign Variable as its own grad");
    }
    let (own, view) = (tensor.borrow(), grad.borrow());
    if view.dtype != own.dtype {
        bail!(
            RuntimeError,
            "attempting to assign a gradient with dtype '{}' to a tensor with dtype '{}'. Please ensure that the gradient \
             and the tensor have the same dtype",
            view.dtype.cpp_name(),
            own.dtype.cpp_name()
        );
    }
    if view.device() != own.device() {
        bail!(
            RuntimeError,
            "attempting to assign a gradient with device type '{}' to a tensor with device type '{}'. Please ensure that \
             the gradient and the tensor are on the same device",
            view.device().name(),
            own.device().name()
        );
    }
    if view.sizes() != own.sizes() {
        let show = tensor::layout::show;
        bail!(
            RuntimeError,
            "attempting to assign a gradient of size '{}' to a tensor of size '{}'. Please ensure that the gradient and \
             the tensor are the same size",
            show(view.sizes()),
            show(own.sizes())
        );
    }
    Ok(())
}

fn set_grad(call: &mut Call) -> Result<Value> {
    let tensor = call.tensor(0)?;
    let grad = match call.value(1) {
        Value::None => None,
        Value::Tensor(grad) => {
            check_grad(tensor, &grad)?;
            Some(grad)
        }
        other => {
            bail!(TypeError, "assigned grad expected to be a Tensor or None but got grad of type {}", other.type_name())
        }
    };
    tensor.autograd_mut(|meta| meta.grad = grad);
    Ok(Value::None)
}
