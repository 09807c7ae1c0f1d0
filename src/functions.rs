//! THE function table: one row per overload. A row is the schema as PyTorch writes it, the function, and one line of
//! documentation; methods, module functions, attributes, argument errors, help and completion all come from it.

use crate::script::bind::{Arguments, Bound, Parser};
use crate::script::signature::Kind;
use crate::script::state::State;
use crate::tensor::memory::check_files;
use crate::tensor::{Error, Origin, Result, Tensor, View};
use crate::value::Value;
use crate::{autograd, bail};

mod anomaly;
mod arithmetic;
mod attributes;
mod autograd_functional;
mod autograd_rows;
mod backward;
mod buffers;
mod byte_streams;
mod call;
mod casts;
mod classes;
mod combine;
mod convolution;
mod create;
mod defaults;
mod deterministic;
mod distributions;
mod dlpack;
mod eigen;
mod einsum;
mod explain;
mod fake;
mod fft;
mod files;
mod finite_differences;
mod forms;
mod func;
mod functional;
mod graph;
mod hooks;
mod internal;
mod legacy_tensors;
mod linalg;
mod matmul;
mod module_names;
mod modules;
mod named;
mod names;
mod names_rules;
mod norms;
mod numbers;
mod numpy;
mod objects;
mod outs;
mod places;
mod pointwise;
mod python;
mod quantized;
mod random;
mod rearrange;
mod reduce;
mod registry;
mod samples;
mod saving;
mod scatter;
mod sets;
mod similarity;
mod sparse;
mod sparse_rules;
mod special;
mod splits;
mod statistics;
mod steps;
mod storage_devices;
mod storages;
mod tensors;
mod testing;
mod text;
mod typed_storages;
mod view_copies;
mod views;
mod views_in_place;
mod windows;

pub use byte_streams::lines_of;
pub use call::Call;
pub use classes::parent_of_class;
pub use create::index_tensor;
pub use explain::READ_VARIABLES;
pub use graph::attribute as node_attribute;
pub use legacy_tensors::{cuda_tensor_class, legacy_tensor_class};
pub use module_names::{BELOW, LIBRARY, MODULES, submodule};
pub use names::{is_named, refusal as names_refused};
pub use numpy::{array_item, array_view, set_array_item};
pub use objects::module_value;
pub use quantized::{SCHEMES, scheme};
pub use registry::{Family, Function, Overloads, Receiver, Registry, registry};
pub use sets::in_set_order;
pub use steps::Steps;
pub use storages::{item as storage_item, set_item as set_storage_item};
pub use tensors::{assign, subscript};
pub use text::percent;
pub use typed_storages::{
    class_attribute, class_of_dtype, is_instance, item as typed_storage_item, kind_of_class, legacy_dtype,
    refuse_elsewhere, set_item as set_typed_storage_item,
};

/// Every row of the table.
const TABLES: &[&[Row]] = &[
    anomaly::ROWS,
    arithmetic::ROWS,
    attributes::ROWS,
    autograd_functional::ROWS,
    autograd_rows::ROWS,
    backward::ROWS,
    buffers::ROWS,
    byte_streams::ROWS,
    casts::ROWS,
    classes::ROWS,
    combine::ROWS,
    convolution::ROWS,
    convolution::FORWARDS,
    convolution::TRANSPOSED,
    create::ROWS,
    defaults::ROWS,
    deterministic::ROWS,
    dlpack::ROWS,
    distributions::ROWS,
    fft::ROWS,
    files::ROWS,
    finite_differences::ROWS,
    func::ROWS,
    functional::ROWS,
    graph::ROWS,
    hooks::ROWS,
    internal::ROWS,
    modules::ROWS,
    named::ROWS,
    eigen::ROWS,
    einsum::ROWS,
    explain::ROWS,
    fake::ROWS,
    linalg::ROWS,
    matmul::ROWS,
    norms::ROWS,
    numbers::ROWS,
    numpy::ROWS,
    objects::ROWS,
    pointwise::ROWS,
    pointwise::BINARY,
    pointwise::BINARY_IN_PLACE,
    pointwise::BINARY_ONLY,
    pointwise::TENSORS,
    pointwise::TENSORS_IN_PLACE,
    pointwise::LOGICAL,
    pointwise::LOGICAL_IN_PLACE,
    pointwise::COMPARISONS,
    pointwise::COMPARISONS_IN_PLACE,
    pointwise::UNARY,
    pointwise::UNARY_IN_PLACE,
    pointwise::TESTS,
    pointwise::PAIRS_IN_PLACE,
    pointwise::UNARY_ONLY,
    places::ROWS,
    python::ROWS,
    quantized::ROWS,
    random::ROWS,
    rearrange::ROWS,
    scatter::ROWS,
    similarity::ROWS,
    splits::ROWS,
    reduce::ROWS,
    samples::ROWS,
    saving::ROWS,
    sparse::ROWS,
    special::ROWS,
    special::UNARY,
    special::BINARY,
    statistics::ROWS,
    storages::ROWS,
    storage_devices::ROWS,
    legacy_tensors::ON_CUDA,
    typed_storages::ROWS,
    typed_storages::CASTS,
    typed_storages::LEGACY,
    typed_storages::ON_CUDA,
    tensors::ROWS,
    testing::ROWS,
    text::ROWS,
    views::ROWS,
    windows::ROWS,
    view_copies::ROWS,
    views_in_place::ROWS,
];

