//! Norms of matrices. Follows <https://pytorch.org/docs/2.7/generated/torch.linalg.norm.html>.

use call::facets::{Out, Takes};
use call::{Call, Row, function, safely};
use tensor::bail;
use tensor::linalg as ops;
use tensor::ops::pointwise::{BinaryOp, Output, binary};
use tensor::ops::promote::Operand;
use tensor::ops::view as views;
use tensor::{DType, Dims, Result, Scalar, View};
use value::Value;

pub(crate) const ROWS: &[Row] = &[
    function(
        "linalg.norm(Tensor input, Scalar? ord=None, int[1]? dim=None, bool keepdim=False, *, ScalarType? \
 dtype=None, Tensor? out=None) -> Tensor",
        norm,
        "Computes the norm of a vector or a matrix.",
    )
    .aliases(&[
        "linalg.norm.ord_str(Tensor input, str ord, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None, \
         Tensor? out=None) -> Tensor",
    ])
    .out(Out::PLAIN.takes(&[(Takes::Same, "linalg.norm expected out tensor dtype {result} but got: {out}")]))
    .operation("linalg_vector_norm")
    .out_refused_as("linalg_vector_norm"),
    function(
        "linalg.matrix_norm(Tensor input, Scalar ord, int[] dim={-2,-1}, bool keepdim=False, *, ScalarType? \
 dtype=None, Tensor? out=None) -> Tensor",
        |c| matrix_norm(&c.view(0)?, &c.value(1), &c.ints(2)?, c.bool(3)?, c.opt_dtype(4)).map(Value::from),
        "Computes the norm of a matrix.",
    )
    .aliases(&["linalg.matrix_norm.str_ord(Tensor input, str ord=\"fro\", int[] dim={-2,-1}, bool keepdim=False, *, \
         ScalarType? dtype=None, Tensor? out=None) -> Tensor"])
    .out(Out::PLAIN.takes(&[(Takes::Same, "linalg.matrix_norm expected out tensor dtype {result} but got: {out}")]))
    .operation("linalg_vector_norm")
    .out_refused_as("linalg_vector_norm"),
    function(
        "linalg.cond(Tensor input, Scalar? p=None, *, Tensor? out=None) -> Tensor",
        cond,
        "Computes the condition number.",
    )
    .aliases(&["linalg.cond.p_str(Tensor input, str p, *, Tensor? out=None) -> Tensor"])
    .out(Out::PLAIN.takes(&[safely!("linalg.cond", "result")]))
    .operation("_linalg_svd")
    .out_refused_as("_linalg_svd"),
];

fn norm(call: &mut Call) -> Result<Value> {
    let (view, ord) = (call.view(0)?, call.value(1));
    let dims = if call.is_none(2) { None } else { Some(call.ints(2)?) };
    let (keepdim, dtype) = (call.bool(3)?, call.opt_dtype(4));
    if let Some(dims) = dims.as_deref().filter(|dims| !(1..=2).contains(&dims.len()) && !matches!(ord, Value::None)) {
        let dims = tensor::layout::show(dims);
        bail!(RuntimeError, "linalg.norm: If dim is specified, it must be of length 1 or 2. Got {dims}");
    }
    let vector =
        |p: f64, dims: Option<&[i64]>| tensor::ops::reduce::norm(&view, p, dims, keepdim, dtype).map(Value::from);
    if let Value::None = ord {
        return vector(2.0, dims.as_deref());
    }
    let textual = matches!(ord, Value::Str(_));
    let of_matrix = match &dims {
        Some(dims) => dims.len() == 2,
        None if matches!(view.ndim(), 1 | 2) => textual || view.ndim() == 2,
        None => bail!(
            RuntimeError,
            "linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got {}D.",
            view.ndim()
        ),
    };
    if of_matrix || textual {
        let dims = dims.unwrap_or_else(|| Dims::from_slice(&[-2, -1]));
        return matrix_norm(&view, &ord, &dims, keepdim, dtype).map(Value::from);
    }
    match ord.as_scalar() {
        Some(p) => vector(p.to_f64(), dims.as_deref()),
        None => bail!(TypeError, "linalg_norm(): argument 'ord' (position 2) must be Number, not {}", ord.type_name()),
    }
}

