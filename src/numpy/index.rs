//! `a[…]` and `a[…] = value`: by integers, slices, ellipses and new axes, which give views, and by arrays of integers and
//! masks, which give copies. Follows <https://numpy.org/doc/2.4/user/basics.indexing.html>.

use crate::array::{Array, kept_strides};
use crate::convert;
use crate::descr::Descr;
use crate::element::{Item, each};
use crate::ndarray::{NdArray, Number, note};
use crate::strided::{Strided, broadcast};
use objects::plain::slices::slice_of;
use std::rc::Rc;
use tensor::memory::BoolByte;
use tensor::parallel::vectorised;
use tensor::{Dims, Error, Result, Scalar, Storage, bail, interrupt, limits, parallel};
use value::{Slice, Value};

/// One part of a subscript.
enum Part {
    Integer(i64),
    Slice(Rc<Slice>),
    Ellipsis,
    NewAxis,
    /// Positions along one dimension.
    Positions(Array),
    /// A mask over as many dimensions as it has itself.
    Mask(Array),
}

impl Part {
    /// Returns the number of dimensions that the part consumes.
    fn consumed(&self) -> usize {
        match self {
            Part::Integer(_) | Part::Slice(_) | Part::Positions(_) => 1,
            Part::Ellipsis | Part::NewAxis => 0,
            Part::Mask(mask) => mask.ndim(),
        }
    }
}

fn invalid() -> Error {
    Error::index(
        "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or boolean arrays are valid \
         indices",
    )
}

fn part(value: &Value) -> Result<Part> {
    Ok(match value {
        Value::Int(index) => Part::Integer(*index),
        Value::BigInt(_) => bail!(IndexError, "cannot fit 'int' into an index-sized integer"),
        Value::Slice(slice) => Part::Slice(slice.clone()),
        Value::Ellipsis => Part::Ellipsis,
        Value::None => Part::NewAxis,
        Value::Bool(mask) => Part::Mask(Array::scalar(Scalar::Bool(*mask), Descr::BOOL)?),
        Value::Object(object) if !object.is_array() && object.has_special("__index__") => {
            match call::indexes::index_of(value) {
                Some(Value::Int(index)) => Part::Integer(index),
                _ => return Err(invalid()),
            }
        }
        Value::List(_) | Value::Tuple(_) | Value::Object(_) | Value::Tensor(_) | Value::Size(_) | Value::Range(_) => {
            let is_list = !matches!(value, Value::Object(_) | Value::Tensor(_));
            let array = convert::array(value, None).map_err(|error| match error.kind {
                tensor::ErrorKind::NotImplementedError => invalid(),
                _ => error,
            })?;
            let is_empty_list = is_list && array.count() == 0;
            match array.descr {
                descr if descr.dtype == tensor::DType::Bool => Part::Mask(array),
                _ if is_empty_list => Part::Positions(array.copied(Descr::LONG, crate::Order::C)?),
                descr if !descr.is_integral() && is_list => return Err(invalid()),
                descr if !descr.is_integral() => {
                    if array.ndim() == 0 {
                        return Err(invalid());
                    }
                    bail!(IndexError, "arrays used as indices must be of integer (or boolean) type")
                }
                _ if array.ndim() == 0 => Part::Integer(array.item()?.to_i64()),
                _ => Part::Positions(array),
            }
        }
        _ => return Err(invalid()),
    })
}

/// A subscript, with an ellipsis for the dimensions that it does not name.
struct Subscript {
    parts: Vec<Part>,
    /// Whether an ellipsis was written.
    open: bool,
}

impl Subscript {
    fn of(index: &Value, ndim: usize) -> Result<Subscript> {
        let mut parts = match index {
            Value::Tuple(items) => items.iter().map(part).collect::<Result<Vec<Part>>>()?,
            one => vec![part(one)?],
        };
        let open = parts.iter().filter(|part| matches!(part, Part::Ellipsis)).count();
        if open > 1 {
            bail!(IndexError, "an index can only have a single ellipsis ('...')");
        }
        let consumed = parts.iter().map(Part::consumed).sum::<usize>();
        if consumed > ndim {
            bail!(IndexError, "too many indices for array: array is {ndim}-dimensional, but {consumed} were indexed");
        }
        if open == 0 {
            parts.push(Part::Ellipsis);
        }
        Ok(Subscript { parts, open: open > 0 })
    }

