//! Short-time Fourier transforms: of windows that move over a signal, and back. Follows
//! <https://pytorch.org/docs/2.7/generated/torch.stft.html>.

use super::python::in_python;
use super::steps::Steps;
use autograd::Functions;
use call::{Call, Row, both, function, method, one};
use tensor::bail;
use tensor::layout::{show, wrap_dim};
use tensor::{Dims, Error, Result, Tensor, View};
use value::Value;

pub(crate) const ROWS: &[Row] = &[
    function(
        "stft(Tensor input, int n_fft, int? hop_length=None, int? win_length=None, Tensor? window=None, bool center=True, \
 str pad_mode=\"reflect\", bool normalized=False, bool? onesided=None, bool? return_complex=None, \
 bool? align_to_window=None) -> Tensor",
        |c| in_python(c, "composites.stft"),
        "Computes the spectra of a signal's parts.",
    )
    .python("stft").recorded_in_steps(),
    method(
        "stft.center(Tensor self, int n_fft, int? hop_length=None, int? win_length=None, Tensor? window=None, \
 bool center=True, str pad_mode=\"reflect\", bool normalized=False, bool? onesided=None, bool? return_complex=None, \
 bool? align_to_window=None) -> Tensor",
        |c| in_python(c, "composites.stft"),
        "Computes the spectra of a signal's parts.",
    )
    .python("Tensor.stft").recorded_in_steps(),
    function(
        "_VF.stft(Tensor input, int n_fft, int? hop_length=None, int? win_length=None, Tensor? window=None, \
 bool normalized=False, bool? onesided=None, bool? return_complex=None, bool? align_to_window=None) -> Tensor",
        forward,
        "Computes the spectra of a signal's parts.",
    ).recorded_in_steps(),
    both(
        "istft(Tensor self, int n_fft, int? hop_length=None, int? win_length=None, Tensor? window=None, bool center=True, \
 bool normalized=False, bool? onesided=None, int? length=None, bool return_complex=False) -> Tensor",
        backward,
        "Computes a signal from the spectra of its parts.",
    ).recorded_in_steps(),
];

/// The arguments that both directions share.
struct Asked {
    n_fft: i64,
    hop: i64,
    length: i64,
    window: Option<Tensor>,
    normalized: bool,
    onesided: Option<bool>,
}

impl Asked {
    fn of(call: &Call, normalized: usize) -> Result<Asked> {
        let n_fft = call.int(1)?;
        let flag = |index: usize| if call.is_none(index) { Ok(None) } else { call.bool(index).map(Some) };
        Ok(Asked {
            n_fft,
            hop: call.opt_int(2)?.unwrap_or(n_fft >> 2),
            length: call.opt_int(3)?.unwrap_or(n_fft),
            window: if call.is_none(4) { None } else { Some(call.tensor(4)?.clone()) },
            normalized: call.bool(normalized)?,
            onesided: flag(normalized + 1)?,
        })
    }

    /// Formats the call for error messages. `between` and `behind` are arguments that only one direction has.
    fn shown(&self, name: &str, view: &View, between: &str, behind: &str) -> String {
        let window = self.window.as_ref().map_or("None".to_owned(), |window| {
            let window = window.view();
            format!("{}{{{}}}", window.dtype.legacy_class(), show(window.sizes()))
        });
        format!(
            "{name}({}{}, n_fft={}, hop_length={}, win_length={}, window={window}{between}, normalized={}, onesided={}{behind})",
            view.dtype.legacy_class(),
            show(view.sizes()),
            self.n_fft,
            self.hop,
            self.length,
            i64::from(self.normalized),
            option(self.onesided.map(i64::from)),
        )
    }

    fn norm(&self) -> Value {
        Value::str(if self.normalized { "ortho" } else { "backward" })
    }
}

fn option(value: Option<i64>) -> String {
    value.map_or("None".to_owned(), |value| value.to_string())
}

