//! Creation: tensors from numbers, sizes and nested lists. Follows <https://pytorch.org/docs/2.7/torch.html#creation-ops>.

use super::sparse_kernels;
use super::{dimnames, dlpack};
use autograd::Functions;
use call::facets::{
    Dispatch::{AsIs, Given, Integers, Own, Refused, Requantized},
    NameInference::Keeps,
    Out,
};
use call::reads::{EACH, Reads};
use call::{Call, Row, both, function, method};
use objects::data::from_data;
use tensor::bail;
use tensor::check_strides;
use tensor::layout::{checked_numel, contiguous_strides};
use tensor::ops::{copy, create, sparse};
use tensor::{DType, Device, Dims, Error, Result, Scalar, Tensor, View};
use value::{MemoryFormat, TensorLayout, Value};

pub(crate) const ROWS: &[Row] = &[
    function(
        "tensor(any data, *, ScalarType? dtype=None, Device? device=None, bool pin_memory=False, bool \
 requires_grad=False, Dimname[]? names=None) -> Tensor",
        |c| dimnames::made(c, tensor),
        "Creates a tensor from the numbers of nested lists.",
    )
    .names(Keeps).sparse(AsIs).not_differentiable(),
    function(
        "scalar_tensor(Scalar s, *, {factory}) -> Tensor",
        |c| {
            let value = c.scalar(0)?;
            let dtype = dtype(c);
            create::full(&[], value, Some(dtype), dtype, device(c)?).map(Value::from)
        },
        "Creates a 0-d tensor of the default dtype.",
    ),
    function(
        "as_tensor(any data, *, ScalarType? dtype=None, Device? device=None) -> Tensor",
        as_tensor,
        "Converts data to a tensor, sharing memory where possible.",
    )
    .names(Keeps).recorded_in_steps().any_layout(),
    function(
        "asarray(any obj, *, ScalarType? dtype=None, Device? device=None, bool? copy=None, bool \
 requires_grad=False) -> Tensor",
        asarray,
        "Converts data to a tensor that shares its memory where possible.",
    )
    .names(Keeps).recorded_in_steps().any_layout(),
    function(
        "zeros.names(int[] size, *, Dimname[]? names, {factory}) -> Tensor",
        |c| dimnames::made(c, |c| filled(c, Scalar::Int(0))),
        "Creates a tensor of zeros with named dimensions.",
    ),
    function(
        "zeros(int[] size, *, Tensor? out=None, {factory}) -> Tensor",
        |c| filled(c, Scalar::Int(0)),
        "Creates a tensor of zeros.",
    ).reads(Reads::Nothing)
    .out(Out::MADE.unguarded()),
    function(
        "ones.names(int[] size, *, Dimname[]? names, {factory}) -> Tensor",
        |c| dimnames::made(c, |c| filled(c, Scalar::Int(1))),
        "Creates a tensor of ones with named dimensions.",
    ),
    function(
        "ones(int[] size, *, Tensor? out=None, {factory}) -> Tensor",
        |c| filled(c, Scalar::Int(1)),
        "Creates a tensor of ones.",
    ).reads(Reads::Nothing)
    .out(Out::MADE.unguarded()),
    function(
        "empty(int[] size, *, MemoryFormat? memory_format=None, Tensor? out=None, {factory}) -> Tensor",
        |c| filled(c, Scalar::Int(0)),
        "Creates a tensor whose values are unspecified in PyTorch and zero here.",
    )
    .out(Out::MADE.unguarded()),
    function(
        "empty.names(int[] size, *, Dimname[]? names, MemoryFormat? memory_format=None, {factory}) -> Tensor",
        |c| dimnames::made(c, |c| filled(c, Scalar::Int(0))),
        "Creates an empty tensor with named dimensions.",
    ),
    function(
        "full.names(int[] size, Scalar fill_value, *, Dimname[]? names, {factory}) -> Tensor",
        |c| dimnames::made(c, full),
        "Creates a filled tensor with named dimensions.",
    ),
    function(
        "full(int[] size, Scalar fill_value, *, Tensor? out=None, {factory}) -> Tensor",
        full,
        "Creates a tensor filled with one value.",
    ).reads(Reads::Nothing)
    .out(Out::MADE.unguarded()),
    function(
        "zeros_like(Tensor input, *, MemoryFormat? memory_format=None, {factory}) -> Tensor",
        |c| like(c, Scalar::Int(0)),
        "Creates zeros of the same size and dtype.",
    ).reads(Reads::Nothing)
    .names(Keeps)
    .sparse(Own(sparse_kernels::like))
    .quantized(Refused("zero_")).not_differentiable(),
    function(
        "ones_like(Tensor input, *, MemoryFormat? memory_format=None, {factory}) -> Tensor",
        |c| like(c, Scalar::Int(1)),
        "Creates ones of the same size and dtype.",
    ).reads(Reads::Nothing)
    .names(Keeps)
    .sparse(Own(sparse_kernels::like))
    .quantized(Requantized).not_differentiable(),
    function(
        "empty_like(Tensor input, *, MemoryFormat? memory_format=None, {factory}) -> Tensor",
        |c| like(c, Scalar::Int(0)),
        "Creates an empty tensor of the same size and dtype.",
    ).reads(Reads::Nothing)
    .names(Keeps)
    .sparse(Own(sparse_kernels::like))
    .quantized(Integers).not_differentiable(),
    function(
        "full_like(Tensor input, Scalar fill_value, *, MemoryFormat? memory_format=None, {factory}) -> Tensor",
        |c| {
            let v = c.scalar(1)?;
            like(c, v)
        },
        "Creates a tensor of the same size filled with one value.",
    ).reads(Reads::Nothing)
    .names(Keeps)
    .sparse(Own(sparse_kernels::like)).not_differentiable(),
    function(
        "empty_strided(int[] size, int[] stride, *, {factory}) -> Tensor",
        |c| create::empty_strided(&c.ints(0)?, &c.ints(1)?, dtype(c), device(c)?).map(Value::from),
        "Creates an empty tensor with the given strides.",
    ),
    function(
        "empty_permuted(int[] size, int[] physical_layout, *, {factory}) -> Tensor",
        empty_permuted,
        "Creates an empty tensor whose dimensions lie in memory in the given order.",
    ),
    function(
        "eye(SymInt n, *, Tensor? out=None, {factory}) -> Tensor",
        |c| create::eye(c.int(0)?, c.int(0)?, dtype(c), device(c)?).map(Value::from),
        "Creates the identity matrix.",
    ).reads(Reads::Nothing)
    .out(Out::MADE.unguarded()),
    function(
        "eye.m(SymInt n, SymInt m, *, Tensor? out=None, {factory}) -> Tensor",
        |c| create::eye(c.int(0)?, c.int(1)?, dtype(c), device(c)?).map(Value::from),
        "Creates an n by m matrix with ones on the diagonal.",
    )
    .out(Out::MADE.unguarded()),
    function(
        "arange(Scalar end, *, Tensor? out=None, {factory}) -> Tensor",
        |c| arange(c, Scalar::Int(0), c.scalar(0)?, Scalar::Int(1)),
        "Counts from 0 up to end, which is excluded.",
    ).reads(Reads::Nothing)
    .out(Out::SERIES),
    function(
        "arange.start(Scalar start, Scalar end, *, {factory}) -> Tensor",
        |c| arange(c, c.scalar(0)?, c.scalar(1)?, Scalar::Int(1)),
        "Counts from start up to end, which is excluded.",
    ),
    function(
        "arange.start_step(Scalar start, Scalar end, Scalar step=1, *, Tensor? out=None, {factory}) -> Tensor",
        |c| arange(c, c.scalar(0)?, c.scalar(1)?, c.scalar(2)?),
        "Counts from start up to end by step, with end excluded.",
    )
    .out(Out::SERIES),
    function(
        "range(Scalar start, Scalar end, Scalar step=1, *, Tensor? out=None, {factory}) -> Tensor",
        |c| {
            c.state.warn_once(
                "UserWarning",
                "torch.range is deprecated and will be removed in a future release because its behavior is \
 inconsistent with Python's range builtin. Instead, use torch.arange, which produces values in \
 [start, end).",
            );
            create::range(
                c.scalar(0)?,
                c.scalar(1)?,
                c.scalar(2)?,
                c.dtype_keyword(),
                c.state.default_dtype.get(),
                device(c)?,
            )
            .map(Value::from)
        },
        "Counts from start to end, both included.",
    )
    .out(Out::SERIES),
    function(
        "linspace.tensors(Tensor start, Tensor end, int steps, *, Tensor? out=None, {factory}) -> Tensor",
        |c| {
            let (start, end) = ends(c, "linspace")?;
            create::linspace(start, end, c.int(2)?, c.dtype_keyword(), c.state.default_dtype.get(), device(c)?)
                .map(Value::from)
        },
        "Creates evenly spaced numbers from start to end.",
    )
    .aliases(&[
        "linspace.Scalar_Tensor(Scalar start, Tensor end, int steps, *, Tensor? out=None, {factory}) -> Tensor",
        "linspace.Tensor_Scalar(Tensor start, Scalar end, int steps, *, Tensor? out=None, {factory}) -> Tensor",
        "linspace(Scalar start, Scalar end, int steps, *, Tensor? out=None, {factory}) -> Tensor",
    ])
    .out(Out::SERIES)
    .operation("linspace.Tensor_Tensor").not_differentiable(),
    function(
        "logspace.tensors(Tensor start, Tensor end, int steps, float base=10.0, *, Tensor? out=None, {factory}) -> Tensor",
        |c| {
            let (start, end) = ends(c, "logspace")?;
            let (base, usual) = (c.scalar(3)?.to_f64(), c.state.default_dtype.get());
            create::logspace(start, end, c.int(2)?, base, c.dtype_keyword(), usual, device(c)?).map(Value::from)
        },
        "Creates powers of base, evenly spaced in the exponent.",
    )
    .aliases(&[
        "logspace.Scalar_Tensor(Scalar start, Tensor end, int steps, float base=10.0, *, Tensor? out=None, {factory}) -> \
         Tensor",
        "logspace.Tensor_Scalar(Tensor start, Scalar end, int steps, float base=10.0, *, Tensor? out=None, {factory}) -> \
         Tensor",
        "logspace(Scalar start, Scalar end, int steps, float base=10.0, *, Tensor? out=None, {factory}) -> Tensor",
    ])
    .out(Out::SERIES)
    .operation("logspace.Tensor_Tensor").not_differentiable(),
    method(
        "new_zeros(Tensor self, int[] size, *, {factory}) -> Tensor",
        |c| new_filled(c, 1, Scalar::Int(0)),
        "Creates zeros of the tensor's dtype.",
    ).reads(Reads::Nothing)
    .sparse(Own(sparse_kernels::new_filled))
    .quantized(Refused("zero_")).not_differentiable(),
    method(
        "new_ones(Tensor self, int[] size, *, {factory}) -> Tensor",
        |c| new_filled(c, 1, Scalar::Int(1)),
        "Creates ones of the tensor's dtype.",
    ).reads(Reads::Nothing)
    .sparse(Own(sparse_kernels::new_filled))
    .not_differentiable(),
    method(
        "new_empty(Tensor self, int[] size, *, {factory}) -> Tensor",
        |c| new_filled(c, 1, Scalar::Int(0)),
        "Creates an empty tensor of the tensor's dtype.",
    ).reads(Reads::Nothing)
    .sparse(Own(sparse_kernels::new_filled)).not_differentiable(),
    method(
        "new_empty_strided(Tensor self, int[] size, int[] stride, *, {factory}) -> Tensor",
        |c| {
            let this = c.view(0)?;
            let (dtype, device) = (c.dtype_keyword().unwrap_or(this.dtype), device_like(c, &this)?);
            create::empty_strided(&c.ints(1)?, &c.ints(2)?, dtype, device).map(Value::from)
        },
        "Creates an empty tensor of the tensor's dtype with the given strides.",
    ).not_differentiable(),
    method(
        "new_full(Tensor self, int[] size, Scalar fill_value, *, {factory}) -> Tensor",
        |c| {
            let v = c.scalar(2)?;
            new_filled(c, 1, v)
        },
        "Creates a filled tensor of the tensor's dtype.",
    ).reads(Reads::Nothing).not_differentiable(),
    method(
        "new_tensor(Tensor self, any data, *, ScalarType? dtype=None, Device? device=None, bool \
 requires_grad=False) -> Tensor",
        |c| {
            let dtype = c.opt_dtype(2).unwrap_or(c.tensor(0)?.borrow().dtype);
            from_data(&c.value(1), Some(dtype), c.state.default_dtype.get()).map(Value::from)
        },
        "Creates a tensor of the given data in the tensor's dtype.",
    ).not_differentiable(),
    both(
        "clone(Tensor self, *, MemoryFormat? memory_format=torch.preserve_format) -> Tensor",
        |c| {
            let view = c.view(0)?;
            copy::cast_as(&view, view.dtype, c.memory_format(1).unwrap_or(MemoryFormat::Preserve)).map(Value::from)
        },
        "Copies the tensor into memory of its own.",
    ).reads(EACH)
    .names(Keeps)
    .sparse(Given)
    .quantized(Integers),
];

