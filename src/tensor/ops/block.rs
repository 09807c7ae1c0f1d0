//! Runs kernels over tensors in blocks of consecutive values, in the compute type. Loading and storing handle element
//! types; [`parallel::blocks`] handles strides and threads. A kernel is a plain loop over slices and exists once per
//! compute type. Lazy bits are ignored: callers resolve them first. Independent of any particular operation.

use super::number::Stored;
use super::pointwise::broadcast;
use crate::bail;
use crate::memory::{ElementCell, Memory, Plain, get, set};
use crate::parallel::{self, Elements, StepPattern, vectorised};
use crate::thresholds::{LONG_BLOCK, SHORT};
use crate::{Layout, Result, View, interrupt, limits};
use std::borrow::Cow;

pub use crate::thresholds::BLOCK;

/// An operand of an elementwise loop.
pub enum Source<'a, C> {
    /// A tensor that already has the loop's dtype, and its layout broadcast to the loop's sizes.
    Elements(&'a View, Cow<'a, Layout>),
    /// One value for every position.
    Value(C),
}

/// Reads `into.len()` elements, starting at `offset`, `stride` elements apart.
pub fn load<S: Stored>(cells: &[ElementCell<S>], offset: i64, stride: i64, into: &mut [S::Compute]) {
    let cells = usize::try_from(offset).ok().and_then(|start| cells.get(start..)).unwrap_or_default();
    match usize::try_from(stride) {
        Ok(0) => into.fill(cells.first().map(get).unwrap_or_default().widen()),
        Ok(step) => {
            for (value, cell) in into.iter_mut().zip(cells.iter().step_by(step)) {
                *value = get(cell).widen();
            }
        }
        // Tensors have no negative strides.
        Err(_) => {}
    }
}

/// Returns all elements of a row-major view, converted to the compute type.
pub fn values<S: Stored>(view: &View) -> Result<Vec<S::Compute>> {
    let mut values = limits::filled(S::Compute::default(), view.numel().max(0) as usize)?;
    let memory = view.memory()?;
    for (part, start) in values.chunks_mut(interrupt::STRIDE).zip((view.layout.offset..).step_by(interrupt::STRIDE)) {
        interrupt::check()?;
        load(memory.typed::<S>(), start, 1, part);
    }
    Ok(values)
}

/// A scratch buffer for one block, allocated on first use and reused for the rest. Clearing it takes as long as some
/// kernels.
pub(super) struct Scratch<C>(Option<[C; BLOCK]>);

impl<C: Copy + Default> Scratch<C> {
    /// Not a `const`: initialising from one would copy the whole array.
    #[inline(always)]
    pub(super) fn new() -> Scratch<C> {
        Scratch(None)
    }

    pub(super) fn values(&mut self, length: usize) -> &mut [C] {
        &mut self.0.get_or_insert_with(|| [C::default(); BLOCK])[..length.min(BLOCK)]
    }
}

/// Calls `with` with a buffer of `length` values, on the stack if that is at most [`SHORT`].
pub(super) fn with_scratch<C: Copy + Default>(
    length: usize,
    scratch: &mut Scratch<C>,
    with: impl FnOnce(&mut [C]) -> Result<()>,
) -> Result<()> {
    if length <= SHORT { with(&mut [C::default(); SHORT][..length]) } else { with(scratch.values(length)) }
}

/// Returns at most [`BLOCK`] elements converted to the compute type, or the elements themselves if no conversion is
/// needed.
pub(super) fn valued<'r, S: Stored>(elements: &'r [S], scratch: &'r mut Scratch<S::Compute>) -> &'r [S::Compute] {
    match S::as_computed(elements) {
        Some(values) => values,
        None => {
            let values = scratch.values(elements.len());
            S::widen_all(elements, values);
            values
        }
    }
}

/// Returns whether elements of `S` need no conversion to the compute type.
pub(crate) fn needs_no_conversion<S: Stored>() -> bool {
    S::as_computed(&[]).is_some()
}

/// The maximum length of a block. Converted elements must fit a scratch buffer; others need none.
fn most(bare: bool) -> usize {
    if bare { LONG_BLOCK } else { BLOCK }
}

/// Calls `with` with the elements converted to the compute type, or with the elements themselves if no conversion is
/// needed.
fn widened<S: Stored>(
    elements: &[S],
    scratch: &mut Scratch<S::Compute>,
    with: impl FnOnce(&[S::Compute]) -> Result<()>,
) -> Result<()> {
    match S::as_computed(elements) {
        Some(values) => with(values),
        None => with_scratch(elements.len(), scratch, |values| {
            S::widen_all(elements, values);
            with(values)
        }),
    }
}

