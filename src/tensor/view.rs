//! [`View`]: the value that operations take and return.

use super::device::Device;
use super::dtype::DType;
use super::element::{Element, Scalar};
use super::error::{Error, Result};
use super::form::{Form, Quantizer, dequantized};
use super::interrupt;
use super::layout::{Dims, Layout, check_numel, checked_numel, contiguous_strides, show};
use super::limits;
use super::memory::{ElementCell, Memory, Plain, get, set};
use super::memory_format::check_strides;
use super::storage::Storage;
use crate::bail;
use num_complex::Complex;
use smallvec::SmallVec;
use std::rc::Rc;

/// A strided view of a storage: everything that determines a tensor's value. Cloning shares the storage.
#[derive(Clone, Debug)]
pub struct View {
    pub storage: Storage,
    pub layout: Layout,
    pub dtype: DType,
    /// The lazy conjugate bit: values are the conjugates of the stored elements.
    pub conj: bool,
    /// The lazy negative bit: values are the negatives of the stored elements.
    pub neg: bool,
    /// For sparse and quantized tensors: how values are stored. `None` for all others.
    pub form: Option<Rc<Form>>,
}

impl View {
    /// Allocates a zeroed row-major tensor.
    pub fn zeros(sizes: &[i64], dtype: DType, device: Device) -> Result<View> {
        check_row_major(sizes, dtype)?;
        View::zeros_strided(sizes, contiguous_strides(sizes), dtype, device)
    }

    /// Like [`View::zeros`], but the caller must write every element before it is read.
    ///
    /// # Errors
    /// Those of [`View::zeros`].
    pub fn unwritten(sizes: &[i64], dtype: DType, device: Device) -> Result<View> {
        check_row_major(sizes, dtype)?;
        View::unwritten_strided(sizes, contiguous_strides(sizes), dtype, device)
    }

    /// Allocates a zeroed tensor with the given strides and exactly the storage that they need.
    ///
    /// # Errors
    /// RuntimeError if the size overflows or memory runs out, and for quantized dtypes, which need a quantizer.
    pub fn zeros_strided(sizes: &[i64], strides: Dims, dtype: DType, device: Device) -> Result<View> {
        View::strided(sizes, strides, dtype, device, Storage::zeroed)
    }

    /// Like [`View::zeros_strided`], but the caller must write every element before it is read.
    ///
    /// # Errors
    /// Those of [`View::zeros_strided`].
    pub(crate) fn unwritten_strided(sizes: &[i64], strides: Dims, dtype: DType, device: Device) -> Result<View> {
        let elements = sizes.iter().fold(1i64, |elements, &size| elements.saturating_mul(size));
        let layout = Layout { sizes: Dims::from_slice(sizes), strides, offset: 0 };
        let nbytes = usize::try_from(elements).ok().and_then(|count| count.checked_mul(dtype.itemsize()));
        if let Some(nbytes) = nbytes.filter(|_| elements <= i64::MAX >> 5 && !dtype.is_quantized())
            && layout.is_row_major()
        {
            let storage = Storage::unwritten(nbytes, device)?;
            return Ok(View { storage, layout, dtype, conj: false, neg: false, form: None });
        }
        let strides = layout.strides;
        // Only these can overflow. A row-major result is refused without a word about its strides.
        if !(1..=i64::MAX >> 5).contains(&elements) && strides == contiguous_strides(sizes) {
            check_row_major(sizes, dtype)?;
        }
        View::strided(sizes, strides, dtype, device, |nbytes, device| {
            // Gaps between elements are never written, so they must be zeroed.
            let dense = usize::try_from(elements).is_ok_and(|count| count.saturating_mul(dtype.itemsize()) == nbytes);
            if dense { Storage::unwritten(nbytes, device) } else { Storage::zeroed(nbytes, device) }
        })
    }

