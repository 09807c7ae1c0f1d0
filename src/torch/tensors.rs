//! Tensor methods that query the tensor and its storage, or write to it.
//! Follows <https://pytorch.org/docs/2.7/tensors.html>.

use super::dimnames;
use super::origin::choices;
use super::quantized;
use super::sparse_kernels;
use call::dispatch::outs::{fill_grown, show_layout};
use call::dispatch::{count_write, name_inference};
use call::facets::{
    Dispatch::{AsIs, Integers, Numbers, Own, Refused, Requantized},
    NameInference::{Infers, Itself, Keeps, Nameless, Unifies},
};
use call::reads::Reads;
use call::{Call, Row, both, function, method};
use objects::operators;
use objects::subscript::{item_of, set_item_of};
use tensor::bail;
use tensor::layout::{check_numel, contiguous_strides, wrap_dim};
use tensor::ops::block::check_no_internal_overlap;
use tensor::ops::{copy, create};
use tensor::view::{check_row_major, out_of_bounds, storage_bytes};
use tensor::{DType, Error, Layout, Result, Scalar, Storage, Tensor, TypedStorage, View};
use value::{MemoryFormat, Value, equality, nested_list};

pub(crate) const ROWS: &[Row] = &[
    method(
        "size(Tensor self) -> Size",
        |c| Ok(Value::size(c.tensor(0)?.borrow().sizes())),
        "Returns the size of every dimension, or of one.",
    )
    .names(Nameless)
    .any_layout(),
    method(
        "size.dim(Tensor self, int? dim) -> int",
        |c| {
            let v = c.tensor(0)?.borrow();
            if c.is_none(1) {
                return Ok(Value::size(v.sizes()));
            }
            Ok(Value::Int(v.sizes()[checked_dim(&v, c.int(1)?)?]))
        },
        "Returns the size of one dimension.",
    )
    .names(Nameless)
    .any_layout()
    .by_name("name", dimnames::by_position),
    method(
        "stride(Tensor self) -> any",
        |c| Ok(Value::ints(c.tensor(0)?.borrow().strides())),
        "Returns the stride of every dimension, or of one, in elements.",
    )
    .names(Nameless)
    .sparse(Own(sparse_kernels::strides))
    .quantized(AsIs)
    .not_differentiable(),
    method(
        "stride.dim(Tensor self, int? dim) -> int",
        |c| {
            let v = c.tensor(0)?.borrow();
            if c.is_none(1) {
                return Ok(Value::ints(v.strides()));
            }
            Ok(Value::Int(v.strides()[checked_dim(&v, c.int(1)?)?]))
        },
        "Returns the stride of one dimension, in elements.",
    )
    .names(Nameless)
    .sparse(Own(sparse_kernels::strides))
    .quantized(AsIs)
    .by_name("name", dimnames::by_position),
    method(
        "storage_offset(Tensor self) -> int",
        |c| Ok(Value::Int(c.tensor(0)?.borrow().layout.offset)),
        "Returns the position in the storage where the tensor begins, in elements.",
    )
    .names(Nameless)
    .any_layout(),
    both(
        "numel(Tensor self) -> int",
        |c| Ok(Value::Int(c.tensor(0)?.borrow().numel())),
        "Returns the number of elements.",
    )
    .names(Nameless)
    .any_layout(),
    method(
        "nelement(Tensor self) -> int",
        |c| Ok(Value::Int(c.tensor(0)?.borrow().numel())),
        "Returns the number of elements.",
    )
    .names(Nameless)
    .any_layout(),
    method(
        "dim(Tensor self) -> int",
        |c| Ok(Value::Int(c.tensor(0)?.borrow().ndim() as i64)),
        "Returns the number of dimensions.",
    )
    .aliases(&["ndimension"])
    .names(Nameless)
    .any_layout(),
    method(
        "element_size(Tensor self) -> int",
        |c| Ok(Value::Int(c.tensor(0)?.borrow().dtype.itemsize() as i64)),
        "Returns the number of bytes per element.",
    )
    .names(Nameless)
    .any_layout(),
    method(
        "data_ptr(Tensor self) -> int",
        |c| Ok(Value::Int(c.tensor(0)?.borrow().data_ptr() as i64)),
        "Returns the address of the first element.",
    )
    .names(Nameless)
    .sparse(Own(sparse_kernels::data_ptr))
    .quantized(AsIs),
    method(
        "is_contiguous(Tensor self, *, MemoryFormat memory_format=torch.contiguous_format) -> bool",
        is_contiguous,
        "Returns whether the elements are in row-major order without gaps.",
    )
    .names(Nameless)
    .sparse(Own(sparse_kernels::strides))
    .quantized(AsIs),
    method("get_device(Tensor self) -> int", |_| Ok(Value::Int(-1)), "Returns the device number; -1 on the CPU.")
        .names(Nameless)
        .any_layout(),
    both(
        "is_floating_point(Tensor self) -> bool",
        |c| Ok(Value::Bool(c.tensor(0)?.borrow().dtype.is_floating_point())),
        "Returns whether the dtype is a real floating-point one.",
    )
    .names(Nameless)
    .any_layout(),
    both(
        "is_complex(Tensor self) -> bool",
        |c| Ok(Value::Bool(c.tensor(0)?.borrow().dtype.is_complex())),
        "Returns whether the dtype is complex.",
    )
    .names(Nameless)
    .any_layout(),
    both(
        "is_signed(Tensor self) -> bool",
        |c| Ok(Value::Bool(c.tensor(0)?.borrow().dtype.is_signed())),
        "Returns whether the dtype can hold negative numbers.",
    )
    .names(Nameless)
    .sparse(AsIs)
    .quantized(Own(quantized::is_signed)),
    both(
        "is_conj(Tensor self) -> bool",
        |c| Ok(Value::Bool(c.tensor(0)?.borrow().conj)),
        "Returns whether the conjugate bit is set.",
    )
    .names(Nameless)
    .any_layout(),
    both(
        "is_neg(Tensor self) -> bool",
        |c| Ok(Value::Bool(c.tensor(0)?.borrow().neg)),
        "Returns whether the negative bit is set.",
    )
    .names(Nameless)
    .any_layout(),
    method(
        "is_shared(Tensor self) -> bool",
        |c| Ok(Value::Bool(c.tensor(0)?.borrow().storage.is_shared())),
        "Returns whether other processes can see the storage, or a file holds it.",
    )
    .names(Nameless)
    .quantized(AsIs)
    .python("Tensor.is_shared"),
    method(
        "share_memory_(Tensor self) -> Tensor",
        |c| {
            c.tensor(0)?.borrow().storage.share()?;
            Ok(c.itself())
        },
        "Moves the storage to shared memory, for every tensor over it.",
    )
    .names(Keeps)
    .python("Tensor.share_memory_")
    .not_differentiable(),
    method(
        "is_pinned(Tensor self) -> bool",
        |_| Ok(Value::Bool(false)),
        "Returns whether the storage is in pinned memory: never here.",
    )
    .names(Nameless)
    .any_layout(),
    both(
        "is_same_size(Tensor self, Tensor other) -> bool",
        |c| Ok(Value::Bool(c.tensor(0)?.borrow().sizes() == c.tensor(1)?.borrow().sizes())),
        "Returns whether two tensors have the same size.",
    )
    .names(Nameless)
    .any_layout(),
    method(
        "is_set_to(Tensor self, Tensor tensor) -> bool",
        |c| {
            let (a, b) = (c.tensor(0)?.borrow(), c.tensor(1)?.borrow());
            Ok(Value::Bool(a.storage == b.storage && a.layout == b.layout))
        },
        "Returns whether two tensors show the same elements of one storage.",
    )
    .quantized(AsIs),
    method(
        "_is_view(Tensor self) -> bool",
        |c| Ok(Value::Bool(c.tensor(0)?.base().is_some())),
        "Returns whether the tensor is a view of another.",
    )
    .names(Nameless),
    method(
        "item(Tensor self) -> Scalar",
        |c| c.tensor(0)?.borrow().item().map(Value::from),
        "Returns the value of a one-element tensor as a number.",
    )
    .names(Nameless)
    .sparse(Own(sparse_kernels::item))
    .quantized(Numbers),
    method(
        "tolist(Tensor self) -> any",
        |c| {
            let view = c.tensor(0)?.borrow();
            if view.form.is_none() && view.numel() > 0 && view.storage.nbytes() == 0 {
                bail!(RuntimeError, "tolist() shouldn't be called on a tensor with unallocated storage");
            }
            nested_list(&view)
        },
        "Returns the values as nested lists of numbers.",
    )
    .names(Nameless)
    .sparse(AsIs)
    .quantized(Own(quantized::tolist))
    .not_differentiable(),
    method(
        "untyped_storage(Tensor self) -> UntypedStorage",
        |c| Ok(Value::Storage(c.tensor(0)?.borrow().storage.clone())),
        "Returns the bytes beneath the tensor.",
    )
    .names(Nameless)
    .sparse(Own(sparse_kernels::no_storage))
    .quantized(AsIs),
    method(
        "storage(Tensor self) -> TypedStorage",
        |c| {
            objects::storages::warn_typed(c.state);
            let v = c.tensor(0)?.borrow();
            Ok(Value::TypedStorage(TypedStorage::new(v.storage.clone(), v.dtype)))
        },
        "Returns the storage as elements of the tensor's dtype (deprecated).",
    )
    .names(Nameless)
    .sparse(Own(sparse_kernels::no_storage))
    .quantized(AsIs)
    .python("Tensor.storage"),
    function(
        "fill.Tensor(Tensor self, Tensor value) -> Tensor",
        |c| copied(c, value_of_tensor(c)?),
        "Returns a tensor of the same size filled with a value.",
    )
    .names(Keeps),
    function(
        "fill.Scalar(Tensor self, Scalar value) -> Tensor",
        |c| copied(c, c.scalar(1)?),
        "Returns a tensor of the same size filled with a value.",
    )
    .reads(Reads::Nothing)
    .names(Keeps),
    both(
        "fill_.Tensor(Tensor(a!) self, Tensor value) -> Tensor(a!)",
        |c| fill(c, value_of_tensor(c)?),
        "Sets every element to a value.",
    )
    .reads(Reads::Own(choices::replaced))
    .names(Keeps),
    both(
        "fill_.Scalar(Tensor(a!) self, Scalar value) -> Tensor(a!)",
        |c| fill(c, c.scalar(1)?),
        "Sets every element to a value.",
    )
    .reads(Reads::Nothing)
    .names(Keeps)
    .sparse(Refused("fill_.Scalar"))
    .quantized(Requantized),
    both("zero_(Tensor(a!) self) -> Tensor(a!)", |c| fill(c, Scalar::Int(0)), "Sets every element to zero.")
        .reads(Reads::Nothing)
        .names(Keeps)
        .sparse(Own(sparse_kernels::zero))
        .quantized(Refused("zero_")),
    method(
        "copy_(Tensor(a!) self, Operand other, bool non_blocking=False) -> Tensor(a!)",
        copy_,
        "Copies in the elements of another tensor, converted and broadcast.",
    )
    .reads(Reads::Own(choices::replaced))
    .names(Unifies)
    .sparse(Own(sparse_kernels::copy_between))
    .quantized(Own(quantized::copy_numbers)),
    method("set_(Tensor(a!) self) -> Tensor(a!)", set_empty, "Makes the tensor empty, over a new storage."),
    method(
        "set_.source_Storage(Tensor(a!) self, Storage source) -> Tensor(a!)",
        set_storage,
        "Makes the tensor show all of a storage.",
    ),
    method(
        "set_.source_Storage_storage_offset(Tensor(a!) self, Storage source, SymInt storage_offset, int[] size, \
 int[] stride=None) -> Tensor(a!)",
        set_storage_layout,
        "Makes the tensor show part of a storage.",
    ),
    method(
        "set_.source_Tensor(Tensor(a!) self, Tensor source) -> Tensor(a!)",
        set_tensor,
        "Makes the tensor show what another shows.",
    ),
    method(
        "set_.source_Tensor_storage_offset(Tensor(a!) self, Tensor source, SymInt storage_offset, int[] size, \
 int[] stride=None) -> Tensor(a!)",
        set_storage_layout,
        "Makes the tensor show part of another's storage.",
    )
    .operation("set_.source_Storage_storage_offset"),
    method(
        "resize_(Tensor self, int[] size, *, MemoryFormat? memory_format=None) -> Tensor",
        resize,
        "Resizes the tensor in place; the storage grows where it must.",
    )
    .names(Infers(name_inference::resized))
    .quantized(Own(quantized::resize))
    .not_differentiable(),
    both(
        "resize_as_(Tensor self, Tensor the_template, *, MemoryFormat? memory_format=None) -> Tensor",
        |c| {
            let template = c.tensor(1)?.borrow().layout.clone();
            let format = match c.memory_format(2) {
                Some(MemoryFormat::Preserve) => Some(MemoryFormat::suggested(&template)),
                given => given,
            };
            let inference = c.tensor(0)?.is_inference() && c.tensor(1)?.is_inference();
            resize_to(c, &template.sizes, format, inference)
        },
        "Resizes the tensor to the size of another.",
    )
    .quantized(Own(quantized::resize))
    .names(Infers(name_inference::resized))
    .not_differentiable(),
    both(
        "equal(Tensor self, Tensor other) -> bool",
        |c| {
            let (a, b) = (c.tensor(0)?, c.tensor(1)?);
            let alike = c.state.nameless.get() || a.names() == b.names();
            Ok(Value::Bool(alike && tensor::ops::compare::equal(&a.view(), &b.view())?))
        },
        "Returns whether two tensors have the same size, elements and names.",
    )
    .names(Itself)
    .quantized(Integers),
    method("__getitem__(Tensor self, any index) -> any", |c| item_of(c), "Returns the elements at a subscript.")
        .names(Itself)
        .any_layout()
        .not_differentiable(),
    method("__setitem__(Tensor self, any index, any value) -> None", |c| set_item_of(c), "Writes at a subscript.")
        .names(Itself)
        .any_layout(),
    method("__index__(Tensor self) -> int", index_of, "Returns the number of an integer tensor of one element.")
        .names(Nameless),
    both(
        "is_nonzero(Tensor self) -> bool",
        |c| equality::truth(&c.value(0)).map(Value::Bool),
        "Returns whether the one element is not zero.",
    )
    .names(Nameless)
    .sparse(Own(sparse_kernels::is_nonzero)),
    method(
        "__len__(Tensor self) -> int",
        |c| objects::sequences::length(c.tensor(0)?),
        "Returns the size of the first dimension.",
    )
    .names(Nameless)
    .any_layout(),
    method("__contains__(Tensor self, any element) -> bool", contains, "Returns whether any element equals the value.")
        .names(Nameless)
        .any_layout(),
    function(
        "is_tensor(any obj) -> bool",
        |c| Ok(Value::Bool(matches!(c.value(0), Value::Tensor(_)))),
        "Returns whether the value is a tensor.",
    )
    .names(Nameless)
    .any_layout()
    .python("is_tensor"),
    function(
        "is_storage(any obj) -> bool",
        |c| Ok(Value::Bool(matches!(c.value(0), Value::Storage(_) | Value::TypedStorage(_)))),
        "Returns whether the value is a storage.",
    ),
];

