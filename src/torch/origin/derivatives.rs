//! The derivatives of an element by the inputs it was made from, where gradients are recorded.

use super::lineage::{Element, Lineage, Node};
use super::patterns::index_of;
use crate::calculation;
use std::collections::HashMap;
use tensor::View;

/// Returns the derivatives of an element by each input that requires a gradient. Empty without a graph, or if the graph
/// was freed.
pub(super) fn derivatives(lineage: &Lineage, element: Element) -> HashMap<Node, View> {
    let Some(made) = lineage.tensor(element.node).filter(|made| made.tensor.requires_grad()) else {
        return HashMap::new();
    };
    let index = index_of(element.number, made.sizes());
    let by_input = (0..lineage.inputs.len()).map(Node::Input).filter_map(|node| {
        let input = lineage.tensor(node).filter(|input| input.tensor.requires_grad())?;
        let found = calculation::derivatives(&lineage.state, &made.tensor, &index, &input.tensor);
        Some((node, found.ok().flatten()?))
    });
    by_input.collect()
}
