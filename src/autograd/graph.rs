//! The graph of recorded operations: [`Node`]s, the [`Edge`]s between them, and the values they saved.

use super::custom::Custom;
use super::derivative::Derivative;
use super::inplace::Slices;
use super::saved::Saved;
use std::any::Any;
use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::rc::{Rc, Weak};
use tensor::{DType, Device, GradFn, Hook, Layout, Result, Tensor, TensorLayout, View, WeakTensor};
use value::Value;

/// The destination of a gradient: the `output`-th result of a node. Without a node, the gradient is dropped.
#[derive(Clone, Default)]
pub struct Edge {
    pub node: Option<Rc<Node>>,
    pub output: usize,
}

/// The shape that a gradient must have.
#[derive(Clone)]
pub struct Shape {
    pub layout: Layout,
    pub dtype: DType,
    pub device: Device,
    /// Whether the tensor is dense or sparse, and in which form.
    pub form: TensorLayout,
}

impl Shape {
    pub fn of(view: &View) -> Shape {
        let form = view.tensor_layout();
        Shape { layout: view.layout.clone(), dtype: view.dtype, device: view.device(), form }
    }

    /// The shape of a result that is not a tensor, which never gets a gradient.
    pub fn none() -> Shape {
        let (dtype, device, form) = (DType::Float, Device::CPU, TensorLayout::Strided);
        Shape { layout: Layout::contiguous(&[]), dtype, device, form }
    }
}

/// A recorded operation. A node keeps the views of tensors and the edges of their gradients, but not the tensors.
/// Otherwise a node and its results would keep each other alive.
pub struct Node {
    name: Cow<'static, str>,
    /// The position in the order of recording. Gradients flow from high to low.
    pub sequence: u64,
    pub edges: RefCell<Vec<Edge>>,
    /// The shapes of the results.
    pub outputs: Vec<Shape>,
    pub work: RefCell<Work>,
    pub hooks: RefCell<Vec<ResultHook>>,
    /// Hooks that run before the node. They get the gradients of its results.
    pub before: RefCell<Vec<(u64, NodeHook)>>,
    /// Hooks that run after the node. They get the gradients it computed and those it received.
    pub after: RefCell<Vec<(u64, NodeHook)>>,
    /// Results whose gradient is kept, because `retain_grad` was called.
    pub retained: RefCell<Vec<(usize, WeakTensor)>>,
}

/// A hook on the gradient of a result: the position of the result, the hook's number, and the hook.
type ResultHook = (usize, u64, Rc<dyn Hook>);

/// A hook on a node. It gets groups of gradients, and can return replacements for the first group.
pub type NodeHook = Rc<dyn Fn(&[&[Option<Tensor>]]) -> Result<Option<Vec<Option<Tensor>>>>>;

/// The work that a node does with gradients.
pub enum Work {
    /// Adds the gradient to the `grad` of a leaf.
    Accumulate(Tensor),
    /// Computes the gradients of the arguments with a row of the derivative table.
    Formula(Rc<Formula>),
    /// Computes the gradients of a write through a view.
    Slices(Rc<Slices>),
    /// Calls a `backward` that is written in the session.
    Custom(Rc<dyn Custom>),
    /// Fails with a message.
    Refused(String),
    /// Fails because the operation, named here, has no derivative.
    Missing(String),
    /// The node ran and released its saved values.
    Freed,
}

/// A row of the derivative table, with the arguments and results of a call.
pub struct Formula {
    pub row: &'static Derivative,
    pub args: Vec<Argument>,
    pub results: RefCell<Vec<Option<Saved>>>,
    /// The order in which the arguments were saved, if hooks packed them.
    pub order: Option<Vec<usize>>,
    /// Whether a number given for a tensor argument counts as saved.
    pub saves_number: bool,
}

impl Formula {
    /// Counts the tensors in an argument: those of a list, or one.
    pub(crate) fn tensors_at(&self, index: usize) -> usize {
        match self.args.get(index) {
            Some(Argument::List(list)) => list.len(),
            _ => 1,
        }
    }

