//! Operations element by element. Follows <https://pytorch.org/docs/2.7/torch.html#pointwise-ops>.

use crate::bail;
use crate::call::{Call, Row, both, function, method};
use crate::ops::compare::{self, CompareOp, Tolerance};
use crate::ops::pointwise::{self as ops, BinaryOp, Output, Rounding, UnaryOp};
use crate::ops::promote::Operand;
use crate::tensor::{Error, Result, Scalar, View};
use crate::value::Value;

/// An operand that owns its view.
pub enum Argument {
    Tensor(View),
    Number(Scalar),
}

impl Argument {
    /// The tensor or number at a position of the call.
    pub fn of(call: &Call, index: usize) -> Result<Argument> {
        match call.value(index) {
            Value::Tensor(tensor) => Ok(Argument::Tensor(tensor.view())),
            _ => call.scalar(index).map(Argument::Number),
        }
    }

    pub fn operand(&self) -> Operand<'_> {
        match self {
            Argument::Tensor(view) => Operand::Tensor(view),
            Argument::Number(scalar) => Operand::Number(*scalar),
        }
    }
}

pub const ROWS: &[Row] = &[
    both(
        "add.Tensor(Operand self, Operand other, *, Scalar alpha=1, Tensor? out=None) -> Tensor",
        |c| scaled(c, ops::add, false),
        "The sum, with the second operand scaled by alpha.",
    ),
    method(
        "add_.Tensor(Tensor(a!) self, Operand other, *, Scalar alpha=1) -> Tensor(a!)",
        |c| scaled(c, ops::add, true),
        "The sum, in place.",
    ),
    both(
        "sub.Tensor(Operand self, Operand other, *, Scalar alpha=1, Tensor? out=None) -> Tensor",
        |c| scaled(c, ops::sub, false),
        "The difference, with the second operand scaled by alpha.",
    ),
    method(
        "sub_.Tensor(Tensor(a!) self, Operand other, *, Scalar alpha=1) -> Tensor(a!)",
        |c| scaled(c, ops::sub, true),
        "The difference, in place.",
    ),
    both(
        "add.Scalar(Tensor self, Scalar alpha, Tensor other) -> Tensor",
        |c| deprecated(c, ops::add),
        "The sum, with alpha before the second operand.",
    )
    .hidden(),
    both(
        "sub.Scalar(Tensor self, Scalar alpha, Tensor other) -> Tensor",
        |c| deprecated(c, ops::sub),
        "The difference, with alpha before the second operand.",
    )
    .hidden(),
    both(
        "subtract.Tensor(Operand self, Operand other, *, Scalar alpha=1, Tensor? out=None) -> Tensor",
        |c| scaled(c, ops::sub, false),
        "The difference.",
    ),
    both(
        "rsub.Tensor(Operand self, Operand other, *, Scalar alpha=1) -> Tensor",
        |c| scaled(c, ops::rsub, false),
        "The difference with the operands swapped.",
    ),
    both(
        "div.Tensor(Operand self, Operand other, *, Tensor? out=None) -> Tensor",
        |c| divide(c, None, false),
        "The quotient.",
    ),
    both(
        "div.Tensor_mode(Operand self, Operand other, *, str? rounding_mode, Tensor? out=None) -> Tensor",
        |c| {
            let mode = rounding(c, 2)?;
            divide(c, mode, false)
        },
        "The quotient, rounded if asked.",
    ),
    method(
        "div_.Tensor(Tensor(a!) self, Operand other) -> Tensor(a!)",
        |c| divide(c, None, true),
        "The quotient, in place.",
    ),
    method(
        "div_.Tensor_mode(Tensor(a!) self, Operand other, *, str? rounding_mode) -> Tensor(a!)",
        |c| {
            let mode = rounding(c, 2)?;
            divide(c, mode, true)
        },
        "The quotient in place, rounded if asked.",
    ),
    both(
        "divide.Tensor(Operand self, Operand other, *, Tensor? out=None) -> Tensor",
        |c| divide(c, None, false),
        "The quotient.",
    ),
    both(
        "divide.Tensor_mode(Operand self, Operand other, *, str? rounding_mode, Tensor? out=None) -> Tensor",
        |c| {
            let mode = rounding(c, 2)?;
            divide(c, mode, false)
        },
        "The quotient, rounded if asked.",
    ),
    method(
        "subtract_.Tensor(Tensor(a!) self, Operand other, *, Scalar alpha=1) -> Tensor(a!)",
        |c| scaled(c, ops::sub, true),
        "The difference, in place.",
    ),
    method(
        "divide_.Tensor(Tensor(a!) self, Operand other) -> Tensor(a!)",
        |c| divide(c, None, true),
        "The quotient, in place.",
    ),
    method(
        "true_divide_.Tensor(Tensor(a!) self, Operand other) -> Tensor(a!)",
        |c| divide(c, None, true),
        "The quotient, in place.",
    ),
    both(
        "true_divide.Tensor(Operand self, Operand other, *, Tensor? out=None) -> Tensor",
        |c| divide(c, None, false),
        "The quotient.",
    ),
    both(
        "pow.Tensor_Tensor(Tensor self, Tensor exponent, *, Tensor? out=None) -> Tensor",
        |c| power(c, false),
        "The power, element by element.",
    ),
    function(
        "pow.Scalar(Scalar self, Tensor exponent, *, Tensor? out=None) -> Tensor",
        |c| power(c, false),
        "A number to the power of every element.",
    ),
    both(
        "pow.Tensor_Scalar(Tensor self, Scalar exponent, *, Tensor? out=None) -> Tensor",
        |c| power(c, false),
        "Every element to the power of a number.",
    ),
    method("pow_.Scalar(Tensor(a!) self, Scalar exponent) -> Tensor(a!)", |c| power(c, true), "The power, in place."),
    method("pow_.Tensor(Tensor(a!) self, Tensor exponent) -> Tensor(a!)", |c| power(c, true), "The power, in place."),
    both("positive(Tensor self) -> Tensor", |c| Ok(c.itself()), "The tensor itself."),
    both(
        "conj_physical(Tensor self) -> Tensor",
        |c| match c.view(0)?.dtype.is_complex() {
            true => ops::conj_physical(&c.view(0)?).map(Value::from),
            false => Ok(c.itself()),
        },
        "The complex conjugate, computed now.",
    ),
    both(
        "allclose(Tensor self, Tensor other, float rtol=1e-05, float atol=1e-08, bool equal_nan=False) -> bool",
        |c| compare::allclose(&c.view(0)?, &c.view(1)?, tolerance(c)?, default(c)).map(Value::Bool),
        "Are all elements close to each other?",
    ),
    both(
        "isclose(Tensor self, Tensor other, float rtol=1e-05, float atol=1e-08, bool equal_nan=False) -> Tensor",
        |c| compare::isclose(&c.view(0)?, &c.view(1)?, tolerance(c)?, default(c)).map(Value::from),
        "Which elements are close to each other?",
    ),
];

