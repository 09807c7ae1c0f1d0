//! Gradients: methods of tensors and the functions of `torch.autograd`.
//! Follows <https://pytorch.org/docs/2.7/autograd.html>.

use super::python::in_python;
use autograd::Pass;
use call::facets::NameInference::{Keeps, Nameless};
use call::{Call, Row, State, function, method};
use objects::iterate::iterate;
use tensor::bail;
use tensor::ops::create;
use tensor::{Device, Error, ErrorKind, Result, Scalar, Tensor};
use value::Value;

pub(crate) const ROWS: &[Row] = &[
    method(
        "requires_grad_(Tensor self, bool requires_grad=True) -> Tensor",
        |c| {
            let on = c.bool(1)?;
            set_requires_grad(c.state, c.tensor(0)?, on, false)?;
            Ok(c.itself())
        },
        "Turns the recording of gradients on or off, in place.",
    )
    .names(Keeps)
    .any_layout().not_differentiable(),
    method(
        "backward(Tensor self, any gradient=None, any retain_graph=None, any create_graph=False, any \
 inputs=None) -> None",
        |c| {
            let roots = Value::tuple([c.itself()]);
            backward(c, &roots, &c.value(1), &c.value(4), &c.value(2), &c.value(3))
        },
        "Computes the gradients of the leaves this tensor came from.",
    )
    .names(Nameless)
    .any_layout()
    .python("Tensor.backward"),
    function(
        "autograd.backward(any tensors, any grad_tensors=None, any retain_graph=None, any create_graph=False, \
 any grad_variables=None, any inputs=None) -> None",
        |c| {
            let gradients = match (c.value(1), c.value(4)) {
                (given, Value::None) => given,
                (Value::None, deprecated) => deprecated,
                _ => bail!(
                    RuntimeError,
                    "`grad_tensors` and `grad_variables` (deprecated) arguments both passed to `backward()`. Please only \
                     use `grad_tensors`."
                ),
            };
            backward(c, &c.value(0), &gradients, &c.value(5), &c.value(2), &c.value(3))
        },
        "Computes the gradients of the leaves that tensors came from.",
    )
    .names(Nameless)
    .any_layout()
    .python("backward"),
    function(
        "autograd.grad(any outputs, any inputs, any grad_outputs=None, any retain_graph=None, any \
 create_graph=False, any only_inputs=True, any allow_unused=None, any is_grads_batched=False, any \
 materialize_grads=False) -> any",
        grad,
        "Computes the gradients of outputs by inputs, whose own gradients stay as they are.",
    )
    .names(Nameless)
    .any_layout()
    .python("grad"),
    function(
        "nn.Parameter(Tensor? data=None, bool requires_grad=True) -> Tensor",
        parameter,
        "Creates a tensor for a module to learn.",
    )
    .names(Keeps)
    .python("Parameter.__new__").not_differentiable(),
    function(
        "utils.checkpoint.checkpoint(any function, any[] args, *, any use_reentrant=None, any context_fn=None, \
         any determinism_check=\"default\", any debug=False, any{} keywords) -> any",
        |c| in_python(c, "checkpoint.checkpoint"),
        "Computes a function twice instead of keeping what its gradient needs.",
    )
    .python("checkpoint")
    .recorded_in_steps(),
    function(
        "utils.checkpoint.checkpoint_sequential(any functions, any segments, any input, any use_reentrant=None, \
         any preserve_rng_state=True) -> any",
        |c| in_python(c, "checkpoint.sequential"),
        "Calls functions one after another, in segments that are checkpointed.",
    )
    .python("checkpoint_sequential")
    .recorded_in_steps(),
    function(
        "_VF.is_checkpoint_valid() -> bool",
        |_| Ok(Value::Bool(!autograd::is_limited())),
        "Returns whether the running pass computes all gradients.",
    ),
    function(
        "_VF.warn(str message) -> None",
        |c| {
            c.state.warn_once("UserWarning", c.str(0)?.to_owned());
            Ok(Value::None)
        },
        "Warns about the use of a function.",
    ),
    function(
        "autograd.Variable(any data=None, any requires_grad=False, any volatile=False) -> Tensor",
        variable,
        "Returns a tensor without a history that shares the data's memory: the old way to ask for a gradient.",
    )
    .names(Keeps)
    .any_layout(),
    method("retain_grad(Tensor self) -> None", retain_grad, "Keeps the gradient of a tensor that is not a leaf.")
        .names(Nameless)
        .any_layout(),
    method(
        "detach_(Tensor self) -> Tensor",
        |c| {
            let tensor = c.tensor(0)?;
            if tensor.base().is_some() && !c.state.inference.get() {
                bail!(
                    RuntimeError,
                    "Can't detach views in-place. Use detach() instead. If you are using DistributedDataParallel (DDP) \
                     for training, and gradient_as_bucket_view is set as True, gradients are views of DDP buckets, and \
                     hence detach_() cannot be called on these gradients. To fix this error, please refer to the \
                     Optimizer.zero_grad() function in torch/optim/optimizer.py as the solution."
                );
            }
            if tensor.has_autograd() && !c.state.inference.get() {
                tensor.autograd_mut(|meta| {
                    meta.grad_fn = None;
                    meta.requires_grad = false;
                });
            }
            Ok(c.itself())
        },
        "Cuts the tensor off from the gradient graph.",
    )
    .names(Keeps)
    .any_layout().not_differentiable(),
];

