//! Shifts and scales numbers to mean zero and variance one: over the last dimensions (layer norm), or over all but the
//! channels (batch norm). Follows the loops behind <https://pytorch.org/docs/2.7/nn.functional.html>, with the same
//! order of additions.

use super::check::lost;
use super::copy::{contiguous_as, copy_into};
use super::number::{Number, Real, Stored};
use super::pointwise::{check_kernel, classes};
use super::view::narrow;
use crate::bail;
use crate::layout::show;
use crate::parallel::{self, Kernel, vectorised, vectorised_kernel};
use crate::thresholds::BLOCK;
use crate::{DType, Dims, Layout, MemoryFormat, Result, View, interrupt};
use half::{bf16, f16};
use num_traits::{Float, One, Zero};
use smallvec::SmallVec;
use std::ops::Range;

/// The number of `f32` elements in the vectors that determine PyTorch's order of additions.
const LANES: usize = 8;
/// The number of vectors accumulated before their moments are merged into the total.
const CHUNK: usize = 16;
/// The approximate number of elements per task.
const TASK: usize = 1 << 14;

/// The result, the means and the reciprocals of the standard deviations.
pub type Normalized = [View; 3];

/// Returns the dtype of parameters and statistics. With 16-bit floats, they may be `float32`.
fn parameters_dtype(input: &View, parameters: &[Option<&View>]) -> Result<DType> {
    let mut given = parameters.iter().copied().flatten();
    let Some(first) = given.clone().next().map(|view| view.dtype).filter(|&dtype| dtype != input.dtype) else {
        let Some(other) = given.find(|view| view.dtype != input.dtype) else { return Ok(input.dtype) };
        let (wanted, found) = (input.dtype.scalar_type(), other.dtype.scalar_type());
        bail!(RuntimeError, "expected scalar type {wanted} but found {found}");
    };
    if first != DType::Float || given.any(|view| view.dtype != DType::Float) {
        bail!(RuntimeError, "mixed dtype (CPU): expect parameter to have scalar type of Float");
    }
    if !input.dtype.is_reduced_floating_point() {
        bail!(RuntimeError, "mixed dtype (CPU): all inputs must share same datatype.");
    }
    Ok(DType::Float)
}

/// Returns the elements of a parameter, converted to the compute type.
fn numbers<C: Number>(view: Option<&View>) -> Result<Option<Vec<C>>> {
    let scalars = view.map(View::scalars).transpose()?;
    Ok(scalars.map(|scalars| scalars.into_iter().map(C::from_scalar).collect()))
}

/// The mean and the sum of squared deviations of `count` numbers, in each lane.
#[derive(Clone, Copy)]
struct Moments<C, const N: usize> {
    count: usize,
    mean: [C; N],
    squares: [C; N],
}

impl<C: Real, const N: usize> Moments<C, N> {
    fn none() -> Self {
        Moments { count: 0, mean: [C::zero(); N], squares: [C::zero(); N] }
    }

    #[inline(always)]
    fn join(&mut self, other: &Self) {
        let count = self.count + other.count;
        let share = if count == 0 { C::zero() } else { of_count::<C>(other.count) / of_count(count) };
        let before = of_count::<C>(self.count);
        for k in 0..N {
            let apart = other.mean[k] - self.mean[k];
            self.mean[k] = share.fused(apart, self.mean[k]);
            self.squares[k] = self.squares[k] + (apart * apart * share).fused(before, other.squares[k]);
        }
        self.count = count;
    }
}

fn of_count<C: Real>(count: usize) -> C {
    C::from_f64(count as f64)
}

/// Computes the moments of every lane over some vectors: of each group of `parts`, the one at `part`.
struct OfVectors<'a, S, const N: usize> {
    vectors: &'a [[S; N]],
    part: usize,
    parts: usize,
}

