//! Samples of named distributions, bit for bit as PyTorch draws them, and the state of generators. Follows
//! <https://pytorch.org/docs/2.7/torch.html#random-sampling>.

use super::random::{Sample, chosen, draw, generator, memory_order, real_kind, write};
use call::facets::{NameInference::Keeps, Out, Takes};
use call::{Call, Row, both, function, method};
use tensor::bail;
use tensor::element::integer_limits;
use tensor::layout::broadcast_sizes;
use tensor::memory::get;
use tensor::ops::compose::Math;
use tensor::ops::copy;
use tensor::ops::pointwise::classes;
use tensor::ops::random::{self as samples, FullRange, Generator, RealKind};
use tensor::{DType, Device, Error, MemoryFormat, Result, Scalar, View};
use value::Value;

const NORMAL: &[(Takes, &str)] =
    &[(Takes::Of(classes::FLOAT | classes::COMPLEX), "\"normal_kernel_cpu\" not implemented for '{out}'")];

pub(crate) const ROWS: &[Row] = &[
    both(
        "bernoulli(Tensor self, *, Generator? generator=None, Tensor? out=None) -> Tensor",
        |c| {
            let p = c.view(0)?;
            let out = View::zeros(p.sizes(), p.dtype, p.device())?;
            bernoulli_by(c, &out, &p)?;
            Ok(out.into())
        },
        "Flips coins with the given probabilities.",
    )
    .out(Out::PLAIN.takes(&[])).names(Keeps),
    both(
        "bernoulli.p(Tensor self, float p, *, Generator? generator=None) -> Tensor",
        |c| {
            let this = c.view(0)?;
            let out = View::zeros(this.sizes(), this.dtype, this.device())?;
            let p = c.scalar(1)?.to_f64();
            bernoulli(c, &out, p)?;
            Ok(out.into())
        },
        "Flips coins with one probability.",
    ),
    method(
        "bernoulli_.Tensor(Tensor(a!) self, Tensor p, *, Generator? generator=None) -> Tensor(a!)",
        |c| {
            let (out, p) = (c.view(0)?, c.view(1)?);
            bernoulli_by(c, &out, &p)?;
            Ok(c.itself())
        },
        "Fills the tensor with coin flips of the given probabilities.",
    ).names(Keeps),
    method(
        "bernoulli_.float(Tensor(a!) self, float p=0.5, *, Generator? generator=None) -> Tensor(a!)",
        |c| {
            let p = c.scalar(1)?.to_f64();
            bernoulli(c, &c.view(0)?, p)?;
            Ok(c.itself())
        },
        "Fills the tensor with coin flips.",
    ).names(Keeps),
    both(
        "multinomial(Tensor self, int num_samples, bool replacement=False, *, Generator? generator=None, \
 Tensor? out=None) -> Tensor",
        multinomial,
        "Draws categories by their weights.",
    )
    .out(Out::PLAIN.takes(&[(Takes::Same, "multinomial expects Long tensor out, got: {out}")])).not_differentiable(),
    function(
        "poisson(Tensor self, Generator? generator=None) -> Tensor",
        poisson,
        "Draws counts of events at the given rates.",
    ),
    function(
        "normal.Tensor_Tensor(Tensor mean, Tensor std, *, Generator? generator=None, Tensor? out=None) -> \
 Tensor",
        normal,
        "Draws normal numbers of the given means and deviations.",
    )
    .out(Out::PLAIN.takes(NORMAL)),
    function(
        "normal.Tensor_float(Tensor mean, float std=1, *, Generator? generator=None, Tensor? out=None) -> \
 Tensor",
        normal,
        "Draws normal numbers around the given means.",
    ),
    function(
        "normal.float_Tensor(float mean, Tensor std, *, Generator? generator=None, Tensor? out=None) -> \
 Tensor",
        normal,
        "Draws normal numbers of the given deviations.",
    )
    .out(Out::PLAIN.takes(NORMAL)),
    function(
        "normal.float_float(float mean, float std, int[] size, *, Generator? generator=None, Tensor? \
 out=None, {factory}) -> Tensor",
        |c| {
            let (mean, std) = (c.scalar(0)?.to_f64(), c.scalar(1)?.to_f64());
            let dtype = c.dtype_keyword().unwrap_or(c.state.default_dtype.get());
            let out = View::zeros(&c.ints(2)?, dtype, c.device_keyword()?)?;
            check_deviation(std)?;
            draw(c, &out, Sample::Gauss(mean, std))?;
            Ok(out.into())
        },
        "Draws normal numbers.",
    )
    .out(Out::MADE),
    method(
        "exponential_(Tensor(a!) self, float lambd=1, *, Generator? generator=None) -> Tensor(a!)",
        |c| {
            let (view, lambda) = (c.view(0)?, c.scalar(1)?.to_f64());
            if lambda <= 0.0 {
                bail!(RuntimeError, "exponential_ expects lambda > 0.0, but found lambda={lambda}");
            }
            if !view.dtype.is_floating_point() {
                bail!(
                    RuntimeError,
                    "Exponential distribution is a continuous probability distribution. dtype must be a floating point but \
                 you specified {}",
                    view.dtype.scalar_type()
                );
            }
            continuous(c, "exponential_cpu", |g, out, kind| samples::exponential(g, out, kind, lambda))
        },
        "Fills the tensor with waiting times.",
    ).names(Keeps),
    method(
        "geometric_(Tensor(a!) self, float p, *, Generator? generator=None) -> Tensor(a!)",
        |c| {
            let p = c.scalar(1)?.to_f64();
            if !(p > 0.0 && p < 1.0) {
                bail!(RuntimeError, "geometric_ expects p to be in (0, 1), but got p={p}");
            }
            continuous(c, "geometric_cpu", |g, out, kind| samples::geometric(g, out, kind, p))
        },
        "Fills the tensor with counts of trials up to a success.",
    ).names(Keeps),
    method(
        "log_normal_(Tensor(a!) self, float mean=1, float std=2, *, Generator? generator=None) -> Tensor(a!)",
        |c| {
            let (mean, std) = (c.scalar(1)?.to_f64(), c.scalar(2)?.to_f64());
            if std <= 0.0 {
                bail!(RuntimeError, "log_normal_ expects std > 0.0, but found std={std}");
            }
            continuous(c, "log_normal_cpu", |g, out, kind| samples::log_normal(g, out, kind, mean, std))
        },
        "Fills the tensor with numbers whose logarithms are normal.",
    ).names(Keeps),
    method(
        "cauchy_(Tensor(a!) self, float median=0, float sigma=1, *, Generator? generator=None) -> Tensor(a!)",
        |c| {
            let (median, sigma) = (c.scalar(1)?.to_f64(), c.scalar(2)?.to_f64());
            if sigma <= 0.0 {
                bail!(RuntimeError, "cauchy_ expects sigma > 0.0, but found sigma={sigma}");
            }
            let dtype = c.view(0)?.dtype;
            if !dtype.is_floating_point() {
                bail!(
                    RuntimeError,
                    "Cauchy distribution is a continuous probability distribution. dtype must be a floating point but you \
                 specified {}",
                    dtype.cpp_name()
                );
            }
            continuous(c, "cauchy_cpu", |g, out, kind| samples::cauchy(g, out, kind, median, sigma))
        },
        "Fills the tensor with samples of a Cauchy distribution.",
    ).names(Keeps),
    method(
        "random_(Tensor(a!) self, *, Generator? generator=None) -> Tensor(a!)",
        any_numbers,
        "Fills the tensor with integers of the dtype's whole range.",
    ).names(Keeps),
    method(
        "random_.from(Tensor(a!) self, int from, int? to, *, Generator? generator=None) -> Tensor(a!)",
        |c| whole_numbers(c, c.int(1)?, c.opt_int(2)?),
        "Fills the tensor with integers of a range.",
    ).names(Keeps),
    method(
        "random_.to(Tensor(a!) self, int to, *, Generator? generator=None) -> Tensor(a!)",
        |c| whole_numbers(c, 0, Some(c.int(1)?)),
        "Fills the tensor with integers below a number.",
    ).names(Keeps),
    function(
        "get_rng_state() -> Tensor",
        |c| state(&c.state.generator.borrow()),
        "Returns the state of the default generator.",
    ),
    function(
        "set_rng_state(Tensor new_state) -> None",
        |c| {
            let bytes = c.view(0)?;
            set_state(&mut c.state.generator.borrow_mut(), &bytes)?;
            Ok(Value::None)
        },
        "Restores the state of the default generator.",
    ),
    method(
        "get_state(Generator self) -> Tensor",
        |c| state(&generator(c, 0)?.borrow()),
        "Returns the state of the generator.",
    ),
    method(
        "set_state(Generator self, Tensor new_state) -> Generator",
        |c| {
            let bytes = c.view(1)?;
            set_state(&mut generator(c, 0)?.borrow_mut(), &bytes)?;
            Ok(c.itself())
        },
        "Restores the state of the generator.",
    ),
];