    fn strided(
        sizes: &[i64],
        strides: Dims,
        dtype: DType,
        device: Device,
        storage: impl FnOnce(usize, Device) -> Result<Storage>,
    ) -> Result<View> {
        if dtype.is_quantized() {
            bail!(
                RuntimeError,
                "empty_strided not supported on quantized tensors yet see https://github.com/pytorch/pytorch/issues/74540"
            );
        }
        let layout = Layout { sizes: Dims::from_slice(sizes), strides, offset: 0 };
        let nbytes = storage_bytes(&layout, dtype)?;
        let storage = storage(nbytes, device)?;
        check_numel(sizes)?;
        Ok(View { storage, layout, dtype, conj: false, neg: false, form: None })
    }

    /// Allocates a row-major tensor with these scalars, converted to the dtype.
    pub fn from_scalars(sizes: &[i64], dtype: DType, values: impl IntoIterator<Item = Scalar>) -> Result<View> {
        if dtype.is_quantized() {
            bail!(RuntimeError, "store_scalar: invalid type");
        }
        let out = View::zeros(sizes, dtype, Device::CPU)?;
        let (mut values, mut at, count) = (values.into_iter(), 0, out.numel() as usize);
        // In pieces, so that the loops over the dtypes are compiled once instead of for every iterator type.
        let mut piece: SmallVec<[Scalar; 32]> = SmallVec::new();
        while at < count && !interrupt::requested() {
            piece.clear();
            piece.extend(values.by_ref().take(1024));
            if piece.is_empty() {
                break;
            }
            out.store_scalars(at, &piece);
            at += piece.len();
        }
        Ok(out)
    }

    /// Stores scalars in a new tensor, starting at element `at`.
    fn store_scalars(&self, at: usize, values: &[Scalar]) {
        let memory = self.storage.memory();
        dispatch!(self.dtype, T => {
            for (cell, value) in memory.typed::<T>().iter().skip(at).zip(values) {
                set(cell, T::store(*value));
            }
        });
    }

    /// Creates a 0-d tensor.
    pub fn scalar(value: Scalar, dtype: DType) -> Result<View> {
        View::from_scalars(&[], dtype, [value])
    }

    /// Returns a view with another layout over the same storage. Lazy bits are kept.
    #[inline]
    pub fn with_layout(&self, layout: Layout) -> View {
        // `..self.clone()` would copy the old layout only to drop it; creating views must be cheap.
        View {
            storage: self.storage.clone(),
            layout,
            dtype: self.dtype,
            conj: self.conj,
            neg: self.neg,
            form: self.form.clone(),
        }
    }

    pub fn device(&self) -> Device {
        self.storage.tensor_device()
    }

    pub fn sizes(&self) -> &[i64] {
        &self.layout.sizes
    }

    pub fn strides(&self) -> &[i64] {
        &self.layout.strides
    }

    pub fn ndim(&self) -> usize {
        self.layout.ndim()
    }

    pub fn numel(&self) -> i64 {
        self.layout.numel()
    }

    /// Returns the address of the first element; 0 if there are no elements.
    pub fn data_ptr(&self) -> usize {
        let start = self.storage.data_ptr();
        if start == 0 || self.numel() == 0 {
            return 0;
        }
        // After a storage has shrunk, the offset may be anywhere.
        start.wrapping_add((self.layout.offset as usize).wrapping_mul(self.dtype.itemsize()))
    }

    /// Returns PyTorch's legacy class name of this tensor, e.g. `FloatTensor`.
    pub fn type_name(&self) -> String {
        format!("{}Tensor", self.dtype.scalar_type())
    }

    /// Checks that every element is within the current storage.
    ///
    /// # Errors
    /// RuntimeError with PyTorch's `setStorage` text, if a storage has shrunk or `as_strided` exceeds it.
    pub fn check_bounds(&self) -> Result<()> {
        check_bounds(&self.layout, self.dtype, self.storage.nbytes())
    }

