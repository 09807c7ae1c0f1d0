//! The functions of vectors and matrices: `matmul`, `vecdot`, `matvec` and `vecmat`. Each product is of `n × k` and
//! `k × m` elements. Sums of floats are fused and in order, as in the small products of NumPy's library.

use super::table::{Op, Ufunc};
use crate::array::{Array, Order};
use crate::descr::Descr;
use crate::strided::{broadcast, show};
use num_complex::Complex;
use smallvec::SmallVec;
use tensor::memory::{BoolByte, Plain};
use tensor::parallel::{self, Kernel, Matrix, vectorised_kernel};
use tensor::{DType, Dims, Error, Result, bail, interrupt, limits};

/// An element of a product.
trait Factor: Plain + Default + PartialEq {
    /// Returns `sum + a * b`.
    fn add(sum: Self, a: Self, b: Self) -> Self;
    /// The product of two vectors, where it differs from that of matrices.
    fn dot(_a: impl Iterator<Item = (Self, Self)>) -> Option<Self> {
        None
    }
    /// Multiplies large matrices, if there is a faster way.
    fn large(_into: &mut [Self], _sizes: [usize; 3], _a: Matrix<Self>, _b: Matrix<Self>) -> Option<Result<()>> {
        None
    }
}

macro_rules! whole_factors {
    ($($t:ty)*) => {$(
        impl Factor for $t {
            #[inline(always)]
            fn add(sum: $t, a: $t, b: $t) -> $t {
                sum.wrapping_add(a.wrapping_mul(b))
            }
        }
    )*};
}
whole_factors!(i8 u8 i16 u16 i32 u32 i64 u64);

impl Factor for BoolByte {
    #[inline(always)]
    fn add(sum: BoolByte, a: BoolByte, b: BoolByte) -> BoolByte {
        sum | (a & b)
    }
}

impl Factor for f32 {
    #[inline(always)]
    fn add(sum: f32, a: f32, b: f32) -> f32 {
        a.mul_add(b, sum)
    }
    // Products are rounded, sums are in double precision.
    fn dot(pairs: impl Iterator<Item = (f32, f32)>) -> Option<f32> {
        Some(pairs.fold(0.0, |sum, (a, b)| sum + f64::from(a * b)) as f32)
    }
    fn large(into: &mut [f32], sizes: [usize; 3], a: Matrix<f32>, b: Matrix<f32>) -> Option<Result<()>> {
        Some(parallel::add_product(into, sizes, 1.0, a, b))
    }
}

impl Factor for f64 {
    #[inline(always)]
    fn add(sum: f64, a: f64, b: f64) -> f64 {
        a.mul_add(b, sum)
    }
    fn large(into: &mut [f64], sizes: [usize; 3], a: Matrix<f64>, b: Matrix<f64>) -> Option<Result<()>> {
        Some(parallel::add_product(into, sizes, 1.0, a, b))
    }
}

macro_rules! complex_factors {
    ($($t:ty)*) => {$(
        impl Factor for Complex<$t> {
            #[inline(always)]
            fn add(sum: Self, a: Self, b: Self) -> Self {
                let re = a.re.mul_add(b.re, sum.re);
                let im = a.re.mul_add(b.im, sum.im);
                Complex::new((-a.im).mul_add(b.im, re), a.im.mul_add(b.re, im))
            }
        }
    )*};
}
complex_factors!(f32 f64);

/// The sizes of a product, and which of its dimensions the operands have.
struct Core {
    n: Option<i64>,
    m: Option<i64>,
    k: i64,
    batch: Dims,
}

fn too_few(ufunc: &Ufunc, at: usize, array: &Array, needed: usize) -> Error {
    Error::value(format!(
        "{}: Input operand {at} does not have enough dimensions (has {}, gufunc core with signature {} requires {needed})",
        ufunc.name,
        array.ndim(),
        ufunc.signature.unwrap_or_default()
    ))
}

fn mismatch(ufunc: &Ufunc, role: &str, dim: usize, [size, wanted]: [i64; 2]) -> Error {
    Error::value(format!(
        "{}: {role} has a mismatch in its core dimension {dim}, with gufunc signature {} (size {size} is different from \
         {wanted})",
        ufunc.name,
        ufunc.signature.unwrap_or_default()
    ))
}

