//! Discrete Fourier transforms along dimensions. A complex transform and two for real signals, whose spectra are
//! symmetric, make up all functions of <https://pytorch.org/docs/2.7/fft.html>. `rustfft` computes the sums.

use super::check::size_at;
use super::copy::{cast, contiguous};
use super::rearrange::roll;
use super::view::{movedim, permute};
use crate::bail;
use crate::tensor::layout::wrap_dim;
use crate::tensor::{DType, Dims, Result, Scalar, View, interrupt, limits};
use num_complex::Complex;
use rustfft::{FftDirection, FftPlanner};

mod short;

use short::{Line, Part, Short};

type C = Complex<f64>;

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

/// The kinds of signal that go in and come out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
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
    pub kind: Kind,
    pub forward: bool,
    pub norm: Norm,
    /// The default dtype, which integers become.
    pub default: DType,
}

/// The dtype transforms are computed in.
fn promoted(view: &View, default: DType) -> Result<View> {
    let dtype = if view.dtype.is_integral(true) { default } else { view.dtype };
    match dtype {
        DType::Float | DType::Double | DType::ComplexFloat | DType::ComplexDouble => {}
        DType::ComplexHalf => bail!(RuntimeError, "MKL FFT doesn't support tensors of type: Half"),
        other => bail!(RuntimeError, "Unsupported dtype {}", other.scalar_type()),
    }
    if dtype == view.dtype { Ok(view.clone()) } else { cast(view, dtype) }
}

/// One line after another, each of `length` numbers: those there are, then zeros.
fn lines(view: &View, d: usize, length: usize) -> Result<Vec<C>> {
    let moved = movedim(view, &[d as i64], &[-1])?;
    let present = moved.sizes().last().copied().unwrap_or(0) as usize;
    let values = moved.scalars()?;
    let count = values.len().checked_div(present).unwrap_or(0);
    let mut out = limits::vector(count.saturating_mul(length))?;
    for line in values.chunks_exact(present.max(1)) {
        out.extend(interrupt::watched(0..length).map(|i| line.get(i).map_or(C::default(), |value| value.to_complex())));
    }
    Ok(out)
}

/// Transforms every `n` numbers in place, in single or double precision. Ctrl-C is heeded between them.
fn compute(values: &mut [C], n: usize, line: Line, forward: bool, single: bool) -> Result<()> {
    // Of no lines there is nothing to compute.
    if values.is_empty() {
        return Ok(());
    }
    fn run<T: Part>(buffer: &mut [Complex<T>], n: usize, line: Line, forward: bool) -> Result<()> {
        if let Some(transform) = Short::of(n, line, forward) {
            for (i, line) in buffer.chunks_exact_mut(n).enumerate() {
                interrupt::check_at(i)?;
                transform.process(line);
            }
            return Ok(());
        }
        let direction = if forward { FftDirection::Forward } else { FftDirection::Inverse };
        let transform = FftPlanner::new().plan_fft(n, direction);
        for lines in buffer.chunks_mut((interrupt::STRIDE / n).max(1) * n) {
            interrupt::check()?;
            transform.process(lines);
        }
        Ok(())
    }
    if !single {
        return run(values, n, line, forward);
    }
    let mut narrow: Vec<Complex<f32>> = values.iter().map(|v| Complex::new(v.re as f32, v.im as f32)).collect();
    run(&mut narrow, n, line, forward)?;
    for (value, narrow) in values.iter_mut().zip(narrow) {
        *value = C::new(f64::from(narrow.re), f64::from(narrow.im));
    }
    Ok(())
}

