//! Compressed rows and columns (CSR, CSC), and their block forms (BSR, BSC). Follows
//! <https://pytorch.org/docs/2.7/generated/torch.sparse_compressed_tensor.html>.

use super::kernels::accumulate;
use super::{Coordinates, coalesce, coo, expect_coo, integers, vector};
use crate::bail;
use crate::layout::{Dims, checked_numel, show};
use crate::limits;
use crate::ops::check::no_meta_kernel;
use crate::ops::{copy, join, view as views};
use crate::{Compressed, DType, Device, Error, Form, Layout, Result, TensorLayout, View};

/// Creates a compressed tensor from its parts.
fn compressed(sizes: &[i64], layout: TensorLayout, compressed: View, plain: View, values: View) -> Result<View> {
    let dtype = values.dtype;
    View::sparse(sizes, dtype, Form::Compressed(Compressed { layout, compressed, plain, values }))
}

fn parts(view: &View) -> Result<&Compressed> {
    view.compressed().ok_or_else(|| {
        Error::runtime(format!("expected sparse compressed tensor layout but got {}", view.tensor_layout().cpp_name()))
    })
}

/// `torch.sparse_compressed_tensor`. Without sizes, infers the smallest possible ones. With `check`, every index is
/// checked.
///
/// # Errors
/// RuntimeError, in PyTorch's words, for parts that do not match.
pub fn new(
    layout: TensorLayout,
    [row_starts, plain, values]: [&View; 3],
    sizes: Option<&[i64]>,
    check: bool,
) -> Result<View> {
    let (start_name, plain_name) = layout.index_names();
    for (indices, name) in [(row_starts, start_name), (plain, plain_name)] {
        if indices.ndim() == 0 {
            bail!(RuntimeError, "{name} must have dimensionality >= 1 but got 0");
        }
    }
    let parts = Compressed { layout, compressed: row_starts.clone(), plain: plain.clone(), values: values.clone() };
    let sizes = match sizes {
        Some(sizes) => Dims::from_slice(sizes),
        None => {
            check_dimensions(&parts)?;
            smallest(&parts)?
        }
    };
    if check {
        check_shapes(&sizes, &parts)?;
    }
    let out = View::sparse(&sizes, values.dtype, Form::Compressed(parts))?;
    if check {
        check_indices(&out)?;
    }
    for (indices, name) in [(row_starts, start_name), (plain, plain_name)] {
        if indices.device().is_meta() != values.device().is_meta() {
            bail!(RuntimeError, "Values and {name} need to be on the same device.");
        }
    }
    Ok(out)
}

/// Returns the smallest sizes that contain the indices.
fn smallest(parts: &Compressed) -> Result<Dims> {
    if parts.plain.device().is_meta() {
        bail!(RuntimeError, "Tensor.item() cannot be called on meta tensors");
    }
    let batch = parts.batch_dims();
    let lines = (parts.compressed.sizes().last().copied().unwrap_or(0) - 1).max(0);
    let across = integers(&parts.plain)?.into_iter().max().map_or(0, |largest| largest.saturating_add(1));
    let (rows, columns) = if parts.layout.by_rows() { (lines, across) } else { (across, lines) };
    let (block_rows, block_columns) = parts.block();
    let leading = parts.compressed.sizes()[..batch].iter().copied();
    let matrix = [rows.saturating_mul(block_rows), columns.saturating_mul(block_columns)];
    let dense = parts.values.ndim().saturating_sub(parts.dense_dims());
    Ok(leading.chain(matrix).chain(parts.values.sizes()[dense..].iter().copied()).collect())
}

/// Checks how many dimensions the parts have; errors are in PyTorch's words.
fn check_dimensions(parts: &Compressed) -> Result<()> {
    let (starts_name, plain_name) = parts.layout.index_names();
    let (starts, plain) = (parts.compressed.ndim(), parts.plain.ndim());
    if starts != plain {
        bail!(
            RuntimeError,
            "{starts_name} and {plain_name} dimensionalities must be equal but got {starts} and {plain}, respectively"
        );
    }
    let (batch, block, values) = (parts.batch_dims(), parts.block_dims(), parts.values.ndim());
    if values <= batch + block {
        bail!(
            RuntimeError,
            "values must have dimensionality > sum of batch and block dimensionalities (={batch} + {block}) but got \
             {values}"
        );
    }
    Ok(())
}