fn forward(call: &mut Call) -> Result<Value> {
    let steps = Steps::of(call);
    let asked = Asked::of(call, 5)?;
    let flag = |index: usize| if call.is_none(index) { Ok(None) } else { call.bool(index).map(Some) };
    let (as_complex, aligned) = (flag(7)?, flag(8)?);
    let input = call.tensor(0)?.clone();
    let view = input.view();
    if asked.window.is_none() {
        steps.0.warn_once(
            "UserWarning",
            "A window was not provided. A rectangular window will be applied,which is known to cause spectral leakage. \
             Other windows such as torch.hann_window or torch.hamming_window are recommended to reduce spectral leakage.To \
             suppress this warning and use a rectangular window, explicitly set `window=torch.ones(n_fft, \
             device=<device>)`. (Triggered internally at /pytorch/aten/src/ATen/native/SpectralOps.cpp:836.)",
        );
    }
    let is_complex = |tensor: &Tensor| tensor.borrow().dtype.is_complex();
    let complex = view.dtype.is_complex() || asked.window.as_ref().is_some_and(is_complex);
    if as_complex.is_none() && !complex {
        bail!(
            RuntimeError,
            "stft requires the return_complex parameter be given for real inputs, and will further require that \
             return_complex=True in a future PyTorch release."
        );
    }
    if as_complex == Some(false) {
        steps.0.warn_once(
            "UserWarning",
            "stft with return_complex=False is deprecated. In a future pytorch release, stft will return complex tensors \
             for all inputs, and return_complex=False will raise an error.\nNote: you can still call torch.view_as_real on \
             the complex output to recover the old return format. (Triggered internally at \
             /pytorch/aten/src/ATen/native/SpectralOps.cpp:875.)",
        );
    }
    let refused = |what: String| {
        let (complex, aligned) = (option(as_complex.map(i64::from)), option(aligned.map(i64::from)));
        let behind = format!(", return_complex={complex}, align_to_window={aligned}");
        Err(Error::runtime(format!("{} : {what}", asked.shown("stft", &view, "", &behind))))
    };
    if !view.dtype.is_differentiable() {
        return refused("expected a tensor of floating point or complex values".to_owned());
    }
    if !(1..=2).contains(&view.ndim()) {
        return refused("expected a 1D or 2D tensor".to_owned());
    }
    let &Asked { n_fft, hop, length, .. } = &asked;
    let mut signal = if view.ndim() == 1 { steps.unsqueeze(&input, 0)? } else { input.clone() };
    let points = signal.borrow().sizes()[1];
    if n_fft <= 0 || n_fft > points {
        return refused(format!("expected 0 < n_fft < {points}, but got n_fft={length}"));
    }
    if hop <= 0 {
        return refused(format!("expected hop_length > 0, but got hop_length={hop}"));
    }
    if length <= 0 || length > n_fft {
        return refused(format!("expected 0 < win_length <= n_fft, but got win_length={length}"));
    }
    if let Some(window) = &asked.window
        && window.borrow().sizes() != [length]
    {
        let sizes = show(window.borrow().sizes());
        return refused(format!(
            "expected a 1D window tensor of size equal to win_length={length}, but got window with size {sizes}"
        ));
    }
    let around = (n_fft - length) / 2;
    let mut window = asked.window.clone();
    if length < n_fft {
        let given = match window {
            Some(window) => window,
            None => one(steps.0.call("new_ones", &[input.clone().into(), Value::size(&[length])])?)?,
        };
        window = Some(padded(steps, &given, around, n_fft - length - around)?);
    }
    let mut frames = 1 + (points - n_fft) / hop;
    if aligned == Some(true) {
        frames = 1 + (points - length) / hop;
        signal = padded(steps, &signal, around, around)?;
    }
    let strides = Dims::from_slice(signal.borrow().strides());
    let (sizes, strides) = ([signal.borrow().sizes()[0], frames, n_fft], [strides[0], hop * strides[1], strides[1]]);
    let mut parts = steps.on(&signal, "as_strided", &[Value::size(&sizes), Value::size(&strides)])?;
    if let Some(window) = &window {
        parts = steps.pair("mul", &parts, window)?;
    }
    let complex = is_complex(&parts);
    let onesided = asked.onesided.unwrap_or(!complex);
    if complex && onesided {
        bail!(RuntimeError, "Cannot have onesided output if window or input is complex");
    }
    let dtype = parts.borrow().dtype;
    if dtype.is_reduced_floating_point() {
        bail!(RuntimeError, "MKL FFT doesn't support tensors of type: {}", dtype.scalar_type());
    }
    let name = if onesided { "fft.rfft" } else { "fft.fft" };
    let spectra = one(steps.torch(name, &[parts.into(), Value::None, Value::Int(-1), asked.norm()])?)?;
    let mut spectra = steps.on(&spectra, "transpose_", &[Value::Int(1), Value::Int(2)])?;
    if view.ndim() == 1 {
        spectra = steps.on(&spectra, "squeeze_", &[Value::Int(0)])?;
    }
    match as_complex {
        Some(false) => steps.torch("view_as_real", &[spectra.into()]),
        _ => Ok(spectra.into()),
    }
}

