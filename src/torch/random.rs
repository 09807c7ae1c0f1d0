//! Random tensors, bit for bit as PyTorch draws them. Follows
//! <https://pytorch.org/docs/2.7/torch.html#random-sampling>.

use super::create::room_like;
use super::dimnames;
use super::sparse_kernels;
use crate::modes::general;
use call::facets::{Dispatch::Own, NameInference::Keeps, Out};
use call::{Call, Row, attribute, function, method};
use half::{bf16, f16};
use std::cell::RefCell;
use std::rc::Rc;
use tensor::bail;
use tensor::element::largest_finite;
use tensor::memory::Plain;
use tensor::ops::copy;
use tensor::ops::random::{Generator, Real, RealKind, normal_into, random_from_to, randperm, uniform_into};
use tensor::{DType, Device, Dims, Error, Result, Scalar, View, interrupt, parallel};
use value::Value;

pub(crate) const ROWS: &[Row] = &[
    function(
        "rand(int[] size, *, Generator? generator, Tensor? out=None, {factory}) -> Tensor",
        |c| create(c, Sample::Uniform),
        "Draws uniform numbers in [0, 1).",
    )
    .out(Out::MADE.unguarded()),
    function(
        "rand.out(int[] size, *, Tensor? out=None, {factory}) -> Tensor",
        |c| create(c, Sample::Uniform),
        "Draws uniform numbers in [0, 1).",
    )
    .out(Out::MADE.unguarded()),
    function(
        "rand.generator_with_names(int[] size, *, Generator? generator, Dimname[]? names, {factory}) -> \
 Tensor",
        |c| dimnames::made(c, |c| create(c, Sample::Uniform)),
        "Draws random numbers with named dimensions.",
    ),
    function(
        "rand.names(int[] size, *, Dimname[]? names, {factory}) -> Tensor",
        |c| dimnames::made(c, |c| create(c, Sample::Uniform)),
        "Draws random numbers with named dimensions.",
    ),
    function(
        "randn(int[] size, *, Generator? generator, Tensor? out=None, {factory}) -> Tensor",
        |c| create(c, Sample::Normal),
        "Draws normally distributed numbers.",
    )
    .out(Out::MADE.unguarded()),
    function(
        "randn.out(int[] size, *, Tensor? out=None, {factory}) -> Tensor",
        |c| create(c, Sample::Normal),
        "Draws normally distributed numbers.",
    )
    .out(Out::MADE.unguarded()),
    function(
        "randn.generator_with_names(int[] size, *, Generator? generator, Dimname[]? names, {factory}) -> \
 Tensor",
        |c| dimnames::made(c, |c| create(c, Sample::Normal)),
        "Draws random numbers with named dimensions.",
    ),
    function(
        "randn.names(int[] size, *, Dimname[]? names, {factory}) -> Tensor",
        |c| dimnames::made(c, |c| create(c, Sample::Normal)),
        "Draws random numbers with named dimensions.",
    ),
    function(
        "rand_like(Tensor input, *, MemoryFormat? memory_format=None, {factory}) -> Tensor",
        |c| like(c, Sample::Uniform),
        "Draws uniform numbers of the same size.",
    )
    .names(Keeps)
    .sparse(Own(sparse_kernels::like))
    .complex_refused_as("view_as_real").not_differentiable(),
    function(
        "randn_like(Tensor input, *, MemoryFormat? memory_format=None, {factory}) -> Tensor",
        |c| like(c, Sample::Normal),
        "Draws normal numbers of the same size.",
    )
    .names(Keeps)
    .sparse(Own(sparse_kernels::like))
    .complex_refused_as("view_as_real").not_differentiable(),
    function(
        "randint.generator(SymInt high, int[] size, *, Generator? generator, Tensor? out=None, {factory}) -> Tensor",
        |c| randint(c, 0, c.int(0)?, &c.ints(1)?),
        "Draws integers from 0 up to high, which is excluded.",
    )
    .out(Out::MADE),
    function(
        "randint(SymInt high, int[] size, *, Tensor? out=None, {factory}) -> Tensor",
        |c| randint(c, 0, c.int(0)?, &c.ints(1)?),
        "Draws integers from 0 up to high, which is excluded.",
    )
    .out(Out::MADE),
    function(
        "randint.low_generator(SymInt low, SymInt high, int[] size, *, Generator? generator, Tensor? out=None, {factory}) -> Tensor",
        |c| randint(c, c.int(0)?, c.int(1)?, &c.ints(2)?),
        "Draws integers from low up to high, which is excluded.",
    )
    .out(Out::MADE),
    function(
        "randint.low(SymInt low, SymInt high, int[] size, *, Tensor? out=None, {factory}) -> Tensor",
        |c| randint(c, c.int(0)?, c.int(1)?, &c.ints(2)?),
        "Draws integers from low up to high, which is excluded.",
    )
    .out(Out::MADE),
    function(
        "randint_like(Tensor input, SymInt high, *, MemoryFormat? memory_format=None, {factory}) -> Tensor",
        |c| {
            let out = room_like(c)?;
            sampled_integers(c, 0, c.int(1)?, out)
        },
        "Draws integers from 0 up to high, of the same size.",
    )
    .sparse(Own(sparse_kernels::like)).not_differentiable(),
    function(
        "randint_like.low(Tensor input, SymInt low, SymInt high, *, MemoryFormat? memory_format=None, {factory}) \
 -> Tensor",
        |c| {
            let out = room_like(c)?;
            sampled_integers(c, c.int(1)?, c.int(2)?, out)
        },
        "Draws integers from low up to high, of the same size.",
    )
    .sparse(Own(sparse_kernels::like))
    .operation("randint_like.low_dtype").not_differentiable(),
    function(
        "randperm.generator(SymInt n, *, Generator? generator, Tensor? out=None, {factory}) -> Tensor",
        permutation,
        "Shuffles the numbers below n.",
    )
    .out(Out::MADE),
    function(
        "randperm(SymInt n, *, Tensor? out=None, {factory}) -> Tensor",
        permutation,
        "Shuffles the numbers below n.",
    )
    .out(Out::MADE),
    function(
        "manual_seed(any seed) -> Generator",
        |c| {
            // PyTorch converts the seed like `int(seed)`.
            let number = match c.value(0) {
                plain @ (Value::Int(_) | Value::BigInt(_)) => plain,
                other => autograd::Functions::call(c.state, "py.int", &[other])?,
            };
            let seed = seed(&number)?;
            c.state.generator.borrow_mut().manual_seed(seed);
            Ok(Value::Generator(c.state.generator.clone()))
        },
        "Seeds the default generator.",
    )
    .python("manual_seed"),
    function(
        "initial_seed() -> int",
        |c| Ok(Value::from(i128::from(c.state.generator.borrow().initial_seed()))),
        "Returns the seed of the default generator.",
    ),
    function(
        "seed() -> int",
        |c| Ok(Value::from(i128::from(c.state.generator.borrow_mut().seed()))),
        "Seeds the default generator from the system.",
    ),
    function(
        "Generator(Device? device=None) -> Generator",
        |c| {
            if let Value::Device(device) = c.value(0) {
                refuse_generator(device)?;
            }
            Ok(Value::Generator(Rc::new(RefCell::new(Generator::new()))))
        },
        "Creates a random number generator.",
    ),
    attribute(
        "device(Generator self) -> Device",
        |_| Ok(Value::Device(Device::CPU)),
        "The device the numbers are made on.",
    ),
    method(
        "manual_seed(Generator self, any seed) -> Generator",
        |c| {
            let seed = seed(&c.value(1))?;
            generator(c, 0)?.borrow_mut().manual_seed(seed);
            Ok(c.itself())
        },
        "Seeds the generator.",
    ),
    method(
        "initial_seed(Generator self) -> int",
        |c| Ok(Value::from(i128::from(generator(c, 0)?.borrow().initial_seed()))),
        "Returns the generator's seed.",
    ),
    method(
        "seed(Generator self) -> int",
        |c| Ok(Value::from(i128::from(generator(c, 0)?.borrow_mut().seed()))),
        "Seeds the generator from the system.",
    ),
    method(
        "uniform_(Tensor(a!) self, float from=0, float to=1, *, Generator? generator=None) -> Tensor(a!)",
        |c| {
            let (a, b) = (c.scalar(1)?.to_f64(), c.scalar(2)?.to_f64());
            check_range(c.tensor(0)?.borrow().dtype, a, b)?;
            fill(c, Sample::Between(a, b))
        },
        "Fills the tensor with uniform numbers.",
    )
    .names(Keeps)
    .complex_refused_as("view_as_real"),
    method(
        "normal_(Tensor(a!) self, float mean=0, float std=1, *, Generator? generator=None) -> Tensor(a!)",
        |c| {
            let (m, s) = (c.scalar(1)?.to_f64(), c.scalar(2)?.to_f64());
            if s < 0.0 {
                bail!(RuntimeError, "normal expects std >= 0.0, but found std {}", plain(s));
            }
            fill(c, Sample::Gauss(m, s))
        },
        "Fills the tensor with normal numbers.",
    )
    .names(Keeps)
    .complex_refused_as("view_as_real"),
];

