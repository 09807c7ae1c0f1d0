//! How a view came about: the calls from its base to it, one by one. Every view records its step, so recording must
//! cost next to nothing; `explain` shows them.

use super::dtype::DType;
use super::layout::Layout;
use super::view::View;
use std::cell::RefCell;
use std::mem;
use std::rc::Rc;

/// The number of steps that are kept: a loop may go on from view to view forever.
const STEPS: u8 = 24;

/// One call on the way from a base to a view: what it was called on, and what it is called.
#[derive(Debug)]
pub struct Step {
    pub name: &'static str,
    /// The layout and the element type that it found.
    pub before: Layout,
    pub dtype: DType,
    pub earlier: Option<Rc<Step>>,
    /// Whether there were earlier steps that are not kept.
    pub is_cut: bool,
    length: u8,
}

impl Step {
    /// The call of `name` on what `earlier` led to.
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

/// The last step to a tensor. It belongs to the tensor until it is read, which is rare: only then does it
/// need an allocation, to be shared.
#[derive(Default)]
pub(super) struct LastStep(RefCell<Noted>);

#[derive(Default)]
enum Noted {
    #[default]
    Nothing,
    Own(Step),
    Shared(Rc<Step>),
}

impl LastStep {
    /// Records how the tensor was made, unless that is recorded already: the first record is the most precise.
    #[inline(always)]
    pub(super) fn note(&self, step: impl FnOnce() -> Step) {
        let mut noted = self.0.borrow_mut();
        if let Noted::Nothing = *noted {
            *noted = Noted::Own(step());
        }
    }

    #[inline]
    pub(super) fn get(&self) -> Option<Rc<Step>> {
        let mut noted = self.0.borrow_mut();
        let step = match mem::take(&mut *noted) {
            Noted::Nothing => return None,
            Noted::Own(step) => Rc::new(step),
            Noted::Shared(step) => step,
        };
        *noted = Noted::Shared(step.clone());
        Some(step)
    }
}