    /// Returns the memory for a kernel to read or write, after checking that it holds every element.
    ///
    /// # Errors
    /// Those of [`View::check_bounds`]; NotImplementedError for a meta tensor.
    pub fn memory(&self) -> Result<Rc<Memory>> {
        if self.device().is_meta() {
            bail!(NotImplementedError, "Cannot copy out of meta tensor; no data!");
        }
        if self.is_sparse() {
            bail!(RuntimeError, "Cannot access data pointer of Tensor that doesn't have storage");
        }
        self.check_bounds()?;
        let memory = self.storage.memory();
        memory.check()?;
        Ok(memory)
    }

    /// Reads the scalar at a storage offset within bounds, and applies the lazy bits.
    pub fn read(&self, memory: &Memory, offset: i64) -> Scalar {
        let raw =
            dispatch!(self.dtype, T => memory.typed::<T>().get(offset as usize).map(get).unwrap_or_default().load());
        self.resolve(raw)
    }

    fn resolve(&self, value: Scalar) -> Scalar {
        let value = match value {
            Scalar::Complex(c) if self.conj => Scalar::Complex(c.conj()),
            other => other,
        };
        match value {
            Scalar::Float(f) if self.neg => Scalar::Float(-f),
            Scalar::Complex(c) if self.neg => Scalar::Complex(-c),
            Scalar::Int(i) if self.neg => Scalar::Int(i.wrapping_neg()),
            other => other,
        }
    }

    /// Returns all values in row-major order.
    pub fn scalars(&self) -> Result<Vec<Scalar>> {
        let memory = self.memory()?;
        let numel = usize::try_from(self.numel()).unwrap_or(usize::MAX);
        // PyTorch copies the elements unconverted, so the message has their size.
        let mut scalars =
            limits::vector(numel).map_err(|_| limits::refusal(numel.saturating_mul(self.dtype.itemsize())))?;
        scalars.extend(interrupt::watched(self.layout.offsets()).map(|o| self.read(&memory, o)));
        interrupt::check()?;
        Ok(scalars)
    }

    /// Returns the value of a one-element tensor.
    ///
    /// # Errors
    /// RuntimeError unless there is exactly one element.
    pub fn item(&self) -> Result<Scalar> {
        if self.numel() != 1 {
            bail!(RuntimeError, "a Tensor with {} elements cannot be converted to Scalar", self.numel());
        }
        if self.device().is_meta() {
            bail!(RuntimeError, "Tensor.item() cannot be called on meta tensors");
        }
        let memory = self.memory()?;
        let stored = self.read(&memory, self.layout.offset);
        Ok(match self.quantizer() {
            Some(Quantizer::PerTensor { scale, zero_point }) => {
                Scalar::Float(dequantized(stored.to_f64(), *scale, *zero_point as f64))
            }
            _ => stored,
        })
    }

