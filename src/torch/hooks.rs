//! Hooks on gradients. Follows <https://pytorch.org/docs/2.7/generated/torch.Tensor.register_hook.html>.

use autograd::{Node, NodeHook};
use call::facets::NameInference::Nameless;
use call::{Call, Row, State, function, method};
use objects::calling::{call_plain, name_of};
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use tensor::{Error, ErrorKind, Hook, Result, Tensor, WeakTensor, bail};
use value::{Object, Value};

pub(crate) const ROWS: &[Row] = &[
    method(
        "register_hook(Tensor self, any hook) -> any",
        |c| {
            let tensor = c.tensor(0)?;
            refuse_without_gradient(tensor)?;
            Ok(handle(tensor, autograd::add_hook(tensor, hook_of(c))?))
        },
        "Calls a function with each gradient computed for this tensor; its result replaces the gradient.",
    )
    .names(Nameless)
    .python("Tensor.register_hook")
    .not_differentiable(),
    method(
        "register_post_accumulate_grad_hook(Tensor self, any hook) -> any",
        |c| {
            let tensor = c.tensor(0)?;
            refuse_without_gradient(tensor)?;
            if !tensor.is_leaf() {
                bail!(RuntimeError, "post accumulate grad hooks cannot be registered on non-leaf tensors");
            }
            Ok(handle(tensor, autograd::add_after_hook(tensor, hook_of(c))))
        },
        "Calls a function with a leaf each time its gradient is complete.",
    )
    .names(Nameless)
    .python("Tensor.register_post_accumulate_grad_hook")
    .not_differentiable(),
    method(
        "remove(Object self) -> None",
        |c| match &c.value(0) {
            Value::Object(object) if let Some(handle) = object.as_any().downcast_ref::<Handle>() => {
                for (of, id) in &handle.hooks {
                    match of {
                        Hooked::Tensor(tensor) => autograd::remove_hook(tensor, *id),
                        Hooked::Node(node) => node.remove_hook(*id),
                    }
                }
                Ok(Value::None)
            }
            other => bail!(AttributeError, "'{}' object has no attribute 'remove'", other.type_name()),
        },
        "Removes a hook.",
    ),
    method(
        "register_hook(Object self, any fn) -> any",
        |c| node_hook(c, AFTER),
        "Calls a function with an operation's computed and incoming gradients, each time it has run.",
    )
    .python("Node.register_hook"),
    method(
        "register_prehook(Object self, any fn) -> any",
        |c| node_hook(c, BEFORE),
        "Calls a function with an operation's incoming gradients, each time before it runs.",
    )
    .python("Node.register_prehook"),
    function(
        "autograd.graph.register_multi_grad_hook(any tensors, any fn, *, str mode=\"all\") -> any",
        multi_hook,
        "Calls a function once per pass, with the gradients of several tensors or with the first of them.",
    )
    .python("register_multi_grad_hook"),
];

fn refuse_without_gradient(tensor: &Tensor) -> Result<()> {
    if !tensor.requires_grad() {
        bail!(RuntimeError, "cannot register a hook on a tensor that doesn't require gradient");
    }
    Ok(())
}

/// Returns the hook passed to a call. Whether it is callable is checked when it is called.
fn hook_of(call: &Call) -> Rc<dyn Hook> {
    Rc::new(CalledHook { state: call.state.handle(), function: call.value(1) })
}

/// A hook on several tensors, with the gradients that have arrived for each in the passes now running.
struct Several {
    state: Rc<State>,
    function: Value,
    tensors: Vec<WeakTensor>,
    /// Whether the hook is called for the first gradient instead of for all together.
    any: bool,
    arrived: RefCell<HashMap<u64, Vec<Option<Tensor>>>>,
}

/// The part of such a hook that is registered on one tensor.
struct OneOf {
    all: Rc<Several>,
    index: usize,
}

impl Hook for OneOf {
    fn call(&self, gradient: Option<&Tensor>) -> Result<Option<Tensor>> {
        let all = &self.all;
        let Some((pass, gradient)) = autograd::current().zip(gradient) else { return Ok(None) };
        let (first, gradients) = {
            let mut arrived = all.arrived.borrow_mut();
            // An entry of an older pass was left by a pass that failed.
            arrived.retain(|id, _| *id >= pass.id);
            let gradients = arrived.entry(pass.id).or_insert_with(|| vec![None; all.tensors.len()]);
            let first = gradients.iter().all(Option::is_none);
            if let Some(slot) = gradients.get_mut(self.index) {
                *slot = Some(gradient.clone());
            }
            (first, gradients.clone())
        };
        if all.any {
            if first {
                call_plain(&all.state, &all.function, vec![Value::Tensor(gradient.clone())])?;
            }
            return Ok(None);
        }
        let mut expected = 0;
        for tensor in all.tensors.iter().filter_map(WeakTensor::upgrade) {
            expected += usize::from(pass.reaches(&tensor)?);
        }
        if gradients.iter().flatten().count() == expected {
            let gradients = gradients.into_iter().map(|gradient| gradient.map_or(Value::None, Value::Tensor));
            call_plain(&all.state, &all.function, vec![Value::list(gradients)])?;
        }
        Ok(None)
    }
}

