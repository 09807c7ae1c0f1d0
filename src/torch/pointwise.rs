//! Elementwise operations. Follows <https://pytorch.org/docs/2.7/torch.html#pointwise-ops>.

use super::quantized;
use super::sparse_arithmetic;
use call::facets::{
    Dispatch::{Coalesced, Given, Missing, Numbers, Own, Refused, RequantizedOneScale, Split},
    NameInference::{Keeps, Unifies},
    ONE_SCALE, Out, Repeats, Takes,
};
use call::reads::{CHOOSES, COMPARES, EACH};
use call::{Call, Row, both, function, method};
use std::cell::Ref;
use tensor::bail;
use tensor::ops::compare::{self, CompareOp, Tolerance};
use tensor::ops::pointwise::{self as ops, BinaryOp, Output, Rounding, UnaryOp, classes};
use tensor::ops::promote::Operand;
use tensor::{DType, Error, Result, Scalar, View};
use value::Value;

/// An operand of a call.
pub(crate) enum Argument<'c> {
    Tensor(Ref<'c, View>),
    Number(Scalar),
}

impl<'c> Argument<'c> {
    /// Returns the tensor or number at a position of the call.
    pub(crate) fn of(call: &'c Call, index: usize) -> Result<Argument<'c>> {
        match call.args.get(index) {
            Some(Value::Tensor(tensor)) => Ok(Argument::Tensor(tensor.borrow())),
            _ => call.scalar(index).map(Argument::Number),
        }
    }

    pub(crate) fn operand(&self) -> Operand<'_> {
        match self {
            Argument::Tensor(view) => Operand::Tensor(view),
            Argument::Number(scalar) => Operand::Number(*scalar),
        }
    }
}

