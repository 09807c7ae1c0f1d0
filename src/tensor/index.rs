//! Subscripts: `x[1, 2:, ..., None, mask]` becomes another layout over the same storage, or a layout and a plan of the
//! elements to gather from it. Follows <https://pytorch.org/docs/2.7/tensor_view.html> and numpy's rules with PyTorch's
//! changes. Only reads index tensors; `ops` moves the elements.

use super::device::Device;
use super::dtype::DType;
use super::element::{Element, Scalar};
use super::error::{Error, Result};
use super::interrupt;
use super::layout::{Dims, Layout, MOST_NAMED, broadcast_sizes, show, wrap_dim};
use super::limits;
use super::memory::{ElementCell, Memory, get, set};
use super::tensor::Tensor;
use super::view::View;
use crate::bail;
use smallvec::SmallVec;
use std::ops::Range;
use std::rc::Rc;

/// One item of a subscript.
#[derive(Clone, Debug)]
pub enum Index {
    Int(i64),
    Slice { start: Option<i64>, stop: Option<i64>, step: i64 },
    NewAxis,
    Ellipsis,
    Bool(bool),
    Tensor(Tensor),
}

/// The meaning of a subscript for a given tensor.
#[derive(Clone, Debug)]
pub enum Resolved {
    /// A view of the same storage.
    Basic(Layout),
    /// A view, and the tensors that index its leading dimensions; `None` leaves a dimension whole.
    Advanced { base: Layout, indices: Vec<Option<View>> },
}

/// One view operation of a subscript.
#[derive(Clone, Debug)]
pub enum SubscriptStep {
    Select { dim: usize, index: i64 },
    Slice { dim: usize, start: Option<i64>, stop: Option<i64>, step: i64 },
    Unsqueeze { dim: usize },
}

/// Returns a subscript as a sequence of view operations, and the tensors that index the last view; `None` leaves a
/// dimension whole.
///
/// # Errors
/// Those of [`resolve`].
pub fn steps(view: &View, indices: &[Index]) -> Result<(Vec<SubscriptStep>, Vec<Option<Tensor>>)> {
    let slicer = applied(view, indices)?;
    Ok((slicer.steps, slicer.tensors))
}

/// Applies a subscript to a tensor's layout. A list of one item stands for the bare item: `x[0]`, not `x[(0,)]`.
///
/// # Errors
/// IndexError and ValueError, in PyTorch's words, found from left to right. Index tensors are checked by
/// [`Gather::new`].
pub fn resolve(view: &View, indices: &[Index]) -> Result<Resolved> {
    // The most frequent subscript needs no lists of steps and tensors.
    if let [Index::Slice { start, stop, step }] = indices {
        return slice(&view.layout, 0, *start, *stop, *step).map(Resolved::Basic);
    }
    let Slicer { layout, tensors, .. } = applied(view, indices)?;
    if tensors.is_empty() {
        return Ok(Resolved::Basic(layout));
    }
    let indices = tensors.into_iter().map(|tensor| tensor.map(|tensor| tensor.view())).collect();
    Ok(Resolved::Advanced { base: layout, indices })
}

fn applied(view: &View, indices: &[Index]) -> Result<Slicer> {
    let mut slicer = Slicer { layout: view.layout.clone(), dim: 0, tensors: Vec::new(), steps: Vec::new() };
    let bare = matches!(indices, [index] if !matches!(index, Index::Tensor(_)));
    let specified: usize = indices.iter().map(dims_taken).sum();
    if !bare && specified > view.ndim() {
        bail!(IndexError, "too many indices for tensor of dimension {}", view.ndim());
    }
    for (position, index) in indices.iter().enumerate() {
        if slicer.layout.ndim() > MOST_NAMED {
            interrupt::check()?;
        }
        // Every ellipsis, even a second one, stands for all dimensions that no item names.
        slicer.apply(index, position, view.ndim().saturating_sub(specified))?;
    }
    Ok(slicer)
}

/// Returns the number of dimensions that an item indexes.
fn dims_taken(index: &Index) -> usize {
    match index {
        Index::Int(_) | Index::Slice { .. } => 1,
        Index::NewAxis | Index::Ellipsis | Index::Bool(_) => 0,
        Index::Tensor(tensor) if is_mask(&tensor.borrow()) => tensor.borrow().ndim(),
        Index::Tensor(_) => 1,
    }
}

