//! The table of unary operations, and the loop that runs a row.

use super::arithmetic::scale_angle;
use super::classes::{self, *};
use super::complex;
use super::lookup;
use super::narrow::narrow_unary;
use super::quick;
use super::real::*;
use super::{Output, Plan, Shape, broadcast, check_kernel, check_sizes, converted, copy_back, plan, write_target};
use crate::bail;
use crate::memory::BoolByte;
use crate::ops::block::{self, Pace};
use crate::ops::create::full_like;
use crate::ops::number::{Integer, Number, Real, Stored, is_single, rounded};
use crate::ops::special;
use crate::parallel::{self, vectorised, vectorised_kernel};
use crate::{DType, Layout, Result, Scalar, View};
use elementary::glibc::exponentials;
use elementary::series::{self, Fused, Plain, to_single};
#[cfg(target_feature = "simd128")]
use elementary::singles;
use half::{bf16, f16};
use num_complex::Complex;
use std::marker::PhantomData;

/// How the result's dtype follows from the operand's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ResultType {
    Same,
    /// Integers are converted to the default floating dtype first.
    Float,
    /// The result is `bool`.
    Bool,
}

fn map<A: Copy, R: Into<O>, O>(values: &[A], out: &mut [O], function: impl Fn(A) -> R) {
    vectorised(move || {
        for (out, &value) in out.iter_mut().zip(values) {
            *out = function(value).into();
        }
    });
}

/// A function that is inlined into vectorised code, where a fused multiply-add is a single instruction. The compiler
/// does not inline large closures or functions passed as values.
trait Function<T> {
    /// See [`parallel::Kernel::WIDEST`].
    const WIDEST: usize = 512;
    fn at(value: T) -> T;
}

/// A function that is computed without branches for `f32` (see `series.rs`) and perhaps for `f64` (see `doubles.rs`),
/// and otherwise by the system's function.
trait Series<T>: Function<T> {
    /// The computation is valid up to this magnitude; other numbers go through `function`. `None` if there is no limit.
    const LIMIT: Option<f64>;
    /// The loop over `f32` for WebAssembly.
    #[cfg(target_feature = "simd128")]
    const SINGLES: fn(&[f32], &mut [f32]);
    fn function(x: f64) -> f64;
}

/// Elements of a group: four vectors of doubles.
const GROUP: usize = 16;

/// Applies a function `F` to a slice.
struct SliceLoop<'a, T, F> {
    values: &'a [T],
    out: &'a mut [T],
    function: PhantomData<F>,
}

impl<T: Copy, F: Function<T>> parallel::Kernel for SliceLoop<'_, T, F> {
    type Output = ();
    const WIDEST: usize = F::WIDEST;
    #[inline(always)]
    fn run(self, _fuses: bool) {
        // A loop that looks up a table is vectorised only in groups, which cannot overlap the results.
        let done = if F::WIDEST < 512 { self.values.len() / GROUP * GROUP } else { 0 };
        let (groups, outs) = (self.values.as_chunks::<GROUP>().0, self.out.as_chunks_mut::<GROUP>().0);
        for (out, group) in outs.iter_mut().zip(groups).take(done / GROUP) {
            let mut results = *group;
            results.iter_mut().for_each(|value| *value = F::at(*value));
            *out = results;
        }
        for (out, &value) in self.out.iter_mut().zip(self.values).skip(done) {
            *out = F::at(value);
        }
    }
}

fn map_function<T: Copy, F: Function<T>>(values: &[T], out: &mut [T]) {
    vectorised_kernel(SliceLoop { values, out, function: PhantomData::<F> });
}

/// The kernel of a function of real numbers, or of one type.
macro_rules! by_function {
    ($function:path) => {
        by_function!($function, T, T: Real)
    };
    ($function:path, $t:ident $(, $($of:tt)*)?) => {{
        struct Row;
        impl<$($($of)*)?> Function<$t> for Row {
            #[inline(always)]
            fn at(value: $t) -> $t {
                $function(value)
            }
        }
        map_function::<$t, Row>
    }};
}

