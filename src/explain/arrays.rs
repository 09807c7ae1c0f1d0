//! An array as a window on its storage. Everything counts in bytes, as NumPy does: strides may be negative, elements may
//! begin at any byte, and their bytes may be in either order. All bytes come from the storage itself, never from a copy.

use super::aliases::Holder;
use super::bytes::Reading;
use super::element::brief;
use super::residents::index_of;
use super::scene::{Bar, Bars, Block, Ink, Lane, Scene, Span, Strip, byte_count, counted, index_text, span, tuple};
use super::shown::{Grid, Shown};
use super::tensors::{Terms, left_out_note, places_shown, shown_indices, windows};
use std::ops::Range;
use tensor::Memory;
use tensor::memory::get;
use value::ArrayMemory;

/// Returns the scene of an array. `holders` are the existing variables.
pub fn scene(array: &ArrayMemory, holders: &[Holder], terms: Terms) -> Scene {
    let mut scene = describe(array, holders);
    drawings(&mut scene, array, terms);
    scene
}

/// Adds the elements of an array by index, and its storage by byte.
pub(super) fn drawings(scene: &mut Scene, array: &ArrayMemory, terms: Terms) {
    let drawing = Drawing {
        memory: array.storage.data().ok(),
        shown: Shown::of_array(array),
        reading: Reading::of_array(array),
        nbytes: i64::try_from(array.storage.nbytes()).unwrap_or(i64::MAX),
    };
    drawing.elements(scene);
    scene.heading("Its storage");
    drawing.storage(scene, terms);
}

/// Describes an array without a drawing.
pub fn describe(array: &ArrayMemory, holders: &[Holder]) -> Scene {
    let mut scene = Scene::new(title(array));
    scene.facts(facts(array, holders));
    scene
}

/// Returns the dtype, the shape and the number of elements of an array in words.
pub fn title(array: &ArrayMemory) -> String {
    let count = counted(array.layout.numel().unsigned_abs(), "element");
    format!("{} array of shape {}: {count}", array.dtype_name, tuple(&array.layout.sizes))
}

fn fact(name: &str, text: impl Into<String>) -> (String, Span) {
    (name.to_owned(), span(Ink::Plain, text))
}

fn facts(array: &ArrayMemory, holders: &[Holder]) -> Vec<(String, Span)> {
    let (layout, shown) = (&array.layout, Shown::of_array(array));
    let order = match (array.swapped, cfg!(target_endian = "little")) {
        (false, _) => "",
        (true, true) => ", big-endian: the machine's order is the other one",
        (true, false) => ", little-endian: the machine's order is the other one",
    };
    let mut facts = vec![
        fact("dtype", format!("{}, {} each{order}", array.dtype_name, byte_count(shown.itemsize as u64))),
        fact("shape", tuple(&layout.sizes)),
        fact("strides", format!("{}{}", tuple(&layout.strides), strides_in_words(&layout.strides))),
        fact("offset", first_in_words(&shown)),
    ];
    let (ink, text) = contiguity(&shown);
    facts.push(("contiguous".to_owned(), span(ink, text)));
    let owner = if array.owns_data { "owns its bytes" } else { "a view: base owns the bytes" };
    let access = if array.is_writeable { "writeable" } else { "read-only" };
    facts.push(fact("flags", format!("{access}, {owner}")));
    facts.push(fact("storage", byte_count(array.storage.nbytes() as u64)));
    let (ink, text) = use_of_storage(array, &shown);
    facts.push(("shows".to_owned(), span(ink, text)));
    let names: Vec<_> =
        holders.iter().filter(|holder| holder.is_on(&array.storage)).map(|holder| holder.name.as_str()).collect();
    if !names.is_empty() {
        facts.push(fact("variables", format!("{} on these bytes", names.join(", "))));
    }
    facts
}

fn first_in_words(shown: &Shown) -> String {
    let layout = &shown.layout;
    match layout.numel() {
        0 => format!("byte {}", layout.offset),
        _ => {
            let first = vec![0; layout.ndim()];
            format!("byte {}: element {} begins there", layout.offset, tuple(&first))
        }
    }
}

