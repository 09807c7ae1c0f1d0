//! Conversions between dtypes and devices. Follows <https://pytorch.org/docs/2.7/generated/torch.Tensor.to.html>.

use super::quantized;
use super::sparse_kernels;
use call::facets::{
    Dispatch::{AsIs, Given, Own},
    NameInference::{Keeps, Nameless},
};
use call::reads::EACH;
use call::{Call, Row, function, method};
use tensor::bail;
use tensor::ops::{copy, promote};
use tensor::{DType, Device, Error, Result, View, can_cast, promote_types};
use value::{MemoryFormat, Value};

pub(crate) const ROWS: &[Row] = &[
    method(
        "to.device(Tensor(a) self, Device? device=None, ScalarType? dtype=None, bool non_blocking=False, bool \
 copy=False, *, MemoryFormat? memory_format=None) -> Tensor(a)",
        |c| {
            let d = c.opt_dtype(2);
            let copy = c.bool(4)?;
            let device = c.opt_device(1)?;
            convert(c, d, device, copy, 5)
        },
        "Converts to another device or dtype; returns the tensor itself if nothing changes.",
    )
    .reads(EACH)
    .names(Keeps)
    .sparse(Given)
    .quantized(Own(quantized::convert))
    .derivative_of("_to_copy"),
    method(
        "to.dtype(Tensor(a) self, ScalarType dtype, bool non_blocking=False, bool copy=False, *, \
 MemoryFormat? memory_format=None) -> Tensor(a)",
        |c| {
            let d = c.opt_dtype(1);
            let copy = c.bool(3)?;
            convert(c, d, None, copy, 4)
        },
        "Converts to another dtype; returns the tensor itself if it already has it.",
    )
    .reads(EACH)
    .names(Keeps)
    .sparse(Given)
    .quantized(Own(quantized::convert))
    .derivative_of("_to_copy"),
    method(
        "to.other(Tensor(a) self, Tensor tensor, bool non_blocking=False, bool copy=False, *, MemoryFormat? \
 memory_format=None) -> Tensor(a)",
        |c| {
            let other = c.view(1)?;
            let copy = c.bool(3)?;
            convert(c, Some(other.dtype), Some(other.device()), copy, 4)
        },
        "Converts to the dtype and device of another tensor.",
    )
    .names(Keeps)
    .sparse(Own(sparse_kernels::to_other))
    .quantized(Own(quantized::convert))
    .derivative_of("_to_copy"),
    method(
        "type_as(Tensor(a) self, Tensor other) -> Tensor(a)",
        |c| {
            let d = c.view(1)?.dtype;
            convert(c, Some(d), None, false, 2)
        },
        "Converts to the dtype of another tensor.",
    )
    .names(Keeps)
    .sparse(Own(sparse_kernels::to_other))
    .derivative_of("_to_copy")
    .quantized(Own(quantized::convert)),
    method(
        "cpu(Tensor(a) self, *, MemoryFormat? memory_format=torch.preserve_format) -> Tensor(a)",
        |c| convert(c, None, Some(Device::CPU), false, 1),
        "Moves the tensor to the CPU.",
    )
    .names(Keeps)
    .sparse(Given)
    .quantized(Own(quantized::convert))
    .derivative_of("_to_copy"),
    method(
        "cuda(Tensor(a) self, Device? device=None, bool non_blocking=False, *, MemoryFormat? \
 memory_format=torch.preserve_format) -> Tensor(a)",
        |_| Device::parse("cuda")?.available().map(Value::Device),
        "Moves the tensor to a CUDA device; there is none.",
    )
    .derivative_of("_to_copy"),
    method(
        "type(Tensor(a) self, any dtype=None, bool non_blocking=False, *, MemoryFormat? \
 memory_format=torch.preserve_format) -> Tensor(a)",
        type_,
        "Returns the legacy name of the tensor's type, or converts to another type.",
    )
    .names(Keeps)
    .sparse(Own(sparse_kernels::type_name))
    .quantized(Own(quantized::type_name))
    .derivative_of("_to_copy"),
    function(
        "promote_types(ScalarType type1, ScalarType type2) -> ScalarType",
        |c| promote_types(known(c, 0)?, known(c, 1)?).map(Value::DType),
        "Returns the smallest dtype both convert to.",
    ),
    function(
        "can_cast(ScalarType from_, ScalarType to) -> bool",
        |c| Ok(Value::Bool(can_cast(known(c, 0)?, known(c, 1)?))),
        "Returns whether a result of one dtype may be written into the other.",
    ),
    function(
        "result_type(Tensor tensor, Tensor other) -> ScalarType",
        |c| {
            let (a, b) = (super::pointwise::Argument::of(c, 0)?, super::pointwise::Argument::of(c, 1)?);
            promote::result_type(&[a.operand(), b.operand()], c.state.default_dtype.get()).map(Value::DType)
        },
        "Returns the dtype of an operation on two operands.",
    )
    .aliases(&[
        "result_type.Scalar_Tensor(Scalar scalar, Tensor tensor) -> ScalarType",
        "result_type.Scalar(Tensor tensor, Scalar other) -> ScalarType",
        "result_type.Scalar_Scalar(Scalar scalar1, Scalar scalar2) -> ScalarType",
    ])
    .sparse(AsIs)
    .names(Nameless),
    function(
        "get_default_dtype() -> ScalarType",
        |c| Ok(Value::DType(c.state.default_dtype.get())),
        "Returns the dtype of new floating-point tensors.",
    ),
    function("set_default_dtype(any d) -> None", set_default_dtype, "Sets the dtype of new floating-point tensors.")
        .python("set_default_dtype"),
    method(
        "to_complex(ScalarType self) -> ScalarType",
        |c| known(c, 0)?.to_complex().map(Value::DType),
        "Returns the complex dtype whose parts have this dtype.",
    ),
    method(
        "to_real(ScalarType self) -> ScalarType",
        |c| Ok(Value::DType(known(c, 0)?.to_real())),
        "Returns the dtype of the parts.",
    ),
];