pub(crate) const ROWS: &[Row] = &[
    both(
        "add.Tensor(Operand self, Operand other, *, Scalar alpha=1, Tensor? out=None) -> Tensor",
        |c| scaled(c, ops::add),
        "Adds the second operand, scaled by alpha.",
    )
    .reads(EACH)
    .orders(&["self alpha other"])
    .out(Out::ELEMENTWISE)
    .names(Unifies)
    .sparse(Own(sparse_arithmetic::add))
    .quantized(Own(quantized::add)),
    method(
        "add_.Tensor(Tensor(a!) self, Operand other, *, Scalar alpha=1) -> Tensor(a!)",
        |c| scaled(c, ops::add),
        "Adds the second operand, in place.",
    )
    .reads(EACH)
    .orders(&["self alpha other"])
    .names(Unifies)
    .sparse(Own(sparse_arithmetic::add)),
    both(
        "sub.Tensor(Operand self, Operand other, *, Scalar alpha=1, Tensor? out=None) -> Tensor",
        |c| scaled(c, ops::sub),
        "Subtracts the second operand, scaled by alpha.",
    )
    .reads(EACH)
    .orders(&["self alpha other"])
    .aliases(&[
        "subtract.Tensor(Operand self, Operand other, *, Scalar alpha=1, Tensor? out=None) -> Tensor",
        "subtract.Scalar(Operand self, Scalar other, Scalar alpha=1) -> Tensor",
    ])
    .out(Out::ELEMENTWISE)
    .names(Unifies)
    .sparse(Own(sparse_arithmetic::sub))
    .quantized(Own(quantized::sub)),
    method(
        "sub_.Tensor(Tensor(a!) self, Operand other, *, Scalar alpha=1) -> Tensor(a!)",
        |c| scaled(c, ops::sub),
        "Subtracts the second operand, in place.",
    )
    .reads(EACH)
    .orders(&["self alpha other"])
    .aliases(&[
        "subtract_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)",
        "subtract_.Scalar(Tensor(a!) self, Scalar other, Scalar alpha=1) -> Tensor(a!)",
    ])
    .names(Unifies)
    .sparse(Own(sparse_arithmetic::sub)),
    both(
        "rsub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
        |c| scaled(c, ops::rsub),
        "Subtracts with the operands swapped.",
    )
    .reads(EACH)
    .aliases(&["rsub.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor"])
    .names(Unifies),
    both(
        "div.Tensor(Operand self, Operand other, *, Tensor? out=None) -> Tensor",
        |c| divide(c, None),
        "Divides by the second operand.",
    )
    .reads(EACH)
    .out(Out::ELEMENTWISE)
    .aliases(&[
        "divide.Tensor(Operand self, EitherNew other, *, Tensor? out=None) -> Tensor",
        "true_divide.Tensor(Operand self, EitherNew other, *, Tensor? out=None) -> Tensor",
    ])
    .names(Unifies)
    .sparse(Own(sparse_arithmetic::divide))
    .quantized(Own(quantized::div)),
    both(
        "div.Tensor_mode(Operand self, EitherNew other, *, str? rounding_mode, Tensor? out=None) -> Tensor",
        |c| {
            let mode = rounding(c, 2)?;
            divide(c, mode)
        },
        "Divides by the second operand, rounding if asked.",
    )
    .reads(EACH)
    .out(Out::ELEMENTWISE)
    .aliases(&["divide"])
    .out_refused_as("div.out_mode")
    .sparse(Own(sparse_arithmetic::divide)),
    method(
        "div_.Tensor(Tensor(a!) self, Operand other) -> Tensor(a!)",
        |c| divide(c, None),
        "Divides by the second operand, in place.",
    )
    .reads(EACH)
    .aliases(&[
        "divide_.Tensor(Tensor(a!) self, Either other) -> Tensor(a!)",
        "true_divide_.Tensor(Tensor(a!) self, Either other) -> Tensor(a!)",
    ])
    .names(Unifies)
    .sparse(Own(sparse_arithmetic::divide)),
    method(
        "div_.Tensor_mode(Tensor(a!) self, Either other, *, str? rounding_mode) -> Tensor(a!)",
        |c| {
            let mode = rounding(c, 2)?;
            divide(c, mode)
        },
        "Divides by the second operand in place, rounding if asked.",
    )
    .aliases(&["divide_"])
    .sparse(Own(sparse_arithmetic::divide)),
    both(
        "pow.Tensor_Tensor(Tensor self, Tensor exponent, *, Tensor? out=None) -> Tensor",
        power,
        "Computes the power, element by element.",
    )
    .reads(EACH)
    .out(Out::ELEMENTWISE)
    .names(Unifies),
    function(
        "pow.Scalar(Scalar self, Tensor exponent, *, Tensor? out=None) -> Tensor",
        power,
        "Raises a number to the power of every element.",
    )
    .reads(EACH)
    .out(Out::ELEMENTWISE.repeating(Repeats::RefusedResized))
    .names(Keeps),
    both(
        "pow.Tensor_Scalar(Tensor self, Scalar exponent, *, Tensor? out=None) -> Tensor",
        power,
        "Raises every element to the power of a number.",
    )
    .reads(EACH)
    .out(Out::ELEMENTWISE)
    .names(Keeps)
    .sparse(Own(sparse_arithmetic::pow)),
    method("pow_.Tensor(Tensor(a!) self, Tensor exponent) -> Tensor(a!)", power, "Computes the power, in place.")
        .names(Unifies)
        .derivative_of("pow.Tensor_Tensor"),
    method("pow_.Scalar(Tensor(a!) self, Scalar exponent) -> Tensor(a!)", power, "Computes the power, in place.")
        .names(Keeps)
        .sparse(Split(&Refused("pow_.Scalar"), &Own(super::sparse_kernels::no_layout)))
        .derivative_of("pow.Tensor_Scalar"),
    both(
        "positive(Tensor self) -> Tensor",
        |c| match c.view(0)?.dtype {
            DType::Bool => bail!(RuntimeError, "The `+` operator, on a bool tensor is not supported."),
            _ => Ok(c.itself()),
        },
        "Returns the tensor itself.",
    )
    .reads(EACH)
    .names(Keeps)
    .sparse(Coalesced)
    .not_differentiable(),
    both(
        "conj_physical(Tensor self, *, Tensor? out=None) -> Tensor",
        |c| match c.view(0)?.dtype.is_complex() {
            true => ops::conj_physical(&c.view(0)?).map(Value::from),
            false => Ok(c.itself()),
        },
        "Computes the complex conjugate right away.",
    )
    .sparse(Given)
    .out(Out::UNCAST)
    .grad_refused_by_fallback()
    .names(Keeps)
    .aliases(&["_conj_physical"])
    .complex_refused_as("_conj_physical"),
    both(
        "allclose(Tensor self, Tensor other, float rtol=1e-05, float atol=1e-08, bool equal_nan=False) -> \
 bool",
        |c| compare::allclose(&c.view(0)?, &c.view(1)?, tolerance(c)?, default(c)).map(Value::Bool),
        "Returns whether all elements are close to each other.",
    ),
    both(
        "isclose(Tensor self, Tensor other, float rtol=1e-05, float atol=1e-08, bool equal_nan=False) -> \
 Tensor",
        |c| compare::isclose(&c.view(0)?, &c.view(1)?, tolerance(c)?, default(c)).map(Value::from),
        "Tells which elements are close to each other.",
    )
    .reads(COMPARES)
    .operation("mul.Scalar")
    .not_differentiable(),
];