fn map_series<T: Real, F: Series<T>>(values: &[T], out: &mut [T]) {
    #[cfg(target_feature = "simd128")]
    match T::as_singles(values, out) {
        Some((values, out)) => (F::SINGLES)(values, out),
        None => map_function::<T, F>(values, out),
    }
    #[cfg(not(target_feature = "simd128"))]
    map_function::<T, F>(values, out);
    let Some(limit) = F::LIMIT else { return };
    let is_far = |value: T| (value.as_f64().abs() > limit) | value.is_nan();
    if vectorised(|| values.iter().fold(false, |any, &v| any | is_far(v))) {
        let outliers = out.iter_mut().zip(values).filter(|&(_, &value)| is_far(value));
        outliers.for_each(|(out, &value)| *out = value.via_f64(F::function));
    }
}

/// The kernel of a [`Series`]: the series of `f32`, perhaps after its limit, and the system's function. Perhaps also the
/// function of `f64`, its limit and the widest vectors for it.
macro_rules! by_series {
    ($series:ident, $function:path) => {
        by_series!(@ None, $series, $function; None, $function, 512)
    };
    ($limit:expr, $series:ident, $function:path) => {
        by_series!(@ Some($limit), $series, $function; None, $function, 512)
    };
    ($series:ident, $function:path; $double_limit:expr, $double:path, $widest:expr) => {
        by_series!(@ None, $series, $function; Some($double_limit), $double, $widest)
    };
    (@ $limit:expr, $series:ident, $function:path; $double_limit:expr, $double:path, $widest:expr) => {{
        struct Row;
        impl<T: Real> Series<T> for Row {
            const LIMIT: Option<f64> = if is_single::<T>() { $limit } else { $double_limit };
            #[cfg(target_feature = "simd128")]
            const SINGLES: fn(&[f32], &mut [f32]) = singles::$series;
            fn function(x: f64) -> f64 {
                $function(x)
            }
        }
        impl<T: Real> Function<T> for Row {
            const WIDEST: usize = if is_single::<T>() { 512 } else { $widest };
            #[inline(always)]
            fn at(value: T) -> T {
                let value = value.as_f64();
                T::from_f64(match is_single::<T>() {
                    true => to_single(|| series::$series::<Plain>(value), || series::$series::<Fused>(value)),
                    false => $double(value),
                })
            }
        }
        Some(map_series::<T, Row>)
    }};
}

/// A kernel over blocks of one compute type.
pub(super) type UnaryKernel<C> = fn(&[C], &mut [C]);

/// A kernel whose results are bools.
pub(super) type TestKernel<C> = fn(&[C], &mut [BoolByte]);

/// Picks the kernel of one class from a row.
macro_rules! pick {
    (bool; bool $kernel:tt $($rest:tt)*) => { Some(|a, out| map(a, out, $kernel)) };
    (int; int $kernel:tt $($rest:tt)*) => { Some(|a, out| map(a, out, $kernel)) };
    (float; float ($function:path) $($rest:tt)*) => { Some(by_function!($function)) };
    (float; float $kernel:tt $($rest:tt)*) => { Some(|a, out| map(a, out, $kernel)) };
    (complex; complex $kernel:tt $($rest:tt)*) => { Some(|a, out| map(a, out, $kernel)) };
    (float_tail; float_tail $kernel:tt $($rest:tt)*) => { Some(|a, out| map(a, out, $kernel)) };
    (complex_tail; complex_tail $kernel:tt $($rest:tt)*) => { Some(|a, out| map(a, out, $kernel)) };
    (float; float_series ($($series:tt)*) $($rest:tt)*) => { by_series!($($series)*) };
    ($class:ident; $other:ident $kernel:tt $($rest:tt)*) => { pick!($class; $($rest)*) };
    ($class:ident;) => { None };
}

/// Whether a row has a series.
macro_rules! has_series {
    (float_series $($rest:tt)*) => { true };
    ($class:ident $kernel:tt $($rest:tt)*) => { has_series!($($rest)*) };
    () => { false };
}