/// Checks the sizes and dtypes of the parts against those of the tensor; errors are in PyTorch's words.
fn check_shapes(sizes: &[i64], parts: &Compressed) -> Result<()> {
    check_dimensions(parts)?;
    let (starts_name, plain_name) = parts.layout.index_names();
    let (batch, dense, ndim) = (parts.batch_dims(), parts.dense_dims(), sizes.len());
    if ndim != batch + 2 + dense {
        bail!(
            RuntimeError,
            "tensor dimensionality must be sum of batch, base, and dense dimensionalities (={batch} + 2 + {dense}) but \
             got {ndim}"
        );
    }
    let values = parts.values.sizes();
    let leading = [parts.compressed.sizes(), parts.plain.sizes(), values].map(|sizes| &sizes[..batch]);
    if leading.iter().any(|leading| *leading != &sizes[..batch]) {
        let [starts, plain, values] = leading.map(show);
        bail!(
            RuntimeError,
            "all batch dimensions of {starts_name} (={starts}), {plain_name} (={plain}), and values (={values}) must be \
             equal to tensor batch dimensions (={})",
            show(&sizes[..batch])
        );
    }
    let (block_rows, block_columns) = parts.block();
    for (d, block) in [block_rows, block_columns].into_iter().enumerate() {
        let size = sizes[batch + d];
        if block != 0 && size % block != 0 {
            bail!(
                RuntimeError,
                "tensor shape[{d}] (={size}) must be divisible with blocksize[{d}] (={block}) as defined by values shape"
            );
        }
    }
    let (lines, _) = lines_and_across(sizes, parts);
    let starts = parts.compressed.sizes()[batch];
    if starts != lines.saturating_add(1) {
        let line = if parts.layout.by_rows() { "row" } else { "column" };
        let of = if parts.layout.is_blocked() { format!("{line} blocks") } else { format!("{line}s") };
        bail!(
            RuntimeError,
            "{starts_name}.shape[-1] must be equal to the number of {of} + 1 (={}), but got {starts}",
            lines.saturating_add(1)
        );
    }
    let (nnz, plain) = (values[batch], parts.nnz());
    if plain != nnz {
        bail!(
            RuntimeError,
            "{plain_name}.shape[-1] must be equal to nnz (={nnz}) as defined by values.shape[{batch}], but got {plain}"
        );
    }
    let (starts, plain) = (parts.compressed.dtype, parts.plain.dtype);
    if starts != plain {
        let (starts, plain) = (starts.scalar_type(), plain.scalar_type());
        bail!(
            RuntimeError,
            "{starts_name} and {plain_name} must have the same dtype, bot got {starts} and {plain}, respectively"
        );
    }
    if !matches!(starts, DType::Int | DType::Long) {
        let dtype = starts.scalar_type();
        bail!(RuntimeError, "{starts_name} and {plain_name} dtype must be Int or Long, but got {dtype}");
    }
    Ok(())
}

/// Checks the indices of a compressed tensor; errors are in PyTorch's words.
fn check_indices(view: &View) -> Result<()> {
    let parts = parts(view)?;
    let (starts_name, plain_name) = parts.layout.index_names();
    if parts.compressed.device().is_meta() {
        let (name, nnz) = (parts.layout.cpp_name().trim_start_matches("Sparse").to_uppercase(), parts.plain.numel());
        if nnz > 0 {
            bail!(RuntimeError, "expected nnz to be 0 for sparse {name} meta tensor but got {nnz}");
        }
        return Ok(());
    }
    if parts.plain.device().is_meta() {
        return no_meta_kernel("_validate_compressed_sparse_indices");
    }
    for batch in batches(view)? {
        let (Some(first), Some(last)) = (batch.starts.first(), batch.starts.last()) else { continue };
        if *first != 0 {
            bail!(RuntimeError, "`{starts_name}[..., 0] == 0` is not satisfied.");
        }
        if *last != batch.plain.len() as i64 {
            bail!(RuntimeError, "`{starts_name}[..., -1] == nnz` is not satisfied.");
        }
        let (lines, across) = lines_and_across(view.sizes(), parts);
        if batch.starts.windows(2).any(|pair| !(0..=across).contains(&(pair[1] - pair[0]))) {
            let (low, high) = (format!("{starts_name}[..., 1:]"), format!("{starts_name}[..., :-1]"));
            let count = if parts.layout.by_rows() { "ncols" } else { "nrows" };
            bail!(RuntimeError, "`0 <= {low} - {high} <= {count}` is not satisfied.");
        }
        if batch.plain.iter().any(|&i| i < 0) {
            bail!(RuntimeError, "`0 <= {plain_name} < {}` is not satisfied.", plain_limit(parts.layout));
        }
        if batch.plain.iter().any(|&i| i >= across) {
            bail!(RuntimeError, "`0 <= {plain_name} < {}` is not satisfied.", plain_limit(parts.layout));
        }
        let ascending = |line: &[i64]| line.windows(2).all(|pair| pair[0] < pair[1]);
        let runs = (0..lines as usize).filter_map(|line| batch.plain.get(batch.run(line)?));
        if !runs.into_iter().all(ascending) {
            bail!(
                RuntimeError,
                "`{plain_name}[..., {starts_name}[..., i - 1]:{starts_name}[..., i]] for all i = 1, ..., {} are sorted \
                 and distinct along the last dimension values` is not satisfied.",
                plain_limit(parts.layout).replace("cols", "X").replace("rows", "cols").replace('X', "rows")
            );
        }
    }
    Ok(())
}