/// `torch.autograd.Variable`: a new tensor that shares the data's memory. Without data, the tensor is empty.
fn variable(call: &mut Call) -> Result<Value> {
    let flag = |index: usize| match call.value(index) {
        Value::Bool(on) => Ok(on),
        Value::Int(number) => Ok(number != 0),
        other => bail!(TypeError, "'{}' object cannot be interpreted as an integer", other.type_name()),
    };
    let (requires_grad, is_volatile) = (flag(1)?, flag(2)?);
    if requires_grad && is_volatile {
        bail!(ValueError, "Variable can't be volatile and require_grad at the same time!");
    }
    let tensor = match call.value(0) {
        Value::None => Tensor::new(create::zeros(&[0], call.state.default_dtype.get(), Device::CPU)?),
        Value::Tensor(tensor) => Tensor::new(tensor.view()),
        other => bail!(TypeError, "Variable data has to be a tensor, but got {}", other.type_name()),
    };
    if requires_grad && !tensor.borrow().dtype.is_differentiable() {
        bail!(RuntimeError, "Only Tensors of floating point and complex dtype can require gradients");
    }
    set_requires_grad(call.state, &tensor, requires_grad, false)?;
    Ok(tensor.into())
}

/// `torch.nn.Parameter`: a new tensor that shares the data's memory. Without data, the tensor is empty.
fn parameter(call: &mut Call) -> Result<Value> {
    let tensor = match call.is_none(0) {
        true => {
            let dtype = call.state.default_dtype.get();
            Tensor::new(create::zeros(&[0], dtype, call.device_keyword()?)?)
        }
        false => call.tensor(0)?.detach(),
    };
    if call.bool(1)? && !tensor.borrow().dtype.is_differentiable() {
        bail!(RuntimeError, "Only Tensors of floating point and complex dtype can require gradients");
    }
    set_requires_grad(call.state, &tensor, call.bool(1)?, false)?;
    tensor.autograd_mut(|meta| meta.parameter = true);
    Ok(tensor.into())
}

