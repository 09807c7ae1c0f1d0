//! Decompositions, inverses and solvers. Follows <https://pytorch.org/docs/2.7/linalg.html>.

use super::python::in_python;
use call::facets::{Lies, NameInference::Keeps, Out, Takes};
use call::reads::{Reads, Span, Takes as Taken};
use call::{Call, Row, both, function, method, safely};
use tensor::bail;
use tensor::linalg::{self as ops, QrMode, first_failure};
use tensor::ops::view as views;
use tensor::{Dims, Error, ErrorKind, Result, Scalar, View};
use value::Value;

pub(crate) const ROWS: &[Row] = &[
    function(
        "svd_lowrank(Tensor A, int? q=6, int? niter=2, Tensor? M=None) -> (Tensor, Tensor, Tensor)",
        |c| in_python(c, "lowrank.svd"),
        "Approximates the singular value decomposition of a matrix of low rank.",
    )
    .python("svd_lowrank")
    .any_layout()
    .recorded_in_steps(),
    function(
        "pca_lowrank(Tensor A, int? q=None, bool center=True, int niter=2) -> (Tensor, Tensor, Tensor)",
        |c| in_python(c, "lowrank.pca"),
        "Finds the principal components of a matrix of low rank.",
    )
    .python("pca_lowrank")
    .any_layout()
    .recorded_in_steps(),
    function("linalg.inv(Tensor A, *, Tensor? out=None) -> Tensor", |c| inverse(c, "linalg.inv"), "Inverts a matrix.")
        .reads(Reads::Spanned(Span::Matrix, Taken::All))
        .operation("linalg_inv_ex")
        .out_refused_as("linalg_inv_ex.inverse"),
    both("inverse(Tensor self, *, Tensor? out=None) -> Tensor", |c| inverse(c, "linalg.inv"), "Inverts a matrix.")
        .reads(Reads::Spanned(Span::Matrix, Taken::All))
        .operation("linalg_inv_ex")
        .out_refused_as("linalg_inv_ex.inverse"),
    function(
        "linalg.inv_ex(Tensor A, *, bool check_errors=False, Tensor[]? out=None) -> any",
        |c| {
            let (inverse, info) = ops::inv("linalg.inv", &c.view(0)?)?;
            if c.bool(1)? {
                refuse_singular("linalg.inv_ex", &info)?;
            }
            Ok(Value::named_tuple(
                "torch.return_types.linalg_inv_ex",
                vec![("inverse", inverse.into()), ("info", info.into())],
            ))
        },
        "Inverts a matrix, and tells whether it has an inverse.",
    ),
    function(
        "linalg.det(Tensor A, *, Tensor? out=None) -> Tensor",
        |c| ops::det(&c.view(0)?).map(Value::from),
        "Computes the determinant.",
    )
    .reads(Reads::Spanned(Span::Matrix, Taken::All))
    .operation("_linalg_det")
    .out_refused_as("_linalg_det.result"),
    both("det(Tensor self) -> Tensor", |c| ops::det(&c.view(0)?).map(Value::from), "Computes the determinant.")
        .reads(Reads::Spanned(Span::Matrix, Taken::All))
        .operation("_linalg_det")
        .derivative_of("linalg.det"),
    function(
        "linalg.slogdet(Tensor A, *, Tensor[]? out=None) -> any",
        |c| slogdet(c, "torch.return_types.linalg_slogdet"),
        "Computes the determinant's sign and the logarithm of its magnitude.",
    )
    .reads(Reads::Spanned(Span::Matrix, Taken::All))
    .operation("_linalg_slogdet"),
    both(
        "slogdet(Tensor self) -> any",
        |c| slogdet(c, "torch.return_types.slogdet"),
        "Computes the determinant's sign and the logarithm of its magnitude.",
    )
    .reads(Reads::Spanned(Span::Matrix, Taken::All))
    .operation("_linalg_slogdet")
    .derivative_of("linalg.slogdet"),
    both("logdet(Tensor self) -> Tensor", logdet, "Computes the logarithm of the determinant.")
        .reads(Reads::Spanned(Span::Matrix, Taken::All))
        .operation("_linalg_slogdet")
        .checks_first(),
    function(
        "linalg.solve(Tensor A, Tensor B, *, bool left=True, Tensor? out=None) -> Tensor",
        |c| {
            let (solution, info) = ops::solve(&c.view(0)?, &c.view(1)?, c.bool(2)?)?;
            refuse_unsolved("torch.linalg.solve", &info)?;
            Ok(solution.into())
        },
        "Solves a system of linear equations.",
    )
    .operation("_linalg_solve_ex")
    .out_refused_as("new_empty"),
    function(
        "linalg.solve_ex(Tensor A, Tensor B, *, bool left=True, bool check_errors=False, Tensor[]? out=None) \
 -> any",
        |c| {
            let (solution, info) = ops::solve(&c.view(0)?, &c.view(1)?, c.bool(2)?)?;
            if c.bool(3)? {
                refuse_unsolved("torch.linalg.solve_ex", &info)?;
            }
            Ok(Value::named_tuple(
                "torch.return_types.linalg_solve_ex",
                vec![("result", solution.into()), ("info", info.into())],
            ))
        },
        "Solves a system of linear equations, and tells whether it has a solution.",
    )
    .operation("_linalg_solve_ex"),
    function(
        "linalg.cholesky(Tensor input, *, bool upper=False, Tensor? out=None) -> Tensor",
        |c| {
            let (factor, info) = ops::cholesky("linalg.cholesky", &c.view(0)?, c.bool(1)?)?;
            refuse_indefinite("linalg.cholesky", &info)?;
            Ok(factor.into())
        },
        "Computes the Cholesky factor of a positive-definite matrix.",
    )
    .operation("linalg_cholesky_ex")
    .out_refused_as("linalg_cholesky_ex.L"),
    both(
        "cholesky(Tensor self, bool upper=False, *, Tensor? out=None) -> Tensor",
        |c| {
            let view = c.view(0)?;
            let (factor, info) = ops::cholesky("cholesky", &view, c.bool(1)?)?;
            if view.numel() == 0 {
                return View::zeros(view.sizes(), view.dtype, view.device()).map(Value::from);
            }
            refuse_indefinite("cholesky", &info)?;
            Ok(factor.into())
        },
        "Computes the Cholesky factor of a positive-definite matrix.",
    )
    .out(Out::PLAIN.takes(&[safely!("cholesky", "result")]).lying(Lies::InRows)),
    function(
        "linalg.cholesky_ex(Tensor input, *, bool upper=False, bool check_errors=False, Tensor[]? out=None) -> \
 any",
        |c| {
            let (factor, info) = ops::cholesky("linalg.cholesky", &c.view(0)?, c.bool(1)?)?;
            if c.bool(2)? {
                refuse_indefinite("linalg.cholesky_ex", &info)?;
            }
            Ok(Value::named_tuple(
                "torch.return_types.linalg_cholesky_ex",
                vec![("L", factor.into()), ("info", info.into())],
            ))
        },
        "Computes the Cholesky factor, and tells whether there is one.",
    ),
    both(
        "cholesky_solve(Tensor self, Tensor input2, bool upper=False, *, Tensor? out=None) -> Tensor",
        |c| ops::cholesky_solve(&c.view(0)?, &c.view(1)?, c.bool(2)?).map(Value::from),
        "Solves linear equations from a Cholesky factor.",
    )
    .out(Out::PLAIN.takes(&[safely!("cholesky_solve", "result")]).lying(Lies::InRows)),
    both(
        "cholesky_inverse(Tensor self, bool upper=False, *, Tensor? out=None) -> Tensor",
        |c| ops::cholesky_inverse(&c.view(0)?, c.bool(1)?).map(Value::from),
        "Inverts a matrix from its Cholesky factor.",
    )
    .out(Out::PLAIN.takes(&[safely!("cholesky_inverse", "result")]).lying(Lies::InRowsUnlessEmpty)),
    function(
        "linalg.lu_factor(Tensor A, *, bool pivot=True, Tensor[]? out=None) -> any",
        |c| {
            let (factors, pivots, info) = lu_factor(c, "torch.lu_factor", 1)?;
            refuse_unsolvable("torch.linalg.lu_factor", &info)?;
            Ok(Value::named_tuple(
                "torch.return_types.linalg_lu_factor",
                vec![("LU", factors.into()), ("pivots", pivots.into())],
            ))
        },
        "Computes both factors of an LU decomposition in one matrix.",
    )
    .operation("linalg_lu_factor_ex"),
    function(
        "linalg.lu_factor_ex(Tensor A, *, bool pivot=True, bool check_errors=False, Tensor[]? out=None) -> \
 any",
        |c| {
            let (factors, pivots, info) = lu_factor(c, "torch.lu_factor", 1)?;
            if c.bool(2)? {
                refuse_unsolvable("torch.linalg.lu_factor_ex", &info)?;
            }
            Ok(Value::named_tuple(
                "torch.return_types.linalg_lu_factor_ex",
                vec![("LU", factors.into()), ("pivots", pivots.into()), ("info", info.into())],
            ))
        },
        "Computes both factors of an LU decomposition in one matrix, and tells whether they can solve.",
    ),
    function(
        "linalg.lu(Tensor A, *, bool pivot=True, Tensor[]? out=None) -> any",
        |c| {
            let (factors, pivots, _) = lu_factor(c, "linalg.lu", 1)?;
            let (p, l, u) = ops::lu_unpack(&factors, Some(&pivots))?;
            Ok(Value::named_tuple(
                "torch.return_types.linalg_lu",
                vec![("P", p.into()), ("L", l.into()), ("U", u.into())],
            ))
        },
        "Factors a matrix into a permutation, a lower and an upper factor.",
    ),
    function(
        "lu(Tensor self, bool pivot=True, bool get_infos=False, any out=None) -> any",
        |c| {
            let parts = lu_with_infos(c)?;
            if c.is_none(3) {
                return if c.bool(2)? {
                    let parts = ["LU", "pivots", "info"].into_iter().zip(parts).collect();
                    Ok(Value::named_tuple("torch.return_types._lu_with_info", parts))
                } else {
                    Ok(Value::tuple(parts.into_iter().take(2).collect::<Vec<_>>()))
                };
            }
            let out = c.value(3);
            let outs = match &out {
                Value::Tensor(_) => Vec::new(),
                out => out.sequence().unwrap_or_default(),
            };
            let (wanted, given) = (if c.bool(2)? { 3 } else { 2 }, outs.len());
            if given != wanted {
                bail!(TypeError, "expected tuple of {wanted} elements but got {given}");
            }
            let steps = super::steps::Steps::of(c);
            for (out, part) in outs.iter().zip(parts) {
                let Value::Tensor(out) = out else { bail!(TypeError, "expected tuple of {wanted} elements but got 0") };
                let resized = steps.on(out, "resize_as_", std::slice::from_ref(&part))?;
                steps.on(&resized, "copy_", &[part])?;
            }
            Ok(out)
        },
        "Computes both factors of an LU decomposition in one matrix.",
    )
    .operation("linalg_lu_factor_ex"),
    method(
        "lu.method(Tensor self, bool pivot=True, bool get_infos=False) -> any",
        |c| {
            let count = if c.bool(2)? { 3 } else { 2 };
            Ok(Value::tuple(lu_with_infos(c)?.into_iter().take(count).collect::<Vec<_>>()))
        },
        "Computes both factors of an LU decomposition in one matrix.",
    )
    .operation("linalg_lu_factor_ex"),
    function(
        "lu_unpack(Tensor LU_data, Tensor LU_pivots, bool unpack_data=True, bool unpack_pivots=True, *, \
 Tensor[]? out=None) -> any",
        |c| {
            let pivots = if c.bool(3)? { Some(c.view(1)?) } else { None };
            let (p, l, u) = ops::lu_unpack(&c.view(0)?, pivots.as_ref())?;
            let nothing = View::zeros(&[0], p.dtype, p.device())?;
            let kept = |view: View, keep: bool| Value::from(if keep { view } else { nothing.clone() });
            let data = c.bool(2)?;
            Ok(Value::named_tuple(
                "torch.return_types.lu_unpack",
                vec![("P", kept(p, pivots.is_some())), ("L", kept(l, data)), ("U", kept(u, data))],
            ))
        },
        "Unpacks the permutation and the factors of an LU decomposition.",
    ),
    both(
        "lu_solve(Tensor self, Tensor LU_data, Tensor LU_pivots, *, Tensor? out=None) -> Tensor",
        |c| ops::lu_solve(&c.view(1)?, &c.view(2)?, &c.view(0)?, true, false).map(Value::from),
        "Solves linear equations from LU factors.",
    )
    .operation("linalg_lu_solve"),
    function(
        "linalg.lu_solve(Tensor LU, Tensor pivots, Tensor B, *, bool left=True, bool adjoint=False, Tensor? \
 out=None) -> Tensor",
        |c| ops::lu_solve(&c.view(0)?, &c.view(1)?, &c.view(2)?, c.bool(3)?, c.bool(4)?).map(Value::from),
        "Solves linear equations from LU factors.",
    ),
    function(
        "linalg.solve_triangular(Tensor input, Tensor B, *, bool upper, bool left=True, bool \
 unitriangular=False, Tensor? out=None) -> Tensor",
        |c| ops::solve_triangular(&c.view(0)?, &c.view(1)?, c.bool(2)?, c.bool(3)?, c.bool(4)?).map(Value::from),
        "Solves triangular linear equations.",
    )
    .out(Out::PLAIN.takes(&[(Takes::Same, "expected scalar type {result} but found {out}")])),
    both(
        "triangular_solve(Tensor self, Tensor A, bool upper=True, bool transpose=False, bool \
 unitriangular=False, *, Tensor[]? out=None) -> any",
        |c| {
            let turned = c.bool(3)?;
            let (solution, cloned) = ops::triangular_solve(&c.view(0)?, &c.view(1)?, c.bool(2)?, turned, c.bool(4)?)?;
            Ok(Value::named_tuple(
                "torch.return_types.triangular_solve",
                vec![("solution", solution.into()), ("cloned_coefficient", cloned.into())],
            ))
        },
        "Solves triangular linear equations.",
    ),
    function(
        "linalg.qr(Tensor A, str mode=\"reduced\", *, Tensor[]? out=None) -> any",
        qr,
        "Factors a matrix into an orthogonal and an upper factor.",
    ),
    both(
        "qr(Tensor self, bool some=True, *, Tensor[]? out=None) -> any",
        |c| {
            let mode = if c.bool(1)? { QrMode::Reduced } else { QrMode::Complete };
            let (q, r) = ops::qr_decomposition("linalg.qr", &c.view(0)?, mode)?;
            Ok(Value::named_tuple("torch.return_types.qr", vec![("Q", q.into()), ("R", r.into())]))
        },
        "Factors a matrix into an orthogonal and an upper factor.",
    )
    .operation("linalg_qr"),
    function(
        "linalg.svd(Tensor A, bool full_matrices=True, *, str? driver=None, Tensor[]? out=None) -> any",
        |c| {
            refuse_driver(c, 2)?;
            let [u, s, vh] = ops::svd_decomposition("linalg.svd", &c.view(0)?, ops::Vectors::of(c.bool(1)?))?;
            Ok(Value::named_tuple(
                "torch.return_types.linalg_svd",
                vec![("U", u.into()), ("S", s.into()), ("Vh", vh.into())],
            ))
        },
        "Computes the singular value decomposition.",
    )
    .operation("_linalg_svd"),
    both(
        "svd(Tensor self, bool some=True, bool compute_uv=True, *, Tensor[]? out=None) -> any",
        |c| {
            let (some, ndim) = (c.bool(1)? && c.bool(2)?, c.view(0)?.ndim());
            if ndim < 2 {
                bail!(
                    RuntimeError,
                    "linalg.svd: input should have at least 2 dimensions, but has {ndim} dimensions instead"
                );
            }
            let [u, s, vh] = ops::svd_decomposition("linalg.svd", &c.view(0)?, ops::Vectors::of(!some))?;
            let v = views::adjoint(&vh, "adjoint")?;
            let zeroed = |view: &View| View::zeros(view.sizes(), view.dtype, view.device());
            let (u, v) =
                if c.bool(2)? { (u, v) } else { (zeroed(&u)?, views::matrix_t(&zeroed(&views::matrix_t(&v)?)?)?) };
            Ok(Value::named_tuple("torch.return_types.svd", vec![("U", u.into()), ("S", s.into()), ("V", v.into())]))
        },
        "Computes the singular value decomposition.",
    )
    .operation("_linalg_svd"),
    function(
        "linalg.svdvals(Tensor A, *, str? driver=None, Tensor? out=None) -> Tensor",
        |c| {
            refuse_driver(c, 1)?;
            let [_, s, _] = ops::svd_decomposition("linalg.svd", &c.view(0)?, ops::Vectors::None)?;
            Ok(s.into())
        },
        "Computes the singular values.",
    )
    .operation("_linalg_svd")
    .out_refused_as("_linalg_svd.U"),
    function(
        "linalg.eigh(Tensor input, str UPLO=\"L\", *, Tensor[]? out=None) -> any",
        |c| {
            let (values, vectors) = ops::eigh("linalg.eigh", &c.view(0)?, upper(c)?, true)?;
            Ok(Value::named_tuple(
                "torch.return_types.linalg_eigh",
                vec![("eigenvalues", values.into()), ("eigenvectors", vectors.into())],
            ))
        },
        "Computes the eigenvalues and eigenvectors of a symmetric matrix.",
    )
    .operation("_linalg_eigh"),
    function(
        "linalg.eigvalsh(Tensor input, str UPLO=\"L\", *, Tensor? out=None) -> Tensor",
        |c| Ok(ops::eigh("linalg.eigh", &c.view(0)?, upper(c)?, false)?.0.into()),
        "Computes the eigenvalues of a symmetric matrix.",
    )
    .operation("_linalg_eigh")
    .out_refused_as("_linalg_eigh.eigenvalues"),
    function(
        "linalg.matrix_exp(Tensor input) -> Tensor",
        |c| ops::matrix_exp(&c.view(0)?).map(Value::from),
        "Computes the exponential of a matrix.",
    ),
    both(
        "matrix_exp(Tensor self) -> Tensor",
        |c| ops::matrix_exp(&c.view(0)?).map(Value::from),
        "Computes the exponential of a matrix.",
    )
    .operation("linalg_matrix_exp")
    .derivative_of("linalg.matrix_exp"),
    function(
        "linalg.matrix_power(Tensor input, int n, *, Tensor? out=None) -> Tensor",
        matrix_power,
        "Multiplies a matrix with itself.",
    )
    .out(Out::PLAIN.takes(&[safely!("matrix_power", "result"), Out::PLAIN_DTYPE]))
    .grad_refused_by("matmul")
    .names(Keeps)
    .recorded_in_steps(),
    both(
        "matrix_power(Tensor self, int n, *, Tensor? out=None) -> Tensor",
        matrix_power,
        "Multiplies a matrix with itself.",
    )
    .out(Out::PLAIN.takes(&[safely!("matrix_power", "result"), Out::PLAIN_DTYPE]))
    .grad_refused_by("matmul")
    .names(Keeps)
    .recorded_in_steps(),
    function(
        "linalg.tensorinv(Tensor input, int ind=2, *, Tensor? out=None) -> Tensor",
        tensorinv,
        "Inverts a tensor as a linear map.",
    )
    .out(Out::PLAIN.takes(&[safely!("tensorinv", "result")]).lying(Lies::InRows)),
    function(
        "linalg.tensorsolve(Tensor input, Tensor other, int[]? dims=None, *, Tensor? out=None) -> Tensor",
        tensorsolve,
        "Solves linear equations between tensors.",
    )
    .out(Out::PLAIN.takes(&[safely!("tensorsolve", "result")])),
];

