//! Views that change elements: real parts, complex numbers from parts, conjugates, negatives. After a write to their base,
//! they are taken again by the same steps.

use super::layout::Layout;
use super::tensor::Tensor;

/// A step from the base of a view towards the view.
#[derive(Clone, Debug, PartialEq)]
pub enum Retake {
    /// Shows this layout of the same elements.
    Window(Layout),
    /// `view_as_real`.
    AsReal,
    /// `view_as_complex`.
    AsComplex,
    /// `conj`.
    Conj,
    /// The negatives.
    Negated,
}

impl Tensor {
    /// Records how this view is taken again from its base, if it changes the elements of `source` or `source` does.
    pub fn note_retakes(&self, source: &Tensor) {
        if self.is(source) || self.base().is_none() {
            return;
        }
        let (from, to) = (source.borrow(), self.borrow());
        let mut steps = if source.has_autograd() { source.autograd(|meta| meta.retakes.clone()) } else { Vec::new() };
        let changes_dtype = from.dtype.is_complex() != to.dtype.is_complex();
        if steps.is_empty() && !changes_dtype && from.conj == to.conj && from.neg == to.neg {
            return;
        }
        if steps.is_empty() && source.base().is_some() {
            steps.push(Retake::Window(from.layout.clone()));
        }
        let mut layout = from.layout.clone();
        if changes_dtype && to.dtype.is_complex() {
            steps.push(Retake::AsComplex);
            layout = layout.as_complex();
        } else if changes_dtype {
            // Real parts are taken from the elements as they are stored.
            steps.extend(from.conj.then_some(Retake::Conj));
            steps.push(Retake::AsReal);
            layout = layout.as_parts();
        }
        steps.extend((from.neg != to.neg).then_some(Retake::Negated));
        if layout != to.layout {
            steps.push(Retake::Window(to.layout.clone()));
        }
        if !changes_dtype && from.conj != to.conj {
            steps.push(Retake::Conj);
        }
        drop((from, to));
        self.autograd_mut(|meta| meta.retakes = steps);
    }
}

impl Layout {
    /// Returns the layout of `view_as_real`.
    pub fn as_parts(&self) -> Layout {
        let mut parts = Layout { offset: self.offset.saturating_mul(2), ..self.clone() };
        parts.strides.iter_mut().for_each(|stride| *stride = stride.saturating_mul(2));
        parts.sizes.push(2);
        parts.strides.push(1);
        parts
    }

    /// Returns the layout of `view_as_complex`.
    pub fn as_complex(&self) -> Layout {
        let mut whole = Layout { offset: self.offset / 2, ..self.clone() };
        whole.sizes.pop();
        whole.strides.pop();
        whole.strides.iter_mut().for_each(|stride| *stride /= 2);
        whole
    }
}
