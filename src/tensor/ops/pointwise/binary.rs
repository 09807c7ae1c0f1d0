//! The table of binary operations, and the loop that runs a row.

use super::classes::{self, *};
use super::complex;
use super::narrow::narrow_kernel;
use super::quick;
use super::real::*;
use super::rest::{by_quotient, by_rest, integer_powers};
pub(super) use super::zip::zip;
use super::zip::{PairFunction, zip_function};
use super::{
    Output, Plan, Shape, broadcast, check_kernel, check_sizes, converted, copy_back, plan, source, write_target,
};
use crate::bail;
use crate::memory::BoolByte;
use crate::ops::block::{self, Pace, Source};
use crate::ops::copy::check_fits;
use crate::ops::number::{Integer, Number, Real, Stored, is_single, rounded};
use crate::ops::promote::{Operand, result_type};
use crate::ops::special::{self, Chebyshev};
use crate::parallel::{self, vectorised, vectorised_kernel};
use crate::{Category, DType, Result, Scalar, View};
use elementary::series::{self, Fused, Plain, to_single};
use half::{bf16, f16};
use num_complex::Complex;
use std::borrow::Cow;

/// How the compute dtype follows from the operands' common dtype.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ResultType {
    /// Computed in the common dtype.
    Common,
    /// Integers are converted to the default floating dtype first.
    Float,
}

/// How a quotient is rounded to a whole number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounding {
    Trunc,
    Floor,
}

/// A kernel over blocks of one compute type.
pub(super) type BinaryKernel<C> = fn(&[C], &[C], &mut [C]);

/// The kernel of a function of real numbers.
macro_rules! by_function {
    ($function:path) => {{
        struct Row;
        impl<T: Real> PairFunction<T> for Row {
            #[inline(always)]
            fn at(a: T, b: T) -> T {
                $function(a, b)
            }
        }
        Some(zip_function::<T, Row>)
    }};
}

/// The kernel of a function of real numbers with a series for `f32`, and the system's function for `f64`.
macro_rules! by_series {
    ($series:ident, $function:path) => {{
        struct Row;
        impl<T: Real> PairFunction<T> for Row {
            #[inline(always)]
            fn at(a: T, b: T) -> T {
                let (a, b) = (a.as_f64(), b.as_f64());
                T::from_f64(match is_single::<T>() {
                    true => to_single(|| series::$series::<Plain>(a, b), || series::$series::<Fused>(a, b)),
                    false => $function(a, b),
                })
            }
        }
        Some(zip_function::<T, Row>)
    }};
}

/// Computes powers.
struct Power<'a, T> {
    bases: &'a [T],
    exponents: &'a [T],
    out: &'a mut [T],
}

impl<T: Real> parallel::Kernel for Power<'_, T> {
    type Output = ();
    #[inline(always)]
    fn run(self, _fuses: bool) {
        for ((out, base), exponent) in self.out.iter_mut().zip(self.bases).zip(self.exponents) {
            let (base, exponent) = (base.as_f64(), exponent.as_f64());
            *out = T::from_f64(match is_single::<T>() {
                true => to_single(|| series::pow::<Plain>(base, exponent), || series::pow::<Fused>(base, exponent)),
                false => base.powf(exponent),
            });
        }
    }
}

fn power<T: Real>(bases: &[T], exponents: &[T], out: &mut [T]) {
    vectorised_kernel(Power { bases, exponents, out: &mut *out });
    // Inputs outside the domain of the series.
    let is_far = |base: T, exponent: T| !base.is_finite() | (base == T::zero()) | !exponent.is_finite();
    let pairs = || bases.iter().zip(exponents);
    if is_single::<T>() && vectorised(|| pairs().fold(false, |any, (&a, &b)| any | is_far(a, b))) {
        let outliers = out.iter_mut().zip(pairs()).filter(|&(_, (&a, &b))| is_far(a, b));
        outliers.for_each(|(out, (&a, &b))| *out = of_double(a, b, f64::powf));
    }
}