/// Sets `requires_grad`. `attribute` says whether the call was an assignment to the attribute instead of
/// `requires_grad_()`.
pub(crate) fn set_requires_grad(state: &State, tensor: &Tensor, on: bool, attribute: bool) -> Result<()> {
    let leaf = tensor.is_leaf();
    if !leaf && !on {
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
    if on && tensor.is_inference() && !state.inference.get() {
        bail!(RuntimeError, "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed.");
    }
    if leaf && (on || tensor.has_autograd()) {
        tensor.autograd_mut(|meta| meta.requires_grad = on);
    }
    Ok(())
}

fn retain_grad(call: &mut Call) -> Result<Value> {
    let tensor = call.tensor(0)?;
    if !tensor.requires_grad() {
        bail!(RuntimeError, "can't retain_grad on Tensor that has requires_grad=False");
    }
    autograd::retain_grad(tensor)?;
    Ok(Value::None)
}

/// Returns the items of an iterable. A single tensor counts as a list of one.
fn listed(state: &State, value: &Value) -> Result<Vec<Value>> {
    match value {
        Value::Tensor(_) => Ok(vec![value.clone()]),
        other => iterate(state, other)?.collect(),
    }
}

/// Returns the tensors at which a backward pass starts. Fails with AssertionError for any other value, like PyTorch.
fn roots(state: &State, value: &Value) -> Result<Vec<Tensor>> {
    let root = |item| match item {
        Value::Tensor(tensor) => Ok(tensor),
        _ => Err(Error::new(ErrorKind::AssertionError, "")),
    };
    listed(state, value)?.into_iter().map(root).collect()
}

/// Returns the tensors whose gradients are wanted, at which a backward pass ends.
fn leaves(state: &State, value: &Value) -> Result<Vec<Tensor>> {
    let leaf = |item| match item {
        Value::Tensor(tensor) => Ok(tensor),
        other => bail!(RuntimeError, "all inputs have to be Tensors or GradientEdges, but got {}", other.type_name()),
    };
    listed(state, value)?.into_iter().map(leaf).collect()
}

/// Returns the gradients given for `roots` roots, or one None per root if `value` is None.
fn gradients(state: &State, value: &Value, roots: usize) -> Result<Vec<Value>> {
    if let Value::None = value { Ok(vec![Value::None; roots]) } else { listed(state, value) }
}

fn truth(value: &Value) -> bool {
    matches!(value, Value::Bool(true)) || matches!(value, Value::Int(i) if *i != 0)
}

fn pass<'c>(call: &'c Call, retain_graph: &Value, create_graph: &Value) -> Pass<'c> {
    let create_graph = truth(create_graph);
    let retain_graph = if matches!(retain_graph, Value::None) { create_graph } else { truth(retain_graph) };
    Pass { functions: call.state, retain_graph, create_graph }
}

fn backward(
    call: &Call,
    from: &Value,
    given: &Value,
    inputs: &Value,
    retain_graph: &Value,
    create_graph: &Value,
) -> Result<Value> {
    let inputs = match inputs {
        Value::None => None,
        given => {
            let inputs = leaves(call.state, given)?;
            if inputs.is_empty() {
                bail!(RuntimeError, "`inputs` argument to `backward()` cannot be empty.");
            }
            if inputs.iter().any(|input| !input.requires_grad()) {
                bail!(RuntimeError, "can't retain_grad on Tensor that has requires_grad=False");
            }
            Some(inputs)
        }
    };
    let roots = roots(call.state, from)?;
    let given = gradients(call.state, given, roots.len())?;
    let roots = seeded(roots, given)?;
    if truth(create_graph) {
        call.state.warn_once(
            "UserWarning",
            "Using backward() with create_graph=True will create a reference cycle between the parameter and its \
 gradient which can cause a memory leak. We recommend using autograd.grad when creating the graph \
 to avoid this. If you have to use this function, make sure to reset the .grad fields of your \
 parameters to None after use to break the cycle and avoid the leak. (Triggered internally at \
 /pytorch/torch/csrc/autograd/engine.cpp:1271.)",
        );
    }
    autograd::backward(pass(call, retain_graph, create_graph), &roots, inputs.as_deref())?;
    Ok(Value::None)
}

