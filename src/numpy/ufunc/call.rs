//! Calls a function: picks the loop, broadcasts and converts the operands, and runs it.

use super::compare::mirrored;
use super::dispatch::{compute, has_negative};
use super::flags::FpFlags;
use super::products::product;
use super::reduce::slowest_first;
use super::resolve::{In, LoopTypes, resolve};
use super::run::Cell;
use super::table::{Op, Ufunc};
use crate::array::{Array, Order};
use crate::descr::{Casting, Descr, Kind, Weak};
use crate::strided::{Strided, broadcast, show};
use smallvec::SmallVec;
use tensor::element::integer_limits;
use tensor::memory::Memory;
use tensor::parallel::{self, vectorised};
use tensor::{DType, Dims, Error, ErrorKind, Result, Scalar, interrupt, limits};

/// An operand: an array, or a number of a script, which has no dtype of its own.
#[derive(Clone, Debug)]
pub(crate) enum Operand {
    Array(Array),
    Weak(Weak, Scalar),
    /// An integer beyond 64 bits: its digits with sign, and the nearest float64.
    Big(String, f64),
}

impl Operand {
    fn as_in(&self) -> In {
        match self {
            Operand::Array(array) => In::Array(array.descr),
            Operand::Weak(weak, _) => In::Weak(*weak),
            Operand::Big(..) => In::Weak(Weak::Integer),
        }
    }
}

/// The keyword arguments of a call.
#[derive(Clone, Debug)]
pub(crate) struct Options<'a> {
    pub out: &'a [Option<Array>],
    pub where_: Option<Array>,
    pub dtype: Option<Descr>,
    pub casting: Casting,
    pub signature: Option<Vec<Option<Descr>>>,
    pub order: Order,
}

impl Default for Options<'_> {
    fn default() -> Self {
        Options { out: &[], where_: None, dtype: None, casting: Casting::SameKind, signature: None, order: Order::Keep }
    }
}

/// The results of a call, and the floating-point errors of the function and of conversions.
#[derive(Clone, Debug)]
pub(crate) struct Outputs {
    pub arrays: SmallVec<[Array; 2]>,
    pub flags: FpFlags,
    pub cast_flags: FpFlags,
}

fn cast_error(ufunc: &Ufunc, role: &str, [from, to]: [Descr; 2], casting: Casting) -> Error {
    Error::new(
        ErrorKind::Other("UFuncTypeError"),
        format!(
            "Cannot cast ufunc '{}' {role} from dtype({}) to dtype({}) with casting rule '{}'",
            ufunc.name,
            from.inner_repr(),
            to.inner_repr(),
            casting.name()
        ),
    )
}

/// Checks that operands and outputs may be converted.
fn check_casts(ufunc: &Ufunc, types: &LoopTypes, inputs: &[Operand], options: &Options) -> Result<()> {
    let casting = options.casting;
    let plural =
        |count: usize, role: &str, at: usize| if count == 1 { role.to_owned() } else { format!("{role} {at}") };
    for (at, (input, &own)) in inputs.iter().zip(types).enumerate() {
        let own = Descr::native(own);
        // A comparison with a mixed pair of integers, and logic, take their operands as they are.
        if let Operand::Array(array) = input
            && !ufunc.op.is_logical()
            && !casting.allows(array.descr, own)
        {
            return Err(cast_error(ufunc, &plural(ufunc.nin, "input", at), [array.descr, own], casting));
        }
        let weak = match input.as_in() {
            In::Weak(weak) if !ufunc.op.is_logical() && casting != Casting::Unsafe => Descr::native(weak.default()),
            _ => continue,
        };
        // Of a number, only the kind matters.
        if weak.kind().max(Kind::Unsigned) > own.kind() && !(weak.is_integral() && own.is_integral()) {
            return Err(cast_error(ufunc, &plural(ufunc.nin, "input", at), [weak, own], casting));
        }
    }
    for (at, (out, &own)) in options.out.iter().zip(types.iter().skip(ufunc.nin)).enumerate() {
        let own = Descr::native(own);
        if let Some(out) = out
            && !casting.allows(own, out.descr)
        {
            return Err(cast_error(ufunc, &plural(ufunc.nout, "output", ufunc.nin + at), [own, out.descr], casting));
        }
    }
    Ok(())
}

