//! Transposes, slices, concatenations and sums of COO tensors, computed on their indices. Only stored elements are
//! visited.

use super::kernels::{Lookup, accumulate, sizes_of};
use super::{Coordinates, coalesce, coo, dense_dim, empty_coo, expect_coo, pick, sparse_dim, to_dense};
use crate::bail;
use crate::layout::{Dims, broadcast_sizes, checked_numel, show, wrap_dim};
use crate::memory_format::MemoryFormat;
use crate::ops::pointwise::{BinaryOp, Output, binary};
use crate::ops::promote::Operand;
use crate::ops::reduce::sum as dense_sum;
use crate::ops::{copy, gather, join, view as views};
use crate::{Coo, DType, Device, Result, Scalar, View, limits, promote_types};

/// Returns an existing dimension, counted from the front.
fn dimension(view: &View, dim: i64) -> Result<usize> {
    if view.ndim() == 0 {
        bail!(IndexError, "Dimension specified as {dim} but tensor has no dimensions");
    }
    wrap_dim(dim, view.ndim())
}

/// `permute(dims)`: permutes sparse dimensions among themselves and dense ones among themselves.
///
/// # Errors
/// RuntimeError if a sparse dimension would become dense.
pub fn permute(view: &View, dims: &[i64]) -> Result<View> {
    let parts = expect_coo(view, "permute")?;
    let sizes = view.layout.permute(dims)?.sizes;
    let order: Vec<usize> = dims.iter().map(|&dim| wrap_dim(dim, dims.len())).collect::<Result<_>>()?;
    let split = sparse_dim(view);
    let (sparse, dense) = order.split_at(split);
    if sparse.iter().any(|&d| d >= split) {
        bail!(
            RuntimeError,
            "transpositions between sparse and dense dimensions are not allowed.Got sparse_dim: {split}, dense_dim: {}",
            dense_dim(view)
        );
    }
    let rows: Vec<i64> = sparse.iter().map(|&d| d as i64).collect();
    let indices = pick(&parts.indices, &rows)?;
    let moved: Vec<i64> = [0].into_iter().chain(dense.iter().map(|&d| (d - split + 1) as i64)).collect();
    // If the dimensions keep their order, coalesced elements stay coalesced.
    let unmoved = order.iter().enumerate().all(|(i, &d)| i == d);
    coo(
        &sizes,
        indices,
        views::permute(&parts.values, &moved)?,
        parts.coalesced && (unmoved || parts.indices.sizes()[1] == 0),
    )
}

/// `transpose(dim0, dim1)` of two sparse dimensions.
///
/// # Errors
/// RuntimeError, in PyTorch's words, if one of them is dense.
pub fn transpose(view: &View, dim0: i64, dim1: i64) -> Result<View> {
    let (d0, d1) = (wrap_dim(dim0, view.ndim())?, wrap_dim(dim1, view.ndim())?);
    if d0 == d1 {
        return Ok(view.clone());
    }
    let split = sparse_dim(view);
    if d0 >= split || d1 >= split {
        bail!(
            RuntimeError,
            "sparse transpose: transposed dimensions must be sparse Got sparse_dim: {split}, d0: {d0}, d1: {d1}"
        );
    }
    let mut order: Vec<i64> = (0..view.ndim() as i64).collect();
    order.swap(d0, d1);
    permute(view, &order)
}

/// `unsqueeze(dim)`: a new sparse dimension has index 0 everywhere.
pub fn unsqueeze(view: &View, dim: i64) -> Result<View> {
    let parts = expect_coo(view, "unsqueeze")?;
    let d = wrap_dim(dim, view.ndim() + 1)?;
    let split = sparse_dim(view);
    // PyTorch creates a new tensor, which counts as coalesced if it has fewer than two elements.
    let coalesced = parts.indices.sizes()[1] < 2;
    let mut sizes = view.layout.sizes.clone();
    sizes.insert(d, 1);
    if d > split {
        let values = views::unsqueeze(&parts.values, (d - split + 1) as i64)?;
        return coo(&sizes, parts.indices.clone(), values, coalesced);
    }
    let row = View::zeros(&[1, parts.indices.sizes()[1]], DType::Long, Device::CPU)?;
    let (before, after) = (
        parts.indices.with_layout(parts.indices.layout.slice(0, None, Some(d as i64), 1)),
        parts.indices.with_layout(parts.indices.layout.slice(0, Some(d as i64), None, 1)),
    );
    coo(&sizes, join::cat(&[before, row, after], 0)?, parts.values.clone(), coalesced)
}