/// Checks that the dtype can hold the ends and the width of a range of uniform numbers.
fn check_range(dtype: DType, from: f64, to: f64) -> Result<()> {
    if real_kind(dtype).is_none() {
        return Ok(());
    }
    let largest = largest_finite(dtype.to_real());
    for (name, end) in [("from", from), ("to", to)] {
        if !(-largest..=largest).contains(&end) {
            bail!(RuntimeError, "{name} is out of bounds for {}", dtype.to_real().cpp_name());
        }
    }
    let (low, high) = (plain(from), plain(to));
    if from > to {
        bail!(RuntimeError, "uniform_ expects to return a [from, to) range, but found from={low} > to={high}");
    }
    if to - from > largest {
        bail!(
            RuntimeError,
            "uniform_ expects to-from <= std::numeric_limits<{}>::max(), but found to={high} and from={low} which result \
             in to-from to exceed the limit",
            dtype.scalar_type()
        );
    }
    Ok(())
}

/// Formats a number like C++: six digits, and no fraction for whole numbers.
fn plain(value: f64) -> String {
    general(value, 6)
}

#[derive(Clone, Copy)]
pub(super) enum Sample {
    Uniform,
    Normal,
    Between(f64, f64),
    Gauss(f64, f64),
}

pub(super) fn generator(call: &Call, index: usize) -> Result<Rc<RefCell<Generator>>> {
    match call.value(index) {
        Value::Generator(generator) => Ok(generator),
        _ => Err(Error::type_error("a generator is needed")),
    }
}

