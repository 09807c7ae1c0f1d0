//! The order in which a reduction visits its operand. Dimensions are sorted like in PyTorch's iterator (reduced ones
//! first), merged if strides allow, and passed on two at a time.

use crate::{Dims, Layout, Result, interrupt};
use smallvec::SmallVec;

/// The two fastest dimensions of a reduction at one index of the slower ones. Index 0 is the faster one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tile {
    /// Offsets of the first result and the first element.
    pub out: i64,
    pub input: i64,
    pub size: [usize; 2],
    pub out_stride: [i64; 2],
    pub in_stride: [i64; 2],
}

impl Tile {
    /// Moves the reduced dimension to the front, if exactly one is reduced.
    pub(super) fn reduced_first(mut self) -> Tile {
        if self.out_stride[0] != 0 && self.out_stride[1] == 0 {
            self.size.swap(0, 1);
            self.out_stride.swap(0, 1);
            self.in_stride.swap(0, 1);
        }
        self
    }
}

/// One dimension: its size, and the strides of results and elements along it.
#[derive(Clone, Copy)]
pub(super) struct Dim {
    pub size: i64,
    pub out: i64,
    pub input: i64,
}

/// Sorts and merges dimensions, fastest first. `out` has the operand's sizes, with stride 0 in reduced dimensions.
pub(super) fn dims(out: &Layout, input: &Layout) -> SmallVec<[Dim; 6]> {
    let mut dims: SmallVec<[Dim; 6]> = SmallVec::new();
    for d in Layout::reduction_order(&input.sizes, [&out.strides, &input.strides]) {
        let dim = Dim { size: input.sizes[d], out: out.strides[d], input: input.strides[d] };
        match dims.last_mut() {
            Some(_) if dim.size == 1 => {}
            Some(inner) if inner.size == 1 => *inner = dim,
            Some(inner) if inner.size * inner.out == dim.out && inner.size * inner.input == dim.input => {
                inner.size *= dim.size;
            }
            _ => dims.push(dim),
        }
    }
    dims
}

/// Calls `body` for every combination of indices of `dims`, with the offsets there. Checks for Ctrl-C before each call;
/// a slow `body` must check by itself, between [`interrupt::pieces`].
///
/// # Errors
/// Those of `body`; KeyboardInterrupt.
pub(crate) fn odometer(
    dims: &[Dim],
    mut out: i64,
    mut input: i64,
    body: &mut dyn FnMut(i64, i64) -> Result<()>,
) -> Result<()> {
    if dims.iter().any(|dim| dim.size == 0) {
        return Ok(());
    }
    let mut index = Dims::from_elem(0, dims.len());
    loop {
        interrupt::check()?;
        body(out, input)?;
        let mut d = 0;
        loop {
            let Some(dim) = dims.get(d) else { return Ok(()) };
            index[d] += 1;
            out += dim.out;
            input += dim.input;
            if index[d] < dim.size {
                break;
            }
            out -= dim.out * dim.size;
            input -= dim.input * dim.size;
            index[d] = 0;
            d += 1;
        }
    }
}

/// Calls `body` for every tile.
///
/// # Errors
/// Those of [`odometer`].
pub(super) fn for_each(out: &Layout, input: &Layout, body: &mut dyn FnMut(Tile) -> Result<()>) -> Result<()> {
    if input.numel() == 0 {
        return Ok(());
    }
    let mut dims = dims(out, input);
    while dims.len() < 2 {
        dims.push(Dim { size: 1, out: 0, input: 0 });
    }
    let [first, second, outer @ ..] = dims.as_slice() else { return Ok(()) };
    odometer(outer, out.offset, input.offset, &mut |out, input| {
        body(Tile {
            out,
            input,
            size: [first.size as usize, second.size as usize],
            out_stride: [first.out, second.out],
            in_stride: [first.input, second.input],
        })
    })
}
