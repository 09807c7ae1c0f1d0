//! Measures the difference between the elements of two tensors. Equal bytes are not examined further, so equal files
//! are compared as fast as they can be read. Knows no names.

use crate::contents::{Blocks, Elements};
use num_complex::Complex;
use std::ops::Range;
use tensor::dispatch;
use tensor::memory::get;
use tensor::parallel::{self, reading_both};
use tensor::{DType, Element, Error, Memory, Result, Scalar};

/// The result of comparing elements.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Tally {
    /// Number of elements compared.
    pub elements: u64,
    /// Number of elements that differ by more than the tolerance.
    pub differing: u64,
    /// The largest difference of finite numbers, …
    pub greatest: f64,
    /// … and the first position where it occurs, in row-major order.
    pub at: u64,
    /// The largest difference relative to the larger of the two numbers.
    pub relative: f64,
    /// The sum of all differences of finite numbers, …
    pub sum: f64,
    /// … and of their squares.
    pub squares: f64,
    /// Number of new NaN.
    pub new_nan: u64,
    /// Number of new infinities in place of finite numbers.
    pub new_inf: u64,
    /// Number of elements with equal values but other bytes: zeros with another sign, other NaN.
    pub respelt: u64,
}

impl Tally {
    /// Adds the result for elements that begin at position `start`.
    pub(crate) fn add(&mut self, part: &Tally, start: u64) {
        if part.greatest > self.greatest {
            (self.greatest, self.at) = (part.greatest, start.saturating_add(part.at));
        }
        self.elements += part.elements;
        self.differing += part.differing;
        self.relative = self.relative.max(part.relative);
        self.sum += part.sum;
        self.squares += part.squares;
        self.new_nan += part.new_nan;
        self.new_inf += part.new_inf;
        self.respelt += part.respelt;
    }

    /// Returns the mean difference of all elements.
    pub(crate) fn mean(&self) -> f64 {
        self.sum / self.elements.max(1) as f64
    }

    /// Returns the Euclidean norm of the difference.
    pub(crate) fn norm(&self) -> f64 {
        self.squares.sqrt()
    }

    /// Returns whether no element differs by more than the tolerance.
    pub(crate) fn is_equal(&self) -> bool {
        self.differing == 0
    }
}

/// Consecutive elements, starting at the first byte.
#[derive(Clone, Copy)]
pub(super) struct Row<'m> {
    pub memory: &'m Memory,
    pub elements: Elements,
}

/// The number type to which the elements of both sides are widened.
trait ComparedNumber: Copy + PartialEq {
    fn of(value: Scalar) -> Self;
    fn distance(self, other: Self) -> f64;
    fn size(self) -> f64;
    fn is_nan(self) -> bool;
    fn is_finite(self) -> bool;
}

impl ComparedNumber for i128 {
    fn of(value: Scalar) -> i128 {
        match value {
            Scalar::Bool(truth) => i128::from(truth),
            Scalar::Int(number) => i128::from(number),
            Scalar::UInt(number) => i128::from(number),
            Scalar::Float(_) | Scalar::Complex(_) => 0,
        }
    }
    fn distance(self, other: i128) -> f64 {
        (self - other).unsigned_abs() as f64
    }
    fn size(self) -> f64 {
        self.unsigned_abs() as f64
    }
    fn is_nan(self) -> bool {
        false
    }
    fn is_finite(self) -> bool {
        true
    }
}

impl ComparedNumber for f64 {
    #[inline(always)]
    fn of(value: Scalar) -> f64 {
        f64::store(value)
    }
    #[inline(always)]
    fn distance(self, other: f64) -> f64 {
        (self - other).abs()
    }
    #[inline(always)]
    fn size(self) -> f64 {
        self.abs()
    }
    #[inline(always)]
    fn is_nan(self) -> bool {
        f64::is_nan(self)
    }
    #[inline(always)]
    fn is_finite(self) -> bool {
        f64::is_finite(self)
    }
}

impl ComparedNumber for Complex<f64> {
    fn of(value: Scalar) -> Complex<f64> {
        Complex::store(value)
    }
    fn distance(self, other: Complex<f64>) -> f64 {
        (self - other).norm()
    }
    fn size(self) -> f64 {
        self.norm()
    }
    fn is_nan(self) -> bool {
        Complex::is_nan(self)
    }
    fn is_finite(self) -> bool {
        Complex::is_finite(self)
    }
}

/// Compares the first `count` elements of two rows. Elements count as equal if their difference is at most `tolerance`,
/// either absolute or relative to the first. Blocks that cannot be dequantized differ as a whole.
///
/// # Errors
/// Fails with RuntimeError for a row that is too short, and with MemoryError.
pub(super) fn compare(a: Row, b: Row, count: usize, tolerance: f64) -> Result<Tally> {
    if a.elements == b.elements {
        let nbytes = a.elements.nbytes(count)?;
        let equal = |x: &[u8], y: &[u8]| x.get(..nbytes).is_some_and(|x| y.get(..nbytes) == Some(x));
        if reading_both(a.memory, b.memory, equal) == Some(true) {
            return Ok(Tally { elements: count as u64, ..Tally::default() });
        }
    }
    if let (Elements::Blocks(Blocks { take_apart: None, .. }), true) = (a.elements, a.elements == b.elements) {
        return Ok(Tally { elements: count as u64, differing: count as u64, ..Tally::default() });
    }
    let kinds = [a.elements, b.elements].map(|elements| match elements {
        Elements::Plain(dtype) => dtype,
        Elements::Blocks(_) => DType::Float,
    });
    if kinds.iter().any(|dtype| dtype.is_complex()) {
        tally::<Complex<f64>>(a, b, count, tolerance)
    } else if kinds.iter().any(|dtype| dtype.is_floating_point()) {
        tally::<f64>(a, b, count, tolerance)
    } else {
        tally::<i128>(a, b, count, tolerance)
    }
}

