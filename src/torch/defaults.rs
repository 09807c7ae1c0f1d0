//! Defaults for new tensors: their device and, the legacy way, their class. Follows
//! <https://pytorch.org/docs/2.7/generated/torch.set_default_device.html>.

use call::{Call, Row, function};
use tensor::{Device, Result, bail};
use value::Value;

pub(crate) const ROWS: &[Row] = &[
    function(
        "set_default_device(any device) -> None",
        set_default_device,
        "Sets the device on which new tensors are made.",
    )
    .python("set_default_device"),
    function("get_default_device() -> Device", get_default_device, "Sets the device on which new tensors are made.")
        .python("get_default_device"),
    function(
        "set_default_tensor_type(any t) -> None",
        set_default_tensor_type,
        "Makes the dtype of a tensor class the default.",
    )
    .python("set_default_tensor_type"),
    function(
        "set_flush_denormal(bool mode) -> bool",
        |_| Ok(Value::Bool(false)),
        "Returns whether denormal numbers can be flushed to zero: never here.",
    ),
];

fn set_default_device(call: &mut Call) -> Result<Value> {
    let device = match call.value(0) {
        Value::None => None,
        Value::Device(device) => Some(device),
        Value::Str(name) => Some(Device::parse(&name)?),
        Value::Int(index) => Some(Device::parse(&format!("cuda:{index}"))?),
        other => bail!(TypeError, "device(): argument 'type' (position 1) must be str, not {}", other.type_name()),
    };
    call.state.default_device.set(device);
    Ok(Value::None)
}

fn get_default_device(call: &mut Call) -> Result<Value> {
    let device = call.state.default_device.get().unwrap_or(Device::CPU);
    // If the device has no index, its current index must be determined first.
    if device.index.is_some() { Ok(Value::Device(device)) } else { device.available().map(Value::Device) }
}

fn set_default_tensor_type(call: &mut Call) -> Result<Value> {
    let name = match call.value(0) {
        Value::Type(class) => class.to_owned(),
        Value::Str(class) => class.to_string(),
        _ => bail!(TypeError, "invalid type object"),
    };
    let class = name.strip_prefix("torch.").and_then(objects::legacy_classes::legacy_tensor_class);
    match class {
        Some((_, dtype)) if dtype.is_floating_point() => {
            call.state.default_dtype.set(dtype);
            Ok(Value::None)
        }
        Some(_) => bail!(TypeError, "only floating-point types are supported as the default type"),
        None => bail!(TypeError, "invalid type object"),
    }
}
