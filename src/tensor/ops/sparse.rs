//! Sparse tensors: functions on the indices of their elements. Values are computed by the functions for dense tensors.
//! Follows <https://pytorch.org/docs/2.7/sparse.html>.

pub mod compressed;
mod kernels;
pub mod product;
pub mod rearrange;
pub mod softmax;

use super::{block, copy, gather, index, mask, sort, view as views};
use crate::bail;
use crate::index::Index;
use crate::layout::{Dims, checked_numel, show};
use crate::{Coo, DType, Device, Error, Form, Layout, Result, Scalar, Tensor, TensorLayout, View, limits};
use kernels::{Lookup, accumulate};

/// The coordinates of a COO tensor's elements, as numbers.
pub(crate) struct Coordinates {
    /// One row for each sparse dimension, all of the same length.
    pub rows: Vec<Vec<i64>>,
    pub nnz: usize,
}

impl Coordinates {
    /// # Errors
    /// RuntimeError for an index out of bounds, which constructors do not check.
    pub(crate) fn of(coo: &Coo, sizes: &[i64]) -> Result<Coordinates> {
        let [dims, nnz] = *coo.indices.sizes() else {
            bail!(RuntimeError, "indices must be sparse_dim x nnz, but got: {}", show(coo.indices.sizes()));
        };
        let rows: Result<Vec<Vec<i64>>> =
            (0..dims).map(|d| integers(&coo.indices.with_layout(coo.indices.layout.select(0, d)))).collect();
        let rows = rows?;
        for (d, (row, &size)) in rows.iter().zip(sizes).enumerate() {
            if let Some(&wrong) = row.iter().find(|&&i| !(0..size).contains(&i)) {
                bail!(
                    RuntimeError,
                    "size is inconsistent with indices: for dim {d}, size is {size} but found index {wrong}"
                );
            }
        }
        Ok(Coordinates { rows, nnz: nnz as usize })
    }

    /// Returns the row-major position of each element in the sparse sizes.
    pub(crate) fn places(&self, sizes: &[i64]) -> Result<Vec<i64>> {
        checked_numel(sizes)?;
        let mut places = limits::filled(0i64, self.nnz)?;
        for (row, &size) in self.rows.iter().zip(sizes) {
            places.iter_mut().zip(row).for_each(|(place, &index)| *place = *place * size + index);
        }
        Ok(places)
    }

    /// Converts the coordinates to the tensor that `indices()` returns.
    pub(crate) fn to_view(&self) -> Result<View> {
        let flat = vector(&self.rows.concat())?;
        Ok(flat.with_layout(Layout {
            offset: flat.layout.offset,
            ..Layout::contiguous(&[self.rows.len() as i64, self.nnz as i64])
        }))
    }

    /// Returns the coordinates at these positions.
    pub(crate) fn at(&self, positions: &[i64]) -> Coordinates {
        let pick = |row: &Vec<i64>| positions.iter().filter_map(|&p| row.get(p as usize).copied()).collect();
        Coordinates { rows: self.rows.iter().map(pick).collect(), nnz: positions.len() }
    }
}

/// Converts a 1-d integer tensor to numbers.
pub(crate) fn integers(view: &View) -> Result<Vec<i64>> {
    let view = if view.dtype == DType::Long { view.clone() } else { copy::cast(view, DType::Long)? };
    block::values::<i64>(&kernels::row_major(&view)?)
}

/// Converts numbers to a 1-d integer tensor.
pub(crate) fn vector(numbers: &[i64]) -> Result<View> {
    kernels::written(numbers, DType::Long)
}

/// Selects slices of `values` along the first dimension.
pub(crate) fn pick(values: &View, positions: &[i64]) -> Result<View> {
    gather::index_select(values, 0, &vector(positions)?)
}

/// Creates a COO tensor from its parts.
pub fn coo(sizes: &[i64], indices: View, values: View, coalesced: bool) -> Result<View> {
    let dtype = values.dtype;
    View::sparse(sizes, dtype, Form::Coo(Coo { indices, values, coalesced }))
}

/// Fails with RuntimeError, in the words of PyTorch's `kernel`, for a dtype that it does not compute.
pub fn supported(kernel: &str, dtype: DType, computed: bool) -> Result<()> {
    if !computed {
        bail!(RuntimeError, "\"{kernel}\" not implemented for '{}'", dtype.scalar_type());
    }
    Ok(())
}

/// Returns whether PyTorch's library for sparse matrices computes a dtype.
pub fn in_library(dtype: DType) -> bool {
    matches!(dtype, DType::Float | DType::Double | DType::ComplexFloat | DType::ComplexDouble)
}