fn dtype(call: &Call) -> DType {
    call.dtype_keyword().unwrap_or(call.state.default_dtype.get())
}

/// Returns the device to create a tensor on. Fails with PyTorch's errors for unsupported keyword arguments.
fn device(call: &Call) -> Result<Device> {
    if let Some(i) = call.position("layout")
        && let Value::Layout(layout) = call.value(i)
        && layout != TensorLayout::Strided
    {
        bail!(NotImplementedError, "only strided tensors can be created here, not torch.{}", layout.name());
    }
    let device = call.device_keyword()?;
    if call.position("pin_memory").is_some_and(|i| matches!(call.value(i), Value::Bool(true))) {
        // Pinned memory needs a CUDA device.
        Device::parse("cuda")?.available()?;
    }
    if call.dtype_keyword().is_some_and(DType::is_quantized)
        && let Some(operation) = filling_operation(call.signature.name)
    {
        let backend = if device.is_meta() { "QuantizedMeta" } else { "QuantizedCPU" };
        return Err(Error::no_backend(operation, backend));
    }
    Ok(device)
}

/// The operation in PyTorch's error for a quantized dtype. Only factories that fill the tensor before they look at the
/// quantizer have one.
fn filling_operation(factory: &str) -> Option<&'static str> {
    Some(match factory.split('.').next().unwrap_or(factory) {
        "zeros" => "zero_",
        "arange" => "arange.start_out",
        "eye" => "eye.m_out",
        "linspace" => "linspace.out",
        "logspace" => "logspace.out",
        _ => return None,
    })
}