/// Returns the generator in the `generator` argument, or the session's own.
///
/// # Errors
/// RuntimeError inside `vmap`, unless its `randomness` argument allows random numbers.
pub(super) fn chosen(call: &Call) -> Result<Rc<RefCell<Generator>>> {
    if call.state.random_refused.get() {
        bail!(
            RuntimeError,
            "vmap: called random operation while in randomness error mode. Please either use the 'same' or 'different' \
             randomness flags on vmap or perform the randomness operation out of vmap"
        );
    }
    Ok(match call.position("generator").map(|i| call.value(i)) {
        Some(Value::Generator(generator)) => generator,
        _ => call.state.generator.clone(),
    })
}

/// Converts a Python integer to a seed. Negative numbers wrap.
fn seed(value: &Value) -> Result<u64> {
    let overflow = || Error::runtime("Overflow when unpacking long");
    match value {
        Value::Int(i) => Ok(*i as u64),
        Value::BigInt(i) => u64::try_from(&**i).map_err(|_| overflow()),
        Value::Bool(b) => Ok(u64::from(*b)),
        Value::Object(object) if object.number().is_some() => bail!(TypeError, "an integer is required"),
        other => bail!(RuntimeError, "manual_seed expected a long, but got {}", other.type_name()),
    }
}

pub(super) fn real_kind(dtype: DType) -> Option<RealKind> {
    Some(match dtype.to_real() {
        DType::Half => RealKind::F16,
        DType::BFloat16 => RealKind::BF16,
        DType::Float => RealKind::F32,
        DType::Double => RealKind::F64,
        _ => return None,
    })
}

fn create(call: &mut Call, sample: Sample) -> Result<Value> {
    let dtype = call.dtype_keyword().unwrap_or(call.state.default_dtype.get());
    let out = View::unwritten(&call.ints(0)?, dtype, call.device_keyword()?)?;
    draw(call, &out, sample)?;
    Ok(out.into())
}

