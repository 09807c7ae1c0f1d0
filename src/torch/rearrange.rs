//! Functions that move elements: joining, repeating, gathering, sorting.
//! Follows <https://pytorch.org/docs/2.7/torch.html#indexing-slicing-joining-mutating-ops>.

use super::deterministic;
use super::dimnames;
use super::origin::{choices, sums};
use super::pointwise::Argument;
use super::sparse_kernels;
use call::dispatch::{call_below, name_inference};
use call::facets::{
    Dispatch::{OneScale, Own, Refused, RequantizedOneScale},
    NO_STRIDES,
    NameInference::{Each, Infers, Itself, Keeps},
    Out, Repeats, Shares, Takes,
};
use call::reads::{Reads, Span, Takes as Taken};
use call::warnings::{self, Writer};
use call::{Call, Row, both, function, method};
use tensor::bail;
use tensor::ops::gather::{self, Scattered};
use tensor::ops::rearrange::{self as ops, Triangle};
use tensor::ops::{join, mask, promote};
use tensor::{DType, Dims, Result, Scalar, View};
use value::Value;

/// The conditions on the `out` tensor of functions that join tensors.
const JOINED: Out = Out::PLAIN
    .sharing(Shares::Never)
    .takes(&[(Takes::Castable, "torch.cat(): input types can't be cast to the desired output type {out}")]);

