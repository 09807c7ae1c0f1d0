//! [`Array`]: bytes of a storage, what each element is and where it lies. It is what functions compute with; the object
//! that scripts hold, with its base and flags, is in [`crate::ndarray`].

use crate::descr::Descr;
use crate::element::{self, Item, each};
use crate::strided::{Strided, checked_count};
use std::rc::Rc;
use tensor::memory::{Memory, get, set};
use tensor::parallel::{self, Block, Elements, StepPattern, vectorised};
use tensor::{Device, Dims, Error, Layout, Result, Scalar, Storage, View, interrupt, limits};

/// Elements of a storage. Cloning shares the storage.
#[derive(Clone, Debug)]
pub(crate) struct Array {
    pub storage: Storage,
    pub descr: Descr,
    pub places: Strided,
}

/// The order in which a new array stores its elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// Row-major.
    C,
    /// Column-major.
    F,
    /// Column-major if the source is, else row-major.
    Any,
    /// As close to the source as possible.
    Keep,
}

impl Array {
    /// Allocates an array of zeros.
    ///
    /// # Errors
    /// ValueError for sizes that cannot be; MemoryError if there is not enough memory.
    pub(crate) fn zeros(shape: &[i64], descr: Descr, column_major: bool) -> Result<Array> {
        let places = Strided::dense(shape, descr.itemsize(), column_major);
        Array::on(places, descr, Storage::zeroed)
    }

    /// Like [`Array::zeros`], but the caller must write every element before it is read.
    ///
    /// # Errors
    /// Those of [`Array::zeros`].
    pub(crate) fn unwritten(shape: &[i64], descr: Descr, column_major: bool) -> Result<Array> {
        let places = Strided::dense(shape, descr.itemsize(), column_major);
        Array::on(places, descr, Storage::unwritten)
    }

    fn on(mut places: Strided, descr: Descr, storage: impl FnOnce(usize, Device) -> Result<Storage>) -> Result<Array> {
        let count = checked_count(&places.shape, descr.itemsize())?;
        if count == 0 {
            // So does NumPy.
            places.strides.iter_mut().for_each(|stride| *stride = 0);
        }
        let nbytes = usize::try_from(count).unwrap_or(usize::MAX).saturating_mul(descr.itemsize());
        let storage = storage(nbytes, Device::CPU).map_err(|_| no_memory(&places.shape, descr, nbytes))?;
        Ok(Array { storage, descr, places })
    }

    /// Creates an array of one element without dimensions.
    pub(crate) fn scalar(value: Scalar, descr: Descr) -> Result<Array> {
        let array = Array::zeros(&[], descr, false)?;
        array.put(0, value)?;
        Ok(array)
    }

    /// Creates a one-dimensional array.
    pub(crate) fn of(values: &[Scalar], descr: Descr) -> Result<Array> {
        Array::shaped(&[values.len() as i64], values, descr)
    }

    /// Creates a row-major array of these values.
    pub(crate) fn shaped(shape: &[i64], values: &[Scalar], descr: Descr) -> Result<Array> {
        let array = Array::unwritten(shape, descr, false)?;
        let memory = array.storage.data()?;
        for (at, &value) in values.iter().enumerate() {
            interrupt::check_at(at)?;
            array.write_at(&memory, (at * descr.itemsize()) as i64, value);
        }
        Ok(array)
    }

    /// Returns the elements of a view as an array on the same memory; `None` for dtypes that NumPy lacks. Lazy bits of
    /// the view are ignored.
    pub(crate) fn of_view(view: &View) -> Option<Array> {
        let descr = Descr::of(view.dtype)?;
        let places = Strided::of_layout(&view.layout, descr.itemsize());
        Some(Array { storage: view.storage.clone(), descr, places })
    }

    pub(crate) fn shape(&self) -> &[i64] {
        &self.places.shape
    }

    pub(crate) fn ndim(&self) -> usize {
        self.places.ndim()
    }

    pub(crate) fn count(&self) -> i64 {
        self.places.count()
    }

    pub(crate) fn itemsize(&self) -> usize {
        self.descr.itemsize()
    }

    /// Returns the same bytes at other places.
    pub(crate) fn at(&self, places: Strided) -> Array {
        Array { storage: self.storage.clone(), descr: self.descr, places }
    }

    pub(crate) fn is_c(&self) -> bool {
        self.places.is_dense(self.itemsize(), false)
    }

    pub(crate) fn is_f(&self) -> bool {
        self.places.is_dense(self.itemsize(), true)
    }