pub(super) fn default(call: &Call) -> tensor::DType {
    call.state.default_dtype.get()
}

fn tolerance(call: &Call) -> Result<Tolerance> {
    Ok(Tolerance { rtol: call.scalar(2)?.to_f64(), atol: call.scalar(3)?.to_f64(), equal_nan: call.bool(4)? })
}

type Scaled = fn(Operand, Operand, Scalar, Output, tensor::DType) -> Result<View>;

fn scaled(call: &mut Call, run: Scaled) -> Result<Value> {
    let (a, b) = (Argument::of(call, 0)?, Argument::of(call, 1)?);
    let alpha = call.scalar(2)?;
    result(call, |output| run(a.operand(), b.operand(), alpha, output, default(call)))
}

/// Runs an operation in place on the first operand, or into a new tensor. (`out=` is handled for all functions at
/// once.)
pub(super) fn result(call: &Call, run: impl FnOnce(Output) -> Result<View>) -> Result<Value> {
    if call.signature.in_place || call.is_switched() {
        run(Output::InPlace(&call.tensor(0)?.borrow()))?;
        return Ok(call.itself());
    }
    run(Output::New).map(Value::from)
}

fn rounding(call: &Call, index: usize) -> Result<Option<Rounding>> {
    match call.value(index) {
        Value::None => Ok(None),
        Value::Str(mode) => match &*mode {
            "trunc" => Ok(Some(Rounding::Trunc)),
            "floor" => Ok(Some(Rounding::Floor)),
            other => Err(Error::runtime(format!(
                "div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '{other}'"
            ))),
        },
        other => bail!(TypeError, "div(): argument 'rounding_mode' must be str, not {}", other.type_name()),
    }
}

fn divide(call: &mut Call, rounding: Option<Rounding>) -> Result<Value> {
    let (a, b) = (Argument::of(call, 0)?, Argument::of(call, 1)?);
    result(call, |output| ops::div(a.operand(), b.operand(), rounding, output, default(call)))
}

fn power(call: &mut Call) -> Result<Value> {
    let (a, b) = (Argument::of(call, 0)?, Argument::of(call, 1)?);
    result(call, |output| ops::pow(a.operand(), b.operand(), output, default(call)))
}

fn binary(call: &mut Call, op: BinaryOp) -> Result<Value> {
    let (a, b) = (Argument::of(call, 0)?, Argument::of(call, 1)?);
    result(call, |output| ops::binary(op, a.operand(), b.operand(), output, default(call)))
}

fn unary(call: &mut Call, op: UnaryOp) -> Result<Value> {
    let a = call.tensor(0)?.borrow();
    result(call, |output| ops::unary(op, &a, output, default(call)))
}

fn comparison(call: &mut Call, op: CompareOp) -> Result<Value> {
    let (a, b) = (Argument::of(call, 0)?, Argument::of(call, 1)?);
    result(call, |output| compare::compare(op, a.operand(), b.operand(), output, default(call)))
}

const HEAVISIDE: &[(Takes, &str)] = &[
    (Takes::Of(classes::ALL - classes::COMPLEX), "heaviside is not yet implemented for complex tensors."),
    (Takes::Same, "heaviside is not yet implemented for tensors with different dtypes."),
];

/// The conditions on the `out` tensor of `abs`. Its dtype must match for a real input; a complex input allows a cast.
const ABS: &[(Takes, &str)] = &[(Takes::SameIfReal, "Found dtype {out} but expected {result}"), Out::CAST_DTYPE];

