//! Records calls for `origin`. A call whose row has a pattern is recorded as a whole, any other as the calls that it makes.

use super::invoke_untraced;
use crate::reads::{Reads, TracedCall, TracedTensor, tensors_in};
use crate::{Call, Function, State};
use tensor::{Result, Tensor};
use value::Value;

/// Runs a function, and records the call.
#[cold]
pub(crate) fn invoke(function: &Function, call: &mut Call) -> Result<Value> {
    let state = call.state;
    let traced = state.registry.overload(function.signature.key).filter(|_| !function.signature.is_python());
    let Some(traced) = traced else { return invoke_untraced(function, call) };
    let reads = function.row.reads;
    let is_unknown = matches!(reads, Reads::Unknown);
    let args = call.args.to_vec();
    let tensors = tensors_in(&args);
    let before = state.trace.len();
    // A call with a pattern hides the calls that it makes.
    state.trace.set_on(is_unknown);
    let result = invoke_untraced(function, call);
    state.trace.set_on(true);
    let result = result?;
    let is_in_place = call.target().is_some();
    let outputs = tensors_in([&result]);
    let is_explained = || {
        outputs.iter().all(|TracedTensor { tensor, .. }| {
            let is_argument = || tensors.iter().any(|argument| argument.tensor.is(tensor));
            state.trace.made(before, tensor) || !is_in_place && is_argument()
        })
    };
    if outputs.is_empty() && !is_in_place || is_unknown && is_explained() {
        return Ok(result);
    }
    let (key, signature) = (function.signature.key, &traced.signature);
    state.trace.add(TracedCall { key, signature, reads, args, tensors, outputs, is_in_place, subscript: None });
    Ok(result)
}

/// Records a view that a subscript made, which calls no function.
pub fn note_view(state: &State, source: &Tensor, view: &Tensor, subscript: String) {
    let Some(function) = state.registry.overload("alias") else { return };
    state.trace.add(TracedCall {
        key: function.signature.key,
        signature: &function.signature,
        reads: Reads::Place,
        args: vec![Value::Tensor(source.clone())],
        tensors: vec![TracedTensor::new(source)],
        outputs: vec![TracedTensor::new(view)],
        is_in_place: false,
        subscript: Some(subscript),
    });
}