    /// Returns whether every element is at an address that its type requires.
    pub(crate) fn is_aligned(&self) -> bool {
        let size = self.descr.dtype.to_real().itemsize().max(1);
        let fits = |bytes: i64| bytes % size as i64 == 0;
        self.address().is_multiple_of(size)
            && self.places.strides.iter().zip(&self.places.shape).all(|(&stride, &count)| count <= 1 || fits(stride))
    }

    /// Returns the address of the first element.
    pub(crate) fn address(&self) -> usize {
        self.storage.data_ptr().wrapping_add(self.places.offset as usize)
    }

    /// Returns the range of addresses that the elements occupy; `None` without elements.
    pub(crate) fn bounds(&self) -> Option<(i64, i64)> {
        let start = self.storage.data_ptr() as i64;
        let (low, high) = self.places.span(self.itemsize())?;
        Some((start.checked_add(low)?, start.checked_add(high)?))
    }

    /// Returns the memory, after checking that it holds every element: a storage may have been resized.
    ///
    /// # Errors
    /// RuntimeError if it does not.
    pub(crate) fn memory(&self) -> Result<Rc<Memory>> {
        let memory = self.storage.data()?;
        let fits = match self.places.span(self.itemsize()) {
            Some((low, high)) => low >= 0 && high <= memory.nbytes() as i64,
            None => self.places.shape.contains(&0),
        };
        match fits {
            true => Ok(memory),
            false => Err(Error::runtime(
                "the storage beneath this array has become too small for it (it was resized by a tensor)",
            )),
        }
    }

    /// Returns the elements as a view on the same memory, if a tensor could have them: in the machine's byte order, at
    /// multiples of their size and in no reversed dimension.
    pub(crate) fn view(&self) -> Option<View> {
        if self.descr.swapped {
            return None;
        }
        let layout = self.places.in_elements(self.itemsize())?;
        let is_reversed = layout.strides.iter().zip(&layout.sizes).any(|(&stride, &size)| stride < 0 && size > 1);
        if is_reversed {
            return None;
        }
        let strides = layout.strides.iter().map(|&stride| stride.max(0)).collect();
        let layout = Layout { strides, ..layout };
        Some(View {
            storage: self.storage.clone(),
            layout,
            dtype: self.descr.dtype,
            conj: false,
            neg: false,
            form: None,
        })
    }

    /// Returns the elements as a view for reading: of the same memory if possible, else of a copy.
    ///
    /// # Errors
    /// MemoryError if there is not enough memory for a copy.
    pub(crate) fn readable(&self) -> Result<View> {
        match self.view() {
            Some(view) => Ok(view),
            None => {
                let copy = self.copied(self.descr.to_native(), Order::C)?;
                copy.view().ok_or_else(|| Error::runtime("a dense array has a view"))
            }
        }
    }

    /// Reads the element whose first byte is `offset`.
    #[inline]
    pub(crate) fn read_at(&self, memory: &Memory, offset: i64) -> Scalar {
        let size = self.itemsize() as i64;
        if !self.descr.swapped && offset % size == 0 {
            let place = (offset / size) as usize;
            return each!(self.descr.dtype, T => memory.typed::<T>().get(place).map(get).unwrap_or_default().load());
        }
        let mut bytes = [0; 16];
        let cells = memory.bytes().iter().skip(offset as usize).take(self.itemsize());
        bytes.iter_mut().zip(cells).for_each(|(byte, cell)| *byte = get(cell));
        element::from_bytes(self.descr, bytes)
    }

    /// Writes the element whose first byte is `offset`.
    #[inline]
    pub(crate) fn write_at(&self, memory: &Memory, offset: i64, value: Scalar) {
        let size = self.itemsize() as i64;
        if !self.descr.swapped && offset % size == 0 {
            let place = (offset / size) as usize;
            each!(self.descr.dtype, T => if let Some(cell) = memory.typed::<T>().get(place) { set(cell, T::store(value)) });
            return;
        }
        let bytes = element::to_bytes(self.descr, value);
        let cells = memory.bytes().iter().skip(offset as usize).take(self.itemsize());
        bytes.iter().zip(cells).for_each(|(byte, cell)| set(cell, *byte));
    }

    /// Returns the element at a byte offset.
    pub(crate) fn get(&self, offset: i64) -> Result<Scalar> {
        Ok(self.read_at(&*self.memory()?, offset))
    }

    /// Sets the element at a byte offset.
    pub(crate) fn put(&self, offset: i64, value: Scalar) -> Result<()> {
        self.write_at(&*self.memory()?, offset, value);
        Ok(())
    }

    /// Returns the only element of an array without dimensions.
    pub(crate) fn item(&self) -> Result<Scalar> {
        self.get(self.places.offset)
    }