/// `index_select(dim, index)`: selects the elements for each entry of the index. They are in the order of the longer of
/// the two lists, elements or entries, as in PyTorch.
///
/// # Errors
/// IndexError for an entry out of bounds, and for an index that is not a vector of int64.
pub fn index_select(view: &View, dim: i64, index: &View) -> Result<View> {
    let parts = expect_coo(view, "index_select")?;
    let d = dimension(view, dim)?;
    if index.ndim() != 1 || index.dtype != DType::Long || index.is_sparse() {
        bail!(IndexError, "index_select() argument index must be 1-D strided (non-sparse) long-tensor.");
    }
    let split = sparse_dim(view);
    let size = view.sizes()[d];
    let mut sizes = view.layout.sizes.clone();
    sizes[d] = index.numel();
    let mut wanted = super::integers(index)?;
    for at in &mut wanted {
        if *at < -size || *at >= size {
            if d >= split {
                bail!(RuntimeError, "index {at} is out of bounds for dimension {} with size {size}", d - split + 1);
            }
            bail!(
                IndexError,
                "index_select(): index contains {at} that is out of range for tensor of size {} at dimension {d}",
                show(view.sizes())
            );
        }
        if *at < 0 && d < split {
            *at += size;
        }
    }
    if d >= split {
        let values = gather::index_select(&parts.values, (d - split + 1) as i64, index)?;
        return coo(&sizes, parts.indices.clone(), values, parts.coalesced);
    }
    let coordinates = Coordinates::of(parts, &view.sizes()[..split])?;
    let by_entries = coordinates.nnz >= wanted.len();
    // For each number of one list, in order: its equals in the other list.
    let row = &coordinates.rows[d];
    let (outer, inner) = if by_entries { (&wanted, row) } else { (row, &wanted) };
    let mut equals = Lookup::new(inner, size)?;
    let (mut positions, mut entries) = (Vec::new(), Vec::new());
    for (first, &at) in (0..).zip(outer) {
        for second in equals.find(at) {
            let second = equals.position(second);
            let (entry, element) = if by_entries { (first, second) } else { (second, first) };
            limits::push(&mut positions, element)?;
            limits::push(&mut entries, entry)?;
        }
    }
    let mut picked = coordinates.at(&positions);
    picked.rows[d] = entries;
    let coalesced = picked.nnz < 2;
    coo(&sizes, picked.to_view()?, pick(&parts.values, &positions)?, coalesced)
}

/// `narrow_copy(dim, start, length)`.
pub fn narrow(view: &View, dim: i64, start: i64, length: i64) -> Result<View> {
    let parts = expect_coo(view, "narrow_copy")?;
    if view.ndim() == 0 {
        bail!(RuntimeError, "narrow() cannot be applied to a 0-dim tensor.");
    }
    if length < 0 {
        bail!(RuntimeError, "narrow(): length must be non-negative.");
    }
    let Some(d) = usize::try_from(dim).ok().filter(|&d| d < view.ndim()) else {
        bail!(RuntimeError, "Dimension {dim} out of range. Expecting 0 <= dim < {}.", view.ndim());
    };
    let split = sparse_dim(view);
    let size = view.sizes()[d];
    if start < 0 || start.checked_add(length).is_none_or(|end| end > size) {
        bail!(
            RuntimeError,
            "Invalid range to narrow. range(start, start+length) must be a subset of range(0, {size})."
        );
    }
    let mut sizes = view.layout.sizes.clone();
    sizes[d] = length;
    if d >= split {
        let values = views::narrow(&parts.values, (d - split + 1) as i64, start, length)?;
        return coo(&sizes, parts.indices.clone(), copy::clone(&values)?, parts.coalesced);
    }
    let coordinates = Coordinates::of(parts, &view.sizes()[..split])?;
    let within: Vec<i64> = (0..coordinates.nnz as i64)
        .filter(|&n| (start..start + length).contains(&coordinates.rows[d][n as usize]))
        .collect();
    let mut kept = coordinates.at(&within);
    kept.rows[d].iter_mut().for_each(|i| *i -= start);
    coo(&sizes, kept.to_view()?, pick(&parts.values, &within)?, parts.coalesced)
}

