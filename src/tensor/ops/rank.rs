//! Elements by their rank along a dimension: medians, k-th smallest values, quantiles, and modes. Among equal elements,
//! the selection algorithms of PyTorch's kernels determine which one is found. NaN is greater than every number.

use super::check::resolved;
use super::copy::clone;
use super::introsort::{self, nth_element};
use super::lines::{each_line, like_lines, reduced};
use super::pointwise::{check_kernel, classes};
use super::sort::{Arrange, SortKey, arrange, rank_of_nan};
use crate::bail;
use crate::layout::wrap_dim;
use crate::{DType, Layout, Result, Scalar, View, interrupt};

/// The choice of one element of a line.
#[derive(Clone, Copy)]
enum Choice {
    /// Of two medians, the lower one; equal elements are ordered by index. A line with a NaN has median NaN unless
    /// `ignore_nan` is set.
    Median { ignore_nan: bool },
    /// The element at this position in ascending order.
    Kth(usize),
    /// The most frequent element; the smallest of several.
    Mode,
}

/// Puts the chosen item of a line first.
struct First {
    choice: Choice,
    /// The rank of NaN.
    nan: Option<u64>,
}

impl Arrange for First {
    fn arrange<I: SortKey>(&self, items: &mut [I]) -> Result<()> {
        let is_nan = |item: &I| Some(item.rank()) == self.nan;
        let chosen = match self.choice {
            Choice::Median { ignore_nan } => {
                let nans = items.iter().filter(|item| is_nan(item)).count();
                if nans > 0 && (!ignore_nan || nans == items.len()) {
                    items.iter().position(is_nan).unwrap_or(0)
                } else {
                    let middle = (items.len() - nans).saturating_sub(1) / 2;
                    nth_element(items, middle, &I::lt)?;
                    middle
                }
            }
            Choice::Kth(k) => {
                quick_select(items, k)?;
                k
            }
            Choice::Mode => {
                introsort::sort(items, &|a: &I, b: &I| a.rank() < b.rank())?;
                // Every NaN counts as a distinct value.
                let same = |a: &I, b: &I| a.rank() == b.rank() && !is_nan(a);
                let (mut end, mut best, mut most) = (0, 0, 0);
                for run in items.chunk_by(same) {
                    end += run.len();
                    if run.len() > most {
                        (best, most) = (end - 1, run.len());
                    }
                }
                best
            }
        };
        if chosen < items.len() {
            items.swap(0, chosen);
        }
        Ok(())
    }
}

/// Returns the chosen values of all lines and their indices; the dimension has size 1.
fn chosen(view: &View, d: usize, choice: Choice) -> Result<(View, View)> {
    let (values, places) = (like_lines(view, d, 1, view.dtype)?, like_lines(view, d, 1, DType::Long)?);
    if !view.device().is_meta() && values.numel() > 0 {
        // A copy of bools holds 0 or 1.
        let view = if view.dtype == DType::Bool { clone(view)? } else { resolved(view)? };
        arrange(&view, d, &values, &places, false, &First { choice, nan: rank_of_nan(view.dtype) })?;
    }
    Ok((values, places))
}

/// `median()` or `nanmedian()` of all elements.
///
/// # Errors
/// RuntimeError for unsupported dtypes.
pub fn median(view: &View, ignore_nan: bool) -> Result<View> {
    if view.device().is_meta() {
        return View::zeros(&[], view.dtype, view.device());
    }
    check_kernel("median_cpu", classes::NUMBERS, view.dtype)?;
    if view.numel() == 0 {
        return View::scalar(Scalar::Float(f64::NAN), view.dtype);
    }
    let flat = super::view::reshape(&resolved(view)?, &[-1])?;
    let (values, _) = chosen(&flat, 0, Choice::Median { ignore_nan })?;
    Ok(reduced(values, 0, false))
}

/// Returns the chosen values and indices of every line.
fn pick_per_line(
    name: &str,
    stub: &str,
    supported: classes::Classes,
    view: &View,
    dim: i64,
    keepdim: bool,
    choice: Choice,
) -> Result<(View, View)> {
    let d = wrap_dim(dim, view.ndim())?;
    if view.sizes().get(d) == Some(&0) {
        bail!(IndexError, "{name}(): Expected reduction dim {d} to have non-zero size.");
    }
    if !view.device().is_meta() {
        check_kernel(stub, supported, view.dtype)?;
    }
    let (values, places) = chosen(view, d, choice)?;
    Ok((reduced(values, d, keepdim), reduced(places, d, keepdim)))
}