    fn is_advanced(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, Part::Positions(_) | Part::Mask(_)))
    }

    /// Returns whether the subscript is one integer for each dimension.
    fn is_element(&self, ndim: usize) -> bool {
        let integers = self.parts.iter().filter(|part| matches!(part, Part::Integer(_))).count();
        !self.open && integers == ndim && self.parts.len() == ndim + 1
    }
}

fn from_front(index: i64, axis: usize, size: i64) -> Result<i64> {
    let place = if index < 0 { index.saturating_add(size) } else { index };
    if (0..size).contains(&place) {
        return Ok(place);
    }
    bail!(IndexError, "index {index} is out of bounds for axis {axis} with size {size}")
}

/// What remains of an array after all parts that give views, and the positions of the others.
struct Chosen {
    /// The dimensions that slices and new axes leave, in their order.
    rest: Strided,
    /// For each array of positions: the stride that it walks with, the size and the number of its dimension, and the
    /// positions.
    walks: Vec<(i64, i64, usize, Array)>,
    /// Where in `rest` the dimensions of the positions go.
    at: usize,
}

impl Chosen {
    fn of(places: &Strided, subscript: &Subscript) -> Result<Chosen> {
        let advanced = subscript.is_advanced();
        let consumed: usize = subscript.parts.iter().map(Part::consumed).sum();
        let mut rest = Strided { shape: Dims::new(), strides: Dims::new(), offset: places.offset };
        let mut walks = Vec::new();
        let mut axis = 0;
        // The first place of an advanced part, and whether another part stands between two of them.
        let (mut first, mut is_apart, mut was_advanced) = (None, false, false);
        for part in &subscript.parts {
            let counts = advanced && matches!(part, Part::Integer(_) | Part::Positions(_) | Part::Mask(_));
            if counts {
                is_apart |= first.is_some() && !was_advanced;
                first = first.or(Some(rest.ndim()));
            }
            // An ellipsis that stands for no dimension still stands between two parts.
            was_advanced = counts;
            match part {
                Part::Integer(index) => {
                    let (size, stride) = (places.shape[axis], places.strides[axis]);
                    rest.offset += from_front(*index, axis, size)? * stride;
                    axis += 1;
                }
                Part::Slice(slice) => {
                    let (size, stride) = (places.shape[axis], places.strides[axis]);
                    let (start, length, step) = sliced(slice, size, stride)?;
                    rest.offset += start;
                    rest.shape.push(length);
                    rest.strides.push(step);
                    axis += 1;
                }
                Part::Ellipsis => {
                    for _ in 0..places.ndim() - consumed {
                        rest.shape.push(places.shape[axis]);
                        rest.strides.push(places.strides[axis]);
                        axis += 1;
                    }
                }
                Part::NewAxis => {
                    rest.shape.push(1);
                    rest.strides.push(0);
                }
                Part::Positions(positions) => {
                    walks.push((places.strides[axis], places.shape[axis], axis, positions.clone()));
                    axis += 1;
                }
                Part::Mask(mask) => {
                    for (d, &size) in mask.shape().iter().enumerate() {
                        if places.shape[axis + d] != size {
                            bail!(
                                IndexError,
                                "boolean index did not match indexed array along axis {}; size of axis is {} but size of \
                                 corresponding boolean axis is {size}",
                                axis + d,
                                places.shape[axis + d]
                            );
                        }
                    }
                    if mask.ndim() == 0 {
                        // One position along a dimension of its own, or none.
                        let chosen = i64::from(mask.item()?.truth());
                        walks.push((0, 1, axis, Array::zeros(&[chosen], Descr::LONG, false)?));
                    }
                    for (d, positions) in nonzero(mask)?.into_iter().enumerate() {
                        walks.push((places.strides[axis + d], places.shape[axis + d], axis + d, positions));
                    }
                    axis += mask.ndim();
                }
            }
        }
        let at = if is_apart { 0 } else { first.unwrap_or(0) };
        Ok(Chosen { rest, walks, at })
    }

