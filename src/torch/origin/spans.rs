//! Patterns that follow from the dimensions alone: elementwise functions, reductions, scans, functions of lines and of
//! matrices.

use super::patterns::{broadcast, index_of, ints, item};
use call::reads::{Finder, Part, Read, Span, Takes, TracedCall};
use std::rc::Rc;
use tensor::layout::{broadcast_sizes, wrap_dim};
use tensor::{Dims, Scalar};
use value::Value;

/// The tensors read, at the positions in the call, and their common shape.
struct Operands {
    tensors: Vec<(usize, Dims)>,
    shape: Dims,
}

/// Returns a function that finds the elements of a span.
pub(super) fn spanned(call: &Rc<TracedCall>, span: Span, takes: Takes) -> Option<Finder> {
    let operands = operands(call)?;
    let span = match span {
        Span::Reduction if is_reduced(call) => Span::All,
        Span::Reduction => Span::Same,
        span => span,
    };
    // A test of one element gives the shape before it is needed for all.
    let call = call.clone();
    if call.outputs.iter().any(|output| lines(&call, &operands, span, output.sizes()).is_none()) {
        return None;
    }
    if takes != Takes::All
        && takes != Takes::None
        && !call.outputs.iter().chain(&call.tensors).all(|t| t.is_unchanged() || call.is_in_place)
    {
        return None;
    }
    Some(Box::new(move |output, element| {
        let Some(result) = call.outputs.get(output) else { return Vec::new() };
        let index = index_of(element, result.sizes());
        let Some(lines) = lines(&call, &operands, span, result.sizes()) else { return Vec::new() };
        let mut found = Vec::new();
        let chosen = chosen(&call, takes, output, element);
        for (number, place) in lines.places(&index).enumerate() {
            for (tensor, sizes) in &operands.tensors {
                let Some(element) = broadcast(&place, sizes.as_slice()) else { continue };
                let part = match &chosen {
                    Chosen::All => Part::Taken,
                    Chosen::None => Part::Compared,
                    Chosen::At(at) if *at == number as i64 => Part::Taken,
                    Chosen::At(_) => Part::Compared,
                    Chosen::Equal(wanted) => {
                        let same = call.tensors.get(*tensor).and_then(|traced| item(&traced.view, element));
                        if same.is_some_and(|value| is_same(value, *wanted)) { Part::Taken } else { Part::Compared }
                    }
                };
                found.push(Read { tensor: *tensor, element, part });
            }
        }
        found
    }))
}

/// Which elements are taken of those read for one element.
enum Chosen {
    All,
    None,
    /// The one with this number.
    At(i64),
    /// Those of this value.
    Equal(Scalar),
}

fn chosen(call: &TracedCall, takes: Takes, output: usize, element: i64) -> Chosen {
    match takes {
        Takes::All => Chosen::All,
        Takes::None => Chosen::None,
        Takes::Equal => match call.outputs.get(output).and_then(|result| item(&result.view, element)) {
            Some(value) => Chosen::Equal(value),
            None => Chosen::All,
        },
        Takes::Indexed if output > 0 => Chosen::None,
        Takes::Indexed => match call.outputs.get(1).and_then(|indices| item(&indices.view, element)) {
            Some(at) => Chosen::At(at.to_i64()),
            None => Chosen::All,
        },
    }
}

/// Returns whether two numbers are the same, NaN included.
fn is_same(a: Scalar, b: Scalar) -> bool {
    let (a, b) = (a.to_complex(), b.to_complex());
    a == b || a.is_nan() && b.is_nan()
}

/// Returns whether `reduction` asks for one number.
fn is_reduced(call: &TracedCall) -> bool {
    match call.argument("reduction") {
        Some(Value::Str(text)) => &**text != "none",
        Some(Value::Int(number)) => *number != 0,
        _ => true,
    }
}

fn operands(call: &TracedCall) -> Option<Operands> {
    // An output is written, not read.
    let out = call.tensor_of("out");
    let tensors: Vec<(usize, Dims)> = call
        .tensors
        .iter()
        .enumerate()
        .filter(|(at, _)| Some(*at) != out)
        .map(|(at, traced)| (at, Dims::from_slice(traced.sizes())))
        .collect();
    let shape = tensors.iter().try_fold(Dims::new(), |shape, (_, sizes)| broadcast_sizes(&shape, sizes).ok())?;
    Some(Operands { tensors, shape })
}

/// The places read for an element: its own index, with some dimensions walked.
struct Lines {
    shape: Dims,
    /// Where the dimensions of the shape are in the index of the result. `None` for a dimension that is walked.
    own: Vec<Option<usize>>,
    /// The dimension that is walked to the element's own index only.
    up_to: Option<usize>,
}

fn lines(call: &TracedCall, operands: &Operands, span: Span, result: &[i64]) -> Option<Lines> {
    let shape = operands.shape.clone();
    let ndim = shape.len();
    let whole: Vec<Option<usize>> = (0..ndim).map(Some).collect();
    let fits = |own: &[Option<usize>]| {
        own.iter().enumerate().all(|(d, at)| at.is_none_or(|at| result.get(at) == shape.get(d)))
    };
    let (own, up_to) = match span {
        Span::Same | Span::Reduction => (whole, None),
        Span::All => (vec![None; ndim], None),
        Span::Matrix => {
            let batch = ndim.checked_sub(2)?;
            ((0..ndim).map(|d| (d < batch).then_some(d)).collect(), None)
        }
        Span::UpTo | Span::Line | Span::Along => {
            let dims = walked(call, ndim)?;
            let keeps = span != Span::Along || result.len() == ndim;
            let mut next = 0;
            let own: Vec<Option<usize>> = (0..ndim)
                .map(|d| {
                    let is_walked = dims.contains(&d);
                    let at = next;
                    next += usize::from(keeps || !is_walked);
                    (!is_walked).then_some(at)
                })
                .collect();
            let up_to = (span == Span::UpTo).then(|| dims.first().copied()).flatten();
            (own, up_to)
        }
    };
    (own.iter().flatten().count() <= result.len() && fits(&own)).then_some(Lines { shape, own, up_to })
}

/// Returns the dimensions that `dim` names: all without it.
fn walked(call: &TracedCall, ndim: usize) -> Option<Vec<usize>> {
    let given = ["dim", "dims", "axis"].iter().find_map(|name| call.argument(name));
    let dims = match given {
        None => return Some((0..ndim).collect()),
        Some(Value::Int(dim)) => vec![*dim],
        Some(value) => ints(value)?,
    };
    if dims.is_empty() {
        return Some((0..ndim).collect());
    }
    dims.into_iter().map(|dim| if ndim == 0 { Some(0) } else { wrap_dim(dim, ndim).ok() }).collect()
}

impl Lines {
    /// Walks the places read for the element at an index, in row-major order.
    fn places(&self, index: &[i64]) -> impl Iterator<Item = Dims> {
        let own = |d: usize| self.own.get(d).copied().flatten().and_then(|at| index.get(at).copied());
        let sizes: Dims = self
            .shape
            .iter()
            .enumerate()
            .map(|(d, size)| match own(d) {
                Some(_) => 1,
                None if self.up_to == Some(d) => index.get(d).map_or(*size, |at| at + 1),
                None => *size,
            })
            .collect();
        let first: Dims = (0..self.shape.len()).map(|d| own(d).unwrap_or(0)).collect();
        let count: i64 = sizes.iter().product();
        (0..count).map(move |number| {
            let mut place = index_of(number, &sizes);
            place.iter_mut().zip(&first).for_each(|(at, first)| *at += first);
            place
        })
    }
}
