//! The path of a call to its row: binds the arguments, handles dimension names and tensors that are not dense, records
//! gradients, and counts writes afterwards.

pub mod fake;
mod folds;
pub mod forms;
pub mod name_inference;
pub mod names;
pub mod outs;
pub mod saving;
pub mod tracing;
pub mod tree;

use crate::bind::{Arguments, Bound, Parser};
use crate::facets::RefusedBy;
use crate::plain::{self, Argument};
use crate::registry::{Function, Overloads, Receiver};
use crate::signature::Kind;
use crate::{BELOW, Call, Role, State, as_tensor, wants_grad};
use tensor::memory::check_files;
use tensor::{Error, Origin, Result, Tensor, bail, journal};
use value::{Value, any_tensor};

/// Binds the arguments to one of the overloads and runs it.
///
/// # Errors
/// TypeErrors of the binder, and any error of the function.
pub fn call(state: &State, overloads: &Overloads, receiver: Option<&Value>, arguments: &Arguments) -> Result<Value> {
    if arguments.keywords.is_empty()
        && let Some(result) = try_plain_function(state, overloads, arguments.positional.iter())
    {
        return result;
    }
    let receiver = receiver.filter(|_| overloads.method);
    let mut args = Bound::new();
    let chosen = overloads.bind(receiver, arguments, &mut args)?;
    let Some(function) = overloads.functions.get(chosen) else { bail!(TypeError, "no such overload") };
    invoke(function, &mut Call::of(state, function, args))
}

/// Calls a tensor method whose arguments are plain. Returns `None` for any other call, which [`call`] can make.
#[inline]
pub fn try_plain_method(
    state: &State,
    methods: &Overloads,
    this: Tensor,
    given: impl Iterator<Item: Argument> + Clone,
) -> Option<Result<Value>> {
    if !methods.is_parsed_by_torch() {
        return None;
    }
    // Builds the call before the overload is known, so that the arguments are bound in place.
    let mut call = Call::of(state, methods.functions.first()?, Bound::new());
    let function = plain::bind(&methods.functions, this, given, &mut call.args)?;
    call.signature = &function.signature;
    Some(invoke(function, &mut call))
}

/// Calls a function of PyTorch whose arguments are plain. Returns `None` for any other call, which [`call`] can make.
#[inline]
pub fn try_plain_function(
    state: &State,
    functions: &Overloads,
    given: impl Iterator<Item: Argument> + Clone,
) -> Option<Result<Value>> {
    if !functions.are_functions_of_torch() {
        return None;
    }
    let mut call = Call::of(state, functions.functions.first()?, Bound::new());
    let function = plain::bind_function(&functions.functions, given, &mut call.args)?;
    call.signature = &function.signature;
    Some(invoke(function, &mut call))
}

/// Builds the error for a method called on its class without an object of that class.
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

/// Calls the inner function of one that PyTorch writes in Python. The first argument is the receiver.
pub fn call_below(state: &State, name: &str, args: &[Value]) -> Result<Value> {
    let overloads =
        [Receiver::Module(BELOW), Receiver::Module("")].into_iter().find_map(|r| state.registry.find(name, r));
    let Some(overloads) = overloads else { bail!(AttributeError, "module 'torch' has no attribute '{name}'") };
    let receiver = args.first().filter(|_| overloads.method);
    let positional = args.iter().skip(usize::from(overloads.method)).cloned().collect();
    call(state, overloads, receiver, &Arguments { positional, keywords: Vec::new() })
}

/// Calls an overload that has no name in a session.
///
/// # Errors
/// Any error of the function.
pub fn call_internal(state: &State, key: &str, args: &[Value]) -> Result<Value> {
    autograd::Functions::call(state, key, args)
}

/// Runs a function on bound arguments: handles dimension names, records gradients and counts writes.
#[inline]
pub fn invoke(function: &Function, call: &mut Call) -> Result<Value> {
    if call.state.trace.is_on() { tracing::invoke(function, call) } else { invoke_untraced(function, call) }
}

/// Like [`invoke`], without recording the call for `origin`.
#[inline]
pub(crate) fn invoke_untraced(function: &Function, call: &mut Call) -> Result<Value> {
    let looks = call.state.has_names.get() && !call.state.nameless.get() && !call.signature.is_python();
    if looks && names::concern(&call.args) {
        return names::invoke(function, call);
    }
    invoke_nameless(function, call)
}

/// Like [`invoke`], but for arguments without dimension names, or whose names were already handled.
#[inline]
pub(crate) fn invoke_nameless(function: &Function, call: &mut Call) -> Result<Value> {
    let state = call.state;
    if call.signature.is_python() {
        // Lists are not searched for tensors here. Python's functions work on tensors through other rows.
        return run(function, call);
    }
    if state.grad_enabled.get() && call.args.iter().any(wants_grad) {
        return recorded(function, call);
    }
    let result = run(function, call)?;
    if !state.grad_enabled.get() {
        mark_views(state, &result, &call.args);
    }
    Ok(result)
}

