//! Discrete Fourier transforms along dimensions. All functions of <https://pytorch.org/docs/2.7/fft.html> are built
//! from a complex transform and two for real signals, whose spectra are symmetric.

use super::check::{resolved, size_at};
use super::copy::{cast, contiguous};
use super::rearrange::roll;
use super::view::{movedim, permute};
use crate::bail;
use crate::layout::wrap_dim;
use crate::{DType, Dims, Layout, Result, Scalar, View};
use std::cmp::Reverse;

mod lanes;
mod lines;
mod long;
mod short;

use lines::LineTransform;
use short::Whole;

/// The scaling of a transform and its inverse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Norm {
    Backward,
    Forward,
    Ortho,
}

impl Norm {
    /// # Errors
    /// RuntimeError for an unknown name.
    pub fn parse(name: Option<&str>) -> Result<Norm> {
        match name {
            None | Some("backward") => Ok(Norm::Backward),
            Some("forward") => Ok(Norm::Forward),
            Some("ortho") => Ok(Norm::Ortho),
            Some(other) => bail!(RuntimeError, "Invalid normalization mode: \"{other}\""),
        }
    }

    fn factor(self, forward: bool, n: usize) -> f64 {
        match self {
            Norm::Ortho => 1.0 / (n as f64).sqrt(),
            Norm::Backward if !forward => 1.0 / n as f64,
            Norm::Forward if forward => 1.0 / n as f64,
            _ => 1.0,
        }
    }
}

/// The kinds of input and output of a transform.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransformKind {
    /// `fft` and `ifft`: complex to complex.
    Complex,
    /// `rfft` and `ihfft`: a real signal to half of its spectrum.
    RealToHalf,
    /// `irfft` and `hfft`: half of a spectrum to a real signal.
    HalfToReal,
}

/// A function of `torch.fft`.
pub struct Transform<'n> {
    pub name: &'n str,
    pub kind: TransformKind,
    pub forward: bool,
    pub norm: Norm,
    /// The default dtype, which integers are converted to.
    pub default: DType,
}

/// Converts the view to the dtype that the transform is computed in.
fn promoted(view: &View, default: DType) -> Result<View> {
    let dtype = if view.dtype.is_integral(true) { default } else { view.dtype };
    match dtype {
        DType::Float | DType::Double | DType::ComplexFloat | DType::ComplexDouble => {}
        DType::ComplexHalf => bail!(RuntimeError, "MKL FFT doesn't support tensors of type: Half"),
        other => bail!(RuntimeError, "Unsupported dtype {}", other.scalar_type()),
    }
    if dtype == view.dtype { Ok(view.clone()) } else { cast(view, dtype) }
}

/// Transforms some dimensions, each with its number of points, at once: the first as `kind` says, the others by complex
/// transforms. The dimension with the fewest points, but more than one, multiplies by the common factor.
/// `signal` is the layout of PyTorch's signal.
fn together(
    view: &View,
    points: &[(usize, i64)],
    signal: &Layout,
    kind: TransformKind,
    transform: &Transform,
) -> Result<View> {
    let &Transform { forward, norm, .. } = transform;
    if let Some((_, n)) = points.iter().find(|(_, n)| *n < 1) {
        bail!(RuntimeError, "Invalid number of data points ({n}) specified");
    }
    let factor =
        norm.factor(forward, points.iter().fold(1, |count: usize, &(_, n)| count.saturating_mul(n.max(1) as usize)));
    let whole = match (points, kind) {
        (&[(d, _)], _) if signal.strides[d] == 1 || !is_one_batch(signal, d) => Whole::Line,
        ([_], _) => Whole::StridedLine,
        (_, TransformKind::Complex) => Whole::Complex,
        _ => Whole::Real,
    };
    let scaled = (0..points.len()).min_by_key(|&i| (points[i].1 <= 1, points[i].1));
    let mut view = view.clone();
    for (i, &(d, n)) in points.iter().enumerate() {
        let kind = if i == 0 { kind } else { TransformKind::Complex };
        let factor = if Some(i) == scaled { factor } else { 1.0 };
        view = along(&view, (d, n), kind, (whole, forward, factor))?;
    }
    Ok(view)
}