impl<S: Stored<Compute: Real>, const N: usize> Kernel for OfVectors<'_, S, N> {
    type Output = Moments<S::Compute, N>;
    #[inline(always)]
    fn run(self, _fuses: bool) -> Self::Output {
        let mut found = Moments::none();
        for vector in self.vectors.iter().skip(self.part).step_by(self.parts) {
            found.count += 1;
            let share = S::Compute::one() / of_count(found.count);
            for (k, element) in vector.iter().enumerate() {
                let value = element.widen();
                let apart = value - found.mean[k];
                found.mean[k] = apart.fused(share, found.mean[k]);
                found.squares[k] = apart.fused(value - found.mean[k], found.squares[k]);
            }
        }
        found
    }
}

/// Shifts, scales and shifts again some elements of a row, in place.
struct Scaled<'a, S: Stored> {
    elements: &'a mut [S],
    weight: &'a [S::Compute],
    bias: &'a [S::Compute],
    mean: S::Compute,
    scale: S::Compute,
}

impl<S: Stored<Compute: Real>> Kernel for Scaled<'_, S> {
    type Output = ();
    #[inline(always)]
    fn run(self, _fuses: bool) {
        let Scaled { elements, weight, bias, mean, scale } = self;
        let shift = -scale * mean;
        for (element, (&factor, &addend)) in elements.iter_mut().zip(weight.iter().zip(bias)) {
            let value = element.widen();
            let moved = if size_of::<S>() == 2 { value.fused(scale, shift) } else { (value - mean) * scale };
            *element = S::narrow(moved.fused(factor, addend));
        }
    }
}

/// Computes the mean and the variance of a row: vectors in chunks, and chunks in a cascade. The rest that fills no
/// vector is merged before all lanes.
struct OfRow<'a, S, const N: usize> {
    row: &'a [S],
}

impl<S: Stored<Compute: Real>, const N: usize> Kernel for OfRow<'_, S, N> {
    type Output = Result<(S::Compute, S::Compute)>;
    #[inline(always)]
    fn run(self, fuses: bool) -> Self::Output {
        // A vector of 16-bit floats widens to two vectors.
        let parts = if size_of::<S>() == 2 { 2 } else { 1 };
        let vectors = self.row.len() / (N * parts);
        let (whole, rest) = self.row.split_at(vectors * N * parts);
        let chunks = vectors.div_ceil(CHUNK);
        let depth = chunks.max(2).next_power_of_two().ilog2() as usize;
        let mut cascade: SmallVec<[_; 4]> = SmallVec::from_elem(Moments::<S::Compute, N>::none(), depth);
        for (i, chunk) in whole.chunks(CHUNK * N * parts).enumerate() {
            interrupt::check_at(i)?;
            for part in 0..parts {
                cascade[0].join(&OfVectors { vectors: chunk.as_chunks::<N>().0, part, parts }.run(fuses));
            }
            let full = (i + 1).trailing_zeros() as usize;
            for level in 1..depth.min(full + 1) {
                let below = std::mem::replace(&mut cascade[level - 1], Moments::none());
                cascade[level].join(&below);
            }
        }
        let (first, others) = cascade.split_at_mut(1);
        others.iter().for_each(|other| first[0].join(other));
        let mut total = Moments::<S::Compute, 1>::none();
        for element in rest {
            total.count += 1;
            let value = element.widen();
            let apart = value - total.mean[0];
            total.mean[0] = total.mean[0] + apart / of_count(total.count);
            total.squares[0] = apart.fused(value - total.mean[0], total.squares[0]);
        }
        for k in 0..N {
            let (mean, squares) = ([first[0].mean[k]], [first[0].squares[k]]);
            total.join(&Moments { count: vectors * parts, mean, squares });
        }
        Ok((total.mean[0], total.squares[0] / of_count(self.row.len())))
    }
}

