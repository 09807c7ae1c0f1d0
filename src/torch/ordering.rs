//! Functions that put elements in order, or find the distinct ones. Follows
//! <https://pytorch.org/docs/2.7/torch.html#comparison-ops>.

use super::dimnames;
use call::facets::{Dispatch::OneScale, ONE_SCALE, Out, Shares};
use call::reads::{Reads, Span, Takes};
use call::{Call, Row, both};
use tensor::ops::sort;
use tensor::{Result, bail};
use value::Value;

pub(crate) const ROWS: &[Row] = &[
    both(
        "sort.stable(Tensor self, *, bool? stable, int dim=-1, bool descending=False, Tensor[]? out=None) \
 -> any",
        |c| sorted(c, 2, 3, STABLE),
        "Sorts the elements, keeping equal ones in order.",
    )
    .reads(Reads::Spanned(Span::Line, Takes::Indexed))
    .by_name("dimname_stable", dimnames::not_yet),
    both(
        "sort(Tensor self, int dim=-1, bool descending=False, *, Tensor[]? out=None) -> any",
        |c| sorted(c, 1, 2, UNSTABLE),
        "Sorts the elements along a dimension, and returns their old positions.",
    )
    .reads(Reads::Spanned(Span::Line, Takes::Indexed))
    .quantized(OneScale(ONE_SCALE))
    .by_name("dimname", dimnames::not_yet),
    both(
        "argsort.stable(Tensor self, *, bool stable, int dim=-1, bool descending=False, Tensor? out=None) -> Tensor",
        |c| Ok(sort::sort(&c.view(0)?, c.int(2)?, c.bool(3)?, c.bool(1)?)?.1.into()),
        "Returns the old positions of the sorted elements; equal ones stay in order if `stable`.",
    )
    .reads(Reads::Spanned(Span::Line, Takes::None))
    .operation("sort.stable")
    .not_differentiable(),
    both(
        "argsort(Tensor self, int dim=-1, bool descending=False) -> Tensor",
        |c| Ok(sort::sort(&c.view(0)?, c.int(1)?, c.bool(2)?, false)?.1.into()),
        "Returns the old positions of the sorted elements.",
    )
    .reads(Reads::Spanned(Span::Line, Takes::None))
    .operation("sort")
    .by_name("dimname", dimnames::not_yet)
    .not_differentiable(),
    both(
        "topk(Tensor self, SymInt k, int dim=-1, bool largest=True, bool sorted=True, *, Tensor[]? out=None) \
 -> any",
        |c| {
            let (values, indices) = sort::topk(&c.view(0)?, c.int(1)?, c.int(2)?, c.bool(3)?, c.bool(4)?)?;
            Ok(Value::named_tuple(
                "torch.return_types.topk",
                vec![("values", values.into()), ("indices", indices.into())],
            ))
        },
        "Returns the largest elements along a dimension.",
    )
    .reads(Reads::Spanned(Span::Line, Takes::Indexed))
    .out(Out::PLAIN.sharing(Shares::Wholly))
    .quantized(OneScale("Top-K is only supported on per-tensor quantization")),
    both(
        "unique(Tensor self, any sorted=True, any return_inverse=False, any return_counts=False, int? \
 dim=None) -> any",
        |c| unique(c, ANYWHERE, 2, 4),
        "Returns the distinct elements.",
    )
    .operation("_unique2"),
    both(
        "unique_consecutive(Tensor self, any return_inverse=False, any return_counts=False, int? dim=None) \
 -> any",
        |c| unique(c, IN_A_ROW, 1, 3),
        "Joins runs of equal elements.",
    ),
];

/// Whether a sort keeps equal elements in order, for [`sorted`].
const STABLE: bool = true;
const UNSTABLE: bool = false;

fn sorted(call: &Call, dim: usize, descending: usize, stable: bool) -> Result<Value> {
    let (values, indices) = sort::sort(&call.view(0)?, call.int(dim)?, call.bool(descending)?, stable)?;
    Ok(Value::named_tuple("torch.return_types.sort", vec![("values", values.into()), ("indices", indices.into())]))
}

/// Which equal elements are merged, for [`unique`].
const ANYWHERE: bool = true;
const IN_A_ROW: bool = false;

fn unique(call: &Call, all: bool, inverse: usize, dim: usize) -> Result<Value> {
    let view = call.view(0)?;
    // An overload that rejects the flag does not declare it, and errors name the overload.
    let operation = match (all, call.is_none(dim)) {
        (false, _) => "unique_consecutive",
        (true, true) => "_unique2",
        (true, false) => "unique_dim",
    };
    for (i, param) in (0..).zip(call.signature.params.iter()).take(inverse + 2).skip(1) {
        if !matches!(call.value(i), Value::Bool(_)) {
            let (name, given) = (param.name, call.value(i).type_name().to_owned());
            bail!(TypeError, "{operation}(): argument '{name}' must be bool, not {given}");
        }
    }
    let found = match call.opt_int(dim)? {
        Some(dim) => sort::unique_slices(&view, dim, all)?,
        None if all => sort::unique(&view)?,
        None => sort::unique_consecutive(&view, call.bool(inverse)?)?,
    };
    let mut parts = vec![Value::from(found.values)];
    if call.bool(inverse)? {
        parts.push(found.inverse.into());
    }
    if call.bool(inverse + 1)? {
        parts.push(found.counts.into());
    }
    Ok(if parts.len() == 1 { parts.remove(0) } else { Value::tuple(parts) })
}
