//! Writes along one dimension by index tensors: `scatter_`, `index_add_`, `index_copy_`, `index_fill_` and `put_`.
//! Follows <https://pytorch.org/docs/2.7/generated/torch.Tensor.scatter_.html> and related functions. If an index
//! occurs several times, the last value is kept.

use super::spread::{APART, Joined, Reduce, Spread, in_bounds};
use super::{as_long, out_of_bounds, out_of_range};
use crate::bail;
use crate::layout::{Dims, show, wrap_dim};
use crate::memory::{get, set};
use crate::ops::check::{
    UnsupportedDtypes, at_least_1d, by_width, complex_product, fits, lost, no_overlap, product, resolved, size_at,
    size_or_one, sum, supported, through_bits, writable,
};
use crate::ops::copy::{cast, contiguous, copy_into};
use crate::view::check_bounds;
use crate::{DType, Element, Error, ErrorKind, Layout, Result, Scalar, View, interrupt};

/// The values `scatter_` writes.
#[derive(Clone, Copy)]
pub enum Scattered<'a> {
    /// The element of this tensor at the index's own position.
    Source(&'a View),
    Value(Scalar),
}

/// `x.scatter_(dim, index, src, reduce)`: writes to the elements that [`gather`](fn@super::gather) would read; `reduce`
/// may be `add` or `multiply`.
pub fn scatter_(view: &View, dim: i64, index: &View, what: Scattered, reduce: Option<&str>) -> Result<()> {
    let d = check_scatter(view, dim, index, what)?;
    let reduce = match reduce {
        None => None,
        Some("add") => Some(Reduce::Add),
        Some("multiply") => Some(Reduce::Multiply),
        Some(_) => bail!(RuntimeError, "reduce argument must be either add or multiply."),
    };
    let kernel = if what.source().is_some() { "scatter_gather_tensor_cpu" } else { "scatter_gather_scalar_cpu" };
    scatter(view, d, index, what, reduce, kernel)
}

/// `x.scatter_add_(dim, index, src)`: adds to the elements that [`gather`](fn@super::gather) would read.
pub fn scatter_add_(view: &View, dim: i64, index: &View, source: &View) -> Result<()> {
    let d = check_scatter(view, dim, index, Scattered::Source(source))?;
    scatter(view, d, index, Scattered::Source(source), Some(Reduce::Add), ADDING)
}

/// The name of the adding kernel in error messages.
const ADDING: &str = "scatter_gather_tensor_cpu";

impl<'a> Scattered<'a> {
    fn source(self) -> Option<&'a View> {
        match self {
            Scattered::Source(source) => Some(source),
            Scattered::Value(_) => None,
        }
    }
}

