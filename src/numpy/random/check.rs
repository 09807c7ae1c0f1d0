//! The constraints on parameters, with NumPy's messages. Messages for arrays differ slightly from those for scalars.

use super::choose::{Api, compensated_sum};
use tensor::Error;
use tensor::Result;

/// What a parameter has to satisfy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Constraint {
    None,
    /// Not negative, and not minus zero. NaN is accepted.
    NonNegative,
    /// Above zero. NaN is accepted.
    Positive,
    PositiveNotNan,
    /// In [0, 1].
    Chance,
    /// In (0, 1].
    ChanceAboveZero,
    /// In [0, 1).
    ChanceBelowOne,
    AboveOne,
    AtLeastOne,
    /// A mean small enough that Poisson numbers fit in 64 bits.
    PoissonMean,
    /// A number of trials that C's `long` can hold.
    Long,
}

/// The largest mean of a Poisson number.
pub(super) const POISSON_MOST: f64 = i64::MAX as f64 - 10.0 * 3_037_000_499.976_05;

impl Constraint {
    /// Checks a parameter that is a number.
    pub(super) fn check(self, name: &str, value: f64) -> Result<()> {
        if self.holds(value) {
            return Ok(());
        }
        let nan = match self {
            // NumPy's scalar check speaks as if of an array here.
            Constraint::ChanceAboveZero => "contains NaNs",
            _ => "is NaN",
        };
        let first = match self {
            Constraint::PositiveNotNan => value.is_nan(),
            _ => !(value >= 0.0),
        };
        Err(Error::value(self.text(name, nan, first)))
    }

    /// Checks all elements of a parameter that is an array.
    pub(super) fn check_all(self, name: &str, values: &[f64]) -> Result<()> {
        if values.iter().all(|value| self.holds(*value)) {
            return Ok(());
        }
        // Of two possible messages, arrays get the one that NumPy tests first.
        let first = match self {
            Constraint::PositiveNotNan => values.iter().any(|value| value.is_nan()),
            Constraint::PoissonMean => values.iter().all(|value| *value <= POISSON_MOST),
            _ => values.iter().any(|value| *value < 0.0),
        };
        Err(Error::value(self.text(name, "contains NaNs", first)))
    }

    fn holds(self, value: f64) -> bool {
        match self {
            Constraint::None => true,
            Constraint::NonNegative => value.is_nan() || value.is_sign_positive(),
            Constraint::Positive => !(value <= 0.0),
            Constraint::PositiveNotNan => value > 0.0,
            Constraint::Chance => (0.0..=1.0).contains(&value),
            Constraint::ChanceAboveZero => value > 0.0 && value <= 1.0,
            Constraint::ChanceBelowOne => (0.0..1.0).contains(&value),
            Constraint::AboveOne => value > 1.0,
            Constraint::AtLeastOne => value >= 1.0,
            Constraint::PoissonMean => (0.0..=POISSON_MOST).contains(&value),
            Constraint::Long => !(value < 0.0 || value > i64::MAX as f64),
        }
    }

    /// The message. `first` chooses between the two of a constraint that has two.
    fn text(self, name: &str, nan: &str, first: bool) -> String {
        match self {
            Constraint::None => String::new(),
            Constraint::NonNegative => format!("{name} < 0"),
            Constraint::Positive => format!("{name} <= 0"),
            Constraint::PositiveNotNan if first => format!("{name} must not be NaN"),
            Constraint::PositiveNotNan => format!("{name} <= 0"),
            Constraint::Chance => format!("{name} < 0, {name} > 1 or {name} {nan}"),
            Constraint::ChanceAboveZero => format!("{name} <= 0, {name} > 1 or {name} {nan}"),
            Constraint::ChanceBelowOne => format!("{name} < 0, {name} >= 1 or {name} {nan}"),
            Constraint::AboveOne => format!("{name} <= 1 or {name} {nan}"),
            Constraint::AtLeastOne => format!("{name} < 1 or {name} {nan}"),
            Constraint::PoissonMean if first => format!("{name} < 0 or {name} {nan}"),
            Constraint::PoissonMean => format!("{name} value too large"),
            Constraint::Long if first => format!("{name} < 0"),
            Constraint::Long => {
                format!("{name} is out of bounds for long, consider using the new generator API for 64bit integers.")
            }
        }
    }
}

