//! Finds the kernel of a loop and runs it.

use super::clip::{Clipped, clip, clip_half};
use super::compare::{Compared, bools, mirrored, mixed, one_bool, relation, whole_test};
use super::complexes::{complex_test, magnitudes, one_complex, plain_magnitudes, plain_one, plain_two, two_complex};
use super::flags::FpFlags;
use super::halves::{extremes, one_half, plain, two_halves};
use super::integers::{Whole, bit_count, one_integer, two_integers};
use super::math::Real;
use super::reals::{exponents, one_real, real_test, scaled, two_reals};
use super::run::{Cell, run_half_one, run_half_two, run_one, run_three, run_two};
use super::table::{Op, Ufunc};
use crate::array::{Array, Order};
use crate::descr::{Descr, Kind};
use num_complex::Complex;
use tensor::{DType, Error, Result};

/// Evaluates an expression with `$T` as the type of integers.
macro_rules! each_whole {
    ($dtype:expr, $T:ident => $body:expr, $other:expr) => {
        match $dtype {
            DType::Char => {
                type $T = i8;
                $body
            }
            DType::Byte => {
                type $T = u8;
                $body
            }
            DType::Short => {
                type $T = i16;
                $body
            }
            DType::UInt16 => {
                type $T = u16;
                $body
            }
            DType::Int => {
                type $T = i32;
                $body
            }
            DType::UInt32 => {
                type $T = u32;
                $body
            }
            DType::Long => {
                type $T = i64;
                $body
            }
            DType::UInt64 => {
                type $T = u64;
                $body
            }
            _ => $other,
        }
    };
}

fn missing(ufunc: &Ufunc) -> Error {
    Error::not_implemented(format!("ufunc '{}' is not supported here for these dtypes", ufunc.name))
}

/// Computes output `part` of a loop. All arrays have the loop's dtypes and one shape.
///
/// # Errors
/// KeyboardInterrupt; RuntimeError if a storage has become too small.
pub(super) fn compute(ufunc: &'static Ufunc, part: usize, inputs: &[&Array], out: &Array) -> Result<FpFlags> {
    let found = match *inputs {
        [a] => one(ufunc.op, part, a, out),
        [a, b] => two(ufunc.op, part, [a, b], out),
        [a, b, c] => Some(three(ufunc.op, [a, b, c], out)),
        _ => None,
    };
    found.unwrap_or_else(|| Err(missing(ufunc)))
}

fn one(op: Op, part: usize, a: &Array, out: &Array) -> Option<Result<FpFlags>> {
    let to_bool = out.descr.dtype == DType::Bool;
    match a.descr.dtype {
        DType::Bool => one_bool(op).map(|kernel| run_one(op, kernel, a, out)),
        DType::Half => half_of_one(op, part, a, out),
        DType::Float => real_of_one::<f32>(op, part, to_bool, a, out),
        DType::Double => real_of_one::<f64>(op, part, to_bool, a, out),
        DType::ComplexFloat => complex_of_one::<f32>(op, to_bool, a, out),
        DType::ComplexDouble => complex_of_one::<f64>(op, to_bool, a, out),
        whole => each_whole!(whole, T => whole_of_one::<T>(op, to_bool, a, out), None),
    }
}

fn whole_of_one<T: Whole + Cell + Compared>(op: Op, to_bool: bool, a: &Array, out: &Array) -> Option<Result<FpFlags>> {
    match (to_bool, op) {
        (true, _) => whole_test::<T>(op).map(|kernel| run_one(op, kernel, a, out)),
        (_, Op::BitwiseCount) => Some(run_one(op, bit_count::<T>, a, out)),
        _ => one_integer::<T>(op).map(|kernel| run_one(op, kernel, a, out)),
    }
}

fn real_of_one<T: Real + Cell>(op: Op, part: usize, to_bool: bool, a: &Array, out: &Array) -> Option<Result<FpFlags>> {
    if to_bool {
        return real_test::<T>(op).map(|kernel| run_one(op, kernel, a, out));
    }
    match exponents::<T>(op, part) {
        Some(kernel) => Some(run_one(op, kernel, a, out)),
        None => one_real::<T>(op, part).map(|kernel| run_one(op, kernel, a, out)),
    }
}

