//! View operations. Follows <https://pytorch.org/docs/2.7/tensor_view.html>.

use super::{dimnames, quantized, sparse_kernels};
use call::dispatch::name_inference;
use call::facets::{
    Dispatch::{AsIs, Given, Integers, Missing, Own, Refused, Uniform},
    NameInference::{Each, Infers, InfersAfter, Itself, Keeps, Nameless},
};
use call::{Call, Row, attribute, both, function, method, setter, warnings};
use objects::indexing::assign_part;
use objects::operators;
use tensor::bail;
use tensor::layout::broadcast_sizes;
use tensor::ops::{copy, view as ops};
use tensor::{Dims, Error, Layout, Result, Tensor, View};
use value::{MemoryFormat, Value, equality, sizes_of};

pub(crate) const ROWS: &[Row] = &[
    method(
        "view.dtype(Tensor(a) self, ScalarType dtype) -> Tensor(a)",
        |c| {
            let tensor = c.tensor(0)?;
            let view = tensor.borrow().view_dtype(c.opt_dtype(1).unwrap_or(tensor.borrow().dtype))?;
            Ok(Value::Tensor(tensor.detach_as(view)))
        },
        "Reads the same bytes as another dtype.",
    )
    .sparse(Own(sparse_kernels::no_storage))
    .not_differentiable()
    .quantized(Missing),
    method(
        "view(Tensor(a) self, int[] size) -> Tensor(a)",
        view,
        "Views the same elements under another shape, without a copy.",
    ),
    method(
        "view_as(Tensor(a) self, Tensor other) -> Tensor(a)",
        |c| {
            let sizes = Dims::from_slice(c.tensor(1)?.borrow().sizes());
            let layout = c.tensor(0)?.borrow().layout.view(&sizes)?;
            same_view(c, layout)
        },
        "Views the tensor with the shape of another.",
    )
    .operation("view"),
    both(
        "reshape(Tensor(a) self, int[] shape) -> Tensor(a)",
        |c| {
            let v = ops::reshape(&c.view(0)?, &c.ints(1)?)?;
            view_or_copy(c, v)
        },
        "Reshapes to another shape, as a view where possible, else as a copy.",
    )
    .operation("view")
    .sparse(Own(sparse_kernels::reshape)),
    method(
        "reshape_as(Tensor(a) self, Tensor other) -> Tensor(a)",
        |c| {
            let sizes = Dims::from_slice(c.tensor(1)?.borrow().sizes());
            let v = ops::reshape(&c.view(0)?, &sizes)?;
            view_or_copy(c, v)
        },
        "Reshapes to the shape of another tensor, as a view where possible.",
    )
    .operation("view"),
    both("transpose.int(Tensor(a) self, int dim0, int dim1) -> Tensor(a)", transpose, "Swaps two dimensions.")
        .names(Infers(name_inference::transposed))
        .sparse(Own(sparse_kernels::transpose))
        .by_name("Dimname", dimnames::by_position)
        .copied("Copies the tensor with two dimensions swapped.")
        .aliases(&[
            "swapdims(Tensor(a) self, int dim0, int dim1) -> Tensor(a)",
            "swapaxes(Tensor(a) self, int axis0, int axis1) -> Tensor(a)",
        ])
        .in_place("transpose_", "Swaps two dimensions in place.", Own(sparse_kernels::transpose_in_place)),
    both(
        "t(Tensor(a) self) -> Tensor(a)",
        |c| {
            let v = ops::t(&c.view(0)?)?;
            c.view_of(0, v)
        },
        "Transposes a matrix.",
    )
    .names(Infers(name_inference::transposed))
    .sparse(Own(sparse_kernels::t))
    .copied("Copies the transpose."),
    both(
        "permute(Tensor(a) self, int[] dims) -> Tensor(a)",
        |c| {
            let layout = c.tensor(0)?.borrow().layout.permute(&c.ints(1)?)?;
            same_view(c, layout)
        },
        "Reorders the dimensions.",
    )
    .sparse(Own(sparse_kernels::permute))
    .copied("Copies the tensor with its dimensions in another order."),
    both(
        "movedim.int(Tensor(a) self, int source, int destination) -> Tensor(a)",
        |c| movedim(c, &[c.int(1)?], &[c.int(2)?]),
        "Moves one dimension to another position.",
    )
    .aliases(&["moveaxis"])
    .operation("permute"),
    both(
        "movedim.intlist(Tensor(a) self, int[] source, int[] destination) -> Tensor(a)",
        |c| movedim(c, &c.ints(1)?, &c.ints(2)?),
        "Moves dimensions to other positions.",
    )
    .aliases(&["moveaxis"])
    .operation("permute"),
    both(
        "unsqueeze(Tensor(a) self, int dim) -> Tensor(a)",
        |c| {
            let layout = c.tensor(0)?.borrow().layout.unsqueeze(c.int(1)?)?;
            same_view(c, layout)
        },
        "Inserts a dimension of size 1.",
    )
    .sparse(Own(sparse_kernels::unsqueeze))
    .copied("Copies the tensor with a dimension of size 1 inserted.")
    .in_place("unsqueeze_", "Inserts a dimension of size 1 in place.", Refused("as_strided_")),
    method(
        "squeeze_.dimname(Tensor(a!) self, Dimname dim) -> Tensor(a!)",
        dimnames::not_yet,
        "Removes one dimension in place if its size is 1.",
    ),
    method(
        "t_(Tensor(a!) self) -> Tensor(a!)",
        |c| {
            let view = c.view(0)?;
            if view.ndim() > 2 {
                bail!(RuntimeError, "t_() expects a tensor with <= 2 dimensions, but self is {}D", view.ndim());
            }
            c.tensor(0)?.set_view(ops::t(&view)?);
            Ok(c.itself())
        },
        "Transposes a matrix in place.",
    )
    .sparse(Own(sparse_kernels::t_in_place))
    .quantized(Uniform),
    both(
        "squeeze(Tensor(a) self) -> Tensor(a)",
        |c| {
            let layout = c.tensor(0)?.borrow().layout.squeeze(|_| true);
            same_view(c, layout)
        },
        "Removes all dimensions of size 1.",
    )
    .names(Infers(name_inference::squeezed))
    .sparse(Refused("as_strided"))
    .copied("Copies the tensor without its dimensions of size 1.")
    .in_place("squeeze_", "Removes all dimensions of size 1 in place.", Refused("as_strided_")),
    both(
        "squeeze.dim(Tensor(a) self, int dim) -> Tensor(a)",
        |c| {
            let d = c.int(1)?;
            let v = ops::squeeze(&c.view(0)?, Some(&[d]))?;
            c.view_of(0, v)
        },
        "Removes one dimension if its size is 1.",
    )
    .names(Infers(name_inference::squeezed))
    .sparse(Refused("as_strided"))
    .by_name("dimname", dimnames::by_position)
    .copied("Copies the tensor without one dimension, if its size is 1.")
    .in_place("squeeze_.dim", "Removes one dimension in place if its size is 1.", Refused("as_strided_")),
    both(
        "squeeze.dims(Tensor(a) self, int[] dim) -> Tensor(a)",
        |c| {
            let v = ops::squeeze(&c.view(0)?, Some(&c.ints(1)?))?;
            c.view_of(0, v)
        },
        "Removes the given dimensions where their size is 1.",
    )
    .copied("Copies the tensor without the given dimensions, where their size is 1.")
    .in_place(
        "squeeze_.dims",
        "Removes the given dimensions in place where their size is 1.",
        Refused("as_strided_"),
    ),
    both(
        "flatten.named_out_dim(Tensor(a) self, int start_dim, int end_dim, Dimname out_dim) -> Tensor(a)",
        dimnames::flatten_named,
        "Merges a range of dimensions into a named one.",
    ),
    both(
        "flatten.using_ints(Tensor(a) self, int start_dim=0, int end_dim=-1) -> Tensor(a)",
        |c| {
            let v = ops::flatten(&c.view(0)?, c.int(1)?, c.int(2)?)?;
            view_or_copy(c, v)
        },
        "Merges a range of dimensions into one.",
    )
    .names(Infers(name_inference::flattened))
    .sparse(Own(sparse_kernels::reshape)),
    both(
        "flatten.using_names(Tensor(a) self, Dimname start_dim, Dimname end_dim, Dimname out_dim) -> \
 Tensor(a)",
        dimnames::flatten_between,
        "Merges a range of named dimensions into one.",
    ),
    both(
        "flatten.DimnameList(Tensor(a) self, Dimname[] dims, Dimname out_dim) -> Tensor(a)",
        dimnames::flatten_list,
        "Merges named dimensions into one.",
    ),
    both(
        "ravel(Tensor(a) self) -> Tensor(a)",
        |c| {
            let v = ops::ravel(&c.view(0)?)?;
            view_or_copy(c, v)
        },
        "Merges all dimensions into one.",
    )
    .operation("view"),
    function(
        "unflatten.Dimname(Tensor(a) self, Dimname dim, int[] sizes, Dimname[] names) -> Tensor(a)",
        dimnames::unflatten,
        "Splits one named dimension into several.",
    ),
    function("unflatten.int(Tensor(a) self, int dim, int[] sizes) -> Tensor(a)", unflatten, UNFLATTEN).names(Itself),
    // PyTorch implements the method `unflatten` in Python, on top of these functions.
    method(
        "_VF.unflatten.Dimname(Tensor(a) self, Dimname dim, int[] sizes, Dimname[] names) -> Tensor(a)",
        dimnames::unflatten,
        "Splits one named dimension into several.",
    ),
    method("_VF.unflatten.int(Tensor(a) self, int dim, int[] sizes) -> Tensor(a)", unflatten, UNFLATTEN).names(Itself),
    method("unflatten(Tensor self, any dim, any sizes) -> any", unflatten_by_sizes, UNFLATTEN)
        .names(Itself)
        .python("Tensor.unflatten")
        .not_differentiable(),
    method(
        "expand(Tensor(a) self, int[] size, *, bool implicit=False) -> Tensor(a)",
        |c| expand(c, c.ints(1)?),
        "Repeats dimensions of size 1 without copying.",
    )
    .names(InfersAfter(name_inference::expanded))
    .sparse(Own(sparse_kernels::expand))
    .copied("Repeats dimensions of size 1 in a copy."),
    method(
        "expand_as(Tensor(a) self, Tensor other) -> Tensor(a)",
        |c| expand(c, Dims::from_slice(c.tensor(1)?.borrow().sizes())),
        "Expands the tensor to the size of another.",
    )
    .names(InfersAfter(name_inference::expanded)),
    function(
        "broadcast_tensors(any[] tensors) -> any",
        broadcast_tensors,
        "Expands tensors to the size they broadcast to.",
    )
    .names(Each)
    .python("broadcast_tensors")
    .not_differentiable(),
    function(
        "broadcast_shapes(any[] shapes) -> Size",
        broadcast_shapes,
        "Returns the size that tensors of these sizes broadcast to.",
    )
    .python("broadcast_shapes"),
    method(
        "dim_order(Tensor self, *, any ambiguity_check=False) -> any",
        dim_order,
        "Returns the dimensions as they lie in memory, slowest first.",
    )
    .names(Nameless)
    .python("Tensor.dim_order")
    .not_differentiable(),
    both(
        "broadcast_to(Tensor(a) self, int[] size) -> Tensor(a)",
        |c| expand(c, c.ints(1)?),
        "Expands the tensor by the rules of broadcasting.",
    )
    .names(InfersAfter(name_inference::expanded))
    .sparse(Own(sparse_kernels::expand)),
    both(
        "narrow.Tensor(Tensor(a) self, int dim, Tensor start, SymInt length) -> Tensor(a)",
        |c| {
            let start = c.view(2)?;
            if start.ndim() != 0 || !start.dtype.is_integral(false) {
                bail!(RuntimeError, "start must be an 0-dim integral Tensor.");
            }
            let start = start.item()?.to_i64();
            let v = ops::narrow(&c.view(0)?, c.int(1)?, start, c.int(3)?)?;
            c.view_of(0, v)
        },
        "Selects a run of indices from a start given as a tensor.",
    )
    .names(Keeps),
    both(
        "narrow(Tensor(a) self, int dim, SymInt start, SymInt length) -> Tensor(a)",
        |c| {
            let v = ops::narrow(&c.view(0)?, c.int(1)?, c.int(2)?, c.int(3)?)?;
            c.view_of(0, v)
        },
        "Selects a run of indices of one dimension.",
    )
    .names(Keeps)
    .sparse(Refused("as_strided")),
    both(
        "select.int(Tensor(a) self, int dim, SymInt index) -> Tensor(a)",
        |c| {
            let v = ops::select(&c.view(0)?, c.int(1)?, c.int(2)?)?;
            c.view_of(0, v)
        },
        "Selects one index of one dimension.",
    )
    .names(Infers(name_inference::selected_at))
    .sparse(Own(sparse_kernels::select))
    .quantized(Own(quantized::select))
    .by_name("Dimname", dimnames::by_position)
    .copied("Copies one index of one dimension."),
    function(
        "linalg.diagonal(Tensor(a) A, *, int offset=0, int dim1=-2, int dim2=-1) -> Tensor(a)",
        |c| {
            let layout = c.tensor(0)?.borrow().layout.diagonal(c.int(1)?, c.int(2)?, c.int(3)?)?;
            same_view(c, layout)
        },
        "Returns the diagonal of a matrix, or of each of a batch.",
    )
    .operation("diagonal"),
    both(
        "diagonal.Dimname(Tensor(a) self, *, Dimname outdim, Dimname dim1, Dimname dim2, int offset=0) -> \
 Tensor(a)",
        dimnames::diagonal,
        "Returns a diagonal of named dimensions.",
    ),
    both(
        "diagonal(Tensor(a) self, int offset=0, int dim1=0, int dim2=1) -> Tensor(a)",
        |c| {
            let layout = c.tensor(0)?.borrow().layout.diagonal(c.int(1)?, c.int(2)?, c.int(3)?)?;
            same_view(c, layout)
        },
        "Returns a diagonal as the last dimension.",
    )
    .names(InfersAfter(name_inference::diagonal))
    .sparse(Refused("as_strided"))
    .copied("Copies a diagonal."),
    method(
        "unfold(Tensor(a) self, int dimension, int size, int step) -> Tensor(a)",
        |c| {
            let v = ops::unfold(&c.view(0)?, c.int(1)?, c.int(2)?, c.int(3)?)?;
            c.view_of(0, v)
        },
        "Returns sliding windows along one dimension.",
    )
    .sparse(Refused("as_strided"))
    .copied("Copies sliding windows along one dimension."),
    both(
        "as_strided(Tensor(a) self, int[] size, int[] stride, SymInt? storage_offset=None) -> Tensor(a)",
        |c| {
            let v = ops::as_strided(&c.view(0)?, &c.ints(1)?, &c.ints(2)?, c.opt_int(3)?)?;
            c.view_of(0, v)
        },
        "Views any window of the storage, by size, stride and offset.",
    )
    .names(Nameless)
    .sparse(Refused("as_strided"))
    .copied("Copies any window of the storage.")
    .in_place("as_strided_", "Makes the tensor show any window of its storage, in place.", Refused("as_strided_")),
    both(
        "adjoint(Tensor(a) self) -> Tensor(a)",
        |c| {
            warnings::transposed_number(c.state, "adjoint()", &c.view(0)?);
            let v = ops::adjoint(&c.view(0)?, "adjoint()")?;
            c.view_of(0, v)
        },
        "Returns the conjugate transpose of the last two dimensions.",
    )
    .names(Infers(name_inference::transposed))
    .complex_refused_as("_conj"),
    attribute(
        "T(Tensor(a) self) -> Tensor(a)",
        |c| {
            warnings::reversed(c.state, &c.view(0)?);
            let v = ops::numpy_t(&c.view(0)?);
            c.view_of(0, v)
        },
        "The tensor with its dimensions reversed.",
    )
    .operation("permute")
    .out_refused_as("permute")
    .sparse(Own(sparse_kernels::reversed)),
    attribute(
        "mT(Tensor(a) self) -> Tensor(a)",
        |c| {
            warnings::transposed_number(c.state, "mT", &c.view(0)?);
            let v = ops::matrix_t(&c.view(0)?)?;
            c.view_of(0, v)
        },
        "The tensor with its last two dimensions swapped.",
    )
    .names(Infers(name_inference::transposed)),
    attribute(
        "H(Tensor(a) self) -> Tensor(a)",
        |c| {
            warnings::transposed_number(c.state, "H", &c.view(0)?);
            let v = ops::matrix_h(&c.view(0)?)?;
            c.view_of(0, v)
        },
        "The conjugate transpose of a matrix.",
    )
    .names(Infers(name_inference::transposed))
    .complex_refused_as("_conj"),
    attribute(
        "mH(Tensor(a) self) -> Tensor(a)",
        |c| {
            warnings::transposed_number(c.state, "mH", &c.view(0)?);
            let v = ops::adjoint(&c.view(0)?, "mH")?;
            c.view_of(0, v)
        },
        "The conjugate transpose of the last two dimensions.",
    )
    .names(Infers(name_inference::transposed))
    .complex_refused_as("_conj"),
    attribute("real(Tensor(a) self) -> Tensor(a)", real, "The real part, as a view.")
        .names(Keeps)
        .complex_refused_as("view_as_real")
        .quantized(AsIs),
    attribute("imag(Tensor(a) self) -> Tensor(a)", imag, "The imaginary part, as a view.")
        .sparse(Own(imag))
        .quantized(AsIs),
    setter("real(Tensor self, any real) -> None", |c| set_part(c, "real"), "Writes the real part."),
    setter("imag(Tensor self, any imag) -> None", |c| set_part(c, "imag"), "Writes the imaginary part."),
    function("real(Tensor(a) self) -> Tensor(a)", real, "Returns the real part as a view.")
        .names(Keeps)
        .complex_refused_as("view_as_real")
        .quantized(AsIs),
    function("imag(Tensor(a) self) -> Tensor(a)", imag, "Returns the imaginary part as a view.")
        .sparse(Own(imag))
        .quantized(AsIs),
    function(
        "view_as_real(Tensor(a) self) -> Tensor(a)",
        |c| {
            let v = ops::view_as_real(&c.view(0)?)?;
            c.view_of(0, v)
        },
        "Views a complex tensor as pairs of real numbers.",
    )
    .copied("Copies a complex tensor as pairs of real numbers.")
    .quantized(Refused("view_as_real")),
    function(
        "view_as_complex(Tensor(a) self) -> Tensor(a)",
        |c| {
            let v = ops::view_as_complex(&c.view(0)?)?;
            c.view_of(0, v)
        },
        "Views pairs of real numbers as a complex tensor.",
    )
    .copied("Copies pairs of real numbers as a complex tensor.")
    .quantized(Refused("view_as_complex")),
    both(
        "conj(Tensor(a) self) -> Tensor(a)",
        |c| {
            let view = c.view(0)?;
            if view.dtype.is_complex() { c.view_of(0, View { conj: !view.conj, ..view }) } else { Ok(c.itself()) }
        },
        "Returns the complex conjugate, computed when it is read.",
    )
    .aliases(&["_conj"])
    .names(Keeps)
    .complex_refused_as("_conj")
    .sparse(Given)
    .quantized(AsIs),
    both(
        "resolve_conj(Tensor(a) self) -> Tensor(a)",
        |c| {
            let v = c.view(0)?;
            if v.conj { copy::resolve_conj(&v).map(Value::from) } else { Ok(c.itself()) }
        },
        "Returns the tensor with its conjugate bit carried out.",
    )
    .names(Keeps)
    .sparse(Given)
    .quantized(Integers)
    .derivative_of("clone"),
    both(
        "resolve_neg(Tensor(a) self) -> Tensor(a)",
        |c| {
            let v = c.view(0)?;
            if v.neg { copy::resolve_neg(&v).map(Value::from) } else { Ok(c.itself()) }
        },
        "Returns the tensor with its negative bit carried out.",
    )
    .names(Keeps)
    .sparse(Given)
    .quantized(Integers)
    .derivative_of("clone"),
    both(
        "detach(Tensor(a) self) -> Tensor(a)",
        |c| Ok(Value::Tensor(c.tensor(0)?.detach())),
        "Returns the same elements outside the gradient graph.",
    )
    .names(Keeps)
    .any_layout()
    .not_differentiable()
    .copied("Copies the tensor outside the gradient graph."),
    method(
        "contiguous(Tensor(a) self, *, MemoryFormat memory_format=torch.contiguous_format) -> Tensor(a)",
        contiguous,
        "Returns the tensor itself if contiguous, else a contiguous copy.",
    )
    .names(Keeps)
    .sparse(Own(sparse_kernels::contiguous))
    .quantized(Integers)
    .derivative_of("clone"),
    both(
        "alias(Tensor(a) self) -> Tensor(a)",
        |c| {
            let v = c.view(0)?;
            c.view_of(0, v)
        },
        "Returns a view of all elements.",
    )
    .names(Keeps)
    .copied("Copies all elements."),
];

