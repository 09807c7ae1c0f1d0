//! Follows axes through the recorded calls: one axis has one letter in every tensor that it runs through. Found by the
//! elements themselves: a step along an axis of a result is a step along those axes of what was read.

use super::lineage::{Lineage, Node};
use super::patterns::index_of;
use call::reads::{Part, Read};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use tensor::Dims;

/// The most positions of an axis that are looked at, …
const MOST_LOOKED_AT: i64 = 16;
/// … in how many lines along it.
const MOST_LINES: i64 = 8;
/// The most readings that are looked at for one axis.
const MOST_READINGS: usize = 1 << 16;
/// The longest name of an axis that runs along others; a longer one has a letter of its own.
const LONGEST: usize = 6;
/// The most readings at either end that are compared.
const MOST_ENDS: usize = 32;

/// The letters of the axes of all tensors.
#[derive(Default)]
pub(super) struct Axes {
    letters: HashMap<Node, Vec<String>>,
}

/// An axis of a tensor.
type Axis = (Node, usize);

impl Axes {
    /// Follows the axes through these calls, which are given in their order.
    pub(super) fn new(lineage: &Lineage, calls: impl Iterator<Item = usize>) -> Axes {
        let mut joined = Joined::default();
        let mut nodes: Vec<Node> = (0..lineage.inputs.len()).map(Node::Input).collect();
        for call in calls {
            for output in 0..lineage.calls.get(call).map_or(0, |call| call.outputs.len()) {
                let node = Node::Result { call, output };
                nodes.push(node);
                joined.follow(lineage, node);
            }
        }
        joined.named(lineage, &nodes)
    }

    /// Returns the letters of a tensor's axes: `["a", "b"]`. `1` stands for an axis without a second element, `ab` for one
    /// that runs along two others, and `a1` and `a2` for two that run along one.
    pub(super) fn of(&self, node: Node) -> Vec<String> {
        self.letters.get(&node).cloned().unwrap_or_default()
    }
}

/// Axes that are the same, and axes made of several.
#[derive(Default)]
struct Joined {
    /// The axis that stands for another and itself.
    same: HashMap<Axis, Axis>,
    parts: HashMap<Axis, Vec<Axis>>,
}

impl Joined {
    fn root(&self, axis: Axis) -> Axis {
        let mut root = axis;
        while let Some(next) = self.same.get(&root) {
            root = *next;
        }
        root
    }

    fn join(&mut self, a: Axis, b: Axis) {
        let (a, b) = (self.root(a), self.root(b));
        if a != b {
            self.same.insert(a.max(b), a.min(b));
        }
    }

    /// Joins the axes of a result with those of what was read for it.
    fn follow(&mut self, lineage: &Lineage, node: Node) {
        let Node::Result { call, output } = node else { return };
        let Some(sizes) = lineage.tensor(node).map(|result| Dims::from_slice(result.sizes())) else { return };
        let count: i64 = sizes.iter().product();
        if count == 0 {
            return;
        }
        // For each axis, the axes of each operand along which its steps move.
        let mut moves: Vec<BTreeMap<Operand, BTreeSet<usize>>> = Vec::new();
        let mut like: Option<Operand> = None;
        let mut stride = 1;
        for size in sizes.iter().rev() {
            let mut found: BTreeMap<Operand, BTreeSet<usize>> = BTreeMap::new();
            let mut looked_at = 0;
            for line in positions(count / size, MOST_LINES) {
                let first = line / stride * stride * size + line % stride;
                let mut steps: Vec<Readings> = Vec::new();
                for at in positions(*size, MOST_LOOKED_AT) {
                    let Some(reads) = lineage.read_numbers(call, output, first + at * stride) else { return };
                    looked_at += reads.len();
                    if looked_at > MOST_READINGS {
                        break;
                    }
                    steps.push(Readings::new(lineage, call, &reads));
                }
                let operands: BTreeSet<Operand> = steps.iter().flat_map(|step| step.0.keys().copied()).collect();
                for operand in operands {
                    let read: Vec<&Indices> = steps.iter().filter_map(|step| step.0.get(&operand)).collect();
                    let has_sizes = read.first().is_some_and(|read| read.sizes == sizes);
                    like = like.or(has_sizes.then_some(operand));
                    found.entry(operand).or_default().extend(moved_in(&read));
                }
                if let Some(first) = steps.first() {
                    self.join_terms(first);
                }
            }
            moves.insert(0, found);
            stride *= size;
        }
        for (axis, found) in moves.iter().enumerate() {
            // Every element of the line was read for each, as by softmax: the axis is still there.
            if let Some(operand) = like.filter(|_| found.values().all(BTreeSet::is_empty)) {
                self.join((node, axis), (operand.1, axis));
            }
            found.keys().for_each(|operand| self.join_moved((node, axis), *operand, &moves));
        }
    }