fn checked_dim(view: &View, dim: i64) -> Result<usize> {
    if view.ndim() == 0 {
        bail!(IndexError, "Dimension specified as {dim} but tensor has no dimensions");
    }
    wrap_dim(dim, view.ndim())
}

fn is_contiguous(call: &mut Call) -> Result<Value> {
    let view = call.tensor(0)?.borrow();
    let format = call.memory_format(1).unwrap_or(MemoryFormat::Contiguous);
    Ok(Value::Bool(format.describes(&view.layout)))
}

fn index_of(call: &mut Call) -> Result<Value> {
    let view = call.tensor(0)?.borrow();
    if view.numel() != 1 || !view.dtype.is_integral(true) {
        bail!(TypeError, "only integer tensors of a single element can be converted to an index");
    }
    Ok(Value::Int(view.item()?.to_i64()))
}

fn contains(call: &mut Call) -> Result<Value> {
    let element = call.value(1);
    if !matches!(element, Value::Tensor(_)) && element.as_scalar().is_none() {
        bail!(
            RuntimeError,
            "Tensor.__contains__ only supports Tensor or scalar, but you passed in a <class '{}'>.",
            element.type_name()
        );
    }
    let equal = operators::call_on(call.state, "eq", &call.value(0), &[element])?;
    match equal {
        Value::Tensor(t) => Ok(Value::Bool(t.view().scalars()?.into_iter().any(Scalar::truth))),
        _ => Ok(Value::Bool(false)),
    }
}

