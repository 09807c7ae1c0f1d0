//! The settings that undo restores.

use call::State;
use explain::format::PrintOptions;
use std::collections::BTreeMap;
use std::rc::Rc;
use tensor::{DType, Device, parallel};
use value::Value;

/// A copy of the settings.
#[derive(Clone, PartialEq)]
pub(super) struct Settings {
    default_dtype: DType,
    default_device: Option<Device>,
    print_options: PrintOptions,
    grad_enabled: bool,
    inference: bool,
    anomaly: (bool, bool),
    deterministic: (bool, bool),
    skip_data: bool,
    threads: usize,
    flags: Flags,
    generator: Vec<u8>,
}

/// The attributes of modules. Any change makes a new map.
#[derive(Clone)]
struct Flags(Rc<BTreeMap<String, Value>>);

impl PartialEq for Flags {
    fn eq(&self, other: &Flags) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }
}

impl Settings {
    pub(super) fn take(state: &State) -> Settings {
        Settings {
            default_dtype: state.default_dtype.get(),
            default_device: state.default_device.get(),
            print_options: *state.print_options.borrow(),
            grad_enabled: state.grad_enabled.get(),
            inference: state.inference.get(),
            anomaly: state.anomaly.get(),
            deterministic: state.deterministic.get(),
            skip_data: state.skip_data.get(),
            threads: parallel::cores(),
            flags: Flags(state.flags.borrow().clone()),
            generator: state.generator.borrow().state_bytes(),
        }
    }

    pub(super) fn restore(&self, state: &State) {
        state.default_dtype.set(self.default_dtype);
        state.default_device.set(self.default_device);
        *state.print_options.borrow_mut() = self.print_options;
        state.grad_enabled.set(self.grad_enabled);
        state.inference.set(self.inference);
        state.anomaly.set(self.anomaly);
        state.deterministic.set(self.deterministic);
        state.skip_data.set(self.skip_data);
        parallel::set_cores(self.threads);
        *state.flags.borrow_mut() = self.flags.0.clone();
        // Cannot fail: the bytes come from a generator of the same kind.
        let _ = state.generator.borrow_mut().set_state_bytes(&self.generator);
    }

    /// Returns the names of the settings that differ.
    pub(super) fn differences(&self, other: &Settings) -> Vec<&'static str> {
        let settings = [
            (self.default_dtype != other.default_dtype, "default dtype"),
            (self.default_device != other.default_device, "default device"),
            (self.print_options != other.print_options, "print options"),
            (self.grad_enabled != other.grad_enabled, "grad mode"),
            (self.inference != other.inference, "inference mode"),
            (self.anomaly != other.anomaly, "anomaly mode"),
            (self.deterministic != other.deterministic, "deterministic mode"),
            (self.skip_data != other.skip_data, "skipping of data"),
            (self.threads != other.threads, "number of threads"),
            (self.flags != other.flags, "flag of a module"),
            (self.generator != other.generator, "random generator"),
        ];
        settings.into_iter().filter(|(differs, _)| *differs).map(|(_, name)| name).collect()
    }
}