fn state(generator: &Generator) -> Result<Value> {
    let bytes = generator.state_bytes();
    let values = bytes.iter().map(|&byte| Scalar::Int(i64::from(byte)));
    View::from_scalars(&[bytes.len() as i64], DType::Byte, values).map(Value::from)
}

fn set_state(generator: &mut Generator, state: &View) -> Result<()> {
    if state.dtype != DType::Byte {
        bail!(TypeError, "expected a torch.ByteTensor, but got {}", state.type_name());
    }
    let bytes: Vec<u8> = state.scalars()?.into_iter().map(|byte| byte.to_i64() as u8).collect();
    generator.set_state_bytes(&bytes).map_err(Error::runtime)
}

/// Returns a tensor's elements as doubles, in the order in which `like` lies in memory.
fn doubles(view: &View, like: &View) -> Result<View> {
    copy::cast_as(&memory_order(view, like)?, DType::Double, MemoryFormat::Contiguous)
}

fn bernoulli(call: &Call, out: &View, p: f64) -> Result<()> {
    if !(0.0..=1.0).contains(&p) {
        bail!(RuntimeError, "bernoulli_ expects p to be in [0, 1], but got p={p}");
    }
    if out.device() == Device::META {
        return Ok(());
    }
    let dtype = out.dtype;
    if dtype.is_complex() || dtype.is_bare_unsigned() || dtype.is_float8() {
        bail!(RuntimeError, "\"bernoulli_scalar_cpu_\" not implemented for '{}'", dtype.scalar_type());
    }
    let generator = chosen(call)?;
    let generator = &mut generator.borrow_mut();
    write(out, Scalar::Bool, |_, flips| samples::bernoulli_scalar(generator, flips, p))
}