macro_rules! unary_ops {
    (
        numbers { $($op:ident $stub:literal $rule:ident [$($supported:ident)*] { $($kernels:tt)* })* }
        tests { $($test:ident $test_stub:literal [$($test_supported:ident)*] { $($tests:tt)* })* }
    ) => {
        /// A unary operation.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum UnaryOp { $($op,)* $($test),* }

        impl UnaryOp {
            pub const ALL: &'static [UnaryOp] = &[$(UnaryOp::$op,)* $(UnaryOp::$test),*];

            /// The kernel's name in error messages.
            fn stub(self) -> &'static str {
                match self { $(UnaryOp::$op => $stub,)* $(UnaryOp::$test => $test_stub),* }
            }

            fn rule(self) -> ResultType {
                match self { $(UnaryOp::$op => ResultType::$rule,)* $(UnaryOp::$test => ResultType::Bool),* }
            }

            fn supported(self) -> classes::Classes {
                match self {
                    $(UnaryOp::$op => 0 $(| $supported)*,)*
                    $(UnaryOp::$test => 0 $(| $test_supported)*),*
                }
            }

            /// Whether a series computes the operation in single precision.
            fn has_series(self) -> bool {
                match self { $(UnaryOp::$op => has_series!($($kernels)*),)* $(UnaryOp::$test => false),* }
            }
        }

        fn bool_kernel(op: UnaryOp) -> Option<UnaryKernel<BoolByte>> {
            match op { $(UnaryOp::$op => pick!(bool; $($kernels)*),)* _ => None }
        }
        fn int_kernel<T: Integer>(op: UnaryOp) -> Option<UnaryKernel<T>> {
            match op { $(UnaryOp::$op => pick!(int; $($kernels)*),)* _ => None }
        }
        fn float_kernel<T: Real>(op: UnaryOp) -> Option<UnaryKernel<T>> {
            match op { $(UnaryOp::$op => pick!(float; $($kernels)*),)* _ => None }
        }
        fn complex_kernel<T: Real>(op: UnaryOp) -> Option<UnaryKernel<Complex<T>>>
        where
            Complex<T>: Number,
        {
            match op { $(UnaryOp::$op => pick!(complex; $($kernels)*),)* _ => None }
        }
        fn float_tail<T: Real>(op: UnaryOp) -> Option<UnaryKernel<T>> {
            match op { $(UnaryOp::$op => pick!(float_tail; $($kernels)*),)* _ => None }
        }
        fn complex_tail<T: Real>(op: UnaryOp) -> Option<UnaryKernel<Complex<T>>>
        where
            Complex<T>: Number,
        {
            match op { $(UnaryOp::$op => pick!(complex_tail; $($kernels)*),)* _ => None }
        }

        fn bool_test(op: UnaryOp) -> Option<TestKernel<BoolByte>> {
            match op { $(UnaryOp::$test => pick!(bool; $($tests)*),)* _ => None }
        }
        fn int_test<T: Integer>(op: UnaryOp) -> Option<TestKernel<T>> {
            match op { $(UnaryOp::$test => pick!(int; $($tests)*),)* _ => None }
        }
        fn float_test<T: Real>(op: UnaryOp) -> Option<TestKernel<T>> {
            match op { $(UnaryOp::$test => pick!(float; $($tests)*),)* _ => None }
        }
        fn complex_test<T: Real>(op: UnaryOp) -> Option<TestKernel<Complex<T>>>
        where
            Complex<T>: Number,
        {
            match op { $(UnaryOp::$test => pick!(complex; $($tests)*),)* _ => None }
        }
    };
}

