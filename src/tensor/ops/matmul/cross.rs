//! Relatives of matrix products with few terms: cross products, traces, distances between rows.

use super::{bmm, expected_dtype, mm};
use crate::bail;
use crate::layout::broadcast_sizes;
use crate::ops::block::values;
use crate::ops::check::{same_device, size_at};
use crate::ops::compose::Math;
use crate::ops::copy::{cast, contiguous, copy_into, fill};
use crate::ops::join::cat;
use crate::ops::pointwise::{BinaryOp, Output, UnaryOp, binary, check_kernel, clamp, classes};
use crate::ops::promote::Operand;
use crate::ops::reduce::sum;
use crate::ops::view;
use crate::parallel::{self, vectorised};
use crate::{DType, Error, Result, Scalar, View, interrupt};
use num_complex::Complex;

/// Computes the cross products of vectors of three elements along a dimension, like
/// [`torch.linalg.cross`](https://pytorch.org/docs/2.7/generated/torch.linalg.cross.html).
///
/// # Errors
/// RuntimeError for other lengths, sizes that do not broadcast, differing dtypes and unsupported dtypes.
pub fn cross(a: &View, b: &View, dim: i64) -> Result<View> {
    if a.ndim() != b.ndim() {
        bail!(RuntimeError, "linalg.cross: inputs must have the same number of dimensions.");
    }
    let (_, length) = size_at(&a.layout, dim)?;
    let (_, other) = size_at(&b.layout, dim)?;
    if (length, other) != (3, 3) {
        bail!(RuntimeError, "linalg.cross: inputs dimension {dim} must have length 3. Got {length} and {other}");
    }
    let sizes = broadcast_sizes(a.sizes(), b.sizes())?;
    let out = View::zeros(&sizes, a.dtype, a.device())?;
    if out.device().is_meta() {
        return Ok(out);
    }
    same_device(a, b)?;
    if a.dtype != b.dtype {
        return expected_dtype(a.dtype, b.dtype);
    }
    check_kernel("cross", classes::NUMBERS | classes::COMPLEX, a.dtype)?;
    let (a, b) = (view::expand(a, &sizes)?, view::expand(b, &sizes)?);
    let on = |op, a: &View, b: &View| binary(op, Operand::Tensor(a), Operand::Tensor(b), Output::New, a.dtype);
    for i in 0..3 {
        let (j, k) = ((i + 1) % 3, (i + 2) % 3);
        let part = |v: &View, place: i64| view::select(v, dim, place);
        let first = on(BinaryOp::Mul, &part(&a, j)?, &part(&b, k)?)?;
        let second = on(BinaryOp::Mul, &part(&a, k)?, &part(&b, j)?)?;
        copy_into(&part(&out, i)?, &on(BinaryOp::Sub, &first, &second)?)?;
    }
    Ok(out)
}

/// Sums a matrix's diagonal; integers are summed in `int64`.
///
/// # Errors
/// RuntimeError unless there are two dimensions, and for unsupported dtypes.
pub fn trace(matrix: &View) -> Result<View> {
    if matrix.ndim() != 2 {
        bail!(RuntimeError, "trace: expected a matrix, but got tensor with dim {}", matrix.ndim());
    }
    let dtype = matrix.dtype.sum_result();
    if matrix.device().is_meta() {
        return View::zeros(&[], dtype, matrix.device());
    }
    let lacking = matrix.dtype.is_reduced_floating_point();
    check_kernel("trace", if lacking { 0 } else { classes::NUMBERS | classes::COMPLEX }, matrix.dtype)?;
    let diagonal = view::diagonal(matrix, 0, 0, 1)?.scalars()?;
    let sum = match dtype {
        DType::Long => Scalar::Int(diagonal.iter().fold(0i64, |sum, value| sum.wrapping_add(value.to_i64()))),
        d if d.is_complex() => Scalar::Complex(diagonal.iter().fold(Complex::default(), |sum, v| sum + v.to_complex())),
        _ => Scalar::Float(diagonal.iter().map(|value| value.to_f64()).fold(0.0, |sum, value| sum + value)),
    };
    View::scalar(sum, dtype)
}

/// Whether Euclidean distances are computed by a matrix product, which is faster but loses digits of short distances.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum ByProduct {
    Always,
    /// For more than 25 rows.
    IfLarge,
    Never,
}

const MANY: i64 = 25;

