//! Convolutions in any number of dimensions, forward and transposed. The windows of the padded input form one matrix,
//! which is multiplied with the kernels as another. Follows
//! <https://pytorch.org/docs/2.7/generated/torch.nn.functional.conv2d.html>.

use super::copy::{contiguous, copy_into};
use super::create::zeros;
use super::matmul;
use super::pixels::pad;
use super::pointwise::{Output, add};
use super::view;
use crate::bail;
use crate::layout::show;
use crate::{DType, Dims, Error, Layout, Result, Scalar, View};

/// The parameters of a convolution; lists have one number for each dimension besides batch and channels.
#[derive(Clone, Debug)]
pub struct ConvolutionParameters {
    pub stride: Dims,
    pub padding: Dims,
    pub dilation: Dims,
    /// The extra size of a transposed convolution's result. Needed because several input sizes have the same output
    /// size.
    pub output_padding: Dims,
    pub transposed: bool,
    pub groups: i64,
}

/// Returns one number for each of `count` dimensions, repeating a single value.
///
/// # Errors
/// RuntimeError for any other count.
pub fn for_each_dimension(values: &[i64], name: &str, count: usize) -> Result<Dims> {
    match values {
        [one] => Ok(std::iter::repeat_n(*one, count).collect()),
        several if several.len() == count => Ok(Dims::from_slice(several)),
        other => bail!(
            RuntimeError,
            "expected {name} to be a single integer value or a list of {count} values to match the convolution dimensions, \
             but got {name}={}",
            show(other)
        ),
    }
}

impl ConvolutionParameters {
    /// Returns the number of elements that a dilated kernel of `size` spans.
    fn dilated_size(&self, d: usize, size: i64) -> Result<i64> {
        let steps = self.dilation[d].checked_mul(size - 1);
        steps.and_then(|steps| steps.checked_add(1)).ok_or_else(too_large)
    }

    /// Returns the result's size along a dimension.
    fn result_size(&self, d: usize, input: i64, kernel: i64) -> Result<i64> {
        let reach = self.dilated_size(d, kernel)?;
        let around = self.padding[d].checked_mul(2).ok_or_else(too_large)?;
        if self.transposed {
            let steps = (input - 1).checked_mul(self.stride[d]).ok_or_else(too_large)?;
            let rest = (reach - around).checked_add(self.output_padding[d]);
            rest.and_then(|rest| steps.checked_add(rest)).ok_or_else(too_large)
        } else {
            let free = input.checked_add(around).ok_or_else(too_large)? - reach;
            Ok(free.div_euclid(self.stride[d]) + 1)
        }
    }

    fn check(&self, input: &View, weight: &View, bias: Option<&View>) -> Result<()> {
        let sign = |values: &Dims, least: i64| values.iter().any(|&value| value < least);
        for (fails, message) in [
            (sign(&self.padding, 0), "negative padding is not supported"),
            (sign(&self.output_padding, 0), "negative output_padding is not supported"),
            (sign(&self.stride, 1), "non-positive stride is not supported"),
            (sign(&self.dilation, 1), "non-positive dilation is not supported"),
            (self.groups < 1, "non-positive groups is not supported"),
        ] {
            if fails {
                bail!(RuntimeError, "{message}");
            }
        }
        let (kernels, sizes) = (weight.sizes(), input.sizes());
        if kernels.len() != sizes.len() {
            bail!(
                RuntimeError,
                "Expected {0}-dimensional input for {0}-dimensional weight {1}, but got {2}-dimensional input of size {3} \
                 instead",
                kernels.len(),
                show(kernels),
                sizes.len(),
                show(sizes)
            );
        }
        let groups = self.groups;
        if kernels[0] < groups {
            bail!(
                RuntimeError,
                "Given groups={groups}, expected weight to be at least {groups} at dimension 0, but got weight of size {} \
                 instead",
                show(kernels)
            );
        }
        if kernels[0] % groups != 0 {
            bail!(
                RuntimeError,
                "Given groups={groups}, expected weight to be divisible by {groups} at dimension 0, but got weight of size \
                 [{}] instead",
                show(kernels)
            );
        }
        let (given, needed, made) = match self.transposed {
            true => ("transposed=1".to_owned(), kernels[0], kernels[1].checked_mul(groups)),
            false => (format!("groups={groups}"), kernels[1].saturating_mul(groups), Some(kernels[0])),
        };
        let made = made.ok_or_else(too_large)?;
        if sizes[1] != needed {
            bail!(
                RuntimeError,
                "Given {given}, weight of size {}, expected input{} to have {needed} channels, but got {} channels instead",
                show(kernels),
                show(sizes),
                sizes[1]
            );
        }
        if let Some(bias) = bias
            && bias.sizes() != [made]
        {
            let given = if self.transposed { "transposed=1, " } else { "" };
            bail!(
                RuntimeError,
                "Given {given}weight of size {}, expected bias to be 1-dimensional with {made} elements, but got bias of \
                 size {} instead",
                show(kernels),
                show(bias.sizes())
            );
        }
        self.check_room(&sizes[2..], &kernels[2..])?;
        check_dtypes(input, weight, bias, is_blocked(input, weight, self))
    }

