//! Orthogonal matrices as products of Householder reflections. Follows
//! <https://pytorch.org/docs/2.7/generated/torch.linalg.householder_product.html>.

use call::facets::{Lies, Out, Takes};
use call::{Row, both, function, safely};
use tensor::linalg as ops;
use value::Value;

pub(crate) const ROWS: &[Row] = &[
    both(
        "geqrf(Tensor self, *, Tensor[]? out=None) -> any",
        |c| {
            let (a, tau) = ops::geqrf(&c.view(0)?)?;
            Ok(Value::named_tuple("torch.return_types.geqrf", vec![("a", a.into()), ("tau", tau.into())]))
        },
        "Computes the reflections of a QR decomposition.",
    )
    .out(Out::PLAIN.takes(&[safely!("torch.geqrf", "{field}")])),
    function(
        "linalg.householder_product(Tensor input, Tensor tau, *, Tensor? out=None) -> Tensor",
        |c| ops::householder_product(&c.view(0)?, &c.view(1)?).map(Value::from),
        "Multiplies reflections.",
    )
    .out(Out::PLAIN.takes(&[safely!("torch.linalg.householder_product", "result")]).lying(Lies::InRowsUnlessEmpty)),
    both(
        "orgqr(Tensor self, Tensor input2, *, Tensor? out=None) -> Tensor",
        |c| ops::householder_product(&c.view(0)?, &c.view(1)?).map(Value::from),
        "Multiplies reflections.",
    )
    .out(Out::PLAIN.takes(&[safely!("torch.linalg.householder_product", "result")]).lying(Lies::InRowsUnlessEmpty))
    .operation("linalg_householder_product").derivative_of("linalg.householder_product"),
    both(
        "ormqr(Tensor self, Tensor input2, Tensor input3, bool left=True, bool transpose=False, *, Tensor? out=None) -> Tensor",
        |c| ops::ormqr(&c.view(0)?, &c.view(1)?, &c.view(2)?, c.bool(3)?, c.bool(4)?).map(Value::from),
        "Multiplies reflections with a matrix.",
    )
    .out(Out::PLAIN.takes(&[(Takes::Same, "torch.ormqr: Expected input and result to have the same dtype, but input has dtype{result} and result has dtype {out}")])),
];
