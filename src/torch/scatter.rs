//! Writes at positions given by index tensors: the functions that reduce, and those that return a copy. Follows
//! <https://pytorch.org/docs/2.7/generated/torch.scatter_reduce.html> and its neighbours.

use super::deterministic;
use super::dimnames;
use super::origin::sums;
use call::facets::{NameInference::Keeps, Out, Repeats, Shares};
use call::reads::Reads;
use call::warnings::{self, Writer};
use call::{Call, Row, both, method};
use tensor::bail;
use tensor::ops::copy::{clone, row_major};
use tensor::ops::gather::{self, Scattered};
use tensor::ops::index;
use tensor::ops::mask::fill_value;
use tensor::{Result, View};
use value::Value;

pub(crate) const ROWS: &[Row] = &[
    method(
        "scatter_reduce_.two(Tensor(a!) self, int dim, Tensor index, Tensor src, str reduce, *, bool \
 include_self=True) -> Tensor(a!)",
        |c| {
            scatter_reduce(c, &c.view(0)?)?;
            Ok(c.itself())
        },
        "Reduces elements into the places an index names, in place.",
    ),
    both(
        "scatter_reduce.two(Tensor self, int dim, Tensor index, Tensor src, str reduce, *, bool \
 include_self=True, Tensor? out=None) -> Tensor",
        |c| changed(row_major(&c.view(0)?), |out| scatter_reduce(c, out)),
        "Copies the tensor, with elements reduced into the places an index names.",
    )
    .out(Out::PLAIN.sharing(Shares::First).repeating(Repeats::Refused)),
    method(
        "index_reduce_(Tensor(a!) self, int dim, Tensor index, Tensor source, str reduce, *, bool \
 include_self=True) -> Tensor(a!)",
        |c| {
            index_reduce(c, &c.view(0)?)?;
            Ok(c.itself())
        },
        "Reduces slices into the given indices, in place.",
    ),
    both(
        "index_reduce(Tensor self, int dim, Tensor index, Tensor source, str reduce, *, bool \
 include_self=True, Tensor? out=None) -> Tensor",
        |c| changed(row_major(&c.view(0)?), |out| index_reduce(c, out)),
        "Copies the tensor, with slices reduced into the given indices.",
    )
    .out(Out::PLAIN.sharing(Shares::First)),
    both(
        "scatter.src(Tensor self, int dim, Tensor index, Tensor src, *, Tensor? out=None) -> Tensor",
        |c| scatter(c, Scattered::Source(&c.view(3)?), None),
        "Copies the tensor, with elements written along a dimension.",
    )
    .reads(Reads::Moved)
    .out(Out::PLAIN.sharing(Shares::First).repeating(Repeats::Refused)),
    both(
        "scatter.reduce(Tensor self, int dim, Tensor index, Tensor src, *, str reduce, Tensor? out=None) -> \
 Tensor",
        |c| scatter(c, Scattered::Source(&c.view(3)?), Some(c.str(4)?)),
        "Copies the tensor, with elements added or multiplied in along a dimension.",
    )
    .out(Out::PLAIN.sharing(Shares::First).repeating(Repeats::Refused)),
    both(
        "scatter.dimname_src(Tensor self, Dimname dim, Tensor index, Tensor src) -> Tensor",
        dimnames::not_yet,
        "Writes elements along a named dimension.",
    ),
    both(
        "scatter.value(Tensor self, int dim, Tensor index, Scalar value, *, Tensor? out=None) -> Tensor",
        |c| scatter(c, Scattered::Value(c.scalar(3)?), None),
        "Copies the tensor, with a value written along a dimension.",
    )
    .reads(Reads::Moved)
    .out(Out::PLAIN.sharing(Shares::First).repeating(Repeats::Refused)),
    both(
        "scatter.value_reduce(Tensor self, int dim, Tensor index, Scalar value, *, str reduce, Tensor? \
 out=None) -> Tensor",
        |c| scatter(c, Scattered::Value(c.scalar(3)?), Some(c.str(4)?)),
        "Copies the tensor, with a value added or multiplied in along a dimension.",
    )
    .out(Out::PLAIN.sharing(Shares::First).repeating(Repeats::Refused)),
    both(
        "scatter.dimname_value(Tensor self, Dimname dim, Tensor index, Scalar value) -> Tensor",
        dimnames::not_yet,
        "Writes a value along a named dimension.",
    ),
    both(
        "scatter_add(Tensor self, int dim, Tensor index, Tensor src, *, Tensor? out=None) -> Tensor",
        |c| changed(row_major(&c.view(0)?), |out| gather::scatter_add_(out, c.int(1)?, &c.view(2)?, &c.view(3)?)),
        "Copies the tensor, with elements added in along a dimension.",
    )
    .reads(Reads::Own(sums::scattered))
    .out(Out::PLAIN.sharing(Shares::First).repeating(Repeats::Refused)),
    both(
        "scatter_add.dimname(Tensor self, Dimname dim, Tensor index, Tensor src) -> Tensor",
        dimnames::not_yet,
        "Adds elements in along a named dimension.",
    ),
    both(
        "put(Tensor self, Tensor index, Tensor source, bool accumulate=False) -> Tensor",
        |c| {
            if !c.bool(3)? {
                deterministic::alert(c.state, "put_")?;
            }
            changed(clone(&c.view(0)?), |out| gather::put_(out, &c.view(1)?, &c.view(2)?, c.bool(3)?))
        },
        "Copies the tensor, with elements written as if it had one dimension.",
    )
    .reads(Reads::Moved),
    both(
        "index_add(Tensor self, int dim, Tensor index, Tensor source, *, Scalar alpha=1, Tensor? out=None) \
 -> Tensor",
        |c| {
            let (index, source, alpha) = (c.view(2)?, c.view(3)?, c.scalar(4)?);
            changed(row_major(&c.view(0)?), |out| gather::index_add_(out, c.int(1)?, &index, &source, alpha))
        },
        "Copies the tensor, with slices added to the given indices.",
    )
    .reads(Reads::Own(sums::indexed))
    .out(Out::PLAIN.sharing(Shares::First)),
    both(
        "index_add.dimname(Tensor self, Dimname dim, Tensor index, Tensor source, *, Scalar alpha=1) -> \
 Tensor",
        dimnames::not_yet,
        "Adds slices along a named dimension.",
    ),
    both(
        "index_copy(Tensor self, int dim, Tensor index, Tensor source, *, Tensor? out=None) -> Tensor",
        |c| changed(row_major(&c.view(0)?), |out| gather::index_copy_(out, c.int(1)?, &c.view(2)?, &c.view(3)?)),
        "Copies the tensor, with slices copied to the given indices.",
    )
    .reads(Reads::Moved)
    .out(Out::PLAIN.sharing(Shares::First)),
    both(
        "index_copy.dimname(Tensor self, Dimname dim, Tensor index, Tensor source) -> Tensor",
        dimnames::not_yet,
        "Copies slices along a named dimension.",
    ),
    both(
        "index_fill.int_Tensor(Tensor self, int dim, Tensor index, Tensor value) -> Tensor",
        |c| {
            let value = fill_value("index_fill_", &c.view(3)?)?;
            changed(clone(&c.view(0)?), |out| gather::index_fill_(out, c.int(1)?, &c.view(2)?, value))
        },
        "Copies the tensor, with the given indices filled.",
    )
    .reads(Reads::Moved)
    .names(Keeps)
    .by_name("Dimname_Tensor", dimnames::by_position),
    both(
        "index_fill.int_Scalar(Tensor self, int dim, Tensor index, Scalar value) -> Tensor",
        |c| {
            let value = c.scalar(3)?;
            changed(clone(&c.view(0)?), |out| gather::index_fill_(out, c.int(1)?, &c.view(2)?, value))
        },
        "Copies the tensor, with the given indices filled.",
    )
    .reads(Reads::Moved)
    .names(Keeps)
    .by_name("Dimname_Scalar", dimnames::by_position),
    both(
        "index_put_(Tensor(a!) self, Tensor[] indices, Tensor values, bool accumulate=False) -> Tensor(a!)",
        |c| {
            let view = c.view(0)?;
            warnings::expanded(c.state, Writer::IndexPut, &view);
            index_put(c, &view)?;
            Ok(c.itself())
        },
        "Writes at subscripts given as tensors.",
    )
    .reads(Reads::Moved),
    both(
        "index_put(Tensor self, Tensor[] indices, Tensor values, bool accumulate=False) -> Tensor",
        |c| changed(clone(&c.view(0)?), |out| index_put(c, out)),
        "Copies the tensor and writes to the copy at subscripts given as tensors.",
    )
    .reads(Reads::Moved),
];