/// Checks the arguments of `multinomial`: `pvals` in rows of `columns`, of which there are several if it has two or more
/// `dimensions`. `narrow_sum` is the sum of `pvals` if it is a float array of another dtype than `float64`.
pub(super) fn multinomial(
    api: Api,
    trials: &[f64],
    pvals: &[f64],
    columns: usize,
    dimensions: usize,
    narrow_sum: Option<f64>,
) -> Result<()> {
    if api == Api::Generator && columns == 0 {
        return Err(Error::value(
            "pvals must have at least 1 dimension and the last dimension of pvals must be greater than 0.",
        ));
    }
    Constraint::Chance.check_all("pvals", pvals)?;
    let too_much = |row: &[f64]| row.split_last().is_some_and(|(_, rest)| compensated_sum(rest) > 1.0 + 1e-12);
    if pvals.chunks(columns.max(1)).any(too_much) {
        let slice = if dimensions > 1 { "[...,:-1]" } else { "[:-1]" };
        return Err(Error::value(match narrow_sum.filter(|sum| *sum < 1.0001) {
            Some(_) => format!(
                "sum(pvals{slice}.astype(np.float64)) > 1.0. The pvals array is cast to 64-bit floating point prior \
                 to checking the sum. Precision changes when casting may cause problems even if the sum of the \
                 original pvals is valid."
            ),
            None => format!("sum(pvals{slice}) > 1.0"),
        }));
    }
    Constraint::NonNegative.check_all("n", trials)
}

/// Checks the argument of `dirichlet`.
pub(super) fn dirichlet(api: Api, alpha: &[f64]) -> Result<()> {
    match api {
        Api::RandomState if alpha.iter().any(|shape| *shape <= 0.0) => Err(Error::value("alpha <= 0")),
        Api::Generator if alpha.iter().any(|shape| *shape < 0.0) => Err(Error::value("alpha < 0")),
        _ => Ok(()),
    }
}

/// Checks the arguments of `multivariate_hypergeometric`. `colors` is `None` if it is not a 1-d array of integers that
/// fit in 64 bits.
pub(super) fn colors(method: &str, sample: i128, colors: Option<&[i64]>) -> Result<()> {
    let most = i64::MAX;
    if method != "count" && method != "marginals" {
        return Err(Error::value("method must be \"count\" or \"marginals\"."));
    }
    if sample < 0 {
        return Err(Error::value("nsample must be nonnegative."));
    }
    if sample > i128::from(most) {
        return Err(Error::value(format!("nsample must not exceed {most}")));
    }
    let Some(colors) = colors.filter(|colors| colors.iter().all(|count| *count >= 0)) else {
        return Err(Error::value(format!(
            "colors must be a one-dimensional sequence of nonnegative integers not exceeding {most}."
        )));
    };
    let total = colors.iter().map(|count| i128::from(*count)).sum::<i128>();
    let refused = if total > i128::from(most) {
        format!("sum(colors) must not exceed the maximum value of a 64 bit signed integer ({most})")
    } else if method == "marginals" && total >= 1_000_000_000 {
        "When method is \"marginals\", sum(colors) must be less than 1000000000.".to_string()
    } else if method == "count" && total > i128::from(most / 8) {
        format!("When method is 'count', sum(colors) must not exceed {}", most / 8)
    } else if sample > total {
        "nsample > sum(colors)".to_string()
    } else {
        return Ok(());
    };
    Err(Error::value(refused))
}