fn is_mask(tensor: &View) -> bool {
    matches!(tensor.dtype, DType::Bool | DType::Byte)
}

/// A partially applied subscript: `dim` is the next dimension to be indexed.
struct Slicer {
    layout: Layout,
    dim: usize,
    tensors: Vec<Option<Tensor>>,
    steps: Vec<SubscriptStep>,
}

impl Slicer {
    fn apply(&mut self, index: &Index, position: usize, ellipsis: usize) -> Result<()> {
        match index {
            Index::Int(i) => self.select(*i, position)?,
            Index::Slice { start, stop, step } => {
                self.layout = slice(&self.layout, self.dim, *start, *stop, *step)?;
                self.steps.push(SubscriptStep::Slice { dim: self.dim, start: *start, stop: *stop, step: *step });
                self.dim += 1;
            }
            Index::Ellipsis => self.dim += ellipsis,
            Index::NewAxis => {
                self.unsqueeze()?;
                self.dim += 1;
            }
            Index::Bool(value) => self.boolean(*value)?,
            Index::Tensor(tensor) if tensor.borrow().ndim() == 0 && tensor.borrow().dtype.is_integral(true) => {
                let value = tensor.borrow().item()?;
                match value {
                    _ if is_mask(&tensor.borrow()) => self.boolean(value.truth())?,
                    Scalar::UInt(_) => {
                        bail!(RuntimeError, "value cannot be converted to type int64_t without overflow")
                    }
                    _ => self.select(value.to_i64(), position)?,
                }
            }
            Index::Tensor(tensor) => self.record(tensor.clone()),
        }
        Ok(())
    }

    fn select(&mut self, index: i64, position: usize) -> Result<()> {
        if index == 0 && self.dim == 0 && self.layout.ndim() == 0 {
            bail!(
                IndexError,
                "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ to convert \
                 a 0-dim tensor to a number"
            );
        }
        // Two ellipses can lead beyond the last dimension, where no index is in bounds.
        let size = self.layout.sizes.get(self.dim).copied().unwrap_or(0);
        if index >= size || index < -size {
            bail!(IndexError, "index {index} is out of bounds for dimension {position} with size {size}");
        }
        let index = if index < 0 { index + size } else { index };
        self.layout = self.layout.select(self.dim, index);
        self.steps.push(SubscriptStep::Select { dim: self.dim, index });
        Ok(())
    }

    /// Changes the layout in place: copying it for each of a million new dimensions would take hours.
    fn unsqueeze(&mut self) -> Result<()> {
        self.layout.insert(self.dim as i64)?;
        self.steps.push(SubscriptStep::Unsqueeze { dim: self.dim });
        Ok(())
    }

    /// A boolean adds a dimension of size 1 and keeps or empties it.
    fn boolean(&mut self, value: bool) -> Result<()> {
        self.unsqueeze()?;
        let index = View::zeros(&[i64::from(value)], DType::Long, Device::CPU)?;
        self.record(index.into());
        Ok(())
    }

    fn record(&mut self, tensor: Tensor) {
        self.tensors.resize(self.dim, None);
        self.tensors.push(Some(tensor));
        self.dim += 1;
    }
}

/// Applies `start:stop:step` to one dimension, by the rules of subscripts.
fn slice(layout: &Layout, dim: usize, start: Option<i64>, stop: Option<i64>, step: i64) -> Result<Layout> {
    if step == 0 {
        bail!(ValueError, "slice step cannot be zero");
    }
    if step < 0 {
        bail!(ValueError, "step must be greater than zero");
    }
    if layout.ndim() == 0 {
        bail!(IndexError, "slice() cannot be applied to a 0-dim tensor.");
    }
    wrap_dim(dim as i64, layout.ndim())?;
    let mut out = layout.slice(dim, start, stop, step);
    // If a huge step makes the stride wrap, its sign reveals it, as in PyTorch.
    out.strides[dim] = layout.strides[dim].wrapping_mul(step);
    if out.strides[dim] < 0 {
        bail!(
            RuntimeError,
            "as_strided: Negative strides are not supported at the moment, got strides: {}",
            show(&out.strides)
        );
    }
    Ok(out)
}

