//! `reduce`: combines the elements along some axes. Elements are visited in NumPy's order, because the digits of a sum
//! depend on it: the axis with the smallest strides is innermost, and axes that follow each other without gaps are one.

use super::call::{Operand, number};
use super::flags::FpFlags;
use super::fold::{Line, Reduced};
use super::resolve::{In, LoopTypes, resolve};
use super::run::{Cell, FEW, taken};
use super::table::{Identity, Op, Ufunc};
use super::walk::{fold_all, plan, sum_chunks};
use crate::array::{Array, Order};
use crate::descr::{Casting, Descr, Kind};
use crate::element::each;
use crate::strided::{Strided, show};
use smallvec::SmallVec;
use tensor::memory::BoolByte;
use tensor::parallel::vectorised;
use tensor::{DType, Dims, Error, ErrorKind, Result, Scalar, bail, interrupt, limits, parallel};

/// The value that a reduction starts with.
#[derive(Clone, Debug, Default)]
pub(crate) enum Initial {
    /// The function's identity, if it has one.
    #[default]
    Identity,
    /// The first element: `initial=None`.
    First,
    Value(Operand),
}

/// The keyword arguments of a reduction.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reduction {
    pub dtype: Option<Descr>,
    pub out: Option<Array>,
    pub keepdims: bool,
    pub initial: Initial,
    pub where_: Option<Array>,
}

fn is_reorderable(ufunc: &Ufunc) -> bool {
    ufunc.identity != Identity::None || matches!(ufunc.op, Op::Maximum | Op::Minimum | Op::Fmax | Op::Fmin)
}

/// Checks that a function can be reduced.
///
/// # Errors
/// ValueError and RuntimeError in NumPy's words; `method` is named in them.
pub(super) fn check_reducible(ufunc: &Ufunc, method: &str) -> Result<()> {
    if ufunc.signature.is_some() {
        bail!(RuntimeError, "Reduction not defined on ufunc with signature");
    }
    if ufunc.nin != 2 {
        bail!(ValueError, "{method} only supported for binary functions");
    }
    if ufunc.nout != 1 {
        bail!(ValueError, "{method} only supported for functions returning a single value");
    }
    Ok(())
}

fn mismatch(ufunc: &Ufunc) -> Error {
    Error::type_error(format!(
        "No loop matching the specified signature and casting was found for ufunc {}",
        ufunc.name
    ))
}

/// Replaces the first dtype that an error names by None: a reduction asks for a loop by the input alone.
fn without_first(error: Error) -> Error {
    const LIST: &str = "matching types (";
    let changed = error.message.split_once(LIST).and_then(|(before, dtypes)| {
        let (_, rest) = dtypes.split_once(", ")?;
        Some(format!("{before}{LIST}None, {rest}"))
    });
    match changed {
        Some(message) => Error { message, ..error },
        None => error,
    }
}

/// Returns the dtype in which a function is reduced.
///
/// # Errors
/// TypeError in NumPy's words.
pub(crate) fn reduction_dtype(ufunc: &Ufunc, input: Descr, dtype: Option<Descr>, out: Option<Descr>) -> Result<DType> {
    if ufunc.op.is_logical() {
        return match dtype {
            Some(dtype) if dtype.dtype != DType::Bool => Err(mismatch(ufunc)),
            _ => Ok(DType::Bool),
        };
    }
    let input = input.to_native();
    // Sums and products of short integers are in the machine's word.
    let wide = match input.kind() {
        _ if dtype.is_some() || out.is_some() || !matches!(ufunc.op, Op::Add | Op::Multiply) => None,
        Kind::Bool | Kind::Signed => Some(Descr::LONG),
        Kind::Unsigned => Some(Descr::native(DType::UInt64)),
        _ => None,
    };
    let fixed = dtype.map(Descr::to_native).or(wide);
    let first = match (fixed, out) {
        (Some(fixed), _) => fixed,
        (None, Some(out)) => out.to_native(),
        (None, None) => input,
    };
    let signature = fixed.map(|fixed| vec![Some(fixed), None, Some(fixed)]);
    let types: LoopTypes =
        resolve(ufunc, &[In::Array(first), In::Array(input)], None, Casting::Unsafe, signature.as_deref())
            .map_err(|error| if fixed.is_some() { mismatch(ufunc) } else { without_first(error) })?;
    match types[..] {
        [a, _, result] if a == result => Ok(a),
        _ => Err(mismatch(ufunc)),
    }
}

