//! Windows for spectra. Follows <https://pytorch.org/docs/2.7/torch.html#spectral-ops> and
//! <https://pytorch.org/docs/2.7/signal.html>.

use super::pointwise::default;
use super::python::in_python;
use call::{Call, Row, function};
use tensor::bail;
use tensor::ops::windows;
use tensor::{DType, Result};
use value::Value;

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
        |c| in_python(c, "windows.hann"),
        "Computes the Hann window.",
    ),
    function(
        "signal.windows.hamming(int M, *, bool sym=True, {factory}) -> Tensor",
        |c| in_python(c, "windows.hamming"),
        "Computes the Hamming window.",
    ),
    function(
        "signal.windows.blackman(int M, *, bool sym=True, {factory}) -> Tensor",
        |c| in_python(c, "windows.blackman"),
        "Computes the Blackman window.",
    ),
    function(
        "signal.windows.nuttall(int M, *, bool sym=True, {factory}) -> Tensor",
        |c| in_python(c, "windows.nuttall"),
        "Computes the Nuttall window.",
    ),
    function(
        "signal.windows.general_cosine(int M, *, any a, bool sym=True, {factory}) -> Tensor",
        |c| in_python(c, "windows.general_cosine"),
        "Computes a sum of cosines.",
    ),
    function(
        "signal.windows.general_hamming(int M, *, float alpha=0.54, bool sym=True, {factory}) -> Tensor",
        |c| in_python(c, "windows.general_hamming"),
        "Computes a Hamming window of another weight.",
    ),
    function(
        "signal.windows.cosine(int M, *, bool sym=True, {factory}) -> Tensor",
        |c| in_python(c, "windows.cosine"),
        "Computes half a cosine.",
    ),
    function(
        "signal.windows.bartlett(int M, *, bool sym=True, {factory}) -> Tensor",
        |c| in_python(c, "windows.bartlett"),
        "Computes the Bartlett window.",
    ),
    function(
        "signal.windows.exponential(int M, *, float? center=None, float tau=1.0, bool sym=True, {factory}) \
 -> Tensor",
        |c| in_python(c, "windows.exponential"),
        "Computes the exponential window.",
    ),
    function(
        "signal.windows.gaussian(int M, *, float std=1.0, bool sym=True, {factory}) -> Tensor",
        |c| in_python(c, "windows.gaussian"),
        "Computes the Gaussian window.",
    ),
    function(
        "signal.windows.kaiser(int M, *, float beta=12.0, bool sym=True, {factory}) -> Tensor",
        |c| in_python(c, "windows.kaiser"),
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