/// `torch.cat`: along a sparse dimension the indices are shifted; along a dense one the values are padded with zeros.
///
/// # Errors
/// RuntimeError if one of the tensors is dense, and for sizes that do not match.
pub fn cat(tensors: &[View], dim: i64) -> Result<View> {
    if let Some(position) = tensors.iter().position(|view| view.coo().is_none()) {
        bail!(RuntimeError, "Concatenating sparse tensors, but a dense tensor was found at position {position}.");
    }
    let Some(first) = tensors.first() else { bail!(ValueError, "expected a non-empty list of Tensors") };
    let d = dimension(first, dim)?;
    let split = sparse_dim(first);
    let mut sizes = first.layout.sizes.clone();
    for (position, view) in tensors.iter().enumerate() {
        let others = |view: &View| -> Dims {
            view.sizes().iter().enumerate().filter(|&(i, _)| i != d).map(|(_, &s)| s).collect()
        };
        if sparse_dim(view) != split || dense_dim(view) != dense_dim(first) {
            bail!(
                RuntimeError,
                "All tensors must have the same sparse_dim and dense_dim: {split}, {}, but tensor at position {position} \
                 has {}, {}.",
                dense_dim(first),
                sparse_dim(view),
                dense_dim(view)
            );
        }
        if others(view) != others(first) {
            bail!(
                RuntimeError,
                "All tensors must have the same shape: {} (except in the concatenating dimension), but found shape: {} \
                 at position {position}.",
                show(first.sizes()),
                show(view.sizes())
            );
        }
    }
    sizes[d] = tensors.iter().map(|view| view.sizes()[d]).sum();
    let (mut indices, mut values, mut moved) = (Vec::new(), Vec::new(), 0);
    for view in tensors {
        let parts = expect_coo(view, "cat")?;
        if d < split && moved == 0 {
            indices.push(parts.indices.clone());
            values.push(parts.values.clone());
        } else if d < split {
            let mut coordinates = Coordinates::of(parts, &view.sizes()[..split])?;
            coordinates.rows[d].iter_mut().for_each(|i| *i += moved);
            indices.push(coordinates.to_view()?);
            values.push(parts.values.clone());
        } else {
            indices.push(parts.indices.clone());
            let along = d - split + 1;
            let zeros = |size: i64| {
                let mut sizes = parts.values.layout.sizes.clone();
                sizes[along] = size;
                View::zeros(&sizes, view.dtype, Device::CPU)
            };
            let after = sizes[d] - moved - view.sizes()[d];
            values.push(join::cat(&[zeros(moved)?, parts.values.clone(), zeros(after)?], along as i64)?);
        }
        moved += view.sizes()[d];
    }
    coo(&sizes, join::cat(&indices, 1)?, join::cat(&values, 0)?, false)
}

/// `torch.stack`.
pub fn stack(tensors: &[View], dim: i64) -> Result<View> {
    let apart: Vec<View> = tensors.iter().map(|view| unsqueeze(view, dim)).collect::<Result<_>>()?;
    cat(&apart, dim)
}

