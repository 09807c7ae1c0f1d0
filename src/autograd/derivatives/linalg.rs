//! Determinants, inverses, solvers and decompositions. The formulas are those of the literature on matrix derivatives
//! (M. Giles, 2008; for complex decompositions S. Zhang, 2019). `ᴴ` is the conjugate transpose.

use super::matmul::{adjoint, transposed};
use crate::context::{Context, Expr};
use crate::derivative::{Derivative, RESULT, refused, row, zero};
use tensor::{DType, Error, Result, bail};
use value::Value;

pub(super) const ROWS: &[Derivative] = &[
    row("linalg.det", "LinalgDetBackward0").grad(0, &[0, RESULT], determinant),
    row("linalg.slogdet", "LinalgSlogdetBackward0").grad(0, &[0, RESULT], |c| {
        let mut scale = c.gradient(1);
        if c.arg(0).is_complex() && c.has_gradient(0) {
            // A complex sign changes only by rotation, which is its imaginary part.
            let turned = (c.gradient(0).conj() * c.result()).call("imag", &[]);
            scale = scale.with("complex", &-turned, &[]);
        }
        scaled_inverse(adjoint(c.arg(0)), scale)
    }),
    row("linalg.inv_ex", "LinalgInvExBackward0").grad(0, &[RESULT], |c| {
        let inverse = adjoint(c.result());
        -times(times(inverse.clone(), c.g()), inverse)
    }),
    row("linalg.solve_ex", "LinalgSolveExBackward0").grad(0, &[0, 1, RESULT], solved_matrices).grad(1, &[0, 1], solved),
    row("linalg.cholesky_ex", "LinalgCholeskyExBackward0").grad(0, &[RESULT], |c| cholesky(c, c.flag(1))),
    row("cholesky", "CholeskyBackward0").grad(0, &[RESULT], |c| cholesky(c, c.flag(1))),
    row("cholesky_inverse", "CholeskyInverseBackward0").grad(0, &[0, RESULT], |c| {
        let both = c.g() + adjoint(c.g());
        let inner = times(c.result(), times(both, c.result()));
        if c.flag(1) { -times(c.arg(0), inner) } else { -times(inner, c.arg(0)) }
    }),
    row("cholesky_solve", "CholeskySolveBackward0")
        .grad(0, &[1], |c| c.g().with("cholesky_solve", &c.arg(1), &[c.value(2)]))
        .grad(1, &[1, RESULT], |c| {
            let given = c.g().with("cholesky_solve", &c.arg(1), &[c.value(2)]);
            let product = times(given, adjoint(c.result()));
            let both = product.clone() + adjoint(product);
            if c.flag(2) { -times(c.arg(1), both) } else { -times(both, c.arg(1)) }
        }),
    row("linalg.lu_factor_ex", "LinalgLuFactorExBackward0").grad(0, &[RESULT], |c| {
        let factors = unpacked(c, c.result(), c.result_at(1));
        let (lower, upper) = (tril(&c.g(), -1), triu(&c.g(), 0));
        product_of_factors(factors, lower, upper)
    }),
    row("linalg.lu", "LinalgLuBackward0").grad(0, &[RESULT], |c| {
        let factors = [c.result(), c.result_at(1), c.result_at(2)];
        product_of_factors(factors, c.gradient(1), c.gradient(2))
    }),
    row("lu_unpack", "LuUnpackBackward0").grad(0, &[], unpacking),
    row("linalg.lu_solve", "LinalgLuSolveBackward0")
        .grad(0, &[0, 1, RESULT], |c| {
            let [p, l, u] = unpacked(c, c.arg(0), c.arg(1));
            let (given, solution) = (lu_given(c), c.result());
            // Computes the gradient of the product of the factors first, then that of each factor.
            let whole = match (c.flag(3), c.flag(4)) {
                (true, false) => times(given, adjoint(solution)),
                (true, true) => times(solution, adjoint(given)),
                (false, false) => times(adjoint(solution), given),
                (false, true) => times(adjoint(given), solution),
            };
            let turned = times(transposed(p), -whole);
            tril(&times(turned.clone(), adjoint(u)), -1) + triu(&times(adjoint(l), turned), 0)
        })
        .grad(2, &[0, 1], lu_given),
    row("linalg.eig", "LinalgEigBackward0").grad(0, &[RESULT], eig),
    row("linalg.solve_triangular", "LinalgSolveTriangularBackward0")
        .grad(0, &[0, RESULT], |c| {
            let given = triangular(c, &c.arg(0), &c.g());
            let product = match c.flag(3) {
                true => times(given, adjoint(c.result())),
                false => times(adjoint(c.result()), given),
            };
            let inner = i64::from(c.flag(4));
            if c.flag(2) { triu(&-product, inner) } else { tril(&-product, -inner) }
        })
        .grad(1, &[0], |c| triangular(c, &c.arg(0), &c.g())),
    row("triangular_solve", "TriangularSolveBackward0").grad(0, &[1], old_triangular).grad(1, &[1, RESULT], |c| {
        let (given, solution) = (old_triangular(c), c.result());
        let product = match c.flag(3) {
            true => times(solution.conj(), transposed(given)),
            false => times(given, adjoint(solution)),
        };
        let inner = i64::from(c.flag(4));
        let grad = if c.flag(2) { triu(&-product, inner) } else { tril(&-product, -inner) };
        // The second result is a copy of the coefficient matrices.
        if c.has_gradient(1) { grad + c.gradient(1) } else { grad }
    }),
    row("linalg.qr", "LinalgQrBackward0").grad(0, &[0, RESULT], qr),
    row("linalg.svd", "LinalgSvdBackward0").grad(0, &[RESULT], svd),
    row("linalg.eigh", "LinalgEighBackward0").grad(0, &[RESULT], |c| {
        let (values, vectors) = (c.result(), c.result_at(1));
        let mut inner = None;
        if c.has_gradient(1) {
            let turned = along(c, adjoint(vectors.clone()), EIGH);
            inner = Some((turned.clone() - adjoint(turned)) * 0.5 / gaps(&values));
        }
        let Some(inner) = with_values(c, inner) else { return zero(c) };
        times(times(vectors.clone(), inner), adjoint(vectors))
    }),
    row("linalg.matrix_exp", "LinalgMatrixExpBackward0").grad(0, &[0], exponential),
    row("linalg.pinv.atol_rtol_tensor", "LinalgPinvBackward0")
        .grad(0, &[0, RESULT], |c| pseudoinverse(c.g(), c.result(), c.arg(0))),
    row("linalg.lstsq", "LinalgLstsqBackward0")
        .grad(0, &[0, 1], |c| {
            let grad = times(c.g(), adjoint(c.arg(1)));
            pseudoinverse(grad, c.arg(0).call("linalg.pinv.atol_rtol_tensor", &[]), c.arg(0))
        })
        .grad(1, &[0], |c| times(adjoint(c.arg(0).call("linalg.pinv.atol_rtol_tensor", &[])), c.g())),
    row("linalg.cross", "LinalgCrossBackward0")
        .grad(0, &[1], |c| c.arg(1).conj().with("linalg.cross", &c.g(), &[c.value(2)]))
        .grad(1, &[0], |c| c.g().with("linalg.cross", &c.arg(0).conj(), &[c.value(2)])),
    row("linalg.householder_product", "LinalgHouseholderProductBackward0")
        .grad(0, &[0, 1], |c| c.g().and(|_| Ok(reflections(c)?.0)))
        .grad(1, &[0, 1], |c| c.g().and(|_| Ok(reflections(c)?.1))),
    row("ormqr", "OrmqrBackward0").grad(0, &[], |c| refused(c, "ormqr")).grad(1, &[], |c| refused(c, "ormqr")).grad(
        2,
        &[],
        |c| refused(c, "ormqr"),
    ),
    row("geqrf", "GeqrfBackward0").grad(0, &[], |c| refused(c, "geqrf")),
];