pub(super) fn default(call: &Call) -> crate::tensor::DType {
    call.state.default_dtype.get()
}

fn tolerance(call: &Call) -> Result<Tolerance> {
    Ok(Tolerance { rtol: call.scalar(2)?.to_f64(), atol: call.scalar(3)?.to_f64(), equal_nan: call.bool(4)? })
}

type Scaled = fn(Operand, Operand, Scalar, Output, crate::tensor::DType) -> Result<View>;

fn scaled(call: &mut Call, run: Scaled, in_place: bool) -> Result<Value> {
    let (a, b) = (Argument::of(call, 0)?, Argument::of(call, 1)?);
    let alpha = call.scalar(2)?;
    result(call, in_place, |output| run(a.operand(), b.operand(), alpha, output, default(call)))
}

/// The old order of arguments: `add(alpha, other)`.
fn deprecated(call: &mut Call, run: Scaled) -> Result<Value> {
    let (a, b) = (call.view(0)?, call.view(2)?);
    run(Operand::Tensor(&a), Operand::Tensor(&b), call.scalar(1)?, Output::New, default(call)).map(Value::from)
}

/// Runs an operation into the first operand or into a new tensor. (`out=` is handled for all functions at once.)
pub(super) fn result(call: &Call, in_place: bool, run: impl FnOnce(Output) -> Result<View>) -> Result<Value> {
    if in_place {
        let target = call.view(0)?;
        run(Output::InPlace(&target))?;
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

fn divide(call: &mut Call, rounding: Option<Rounding>, in_place: bool) -> Result<Value> {
    let (a, b) = (Argument::of(call, 0)?, Argument::of(call, 1)?);
    result(call, in_place, |output| ops::div(a.operand(), b.operand(), rounding, output, default(call)))
}

fn power(call: &mut Call, in_place: bool) -> Result<Value> {
    let (a, b) = (Argument::of(call, 0)?, Argument::of(call, 1)?);
    result(call, in_place, |output| ops::pow(a.operand(), b.operand(), output, default(call)))
}

fn binary(call: &mut Call, op: BinaryOp, in_place: bool) -> Result<Value> {
    let (a, b) = (Argument::of(call, 0)?, Argument::of(call, 1)?);
    result(call, in_place, |output| ops::binary(op, a.operand(), b.operand(), output, default(call)))
}

fn unary(call: &mut Call, op: UnaryOp, in_place: bool) -> Result<Value> {
    let a = call.view(0)?;
    result(call, in_place, |output| ops::unary(op, &a, output, default(call)))
}

fn comparison(call: &mut Call, op: CompareOp, in_place: bool) -> Result<Value> {
    let (a, b) = (Argument::of(call, 0)?, Argument::of(call, 1)?);
    result(call, in_place, |output| compare::compare(op, a.operand(), b.operand(), output, default(call)))
}

/// Rows that differ only in name, operation and sentence.
macro_rules! table {
    ($table:ident, $run:ident, $kind:ident, $this:literal, $others:literal: $($name:literal $op:ident $doc:literal;)*) => {
        pub const $table: &[Row] = &[$(
            both(concat!($name, "(", $this, " self", $others, ", *, Tensor? out=None) -> Tensor"), |c| $run(c, $kind::$op, false), $doc),
        )*];
    };
}

/// The same functions in place.
macro_rules! in_place {
    ($table:ident, $run:ident, $kind:ident, $others:literal: $($name:literal $op:ident $doc:literal;)*) => {
        pub const $table: &[Row] = &[$(
            method(concat!($name, "_(Tensor(a!) self", $others, ") -> Tensor(a!)"), |c| $run(c, $kind::$op, true), concat!($doc, " In place.")),
        )*];
    };
}

/// Hands one list of functions to both tables.
macro_rules! with_in_place {
    ($table:ident, $in_place:ident, $run:ident, $kind:ident, $this:literal, $others:literal: $($rows:tt)*) => {
        table! { $table, $run, $kind, $this, $others: $($rows)* }
        in_place! { $in_place, $run, $kind, $others: $($rows)* }
    };
}

with_in_place! { BINARY, BINARY_IN_PLACE, binary, BinaryOp, "Operand", ", Operand other":
    "mul" Mul "The product.";
    "multiply" Mul "The product.";
    "floor_divide" FloorDivide "The quotient rounded down.";
    "remainder" Remainder "The remainder with the sign of the divisor.";
    "fmod" Fmod "The remainder with the sign of the dividend.";
    "bitwise_and" BitwiseAnd "The bits set in both.";
    "bitwise_or" BitwiseOr "The bits set in either.";
    "bitwise_xor" BitwiseXor "The bits set in just one.";
    "bitwise_left_shift" LeftShift "The bits moved left.";
    "bitwise_right_shift" RightShift "The bits moved right.";
    "copysign" Copysign "The magnitude of the first with the sign of the second.";
    "xlogy" Xlogy "x times the logarithm of y.";
}

with_in_place! { TENSORS, TENSORS_IN_PLACE, binary, BinaryOp, "Tensor", ", Tensor other":
    "atan2" Atan2 "The angle of a point.";
    "hypot" Hypot "The length of the hypotenuse.";
    "gcd" Gcd "The greatest common divisor.";
    "lcm" Lcm "The least common multiple.";
    "heaviside" Heaviside "The step function.";
    "arctan2" Atan2 "The angle of a point.";
}

table! { BINARY_ONLY, binary, BinaryOp, "Tensor", ", Tensor other":
    "maximum" Maximum "The larger element.";
    "minimum" Minimum "The smaller element.";
    "fmax" Fmax "The larger element, ignoring NaN.";
    "fmin" Fmin "The smaller element, ignoring NaN.";
    "logaddexp" Logaddexp "The logarithm of a sum of exponentials.";
    "logaddexp2" Logaddexp2 "The same in base 2.";
    "nextafter" Nextafter "The next number in a direction.";
    "igamma" Igamma "The lower incomplete gamma function.";
    "igammac" Igammac "The upper incomplete gamma function.";
}

in_place! { PAIRS_IN_PLACE, binary, BinaryOp, ", Tensor other":
    "nextafter" Nextafter "The next number in a direction.";
    "igamma" Igamma "The lower incomplete gamma function.";
    "igammac" Igammac "The upper incomplete gamma function.";
}

with_in_place! { LOGICAL, LOGICAL_IN_PLACE, comparison, CompareOp, "Tensor", ", Tensor other":
    "logical_and" LogicalAnd "Are both true?";
    "logical_or" LogicalOr "Is either true?";
    "logical_xor" LogicalXor "Is just one true?";
}

with_in_place! { COMPARISONS, COMPARISONS_IN_PLACE, comparison, CompareOp, "Tensor", ", Operand other":
    "eq" Eq "Which elements are equal?";
    "ne" Ne "Which elements differ?";
    "lt" Lt "Which elements are smaller?";
    "le" Le "Which elements are at most as large?";
    "gt" Gt "Which elements are larger?";
    "ge" Ge "Which elements are at least as large?";
    "not_equal" Ne "Which elements differ?";
    "less" Lt "Which elements are smaller?";
    "less_equal" Le "Which elements are at most as large?";
    "greater" Gt "Which elements are larger?";
    "greater_equal" Ge "Which elements are at least as large?";
}

with_in_place! { UNARY, UNARY_IN_PLACE, unary, UnaryOp, "Tensor", "":
    "neg" Neg "The negative.";
    "abs" Abs "The absolute value.";
    "sign" Sign "The sign.";
    "sgn" Sgn "The sign; of a complex number, its direction.";
    "bitwise_not" BitwiseNot "The bits inverted.";
    "logical_not" LogicalNot "Is the element zero?";
    "relu" Relu "The element, or zero where it is negative.";
    "floor" Floor "Rounded down.";
    "ceil" Ceil "Rounded up.";
    "round" Round "Rounded to the nearest, halves to even.";
    "trunc" Trunc "Rounded towards zero.";
    "frac" Frac "The fractional part.";
    "exp" Exp "The exponential.";
    "exp2" Exp2 "The power of two.";
    "expm1" Expm1 "The exponential minus one.";
    "log" Log "The natural logarithm.";
    "log2" Log2 "The logarithm to base 2.";
    "log10" Log10 "The logarithm to base 10.";
    "log1p" Log1p "The logarithm of one plus x.";
    "sqrt" Sqrt "The square root.";
    "rsqrt" Rsqrt "One over the square root.";
    "reciprocal" Reciprocal "One over x.";
    "sigmoid" Sigmoid "The logistic function.";
    "sin" Sin "The sine.";
    "cos" Cos "The cosine.";
    "tan" Tan "The tangent.";
    "asin" Asin "The inverse sine.";
    "acos" Acos "The inverse cosine.";
    "atan" Atan "The inverse tangent.";
    "sinh" Sinh "The hyperbolic sine.";
    "cosh" Cosh "The hyperbolic cosine.";
    "tanh" Tanh "The hyperbolic tangent.";
    "asinh" Asinh "The inverse hyperbolic sine.";
    "acosh" Acosh "The inverse hyperbolic cosine.";
    "atanh" Atanh "The inverse hyperbolic tangent.";
    "deg2rad" Deg2rad "Degrees as radians.";
    "rad2deg" Rad2deg "Radians as degrees.";
    "negative" Neg "The negative.";
    "absolute" Abs "The absolute value.";
    "fix" Trunc "Rounded towards zero.";
    "arcsin" Asin "The inverse sine.";
    "arccos" Acos "The inverse cosine.";
    "arctan" Atan "The inverse tangent.";
    "arcsinh" Asinh "The inverse hyperbolic sine.";
    "arccosh" Acosh "The inverse hyperbolic cosine.";
    "arctanh" Atanh "The inverse hyperbolic tangent.";
    "erf" Erf "The error function.";
    "erfc" Erfc "The complement of the error function.";
    "erfinv" Erfinv "The inverse of the error function.";
    "lgamma" Lgamma "The logarithm of the gamma function.";
    "digamma" Digamma "The logarithmic derivative of the gamma function.";
    "i0" I0 "The modified Bessel function of order 0.";
    "sinc" Sinc "The sine of pi x, divided by pi x.";
}

table! { UNARY_ONLY, unary, UnaryOp, "Tensor", "":
    "angle" Angle "The angle of a complex number.";
}

table! { TESTS, unary, UnaryOp, "Tensor", "":
    "isnan" Isnan "Which elements are NaN?";
    "isinf" Isinf "Which elements are infinite?";
    "isfinite" Isfinite "Which elements are finite?";
    "isposinf" Isposinf "Which elements are positive infinity?";
    "isneginf" Isneginf "Which elements are negative infinity?";
    "isreal" Isreal "Which elements have no imaginary part?";
    "signbit" Signbit "Which elements have their sign bit set?";
}