/// Returns the start and end of evenly spaced numbers. Each is a number or a 0-dimensional tensor.
fn ends(call: &Call, name: &str) -> Result<(Scalar, Scalar)> {
    let dims = [0, 1].map(|i| call.tensor(i).map_or(0, |tensor| tensor.borrow().ndim()));
    let end = |i: usize| call.tensor(i).map_or_else(|_| call.scalar(i), |tensor| tensor.borrow().item());
    match (dims, [0, 1].map(|i| call.tensor(i).is_ok())) {
        ([0, 0], _) => Ok((end(0)?, end(1)?)),
        ([start, end], [true, true]) => bail!(
            RuntimeError,
            "{name} only supports 0-dimensional start and end tensors, but got start with {start} dimension(s) and end with \
             {end} dimension(s)."
        ),
        ([start, _], [true, false]) => bail!(
            RuntimeError,
            "{name} only supports 0-dimensional start and end tensors, but got start with {start} dimension(s)."
        ),
        ([_, end], _) => {
            bail!(
                RuntimeError,
                "{name} only supports 0-dimensional start and end tensors, but got end with {end} dimension(s)."
            )
        }
    }
}

fn full(call: &mut Call) -> Result<Value> {
    let value = call.scalar(1)?;
    let usual = call.state.default_dtype.get();
    create::full(&call.ints(0)?, value, call.dtype_keyword(), usual, device(call)?).map(Value::from)
}

