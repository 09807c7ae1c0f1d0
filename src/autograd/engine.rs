//! The backward pass. Gradients flow along the edges, and a node runs once all gradients of its results have arrived.
//! Nothing recurses.

use super::Functions;
use super::accumulate;
use super::context::Context;
use super::custom::Custom;
use super::graph::{Edge, Formula, Node, Shape, Work, edge_of, grad_fn, retain_grad};
use super::inplace::Slices;
use std::cell::{Cell, RefCell};
use std::collections::{BinaryHeap, HashMap, HashSet};
use std::rc::Rc;
use tensor::{GradFn, Layout, Origin, Result, Retake, Tensor, View, bail};
use value::Value;

/// The pass that is running.
pub struct Current {
    /// The number of the pass, unique within the thread.
    pub id: u64,
    /// The nodes that the pass runs.
    nodes: HashSet<usize>,
}

impl Current {
    /// Returns whether the pass reaches the node that receives a tensor's gradient.
    ///
    /// # Errors
    /// Those of [`edge_of`].
    pub fn reaches(&self, tensor: &Tensor) -> Result<bool> {
        Ok(edge_of(tensor)?.node.is_some_and(|node| self.nodes.contains(&id(&node))))
    }
}

thread_local! {
    static PASSES: Cell<u64> = const { Cell::new(0) };
    static CURRENT: RefCell<Option<Rc<Current>>> = const { RefCell::new(None) };
}

/// Returns the pass in which a hook is called, or `None` outside a pass.
pub fn current() -> Option<Rc<Current>> {
    CURRENT.with_borrow(Clone::clone)
}

/// The settings of a backward pass.
#[derive(Clone, Copy)]
pub struct Pass<'a> {
    pub functions: &'a dyn Functions,
    /// Whether nodes keep their saved values, for another pass.
    pub retain_graph: bool,
    /// Whether the pass itself is recorded.
    pub create_graph: bool,
}

thread_local! {
    /// Whether the innermost pass computes some gradients only.
    static LIMITED: Cell<bool> = const { Cell::new(false) };
}

/// Returns whether the running pass computes the gradients of some inputs only.
pub fn is_limited() -> bool {
    LIMITED.get()
}

/// Adds to the `grad` of all leaves that the roots depend on, or of the given inputs only. Each root comes with its
/// gradient.
///
/// # Errors
/// RuntimeError in PyTorch's words if there is nothing to differentiate, if the graph was freed, or if a saved value
/// was changed in place.
pub fn backward(pass: Pass, roots: &[(Tensor, Tensor)], inputs: Option<&[Tensor]>) -> Result<()> {
    let Some(inputs) = inputs else {
        return Walk::run(pass, roots, None).map(|_| ());
    };
    edges_of_roots(roots)?;
    let edges = edges_of_inputs(inputs)?;
    inputs.iter().try_for_each(retain_grad)?;
    Walk::run(pass, roots, Some(Wanted { edges: &edges, returned: false })).map(|_| ())
}

/// Computes the gradients of the inputs without changing their `grad`. `None` for an input that the roots do not depend
/// on.
///
/// # Errors
/// Those of [`backward`].
pub fn gradients(pass: Pass, roots: &[(Tensor, Tensor)], inputs: &[Tensor]) -> Result<Vec<Option<Tensor>>> {
    edges_of_roots(roots)?;
    let edges = edges_of_inputs(inputs)?;
    Walk::run(pass, roots, Some(Wanted { edges: &edges, returned: true }))
}

/// Runs the work of one node outside of a pass, without its hooks. The node keeps its saved values.
///
/// # Errors
/// Those of the node.
pub fn run_node(pass: Pass, node: &Rc<Node>, grads: Vec<Option<Tensor>>) -> Result<Vec<Option<Tensor>>> {
    let before = pass.functions.set_nameless(true);
    let outputs = Walk::new(pass).work(node, Given { gradients: grads, holders: 1 });
    pass.functions.set_nameless(before);
    outputs
}

/// The gradients that a pass is limited to.
#[derive(Clone, Copy)]
struct Wanted<'a> {
    edges: &'a [Edge],
    /// Whether the gradients are returned, instead of being added to the `grad` of their tensors.
    returned: bool,
}

fn edges_of_roots(roots: &[(Tensor, Tensor)]) -> Result<Vec<Edge>> {
    let starts: Vec<Edge> = roots.iter().map(|(root, _)| edge_of(root)).collect::<Result<_>>()?;
    match starts.iter().position(|start| start.node.is_none()) {
        Some(i) => bail!(RuntimeError, "element {i} of tensors does not require grad and does not have a grad_fn"),
        None => Ok(starts),
    }
}