/// Picks the kernel of one class from a row.
macro_rules! pick {
    (bool; bool $kernel:tt $($rest:tt)*) => { Some(|a, b, out| zip(a, b, out, $kernel)) };
    (int; int $kernel:tt $($rest:tt)*) => { Some(|a, b, out| zip(a, b, out, $kernel)) };
    (float; float ($function:path) $($rest:tt)*) => { by_function!($function) };
    (float; float_series ($($series:tt)*) $($rest:tt)*) => { by_series!($($series)*) };
    (float; float $kernel:tt $($rest:tt)*) => { Some(|a, b, out| zip(a, b, out, $kernel)) };
    (complex; complex $kernel:tt $($rest:tt)*) => { Some(|a, b, out| zip(a, b, out, $kernel)) };
    (int; int_blocks $kernel:tt $($rest:tt)*) => { Some($kernel) };
    (float; float_blocks $kernel:tt $($rest:tt)*) => { Some($kernel) };
    (float_tail; float_tail $kernel:tt $($rest:tt)*) => { Some(|a, b, out| zip(a, b, out, $kernel)) };
    (complex_tail; complex_tail $kernel:tt $($rest:tt)*) => { Some(|a, b, out| zip(a, b, out, $kernel)) };
    ($class:ident; $other:ident $kernel:tt $($rest:tt)*) => { pick!($class; $($rest)*) };
    ($class:ident;) => { None };
}

macro_rules! binary_ops {
    ($($op:ident $stub:literal $rule:ident [$($supported:ident)*] { $($kernels:tt)* })*) => {
        /// A binary operation.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum BinaryOp { $($op),* }

        impl BinaryOp {
            pub const ALL: &'static [BinaryOp] = &[$(BinaryOp::$op),*];

            /// The kernel's name in error messages.
            fn stub(self) -> &'static str {
                match self { $(BinaryOp::$op => $stub),* }
            }

            fn rule(self) -> ResultType {
                match self { $(BinaryOp::$op => ResultType::$rule),* }
            }

            fn supported(self) -> classes::Classes {
                match self { $(BinaryOp::$op => 0 $(| $supported)*),* }
            }
        }

        fn bool_kernel(op: BinaryOp) -> Option<BinaryKernel<BoolByte>> {
            match op { $(BinaryOp::$op => pick!(bool; $($kernels)*)),* }
        }

        pub(super) fn int_kernel<T: Integer>(op: BinaryOp) -> Option<BinaryKernel<T>> {
            match op { $(BinaryOp::$op => pick!(int; $($kernels)*)),* }
        }

        pub(super) fn float_kernel<T: Real>(op: BinaryOp) -> Option<BinaryKernel<T>> {
            match op { $(BinaryOp::$op => pick!(float; $($kernels)*)),* }
        }

        fn complex_kernel<T: Real>(op: BinaryOp) -> Option<BinaryKernel<Complex<T>>>
        where
            Complex<T>: Number,
        {
            match op { $(BinaryOp::$op => pick!(complex; $($kernels)*)),* }
        }

        fn float_tail<T: Real>(op: BinaryOp) -> Option<BinaryKernel<T>> {
            match op { $(BinaryOp::$op => pick!(float_tail; $($kernels)*)),* }
        }

        fn complex_tail<T: Real>(op: BinaryOp) -> Option<BinaryKernel<Complex<T>>>
        where
            Complex<T>: Number,
        {
            match op { $(BinaryOp::$op => pick!(complex_tail; $($kernels)*)),* }
        }
    };
}