/// Returns the parts of a tensor that must have COO layout.
///
/// # Errors
/// RuntimeError that names the function.
pub fn expect_coo<'v>(view: &'v View, function: &str) -> Result<&'v Coo> {
    view.coo().ok_or_else(|| {
        Error::runtime(format!(
            "{function} expected sparse coordinate tensor layout but got {}",
            view.tensor_layout().cpp_name()
        ))
    })
}

pub fn sparse_dim(view: &View) -> usize {
    match view.form.as_deref() {
        Some(Form::Coo(coo)) => coo.indices.sizes().first().map_or(0, |&dims| dims as usize),
        Some(Form::Compressed(_)) => 2,
        _ => 0,
    }
}

pub fn dense_dim(view: &View) -> usize {
    match view.form.as_deref() {
        Some(Form::Coo(coo)) => coo.values.ndim().saturating_sub(1),
        Some(Form::Compressed(compressed)) => compressed.dense_dims(),
        _ => view.ndim(),
    }
}

/// `torch.sparse_coo_tensor(indices, values, size)`. Without a size, infers the smallest possible one.
///
/// # Errors
/// RuntimeError, in PyTorch's words, for parts that do not match; indices are checked against the size only with
/// `check`.
pub fn new_coo(
    indices: &View,
    values: &View,
    size: Option<&[i64]>,
    coalesced: Option<bool>,
    check: bool,
) -> Result<View> {
    let indices = if indices.dtype == DType::Long { indices.clone() } else { copy::cast(indices, DType::Long)? };
    let values = if values.ndim() == 0 { views::unsqueeze(values, 0)? } else { values.clone() };
    let [dims, nnz] = *indices.sizes() else {
        bail!(RuntimeError, "indices must be sparse_dim x nnz, but got: {}", show(indices.sizes()));
    };
    let dense = values.sizes().get(1..).unwrap_or_default();
    let sizes = match size {
        Some(size) => Dims::from_slice(size),
        None => smallest(&indices, dims, nnz)?.into_iter().chain(dense.iter().copied()).collect(),
    };
    if sizes.len() != dims as usize + dense.len() {
        bail!(
            RuntimeError,
            "number of dimensions must be sparse_dim ({dims}) + dense_dim ({}), but got {}",
            dense.len(),
            sizes.len()
        );
    }
    if values.sizes().first() != Some(&nnz) {
        bail!(
            RuntimeError,
            "indices and values must have same nnz, but got nnz from indices: {nnz}, nnz from values: {}",
            values.sizes().first().copied().unwrap_or(0)
        );
    }
    let expected: Dims = [nnz].into_iter().chain(sizes[dims as usize..].iter().copied()).collect();
    if values.sizes() != expected.as_slice() {
        bail!(RuntimeError, "values has incorrect size, expected {}, got {}", show(&expected), show(values.sizes()));
    }
    // Fewer than two elements are in order, unless the call says otherwise.
    let out = coo(&sizes, indices, values, coalesced.unwrap_or(nnz < 2))?;
    if check && let Some(parts) = out.coo() {
        let coordinates = Coordinates::of(parts, &sizes)?;
        let ascending = coordinates.places(&sizes[..dims as usize])?.windows(2).all(|pair| pair[0] < pair[1]);
        if coalesced == Some(true) && !ascending {
            bail!(RuntimeError, "cannot set is_coalesced to true if indices correspond to uncoalesced COO tensor");
        }
    }
    Ok(out)
}

/// Returns the smallest sparse sizes that contain the indices.
fn smallest(indices: &View, dims: i64, nnz: i64) -> Result<Vec<i64>> {
    (0..dims)
        .map(|d| {
            let row = integers(&indices.with_layout(indices.layout.select(0, d)))?;
            if let Some(negative) = row.iter().filter(|&&i| i < 0).min() {
                bail!(RuntimeError, "found negative index {negative} for dim {d}");
            }
            let largest = row.iter().max().map_or(0, |largest| largest.saturating_add(1));
            Ok(if nnz == 0 { 0 } else { largest })
        })
        .collect()
}

/// Creates a COO tensor without elements; the last `dense_dims` dimensions are dense.
pub fn empty_coo(sizes: &[i64], dense_dims: usize, dtype: DType, device: Device) -> Result<View> {
    let split = sizes.len().saturating_sub(dense_dims);
    let values: Dims = [0].into_iter().chain(sizes[split..].iter().copied()).collect();
    let indices = View::zeros(&[split as i64, 0], DType::Long, device)?;
    coo(sizes, indices, View::zeros(&values, dtype, device)?, true)
}