/// The conditions on the `out` tensor of a test: it must be boolean, and the message is the test's own.
macro_rules! truths {
    ($name:literal) => {
        Out::ELEMENTWISE.takes(&[(Takes::Of(classes::BOOL), concat!($name, " does not support non-boolean outputs."))])
    };
}

/// Rows that differ only in name, operation, docs and facets. `or` and `also` give aliases. `new` and `also` apply to
/// the out-of-place form only, `within` to the in-place form only. `$reads` is the pattern of all. `$overload` is the suffix of PyTorch's name for the
/// operation.
macro_rules! table {
    ($table:ident, $run:ident, $kind:ident, $this:literal, $others:literal, $overload:literal, $out:ident, $reads:ident:
        $($name:literal $op:ident $doc:literal $(or $alias:literal)* $(also $name_too:literal)* $([$($facets:tt)*])? $(new [$($only_new:tt)*])? $(within [$($only_within:tt)*])?;)*) => {
        pub(crate) const $table: &[Row] = &[$(
            both(concat!($name, "(", $this, " self", $others, ", *, Tensor? out=None) -> Tensor"), |c| $run(c, $kind::$op), $doc)
                .operation(concat!($name, $overload))
                .aliases(&[$($alias,)* $($name_too,)*])
                .out(Out::$out)
                .reads($reads)
                $($($facets)*)? $($($only_new)*)?,
        )*];
    };
}

/// Rows of the same functions in place.
macro_rules! in_place {
    ($table:ident, $run:ident, $kind:ident, $others:literal, $overload:literal, $reads:ident:
        $($name:literal $op:ident $doc:literal $(or $alias:literal)* $(also $name_too:literal)* $([$($facets:tt)*])? $(new [$($only_new:tt)*])? $(within [$($only_within:tt)*])?;)*) => {
        pub(crate) const $table: &[Row] = &[$(
            method(concat!($name, "_(Tensor(a!) self", $others, ") -> Tensor(a!)"), |c| $run(c, $kind::$op), concat!($doc, " Works in place."))
                .operation(concat!($name, "_", $overload))
                .aliases(&[$(concat!($alias, "_")),*])
                .reads($reads)
                $($($facets)*)? $($($only_within)*)?,
        )*];
    };
}

/// Passes one list of functions to both macros.
macro_rules! with_in_place {
    ($table:ident, $in_place:ident, $run:ident, $kind:ident, $this:literal, $others:literal, $overload:literal, $out:ident, $reads:ident: $($rows:tt)*) => {
        table! { $table, $run, $kind, $this, $others, $overload, $out, $reads: $($rows)* }
        in_place! { $in_place, $run, $kind, $others, $overload, $reads: $($rows)* }
    };
}

with_in_place! { PRODUCT, PRODUCT_IN_PLACE, binary, BinaryOp, "Operand", ", Operand other", ".Tensor", ELEMENTWISE, EACH:
    "mul" Mul "Multiplies the operands." [.names(Unifies).sparse(Own(sparse_arithmetic::mul)).quantized(Own(quantized::mul))]
        new [.aliases(&["multiply(Operand self, EitherNew other, *, Tensor? out=None) -> Tensor"])]
        within [.aliases(&["multiply_(Tensor(a!) self, Either other) -> Tensor(a!)"])];
}

with_in_place! { QUOTIENT, QUOTIENT_IN_PLACE, binary, BinaryOp, "Operand", ", EitherNew other", ".Tensor", ELEMENTWISE, EACH:
    "floor_divide" FloorDivide "Divides and rounds down." [.names(Unifies).sparse(Own(sparse_arithmetic::divide))] new [.grad_refused_by_fallback()];
}

with_in_place! { BINARY, BINARY_IN_PLACE, binary, BinaryOp, "EitherNew", ", Either other", ".Tensor", ELEMENTWISE, EACH:
    "bitwise_and" BitwiseAnd "Keeps the bits set in both." [.not_differentiable()] new [.grad_refused_by_fallback()];
    "bitwise_or" BitwiseOr "Sets the bits set in either." [.not_differentiable()] new [.grad_refused_by_fallback()];
    "bitwise_xor" BitwiseXor "Sets the bits set in just one." [.not_differentiable()] new [.grad_refused_by_fallback()];
    "bitwise_left_shift" LeftShift "Moves the bits left." [.not_differentiable()] new [.grad_refused_by_fallback()];
    "bitwise_right_shift" RightShift "Moves the bits right." [.not_differentiable()] new [.grad_refused_by_fallback()];
    "remainder" Remainder "Computes the remainder with the sign of the divisor.";
}

