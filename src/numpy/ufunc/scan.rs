//! `accumulate`, `reduceat` and `at`: running results, results of slices, and changes in place.

use super::call::fitted;
use super::flags::FpFlags;
use super::fold::{Line, Reduced};
use super::reduce::{check, check_exponents, check_reducible, reduction_dtype, scalar_error, slowest_first};
use super::resolve::{In, resolve};
use super::run::Cell;
use super::table::Ufunc;
use crate::array::Array;
use crate::descr::{Casting, Descr};
use crate::element::{Item, each};
use crate::strided::{Strided, show};
use tensor::{DType, Dims, Error, Result, bail, interrupt};

/// Allocates a result with the dimensions in the order of the input's.
///
/// NumPy's iterator does not see the input's stride along `beside`.
fn new_result(input: &Array, shape: &[i64], dtype: DType, beside: Option<usize>) -> Result<Array> {
    let mut own = input.places.strides.clone();
    if let Some(stride) = beside.and_then(|axis| own.get_mut(axis)) {
        *stride = 0;
    }
    let order = slowest_first(input.shape(), &[&own]);
    let dense = Array::unwritten(shape, Descr::native(dtype), false)?;
    let mut strides = Dims::from_elem(0, shape.len());
    let mut step = dense.itemsize() as i64;
    for &d in order.iter().rev() {
        strides[d] = step;
        step = step.saturating_mul(shape[d].max(1));
    }
    Ok(dense.at(Strided { shape: Dims::from_slice(shape), strides, offset: 0 }))
}

/// Returns the output to compute into: the caller's if that is possible.
fn target(input: &Array, shape: &[i64], dtype: DType, beside: Option<usize>, out: Option<&Array>) -> Result<Array> {
    match out {
        Some(out) if out.shape() != shape => Err(Error::value(format!(
            "operands could not be broadcast together with remapped shapes [original->remapped]: {}->({}) ({}) ",
            show(out.shape()),
            out.shape().iter().map(i64::to_string).collect::<Vec<_>>().join(","),
            shape.iter().map(i64::to_string).collect::<Vec<_>>().join(",")
        ))),
        Some(out) if out.descr == Descr::native(dtype) && !out.may_share(input) => Ok(out.clone()),
        _ => new_result(input, shape, dtype, beside),
    }
}

/// Stores a result in the caller's output, unless it was computed there.
fn stored(result: Array, out: Option<Array>) -> Result<Array> {
    match out {
        Some(out) => {
            out.assign(&result)?;
            Ok(out)
        }
        None => Ok(result),
    }
}

/// Returns the result of every element along an axis with all elements before it.
///
/// # Errors
/// ValueError and TypeError in NumPy's words; MemoryError; KeyboardInterrupt.
pub(crate) fn accumulate(
    ufunc: &'static Ufunc,
    array: &Array,
    axis: usize,
    dtype: Option<Descr>,
    out: Option<Array>,
) -> Result<(Array, FpFlags)> {
    check_reducible(ufunc, "accumulate")?;
    if array.ndim() == 0 {
        return Err(scalar_error("accumulate"));
    }
    let dtype = reduction_dtype(ufunc, array.descr, dtype, out.as_ref().map(|out| out.descr))?;
    let input = fitted(array, dtype)?;
    check_exponents(ufunc, &input)?;
    let result = target(array, array.shape(), dtype, None, out.as_ref())?;
    let flags = each!(dtype, T => accumulate_in::<T>(ufunc, &input, axis, &result))?;
    Ok((stored(result, out)?, flags))
}

