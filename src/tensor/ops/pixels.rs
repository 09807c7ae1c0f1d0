//! Moves elements between channels and pixels, and adds borders: `pixel_shuffle`, `channel_shuffle`, `pad`,
//! `avg_pool1d`. Follows <https://pytorch.org/docs/2.7/nn.functional.html>.

use super::compose::Math;
use super::copy::{cast, clone, contiguous, copy_into, fill};
use super::create::full;
use super::pointwise::{BinaryOp, FLOATS, check_kernel};
use super::reduce::sum;
use super::view::{narrow, permute, reshape, unfold};
use crate::bail;
use crate::layout::show;
use crate::{DType, MemoryFormat, Result, Scalar, View, interrupt, limits};

/// Splits the sizes into the leading dimensions and the last three: channels, height and width.
fn image<'v>(view: &'v View, name: &str) -> Result<(&'v [i64], [i64; 3])> {
    match view.sizes() {
        [batch @ .., c, h, w] => Ok((batch, [*c, *h, *w])),
        sizes => bail!(
            RuntimeError,
            "{name} expects input to have at least 3 dimensions, but got input with {} dimension(s)",
            sizes.len()
        ),
    }
}

fn check_factor(name: &str, factor_name: &str, factor: i64) -> Result<()> {
    if factor <= 0 {
        bail!(RuntimeError, "{name} expects a positive {factor_name}, but got {factor}");
    }
    Ok(())
}

/// Rearranges channels into `r` by `r` blocks of pixels.
///
/// # Errors
/// RuntimeError for fewer than three dimensions and channels that are not divisible.
pub fn pixel_shuffle(view: &View, r: i64) -> Result<View> {
    let (batch, [c, h, w]) = image(view, "pixel_shuffle")?;
    check_factor("pixel_shuffle", "upscale_factor", r)?;
    let square = r.saturating_mul(r);
    if c % square != 0 {
        bail!(
            RuntimeError,
            "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of upscale_factor, but \
             input.size(-3)={c} is not divisible by {square}"
        );
    }
    let split = [batch, &[c / square, r, r, h, w]].concat();
    reshape_and_copy(view, &split, &[0, 3, 1, 4, 2], &[batch, &[c / square, h * r, w * r]].concat())
}

/// The inverse of [`pixel_shuffle`].
///
/// # Errors
/// RuntimeError for fewer than three dimensions and sizes that are not divisible.
pub fn pixel_unshuffle(view: &View, r: i64) -> Result<View> {
    let (batch, [c, h, w]) = image(view, "pixel_unshuffle")?;
    check_factor("pixel_unshuffle", "downscale_factor", r)?;
    for (name, index, size) in [("height", 2, h), ("width", 1, w)] {
        if size % r != 0 {
            bail!(
                RuntimeError,
                "pixel_unshuffle expects {name} to be divisible by downscale_factor, but input.size(-{index})={size} is \
                 not divisible by {r}"
            );
        }
    }
    let split = [batch, &[c, h / r, r, w / r, r]].concat();
    reshape_and_copy(view, &split, &[0, 2, 4, 1, 3], &[batch, &[c * r * r, h / r, w / r]].concat())
}

/// Reshapes to `split`, reorders the last dimensions, and copies the result with the sizes `joined`.
fn reshape_and_copy(view: &View, split: &[i64], order: &[i64], joined: &[i64]) -> Result<View> {
    let kept = (split.len() - order.len()) as i64;
    let dims: Vec<i64> = (0..kept).chain(order.iter().map(|d| d + kept)).collect();
    reshape(&contiguous(&permute(&reshape(view, split)?, &dims)?)?, joined)
}

/// Interleaves the channels of `groups` groups.
///
/// # Errors
/// RuntimeError for fewer than three dimensions and channels that are not divisible.
pub fn channel_shuffle(view: &View, groups: i64) -> Result<View> {
    if view.ndim() < 3 {
        bail!(
            RuntimeError,
            "channel_shuffle expects input with > 2 dims, but got input with sizes {}",
            crate::layout::show(view.sizes())
        );
    }
    let (batch, c) = (view.sizes()[0], view.sizes()[1]);
    if groups <= 0 {
        bail!(RuntimeError, "Number of groups to divide channels in must be positive. Value of groups:{groups}");
    }
    if c % groups != 0 {
        bail!(RuntimeError, "Number of channels must be divisible by groups. Got {c} channels and {groups} groups.");
    }
    let rest = &view.sizes()[2..];
    let split = [&[batch, groups, c / groups], rest].concat();
    let order: Vec<i64> = [0, 2, 1].into_iter().chain(3..split.len() as i64).collect();
    reshape_and_copy(view, &split, &order, view.sizes())
}

