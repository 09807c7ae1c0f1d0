//! Methods that draw vectors: `multinomial`, `dirichlet`, `multivariate_hypergeometric`, `multivariate_normal`.

use super::arguments::{self, Args, bounds, broadcast};
use super::classes::{Random, Row};
use super::hypergeometric::{Urn, by_marginals};
use super::{Api, Source, binomial, check, generator, legacy};
use crate::descr::Descr;
use crate::ndarray::NdArray;
use crate::{Array, convert, python};
use call::State;
use tensor::interrupt::{STRIDE, check};
use tensor::memory::set;
use tensor::{DType, Result, Scalar, bail, limits};
use value::Value;

pub(super) const LEGACY: &[Row] = &[
    ("multinomial", "n, pvals, size?", legacy_multinomial),
    ("dirichlet", "alpha, size?", dirichlet),
    ("multivariate_normal", "mean, cov, size?, check_valid?, tol?", normal),
];

pub(super) const GENERATOR: &[Row] = &[
    ("multinomial", "n, pvals, size?", multinomial),
    ("dirichlet", "alpha, size?", dirichlet),
    ("multivariate_hypergeometric", "colors, nsample, size?, method?", hypergeometric),
    ("multivariate_normal", "mean, cov, size?, check_valid?, tol?, *, method?", normal),
];

/// Looks for Ctrl-C every few rows, so that about as many numbers lie between two looks as elsewhere.
fn check_row(row: usize, columns: usize) -> Result<()> {
    if row.is_multiple_of((STRIDE / columns.max(1)).max(1)) { check() } else { Ok(()) }
}

