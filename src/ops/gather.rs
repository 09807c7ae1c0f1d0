//! Reading and writing along one dimension by tensors of indices: `index_select`, `gather`, `take` and their like read,
//! `scatter_`, `index_add_`, `index_copy_`, `index_fill_` and `put_` write.
//! Follows <https://pytorch.org/docs/2.7/generated/torch.gather.html> and its neighbours. Unlike subscripts, most of these
//! take no negative indices.

use super::check::{
    Lacks, at_least_1d, by_width, fits, lost, no_overlap, product, resolved, size_at, size_or_one, sum, supported,
    through_bits, writable,
};
use super::copy::{cast, copy_into};
use super::view;
use crate::bail;
use crate::tensor::iterate::{Run, walk};
use crate::tensor::layout::{Dims, broadcast_sizes, show, wrap_dim};
use crate::tensor::memory::{get, set as put};
use crate::tensor::tensor::check_bounds;
use crate::tensor::{DType, Device, Element, Error, ErrorKind, Layout, Result, Scalar, View, dispatch};

/// `x.index_select(dim, index)`: the slices the index names, in its order; a row-major copy.
///
/// # Errors
/// IndexError or RuntimeError, by the dimension, for an index out of bounds or below zero.
pub fn index_select(view: &View, dim: i64, index: &View) -> Result<View> {
    let d = wrap_dim(dim, view.ndim())?;
    if index.ndim() > 1 {
        bail!(IndexError, "index_select(): Index is supposed to be a vector");
    }
    let count = index.numel();
    if view.ndim() == 0 && count != 1 {
        bail!(RuntimeError, "index_select(): Index to scalar can have only 1 value, got {count} value(s)");
    }
    if !matches!(index.dtype, DType::Long | DType::Int) {
        bail!(RuntimeError, "index_select(): Expected dtype int32 or int64 for index");
    }
    let mut sizes = Dims::from_slice(view.sizes());
    if let Some(size) = sizes.get_mut(d) {
        *size = count;
    }
    let out = View::zeros(&sizes, view.dtype, either_device(view, index))?;
    if out.device().is_meta() || view.ndim() > 1 && count == 0 {
        return Ok(out);
    }
    let size = size_or_one(&view.layout, d)?;
    if view.ndim() > 1 && view.numel() == 0 && size == 0 {
        bail!(RuntimeError, "index_select(): self indexing axis dim should be positive");
    }
    if view.ndim() < 2 {
        supported("index_select", view.dtype, Lacks::BareUnsigned)?;
    }
    let view = resolved(view)?;
    let chosen = indices(index, |i| {
        if (0..size).contains(&i) {
            Ok(i)
        } else if view.ndim() > 1 && (d == 1 || view.numel() == 0) {
            // PyTorch has a loop of its own for this dimension, with its own check.
            bail!(RuntimeError, "INDICES element is out of DATA bounds, id={i} axis_dim={size}")
        } else {
            bail!(IndexError, "index out of range in self")
        }
    })?;
    if out.numel() == 0 {
        return Ok(out);
    }
    let (from, to) = (at_least_1d(&view.layout), at_least_1d(&out.layout));
    for (row, &i) in chosen.iter().enumerate() {
        move_slice(&out, &to.select(d, row as i64), &view, &from.select(d, i))?;
    }
    Ok(out)
}

/// The device of a result: without data if one of the operands is.
fn either_device(view: &View, index: &View) -> Device {
    if index.device().is_meta() { Device::META } else { view.device() }
}

/// The numbers of an index tensor in row-major order, each checked.
fn indices(index: &View, check: impl Fn(i64) -> Result<i64>) -> Result<Vec<i64>> {
    let memory = index.memory()?;
    index.layout.offsets().map(|at| check(index.read(&memory, at).to_i64())).collect()
}

