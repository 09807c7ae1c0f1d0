//! A tensor as a window on its storage: its size, stride and offset, and a drawing of the storage by cell.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};
use std::ops::Range;

use super::aliases::{Holder, WORTH_A_WORD};
use super::element::brief;
use super::residents::{index_of, place_at, residents};
use super::scene::{
    Bar, Bars, Block, HISTORY, Ink, Lane, Scene, Span, Strip, Table, byte_count, counted, grouped, index_text, list,
    span,
};
use crate::format::float_repr;
use tensor::form::{Form, Quantizer};
use tensor::memory::get;
use tensor::{DType, Dims, Layout, Memory, MemoryFormat, View};

/// For tensors with more elements than this, positions are not counted individually.
const COUNTED: i64 = 1 << 16;

/// The parts of a tensor to show.
#[derive(Clone, Copy, Debug)]
pub struct Terms {
    /// Whether to draw the bytes below every cell.
    pub bytes: bool,
    /// The maximum number of storage cells to draw.
    pub cells: usize,
}

/// Describes a tensor without a drawing. `holders` are the existing variables.
pub fn describe(view: &View, holders: &[Holder]) -> Scene {
    let mut scene = Scene::new(title(view, view.dtype));
    scene.facts(match parts(view) {
        None => facts(view, holders),
        Some(parts) => {
            let names: Vec<_> = parts.iter().map(|(name, _)| format!("{name}()")).collect();
            let (layout, names) = (view.tensor_layout().name(), names.join(", "));
            vec![
                fact("dtype", view.dtype.name()),
                fact("size", list(view.sizes())),
                fact("layout", format!("torch.{layout}: no storage of its own; it consists of {names}")),
            ]
        }
    });
    scene
}

/// Returns the scene of a tensor, with the steps that created it. `holders` are the existing variables.
pub fn scene(view: &View, chain: Option<Table>, holders: &[Holder], terms: Terms) -> Scene {
    let mut scene = describe(view, holders);
    if let Some(parts) = parts(view) {
        for (name, part) in parts {
            scene.heading(format!("{name}: {}", title(part, part.dtype)));
            draw_storage(&mut scene, part, terms);
        }
        return scene;
    }
    if let Some(chain) = chain {
        scene.heading(HISTORY);
        scene.blocks.push(Block::Table(chain));
    }
    drawings(&mut scene, view, terms);
    scene
}

/// Adds the elements of a dense tensor by index, and its storage by cell.
pub(super) fn drawings(scene: &mut Scene, view: &View, terms: Terms) {
    draw_grid(scene, view);
    scene.heading("Its storage");
    draw_storage(scene, view, terms);
}

/// Returns the component tensors of a sparse tensor, by name. `None` for any other.
pub fn parts(view: &View) -> Option<Vec<(&'static str, &View)>> {
    match view.form.as_deref()? {
        Form::Quantized(_) => None,
        sparse => Some(sparse.parts()),
    }
}

pub(super) fn title(view: &View, dtype: DType) -> String {
    let numel = view.numel().unsigned_abs();
    format!("{} tensor of size {}: {}", dtype.name(), list(view.sizes()), counted(numel, "element"))
}

pub(super) fn fact(name: &str, text: impl Into<String>) -> (String, Span) {
    (name.to_owned(), span(Ink::Plain, text))
}

fn facts(view: &View, holders: &[Holder]) -> Vec<(String, Span)> {
    let layout = &view.layout;
    let itemsize = view.dtype.itemsize();
    let mut facts = vec![
        fact("dtype", format!("{}, {} each", view.dtype.name(), byte_count(itemsize as u64))),
        fact("size", list(&layout.sizes)),
        fact("stride", format!("{}{}", list(&layout.strides), strides_in_words(layout, itemsize))),
        fact("offset", format!("{}, which is byte {}", counted_signed(layout.offset), scaled(layout.offset, itemsize))),
    ];
    let (ink, text) = contiguity(layout);
    facts.push(("contiguous".to_owned(), span(ink, text)));
    if view.conj || view.neg {
        let bits = [(view.conj, "conjugate"), (view.neg, "negative")];
        let set: Vec<_> = bits.into_iter().filter(|(is_set, _)| *is_set).map(|(_, name)| name).collect();
        facts.push(fact("lazy bits", format!("{}: the values differ from the stored ones", set.join(", "))));
    }
    if let Some(quantizer) = view.quantizer() {
        facts.push(fact("quantized", quantized_in_words(quantizer)));
    }
    facts.push(fact("storage", storage_in_words(view)));
    let (ink, text) = use_of_storage(view);
    facts.push(("shows".to_owned(), span(ink, text)));
    let others: Vec<_> = holders.iter().filter(|holder| holder.is_on(&view.storage)).collect();
    if !others.is_empty() {
        let names: Vec<_> = others.iter().map(|holder| holder.name.as_str()).collect();
        facts.push(fact("variables", format!("{} on this storage", names.join(", "))));
    }
    facts
}

