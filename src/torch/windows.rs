//! Windows for spectra. Follows <https://pytorch.org/docs/2.7/torch.html#spectral-ops> and
//! <https://pytorch.org/docs/2.7/signal.html>.

use super::pointwise::default;
use call::{Call, Row, function};
use tensor::bail;
use tensor::ops::windows::{self, Signal};
use tensor::{DType, Result, Scalar};
use value::{TensorLayout, Value};

pub(crate) const ROWS: &[Row] = &[
    function(
        "hann_window(int window_length, *, {factory}) -> Tensor",
        |c| raised(c, "hann_window", 0.5, 0.5),
        "Computes the Hann window.",
    ),
    function(
        "hann_window.periodic(int window_length, bool periodic, *, {factory}) -> Tensor",
        |c| raised(c, "hann_window", 0.5, 0.5),
        "Computes the Hann window.",
    ),
    function(
        "hamming_window(int window_length, *, {factory}) -> Tensor",
        |c| raised(c, "hamming_window", 0.54, 0.46),
        "Computes the Hamming window.",
    ),
    function(
        "hamming_window.periodic(int window_length, bool periodic, *, {factory}) -> Tensor",
        |c| raised(c, "hamming_window", 0.54, 0.46),
        "Computes the Hamming window.",
    ),
    function(
        "hamming_window.periodic_alpha(int window_length, bool periodic, float alpha, *, {factory}) -> Tensor",
        |c| {
            let alpha = c.scalar(2)?.to_f64();
            raised(c, "hamming_window", alpha, 0.46)
        },
        "Computes the Hamming window.",
    ),
    function(
        "hamming_window.periodic_alpha_beta(int window_length, bool periodic, float alpha, float beta, *, \
 {factory}) -> Tensor",
        |c| {
            let (alpha, beta) = (c.scalar(2)?.to_f64(), c.scalar(3)?.to_f64());
            raised(c, "hamming_window", alpha, beta)
        },
        "Computes the Hamming window.",
    ),
    function(
        "blackman_window(int window_length, *, {factory}) -> Tensor",
        |c| {
            let (n, periodic, dtype) = asked(c, "blackman_window")?;
            windows::blackman(n, periodic, dtype).map(Value::from)
        },
        "Computes the Blackman window.",
    ),
    function(
        "blackman_window.periodic(int window_length, bool periodic, *, {factory}) -> Tensor",
        |c| {
            let (n, periodic, dtype) = asked(c, "blackman_window")?;
            windows::blackman(n, periodic, dtype).map(Value::from)
        },
        "Computes the Blackman window.",
    ),
    function(
        "bartlett_window(int window_length, *, {factory}) -> Tensor",
        |c| {
            let (n, periodic, dtype) = asked(c, "bartlett_window")?;
            windows::bartlett(n, periodic, dtype).map(Value::from)
        },
        "Computes the Bartlett window.",
    ),
    function(
        "bartlett_window.periodic(int window_length, bool periodic, *, {factory}) -> Tensor",
        |c| {
            let (n, periodic, dtype) = asked(c, "bartlett_window")?;
            windows::bartlett(n, periodic, dtype).map(Value::from)
        },
        "Computes the Bartlett window.",
    ),
    function(
        "kaiser_window(int window_length, *, {factory}) -> Tensor",
        |c| kaiser(c, 12.0),
        "Computes the Kaiser window.",
    ),
    function(
        "kaiser_window.periodic(int window_length, bool periodic, *, {factory}) -> Tensor",
        |c| kaiser(c, 12.0),
        "Computes the Kaiser window.",
    ),
    function(
        "kaiser_window.beta(int window_length, bool periodic, float beta, *, {factory}) -> Tensor",
        |c| {
            let beta = c.scalar(2)?.to_f64();
            kaiser(c, beta)
        },
        "Computes the Kaiser window.",
    ),
    function(
        "signal.windows.hann(int M, *, bool sym=True, {factory}) -> Tensor",
        |c| signal(c, "general_cosine", &Signal::Cosines(vec![0.5, 0.5])),
        "Computes the Hann window.",
    ),
    function(
        "signal.windows.hamming(int M, *, bool sym=True, {factory}) -> Tensor",
        |c| signal(c, "general_cosine", &Signal::Cosines(vec![0.54, 0.46])),
        "Computes the Hamming window.",
    ),
    function(
        "signal.windows.blackman(int M, *, bool sym=True, {factory}) -> Tensor",
        |c| signal(c, "blackman", &Signal::Cosines(vec![0.42, 0.5, 0.08])),
        "Computes the Blackman window.",
    ),
    function(
        "signal.windows.nuttall(int M, *, bool sym=True, {factory}) -> Tensor",
        |c| signal(c, "general_cosine", &Signal::Cosines(vec![0.3635819, 0.4891775, 0.1365995, 0.0106411])),
        "Computes the Nuttall window.",
    ),
    function(
        "signal.windows.general_cosine(int M, *, any a, bool sym=True, {factory}) -> Tensor",
        |c| {
            let Some(weights) = c.value(1).sequence() else {
                bail!(TypeError, "Coefficients must be a list/tuple");
            };
            let weights: Vec<f64> = weights.iter().filter_map(Value::as_scalar).map(Scalar::to_f64).collect();
            if weights.is_empty() {
                bail!(ValueError, "Coefficients cannot be empty");
            }
            signal(c, "general_cosine", &Signal::Cosines(weights))
        },
        "Computes a sum of cosines.",
    ),
    function(
        "signal.windows.general_hamming(int M, *, float alpha=0.54, bool sym=True, {factory}) -> Tensor",
        |c| {
            let alpha = c.scalar(1)?.to_f64();
            signal(c, "general_cosine", &Signal::Cosines(vec![alpha, 1.0 - alpha]))
        },
        "Computes a Hamming window of another weight.",
    ),
    function(
        "signal.windows.cosine(int M, *, bool sym=True, {factory}) -> Tensor",
        |c| signal(c, "cosine", &Signal::Cosine),
        "Computes half a cosine.",
    ),
    function(
        "signal.windows.bartlett(int M, *, bool sym=True, {factory}) -> Tensor",
        |c| signal(c, "bartlett", &Signal::Bartlett),
        "Computes the Bartlett window.",
    ),
    function(
        "signal.windows.exponential(int M, *, float? center=None, float tau=1.0, bool sym=True, {factory}) \
 -> Tensor",
        |c| {
            let center = if c.is_none(1) { None } else { Some(c.scalar(1)?.to_f64()) };
            let tau = c.scalar(2)?.to_f64();
            if tau <= 0.0 {
                bail!(ValueError, "Tau must be positive, got: {} instead.", c.state.str(&c.value(2))?);
            }
            if center.is_some() && c.position("sym").is_some_and(|i| c.bool(i) == Ok(true)) {
                bail!(ValueError, "Center must be None for symmetric windows");
            }
            signal(c, "exponential", &Signal::Exponential { tau, center })
        },
        "Computes the exponential window.",
    ),
    function(
        "signal.windows.gaussian(int M, *, float std=1.0, bool sym=True, {factory}) -> Tensor",
        |c| {
            let std = c.scalar(1)?.to_f64();
            if std <= 0.0 {
                bail!(ValueError, "Standard deviation must be positive, got: {} instead.", c.state.str(&c.value(1))?);
            }
            signal(c, "gaussian", &Signal::Gaussian { std })
        },
        "Computes the Gaussian window.",
    ),
    function(
        "signal.windows.kaiser(int M, *, float beta=12.0, bool sym=True, {factory}) -> Tensor",
        |c| {
            let beta = c.scalar(1)?.to_f64();
            if beta < 0.0 {
                bail!(ValueError, "beta must be non-negative, got: {} instead.", c.state.str(&c.value(1))?);
            }
            signal(c, "kaiser", &Signal::Kaiser { beta })
        },
        "Computes the Kaiser window.",
    ),
];

