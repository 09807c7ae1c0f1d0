//! The fast path for what loops call most: a method of a tensor whose arguments are exactly what its parameters ask
//! for. They go straight into their places. Everything else is left to [`super::bind`], which knows every rule and every
//! error, so that the two never decide differently.

use super::Function;
use super::bind::{Bound, is_of_kind};
use super::signature::{Kind, Param, Signature};
use tensor::{Dims, Tensor};
use value::Value;

/// An argument as a language has it.
pub trait Argument {
    /// The number or the tensor that it is; `None` for anything else.
    fn plain(self) -> Option<Value>;
    /// The integer that it is.
    fn int(self) -> Option<i64>;
}

impl Argument for &Value {
    #[inline]
    fn plain(self) -> Option<Value> {
        matches!(self, Value::Int(_) | Value::Tensor(_) | Value::Float(_) | Value::Bool(_)).then(|| self.clone())
    }
    #[inline]
    fn int(self) -> Option<i64> {
        if let Value::Int(number) = self { Some(*number) } else { None }
    }
}

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
    given: impl Iterator<Item: Argument> + Clone,
    bound: &mut Bound,
) -> Option<&'f Function> {
    bound.push(Value::Tensor(this));
    for function in overloads {
        bound.truncate(1);
        match fit(&function.signature, given.clone(), bound) {
            Fit::Yes if function.signature.places.is_empty() => return Some(function),
            Fit::Yes => return None,
            Fit::No => {}
            Fit::Unsure => return None,
        }
    }
    None
}

/// Puts the arguments into their places behind the receiver.
fn fit(signature: &Signature, mut given: impl Iterator<Item: Argument>, bound: &mut Bound) -> Fit {
    for param in signature.visible(true) {
        let Some(argument) = given.next() else {
            match param.default {
                Some(default) => bound.push(default.to_value()),
                // Any number of values, so also none.
                None if param.kind == Kind::Rest => return Fit::Unsure,
                None => return Fit::No,
            }
            continue;
        };
        if param.keyword_only {
            return Fit::No;
        }
        if let Kind::Ints(length) = param.kind {
            // A single list of integers may be spread: `view(2, 3)`. Where its length is given, one integer stands for all.
            if signature.positional != 2 || length.is_some() {
                return Fit::Unsure;
            }
            let mut sizes = Dims::new();
            for argument in std::iter::once(argument).chain(given.by_ref()) {
                match argument.int() {
                    Some(size) => sizes.push(size),
                    None => return Fit::Unsure,
                }
            }
            bound.push(Value::Size(sizes));
            continue;
        }
        match argument.plain() {
            Some(value) if is_of_kind(param.kind, &value) => bound.push(value),
            Some(value) => return unfit(param, &value),
            None => return Fit::Unsure,
        }
    }
    if given.next().is_none() { Fit::Yes } else { Fit::No }
}

/// Tells whether a value that is not exactly what a parameter asks for could still be accepted.
fn unfit(param: &Param, value: &Value) -> Fit {
    match (param.kind, value) {
        (
            Kind::DType | Kind::Bool | Kind::Tensor | Kind::Tensors | Kind::Name | Kind::Names { .. },
            Value::Int(_) | Value::Float(_),
        ) => Fit::No,
        _ => Fit::Unsure,
    }
}