/// Computes a matrix norm from the elements, the row or column sums, or the singular values.
pub(crate) fn matrix_norm(view: &View, ord: &Value, dims: &[i64], keepdim: bool, dtype: Option<DType>) -> Result<View> {
    use tensor::ops::reduce::{Extremum, extremum, norm, sum};
    let name = "linalg.matrix_norm";
    if let Value::Complex(_) = ord {
        bail!(RuntimeError, "{name}: Expected a non-complex scalar as the order of norm.");
    }
    let number = ord.as_scalar().map(Scalar::to_f64);
    let by_values = match (ord, number) {
        (Value::Str(ord), _) if matches!(&**ord, "fro" | "nuc") => &**ord == "nuc",
        (_, Some(p)) if p.abs() == 2.0 => true,
        (_, Some(p)) if p.abs() == 1.0 || p.is_infinite() => false,
        (Value::Str(ord), _) => bail!(RuntimeError, "{name}: Order {ord} not supported."),
        (_, Some(p)) => bail!(RuntimeError, "{name}: Order {p} not supported."),
        (ord, None) => {
            let got = ord.type_name();
            bail!(TypeError, "linalg_matrix_norm(): argument 'ord' (position 2) must be Number, not {got}")
        }
    };
    ops::Shape::of(name, view)?;
    ops::check_floating(name, view, !by_values)?;
    let &[first, second] = dims else {
        let dims: Vec<String> = dims.iter().map(i64::to_string).collect();
        bail!(RuntimeError, "{name}: dim must be a 2-tuple. Got {}", dims.join(" "));
    };
    let (row, column) = (tensor::layout::wrap_dim(first, view.ndim())?, tensor::layout::wrap_dim(second, view.ndim())?);
    if row == column {
        bail!(RuntimeError, "{name}: dims must be different. Got ({row}, {column})");
    }
    if let Some(dtype) = dtype.filter(|dtype| !dtype.is_differentiable()) {
        bail!(RuntimeError, "{name}: dtype should be floating point or complex, but got {}", dtype.scalar_type());
    }
    if by_values {
        let view = match dtype {
            Some(dtype) => tensor::ops::copy::cast(view, dtype)?,
            None => view.clone(),
        };
        let moved = views::movedim(&view, &[row as i64, column as i64], &[-2, -1])?;
        let [_, values, _] = ops::svd_decomposition("linalg.svd", &moved, ops::Vectors::None)?;
        let result = match number {
            None => sum(&values, Some(&[-1]), keepdim, None)?,
            Some(p) => extremum(if p > 0.0 { Extremum::Max } else { Extremum::Min }, &values, &[-1], keepdim)?,
        };
        if !keepdim {
            return Ok(result);
        }
        // The reduced dimensions are kept at the end, and move back to their positions.
        return views::movedim(&views::unsqueeze(&result, -1)?, &[-2, -1], &[row as i64, column as i64]);
    }
    match number {
        None => norm(view, 2.0, Some(&[row as i64, column as i64]), keepdim, dtype),
        Some(p) => {
            let (along, across) = if p.is_infinite() { (column, row) } else { (row, column) };
            let sums = norm(view, 1.0, Some(&[along as i64]), true, dtype)?;
            let which = if p > 0.0 { Extremum::Max } else { Extremum::Min };
            let kept = extremum(which, &sums, &[across as i64], true)?;
            if keepdim { Ok(kept) } else { views::squeeze(&kept, Some(&[row as i64, column as i64])) }
        }
    }
}

fn cond(call: &mut Call) -> Result<Value> {
    let (view, ord) = (call.view(0)?, call.value(1));
    if view.ndim() < 2 {
        bail!(RuntimeError, "linalg.cond: The input tensor must have at least 2 dimensions.");
    }
    let two = |scalar: Option<Scalar>| scalar.is_none_or(|s| s.to_f64().abs() == 2.0);
    if matches!(ord, Value::None) || !matches!(ord, Value::Str(_)) && two(ord.as_scalar()) {
        let [_, values, _] = ops::svd_decomposition("linalg.svd", &view, ops::Vectors::None)?;
        if view.numel() == 0 {
            let batch = &view.sizes()[..view.ndim() - 2];
            return View::zeros(batch, values.dtype, view.device()).map(Value::from);
        }
        let last = values.sizes().last().copied().unwrap_or(0);
        let (largest, least) = (views::select(&values, -1, 0)?, views::select(&values, -1, last - 1)?);
        let inverted = ord.as_scalar().is_some_and(|s| s.to_f64() < 0.0);
        let quotient = if inverted { (&least, &largest) } else { (&largest, &least) };
        return on(BinaryOp::TrueDivide, quotient.0, quotient.1).map(Value::from);
    }
    let shown = match &ord {
        Value::Str(kind) => kind.to_string(),
        ord => ord.as_scalar().map_or(String::new(), |p| p.to_f64().to_string()),
    };
    let size = shown.trim_start_matches('-');
    if !["fro", "nuc", "1", "inf"].contains(&size) {
        bail!(RuntimeError, "linalg.cond got an invalid norm type: {shown}");
    }
    ops::Shape::square(&format!("linalg.cond(ord={shown})"), &view)?;
    let (inverse, info) = ops::inv("linalg.cond", &view)?;
    // The inverse of a singular matrix may contain NaN. Its condition number is infinite in any case.
    let singular = info.scalars()?.into_iter().map(|info| Scalar::Bool(info.to_i64() != 0));
    let singular =
        views::unsqueeze(&views::unsqueeze(&View::from_scalars(info.sizes(), DType::Bool, singular)?, -1)?, -1)?;
    let inverse = tensor::ops::mask::masked_fill(&inverse, &singular, Scalar::Int(0))?;
    let norm = |view: &View| matrix_norm(view, &ord, &[-2, -1], false, None);
    let product = on(BinaryOp::Mul, &norm(&view)?, &norm(&inverse)?)?;
    let infinite = info.scalars()?.into_iter().zip(product.scalars()?);
    let values = infinite.map(|(info, value)| if info.to_i64() != 0 { Scalar::Float(f64::INFINITY) } else { value });
    View::from_scalars(product.sizes(), product.dtype, values).map(Value::from)
}

fn on(op: BinaryOp, a: &View, b: &View) -> Result<View> {
    binary(op, Operand::Tensor(a), Operand::Tensor(b), Output::New, DType::Float)
}