/// Returns the length, periodicity and dtype of a window after checking them.
fn asked(call: &Call, name: &str) -> Result<(i64, bool, DType)> {
    let dtype = call.dtype_keyword().unwrap_or(default(call));
    if !dtype.is_floating_point() && !dtype.is_complex() {
        bail!(
            RuntimeError,
            "{name} expects floating point dtypes, got: TensorOptions(dtype={}, device=cpu, layout=Strided (default), \
             requires_grad=false (default), pinned_memory=false, memory_format=(nullopt))",
            dtype.cpp_name()
        );
    }
    let length = call.int(0)?;
    if length < 0 {
        bail!(RuntimeError, "{name} requires non-negative window_length, got window_length={length}");
    }
    let periodic = call.position("periodic").map_or(Ok(true), |i| call.bool(i))?;
    Ok((length, periodic, dtype))
}

fn raised(call: &mut Call, name: &str, alpha: f64, beta: f64) -> Result<Value> {
    let (length, periodic, dtype) = asked(call, name)?;
    windows::raised_cosine(length, periodic, alpha, beta, dtype).map(Value::from)
}

fn kaiser(call: &mut Call, beta: f64) -> Result<Value> {
    let (length, periodic, dtype) = asked(call, "kaiser_window")?;
    windows::kaiser(length, periodic, beta, dtype).map(Value::from)
}

fn signal(call: &mut Call, name: &str, which: &Signal) -> Result<Value> {
    let m = call.int(0)?;
    if m < 0 {
        bail!(ValueError, "{name} requires non-negative window length, got M={m}");
    }
    if let Some(Value::Layout(layout)) = call.position("layout").map(|i| call.value(i))
        && layout != TensorLayout::Strided
    {
        bail!(ValueError, "{name} is implemented for strided tensors only, got: torch.{}", layout.name());
    }
    let dtype = call.dtype_keyword().unwrap_or(default(call));
    if !matches!(dtype, DType::Float | DType::Double) {
        bail!(ValueError, "{name} expects float32 or float64 dtypes, got: torch.{}", dtype.name());
    }
    let sym = call.position("sym").map_or(Ok(true), |i| call.bool(i))?;
    windows::signal(which, m, sym, dtype).map(Value::from)
}