// A row lists the operation, its kernel's name in PyTorch's errors, how the result's dtype follows from the operands',
// the supported classes of dtypes, and the function of two numbers for each class; `T` is the real type. A `_tail`
// kernel is used for elements that PyTorch does not process in vectors, if they round differently.
binary_ops! {
    Add            "add_stub"         Common  [BOOL NUMBERS COMPLEX COMPLEX_HALF] {
        bool(|a, b| a | b) int(|a, b| a.wrapping_add(&b)) float(|a, b| a + b)
        complex(|a, b| complex::scaled_sum(a, b, Complex::new(T::one(), T::zero())))
    }
    Sub            "add_stub"         Common  [NUMBERS COMPLEX COMPLEX_HALF] {
        int(|a, b| a.wrapping_sub(&b)) float(|a, b| a - b)
        complex(|a, b| complex::scaled_sum(a, b, Complex::new(-T::one(), -T::zero())))
    }
    Mul            "mul_cpu"          Common  [ALL] {
        bool(|a, b| a & b) int(|a, b| a.wrapping_mul(&b)) float(|a, b| a * b) complex(|a, b| a * b)
        complex_tail(complex::multiply_tail)
    }
    TrueDivide     "div_cpu"          Float   [FLOAT COMPLEX] {
        float(|a, b| a / b) complex(complex::divide)
    }
    FloorDivide    "div_floor_cpu"    Common  [NUMBERS] {
        int_blocks(|a, b, out| by_quotient(a, b, out, floor_quotient, f64::floor, |_, _, quotient| quotient))
        float_blocks(|a, b, out| by_rest(a, b, out, |a, b| a % b, floor_quotient_of_rest))
    }
    TruncDivide    "div_trunc_cpu"    Common  [NUMBERS] {
        int_blocks(|a, b, out| by_quotient(a, b, out, T::quotient, f64::trunc, |_, _, quotient| quotient))
        float(|a, b| (a / b).trunc())
    }
    Remainder      "remainder_cpu"    Common  [NUMBERS] {
        int_blocks(|a, b, out| by_quotient(a, b, out, modulo, f64::floor, rest_of_quotient))
        float_blocks(|a, b, out| by_rest(a, b, out, vector_rest, |_, b, rest| modulo_float(b, rest)))
        float_tail(|a, b| modulo_float(b, a % b))
    }
    Fmod           "fmod_cpu"         Common  [NUMBERS] {
        int_blocks(|a, b, out| by_quotient(a, b, out, T::rest, f64::trunc, rest_of_quotient))
        float_blocks(|a, b, out| by_rest(a, b, out, vector_rest, |_, _, rest| rest))
        float_tail(|a, b| a % b)
    }
    Pow            "pow"              Common  [NUMBERS COMPLEX] {
        int_blocks(integer_powers) float_blocks(power) float_tail(|a, b| a.powf(b)) complex(complex::power)
    }
    Maximum        "maximum_cpu"      Common  [BOOL NUMBERS] {
        bool(|a, b| a | b) int(|a, b| a.max(b))
        float(|a, b| if a.is_nan() || a > b { a } else { b })
        float_tail(|a, b| if a.is_nan() || a >= b { a } else { b })
    }
    Minimum        "minimum_cpu"      Common  [BOOL NUMBERS] {
        bool(|a, b| a & b) int(|a, b| a.min(b))
        float(|a, b| if a.is_nan() || a < b { a } else { b })
        float_tail(|a, b| if a.is_nan() || a <= b { a } else { b })
    }
    Fmax           "fmax_cpu"         Common  [BOOL NUMBERS] {
        bool(|a, b| a | b) int(|a, b| a.max(b)) float(|a, b| if a > b || b.is_nan() { a } else { b })
    }
    Fmin           "fmin_cpu"         Common  [BOOL NUMBERS] {
        bool(|a, b| a & b) int(|a, b| a.min(b)) float(|a, b| if a < b || b.is_nan() { a } else { b })
    }
    BitwiseAnd     "bitwise_and_cpu"  Common  [BOOL INT UNSIGNED] { bool(|a, b| a & b) int(|a, b| a & b) }
    BitwiseOr      "bitwise_or_cpu"   Common  [BOOL INT UNSIGNED] { bool(|a, b| a | b) int(|a, b| a | b) }
    BitwiseXor     "bitwise_xor_cpu"  Common  [BOOL INT UNSIGNED] { bool(|a, b| a ^ b) int(|a, b| a ^ b) }
    LeftShift      "lshift_cpu"       Common  [INT] { int(shift_left) }
    RightShift     "rshift_cpu"       Common  [INT] { int(shift_right) }
    Atan2          "atan2_cpu"        Float   [FLOAT] {
        float_series(atan2, f64::atan2) float_tail(|a, b| a.atan2(b))
    }
    Hypot          "hypot_cpu"        Common  [FLOAT] { float_series(hypot, f64::hypot) }
    Copysign       "copysign_cpu"     Float   [FLOAT] { float(|a, b| a.copysign(b)) }
    Gcd            "gcd_cpu"          Common  [INT] { int(gcd) }
    Lcm            "lcm_cpu"          Common  [INT] { int(lcm) }
    Logaddexp      "logaddexp_cpu"    Common  [FLOAT COMPLEX] { float(log_add_exp) complex(complex::log_add_exp) }
    Logaddexp2     "logaddexp2_cpu"   Common  [FLOAT] { float(log_add_exp2) }
    Xlogy          "xlogy_cpu"        Float   [FLOAT] { float(|x, y| x_log_y(x, y, |v| v)) }
    Heaviside      "heaviside_cpu"    Common  [BOOL NUMBERS] {
        bool(|a, b| a | b)
        int(|a, b| if a == T::zero() { b } else if a > T::zero() { T::one() } else { T::zero() })
        float(|a, b| if a == T::zero() { b } else if a > T::zero() { T::one() } else { T::zero() })
    }
    Nextafter      "nextafter_cpu"    Common  [FLOAT] { float(|a, b| special::next_after(a, b, T::neighbour)) }
    Xlog1py        "xlog1py_cpu"      Float   [FLOAT] { float(|x, y| special::x_log1p_y(x, y, |v| v)) }
    Zeta           "zeta_cpu"         Float   [WIDE_FLOAT] { float(special::zeta) }
    Igamma         "igamma_cpu"       Common  [FLOAT] { float_blocks(special::lower_gamma) }
    Igammac        "igammac_cpu"      Common  [FLOAT] { float_blocks(special::upper_gamma) }
    ChebyshevT     "chebyshev_polynomial_t_cpu" Float [WIDE_FLOAT] {
        float(|a, b| Chebyshev::T.at(a, b))
    }
    ChebyshevU     "chebyshev_polynomial_u_cpu" Float [WIDE_FLOAT] {
        float(|a, b| Chebyshev::U.at(a, b))
    }
    ChebyshevV     "chebyshev_polynomial_v_cpu" Float [WIDE_FLOAT] {
        float(|a, b| Chebyshev::V.at(a, b))
    }
    ChebyshevW     "chebyshev_polynomial_w_cpu" Float [WIDE_FLOAT] {
        float(|a, b| Chebyshev::W.at(a, b))
    }
    ShiftedChebyshevT "shifted_chebyshev_polynomial_t_cpu" Float [WIDE_FLOAT] {
        float(|a, b| Chebyshev::T.shifted(a, b))
    }
    ShiftedChebyshevU "shifted_chebyshev_polynomial_u_cpu" Float [WIDE_FLOAT] {
        float(|a, b| Chebyshev::U.shifted(a, b))
    }
    ShiftedChebyshevV "shifted_chebyshev_polynomial_v_cpu" Float [WIDE_FLOAT] {
        float(|a, b| Chebyshev::V.shifted(a, b))
    }
    ShiftedChebyshevW "shifted_chebyshev_polynomial_w_cpu" Float [WIDE_FLOAT] {
        float(|a, b| Chebyshev::W.shifted(a, b))
    }
    HermiteH       "hermite_polynomial_h_cpu" Float [WIDE_FLOAT] {
        float(special::hermite_h)
    }
    HermiteHe      "hermite_polynomial_he_cpu" Float [WIDE_FLOAT] {
        float(special::hermite_he)
    }
    LaguerreL      "laguerre_polynomial_l_cpu" Float [WIDE_FLOAT] {
        float(special::laguerre)
    }
    LegendreP      "legendre_polynomial_p_cpu" Float [WIDE_FLOAT] {
        float(special::legendre)
    }
}