with_in_place! { LOGARITHM, LOGARITHM_IN_PLACE, binary, BinaryOp, "Either", ", Either other", ".Tensor", ELEMENTWISE, EACH:
    "xlogy" Xlogy "Multiplies x by the logarithm of y." [.out_refused_as("xlogy.OutTensor")];
}

with_in_place! { SECOND, SECOND_IN_PLACE, binary, BinaryOp, "Tensor", ", Either other", ".Tensor", ELEMENTWISE, EACH:
    "fmod" Fmod "Computes the remainder with the sign of the dividend.";
    "copysign" Copysign "Combines the magnitude of the first with the sign of the second." [.reads(COMPARES).out_refused_as("copysign.out")];
}

with_in_place! { TENSORS, TENSORS_IN_PLACE, binary, BinaryOp, "Tensor", ", Tensor other", "", ELEMENTWISE, EACH:
    "atan2" Atan2 "Computes the angle of a point." or "arctan2" [.names(Unifies)];
    "hypot" Hypot "Computes the length of the hypotenuse." [.names(Unifies)];
    "gcd" Gcd "Computes the greatest common divisor." [.not_differentiable()];
    "lcm" Lcm "Computes the least common multiple." [.not_differentiable()];
}

with_in_place! { STEP, STEP_IN_PLACE, binary, BinaryOp, "Tensor", ", Tensor values", "", ELEMENTWISE, COMPARES:
    "heaviside" Heaviside "Computes the step function." [.out(Out::ELEMENTWISE.takes(HEAVISIDE)).grad_refused_by_fallback()];
}

table! { BINARY_ONLY, binary, BinaryOp, "Tensor", ", Tensor other", "", ELEMENTWISE, EACH:
    "maximum" Maximum "Returns the larger of each pair of elements." [.reads(CHOOSES)];
    "minimum" Minimum "Returns the smaller of each pair of elements." [.reads(CHOOSES)];
    "fmax" Fmax "Returns the larger of each pair of elements, ignoring NaN." [.reads(CHOOSES)];
    "fmin" Fmin "Returns the smaller of each pair of elements, ignoring NaN." [.reads(CHOOSES)];
    "logaddexp" Logaddexp "Computes the logarithm of a sum of exponentials." [.names(Unifies)];
    "logaddexp2" Logaddexp2 "Computes the base-2 logarithm of a sum of powers of two." [.names(Unifies)];
    "nextafter" Nextafter "Returns the next number in a direction." [.names(Unifies)];
    "igamma" Igamma "Computes the lower incomplete gamma function." also "special.gammainc" [.names(Unifies)];
    "igammac" Igammac "Computes the upper incomplete gamma function." also "special.gammaincc" [.names(Unifies)];
}

in_place! { PAIRS_IN_PLACE, binary, BinaryOp, ", Tensor other", "", EACH:
    "nextafter" Nextafter "Returns the next number in a direction." [.names(Unifies)];
    "igamma" Igamma "Computes the lower incomplete gamma function." [.names(Unifies)];
    "igammac" Igammac "Computes the upper incomplete gamma function." [.names(Unifies)];
}

with_in_place! { LOGICAL, LOGICAL_IN_PLACE, comparison, CompareOp, "Tensor", ", Tensor other", "", ANY, COMPARES:
    "logical_and" LogicalAnd "Tells which elements are true in both." [.names(Unifies).not_differentiable()];
    "logical_or" LogicalOr "Tells which elements are true in either." [.names(Unifies).not_differentiable()];
    "logical_xor" LogicalXor "Tells which elements are true in just one." [.names(Unifies).not_differentiable()];
}

