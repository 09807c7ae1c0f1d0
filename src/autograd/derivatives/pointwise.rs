//! Elementwise operations.

use crate::context::{Context, Expr};
use crate::derivative::{Derivative, RESULT, row, same, zero};
use std::f64::consts::{LN_2, LN_10, PI};
use tensor::Scalar;
use value::Value;

pub(super) const ROWS: &[Derivative] = &[
    row("add.Tensor", "AddBackward0").grad(0, &[], same).grad(1, &[], |c| c.g().scaled(c.arg(2))),
    row("sub.Tensor", "SubBackward0").grad(0, &[], same).grad(1, &[], |c| (-c.g()).scaled(c.arg(2))),
    row("rsub.Tensor", "RsubBackward0").grad(0, &[], |c| (-c.g()).scaled(c.arg(2))).grad(1, &[], same),
    row("rsub.Tensor.number", "RsubBackward1").grad(0, &[], |c| (-c.g()).scaled(c.arg(2))),
    // Operations with a number, which other functions use internally.
    row("mul.Scalar", "MulBackward1").grad(0, &[], |c| c.g().scaled(c.arg(1))),
    row("div.Scalar", "DivBackward1").grad(0, &[], |c| c.g().call("div.Scalar", &[c.value(1)])),
    row("add.Number", "AddBackward1").grad(0, &[], same),
    row("sub.Number", "SubBackward1").grad(0, &[], same),
    row("mul", "MulBackward0").grad(0, &[1], |c| c.g() * c.arg(1).conj()).grad(1, &[0], |c| c.g() * c.arg(0).conj()),
    row("div.Tensor", "DivBackward0")
        .grad(0, &[1], |c| c.g() / c.arg(1).conj())
        .grad(1, &[0, 1], |c| -c.g() * ((c.arg(0) / c.arg(1)) / c.arg(1)).conj()),
    row("div.Tensor_mode", "DivBackward2").grad(0, &[], zero).grad(1, &[], zero),
    row("pow.Tensor_Scalar", "PowBackward0").grad(0, &[0], power_of_number),
    row("pow.Tensor_Tensor", "PowBackward1").grad(0, &[0, 1], power_base).grad(1, &[0, 1, RESULT], power_exponent),
    row("pow.Scalar", "PowBackward2").grad(1, &[1, RESULT], power_of_exponent),
    row("remainder", "RemainderBackward1")
        .grad(0, &[], same)
        .grad(1, &[0, 1], |c| -c.g() * c.arg(0).with("div.Tensor_mode", &c.arg(1), &[Value::str("floor")])),
    row("remainder.number", "RemainderBackward0").grad(0, &[], same),
    row("fmod", "FmodBackward1")
        .grad(0, &[], same)
        .grad(1, &[0, 1], |c| -c.g() * c.arg(0).with("div.Tensor_mode", &c.arg(1), &[Value::str("trunc")])),
    row("fmod.number", "FmodBackward0").grad(0, &[], same),
    row("atan2", "Atan2Backward0")
        .grad(0, &[0, 1], |c| c.g() * c.arg(1) * inverse_square(c))
        .grad(1, &[0, 1], |c| c.g() * -c.arg(0) * inverse_square(c)),
    row("hypot", "HypotBackward0").grad(0, &[0, RESULT], |c| c.g() * c.arg(0) / c.result()).grad(
        1,
        &[1, RESULT],
        |c| c.g() * c.arg(1) / c.result(),
    ),
    row("copysign", "CopysignBackward0").grad(0, &[0, RESULT], resigned).grad(1, &[], zero),
    row("copysign.number", "CopysignBackward1").grad(0, &[0, RESULT], resigned),
    row("xlogy", "XlogyBackward0")
        .grad(0, &[0, 1], |c| (c.g() * c.arg(1).call("log", &[])).cleared(&nothing_times_log(c)))
        .grad(1, &[0, 1], |c| c.g() * c.arg(0) / c.arg(1)),
    row("xlogy.number_first", "XlogyBackward1").grad(1, &[1], |c| c.g() * c.arg(0) / c.arg(1)),
    row("xlogy.number", "XlogyBackward2").grad(0, &[0], |c| {
        let log = c.number(1).to_f64().ln();
        let grad = c.g() * log;
        if log.is_finite() { grad } else { grad.cleared(&c.arg(0).compare("eq", Value::Int(0))) }
    }),
    row("maximum", "MaximumBackward0").grad(0, &[0, 1], |c| chosen(c, "lt")).grad(1, &[0, 1], |c| chosen(c, "gt")),
    row("minimum", "MinimumBackward0").grad(0, &[0, 1], |c| chosen(c, "gt")).grad(1, &[0, 1], |c| chosen(c, "lt")),
    row("fmax", "FmaxBackward0")
        .grad(0, &[0, 1], |c| c.g().cleared(&first_wins(c, "ge").call("logical_not", &[])))
        .grad(1, &[0, 1], |c| c.g().cleared(&first_wins(c, "ge"))),
    row("fmin", "FminBackward0")
        .grad(0, &[0, 1], |c| c.g().cleared(&first_wins(c, "le").call("logical_not", &[])))
        .grad(1, &[0, 1], |c| c.g().cleared(&first_wins(c, "le"))),
    row("logaddexp", "LogaddexpBackward0")
        .grad(0, &[0, 1], |c| c.g() / ((c.arg(1) - c.arg(0)).call("exp", &[]) + 1.0))
        .grad(1, &[0, 1], |c| c.g() / ((c.arg(0) - c.arg(1)).call("exp", &[]) + 1.0)),
    row("logaddexp2", "Logaddexp2Backward0")
        .grad(0, &[0, 1], |c| c.g() / ((c.arg(1) - c.arg(0)).call("exp2", &[]) + 1.0))
        .grad(1, &[0, 1], |c| c.g() / ((c.arg(0) - c.arg(1)).call("exp2", &[]) + 1.0)),
    // In-place comparisons, which overwrite their operand.
    row("eq_", "EqBackward1").grad(0, &[], zero).grad(1, &[], zero),
    row("eq_.number", "EqBackward0").grad(0, &[], zero),
    row("ne_", "NeBackward1").grad(0, &[], zero).grad(1, &[], zero),
    row("ne_.number", "NeBackward0").grad(0, &[], zero),
    row("lt_", "LtBackward1").grad(0, &[], zero).grad(1, &[], zero),
    row("lt_.number", "LtBackward0").grad(0, &[], zero),
    row("le_", "LeBackward1").grad(0, &[], zero).grad(1, &[], zero),
    row("le_.number", "LeBackward0").grad(0, &[], zero),
    row("gt_", "GtBackward1").grad(0, &[], zero).grad(1, &[], zero),
    row("gt_.number", "GtBackward0").grad(0, &[], zero),
    row("ge_", "GeBackward1").grad(0, &[], zero).grad(1, &[], zero),
    row("ge_.number", "GeBackward0").grad(0, &[], zero),
    row("neg", "NegBackward0").grad(0, &[], |c| -c.g()),
    row("abs", "AbsBackward0").grad(0, &[0], |c| c.g() * c.arg(0).call("sgn", &[])),
    row("sgn", "SgnBackward0").grad(0, &[0], direction),
    row("sign", "SignBackward0").grad(0, &[], zero),
    row("floor", "FloorBackward0").grad(0, &[], zero),
    row("ceil", "CeilBackward0").grad(0, &[], zero),
    row("round", "RoundBackward0").grad(0, &[], zero),
    row("round.decimals", "RoundBackward1").grad(0, &[], zero),
    row("trunc", "TruncBackward0").grad(0, &[], zero),
    row("frac", "FracBackward0").grad(0, &[], same),
    row("exp", "ExpBackward0").grad(0, &[RESULT], |c| c.g() * c.result().conj()),
    row("exp2", "Exp2Backward0").grad(0, &[RESULT], |c| c.g() * c.result().conj() * LN_2),
    row("expm1", "Expm1Backward0").grad(0, &[RESULT], |c| c.g() * (c.result().conj() + 1.0)),
    row("log", "LogBackward0").grad(0, &[0], |c| c.g() / c.arg(0).conj()),
    row("log2", "Log2Backward0").grad(0, &[0], |c| c.g() / (c.arg(0).conj() * LN_2)),
    row("log10", "Log10Backward0").grad(0, &[0], |c| c.g() / (c.arg(0).conj() * LN_10)),
    row("log1p", "Log1PBackward0").grad(0, &[0], |c| c.g() / (c.arg(0) + 1.0).conj()),
    row("sqrt", "SqrtBackward0").grad(0, &[RESULT], |c| c.g() / (c.result().conj() * 2.0)),
    row("rsqrt", "RsqrtBackward0").grad(0, &[RESULT], |c| c.g() * -0.5 * c.result().pow(Value::Int(3)).conj()),
    row("reciprocal", "ReciprocalBackward0").grad(0, &[RESULT], |c| -c.g() * c.result().squared().conj()),
    row("sin", "SinBackward0").grad(0, &[0], |c| c.g() * c.arg(0).call("cos", &[]).conj()),
    row("cos", "CosBackward0").grad(0, &[0], |c| c.g() * -c.arg(0).call("sin", &[]).conj()),
    row("tan", "TanBackward0").grad(0, &[RESULT], |c| c.g() * (c.result().squared() + 1.0).conj()),
    row("asin", "AsinBackward0").grad(0, &[0], |c| c.g() * (-c.arg(0).squared() + 1.0).call("rsqrt", &[]).conj()),
    row("acos", "AcosBackward0").grad(0, &[0], |c| c.g() * -(-c.arg(0).squared() + 1.0).call("rsqrt", &[]).conj()),
    row("atan", "AtanBackward0").grad(0, &[0], |c| c.g() / (c.arg(0).squared() + 1.0).conj()),
    row("sinh", "SinhBackward0").grad(0, &[0], |c| c.g() * c.arg(0).call("cosh", &[]).conj()),
    row("cosh", "CoshBackward0").grad(0, &[0], |c| c.g() * c.arg(0).call("sinh", &[]).conj()),
    row("asinh", "AsinhBackward0").grad(0, &[0], |c| c.g() * (c.arg(0).squared() + 1.0).call("rsqrt", &[]).conj()),
    row("acosh", "AcoshBackward0").grad(0, &[0], acosh),
    row("acosh_", "AcoshBackward1").grad(0, &[0], acosh),
    row("atanh", "AtanhBackward0").grad(0, &[0], |c| c.g() / (-c.arg(0).squared() + 1.0).conj()),
    row("deg2rad", "Deg2RadBackward0").grad(0, &[], |c| c.g() * (PI / 180.0)),
    row("rad2deg", "Rad2DegBackward0").grad(0, &[], |c| c.g() * (180.0 / PI)),
    row("conj_physical", "ConjPhysicalBackward0").grad(0, &[], |c| c.g().call("conj_physical", &[])),
    row("conj_physical_", "ConjPhysicalBackward1").grad(0, &[], |c| c.g().call("conj_physical", &[])),
];