/// `a + alpha * b` of two COO tensors: merges their elements by position, as far as both are sorted.
///
/// # Errors
/// RuntimeError if the sizes differ.
pub fn add(a: &View, b: &View, alpha: Scalar) -> Result<View> {
    if a.sizes() != b.sizes() {
        bail!(
            RuntimeError,
            "add: expected sizes of 'self' and 'other' to match, but {} != {}",
            show(a.sizes()),
            show(b.sizes())
        );
    }
    let (left, right) = (expect_coo(a, "add")?, expect_coo(b, "add")?);
    let dtype = promote_types(a.dtype, b.dtype)?;
    if right.indices.sizes()[1] == 0 {
        return super::with_values(a, copy::clone(&copy::cast(&left.values, dtype)?)?);
    }
    let scaled = scaled(&right.values, dtype, alpha)?;
    if left.indices.sizes()[1] == 0 {
        return super::with_values(b, scaled);
    }
    if sparse_dim(a) != sparse_dim(b) {
        bail!(
            RuntimeError,
            "add: expected 'self' and 'other' to have same density, but 'self' has {} sparse dimensions while 'other' has \
             {} sparse dimensions",
            sparse_dim(a),
            sparse_dim(b)
        );
    }
    super::supported("cadd_sparse", dtype, !matches!(dtype, DType::Bool | DType::Half))?;
    let split = sparse_dim(a);
    let sizes = &a.sizes()[..split];
    let (first, second) = (Coordinates::of(left, sizes)?, Coordinates::of(right, sizes)?);
    let (from, with) = (first.places(sizes)?, second.places(sizes)?);
    let (mut i, mut j) = (0, 0);
    // The elements of the result that get a left and a right element, and the indices of all of them.
    let (mut of_left, mut of_right, mut right_ones) = (Vec::new(), Vec::new(), Vec::new());
    let mut rows = vec![Vec::new(); split];
    let mut nnz = 0;
    while i < from.len() || j < with.len() {
        let (left, right) = match (from.get(i), with.get(j)) {
            (Some(x), Some(y)) => (x <= y, y <= x),
            (x, y) => (x.is_some(), y.is_some()),
        };
        for (d, row) in rows.iter_mut().enumerate() {
            row.push(if left { first.rows[d][i] } else { second.rows[d][j] });
        }
        if left {
            of_left.push(nnz);
            i += 1;
        }
        if right {
            of_right.push(nnz);
            right_ones.push(j as i64);
            j += 1;
        }
        nnz += 1;
    }
    let values = View::zeros(&sizes_of(nnz as usize, &scaled), dtype, Device::CPU)?;
    accumulate(&values, &of_left, None, &copy::cast(&left.values, dtype)?)?;
    accumulate(&values, &of_right, Some(&right_ones), &scaled)?;
    let indices = Coordinates { rows, nnz: nnz as usize }.to_view()?;
    coo(a.sizes(), indices, values, left.coalesced && right.coalesced)
}

/// Concatenates the elements of two tensors of the same sizes.
pub fn beside(a: &View, b: &View) -> Result<View> {
    let (left, right) = (expect_coo(a, "add")?, expect_coo(b, "add")?);
    let indices = join::cat(&[left.indices.clone(), right.indices.clone()], 1)?;
    coo(a.sizes(), indices, join::cat(&[left.values.clone(), right.values.clone()], 0)?, false)
}

/// Converts to a dtype and then multiplies, so that a negative factor fits.
fn scaled(view: &View, dtype: DType, alpha: Scalar) -> Result<View> {
    let cast = copy::cast(view, dtype)?;
    copy::cast(&binary(BinaryOp::Mul, (&cast).into(), Operand::Number(alpha), Output::New, DType::Float)?, dtype)
}

