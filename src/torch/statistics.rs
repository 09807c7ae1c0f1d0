//! Functions that describe the elements along a dimension: ranks, special sums, running values, differences. Follows <https://pytorch.org/docs/2.7/torch.html#reduction-ops> and the pages after it.

use super::dimnames;
use super::pointwise::default;
use call::facets::{
    Folds, Lies,
    NameInference::{Keeps, Nameless, Removes},
    Out, Shares, Takes,
};
use call::reads::{ALONG, Reads, Span, Takes as Taken};
use call::{Call, Row, both, function, method};
use tensor::bail;
use tensor::layout::wrap_dim;
use tensor::ops::calculus::{self, Spacing};
use tensor::ops::pointwise::{FLOATS, classes};
use tensor::ops::rank::{self, Interpolation, Quantile};
use tensor::ops::reduce::{self, Extremum, SpreadMeasure};
use tensor::ops::softmax::{self as soft, Softmax};
use tensor::ops::statistics::{self, Weights};
use tensor::ops::{copy, sort};
use tensor::{DType, Error, Result, Scalar, View};
use value::Value;

const MEDIAN: &[(Takes, &str)] = &[
    (
        Takes::SameAt(0),
        "Expected tensor for 'values' to have the same type as tensor for argument #2 'self'; but type {out_class} does not \
         equal {result_class} (while checking arguments for median)",
    ),
    (
        Takes::SameAt(1),
        "Expected tensor for argument #1 'indices' to have scalar type Long; but got {out_class} instead (while checking \
         arguments for median)",
    ),
];

const KTHVALUE: &[(Takes, &str)] = &[
    (Takes::SameAt(0), "output values must be of same type as input"),
    (Takes::SameAt(1), "output indices must be of scalar type Long"),
];

/// The conditions on the `out` tensor of `quantile`.
const QUANTILE: Out = Out::PLAIN
    .takes(&[(Takes::Same, "quantile() out tensor must be same dtype as the input tensor")])
    .lying(Lies::InRows);