/// Returns the value of a 0-dimensional tensor argument.
fn value_of_tensor(call: &Call) -> Result<Scalar> {
    let value = call.view(1)?;
    if value.ndim() != 0 {
        bail!(
            RuntimeError,
            "fill_ only supports 0-dimension value tensor but got tensor with {} dimensions.",
            value.ndim()
        );
    }
    value.item()
}

/// Creates a tensor like the first argument, filled with a value.
fn copied(call: &Call, value: Scalar) -> Result<Value> {
    let out = create::zeros_like(&call.view(0)?, None, None)?;
    copy::fill(&out, value)?;
    Ok(out.into())
}

fn fill(call: &mut Call, value: Scalar) -> Result<Value> {
    let view = call.view(0)?;
    // PyTorch resolves the lazy bits before it fills, which writes in place.
    if view.conj || view.neg {
        check_no_internal_overlap(&view)?;
    }
    copy::fill(&view, value)?;
    Ok(call.itself())
}

fn copy_(call: &mut Call) -> Result<Value> {
    let target = call.view(0)?;
    match call.value(1) {
        Value::Tensor(source) => copy::copy_into(&target, &source.view())?,
        _ => {
            check_no_internal_overlap(&target)?;
            copy::fill(&target, call.scalar(1)?)?;
        }
    }
    Ok(call.itself())
}