/// Copies the elements of one layout of `from` to those of another of `to`, of one dtype and one shape.
pub(super) fn move_slice(to: &View, to_layout: &Layout, from: &View, from_layout: &Layout) -> Result<()> {
    let (to_memory, from_memory) = (to.memory()?, from.memory()?);
    by_width!(to.dtype, T => {
        let (to, from) = (to_memory.typed::<T>(), from_memory.typed::<T>());
        walk([to_layout, from_layout], |run| {
            for i in 0..run.length as i64 {
                let [write, read] = at(&run, i);
                put(to.get(write).ok_or_else(lost)?, get(from.get(read).ok_or_else(lost)?));
            }
            Ok(())
        })
    })
}

/// The operands' offsets at step `i` of a run.
fn at<const N: usize>(run: &Run<N>, i: i64) -> [usize; N] {
    std::array::from_fn(|k| (run.offset[k] + i * run.stride[k]) as usize)
}

/// An error for an index that names no element of a dimension.
fn out_of_bounds(kind: ErrorKind, index: i64, dim: usize, size: i64) -> Error {
    Error::new(kind, format!("index {index} is out of bounds for dimension {dim} with size {size}"))
}

/// `x.gather(dim, index)`: for each element of the index, the element of `x` at the same place but for `dim`, where the
/// index tells the place.
pub fn gather(view: &View, dim: i64, index: &View) -> Result<View> {
    let d = wrap_dim(dim, view.ndim())?;
    let out = View::zeros(index.sizes(), view.dtype, either_device(view, index))?;
    if index.numel() == 0 {
        return Ok(out);
    }
    if index.dtype != DType::Long {
        bail!(RuntimeError, "gather(): Expected dtype int64 for index");
    }
    if view.ndim().max(1) != index.ndim().max(1) {
        bail!(RuntimeError, "Index tensor must have the same number of dimensions as input tensor");
    }
    for i in (0..view.ndim()).filter(|&i| i != d) {
        if size_or_one(&index.layout, i)? > view.sizes()[i] {
            bail!(
                RuntimeError,
                "Size does not match at dimension {i} expected index {} to be no larger than self {} apart from dimension \
                 {d}",
                show(index.sizes()),
                show(view.sizes())
            );
        }
    }
    if out.device().is_meta() {
        return Ok(out);
    }
    let view = resolved(view)?;
    let kernel = if view.dtype.is_floating_point() && d == 0 && selects_rows(&view, index) {
        "gather_expanded_index"
    } else {
        "scatter_gather_tensor_cpu"
    };
    supported(kernel, view.dtype, Lacks::ComplexHalf)?;
    let source = at_least_1d(&view.layout);
    let (size, stride) = (source.sizes[d], source.strides[d]);
    let places = at_least_1d(&index.layout);
    // The index alone says where along `d` to read, so the source stands still there.
    let mut lines = Layout { sizes: places.sizes.clone(), ..source };
    lines.strides[d] = 0;
    let (from, to, index_memory) = (view.memory()?, out.memory()?, index.memory()?);
    let numbers = index_memory.typed::<i64>();
    by_width!(view.dtype, T => {
        let (from, to) = (from.typed::<T>(), to.typed::<T>());
        walk([&at_least_1d(&out.layout), &places, &lines], |run| {
            for i in 0..run.length as i64 {
                let [write, place, read] = at(&run, i);
                let index = get(numbers.get(place).ok_or_else(lost)?);
                if !(0..size).contains(&index) {
                    return Err(out_of_bounds(ErrorKind::RuntimeError, index, d, size));
                }
                let read = read as i64 + index * stride;
                put(to.get(write).ok_or_else(lost)?, get(from.get(read as usize).ok_or_else(lost)?));
            }
            Ok(())
        })?;
    });
    Ok(out)
}