/// Calls `compute` with a buffer for the results and stores them, or with `out` itself if no conversion is needed.
fn narrowed<R: Stored>(
    out: &mut [R],
    scratch: &mut Scratch<R::Compute>,
    compute: impl FnOnce(&mut [R::Compute]) -> Result<()>,
) -> Result<()> {
    if let Some(results) = R::as_computed_mut(out) {
        return compute(results);
    }
    with_scratch(out.len(), scratch, |results| {
        compute(results)?;
        R::narrow_all(results, out);
        Ok(())
    })
}

pub(super) fn elements<'a>(view: &View, memory: &'a Memory, layout: &'a Layout) -> Elements<'a> {
    Elements { memory, layout, itemsize: view.dtype.itemsize(), looked_up: false }
}

/// How a kernel goes through elements: the bytes that PyTorch's loop takes at a time, and the time that an element takes,
/// in additions ([`StepPattern::weight`]).
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    pub step: usize,
    pub weight: usize,
    /// [`StepPattern::alike`].
    pub alike: bool,
}

impl Pace {
    pub(crate) const PLAIN: Pace = Pace { step: 64, weight: 1, alike: true };

    /// The pace of a kernel that evaluates `functions` functions like the exponential for each element, by vectorised
    /// series or by calls.
    pub(crate) fn with_functions(step: usize, functions: usize, by_series: bool) -> Pace {
        Pace { step, weight: 1 + functions * if by_series { 3 } else { 24 }, alike: false }
    }
}

/// A unary kernel on a block: operand, results, and whether PyTorch processes the block element by element
/// ([`tail`](crate::parallel::Block::tail)).
pub(crate) type UnaryBlock<'k, C, R> = &'k (dyn Fn(&[C], &mut [R], bool) + Sync);

/// `out[i] = kernel(a[i])` in blocks. `layout` is `a`'s, broadcast to `out`'s sizes.
pub fn unary<S: Stored, R: Stored>(
    out: &View,
    a: &View,
    layout: &Layout,
    Pace { step, weight, alike }: Pace,
    kernel: UnaryBlock<S::Compute, R::Compute>,
) -> Result<()> {
    let (memory, a_memory) = (out.memory()?, a.memory()?);
    let most = most(needs_no_conversion::<S>() && needs_no_conversion::<R>());
    let steps = StepPattern { step: step / size_of::<S>(), most, weight, alike, ..StepPattern::SINGLE };
    let operands = [elements(out, &memory, &out.layout), elements(a, &a_memory, layout)];
    parallel::blocks(operands, steps, &|blocks| {
        let (mut a_scratch, mut scratch) = (Scratch::new(), Scratch::new());
        blocks.each(|block| {
            let tail = block.tail;
            let (a, out) = block.one::<S, R>();
            widened(a, &mut a_scratch, |a| {
                narrowed(out, &mut scratch, |out| {
                    kernel(a, out, tail);
                    Ok(())
                })
            })
        })
    })
}

/// Copies between two dtypes that have the same compute type.
pub fn convert<S: Stored, D: Stored<Compute = S::Compute>>(out: &View, a: &View, layout: &Layout) -> Result<()> {
    let (memory, a_memory) = (out.memory()?, a.memory()?);
    let steps = StepPattern { step: 64 / size_of::<S>(), ..StepPattern::SINGLE };
    let operands = [elements(out, &memory, &out.layout), elements(a, &a_memory, layout)];
    parallel::blocks(operands, steps, &|blocks| {
        let mut scratch = Scratch::new();
        blocks.each(|block| {
            let (a, out) = block.one::<S, D>();
            if let Some(out) = D::as_computed_mut(out) {
                S::widen_all(a, out);
                return Ok(());
            }
            widened(a, &mut scratch, |a| {
                D::narrow_all(a, out);
                Ok(())
            })
        })
    })
}

/// A binary kernel on a block: first operand, second operand, results, and whether PyTorch processes the block element
/// by element ([`tail`](crate::parallel::Block::tail)).
pub(crate) type BinaryBlock<'k, C, R> = &'k (dyn Fn(&[C], &[C], &mut [R], bool) -> Result<()> + Sync);

