//! [`View`], the value that operations take and return, and [`Tensor`], the identity that `set_`, `resize_` and
//! autograd change for everyone who holds it.

use super::device::Device;
use super::dtype::DType;
use super::dtype::dispatch;
use super::element::{Element, Scalar};
use super::error::{Error, Result};
use super::form::{Form, Quantizer, dequantized};
use super::interrupt;
use super::layout::{Dims, Layout, checked_numel, contiguous_strides, show};
use super::limits;
use super::memory::{ElementCell, Memory, Plain, get, set};
use super::names::{Name, Names};
use super::step::{LastStep, Step};
use super::storage::Storage;
use crate::bail;
use num_complex::Complex;
use std::any::Any;
use std::cell::{Cell, Ref, RefCell};
use std::rc::{Rc, Weak};

/// A strided window on a storage: everything that determines a tensor's value. Cloning shares the storage.
#[derive(Clone, Debug)]
pub struct View {
    pub storage: Storage,
    pub layout: Layout,
    pub dtype: DType,
    /// The lazy conjugate bit: values read as the conjugates of what is stored.
    pub conj: bool,
    /// The lazy negative bit: values read as the negatives of what is stored.
    pub neg: bool,
    /// For sparse and quantized tensors: where their values are. The others, which are almost all, have none.
    pub form: Option<Rc<Form>>,
}

impl View {
    /// A new zeroed tensor, row-major.
    pub fn zeros(sizes: &[i64], dtype: DType, device: Device) -> Result<View> {
        check_row_major(sizes, dtype)?;
        View::zeros_strided(sizes, contiguous_strides(sizes), dtype, device)
    }

    /// As [`View::zeros`], for a result of which the caller writes every element before anyone reads it.
    ///
    /// # Errors
    /// As [`View::zeros`].
    pub fn unwritten(sizes: &[i64], dtype: DType, device: Device) -> Result<View> {
        check_row_major(sizes, dtype)?;
        View::unwritten_strided(sizes, contiguous_strides(sizes), dtype, device)
    }

    /// A new zeroed tensor with the given strides and just the storage they need.
    ///
    /// # Errors
    /// RuntimeError when the size overflows or memory runs out, and for quantized dtypes, which need a quantizer.
    pub fn zeros_strided(sizes: &[i64], strides: Dims, dtype: DType, device: Device) -> Result<View> {
        View::strided(sizes, strides, dtype, device, Storage::zeroed)
    }