/// Converts a number of a script to an array without dimensions in the loop's dtype.
///
/// # Errors
/// OverflowError for an integer beyond the limits of the dtype.
pub(super) fn number(operand: &Operand, dtype: DType) -> Result<Array> {
    let descr = Descr::native(dtype);
    let beyond = |digits: &str| {
        Error::new(ErrorKind::OverflowError, format!("Python integer {digits} out of bounds for {}", descr.name()))
    };
    match operand {
        Operand::Array(array) => Ok(array.clone()),
        Operand::Big(..) if descr.is_integral() => {
            Err(Error::new(ErrorKind::OverflowError, "Python int too large to convert to C long"))
        }
        Operand::Big(_, nearest) if nearest.is_infinite() && descr.is_inexact() => {
            Err(Error::new(ErrorKind::OverflowError, "int too large to convert to float"))
        }
        Operand::Big(_, nearest) => Array::scalar(Scalar::Float(*nearest), descr),
        Operand::Weak(Weak::Integer, value) if descr.is_integral() => match fits(*value, dtype) {
            true => Array::scalar(*value, descr),
            false => Err(beyond(&digits(*value))),
        },
        Operand::Weak(_, value) => Array::scalar(*value, descr),
    }
}

fn whole(value: Scalar) -> i128 {
    match value {
        Scalar::UInt(value) => i128::from(value),
        other => i128::from(other.to_i64()),
    }
}

fn digits(value: Scalar) -> String {
    whole(value).to_string()
}

fn fits(value: Scalar, dtype: DType) -> bool {
    let (low, high) = integer_limits(dtype);
    (low..=high).contains(&whole(value))
}

/// Returns the results of a comparison with an integer beyond the limits of the other operand's dtype: whatever its
/// elements are, they are all smaller or all larger.
fn beyond(ufunc: &Ufunc, types: &LoopTypes, inputs: &[Operand]) -> Option<bool> {
    if !ufunc.op.is_comparison() {
        return None;
    }
    let excess = |operand: &Operand, dtype: DType| match operand {
        _ if !Descr::native(dtype).is_integral() => None,
        Operand::Big(digits, _) => Some(!digits.starts_with('-')),
        Operand::Weak(Weak::Integer, value) if !fits(*value, dtype) => Some(whole(*value) > 0),
        _ => None,
    };
    let [a, b] = inputs else { return None };
    // As if the number were on the right.
    let (op, is_above) = match (excess(a, *types.first()?), excess(b, *types.get(1)?)) {
        (None, Some(is_above)) => (ufunc.op, is_above),
        (Some(is_above), None) => (mirrored(ufunc.op), is_above),
        (Some(_), Some(_)) => return compared(ufunc.op, a, b),
        (None, None) => return None,
    };
    Some(match op {
        Op::NotEqual => true,
        Op::Less | Op::LessEqual => is_above,
        Op::Greater | Op::GreaterEqual => !is_above,
        _ => false,
    })
}

/// Compares two numbers of a script that are both beyond the limits of a dtype, by their digits.
fn compared(op: Op, a: &Operand, b: &Operand) -> Option<bool> {
    let size = |operand: &Operand| {
        let text = match operand {
            Operand::Big(digits, _) => digits.clone(),
            Operand::Weak(_, value) => digits(*value),
            Operand::Array(_) => return None,
        };
        let bare = text.trim_start_matches('-').to_owned();
        Some((!text.starts_with('-'), bare.len(), bare))
    };
    let (a, b) = (size(a)?, size(b)?);
    let order = match (a.0, b.0) {
        (true, true) => a.cmp(&b),
        (false, false) => b.cmp(&a),
        (above, other) => above.cmp(&other),
    };
    Some(match op {
        Op::NotEqual => order.is_ne(),
        Op::Less => order.is_lt(),
        Op::LessEqual => order.is_le(),
        Op::Greater => order.is_gt(),
        Op::GreaterEqual => order.is_ge(),
        _ => order.is_eq(),
    })
}

