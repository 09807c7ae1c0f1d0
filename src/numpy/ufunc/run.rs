//! Runs kernels over arrays. A kernel is a plain function of slices; [`Two`] also has the function of two elements, for
//! reductions. Arrays have the dtypes of the loop and one shape when they come here.

use super::flags::{FpFlags, of_element};
use super::table::Op;
use crate::array::{Array, aligned};
use crate::element::Item;
use half::f16;
use num_complex::Complex;
use std::sync::atomic::{AtomicU8, Ordering};
use tensor::memory::{BoolByte, get, set};
use tensor::parallel::{self, Elements, StepPattern, halves, singles, vectorised};
use tensor::{Error, Layout, Result, Scalar};

/// A function of one input.
pub(super) type One<S, R> = fn(&[S], &mut [R]);

/// A function of two inputs.
pub(super) struct Two<A, B, R> {
    pub(super) slices: fn(&[A], &[B], &mut [R]),
    pub(super) one: fn(A, B) -> R,
}

impl<A, B, R> Clone for Two<A, B, R> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<A, B, R> Copy for Two<A, B, R> {}

/// A function of three inputs.
pub(super) type Three<T> = fn(&[T], &[T], &[T], &mut [T]);

/// Builds a [`Two`] from a closure; its loop is compiled for the widest vectors.
macro_rules! two {
    ($function:expr) => {
        $crate::ufunc::run::Two { slices: |a, b, out| $crate::ufunc::run::zip(a, b, out, $function), one: $function }
    };
}
pub(super) use two;

/// Like [`two`], for functions that the compiler cannot vectorise.
macro_rules! called {
    ($function:expr) => {
        $crate::ufunc::run::Two {
            slices: |a, b, out| $crate::ufunc::run::zip_plain(a, b, out, $function),
            one: $function,
        }
    };
}
pub(super) use called;

#[inline(always)]
pub(super) fn map<S: Copy, R>(from: &[S], out: &mut [R], function: impl Fn(S) -> R) {
    vectorised(move || {
        for (out, &from) in out.iter_mut().zip(from) {
            *out = function(from);
        }
    });
}

#[inline(always)]
pub(super) fn map_plain<S: Copy, R>(from: &[S], out: &mut [R], function: impl Fn(S) -> R) {
    for (out, &from) in out.iter_mut().zip(from) {
        *out = function(from);
    }
}

#[inline(always)]
pub(super) fn zip<A: Copy, B: Copy, R>(a: &[A], b: &[B], out: &mut [R], function: impl Fn(A, B) -> R) {
    vectorised(move || {
        for ((out, &a), &b) in out.iter_mut().zip(a).zip(b) {
            *out = function(a, b);
        }
    });
}

#[inline(always)]
pub(super) fn zip_plain<A: Copy, B: Copy, R>(a: &[A], b: &[B], out: &mut [R], function: impl Fn(A, B) -> R) {
    for ((out, &a), &b) in out.iter_mut().zip(a).zip(b) {
        *out = function(a, b);
    }
}

/// An element whose result may be an error of arithmetic.
pub(super) trait Cell: Item {
    /// Whether values can be infinite or NaN.
    const INEXACT: bool;
    const COMPLEX: bool = false;
    fn is_special(self) -> bool;
}

macro_rules! cells {
    ($($t:ty: $inexact:literal $($complex:ident)?, $special:expr;)*) => {$(
        impl Cell for $t {
            const INEXACT: bool = $inexact;
            $(const $complex: bool = true;)?
            #[inline(always)]
            fn is_special(self) -> bool {
                let special: fn($t) -> bool = $special;
                special(self)
            }
        }
    )*};
}
cells! {
    BoolByte: false, |_| false;
    u8: false, |_| false;
    i8: false, |_| false;
    u16: false, |_| false;
    i16: false, |_| false;
    u32: false, |_| false;
    i32: false, |_| false;
    u64: false, |_| false;
    i64: false, |_| false;
    f16: true, |value| value.to_bits() & 0x7c00 == 0x7c00;
    f32: true, |value| !value.is_finite();
    f64: true, |value| !value.is_finite();
    Complex<f32>: true COMPLEX, |value| !value.re.is_finite() | !value.im.is_finite();
    Complex<f64>: true COMPLEX, |value| !value.re.is_finite() | !value.im.is_finite();
}

