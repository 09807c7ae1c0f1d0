//! The table of distributions: names, parameters and constraints, so that one routine can serve all of them.

use super::check::{Constraint, POISSON_MOST};
use super::choose::Api;
use super::source::Source;
use super::{binomial, common, generator, hypergeometric, legacy};
use tensor::{Error, ErrorKind, Result};

/// The function behind a distribution. Letters are parameters (`R` real, `I` 64-bit integer), the last is the result.
#[derive(Clone, Copy)]
#[allow(clippy::upper_case_acronyms)]
pub(super) enum Draw {
    R(fn(&mut Source<'_>) -> f64),
    RR(fn(&mut Source<'_>, f64) -> f64),
    RRR(fn(&mut Source<'_>, f64, f64) -> f64),
    RRRR(fn(&mut Source<'_>, f64, f64, f64) -> f64),
    RI(fn(&mut Source<'_>, f64) -> i64),
    RRI(fn(&mut Source<'_>, f64, f64) -> i64),
    IRI(fn(&mut Source<'_>, i64, f64) -> i64),
    IIII(fn(&mut Source<'_>, i64, i64, i64) -> i64),
}

/// A drawn number: `float64` or `int64`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Number {
    Real(f64),
    Integer(i64),
}

/// One parameter's value for one draw.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Argument {
    Real(f64),
    Integer(i64),
}

impl Argument {
    fn real(self) -> f64 {
        match self {
            Argument::Real(value) => value,
            Argument::Integer(value) => value as f64,
        }
    }

    fn integer(self) -> i64 {
        match self {
            Argument::Real(value) => common::to_long(value),
            Argument::Integer(value) => value,
        }
    }
}

/// A parameter as in the Python signature, which ends with `size=None`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parameter {
    pub name: &'static str,
    pub default: Option<f64>,
    /// Whether the argument is converted to `int64` instead of `float64`.
    pub integer: bool,
    pub constraint: Constraint,
}

/// A distribution of one class.
pub(super) struct Distribution {
    pub name: &'static str,
    pub parameters: &'static [Parameter],
    pub draw: Draw,
}

impl Distribution {
    /// The distribution that method `name` of `api` draws from, or `None` if the method is not such a one.
    pub(super) fn find(api: Api, name: &str) -> Option<&'static Distribution> {
        let own = match api {
            Api::RandomState => LEGACY,
            Api::Generator => GENERATOR,
        };
        own.iter().chain(SHARED).find(|distribution| distribution.name == name)
    }

    /// Returns the names of all distributions of a class.
    pub(super) fn names(api: Api) -> impl Iterator<Item = &'static str> {
        let own = match api {
            Api::RandomState => LEGACY,
            Api::Generator => GENERATOR,
        };
        own.iter().chain(SHARED).map(|distribution| distribution.name)
    }

    /// Whether results are `int64`.
    pub(super) fn is_integer(&self) -> bool {
        matches!(self.draw, Draw::RI(_) | Draw::RRI(_) | Draw::IRI(_) | Draw::IIII(_))
    }

    /// Checks the parameters of a call in NumPy's order. `values` has one slice for each parameter, broadcast to equal
    /// lengths or of length 1; `scalar` tells whether all arguments are scalars, which changes some messages.
    pub(super) fn check(&self, api: Api, values: &[&[f64]], scalar: bool) -> Result<()> {
        match self.name {
            "uniform" => return check_uniform(api, values, scalar),
            "triangular" => return check_triangular(values),
            "hypergeometric" => check_hypergeometric(api, values)?,
            _ => {}
        }
        // `binomial` checks its chance first.
        let mut order: Vec<(&Parameter, &&[f64])> = self.parameters.iter().zip(values).collect();
        if self.name == "binomial" {
            order.reverse();
        }
        for (parameter, numbers) in order {
            let constraint = parameter.constraint;
            match numbers {
                [value] if scalar => constraint.check(parameter.name, *value)?,
                _ => constraint.check_all(parameter.name, numbers)?,
            }
        }
        match (self.name, api) {
            ("negative_binomial", Api::Generator) => check_negative_binomial(values),
            _ => Ok(()),
        }
    }

    /// Draws a number. Missing arguments count as zero.
    pub(super) fn draw(&self, source: &mut Source<'_>, arguments: &[Argument]) -> Number {
        let real = |index: usize| arguments.get(index).map_or(0.0, |argument| argument.real());
        let integer = |index: usize| arguments.get(index).map_or(0, |argument| argument.integer());
        match self.draw {
            Draw::R(draw) => Number::Real(draw(source)),
            Draw::RR(draw) => Number::Real(draw(source, real(0))),
            Draw::RRR(draw) => Number::Real(draw(source, real(0), real(1))),
            Draw::RRRR(draw) => Number::Real(draw(source, real(0), real(1), real(2))),
            Draw::RI(draw) => Number::Integer(draw(source, real(0))),
            Draw::RRI(draw) => Number::Integer(draw(source, real(0), real(1))),
            Draw::IRI(draw) => Number::Integer(draw(source, integer(0), real(1))),
            Draw::IIII(draw) => Number::Integer(draw(source, integer(0), integer(1), integer(2))),
        }
    }
}

/// Whether a condition holds for any group of broadcast parameters.
fn any(values: &[&[f64]], bad: impl Fn([f64; 3]) -> bool) -> bool {
    let count = values.iter().map(|numbers| numbers.len()).max().unwrap_or(0);
    let at = |parameter: usize, index: usize| {
        let numbers = values.get(parameter).copied().unwrap_or(&[]);
        numbers.get(index).or(numbers.first()).copied().unwrap_or(0.0)
    };
    (0..count).any(|index| bad([at(0, index), at(1, index), at(2, index)]))
}

fn refuse(refused: bool, text: &str) -> Result<()> {
    if refused { Err(Error::value(text)) } else { Ok(()) }
}

fn check_uniform(api: Api, values: &[&[f64]], scalar: bool) -> Result<()> {
    if any(values, |[low, high, _]| !(high - low).is_finite()) {
        let text = match (api, scalar) {
            (Api::Generator, true) => "high - low range exceeds valid bounds",
            _ => "Range exceeds valid bounds",
        };
        return Err(Error::new(ErrorKind::OverflowError, text));
    }
    let refused = api == Api::Generator && any(values, |[low, high, _]| (high - low).is_sign_negative());
    refuse(refused, "high - low < 0")
}

fn check_triangular(values: &[&[f64]]) -> Result<()> {
    refuse(any(values, |[left, mode, _]| left > mode), "left > mode")?;
    refuse(any(values, |[_, mode, right]| mode > right), "mode > right")?;
    refuse(any(values, |[left, _, right]| left == right), "left == right")
}

fn check_hypergeometric(api: Api, values: &[&[f64]]) -> Result<()> {
    let large = api == Api::Generator && any(values, |[good, bad, _]| good >= 1e9 || bad >= 1e9);
    // NumPy adds 64-bit integers, so a sum beyond them wraps to a negative number.
    let wraps = |sum: f64| sum >= 9_223_372_036_854_775_808.0;
    refuse(large, "both ngood and nbad must be less than 1000000000")?;
    refuse(any(values, |[good, bad, sample]| good + bad < sample || wraps(good + bad)), "ngood + nbad < nsample")
}

fn check_negative_binomial(values: &[&[f64]]) -> Result<()> {
    let large = |[n, p, _]: [f64; 3]| (1.0 - p) / p * (n + 10.0 * n.sqrt()) > POISSON_MOST;
    refuse(any(values, large), "n too large or p too small, see Generator.negative_binomial Notes")
}

const fn real(name: &'static str, constraint: Constraint) -> Parameter {
    Parameter { name, default: None, integer: false, constraint }
}

const fn optional(name: &'static str, default: f64, constraint: Constraint) -> Parameter {
    Parameter { name, default: Some(default), integer: false, constraint }
}

const fn integer(name: &'static str, constraint: Constraint) -> Parameter {
    Parameter { name, default: None, integer: true, constraint }
}

const fn entry(name: &'static str, parameters: &'static [Parameter], draw: Draw) -> Distribution {
    Distribution { name, parameters, draw }
}

const ANY: Constraint = Constraint::None;
const SIGNLESS: Constraint = Constraint::NonNegative;
const POSITIVE: Constraint = Constraint::Positive;

const NOTHING: &[Parameter] = &[];
const LOC_SCALE: &[Parameter] = &[optional("loc", 0.0, ANY), optional("scale", 1.0, SIGNLESS)];
const SCALE: &[Parameter] = &[optional("scale", 1.0, SIGNLESS)];
const LOG_NORMAL: &[Parameter] = &[optional("mean", 0.0, ANY), optional("sigma", 1.0, SIGNLESS)];
const A_B: &[Parameter] = &[real("a", POSITIVE), real("b", POSITIVE)];
const A: &[Parameter] = &[real("a", POSITIVE)];
const A_SIGNLESS: &[Parameter] = &[real("a", SIGNLESS)];
const A_ABOVE_ONE: &[Parameter] = &[real("a", Constraint::AboveOne)];
const SHAPE: &[Parameter] = &[real("shape", SIGNLESS)];
const SHAPE_SCALE: &[Parameter] = &[real("shape", SIGNLESS), optional("scale", 1.0, SIGNLESS)];
const DF: &[Parameter] = &[real("df", POSITIVE)];
const DF_NONC: &[Parameter] = &[real("df", POSITIVE), real("nonc", SIGNLESS)];
const DFS: &[Parameter] = &[real("dfnum", POSITIVE), real("dfden", POSITIVE)];
const DFS_NONC: &[Parameter] = &[real("dfnum", POSITIVE), real("dfden", POSITIVE), real("nonc", SIGNLESS)];
const MEAN_SCALE: &[Parameter] = &[real("mean", POSITIVE), real("scale", POSITIVE)];
const MU_KAPPA: &[Parameter] = &[real("mu", ANY), real("kappa", SIGNLESS)];
const CORNERS: &[Parameter] = &[real("left", ANY), real("mode", ANY), real("right", ANY)];
const LOW_HIGH: &[Parameter] = &[optional("low", 0.0, ANY), optional("high", 1.0, ANY)];
const LAM: &[Parameter] = &[optional("lam", 1.0, Constraint::PoissonMean)];
const P: &[Parameter] = &[real("p", Constraint::ChanceAboveZero)];
const P_BELOW_ONE: &[Parameter] = &[real("p", Constraint::ChanceBelowOne)];

const SHARED: &[Distribution] = &[
    entry("uniform", LOW_HIGH, Draw::RRR(common::uniform)),
    entry("laplace", LOC_SCALE, Draw::RRR(common::laplace)),
    entry("gumbel", LOC_SCALE, Draw::RRR(common::gumbel)),
    entry("logistic", LOC_SCALE, Draw::RRR(common::logistic)),
    entry("triangular", CORNERS, Draw::RRRR(common::triangular)),
    entry("poisson", LAM, Draw::RI(common::poisson)),
    entry("random", NOTHING, Draw::R(common::random)),
];

const LEGACY: &[Distribution] = &[
    entry("random_sample", NOTHING, Draw::R(common::random)),
    entry("standard_normal", NOTHING, Draw::R(legacy::standard_normal)),
    entry("normal", LOC_SCALE, Draw::RRR(legacy::normal)),
    entry("lognormal", LOG_NORMAL, Draw::RRR(legacy::lognormal)),
    entry("standard_exponential", NOTHING, Draw::R(legacy::standard_exponential)),
    entry("exponential", SCALE, Draw::RR(legacy::exponential)),
    entry("standard_gamma", SHAPE, Draw::RR(legacy::standard_gamma)),
    entry("gamma", SHAPE_SCALE, Draw::RRR(legacy::gamma)),
    entry("beta", A_B, Draw::RRR(legacy::beta)),
    entry("chisquare", DF, Draw::RR(legacy::chisquare)),
    entry("noncentral_chisquare", DF_NONC, Draw::RRR(legacy::noncentral_chisquare)),
    entry("f", DFS, Draw::RRR(legacy::f)),
    entry("noncentral_f", DFS_NONC, Draw::RRRR(legacy::noncentral_f)),
    entry("standard_t", DF, Draw::RR(legacy::standard_t)),
    entry("standard_cauchy", NOTHING, Draw::R(legacy::standard_cauchy)),
    entry("pareto", A, Draw::RR(legacy::pareto)),
    entry("weibull", A_SIGNLESS, Draw::RR(legacy::weibull)),
    entry("power", A, Draw::RR(legacy::power)),
    entry("rayleigh", SCALE, Draw::RR(legacy::rayleigh)),
    entry("wald", MEAN_SCALE, Draw::RRR(legacy::wald)),
    entry("vonmises", MU_KAPPA, Draw::RRR(legacy::vonmises)),
    entry(
        "binomial",
        &[integer("n", Constraint::Long), real("p", Constraint::Chance)],
        Draw::IRI(binomial::legacy_binomial),
    ),
    entry(
        "negative_binomial",
        &[real("n", POSITIVE), real("p", Constraint::Chance)],
        Draw::RRI(legacy::negative_binomial),
    ),
    entry("geometric", P, Draw::RI(legacy::geometric)),
    entry("zipf", A_ABOVE_ONE, Draw::RI(legacy::zipf)),
    entry("logseries", P_BELOW_ONE, Draw::RI(legacy::logseries)),
    entry(
        "hypergeometric",
        &[integer("ngood", Constraint::Long), integer("nbad", SIGNLESS), integer("nsample", Constraint::AtLeastOne)],
        Draw::IIII(legacy::hypergeometric),
    ),
];

const GENERATOR: &[Distribution] = &[
    entry("standard_normal", NOTHING, Draw::R(generator::standard_normal)),
    entry("normal", LOC_SCALE, Draw::RRR(generator::normal)),
    entry("lognormal", LOG_NORMAL, Draw::RRR(generator::lognormal)),
    entry("standard_exponential", NOTHING, Draw::R(generator::standard_exponential)),
    entry("exponential", SCALE, Draw::RR(generator::exponential)),
    entry("standard_gamma", SHAPE, Draw::RR(generator::standard_gamma)),
    entry("gamma", SHAPE_SCALE, Draw::RRR(generator::gamma)),
    entry("beta", A_B, Draw::RRR(generator::beta)),
    entry("chisquare", DF, Draw::RR(generator::chisquare)),
    entry("noncentral_chisquare", DF_NONC, Draw::RRR(generator::noncentral_chisquare)),
    entry("f", DFS, Draw::RRR(generator::f)),
    entry("noncentral_f", DFS_NONC, Draw::RRRR(generator::noncentral_f)),
    entry("standard_t", DF, Draw::RR(generator::standard_t)),
    entry("standard_cauchy", NOTHING, Draw::R(generator::standard_cauchy)),
    entry("pareto", A, Draw::RR(generator::pareto)),
    entry("weibull", A_SIGNLESS, Draw::RR(generator::weibull)),
    entry("power", A, Draw::RR(generator::power)),
    entry("rayleigh", SCALE, Draw::RR(generator::rayleigh)),
    entry("wald", MEAN_SCALE, Draw::RRR(generator::wald)),
    entry("vonmises", MU_KAPPA, Draw::RRR(generator::vonmises)),
    entry("binomial", &[integer("n", SIGNLESS), real("p", Constraint::Chance)], Draw::IRI(binomial::binomial)),
    entry(
        "negative_binomial",
        &[real("n", Constraint::PositiveNotNan), real("p", Constraint::ChanceAboveZero)],
        Draw::RRI(generator::negative_binomial),
    ),
    entry("geometric", P, Draw::RI(generator::geometric)),
    entry("zipf", A_ABOVE_ONE, Draw::RI(generator::zipf)),
    entry("logseries", P_BELOW_ONE, Draw::RI(generator::logseries)),
    entry(
        "hypergeometric",
        &[integer("ngood", SIGNLESS), integer("nbad", SIGNLESS), integer("nsample", SIGNLESS)],
        Draw::IIII(hypergeometric::hypergeometric),
    ),
];
