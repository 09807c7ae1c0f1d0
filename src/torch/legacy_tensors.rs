//! The legacy tensor classes, `torch.Tensor(…)`, `torch.FloatTensor(…)` and so on, and `tensor.new(…)`. They create a
//! tensor from a size, a sequence of elements, a storage, or another tensor. Follows
//! <https://pytorch.org/docs/2.7/tensors.html>.

use super::storage_devices::no_driver;
use call::dispatch::outs;
use call::facets::{
    Dispatch::Own,
    NameInference::{Keeps, Unsupported},
};
use call::{Call, Row, function, method};
use objects::data::from_data;
use tensor::ops::sparse;
use tensor::{DType, Device, Error, Layout, Result, Storage, Tensor, View, bail};
use value::Value;

fn dtype_by(call: &Call, dtype: fn(&Call) -> DType) -> DType {
    dtype(call)
}

/// The eight overloads of one class, in the order in which they are tried. `$first` is the text before the parameters:
/// the receiver, for the method.
macro_rules! forms {
    ($row:ident, $name:literal, $first:literal, $doc:literal, $at:literal, $dtype:expr) => {
        [
            $row(
                concat!($name, "(", $first, "*, Device? device=None) -> Tensor"),
                |c| {
                    on_cpu(c, $at)?;
                    View::zeros(&[0], dtype_by(c, $dtype), Device::CPU).map(Value::from)
                },
                $doc,
            )
            .sparse(Own(of_sparse))
            .shown_as("new")
            .not_differentiable(),
            $row(
                concat!($name, ".storage(", $first, "Storage storage, *, Device? device=None) -> Tensor"),
                |c| over_storage(c, $at, dtype_by(c, $dtype)),
                $doc,
            )
            .sparse(Own(of_sparse))
            .shown_as("new")
            .not_differentiable(),
            $row(
                concat!($name, ".other(", $first, "Tensor other) -> Tensor"),
                |c| another_name(c, $at, dtype_by(c, $dtype), $name == "Tensor"),
                $doc,
            )
            .names(if $at == 0 { Keeps } else { Unsupported })
            .sparse(Own(of_sparse))
            .shown_as("new")
            .not_differentiable(),
            $row(
                concat!($name, ".other_on(", $first, "Tensor other, *, Device? device) -> Tensor"),
                |_| {
                    if $at == 0 {
                        bail!(
                            RuntimeError,
                            "Legacy tensor constructor of the form torch.Tensor(tensor, device=device) is not supported.  \
                             Use torch.tensor(...) or torch.as_tensor(...) instead."
                        )
                    }
                    bail!(
                        RuntimeError,
                        "Legacy tensor new of the form tensor.new(tensor, device=device) is not supported.  Use \
                         torch.as_tensor(...) instead."
                    )
                },
                $doc,
            )
            .shown_as("new")
            .not_differentiable(),
            $row(
                concat!($name, ".shape(", $first, "Size size, *, Device? device=None) -> Tensor"),
                |c| of_size(c, $at, dtype_by(c, $dtype)),
                $doc,
            )
            .sparse(Own(of_sparse))
            .shown_as("new")
            .not_differentiable(),
            $row(
                concat!($name, ".sequence(", $first, "Sequence data, *, Device? device=None) -> Tensor"),
                |c| of_data(c, $at, dtype_by(c, $dtype)),
                $doc,
            )
            .sparse(Own(of_sparse))
            .shown_as("new")
            .not_differentiable(),
            $row(
                concat!($name, ".size(", $first, "int[] size, *, Device? device=None) -> Tensor"),
                |c| of_size(c, $at, dtype_by(c, $dtype)),
                $doc,
            )
            .sparse(Own(of_sparse))
            .shown_as("new")
            .not_differentiable(),
            $row(
                concat!($name, ".data(", $first, "any data, *, Device? device=None) -> Tensor"),
                |c| of_data(c, $at, dtype_by(c, $dtype)),
                $doc,
            )
            .sparse(Own(of_sparse))
            .shown_as("new")
            .not_differentiable(),
        ]
    };
}

macro_rules! classes {
    ($($name:literal $dtype:ident),*) => {
        /// The classes named after a dtype.
        pub(crate) const CLASSES: &[[Row; 8]] = &[$(
            forms!(function, $name, "", "Creates a tensor of one dtype (deprecated).", 0, |_| DType::$dtype),
        )*];

        /// The CUDA versions of these classes. Their names exist, but calling one fails.
        pub(crate) const ON_CUDA: &[Row] = &[$(
            function(concat!("cuda.", $name, "(any[] args, *, any device=None) -> Tensor"), |_| no_driver(), "Creates a tensor on a CUDA device; there is none.").python("Tensor.__new__"),
        )*];
    };
}

objects::each_legacy_tensor!(classes);