/// Computes a function in double precision and rounds the result.
fn of_double<T: Real>(a: T, b: T, function: impl Fn(f64, f64) -> f64) -> T {
    T::from_f64(function(a.as_f64(), b.as_f64()))
}

/// The kernels of one compute type.
pub(super) trait BinaryKernels: Number {
    fn binary(op: BinaryOp) -> Option<BinaryKernel<Self>>;
    /// The kernel for elements processed one by one, if they round differently.
    fn binary_tail(_op: BinaryOp) -> Option<BinaryKernel<Self>> {
        None
    }
    /// `a + alpha * b`, with one rounding for floats.
    fn scaled_sum(a: Self, b: Self, alpha: Self) -> Self;
    /// Like [`BinaryKernels::scaled_sum`], for elements processed one by one. With `repeated`, `b` is the same for all
    /// of them and is scaled beforehand.
    fn scaled_sum_tail(a: Self, b: Self, alpha: Self, _repeated: bool) -> Self {
        Self::scaled_sum(a, b, alpha)
    }
}

impl BinaryKernels for BoolByte {
    fn binary(op: BinaryOp) -> Option<BinaryKernel<BoolByte>> {
        bool_kernel(op)
    }
    fn scaled_sum(a: BoolByte, b: BoolByte, alpha: BoolByte) -> BoolByte {
        a | b & alpha
    }
}

