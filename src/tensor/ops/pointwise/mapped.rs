//! Functions of real numbers with parameters, which have no row in a table.

use super::classes::{self, *};
use super::{Output, Plan, Shape, broadcast, check_kernel, check_sizes, converted, copy_back, plan, write_target};
use crate::ops::block::{self, Pace};
use crate::ops::number::{Real, Stored, is_single};
use crate::parallel::{self, vectorised_kernel};
use crate::{DType, Layout, Result, View};
use half::{bf16, f16};
use std::marker::PhantomData;

/// A function of real numbers with parameters, which it owns: those behind references are read again for each element.
pub trait RealFunction: Copy + Sync {
    /// How many functions like the exponential it evaluates.
    const FUNCTIONS: usize = 0;
    fn at<T: Real>(&self, value: T) -> T;
    /// Applies the function to a 16-bit float `S` in single precision. Implementations may round every step to `S`.
    #[inline(always)]
    fn at_narrow<S: Stored<Compute = f32> + Real>(&self, value: f32) -> f32 {
        self.at(value)
    }
}

/// A closure is evaluated in double precision, and its result rounded.
impl<F: Fn(f64) -> f64 + Copy + Sync> RealFunction for F {
    #[inline(always)]
    fn at<T: Real>(&self, value: T) -> T {
        value.via_f64(self)
    }
}

/// Applies a function with parameters to every element of a real tensor. Integers are converted to the default floating
/// dtype, or refused if `default` is `None`.
///
/// # Errors
/// Those of [`unary`](fn@super::unary).
pub fn map_real<F: RealFunction>(
    stub: &str,
    supported: classes::Classes,
    a: &View,
    output: Output,
    default: Option<DType>,
    function: &F,
) -> Result<View> {
    let common = default.filter(|_| a.dtype.is_integral(true)).unwrap_or(a.dtype);
    let sizes = check_sizes(&[a.into()], output)?;
    let shape = Shape { sizes, common, result: common, safe_cast: true };
    let Plan { target, compute } = plan(&[a.into()], output, shape)?;
    if !compute {
        return Ok(target);
    }
    check_kernel(stub, supported, common)?;
    let a = converted(a, common)?;
    let computed = write_target(&target, common)?;
    let layout = broadcast(&a, computed.sizes());
    match common {
        DType::Half => mapped_narrow::<f16, F>(&computed, &a, &layout, function)?,
        DType::BFloat16 => mapped_narrow::<bf16, F>(&computed, &a, &layout, function)?,
        DType::Float => mapped::<f32>(&computed, &a, &layout, function)?,
        DType::Double => mapped::<f64>(&computed, &a, &layout, function)?,
        _ => check_kernel(stub, 0, common)?,
    }
    copy_back(computed, &target)?;
    Ok(target)
}

fn mapped<S: Stored<Compute: Real>>(out: &View, a: &View, layout: &Layout, function: &impl RealFunction) -> Result<()> {
    let (pace, function) = (pace(function, is_single::<S::Compute>()), *function);
    block::unary::<S, S>(out, a, layout, pace, &|values, out, _| vectorised_kernel(Mapped { values, out, function }))
}

fn pace<F: RealFunction>(_: &F, by_series: bool) -> Pace {
    Pace::with_functions(64, F::FUNCTIONS, by_series)
}

/// Applies a [`RealFunction`].
struct Mapped<'a, T, F> {
    values: &'a [T],
    out: &'a mut [T],
    function: F,
}

impl<T: Real, F: RealFunction> parallel::Kernel for Mapped<'_, T, F> {
    type Output = ();
    #[inline(always)]
    fn run(self, _fuses: bool) {
        for (out, &value) in self.out.iter_mut().zip(self.values) {
            *out = self.function.at(value);
        }
    }
}

/// Applies a [`RealFunction`] to 16-bit floats.
struct Narrow<'a, S, F> {
    values: &'a [f32],
    out: &'a mut [f32],
    function: F,
    stored: PhantomData<S>,
}

impl<S: Stored<Compute = f32> + Real, F: RealFunction> parallel::Kernel for Narrow<'_, S, F> {
    type Output = ();
    #[inline(always)]
    fn run(self, _fuses: bool) {
        for (out, &value) in self.out.iter_mut().zip(self.values) {
            *out = self.function.at_narrow::<S>(value);
        }
    }
}

fn mapped_narrow<S: Stored<Compute = f32> + Real, F: RealFunction>(
    out: &View,
    a: &View,
    layout: &Layout,
    function: &F,
) -> Result<()> {
    let (pace, function) = (pace(function, true), *function);
    block::unary::<S, S>(out, a, layout, pace, &|values, out, _| {
        vectorised_kernel(Narrow { values, out, function, stored: PhantomData::<S> });
    })
}

/// Replaces NaN and the infinities by the given numbers, which default to 0 and the dtype's limits.
///
/// # Errors
/// Those of [`unary`](fn@super::unary).
pub fn nan_to_num(a: &View, to: [Option<f64>; 3], output: Output) -> Result<View> {
    if a.dtype.is_integral(true) {
        return match output {
            Output::InPlace(_) => Ok(a.clone()),
            Output::Out(out) => crate::ops::copy::copy_into(out, a).map(|()| out.clone()),
            Output::New => crate::ops::copy::clone(a),
        };
    }
    if a.dtype.is_complex() && a.dtype != DType::ComplexHalf {
        let out = match output {
            Output::New => crate::ops::copy::clone(a)?,
            Output::InPlace(out) => out.clone(),
            Output::Out(out) => {
                crate::ops::copy::copy_into(out, a)?;
                out.clone()
            }
        };
        for imaginary in [false, true] {
            let part = out.complex_part(imaginary);
            nan_to_num(&part, to, Output::InPlace(&part))?;
        }
        return Ok(out);
    }
    let largest = crate::element::largest_finite(a.dtype);
    let [nan, above, below] = [to[0].unwrap_or(0.0), to[1].unwrap_or(largest), to[2].unwrap_or(-largest)];
    map_real("nan_to_num", FLOAT, a, output, None, &move |value: f64| match value {
        v if v.is_nan() => nan,
        f64::INFINITY => above,
        f64::NEG_INFINITY => below,
        v => v,
    })
}
