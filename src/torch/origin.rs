//! `origin(EXPRESSION)` and `readers(ELEMENT, EXPRESSION)`: from which elements a result was made, and what was made of
//! an element. PyTorch has neither. The expression is evaluated while its calls are recorded (`call/trace.rs`); the facet
//! `reads` of their rows says how elements move.

mod axes;
pub(crate) mod choices;
mod chosen;
mod derivatives;
mod labels;
mod lineage;
mod patterns;
pub use patterns::origin_finder;

pub(crate) mod products;
mod spans;
pub(crate) mod sums;
pub(crate) mod windows;

use axes::Axes;
use call::reads::{Part, Reads, Span, Takes, TracedCall, TracedTensor};
use call::trace::MOST_CALLS;
use call::{Call, Row, State, function};
use derivatives::derivatives;
use explain::calculation::Calculation;
use explain::origin::{CallRow, LeafRow, Mark, Panel, StepRow};
use explain::{Picture, Scene};
use lineage::{Element, Leaf, Lineage, Node, Trail};
use patterns::{number_of, place_of};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;
use std::rc::Rc;
use tensor::{Dims, Error, GradFn, Result, Storage, Tensor, View, bail};
use value::{Dict, Keywords, Object, Value};

/// The functions whose arguments are evaluated while calls are recorded.
pub const RECORDING: &[&str] = &["origin", "readers", "explain"];

pub(crate) const ROWS: &[Row] = &[
    function(
        "py.origin(any result, *, any at=None, int? width=None) -> Object",
        origin,
        "Shows from which elements an element of a result was read, step by step.",
    )
    .python("origin"),
    function(
        "py.readers(Tensor element, any result, *, int? width=None) -> Object",
        readers,
        "Shows which elements of a result, and of the steps before it, read an element.",
    )
    .python("readers"),
];

fn width(call: &Call) -> Result<usize> {
    super::explain::width(call)
}

fn origin(call: &mut Call) -> Result<Value> {
    let result = followed(&call.value(0), "origin")?;
    let lineage = Rc::new(Lineage::new(call.state, call.state.trace.end(), &result));
    let sizes = result.borrow().layout.sizes.clone();
    let number = match call.is_none(1) {
        true if result.borrow().numel() == 0 => bail!(ValueError, "origin() needs an element; the result has none"),
        true => 0,
        false => number_at(&indices(&[call.value(1)])?, &sizes)?,
    };
    let width = width(call)?;
    draw(&lineage, &result, number, width)
}

/// Says how the memory of the result of the recorded expression was made, if a function made it from tensors: `copied from
/// t by index(): writes don't reach t`.
pub(crate) fn made_by(state: &State, result: &Tensor) -> Option<String> {
    let lineage = Lineage::new(state, state.trace.end(), result);
    let storage = &result.borrow().storage;
    let is_maker = |call: &Rc<TracedCall>| {
        let shows = |traced: &TracedTensor| traced.view.storage == *storage;
        call.outputs.iter().any(shows) && !call.tensors.iter().any(shows)
    };
    let at = lineage.calls.iter().rposition(is_maker)?;
    let call = lineage.calls.get(at)?;
    let mut names: Vec<String> = Vec::new();
    for traced in &call.tensors {
        let element = lineage.resolve(traced, 0, at)?;
        let name = labels::expression(&lineage, element.node);
        if lineage.is_literal(element.node) || names.contains(&name) {
            continue;
        }
        names.push(name);
    }
    let last = names.pop()?;
    let from = if names.is_empty() { last } else { format!("{} and {last}", names.join(", ")) };
    let verb = match call.reads {
        Reads::Moved | Reads::Place => "copied",
        _ => "computed",
    };
    Some(format!("{verb} from {from} by {}(): writes don't reach {from}", call.signature.name))
}