fn bernoulli_by(call: &Call, out: &View, p: &View) -> Result<()> {
    if out.device() == Device::META {
        return Ok(());
    }
    let dtype = out.dtype;
    if dtype.is_complex() || dtype.is_bare_unsigned() || dtype.is_float8() {
        bail!(RuntimeError, "\"bernoulli_tensor_cpu_self_\" not implemented for '{}'", dtype.scalar_type());
    }
    let Some(kind) = real_kind(p.dtype).filter(|_| !p.dtype.is_complex()) else {
        bail!(RuntimeError, "\"bernoulli_tensor_cpu_p_\" not implemented for '{}'", p.dtype.scalar_type())
    };
    let p = tensor::ops::view::expand(p, out.sizes())?;
    let shares = doubles(&p, out)?;
    let shares = shares.memory()?;
    let shares: Vec<f64> = shares.typed::<f64>().iter().map(get).collect();
    if shares.iter().any(|p| !(0.0..=1.0).contains(p)) {
        bail!(
            RuntimeError,
            "Expected p_in >= 0 && p_in <= 1 to be true, but got false.  (Could this error message be improved?  If so, \
             please report an enhancement request to PyTorch.)"
        );
    }
    let generator = chosen(call)?;
    let generator = &mut generator.borrow_mut();
    write(out, Scalar::Bool, |first, flips| {
        samples::bernoulli_tensor(generator, flips, shares.get(first..).unwrap_or_default(), kind);
    })
}

