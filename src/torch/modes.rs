//! Small objects and module functions: devices, sizes, `finfo`, context managers, print options.

use crate::python::in_python;
use call::facets::NameInference::Nameless;
use call::indexes;
use call::state::State;
use call::{Call, Row, both, function, internal, method};
use explain::format::PrintOptions;
use objects::calling::{NativeFunction, call_plain};
use objects::contexts::{enter_context, exit_context};
use objects::iterate;
use std::any::Any;
use std::cell::Cell;
use std::rc::Rc;
use tensor::bail;
use tensor::element::{integer_limits, largest_finite};
use tensor::{DType, Device, Result};
use value::{Object, Value, sizes_of};

pub(crate) const ROWS: &[Row] = &[
    function("device(any device) -> Device", device, "Creates a device from its name.").names(Nameless).any_layout(),
    function(
        "device.index(str type, int index) -> Device",
        |c| Device::parse(&format!("{}:{}", c.str(0)?, c.int(1)?)).map(Value::Device),
        "Creates a device from its type and number.",
    ),
    function("Size(any[] args, *, any{} named) -> Size", size, "Creates a tensor size.").python("torch.Size"),
    method(
        "numel(Size self) -> int",
        |c| Ok(Value::Int(c.ints(0)?.iter().product())),
        "Returns the number of elements of a tensor of this size.",
    ),
    method(
        "count(Size self, any value) -> int",
        |c| {
            let v = c.value(1);
            Ok(Value::Int(
                c.value(0).sequence().unwrap_or_default().iter().filter(|i| value::equality::equal(i, &v)).count()
                    as i64,
            ))
        },
        "Counts how often a number occurs.",
    )
    .python("tuple.count"),
    method(
        "__len__(Size self) -> int",
        |c| Ok(Value::Int(c.ints(0)?.len() as i64)),
        "Returns the number of dimensions.",
    ),
    function("finfo(ScalarType type) -> any", finfo, "Returns the limits of a floating-point dtype."),
    function("finfo.default() -> any", finfo, "Returns the limits of the default dtype."),
    function("iinfo(ScalarType type) -> any", iinfo, "Returns the limits of an integer dtype."),
    function("typename(any obj) -> str", typename, "Returns the name of a value's type.").python("typename"),
    function(
        "set_printoptions(any precision=None, any threshold=None, any edgeitems=None, any linewidth=None, \
 any profile=None, any sci_mode=None) -> None",
        set_printoptions,
        "Changes how tensors are printed.",
    )
    .python("set_printoptions"),
    function(
        "no_grad(any orig_func=None) -> any",
        |c| decorated(c, switch(c.state, false, "no_grad")),
        "Creates a context in which no gradients are recorded, or decorates a function with one.",
    )
    .python("_NoParamDecoratorContextManager.__new__")
    .aliases(&["autograd.no_grad"]),
    function(
        "enable_grad(any orig_func=None) -> any",
        |c| decorated(c, switch(c.state, true, "enable_grad")),
        "Creates a context in which gradients are recorded, or decorates a function with one.",
    )
    .python("_NoParamDecoratorContextManager.__new__")
    .aliases(&["autograd.enable_grad"]),
    function(
        "inference_mode(any mode=True) -> any",
        |c| {
            let Value::Bool(on) = c.value(0) else {
                return call_plain(c.state, &grad_mode(c.state, false, "inference_mode", Some(true)), vec![c.value(0)]);
            };
            // Leaving inference mode within an inference block switches recording on again.
            Ok(grad_mode(c.state, !on, "inference_mode", Some(on)))
        },
        "Creates a context without gradients, whose tensors stay without.",
    )
    .python("inference_mode.__new__"),
    function(
        "is_inference_mode_enabled() -> bool",
        |c| Ok(Value::Bool(c.state.inference.get())),
        "Returns whether inference mode is on.",
    ),
    both(
        "is_inference(Tensor self) -> bool",
        |c| Ok(Value::Bool(c.tensor(0)?.is_inference())),
        "Returns whether the tensor was made in inference mode.",
    )
    .names(Nameless)
    .any_layout(),
    function(
        "is_grad_enabled() -> bool",
        |c| Ok(Value::Bool(c.state.grad_enabled.get())),
        "Returns whether gradients are being recorded.",
    ),
    function(
        "set_grad_enabled(any mode) -> any",
        |c| {
            let Value::Bool(on) = c.value(0) else {
                let given = c.value(0);
                bail!(
                    TypeError,
                    "set_grad_enabled(): argument 'enabled' (position 1) must be bool, not {}",
                    given.type_name()
                )
            };
            let context = grad_mode(c.state, on, "set_grad_enabled", None);
            c.state.grad_enabled.set(on);
            Ok(context)
        },
        "Turns the recording of gradients on or off.",
    )
    .python("set_grad_enabled.__init__"),
    internal(
        "_generator_within(any renewed, any function) -> any",
        |c| in_python(c, "contexts.generator_within"),
        "Makes the generators of a function run within a context.",
    ),
    function("py.__enter__(any context) -> any", |c| enter_context(c.state, &c.value(0)), "Enters a context."),
    function(
        "py.__exit__(any context) -> None",
        |c| exit_context(c.state, &c.value(0)).map(|()| Value::None),
        "Leaves a context.",
    ),
];