fn grad(call: &mut Call) -> Result<Value> {
    let (outputs, inputs) = (roots(call.state, &call.value(0))?, leaves(call.state, &call.value(1))?);
    let materialize = truth(&call.value(8));
    let allow_unused = match call.value(6) {
        Value::None => materialize,
        Value::Bool(false) if materialize => bail!(
            ValueError,
            "Expected allow_unused to be True or not passed when materialize_grads=True, but got: \
             allow_unused=False."
        ),
        given => truth(&given),
    };
    let given = gradients(call.state, &call.value(2), outputs.len())?;
    if truth(&call.value(7)) {
        bail!(NotImplementedError, "is_grads_batched=True needs vmap, which is not supported");
    }
    let roots = seeded(outputs, given)?;
    if inputs.is_empty() {
        bail!(ValueError, "grad requires non-empty inputs.");
    }
    let found = autograd::gradients(pass(call, &call.value(3), &call.value(4)), &roots, &inputs)?;
    let mut out = Vec::with_capacity(found.len());
    for (gradient, input) in found.into_iter().zip(&inputs) {
        out.push(match gradient {
            Some(gradient) => Value::Tensor(gradient),
            None if materialize => {
                let zeros = Tensor::new(create::zeros_like(&input.borrow(), None, None)?);
                zeros.autograd_mut(|meta| meta.requires_grad = true);
                Value::Tensor(zeros)
            }
            None if allow_unused => Value::None,
            None => bail!(
                RuntimeError,
                "One of the differentiated Tensors appears to not have been used in the graph. Set allow_unused=True if \
                 this is the desired behavior."
            ),
        });
    }
    Ok(Value::tuple(out))
}

/// Pairs each root with its initial gradient, which defaults to 1 for a scalar. Surplus gradients are ignored.
pub(crate) fn seeded(roots: Vec<Tensor>, gradients: Vec<Value>) -> Result<Vec<(Tensor, Tensor)>> {
    let (all, given) = (roots.len(), gradients.len());
    let mut seeded = Vec::with_capacity(roots.len());
    for (i, (root, gradient)) in roots.into_iter().zip(gradients).enumerate() {
        let seed = match gradient {
            Value::Tensor(gradient) => {
                check_seed(i, &root, &gradient)?;
                gradient
            }
            Value::None if root.requires_grad() => implicit(&root)?,
            // This root does not require a gradient: the backward pass itself fails with PyTorch's error.
            Value::None => root.clone(),
            other => bail!(TypeError, "gradients can be either Tensors or None, but got {}", other.type_name()),
        };
        seeded.push((root, seed));
    }
    if given < all {
        bail!(RuntimeError, "got {all} tensors and {given} gradients");
    }
    Ok(seeded)
}

fn implicit(root: &Tensor) -> Result<Tensor> {
    let view = root.borrow();
    if view.numel() != 1 {
        bail!(RuntimeError, "grad can be implicitly created only for scalar outputs");
    }
    if view.dtype.is_complex() {
        bail!(
            RuntimeError,
            "grad can be implicitly created only for real scalar outputs but got torch.{}",
            view.dtype.name()
        );
    }
    create::full(view.sizes(), Scalar::Int(1), Some(view.dtype), view.dtype, view.device()).map(Tensor::new)
}

fn check_seed(index: usize, root: &Tensor, gradient: &Tensor) -> Result<()> {
    let (root, gradient) = (root.borrow(), gradient.borrow());
    if root.sizes() != gradient.sizes() {
        bail!(
            RuntimeError,
            "Mismatch in shape: grad_output[{index}] has a shape of torch.Size({:?}) and output[{index}] has a shape of \
             torch.Size({:?}).",
            gradient.sizes(),
            root.sizes()
        );
    }
    if root.dtype.is_complex() != gradient.dtype.is_complex() {
        bail!(
            RuntimeError,
            "For complex Tensors, both grad_output and output are required to have the same dtype. Mismatch in dtype: \
             grad_output[{index}] has a dtype of torch.{} and output[{index}] has a dtype of torch.{}.",
            gradient.dtype.name(),
            root.dtype.name()
        );
    }
    Ok(())
}
