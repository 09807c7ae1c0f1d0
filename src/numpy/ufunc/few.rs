//! Operators on few elements at once, without the choice of a loop, broadcasting and the machinery of long loops: most
//! arrays at a prompt are small.

use super::compare::{Compared, relation};
use super::flags::FpFlags;
use super::integers::{Whole, two_integers};
use super::math::Real;
use super::reals::two_reals;
use super::run::{Cell, FEW, check_two, taken};
use super::table::{Op, Ufunc};
use crate::array::Array;
use crate::descr::{Descr, Weak};
use num_traits::FromPrimitive;
use tensor::memory::set;
use tensor::{DType, Scalar};

/// An operand: an array, or a number of a script.
#[derive(Clone, Copy)]
pub(crate) enum Short<'a> {
    Array(&'a Array),
    Number(Weak, Scalar),
}

type Kernel<T, R> = fn(&[T], &[T], &mut [R]);

/// Calls a ufunc on arrays of one shape and dtype, or on an array and a number. `None` if that is not so simple: many
/// elements, several dtypes, elements that are not side by side, and errors of arithmetic.
pub(crate) fn call_few(ufunc: &Ufunc, a: Short, b: Short) -> Option<Array> {
    let ((Short::Array(array), _) | (_, Short::Array(array))) = (a, b) else { return None };
    if array.ndim() == 0 || array.count() > FEW as i64 {
        return None;
    }
    if let (Short::Array(a), Short::Array(b)) = (a, b)
        && (a.descr != b.descr || a.shape() != b.shape())
    {
        return None;
    }
    let op = ufunc.op;
    let is_relation =
        matches!(op, Op::Equal | Op::NotEqual | Op::Less | Op::LessEqual | Op::Greater | Op::GreaterEqual);
    if !is_relation && !matches!(op, Op::Add | Op::Subtract | Op::Multiply | Op::Divide) {
        return None;
    }
    match array.descr.dtype {
        DType::Float => real::<f32>(op, is_relation, a, b, array),
        DType::Double => real::<f64>(op, is_relation, a, b, array),
        DType::Int => whole::<i32>(op, is_relation, a, b, array),
        DType::Long => whole::<i64>(op, is_relation, a, b, array),
        DType::Byte => whole::<u8>(op, is_relation, a, b, array),
        _ => None,
    }
}

fn real<T: Real + Cell + Compared>(op: Op, is_relation: bool, a: Short, b: Short, array: &Array) -> Option<Array> {
    let read = |number: Weak, value: Scalar| {
        let stored = T::store(value);
        (number != Weak::Complex && !stored.is_special()).then_some(stored)
    };
    match is_relation {
        true => run(op, relation::<T>(op)?.slices, [a, b], array, DType::Bool, read),
        false => run(op, two_reals::<T>(op, 0)?.slices, [a, b], array, array.descr.dtype, read),
    }
}

fn whole<T: Whole + Cell + Compared + FromPrimitive>(
    op: Op,
    is_relation: bool,
    a: Short,
    b: Short,
    array: &Array,
) -> Option<Array> {
    let read = |number: Weak, value: Scalar| match (number, value) {
        (Weak::Integer, Scalar::Int(value)) => T::from_i64(value),
        _ => None,
    };
    match is_relation {
        true => run(op, relation::<T>(op)?.slices, [a, b], array, DType::Bool, read),
        // The quotient of integers is a float.
        false if op == Op::Divide => None,
        false => run(op, two_integers::<T>(op, 0)?.slices, [a, b], array, array.descr.dtype, read),
    }
}

