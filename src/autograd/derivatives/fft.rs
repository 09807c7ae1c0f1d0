//! Fourier transforms. The adjoint of a transform is the inverse transform with the opposite scale.

use crate::context::Context;
use crate::derivative::{Derivative, row};
use tensor::bail;
use tensor::layout::wrap_dim;
use tensor::{Scalar, View};
use value::Value;

pub(super) const ROWS: &[Derivative] = &[
    row("_fft_c2c", "FftC2CBackward0")
        .grad(0, &[], |c| c.g().call("_fft_c2c", &[c.value(1), opposite_norm(&c.value(2)), Value::Bool(!c.flag(3))])),
    row("_fft_r2c", "FftR2CBackward0").grad(0, &[], |c| {
        c.g().and(|g| {
            let mut grad = c.g();
            if let (true, Some(dim)) = (c.flag(3), last_dim(c)) {
                // Pads half a spectrum with zeros to the full length.
                let (whole, half) = (c.sizes(0).get(dim).copied(), g.borrow().sizes().get(dim).copied());
                let missing = whole.unwrap_or(0) - half.unwrap_or(0);
                let after = c.sizes(0).len() - 1 - dim;
                let pads = std::iter::repeat_n(0, after * 2).chain([0, missing]).collect();
                grad = grad.call("constant_pad_nd", &[Value::Size(pads)]);
            }
            let back = [c.value(1), opposite_norm(&c.value(2)), Value::Bool(false)];
            Ok(grad.call("_fft_c2c", &back).call("real", &[]))
        })
    }),
    row("_fft_c2r", "FftC2RBackward0").grad(0, &[], |c| {
        c.g().and(|g| {
            let Some(dim) = last_dim(c) else { bail!(RuntimeError, "no dimension was transformed") };
            let spectrum = c.g().call("_fft_r2c", &[c.value(1), opposite_norm(&c.value(2)), Value::Bool(true)]);
            // An element that represents two elements of the full spectrum counts twice.
            let (half, whole) = (c.sizes(0).get(dim).copied().unwrap_or(0), c.int(3));
            let counts = (0..half).map(|i| Scalar::Int(if i > 0 && i <= whole - half { 2 } else { 1 }));
            let dtype = g.borrow().dtype;
            let counts = c.expr(View::from_scalars(&[half], dtype, counts).map(Value::from));
            let shape: Vec<i64> = (0..c.sizes(0).len()).map(|d| if d == dim { -1 } else { 1 }).collect();
            Ok(spectrum * counts.reshape(&shape))
        })
    }),
];

/// Returns the dimension that holds only half of the spectrum.
fn last_dim(c: &Context) -> Option<usize> {
    c.dims(1).last().and_then(|&dim| wrap_dim(dim, c.sizes(0).len()).ok())
}

/// Returns the normalization with which the opposite transform has the same scale.
pub(crate) fn opposite_norm(norm: &Value) -> Value {
    match norm {
        Value::Str(norm) if &**norm == "ortho" => Value::str("ortho"),
        Value::Str(norm) if &**norm == "forward" => Value::str("backward"),
        _ => Value::str("forward"),
    }
}