/// Returns the dimensions from the slowest to the fastest, by the strides of `operands` in turn. Follows NumPy's
/// iterator: operands that disagree leave the row-major order.
pub(super) fn slowest_first(shape: &[i64], operands: &[&[i64]]) -> SmallVec<[usize; 6]> {
    let ndim = shape.len();
    // Fastest first, as the iterator keeps them.
    let mut order: SmallVec<[usize; 6]> = (0..ndim).rev().collect();
    for first in 1..ndim {
        let mut place = first;
        let axis = order[first];
        for at in (0..first).rev() {
            let other = order[at];
            let (mut unknown, mut swaps) = (true, false);
            for strides in operands {
                let (own, beside) = (strides[axis].unsigned_abs(), strides[other].unsigned_abs());
                if own != 0 && beside != 0 && shape[axis] != 1 && shape[other] != 1 {
                    if beside <= own {
                        swaps = false;
                    } else if unknown {
                        swaps = true;
                    }
                    unknown = false;
                }
            }
            match (unknown, swaps) {
                (true, _) => {}
                (false, true) => place = at,
                (false, false) => break,
            }
        }
        order.remove(first);
        order.insert(place, axis);
    }
    order.reverse();
    order
}

/// Returns the strides of the mask beside an input.
fn mask_strides(mask: Option<&Array>, shape: &[i64]) -> Option<Dims> {
    mask.filter(|mask| mask.ndim() <= shape.len()).map(|mask| mask.places.broadcast_to(shape).strides)
}

/// Allocates the result: dense, with the dimensions in the order of the input's.
fn new_result(input: &Array, is_reduced: &[bool], dtype: DType, mask: Option<&Array>) -> Result<Array> {
    let beside = mask_strides(mask, input.shape());
    let strides: SmallVec<[&[i64]; 2]> = std::iter::once(&input.places.strides[..]).chain(beside.as_deref()).collect();
    let order = slowest_first(input.shape(), &strides);
    let shape: Dims = input.shape().iter().zip(is_reduced).map(|(&size, &gone)| if gone { 1 } else { size }).collect();
    let dense = Array::unwritten(&shape, Descr::native(dtype), false)?;
    let mut strides = Dims::from_elem(0, shape.len());
    let mut step = dense.itemsize() as i64;
    for &d in order.iter().rev() {
        strides[d] = step;
        step = step.saturating_mul(shape[d].max(1));
    }
    Ok(dense.at(Strided { shape, strides, offset: 0 }))
}

/// Returns the places without the reduced dimensions.
fn dropped(places: &Strided, is_reduced: &[bool]) -> Strided {
    let kept = |values: &Dims| values.iter().zip(is_reduced).filter(|(_, gone)| !**gone).map(|(&v, _)| v).collect();
    Strided { shape: kept(&places.shape), strides: kept(&places.strides), offset: places.offset }
}

/// Returns an output given by the caller, with the reduced dimensions inserted.
fn given_result(out: &Array, input: &Array, is_reduced: &[bool], keepdims: bool, name: &str) -> Result<Array> {
    let wanted = if keepdims { input.ndim() } else { is_reduced.iter().filter(|gone| !**gone).count() };
    if out.ndim() != wanted {
        let note = if keepdims { " (must match the operand's when keepdims=True)" } else { "" };
        bail!(
            ValueError,
            "output parameter for reduction operation {name} has the wrong number of dimensions: Found {} but expected \
             {wanted}{note}",
            out.ndim()
        );
    }
    let mut places = Strided { shape: Dims::new(), strides: Dims::new(), offset: out.places.offset };
    let mut next = 0;
    for (d, &gone) in is_reduced.iter().enumerate() {
        let (size, stride) = match gone && !keepdims {
            true => (1, 0),
            false => {
                next += 1;
                (out.places.shape[next - 1], out.places.strides[next - 1])
            }
        };
        let fits = if gone { size == 1 } else { size == input.shape()[d] };
        if !fits {
            let dims = |shape: &[i64]| shape.iter().map(i64::to_string).collect::<Vec<_>>().join(",");
            bail!(
                ValueError,
                "operands could not be broadcast together with remapped shapes [original->remapped]: {}->({}) {} ",
                show(out.shape()),
                dims(out.shape()),
                show(input.shape())
            );
        }
        places.shape.push(size);
        places.strides.push(if gone { 0 } else { stride });
    }
    Ok(out.at(places))
}