with_in_place! { COMPARISONS, COMPARISONS_IN_PLACE, comparison, CompareOp, "Tensor", ", Either other", ".Tensor", ANY, COMPARES:
    "eq" Eq "Tells which elements are equal." new [.not_differentiable().names(Unifies).quantized(Numbers)];
    "ne" Ne "Tells which elements differ." or "not_equal" new [.not_differentiable().names(Unifies).quantized(Numbers)];
    "lt" Lt "Tells which elements are smaller." or "less" new [.not_differentiable().names(Unifies).quantized(Numbers)];
    "le" Le "Tells which elements are at most as large." or "less_equal" new [.not_differentiable().names(Unifies).quantized(Numbers)];
    "gt" Gt "Tells which elements are larger." or "greater" new [.not_differentiable().names(Unifies).quantized(Numbers)];
    "ge" Ge "Tells which elements are at least as large." or "greater_equal" new [.not_differentiable().names(Unifies).quantized(Numbers)];
}

with_in_place! { UNARY, UNARY_IN_PLACE, unary, UnaryOp, "Tensor", "", "", ELEMENTWISE, EACH:
    "neg" Neg "Negates every element." or "negative" [.names(Keeps).sparse(Given).out(Out::UNCAST)];
    "abs" Abs "Computes the absolute value." or "absolute" [.names(Keeps).sparse(Coalesced).out(Out::ELEMENTWISE.takes(ABS))] new [.complex_refused_as("view_as_real")];
    "sign" Sign "Computes the sign." [.names(Keeps).sparse(Coalesced).out(Out::UNCAST)];
    "sgn" Sgn "Computes the sign; of a complex number, its direction." [.sparse(Coalesced).out(Out::UNCAST)];
    "bitwise_not" BitwiseNot "Inverts the bits." [.names(Keeps).out(Out::UNCAST).not_differentiable()] new [.grad_refused_by_fallback()];
    "logical_not" LogicalNot "Tells which elements are zero." [.reads(COMPARES).names(Keeps).not_differentiable()];
    "floor" Floor "Rounds down." [.names(Keeps).sparse(Coalesced).out(Out::UNCAST)];
    "ceil" Ceil "Rounds up." [.names(Keeps).sparse(Coalesced).out(Out::UNCAST)];
    "round" Round "Rounds to the nearest integer, halves to even." [.names(Keeps).sparse(Coalesced).out(Out::UNCAST)];
    "trunc" Trunc "Rounds towards zero." or "fix" [.names(Keeps).sparse(Coalesced).out(Out::UNCAST)];
    "frac" Frac "Computes the fractional part." [.names(Keeps).sparse(Coalesced).out(Out::UNCAST)];
    "exp" Exp "Computes the exponential." [.names(Keeps)];
    "exp2" Exp2 "Raises two to the power of every element." also "special.exp2";
    "expm1" Expm1 "Computes the exponential minus one." also "special.expm1" [.names(Keeps).sparse(Coalesced)];
    "log" Log "Computes the natural logarithm." [.names(Keeps)];
    "log2" Log2 "Computes the logarithm to base 2." [.names(Keeps)];
    "log10" Log10 "Computes the logarithm to base 10." [.names(Keeps)];
    "log1p" Log1p "Computes the logarithm of one plus x." also "special.log1p" [.names(Keeps).sparse(Coalesced)];
    "sqrt" Sqrt "Computes the square root." [.names(Keeps).sparse(Coalesced)];
    "rsqrt" Rsqrt "Computes one over the square root." [.names(Keeps)];
    "reciprocal" Reciprocal "Computes one over x." [.names(Keeps)];
    "sigmoid" Sigmoid "Computes the logistic function." also "special.expit" [.names(Keeps)] new [.quantized(Own(quantized::sigmoid))];
    "sin" Sin "Computes the sine." [.names(Keeps).sparse(Coalesced)];
    "cos" Cos "Computes the cosine." [.names(Keeps)];
    "tan" Tan "Computes the tangent." [.names(Keeps).sparse(Coalesced)];
    "asin" Asin "Computes the inverse sine." or "arcsin" [.names(Keeps).sparse(Coalesced)];
    "acos" Acos "Computes the inverse cosine." or "arccos" [.names(Keeps)];
    "atan" Atan "Computes the inverse tangent." or "arctan" [.names(Keeps).sparse(Coalesced)];
    "sinh" Sinh "Computes the hyperbolic sine." [.names(Keeps).sparse(Coalesced)];
    "cosh" Cosh "Computes the hyperbolic cosine." [.names(Keeps)];
    "tanh" Tanh "Computes the hyperbolic tangent." [.names(Keeps).sparse(Coalesced)];
    "asinh" Asinh "Computes the inverse hyperbolic sine." or "arcsinh" [.names(Keeps).sparse(Coalesced)];
    "acosh" Acosh "Computes the inverse hyperbolic cosine." or "arccosh" [.names(Keeps)];
    "atanh" Atanh "Computes the inverse hyperbolic tangent." or "arctanh" [.names(Keeps).sparse(Coalesced)];
    "deg2rad" Deg2rad "Converts degrees to radians." [.names(Keeps).sparse(Coalesced)];
    "rad2deg" Rad2deg "Converts radians to degrees." [.names(Keeps).sparse(Coalesced)];
    "erf" Erf "Computes the error function." also "special.erf" [.names(Keeps).sparse(Coalesced)];
    "erfc" Erfc "Computes the complement of the error function." also "special.erfc" [.names(Keeps)];
    "erfinv" Erfinv "Computes the inverse of the error function." also "special.erfinv" [.names(Keeps).sparse(Coalesced)];
    "lgamma" Lgamma "Computes the logarithm of the gamma function." also "special.gammaln" [.names(Keeps)];
    "digamma" Digamma "Computes the logarithmic derivative of the gamma function." also "special.digamma" also "special.psi" [.names(Keeps)];
    "i0" I0 "Computes the modified Bessel function of order 0." also "special.i0" [.names(Keeps)];
    "sinc" Sinc "Computes the sine of pi x, divided by pi x." also "special.sinc";
}