fn times<'a>(a: Expr<'a>, b: Expr<'a>) -> Expr<'a> {
    a.with("matmul", &b, &[])
}

fn tril<'a>(x: &Expr<'a>, diagonal: i64) -> Expr<'a> {
    x.call("tril", &[Value::Int(diagonal)])
}

fn triu<'a>(x: &Expr<'a>, diagonal: i64) -> Expr<'a> {
    x.call("triu", &[Value::Int(diagonal)])
}

/// Reshapes the numbers of a batch to matrices of one element.
fn each_matrix(numbers: Expr<'_>) -> Expr<'_> {
    numbers.call("unsqueeze", &[Value::Int(-1)]).call("unsqueeze", &[Value::Int(-1)])
}

/// Computes the inverses of matrices, each times a number. A determinant's gradient has this form.
fn scaled_inverse<'a>(matrices: Expr<'a>, scale: Expr<'a>) -> Expr<'a> {
    let identity = identity_like(&matrices);
    matrices.with("linalg.solve_ex", &(identity * each_matrix(scale)), &[]).field(0)
}

/// Returns the identity matrix with the order and dtype of other matrices.
fn identity_like<'a>(matrices: &Expr<'a>) -> Expr<'a> {
    let made = matrices.tensor().and_then(|tensor| {
        let view = tensor.borrow();
        let order = view.sizes().last().copied().unwrap_or(0);
        tensor::ops::create::eye(order, order, view.dtype, view.device())
    });
    Expr { functions: matrices.functions, value: made.map(Value::from) }
}

