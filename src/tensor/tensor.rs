//! [`Tensor`]: the identity of a tensor. `set_`, `resize_` and autograd change it for all its holders.

use super::error::Result;
use super::names::{Name, Names};
use super::retakes::Retake;
use super::step::{LastStep, Step};
use super::view::View;
use std::any::Any;
use std::cell::{Cell, Ref, RefCell};
use std::rc::{Rc, Weak};

/// A node of the gradient graph that a tensor came from. The core only knows its name.
pub trait GradFn: Any {
    /// Returns the name shown when printing, e.g. `MulBackward0`.
    fn name(&self) -> String;
}

/// A hook given to `register_hook`. It gets a gradient (`None` if a pass brought none) and may replace it, or it gets
/// the tensor that has just received a gradient.
pub trait Hook {
    fn call(&self, tensor: Option<&Tensor>) -> Result<Option<Tensor>>;
}

/// Hooks, each with the number by which it can be removed.
pub type Hooks = Vec<(u64, Rc<dyn Hook>)>;

/// Autograd's part of a tensor, like PyTorch's `AutogradMeta`.
#[derive(Default, Clone)]
pub struct AutogradMeta {
    /// Set by the user on a leaf.
    pub requires_grad: bool,
    pub retains_grad: bool,
    pub grad: Option<Tensor>,
    /// The operation that this tensor came from, and the index of the tensor among its outputs.
    pub grad_fn: Option<(Rc<dyn GradFn>, usize)>,
    /// The node that accumulates `grad`, while some graph holds it. The node holds the tensor, so the reference is
    /// weak.
    pub accumulator: Option<Weak<dyn GradFn>>,
    /// The hooks on a leaf's gradient; those of other tensors are in their `grad_fn`.
    pub hooks: Hooks,
    /// Called once `grad` is complete.
    pub after_hooks: Hooks,
    /// Whether the tensor is a `torch.nn.Parameter`.
    pub parameter: bool,
    /// For a view that changes elements (real parts, conjugates): how it is taken again after a write to its base.
    pub retakes: Vec<Retake>,
}

/// Where a view came from, if that forbids writing through it while gradients are recorded. A view of a view inherits
/// its origin, unless it has its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Origin {
    #[default]
    Plain,
    /// Created while gradients were not recorded.
    NoGrad,
    /// Created in inference mode.
    Inference,
    /// One of several results.
    Several,
    /// Created in a function with a custom backward.
    Custom,
}

/// A tensor with identity. Clones of the handle are the same tensor; views are new tensors over the same storage.
#[derive(Clone)]
pub struct Tensor(Rc<TensorInner>);

struct TensorInner {
    view: RefCell<View>,
    autograd: RefCell<Option<Box<AutogradMeta>>>,
    /// Counts in-place writes; shared by a tensor and its views.
    version: Rc<Cell<u64>>,
    /// For a view: the tensor it was taken from, which is never itself a view.
    base: Option<Tensor>,
    /// For a view: the call that created it.
    step: LastStep,
    origin: Cell<Origin>,
    /// For a view: the version that its `grad_fn` describes.
    told: Cell<u64>,
    /// Whether it was created in inference mode.
    inference: Cell<bool>,
    /// The names of the dimensions, if at least one is named.
    names: RefCell<Option<Names>>,
}