fn refuse(message: String) -> Error {
    Error::new(ErrorKind::LinAlgError, message)
}

/// Returns the first failed matrix. Tensors without data never fail.
fn first_failure_of(info: &View) -> Result<Option<(String, i64)>> {
    if info.device().is_meta() { Ok(None) } else { first_failure(info) }
}

/// Fails with RuntimeError if a driver is given: only CUDA has several to choose from.
fn refuse_driver(call: &Call, index: usize) -> Result<()> {
    if !call.is_none(index) {
        bail!(
            RuntimeError,
            "torch.linalg.svd: keyword argument `driver=` is only supported on CUDA inputs with cuSOLVER backend."
        );
    }
    Ok(())
}

fn refuse_singular(name: &str, info: &View) -> Result<()> {
    match first_failure_of(info)? {
        None => Ok(()),
        Some((place, number)) => Err(refuse(format!(
            "{name}: {place}The diagonal element {number} is zero, the inversion could not be completed because the input \
             matrix is singular."
        ))),
    }
}

fn refuse_unsolved(name: &str, info: &View) -> Result<()> {
    match first_failure_of(info)? {
        None => Ok(()),
        Some((place, _)) => {
            Err(refuse(format!("{name}: {place}The solver failed because the input matrix is singular.")))
        }
    }
}