fn quantized_in_words(quantizer: &Quantizer) -> String {
    let scheme = quantizer.scheme();
    match quantizer {
        Quantizer::PerTensor { scale, zero_point } => {
            format!("{scheme}: an integer n represents (n - {zero_point}) * {}", float_repr(*scale))
        }
        Quantizer::PerChannel { axis, .. } => {
            format!("{scheme}: scale and zero point differ along dimension {axis}")
        }
    }
}

fn counted_signed(elements: i64) -> String {
    format!("{} element{}", elements, if elements == 1 { "" } else { "s" })
}

fn scaled(elements: i64, itemsize: usize) -> i128 {
    i128::from(elements) * itemsize as i128
}

pub(super) fn strides_in_words(layout: &Layout, itemsize: usize) -> String {
    if layout.ndim() == 0 {
        return ": no dimensions, so no steps".to_owned();
    }
    if layout.ndim() > 4 {
        return String::new();
    }
    let steps = layout.strides.iter().enumerate().map(|(d, &stride)| match stride {
        0 => format!("dimension {d} does not move"),
        stride => match scaled(stride, itemsize) {
            1 => format!("dimension {d} moves by 1 byte"),
            bytes => format!("dimension {d} moves by {bytes} bytes"),
        },
    });
    format!(": {}", steps.collect::<Vec<_>>().join(", "))
}

/// Describes whether the elements are in reading order without gaps, or where the order breaks.
fn contiguity(layout: &Layout) -> (Ink, String) {
    if layout.is_contiguous() {
        let why = if layout.numel() == 0 { "yes: it is empty" } else { "yes" };
        return (Ink::Good, why.to_owned());
    }
    let mut step = 1i64;
    for (d, (&size, &stride)) in layout.sizes.iter().zip(&layout.strides).enumerate().rev() {
        if size != 1 && stride != step {
            let mut text = format!("no: stride({d}) is {stride}, contiguous needs {step}");
            let format =
                [MemoryFormat::ChannelsLast, MemoryFormat::ChannelsLast3d].into_iter().find(|f| f.describes(layout));
            if let Some(format) = format {
                text.push_str(&format!(". Contiguous in torch.{}", format.name()));
            } else if layout.is_non_overlapping_and_dense() {
                text.push_str(". No gaps, but stored in another order");
            }
            return (Ink::Notable, text);
        }
        step = step.saturating_mul(size);
    }
    (Ink::Good, "yes".to_owned())
}

fn storage_in_words(view: &View) -> String {
    let nbytes = view.storage.nbytes();
    let itemsize = view.dtype.itemsize();
    let elements = counted((nbytes / itemsize) as u64, "element");
    let mut text = format!("{}, room for {elements}", byte_count(nbytes as u64));
    let surplus = nbytes % itemsize;
    if surplus > 0 {
        text.push_str(&format!(" and {} left over", byte_count(surplus as u64)));
    }
    let memory = view.storage.memory();
    match &*memory {
        Memory::Mapped(mapped) => {
            let reach = if mapped.shared { "writes reach it" } else { "writes do not reach it" };
            match &mapped.name {
                Some(name) => text.push_str(&format!("; mapped from the file {name}, {reach}")),
                None => text.push_str("; shared memory, which other processes can open"),
            }
        }
        Memory::Borrowed { .. } => text.push_str("; the bytes belong to a buffer or another storage"),
        Memory::Meta { device, .. } => text.push_str(&format!("; no bytes, device {device}")),
        Memory::Heap(_) => {}
    }
    text
}

