//! Follows elements through the recorded calls of an expression, back to the tensors that it began with.

use super::patterns::{index_of, number_of, origin_finder, place_of};
use call::reads::{Finder, Part, Read, TracedCall, TracedTensor};
use call::{Role, State};
use explain::{Holder, Shown};
use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use tensor::Tensor;

/// The most elements that are followed from one element of the result.
const MOST_FOLLOWED: usize = 1 << 21;

/// A tensor of the expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Node {
    /// A tensor that no recorded call made, by its position in [`Lineage::inputs`].
    Input(usize),
    /// A result of a call.
    Result { call: usize, output: usize },
}

impl Node {
    /// Returns the call that made it.
    pub(super) fn call(self) -> Option<usize> {
        match self {
            Node::Input(_) => None,
            Node::Result { call, .. } => Some(call),
        }
    }
}

/// An element of a tensor of the expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Element {
    pub node: Node,
    pub number: i64,
}

/// The recorded calls, and what is known about their elements.
pub(super) struct Lineage {
    pub state: Rc<State>,
    pub calls: Vec<Rc<TracedCall>>,
    /// Whether later calls were not recorded.
    pub is_cut: bool,
    finders: Vec<OnceCell<Option<Finder>>>,
    /// The results of calls by the identity of the tensor, in the order of the calls.
    made: HashMap<usize, Vec<Made>>,
    /// The results of calls that wrote to their first tensor, by the identity of the storage, likewise.
    written: HashMap<usize, Vec<Made>>,
    /// The tensors that no call made, in the order of their use.
    pub inputs: Vec<TracedTensor>,
    /// The variables at the time.
    holders: Rc<Vec<Holder>>,
}

/// A result of a call: the positions of the call and of the result.
type Made = (usize, usize);

/// Returns those that calls before `before` made.
fn made_before(made: Option<&Vec<Made>>, before: usize) -> &[Made] {
    let made = made.map(Vec::as_slice).unwrap_or_default();
    made.get(..made.partition_point(|(call, _)| *call < before)).unwrap_or_default()
}

/// The elements read for one element, in the order of reading.
pub(super) type ReadElements = Vec<(Element, Part)>;

/// The elements that one element was made of.
#[derive(Default)]
pub(super) struct Trail {
    /// The elements of calls that were followed, the result first, each with what was read for it.
    pub steps: Vec<(Element, ReadElements)>,
    /// The elements of inputs, each with the numbers of the readings and how it was read.
    pub leaves: Vec<Leaf>,
    /// Elements whose call does not say what it reads.
    pub unknown: Vec<Element>,
    /// Whether there were too many.
    pub is_cut: bool,
}

/// An element of an input.
pub(super) struct Leaf {
    pub element: Element,
    /// The positions in the order of reading, from 1.
    pub readings: Vec<usize>,
    /// Taken, if any reading took it.
    pub part: Part,
}

impl Lineage {
    pub(super) fn new(state: &State, calls: Vec<Rc<TracedCall>>, result: &Tensor) -> Lineage {
        let finders = calls.iter().map(|_| OnceCell::new()).collect();
        let (state, holders) = (state.handle(), state.holders());
        let is_cut = state.trace.is_cut();
        let (mut made, mut written) = (HashMap::<_, Vec<Made>>::new(), HashMap::<_, Vec<Made>>::new());
        let mut inputs: Vec<TracedTensor> = Vec::new();
        let mut known = HashSet::new();
        for (at, call) in calls.iter().enumerate() {
            for traced in &call.tensors {
                let id = traced.tensor.identity();
                if !made.contains_key(&id) && known.insert(id) {
                    inputs.push(traced.clone());
                }
            }
            for (output, traced) in call.outputs.iter().enumerate() {
                made.entry(traced.tensor.identity()).or_default().push((at, output));
                if call.is_in_place && call.tensors.first().is_some_and(|target| target.tensor.is(&traced.tensor)) {
                    written.entry(traced.view.storage.identity()).or_default().push((at, output));
                }
            }
        }
        let id = result.identity();
        if !made.contains_key(&id) && known.insert(id) {
            inputs.push(TracedTensor::new(result));
        }
        Lineage { state, calls, is_cut, finders, made, written, inputs, holders }
    }