/// Adds a border of a value around the last dimensions. `pad` lists the sizes before and after each dimension, starting
/// with the last one. Negative sizes crop.
///
/// # Errors
/// RuntimeError for a list that does not match the dimensions.
pub fn pad(view: &View, pad: &[i64], value: Scalar) -> Result<View> {
    if !pad.len().is_multiple_of(2) {
        bail!(RuntimeError, "Padding length must be divisible by 2");
    }
    if pad.len() / 2 > view.ndim() {
        bail!(
            RuntimeError,
            "Padding length should be less than or equal to two times the input dimension but got padding length {} and input of dimension {}",
            pad.len(),
            view.ndim()
        );
    }
    let mut inner = view.clone();
    let mut sizes = view.sizes().to_vec();
    for (i, pair) in pad.chunks_exact(2).enumerate() {
        let d = view.ndim() - 1 - i;
        let (before, after) = (pair[0], pair[1]);
        let size = sizes[d].saturating_add(before).saturating_add(after);
        if size < 0 {
            bail!(
                RuntimeError,
                "The input size {}, plus negative padding {before} and {after} resulted in a negative output size, which \
                 is invalid. Check dimension {d} of your input.",
                sizes[d]
            );
        }
        let cut = (-before).max(0);
        inner = narrow(&inner, d as i64, cut, (sizes[d] - cut - (-after).max(0)).max(0))?;
        sizes[d] = size;
    }
    // Without a border, the rest is cloned.
    if pad.iter().all(|&width| width <= 0) {
        return clone(&inner);
    }
    let out = match MemoryFormat::suggested(&view.layout) {
        MemoryFormat::Contiguous => full(&sizes, value, Some(view.dtype), view.dtype, view.device())?,
        format => {
            let out = View::zeros_strided(&sizes, format.strides(&sizes)?, view.dtype, view.device())?;
            fill(&out, value)?;
            out
        }
    };
    let mut window = out.clone();
    for (i, pair) in pad.chunks_exact(2).enumerate() {
        let d = view.ndim() - 1 - i;
        window = narrow(&window, d as i64, pair[0].max(0), inner.sizes()[d])?;
    }
    copy_into(&window, &inner)?;
    Ok(out)
}

/// The windows of `avg_pool1d`.
pub struct Windows {
    pub kernel: i64,
    pub stride: i64,
    pub padding: i64,
    /// Whether the last window may extend beyond the padding.
    pub ceil: bool,
    /// Whether means include the padding.
    pub count_padding: bool,
}

impl Windows {
    /// Returns the number of windows on a line of `length` elements.
    fn count(&self, length: i64) -> Result<i64> {
        let &Windows { kernel, stride, padding, ceil, .. } = self;
        if stride == 0 {
            bail!(RuntimeError, "stride should not be zero");
        }
        if padding < 0 {
            bail!(RuntimeError, "pad must be non-negative, but got pad: {padding}");
        }
        if padding > kernel / 2 {
            bail!(
                RuntimeError,
                "pad should be at most half of effective kernel size, but got pad={padding}, kernel_size={kernel} and \
                 dilation=1"
            );
        }
        let room = i128::from(length) + 2 * i128::from(padding) - i128::from(kernel);
        let room = if ceil { room + i128::from(stride) - 1 } else { room };
        let step = i128::from(stride);
        let mut count = room.div_euclid(step) + 1;
        // The last window must start within the line or the padding before it.
        if ceil && (count - 1) * step >= i128::from(length) + i128::from(padding) {
            count -= 1;
        }
        i64::try_from(count).map_err(|_| crate::Error::runtime("integer out of range"))
    }
}

/// Refuses tensors that cannot be pooled: those without two or three dimensions.
pub fn check_pooled(view: &View) -> Result<()> {
    if !matches!(view.ndim(), 2 | 3) {
        bail!(
            RuntimeError,
            "Expected 2 to 3 dimensions, but got {}-dimensional tensor for argument #1 'self' (while checking arguments \
             for avg_pool1d)",
            view.ndim()
        );
    }
    Ok(())
}