/// Returns the range of storage elements from the first to the last shown by the view. Empty for an empty view.
pub(super) fn extent(layout: &Layout) -> Range<i64> {
    match layout.storage_elements() {
        Ok(end) if layout.numel() > 0 => layout.offset..end,
        _ => layout.offset..layout.offset,
    }
}

/// Counts the storage positions shown by the view, if this is possible without walking through all of them.
pub(super) fn places_shown(layout: &Layout) -> Option<u64> {
    if layout.numel() == 0 {
        return Some(0);
    }
    let moving: Vec<usize> = (0..layout.ndim()).filter(|&d| layout.strides.get(d) != Some(&0)).collect();
    let part = |dims: &[i64]| moving.iter().filter_map(|&d| dims.get(d).copied()).collect();
    let moving = Layout { sizes: part(&layout.sizes), strides: part(&layout.strides), offset: layout.offset };
    if moving.has_distinct_elements() {
        return Some(moving.numel().unsigned_abs());
    }
    (moving.numel() <= COUNTED).then(|| moving.offsets().collect::<BTreeSet<_>>().len() as u64)
}

fn use_of_storage(view: &View) -> (Ink, String) {
    let (itemsize, nbytes) = (view.dtype.itemsize(), view.storage.nbytes());
    let range = extent(&view.layout);
    if view.check_bounds().is_err() {
        let end = scaled(range.end, itemsize);
        return (Ink::Fault, format!("bytes up to {end}, beyond the end of the storage"));
    }
    if view.numel() == 0 {
        return (Ink::Plain, "none of it".to_owned());
    }
    let (start, end) = (scaled(range.start, itemsize), scaled(range.end, itemsize));
    let Some(places) = places_shown(&view.layout) else {
        return (Ink::Plain, format!("some of the bytes {start} to {end}"));
    };
    let shown = places.saturating_mul(itemsize as u64);
    let whole = if shown == nbytes as u64 { "all of it".to_owned() } else { byte_count(shown) };
    let mut text = format!("{whole}, bytes {start} to {end}");
    let elements = view.numel().unsigned_abs();
    if places < elements {
        text.push_str(&format!("; its {} share {}", counted(elements, "element"), counted(places, "cell")));
    }
    // Worth a note: a small slice keeps a large storage alive.
    if shown > 0 && nbytes as u64 / shown >= 10 && nbytes >= WORTH_A_WORD {
        text.push_str(&format!("; it keeps the other {} alive, clone() would not", byte_count(nbytes as u64 - shown)));
        return (Ink::Fault, text);
    }
    (Ink::Plain, text)
}

/// Returns the parts of the storage to draw: all of a short one, else its ends and the cells of the view, without the
/// gaps.
pub(super) fn windows(total: i64, layout: &Layout, cells: usize) -> Vec<Range<i64>> {
    let room = i64::try_from(cells).unwrap_or(i64::MAX);
    if total <= room {
        return std::iter::once(0..total).filter(|range| !range.is_empty()).collect();
    }
    let few = (room / 16).max(1);
    let mut wanted = vec![0..few, total - few..total];
    let extent = extent(layout);
    if extent.is_empty() {
        wanted.push(0..(room / 2).max(2));
    } else {
        wanted.extend(ends(layout, cells).map(|place| place..place + 1));
        wanted.extend([extent.start - 2..extent.start, extent.end..extent.end + 2]);
    }
    joined(wanted, total)
}

/// Returns positions shown by a view, for a drawing of `cells` cells: half of them from its start, a quarter from its
/// end. A gap takes one cell.
pub(super) fn ends(layout: &Layout, cells: usize) -> impl Iterator<Item = i64> {
    let begin = |cells: usize| {
        let (mut left, mut last) = (cells, layout.offset - 1);
        let places = first_places(layout, cells).into_iter().take_while(move |place| {
            let taken = if place - last > 1 { 2 } else { 1 };
            last = *place;
            left = left.saturating_sub(taken);
            left > 0 || taken == 1
        });
        places.collect::<Vec<_>>()
    };
    // By symmetry, the same walk works from the end of the view.
    let whole = layout.offset + extent(layout).end - 1;
    let last = begin((cells / 4).max(1)).into_iter().map(move |place| whole - place);
    begin((cells / 2).max(2)).into_iter().chain(last)
}