/// Every row, table by table; those of the legacy tensor classes come in groups.
pub fn rows() -> impl Iterator<Item = &'static Row> {
    let groups = legacy_tensors::ROWS.iter().chain(legacy_tensors::CLASSES).flatten();
    TABLES.iter().copied().flatten().chain(groups)
}

/// What a row's function looks like: bound arguments in, value out.
pub type Run = fn(&mut Call) -> Result<Value>;

/// One overload of one function.
pub struct Row {
    pub signature: &'static str,
    pub run: Run,
    pub doc: &'static str,
    pub role: Role,
    /// A deprecated order of arguments, still accepted but not listed in messages.
    pub hidden: bool,
    /// The name that messages show, where it is not the one called: all legacy constructors say `new`.
    pub shown: Option<&'static str>,
    /// The qualified name in Python, for functions PyTorch writes in Python; decides the words of argument errors.
    pub python: Option<&'static str>,
}

/// How a row is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// `x.f()` only.
    Method,
    /// `torch.f()` and bare `f()` only.
    Function,
    /// `x.f()`, `torch.f(x)` and `f(x)`.
    Both,
    /// `x.f` without parentheses.
    Attribute,
    /// `x.f = value`.
    Setter,
    /// `torch.UntypedStorage.f()`: through the class before the `::` of the signature.
    Static,
    /// By its key alone: a part that other functions are made of.
    Internal,
}

const fn row(signature: &'static str, run: Run, doc: &'static str, role: Role) -> Row {
    Row { signature, run, doc, role, hidden: false, shown: None, python: None }
}

pub const fn method(signature: &'static str, run: Run, doc: &'static str) -> Row {
    row(signature, run, doc, Role::Method)
}

pub const fn function(signature: &'static str, run: Run, doc: &'static str) -> Row {
    row(signature, run, doc, Role::Function)
}

pub const fn both(signature: &'static str, run: Run, doc: &'static str) -> Row {
    row(signature, run, doc, Role::Both)
}

pub const fn attribute(signature: &'static str, run: Run, doc: &'static str) -> Row {
    row(signature, run, doc, Role::Attribute)
}

impl Row {
    /// Marks a function that is written in Python there, under this qualified name.
    pub const fn python(self, path: &'static str) -> Row {
        Row { python: Some(path), ..self }
    }

    /// Gives the row another name in messages.
    pub const fn named(self, name: &'static str) -> Row {
        Row { shown: Some(name), ..self }
    }

    /// Marks a deprecated overload.
    pub const fn hidden(self) -> Row {
        Row { hidden: true, ..self }
    }
}