fn shape_error(shapes: &[&[i64]]) -> Error {
    let shapes: String = shapes.iter().map(|shape| format!("{} ", show(shape))).collect();
    Error::value(format!("operands could not be broadcast together with shapes {shapes}"))
}

/// Returns the shape of the loop.
///
/// # Errors
/// ValueError in NumPy's words.
fn loop_shape(inputs: &[Array], options: &Options) -> Result<Dims> {
    let outs = || options.out.iter().flatten();
    let shapes: SmallVec<[&[i64]; 4]> = inputs.iter().chain(&options.where_).map(Array::shape).collect();
    let Some(shape) = broadcast(shapes.iter().copied()) else {
        let all: SmallVec<[&[i64]; 4]> = shapes.iter().copied().chain(outs().map(Array::shape)).collect();
        return Err(shape_error(&all));
    };
    for out in outs() {
        let both = broadcast([&shape[..], out.shape()].into_iter());
        match both {
            None => {
                let all: SmallVec<[&[i64]; 4]> = shapes.iter().copied().chain(outs().map(Array::shape)).collect();
                return Err(shape_error(&all));
            }
            Some(both) if both[..] != *out.shape() => {
                return Err(Error::value(format!(
                    "non-broadcastable output operand with shape {} doesn't match the broadcast shape {}",
                    show(out.shape()),
                    show(&both)
                )));
            }
            Some(_) => {}
        }
    }
    // An output may have more dimensions than the inputs.
    let outs = outs().map(Array::shape);
    Ok(broadcast(std::iter::once(&shape[..]).chain(outs)).unwrap_or(shape))
}

/// Returns the operand in the loop's dtype, where a kernel can read it.
pub(super) fn fitted(array: &Array, dtype: DType) -> Result<Array> {
    match array.descr == Descr::native(dtype) && array.places.in_elements(array.itemsize()).is_some() {
        true => Ok(array.clone()),
        false => array.copied(Descr::native(dtype), Order::Keep),
    }
}

/// Allocates a result in the order of the operands.
fn new_result(shape: &[i64], operands: &[Array], dtype: DType, order: Order) -> Result<Array> {
    let descr = Descr::native(dtype);
    let column_major = || {
        let is_f = |array: &Array| array.is_f() && !(array.is_c() && array.ndim() <= 1);
        !operands.is_empty() && operands.iter().all(is_f) && !operands.iter().all(Array::is_c)
    };
    match order {
        Order::C => Array::unwritten(shape, descr, false),
        Order::F => Array::unwritten(shape, descr, true),
        Order::Any => Array::unwritten(shape, descr, column_major()),
        Order::Keep if shape.len() <= 1 || operands.iter().all(|array| array.is_c() || array.ndim() == 0) => {
            Array::unwritten(shape, descr, false)
        }
        Order::Keep => {
            let places: SmallVec<[Strided; 3]> =
                operands.iter().map(|array| array.places.broadcast_to(shape)).collect();
            let strides: SmallVec<[&[i64]; 3]> = places.iter().map(|places| &places.strides[..]).collect();
            let order = slowest_first(shape, &strides);
            let mut strides = Dims::from_elem(0, shape.len());
            let mut step = descr.itemsize() as i64;
            for &d in order.iter().rev() {
                strides[d] = step;
                step = step.saturating_mul(shape[d].max(1));
            }
            let dense = Array::unwritten(shape, descr, false)?;
            Ok(dense.at(Strided { shape: Dims::from_slice(shape), strides, offset: 0 }))
        }
    }
}