/// Sorts ranges of cells, clamps them to `total`, and merges those that nearly touch.
pub(super) fn joined(mut ranges: Vec<Range<i64>>, total: i64) -> Vec<Range<i64>> {
    ranges.sort_by_key(|range| range.start);
    let mut windows: Vec<Range<i64>> = Vec::new();
    for range in ranges {
        let range = range.start.clamp(0, total)..range.end.clamp(0, total);
        match windows.last_mut() {
            // Drawing a gap of one or two cells is shorter than marking it.
            Some(last) if range.start <= last.end + 2 => last.end = last.end.max(range.end),
            _ if range.is_empty() => {}
            _ => windows.push(range),
        }
    }
    windows
}

/// Returns the note below a drawing with gaps.
pub(super) fn left_out_note(left_out: u64, total: u64, what: &str) -> String {
    format!("… stands for {what}s that are not drawn, {} of {}", grouped(left_out), counted(total, what))
}

/// Returns the first storage positions shown by the view, at most `most`, in ascending order.
fn first_places(layout: &Layout, most: usize) -> Vec<i64> {
    let moving: Vec<usize> =
        (0..layout.ndim()).filter(|&d| layout.strides.get(d) != Some(&0) && layout.sizes.get(d) != Some(&1)).collect();
    let mut places = Vec::new();
    let mut next = BinaryHeap::from([Reverse((layout.offset, Dims::from_elem(0, layout.ndim())))]);
    // Expand each position by one step along every dimension, nearest first. Each index is reached once, by steps along
    // ever later dimensions. If many indices share positions, the search stops early.
    for _ in 0..most.saturating_mul(16) {
        let Some(Reverse((place, index))) = next.pop() else { break };
        if places.last() != Some(&place) {
            if places.len() == most {
                break;
            }
            places.push(place);
        }
        let latest = moving.iter().rposition(|&d| index.get(d).is_some_and(|at| *at > 0)).unwrap_or_default();
        for &d in moving.iter().skip(latest) {
            let mut index = index.clone();
            let (Some(at), Some(size), Some(stride)) = (index.get_mut(d), layout.sizes.get(d), layout.strides.get(d))
            else {
                continue;
            };
            *at += 1;
            if *at < *size {
                next.push(Reverse((place.saturating_add(*stride), index)));
            }
        }
    }
    places
}

/// The maximum number of rows and columns of a grid, and how many come before the gap in a larger one.
const GRID: usize = 12;
const GRID_FIRST: usize = 8;

/// Returns the numbers of the rows or columns to draw, with `None` for a gap.
pub(super) fn shown_indices(count: i64) -> Vec<Option<i64>> {
    if count <= GRID as i64 {
        return (0..count).map(Some).collect();
    }
    let (first, last) = (GRID_FIRST as i64, (GRID - GRID_FIRST - 1) as i64);
    (0..first).map(Some).chain([None]).chain((count - last..count).map(Some)).collect()
}

/// Draws the elements by index, each with its cell: the last dimension horizontally, all others vertically.
fn draw_grid(scene: &mut Scene, view: &View) {
    let layout = &view.layout;
    let Some((&across, leading)) = layout.sizes.split_last().filter(|(_, leading)| !leading.is_empty()) else { return };
    if layout.numel() == 0 || view.check_bounds().is_err() {
        return;
    }
    let memory = view.storage.data().ok();
    let columns = shown_indices(across);
    let mut ruler = Lane::ruler("index");
    for column in &columns {
        ruler.push(1, Ink::Label, column.map_or("…".to_owned(), |column| column.to_string()));
    }
    let mut lanes = vec![ruler];
    for row in shown_indices(leading.iter().product()) {
        let mut index = row.map(|row| index_of(row, leading)).unwrap_or_default();
        let mut lane = Lane::framed(row.map_or("…".to_owned(), |_| index_text(&index)));
        index.push(0);
        for column in &columns {
            let (Some(column), Some(_)) = (column, row) else {
                lane.push(1, Ink::Unused, "…");
                continue;
            };
            if let Some(last) = index.last_mut() {
                *last = *column;
            }
            let place = place_at(layout, &index);
            let is_shared = residents(layout, place).is_some_and(|found| found.count > 1);
            let value = memory.as_ref().map(|memory| brief(view.read(memory, place)));
            let text = value.as_ref().map_or(format!("@{place}"), |value| format!("{value} @{place}"));
            let is = value.map_or("is".to_owned(), |value| format!("is {value},"));
            let about = format!("Element {} {is} in {}.", list(&index), place_in_words(view, place));
            lane.push_at(place, if is_shared { Ink::Shared } else { Ink::Shown }, text, about);
        }
        lanes.push(lane);
    }
    scene.heading("Elements and their cells");
    scene.blocks.push(Block::Strip(Strip { lanes }));
}