/// Solves `Aᴴ X = conj(det) g`. The factors of a singular matrix are shifted a little, because the determinant is
/// smooth there.
fn determinant<'a>(c: &Context<'a>) -> Expr<'a> {
    let turned = adjoint(c.arg(0));
    let scale = each_matrix(c.g() * c.result().conj());
    turned.clone().and(|matrices| {
        let dtype = matrices.borrow().dtype;
        let double = dtype.to_real() == DType::Double;
        let epsilon = if double { f64::EPSILON } else { f64::from(f32::EPSILON) };
        let factored = turned.call("linalg.lu_factor_ex", &[]).value?.sequence().unwrap_or_default();
        let [factors, pivots, ..] = factored.as_slice() else { bail!(RuntimeError, "no factors") };
        let factors = c.expr(Ok(factors.clone()));
        let none = diagonal(&factors);
        let none = none.compare("eq", Value::Int(0)).call("to.dtype", &[Value::DType(dtype)]);
        let moved = factors + (none * epsilon).call("diag_embed", &[]);
        let right = identity_like(&turned) * scale;
        // If the gradient itself is recorded, it must be a function of the matrices, not of their factors.
        let recording = c.functions.set_recording(false);
        c.functions.set_recording(recording);
        if recording {
            return Ok(turned.with("linalg.solve_ex", &right, &[]).field(0));
        }
        Ok(moved.apply("linalg.lu_solve", [Ok(pivots.clone()), right.value]))
    })
}

/// Returns whether the right-hand sides of equations are vectors, one for each matrix.
fn is_vector(c: &Context) -> bool {
    let (matrices, sides) = (c.sizes(0), c.sizes(1));
    sides.len() == 1 || sides.len() + 1 == matrices.len() && matrices.get(..sides.len()) == Some(sides.as_slice())
}

fn solved<'a>(c: &Context<'a>) -> Expr<'a> {
    adjoint(c.arg(0)).with("linalg.solve", &c.g(), &[c.value(2)])
}

fn solved_matrices<'a>(c: &Context<'a>) -> Expr<'a> {
    let (mut given, mut solution) = (solved(c), c.result());
    if is_vector(c) {
        (given, solution) = (given.call("unsqueeze", &[Value::Int(-1)]), solution.call("unsqueeze", &[Value::Int(-1)]));
    }
    if c.flag(2) { -times(given, adjoint(solution)) } else { -times(adjoint(solution), given) }
}