macro_rules! kernels {
    (integers $($t:ty)*) => {$(
        impl BinaryKernels for $t {
            fn binary(op: BinaryOp) -> Option<BinaryKernel<$t>> {
                int_kernel(op)
            }
            #[inline]
            fn scaled_sum(a: $t, b: $t, alpha: $t) -> $t {
                a.wrapping_add(b.wrapping_mul(alpha))
            }
        }
    )*};
    (floats $($t:ty)*) => {$(
        impl BinaryKernels for $t {
            fn binary(op: BinaryOp) -> Option<BinaryKernel<$t>> {
                float_kernel(op)
            }
            fn binary_tail(op: BinaryOp) -> Option<BinaryKernel<$t>> {
                float_tail(op)
            }
            #[inline]
            fn scaled_sum(a: $t, b: $t, alpha: $t) -> $t {
                b.fused(alpha, a)
            }
            #[inline]
            fn scaled_sum_tail(a: $t, b: $t, alpha: $t, repeated: bool) -> $t {
                if repeated { a + alpha * b } else { b.fused(alpha, a) }
            }
        }

        impl BinaryKernels for Complex<$t> {
            fn binary(op: BinaryOp) -> Option<BinaryKernel<Self>> {
                complex_kernel(op)
            }
            fn binary_tail(op: BinaryOp) -> Option<BinaryKernel<Self>> {
                complex_tail(op)
            }
            #[inline]
            fn scaled_sum(a: Self, b: Self, alpha: Self) -> Self {
                complex::scaled_sum(a, b, alpha)
            }
            #[inline]
            fn scaled_sum_tail(a: Self, b: Self, alpha: Self, _repeated: bool) -> Self {
                complex::scaled_sum_tail(a, b, alpha)
            }
        }
    )*};
}
kernels!(integers u8 i8 i16 i32 i64 u16 u32 u64);
kernels!(floats f32 f64);

/// Kernels of the 16-bit floats that round intermediate results to 16 bits.
fn rounding_kernel<S: Stored<Compute = f32> + Real>(op: BinaryOp) -> Option<BinaryKernel<f32>> {
    match op {
        BinaryOp::FloorDivide => Some(|a, b, out| {
            by_rest(a, b, out, |a, b| a % b, |a, b, rest| floor_quotient_rounded(a, b, rest, rounded::<S>));
        }),
        BinaryOp::TruncDivide => Some(|a, b, out| zip(a, b, out, |a, b| rounded::<S>(a / b).trunc())),
        BinaryOp::Xlogy => Some(|x, y, out| zip(x, y, out, |x, y| x_log_y(x, y, rounded::<S>))),
        BinaryOp::Xlog1py => Some(|x, y, out| zip(x, y, out, |x, y| special::x_log1p_y(x, y, rounded::<S>))),
        BinaryOp::Nextafter => Some(|a, b, out| {
            zip(a, b, out, |a, b| special::next_after(S::narrow(a), S::narrow(b), S::neighbour).widen());
        }),
        _ => None,
    }
}