/// A reference that does not keep the tensor alive.
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

    /// Returns a view of this tensor, which shares its version counter and records its base. A view of an inference
    /// tensor has no base.
    #[inline]
    pub fn new_view(&self, view: View) -> Tensor {
        if self.is_inference() {
            return self.detach_as(view);
        }
        let base = self.0.base.clone().unwrap_or_else(|| self.clone());
        let part = Tensor::build(view, self.0.version.clone(), Some(base));
        part.0.origin.set(self.origin());
        part
    }

    /// Returns the same elements without gradient history: shares the version counter, has no base.
    pub fn detach(&self) -> Tensor {
        self.detach_as(self.view())
    }

    /// Like [`Tensor::detach`], with another view of the same bytes.
    pub fn detach_as(&self, view: View) -> Tensor {
        let detached = Tensor::build(view, self.0.version.clone(), None);
        detached.0.inference.set(self.is_inference());
        detached
    }

    /// Returns the tensor that this one is a view of.
    pub fn base(&self) -> Option<&Tensor> {
        self.0.base.as_ref()
    }

    /// Returns the last of the calls that led from the base to this view.
    pub fn step(&self) -> Option<Rc<Step>> {
        self.0.step.get()
    }

    /// Records that this view came from calling `name` on `source`. Only the first record is kept.
    #[inline]
    pub fn note_step(&self, name: &'static str, source: &Tensor) {
        if self.is(source) {
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

    /// Returns the tensor's current view.
    #[inline]
    pub fn view(&self) -> View {
        self.0.view.borrow().clone()
    }

    /// Borrows the tensor's current view, without copying the layout. Do not hold it across a call that may change
    /// tensors.
    #[inline]
    pub fn borrow(&self) -> Ref<'_, View> {
        self.0.view.borrow()
    }

    /// Replaces the view for all holders of this tensor: `set_`, `resize_`, `t_` and the like.
    pub fn set_view(&self, view: View) {
        self.0.view.replace(view);
    }

    /// Returns whether both are the same tensor (Python's `is`).
    pub fn is(&self, other: &Tensor) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }

    /// Returns a number that identifies the tensor (Python's `id`).
    pub fn identity(&self) -> usize {
        Rc::as_ptr(&self.0) as usize
    }

    /// Returns the number of in-place operations that have written through this tensor or a view that shares its
    /// counter.
    pub fn version(&self) -> u64 {
        self.0.version.get()
    }

    /// Restores the counters, for code that restores the bytes as well.
    pub fn restore_version(&self, version: u64, told: u64) {
        self.0.version.set(version);
        self.0.told.set(told);
    }

    /// Returns the version that the `grad_fn` of a view describes.
    pub fn described_version(&self) -> u64 {
        self.0.told.get()
    }

    pub fn bump_version(&self) {
        self.0.version.set(self.0.version.get() + 1);
    }

    /// Reads the gradient state, or the default if the tensor has never had one.
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

    /// Returns whether there is any gradient state. Few tensors have one, so hot paths check this first.
    #[inline]
    pub fn has_autograd(&self) -> bool {
        self.0.autograd.borrow().is_some()
    }

    /// Returns whether the tensor requires a gradient. A view does as soon as its base does.
    pub fn requires_grad(&self) -> bool {
        self.has_autograd() && self.autograd(|meta| meta.requires_grad || meta.grad_fn.is_some())
            || self.base().is_some_and(Tensor::requires_grad)
    }

    /// Returns whether the tensor is a `torch.nn.Parameter`.
    pub fn is_parameter(&self) -> bool {
        self.has_autograd() && self.autograd(|meta| meta.parameter)
    }

    /// Returns a handle that does not keep the tensor alive.
    pub fn downgrade(&self) -> WeakTensor {
        WeakTensor(Rc::downgrade(&self.0))
    }

    pub fn origin(&self) -> Origin {
        self.0.origin.get()
    }

    pub fn set_origin(&self, origin: Origin) {
        self.0.origin.set(origin);
    }

    /// Returns the names of the dimensions, if at least one is named.
    pub fn names(&self) -> Option<Names> {
        self.0.names.borrow().clone()
    }

    /// Returns one name for every dimension; all are `None` if no dimension is named.
    pub fn all_names(&self) -> Names {
        self.names().unwrap_or_else(|| vec![None; self.borrow().ndim()].into())
    }

    pub fn has_names(&self) -> bool {
        self.0.names.borrow().is_some()
    }

    /// Names the dimensions; there must be one name per dimension. A list of `None`s removes the names.
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

    /// Returns the same elements as a parameter of a module: a leaf of the gradient graph.
    pub fn to_parameter(&self, requires_grad: bool) -> Tensor {
        let parameter = self.detach();
        parameter.autograd_mut(|meta| (meta.parameter, meta.requires_grad) = (true, requires_grad));
        parameter
    }

    /// Returns whether a view's base was written to since the view's `grad_fn` was set.
    pub fn is_outdated(&self) -> bool {
        self.0.base.is_some() && self.0.told.get() != self.version()
    }

    /// Records that `grad_fn` describes the current version.
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