/// `torch.native_layer_norm`: normalises each block of the last dimensions separately.
///
/// # Errors
/// RuntimeError for sizes and dtypes that do not match.
pub fn layer(input: &View, shape: &[i64], weight: Option<&View>, bias: Option<&View>, eps: f64) -> Result<Normalized> {
    if shape.is_empty() {
        bail!(
            RuntimeError,
            "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one element, but got \
             normalized_shape = []"
        );
    }
    for (name, parameter) in [("weight", weight), ("bias", bias)] {
        if let Some(sizes) = parameter.map(View::sizes).filter(|sizes| *sizes != shape) {
            bail!(
                RuntimeError,
                "Expected {name} to be of same shape as normalized_shape, but got {name} of shape {} and normalized_shape \
                 = {}",
                show(sizes),
                show(shape)
            );
        }
    }
    if !input.sizes().ends_with(shape) {
        let wanted = show(shape);
        bail!(
            RuntimeError,
            "Given normalized_shape={wanted}, expected input with shape [*, {}, but got input of size{}",
            wanted.trim_start_matches('['),
            show(input.sizes())
        );
    }
    let outer = &input.sizes()[..input.ndim() - shape.len()];
    let kept: Dims = outer.iter().copied().chain(shape.iter().map(|_| 1)).collect();
    let out = View::unwritten(input.sizes(), input.dtype, input.device())?;
    if !input.device().is_meta() {
        check_kernel("LayerNormKernelImpl", classes::FLOAT, input.dtype)?;
    }
    let dtype = parameters_dtype(input, &[weight, bias])?;
    let results = [out, View::zeros(&kept, dtype, input.device())?, View::zeros(&kept, dtype, input.device())?];
    if !input.device().is_meta() && results[1].numel() > 0 {
        copy_into(&results[0], input)?;
        let length = shape.iter().product::<i64>() as usize;
        match input.dtype {
            DType::Double => rows::<f64, 4>(&results, length, weight, bias, eps)?,
            DType::Half => rows::<f16, LANES>(&results, length, weight, bias, eps)?,
            DType::BFloat16 => rows::<bf16, LANES>(&results, length, weight, bias, eps)?,
            _ => rows::<f32, LANES>(&results, length, weight, bias, eps)?,
        }
    }
    Ok(results)
}

/// Normalises rows in place and stores their means and scales.
fn rows<S: Stored<Compute: Real>, const N: usize>(
    results: &Normalized,
    length: usize,
    weight: Option<&View>,
    bias: Option<&View>,
    eps: f64,
) -> Result<()> {
    let [out, means, scales] = results;
    let (weight, bias) = (numbers::<S::Compute>(weight)?, numbers::<S::Compute>(bias)?);
    let (count, eps) = (means.numel() as usize, S::Compute::from_f64(eps));
    let group = (TASK / length.max(1)).max(1);
    let elements = 0..out.numel() as usize;
    let found = parallel::reading::<S, _>(&*out.memory()?, |elements| {
        parallel::collect(count.div_ceil(group), elements.len(), &|k| {
            let rows = k * group..count.min((k + 1) * group);
            rows.map(|row| {
                let row = elements.get(row * length..(row + 1) * length).unwrap_or_default();
                let (mean, variance) = vectorised_kernel(OfRow::<S, N> { row })?;
                Ok((mean, S::Compute::one() / (variance + eps).sqrt()))
            })
            .collect::<Result<Vec<_>>>()
        })
    });
    let found = found.unwrap_or_else(|| Err(lost()))?.concat();
    let flat = |view: &View| view.with_layout(Layout::contiguous(&[count as i64]));
    store(Some(&flat(means)), found.iter().map(|found| found.0))?;
    store(Some(&flat(scales)), found.iter().map(|found| found.1))?;
    if length == 0 {
        return Ok(());
    }
    // Without a parameter, PyTorch multiplies by one and adds zero, which changes the sign of a zero.
    let (ones, zeros) = ([S::Compute::one(); BLOCK], [S::Compute::zero(); BLOCK]);
    parallel::writing::<S, _>(&*out.memory()?, elements, |elements| {
        parallel::parts(elements, length, &|first, part| {
            for (i, row) in part.chunks_mut(length).enumerate() {
                interrupt::check_at(i)?;
                let Some(&(mean, scale)) = found.get(first / length + i) else { continue };
                for (k, elements) in row.chunks_mut(BLOCK).enumerate() {
                    let places = k * BLOCK..k * BLOCK + elements.len();
                    let weight = weight.as_ref().and_then(|weight| weight.get(places.clone())).unwrap_or(&ones);
                    let bias = bias.as_ref().and_then(|bias| bias.get(places)).unwrap_or(&zeros);
                    vectorised_kernel(Scaled { elements, weight, bias, mean, scale });
                }
            }
            Ok(())
        })
    })
    .unwrap_or_else(|| Err(lost()))
}