impl BinaryOp {
    /// Returns whether operands of a dtype are computed in it, and no value of theirs is refused.
    pub(super) fn keeps(self, dtype: DType) -> bool {
        let is_common = self.rule() == ResultType::Common || !dtype.is_integral(true);
        is_common && !(self.divides() && dtype.is_integral(false)) && self.supported() & classes::of(dtype) != 0
    }

    /// Returns whether PyTorch has a second kernel for one-element second operands, which it does not round to a 16-bit
    /// float.
    fn has_reduced_kernel(self) -> bool {
        matches!(self, BinaryOp::Mul | BinaryOp::TrueDivide | BinaryOp::FloorDivide | BinaryOp::TruncDivide)
    }

    /// How kernels of a dtype go through elements. In PyTorch, expensive operations have kernels with wider steps.
    pub(super) fn pace(self, dtype: DType) -> Pace {
        use BinaryOp::*;
        let step = match self {
            Pow | Atan2 | Hypot | Logaddexp | Logaddexp2 | Xlogy | Copysign => 128,
            _ => 64,
        };
        let by_series = dtype != DType::Double && dtype.is_floating_point();
        match self {
            Hypot | FloorDivide | TruncDivide | Remainder | Fmod if by_series => Pace { step, weight: 2, alike: false },
            Atan2 | Hypot | FloorDivide | TruncDivide | Remainder | Fmod => Pace::with_functions(step, 1, by_series),
            Pow | Logaddexp | Logaddexp2 => Pace::with_functions(step, 2, by_series),
            Xlogy | Xlog1py | Gcd | Lcm => Pace::with_functions(step, 1, false),
            Zeta | Igamma | Igammac => Pace::with_functions(step, 4, false),
            _ => Pace { step, weight: 1, alike: false },
        }
    }

    fn divides(self) -> bool {
        use BinaryOp::*;
        matches!(self, FloorDivide | TruncDivide | Remainder | Fmod)
    }

    /// Checks that come before any check of the operands' sizes.
    pub(super) fn check_operands(self, operands: [Operand; 2]) -> Result<()> {
        let of_category = |o: Operand, category| match o {
            Operand::Tensor(view) => view.dtype.category() == category,
            Operand::Number(number) => number.category() == category,
        };
        if self == BinaryOp::Sub {
            match operands.map(|o| of_category(o, Category::Bool)) {
                [true, true] => bail!(
                    RuntimeError,
                    "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or \
                     `logical_xor()` operator instead."
                ),
                [false, false] => {}
                _ => bail!(
                    RuntimeError,
                    "Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying to invert a \
                     mask, use the `~` or `logical_not()` operator instead."
                ),
            }
        }
        let any_complex = || operands.iter().any(|&o| of_category(o, Category::Complex));
        match self {
            BinaryOp::Maximum if any_complex() => bail!(RuntimeError, "maximum not implemented for complex tensors."),
            BinaryOp::Minimum if any_complex() => bail!(RuntimeError, "minimum not implemented for complex tensors."),
            BinaryOp::Fmax if any_complex() => bail!(RuntimeError, "fmax not implemented for complex tensors."),
            BinaryOp::Fmin if any_complex() => bail!(RuntimeError, "fmin not implemented for complex tensors."),
            BinaryOp::Heaviside if any_complex() => {
                bail!(RuntimeError, "heaviside is not yet implemented for complex tensors.")
            }
            BinaryOp::Heaviside => match operands {
                [Operand::Tensor(a), Operand::Tensor(b)] if a.dtype != b.dtype => {
                    bail!(RuntimeError, "heaviside is not yet implemented for tensors with different dtypes.")
                }
                _ => Ok(()),
            },
            _ => Ok(()),
        }
    }
}

