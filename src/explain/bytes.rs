//! Draws the bytes of a tensor or a storage, with their values in one or more dtypes below.

use std::ops::Range;

use super::element::exact;
use super::scene::{Block, Ink, Lane, Scene, Strip, byte_count, span, tuple};
use super::shown::Shown;
use super::tensors::{ends, joined, left_out_note, places_shown};
use tensor::memory::get;
use tensor::{DType, Layout, Memory, Result, Scalar, Storage, View};
use value::ArrayMemory;

/// How to read an element from its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    pub dtype: DType,
    /// Whether the bytes are in the order that the machine does not use.
    pub swapped: bool,
}

impl Reading {
    pub fn native(dtype: DType) -> Reading {
        Reading { dtype, swapped: false }
    }

    pub fn of_array(array: &ArrayMemory) -> Reading {
        Reading { dtype: array.dtype, swapped: array.swapped }
    }

    /// Returns the name that the dtype is shown by: `float64`, or `>f8` in the other byte order.
    pub fn name(self) -> String {
        if !self.swapped {
            return self.dtype.name().to_owned();
        }
        let kind = match self.dtype {
            dtype if dtype.is_complex() => 'c',
            dtype if dtype.is_floating_point() => 'f',
            DType::UInt16 | DType::UInt32 | DType::UInt64 => 'u',
            _ => 'i',
        };
        let order = if cfg!(target_endian = "little") { '>' } else { '<' };
        format!("{order}{kind}{}", self.dtype.itemsize())
    }

    /// Returns the bytes of an element in the machine's order. The parts of a complex number are swapped one by one.
    fn native_bytes(self, bytes: &[u8]) -> Vec<u8> {
        let part = if self.swapped { self.dtype.to_real().itemsize().max(1) } else { 1 };
        bytes.chunks(part).flat_map(|part| part.iter().rev().copied()).collect()
    }

    /// Reads an element. `None` if the number of bytes is not that of an element.
    pub(crate) fn scalar(self, bytes: &[u8]) -> Option<Scalar> {
        if bytes.len() != self.dtype.itemsize() {
            return None;
        }
        let storage = Storage::from_bytes(&self.native_bytes(bytes)).ok()?;
        // For a quantized element, only the integer is known.
        let dtype = self.dtype.stored_integers();
        View { storage, layout: Layout::contiguous(&[]), dtype, conj: false, neg: false, form: None }.item().ok()
    }
}

/// Draws the bytes from the first to the last element of a view, read in its own dtype and in the others.
///
/// # Errors
/// Fails with PyTorch's RuntimeError for a tensor without data or one that extends beyond its storage.
pub fn of_view(view: &View, others: &[DType], cells: usize) -> Result<Scene> {
    let memory = view.memory()?;
    let title = format!("{} tensor of size {:?}, byte by byte", view.dtype.name(), view.sizes());
    let shown = Shown::of_view(view);
    Ok(Window::of("tensor", shown, Reading::native(view.dtype), others).scene(title, &memory, cells))
}

/// Like [`of_view`], for an array.
///
/// # Errors
/// Fails with NotImplementedError for a storage without data.
pub fn of_array(array: &ArrayMemory, others: &[DType], cells: usize) -> Result<Scene> {
    let memory = array.storage.data()?;
    let title = format!("{} array of shape {}, byte by byte", array.dtype_name, tuple(&array.layout.sizes));
    Ok(Window::of("array", Shown::of_array(array), Reading::of_array(array), others).scene(title, &memory, cells))
}

/// Draws the bytes of a storage, read in these dtypes.
///
/// # Errors
/// Fails with NotImplementedError for a storage without data.
pub fn of_storage(storage: &Storage, dtypes: &[DType], cells: usize) -> Result<Scene> {
    let memory = storage.data()?;
    let dtypes = if dtypes.is_empty() { &[DType::Byte] } else { dtypes };
    let readings = dtypes.iter().copied().map(Reading::native).collect();
    let title = format!("storage of {}, byte by byte", byte_count(memory.nbytes() as u64));
    let window = Window { range: 0..memory.nbytes(), readings, shown: None, owner: "storage" };
    Ok(window.scene(title, &memory, cells))
}

/// The drawn part of a memory.
struct Window {
    range: Range<usize>,
    readings: Vec<Reading>,
    /// The elements to highlight, which the first reading reads.
    shown: Option<Shown>,
    /// What has the elements: a tensor or an array.
    owner: &'static str,
}

impl Window {
    fn of(owner: &'static str, shown: Shown, own: Reading, others: &[DType]) -> Window {
        let mut readings = vec![own];
        readings.extend(others.iter().copied().map(Reading::native).filter(|reading| *reading != own));
        let byte = |at: i64| usize::try_from(at).unwrap_or_default();
        let range = shown.range();
        Window { range: byte(range.start)..byte(range.end), readings, shown: Some(shown), owner }
    }