    /// Returns the tensor of a node, as it was.
    pub(super) fn tensor(&self, node: Node) -> Option<&TracedTensor> {
        match node {
            Node::Input(at) => self.inputs.get(at),
            Node::Result { call, output } => self.calls.get(call)?.outputs.get(output),
        }
    }

    /// Returns the element of a tensor as the call `before` sees it: written by the last call that did so, through
    /// whichever view.
    pub(super) fn resolve(&self, traced: &TracedTensor, number: i64, before: usize) -> Option<Element> {
        let made = made_before(self.made.get(&traced.tensor.identity()), before).last();
        let made = made.map(|&(call, output)| (call, Element { node: Node::Result { call, output }, number }));
        let byte = place_of(&traced.view, number)?.saturating_mul(traced.view.dtype.itemsize() as i64);
        let writers = made_before(self.written.get(&traced.view.storage.identity()), before);
        let written = writers.iter().rev().find_map(|&(call, output)| {
            let shown = &self.calls.get(call)?.outputs.get(output)?.view;
            let index = Shown::of_view(shown).index_at(byte)?;
            Some((call, Element { node: Node::Result { call, output }, number: number_of(&index, shown.sizes()) }))
        });
        match (made, written) {
            (Some((made, element)), Some((written, _))) if made >= written => Some(element),
            (_, Some((_, element))) | (Some((_, element)), None) => Some(element),
            (None, None) => {
                let at = self.inputs.iter().position(|input| input.tensor.is(&traced.tensor))?;
                Some(Element { node: Node::Input(at), number })
            }
        }
    }

    /// Returns whether no later call has written over an element.
    pub(super) fn is_current(&self, element: Element) -> bool {
        let Some(traced) = self.tensor(element.node) else { return false };
        traced.is_unchanged() || self.resolve(traced, element.number, self.calls.len()) == Some(element)
    }

    /// Returns the elements read for an element of a call. `None` if the call does not say.
    pub(super) fn reads(&self, element: Element) -> Option<ReadElements> {
        let Node::Result { call, output } = element.node else { return Some(Vec::new()) };
        let traced = self.calls.get(call)?;
        let found = self.read_numbers(call, output, element.number)?;
        let resolved = found.into_iter().filter_map(|read| {
            let tensor = traced.tensors.get(read.tensor)?;
            let element = self.resolve(tensor, read.element, call)?;
            // An index that was typed as a list is in the code of the call.
            (read.part == Part::Taken || !self.is_literal(element.node)).then_some((element, read.part))
        });
        Some(resolved.collect())
    }

    pub(super) fn read_numbers(&self, call: usize, output: usize, number: i64) -> Option<Vec<Read>> {
        let traced = self.calls.get(call)?;
        let known = self.finders.get(call)?.get_or_init(|| origin_finder(&self.state, traced));
        known.as_ref().map(|find| find(output, number))
    }

    /// Follows an element back to the inputs.
    pub(super) fn trail(&self, from: Element) -> Trail {
        let mut trail = Trail::default();
        let mut known: HashMap<Element, Option<Rc<ReadElements>>> = HashMap::new();
        let mut leaves: HashMap<Element, usize> = HashMap::new();
        let mut pending = vec![(from, Part::Taken)];
        let (mut followed, mut readings) = (0, 0);
        while let Some((element, part)) = pending.pop() {
            followed += 1;
            if followed > MOST_FOLLOWED {
                trail.is_cut = true;
                break;
            }
            if let Node::Input(_) = element.node {
                readings += 1;
                let at = *leaves.entry(element).or_insert_with(|| {
                    trail.leaves.push(Leaf { element, readings: Vec::new(), part: Part::Compared });
                    trail.leaves.len() - 1
                });
                if let Some(leaf) = trail.leaves.get_mut(at) {
                    leaf.readings.push(readings);
                    leaf.part = leaf.part.min(part);
                }
                continue;
            }
            let reads = match known.get(&element) {
                Some(reads) => reads.clone(),
                None => {
                    let reads = self.reads(element).map(Rc::new);
                    match &reads {
                        Some(reads) => trail.steps.push((element, reads.to_vec())),
                        None => trail.unknown.push(element),
                    }
                    known.insert(element, reads.clone());
                    reads
                }
            };
            // What a compared element was made of can only decide too.
            let rest = reads.iter().flat_map(|reads| reads.iter().rev());
            pending.extend(rest.map(|(read, how)| (*read, part.max(*how))));
        }
        trail
    }

