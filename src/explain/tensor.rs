//! A tensor as a window on its storage: the numbers that make it up, and the storage drawn cell by cell.

use std::collections::BTreeSet;
use std::ops::Range;

use super::aliases::{Holder, WORTH_A_WORD};
use super::element::brief;
use super::residents::residents;
use super::scene::{Bar, Bars, Block, Ink, Lane, Scene, Span, Strip, byte_count, counted, grouped, list, span};
use super::steps;
use crate::format::float_repr;
use crate::tensor::form::{Form, Quantizer};
use crate::tensor::memory::get;
use crate::tensor::{DType, Layout, Memory, MemoryFormat, Tensor, View};

/// Tensors of more elements are not counted place by place.
const COUNTED: i64 = 1 << 16;

/// The parts of a tensor to show.
#[derive(Clone, Copy, Debug)]
pub struct Terms {
    /// Whether to draw the bytes below every cell.
    pub bytes: bool,
    /// The maximum number of cells of the storage to draw.
    pub cells: usize,
}

/// The scene of a tensor; `holders` are the variables there are.
pub fn scene(tensor: &Tensor, holders: &[Holder], terms: Terms) -> Scene {
    let view = tensor.view();
    let mut scene = Scene::new(title(&view));
    if let Some(parts) = parts(&view) {
        let layout = view.tensor_layout().name();
        scene.facts(vec![
            fact("dtype", view.dtype.name()),
            fact("size", list(view.sizes())),
            fact("layout", format!("torch.{layout}: no storage of its own, what it holds are the tensors below")),
        ]);
        for (name, part) in parts {
            scene.heading(format!("{name}: {}", title(part)));
            draw_storage(&mut scene, part, terms);
        }
        return scene;
    }
    scene.facts(facts(&view, holders));
    let chain = steps::table(tensor);
    if let Some(chain) = chain {
        scene.heading("How it came about");
        scene.blocks.push(Block::Table(chain));
    }
    scene.heading("Its storage");
    draw_storage(&mut scene, &view, terms);
    scene
}

/// The tensors that a sparse one is made of; nothing for any other.
pub fn parts(view: &View) -> Option<Vec<(&'static str, &View)>> {
    match view.form.as_deref()? {
        Form::Coo(coo) => Some(vec![("indices", &coo.indices), ("values", &coo.values)]),
        Form::Compressed(compressed) => {
            let (rows, columns) = compressed.layout.index_names();
            Some(vec![(rows, &compressed.compressed), (columns, &compressed.plain), ("values", &compressed.values)])
        }
        Form::Quantized(_) => None,
    }
}

fn title(view: &View) -> String {
    let numel = view.numel().unsigned_abs();
    format!("{} tensor of size {}: {}", view.dtype.name(), list(view.sizes()), counted(numel, "element"))
}

fn fact(name: &str, text: impl Into<String>) -> (String, Span) {
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
        facts.push(fact("lazy bits", format!("{}: what is read is not what is stored", set.join(", "))));
    }
    if let Some(quantizer) = view.quantizer() {
        facts.push(fact("quantized", quantized_in_words(quantizer)));
    }
    facts.push(fact("storage", storage_in_words(view)));
    let (ink, text) = use_of_storage(view);
    facts.push(("shows".to_owned(), span(ink, text)));
    let others: Vec<_> = holders.iter().filter(|holder| holder.storage == view.storage).collect();
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
            format!("{scheme}: an integer n stands for (n - {zero_point}) * {}", float_repr(*scale))
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

fn strides_in_words(layout: &Layout, itemsize: usize) -> String {
    if layout.ndim() == 0 {
        return ": no dimensions, so no steps".to_owned();
    }
    if layout.ndim() > 4 {
        return String::new();
    }
    let steps = layout.strides.iter().enumerate().map(|(d, &stride)| match stride {
        0 => format!("dimension {d} stays where it is"),
        stride => match scaled(stride, itemsize) {
            1 => format!("dimension {d} moves by 1 byte"),
            bytes => format!("dimension {d} moves by {bytes} bytes"),
        },
    });
    format!(": {}", steps.collect::<Vec<_>>().join(", "))
}