/// Applies a binary operation to two operands. `default` is the default dtype.
///
/// # Errors
/// RuntimeError, in PyTorch's words, for operands that do not broadcast or promote, outputs that cannot hold the
/// result, unsupported dtypes, and integer division by zero.
pub fn binary(op: BinaryOp, a: Operand, b: Operand, output: Output, default: DType) -> Result<View> {
    op.check_operands([a, b])?;
    match quick::binary(op, a, b, output) {
        Some(done) => Ok(done),
        None => usual(op, a, b, output, default),
    }
}

/// Like [`binary`], for operands that passed the first checks.
pub(super) fn usual(op: BinaryOp, a: Operand, b: Operand, output: Output, default: DType) -> Result<View> {
    let (common, Plan { target, compute }) = prepare(op, a, b, output, default)?;
    if !compute {
        return Ok(target);
    }
    // PyTorch has a separate kernel for one-element second operands of reduced floats, which are not rounded.
    let single = match b {
        Operand::Number(_) => true,
        Operand::Tensor(view) => view.numel() == 1,
    };
    let reduced = (common.is_reduced_floating_point() || common.is_float8()) && single && op.has_reduced_kernel();
    if reduced {
        check_kernel(format_args!("{}_reduced_float", op.stub()), FLOAT, common)?;
    }
    let stub = match op {
        // For integers, these run as maximum and minimum, and errors use those names.
        BinaryOp::Fmax if common.is_integral(true) => BinaryOp::Maximum.stub(),
        BinaryOp::Fmin if common.is_integral(true) => BinaryOp::Minimum.stub(),
        op => op.stub(),
    };
    check_kernel(stub, op.supported(), common)?;
    let computed = write_target(&target, common)?;
    run(op, common, [a, b], &computed, reduced)?;
    copy_back(computed, &target)?;
    Ok(target)
}

/// Returns the common dtype and a checked destination for the result.
fn prepare(op: BinaryOp, a: Operand, b: Operand, output: Output, default: DType) -> Result<(DType, Plan)> {
    let both = [a, b];
    // A power by a number counts as an operation on the base alone.
    let operands = match (op, b) {
        (BinaryOp::Pow, Operand::Number(_)) => &both[..1],
        _ => &both,
    };
    let sizes = check_sizes(operands, output)?;
    let common = result_type(&both, default)?;
    let common = if op.rule() == ResultType::Float && common.is_integral(true) { default } else { common };
    Ok((common, plan(operands, output, Shape { sizes, common, result: common, safe_cast: true })?))
}

/// An operand of the common dtype. `None` for one that is read as a single value.
pub(crate) type Held<'v> = Option<Cow<'v, View>>;

/// Converts the operands to the common dtype; operands read as a single value need no conversion.
pub(crate) fn as_common_dtype<'v>(operands: [Operand<'v>; 2], common: DType) -> Result<[Held<'v>; 2]> {
    let hold = |operand: Operand<'v>| match operand {
        Operand::Tensor(view) if view.numel() != 1 || view.dtype == common => converted(view, common).map(Some),
        _ => Ok(None),
    };
    let [a, b] = operands;
    Ok([hold(a)?, hold(b)?])
}

/// Returns whether the second operand is constant along the fastest dimension.
fn repeats(operand: Operand, sizes: &[i64]) -> bool {
    match operand {
        Operand::Number(_) => true,
        Operand::Tensor(view) => view.layout.broadcast_strides(sizes).last().is_none_or(|&stride| stride == 0),
    }
}