fn run<T: Cell, R: Cell>(
    op: Op,
    kernel: Kernel<T, R>,
    operands: [Short; 2],
    array: &Array,
    dtype: DType,
    number: impl Fn(Weak, Scalar) -> Option<T>,
) -> Option<Array> {
    let count = usize::try_from(array.count()).ok()?;
    let read = |operand: Short| match operand {
        Short::Array(array) if array.is_c() => taken::<T>(array, count),
        Short::Array(_) => None,
        Short::Number(weak, value) => number(weak, value).map(|number| [number; FEW]),
    };
    let (x, y) = (read(operands[0])?, read(operands[1])?);
    let (x, y) = (x.get(..count)?, y.get(..count)?);
    let mut results = [R::default(); FEW];
    let results = results.get_mut(..count)?;
    kernel(x, y, results);
    if check_two(op, x, y, results) != FpFlags::NONE {
        return None;
    }
    let out = Array::unwritten(array.shape(), Descr::native(dtype), false).ok()?;
    let memory = out.memory().ok()?;
    memory.typed::<R>().iter().zip(results).for_each(|(cell, result)| set(cell, *result));
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ufunc::{Operand, Options, call, find, reduce, reduce_few};

    const NUMBERS: [f64; 8] = [0.0, -1.0, 2.5, 1e300, -0.0, f64::NAN, f64::INFINITY, 7.0];

    fn arrays(dtype: DType) -> Vec<Array> {
        let shapes: [&[i64]; 8] = [&[], &[0], &[1], &[3], &[2, 4], &[32], &[33], &[1, 5]];
        let array = |shape: &&[i64]| {
            let count = shape.iter().product::<i64>() as usize;
            let number = |i: usize| match dtype.is_floating_point() {
                true => Scalar::Float(NUMBERS[i * 3 % 8]),
                false => Scalar::Int((i as i64 * 37) % 120),
            };
            Array::shaped(shape, &(0..count).map(number).collect::<Vec<_>>(), Descr::native(dtype)).unwrap()
        };
        shapes.iter().map(array).collect()
    }

    fn text(array: &Array) -> String {
        format!("{:?} {:?} {:?}", array.descr, array.shape(), array.scalars().unwrap())
    }

    #[test]
    fn few_elements_are_computed_as_many_are() {
        let mut compared = 0;
        for dtype in [DType::Float, DType::Double, DType::Int, DType::Long, DType::Byte, DType::Short, DType::Half] {
            let mut operands: Vec<(Short, Operand)> = Vec::new();
            let all = arrays(dtype);
            operands.extend(all.iter().map(|array| (Short::Array(array), Operand::Array(array.clone()))));
            let numbers = [0, 1, -1, 300, 1 << 40].map(|i| (Weak::Integer, Scalar::Int(i)));
            let floats = NUMBERS.map(|number| (Weak::Floating, Scalar::Float(number)));
            for (weak, value) in numbers.into_iter().chain(floats) {
                operands.push((Short::Number(weak, value), Operand::Weak(weak, value)));
            }
            for name in ["add", "subtract", "multiply", "divide", "equal", "not_equal", "less", "less_equal", "greater"]
            {
                let ufunc = find(name).unwrap();
                for (a, slow_a) in &operands {
                    for (b, slow_b) in &operands {
                        let Some(quick) = call_few(ufunc, *a, *b) else { continue };
                        let slow = call(ufunc, &[slow_a.clone(), slow_b.clone()], &Options::default()).unwrap();
                        assert!(slow.flags == FpFlags::NONE, "{name} of {slow_a:?} and {slow_b:?}");
                        assert_eq!(text(&quick), text(&slow.arrays[0]), "{name} of {slow_a:?} and {slow_b:?}");
                        compared += 1;
                    }
                }
            }
            for name in ["add", "multiply", "maximum", "minimum"] {
                let ufunc = find(name).unwrap();
                for array in &all {
                    let Some(quick) = reduce_few(ufunc, array) else { continue };
                    let (slow, flags) = reduce(ufunc, array, None, &Default::default()).unwrap();
                    assert!(flags == FpFlags::NONE, "{name} of {array:?}");
                    assert_eq!(
                        format!("{:?}", [quick]),
                        format!("{:?}", slow.scalars().unwrap()),
                        "{name} of {array:?}"
                    );
                    compared += 1;
                }
            }
        }
        assert!(compared > 500, "{compared}");
    }
}