/// Returns whether any result could be an error.
fn any_special<R: Cell>(out: &[R]) -> bool {
    R::INEXACT && vectorised(|| out.iter().fold(false, |any, value| any | value.is_special()))
}

/// Returns whether division by this operation fails for some integers.
fn divides(op: Op) -> bool {
    matches!(op, Op::FloorDivide | Op::Remainder | Op::Fmod | Op::Divmod)
}

pub(super) fn check_one<S: Cell, R: Cell>(op: Op, from: &[S], out: &[R]) -> FpFlags {
    let mut flags = FpFlags::NONE;
    if op == Op::Reciprocal && !S::INEXACT {
        if from.iter().any(|value| !value.load().truth()) {
            flags |= FpFlags::DIVIDE | FpFlags::INVALID;
        }
        return flags;
    }
    // The only fault of these, which needs to be found once.
    let only = matches!(op, Op::Exp | Op::Exp2 | Op::Expm1).then_some(FpFlags::OVERFLOW);
    if op.raises() && any_special(out) {
        for (from, out) in from.iter().zip(out).filter(|(_, out)| out.is_special()) {
            flags |= of_element(op, &[from.load()], out.load());
            if only == Some(flags) {
                break;
            }
        }
    }
    flags
}

pub(super) fn check_two<A: Cell, B: Cell, R: Cell>(op: Op, a: &[A], b: &[B], out: &[R]) -> FpFlags {
    let mut flags = FpFlags::NONE;
    if !A::INEXACT && divides(op) {
        if vectorised(|| b.iter().fold(false, |any, &b| any | (b == B::default()))) {
            flags |= FpFlags::DIVIDE;
        }
        // The one quotient that does not fit.
        let overflows = |(a, b): (&A, &B)| {
            b.load() == Scalar::Int(-1) && matches!(a.load(), Scalar::Int(a) if a != 0 && a == smallest(size_of::<A>()))
        };
        if matches!(op, Op::FloorDivide | Op::Divmod) && a.iter().zip(b).any(overflows) {
            flags |= FpFlags::OVERFLOW;
        }
        return flags;
    }
    if A::INEXACT && A::COMPLEX && orders(op) {
        // Comparing parts with NaNs is invalid.
        let is_nan = |value: Scalar| value.to_complex().re.is_nan() || value.to_complex().im.is_nan();
        if any_special(a) && a.iter().any(|a| is_nan(a.load())) || any_special(b) && b.iter().any(|b| is_nan(b.load()))
        {
            flags |= FpFlags::INVALID;
        }
        return flags;
    }
    if op.raises() && any_special(out) {
        for ((a, b), out) in a.iter().zip(b).zip(out).filter(|(_, out)| out.is_special()) {
            flags |= of_element(op, &[a.load(), b.load()], out.load());
        }
    }
    flags
}

fn orders(op: Op) -> bool {
    matches!(op, Op::Less | Op::LessEqual | Op::Greater | Op::GreaterEqual)
}

/// Returns the smallest signed integer of `nbytes` bytes.
fn smallest(nbytes: usize) -> i64 {
    i64::MIN >> (64 - 8 * nbytes)
}

/// Returns the layouts of operands, output first, with the output's dimensions ascending.
fn layouts<const N: usize>(arrays: [&Array; N]) -> Result<[Layout; N]> {
    let mut out: [Option<Layout>; N] = arrays.map(Array::signed);
    if out.iter().any(Option::is_none) {
        return Err(Error::runtime("an operand of a loop is not aligned"));
    }
    Ok(aligned(std::array::from_fn(|k| out[k].take().unwrap_or_else(|| Layout::contiguous(&[])))))
}