/// The method for each dtype: its name, the dtype, and the dtype's name in Python.
macro_rules! casts {
    ($($name:literal $dtype:ident $shown:literal;)*) => {
        pub(crate) const CASTS: &[Row] = &[$(
            method(
                concat!($name, "(Tensor(a) self, *, MemoryFormat? memory_format=torch.preserve_format) -> Tensor(a)"),
                |c| convert(c, Some(DType::$dtype), None, false, 1),
                concat!("Converts to ", $shown, "."),
            )
            .names(Keeps)
            .sparse(Given)
            .quantized(Own(quantized::cast))
            .derivative_of("_to_copy"),
        )*];
    };
}

casts! {
    "bool" Bool "bool";
    "byte" Byte "uint8";
    "char" Char "int8";
    "short" Short "int16";
    "int" Int "int32";
    "long" Long "int64";
    "half" Half "float16";
    "bfloat16" BFloat16 "bfloat16";
    "float" Float "float32";
    "double" Double "float64";
    "chalf" ComplexHalf "complex32";
    "cfloat" ComplexFloat "complex64";
    "cdouble" ComplexDouble "complex128";
}

fn known(call: &Call, index: usize) -> Result<DType> {
    call.opt_dtype(index).ok_or_else(|| Error::type_error("a dtype is needed"))
}

fn convert(call: &mut Call, dtype: Option<DType>, device: Option<Device>, copy: bool, format: usize) -> Result<Value> {
    let view = call.view(0)?;
    let dtype = dtype.unwrap_or(view.dtype);
    // Converting a fake tensor gives a fake tensor, whatever device is asked for.
    let device = device.map_or(view.device(), |device| if view.device().is_fake() { device.as_fake() } else { device });
    let format = call.memory_format(format).unwrap_or(MemoryFormat::Preserve);
    let stays = format == MemoryFormat::Preserve || format == MemoryFormat::suggested(&view.layout);
    if dtype == view.dtype && device.kind == view.device().kind && !copy && stays {
        return Ok(call.itself());
    }
    if device.kind != view.device().kind {
        if view.device().is_meta() && !view.device().is_fake() {
            bail!(NotImplementedError, "Cannot copy out of meta tensor; no data!");
        }
        let strides = format.strides_like(&view.layout)?;
        return View::zeros_strided(view.sizes(), strides, dtype, device).map(Value::from);
    }
    if view.dtype.is_complex() && !dtype.is_complex() && dtype != DType::Bool {
        call.state.warn_once(
            "UserWarning",
            "Casting complex values to real discards the imaginary part (Triggered internally at \
 /pytorch/aten/src/ATen/native/Copy.cpp:307.)",
        );
    }
    copy::cast_as(&view, dtype, format).map(Value::from)
}

fn type_(call: &mut Call) -> Result<Value> {
    let dtype = match call.value(1) {
        Value::None => {
            let view = call.view(0)?;
            let module = if view.device().is_meta() { "meta." } else { "" };
            return Ok(Value::str(format!("torch.{module}{}", view.type_name())));
        }
        Value::DType(dtype) => dtype,
        Value::Str(name) => legacy(call, &name)?,
        // The classes of tensors are functions here.
        Value::Function(name) if name.ends_with("Tensor") => legacy(call, &format!("torch.{name}"))?,
        Value::Type(name) => legacy(call, name.strip_prefix("torch.nn.parameter.").unwrap_or(name))?,
        _ => bail!(TypeError, "dtype must be a type, str, or dtype object"),
    };
    convert(call, Some(dtype), None, false, 3)
}

/// Parses a legacy type name such as `torch.IntTensor`. `torch.Tensor` stands for the default dtype.
fn legacy(call: &Call, name: &str) -> Result<DType> {
    let invalid = || Error::value(format!("invalid type: '{name}'"));
    let of_module = name.strip_prefix("torch.").ok_or_else(invalid)?;
    if of_module == "Tensor" {
        return Ok(call.state.default_dtype.get());
    }
    let (on_cuda, class) = match of_module.strip_prefix("cuda.") {
        Some(class) => (true, class),
        None => (false, of_module.strip_prefix("sparse.").unwrap_or(of_module)),
    };
    let is_of = |dtype: &DType| Some(dtype.scalar_type()) == class.strip_suffix("Tensor");
    let found = DType::ALL.iter().copied().find(is_of).ok_or_else(invalid)?;
    if on_cuda {
        super::storage_devices::no_driver()?;
    }
    Ok(found)
}

fn set_default_dtype(call: &mut Call) -> Result<Value> {
    match call.value(0) {
        Value::DType(dtype) if dtype.is_floating_point() && !dtype.is_float8() => {
            call.state.default_dtype.set(dtype);
            Ok(Value::None)
        }
        Value::DType(dtype) if dtype.is_float8() => {
            bail!(TypeError, "couldn't find storage object {}Storage", dtype.scalar_type())
        }
        Value::DType(_) => bail!(TypeError, "only floating-point types are supported as the default type"),
        _ => bail!(TypeError, "invalid dtype object: only floating-point types are supported as the default type"),
    }
}