fn refuse_indefinite(name: &str, info: &View) -> Result<()> {
    match first_failure_of(info)? {
        None => Ok(()),
        Some((place, order)) => Err(refuse(format!(
            "{name}: {place}The factorization could not be completed because the input is not positive-definite (the \
             leading minor of order {order} is not positive-definite)."
        ))),
    }
}

fn inverse(call: &mut Call, name: &str) -> Result<Value> {
    let (inverse, info) = ops::inv(name, &call.view(0)?)?;
    refuse_singular(name, &info)?;
    Ok(inverse.into())
}

fn slogdet(call: &mut Call, class: &'static str) -> Result<Value> {
    let (sign, logarithm) = ops::slogdet("linalg.slogdet", &call.view(0)?)?;
    Ok(Value::named_tuple(class, vec![("sign", sign.into()), ("logabsdet", logarithm.into())]))
}

fn logdet(call: &mut Call) -> Result<Value> {
    let (sign, logarithm) = ops::slogdet("logdet", &call.view(0)?)?;
    if sign.device().is_meta() {
        return Ok(logarithm.into());
    }
    let parts = sign.scalars()?.into_iter().zip(logarithm.scalars()?);
    let values = parts.map(|(sign, logarithm)| match sign {
        Scalar::Complex(c) => Scalar::Complex(c.ln() + logarithm.to_f64()),
        sign if sign.to_f64() < 0.0 => Scalar::Float(f64::NAN),
        _ => logarithm,
    });
    View::from_scalars(sign.sizes(), sign.dtype, values).map(Value::from)
}