fn device(call: &mut Call) -> Result<Value> {
    match call.value(0) {
        Value::Str(name) => Device::parse(&name).map(Value::Device),
        Value::Device(device) => Ok(Value::Device(device)),
        Value::Int(index) => Device::parse(&format!("cuda:{index}")).map(Value::Device),
        other => bail!(TypeError, "device(): argument 'type' (position 1) must be str, not {}", other.type_name()),
    }
}

fn size(call: &mut Call) -> Result<Value> {
    if matches!(call.value(1), Value::Dict(named) if !named.is_empty()) {
        bail!(TypeError, "tuple() takes no keyword arguments");
    }
    let items = match call.value(0).items().as_deref() {
        None | Some([]) => Vec::new(),
        Some([sizes]) => iterate::items(call.state, sizes)?,
        Some(several) => bail!(TypeError, "tuple expected at most 1 argument, got {}", several.len()),
    };
    let size = |(i, item): (usize, &Value)| match item {
        Value::Int(size) => Ok(*size),
        Value::Bool(_) => sizes_of(&items).map(|sizes| sizes.get(i).copied().unwrap_or_default()),
        // An integer tensor of one element, a NumPy integer, or an object with `__index__`.
        Value::Tensor(_) | Value::Object(_) if let Some(Value::Int(size)) = indexes::index_of(item) => Ok(size),
        Value::BigInt(_) => bail!(RuntimeError, "Overflow when unpacking long"),
        other => bail!(TypeError, "torch.Size() takes an iterable of 'int' (item {i} is '{}')", other.type_name()),
    };
    items.iter().enumerate().map(size).collect::<Result<_>>().map(Value::Size)
}

