//! The fast path for the most frequent calls in loops: tensor methods whose arguments have exactly the kinds of the
//! parameters. They are bound directly. All other calls are left to [`super::bind`], which knows every rule and every
//! error, so the two paths never decide differently.

use super::Function;
use super::bind::{Bound, is_of_kind};
use super::signature::{Kind, Param, Signature};
use tensor::{Dims, Tensor};
use value::Value;

/// An argument as a language represents it.
pub trait Argument {
    /// Returns the value if it is a number, a bool or a tensor, and `None` otherwise.
    fn plain(self) -> Option<Value>;
    /// Returns the value if it is an integer.
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

/// Whether arguments fit a signature, as far as a quick check can tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fit {
    Yes,
    No,
    Unsure,
}

/// Binds a method call to the first signature that fits. Returns `None` if a quick check cannot tell.
#[inline]
pub fn bind<'f>(
    overloads: &'f [Function],
    this: Tensor,
    given: impl Iterator<Item: Argument> + Clone,
    bound: &mut Bound,
) -> Option<&'f Function> {
    bound.push(Value::Tensor(this));
    first_fitting(overloads, true, given, bound)
}

/// Like [`bind`], for a function without a receiver.
#[inline]
pub fn bind_function<'f>(
    overloads: &'f [Function],
    given: impl Iterator<Item: Argument> + Clone,
    bound: &mut Bound,
) -> Option<&'f Function> {
    first_fitting(overloads, false, given, bound)
}

#[inline]
fn first_fitting<'f>(
    overloads: &'f [Function],
    method: bool,
    given: impl Iterator<Item: Argument> + Clone,
    bound: &mut Bound,
) -> Option<&'f Function> {
    let before = bound.len();
    for function in overloads {
        bound.truncate(before);
        match fit(&function.signature, method, given.clone(), bound) {
            Fit::Yes if function.signature.places.is_empty() => return Some(function),
            Fit::Yes => return None,
            Fit::No => {}
            Fit::Unsure => return None,
        }
    }
    None
}

/// Binds the arguments to the parameters, to those after the receiver for a method.
fn fit(signature: &Signature, method: bool, mut given: impl Iterator<Item: Argument>, bound: &mut Bound) -> Fit {
    for param in signature.visible(method) {
        let Some(argument) = given.next() else {
            match param.default {
                Some(default) => bound.push(default.to_value()),
                // A parameter that takes any number of values, including none.
                None if param.kind == Kind::Rest => return Fit::Unsure,
                None => return Fit::No,
            }
            continue;
        };
        if param.keyword_only {
            return Fit::No;
        }
        if let Kind::Ints(length) = param.kind {
            // A list of integers can be spread if it is the only parameter: `view(2, 3)`. If its length is given, one
            // integer can stand for all.
            if signature.positional != 1 + usize::from(method) || length.is_some() {
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
            // A function of two operands needs a tensor among them, as a method has it.
            Some(value) if !method && param.kind == Kind::Operand && !matches!(value, Value::Tensor(_)) => {
                return Fit::Unsure;
            }
            Some(value) if is_of_kind(param.kind, &value) => bound.push(value),
            Some(value) => return unfit(param, &value),
            None => return Fit::Unsure,
        }
    }
    if given.next().is_none() { Fit::Yes } else { Fit::No }
}

/// Returns whether a value that does not have exactly the parameter's kind could still be accepted.
fn unfit(param: &Param, value: &Value) -> Fit {
    match (param.kind, value) {
        (
            Kind::DType | Kind::Bool | Kind::Tensor | Kind::Tensors | Kind::Name | Kind::Names { .. },
            Value::Int(_) | Value::Float(_),
        ) => Fit::No,
        _ => Fit::Unsure,
    }
}