/// Does an index name whole rows of a row-major tensor? PyTorch has a loop of its own for these.
fn selects_rows(view: &View, index: &View) -> bool {
    view.layout.is_contiguous()
        && view.ndim() == index.ndim()
        && view.numel() > 0
        && index
            .strides()
            .split_first()
            .is_some_and(|(first, rest)| *first == 1 && rest.iter().all(|&stride| stride == 0))
        && view.sizes().iter().skip(1).eq(index.sizes().iter().skip(1))
}

/// What `scatter_` writes.
#[derive(Clone, Copy)]
pub enum Scattered<'a> {
    /// The element of this tensor at the index's own place.
    Source(&'a View),
    Value(Scalar),
}

/// How what is written joins what is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reduce {
    Replace,
    Add,
    Multiply,
}

/// `x.scatter_(dim, index, src, reduce)`: writes to the places that [`gather`] would read; `reduce` may be `add` or
/// `multiply`.
pub fn scatter_(view: &View, dim: i64, index: &View, what: Scattered, reduce: Option<&str>) -> Result<()> {
    let d = check_scatter(view, dim, index, what)?;
    let reduce = match reduce {
        None => Reduce::Replace,
        Some("add") => Reduce::Add,
        Some("multiply") => Reduce::Multiply,
        Some(_) => bail!(RuntimeError, "reduce argument must be either add or multiply."),
    };
    scatter(view, d, index, what, reduce)
}

/// `x.scatter_add_(dim, index, src)`: adds to the places that [`gather`] would read.
pub fn scatter_add_(view: &View, dim: i64, index: &View, source: &View) -> Result<()> {
    let d = check_scatter(view, dim, index, Scattered::Source(source))?;
    scatter(view, d, index, Scattered::Source(source), Reduce::Add)
}

impl<'a> Scattered<'a> {
    fn source(self) -> Option<&'a View> {
        match self {
            Scattered::Source(source) => Some(source),
            Scattered::Value(_) => None,
        }
    }
}

fn check_scatter(view: &View, dim: i64, index: &View, what: Scattered) -> Result<usize> {
    let d = wrap_dim(dim, view.ndim())?;
    if index.numel() != 0 && index.dtype != DType::Long {
        bail!(RuntimeError, "scatter(): Expected dtype int64 for index");
    }
    let source = what.source();
    if source.is_some_and(|source| source.dtype != view.dtype) {
        bail!(RuntimeError, "scatter(): Expected self.dtype to be equal to src.dtype");
    }
    if index.numel() != 0 {
        check_scatter_shape(view, d, index, source)?;
    }
    let operands: Vec<&View> = std::iter::once(index).chain(source).collect();
    writable(view, &operands)?;
    Ok(d)
}

fn scatter(view: &View, d: usize, index: &View, what: Scattered, reduce: Reduce) -> Result<()> {
    let is_meta = |view: &View| view.device().is_meta();
    if index.numel() == 0 || is_meta(view) || is_meta(index) || what.source().is_some_and(is_meta) {
        return Ok(());
    }
    let kernel = if what.source().is_some() { "scatter_gather_tensor_cpu" } else { "scatter_gather_scalar_cpu" };
    supported(kernel, view.dtype, Lacks::ComplexHalf)?;
    if reduce != Reduce::Replace && view.dtype.is_reduced_floating_point() {
        // PyTorch rounds 16-bit floats once, after all has been joined.
        let wide = cast(view, DType::Float)?;
        match what {
            Scattered::Source(source) => {
                scatter(&wide, d, index, Scattered::Source(&cast(source, DType::Float)?), reduce)?;
            }
            Scattered::Value(_) => scatter(&wide, d, index, what, reduce)?,
        }
        return copy_into(view, &wide);
    }
    let sizes = at_least_1d(&index.layout).sizes;
    let (source, lines, unfit) = match what {
        Scattered::Source(source) => {
            let source = resolved(source)?;
            let lines = Layout { sizes, ..at_least_1d(&source.layout) };
            (source, lines, None)
        }
        // A number is a source of one element that never moves. Whether it fits is asked after the first index.
        Scattered::Value(value) => {
            let strides = Dims::from_elem(0, sizes.len());
            let lines = Layout { sizes, strides, offset: 0 };
            (View::scalar(value, view.dtype)?, lines, fits(value, view.dtype).err())
        }
    };
    through_bits(view, |view| {
        Scatter { d, index, source: &source, lines: &lines, reduce, unfit: unfit.as_ref() }.write(view)
    })
}