fn multinomial(call: &mut Call) -> Result<Value> {
    let (weights, number) = (call.view(0)?, call.int(1)?);
    if weights.ndim() == 0 || weights.ndim() > 2 {
        bail!(RuntimeError, "prob_dist must be 1 or 2 dim");
    }
    let Some(kind) = real_kind(weights.dtype).filter(|_| !weights.dtype.is_complex()) else {
        bail!(
            RuntimeError,
            "multinomial only supports floating-point dtypes for input, got: {}",
            weights.dtype.scalar_type()
        )
    };
    let Ok(number) = usize::try_from(number) else { bail!(RuntimeError, "cannot sample n_sample <= 0 samples") };
    let categories = weights.sizes().last().copied().unwrap_or(0) as usize;
    if categories > 1 << 24 {
        bail!(RuntimeError, "number of categories cannot exceed 2^24");
    }
    let values: Vec<f64> = weights.scalars()?.into_iter().map(Scalar::to_f64).collect();
    let replacement = call.bool(2)?;
    let mut sizes = weights.sizes().to_vec();
    if let Some(last) = sizes.last_mut() {
        *last = number as i64;
    }
    // Allocating first makes a huge number of samples an error instead of aborting the process.
    View::zeros(&sizes, DType::Long, Device::CPU)?;
    let generator = chosen(call)?;
    let drawn = samples::multinomial(&mut generator.borrow_mut(), &values, categories, number, replacement, kind)
        .map_err(Error::runtime)?;
    View::from_scalars(&sizes, DType::Long, drawn.into_iter().map(Scalar::Int)).map(Value::from)
}

fn poisson(call: &mut Call) -> Result<Value> {
    let rates = call.view(0)?;
    let out = View::zeros(rates.sizes(), rates.dtype, rates.device())?;
    if out.device() == Device::META {
        return Ok(out.into());
    }
    if real_kind(rates.dtype).is_none() || rates.dtype.is_complex() {
        bail!(RuntimeError, "\"poisson_cpu\" not implemented for '{}'", rates.dtype.scalar_type());
    }
    let lambdas = doubles(&rates, &out)?;
    let lambdas = lambdas.memory()?;
    let lambdas: Vec<f64> = lambdas.typed::<f64>().iter().map(get).collect();
    if lambdas.iter().any(|&rate| rate.is_nan() || rate < 0.0) {
        bail!(RuntimeError, "invalid Poisson rate, expected rate to be non-negative");
    }
    let generator = chosen(call)?;
    let generator = &mut generator.borrow_mut();
    write(&out, Scalar::Float, |first, counts| {
        samples::poisson(generator, counts, lambdas.get(first..).unwrap_or_default());
    })?;
    Ok(out.into())
}

fn check_deviation(std: f64) -> Result<()> {
    if std < 0.0 {
        bail!(RuntimeError, "normal expects std >= 0.0, but found std {std}");
    }
    Ok(())
}

/// Draws normal samples whose mean, standard deviation or both are tensors, by scaling and shifting standard ones.
fn normal(call: &mut Call) -> Result<Value> {
    let part = |i: usize| match call.value(i) {
        Value::Tensor(tensor) => Ok((Some(tensor.view()), 0.0)),
        _ => call.scalar(i).map(|number| (None, number.to_f64())),
    };
    let ((mean, mean_number), (std, std_number)) = (part(0)?, part(1)?);
    let sizes = match (&mean, &std) {
        (Some(mean), Some(std)) => broadcast_sizes(mean.sizes(), std.sizes())?,
        (Some(one), None) | (None, Some(one)) => one.sizes().into(),
        (None, None) => Default::default(),
    };
    let like = mean.as_ref().or(std.as_ref()).map_or(call.state.default_dtype.get(), |view| view.dtype);
    match &std {
        Some(std) if std.dtype.is_complex() => {
            bail!(RuntimeError, "normal expects standard deviation to be non-complex")
        }
        Some(std) if std.scalars()?.into_iter().any(|s| s.to_f64() < 0.0) => {
            bail!(RuntimeError, "normal expects all elements of std >= 0.0")
        }
        Some(_) => {}
        None => check_deviation(std_number)?,
    }
    let out = View::zeros(&sizes, like, Device::CPU)?;
    let math = Math(call.state.default_dtype.get());
    let number = |value: f64| Scalar::Float(value);
    let moved = match (&mean, &std) {
        (Some(mean), None) => {
            draw(call, &out, Sample::Gauss(0.0, std_number))?;
            math.add(&out, mean)?
        }
        (mean, Some(std)) => {
            draw(call, &out, Sample::Gauss(0.0, 1.0))?;
            let scaled = math.mul(&out, std)?;
            match mean {
                Some(mean) => math.add(&scaled, mean)?,
                None => math.add(&scaled, number(mean_number))?,
            }
        }
        (None, None) => out,
    };
    Ok(moved.into())
}

