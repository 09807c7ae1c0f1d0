//! The usual small call: few elements of one dtype, all in row-major order, with a new result or in place. Nothing is
//! promoted, broadcast or converted, and there is nothing to check that could fail. Any other call takes the usual way,
//! and a test compares the two.

use super::binary::{BinaryKernels, BinaryOp};
use super::unary::{UnaryKernels, UnaryOp};
use super::{Output, is_plain};
use crate::layout::alike;
use crate::memory::BoolByte;
use crate::ops::block::{Pace, needs_no_conversion};
use crate::ops::compare::{CompareKernels, CompareOp};
use crate::ops::number::Stored;
use crate::ops::promote::Operand;
use crate::parallel::{self, Block, StepPattern};
use crate::thresholds::{SHORT, SHORT_LOOP};
use crate::{DType, Device, Layout, Storage, View};
use smallvec::SmallVec;
use std::borrow::Cow;

/// Returns whether elements lie in row-major order, and kernels can read and write them as they are.
fn is_quick(view: &View) -> bool {
    let numel = view.numel();
    is_plain(view, view.dtype) && view.form.is_none() && numel <= SHORT_LOOP as i64 && view.layout.is_row_major()
}

/// Returns whether a second operand has the dtype of a tensor and its order, or is a number that the dtype can hold.
fn is_like(operand: Operand, view: &View) -> bool {
    match operand {
        Operand::Tensor(other) => {
            is_plain(other, view.dtype)
                && other.form.is_none()
                && alike(other.sizes(), view.sizes())
                && alike(other.strides(), view.strides())
        }
        Operand::Number(number) => number.category() <= view.dtype.category() && view.numel() <= SHORT as i64,
    }
}

/// Returns the destination for a result of `dtype` with the order of an operand. `None` if there is no memory.
fn destination<'v>(like: &View, dtype: DType, output: Output<'v>) -> Option<Cow<'v, View>> {
    match output {
        Output::New => {
            let nbytes = usize::try_from(like.numel()).ok()?.checked_mul(dtype.itemsize())?;
            let (layout, storage) =
                (Layout { offset: 0, ..like.layout.clone() }, Storage::unwritten(nbytes, Device::CPU));
            Some(Cow::Owned(View { storage: storage.ok()?, layout, dtype, conj: false, neg: false, form: None }))
        }
        Output::InPlace(view) => {
            (is_quick(view) && is_like(Operand::Tensor(view), like)).then_some(Cow::Borrowed(view))
        }
        Output::Out(_) => None,
    }
}

/// Calls `body` for the elements of `out` and of the inputs. `None` if the loop is not a short one.
fn each<const N: usize>(views: [&View; N], steps: StepPattern, body: &mut dyn FnMut(&mut Block<N>)) -> Option<()> {
    let memories: SmallVec<[_; 3]> = views.iter().map(|view| view.memory().ok()).collect::<Option<_>>()?;
    let operands = std::array::from_fn(|k| (&*memories[k], views[k].layout.offset, views[k].dtype.itemsize()));
    let length = usize::try_from(views[0].numel()).ok()?;
    parallel::in_short(operands, length, steps, body)
}

fn steps<S: Stored>(Pace { step, weight, .. }: Pace, alike: bool) -> StepPattern {
    StepPattern { step: step / size_of::<S>(), weight, alike, ..StepPattern::SINGLE }
}

/// Gets elements of both operands, the results, and whether PyTorch processes them one by one.
type PairBody<'b, S, R> =
    &'b mut dyn FnMut(&[<S as Stored>::Compute], &[<S as Stored>::Compute], &mut [<R as Stored>::Compute], bool);

/// Calls `body` with the elements of a tensor, and the other operand repeated to their number.
fn pairs<S: Stored, R: Stored>(
    out: &View,
    a: &View,
    b: Operand,
    steps: StepPattern,
    body: PairBody<S, R>,
) -> Option<()> {
    match b {
        Operand::Tensor(b) => each([out, a, b], steps, &mut |block| {
            let tail = block.tail;
            let (a, b, out) = block.two::<S, S, R>();
            if let (Some(a), Some(b), Some(out)) = (S::as_computed(a), S::as_computed(b), R::as_computed_mut(out)) {
                body(a, b, out, tail);
            }
        }),
        Operand::Number(number) => {
            let value = [S::store(number).widen(); SHORT];
            each([out, a], StepPattern { repeated: 1, ..steps }, &mut |block| {
                let tail = block.tail;
                let (a, out) = block.one::<S, R>();
                if let (Some(a), Some(out)) = (S::as_computed(a), R::as_computed_mut(out)) {
                    body(a, &value[..a.len()], out, tail);
                }
            })
        }
    }
}

/// A binary operation. `None` if the call takes the usual way.
pub(super) fn binary(op: BinaryOp, a: Operand, b: Operand, output: Output) -> Option<View> {
    let Operand::Tensor(a) = a else { return None };
    if !op.keeps(a.dtype) || !is_quick(a) || !is_like(b, a) {
        return None;
    }
    dispatch!(a.dtype, S => {
        type C = <S as Stored>::Compute;
        if !needs_no_conversion::<S>() {
            return None;
        }
        let (kernel, tail_kernel) = (C::binary(op)?, C::binary_tail(op));
        let out = destination(a, a.dtype, output)?;
        let steps = steps::<S>(op.pace(a.dtype), tail_kernel.is_none());
        pairs::<S, S>(&out, a, b, steps, &mut |a, b, out, tail| {
            if tail { tail_kernel.unwrap_or(kernel)(a, b, out) } else { kernel(a, b, out) }
        })?;
        Some(out.into_owned())
    })
}

/// A comparison, likewise.
pub(crate) fn compare(op: CompareOp, a: Operand, b: Operand, output: Output) -> Option<View> {
    let Operand::Tensor(a) = a else { return None };
    if !op.supports(a.dtype) || !is_quick(a) || !is_like(b, a) || !matches!(output, Output::New) {
        return None;
    }
    dispatch!(a.dtype, S => {
        type C = <S as Stored>::Compute;
        if !needs_no_conversion::<S>() {
            return None;
        }
        let kernel = C::compare(op)?;
        let out = destination(a, DType::Bool, output)?;
        let steps = steps::<S>(Pace::PLAIN, true);
        pairs::<S, BoolByte>(&out, a, b, steps, &mut |a, b, out, _| kernel(a, b, out))?;
        Some(out.into_owned())
    })
}

/// A unary operation, likewise.
pub(super) fn unary(op: UnaryOp, a: &View, output: Output) -> Option<View> {
    if !op.keeps(a.dtype) || !is_quick(a) {
        return None;
    }
    dispatch!(a.dtype, S => {
        type C = <S as Stored>::Compute;
        if !needs_no_conversion::<S>() {
            return None;
        }
        let (kernel, tail_kernel) = (C::unary(op)?, C::unary_tail(op));
        let out = destination(a, a.dtype, output)?;
        let steps = steps::<S>(op.pace(a.dtype), tail_kernel.is_none());
        each([&out, a], steps, &mut |block| {
            let tail = block.tail;
            let (a, out) = block.one::<S, S>();
            if let (Some(a), Some(out)) = (S::as_computed(a), S::as_computed_mut(out)) {
                if tail { tail_kernel.unwrap_or(kernel)(a, out) } else { kernel(a, out) }
            }
        })?;
        Some(out.into_owned())
    })
}
