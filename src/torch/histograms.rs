//! Functions that put elements into bins, count them, or search for them in sorted sequences. Follows
//! <https://pytorch.org/docs/2.7/generated/torch.histogram.html> and the pages beside it.

use super::origin::choices;
use super::pointwise::default;
use call::facets::{Out, Takes};
use call::reads::Reads;
use call::{Call, Row, both, function};
use tensor::bail;
use tensor::ops::histogram::{self, Bins, Search};
use tensor::{Result, Scalar, View, limits};
use value::Value;

const HISTOGRAM: &[(Takes, &str)] = &[
    (
        Takes::SameAt(0),
        "torch.histogram: input tensor and hist tensor should have the same dtype, but got input {result_cpp} and hist \
         {out_cpp}",
    ),
    (
        Takes::SameAt(1),
        "torch.histogram: input tensor and bin_edges tensor should have the same dtype, but got input {result_cpp} and \
         bin_edges {out_cpp} for dimension 0",
    ),
];

/// The dtype of an output is checked by [`search_in`], whose message names the flag.
const SEARCHED: Out = Out::PLAIN.takes(&[]);

pub(crate) const ROWS: &[Row] = &[
    both(
        "histc(Tensor self, int bins=100, Scalar min=0, Scalar max=0, *, Tensor? out=None) -> Tensor",
        |c| {
            let (low, high) = (c.scalar(2)?.to_f64(), c.scalar(3)?.to_f64());
            histogram::histc(&c.view(0)?, c.int(1)?, low, high).map(Value::from)
        },
        "Counts the elements in bins of equal width.",
    )
    .out(Out::PLAIN.unguarded().takes(HISTOGRAM)).not_differentiable(),
    both(
        "histogram.bins_tensor(Tensor self, Tensor bins, *, Tensor? weight=None, bool density=False, Tensor[]? out=None) -> any",
        |c| {
            let edges = c.view(1)?;
            binned(c, Bins::Edges(&edges), None, 2)
        },
        "Counts the elements between edges.",
    )
    .out(Out::PLAIN.takes(HISTOGRAM)),
    both(
        "histogram.bin_ct(Tensor self, int bins=100, *, float[]? range=None, Tensor? weight=None, bool \
 density=False, Tensor[]? out=None) -> any",
        |c| {
            let range = numbers(c, 2);
            let bins = c.int(1)?;
            binned(c, Bins::Count(bins), range.as_deref(), 3)
        },
        "Counts the elements in bins of equal width, and returns the edges.",
    )
    .out(Out::PLAIN.takes(HISTOGRAM)),
    function(
        "histogramdd.int_bins(Tensor input, int bins, float[]? range=None, Tensor? weight=None, bool density=False) -> any",
        grid,
        "Counts the points in the boxes of a grid, and returns its edges.",
    )
    .aliases(&[
        "histogramdd(Tensor input, int[] bins, float[]? range=None, Tensor? weight=None, bool density=False) -> any",
        "histogramdd.TensorList_bins(Tensor input, Tensor[] bins, float[]? range=None, Tensor? weight=None, bool \
         density=False) -> any",
    ])
    .operation("_histogramdd_bin_edges"),
    both(
        "bincount(Tensor self, Tensor? weights=None, int minlength=0) -> Tensor",
        |c| {
            let weights = if c.is_none(1) { None } else { Some(c.view(1)?) };
            histogram::bincount(&c.view(0)?, weights.as_ref(), c.int(2)?).map(Value::from)
        },
        "Counts how often each number occurs.",
    ).not_differentiable(),
    function(
        "searchsorted.Tensor(Tensor sorted_sequence, Tensor self, *, bool out_int32=False, bool right=False, \
 str? side=None, Tensor? sorter=None, Tensor? out=None) -> Tensor",
        |c| search(c, c.view(0)?, c.view(1)?, false),
        "Finds where values would go in sorted ones.",
    ).reads(Reads::Own(choices::in_order))
    .out(SEARCHED).not_differentiable(),
    function(
        "searchsorted.Scalar(Tensor sorted_sequence, Scalar self, *, bool out_int32=False, bool right=False, \
 str? side=None, Tensor? sorter=None, Tensor? out=None) -> Tensor",
        |c| {
            let value = number(c, 1)?;
            search(c, c.view(0)?, value, true)
        },
        "Finds where a value would go in sorted ones.",
    )
    .out(SEARCHED).not_differentiable(),
    function(
        "bucketize.Tensor(Tensor self, Tensor boundaries, *, bool out_int32=False, bool right=False, Tensor? \
 out=None) -> Tensor",
        |c| bucketize(c, c.view(0)?),
        "Finds the intervals that values belong to.",
    ).reads(Reads::Own(choices::among))
    .out(SEARCHED).not_differentiable(),
    function(
        "bucketize.Scalar(Scalar self, Tensor boundaries, *, bool out_int32=False, bool right=False) -> Tensor",
        |c| {
            let value = number(c, 0)?;
            bucketize(c, value)
        },
        "Finds the interval that a value belongs to.",
    )
    .out(SEARCHED).not_differentiable(),
    function(
        "isin.Tensor_Tensor(Tensor elements, Tensor test_elements, *, bool assume_unique=False, bool \
 invert=False, Tensor? out=None) -> Tensor",
        |c| histogram::isin(&c.view(0)?, &c.view(1)?, c.bool(3)?).map(Value::from),
        "Tells which elements are among others.",
    ).reads(Reads::Own(choices::among)).not_differentiable(),
    function(
        "isin.Scalar_Tensor(Scalar element, Tensor test_elements, *, bool assume_unique=False, bool \
 invert=False, Tensor? out=None) -> Tensor",
        |c| histogram::isin(&number(c, 0)?, &c.view(1)?, c.bool(3)?).map(Value::from),
        "Tells whether a number is among elements.",
    ).not_differentiable(),
    function(
        "isin.Tensor_Scalar(Tensor elements, Scalar test_element, *, bool assume_unique=False, bool \
 invert=False, Tensor? out=None) -> Tensor",
        |c| histogram::isin(&c.view(0)?, &number(c, 1)?, c.bool(3)?).map(Value::from),
        "Tells which elements equal a number.",
    ).not_differentiable(),
];