// Rows as in `binary.rs`. Rows of tests have no rule, because their results are bools.
unary_ops! {
numbers {
    Neg            "neg_cpu"          Same   [NUMBERS COMPLEX COMPLEX_HALF] {
        int(|a| a.wrapping_negate()) float(|a| -a)
        complex(|a| Complex::new(T::zero() - a.re, T::zero() - a.im)) complex_tail(|a| -a)
    }
    Abs            "abs_cpu"          Same   [NUMBERS FLOAT8 COMPLEX COMPLEX_HALF] {
        int(|a| if a < T::zero() { a.wrapping_negate() } else { a })
        float(|a| a.abs())
        complex(|a| Complex::new(complex::magnitude(a), T::zero()))
    }
    Sign           "sign_cpu"         Same   [BOOL NUMBERS] { bool(|a: BoolByte| a.get()) int(sign) float(sign_float) }
    Sgn            "sign_cpu"         Same   [BOOL NUMBERS COMPLEX COMPLEX_HALF] {
        bool(|a: BoolByte| a.get()) int(sign) float(sign_float) complex(complex::sign) complex_tail(complex::sign_tail)
    }
    BitwiseNot     "bitwise_not_cpu"  Same   [BOOL INT] { bool(|a| !a) int(|a| !a) }
    Relu           "clamp_min_scalar_cpu" Same [NUMBERS] {
        int(|a| if a < T::zero() { T::zero() } else { a }) float(|a| if a < T::zero() { T::zero() } else { a })
    }
    Floor          "floor_vml_cpu"    Same   [NUMBERS UNSIGNED] { int(|a| a) float(|a| a.floor()) }
    Ceil           "ceil_vml_cpu"     Same   [NUMBERS UNSIGNED] { int(|a| a) float(|a| a.ceil()) }
    Round          "round_vml_cpu"    Same   [NUMBERS UNSIGNED] {
        int(|a| a) float(|a| a.via_f64(f64::round_ties_even))
    }
    Trunc          "trunc_vml_cpu"    Same   [NUMBERS UNSIGNED] { int(|a| a) float(|a| a.trunc()) }
    Frac           "frac_cpu"         Same   [FLOAT] { float(|a| a - a.trunc()) }
    PowerOf2       "pow"              Same   [FLOAT COMPLEX] {
        float(|a| a * a) complex(|a| a * a) complex_tail(|a| complex::multiply_tail(a, a))
    }
    PowerOf3       "pow"              Same   [FLOAT COMPLEX] {
        float(|a| a * a * a) complex(|a| a * a * a)
        complex_tail(|a| complex::multiply_tail(complex::multiply_tail(a, a), a))
    }
    PowerOfMinus2  "pow"              Same   [FLOAT COMPLEX] {
        float(|a| T::one() / (a * a)) complex(|a| complex::reciprocal(a * a))
    }
    Exp            "exp_vml_cpu"      Float  [FLOAT COMPLEX] {
        float_series(exp, f64::exp; exponentials::EXP_LIMIT, exponentials::exp, 256) complex(complex::exp)
    }
    Exp2           "exp2"             Float  [FLOAT COMPLEX] {
        float_series(exp2, f64::exp2; exponentials::EXP2_LIMIT, exponentials::exp2, 256) float_tail(|a| a.exp2())
        complex(|a| complex::exp(a * T::from_f64(std::f64::consts::LN_2)))
    }
    Expm1          "expm1_vml_cpu"    Float  [FLOAT COMPLEX] {
        float_series(exp_m1, f64::exp_m1; exponentials::EXP_M1_LIMIT, exponentials::exp_m1, 512) complex(complex::expm1)
    }
    Log            "log_vml_cpu"      Float  [FLOAT COMPLEX] {
        float_series(ln, f64::ln) complex(complex::log)
    }
    Log2           "log2_vml_cpu"     Float  [FLOAT COMPLEX] {
        float_series(log2, f64::log2)
        complex(|a| complex::log(a) / T::from_f64(std::f64::consts::LN_2))
    }
    Log10          "log10_vml_cpu"    Float  [FLOAT COMPLEX] {
        float_series(log10, f64::log10)
        complex(|a| complex::log(a) * T::from_f64(std::f64::consts::LOG10_E))
    }
    Log1p          "log1p_vml_cpu"    Float  [FLOAT COMPLEX] {
        float_series(ln_1p, f64::ln_1p) complex(complex::log1p)
    }
    Sqrt           "sqrt_vml_cpu"     Float  [FLOAT COMPLEX] {
        float(|a| a.sqrt()) complex(complex::sqrt)
    }
    Rsqrt          "rsqrt_cpu"        Float  [FLOAT COMPLEX] {
        float(|a| T::one() / a.sqrt())
        complex(|a| complex::reciprocal(complex::sqrt(a)))
    }
    Reciprocal     "reciprocal_cpu"   Float  [FLOAT COMPLEX] { float(|a| T::one() / a) complex(complex::reciprocal) }
    Sigmoid        "sigmoid_cpu"      Float  [FLOAT COMPLEX] {
        float_series(sigmoid, sigmoid; exponentials::EXP_LIMIT, exponentials::sigmoid, 256)
        float_tail(|a| T::one() / (T::one() + (-a).exp()))
        complex(|a| complex::reciprocal(complex::exp(-a) + T::one()))
    }
    Sin            "sin_vml_cpu"      Float  [FLOAT COMPLEX] {
        float_series(series::TURNS, sin, f64::sin) complex(complex::sin)
    }
    Cos            "cos_vml_cpu"      Float  [FLOAT COMPLEX] {
        float_series(series::TURNS, cos, f64::cos) complex(complex::cos)
    }
    Tan            "tan_vml_cpu"      Float  [FLOAT COMPLEX] {
        float_series(series::TURNS, tan, f64::tan) complex(complex::tan)
    }
    Asin           "asin_vml_cpu"     Float  [FLOAT COMPLEX] {
        float_series(asin, f64::asin) complex(|a| complex::via_f64(a, complex::asin))
    }
    Acos           "acos_vml_cpu"     Float  [FLOAT COMPLEX] {
        float_series(acos, f64::acos) complex(|a| complex::via_f64(a, complex::acos))
    }
    Atan           "atan_vml_cpu"     Float  [FLOAT COMPLEX] {
        float_series(atan, f64::atan) complex(complex::atan)
    }
    Sinh           "sinh_cpu"         Float  [FLOAT COMPLEX] {
        float_series(sinh, f64::sinh; exponentials::HYPERBOLIC_LIMIT, exponentials::sinh, 512) float_tail(|a| a.sinh()) complex(complex::sinh)
    }
    Cosh           "cosh_cpu"         Float  [FLOAT COMPLEX] {
        float_series(cosh, f64::cosh; exponentials::HYPERBOLIC_LIMIT, exponentials::cosh, 256) float_tail(|a| a.cosh()) complex(complex::cosh)
    }
    Tanh           "tanh_vml_cpu"     Float  [FLOAT COMPLEX] {
        float_series(tanh, f64::tanh; f64::INFINITY, exponentials::tanh, 512) complex(complex::tanh)
    }
    Asinh          "asinh_cpu"        Float  [FLOAT COMPLEX] {
        float(asinh) complex(|a| complex::via_f64(a, complex::asinh))
    }
    Acosh          "acosh_cpu"        Float  [FLOAT COMPLEX] {
        float(acosh) complex(|a| complex::via_f64(a, complex::acosh))
    }
    Atanh          "atanh_cpu"        Float  [FLOAT COMPLEX] {
        float_series(atanh, f64::atanh) float_tail(atanh) complex(complex::atanh)
    }
    Erf            "erf_vml_cpu"      Float  [FLOAT] { float_series(erf, special::erf) }
    Erfc           "erfc_vml_cpu"     Float  [FLOAT] { float_series(erfc, special::erfc) }
    Erfinv         "erfinv_vml_cpu"   Float  [FLOAT] { float_series(erfinv, special::erfinv) }
    Lgamma         "lgamma_vml_cpu"   Float  [FLOAT] { float(special::lgamma) }
    Digamma        "digamma"          Float  [FLOAT] { float(special::digamma) }
    I0             "i0_vml_cpu"       Float  [FLOAT] { float(special::i0) }
    I0e            "i0e_cpu"          Float  [FLOAT] { float(special::i0e) }
    I1             "i1_cpu"           Float  [FLOAT] { float(special::i1) }
    I1e            "i1e_cpu"          Float  [FLOAT] { float(special::i1e) }
    Entr           "entr_cpu"         Float  [FLOAT] { float(|a| special::entr(a, |v| v)) }
    Sinc           "sinc_cpu"         Float  [FLOAT COMPLEX] {
        float(special::sinc) complex(complex::sinc)
    }
    Erfcx          "erfcx_cpu"        Float  [WIDE_FLOAT] { float(special::erfcx) }
    Ndtri          "ndtri_cpu"        Float  [WIDE_FLOAT] { float(special::ndtri) }
    LogNdtr        "log_ndtr_cpu"     Float  [WIDE_FLOAT] { float(special::log_ndtr) }
    AiryAi         "airy_ai_cpu"      Float  [WIDE_FLOAT] { float(special::airy_ai) }
    BesselJ0       "bessel_j0_cpu"    Float  [WIDE_FLOAT] { float(special::j0) }
    BesselJ1       "bessel_j1_cpu"    Float  [WIDE_FLOAT] { float(special::j1) }
    BesselY0       "bessel_y0_cpu"    Float  [WIDE_FLOAT] { float(special::y0) }
    BesselY1       "bessel_y1_cpu"    Float  [WIDE_FLOAT] { float(special::y1) }
    ModifiedBesselI0 "modified_bessel_i0_cpu" Float  [WIDE_FLOAT] { float(special::i0) }
    ModifiedBesselI1 "modified_bessel_i1_cpu" Float  [WIDE_FLOAT] { float(special::modified_i1) }
    ModifiedBesselK0 "modified_bessel_k0_cpu" Float  [WIDE_FLOAT] { float(special::modified_k0) }
    ModifiedBesselK1 "modified_bessel_k1_cpu" Float  [WIDE_FLOAT] { float(special::modified_k1) }
    ScaledModifiedBesselK0 "scaled_modified_bessel_k0_cpu" Float  [WIDE_FLOAT] { float(special::scaled_k0) }
    ScaledModifiedBesselK1 "scaled_modified_bessel_k1_cpu" Float  [WIDE_FLOAT] { float(special::scaled_k1) }
    SphericalBesselJ0 "spherical_bessel_j0_cpu" Float  [WIDE_FLOAT] { float(special::spherical_j0) }
    Angle          "angle_cpu"        Float  [FLOAT COMPLEX] {
        float(|a| if a.is_nan() { a } else if a < T::zero() { T::from_f64(std::f64::consts::PI) } else { T::zero() })
        complex(complex::angle)
    }
    Deg2rad        "mul_cpu"          Float  [FLOAT] {}
    Rad2deg        "mul_cpu"          Float  [FLOAT] {}
}
tests {
    LogicalNot     "logical_not_cpu"  [BOOL NUMBERS COMPLEX] {
        bool(|a| !a) int(|a| !a.truth()) float(|a| !a.truth()) complex(|a| !a.truth())
    }
    Isnan          "isnan"            [ALL] {
        bool(|_| false) int(|_| false) float(|a| a.is_nan()) complex(|a| a.re.is_nan() || a.im.is_nan())
    }
    Isinf          "isinf"            [ALL] {
        bool(|_| false) int(|_| false) float(|a| a.is_infinite()) complex(|a| a.re.is_infinite() || a.im.is_infinite())
    }
    Isfinite       "isfinite"         [ALL] {
        bool(|_| true) int(|_| true) float(|a| a.is_finite()) complex(|a| a.re.is_finite() && a.im.is_finite())
    }
    Isposinf       "isposinf_cpu"     [BOOL NUMBERS UNSIGNED] {
        bool(|_| false) int(|_| false) float(|a| a == T::infinity())
    }
    Isneginf       "isneginf_cpu"     [BOOL NUMBERS UNSIGNED] {
        bool(|_| false) int(|_| false) float(|a| a == T::neg_infinity())
    }
    Isreal         "isreal"           [ALL] {
        bool(|_| true) int(|_| true) float(|_| true) complex(|a| a.im == T::zero())
    }
    Signbit        "signbit_cpu"      [BOOL NUMBERS] {
        bool(|_| false) int(|a| a < T::zero()) float(|a| a.is_sign_negative())
    }
}
}