    /// As [`View::zeros_strided`], for a result of which the caller writes every element before anyone reads it.
    ///
    /// # Errors
    /// As [`View::zeros_strided`].
    pub fn unwritten_strided(sizes: &[i64], strides: Dims, dtype: DType, device: Device) -> Result<View> {
        let elements = sizes.iter().fold(1i64, |elements, &size| elements.saturating_mul(size));
        View::strided(sizes, strides, dtype, device, |nbytes, device| {
            // Nobody writes what lies between elements.
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
        Ok(View { storage, layout, dtype, conj: false, neg: false, form: None })
    }

    /// A new row-major tensor holding the scalars, converted to the dtype.
    pub fn from_scalars(sizes: &[i64], dtype: DType, values: impl IntoIterator<Item = Scalar>) -> Result<View> {
        if dtype.is_quantized() {
            bail!(RuntimeError, "store_scalar: invalid type");
        }
        let out = View::zeros(sizes, dtype, Device::CPU)?;
        let memory = out.storage.memory();
        dispatch!(dtype, T => {
            for (cell, value) in interrupt::watched(memory.typed::<T>().iter().zip(values)) {
                set(cell, T::store(value));
            }
        });
        Ok(out)
    }

    /// A 0-d tensor.
    pub fn scalar(value: Scalar, dtype: DType) -> Result<View> {
        View::from_scalars(&[], dtype, [value])
    }

    /// The same storage and dtype under another layout. Lazy bits are kept.
    #[inline]
    pub fn with_layout(&self, layout: Layout) -> View {
        // Not `..self.clone()`, which would copy the old layout only to drop it: views must be cheap.
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

    /// The address of the first element; 0 when there are no elements.
    pub fn data_ptr(&self) -> usize {
        let start = self.storage.data_ptr();
        if start == 0 || self.numel() == 0 {
            return 0;
        }
        // A storage made smaller may leave the offset anywhere.
        start.wrapping_add((self.layout.offset as usize).wrapping_mul(self.dtype.itemsize()))
    }

    /// PyTorch's legacy class name of this tensor, e.g. `FloatTensor`.
    pub fn type_name(&self) -> String {
        format!("{}Tensor", self.dtype.scalar_type())
    }

    /// Checks that every element lies within the storage as it is now.
    ///
    /// # Errors
    /// RuntimeError with PyTorch's `setStorage` text: after a storage was shrunk, or for an `as_strided` beyond it.
    pub fn check_bounds(&self) -> Result<()> {
        check_bounds(&self.layout, self.dtype, self.storage.nbytes())
    }

    /// The memory, checked to hold every element, for a kernel to read or write.
    ///
    /// # Errors
    /// As [`View::check_bounds`]; NotImplementedError for a tensor without data.
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

    /// The scalar at a storage offset within bounds, with the lazy bits applied.
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

    /// All values in row-major order.
    pub fn scalars(&self) -> Result<Vec<Scalar>> {
        let memory = self.memory()?;
        let numel = usize::try_from(self.numel()).unwrap_or(usize::MAX);
        // PyTorch would have copied the elements as they are.
        let mut scalars =
            limits::vector(numel).map_err(|_| limits::refusal(numel.saturating_mul(self.dtype.itemsize())))?;
        scalars.extend(self.layout.offsets().map(|o| self.read(&memory, o)));
        interrupt::check()?;
        Ok(scalars)
    }

    /// The value of a one-element tensor.
    ///
    /// # Errors
    /// RuntimeError when there is not exactly one element.
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

    /// The cell of an element, for single reads and writes.
    pub fn cell<'m, T: Plain>(&self, memory: &'m Memory, offset: i64) -> Option<&'m ElementCell<T>> {
        usize::try_from(offset).ok().and_then(|o| memory.typed::<T>().get(o))
    }

    /// Returns whether both show the same elements of the same storage in the same way.
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

    /// `view(dtype)`: the same bytes read as another dtype.
    ///
    /// # Errors
    /// RuntimeError with PyTorch's text when sizes, strides or offset do not divide as they must.
    pub fn view_dtype(&self, dtype: DType) -> Result<View> {
        if dtype == self.dtype {
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

    /// The layout under which `dtype` shows this view's bytes.
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

    /// The real or imaginary parts of a complex tensor, as a view.
    pub fn complex_part(&self, imaginary: bool) -> View {
        let mut layout = self.layout.clone();
        // An empty tensor may stand anywhere; any other lies within its storage, where nothing overflows.
        layout.offset = layout.offset.saturating_mul(2).saturating_add(i64::from(imaginary));
        for stride in &mut layout.strides {
            *stride = stride.saturating_mul(2);
        }
        View {
            storage: self.storage.clone(),
            layout,
            dtype: self.dtype.to_real(),
            conj: false,
            // The imaginary part of a conjugate is the negative of what is stored.
            neg: self.neg != (self.conj && imaginary),
            form: None,
        }
    }
}

/// Refuses a row-major tensor that is too large, or that needs a quantizer.
fn check_row_major(sizes: &[i64], dtype: DType) -> Result<()> {
    let numel = checked_numel(sizes)?;
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

/// Bytes a storage needs for every element of the layout.
pub fn storage_bytes(layout: &Layout, dtype: DType) -> Result<usize> {
    let elements = layout.storage_elements()?;
    usize::try_from(elements)
        .ok()
        .and_then(|n| n.checked_mul(dtype.itemsize()))
        .filter(|&n| i64::try_from(n).is_ok())
        .ok_or_else(|| {
            Error::runtime(format!(
                "Storage size calculation overflowed with sizes={} and strides={}",
                show(&layout.sizes),
                show(&layout.strides)
            ))
        })
}

/// Checks that a storage of `nbytes` holds every element of the layout; the error is PyTorch's.
pub fn check_bounds(layout: &Layout, dtype: DType, nbytes: usize) -> Result<()> {
    if layout.offset < 0 {
        bail!(RuntimeError, "Tensor: invalid storage offset {}", layout.offset);
    }
    if storage_bytes(layout, dtype)? > nbytes {
        return Err(out_of_bounds(layout, &layout.strides, dtype, nbytes));
    }
    Ok(())
}

/// The error for a layout beyond its storage; PyTorch shows the strides as they were given.
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

/// A node of the gradient graph, as far as the core needs to know it: something with a name that a tensor came from.
pub trait GradFn: Any {
    /// The name printing shows, e.g. `MulBackward0`.
    fn name(&self) -> String;
    /// For the autograd engine to recover its own type.
    fn as_any(&self) -> &dyn Any;
}

/// A hook given to `register_hook`: it sees a gradient, or the tensor that just received one, and may replace the
/// former.
pub trait Hook {
    fn call(&self, tensor: &Tensor) -> Result<Option<Tensor>>;
}

/// Hooks with the numbers by which they are removed.
pub type Hooks = Vec<(u64, Rc<dyn Hook>)>;

/// Autograd's part of a tensor. PyTorch's `AutogradMeta`.
#[derive(Default, Clone)]
pub struct AutogradMeta {
    /// Set by the user on a leaf.
    pub requires_grad: bool,
    pub retains_grad: bool,
    pub grad: Option<Tensor>,
    /// The operation this tensor came from, and which of its outputs it is.
    pub grad_fn: Option<(Rc<dyn GradFn>, usize)>,
    /// The node that adds to `grad`, as long as some graph holds it: the node holds the tensor.
    pub accumulator: Option<Weak<dyn GradFn>>,
    /// A leaf's hooks on its gradient; those of other tensors belong to their `grad_fn`.
    pub hooks: Hooks,
    /// Called once `grad` is complete.
    pub after_hooks: Hooks,
    /// Whether it is a `torch.nn.Parameter`.
    pub parameter: bool,
}

/// The origin of a view, where it forbids writing through it while gradients are recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Origin {
    #[default]
    Plain,
    /// While gradients were not recorded.
    NoGrad,
    /// As one of several results.
    Several,
    /// In a function with a backward of its own.
    Custom,
}

/// A tensor with identity. Cloning the handle gives the same tensor; views are new tensors over the same storage.
#[derive(Clone)]
pub struct Tensor(Rc<TensorInner>);

struct TensorInner {
    view: RefCell<View>,
    autograd: RefCell<Option<Box<AutogradMeta>>>,
    /// Counts in-place writes; shared by a tensor and its views.
    version: Rc<Cell<u64>>,
    /// For a view: the tensor it was taken from, which is never itself a view.
    base: Option<Tensor>,
    /// For a view: the call it came from.
    step: LastStep,
    origin: Cell<Origin>,
    /// For a view: the version whose history its `grad_fn` tells.
    told: Cell<u64>,
    /// Made in inference mode.
    inference: Cell<bool>,
    /// The names of the dimensions, where one at least has a name.
    names: RefCell<Option<Names>>,
}

/// A tensor that may be gone.
pub struct WeakTensor(Weak<TensorInner>);

impl WeakTensor {
    pub fn upgrade(&self) -> Option<Tensor> {
        self.0.upgrade().map(Tensor)
    }
}

impl Tensor {
    pub fn new(view: View) -> Tensor {
        Tensor::build(view, Rc::new(Cell::new(0)), None)
    }

    #[inline(always)]
    fn build(view: View, version: Rc<Cell<u64>>, base: Option<Tensor>) -> Tensor {
        let told = Cell::new(version.get());
        Tensor(Rc::new(TensorInner {
            view: RefCell::new(view),
            autograd: RefCell::new(None),
            version,
            base,
            step: LastStep::default(),
            origin: Cell::default(),
            told,
            inference: Cell::default(),
            names: RefCell::default(),
        }))
    }

    /// A view of this tensor: it shares the version counter and remembers its base.
    #[inline]
    pub fn new_view(&self, view: View) -> Tensor {
        let base = self.0.base.clone().unwrap_or_else(|| self.clone());
        Tensor::build(view, self.0.version.clone(), Some(base))
    }

    /// The same elements cut off from the gradient graph: shares the version counter, has no base.
    pub fn detach(&self) -> Tensor {
        Tensor::build(self.view(), self.0.version.clone(), None)
    }

    /// The tensor this one is a view of.
    pub fn base(&self) -> Option<&Tensor> {
        self.0.base.as_ref()
    }

    /// The last of the calls that led from the base to this view.
    pub fn step(&self) -> Option<Rc<Step>> {
        self.0.step.get()
    }

    /// Notes that this view came from calling `name` on `source`. A view tells one origin only, the first.
    #[inline]
    pub fn note_step(&self, name: &'static str, source: &Tensor) {
        if self.is(source) || self.0.base.is_none() {
            return;
        }
        let before = source.borrow();
        if self.borrow().storage == before.storage {
            self.0.step.note(|| Step::new(name, &before, source.step()));
        }
    }

    /// Counts the handles to this tensor.
    pub fn holders(&self) -> usize {
        Rc::strong_count(&self.0)
    }

    /// Returns what the tensor shows now.
    #[inline]
    pub fn view(&self) -> View {
        self.0.view.borrow().clone()
    }

    /// Returns what the tensor shows now, without a copy of the layout. Do not hold it across a call that may change
    /// tensors.
    #[inline]
    pub fn borrow(&self) -> Ref<'_, View> {
        self.0.view.borrow()
    }

    /// Makes every holder of this tensor see another window: `set_`, `resize_`, `t_` and the like.
    pub fn set_view(&self, view: View) {
        self.0.view.replace(view);
    }

    /// Returns whether it is the very same tensor (Python's `is`).
    pub fn is(&self, other: &Tensor) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }

    /// A number that is the same exactly for the same tensor (Python's `id`).
    pub fn identity(&self) -> usize {
        Rc::as_ptr(&self.0) as usize
    }

    /// Counts the in-place operations that have written through this tensor or a view that shares its counter.
    pub fn version(&self) -> u64 {
        self.0.version.get()
    }

    pub fn bump_version(&self) {
        self.0.version.set(self.0.version.get() + 1);
    }

    /// Reads the gradient state; the default where there is none.
    pub fn autograd<R>(&self, read: impl FnOnce(&AutogradMeta) -> R) -> R {
        match self.0.autograd.borrow().as_deref() {
            Some(meta) => read(meta),
            None => read(&AutogradMeta::default()),
        }
    }

    /// Changes the gradient state.
    pub fn autograd_mut<R>(&self, change: impl FnOnce(&mut AutogradMeta) -> R) -> R {
        change(self.0.autograd.borrow_mut().get_or_insert_default())
    }

    /// Returns whether there is any gradient state at all. Almost no tensor has one, so hot paths ask this first.
    #[inline]
    pub fn has_autograd(&self) -> bool {
        self.0.autograd.borrow().is_some()
    }

    /// A view requires a gradient as soon as its base does.
    pub fn requires_grad(&self) -> bool {
        self.has_autograd() && self.autograd(|meta| meta.requires_grad || meta.grad_fn.is_some())
            || self.base().is_some_and(Tensor::requires_grad)
    }

    /// Returns whether it is a `torch.nn.Parameter`.
    pub fn is_parameter(&self) -> bool {
        self.has_autograd() && self.autograd(|meta| meta.parameter)
    }

    /// A handle that does not keep the tensor alive.
    pub fn downgrade(&self) -> WeakTensor {
        WeakTensor(Rc::downgrade(&self.0))
    }

    pub fn origin(&self) -> Origin {
        self.0.origin.get()
    }

    pub fn set_origin(&self, origin: Origin) {
        self.0.origin.set(origin);
    }

    /// The names of the dimensions; nothing where none has one.
    pub fn names(&self) -> Option<Names> {
        self.0.names.borrow().clone()
    }

    /// One name for every dimension: `None`s where none has one.
    pub fn all_names(&self) -> Names {
        self.names().unwrap_or_else(|| vec![None; self.borrow().ndim()].into())
    }

    pub fn has_names(&self) -> bool {
        self.0.names.borrow().is_some()
    }

    /// Names the dimensions. There must be as many names as dimensions; only `None`s are as good as none.
    pub fn set_names(&self, names: &[Name]) {
        let named = names.iter().any(Option::is_some);
        self.0.names.replace(named.then(|| names.into()));
    }

    pub fn is_inference(&self) -> bool {
        self.0.inference.get()
    }

    pub fn set_inference(&self) {
        self.0.inference.set(true);
    }

    /// The same elements as a parameter of a module: a leaf of the gradient graph.
    pub fn to_parameter(&self, requires_grad: bool) -> Tensor {
        let parameter = self.detach();
        parameter.autograd_mut(|meta| (meta.parameter, meta.requires_grad) = (true, requires_grad));
        parameter
    }

    /// Returns whether a view's base was written to since the view's `grad_fn` was set.
    pub fn is_outdated(&self) -> bool {
        self.0.base.is_some() && self.0.told.get() != self.version()
    }

    /// Notes that `grad_fn` tells the history up to now.
    pub fn mark_current(&self) {
        self.0.told.set(self.version());
    }

    /// Returns whether the tensor is not the result of a recorded operation.
    pub fn is_leaf(&self) -> bool {
        !self.has_autograd() || self.autograd(|meta| meta.grad_fn.is_none())
    }
}

impl From<View> for Tensor {
    fn from(view: View) -> Tensor {
        Tensor::new(view)
    }
}

impl std::fmt::Debug for Tensor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let view = self.borrow();
        write!(f, "Tensor({:?}, {:?})", view.dtype, view.layout)
    }
}

/// The complex number with these parts as a scalar.
pub fn complex(re: f64, im: f64) -> Scalar {
    Scalar::Complex(Complex::new(re, im))
}
