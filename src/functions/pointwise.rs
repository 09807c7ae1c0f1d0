//! Elementwise operations. Follows <https://pytorch.org/docs/2.7/torch.html#pointwise-ops>.

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
        "Adds the second operand, scaled by alpha.",
    ),
    method(
        "add_.Tensor(Tensor(a!) self, Operand other, *, Scalar alpha=1) -> Tensor(a!)",
        |c| scaled(c, ops::add, true),
        "Adds the second operand, in place.",
    ),
    both(
        "sub.Tensor(Operand self, Operand other, *, Scalar alpha=1, Tensor? out=None) -> Tensor",
        |c| scaled(c, ops::sub, false),
        "Subtracts the second operand, scaled by alpha.",
    ),
    method(
        "sub_.Tensor(Tensor(a!) self, Operand other, *, Scalar alpha=1) -> Tensor(a!)",
        |c| scaled(c, ops::sub, true),
        "Subtracts the second operand, in place.",
    ),
    both(
        "add.Scalar(Tensor self, Scalar alpha, Tensor other) -> Tensor",
        |c| deprecated(c, ops::add),
        "Adds, with alpha before the second operand.",
    )
    .hidden(),
    both(
        "sub.Scalar(Tensor self, Scalar alpha, Tensor other) -> Tensor",
        |c| deprecated(c, ops::sub),
        "Subtracts, with alpha before the second operand.",
    )
    .hidden(),
    both(
        "subtract.Tensor(Operand self, Operand other, *, Scalar alpha=1, Tensor? out=None) -> Tensor",
        |c| scaled(c, ops::sub, false),
        "Subtracts the second operand.",
    ),
    both(
        "rsub.Tensor(Operand self, Operand other, *, Scalar alpha=1) -> Tensor",
        |c| scaled(c, ops::rsub, false),
        "Subtracts with the operands swapped.",
    ),
    both(
        "div.Tensor(Operand self, Operand other, *, Tensor? out=None) -> Tensor",
        |c| divide(c, None, false),
        "Divides by the second operand.",
    ),
    both(
        "div.Tensor_mode(Operand self, Operand other, *, str? rounding_mode, Tensor? out=None) -> Tensor",
        |c| {
            let mode = rounding(c, 2)?;
            divide(c, mode, false)
        },
        "Divides by the second operand, rounding if asked.",
    ),
    method(
        "div_.Tensor(Tensor(a!) self, Operand other) -> Tensor(a!)",
        |c| divide(c, None, true),
        "Divides by the second operand, in place.",
    ),
    method(
        "div_.Tensor_mode(Tensor(a!) self, Operand other, *, str? rounding_mode) -> Tensor(a!)",
        |c| {
            let mode = rounding(c, 2)?;
            divide(c, mode, true)
        },
        "Divides by the second operand in place, rounding if asked.",
    ),
    both(
        "divide.Tensor(Operand self, Operand other, *, Tensor? out=None) -> Tensor",
        |c| divide(c, None, false),
        "Divides by the second operand.",
    ),
    both(
        "divide.Tensor_mode(Operand self, Operand other, *, str? rounding_mode, Tensor? out=None) -> Tensor",
        |c| {
            let mode = rounding(c, 2)?;
            divide(c, mode, false)
        },
        "Divides by the second operand, rounding if asked.",
    ),
    method(
        "subtract_.Tensor(Tensor(a!) self, Operand other, *, Scalar alpha=1) -> Tensor(a!)",
        |c| scaled(c, ops::sub, true),
        "Subtracts the second operand, in place.",
    ),
    method(
        "divide_.Tensor(Tensor(a!) self, Operand other) -> Tensor(a!)",
        |c| divide(c, None, true),
        "Divides by the second operand, in place.",
    ),
    method(
        "true_divide_.Tensor(Tensor(a!) self, Operand other) -> Tensor(a!)",
        |c| divide(c, None, true),
        "Divides by the second operand, in place.",
    ),
    both(
        "true_divide.Tensor(Operand self, Operand other, *, Tensor? out=None) -> Tensor",
        |c| divide(c, None, false),
        "Divides by the second operand.",
    ),
    both(
        "pow.Tensor_Tensor(Tensor self, Tensor exponent, *, Tensor? out=None) -> Tensor",
        |c| power(c, false),
        "Computes the power, element by element.",
    ),
    function(
        "pow.Scalar(Scalar self, Tensor exponent, *, Tensor? out=None) -> Tensor",
        |c| power(c, false),
        "Raises a number to the power of every element.",
    ),
    both(
        "pow.Tensor_Scalar(Tensor self, Scalar exponent, *, Tensor? out=None) -> Tensor",
        |c| power(c, false),
        "Raises every element to the power of a number.",
    ),
    method(
        "pow_.Scalar(Tensor(a!) self, Scalar exponent) -> Tensor(a!)",
        |c| power(c, true),
        "Computes the power, in place.",
    ),
    method(
        "pow_.Tensor(Tensor(a!) self, Tensor exponent) -> Tensor(a!)",
        |c| power(c, true),
        "Computes the power, in place.",
    ),
    both("positive(Tensor self) -> Tensor", |c| Ok(c.itself()), "Returns the tensor itself."),
    both(
        "conj_physical(Tensor self) -> Tensor",
        |c| match c.view(0)?.dtype.is_complex() {
            true => ops::conj_physical(&c.view(0)?).map(Value::from),
            false => Ok(c.itself()),
        },
        "Computes the complex conjugate right away.",
    ),
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
            method(concat!($name, "_(Tensor(a!) self", $others, ") -> Tensor(a!)"), |c| $run(c, $kind::$op, true), concat!($doc, " Works in place.")),
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
    "mul" Mul "Multiplies the operands.";
    "multiply" Mul "Multiplies the operands.";
    "floor_divide" FloorDivide "Divides and rounds down.";
    "remainder" Remainder "Computes the remainder with the sign of the divisor.";
    "fmod" Fmod "Computes the remainder with the sign of the dividend.";
    "bitwise_and" BitwiseAnd "Keeps the bits set in both.";
    "bitwise_or" BitwiseOr "Sets the bits set in either.";
    "bitwise_xor" BitwiseXor "Sets the bits set in just one.";
    "bitwise_left_shift" LeftShift "Moves the bits left.";
    "bitwise_right_shift" RightShift "Moves the bits right.";
    "copysign" Copysign "Combines the magnitude of the first with the sign of the second.";
    "xlogy" Xlogy "Multiplies x by the logarithm of y.";
}