fn half_of_one(op: Op, part: usize, a: &Array, out: &Array) -> Option<Result<FpFlags>> {
    if let Some(kernel) = one_half(op) {
        return Some(run_one(op, kernel, a, out));
    }
    if out.descr.dtype == DType::Bool {
        return real_test::<f32>(op).map(|kernel| run_half_one(op, kernel, a, out));
    }
    match exponents::<f32>(op, part) {
        Some(kernel) => Some(run_half_one(op, kernel, a, out)),
        None => plain(op).or_else(|| one_real::<f32>(op, part)).map(|kernel| run_half_one(op, kernel, a, out)),
    }
}

fn complex_of_one<T: Real + Cell>(op: Op, to_bool: bool, a: &Array, out: &Array) -> Option<Result<FpFlags>>
where
    Complex<T>: Cell,
{
    if to_bool {
        return complex_test::<T>(op).map(|kernel| run_one(op, kernel, a, out));
    }
    let plain = is_plain(&[a, out]);
    if let Some(kernel) = plain_magnitudes::<T>(op).filter(|_| plain).or_else(|| magnitudes::<T>(op)) {
        return Some(run_one(op, kernel, a, out));
    }
    plain_one::<T>(op).filter(|_| plain).or_else(|| one_complex::<T>(op)).map(|kernel| run_one(op, kernel, a, out))
}

fn two(op: Op, part: usize, [a, b]: [&Array; 2], out: &Array) -> Option<Result<FpFlags>> {
    let to_bool = out.descr.dtype == DType::Bool;
    match (a.descr.dtype, b.descr.dtype) {
        (DType::Bool, _) => bools(op).map(|kernel| run_two(op, kernel.slices, [a, b], out)),
        (DType::Long, DType::UInt64) => mixed(op).map(|kernel| run_two(op, kernel, [a, b], out)),
        (DType::UInt64, DType::Long) => mixed(mirrored(op)).map(|kernel| run_two(op, kernel, [b, a], out)),
        (DType::Half, DType::Half) => half_of_two(op, part, to_bool, [a, b], out),
        (DType::Float, DType::Float) => real_of_two::<f32>(op, part, to_bool, [a, b], out),
        (DType::Double, DType::Double) => real_of_two::<f64>(op, part, to_bool, [a, b], out),
        (DType::ComplexFloat, _) => complex_of_two::<f32>(op, to_bool, [a, b], out),
        (DType::ComplexDouble, _) => complex_of_two::<f64>(op, to_bool, [a, b], out),
        (DType::Float, DType::Int) => scaled::<f32>(op).map(|(kernel, _)| run_two(op, kernel.slices, [a, b], out)),
        (DType::Float, DType::Long) => scaled::<f32>(op).map(|(_, kernel)| run_two(op, kernel.slices, [a, b], out)),
        (DType::Double, DType::Int) => scaled::<f64>(op).map(|(kernel, _)| run_two(op, kernel.slices, [a, b], out)),
        (DType::Double, DType::Long) => scaled::<f64>(op).map(|(_, kernel)| run_two(op, kernel.slices, [a, b], out)),
        (DType::Half, _) => Some(scaled_half([a, b], out)),
        (whole, _) => each_whole!(whole, T => whole_of_two::<T>(op, part, to_bool, [a, b], out), None),
    }
}

/// Scales half-precision numbers in single precision.
fn scaled_half([a, b]: [&Array; 2], out: &Array) -> Result<FpFlags> {
    let wide = a.copied(Descr::native(DType::Float), Order::C)?;
    let exponents = b.copied(Descr::LONG, Order::C)?;
    let Some((_, kernel)) = scaled::<f32>(Op::Ldexp) else { return Ok(FpFlags::NONE) };
    let result = Array::unwritten(out.shape(), Descr::native(DType::Float), false)?;
    let flags = run_two(Op::Ldexp, kernel.slices, [&wide, &exponents], &result)?;
    out.assign(&result)?;
    Ok(flags)
}