    fn check_room(&self, sizes: &[i64], kernels: &[i64]) -> Result<()> {
        if self.transposed {
            return Ok(());
        }
        // If the padded size wraps, the check refuses the wrapped sum, as in PyTorch.
        let padded: Vec<i64> =
            sizes.iter().zip(&self.padding).map(|(s, p)| s.wrapping_add(p.wrapping_mul(2))).collect();
        let reaches =
            kernels.iter().enumerate().map(|(d, &size)| self.dilated_size(d, size)).collect::<Result<Vec<i64>>>()?;
        if padded.iter().zip(&reaches).any(|(size, reach)| size < reach) {
            let by = |sizes: &[i64]| sizes.iter().map(i64::to_string).collect::<Vec<_>>().join(" x ");
            bail!(
                RuntimeError,
                "Calculated padded input size per channel: ({}). Kernel size: ({}). Kernel size can't be greater than actual \
                 input size",
                by(&padded),
                by(&reaches)
            );
        }
        Ok(())
    }
}

fn check_dtypes(input: &View, weight: &View, bias: Option<&View>, blocked: bool) -> Result<()> {
    for (name, other) in [("weight", Some(weight)), ("bias", bias)] {
        if let Some(other) = other.filter(|other| other.dtype != input.dtype) {
            if !blocked {
                let (wanted, found) = (input.dtype.scalar_type(), other.dtype.scalar_type());
                bail!(RuntimeError, "expected scalar type {wanted} but found {found}");
            }
            let rest =
                if name == "weight" { " or input should be a MKLDNN tensor and weight is a dense tensor" } else { "" };
            bail!(
                RuntimeError,
                "Input type (torch.{}Tensor) and {name} type (torch.{}Tensor) should be the same{rest}",
                input.dtype.scalar_type(),
                other.dtype.scalar_type()
            );
        }
    }
    if input.dtype == DType::Bool {
        bail!(RuntimeError, "\"slow_conv2d_cpu\" not implemented for 'Bool'");
    }
    Ok(())
}

fn too_large() -> Error {
    Error::runtime("the sizes of the convolution overflow")
}