pub(crate) const ROWS: &[Row] = &[
    both(
        "roll(Tensor self, int[1] shifts, int[1]? dims=[]) -> Tensor",
        |c| {
            let dims = if c.is_none(2) { Dims::new() } else { c.ints(2)? };
            ops::roll(&c.view(0)?, &c.ints(1)?, &dims).map(Value::from)
        },
        "Shifts the elements, wrapping around the ends.",
    )
    .reads(Reads::Moved)
    .quantized(Refused("roll")),
    both(
        "flip(Tensor self, int[] dims) -> Tensor",
        |c| ops::flip(&c.view(0)?, &c.ints(1)?).map(Value::from),
        "Reverses dimensions.",
    )
    .reads(Reads::Moved)
    .quantized(OneScale(NO_STRIDES)),
    both("fliplr(Tensor self) -> Tensor", |c| ops::fliplr(&c.view(0)?).map(Value::from), "Reverses the columns.")
        .reads(Reads::Moved)
        .operation("flip")
        .quantized(OneScale(NO_STRIDES)),
    both("flipud(Tensor self) -> Tensor", |c| ops::flipud(&c.view(0)?).map(Value::from), "Reverses the rows.")
        .reads(Reads::Moved)
        .operation("flip")
        .quantized(OneScale(NO_STRIDES)),
    both(
        "rot90(Tensor self, int k=1, int[] dims=[0,1]) -> Tensor",
        |c| ops::rot90(&c.view(0)?, c.int(1)?, &c.ints(2)?).map(Value::from),
        "Rotates by quarter turns.",
    )
    .reads(Reads::Moved)
    .quantized(OneScale(NO_STRIDES)),
    method(
        "repeat(Tensor self, int[] repeats) -> Tensor",
        |c| ops::repeat(&c.view(0)?, &c.ints(1)?).map(Value::from),
        "Repeats the tensor side by side along every dimension.",
    )
    .reads(Reads::Moved)
    .sparse(Own(sparse_kernels::expand))
    .quantized(OneScale(NO_STRIDES)),
    both(
        "tile(Tensor self, int[] dims) -> Tensor",
        |c| ops::tile(&c.view(0)?, &c.ints(1)?).map(Value::from),
        "Repeats the tensor side by side, by NumPy's rules.",
    )
    .reads(Reads::Moved)
    .operation("repeat"),
    both(
        "repeat_interleave.self_Tensor(Tensor self, Tensor repeats, int? dim=None, *, SymInt? output_size=None) \
 -> Tensor",
        |c| ops::repeat_interleave_counts(&c.view(0)?, &c.view(1)?, c.opt_int(2)?, c.opt_int(3)?).map(Value::from),
        "Repeats every element its own number of times.",
    )
    .reads(Reads::Moved)
    .operation("view"),
    function(
        "repeat_interleave.Tensor(Tensor repeats, *, SymInt? output_size=None) -> Tensor",
        |c| ops::repeated_positions(&c.view(0)?, c.opt_int(1)?).map(Value::from),
        "Repeats every position its own number of times.",
    )
    .not_differentiable(),
    both(
        "repeat_interleave.self_int(Tensor self, SymInt repeats, int? dim=None, *, SymInt? output_size=None) -> \
 Tensor",
        |c| ops::repeat_interleave(&c.view(0)?, c.int(1)?, c.opt_int(2)?, c.opt_int(3)?).map(Value::from),
        "Repeats every element.",
    )
    .reads(Reads::Moved)
    .operation("view"),
    both(
        "tril(Tensor self, int diagonal=0, *, Tensor? out=None) -> Tensor",
        |c| ops::triangle(&c.view(0)?, Triangle::Lower, c.int(1)?).map(Value::from),
        "Keeps the lower triangle.",
    )
    .reads(Reads::Moved)
    .out(Out::PLAIN.unguarded()),
    both(
        "triu(Tensor self, int diagonal=0, *, Tensor? out=None) -> Tensor",
        |c| ops::triangle(&c.view(0)?, Triangle::Upper, c.int(1)?).map(Value::from),
        "Keeps the upper triangle.",
    )
    .reads(Reads::Moved)
    .out(Out::PLAIN.unguarded()),
    both(
        "diag(Tensor self, int diagonal=0, *, Tensor? out=None) -> Tensor",
        |c| ops::diag(&c.view(0)?, c.int(1)?).map(Value::from),
        "Puts a vector on a diagonal, or returns the diagonal of a matrix.",
    )
    .reads(Reads::Moved)
    .operation("diagonal_copy")
    .grad_refused_by("aten::diag_embed"),
    both(
        "diag_embed(Tensor self, int offset=0, int dim1=-2, int dim2=-1) -> Tensor",
        |c| ops::diag_embed(&c.view(0)?, c.int(1)?, c.int(2)?, c.int(3)?).map(Value::from),
        "Puts vectors on the diagonals of matrices.",
    )
    .reads(Reads::Moved),
    both(
        "diagflat(Tensor self, int offset=0) -> Tensor",
        |c| ops::diagflat(&c.view(0)?, c.int(1)?).map(Value::from),
        "Puts all elements on a diagonal.",
    )
    .reads(Reads::Moved)
    .operation("view"),
    function(
        "cat(Tensor[] tensors, int dim=0, *, Tensor? out=None) -> Tensor",
        |c| join::cat(&c.views(0)?, c.int(1)?).map(Value::from),
        "Joins tensors along a dimension.",
    )
    .reads(Reads::Moved)
    .out(JOINED)
    .aliases(&["concat", "concatenate"])
    .names(Infers(name_inference::concatenated))
    .sparse(Own(sparse_kernels::cat))
    .quantized(OneScale("Only per-tensor quantization is supported in 'cat'!")),
    function(
        "cat.names(Tensor[] tensors, Dimname dim, *, Tensor? out=None) -> Tensor",
        dimnames::by_position,
        "Joins tensors along a named dimension.",
    )
    .out(JOINED)
    .aliases(&["concat", "concatenate"]),
    function(
        "stack(Tensor[] tensors, int dim=0, *, Tensor? out=None) -> Tensor",
        |c| join::stack(&c.views(0)?, c.int(1)?).map(Value::from),
        "Joins tensors along a new dimension.",
    )
    .reads(Reads::Moved)
    .out(JOINED)
    .sparse(Own(sparse_kernels::stack))
    .quantized(OneScale("Only per-tensor quantization is supported in 'cat'!")),
    function(
        "hstack(Tensor[] tensors, *, Tensor? out=None) -> Tensor",
        |c| join::hstack(&c.views(0)?).map(Value::from),
        "Joins tensors side by side.",
    )
    .reads(Reads::Moved)
    .out(JOINED)
    .grad_refused_by("cat")
    .names(Infers(name_inference::concatenated))
    .quantized(OneScale("Only per-tensor quantization is supported in 'cat'!")),
    function(
        "vstack(Tensor[] tensors, *, Tensor? out=None) -> Tensor",
        |c| join::vstack(&c.views(0)?).map(Value::from),
        "Stacks tensors on top of each other.",
    )
    .reads(Reads::Moved)
    .out(JOINED)
    .grad_refused_by("cat")
    .aliases(&["row_stack"])
    .names(Infers(name_inference::concatenated))
    .few_refused_as(2, "unsqueeze"),
    function(
        "dstack(Tensor[] tensors, *, Tensor? out=None) -> Tensor",
        |c| join::dstack(&c.views(0)?).map(Value::from),
        "Stacks tensors behind each other.",
    )
    .reads(Reads::Moved)
    .out(JOINED)
    .grad_refused_by("cat")
    .names(Infers(name_inference::concatenated))
    .out_refused_as("unsqueeze")
    .few_refused_as(3, "unsqueeze"),
    function(
        "column_stack(Tensor[] tensors, *, Tensor? out=None) -> Tensor",
        |c| join::column_stack(&c.views(0)?).map(Value::from),
        "Joins vectors as the columns of a matrix.",
    )
    .reads(Reads::Moved)
    .out(JOINED)
    .grad_refused_by("cat")
    .names(Infers(name_inference::concatenated))
    .few_refused_as(2, "view"),
    both(
        "index_select(Tensor self, int dim, Tensor index, *, Tensor? out=None) -> Tensor",
        |c| gather::index_select(&c.view(0)?, c.int(1)?, &c.view(2)?).map(Value::from),
        "Selects the given indices of a dimension.",
    )
    .reads(Reads::Moved)
    .out(
        Out::PLAIN
            .sharing(Shares::Never)
            .repeating(Repeats::Refused)
            .takes(&[(Takes::Same, "index_select(): self and result must have the same scalar type")]),
    )
    .sparse(Own(sparse_kernels::index_select))
    .quantized(OneScale("Only per_tensor quantized quantized tensors are supported by index_select."))
    .by_name("dimname", dimnames::not_yet),
    both(
        "gather(Tensor self, int dim, Tensor index, *, bool sparse_grad=False, Tensor? out=None) -> Tensor",
        |c| gather::gather(&c.view(0)?, c.int(1)?, &c.view(2)?).map(Value::from),
        "Picks elements along a dimension.",
    )
    .reads(Reads::Moved)
    .out(Out::PLAIN.sharing(Shares::Never))
    .by_name("dimname", dimnames::not_yet),
    both(
        "take(Tensor self, Tensor index, *, Tensor? out=None) -> Tensor",
        |c| gather::take(&c.view(0)?, &c.view(1)?).map(Value::from),
        "Picks elements as if the tensor had one dimension.",
    )
    .reads(Reads::Moved)
    .out(Out::PLAIN.sharing(Shares::Never).repeating(Repeats::Refused).takes(&[(
        Takes::Same,
        "take(): self and out expected to have the same dtype, but got self.dtype = {result} and out.dtype = {out}",
    )])),
    both(
        "take_along_dim(Tensor self, Tensor indices, int? dim=None, *, Tensor? out=None) -> Tensor",
        |c| gather::take_along_dim(&c.view(0)?, &c.view(1)?, c.opt_int(2)?).map(Value::from),
        "Picks elements along a dimension, with broadcasting.",
    )
    .reads(Reads::Moved)
    .out(Out::PLAIN.sharing(Shares::Never))
    .grad_refused_by("gather")
    .operation("view")
    .out_refused_as("view"),
    method(
        "scatter_.src(Tensor(a!) self, int dim, Tensor index, Tensor src) -> Tensor(a!)",
        |c| {
            let src = c.view(3)?;
            scatter(c, Scattered::Source(&src), None)
        },
        "Writes elements along a dimension, in place.",
    )
    .reads(Reads::Moved),
    method(
        "scatter_.reduce(Tensor(a!) self, int dim, Tensor index, Tensor src, *, str reduce) -> Tensor(a!)",
        |c| {
            let src = c.view(3)?;
            scatter(c, Scattered::Source(&src), Some(c.str(4)?))
        },
        "Adds or multiplies elements in along a dimension, in place.",
    ),
    method(
        "scatter_.value(Tensor(a!) self, int dim, Tensor index, Scalar value) -> Tensor(a!)",
        |c| {
            let value = c.scalar(3)?;
            scatter(c, Scattered::Value(value), None)
        },
        "Writes a value along a dimension, in place.",
    )
    .reads(Reads::Moved),
    method(
        "scatter_.value_reduce(Tensor(a!) self, int dim, Tensor index, Scalar value, *, str reduce) -> \
 Tensor(a!)",
        |c| {
            let value = c.scalar(3)?;
            scatter(c, Scattered::Value(value), Some(c.str(4)?))
        },
        "Adds or multiplies a value in along a dimension, in place.",
    ),
    method(
        "scatter_add_(Tensor(a!) self, int dim, Tensor index, Tensor src) -> Tensor(a!)",
        |c| {
            gather::scatter_add_(&c.view(0)?, c.int(1)?, &c.view(2)?, &c.view(3)?)?;
            Ok(c.itself())
        },
        "Adds elements in along a dimension, in place.",
    )
    .reads(Reads::Own(sums::scattered)),
    method(
        "put_(Tensor(a!) self, Tensor index, Tensor source, bool accumulate=False) -> Tensor(a!)",
        |c| {
            if !c.bool(3)? {
                deterministic::alert(c.state, "put_")?;
            }
            gather::put_(&c.view(0)?, &c.view(1)?, &c.view(2)?, c.bool(3)?)?;
            Ok(c.itself())
        },
        "Writes elements as if the tensor had one dimension.",
    )
    .reads(Reads::Moved),
    method(
        "index_add_(Tensor(a!) self, int dim, Tensor index, Tensor source, *, Scalar alpha=1) -> Tensor(a!)",
        |c| {
            let alpha = c.scalar(4)?;
            gather::index_add_(&c.view(0)?, c.int(1)?, &c.view(2)?, &c.view(3)?, alpha)?;
            Ok(c.itself())
        },
        "Adds slices to the given indices, in place.",
    )
    .reads(Reads::Own(sums::indexed)),
    method(
        "index_copy_(Tensor(a!) self, int dim, Tensor index, Tensor source) -> Tensor(a!)",
        |c| {
            gather::index_copy_(&c.view(0)?, c.int(1)?, &c.view(2)?, &c.view(3)?)?;
            Ok(c.itself())
        },
        "Copies slices to the given indices, in place.",
    )
    .reads(Reads::Moved)
    .by_name("dimname", dimnames::not_yet),
    method(
        "index_fill_.int_Tensor(Tensor(a!) self, int dim, Tensor index, Tensor value) -> Tensor(a!)",
        |c| {
            let value = mask::fill_value("index_fill_", &c.view(3)?)?;
            warnings::expanded(c.state, Writer::IndexFill, &c.view(0)?);
            gather::index_fill_(&c.view(0)?, c.int(1)?, &c.view(2)?, value)?;
            Ok(c.itself())
        },
        "Fills the given indices, in place.",
    )
    .reads(Reads::Moved)
    .names(Keeps)
    .by_name("Dimname_Tensor", dimnames::by_position),
    method(
        "index_fill_.int_Scalar(Tensor(a!) self, int dim, Tensor index, Scalar value) -> Tensor(a!)",
        |c| {
            let value = c.scalar(3)?;
            warnings::expanded(c.state, Writer::IndexFill, &c.view(0)?);
            gather::index_fill_(&c.view(0)?, c.int(1)?, &c.view(2)?, value)?;
            Ok(c.itself())
        },
        "Fills the given indices, in place.",
    )
    .reads(Reads::Moved)
    .names(Keeps)
    .by_name("Dimname_Scalar", dimnames::by_position),
    method(
        "masked_fill_.Tensor(Tensor(a!) self, Tensor mask, Tensor value) -> Tensor(a!)",
        |c| {
            let value = mask::fill_value("masked_fill_", &c.view(2)?)?;
            warnings::expanded(c.state, Writer::MaskedFill, &c.view(0)?);
            mask::masked_fill_(&c.view(0)?, &c.view(1)?, value)?;
            Ok(c.itself())
        },
        "Fills the tensor where the mask is true.",
    )
    .reads(Reads::Own(choices::filled))
    .names(Infers(name_inference::masked)),
    method(
        "masked_fill_.Scalar(Tensor(a!) self, Tensor mask, Scalar value) -> Tensor(a!)",
        |c| {
            let value = c.scalar(2)?;
            warnings::expanded(c.state, Writer::MaskedFill, &c.view(0)?);
            mask::masked_fill_(&c.view(0)?, &c.view(1)?, value)?;
            Ok(c.itself())
        },
        "Fills the tensor where the mask is true.",
    )
    .reads(Reads::Own(choices::filled))
    .names(Infers(name_inference::masked)),
    both(
        "masked_fill.Tensor(Tensor self, Tensor mask, Tensor value) -> Tensor",
        |c| {
            let value = mask::fill_value("masked_fill_", &c.view(2)?)?;
            mask::masked_fill(&c.view(0)?, &c.view(1)?, value).map(Value::from)
        },
        "Copies the tensor, filled where the mask is true.",
    )
    .reads(Reads::Own(choices::filled))
    .names(Infers(name_inference::masked)),
    both(
        "masked_fill.Scalar(Tensor self, Tensor mask, Scalar value) -> Tensor",
        |c| {
            let value = c.scalar(2)?;
            mask::masked_fill(&c.view(0)?, &c.view(1)?, value).map(Value::from)
        },
        "Copies the tensor, filled where the mask is true.",
    )
    .reads(Reads::Own(choices::filled))
    .names(Infers(name_inference::masked))
    .quantized(RequantizedOneScale(
        "masked_fill__quantized_cpu for quantized tensors is currently only supported for per tensor quantized tensors",
    )),
    both(
        "masked_select(Tensor self, Tensor mask, *, Tensor? out=None) -> Tensor",
        |c| mask::masked_select(&c.view(0)?, &c.view(1)?).map(Value::from),
        "Selects the elements where the mask is true.",
    )
    .reads(Reads::Moved)
    .out(
        Out::PLAIN
            .sharing(Shares::Never)
            .repeating(Repeats::Refused)
            .takes(&[(Takes::Same, "masked_select(): self and result must have the same scalar type")]),
    )
    .names(Infers(name_inference::selected))
    .quantized(Refused("masked_select")),
    method(
        "masked_scatter_(Tensor(a!) self, Tensor mask, Tensor source) -> Tensor(a!)",
        |c| {
            mask::masked_scatter_(&c.view(0)?, &c.view(1)?, &c.view(2)?)?;
            Ok(c.itself())
        },
        "Writes elements of another tensor where the mask is true.",
    )
    .reads(Reads::Moved),
    both(
        "masked_scatter(Tensor self, Tensor mask, Tensor source) -> Tensor",
        |c| mask::masked_scatter(&c.view(0)?, &c.view(1)?, &c.view(2)?).map(Value::from),
        "Copies the tensor, with another tensor's elements where the mask is true.",
    )
    .reads(Reads::Moved),
    method(
        "nonzero(Tensor self) -> Tensor",
        |c| mask::nonzero(&c.view(0)?).map(Value::from),
        "Returns the indices of nonzero elements.",
    )
    .reads(Reads::Spanned(Span::All, Taken::None))
    .not_differentiable(),
    method(
        "nonzero.as_tuple(Tensor self, *, bool as_tuple) -> any",
        nonzero,
        "Returns the indices of nonzero elements.",
    )
    .operation("nonzero")
    .not_differentiable(),
    function(
        "nonzero(Tensor self, *, bool as_tuple=False, Tensor? out=None) -> any",
        nonzero,
        "Returns the indices of nonzero elements.",
    )
    .reads(Reads::Spanned(Span::All, Taken::None))
    .out(
        Out::PLAIN
            .sharing(Shares::Never)
            .repeating(Repeats::Refused)
            .takes(&[(Takes::Same, "nonzero: Expected out tensor to have scalar type Long but got scalar type{out}")]),
    )
    .not_differentiable(),
    both(
        "argwhere(Tensor self) -> Tensor",
        |c| mask::nonzero(&c.view(0)?).map(Value::from),
        "Returns the indices of nonzero elements.",
    )
    .reads(Reads::Spanned(Span::All, Taken::None))
    .operation("nonzero")
    .not_differentiable(),
    function(
        "where(Tensor condition) -> any",
        |c| Ok(Value::tuple(mask::nonzero_columns(&c.view(0)?)?.into_iter().map(Value::from))),
        "Returns the indices of nonzero elements, a tensor for every dimension.",
    )
    .reads(Reads::Own(choices::by_condition))
    .operation("nonzero")
    .not_differentiable(),
    function(
        "where.self(Tensor condition, Tensor self, Tensor other, *, Tensor? out=None) -> Tensor",
        |c| {
            let condition = c.view(0)?;
            choose(c, &condition, 1, 2)
        },
        "Chooses elements of one tensor or number, or the other.",
    )
    .reads(Reads::Own(choices::by_condition))
    .aliases(&[
        "where.ScalarSelf(Tensor condition, Scalar self, Tensor other) -> Tensor",
        "where.ScalarOther(Tensor condition, Tensor self, Scalar other) -> Tensor",
        "where.Scalar(Tensor condition, Scalar self, Scalar other) -> Tensor",
    ])
    .out(Out::ELEMENTWISE.takes(&[(Takes::Same, "Expected out type to be {result} but got {out}")])),
    method(
        "where.method(Tensor self, Tensor condition, Operand other) -> Tensor",
        |c| {
            let condition = c.view(1)?;
            choose(c, &condition, 0, 2)
        },
        "Replaces elements with the other's where the condition is false.",
    )
    .operation("where.self"),
    method(
        "where.scalar_method(Tensor self, Tensor condition, Scalar other) -> Tensor",
        |c| {
            let condition = c.view(1)?;
            choose(c, &condition, 0, 2)
        },
        "Replaces elements with a number where the condition is false.",
    )
    .operation("where.self"),
    function(
        "atleast_1d.tensors(any[] tensors) -> any",
        |c| at_least(c, "atleast_1d"),
        "Gives each tensor at least one dimension.",
    )
    .python("atleast_1d")
    .names(Itself)
    .any_layout()
    .recorded_in_steps(),
    function(
        "_VF.atleast_1d(Tensor self) -> Tensor",
        |c| join::atleast_1d(&c.view(0)?).and_then(|v| c.view_of(0, v)),
        "Gives the tensor at least one dimension.",
    )
    .names(Keeps),
    function(
        "_VF.atleast_1d.Sequence(Tensor[] tensors) -> any",
        |c| each_at_least(c, "atleast_1d"),
        "Gives each tensor at least one dimension.",
    )
    .names(Each)
    .recorded_in_steps(),
    function(
        "atleast_2d.tensors(any[] tensors) -> any",
        |c| at_least(c, "atleast_2d"),
        "Gives each tensor at least two dimensions.",
    )
    .python("atleast_2d")
    .names(Itself)
    .any_layout()
    .recorded_in_steps(),
    function(
        "_VF.atleast_2d(Tensor self) -> Tensor",
        |c| join::atleast_2d(&c.view(0)?).and_then(|v| c.view_of(0, v)),
        "Gives the tensor at least two dimensions.",
    )
    .names(Keeps)
    .few_refused_as(2, "unsqueeze"),
    function(
        "_VF.atleast_2d.Sequence(Tensor[] tensors) -> any",
        |c| each_at_least(c, "atleast_2d"),
        "Gives each tensor at least two dimensions.",
    )
    .names(Each)
    .few_refused_as(2, "unsqueeze")
    .recorded_in_steps(),
    function(
        "atleast_3d.tensors(any[] tensors) -> any",
        |c| at_least(c, "atleast_3d"),
        "Gives each tensor at least three dimensions.",
    )
    .python("atleast_3d")
    .names(Itself)
    .any_layout()
    .recorded_in_steps(),
    function(
        "_VF.atleast_3d(Tensor self) -> Tensor",
        |c| join::atleast_3d(&c.view(0)?).and_then(|v| c.view_of(0, v)),
        "Gives the tensor at least three dimensions.",
    )
    .names(Keeps)
    .few_refused_as(3, "unsqueeze"),
    function(
        "_VF.atleast_3d.Sequence(Tensor[] tensors) -> any",
        |c| each_at_least(c, "atleast_3d"),
        "Gives each tensor at least three dimensions.",
    )
    .names(Each)
    .few_refused_as(3, "unsqueeze")
    .recorded_in_steps(),
];

