//! The record of operations. A [`Node`] knows which nodes its inputs came from and how to turn the gradient of its
//! result into theirs; [`backward`] walks the nodes newest first, without recursion.

use super::derivatives::{self, Derivative};
use crate::bail;
use crate::ops::pointwise::{Output, add};
use crate::ops::promote::Operand;
use crate::ops::{copy, create};
use crate::tensor::index::{Index, Resolved, resolve};
use crate::tensor::{DType, Error, GradFn, Layout, Result, Scalar, Tensor, View};
use crate::value::Value;
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::collections::{BinaryHeap, HashMap};
use std::rc::Rc;

/// Where a gradient goes next.
#[derive(Clone)]
enum Edge {
    /// Nowhere: the input does not require a gradient.
    None,
    /// Into a leaf's `grad`.
    Leaf(Tensor),
    /// To the operation that made the input.
    Node(Rc<Node>),
}

/// How a node computes the gradients of its inputs: one per edge, `None` for zero.
type Backward = Box<dyn Fn(&View) -> Result<Vec<Option<View>>>>;

/// A recorded operation.
pub struct Node {
    name: String,
    /// The order of recording; gradients flow from high to low.
    sequence: u64,
    edges: RefCell<Vec<Edge>>,
    /// Taken away after a backward pass that does not retain the graph.
    backward: RefCell<Option<Rc<Backward>>>,
    /// Does the formula use values that the pass frees?
    saves: bool,
    /// Tensors whose values the formula uses, with their versions when it was recorded.
    saved: RefCell<Vec<(Tensor, u64, usize)>>,
    /// Non-leaf results that asked to keep their gradient.
    retained: RefCell<Vec<Tensor>>,
}

thread_local! {
    static SEQUENCE: Cell<u64> = const { Cell::new(0) };
}

