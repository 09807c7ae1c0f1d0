//! [`FpFlags`]: what went wrong in floating-point arithmetic, as `np.errstate` reports it. Found from the values: an
//! infinity or NaN that no operand contains must have arisen.

use super::table::Op;
use std::ops::{BitOr, BitOrAssign};
use tensor::Scalar;

/// A set of floating-point errors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct FpFlags(pub u8);

impl FpFlags {
    pub(crate) const NONE: FpFlags = FpFlags(0);
    pub(crate) const DIVIDE: FpFlags = FpFlags(1);
    pub(crate) const OVERFLOW: FpFlags = FpFlags(2);
    /// Reserved: NumPy ignores underflow by default, and nothing here reports it.
    pub(crate) const UNDERFLOW: FpFlags = FpFlags(4);
    pub(crate) const INVALID: FpFlags = FpFlags(8);

    pub(crate) fn contains(self, other: FpFlags) -> bool {
        self.0 & other.0 == other.0
    }

    pub(crate) fn is_empty(self) -> bool {
        self.0 == 0
    }
}

impl BitOr for FpFlags {
    type Output = FpFlags;
    fn bitor(self, other: FpFlags) -> FpFlags {
        FpFlags(self.0 | other.0)
    }
}

impl BitOrAssign for FpFlags {
    fn bitor_assign(&mut self, other: FpFlags) {
        self.0 |= other.0;
    }
}

fn is_nan(value: Scalar) -> bool {
    match value {
        Scalar::Float(f) => f.is_nan(),
        Scalar::Complex(c) => c.re.is_nan() || c.im.is_nan(),
        _ => false,
    }
}

fn is_finite(value: Scalar) -> bool {
    match value {
        Scalar::Float(f) => f.is_finite(),
        Scalar::Complex(c) => c.re.is_finite() && c.im.is_finite(),
        _ => true,
    }
}

fn is_zero(value: Scalar) -> bool {
    !value.truth()
}

/// Returns the errors of one element whose result is not finite.
pub(super) fn of_element(op: Op, inputs: &[Scalar], result: Scalar) -> FpFlags {
    if op == Op::Nextafter {
        let is_beyond = !is_nan(result) && !is_finite(result) && inputs.first().copied().is_some_and(is_finite);
        return if is_beyond { FpFlags::OVERFLOW } else { FpFlags::NONE };
    }
    // A quotient by a complex zero has NaNs beside infinities.
    if let (Op::Divide, [_, Scalar::Complex(zero)], Scalar::Complex(quotient)) = (op, inputs, result)
        && zero.re == 0.0
        && zero.im == 0.0
        && (quotient.re.is_infinite() || quotient.im.is_infinite())
    {
        let has_nan = quotient.re.is_nan() || quotient.im.is_nan();
        let arose = has_nan && !inputs.iter().any(|&input| is_nan(input));
        return if arose { FpFlags::DIVIDE | FpFlags::INVALID } else { FpFlags::DIVIDE };
    }
    if op == Op::Spacing && is_nan(result) {
        return FpFlags::NONE;
    }
    if is_nan(result) {
        // These compare their operands, which is invalid for NaNs.
        let compares = matches!(op, Op::Logaddexp | Op::Logaddexp2);
        let arose = compares || !inputs.iter().any(|&input| is_nan(input));
        return if arose && op.raises() { FpFlags::INVALID } else { FpFlags::NONE };
    }
    if is_finite(result) || !op.raises() || !inputs.iter().all(|&input| is_finite(input)) {
        return FpFlags::NONE;
    }
    let divided = match op {
        Op::Log | Op::Log2 | Op::Log10 | Op::Log1p | Op::Arctanh => true,
        Op::Reciprocal | Op::Power | Op::FloatPower => inputs.first().copied().is_some_and(is_zero),
        Op::Divide | Op::FloorDivide | Op::Divmod => inputs.get(1).copied().is_some_and(is_zero),
        _ => false,
    };
    if divided { FpFlags::DIVIDE } else { FpFlags::OVERFLOW }
}
