//! Running sums and products along a dimension.

use super::resolved;
use super::tiles::{Dim, odometer};
use crate::ops::check::lost;
use crate::ops::copy::{cast, copy_into};
use crate::ops::number::{Number, Stored};
use crate::ops::pointwise::{check_kernel, classes, multiply_tail};
use crate::tensor::layout::wrap_dim;
use crate::tensor::memory::{get, set};
use crate::tensor::{DType, Result, Scalar, View, interrupt};
use half::{bf16, f16};
use num_complex::Complex;

/// The state carried along.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Running {
    Sum,
    Product,
}

/// `cumsum` or `cumprod`, as [`torch.cumsum`](https://pytorch.org/docs/2.7/generated/torch.cumsum.html). What is carried
/// along is wider than what is stored.
///
/// # Errors
/// IndexError for a wrong dimension, RuntimeError for dtypes without this kernel.
pub fn cumulative(which: Running, view: &View, dim: i64, dtype: Option<DType>) -> Result<View> {
    let d = wrap_dim(dim, view.ndim())?;
    let dtype = dtype.unwrap_or(view.dtype.sum_result());
    let out = View::unwritten(view.sizes(), dtype, view.device())?;
    if view.device().is_meta() || view.numel() == 0 {
        return Ok(out);
    }
    let view = resolved(view)?;
    if view.ndim() == 0 {
        copy_into(&out, &view)?;
        return Ok(out);
    }
    let stub = match which {
        Running::Sum => "cumsum_out_cpu",
        Running::Product => "cumprod_out_cpu",
    };
    check_kernel(stub, classes::NUMBERS | classes::COMPLEX, dtype)?;
    match dtype {
        DType::Half => scan::<f16, f32>(which, &view, &out, d, |v| v, |v| v)?,
        DType::BFloat16 => scan::<bf16, f32>(which, &view, &out, d, |v| v, |v| v)?,
        DType::Float => scan::<f32, f64>(which, &view, &out, d, f64::from, |v| v as f32)?,
        DType::Double => scan::<f64, f64>(which, &view, &out, d, |v| v, |v| v)?,
        DType::ComplexFloat => {
            let widen = |z: Complex<f32>| Complex::new(f64::from(z.re), f64::from(z.im));
            let narrow = |z: Complex<f64>| Complex::new(z.re as f32, z.im as f32);
            scan::<Complex<f32>, Complex<f64>>(which, &view, &out, d, widen, narrow)?;
        }
        DType::ComplexDouble => scan::<Complex<f64>, Complex<f64>>(which, &view, &out, d, |v| v, |v| v)?,
        DType::Long => scan::<i64, i64>(which, &view, &out, d, |v| v, |v| v)?,
        _ => {
            // Integers wrap, so they can be narrowed last.
            let wide = View::unwritten(view.sizes(), DType::Long, view.device())?;
            scan::<i64, i64>(which, &cast(&view, dtype)?, &wide, d, |v| v, |v| v)?;
            copy_into(&out, &wide)?;
        }
    }
    Ok(out)
}

/// A type that sums and products are carried along in.
trait Carried: Number {
    fn plus(self, other: Self) -> Self;
    fn times(self, other: Self) -> Self;
}

macro_rules! carried {
    ($($t:ty: $plus:expr, $times:expr;)*) => {$(
        impl Carried for $t {
            #[inline]
            fn plus(self, other: $t) -> $t {
                let plus: fn($t, $t) -> $t = $plus;
                plus(self, other)
            }
            #[inline]
            fn times(self, other: $t) -> $t {
                let times: fn($t, $t) -> $t = $times;
                times(self, other)
            }
        }
    )*};
}
carried! {
    i64: i64::wrapping_add, i64::wrapping_mul;
    f32: |a, b| a + b, |a, b| a * b;
    f64: |a, b| a + b, |a, b| a * b;
    Complex<f64>: |a, b| a + b, multiply_tail;
}

/// `out` is row-major.
fn scan<S: Stored, A: Carried>(
    which: Running,
    view: &View,
    out: &View,
    d: usize,
    widen: impl Fn(S::Compute) -> A,
    narrow: impl Fn(A) -> S::Compute,
) -> Result<()> {
    let view = if view.dtype == S::DTYPE { view.clone() } else { cast(view, S::DTYPE)? };
    let mut along = Dim { size: 1, out: 1, input: 1 };
    let mut outer = Vec::with_capacity(view.ndim());
    for (i, ((&size, &input), &out)) in view.sizes().iter().zip(view.strides()).zip(out.strides()).enumerate().rev() {
        let dim = Dim { size, out, input };
        if i == d { along = dim } else { outer.push(dim) }
    }
    let (memory, out_memory) = (view.memory()?, out.memory()?);
    let (cells, results) = (memory.typed::<S>(), out_memory.typed::<S>());
    let start = A::from_scalar(Scalar::Int(i64::from(which == Running::Product)));
    odometer(&outer, out.layout.offset, view.layout.offset, &mut |mut to, mut from| {
        let mut carried = start;
        for piece in interrupt::pieces(0..along.size as usize, 1) {
            for _ in piece? {
                let (Some(cell), Some(result)) = (cells.get(from as usize), results.get(to as usize)) else {
                    return Err(lost());
                };
                let value = widen(get(cell).widen());
                carried = if which == Running::Sum { carried.plus(value) } else { carried.times(value) };
                set(result, S::narrow(narrow(carried)));
                from += along.input;
                to += along.out;
            }
        }
        Ok(())
    })
}