fn refuse_unsolvable(name: &str, info: &View) -> Result<()> {
    match first_failure_of(info)? {
        None => Ok(()),
        Some((place, number)) => bail!(
            RuntimeError,
            "{place}{name}: U[{number},{number}] is zero and using it on lu_solve would result in a division by zero. If you \
             still want to perform the factorization, consider calling linalg.lu(A, pivot) or linalg.lu_factor_ex(A, pivot)"
        ),
    }
}

/// Returns the factors, pivots and infos for `lu`.
fn lu_with_infos(call: &Call) -> Result<Vec<Value>> {
    let (factors, pivots, info) = lu_factor(call, "torch.lu_factor", 1)?;
    Ok(vec![factors.into(), pivots.into(), info.into()])
}

fn lu_factor(call: &Call, name: &str, pivot: usize) -> Result<(View, View, View)> {
    if !call.bool(pivot)? {
        bail!(RuntimeError, "linalg.lu_factor: LU without pivoting is not implemented on the CPU");
    }
    ops::lu_factor(name, &call.view(0)?)
}

fn qr(call: &mut Call) -> Result<Value> {
    let mode = match call.str(1)? {
        "reduced" => QrMode::Reduced,
        "complete" => QrMode::Complete,
        "r" => QrMode::OnlyR,
        other => bail!(
            RuntimeError,
            "qr received unrecognized mode '{other}' but expected one of 'reduced' (default), 'r', or 'complete'"
        ),
    };
    let (q, r) = ops::qr_decomposition("linalg.qr", &call.view(0)?, mode)?;
    Ok(Value::named_tuple("torch.return_types.linalg_qr", vec![("Q", q.into()), ("R", r.into())]))
}