/// The number of additions that one call of a function takes.
const CALLED: usize = 8;

fn steps(op: Op) -> StepPattern {
    use Op::{
        Absolute, Add, BitwiseAnd, BitwiseOr, BitwiseXor, Divide, Equal, Greater, GreaterEqual, Invert, Less,
        LessEqual, Maximum, Minimum, Multiply, Negative, NotEqual, Sqrt, Square, Subtract,
    };
    let light = matches!(
        op,
        Absolute
            | Add
            | BitwiseAnd
            | BitwiseOr
            | BitwiseXor
            | Divide
            | Equal
            | Greater
            | GreaterEqual
            | Invert
            | Less
            | LessEqual
            | Maximum
            | Minimum
            | Multiply
            | Negative
            | NotEqual
            | Sqrt
            | Square
            | Subtract
    );
    StepPattern { weight: if light { 1 } else { CALLED }, ..StepPattern::SINGLE }
}

/// So few elements are computed at once, without the machinery of long loops.
pub(super) const FEW: usize = 32;

/// Copies the elements of an operand of a short loop: those of a dense array, or one that repeats. `None` for any other
/// layout.
pub(super) fn taken<T: Cell>(array: &Array, count: usize) -> Option<[T; FEW]> {
    let size = size_of::<T>() as i64;
    let repeats = array.places.strides.iter().all(|&stride| stride == 0);
    let offset = array.places.offset;
    if array.descr.swapped || offset % size != 0 || !repeats && !array.is_c() {
        return None;
    }
    let memory = array.memory().ok()?;
    let cells = memory.typed::<T>().get(usize::try_from(offset / size).ok()?..)?;
    let mut items = [T::default(); FEW];
    match repeats {
        true => items.fill(get(cells.first()?)),
        false => items.iter_mut().zip(cells.get(..count)?).for_each(|(item, cell)| *item = get(cell)),
    }
    Some(items)
}

/// Runs a kernel over few elements; `None` if there are more, or if they are not side by side.
fn few<R: Cell>(out: &Array, kernel: impl FnOnce(&mut [R]) -> Option<FpFlags>) -> Option<FpFlags> {
    let (count, size) = (usize::try_from(out.count()).ok()?, size_of::<R>() as i64);
    let offset = out.places.offset;
    if count > FEW || !out.is_c() || offset % size != 0 {
        return None;
    }
    let mut items = [R::default(); FEW];
    let flags = kernel(items.get_mut(..count)?)?;
    let memory = out.memory().ok()?;
    let start = usize::try_from(offset / size).ok()?;
    let cells = memory.typed::<R>().get(start..start + count)?;
    cells.iter().zip(items).for_each(|(cell, item)| set(cell, item));
    Some(flags)
}

/// Runs a kernel of one input.
pub(super) fn run_one<S: Cell, R: Cell>(op: Op, kernel: One<S, R>, from: &Array, out: &Array) -> Result<FpFlags> {
    let count = usize::try_from(out.count()).unwrap_or(usize::MAX);
    let at_once = few::<R>(out, |results| {
        let items = taken::<S>(from, count)?;
        let items = items.get(..results.len())?;
        kernel(items, results);
        Some(check_one(op, items, results))
    });
    if let Some(flags) = at_once {
        return Ok(flags);
    }
    let (to, input) = (out.memory()?, from.memory()?);
    let [o, i] = layouts([out, from])?;
    let operands = [
        Elements { memory: &to, layout: &o, itemsize: size_of::<R>(), looked_up: false },
        Elements { memory: &input, layout: &i, itemsize: size_of::<S>(), looked_up: false },
    ];
    let found = AtomicU8::new(0);
    parallel::blocks(operands, steps(op), &|blocks| {
        let mut flags = FpFlags::NONE;
        let outcome = blocks.each(|block| {
            let (from, out) = block.one::<S, R>();
            kernel(from, out);
            flags |= check_one(op, from, out);
            Ok(())
        });
        found.fetch_or(flags.0, Ordering::Relaxed);
        outcome
    })?;
    Ok(FpFlags(found.into_inner()))
}