/// Returns the sum of the squares of the finite numbers among the first `count` elements.
///
/// # Errors
/// Fails with RuntimeError for a row that is too short.
pub(super) fn squares(row: Row, count: usize) -> Result<f64> {
    let is_complex = matches!(row.elements, Elements::Plain(dtype) if dtype.is_complex());
    let mut total = 0.0;
    for start in (0..count).step_by(WIDENED) {
        let end = count.min(start + WIDENED);
        total += if is_complex {
            let mut numbers: Vec<Complex<f64>> = Vec::new();
            widen(row, start, end, &mut numbers)?;
            numbers.iter().map(Complex::norm_sqr).filter(|square| square.is_finite()).sum::<f64>()
        } else {
            let mut numbers: Vec<f64> = Vec::new();
            widen(row, start, end, &mut numbers)?;
            numbers.iter().map(|number| number * number).filter(|square| square.is_finite()).sum::<f64>()
        };
    }
    Ok(total)
}

/// The number of elements to widen at a time; a multiple of every block's count.
const WIDENED: usize = 4096;

fn tally<N: ComparedNumber>(a: Row, b: Row, count: usize, tolerance: f64) -> Result<Tally> {
    let (mut x, mut y) = (Vec::with_capacity(WIDENED), Vec::with_capacity(WIDENED));
    let mut total = Tally::default();
    for start in (0..count).step_by(WIDENED) {
        let end = count.min(start + WIDENED);
        widen::<N>(a, start, end, &mut x)?;
        widen::<N>(b, start, end, &mut y)?;
        let (mut part, unequal) = parallel::vectorised(|| measured(&x, &y, tolerance));
        if let (Elements::Plain(dtype), true) = (a.elements, a.elements == b.elements) {
            part.respelt = differing_bytes(a.memory, b.memory, dtype.itemsize(), start..end).saturating_sub(unequal);
        }
        total.add(&part, start as u64);
    }
    Ok(total)
}

/// Counts the elements with differing bytes.
fn differing_bytes(a: &Memory, b: &Memory, itemsize: usize, range: Range<usize>) -> u64 {
    let others = reading_both(a, b, |x: &[u8], y: &[u8]| {
        let range = range.start * itemsize..range.end * itemsize;
        let (x, y) = (x.get(range.clone()).unwrap_or_default(), y.get(range).unwrap_or_default());
        x.chunks_exact(itemsize).zip(y.chunks_exact(itemsize)).filter(|(x, y)| x != y).count()
    });
    others.unwrap_or(0) as u64
}

/// Also counts the unequal elements, including those within the tolerance.
#[inline(always)]
fn measured<N: ComparedNumber>(x: &[N], y: &[N], tolerance: f64) -> (Tally, u64) {
    let mut unequal = 0;
    let mut tally = Tally { elements: x.len() as u64, ..Tally::default() };
    for (i, (&x, &y)) in x.iter().zip(y).enumerate() {
        if x == y || (x.is_nan() && y.is_nan()) {
            continue;
        }
        unequal += 1;
        let apart = x.distance(y);
        if apart.is_finite() {
            tally.sum += apart;
            tally.squares += apart * apart;
            if apart > tally.greatest {
                (tally.greatest, tally.at) = (apart, i as u64);
            }
            tally.relative = tally.relative.max(apart / x.size().max(y.size()));
            tally.differing += u64::from(apart > tolerance + tolerance * x.size());
        } else {
            tally.differing += 1;
            tally.new_nan += u64::from(y.is_nan() && !x.is_nan());
            tally.new_inf += u64::from(!y.is_nan() && !y.is_finite() && (x.is_finite() || x.is_nan()));
        }
    }
    (tally, unequal)
}

/// Converts elements `start..end` of a row to numbers.
fn widen<N: ComparedNumber>(row: Row, start: usize, end: usize, into: &mut Vec<N>) -> Result<()> {
    into.clear();
    match row.elements {
        Elements::Plain(dtype) => dispatch!(dtype, T => {
            let cells = row.memory.typed::<T>().get(start..end).unwrap_or_default();
            into.extend(cells.iter().map(|cell| N::of(get(cell).load())));
        }),
        Elements::Blocks(blocks) => {
            let range = row.elements.nbytes(start)?..row.elements.nbytes(end)?;
            let mut numbers = vec![0f32; end - start];
            let take_apart = blocks.dequantizer()?;
            let taken = parallel::reading(row.memory, |bytes: &[u8]| {
                bytes.get(range).map(|bytes| take_apart(bytes, &mut numbers)).is_some()
            });
            if taken == Some(true) {
                into.extend(numbers.iter().map(|&number| N::of(number.load())));
            }
        }
    }
    if into.len() == end - start { Ok(()) } else { Err(Error::runtime("a tensor is shorter than declared")) }
}
