//! Several operands of one shape walked together. Dimensions are sorted as PyTorch's iterator sorts them (which decides
//! the order of writes to overlapping elements), merged where strides allow, and the innermost run is handed to the
//! caller whole (or, where it is very long, in pieces between which Ctrl-C is heeded), so that its loop can be vectorised.

use super::error::Result;
use super::interrupt;
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
///
/// # Errors
/// KeyboardInterrupt, and whatever `body` returns.
pub fn walk<const N: usize>(operands: [&Layout; N], mut body: impl FnMut(Run<N>) -> Result<()>) -> Result<()> {
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
    let mut unwatched = 0;
    loop {
        let mut rest = run;
        while rest.length > 0 {
            let piece = Run { length: rest.length.min(interrupt::STRIDE), ..rest };
            body(piece)?;
            rest.length -= piece.length;
            for (offset, stride) in rest.offset.iter_mut().zip(stride) {
                *offset += stride * piece.length as i64;
            }
            unwatched += piece.length;
            if unwatched >= interrupt::STRIDE {
                interrupt::check()?;
                unwatched = 0;
            }
        }
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
        let walked = walk([a, b], |run| {
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
    fn a_very_long_run_comes_in_pieces_and_ends_when_asked() {
        let long = Layout::contiguous(&[2 * interrupt::STRIDE as i64 + 1]);
        let mut seen = Vec::new();
        let mut visit = |run: Run<1>| {
            seen.push((run.offset[0], run.length));
            Ok(())
        };
        assert_eq!(walk([&long], &mut visit), Ok(()));
        let flag = interrupt::Interrupt::default();
        interrupt::watch(&flag);
        flag.set();
        assert!(walk([&long], &mut visit).is_err());
        let stride = interrupt::STRIDE;
        assert_eq!(seen, [(0, stride), (stride as i64, stride), (2 * stride as i64, 1), (0, stride)]);
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