/// `coalesce()`: sums the values of equal indices and sorts the indices in row-major order.
///
/// # Errors
/// RuntimeError for other layouts.
pub fn coalesce(view: &View) -> Result<View> {
    let parts = expect_coo(view, "coalesce")?;
    let dims = sparse_dim(view);
    if parts.coalesced || view.device().is_meta() {
        return Ok(view.clone());
    }
    let sizes = &view.sizes()[..dims];
    let coordinates = Coordinates::of(parts, sizes)?;
    let places = coordinates.places(sizes)?;
    // PyTorch sorts with a sort that is not stable, and adds up in the order that it leaves.
    let order: Vec<i64> = match places.windows(2).all(|pair| pair[0] < pair[1]) {
        true => (0..coordinates.nnz as i64).collect(),
        false => integers(&sort::sort(&vector(&places)?, 0, false, false)?.1)?,
    };
    // The first of each run of equal positions is kept; the others are added to it.
    let mut firsts: Vec<i64> = Vec::new();
    let (mut others, mut targets) = (Vec::new(), Vec::new());
    for &n in &order {
        match firsts.last() {
            Some(&first) if places[first as usize] == places[n as usize] => {
                others.push(n);
                targets.push(firsts.len() as i64 - 1);
            }
            _ => firsts.push(n),
        }
    }
    let values = pick(&parts.values, &firsts)?;
    accumulate(&values, &targets, Some(&others), &parts.values)?;
    coo(view.sizes(), coordinates.at(&firsts).to_view()?, values, true)
}

/// `to_dense()` of a sparse tensor.
pub fn to_dense(view: &View) -> Result<View> {
    if view.device().is_meta() {
        return Err(Error::no_backend("_to_dense", view.backend()));
    }
    if view.compressed().is_some() {
        return compressed::to_dense(view);
    }
    let parts = expect_coo(view, "to_dense")?;
    let (sparse, dense) = view.sizes().split_at(sparse_dim(view));
    let places = Coordinates::of(parts, sparse)?.places(sparse)?;
    let flat: Dims = [checked_numel(sparse)?].into_iter().chain(dense.iter().copied()).collect();
    let out = View::zeros(&flat, view.dtype, Device::CPU)?;
    accumulate(&out, &places, None, &parts.values)?;
    Ok(out.with_layout(Layout::contiguous(view.sizes())))
}

/// `to_sparse(sparse_dim)` of a dense tensor: keeps every slice that is not all zeros.
///
/// # Errors
/// RuntimeError for a number of sparse dimensions out of range.
pub fn from_dense(view: &View, sparse_dims: i64) -> Result<View> {
    let ndim = view.ndim() as i64;
    if !(0..=ndim).contains(&sparse_dims) {
        bail!(
            RuntimeError,
            "dense_to_sparse: sparse_dim argument must be in [0,{ndim}] range, but {sparse_dims} is given"
        );
    }
    if sparse_dims == 0 && ndim > 0 {
        bail!(RuntimeError, "dense_to_sparse: sparse_dim argument must be in >0 when self.dim()>0");
    }
    if ndim == 0 {
        let given = mask::nonzero(view)?.sizes().first().copied().unwrap_or(0);
        let values = views::reshape(view, &[1])?;
        let values = copy::clone(&values.with_layout(values.layout.slice(0, None, Some(given), 1)))?;
        return coo(&[], View::zeros(&[0, given], DType::Long, Device::CPU)?, values, true);
    }
    let (sparse, dense) = view.sizes().split_at(sparse_dims as usize);
    let (count, length) = (checked_numel(sparse)?, checked_numel(dense)?);
    // The slices that contain one of the elements that are not zero, without repetitions.
    let flat: &[i64] = if length == 1 { &[count] } else { &[count, length] };
    let mut places = integers(&first_column(&mask::nonzero(&views::reshape(view, flat)?)?))?;
    places.dedup();
    let rows = unravelled(&places, sparse);
    let picked: Dims = [count].into_iter().chain(dense.iter().copied()).collect();
    let values = pick(&views::reshape(view, &picked)?, &places)?;
    coo(view.sizes(), Coordinates { rows, nnz: places.len() }.to_view()?, values, true)
}

fn first_column(view: &View) -> View {
    view.with_layout(view.layout.select(1, 0))
}