    /// Returns the cell of an element, for single reads and writes.
    pub fn cell<'m, T: Plain>(&self, memory: &'m Memory, offset: i64) -> Option<&'m ElementCell<T>> {
        usize::try_from(offset).ok().and_then(|o| memory.typed::<T>().get(o))
    }

    /// Returns whether both views have the same elements of the same storage, layout and lazy bits.
    pub fn is_same(&self, other: &View) -> bool {
        (self.storage == other.storage || self.is_sparse())
            && self.dtype == other.dtype
            && self.layout == other.layout
            && self.conj == other.conj
            && self.neg == other.neg
            && match (&self.form, &other.form) {
                (Some(form), Some(other)) => Rc::ptr_eq(form, other) || form.is_same(other),
                (form, other) => form.is_none() && other.is_none(),
            }
    }

    /// `view(dtype)`: reads the same bytes as another dtype.
    ///
    /// # Errors
    /// RuntimeError, in PyTorch's words, if sizes, strides or offset are not divisible as required.
    pub fn view_dtype(&self, dtype: DType) -> Result<View> {
        let is_lazy = self.conj || self.neg;
        if dtype == self.dtype && !is_lazy {
            return Ok(self.clone());
        }
        if dtype.is_quantized() {
            bail!(RuntimeError, "\"_local_scalar_dense_cpu\" not implemented for '{}'", dtype.scalar_type());
        }
        if self.conj {
            bail!(
                RuntimeError,
                "torch.Tensor.view is not supported for conjugate view tensors when converting to a different dtype."
            );
        }
        if self.neg {
            bail!(
                RuntimeError,
                "torch.Tensor.view is not supported for tensors with negative bit set when converting to a different \
                 dtype."
            );
        }
        let layout = self.layout_as(dtype)?;
        Ok(View { layout, dtype, ..self.clone() })
    }

    /// Returns the layout of this view's bytes in elements of `dtype`.
    fn layout_as(&self, dtype: DType) -> Result<Layout> {
        let (old, new) = (self.dtype.itemsize() as i64, dtype.itemsize() as i64);
        let mut layout = self.layout.clone();
        if old == new {
            return Ok(layout);
        }
        let pair = format!("to view {} as {} (different element sizes)", self.dtype.scalar_type(), dtype.scalar_type());
        let Some(last) = self.ndim().checked_sub(1) else {
            bail!(RuntimeError, "self.dim() cannot be 0 {pair}");
        };
        let last_stride = layout.strides[last];
        if old > new {
            let ratio = old / new;
            if last_stride != 1 {
                bail!(RuntimeError, "self.stride(-1) must be 1 {pair}, but got {last_stride}");
            }
            let overflow = || Error::runtime("numel: integer multiplication overflow");
            layout.sizes[last] = layout.sizes[last].checked_mul(ratio).ok_or_else(overflow)?;
            layout.offset = layout.offset.checked_mul(ratio).ok_or_else(overflow)?;
            for stride in &mut layout.strides[..last] {
                *stride = stride.checked_mul(ratio).ok_or_else(overflow)?;
            }
            return Ok(layout);
        }
        let ratio = new / old;
        if layout.sizes[last] % ratio != 0 {
            bail!(RuntimeError, "self.size(-1) must be divisible by {ratio} {pair}, but got {}", layout.sizes[last]);
        }
        if layout.offset % ratio != 0 {
            bail!(RuntimeError, "self.storage_offset() must be divisible by {ratio} {pair}, but got {}", layout.offset);
        }
        if last_stride != 1 {
            bail!(RuntimeError, "self.stride(-1) must be 1 {pair}, but got {last_stride}");
        }
        for (i, stride) in layout.strides[..last].iter_mut().enumerate() {
            if *stride % ratio != 0 {
                bail!(RuntimeError, "self.stride({i}) must be divisible by {ratio} {pair}, but got {stride}");
            }
            *stride /= ratio;
        }
        layout.sizes[last] /= ratio;
        layout.offset /= ratio;
        Ok(layout)
    }

    /// Returns a view of the real or imaginary parts of a complex tensor.
    pub fn complex_part(&self, imaginary: bool) -> View {
        let mut layout = self.layout.clone();
        // An empty tensor may have any offset; others lie within their storage and cannot overflow.
        layout.offset = layout.offset.saturating_mul(2).saturating_add(i64::from(imaginary));
        for stride in &mut layout.strides {
            *stride = stride.saturating_mul(2);
        }
        View {
            storage: self.storage.clone(),
            layout,
            dtype: self.dtype.to_real(),
            conj: false,
            // The imaginary part of a conjugate is the negative of the stored one.
            neg: self.neg != (self.conj && imaginary),
            form: None,
        }
    }
}