/// Determines the sizes.
///
/// # Errors
/// ValueError in NumPy's words.
fn core(ufunc: &Ufunc, a: &Array, b: &Array) -> Result<Core> {
    let (rows, columns) = match ufunc.op {
        Op::Matmul => (a.ndim() > 1, b.ndim() > 1),
        Op::Matvec => (true, false),
        Op::Vecmat => (false, true),
        _ => (false, false),
    };
    for (at, (array, needed)) in [(a, 1 + usize::from(rows)), (b, 1 + usize::from(columns))].into_iter().enumerate() {
        if array.ndim() < needed {
            return Err(too_few(ufunc, at, array, needed));
        }
    }
    let last = |array: &Array, back: usize| array.shape()[array.ndim() - back];
    let k = last(a, 1);
    let inner = if columns { last(b, 2) } else { last(b, 1) };
    if inner != k {
        return Err(mismatch(ufunc, "Input operand 1", 0, [inner, k]));
    }
    let n = rows.then(|| last(a, 2));
    let m = columns.then(|| last(b, 1));
    let batches = [&a.shape()[..a.ndim() - 1 - usize::from(rows)], &b.shape()[..b.ndim() - 1 - usize::from(columns)]];
    let Some(batch) = broadcast(batches.into_iter()) else {
        let remapped = |array: &Array, batch: &[i64]| {
            let mut sizes: Vec<String> = batch.iter().map(i64::to_string).collect();
            sizes.extend(n.iter().chain(&m).map(|_| "newaxis".to_owned()));
            format!("{}->({}) ", show(array.shape()), sizes.join(","))
        };
        let core: Dims = n.iter().chain(&m).copied().collect();
        bail!(
            ValueError,
            "operands could not be broadcast together with remapped shapes [original->remapped]: {}{} and requested \
             shape {}",
            remapped(a, batches[0]),
            remapped(b, batches[1]),
            show(&core)
        );
    };
    Ok(Core { n, m, k, batch })
}

/// Computes a product of arrays in the dtypes of the loop.
///
/// # Errors
/// ValueError in NumPy's words; MemoryError; KeyboardInterrupt.
pub(super) fn product(ufunc: &Ufunc, a: &Array, b: &Array, out: Option<&Array>, dtype: DType) -> Result<Array> {
    let core = core(ufunc, a, b)?;
    let mut shape = core.batch.clone();
    shape.extend(core.n.iter().chain(&core.m).copied());
    if let Some(out) = out {
        check_out(ufunc, out, &core, &shape)?;
    }
    if dtype == DType::Half {
        // Sums are in single precision.
        let single = Descr::native(DType::Float);
        let [a, b] = [a, b].map(|array| array.copied(single, Order::Keep));
        let wide = typed::<f32>(ufunc, &core, &a?, &b?, &shape)?;
        return wide.copied(Descr::native(dtype), Order::C);
    }
    match dtype {
        DType::Bool => typed::<BoolByte>(ufunc, &core, a, b, &shape),
        DType::Char => typed::<i8>(ufunc, &core, a, b, &shape),
        DType::Byte => typed::<u8>(ufunc, &core, a, b, &shape),
        DType::Short => typed::<i16>(ufunc, &core, a, b, &shape),
        DType::UInt16 => typed::<u16>(ufunc, &core, a, b, &shape),
        DType::Int => typed::<i32>(ufunc, &core, a, b, &shape),
        DType::UInt32 => typed::<u32>(ufunc, &core, a, b, &shape),
        DType::Long => typed::<i64>(ufunc, &core, a, b, &shape),
        DType::UInt64 => typed::<u64>(ufunc, &core, a, b, &shape),
        DType::Float => typed::<f32>(ufunc, &core, a, b, &shape),
        DType::ComplexFloat => typed::<Complex<f32>>(ufunc, &core, a, b, &shape),
        DType::ComplexDouble => typed::<Complex<f64>>(ufunc, &core, a, b, &shape),
        _ => typed::<f64>(ufunc, &core, a, b, &shape),
    }
}

fn check_out(ufunc: &Ufunc, out: &Array, core: &Core, shape: &[i64]) -> Result<()> {
    let sizes: SmallVec<[i64; 2]> = core.n.iter().chain(&core.m).copied().collect();
    if out.ndim() < sizes.len() {
        bail!(
            ValueError,
            "{}: Output operand 0 does not have enough dimensions (has {}, gufunc core with signature {} requires {})",
            ufunc.name,
            out.ndim(),
            ufunc.signature.unwrap_or_default(),
            sizes.len()
        );
    }
    let own = &out.shape()[out.ndim() - sizes.len()..];
    for (dim, (&size, &wanted)) in own.iter().zip(&sizes).enumerate() {
        if size != wanted {
            return Err(mismatch(ufunc, "Output operand 0", dim, [size, wanted]));
        }
    }
    if out.shape() != shape {
        bail!(
            ValueError,
            "non-broadcastable output operand with shape {} doesn't match the broadcast shape {}",
            show(out.shape()),
            show(shape)
        );
    }
    Ok(())
}

/// One operand: strides of its dimensions in elements.
#[derive(Clone, Copy)]
struct Side<'a, T> {
    items: &'a [T],
    first: i64,
    rows: i64,
    columns: i64,
}

impl<T: Factor> Side<'_, T> {
    #[inline(always)]
    fn at(&self, row: usize, column: usize) -> T {
        let place = self.first + self.rows * row as i64 + self.columns * column as i64;
        self.items.get(place as usize).copied().unwrap_or_default()
    }

    /// Returns the elements as a matrix of the library.
    fn matrix(&self) -> Option<Matrix<'_, T>> {
        let [rows, columns] = [self.rows, self.columns].map(usize::try_from);
        let values = self.items.get(usize::try_from(self.first).ok()?..)?;
        Some(Matrix { values, strides: [rows.ok()?, columns.ok()?] })
    }
}

/// Adds the products of one row.
struct Row<'a, T> {
    out: &'a mut [T],
    factor: T,
    beside: &'a [T],
}