/// Returns the value that a function starts with.
pub(super) fn identity(ufunc: &Ufunc) -> Option<Scalar> {
    match ufunc.identity {
        Identity::None => None,
        Identity::Number(number) => Some(Scalar::Int(number)),
        Identity::Bool(value) => Some(Scalar::Bool(value)),
        Identity::NegativeInfinity => Some(Scalar::Float(f64::NEG_INFINITY)),
    }
}

/// Reduces all of an array of few elements at once, without the machinery of long loops. `None` if there are more, if
/// they are not side by side, if the result has another dtype, or if it could be an error of arithmetic.
pub(crate) fn reduce_few(ufunc: &Ufunc, array: &Array) -> Option<Scalar> {
    let keeps_dtype = match ufunc.op {
        Op::Add | Op::Multiply => {
            matches!(array.descr.dtype, DType::Float | DType::Double | DType::Long | DType::UInt64)
        }
        Op::Maximum | Op::Minimum => true,
        _ => false,
    };
    if !keeps_dtype || array.count() > FEW as i64 {
        return None;
    }
    let (op, start) = (ufunc.op, identity(ufunc));
    each!(array.descr.dtype, T => fold_few::<T>(op, array, start))
}

fn fold_few<T: Reduced + Cell>(op: Op, array: &Array, start: Option<Scalar>) -> Option<Scalar> {
    let count = usize::try_from(array.count()).ok()?;
    let items = taken::<T>(array, count)?;
    let (first, items) = match start {
        Some(start) => (T::store(start), items.get(..count)?),
        None => (*items.first()?, items.get(1..count)?),
    };
    let line = Line { items, first: 0, step: 1, count: items.len() };
    let folded = (T::reducer(op)?.fold)(first, line);
    (!folded.is_special()).then(|| folded.load())
}

/// Combines the elements along `axes`; `None` for all.
///
/// # Errors
/// ValueError and TypeError in NumPy's words; MemoryError; KeyboardInterrupt.
pub(crate) fn reduce(
    ufunc: &'static Ufunc,
    array: &Array,
    axes: Option<&[usize]>,
    options: &Reduction,
) -> Result<(Array, FpFlags)> {
    check_reducible(ufunc, "reduce")?;
    let mut is_reduced: SmallVec<[bool; 6]> = SmallVec::from_elem(axes.is_none(), array.ndim());
    for &axis in axes.unwrap_or_default() {
        if let Some(gone) = is_reduced.get_mut(axis) {
            *gone = true;
        }
    }
    let dtype = reduction_dtype(ufunc, array.descr, options.dtype, options.out.as_ref().map(|out| out.descr))?;
    if is_reduced.iter().filter(|gone| **gone).count() > 1 && !is_reorderable(ufunc) {
        bail!(
            ValueError,
            "reduction operation '{}' is not reorderable, so at most one axis may be specified",
            ufunc.name
        );
    }
    let descr = Descr::native(dtype);
    let given = match &options.out {
        Some(out) => Some(given_result(out, array, &is_reduced, options.keepdims, ufunc.name)?),
        None => None,
    };
    // An output of another dtype, and one that is read meanwhile, get a copy.
    let direct = given
        .as_ref()
        .filter(|out| out.descr == descr && out.places.in_elements(out.itemsize()).is_some() && !out.may_share(array));
    let result = match direct {
        Some(out) => out.clone(),
        None => new_result(array, &is_reduced, dtype, options.where_.as_ref())?,
    };
    let start = match &options.initial {
        Initial::Value(operand) => Some(number(operand, dtype)?.copied(descr, Order::C)?.item()?),
        Initial::Identity => identity(ufunc),
        Initial::First => None,
    };
    if start.is_none() && options.where_.is_some() {
        bail!(
            ValueError,
            "reduction operation '{}' does not have an identity, so to use a where mask one has to specify 'initial'",
            ufunc.name
        );
    }
    if start.is_none() && array.count() == 0 && result.count() > 0 {
        bail!(ValueError, "zero-size array to reduction operation {} which has no identity", ufunc.name);
    }
    if let Some(count) = count_of_true(ufunc, array, &result, options.where_.is_some())? {
        let start = start.unwrap_or(Scalar::Int(0)).to_i64();
        result.put(result.places.offset, Scalar::Int(start.wrapping_add(count)))?;
        return finished(&is_reduced, options, given.as_ref(), direct.is_some(), &result, FpFlags::NONE);
    }
    let order = loop_order(array, &result, options.where_.as_ref())?;
    let is_cast = array.descr != descr || array.places.in_elements(array.itemsize()).is_none();
    let input = if is_cast { arranged(array, descr, &order)? } else { array.clone() };
    let source = Source { original: array.places.clone(), input, is_cast, order };
    let flags = each!(dtype, T => fill::<T>(ufunc, source, &is_reduced, &result, start, options.where_.as_ref()))?;
    let flags = flags.unwrap_or(FpFlags::NONE);
    finished(&is_reduced, options, given.as_ref(), direct.is_some(), &result, flags)
}

