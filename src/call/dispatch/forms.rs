//! Dispatch for tensors that are not dense. A row's function is written for dense tensors, and facets of the row say
//! how it handles sparse and quantized ones. Without such a facet they are refused in PyTorch's words. This is
//! PyTorch's dispatch by backend.

use super::{names, tree};
use crate::facets::{Dispatch, NO_STRIDES};
use crate::signature::Kind;
use crate::{Call, Function, LIBRARY, Row, Run, as_tensor};
use autograd::Rule;
use std::cell::RefCell;
use tensor::bail;
use tensor::ops::{quantize, sparse as ops};
use tensor::{Error, Form, Quantizer, Result, Tensor, View};
use value::{Value, any_tensor};

/// The kind of tensor that a call is dispatched by. If the arguments differ, the last kind in this list wins.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Backend {
    Quantized,
    Coo,
    Compressed,
}

impl Backend {
    fn of(view: &View) -> Option<Backend> {
        Some(match view.form.as_deref()? {
            Form::Quantized(_) => Backend::Quantized,
            Form::Coo(_) => Backend::Coo,
            Form::Compressed(_) => Backend::Compressed,
        })
    }

    fn name(self) -> &'static str {
        match self {
            Backend::Quantized => "QuantizedCPU",
            Backend::Coo => "SparseCPU",
            Backend::Compressed => "SparseCsrCPU",
        }
    }

    fn dispatch(self, row: &Row) -> Dispatch {
        match (self, row.sparse) {
            (Backend::Quantized, _) => row.quantized,
            (Backend::Coo, Dispatch::Split(dispatch, _)) | (_, Dispatch::Split(_, dispatch)) => *dispatch,
            (_, dispatch) => dispatch,
        }
    }
}

/// Returns the backend of a call, or `None` if all its tensors are dense or the backend does not matter.
#[inline]
pub fn backend(call: &Call) -> Option<Backend> {
    let signature = call.signature;
    if signature.is_python() {
        return None;
    }
    let found = call.args.iter().filter_map(backend_of).max()?;
    let of_tensors = matches!(signature.receiver(), None | Some(Kind::Tensor));
    let module = signature.name.split_once('.').map_or("", |(module, _)| module);
    (of_tensors && !LIBRARY.contains(&module)).then_some(found)
}

#[inline]
fn backend_of(value: &Value) -> Option<Backend> {
    let mut found = None;
    any_tensor(value, &mut |tensor| {
        found = found.max(Backend::of(&tensor.borrow()));
        false
    });
    found
}

/// Runs a function on arguments that include tensors which are not dense.
///
/// # Errors
/// NotImplementedError if the row does not support them.
pub fn run(function: &Function, call: &mut Call, backend: Backend) -> Result<Value> {
    let dense = function.row.run;
    match backend.dispatch(function.row) {
        Dispatch::Own(run) => run(call),
        Dispatch::AsIs => dense(call),
        Dispatch::Given => on_elements(dense, call, false),
        Dispatch::Coalesced => on_elements(dense, call, true),
        Dispatch::Total => total(dense, call),
        Dispatch::Integers => on_integers(dense, call),
        Dispatch::OneScale(refusal) => check_one_scale(call, refusal).and_then(|()| on_integers(dense, call)),
        Dispatch::Numbers => on_numbers(dense, call, false),
        Dispatch::Requantized => on_numbers(dense, call, true),
        Dispatch::RequantizedOneScale(refusal) => {
            check_one_scale(call, refusal).and_then(|()| on_numbers(dense, call, true))
        }
        Dispatch::Uniform => {
            if let Some(Quantizer::PerChannel { .. }) = call.tensor(0)?.borrow().quantizer() {
                bail!(RuntimeError, "{NO_STRIDES}");
            }
            dense(call)
        }
        Dispatch::Refused(name) => Err(Error::no_backend(name, backend.name())),
        Dispatch::Missing => match function.rule(&call.args) {
            Rule::Composite(parts) if backend != Backend::Quantized && call.refuse_out(function).is_ok() => {
                composed(function, || parts(call.state, &call.args))
                    .unwrap_or_else(|| Err(refusal(function, call, backend)))
            }
            _ => Err(refusal(function, call, backend)),
        },
        // `dispatch` chose one side.
        Dispatch::Split(..) => Err(refusal(function, call, backend)),
    }
}

thread_local! {
    /// The functions whose parts are running.
    static COMPOSING: RefCell<Vec<&'static str>> = const { RefCell::new(Vec::new()) };
}

/// Runs the parts of a function. `None` if it is one of its own parts, which would never end.
fn composed(function: &Function, parts: impl FnOnce() -> Result<Value>) -> Option<Result<Value>> {
    let key = function.signature.key;
    if COMPOSING.with_borrow(|running| running.contains(&key)) {
        return None;
    }
    struct Running;
    impl Drop for Running {
        fn drop(&mut self) {
            COMPOSING.with_borrow_mut(Vec::pop);
        }
    }
    COMPOSING.with_borrow_mut(|running| running.push(key));
    let _running = Running;
    Some(parts())
}