fn check_scatter_shape(view: &View, d: usize, index: &View, source: Option<&View>) -> Result<()> {
    if view.ndim().max(1) != index.ndim().max(1) {
        bail!(RuntimeError, "Index tensor must have the same number of dimensions as self tensor");
    }
    let mut wrong = false;
    for i in (0..view.ndim().max(1)).filter(|&i| i != d) {
        wrong |= size_or_one(&index.layout, i)? > size_or_one(&view.layout, i)?;
    }
    let Some(source) = source else {
        if wrong {
            bail!(
                RuntimeError,
                "Expected index {} to be no larger than self {} apart from dimension {d}",
                show(index.sizes()),
                show(view.sizes())
            );
        }
        return Ok(());
    };
    for i in 0..view.ndim().max(1) {
        wrong = wrong || size_or_one(&index.layout, i)? > size_or_one(&source.layout, i)?;
    }
    if view.ndim().max(1) != source.ndim().max(1) {
        bail!(RuntimeError, "Index tensor must have the same number of dimensions as src tensor");
    }
    if wrong {
        bail!(
            RuntimeError,
            "Expected index {} to be no larger than self {} apart from dimension {d} and to be no larger size than src {}",
            show(index.sizes()),
            show(view.sizes()),
            show(source.sizes())
        );
    }
    Ok(())
}

/// One scatter ready to be written.
struct Scatter<'a> {
    d: usize,
    index: &'a View,
    source: &'a View,
    /// The source's elements in the index's shape.
    lines: &'a Layout,
    reduce: Reduce,
    unfit: Option<&'a Error>,
}

impl Scatter<'_> {
    /// Writes line by line along the dimension, each from its start, so that of several values for one element the last
    /// one stays.
    fn write(&self, view: &View) -> Result<()> {
        let target = at_least_1d(&view.layout);
        let (size, stride) = (target.sizes[self.d], target.strides[self.d]);
        let places = at_least_1d(&self.index.layout);
        let mut starts = Layout { sizes: places.sizes.clone(), ..target };
        starts.strides[self.d] = 0;
        let (to, from, index_memory) = (view.memory()?, self.source.memory()?, self.index.memory()?);
        let numbers = index_memory.typed::<i64>();
        dispatch!(view.dtype, T => {
            let (to, from) = (to.typed::<T>(), from.typed::<T>());
            for ((start, place), read) in starts.offsets().zip(places.offsets()).zip(self.lines.offsets()) {
                let index = get(numbers.get(place as usize).ok_or_else(lost)?);
                if !(0..size).contains(&index) {
                    return Err(out_of_bounds(ErrorKind::RuntimeError, index, self.d, size));
                }
                if let Some(unfit) = self.unfit {
                    return Err(unfit.clone());
                }
                let to = to.get((start + index * stride) as usize).ok_or_else(lost)?;
                let new = get(from.get(read as usize).ok_or_else(lost)?);
                let joined = match self.reduce {
                    Reduce::Replace => new,
                    Reduce::Add => T::store(sum(get(to).load(), new.load())),
                    Reduce::Multiply => T::store(product(get(to).load(), new.load())),
                };
                put(to, joined);
            }
        });
        Ok(())
    }
}

