//! Explains why a shape cannot be a view: where a walk through the elements needs two different strides.
//! [`Layout::compute_stride`] decides; this file finds where it fails. Independent of bytes and dtypes.

use super::layout::{Layout, show};

/// The place where a requested shape fails to be a view. All numbers count elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ViewFault {
    /// The dimension of the requested shape that would need two strides; the rightmost of those.
    pub dim: usize,
    /// The tensor's dimension left of the border that it would have to cross.
    pub outer: usize,
    /// The tensor's dimension right of the border.
    pub inner: usize,
    /// The stride that `outer` would need to be contiguous with `inner`.
    pub needed: i64,
    /// The positions, in reading order, of the elements between which the walk along `dim` breaks.
    pub from: i64,
    pub to: i64,
    /// The distance in memory between neighbours along `dim` before the border.
    pub step: i64,
    /// The distance in memory between the two elements at the border.
    pub jump: i64,
}

impl Layout {
    /// Finds where `view(sizes)` fails; `None` if it does not. `sizes` must have as many elements as the tensor.
    ///
    /// The tensor's dimensions form chunks whose elements follow each other with one stride. A requested dimension that
    /// spans two chunks would need both strides.
    pub fn view_fault(&self, sizes: &[i64]) -> Option<ViewFault> {
        if self.ndim() == 0 || self.numel() == 0 || sizes.contains(&0) {
            return None;
        }
        let (old_sizes, old_strides) = (self.sizes.as_slice(), self.strides.as_slice());
        let mut chunk_stride = *old_strides.last()?;
        // The number of elements to the right of the chunk, and of those plus the chunk's own.
        let (mut right_of, mut within) = (1i64, 1i64);
        for inner in (1..old_sizes.len()).rev() {
            let outer = inner - 1;
            within = within.checked_mul(*old_sizes.get(inner)?)?;
            let (size, stride) = (*old_sizes.get(outer)?, *old_strides.get(outer)?);
            let needed = (within / right_of).saturating_mul(chunk_stride);
            if size == 1 || stride == needed {
                continue;
            }
            // The border comes after every `within` elements: the trailing sizes must multiply to that number.
            let mut block = 1i64;
            for (dim, &size) in sizes.iter().enumerate().rev() {
                let wider = block.checked_mul(size)?;
                if within % wider != 0 {
                    // `block` divides `within`; if they are equal, the border falls between two dimensions.
                    if block == within {
                        break;
                    }
                    let last = ((within - block) / right_of).saturating_mul(chunk_stride);
                    return Some(ViewFault {
                        dim,
                        outer,
                        inner,
                        needed,
                        from: within - block,
                        to: within,
                        step: (block / right_of).saturating_mul(chunk_stride),
                        jump: stride.saturating_sub(last),
                    });
                }
                block = wider;
            }
            chunk_stride = stride;
            right_of = within;
        }
        None
    }
}

impl ViewFault {
    /// Returns one sentence for the hint below an error.
    pub fn hint(&self, layout: &Layout, sizes: &[i64]) -> String {
        let Self { dim, outer, inner, needed, step, jump, .. } = *self;
        let stride = layout.strides.get(outer).copied().unwrap_or_default();
        format!(
            "dimension {dim} of {shape} spans dimensions {outer} and {inner} of the tensor, which cannot merge: \
             stride({outer}) is {stride}, merging needs {needed}. Its first step would be {step:+}, a later one {jump:+}. \
             why_view(t, {shape}) shows it",
            shape = show(sizes)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Dims;

    /// Finds the rightmost dimension whose neighbours are not all the same distance apart, by comparing all addresses.
    fn by_looking(layout: &Layout, sizes: &[i64]) -> Option<usize> {
        let addresses: Vec<i64> = layout.offsets().collect();
        let mut block = 1;
        for (dim, &size) in sizes.iter().enumerate().rev() {
            let size = size as usize;
            let steps = addresses.chunks(block * size).flat_map(|run| {
                let starts: Vec<_> = run.iter().step_by(block).collect();
                starts.windows(2).map(|pair| pair[1] - pair[0]).collect::<Vec<_>>()
            });
            let steps: Vec<_> = steps.collect();
            if steps.iter().any(|step| *step != steps[0]) {
                return Some(dim);
            }
            block *= size;
        }
        None
    }

    fn shapes_of(numel: i64, depth: usize) -> Vec<Vec<i64>> {
        if depth == 0 {
            return if numel == 1 { vec![vec![]] } else { vec![] };
        }
        let divisors = (1..=numel).filter(|size| numel % size == 0);
        divisors
            .flat_map(|size| {
                shapes_of(numel / size, depth - 1).into_iter().map(move |rest| [vec![size], rest].concat())
            })
            .collect()
    }

    #[test]
    fn the_fault_is_where_the_addresses_break() {
        let (mut faults, mut views) = (0, 0);
        let strides = [0i64, 1, 2, 3, 4, 6, 12, 13];
        for sizes in [vec![4, 3], vec![2, 6], vec![2, 2, 3], vec![3, 1, 4], vec![1, 12], vec![2, 1, 3, 2]] {
            let choices = strides.len().pow(sizes.len() as u32);
            for choice in (0..choices).step_by(if sizes.len() == 4 { 3 } else { 1 }) {
                let stride = |d: usize| strides[choice / strides.len().pow(d as u32) % strides.len()];
                let layout = Layout {
                    sizes: Dims::from_slice(&sizes),
                    strides: (0..sizes.len()).map(stride).collect(),
                    offset: 0,
                };
                for shape in (0..=4).flat_map(|ndim| shapes_of(12, ndim)) {
                    let fault = layout.view_fault(&shape);
                    let found = fault.map(|fault| fault.dim);
                    assert_eq!(found.is_none(), layout.compute_stride(&shape).is_some(), "{layout:?} {shape:?}");
                    assert_eq!(found, by_looking(&layout, &shape), "{layout:?} {shape:?}");
                    let Some(fault) = fault else {
                        views += 1;
                        continue;
                    };
                    faults += 1;
                    let at: Vec<i64> = layout.offsets().collect();
                    assert_eq!(at[fault.to as usize] - at[fault.from as usize], fault.jump, "{layout:?} {shape:?}");
                    assert_eq!(at[(fault.to - fault.from) as usize] - at[0], fault.step, "{layout:?} {shape:?}");
                    assert_ne!(fault.step, fault.jump);
                }
            }
        }
        assert!(faults > 10_000 && views > 1_000, "{faults} {views}");
    }
}
