//! Eigenvalues of general matrices and factors of indefinite ones. Follows <https://pytorch.org/docs/2.7/linalg.html>.

use call::facets::Out;
use call::{Row, function, safely};
use tensor::linalg::{self as ops, first_failure};
use tensor::{Result, bail};
use value::Value;

pub(crate) const ROWS: &[Row] = &[
    function(
        "linalg.eig(Tensor self, *, Tensor[]? out=None) -> any",
        |c| {
            let (values, vectors) = ops::eig("linalg.eig", &c.view(0)?)?;
            Ok(Value::named_tuple(
                "torch.return_types.linalg_eig",
                vec![("eigenvalues", values.into()), ("eigenvectors", vectors.into())],
            ))
        },
        "Computes the eigenvalues and eigenvectors of a matrix.",
    )
    .out(Out::PLAIN.takes(&[safely!("torch.linalg.eig", "{field}")])),
    function(
        "linalg.eigvals(Tensor self, *, Tensor? out=None) -> Tensor",
        |c| ops::eigvals("linalg.eigvals", &c.view(0)?).map(Value::from),
        "Computes the eigenvalues of a matrix.",
    )
    .out(Out::PLAIN.takes(&[safely!("torch.linalg.eigvals", "eigenvalues")]))
    .operation("_linalg_eigvals")
    .out_refused_as("linalg_eigvals.out"),
    function(
        "linalg.ldl_factor(Tensor self, *, bool hermitian=False, Tensor[]? out=None) -> any",
        |c| {
            let (factors, pivots, info) = ops::ldl_factor(&c.view(0)?, c.bool(1)?)?;
            check("torch.linalg.ldl_factor", &info)?;
            Ok(Value::named_tuple(
                "torch.return_types.linalg_ldl_factor",
                vec![("LD", factors.into()), ("pivots", pivots.into())],
            ))
        },
        "Factors a symmetric matrix into a lower and a block diagonal factor.",
    )
    .operation("linalg_ldl_factor_ex"),
    function(
        "linalg.ldl_factor_ex(Tensor self, *, bool hermitian=False, bool check_errors=False, Tensor[]? \
 out=None) -> any",
        |c| {
            let (factors, pivots, info) = ops::ldl_factor(&c.view(0)?, c.bool(1)?)?;
            if c.bool(2)? {
                check("torch.linalg.ldl_factor_ex", &info)?;
            }
            Ok(Value::named_tuple(
                "torch.return_types.linalg_ldl_factor_ex",
                vec![("LD", factors.into()), ("pivots", pivots.into()), ("info", info.into())],
            ))
        },
        "Computes lower and block diagonal factors of a symmetric matrix, and whether they can solve.",
    ),
    function(
        "linalg.ldl_solve(Tensor LD, Tensor pivots, Tensor B, *, bool hermitian=False, Tensor? out=None) -> \
 Tensor",
        |c| ops::ldl_solve(&c.view(0)?, &c.view(1)?, &c.view(2)?, c.bool(3)?).map(Value::from),
        "Solves linear equations from LDL factors.",
    ),
];

/// Fails if a factorisation met a block of zeros. PyTorch has no message for this case and reports an internal error.
fn check(name: &str, info: &tensor::View) -> Result<()> {
    if info.device().is_meta() {
        return Ok(());
    }
    match first_failure(info)? {
        None => Ok(()),
        Some((place, code)) => bail!(
            RuntimeError,
            "false INTERNAL ASSERT FAILED at \"/pytorch/aten/src/ATen/native/BatchLinearAlgebra.cpp\":1633, please report \
             a bug to PyTorch. {name}: {place}Unknown error code: {code}."
        ),
    }
}