    /// Returns the formula with all packed values unpacked, in the order in which they were saved. `None` if no hooks
    /// packed them.
    ///
    /// # Errors
    /// Those of [`Saved::unpack`].
    pub fn unpacked(&self, node: &Rc<Node>) -> Result<Option<Formula>> {
        let Some(order) = &self.order else { return Ok(None) };
        let kept = |kept: &Kept| -> Result<Kept> {
            Ok(Kept {
                shape: kept.shape.clone(),
                saved: kept.saved.as_ref().map(|saved| saved.ready(None)).transpose()?,
            })
        };
        let mut args: Vec<Argument> = self.args.iter().map(|_| Argument::Plain(Value::None)).collect();
        for (slot, arg) in order.iter().filter_map(|&i| Some((i, self.args.get(i)?))) {
            let unpacked = match arg {
                Argument::Plain(value) => Argument::Plain(value.clone()),
                Argument::Tensor(tensor) => Argument::Tensor(kept(tensor)?),
                Argument::List(list) => Argument::List(list.iter().map(kept).collect::<Result<_>>()?),
                Argument::Subscripts(list) => {
                    let kept = |item: &Option<Kept>| item.as_ref().map(kept).transpose();
                    Argument::Subscripts(list.iter().map(kept).collect::<Result<_>>()?)
                }
            };
            if let Some(place) = args.get_mut(slot) {
                *place = unpacked;
            }
        }
        let result = |(i, saved): (usize, &Option<Saved>)| -> Result<Option<Saved>> {
            saved.as_ref().map(|saved| saved.ready(Some((node, i)))).transpose()
        };
        let results = self.results.borrow().iter().enumerate().map(result).collect::<Result<_>>()?;
        Ok(Some(Formula {
            row: self.row,
            args,
            results: RefCell::new(results),
            order: None,
            saves_number: self.saves_number,
        }))
    }

    /// Returns whether any values are saved.
    pub(crate) fn saves(&self) -> bool {
        if self.saves_number {
            return true;
        }
        let of_args = self.args.iter().any(|arg| match arg {
            Argument::Plain(_) => false,
            Argument::Tensor(kept) => kept.saved.is_some(),
            Argument::List(list) => list.iter().any(|kept| kept.saved.is_some()),
            Argument::Subscripts(list) => list.iter().any(Option::is_some),
        });
        of_args || self.results.borrow().iter().any(Option::is_some)
    }
}

/// The part of an argument that a node keeps.
pub enum Argument {
    Plain(Value),
    Tensor(Kept),
    List(Vec<Kept>),
    /// Index tensors, which have no gradients, and `None`s.
    Subscripts(Vec<Option<Kept>>),
}

/// The part of a tensor that a node keeps: its shape, and its values if a formula reads them.
pub struct Kept {
    pub shape: Shape,
    pub saved: Option<Saved>,
}

thread_local! {
    static SEQUENCE: Cell<u64> = const { Cell::new(0) };
    static HOOKS: Cell<u64> = const { Cell::new(0) };
}

fn next(counter: &'static std::thread::LocalKey<Cell<u64>>) -> u64 {
    counter.with(|last| {
        last.set(last.get() + 1);
        last.get()
    })
}

impl Node {
    pub fn new(name: impl Into<Cow<'static, str>>, edges: Vec<Edge>, outputs: Vec<Shape>, work: Work) -> Rc<Node> {
        // Leaves accumulate their gradient as soon as it is complete.
        let sequence = if matches!(work, Work::Accumulate(_)) { u64::MAX } else { next(&SEQUENCE) };
        Rc::new(Node {
            name: name.into(),
            sequence,
            edges: RefCell::new(edges),
            outputs,
            work: RefCell::new(work),
            hooks: RefCell::default(),
            before: RefCell::default(),
            after: RefCell::default(),
            retained: RefCell::default(),
        })
    }

    /// Returns the name as PyTorch shows it. Nodes that are written by hand in PyTorch have a namespace.
    pub fn full_name(&self) -> String {
        let own = ["AccumulateGrad", "CopySlices", "CopyBackwards", "NotImplemented", "Error"];
        format!("{}{}", if own.contains(&&*self.name) { "torch::autograd::" } else { "" }, self.name)
    }

    pub(crate) fn accumulates(&self) -> bool {
        matches!(&*self.work.borrow(), Work::Accumulate(_))
    }

    /// Returns the leaf whose `grad` this node adds to, or `None` for other nodes.
    pub fn variable(&self) -> Option<Tensor> {
        match &*self.work.borrow() {
            Work::Accumulate(leaf) => Some(leaf.clone()),
            _ => None,
        }
    }

    /// Returns the destinations of the gradients, as `next_functions` shows them.
    pub fn next_functions(&self) -> Vec<(Option<Rc<Node>>, usize)> {
        self.edges.borrow().iter().map(|edge| (edge.node.clone(), edge.output)).collect()
    }

    /// Adds a hook before or after the work. Returns its number, for removing it.
    pub fn add_hook(&self, before: bool, hook: NodeHook) -> u64 {
        let (id, hooks) = (next(&HOOKS), if before { &self.before } else { &self.after });
        hooks.borrow_mut().push((id, hook));
        id
    }