fn continuous(
    call: &mut Call,
    stub: &str,
    sample: impl Fn(&mut Generator, &mut [f64], RealKind) + Send,
) -> Result<Value> {
    let view = call.view(0)?;
    let kind = match real_kind(view.dtype).filter(|_| !view.dtype.is_complex()) {
        Some(kind) => kind,
        // Geometric samples are whole numbers, so integer dtypes are supported too.
        None if stub == "geometric_cpu" && view.dtype.is_integral(false) && !view.dtype.is_bare_unsigned() => {
            RealKind::F64
        }
        None => bail!(RuntimeError, "\"{stub}\" not implemented for '{}'", view.dtype.scalar_type()),
    };
    if view.device() != Device::META {
        let generator = chosen(call)?;
        let generator = &mut generator.borrow_mut();
        write(&view, Scalar::Float, |_, numbers| sample(generator, numbers, kind))?;
    }
    Ok(call.itself())
}

/// `random_(from, to)`: draws integers. If `to` is `None`, the range goes up to the dtype's largest number.
fn whole_numbers(call: &mut Call, from: i64, to: Option<i64>) -> Result<Value> {
    let view = call.view(0)?;
    let dtype = view.dtype;
    if dtype.is_complex() || dtype.is_float8() {
        bail!(RuntimeError, "\"random_from_to_kernel_cpu\" not implemented for '{}'", dtype.scalar_type());
    }
    let exact = |digits: u32| 1i128 << digits;
    let end = match to {
        Some(to) => i128::from(to),
        None => match real_kind(dtype) {
            Some(RealKind::F64) => exact(53) + 1,
            Some(RealKind::F32) => exact(24) + 1,
            Some(RealKind::F16) => exact(11) + 1,
            Some(RealKind::BF16) => exact(8) + 1,
            None => integer_limits(dtype).1 + 1,
        },
    };
    if i128::from(from) >= end {
        bail!(RuntimeError, "random_ expects 'from' to be less than 'to', but got from={from} >= to={end}");
    }
    if dtype.is_integral(true) {
        let (low, high) = integer_limits(dtype);
        for (name, bound) in [("from", i128::from(from)), ("to - 1", end - 1)] {
            if bound < low || bound > high {
                bail!(RuntimeError, "{name} is out of bounds for {}", dtype.cpp_name());
            }
        }
    }
    if view.device() != Device::META {
        let range = (end - i128::from(from)) as u64;
        let generator = chosen(call)?;
        let generator = &mut generator.borrow_mut();
        write(&view, Scalar::Int, |_, numbers| samples::random_from_to(generator, numbers, from, range))?;
    }
    Ok(call.itself())
}

fn any_numbers(call: &mut Call) -> Result<Value> {
    let view = call.view(0)?;
    let range = match view.dtype {
        DType::Bool => FullRange::Bool,
        DType::Byte => FullRange::U8,
        DType::Char => FullRange::I8,
        DType::Short => FullRange::I16,
        DType::Int => FullRange::I32,
        DType::Long => FullRange::I64,
        dtype => match real_kind(dtype).filter(|_| !dtype.is_complex()) {
            Some(kind) => FullRange::Real(kind),
            None => bail!(RuntimeError, "\"random_kernel_cpu\" not implemented for '{}'", dtype.scalar_type()),
        },
    };
    if view.device() != Device::META {
        let generator = chosen(call)?;
        let generator = &mut generator.borrow_mut();
        write(&view, Scalar::Int, |_, numbers| samples::random_full(generator, numbers, range))?;
    }
    Ok(call.itself())
}