fn like(call: &mut Call, sample: Sample) -> Result<Value> {
    let out = room_like(call)?;
    draw(call, &out, sample)?;
    Ok(out.into())
}

fn fill(call: &mut Call, sample: Sample) -> Result<Value> {
    draw(call, &call.view(0)?, sample)?;
    Ok(call.itself())
}

/// Fills a tensor in the order of its memory, as PyTorch does.
pub(super) fn draw(call: &Call, out: &View, sample: Sample) -> Result<()> {
    let uniform_sample = matches!(sample, Sample::Uniform | Sample::Between(..));
    let kernel = if uniform_sample { "check_uniform_bounds" } else { "normal_kernel_cpu" };
    let Some(kind) = real_kind(out.dtype) else {
        bail!(RuntimeError, "\"{kernel}\" not implemented for '{}'", out.dtype.scalar_type())
    };
    if out.device().is_meta() {
        return Ok(());
    }
    let generator = chosen(call)?;
    let generator = &mut generator.borrow_mut();
    let contiguous = out.layout.is_contiguous();
    if contiguous && draw_into(generator, out, kind, sample, contiguous)? {
        return Ok(());
    }
    let in_memory_order = memory_order(out, out)?;
    let flat = View::zeros(in_memory_order.sizes(), out.dtype, out.device())?;
    draw_into(generator, &flat, kind, sample, contiguous)?;
    copy::copy_into(&in_memory_order, &flat)
}

/// Permutes a tensor to the order in which `like` lies in memory.
pub(super) fn memory_order(view: &View, like: &View) -> Result<View> {
    let order = tensor::Layout::iteration_order(like.sizes(), &[like.strides()]);
    let dims: Vec<i64> = order.iter().rev().map(|&d| d as i64).collect();
    Ok(view.with_layout(view.layout.permute(&dims)?))
}

/// Fills a tensor in the order of its memory, like [`copy::fill_by`].
pub(super) fn write<S: Copy + Default>(
    out: &View,
    scalar: impl Fn(S) -> Scalar,
    fill: impl FnMut(usize, &mut [S]),
) -> Result<()> {
    let ordered = memory_order(out, out)?;
    if ordered.layout.is_contiguous() && !ordered.conj && !ordered.neg {
        return copy::fill_by(&ordered, scalar, fill);
    }
    let flat = View::unwritten(ordered.sizes(), out.dtype, out.device())?;
    copy::fill_by(&flat, scalar, fill)?;
    copy::copy_into(&ordered, &flat)
}

/// Fills a row-major tensor; a complex number takes two samples. Returns `false` if the elements are not aligned.
/// `contiguous` describes the tensor that the numbers are finally for.
fn draw_into(generator: &mut Generator, out: &View, kind: RealKind, sample: Sample, contiguous: bool) -> Result<bool> {
    if out.conj || out.neg {
        return Ok(false);
    }
    match kind {
        RealKind::F16 => write_as::<f16>(generator, out, sample, contiguous),
        RealKind::BF16 => write_as::<bf16>(generator, out, sample, contiguous),
        RealKind::F32 => write_as::<f32>(generator, out, sample, contiguous),
        RealKind::F64 => write_as::<f64>(generator, out, sample, contiguous),
    }
}

fn write_as<T: Real + Plain>(generator: &mut Generator, out: &View, sample: Sample, contiguous: bool) -> Result<bool> {
    // Dividing by the root and multiplying by its inverse differ in the last bit.
    let (parts, root) = if out.dtype.is_complex() { (2, std::f64::consts::SQRT_2) } else { (1, 1.0) };
    let overflow = || Error::runtime("numel: integer multiplication overflow");
    let part = |elements: i64| usize::try_from(elements).ok()?.checked_mul(parts);
    let start = part(out.layout.offset).ok_or_else(overflow)?;
    let end = part(out.numel()).and_then(|n| start.checked_add(n)).ok_or_else(overflow)?;
    let memory = out.memory()?;
    let written = parallel::writing::<T, _>(&memory, start..end, |out| match sample {
        Sample::Uniform => uniform_into(generator, out, 0.0, 1.0),
        Sample::Between(from, to) => uniform_into(generator, out, from, to),
        Sample::Normal => normal_into(generator, out, 0.0, 1.0 / root, contiguous),
        Sample::Gauss(mean, std) => normal_into(generator, out, mean, std / root, contiguous),
    });
    interrupt::check()?;
    Ok(written.is_some())
}