/// The gradient is the upper right block of the exponential of `[[Aᴴ, G], [0, Aᴴ]]`.
fn exponential<'a>(c: &Context<'a>) -> Expr<'a> {
    let order = c.sizes(0).last().copied().unwrap_or(0);
    let (turned, grad) = (adjoint(c.arg(0)), c.g());
    let none = turned.call("zeros_like", &[]);
    let top = joined([turned.clone(), grad], -1);
    let bottom = joined([none, turned], -1);
    let whole = joined([top, bottom], -2).call("linalg.matrix_exp", &[]);
    let right = whole.call("narrow", &[Value::Int(-1), Value::Int(order), Value::Int(order)]);
    right.call("narrow", &[Value::Int(-2), Value::Int(0), Value::Int(order)])
}

fn joined<'a>(parts: [Expr<'a>; 2], dim: i64) -> Expr<'a> {
    let [first, second] = parts;
    let list = first.value.and_then(|first| Ok(Value::list([first, second.value?])));
    Expr { functions: first.functions, value: list }.call("cat", &[Value::Int(dim)])
}

fn cholesky<'a>(c: &Context<'a>, upper: bool) -> Expr<'a> {
    let (factor, grad) = if upper { (adjoint(c.result()), adjoint(c.g())) } else { (c.result(), c.g()) };
    let turned = adjoint(factor.clone());
    let inner = tril(&times(turned.clone(), grad), 0);
    let both = (inner.clone() + adjoint(tril(&inner, -1))) * 0.5;
    let left = turned.with("linalg.solve_triangular", &both, &[Value::Bool(true), Value::Bool(true)]);
    factor.with("linalg.solve_triangular", &left, &[Value::Bool(false), Value::Bool(false)])
}

/// Unpacks the permutation and both factors.
fn unpacked<'a>(c: &Context<'a>, factors: Expr<'a>, pivots: Expr<'a>) -> [Expr<'a>; 3] {
    let parts = factors.with("lu_unpack", &pivots, &[]).value.map(|parts| parts.sequence().unwrap_or_default());
    [0, 1, 2].map(|i| {
        let part = parts.clone().map(|parts| parts.get(i).cloned().unwrap_or(Value::None));
        c.expr(part)
    })
}

/// Adds the gradients of both triangles in one matrix, which can be larger than either.
fn unpacking<'a>(c: &Context<'a>) -> Expr<'a> {
    let room = c.room(0);
    let add = |of: usize, part: Expr<'a>| -> Result<()> {
        if !c.has_gradient(of) {
            return Ok(());
        }
        let sizes = part.tensor()?.borrow().layout.sizes.clone();
        let mut slot = room.clone();
        for (dim, size) in [(-2, sizes.iter().rev().nth(1)), (-1, sizes.last())] {
            let size = size.copied().unwrap_or(0);
            slot = slot.call("narrow", &[Value::Int(dim), Value::Int(0), Value::Int(size)]);
        }
        slot.with("add_.Tensor", &part, &[]).value.map(|_| ())
    };
    let added = add(1, tril(&c.gradient(1), -1)).and_then(|()| add(2, triu(&c.gradient(2), 0)));
    Expr { value: added.and_then(|()| room.value.clone()), ..room }
}

/// The gradient of the right side of equations solved by LU factors.
fn lu_given<'a>(c: &Context<'a>) -> Expr<'a> {
    let how = [Ok(Value::Bool(c.flag(3))), Ok(Value::Bool(!c.flag(4)))];
    let [left, adjoint] = how;
    c.arg(0).apply("linalg.lu_solve", [c.arg(1).value, c.g().value, left, adjoint])
}

