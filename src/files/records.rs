//! The element types of numpy arrays: numbers, or records of named fields, which may be nested. A field of all records
//! is a tensor with strides on the array's bytes, if its strides are whole elements. Knows neither headers nor pickles.

use super::contents::{Bytes, Contents, Entry, StorageInfo, shown};
use super::literal::Literal;
use std::collections::HashSet;
use std::rc::Rc;
use tensor::bail;
use tensor::layout::{checked_numel, contiguous_strides};
use tensor::ops::copy;
use tensor::{DType, Dims, Error, Layout, Result, Storage, Tensor, View, interrupt};
use value::{Dict, Value};

/// The maximum number of dimensions, as in numpy.
const MOST_DIMENSIONS: usize = 64;

/// The element type of an array.
#[derive(Clone, Debug)]
pub(crate) enum Element {
    Number(Number),
    Record(Record),
}

/// A number type, and whether its byte order is reversed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Number {
    pub dtype: DType,
    pub is_swapped: bool,
}

/// Consecutive named fields.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    fields: Vec<Field>,
    nbytes: usize,
}

#[derive(Clone, Debug)]
struct Field {
    name: Rc<str>,
    /// Its first byte in the record.
    offset: usize,
    /// The sizes of an array inside the record.
    sizes: Dims,
    element: Element,
}

/// The layout of an array's or a field's elements, in bytes.
#[derive(Clone, Debug)]
struct ElementLayout {
    sizes: Dims,
    strides: Dims,
    offset: usize,
}

/// The names of dtypes without their byte order.
pub(crate) const DTYPES: &[(&str, DType)] = &[
    ("b1", DType::Bool),
    ("u1", DType::Byte),
    ("i1", DType::Char),
    ("i2", DType::Short),
    ("i4", DType::Int),
    ("i8", DType::Long),
    ("u2", DType::UInt16),
    ("u4", DType::UInt32),
    ("u8", DType::UInt64),
    ("f2", DType::Half),
    ("f4", DType::Float),
    ("f8", DType::Double),
    ("c8", DType::ComplexFloat),
    ("c16", DType::ComplexDouble),
];

fn absurd() -> Error {
    Error::value("the shape of an array is invalid")
}

impl Number {
    /// Returns the number type for a numpy name such as `<f4`.
    ///
    /// # Errors
    /// Fails with ValueError for types that a tensor cannot have: objects, strings, times.
    pub(crate) fn of(descr: &str) -> Result<Number> {
        let (order, name) = descr.split_at_checked(1).unwrap_or_default();
        if name.starts_with('O') {
            bail!(ValueError, "Object arrays cannot be loaded when allow_pickle=False");
        }
        let is_other = match order {
            "<" => Some(cfg!(target_endian = "big")),
            ">" => Some(cfg!(target_endian = "little")),
            "|" | "=" => Some(false),
            _ => None,
        };
        let found = DTYPES.iter().find(|(known, _)| *known == name);
        let Some(((_, dtype), is_other)) = found.zip(is_other) else {
            bail!(ValueError, "the dtype {descr:?} is not supported")
        };
        Ok(Number { dtype: *dtype, is_swapped: is_other && dtype.to_real().itemsize() > 1 })
    }

    /// Returns the number of bytes in a unit with a byte order.
    pub(crate) fn group(self) -> usize {
        self.dtype.to_real().itemsize()
    }

    /// Returns a tensor over these elements, on the storage itself if possible. A storage that `is_own` may be
    /// modified.
    fn tensor(self, storage: &Storage, place: &ElementLayout, is_own: bool) -> Result<Tensor> {
        let view = |storage, layout| {
            let view = View { storage, layout, dtype: self.dtype, conj: false, neg: false, form: None };
            view.check_bounds().map(|()| view)
        };
        if let Some((skip, layout)) = place.layout(self).filter(|_| !self.is_swapped) {
            let storage = if skip == 0 { storage.clone() } else { storage.slice(skip, storage.nbytes())? };
            return view(storage, layout).map(Tensor::new);
        }
        // Consecutive numbers need not be gathered.
        let is_whole = place.nbytes(self.dtype.itemsize()) == Some(storage.nbytes());
        let (storage, layout) = match place.layout(self).filter(|_| is_whole) {
            Some((0, layout)) => (if is_own { storage.clone() } else { storage.duplicate()? }, layout),
            _ => (place.gathered(storage, self)?, Layout::contiguous(&place.sizes)),
        };
        if self.is_swapped {
            storage.byteswap(self.group())?;
        }
        view(storage, layout).map(Tensor::new)
    }
}

impl Element {
    /// Parses an element type in a header: the name of a number type, or a list of fields.
    ///
    /// # Errors
    /// Fails with ValueError for types that a tensor cannot have, with the field's name.
    pub(crate) fn of(descr: &Literal) -> Result<Element> {
        match descr {
            Literal::Text(name) => Number::of(name).map(Element::Number),
            Literal::List(fields) => Record::of(fields).map(Element::Record),
            _ => bail!(ValueError, "a dtype is a string or a list of fields"),
        }
    }

