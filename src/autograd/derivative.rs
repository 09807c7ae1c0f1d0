//! The type of a row of the derivative table, and the formulas that many rows share.

use super::context::{Context, Expr};
use tensor::Error;

/// Among the values a formula uses: the result.
pub(crate) const RESULT: usize = usize::MAX;

/// The gradient of an argument.
type Formula = for<'a> fn(&Context<'a>) -> Expr<'a>;

/// One row.
pub struct Derivative {
    /// The overload, as in the function table; a function that works in place shares the row of its twin.
    pub key: &'static str,
    /// The node's name in printed text.
    pub name: &'static str,
    /// In the order of the arguments.
    pub gradients: [Option<Gradient>; 4],
    /// Whether the operation changes in place what a tensor shows, and no element: the base of a view stays as it is.
    pub shows: bool,
}

/// The gradient of one argument.
#[derive(Clone, Copy)]
pub struct Gradient {
    pub arg: usize,
    /// The arguments whose values the formula reads; they must not change in place before the pass.
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

/// Zeros: the result does not change with the argument, except where it jumps.
pub(crate) fn zero<'a>(c: &Context<'a>) -> Expr<'a> {
    c.g().call("zeros_like", &[])
}

/// The gradient as it is.
pub(crate) fn same<'a>(c: &Context<'a>) -> Expr<'a> {
    c.g()
}

/// Refuses where PyTorch has a node but no derivative.
pub(crate) fn refused<'a>(c: &Context<'a>, name: &str) -> Expr<'a> {
    c.expr(Err(Error::not_implemented(format!("the derivative for '{name}' is not implemented."))))
}
