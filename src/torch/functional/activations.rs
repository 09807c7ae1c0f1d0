//! The functions of `torch.nn.functional` that map each number alone.

use tensor::ops::number::Real;
use tensor::ops::pointwise::{RealFunction, real};

#[derive(Clone, Copy)]
pub(super) struct Silu;

impl RealFunction for Silu {
    const FUNCTIONS: usize = 1;
    #[inline(always)]
    fn at<T: Real>(&self, value: T) -> T {
        value / (T::one() + real::exp(-value))
    }
}

#[derive(Clone, Copy)]
pub(super) struct Mish;

impl RealFunction for Mish {
    const FUNCTIONS: usize = 3;
    #[inline(always)]
    fn at<T: Real>(&self, value: T) -> T {
        value * real::tanh(real::ln_1p(real::exp(value)))
    }
}

#[derive(Clone, Copy)]
pub(super) struct Softplus {
    pub(super) beta: f64,
    pub(super) threshold: f64,
}

impl RealFunction for Softplus {
    const FUNCTIONS: usize = 2;
    #[inline(always)]
    fn at<T: Real>(&self, value: T) -> T {
        let beta = T::from_f64(self.beta);
        let scaled = value * beta;
        let soft = real::ln_1p(real::exp(scaled)) / beta;
        if scaled > T::from_f64(self.threshold) { value } else { soft }
    }
}

/// Computes `x + 3`, clamped to the range from 0 to 6.
fn hard_step<T: Real>(value: T) -> T {
    let raised = value + T::from_f64(3.0);
    if raised.is_nan() { raised } else { raised.max(T::zero()).min(T::from_f64(6.0)) }
}

#[derive(Clone, Copy)]
pub(super) struct Hardsigmoid;

impl RealFunction for Hardsigmoid {
    fn at<T: Real>(&self, value: T) -> T {
        hard_step(value) / T::from_f64(6.0)
    }
}

#[derive(Clone, Copy)]
pub(super) struct Hardswish;

impl RealFunction for Hardswish {
    fn at<T: Real>(&self, value: T) -> T {
        value * hard_step(value) / T::from_f64(6.0)
    }
}

#[derive(Clone, Copy)]
pub(super) struct Gelu;

impl RealFunction for Gelu {
    const FUNCTIONS: usize = 1;
    #[inline(always)]
    fn at<T: Real>(&self, value: T) -> T {
        let turned = real::erf(value * T::from_f64(std::f64::consts::FRAC_1_SQRT_2));
        value * T::from_f64(0.5) * (T::one() + turned)
    }
}

/// Like [`Gelu`], but with a hyperbolic tangent instead of the error function.
#[derive(Clone, Copy)]
pub(super) struct TanhGelu;

impl RealFunction for TanhGelu {
    const FUNCTIONS: usize = 1;
    #[inline(always)]
    fn at<T: Real>(&self, value: T) -> T {
        let scale = T::from_f64(std::f64::consts::SQRT_2 * std::f64::consts::FRAC_2_SQRT_PI * 0.5);
        let inner = scale * (value * value * value).fused(T::from_f64(0.044715), value);
        T::from_f64(0.5) * value * (T::one() + real::tanh(inner))
    }
}

/// A multiple of positive numbers, and of `exp(x) - 1` for negative ones, without `expm1`, like in PyTorch.
#[derive(Clone, Copy)]
pub(super) struct Elu {
    pub(super) above: f64,
    pub(super) below: f64,
    pub(super) input: f64,
}

impl RealFunction for Elu {
    const FUNCTIONS: usize = 1;
    #[inline(always)]
    fn at<T: Real>(&self, value: T) -> T {
        let below = (real::exp(value * T::from_f64(self.input)) - T::one()) * T::from_f64(self.below);
        let above = value * T::from_f64(self.above);
        if value < T::zero() { below } else { above }
    }
}

/// The logarithm of the sigmoid, computed in `T` throughout: a result that underflows is a positive zero.
#[derive(Clone, Copy)]
pub(super) struct LogSigmoid;

impl RealFunction for LogSigmoid {
    const FUNCTIONS: usize = 2;
    #[inline(always)]
    fn at<T: Real>(&self, value: T) -> T {
        value.min(T::zero()) - real::ln_1p(real::exp(-value.abs()))
    }
}

/// Compares in `T`, so that an element equals a bound written with the same digits.
#[derive(Clone, Copy)]
pub(super) struct Hardshrink(pub(super) f64);

impl RealFunction for Hardshrink {
    fn at<T: Real>(&self, value: T) -> T {
        let limit = T::from_f64(self.0);
        if value >= -limit && value <= limit { T::zero() } else { value }
    }
}

#[derive(Clone, Copy)]
pub(super) struct Softshrink(pub(super) f64);

impl RealFunction for Softshrink {
    fn at<T: Real>(&self, value: T) -> T {
        let by = T::from_f64(self.0);
        if value > by {
            value - by
        } else if value < -by {
            value + by
        } else {
            value * T::zero()
        }
    }
}

#[derive(Clone, Copy)]
pub(super) struct LeakyRelu(pub(super) f64);

impl RealFunction for LeakyRelu {
    fn at<T: Real>(&self, value: T) -> T {
        if value > T::zero() { value } else { value * T::from_f64(self.0) }
    }
}

#[derive(Clone, Copy)]
pub(super) struct Threshold {
    pub(super) limit: f64,
    pub(super) value: f64,
}

impl RealFunction for Threshold {
    fn at<T: Real>(&self, value: T) -> T {
        if value <= T::from_f64(self.limit) { T::from_f64(self.value) } else { value }
    }
}
