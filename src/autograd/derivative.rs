//! The type of a row of the derivative table, and the formulas that many rows share.

use super::context::{Context, Expr};
use tensor::Error;

/// The entry for the result in [`Gradient::uses`].
pub(crate) const RESULT: usize = usize::MAX;

/// Computes the gradient of an argument.
type Formula = for<'a> fn(&Context<'a>) -> Expr<'a>;

/// One row of the table.
pub struct Derivative {
    /// The overload, as in the function table. An in-place function shares the row of its out-of-place form.
    pub key: &'static str,
    /// The printed name of the node.
    pub name: &'static str,
    /// The gradients, in the order of the arguments.
    pub gradients: [Option<Gradient>; 4],
    /// Whether the operation changes the tensor's view in place, but no element. The base of a view then stays as it
    /// is.
    pub shows: bool,
}

/// The gradient of one argument.
#[derive(Clone, Copy)]
pub struct Gradient {
    pub arg: usize,
    /// The arguments whose values the formula reads. They must not change in place before the pass.
    pub uses: &'static [usize],
    pub formula: Formula,
}

pub(crate) const fn row(key: &'static str, name: &'static str) -> Derivative {
    Derivative { key, name, gradients: [None; 4], shows: false }
}

impl Derivative {
    /// Adds the formula for an argument.
    pub const fn grad(self, arg: usize, uses: &'static [usize], formula: Formula) -> Derivative {
        let gradient = Some(Gradient { arg, uses, formula });
        let [first, second, third, fourth] = self.gradients;
        let gradients = match (first.is_none(), second.is_none(), third.is_none()) {
            (true, ..) => [gradient, None, None, None],
            (_, true, _) => [first, gradient, None, None],
            (_, _, true) => [first, second, gradient, None],
            _ => [first, second, third, if fourth.is_none() { gradient } else { fourth }],
        };
        Derivative { gradients, ..self }
    }

    pub fn gradients(&self) -> impl Iterator<Item = &Gradient> {
        self.gradients.iter().flatten()
    }
}

/// Returns zeros, for a result that is piecewise constant in the argument.
pub(crate) fn zero<'a>(c: &Context<'a>) -> Expr<'a> {
    c.g().call("zeros_like", &[])
}

/// Returns the gradient of the result unchanged.
pub(crate) fn same<'a>(c: &Context<'a>) -> Expr<'a> {
    c.g()
}

/// Fails with NotImplementedError. PyTorch records a node for these functions, but has no derivative.
pub(crate) fn refused<'a>(c: &Context<'a>, name: &str) -> Expr<'a> {
    c.expr(Err(Error::not_implemented(format!("the derivative for '{name}' is not implemented."))))
}