/// Convolves a batch of inputs, `[batch, channels, sizes…]`, with kernels, `[out_channels, channels / groups, sizes…]`
/// (transposed: `[channels, out_channels / groups, sizes…]`).
///
/// # Errors
/// RuntimeError, in PyTorch's words, for sizes, steps and dtypes that do not match.
pub fn convolution(input: &View, weight: &View, bias: Option<&View>, steps: &ConvolutionParameters) -> Result<View> {
    if weight.ndim() < 3 {
        bail!(RuntimeError, "weight should have at least three dimensions");
    }
    steps.check(input, weight, bias)?;
    let (batch, kernels) = (input.sizes()[0], &weight.sizes()[2..]);
    let made = if steps.transposed { weight.sizes()[1] * steps.groups } else { weight.sizes()[0] };
    let mut sizes = Dims::from_slice(&[batch, made]);
    for (d, (&size, &kernel)) in input.sizes()[2..].iter().zip(kernels).enumerate() {
        sizes.push(steps.result_size(d, size, kernel)?.max(0));
    }
    let out = zeros(&sizes, input.dtype, input.device())?;
    if out.device().is_meta() || out.numel() == 0 {
        return Ok(out);
    }
    let way = SummationOrder::of(input, weight, steps);
    let rows = weight.sizes()[0] / steps.groups;
    let channels = input.sizes()[1] / steps.groups;
    let made = made / steps.groups;
    for item in 0..batch {
        let (source, target) = (view::select(input, 0, item)?, view::select(&out, 0, item)?);
        for group in 0..steps.groups {
            let source = view::narrow(&source, 0, group * channels, channels)?;
            let target = view::narrow(&target, 0, group * made, made)?;
            let kernels = view::narrow(weight, 0, group * rows, rows)?;
            match way {
                SummationOrder::Scattered => scatter(&source, &kernels, &target, steps)?,
                SummationOrder::Gathered { kernel_first, block } => {
                    gather(&source, &kernels, &target, steps, kernel_first, block)?;
                }
            }
        }
    }
    if let Some(bias) = bias {
        let column: Dims = std::iter::once(sizes[1]).chain(sizes[2..].iter().map(|_| 1)).collect();
        let bias = view::reshape(bias, &column)?;
        add((&out).into(), (&bias).into(), Scalar::Int(1), Output::InPlace(&out), out.dtype)?;
    }
    Ok(out)
}

/// The order in which products are summed. PyTorch chooses between two libraries by the sizes, which changes the last
/// digit.
#[derive(Clone, Copy)]
enum SummationOrder {
    /// Each element of the result is the product of the kernel and the window below it. With `kernel_first`, the sum
    /// goes over the kernel's positions, with a block of channels at each; otherwise over channels first. Each block is
    /// summed separately.
    Gathered { kernel_first: bool, block: i64 },
    /// Each element of the source adds a scaled kernel to the result.
    Scattered,
}

impl SummationOrder {
    fn of(input: &View, weight: &View, steps: &ConvolutionParameters) -> SummationOrder {
        match (is_blocked(input, weight, steps), steps.transposed) {
            (true, _) if weight.sizes()[2..].iter().all(|&size| size == 1) => {
                SummationOrder::Gathered { kernel_first: true, block: i64::MAX }
            }
            // A block has the length of the library's vectors. Groups that do not fill whole blocks take the ordinary
            // product.
            (true, _) if steps.groups == 1 || (weight.sizes()[1] % 16 == 0 && weight.sizes()[0] % 16 == 0) => {
                SummationOrder::Gathered { kernel_first: true, block: 16 }
            }
            (true, _) => SummationOrder::Gathered { kernel_first: false, block: i64::MAX },
            (false, false) => SummationOrder::Gathered { kernel_first: false, block: i64::MAX },
            (false, true) => SummationOrder::Scattered,
        }
    }
}

/// Returns whether PyTorch uses the library that works on blocks of channels, by the rule of `use_mkldnn`.
fn is_blocked(input: &View, weight: &View, steps: &ConvolutionParameters) -> bool {
    let (sizes, kernels) = (input.sizes(), weight.sizes());
    let last = kernels[kernels.len() - 1];
    // PyTorch treats a 1-d convolution as a 2-d one whose first dimension has size 1.
    let before_last = if kernels.len() > 3 { kernels[kernels.len() - 2] } else { 1 };
    let moved = steps.stride.iter().chain(&steps.dilation).any(|&step| step != 1);
    let padded = steps.output_padding.iter().zip(&steps.stride).any(|(padding, stride)| padding >= stride);
    let elements = sizes.iter().take(4).fold(1i64, |product, &size| product.saturating_mul(size));
    input.dtype == DType::Float
        && !(steps.transposed && padded)
        && (moved || sizes[0] >= 16 || last != 1 || before_last != 1)
        && (steps.groups > 1 || (last > 3 && before_last > 3) || sizes[0] > 1 || elements > 20480)
}

