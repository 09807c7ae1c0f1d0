//! PyTorch's order of additions for one thread, written like its rule: four sums of every fourth step, on four levels,
//! in as many lanes as a vector has. Knows numbers and strides, but not memory, pieces, strips or threads.

use crate::grid::{Grid, decode};
use half::{bf16, f16};
use num_complex::Complex;
use std::ops::Add;
use tensorsh::tensor::{DType, Scalar};

const LEVELS: usize = 4;

/// Returns four sums over `size` steps; `at(step, which)` is the number to add to sum `which`.
fn four_sums<T: Copy + Default + Add<Output = T>>(size: usize, at: &dyn Fn(usize, usize) -> T) -> [T; 4] {
    // The logarithm, rounded up, divided by the number of levels.
    let logarithm = if size <= 2 { 1 } else { (size - 1).ilog2() as usize + 1 };
    let power = (logarithm / LEVELS).max(4);
    let mut sums = [[T::default(); 4]; LEVELS];
    let mut i = 0;
    while i + (1 << power) <= size {
        for step in i..i + (1 << power) {
            add(&mut sums[0], |which| at(step, which));
        }
        i += 1 << power;
        for level in 1..LEVELS {
            let below = std::mem::take(&mut sums[level - 1]);
            add(&mut sums[level], |which| below[which]);
            if i & (((1 << power) - 1) << (level * power)) != 0 {
                break;
            }
        }
    }
    for step in i..size {
        add(&mut sums[0], |which| at(step, which));
    }
    let [mut total, levels @ ..] = sums;
    levels.iter().for_each(|level| add(&mut total, |which| level[which]));
    total
}

fn add<T: Copy + Add<Output = T>>(to: &mut [T; 4], value: impl Fn(usize) -> T) {
    to.iter_mut().enumerate().for_each(|(which, sum)| *sum = *sum + value(which));
}

/// Returns one sum over `size` steps.
fn one_sum<T: Copy + Default + Add<Output = T>>(size: usize, at: &dyn Fn(usize) -> T) -> T {
    let [mut total, others @ ..] = four_sums(size / 4, &|step, which| at(4 * step + which));
    for step in size / 4 * 4..size {
        total = total + at(step);
    }
    others.into_iter().fold(total, |total, sum| total + sum)
}

/// The two dimensions of a sum, with the one summed first in front: sizes, strides, and whether the second is summed
/// too.
#[derive(Clone, Copy)]
struct Plane {
    size: [usize; 2],
    stride: [i64; 2],
    both: bool,
}

/// Sums a plane with `lanes` numbers added in parallel; a stored vector has `width` numbers. `at(i, j)` is the element
/// at `i` along and `j` across.
fn plane_sums<T: Copy + Default + Add<Output = T>>(
    plane: Plane,
    [lanes, width]: [usize; 2],
    at: &dyn Fn(usize, usize) -> T,
) -> Vec<T> {
    let [along, across] = plane.size;
    let alone = |j: usize| one_sum(along, &|i| at(i, j));
    let mut sums: Vec<T> = Vec::new();
    if plane.stride[0] == 1 && along >= width {
        for j in 0..across {
            // For narrower numbers, both halves of a vector are added to one.
            let lane = |vector: usize, lane: usize| {
                let first = at(vector * width + lane, j);
                if width == lanes { first } else { first + at(vector * width + lanes + lane, j) }
            };
            let vectors = along / width;
            let each: Vec<T> = (0..lanes).map(|k| one_sum(vectors, &|vector| lane(vector, k))).collect();
            let rest = (vectors * width..along).fold(T::default(), |total, i| total + at(i, j));
            sums.push(each.into_iter().fold(rest, |total, lane| total + lane));
        }
    } else if plane.stride[1] == 1 && across >= width {
        let strips = across / (4 * lanes) * (4 * lanes);
        for j in 0..strips {
            sums.push(four_sums(along, &|i, _| at(i, j))[0]);
        }
        for j in strips..across {
            sums.push(alone(j));
        }
    } else if plane.stride[0] < plane.stride[1] {
        (0..across).for_each(|j| sums.push(alone(j)));
    } else {
        let fours = across / 4 * 4;
        (0..fours).for_each(|j| sums.push(four_sums(along, &|i, _| at(i, j))[0]));
        (fours..across).for_each(|j| sums.push(alone(j)));
    }
    if plane.both {
        // All columns are added to one result, one after the other.
        sums = vec![sums.into_iter().fold(T::default(), |total, sum| total + sum)];
    }
    // The initial value of a result is zero.
    sums.into_iter().map(|sum| T::default() + sum).collect()
}