    pub(crate) fn nbytes(&self) -> usize {
        match self {
            Element::Number(number) => number.dtype.itemsize(),
            Element::Record(record) => record.nbytes,
        }
    }

    /// Returns the value over these elements: a tensor, or a dictionary of the fields' values. A storage that `is_own`
    /// may be modified.
    ///
    /// # Errors
    /// Fails with ValueError if there are too many dimensions, and with RuntimeError if there are too few elements.
    pub(crate) fn value(&self, layout: &Layout, storage: &Storage, is_own: bool) -> Result<Value> {
        self.value_at(&ElementLayout::of(self, layout)?, storage, is_own)
    }

    fn value_at(&self, place: &ElementLayout, storage: &Storage, is_own: bool) -> Result<Value> {
        interrupt::check()?;
        let record = match self {
            Element::Number(number) => return number.tensor(storage, place, is_own).map(Value::Tensor),
            Element::Record(record) => record,
        };
        let dict = Dict::default();
        for field in &record.fields {
            // Fields share the storage, so none of them may modify it.
            dict.insert(Value::str(&*field.name), field.element.value_at(&place.of_field(field)?, storage, false)?)?;
        }
        Ok(Value::Dict(dict))
    }

    /// Adds the contents of an array, under its name: the array itself, or each field of its records.
    ///
    /// # Errors
    /// Fails with ValueError if there are too many dimensions.
    pub(crate) fn list(
        &self,
        contents: &mut Contents,
        name: String,
        layout: Layout,
        nbytes: usize,
        bytes: Bytes,
    ) -> Result<()> {
        let record = match self {
            Element::Number(Number { dtype, is_swapped }) => {
                let group = dtype.to_real().itemsize();
                let bytes = if *is_swapped { bytes.swapped(nbytes, group) } else { bytes };
                contents.add(name, *dtype, layout, nbytes, bytes);
                return Ok(());
            }
            Element::Record(record) => record,
        };
        let whole = RecordArray { storage: contents.storages.len(), nbytes, bytes: bytes.clone() };
        let key = if name.is_empty() { "records".to_owned() } else { name.clone() };
        contents.storages.push(StorageInfo { key, nbytes: nbytes as u64, bytes, location: "cpu".to_owned() });
        record.list(contents, &name, &ElementLayout::of(self, &layout)?, &whole)
    }
}

/// All records of an array.
struct RecordArray {
    /// The index of their storage in the contents.
    storage: usize,
    nbytes: usize,
    bytes: Bytes,
}

impl Record {
    fn of(descr: &[Literal]) -> Result<Record> {
        let (mut fields, mut offset, mut names) = (Vec::new(), 0usize, HashSet::new());
        for field in descr {
            let Some([name, descr, shape @ ..]) = field.tuple().filter(|field| field.len() <= 3) else {
                bail!(ValueError, "a field of a record has a name and a dtype")
            };
            // A title may precede the name.
            let name = match name.tuple() {
                Some([_, name]) => name.text(),
                _ => name.text(),
            };
            let name = name.ok_or_else(|| Error::value("the name of a field is not a string"))?;
            // numpy fills gaps with nameless bytes.
            let padding = descr.text().filter(|_| name.is_empty()).and_then(|descr| descr.strip_prefix("|V"));
            let next = match padding.and_then(|length| length.parse().ok()) {
                Some(length) => offset.checked_add(length),
                None => {
                    let said = |error: Error| Error::value(format!("the field {}: {}", shown(name), error.message));
                    let sizes = match shape {
                        [] => Some(Dims::new()),
                        [Literal::Int(size), ..] => Some(Dims::from_elem(*size, 1)),
                        [shape, ..] => shape.ints(),
                    };
                    let sizes = sizes.ok_or_else(|| said(Error::value("its shape is not a tuple of integers")))?;
                    let element = Element::of(descr).map_err(said)?;
                    if name.is_empty() || !names.insert(name) {
                        bail!(ValueError, "a record has two fields {}, or one without a name", shown(name));
                    }
                    let count = usize::try_from(checked_numel(&sizes).map_err(said)?).ok();
                    let nbytes = count.and_then(|count| count.checked_mul(element.nbytes()));
                    fields.push(Field { name: name.into(), offset, sizes, element });
                    nbytes.and_then(|nbytes| offset.checked_add(nbytes))
                }
            };
            offset = next.filter(|&next| i64::try_from(next).is_ok()).ok_or_else(absurd)?;
        }
        if offset == 0 {
            bail!(ValueError, "the records have no bytes");
        }
        Ok(Record { fields, nbytes: offset })
    }

