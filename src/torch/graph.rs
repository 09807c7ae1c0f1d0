//! The gradient graph as sessions see it: the value of `grad_fn`, and its attributes. Follows
//! <https://pytorch.org/docs/2.7/autograd.html#autograd-graph>.

use autograd::{FREED, Node, Pass, custom};
use call::state::State;
use call::{Call, Row, function, method};
use objects::calling::{NativeFunction, call_value};
use std::rc::Rc;
use tensor::{Error, GradFn, Result, Tensor, bail};
use value::{Dict, Keywords, Object, Value, as_tensor, intern};

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
    state: Rc<State>,
}

impl Object for NodeObject {
    fn class_name(&self) -> &'static str {
        self.class
    }
    fn repr(&self) -> String {
        format!("<{} object at {:#x}>", self.class, Rc::as_ptr(&self.node) as usize)
    }
    /// # Errors
    /// RuntimeError for a saved value that was freed or changed in place.
    fn own_attribute(&self, name: &str) -> Option<Result<Value>> {
        let node = &self.node;
        if let Some(found) = node.custom().and_then(|custom| custom.attribute(name)) {
            return Some(found);
        }
        if let Some(saved) = name.strip_prefix("_saved_") {
            if node.is_freed() {
                return Some(Err(Error::runtime(FREED)));
            }
            let function = node.key().and_then(|key| self.state.registry.overload(key));
            let place = function.and_then(|f| f.signature.params.iter().position(|param| param.name == saved));
            return match place {
                Some(index) => node.saved_argument(index),
                None if saved == "result" => node.saved_result(),
                None => Ok(None),
            }
            .transpose();
        }
        match name {
            "next_functions" => Some(Ok(Value::tuple(node.next_functions().into_iter().map(|(next, output)| {
                let next = next.map_or(Value::None, |next| node_value(&self.state, next));
                Value::tuple([next, Value::Int(output as i64)])
            })))),
            "metadata" => Some(Ok(Value::Dict(Dict::default()))),
            "variable" => node.variable().map(|variable| Ok(Value::Tensor(variable))),
            _ => None,
        }
    }
    fn is_instance(&self, class: &str) -> bool {
        class == "torch.autograd.graph.Node"
    }
    fn is_callable(&self) -> bool {
        self.node.custom().is_none()
    }
    /// Computes the gradients of the arguments from those of the results.
    fn call(&self, args: Vec<Value>, keywords: Keywords) -> Option<Result<Value>> {
        self.is_callable().then(|| run_node(&self.state, &self.node, &args, &keywords))
    }
    fn identity(&self) -> Option<usize> {
        Some(Rc::as_ptr(&self.node) as usize)
    }
}

/// Wraps a node as the value of `grad_fn`.
pub(crate) fn node_value(state: &State, node: Rc<Node>) -> Value {
    let name = node.name();
    let class = match node.custom() {
        Some(_) => intern(&format!("torch.autograd.function.{name}")),
        None => intern(&name),
    };
    Value::Object(Rc::new(NodeObject { node, class, state: state.handle() }))
}

fn run_node(state: &State, node: &Rc<Node>, args: &[Value], keywords: &Keywords) -> Result<Value> {
    if !keywords.is_empty() {
        bail!(TypeError, "keyword arguments are not supported");
    }
    let (expected, got) = (node.outputs.len(), args.len());
    if got != expected {
        bail!(TypeError, "expected {expected} arguments, got {got} instead");
    }
    let gradient = |(i, arg): (usize, &Value)| match arg {
        Value::None => Ok(None),
        Value::Tensor(tensor) => Ok(Some(tensor.clone())),
        _ => bail!(TypeError, "argument {i} is not a Variable"),
    };
    let grads = args.iter().enumerate().map(gradient).collect::<Result<_>>()?;
    let pass = Pass { functions: state, retain_graph: true, create_graph: state.grad_enabled.get() };
    let found = autograd::run_node(pass, node, grads)?;
    let mut found = found.into_iter().map(|gradient| gradient.map_or(Value::None, Value::Tensor));
    Ok(match found.len() {
        1 => found.next().unwrap_or(Value::None),
        _ => Value::tuple(found),
    })
}

/// Returns the node in a value, or `None` if the value is not a node.
pub(crate) fn node_of(value: &Value) -> Option<Rc<Node>> {
    match value {
        Value::Object(object) => object.as_any().downcast_ref::<NodeObject>().map(|object| object.node.clone()),
        _ => None,
    }
}

/// `once_differentiable(backward)`: wraps a function so that differentiating its results fails with RuntimeError.
fn once_differentiable(call: &mut Call) -> Result<Value> {
    let (state, inner, function) = (call.state.handle(), call.value(0), call.value(0));
    Ok(NativeFunction::around(&function, move |args, keywords| {
        let is_differentiated = args.iter().any(|arg| as_tensor(arg).is_some_and(Tensor::requires_grad));
        let recording = state.grad_enabled.replace(false);
        let output = call_value(&state, &inner, args, keywords);
        state.grad_enabled.set(recording);
        let output = output?;
        if !recording || !is_differentiated {
            return Ok(output);
        }
        // The error's edges lead to new leaves, one for each gradient.
        let fake = |tensor: &Tensor| {
            let leaf = tensor.detach();
            leaf.autograd_mut(|meta| meta.requires_grad = true);
            leaf
        };
        let parts: Vec<Value> = match &output {
            Value::Tuple(parts) => parts.to_vec(),
            single => vec![single.clone()],
        };
        let leaves: Vec<Option<Tensor>> = parts.iter().map(|part| as_tensor(part).map(fake)).collect();
        let message = "trying to differentiate twice a function that was marked with @once_differentiable";
        let refused = custom::refuse(&leaves, message)?;
        let mut given = parts.into_iter().zip(refused).map(|(part, tensor)| tensor.map_or(part, Value::Tensor));
        Ok(match &output {
            Value::Tuple(_) => Value::tuple(given),
            _ => given.next().unwrap_or(output),
        })
    }))
}
