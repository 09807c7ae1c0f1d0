//! Covariance and correlation of variables whose observations are the columns of a matrix.

use super::compose::{Math, number};
use super::copy::{cast, copy_into};
use super::matmul::mm;
use super::pointwise::{Output, UnaryOp, clamp};
use super::reduce::sum;
use super::view::{conj, reshape, squeeze, t, unsqueeze};
use crate::bail;
use crate::{DType, Result, Scalar, View};

/// The weights of observations.
pub struct Weights<'v> {
    pub correction: i64,
    /// How often each observation was made.
    pub frequencies: Option<&'v View>,
    /// The importance of each observation.
    pub importances: Option<&'v View>,
}

/// Returns the covariance matrix, and whether there were too few observations for it.
///
/// # Errors
/// RuntimeError for more than two dimensions, `bool`, and weights that do not match the observations.
pub fn cov(view: &View, weights: &Weights, default: DType) -> Result<(View, bool)> {
    if view.ndim() > 2 {
        bail!(
            RuntimeError,
            "cov(): expected input to have two or fewer dimensions but got an input with {} dimensions",
            view.ndim()
        );
    }
    if view.dtype == DType::Bool {
        bail!(RuntimeError, "cov(): bool dtype is not supported for input");
    }
    let math = Math(default);
    let rows = if view.ndim() < 2 { reshape(view, &[1, -1])? } else { view.clone() };
    let count = rows.sizes()[1];
    for (name, weight) in [("fweights", weights.frequencies), ("aweights", weights.importances)] {
        let Some(weight) = weight else { continue };
        if weight.ndim() > 1 {
            bail!(
                RuntimeError,
                "cov(): expected {name} to have one or fewer dimensions but got {name} with {} dimensions",
                weight.ndim()
            );
        }
        let integral = weight.dtype.is_integral(false);
        if name == "fweights" && !integral {
            bail!(
                RuntimeError,
                "cov(): expected fweights to have integral dtype but got fweights with {} dtype",
                weight.dtype.scalar_type()
            );
        }
        if name == "aweights" && !weight.dtype.is_floating_point() {
            bail!(
                RuntimeError,
                "cov(): expected aweights to have floating point dtype but got aweights with {} dtype",
                weight.dtype.scalar_type()
            );
        }
        if weight.numel() != count {
            bail!(
                RuntimeError,
                "cov(): expected {name} to have the same numel as there are observations in the input but got {} != \
                 {count}",
                weight.numel()
            );
        }
        if weight.scalars()?.into_iter().any(|w| w.to_f64() < 0.0) {
            bail!(RuntimeError, "cov(): {name} cannot be negative");
        }
    }
    let w = match (weights.frequencies, weights.importances) {
        (Some(f), Some(a)) => Some(math.mul(f, a)?),
        (one, other) => one.or(other).cloned(),
    };
    let total = match &w {
        Some(w) => sum(w, None, false, None)?.item()?.to_f64(),
        None => count as f64,
    };
    if w.is_some() && total == 0.0 {
        bail!(RuntimeError, "cov(): weights sum to zero, can't be normalized");
    }
    let weighted = |rows: &View| w.as_ref().map_or_else(|| Ok(rows.clone()), |w| math.mul(rows, w));
    let mean = math.div(&sum(&weighted(&rows)?, Some(&[1]), false, None)?, number(total))?;
    let freedom = match (&w, weights.importances) {
        (Some(w), Some(a)) if weights.correction != 0 => {
            total - weights.correction as f64 * sum(&math.mul(w, a)?, None, false, None)?.item()?.to_f64() / total
        }
        _ => total - weights.correction as f64,
    };
    let centered = math.sub(&rows, &unsqueeze(&mean, 1)?)?;
    // Sums in double precision are nearer to those of PyTorch's library than sums in single precision in another order.
    let wide = if centered.dtype.is_complex() { DType::ComplexDouble } else { DType::Double };
    let products = View::unwritten(&[rows.sizes()[0]; 2], centered.dtype, centered.device())?;
    let sums = mm(&cast(&centered, wide)?, &conj(&t(&cast(&weighted(&centered)?, wide)?)?))?;
    copy_into(&products, &sums)?;
    Ok((squeeze(&math.div(&products, number(freedom.max(0.0)))?, None)?, freedom <= 0.0))
}

/// Returns the matrix of correlation coefficients, and whether there were too few observations for it.
///
/// # Errors
/// Those of [`cov`].
pub fn corrcoef(view: &View, default: DType) -> Result<(View, bool)> {
    if view.ndim() > 2 {
        bail!(
            RuntimeError,
            "corrcoef(): expected input to have two or fewer dimensions but got an input with {} dimensions",
            view.ndim()
        );
    }
    let math = Math(default);
    let (covariance, few) = cov(view, &Weights { correction: 1, frequencies: None, importances: None }, default)?;
    if covariance.ndim() == 0 {
        return Ok((math.div(&covariance, &covariance)?, few));
    }
    let variances = covariance.with_layout(covariance.layout.diagonal(0, 0, 1)?);
    let deviations = math.unary(UnaryOp::Sqrt, &super::view::real(&variances))?;
    let by_row = math.div(&covariance, &unsqueeze(&deviations, 1)?)?;
    let ratios = math.div(&by_row, &unsqueeze(&deviations, 0)?)?;
    let bounds = [Some(Scalar::Int(-1)), Some(Scalar::Int(1))];
    for imaginary in [false, true].into_iter().take(if ratios.dtype.is_complex() { 2 } else { 1 }) {
        let part = if ratios.dtype.is_complex() { ratios.complex_part(imaginary) } else { ratios.clone() };
        clamp(&part, bounds, Output::InPlace(&part), default)?;
    }
    Ok((ratios, few))
}