fn filled(call: &mut Call, value: Scalar) -> Result<Value> {
    let sizes = call.ints(0)?;
    if let Some(Value::Layout(layout)) = call.position("layout").map(|i| call.value(i))
        && layout != TensorLayout::Strided
    {
        return match (value, layout) {
            (Scalar::Int(0), TensorLayout::SparseCoo) => {
                sparse::empty_coo(&sizes, 0, dtype(call), call.device_keyword()?).map(Value::from)
            }
            (Scalar::Int(0), _) => {
                sparse::compressed::empty(&sizes, layout, dtype(call), call.device_keyword()?).map(Value::from)
            }
            _ => bail!(RuntimeError, "full(...) is not implemented for sparse layout"),
        };
    }
    let (dtype, device) = (dtype(call), device(call)?);
    match value {
        Scalar::Int(0) if let Some(format) = memory_format(call) => {
            if format == MemoryFormat::Preserve {
                bail!(RuntimeError, "unsupported memory format Preserve");
            }
            checked_numel(&sizes)?;
            if format == MemoryFormat::Contiguous {
                check_strides(&sizes)?;
            }
            View::zeros_strided(&sizes, format.strides(&sizes)?, dtype, device).map(Value::from)
        }
        Scalar::Int(0) => View::zeros(&sizes, dtype, device).map(Value::from),
        value => create::full(&sizes, value, Some(dtype), dtype, device).map(Value::from),
    }
}