pub(crate) const ROWS: &[Row] = &[
    both(
        "median(Tensor self) -> Tensor",
        |c| rank::median(&c.view(0)?, false).map(Value::from),
        "Returns the median, the lower of two.",
    )
    .reads(Reads::Spanned(Span::Along, Taken::Equal))
    .names(Nameless),
    both(
        "median.dim(Tensor self, int dim, bool keepdim=False, *, Tensor[]? out=None) -> any",
        |c| pair("torch.return_types.median", rank::median_dim(&c.view(0)?, c.int(1)?, c.bool(2)?, false)?),
        "Returns the medians along a dimension, and their positions.",
    )
    .reads(Reads::Spanned(Span::Along, Taken::Indexed))
    .out(Out::PLAIN.takes(MEDIAN))
    .names(Removes)
    .by_name("names_dim", dimnames::by_position),
    both(
        "nanmedian(Tensor self) -> Tensor",
        |c| rank::median(&c.view(0)?, true).map(Value::from),
        "Returns the median, ignoring NaN.",
    )
    .reads(Reads::Spanned(Span::Along, Taken::None))
    .names(Nameless),
    both(
        "nanmedian.dim(Tensor self, int dim, bool keepdim=False, *, Tensor[]? out=None) -> any",
        |c| pair("torch.return_types.nanmedian", rank::median_dim(&c.view(0)?, c.int(1)?, c.bool(2)?, true)?),
        "Returns the medians along a dimension, ignoring NaN.",
    )
    .reads(Reads::Spanned(Span::Along, Taken::Indexed))
    .out(Out::PLAIN.takes(MEDIAN))
    .names(Removes)
    .by_name("names_dim", dimnames::by_position),
    both(
        "mode(Tensor self, int dim=-1, bool keepdim=False, *, Tensor[]? out=None) -> any",
        |c| pair("torch.return_types.mode", rank::mode(&c.view(0)?, c.int(1)?, c.bool(2)?)?),
        "Returns the most frequent elements along a dimension, and their positions.",
    )
    .reads(Reads::Spanned(Span::Along, Taken::Indexed))
    .out(
        Out::PLAIN
            .takes(&[(Takes::Same, "expected scalar type '{result}' but got '{out}' for {field} output")])
            .sharing(Shares::Never),
    )
    .names(Removes)
    .by_name("dimname", dimnames::by_position),
    both(
        "kthvalue(Tensor self, int k, int dim=-1, bool keepdim=False, *, Tensor[]? out=None) -> any",
        |c| pair("torch.return_types.kthvalue", rank::kthvalue(&c.view(0)?, c.int(1)?, c.int(2)?, c.bool(3)?)?),
        "Returns the k-th smallest elements along a dimension, and their positions.",
    )
    .reads(Reads::Spanned(Span::Along, Taken::Indexed))
    .out(Out::PLAIN.takes(KTHVALUE).sharing(Shares::Never))
    .names(Removes)
    .by_name("dimname", dimnames::by_position),
    both(
        "quantile(Tensor self, Tensor q, int? dim=None, bool keepdim=False, *, str interpolation=\"linear\", \
 Tensor? out=None) -> Tensor",
        quantile,
        "Computes the numbers below which given shares of the elements lie.",
    )
    .out(QUANTILE)
    .operation("sort")
    .out_refused_as("sort"),
    both(
        "quantile.scalar(Tensor self, float q, int? dim=None, bool keepdim=False, *, str \
 interpolation=\"linear\", Tensor? out=None) -> Tensor",
        quantile,
        "Computes the number below which a given share of the elements lies.",
    )
    .reads(Reads::Spanned(Span::Along, Taken::None))
    .out(QUANTILE)
    .operation("view")
    .out_refused_as("view"),
    both(
        "nanquantile(Tensor self, Tensor q, int? dim=None, bool keepdim=False, *, str \
 interpolation=\"linear\", Tensor? out=None) -> Tensor",
        nanquantile,
        "Computes the numbers below which given shares of the elements lie, ignoring NaN.",
    )
    .out(QUANTILE)
    .operation("sort")
    .out_refused_as("sort"),
    both(
        "nanquantile.scalar(Tensor self, float q, int? dim=None, bool keepdim=False, *, str \
 interpolation=\"linear\", Tensor? out=None) -> Tensor",
        nanquantile,
        "Computes the number below which a given share of the elements lies, ignoring NaN.",
    )
    .reads(Reads::Spanned(Span::Along, Taken::None))
    .out(QUANTILE)
    .operation("view")
    .out_refused_as("view"),
    both(
        "msort(Tensor self, *, Tensor? out=None) -> Tensor",
        |c| Ok(sort::sort(&c.view(0)?, 0, false, false)?.0.into()),
        "Sorts along the first dimension.",
    )
    .out(Out::PLAIN.sharing(Shares::Wholly))
    .grad_refused_by("sort")
    .operation("sort")
    .out_refused_as("sort.values"),
    both(
        "nansum(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None, Tensor? \
 out=None) -> Tensor",
        |c| {
            let dims = if c.is_none(1) { None } else { Some(c.ints(1)?) };
            reduce::nansum(&c.view(0)?, dims.as_deref(), c.bool(2)?, c.opt_dtype(3)).map(Value::from)
        },
        "Sums, ignoring NaN.",
    )
    .reads(ALONG)
    .out(
        Out::REDUCED
            .takes(&[(
                Takes::OfUnless(FLOATS, classes::BOOL | classes::INT),
                "\"nansum_cpu\" not implemented for '{out}'",
            )])
            .folding(Folds::Sums),
    ),
    both(
        "nanmean(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None, Tensor? \
 out=None) -> Tensor",
        |c| {
            let dims = if c.is_none(1) { None } else { Some(c.ints(1)?) };
            reduce::nanmean(&c.view(0)?, dims.as_deref(), c.bool(2)?, c.opt_dtype(3)).map(Value::from)
        },
        "Averages, ignoring NaN.",
    )
    .reads(ALONG)
    .out(Out::PLAIN.takes(&[(Takes::Of(FLOATS), "\"nansum_cpu\" not implemented for '{out}'")]))
    .operation("nansum")
    .checks_first(),
    both(
        "count_nonzero(Tensor self, int? dim=None) -> Tensor",
        |c| {
            let dims = c.opt_int(1)?.map(|d| [d]);
            reduce::count_nonzero(&c.view(0)?, dims.as_ref().map(<[i64; 1]>::as_slice)).map(Value::from)
        },
        "Counts the elements that are not zero.",
    )
    .reads(Reads::Spanned(Span::Along, Taken::None))
    .not_differentiable(),
    both(
        "count_nonzero.dim_IntList(Tensor self, int[] dim) -> Tensor",
        |c| {
            let dims = c.ints(1)?;
            reduce::count_nonzero(&c.view(0)?, Some(&dims)).map(Value::from)
        },
        "Counts the elements along dimensions that are not zero.",
    )
    .reads(Reads::Spanned(Span::Along, Taken::None))
    .operation("count_nonzero")
    .several_refused_as("count_nonzero.dim_IntList")
    .not_differentiable(),
    both(
        "aminmax(Tensor self, *, int? dim=None, bool keepdim=False, Tensor[]? out=None) -> any",
        |c| {
            let (low, high) = reduce::aminmax(&c.view(0)?, c.opt_int(1)?, c.bool(2)?)?;
            Ok(Value::named_tuple("torch.return_types.aminmax", vec![("min", low.into()), ("max", high.into())]))
        },
        "Returns the smallest and the largest element.",
    )
    .reads(Reads::Spanned(Span::Along, Taken::Equal))
    .out(Out::PLAIN.sharing(Shares::Never)),
    function(
        "std_mean.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> any",
        |c| with_mean(c, SpreadMeasure::StandardDeviation),
        "Computes the standard deviation and the mean along dimensions.",
    )
    .names(Removes)
    .complex_refused_as("view_as_real")
    .by_name("names_dim", dimnames::by_position),
    function(
        "std_mean.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) \
 -> any",
        |c| with_mean(c, SpreadMeasure::StandardDeviation),
        "Computes the standard deviation and the mean.",
    )
    .reads(ALONG)
    .names(Removes)
    .complex_refused_as("view_as_real")
    .by_name("correction_names", dimnames::by_position),
    function(
        "std_mean(Tensor self, bool unbiased=True) -> any",
        |c| with_mean(c, SpreadMeasure::StandardDeviation),
        "Computes the standard deviation and the mean of all elements.",
    )
    .names(Nameless)
    .complex_refused_as("view_as_real"),
    function(
        "var_mean.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> any",
        |c| with_mean(c, SpreadMeasure::Variance),
        "Computes the variance and the mean along dimensions.",
    )
    .names(Removes)
    .complex_refused_as("view_as_real")
    .by_name("names_dim", dimnames::by_position),
    function(
        "var_mean.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) \
 -> any",
        |c| with_mean(c, SpreadMeasure::Variance),
        "Computes the variance and the mean.",
    )
    .reads(ALONG)
    .names(Removes)
    .complex_refused_as("view_as_real")
    .by_name("correction_names", dimnames::by_position),
    function(
        "var_mean(Tensor self, bool unbiased=True) -> any",
        |c| with_mean(c, SpreadMeasure::Variance),
        "Computes the variance and the mean of all elements.",
    )
    .names(Nameless)
    .complex_refused_as("view_as_real"),
    both(
        "logsumexp(Tensor self, int[1] dim, bool keepdim=False, *, Tensor? out=None) -> Tensor",
        logsumexp,
        "Computes the logarithm of the sum of exponentials.",
    )
    .reads(ALONG)
    .out(
        Out::PLAIN
            .takes(&[(Takes::Castable, "logsumexp(): Expected floating point type for result tensor, but got: {out}")]),
    )
    .aliases(&["special.logsumexp"])
    .names(Removes)
    .by_name("names", dimnames::by_position),
    both(
        "softmax.int(Tensor self, int dim, ScalarType? dtype=None, *, Tensor? out=None) -> Tensor",
        |c| softmax(c, Softmax::Plain, 1, 2),
        "Computes each exponential's share of their sum.",
    )
    .reads(Reads::Spanned(Span::Line, Taken::All))
    .names(Keeps)
    .grad_refused_by_fallback(),
    both(
        "softmax.Dimname(Tensor self, Dimname dim, *, ScalarType? dtype=None) -> Tensor",
        dimnames::by_position,
        "Computes each exponential's share of their sum along a named dimension.",
    ),
    both(
        "log_softmax.int(Tensor self, int dim, ScalarType? dtype=None, *, Tensor? out=None) -> Tensor",
        |c| softmax(c, Softmax::Log, 1, 2),
        "Computes the logarithm of each exponential's share of their sum.",
    )
    .reads(Reads::Spanned(Span::Line, Taken::All))
    .names(Keeps)
    .grad_refused_by_fallback(),
    both(
        "log_softmax.Dimname(Tensor self, Dimname dim, *, ScalarType? dtype=None) -> Tensor",
        dimnames::by_position,
        "Computes the logarithm of each share along a named dimension.",
    ),
    both(
        "cummax(Tensor self, int dim, *, Tensor[]? out=None) -> any",
        |c| pair("torch.return_types.cummax", reduce::running_extremum(Extremum::Max, &c.view(0)?, c.int(1)?)?),
        "Returns the largest element so far, and its position.",
    )
    .reads(Reads::Spanned(Span::UpTo, Taken::Indexed))
    .out(Out::PLAIN.unguarded().takes(&[(Takes::Same, "expected scalar_type {result} but found {out}")]))
    .names(Keeps)
    .by_name("dimname", dimnames::by_position),
    both(
        "cummin(Tensor self, int dim, *, Tensor[]? out=None) -> any",
        |c| pair("torch.return_types.cummin", reduce::running_extremum(Extremum::Min, &c.view(0)?, c.int(1)?)?),
        "Returns the smallest element so far, and its position.",
    )
    .reads(Reads::Spanned(Span::UpTo, Taken::Indexed))
    .out(Out::PLAIN.unguarded().takes(&[(Takes::Same, "expected scalar_type {result} but found {out}")]))
    .names(Keeps)
    .by_name("dimname", dimnames::by_position),
    both(
        "logcumsumexp(Tensor self, int dim, *, Tensor? out=None) -> Tensor",
        |c| reduce::log_cumulative_sum_exp(&c.view(0)?, c.int(1)?).map(Value::from),
        "Computes the logarithm of the running sum of exponentials.",
    )
    .reads(Reads::Spanned(Span::UpTo, Taken::All))
    .out(Out::PLAIN.sharing(Shares::Wholly).takes(&[(Takes::Same, "expected scalar_type {result} but found {out}")]))
    .names(Keeps)
    .by_name("dimname", dimnames::by_position),
    method(
        "cumsum_.dimname(Tensor(a!) self, Dimname dim, *, ScalarType? dtype=None) -> Tensor(a!)",
        dimnames::in_place_by_position,
        "Computes running sums along a named dimension, in place.",
    ),
    method(
        "cumprod_.dimname(Tensor(a!) self, Dimname dim, *, ScalarType? dtype=None) -> Tensor(a!)",
        dimnames::in_place_by_position,
        "Computes running products along a named dimension, in place.",
    ),
    call::method(
        "cumsum_(Tensor(a!) self, int dim, *, ScalarType? dtype=None) -> Tensor(a!)",
        |c| running(c, reduce::Running::Sum),
        "Computes the running sum, in place.",
    ),
    call::method(
        "cumprod_(Tensor(a!) self, int dim, *, ScalarType? dtype=None) -> Tensor(a!)",
        |c| running(c, reduce::Running::Product),
        "Computes the running product, in place.",
    ),
    both(
        "diff(Tensor self, int n=1, int dim=-1, Tensor? prepend=None, Tensor? append=None, *, Tensor? \
 out=None) -> Tensor",
        |c| {
            let side = |i: usize| if c.is_none(i) { Ok(None) } else { c.view(i).map(Some) };
            let (before, after) = (side(3)?, side(4)?);
            calculus::diff(&c.view(0)?, c.int(1)?, c.int(2)?, [before.as_ref(), after.as_ref()], default(c))
                .map(Value::from)
        },
        "Computes the differences along a dimension.",
    )
    .out(Out::ELEMENTWISE.sharing(Shares::Allowed))
    .grad_refused_by("sub")
    .names(Keeps),
    function(
        "trapezoid.x(Tensor y, Tensor x, *, int dim=-1) -> Tensor",
        |c| {
            let x = c.view(1)?;
            calculus::trapezoid(&c.view(0)?, Spacing::At(&x), c.int(2)?, default(c)).map(Value::from)
        },
        "Integrates by the trapezoidal rule.",
    )
    .reads(ALONG)
    .aliases(&["trapz"]),
    function(
        "trapezoid.dx(Tensor y, *, Scalar dx=1, int dim=-1) -> Tensor",
        |c| {
            let dx = c.scalar(1)?.to_f64();
            calculus::trapezoid(&c.view(0)?, Spacing::Even(dx), c.int(2)?, default(c)).map(Value::from)
        },
        "Integrates by the trapezoidal rule.",
    )
    .operation("mul.Scalar"),
    function(
        "trapz.dx(Tensor y, *, float dx=1, int dim=-1) -> Tensor",
        |c| {
            let dx = c.scalar(1)?.to_f64();
            calculus::trapezoid(&c.view(0)?, Spacing::Even(dx), c.int(2)?, default(c)).map(Value::from)
        },
        "Integrates by the trapezoidal rule.",
    )
    .operation("mul.Scalar"),
    function(
        "cumulative_trapezoid.x(Tensor y, Tensor x, *, int dim=-1) -> Tensor",
        |c| {
            let x = c.view(1)?;
            calculus::cumulative_trapezoid(&c.view(0)?, Spacing::At(&x), c.int(2)?, default(c)).map(Value::from)
        },
        "Computes the running integral by the trapezoidal rule.",
    )
    .names(Keeps),
    function(
        "cumulative_trapezoid.dx(Tensor y, *, Scalar dx=1, int dim=-1) -> Tensor",
        |c| {
            let dx = c.scalar(1)?.to_f64();
            calculus::cumulative_trapezoid(&c.view(0)?, Spacing::Even(dx), c.int(2)?, default(c)).map(Value::from)
        },
        "Computes the running integral by the trapezoidal rule.",
    )
    .operation("mul.Scalar"),
    function(
        "gradient.array(Tensor self, *, int[] dim, int edge_order=1) -> any",
        |c| gradient(c, &Value::None, 1),
        "Computes the derivative along each of some dimensions.",
    )
    .names(Keeps),
    function(
        "gradient.scalararray(Tensor self, *, Scalar spacing, int[] dim, int edge_order=1) -> any",
        |c| gradient(c, &c.value(1), 2),
        "Computes the derivative along each dimension.",
    )
    .aliases(&[
        "gradient(Tensor self, *, Scalar? spacing=None, int? dim=None, int edge_order=1) -> any",
        "gradient.scalarrayint(Tensor self, *, Scalar[] spacing, int? dim=None, int edge_order=1) -> any",
        "gradient.scalarrayarray(Tensor self, *, Scalar[] spacing, int[] dim, int edge_order=1) -> any",
        "gradient.tensorarrayint(Tensor self, *, Tensor[] spacing, int? dim=None, int edge_order=1) -> any",
        "gradient.tensorarray(Tensor self, *, Tensor[] spacing, int[] dim, int edge_order=1) -> any",
    ])
    .names(Keeps),
    both(
        "cov(Tensor self, *, int correction=1, Tensor? fweights=None, Tensor? aweights=None) -> Tensor",
        |c| {
            let weight = |i: usize| if c.is_none(i) { Ok(None) } else { c.view(i).map(Some) };
            let (f, a) = (weight(2)?, weight(3)?);
            let weights = Weights { correction: c.int(1)?, frequencies: f.as_ref(), importances: a.as_ref() };
            warned(c, statistics::cov(&c.view(0)?, &weights, default(c))?)
        },
        "Computes the covariance matrix.",
    )
    .operation("unsqueeze"),
    both(
        "corrcoef(Tensor self) -> Tensor",
        |c| warned(c, statistics::corrcoef(&c.view(0)?, default(c))?),
        "Computes the correlation matrix.",
    )
    .operation("unsqueeze"),
];