/// The kernels of one compute type.
pub(super) trait UnaryKernels: Number {
    fn unary(op: UnaryOp) -> Option<UnaryKernel<Self>>;
    /// The kernel for elements processed one by one, if they round differently.
    fn unary_tail(_op: UnaryOp) -> Option<UnaryKernel<Self>> {
        None
    }
    fn test(op: UnaryOp) -> Option<TestKernel<Self>>;
}

macro_rules! kernels {
    ($($t:ty: $table:ident $tests:ident $($tail:ident)?;)*) => {$(
        impl UnaryKernels for $t {
            fn unary(op: UnaryOp) -> Option<UnaryKernel<$t>> {
                $table(op)
            }
            $(fn unary_tail(op: UnaryOp) -> Option<UnaryKernel<$t>> {
                $tail(op)
            })?
            fn test(op: UnaryOp) -> Option<TestKernel<$t>> {
                $tests(op)
            }
        }
    )*};
}
kernels! {
    BoolByte: bool_kernel bool_test;
    u8: int_kernel int_test;
    i8: int_kernel int_test;
    i16: int_kernel int_test;
    i32: int_kernel int_test;
    i64: int_kernel int_test;
    u16: int_kernel int_test;
    u32: int_kernel int_test;
    u64: int_kernel int_test;
    f32: float_kernel float_test float_tail;
    f64: float_kernel float_test float_tail;
    Complex<f32>: complex_kernel complex_test complex_tail;
    Complex<f64>: complex_kernel complex_test complex_tail;
}

