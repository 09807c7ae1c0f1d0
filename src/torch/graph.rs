//! The gradient graph as sessions see it: the value of `grad_fn`, and its attributes. Follows
//! <https://pytorch.org/docs/2.7/autograd.html#autograd-graph>.

use crate::objects::calling::{NativeFunction, call_value};
use autograd::{FREED, Node, custom};
use call::state::State;
use call::{Call, Row, function, method};
use std::any::Any;
use std::rc::Rc;
use tensor::{GradFn, Result, Tensor, bail};
use value::{Dict, Object, Value, intern};

pub(crate) const ROWS: &[Row] = &[
    function(
        "autograd.function.once_differentiable(any fn) -> any",
        once_differentiable,
        "Makes a backward whose results cannot be differentiated once more.",
    )
    .python("once_differentiable"),
    method(
        "name(Object self) -> str",
        |c| match c.value(0) {
            Value::Object(object) => {
                let node = object.as_any().downcast_ref::<NodeObject>();
                Ok(Value::str(node.map_or_else(|| object.type_name().to_owned(), |object| object.node.full_name())))
            }
            other => bail!(AttributeError, "'{}' object has no attribute 'name'", other.type_name()),
        },
        "Returns the name of an operation of the gradient graph.",
    ),
];

/// A node of the gradient graph.
struct NodeObject {
    node: Rc<Node>,
    class: &'static str,
}

impl Object for NodeObject {
    fn class_name(&self) -> &'static str {
        self.class
    }
    fn repr(&self) -> String {
        format!("<{} object at {:#x}>", self.class, Rc::as_ptr(&self.node) as usize)
    }
    fn identity(&self) -> Option<usize> {
        Some(Rc::as_ptr(&self.node) as usize)
    }
}

/// Wraps a node as the value of `grad_fn`.
pub(crate) fn node(node: Rc<Node>) -> Value {
    let name = node.name();
    let class = match node.custom() {
        Some(_) => intern(&format!("torch.autograd.function.{name}")),
        None => intern(&name),
    };
    Value::Object(Rc::new(NodeObject { node, class }))
}

/// Returns the node in a value, or `None` if the value is not a node.
pub(crate) fn node_of(value: &Value) -> Option<Rc<Node>> {
    match value {
        Value::Object(object) => object.as_any().downcast_ref::<NodeObject>().map(|object| object.node.clone()),
        _ => None,
    }
}

/// Returns an attribute of a node, or `None` if the object is not a node or does not have the attribute.
///
/// # Errors
/// RuntimeError for a saved value that was freed or changed in place.
pub fn attribute(state: &State, object: &dyn Any, name: &str) -> Result<Option<Value>> {
    let Some(NodeObject { node: this, .. }) = object.downcast_ref::<NodeObject>() else { return Ok(None) };
    if let Some(found) = this.custom().and_then(|custom| custom.attribute(name)) {
        return found.map(Some);
    }
    if let Some(saved) = name.strip_prefix("_saved_") {
        if this.is_freed() {
            bail!(RuntimeError, "{FREED}");
        }
        let function = this.key().and_then(|key| state.registry.overload(key));
        let place = function.and_then(|f| f.signature.params.iter().position(|param| param.name == saved));
        return match place {
            Some(index) => this.saved_argument(index),
            None if saved == "result" => this.saved_result(),
            None => Ok(None),
        };
    }
    Ok(match name {
        "next_functions" => Some(Value::tuple(
            this.next_functions()
                .into_iter()
                .map(|(next, output)| Value::tuple([next.map_or(Value::None, node), Value::Int(output as i64)])),
        )),
        "metadata" => Some(Value::Dict(Dict::default())),
        "variable" => this.variable().map(Value::Tensor),
        _ => None,
    })
}

/// `once_differentiable(backward)`: wraps a function so that differentiating its results fails with RuntimeError.
fn once_differentiable(call: &mut Call) -> Result<Value> {
    let (state, inner, function) = (call.state.handle(), call.value(0), call.value(0));
    Ok(NativeFunction::around(&function, move |args, keywords| {
        let tensors =
            args.iter().filter_map(|arg| if let Value::Tensor(tensor) = arg { Some(tensor.clone()) } else { None });
        let inputs: Vec<Tensor> = tensors.filter(Tensor::requires_grad).collect();
        let recording = state.grad_enabled.replace(false);
        let output = call_value(&state, &inner, args, keywords);
        state.grad_enabled.set(recording);
        let output = output?;
        if !recording || inputs.is_empty() {
            return Ok(output);
        }
        let refused = |value: Value| -> Result<Value> {
            Ok(match value {
                Value::Tensor(tensor) if tensor.borrow().dtype.is_differentiable() => {
                    let message = "trying to differentiate twice a function that was marked with @once_differentiable";
                    Value::Tensor(custom::refuse(&tensor, &inputs, "DelayedError", message)?)
                }
                other => other,
            })
        };
        match output {
            Value::Tuple(parts) => {
                Ok(Value::tuple(parts.iter().cloned().map(refused).collect::<Result<Vec<Value>>>()?))
            }
            single => refused(single),
        }
    }))
}