    /// Removes a hook of the node, if it is still registered.
    pub fn remove_hook(&self, id: u64) {
        for hooks in [&self.before, &self.after] {
            hooks.borrow_mut().retain(|(other, _)| *other != id);
        }
    }

    /// Returns the recorded overload, whose parameters name the saved values.
    pub fn key(&self) -> Option<&'static str> {
        match &*self.work.borrow() {
            Work::Formula(formula) => Some(formula.row.key),
            _ => None,
        }
    }

    /// Returns the saved value of an argument, as the attribute `_saved_…` shows it. `None` if there is no such
    /// attribute.
    ///
    /// # Errors
    /// RuntimeError if the graph was freed or the value was changed in place.
    pub fn saved_argument(&self, index: usize) -> Result<Option<Value>> {
        let work = self.work.borrow();
        let Work::Formula(formula) = &*work else { return Ok(None) };
        Ok(match formula.args.get(index) {
            Some(Argument::Plain(value)) => Some(value.clone()),
            Some(Argument::Tensor(Kept { saved: Some(saved), .. })) => Some(Value::Tensor(saved.unpack(None)?)),
            // Only a formula whose gradient is not wanted reads this argument.
            _ if formula.row.gradients().any(|gradient| gradient.uses.contains(&index)) => Some(Value::None),
            _ => None,
        })
    }

    /// Returns the saved value of the result, or `None` if it was not saved.
    pub fn saved_result(self: &Rc<Node>) -> Result<Option<Value>> {
        let work = self.work.borrow();
        let Work::Formula(formula) = &*work else { return Ok(None) };
        let results = formula.results.borrow();
        let Some(Some(saved)) = results.first() else { return Ok(None) };
        saved.unpack(Some((self, 0))).map(|tensor| Some(Value::Tensor(tensor)))
    }

    /// Returns the custom behaviour of the node, or `None` for a built-in operation.
    pub fn custom(&self) -> Option<Rc<dyn Custom>> {
        match &*self.work.borrow() {
            Work::Custom(custom) => Some(custom.clone()),
            _ => None,
        }
    }

    /// Returns whether the graph was freed.
    pub fn is_freed(&self) -> bool {
        matches!(&*self.work.borrow(), Work::Freed)
    }
}

impl GradFn for Node {
    fn name(&self) -> String {
        self.name.to_string()
    }
}

impl Work {
    /// Moves all edges of the work to `into`, so that nodes can be dropped one by one.
    fn take_edges(self, into: &mut Vec<Edge>) {
        match self {
            Work::Formula(formula) => {
                if let Some(mut formula) = Rc::into_inner(formula) {
                    for arg in &mut formula.args {
                        match arg {
                            Argument::Plain(_) => {}
                            Argument::Tensor(kept) => into.extend(kept.saved.take().map(|saved| saved.edge)),
                            Argument::List(list) => {
                                into.extend(list.iter_mut().filter_map(|k| k.saved.take()).map(|saved| saved.edge));
                            }
                            Argument::Subscripts(_) => {}
                        }
                    }
                }
            }
            Work::Slices(slices) => {
                if let Some(slices) = Rc::into_inner(slices) {
                    into.push(Edge { node: Some(slices.inner), output: 0 });
                }
            }
            Work::Custom(custom) => {
                if Rc::strong_count(&custom) == 1 {
                    into.extend(custom.take_saved().into_iter().map(|saved| saved.edge));
                }
            }
            Work::Accumulate(_) | Work::Refused(_) | Work::Missing(_) | Work::Freed => {}
        }
    }
}

impl Drop for Node {
    /// Drops a chain of nodes one by one. Recursion would overflow the stack for a deep graph.
    fn drop(&mut self) {
        let mut pending = self.edges.take();
        self.work.replace(Work::Freed).take_edges(&mut pending);
        while let Some(edge) = pending.pop() {
            if let Some(node) = edge.node
                && let Some(mut node) = Rc::into_inner(node)
            {
                pending.append(node.edges.get_mut());
                node.work.replace(Work::Freed).take_edges(&mut pending);
            }
        }
    }
}

/// Downcasts the stored function to a node. Only nodes of this module are ever stored.
fn node_of(stored: Rc<dyn GradFn>) -> Option<Rc<Node>> {
    let any: Rc<dyn Any> = stored;
    any.downcast::<Node>().ok()
}