/// Computes the mean of every window along the last dimension. PyTorch pools in two dimensions, one of size 1, and
/// mentions both in messages.
///
/// # Errors
/// RuntimeError for invalid windows.
pub fn avg_pool1d(view: &View, windows: &Windows) -> Result<View> {
    check_pooled(view)?;
    let &[.., channels, length] = view.sizes() else { return Ok(view.clone()) };
    let count = windows.count(length)?;
    let &Windows { kernel, stride, padding, count_padding, .. } = windows;
    if kernel <= 0 {
        bail!(RuntimeError, "kernel size should be greater than zero, but got kH: 1 kW: {kernel}");
    }
    if stride <= 0 {
        bail!(RuntimeError, "stride should be greater than zero, but got dH: 1 dW: {stride}");
    }
    if view.sizes()[view.ndim() - 2..].contains(&0) || view.ndim() == 2 && channels == 0 {
        let mut sizes = view.sizes().to_vec();
        sizes.insert(sizes.len() - 1, 1);
        bail!(
            RuntimeError,
            "Expected 3D or 4D (batch mode) tensor with optional 0 dim batch size for input, but got:{}",
            show(&sizes)
        );
    }
    if count < 1 {
        bail!(
            RuntimeError,
            "Given input size: ({channels}x1x{length}). Calculated output size: ({channels}x1x{count}). Output size is \
             too small"
        );
    }
    if view.dtype != DType::Long {
        check_kernel("avg_pool2d", FLOATS, view.dtype)?;
    }
    let computed = if view.dtype.is_floating_point() && view.dtype.itemsize() < 4 { DType::Float } else { view.dtype };
    let padded_end = length.saturating_add(padding);
    let mut counts = limits::vector(count as usize)?;
    for window in 0..count {
        interrupt::check_at(window as usize)?;
        let start = window * stride - padding;
        let end = start.saturating_add(kernel).min(padded_end);
        let elements = if count_padding { end - start } else { end.min(length) - start.max(0) };
        counts.push(Scalar::Int(elements.max(1)));
    }
    let counts = View::from_scalars(&[count], computed, counts)?;
    let behind = ((count - 1) * stride - padding).saturating_add(kernel).saturating_sub(padded_end).max(0);
    let around = [padding, padding.saturating_add(behind)];
    let line = if view.dtype == computed { view.clone() } else { cast(view, computed)? };
    let totals = sum(&unfold(&pad(&line, &around, Scalar::Int(0))?, -1, kernel, stride)?, Some(&[-1]), false, None)?;
    let op = if computed == DType::Long { BinaryOp::TruncDivide } else { BinaryOp::TrueDivide };
    let means = Math(DType::Float).binary(op, &totals, &counts)?;
    contiguous(&if view.dtype == computed { means } else { cast(&means, view.dtype)? })
}

/// How a padded tensor continues beyond its border.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Border {
    Reflect,
    Replicate,
    Circular,
}

impl Border {
    pub fn named(mode: &str) -> Option<Border> {
        Some(match mode {
            "reflect" => Border::Reflect,
            "replicate" => Border::Replicate,
            "circular" => Border::Circular,
            _ => return None,
        })
    }

    /// Returns the index of the element shown at `place`, which may lie before or after a line of `size` elements.
    pub fn place(self, place: i64, size: i64) -> i64 {
        match self {
            Border::Reflect if place < 0 => -place,
            Border::Reflect if place >= size => 2 * (size - 1) - place,
            Border::Reflect => place,
            Border::Replicate => place.clamp(0, size - 1),
            Border::Circular => place.rem_euclid(size),
        }
    }

    fn kernel(self) -> &'static str {
        if self == Border::Reflect { "reflection" } else { "replication" }
    }
}

/// Refuses invalid padding. `pads` lists the sizes before and after each dimension, starting with the last one.
///
/// # Errors
/// RuntimeError and NotImplementedError in PyTorch's words.
pub fn check_border(view: &View, border: Border, pads: &[i64]) -> Result<()> {
    let (sizes, ndim, spatial) = (view.sizes(), view.ndim(), pads.len() / 2);
    let lines: Vec<(usize, i64, i64, i64)> = pads
        .chunks_exact(2)
        .enumerate()
        .map(|(i, pair)| (ndim - 1 - i, sizes[ndim - 1 - i], pair[0], pair[1]))
        .collect();
    if border == Border::Circular {
        for &(_, size, before, behind) in lines.iter().rev() {
            if before > size || behind > size {
                bail!(RuntimeError, "Padding value causes wrapping around more than once.");
            }
            if size + before + behind < 0 {
                bail!(RuntimeError, "Negative padding value is resulting in an empty dimension");
            }
        }
        return Ok(());
    }
    if sizes[ndim - 1 - spatial..].contains(&0) {
        bail!(
            RuntimeError,
            "Expected {}D or {}D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions for input, \
             but got: {}",
            spatial + 1,
            spatial + 2,
            show(sizes)
        );
    }
    let argument = 2 + 2 * spatial;
    for &(dim, size, before, behind) in &lines {
        if border == Border::Reflect && (before >= size || behind >= size) {
            // PyTorch's argument number: the padding of the last dimension is given first, and an argument is named by
            // the position after it.
            let named = if dim == ndim - 1 { 4 } else { 6 + 2 * (ndim - 2 - dim) };
            bail!(
                RuntimeError,
                "Argument #{}: Padding size should be less than the corresponding input dimension, but got: padding \
                 ({before}, {behind}) at dimension {dim} of input {}",
                named.min(argument),
                show(sizes)
            );
        }
    }
    for &(_, size, before, behind) in &lines {
        let length = size + before + behind;
        if length < 1 {
            bail!(RuntimeError, "input (W: {size}) is too small. Calculated output W: {length}");
        }
    }
    if matches!(view.dtype, DType::Bool) {
        bail!(RuntimeError, "\"{}_pad{spatial}d\" not implemented for '{}'", border.kernel(), view.dtype.scalar_type());
    }
    Ok(())
}