fn plain_limit(layout: TensorLayout) -> &'static str {
    if layout.by_rows() { "ncols" } else { "nrows" }
}

/// Returns the number of compressed lines and the range of plain indices, in blocks.
fn lines_and_across(sizes: &[i64], parts: &Compressed) -> (i64, i64) {
    let batch = parts.batch_dims();
    let (block_rows, block_columns) = parts.block();
    let count = |d: usize, block: i64| sizes.get(batch + d).copied().unwrap_or(0) / block.max(1);
    let (rows, columns) = (count(0, block_rows), count(1, block_columns));
    if parts.layout.by_rows() { (rows, columns) } else { (columns, rows) }
}

/// The indices of one matrix of a batch.
struct Batch {
    starts: Vec<i64>,
    plain: Vec<i64>,
}

impl Batch {
    /// Returns the range of a line's elements among the plain indices.
    fn run(&self, line: usize) -> Option<std::ops::Range<usize>> {
        let (start, end) = (*self.starts.get(line)?, *self.starts.get(line + 1)?);
        (0 <= start && start <= end).then_some(start as usize..end as usize)
    }

    /// Returns the line and the plain index of each element.
    fn pairs(&self, lines: i64, across: i64) -> Result<(Vec<i64>, Vec<i64>)> {
        let mut of_line = Vec::new();
        for line in 0..lines {
            let run = self.run(line as usize).filter(|run| run.end <= self.plain.len());
            let Some(run) = run else { bail!(RuntimeError, "compressed indices must ascend from 0 to nnz") };
            of_line.extend(run.map(|_| line));
        }
        let plain = self.plain.get(..of_line.len()).unwrap_or_default().to_vec();
        if let Some(wrong) = plain.iter().find(|&&i| !(0..across).contains(&i)) {
            bail!(RuntimeError, "plain index {wrong} is out of bounds for size {across}");
        }
        Ok((of_line, plain))
    }
}

/// Returns the indices of every matrix of the batch; without a batch, of the single matrix.
fn batches(view: &View) -> Result<Vec<Batch>> {
    let parts = parts(view)?;
    let rows = |indices: &View| -> Result<Vec<Vec<i64>>> {
        // Indices of a meta tensor cannot be read.
        indices.memory()?;
        let length = indices.sizes().last().copied().unwrap_or(0) as usize;
        let all = integers(indices)?;
        let batch = &indices.sizes()[..indices.ndim().saturating_sub(1)];
        // Without indices, a size may be anything.
        let count = all.len().checked_div(length).map_or_else(|| checked_numel(batch), |count| Ok(count as i64))?;
        limits::room_for::<Vec<i64>>(count as usize)?;
        Ok((0..count as usize).map(|b| all.get(b * length..(b + 1) * length).unwrap_or_default().to_vec()).collect())
    };
    let (starts, plain) = (rows(&parts.compressed)?, rows(&parts.plain)?);
    Ok(starts.into_iter().zip(plain).map(|(starts, plain)| Batch { starts, plain }).collect())
}