fn strides_in_words(strides: &[i64]) -> String {
    match strides.len() {
        0 => return ": no dimensions, so no steps".to_owned(),
        1..=4 => {}
        _ => return String::new(),
    }
    let steps = strides.iter().enumerate().map(|(d, &stride)| {
        let bytes = byte_count(stride.unsigned_abs());
        match stride {
            0 => format!("dimension {d} does not move"),
            1.. => format!("dimension {d} moves by {bytes}"),
            _ => format!("dimension {d} moves back by {bytes}"),
        }
    });
    format!(": {}", steps.collect::<Vec<_>>().join(", "))
}

/// Describes whether the elements lie without gaps in row-major or column-major order, or where the order breaks.
fn contiguity(shown: &Shown) -> (Ink, String) {
    let layout = &shown.layout;
    let dims: Vec<(usize, i64, i64)> =
        layout.sizes.iter().zip(&layout.strides).enumerate().map(|(d, (size, stride))| (d, *size, *stride)).collect();
    let broken = |dims: &mut dyn Iterator<Item = (usize, i64, i64)>| {
        let mut step = shown.itemsize as i64;
        for (d, size, stride) in dims.filter(|(_, size, _)| *size != 1) {
            if stride != step {
                return Some((d, stride, step));
            }
            step = step.saturating_mul(size);
        }
        None
    };
    if layout.numel() == 0 {
        return (Ink::Good, "yes: it is empty".to_owned());
    }
    let rows = broken(&mut dims.iter().rev().copied());
    let columns = broken(&mut dims.iter().copied());
    match (rows, columns) {
        (None, None) => (Ink::Good, "yes".to_owned()),
        (None, Some(_)) => (Ink::Good, "yes: C order, the last dimension moves fastest".to_owned()),
        (Some(_), None) => (Ink::Good, "in F order: the first dimension moves fastest".to_owned()),
        (Some((d, stride, step)), Some(_)) => {
            (Ink::Notable, format!("no: strides[{d}] is {stride}, C order needs {step}"))
        }
    }
}

fn use_of_storage(array: &ArrayMemory, shown: &Shown) -> (Ink, String) {
    let range = shown.range();
    if range.is_empty() {
        return (Ink::Plain, "none of it".to_owned());
    }
    let nbytes = array.storage.nbytes();
    if range.start < 0 || range.end > i64::try_from(nbytes).unwrap_or(i64::MAX) {
        return (Ink::Fault, format!("bytes {} to {}, beyond the end of the storage", range.start, range.end));
    }
    let grid = shown.grid();
    // Elements less than an element apart have bytes in common.
    let places = places_shown(&grid.layout).filter(|_| grid.cell == shown.itemsize);
    let Some(places) = places else {
        return (Ink::Plain, format!("some of the bytes {} to {}", range.start, range.end));
    };
    let bytes = places.saturating_mul(shown.itemsize as u64);
    let whole = if bytes == nbytes as u64 { "all of it".to_owned() } else { byte_count(bytes) };
    let mut text = format!("{whole}, bytes {} to {}", range.start, range.end);
    let elements = shown.layout.numel().unsigned_abs();
    if places < elements {
        text.push_str(&format!("; its {} share {}", counted(elements, "element"), counted(places, "cell")));
    }
    (Ink::Plain, text)
}

/// The memory of an array and how to read it.
struct Drawing {
    memory: Option<std::rc::Rc<Memory>>,
    shown: Shown,
    reading: Reading,
    nbytes: i64,
}

/// The signs in a strip that need a legend.
#[derive(Default)]
struct Signs {
    unused: bool,
    shared: bool,
    inner: bool,
}

/// The lanes of a strip.
struct Lanes {
    ruler: Lane,
    indices: Lane,
    values: Lane,
    bytes: Lane,
}

impl Lanes {
    fn gap(&mut self) {
        for lane in [&mut self.ruler, &mut self.indices, &mut self.values, &mut self.bytes] {
            lane.push(1, Ink::Unused, "…");
        }
    }
}

