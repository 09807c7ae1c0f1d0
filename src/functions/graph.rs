//! The gradient graph as a session sees it: the value of `grad_fn`, and its parts.
//! Follows <https://pytorch.org/docs/2.7/autograd.html#autograd-graph>.

use crate::autograd::{FREED, Node};
use crate::bail;
use crate::call::state::State;
use crate::call::{Row, method};
use crate::tensor::{GradFn, Result};
use crate::value::{Dict, Object, Value, intern};
use std::any::Any;
use std::rc::Rc;

pub const ROWS: &[Row] = &[method(
    "name(Object self) -> str",
    |c| match c.value(0) {
        Value::Object(object) => {
            let name = object.type_name();
            // Nodes that PyTorch wrote by hand carry their namespace.
            let own = matches!(name, "AccumulateGrad" | "CopySlices" | "CopyBackwards" | "NotImplemented");
            Ok(Value::str(format!("{}{name}", if own { "torch::autograd::" } else { "" })))
        }
        other => bail!(AttributeError, "'{}' object has no attribute 'name'", other.type_name()),
    },
    "Returns the name of an operation of the gradient graph.",
)];

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
    fn as_any(&self) -> &dyn Any {
        self
    }
    fn identity(&self) -> Option<usize> {
        Some(Rc::as_ptr(&self.node) as usize)
    }
}

/// The value of `grad_fn`.
pub fn node(node: Rc<Node>) -> Value {
    let name = node.name();
    let class = match node.custom() {
        Some(_) => intern(&format!("torch.autograd.function.{name}")),
        None => intern(&name),
    };
    Value::Object(Rc::new(NodeObject { node, class }))
}

/// The node behind a value, if it is one.
pub fn node_of(value: &Value) -> Option<Rc<Node>> {
    match value {
        Value::Object(object) => object.as_any().downcast_ref::<NodeObject>().map(|object| object.node.clone()),
        _ => None,
    }
}

/// An attribute of a node; `None` for objects of other classes and attributes it does not have.
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