fn acosh<'a>(c: &Context<'a>) -> Expr<'a> {
    let root = if c.arg(0).is_complex() {
        (c.arg(0) - 1.0).call("rsqrt", &[]) * (c.arg(0) + 1.0).call("rsqrt", &[])
    } else {
        (c.arg(0).squared() - 1.0).call("rsqrt", &[])
    };
    c.g() * root.conj()
}

fn power_of_number<'a>(c: &Context<'a>) -> Expr<'a> {
    let exponent = c.number(1);
    if exponent.to_complex() == Scalar::Int(0).to_complex() {
        return zero(c);
    }
    let less = match exponent {
        Scalar::Int(i) => Value::Int(i.wrapping_sub(1)),
        Scalar::Complex(z) => Value::Complex(z - 1.0),
        other => Value::Float(other.to_f64() - 1.0),
    };
    c.g() * (c.arg(0).pow(less) * c.arg(1)).conj()
}

fn power_base<'a>(c: &Context<'a>) -> Expr<'a> {
    let lower = c.arg(0).with("pow.Tensor_Tensor", &(c.arg(1) - 1.0), &[]);
    let none = c.arg(1).compare("eq", Value::Int(0));
    c.expr(Ok(Value::Float(0.0))).or_where(&none, c.g() * (c.arg(1) * lower).conj())
}

