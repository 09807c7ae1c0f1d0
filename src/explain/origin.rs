//! Draws where the elements of a result come from: the calls, what each element was read from, and the tensors with the
//! elements that were read.

use super::residents::index_of;
use super::scene::{Block, Ink, Lane, Scene, Strip, Table, list, span};
use std::collections::{BTreeMap, BTreeSet};

/// The most rows and columns of a panel, and elements in a cell of a table.
const MOST_SHOWN: usize = 6;
/// The most rows of a table.
const MOST_ROWS: usize = 24;
/// The most readings listed for one element.
const MOST_READINGS: usize = 6;

/// A call of the expression, as its table shows it.
pub struct CallRow {
    pub name: String,
    pub code: String,
    pub size: Vec<i64>,
    pub dtype: &'static str,
    /// What it does with elements: "moves", "a view".
    pub how: &'static str,
}

/// An element, and what was read for it.
pub struct StepRow {
    pub element: String,
    pub value: String,
    pub reads: Vec<String>,
    /// What only decided.
    pub compared: Vec<String>,
}

/// What was read of an input.
pub struct LeafRow {
    /// The element, or a slice of elements that were read in turn.
    pub element: String,
    pub value: String,
    /// The position in the storage, in elements.
    pub cell: String,
    pub readings: String,
    pub is_taken: bool,
    /// The derivative of the result by it, if gradients are recorded.
    pub derivative: Option<String>,
}

/// An element of a panel that was read.
pub struct Mark {
    /// Empty for an element of a step.
    pub readings: Vec<usize>,
    pub is_taken: bool,
}

/// A tensor with the elements that were read.
pub struct Panel<'p> {
    pub title: String,
    pub sizes: Vec<i64>,
    /// The letters of the axes: one for an axis, in whichever tensor it is.
    pub axes: Vec<String>,
    /// The elements that were read, by their number in row-major order.
    pub marks: BTreeMap<i64, Mark>,
    /// Returns the value of an element.
    pub value: Box<dyn Fn(i64) -> String + 'p>,
    /// Returns a number for the place of an element, equal for elements in the same place.
    pub cell: Box<dyn Fn(i64) -> i64 + 'p>,
    /// The number of the first element among all that can be chosen. `None` if the elements cannot be followed.
    pub choices: Option<usize>,
}

/// Adds the table of the calls.
pub fn calls(scene: &mut Scene, rows: Vec<CallRow>) {
    if rows.is_empty() {
        return;
    }
    scene.heading("Calls");
    let (count, most) = (rows.len(), MOST_ROWS);
    let rows = rows.into_iter().take(most).map(|row| {
        vec![
            span(Ink::Label, row.name),
            span(Ink::Plain, row.code),
            span(Ink::Plain, format!("{} {}", row.dtype, list(&row.size))),
            span(Ink::Plain, row.how),
        ]
    });
    let table = Table { head: vec!["call", "code", "result", "elements"], rows: rows.collect() };
    scene.blocks.push(Block::Table(table));
    left_out(scene, count, "calls");
}

/// Adds the table of the elements that were followed.
pub fn steps(scene: &mut Scene, rows: Vec<StepRow>) {
    if rows.is_empty() {
        return;
    }
    scene.heading("Element by element");
    let count = rows.len();
    let has_compared = rows.iter().any(|row| !row.compared.is_empty());
    let rows = rows.into_iter().take(MOST_ROWS).map(|row| {
        let mut cells =
            vec![span(Ink::Label, row.element), span(Ink::Plain, row.value), span(Ink::Plain, shortened(&row.reads))];
        cells.extend(has_compared.then(|| span(Ink::Shared, shortened(&row.compared))));
        cells
    });
    let mut head = vec!["element", "value", "taken from"];
    head.extend(has_compared.then_some("compared or used as index"));
    scene.blocks.push(Block::Table(Table { head, rows: rows.collect() }));
    left_out(scene, count, "elements");
}