    /// Joins an axis of a result with the one axis of an operand that moves with it, or remembers several as its parts.
    /// An axis that moves with others as well counts for one of them only if the others have axes of their own, as that
    /// along which `gather` reads.
    fn join_moved(&mut self, axis: Axis, operand: Operand, moves: &[BTreeMap<Operand, BTreeSet<usize>>]) {
        let moved = |at: usize| moves.get(at).and_then(|found| found.get(&operand)).into_iter().flatten().copied();
        let movers = |d: usize| (0..moves.len()).filter(move |at| moved(*at).any(|moved| moved == d));
        let own = |at: usize| moved(at).filter(|d| movers(*d).count() == 1).collect::<Vec<usize>>();
        let mut parts = own(axis.1);
        if parts.is_empty() {
            parts = moved(axis.1).filter(|d| movers(*d).all(|at| at == axis.1 || !own(at).is_empty())).collect();
        }
        match parts.as_slice() {
            [one] => self.join(axis, (operand.1, *one)),
            several => {
                let several: Vec<usize> = if several.is_empty() { moved(axis.1).collect() } else { parts };
                if !several.is_empty() {
                    self.parts.entry(axis).or_insert(several.iter().map(|d| (operand.1, *d)).collect());
                }
            }
        }
    }

    /// Joins the axes along which the terms of a sum of products run, as the inner ones of a product of matrices.
    fn join_terms(&mut self, readings: &Readings) {
        let runs: Vec<(&Operand, &Indices)> = readings.0.iter().filter(|(_, read)| read.in_order.len() > 1).collect();
        for (at, ((_, a), read_a)) in runs.iter().enumerate() {
            let terms = read_a.in_order.len();
            for ((_, b), read_b) in runs.iter().skip(at + 1).filter(|(_, read)| read.in_order.len() == terms) {
                // A step to the next row moves along several axes, all but one of which are known by then.
                for (step_a, step_b) in read_a.in_order.windows(2).zip(read_b.in_order.windows(2)) {
                    let (mut moved_a, mut moved_b) = (moved(step_a), moved(step_b));
                    moved_a.retain(|i| {
                        let known = moved_b.iter().position(|j| self.root((*a, *i)) == self.root((*b, *j)));
                        known.map(|at| moved_b.remove(at)).is_none()
                    });
                    if let ([i], [j]) = (moved_a.as_slice(), moved_b.as_slice()) {
                        self.join((*a, *i), (*b, *j));
                    }
                }
            }
        }
    }

    /// Gives letters to the axes, in the order in which they appear.
    fn named(&self, lineage: &Lineage, nodes: &[Node]) -> Axes {
        let mut known: HashMap<Axis, String> = HashMap::new();
        let mut next = 'a'..='z';
        let mut letters = HashMap::new();
        for node in nodes {
            let sizes = lineage.tensor(*node).map(|tensor| tensor.sizes().to_vec()).unwrap_or_default();
            let mut named = Vec::new();
            for (axis, size) in sizes.iter().enumerate() {
                let root = self.root((*node, axis));
                let parts = self.parts.get(&root);
                let of_parts = || -> String {
                    let names = parts.into_iter().flatten().filter_map(|part| known.get(&self.root(*part)));
                    names.map(String::as_str).collect()
                };
                let alike = (0..sizes.len()).filter(|other| self.parts.get(&self.root((*node, *other))) == parts);
                let name = match (size, known.get(&root), of_parts()) {
                    (1, ..) => "1".to_owned(),
                    (_, Some(known), _) => known.clone(),
                    (_, None, name) if name.is_empty() || name.len() > LONGEST => {
                        next.next().map_or("?".to_owned(), String::from)
                    }
                    (_, None, name) if name.len() > 1 && alike.count() == 1 => name,
                    // The parts of a split axis are told apart.
                    (_, None, name) => numbered(&name, &known),
                };
                if *size != 1 {
                    known.insert(root, name.clone());
                }
                named.push(name);
            }
            letters.insert(*node, named);
        }
        Axes { letters }
    }
}