fn check_device(tensor: &Tensor, storage: &Storage) -> Result<()> {
    let (ours, theirs) = (tensor.borrow().device(), storage.tensor_device());
    if ours != theirs {
        bail!(
            RuntimeError,
            "Attempted to set the storage of a tensor on device \"{ours}\" to a storage on different device \
             \"{theirs}\".  This is no longer allowed; the devices must match."
        );
    }
    Ok(())
}

/// Finishes a call that made a tensor show other memory. A leaf gets a new node for its gradient, which may have another
/// size now.
fn shown_anew(call: &Call, tensor: &Tensor) -> Value {
    if tensor.has_autograd() {
        tensor.autograd_mut(|meta| meta.accumulator = None);
    }
    call.itself()
}

fn set_empty(call: &mut Call) -> Result<Value> {
    let tensor = call.tensor(0)?;
    let storage = Storage::zeroed(0, tensor.borrow().device())?;
    show_or_copy(call, tensor, storage, Layout::contiguous(&[0]))
}

/// Returns the storage to use: that of a tensor argument, or a storage argument, whose dtype must match if it is typed.
fn source_storage(call: &Call, tensor: &Tensor) -> Result<Storage> {
    let dtype = tensor.borrow().dtype;
    match call.value(1) {
        Value::TypedStorage(typed) if typed.dtype != dtype => Err(Error::runtime(format!(
            "Expected a Storage of type {} or an UntypedStorage, but got type {} for argument 1 'storage'",
            dtype.cpp_name(),
            typed.dtype.scalar_type()
        ))),
        // Takes the bytes of a tensor of any dtype.
        Value::Tensor(source) => Ok(source.borrow().storage.clone()),
        _ => call.storage(1),
    }
}