/// Runs a kernel of two inputs.
pub(super) fn run_two<A: Cell, B: Cell, R: Cell>(
    op: Op,
    kernel: fn(&[A], &[B], &mut [R]),
    [a, b]: [&Array; 2],
    out: &Array,
) -> Result<FpFlags> {
    let count = usize::try_from(out.count()).unwrap_or(usize::MAX);
    let at_once = few::<R>(out, |results| {
        let (x, y) = (taken::<A>(a, count)?, taken::<B>(b, count)?);
        let (x, y) = (x.get(..results.len())?, y.get(..results.len())?);
        kernel(x, y, results);
        Some(check_two(op, x, y, results))
    });
    if let Some(flags) = at_once {
        return Ok(flags);
    }
    let (to, left, right) = (out.memory()?, a.memory()?, b.memory()?);
    let [o, x, y] = layouts([out, a, b])?;
    let operands = [
        Elements { memory: &to, layout: &o, itemsize: size_of::<R>(), looked_up: false },
        Elements { memory: &left, layout: &x, itemsize: size_of::<A>(), looked_up: false },
        Elements { memory: &right, layout: &y, itemsize: size_of::<B>(), looked_up: false },
    ];
    let found = AtomicU8::new(0);
    parallel::blocks(operands, steps(op), &|blocks| {
        let mut flags = FpFlags::NONE;
        let outcome = blocks.each(|block| {
            let (a, b, out) = block.two::<A, B, R>();
            kernel(a, b, out);
            flags |= check_two(op, a, b, out);
            Ok(())
        });
        found.fetch_or(flags.0, Ordering::Relaxed);
        outcome
    })?;
    Ok(FpFlags(found.into_inner()))
}

/// Runs a kernel of three inputs.
pub(super) fn run_three<T: Cell>(op: Op, kernel: Three<T>, [a, b, c]: [&Array; 3], out: &Array) -> Result<FpFlags> {
    let (to, first, second, third) = (out.memory()?, a.memory()?, b.memory()?, c.memory()?);
    let [o, x, y, z] = layouts([out, a, b, c])?;
    let itemsize = size_of::<T>();
    let operands = [
        Elements { memory: &to, layout: &o, itemsize, looked_up: false },
        Elements { memory: &first, layout: &x, itemsize, looked_up: false },
        Elements { memory: &second, layout: &y, itemsize, looked_up: false },
        Elements { memory: &third, layout: &z, itemsize, looked_up: false },
    ];
    parallel::blocks(operands, steps(op), &|blocks| {
        blocks.each(|block| {
            let (a, b, c, out) = block.three::<T, T, T, T>();
            kernel(a, b, c, out);
            Ok(())
        })
    })?;
    Ok(FpFlags::NONE)
}

/// Half-precision numbers that are converted at a time.
const CHUNK: usize = 64;

pub(super) fn widen(from: &[f16], to: &mut [f32]) {
    let done = singles(from, to);
    to.iter_mut().zip(from).skip(done).for_each(|(to, from)| *to = from.to_f32());
}

pub(super) fn narrow(from: &[f32], to: &mut [f16]) {
    let done = halves(from, to);
    to.iter_mut().zip(from).skip(done).for_each(|(to, &from)| *to = f16::from_f32(from));
}

/// A result of a kernel of single precision, stored for half precision.
pub(super) trait Narrowed: Cell {
    type Stored: Cell;
    fn narrow_all(from: &[Self], to: &mut [Self::Stored]);
}

impl Narrowed for f32 {
    type Stored = f16;
    fn narrow_all(from: &[f32], to: &mut [f16]) {
        narrow(from, to);
    }
}

