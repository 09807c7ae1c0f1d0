//! Sorting, searching and the largest elements, along one dimension. NaN is larger than all numbers, as in NumPy.
//! Follows <https://numpy.org/doc/2.4/reference/routines.sort.html>.

use crate::array::{Array, Order};
use crate::descr::{Descr, Kind};
use crate::index::integers;
use crate::strided::Strided;
use std::cmp::Ordering;
use tensor::{Dims, Result, Scalar, interrupt, limits};

/// Compares two elements of one dtype.
pub(crate) fn compare(a: Scalar, b: Scalar) -> Ordering {
    let floats = |a: f64, b: f64| match a.partial_cmp(&b) {
        Some(order) => order,
        None => a.is_nan().cmp(&b.is_nan()),
    };
    match (a, b) {
        (Scalar::Float(a), Scalar::Float(b)) => floats(a, b),
        (Scalar::Complex(a), Scalar::Complex(b)) => {
            // Numbers with a NaN come last, those with a NaN in the imaginary part before the others.
            let rank = |c: num_complex::Complex<f64>| u8::from(c.re.is_nan()) * 2 + u8::from(c.im.is_nan());
            match (rank(a), rank(b)) {
                (0, 0) => floats(a.re, b.re).then(floats(a.im, b.im)),
                (x, y) if x != y => x.cmp(&y),
                (1, _) => floats(a.re, b.re),
                (2, _) => floats(a.im, b.im),
                _ => Ordering::Equal,
            }
        }
        (Scalar::UInt(a), Scalar::UInt(b)) => a.cmp(&b),
        (Scalar::UInt(_), _) => Ordering::Greater,
        (_, Scalar::UInt(_)) => Ordering::Less,
        (a, b) => a.to_i64().cmp(&b.to_i64()),
    }
}

/// Calls `each` with the elements of every line along a dimension, in row-major order of the other dimensions.
fn lines(array: &Array, axis: usize, mut each: impl FnMut(&mut Vec<Scalar>) -> Result<()>) -> Result<()> {
    let (size, stride) = (array.shape()[axis], array.places.strides[axis]);
    let starts = array.at(array.places.select(axis, 0));
    if array.count() == 0 {
        return Ok(());
    }
    let memory = array.memory()?;
    let mut line = limits::list(limits::count(size))?;
    for start in starts.offsets() {
        interrupt::check()?;
        line.clear();
        for i in 0..size {
            interrupt::check_at(i as usize)?;
            line.push(array.read_at(&memory, start + i * stride));
        }
        each(&mut line)?;
    }
    Ok(())
}

/// Sorts an array in place along a dimension.
///
/// # Errors
/// KeyboardInterrupt; MemoryError if there is not enough memory.
pub(crate) fn sort(array: &Array, axis: usize) -> Result<()> {
    if array.count() == 0 {
        return Ok(());
    }
    // Numbers that are equal cannot be told apart, so the core's sort serves, whatever its order among equals.
    if let Some(view) = array.view()
        && array.descr.kind() != Kind::Complex
    {
        let (sorted, _) = tensor::ops::sort::sort(&view, axis as i64, false, false)?;
        if let Some(sorted) = Array::of_view(&sorted) {
            return array.assign(&sorted);
        }
    }
    sort_slowly(array, axis)
}

/// Like [`sort`], element by element.
pub(crate) fn sort_slowly(array: &Array, axis: usize) -> Result<()> {
    let stride = array.places.strides[axis];
    let memory = array.memory()?;
    let starts: Vec<i64> = array.at(array.places.select(axis, 0)).offsets().collect();
    let mut next = starts.into_iter();
    lines(array, axis, |line| {
        line.sort_by(|a, b| compare(*a, *b));
        if let Some(start) = next.next() {
            for (i, value) in line.iter().enumerate() {
                array.write_at(&memory, start + i as i64 * stride, *value);
            }
        }
        Ok(())
    })
}

/// Returns the positions that sort an array along a dimension; equal elements keep their order.
///
/// # Errors
/// Those of [`sort`].
pub(crate) fn argsort(array: &Array, axis: usize) -> Result<Array> {
    let size = array.shape()[axis];
    let mut all: Vec<i64> = limits::list(limits::count(array.count()))?;
    let mut positions: Vec<i64> = Vec::new();
    lines(array, axis, |line| {
        positions.clear();
        positions.extend(0..size);
        positions.sort_by(|a, b| compare(line[*a as usize], line[*b as usize]));
        all.extend_from_slice(&positions);
        Ok(())
    })?;
    along(array.shape(), axis, &all)
}

/// Returns an array of `int64` whose lines along a dimension are given one after the other.
fn along(shape: &[i64], axis: usize, lines: &[i64]) -> Result<Array> {
    let result = Array::zeros(shape, Descr::LONG, false)?;
    if result.count() == 0 {
        return Ok(result);
    }
    let mut order: Vec<usize> = (0..shape.len()).filter(|&d| d != axis).collect();
    order.push(axis);
    let turned = result.places.permuted(&order);
    let flat = integers(&turned.shape, lines)?;
    result.at(turned).assign(&flat)?;
    Ok(result)
}

/// Returns the position of the first largest (or smallest) element of each line; NaN counts as both.
///
/// # Errors
/// KeyboardInterrupt.
pub(crate) fn extreme(array: &Array, axis: usize, largest: bool) -> Result<Array> {
    let mut all = Vec::new();
    let is_nan = |value: Scalar| match value {
        Scalar::Float(f) => f.is_nan(),
        Scalar::Complex(c) => c.re.is_nan() || c.im.is_nan(),
        _ => false,
    };
    lines(array, axis, |line| {
        let mut best = 0;
        for (i, value) in line.iter().enumerate().skip(1) {
            if is_nan(line[best]) {
                break;
            }
            let order = compare(*value, line[best]);
            if is_nan(*value) || if largest { order.is_gt() } else { order.is_lt() } {
                best = i;
            }
        }
        all.push(best as i64);
        Ok(())
    })?;
    let mut shape = array.places.shape.clone();
    shape.remove(axis);
    integers(&shape, &all)
}

/// Returns where values would be inserted into a sorted line: before equal elements, or behind them.
///
/// # Errors
/// KeyboardInterrupt.
pub(crate) fn searchsorted(line: &[Scalar], values: &Array, right: bool) -> Result<Array> {
    let found: Vec<i64> = values
        .scalars()?
        .into_iter()
        .map(|value| {
            line.partition_point(|item| match compare(*item, value) {
                Ordering::Less => true,
                Ordering::Equal => right,
                Ordering::Greater => false,
            }) as i64
        })
        .collect();
    integers(values.shape(), &found)
}

/// Returns all elements in one dimension, in row-major order.
///
/// # Errors
/// MemoryError if there is not enough memory.
pub(crate) fn flat(array: &Array) -> Result<Array> {
    let dense = if array.is_c() { array.clone() } else { array.copied(array.descr, Order::C)? };
    let places = Strided {
        shape: Dims::from_slice(&[dense.count()]),
        strides: Dims::from_slice(&[dense.itemsize() as i64]),
        offset: dense.places.offset,
    };
    Ok(dense.at(places))
}