    /// Returns the shape of the positions and the byte offset that each adds.
    fn offsets(&self) -> Result<(Dims, Vec<i64>)> {
        let shapes = self.walks.iter().map(|(.., positions)| positions.shape());
        let shape = broadcast(shapes.clone()).ok_or_else(|| {
            let shapes: Vec<String> = shapes.map(crate::strided::show).collect();
            Error::index(format!(
                "shape mismatch: indexing arrays could not be broadcast together with shapes {} ",
                shapes.join(" ")
            ))
        })?;
        let count: i64 = if shape.contains(&0) { 0 } else { shape.iter().product() };
        let mut offsets = limits::filled(0i64, limits::count(count))?;
        for (stride, size, axis, positions) in &self.walks {
            let spread = positions.at(positions.places.broadcast_to(&shape));
            let memory = spread.memory()?;
            for (i, (offset, at)) in offsets.iter_mut().zip(spread.offsets()).enumerate() {
                interrupt::check_at(i)?;
                let index = spread.read_at(&memory, at).to_i64();
                *offset += from_front(index, *axis, *size)? * stride;
            }
        }
        Ok((shape, offsets))
    }

    /// Returns the shape of the whole result.
    fn shape(&self, positions: &[i64]) -> Dims {
        let mut shape = Dims::from_slice(&self.rest.shape[..self.at]);
        shape.extend_from_slice(positions);
        shape.extend_from_slice(&self.rest.shape[self.at..]);
        shape
    }
}

/// Returns the positions of the elements that are not zero, an array for each dimension.
pub(crate) fn nonzero(array: &Array) -> Result<Vec<Array>> {
    let memory = array.memory()?;
    let ndim = array.ndim();
    let mut found: Vec<i64> = Vec::new();
    if array.descr == Descr::BOOL && array.is_c() {
        let (first, count) = (limits::count(array.places.offset), limits::count(array.count()));
        let bits = memory.typed::<BoolByte>().get(first..).and_then(|bits| bits.get(..count)).unwrap_or_default();
        for (i, bit) in bits.iter().enumerate() {
            interrupt::check_at(i)?;
            if tensor::memory::get(bit).get() {
                limits::push(&mut found, i as i64)?;
            }
        }
    } else {
        for (i, offset) in array.offsets().enumerate() {
            interrupt::check_at(i)?;
            if array.read_at(&memory, offset).truth() {
                limits::push(&mut found, i as i64)?;
            }
        }
    }
    // The columns of one array, as in NumPy.
    let count = found.len() as i64;
    let mut rows = limits::filled(0i64, found.len().saturating_mul(ndim))?;
    for (row, flat) in rows.chunks_exact_mut(ndim.max(1)).zip(&found) {
        let mut rest = *flat;
        for d in (0..ndim).rev() {
            let size = array.shape()[d].max(1);
            row[d] = rest % size;
            rest /= size;
        }
    }
    let table = integers(&[count, ndim as i64], &rows)?;
    Ok((0..ndim).map(|d| table.at(table.places.select(1, d as i64))).collect())
}

/// Returns the positions of the elements that are not zero, as arrays of a script.
pub(crate) fn nonzero_values(array: &Array) -> Result<Value> {
    let columns = nonzero(array)?;
    if let [only] = &columns[..] {
        return Ok(Value::tuple([NdArray::value(only.copied(only.descr, crate::Order::C)?)]));
    }
    let whole = columns.first().map(|first| {
        let places = Strided::dense(&[first.count(), columns.len() as i64], first.itemsize(), false);
        NdArray::value(first.at(places))
    });
    Ok(Value::tuple(columns.into_iter().map(|column| match &whole {
        Some(whole) => NdArray::on(column, whole.clone(), true),
        None => NdArray::value(column),
    })))
}

