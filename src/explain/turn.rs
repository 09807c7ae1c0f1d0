//! Changes the size, strides, offset and dtype of a tensor or an array by hand, over its real storage. A change that would
//! reach beyond the storage fails and says why. No code is evaluated, and only the bytes that are asked for are written.

mod code;
mod draw;

pub use code::Base;

use super::residents::{index_of, place_at};
use super::scene::{counted, grouped, list, tuple};
use std::collections::BTreeSet;
use tensor::dtype::Family;
use tensor::{DType, Dims, Layout, Storage, View};
use value::{ArrayMemory, Value};

/// The maximum number of dimensions.
const MOST_DIMS: usize = 8;
/// The maximum number of elements. More could not be counted in 64 bits of bytes.
const MOST_ELEMENTS: i64 = 1 << 40;
/// The number of bytes of a cache line.
const LINE: i64 = 64;
/// The maximum number of elements whose cache lines are counted one by one.
const COUNTED: i64 = 1 << 16;

/// A tensor or an array whose layout is changed by hand.
#[derive(Clone, Debug)]
pub struct Turn(Turned);

#[derive(Clone, Debug)]
enum Turned {
    Tensor(View),
    Array(ArrayMemory),
}

/// One change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Sets the size of a dimension.
    Size(usize, i64),
    /// Sets the stride of a dimension: in elements for a tensor, in bytes for an array.
    Stride(usize, i64),
    Offset(i64),
    /// Reads the same bytes as another dtype, like `view(dtype)`.
    DType(DType),
    /// Inserts a dimension of size 1 before this one.
    Add(usize),
    /// Keeps index 0 of a dimension.
    Remove(usize),
    Swap(usize, usize),
}

impl Change {
    /// Returns the change with a name and its numbers: `size` of dimension 0 to 4.
    pub fn named(name: &str, numbers: &[i64]) -> Option<Change> {
        let dim = |at: usize| numbers.get(at).and_then(|dim| usize::try_from(*dim).ok());
        Some(match name {
            "size" => Change::Size(dim(0)?, *numbers.get(1)?),
            "stride" => Change::Stride(dim(0)?, *numbers.get(1)?),
            "offset" => Change::Offset(*numbers.first()?),
            "add" => Change::Add(dim(0)?),
            "remove" => Change::Remove(dim(0)?),
            "swap" => Change::Swap(dim(0)?, dim(1)?),
            _ => return None,
        })
    }

    /// Returns the change to the dtype with a name.
    pub fn dtype(name: &str) -> Option<Change> {
        dtype_named(name).map(Change::DType)
    }
}

fn dtype_named(name: &str) -> Option<DType> {
    DType::ALL.iter().copied().find(|dtype| dtype.name() == name)
}

/// One element, in reading order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Visit {
    /// The position: an element of a tensor's storage, a byte of an array's.
    pub place: i64,
    /// The index, and how its position is computed.
    pub text: String,
}

impl Turn {
    /// Begins with the layout of a tensor or an array.
    ///
    /// # Errors
    /// Fails with the reason why the value cannot be turned.
    pub fn of(value: &Value) -> Result<Turn, String> {
        if let Some(array) = value.array_memory() {
            return Ok(Turn(Turned::Array(array)));
        }
        let Value::Tensor(tensor) = value else {
            return Err(format!("{} has no size, stride and offset to change", value.type_name()));
        };
        let view = tensor.view();
        if view.is_sparse() {
            let layout = view.tensor_layout().name();
            return Err(format!("a torch.{layout} tensor has no storage of its own; turn its values()"));
        }
        if view.dtype.is_quantized() {
            return Err("a quantized tensor has no as_strided(); turn its int_repr()".to_owned());
        }
        if view.conj || view.neg {
            let resolve = if view.conj { "resolve_conj()" } else { "resolve_neg()" };
            return Err(format!("the values differ from the stored ones; turn its {resolve}"));
        }
        if view.device().is_meta() {
            return Err("a tensor on the meta device has no bytes".to_owned());
        }
        view.check_bounds().map_err(|error| error.message)?;
        Ok(Turn(Turned::Tensor(view)))
    }