with_in_place! { TENSORS, TENSORS_IN_PLACE, binary, BinaryOp, "Tensor", ", Tensor other":
    "atan2" Atan2 "Computes the angle of a point.";
    "hypot" Hypot "Computes the length of the hypotenuse.";
    "gcd" Gcd "Computes the greatest common divisor.";
    "lcm" Lcm "Computes the least common multiple.";
    "heaviside" Heaviside "Computes the step function.";
    "arctan2" Atan2 "Computes the angle of a point.";
}

table! { BINARY_ONLY, binary, BinaryOp, "Tensor", ", Tensor other":
    "maximum" Maximum "Returns the larger of each pair of elements.";
    "minimum" Minimum "Returns the smaller of each pair of elements.";
    "fmax" Fmax "Returns the larger of each pair of elements, ignoring NaN.";
    "fmin" Fmin "Returns the smaller of each pair of elements, ignoring NaN.";
    "logaddexp" Logaddexp "Computes the logarithm of a sum of exponentials.";
    "logaddexp2" Logaddexp2 "Computes the base-2 logarithm of a sum of powers of two.";
    "nextafter" Nextafter "Returns the next number in a direction.";
    "igamma" Igamma "Computes the lower incomplete gamma function.";
    "igammac" Igammac "Computes the upper incomplete gamma function.";
}

in_place! { PAIRS_IN_PLACE, binary, BinaryOp, ", Tensor other":
    "nextafter" Nextafter "Returns the next number in a direction.";
    "igamma" Igamma "Computes the lower incomplete gamma function.";
    "igammac" Igammac "Computes the upper incomplete gamma function.";
}

with_in_place! { LOGICAL, LOGICAL_IN_PLACE, comparison, CompareOp, "Tensor", ", Tensor other":
    "logical_and" LogicalAnd "Tells which elements are true in both.";
    "logical_or" LogicalOr "Tells which elements are true in either.";
    "logical_xor" LogicalXor "Tells which elements are true in just one.";
}