/// Returns where the exponent is a real number that is not negative. A power of 0 is constant there.
fn keeps_zero<'a>(exponent: Expr<'a>) -> Expr<'a> {
    if !exponent.is_complex() {
        return exponent.compare("ge", Value::Int(0));
    }
    let is_real = exponent.call("imag", &[]).compare("eq", Value::Int(0));
    is_real.with("logical_and", &exponent.call("real", &[]).compare("ge", Value::Int(0)), &[])
}

fn power_exponent<'a>(c: &Context<'a>) -> Expr<'a> {
    let vanishes = c.arg(0).compare("eq", Value::Int(0)).with("logical_and", &keeps_zero(c.arg(1)), &[]);
    // The logarithm of a negative base is complex if the power is.
    let base = c.result().and(|result| Ok(c.arg(0).call("to.dtype", &[Value::DType(result.borrow().dtype)])));
    c.g() * (c.result() * base.call("log", &[])).conj().cleared(&vanishes)
}

fn power_of_exponent<'a>(c: &Context<'a>) -> Expr<'a> {
    let base = c.number(0);
    let log = match base {
        Scalar::Complex(z) => Value::Complex(z.ln()),
        real if c.arg(1).is_complex() => Value::Complex(real.to_complex().ln()),
        real => Value::Float(real.to_f64().ln()),
    };
    let slope = (c.result() * c.expr(Ok(log))).conj();
    if base.to_complex() == Scalar::Int(0).to_complex() {
        return c.g() * slope.cleared(&keeps_zero(c.arg(1)));
    }
    c.g() * slope
}