/// The elements selected by a list of index tensors, as operands of one loop over the result: PyTorch's
/// `AdvancedIndex`. Every layout has the result's sizes or broadcasts to them.
#[derive(Clone, Debug)]
pub struct Gather {
    /// The indexed tensor, with stride 0 along the dimensions that the index tensors span.
    pub source: Layout,
    /// The dimensions of the result that the index tensors span.
    span: Range<usize>,
    /// Integer tensors, shaped so that they broadcast to the result.
    indices: SmallVec<[View; 3]>,
    /// The size and stride of each indexed dimension of the tensor.
    indexed: SmallVec<[(i64, i64); 3]>,
}

impl Gather {
    /// Plans `x[indices]`; `None` leaves a dimension whole, and so do dimensions beyond the list.
    ///
    /// # Errors
    /// IndexError, in PyTorch's words, for a list that is too long, dtypes that cannot index, masks of another shape
    /// and tensors that do not broadcast. Values are not checked here.
    pub fn new(view: &View, indices: &[Option<View>]) -> Result<Gather> {
        if indices.len() > view.ndim() {
            bail!(IndexError, "too many indices for tensor of dimension {} (got {})", view.ndim(), indices.len());
        }
        for tensor in indices.iter().flatten() {
            if !matches!(tensor.dtype, DType::Long | DType::Int | DType::Byte | DType::Bool) {
                bail!(IndexError, "tensors used as indices must be long, int, byte or bool tensors");
            }
        }
        let mut indices = expand_masks(&view.layout, indices)?;
        if indices.len() > view.ndim() {
            bail!(IndexError, "too many indices for tensor of dimension {} (got {})", view.ndim(), indices.len());
        }
        let shape = broadcast_indices(&mut indices)?;
        indices.resize(view.ndim(), None);
        Gather::plan(&view.layout, indices, &shape)
    }

    fn plan(layout: &Layout, indices: Vec<Option<View>>, shape: &[i64]) -> Result<Gather> {
        let is_indexed = |&d: &usize| indices[d].is_some();
        let dims: SmallVec<[usize; 6]> = (0..layout.ndim()).filter(is_indexed).collect();
        let adjacent = dims.windows(2).all(|pair| pair[0] + 1 == pair[1]);
        // If index tensors are not adjacent, the dimensions that they span come first.
        let start = if adjacent { dims.first().copied().unwrap_or(0) } else { 0 };
        let span = start..start + shape.len();

        let whole: SmallVec<[usize; 6]> = (0..layout.ndim()).filter(|d| !is_indexed(d)).collect();
        let (before, after) = whole.split_at(start);
        let mut source = Layout { sizes: Dims::new(), strides: Dims::new(), offset: layout.offset };
        let mut push = |size, stride| {
            source.sizes.push(size);
            source.strides.push(stride);
        };
        before.iter().for_each(|&d| push(layout.sizes[d], layout.strides[d]));
        shape.iter().for_each(|&size| push(size, 0));
        after.iter().for_each(|&d| push(layout.sizes[d], layout.strides[d]));

        let indexed: SmallVec<[(i64, i64); 3]> = dims.iter().map(|&d| (layout.sizes[d], layout.strides[d])).collect();
        if indexed.iter().any(|&(size, _)| size == 0) && !shape.contains(&0) {
            bail!(IndexError, "index is out of bounds for dimension with size 0");
        }

        let indices = indices.into_iter().flatten().map(|tensor| {
            let mut sizes = Dims::from_elem(1, before.len());
            sizes.extend_from_slice(tensor.sizes());
            sizes.extend(after.iter().map(|_| 1));
            tensor.layout.view(&sizes).map(|layout| tensor.with_layout(layout))
        });
        Ok(Gather { source, span, indices: indices.collect::<Result<_>>()?, indexed })
    }

    /// Returns the sizes of the result.
    pub fn sizes(&self) -> &[i64] {
        &self.source.sizes
    }