/// Calls a function.
///
/// # Errors
/// TypeError, ValueError and OverflowError in NumPy's words; MemoryError; KeyboardInterrupt.
pub(crate) fn call(ufunc: &'static Ufunc, inputs: &[Operand], options: &Options) -> Result<Outputs> {
    let ins: SmallVec<[In; 3]> = inputs.iter().map(Operand::as_in).collect();
    let types = resolve(ufunc, &ins, options.dtype, options.casting, options.signature.as_deref())?;
    check_casts(ufunc, &types, inputs, options)?;
    let constant = beyond(ufunc, &types, inputs);
    let mut arrays: SmallVec<[Array; 3]> = SmallVec::new();
    for (operand, &dtype) in inputs.iter().zip(&types) {
        arrays.push(match operand {
            Operand::Array(array) => array.clone(),
            // Its value does not matter.
            _ if constant.is_some() => Array::zeros(&[], Descr::native(dtype), false)?,
            weak => number(weak, dtype)?,
        });
    }
    if ufunc.signature.is_some() {
        return product_call(ufunc, &arrays, &types, options);
    }
    let shape = loop_shape(&arrays, options)?;
    let mut outputs = Outputs { arrays: SmallVec::new(), flags: FpFlags::NONE, cast_flags: FpFlags::NONE };
    let mut fit: SmallVec<[Array; 3]> = SmallVec::new();
    for (array, &dtype) in arrays.iter().zip(&types) {
        fit.push(fitted(array, dtype)?);
    }
    if ufunc.op == Op::Power
        && let Some(exponents) = fit.get(1)
        && has_negative(exponents)?
    {
        return Err(Error::value("Integers to negative integer powers are not allowed."));
    }
    if let Some(mask) = &options.where_ {
        fit = masked(mask, &fit, &shape)?;
    } else {
        for array in &mut fit {
            if array.places.shape != shape {
                array.places = array.places.broadcast_to(&shape);
            }
        }
    }
    let operands: SmallVec<[&Array; 3]> = fit.iter().collect();
    let mut results: SmallVec<[(Array, bool); 2]> = SmallVec::new();
    for part in 0..ufunc.nout {
        let dtype = types.get(ufunc.nin + part).copied().unwrap_or(DType::Bool);
        let given = options.out.get(part).and_then(Option::as_ref);
        // Writes to the output itself if nothing that is still to be read can change.
        let is_direct = options.where_.is_none()
            && ufunc.nout == 1
            && given.is_some_and(|out| {
                out.descr == Descr::native(dtype)
                    && out.places.in_elements(out.itemsize()).is_some()
                    && !fit.iter().any(|input| input.may_share(out) && input.places != out.places)
            });
        let target = match given {
            Some(out) if is_direct => out.clone(),
            _ => match &options.where_ {
                Some(_) => {
                    let count = fit.first().map_or(0, Array::count);
                    Array::unwritten(&[count], Descr::native(dtype), false)?
                }
                None => new_result(&shape, &arrays, dtype, options.order)?,
            },
        };
        match constant {
            Some(value) => target.fill(Scalar::Bool(value))?,
            None => outputs.flags |= compute(ufunc, part, &operands, &target)?,
        }
        results.push((target, is_direct));
    }
    for (part, (result, is_direct)) in results.into_iter().enumerate() {
        let given = options.out.get(part).and_then(Option::as_ref);
        outputs.arrays.push(match (given, &options.where_) {
            (Some(_), _) if is_direct => result,
            (given, Some(mask)) => {
                let out = match given {
                    Some(out) => out.clone(),
                    None => {
                        let fresh = new_result(&shape, &arrays, result.descr.dtype, options.order)?;
                        fresh.fill(Scalar::Int(0))?;
                        fresh
                    }
                };
                scatter(mask, &result, &out)?;
                out
            }
            (Some(out), None) => {
                outputs.cast_flags |= narrowed(&result, out)?;
                out.clone()
            }
            (None, None) => result,
        });
    }
    Ok(outputs)
}