/// Convolves one group as a product of matrices: kernels times windows.
fn gather(
    source: &View,
    kernels: &View,
    target: &View,
    steps: &ConvolutionParameters,
    kernel_first: bool,
    block: i64,
) -> Result<()> {
    let sizes = Dims::from_slice(&kernels.sizes()[2..]);
    let places = Dims::from_slice(&target.sizes()[1..]);
    let padded = padded(source, &sizes, steps)?;
    // The order of the kernels' dimensions: results, channels, positions; or results, positions, channels.
    let kernels = if steps.transposed { view::transpose(kernels, 0, 1)? } else { kernels.clone() };
    let kernels = if kernel_first {
        let own = (2..kernels.ndim() as i64).chain([1]);
        view::permute(&kernels, &std::iter::once(0).chain(own).collect::<Dims>())?
    } else {
        kernels
    };
    let channel_dim = if kernel_first { kernels.ndim() as i64 - 1 } else { 1 };
    let channels = padded.sizes()[0];
    let mut start = 0;
    while start < channels {
        let count = block.min(channels - start);
        let seen = seen(&view::narrow(&padded, 0, start, count)?, &sizes, &places, steps, kernel_first)?;
        let own = view::narrow(&kernels, channel_dim, start, count)?;
        let own = view::reshape(&contiguous(&own)?, &[target.sizes()[0], -1])?;
        let product = view::reshape(&matmul::mm_fused(&own, &seen)?, target.sizes())?;
        if start == 0 {
            copy_into(target, &product)?;
        } else {
            add(target.into(), (&product).into(), Scalar::Int(1), Output::InPlace(target), target.dtype)?;
        }
        start += count;
    }
    Ok(())
}

/// Pads the source. A transposed convolution is a convolution over the source with zeros between its elements.
fn padded(source: &View, kernels: &[i64], steps: &ConvolutionParameters) -> Result<View> {
    if !steps.transposed {
        let around: Vec<i64> = steps.padding.iter().rev().flat_map(|&padding| [padding; 2]).collect();
        return pad(source, &around, Scalar::Int(0));
    }
    let mut spread = source.clone();
    if steps.stride.iter().any(|&stride| stride != 1) {
        let mut sizes = Dims::from_slice(&source.sizes()[..1]);
        for (&size, &stride) in source.sizes()[1..].iter().zip(&steps.stride) {
            sizes.push((size - 1).checked_mul(stride).and_then(|steps| steps.checked_add(1)).ok_or_else(too_large)?);
        }
        spread = zeros(&sizes, source.dtype, source.device())?;
        let own = spread.layout.strides[1..].iter().zip(&steps.stride).map(|(own, stride)| own * stride);
        let strides: Dims = std::iter::once(spread.layout.strides[0]).chain(own).collect();
        let places = Dims::from_slice(source.sizes());
        copy_into(&spread.with_layout(Layout { sizes: places, strides, offset: spread.layout.offset }), source)?;
    }
    let mut around = Vec::new();
    for (d, &size) in kernels.iter().enumerate().rev() {
        let before = steps.dilated_size(d, size)? - 1 - steps.padding[d];
        around.extend([before, before + steps.output_padding[d]]);
    }
    pad(&spread, &around, Scalar::Int(0))
}

