//! The derivatives of an element by the inputs it was made from, where gradients are recorded.

use super::lineage::{Element, Lineage, Node};
use autograd::Functions;
use call::bind::Arguments;
use call::{Receiver, dispatch};
use std::collections::HashMap;
use tensor::{Result, View};
use value::{Value, as_tensor};

/// Returns the derivatives of an element by each input that requires a gradient. Empty without a graph, or if the graph
/// was freed.
pub(super) fn derivatives(lineage: &Lineage, element: Element) -> HashMap<Node, View> {
    found(lineage, element).unwrap_or_default()
}

fn found(lineage: &Lineage, element: Element) -> Result<HashMap<Node, View>> {
    let mut by_input = HashMap::new();
    let state = &*lineage.state;
    let Some(made) = lineage.tensor(element.node).filter(|made| made.tensor.requires_grad()) else {
        return Ok(by_input);
    };
    let inputs: Vec<Node> = (0..lineage.inputs.len())
        .map(Node::Input)
        .filter(|node| lineage.tensor(*node).is_some_and(|input| input.tensor.requires_grad()))
        .collect();
    let Some(grad) = state.registry.find("grad", Receiver::Module("autograd")).filter(|_| !inputs.is_empty()) else {
        return Ok(by_input);
    };
    let flat = state.call("reshape", &[made.tensor.clone().into(), Value::size(&[-1])])?;
    let one = state.call("select.int", &[flat, Value::Int(0), Value::Int(element.number)])?;
    let tensors = inputs.iter().filter_map(|node| lineage.tensor(*node)).map(|input| input.tensor.clone().into());
    let arguments = Arguments {
        positional: [one, Value::tuple(tensors)].into_iter().collect(),
        keywords: ["retain_graph", "allow_unused"].map(|name| (name.into(), Value::Bool(true))).into_iter().collect(),
    };
    let grads = dispatch::call(state, grad, None, &arguments)?;
    for (node, value) in inputs.into_iter().zip(grads.sequence().unwrap_or_default()) {
        if let Some(tensor) = as_tensor(&value) {
            by_input.insert(node, tensor.view());
        }
    }
    Ok(by_input)
}