fn pair(type_name: &'static str, (values, indices): (View, View)) -> Result<Value> {
    Ok(Value::named_tuple(type_name, vec![("values", values.into()), ("indices", indices.into())]))
}

fn warned(call: &Call, (result, few): (View, bool)) -> Result<Value> {
    if few {
        call.state.warn_once(
            "UserWarning",
            "cov(): degrees of freedom is <= 0. Correction should be strictly less than the number of \
 observations.",
        );
    }
    Ok(result.into())
}

fn quantile(call: &mut Call) -> Result<Value> {
    ranked(call, false)
}

fn nanquantile(call: &mut Call) -> Result<Value> {
    ranked(call, true)
}

fn ranked(call: &Call, ignore_nan: bool) -> Result<Value> {
    let view = call.view(0)?;
    let name = "quantile";
    let interpolation = Interpolation::parse(call.str(4)?, name)?;
    let q = match call.value(1) {
        Value::Tensor(q) => q.view(),
        other => {
            let q = other.as_scalar().map_or(f64::NAN, Scalar::to_f64);
            if !(0.0..=1.0).contains(&q) {
                bail!(RuntimeError, "{name}() q must be in the range [0, 1] but got {q}");
            }
            View::scalar(Scalar::Float(q), view.dtype)?
        }
    };
    let how = Quantile { dim: call.opt_int(2)?, keepdim: call.bool(3)?, interpolation, ignore_nan };
    rank::quantile(&view, &q, &how).map(Value::from)
}