/// Computes the distance of order `p` between each row of one batch and each row of another, like
/// [`torch.cdist`](https://pytorch.org/docs/2.7/generated/torch.cdist.html).
///
/// # Errors
/// RuntimeError for fewer than two dimensions, sizes that do not match, negative orders and unsupported dtypes.
pub fn cdist(a: &View, b: &View, p: f64, by_product: ByProduct) -> Result<View> {
    for (name, v) in [("X1", a), ("X2", b)] {
        if v.ndim() < 2 {
            bail!(RuntimeError, "cdist only supports at least 2D tensors, {name} got: {}D", v.ndim());
        }
    }
    let ((_, columns), (_, other)) = (size_at(&a.layout, -1)?, size_at(&b.layout, -1)?);
    if columns != other {
        bail!(RuntimeError, "X1 and X2 must have the same number of columns. X1: {columns} X2: {other}");
    }
    for (name, v) in [("X1", a), ("X2", b)] {
        if !v.dtype.is_floating_point() {
            bail!(RuntimeError, "cdist only supports floating-point dtypes, {name} got: {}", v.dtype.scalar_type());
        }
    }
    if p < 0.0 {
        bail!(RuntimeError, "cdist only supports non-negative p values");
    }
    let (rows, others) = (size_at(&a.layout, -2)?.1, size_at(&b.layout, -2)?.1);
    let mut sizes = broadcast_sizes(&a.sizes()[..a.ndim() - 2], &b.sizes()[..b.ndim() - 2])?;
    let spread = |v: &View, rows: i64| {
        let mut sizes = sizes.clone();
        sizes.extend_from_slice(&[rows, columns]);
        view::expand(v, &sizes)
    };
    let (left, right) = (spread(a, rows)?, spread(b, others)?);
    sizes.extend_from_slice(&[rows, others]);
    let out = View::zeros(&sizes, a.dtype, a.device())?;
    if out.device().is_meta() || out.numel() == 0 || columns == 0 {
        return Ok(out);
    }
    same_device(a, b)?;
    if a.dtype != b.dtype {
        return expected_dtype(a.dtype, b.dtype);
    }
    let is_large = rows > MANY || others > MANY;
    if p == 2.0 && (by_product == ByProduct::Always || by_product == ByProduct::IfLarge && is_large) {
        return euclidean(&left, &right, out.sizes());
    }
    let lacking = a.dtype.is_reduced_floating_point();
    check_kernel("cdist", if lacking { 0 } else { classes::FLOAT }, a.dtype)?;
    let numbers = |v: &View| values::<f64>(&contiguous(&cast(v, DType::Double)?)?);
    // The second side is transposed, so that the distances from one row to many are summed side by side.
    let (left, right) = (numbers(&left)?, numbers(&view::transpose(&right, -2, -1)?)?);
    let (columns, rows, others) = (columns as usize, rows as usize, others as usize);
    let result = View::unwritten(out.sizes(), DType::Double, out.device())?;
    let length = out.numel() as usize;
    parallel::writing::<f64, _>(&*result.memory()?, 0..length, |distances| {
        parallel::parts_of(distances, others, length.saturating_mul(columns), &|start, part| {
            let row = start / others;
            let x = left.get(row * columns..(row + 1) * columns).unwrap_or_default();
            part.fill(0.0);
            add_distances(part, x, right.get(row / rows * columns * others..).unwrap_or_default(), p)
        })
    })
    .unwrap_or_else(|| Err(Error::runtime("distances have no memory")))?;
    if a.dtype == DType::Double { Ok(result) } else { cast(&result, a.dtype) }
}

/// Computes distances between the rows of two batches by PyTorch's formula: the squared norms minus twice the products.
fn euclidean(a: &View, b: &View, sizes: &[i64]) -> Result<View> {
    let math = Math(a.dtype);
    let square = |v: &View| -> Result<(View, View)> {
        let squares = math.mul(v, v)?;
        let lengths = sum(&squares, Some(&[-1]), true, None)?;
        let ones = View::zeros(lengths.sizes(), v.dtype, v.device())?;
        fill(&ones, Scalar::Int(1))?;
        Ok((lengths, ones))
    };
    let ((a_lengths, a_ones), (b_lengths, b_ones)) = (square(a)?, square(b)?);
    let left = cat(&[math.mul(a, Operand::Number(Scalar::Int(-2)))?, a_lengths, a_ones], -1)?;
    let right = cat(&[b.clone(), b_ones, b_lengths], -1)?;
    let right = view::transpose(&right, -2, -1)?;
    let product = match a.ndim() {
        2 => mm(&left, &right)?,
        _ => {
            let batch = |v: &View| match v.sizes() {
                [.., rows, columns] => view::reshape(v, &[-1, *rows, *columns]),
                _ => Ok(v.clone()),
            };
            view::reshape(&bmm(&batch(&left)?, &batch(&right)?)?, sizes)?
        }
    };
    let least = [Some(Scalar::Int(0)), None];
    math.unary(UnaryOp::Sqrt, &clamp(&product, least, Output::New, a.dtype)?)
}