/// Returns the tensor that a function follows.
fn followed(value: &Value, function: &str) -> Result<Tensor> {
    match value {
        Value::Tensor(tensor) => {
            super::explain::refuse_sparse(&tensor.borrow(), function)?;
            Ok(tensor.clone())
        }
        Value::NamedTuple(tuple) => {
            let names: Vec<String> = tuple.fields.iter().map(|(name, _)| format!(".{name}")).collect();
            bail!(TypeError, "{function}() takes one tensor; choose a field of the result: {}", names.join(", "))
        }
        Value::List(_) | Value::Tuple(_) => {
            bail!(TypeError, "{function}() takes one tensor; choose one of the results with [0]")
        }
        Value::Int(_) | Value::Float(_) | Value::Bool(_) | Value::Complex(_) => {
            bail!(TypeError, "{function}() takes a tensor, not a number; leave out .item()")
        }
        other => bail!(TypeError, "{function}() takes a tensor, not {}", other.type_name()),
    }
}

/// Returns the number of the element at an index that counts like Python's.
fn number_at(index: &[i64], sizes: &[i64]) -> Result<i64> {
    if index.len() != sizes.len() {
        let counted = |count: usize, one: &str, many: &str| format!("{count} {}", if count == 1 { one } else { many });
        let dims = counted(sizes.len(), "dimension", "dimensions");
        bail!(IndexError, "the result has {dims}, but {index:?} is {}", counted(index.len(), "index", "indices"));
    }
    let mut wrapped = Vec::new();
    for (d, (at, size)) in index.iter().zip(sizes).enumerate() {
        let own = if *at < 0 { at + size } else { *at };
        if !(0..*size).contains(&own) {
            bail!(IndexError, "index {at} is out of bounds for dimension {d} with size {size}");
        }
        wrapped.push(own);
    }
    Ok(number_of(&wrapped, sizes))
}

/// Draws the origin of an element of a result.
fn draw(lineage: &Rc<Lineage>, result: &Tensor, number: i64, width: usize) -> Result<Value> {
    let last = TracedTensor::new(result);
    let Some(element) = lineage.resolve(&last, number, lineage.calls.len()) else {
        bail!(RuntimeError, "origin() lost the result of the expression")
    };
    let at = At { lineage: lineage.clone(), result: result.clone(), width };
    let about = Followed { lineage: lineage.clone(), element, at: Value::Object(Rc::new(at)), width };
    let picture = Picture { about: Some(Rc::new(about)), ..followed_from(lineage, element, width) };
    Ok(Value::Object(Rc::new(picture)))
}

/// Draws the origin of an element of the expression.
fn followed_from(lineage: &Rc<Lineage>, element: Element, width: usize) -> Picture {
    let trail = lineage.trail(element);
    let mut scene = Scene::new(title(lineage, element));
    explain::origin::calls(&mut scene, call_rows(lineage));
    explain::origin::steps(&mut scene, step_rows(lineage, &trail));
    explain::origin::leaves(&mut scene, leaf_rows(lineage, &trail, &derivatives(lineage, element)));
    notes(&mut scene, lineage, &trail);
    panels(&mut scene, lineage, &trail);
    let chosen = lineage.clone();
    let choose = move |choice| Some(followed_from(&chosen, chosen.chosen(choice)?, width));
    Picture { choose: Some(Rc::new(choose)), ..Picture::of(scene, width) }
}

/// The attributes of a picture of `origin`.
struct Followed {
    lineage: Rc<Lineage>,
    element: Element,
    at: Value,
    width: usize,
}

impl Object for Followed {
    fn own_attribute(&self, name: &str) -> Option<Result<Value>> {
        let lineage = &self.lineage;
        match name {
            "inputs" => Some(Ok(inputs(lineage, &lineage.trail(self.element)))),
            "calls" => Some(Ok(Value::list(call_rows(lineage).into_iter().map(|row| Value::str(row.code))))),
            "at" => Some(Ok(self.at.clone())),
            "steps" => Some(calculation(lineage, self.element).and_then(|found| found.list())),
            "calculation" => Some(
                calculation(lineage, self.element)
                    .map(|found| Value::Object(Rc::new(Picture::of(found.scene(), self.width)))),
            ),
            _ => None,
        }
    }
}