const UNFLATTEN: &str = "Splits one dimension into several.";

fn unflatten(call: &mut Call) -> Result<Value> {
    tensor::layout::wrap_dim(call.int(1)?, call.tensor(0)?.borrow().ndim())?;
    if call.tensor(0)?.has_names() && !call.state.nameless.get() {
        bail!(RuntimeError, "unflatten: input is a named tensor but no names were given for unflattened sizes");
    }
    let view = ops::unflatten(&call.view(0)?, call.int(1)?, &call.ints(2)?)?;
    call.view_of(0, view)
}

/// `x.unflatten(dim, sizes)`. Each size may be paired with a name.
fn unflatten_by_sizes(call: &mut Call) -> Result<Value> {
    let (this, dim, sizes) = (call.value(0), call.value(1), call.value(2));
    if !equality::truth(&sizes)? {
        bail!(RuntimeError, "unflatten: sizes must be non-empty");
    }
    // An ordered dictionary stands for its items.
    let sizes = match &sizes {
        Value::Dict(dict) if dict.is_ordered() => {
            Value::tuple(dict.to_vec().into_iter().map(|(name, size)| Value::tuple([name, size])))
        }
        _ => sizes,
    };
    let pairs = sizes.items().filter(|items| matches!(items.first(), Some(Value::List(_) | Value::Tuple(_))));
    let Some(pairs) = pairs.map(|pairs| pairs.to_vec()) else {
        return call::dispatch::call_below(call.state, "unflatten", &[this, dim, sizes]);
    };
    let part = |k: usize| Value::tuple(pairs.iter().filter_map(|pair| pair.sequence()?.get(k).cloned()));
    call::dispatch::call_below(call.state, "unflatten", &[this, dim, part(1), part(0)])
}