/// Makes a tensor the result of a node. Its hooks stay with the previous node, but a retained gradient is that of the
/// new value.
pub(crate) fn set_history(tensor: &Tensor, node: &Rc<Node>, output: usize) {
    if let Some((before, _)) = recorded_grad_fn(tensor)
        && tensor.autograd(|meta| meta.retains_grad)
    {
        let itself = |kept: &WeakTensor| kept.upgrade().is_some_and(|kept| kept.is(tensor));
        before.retained.borrow_mut().retain(|(_, kept)| !itself(kept));
        node.retained.borrow_mut().push((output, tensor.downgrade()));
    }
    let stored: Rc<dyn GradFn> = node.clone();
    tensor.autograd_mut(|meta| {
        meta.grad_fn = Some((stored, output));
        meta.requires_grad = false;
    });
    tensor.mark_current();
}

/// Returns the operation that a tensor is a result of, and the position of the result. If the base of a view was
/// written to, the view's history is renewed first.
///
/// # Errors
/// RuntimeError in PyTorch's words if the view's origin forbids that write.
pub fn grad_fn(tensor: &Tensor) -> Result<Option<(Rc<Node>, usize)>> {
    if let Some(base) = tensor.base()
        && tensor.is_outdated()
    {
        if base.requires_grad() || recorded_grad_fn(tensor).is_some() {
            super::inplace::renew(tensor, base)?;
        } else {
            tensor.mark_current();
        }
    }
    Ok(recorded_grad_fn(tensor))
}

/// Returns the recorded operation of a tensor without renewing its history.
pub(super) fn recorded_grad_fn(tensor: &Tensor) -> Option<(Rc<Node>, usize)> {
    if !tensor.has_autograd() {
        return None;
    }
    let (stored, output) = tensor.autograd(|meta| meta.grad_fn.clone())?;
    node_of(stored).map(|node| (node, output))
}

/// Returns the edge along which a tensor's gradient flows.
///
/// # Errors
/// Those of [`grad_fn`].
pub(crate) fn edge_of(tensor: &Tensor) -> Result<Edge> {
    if !tensor.requires_grad() {
        return Ok(Edge::default());
    }
    Ok(match grad_fn(tensor)? {
        Some((node, output)) => Edge { node: Some(node), output },
        None => Edge { node: Some(accumulator(tensor)), output: 0 },
    })
}

/// Returns the node that adds to a leaf's `grad`. It stays the same as long as a graph holds it.
fn accumulator(leaf: &Tensor) -> Rc<Node> {
    let known = leaf.autograd(|meta| meta.accumulator.as_ref().and_then(Weak::upgrade)).and_then(node_of);
    known.unwrap_or_else(|| {
        let shape = Shape::of(&leaf.borrow());
        let node = Node::new("AccumulateGrad", Vec::new(), vec![shape], Work::Accumulate(leaf.clone()));
        let stored: Rc<dyn GradFn> = node.clone();
        leaf.autograd_mut(|meta| meta.accumulator = Some(Rc::downgrade(&stored)));
        node
    })
}

/// Makes backward passes keep the gradient of a tensor that is not a leaf.
///
/// # Errors
/// Those of [`grad_fn`].
pub fn retain_grad(tensor: &Tensor) -> Result<()> {
    // Like PyTorch, does nothing for a view whose history was not yet renewed.
    if !tensor.is_leaf()
        && let Some((node, output)) = grad_fn(tensor)?
        && !tensor.autograd(|meta| meta.retains_grad)
    {
        tensor.autograd_mut(|meta| meta.retains_grad = true);
        node.retained.borrow_mut().push((output, tensor.downgrade()));
    }
    Ok(())
}

/// Registers a hook on a tensor's gradient. Returns its number, for removing it.
///
/// # Errors
/// Those of [`grad_fn`].
pub fn add_hook(tensor: &Tensor, hook: Rc<dyn Hook>) -> Result<u64> {
    let id = next(&HOOKS);
    match grad_fn(tensor)? {
        Some((node, output)) => node.hooks.borrow_mut().push((output, id, hook)),
        None => tensor.autograd_mut(|meta| meta.hooks.push((id, hook))),
    }
    Ok(id)
}

/// Removes a hook, if it is still registered.
pub fn remove_hook(tensor: &Tensor, id: u64) {
    if let Some((node, _)) = recorded_grad_fn(tensor) {
        node.hooks.borrow_mut().retain(|(_, other, _)| *other != id);
    }
    if tensor.has_autograd() {
        tensor.autograd_mut(|meta| {
            meta.hooks.retain(|(other, _)| *other != id);
            meta.after_hooks.retain(|(other, _)| *other != id);
        });
    }
}

/// Registers a hook that runs after the `grad` of a leaf is complete.
pub fn add_after_hook(tensor: &Tensor, hook: Rc<dyn Hook>) -> u64 {
    let id = next(&HOOKS);
    tensor.autograd_mut(|meta| meta.after_hooks.push((id, hook)));
    id
}