    pub fn layout(&self) -> &Layout {
        match &self.0 {
            Turned::Tensor(view) => &view.layout,
            Turned::Array(array) => &array.layout,
        }
    }

    pub fn dtype(&self) -> DType {
        match &self.0 {
            Turned::Tensor(view) => view.dtype,
            Turned::Array(array) => array.dtype,
        }
    }

    pub fn storage(&self) -> &Storage {
        match &self.0 {
            Turned::Tensor(view) => &view.storage,
            Turned::Array(array) => &array.storage,
        }
    }

    pub fn is_array(&self) -> bool {
        matches!(self.0, Turned::Array(_))
    }

    /// Returns the dtypes to choose from.
    pub fn dtypes(&self) -> impl Iterator<Item = DType> + use<> {
        let is_array = self.is_array();
        let is_numpys =
            |dtype: DType| dtype.family() != Family::Float8 && !matches!(dtype, DType::BFloat16 | DType::ComplexHalf);
        DType::ALL.iter().copied().filter(move |dtype| !is_array || is_numpys(*dtype))
    }

    /// Returns the unit of strides and offset.
    pub fn unit(&self) -> &'static str {
        if self.is_array() { "byte" } else { "cell" }
    }

    /// Returns the number of bytes of a unit.
    pub fn unit_bytes(&self) -> i64 {
        if self.is_array() { 1 } else { self.dtype().itemsize() as i64 }
    }

    /// Returns the distance of two neighbours, in units.
    pub fn step(&self) -> i64 {
        if self.is_array() { self.dtype().itemsize() as i64 } else { 1 }
    }

    /// Returns the number of units of the storage.
    fn room(&self) -> i64 {
        i64::try_from(self.storage().nbytes()).unwrap_or(i64::MAX) / self.unit_bytes().max(1)
    }

    /// Carries out a change.
    ///
    /// # Errors
    /// Fails with the reason if the change would leave the storage or is not allowed. Nothing has changed then.
    pub fn apply(&mut self, change: Change) -> Result<(), String> {
        *self = self.changed(change)?;
        Ok(())
    }

    /// Replaces size, strides, offset and dtype.
    ///
    /// # Errors
    /// Fails with the reason if they would leave the storage or are not allowed.
    pub fn with(&self, layout: Layout, dtype: DType) -> Result<Turn, String> {
        let turn = match &self.0 {
            Turned::Tensor(view) => Turned::Tensor(View { layout: layout.clone(), dtype, ..view.clone() }),
            Turned::Array(array) if dtype == array.dtype => {
                Turned::Array(ArrayMemory { layout: layout.clone(), ..array.clone() })
            }
            Turned::Array(array) => Turned::Array(ArrayMemory {
                layout: layout.clone(),
                dtype,
                swapped: false,
                dtype_name: dtype.name().to_owned(),
                ..array.clone()
            }),
        };
        let turn = Turn(turn);
        if layout.sizes.len() != layout.strides.len() {
            return Err("every dimension has a size and a stride".to_owned());
        }
        turn.check("this layout")?;
        Ok(turn)
    }

    /// Like [`Turn::with`], for numbers and a name that another program gives.
    ///
    /// # Errors
    /// Those of [`Turn::with`].
    pub fn with_numbers(&self, sizes: &[i64], strides: &[i64], offset: i64, dtype: &str) -> Result<Turn, String> {
        let dtype = dtype_named(dtype).ok_or_else(|| format!("there is no dtype {dtype}"))?;
        self.with(Layout { sizes: sizes.into(), strides: strides.into(), offset }, dtype)
    }

    fn changed(&self, change: Change) -> Result<Turn, String> {
        let mut layout = self.layout().clone();
        let ndim = layout.ndim();
        let missing = |dim: usize| format!("there is no dimension {dim}");
        let what = match change {
            Change::Size(dim, size) => {
                *layout.sizes.get_mut(dim).ok_or_else(|| missing(dim))? = size;
                format!("size {size}")
            }
            Change::Stride(dim, stride) => {
                *layout.strides.get_mut(dim).ok_or_else(|| missing(dim))? = stride;
                format!("stride {stride}")
            }
            Change::Offset(offset) => {
                layout.offset = offset;
                format!("offset {offset}")
            }
            Change::DType(dtype) => return self.read_as(dtype),
            Change::Add(dim) => {
                if ndim >= MOST_DIMS {
                    return Err(format!("{MOST_DIMS} dimensions are the most here"));
                }
                let stride = match (layout.sizes.get(dim), layout.strides.get(dim)) {
                    (Some(size), Some(stride)) => size.saturating_mul(*stride),
                    _ if dim == ndim => self.step(),
                    _ => return Err(missing(dim)),
                };
                layout.sizes.insert(dim, 1);
                layout.strides.insert(dim, stride);
                "a dimension more".to_owned()
            }
            Change::Remove(dim) => {
                match layout.sizes.get(dim) {
                    None => return Err(missing(dim)),
                    Some(0) => return Err(format!("dimension {dim} has no index 0 to keep")),
                    Some(_) => layout = layout.select(dim, 0),
                }
                "a dimension less".to_owned()
            }
            Change::Swap(a, b) => {
                if let Some(dim) = [a, b].into_iter().find(|dim| *dim >= ndim) {
                    return Err(missing(dim));
                }
                layout.sizes.swap(a, b);
                layout.strides.swap(a, b);
                "this order".to_owned()
            }
        };
        let turn = self.with_unchecked(layout);
        turn.check(&what)?;
        let (room, unit) = (self.room(), self.unit());
        match change {
            // Without elements nothing is read, but the offset still says where in the storage.
            Change::Offset(offset) if offset > room => {
                Err(format!("offset {offset} lies beyond the storage's {}", counted_units(room, unit)))
            }
            // No element uses the stride of a dimension of size 1.
            Change::Stride(_, stride) if stride.unsigned_abs() > room.max(1).unsigned_abs() => {
                Err(format!("stride {stride} leads beyond the storage's {}", counted_units(room, unit)))
            }
            _ => Ok(turn),
        }
    }

    fn with_unchecked(&self, layout: Layout) -> Turn {
        Turn(match &self.0 {
            Turned::Tensor(view) => Turned::Tensor(view.with_layout(layout)),
            Turned::Array(array) => Turned::Array(ArrayMemory { layout, ..array.clone() }),
        })
    }

    /// Checks that every element is in the storage. `what` is what was asked for.
    fn check(&self, what: &str) -> Result<(), String> {
        let layout = self.layout();
        if let Some(size) = layout.sizes.iter().find(|size| **size < 0) {
            return Err(format!("a size is 0 or more, not {size}"));
        }
        if let Some(dim) = layout.strides.iter().position(|stride| *stride < 0).filter(|_| !self.is_array()) {
            return Err(format!(
                "PyTorch has no negative strides: flip({dim}) copies instead. An array of NumPy can walk backwards"
            ));
        }
        let numel = layout.sizes.iter().try_fold(1i64, |product, size| product.checked_mul(*size));
        if numel.is_none_or(|numel| numel > MOST_ELEMENTS) {
            let most = counted(MOST_ELEMENTS.unsigned_abs(), "element");
            return Err(format!("{what} would make more than {most}"));
        }
        let (room, unit) = (self.room(), self.unit());
        let beyond = |place: i128| match place {
            ..0 => Err(format!("{what} would reach {unit} {place}; the storage begins at 0")),
            _ => Err(format!("{what} would reach {unit} {place}; the storage has {room}")),
        };
        let (mut low, mut high) = (i128::from(layout.offset), i128::from(layout.offset));
        for (&size, &stride) in layout.sizes.iter().zip(&layout.strides) {
            let span = (i128::from(size) - 1).max(0) * i128::from(stride);
            let end = if span < 0 { &mut low } else { &mut high };
            *end += span;
        }
        high += i128::from(self.step()) - 1;
        if numel == Some(0) {
            (low, high) = (i128::from(layout.offset), -1);
        }
        if low < 0 {
            return beyond(low);
        }
        if high >= i128::from(room) {
            return beyond(high);
        }
        Ok(())
    }

    fn read_as(&self, dtype: DType) -> Result<Turn, String> {
        match &self.0 {
            Turned::Tensor(view) => {
                let viewed = view.view_dtype(dtype).map_err(|error| error.message.trim_end_matches('.').to_owned())?;
                Ok(Turn(Turned::Tensor(viewed)))
            }
            Turned::Array(array) => {
                let (old, new) = (array.dtype.itemsize() as i64, dtype.itemsize() as i64);
                let mut layout = array.layout.clone();
                if old != new {
                    let last = layout.sizes.last_mut().zip(layout.strides.last_mut());
                    let Some((size, stride)) = last else {
                        return Err("a 0-dimensional array has no axis whose size could change".to_owned());
                    };
                    let along = size.saturating_mul(old);
                    if *size > 1 && *stride != old {
                        return Err(format!("strides[-1] must be {old} for elements of another size, not {stride}"));
                    }
                    if along % new != 0 {
                        return Err(format!("{new} must divide the {along} bytes of the last axis"));
                    }
                    (*size, *stride) = (along / new, new);
                }
                self.with(layout, dtype)
            }
        }
    }

    /// Writes one byte of the storage.
    ///
    /// # Errors
    /// Fails with the reason if there is no such byte or it cannot be written.
    pub fn set_byte(&self, byte: usize, value: u8) -> Result<(), String> {
        if let Turned::Array(array) = &self.0
            && !array.is_writeable
        {
            return Err("the array is read-only".to_owned());
        }
        match self.storage().set_byte(byte, value) {
            Ok(true) => Ok(()),
            Ok(false) => Err(self.no_byte(byte)),
            Err(error) => Err(error.message),
        }
    }

    /// Returns a byte with one bit flipped; bit 0 counts least.
    ///
    /// # Errors
    /// Fails with the reason if there is no such byte or bit.
    pub fn flipped(&self, byte: usize, bit: u32) -> Result<u8, String> {
        let mask = 1u8.checked_shl(bit).ok_or_else(|| format!("a byte has bits 0 to 7, not {bit}"))?;
        Ok(self.byte(byte)? ^ mask)
    }

    /// Returns one byte of the storage.
    ///
    /// # Errors
    /// Fails with the reason if there is no such byte.
    pub fn byte(&self, byte: usize) -> Result<u8, String> {
        self.storage().byte(byte).map_err(|error| error.message)?.ok_or_else(|| self.no_byte(byte))
    }

    fn no_byte(&self, byte: usize) -> String {
        format!("there is no byte {byte}; the storage has {}", self.storage().nbytes())
    }

    /// Computes the position of an element: `4 + 1·4 + 1·2 = 10`.
    pub fn address(&self, index: &[i64]) -> String {
        let layout = self.layout();
        let mut text = layout.offset.to_string();
        for (at, stride) in index.iter().zip(&layout.strides) {
            match stride {
                ..0 => text.push_str(&format!(" + {at}·({stride})")),
                _ => text.push_str(&format!(" + {at}·{stride}")),
            }
        }
        if !index.is_empty() {
            text.push_str(&format!(" = {}", place_at(layout, index)));
        }
        text
    }

    /// Returns the first elements in reading order.
    pub fn order(&self, most: usize) -> Vec<Visit> {
        let layout = self.layout();
        let count = usize::try_from(layout.numel()).unwrap_or(usize::MAX).min(most);
        let visit = |number: usize| {
            let index = index_of(i64::try_from(number).unwrap_or(i64::MAX), &layout.sizes);
            let name = if self.is_array() { tuple(&index) } else { list(&index) };
            let text = format!("{name}: {} {}", self.unit(), self.address(&index));
            Visit { place: place_at(layout, &index), text }
        };
        (0..count).map(visit).collect()
    }

    /// Describes the cache lines that reading touches, and how often it goes to another one. Lines are those of the real
    /// address.
    pub fn cache_lines(&self) -> String {
        let layout = self.layout();
        if layout.numel() == 0 {
            return "none: there are no elements".to_owned();
        }
        let begin = (self.storage().data_ptr() % LINE as usize) as i64;
        let line = |byte: i64| (begin + byte) / LINE;
        let size = self.dtype().itemsize() as i64;
        let unit = self.unit_bytes();
        if layout.numel() > COUNTED {
            let (low, high) = layout.reach().unwrap_or_default();
            let most = line((high.saturating_sub(1)).saturating_mul(unit)) - line(low.saturating_mul(unit)) + 1;
            return format!("at most {}, of 64 bytes each", grouped(most.unsigned_abs()));
        }
        let (mut lines, mut entered, mut last) = (BTreeSet::new(), 0u64, None);
        for place in layout.offsets() {
            for line in line(place * unit)..=line(place * unit + size - 1) {
                lines.insert(line);
                entered += u64::from(last.replace(line) != Some(line));
            }
        }
        let touched = grouped(lines.len() as u64);
        let times = if entered == 1 { "once".to_owned() } else { format!("{} times", grouped(entered)) };
        format!("{touched} of 64 bytes; reading in order enters one {times}")
    }

    /// Returns the layout that `view(sizes)` gives the same elements, or `None` if it is refused; for an array `reshape`, or
    /// `None` if that copies. The number of elements must be the same.
    fn viewed(&self, sizes: &[i64]) -> Option<Layout> {
        match &self.0 {
            Turned::Tensor(view) => {
                let strides = view.layout.compute_stride(sizes)?;
                Some(Layout { sizes: sizes.into(), strides, offset: view.layout.offset })
            }
            Turned::Array(array) => array.reshaped(sizes),
        }
    }

    /// Describes which `view` works: over all elements as one dimension or, if that needs a copy, with the fewest
    /// dimensions. For an array, which `reshape` does not copy.
    pub fn views(&self) -> String {
        let layout = self.layout();
        let name = if self.is_array() { "reshape" } else { "view" };
        let flat = [layout.numel()];
        if let Some(Layout { strides, .. }) = self.viewed(&flat) {
            let works = if self.is_array() { "shares the bytes" } else { "works" };
            return format!("{name}({}) {works}: stride {}", flat[0], joined(&strides));
        }
        let merged = merged(layout);
        let works = match merged.len() < layout.ndim() {
            true => format!("{name}({}) works; ", joined(&merged)),
            false => String::new(),
        };
        let why = layout.view_fault(&flat).map_or(String::new(), |fault| {
            let stride = layout.strides.get(fault.outer).copied().unwrap_or_default();
            format!(
                ": stride({}) is {stride}, one step through dimensions {} and {} needs {}",
                fault.outer, fault.outer, fault.inner, fault.needed
            )
        });
        let copies = if self.is_array() { "copies" } else { "is refused" };
        format!("{works}{name}({}) {copies}{why}", flat[0])
    }
}

/// Merges neighbouring dimensions that one stride walks; dimensions of size 1 disappear.
fn merged(layout: &Layout) -> Dims {
    let mut sizes = Dims::new();
    let mut before = None;
    for (&size, &stride) in layout.sizes.iter().zip(&layout.strides).filter(|(size, _)| **size != 1) {
        match (sizes.last_mut(), before) {
            (Some(last), Some(before)) if before == size.saturating_mul(stride) => *last *= size,
            _ => sizes.push(size),
        }
        before = Some(stride);
    }
    sizes
}

fn counted_units(count: i64, unit: &str) -> String {
    counted(count.unsigned_abs(), unit)
}

/// Formats numbers with commas: `2, 3`.
fn joined(numbers: &[i64]) -> String {
    numbers.iter().map(i64::to_string).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests;