/// Runs a function whose arguments require gradients.
fn recorded(function: &Function, call: &mut Call) -> Result<Value> {
    // Functions that take dimension names call others that take positions, and an assignment calls `copy_`. Those are
    // recorded.
    if call.signature.takes_names() || function.row.role == Role::Setter {
        return run(function, call);
    }
    // Calls of inference tensors alone have no history, though the tensors may require gradients.
    if !is_seen_by_autograd(call) {
        return run(function, call);
    }
    let target = call.target();
    let recording = match autograd::plan(function.key(), function.recorded(), &call.args, target.as_ref(), || {
        saving::packer(call)
    })? {
        autograd::Plan::Plain => {
            let is_plain = matches!(function.rule(&call.args), autograd::Rule::Plain);
            if !is_plain || function.row.out.refused_by != RefusedBy::Itself {
                call.refuse_recorded_out(function)?;
            }
            return run(function, call);
        }
        autograd::Plan::Composite(parts) => {
            call.refuse_out(function)?;
            return parts(call.state, &call.args).map_err(|error| {
                // The function itself has the best message about its arguments, so it runs without recording.
                let before = call.state.grad_enabled.replace(false);
                let own = run(function, call).err();
                call.state.grad_enabled.set(before);
                own.unwrap_or(error)
            });
        }
        autograd::Plan::Record(recording) => recording,
    };
    call.refuse_out(function)?;
    let args = call.args.clone();
    let result = run(function, call)?;
    recording.finish(&args, &result)?;
    Ok(result)
}

/// Returns whether an argument is a normal tensor, or a number that becomes one.
fn is_seen_by_autograd(call: &Call) -> bool {
    call.signature.params.iter().zip(&call.args).any(|(param, arg)| {
        any_tensor(arg, &mut |tensor| !tensor.is_inference())
            || matches!(param.kind, Kind::Tensor | Kind::Operand) && arg.as_scalar().is_some()
    })
}

/// Runs a function, counts its writes, and handles the parameters that many functions share.
fn run(function: &Function, call: &mut Call) -> Result<Value> {
    let signature = call.signature;
    call.state.running.set(signature.key);
    call.state.note_call(signature.name);
    let written = call.target();
    if let Some(target) = &written {
        journal::note(&target.borrow());
    }
    fake::refuse_mixture(call, function.row)?;
    if signature.finishes {
        outs::prepare(function, call);
    }
    let result = match forms::backend(call) {
        None => (function.row.run)(call),
        Some(backend) => forms::run(function, call, backend),
    };
    check_files()?;
    let mut result = result?;
    if call.state.fake_mode.get().is_some() {
        result = fake::as_fake(call, result)?;
    }
    if let Some(target) = &written {
        count_write(call.state, target)?;
    }
    if signature.is_view()
        && let Some(Value::Tensor(source)) = call.args.first()
    {
        note_view(call, source, &result);
    }
    if signature.finishes { outs::finish(function, call, result) } else { Ok(result) }
}

/// Counts a write to a tensor in its version counter.
///
/// # Errors
/// RuntimeError for an inference tensor outside inference mode. Like in PyTorch, it has already been written to.
pub fn count_write(state: &State, tensor: &Tensor) -> Result<()> {
    if !tensor.is_inference() {
        tensor.bump_version();
    } else if !state.inference.get() {
        bail!(
            RuntimeError,
            "Inplace update to inference tensor outside InferenceMode is not allowed.You can make a clone to get a normal \
             tensor before doing inplace update.See https://github.com/pytorch/rfcs/pull/17 for more details."
        );
    }
    Ok(())
}

/// Functions that slice each part separately, so their views do not count as several views of one call.
const SLICED: [&str; 4] = ["tensor_split", "hsplit", "vsplit", "dsplit"];

/// Records in every view of `source` which function made it, and whether it is one of several.
fn note_view(call: &Call, source: &Tensor, result: &Value) {
    let name = call.signature.name;
    if let Value::Tensor(view) = result {
        view.note_retakes(source);
        return view.note_step(name, source);
    }
    let several = !SLICED.contains(&name);
    for view in result.items().iter().flat_map(|items| items.iter()).filter_map(as_tensor) {
        view.note_retakes(source);
        view.note_step(name, source);
        if several && view.base().is_some() {
            view.set_origin(Origin::Several);
        }
    }
}

/// Marks the results of a call made while gradients were not recorded. Views must not be written through once gradients
/// are recorded again, and inference tensors must not be written to outside inference mode.
pub fn mark_views(state: &State, result: &Value, args: &[Value]) {
    let inference = state.inference.get();
    any_tensor(result, &mut |tensor| {
        if args.iter().filter_map(|arg| as_tensor(arg)).any(|arg| arg.is(tensor)) {
            return false;
        }
        match tensor.base() {
            Some(_) if inference && !tensor.is_inference() => tensor.set_origin(Origin::Inference),
            Some(_) => tensor.set_origin(Origin::NoGrad),
            None if inference => tensor.set_inference(),
            None => {}
        }
        false
    });
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

    fn set_nameless(&self, on: bool) -> bool {
        self.nameless.replace(on)
    }

    fn refuses_nan(&self) -> bool {
        self.anomaly.get() == (true, true)
    }
}