    fn list(&self, contents: &mut Contents, prefix: &str, place: &ElementLayout, whole: &RecordArray) -> Result<()> {
        for field in &self.fields {
            let name = if prefix.is_empty() { field.name.to_string() } else { format!("{prefix}.{}", field.name) };
            let place = place.of_field(field)?;
            match &field.element {
                Element::Record(record) => record.list(contents, &name, &place, whole)?,
                Element::Number(number) => number.list(contents, name, place, whole),
            }
        }
        Ok(())
    }
}

impl Number {
    fn list(self, contents: &mut Contents, name: String, place: ElementLayout, whole: &RecordArray) {
        let nbytes = place.nbytes(self.dtype.itemsize()).unwrap_or(usize::MAX);
        match place.layout(self).filter(|_| !self.is_swapped) {
            Some((0, layout)) => {
                let entry = Entry::new(name, self.dtype, layout, nbytes as u64, whole.storage);
                contents.entries.push(entry);
            }
            Some((skip, layout)) => {
                let elements = layout.storage_elements().ok().and_then(|count| usize::try_from(count).ok());
                let rest = whole.nbytes.saturating_sub(skip);
                let reached = elements.and_then(|count| count.checked_mul(self.dtype.itemsize())).unwrap_or(rest);
                contents.add(name, self.dtype, layout, reached, whole.bytes.from(skip, reached));
                if let Some(entry) = contents.entries.last_mut() {
                    entry.nbytes = nbytes as u64;
                }
            }
            None => {
                let (layout, bytes, all) = (Layout::contiguous(&place.sizes), whole.bytes.clone(), whole.nbytes);
                let gather = move || {
                    let storage = place.gathered(&bytes.open(all)?, self)?;
                    if self.is_swapped {
                        storage.byteswap(self.group())?;
                    }
                    Ok(storage)
                };
                contents.add(name, self.dtype, layout, nbytes, Bytes::Made(Rc::new(gather)));
            }
        }
    }
}

impl ElementLayout {
    fn of(element: &Element, layout: &Layout) -> Result<ElementLayout> {
        let nbytes = element.nbytes() as i64;
        let strides = layout.strides.iter().map(|stride| stride.checked_mul(nbytes));
        let strides = strides.collect::<Option<Dims>>().ok_or_else(absurd)?;
        Ok(ElementLayout { sizes: layout.sizes.clone(), strides, offset: 0 })
    }

    /// Returns the place of one field in every record.
    fn of_field(&self, field: &Field) -> Result<ElementLayout> {
        let nbytes = field.element.nbytes() as i64;
        let mut place = self.clone();
        place.offset = place.offset.checked_add(field.offset).ok_or_else(absurd)?;
        place.sizes.extend_from_slice(&field.sizes);
        for stride in contiguous_strides(&field.sizes) {
            place.strides.push(stride.checked_mul(nbytes).ok_or_else(absurd)?);
        }
        if place.sizes.len() > MOST_DIMENSIONS {
            bail!(ValueError, "the field {} has more than {MOST_DIMENSIONS} dimensions", shown(&field.name));
        }
        Ok(place)
    }

    /// Returns the total size in bytes, for `itemsize` bytes per element.
    fn nbytes(&self, itemsize: usize) -> Option<usize> {
        let count = usize::try_from(checked_numel(&self.sizes).ok()?).ok()?;
        count.checked_mul(itemsize)
    }

    /// Converts the place to a layout in elements, preceded by a number of bytes to skip. `None` if a stride is not a
    /// multiple of the element size.
    fn layout(&self, number: Number) -> Option<(usize, Layout)> {
        let itemsize = number.dtype.itemsize();
        let step = itemsize as i64;
        let strides = self.strides.iter().map(|stride| (stride % step == 0).then_some(stride / step));
        let (strides, sizes) = (strides.collect::<Option<Dims>>()?, self.sizes.clone());
        // Without elements, nothing needs to be skipped.
        let is_aligned = self.offset.is_multiple_of(itemsize) || sizes.contains(&0);
        let (skip, offset) = if is_aligned { (0, (self.offset / itemsize) as i64) } else { (self.offset, 0) };
        Some((skip, Layout { sizes, strides, offset }))
    }

    /// Copies the elements to a contiguous storage.
    fn gathered(&self, storage: &Storage, number: Number) -> Result<Storage> {
        let (mut sizes, mut strides) = (self.sizes.clone(), self.strides.clone());
        sizes.push(number.dtype.itemsize() as i64);
        strides.push(1);
        let layout = Layout { sizes, strides, offset: i64::try_from(self.offset).map_err(|_| absurd())? };
        let bytes = View { storage: storage.clone(), layout, dtype: DType::Byte, conj: false, neg: false, form: None };
        bytes.check_bounds()?;
        Ok(copy::row_major(&bytes)?.storage)
    }
}