/// Describes a position: `cell 3, bytes 12 to 15`.
fn place_in_words(view: &View, place: i64) -> String {
    let size = view.dtype.itemsize();
    let first = scaled(place, size);
    match size {
        1 => format!("cell {place}, byte {first}"),
        _ => format!("cell {place}, bytes {first} to {}", first + size as i128 - 1),
    }
}

fn draw_storage(scene: &mut Scene, view: &View, terms: Terms) {
    let itemsize = view.dtype.itemsize();
    let total = i64::try_from(view.storage.nbytes() / itemsize).unwrap_or(i64::MAX);
    if total == 0 {
        scene.note(Ink::Plain, "There are no cells.");
        return;
    }
    let range = extent(&view.layout);
    let windows = windows(total, &view.layout, terms.cells.max(1));
    let left_out = total - windows.iter().map(|window| window.end - window.start).sum::<i64>();
    if left_out > 0 {
        let bar = Bar {
            name: "view".to_owned(),
            text: format!("{}..{}", range.start, range.end),
            start: range.start.unsigned_abs(),
            end: range.end.unsigned_abs(),
            ink: Ink::Shown,
        };
        scene.blocks.push(Block::Bars(Bars { total: total.unsigned_abs(), rows: vec![bar] }));
    }
    let mut signs = Signs::default();
    scene.blocks.push(Block::Strip(strip(view, &windows, total, terms.bytes, &mut signs)));
    if left_out > 0 {
        scene.note(Ink::Unused, left_out_note(left_out.unsigned_abs(), total.unsigned_abs(), "cell"));
    }
    if signs.unused {
        scene.note(Ink::Unused, "· not an element of this tensor");
    }
    if signs.shared {
        scene.note(Ink::Shared, "×n marks one element with n indices; the first is shown");
    }
}

/// The signs in a strip that need a legend.
#[derive(Default)]
struct Signs {
    unused: bool,
    shared: bool,
}

fn strip(view: &View, windows: &[Range<i64>], total: i64, with_bytes: bool, signs: &mut Signs) -> Strip {
    let memory = view.storage.data().ok();
    let mut ruler = Lane::ruler("cell");
    let mut indices = Lane::framed("index");
    let mut values = Lane::framed("value");
    let mut bytes = Lane::framed("bytes");
    let mut drawn = 0;
    let gap = |lanes: [&mut Lane; 4]| lanes.into_iter().for_each(|lane| lane.push(1, Ink::Unused, "…"));
    for window in windows {
        if window.start > drawn {
            gap([&mut ruler, &mut indices, &mut values, &mut bytes]);
        }
        drawn = window.end;
        for place in window.clone() {
            let here = residents(&view.layout, place);
            let (ink, text, who) = match &here {
                None => (Ink::Unused, "·".to_owned(), "no element".to_owned()),
                Some(found) if found.count > 1 => {
                    let more = if found.is_cut { "+" } else { "" };
                    let text = format!("{} ×{}{more}", index_text(&found.first), found.count);
                    (Ink::Shared, text, format!("{}{more} elements, the first {}", found.count, list(&found.first)))
                }
                Some(found) => (Ink::Shown, index_text(&found.first), format!("element {}", list(&found.first))),
            };
            signs.unused |= ink == Ink::Unused;
            signs.shared |= ink == Ink::Shared;
            ruler.push_at(place, Ink::Label, place.to_string(), String::new());
            let value = memory.as_ref().map(|memory| brief(view.read(memory, place)));
            let holds = value.as_ref().map_or(String::new(), |value| format!(" holds {value}:"));
            let about = format!("{}{holds} {who}.", place_in_words(view, place));
            indices.push_at(place, ink, text, about);
            if let (Some(memory), Some(value)) = (&memory, value) {
                values.push_at(place, ink, value, String::new());
                bytes.push_at(place, ink, hexadecimal(memory, place, view.dtype), String::new());
            }
        }
    }
    if drawn < total {
        gap([&mut ruler, &mut indices, &mut values, &mut bytes]);
    }
    let mut lanes = vec![ruler, indices];
    lanes.extend(memory.as_ref().map(|_| values));
    lanes.extend(memory.filter(|_| with_bytes).map(|_| bytes));
    Strip { lanes }
}