/// `a * b` of two COO tensors: multiplies the elements that both have. The result has the order of one of them: of the
/// only one that is not coalesced, else of the smaller one. The other one may list an index several times.
///
/// # Errors
/// RuntimeError, in PyTorch's words, if the sparse dimensions differ.
pub fn multiply(a: &View, b: &View) -> Result<View> {
    let split = sparse_dim(a);
    let (left, right) = (expect_coo(a, "mul")?, expect_coo(b, "mul")?);
    let count = |parts: &Coo| parts.indices.sizes().get(1).copied().unwrap_or(0);
    if a.sizes() == b.sizes() && (count(left) == 0 || count(right) == 0) {
        return empty_coo(a.sizes(), dense_dim(a), promote_types(a.dtype, b.dtype)?, a.device());
    }
    if a.ndim() != b.ndim() || split != sparse_dim(b) || a.sizes()[..split] != b.sizes()[..split] {
        bail!(
            RuntimeError,
            "sparse_binary_op_intersection_cpu(): expects sparse inputs with equal dimensionality, number of sparse \
             dimensions, and shape of sparse dimensions"
        );
    }
    super::supported("mul_out_sparse", a.dtype, a.dtype != DType::Bool || b.dtype != DType::Bool)?;
    let ordered_by_left = match (left.coalesced, right.coalesced) {
        (false, true) => true,
        (true, false) => false,
        (true, true) => true,
        (false, false) => count(left) < count(right),
    };
    let (source, searched) = if ordered_by_left { (left, right) } else { (right, left) };
    let sizes = &a.sizes()[..split];
    let listed = Coordinates::of(source, sizes)?;
    let bound = checked_numel(sizes)?;
    let mut known = Lookup::new(&Coordinates::of(searched, sizes)?.places(sizes)?, bound)?;
    // Each pair of a listed and a searched element is a term of an element of the result. Elements that are listed several
    // times stay, even without such a pair.
    let (mut kept, mut listed_at, mut searched_at, mut targets) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for (n, place) in (0..).zip(listed.places(sizes)?) {
        let found = known.find(place);
        if found.is_empty() && source.coalesced {
            continue;
        }
        for m in found {
            limits::push(&mut listed_at, n)?;
            limits::push(&mut searched_at, known.position(m))?;
            limits::push(&mut targets, kept.len() as i64)?;
        }
        kept.push(n);
    }
    let (from_source, from_searched) = (pick(&source.values, &listed_at)?, pick(&searched.values, &searched_at)?);
    let terms =
        if ordered_by_left { product(&from_source, &from_searched)? } else { product(&from_searched, &from_source)? };
    let values = if targets.len() == kept.len() && source.coalesced {
        terms
    } else {
        let sums = View::zeros(&sizes_of(kept.len(), &terms), terms.dtype, Device::CPU)?;
        accumulate(&sums, &targets, None, &terms)?;
        sums
    };
    let out: Dims = sizes.iter().chain(&values.sizes()[1..]).copied().collect();
    coo(&out, listed.at(&kept).to_view()?, values, source.coalesced)
}

fn product(a: &View, b: &View) -> Result<View> {
    binary(BinaryOp::Mul, a.into(), b.into(), Output::New, DType::Float)
}

/// `a * b` of a sparse tensor and a dense one. The result has the sparse tensor's indices, repeated if the dense one has
/// more dimensions. Like PyTorch, does not repeat them along a dimension of size 1 otherwise.
///
/// # Errors
/// RuntimeError if the sizes do not broadcast.
pub fn multiply_dense(a: &View, dense: &View) -> Result<View> {
    let sizes = broadcast_sizes(dense.sizes(), a.sizes())?;
    let a = &if dense.ndim() > a.ndim() { broadcast(a, &sizes)? } else { a.clone() };
    let parts = expect_coo(a, "mul")?;
    let dense = views::expand(dense, &sizes)?;
    let (sparse, rest) = sizes.split_at(sparse_dim(a));
    let places = Coordinates::of(parts, sparse)?.places(sparse)?;
    let flat: Dims = [checked_numel(sparse)?].into_iter().chain(rest.iter().copied()).collect();
    let values = product(&parts.values, &pick(&views::reshape(&dense, &flat)?, &places)?)?;
    coo(&sizes, parts.indices.clone(), values, parts.coalesced)
}