/// The place in a storage of each element that a tensor of row-major positions names.
fn positions(view: &View, index: &View) -> Result<Vec<i64>> {
    let numel = view.numel();
    let position = |i: i64| {
        if i >= numel || i < -numel {
            bail!(IndexError, "out of range: tried to access index {i} on a tensor of {numel} elements.");
        }
        let mut rest = if i < 0 { i + numel } else { i };
        let mut place = view.layout.offset;
        for (&size, &stride) in view.sizes().iter().zip(view.strides()).rev() {
            place += rest % size * stride;
            rest /= size;
        }
        Ok(place)
    };
    indices(index, position)
}

/// `x.take(index)`: the elements at row-major positions, which may be negative, in the index's shape.
pub fn take(view: &View, index: &View) -> Result<View> {
    if index.dtype != DType::Long {
        bail!(RuntimeError, "take(): Expected a long tensor for index, but got {}", index.dtype.scalar_type());
    }
    if view.numel() == 0 && index.numel() != 0 {
        bail!(IndexError, "take(): tried to take from an empty tensor");
    }
    let out = View::zeros(index.sizes(), view.dtype, either_device(view, index))?;
    if out.device().is_meta() {
        return Ok(out);
    }
    supported("take_cpu", view.dtype, Lacks::ComplexHalf)?;
    let view = resolved(view)?;
    let places = positions(&view, index)?;
    let (from, to) = (view.memory()?, out.memory()?);
    by_width!(view.dtype, T => {
        let from = from.typed::<T>();
        for (cell, &place) in to.typed::<T>().iter().zip(&places) {
            put(cell, get(from.get(place as usize).ok_or_else(lost)?));
        }
    });
    Ok(out)
}

/// `x.put_(index, source, accumulate)`: writes to row-major positions, or adds to what is there.
pub fn put_(view: &View, index: &View, source: &View, accumulate: bool) -> Result<()> {
    if index.dtype != DType::Long {
        bail!(RuntimeError, "put_(): Expected a long tensor for index, but got {}", index.dtype.scalar_type());
    }
    if view.dtype != source.dtype {
        bail!(
            RuntimeError,
            "put_(): self and source expected to have the same dtype, but got self.dtype = {} and source.dtype = {}",
            view.dtype.scalar_type(),
            source.dtype.scalar_type()
        );
    }
    if source.numel() != index.numel() {
        bail!(
            IndexError,
            "put_(): Expected source and index to have the same number of elements, but got source.numel() = {}, \
             index.numel() = {}",
            source.numel(),
            index.numel()
        );
    }
    if view.numel() == 0 && index.numel() != 0 {
        bail!(IndexError, "put_(): Tried to put elements into an empty tensor");
    }
    writable(view, &[index, source])?;
    if index.numel() == 0 || [view, index, source].iter().any(|v| v.device().is_meta()) {
        return Ok(());
    }
    supported("take_put_cpu", view.dtype, Lacks::ComplexHalf)?;
    let source = resolved(source)?;
    through_bits(view, |view| {
        let places = positions(view, index)?;
        let (to, from) = (view.memory()?, source.memory()?);
        dispatch!(view.dtype, T => {
            let (to, from) = (to.typed::<T>(), from.typed::<T>());
            for (&place, read) in places.iter().zip(source.layout.offsets()) {
                let to = to.get(place as usize).ok_or_else(lost)?;
                let new = get(from.get(read as usize).ok_or_else(lost)?);
                put(to, if accumulate { T::store(sum(get(to).load(), new.load())) } else { new });
            }
        });
        Ok(())
    })
}