/// The parameters of a batch normalisation, and the running statistics that it updates.
pub struct Channels<'a> {
    pub weight: Option<&'a View>,
    pub bias: Option<&'a View>,
    pub running_mean: Option<&'a View>,
    pub running_variance: Option<&'a View>,
    pub training: bool,
    pub momentum: f64,
    pub eps: f64,
}

/// `torch.native_batch_norm`: normalises each channel over all images.
///
/// # Errors
/// Those of [`layer`]; IndexError if there is no channel dimension.
pub fn batch(input: &View, by: &Channels) -> Result<Normalized> {
    let &[_, channels, ..] = input.sizes() else {
        bail!(IndexError, "Dimension out of range (expected to be in range of [{}, {}], but got 1)", -1, 0);
    };
    let meta = input.device().is_meta();
    if !meta {
        check_kernel("batch_norm", classes::FLOAT, input.dtype)?;
    }
    let parameters = [by.weight, by.bias, by.running_mean, by.running_variance];
    let dtype = parameters_dtype(input, &parameters)?;
    if by.training && input.numel() == 0 {
        let sizes = show(input.sizes());
        bail!(RuntimeError, "input tensor must have at least one element, but got input_sizes = {sizes}");
    }
    for (name, parameter) in ["weight", "bias", "running_mean", "running_var"].iter().zip(parameters) {
        match parameter.map(View::numel) {
            Some(count) if count < channels => {
                bail!(RuntimeError, "{name} should contain {channels} elements not {count}")
            }
            None if !by.training && name.starts_with("running") => {
                bail!(RuntimeError, "{name} must be defined in evaluation mode")
            }
            _ => {}
        }
    }
    let mut running = [by.running_mean, by.running_variance].into_iter().flatten();
    if let Some(running) = running.find(|view| view.ndim() != 1) {
        bail!(RuntimeError, "TensorAccessor expected 1 dims but tensor has {} dims", running.ndim());
    }
    let kept = if by.training { channels } else { 0 };
    let dense = View::unwritten(input.sizes(), input.dtype, input.device())?;
    let of_channels = || View::zeros(&[kept], dtype, input.device());
    let results = [dense, of_channels()?, of_channels()?];
    if !meta && input.numel() > 0 {
        copy_into(&results[0], input)?;
        match input.dtype {
            DType::Double => by_channel::<f64>(channels as usize, by, &results)?,
            DType::Half => by_channel::<f16>(channels as usize, by, &results)?,
            DType::BFloat16 => by_channel::<bf16>(channels as usize, by, &results)?,
            _ => by_channel::<f32>(channels as usize, by, &results)?,
        }
    }
    let [dense, means, scales] = results;
    Ok([contiguous_as(&dense, MemoryFormat::suggested(&input.layout))?, means, scales])
}

/// Returns the mean of a channel's elements over all images, and the sum of their squared deviations.
fn spread<S: Stored<Compute: Real>>(elements: &[S], image: usize, channel: Range<usize>) -> Result<[S::Compute; 2]> {
    let planes = || elements.chunks(image).map(|image| image.get(channel.clone()).unwrap_or_default());
    let over = |add: &dyn Fn(S::Compute, S::Compute) -> S::Compute| {
        let mut sum = S::Compute::zero();
        for (i, plane) in planes().enumerate() {
            interrupt::check_at(i.saturating_mul(channel.len()))?;
            for piece in interrupt::pieces(0..plane.len(), 1) {
                sum = plane.get(piece?).unwrap_or_default().iter().fold(sum, |sum, element| add(sum, element.widen()));
            }
        }
        Ok(sum)
    };
    let mean = over(&|sum, value| sum + value)? / of_count(elements.len() / image * channel.len());
    let squares = over(&|sum, value| (value - mean).fused(value - mean, sum))?;
    Ok([mean, squares])
}