/// Expands a COO tensor: repeats its elements along new sparse dimensions and along those of size 1.
fn broadcast(view: &View, sizes: &[i64]) -> Result<View> {
    let whole = coalesce(view)?;
    let parts = expect_coo(&whole, "mul")?;
    let split = sparse_dim(view);
    let added = sizes.len() - view.ndim();
    let coordinates = Coordinates::of(parts, &view.sizes()[..split])?;
    let mut positions: Vec<i64> = (0..coordinates.nnz as i64).collect();
    let mut rows: Vec<Vec<i64>> = vec![vec![0; coordinates.nnz]; added];
    rows.extend(coordinates.rows);
    for d in (0..added + split).rev() {
        if d >= added && view.sizes()[d - added] == sizes[d] {
            continue;
        }
        let count = positions.len();
        checked_numel(&[count as i64, sizes[d]])?;
        let repeated = |row: &[i64]| -> Result<Vec<i64>> {
            let mut all = limits::vector(row.len().saturating_mul(sizes[d] as usize))?;
            (0..sizes[d]).for_each(|_| all.extend_from_slice(row));
            Ok(all)
        };
        positions = repeated(&positions)?;
        rows = rows.iter().map(|row| repeated(row)).collect::<Result<_>>()?;
        rows[d] = (0..sizes[d]).flat_map(|i| std::iter::repeat_n(i, count)).collect();
    }
    let nnz = positions.len();
    let element: Dims = [nnz as i64].into_iter().chain(sizes[added + split..].iter().copied()).collect();
    let values = views::expand(&pick(&parts.values, &positions)?, &element)?;
    coalesce(&coo(sizes, Coordinates { rows, nnz }.to_view()?, values, false)?)
}

/// `torch.sparse.sum(x, dims)`: the result is sparse if a sparse dimension is left, else dense.
pub fn sum(view: &View, dims: &[i64], keepdim: bool, dtype: Option<DType>) -> Result<View> {
    let parts = expect_coo(view, "sum")?;
    let split = sparse_dim(view);
    let mut gone = vec![dims.is_empty(); view.ndim()];
    for &dim in dims {
        let d = dimension(view, dim)?;
        if std::mem::replace(&mut gone[d], true) {
            bail!(RuntimeError, "dim {d} appears multiple times in the list of dims");
        }
    }
    let within: Vec<i64> = (split..view.ndim()).filter(|&d| gone[d]).map(|d| (d - split + 1) as i64).collect();
    let dtype = dtype.or(if view.dtype.is_integral(true) { Some(DType::Long) } else { None });
    let values = match dtype {
        Some(dtype) => copy::cast(&parts.values, dtype)?,
        None => parts.values.clone(),
    };
    let values = if within.is_empty() { values } else { dense_sum(&values, Some(&within), false, None)? };
    let kept: Vec<usize> = (0..split).filter(|&d| !gone[d]).collect();
    let left: Dims = (0..view.ndim()).filter(|&d| !gone[d]).map(|d| view.sizes()[d]).collect();
    if kept.is_empty() {
        let total = dense_sum(&values, Some(&[0]), false, None)?;
        return if keepdim { views::reshape(&total, &shown(view, &gone)) } else { Ok(total) };
    }
    let coordinates = Coordinates::of(parts, &view.sizes()[..split])?;
    let nnz = coordinates.nnz;
    let rows = kept.iter().map(|&d| coordinates.rows[d].clone()).collect();
    let summed = kept.len() < split;
    let out = coo(&left, Coordinates { rows, nnz }.to_view()?, values, parts.coalesced && !summed)?;
    let out = coalesce(&out)?;
    if !keepdim {
        return Ok(out);
    }
    (0..view.ndim()).filter(|&d| gone[d]).try_fold(out, |out, d| unsqueeze(&out, d as i64))
}

/// Returns the sizes, with 1 for the summed dimensions.
fn shown(view: &View, gone: &[bool]) -> Dims {
    view.sizes().iter().zip(gone).map(|(&size, &gone)| if gone { 1 } else { size }).collect()
}