/// `take_along_dim(indices, dim)`: [`gather`] with operands that broadcast; without a dimension both are flat.
pub fn take_along_dim(view: &View, index: &View, dim: Option<i64>) -> Result<View> {
    for (position, operand) in [view, index].into_iter().enumerate() {
        let expected = if view.device().is_meta() { "meta" } else { "cpu" };
        if position > 0 && operand.device().name() != expected {
            bail!(
                RuntimeError,
                "Expected tensor to have {expected} Device, but got tensor with {} Device (while checking arguments for \
                 torch.take_along_dim():)",
                operand.device().name()
            );
        }
    }
    let Some(dim) = dim else {
        let flat = |view: &View| -> Result<View> { Ok(view.with_layout(view.layout.view(&[-1])?)) };
        return gather(&flat(view)?, 0, &flat(index)?);
    };
    if view.ndim() != index.ndim() {
        bail!(
            RuntimeError,
            "torch.take_along_dim(): input and indices should have the same number of dimensions, but got {} dimensions \
             for input, and {} dimensions for indices",
            view.ndim(),
            index.ndim()
        );
    }
    if index.dtype != DType::Long {
        bail!(
            RuntimeError,
            "torch.take_along_dim(): dtype of indices should be Long but got {}",
            index.dtype.scalar_type()
        );
    }
    let d = wrap_dim(dim, view.ndim())?;
    let (_, size) = size_at(&view.layout, d as i64)?;
    // Both broadcast against each other everywhere but along the dimension.
    let mut sizes = Dims::from_slice(view.sizes());
    sizes[d] = index.sizes()[d];
    let index_sizes = broadcast_sizes(&sizes, index.sizes())?;
    let mut sizes = Dims::from_slice(index.sizes());
    sizes[d] = size;
    let view_sizes = broadcast_sizes(&sizes, view.sizes())?;
    gather(&view::expand(view, &view_sizes)?, dim, &view::expand(index, &index_sizes)?)
}

/// `x.index_add_(dim, index, source, alpha)`: adds `alpha` times the source's slices to those the index names.
pub fn index_add_(view: &View, dim: i64, index: &View, source: &View, alpha: Scalar) -> Result<()> {
    let d = wrap_dim(dim, view.ndim())?;
    if index.ndim() > 1 {
        bail!(
            IndexError,
            "index_add_(): Index is supposed to be a vector, but got dim: {} with type: {} and size: {}",
            index.ndim(),
            index.dtype.scalar_type(),
            show(index.sizes())
        );
    }
    if !matches!(index.dtype, DType::Long | DType::Int) {
        bail!(
            RuntimeError,
            "index_add_(): Expected dtype int32/int64 for index but got: {}",
            index.dtype.scalar_type()
        );
    }
    if view.dtype != source.dtype {
        bail!(
            RuntimeError,
            "index_add_(): self ({}) and source ({}) must have the same scalar type",
            view.dtype.scalar_type(),
            source.dtype.scalar_type()
        );
    }
    if d != 0 && d >= source.ndim() {
        bail!(
            RuntimeError,
            "index_add_(): Indexing dim {d} is out of bounds of the source tensor with dim {}",
            source.ndim()
        );
    }
    if index.numel() != size_or_one(&source.layout, d)? {
        let (_, size) = size_at(&source.layout, d as i64)?;
        bail!(
            RuntimeError,
            "index_add_(): Number of indices ({}) should be equal to source.size(dim): ({size}), for dim: {d}",
            index.numel()
        );
    }
    let (mut slice, mut source_slice) = (Dims::from_slice(view.sizes()), Dims::from_slice(source.sizes()));
    if view.ndim() > 0 && source.ndim() > 0 {
        slice.remove(d);
        source_slice.remove(d);
    }
    if slice != source_slice {
        bail!(
            RuntimeError,
            "source tensor shape must match self tensor shape, excluding the specified dimension. Got self.shape = {} \
             source.shape = {}",
            show(view.sizes()),
            show(source.sizes())
        );
    }
    writable(view, &[index, source])?;
    if [view, index, source].iter().any(|v| v.device().is_meta()) {
        return Ok(());
    }
    add_slices(view, d, index, source, alpha)
}