/// The four forms of a legacy class of sparse tensors, and the list of elements that it refuses.
macro_rules! sparse_classes {
    ($($name:literal $dtype:ident),*) => {
        /// The classes in `torch.sparse`.
        pub(crate) const SPARSE_CLASSES: &[[Row; 6]] = &[$([
            sparse_form(concat!("sparse.", $name, "(*, Device? device=None) -> Tensor"), |c| sparse_of_size(c, DType::$dtype)),
            sparse_form(concat!("sparse.", $name, ".indices(Tensor indices, Tensor values, *, Device? device=None) -> Tensor"), of_parts),
            sparse_form(concat!("sparse.", $name, ".indices_size(Tensor indices, Tensor values, int[] size, *, Device? device=None) -> Tensor"), of_parts),
            sparse_form(concat!("sparse.", $name, ".shape(Size size, *, Device? device=None) -> Tensor"), |c| sparse_of_size(c, DType::$dtype)),
            sparse_form(concat!("sparse.", $name, ".sequence(Sequence data, *, Device? device=None) -> Tensor"), |_| bail!(
                TypeError,
                "torch.sparse.SparseTensor(sequence) only accepts sizes.  Please use torch.sparse_coo_tensor() or construct a \
                 strided tensor and convert it to sparse via to_sparse."
            )),
            sparse_form(concat!("sparse.", $name, ".size(int[] size, *, Device? device=None) -> Tensor"), |c| sparse_of_size(c, DType::$dtype)),
        ]),*];
    };
}

const fn sparse_form(signature: &'static str, run: call::Run) -> Row {
    function(signature, run, "Creates a sparse tensor of one dtype (deprecated).").shown_as("new").not_differentiable()
}

sparse_classes! {
    "DoubleTensor" Double, "FloatTensor" Float, "HalfTensor" Half, "LongTensor" Long, "IntTensor" Int,
    "ShortTensor" Short, "CharTensor" Char, "ByteTensor" Byte, "BFloat16Tensor" BFloat16
}

/// The deprecation of one form: its parameters, those of `torch.sparse_coo_tensor`, and a line of PyTorch's source.
macro_rules! sparse_deprecated {
    ($call:expr, $parameters:literal, $instead:literal, $line:literal) => {
        $call.state.warn_once(
            "UserWarning",
            concat!(
                "torch.sparse.SparseTensor(",
                $parameters,
                ") is deprecated.  Please use torch.sparse_coo_tensor(",
                $instead,
                "). (Triggered internally at /pytorch/torch/csrc/utils/tensor_new.cpp:",
                $line,
                ".)"
            ),
        )
    };
}

fn sparse_of_size(call: &mut Call, dtype: DType) -> Result<Value> {
    on_cpu(call, 0)?;
    let size = call.position("size").map(|i| call.ints(i)).transpose()?;
    match size {
        Some(_) => sparse_deprecated!(call, "shape, *, device=", "shape, dtype=, device=", 683),
        None => sparse_deprecated!(call, "", "(0,), dtype=", 624),
    }
    sparse::empty_coo(size.as_deref().unwrap_or(&[0]), 0, dtype, Device::CPU).map(Value::from)
}

/// `torch.Tensor`, which has the default dtype, and the method `new`, which has the dtype of its tensor.
pub(crate) const ROWS: &[[Row; 8]] = &[
    forms!(function, "Tensor", "", "Creates a tensor of the default dtype.", 0, |c| c.state.default_dtype.get()),
    forms!(method, "new", "Tensor self, ", "Creates a tensor of the same dtype.", 1, |c| {
        c.tensor(0).map_or(DType::Float, |t| t.borrow().dtype)
    }),
];

/// The forms of `new` that only sparse tensors have.
pub(crate) const OF_PARTS: &[Row] = &[
    method(
        "new.indices_size(Tensor self, Tensor indices, Tensor values, int[] size, *, Device? device=None) -> Tensor",
        of_parts,
        "Creates a sparse tensor of the listed elements (deprecated).",
    )
    .sparse(Own(of_parts))
    .shown_as("new")
    .not_differentiable(),
    method(
        "new.indices(Tensor self, Tensor indices, Tensor values, *, Device? device=None) -> Tensor",
        of_parts,
        "Creates a sparse tensor of the listed elements (deprecated).",
    )
    .sparse(Own(of_parts))
    .shown_as("new")
    .not_differentiable(),
];