/// `torch.sparse.spdiags(diagonals, offsets, shape)`: creates a matrix with these diagonals.
///
/// # Errors
/// RuntimeError, in PyTorch's words, for offsets that do not match.
pub fn from_diagonals(diagonals: &View, offsets: &View, shape: &[i64]) -> Result<View> {
    let diagonals = if diagonals.ndim() == 1 { views::unsqueeze(diagonals, 0)? } else { diagonals.clone() };
    let offsets = if offsets.ndim() == 0 { views::unsqueeze(offsets, 0)? } else { offsets.clone() };
    if diagonals.ndim() != 2 {
        bail!(RuntimeError, "Diagonals must be vector or matrix");
    }
    let &[rows, columns] = shape else { bail!(RuntimeError, "Output shape must be 2d") };
    if offsets.ndim() != 1 {
        bail!(RuntimeError, "Offsets must be scalar or vector");
    }
    if diagonals.sizes()[0] != offsets.sizes()[0] {
        bail!(
            RuntimeError,
            "Number of diagonals ({}) does not match the number of offsets ({})",
            diagonals.sizes()[0],
            offsets.sizes()[0]
        );
    }
    if offsets.dtype != DType::Long {
        bail!(RuntimeError, "Offset Tensor must have dtype Long but got {}", offsets.dtype.scalar_type());
    }
    let given = super::integers(&offsets)?;
    let mut distinct = given.clone();
    distinct.sort_unstable();
    distinct.dedup();
    if distinct.len() != given.len() {
        bail!(RuntimeError, "Offset tensor contains duplicate values");
    }
    let width = diagonals.sizes()[1];
    let (mut places, mut indices) = (Vec::new(), vec![Vec::new(), Vec::new()]);
    for (line, offset) in (0..).zip(given) {
        // Element j of a diagonal goes to column j of the matrix.
        let reach = width.min(columns).min(rows.saturating_add(offset));
        for column in offset.max(0)..reach {
            places.push(line * width + column);
            indices[0].push(column - offset);
            indices[1].push(column);
        }
    }
    let values = pick(&views::reshape(&diagonals, &[-1])?, &places)?;
    let nnz = places.len();
    coo(shape, Coordinates { rows: indices, nnz }.to_view()?, values, false)
}

/// Refuses to add a sparse tensor to a dense one of another size; PyTorch never broadcasts here.
///
/// # Errors
/// RuntimeError that names the sparse tensor's layout.
pub fn check_same_size(dense: &View, sparse: &View) -> Result<()> {
    if dense.sizes() == sparse.sizes() {
        return Ok(());
    }
    bail!(
        RuntimeError,
        "add: expected 'self' and 'other' to have same size, but self has size {} while other has size {} (FYI: \
         {}-sparse addition does not currently support broadcasting)",
        show(dense.sizes()),
        show(sparse.sizes()),
        if sparse.coo().is_some() { "dense" } else { "op2" }
    )
}

/// `a + alpha * b` of a dense and a sparse tensor; the result is dense.
///
/// # Errors
/// RuntimeError if the sizes differ.
pub fn add_to_dense(dense: &View, sparse: &View, alpha: Scalar) -> Result<View> {
    check_same_size(dense, sparse)?;
    let dtype = promote_types(dense.dtype, sparse.dtype)?;
    let Some(parts) = sparse.coo() else {
        let other = scaled(&to_dense(sparse)?, dtype, alpha)?;
        return binary(BinaryOp::Add, (&copy::cast(dense, dtype)?).into(), (&other).into(), Output::New, DType::Float);
    };
    // Like PyTorch, adds the elements one by one.
    let (split, rest) = sparse.sizes().split_at(sparse_dim(sparse));
    let places = Coordinates::of(parts, split)?.places(split)?;
    let out = copy::cast_as(dense, dtype, MemoryFormat::Contiguous)?;
    let flat: Dims = [checked_numel(split)?].into_iter().chain(rest.iter().copied()).collect();
    accumulate(&views::reshape(&out, &flat)?, &places, None, &scaled(&parts.values, dtype, alpha)?)?;
    Ok(out)
}

/// Returns a tensor without elements, with the same sizes and number of dense dimensions.
pub fn cleared(view: &View) -> Result<View> {
    empty_coo(view.sizes(), dense_dim(view), view.dtype, view.device())
}