/// Creates an array of `int64`.
pub(crate) fn integers(shape: &[i64], values: &[i64]) -> Result<Array> {
    let array = Array::unwritten(shape, Descr::LONG, false)?;
    let memory = array.storage.data()?;
    for (cell, value) in memory.typed::<i64>().iter().zip(values) {
        tensor::memory::set(cell, *value);
    }
    Ok(array)
}

/// `array[index]`.
///
/// # Errors
/// IndexError in NumPy's words.
pub(crate) fn get(this: &NdArray, index: &Value) -> Result<Value> {
    if let Some(part) = first_part(this, index)? {
        return Ok(part);
    }
    let array = this.array();
    let subscript = Subscript::of(index, array.ndim())?;
    let chosen = Chosen::of(&array.places, &subscript)?;
    if !subscript.is_advanced() {
        if subscript.is_element(array.ndim()) {
            return Number::of(&array.at(chosen.rest)).map(Number::value);
        }
        return Ok(this.view(array.at(chosen.rest)));
    }
    let (result, order) = taken(&array, &chosen)?;
    if result.ndim() == 0 && !subscript.open {
        return convert::result(result);
    }
    Ok(match order {
        None => NdArray::value(result),
        // NumPy gathers with the positions first, and shows the result transposed.
        Some(order) => {
            let turned = result.at(result.places.permuted(&order));
            NdArray::on(turned, NdArray::value(result), true)
        }
    })
}

/// `array[index]` of the most frequent kinds, at once: an integer or a slice along the first dimension, and a mask over all
/// elements.
fn first_part(this: &NdArray, index: &Value) -> Result<Option<Value>> {
    let array = this.shown();
    let (Some(&size), Some(&stride)) = (array.shape().first(), array.places.strides.first()) else { return Ok(None) };
    Ok(match index {
        Value::Int(at) => {
            let at = from_front(*at, 0, size)?;
            let part = array.at(array.places.select(0, at));
            Some(if part.ndim() == 0 { Number::of(&part)?.value() } else { this.view(part) })
        }
        Value::Slice(slice) => {
            let (start, length, step) = sliced(slice, size, stride)?;
            let mut places = array.places.clone();
            places.offset += start;
            (places.shape[0], places.strides[0]) = (length, step);
            Some(this.view(array.at(places)))
        }
        Value::Object(_) => match NdArray::of(index) {
            Some(mask) => each!(array.descr.dtype, T => masked::<T>(&array, &mask.shown()))?.map(NdArray::value),
            None => None,
        },
        _ => None,
    })
}

/// Returns the bytes to skip, the length and the stride in bytes of a slice along a dimension.
fn sliced(slice: &Slice, size: i64, stride: i64) -> Result<(i64, i64, i64)> {
    let (start, stop, step) = slice_of(slice, size)?;
    let length = value::Range { start, stop, step }.len() as i64;
    // A slice without elements begins where the array does, and has no step.
    Ok(if length > 0 { (start * stride, length, stride.saturating_mul(step)) } else { (0, 0, stride) })
}

/// Copies the elements at which a mask is true, if both are dense and of one shape.
fn masked<T: Item>(array: &Array, mask: &Array) -> Result<Option<Array>> {
    let fits = mask.descr == Descr::BOOL && mask.shape() == array.shape() && mask.is_c() && array.is_c();
    if !fits || array.descr.swapped || array.places.offset % size_of::<T>() as i64 != 0 {
        return Ok(None);
    }
    let count = limits::count(array.count());
    let (first, first_bit) = (limits::count(array.places.offset) / size_of::<T>(), limits::count(mask.places.offset));
    let (items, bits) = (array.memory()?, mask.memory()?);
    let bits = parallel::reading::<BoolByte, _>(&bits, |bits| -> Result<Vec<BoolByte>> {
        let bits = bits.get(first_bit..).and_then(|bits| bits.get(..count)).unwrap_or_default();
        let mut copy = limits::vector(count)?;
        copy.extend_from_slice(bits);
        Ok(copy)
    });
    let Some(bits) = bits.transpose()? else { return Ok(None) };
    let chosen = vectorised(|| bits.iter().fold(0usize, |sum, bit| sum + usize::from(bit.get())));
    let taken = parallel::reading::<T, _>(&items, |items| -> Result<Vec<T>> {
        let items = items.get(first..).and_then(|items| items.get(..count)).unwrap_or_default();
        // One more place, where elements are written that are not chosen.
        let mut taken = limits::filled(T::default(), chosen + 1)?;
        let mut at = 0;
        for (items, bits) in items.chunks(interrupt::STRIDE).zip(bits.chunks(interrupt::STRIDE)) {
            interrupt::check()?;
            for (&item, bit) in items.iter().zip(bits) {
                if let Some(place) = taken.get_mut(at) {
                    *place = item;
                }
                at += usize::from(bit.get());
            }
        }
        taken.truncate(chosen);
        Ok(taken)
    });
    let Some(taken) = taken.transpose()? else { return Ok(None) };
    let result = Array::unwritten(&[taken.len() as i64], array.descr, false)?;
    let memory = result.memory()?;
    memory.typed::<T>().iter().zip(taken).for_each(|(cell, item)| tensor::memory::set(cell, item));
    Ok(Some(result))
}

