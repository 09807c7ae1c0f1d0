//! Functions that depend on which singular values count as zero. Follows <https://pytorch.org/docs/2.7/linalg.html>.

use call::facets::Out;
use call::{Call, Row, both, function, safely};
use tensor::bail;
use tensor::linalg::{self as ops, Driver, Tolerances};
use tensor::{DType, Result, View};
use value::Value;

const PSEUDOINVERSE: Out = Out::PLAIN.takes(&[safely!("linalg.pinv", "result")]);
const RANK: Out = Out::PLAIN.takes(&[safely!("torch.linalg.matrix_rank", "result")]);

pub(crate) const ROWS: &[Row] = &[
    function(
        "linalg.pinv.atol_rtol_tensor(Tensor input, *, Tensor? atol=None, Tensor? rtol=None, bool hermitian=False, Tensor? \
 out=None) -> Tensor",
        |c| pinv(c, [Some(1), Some(2)], Some(3)),
        "Computes the pseudoinverse.",
    )
    .aliases(&["linalg.pinv.atol_rtol_float(Tensor input, *, float? atol=None, float? rtol=None, bool hermitian=False, \
         Tensor? out=None) -> Tensor"])
    .out(PSEUDOINVERSE)
    .operation("linalg_pinv.atol_rtol_tensor"),
    function(
        "linalg.pinv.rcond_tensor(Tensor input, Tensor rcond, bool hermitian=False, *, Tensor? out=None) -> Tensor",
        |c| pinv(c, [None, Some(1)], Some(2)),
        "Computes the pseudoinverse.",
    )
    .aliases(&["linalg.pinv(Tensor input, float rcond, bool hermitian=False, *, Tensor? out=None) -> Tensor"])
    .out(PSEUDOINVERSE)
    .operation("linalg_pinv.atol_rtol_tensor")
    .out_refused_as("linalg_pinv.atol_rtol_tensor").derivative_of("linalg.pinv.atol_rtol_tensor"),
    both(
        "pinverse(Tensor self, float rcond=1e-15) -> Tensor",
        |c| pinv(c, [None, Some(1)], None),
        "Computes the pseudoinverse.",
    )
    .operation("linalg_pinv.atol_rtol_tensor").derivative_of("linalg.pinv.atol_rtol_tensor"),
    function(
        "linalg.matrix_rank.atol_rtol_tensor(Tensor input, *, Tensor? atol=None, Tensor? rtol=None, bool hermitian=False, \
 Tensor? out=None) -> Tensor",
        |c| matrix_rank(c, [Some(1), Some(2)], 3),
        "Computes the rank.",
    )
    .aliases(&["linalg.matrix_rank.atol_rtol_float(Tensor input, *, float? atol=None, float? rtol=None, bool \
         hermitian=False, Tensor? out=None) -> Tensor"])
    .out(RANK)
    .operation("_linalg_svd")
    .out_refused_as("_linalg_svd").not_differentiable(),
    function(
        "linalg.matrix_rank.tol_tensor(Tensor input, Tensor tol, bool hermitian=False, *, Tensor? out=None) -> Tensor",
        |c| matrix_rank(c, [Some(1), None], 2),
        "Computes the rank.",
    )
    .aliases(&["linalg.matrix_rank(Tensor input, float tol, bool hermitian=False, *, Tensor? out=None) -> Tensor"])
    .out(RANK)
    .operation("_linalg_svd")
    .out_refused_as("_linalg_svd").not_differentiable(),
    function(
        "linalg.lstsq(Tensor input, Tensor b, float? rcond=None, *, str? driver=None, Tensor[]? out=None) -> any",
        lstsq,
        "Solves linear equations by least squares.",
    )
    .out(Out::PLAIN.takes(&[safely!("torch.linalg.lstsq", "{field}")])),
];

