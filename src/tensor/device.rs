//! The devices of tensors. Only `cpu` and `meta` exist here. The names of other devices are known, but using them fails
//! as in PyTorch on a machine without the hardware.

use super::error::{Error, ErrorKind, Result};
use std::fmt;

/// A device that holds memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Device {
    pub kind: DeviceKind,
    /// The number after the colon, if one was given.
    pub index: Option<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DeviceKind {
    Cpu,
    Meta,
    /// Without memory, like `meta`, under the name of another device: a device of PyTorch's `FakeTensor`.
    Fake(&'static str),
    /// A device type that PyTorch knows, but this machine does not have.
    Absent(&'static str),
}

/// Every device type that PyTorch 2.7 accepts in a device string, in the order of its error message.
const KNOWN: &[&str] = &[
    "cpu",
    "cuda",
    "ipu",
    "xpu",
    "mkldnn",
    "opengl",
    "opencl",
    "ideep",
    "hip",
    "ve",
    "fpga",
    "maia",
    "xla",
    "lazy",
    "vulkan",
    "mps",
    "meta",
    "hpu",
    "mtia",
    "privateuseone",
];

impl Device {
    pub const CPU: Device = Device { kind: DeviceKind::Cpu, index: None };
    pub const META: Device = Device { kind: DeviceKind::Meta, index: None };

    /// Parses `"cpu"`, `"meta"`, `"cuda:0"` and the like.
    ///
    /// # Errors
    /// RuntimeError, in PyTorch's words, for a malformed or unknown device string.
    pub fn parse(text: &str) -> Result<Device> {
        let invalid = || Error::runtime(format!("Invalid device string: '{text}'"));
        let (name, index) = match text.split_once(':') {
            None => (text, None),
            Some((name, digits)) => {
                let plain = !digits.is_empty()
                    && digits.bytes().all(|b| b.is_ascii_digit())
                    && (digits == "0" || !digits.starts_with('0'));
                (name, Some(if plain { digits.parse().map_err(|_| invalid())? } else { return Err(invalid()) }))
            }
        };
        let known = KNOWN.iter().find(|k| **k == name);
        let kind = match known {
            Some(&"cpu") => DeviceKind::Cpu,
            Some(&"meta") => DeviceKind::Meta,
            Some(&other) => DeviceKind::Absent(other),
            None if !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphabetic() || b == b'_') => {
                return Err(Error::runtime(format!(
                    "Expected one of {} device type at start of device string: {name}",
                    KNOWN.join(", ")
                )));
            }
            None => return Err(invalid()),
        };
        Ok(Device { kind, index })
    }

    pub fn name(self) -> &'static str {
        match self.kind {
            DeviceKind::Cpu => "cpu",
            DeviceKind::Meta => "meta",
            DeviceKind::Absent(name) | DeviceKind::Fake(name) => name,
        }
    }

    /// Returns a fake device of this name. Device types with several devices get index 0 by default.
    pub fn as_fake(self) -> Device {
        let index = self.index.or(matches!(self.kind, DeviceKind::Absent(_)).then_some(0));
        Device { kind: DeviceKind::Fake(self.name()), index }
    }

    pub fn is_fake(self) -> bool {
        matches!(self.kind, DeviceKind::Fake(_))
    }

    /// Returns whether the device has no memory, like `meta` and fake devices.
    pub fn is_meta(self) -> bool {
        matches!(self.kind, DeviceKind::Meta | DeviceKind::Fake(_))
    }

    /// Returns the device itself, if it is available.
    ///
    /// # Errors
    /// The error that PyTorch raises on a machine without the hardware.
    pub fn available(self) -> Result<Device> {
        match self.kind {
            DeviceKind::Cpu | DeviceKind::Meta | DeviceKind::Fake(_) => Ok(self),
            DeviceKind::Absent("cuda") => Err(Error::runtime(
                "Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU and installed a \
                 driver from http://www.nvidia.com/Download/index.aspx",
            )),
            DeviceKind::Absent("xpu") => {
                Err(Error::new(ErrorKind::AssertionError, "Torch not compiled with XPU enabled"))
            }
            DeviceKind::Absent("hpu") => Err(Error::new(ErrorKind::ModuleNotFoundError, "No module named 'torch.hpu'")),
            DeviceKind::Absent(name) => Err(Error::not_implemented(format!(
                "Could not run 'aten::empty.memory_format' with arguments from the '{}' backend. There is no such \
                 device here; cpu and meta exist",
                name.to_uppercase()
            ))),
        }
    }
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.index {
            Some(index) => write!(f, "{}:{index}", self.name()),
            None => f.write_str(self.name()),
        }
    }
}
