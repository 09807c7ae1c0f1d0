//! Draws the bytes of a tensor or a storage, with their values in one or more dtypes below.

use std::ops::Range;

use super::element::exact;
use super::residents::residents;
use super::scene::{Block, Ink, Lane, Scene, Strip, byte_count, span};
use super::tensors::{ends, extent, joined, left_out_note};
use tensor::memory::get;
use tensor::{DType, Layout, Memory, Result, Storage, View};

/// Draws the bytes from the first to the last element of a view, read in its own dtype and in the others.
///
/// # Errors
/// Fails with PyTorch's RuntimeError for a tensor without data or one that extends beyond its storage.
pub fn of_view(view: &View, others: &[DType], cells: usize) -> Result<Scene> {
    let memory = view.memory()?;
    let itemsize = view.dtype.itemsize();
    let elements = extent(&view.layout);
    let scale = |at: i64| usize::try_from(at).unwrap_or_default().saturating_mul(itemsize);
    let mut dtypes = vec![view.dtype];
    dtypes.extend(others.iter().copied().filter(|dtype| *dtype != view.dtype));
    let title = format!("{} tensor of size {:?}, byte by byte", view.dtype.name(), view.sizes());
    let window = Window { range: scale(elements.start)..scale(elements.end), dtypes, shown: Some((view, itemsize)) };
    Ok(window.scene(title, &memory, cells))
}

/// Draws the bytes of a storage, read in these dtypes.
///
/// # Errors
/// Fails with NotImplementedError for a storage without data.
pub fn of_storage(storage: &Storage, dtypes: &[DType], cells: usize) -> Result<Scene> {
    let memory = storage.data()?;
    let dtypes = if dtypes.is_empty() { vec![DType::Byte] } else { dtypes.to_vec() };
    let title = format!("storage of {}, byte by byte", byte_count(memory.nbytes() as u64));
    let window = Window { range: 0..memory.nbytes(), dtypes, shown: None };
    Ok(window.scene(title, &memory, cells))
}

/// The drawn part of a memory.
struct Window<'a> {
    range: Range<usize>,
    dtypes: Vec<DType>,
    /// The view whose elements are highlighted.
    shown: Option<(&'a View, usize)>,
}

impl Window<'_> {
    fn scene(&self, title: String, memory: &Memory, cells: usize) -> Scene {
        let mut scene = Scene::new(title);
        let unit = self.dtypes.iter().map(|dtype| dtype.itemsize()).max().unwrap_or(1);
        let length = self.range.len();
        if length == 0 {
            scene.note(Ink::Plain, "There are no bytes.");
            return scene;
        }
        scene.facts(vec![("order".to_owned(), span(Ink::Plain, self.order(memory)))]);
        let parts = self.parts(unit, cells.max(2));
        scene.blocks.push(Block::Strip(self.strip(memory, &parts)));
        let left_out = length - parts.iter().map(Range::len).sum::<usize>();
        if left_out > 0 {
            scene.note(Ink::Unused, left_out_note(left_out as u64, length as u64, "byte"));
        }
        if self.has_gaps() {
            scene.note(Ink::Unused, "( ) marks bytes between the tensor's elements that do not belong to it");
        }
        scene
    }

    /// Returns the ranges to draw, in whole units, so that every lane starts at the same byte. Up to `cells` units are
    /// drawn completely. For more, both ends of the view, or of the memory, are drawn.
    fn parts(&self, unit: usize, cells: usize) -> Vec<Range<usize>> {
        let length = self.range.len();
        if length <= cells.saturating_mul(unit) {
            return vec![self.range.clone()];
        }
        let units = i64::try_from(length.div_ceil(unit)).unwrap_or(i64::MAX);
        let wanted = match self.shown {
            None => ends(&Layout::contiguous(&[units]), cells).map(|at| at..at + 1).collect(),
            Some((view, itemsize)) => {
                let of_unit = |place: i64| (place - view.layout.offset) * itemsize as i64;
                let unit = unit as i64;
                let range = |place| of_unit(place) / unit..(of_unit(place + 1) + unit - 1) / unit;
                ends(&view.layout, cells).map(range).collect()
            }
        };
        let byte = |at: i64| (self.range.start + at as usize * unit).min(self.range.end);
        joined(wanted, units).into_iter().map(|part| byte(part.start)..byte(part.end)).collect()
    }

    /// Describes the byte order.
    fn order(&self, memory: &Memory) -> String {
        let dtype = self.dtypes.iter().find(|dtype| dtype.to_real().itemsize() > 1);
        let Some(dtype) = dtype.map(|dtype| dtype.to_real()) else {
            return "none: an element is one byte".to_owned();
        };
        let first = bytes_at(memory, self.range.start..self.range.start + dtype.itemsize());
        let number: String = first.iter().rev().map(|byte| format!("{byte:02x}")).collect();
        let (name, which) =
            if cfg!(target_endian = "little") { ("little-endian", "least") } else { ("big-endian", "most") };
        format!("{name}: the first byte counts {which}; the first {} is 0x{number}", dtype.name())
    }

    fn has_gaps(&self) -> bool {
        self.shown.is_some_and(|(view, _)| {
            let range = extent(&view.layout);
            super::tensors::places_shown(&view.layout).is_some_and(|places| places < range.end.abs_diff(range.start))
        })
    }

    /// Draws the parts side by side, with an ellipsis between them.
    fn strip(&self, memory: &Memory, parts: &[Range<usize>]) -> Strip {
        let mut lanes = vec![Lane::ruler("byte"), Lane::framed("hex")];
        lanes.extend(self.dtypes.iter().map(|dtype| Lane::framed(dtype.name())));
        for (number, part) in parts.iter().enumerate() {
            if number > 0 {
                lanes.iter_mut().for_each(|lane| lane.push(1, Ink::Unused, "…"));
            }
            let [ruler, hex, decoded @ ..] = lanes.as_mut_slice() else { break };
            for byte in part.clone() {
                let text: String = bytes_at(memory, byte..byte + 1).iter().map(|byte| format!("{byte:02x}")).collect();
                ruler.push(1, Ink::Label, byte.to_string());
                hex.push(1, self.ink(byte), text);
            }
            for (lane, dtype) in decoded.iter_mut().zip(&self.dtypes) {
                self.decode(memory, part, *dtype, lane);
            }
        }
        Strip { lanes }
    }

    /// Returns whether a byte belongs to an element of the view.
    fn is_shown(&self, byte: usize) -> bool {
        self.shown.is_none_or(|(view, itemsize)| {
            let place = i64::try_from(byte / itemsize.max(1)).unwrap_or(i64::MAX);
            residents(&view.layout, place).is_some()
        })
    }

    fn ink(&self, byte: usize) -> Ink {
        if self.is_shown(byte) { Ink::Shown } else { Ink::Unused }
    }

    fn decode(&self, memory: &Memory, part: &Range<usize>, dtype: DType, lane: &mut Lane) {
        let size = dtype.itemsize();
        for start in part.clone().step_by(size) {
            let end = (start + size).min(part.end);
            let text = if end - start < size { String::new() } else { decode(memory, start, dtype) };
            let ink = self.ink(start);
            let text = if ink == Ink::Unused && !text.is_empty() { format!("({text})") } else { text };
            lane.push(end - start, ink, text);
        }
    }
}