/// Refuses a row-major tensor that is too large, or that needs a quantizer.
/// Checks that a row-major tensor of these sizes can exist.
///
/// # Errors
/// RuntimeError if its strides or the number of its bytes overflow, and for quantized dtypes.
pub fn check_row_major(sizes: &[i64], dtype: DType) -> Result<()> {
    let numel = checked_numel(sizes)?;
    check_strides(sizes)?;
    if i64::try_from(dtype.itemsize()).ok().and_then(|size| numel.checked_mul(size)).is_none() {
        bail!(RuntimeError, "Storage size calculation overflowed with sizes={}", show(sizes));
    }
    if dtype.is_quantized() {
        bail!(
            RuntimeError,
            "false INTERNAL ASSERT FAILED at \"/pytorch/aten/src/ATen/quantized/Quantizer.cpp\":441, please report a \
             bug to PyTorch. cannot call qscheme on UnknownQuantizer"
        );
    }
    Ok(())
}

/// Returns the number of bytes that a storage needs for every element of the layout.
///
/// # Errors
/// RuntimeError if the number overflows or exceeds the address size.
pub fn storage_bytes(layout: &Layout, dtype: DType) -> Result<usize> {
    let elements = layout.storage_elements()?;
    let nbytes = i64::try_from(dtype.itemsize()).ok().and_then(|size| elements.checked_mul(size)).ok_or_else(|| {
        Error::runtime(format!(
            "Storage size calculation overflowed with sizes={} and strides={}",
            show(&layout.sizes),
            show(&layout.strides)
        ))
    })?;
    usize::try_from(nbytes).map_err(|_| limits::refusal(nbytes))
}

/// Checks that a storage of `nbytes` holds every element of the layout; the error is PyTorch's.
#[inline]
pub fn check_bounds(layout: &Layout, dtype: DType, nbytes: usize) -> Result<()> {
    if layout.lies_within(nbytes / dtype.itemsize()) { Ok(()) } else { check_bounds_exactly(layout, dtype, nbytes) }
}

/// Like [`check_bounds`], for any layout.
#[cold]
fn check_bounds_exactly(layout: &Layout, dtype: DType, nbytes: usize) -> Result<()> {
    if layout.offset < 0 {
        bail!(RuntimeError, "Tensor: invalid storage offset {}", layout.offset);
    }
    if storage_bytes(layout, dtype)? > nbytes {
        return Err(out_of_bounds(layout, &layout.strides, dtype, nbytes));
    }
    Ok(())
}

/// Returns the error for a layout that exceeds its storage. PyTorch shows the strides as they were given.
pub fn out_of_bounds(layout: &Layout, strides: &[i64], dtype: DType, nbytes: usize) -> Error {
    Error::runtime(format!(
        "setStorage: sizes {}, strides {}, storage offset {}, and itemsize {} requiring a storage size of {} are out of \
         bounds for storage of size {nbytes}",
        show(&layout.sizes),
        show(strides),
        layout.offset,
        dtype.itemsize(),
        storage_bytes(layout, dtype).unwrap_or(usize::MAX)
    ))
}

/// Returns the complex number with these parts as a scalar.
pub fn complex(re: f64, im: f64) -> Scalar {
    Scalar::Complex(Complex::new(re, im))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Scalars are stored in pieces; the result must not depend on the piece boundaries.
    #[test]
    fn scalars_come_back_at_any_count() {
        for count in [0, 1, 31, 32, 33, 1023, 1024, 1025, 2048, 2049, 100_000] {
            let numbers = || (0..count).map(Scalar::Int);
            for dtype in [DType::Long, DType::Double] {
                let stored = View::from_scalars(&[count], dtype, numbers()).and_then(|view| view.scalars()).unwrap();
                assert_eq!(stored.len() as i64, count);
                assert!(stored.iter().zip(numbers()).all(|(a, b)| a.to_i64() == b.to_i64()), "{count} of {dtype:?}");
            }
            // Missing values at the end are zero, and surplus values are ignored.
            let short = View::from_scalars(&[count], DType::Long, numbers().take(count as usize / 2)).unwrap();
            assert_eq!(short.numel(), count);
            assert!(View::from_scalars(&[count / 2], DType::Long, numbers()).is_ok());
        }
    }
}