/// Converts row-major positions to coordinates, one row per dimension.
pub(crate) fn unravelled(places: &[i64], sizes: &[i64]) -> Vec<Vec<i64>> {
    let mut rows = vec![Vec::new(); sizes.len()];
    let mut left = places.to_vec();
    for (d, (row, &size)) in rows.iter_mut().zip(sizes).enumerate().rev() {
        if d == 0 {
            *row = left;
            break;
        }
        let size = size.max(1);
        let split = |place: &mut i64| {
            let outer = *place / size;
            std::mem::replace(place, outer) - outer * size
        };
        *row = left.iter_mut().map(split).collect();
    }
    rows
}

/// Converts any tensor to a layout, through COO if necessary.
///
/// # Errors
/// RuntimeError for conversions that PyTorch does not support.
pub fn to_layout(view: &View, layout: TensorLayout) -> Result<View> {
    converted(view, layout, None, 0, "to_sparse")
}

/// Like [`to_layout`], with a block size and a number of dense dimensions; `name` is a prefix of error messages.
///
/// # Errors
/// Those of [`to_layout`].
pub fn converted(
    view: &View,
    layout: TensorLayout,
    block: Option<(i64, i64)>,
    dense_dims: usize,
    name: &str,
) -> Result<View> {
    match (view.tensor_layout(), layout) {
        (_, TensorLayout::Strided) => {
            if view.is_sparse() {
                to_dense(view)
            } else {
                Ok(view.clone())
            }
        }
        (TensorLayout::Strided, TensorLayout::SparseCoo) => from_dense(view, (view.ndim() - dense_dims) as i64),
        (TensorLayout::SparseCoo, TensorLayout::SparseCoo) => Ok(view.clone()),
        (_, TensorLayout::SparseCoo) => compressed::to_coo(view),
        (from, to) if from == to && block.is_none() => Ok(view.clone()),
        (TensorLayout::Strided, _) => compressed::from_dense(view, layout, block, dense_dims, name),
        (from, _) if layout.is_blocked() => {
            let dense = to_dense(view)?;
            let dense_dims = if from.is_compressed() { dense_dim(view) } else { dense_dims };
            compressed::from_dense(&dense, layout, block, dense_dims, name)
        }
        (TensorLayout::SparseCoo, _) => compressed::from_coo(view, layout),
        (from, _) if from.is_blocked() => bail!(
            RuntimeError,
            "sparse_compressed_to_{}: expected SparseCsr or SparseCsc layout but got {}",
            layout.name(),
            from.cpp_name()
        ),
        _ => compressed::from_coo(&compressed::to_coo(view)?, layout),
    }
}

/// `x.sparse_mask(mask)`: the elements of `x` at the indices of a sparse tensor.
///
/// # Errors
/// RuntimeError if the sizes differ.
pub fn mask_like(view: &View, mask: &View) -> Result<View> {
    if view.sizes() != mask.sizes() {
        bail!(
            RuntimeError,
            "sparse_mask(): operands have incompatible sizes; self has size {} but mask has size {}",
            show(view.sizes()),
            show(mask.sizes())
        );
    }
    if view.compressed().is_some() && mask.compressed().is_none() {
        bail!(
            RuntimeError,
            "sparse_mask_sparse_compressed expects mask to have sparse compressed layout, got {}",
            mask.tensor_layout().cpp_name()
        );
    }
    if view.compressed().is_some() && view.tensor_layout() != mask.tensor_layout() {
        // PyTorch converts the mask to COO first.
        bail!(RuntimeError, "sparse_mask_sparse_compressed expects mask to have sparse compressed layout, got Sparse");
    }
    if view.compressed().is_some() && view.tensor_layout() != TensorLayout::SparseCsr {
        // PyTorch multiplies by the mask, which it does in CSR only.
        compressed::empty(view.sizes(), view.tensor_layout(), view.dtype, view.device())?;
        bail!(RuntimeError, "Expected result Tensor to be of format CSR");
    }
    if view.coo().is_some() && mask.coo().is_some() && sparse_dim(view) != sparse_dim(mask) {
        bail!(
            RuntimeError,
            "sparse_mask(): the number of sparse dimensions in `self` should match that of the `mask`. Got \
             `self.sparse_dim() == {}` != `mask.sparse_dim() == {}`.",
            sparse_dim(view),
            sparse_dim(mask)
        );
    }
    if mask.compressed().is_some() {
        let plain = if view.compressed().is_some() { compressed::to_coo(view)? } else { view.clone() };
        let given = mask_like(&plain, &compressed::to_coo(mask)?)?;
        return match given.coo() {
            Some(parts) => compressed::with_values(mask, reshaped(parts, mask)?),
            None => Ok(given),
        };
    }
    let parts = expect_coo(mask, "sparse_mask")?;
    let sizes = &mask.sizes()[..sparse_dim(mask)];
    let wanted = Coordinates::of(parts, sizes)?;
    let values = if view.is_sparse() {
        looked_up(&coalesce(view)?, &wanted, sizes)?
    } else if sizes.is_empty() {
        views::expand(&views::unsqueeze(view, 0)?, parts.values.sizes())?
    } else {
        let row = |row: &Vec<i64>| vector(row).map(|row| Index::Tensor(Tensor::new(row)));
        let rows = wanted.rows.iter().map(row).collect::<Result<Vec<_>>>()?;
        index::index(view, &rows)?
    };
    coo(mask.sizes(), parts.indices.clone(), values, parts.coalesced)
}

