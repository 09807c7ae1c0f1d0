//! Fourier transforms as PyTorch composes them: the input is cut or padded, then one of three differentiable transforms
//! runs.

use super::{Composite, arg, dims, on, self_, tensor};
use crate::Functions;
use crate::context::Expr;
use crate::derivatives::opposite_norm;
use tensor::bail;
use tensor::layout::wrap_dim;
use tensor::{Dims, Result};
use value::Value;

pub(super) const ROWS: &[(&str, Composite)] = &[
    ("fft.fft", |f, a| complex(f, a, true)),
    ("fft.ifft", |f, a| complex(f, a, false)),
    ("fft.rfft", |f, a| half(f, a, true)),
    ("fft.ihfft", |f, a| half(f, a, false)),
    ("fft.irfft", |f, a| real(f, a, false)),
    ("fft.hfft", |f, a| real(f, a, true)),
    ("fft.fft2", |f, a| complex_several(f, a, true)),
    ("fft.fftn", |f, a| complex_several(f, a, true)),
    ("fft.ifft2", |f, a| complex_several(f, a, false)),
    ("fft.ifftn", |f, a| complex_several(f, a, false)),
    ("fft.rfft2", |f, a| half_several(f, a, true)),
    ("fft.rfftn", |f, a| half_several(f, a, true)),
    ("fft.ihfft2", |f, a| half_several(f, a, false)),
    ("fft.ihfftn", |f, a| half_several(f, a, false)),
    ("fft.irfft2", |f, a| real_several(f, a, false)),
    ("fft.irfftn", |f, a| real_several(f, a, false)),
    ("fft.hfft2", |f, a| real_several(f, a, true)),
    ("fft.hfftn", |f, a| real_several(f, a, true)),
    ("fft.fftshift", |f, a| shift(f, a, false)),
    ("fft.ifftshift", |f, a| shift(f, a, true)),
];

fn size(x: &Expr, dim: usize) -> Result<i64> {
    Ok(x.tensor()?.borrow().sizes().get(dim).copied().unwrap_or(0))
}

/// Cuts a dimension to its first `n` elements, or pads it with zeros at the end.
fn resized<'a>(x: Expr<'a>, dim: usize, n: i64) -> Result<Expr<'a>> {
    let now = size(&x, dim)?;
    if n < 1 {
        bail!(RuntimeError, "Invalid number of data points ({n}) specified");
    }
    Ok(if now > n {
        x.call("slice.Tensor", &[Value::Int(dim as i64), Value::Int(0), Value::Int(n), Value::Int(1)])
    } else if now < n {
        // Pads are listed from the last dimension on, each as the number before and after.
        let after = x.tensor()?.borrow().ndim() - 1 - dim;
        let mut pads = Dims::from_elem(0, after * 2);
        pads.extend([0, n - now]);
        x.call("constant_pad_nd", &[Value::Size(pads)])
    } else {
        x
    })
}

/// Returns the dimension of a one-dimensional transform, and its length if one is given.
fn one(a: &[Value]) -> Result<(usize, Option<i64>)> {
    let dim = wrap_dim(super::int(a, 2), tensor(a, 0)?.borrow().ndim())?;
    Ok((dim, if let Value::Int(n) = arg(a, 1) { Some(n) } else { None }))
}

fn as_complex<'a>(x: Expr<'a>) -> Result<Expr<'a>> {
    let dtype = x.tensor()?.borrow().dtype;
    Ok(if dtype.is_complex() { x } else { x.call("to.dtype", &[Value::DType(dtype.to_complex()?)]) })
}

fn complex(f: &dyn Functions, a: &[Value], forward: bool) -> Result<Value> {
    let (dim, n) = one(a)?;
    let x = on(f, self_(a)?);
    let n = n.map_or_else(|| size(&x, dim), Ok)?;
    let (x, dims) = (resized(x, dim, n)?, Value::size(&[dim as i64]));
    if x.is_complex() {
        return x.call("_fft_c2c", &[dims, arg(a, 3), Value::Bool(forward)]).value;
    }
    let norm = if forward { arg(a, 3) } else { opposite_norm(&arg(a, 3)) };
    let spectrum = x.call("_fft_r2c", &[dims, norm, Value::Bool(false)]);
    if forward { spectrum.value } else { spectrum.conj().value }
}

fn half(f: &dyn Functions, a: &[Value], forward: bool) -> Result<Value> {
    let (dim, n) = one(a)?;
    let x = on(f, self_(a)?);
    if x.is_complex() {
        bail!(RuntimeError, "a real input tensor was expected");
    }
    let n = n.map_or_else(|| size(&x, dim), Ok)?;
    let norm = if forward { arg(a, 3) } else { opposite_norm(&arg(a, 3)) };
    let dims = Value::size(&[dim as i64]);
    let spectrum = resized(x, dim, n)?.call("_fft_r2c", &[dims, norm, Value::Bool(true)]);
    if forward { spectrum.value } else { spectrum.conj().value }
}