/// `out[i] = kernel(a[i], b[i])` in blocks.
pub fn binary<S: Stored, R: Stored>(
    out: &View,
    a: Source<S::Compute>,
    b: Source<S::Compute>,
    pace: Pace,
    kernel: BinaryBlock<S::Compute, R::Compute>,
) -> Result<()> {
    let Pace { step, weight, alike } = pace;
    let single = StepPattern { step: step / size_of::<S>(), weight, alike, ..StepPattern::SINGLE };
    let memory = out.memory()?;
    let target = elements(out, &memory, &out.layout);
    match (a, b) {
        (Source::Elements(a, a_layout), Source::Elements(b, b_layout)) => {
            let (a_memory, b_memory) = (a.memory()?, b.memory()?);
            let operands = [target, elements(a, &a_memory, &a_layout), elements(b, &b_memory, &b_layout)];
            let most = most(needs_no_conversion::<S>() && needs_no_conversion::<R>());
            parallel::blocks(operands, StepPattern { most, ..single }, &|blocks| {
                let (mut a_scratch, mut b_scratch, mut scratch) = (Scratch::new(), Scratch::new(), Scratch::new());
                blocks.each(|block| {
                    let tail = block.tail;
                    let (a, b, out) = block.two::<S, S, R>();
                    widened(a, &mut a_scratch, |a| {
                        widened(b, &mut b_scratch, |b| narrowed(out, &mut scratch, |out| kernel(a, b, out, tail)))
                    })
                })
            })
        }
        (Source::Elements(a, layout), Source::Value(value)) => {
            with_value::<S, R>(out, a, &layout, value, single, kernel)
        }
        (Source::Value(value), Source::Elements(b, layout)) => {
            with_value::<S, R>(out, b, &layout, value, single, &|b, a, out, tail| kernel(a, b, out, tail))
        }
        (Source::Value(a), Source::Value(b)) => repeated(a, out.numel(), &|a| {
            repeated(b, out.numel(), &|b| {
                parallel::blocks([target], StepPattern { repeated: 2, ..single }, &|blocks| {
                    let mut scratch = Scratch::new();
                    blocks.each(|block| {
                        let tail = block.tail;
                        let out = block.output::<R>();
                        let (a, b) = (&a[..out.len()], &b[..out.len()]);
                        narrowed(out, &mut scratch, |out| kernel(a, b, out, tail))
                    })
                })
            })
        }),
    }
}

/// Like [`binary`], for a tensor and a single value; `kernel` gets the tensor's elements first.
fn with_value<S: Stored, R: Stored>(
    out: &View,
    view: &View,
    layout: &Layout,
    value: S::Compute,
    steps: StepPattern,
    kernel: BinaryBlock<S::Compute, R::Compute>,
) -> Result<()> {
    let (memory, view_memory) = (out.memory()?, view.memory()?);
    let operands = [elements(out, &memory, &out.layout), elements(view, &view_memory, layout)];
    repeated(value, out.numel(), &|value| {
        parallel::blocks(operands, StepPattern { repeated: 1, ..steps }, &|blocks| {
            let (mut view_scratch, mut scratch) = (Scratch::new(), Scratch::new());
            blocks.each(|block| {
                let tail = block.tail;
                let (elements, out) = block.one::<S, R>();
                let value = &value[..elements.len()];
                widened(elements, &mut view_scratch, |values| {
                    narrowed(out, &mut scratch, |out| kernel(values, value, out, tail))
                })
            })
        })
    })
}

/// Calls `with` with a slice that repeats `value`, as long as the longest block of a loop over `numel` elements.
fn repeated<C: Copy>(value: C, numel: i64, with: &dyn Fn(&[C]) -> Result<()>) -> Result<()> {
    if numel <= SHORT as i64 { with(&[value; SHORT]) } else { with(&[value; BLOCK]) }
}

/// A kernel on a block of three operands; the first may have another type than the other two.
pub(crate) type TernaryBlock<'k, A, C> = &'k (dyn Fn(&[A], &[C], &[C], &mut [C]) + Sync);