fn edges_of_inputs(inputs: &[Tensor]) -> Result<Vec<Edge>> {
    inputs
        .iter()
        .map(|input| {
            let edge = edge_of(input)?;
            if edge.node.is_none() {
                bail!(RuntimeError, "One of the differentiated Tensors does not require grad");
            }
            Ok(edge)
        })
        .collect()
}

fn id(node: &Rc<Node>) -> usize {
    Rc::as_ptr(node) as usize
}

/// A node whose gradients have all arrived. The newest node is visited first.
struct Ready(Rc<Node>);

impl PartialEq for Ready {
    fn eq(&self, other: &Self) -> bool {
        self.0.sequence == other.0.sequence
    }
}
impl Eq for Ready {}
impl PartialOrd for Ready {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Ready {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.sequence.cmp(&other.0.sequence)
    }
}

/// The gradients that a node works on.
struct Given {
    gradients: Vec<Option<Tensor>>,
    /// The number of handles that the pass itself has to each.
    holders: usize,
}

/// The state of one pass.
struct Walk<'a> {
    pass: Pass<'a>,
    /// For each node, the number of edges that have not delivered a gradient yet.
    missing: HashMap<usize, usize>,
    /// For each node, the gradients that have arrived, one per result.
    arrived: HashMap<usize, Vec<Option<Tensor>>>,
    ready: BinaryHeap<Ready>,
    /// If only some gradients are wanted: the nodes that lead to them, and the nodes they belong to.
    needed: Option<HashSet<usize>>,
    /// The nodes of `needed` that have to compute something.
    running: HashSet<usize>,
    /// For each node whose gradients are wanted: the result, and the position of its gradient in `captured`.
    captures: HashMap<usize, Vec<(usize, usize)>>,
    captured: Vec<Option<Tensor>>,
}