/// Returns whether `UPLO` selects the upper triangle.
fn upper(call: &Call) -> Result<bool> {
    match call.str(1)? {
        "L" | "l" => Ok(false),
        "U" | "u" => Ok(true),
        other => bail!(RuntimeError, "Expected UPLO argument to be 'L' or 'U', but got {other}"),
    }
}

fn matrix_power(call: &mut Call) -> Result<Value> {
    let steps = super::steps::Steps::of(call);
    let name = "linalg.matrix_power";
    let (tensor, power) = (call.tensor(0)?.clone(), call.int(1)?);
    let view = tensor.view();
    ops::Shape::square(name, &view)?;
    if power == 0 {
        let identity = View::zeros(view.sizes(), view.dtype, view.device())?;
        let n = view.sizes()[view.ndim() - 1];
        let ones = tensor::ops::create::eye(n, n, view.dtype, view.device())?;
        tensor::ops::copy::copy_into(&identity, &ones)?;
        return Ok(identity.into());
    }
    let base = if power < 0 {
        call::one(steps.torch("linalg.inv", &[Value::Tensor(tensor)])?)?
    } else if power == 1 {
        return steps.on(&tensor, "clone", &[]).map(Value::Tensor);
    } else {
        tensor
    };
    let times = |a: &_, b: &_| steps.pair("matmul", a, b);
    // Like PyTorch, computes a cube as two products.
    if power.unsigned_abs() == 3 {
        return times(&times(&base, &base)?, &base).map(Value::Tensor);
    }
    let (mut left, mut square, mut result) = (power.unsigned_abs(), base, None);
    loop {
        if left & 1 == 1 {
            result = Some(match result {
                None => square.clone(),
                Some(result) => times(&square, &result)?,
            });
        }
        left >>= 1;
        if left == 0 {
            break;
        }
        square = times(&square, &square)?;
    }
    result.map(Value::Tensor).ok_or_else(|| Error::runtime("no power"))
}