/// Refuses tensors that are quantized with a scale for each channel.
fn check_one_scale(call: &Call, refusal: &str) -> Result<()> {
    let per_channel = |tensor: &Tensor| matches!(tensor.borrow().quantizer(), Some(Quantizer::PerChannel { .. }));
    match call.args.iter().any(|value| any_tensor(value, &mut |tensor| per_channel(tensor))) {
        true => Err(Error::runtime(refusal)),
        false => Ok(()),
    }
}

fn refusal(function: &Function, call: &Call, backend: Backend) -> Error {
    let operation = names::operation(function, call);
    if backend != Backend::Quantized {
        return Error::no_backend(&operation, backend.name());
    }
    // For a quantized tensor, PyTorch reports the overload with `out` first, even for in-place calls.
    let (name, overload) = operation.split_once('.').unwrap_or((&operation, ""));
    let name = name.trim_end_matches('_');
    let out = if overload.is_empty() { format!("{name}.out") } else { format!("{name}.{overload}_out") };
    Error::no_backend(&out, backend.name())
}

/// Runs a function for dense tensors on the elements of the first sparse argument.
pub fn on_elements(run: Run, call: &mut Call, coalesced: bool) -> Result<Value> {
    let sparse = |value: &Value| as_tensor(value).is_some_and(|tensor| tensor.borrow().is_sparse());
    let out = call.position("out");
    let place = call.args.iter().enumerate().position(|(i, value)| Some(i) != out && sparse(value));
    let Some(place) = place else { return run(call) };
    let target = call.tensor(place)?.clone();
    let whole = target.view();
    if coalesced && call.signature.in_place && whole.coo().is_some_and(|parts| !parts.coalesced) {
        bail!(RuntimeError, "{} requires coalesced input", call.signature.name);
    }
    let whole = if coalesced && whole.coo().is_some() { ops::coalesce(&whole)? } else { whole };
    let given = Tensor::new(ops::elements(&whole).clone());
    call.args[place] = Value::Tensor(given.clone());
    let result = run(call);
    call.args[place] = Value::Tensor(target.clone());
    match result? {
        Value::Tensor(new) if new.is(&given) => {
            if call.signature.in_place {
                target.set_view(ops::with_values(&whole, new.view())?);
            }
            Ok(Value::Tensor(target))
        }
        Value::Tensor(new) => ops::with_values(&whole, new.view()).map(Value::from),
        other => Ok(other),
    }
}

/// Runs a function for dense tensors on the elements of a sparse receiver. The result is dense.
pub fn total(run: Run, call: &mut Call) -> Result<Value> {
    let target = call.tensor(0)?.clone();
    let view = target.view();
    let view = if view.coo().is_some() { ops::coalesce(&view)? } else { view };
    call.args[0] = ops::elements(&view).clone().into();
    let result = run(call);
    call.args[0] = Value::Tensor(target);
    result
}

/// Runs a function with every quantized argument replaced by another tensor. Also returns the first quantized argument.
fn replaced(run: Run, call: &mut Call, stand_in: impl Fn(&View) -> Result<View>) -> Result<(Value, View)> {
    let before = call.args.clone();
    let mut model = None;
    for value in &mut call.args {
        *value = mapped(value, &mut |tensor| {
            let view = tensor.view();
            if view.quantizer().is_none() {
                return Ok(tensor.clone());
            }
            let replacement = Tensor::new(stand_in(&view)?);
            model.get_or_insert(view);
            Ok(replacement)
        })?;
    }
    let result = run(call);
    call.args = before;
    match (result?, model) {
        (result, Some(model)) => Ok((result, model)),
        (_, None) => Err(Error::runtime("a quantized tensor is needed")),
    }
}

/// Runs a function on the integers of quantized arguments. Integer results are quantized like the first argument.
fn on_integers(run: Run, call: &mut Call) -> Result<Value> {
    let (result, model) = replaced(run, call, |view| Ok(quantize::integers(view)))?;
    if call.signature.in_place {
        return Ok(call.itself());
    }
    mapped(&result, &mut |tensor| {
        let view = tensor.view();
        let integers = view.dtype == model.dtype.stored_integers();
        Ok(Tensor::new(if integers { quantize::wrap_like(view, &model)? } else { view }))
    })
}

/// Runs a function on the dequantized arguments.
fn on_numbers(run: Run, call: &mut Call, requantized: bool) -> Result<Value> {
    let (result, model) = replaced(run, call, quantize::dequantize)?;
    if !requantized {
        return Ok(result);
    }
    let quantized = mapped(&result, &mut |tensor| Ok(Tensor::new(quantize::like(&tensor.view(), &model)?)))?;
    match quantized {
        Value::Tensor(new) if call.signature.in_place => {
            tensor::ops::copy::copy_into(&quantize::integers(&call.view(0)?), &quantize::integers(&new.view()))?;
            Ok(call.itself())
        }
        other => Ok(other),
    }
}

/// Replaces every tensor in a value.
fn mapped(value: &Value, change: &mut impl FnMut(&Tensor) -> Result<Tensor>) -> Result<Value> {
    tree::map(value, &mut |leaf| match leaf {
        Value::Tensor(tensor) => change(tensor).map(Value::Tensor),
        other => Ok(other.clone()),
    })
}