/// Returns how an element was computed, by the call that computed it before the views that show it.
fn calculation(lineage: &Lineage, element: Element) -> Result<Calculation> {
    let mut element = element;
    while let Node::Result { call, output } = element.node {
        let Some(traced) = lineage.calls.get(call) else { break };
        if matches!(traced.reads, Reads::Place) && patterns::is_view(traced) {
            match lineage.reads(element).as_deref() {
                Some([(read, _)]) => element = *read,
                _ => break,
            }
            continue;
        }
        let Some(made) = traced.outputs.get(output) else { break };
        if !traced.tensors.iter().all(TracedTensor::is_unchanged) {
            bail!(RuntimeError, "a later call has changed the tensors of {}()", traced.signature.name);
        }
        let (index, result) = (patterns::index_of(element.number, made.sizes()), Value::Tensor(made.tensor.clone()));
        let found = super::calculation::of(&lineage.state, traced.key, &traced.args, &result, &index)?;
        let names = traced.tensors.iter().map(|tensor| lineage.argument_name(call, &tensor.tensor)).collect();
        return match found {
            Some(found) => Ok(found.with_names(names)),
            None => bail!(ValueError, "{}() computes no number", traced.signature.name),
        };
    }
    bail!(ValueError, "{} was not computed by the expression", lineage.element_name(element))
}

/// `origin(…).at(1, 0)`: the same of another element.
struct At {
    lineage: Rc<Lineage>,
    result: Tensor,
    width: usize,
}

impl Object for At {
    fn type_name(&self) -> &str {
        "builtin_function_or_method"
    }

    fn is_callable(&self) -> bool {
        true
    }

    fn call(&self, args: Vec<Value>, _: Keywords) -> Option<Result<Value>> {
        Some(self.of(&args))
    }
}

impl At {
    fn of(&self, args: &[Value]) -> Result<Value> {
        let sizes = self.result.borrow().layout.sizes.clone();
        draw(&self.lineage, &self.result, number_at(&indices(args)?, &sizes)?, self.width)
    }
}

/// The expression with its value, or the element of it that is followed.
fn title(lineage: &Lineage, element: Element) -> String {
    let (whole, value) = (labels::expression(lineage, element.node), value_of(lineage, element));
    let name = lineage.name(element.node);
    let place = lineage.element_name(element);
    match place.strip_prefix(name.as_str()) {
        Some("") | None => format!("{whole} = {value}"),
        Some(index) if whole == name => format!("{whole}{index} = {value}"),
        Some(index) => format!("element {index} of {whole} = {value}"),
    }
}

/// Reads the index of an element: numbers, or one sequence of them.
fn indices(args: &[Value]) -> Result<Vec<i64>> {
    let index = match args {
        [Value::Int(at)] => Some(vec![*at]),
        [several] => patterns::ints(several),
        args => patterns::ints(&Value::tuple(args.iter().cloned())),
    };
    index.ok_or_else(|| Error::type_error("the index of an element is given as integers, one for each dimension"))
}

fn value_of(lineage: &Lineage, element: Element) -> String {
    match lineage.tensor(element.node) {
        Some(traced) if lineage.is_current(element) => brief_at(traced, element.number),
        // A later call has written over it.
        _ => "?".to_owned(),
    }
}

fn brief_at(traced: &TracedTensor, number: i64) -> String {
    patterns::item(&traced.view, number).map_or("?".to_owned(), explain::brief)
}

/// Says in a word what a call does with elements.
fn in_a_word(call: &TracedCall) -> &'static str {
    match call.reads {
        Reads::Unknown if call.tensors.is_empty() => "makes them",
        Reads::Unknown => "not followed",
        Reads::Nothing => "makes them",
        Reads::Place if patterns::is_view(call) => "a view",
        Reads::Place => "copies",
        Reads::Moved => "moves",
        Reads::Spanned(_, Takes::None) => "compares",
        Reads::Spanned(_, Takes::Equal | Takes::Indexed) => "compares, takes",
        Reads::Spanned(Span::Same, _) => "computes each",
        Reads::Spanned(Span::UpTo, _) => "computes from those before",
        Reads::Spanned(..) => "computes from several",
        Reads::Own(_) => "computes",
    }
}