/// Returns the dimensions sorted and merged like PyTorch's iterator does.
fn plane(grid: &Grid, dim: Option<usize>) -> (Plane, Box<dyn Fn(usize, usize) -> usize>) {
    let (sizes, strides) = (grid.sizes(), grid.strides());
    let (rows, columns) = if let [rows, columns] = *sizes { (rows, columns) } else { (1, sizes[0]) };
    let (row, column) = if let [row, column] = *strides { (row, column) } else { (columns * strides[0], strides[0]) };
    let dims = [(rows as usize, row), (columns as usize, column)];
    let width = columns as usize;
    let index = move |which: usize, i: usize, j: usize| if which == 0 { i * width + j } else { j * width + i };
    match dim {
        Some(dim) => {
            let along = if sizes.len() == 1 { 1 } else { dim };
            let ((size, stride), (others, step)) = (dims[along], dims[1 - along]);
            let plane = match (size, others) {
                // A dimension of size 1 on either side is dropped.
                (_, 1) => Plane { size: [size, 1], stride: [stride, 0], both: false },
                _ => Plane { size: [size, others], stride: [stride, step], both: false },
            };
            (plane, Box::new(move |i, j| index(along, i, j)))
        }
        None => {
            let merged = rows == 1 || columns == 1 || row == column * columns;
            if merged {
                let stride = if columns == 1 { row } else { column };
                let plane = Plane { size: [(rows * columns) as usize, 1], stride: [stride, 0], both: true };
                return (plane, Box::new(|i, _| i));
            }
            if column == row * rows {
                let plane = Plane { size: [(rows * columns) as usize, 1], stride: [row, 0], both: true };
                let rows = rows as usize;
                return (plane, Box::new(move |i, _| i % rows * width + i / rows));
            }
            // The last dimension is the fastest, unless both have a stride and its stride is larger.
            let fast = if row != 0 && column != 0 && row < column { 0 } else { 1 };
            let ((size, stride), (others, step)) = (dims[fast], dims[1 - fast]);
            let plane = Plane { size: [size, others], stride: [stride, step], both: true };
            (plane, Box::new(move |i, j| index(fast, i, j)))
        }
    }
}

/// Returns the sums of a float tensor in the accumulation type: of all elements, or along a dimension.
pub(crate) fn sums(grid: &Grid, elements: &[Scalar], dim: Option<usize>) -> Vec<Scalar> {
    let (plane, place) = plane(grid, dim);
    let real = |i: usize, j: usize| elements[place(i, j)].to_f64();
    let complex = |i: usize, j: usize| elements[place(i, j)].to_complex();
    match grid.dtype {
        DType::Half | DType::BFloat16 => {
            let sums = plane_sums(plane, [8, 16], &|i, j| real(i, j) as f32);
            sums.into_iter().map(|sum| Scalar::Float(f64::from(sum))).collect()
        }
        DType::Float => {
            let sums = plane_sums(plane, [8, 8], &|i, j| real(i, j) as f32);
            sums.into_iter().map(|sum| Scalar::Float(f64::from(sum))).collect()
        }
        DType::Double => plane_sums(plane, [4, 4], &real).into_iter().map(Scalar::Float).collect(),
        DType::ComplexFloat => {
            let narrow = |z: Complex<f64>| Complex::new(z.re as f32, z.im as f32);
            let sums = plane_sums(plane, [4, 4], &|i, j| narrow(complex(i, j)));
            let wide = |z: Complex<f32>| Complex::new(f64::from(z.re), f64::from(z.im));
            sums.into_iter().map(|sum| Scalar::Complex(wide(sum))).collect()
        }
        _ => plane_sums(plane, [2, 2], &complex).into_iter().map(Scalar::Complex).collect(),
    }
}

/// Returns sums divided by a number of elements, rounded like the computation.
pub(crate) fn means(dtype: DType, sums: Vec<Scalar>, count: usize) -> Vec<Scalar> {
    let mean = |sum: Scalar| match (dtype, sum) {
        (DType::Double, Scalar::Float(sum)) => Scalar::Float(sum / count as f64),
        (DType::Half, Scalar::Float(sum)) => Scalar::Float(f16::from_f32(sum as f32 / count as f32).to_f64()),
        (DType::BFloat16, Scalar::Float(sum)) => Scalar::Float(bf16::from_f32(sum as f32 / count as f32).to_f64()),
        (_, Scalar::Float(sum)) => Scalar::Float(f64::from(sum as f32 / count as f32)),
        (_, other) => Scalar::Complex(other.to_complex() / count as f64),
    };
    sums.into_iter().map(mean).collect()
}

/// Returns the elements of a grid as numbers.
pub(crate) fn numbers(grid: &Grid) -> Vec<Scalar> {
    decode(grid.dtype, &grid.elements)
}