impl Drawing {
    fn is_beyond(&self) -> bool {
        let range = self.shown.range();
        range.start < 0 || range.end > self.nbytes
    }

    fn raw(&self, range: Range<i64>) -> Vec<u8> {
        let range = usize::try_from(range.start).unwrap_or_default()..usize::try_from(range.end).unwrap_or_default();
        let cells = self.memory.as_ref().map(|memory| memory.bytes().get(range).unwrap_or_default());
        cells.unwrap_or_default().iter().map(get).collect()
    }

    /// Returns the value of the bytes from `start` on, read as an element.
    fn value(&self, start: i64) -> Option<String> {
        let bytes = self.raw(start..start.saturating_add(self.shown.itemsize as i64));
        self.reading.scalar(&bytes).map(brief)
    }

    /// Draws the elements by index, each with its first byte: the last dimension horizontally, all others vertically.
    fn elements(&self, scene: &mut Scene) {
        let layout = &self.shown.layout;
        let Some((&across, leading)) = layout.sizes.split_last() else { return };
        if layout.numel() == 0 || self.is_beyond() {
            return;
        }
        let columns = shown_indices(across);
        let mut ruler = Lane::ruler("index");
        for column in &columns {
            ruler.push(1, Ink::Label, column.map_or("…".to_owned(), |column| column.to_string()));
        }
        let mut lanes = vec![ruler];
        for row in shown_indices(leading.iter().product()) {
            let mut index = row.map(|row| index_of(row, leading)).unwrap_or_default();
            let mut lane = Lane::framed(
                row.map_or("…".to_owned(), |_| if index.is_empty() { String::new() } else { index_text(&index) }),
            );
            index.push(0);
            for column in &columns {
                let (Some(column), Some(_)) = (column, row) else {
                    lane.push(1, Ink::Unused, "…");
                    continue;
                };
                if let Some(last) = index.last_mut() {
                    *last = *column;
                }
                let steps = index.iter().zip(&layout.strides);
                let start = steps.fold(layout.offset, |at, (i, stride)| at.saturating_add(i.saturating_mul(*stride)));
                let is_shared = self.shown.starting_in(start..start + 1).any(|(_, found)| found.count > 1);
                let value = self.value(start).unwrap_or_default();
                let about = format!("Element {} is {value}, in {}.", tuple(&index), self.place_in_words(start));
                lane.push_at(
                    start,
                    if is_shared { Ink::Shared } else { Ink::Shown },
                    format!("{value} @{start}"),
                    about,
                );
            }
            lanes.push(lane);
        }
        scene.heading("Elements and their bytes");
        scene.blocks.push(Block::Strip(Strip { lanes }));
        scene.note(Ink::Label, "@n is the first byte of an element, counted from the start of the storage");
    }

    fn place_in_words(&self, start: i64) -> String {
        match self.shown.itemsize as i64 {
            1 => format!("byte {start}"),
            size => format!("bytes {start} to {}", start + size - 1),
        }
    }

    fn storage(&self, scene: &mut Scene, terms: Terms) {
        if self.nbytes == 0 {
            scene.note(Ink::Plain, "There are no bytes.");
            return;
        }
        let grid = self.shown.grid();
        let (cell, lead) = (grid.cell as i64, grid.lead as i64);
        let total = self.nbytes.saturating_sub(lead).max(0) / cell;
        let windows = windows(total, &grid.layout, terms.cells.max(1));
        let left_out = total - windows.iter().map(|window| window.end - window.start).sum::<i64>();
        if left_out > 0 {
            let range = self.shown.range();
            let bar = Bar {
                name: "array".to_owned(),
                text: format!("bytes {}..{}", range.start, range.end),
                start: range.start.max(0).unsigned_abs(),
                end: range.end.max(0).unsigned_abs(),
                ink: Ink::Shown,
            };
            scene.blocks.push(Block::Bars(Bars { total: self.nbytes.unsigned_abs(), rows: vec![bar] }));
        }
        let mut signs = Signs::default();
        scene.blocks.push(Block::Strip(self.strip(&grid, &windows, total, terms.bytes, &mut signs)));
        if left_out > 0 {
            scene.note(Ink::Unused, left_out_note(left_out.unsigned_abs(), total.unsigned_abs(), "cell"));
        }
        if signs.unused {
            scene.note(Ink::Unused, "· not an element of this array");
        }
        if signs.inner {
            scene.note(Ink::Label, "+n is byte n of the element that begins n bytes before");
        }
        if signs.shared {
            scene.note(Ink::Shared, "×n marks one element with n indices; the first is shown");
        }
    }