fn randint(call: &Call, low: i64, high: i64, sizes: &Dims) -> Result<Value> {
    let dtype = call.dtype_keyword().unwrap_or(DType::Long);
    sampled_integers(call, low, high, View::zeros(sizes, dtype, call.device_keyword()?)?)
}

/// Fills a new tensor with random integers.
fn sampled_integers(call: &Call, low: i64, high: i64, out: View) -> Result<Value> {
    let dtype = out.dtype;
    if low >= high {
        bail!(RuntimeError, "random_ expects 'from' to be less than 'to', but got from={low} >= to={high}");
    }
    if dtype.is_complex() {
        bail!(RuntimeError, "check_random_bounds handles only integral, floating-point and boolean types");
    }
    if dtype.is_float8() {
        bail!(RuntimeError, "\"random_update_from_to\" not implemented for '{}'", dtype.scalar_type());
    }
    if dtype.is_integral(true) {
        for (name, bound) in [("from", low), ("to - 1", high - 1)] {
            let (min, max) = tensor::element::integer_limits(dtype);
            if i128::from(bound) < min || i128::from(bound) > max {
                bail!(RuntimeError, "{name} is out of bounds for {}", dtype.cpp_name());
            }
        }
    }
    if out.device() == Device::META {
        return Ok(out.into());
    }
    let (generator, range) = (chosen(call)?, high.wrapping_sub(low) as u64);
    let generator = &mut generator.borrow_mut();
    write(&out, Scalar::Int, |_, numbers| random_from_to(generator, numbers, low, range))?;
    Ok(out.into())
}

fn permutation(call: &mut Call) -> Result<Value> {
    let n = call.int(0)?;
    if n < 0 {
        bail!(RuntimeError, "Trying to create tensor with negative dimension {n}: [{n}]");
    }
    let dtype = call.dtype_keyword().unwrap_or(DType::Long);
    // The largest integer up to which a float is exact.
    let exact = match dtype {
        DType::Half => Some(1 << 11),
        DType::BFloat16 => Some(1 << 8),
        DType::Float => Some(1 << 24),
        DType::Double => Some(1 << 53),
        _ => None,
    };
    if let Some(most) = exact.map(|exact: i64| exact + 1).filter(|&most| n > most) {
        bail!(RuntimeError, "n cannot be greater than {most} for {} type.", dtype.scalar_type());
    }
    if dtype.is_integral(false) && n > 0 && i128::from(n) - 1 > tensor::element::integer_limits(dtype).1 {
        bail!(RuntimeError, "value cannot be converted to type {}_t without overflow", dtype.name());
    }
    let room = View::unwritten(&[n], dtype, Device::CPU)?;
    if exact.is_none() && (!dtype.is_integral(false) || dtype.is_bare_unsigned()) {
        bail!(RuntimeError, "\"randperm\" not implemented for '{}'", dtype.scalar_type());
    }
    let generator = chosen(call)?;
    let values = randperm(&mut generator.borrow_mut(), room.numel() as usize);
    interrupt::check()?;
    copy::fill_by(&room, Scalar::Int, |first, numbers: &mut [i64]| {
        numbers.copy_from_slice(&values[first..first + numbers.len()]);
    })?;
    Ok(room.into())
}

/// Refuses a generator for a device that is not the CPU, in the words of PyTorch's part for the device.
fn refuse_generator(device: Device) -> Result<()> {
    match device.name() {
        "cpu" => Ok(()),
        "cuda" => bail!(RuntimeError, "CUDA error: CUDA driver version is insufficient for CUDA runtime version"),
        "mps" => bail!(RuntimeError, "Cannot execute getNewGenerator() without MPS backend."),
        "xpu" => bail!(RuntimeError, "Cannot get XPU generator without ATen_xpu library."),
        "hip" | "hpu" | "mtia" => bail!(RuntimeError, "Backend doesn`t support getNewGenerator()"),
        "privateuseone" => bail!(
            RuntimeError,
            "Please register PrivateUse1HooksInterface by `RegisterPrivateUse1HooksInterface` first."
        ),
        other => bail!(RuntimeError, "{} device type not an accelerator.", other.to_uppercase()),
    }
}