/// The class a value belongs to as a receiver.
pub fn class_of(value: &Value) -> Option<Kind> {
    Some(match value {
        Value::Tensor(_) => Kind::Tensor,
        Value::Storage(_) => Kind::UntypedStorage,
        Value::TypedStorage(_) => Kind::TypedStorage,
        Value::DType(_) => Kind::DType,
        Value::Device(_) => Kind::Device,
        Value::Size(_) => Kind::Size,
        Value::Buffer(_) => Kind::Buffer,
        Value::Generator(_) => Kind::Generator,
        Value::Str(_) => Kind::Str,
        Value::Int(_) | Value::BigInt(_) => Kind::Int,
        Value::Float(_) => Kind::Float,
        Value::Complex(_) => Kind::Number,
        Value::Tuple(_) | Value::List(_) | Value::Range(_) => Kind::Sequence,
        Value::Object(_) => Kind::Object,
        _ => return None,
    })
}

/// Binds the arguments to one of the overloads and runs it.
///
/// # Errors
/// The binder's TypeErrors and whatever the function raises.
pub fn call(state: &State, overloads: &Overloads, receiver: Option<&Value>, arguments: &Arguments) -> Result<Value> {
    let receiver = receiver.filter(|_| overloads.method);
    let mut args = Bound::new();
    let chosen = overloads.bind(receiver, arguments, &mut args)?;
    let Some(function) = overloads.functions.get(chosen) else { bail!(TypeError, "no such overload") };
    invoke(function, &mut Call::of(state, function, args))
}

/// The error for a method of a class that is called without an object of that class.
pub fn unbound(method: &Overloads, first: Option<&Value>) -> Error {
    let receiver = method.functions.first().and_then(|function| function.signature.receiver());
    let base = if receiver == Some(Kind::Tensor) { "TensorBase" } else { "StorageBase" };
    let name = method.name;
    match (method.parser, first) {
        (Parser::Python(path), first) if !path.starts_with("StorageBase.") => match first {
            None => Error::type_error(format!("{path}() missing 1 required positional argument: 'self'")),
            Some(other) => Error::attribute(format!("'{}' object has no attribute '{name}'", other.type_name())),
        },
        (_, None) => Error::type_error(format!("unbound method {base}.{name}() needs an argument")),
        (_, Some(other)) => Error::type_error(format!(
            "descriptor '{name}' for 'torch._C.{base}' objects doesn't apply to a '{}' object",
            other.type_name()
        )),
    }
}

/// Calls what stands below a function written in Python; the first argument is its receiver.
pub fn call_below(state: &State, name: &str, args: &[Value]) -> Result<Value> {
    let overloads =
        [Receiver::Module(BELOW), Receiver::Module("")].into_iter().find_map(|r| state.registry.find(name, r));
    let Some(overloads) = overloads else { bail!(AttributeError, "module 'torch' has no attribute '{name}'") };
    let receiver = args.first().filter(|_| overloads.method);
    let positional = args.iter().skip(usize::from(overloads.method)).cloned().collect();
    call(state, overloads, receiver, &Arguments { positional, keywords: Vec::new() })
}

/// Runs a function on the arguments of a call: autograd around it, version counters after it.
#[inline]
pub fn invoke(function: &Function, call: &mut Call) -> Result<Value> {
    if call.state.has_names.get() && !call.state.nameless.get() && names::concern(&call.args) {
        return names::invoke(function, call);
    }
    invoke_nameless(function, call)
}

/// The same where no argument has names for its dimensions, or somebody has seen to them.
#[inline]
fn invoke_nameless(function: &Function, call: &mut Call) -> Result<Value> {
    let state = call.state;
    if state.grad_enabled.get() && call.args.iter().any(wants_grad) {
        return recorded(function, call);
    }
    let result = run(function, call)?;
    if !state.grad_enabled.get() {
        mark_views(state, &result);
    }
    Ok(result)
}

/// Runs a function whose arguments require gradients.
fn recorded(function: &Function, call: &mut Call) -> Result<Value> {
    let signature = call.signature;
    let target = call.target();
    let recording = match autograd::plan(signature.key, &call.args, target.as_ref(), || saving::packer(call))? {
        autograd::Plan::Plain => {
            if !matches!(autograd::rule(signature.key, &call.args), autograd::Rule::Plain) {
                call.refuse_recorded_out()?;
            }
            return run(function, call);
        }
        autograd::Plan::Composite(parts) => {
            call.refuse_out()?;
            return parts(call.state, &call.args).map_err(|error| {
                // The function itself says best what is wrong with its arguments.
                let before = call.state.grad_enabled.replace(false);
                let own = run(function, call).err();
                call.state.grad_enabled.set(before);
                own.unwrap_or(error)
            });
        }
        autograd::Plan::Record(recording) => recording,
    };
    call.refuse_out()?;
    let args = call.args.clone();
    let result = run(function, call)?;
    recording.finish(&args, &result)?;
    Ok(result)
}