/// Replaces the values and keeps the indices.
pub fn with_values(view: &View, values: View) -> Result<View> {
    let parts = parts(view)?;
    compressed(view.sizes(), parts.layout, parts.compressed.clone(), parts.plain.clone(), values)
}

/// Converts to COO; batches are converted through the dense tensor. All elements of a block count as specified.
pub fn to_coo(view: &View) -> Result<View> {
    let given = parts(view)?;
    if given.batch_dims() > 0 {
        return super::from_dense(&to_dense(view)?, (view.ndim() - given.dense_dims()) as i64);
    }
    let blocks = blocks(view)?;
    if !given.layout.is_blocked() {
        return Ok(blocks);
    }
    let (height, width) = given.block();
    let coordinates = Coordinates::of(expect_coo(&blocks, "to_sparse")?, blocks.sizes())?;
    let inside = |n: usize| (0..height).flat_map(move |i| (0..width).map(move |j| (n, i, j)));
    let [mut rows, mut columns] = [Vec::new(), Vec::new()];
    for (n, i, j) in (0..coordinates.nnz).flat_map(inside) {
        limits::push(&mut rows, coordinates.rows[0][n] * height + i)?;
        limits::push(&mut columns, coordinates.rows[1][n] * width + j)?;
    }
    let nnz = rows.len();
    let element: Dims = [nnz as i64].into_iter().chain(given.values.sizes()[3..].iter().copied()).collect();
    let values = views::reshape(&given.values, &element)?;
    coo(view.sizes(), Coordinates { rows: vec![rows, columns], nnz }.to_view()?, values, false)
}

/// Converts a COO matrix to CSR or CSC.
///
/// # Errors
/// RuntimeError unless there are exactly two sparse dimensions.
pub fn from_coo(view: &View, layout: TensorLayout) -> Result<View> {
    if !layout.by_rows() && super::sparse_dim(view) == 2 {
        // The compressed rows of the transpose are the compressed columns.
        let order: Vec<i64> = [1, 0].into_iter().chain(2..view.ndim() as i64).collect();
        let rows = match layout {
            TensorLayout::SparseCsc => TensorLayout::SparseCsr,
            _ => TensorLayout::SparseBsr,
        };
        return transpose(&from_coo(&super::rearrange::permute(view, &order)?, rows)?, 0, 1);
    }
    let whole = coalesce(view)?;
    let given = expect_coo(&whole, "to_sparse")?;
    let coordinates = Coordinates::of(given, view.sizes())?;
    let [rows, columns] = coordinates.rows.as_slice() else {
        bail!(
            RuntimeError,
            "Only tensors with two sparse dimensions can be converted to the {} layout, got self with {} sparse dimensions.",
            layout.cpp_name(),
            coordinates.rows.len()
        );
    };
    let starts = vector(&starts(rows, view.sizes()[0])?)?;
    compressed(view.sizes(), layout, starts, vector(columns)?, copy::clone(&given.values)?)
}

/// Returns the start of each of `count` lines, and the end of the last one.
pub(super) fn starts(lines: &[i64], count: i64) -> Result<Vec<i64>> {
    let room = (count as usize).saturating_add(1);
    let mut starts = limits::vector(room)?;
    starts.resize(room, 0);
    for &line in lines {
        if let Some(end) = starts.get_mut(line as usize + 1) {
            *end += 1;
        }
    }
    for line in 1..starts.len() {
        starts[line] += starts[line - 1];
    }
    Ok(starts)
}