table! { UNARY_ONLY, unary, UnaryOp, "Tensor", "", "", ELEMENTWISE, EACH:
    "angle" Angle "Computes the angle of a complex number." [.names(Keeps).complex_refused_as("view_as_real").sparse(Split(&Missing, &Given))];
}

table! { TESTS, unary, UnaryOp, "Tensor", "", "", ANY, COMPARES:
    "isposinf" Isposinf "Tells which elements are positive infinity." [.sparse(Coalesced).out(truths!("isposinf")).not_differentiable()];
    "isneginf" Isneginf "Tells which elements are negative infinity." [.sparse(Coalesced).out(truths!("isneginf")).not_differentiable()];
    "signbit" Signbit "Tells which elements have their sign bit set." [.names(Keeps).sparse(Coalesced).out(truths!("signbit")).not_differentiable()];
}

in_place! { RELU, unary, UnaryOp, "", "", EACH:
    "relu" Relu "Replaces negative elements with zero." [.reads(CHOOSES).names(Keeps).sparse(Coalesced).quantized(RequantizedOneScale(ONE_SCALE))];
}

/// Functions without `out=`, which PyTorch composes of others.
macro_rules! without_out {
    ($($name:literal $op:ident $doc:literal [$($facets:tt)*];)*) => {
        pub(crate) const WITHOUT_OUT: &[Row] = &[$(
            both(concat!($name, "(Tensor self) -> Tensor"), |c| unary(c, UnaryOp::$op), $doc)
                .operation($name)
                $($facets)*,
        )*];
    };
}

without_out! {
    "relu" Relu "Replaces negative elements with zero." [.reads(CHOOSES).names(Keeps).sparse(Coalesced).quantized(RequantizedOneScale(ONE_SCALE))];
    "isnan" Isnan "Tells which elements are NaN." [.reads(COMPARES).names(Keeps).sparse(Coalesced).quantized(Refused("isnan")).not_differentiable()];
    "isinf" Isinf "Tells which elements are infinite." [.reads(COMPARES).names(Keeps).complex_refused_as("view_as_real").sparse(Coalesced).quantized(Own(quantized::not_for_integers)).not_differentiable()];
    "isfinite" Isfinite "Tells which elements are finite." [.reads(COMPARES).names(Keeps).complex_refused_as("view_as_real").quantized(Own(quantized::not_for_integers)).not_differentiable()];
    "isreal" Isreal "Tells which elements have no imaginary part." [.reads(COMPARES).names(Keeps).complex_refused_as("view_as_real").not_differentiable()];
}
