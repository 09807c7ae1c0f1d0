//! The gradient of `as_strided`, which views of every kind fall back on after a write to their base.

use crate::context::{Context, Expr};
use crate::derivative::{Derivative, row};
use tensor::{Layout, Result, Scalar, View};
use value::Value;

pub(crate) const AS_STRIDED: Derivative = row("as_strided", "AsStridedBackward0").grad(0, &[], strided);

/// The gradient of `as_strided`. It is added to a storage at the window's elements, and read back through the
/// argument's own layout.
pub(crate) fn strided<'a>(c: &Context<'a>) -> Expr<'a> {
    let grad = c.g();
    let Ok(shape) = c.shape(0) else { return grad };
    let offset = match c.value(3) {
        Value::Int(offset) => offset,
        _ => shape.layout.offset,
    };
    let to = Layout { sizes: c.dims(1), strides: c.dims(2), offset };
    grad.clone().and(|_| spread(c, &grad, &shape.layout, &to))
}

fn spread<'a>(c: &Context<'a>, grad: &Expr<'a>, from: &Layout, to: &Layout) -> Result<Expr<'a>> {
    let start = from.offset.min(to.offset);
    let shifted = |layout: &Layout| Layout { offset: layout.offset - start, ..layout.clone() };
    let (from, to) = (shifted(from), shifted(to));
    let length = from.storage_elements()?.max(to.storage_elements()?);
    let (dtype, device) = {
        let g = grad.tensor()?;
        let view = g.borrow();
        (view.dtype, view.device())
    };
    let places = |layout: &Layout| c.index(layout.offsets().collect::<Vec<i64>>().into_iter());
    let room = c.expr(View::zeros(&[length], dtype, device).map(Value::from));
    let mut flat = room.call("index_add_", &[Value::Int(0), places(&to).value?, grad.reshape(&[to.numel()]).value?]);
    if from.has_internal_overlap() {
        // Elements the argument shows several times share their gradient.
        let count = c.expr(View::zeros(&[length], dtype.to_real(), device).map(Value::from));
        let ones = View::from_scalars(&[from.numel()], dtype.to_real(), (0..from.numel()).map(|_| Scalar::Int(1)))?;
        let count = count.call("index_add_", &[Value::Int(0), places(&from).value?, Value::from(ones)]);
        let none = count.compare("eq", Value::Int(0));
        flat = flat / count.with("masked_fill.Scalar", &none, &[Value::Int(1)]);
    }
    let window = [Value::Size(from.sizes), Value::Size(from.strides), Value::Int(from.offset)];
    Ok(flat.call("as_strided", &window))
}