    /// Returns the strides that PyTorch gives the result of `x[indices]`.
    pub(crate) fn result_strides(&self) -> Dims {
        let mut operands: SmallVec<[&Layout; 4]> = SmallVec::new();
        operands.push(&self.source);
        operands.extend(self.indices.iter().map(|tensor| &tensor.layout));
        Layout::elementwise_strides(self.sizes(), &operands)
    }

    /// Returns the order of the result's dimensions, fastest first, in which PyTorch writes `value` (which must
    /// broadcast) to the elements. The order determines which of several values for one element is kept.
    pub(crate) fn write_order(&self, value: &Layout) -> SmallVec<[usize; 6]> {
        let mut strides: SmallVec<[Dims; 4]> = SmallVec::new();
        strides.push(self.source.strides.clone());
        strides.push(value.broadcast_strides(self.sizes()));
        strides.extend(self.indices.iter().map(|tensor| tensor.layout.broadcast_strides(self.sizes())));
        let operands: SmallVec<[&[i64]; 4]> = strides.iter().map(|s| s.as_slice()).collect();
        Layout::iteration_order(self.sizes(), &operands)
    }

    /// Reads the index tensors and returns the displacement from `source` of each element, laid out for the result.
    /// `order` lists the dimensions, fastest first.
    ///
    /// # Errors
    /// IndexError for the first index out of bounds, unless the result is empty.
    pub(crate) fn displacements(&self, order: &[usize]) -> Result<View> {
        let sizes = self.sizes();
        let mut layout = Layout { sizes: Dims::from_slice(sizes), strides: Dims::from_elem(0, sizes.len()), offset: 0 };
        if sizes.contains(&0) {
            return View::zeros(&[0], DType::Long, Device::CPU).map(|table| table.with_layout(layout));
        }
        // The table has the order of the walk, so that the walk fills it sequentially.
        let mut length = 1i64;
        for &d in order.iter().filter(|d| self.span.contains(d)) {
            layout.strides[d] = length;
            length *= sizes[d];
        }
        let slowest_first = || order.iter().rev().filter(|d| self.span.contains(d));
        let Ok(table) = View::zeros(&[length], DType::Long, Device::CPU) else {
            bail!(RuntimeError, "DefaultCPUAllocator: can't allocate memory for {length} indices");
        };
        let memory = table.memory()?;
        let mut readers = Vec::with_capacity(self.indices.len());
        for tensor in &self.indices {
            let strides = tensor.layout.broadcast_strides(sizes);
            let walked = Layout {
                sizes: slowest_first().map(|&d| sizes[d]).collect(),
                strides: slowest_first().map(|&d| strides[d]).collect(),
                offset: tensor.layout.offset,
            };
            readers.push((tensor.memory()?, walked));
        }
        let cells = memory.typed::<i64>();
        let mut inside = true;
        for ((numbers, walked), &(size, stride)) in readers.iter().zip(&self.indexed) {
            let numbers = numbers.typed::<i64>();
            let mut add = |cell: &ElementCell<i64>, index: i64| {
                inside &= -size <= index && index < size;
                let index = if index < 0 { index + size } else { index };
                set(cell, get(cell).wrapping_add(index.wrapping_mul(stride)));
            };
            match numbers.get(walked.offset as usize..) {
                Some(numbers) if walked.is_contiguous() => {
                    cells.iter().zip(numbers).for_each(|(cell, number)| add(cell, get(number)));
                }
                _ => {
                    for (cell, at) in cells.iter().zip(interrupt::watched(walked.offsets())) {
                        add(cell, numbers.get(at as usize).map_or(0, get));
                    }
                }
            }
            interrupt::check()?;
        }
        if !inside {
            self.refuse(&readers)?;
        }
        Ok(table.with_layout(layout))
    }

    /// Refuses the first element of the result with an index out of bounds, and its first such index.
    fn refuse(&self, readers: &[(Rc<Memory>, Layout)]) -> Result<()> {
        let mut readers: Vec<_> =
            readers.iter().map(|(memory, layout)| (memory.typed::<i64>(), layout.offsets())).collect();
        loop {
            for (j, ((numbers, offsets), &(size, _))) in readers.iter_mut().zip(&self.indexed).enumerate() {
                let Some(at) = offsets.next() else { return Ok(()) };
                let index = numbers.get(at as usize).map_or(0, get);
                if index >= size || index < -size {
                    bail!(IndexError, "index {index} is out of bounds for dimension {j} with size {size}");
                }
            }
        }
    }