fn memory_format(call: &Call) -> Option<MemoryFormat> {
    call.position("memory_format").and_then(|i| call.memory_format(i))
}

/// `torch.empty_permuted(size, physical_layout)`: a dense tensor whose dimensions lie in memory in the given order,
/// slowest first.
fn empty_permuted(call: &mut Call) -> Result<Value> {
    let (sizes, order) = (call.ints(0)?, call.ints(1)?);
    if sizes.len() != order.len() {
        bail!(
            RuntimeError,
            "Number of dimensions in size does not match the length of the physical_layout; i.e. len(size) = {} is not \
             equal to len(physical_layout) = {}",
            sizes.len(),
            order.len()
        );
    }
    let mut dims: Vec<usize> = Vec::with_capacity(order.len());
    let mut taken = vec![false; sizes.len()];
    for (i, &dim) in order.iter().enumerate() {
        let Some(d) = usize::try_from(dim).ok().filter(|&d| d < sizes.len()) else {
            bail!(
                RuntimeError,
                "Dimension out of range (expected to be between 0 and {}, but got {dim} at index {i}).  NB: negative dims \
                 not currently supported; file an issue if you want it.",
                sizes.len() as i64 - 1
            );
        };
        if std::mem::replace(&mut taken[d], true) {
            bail!(RuntimeError, "Duplicate dim not allowed");
        }
        dims.push(d);
    }
    let physical: Dims = dims.iter().map(|&d| sizes[d]).collect();
    checked_numel(&physical)?;
    check_strides(&physical)?;
    let mut strides = Dims::from_elem(0, sizes.len());
    dims.iter().zip(contiguous_strides(&physical)).for_each(|(&d, stride)| strides[d] = stride);
    View::zeros_strided(&sizes, strides, dtype(call), device(call)?).map(Value::from)
}