/// Returns the number of true elements, if that is the sum: of adjacent bools, for a single whole number.
fn count_of_true(ufunc: &Ufunc, array: &Array, result: &Array, masked: bool) -> Result<Option<i64>> {
    /// The most ones that a byte can count.
    const MOST: usize = 255;
    let is_sum = ufunc.op == Op::Add && array.descr.dtype == DType::Bool && result.descr.dtype == DType::Long;
    if !is_sum || masked || result.count() != 1 || !(array.is_c() || array.is_f()) {
        return Ok(None);
    }
    let memory = array.memory()?;
    let (first, length) = (limits::count(array.places.offset), limits::count(array.count()));
    let counted = parallel::reading::<BoolByte, _>(&memory, |items| -> Result<i64> {
        let items = items.get(first..).and_then(|items| items.get(..length)).unwrap_or_default();
        let mut total = 0;
        for part in items.chunks(interrupt::STRIDE) {
            interrupt::check()?;
            let sum = |chunk: &[BoolByte]| chunk.iter().fold(0u8, |sum, item| sum.wrapping_add(u8::from(item.get())));
            total += vectorised(|| part.chunks(MOST).fold(0, |total, chunk| total + i64::from(sum(chunk))));
        }
        Ok(total)
    });
    counted.transpose()
}

/// Stores the result in the output of the caller, or drops its reduced dimensions.
fn finished(
    is_reduced: &[bool],
    options: &Reduction,
    given: Option<&Array>,
    is_direct: bool,
    result: &Array,
    flags: FpFlags,
) -> Result<(Array, FpFlags)> {
    if !is_direct && let Some(out) = given {
        out.at(Strided { shape: result.places.shape.clone(), ..out.places.clone() }).assign(result)?;
    }
    if let Some(out) = &options.out {
        return Ok((out.clone(), flags));
    }
    let places = if options.keepdims { result.places.clone() } else { dropped(&result.places, is_reduced) };
    Ok((result.at(places), flags))
}

/// Fails for integer powers by negative numbers.
pub(super) fn check_exponents(ufunc: &Ufunc, exponents: &Array) -> Result<()> {
    if ufunc.op == Op::Power && super::dispatch::has_negative(exponents)? {
        bail!(ValueError, "Integers to negative integer powers are not allowed.");
    }
    Ok(())
}

/// What is reduced: the caller's places, and the elements in the dtype of the loop, which may be a copy.
struct Source {
    original: Strided,
    input: Array,
    is_cast: bool,
    /// The dimensions, the slowest first.
    order: SmallVec<[usize; 6]>,
}

/// Returns the dimensions in the order of the loop, the slowest first.
fn loop_order(array: &Array, result: &Array, mask: Option<&Array>) -> Result<SmallVec<[usize; 6]>> {
    let zeroed = |places: &Strided| -> Dims {
        places.shape.iter().zip(&places.strides).map(|(&size, &stride)| if size == 1 { 0 } else { stride }).collect()
    };
    let (own, out) = (zeroed(&array.places), zeroed(&result.places));
    let beside = mask_strides(mask, array.shape());
    let strides: SmallVec<[&[i64]; 3]> = [&out[..], &own[..]].into_iter().chain(beside.as_deref()).collect();
    Ok(slowest_first(array.shape(), &strides))
}

/// Returns a copy whose elements lie in the order of the loop.
fn arranged(array: &Array, descr: Descr, order: &[usize]) -> Result<Array> {
    let copy = Array::unwritten(array.shape(), descr, false)?;
    let mut strides = Dims::from_elem(0, array.ndim());
    let mut step = descr.itemsize() as i64;
    for &d in order.iter().rev() {
        strides[d] = step;
        step = step.saturating_mul(array.shape()[d].max(1));
    }
    let copy = copy.at(Strided { shape: array.places.shape.clone(), strides, offset: 0 });
    copy.assign(array)?;
    Ok(copy)
}