/// `out[i] = kernel(a[i], b[i], c[i])` in blocks, with operands broadcast to `out`'s sizes. If `out` overlaps an
/// operand, elements are computed one after another.
pub fn ternary<A: Stored, S: Stored>(
    out: &View,
    views: [&View; 3],
    kernel: TernaryBlock<A::Compute, S::Compute>,
) -> Result<()> {
    let [a, b, c] = views;
    let (memory, a_memory, b_memory, c_memory) = (out.memory()?, a.memory()?, b.memory()?, c.memory()?);
    let [a_layout, b_layout, c_layout] = views.map(|view| broadcast(view, out.sizes()));
    let operands = [
        elements(out, &memory, &out.layout),
        elements(a, &a_memory, &a_layout),
        elements(b, &b_memory, &b_layout),
        elements(c, &c_memory, &c_layout),
    ];
    let most = most(needs_no_conversion::<A>() && needs_no_conversion::<S>());
    parallel::blocks(operands, StepPattern { most, ..StepPattern::SINGLE }, &|blocks| {
        let (mut a_scratch, mut b_scratch, mut c_scratch, mut scratch) =
            (Scratch::new(), Scratch::new(), Scratch::new(), Scratch::new());
        blocks.each(|block| {
            let (a, b, c, out) = block.three::<A, S, S, S>();
            widened(a, &mut a_scratch, |a| {
                widened(b, &mut b_scratch, |b| {
                    widened(c, &mut c_scratch, |c| {
                        narrowed(out, &mut scratch, |out| {
                            kernel(a, b, c, out);
                            Ok(())
                        })
                    })
                })
            })
        })
    })
}

/// Writes `element` to every element of `out`.
pub fn fill<T: Plain>(out: &View, element: T) -> Result<()> {
    let memory = out.memory()?;
    // Set a single element without starting a loop.
    if let ([], Some(cell)) = (out.sizes(), out.cell::<T>(&memory, out.layout.offset)) {
        set(cell, element);
        return Ok(());
    }
    let steps = StepPattern { most: LONG_BLOCK, stores: true, ..StepPattern::SINGLE };
    parallel::blocks([elements(out, &memory, &out.layout)], steps, &|blocks| {
        blocks.each(|block| {
            vectorised(|| block.output::<T>().fill(element));
            Ok(())
        })
    })
}

/// Copies elements bit by bit, without converting them; both views have the same dtype.
pub(crate) fn transfer(out: &View, a: &View, layout: &Layout) -> Result<()> {
    match out.dtype.itemsize() {
        1 => transfer_as::<u8>(out, a, layout),
        2 => transfer_as::<u16>(out, a, layout),
        4 => transfer_as::<u32>(out, a, layout),
        8 => transfer_as::<u64>(out, a, layout),
        _ => transfer_as::<num_complex::Complex<f64>>(out, a, layout),
    }
}

fn transfer_as<T: Stored>(out: &View, a: &View, layout: &Layout) -> Result<()> {
    let (memory, a_memory) = (out.memory()?, a.memory()?);
    let steps = StepPattern { step: 64 / size_of::<T>(), most: LONG_BLOCK, stores: true, ..StepPattern::SINGLE };
    let operands = [elements(out, &memory, &out.layout), elements(a, &a_memory, layout)];
    parallel::blocks(operands, steps, &|blocks| {
        blocks.each(|block| {
            block.transfer::<T>();
            Ok(())
        })
    })
}

/// Refuses to write to a view that has several indices for the same address. A view on the meta device has none.
pub fn check_no_internal_overlap(out: &View) -> Result<()> {
    if !out.device().is_meta() && out.layout.has_internal_overlap() && !out.layout.is_non_overlapping_and_dense() {
        bail!(
            RuntimeError,
            "unsupported operation: more than one element of the written-to tensor refers to a single memory location. \
             Please clone() the tensor before performing the operation."
        );
    }
    Ok(())
}

/// Refuses dense operands that overlap partially. Like PyTorch, does not check views with gaps.
pub fn check_no_partial_overlap(out: &View, input: &View) -> Result<()> {
    if out.is_same(input) { Ok(()) } else { refuse_overlap(out, input, true) }
}

/// Refuses dense operands that overlap at all, even completely.
pub fn check_no_overlap(out: &View, input: &View) -> Result<()> {
    refuse_overlap(out, input, false)
}

fn refuse_overlap(out: &View, input: &View, may_be_full: bool) -> Result<()> {
    let dense = |v: &View| v.layout.is_non_overlapping_and_dense();
    if out.storage != input.storage || !dense(out) || !dense(input) {
        return Ok(());
    }
    let bytes = |v: &View| {
        let (start, itemsize) = (v.layout.offset.saturating_mul(v.dtype.itemsize() as i64), v.dtype.itemsize() as i64);
        start..start.saturating_add(v.numel().saturating_mul(itemsize))
    };
    let (a, b) = (bytes(out), bytes(input));
    let full = may_be_full && a == b && out.strides() == input.strides();
    if !full && !a.is_empty() && !b.is_empty() && a.start < b.end && b.start < a.end {
        bail!(
            RuntimeError,
            "unsupported operation: some elements of the input tensor and the written-to tensor refer to a single \
             memory location. Please clone() the tensor before performing the operation."
        );
    }
    Ok(())
}