/// `to_dense()`.
pub fn to_dense(view: &View) -> Result<View> {
    let parts = parts(view)?;
    let (lines, across) = lines_and_across(view.sizes(), parts);
    let (block_rows, block_columns) = parts.block();
    let (rows, columns) = if parts.layout.by_rows() { (lines, across) } else { (across, lines) };
    let dense = &parts.values.sizes()[parts.values.ndim() - parts.dense_dims()..];
    // Blocks first: every value is written as a whole to its position in a matrix of blocks.
    let mut places = Vec::new();
    let batches = batches(view)?;
    for (b, batch) in batches.iter().enumerate() {
        let (of_line, plain) = batch.pairs(lines, across)?;
        places.extend(of_line.iter().zip(&plain).map(|(&line, &i)| {
            let (row, column) = if parts.layout.by_rows() { (line, i) } else { (i, line) };
            (b as i64 * rows + row) * columns + column
        }));
    }
    let count = batches.len() as i64;
    let element: Dims = [block_rows, block_columns].into_iter().chain(dense.iter().copied()).collect();
    let flat: Dims = [checked_numel(&[count, rows, columns])?].into_iter().chain(element.iter().copied()).collect();
    let given: Dims = [places.len() as i64].into_iter().chain(element.iter().copied()).collect();
    let out = View::zeros(&flat, view.dtype, Device::CPU)?;
    let values = views::reshape(&parts.values, &given)?;
    accumulate(&out, &places, None, &values)?;
    if (block_rows, block_columns) == (1, 1) {
        return Ok(out.with_layout(Layout { offset: out.layout.offset, ..Layout::contiguous(view.sizes()) }));
    }
    // (batch, rows, columns, block rows, block columns, …), permuted to put block rows next to rows.
    let apart: Dims =
        [count, rows, columns, block_rows, block_columns].into_iter().chain(dense.iter().copied()).collect();
    let beside: Vec<i64> = [0, 1, 3, 2, 4].into_iter().chain(5..apart.len() as i64).collect();
    let out = views::permute(&out.with_layout(Layout::contiguous(&apart)), &beside)?;
    copy::clone(&views::reshape(&out, view.sizes())?)
}

/// Compresses a dense tensor; of a batch, every matrix.
///
/// # Errors
/// RuntimeError, in PyTorch's words and prefixed by `name`, for sizes that are not multiples of the block size, and for
/// batches whose matrices have different numbers of elements.
pub fn from_dense(
    view: &View,
    layout: TensorLayout,
    block: Option<(i64, i64)>,
    dense_dims: usize,
    name: &str,
) -> Result<View> {
    let Some(batch) = view.ndim().checked_sub(2 + dense_dims) else {
        if view.ndim() >= 2 {
            let most = view.ndim() - 2;
            bail!(RuntimeError, "{name}: dense_dim argument must be in [0,{most}] range, but {dense_dims} is given");
        }
        bail!(RuntimeError, "{name}: a matrix is needed, got a tensor of {} dimensions", view.ndim());
    };
    let (block_rows, block_columns) = block.unwrap_or((1, 1));
    let [rows, columns] = [view.sizes()[batch], view.sizes()[batch + 1]];
    if block_rows <= 0 || block_columns <= 0 {
        bail!(RuntimeError, "{name}: blocksize needs to be positive, but got [{block_rows}, {block_columns}]");
    }
    if rows % block_rows != 0 || columns % block_columns != 0 {
        // PyTorch's message repeats the number of rows.
        bail!(
            RuntimeError,
            "{name}: tensor sparse size ({rows},{rows}) must be divisible by given blocksize ({block_rows},{block_columns})"
        );
    }
    let leading = &view.sizes()[..batch];
    let dense = &view.sizes()[batch + 2..];
    let count = checked_numel(leading)?;
    // (batch, rows, columns, block rows, block columns, …); columns come before rows if columns are compressed.
    let apart: Dims = [count, rows / block_rows, block_rows, columns / block_columns, block_columns]
        .into_iter()
        .chain(dense.iter().copied())
        .collect();
    let (first, second) = if layout.by_rows() { (1, 3) } else { (3, 1) };
    let order: Vec<i64> = [0, first, second, 2, 4].into_iter().chain(5..apart.len() as i64).collect();
    let blocks = views::permute(&views::reshape(view, &apart)?, &order)?;
    let (lines, across) = (blocks.sizes()[1], blocks.sizes()[2]);
    let mut matrices = Vec::new();
    for b in 0..count {
        let matrix = blocks.with_layout(blocks.layout.select(0, b));
        let given = super::from_dense(&matrix, 2)?;
        let given = expect_coo(&given, "to_sparse")?;
        let coordinates = Coordinates::of(given, &[lines, across])?;
        let [of_line, plain] = coordinates.rows.as_slice() else { bail!(RuntimeError, "a matrix has two indices") };
        matrices.push((vector(&starts(of_line, lines)?)?, vector(plain)?, given.values.clone()));
    }
    if matrices.windows(2).any(|pair| pair[0].1.sizes() != pair[1].1.sizes()) {
        bail!(RuntimeError, "Expect the same number of specified elements per batch.");
    }
    let nnz = matrices.first().map_or(0, |(_, plain, _)| plain.numel());
    let stacked = |parts: Vec<View>, tail: &[i64]| -> Result<View> {
        let sizes: Dims = leading.iter().chain(tail).copied().collect();
        match parts.is_empty() {
            true => View::zeros(&sizes, parts.first().map_or(DType::Long, |part| part.dtype), Device::CPU),
            false => views::reshape(&join::stack(&parts, 0)?, &sizes),
        }
    };
    let (mut all_starts, mut all_plain, mut all_values) = (Vec::new(), Vec::new(), Vec::new());
    for (starts, plain, values) in matrices {
        all_starts.push(starts);
        all_plain.push(plain);
        all_values.push(values);
    }
    let block_sizes: &[i64] = if layout.is_blocked() { &[block_rows, block_columns] } else { &[] };
    let element: Dims = [nnz].iter().chain(block_sizes).chain(dense).copied().collect();
    let values = match all_values.is_empty() {
        true => View::zeros(&leading.iter().chain(&element).copied().collect::<Dims>(), view.dtype, Device::CPU)?,
        false => stacked(all_values, &element)?,
    };
    compressed(view.sizes(), layout, stacked(all_starts, &[lines + 1])?, stacked(all_plain, &[nnz])?, values)
}