/// Computes the gradient of `P L U` from those of `L` and `U`. The part that is not square is included.
fn product_of_factors<'a>(factors: [Expr<'a>; 3], grad_l: Expr<'a>, grad_u: Expr<'a>) -> Expr<'a> {
    let [p, l, u] = factors;
    l.clone().and(|lower| {
        let size = |x: &Expr<'a>, back: usize| -> Result<i64> {
            Ok(x.tensor()?.borrow().sizes().iter().rev().nth(back).copied().unwrap_or(0))
        };
        drop(lower);
        let (rows, columns, order) = (size(&l, 1)?, size(&u, 0)?, size(&l, 0)?);
        let cut = |x: &Expr<'a>, dim: i64, start: i64, length: i64| {
            x.call("narrow", &[Value::Int(dim), Value::Int(start), Value::Int(length)])
        };
        let rest = |x: &Expr<'a>, dim: i64, whole: i64| cut(x, dim, order, whole - order);
        let (l1, u1) = (cut(&l, -2, 0, order), cut(&u, -1, 0, order));
        let (gl1, gu1) = (cut(&grad_l, -2, 0, order), cut(&grad_u, -1, 0, order));
        let mut below = times(adjoint(l1.clone()), gl1);
        let mut above = times(gu1, adjoint(u1.clone()));
        if columns > order {
            below = below - times(rest(&grad_u, -1, columns), adjoint(rest(&u, -1, columns)));
        }
        if rows > order {
            above = above - times(adjoint(rest(&l, -2, rows)), rest(&grad_l, -2, rows));
        }
        let solve = |matrices: &Expr<'a>, right: Expr<'a>, upper: bool, left: bool, unit: bool| {
            let how = [upper, left, unit].map(Value::Bool);
            adjoint(matrices.clone()).with("linalg.solve_triangular", &right, &how)
        };
        let inner = tril(&below, -1) + triu(&above, 0);
        let whole = if rows > order {
            let upper = solve(&l1, inner, true, true, true);
            let stacked = joined([upper, rest(&grad_l, -2, rows)], -2);
            solve(&u1, stacked, false, false, false)
        } else {
            let right = solve(&u1, inner, false, false, false);
            let wide = if columns > order { joined([right, rest(&grad_u, -1, columns)], -1) } else { right };
            solve(&l1, wide, true, true, true)
        };
        Ok(times(p, whole))
    })
}

/// Solves the adjoint triangular system.
fn triangular<'a>(c: &Context<'a>, matrices: &Expr<'a>, right: &Expr<'a>) -> Expr<'a> {
    let how = [Value::Bool(!c.flag(2)), c.value(3), c.value(4)];
    adjoint(matrices.clone()).with("linalg.solve_triangular", right, &how)
}

fn old_triangular<'a>(c: &Context<'a>) -> Expr<'a> {
    let (upper, turned) = (c.flag(2), c.flag(3));
    let matrices = if turned { c.arg(1).conj() } else { adjoint(c.arg(1)) };
    let how = [Value::Bool(upper == turned), Value::Bool(true), c.value(4)];
    matrices.with("linalg.solve_triangular", &c.g(), &how)
}