/// Checks the arguments of every scatter. Returns the dimension, counted from the front.
pub(super) fn check_scatter(view: &View, dim: i64, index: &View, what: Scattered) -> Result<usize> {
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

/// Writes after the checks; `kernel` is named if a dtype is refused.
pub(super) fn scatter(
    view: &View,
    d: usize,
    index: &View,
    what: Scattered,
    reduce: Option<Reduce>,
    kernel: &str,
) -> Result<()> {
    let is_meta = |view: &View| view.device().is_meta();
    if index.numel() == 0 || is_meta(view) || is_meta(index) || what.source().is_some_and(is_meta) {
        return Ok(());
    }
    supported(kernel, view.dtype, UnsupportedDtypes::ComplexHalf)?;
    let index = as_long(index)?;
    let index = index.with_layout(at_least_1d(&index.layout));
    let sizes = Dims::from_slice(index.sizes());
    let dtype = view.dtype;
    let write = |view: &View| {
        let source = match what {
            Scattered::Source(source) => {
                let source = resolved(source)?;
                let source = source.with_layout(Layout { sizes, ..at_least_1d(&source.layout) });
                if source.dtype == view.dtype { source } else { cast(&source, view.dtype)? }
            }
            // A number is a source with one element and strides 0.
            Scattered::Value(value) => {
                let number = cast(&View::scalar(value, dtype)?, view.dtype)?;
                let strides = Dims::from_elem(0, sizes.len());
                number.with_layout(Layout { sizes, strides, offset: 0 })
            }
        };
        let spread = Spread::new(view, d, index.clone(), source);
        match reduce {
            None => by_width!(view.dtype, T => spread.replace::<T>()),
            Some(reduce) => dispatch!(view.dtype, T => spread.reduce::<T>(reduce)),
        }
    };
    let size = size_or_one(&view.layout, d)?;
    let beyond = |index| out_of_bounds(ErrorKind::RuntimeError, index, d, size);
    // Whether a number fits is checked after the first index.
    if let Scattered::Value(value) = what
        && let Err(unfit) = fits(value, view.dtype)
    {
        let first = Layout { sizes: Dims::from_elem(1, index.ndim()), ..index.layout.clone() };
        in_bounds(&index.with_layout(first), 0..size, beyond)?;
        return Err(unfit);
    }
    in_bounds(&index, 0..size, beyond)?;
    if reduce.is_none() || !view.dtype.is_reduced_floating_point() {
        return through_bits(view, write);
    }
    // PyTorch rounds 16-bit floats once, after all values are combined.
    let wide = cast(view, DType::Float)?;
    write(&wide)?;
    copy_into(view, &wide)
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

/// `x.put_(index, source, accumulate)`: writes to row-major positions, or adds to the elements there.
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
    supported("take_put_cpu", view.dtype, UnsupportedDtypes::ComplexHalf)?;
    let (index, source) = (as_long(index)?, resolved(source)?);
    let numel = view.numel();
    in_bounds(&index, -numel..numel, |i| out_of_range(numel, i))?;
    through_bits(view, |view| {
        let layout = &view.layout;
        if layout.is_contiguous() {
            let flat = |view: &View| {
                view.with_layout(Layout { offset: view.layout.offset, ..Layout::contiguous(&[view.numel()]) })
            };
            let view = flat(view);
            let spread = Spread::new(&view, 0, flat(&contiguous(&index)?), flat(&contiguous(&source)?));
            return match accumulate {
                true => dispatch!(view.dtype, T => spread.reduce::<T>(Reduce::Add)),
                false => by_width!(view.dtype, T => spread.replace::<T>()),
            };
        }
        let (to, places, from) = (view.memory()?, index.memory()?, source.memory()?);
        let places = places.typed::<i64>();
        let mut pairs = index.layout.offsets().zip(source.layout.offsets());
        dispatch!(view.dtype, T => {
            let (to, from) = (to.typed::<T>(), from.typed::<T>());
            for step in 0.. {
                if step % APART == 0 {
                    interrupt::check()?;
                }
                let Some((at, read)) = pairs.next() else { break };
                let i = get(places.get(at as usize).ok_or_else(lost)?);
                let i = if i < 0 { i + numel } else { i };
                let to = to.get(layout.offset_of(i) as usize).ok_or_else(lost)?;
                let new = get(from.get(read as usize).ok_or_else(lost)?);
                set(to, if accumulate { get(to).plus(new) } else { new });
            }
        });
        interrupt::check()
    })
}

/// `x.index_add_(dim, index, source, alpha)`: adds `alpha` times the source's slices to the slices at the indices.
pub fn index_add_(view: &View, dim: i64, index: &View, source: &View, alpha: Scalar) -> Result<()> {
    let d = check_slices("index_add_", view, dim, index, source)?;
    if [view, index, source].iter().any(|v| v.device().is_meta()) {
        return Ok(());
    }
    add_slices(view, d, index, source, alpha)
}

/// Checks the arguments common to functions that combine slices of a source with slices at indices. Returns the
/// dimension, counted from the front.
pub(super) fn check_slices(function: &str, view: &View, dim: i64, index: &View, source: &View) -> Result<usize> {
    let d = wrap_dim(dim, view.ndim())?;
    if index.ndim() > 1 {
        bail!(
            IndexError,
            "{function}(): Index is supposed to be a vector, but got dim: {} with type: {} and size: {}",
            index.ndim(),
            index.dtype.scalar_type(),
            show(index.sizes())
        );
    }
    if !matches!(index.dtype, DType::Long | DType::Int) {
        bail!(
            RuntimeError,
            "{function}(): Expected dtype int32/int64 for index but got: {}",
            index.dtype.scalar_type()
        );
    }
    if view.dtype != source.dtype {
        bail!(
            RuntimeError,
            "{function}(): self ({}) and source ({}) must have the same scalar type",
            view.dtype.scalar_type(),
            source.dtype.scalar_type()
        );
    }
    if d != 0 && d >= source.ndim() {
        bail!(
            RuntimeError,
            "{function}(): Indexing dim {d} is out of bounds of the source tensor with dim {}",
            source.ndim()
        );
    }
    if index.numel() != size_or_one(&source.layout, d)? {
        let (_, size) = size_at(&source.layout, d as i64)?;
        bail!(
            RuntimeError,
            "{function}(): Number of indices ({}) should be equal to source.size(dim): ({size}), for dim: {d}",
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
    Ok(d)
}

/// Refuses an index out of bounds, after `supported`. In several dimensions, PyTorch combines every slice in a loop of
/// its own; the first index is therefore checked before that.
pub(super) fn within_slices(view: &View, d: usize, index: &View, supported: impl FnOnce() -> Result<()>) -> Result<()> {
    let size = size_or_one(&view.layout, d)?;
    let check = |index: &View| {
        in_bounds(&as_long(index)?, 0..size, |_| Error::new(ErrorKind::IndexError, "index out of range in self"))
    };
    if view.ndim() > 1 && index.numel() > 0 {
        check(&index.with_layout(Layout { sizes: Dims::from_elem(1, index.ndim()), ..index.layout.clone() }))?;
    }
    supported()?;
    check(index)
}

fn add_slices(view: &View, d: usize, index: &View, source: &View, alpha: Scalar) -> Result<()> {
    if view.ndim() > 1 && (index.numel() == 0 || view.numel() == 0) {
        return Ok(());
    }
    // PyTorch adds by one of three loops, each with its own kernel name and error text.
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
        return scatter(view, d, &index.with_layout(rows), Scattered::Source(source), Some(Reduce::Add), ADDING);
    }
    within_slices(view, d, index, || {
        let kernel = if view.ndim() > 1 { "add_stub" } else { "index_add_" };
        supported(kernel, view.dtype, UnsupportedDtypes::Float8)?;
        fits(alpha, view.dtype)
    })?;
    let source = resolved(source)?;
    let source = source.with_layout(at_least_1d(&source.layout));
    let rounds_product = view.ndim() < 2 && view.dtype.is_reduced_floating_point();
    through_bits(view, |view| {
        let spread = Spread::of_slices(view, d, index, source)?;
        dispatch!(view.dtype, T => {
            let alpha = T::store(alpha).load();
            if is_one && !view.dtype.is_complex() {
                return spread.reduce::<T>(Reduce::Add);
            }
            spread.write(|old: T, new: T| T::store(match (old.load(), new.load(), alpha) {
                // Rounded once, like the fused instruction.
                (Scalar::Float(old), Scalar::Float(new), Scalar::Float(alpha)) if !rounds_product => {
                    Scalar::Float(new.mul_add(alpha, old))
                }
                (Scalar::Complex(old), Scalar::Complex(new), Scalar::Complex(alpha)) => {
                    Scalar::Complex(old + complex_product(view.dtype, new, alpha))
                }
                (old, new, alpha) => sum(old, T::store(product(new, alpha)).load()),
            }))
        })
    })
}

/// `x.index_copy_(dim, index, source)`: writes the source's slices over the slices at the indices.
pub fn index_copy_(view: &View, dim: i64, index: &View, source: &View) -> Result<()> {
    let d = wrap_dim(dim, view.ndim())?;
    writable(view, &[index, source])?;
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
    if [view, index, source].iter().any(|v| v.device().is_meta()) {
        return Ok(());
    }
    let source = resolved(source)?;
    let source = source.with_layout(at_least_1d(&source.layout));
    through_bits(view, |view| {
        let target = at_least_1d(&view.layout);
        let size = target.sizes[d];
        let empty = lay_out_indices(view, &target, d, count)?.sizes.contains(&0);
        supported("index_copy_cpu", view.dtype, UnsupportedDtypes::Float8)?;
        if empty {
            return Ok(());
        }
        in_bounds(&as_long(index)?, 0..size, |i| {
            let message = format!("index_copy_(): index {i} is out of bounds for dimension {d} with size {size}");
            Error::new(ErrorKind::IndexError, message)
        })?;
        let spread = Spread::of_slices(view, d, index, source)?;
        by_width!(view.dtype, T => spread.replace::<T>())
    })
}

/// `x.index_fill_(dim, index, value)`: fills the slices at the indices; negative indices count from the end.
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
        let empty = lay_out_indices(view, &target, d, index.numel())?.sizes.contains(&0);
        supported("index_fill_cpu", view.dtype, UnsupportedDtypes::Float8)?;
        fits(value, view.dtype)?;
        if empty {
            return Ok(());
        }
        in_bounds(&as_long(index)?, -size..size, |i| out_of_bounds(ErrorKind::IndexError, i, d, size))?;
        let strides = Dims::from_elem(0, target.ndim());
        let mut value = View::scalar(value, view.dtype)?.with_layout(Layout { strides, offset: 0, ..target.clone() });
        value.layout.sizes[d] = index.numel();
        let spread = Spread::of_slices(view, d, index, value)?;
        by_width!(view.dtype, T => spread.replace::<T>())
    })
}

/// Returns the target's layout in PyTorch's loop: `count` indices along the dimension, with stride 0. Its bounds are
/// checked against the storage even if there is nothing to write.
fn lay_out_indices(view: &View, target: &Layout, d: usize, count: i64) -> Result<Layout> {
    let mut layout = target.clone();
    (layout.sizes[d], layout.strides[d]) = (count, 0);
    check_bounds(&layout, view.dtype, view.storage.nbytes())?;
    Ok(layout)
}