/// `std_mean` and `var_mean`. Arguments are looked up by name, because their meaning differs between the overloads.
fn with_mean(call: &mut Call, which: SpreadMeasure) -> Result<Value> {
    let view = call.view(0)?;
    if !view.dtype.is_differentiable() {
        let name = if which == SpreadMeasure::Variance { "var_mean" } else { "std_mean" };
        bail!(RuntimeError, "{name} only support floating point and complex dtypes");
    }
    let at = |name: &str| call.position(name);
    let dims = match at("dim") {
        Some(i) if !call.is_none(i) => Some(call.ints(i)?),
        _ => None,
    };
    let keepdim = at("keepdim").map_or(Ok(false), |i| call.bool(i))?;
    let correction = match (at("unbiased"), at("correction")) {
        (Some(i), _) => f64::from(u8::from(call.bool(i)?)),
        (_, Some(i)) if !call.is_none(i) => call.scalar(i)?.to_f64(),
        _ => 1.0,
    };
    let spread = reduce::variance(which, &view, dims.as_deref(), correction, keepdim)?;
    let mean = reduce::mean(&view, Some(dims.as_deref().unwrap_or_default()), keepdim, None)?;
    Ok(Value::tuple([spread.into(), mean.into()]))
}

pub(super) fn logsumexp(call: &mut Call) -> Result<Value> {
    soft::logsumexp(&call.view(0)?, &call.ints(1)?, call.bool(2)?, default(call)).map(Value::from)
}