impl UnaryOp {
    /// Checks that come before any check of sizes.
    fn check_operand(self, dtype: DType, in_place: bool) -> Result<()> {
        use UnaryOp::*;
        let complex = dtype.is_complex();
        let name = || format!("{self:?}").to_lowercase();
        match self {
            Neg if dtype == DType::Bool => bail!(
                RuntimeError,
                "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a mask, use \
                 the `~` or `logical_not()` operator instead."
            ),
            Relu if dtype == DType::Bool => bail!(RuntimeError, "Boolean inputs not supported for relu"),
            Relu if complex => bail!(RuntimeError, "clamp is not supported for complex types"),
            Abs if complex && in_place => bail!(RuntimeError, "In-place abs is not supported for complex tensors."),
            Sign if complex => bail!(
                RuntimeError,
                "Unlike NumPy, torch.sign is not intended to support complex numbers. Please use torch.sgn instead."
            ),
            Floor | Ceil | Trunc if complex => bail!(RuntimeError, "{} is not supported for complex inputs", name()),
            Isposinf | Isneginf if complex => bail!(RuntimeError, "{} does not support complex inputs.", name()),
            Signbit if complex => bail!(RuntimeError, "signbit is not implemented for complex tensors."),
            Abs | Isinf if dtype == DType::Float8_e8m0fnu => check_kernel(self.stub(), 0, dtype),
            // Only one of the 8-bit formats has an infinity. One has no sign and takes NaN for finite.
            Isinf | Isfinite if dtype.is_float8() && ![DType::Float8_e5m2, DType::Float8_e8m0fnu].contains(&dtype) => {
                check_kernel(self.stub(), 0, dtype)
            }
            Sigmoid if dtype.is_float8() => check_kernel("sigmoid_cpu_reduced_float", 0, dtype),
            _ => Ok(()),
        }
    }
}