fn call_rows(lineage: &Lineage) -> Vec<CallRow> {
    let row = |(at, call): (usize, &Rc<TracedCall>)| {
        let output = call.outputs.first().or(call.tensors.first())?;
        Some(CallRow {
            name: format!("#{}", at + 1),
            code: labels::label(lineage, at),
            size: output.sizes().to_vec(),
            dtype: output.view.dtype.name(),
            how: in_a_word(call),
        })
    };
    lineage.calls.iter().enumerate().filter_map(row).collect()
}

fn step_rows(lineage: &Lineage, trail: &Trail) -> Vec<StepRow> {
    let row = |(element, reads): &(Element, Vec<(Element, Part)>)| {
        let named = |part: Part| -> Vec<String> {
            let of_part: Vec<Element> = reads.iter().filter(|(_, how)| *how == part).map(|(read, _)| *read).collect();
            runs(lineage, &of_part).into_iter().map(|run| run.name).collect()
        };
        StepRow {
            element: lineage.element_name(*element),
            value: value_of(lineage, *element),
            reads: named(Part::Taken),
            compared: named(Part::Compared),
        }
    };
    trail.steps.iter().map(row).collect()
}

fn leaf_rows(lineage: &Lineage, trail: &Trail, derivatives: &HashMap<Node, View>) -> Vec<LeafRow> {
    let derivative = |leaf: &Leaf| {
        let by_input = derivatives.get(&leaf.element.node)?;
        patterns::item(by_input, leaf.element.number).map(explain::brief)
    };
    let cell = |leaf: &Leaf| place_of(&lineage.tensor(leaf.element.node)?.view, leaf.element.number);
    let elements: Vec<Element> = trail.leaves.iter().map(|leaf| leaf.element).collect();
    let mut rows = Vec::new();
    for run in runs(lineage, &elements) {
        let leaves = trail.leaves.get(run.range.clone()).unwrap_or_default();
        // Elements of a run are read in turn, once and in the same way.
        let is_even = leaves.windows(2).all(|pair| {
            let [a, b] = pair else { return true };
            a.part == b.part && matches!((a.readings.as_slice(), b.readings.as_slice()), ([a], [b]) if a + 1 == *b)
        });
        let (Some(first), Some(last)) = (leaves.first(), leaves.last()) else { continue };
        let same = leaves.iter().all(|leaf| derivative(leaf) == derivative(first));
        if leaves.len() > 1 && is_even && same {
            let readings = first.readings.iter().chain(&last.readings);
            rows.push(LeafRow {
                element: run.name,
                value: format!("{} to {}", value_of(lineage, first.element), value_of(lineage, last.element)),
                cell: format!("@{} to @{}", cell(first).unwrap_or_default(), cell(last).unwrap_or_default()),
                readings: readings.map(usize::to_string).collect::<Vec<_>>().join(" to "),
                is_taken: first.part == Part::Taken,
                derivative: derivative(first),
            });
            continue;
        }
        rows.extend(leaves.iter().map(|leaf| LeafRow {
            element: lineage.element_name(leaf.element),
            value: value_of(lineage, leaf.element),
            cell: format!("@{}", cell(leaf).unwrap_or_default()),
            readings: explain::origin::order(&leaf.readings),
            is_taken: leaf.part == Part::Taken,
            derivative: derivative(leaf),
        }));
    }
    rows
}

/// Elements next to each other in one dimension, as a slice of it: `x[1, 0:3]`.
struct Run {
    name: String,
    range: Range<usize>,
}

/// The fewest elements that are written as a slice.
const SLICED: usize = 4;