fn accumulate_in<T: Reduced + Item + Cell>(ufunc: &Ufunc, input: &Array, axis: usize, out: &Array) -> Result<FpFlags> {
    let Some(reducer) = T::reducer(ufunc.op) else { return Err(unsupported(ufunc)) };
    let count = input.shape().get(axis).copied().unwrap_or(0);
    if input.count() == 0 {
        return Ok(FpFlags::NONE);
    }
    let (from, to) = (input.memory()?, out.memory()?);
    let starts = [input, out].map(|array| array.places.select(axis, 0));
    let steps = [input, out].map(|array| array.places.strides[axis]);
    let [sources, targets] = starts.map(|places| Array { places, ..input.clone() });
    let mut visited = 0usize;
    for (source, target) in sources.offsets().zip(targets.offsets()) {
        let mut total = T::default();
        for i in 0..count {
            visited += 1;
            interrupt::check_at(visited)?;
            let value = read::<T>(&from, source + i * steps[0]);
            total = if i == 0 { value } else { (reducer.one)(total, value) };
            write::<T>(&to, target + i * steps[1], total);
        }
    }
    check::<T>(ufunc.op, input, out)
}

fn read<T: Item>(memory: &tensor::Memory, offset: i64) -> T {
    memory.typed::<T>().get((offset / size_of::<T>() as i64) as usize).map(tensor::memory::get).unwrap_or_default()
}

fn write<T: Item>(memory: &tensor::Memory, offset: i64, value: T) {
    if let Some(cell) = memory.typed::<T>().get((offset / size_of::<T>() as i64) as usize) {
        tensor::memory::set(cell, value);
    }
}

fn unsupported(ufunc: &Ufunc) -> Error {
    Error::not_implemented(format!("ufunc '{}' is not supported here for these dtypes", ufunc.name))
}

/// Returns the result of each slice along an axis: from one index to the next, or a single element if the next is not
/// larger.
///
/// # Errors
/// IndexError, ValueError and TypeError in NumPy's words; MemoryError; KeyboardInterrupt.
pub(crate) fn reduceat(
    ufunc: &'static Ufunc,
    array: &Array,
    indices: &[i64],
    axis: usize,
    dtype: Option<Descr>,
    out: Option<Array>,
) -> Result<(Array, FpFlags)> {
    check_reducible(ufunc, "reduceat")?;
    if array.ndim() == 0 {
        return Err(scalar_error("reduceat"));
    }
    let count = array.shape().get(axis).copied().unwrap_or(0);
    if let Some(index) = indices.iter().find(|index| !(0..count).contains(*index)) {
        bail!(IndexError, "index {index} out-of-bounds in {}.reduceat [0, {count})", ufunc.name);
    }
    let dtype = reduction_dtype(ufunc, array.descr, dtype, out.as_ref().map(|out| out.descr))?;
    let input = fitted(array, dtype)?;
    check_exponents(ufunc, &input)?;
    let mut shape = Dims::from_slice(array.shape());
    shape[axis] = indices.len() as i64;
    let result = target(array, &shape, dtype, Some(axis), out.as_ref())?;
    let flags = each!(dtype, T => reduceat_in::<T>(ufunc, &input, indices, axis, &result))?;
    Ok((stored(result, out)?, flags))
}

fn reduceat_in<T: Reduced + Item + Cell>(
    ufunc: &Ufunc,
    input: &Array,
    indices: &[i64],
    axis: usize,
    out: &Array,
) -> Result<FpFlags> {
    let Some(reducer) = T::reducer(ufunc.op) else { return Err(unsupported(ufunc)) };
    let unaligned = || Error::runtime("an operand of a reduction is not aligned");
    let from = input.memory()?;
    let to = out.memory()?;
    if input.count() == 0 || out.count() == 0 {
        return Ok(FpFlags::NONE);
    }
    let count = input.shape()[axis];
    let layout = input.signed().ok_or_else(unaligned)?;
    let (step, out_step) = (layout.strides[axis], out.places.strides[axis]);
    let size = size_of::<T>() as i64;
    let sources = input.at(input.places.select(axis, 0));
    let targets = out.at(out.places.select(axis, 0));
    let places: Vec<(i64, i64)> = sources.offsets().map(|offset| offset / size).zip(targets.offsets()).collect();
    let results = tensor::parallel::reading::<T, _>(&from, |items| {
        let mut results = Vec::with_capacity(places.len() * indices.len());
        for (start, target) in places {
            for (k, &first) in indices.iter().enumerate() {
                interrupt::check_at(k)?;
                let end = indices.get(k + 1).copied().unwrap_or(count);
                let line = Line { items, first: start + first * step, step, count: (end - first).max(1) as usize };
                let value = match line.count {
                    1 => line.at(0),
                    more => (reducer.fold)(line.at(0), line.part(1, more - 1)),
                };
                results.push((target + k as i64 * out_step, value));
            }
        }
        Ok(results)
    });
    for (target, value) in results.ok_or_else(unaligned)?? {
        write::<T>(&to, target, value);
    }
    check::<T>(ufunc.op, input, out)
}