impl<'a> Walk<'a> {
    fn new(pass: Pass<'a>) -> Walk<'a> {
        Walk {
            pass,
            missing: HashMap::new(),
            arrived: HashMap::new(),
            ready: BinaryHeap::new(),
            needed: None,
            running: HashSet::new(),
            captures: HashMap::new(),
            captured: Vec::new(),
        }
    }

    fn run(pass: Pass<'a>, roots: &[(Tensor, Tensor)], wanted: Option<Wanted>) -> Result<Vec<Option<Tensor>>> {
        let recording = pass.functions.set_recording(pass.create_graph);
        let nameless = pass.functions.set_nameless(true);
        let outer = LIMITED.replace(wanted.is_some());
        let found = Walk::walk(pass, roots, wanted);
        LIMITED.set(outer);
        pass.functions.set_nameless(nameless);
        pass.functions.set_recording(recording);
        found
    }

    fn walk(pass: Pass<'a>, roots: &[(Tensor, Tensor)], wanted: Option<Wanted>) -> Result<Vec<Option<Tensor>>> {
        let starts = edges_of_roots(roots)?;
        let order = reachable(&starts);
        let mut walk = Walk::new(pass);
        for node in &order {
            for edge in node.edges.borrow().iter() {
                if let Some(next) = &edge.node {
                    *walk.missing.entry(id(next)).or_default() += 1;
                }
            }
        }
        if let Some(wanted) = wanted {
            let mut ends = HashSet::new();
            for (slot, edge) in wanted.edges.iter().enumerate() {
                let Some(node) = &edge.node else { continue };
                ends.insert(id(node));
                if wanted.returned {
                    walk.captures.entry(id(node)).or_default().push((edge.output, slot));
                }
            }
            walk.captured = vec![None; wanted.edges.len()];
            let (needed, mut running) = on_the_way(&order, &ends);
            if !wanted.returned {
                running.extend(ends);
            }
            walk.needed = Some(needed);
            walk.running = running;
        }
        for (i, (start, (_, gradient))) in starts.iter().zip(roots).enumerate() {
            walk.deliver(start, gradient.clone(), (None, i))?;
        }
        for start in &starts {
            if let Some(node) = &start.node {
                walk.settle(node, 0);
            }
        }
        let nodes = walk.needed.clone().unwrap_or_else(|| order.iter().map(id).collect());
        let number = PASSES.replace(PASSES.get() + 1);
        let outer = CURRENT.replace(Some(Rc::new(Current { id: number, nodes })));
        let mut done = Ok(());
        while let (Ok(()), Some(Ready(node))) = (&done, walk.ready.pop()) {
            done = walk.visit(&node);
        }
        CURRENT.set(outer);
        done.map(|()| walk.captured)
    }

    /// Delivers a gradient to the node at the end of an edge. `from` names the node or root it comes from, for errors.
    fn deliver(&mut self, edge: &Edge, gradient: Tensor, from: (Option<&Rc<Node>>, usize)) -> Result<()> {
        let Some(node) = edge.node.as_ref().filter(|node| self.is_needed(node)) else { return Ok(()) };
        let gradient = match node.outputs.get(edge.output) {
            Some(shape) => fit(self.pass.functions, gradient, shape, from)?,
            None => gradient,
        };
        let slots = self.arrived.entry(id(node)).or_insert_with(|| vec![None; node.outputs.len()]);
        let Some(slot) = slots.get_mut(edge.output) else { return Ok(()) };
        *slot = Some(match slot.take() {
            Some(before) => accumulate::sum(self.pass, before, gradient)?,
            None => gradient,
        });
        Ok(())
    }

    /// Returns whether a node leads to a gradient that is wanted.
    fn is_needed(&self, node: &Rc<Node>) -> bool {
        self.needed.as_ref().is_none_or(|needed| needed.contains(&id(node)))
    }

    /// Counts edges of a node as delivered. The node is ready when none is left, unless it is not needed.
    fn settle(&mut self, node: &Rc<Node>, done: usize) {
        if !self.is_needed(node) {
            return;
        }
        let open = self.missing.entry(id(node)).or_default();
        *open = open.saturating_sub(done);
        if *open == 0 && self.arrived.contains_key(&id(node)) {
            // Marks the node as queued, because a root can be given twice.
            *open = usize::MAX;
            self.ready.push(Ready(node.clone()));
        } else if *open == 0 {
            // No gradient arrived, so the node runs without any.
            *open = usize::MAX;
            self.arrived.insert(id(node), vec![None; node.outputs.len()]);
            self.ready.push(Ready(node.clone()));
        }
    }

    fn visit(&mut self, node: &Rc<Node>) -> Result<()> {
        let mut grads = self.arrived.remove(&id(node)).unwrap_or_default();
        // Hooks of a tensor change a gradient that ends here before it is returned, but not one that also goes on.
        let runs = self.needed.is_none() || self.running.contains(&id(node));
        if !runs {
            self.run_hooks(node, &mut grads)?;
        }
        if let Some(captures) = self.captures.get(&id(node)) {
            for &(output, slot) in captures {
                if let Some(place) = self.captured.get_mut(slot) {
                    *place = grads.get(output).cloned().flatten();
                }
            }
        }
        if !runs {
            return Ok(());
        }
        self.run_hooks(node, &mut grads)?;
        let edges = node.edges.borrow().clone();
        let outputs = self.step(node, grads)?;
        for (i, (edge, gradient)) in edges.iter().zip(outputs.into_iter().chain(std::iter::repeat(None))).enumerate() {
            if let Some(gradient) = gradient {
                self.deliver(edge, gradient, (Some(node), i))?;
            }
        }
        for edge in &edges {
            if let Some(next) = &edge.node {
                self.settle(next, 1);
            }
        }
        Ok(())
    }

    /// Calls the hooks on the gradients of a node's results, then keeps the gradients that are retained.
    fn run_hooks(&self, node: &Rc<Node>, grads: &mut [Option<Tensor>]) -> Result<()> {
        run_hooks(node, grads)?;
        let retained: Vec<(usize, Option<Tensor>)> =
            node.retained.borrow().iter().map(|(output, tensor)| (*output, tensor.upgrade())).collect();
        for (output, tensor) in retained {
            if let (Some(tensor), Some(Some(gradient))) = (tensor, grads.get(output)) {
                accumulate::into_retained(self.pass, &tensor, gradient)?;
            }
        }
        Ok(())
    }

    /// Computes the gradients that a node sends along its edges. Calls its hooks before and after.
    fn step(&self, node: &Rc<Node>, mut grads: Vec<Option<Tensor>>) -> Result<Vec<Option<Tensor>>> {
        let before = node.before.borrow().clone();
        for (_, hook) in before {
            grads = hook(&[&grads])?.unwrap_or(grads);
        }
        let after = node.after.borrow().clone();
        // Without hooks after it, the work gets the only handles to the gradients.
        let kept = if after.is_empty() { Vec::new() } else { grads.clone() };
        let given = Given { gradients: grads, holders: if after.is_empty() { 1 } else { 2 } };
        let mut outputs = self.work(node, given)?;
        if !node.accumulates() && !self.pass.retain_graph {
            release(node);
        }
        if self.pass.functions.refuses_nan() {
            self.check_numbers(node, &outputs)?;
        }
        for (_, hook) in after {
            outputs = hook(&[&outputs, &kept])?.unwrap_or(outputs);
        }
        Ok(outputs)
    }

    /// Fails with RuntimeError if a gradient contains NaN.
    fn check_numbers(&self, node: &Rc<Node>, outputs: &[Option<Tensor>]) -> Result<()> {
        let before = self.pass.functions.set_recording(false);
        let is_nan = |tensor: &Tensor| -> Result<bool> {
            let found = self.pass.functions.call("isnan", &[tensor.clone().into()])?;
            let found = self.pass.functions.call("any", &[found]).and_then(as_tensor)?;
            let found = found.borrow().item()?;
            Ok(found.truth())
        };
        let mut checked = Ok(());
        for (i, output) in outputs.iter().enumerate() {
            match output.as_ref().map_or(Ok(false), is_nan) {
                Ok(false) => {}
                Ok(true) => {
                    let message = format!("Function '{}' returned nan values in its {i}th output.", node.name());
                    checked = Err(tensor::Error::runtime(message));
                }
                Err(error) => checked = Err(error),
            }
            if checked.is_err() {
                break;
            }
        }
        self.pass.functions.set_recording(before);
        checked
    }

    fn work(&self, node: &Rc<Node>, grads: Given) -> Result<Vec<Option<Tensor>>> {
        let Some(leaf) = node.variable() else {
            return self.compute(node, &grads.gradients, &node.edges.borrow());
        };
        if let Some(Some(gradient)) = grads.gradients.into_iter().next() {
            accumulate::into_leaf(self.pass, &leaf, gradient, grads.holders)?;
            let after = if leaf.requires_grad() { leaf.autograd(|meta| meta.after_hooks.clone()) } else { Vec::new() };
            for (_, hook) in after {
                if hook.call(Some(&leaf))?.is_some_and(|given| !given.is(&leaf)) {
                    bail!(RuntimeError, "Tensor post accumulate grad hooks should return None.");
                }
            }
        }
        Ok(Vec::new())
    }

    fn compute(&self, node: &Rc<Node>, grads: &[Option<Tensor>], edges: &[Edge]) -> Result<Vec<Option<Tensor>>> {
        enum Job {
            Formula(Rc<Formula>),
            Slices(Rc<Slices>),
            Custom(Rc<dyn Custom>),
        }
        let job = match &*node.work.borrow() {
            Work::Formula(formula) => Job::Formula(formula.clone()),
            Work::Slices(slices) => Job::Slices(slices.clone()),
            Work::Custom(custom) => Job::Custom(custom.clone()),
            Work::Refused(message) => bail!(RuntimeError, "{message}"),
            Work::Missing(name) => bail!(RuntimeError, "derivative for aten::{name} is not implemented"),
            Work::Freed => bail!(RuntimeError, "{FREED}"),
            Work::Accumulate(_) => return Ok(Vec::new()),
        };
        if grads.iter().all(Option::is_none) && !matches!(job, Job::Custom(_)) {
            // Built-in operations still read their saved values.
            if let Job::Formula(formula) = &job {
                formula.unpacked(node)?;
            }
            return Ok(vec![None; edges.len()]);
        }
        match job {
            Job::Formula(formula) => self.formula(node, &formula, grads, edges),
            Job::Slices(slices) => self.slices(&slices, grads, edges),
            Job::Custom(custom) => custom.backward(node, grads),
        }
    }

    fn formula(
        &self,
        node: &Rc<Node>,
        formula: &Formula,
        grads: &[Option<Tensor>],
        edges: &[Edge],
    ) -> Result<Vec<Option<Tensor>>> {
        let unpacked = formula.unpacked(node)?;
        let formula = unpacked.as_ref().unwrap_or(formula);
        let mut outputs = Vec::with_capacity(edges.len());
        for gradient in formula.row.gradients() {
            for element in 0..formula.tensors_at(gradient.arg) {
                let wanted = edges.get(outputs.len()).is_some_and(|edge| {
                    edge.node.as_ref().is_some_and(|next| self.needed.as_ref().is_none_or(|n| n.contains(&id(next))))
                });
                let context = Context { functions: self.pass.functions, node, formula, grads, element };
                outputs.push(if wanted { Some((gradient.formula)(&context).tensor()?) } else { None });
            }
        }
        Ok(outputs)
    }

    /// Runs a `CopySlices` node. The gradient of the part that was written goes through the operation, the rest passes
    /// unchanged to the base.
    fn slices(&self, slices: &Slices, grads: &[Option<Tensor>], edges: &[Edge]) -> Result<Vec<Option<Tensor>>> {
        let Some(Some(gradient)) = grads.first() else { return Ok(Vec::new()) };
        let call = |key: &str, args: &[Value]| self.pass.functions.call(key, args).and_then(as_tensor);
        let (dtype, device) = (gradient.borrow().dtype, gradient.borrow().device());
        let layout = &slices.base.layout;
        let whole = Tensor::new(View::zeros_strided(&layout.sizes, layout.strides.clone(), dtype, device)?);
        call("copy_", &[whole.clone().into(), gradient.clone().into()])?;
        let window = |from: Tensor, part: &Layout, start: i64| {
            let Layout { sizes, strides, offset } = part.clone();
            call("as_strided", &[from.into(), Value::Size(sizes), Value::Size(strides), Value::Int(offset - start)])
        };
        let (mut slot, mut start) = (whole.clone(), layout.offset);
        for step in &slices.retakes {
            slot = match step {
                Retake::Window(part) => window(slot, part, start)?,
                Retake::AsReal => {
                    start = start.saturating_mul(2);
                    call("view_as_real", &[slot.into()])?
                }
                Retake::AsComplex => {
                    start /= 2;
                    call("view_as_complex", &[slot.into()])?
                }
                Retake::Conj => call("conj", &[slot.into()])?,
                Retake::Negated => call("_neg_view", &[slot.into()])?,
            };
        }
        if slices.retakes.is_empty() {
            slot = window(slot, &slices.part, start)?;
        }
        slot.set_origin(Origin::Plain);
        let mut inner_edges = edges.to_vec();
        if let (Some(first), Some(own)) = (inner_edges.first_mut(), slices.inner.edges.borrow().first()) {
            // The view's gradient is needed even if the base does not require one.
            *first = if first.node.is_some() { first.clone() } else { own.clone() };
        }
        let own = call("clone", &[slot.clone().into()])?;
        let mut grads = self.compute(&slices.inner, &[Some(own)], &inner_edges)?;
        match grads.first_mut().map(Option::take) {
            Some(Some(own)) => call("copy_", &[slot.into(), own.into()])?,
            _ => call("zero_", &[slot.into()])?,
        };
        let mut outputs = vec![Some(whole)];
        outputs.extend(grads.into_iter().skip(1));
        Ok(outputs)
    }
}

/// Collects every node that the starting edges lead to.
fn reachable(starts: &[Edge]) -> Vec<Rc<Node>> {
    let mut seen = HashSet::new();
    let mut order = Vec::new();
    let mut pending: Vec<Rc<Node>> = starts.iter().filter_map(|edge| edge.node.clone()).collect();
    while let Some(node) = pending.pop() {
        if seen.insert(id(&node)) {
            pending.extend(node.edges.borrow().iter().filter_map(|edge| edge.node.clone()));
            order.push(node);
        }
    }
    order
}

/// Returns whether a tensor that requires a gradient depends on any leaf other than these.
///
/// # Errors
/// Those of [`edge_of`].
pub fn comes_from_others(tensor: &Tensor, leaves: &[Tensor]) -> Result<bool> {
    let other = |leaf: &Tensor| !leaves.iter().any(|own| own.is(leaf));
    Ok(match grad_fn(tensor)? {
        None => tensor.requires_grad() && other(tensor),
        Some(_) => reachable(&[edge_of(tensor)?]).iter().any(|node| node.variable().as_ref().is_some_and(other)),
    })
}

/// Returns the nodes that lead to one of `ends`, and those of them that have to run. Inputs are older than
/// results, so one pass over the nodes from old to new suffices.
fn on_the_way(nodes: &[Rc<Node>], ends: &HashSet<usize>) -> (HashSet<usize>, HashSet<usize>) {
    let mut sorted: Vec<&Rc<Node>> = nodes.iter().collect();
    sorted.sort_by_key(|node| if node.accumulates() { 0 } else { node.sequence });
    let (mut needed, mut running) = (HashSet::new(), HashSet::new());
    for node in sorted {
        let leads = |edge: &Edge| edge.node.as_ref().is_some_and(|next| needed.contains(&id(next)));
        if node.edges.borrow().iter().any(leads) {
            running.insert(id(node));
            needed.insert(id(node));
        } else if ends.contains(&id(node)) {
            needed.insert(id(node));
        }
    }
    (needed, running)
}

/// Releases the saved values of a node. A node without saved values can run again.
fn release(node: &Rc<Node>) {
    let saves = match &*node.work.borrow() {
        Work::Formula(formula) => formula.saves(),
        Work::Slices(slices) => {
            release(&slices.inner);
            slices.inner.is_freed()
        }
        Work::Custom(custom) => {
            drop(custom.take_saved());
            false
        }
        _ => false,
    };
    if saves {
        node.work.replace(Work::Freed);
    }
}

/// Calls the hooks on the gradients of a node's results.
fn run_hooks(node: &Rc<Node>, grads: &mut [Option<Tensor>]) -> Result<()> {
    let mut hooks = node.hooks.borrow().clone();
    if let Some(leaf) = node.variable() {
        hooks.extend(leaf.autograd(|meta| meta.hooks.clone()).into_iter().map(|(id, hook)| (0, id, hook)));
    }
    for (output, _, hook) in hooks {
        if let Some(slot) = grads.get_mut(output)
            && let Some(replaced) = hook.call(slot.as_ref())?
        {
            *slot = Some(replaced);
        }
    }
    Ok(())
}

/// Converts a gradient to the size and dtype of the tensor it belongs to. Broadcast dimensions are summed, and a real
/// tensor gets the real part.
fn fit(
    functions: &dyn Functions,
    gradient: Tensor,
    shape: &Shape,
    (from, index): (Option<&Rc<Node>>, usize),
) -> Result<Tensor> {
    let call = |key: &str, args: &[Value]| functions.call(key, args).and_then(as_tensor);
    let returned = || from.map_or_else(String::new, |from| format!("Function {} returned an ", from.name()));
    let mut gradient = gradient;
    let (sizes, wanted) = (gradient.borrow().layout.sizes.clone(), &shape.layout.sizes);
    if sizes != *wanted {
        let added = sizes.len().checked_sub(wanted.len());
        let fits = |added: usize| sizes.iter().skip(added).zip(wanted).all(|(have, want)| have == want || *want == 1);
        let Some(added) = added.filter(|&added| fits(added)) else {
            bail!(
                RuntimeError,
                "{}invalid gradient at index {index} - got {} but expected shape compatible with {}",
                returned(),
                tensor::layout::show(&sizes),
                tensor::layout::show(wanted)
            );
        };
        let mut dims: Vec<i64> = (0..added as i64).collect();
        let stretched =
            wanted.iter().zip(sizes.iter().skip(added)).enumerate().filter(|(_, (want, have))| want != have);
        dims.extend(stretched.map(|(d, _)| (added + d) as i64));
        gradient = call("sum.dim_IntList", &[gradient.into(), Value::size(&dims), Value::Bool(true)])?;
        if added > 0 {
            gradient = call("view", &[gradient.into(), Value::size(wanted)])?;
        }
    }
    let form = gradient.borrow().tensor_layout();
    if form.is_compressed() && form != shape.form {
        bail!(
            RuntimeError,
            "{}invalid gradient at index {index} - expected layout {} but got {}",
            returned(),
            shape.form.cpp_name(),
            form.cpp_name()
        );
    }
    let dtype = gradient.borrow().dtype;
    if dtype.is_complex() && !shape.dtype.is_complex() {
        gradient = call("real", &[gradient.into()])?;
    }
    if gradient.borrow().dtype != shape.dtype {
        gradient = call("to.dtype", &[gradient.into(), Value::DType(shape.dtype)])?;
    }
    Ok(gradient)
}

pub(super) fn as_tensor(value: Value) -> Result<Tensor> {
    match value {
        Value::Tensor(tensor) => Ok(tensor),
        other => bail!(TypeError, "expected a Tensor, not {}", other.type_name()),
    }
}

/// The error message for a graph that was freed.
pub const FREED: &str = "Trying to backward through the graph a second time (or directly access saved tensors after they \
have already been freed). Saved intermediate values of the graph are freed when you call .backward() or \
autograd.grad(). Specify retain_graph=True if you need to backward through the graph a second time or if you need to \
access saved tensors after calling backward.";
