//! Nodes of user-defined functions, whose `backward` is written in the session.

use super::graph::{Edge, Node, Shape, Work, edge_of, set_history};
use super::inplace;
use super::saved::{Packing, Saved};
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
    /// The results. `None` for a result that is not a tensor.
    pub results: &'a [Option<Tensor>],
    pub inputs: &'a [Tensor],
    /// The tensors that were changed in place.
    pub dirty: &'a [Tensor],
    pub not_differentiable: &'a [Tensor],
}

/// A call that was given its history.
pub struct Recorded {
    /// Whether each result has a gradient.
    pub differentiable: Vec<bool>,
    pub node: Rc<Node>,
}

/// Gives the results of a call their histories, and returns those that the caller gets. Without `work`, the call is not recorded, but the results are treated
/// alike.
///
/// # Errors
/// RuntimeError if an input was changed in place that must not be, or that is not a result.
pub fn record(
    name: impl Into<Cow<'static, str>>,
    work: Option<Rc<dyn Custom>>,
    call: &Results<'_>,
) -> Result<(Vec<Option<Tensor>>, Option<Recorded>)> {
    let among = |tensor: &Tensor, all: &[Tensor]| all.iter().any(|other| other.is(tensor));
    let is_result = |tensor: &Tensor| call.results.iter().flatten().any(|result| result.is(tensor));
    if !call.dirty.iter().all(is_result) {
        bail!(
            RuntimeError,
            "Some elements marked as dirty during the forward method were not returned as output. The inputs that are \
             modified inplace must all be outputs of the Function."
        );
    }
    let node = match work {
        None => None,
        Some(work) => {
            let edges = call.inputs.iter().map(edge_of).collect::<Result<_>>()?;
            let outputs =
                call.results.iter().map(|result| result.as_ref().map_or_else(Shape::none, shape_of)).collect();
            Some(Node::new(name, edges, outputs, Work::Custom(work)))
        }
    };
    let mut given = Vec::new();
    let mut differentiable = Vec::new();
    for (i, result) in call.results.iter().enumerate() {
        let Some(tensor) = result else {
            given.push(None);
            differentiable.push(false);
            continue;
        };
        let (is_input, is_dirty) = (among(tensor, call.inputs), among(tensor, call.dirty));
        let is_recorded = tensor.borrow().dtype.is_differentiable() && !among(tensor, call.not_differentiable);
        let node = node.as_ref().filter(|_| is_recorded);
        differentiable.push(node.is_some());
        if is_dirty && node.is_some() {
            check_dirty(tensor, call)?;
        }
        if is_dirty {
            tensor.bump_version();
        }
        let result = match node {
            // Tensors that are not recorded lose their history, but an input itself stays as it is.
            None if tensor.requires_grad() && is_input => tensor.detach(),
            None if tensor.requires_grad() && tensor.base().is_none() => {
                tensor.autograd_mut(|meta| (meta.grad_fn, meta.requires_grad) = (None, false));
                tensor.clone()
            }
            // An input that is returned unchanged becomes a new view of the same elements.
            _ if is_input && !is_dirty => tensor.new_view(tensor.view()),
            _ => tensor.clone(),
        };
        match (node, result.base()) {
            (Some(node), Some(base)) if is_dirty => inplace::rebase(&result, base, node.clone())?,
            (Some(node), _) => set_history(&result, node, i),
            (None, _) => {}
        }
        if result.base().is_some() && !(is_input && is_dirty) {
            result.set_origin(Origin::Custom);
        }
        given.push(Some(result));
    }
    if differentiable.iter().filter(|&&is| is).count() > 1 {
        given.iter().flatten().filter(|result| result.base().is_some()).for_each(|r| r.set_origin(Origin::Several));
    }
    Ok((given, node.map(|node| Recorded { differentiable, node })))
}

fn shape_of(tensor: &Tensor) -> Shape {
    Shape::of(&tensor.borrow())
}

/// Checks that an input may be changed in place by a recorded function.
fn check_dirty(tensor: &Tensor, call: &Results<'_>) -> Result<()> {
    if tensor.requires_grad() && tensor.is_leaf() && tensor.base().is_none() {
        bail!(RuntimeError, "a leaf Variable that requires grad has been used in an in-place operation.");
    }
    if tensor.base().is_some() && call.results.len() > 1 {
        bail!(
            RuntimeError,
            "If your Function modifies inplace an input that is a view of another Tensor, your Function cannot return more \
             than one Tensor. This is not supported by the current autograd engine. You should either make sure the input \
             is not a view (using .clone() for example) or make your Function only return one Tensor (potentially splitting \
             it into two Functions: one doing the inplace that returns a single Tensor and a second one that does the other \
             operations). You can ask on the forum https://discuss.pytorch.org/ if you need help to do this change."
        );
    }
    inplace::check_in_place(tensor)
}

/// Returns detached tensors over the same elements. Differentiating one of them fails with `message`.
///
/// # Errors
/// Those of [`edge_of`].
pub fn refuse(tensors: &[Option<Tensor>], message: &str) -> Result<Vec<Option<Tensor>>> {
    let edge = |tensor: &Option<Tensor>| tensor.as_ref().map_or_else(|| Ok(Edge::default()), edge_of);
    let edges: Vec<Edge> = tensors.iter().map(edge).collect::<Result<_>>()?;
    let is_recorded = edges.iter().any(|edge| edge.node.is_some());
    let shapes = tensors.iter().map(|tensor| tensor.as_ref().map_or_else(Shape::none, shape_of)).collect();
    let node = Node::new("Error", edges, shapes, Work::Refused(message.to_owned()));
    let refused = |(i, tensor): (usize, &Option<Tensor>)| {
        let result = tensor.as_ref()?.detach();
        if is_recorded && result.borrow().dtype.is_differentiable() {
            set_history(&result, &node, i);
        }
        Some(result)
    };
    Ok(tensors.iter().enumerate().map(refused).collect())
}

/// Saves a tensor for a custom node.
///
/// # Errors
/// Any error of a pack hook.
pub fn save(tensor: &Tensor, is_result: bool, packing: Option<&Rc<dyn Packing>>) -> Result<Saved> {
    if is_result { Saved::result(tensor, packing) } else { Saved::argument(tensor, packing) }
}