    /// Returns the byte offsets of all elements in row-major order.
    pub(crate) fn offsets(&self) -> Offsets<'_> {
        Offsets {
            places: &self.places,
            index: Dims::from_elem(0, self.ndim()),
            left: self.count(),
            at: self.places.offset,
        }
    }

    /// Returns all elements in row-major order.
    ///
    /// # Errors
    /// MemoryError if there is not enough memory.
    pub(crate) fn scalars(&self) -> Result<Vec<Scalar>> {
        let memory = self.memory()?;
        let mut out = limits::list(limits::count(self.count()))?;
        for (i, offset) in self.offsets().enumerate() {
            interrupt::check_at(i)?;
            out.push(self.read_at(&memory, offset));
        }
        Ok(out)
    }

    /// Returns whether both may occupy the same bytes: whether the ranges from their first to their last byte meet.
    pub(crate) fn may_share(&self, other: &Array) -> bool {
        match (self.bounds(), other.bounds()) {
            (Some((low, high)), Some((start, end))) => low < end && start < high,
            _ => false,
        }
    }

    /// Returns a copy in another dtype.
    ///
    /// # Errors
    /// MemoryError if there is not enough memory.
    pub(crate) fn copied(&self, descr: Descr, order: Order) -> Result<Array> {
        let copy = self.like(descr, order)?;
        copy.assign(self)?;
        Ok(copy)
    }

    /// Allocates an array of the same shape for elements in another dtype.
    pub(crate) fn like(&self, descr: Descr, order: Order) -> Result<Array> {
        let column_major = self.is_f() && !self.is_c();
        match order {
            Order::C => Array::unwritten(self.shape(), descr, false),
            Order::F => Array::unwritten(self.shape(), descr, true),
            Order::Any => Array::unwritten(self.shape(), descr, column_major),
            Order::Keep if self.is_c() || column_major => Array::unwritten(self.shape(), descr, column_major),
            Order::Keep => {
                let strides = kept_strides(self.shape(), &[&self.places], descr.itemsize());
                Array::on(Strided { shape: self.places.shape.clone(), strides, offset: 0 }, descr, Storage::unwritten)
            }
        }
    }

    /// Copies the elements of an array of the same shape, converted to the dtype of this one. The two may overlap.
    ///
    /// # Errors
    /// KeyboardInterrupt; RuntimeError if a storage has become too small.
    pub(crate) fn assign(&self, source: &Array) -> Result<()> {
        if self.count() == 0 {
            return Ok(());
        }
        let is_same = self.descr == source.descr && self.places == source.places && self.storage == source.storage;
        if is_same {
            return Ok(());
        }
        if self.may_share(source) {
            return self.assign(&source.apart()?);
        }
        let (to, from) = (self.memory()?, source.memory()?);
        match (self.signed(), source.signed()) {
            (Some(out), Some(input)) => {
                let [out, input] = aligned([out, input]);
                let (size, wide) = (self.itemsize(), source.itemsize());
                let operands = [
                    Elements { memory: &to, layout: &out, itemsize: size, looked_up: false },
                    Elements { memory: &from, layout: &input, itemsize: wide, looked_up: false },
                ];
                match self.descr.dtype == source.descr.dtype {
                    true => {
                        let steps = StepPattern { most: usize::MAX, stores: true, ..StepPattern::SINGLE };
                        parallel::blocks(operands, steps, &|blocks| blocks.each(|block| transfer(block, size)))
                    }
                    false => {
                        let kernel = cast_kernel(source.descr, self.descr);
                        parallel::blocks(operands, StepPattern::SINGLE, &|blocks| {
                            blocks.each(|block| {
                                kernel(block);
                                Ok(())
                            })
                        })
                    }
                }
            }
            _ => {
                for (i, (at, place)) in source.offsets().zip(self.offsets()).enumerate() {
                    interrupt::check_at(i)?;
                    self.write_at(&to, place, source.read_at(&from, at));
                }
                Ok(())
            }
        }
    }

    /// Returns a copy at the same relative places, so that no byte is shared and the order of reading stays.
    fn apart(&self) -> Result<Array> {
        let copy = Array::unwritten(self.shape(), self.descr, false)?;
        copy.assign(self)?;
        Ok(copy)
    }

    /// Sets every element.
    pub(crate) fn fill(&self, value: Scalar) -> Result<()> {
        let one = Array::scalar(value, self.descr.to_native())?;
        let places = one.places.broadcast_to(self.shape());
        self.assign(&one.at(places))
    }

    /// Returns the layout in elements, of which strides may be negative, if elements are in the machine's byte order
    /// and at multiples of their size.
    pub(crate) fn signed(&self) -> Option<Layout> {
        if self.descr.swapped { None } else { self.places.in_elements(self.itemsize()) }
    }
}