/// Changes a copy in place and returns it.
fn changed(copy: Result<View>, change: impl FnOnce(&View) -> Result<()>) -> Result<Value> {
    let out = copy?;
    change(&out)?;
    Ok(out.into())
}

fn scatter(call: &Call, what: Scattered, how: Option<&str>) -> Result<Value> {
    warn_of_reduce(call, what, how);
    changed(row_major(&call.view(0)?), |out| gather::scatter_(out, call.int(1)?, &call.view(2)?, what, how))
}

/// Warns that `scatter` with a tensor and `reduce=` is superseded by `scatter_reduce`.
pub(super) fn warn_of_reduce(call: &Call, what: Scattered, how: Option<&str>) {
    if let (Scattered::Source(_), Some(_)) = (what, how) {
        call.state.warn_once(
            "UserWarning",
            "The reduce argument of torch.scatter with Tensor src is deprecated and will be removed in a future \
 PyTorch release. Use torch.scatter_reduce instead for more reduction options. (Triggered internally \
 at /pytorch/aten/src/ATen/native/TensorAdvancedIndexing.cpp:232.)",
        );
    }
}

fn scatter_reduce(call: &Call, out: &View) -> Result<()> {
    gather::scatter_reduce_(out, call.int(1)?, &call.view(2)?, &call.view(3)?, call.str(4)?, call.bool(5)?)
}

fn index_reduce(call: &Call, out: &View) -> Result<()> {
    gather::index_reduce_(out, call.int(1)?, &call.view(2)?, &call.view(3)?, call.str(4)?, call.bool(5)?)?;
    call.state.warn_once(
        "UserWarning",
        "index_reduce() is in beta and the API may change at any time. (Triggered internally at \
 /pytorch/aten/src/ATen/native/TensorAdvancedIndexing.cpp:1531.)",
    );
    Ok(())
}

fn index_put(call: &Call, out: &View) -> Result<()> {
    let indices: Vec<Option<View>> = call.views(1)?.into_iter().map(Some).collect();
    if indices.is_empty() {
        bail!(RuntimeError, "sym_strides() called on an undefined Tensor");
    }
    warnings::byte_masks(call.state, indices.iter().flatten());
    index::index_put_(out, &indices, &call.view(2)?, call.bool(3)?)
}