fn broadcast_tensors(call: &mut Call) -> Result<Value> {
    let items = call.value(0).sequence().unwrap_or_default();
    let mut tensors = Vec::with_capacity(items.len());
    for (i, item) in items.iter().enumerate() {
        match item {
            Value::Tensor(tensor) => tensors.push(tensor),
            other => bail!(TypeError, "expected Tensor as element {i} in argument 0, but got {}", other.type_name()),
        }
    }
    let sizes = tensors.iter().try_fold(Dims::new(), |sizes, t| broadcast_sizes(&sizes, t.borrow().sizes()))?;
    let expand = |tensor: &&Tensor| {
        if tensor.borrow().sizes() == sizes.as_slice() {
            return Ok(Value::Tensor((*tensor).clone()));
        }
        operators::call_on(call.state, "expand", &Value::Tensor((*tensor).clone()), &[Value::Size(sizes.clone())])
    };
    Ok(Value::tuple(tensors.iter().map(expand).collect::<Result<Vec<_>>>()?))
}

/// `torch.broadcast_shapes(*shapes)`, with the error messages of PyTorch's Python implementation.
fn broadcast_shapes(call: &mut Call) -> Result<Value> {
    let mut sizes: Vec<i64> = Vec::new();
    for shape in call.value(0).sequence().unwrap_or_default() {
        let shape: Vec<i64> = match &shape {
            Value::Int(size) => vec![*size],
            Value::List(_) | Value::Tuple(_) | Value::Size(_) => {
                sizes_of(&shape.sequence().unwrap_or_default())?.to_vec()
            }
            other => bail!(
                RuntimeError,
                "('Input shapes should be of type ints, a tuple of ints, or a list of ints, got ', {})",
                call.state.repr(other)?
            ),
        };
        if let Some(negative) = shape.iter().find(|&&size| size < 0) {
            bail!(RuntimeError, "Trying to create tensor with negative dimension ({negative}): ({negative})");
        }
        sizes.splice(0..0, std::iter::repeat_n(1, shape.len().saturating_sub(sizes.len())));
        for (wide, &size) in sizes.iter_mut().rev().zip(shape.iter().rev()) {
            if size != 1 && *wide != 1 && size != *wide {
                bail!(RuntimeError, "Shape mismatch: objects cannot be broadcast to a single shape");
            }
            if size != 1 {
                *wide = size;
            }
        }
    }
    Ok(Value::size(&sizes))
}