/// Returns the tolerance in an argument, given as a number or a tensor.
fn tolerance(call: &Call, index: Option<usize>) -> Result<Option<View>> {
    match index.filter(|&index| !call.is_none(index)) {
        None => Ok(None),
        Some(index) if matches!(call.value(index), Value::Tensor(_)) => call.view(index).map(Some),
        Some(index) => View::from_scalars(&[], DType::Double, [call.scalar(index)?]).map(Some),
    }
}

fn pinv(call: &mut Call, [absolute, relative]: [Option<usize>; 2], hermitian: Option<usize>) -> Result<Value> {
    let view = call.view(0)?;
    if view.ndim() < 2 || !view.dtype.is_differentiable() {
        let (class, sizes) = (view.dtype.scalar_type(), tensor::layout::show(view.sizes()));
        bail!(
            RuntimeError,
            "linalg.pinv({class}{{{sizes}}}): expected a tensor with 2 or more dimensions of float, double, cfloat or cdouble \
             types"
        );
    }
    let hermitian = hermitian.map_or(Ok(false), |index| call.bool(index))?;
    let alone = absolute.is_none();
    let tolerances = Tolerances { absolute: tolerance(call, absolute)?, relative: tolerance(call, relative)?, alone };
    ops::pinv(&view, &tolerances, hermitian).map(Value::from)
}

/// Computes the rank. An overload without a relative tolerance uses 0 for it.
fn matrix_rank(call: &mut Call, [absolute, relative]: [Option<usize>; 2], hermitian: usize) -> Result<Value> {
    let given = match relative {
        Some(_) => tolerance(call, relative)?,
        None => Some(View::zeros(&[], DType::Double, tensor::Device::CPU)?),
    };
    let tolerances = Tolerances { absolute: tolerance(call, absolute)?, relative: given, alone: relative.is_none() };
    ops::matrix_rank(&call.view(0)?, &tolerances, call.bool(hermitian)?).map(Value::from)
}

fn lstsq(call: &mut Call) -> Result<Value> {
    let (a, b) = (call.view(0)?, call.view(1)?);
    let name = "torch.linalg.lstsq";
    if a.ndim() < 2 {
        bail!(RuntimeError, "{name}: input must have at least 2 dimensions.");
    }
    if b.ndim() == 0 {
        bail!(RuntimeError, "{name}: other must have at least 1 dimension.");
    }
    if a.dtype != b.dtype {
        let (a, b) = (a.dtype.scalar_type(), b.dtype.scalar_type());
        bail!(
            RuntimeError,
            "{name}: Expected input and other to have the same dtype, but got input's dtype {a} and other's dtype {b}"
        );
    }
    if b.ndim() > a.ndim() || b.ndim() + 1 < a.ndim() {
        bail!(
            RuntimeError,
            "{name}: input.dim() must be greater or equal to other.dim() and (input.dim() - other.dim()) <= 1"
        );
    }
    let before = if b.ndim() < a.ndim() { 1 } else { 2 };
    if b.sizes()[b.ndim() - before] != a.sizes()[a.ndim() - 2] {
        bail!(RuntimeError, "{name}: input.size(-2) should match other.size(-{before})");
    }
    let driver = match if call.is_none(3) { "gelsy" } else { call.str(3)? } {
        "gels" => Driver::Gels,
        "gelsy" => Driver::Gelsy,
        "gelsd" => Driver::Gelsd,
        "gelss" => Driver::Gelss,
        _ => bail!(RuntimeError, "{name}: parameter `driver` should be one of (gels, gelsy, gelsd, gelss)"),
    };
    ops::epsilon(&a)?;
    let rcond = if call.is_none(2) { None } else { Some(call.scalar(2)?.to_f64()) };
    let found = ops::lstsq(&a, &b, rcond, driver)?;
    Ok(Value::named_tuple(
        "torch.return_types.linalg_lstsq",
        vec![
            ("solution", found.solution.into()),
            ("residuals", found.residuals.into()),
            ("rank", found.rank.into()),
            ("singular_values", found.values.into()),
        ],
    ))
}