    /// Returns the index tensor and its dimension, if there is only one and it is a vector.
    pub(crate) fn vector(&self) -> Option<(&View, usize)> {
        match (self.indices.as_slice(), self.span.len()) {
            ([tensor], 1) => Some((tensor, self.span.start)),
            _ => None,
        }
    }

    /// Returns the index tensor, if there is only one, laid out for the result, and the size and stride of the indexed
    /// dimension.
    pub fn single(&self) -> Option<(View, i64, i64)> {
        match (self.indices.as_slice(), self.indexed.as_slice()) {
            ([tensor], &[(size, stride)]) => {
                Some((tensor.with_layout(tensor.layout.broadcast_to(self.sizes())), size, stride))
            }
            _ => None,
        }
    }

    /// Returns whether an index tensor is a meta tensor, so that only the result's shape is known.
    pub fn is_meta(&self) -> bool {
        self.indices.iter().any(|tensor| tensor.device().is_meta())
    }
}

/// Replaces every mask by the positions of its true elements, one tensor per dimension of the mask.
fn expand_masks(layout: &Layout, indices: &[Option<View>]) -> Result<Vec<Option<View>>> {
    let mut out = Vec::with_capacity(indices.len());
    for index in indices {
        match index {
            Some(mask) if is_mask(mask) => {
                for (j, &size) in mask.sizes().iter().enumerate() {
                    let at = out.len() + j;
                    wrap_dim(at as i64, layout.ndim())?;
                    if layout.sizes.get(at) != Some(&size) {
                        bail!(
                            IndexError,
                            "The shape of the mask {} at index {j} does not match the shape of the indexed tensor {} at \
                             index {at}",
                            show(mask.sizes()),
                            show(&layout.sizes)
                        );
                    }
                }
                let positions = nonzero(mask)?;
                for j in 0..mask.ndim() {
                    out.push(Some(positions.with_layout(positions.layout.select(1, j as i64))));
                }
            }
            other => out.push(other.clone()),
        }
    }
    Ok(out)
}

/// Expands all index tensors to one shape and returns the shape.
fn broadcast_indices(indices: &mut [Option<View>]) -> Result<Dims> {
    let mut shape = Dims::new();
    for tensor in indices.iter().flatten() {
        shape = broadcast_sizes(&shape, tensor.sizes()).map_err(|_| {
            let shapes: Vec<String> = indices.iter().flatten().map(|tensor| show(tensor.sizes())).collect();
            Error::index(format!(
                "shape mismatch: indexing tensors could not be broadcast together with shapes {}",
                shapes.join(", ")
            ))
        })?;
    }
    for tensor in indices.iter_mut().flatten() {
        tensor.layout = tensor.layout.expand(&shape, "")?;
        if tensor.dtype == DType::Int || tensor.neg {
            // PyTorch converts these, so the strides that order the result are those of a copy.
            *tensor = widen(tensor)?;
        }
    }
    Ok(shape)
}

fn widen(tensor: &View) -> Result<View> {
    let strides = tensor.layout.like_strides();
    let out = View::zeros_strided(tensor.sizes(), strides, DType::Long, tensor.device())?;
    if !tensor.device().is_meta() {
        let from = tensor.memory()?;
        let to = out.memory()?;
        for (a, b) in tensor.layout.offsets().zip(out.layout.offsets()) {
            if let Some(cell) = out.cell::<i64>(&to, b) {
                set(cell, tensor.read(&from, a).to_i64());
            }
        }
    }
    Ok(out)
}