impl GradFn for Node {
    fn name(&self) -> String {
        self.name.clone()
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl Drop for Node {
    /// Takes a chain of nodes apart one by one: a deep graph would overflow the stack.
    fn drop(&mut self) {
        let mut pending: Vec<Edge> = self.edges.take();
        while let Some(edge) = pending.pop() {
            if let Edge::Node(node) = edge
                && let Some(mut node) = Rc::into_inner(node)
            {
                pending.append(node.edges.get_mut());
            }
        }
    }
}

fn node(
    name: impl Into<String>,
    edges: Vec<Edge>,
    saves: bool,
    saved: Vec<(Tensor, u64, usize)>,
    backward: Backward,
) -> Rc<Node> {
    let sequence = SEQUENCE.with(|s| {
        s.set(s.get() + 1);
        s.get()
    });
    Rc::new(Node {
        name: name.into(),
        sequence,
        edges: RefCell::new(edges),
        backward: RefCell::new(Some(Rc::new(backward))),
        saves,
        saved: RefCell::new(saved),
        retained: RefCell::new(Vec::new()),
    })
}

/// Where the gradient of a tensor goes.
fn edge_of(tensor: &Tensor) -> Edge {
    tensor.autograd(|meta| match &meta.grad_fn {
        Some((grad_fn, _)) => match node_of(grad_fn) {
            Some(node) => Edge::Node(node),
            None => Edge::None,
        },
        None if meta.requires_grad => Edge::Leaf(tensor.clone()),
        None => Edge::None,
    })
}

/// The node behind a tensor's `grad_fn`: only nodes of this module are ever stored there.
fn node_of(grad_fn: &Rc<dyn GradFn>) -> Option<Rc<Node>> {
    let any: Rc<dyn Any> = grad_fn.clone();
    any.downcast::<Node>().ok()
}

fn set_grad_fn(tensor: &Tensor, node: Rc<Node>) {
    tensor.autograd_mut(|meta| {
        meta.grad_fn = Some((node, 0));
        meta.requires_grad = false;
    });
}

/// Makes the pass keep the gradient of a tensor that is not a leaf.
pub fn retain_grad(tensor: &Tensor) {
    let grad_fn = tensor.autograd(|meta| meta.grad_fn.as_ref().map(|(grad_fn, _)| grad_fn.clone()));
    if let Some(node) = grad_fn.as_ref().and_then(node_of) {
        tensor.autograd_mut(|meta| meta.retains_grad = true);
        node.retained.borrow_mut().push(tensor.clone());
    }
}

/// The arguments of a call as they were before it ran.
pub struct Inputs {
    pub args: Vec<Value>,
    /// What each tensor argument showed, for formulas.
    pub views: Vec<Option<View>>,
    tensors: Vec<Option<Tensor>>,
    edges: Vec<Edge>,
}

impl Inputs {
    pub fn of(args: &[Value]) -> Inputs {
        let tensors: Vec<Option<Tensor>> = args
            .iter()
            .map(|arg| match arg {
                Value::Tensor(tensor) => Some(tensor.clone()),
                _ => None,
            })
            .collect();
        Inputs {
            args: args.to_vec(),
            views: tensors.iter().map(|t| t.as_ref().map(Tensor::view)).collect(),
            edges: tensors.iter().map(|t| t.as_ref().map_or(Edge::None, edge_of)).collect(),
            tensors,
        }
    }
}

/// What an in-place operation needs to know about its target before it runs.
pub struct Before {
    base: Option<Tensor>,
}

/// Checks that a tensor may be written to while gradients are recorded.
///
/// # Errors
/// RuntimeError for a leaf that requires a gradient, or a view of one.
pub fn prepare_in_place(target: &Tensor) -> Result<Before> {
    if target.requires_grad() && target.is_leaf() {
        bail!(RuntimeError, "a leaf Variable that requires grad is being used in an in-place operation.");
    }
    check_base(target.base())
}

/// As [`prepare_in_place`] for `x[i] = v`, which writes into a view of `x`.
pub fn prepare_assignment(target: &Tensor) -> Result<Before> {
    if target.requires_grad() && target.is_leaf() {
        bail!(RuntimeError, "a view of a leaf Variable that requires grad is being used in an in-place operation.");
    }
    check_base(target.base())
}

fn check_base(base: Option<&Tensor>) -> Result<Before> {
    if let Some(base) = base
        && base.requires_grad()
        && base.is_leaf()
    {
        bail!(RuntimeError, "a view of a leaf Variable that requires grad is being used in an in-place operation.");
    }
    Ok(Before { base: base.cloned() })
}

/// Records a finished call: its results get the node that leads back to its inputs.
pub fn record(key: &'static str, inputs: Inputs, result: &Value, before: Option<Before>) -> Result<()> {
    let results: Vec<&Tensor> = match result {
        Value::Tensor(tensor) => vec![tensor],
        Value::Tuple(items) | Value::List(items) => {
            items.iter().filter_map(|v| if let Value::Tensor(t) = v { Some(t) } else { None }).collect()
        }
        _ => return Ok(()),
    };
    let returned_itself = |t: &Tensor| before.is_none() && inputs.tensors.iter().flatten().any(|input| input.is(t));
    if results.iter().all(|t| !t.borrow().dtype.is_differentiable() || returned_itself(t)) {
        return Ok(());
    }
    let Some(derivative) = derivatives::find(key) else {
        return Ok(());
    };
    let edges = inputs.edges.clone();
    let output = results.first().map(|t| t.view());
    let several = results.len() > 1;
    let saved = saved_tensors(derivative, &inputs, &results);
    let inputs = Rc::new(inputs);
    for (i, tensor) in results.iter().enumerate() {
        let (inputs, output) = (inputs.clone(), if several { Some(tensor.view()) } else { output.clone() });
        let formula = derivative.backward;
        let backward: Backward = Box::new(move |grad| {
            let context = derivatives::Context { inputs: &inputs, output: output.as_ref() };
            let mut grads = formula(&context, grad)?;
            for (grad, view) in grads.iter_mut().zip(&inputs.views) {
                if let (Some(value), Some(view)) = (grad.take(), view) {
                    *grad = Some(fit(value, view)?);
                }
            }
            Ok(grads)
        });
        let node = node(derivative.name, edges.clone(), derivative.saves, saved.clone(), backward);
        match &before {
            Some(Before { base: Some(base) }) => record_on_base(base, tensor, node),
            _ => {
                set_grad_fn(tensor, node);
                if i > 0 {
                    tensor.autograd_mut(|meta| {
                        if let Some((_, nr)) = &mut meta.grad_fn {
                            *nr = i
                        }
                    });
                }
            }
        }
    }
    Ok(())
}

fn saved_tensors(derivative: &Derivative, inputs: &Inputs, results: &[&Tensor]) -> Vec<(Tensor, u64, usize)> {
    let mut saved: Vec<(Tensor, u64, usize)> = derivative
        .uses
        .iter()
        .filter_map(|&i| inputs.tensors.get(i).cloned().flatten())
        .map(|t| (t.clone(), t.version(), 0))
        .collect();
    if derivative.uses_output {
        saved.extend(results.iter().map(|t| ((*t).clone(), t.version(), 0)));
    }
    saved
}

/// Records `x[indices]`.
pub fn record_subscript(tensor: &Tensor, indices: &[Index], out: &Tensor) -> Result<()> {
    let (view, indices) = (tensor.view(), indices.to_vec());
    let basic = matches!(resolve(&view, &indices)?, Resolved::Basic(_));
    let name = match (basic, indices.as_slice()) {
        (false, _) => "IndexBackward0",
        (true, list) => match list.iter().rfind(|i| !matches!(i, Index::Ellipsis)) {
            Some(Index::Int(_)) => "SelectBackward0",
            Some(Index::Slice { start: None, stop: None, step: 1 }) => {
                match list.iter().rfind(|i| matches!(i, Index::Int(_))) {
                    Some(_) => "SelectBackward0",
                    None => "AliasBackward0",
                }
            }
            Some(Index::NewAxis | Index::Bool(_)) => "UnsqueezeBackward0",
            Some(_) => "SliceBackward0",
            None => "AliasBackward0",
        },
    };
    let backward: Backward = Box::new(move |grad| {
        let room = zeros(&view)?;
        match resolve(&room, &indices)? {
            Resolved::Basic(layout) => copy::copy_into(&room.with_layout(layout), grad)?,
            Resolved::Advanced { base, indices } => {
                crate::ops::index::index_put_(&room.with_layout(base), &indices, grad, true)?;
            }
        }
        Ok(vec![Some(room)])
    });
    set_grad_fn(out, node(name, vec![edge_of(tensor)], false, Vec::new(), backward));
    Ok(())
}

/// Records `x[indices] = value`: the gradient of `x` passes around the elements written, which goes to `value`.
pub fn record_assignment(tensor: &Tensor, indices: &[Index], value: &Value, before: Before) -> Result<()> {
    let indices = indices.to_vec();
    let source = match value {
        Value::Tensor(source) => Some(source.clone()),
        _ => None,
    };
    let shape = source.as_ref().map(Tensor::view);
    let edges = vec![edge_of(tensor), source.as_ref().map_or(Edge::None, edge_of)];
    let backward: Backward = Box::new(move |grad| {
        let rest = copy::clone(grad)?;
        let target = rest.clone();
        let at = copy::clone(&crate::ops::index::index(grad, &indices)?)?;
        let zero = View::scalar(Scalar::Int(0), grad.dtype)?;
        crate::ops::index::set(&target, &indices, &zero)?;
        let for_value = match &shape {
            Some(shape) => Some(fit(at, shape)?),
            None => None,
        };
        Ok(vec![Some(rest), for_value])
    });
    let node = node("CopySlices", edges, false, Vec::new(), backward);
    match before.base {
        Some(base) => record_on_base(&base, tensor, node),
        None => set_grad_fn(tensor, node),
    }
    Ok(())
}

/// After a write through a view: the base's gradient passes around the view's elements, and the view's own history
/// becomes "part of the base".
fn record_on_base(base: &Tensor, view: &Tensor, written: Rc<Node>) {
    let (base_view, part) = (base.view(), view.view());
    let mut edges = vec![edge_of(base)];
    // The written node's first input is the view itself, whose gradient stays within the base's.
    edges.extend(written.edges.borrow().iter().skip(1).cloned());
    let inner = written.backward.borrow().clone();
    let backward: Backward = Box::new(move |grad| {
        let whole = zeros(&base_view)?;
        copy::copy_into(&whole, grad)?;
        let slot = window(&whole, &base_view, &part);
        let Some(inner) = &inner else { bail!(RuntimeError, "{}", FREED) };
        let mut grads = inner(&copy::clone(&slot)?)?;
        match grads.first_mut().map(Option::take) {
            Some(Some(own)) => copy::copy_into(&slot, &own)?,
            _ => copy::fill(&slot, Scalar::Int(0))?,
        }
        let mut out = vec![Some(whole)];
        out.extend(grads.into_iter().skip(1));
        Ok(out)
    });
    set_grad_fn(base, node("CopySlices", edges, written.saves, Vec::new(), backward));
    let (base_view, part) = (base.view(), view.view());
    let backward: Backward = Box::new(move |grad| {
        let whole = zeros(&base_view)?;
        copy::copy_into(&window(&whole, &base_view, &part), grad)?;
        Ok(vec![Some(whole)])
    });
    set_grad_fn(view, node("AsStridedBackward0", vec![edge_of(base)], false, Vec::new(), backward));
}

/// The part of a gradient of `base` that belongs to a view of it.
fn window(gradient: &View, base: &View, part: &View) -> View {
    let offset = gradient.layout.offset + part.layout.offset - base.layout.offset;
    gradient.with_layout(Layout { offset, ..part.layout.clone() })
}

/// Zeros with the very layout of a view, so that windows on it line up.
fn zeros(view: &View) -> Result<View> {
    create::zeros_like(view, None, None)
}

/// Brings a gradient to the size and dtype of the input it belongs to: broadcast dimensions are summed.
fn fit(grad: View, input: &View) -> Result<View> {
    let mut grad = grad;
    if grad.sizes() != input.sizes() {
        let added = grad.ndim().saturating_sub(input.ndim());
        let mut dims: Vec<i64> = (0..added as i64).collect();
        for (d, &size) in input.sizes().iter().enumerate() {
            if size == 1 && grad.sizes().get(added + d).is_some_and(|&g| g != 1) {
                dims.push((added + d) as i64);
            }
        }
        if !dims.is_empty() {
            grad = crate::ops::reduce::sum(&grad, Some(&dims), true, None)?;
        }
        grad = grad.with_layout(
            grad.layout.view(input.sizes()).or_else(|_| copy::contiguous(&grad)?.layout.view(input.sizes()))?,
        );
    }
    let wanted = if input.dtype.is_complex() || !grad.dtype.is_complex() { input.dtype } else { grad.dtype };
    if grad.dtype != wanted { copy::cast(&grad, wanted) } else { Ok(grad) }
}

const FREED: &str = "Trying to backward through the graph a second time (or directly access saved tensors after they \
have already been freed). Saved intermediate values of the graph are freed when you call .backward() or \
autograd.grad(). Specify retain_graph=True if you need to backward through the graph a second time or if you need to \
access saved tensors after calling backward.";

/// A node waiting for its turn, newest first.
struct Pending(Rc<Node>);

impl PartialEq for Pending {
    fn eq(&self, other: &Self) -> bool {
        self.0.sequence == other.0.sequence
    }
}
impl Eq for Pending {}
impl PartialOrd for Pending {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Pending {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.sequence.cmp(&other.0.sequence)
    }
}

/// `tensor.backward(gradient)`: adds to the `grad` of every leaf the tensor came from.
///
/// # Errors
/// RuntimeError in PyTorch's words: nothing to differentiate, a gradient of another shape, a graph already freed, or
/// a value that was changed in place after it was used.
pub fn backward(tensor: &Tensor, gradient: Option<&Tensor>, retain_graph: bool) -> Result<()> {
    let start = edge_of(tensor);
    let view = tensor.view();
    if matches!(start, Edge::None) {
        bail!(RuntimeError, "element 0 of tensors does not require grad and does not have a grad_fn");
    }
    let seed = match gradient {
        Some(gradient) => {
            let gradient = gradient.view();
            if gradient.sizes() != view.sizes() {
                bail!(
                    RuntimeError,
                    "Mismatch in shape: grad_output[0] has a shape of torch.Size({:?}) and output[0] has a shape of \
                     torch.Size({:?}).",
                    gradient.sizes(),
                    view.sizes()
                );
            }
            gradient
        }
        None if view.numel() != 1 => bail!(RuntimeError, "grad can be implicitly created only for scalar outputs"),
        None if view.dtype.is_complex() => bail!(
            RuntimeError,
            "grad can be implicitly created only for real scalar outputs but got torch.{}",
            view.dtype.name()
        ),
        None => create::full(view.sizes(), Scalar::Int(1), Some(view.dtype), view.dtype, view.device())?,
    };
    let mut grads: HashMap<u64, View> = HashMap::new();
    let mut queue = BinaryHeap::new();
    deliver(&start, seed, &mut grads, &mut queue)?;
    while let Some(Pending(node)) = queue.pop() {
        let Some(grad) = grads.remove(&node.sequence) else { continue };
        for tensor in node.retained.borrow().iter() {
            accumulate(tensor, &grad)?;
        }
        let step = node.backward.borrow().clone();
        let Some(step) = step else { bail!(RuntimeError, "{FREED}") };
        check_versions(&node)?;
        let outputs = step(&grad)?;
        if !retain_graph && node.saves {
            node.backward.replace(None);
        }
        for (edge, grad) in node.edges.borrow().iter().zip(outputs) {
            if let Some(grad) = grad {
                deliver(edge, grad, &mut grads, &mut queue)?;
            }
        }
    }
    Ok(())
}

fn check_versions(node: &Node) -> Result<()> {
    for (tensor, version, nr) in node.saved.borrow().iter() {
        if tensor.version() == *version {
            continue;
        }
        let view = tensor.borrow();
        let origin = tensor.autograd(|meta| meta.grad_fn.as_ref().map(|(grad_fn, _)| grad_fn.name()));
        let output = origin.map(|name| format!(", which is output {nr} of {name},")).unwrap_or_default();
        bail!(
            RuntimeError,
            "one of the variables needed for gradient computation has been modified by an inplace operation: \
             [torch.{} {}]{output} is at version {}; expected version {version} instead. Hint: enable anomaly detection \
             to find the operation that failed to compute its gradient, with torch.autograd.set_detect_anomaly(True).",
            view.type_name(),
            crate::tensor::layout::show(view.sizes()),
            tensor.version()
        );
    }
    Ok(())
}

fn sum(a: &View, b: &View, default: DType) -> Result<View> {
    add(Operand::Tensor(a), Operand::Tensor(b), Scalar::Int(1), Output::New, default)
}

fn deliver(edge: &Edge, grad: View, grads: &mut HashMap<u64, View>, queue: &mut BinaryHeap<Pending>) -> Result<()> {
    match edge {
        Edge::None => Ok(()),
        Edge::Leaf(leaf) => accumulate(leaf, &grad),
        Edge::Node(node) => {
            let total = match grads.get(&node.sequence) {
                Some(before) => sum(before, &grad, grad.dtype)?,
                None => {
                    queue.push(Pending(node.clone()));
                    grad
                }
            };
            grads.insert(node.sequence, total);
            Ok(())
        }
    }
}

/// Adds to a tensor's `grad`, in place where there is one already.
fn accumulate(tensor: &Tensor, grad: &View) -> Result<()> {
    let existing = tensor.autograd(|meta| meta.grad.clone());
    let total = match existing {
        Some(existing) => {
            let total = sum(&existing.view(), grad, grad.dtype)?;
            existing.bump_version();
            copy::copy_into(&existing.view(), &total)?;
            return Ok(());
        }
        None => {
            // The gradient takes the layout of its tensor, in memory of its own.
            let own = create::zeros_like(&tensor.view(), Some(grad.dtype), None)?;
            copy::copy_into(&own, grad)?;
            own
        }
    };
    tensor.autograd_mut(|meta| meta.grad = Some(Tensor::new(total)));
    Ok(())
}

/// Refuses to look for a formula that is not there.
pub fn missing(name: &str) -> Error {
    Error::not_implemented(format!("derivative for {name} is not implemented"))
}