/// `dim_order(ambiguity_check)`. Returns the dimensions in the order of memory, slowest first.
fn dim_order(call: &mut Call) -> Result<Value> {
    let layout = call.view(0)?.layout;
    let (check, formats) = match call.value(1) {
        Value::Bool(check) => (check, Vec::new()),
        Value::List(items) => (true, items.to_vec()),
        _ => (true, vec![Value::None]),
    };
    let mut fitting = 0;
    for format in formats {
        let Value::MemoryFormat(format) = format else {
            bail!(TypeError, "The ambiguity_check argument must be a bool or a list of memory formats.");
        };
        fitting += usize::from(format.describes(&layout));
    }
    let ambiguous = layout.sizes.contains(&1) || layout.strides.windows(2).any(|pair| pair[0] == pair[1]);
    if check && ambiguous && fitting != 1 {
        bail!(
            RuntimeError,
            "The tensor does not have unique dim order, or cannot map to exact one of the given memory formats."
        );
    }
    let order: Vec<i64> = if layout.is_contiguous() {
        (0..layout.ndim() as i64).collect()
    } else if [MemoryFormat::ChannelsLast, MemoryFormat::ChannelsLast3d].iter().any(|format| format.describes(&layout))
    {
        std::iter::once(0).chain(2..layout.ndim() as i64).chain(std::iter::once(1)).collect()
    } else {
        let fastest_first = Layout::iteration_order(&layout.sizes, &[&layout.strides]);
        fastest_first.into_iter().rev().map(|d| d as i64).collect()
    };
    Ok(Value::ints(&order))
}

