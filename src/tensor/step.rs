//! The history of a view: the calls that lead from its base to it. Every view records its step, so recording must be
//! very cheap; `explain` shows the steps.

use super::dtype::DType;
use super::layout::Layout;
use super::view::View;
use std::cell::RefCell;
use std::mem;
use std::rc::Rc;

/// The maximum number of steps kept: a loop may derive views from views forever.
const STEPS: u8 = 24;

/// One call on the way from a base to a view: its name, and the state of the view that it was called on.
#[derive(Debug)]
pub struct Step {
    pub name: &'static str,
    /// The layout and the element type before the call.
    pub before: Layout,
    pub dtype: DType,
    pub earlier: Option<Rc<Step>>,
    /// Whether earlier steps were dropped.
    pub is_cut: bool,
    length: u8,
}

impl Step {
    /// Records the call of `name` on `before`, after the steps of `earlier`.
    #[inline(always)]
    pub(super) fn new(name: &'static str, before: &View, earlier: Option<Rc<Step>>) -> Step {
        let length = earlier.as_ref().map_or(1, |step| step.length + 1);
        let is_cut = length > STEPS;
        Step {
            name,
            before: before.layout.clone(),
            dtype: before.dtype,
            earlier: earlier.filter(|_| !is_cut),
            is_cut,
            length: if is_cut { 1 } else { length },
        }
    }
}

/// The last step that led to a tensor. It is owned by the tensor; it is only allocated, to be shared, when it is read,
/// which is rare.
#[derive(Default)]
pub(super) struct LastStep(RefCell<RecordedStep>);

#[derive(Default)]
enum RecordedStep {
    #[default]
    Nothing,
    Own(Step),
    Shared(Rc<Step>),
}

impl LastStep {
    /// Records how the tensor was created, unless that is already recorded: the first record is the most precise.
    #[inline(always)]
    pub(super) fn note(&self, step: impl FnOnce() -> Step) {
        let mut noted = self.0.borrow_mut();
        if let RecordedStep::Nothing = *noted {
            *noted = RecordedStep::Own(step());
        }
    }

    #[inline]
    pub(super) fn get(&self) -> Option<Rc<Step>> {
        let mut noted = self.0.borrow_mut();
        let step = match mem::take(&mut *noted) {
            RecordedStep::Nothing => return None,
            RecordedStep::Own(step) => Rc::new(step),
            RecordedStep::Shared(step) => step,
        };
        *noted = RecordedStep::Shared(step.clone());
        Some(step)
    }
}