/// A tensor of a call: its position among them, and what it is.
type Operand = (usize, Node);

/// The indices of the elements read of a tensor.
struct Indices {
    sizes: Dims,
    /// The first ones, in the order of reading.
    in_order: Vec<Dims>,
    /// Sorted, of many the first and the last ones.
    all: Vec<Dims>,
    /// Those that were taken, likewise.
    taken: Vec<Dims>,
}

/// What was read for an element, of each tensor whose elements lie as the call saw them.
struct Readings(BTreeMap<Operand, Indices>);

impl Readings {
    fn new(lineage: &Lineage, call: usize, reads: &[Read]) -> Readings {
        let mut found = BTreeMap::new();
        let operands = lineage.calls.get(call).map(|call| call.tensors.as_slice()).unwrap_or_default();
        for (at, operand) in operands.iter().enumerate() {
            let own = || reads.iter().filter(move |read| read.tensor == at);
            let Some(first) = own().next().and_then(|read| lineage.resolve(operand, read.element, call)) else {
                continue;
            };
            if lineage.tensor(first.node).is_none_or(|tensor| tensor.sizes() != operand.sizes()) {
                continue;
            }
            let in_order: Vec<i64> = own().map(|read| read.element).take(2 * MOST_ENDS).collect();
            let ends = |taken_only: bool| {
                let chosen = own().filter(|read| !taken_only || read.part == Part::Taken);
                let mut numbers: Vec<i64> = chosen.map(|read| read.element).collect();
                numbers.sort_unstable();
                if numbers.len() > 2 * MOST_ENDS {
                    numbers.drain(MOST_ENDS..numbers.len() - MOST_ENDS);
                }
                numbers
            };
            let indices = |numbers: Vec<i64>| -> Vec<Dims> {
                numbers.into_iter().map(|number| index_of(number, operand.sizes())).collect()
            };
            found.insert(
                (at, first.node),
                Indices {
                    sizes: Dims::from_slice(operand.sizes()),
                    in_order: indices(in_order),
                    all: indices(ends(false)),
                    taken: indices(ends(true)),
                },
            );
        }
        Readings(found)
    }
}

/// Returns the axes along which the indices move from step to step. What was compared moves with what was taken, but for
/// functions that compare a whole line for each element of it, as `sort` does.
fn moved_in(steps: &[&Indices]) -> Vec<usize> {
    let all: Vec<&[Dims]> = steps.iter().map(|step| step.all.as_slice()).collect();
    let taken: Vec<&[Dims]> = steps.iter().map(|step| step.taken.as_slice()).collect();
    Some(moved_between(&all)).filter(|moved| !moved.is_empty()).unwrap_or_else(|| moved_between(&taken))
}

fn moved_between(steps: &[&[Dims]]) -> Vec<usize> {
    let Some((first, later)) = steps.split_first() else { return Vec::new() };
    let mut found = BTreeSet::new();
    for step in later {
        // Sets of different sizes are compared by their ends, as those of a running sum.
        let pairs: Vec<(&Dims, &Dims)> = match first.len() == step.len() {
            true => first.iter().zip(step.iter()).collect(),
            false => [(first.first(), step.first()), (first.last(), step.last())]
                .into_iter()
                .filter_map(|(a, b)| a.zip(b))
                .collect(),
        };
        pairs.into_iter().for_each(|(a, b)| found.extend(differing(a, b)));
    }
    found.into_iter().collect()
}

/// Returns the axes in which two indices differ.
fn differing<'i>(a: &'i [i64], b: &'i [i64]) -> impl Iterator<Item = usize> + 'i {
    a.iter().zip(b).enumerate().filter(|(_, (a, b))| a != b).map(|(axis, _)| axis)
}

fn moved(step: &[Dims]) -> Vec<usize> {
    let [a, b] = step else { return Vec::new() };
    differing(a, b).collect()
}

/// Returns the positions that are looked at: all of a few, otherwise `most` with both ends.
fn positions(size: i64, most: i64) -> impl Iterator<Item = i64> {
    let count = size.min(most);
    (0..count).map(move |at| if count == size { at } else { at * (size - 1) / (count - 1) })
}

/// Returns the first of `a1`, `a2`, … that is no name yet.
fn numbered(name: &str, known: &HashMap<Axis, String>) -> String {
    let is_free = |wanted: &String| !known.values().any(|known| known == wanted);
    (1..).map(|at| format!("{name}{at}")).find(is_free).unwrap_or_default()
}