/// Normalises the channels of images in place and stores their means and scales.
fn by_channel<S: Stored<Compute: Real>>(channels: usize, by: &Channels, results: &Normalized) -> Result<()> {
    let [out, means, scales] = results;
    let numel = out.numel() as usize;
    let batch = out.sizes().first().map_or(1, |&size| size as usize);
    let image = numel / batch;
    let pixels = image / channels;
    // Saved statistics have the dtype of the parameters. `bfloat16` is rounded at every step.
    let kept = |value: S::Compute| if means.dtype == out.dtype { S::narrow(value).widen() } else { value };
    let step = |value: S::Compute| if means.dtype == DType::BFloat16 { S::narrow(value).widen() } else { value };
    let one = S::Compute::one();
    let parameters = [by.weight, by.bias, by.running_mean, by.running_variance].map(numbers::<S::Compute>);
    let [weight, bias, running_mean, running_variance] = parameters;
    let (running_mean, running_variance) = (running_mean?.unwrap_or_default(), running_variance?.unwrap_or_default());
    let lines: Vec<[S::Compute; 2]> = if by.training {
        let found = parallel::reading::<S, _>(&*out.memory()?, |elements| {
            let elements = elements.get(..numel).unwrap_or_default();
            parallel::collect(channels, numel, &|c| spread(elements, image, c * pixels..(c + 1) * pixels))
        });
        let found = found.unwrap_or_else(|| Err(lost()))?;
        let count = |less: usize| step(of_count(batch * pixels - less));
        let (new, old) = (step(S::Compute::from_f64(by.momentum)), step(S::Compute::from_f64(1.0 - by.momentum)));
        let after = found.iter().zip(&running_mean).map(|([mean, _], before)| {
            let mean = if out.dtype == DType::Half { *mean } else { kept(*mean) };
            step(new * step(mean)) + step(old * *before)
        });
        store(by.running_mean, after)?;
        let after = found.iter().zip(&running_variance).map(|([_, squares], before)| {
            let variance = step(step(*squares) / count(1));
            let rest = step(old * *before);
            // For parameters of another dtype or of 16 bits, PyTorch's compiler does not fuse this.
            if means.dtype == out.dtype && out.dtype != DType::Half {
                new.fused(variance, rest)
            } else {
                new * variance + rest
            }
        });
        store(by.running_variance, after)?;
        let scale = |squares: S::Compute| {
            let variance = step(step(squares) / count(0)).as_f64();
            S::Compute::from_f64(if variance + by.eps == 0.0 { 0.0 } else { 1.0 / (variance + by.eps).sqrt() })
        };
        found.iter().map(|[mean, squares]| [kept(*mean), kept(scale(*squares))]).collect()
    } else {
        let eps = S::Compute::from_f64(by.eps);
        let running = running_mean.into_iter().zip(running_variance).take(channels);
        running.map(|(mean, variance)| [mean, one / (variance + eps).sqrt()]).collect()
    };
    if by.training {
        store(Some(means), lines.iter().map(|[mean, _]| *mean))?;
        store(Some(scales), lines.iter().map(|[_, scale]| *scale))?;
    }
    let (weight, bias) = (weight?, bias?);
    let terms: Vec<[S::Compute; 2]> = lines
        .iter()
        .enumerate()
        .map(|(c, &[mean, scale])| {
            let factor = scale * weight.as_ref().map_or(one, |weight| weight[c]);
            [factor, (-mean).fused(factor, bias.as_ref().map_or(S::Compute::zero(), |bias| bias[c]))]
        })
        .collect();
    parallel::writing::<S, _>(&*out.memory()?, 0..numel, |elements| {
        parallel::parts(elements, pixels, &|first, part| {
            for (i, plane) in part.chunks_mut(pixels).enumerate() {
                interrupt::check_at(i)?;
                let Some(&[factor, addend]) = terms.get((first / pixels + i) % channels) else { continue };
                vectorised(|| {
                    plane.iter_mut().for_each(|element| *element = S::narrow(element.widen().fused(factor, addend)));
                });
            }
            Ok(())
        })
    })
    .unwrap_or_else(|| Err(lost()))
}

