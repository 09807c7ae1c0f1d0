//! Walks through several operands of one shape together. Dimensions are sorted like in PyTorch's iterator, which
//! determines the order of writes to overlapping elements, and merged where strides allow. The caller gets whole
//! innermost runs, so that its loop can be vectorised; very long runs come in pieces, with checks for Ctrl-C between
//! them.

use super::error::Result;
use super::interrupt;
use super::layout::{Dims, Layout};
use super::thresholds;
use smallvec::SmallVec;
use std::ops::Range;

/// An innermost run of elements: the operands' start offsets and strides.
#[derive(Clone, Copy, Debug)]
pub struct Run<const N: usize> {
    pub offset: [i64; N],
    pub stride: [i64; N],
    pub length: usize,
}

/// One dimension of a walk along `N` operands: its size, and the operands' strides.
type Dim<const N: usize> = (i64, [i64; N]);

/// Returns the dimensions of `N` operands, fastest first. Dimensions of size 1 are dropped, and adjacent ones merged if
/// they are contiguous in every operand.
fn merged<const N: usize>(sizes: &[i64], operands: &[&Layout; N]) -> SmallVec<[Dim<N>; 6]> {
    let strides = operands.map(|layout| layout.strides.as_slice());
    let mut dims: SmallVec<[Dim<N>; 6]> = SmallVec::new();
    for &d in &Layout::iteration_order(sizes, &strides) {
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
    dims
}

/// Calls `body` for every innermost run of `N` operands that have the same sizes (broadcast beforehand).
///
/// Dimensions are ordered by the strides of the first operand, then by the others'. Stops at the first error.
///
/// # Errors
/// KeyboardInterrupt, and the errors of `body`.
pub fn walk<const N: usize>(operands: [&Layout; N], mut body: impl FnMut(Run<N>) -> Result<()>) -> Result<()> {
    let Some(first) = operands.first() else { return Ok(()) };
    if first.sizes.contains(&0) {
        return Ok(());
    }
    let dims = merged(&first.sizes, &operands);
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

/// A walk cut into tiles, which may be visited in any order and by several threads.
pub struct Tiles<const N: usize> {
    offset: [i64; N],
    /// The dimensions along a run and across runs.
    inner: [Dim<N>; 2],
    outer: SmallVec<[Dim<N>; 6]>,
    /// The size of a whole tile, along and across.
    tile: [i64; 2],
    count: usize,
}

/// A part of some adjacent runs.
#[derive(Clone, Debug)]
pub struct Tile<const N: usize> {
    /// The first of the runs, as a whole.
    pub run: Run<N>,
    /// The elements of the run that belong to the tile.
    pub span: Range<usize>,
    /// The number of runs, and the distance between their starts.
    pub runs: usize,
    pub step: [i64; N],
}

const SQUARE: i64 = thresholds::SQUARE as i64;
const LINE: i64 = thresholds::BLOCK as i64;
const SHORT_RUN: i64 = thresholds::SHORT_RUN as i64;

impl<const N: usize> Tiles<N> {
    /// Cuts a walk of `N` operands of the same sizes into tiles. With `in_order`, the tiles in sequence visit the
    /// elements in the order of [`walk`]. Otherwise runs of fewer than `short` elements are walked across if that makes
    /// longer ones. A tile has about `volume` elements.
    pub fn new(operands: [&Layout; N], in_order: bool, short: usize, volume: usize) -> Tiles<N> {
        let volume = volume as i64;
        let sizes = operands.first().map(|layout| layout.sizes.as_slice()).unwrap_or_default();
        let offset = operands.map(|layout| layout.offset);
        if sizes.contains(&0) || N == 0 {
            return Tiles { offset, inner: [(0, [0; N]); 2], outer: SmallVec::new(), tile: [1; 2], count: 0 };
        }
        let mut dims = merged(sizes, &operands);
        while dims.len() < 2 {
            dims.push((1, [0; N]));
        }
        let tile = match crossing(&dims) {
            Some(across) if !in_order => {
                dims.swap(1, across);
                [SQUARE, SQUARE]
            }
            _ if in_order => [i64::MAX, volume],
            _ if dims[0].0 < SHORT_RUN.min(short as i64) && dims[1].0 >= SQUARE => {
                dims.swap(0, 1);
                [LINE.min(volume), volume]
            }
            _ => [volume, volume],
        };
        let outer = SmallVec::from_slice(&dims[2..]);
        let inner = [dims[0], dims[1]];
        let along = tile[0].min(inner[0].0);
        let across = tile[1].min((volume / along).max(1)).min(inner[1].0);
        let tile = [along, across];
        let across: usize = [0, 1].map(|k| (inner[k].0 as usize).div_ceil(tile[k] as usize)).iter().product();
        let count = outer.iter().fold(across, |count, dim: &Dim<N>| count * dim.0 as usize);
        Tiles { offset, inner, outer, tile, count }
    }

    pub fn count(&self) -> usize {
        self.count
    }

    /// Returns the number of elements in a whole tile.
    pub(crate) fn volume(&self) -> usize {
        (self.tile[0] * self.tile[1]) as usize
    }

    /// Returns the number of elements along a whole tile.
    pub fn length(&self) -> usize {
        self.tile[0] as usize
    }

    /// Returns the tile of a number below [`Tiles::count`].
    pub fn tile(&self, index: usize) -> Tile<N> {
        let mut rest = index as i64;
        let mut offset = self.offset;
        let mut digit = |size: i64| {
            let digit = rest % size;
            rest /= size;
            digit
        };
        let start = [0, 1].map(|k| {
            let (size, tile) = (self.inner[k].0, self.tile[k]);
            digit((size as u64).div_ceil(tile as u64) as i64) * tile
        });
        for (size, step) in &self.outer {
            let at = digit(*size);
            offset.iter_mut().zip(step).for_each(|(offset, step)| *offset += at * step);
        }
        let [(length, stride), (height, step)] = self.inner;
        offset.iter_mut().zip(step).for_each(|(offset, step)| *offset += start[1] * step);
        Tile {
            run: Run { offset, stride, length: length as usize },
            span: start[0] as usize..(start[0] + self.tile[0]).min(length) as usize,
            runs: self.tile[1].min(height - start[1]) as usize,
            step,
        }
    }
}

/// Finds a dimension along which some operand's elements are closer together than along the runs, if both are long.
fn crossing<const N: usize>(dims: &[Dim<N>]) -> Option<usize> {
    let (length, stride) = dims.first()?;
    let long = |size: i64| size >= SQUARE / 2;
    (1..dims.len()).find(|&d| {
        let (size, step) = &dims[d];
        long(*length) && long(*size) && (0..N).any(|k| step[k] > 0 && step[k] < stride[k])
    })
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

    #[test]
    fn tiles_visit_what_runs_visit() {
        let cube = Layout::contiguous(&[3, 70, 130]);
        let Ok(turned) = Layout::contiguous(&[130, 70, 3]).transpose(0, 2) else { panic!("transpose") };
        for (a, b, in_order) in [(&cube, &turned, true), (&cube, &turned, false), (&turned, &turned, false)] {
            let tiles = Tiles::new([a, b], in_order, thresholds::SHORT_RUN, thresholds::TILE);
            let mut seen = Vec::new();
            for Tile { run, span, runs, step } in (0..tiles.count()).map(|i| tiles.tile(i)) {
                for row in 0..runs as i64 {
                    let at = |k: usize, i: usize| run.offset[k] + row * step[k] + i as i64 * run.stride[k];
                    seen.extend(span.clone().map(|i| (at(0, i), at(1, i))));
                }
            }
            let (_, mut want) = visit(a, b);
            if !in_order {
                seen.sort();
                want.sort();
            }
            assert_eq!(seen, want);
        }
    }
}