/// Calls a function with the only item of a one-item list, or with the whole list.
fn at_least(call: &mut Call, name: &str) -> Result<Value> {
    let tensors = call.value(0);
    let given = match tensors.sequence().as_deref() {
        Some([only]) => only.clone(),
        _ => tensors,
    };
    call_below(call.state, name, &[given])
}

fn each_at_least(call: &mut Call, name: &str) -> Result<Value> {
    let (steps, tensors) = (super::Steps::of(call), call.value(0).sequence().unwrap_or_default());
    tensors.into_iter().map(|tensor| steps.torch(name, &[tensor])).collect::<Result<Vec<Value>>>().map(Value::tuple)
}

fn nonzero(call: &mut Call) -> Result<Value> {
    let by_column = call.bool(1)?;
    if by_column {
        if call.position("out").is_some_and(|index| !call.is_none(index)) {
            bail!(RuntimeError, "nonzero does not support the out kwarg when as_tuple is True");
        }
        Ok(Value::tuple(mask::nonzero_columns(&call.view(0)?)?.into_iter().map(Value::from)))
    } else {
        mask::nonzero(&call.view(0)?).map(Value::from)
    }
}

fn scatter(call: &Call, what: Scattered, how: Option<&str>) -> Result<Value> {
    super::scatter::warn_of_reduce(call, what, how);
    gather::scatter_(&call.view(0)?, call.int(1)?, &call.view(2)?, what, how)?;
    Ok(call.itself())
}

