//! Two tensors or arrays beside each other: what is the same, what differs, and how the second came about. Elements that
//! lie in the same place of the storage have the same letter and colour in all drawings.

use super::aliases::{Holder, numbered};
use super::bytes::Reading;
use super::element::brief;
use super::residents::{index_of, place_at};
use super::scene::index_text;
use super::scene::{Block, Ink, Lane, Scene, Strip, Table, byte_count, counted, list, span, tuple};
use super::shown::Shown;
use super::steps::{Told, told};
use super::tensors::shown_indices;
use std::collections::BTreeSet;
use tensor::memory::get;
use tensor::{DType, Layout, Memory, Storage, Tensor, View};
use value::{ArrayMemory, Value};

/// The maximum number of stages drawn on the way from the first to the second.
const STAGES: usize = 6;
/// The maximum number of elements whose bytes are compared one by one.
const COMPARED: i64 = 4096;

/// One of the two.
pub struct Side {
    name: Option<String>,
    storage: Storage,
    seen: Seen,
    /// How a tensor came about.
    told: Vec<Told>,
}

/// How a tensor came about.
pub struct History(Vec<Told>);

/// Elements of a storage, with the layout as their kind prints it.
#[derive(Clone)]
struct Seen {
    shown: Shown,
    reading: Reading,
    /// In elements for a tensor, in bytes for an array.
    layout: Layout,
    is_array: bool,
}

impl Seen {
    fn of_view(view: &View) -> Seen {
        let (shown, reading) = (Shown::of_view(view), Reading::native(view.dtype));
        Seen { shown, reading, layout: view.layout.clone(), is_array: false }
    }

    fn numbers(&self, numbers: &[i64]) -> String {
        if self.is_array { tuple(numbers) } else { list(numbers) }
    }

    /// Returns the number that a position is shown by: a cell for a tensor, a byte for an array.
    fn place(&self, byte: i64) -> i64 {
        if self.is_array { byte } else { byte / self.itemsize() }
    }

    fn itemsize(&self) -> i64 {
        self.shown.itemsize.max(1) as i64
    }
}

impl Side {
    /// Returns the side of a tensor, with its name if a variable holds it.
    pub fn of_tensor(tensor: &Tensor, holders: &[Holder]) -> Side {
        let view = tensor.view();
        let name = holders.iter().find(|holder| holder.class.is_empty() && holder.identity == tensor.identity());
        let name = name.map(|holder| holder.name.clone());
        Side { name, storage: view.storage.clone(), seen: Seen::of_view(&view), told: told(tensor) }
    }

    /// Returns the side of an array, which `value` holds.
    pub fn of_array(array: &ArrayMemory, value: &Value, holders: &[Holder]) -> Side {
        let address = value.address();
        let name = holders.iter().find(|holder| holder.class == "ndarray" && Some(holder.identity) == address);
        let (shown, reading) = (Shown::of_array(array), Reading::of_array(array));
        let seen = Seen { shown, reading, layout: array.layout.clone(), is_array: true };
        Side { name: name.map(|holder| holder.name.clone()), storage: array.storage.clone(), seen, told: Vec::new() }
    }

    /// Returns how the side came about, which holds no memory.
    pub fn history(self) -> History {
        History(self.told)
    }

    /// Gives a side a history, unless it has its own. What replaces a tensor that no longer exists has none.
    pub fn after(mut self, history: &History) -> Side {
        if self.told.is_empty() {
            self.told.clone_from(&history.0);
        }
        self
    }

    fn title(&self, fallback: &str) -> String {
        let Seen { shown, layout, is_array, .. } = &self.seen;
        let kind = if *is_array { "array of shape" } else { "tensor of size" };
        let count = counted(layout.numel().unsigned_abs(), "element");
        let name = self.name.as_deref().unwrap_or(fallback);
        format!("{name}, {} {kind} {}: {count}", shown.dtype, self.seen.numbers(&layout.sizes))
    }
}

