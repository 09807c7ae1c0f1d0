//! `torch.special`: its own functions, and its aliases of functions of `torch`. Follows
//! <https://pytorch.org/docs/2.7/special.html>.

use super::pointwise::{Argument, default, result};
use super::statistics::softmax;
use call::facets::{Lies, NameInference::Keeps, Out, Repeats, Shares};
use call::reads::{EACH, Reads, Span, Takes};
use call::{Call, Row, function};
use tensor::ops::pointwise::{self as ops, BinaryOp, UnaryOp};
use tensor::ops::promote::Operand;
use tensor::ops::softmax::Softmax;
use tensor::{Result, Scalar};
use value::Value;

pub(crate) const ROWS: &[Row] = &[
    function(
        "special.ndtr(Tensor self, *, Tensor? out=None) -> Tensor",
        ndtr,
        "Computes the probability that a normal variable is smaller.",
    )
    .out(Out::ELEMENTWISE.repeating(Repeats::RefusedResized).sharing(Shares::Allowed).lying(Lies::InRows))
    .operation("mul.Scalar")
    .out_refused_as("mul.Scalar"),
    function(
        "special.xlogy(Tensor input, Tensor other, *, Tensor? out=None) -> Tensor",
        |c| binary(c, BinaryOp::Xlogy),
        "Multiplies x by the logarithm of y.",
    )
    .out(Out::ELEMENTWISE)
    .operation("xlogy.Tensor")
    .out_refused_as("xlogy.OutTensor")
    .derivative_of("xlogy"),
    function(
        "special.xlogy.self_scalar(Scalar self, Tensor other, *, Tensor? out=None) -> Tensor",
        |c| binary(c, BinaryOp::Xlogy),
        "Multiplies x by the logarithm of y.",
    )
    .out(Out::ELEMENTWISE)
    .operation("xlogy.Scalar_Self")
    .out_refused_as("xlogy.OutScalar_Self")
    .derivative_of("xlogy.number_first"),
    function(
        "special.xlogy.other_scalar(Tensor input, Scalar other, *, Tensor? out=None) -> Tensor",
        |c| binary(c, BinaryOp::Xlogy),
        "Multiplies x by the logarithm of y.",
    )
    .out(Out::ELEMENTWISE)
    .operation("xlogy.Scalar_Other")
    .out_refused_as("xlogy.OutScalar_Other")
    .derivative_of("xlogy.number"),
    function(
        "special.softmax(Tensor input, int dim, *, ScalarType? dtype=None) -> Tensor",
        |c| softmax(c, Softmax::Plain, 1, 2),
        "Computes each exponential's share of their sum.",
    )
    .reads(Reads::Spanned(Span::Line, Takes::All))
    .names(Keeps)
    .derivative_of("softmax.int"),
    function(
        "special.log_softmax(Tensor input, int dim, *, ScalarType? dtype=None) -> Tensor",
        |c| softmax(c, Softmax::Log, 1, 2),
        "Computes the logarithm of each exponential's share of their sum.",
    )
    .reads(Reads::Spanned(Span::Line, Takes::All))
    .names(Keeps)
    .derivative_of("log_softmax.int"),
];

macro_rules! unary_rows {
    ($($name:literal $op:ident $doc:literal $([$($facets:tt)*])?;)*) => {
        pub(crate) const UNARY: &[Row] = &[$(
            function(concat!("special.", $name, "(Tensor self, *, Tensor? out=None) -> Tensor"), |c| unary(c, UnaryOp::$op), $doc)
                .out(Out::ELEMENTWISE)
                .reads(EACH)
                $($($facets)*)?,
        )*];
    };
}

/// Declares three overloads of each function: either operand may be a number, but not both. `$first_number` and
/// `$second_number` are the suffixes of PyTorch's names for the last two.
macro_rules! binary_rows {
    ($table:ident $first:literal $number:literal $second:literal $first_number:literal $second_number:literal: $($name:literal $op:ident $doc:literal $([$($facets:tt)*])?;)*) => {
        pub(crate) const $table: &[Row] = &[$(
            function(concat!("special.", $name, "(Tensor ", $first, ", Tensor ", $second, ", *, Tensor? out=None) -> Tensor"), |c| binary(c, BinaryOp::$op), $doc)
                .out(Out::ELEMENTWISE)
                .reads(EACH)
                $($($facets)*)?,
            function(concat!("special.", $name, ".self_scalar(Scalar ", $number, ", Tensor ", $second, ", *, Tensor? out=None) -> Tensor"), |c| binary(c, BinaryOp::$op), $doc)
                .out(Out::ELEMENTWISE)
                .reads(EACH)
                .operation(concat!("special_", $name, ".", $first_number))
                $($($facets)*)?,
            function(concat!("special.", $name, ".other_scalar(Tensor ", $first, ", Scalar ", $second, ", *, Tensor? out=None) -> Tensor"), |c| binary(c, BinaryOp::$op), $doc)
                .out(Out::ELEMENTWISE)
                .reads(EACH)
                .operation(concat!("special_", $name, ".", $second_number))
                $($($facets)*)?,
        )*];
    };
}