/// Writes the distances of `x` from the columns of a row-major matrix.
fn add_distances(into: &mut [f64], x: &[f64], columns: &[f64], p: f64) -> Result<()> {
    fn fold(into: &mut [f64], x: &[f64], columns: &[f64], add: impl Fn(f64, f64) -> f64 + Copy) -> Result<()> {
        let width = into.len().max(1);
        let most = (interrupt::STRIDE / width).max(1);
        for (x, rows) in x.chunks(most).zip(columns.chunks(most * width)) {
            interrupt::check()?;
            vectorised(|| {
                for (x, row) in x.iter().zip(rows.chunks_exact(width)) {
                    into.iter_mut().zip(row).for_each(|(sum, y)| *sum = add(*sum, (x - y).abs()));
                }
            });
        }
        Ok(())
    }
    match p {
        0.0 => fold(into, x, columns, |sum, gap| if gap == 0.0 { sum } else { sum + 1.0 })?,
        1.0 => fold(into, x, columns, |sum, gap| sum + gap)?,
        2.0 => fold(into, x, columns, |sum, gap| sum + gap * gap)?,
        // Unlike `f64::max`, this propagates NaN.
        f64::INFINITY => fold(into, x, columns, |most, gap| if gap.is_nan() || gap > most { gap } else { most })?,
        p => fold(into, x, columns, |sum, gap| sum + gap.powf(p))?,
    }
    let finish = |sum: f64| if p == 2.0 { sum.sqrt() } else { sum.powf(1.0 / p) };
    if p != 0.0 && p != 1.0 && p != f64::INFINITY {
        into.iter_mut().for_each(|sum| *sum = finish(*sum));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Distances side by side, on any number of cores, are the sums written out.
    #[test]
    fn distances_are_those_of_single_pairs() {
        let number = |k: usize| ((k * 37 + 11) % 101) as f64 / 7.0 - 5.0;
        for (batches, rows, others, columns) in
            [(1, 1, 1, 1), (1, 3, 1, 40), (1, 5, 9, 3), (2, 4, 33, 17), (3, 70, 8, 65)]
        {
            let view = |rows: usize, seed: usize| {
                let values: Vec<_> =
                    (0..batches * rows * columns).map(|k| Scalar::Float(number(k * k + seed))).collect();
                View::from_scalars(&[batches as i64, rows as i64, columns as i64], DType::Double, values).unwrap()
            };
            let (a, b) = (view(rows, 1), view(others, 2));
            let (x, y) = (values::<f64>(&a).unwrap(), values::<f64>(&b).unwrap());
            for p in [0.0, 1.0, 2.0, 3.5, f64::INFINITY] {
                let mut wanted = Vec::new();
                for (i, x) in x.chunks(columns).enumerate() {
                    for y in y.chunks(columns).skip(i / rows * others).take(others) {
                        let gaps = x.iter().zip(y).map(|(x, y)| (x - y).abs());
                        wanted.push(match p {
                            0.0 => gaps.filter(|&gap| gap != 0.0).count() as f64,
                            1.0 => gaps.fold(0.0, |sum, gap| sum + gap),
                            2.0 => gaps.fold(0.0, |sum, gap| sum + gap * gap).sqrt(),
                            f64::INFINITY => gaps.fold(0.0, f64::max),
                            p => gaps.fold(0.0, |sum, gap| sum + gap.powf(p)).powf(1.0 / p),
                        });
                    }
                }
                for cores in [1, 3] {
                    parallel::set_cores(cores);
                    let found = values::<f64>(&cdist(&a, &b, p, ByProduct::Never).unwrap()).unwrap();
                    assert_eq!(found, wanted, "{batches}, {rows}, {others}, {columns}, {p}, {cores}");
                }
                parallel::set_cores(0);
            }
        }
    }
}
