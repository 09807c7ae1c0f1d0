//! Moves, pinning and device queries of storages. Only `cpu` and `meta` exist here, so most of these fail with
//! PyTorch's errors on a machine without other devices. Follows <https://pytorch.org/docs/2.7/storage.html>.

use super::typed_storages::typed;
use call::{Call, Row, method};
use tensor::{Device, Error, Result, Storage, TypedStorage, bail};
use value::Value;

macro_rules! rows {
    ($(($class:literal, $path:literal)),*) => {
        pub(crate) const ROWS: &[Row] = &[$(
            method(concat!("cpu(", $class, " self) -> ", $class), cpu, "Moves the storage to the CPU; returns the storage itself unless it has no data.").python(concat!($path, ".cpu")),
            method(concat!("cuda(", $class, " self, any device=None, any non_blocking=False) -> ", $class), cuda, "Moves the storage to a CUDA device; there is none.").python(concat!($path, ".cuda")),
            method(concat!("hpu(", $class, " self, any device=None, any non_blocking=False) -> ", $class), hpu, "Moves the storage to an HPU; there is none.").python(concat!($path, ".hpu")),
            method(concat!("to(", $class, " self, *, any device, any non_blocking=False) -> ", $class), to, "Moves the storage to another device.").python(concat!($path, ".to")),
            method(concat!("is_pinned(", $class, " self, any device=\"cuda\") -> bool"), is_pinned, "Returns whether the storage is in pinned memory: never here.").python(concat!($path, ".is_pinned")),
            method(concat!("pin_memory(", $class, " self, any device=\"cuda\") -> ", $class), pin_memory, "Moves the storage to pinned memory, which needs another device.").python(concat!($path, ".pin_memory")),
        )*
            method(
                "pin_memory(Tensor self) -> Tensor",
                |_| no_driver(),
                "Moves the tensor to pinned memory, which needs a CUDA device.",
            ).operation("_pin_memory").not_differentiable(),
            method(
                "mps(UntypedStorage self) -> UntypedStorage",
                |_| bail!(RuntimeError, "torch.UntypedStorage(): Storage device not recognized: mps"),
                "Moves the storage to an Apple GPU; there is none.",
            )
            .python("_StorageBase.mps"),
        ];
    };
}

rows!(("UntypedStorage", "_StorageBase"), ("TypedStorage", "TypedStorage"));

/// Fails like every function that needs a CUDA device.
pub(crate) fn no_driver() -> Result<Value> {
    Device::parse("cuda").and_then(Device::available).map(Value::Device)
}

/// Returns the storage of either class. A typed one warns that it is deprecated.
fn storage_of(call: &Call) -> Result<Storage> {
    match call.value(0) {
        Value::TypedStorage(_) => typed(call).map(|typed| typed.storage),
        _ => call.storage(0),
    }
}

/// Returns the storage to move to a device. Quantized storages are refused whatever the device is.
fn storage_for(call: &Call, device: &str) -> Result<Storage> {
    if let Value::TypedStorage(_) = call.value(0)
        && typed(call)?.dtype.is_quantized()
    {
        bail!(RuntimeError, "Cannot create {device} storage with quantized dtype");
    }
    storage_of(call)
}

fn cpu(call: &mut Call) -> Result<Value> {
    moved_to(&storage_of(call)?, Device::CPU)?;
    Ok(match call.itself() {
        // A typed storage gets a new wrapper.
        Value::TypedStorage(typed) => Value::TypedStorage(TypedStorage::new(typed.storage.clone(), typed.dtype)),
        itself => itself,
    })
}

/// Parses the index of a device, as `torch.device("cuda", index)` accepts it.
fn number(value: &Value) -> Result<i64> {
    match value {
        Value::None => Ok(0),
        Value::Int(i) if *i < 0 => bail!(RuntimeError, "Device index must not be negative"),
        Value::Int(i) => Ok(*i),
        other => bail!(TypeError, "device(): argument 'index' (position 2) must be int, not {}", other.type_name()),
    }
}

fn cuda(call: &mut Call) -> Result<Value> {
    storage_for(call, "CUDA")?;
    on_cuda(number(&call.value(1))?)
}

/// Like PyTorch, reports the missing driver only for an index above 0.
fn on_cuda(number: i64) -> Result<Value> {
    if number > 0 { no_driver() } else { bail!(RuntimeError, "invalid argument to exchangeDevice") }
}

fn hpu(call: &mut Call) -> Result<Value> {
    storage_for(call, "HPU")?;
    number(&call.value(1))?;
    bail!(AssertionError, "HPU device module is not loaded")
}

fn to(call: &mut Call) -> Result<Value> {
    let device = match call.value(1) {
        Value::Str(name) => Device::parse(&name)?,
        Value::Device(device) => device,
        Value::Int(index) if index < 0 => bail!(RuntimeError, "Device index must not be negative"),
        Value::Int(index) => {
            storage_for(call, "CUDA")?;
            return Device::parse(&format!("cuda:{index}"))?.available().map(Value::Device);
        }
        other => bail!(
            TypeError,
            "device() received an invalid combination of arguments - got ({}), but expected one of:",
            other.type_name()
        ),
    };
    moved_to(&storage_for(call, &device.name().to_uppercase())?, device)?;
    Ok(call.itself())
}

/// Fails unless the storage is already on the device.
///
/// # Errors
/// PyTorch's errors for devices that are not available.
fn moved_to(storage: &Storage, device: Device) -> Result<()> {
    match device.name() {
        name if name == storage.device().name() => Ok(()),
        "cpu" => bail!(NotImplementedError, "Cannot copy out of meta tensor; no data!"),
        "cuda" => on_cuda(device.index.map_or(0, i64::from)).map(drop),
        "mps" => bail!(AttributeError, "module 'torch.mps' has no attribute 'device'"),
        "xpu" => bail!(NotImplementedError, "PyTorch was compiled without XPU support"),
        other => bail!(AssertionError, "{} device module is not loaded", other.to_uppercase()),
    }
}

/// Returns the device that memory is, or will be, pinned for.
fn pinned_for(call: &Call, function: &str) -> Result<Device> {
    match call.value(1) {
        Value::None => Device::parse("cuda"),
        Value::Str(name) => Device::parse(&name),
        Value::Device(device) => Ok(device),
        Value::Int(index) if index < 0 => bail!(RuntimeError, "Device index must not be negative"),
        Value::Int(index) => Device::parse(&format!("cuda:{index}")),
        other => bail!(
            TypeError,
            "{function}(): argument 'device' (position 1) must be torch.device, not {}",
            other.type_name()
        ),
    }
}

fn is_pinned(call: &mut Call) -> Result<Value> {
    storage_of(call)?;
    pinned_for(call, "is_pinned").map(|_| Value::Bool(false))
}

fn pin_memory(call: &mut Call) -> Result<Value> {
    if storage_of(call)?.device().is_meta() {
        bail!(TypeError, "cannot pin 'torch.storage.UntypedStorage' only CPU memory can be pinned");
    }
    let device = pinned_for(call, "pin_memory")?;
    Err(match device.name() {
        "cuda" => return no_driver(),
        "xpu" => Error::runtime("Cannot initialize XPU without ATen_xpu library."),
        "hpu" => Error::runtime("Cannot initialize HPU without HPU backend"),
        other => Error::runtime(format!("{} device type not an accelerator.", other.to_uppercase())),
    })
}
