//! Derivatives of functions: `torch.autograd.functional`. Follows
//! <https://pytorch.org/docs/2.7/autograd.html#functional-higher-level-api>.

use crate::python::in_python;
use call::{Row, function};

pub(super) const ROWS: &[Row] = &[
    function(
        "autograd.functional.jacobian(any func, any inputs, bool create_graph=False, bool strict=False, bool \
 vectorize=False, str strategy=\"reverse-mode\") -> any",
        |c| in_python(c, "functional.jacobian"),
        "Computes the derivatives of every result of a function by every element of its inputs.",
    )
    .python("jacobian"),
    function(
        "autograd.functional.hessian(any func, any inputs, bool create_graph=False, bool strict=False, bool \
 vectorize=False, str outer_jacobian_strategy=\"reverse-mode\") -> any",
        |c| in_python(c, "functional.hessian"),
        "Computes the second derivatives of a function of one result.",
    )
    .python("hessian"),
    function(
        "autograd.functional.vjp(any func, any inputs, any v=None, bool create_graph=False, bool \
 strict=False) -> any",
        |c| in_python(c, "functional.vjp"),
        "Computes the product of a vector and the Jacobian, with the function's results.",
    )
    .python("vjp"),
    function(
        "autograd.functional.jvp(any func, any inputs, any v=None, bool create_graph=False, bool \
 strict=False) -> any",
        |c| in_python(c, "functional.jvp"),
        "Computes the product of the Jacobian and a vector, with the function's results.",
    )
    .python("jvp"),
    function(
        "autograd.functional.vhp(any func, any inputs, any v=None, bool create_graph=False, bool \
 strict=False) -> any",
        |c| in_python(c, "functional.vhp"),
        "Computes the product of a vector and the Hessian, with the function's result.",
    )
    .python("vhp"),
    function(
        "autograd.functional.hvp(any func, any inputs, any v=None, bool create_graph=False, bool \
 strict=False) -> any",
        |c| in_python(c, "functional.hvp"),
        "Computes the product of the Hessian and a vector, with the function's result.",
    )
    .python("hvp"),
];