/// Creates a COO tensor from indices and values, which follow the receiver if there is one.
fn of_parts(call: &mut Call) -> Result<Value> {
    let first = usize::from(call.signature.receiver().is_some());
    if first == 0 {
        on_cpu(call, 0)?;
        match call.position("size") {
            Some(_) => sparse_deprecated!(
                call,
                "indices, values, shape, *, device=",
                "indices, values, shape, dtype=, device=",
                654
            ),
            None => sparse_deprecated!(call, "indices, values, *, device=", "indices, values, dtype=, device=", 642),
        }
    } else if call.tensor(0)?.borrow().coo().is_none() {
        bail!(
            TypeError,
            "new() received an invalid combination of arguments - got (Tensor, Tensor), but expected one of:"
        );
    }
    let (indices, values) = (call.view(first)?, call.view(first + 1)?);
    if indices.dtype != DType::Long {
        bail!(RuntimeError, "expected scalar type Long but found {}", indices.dtype.scalar_type());
    }
    let size = call.position("size").map(|i| call.ints(i)).transpose()?;
    sparse::new_coo(&indices, &values, size.as_deref(), None, false).map(Value::from)
}

/// `new` of a sparse tensor, which makes one without elements.
fn of_sparse(call: &mut Call) -> Result<Value> {
    let key = call.signature.key;
    let dtype = match call.value(0) {
        Value::Tensor(this) if this.borrow().coo().is_some() && call.signature.name == "new" => this.borrow().dtype,
        _ => return Err(Error::no_backend(key, "SparseCPU")),
    };
    match key {
        "new" => sparse::empty_coo(&[0], 0, dtype, Device::CPU).map(Value::from),
        "new.size" | "new.shape" => sparse::empty_coo(&call.ints(1)?, 0, dtype, Device::CPU).map(Value::from),
        _ if matches!(call.value(1), Value::Tuple(_)) => bail!(
            TypeError,
            "SparseTensor.new(sequence) only accepts sizes.  Please use torch.sparse_coo_tensor() or construct a strided \
             tensor and convert it to sparse via to_sparse."
        ),
        _ => bail!(
            TypeError,
            "new() received an invalid combination of arguments - got ({}), but expected one of:",
            call.value(1).type_name()
        ),
    }
}

/// Fails with RuntimeError if a device other than the CPU is given.
fn on_cpu(call: &Call, first: usize) -> Result<()> {
    match call.args.get(first..).unwrap_or_default().iter().find(|v| matches!(v, Value::Device(_))) {
        Some(Value::Device(device)) if device.name() != "cpu" => bail!(
            RuntimeError,
            "legacy constructor expects device type: cpu but device type: {} was passed",
            device.name()
        ),
        _ => Ok(()),
    }
}

fn of_size(call: &mut Call, first: usize, dtype: DType) -> Result<Value> {
    on_cpu(call, first)?;
    let view = View::zeros(&call.ints(first)?, dtype, Device::CPU)?;
    outs::fill_new(call.state, &view)?;
    Ok(view.into())
}

fn of_data(call: &mut Call, first: usize, dtype: DType) -> Result<Value> {
    on_cpu(call, first)?;
    let data = call.value(first);
    let is_sequence = match &data {
        Value::Object(object) => object.has_special("__getitem__") || object.elements().is_some(),
        Value::Set(_) | Value::Dict(_) => false,
        other => other.sequence().is_some(),
    };
    if !is_sequence && !matches!(data, Value::Str(_) | Value::Buffer(_)) {
        bail!(TypeError, "new(): data must be a sequence (got {})", data.type_name());
    }
    from_data(&data, Some(dtype), dtype).map(Value::from)
}

/// Creates a tensor of all elements of a storage. The tensor shares the storage.
fn over_storage(call: &mut Call, first: usize, dtype: DType) -> Result<Value> {
    let storage: Storage = call.storage(first)?;
    if let Value::TypedStorage(typed) = call.value(first)
        && typed.dtype != dtype
    {
        bail!(
            RuntimeError,
            "Expected a Storage of type {} or an UntypedStorage, but got type {} for argument 1 'storage'",
            dtype.scalar_type(),
            typed.dtype.scalar_type()
        );
    }
    if storage.device() != Device::CPU {
        bail!(
            RuntimeError,
            "Attempted to set the storage of a tensor on device \"cpu\" to a storage on different device \"{}\".  This \
             is no longer allowed; the devices must match.",
            storage.device()
        );
    }
    let layout = Layout::contiguous(&[(storage.nbytes() / dtype.itemsize()) as i64]);
    Ok(View { storage, layout, dtype, conj: false, neg: false, form: None }.into())
}

/// Creates a tensor over the same elements, detached from the gradient graph. Only `torch.Tensor` accepts every dtype.
fn another_name(call: &mut Call, first: usize, dtype: DType, any: bool) -> Result<Value> {
    let other: Tensor = call.tensor(first)?.clone();
    let got = other.borrow().dtype;
    if got != dtype && !any {
        let options = |dtype: DType| {
            format!(
                "TensorOptions(dtype={}, device=cpu, layout=Strided, requires_grad=false (default), \
                 pinned_memory=false (default), memory_format=(nullopt))",
                dtype.cpp_name()
            )
        };
        bail!(TypeError, "expected {} (got {})", options(dtype), options(got));
    }
    Ok(Value::Tensor(other.detach()))
}
