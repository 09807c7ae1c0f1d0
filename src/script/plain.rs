//! The straight way of what loops call most: a method of a tensor, with arguments that are just what its parameters ask
//! for. They go from the script language into their places at once. Whatever is not plainly right is left to
//! [`super::bind`], which knows every rule and every error, so that nothing is decided here that it would decide otherwise.

use super::bind::{Bound, is_of_kind};
use super::functions::Function;
use super::signature::{Kind, Param, Signature};
use crate::tensor::{Dims, Tensor};
use crate::value::Value;
use rhai::Dynamic;

/// Whether arguments fit a signature, as far as it can be told without much ado.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fit {
    Yes,
    No,
    Unsure,
}

/// Binds a method call to the first signature that fits. `None` where it takes a closer look to tell.
#[inline]
pub fn bind<'f>(
    overloads: &'f [Function],
    this: Tensor,
    given: &[&mut Dynamic],
    bound: &mut Bound,
) -> Option<&'f Function> {
    bound.push(Value::Tensor(this));
    for function in overloads {
        bound.truncate(1);
        match fit(&function.signature, given, bound) {
            Fit::Yes => return Some(function),
            Fit::No => {}
            Fit::Unsure => return None,
        }
    }
    None
}

/// Puts the arguments into their places behind the receiver.
fn fit(signature: &Signature, given: &[&mut Dynamic], bound: &mut Bound) -> Fit {
    let mut given = given.iter();
    for param in signature.visible(true) {
        let Some(dynamic) = given.next() else {
            match param.default {
                Some(default) => bound.push(default.to_value()),
                None => return Fit::No,
            }
            continue;
        };
        if param.keyword_only {
            return Fit::No;
        }
        if let Kind::Ints(length) = param.kind {
            // A single list of integers may be spread: `view(2, 3)`. One integer may also stand for several.
            let is_spread = signature.positional == 2 && (length.is_none() || given.len() > 0);
            let sizes: Option<Dims> = std::iter::once(dynamic).chain(given.by_ref()).map(|d| d.as_int().ok()).collect();
            match sizes.filter(|_| is_spread) {
                Some(sizes) => bound.push(Value::Size(sizes)),
                None => return Fit::Unsure,
            }
            continue;
        }
        match number_or_tensor(dynamic) {
            Some(value) if is_of_kind(param.kind, &value) => bound.push(value),
            Some(value) => return unfit(param, &value),
            None => return Fit::Unsure,
        }
    }
    if given.next().is_none() { Fit::Yes } else { Fit::No }
}

/// What plain arguments are.
#[inline]
fn number_or_tensor(dynamic: &Dynamic) -> Option<Value> {
    if dynamic.is_int() {
        return dynamic.as_int().ok().map(Value::Int);
    }
    if let Some(tensor) = dynamic.read_lock::<Tensor>() {
        return Some(Value::Tensor(tensor.clone()));
    }
    if dynamic.is_float() {
        return dynamic.as_float().ok().map(Value::Float);
    }
    dynamic.as_bool().ok().map(Value::Bool)
}

/// A value that is not just what a parameter asks for: could it still be accepted?
fn unfit(param: &Param, value: &Value) -> Fit {
    match (param.kind, value) {
        (
            Kind::DType | Kind::Bool | Kind::Tensor | Kind::Tensors | Kind::Name | Kind::Names,
            Value::Int(_) | Value::Float(_),
        ) => Fit::No,
        _ => Fit::Unsure,
    }
}
