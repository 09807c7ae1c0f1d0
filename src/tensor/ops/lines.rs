//! Processes tensors line by line along one dimension, for operations that need a whole line at once (quantiles,
//! running extrema). Lines are copied to and from vectors of [`Scalar`]s.

use super::check::{lost, resolved};
use super::sort::line_starts;
use crate::memory::{get, set};
use crate::{Dims, Element, Layout, Result, Scalar, View, interrupt, limits};

/// Allocates a row-major result with `view`'s dimensions, but `count` elements along `dim`.
pub(super) fn like_lines(view: &View, dim: usize, count: i64, dtype: crate::DType) -> Result<View> {
    let mut sizes = Dims::from_slice(view.sizes());
    if let Some(size) = sizes.get_mut(dim) {
        *size = count;
    }
    View::zeros(&sizes, dtype, view.device())
}

/// Drops the result's dimension `dim`, of size 1, unless `keepdim` is set.
pub(super) fn reduced(view: View, dim: usize, keepdim: bool) -> View {
    if keepdim || view.ndim() == 0 { view } else { view.with_layout(view.layout.squeeze(|d| d == dim)) }
}

/// A function of one line: gets the line's elements and fills one vector per result.
pub(super) type OnLine<'f, const N: usize> = &'f mut dyn FnMut(&[Scalar], &mut [Vec<Scalar>; N]) -> Result<()>;

/// Calls `function` for every line of `view` along `dim` and writes its results to the corresponding lines of `outs`,
/// which have `view`'s other dimensions.
pub(super) fn each_line<const N: usize>(view: &View, dim: usize, outs: [&View; N], function: OnLine<N>) -> Result<()> {
    let view = resolved(view)?;
    let memory = view.memory()?;
    let (starts, size, stride) = line_starts(&view.layout, dim);
    let outs = outs.map(|out| (out, line_starts(&out.layout, dim)));
    // An empty dimension still has lines, with no elements.
    let starts = Layout { sizes: lines_of(&starts, dim), ..starts };
    let out_starts = outs.each_ref().map(|(_, (starts, ..))| Layout { sizes: lines_of(starts, dim), ..starts.clone() });
    let mut out_starts = out_starts.each_ref().map(Layout::offsets);
    if starts.numel() == 0 {
        return Ok(());
    }
    let mut line = limits::vector(usize::try_from(size).unwrap_or_default())?;
    let mut results: [Vec<Scalar>; N] = std::array::from_fn(|_| Vec::new());
    for start in starts.offsets() {
        line.clear();
        dispatch!(view.dtype, T => {
            let cells = memory.typed::<T>();
            for i in 0..size {
                interrupt::check_at(i as usize)?;
                line.push(get(cells.get((start + i * stride) as usize).ok_or_else(lost)?).load());
            }
        });
        results.iter_mut().for_each(Vec::clear);
        function(&line, &mut results)?;
        for (((out, (_, _, stride)), starts), values) in outs.iter().zip(&mut out_starts).zip(&results) {
            let start = starts.next().ok_or_else(lost)?;
            let memory = out.memory()?;
            dispatch!(out.dtype, T => {
                let cells = memory.typed::<T>();
                for (i, &value) in (0..).zip(values) {
                    interrupt::check_at(i as usize)?;
                    set(cells.get((start + i * stride) as usize).ok_or_else(lost)?, T::store(value));
                }
            });
        }
    }
    Ok(())
}

/// Returns the layout's sizes with size 1 along `dim`.
fn lines_of(layout: &Layout, dim: usize) -> Dims {
    let mut sizes = layout.sizes.clone();
    if let Some(size) = sizes.get_mut(dim) {
        *size = 1;
    }
    sizes
}