/// Sets the result to its first values and folds the input into it. `None` if the function has no kernel.
fn fill<T: Reduced + Cell>(
    ufunc: &Ufunc,
    source: Source,
    is_reduced: &[bool],
    result: &Array,
    start: Option<Scalar>,
    mask: Option<&Array>,
) -> Result<Option<FpFlags>> {
    let Some(reducer) = T::reducer(ufunc.op) else { return Ok(None) };
    let Source { mut original, mut input, is_cast, order } = source;
    match start {
        Some(start) => result.fill(start)?,
        None => {
            // The first elements along the reduced axes, which the loop then skips. Where the order does not matter,
            // it does not matter either that several are visited again.
            let mut first = input.places.clone();
            let reduced = || is_reduced.iter().enumerate().filter(|(_, gone)| **gone).map(|(d, _)| d);
            reduced().for_each(|d| first.shape[d] = 1);
            result.at(Strided { shape: first.shape.clone(), ..result.places.clone() }).assign(&input.at(first))?;
            if let (Some(d), None) = (reduced().next(), reduced().nth(1)) {
                input.places.offset += input.places.strides[d];
                input.places.shape[d] -= 1;
                original.shape[d] -= 1;
            } else if reduced().next().is_none() {
                return Ok(Some(FpFlags::NONE));
            }
        }
    }
    if input.count() == 0 {
        return Ok(Some(FpFlags::NONE));
    }
    // The first elements are bases.
    check_exponents(ufunc, &input)?;
    let chosen = match mask {
        Some(mask) => Some(mask_bits(mask, input.shape(), &order)?),
        None => None,
    };
    let beside = mask_strides(mask, input.shape());
    let walk = plan(&original, &input, result, beside.as_deref(), &order)?;
    let (from, to) = (input.memory()?, result.memory()?);
    let range = 0..to.nbytes() / size_of::<T>();
    let is_sum = ufunc.op == Op::Add && T::INEXACT;
    let chunk = if is_sum { walk.chunk(is_cast) } else { None };
    let done = parallel::between::<T, T, _>(&from, &to, range, |items, out| match chunk {
        Some(chunk) => sum_chunks(&walk, chunk, items, out, chosen.as_deref(), &reducer),
        None => fold_all(&walk, items, out, chosen.as_deref(), &reducer),
    });
    match done {
        Some(outcome) => outcome?,
        None => bail!(RuntimeError, "the output of a reduction overlaps its input"),
    }
    Ok(Some(check::<T>(ufunc.op, &input, result)?))
}

/// Returns the bits of a mask in the order of the loop.
fn mask_bits(mask: &Array, shape: &[i64], order: &[usize]) -> Result<Vec<bool>> {
    if crate::strided::broadcast([mask.shape(), shape].into_iter()).as_deref() != Some(shape) {
        return Err(Error::value(format!(
            "operands could not be broadcast together with shapes {} {} ",
            show(shape),
            show(mask.shape())
        )));
    }
    let wide = mask.at(mask.places.broadcast_to(shape));
    let wide = wide.at(wide.places.permuted(order));
    Ok(wide.scalars()?.into_iter().map(Scalar::truth).collect())
}

/// Returns the errors of arithmetic that the results show.
pub(super) fn check<T: Cell>(op: Op, input: &Array, result: &Array) -> Result<FpFlags> {
    let divides = matches!(op, Op::FloorDivide | Op::Remainder | Op::Fmod);
    if !T::INEXACT {
        let has_zero = divides && any(input, |value| !value.truth())?;
        return Ok(if has_zero { FpFlags::DIVIDE } else { FpFlags::NONE });
    }
    let parts = |value: Scalar| {
        let value = value.to_complex();
        [value.re, value.im]
    };
    let is_nan = |value: Scalar| parts(value).iter().any(|part| part.is_nan());
    let is_infinite = |value: Scalar| parts(value).iter().any(|part| part.is_infinite());
    let mut flags = FpFlags::NONE;
    if !op.raises() {
        return Ok(flags);
    }
    if any(result, is_nan)? && !any(input, is_nan)? {
        flags |= FpFlags::INVALID;
    }
    if any(result, is_infinite)? && !any(input, is_infinite)? {
        let is_quotient = matches!(op, Op::Divide | Op::FloorDivide);
        flags |= if is_quotient { FpFlags::DIVIDE } else { FpFlags::OVERFLOW };
    }
    Ok(flags)
}

fn any(array: &Array, is: impl Fn(Scalar) -> bool) -> Result<bool> {
    let memory = array.memory()?;
    for (at, offset) in array.offsets().enumerate() {
        interrupt::check_at(at)?;
        if is(array.read_at(&memory, offset)) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns the error for a method that needs dimensions.
pub(super) fn scalar_error(method: &str) -> Error {
    Error::new(ErrorKind::TypeError, format!("cannot {method} on a scalar"))
}