fn add_slices(view: &View, d: usize, index: &View, source: &View, alpha: Scalar) -> Result<()> {
    if view.ndim() > 1 && (index.numel() == 0 || view.numel() == 0) {
        return Ok(());
    }
    // PyTorch adds by one of three loops, each with its own name and text.
    let is_one = !matches!(alpha, Scalar::Bool(_)) && alpha.to_complex() == Scalar::Int(1).to_complex();
    if view.ndim() > 1
        && (d == 0 || d + 1 == view.ndim())
        && is_one
        && index.dtype == DType::Long
        && view.dtype != DType::ComplexHalf
    {
        let mut rows = Layout {
            sizes: Dims::from_slice(source.sizes()),
            strides: Dims::from_elem(0, source.ndim()),
            offset: index.layout.offset,
        };
        rows.strides[d] = index.strides().first().copied().unwrap_or(0);
        return scatter(view, d, &index.with_layout(rows), Scattered::Source(source), Reduce::Add);
    }
    let size = size_or_one(&view.layout, d)?;
    let check = |i: i64| match (0..size).contains(&i) {
        true => Ok(i),
        false => bail!(IndexError, "index out of range in self"),
    };
    if view.ndim() > 1 {
        // Every slice is added by a loop of its own, so the first index is looked at before the dtype.
        if let Some(first) = index.layout.offsets().next() {
            check(index.read(&*index.memory()?, first).to_i64())?;
        }
        supported("add_stub", view.dtype, Lacks::Float8)?;
    } else {
        supported("index_add_", view.dtype, Lacks::Float8)?;
    }
    fits(alpha, view.dtype)?;
    let chosen = indices(index, check)?;
    let source = resolved(source)?;
    let slices = at_least_1d(&source.layout);
    let rounds_product = view.ndim() < 2 && view.dtype.is_reduced_floating_point();
    through_bits(view, |view| {
        let target = at_least_1d(&view.layout);
        let (to, from) = (view.memory()?, source.memory()?);
        dispatch!(view.dtype, T => {
            let (to, from) = (to.typed::<T>(), from.typed::<T>());
            let alpha = T::store(alpha).load();
            for (row, &i) in chosen.iter().enumerate() {
                walk([&target.select(d, i), &slices.select(d, row as i64)], |run| {
                    for step in 0..run.length as i64 {
                        let [write, read] = at(&run, step);
                        let to = to.get(write).ok_or_else(lost)?;
                        let (old, new) = (get(to).load(), get(from.get(read).ok_or_else(lost)?).load());
                        let total = match (old, new, alpha) {
                            // Rounded once, as the fused instruction does.
                            (Scalar::Float(old), Scalar::Float(new), Scalar::Float(alpha)) if !rounds_product => {
                                Scalar::Float(new.mul_add(alpha, old))
                            }
                            _ => sum(old, T::store(product(new, alpha)).load()),
                        };
                        put(to, T::store(total));
                    }
                    Ok(())
                })?;
            }
        });
        Ok(())
    })
}