/// Adds the table of the elements of inputs.
pub fn leaves(scene: &mut Scene, rows: Vec<LeafRow>) {
    if rows.is_empty() {
        return;
    }
    scene.heading("Read from the inputs");
    let count = rows.len();
    let has_derivatives = rows.iter().any(|row| row.derivative.is_some());
    let rows = rows.into_iter().take(MOST_ROWS).map(|row| {
        let ink = if row.is_taken { Ink::Shown } else { Ink::Shared };
        let mut cells = vec![
            span(ink, row.element),
            span(Ink::Plain, row.value),
            span(Ink::Plain, row.cell),
            span(Ink::Plain, row.readings),
            span(ink, if row.is_taken { "taken" } else { "compared" }),
        ];
        cells.extend(has_derivatives.then(|| span(Ink::Plain, row.derivative.unwrap_or_default())));
        cells
    });
    let mut head = vec!["element", "value", "cell", "read as number", "and"];
    head.extend(has_derivatives.then_some("derivative"));
    scene.blocks.push(Block::Table(Table { head, rows: rows.collect() }));
    left_out(scene, count, "elements");
}

fn left_out(scene: &mut Scene, count: usize, what: &str) {
    if count > MOST_ROWS {
        scene.note(Ink::Unused, format!("{} more {what} are left out.", count - MOST_ROWS));
    }
}

