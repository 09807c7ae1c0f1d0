//! `histc`: counts in bins of equal width.

use super::check_bins;
use crate::ops::check::{lost, resolved};
use crate::ops::copy::{check_fits, contiguous};
use crate::ops::number::{Real, Stored};
use crate::ops::pointwise::{check_kernel, classes};
use crate::ops::reduce::{Extremum, extremum_all};
use crate::parallel::{self, Kernel, vectorised_kernel};
use crate::thresholds::{BLOCK, PIECE};
use crate::{DType, Result, Scalar, View, bail, interrupt, limits};
use half::{bf16, f16};

/// Counts the elements in each of `bins` bins of equal width.
///
/// # Errors
/// RuntimeError for invalid bins and ranges, and for unsupported dtypes.
pub fn histc(view: &View, bins: i64, low: f64, high: f64) -> Result<View> {
    check_bins(bins, 0)?;
    if view.device().is_meta() {
        return View::zeros(&[bins], view.dtype, view.device());
    }
    // PyTorch determines the range, then makes the edges, then counts.
    if low == high && view.numel() > 0 {
        check_kernel("aminmax_cpu", classes::BOOL | classes::NUMBERS, view.dtype)?;
    }
    let range = histc_range(view, low, high)?;
    check_kernel("linspace_cpu", classes::NUMBERS | classes::COMPLEX, view.dtype)?;
    check_fits(Scalar::Float(range.0), view.dtype).and_then(|()| check_fits(Scalar::Float(range.1), view.dtype))?;
    check_kernel("histogram_cpu", classes::FLOAT, view.dtype)?;
    View::zeros(&[bins.saturating_add(1)], view.dtype, view.device())?;
    let count = match view.dtype {
        DType::Double => count_evenly::<f64>,
        DType::Float => count_evenly::<f32>,
        DType::Half => count_evenly::<f16>,
        _ => count_evenly::<bf16>,
    };
    let counts = count(view, range, bins as usize)?;
    View::from_scalars(&[bins], view.dtype, counts.into_iter().map(Scalar::Float))
}

/// Returns the range of `histc`: as given, or that of the elements if the given range is empty. Its length is never 0.
fn histc_range(view: &View, low: f64, high: f64) -> Result<(f64, f64)> {
    let (mut low, mut high) = (low, high);
    if low == high && view.numel() > 0 {
        let found = |which| extremum_all(which, view)?.item().map(Scalar::to_f64);
        (low, high) = (found(Extremum::Min)?, found(Extremum::Max)?);
        if low.is_nan() {
            bail!(RuntimeError, "torch.histc: range of [-nan, -nan] is not finite");
        }
    }
    if low == high {
        (low, high) = (low - 1.0, high + 1.0);
    }
    if !low.is_finite() || !high.is_finite() {
        bail!(RuntimeError, "torch.histc: range of [{low}, {high}] is not finite");
    }
    if low > high {
        bail!(RuntimeError, "torch.histc: max must be larger than min");
    }
    Ok((low, high))
}

/// Rounds a number to the type of elements.
#[inline(always)]
fn to_type<S: Stored<Compute: Real>>(value: f64) -> f64 {
    S::narrow(S::Compute::from_f64(value)).widen().as_f64()
}

/// Finds the bins of a few elements, rounding every step to their own type. The bin of elements outside the range is
/// the number of bins.
struct EvenBins<'a, S> {
    elements: &'a [S],
    into: &'a mut [usize],
    range: (f64, f64),
    bins: usize,
}

impl<S: Stored<Compute: Real>> Kernel for EvenBins<'_, S> {
    type Output = ();
    #[inline(always)]
    fn run(self, _fuses: bool) {
        let EvenBins { elements, into, range: (low, high), bins } = self;
        let (low, high) = (to_type::<S>(low), to_type::<S>(high));
        let (scale, width, last) = (to_type::<S>(bins as f64), to_type::<S>(high - low), (bins - 1) as f64);
        for (bin, element) in into.iter_mut().zip(elements) {
            let value = element.widen().as_f64();
            let place = to_type::<S>(to_type::<S>(to_type::<S>(value - low) * scale) / width);
            let place = if place < last { place } else { last };
            *bin = if (low <= value) & (value <= high) { place as usize } else { bins };
        }
    }
}

/// Counts elements in bins of equal width.
fn count_evenly<S: Stored<Compute: Real>>(view: &View, range: (f64, f64), bins: usize) -> Result<Vec<f64>> {
    let view = contiguous(&resolved(view)?)?;
    let (start, size) = (view.layout.offset as usize, view.numel() as usize);
    if size == 0 {
        return limits::filled(0.0, bins);
    }
    // Each core has counts of its own.
    let parts = parallel::cores().min(size / bins.saturating_mul(4).max(PIECE)).max(1);
    let length = size.div_ceil(parts).max(1);
    let counts = parallel::reading::<S, _>(&*view.memory()?, |elements| {
        let elements = elements.get(start..start + size).ok_or_else(lost)?;
        parallel::collect(parts, size, &|k| {
            let mut counts = limits::filled(0.0, bins + 1)?;
            let mut places = [0; BLOCK];
            for (i, elements) in elements.chunks(length).nth(k).unwrap_or_default().chunks(BLOCK).enumerate() {
                interrupt::check_at(i * BLOCK)?;
                let into = &mut places[..elements.len()];
                vectorised_kernel(EvenBins { elements, into: &mut *into, range, bins });
                for &mut place in into {
                    counts[place] += 1.0;
                }
            }
            counts.truncate(bins);
            Ok(counts)
        })
    });
    let add = |mut sums: Vec<f64>, counts: Vec<f64>| {
        sums.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
        sums
    };
    counts.unwrap_or_else(|| Err(lost()))?.into_iter().reduce(add).ok_or_else(lost)
}