impl UnaryOp {
    /// Returns whether an operand of a dtype is computed in it, and has a result of it.
    pub(super) fn keeps(self, dtype: DType) -> bool {
        let is_common = self.rule() != ResultType::Float || !dtype.is_integral(true);
        let is_of_parts = matches!(self, UnaryOp::Abs | UnaryOp::Angle) && dtype.is_complex();
        is_common && !is_of_parts && self.supported() & classes::of(dtype) != 0
    }

    /// How kernels of a dtype go through elements. In PyTorch, expensive operations have kernels with wider steps.
    pub(super) fn pace(self, dtype: DType) -> Pace {
        use UnaryOp::*;
        let step = match self {
            Exp2 | Sinh | Cosh | Atanh | Sigmoid | Sgn | PowerOf2 | PowerOf3 | PowerOfMinus2 => 128,
            _ => 64,
        };
        let is_root = matches!(self, Sqrt | Rsqrt | Reciprocal | Angle | Deg2rad | Rad2deg);
        let functions = usize::from(self.rule() == ResultType::Float && (!is_root || dtype.is_complex()));
        Pace::with_functions(step, functions, self.has_series() && dtype != DType::Double && !dtype.is_complex())
    }

    /// Returns whether the result is independent of the values; PyTorch then fills a tensor like the operand.
    fn is_constant(self, dtype: DType) -> bool {
        match self {
            UnaryOp::Isinf => dtype.is_integral(true),
            UnaryOp::Isfinite => dtype.is_integral(true) || dtype == DType::Float8_e8m0fnu,
            UnaryOp::Isreal => !dtype.is_complex(),
            _ => false,
        }
    }
}

/// Applies a unary operation. `default` is the default dtype.
///
/// # Errors
/// RuntimeError, in PyTorch's words, for unsupported dtypes and outputs that cannot hold the result.
pub fn unary(op: UnaryOp, a: &View, output: Output, default: DType) -> Result<View> {
    match op {
        UnaryOp::Deg2rad => return scale_angle("deg2rad", a, std::f64::consts::PI / 180.0, output, default),
        UnaryOp::Rad2deg => return scale_angle("rad2deg", a, 180.0 / std::f64::consts::PI, output, default),
        _ => {}
    }
    op.check_operand(a.dtype, matches!(output, Output::InPlace(_)))?;
    match quick::unary(op, a, output) {
        Some(done) => Ok(done),
        None => usual(op, a, output, default),
    }
}