    fn strip(&self, grid: &Grid, windows: &[Range<i64>], total: i64, with_bytes: bool, signs: &mut Signs) -> Strip {
        let (cell, lead) = (grid.cell as i64, grid.lead as i64);
        let mut lanes = Lanes {
            ruler: Lane::ruler("byte"),
            indices: Lane::framed("index"),
            values: Lane::framed("value"),
            bytes: Lane::framed("bytes"),
        };
        let mut drawn = 0;
        if lead > 0 && windows.first().is_none_or(|window| window.start == 0) {
            self.cell(0..lead, &mut lanes, signs);
        }
        for window in windows {
            if window.start > drawn {
                lanes.gap();
            }
            drawn = window.end;
            for place in window.clone() {
                let start = lead.saturating_add(place.saturating_mul(cell));
                self.cell(start..start.saturating_add(cell), &mut lanes, signs);
            }
        }
        let end = lead.saturating_add(total.saturating_mul(cell));
        if drawn < total {
            lanes.gap();
        } else if end < self.nbytes {
            self.cell(end..self.nbytes, &mut lanes, signs);
        }
        let Lanes { ruler, indices, values, bytes } = lanes;
        let mut lanes = vec![ruler, indices, values];
        lanes.extend(Some(bytes).filter(|_| with_bytes));
        Strip { lanes }
    }

    /// Draws the bytes of one cell.
    fn cell(&self, range: Range<i64>, lanes: &mut Lanes, signs: &mut Signs) {
        let start = range.start;
        let begins = self.shown.starting_in(start..start.saturating_add(1)).next();
        let is_whole = range.end.saturating_sub(start) == self.shown.itemsize as i64;
        let mut value = self.value(start).filter(|_| is_whole || begins.is_some());
        let (ink, text, about) = match &begins {
            Some((_, found)) if found.count > 1 => {
                let more = if found.is_cut { "+" } else { "" };
                let text = format!("{} ×{}{more}", index_text(&found.first), found.count);
                (Ink::Shared, text, format!("{}{more} elements, the first {}", found.count, tuple(&found.first)))
            }
            Some((_, found)) => (Ink::Shown, index_text(&found.first), format!("element {}", tuple(&found.first))),
            // Cells of one byte lie within elements.
            None => match self.shown.at(start).last() {
                Some((first, found)) => {
                    signs.inner = true;
                    value = None;
                    let at = start - first;
                    (Ink::Shown, format!("+{at}"), format!("byte {at} of element {}", tuple(&found.first)))
                }
                None => (Ink::Unused, "·".to_owned(), "no element".to_owned()),
            },
        };
        signs.unused |= ink == Ink::Unused;
        signs.shared |= ink == Ink::Shared;
        let holds = value.as_ref().map_or(String::new(), |value| format!(" holds {value}:"));
        let place = match range.end - start {
            1 => format!("byte {start}"),
            _ => format!("bytes {start} to {}", range.end - 1),
        };
        lanes.ruler.push_at(start, Ink::Label, start.to_string(), String::new());
        lanes.indices.push_at(start, ink, text, format!("{place}{holds} {about}."));
        lanes.values.push_at(start, ink, value.unwrap_or_default(), String::new());
        let texts: Vec<String> = self.raw(range).iter().map(|byte| format!("{byte:02x}")).collect();
        lanes.bytes.push_at(start, ink, texts.join(" "), String::new());
    }
}