/// Creates matrices without elements; the sizes before the last two are those of a batch.
///
/// # Errors
/// RuntimeError, in PyTorch's words, for fewer than two dimensions and for layouts of blocks.
pub fn empty(sizes: &[i64], layout: TensorLayout, dtype: DType, device: Device) -> Result<View> {
    let [batch @ .., rows, columns] = sizes else {
        bail!(
            RuntimeError,
            "torch.empty: Only batched sparse compressed (non-block) tensors are supported, but got size {}",
            show(sizes)
        );
    };
    if layout.is_blocked() {
        bail!(
            RuntimeError,
            "empty_sparse_compressed expected sparse compressed (non-block) tensor layout but got {}",
            layout.cpp_name()
        );
    }
    let lines = if layout.by_rows() { rows } else { columns };
    let with = |last: i64| -> Dims { batch.iter().copied().chain([last]).collect() };
    compressed(
        sizes,
        layout,
        View::zeros(&with(lines + 1), DType::Long, device)?,
        View::zeros(&with(0), DType::Long, device)?,
        View::zeros(&with(0), dtype, device)?,
    )
}

/// Creates matrices without elements, of the same sizes, layout and blocks as others.
pub fn cleared(view: &View, dtype: DType, device: Device) -> Result<View> {
    let given = parts(view)?;
    let without = |part: &View| -> Dims {
        let mut sizes = part.layout.sizes.clone();
        sizes[given.batch_dims()] = 0;
        sizes
    };
    compressed(
        view.sizes(),
        given.layout,
        View::zeros(given.compressed.sizes(), DType::Long, device)?,
        View::zeros(&without(&given.plain), DType::Long, device)?,
        View::zeros(&without(&given.values), dtype, device)?,
    )
}

/// Returns a matrix as a COO matrix of its blocks, in the order of the values. Without blocks, they are numbers.
pub fn blocks(view: &View) -> Result<View> {
    let given = parts(view)?;
    let (lines, across) = lines_and_across(view.sizes(), given);
    let Some(batch) = batches(view)?.into_iter().next() else { bail!(RuntimeError, "no indices") };
    let (of_line, plain) = batch.pairs(lines, across)?;
    let nnz = of_line.len();
    let by_rows = given.layout.by_rows();
    let (rows, sizes) =
        if by_rows { (vec![of_line, plain], [lines, across]) } else { (vec![plain, of_line], [across, lines]) };
    let sizes: Dims = sizes.into_iter().chain(given.values.sizes()[1..].iter().copied()).collect();
    coo(&sizes, Coordinates { rows, nnz }.to_view()?, given.values.clone(), by_rows)
}

/// Makes a matrix of compressed rows from a COO matrix of blocks; sizes and layout are those of `like`.
pub fn from_blocks(blocks: &View, like: &View) -> Result<View> {
    let layout = parts(like)?.layout;
    let whole = coalesce(blocks)?;
    let given = expect_coo(&whole, "to_sparse")?;
    let coordinates = Coordinates::of(given, blocks.sizes())?;
    let starts = starts(&coordinates.rows[0], blocks.sizes()[0])?;
    compressed(like.sizes(), layout, vector(&starts)?, vector(&coordinates.rows[1])?, given.values.clone())
}