/// Returns whether the dimensions beside the signal's are evenly spaced, like a single one. PyTorch copies other signals.
fn is_one_batch(signal: &Layout, d: usize) -> bool {
    let mut batch = order(&signal.strides, &[d]);
    batch.retain(|&other| other != d && signal.sizes[other] != 1);
    let step = |d: usize| signal.strides[d].saturating_mul(signal.sizes[d]);
    batch.windows(2).all(|pair| signal.strides[pair[0]] == step(pair[1]))
}

/// Transforms one dimension, with `n` points.
fn along(
    view: &View,
    (d, n): (usize, i64),
    kind: TransformKind,
    (whole, forward, factor): (Whole, bool, f64),
) -> Result<View> {
    let (_, size) = size_at(&view.layout, d as i64)?;
    // PyTorch pads signals with zeros, even a signal without elements.
    let mut padded = Dims::from_slice(view.sizes());
    padded[d] = if kind == TransformKind::HalfToReal { n / 2 + 1 } else { n };
    let dtype = if kind == TransformKind::HalfToReal { view.dtype.to_complex()? } else { view.dtype };
    let room = View::zeros(&padded, dtype, view.device())?;
    let view = if size == 0 { &room } else { view };
    let kept = if kind == TransformKind::RealToHalf { n / 2 + 1 } else { n };
    let dtype = if kind == TransformKind::HalfToReal { view.dtype.to_real() } else { view.dtype.to_complex()? };
    let signal = resolved(&contiguous(&movedim(view, &[d as i64], &[-1])?)?)?;
    let mut sizes = Dims::from_slice(signal.sizes());
    let present = sizes.last_mut().map_or(1, |size| std::mem::replace(size, kept)) as usize;
    let out = View::unwritten(&sizes, dtype, view.device())?;
    let n = n as usize;
    let lines = LineTransform { n, present, kept: kept as usize, kind, whole, forward, factor };
    match dtype.to_real() {
        DType::Float => lines.compute::<f32>(&signal, &out)?,
        _ => lines.compute::<f64>(&signal, &out)?,
    }
    movedim(&out, &[-1], &[d as i64])
}

/// Returns the order in memory of a spectrum's dimensions, the innermost last. The dimensions of the signal are
/// innermost; the others keep the order of the transformed signal.
fn order(strides: &[i64], signal: &[usize]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..strides.len()).filter(|d| !signal.contains(d)).collect();
    order.sort_by_key(|&d| Reverse(strides[d]));
    order.extend(signal);
    order
}

/// Returns the dense layout of `sizes` with the dimensions in the given order in memory.
fn in_order(sizes: &[i64], order: &[usize]) -> Layout {
    let mut layout = Layout::contiguous(sizes);
    let mut step = 1i64;
    for &d in order.iter().rev() {
        layout.strides[d] = step;
        step = step.saturating_mul(sizes[d]);
    }
    layout
}

/// Copies a spectrum so that its dimensions have the given order in memory.
fn laid(view: &View, order: &[usize]) -> Result<View> {
    let turned: Vec<i64> = order.iter().map(|&d| d as i64).collect();
    let mut back = vec![0; order.len()];
    for (place, &d) in order.iter().enumerate() {
        back[d] = place as i64;
    }
    permute(&contiguous(&permute(view, &turned)?)?, &back)
}

/// Returns a signal's layout after resizing some dimensions. A shortened signal keeps its strides; a padded one is a
/// row-major copy.
fn resized(view: &View, lengths: &[(usize, i64)]) -> Layout {
    let mut sizes = Dims::from_slice(view.sizes());
    for &(d, n) in lengths {
        sizes[d] = n;
    }
    if lengths.iter().all(|&(d, n)| n <= view.sizes()[d]) {
        return Layout { sizes, ..view.layout.clone() };
    }
    Layout::contiguous(&sizes)
}

