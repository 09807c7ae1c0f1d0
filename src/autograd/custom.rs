//! Nodes of user-defined functions, whose `backward` is written in the session.

use super::graph::{Edge, Node, Shape, Work, edge_of, set_history};
use super::inplace;
use super::saved::Saved;
use std::borrow::Cow;
use std::rc::Rc;
use tensor::{Origin, Result, Tensor, bail};
use value::Value;

/// The behaviour of a custom node.
pub trait Custom {
    /// Computes the gradients for the node's edges from the gradients of its results.
    fn backward(&self, node: &Rc<Node>, gradients: &[Option<Tensor>]) -> Result<Vec<Option<Tensor>>>;
    /// Takes the saved values out of the node for good.
    fn take_saved(&self) -> Vec<Saved>;
    /// Returns an attribute of the node that is not a saved value, or `None`.
    fn attribute(&self, _name: &str) -> Option<Result<Value>> {
        None
    }
}

/// The results of a custom function, and how the function marked them.
pub struct Results<'a> {
    pub tensors: &'a [Tensor],
    pub inputs: &'a [Tensor],
    /// The tensors that were changed in place.
    pub dirty: &'a [Tensor],
    pub not_differentiable: &'a [Tensor],
}

/// Records a call. Returns the results for the caller, and the node they belong to.
///
/// # Errors
/// RuntimeError if an input was changed in place that must not be, or that is not a result.
pub fn record(
    name: impl Into<Cow<'static, str>>,
    work: Rc<dyn Custom>,
    results: &Results<'_>,
) -> Result<(Vec<Tensor>, Rc<Node>)> {
    let among = |tensor: &Tensor, all: &[Tensor]| all.iter().any(|other| other.is(tensor));
    if results.dirty.iter().any(|tensor| !among(tensor, results.tensors)) {
        bail!(
            RuntimeError,
            "Some elements marked as dirty during the forward method were not returned as output. The inputs that are \
             modified inplace must all be outputs of the Function."
        );
    }
    let edges = results.inputs.iter().map(edge_of).collect::<Result<_>>()?;
    let outputs = results.tensors.iter().map(|tensor| Shape::of(&tensor.borrow())).collect();
    let node = Node::new(name, edges, outputs, Work::Custom(work));
    let mut given = Vec::new();
    for (i, tensor) in results.tensors.iter().enumerate() {
        let (is_input, is_dirty) = (among(tensor, results.inputs), among(tensor, results.dirty));
        if !tensor.borrow().dtype.is_differentiable() || among(tensor, results.not_differentiable) {
            given.push(if is_input { tensor.detach() } else { tensor.clone() });
            continue;
        }
        if is_dirty {
            if tensor.requires_grad() && tensor.is_leaf() && tensor.base().is_none() {
                bail!(RuntimeError, "a leaf Variable that requires grad has been used in an in-place operation.");
            }
            inplace::check_in_place(tensor)?;
            tensor.bump_version();
            match tensor.base() {
                Some(base) => inplace::rebase(tensor, base, node.clone())?,
                None => set_history(tensor, &node, i),
            }
            given.push(tensor.clone());
            continue;
        }
        // An input that is returned unchanged becomes a new view of the same elements.
        let result = if is_input { tensor.new_view(tensor.view()) } else { tensor.clone() };
        set_history(&result, &node, i);
        if result.base().is_some() {
            result.set_origin(Origin::Custom);
        }
        given.push(result);
    }
    Ok((given, node))
}

/// Returns a detached tensor over the same elements that fails with `message` when it is differentiated.
///
/// # Errors
/// Those of [`edge_of`].
pub fn refuse(tensor: &Tensor, inputs: &[Tensor], name: &'static str, message: &str) -> Result<Tensor> {
    let result = tensor.detach();
    let edges: Vec<Edge> = inputs.iter().map(edge_of).collect::<Result<_>>()?;
    let node = Node::new(name, edges, vec![Shape::of(&result.borrow())], Work::Refused(message.to_owned()));
    set_history(&result, &node, 0);
    Ok(result)
}

/// Saves a tensor for a custom node.
///
/// # Errors
/// Any error of a pack hook.
pub fn save(tensor: &Tensor, is_result: bool) -> Result<Saved> {
    if is_result { Saved::result(tensor, None) } else { Saved::argument(tensor, None) }
}