fn bytes_at(memory: &Memory, range: Range<usize>) -> Vec<u8> {
    memory.bytes().get(range).unwrap_or_default().iter().map(get).collect()
}

/// Decodes the element at a byte. Empty if it would extend beyond the end.
pub fn decode(memory: &Memory, byte: usize, dtype: DType) -> String {
    let bytes = bytes_at(memory, byte..byte.saturating_add(dtype.itemsize()));
    decode_bytes(&bytes, dtype).unwrap_or_default()
}

/// Decodes the single element in these bytes.
pub(crate) fn decode_bytes(bytes: &[u8], dtype: DType) -> Option<String> {
    let storage = Storage::from_bytes(bytes).ok()?;
    // For a quantized element, only the integer is known.
    let stored = dtype.stored_integers();
    let view = View { storage, layout: Layout::contiguous(&[]), dtype: stored, conj: false, neg: false, form: None };
    view.item().ok().map(|value| exact(value, stored))
}

#[cfg(test)]
mod tests {
    use super::super::terminal::{draw, plain};
    use super::*;
    use tensor::Scalar;

    #[test]
    fn dtypes_stand_below_each_other() {
        let view = View::from_scalars(&[2], DType::Float, [1.0, -2.5].map(Scalar::Float)).unwrap();
        let drawn = plain(&draw(&of_view(&view, &[DType::Short], 64).unwrap(), 100));
        assert!(drawn.contains("0x3f800000") && drawn.contains("16256"), "{drawn}");
        assert!(drawn.contains("-16352") && drawn.contains("-2.5"), "{drawn}");
    }

    #[test]
    fn what_lies_between_is_told_apart() {
        let mut view = View::from_scalars(&[6], DType::Byte, (0..6).map(Scalar::Int)).unwrap();
        view.layout = Layout { sizes: [3].as_slice().into(), strides: [2].as_slice().into(), offset: 0 };
        let drawn = plain(&draw(&of_view(&view, &[], 64).unwrap(), 80));
        assert!(
            drawn.contains("(1)") && drawn.contains("(3)") && !drawn.contains("(2)") && !drawn.contains("(5)"),
            "{drawn}"
        );
    }

    #[test]
    fn long_ones_are_cut() {
        let storage = Storage::from_bytes(&[7; 1000]).unwrap();
        let drawn = plain(&draw(&of_storage(&storage, &[DType::Long], 4).unwrap(), 300));
        assert!(drawn.contains("… stands for bytes that are not drawn, 976 of 1000 bytes"), "{drawn}");
        assert!(drawn.contains("  15    …    992 "), "{drawn}");
    }

    #[test]
    fn what_lies_between_is_left_out_where_it_is_much() {
        let mut view = View::from_scalars(&[1000], DType::Short, (0..1000).map(Scalar::Int)).unwrap();
        view.layout = Layout { sizes: [9].as_slice().into(), strides: [100].as_slice().into(), offset: 50 };
        let drawn = plain(&draw(&of_view(&view, &[DType::Int], 32).unwrap(), 400));
        for element in 0..9 {
            assert!(drawn.contains(&format!(" {} ", 50 + 100 * element)), "{drawn}");
        }
        assert!(drawn.contains("1568 of 1602 bytes") && drawn.contains("(51)") && !drawn.contains("(52)"), "{drawn}");
    }
}