fn multi_hook(call: &mut Call) -> Result<Value> {
    let mode = call.str(2)?;
    if !matches!(mode, "all" | "any") {
        bail!(ValueError, "Expects mode to be one of ('all', 'any') but got {mode}");
    }
    let any = mode == "any";
    let given = call.value(0).sequence().unwrap_or_default();
    let mut tensors = given.iter().map(|value| call::one(value.clone())).collect::<Result<Vec<Tensor>>>()?;
    if any {
        tensors.retain(Tensor::requires_grad);
    }
    if tensors.iter().any(|tensor| !tensor.requires_grad()) {
        return Err(Error::new(ErrorKind::AssertionError, ""));
    }
    let all = Rc::new(Several {
        state: call.state.handle(),
        function: call.value(1),
        tensors: tensors.iter().map(Tensor::downgrade).collect(),
        any,
        arrived: RefCell::default(),
    });
    let hook = |(index, tensor): (usize, Tensor)| -> Result<(Hooked, u64)> {
        let id = autograd::add_hook(&tensor, Rc::new(OneOf { all: all.clone(), index }))?;
        Ok((Hooked::Tensor(tensor), id))
    };
    let hooks = tensors.into_iter().enumerate().map(hook).collect::<Result<_>>()?;
    Ok(Value::Object(Rc::new(Handle { class: "torch.autograd.graph._MultiHandle", hooks })))
}

/// Registers a hook on a node. A tuple it returns replaces the first group of gradients it was given.
/// When a hook of a node runs, for [`node_hook`].
const BEFORE: bool = true;
const AFTER: bool = false;

fn node_hook(call: &mut Call, before: bool) -> Result<Value> {
    let Some(node) = super::graph::node_of(&call.value(0)) else {
        let name = if before { "register_prehook" } else { "register_hook" };
        bail!(AttributeError, "'{}' object has no attribute '{name}'", call.value(0).type_name())
    };
    let (state, function) = (call.state.handle(), call.value(1));
    let hook: NodeHook = Rc::new(move |groups| {
        let tuple = |group: &&[Option<Tensor>]| {
            Value::tuple(group.iter().map(|gradient| gradient.clone().map_or(Value::None, Value::Tensor)))
        };
        let instead = match call_plain(&state, &function, groups.iter().map(tuple).collect())? {
            Value::None => return Ok(None),
            Value::Tuple(instead) => instead,
            other => bail!(TypeError, "expected tuple, but hook returned '{}'", other.type_name()),
        };
        let (name, first) = (function_name(&function), groups.first().copied().unwrap_or_default());
        if instead.len() != first.len() {
            bail!(
                RuntimeError,
                "hook '{name}' has returned an incorrect number of values (got {}, but expected {})",
                instead.len(),
                first.len()
            );
        }
        let pairs = first.iter().zip(instead.iter());
        pairs.map(|(before, after)| replacement(&name, before.as_ref(), after)).collect::<Result<_>>().map(Some)
    });
    let id = node.add_hook(before, hook);
    Ok(Value::Object(Rc::new(Handle { class: HANDLE, hooks: vec![(Hooked::Node(node), id)] })))
}

/// Returns the tensor with which a hook replaces a gradient.
fn replacement(name: &str, before: Option<&Tensor>, after: &Value) -> Result<Option<Tensor>> {
    match (before, after) {
        (None, Value::None) => Ok(None),
        (None, _) => bail!(RuntimeError, "can't replace a None gradient with a non-None value"),
        (Some(before), Value::Tensor(after)) => {
            check_replacement(name, before, after)?;
            Ok(Some(after.clone()))
        }
        (Some(_), other) => bail!(TypeError, "expected Variable, but hook returned '{}'", other.type_name()),
    }
}

/// A handle that removes a hook.
struct Handle {
    class: &'static str,
    hooks: Vec<(Hooked, u64)>,
}

const HANDLE: &str = "torch.utils.hooks.RemovableHandle";

/// The object that a hook is registered on.
enum Hooked {
    Tensor(Tensor),
    Node(Rc<Node>),
}

fn handle(tensor: &Tensor, id: u64) -> Value {
    Value::Object(Rc::new(Handle { class: HANDLE, hooks: vec![(Hooked::Tensor(tensor.clone()), id)] }))
}

impl Object for Handle {
    fn class_name(&self) -> &'static str {
        self.class
    }
}

/// A hook on a gradient that calls a function of the script.
struct CalledHook {
    state: Rc<State>,
    function: Value,
}

impl Hook for CalledHook {
    fn call(&self, gradient: Option<&Tensor>) -> Result<Option<Tensor>> {
        let given = gradient.cloned().map_or(Value::None, Value::Tensor);
        let replaced = match call_plain(&self.state, &self.function, vec![given])? {
            Value::None => return Ok(None),
            Value::Tensor(replaced) => replaced,
            other => {
                let message = format!("expected Variable, but hook returned '{}'", other.type_name());
                return Err(Error::type_error(message));
            }
        };
        let Some(gradient) = gradient else {
            bail!(RuntimeError, "can't replace a None gradient with a non-None value")
        };
        check_replacement(&function_name(&self.function), gradient, &replaced)?;
        Ok(Some(replaced))
    }
}

/// Returns a function's name for messages about hooks.
fn function_name(function: &Value) -> Rc<str> {
    name_of(function).unwrap_or_else(|| "".into())
}

/// Checks that a hook may replace one gradient by another.
///
/// # Errors
/// RuntimeError if the dtype or the size differs.
fn check_replacement(name: &str, before: &Tensor, after: &Tensor) -> Result<()> {
    let (before, after) = (before.borrow(), after.borrow());
    if before.dtype != after.dtype {
        let (was, got) = (before.dtype.legacy_class(), after.dtype.legacy_class());
        return Err(Error::runtime(format!("hook '{name}' has changed the type of value (was {was} got {got})")));
    }
    if before.sizes() != after.sizes() {
        return Err(Error::runtime(format!("hook '{name}' has changed the size of value")));
    }
    Ok(())
}