/// Pads the last dimension with zeros.
fn padded(steps: Steps, tensor: &Tensor, before: i64, after: i64) -> Result<Tensor> {
    one(steps.torch("constant_pad_nd", &[tensor.clone().into(), Value::size(&[before, after]), Value::Int(0)])?)
}

fn backward(call: &mut Call) -> Result<Value> {
    let steps = Steps::of(call);
    let asked = Asked::of(call, 6)?;
    let (centred, wanted, as_complex) = (call.bool(5)?, call.opt_int(8)?, call.bool(9)?);
    let input = call.tensor(0)?.clone();
    let view = input.view();
    if asked.window.is_none() {
        steps.0.warn_once(
            "UserWarning",
            "A window was not provided. A rectangular window will be applied.Please provide the same window used by stft to \
             make the inversion lossless.To suppress this warning and use a rectangular window, explicitly set \
             `window=torch.ones(n_fft, device=<device>)`. (Triggered internally at \
             /pytorch/aten/src/ATen/native/SpectralOps.cpp:1036.)",
        );
    }
    if !view.dtype.is_complex() {
        bail!(
            RuntimeError,
            "istft requires a complex-valued input tensor matching the output from stft with return_complex=True."
        );
    }
    // Errors count dimensions with an extra one for the real and imaginary parts.
    let ndim = view.ndim() + 1;
    let size = |from_end: i64| wrap_dim(from_end, ndim).map(|d| view.sizes()[d]);
    let (frames, points) = (size(-2)?, size(-3)?);
    let shown = || {
        let behind = format!(", length={}, return_complex={}", option(wanted), i64::from(as_complex));
        asked.shown("istft", &view, &format!(", center={}", i64::from(centred)), &behind)
    };
    let refused = |what: String| Err(Error::runtime(format!("{} : {what}", shown())));
    let &Asked { n_fft, hop, length, .. } = &asked;
    if view.numel() == 0 {
        return refused("input tensor cannot be empty.".to_owned());
    }
    if ndim > 4 {
        return refused(format!("expected a tensor with 3 or 4 dimensions, but got {ndim}"));
    }
    let onesided = asked.onesided.unwrap_or(points != n_fft);
    if onesided && n_fft / 2 + 1 != points || !onesided && n_fft != points {
        let (wanted, flag) = if onesided { ("n_fft / 2 + 1", "True") } else { ("n_fft", "False") };
        return refused(format!(
            "expected the frequency dimension (3rd to the last) of the input tensor to match {wanted} when onesided={flag}, \
             but got {points}"
        ));
    }
    if !(0 < hop && hop <= length) {
        return refused("expected 0 < hop_length <= win_length".to_owned());
    }
    if length > n_fft {
        return refused("expected 0 < win_length <= n_fft".to_owned());
    }
    let window = match &asked.window {
        Some(window) if window.borrow().sizes() != [length] => {
            return refused("Invalid window shape. window has to be 1D and length of `win_length`".to_owned());
        }
        Some(window) => window.clone(),
        None => {
            let real = Value::DType(view.dtype.to_real());
            one(steps.0.call("new_ones", &[input.clone().into(), Value::size(&[length]), real])?)?
        }
    };
    let left = (n_fft - length) / 2;
    let window = if length == n_fft { window } else { padded(steps, &window, left, n_fft - length - left)? };
    let batch = if ndim == 3 { steps.unsqueeze(&input, 0)? } else { input.clone() };
    let mut spectra = steps.transpose(&batch, 1, 2)?;
    let name = if as_complex { "fft.ifft" } else { "fft.irfft" };
    if as_complex && onesided {
        bail!(RuntimeError, "Cannot have onesided output if window or input is complex");
    }
    if !as_complex && window.borrow().dtype.is_complex() {
        bail!(RuntimeError, "Complex windows are incompatible with return_complex=False");
    }
    if !as_complex && !onesided {
        spectra = steps.on(&spectra, "narrow", &[Value::Int(-1), Value::Int(0), Value::Int(n_fft / 2 + 1)])?;
    }
    let parts = one(steps.torch(name, &[spectra.into(), Value::Int(n_fft), Value::Int(-1), asked.norm()])?)?;
    let parts = steps.pair("mul", &parts, &steps.sized("view", &window, &[1, 1, n_fft])?)?;
    let Some(all) = (frames - 1).checked_mul(hop).and_then(|before| before.checked_add(n_fft)) else {
        return refused("the signal would be too long".to_owned());
    };
    // Adds up the overlapping windows, and the squared window function beneath them.
    let added = |parts: &Tensor| {
        let sizes = Value::size(&[parts.borrow().sizes()[0], all]);
        let windows = [parts.clone().into(), sizes, Value::Int(1), Value::Int(n_fft), Value::Int(hop)];
        one(steps.0.call("unfold_backward", &windows)?)
    };
    let signal = added(&parts)?;
    let squares = steps.on(&window, "pow", &[Value::Int(2)])?;
    let weight = added(&steps.sized("expand", &squares, &[1, frames, n_fft])?)?;
    let start = if centred { n_fft / 2 } else { 0 };
    let end = match wanted {
        Some(length) => start.saturating_add(length),
        None => all - start,
    };
    let trimmed = |tensor: &Tensor| {
        let end = end.clamp(start.min(all), all);
        steps.on(tensor, "narrow", &[Value::Int(1), Value::Int(start.min(all)), Value::Int(end - start.min(all))])
    };
    let (signal, weight) = (trimmed(&signal)?, trimmed(&weight)?);
    let least = steps.on(&steps.on(&weight, "abs", &[])?, "min", &[])?.borrow().item()?;
    if least.to_f64() < 1e-11 {
        bail!(RuntimeError, "{} window overlap add min: 1\n[ CPUBoolType{{}} ]", shown());
    }
    let mut signal = steps.pair("div", &signal, &weight)?;
    if ndim == 3 {
        signal = steps.on(&signal, "squeeze", &[Value::Int(0)])?;
    }
    if end > all {
        steps.0.warn_once(
            "UserWarning",
            "The length of signal is shorter than the length parameter. Result is being padded with zeros in the tail. \
             Please check your center and hop_length settings. (Triggered internally at \
             /pytorch/aten/src/ATen/native/SpectralOps.cpp:1200.)",
        );
        signal = padded(steps, &signal, 0, end - all)?;
    }
    Ok(signal.into())
}