/// Like [`unary`], for an operand that passed the first checks.
pub(super) fn usual(op: UnaryOp, a: &View, output: Output, default: DType) -> Result<View> {
    let common = if op.rule() == ResultType::Float && a.dtype.is_integral(true) { default } else { a.dtype };
    let result = match op {
        UnaryOp::Abs | UnaryOp::Angle => common.to_real(),
        _ if op.rule() == ResultType::Bool => DType::Bool,
        _ => common,
    };
    let of_parts = matches!(op, UnaryOp::Abs | UnaryOp::Angle);
    let safe_cast = op.rule() != ResultType::Bool && !of_parts;
    let sizes = check_sizes(&[a.into()], output)?;
    if op.is_constant(a.dtype) && matches!(output, Output::New) {
        return full_like(a, Scalar::Bool(op != UnaryOp::Isinf), Some(DType::Bool), None);
    }
    if of_parts && a.dtype.is_complex() && matches!(output, Output::New) {
        let out = View::unwritten_strided(a.sizes(), a.layout.like_strides(), result, a.device())?;
        return unary(op, a, Output::Out(&out), default);
    }
    let Plan { target, compute } = plan(&[a.into()], output, Shape { sizes, common, result, safe_cast })?;
    if !compute {
        return Ok(target);
    }
    check_kernel(op.stub(), op.supported(), common)?;
    let a = converted(a, common)?;
    let computed = write_target(&target, if of_parts { common } else { result })?;
    let layout = broadcast(&a, computed.sizes());
    let done = match common {
        DType::Half => run_narrow::<f16>(op, &computed, &a, &layout)?,
        DType::BFloat16 => run_narrow::<bf16>(op, &computed, &a, &layout)?,
        _ => false,
    };
    if done {
        copy_back(computed, &target)?;
        return Ok(target);
    }
    dispatch!(common, S => {
        type C = <S as Stored>::Compute;
        if let Some(test) = C::test(op) {
            block::unary::<S, BoolByte>(&computed, &a, &layout, Pace::PLAIN, &|a, out, _| test(a, out))?;
        } else if let Some(kernel) = C::unary(op) {
            let tail_kernel = C::unary_tail(op);
            let pace = Pace { alike: tail_kernel.is_none(), ..op.pace(common) };
            let tail_kernel = tail_kernel.unwrap_or(kernel);
            let run = |a: &[C], out: &mut [C], tail: bool| if tail { tail_kernel(a, out) } else { kernel(a, out) };
            block::unary::<S, S>(&computed, &a, &layout, pace, &run)?;
        } else {
            check_kernel(op.stub(), 0, common)?;
        }
    });
    copy_back(computed, &target)?;
    Ok(target)
}

/// A kernel, and whether it is used only for elements that PyTorch does not process in vectors.
type Rounding = (UnaryKernel<f32>, bool);

/// Returns a kernel of the 16-bit floats that rounds intermediate results to 16 bits, and whether it is used only for
/// elements that PyTorch does not process in vectors.
fn rounding_kernel<S: Stored<Compute = f32> + Real>(op: UnaryOp) -> Option<Rounding> {
    match op {
        // The `f32` kernel is a series in double precision; rounded to 16 bits, this one gives the same results.
        UnaryOp::Exp => Some((by_function!(series::exp_single, f32), false)),
        UnaryOp::Erf => Some((by_function!(series::erf_single, f32), false)),
        UnaryOp::Entr => Some((|a, out| map(a, out, |a| special::entr(a, rounded::<S>)), false)),
        UnaryOp::I0e => Some((|a, out| map(a, out, |a| special::i0e(S::narrow(a)).widen()), true)),
        UnaryOp::Rsqrt => Some((|a, out| map(a, out, |a: f32| 1.0 / rounded::<S>(a.sqrt())), true)),
        _ => None,
    }
}

/// Runs an operation on 16-bit floats. Returns whether it has a kernel.
fn run_narrow<S: Stored<Compute = f32> + Real>(op: UnaryOp, out: &View, a: &View, layout: &Layout) -> Result<bool> {
    if let Some(kernel) = narrow_unary(S::DTYPE, op) {
        let (out, a) = (lookup::as_bits(out), lookup::as_bits(a));
        block::unary::<u16, u16>(&out, &a, layout, op.pace(S::DTYPE), &|a, out, _| kernel(a, out))?;
        return Ok(true);
    }
    let Some(plain) = f32::unary(op) else { return Ok(false) };
    let (kernel, tail_kernel) = match rounding_kernel::<S>(op) {
        Some((rounding, false)) => (rounding, None),
        Some((rounding, true)) => (plain, Some(rounding)),
        None => (plain, f32::unary_tail(op)),
    };
    lookup::run::<S>(op, out, a, layout, kernel, tail_kernel)?;
    Ok(true)
}

/// Conjugates lazily: flips the conjugate bit of complex tensors and returns other tensors unchanged.
pub fn conj(view: &View) -> View {
    View { conj: view.conj != view.dtype.is_complex(), ..view.clone() }
}

/// Returns the conjugate as a new tensor; real tensors are returned unchanged.
pub fn conj_physical(view: &View) -> Result<View> {
    if view.dtype.is_complex() { crate::ops::copy::clone(&conj(view)) } else { Ok(view.clone()) }
}