/// Returns the bytes of an element in hexadecimal, lowest address first.
pub(super) fn hexadecimal(memory: &Memory, place: i64, dtype: DType) -> String {
    let start = usize::try_from(place).unwrap_or_default().saturating_mul(dtype.itemsize());
    let cells = memory.bytes().get(start..start.saturating_add(dtype.itemsize())).unwrap_or_default();
    let texts: Vec<_> = cells.iter().map(|cell| format!("{:02x}", get(cell))).collect();
    texts.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_storage_is_drawn_at_its_ends_and_where_the_view_is() {
        let layout = |start: i64, sizes: &[i64], strides: &[i64]| Layout {
            sizes: sizes.into(),
            strides: strides.into(),
            offset: start,
        };
        let line = |range: Range<i64>| layout(range.start, &[range.end - range.start], &[1]);
        assert_eq!(windows(64, &line(3..9), 64), vec![0..64]);
        assert_eq!(windows(0, &line(0..0), 64), vec![]);
        assert_eq!(windows(1000, &line(500..600), 64), vec![0..4, 498..532, 584..602, 996..1000]);
        assert_eq!(windows(1000, &line(0..1000), 64), vec![0..32, 984..1000]);
        assert_eq!(windows(1000, &line(7..7), 16), vec![0..8, 999..1000]);
        assert_eq!(windows(1000, &line(500..503), 64), vec![0..4, 498..505, 996..1000]);
        // All elements are shown, but not the gaps between them.
        let spread = windows(1000, &layout(100, &[3], &[300]), 64);
        assert_eq!(spread, vec![0..4, 98..101, 400..401, 700..703, 996..1000]);
        let diagonal = windows(10_000, &layout(0, &[100], &[101]), 16);
        assert_eq!(diagonal, vec![0..1, 101..102, 202..203, 303..304, 9898..9899, 9999..10_000]);
    }

    #[test]
    fn the_first_places_come_in_order() {
        for (sizes, strides) in [
            (vec![3i64, 4], vec![1i64, 3]),
            (vec![5, 5], vec![1, 1]),
            (vec![4, 2, 3], vec![7, 100, 2]),
            (vec![2, 1, 3], vec![0, 9, 4]),
            (vec![], vec![]),
        ] {
            let layout = Layout { sizes: sizes.into(), strides: strides.into(), offset: 5 };
            let all: BTreeSet<i64> = layout.offsets().collect();
            for most in [1, 4, 40] {
                let wanted: Vec<i64> = all.iter().copied().take(most).collect();
                assert_eq!(first_places(&layout, most), wanted, "{layout:?}");
            }
        }
    }

    #[test]
    fn places_are_counted() {
        let layout =
            |sizes: &[i64], strides: &[i64]| Layout { sizes: sizes.into(), strides: strides.into(), offset: 0 };
        for (layout, wanted) in [
            (layout(&[2, 3], &[3, 1]), Some(6)),
            (layout(&[1 << 40, 3], &[0, 1]), Some(3)),
            (layout(&[4, 3], &[1, 1]), Some(6)),
            (layout(&[0, 3], &[1, 1]), Some(0)),
            (layout(&[1 << 20, 3], &[1, 1]), None),
        ] {
            assert_eq!(places_shown(&layout), wanted, "{layout:?}");
        }
    }
}