/// Whether the elements lie in reading order without gaps, and if not, where that breaks.
fn contiguity(layout: &Layout) -> (Ink, String) {
    if layout.is_contiguous() {
        let why = if layout.numel() == 0 { "yes, as everything empty is" } else { "yes" };
        return (Ink::Good, why.to_owned());
    }
    let mut step = 1i64;
    for (d, (&size, &stride)) in layout.sizes.iter().zip(&layout.strides).enumerate().rev() {
        if size != 1 && stride != step {
            let mut text = format!("no: stride({d}) is {stride}, reading order without gaps needs {step}");
            let format =
                [MemoryFormat::ChannelsLast, MemoryFormat::ChannelsLast3d].into_iter().find(|f| f.describes(layout));
            if let Some(format) = format {
                text.push_str(&format!("; but it is in the order torch.{}", format.name()));
            } else if layout.is_non_overlapping_and_dense() {
                text.push_str("; but there are no gaps, only another order");
            }
            return (Ink::Fault, text);
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
        text.push_str(&format!(" and {} over", byte_count(surplus as u64)));
    }
    let memory = view.storage.memory();
    match &*memory {
        Memory::Mapped(mapped) => {
            let reach = if mapped.shared { "writes reach it" } else { "writes stay here" };
            match &mapped.name {
                Some(name) => text.push_str(&format!("; mapped from the file {name}, {reach}")),
                None => text.push_str("; shared memory, which other processes can open"),
            }
        }
        Memory::Borrowed { .. } => text.push_str("; the bytes belong to a buffer or another storage"),
        Memory::Meta { device, .. } => text.push_str(&format!("; no bytes at all, device {device}")),
        Memory::Heap(_) => {}
    }
    text
}

/// The elements of the storage that lie between the first and the last that the view shows; empty where it shows none.
pub(super) fn extent(layout: &Layout) -> Range<i64> {
    match layout.storage_elements() {
        Ok(end) if layout.numel() > 0 => layout.offset..end,
        _ => layout.offset..layout.offset,
    }
}

/// Counts the places of the storage the view shows, as far as that is possible without walking through all of them.
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
        return (Ink::Plain, "no byte of it".to_owned());
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
        text.push_str(&format!("; its {} stand in {}", counted(elements, "element"), counted(places, "place")));
    }
    // Somebody who kept a small slice of something large would like to know.
    if shown > 0 && nbytes as u64 / shown >= 10 && nbytes >= WORTH_A_WORD {
        text.push_str(&format!("; it keeps the other {} alive, clone() would not", byte_count(nbytes as u64 - shown)));
        return (Ink::Fault, text);
    }
    (Ink::Plain, text)
}

/// The parts of the storage that are drawn: the whole where it is short, else its ends and those of the view.
fn windows(total: i64, extent: Range<i64>, cells: i64) -> Vec<Range<i64>> {
    if total <= cells {
        return std::iter::once(0..total).filter(|range| !range.is_empty()).collect();
    }
    // Half of the cells for where the view begins, a quarter for where it ends, a few for the ends of the storage.
    let (most, some, few) = ((cells / 2).max(2), (cells / 4).max(1), (cells / 16).max(1));
    let (first, last) = (extent.start.clamp(0, total), extent.end.clamp(0, total));
    let mut wanted = vec![0..few, total - few..total];
    if first < last {
        wanted.push(first.saturating_sub(2)..first.saturating_add(most).min(last.saturating_add(2)));
        wanted.push(last.saturating_sub(some).max(first)..last.saturating_add(2));
    } else {
        wanted.push(0..most);
    }
    wanted.sort_by_key(|range| range.start);
    let mut windows: Vec<Range<i64>> = Vec::new();
    for range in wanted {
        let range = range.start.max(0)..range.end.min(total);
        match windows.last_mut() {
            // A gap of a cell or two costs more to tell than to draw.
            Some(last) if range.start <= last.end + 2 => last.end = last.end.max(range.end),
            _ => windows.push(range),
        }
    }
    windows
}

