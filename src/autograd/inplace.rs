//! In-place writes: when they are forbidden, and how they change the histories of a tensor and its views.
//!
//! A write through a view gives the whole base a new value. The base gets the node `CopySlices`, which sends the
//! gradient of the written elements through the operation and that of the others past it. All views of the base then
//! show parts of the new value. Their histories are renewed when they are next needed.

use super::derivatives::strided::AS_STRIDED;
use super::derivatives::views::{AS_COMPLEX, AS_REAL, CONJ, NEGATED};
use super::graph::{Argument, Edge, Formula, Kept, Node, Shape, Work, edge_of, recorded_grad_fn, set_history};
use std::cell::RefCell;
use std::rc::Rc;
use tensor::{Layout, Origin, Result, Retake, Tensor, bail};
use value::Value;

/// The work of a `CopySlices` node.
pub struct Slices {
    pub base: Shape,
    /// The layout of the view that was written through.
    pub part: Layout,
    /// How a view that changes elements is taken from the base, instead of by its layout.
    pub retakes: Vec<Retake>,
    /// The operation that wrote.
    pub inner: Rc<Node>,
}

/// Checks that a tensor may be written to while gradients are recorded.
///
/// # Errors
/// RuntimeError in PyTorch's words.
pub(crate) fn check_in_place(target: &Tensor) -> Result<()> {
    if let Some(base) = target.base() {
        check_origin(target, "is being")?;
        if target.requires_grad() && base.is_leaf() {
            bail!(RuntimeError, "a view of a leaf Variable that requires grad is being used in an in-place operation.");
        }
    }
    // Like PyTorch, does not renew the history of a view first, which would show that it is no leaf.
    if target.requires_grad() && target.is_leaf() {
        bail!(RuntimeError, "a leaf Variable that requires grad is being used in an in-place operation.");
    }
    Ok(())
}

/// Checks that the history of a view may be renewed after its base was written to.
pub(super) fn check_renewal(view: &Tensor) -> Result<()> {
    check_origin(view, "its base or another view of its base has been")
}

/// Fails with RuntimeError if the view's origin forbids in-place writes. `changed` is the part of the message that says
/// what is modified.
fn check_origin(view: &Tensor, changed: &str) -> Result<()> {
    let origin = view.origin();
    if origin == Origin::Plain {
        return Ok(());
    }
    let own = recorded_grad_fn(view).map(|(node, output)| format!("Output {output} of {}", node.full_name()));
    let mode = match (origin, &own) {
        (Origin::Inference, _) => Some(("inference mode", "in normal mode")),
        (Origin::NoGrad, _) | (_, None) => Some(("no_grad mode", "with grad mode enabled")),
        _ => None,
    };
    let what = match (own, mode) {
        (Some(own), None) => format!("{own} is a view and {changed} modified inplace."),
        (None, None) => format!("A view {changed} modified inplace."),
        (own, Some((mode, now))) => {
            let view = own.map_or_else(|| "A view".to_owned(), |own| format!("{own} is a view of a view which"));
            format!("{view} was created in {mode} and {changed} modified inplace {now}.")
        }
    };
    let ambiguous = |block: &str| {
        format!(
            "Given that this use case is ambiguous and error-prone, it is forbidden. You can clarify your code by moving \
             both the view and the inplace either both inside the {block} block (if you don't want the inplace to be \
             tracked) or both outside (if you want the inplace to be tracked)."
        )
    };
    let why = match origin {
        Origin::Plain => String::new(),
        Origin::NoGrad => ambiguous("no_grad"),
        Origin::Inference => ambiguous("inference_mode"),
        Origin::Custom => "This view was created inside a custom Function (or because an input was returned as-is) and the \
                           autograd logic to handle view+inplace would override the custom backward associated with the \
                           custom Function, leading to incorrect gradients. This behavior is forbidden. You can fix this \
                           by cloning the output of the custom Function."
            .to_owned(),
        Origin::Several => "This view is the output of a function that returns multiple views. Such functions do not allow \
                            the output views to be modified inplace. You should replace the inplace operation by an \
                            out-of-place one."
            .to_owned(),
    };
    bail!(RuntimeError, "{what} {why}")
}

/// Gives a base a new history after a write through a view.
///
/// # Errors
/// Those of [`edge_of`].
pub(crate) fn rebase(view: &Tensor, base: &Tensor, written: Rc<Node>) -> Result<()> {
    let mut edges = vec![edge_of(base)?];
    // The operation's first gradient is that of the view, which is part of the base's gradient.
    edges.extend(written.edges.borrow().iter().skip(1).cloned());
    let slices = {
        let (whole, part) = (base.borrow(), view.borrow());
        Slices { base: Shape::of(&whole), part: part.layout.clone(), retakes: retakes(view), inner: written }
    };
    let outputs = vec![slices.base.clone()];
    let node = Node::new("CopySlices", edges, outputs, Work::Slices(Rc::new(slices)));
    set_history(base, &node, 0);
    Ok(())
}

/// Renews the history of a view as a part of its base's current value.
///
/// # Errors
/// Those of [`check_renewal`].
pub(crate) fn renew(view: &Tensor, base: &Tensor) -> Result<()> {
    check_renewal(view)?;
    let mut steps = retakes(view);
    if steps.is_empty() {
        steps.push(Retake::Window(view.borrow().layout.clone()));
    }
    let (mut shape, mut edge) = (Shape::of(&base.borrow()), edge_of(base)?);
    for step in steps {
        let kept = Argument::Tensor(Kept { shape: shape.clone(), saved: None });
        let (row, rest) = match &step {
            Retake::Window(layout) => {
                let window = [Value::size(&layout.sizes), Value::size(&layout.strides), Value::Int(layout.offset)];
                (&AS_STRIDED, window.into_iter().map(Argument::Plain).collect())
            }
            Retake::AsReal => (&AS_REAL, Vec::new()),
            Retake::AsComplex => (&AS_COMPLEX, Vec::new()),
            Retake::Conj => (&CONJ, Vec::new()),
            Retake::Negated => (&NEGATED, Vec::new()),
        };
        match step {
            Retake::Window(layout) => shape.layout = layout,
            Retake::AsReal => (shape.layout, shape.dtype) = (shape.layout.as_parts(), shape.dtype.to_real()),
            Retake::AsComplex => (shape.layout, shape.dtype) = (shape.layout.as_complex(), shape.dtype.to_complex()?),
            Retake::Conj | Retake::Negated => {}
        }
        let args = std::iter::once(kept).chain(rest).collect();
        let formula = Formula { row, args, results: RefCell::default(), order: None, saves_number: false };
        let node = Node::new(row.name, vec![edge], vec![shape.clone()], Work::Formula(Rc::new(formula)));
        set_history(view, &node, 0);
        edge = Edge { node: Some(node), output: 0 };
    }
    Ok(())
}

fn retakes(view: &Tensor) -> Vec<Retake> {
    if view.has_autograd() { view.autograd(|meta| meta.retakes.clone()) } else { Vec::new() }
}
