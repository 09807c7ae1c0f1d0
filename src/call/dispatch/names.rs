//! Calls on tensors with named dimensions. A row's function does not know names, and a facet of the row says how the
//! names of the result follow from those of the arguments. The function then runs as if there were no names. Without
//! such a facet, names are refused in PyTorch's words. This is PyTorch's dispatch by the key `Named`.

use super::tree;
use crate::facets::NameInference;
use crate::signature::{Kind, Param};
use crate::state::State;
use crate::{Call, Function, LIBRARY, as_tensor};
use std::borrow::Cow;
use tensor::bail;
use tensor::layout::{show, wrap_dim};
use tensor::names::{show_names, unify};
use tensor::{Error, Name, Names, Result, Tensor};
use value::{Value, any_tensor};

/// Operations whose overloads for a number as the first and as the second operand are not called `Scalar_Tensor` and
/// `Scalar`.
const NUMBER_OVERLOADS: &[(&str, &str, &[&str])] = &[
    ("Scalar_Tensor", "Tensor_Scalar", &["bitwise_left_shift", "bitwise_right_shift"]),
    ("Scalar_Self", "Scalar_Other", &["xlogy"]),
];

/// Returns whether any argument has dimension names.
pub(crate) fn concern(args: &[Value]) -> bool {
    args.iter().any(is_named)
}

/// Returns whether the value is a tensor with names, or contains one.
pub fn is_named(value: &Value) -> bool {
    any_tensor(value, &mut Tensor::has_names)
}

/// Calls a function on arguments that include named tensors.
///
/// # Errors
/// RuntimeError if the function does not support named tensors or the names do not match, and any error of the
/// function.
pub fn invoke(function: &Function, call: &mut Call) -> Result<Value> {
    let state = call.state;
    let Some(inference) = inference_of(function, call)? else {
        return super::invoke_nameless(function, call);
    };
    let told = match inference {
        NameInference::Keeps => names_in(call, first_tensor(call)),
        NameInference::Unifies => unified(call)?,
        NameInference::Infers(infer) => infer(call)?,
        NameInference::InfersLate(infer) => match infer(call) {
            Ok(names) => names,
            Err(error) => return Err(tried(function, call).unwrap_or(error)),
        },
        _ => None,
    };
    let is_told = matches!(
        inference,
        NameInference::Keeps | NameInference::Unifies | NameInference::Infers(_) | NameInference::InfersLate(_)
    );
    if let Some(target) = call.target().filter(|_| is_told)
        && let Err(error) = check_target(&target, told.as_deref())
    {
        return Err(tried(function, call).unwrap_or(error));
    }
    let out = named_out(call);
    if let Some((place, _)) = out {
        call.args[place] = Value::None;
    }
    let before = state.nameless.replace(!matches!(inference, NameInference::Itself));
    let result = super::invoke_nameless(function, call);
    state.nameless.set(before);
    let mut result = result?;
    let told = match inference {
        NameInference::Each => {
            for (new, old) in tensors_in(&result).iter().zip(tensors_of(call)) {
                if !new.is(&old) {
                    set(state, new, &old.all_names());
                }
            }
            return Ok(result);
        }
        NameInference::Removes => without_reduced(call)?,
        NameInference::InfersAfter(infer) => infer(call, &result)?,
        _ => told,
    };
    if let Some((place, target)) = out {
        write_named(function, call, &target, &result, told.as_deref())?;
        result = Value::Tensor(target.clone());
        call.args[place] = result.clone();
        return Ok(result);
    }
    if let NameInference::Nameless | NameInference::Itself = inference {
        return Ok(result);
    }
    for tensor in tensors_in(&result) {
        give(state, &tensor, told.as_deref())?;
    }
    Ok(result)
}

/// Runs a function on copies of the arguments it writes to, and returns its error, if any.
fn tried(function: &Function, call: &Call) -> Option<Error> {
    let mut args = call.args.clone();
    for (value, param) in args.iter_mut().zip(&call.signature.params) {
        match value {
            Value::Tensor(tensor) if param.written => {
                let view = tensor.view();
                *value = Value::Tensor(Tensor::new(tensor::ops::copy::cast(&view, view.dtype).ok()?));
            }
            _ if is_out(param) => *value = Value::None,
            _ => {}
        }
    }
    let state = call.state;
    let before = (state.nameless.replace(true), state.grad_enabled.replace(false));
    let result = super::invoke_nameless(function, &mut Call::of(state, function, args));
    state.nameless.set(before.0);
    state.grad_enabled.set(before.1);
    result.err()
}

/// Returns the `out` tensor and its position, if it has names and no gradients are recorded. A recorded result is
/// refused with `out`.
fn named_out(call: &Call) -> Option<(usize, Tensor)> {
    let place = call.position("out")?;
    match call.args.get(place) {
        Some(Value::Tensor(out)) if out.has_names() && !call.args.iter().any(crate::wants_grad) => {
            Some((place, out.clone()))
        }
        _ => None,
    }
}