/// `fft`, `ifft`, `rfft`, `irfft`, `hfft` and `ihfft`, along one dimension of `n` points.
///
/// # Errors
/// IndexError for a wrong dimension, RuntimeError for lengths below 1 and dtypes that PyTorch does not transform.
pub fn one(view: &View, n: Option<i64>, dim: i64, transform: &Transform) -> Result<View> {
    let &Transform { name, kind, default, .. } = transform;
    if kind == TransformKind::RealToHalf && view.dtype.is_complex() {
        bail!(RuntimeError, "{name} expects a real input tensor, but got {}", view.dtype.scalar_type());
    }
    let mut view = promoted(view, default)?;
    let (d, size) = size_at(&view.layout, dim)?;
    if kind == TransformKind::HalfToReal && !view.dtype.is_complex() {
        view = cast(&view, view.dtype.to_complex()?)?;
    }
    let n = n.unwrap_or(if kind == TransformKind::HalfToReal { 2 * (size - 1) } else { size });
    let given = if kind == TransformKind::HalfToReal { n / 2 + 1 } else { n };
    let signal = resized(&view, &[(d, given)]);
    let spectrum = together(&view, &[(d, n)], &signal, kind, transform)?;
    laid(&spectrum, &order(&signal.strides, &[d]))
}

/// Returns the dimensions of a transform over several, each with its number of points if one is given.
fn points(view: &View, s: Option<&[i64]>, dim: Option<&[i64]>) -> Result<Vec<(usize, Option<i64>)>> {
    let ndim = view.ndim();
    if ndim == 0
        && let Some(d) = dim.and_then(<[i64]>::first)
    {
        bail!(IndexError, "Dimension specified as {d} but tensor has no dimensions");
    }
    let dims = match (dim, s) {
        (Some(dim), _) => dim.iter().map(|&d| wrap_dim(d, ndim)).collect::<Result<Vec<usize>>>()?,
        (None, Some(s)) if s.len() > ndim => {
            bail!(RuntimeError, "Got shape with {} values but input tensor only has {ndim} dimensions.", s.len())
        }
        (None, Some(s)) => (ndim - s.len()..ndim).collect(),
        (None, None) => (0..ndim).collect(),
    };
    if dims.iter().enumerate().any(|(i, d)| dims[..i].contains(d)) {
        bail!(RuntimeError, "FFT dims must be unique");
    }
    if s.is_some_and(|s| s.len() != dims.len()) {
        bail!(RuntimeError, "When given, dim and shape arguments must have the same length");
    }
    Ok(dims.iter().enumerate().map(|(i, &d)| (d, s.and_then(|s| s.get(i).copied()).filter(|&n| n != -1))).collect())
}