/// Returns the scene of two tensors or arrays.
pub fn scene(first: &Side, second: &Side) -> Scene {
    let is_shared = numbered(&[first.storage.clone(), second.storage.clone()]) == [0, 0];
    let on = if is_shared { "one storage" } else { "two storages" };
    let names = [first, second].map(|side| side.name.as_deref());
    let mut scene = Scene::new(match names {
        [Some(first), Some(second)] => format!("{first} and {second} are on {on}"),
        _ => format!("The two are on {on}"),
    });
    scene.blocks.push(Block::Table(differences(first, second, is_shared)));
    let drawing = Drawing { first, is_shared };
    scene.heading(first.title("the first"));
    drawing.grid(&mut scene, &first.storage, &first.seen);
    for (step, seen) in stages(first, second, is_shared) {
        match seen {
            Some(seen) => {
                scene.heading(step);
                drawing.grid(&mut scene, &second.storage, &seen);
            }
            None => {
                let step = if step.is_empty() { String::new() } else { format!(". {step}") };
                scene.heading(format!("{}{step}", second.title("the second")));
                drawing.grid(&mut scene, &second.storage, &second.seen);
            }
        }
    }
    let what = if first.seen.layout.ndim() > 1 { "a row" } else { "an element" };
    let mut legend = format!("A letter stands for {what} of the first, @ for the place in the storage");
    if !is_shared || has_others(&scene) {
        legend.push_str("; · is not in the first");
    }
    scene.note(Ink::Label, legend);
    scene
}

/// Returns whether a drawing has an element that the first does not have.
fn has_others(scene: &Scene) -> bool {
    let strips =
        scene.blocks.iter().filter_map(|block| if let Block::Strip(strip) = block { Some(strip) } else { None });
    strips.flat_map(|strip| &strip.lanes).flat_map(|lane| &lane.items).any(|item| item.text.contains('·'))
}

/// Compares both line by line.
fn differences(first: &Side, second: &Side, is_shared: bool) -> Table {
    let (a, b) = (&first.seen, &second.seen);
    let mut table = Table { head: vec!["", "first", "second", ""], rows: Vec::new() };
    let mut row = |name: &str, a: String, b: String, is_same: bool, more: &str| {
        let (ink, so) = if is_same { (Ink::Good, "the same") } else { (Ink::Shared, "differs") };
        table.rows.push(vec![
            span(Ink::Label, name),
            span(Ink::Plain, a),
            span(Ink::Plain, b),
            span(ink, format!("{so}{more}")),
        ]);
    };
    let nbytes = |side: &Side| byte_count(side.storage.nbytes() as u64);
    let more = if is_shared { "" } else { ": no write into one changes the other" };
    row("storage", nbytes(first), nbytes(second), is_shared, more);
    row("dtype", a.shown.dtype.clone(), b.shown.dtype.clone(), a.shown.dtype == b.shown.dtype, "");
    row("size", a.numbers(&a.layout.sizes), b.numbers(&b.layout.sizes), a.layout.sizes == b.layout.sizes, "");
    // An array counts bytes, a tensor elements: what is compared are bytes.
    let is_same = a.shown.layout.strides == b.shown.layout.strides;
    row("stride", a.numbers(&a.layout.strides), b.numbers(&b.layout.strides), is_same, "");
    let is_same = a.shown.layout.offset == b.shown.layout.offset;
    row("offset", a.layout.offset.to_string(), b.layout.offset.to_string(), is_same, "");
    if is_shared && let Some((own, other, common)) = common_bytes(first, second) {
        let more = match common {
            0 => ": none in common, so no write into one changes the other".to_owned(),
            common => format!(": a write into the {common} in common changes both"),
        };
        row("bytes shown", own.to_string(), other.to_string(), common == own && common == other, &more);
    }
    table
}

/// Counts the bytes that each shows, and those that both show. `None` if there are too many.
fn common_bytes(first: &Side, second: &Side) -> Option<(u64, u64, u64)> {
    let bytes = |side: &Side| -> Option<BTreeSet<i64>> {
        let Shown { layout, itemsize, .. } = &side.seen.shown;
        let base = side.storage.data_ptr() as i64;
        let starts = (layout.numel() <= COMPARED).then(|| layout.offsets())?;
        Some(starts.flat_map(|at| base + at..base + at + *itemsize as i64).collect())
    };
    let (own, other) = (bytes(first)?, bytes(second)?);
    Some((own.len() as u64, other.len() as u64, own.intersection(&other).count() as u64))
}

/// Returns what to draw after the first: each stage on the way to the second with what the step did, and last the second
/// itself, which is `None`.
fn stages(first: &Side, second: &Side, is_shared: bool) -> Vec<(String, Option<Seen>)> {
    let told: &[Told] = if is_shared { &second.told } else { &[] };
    let is_first = |layout: &Layout, dtype: DType| {
        !first.seen.is_array
            && first.storage == second.storage
            && first.seen.layout == *layout
            && first.seen.reading.dtype == dtype
    };
    // What came before the first is not on the way.
    let from = told.iter().rposition(|stage| is_first(&stage.layout, stage.dtype)).map_or(0, |at| at + 1);
    let from = from.max(told.len().saturating_sub(STAGES));
    let count = told.len();
    let mut all: Vec<(String, Option<Seen>)> = Vec::new();
    for (i, stage) in told.iter().enumerate().skip(from) {
        let step = format!("{}: {}", stage.name, stage.effect);
        if i + 1 == count {
            all.push((step, None));
            break;
        }
        let view = View {
            storage: second.storage.clone(),
            layout: stage.layout.clone(),
            dtype: stage.dtype,
            conj: false,
            neg: false,
            form: None,
        };
        all.push((step, Some(Seen::of_view(&view))));
    }
    if all.is_empty() {
        all.push((String::new(), None));
    }
    all
}