/// Draws rows of integers: one for each element of `shape`.
fn rows(
    random: &Random,
    shape: &[i64],
    columns: usize,
    mut draw: impl FnMut(&mut Source<'_>, usize, &mut [i64]),
) -> Result<Value> {
    let whole: Vec<i64> = shape.iter().copied().chain([columns as i64]).collect();
    let out = Array::zeros(&whole, Descr::LONG, false)?;
    let memory = out.memory()?;
    let mut row: Vec<i64> = limits::filled(0, columns)?;
    let cells = memory.typed::<i64>();
    random.with(|source| {
        for (i, cells) in cells.chunks_exact(columns.max(1)).enumerate() {
            check_row(i, columns)?;
            draw(source, i, &mut row);
            cells.iter().zip(&row).for_each(|(cell, count)| set(cell, *count));
        }
        Ok(())
    })?;
    Ok(NdArray::value(out))
}

/// Reads a sequence of numbers without further dimensions.
fn vector(value: &Value, not_a_sequence: &str) -> Result<Vec<f64>> {
    let array = arguments::real(value)?;
    match array.ndim() {
        0 => bail!(TypeError, "{not_a_sequence}"),
        1 => Ok(array.scalars()?.into_iter().map(Scalar::to_f64).collect()),
        _ => bail!(
            ValueError,
            "setting an array element with a sequence. The requested array would exceed the maximum number of dimension \
             of 1."
        ),
    }
}

/// Returns the sum of probabilities in the precision in which they were given; `None` for `float64`.
fn narrow_sum(pvals: &Value) -> Result<Option<f64>> {
    let Some(array) = NdArray::of(pvals).map(|pvals| pvals.array()) else { return Ok(None) };
    match array.descr.dtype {
        DType::Float => {
            let sum = array.scalars()?.into_iter().fold(0.0_f32, |sum, number| sum + number.to_f64() as f32);
            Ok(Some(f64::from(sum)))
        }
        DType::Half => Ok(Some(array.scalars()?.into_iter().map(Scalar::to_f64).sum())),
        _ => Ok(None),
    }
}

fn legacy_multinomial(random: &Random, args: &Args) -> Result<Value> {
    let n = args.value(0);
    if matches!(n, Value::Str(_) | Value::List(_) | Value::Tuple(_) | Value::None) {
        bail!(TypeError, "an integer is required");
    }
    let n = arguments::c_long(&n)?;
    let pvals = args.value(1);
    let chances = vector(&pvals, "pvals must be a 1-d sequence")?;
    check::multinomial(Api::RandomState, &[n as f64], &chances, chances.len(), 1, narrow_sum(&pvals)?)?;
    let shape = arguments::size(&args.value(2))?.unwrap_or_default();
    rows(random, &shape, chances.len(), |source, _, row| binomial::multinomial(source, n, &chances, row))
}

fn multinomial(random: &Random, args: &Args) -> Result<Value> {
    let trials = bounds(&args.value(0))?;
    let pvals = arguments::real(&args.value(1))?;
    let columns = pvals.shape().last().copied().unwrap_or(0);
    let chances: Vec<f64> = pvals.scalars()?.into_iter().map(Scalar::to_f64).collect();
    let counts: Vec<f64> = trials.values.iter().map(|count| *count as f64).collect();
    let width = limits::count(columns);
    check::multinomial(Api::Generator, &counts, &chances, width, pvals.ndim(), narrow_sum(&args.value(1))?)?;
    let outer = pvals.shape().split_last().map_or(&[][..], |(_, outer)| outer);
    let shape = match arguments::size(&args.value(2))? {
        None => broadcast(&[&trials.shape, outer])?,
        Some(size) => {
            let shape = broadcast(&[&trials.shape, outer, &size])?;
            if shape != size {
                let state = State::current()?;
                bail!(
                    ValueError,
                    "Output size {} is not compatible with broadcast dimensions of inputs {}.",
                    state.repr(&Value::ints(&size))?,
                    state.repr(&Value::ints(&shape))?
                );
            }
            size
        }
    };
    // The rows of both arguments for each draw.
    let numbers = |own: &[i64]| -> Result<Vec<usize>> {
        let places = crate::Strided::dense(own, 1, false).broadcast_to(&shape);
        let count = crate::strided::checked_count(&shape, 8)?;
        limits::room_for::<usize>(limits::count(count))?;
        Ok((0..count).map(|i| usize::try_from(crate::flat::offset_of(&places, i)).unwrap_or(0)).collect())
    };
    let (of_trials, of_chances) = (numbers(&trials.shape)?, numbers(outer)?);
    rows(random, &shape, width, |source, i, row| {
        let n = of_trials.get(i).and_then(|at| trials.values.get(*at)).copied().unwrap_or(0);
        let from = of_chances.get(i).copied().unwrap_or(0) * width;
        let chances = chances.get(from..from + width).unwrap_or_default();
        binomial::multinomial(source, n as i64, chances, row);
    })
}

fn dirichlet(random: &Random, args: &Args) -> Result<Value> {
    let alpha = args.value(0);
    if let Value::Int(_) | Value::Float(_) | Value::Bool(_) = alpha {
        bail!(TypeError, "object of type '{}' has no len()", alpha.type_name());
    }
    let alpha = vector(&alpha, "len() of unsized object")?;
    check::dirichlet(random.api, &alpha)?;
    let mut shape = arguments::size(&args.value(1))?.unwrap_or_default();
    shape.push(alpha.len() as i64);
    let out = Array::zeros(&shape, Descr::DOUBLE, false)?;
    let memory = out.memory()?;
    let mut row: Vec<f64> = limits::filled(0.0, alpha.len())?;
    random.with(|source| {
        for (i, cells) in memory.typed::<f64>().chunks_exact(alpha.len().max(1)).enumerate() {
            check_row(i, alpha.len())?;
            match random.api {
                Api::RandomState => legacy::dirichlet(source, &alpha, &mut row),
                Api::Generator => generator::dirichlet(source, &alpha, &mut row),
            }
            cells.iter().zip(&row).for_each(|(cell, number)| set(cell, *number));
        }
        Ok(())
    })?;
    Ok(NdArray::value(out))
}

fn hypergeometric(random: &Random, args: &Args) -> Result<Value> {
    let method = match args.or(3, Value::str("marginals")) {
        Value::Str(method) => method.to_string(),
        _ => String::new(),
    };
    let sample = args.value(1);
    let sample = match sample {
        Value::Float(_) | Value::Str(_) | Value::List(_) | Value::None => {
            check::colors(&method, 0, Some(&[]))?;
            bail!(ValueError, "nsample must be an integer")
        }
        _ => bounds(&sample)?.values.first().copied().unwrap_or(0),
    };
    let colors = convert::array(&args.value(0), None)?;
    let is_empty_list = colors.count() == 0;
    let fits = colors.ndim() == 1 && (colors.descr.is_integral() || is_empty_list);
    let counts = fits.then(|| colors.scalars()).transpose()?;
    let counts: Option<Vec<i64>> = counts.and_then(|counts| {
        counts.into_iter().map(|count| if let Scalar::UInt(_) = count { None } else { Some(count.to_i64()) }).collect()
    });
    check::colors(&method, sample, counts.as_deref())?;
    let (counts, sample) = (counts.unwrap_or_default(), i64::try_from(sample).unwrap_or(0));
    let shape = arguments::size(&args.value(2))?.unwrap_or_default();
    if method == "marginals" {
        return rows(random, &shape, counts.len(), |source, _, row| by_marginals(source, &counts, sample, row));
    }
    let total = counts.iter().fold(0_i64, |sum, count| sum.saturating_add(*count));
    limits::room_for::<usize>(limits::count(total))?;
    let mut urn = Urn::new(&counts)?;
    rows(random, &shape, counts.len(), |source, _, row| urn.draw(source, &counts, sample, row))
}

fn normal(random: &Random, args: &Args) -> Result<Value> {
    let method = match random.api {
        Api::RandomState => Value::None,
        Api::Generator => args.or(5, Value::str("svd")),
    };
    let (check_valid, tolerance) = (args.or(3, Value::str("warn")), args.or(4, Value::Float(1e-8)));
    let values = vec![random.value(), args.value(0), args.value(1), args.value(2), check_valid, tolerance, method];
    State::current()?.call_embedded(python::source("random")?, "_normal_vectors", values)
}
