//! Norms of matrices. Follows <https://pytorch.org/docs/2.7/generated/torch.linalg.norm.html>.

use crate::bail;
use crate::call::facets::{Out, Takes};
use crate::call::{Call, Row, function};
use crate::linalg as ops;
use crate::ops::view as views;
use crate::tensor::{DType, Dims, Result, Scalar, View};
use crate::value::Value;

pub const ROWS: &[Row] = &[
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
];

fn norm(call: &mut Call) -> Result<Value> {
    let (view, ord) = (call.view(0)?, call.value(1));
    let dims = if call.is_none(2) { None } else { Some(call.ints(2)?) };
    let (keepdim, dtype) = (call.bool(3)?, call.opt_dtype(4));
    if let Some(dims) = dims.as_deref().filter(|dims| !(1..=2).contains(&dims.len()) && !matches!(ord, Value::None)) {
        let dims = crate::tensor::layout::show(dims);
        bail!(RuntimeError, "linalg.norm: If dim is specified, it must be of length 1 or 2. Got {dims}");
    }
    let vector =
        |p: f64, dims: Option<&[i64]>| crate::ops::reduce::norm(&view, p, dims, keepdim, dtype).map(Value::from);
    if let Value::None = ord {
        return vector(2.0, dims.as_deref());
    }
    let textual = matches!(ord, Value::Str(_));
    let of_matrix = match &dims {
        Some(dims) => dims.len() == 2,
        None if textual => true,
        None if view.ndim() <= 2 => view.ndim() == 2,
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

/// The norm of matrices: of their elements, their rows, columns or singular values.
pub fn matrix_norm(view: &View, ord: &Value, dims: &[i64], keepdim: bool, dtype: Option<DType>) -> Result<View> {
    use crate::ops::reduce::{Extremum, extremum, norm, sum};
    let name = "linalg.matrix_norm";
    ops::Shape::of(name, view)?;
    ops::check_floating(name, view, true)?;
    let &[first, second] = dims else {
        let dims: Vec<String> = dims.iter().map(i64::to_string).collect();
        bail!(RuntimeError, "{name}: dim must be a 2-tuple. Got {}", dims.join(" "));
    };
    let (row, column) =
        (crate::tensor::layout::wrap_dim(first, view.ndim())?, crate::tensor::layout::wrap_dim(second, view.ndim())?);
    if row == column {
        bail!(RuntimeError, "{name}: dims must be different. Got ({first}, {second})");
    }
    let unknown = |shown: String| -> Result<View> { bail!(RuntimeError, "{name}: Order {shown} not supported.") };
    let of_lines = |along: usize, p: f64| -> Result<View> {
        let sums = norm(view, 1.0, Some(&[along as i64]), true, dtype)?;
        let across = if along == row { column } else { row };
        let which = if p > 0.0 { Extremum::Max } else { Extremum::Min };
        let kept = extremum(which, &sums, &[across as i64], true)?;
        if keepdim { Ok(kept) } else { views::squeeze(&kept, Some(&[row as i64, column as i64])) }
    };
    let of_values = |what: &dyn Fn(&View) -> Result<View>| -> Result<View> {
        let view = match dtype {
            Some(dtype) => crate::ops::copy::cast(view, dtype)?,
            None => view.clone(),
        };
        let moved = views::movedim(&view, &[row as i64, column as i64], &[-2, -1])?;
        let [_, values, _] = ops::svd_decomposition("linalg.svd", &moved, false)?;
        let mut result = what(&values)?;
        if keepdim {
            for dim in [row.min(column), row.max(column)] {
                result = views::unsqueeze(&result, dim as i64)?;
            }
        }
        Ok(result)
    };
    match ord {
        Value::Str(ord) => match &**ord {
            "fro" => norm(view, 2.0, Some(&[row as i64, column as i64]), keepdim, dtype),
            "nuc" => of_values(&|values| sum(values, Some(&[-1]), false, None)),
            other => unknown(other.to_owned()),
        },
        ord => match ord.as_scalar().map(Scalar::to_f64) {
            Some(p) if p.abs() == 1.0 => of_lines(row, p),
            Some(p) if p.is_infinite() => of_lines(column, p),
            Some(p) if p.abs() == 2.0 => {
                of_values(&|values| extremum(if p > 0.0 { Extremum::Max } else { Extremum::Min }, values, &[-1], false))
            }
            Some(p) => unknown(p.to_string()),
            None => bail!(
                TypeError,
                "linalg_matrix_norm(): argument 'ord' (position 2) must be Number, not {}",
                ord.type_name()
            ),
        },
    }
}