/// `fftn`, `rfftn`, `irfftn`, `hfftn` and their relatives: the last dimension is transformed as `kind` says, the others
/// by complex transforms.
///
/// # Errors
/// Those of [`one`], and RuntimeError for dimensions and lengths that do not match.
pub fn several(view: &View, s: Option<&[i64]>, dim: Option<&[i64]>, transform: &Transform) -> Result<View> {
    let &Transform { name, kind, forward, default, .. } = transform;
    if kind == TransformKind::RealToHalf && view.dtype.is_complex() {
        if !forward {
            bail!(
                RuntimeError,
                "Expected self.is_floating_point() to be true, but got false.  (Could this error message be improved?  \
                 If so, please report an enhancement request to PyTorch.)"
            );
        }
        bail!(RuntimeError, "{name} expects a real-valued input tensor, but got {}", view.dtype.scalar_type());
    }
    let mut result = promoted(view, default)?;
    let points = points(&result, s, dim)?;
    let Some((&(last, last_n), others)) = points.split_last() else {
        if kind != TransformKind::Complex {
            bail!(RuntimeError, "{name} must transform at least one axis");
        }
        return cast(&result, result.dtype.to_complex()?);
    };
    let length = |view: &View, (d, n): (usize, Option<i64>)| n.unwrap_or(view.sizes()[d]);
    if kind != TransformKind::RealToHalf {
        result = if result.dtype.is_complex() { result } else { cast(&result, result.dtype.to_complex()?)? };
    }
    let last_n = last_n.unwrap_or(match kind {
        TransformKind::HalfToReal => 2 * (result.sizes()[last] - 1),
        _ => result.sizes()[last],
    });
    let mut lengths: Vec<(usize, i64)> = others.iter().map(|&point| (point.0, length(&result, point))).collect();
    lengths.push((last, if kind == TransformKind::HalfToReal { last_n / 2 + 1 } else { last_n }));
    let signal = resized(&result, &lengths);
    let strides = &signal.strides;
    let mut inwards = lengths[..others.len()].to_vec();
    if kind == TransformKind::Complex {
        inwards.push((last, last_n));
    }
    inwards.sort_by_key(|&(d, _)| Reverse(strides[d]));
    // The order in memory of the dimensions of a step's result: the signal is innermost.
    let outwards: Vec<usize> = inwards.iter().map(|&(d, _)| d).collect();
    inwards.reverse();
    let (end, complex) = ([(last, last_n)], TransformKind::Complex);
    let (result, order) = match kind {
        TransformKind::Complex => (together(&result, &inwards, &signal, kind, transform)?, order(strides, &outwards)),
        TransformKind::RealToHalf if forward || inwards.is_empty() => {
            let innermost = [&outwards[..], &[last]].concat();
            let all = [&end[..], &inwards].concat();
            (together(&result, &all, &signal, kind, transform)?, order(strides, &innermost))
        }
        // Two steps, each of which makes its dimensions the innermost.
        TransformKind::RealToHalf => {
            let half = together(&result, &end, &signal, kind, transform)?;
            let mut sizes = signal.sizes.clone();
            sizes[last] = last_n / 2 + 1;
            let signal = in_order(&sizes, &order(strides, &[last]));
            (together(&half, &inwards, &signal, complex, transform)?, order(&signal.strides, &outwards))
        }
        TransformKind::HalfToReal if inwards.is_empty() => {
            (together(&result, &end, &signal, kind, transform)?, order(strides, &[last]))
        }
        TransformKind::HalfToReal => {
            let spectrum = together(&result, &inwards, &signal, complex, transform)?;
            let signal = in_order(&signal.sizes, &order(strides, &outwards));
            (together(&spectrum, &end, &signal, kind, transform)?, order(&signal.strides, &[last]))
        }
    };
    laid(&result, &order)
}

/// Returns the frequencies of a transform of `n` points with spacing `d`: all of them, or the half needed for a real
/// signal.
///
/// # Errors
/// RuntimeError for a negative `n` and dtypes that are not floating.
pub fn frequencies(n: i64, d: f64, half: bool, dtype: DType) -> Result<View> {
    if !dtype.is_differentiable() {
        bail!(RuntimeError, "{}fftfreq requires a floating point or complex dtype", if half { "r" } else { "" });
    }
    if n < 0 {
        bail!(RuntimeError, "Trying to create tensor with negative dimension {n}: [{n}]");
    }
    let step = 1.0 / (n as f64 * d);
    let count = if half { n / 2 + 1 } else { n };
    let room = View::zeros(&[count], dtype, crate::Device::CPU)?;
    let single = dtype != DType::Double;
    let values = (0..room.numel()).map(|i| {
        let index = if half || i < (n + 1) / 2 { i } else { i - n };
        let value = if single { f64::from(index as f32 * step as f32) } else { index as f64 * step };
        Scalar::Float(value)
    });
    View::from_scalars(&[count], dtype, values)
}

/// `fftshift` and `ifftshift`: moves frequency 0 to the middle, or back.
///
/// # Errors
/// RuntimeError for 0-d tensors, IndexError for wrong dimensions.
pub fn shift(view: &View, dims: Option<&[i64]>, back: bool) -> Result<View> {
    let dims: Vec<i64> = dims.map_or_else(|| (0..view.ndim() as i64).collect(), <[i64]>::to_vec);
    let shifts = dims.iter().map(|&d| {
        let (_, size) = size_at(&view.layout, d)?;
        Ok(if back { (size + 1) / 2 } else { size / 2 })
    });
    let shifts: Vec<i64> = shifts.collect::<Result<_>>()?;
    roll(view, &shifts, &dims)
}