/// Computes `X + Xᴴ - diag(X)`, with a real diagonal.
fn folded(x: Expr<'_>) -> Expr<'_> {
    let diagonal = diagonal(&x);
    let real = if x.is_complex() { diagonal.call("real", &[]) } else { diagonal };
    x.clone() + adjoint(x) - real.call("diag_embed", &[])
}

fn qr<'a>(c: &Context<'a>) -> Expr<'a> {
    c.result_at(1).and(|r| {
        let mode = match c.value(1) {
            Value::Str(mode) => mode.to_string(),
            _ => String::from("reduced"),
        };
        let sizes = c.sizes(0);
        let (rows, columns) = (sizes.iter().rev().nth(1).copied().unwrap_or(0), sizes.last().copied().unwrap_or(0));
        if mode == "r" {
            bail!(
                RuntimeError,
                "The derivative of linalg.qr depends on Q, which is not computed when mode='r'. Please use \
                 linalg.qr(A, mode='reduced') if you are going to differentiate through linalg.qr."
            );
        }
        if mode == "complete" && rows > columns {
            bail!(RuntimeError, "The QR decomposition is not differentiable when mode='complete' and nrows > ncols.");
        }
        drop(r);
        let (q, r) = (c.result(), c.result_at(1));
        let order = rows.min(columns);
        let cut = |x: &Expr<'a>, start: i64, length: i64| {
            x.call("narrow", &[Value::Int(-1), Value::Int(start), Value::Int(length)])
        };
        let (mut grad_q, grad_r) = (c.gradient(0), c.gradient(1));
        let (r1, grad_r1) = (cut(&r, 0, order), cut(&grad_r, 0, order));
        let grad_r2 = (columns > rows).then(|| cut(&grad_r, order, columns - order));
        if let Some(grad_r2) = &grad_r2 {
            // The right part of R is Qᴴ times the right part of A.
            grad_q = grad_q + times(cut(&c.arg(0), order, columns - order), adjoint(grad_r2.clone()));
        }
        let inner = triu(&(times(grad_r1, adjoint(r1.clone())) - times(adjoint(q.clone()), grad_q.clone())), 0);
        let left = grad_q + times(q.clone(), folded(inner));
        let how = [false, false].map(Value::Bool);
        let first = adjoint(r1).with("linalg.solve_triangular", &left, &how);
        Ok(match grad_r2 {
            None => first,
            Some(grad_r2) => joined([first, times(q, grad_r2)], -1),
        })
    })
}

/// Computes the differences `v[j] - v[i]` of values, with ones on the diagonal.
fn gaps<'a>(values: &Expr<'a>) -> Expr<'a> {
    let across = values.call("unsqueeze", &[Value::Int(-2)]) - values.call("unsqueeze", &[Value::Int(-1)]);
    across + values.call("ones_like", &[]).call("diag_embed", &[])
}

fn diagonal<'a>(matrices: &Expr<'a>) -> Expr<'a> {
    matrices.call("diagonal", &[Value::Int(0), Value::Int(-2), Value::Int(-1)])
}

/// Combines the gradient through the eigenvectors with that through the eigenvalues, which replaces the diagonal.
fn with_values<'a>(c: &Context<'a>, by_vectors: Option<Expr<'a>>) -> Option<Expr<'a>> {
    if !c.has_gradient(0) {
        return by_vectors;
    }
    let by_values = c.gradient(0).call("diag_embed", &[]);
    Some(match by_vectors {
        Some(inner) => inner.clone() - diagonal(&inner).call("diag_embed", &[]) + by_values,
        None => by_values,
    })
}

const EIG: &str = "linalg_eig_backward: The eigenvectors in the complex case are specified up to multiplication by e^{i \
                   phi}. The specified loss function depends on this quantity, so it is ill-defined.";
const EIGH: &str = "linalg_eigh_backward: The eigenvectors in the complex case are specified up to multiplication by e^{i \
                    phi}. The specified loss function depends on this quantity, so it is ill-defined.";
const SVD: &str = "svd_backward: The singular vectors in the complex case are specified up to multiplication by e^{i \
                   phi}. The specified loss function depends on this phase term, making it ill-defined.";

/// Returns an error if the loss depends on the phases of vectors, which are arbitrary. The loss does if its gradient
/// rotates the vectors and the other vectors do not rotate back as much. Differences up to 0.01 are accepted, as in
/// PyTorch.
fn phase_refusal<'a>(turned: Expr<'a>, other: Option<Expr<'a>>, message: &str) -> Option<Error> {
    let other = other.unwrap_or_else(|| turned.call("zeros_like", &[]));
    match turned.with("allclose", &other, &[Value::Float(1e-2), Value::Float(1e-2)]).value {
        Ok(Value::Bool(true)) => None,
        Ok(_) => Some(Error::runtime(message)),
        Err(error) => Some(error),
    }
}

/// Multiplies the adjoint eigenvectors by their gradients. Fails with RuntimeError if the loss depends on their phases.
fn along<'a>(c: &Context<'a>, turned: Expr<'a>, message: &str) -> Expr<'a> {
    let product = times(turned, c.gradient(1));
    let refused = match product.is_complex() {
        true => phase_refusal(diagonal(&product).call("imag", &[]), None, message),
        false => None,
    };
    refused.map_or(product, |error| c.expr(Err(error)))
}