/// Copies the chosen elements to a new array whose first dimensions are those of the positions. Also returns the order
/// of dimensions that puts them in their place, if they belong elsewhere.
fn taken(array: &Array, chosen: &Chosen) -> Result<(Array, Option<Vec<usize>>)> {
    let (positions, offsets) = chosen.offsets()?;
    let mut shape = positions.clone();
    shape.extend_from_slice(&chosen.rest.shape);
    crate::strided::checked_count(&shape, array.itemsize())?;
    // The dimensions behind the positions keep the order that they have in the array.
    let size = array.itemsize();
    let inner = inner_strides(&chosen.rest, size);
    let block = chosen.rest.shape.iter().fold(size as i64, |block, &size| block.saturating_mul(size.max(1)));
    let mut strides = Dims::new();
    let mut step = block;
    for &size in positions.iter().rev() {
        strides.insert(0, step);
        step = step.saturating_mul(size.max(1));
    }
    strides.extend_from_slice(&inner);
    let count = if shape.contains(&0) { 0 } else { shape.iter().product::<i64>() };
    let nbytes = usize::try_from(count).unwrap_or(usize::MAX).saturating_mul(size);
    let storage = Storage::unwritten(nbytes, tensor::Device::CPU)?;
    let result = Array { storage, descr: array.descr, places: Strided { shape, strides, offset: 0 } };
    let part = Strided { shape: chosen.rest.shape.clone(), strides: inner, offset: 0 };
    let pieces = offsets.iter().enumerate().map(|(i, offset)| (i as i64 * block, *offset));
    each_piece(&result, &part, array, &chosen.rest, pieces)?;
    let (count, ndim) = (positions.len(), result.ndim());
    let order = (chosen.at > 0 && count > 0)
        .then(|| (count..count + chosen.at).chain(0..count).chain(count + chosen.at..ndim).collect::<Vec<usize>>());
    Ok((result, order))
}

/// Returns the strides of gathered parts: those of repeated and new dimensions are the smallest, the others keep their
/// order.
fn inner_strides(rest: &Strided, itemsize: usize) -> Dims {
    let (mut strides, mut step) = (Dims::from_elem(0, rest.ndim()), itemsize as i64);
    let still: Vec<usize> = (0..rest.ndim()).rev().filter(|&d| rest.strides[d] == 0).collect();
    for &d in &still {
        strides[d] = step;
        step = step.saturating_mul(rest.shape[d].max(1));
    }
    let moving: Vec<usize> = (0..rest.ndim()).filter(|d| !still.contains(d)).collect();
    let part = rest.permuted(&moving);
    let kept = kept_strides(&part.shape, &[&part], usize::try_from(step).unwrap_or(itemsize));
    for (&d, stride) in moving.iter().zip(kept) {
        strides[d] = stride;
    }
    strides
}