/// Applies a function to the elements of `target` at these byte offsets, one after another: an element that occurs
/// twice changes twice. `values` are the second operands, one for each offset.
///
/// # Errors
/// TypeError and ValueError in NumPy's words; KeyboardInterrupt.
pub(crate) fn at(ufunc: &'static Ufunc, target: &Array, offsets: &[i64], values: Option<&Array>) -> Result<FpFlags> {
    if ufunc.nin == 2 && values.is_none() {
        bail!(ValueError, "second operand needed for ufunc");
    }
    let mut ins = vec![In::Array(target.descr)];
    ins.extend(values.map(|values| In::Array(values.descr)));
    let types = resolve(ufunc, &ins, None, Casting::Unsafe, None)?;
    let result = Descr::native(types.last().copied().unwrap_or(target.descr.dtype));
    let memory = target.memory()?;
    let own = Descr::native(types.first().copied().unwrap_or(result.dtype));
    let second = match (values, types.get(1)) {
        (Some(values), Some(&dtype)) => Some(fitted(values, dtype)?),
        _ => None,
    };
    let mut flags = FpFlags::NONE;
    let mut others = second.as_ref().map(Array::offsets);
    // Loops of one dtype apply the function of two elements; others call the whole function for each.
    let single = types.len() == 3 && types.iter().all(|&dtype| dtype == own.dtype);
    if let (true, Some(second)) = (single, &second) {
        let beside = second.memory()?;
        check_exponents(ufunc, second)?;
        let done = each!(own.dtype, T => match <T as Reduced>::reducer(ufunc.op) {
            None => false,
            Some(reducer) => {
                for (k, &offset) in offsets.iter().enumerate() {
                    interrupt::check_at(k)?;
                    let Some(other) = others.as_mut().and_then(Iterator::next) else { break };
                    let before = <T as Item>::store(target.read_at(&memory, offset));
                    let (a, b) = (before, read::<T>(&beside, other));
                    let after = (reducer.one)(a, b);
                    flags |= super::run::check_two(ufunc.op, &[a], &[b], &[after]);
                    target.write_at(&memory, offset, after.load());
                }
                true
            }
        });
        if done {
            return Ok(flags);
        }
    }
    let one = Array::zeros(&[], own, false)?;
    let out = Array::zeros(&[], result, false)?;
    for (k, &offset) in offsets.iter().enumerate() {
        interrupt::check_at(k)?;
        one.put(0, target.read_at(&memory, offset))?;
        let beside = match (&second, others.as_mut().and_then(Iterator::next)) {
            (Some(second), Some(offset)) => {
                Some(second.at(Strided { shape: Dims::new(), strides: Dims::new(), offset }))
            }
            _ => None,
        };
        let operands: Vec<&Array> = std::iter::once(&one).chain(&beside).collect();
        flags |= super::dispatch::compute(ufunc, 0, &operands, &out)?;
        target.write_at(&memory, offset, out.item()?);
    }
    Ok(flags)
}