/// `x[at]` along a dimension of a matrix: the elements as a COO vector, whose values are a view.
///
/// # Errors
/// RuntimeError, in PyTorch's words, if the values are not evenly spaced in memory.
pub fn select(view: &View, dim: usize, at: i64) -> Result<View> {
    let given = parts(view)?;
    let refused = || Error::runtime("select(): no view exists for the given input, consider using torch.select_copy.");
    let (block_rows, block_columns) = given.block();
    let (length, other) = if dim == 0 { (block_rows, block_columns) } else { (block_columns, block_rows) };
    let (line, within) = (at / length.max(1), at % length.max(1));
    let (lines, across) = lines_and_across(view.sizes(), given);
    // The elements on the line, and where each lies along it.
    let (found, others): (Vec<usize>, Vec<i64>) = if (dim == 0) == given.layout.by_rows() {
        let part = |indices: &View, range: std::ops::Range<i64>| {
            integers(&indices.with_layout(indices.layout.slice(0, Some(range.start), Some(range.end), 1)))
        };
        let starts = part(&given.compressed, line..line + 2)?;
        let (start, end) = match starts.as_slice() {
            &[start, end] if start >= 0 => (start, end),
            _ => bail!(RuntimeError, "compressed indices must ascend from 0 to nnz"),
        };
        let batch = Batch { starts: vec![0, end - start], plain: part(&given.plain, start..end)? };
        ((start as usize..end as usize).collect(), batch.pairs(1, across)?.1)
    } else {
        let Some(batch) = batches(view)?.into_iter().next() else { bail!(RuntimeError, "no indices") };
        let (others, searched) = batch.pairs(lines, across)?;
        let found: Vec<usize> = (0..searched.len()).filter(|&n| searched[n] == line).collect();
        let others = found.iter().map(|&n| others[n]).collect();
        (found, others)
    };
    let (start, step) = match found.as_slice() {
        [] => (0, 1),
        [only] => (*only, 1),
        [first, second, ..] => (*first, second - first),
    };
    if found.windows(2).any(|pair| pair[1] - pair[0] != step) {
        return Err(refused());
    }
    let end = if found.is_empty() { 0 } else { start + step * (found.len() - 1) + 1 };
    let mut values =
        given.values.with_layout(given.values.layout.slice(0, Some(start as i64), Some(end as i64), step as i64));
    if given.layout.is_blocked() {
        values = values.with_layout(values.layout.select(1 + dim, within));
        let count = found.len() as i64 * other;
        let flat: Dims = [count].into_iter().chain(values.sizes()[2..].iter().copied()).collect();
        values = values.with_layout(values.layout.view(&flat).map_err(|_| refused())?);
    }
    let indices: Vec<i64> = others.iter().flat_map(|&i| (0..other).map(move |j| i * other + j)).collect();
    let mut sizes = view.layout.sizes.clone();
    sizes.remove(dim);
    let nnz = indices.len();
    coo(&sizes, Coordinates { rows: vec![indices], nnz }.to_view()?, values, true)
}

/// Transposes a matrix by swapping the roles of rows and columns, without reading elements.
///
/// # Errors
/// RuntimeError unless the two dimensions are those of the matrix.
pub fn transpose(view: &View, dim0: usize, dim1: usize) -> Result<View> {
    let given = parts(view)?;
    let batch = given.batch_dims();
    if dim0 == dim1 {
        return Ok(view.clone());
    }
    if dim0.min(dim1) != batch || dim0.max(dim1) != batch + 1 {
        bail!(
            RuntimeError,
            "transpose(): can only transpose the two sparse dimensions of a {} tensor here",
            given.layout.cpp_name()
        );
    }
    let layout = match given.layout {
        TensorLayout::SparseCsr => TensorLayout::SparseCsc,
        TensorLayout::SparseCsc => TensorLayout::SparseCsr,
        TensorLayout::SparseBsr => TensorLayout::SparseBsc,
        _ => TensorLayout::SparseBsr,
    };
    let mut sizes = view.layout.sizes.clone();
    sizes.swap(dim0, dim1);
    let values = match layout.is_blocked() {
        true => views::transpose(&given.values, batch as i64 + 1, batch as i64 + 2)?,
        false => given.values.clone(),
    };
    compressed(&sizes, layout, given.compressed.clone(), given.plain.clone(), values)
}