impl<T: Factor> Kernel for Row<'_, T> {
    type Output = ();
    #[inline(always)]
    fn run(self, _fuses: bool) {
        for (out, &item) in self.out.iter_mut().zip(self.beside) {
            *out = T::add(*out, self.factor, item);
        }
    }
}

/// Multiplications from which the library is faster.
const LARGE: usize = 1 << 16;

fn typed<T: Factor>(ufunc: &Ufunc, core: &Core, a: &Array, b: &Array, shape: &[i64]) -> Result<Array> {
    let descr = a.descr;
    let out = Array::zeros(shape, descr, false)?;
    let unaligned = || Error::runtime("an operand of a product is not aligned");
    let sizes = [core.n.unwrap_or(1) as usize, core.k as usize, core.m.unwrap_or(1) as usize];
    let [n, k, m] = sizes;
    if out.count() == 0 || k == 0 {
        return Ok(out);
    }
    let conjugates = matches!(ufunc.op, Op::Vecdot | Op::Vecmat);
    let a = if conjugates && descr.dtype.is_complex() { conjugated(a)? } else { a.clone() };
    // The starts of the matrices of a batch.
    let starts = |array: &Array, core_dims: usize| -> Vec<i64> {
        let mut places = array.places.clone();
        places.shape.truncate(array.ndim() - core_dims);
        places.strides.truncate(array.ndim() - core_dims);
        let wide = array.at(places.broadcast_to(&core.batch));
        wide.offsets().map(|offset| offset / descr.itemsize() as i64).collect()
    };
    let (own, other) = (1 + usize::from(core.n.is_some()), 1 + usize::from(core.m.is_some()));
    let firsts: Vec<(i64, i64)> = starts(&a, own).into_iter().zip(starts(b, other)).collect();
    let (from, to) = (a.signed().ok_or_else(unaligned)?, b.signed().ok_or_else(unaligned)?);
    let stride = |strides: &Dims, back: usize, has: bool| {
        if has { strides.len().checked_sub(back).and_then(|d| strides.get(d)).copied().unwrap_or(0) } else { 0 }
    };
    let left = [stride(&from.strides, 2, core.n.is_some()), stride(&from.strides, 1, true)];
    let right = match core.m {
        Some(_) => [stride(&to.strides, 2, true), stride(&to.strides, 1, true)],
        None => [stride(&to.strides, 1, true), 0],
    };
    let mut results: Vec<T> = limits::filled(T::default(), limits::count(out.count()))?;
    let (x, y) = (a.memory()?, b.memory()?);
    let is_dot = core.n.is_none() && core.m.is_none();
    let done = parallel::reading_both::<T, _>(&x, &y, |x, y| -> Result<()> {
        for (&(p, q), out) in firsts.iter().zip(results.chunks_mut(n * m)) {
            let a = Side { items: x, first: p, rows: left[0], columns: left[1] };
            let b = Side { items: y, first: q, rows: right[0], columns: right[1] };
            one(a, b, sizes, is_dot, out)?;
        }
        Ok(())
    });
    done.ok_or_else(unaligned)??;
    let target = out.memory()?;
    parallel::writing::<T, _>(&target, 0..results.len(), |out| out.copy_from_slice(&results)).ok_or_else(unaligned)?;
    Ok(out)
}

fn one<T: Factor>(a: Side<T>, b: Side<T>, sizes: [usize; 3], is_dot: bool, out: &mut [T]) -> Result<()> {
    let [n, k, m] = sizes;
    if is_dot && let Some(sum) = T::dot((0..k).map(|i| (a.at(0, i), b.at(i, 0)))) {
        out[0] = sum;
        return Ok(());
    }
    if n.saturating_mul(k).saturating_mul(m) >= LARGE
        && let (Some(a), Some(b)) = (a.matrix(), b.matrix())
        && let Some(outcome) = T::large(out, sizes, a, b)
    {
        return outcome;
    }
    parallel::parts_of(out, m, n.saturating_mul(k).saturating_mul(m), &|start, row| {
        let i = start / m.max(1);
        for p in 0..k {
            interrupt::check_at(p)?;
            let factor = a.at(i, p);
            match (b.columns == 1, usize::try_from(b.first + b.rows * p as i64)) {
                (true, Ok(first)) if m > 1 => {
                    let beside = b.items.get(first..first + m).unwrap_or_default();
                    vectorised_kernel(Row { out: &mut *row, factor, beside });
                }
                _ => row.iter_mut().enumerate().for_each(|(j, sum)| *sum = T::add(*sum, factor, b.at(p, j))),
            }
        }
        Ok(())
    })
}

fn conjugated(a: &Array) -> Result<Array> {
    let copy = a.copied(a.descr, Order::C)?;
    let memory = copy.memory()?;
    for (at, offset) in copy.offsets().enumerate() {
        interrupt::check_at(at)?;
        if let tensor::Scalar::Complex(c) = copy.read_at(&memory, offset) {
            copy.write_at(&memory, offset, tensor::Scalar::Complex(c.conj()));
        }
    }
    Ok(copy)
}