fn shortened(parts: &[String]) -> String {
    let shown = parts.iter().take(MOST_SHOWN).map(String::as_str).collect::<Vec<_>>().join(", ");
    match parts.len().saturating_sub(MOST_SHOWN) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// `1, 3`, with how many more there are.
pub fn order(readings: &[usize]) -> String {
    let shown = readings.iter().take(MOST_READINGS).map(usize::to_string).collect::<Vec<_>>().join(", ");
    match readings.len().saturating_sub(MOST_READINGS) {
        0 => shown,
        more => format!("{shown} and {more} more times"),
    }
}

/// Returns the ink of an axis, by its letter.
fn ink_of(axis: Option<&String>) -> Ink {
    let letter = axis.and_then(|axis| <[u8; 1]>::try_from(axis.as_bytes()).ok());
    let at = letter.and_then(|[letter]| letter.checked_sub(b'a')).map(usize::from);
    at.and_then(|at| Ink::SERIES.get(at % Ink::SERIES.len())).copied().unwrap_or(Ink::Label)
}

/// Gives a lane a name whose parts are about axes.
fn name_axes(lane: &mut Lane, parts: &[String], between: &str, axes: &[String]) {
    lane.name.push_str(&parts.join(between));
    for (at, part) in parts.iter().enumerate() {
        let gap = if at == 0 { 0 } else { between.chars().count() };
        lane.tints.extend(std::iter::repeat_n(Ink::Label, gap));
        lane.tints.extend(part.chars().map(|_| ink_of(axes.get(at))));
    }
}

/// Adds a tensor as a table of its last dimension, with the number of the reading behind each element that was read: `4
/// ←1,3`. A dot marks the elements of steps that were followed. Of a large tensor, the rows and columns with marks are
/// shown. The numbers of an axis have its colour, and its letter stands in the corner.
pub fn panel(scene: &mut Scene, panel: &Panel) {
    let (leading, last) = match panel.sizes.split_last() {
        Some((last, leading)) => (leading, *last),
        None => (&panel.sizes[..0], 1),
    };
    let count: i64 = leading.iter().product();
    if count == 0 || last == 0 {
        return;
    }
    let rows = chosen(count, panel.marks.keys().map(|number| number / last));
    let columns = chosen(last, panel.marks.keys().map(|number| number % last));
    let mut ruler = Lane::ruler("");
    if panel.axes.is_empty() {
        ruler.name = "index".to_owned();
    }
    name_axes(&mut ruler, &panel.axes, " ", &panel.axes);
    for column in &columns {
        let ink = ink_of(panel.axes.last());
        ruler.push(1, ink, column.map_or("…".to_owned(), |column| column.to_string()));
    }
    let mut lanes = vec![ruler];
    for row in rows {
        let Some(row) = row else {
            let mut lane = Lane::framed("…");
            columns.iter().for_each(|_| lane.push(1, Ink::Unused, "…"));
            lanes.push(lane);
            continue;
        };
        let index: Vec<String> = index_of(row, leading).iter().map(i64::to_string).collect();
        let mut lane = Lane::framed("");
        name_axes(&mut lane, &index, ",", &panel.axes);
        for column in &columns {
            let Some(column) = column else {
                lane.push(1, Ink::Unused, "…");
                continue;
            };
            let number = row * last + column;
            let (value, cell) = ((panel.value)(number), (panel.cell)(number));
            let at = list(&index_of(number, &panel.sizes));
            let (ink, text, about) = match panel.marks.get(&number) {
                None => (Ink::Unused, value.clone(), format!("Element {at} is {value} and was not read.")),
                Some(mark) if mark.readings.is_empty() => {
                    (Ink::Shown, format!("{value} •"), format!("Element {at} is {value} and was followed."))
                }
                Some(mark) if mark.is_taken => {
                    let order = order(&mark.readings);
                    let text = format!("{value} ←{}", order.replace(", ", ","));
                    (Ink::Shown, text, format!("Element {at} is {value} and was read as number {order}."))
                }
                Some(_) => {
                    (Ink::Shared, format!("{value} ?"), format!("Element {at} is {value} and was only compared."))
                }
            };
            lane.push_at(cell, ink, text, about);
            if let (Some(first), Some(item)) = (panel.choices, lane.items.last_mut()) {
                item.choice = usize::try_from(number).ok().map(|number| first + number);
            }
        }
        lanes.push(lane);
    }
    scene.heading(panel.title.as_str());
    scene.blocks.push(Block::Strip(Strip { lanes }));
}

/// Chooses which of `count` rows or columns are shown: the first ones with marks, and others as far as there is room.
/// `None` stands for a gap.
fn chosen(count: i64, marked: impl Iterator<Item = i64>) -> Vec<Option<i64>> {
    let marked: BTreeSet<i64> = marked.collect();
    let mut shown: BTreeSet<i64> = marked.into_iter().take(MOST_SHOWN).collect();
    for other in (0..count).take(MOST_SHOWN) {
        if shown.len() < MOST_SHOWN {
            shown.insert(other);
        }
    }
    let mut with_gaps = Vec::new();
    let mut next = 0;
    for at in shown {
        with_gaps.extend((at > next).then_some(None));
        with_gaps.push(Some(at));
        next = at + 1;
    }
    with_gaps.extend((next < count).then_some(None));
    with_gaps
}

/// An element that read the one asked for.
pub struct ReaderRow {
    pub element: String,
    pub value: String,
    pub times: usize,
    pub is_taken: bool,
}

/// Adds the table of the elements that read one.
pub fn readers(scene: &mut Scene, rows: Vec<ReaderRow>) {
    if rows.is_empty() {
        scene.note(Ink::Plain, "No element of the expression was made of it.");
        return;
    }
    scene.heading("Elements that read it");
    let count = rows.len();
    let rows = rows.into_iter().take(MOST_ROWS).map(|row| {
        let ink = if row.is_taken { Ink::Shown } else { Ink::Shared };
        vec![
            span(ink, row.element),
            span(Ink::Plain, row.value),
            span(Ink::Plain, if row.times == 1 { "once".to_owned() } else { format!("{} times", row.times) }),
            span(ink, if row.is_taken { "taken" } else { "compared" }),
        ]
    });
    scene.blocks.push(Block::Table(Table { head: vec!["element", "value", "read", "and"], rows: rows.collect() }));
    left_out(scene, count, "elements");
}