/// Returns the errors of arithmetic of a conversion that has been made: numbers beyond the range of the new dtype. Follows
/// x86 processors, which convert to short integers by way of 32 bits and to 32 unsigned ones by way of 64.
///
/// # Errors
/// KeyboardInterrupt.
pub(crate) fn cast_faults(source: &Array, result: &Array) -> Result<FpFlags> {
    let (from, to) = (source.descr, result.descr);
    let is_float = |descr: Descr| descr.kind() >= Kind::Floating;
    if !is_float(from) && to.dtype != DType::Half || to.dtype == DType::Bool || Casting::Safe.allows(from, to) {
        return Ok(FpFlags::NONE);
    }
    let (bounds, fault) = match to.dtype {
        DType::Half => (65520.0, FpFlags::OVERFLOW),
        DType::Float | DType::ComplexFloat => (3.402_823_567_797_336_6e38, FpFlags::OVERFLOW),
        DType::Double | DType::ComplexDouble => return Ok(FpFlags::NONE),
        DType::UInt32 | DType::Long => (9_223_372_036_854_775_808.0, FpFlags::INVALID),
        DType::UInt64 => (18_446_744_073_709_551_616.0, FpFlags::INVALID),
        _ => (2_147_483_648.0, FpFlags::INVALID),
    };
    let is_beyond = |part: f64| match fault {
        FpFlags::OVERFLOW => part.is_finite() && part.abs() >= bounds,
        _ => !(part < bounds && part >= -bounds),
    };
    let memory = source.memory()?;
    let is_dense = !from.swapped && (source.is_c() || source.is_f());
    let quick = match from.dtype {
        DType::Float if is_dense => any_dense::<f32>(source, &memory, |part| is_beyond(f64::from(part))),
        DType::Double if is_dense => any_dense::<f64>(source, &memory, is_beyond),
        _ => None,
    };
    if let Some(any) = quick {
        return any.map(|any| if any { fault } else { FpFlags::NONE });
    }
    for (at, offset) in source.offsets().enumerate() {
        interrupt::check_at(at)?;
        let value = source.read_at(&memory, offset).to_complex();
        if is_beyond(value.re) || to.kind() == Kind::Complex && is_beyond(value.im) {
            return Ok(fault);
        }
    }
    Ok(FpFlags::NONE)
}

/// Returns whether a test holds for any element of a dense array; `None` if the elements are not aligned.
fn any_dense<T: Cell>(array: &Array, memory: &Memory, test: impl Fn(T) -> bool + Send + Sync) -> Option<Result<bool>> {
    let size = size_of::<T>();
    let (first, count) = (limits::count(array.places.offset), limits::count(array.count()));
    if first % size != 0 {
        return None;
    }
    parallel::reading::<T, _>(memory, |items| {
        let items = items.get(first / size..).and_then(|items| items.get(..count)).unwrap_or_default();
        for part in items.chunks(interrupt::STRIDE) {
            interrupt::check()?;
            if vectorised(|| part.iter().fold(false, |any, &item| any | test(item))) {
                return Ok(true);
            }
        }
        Ok(false)
    })
}

/// Stores a result in an output of another dtype, and returns whether finite numbers became infinite.
fn narrowed(result: &Array, out: &Array) -> Result<FpFlags> {
    out.assign(result)?;
    let narrows = result.descr.kind() >= Kind::Floating
        && out.descr.kind() >= Kind::Floating
        && !Casting::Safe.allows(result.descr, out.descr);
    if !narrows {
        return Ok(FpFlags::NONE);
    }
    let (from, to) = (result.memory()?, out.memory()?);
    let is_finite = |value: Scalar| {
        let value = value.to_complex();
        value.re.is_finite() && value.im.is_finite()
    };
    for (at, (source, place)) in result.offsets().zip(out.offsets()).enumerate() {
        interrupt::check_at(at)?;
        if !is_finite(out.read_at(&to, place)) && is_finite(result.read_at(&from, source)) {
            return Ok(FpFlags::OVERFLOW);
        }
    }
    Ok(FpFlags::NONE)
}