/// `x.index_copy_(dim, index, source)`: writes the source's slices over those the index names.
pub fn index_copy_(view: &View, dim: i64, index: &View, source: &View) -> Result<()> {
    let d = wrap_dim(dim, view.ndim())?;
    if index.ndim() > 1 {
        bail!(IndexError, "index_copy_(): Index should have dimension 1 or 0 (got {})", index.ndim());
    }
    let count = index.numel();
    if source.ndim() == 0 && count != 1 {
        bail!(IndexError, "index_copy_(): When source is scalar, index should have one element (got {count})");
    }
    if source.ndim() != view.ndim() && source.ndim() != 0 && view.ndim() != 0 {
        bail!(
            IndexError,
            "index_copy_(): When source and destination are not scalars, their dimensionality must match. Source \
             dimensionality ({}), destination dimensionality ({})",
            source.ndim(),
            view.ndim()
        );
    }
    if index.dtype != DType::Long {
        bail!(RuntimeError, "index_copy_(): Expected a long tensor for index, but got {}", index.dtype.scalar_type());
    }
    if view.dtype != source.dtype {
        bail!(
            RuntimeError,
            "index_copy_(): self and source expected to have the same dtype, but got (self) {} and (source) {}",
            view.dtype.scalar_type(),
            source.dtype.scalar_type()
        );
    }
    let sliced = |sizes: &[i64]| -> Dims { (0..sizes.len()).filter(|&i| i != d).map(|i| sizes[i]).collect() };
    let (slice, source_slice) = (sliced(view.sizes()), sliced(source.sizes()));
    if slice != source_slice {
        let plain = |sizes: &[i64]| sizes.iter().map(i64::to_string).collect::<Vec<_>>().join(" ");
        bail!(
            RuntimeError,
            "index_copy_(): Source/destination tensor must have same slice shapes. Destination slice shape: {} at \
             dimension {d} and source slice shape: {} at dimension 0.",
            plain(&slice),
            plain(&source_slice)
        );
    }
    if source.ndim() > 0 && count != size_or_one(&source.layout, d)? {
        bail!(
            IndexError,
            "index_copy_(): Number of indices ({count}) should be equal to source.size(dim) ({})",
            size_or_one(&source.layout, d)?
        );
    }
    writable(view, &[index, source])?;
    if [view, index, source].iter().any(|v| v.device().is_meta()) {
        return Ok(());
    }
    supported("index_copy_cpu", view.dtype, Lacks::Float8)?;
    if view.numel() == 0 {
        return Ok(());
    }
    let size = size_or_one(&view.layout, d)?;
    let chosen = indices(index, |i| {
        if (0..size).contains(&i) {
            return Ok(i);
        }
        bail!(IndexError, "index_copy_(): index {i} is out of bounds for dimension {d} with size {size}")
    })?;
    let source = resolved(source)?;
    let slices = at_least_1d(&source.layout);
    through_bits(view, |view| {
        let target = at_least_1d(&view.layout);
        for (row, &i) in chosen.iter().enumerate() {
            move_slice(view, &target.select(d, i), &source, &slices.select(d, row as i64))?;
        }
        Ok(())
    })
}

/// `x.index_fill_(dim, index, value)`: fills the slices the index names; negative indices count from the end.
pub fn index_fill_(view: &View, dim: i64, index: &View, value: Scalar) -> Result<()> {
    if index.dtype != DType::Long {
        bail!(IndexError, "index_fill_(): Expected dtype int64 for index.");
    }
    no_overlap(view, index)?;
    if !view.dtype.is_complex() && matches!(value, Scalar::Complex(_)) {
        bail!(RuntimeError, "index_fill_(): Converting complex Scalar to non-complex type is not supported");
    }
    let d = wrap_dim(dim, view.ndim())?;
    if index.ndim() > 1 {
        bail!(RuntimeError, "Index has to be a vector/scalar");
    }
    if view.device().is_meta() || index.device().is_meta() {
        return Ok(());
    }
    through_bits(view, |view| {
        let target = at_least_1d(&view.layout);
        let size = target.sizes[d];
        // PyTorch lays the indices along the dimension before it looks whether there is anything to fill.
        let mut laid = target.clone();
        (laid.sizes[d], laid.strides[d]) = (index.numel(), 0);
        check_bounds(&laid, view.dtype, view.storage.nbytes())?;
        supported("index_fill_cpu", view.dtype, Lacks::Float8)?;
        fits(value, view.dtype)?;
        if laid.sizes.contains(&0) {
            return Ok(());
        }
        let chosen = indices(index, |i| {
            if i >= size || i < -size {
                return Err(out_of_bounds(ErrorKind::IndexError, i, d, size));
            }
            Ok(if i < 0 { i + size } else { i })
        })?;
        let to = view.memory()?;
        dispatch!(view.dtype, T => {
            let (to, value) = (to.typed::<T>(), T::store(value));
            for &i in &chosen {
                for write in target.select(d, i).offsets() {
                    put(to.get(write as usize).ok_or_else(lost)?, value);
                }
            }
        });
        Ok(())
    })
}