/// Copies parts of one array to parts of another, for each pair of byte offsets that are added to the two.
fn each_piece(
    to: &Array,
    to_part: &Strided,
    from: &Array,
    from_part: &Strided,
    pieces: impl Iterator<Item = (i64, i64)>,
) -> Result<()> {
    let moved = |places: &Strided, by: i64| Strided { offset: places.offset + by, ..places.clone() };
    if from_part.count() == 1 && to.descr == from.descr {
        let (source, target) = (from.memory()?, to.memory()?);
        for (i, (there, here)) in pieces.enumerate() {
            interrupt::check_at(i)?;
            to.write_at(&target, to_part.offset + there, from.read_at(&source, from_part.offset + here));
        }
        return Ok(());
    }
    for (there, here) in pieces {
        interrupt::check()?;
        to.at(moved(to_part, there)).assign(&from.at(moved(from_part, here)))?;
    }
    Ok(())
}

/// `array[index] = value`.
///
/// # Errors
/// IndexError and ValueError in NumPy's words.
pub(crate) fn set(this: &NdArray, index: &Value, value: &Value) -> Result<()> {
    this.refuse_read_only("assignment destination")?;
    let array = this.array();
    let subscript = Subscript::of(index, array.ndim())?;
    let single = match &subscript.parts[..] {
        [Part::Mask(mask), ..] if subscript.parts.len() == 2 && !subscript.open => Some(mask.ndim()),
        _ => None,
    };
    let chosen = Chosen::of(&array.places, &subscript)?;
    if !subscript.is_advanced() {
        let target = array.at(chosen.rest);
        note(&target);
        if subscript.is_element(array.ndim()) {
            return target.put(target.places.offset, convert::pack(value, target.descr)?);
        }
        return store(&target, value);
    }
    note(&array);
    let source = source(value, array.descr)?;
    let (positions, offsets) = chosen.offsets()?;
    let shape = chosen.shape(&positions);
    let fits = |source: &Array| broadcast([source.shape(), &shape[..]].into_iter()).is_some_and(|both| both == shape);
    let trimmed = without_leading_ones(&source, shape.len());
    if !fits(&trimmed) {
        let masked = single.filter(|&dims| dims == array.ndim() && source.ndim() <= 1);
        match masked {
            Some(_) => bail!(
                ValueError,
                "NumPy boolean array indexing assignment cannot assign {} input values to the {} output values where the \
                 mask is true",
                source.count(),
                offsets.len()
            ),
            None => bail!(
                ValueError,
                "shape mismatch: value array of shape {} could not be broadcast to indexing result of shape {}",
                crate::strided::show(source.shape()),
                crate::strided::show(&shape)
            ),
        }
    }
    // The value in the order of the positions: their dimensions first.
    let spread = trimmed.at(trimmed.places.broadcast_to(&shape));
    let spread = if spread.may_share(&array) { spread.copied(spread.descr, crate::Order::C)? } else { spread };
    let (count, ndim) = (positions.len(), shape.len());
    let order: Vec<usize> = (chosen.at..chosen.at + count).chain(0..chosen.at).chain(chosen.at + count..ndim).collect();
    let turned = spread.places.permuted(&order);
    let outer = Strided {
        shape: Dims::from_slice(&turned.shape[..count]),
        strides: Dims::from_slice(&turned.strides[..count]),
        offset: 0,
    };
    let inner = Strided {
        shape: Dims::from_slice(&turned.shape[count..]),
        strides: Dims::from_slice(&turned.strides[count..]),
        offset: turned.offset,
    };
    let sources: Vec<i64> = spread.at(outer).offsets().collect();
    each_piece(&array, &chosen.rest, &spread, &inner, offsets.into_iter().zip(sources))
}

fn without_leading_ones(array: &Array, ndim: usize) -> Array {
    let surplus = array.ndim().saturating_sub(ndim);
    let ones = array.shape().iter().take(surplus).take_while(|&&size| size == 1).count();
    let places = (0..ones).fold(array.places.clone(), |places, _| places.select(0, 0));
    array.at(places)
}

/// Returns the array of a value that is assigned to elements of a dtype.
pub(crate) fn source(value: &Value, descr: Descr) -> Result<Array> {
    match convert::held(value)? {
        Some(array) => Ok(array),
        None => convert::array(value, Some(descr)),
    }
}