/// A record with a fixed repr and named fields, such as `finfo` and `iinfo`.
struct Record {
    class: &'static str,
    repr: String,
    fields: Vec<(&'static str, Value)>,
}

impl Object for Record {
    fn type_name(&self) -> &str {
        self.class
    }
    fn repr(&self) -> String {
        self.repr.clone()
    }
    fn attribute(&self, name: &str) -> Option<Value> {
        self.fields.iter().find(|(field, _)| *field == name).map(|(_, value)| value.clone())
    }
}

/// Returns the number of mantissa bits, with the hidden one, and the exponent of the smallest normal number.
pub(super) fn precision(dtype: DType) -> Option<(i32, i32)> {
    Some(match dtype {
        DType::Half => (11, -14),
        DType::BFloat16 => (8, -126),
        DType::Float => (24, -126),
        DType::Double => (53, -1022),
        DType::Float8_e4m3fn => (4, -6),
        DType::Float8_e5m2 => (3, -14),
        DType::Float8_e4m3fnuz => (4, -7),
        DType::Float8_e5m2fnuz => (3, -15),
        DType::Float8_e8m0fnu => (1, -127),
        _ => return None,
    })
}

fn finfo(call: &mut Call) -> Result<Value> {
    let dtype = call.opt_dtype(0).unwrap_or(call.state.default_dtype.get()).to_real();
    let Some((digits, smallest)) = precision(dtype) else {
        bail!(TypeError, "torch.finfo() requires a floating point input type. Use torch.iinfo to handle 'torch.finfo'")
    };
    let max = largest_finite(dtype);
    // Only this dtype has no negative numbers.
    let min = if dtype == DType::Float8_e8m0fnu { 2f64.powi(smallest) } else { -max };
    let (eps, tiny) = (2f64.powi(1 - digits), 2f64.powi(smallest));
    // Ten to the power of minus the decimal digits that survive a round trip.
    let resolution = 10f64.powi(-((f64::from(digits - 1) * std::f64::consts::LOG10_2).floor() as i32));
    let show = |v: f64| general(v, 6);
    let repr = format!(
        "finfo(resolution={}, min={}, max={}, eps={}, smallest_normal={}, tiny={}, dtype={})",
        show(resolution),
        show(min),
        show(max),
        show(eps),
        show(tiny),
        show(tiny),
        dtype.name()
    );
    let fields = vec![
        ("resolution", Value::Float(resolution)),
        ("min", Value::Float(min)),
        ("max", Value::Float(max)),
        ("eps", Value::Float(eps)),
        ("smallest_normal", Value::Float(tiny)),
        ("tiny", Value::Float(tiny)),
        ("bits", Value::Int(8 * dtype.itemsize() as i64)),
        ("dtype", Value::str(dtype.name())),
    ];
    Ok(Value::Object(Rc::new(Record { class: "torch.finfo", repr, fields })))
}

/// Formats a number like C's `%g` with `digits` significant digits.
pub(super) fn general(value: f64, digits: i32) -> String {
    let scientific = format!("{value:.*e}", (digits - 1) as usize);
    let Some((mantissa, exponent)) = scientific.split_once('e') else { return scientific };
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let trim = |s: &str| {
        if s.contains('.') { s.trim_end_matches('0').trim_end_matches('.').to_string() } else { s.to_string() }
    };
    if exponent < -4 || exponent >= digits {
        let sign = if exponent < 0 { '-' } else { '+' };
        format!("{}e{sign}{:02}", trim(mantissa), exponent.abs())
    } else {
        trim(&format!("{value:.*}", (digits - 1 - exponent).max(0) as usize))
    }
}

fn iinfo(call: &mut Call) -> Result<Value> {
    let Some(dtype) = call.opt_dtype(0) else { bail!(TypeError, "a dtype is needed") };
    if dtype.is_quantized() {
        bail!(RuntimeError, "\"dtype\" not implemented for '{}'", dtype.scalar_type());
    }
    if !dtype.is_integral(false) {
        if dtype == DType::Bool {
            bail!(TypeError, "torch.bool is not supported by torch.iinfo");
        }
        bail!(TypeError, "torch.iinfo() requires an integer input type. Use torch.finfo to handle 'torch.iinfo'");
    }
    let (min, max) = integer_limits(dtype);
    let fields = vec![
        ("min", Value::from(min)),
        ("max", Value::from(max)),
        ("bits", Value::Int(8 * dtype.itemsize() as i64)),
        ("dtype", Value::str(dtype.name())),
    ];
    let show = |v: i128| general(v as f64, 6);
    let repr = format!("iinfo(min={}, max={}, dtype={})", show(min), show(max), dtype.name());
    Ok(Value::Object(Rc::new(Record { class: "torch.iinfo", repr, fields })))
}

fn typename(call: &mut Call) -> Result<Value> {
    Ok(Value::str(match call.value(0) {
        Value::Tensor(tensor) if tensor.is_parameter() => "torch.nn.parameter.Parameter".to_owned(),
        Value::Tensor(tensor) => format!("torch.{}", tensor.borrow().type_name()),
        Value::Type(class) => class.to_string(),
        other => other.type_name().to_string(),
    }))
}

fn set_printoptions(call: &mut Call) -> Result<Value> {
    let mut options = match call.value(4) {
        Value::None => *call.state.print_options.borrow(),
        Value::Str(profile) => match PrintOptions::profile(&profile) {
            Some(options) => options,
            None => *call.state.print_options.borrow(),
        },
        other => bail!(TypeError, "profile must be a string, not {}", other.type_name()),
    };
    let count = |i: usize| -> Result<Option<i64>> {
        match call.value(i) {
            Value::None => Ok(None),
            Value::Int(n) => Ok(Some(n)),
            Value::Float(f) if f == f64::INFINITY => Ok(Some(i64::MAX)),
            // An element or a character more or less is counted in whole numbers.
            Value::Float(f) if i % 2 == 1 => Ok(Some(f.floor() as i64)),
            other => bail!(TypeError, "print options are integers, not {}", other.type_name()),
        }
    };
    options.precision = count(0)?.unwrap_or(options.precision);
    options.threshold = count(1)?.unwrap_or(options.threshold);
    options.edgeitems = count(2)?.unwrap_or(options.edgeitems);
    options.linewidth = count(3)?.unwrap_or(options.linewidth);
    // PyTorch resets the mode whenever options are set without it.
    options.sci_mode = match call.value(5) {
        Value::Bool(on) => Some(on),
        _ => None,
    };
    *call.state.print_options.borrow_mut() = options;
    Ok(Value::None)
}

/// A context manager that switches the recording of gradients.
struct GradMode {
    name: &'static str,
    mode: bool,
    /// The new setting of inference mode, or `None` to leave it alone.
    inference: Option<bool>,
    /// Both settings before the switch.
    before: Cell<(bool, bool)>,
}

impl Object for GradMode {
    fn type_name(&self) -> &str {
        self.name
    }
    fn repr(&self) -> String {
        format!("<torch.autograd.grad_mode.{} object at {:#x}>", self.name, std::ptr::from_ref(self) as usize)
    }
    fn attribute(&self, name: &str) -> Option<Value> {
        match name {
            "mode" if self.name == "inference_mode" => Some(Value::Bool(!self.mode)),
            "mode" if self.name == "set_grad_enabled" => Some(Value::Bool(self.mode)),
            "prev" if self.name != "inference_mode" => Some(Value::Bool(self.before.get().0)),
            _ => None,
        }
    }
    fn enter(&self, session: &dyn Any) -> Option<Result<Option<Value>>> {
        Some(State::of(session).map(|state| {
            // `set_grad_enabled` already switched when it was created, and saved the previous settings then.
            if self.name != "set_grad_enabled" {
                self.before.set((state.grad_enabled.get(), state.inference.get()));
            }
            state.grad_enabled.set(self.mode);
            if let Some(on) = self.inference {
                state.inference.set(on);
            }
            Some(Value::None)
        }))
    }
    fn exit(&self, session: &dyn Any) -> Result<()> {
        let state = State::of(session)?;
        let (recording, inference) = self.before.get();
        state.grad_enabled.set(recording);
        state.inference.set(inference);
        Ok(())
    }
    fn is_decorator(&self) -> bool {
        true
    }
    fn renewed(&self, session: &dyn Any) -> Option<Value> {
        let state = State::of(session).ok()?.handle();
        // `set_grad_enabled` switched when it was created, which a decorator is not meant to do.
        if self.name == "set_grad_enabled" {
            state.grad_enabled.set(self.before.get().0);
        }
        let (name, mode, inference) = (self.name, self.mode, self.inference);
        Some(NativeFunction::value("clone", move |_, _| Ok(grad_mode(&state, mode, name, inference))))
    }
}

/// Returns the context itself, or the function that was given, decorated with it.
fn decorated(call: &Call, context: Value) -> Result<Value> {
    match call.value(0) {
        Value::None => Ok(context),
        function => call_plain(call.state, &context, vec![function]),
    }
}

fn switch(state: &State, mode: bool, name: &'static str) -> Value {
    grad_mode(state, mode, name, None)
}

fn grad_mode(state: &State, mode: bool, name: &'static str, inference: Option<bool>) -> Value {
    // Until they are entered, `no_grad()` and `enable_grad()` show that gradients were not recorded.
    let recording = state.grad_enabled.get() && matches!(name, "set_grad_enabled" | "inference_mode");
    let before = Cell::new((recording, state.inference.get()));
    Value::Object(Rc::new(GradMode { name, mode, inference, before }))
}
