//! Several operands of one shape walked together. Dimensions are sorted as PyTorch's iterator sorts them (which decides
//! the order of writes to overlapping elements), merged where strides allow, and the innermost run is handed to the
//! caller whole, so that its loop can be vectorised.

use super::layout::{Dims, Layout};
use smallvec::SmallVec;

/// An innermost run of elements: where each operand starts and how far apart its elements are.
#[derive(Clone, Copy, Debug)]
pub struct Run<const N: usize> {
    pub offset: [i64; N],
    pub stride: [i64; N],
    pub length: usize,
}

/// Calls `body` for every innermost run of `N` operands that all have the same sizes (broadcast beforehand).
///
/// The first operand leads: dimensions are ordered by its strides, then by the others'. Stops at the first error.
pub fn walk<const N: usize, E>(operands: [&Layout; N], mut body: impl FnMut(Run<N>) -> Result<(), E>) -> Result<(), E> {
    let Some(first) = operands.first() else { return Ok(()) };
    let sizes = &first.sizes;
    if sizes.contains(&0) {
        return Ok(());
    }
    let strides = operands.map(|layout| layout.strides.as_slice());
    let order = Layout::iteration_order(sizes, &strides);

    // Fastest dimension first, adjacent ones merged where one continues the other in every operand.
    let mut dims: SmallVec<[(i64, [i64; N]); 6]> = SmallVec::new();
    for &d in &order {
        let (size, step) = (sizes[d], strides.map(|s| s[d]));
        if size == 1 {
            continue;
        }
        match dims.last_mut() {
            Some((inner, inner_step)) if (0..N).all(|k| inner_step[k].wrapping_mul(*inner) == step[k]) => {
                *inner *= size
            }
            _ => dims.push((size, step)),
        }
    }
    let offset = operands.map(|layout| layout.offset);
    let Some(((length, stride), outer)) = dims.split_first() else {
        return body(Run { offset, stride: [0; N], length: 1 });
    };
    let (length, stride) = (*length as usize, *stride);
    let mut run = Run { offset, stride, length };
    let mut index = Dims::from_elem(0, outer.len());
    loop {
        body(run)?;
        let mut d = 0;
        loop {
            let Some((size, step)) = outer.get(d) else { return Ok(()) };
            index[d] += 1;
            for (offset, step) in run.offset.iter_mut().zip(step) {
                *offset += step;
            }
            if index[d] < *size {
                break;
            }
            for (offset, step) in run.offset.iter_mut().zip(step) {
                *offset -= step * size;
            }
            index[d] = 0;
            d += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn visit(a: &Layout, b: &Layout) -> (usize, Vec<(i64, i64)>) {
        let (mut runs, mut seen) = (0, Vec::new());
        let walked: Result<(), ()> = walk([a, b], |run| {
            runs += 1;
            for i in 0..run.length as i64 {
                seen.push((run.offset[0] + i * run.stride[0], run.offset[1] + i * run.stride[1]));
            }
            Ok(())
        });
        assert_eq!(walked, Ok(()));
        (runs, seen)
    }

    #[test]
    fn contiguous_operands_merge_into_one_run() {
        let a = Layout::contiguous(&[2, 3, 4]);
        let (runs, seen) = visit(&a, &a);
        assert_eq!(runs, 1);
        assert_eq!(seen, (0..24).map(|i| (i, i)).collect::<Vec<_>>());
    }

    #[test]
    fn every_pair_is_visited_once() {
        let a = Layout::contiguous(&[2, 3]);
        let Ok(b) = Layout::contiguous(&[3, 2]).transpose(0, 1) else { panic!("transpose") };
        let (_, mut seen) = visit(&a, &b);
        seen.sort();
        assert_eq!(seen, [(0, 0), (1, 2), (2, 4), (3, 1), (4, 3), (5, 5)]);
    }
}