fn tensorinv(call: &mut Call) -> Result<Value> {
    let (view, ind) = (call.view(0)?, call.int(1)?);
    if ind <= 0 {
        bail!(RuntimeError, "Expected a strictly positive integer for 'ind', but got {ind}");
    }
    if ind as usize > view.ndim() {
        bail!(RuntimeError, "ArrayRef: invalid slice, N = {ind}; size = {}", view.ndim());
    }
    let split = ind as usize;
    let (first, second) = view.sizes().split_at(split);
    let (rows, columns): (i64, i64) = (first.iter().product(), second.iter().product());
    if rows != columns {
        bail!(
            RuntimeError,
            "Expected self to satisfy the requirement prod(self.shape[ind:]) == prod(self.shape[:ind]), but got {columns} \
             != {rows}"
        );
    }
    let (inverse, info) = ops::inv("linalg.inv", &views::reshape(&view, &[rows, columns])?)?;
    refuse_singular("inv", &info)?;
    let sizes: Dims = second.iter().chain(first).copied().collect();
    views::reshape(&inverse, &sizes).map(Value::from)
}

fn tensorsolve(call: &mut Call) -> Result<Value> {
    let (mut a, b) = (call.view(0)?, call.view(1)?);
    if !call.is_none(2) {
        let dims = call.ints(2)?;
        let ends: Dims = (a.ndim() as i64 - dims.len() as i64..a.ndim() as i64).collect();
        a = views::movedim(&a, &dims, &ends)?;
    }
    let sizes = Dims::from_slice(a.sizes().get(b.ndim()..).unwrap_or_default());
    let unknowns: i64 = sizes.iter().product();
    if unknowns != b.numel() {
        bail!(
            RuntimeError,
            "Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == prod(self.shape[:other.ndim]), but \
             got {unknowns} != {}",
            b.numel()
        );
    }
    let flat = views::reshape(&b, &[-1])?;
    let (solution, info) = ops::solve(&views::reshape(&a, &[unknowns, unknowns])?, &flat, true)?;
    refuse_unsolved("torch.linalg.solve", &info)?;
    views::reshape(&solution, &sizes).map(Value::from)
}