/// One dimension of a transform, of `n` points.
fn along(view: &View, d: usize, n: i64, kind: Kind, transform: &Transform) -> Result<View> {
    let &Transform { forward, norm, .. } = transform;
    let (_, size) = size_at(&view.layout, d as i64)?;
    if n < 1 {
        bail!(RuntimeError, "Invalid number of data points ({n}) specified");
    }
    // PyTorch pads a signal, and a signal of nothing as well.
    let mut padded = Dims::from_slice(view.sizes());
    padded[d] = if kind == Kind::HalfToReal { n / 2 + 1 } else { n };
    let dtype = if kind == Kind::HalfToReal { view.dtype.to_complex()? } else { view.dtype };
    let room = View::zeros(&padded, dtype, view.device())?;
    let view = if size == 0 { &room } else { view };
    let single = matches!(view.dtype, DType::Float | DType::ComplexFloat);
    let n = n as usize;
    let half = n / 2 + 1;
    let real_input = !view.dtype.is_complex();
    let factor = norm.factor(forward, n);
    let (values, length) = match kind {
        Kind::HalfToReal => {
            let spectra = lines(view, d, half)?;
            let mut full = limits::vector((spectra.len() / half).saturating_mul(n))?;
            for line in spectra.chunks_exact(half) {
                let at = |k: usize| line.get(k).copied().unwrap_or_default();
                full.extend((0..n).map(|k| match k {
                    // What belongs to itself is real.
                    k if k == 0 || 2 * k == n => C::new(at(k).re, 0.0),
                    k if k < half => {
                        if forward {
                            at(k).conj()
                        } else {
                            at(k)
                        }
                    }
                    k => {
                        if forward {
                            at(n - k)
                        } else {
                            at(n - k).conj()
                        }
                    }
                }));
            }
            compute(&mut full, n, Line::ToReal, false, single)?;
            (full, n)
        }
        _ if real_input => {
            // A real signal's spectrum is symmetric; the inverse transform is its conjugate.
            let mut full = lines(view, d, n)?;
            compute(&mut full, n, Line::FromReal, true, single)?;
            let kept = if kind == Kind::RealToHalf { half } else { n };
            let mut out = limits::vector(full.len() / n * kept)?;
            for line in full.chunks_exact(n) {
                let at = |k: usize| match line.get(k).copied().unwrap_or_default() {
                    value if k == 0 || 2 * k == n => C::new(value.re, 0.0),
                    value => value,
                };
                let spectrum = (0..kept).map(|k| if k < half { at(k) } else { at(n - k).conj() });
                out.extend(spectrum.map(|value| if forward { value } else { value.conj() }));
            }
            (out, kept)
        }
        _ => {
            let mut full = lines(view, d, n)?;
            compute(&mut full, n, Line::Complex, forward, single)?;
            (full, n)
        }
    };
    let dtype = match kind {
        Kind::HalfToReal => view.dtype.to_real(),
        _ => view.dtype.to_complex()?,
    };
    let narrow = |value: f64| if single { f64::from(value as f32 * factor as f32) } else { value * factor };
    let mut sizes = view.sizes().to_vec();
    sizes.remove(d);
    sizes.push(length as i64);
    let scalars = values.into_iter().map(|value| match dtype.is_complex() {
        true if factor == 1.0 => Scalar::Complex(value),
        true => Scalar::Complex(C::new(narrow(value.re), narrow(value.im))),
        false => Scalar::Float(if factor == 1.0 { value.re } else { narrow(value.re) }),
    });
    let out = View::from_scalars(&sizes, dtype, scalars)?;
    movedim(&out, &[-1], &[d as i64])
}

/// `fft`, `ifft`, `rfft`, `irfft`, `hfft` and `ihfft`, along one dimension of `n` points.
///
/// # Errors
/// IndexError for a wrong dimension, RuntimeError for lengths below 1 and dtypes PyTorch does not transform.
pub fn one(view: &View, n: Option<i64>, dim: i64, transform: &Transform) -> Result<View> {
    let &Transform { name, kind, default, .. } = transform;
    if kind == Kind::RealToHalf && view.dtype.is_complex() {
        bail!(RuntimeError, "{name} expects a real input tensor, but got {}", view.dtype.scalar_type());
    }
    let view = promoted(view, default)?;
    let (d, size) = size_at(&view.layout, dim)?;
    let n = n.unwrap_or(if kind == Kind::HalfToReal { 2 * (size - 1) } else { size });
    along(&view, d, n, kind, transform)
}

/// The dimensions of a transform over several, and how many points each has.
fn points(view: &View, s: Option<&[i64]>, dim: Option<&[i64]>) -> Result<Vec<(usize, Option<i64>)>> {
    let ndim = view.ndim();
    let dims = match (dim, s) {
        (Some(dim), _) => dim.iter().map(|&d| wrap_dim(d, ndim)).collect::<Result<Vec<usize>>>()?,
        (None, Some(s)) if s.len() > ndim => {
            bail!(RuntimeError, "Got shape with {} values but input tensor only has {ndim} dimensions.", s.len())
        }
        (None, Some(s)) => (ndim - s.len()..ndim).collect(),
        (None, None) => (0..ndim).collect(),
    };
    if ndim == 0
        && let Some(d) = dim.and_then(<[i64]>::first)
    {
        bail!(IndexError, "Dimension specified as {d} but tensor has no dimensions");
    }
    if dims.iter().enumerate().any(|(i, d)| dims[..i].contains(d)) {
        bail!(RuntimeError, "FFT dims must be unique");
    }
    if s.is_some_and(|s| s.len() != dims.len()) {
        bail!(RuntimeError, "When given, dim and shape arguments must have the same length");
    }
    Ok(dims.iter().enumerate().map(|(i, &d)| (d, s.and_then(|s| s.get(i).copied()).filter(|&n| n != -1))).collect())
}