/// Returns the indices of all nonzero elements: one row each, `ndim` columns, stored column by column as in PyTorch.
///
/// # Errors
/// NotImplementedError for a meta tensor.
pub fn nonzero(view: &View) -> Result<View> {
    if view.device().is_meta() {
        bail!(
            NotImplementedError,
            "The register_meta function for torch.nonzero() raises unimplemented by default, as a correct \
             data-independent implementation does not exist. This implementation returns a fake value, assuming all \
             elements of the tensor are non-zero. To enable this registration, please set \
             'torch.fx.experimental._config.meta_nonzero_assume_all_nonzero' to True."
        );
    }
    let found = true_elements(view)?;
    let (rows, columns) = (found.len() as i64, view.ndim() as i64);
    let strides = Dims::from_slice(&[1, rows]);
    let out = View::unwritten_strided(&[rows, columns], strides, DType::Long, Device::CPU)?;
    let cells = out.memory()?;
    let columns: Vec<(&[_], i64)> =
        cells.typed::<i64>().chunks(found.len().max(1)).zip(view.sizes().iter().copied()).collect();
    // Numbers of 32 bits are divided in a third of the time.
    let short = u32::try_from(view.numel()).is_ok();
    for (row, &row_major) in found.iter().enumerate() {
        interrupt::check_at(row)?;
        let mut rest = row_major;
        for (d, (column, size)) in columns.iter().enumerate().rev() {
            let (quotient, place) = match d {
                0 => (0, rest),
                _ if short => {
                    let (rest, size) = (rest as u32, *size as u32);
                    (i64::from(rest / size), i64::from(rest % size))
                }
                _ => (rest / size, rest % size),
            };
            rest = quotient;
            if let Some(cell) = column.get(row) {
                set(cell, place);
            }
        }
    }
    Ok(out)
}

/// Returns the row-major numbers of all elements that are not zero.
fn true_elements(view: &View) -> Result<Vec<i64>> {
    const TOGETHER: usize = interrupt::STRIDE / 16;
    let memory = view.memory()?;
    let mut found: Vec<i64> = Vec::new();
    dispatch!(view.dtype, T => {
        let cells = memory.typed::<T>();
        let truth = |cell: &ElementCell<T>| get(cell).load().truth();
        if view.layout.is_contiguous() {
            let start = view.layout.offset as usize;
            let cells = cells.get(start..start + view.numel() as usize).unwrap_or_default();
            for (cells, first) in cells.chunks(TOGETHER).zip((0..).step_by(TOGETHER)) {
                interrupt::check()?;
                let numbers = (first..).zip(cells);
                limits::push_wanted(&mut found, cells.len(), numbers.map(|(i, cell)| (i, truth(cell))))?;
            }
        } else {
            let mut offsets = (0..).zip(view.layout.offsets()).peekable();
            while offsets.peek().is_some() {
                interrupt::check()?;
                let numbers = offsets.by_ref().take(TOGETHER);
                limits::push_wanted(&mut found, TOGETHER, numbers.map(|(i, at)| (i, cells.get(at as usize).is_some_and(truth))))?;
            }
        }
    });
    interrupt::check()?;
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What takes the short way, beside the way of all other subscripts.
    #[test]
    fn one_slice_is_resolved_like_several_items() {
        let bounds = [None, Some(0), Some(1), Some(2), Some(-1), Some(-3), Some(9), Some(i64::MIN), Some(i64::MAX)];
        for sizes in [&[5][..], &[4, 3], &[0], &[0, 2], &[1], &[]] {
            let view = View::from_scalars(&[60], DType::Float, (0..60).map(Scalar::Int)).unwrap();
            for step_between in [1, 3] {
                let mut layout = Layout { offset: 2, ..Layout::contiguous(sizes) };
                layout.strides.iter_mut().for_each(|stride| *stride *= step_between);
                let view = view.with_layout(layout);
                for (start, stop) in bounds.iter().flat_map(|start| bounds.map(|stop| (*start, stop))) {
                    for step in [1, 2, 7, 0, -1, i64::MAX] {
                        let indices = [Index::Slice { start, stop, step }];
                        let short = resolve(&view, &indices).map(|resolved| format!("{resolved:?}"));
                        let long =
                            applied(&view, &indices).map(|slicer| format!("{:?}", Resolved::Basic(slicer.layout)));
                        assert_eq!(short.map_err(|e| e.message), long.map_err(|e| e.message), "{sizes:?} {indices:?}");
                    }
                }
            }
        }
    }
}