fn view(call: &mut Call) -> Result<Value> {
    let tensor = call.tensor(0)?;
    let layout = match call.args.get(1) {
        Some(Value::Size(sizes)) => tensor.borrow().layout.view(sizes)?,
        _ => bail!(TypeError, "view(): size must be integers"),
    };
    same_view(call, layout)
}

/// Returns a view of the receiver under another layout.
fn same_view(call: &Call, layout: Layout) -> Result<Value> {
    let view = call.tensor(0)?.borrow().with_layout(layout);
    call.view_of(0, view)
}

/// Returns a view of the receiver if the result shares its storage, or a new tensor otherwise.
fn view_or_copy(call: &Call, view: View) -> Result<Value> {
    let this = call.tensor(0)?;
    let shares = this.borrow().storage == view.storage;
    if shares && this.borrow().layout == view.layout && call.signature.name.starts_with("flatten") {
        return Ok(call.itself());
    }
    if shares { call.view_of(0, view) } else { Ok(view.into()) }
}

fn transpose(call: &mut Call) -> Result<Value> {
    let layout = call.tensor(0)?.borrow().layout.transpose(call.int(1)?, call.int(2)?)?;
    same_view(call, layout)
}

fn movedim(call: &Call, source: &[i64], destination: &[i64]) -> Result<Value> {
    let moved = ops::movedim(&call.view(0)?, source, destination)?;
    call.view_of(0, moved)
}

fn expand(call: &Call, sizes: Dims) -> Result<Value> {
    let view = ops::expand(&call.view(0)?, &sizes)?;
    call.view_of(0, view)
}

fn real(call: &mut Call) -> Result<Value> {
    let view = call.view(0)?;
    if view.dtype.is_complex() { call.view_of(0, view.complex_part(false)) } else { Ok(call.itself()) }
}

fn imag(call: &mut Call) -> Result<Value> {
    let view = call.view(0)?;
    if view.is_sparse() && view.dtype.is_complex() {
        return Err(Error::no_backend("view_as_real", view.backend()));
    }
    call.view_of(0, ops::imag(&view)?)
}

fn set_part(call: &mut Call, part: &str) -> Result<Value> {
    assign_part(call.state, part, call.tensor(0)?, &call.value(1))?;
    Ok(Value::None)
}

fn contiguous(call: &mut Call) -> Result<Value> {
    let view = call.view(0)?;
    let format = call.memory_format(1).unwrap_or(MemoryFormat::Contiguous);
    if format.describes(&view.layout) {
        return Ok(call.itself());
    }
    copy::contiguous_as(&view, format).map(Value::from)
}