/// Runs a function, counts what it wrote and sees to the parameters many functions share.
fn run(function: &Function, call: &mut Call) -> Result<Value> {
    let signature = call.signature;
    call.state.running.set(signature.key);
    let written = call.target();
    fake::refuse_mixture(call, function.row)?;
    let result = match forms::backend(call) {
        None => (function.row.run)(call),
        Some(backend) => forms::run(function, call, backend),
    };
    check_files()?;
    let mut result = result?;
    if call.state.fake_mode.get().is_some() {
        result = fake::faked(call, result)?;
    }
    if let Some(target) = &written {
        target.bump_version();
    }
    if signature.is_view()
        && let Some(Value::Tensor(source)) = call.args.first()
    {
        note_step(signature.name, source, &result);
    }
    if signature.finishes { outs::finish(signature, call, result) } else { Ok(result) }
}

/// Notes in every view of `source` which function it came from.
fn note_step(name: &'static str, source: &Tensor, result: &Value) {
    match result {
        Value::Tensor(view) => view.note_step(name, source),
        Value::List(items) | Value::Tuple(items) => items.iter().for_each(|item| note_step(name, source, item)),
        _ => {}
    }
}

/// Views made while gradients are not recorded must not be written through once they are.
pub fn mark_views(state: &State, result: &Value) {
    match result {
        Value::Tensor(tensor) => {
            if tensor.base().is_some() && tensor.origin() == Origin::Plain {
                tensor.set_origin(Origin::NoGrad);
            }
            if state.inference.get() {
                tensor.set_inference();
            }
        }
        Value::List(items) | Value::Tuple(items) => items.iter().for_each(|item| mark_views(state, item)),
        _ => {}
    }
}

impl autograd::Functions for State {
    fn call(&self, key: &str, args: &[Value]) -> Result<Value> {
        let Some(function) = self.registry.overload(key) else {
            bail!(NotImplementedError, "the gradient needs {key}, which is not there");
        };
        let mut bound = Bound::from(args);
        for param in function.signature.params.iter().skip(args.len()) {
            match param.default {
                Some(default) => bound.push(default.to_value()),
                None => bail!(TypeError, "the gradient calls {key} without its argument '{}'", param.name),
            }
        }
        invoke(function, &mut Call::of(self, function, bound))
    }

    fn set_recording(&self, on: bool) -> bool {
        self.grad_enabled.replace(on)
    }

    fn refuses_nan(&self) -> bool {
        self.anomaly.get() == (true, true)
    }
}

fn as_tensor(value: &Value) -> Option<&Tensor> {
    match value {
        Value::Tensor(tensor) => Some(tensor),
        _ => None,
    }
}

fn wants_grad(value: &Value) -> bool {
    match value {
        Value::Tensor(tensor) => tensor.requires_grad(),
        Value::List(items) | Value::Tuple(items) => items.iter().any(wants_grad),
        _ => false,
    }
}

/// A view of a tensor. Where an empty one lies beyond every storage, its views wrap as PyTorch's do, and are refused.
#[inline]
pub fn view_on(tensor: &Tensor, view: View) -> Result<Tensor> {
    if view.layout.offset < 0 {
        bail!(RuntimeError, "Tensor: invalid storage offset {}", view.layout.offset);
    }
    Ok(tensor.new_view(view))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::signature::Signature;

    #[test]
    fn every_row_is_well_formed_and_documented() {
        for row in rows() {
            assert!(Signature::parse(row.signature).is_some(), "malformed signature: {}", row.signature);
            assert!(
                !row.doc.is_empty() && row.doc.ends_with(['.', '?']),
                "{}: one sentence of documentation",
                row.signature
            );
        }
    }
}