/// Returns the window below the kernel for each element of the result, one column each.
fn seen(
    padded: &View,
    kernels: &Dims,
    places: &Dims,
    steps: &ConvolutionParameters,
    kernel_first: bool,
) -> Result<View> {
    let (count, channels) = (kernels.iter().product::<i64>(), padded.sizes()[0]);
    let outer = if kernel_first { [count, channels] } else { [channels, count] };
    let sizes: Dims = outer.into_iter().chain(places.iter().copied()).collect();
    let columns = zeros(&sizes, padded.dtype, padded.device())?;
    let own = Dims::from_slice(&padded.layout.strides[1..]);
    let stride = |d: usize| if steps.transposed { 1 } else { steps.stride[d] };
    let strides: Dims = std::iter::once(padded.layout.strides[0])
        .chain(own.iter().enumerate().map(|(d, own)| own * stride(d)))
        .collect();
    let sizes: Dims = std::iter::once(channels).chain(places.iter().copied()).collect();
    for k in 0..count {
        let offset: i64 = kernel_index(k, kernels)
            .iter()
            .enumerate()
            .map(|(d, &at)| {
                // A transposed convolution flips the kernel.
                let at = if steps.transposed { kernels[d] - 1 - at } else { at };
                at * steps.dilation[d] * own[d]
            })
            .sum();
        let layout = Layout { sizes: sizes.clone(), strides: strides.clone(), offset: padded.layout.offset + offset };
        let column = view::select(&columns, if kernel_first { 0 } else { 1 }, k)?;
        copy_into(&column, &padded.with_layout(layout))?;
    }
    view::reshape(&columns, &[count * channels, -1])
}

/// Converts the number of a kernel element to its index.
fn kernel_index(mut number: i64, sizes: &[i64]) -> Dims {
    let mut index = Dims::from_slice(sizes);
    for at in index.iter_mut().rev() {
        let size = (*at).max(1);
        *at = number % size;
        number /= size;
    }
    index
}

/// Computes the transposed convolution of one group: each element of the source adds a scaled kernel to the target.
fn scatter(source: &View, kernels: &View, target: &View, steps: &ConvolutionParameters) -> Result<()> {
    let sizes = Dims::from_slice(&kernels.sizes()[2..]);
    let places = Dims::from_slice(&source.sizes()[1..]);
    let kernels = view::reshape(&contiguous(kernels)?, &[kernels.sizes()[0], -1])?;
    let flat = view::reshape(&contiguous(source)?, &[source.sizes()[0], -1])?;
    let columns = matmul::mm_fused(&view::transpose(&kernels, 0, 1)?, &flat)?;
    let made = target.sizes()[0];
    let columns = view::reshape(&columns, &[made, sizes.iter().product(), places.iter().product()])?;
    // Compute everything including the padding, which is cut off afterwards.
    let mut whole = Dims::from_slice(&[made]);
    for (d, (&place, &size)) in places.iter().zip(&sizes).enumerate() {
        whole.push(
            (place - 1) * steps.stride[d]
                + steps.dilated_size(d, size)?
                + steps.output_padding[d].max(steps.padding[d]),
        );
    }
    let whole = zeros(&whole, source.dtype, source.device())?;
    let own = Dims::from_slice(&whole.layout.strides[1..]);
    let strides: Dims = std::iter::once(whole.layout.strides[0])
        .chain(own.iter().zip(&steps.stride).map(|(own, stride)| own * stride))
        .collect();
    let reached: Dims = std::iter::once(made).chain(places.iter().copied()).collect();
    for k in 0..sizes.iter().product() {
        let at = kernel_index(k, &sizes);
        let offset: i64 = at.iter().enumerate().map(|(d, at)| at * steps.dilation[d] * own[d]).sum();
        let layout = Layout { sizes: reached.clone(), strides: strides.clone(), offset: whole.layout.offset + offset };
        let into = whole.with_layout(layout);
        let part = view::reshape(&view::select(&columns, 1, k)?, &reached)?;
        add((&into).into(), (&part).into(), Scalar::Int(1), Output::InPlace(&into), into.dtype)?;
    }
    let mut kept = whole;
    for (d, &size) in target.sizes()[1..].iter().enumerate() {
        kept = view::narrow(&kept, d as i64 + 1, steps.padding[d], size)?;
    }
    copy_into(target, &kept)
}