fn check_same_dtype(source: DType, target: DType) -> Result<()> {
    if source != target {
        bail!(
            RuntimeError,
            "Could not set tensor of type {} to a tensor of type {}",
            source.cpp_name(),
            target.cpp_name()
        );
    }
    Ok(())
}

fn set_storage(call: &mut Call) -> Result<Value> {
    let tensor = call.tensor(0)?;
    let storage = source_storage(call, tensor)?;
    check_device(tensor, &storage)?;
    let count = storage.nbytes() / tensor.borrow().dtype.itemsize();
    show_or_copy(call, tensor, storage, Layout::contiguous(&[count as i64]))
}

/// Makes the receiver show a whole storage. A conjugate or negative view keeps its own storage instead: PyTorch resizes
/// it and copies the values in, because it has no kernel for such views.
fn show_or_copy(call: &Call, tensor: &Tensor, storage: Storage, layout: Layout) -> Result<Value> {
    let view = tensor.view();
    if !view.conj && !view.neg {
        show_layout(tensor, storage, layout, false)?;
        return Ok(shown_anew(call, tensor));
    }
    let source = View { storage, layout, dtype: view.dtype, conj: false, neg: false, form: None };
    if view.sizes() != source.sizes() {
        let own = Layout { offset: view.layout.offset, ..source.layout.clone() };
        show_layout(tensor, view.storage.clone(), own, true)?;
    }
    copy::copy_into(&tensor.view(), &source)?;
    Ok(shown_anew(call, tensor))
}