/// Returns the device that the call names, or that of the tensor `this`.
pub(super) fn device_like(call: &Call, this: &View) -> Result<Device> {
    let named = call.position("device").map_or(Ok(None), |i| call.opt_device(i))?;
    Ok(named.unwrap_or(this.device()))
}

fn new_filled(call: &mut Call, sizes: usize, value: Scalar) -> Result<Value> {
    let this = call.view(0)?;
    if let Some(layout) = sparse_layout(call) {
        if matches!(call.signature.name, "new_ones" | "new_full") {
            bail!(RuntimeError, "full(...) is not implemented for sparse layout");
        }
        let room = View::zeros(&call.ints(sizes)?, call.dtype_keyword().unwrap_or(this.dtype), Device::META)?;
        return sparse_kernels::without_elements_as(&room, layout, room.dtype, device_like(call, &this)?)
            .map(Value::from);
    }
    let device = device_like(call, &this)?;
    let dtype = call.dtype_keyword().unwrap_or(this.dtype);
    if dtype.is_quantized() && value == Scalar::Int(0) && call.signature.name == "new_zeros" {
        return Err(Error::no_backend("zero_", "QuantizedCPU"));
    }
    create::full(&call.ints(sizes)?, value, Some(dtype), dtype, device).map(Value::from)
}

/// Returns the sparse layout that the call names, if any.
fn sparse_layout(call: &Call) -> Option<TensorLayout> {
    match call.position("layout").map(|i| call.value(i)) {
        Some(Value::Layout(layout)) if layout != TensorLayout::Strided => Some(layout),
        _ => None,
    }
}

/// Allocates zeros like the first tensor. The call can name another dtype, device or memory format.
pub(super) fn room_like(call: &Call) -> Result<View> {
    let this = call.view(0)?;
    if let Some(layout) = sparse_layout(call) {
        let backend = if layout.is_compressed() { "SparseCsrCPU" } else { "SparseCPU" };
        return Err(Error::no_backend("empty_strided", backend));
    }
    let strides = memory_format(call).unwrap_or(MemoryFormat::Preserve).strides_like(&this.layout)?;
    let dtype = call.dtype_keyword().unwrap_or(this.dtype);
    View::zeros_strided(this.sizes(), strides, dtype, device_like(call, &this)?)
}

fn like(call: &mut Call, value: Scalar) -> Result<Value> {
    if let (Some(layout), "zeros_like") = (sparse_layout(call), call.signature.name) {
        let this = call.view(0)?;
        let dtype = call.dtype_keyword().unwrap_or(this.dtype);
        return sparse_kernels::without_elements_as(&this, layout, dtype, device_like(call, &this)?).map(Value::from);
    }
    let out = room_like(call)?;
    if value != Scalar::Int(0) {
        copy::fill(&out, value)?;
    }
    Ok(out.into())
}

fn arange(call: &Call, start: Scalar, end: Scalar, step: Scalar) -> Result<Value> {
    create::arange(start, end, step, call.dtype_keyword(), call.state.default_dtype.get(), device(call)?)
        .map(Value::from)
}

fn tensor(call: &mut Call) -> Result<Value> {
    if let Value::Tensor(sparse) = call.value(0)
        && sparse.borrow().form.is_some()
    {
        let detached = sparse.detach();
        return moved(call, &detached, &[call.value(2), call.value(1), Value::Bool(false), Value::Bool(true)]);
    }
    let view = from_data(&call.value(0), call.opt_dtype(1), call.state.default_dtype.get())?;
    on_device(view, call.device_keyword()?)
}

/// Moves new data to a device. On `meta`, only the shape is kept.
fn on_device(view: View, device: Device) -> Result<Value> {
    if device.is_meta() && !view.device().is_meta() {
        return View::zeros(view.sizes(), view.dtype, Device::META).map(Value::from);
    }
    Ok(view.into())
}