fn draw_storage(scene: &mut Scene, view: &View, terms: Terms) {
    let itemsize = view.dtype.itemsize();
    let total = i64::try_from(view.storage.nbytes() / itemsize).unwrap_or(i64::MAX);
    if total == 0 {
        scene.note(Ink::Plain, "There are no cells.");
        return;
    }
    let range = extent(&view.layout);
    let windows = windows(total, range.clone(), i64::try_from(terms.cells.max(1)).unwrap_or(i64::MAX));
    if windows.len() > 1 || windows.first().is_some_and(|window| window.end - window.start < total) {
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
    let mut drawn = 0;
    for window in windows {
        left_out(scene, drawn..window.start);
        drawn = window.end;
        scene.blocks.push(Block::Strip(strip(view, window, terms.bytes, &mut signs)));
    }
    left_out(scene, drawn..total);
    if signs.unused {
        scene.note(Ink::Unused, "· no element of this tensor lives here");
    }
    if signs.shared {
        scene.note(Ink::Shared, "×n is one element under n indices, the first of which is shown");
    }
}

fn left_out(scene: &mut Scene, range: Range<i64>) {
    if !range.is_empty() {
        let cells = (range.end - range.start).unsigned_abs();
        let (cells, few) = (grouped(cells), if cells == 1 { "cell" } else { "cells" });
        scene.note(Ink::Unused, format!("… {cells} {few}, {} to {}, are not drawn …", range.start, range.end - 1));
    }
}

/// The signs in a strip that need an explanation.
#[derive(Default)]
struct Signs {
    unused: bool,
    shared: bool,
}

fn strip(view: &View, window: Range<i64>, with_bytes: bool, signs: &mut Signs) -> Strip {
    let memory = view.storage.data().ok();
    let mut ruler = Lane::ruler("cell");
    let mut indices = Lane::framed("index");
    let mut values = Lane::framed("value");
    let mut bytes = Lane::framed("bytes");
    for place in window {
        let here = residents(&view.layout, place);
        let (ink, text) = match &here {
            None => (Ink::Unused, "·".to_owned()),
            Some(found) if found.count > 1 => {
                let more = if found.is_cut { "+" } else { "" };
                (Ink::Shared, format!("{} ×{}{more}", index_text(&found.first), found.count))
            }
            Some(found) => (Ink::Shown, index_text(&found.first)),
        };
        signs.unused |= ink == Ink::Unused;
        signs.shared |= ink == Ink::Shared;
        ruler.push(1, Ink::Label, place.to_string());
        indices.push(1, ink, text);
        if let Some(memory) = &memory {
            values.push(1, ink, brief(view.read(memory, place)));
            if with_bytes {
                bytes.push(1, ink, hexadecimal(memory, place, view.dtype));
            }
        }
    }
    let lanes = [ruler, indices, values, bytes];
    Strip { lanes: lanes.into_iter().filter(|lane| !lane.items.is_empty()).collect() }
}

fn index_text(index: &[i64]) -> String {
    if index.is_empty() {
        // A tensor without dimensions has one element, at no index.
        return "( )".to_owned();
    }
    let parts: Vec<_> = index.iter().map(i64::to_string).collect();
    parts.join(",")
}

/// The bytes of an element, the one at the lowest address first.
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
        assert_eq!(windows(64, 3..9, 64), vec![0..64]);
        assert_eq!(windows(0, 0..0, 64), vec![]);
        assert_eq!(windows(1000, 500..600, 64), vec![0..4, 498..532, 584..602, 996..1000]);
        assert_eq!(windows(1000, 0..1000, 64), vec![0..32, 984..1000]);
        assert_eq!(windows(1000, 7..7, 16), vec![0..8, 999..1000]);
        assert_eq!(windows(1000, 500..503, 64), vec![0..4, 498..505, 996..1000]);
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