fn real(f: &dyn Functions, a: &[Value], forward: bool) -> Result<Value> {
    let (dim, n) = one(a)?;
    let x = as_complex(on(f, self_(a)?))?;
    let n = match n {
        Some(n) => n,
        None => 2 * (size(&x, dim)? - 1),
    };
    let x = resized(x, dim, n / 2 + 1)?;
    let (x, norm) = if forward { (x.conj(), opposite_norm(&arg(a, 3))) } else { (x, arg(a, 3)) };
    x.call("_fft_c2r", &[Value::size(&[dim as i64]), norm, Value::Int(n)]).value
}

/// Returns the dimensions of a multi-dimensional transform, each with its length if one is given.
fn several(a: &[Value]) -> Result<Vec<(usize, Option<i64>)>> {
    let ndim = tensor(a, 0)?.borrow().ndim();
    let lengths = (!matches!(arg(a, 1), Value::None)).then(|| dims(a, 1));
    let places: Vec<usize> = match (arg(a, 2), &lengths) {
        (Value::None, Some(lengths)) => {
            let Some(first) = ndim.checked_sub(lengths.len()) else { bail!(RuntimeError, "too many lengths") };
            (first..ndim).collect()
        }
        (Value::None, None) => (0..ndim).collect(),
        _ => dims(a, 2).iter().map(|&dim| wrap_dim(dim, ndim)).collect::<Result<_>>()?,
    };
    let length = |i: usize| lengths.as_ref().and_then(|lengths| lengths.get(i).copied()).filter(|&n| n != -1);
    Ok(places.into_iter().enumerate().map(|(i, dim)| (dim, length(i))).collect())
}

fn resized_all<'a>(mut x: Expr<'a>, points: &[(usize, Option<i64>)]) -> Result<Expr<'a>> {
    for &(dim, n) in points {
        if let Some(n) = n {
            x = resized(x, dim, n)?;
        }
    }
    Ok(x)
}

fn places(points: &[(usize, Option<i64>)]) -> Value {
    Value::Size(points.iter().map(|&(dim, _)| dim as i64).collect())
}

fn complex_several(f: &dyn Functions, a: &[Value], forward: bool) -> Result<Value> {
    let points = several(a)?;
    let x = resized_all(as_complex(on(f, self_(a)?))?, &points)?;
    x.call("_fft_c2c", &[places(&points), arg(a, 3), Value::Bool(forward)]).value
}

fn half_several(f: &dyn Functions, a: &[Value], forward: bool) -> Result<Value> {
    let points = several(a)?;
    let x = on(f, self_(a)?);
    let Some((last, others)) = points.split_last().filter(|_| !x.is_complex()) else {
        bail!(RuntimeError, "a real tensor and a dimension are needed");
    };
    let x = resized_all(x, &points)?;
    if forward {
        return x.call("_fft_r2c", &[places(&points), arg(a, 3), Value::Bool(true)]).value;
    }
    let norm = opposite_norm(&arg(a, 3));
    let spectrum = x.call("_fft_r2c", &[places(std::slice::from_ref(last)), norm, Value::Bool(true)]);
    if others.is_empty() {
        return spectrum.conj().value;
    }
    spectrum.call("conj_physical", &[]).call("_fft_c2c", &[places(others), arg(a, 3), Value::Bool(false)]).value
}

fn real_several(f: &dyn Functions, a: &[Value], forward: bool) -> Result<Value> {
    let points = several(a)?;
    let x = as_complex(on(f, self_(a)?))?;
    let Some((&(last, n), others)) = points.split_last() else {
        bail!(RuntimeError, "a dimension is needed");
    };
    let n = match n {
        Some(n) => n,
        None => 2 * (size(&x, last)? - 1),
    };
    let x = resized(resized_all(x, others)?, last, n / 2 + 1)?;
    if !forward {
        return x.call("_fft_c2r", &[places(&points), arg(a, 3), Value::Int(n)]).value;
    }
    let x = match others {
        [] => x,
        others => x.call("_fft_c2c", &[places(others), arg(a, 3), Value::Bool(true)]),
    };
    let norm = opposite_norm(&arg(a, 3));
    x.conj().call("_fft_c2r", &[Value::size(&[last as i64]), norm, Value::Int(n)]).value
}

fn shift(f: &dyn Functions, a: &[Value], back: bool) -> Result<Value> {
    let sizes = tensor(a, 0)?.borrow().layout.sizes.clone();
    let along: Dims = if let Value::None = arg(a, 1) { (0..sizes.len() as i64).collect() } else { dims(a, 1) };
    let shifts: Result<Dims> = along
        .iter()
        .map(|&dim| {
            let size = sizes.get(wrap_dim(dim, sizes.len())?).copied().unwrap_or(0);
            Ok(if back { (size + 1) / 2 } else { size / 2 })
        })
        .collect();
    f.call("roll", &[self_(a)?, Value::Size(shifts?), Value::Size(along)])
}