macro_rules! unchanged {
    ($($t:ty)*) => {$(
        impl Narrowed for $t {
            type Stored = $t;
            fn narrow_all(from: &[$t], to: &mut [$t]) {
                to.copy_from_slice(from);
            }
        }
    )*};
}
unchanged!(BoolByte i32);

/// Applies a kernel of single precision to half-precision numbers.
pub(super) fn half_one<R: Narrowed>(kernel: One<f32, R>, from: &[f16], out: &mut [R::Stored]) {
    let (mut wide, mut results) = ([0f32; CHUNK], [R::default(); CHUNK]);
    for (from, out) in from.chunks(CHUNK).zip(out.chunks_mut(CHUNK)) {
        let (wide, results) = (&mut wide[..from.len()], &mut results[..from.len()]);
        widen(from, wide);
        kernel(wide, results);
        R::narrow_all(results, out);
    }
}

/// Like [`half_one`], for two inputs.
pub(super) fn half_two<R: Narrowed>(kernel: fn(&[f32], &[f32], &mut [R]), a: &[f16], b: &[f16], out: &mut [R::Stored]) {
    let (mut left, mut right, mut results) = ([0f32; CHUNK], [0f32; CHUNK], [R::default(); CHUNK]);
    for ((a, b), out) in a.chunks(CHUNK).zip(b.chunks(CHUNK)).zip(out.chunks_mut(CHUNK)) {
        let (left, right, results) = (&mut left[..a.len()], &mut right[..a.len()], &mut results[..a.len()]);
        widen(a, left);
        widen(b, right);
        kernel(left, right, results);
        R::narrow_all(results, out);
    }
}

/// Runs a kernel of single precision over half-precision numbers.
pub(super) fn run_half_one<R: Narrowed>(op: Op, kernel: One<f32, R>, from: &Array, out: &Array) -> Result<FpFlags> {
    let (to, input) = (out.memory()?, from.memory()?);
    let [o, i] = layouts([out, from])?;
    let operands = [
        Elements { memory: &to, layout: &o, itemsize: size_of::<R::Stored>(), looked_up: false },
        Elements { memory: &input, layout: &i, itemsize: 2, looked_up: false },
    ];
    let found = AtomicU8::new(0);
    parallel::blocks(operands, steps(op), &|blocks| {
        let mut flags = FpFlags::NONE;
        let outcome = blocks.each(|block| {
            let (from, out) = block.one::<f16, R::Stored>();
            half_one(kernel, from, out);
            flags |= check_one(op, from, out);
            Ok(())
        });
        found.fetch_or(flags.0, Ordering::Relaxed);
        outcome
    })?;
    Ok(FpFlags(found.into_inner()))
}

/// Like [`run_half_one`], for two inputs.
pub(super) fn run_half_two<R: Narrowed>(
    op: Op,
    kernel: fn(&[f32], &[f32], &mut [R]),
    [a, b]: [&Array; 2],
    out: &Array,
) -> Result<FpFlags> {
    let (to, left, right) = (out.memory()?, a.memory()?, b.memory()?);
    let [o, x, y] = layouts([out, a, b])?;
    let operands = [
        Elements { memory: &to, layout: &o, itemsize: size_of::<R::Stored>(), looked_up: false },
        Elements { memory: &left, layout: &x, itemsize: 2, looked_up: false },
        Elements { memory: &right, layout: &y, itemsize: 2, looked_up: false },
    ];
    let found = AtomicU8::new(0);
    parallel::blocks(operands, steps(op), &|blocks| {
        let mut flags = FpFlags::NONE;
        let outcome = blocks.each(|block| {
            let (a, b, out) = block.two::<f16, f16, R::Stored>();
            half_two(kernel, a, b, out);
            flags |= check_two(op, a, b, out);
            Ok(())
        });
        found.fetch_or(flags.0, Ordering::Relaxed);
        outcome
    })?;
    Ok(FpFlags(found.into_inner()))
}