fn as_tensor(call: &mut Call) -> Result<Value> {
    if let Value::Object(object) = call.value(0)
        && let Some(array) = object.tensor_elements()
    {
        let array = array?;
        return match call.opt_dtype(1).filter(|dtype| *dtype != array.dtype) {
            Some(dtype) => copy::cast(&array, dtype).map(Value::from),
            None => Ok(array.into()),
        };
    }
    if let Value::Tensor(tensor) = call.value(0) {
        let (dtype, device) = (tensor.borrow().dtype, tensor.borrow().device());
        let is_there = call.opt_device(2)?.is_none_or(|wanted| wanted.kind == device.kind);
        if is_there && call.opt_dtype(1).is_none_or(|wanted| wanted == dtype) {
            return Ok(Value::Tensor(tensor));
        }
        let options = [call.value(2), call.value(1), Value::Bool(false), Value::Bool(false)];
        return moved(call, &tensor, &options);
    }
    let (data, dtype) = (call.value(0), call.opt_dtype(1));
    on_device(from_data(&data, dtype, call.state.default_dtype.get())?, call.device_keyword()?)
}

/// `tensor.to(device, dtype, non_blocking, copy)`, recorded like any other call.
fn moved(call: &Call, tensor: &Tensor, options: &[Value; 4]) -> Result<Value> {
    let args: Vec<Value> = std::iter::once(Value::Tensor(tensor.clone())).chain(options.iter().cloned()).collect();
    Functions::call(call.state, "to.device", &args)
}

/// `torch.asarray`. Tensors are returned as they are, buffers and arrays share their memory, and other values are
/// copied.
fn asarray(call: &mut Call) -> Result<Value> {
    let (dtype, device) = (call.opt_dtype(1), call.opt_device(2)?);
    let copy = if call.is_none(3) { None } else { Some(call.bool(3)?) };
    let tensor = match call.value(0) {
        Value::Tensor(tensor) => tensor,
        capsule if let Some(Ok(tensor)) = dlpack::taken(&capsule) => tensor,
        Value::Object(object) if let Some(array) = object.tensor_elements() => Tensor::new(array?),
        Value::Buffer(buffer) => {
            let dtype = dtype.unwrap_or_else(|| call.state.default_dtype.get());
            Tensor::new(objects::strings::buffers::shared(&buffer, dtype, -1, 0)?)
        }
        _ if copy == Some(false) => bail!(ValueError, "can't alias arbitrary sequence into a tensor."),
        data => {
            let view = from_data(&data, dtype, call.state.default_dtype.get())?;
            return on_device(view, call.device_keyword()?);
        }
    };
    let view = tensor.view();
    let (wanted, place) = (dtype.unwrap_or(view.dtype), device.unwrap_or(view.device()));
    if copy == Some(false) && place.kind != view.device().kind {
        bail!(ValueError, "can't alias tensor from device '{}' to '{place}'.", view.device());
    }
    if copy == Some(false) && wanted != view.dtype {
        bail!(
            ValueError,
            "can't alias tensor with dtype '{}' into dtype '{}'.",
            view.dtype.scalar_type(),
            wanted.scalar_type()
        );
    }
    let is_wrong = wanted != view.dtype || place.kind != view.device().kind;
    if is_wrong || copy == Some(true) {
        let made = if is_wrong {
            let force = Value::Bool(copy == Some(true));
            moved(call, &tensor, &[Value::Device(place), Value::DType(wanted), Value::Bool(false), force])?
        } else {
            Functions::call(call.state, "clone", &[Value::Tensor(tensor.clone())])?
        };
        return Ok(match made {
            Value::Tensor(made) if made.requires_grad() && !call.bool(4)? => Value::Tensor(made.detach()),
            other => other,
        });
    }
    if !tensor.requires_grad() || call.bool(4)? {
        return Ok(Value::Tensor(tensor));
    }
    // A leaf tensor is returned itself, with `requires_grad` switched off. Other tensors are detached.
    if !tensor.is_leaf() || tensor.base().is_some() {
        return Ok(Value::Tensor(tensor.detach()));
    }
    tensor.autograd_mut(|meta| meta.requires_grad = false);
    Ok(Value::Tensor(tensor))
}