pub(super) fn softmax(call: &mut Call, which: Softmax, dim: usize, dtype: usize) -> Result<Value> {
    soft::softmax(which, &call.view(0)?, call.int(dim)?, call.opt_dtype(dtype)).map(Value::from)
}

fn running(call: &mut Call, which: reduce::Running) -> Result<Value> {
    let view = call.view(0)?;
    let result = reduce::cumulative(which, &view, call.int(1)?, Some(call.opt_dtype(2).unwrap_or(view.dtype)))?;
    copy::copy_into(&view, &result)?;
    Ok(call.itself())
}

/// `torch.gradient`. The spacing is one number for all dimensions, or a list with one number or tensor of coordinates
/// for each. The dimensions are the argument at `place`, followed by the order at the edges.
fn gradient(call: &Call, spacing: &Value, place: usize) -> Result<Value> {
    let view = call.view(0)?;
    if view.dtype == DType::Byte {
        bail!(RuntimeError, "torch.gradient does not support uint8 input.");
    }
    let edge_order = call.int(place + 1)?;
    let dims: Vec<i64> = match call.value(place) {
        Value::None => (0..view.ndim() as i64).collect(),
        Value::Int(dim) => vec![dim],
        other => other.sequence().unwrap_or_default().iter().filter_map(Value::as_scalar).map(Scalar::to_i64).collect(),
    };
    let listed = spacing.sequence();
    if let Some(items) = &listed
        && items.len() != dims.len()
    {
        if call.is_none(place) {
            bail!(
                RuntimeError,
                "torch.gradient expected spacing to be unspecified, a scalar, or a list of length equal to 'self.dim() = \
                 {}', since dim argument was not given, but got a list of length {}",
                view.ndim(),
                items.len()
            );
        }
        bail!(
            RuntimeError,
            "torch.gradient expected spacing to be unspecified, a scalar or it's spacing and dim arguments to have the \
             same length, but got a spacing argument of length {} and a dim argument of length {}.",
            items.len(),
            dims.len()
        );
    }
    for (n, &dim) in dims.iter().enumerate() {
        let d = wrap_dim(dim, view.ndim())?;
        if dims.iter().take(n).any(|&other| wrap_dim(other, view.ndim()) == Ok(d)) {
            bail!(RuntimeError, "dim {d} appears multiple times in the list of dims");
        }
    }
    let refused =
        || Error::type_error("gradient(): argument 'spacing' must be a number, or a list of numbers or tensors");
    let mut parts = Vec::new();
    for (n, &dim) in dims.iter().enumerate() {
        let one = match &listed {
            Some(items) => items.get(n).cloned().unwrap_or(Value::None),
            None => spacing.clone(),
        };
        let places = match &one {
            Value::Tensor(places) if listed.is_some() && places.borrow().ndim() != 1 => bail!(
                RuntimeError,
                "torch.gradient expected each element of spacing to have one dimension, but got an element with {} \
                 dimensions!",
                places.borrow().ndim()
            ),
            Value::Tensor(places) => Some(places.view()),
            _ => None,
        };
        let spacing = match (&one, &places) {
            (Value::None, _) => Spacing::Even(1.0),
            (_, Some(places)) => Spacing::At(places),
            (number, None) => Spacing::Even(number.as_scalar().ok_or_else(refused)?.to_f64()),
        };
        parts.push(calculus::gradient(&view, &spacing, dim, edge_order, default(call))?.into());
    }
    Ok(Value::tuple(parts))
}
