//! Special functions, and functions that bound or mix elements.

use crate::context::{Context, Expr};
use crate::derivative::{Derivative, RESULT, refused, row, same, zero};
use num_complex::Complex;
use std::f64::consts::{FRAC_1_SQRT_2, PI};
use tensor::{Scalar, View};
use value::Value;

pub(super) const ROWS: &[Derivative] = &[
    row("erf", "ErfBackward0").grad(0, &[0], |c| c.g() * (2.0 / PI.sqrt()) * bell(c.arg(0))),
    row("erfc", "ErfcBackward0").grad(0, &[0], |c| c.g() * (-2.0 / PI.sqrt()) * bell(c.arg(0))),
    row("erfinv", "ErfinvBackward0")
        .grad(0, &[RESULT], |c| c.g() * (PI.sqrt() / 2.0) * c.result().squared().call("exp", &[])),
    row("special.erfcx", "SpecialErfcxBackward0")
        .grad(0, &[0, RESULT], |c| c.g() * (c.arg(0) * c.result() * 2.0 - 2.0 / PI.sqrt())),
    row("special.entr", "SpecialEntrBackward0").grad(0, &[0], |c| c.g() * -(c.arg(0).call("log", &[]) + 1.0)),
    row("special.log_ndtr", "SpecialLogNdtrBackward0")
        .grad(0, &[0], |c| c.g() / (c.arg(0) * -FRAC_1_SQRT_2).call("special.erfcx", &[]) * (2.0 / PI).sqrt()),
    row("special.ndtri", "SpecialNdtriBackward0")
        .grad(0, &[RESULT], |c| c.g() * (2.0 * PI).sqrt() * (c.result().squared() / 2.0).call("exp", &[])),
    row("lgamma", "LgammaBackward0").grad(0, &[0], |c| c.g() * c.arg(0).call("digamma", &[])),
    row("digamma", "DigammaBackward0").grad(0, &[0], |c| c.g() * polygamma(1, c.arg(0))),
    // The function takes the order first, the method takes it last.
    row("polygamma", "PolygammaBackward0").grad(1, &[1], |c| c.g() * polygamma(c.int(0).saturating_add(1), c.arg(1))),
    row("polygamma.method", "PolygammaBackward0").grad(0, &[0], polygamma_method),
    row("polygamma_", "PolygammaBackward1").grad(0, &[0], polygamma_method),
    row("mvlgamma", "MvlgammaBackward0").grad(0, &[0], |c| {
        // The multivariate function is a sum of log-gamma functions at steps of one half.
        c.arg(0).and(|x| {
            let (count, dtype) = (c.int(1), x.borrow().dtype);
            let steps = View::from_scalars(&[count], dtype, (0..count).map(|k| Scalar::Float(k as f64 / 2.0)))?;
            let places = c.arg(0).call("unsqueeze", &[Value::Int(-1)]) - c.expr(Ok(steps.into()));
            Ok(c.g() * places.call("digamma", &[]).sum(&[-1], false))
        })
    }),
    row("i0", "I0Backward0").grad(0, &[0], |c| c.g() * c.arg(0).call("special.i1", &[])),
    row("special.i0e", "SpecialI0EBackward0").grad(0, &[0, RESULT], |c| {
        c.g() * (c.arg(0).call("special.i1e", &[]) - c.arg(0).call("sgn", &[]) * c.result())
    }),
    row("special.i1", "SpecialI1Backward0").grad(0, &[0, RESULT], |c| {
        let slope = c.arg(0).call("i0", &[]) - c.result() / c.arg(0);
        c.g() * half_at_zero(c, slope)
    }),
    row("special.i1e", "SpecialI1EBackward0").grad(0, &[0, RESULT], |c| {
        let scale = c.arg(0).call("sgn", &[]) + c.arg(0).call("reciprocal", &[]);
        let slope = c.arg(0).call("special.i0e", &[]) - c.result() * scale;
        c.g() * half_at_zero(c, slope)
    }),
    row("sinc", "SincBackward0").grad(0, &[0], |c| {
        let angle = c.arg(0) * PI;
        let square = c.arg(0) * c.arg(0) * PI;
        let slope = (angle.clone() * angle.call("cos", &[]) - angle.call("sin", &[])) / square.clone();
        let slope = c.g() * slope.conj();
        // Like in PyTorch, the slope is also 0 where the square underflows.
        c.expr(Ok(Value::Float(0.0))).or_where(&square.compare("eq", Value::Int(0)), slope)
    }),
    row("logit", "LogitBackward0").grad(0, &[0], |c| {
        let slope = c.g() / (c.arg(0) * (-c.arg(0) + 1.0));
        let (low, beyond) = match c.value(1).as_scalar() {
            Some(eps) => (eps.to_f64(), 0.0),
            None => (0.0, f64::NAN),
        };
        let (below, above) =
            (c.arg(0).compare("lt", Value::Float(low)), c.arg(0).compare("gt", Value::Float(1.0 - low)));
        c.expr(Ok(Value::Float(beyond))).or_where(&below.with("logical_or", &above, &[]), slope)
    }),
    row("special.xlog1py", "SpecialXlog1PyBackward0")
        .grad(0, &[0, 1], |c| {
            let nothing =
                c.arg(0).compare("eq", Value::Int(0)).with("logical_and", &c.arg(1).compare("le", Value::Int(-1)), &[]);
            (c.g() * c.arg(1).call("log1p", &[])).cleared(&nothing)
        })
        .grad(1, &[0, 1], per_shifted),
    row("special.xlog1py.self_scalar", "SpecialXlog1PyBackward1").grad(1, &[1], per_shifted),
    row("special.xlog1py.other_scalar", "SpecialXlog1PyBackward2").grad(0, &[0], |c| {
        let log = c.number(1).to_f64().ln_1p();
        let grad = c.g() * log;
        if log.is_finite() { grad } else { grad.cleared(&c.arg(0).compare("eq", Value::Int(0))) }
    }),
    row("special.zeta", "SpecialZetaBackward0").grad(0, &[], |c| refused(c, "zeta")).grad(1, &[0, 1], zeta),
    row("special.zeta.self_scalar", "SpecialZetaBackward1").grad(1, &[1], zeta),
    row("special.zeta.other_scalar", "SpecialZetaBackward2").grad(0, &[], |c| refused(c, "zeta")),
    row("igamma", "IgammaBackward0")
        .grad(0, &[], |c| refused(c, "igamma: input"))
        .grad(1, &[0, 1], |c| c.g() * gamma_density(c)),
    row("igammac", "IgammacBackward0")
        .grad(0, &[], |c| refused(c, "igammac: input"))
        .grad(1, &[0, 1], |c| -c.g() * gamma_density(c)),
    row("nextafter", "NextafterBackward0")
        .grad(0, &[], |c| refused(c, "nextafter"))
        .grad(1, &[], |c| refused(c, "nextafter")),
    row("angle", "AngleBackward0").grad(0, &[0], |c| {
        if !c.arg(0).is_complex() {
            return zero(c);
        }
        let turned = c.arg(0) / c.arg(0).call("abs", &[]).squared() * imaginary(c);
        c.expr(Ok(Value::Float(0.0))).or_where(&c.arg(0).compare("eq", Value::Int(0)), c.g() * turned)
    }),
    row("complex", "ComplexBackward0")
        .grad(0, &[], |c| c.g().call("real", &[]))
        .grad(1, &[], |c| c.g().call("imag", &[])),
    row("polar", "PolarBackward0")
        .grad(0, &[RESULT], |c| (c.g().conj() * c.result().call("sgn", &[])).call("real", &[]))
        .grad(1, &[RESULT], |c| (c.g().conj() * (c.result() * imaginary(c))).call("real", &[])),
    row("frexp.Tensor", "FrexpBackward0").grad(0, &[RESULT], |c| c.g() / c.result_at(1).call("exp2", &[])),
    row("nan_to_num", "NanToNumBackward0").grad(0, &[0], |c| c.g() * c.arg(0).call("isfinite", &[])),
    row("clamp", "ClampBackward1").grad(0, &[0], |c| {
        let within = |index: usize, key: &str| match c.value(index) {
            Value::None => None,
            bound => Some(c.arg(0).compare(key, bound)),
        };
        let masks = [within(1, "ge"), within(2, "le")];
        masks.into_iter().flatten().reduce(both).map_or_else(|| c.g(), |within| only_where(c, within))
    }),
    row("clamp.Tensor", "ClampBackward0")
        .grad(0, &[0, 1, 2], |c| {
            let within = |index: usize, key: &str| is_given(c, index).then(|| c.arg(0).with(key, &c.arg(index), &[]));
            let masks = [within(1, "ge"), within(2, "le")];
            masks.into_iter().flatten().reduce(both).map_or_else(|| c.g(), |within| only_where(c, within))
        })
        .grad(1, &[0, 1, 2], |c| {
            let below = c.arg(0).with("lt", &c.arg(1), &[]);
            only_where(c, if is_given(c, 2) { both(below, c.arg(1).with("lt", &c.arg(2), &[])) } else { below })
        })
        .grad(2, &[0, 1, 2], |c| {
            let above = c.arg(0).with("gt", &c.arg(2), &[]);
            only_where(c, if is_given(c, 1) { either(above, c.arg(2).with("lt", &c.arg(1), &[])) } else { above })
        }),
    row("clamp_min", "ClampMinBackward0").grad(0, &[0], |c| only_where(c, c.arg(0).compare("ge", c.value(1)))),
    row("clamp_max", "ClampMaxBackward0").grad(0, &[0], |c| only_where(c, c.arg(0).compare("le", c.value(1)))),
    row("clamp_min.Tensor", "ClampMinBackward1")
        .grad(0, &[0, 1], |c| only_where(c, c.arg(0).with("ge", &c.arg(1), &[])))
        .grad(1, &[0, 1], |c| only_where(c, c.arg(0).with("lt", &c.arg(1), &[]))),
    row("clamp_max.Tensor", "ClampMaxBackward1")
        .grad(0, &[0, 1], |c| only_where(c, c.arg(0).with("le", &c.arg(1), &[])))
        .grad(1, &[0, 1], |c| only_where(c, c.arg(0).with("gt", &c.arg(1), &[]))),
    row("lerp.Scalar", "LerpBackward0")
        .grad(0, &[], |c| {
            let rest = match c.number(2) {
                Scalar::Complex(weight) => Value::Complex(1.0 - weight),
                weight => Value::Float(1.0 - weight.to_f64()),
            };
            c.g().scaled(c.expr(Ok(rest)))
        })
        .grad(1, &[], |c| c.g().scaled(c.arg(2))),
    row("lerp.Tensor", "LerpBackward1")
        .grad(0, &[2], |c| c.g() * (-c.arg(2) + 1.0).conj())
        .grad(1, &[2], |c| c.g() * c.arg(2).conj())
        .grad(2, &[0, 1], |c| c.g() * (c.arg(1) - c.arg(0)).conj()),
    row("addcmul", "AddcmulBackward0")
        .grad(0, &[], same)
        .grad(1, &[2], |c| (c.g() * c.arg(2).conj()).scaled(c.arg(3)))
        .grad(2, &[1], |c| (c.g() * c.arg(1).conj()).scaled(c.arg(3))),
    row("addcdiv", "AddcdivBackward0")
        .grad(0, &[], same)
        .grad(1, &[2], |c| (c.g() / c.arg(2).conj()).scaled(c.arg(3)))
        .grad(2, &[1, 2], |c| (-c.g() * (c.arg(1) / c.arg(2).squared()).conj()).scaled(c.arg(3))),
];