unary_rows! {
    "erfcx" Erfcx "Computes the scaled complement of the error function.";
    "entr" Entr "Computes the entropy of each element.";
    "i0e" I0e "Computes the modified Bessel function of order 0, scaled.";
    "i1" I1 "Computes the modified Bessel function of order 1.";
    "i1e" I1e "Computes the modified Bessel function of order 1, scaled.";
    "ndtri" Ndtri "Computes the quantile of the normal distribution.";
    "log_ndtr" LogNdtr "Computes the logarithm of the probability that a normal variable is smaller.";
    "airy_ai" AiryAi "Computes the Airy function." [.not_differentiable()];
    "bessel_j0" BesselJ0 "Computes the Bessel function of the first kind, of order 0." [.not_differentiable()];
    "bessel_j1" BesselJ1 "Computes the Bessel function of the first kind, of order 1." [.not_differentiable()];
    "bessel_y0" BesselY0 "Computes the Bessel function of the second kind, of order 0." [.not_differentiable()];
    "bessel_y1" BesselY1 "Computes the Bessel function of the second kind, of order 1." [.not_differentiable()];
    "modified_bessel_i0" ModifiedBesselI0 "Computes the modified Bessel function of the first kind, of order 0." [.not_differentiable()];
    "modified_bessel_i1" ModifiedBesselI1 "Computes the modified Bessel function of the first kind, of order 1." [.not_differentiable()];
    "modified_bessel_k0" ModifiedBesselK0 "Computes the modified Bessel function of the second kind, of order 0." [.not_differentiable()];
    "modified_bessel_k1" ModifiedBesselK1 "Computes the modified Bessel function of the second kind, of order 1." [.not_differentiable()];
    "scaled_modified_bessel_k0" ScaledModifiedBesselK0 "Computes the modified Bessel function of the second kind, of order 0, scaled." [.not_differentiable()];
    "scaled_modified_bessel_k1" ScaledModifiedBesselK1 "Computes the modified Bessel function of the second kind, of order 1, scaled." [.not_differentiable()];
    "spherical_bessel_j0" SphericalBesselJ0 "Computes the spherical Bessel function of order 0." [.not_differentiable()];
}

binary_rows! { BINARY "input" "self" "other" "self_scalar" "other_scalar":
    "xlog1py" Xlog1py "Multiplies x by the logarithm of one plus y.";
    "zeta" Zeta "Computes the Hurwitz zeta function.";
}

binary_rows! { POLYNOMIALS "x" "x" "n" "x_scalar" "n_scalar":
    "chebyshev_polynomial_t" ChebyshevT "Computes the Chebyshev polynomial of the first kind." [.not_differentiable()];
    "chebyshev_polynomial_u" ChebyshevU "Computes the Chebyshev polynomial of the second kind." [.not_differentiable()];
    "chebyshev_polynomial_v" ChebyshevV "Computes the Chebyshev polynomial of the third kind." [.not_differentiable()];
    "chebyshev_polynomial_w" ChebyshevW "Computes the Chebyshev polynomial of the fourth kind." [.not_differentiable()];
    "shifted_chebyshev_polynomial_t" ShiftedChebyshevT "Computes the shifted Chebyshev polynomial of the first kind." [.not_differentiable()];
    "shifted_chebyshev_polynomial_u" ShiftedChebyshevU "Computes the shifted Chebyshev polynomial of the second kind." [.not_differentiable()];
    "shifted_chebyshev_polynomial_v" ShiftedChebyshevV "Computes the shifted Chebyshev polynomial of the third kind." [.not_differentiable()];
    "shifted_chebyshev_polynomial_w" ShiftedChebyshevW "Computes the shifted Chebyshev polynomial of the fourth kind." [.not_differentiable()];
    "hermite_polynomial_h" HermiteH "Computes the physicist's Hermite polynomial." [.not_differentiable()];
    "hermite_polynomial_he" HermiteHe "Computes the probabilist's Hermite polynomial." [.not_differentiable()];
    "laguerre_polynomial_l" LaguerreL "Computes the Laguerre polynomial." [.not_differentiable()];
    "legendre_polynomial_p" LegendreP "Computes the Legendre polynomial." [.not_differentiable()];
}

fn unary(call: &mut Call, op: UnaryOp) -> Result<Value> {
    let view = call.view(0)?;
    result(call, |output| ops::unary(op, &view, output, default(call)))
}

fn binary(call: &mut Call, op: BinaryOp) -> Result<Value> {
    let (a, b) = (Argument::of(call, 0)?, Argument::of(call, 1)?);
    result(call, |output| ops::binary(op, a.operand(), b.operand(), output, default(call)))
}

/// Computes `(1 + erf(x / sqrt(2))) / 2` in the same steps as PyTorch.
fn ndtr(call: &mut Call) -> Result<Value> {
    let (view, default) = (call.view(0)?, default(call));
    let number = |value: f64| Operand::Number(Scalar::Float(value));
    let new = ops::Output::New;
    let scaled = ops::binary(BinaryOp::Mul, (&view).into(), number(std::f64::consts::FRAC_1_SQRT_2), new, default)?;
    let erf = ops::unary(UnaryOp::Erf, &scaled, new, default)?;
    let above = ops::binary(BinaryOp::Add, (&erf).into(), number(1.0), new, default)?;
    ops::binary(BinaryOp::Mul, (&above).into(), number(0.5), new, default).map(Value::from)
}