/// Computes `1 / (x² + y²)`, and 0 at the origin.
fn inverse_square<'a>(c: &Context<'a>) -> Expr<'a> {
    let square = c.arg(0).squared() + c.arg(1).squared();
    let origin = square.compare("eq", Value::Int(0));
    square.call("reciprocal", &[]).cleared(&origin)
}

fn resigned<'a>(c: &Context<'a>) -> Expr<'a> {
    let ratio = (c.result() / c.arg(0)).cleared(&c.arg(0).compare("eq", Value::Int(0)));
    c.g() * ratio
}

fn nothing_times_log<'a>(c: &Context<'a>) -> Expr<'a> {
    c.arg(0).compare("eq", Value::Int(0)).with("logical_and", &c.arg(1).compare("le", Value::Int(0)), &[])
}

/// The gradient where this argument was chosen. Equal arguments get half of it each.
fn chosen<'a>(c: &Context<'a>, loses: &str) -> Expr<'a> {
    let (equal, lost) = (c.arg(0).with("eq", &c.arg(1), &[]), c.arg(0).with(loses, &c.arg(1), &[]));
    (c.g() / 2.0).or_where(&equal, c.g()).cleared(&lost)
}

fn first_wins<'a>(c: &Context<'a>, compare: &str) -> Expr<'a> {
    c.arg(0).with(compare, &c.arg(1), &[]).with("logical_or", &c.arg(1).call("isnan", &[]), &[])
}

/// The gradient of `sgn`. Only a rotation of a complex number changes its sign.
fn direction<'a>(c: &Context<'a>) -> Expr<'a> {
    if !c.arg(0).is_complex() {
        return zero(c);
    }
    let (length, sign) = (c.arg(0).call("abs", &[]), c.arg(0).call("sgn", &[]));
    let grad = c.g() / length.clone();
    let along = (grad.clone() / sign.clone()).call("real", &[]);
    (grad - along * sign).cleared(&length.compare("eq", Value::Int(0)))
}