fn set_tensor(call: &mut Call) -> Result<Value> {
    let (tensor, source) = (call.tensor(0)?, call.view(1)?);
    check_same_dtype(source.dtype, tensor.borrow().dtype)?;
    check_device(tensor, &source.storage)?;
    // Like in PyTorch, the conjugate and negative bits of the receiver stay, and those of the source are ignored.
    let View { conj, neg, .. } = tensor.view();
    tensor.set_view(View { conj, neg, ..source });
    Ok(shown_anew(call, tensor))
}

fn set_storage_layout(call: &mut Call) -> Result<Value> {
    let tensor = call.tensor(0)?;
    let storage = source_storage(call, tensor)?;
    let (offset, sizes) = (call.int(2)?, call.ints(3)?);
    let given = if call.is_none(4) { None } else { Some(call.ints(4)?) };
    check_device(tensor, &storage)?;
    if let Some(strides) = &given
        && strides.len() != sizes.len()
    {
        bail!(RuntimeError, "unequal size length ({}) and stride length ({})", sizes.len(), strides.len());
    }
    if offset < 0 {
        bail!(RuntimeError, "Tensor: invalid storage offset {offset}");
    }
    check_numel(&sizes)?;
    if given.is_none() {
        check_row_major(&sizes, tensor.borrow().dtype)?;
    }
    let strides = given.clone().unwrap_or_else(|| contiguous_strides(&sizes));
    let layout = Layout { strides, sizes, offset };
    let (unchanged, dtype) = {
        let view = tensor.borrow();
        let same_strides = given.as_ref().is_none_or(|strides| view.layout.strides == *strides);
        (view.layout.sizes == layout.sizes && same_strides, view.dtype)
    };
    // If the shape stays the same, the new storage is not enlarged.
    if unchanged && storage_bytes(&layout, dtype)? > storage.nbytes() {
        return Err(out_of_bounds(&layout, given.as_deref().unwrap_or_default(), dtype, storage.nbytes()));
    }
    show_layout(tensor, storage, layout, true)?;
    Ok(shown_anew(call, tensor))
}

fn resize(call: &mut Call) -> Result<Value> {
    resize_to(call, &call.ints(1)?, call.memory_format(2), call.tensor(0)?.is_inference())
}

/// Resizes a tensor in place. `inference` tells whether all tensors of the call are inference tensors, which may require
/// gradients.
fn resize_to(call: &Call, sizes: &[i64], format: Option<MemoryFormat>, inference: bool) -> Result<Value> {
    let tensor = call.tensor(0)?;
    if tensor.requires_grad() && !inference && !call.state.inference.get() {
        bail!(RuntimeError, "cannot resize variables that require grad");
    }
    check_numel(sizes)?;
    let view = tensor.view();
    let mut layout = Layout { offset: view.layout.offset, ..Layout::contiguous(sizes) };
    if view.sizes() != sizes {
        check_row_major(sizes, view.dtype)?;
        let old = view.storage.nbytes();
        show_layout(tensor, view.storage.clone(), layout.clone(), true)?;
        fill_grown(call.state, tensor, old)?;
        count_write(call.state, tensor)?;
    }
    if let Some(format) = format {
        if format == MemoryFormat::Preserve {
            bail!(RuntimeError, "Unsupported memory formatPreserve");
        }
        layout.strides = format.strides(sizes)?;
        show_layout(tensor, view.storage, layout, true)?;
    }
    Ok(call.itself())
}