/// Writes a result to a named tensor, which keeps its size and takes the names of the result.
fn write_named(function: &Function, call: &Call, out: &Tensor, result: &Value, names: Option<&[Name]>) -> Result<()> {
    let Some(result) = as_tensor(result) else { return Ok(()) };
    check_size(out, &result.borrow().layout.sizes.clone())?;
    check_target(out, names)?;
    super::outs::write_named(function, call, out, &result.view())?;
    if let Some(names) = names {
        set(call.state, out, names);
    }
    Ok(())
}

/// Checks that a named tensor keeps its size.
///
/// # Errors
/// RuntimeError if the size would change.
pub(crate) fn check_size(tensor: &Tensor, wanted: &[i64]) -> Result<()> {
    let sizes = tensor.borrow().layout.sizes.clone();
    if !tensor.has_names() || sizes.as_slice() == wanted {
        return Ok(());
    }
    bail!(
        RuntimeError,
        "Cannot resize named tensor with resize_ or resize_as_ (tried to resize Tensor{} with size {} to {}). This may be caused \
         by passing a named tensor as an `out=` argument; please ensure that the sizes are the same. ",
        show_names(&tensor.all_names()),
        show(&sizes),
        show(wanted)
    )
}

/// Returns how names follow in a call, or `None` for functions that do not work on tensors.
fn inference_of(function: &Function, call: &Call) -> Result<Option<NameInference>> {
    let signature = call.signature;
    let module = signature.name.split_once('.').map_or("", |(module, _)| module);
    let of_tensors = matches!(signature.receiver(), None | Some(Kind::Tensor | Kind::Number));
    if !of_tensors || LIBRARY.contains(&module) {
        return Ok(None);
    }
    if signature.takes_names() {
        return Ok(Some(NameInference::Itself));
    }
    let names = &function.row.names;
    if let Some((ndim, operation)) = names.few_refused_as
        && tensors_of(call).any(|tensor| tensor.borrow().ndim() < ndim)
    {
        return Err(refusal(operation));
    }
    if let Some(operation) = names.complex_refused_as
        && tensor_at(call, first_tensor(call)).is_some_and(|tensor| tensor.borrow().dtype.is_complex())
    {
        return Err(refusal(operation));
    }
    let takes_tensors =
        || signature.params.iter().any(|param| matches!(param.kind, Kind::Tensor | Kind::Tensors | Kind::Operand));
    match names.inference {
        // A function without tensor parameters calls others, which handle the names.
        NameInference::Unsupported if !takes_tensors() && function.row.operation.is_none() => {
            Ok(Some(NameInference::Itself))
        }
        NameInference::Unsupported if matches!(signature.name, "new" | "new_tensor") => {
            bail!(RuntimeError, "DispatchKey Named doesn't correspond to a device")
        }
        NameInference::Unsupported => {
            let said = if names.checks_first { tried(function, call) } else { None };
            Err(said.unwrap_or_else(|| refusal(&refused_name(function, call))))
        }
        inference => Ok(Some(inference)),
    }
}

/// Builds PyTorch's error for an operation that does not support named tensors.
pub fn refusal(operation: &str) -> Error {
    Error::runtime(format!(
        "aten::{operation} is not yet supported with named tensors. Please drop names via `tensor = tensor.rename(None)`, call \
         the op with an unnamed tensor, and set names on the result of the operation."
    ))
}

/// Returns the operation that a refusal names.
fn refused_name(function: &Function, call: &Call) -> Cow<'static, str> {
    let with_out = call.position("out").is_some_and(|i| !call.is_none(i));
    if let (true, Some(name)) = (with_out, function.row.names.out_refused_as) {
        return name.into();
    }
    let name = operation(function, call);
    match with_out {
        false => name,
        true if name.contains('.') => format!("{name}_out").into(),
        true => format!("{name}.out").into(),
    }
}

/// Returns the operation that PyTorch calls for a function with these arguments.
pub fn operation(function: &Function, call: &Call) -> Cow<'static, str> {
    let row = function.row;
    let one_dim = || matches!(call.args.get(1), Some(Value::Size(dims)) if dims.len() == 1);
    let name: Cow<'static, str> = match (row.names.several_refused_as, row.operation) {
        (Some(several), _) if !one_dim() => several.into(),
        (_, Some(operation)) => operation.into(),
        (_, None) => own_name(function.key()).into(),
    };
    // A number given for a tensor selects another overload.
    let number = call.args.iter().take(2).position(|arg| arg.as_scalar().is_some());
    if let (Some(place), Some(base)) = (number, name.strip_suffix(".Tensor")) {
        let known = NUMBER_OVERLOADS.iter().find(|(_, _, bases)| bases.contains(&base.trim_end_matches('_')));
        let (first, second) = known.map_or(("Scalar_Tensor", "Scalar"), |(first, second, _)| (*first, *second));
        return format!("{base}.{}", if place == 0 { first } else { second }).into();
    }
    name
}