/// Draws elements in the letters and inks of the first.
struct Drawing<'a> {
    first: &'a Side,
    is_shared: bool,
}

impl Drawing<'_> {
    /// Returns the row of the first that has an element at a byte of a storage: the number of the element if there is one
    /// dimension.
    fn row(&self, storage: &Storage, byte: i64) -> Option<i64> {
        if !self.is_shared {
            return (*storage == self.first.storage).then(|| self.row_at(byte)).flatten();
        }
        let address = byte.saturating_add_unsigned(storage.data_ptr() as u64);
        self.row_at(address.saturating_sub_unsigned(self.first.storage.data_ptr() as u64))
    }

    fn row_at(&self, byte: i64) -> Option<i64> {
        let shown = &self.first.seen.shown;
        let (_, found) = shown.at(byte).last()?;
        let (index, sizes) = match found.first.split_last() {
            Some((_, leading)) if !leading.is_empty() => (leading, shown.layout.sizes.as_slice()),
            _ => return Some(found.first.first().copied().unwrap_or_default()),
        };
        Some(index.iter().zip(sizes).fold(0, |row, (at, size)| row * size + at))
    }

    /// Adds elements by index: the last dimension horizontally, all others vertically.
    fn grid(&self, scene: &mut Scene, storage: &Storage, seen: &Seen) {
        let layout = &seen.shown.layout;
        let memory = storage.data().ok();
        if layout.numel() == 0 {
            scene.note(Ink::Plain, "There are no elements.");
            return;
        }
        let (across, leading) = match layout.sizes.split_last() {
            Some((across, leading)) => (*across, leading),
            None => (1, &[][..]),
        };
        let columns = shown_indices(across);
        let mut ruler = Lane::ruler("index");
        for column in &columns {
            ruler.push(1, Ink::Label, column.map_or("…".to_owned(), |column| column.to_string()));
        }
        let mut lanes = vec![ruler];
        for row in shown_indices(leading.iter().product()) {
            let mut index = row.map(|row| index_of(row, leading)).unwrap_or_default();
            let name = if leading.is_empty() { String::new() } else { index_text(&index) };
            let mut lane = Lane::framed(row.map_or("…".to_owned(), |_| name));
            if layout.ndim() > 0 {
                index.push(0);
            }
            for column in &columns {
                let (Some(column), Some(_)) = (column, row) else {
                    lane.push(1, Ink::Unused, "…");
                    continue;
                };
                if let Some(last) = index.last_mut() {
                    *last = *column;
                }
                let byte = place_at(layout, &index);
                let (ink, letter) = match self.row(storage, byte) {
                    Some(row) => (Ink::SERIES[row as usize % Ink::SERIES.len()], letter(row)),
                    None => (Ink::Unused, "·".to_owned()),
                };
                let value = memory.as_deref().and_then(|memory| read(memory, byte, seen)).unwrap_or_default();
                let place = seen.place(byte);
                let about = format!("Element {} is {value}, in {}.", seen.numbers(&index), place_in_words(seen, place));
                lane.push_at(place, ink, format!("{value} {letter}@{place}"), about);
            }
            lanes.push(lane);
        }
        scene.blocks.push(Block::Strip(Strip { lanes }));
    }
}

fn place_in_words(seen: &Seen, place: i64) -> String {
    format!("{} {place}", if seen.is_array { "byte" } else { "cell" })
}

/// Reads the element that begins at a byte.
fn read(memory: &Memory, byte: i64, seen: &Seen) -> Option<String> {
    let start = usize::try_from(byte).ok()?;
    let bytes = memory.bytes().get(start..start.checked_add(seen.shown.itemsize)?)?;
    let bytes: Vec<u8> = bytes.iter().map(get).collect();
    seen.reading.scalar(&bytes).map(brief)
}

/// Returns the letter of a row: `a` to `z`, then `a1`.
fn letter(row: i64) -> String {
    let letter = char::from(b'a' + (row.rem_euclid(26)) as u8);
    match row / 26 {
        0 => letter.to_string(),
        more => format!("{letter}{more}"),
    }
}
