//! Hooks on gradients. Follows <https://pytorch.org/docs/2.7/generated/torch.Tensor.register_hook.html>.

use super::{Call, Row, method};
use crate::autograd::{Node, NodeHook};
use crate::script::callback::{ScriptHook, check_replacement, function_name, is_function};
use crate::tensor::{Hook, Result, Tensor};
use crate::value::{Object, Value};
use crate::{autograd, bail};
use std::any::Any;
use std::rc::Rc;

pub const ROWS: &[Row] = &[
    method(
        "register_hook(Tensor self, any hook) -> any",
        |c| {
            refuse_without_gradient(c.tensor(0)?)?;
            let hook = hook_of(c)?;
            let tensor = c.tensor(0)?;
            Ok(handle(tensor, autograd::add_hook(tensor, hook)))
        },
        "Calls a function with the gradient of this tensor each time it is computed; what it returns takes its place.",
    )
    .python("Tensor.register_hook"),
    method(
        "register_post_accumulate_grad_hook(Tensor self, any hook) -> any",
        |c| {
            let tensor = c.tensor(0)?;
            refuse_without_gradient(tensor)?;
            if !tensor.is_leaf() {
                bail!(RuntimeError, "post accumulate grad hooks cannot be registered on non-leaf tensors");
            }
            let hook = hook_of(c)?;
            let tensor = c.tensor(0)?;
            Ok(handle(tensor, autograd::add_after_hook(tensor, hook)))
        },
        "Calls a function with a leaf each time its gradient is complete.",
    )
    .python("Tensor.register_post_accumulate_grad_hook"),
    method(
        "remove(Object self) -> None",
        |c| match &c.value(0) {
            Value::Object(object) if let Some(handle) = object.as_any().downcast_ref::<Handle>() => {
                match &handle.of {
                    Hooked::Tensor(tensor) => autograd::remove_hook(tensor, handle.id),
                    Hooked::Node(node) => node.remove_hook(handle.id),
                }
                Ok(Value::None)
            }
            other => bail!(AttributeError, "'{}' object has no attribute 'remove'", other.type_name()),
        },
        "Takes a hook away.",
    ),
    method(
        "register_hook(Object self, any fn) -> any",
        |c| node_hook(c, false),
        "Calls a function with the gradients that an operation computed and was given, each time it has.",
    )
    .python("Node.register_hook"),
    method(
        "register_prehook(Object self, any fn) -> any",
        |c| node_hook(c, true),
        "Calls a function with the gradients that an operation is given, each time before it computes.",
    )
    .python("Node.register_prehook"),
];

fn refuse_without_gradient(tensor: &Tensor) -> Result<()> {
    if !tensor.requires_grad() {
        bail!(RuntimeError, "cannot register a hook on a tensor that doesn't require gradient");
    }
    Ok(())
}

fn hook_of(call: &Call) -> Result<Rc<dyn Hook>> {
    let function = call.value(1);
    if !is_function(&function) {
        bail!(TypeError, "'{}' object is not callable", function.type_name());
    }
    Ok(Rc::new(ScriptHook { home: call.state.home.borrow().clone(), function }))
}

/// A hook on an operation. What it returns takes the place of the first gradients it is given.
fn node_hook(call: &mut Call, before: bool) -> Result<Value> {
    let Some(node) = super::graph::node_of(&call.value(0)) else {
        let name = if before { "register_prehook" } else { "register_hook" };
        bail!(AttributeError, "'{}' object has no attribute '{name}'", call.value(0).type_name())
    };
    let (home, function) = (call.state.home.borrow().clone(), call.value(1));
    let hook: NodeHook = Rc::new(move |groups| {
        let tuple = |group: &&[Option<Tensor>]| {
            Value::tuple(group.iter().map(|gradient| gradient.clone().map_or(Value::None, Value::Tensor)))
        };
        let instead = match home.call(&function, groups.iter().map(tuple).collect())? {
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
        pairs.map(|(before, after)| replacement(name, before.as_ref(), after)).collect::<Result<_>>().map(Some)
    });
    let id = node.add_hook(before, hook);
    Ok(Value::Object(Rc::new(Handle { of: Hooked::Node(node), id })))
}

/// What a hook put in the place of a gradient.
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

/// What takes a hook away again.
struct Handle {
    of: Hooked,
    id: u64,
}

/// What a hook is on.
enum Hooked {
    Tensor(Tensor),
    Node(Rc<Node>),
}

fn handle(tensor: &Tensor, id: u64) -> Value {
    Value::Object(Rc::new(Handle { of: Hooked::Tensor(tensor.clone()), id }))
}

impl Object for Handle {
    fn type_name(&self) -> &str {
        "RemovableHandle"
    }
    fn repr(&self) -> String {
        format!("<torch.utils.hooks.RemovableHandle object at {:#x}>", std::ptr::from_ref(self) as usize)
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}