/// Returns PyTorch's name of an overload, in which the module is a prefix instead of a path.
fn own_name(key: &str) -> String {
    for module in ["special", "linalg", "fft"] {
        if let Some(rest) = key.strip_prefix(module).and_then(|rest| rest.strip_prefix('.')) {
            return format!("{module}_{rest}");
        }
    }
    key.strip_prefix("nn.functional.").unwrap_or(key).to_owned()
}

fn is_out(param: &Param) -> bool {
    param.name == "out"
}

/// Returns the position of the first argument that is or contains a tensor.
fn first_tensor(call: &Call) -> usize {
    let is_input =
        |(i, param): (usize, &Param)| !is_out(param) && call.args.get(i).is_some_and(|arg| tensor_in(arg).is_some());
    call.signature.params.iter().enumerate().position(is_input).unwrap_or(0)
}

fn tensor_in(value: &Value) -> Option<Tensor> {
    match value {
        Value::Tensor(tensor) => Some(tensor.clone()),
        _ => value.items()?.first().and_then(as_tensor).cloned(),
    }
}

fn tensor_at(call: &Call, index: usize) -> Option<Tensor> {
    call.args.get(index).and_then(tensor_in)
}

/// Iterates over all tensors in the arguments, including those in lists.
fn tensors_of(call: &Call) -> impl Iterator<Item = Tensor> {
    call.args.iter().flat_map(tensors_in)
}

/// Returns the names of an argument, if it has any.
pub(crate) fn names_in(call: &Call, index: usize) -> Option<Vec<Name>> {
    tensor_at(call, index).and_then(|tensor| tensor.names()).map(|names| names.to_vec())
}

/// Returns one name for each dimension of an argument.
pub fn all_names(call: &Call, index: usize) -> Result<Names> {
    Ok(call.tensor(index)?.all_names())
}

/// Iterates over the tensor arguments other than `out`, in order.
fn inputs<'c>(call: &'c Call) -> impl Iterator<Item = &'c Tensor> {
    call.signature
        .params
        .iter()
        .zip(&call.args)
        .filter(|(param, _)| !is_out(param))
        .filter_map(|(_, arg)| as_tensor(arg))
}

/// Broadcasts the names of all inputs together.
pub fn unified(call: &Call) -> Result<Option<Vec<Name>>> {
    if !inputs(call).any(Tensor::has_names) {
        return Ok(None);
    }
    let mut names = Vec::new();
    for input in inputs(call) {
        names = match names.as_slice() {
            [] => input.all_names().to_vec(),
            known => unify(known, &input.all_names(), "broadcast")?,
        };
    }
    Ok(Some(names))
}

/// Returns the names of the first tensor without those of the reduced dimensions.
fn without_reduced(call: &Call) -> Result<Option<Vec<Name>>> {
    let Some(names) = names_in(call, first_tensor(call)) else { return Ok(None) };
    if call.position("keepdim").is_some_and(|i| call.bool(i) == Ok(true)) {
        return Ok(Some(names));
    }
    let dims: Vec<i64> = match call.position("dim").map(|i| call.value(i)) {
        Some(Value::Int(dim)) => vec![dim],
        Some(Value::Size(dims)) => dims.to_vec(),
        _ => Vec::new(),
    };
    if dims.is_empty() {
        return Ok(None);
    }
    let gone = dims.iter().map(|dim| wrap_dim(*dim, names.len())).collect::<Result<Vec<usize>>>()?;
    Ok(Some(names.into_iter().enumerate().filter(|(i, _)| !gone.contains(i)).map(|(_, name)| name).collect()))
}

fn tensors_in(value: &Value) -> Vec<Tensor> {
    // A value that is nested too deeply is treated as having no tensors.
    tree::leaves(value).unwrap_or_default().iter().filter_map(as_tensor).cloned().collect()
}

/// Checks that a named tensor which is written to has the names of the result.
fn check_target(target: &Tensor, names: Option<&[Name]>) -> Result<()> {
    let Some(known) = target.names() else { return Ok(()) };
    let none = vec![None; target.borrow().ndim()];
    let computed = names.unwrap_or(&none);
    // The function itself refuses sizes that do not fit.
    if known[..] == *computed || known.len() != computed.len() {
        return Ok(());
    }
    bail!(
        RuntimeError,
        "Name mismatch: specified out tensor with names {} are not the same as the computed output names {}. Please rename \
         the out tensor's dims with `Tensor.rename`.",
        show_names(&known),
        show_names(computed)
    )
}

/// Gives a result its names. A result that already has names must have the same ones.
pub fn give(state: &State, tensor: &Tensor, names: Option<&[Name]>) -> Result<()> {
    if tensor.has_names() {
        return check_target(tensor, names);
    }
    if let Some(names) = names {
        set(state, tensor, names);
    }
    Ok(())
}

/// Sets the names of a tensor. From now on, every call of the session checks for names.
pub fn set(state: &State, tensor: &Tensor, names: &[Name]) {
    tensor.set_names(names);
    if tensor.has_names() && !state.has_names.replace(true) {
        state.warn_once(
            "UserWarning",
            "Named tensors and all their associated APIs are an experimental feature and subject to change. Please do not use \
             them for anything important until they are released as stable.",
        );
    }
}