fn run(op: BinaryOp, common: DType, operands: [Operand; 2], out: &View, reduced: bool) -> Result<()> {
    let views = as_common_dtype(operands, common)?;
    let rounding = match common {
        DType::Half if !reduced => rounding_kernel::<f16>(op),
        DType::BFloat16 if !reduced => rounding_kernel::<bf16>(op),
        _ => None,
    };
    if let Some(kernel) = rounding {
        return match common {
            DType::Half => run_rounding::<f16>(operands, &views, out, kernel),
            _ => run_rounding::<bf16>(operands, &views, out, kernel),
        };
    }
    let [kernel, tail_kernel] = [false, true].map(|tail| narrow_kernel(common, op, tail));
    if let (false, [Some(a), Some(b)], Some((kernel, tail_kernel))) = (reduced, &views, kernel.zip(tail_kernel)) {
        let [a, b] = [a, b].map(|view| Source::Elements(view, broadcast(view, out.sizes())));
        return block::binary::<u16, u16>(out, a, b, op.pace(common), &|a, b, out, tail| {
            if tail {
                tail_kernel(a, b, out)
            } else {
                kernel(a, b, out)
            }
            Ok(())
        });
    }
    dispatch!(common, S => {
        type C = <S as Stored>::Compute;
        let Some(kernel) = C::binary(op) else {
            return check_kernel(op.stub(), 0, common);
        };
        let tail_kernel = C::binary_tail(op);
        let pace = Pace { alike: tail_kernel.is_none(), ..op.pace(common) };
        let tail_kernel = tail_kernel.unwrap_or(kernel);
        let a = source::<S>(operands[0], &views[0], out.sizes(), false)?;
        let b = source::<S>(operands[1], &views[1], out.sizes(), reduced)?;
        let guard = op.divides() && common.is_integral(false);
        block::binary::<S, S>(out, a, b, pace, &|a, b, out, tail| {
            if guard && b.iter().any(|b| !b.truth()) {
                bail!(RuntimeError, "ZeroDivisionError");
            }
            if tail { tail_kernel(a, b, out) } else { kernel(a, b, out) }
            Ok(())
        })
    })
}

fn run_rounding<S: Stored<Compute = f32>>(
    operands: [Operand; 2],
    views: &[Held; 2],
    out: &View,
    kernel: BinaryKernel<f32>,
) -> Result<()> {
    let a = source::<S>(operands[0], &views[0], out.sizes(), false)?;
    let b = source::<S>(operands[1], &views[1], out.sizes(), false)?;
    block::binary::<S, S>(out, a, b, Pace::PLAIN, &|a, b, out, _| {
        kernel(a, b, out);
        Ok(())
    })
}

/// Computes `a + alpha * b`.
pub(super) fn scaled_sum(a: Operand, b: Operand, alpha: Scalar, output: Output, default: DType) -> Result<View> {
    let op = BinaryOp::Add;
    let (common, Plan { target, compute }) = prepare(op, a, b, output, default)?;
    if !compute {
        return Ok(target);
    }
    check_kernel(op.stub(), op.supported(), common)?;
    check_fits(alpha, common)?;
    let computed = write_target(&target, common)?;
    let views = as_common_dtype([a, b], common)?;
    let repeated = repeats(b, computed.sizes());
    let rounds = common.is_reduced_floating_point();
    dispatch!(common, S => {
        type C = <S as Stored>::Compute;
        let round = |value: C| <S as Stored>::narrow(value).widen();
        let (alpha, one) = (round(C::from_scalar(alpha)), C::from_scalar(Scalar::Int(1)));
        let a = source::<S>(a, &views[0], computed.sizes(), false)?;
        let b = source::<S>(b, &views[1], computed.sizes(), false)?;
        block::binary::<S, S>(&computed, a, b, op.pace(common), &|a, b, out, tail| {
            if rounds && tail {
                // The product is rounded separately.
                let product = move |b| round(C::scaled_sum(C::default(), b, alpha));
                zip(a, b, out, move |a, b| C::scaled_sum(a, product(b), one));
            } else if tail {
                zip(a, b, out, move |a, b| C::scaled_sum_tail(a, b, alpha, repeated));
            } else {
                zip(a, b, out, move |a, b| C::scaled_sum(a, b, alpha));
            }
            Ok(())
        })?;
    });
    copy_back(computed, &target)?;
    Ok(target)
}
