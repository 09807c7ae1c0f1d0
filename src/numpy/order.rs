//! Sorting, searching and the largest elements, along one dimension. NaN is larger than all numbers, as in NumPy.
//! Follows <https://numpy.org/doc/2.4/reference/routines.sort.html>.

mod lines;

use self::lines::sort_lines;
use crate::array::{Array, Order};
use crate::descr::{Descr, Kind};
use crate::index::integers;
use crate::strided::Strided;
use std::cmp::Ordering;
use tensor::{DType, Dims, Result, Scalar, interrupt, limits, parallel};

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
    // Lines side by side, in this memory if they are so already.
    let last = array.ndim() - 1;
    let order: Vec<usize> = (0..=last).filter(|&d| d != axis).chain([axis]).collect();
    let turned = array.at(array.places.permuted(&order));
    let lines = turned.copied(turned.descr.to_native(), Order::C)?;
    let length = limits::count(array.shape()[axis]);
    let memory = lines.memory()?;
    let count = limits::count(lines.count());
    let sorted = match lines.descr.dtype {
        // NumPy sorts short lines of these by insertion: equal elements keep their order.
        DType::Half | DType::ComplexFloat | DType::ComplexDouble => return sort_slowly(array, axis),
        DType::Float => parallel::writing::<f32, _>(&memory, 0..count, |all| sort_lines(all, length)),
        DType::Double => parallel::writing::<f64, _>(&memory, 0..count, |all| sort_lines(all, length)),
        DType::Char => parallel::writing::<i8, _>(&memory, 0..count, |all| sort_lines(all, length)),
        DType::Short => parallel::writing::<i16, _>(&memory, 0..count, |all| sort_lines(all, length)),
        DType::Int => parallel::writing::<i32, _>(&memory, 0..count, |all| sort_lines(all, length)),
        DType::Long => parallel::writing::<i64, _>(&memory, 0..count, |all| sort_lines(all, length)),
        DType::UInt16 => parallel::writing::<u16, _>(&memory, 0..count, |all| sort_lines(all, length)),
        DType::UInt32 => parallel::writing::<u32, _>(&memory, 0..count, |all| sort_lines(all, length)),
        DType::UInt64 => parallel::writing::<u64, _>(&memory, 0..count, |all| sort_lines(all, length)),
        _ => parallel::writing::<u8, _>(&memory, 0..count, |all| sort_lines(all, length)),
    };
    sorted.unwrap_or_else(|| sort_slowly(&lines, last))?;
    turned.assign(&lines)
}

/// Like [`sort`], element by element; equal elements keep their order.
fn sort_slowly(array: &Array, axis: usize) -> Result<()> {
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

/// The longest line that NumPy sorts by a network of comparisons.
const NETWORK: usize = 256;

/// Returns the positions that a bitonic network gives for a line: NumPy sorts elements of 4 and 8 bytes so, in vectors of
/// four, and the order of equal ones depends on it. The line is filled up with elements that are larger than all others.
fn network(line: &[Scalar]) -> Vec<i64> {
    let lanes = line.len().next_power_of_two().max(4);
    let mut places: Vec<usize> = (0..lanes).collect();
    let is_less = |a: usize, b: usize| match (line.get(a), line.get(b)) {
        (Some(&a), Some(&b)) => compare(a, b).is_lt(),
        (one, _) => one.is_some(),
    };
    let mut exchange = |low: usize, high: usize| {
        if is_less(places[high], places[low]) {
            places.swap(low, high);
        }
    };
    let mut size = 2;
    while size <= lanes {
        for start in (0..lanes).step_by(size) {
            (0..size / 2).for_each(|i| exchange(start + i, start + size - 1 - i));
        }
        let mut distance = size / 4;
        while distance > 0 {
            (0..lanes).filter(|i| i & distance == 0).for_each(|i| exchange(i, i + distance));
            distance /= 2;
        }
        size *= 2;
    }
    places.into_iter().filter(|&place| place < line.len()).map(|place| place as i64).collect()
}

/// Returns the positions that sort an array along a dimension. Equal elements keep their order if it is asked for.
///
/// # Errors
/// Those of [`sort`].
pub(crate) fn argsort(array: &Array, axis: usize, stable: bool) -> Result<Array> {
    let size = array.shape()[axis];
    let has_network = !stable && matches!(array.itemsize(), 4 | 8) && array.descr.kind() != Kind::Complex;
    let is_nan = |value: &Scalar| matches!(value, Scalar::Float(f) if f.is_nan());
    let mut all: Vec<i64> = limits::list(limits::count(array.count()))?;
    let mut positions: Vec<i64> = Vec::new();
    lines(array, axis, |line| {
        if has_network && line.len() <= NETWORK && !line.iter().any(is_nan) {
            all.extend(network(line));
            return Ok(());
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Sorts a copy by both ways.
    fn both(shape: &[i64], values: &[Scalar], dtype: DType, axis: usize) -> [Vec<Scalar>; 2] {
        let array = || Array::shaped(shape, values, Descr::native(dtype)).unwrap();
        let (quick, slow) = (array(), array());
        sort(&quick, axis).unwrap();
        sort_slowly(&slow, axis).unwrap();
        [quick, slow].map(|array| array.scalars().unwrap())
    }

    fn same(a: &[Scalar], b: &[Scalar]) -> bool {
        a.iter().zip(b).all(|(a, b)| compare(*a, *b) == Ordering::Equal)
    }

    #[test]
    fn numbers_are_sorted_along_any_dimension() {
        let special = [f64::NAN, -0.0, 0.0, f64::INFINITY, -f64::INFINITY, 1e300];
        for seed in 0..50u64 {
            let number = |i: u64| {
                let bits = (seed * 24 + i).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
                special.get(bits as usize % 20).copied().unwrap_or((bits % 97) as f64 - 48.0)
            };
            let values: Vec<Scalar> = (0..24).map(|i| Scalar::Float(number(i))).collect();
            for dtype in [DType::Double, DType::Float, DType::Char, DType::UInt64, DType::Long, DType::Bool] {
                for axis in 0..3 {
                    let [quick, slow] = both(&[2, 3, 4], &values, dtype, axis);
                    assert!(same(&quick, &slow), "{dtype:?} along {axis}: {quick:?} and {slow:?}");
                }
            }
        }
    }
}