/// Returns the values of a compressed mask's elements in the shape of its own values, which may be blocks.
fn reshaped(parts: &Coo, mask: &View) -> Result<View> {
    views::reshape(&parts.values, elements(mask).sizes())
}

/// Returns the values of a coalesced tensor at coordinates, and zeros where it has none.
fn looked_up(view: &View, wanted: &Coordinates, sizes: &[i64]) -> Result<View> {
    let parts = expect_coo(view, "sparse_mask")?;
    let mut known = Lookup::new(&Coordinates::of(parts, sizes)?.places(sizes)?, checked_numel(sizes)?)?;
    let (mut targets, mut sources) = (Vec::new(), Vec::new());
    for (n, place) in (0..).zip(wanted.places(sizes)?) {
        if let Some(m) = known.find(place).next() {
            targets.push(n);
            sources.push(known.position(m));
        }
    }
    let values = View::zeros(&kernels::sizes_of(wanted.nnz, &parts.values), view.dtype, Device::CPU)?;
    gather::index_copy_(&values, 0, &vector(&targets)?, &pick(&parts.values, &sources)?)?;
    Ok(values)
}

/// Returns the values of a sparse tensor; a dense tensor is returned unchanged.
pub fn elements(view: &View) -> &View {
    match view.form.as_deref() {
        Some(Form::Coo(parts)) => &parts.values,
        Some(Form::Compressed(parts)) => &parts.values,
        _ => view,
    }
}

/// Replaces the values of a sparse tensor and keeps its indices; the dtype may change.
///
/// Values on `meta` make a tensor without elements there, as in PyTorch.
pub fn with_values(view: &View, values: View) -> Result<View> {
    if values.device().is_meta() && !view.device().is_meta() {
        return match view.compressed() {
            Some(_) => compressed::cleared(view, values.dtype, values.device()),
            None => empty_coo(view.sizes(), dense_dim(view), values.dtype, values.device()),
        };
    }
    match view.form.as_deref() {
        Some(Form::Coo(parts)) => coo(view.sizes(), parts.indices.clone(), values, parts.coalesced),
        _ => compressed::with_values(view, values),
    }
}

/// Returns the element of a sparse tensor with a single element.
pub fn item(view: &View) -> Result<Scalar> {
    to_dense(view)?.item()
}

/// `x[index]` along one sparse or dense dimension. The result is sparse if a sparse dimension is left. Elements with the
/// same index are only added up if none is.
///
/// # Errors
/// IndexError for an index out of bounds, and those of [`compressed::select`].
pub fn select(view: &View, dim: usize, at: i64) -> Result<View> {
    if let Some(given) = view.compressed() {
        if given.batch_dims() == 0 && dim < 2 {
            return compressed::select(view, dim, at);
        }
        return select(&compressed::to_coo(view)?, dim, at);
    }
    let parts = expect_coo(view, "select")?;
    let dims = sparse_dim(view);
    let mut sizes = view.layout.sizes.clone();
    sizes.remove(dim);
    if dim >= dims {
        let values = views::select(&parts.values, (dim - dims + 1) as i64, at)?;
        let few = values.sizes()[0] < 2;
        return coo(&sizes, parts.indices.clone(), values, few);
    }
    let mut coordinates = Coordinates::of(parts, view.sizes())?;
    let matching: Vec<i64> = (0..coordinates.nnz as i64).filter(|&n| coordinates.rows[dim][n as usize] == at).collect();
    let values = pick(&parts.values, &matching)?;
    if dims == 1 {
        return match matching.len() {
            1 => views::select(&values, 0, 0),
            _ => super::reduce::sum(&values, Some(&[0]), false, Some(view.dtype)),
        };
    }
    coordinates = coordinates.at(&matching);
    coordinates.rows.remove(dim);
    coo(&sizes, coordinates.to_view()?, values, matching.len() < 2)
}