/// The gradient of a general eigendecomposition. Eigenvectors have length one, so the part of their gradient that would
/// change the length is removed.
fn eig<'a>(c: &Context<'a>) -> Expr<'a> {
    let (values, vectors) = (c.result(), c.result_at(1));
    let turned = adjoint(vectors.clone());
    let mut inner = None;
    if c.has_gradient(1) {
        let along = along(c, turned.clone(), EIG);
        let own = diagonal(&along).call("real", &[]).call("unsqueeze", &[Value::Int(-2)]);
        inner = Some((along - times(turned.clone(), vectors * own)) / gaps(&values.clone().conj()));
    }
    let Some(inner) = with_values(c, inner) else { return zero(c) };
    turned.with("linalg.solve", &times(inner, turned.clone()), &[])
}

fn svd<'a>(c: &Context<'a>) -> Expr<'a> {
    c.result_at(1).and(|values| {
        let order = values.borrow().sizes().last().copied().unwrap_or(0);
        let sizes = c.sizes(0);
        let (rows, columns) = (sizes.iter().rev().nth(1).copied().unwrap_or(0), sizes.last().copied().unwrap_or(0));
        let cut = |x: Expr<'a>, dim: i64| x.call("narrow", &[Value::Int(dim), Value::Int(0), Value::Int(order)]);
        let (u, s, vh) = (cut(c.result(), -1), c.result_at(1), cut(c.result_at(2), -2));
        let (has_u, has_s, has_v) = (c.has_gradient(0), c.has_gradient(1), c.has_gradient(2));
        if !has_u && !has_v {
            if !has_s {
                return Ok(zero(c));
            }
            let left = u * c.gradient(1).call("unsqueeze", &[Value::Int(-2)]);
            return Ok(times(left, vh));
        }
        let skew = |x: Expr<'a>| x.clone() - adjoint(x);
        let gaps = gaps(&s.clone().squared());
        let (row, column) = (s.call("unsqueeze", &[Value::Int(-2)]), s.call("unsqueeze", &[Value::Int(-1)]));
        let of_u = has_u.then(|| skew(times(adjoint(u.clone()), cut(c.gradient(0), -1))));
        let of_v = has_v.then(|| skew(times(vh.clone(), adjoint(cut(c.gradient(2), -2)))));
        let turned =
            |x: &Option<Expr<'a>>| x.as_ref().filter(|x| x.is_complex()).map(|x| diagonal(x).call("imag", &[]));
        let refused = match (turned(&of_u), turned(&of_v)) {
            (Some(of_u), of_v) => phase_refusal(of_u, of_v.map(|of_v| -of_v), SVD),
            (None, Some(of_v)) => phase_refusal(of_v, None, SVD),
            (None, None) => None,
        };
        if let Some(error) = refused {
            return Err(error);
        }
        let parts = [of_u.clone().map(|x| x * row.clone()), of_v.map(|x| column.clone() * x)];
        let Some(inner) = parts.into_iter().flatten().reduce(|a, b| a + b) else { return Ok(zero(c)) };
        let mut inner = inner / gaps;
        if has_s {
            inner = inner + c.gradient(1).call("diag_embed", &[]);
        }
        if let Some(of_u) = of_u.filter(|x| x.is_complex() && has_v) {
            inner = inner + (diagonal(&of_u) / (s.clone() * 2.0)).call("diag_embed", &[]);
        }
        let mut left = times(u.clone(), inner);
        if has_u && rows > order {
            let outside = cut(c.gradient(0), -1) / row.clone();
            left = left + outside.clone() - times(u.clone(), times(adjoint(u.clone()), outside));
        }
        let mut whole = times(left, vh.clone());
        if has_v && columns > order {
            let outside = cut(c.gradient(2), -2) / column;
            let outside = outside.clone() - times(times(outside, adjoint(vh.clone())), vh);
            whole = whole + times(u, outside);
        }
        Ok(whole)
    })
}