fn binned(call: &Call, bins: Bins, range: Option<&[f64]>, weight: usize) -> Result<Value> {
    let weights = if call.is_none(weight) { None } else { Some(call.view(weight)?) };
    let (hist, edges) = histogram::histogram(&call.view(0)?, bins, range, weights.as_ref(), call.bool(weight + 1)?)?;
    Ok(Value::named_tuple("torch.return_types.histogram", vec![("hist", hist.into()), ("bin_edges", edges.into())]))
}

/// `histogramdd`: the bins are one count for all coordinates, a list of counts, or a list of tensors of edges.
fn grid(call: &mut Call) -> Result<Value> {
    let view = call.view(0)?;
    let dims = view.sizes().last().filter(|_| view.ndim() > 1).map_or(0, |&dims| dims as usize);
    let given = match call.value(1) {
        one @ Value::Int(_) => limits::filled(one, dims)?,
        other => other.sequence().unwrap_or_default(),
    };
    let own: Vec<View> = given
        .iter()
        .filter_map(|bins| if let Value::Tensor(edges) = bins { Some(edges.view()) } else { None })
        .collect();
    let mut own = own.iter();
    let mut bins = Vec::new();
    for one in &given {
        match (one, if let Value::Tensor(_) = one { own.next() } else { None }) {
            (Value::Int(count), _) => bins.push(Bins::Count(*count)),
            (_, Some(edges)) => bins.push(Bins::Edges(edges)),
            (other, _) => {
                bail!(TypeError, "histogramdd(): argument 'bins' must be tuple of ints, not {}", other.type_name())
            }
        }
    }
    let ranges = numbers(call, 2);
    let weights = if call.is_none(3) { None } else { Some(call.view(3)?) };
    let (hist, edges) = histogram::histogramdd(&view, bins, ranges.as_deref(), weights.as_ref(), call.bool(4)?)?;
    let edges = Value::tuple(edges.into_iter().map(Value::from));
    Ok(Value::named_tuple("torch.return_types.histogramdd", vec![("hist", hist.into()), ("bin_edges", edges)]))
}

/// Returns a list of numbers, or `None` if the argument is missing.
fn numbers(call: &Call, index: usize) -> Option<Vec<f64>> {
    let list = call.value(index).sequence()?;
    Some(list.iter().filter_map(Value::as_scalar).map(Scalar::to_f64).collect())
}

/// Converts a number argument to a 0-dimensional tensor of the number's own dtype.
fn number(call: &Call, index: usize) -> Result<View> {
    let number = call.scalar(index)?;
    View::scalar(number, tensor::ops::promote::number_dtype(number, default(call))?)
}

fn search(call: &Call, boundaries: View, values: View, number: bool) -> Result<Value> {
    let right = match (call.value(4), call.bool(3)?) {
        (Value::None, right) => right,
        (Value::Str(side), right) => match &*side {
            "left" if right => bail!(
                RuntimeError,
                "torch.searchsorted(): side and right can't be set to opposites, got side of left while right was \
 True"
            ),
            "left" => false,
            "right" => true,
            other => bail!(RuntimeError, "torch.searchsorted(): side can only be 'left' or 'right' but got {other}"),
        },
        _ => false,
    };
    let sorter = if call.is_none(5) { None } else { Some(call.view(5)?) };
    let search = Search { right, int32: call.bool(2)?, sorter: sorter.as_ref() };
    search_in(call, &boundaries, &values, number, &search)
}

/// Searches, and checks the dtype of the output.
fn search_in(call: &Call, boundaries: &View, values: &View, number: bool, search: &Search) -> Result<Value> {
    let places = histogram::searchsorted(boundaries, values, number, search)?;
    if let Some(Value::Tensor(out)) = call.position("out").map(|i| call.value(i))
        && out.borrow().device() == places.device()
        && out.borrow().dtype != places.dtype
    {
        bail!(
            RuntimeError,
            "torch.searchsorted(): output tensor's dtype is wrong, it can only be Int(int32) or Long(int64) depending on \
             whether out_int32 flag is True, but we got output tensor's dtype {} and out_int32 flag is {}",
            out.borrow().dtype.scalar_type(),
            if search.int32 { "True" } else { "False" }
        );
    }
    Ok(places.into())
}

fn bucketize(call: &Call, values: View) -> Result<Value> {
    let boundaries = call.view(1)?;
    if boundaries.ndim() != 1 {
        bail!(RuntimeError, "boundaries tensor must be 1 dimension, but got dim({})", boundaries.ndim());
    }
    let search = Search { right: call.bool(3)?, int32: call.bool(2)?, sorter: None };
    search_in(call, &boundaries, &values, false, &search)
}