/// `median(dim)` or `nanmedian(dim)`: returns the medians and their indices.
///
/// # Errors
/// IndexError for a wrong or empty dimension, RuntimeError for unsupported dtypes.
pub fn median_dim(view: &View, dim: i64, keepdim: bool, ignore_nan: bool) -> Result<(View, View)> {
    // Error messages use one name for both functions.
    pick_per_line("median", "median_out", classes::NUMBERS, view, dim, keepdim, Choice::Median { ignore_nan })
}

/// `kthvalue(k, dim)`: returns the `k`-th smallest elements, counted from 1, and their indices.
///
/// # Errors
/// IndexError for a wrong or empty dimension, RuntimeError for a `k` out of range and unsupported dtypes.
pub fn kthvalue(view: &View, k: i64, dim: i64, keepdim: bool) -> Result<(View, View)> {
    let d = wrap_dim(dim, view.ndim())?;
    let size = view.sizes().get(d).copied().unwrap_or(1);
    if size != 0 && !(1..=size).contains(&k) {
        bail!(RuntimeError, "kthvalue(): selected number k out of range for dimension {d}");
    }
    let choice = Choice::Kth(k.saturating_sub(1) as usize);
    pick_per_line("kthvalue", "kthvalue_cpu", classes::NUMBERS, view, dim, keepdim, choice)
}

/// C. A. R. Hoare's quickselect with the median of three as pivot: moves the item of rank `k` to index `k`.
fn quick_select<I: SortKey>(items: &mut [I], k: usize) -> Result<()> {
    let (mut left, mut right) = (0, items.len().saturating_sub(1));
    let sort_pair = |items: &mut [I], a: usize, b: usize| {
        if items[a].rank() > items[b].rank() {
            items.swap(a, b);
        }
    };
    while right > left {
        if right == left + 1 {
            sort_pair(items, left, right);
            return Ok(());
        }
        items.swap(left + (right - left) / 2, left + 1);
        sort_pair(items, left + 1, right);
        sort_pair(items, left, right);
        sort_pair(items, left + 1, left);
        let pivot = items[left].rank();
        let (mut i, mut j) = (left + 1, right);
        loop {
            i += 1;
            while pivot > items[i].rank() {
                i += 1;
            }
            j -= 1;
            while items[j].rank() > pivot {
                j -= 1;
            }
            if j < i {
                break;
            }
            items.swap(i, j);
            interrupt::check_at(i)?;
        }
        items.swap(left, j);
        if j <= k {
            left = i;
        }
        if j >= k {
            right = j.saturating_sub(1);
        }
    }
    Ok(())
}

/// `mode(dim)`: returns the most frequent elements (the smallest, if several are equally frequent) and their indices.
///
/// # Errors
/// IndexError for a wrong or empty dimension, RuntimeError for unsupported dtypes.
pub fn mode(view: &View, dim: i64, keepdim: bool) -> Result<(View, View)> {
    pick_per_line("mode", "mode_cpu", classes::BOOL | classes::NUMBERS, view, dim, keepdim, Choice::Mode)
}

/// How to compute a quantile that lies between two elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interpolation {
    Linear,
    Lower,
    Higher,
    Midpoint,
    Nearest,
}

impl Interpolation {
    /// # Errors
    /// RuntimeError for an unknown name; `function` is named in the message.
    pub fn parse(name: &str, function: &str) -> Result<Interpolation> {
        Ok(match name {
            "linear" => Interpolation::Linear,
            "lower" => Interpolation::Lower,
            "higher" => Interpolation::Higher,
            "midpoint" => Interpolation::Midpoint,
            "nearest" => Interpolation::Nearest,
            _ => bail!(
                RuntimeError,
                "{function}() interpolation must be one of linear, lower, higher, midpoint or nearest, but got {name}"
            ),
        })
    }
}

/// The options of `quantile`.
pub struct Quantile {
    pub dim: Option<i64>,
    pub keepdim: bool,
    pub interpolation: Interpolation,
    pub ignore_nan: bool,
}

