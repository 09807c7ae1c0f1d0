//! Loops over few elements that lie one after another in every operand. They need no tiles, buffers and threads, whose
//! preparation takes longer than the elements.

use super::{Block, Elements, Lookup, StepPattern, is_placed};
use crate::Result;
use crate::interrupt;
use crate::layout::{Layout, alike};
use crate::memory::Memory;
use crate::thresholds::{KEPT, SHORT_LOOP};
use std::mem::MaybeUninit;

/// A short loop that is ready to run.
pub(super) struct ShortLoop<const N: usize> {
    data: [*mut u8; N],
    itemsize: [usize; N],
    length: usize,
    /// The elements that PyTorch's loop takes as whole vectors.
    vectors: usize,
    /// Whether the output is also an input, whose elements are kept in a buffer.
    in_place: bool,
}

impl<const N: usize> ShortLoop<N> {
    /// Prepares a loop over operands of the same sizes. `None` if it is long, if elements have gaps or another order, or
    /// if the output shares memory with an input without being the input.
    #[inline]
    pub(super) fn new(operands: &[Elements; N], steps: &StepPattern) -> Option<ShortLoop<N>> {
        let out = operands.first()?.layout;
        let length = usize::try_from(out.numel()).ok().filter(|length| *length <= SHORT_LOOP.min(steps.most))?;
        let is_in_order = |layout: &Layout| alike(&layout.strides, &out.strides) || layout.is_contiguous();
        if !out.is_contiguous() || operands.iter().any(|o| o.looked_up || !is_in_order(o.layout)) {
            return None;
        }
        ShortLoop::over(
            operands.map(|operand| (operand.memory, operand.layout.offset, operand.itemsize)),
            length,
            steps,
        )
    }

    /// Prepares a loop over as many elements of each operand as `length` says, one after another from an offset: a
    /// memory, the offset, and the size of an element. `None` as for [`ShortLoop::new`], and if they are not all there.
    #[inline]
    pub(super) fn over(
        operands: [(&Memory, i64, usize); N],
        length: usize,
        steps: &StepPattern,
    ) -> Option<ShortLoop<N>> {
        let (mut data, mut itemsize) = ([std::ptr::null_mut(); N], [0; N]);
        let mut written = 0..0;
        let mut in_place = false;
        for (k, (memory, offset, size)) in operands.into_iter().enumerate() {
            let start = usize::try_from(offset).ok()?.checked_mul(size)?;
            let nbytes = length.checked_mul(size)?;
            if start.checked_add(nbytes)? > memory.nbytes() {
                return None;
            }
            // SAFETY: the first byte lies within the memory, as all others do.
            let first = unsafe { memory.start()?.as_ptr().add(start) };
            if !is_placed(first, size) {
                return None;
            }
            let read = first.addr()..first.addr() + nbytes;
            if k == 0 {
                written = read;
            } else if read == written {
                in_place = true;
            } else if read.start < written.end && written.start < read.end {
                return None;
            }
            (data[k], itemsize[k]) = (first, size);
        }
        if in_place && written.len() > KEPT {
            return None;
        }
        let vectors = match (steps.alike, steps.repeated) {
            (true, _) => length,
            (false, 0 | 1) => length - length % steps.step.max(1),
            (false, _) => 0,
        };
        Some(ShortLoop { data, itemsize, length, vectors, in_place })
    }

    /// Calls `body` for the elements in whole vectors, and for the rest.
    pub(super) fn each(&self, body: &mut dyn FnMut(&mut Block<N>) -> Result<()>) -> Result<()> {
        if self.in_place { self.each_kept(body) } else { self.each_of(self.data, body) }
    }

    /// Like [`ShortLoop::each`], with a copy of the output for the inputs that are the output. Never inlined: other loops
    /// need no buffer.
    #[inline(never)]
    fn each_kept(&self, body: &mut dyn FnMut(&mut Block<N>) -> Result<()>) -> Result<()> {
        #[repr(C, align(64))]
        struct Kept([MaybeUninit<u8>; KEPT]);
        let mut kept = Kept([const { MaybeUninit::uninit() }; KEPT]);
        let kept = kept.0.as_mut_ptr().cast::<u8>();
        let mut data = self.data;
        let (out, nbytes) = (self.data[0], self.length * self.itemsize[0]);
        // SAFETY: `new` checked that the output has as many bytes, and that they fit the buffer.
        unsafe { std::ptr::copy_nonoverlapping(out, kept, nbytes) };
        data[1..].iter_mut().filter(|input| **input == out).for_each(|input| *input = kept);
        self.each_of(data, body)
    }

    fn each_of(&self, data: [*mut u8; N], body: &mut dyn FnMut(&mut Block<N>) -> Result<()>) -> Result<()> {
        interrupt::check()?;
        for (range, tail) in [(0..self.vectors, false), (self.vectors..self.length, true)] {
            if range.is_empty() {
                continue;
            }
            let lookup = Lookup { start: std::ptr::null(), elements: 0, itemsize: 0, place: [0; 2] };
            let (itemsize, length) = (self.itemsize, range.len());
            let mut block = Block { data, itemsize, length, streams: false, tail, lookup };
            for (data, size) in block.data.iter_mut().zip(itemsize) {
                // SAFETY: the range lies within the elements that `new` checked, or within their copy.
                *data = unsafe { data.add(range.start * size) };
            }
            body(&mut block)?;
        }
        Ok(())
    }
}

/// Calls `body` for few elements of some operands, one after another from an offset: a memory, the offset, and the size of
/// an element. Operand 0 is the output. `None` if [`super::blocks`] has to do it, which also raises errors.
#[inline]
pub(crate) fn in_short<const N: usize>(
    operands: [(&Memory, i64, usize); N],
    length: usize,
    steps: StepPattern,
    body: &mut dyn FnMut(&mut Block<N>),
) -> Option<()> {
    let mut body = |block: &mut Block<N>| {
        body(block);
        Ok(())
    };
    ShortLoop::over(operands, length, &steps)?.each(&mut body).ok()
}