/// Divides elements, in the order of reading, into runs.
fn runs(lineage: &Lineage, elements: &[Element]) -> Vec<Run> {
    let single =
        |at: usize| -> Option<Run> { Some(Run { name: lineage.element_name(*elements.get(at)?), range: at..at + 1 }) };
    let (mut found, mut start) = (Vec::new(), 0);
    while let Some(first) = elements.get(start) {
        let sizes = lineage.tensor(first.node).map(|traced| Dims::from_slice(traced.sizes())).unwrap_or_default();
        let index = |element: &Element| patterns::index_of(element.number, &sizes);
        let from = index(first);
        // The dimension in which the second element follows the first.
        let dim = elements.get(start + 1).filter(|next| next.node == first.node).and_then(|next| {
            let next = index(next);
            let dim = from.iter().zip(&next).position(|(a, b)| a != b)?;
            let mut step = from.clone();
            *step.get_mut(dim)? += 1;
            (step == next).then_some(dim)
        });
        let mut end = start + 1;
        if let Some(dim) = dim {
            let stride: i64 = sizes.get(dim + 1..).unwrap_or_default().iter().product();
            let room =
                sizes.get(dim).zip(from.get(dim)).map_or(0, |(size, at)| usize::try_from(size - at).unwrap_or(0));
            while end - start < room
                && elements.get(end).is_some_and(|next| {
                    next.node == first.node && next.number == first.number + (end - start) as i64 * stride
                })
            {
                end += 1;
            }
            if end - start >= SLICED {
                let parts = from.iter().enumerate().map(|(d, at)| match d == dim {
                    true => format!("{at}:{}", at + (end - start) as i64),
                    false => at.to_string(),
                });
                let name = format!("{}[{}]", lineage.name(first.node), parts.collect::<Vec<_>>().join(", "));
                found.push(Run { name, range: start..end });
                start = end;
                continue;
            }
        }
        found.extend((start..end).filter_map(single));
        start = end;
    }
    found
}

/// Says that the expression made more calls than are recorded, if it did.
fn note_cut(scene: &mut Scene, lineage: &Lineage) {
    if lineage.is_cut {
        let text = format!("Only the first {MOST_CALLS} calls were recorded; what later ones made counts as an input.");
        scene.note(explain::Ink::Fault, text);
    }
}

fn notes(scene: &mut Scene, lineage: &Lineage, trail: &Trail) {
    note_cut(scene, lineage);
    for element in trail.unknown.iter().take(3) {
        let Node::Result { call, .. } = element.node else { continue };
        let Some(traced) = lineage.calls.get(call) else { continue };
        let name = traced.signature.name;
        let text = match traced.tensors.is_empty() {
            true => format!("{} was made by {name}(), which reads no tensor.", lineage.element_name(*element)),
            false => format!("{name}() is not described element by element; what it read is not known."),
        };
        scene.note(explain::Ink::Unused, text);
    }
    if let [leaf] = trail.leaves.as_slice()
        && lineage.calls.is_empty()
    {
        let others = lineage.elements_at(leaf.element);
        if !others.is_empty() {
            let text = format!("{} is in the same cell.", others.join(", "));
            scene.note(explain::Ink::Plain, text);
        }
        let graph = graph(lineage, leaf.element);
        if !graph.is_empty() {
            scene.note(explain::Ink::Plain, format!("Its graph, the last call first: {}.", graph.join(", ")));
        }
    }
    if trail.is_cut {
        scene.note(explain::Ink::Unused, "There are too many elements to follow them all; those beyond are left out.");
    }
}

/// The most calls of a graph that are named.
const MOST_NAMED: usize = 8;

/// Returns the calls that the graph of a tensor remembers.
fn graph(lineage: &Lineage, element: Element) -> Vec<String> {
    let made = lineage.tensor(element.node);
    let mut next = made.and_then(|made| autograd::grad_fn(&made.tensor).ok().flatten()).map(|(node, _)| node);
    let mut names = Vec::new();
    while let Some(node) = next.filter(|_| names.len() < MOST_NAMED) {
        names.push(node.name());
        next = node.next_functions().into_iter().find_map(|(node, _)| node);
    }
    names
}

/// The most calls whose results are all drawn.
const ALL_DRAWN: usize = 6;

/// The most calls through which axes are followed.
const MOST_LETTERED: usize = 64;

/// The distance between the numbers of cells of two storages.
const APART: i64 = 1 << 40;