/// Assigns a value to all elements of an array, broadcast.
///
/// # Errors
/// ValueError in NumPy's words if the shapes do not fit.
pub(crate) fn store(target: &Array, value: &Value) -> Result<()> {
    if target.ndim() == 0 && convert::held(value)?.is_none() && value::equality::number(value).is_some() {
        return target.put(target.places.offset, convert::pack(value, target.descr)?);
    }
    let source = source(value, target.descr)?;
    assign_broadcast(target, &source)
}

/// Copies an array to all elements of another, broadcast.
///
/// # Errors
/// Those of [`store`].
pub(crate) fn assign_broadcast(target: &Array, source: &Array) -> Result<()> {
    let trimmed = without_leading_ones(source, target.ndim());
    let both = broadcast([trimmed.shape(), target.shape()].into_iter());
    if both.is_none_or(|both| both[..] != *target.shape()) {
        bail!(
            ValueError,
            "could not broadcast input array from shape {} into shape {}",
            crate::strided::show(source.shape()),
            crate::strided::show(target.shape())
        );
    }
    target.assign(&trimmed.at(trimmed.places.broadcast_to(target.shape())))
}

/// Returns the shape of what a subscript chooses, and the byte offset of each element in row-major order, repeated ones
/// included.
pub(crate) fn places(array: &Array, index: &Value) -> Result<(Dims, Vec<i64>)> {
    let subscript = Subscript::of(index, array.ndim())?;
    let chosen = Chosen::of(&array.places, &subscript)?;
    if !subscript.is_advanced() {
        let part = array.at(chosen.rest);
        return Ok((part.places.shape.clone(), part.offsets().collect()));
    }
    let (positions, offsets) = chosen.offsets()?;
    let shape = chosen.shape(&positions);
    // Dimensions before the positions vary slower than these, those behind faster.
    let split = |from: usize, to: usize, offset: i64| Strided {
        shape: Dims::from_slice(&chosen.rest.shape[from..to]),
        strides: Dims::from_slice(&chosen.rest.strides[from..to]),
        offset,
    };
    let before = array.at(split(0, chosen.at, chosen.rest.offset));
    let behind = array.at(split(chosen.at, chosen.rest.ndim(), 0));
    let mut all = limits::list(limits::count(if shape.contains(&0) { 0 } else { shape.iter().product() }))?;
    for start in before.offsets() {
        for offset in &offsets {
            interrupt::check()?;
            all.extend(behind.offsets().map(|rest| start + offset + rest));
        }
    }
    Ok((shape, all))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tensor::DType;

    #[test]
    fn masks_choose_as_a_walk_over_elements_does() {
        for count in [0, 1, 2, interrupt::STRIDE - 1, interrupt::STRIDE, interrupt::STRIDE + 1, 100_000] {
            let bits: Vec<Scalar> = (0..count).map(|i| Scalar::Bool(i * 7 % 5 < 2 || i + 1 == count)).collect();
            let mask = Array::of(&bits, Descr::BOOL).unwrap();
            for dtype in [DType::Byte, DType::Half, DType::Int, DType::Double, DType::ComplexDouble] {
                let items: Vec<Scalar> = (0..count as i64).map(|i| Scalar::Int(i % 100)).collect();
                let array = Array::of(&items, Descr::native(dtype)).unwrap();
                let all = array.scalars().unwrap();
                let slow: Vec<Scalar> =
                    all.iter().zip(&bits).filter(|(_, bit)| bit.truth()).map(|(item, _)| *item).collect();
                let Some(quick) = each!(dtype, T => masked::<T>(&array, &mask)).unwrap() else {
                    // Memory without bytes is left to the walk.
                    assert_eq!(count, 0);
                    continue;
                };
                assert!(quick.scalars().unwrap() == slow, "{count} of {dtype:?}");
                assert_eq!(quick.shape(), [slow.len() as i64]);
            }
            // Bools are counted as bits, integers one by one.
            let numbers = mask.copied(Descr::LONG, crate::Order::C).unwrap();
            let [quick, slow] = [&mask, &numbers].map(|array| nonzero(array).unwrap()[0].scalars().unwrap());
            assert!(quick == slow, "{count}");
        }
    }
}