fn pseudoinverse<'a>(grad: Expr<'a>, inverse: Expr<'a>, matrices: Expr<'a>) -> Expr<'a> {
    let (inverse_h, grad_h) = (adjoint(inverse.clone()), adjoint(grad));
    matrices.clone().and(|a| {
        let sizes = a.borrow().layout.sizes.clone();
        let wide = sizes.iter().rev().nth(1) <= sizes.last();
        if wide {
            let k = times(grad_h.clone(), inverse.clone());
            let outer = times(k.clone(), inverse_h.clone());
            return Ok(-adjoint(times(inverse.clone(), k.clone())) + outer.clone()
                - times(times(matrices.clone(), inverse.clone()), outer)
                + times(times(inverse_h, inverse), grad_h - times(k, matrices)));
        }
        let k = times(inverse.clone(), grad_h.clone());
        let outer = times(inverse_h.clone(), k.clone());
        Ok(-adjoint(times(k.clone(), inverse.clone()))
            + times(times(grad_h - times(matrices.clone(), k), inverse.clone()), inverse_h)
            + outer.clone()
            - times(times(outer, inverse), matrices))
    })
}

/// The gradients of a product of reflections `I - τ v vᴴ` by the vectors `v` and factors `τ`. The products to the left
/// and right of each reflection are updated step by step.
fn reflections<'a>(c: &Context<'a>) -> Result<(Expr<'a>, Expr<'a>)> {
    let sizes = c.sizes(0);
    let (rows, columns) = (sizes.iter().rev().nth(1).copied().unwrap_or(0), sizes.last().copied().unwrap_or(0));
    let count = c.sizes(1).last().copied().unwrap_or(0);
    let (dtype, device) = {
        let input = c.arg(0).tensor()?;
        let view = input.borrow();
        (view.dtype, view.device())
    };
    let identity = c.expr(tensor::ops::create::eye(rows, columns, dtype, device).map(Value::from));
    let vectors = tril(&c.arg(0), -1) + identity.clone();
    let column = |x: &Expr<'a>, i: i64| x.call("narrow", &[Value::Int(-1), Value::Int(i), Value::Int(1)]);
    let vector = |i: i64| column(&vectors, i);
    let factor = |i: i64| column(&c.arg(1), i).call("unsqueeze", &[Value::Int(-1)]);
    let reflected = |x: Expr<'a>, i: i64, factor: Expr<'a>| {
        let v = vector(i);
        x.clone() - v.clone() * factor * times(adjoint(v), x)
    };
    // The product to the right of each reflection.
    let mut after = vec![identity];
    for i in (1..count).rev() {
        if let Some(last) = after.last().cloned() {
            after.push(reflected(last, i, factor(i)));
        }
    }
    let mut before = c.g();
    let (mut of_vectors, mut of_factors) = (Vec::new(), Vec::new());
    for i in 0..count {
        let Some(right) = after.pop() else { break };
        let v = vector(i);
        let inner = times(before.clone(), times(adjoint(right.clone()), v.clone()));
        let outer = times(right, times(adjoint(before.clone()), v.clone()));
        of_factors.push((-times(adjoint(v), inner.clone())).call("squeeze.dim", &[Value::Int(-1)]).value?);
        of_vectors.push((-(factor(i).conj() * inner + factor(i) * outer)).value?);
        before = reflected(before, i, factor(i).conj());
    }
    if columns > count {
        let mut rest = sizes.clone();
        if let Some(last) = rest.last_mut() {
            *last = columns - count;
        }
        of_vectors.push(c.g().call("new_zeros", &[Value::Size(rest)]).value?);
    }
    let joined = |parts: Vec<Value>| c.expr(Ok(Value::list(parts))).call("cat", &[Value::Int(-1)]);
    Ok((tril(&joined(of_vectors), -1), joined(of_factors)))
}