/// The inputs with the elements that were read, and the results with those that were followed.
fn panels(scene: &mut Scene, lineage: &Lineage, trail: &Trail) {
    let mut marks: BTreeMap<Node, BTreeMap<i64, Mark>> = BTreeMap::new();
    for (element, _) in &trail.steps {
        let Some(call) = element.node.call() else { continue };
        let is_last = trail.steps.first().is_some_and(|(first, _)| first.node == element.node);
        if is_last || lineage.calls.len() <= ALL_DRAWN && call < lineage.calls.len() {
            let mark = Mark { readings: Vec::new(), is_taken: true };
            marks.entry(element.node).or_default().insert(element.number, mark);
        }
    }
    // A number alone says no more than the tables.
    marks.retain(|node, _| matches!(node, Node::Input(_)) || lineage.tensor(*node).is_some_and(|t| t.view.numel() > 1));
    for leaf in &trail.leaves {
        let mark = Mark { readings: leaf.readings.clone(), is_taken: leaf.part == Part::Taken };
        marks.entry(leaf.element.node).or_default().insert(leaf.element.number, mark);
    }
    let calls: BTreeSet<usize> = trail.steps.iter().filter_map(|(element, _)| element.node.call()).collect();
    let axes = if calls.len() <= MOST_LETTERED { Axes::new(lineage, calls.into_iter()) } else { Axes::default() };
    let mut storages: Vec<Storage> = Vec::new();
    for (node, marks) in marks {
        let Some(traced) = lineage.tensor(node) else { continue };
        let known = storages.iter().position(|storage| *storage == traced.view.storage);
        let storage = known.unwrap_or(storages.len()) as i64;
        if known.is_none() {
            storages.push(traced.view.storage.clone());
        }
        let panel = Panel {
            title: title_of(lineage, node),
            sizes: traced.sizes().to_vec(),
            axes: axes.of(node),
            marks,
            value: Box::new(move |number| value_of(lineage, Element { node, number })),
            // Cells of different storages are not lit together.
            cell: Box::new(move |number| place_of(&traced.view, number).unwrap_or_default() + APART * storage),
            choices: lineage.choices(node),
        };
        explain::origin::panel(scene, &panel);
    }
}

fn title_of(lineage: &Lineage, node: Node) -> String {
    match node {
        Node::Result { call, .. } => format!("{} = {}", lineage.name(node), labels::label(lineage, call)),
        Node::Input(_) => lineage.name(node),
    }
}

/// The elements of inputs as dictionaries, for scripts.
fn inputs(lineage: &Lineage, trail: &Trail) -> Value {
    let entry = |leaf: &Leaf| {
        let traced = lineage.tensor(leaf.element.node)?;
        let index = patterns::index_of(leaf.element.number, traced.sizes());
        let readings = leaf.readings.iter().map(|at| Value::Int(*at as i64));
        Some(Value::Dict(Dict::of_names([
            ("name", Value::str(lineage.name(leaf.element.node))),
            ("index", Value::tuple(index.iter().copied().map(Value::Int))),
            ("cell", Value::Int(place_of(&traced.view, leaf.element.number).unwrap_or_default())),
            ("readings", Value::list(readings)),
            ("taken", Value::Bool(leaf.part == Part::Taken)),
        ])))
    };
    Value::list(trail.leaves.iter().filter_map(entry))
}

/// The most elements of the expression whose readings are searched for one element.
const MOST_SEARCHED: i64 = 1 << 20;