/// `quantile` or `nanquantile`: the values below which the fractions `q` of a line lie. A 1-d `q` adds a new first
/// dimension.
///
/// # Errors
/// RuntimeError for an empty tensor, wrong dtypes and fractions outside [0, 1]; IndexError for a wrong dimension.
pub fn quantile(view: &View, q: &View, how: &Quantile) -> Result<View> {
    // PyTorch's messages use this name for both functions.
    let name = "quantile";
    if view.numel() == 0 {
        bail!(RuntimeError, "{name}() input tensor must be non-empty");
    }
    if q.ndim() > 1 {
        bail!(RuntimeError, "{name}() q must be a scalar or 1D tensor");
    }
    if !matches!(view.dtype, DType::Float | DType::Double) {
        bail!(RuntimeError, "{name}() input tensor must be either float or double dtype");
    }
    if q.dtype != view.dtype {
        bail!(RuntimeError, "{name}() q tensor must be same dtype as the input tensor");
    }
    let shares: Vec<f64> = q.scalars()?.into_iter().map(Scalar::to_f64).collect();
    if shares.iter().any(|q| !(0.0..=1.0).contains(q)) {
        bail!(RuntimeError, "{name}() q values must be in the range [0, 1]");
    }
    let flat;
    let (lines, d) = match how.dim {
        Some(dim) => (view, wrap_dim(dim, view.ndim())?),
        None => {
            flat = super::view::reshape(view, &[-1])?;
            (&flat, 0)
        }
    };
    let size = lines.sizes().get(d).copied().unwrap_or(1);
    if size > 16_000_000 {
        bail!(RuntimeError, "{name}() input tensor is too large");
    }
    // One result per fraction along the dimension, which is then moved to the front.
    let lines = if lines.ndim() == 0 { lines.with_layout(lines.layout.unsqueeze(0)?) } else { lines.clone() };
    let out = like_lines(&lines, d, shares.len() as i64, view.dtype)?;
    let single = view.dtype == DType::Float;
    if !view.device().is_meta() {
        each_line(&lines, d, [&out], &mut |line, [out]| {
            let mut values: Vec<f64> = line.iter().map(|value| value.to_f64()).collect();
            introsort::stable_sort(&mut values, &f64::total_cmp)?;
            let numbers: Vec<f64> = values.iter().copied().filter(|v| !v.is_nan()).collect();
            let nan = numbers.is_empty() || !how.ignore_nan && numbers.len() < values.len();
            out.extend(shares.iter().map(|&q| {
                Scalar::Float(if nan { f64::NAN } else { at_share(&numbers, q, how.interpolation, single) })
            }));
            Ok(())
        })?;
    }
    let mut moved = super::view::movedim(&out, &[d as i64], &[0])?;
    if how.keepdim {
        let kept = match how.dim {
            Some(dim) => vec![wrap_dim(dim, view.ndim())?],
            None => (0..view.ndim()).collect(),
        };
        for d in kept {
            if view.ndim() > 0 {
                moved = moved.with_layout(moved.layout.unsqueeze(d as i64 + 1)?);
            }
        }
    }
    // In memory, the dimension of the fractions is innermost, although it is the first dimension.
    let innermost = super::copy::contiguous(&super::view::movedim(&moved, &[0], &[-1])?)?;
    let offset = innermost.layout.offset;
    let innermost = innermost.with_layout(Layout { offset, ..Layout::contiguous(innermost.sizes()) });
    if q.ndim() == 0 {
        return Ok(innermost.with_layout(innermost.layout.select(innermost.ndim() - 1, 0)));
    }
    super::view::movedim(&innermost, &[-1], &[0])
}

/// Returns the quantile `q` of sorted numbers. Ranks are computed in the numbers' own type.
fn at_share(sorted: &[f64], q: f64, interpolation: Interpolation, single: bool) -> f64 {
    let round = |value: f64| if single { f64::from(value as f32) } else { value };
    let rank = round(q * round((sorted.len() - 1) as f64));
    let at = |rank: f64| sorted.get(rank as usize).copied().unwrap_or(f64::NAN);
    let (low, high) = (at(rank.floor()), at(rank.ceil()));
    let weight = match interpolation {
        Interpolation::Lower => return low,
        Interpolation::Higher => return high,
        Interpolation::Nearest => return at(rank.round_ties_even()),
        Interpolation::Midpoint => 0.5,
        Interpolation::Linear => rank - rank.floor(),
    };
    let step = round(high - low);
    if weight < 0.5 { weight.mul_add(step, low) } else { (weight - 1.0).mul_add(step, high) }
}