/// Computes `exp(-x²)`.
fn bell(x: Expr<'_>) -> Expr<'_> {
    (-x.squared()).call("exp", &[])
}

fn polygamma(order: i64, x: Expr<'_>) -> Expr<'_> {
    Expr { functions: x.functions, value: Ok(Value::Int(order)) }.with("polygamma", &x, &[])
}

fn polygamma_method<'a>(c: &Context<'a>) -> Expr<'a> {
    c.g() * polygamma(c.int(1).saturating_add(1), c.arg(0))
}

/// Replaces a slope that divides by x with one half where x is 0.
fn half_at_zero<'a>(c: &Context<'a>, slope: Expr<'a>) -> Expr<'a> {
    let tiny = c.arg(0).call("abs", &[]).compare("le", Value::Float(f64::EPSILON));
    slope.with("masked_fill.Scalar", &tiny, &[Value::Float(0.5)])
}

fn per_shifted<'a>(c: &Context<'a>) -> Expr<'a> {
    c.g() * c.arg(0) / (c.arg(1) + 1.0)
}

/// The gradient of the Hurwitz zeta function by its second argument.
fn zeta<'a>(c: &Context<'a>) -> Expr<'a> {
    let next = match c.arg(0).value {
        Ok(Value::Tensor(_)) => (c.arg(0) + 1.0).with("special.zeta", &c.arg(1), &[]),
        _ => {
            let order = c.expr(Ok(Value::Float(c.number(0).to_f64() + 1.0)));
            order.with("special.zeta.self_scalar", &c.arg(1), &[])
        }
    };
    -c.g() * (next * c.arg(0))
}

/// Computes the density of the gamma distribution.
fn gamma_density<'a>(c: &Context<'a>) -> Expr<'a> {
    let (shape, at) = (c.arg(0), c.arg(1));
    ((shape.clone() - 1.0) * at.call("log", &[]) - at - shape.call("lgamma", &[])).call("exp", &[])
}

fn imaginary<'a>(c: &Context<'a>) -> Expr<'a> {
    c.expr(Ok(Value::Complex(Complex::i())))
}

fn either<'a>(mask: Expr<'a>, other: Expr<'a>) -> Expr<'a> {
    mask.with("logical_or", &other, &[])
}

fn both<'a>(mask: Expr<'a>, other: Expr<'a>) -> Expr<'a> {
    mask.with("logical_and", &other, &[])
}

/// Keeps the gradient where the mask is true. Comparisons with NaN are false, so NaN elements get zero.
fn only_where<'a>(c: &Context<'a>, mask: Expr<'a>) -> Expr<'a> {
    c.g().or_where(&mask, c.expr(Ok(Value::Float(0.0))))
}

fn is_given(c: &Context, index: usize) -> bool {
    c.shape(index).is_ok()
}