fn readers(call: &mut Call) -> Result<Value> {
    let (wanted, result) = (call.tensor(0)?.clone(), followed(&call.value(1), "readers")?);
    if wanted.borrow().numel() != 1 {
        bail!(ValueError, "readers() follows one element; the first argument has {}", wanted.borrow().numel());
    }
    let mut calls = call.state.trace.end();
    // The expression of the element itself, such as `x[1, 2]`, is not part of the other.
    let is_wanted = |call: &Rc<TracedCall>| call.outputs.iter().any(|output| output.tensor.is(&wanted));
    if let Some(own) = calls.iter().position(is_wanted) {
        calls.drain(..=own);
    }
    let lineage = Lineage::new(call.state, calls, &result);
    let wanted_at = TracedTensor::new(&wanted);
    let (view, item) = (&wanted_at.view, wanted_at.view.dtype.itemsize() as i64);
    let byte = view.layout.offset.saturating_mul(item);
    // The element itself may be a view of a variable, `x[1, 2]`, that the expression uses as a whole.
    let mut reached: BTreeMap<Element, Part> = BTreeMap::new();
    for (at, input) in lineage.inputs.iter().enumerate() {
        let index = (input.view.storage == view.storage).then(|| explain::Shown::of_view(&input.view).index_at(byte));
        if let Some(index) = index.flatten() {
            let number = number_of(&index, input.sizes());
            reached.insert(Element { node: Node::Input(at), number }, Part::Taken);
        }
    }
    let starts: Vec<Element> = reached.keys().copied().collect();
    let mut scene = Scene::new(format!("What was made of {}", in_words(&lineage, &starts, &wanted_at)));
    let (mut searched, mut unknown) = (0, Vec::new());
    let mut panels: Vec<(Node, BTreeMap<i64, Mark>)> = Vec::new();
    let mut rows = Vec::new();
    for (at, traced) in lineage.calls.iter().enumerate() {
        for (output, made) in traced.outputs.iter().enumerate() {
            let count = made.view.numel();
            searched += count;
            if searched > MOST_SEARCHED {
                bail!(ValueError, "readers() searches up to {MOST_SEARCHED} elements; the expression has more");
            }
            let node = Node::Result { call: at, output };
            let mut marks = BTreeMap::new();
            for number in 0..count {
                tensor::interrupt::check()?;
                let element = Element { node, number };
                let Some(reads) = lineage.reads(element) else {
                    unknown.push(traced.signature.name);
                    break;
                };
                let how = reads.iter().filter_map(|(read, part)| Some(*reached.get(read)?.max(part))).min();
                let times = reads.iter().filter(|(read, _)| reached.contains_key(read)).count();
                if let Some(how) = how {
                    reached.insert(element, how);
                    marks.insert(number, Mark { readings: vec![times], is_taken: how == Part::Taken });
                    rows.push((element, times, how));
                }
            }
            if !marks.is_empty() {
                panels.push((node, marks));
            }
        }
    }
    explain::origin::calls(&mut scene, call_rows(&lineage));
    let elements: Vec<Value> = rows.iter().filter_map(|row| reader(&lineage, *row)).collect();
    let rows = rows.into_iter().map(|(element, times, how)| explain::origin::ReaderRow {
        element: lineage.element_name(element),
        value: value_of(&lineage, element),
        times,
        is_taken: how == Part::Taken,
    });
    explain::origin::readers(&mut scene, rows.collect());
    note_cut(&mut scene, &lineage);
    unknown.dedup();
    for name in unknown {
        scene.note(
            explain::Ink::Unused,
            format!("{name}() is not described element by element; what it read is not known."),
        );
    }
    let about = Readers(Value::list(elements));
    Ok(Value::Object(Rc::new(Picture { about: Some(Rc::new(about)), ..Picture::of(scene, width(call)?) })))
}

/// The attribute of a picture of `readers`.
struct Readers(Value);

impl Object for Readers {
    fn attribute(&self, name: &str) -> Option<Value> {
        (name == "elements").then(|| self.0.clone())
    }
}

/// An element that read the one asked for as a dictionary, for scripts.
fn reader(lineage: &Lineage, (element, times, how): (Element, usize, Part)) -> Option<Value> {
    let index = patterns::index_of(element.number, lineage.tensor(element.node)?.sizes());
    Some(Value::Dict(Dict::of_names([
        ("name", Value::str(lineage.name(element.node))),
        ("index", Value::tuple(index.iter().copied().map(Value::Int))),
        ("times", Value::Int(times as i64)),
        ("taken", Value::Bool(how == Part::Taken)),
    ])))
}

fn in_words(lineage: &Lineage, starts: &[Element], wanted: &TracedTensor) -> String {
    let names: Vec<String> = starts.iter().map(|element| lineage.element_name(*element)).collect();
    match names.is_empty() {
        true => format!("{}, which the expression does not use", brief_at(wanted, 0)),
        false => format!("{} = {}", names.join(", "), brief_at(wanted, 0)),
    }
}
