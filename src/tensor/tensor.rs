//! [`Tensor`]: the identity that `set_`, `resize_` and autograd change for everyone who holds it.

use super::error::Result;
use super::names::{Name, Names};
use super::step::{LastStep, Step};
use super::view::View;
use std::any::Any;
use std::cell::{Cell, Ref, RefCell};
use std::rc::{Rc, Weak};

/// A node of the gradient graph, as far as the core needs to know it: something with a name that a tensor came from.
pub trait GradFn: Any {
    /// The name printing shows, e.g. `MulBackward0`.
    fn name(&self) -> String;
}

/// A hook given to `register_hook`: it sees a gradient (`None` where a pass brought none), or the tensor that just received
/// one, and may replace the former.
pub trait Hook {
    fn call(&self, tensor: Option<&Tensor>) -> Result<Option<Tensor>>;
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

/// The origin of a view, where it forbids writing through it while gradients are recorded. A view of a view has its
/// origin, if not one of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Origin {
    #[default]
    Plain,
    /// While gradients were not recorded.
    NoGrad,
    /// In inference mode.
    Inference,
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
        let part = Tensor::build(view, self.0.version.clone(), Some(base));
        part.0.origin.set(self.origin());
        part.0.inference.set(self.is_inference());
        part
    }

    /// The same elements cut off from the gradient graph: shares the version counter, has no base.
    pub fn detach(&self) -> Tensor {
        self.detach_as(self.view())
    }

    /// The same bytes in another way, cut off as by [`Tensor::detach`].
    pub fn detach_as(&self, view: View) -> Tensor {
        let detached = Tensor::build(view, self.0.version.clone(), None);
        detached.0.inference.set(self.is_inference());
        detached
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

    /// Sets the counter back, with the bytes that it counted writes to.
    pub fn restore_version(&self, version: u64, told: u64) {
        self.0.version.set(version);
        self.0.told.set(told);
    }

    /// The version whose history the `grad_fn` of a view tells.
    pub fn told(&self) -> u64 {
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