fn no_memory(shape: &[i64], descr: Descr, nbytes: usize) -> Error {
    let units = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let exponent = ((nbytes.max(1).ilog2() / 10) as usize).min(units.len() - 1);
    let size = nbytes as f64 / 1024f64.powi(exponent as i32);
    let size = match size {
        _ if exponent == 0 => format!("{size:.0}"),
        size if size < 9.995 => format!("{size:.2}"),
        size if size < 99.95 => format!("{size:.1}"),
        size => format!("{size:.0}."),
    };
    let shape = match shape {
        [one] => format!("({one},)"),
        shape => format!("({})", shape.iter().map(i64::to_string).collect::<Vec<_>>().join(", ")),
    };
    Error::new(
        tensor::ErrorKind::MemoryError,
        format!(
            "Unable to allocate {} {} for an array with shape {shape} and data type {}",
            size,
            units[exponent],
            descr.name()
        ),
    )
}

/// Returns the strides of a result without gaps whose dimensions are in the order of the operands' strides, as NumPy
/// chooses them. Operands are broadcast to `shape`.
pub(crate) fn kept_strides(shape: &[i64], operands: &[&Strided], itemsize: usize) -> Dims {
    // Slowest dimension first; a dimension moves only if an operand says so.
    let mut order: Vec<usize> = (0..shape.len()).collect();
    for i in 1..order.len() {
        let mut at = i;
        while at > 0 && is_slower(order[at], order[at - 1], operands, shape) {
            order.swap(at, at - 1);
            at -= 1;
        }
    }
    let mut strides = Dims::from_elem(0, shape.len());
    let mut step = itemsize as i64;
    for &d in order.iter().rev() {
        strides[d] = step;
        step = step.saturating_mul(shape[d].max(1));
    }
    strides
}

/// Returns whether dimension `a` has larger strides than `b`, by the first operand in which both move.
fn is_slower(a: usize, b: usize, operands: &[&Strided], shape: &[i64]) -> bool {
    if shape[a] == 1 || shape[b] == 1 {
        return false;
    }
    for operand in operands {
        let (x, y) = (operand.strides[a].unsigned_abs(), operand.strides[b].unsigned_abs());
        if x != 0 && y != 0 && x != y {
            return x > y;
        }
    }
    false
}

/// Flips dimensions so that the first operand has no negative stride: elementwise loops may go either way.
pub(crate) fn aligned<const N: usize>(mut layouts: [Layout; N]) -> [Layout; N] {
    let Some(first) = layouts.first().cloned() else { return layouts };
    for (d, (&stride, &size)) in first.strides.iter().zip(&first.sizes).enumerate() {
        if stride < 0 && size > 0 {
            for layout in &mut layouts {
                layout.offset += (size - 1) * layout.strides[d];
                layout.strides[d] = -layout.strides[d];
            }
        }
    }
    layouts
}

fn transfer(block: &mut Block<2>, itemsize: usize) -> Result<()> {
    match itemsize {
        1 => block.transfer::<u8>(),
        2 => block.transfer::<u16>(),
        4 => block.transfer::<u32>(),
        8 => block.transfer::<u64>(),
        _ => block.transfer::<num_complex::Complex<f64>>(),
    }
    Ok(())
}

/// Returns the kernel that converts a block.
fn cast_kernel(from: Descr, to: Descr) -> fn(&mut Block<2>) {
    fn convert<S: Item, T: Item>(block: &mut Block<2>) {
        let (from, to) = block.one::<S, T>();
        vectorised(|| to.iter_mut().zip(from).for_each(|(to, &from)| *to = T::store(from.load())));
    }
    each!(from.dtype, S => each!(to.dtype, T => convert::<S, T>))
}

/// The byte offsets of elements in row-major order.
pub(crate) struct Offsets<'a> {
    places: &'a Strided,
    index: Dims,
    left: i64,
    at: i64,
}

impl Iterator for Offsets<'_> {
    type Item = i64;

    #[inline]
    fn next(&mut self) -> Option<i64> {
        if self.left <= 0 {
            return None;
        }
        self.left -= 1;
        let now = self.at;
        for d in (0..self.index.len()).rev() {
            self.index[d] += 1;
            if self.index[d] < self.places.shape[d] {
                self.at += self.places.strides[d];
                return Some(now);
            }
            self.at -= self.places.strides[d] * (self.places.shape[d] - 1);
            self.index[d] = 0;
        }
        Some(now)
    }
}