/// Writes numbers to the first elements of a 1-d tensor.
fn store<C: Number>(to: Option<&View>, numbers: impl ExactSizeIterator<Item = C>) -> Result<()> {
    let Some(to) = to else { return Ok(()) };
    let length = numbers.len() as i64;
    let numbers = View::from_scalars(&[length], to.dtype, numbers.map(Number::to_scalar))?;
    copy_into(&narrow(to, 0, 0, length)?, &numbers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scalar;

    /// Pseudo-random numbers around 1.
    fn input(sizes: &[i64], dtype: DType) -> View {
        let count = sizes.iter().product::<i64>() as u64;
        let number = |i: u64| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as f64 / (1 << 23) as f64;
        View::from_scalars(sizes, dtype, (0..count).map(|i| Scalar::Float(number(i)))).unwrap()
    }

    fn numbers(view: &View) -> Vec<f64> {
        view.scalars().unwrap().into_iter().map(Scalar::to_f64).collect()
    }

    /// Compares with the mean and the deviation of each group of elements, summed one by one.
    fn check(input: &View, groups: &[Vec<usize>], results: &Normalized) {
        let (elements, close) = (numbers(input), if input.dtype == DType::Double { 1e-11 } else { 2e-5 });
        let [normal, means, scales] = results.each_ref().map(numbers);
        for (group, (mean, scale)) in groups.iter().zip(means.iter().zip(&scales)) {
            let count = group.len() as f64;
            let wanted = group.iter().map(|&i| elements[i]).sum::<f64>() / count;
            let squares = group.iter().map(|&i| (elements[i] - wanted).powi(2)).sum::<f64>();
            let multiplied = (squares / count + 1e-2).sqrt().recip();
            let place = format!("{:?} of {:?}", input.sizes(), input.dtype);
            assert!((mean - wanted).abs() <= close, "mean {mean}, not {wanted}, {place}");
            assert!((scale - multiplied).abs() <= close * multiplied, "{scale}, not {multiplied}, {place}");
            for &i in group {
                let wanted = (elements[i] - wanted) * multiplied;
                assert!((normal[i] - wanted).abs() <= close * 4.0, "{}, not {wanted}, {place}", normal[i]);
            }
        }
    }

    #[test]
    fn layers_of_any_length_are_those_of_plain_sums() {
        let around = |n: usize| [n - 1, n, n + 1];
        let vectors = [LANES, 2 * LANES, CHUNK * LANES, 2 * CHUNK * LANES, 3 * CHUNK * LANES, 8 * CHUNK * LANES, TASK];
        for dtype in [DType::Float, DType::Double] {
            for length in vectors.into_iter().flat_map(around).chain([1, 100_000]) {
                for rows in [1, 3] {
                    let x = input(&[rows as i64, length as i64], dtype);
                    let groups: Vec<_> = (0..rows).map(|row| (row * length..(row + 1) * length).collect()).collect();
                    check(&x, &groups, &layer(&x, &[length as i64], None, None, 1e-2).unwrap());
                }
            }
        }
    }

    #[test]
    fn channels_of_any_size_are_those_of_plain_sums() {
        let by = Channels {
            weight: None,
            bias: None,
            running_mean: None,
            running_variance: None,
            training: true,
            momentum: 0.1,
            eps: 1e-2,
        };
        for dtype in [DType::Float, DType::Double] {
            for (images, channels, pixels) in [(1, 1, 1), (2, 3, 15), (2, 3, 17), (5, 2, TASK + 1), (TASK + 1, 2, 1)] {
                let x = input(&[images as i64, channels as i64, pixels as i64], dtype);
                let of = |channel: usize| move |i: &usize| *i / pixels % channels == channel;
                let all = 0..images * channels * pixels;
                let groups: Vec<_> = (0..channels).map(|channel| all.clone().filter(of(channel)).collect()).collect();
                check(&x, &groups, &batch(&x, &by).unwrap());
            }
        }
    }
}