/// Returns the chosen elements of each operand, in one dimension.
fn masked(mask: &Array, operands: &[Array], shape: &[i64]) -> Result<SmallVec<[Array; 3]>> {
    let mask = mask.at(mask.places.broadcast_to(shape));
    let choice = mask.memory()?;
    let count = mask.scalars()?.iter().filter(|value| value.truth()).count() as i64;
    let mut out = SmallVec::new();
    for operand in operands {
        let operand = operand.at(operand.places.broadcast_to(shape));
        let chosen = Array::unwritten(&[count], operand.descr, false)?;
        let (from, to) = (operand.memory()?, chosen.memory()?);
        let mut places = chosen.offsets();
        for (at, (source, choosing)) in operand.offsets().zip(mask.offsets()).enumerate() {
            interrupt::check_at(at)?;
            if mask.read_at(&choice, choosing).truth()
                && let Some(place) = places.next()
            {
                chosen.write_at(&to, place, operand.read_at(&from, source));
            }
        }
        out.push(chosen);
    }
    Ok(out)
}

/// Stores results at the chosen elements of an output.
fn scatter(mask: &Array, results: &Array, out: &Array) -> Result<()> {
    let mask = mask.at(mask.places.broadcast_to(out.shape()));
    let (choice, from, to) = (mask.memory()?, results.memory()?, out.memory()?);
    let mut sources = results.offsets();
    for (at, (place, choosing)) in out.offsets().zip(mask.offsets()).enumerate() {
        interrupt::check_at(at)?;
        if mask.read_at(&choice, choosing).truth()
            && let Some(source) = sources.next()
        {
            out.write_at(&to, place, results.read_at(&from, source));
        }
    }
    Ok(())
}

/// Calls a function of vectors or matrices.
fn product_call(ufunc: &'static Ufunc, arrays: &[Array], types: &LoopTypes, options: &Options) -> Result<Outputs> {
    let ([a, b], Some(&dtype)) = (arrays, types.last()) else {
        return Err(Error::type_error(format!("{}() takes 2 operands", ufunc.name)));
    };
    let (a, b) = (fitted(a, dtype)?, fitted(b, dtype)?);
    let given = options.out.first().and_then(Option::as_ref);
    let result = product(ufunc, &a, &b, given, dtype)?;
    let mut outputs = Outputs { arrays: SmallVec::new(), flags: FpFlags::NONE, cast_flags: FpFlags::NONE };
    outputs.arrays.push(match given {
        Some(out) => {
            outputs.cast_flags |= narrowed(&result, out)?;
            out.clone()
        }
        None if options.order == Order::F => result.copied(result.descr, Order::F)?,
        None => result,
    });
    Ok(outputs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_of_casts_are_found_anywhere() {
        for count in [1, 2, interrupt::STRIDE - 1, interrupt::STRIDE, interrupt::STRIDE + 1, 100_000] {
            for place in [None, Some(0), Some(count / 2), Some(count - 1)] {
                let number = |i: usize| Scalar::Float(if Some(i) == place { 1e300 } else { 2.5 });
                let dense = Array::of(&(0..count).map(number).collect::<Vec<_>>(), Descr::DOUBLE).unwrap();
                // Elements in reverse are looked at one by one.
                let mut places = dense.places.clone();
                places.offset = 8 * (count as i64 - 1);
                places.strides[0] = -8;
                let reversed = dense.at(places);
                for to in [DType::Float, DType::Long, DType::Byte] {
                    let result = dense.copied(Descr::native(to), Order::C).unwrap();
                    let [quick, slow] = [&dense, &reversed].map(|source| cast_faults(source, &result).unwrap());
                    assert!(quick == slow && (quick == FpFlags::NONE) == place.is_none(), "{count} {place:?} {to:?}");
                }
            }
        }
    }
}