fn whole_of_two<T: Whole + Cell + Compared>(
    op: Op,
    part: usize,
    to_bool: bool,
    pair: [&Array; 2],
    out: &Array,
) -> Option<Result<FpFlags>> {
    if to_bool {
        return relation::<T>(op).map(|kernel| run_two(op, kernel.slices, pair, out));
    }
    two_integers::<T>(op, part).map(|kernel| run_two(op, kernel.slices, pair, out))
}

fn real_of_two<T: Real + Cell + Compared>(
    op: Op,
    part: usize,
    to_bool: bool,
    pair: [&Array; 2],
    out: &Array,
) -> Option<Result<FpFlags>> {
    if to_bool {
        return relation::<T>(op).map(|kernel| run_two(op, kernel.slices, pair, out));
    }
    two_reals::<T>(op, part).map(|kernel| run_two(op, kernel.slices, pair, out))
}

fn half_of_two(op: Op, part: usize, to_bool: bool, pair: [&Array; 2], out: &Array) -> Option<Result<FpFlags>> {
    if let Some(kernel) = two_halves(op) {
        return Some(run_two(op, kernel.slices, pair, out));
    }
    if to_bool {
        return relation::<f32>(op).map(|kernel| run_half_two(op, kernel.slices, pair, out));
    }
    extremes(op).or_else(|| two_reals::<f32>(op, part)).map(|kernel| run_half_two(op, kernel.slices, pair, out))
}

fn complex_of_two<T: Real + Cell>(op: Op, to_bool: bool, pair: [&Array; 2], out: &Array) -> Option<Result<FpFlags>>
where
    Complex<T>: Cell + Compared,
{
    if to_bool {
        return relation::<Complex<T>>(op).map(|kernel| run_two(op, kernel.slices, pair, out));
    }
    let plain = is_plain(&[pair[0], pair[1], out]);
    plain_two::<T>(op)
        .filter(|_| plain)
        .or_else(|| two_complex::<T>(op))
        .map(|kernel| run_two(op, kernel.slices, pair, out))
}

/// Returns whether NumPy computes with single numbers instead of vectors: scalars, and elements in reverse.
fn is_plain(arrays: &[&Array]) -> bool {
    arrays.iter().all(|array| array.ndim() == 0)
        || arrays.iter().any(|array| array.places.strides.last().is_some_and(|&stride| stride < 0))
}

fn three(op: Op, arrays: [&Array; 3], out: &Array) -> Result<FpFlags> {
    fn of<T: Cell + Clipped>(op: Op, arrays: [&Array; 3], out: &Array) -> Result<FpFlags> {
        run_three(op, clip::<T>(), arrays, out)
    }
    match out.descr.dtype {
        DType::Bool => of::<tensor::memory::BoolByte>(op, arrays, out),
        DType::Float => of::<f32>(op, arrays, out),
        DType::Double => of::<f64>(op, arrays, out),
        DType::ComplexFloat => of::<Complex<f32>>(op, arrays, out),
        DType::ComplexDouble => of::<Complex<f64>>(op, arrays, out),
        DType::Half => {
            let [a, b, c] = arrays.map(|array| array.copied(Descr::native(DType::Float), Order::C));
            let (a, b, c) = (a?, b?, c?);
            let result = Array::unwritten(out.shape(), Descr::native(DType::Float), false)?;
            run_three(op, clip_half(), [&a, &b, &c], &result)?;
            out.assign(&result)?;
            Ok(FpFlags::NONE)
        }
        whole => each_whole!(whole, T => of::<T>(op, arrays, out), Ok(FpFlags::NONE)),
    }
}

/// Returns whether an integer power has a negative exponent.
pub(super) fn has_negative(exponents: &Array) -> Result<bool> {
    if exponents.descr.kind() != Kind::Signed {
        return Ok(false);
    }
    let memory = exponents.memory()?;
    for (at, offset) in exponents.offsets().enumerate() {
        tensor::interrupt::check_at(at)?;
        if exponents.read_at(&memory, offset).to_i64() < 0 {
            return Ok(true);
        }
    }
    Ok(false)
}