/// `fftn`, `rfftn`, `irfftn`, `hfftn` and their relatives: the last dimension is transformed as `kind` says, the others
/// as complex ones.
///
/// # Errors
/// As [`one`], and RuntimeError for dimensions and lengths that do not go together.
pub fn several(view: &View, s: Option<&[i64]>, dim: Option<&[i64]>, transform: &Transform) -> Result<View> {
    let &Transform { name, kind, default, .. } = transform;
    if kind == Kind::RealToHalf && view.dtype.is_complex() {
        bail!(RuntimeError, "{name} expects a real-valued input tensor, but got {}", view.dtype.scalar_type());
    }
    let mut result = promoted(view, default)?;
    let points = points(&result, s, dim)?;
    let Some((&(last, last_n), others)) = points.split_last() else {
        if kind != Kind::Complex {
            bail!(RuntimeError, "{name} must transform at least one axis");
        }
        return cast(&result, result.dtype.to_complex()?);
    };
    let length = |view: &View, (d, n): (usize, Option<i64>)| n.unwrap_or(view.sizes()[d]);
    if kind != Kind::RealToHalf {
        result = if result.dtype.is_complex() { result } else { cast(&result, result.dtype.to_complex()?)? };
    }
    let last_n = last_n.unwrap_or(match kind {
        Kind::HalfToReal => 2 * (result.sizes()[last] - 1),
        _ => result.sizes()[last],
    });
    let last_step = |view: &View| along(view, last, last_n, kind, transform);
    let other_steps = |mut view: View| -> Result<View> {
        for &point in others {
            view = along(&view, point.0, length(&view, point), Kind::Complex, transform)?;
        }
        Ok(view)
    };
    result =
        if kind == Kind::HalfToReal { last_step(&other_steps(result)?)? } else { other_steps(last_step(&result)?)? };
    // Laid out with the dimensions innermost that were transformed in the last step.
    let last_step = if kind == Kind::RealToHalf && !transform.forward && !others.is_empty() { others } else { &points };
    let signal: Vec<usize> = last_step.iter().map(|&(d, _)| d).collect();
    let order: Vec<i64> =
        (0..result.ndim()).filter(|d| !signal.contains(d)).chain(signal.iter().copied()).map(|d| d as i64).collect();
    let mut back = vec![0; order.len()];
    for (place, &d) in order.iter().enumerate() {
        back[d as usize] = place as i64;
    }
    permute(&contiguous(&permute(&result, &order)?)?, &back)
}

/// The frequencies of a transform of `n` points `d` apart: all of them, or the half a real signal has.
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
    let room = View::zeros(&[count], dtype, crate::tensor::Device::CPU)?;
    let single = dtype != DType::Double;
    let values = (0..room.numel()).map(|i| {
        let index = if half || i < (n + 1) / 2 { i } else { i - n };
        let value = if single { f64::from(index as f32 * step as f32) } else { index as f64 * step };
        Scalar::Float(value)
    });
    View::from_scalars(&[count], dtype, values)
}

/// `fftshift` and `ifftshift`: the frequency 0 moved to the middle, or back.
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The sums themselves.
    fn slowly(values: &[C], forward: bool) -> Vec<C> {
        let n = values.len();
        let turn = if forward { -std::f64::consts::TAU } else { std::f64::consts::TAU };
        let root = |k: usize| C::cis(turn * (k % n) as f64 / n as f64);
        (0..n).map(|k| values.iter().enumerate().map(|(j, value)| value * root(j * k)).sum()).collect()
    }

    #[test]
    fn every_length_gives_the_sums_of_its_points() {
        // Past the longest length whose order is known, with and without an order.
        for n in 1..=150usize {
            let number = |i: usize| ((i * i * 7919 + 31 * i) % 1009) as f64 / 504.0 - 1.0;
            // Two lines, so that the second begins where the first ends.
            let signal: Vec<C> = (0..2 * n).map(|i| C::new(number(i), number(i + 3 * n))).collect();
            let real: Vec<C> = signal.iter().map(|value| C::new(value.re, 0.0)).collect();
            let spectra = real.chunks_exact(n).flat_map(|line| slowly(line, true)).collect();
            for (line, values) in [(Line::Complex, signal), (Line::FromReal, real), (Line::ToReal, spectra)] {
                for (forward, single) in [(true, true), (true, false), (false, true), (false, false)] {
                    // A spectrum of a real signal is only transformed back, and a real signal forwards.
                    if matches!((line, forward), (Line::ToReal, true) | (Line::FromReal, false)) {
                        continue;
                    }
                    let mut found = values.clone();
                    compute(&mut found, n, line, forward, single).unwrap();
                    let wanted: Vec<C> = values.chunks_exact(n).flat_map(|line| slowly(line, forward)).collect();
                    let largest = wanted.iter().map(|value| value.norm()).fold(1.0, f64::max);
                    let bound = largest * if single { 2e-6 } else { 1e-13 };
                    let apart = found.iter().zip(&wanted).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max);
                    assert!(apart <= bound, "{n} points, {line:?}, {forward}, {single}: {apart:e} of {largest}");
                }
            }
        }
    }
}