with_in_place! { COMPARISONS, COMPARISONS_IN_PLACE, comparison, CompareOp, "Tensor", ", Operand other":
    "eq" Eq "Tells which elements are equal.";
    "ne" Ne "Tells which elements differ.";
    "lt" Lt "Tells which elements are smaller.";
    "le" Le "Tells which elements are at most as large.";
    "gt" Gt "Tells which elements are larger.";
    "ge" Ge "Tells which elements are at least as large.";
    "not_equal" Ne "Tells which elements differ.";
    "less" Lt "Tells which elements are smaller.";
    "less_equal" Le "Tells which elements are at most as large.";
    "greater" Gt "Tells which elements are larger.";
    "greater_equal" Ge "Tells which elements are at least as large.";
}

with_in_place! { UNARY, UNARY_IN_PLACE, unary, UnaryOp, "Tensor", "":
    "neg" Neg "Negates every element.";
    "abs" Abs "Computes the absolute value.";
    "sign" Sign "Computes the sign.";
    "sgn" Sgn "Computes the sign; of a complex number, its direction.";
    "bitwise_not" BitwiseNot "Inverts the bits.";
    "logical_not" LogicalNot "Tells which elements are zero.";
    "relu" Relu "Replaces negative elements with zero.";
    "floor" Floor "Rounds down.";
    "ceil" Ceil "Rounds up.";
    "round" Round "Rounds to the nearest integer, halves to even.";
    "trunc" Trunc "Rounds towards zero.";
    "frac" Frac "Computes the fractional part.";
    "exp" Exp "Computes the exponential.";
    "exp2" Exp2 "Raises two to the power of every element.";
    "expm1" Expm1 "Computes the exponential minus one.";
    "log" Log "Computes the natural logarithm.";
    "log2" Log2 "Computes the logarithm to base 2.";
    "log10" Log10 "Computes the logarithm to base 10.";
    "log1p" Log1p "Computes the logarithm of one plus x.";
    "sqrt" Sqrt "Computes the square root.";
    "rsqrt" Rsqrt "Computes one over the square root.";
    "reciprocal" Reciprocal "Computes one over x.";
    "sigmoid" Sigmoid "Computes the logistic function.";
    "sin" Sin "Computes the sine.";
    "cos" Cos "Computes the cosine.";
    "tan" Tan "Computes the tangent.";
    "asin" Asin "Computes the inverse sine.";
    "acos" Acos "Computes the inverse cosine.";
    "atan" Atan "Computes the inverse tangent.";
    "sinh" Sinh "Computes the hyperbolic sine.";
    "cosh" Cosh "Computes the hyperbolic cosine.";
    "tanh" Tanh "Computes the hyperbolic tangent.";
    "asinh" Asinh "Computes the inverse hyperbolic sine.";
    "acosh" Acosh "Computes the inverse hyperbolic cosine.";
    "atanh" Atanh "Computes the inverse hyperbolic tangent.";
    "deg2rad" Deg2rad "Converts degrees to radians.";
    "rad2deg" Rad2deg "Converts radians to degrees.";
    "negative" Neg "Negates every element.";
    "absolute" Abs "Computes the absolute value.";
    "fix" Trunc "Rounds towards zero.";
    "arcsin" Asin "Computes the inverse sine.";
    "arccos" Acos "Computes the inverse cosine.";
    "arctan" Atan "Computes the inverse tangent.";
    "arcsinh" Asinh "Computes the inverse hyperbolic sine.";
    "arccosh" Acosh "Computes the inverse hyperbolic cosine.";
    "arctanh" Atanh "Computes the inverse hyperbolic tangent.";
    "erf" Erf "Computes the error function.";
    "erfc" Erfc "Computes the complement of the error function.";
    "erfinv" Erfinv "Computes the inverse of the error function.";
    "lgamma" Lgamma "Computes the logarithm of the gamma function.";
    "digamma" Digamma "Computes the logarithmic derivative of the gamma function.";
    "i0" I0 "Computes the modified Bessel function of order 0.";
    "sinc" Sinc "Computes the sine of pi x, divided by pi x.";
}

table! { UNARY_ONLY, unary, UnaryOp, "Tensor", "":
    "angle" Angle "Computes the angle of a complex number.";
}

table! { TESTS, unary, UnaryOp, "Tensor", "":
    "isnan" Isnan "Tells which elements are NaN.";
    "isinf" Isinf "Tells which elements are infinite.";
    "isfinite" Isfinite "Tells which elements are finite.";
    "isposinf" Isposinf "Tells which elements are positive infinity.";
    "isneginf" Isneginf "Tells which elements are negative infinity.";
    "isreal" Isreal "Tells which elements have no imaginary part.";
    "signbit" Signbit "Tells which elements have their sign bit set.";
}