    fn scene(&self, title: String, memory: &Memory, cells: usize) -> Scene {
        let mut scene = Scene::new(title);
        let unit = self.readings.iter().map(|reading| reading.dtype.itemsize()).max().unwrap_or(1);
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
            scene.note(
                Ink::Unused,
                format!("( ) marks bytes between the {}'s elements that do not belong to it", self.owner),
            );
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
        let wanted = match &self.shown {
            None => ends(&Layout::contiguous(&[units]), cells).map(|at| at..at + 1).collect(),
            Some(shown) => {
                let grid = shown.grid();
                let (cell, unit) = (grid.cell as i64, unit as i64);
                let of_byte = |place: i64| (place - grid.layout.offset) * cell;
                let range = |place| of_byte(place) / unit..(of_byte(place) + shown.itemsize as i64 + unit - 1) / unit;
                ends(&grid.layout, cells).map(range).collect()
            }
        };
        let byte = |at: i64| (self.range.start + at as usize * unit).min(self.range.end);
        joined(wanted, units).into_iter().map(|part| byte(part.start)..byte(part.end)).collect()
    }

    /// Describes the byte order.
    fn order(&self, memory: &Memory) -> String {
        let wide = self.readings.iter().find(|reading| reading.dtype.to_real().itemsize() > 1);
        let Some(reading) = wide.map(|reading| Reading { dtype: reading.dtype.to_real(), ..*reading }) else {
            return "none: an element is one byte".to_owned();
        };
        let mut first = bytes_at(memory, self.range.start..self.range.start + reading.dtype.itemsize());
        let is_little = cfg!(target_endian = "little") != reading.swapped;
        if is_little {
            first.reverse();
        }
        let number: String = first.iter().map(|byte| format!("{byte:02x}")).collect();
        let (name, which) = if is_little { ("little-endian", "least") } else { ("big-endian", "most") };
        format!("{name}: {which} significant byte first; the first {} is 0x{number}", reading.name())
    }

    fn has_gaps(&self) -> bool {
        self.shown.as_ref().is_some_and(|shown| {
            let (range, size) = (shown.range(), shown.itemsize as u64);
            places_shown(&shown.grid().layout)
                .is_some_and(|places| places.saturating_mul(size) < range.end.abs_diff(range.start))
        })
    }

    /// Draws the parts side by side, with an ellipsis between them.
    fn strip(&self, memory: &Memory, parts: &[Range<usize>]) -> Strip {
        let mut lanes = vec![Lane::ruler("byte"), Lane::framed("hex")];
        lanes.extend(self.readings.iter().map(|reading| Lane::framed(reading.name())));
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
            for (number, (lane, reading)) in decoded.iter_mut().zip(&self.readings).enumerate() {
                let starts = self.starts(part, *reading, number == 0);
                self.decode(memory, &starts, part.end, *reading, lane);
            }
        }
        Strip { lanes }
    }

    fn ink(&self, byte: usize) -> Ink {
        let byte = i64::try_from(byte).unwrap_or(i64::MAX);
        if self.shown.as_ref().is_none_or(|shown| shown.has(byte)) { Ink::Shown } else { Ink::Unused }
    }

    /// Returns the first bytes of the values that a lane decodes. Between elements, values begin at multiples of their
    /// size.
    fn starts(&self, part: &Range<usize>, reading: Reading, is_own: bool) -> Vec<usize> {
        let size = reading.dtype.itemsize().max(1);
        let bytes = i64::try_from(part.start).unwrap_or(i64::MAX)..i64::try_from(part.end).unwrap_or(i64::MAX);
        let elements = self.shown.as_ref().filter(|_| is_own).map(|shown| shown.starting_in(bytes));
        let elements = elements.into_iter().flatten().filter_map(|(at, _)| usize::try_from(at).ok());
        let (mut starts, mut next) = (Vec::new(), part.start);
        for element in elements.chain([part.end]) {
            starts.extend((next..element).step_by(size));
            starts.push(element);
            next = element.saturating_add(size);
        }
        starts.pop();
        starts
    }

    fn decode(&self, memory: &Memory, starts: &[usize], stop: usize, reading: Reading, lane: &mut Lane) {
        let size = reading.dtype.itemsize();
        for (i, &start) in starts.iter().enumerate() {
            let end = starts.get(i + 1).copied().unwrap_or(stop);
            let ink = self.ink(start);
            // Elements may overlap; a gap may be shorter than an element.
            let is_whole = if ink == Ink::Shown { start + size <= stop } else { end - start == size };
            let bytes = bytes_at(memory, start..start.saturating_add(size));
            let text = decode_bytes(&bytes, reading).filter(|_| is_whole).unwrap_or_default();
            let text = if ink == Ink::Unused && !text.is_empty() { format!("({text})") } else { text };
            lane.push(end - start, ink, text);
        }
    }
}

fn bytes_at(memory: &Memory, range: Range<usize>) -> Vec<u8> {
    memory.bytes().get(range).unwrap_or_default().iter().map(get).collect()
}

/// Decodes the single element in these bytes.
pub(crate) fn decode_bytes(bytes: &[u8], reading: Reading) -> Option<String> {
    Some(exact(reading.scalar(bytes)?, reading.dtype.stored_integers()))
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