/// `where`: promotes the operands like an addition does.
fn choose(call: &Call, condition: &View, x: usize, y: usize) -> Result<Value> {
    let (x, y) = (Argument::of(call, x)?, Argument::of(call, y)?);
    let default = call.state.default_dtype.get();
    let wide =
        |argument: &Argument| matches!(argument, Argument::Number(Scalar::UInt(u)) if i64::try_from(*u).is_err());
    let whole = |argument: &Argument| match argument {
        Argument::Number(number) => matches!(number, Scalar::Int(_) | Scalar::UInt(_) | Scalar::Bool(_)),
        Argument::Tensor(view) => view.dtype.is_integral(true),
    };
    // A number beyond int64 is a tensor of dtype uint64 here.
    if (wide(&x) || wide(&y)) && whole(&x) && whole(&y) {
        let dtype_of = |argument: &Argument| match argument {
            Argument::Tensor(view) => view.dtype,
            number if wide(number) => DType::UInt64,
            Argument::Number(Scalar::Bool(_)) => DType::Bool,
            Argument::Number(_) => DType::Long,
        };
        let dtype = tensor::promote_types(dtype_of(&x), dtype_of(&y))?;
        bail!(RuntimeError, "\"where_cpu\" not implemented for '{}'", dtype.scalar_type());
    }
    let dtype = promote::result_type(&[x.operand(), y.operand()], default)?;
    // Copies, for a warning may run code of a script.
    let tensor = |argument: Argument| match argument {
        Argument::Tensor(view) => Ok(View::clone(&view)),
        Argument::Number(number) => View::scalar(number, dtype),
    };
    let (x, y) = (tensor(x)?, tensor(y)?);
    warnings::byte_condition(call.state, condition);
    mask::where_(condition, &x, &y, dtype).map(Value::from)
}
