//! `torch.fft`. Follows <https://pytorch.org/docs/2.7/fft.html>.

use super::pointwise::default;
use call::facets::{Lies, Out, Takes};
use call::reads::{LINE, Reads};
use call::{Call, Row, function};
use tensor::ops::fft::{self, Norm, TransformKind};
use tensor::ops::pointwise::classes;
use tensor::{Dims, Result};
use value::Value;

/// The conditions on the `out` tensor of a transform. Each message names the function that computes it.
macro_rules! spectrum {
    (HalfToReal $name:literal) => {
        Out::PLAIN
            .takes(&[(
                Takes::Of(classes::FLOAT),
                concat!($name, " expects a floating point output tensor, but got {out}"),
            )])
            .lying(Lies::InRows)
    };
    ($kind:ident $name:literal) => {
        Out::PLAIN
            .takes(&[(
                Takes::Of(classes::COMPLEX | classes::COMPLEX_HALF),
                concat!($name, " expects a complex output tensor, but got {out}"),
            )])
            .lying(Lies::InRows)
    };
}

/// Declares rows for transforms along one dimension, two, and several.
macro_rules! transforms {
    ($($one:literal $two:literal $several:literal $kind:ident $forward:literal $doc:literal $one_calls:literal $([$($facets:tt)*])? $several_call:literal $computed:literal $([$($several_facets:tt)*])?;)*) => {
        pub(crate) const ROWS: &[Row] = &[
            $(function(concat!("fft.", $one, "(Tensor self, SymInt? n=None, int dim=-1, str? norm=None, *, Tensor? out=None) -> Tensor"), |c| one(c, $one, TransformKind::$kind, $forward), $doc)
                .operation($one_calls)
                .out(spectrum!($kind $one))
                .reads(LINE)
                $($($facets)*)?,
            function(concat!("fft.", $two, "(Tensor self, int[1]? s=None, int[1] dim=[-2,-1], str? norm=None, *, Tensor? out=None) -> Tensor"), |c| several(c, $computed, TransformKind::$kind, $forward), $doc)
                .out(spectrum!($kind $computed))
                .reads(LINE)
                .operation($several_call)
                $($($several_facets)*)?,
            function(concat!("fft.", $several, "(Tensor self, int[1]? s=None, int[1]? dim=None, str? norm=None, *, Tensor? out=None) -> Tensor"), |c| several(c, $computed, TransformKind::$kind, $forward), $doc)
                .out(spectrum!($kind $computed))
                .reads(LINE)
                .operation($several_call)
                $($($several_facets)*)?,)*
            function(
                "fft.fftfreq(int n, float d=1.0, *, Tensor? out=None, {factory}) -> Tensor",
                fftfreq,
                "Returns the frequencies of a transform.",
            )
            .out(Out::SERIES),
            function(
                "fft.rfftfreq(int n, float d=1.0, *, Tensor? out=None, {factory}) -> Tensor",
                rfftfreq,
                "Returns the frequencies of half a spectrum.",
            )
            .out(Out::SERIES),
            function(
                "fft.fftshift(Tensor self, int[1]? dim=None) -> Tensor",
                fftshift,
                "Moves the frequency 0 to the middle.",
            ).reads(Reads::Moved).operation("roll"),
            function(
                "fft.ifftshift(Tensor self, int[1]? dim=None) -> Tensor",
                ifftshift,
                "Moves the frequency 0 back to the start.",
            ).reads(Reads::Moved).operation("roll"),
        ];
    };
}

transforms! {
    "fft" "fft2" "fftn" Complex true "Computes the Fourier transform." "_fft_r2c" "_fft_c2c" "fftn";
    "ifft" "ifft2" "ifftn" Complex false "Computes the inverse Fourier transform." "_fft_r2c" "_fft_c2c" "fftn";
    "rfft" "rfft2" "rfftn" RealToHalf true "Computes half the spectrum of a real signal." "_fft_r2c" "_fft_r2c" "rfftn";
    "irfft" "irfft2" "irfftn" HalfToReal false "Computes a real signal from half its spectrum." "_fft_c2r" [.grad_refused_by("_fft_c2r")] "_fft_c2r" "irfftn" [.grad_refused_by("_fft_c2r")];
    "hfft" "hfft2" "hfftn" HalfToReal true "Computes the real spectrum of a symmetric signal." "_conj" [.out_refused_as("_conj").grad_refused_by("_fft_c2r")] "_fft_c2c" "hfftn" [.out_refused_as("_fft_c2c").grad_refused_by("_fft_c2r")];
    "ihfft" "ihfft2" "ihfftn" RealToHalf false "Computes half a symmetric signal from its real spectrum." "_fft_r2c" "_fft_r2c" "ihfftn" [.out_refused_as("_fft_r2c")];
}

fn norm(call: &Call) -> Result<Norm> {
    Norm::parse(if call.is_none(3) { None } else { Some(call.str(3)?) })
}

fn one(call: &mut Call, name: &str, kind: TransformKind, forward: bool) -> Result<Value> {
    let transform = fft::Transform { name, kind, forward, norm: norm(call)?, default: default(call) };
    fft::one(&call.view(0)?, call.opt_int(1)?, call.int(2)?, &transform).map(Value::from)
}

fn several(call: &mut Call, name: &str, kind: TransformKind, forward: bool) -> Result<Value> {
    let list = |i: usize| if call.is_none(i) { Ok(None) } else { call.ints(i).map(Some) };
    let (s, dim) = (list(1)?, list(2)?);
    let transform = fft::Transform { name, kind, forward, norm: norm(call)?, default: default(call) };
    fft::several(&call.view(0)?, s.as_deref(), dim.as_deref(), &transform).map(Value::from)
}

fn fftfreq(call: &mut Call) -> Result<Value> {
    frequencies(call, false)
}

fn rfftfreq(call: &mut Call) -> Result<Value> {
    frequencies(call, true)
}

fn frequencies(call: &mut Call, half: bool) -> Result<Value> {
    let dtype = call.dtype_keyword().unwrap_or(default(call));
    fft::frequencies(call.int(0)?, call.scalar(1)?.to_f64(), half, dtype).map(Value::from)
}

fn fftshift(call: &mut Call) -> Result<Value> {
    fft::shift(&call.view(0)?, shifted(call)?.as_deref(), false).map(Value::from)
}

fn ifftshift(call: &mut Call) -> Result<Value> {
    fft::shift(&call.view(0)?, shifted(call)?.as_deref(), true).map(Value::from)
}

/// Returns the dimensions to shift along, or `None` for all.
fn shifted(call: &Call) -> Result<Option<Dims>> {
    if call.is_none(1) { Ok(None) } else { call.ints(1).map(Some) }
}