    /// Returns the variable that holds an input.
    fn variable(&self, input: usize) -> Option<&str> {
        let id = self.inputs.get(input)?.tensor.identity();
        self.holders.iter().find(|holder| holder.identity == id).map(|holder| holder.name.as_str())
    }

    /// Returns whether a tensor is an input without a name, such as a list of indices.
    pub(super) fn is_literal(&self, node: Node) -> bool {
        matches!(node, Node::Input(at) if self.variable(at).is_none())
    }

    /// Returns how a tensor is called: by its variable, or by the number of its call.
    pub(super) fn name(&self, node: Node) -> String {
        match node {
            Node::Input(at) => self.variable(at).map_or_else(|| format!("tensor {}", at + 1), str::to_owned),
            Node::Result { call, output } => {
                let several = self.calls.get(call).is_some_and(|call| call.outputs.len() > 1);
                if several { format!("#{}.{output}", call + 1) } else { format!("#{}", call + 1) }
            }
        }
    }

    /// Returns the number of the first element of a result among the elements of all results, by which a page chooses one.
    /// `None` for an input, which nothing was read for.
    pub(super) fn choices(&self, node: Node) -> Option<usize> {
        let Node::Result { call, output } = node else { return None };
        let count = |traced: &TracedTensor| usize::try_from(traced.view.numel()).unwrap_or(0);
        let before = self.calls.iter().take(call).flat_map(|call| &call.outputs);
        let within = self.calls.get(call)?.outputs.iter().take(output);
        Some(before.chain(within).map(count).sum())
    }

    /// Returns the element with a number among all.
    pub(super) fn chosen(&self, choice: usize) -> Option<Element> {
        let mut rest = i64::try_from(choice).ok()?;
        for (call, made) in self.calls.iter().enumerate() {
            for (output, traced) in made.outputs.iter().enumerate() {
                let count = traced.view.numel();
                if rest < count {
                    return Some(Element { node: Node::Result { call, output }, number: rest });
                }
                rest -= count;
            }
        }
        None
    }

    /// Returns how the function of a call is reached.
    pub(super) fn role(&self, call: usize) -> Option<Role> {
        self.state.registry.overload(self.calls.get(call)?.key).map(|function| function.row.role)
    }

    /// Returns the tensor that a call has as an argument. `None` for a tensor without elements.
    pub(super) fn argument(&self, call: usize, tensor: &Tensor) -> Option<Node> {
        self.resolve(&TracedTensor::new(tensor), 0, call).map(|element| element.node)
    }

    /// Returns how the tensor at a position of a call is called there.
    pub(super) fn argument_name(&self, call: usize, tensor: &Tensor) -> String {
        match self.argument(call, tensor) {
            Some(node) => self.name(node),
            // It has no elements.
            None => "[]".to_owned(),
        }
    }

    /// Returns the elements of other variables at the same place in memory.
    pub(super) fn elements_at(&self, element: Element) -> Vec<String> {
        let Some(traced) = self.tensor(element.node) else { return Vec::new() };
        let Some(place) = place_of(&traced.view, element.number) else { return Vec::new() };
        let byte = place.saturating_mul(traced.view.dtype.itemsize() as i64);
        let others = self
            .holders
            .iter()
            .filter(|holder| holder.storage == traced.view.storage && holder.identity != traced.tensor.identity());
        let named = others.filter_map(|holder| {
            let index = holder.shown.as_ref()?.index_at(byte)?;
            let index: Vec<String> = index.iter().map(i64::to_string).collect();
            Some(if index.is_empty() { holder.name.clone() } else { format!("{}[{}]", holder.name, index.join(", ")) })
        });
        named.collect()
    }

    /// Returns an element in words: `x[1, 0]`.
    pub(super) fn element_name(&self, element: Element) -> String {
        let sizes = self.tensor(element.node).map(|tensor| tensor.sizes().to_vec()).unwrap_or_default();
        if sizes.is_empty() {
            return self.name(element.node);
        }
        let index: Vec<String> = index_of(element.number, &sizes).iter().map(i64::to_string).collect();
        format!("{}[{}]", self.name(element.node), index.join(", "))
    }
}
