//! Comparisons and logic: elementwise with a `bool` result, and of whole tensors. Uses the mechanism of `pointwise`.
//! Follows <https://pytorch.org/docs/2.7/torch.html#comparison-ops>.

use super::block::{self, Pace};
use super::number::{Number, Real, Stored};
use super::pointwise::classes::{self, *};
use super::pointwise::{
    BinaryOp, Output, Plan, Shape, UnaryOp, add, as_common_dtype, binary, check_kernel, check_sizes, copy_back, plan,
    quick_compare, source, sub, unary, write_target,
};
use super::promote::{Operand, result_type};
use super::reduce::all;
use crate::bail;
use crate::memory::BoolByte;
use crate::parallel::vectorised;
use crate::{DType, Result, Scalar, View};
use num_complex::Complex;

/// A kernel over blocks of one compute type.
pub type CompareKernel<C> = fn(&[C], &[C], &mut [BoolByte]);

fn zip<C: Copy>(a: &[C], b: &[C], out: &mut [BoolByte], function: impl Fn(C, C) -> bool) {
    vectorised(|| {
        for ((out, &a), &b) in out.iter_mut().zip(a).zip(b) {
            *out = BoolByte::new(function(a, b));
        }
    });
}

macro_rules! comparisons {
    ($($op:ident $stub:literal [$($supported:ident)*] $class:ident $kernel:expr;)*) => {
        /// A binary operation whose result is `bool`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum CompareOp { $($op),* }

        impl CompareOp {
            pub const ALL: &'static [CompareOp] = &[$(CompareOp::$op),*];

            /// The kernel's name in error messages.
            fn stub(self) -> &'static str {
                match self { $(CompareOp::$op => $stub),* }
            }

            fn supported(self) -> classes::Classes {
                match self { $(CompareOp::$op => 0 $(| $supported)*),* }
            }

            pub(crate) fn supports(self, dtype: DType) -> bool {
                self.supported() & classes::of(dtype) != 0
            }
        }

        fn ordered_kernel<T: Number + PartialOrd>(op: CompareOp) -> Option<CompareKernel<T>> {
            match op { $(CompareOp::$op => Some(|a, b, out| zip(a, b, out, $kernel))),* }
        }

        fn complex_kernel<T: Real>(op: CompareOp) -> Option<CompareKernel<Complex<T>>>
        where
            Complex<T>: Number,
        {
            match op { $(CompareOp::$op => complex!($class $kernel)),* }
        }
    };
}

/// Complex numbers are not ordered.
macro_rules! complex {
    (ordered $kernel:expr) => {
        None
    };
    (any $kernel:expr) => {
        Some(|a, b, out| zip(a, b, out, $kernel))
    };
}

comparisons! {
    // operation kernel's name    dtypes                 of        kernel;
    Eq         "eq_cpu"          [ALL]                   any      |a, b| a == b;
    Ne         "ne_cpu"          [ALL]                   any      |a, b| a != b;
    Lt         "lt_cpu"          [BOOL NUMBERS]          ordered  |a, b| a < b;
    Le         "le_cpu"          [BOOL NUMBERS]          ordered  |a, b| a <= b;
    Gt         "gt_cpu"          [BOOL NUMBERS]          ordered  |a, b| a > b;
    Ge         "ge_cpu"          [BOOL NUMBERS]          ordered  |a, b| a >= b;
    LogicalAnd "logical_and_cpu" [BOOL NUMBERS COMPLEX]  any      |a, b| a.truth() & b.truth();
    LogicalOr  "logical_or_cpu"  [BOOL NUMBERS COMPLEX]  any      |a, b| a.truth() | b.truth();
    LogicalXor "logical_xor_cpu" [BOOL NUMBERS COMPLEX]  any      |a, b| a.truth() ^ b.truth();
}

/// The kernels of one compute type.
pub trait CompareKernels: Number {
    fn compare(op: CompareOp) -> Option<CompareKernel<Self>>;
}

macro_rules! kernels {
    ($($table:ident: $($t:ty)*;)*) => {$($(
        impl CompareKernels for $t {
            fn compare(op: CompareOp) -> Option<CompareKernel<$t>> {
                $table(op)
            }
        }
    )*)*};
}
kernels! {
    ordered_kernel: BoolByte u8 i8 i16 i32 i64 u16 u32 u64 f32 f64;
    complex_kernel: Complex<f32> Complex<f64>;
}

/// Compares two operands element by element. `default` is the default dtype.
///
/// # Errors
/// RuntimeError, in PyTorch's words, for operands that do not broadcast or promote and for dtypes without an order.
pub fn compare(op: CompareOp, a: Operand, b: Operand, output: Output, default: DType) -> Result<View> {
    match quick_compare(op, a, b, output) {
        Some(done) => Ok(done),
        None => usual(op, a, b, output, default),
    }
}

/// Like [`compare`], for any operands.
pub(crate) fn usual(op: CompareOp, a: Operand, b: Operand, output: Output, default: DType) -> Result<View> {
    let sizes = check_sizes(&[a, b], output)?;
    let common = result_type(&[a, b], default)?;
    let shape = Shape { sizes, common, result: DType::Bool, safe_cast: false };
    let Plan { target, compute } = plan(&[a, b], output, shape)?;
    if !compute {
        return Ok(target);
    }
    check_kernel(op.stub(), op.supported(), common)?;
    let computed = write_target(&target, DType::Bool)?;
    let views = as_common_dtype([a, b], common)?;
    dispatch!(common, S => {
        type C = <S as Stored>::Compute;
        let Some(kernel) = C::compare(op) else {
            return check_kernel(op.stub(), 0, common).map(|()| target);
        };
        let a = source::<S>(a, &views[0], computed.sizes(), false)?;
        let b = source::<S>(b, &views[1], computed.sizes(), false)?;
        block::binary::<S, BoolByte>(&computed, a, b, Pace::PLAIN, &|a, b, out, _| {
            kernel(a, b, out);
            Ok(())
        })?;
    });
    copy_back(computed, &target)?;
    Ok(target)
}

/// Returns whether both tensors have the same size and equal elements.
///
/// # Errors
/// RuntimeError for dtypes that do not promote, NotImplementedError for tensors without data.
pub fn equal(a: &View, b: &View) -> Result<bool> {
    if a.device().is_meta() || b.device().is_meta() {
        bail!(
            NotImplementedError,
            "aten::equal: attempted to run this operator with Meta tensors, but there was no fake impl or Meta kernel \
             registered. You may have run into this message while using an operator with PT2 compilation APIs \
             (torch.compile/torch.export); in order to use this operator with those APIs you'll need to add a fake impl. \
             Please see the following for next steps:  https://pytorch.org/tutorials/advanced/custom_ops_landing_page.html"
        );
    }
    if a.sizes() != b.sizes() {
        return Ok(false);
    }
    // PyTorch only looks for NaN among elements at the same places, and has no kernel for that.
    if a.dtype.is_float8() && a.dtype == b.dtype && a.storage == b.storage && a.layout == b.layout {
        check_kernel("equal_notnan_cpu", 0, a.dtype)?;
    }
    let common = result_type(&[a.into(), b.into()], DType::Float)?;
    check_kernel("equal_cpu", ALL & !COMPLEX_HALF, common)?;
    let same = compare(CompareOp::Eq, a.into(), b.into(), Output::New, DType::Float)?;
    Ok(all(&same, None, false)?.item()?.truth())
}

/// The condition for two values to be close: `|a - b| <= atol + rtol * |b|`.
#[derive(Clone, Copy, Debug)]
pub struct Tolerance {
    pub rtol: f64,
    pub atol: f64,
    pub equal_nan: bool,
}

impl Default for Tolerance {
    fn default() -> Self {
        Tolerance { rtol: 1e-5, atol: 1e-8, equal_nan: false }
    }
}

/// Compares elements for closeness, like [`torch.isclose`](https://pytorch.org/docs/2.7/generated/torch.isclose.html).
///
/// # Errors
/// RuntimeError for different dtypes, negative tolerances, and sizes that do not broadcast.
pub fn isclose(a: &View, b: &View, tolerance: Tolerance, default: DType) -> Result<View> {
    if a.dtype != b.dtype {
        bail!(RuntimeError, "{} did not match {}", a.dtype.scalar_type(), b.dtype.scalar_type());
    }
    for (name, value) in [("rtol", tolerance.rtol), ("atol", tolerance.atol)] {
        if value.is_nan() || value < 0.0 {
            bail!(RuntimeError, "{name} must be greater than or equal to zero, but got {value}");
        }
    }
    let new = Output::New;
    let both = |a: &View, b: &View| binary(BinaryOp::BitwiseAnd, a.into(), b.into(), new, default);
    let close = compare(CompareOp::Eq, a.into(), b.into(), new, default)?;
    let or_in =
        |more: &View| binary(BinaryOp::BitwiseOr, (&close).into(), more.into(), Output::InPlace(&close), default);
    if tolerance.equal_nan && a.dtype.is_differentiable() {
        let is_nan = |view: &View| unary(UnaryOp::Isnan, view, new, default);
        let nan = is_nan(a)?;
        // In place, so the first operand must have the result's size, as PyTorch requires.
        or_in(&binary(BinaryOp::BitwiseAnd, (&nan).into(), (&is_nan(b)?).into(), Output::InPlace(&nan), default)?)?;
    }
    if tolerance.rtol == 0.0 && tolerance.atol == 0.0 {
        return Ok(close);
    }
    // The difference of unsigned integers must not wrap.
    let in_float = |view: &View| super::copy::cast(view, default);
    let first = if a.dtype == DType::Bool { in_float(a)? } else { a.clone() };
    let second = if a.dtype.is_integral(true) { in_float(b)? } else { b.clone() };
    let number = |value: f64| Operand::Number(Scalar::Float(value));
    let magnitude = |view: View| unary(UnaryOp::Abs, &view, new, default);
    let scaled = magnitude(binary(BinaryOp::Mul, (&second).into(), number(tolerance.rtol), new, default)?)?;
    let allowed = add((&scaled).into(), number(tolerance.atol), Scalar::Int(1), new, default)?;
    let difference = magnitude(sub((&first).into(), (&second).into(), Scalar::Int(1), new, default)?)?;
    let finite = unary(UnaryOp::Isfinite, &difference, new, default)?;
    let within = compare(CompareOp::Le, (&difference).into(), (&allowed).into(), new, default)?;
    or_in(&both(&finite, &within)?)
}

/// Returns whether all elements are close to each other.
///
/// # Errors
/// Those of [`isclose`].
pub fn allclose(a: &View, b: &View, tolerance: Tolerance, default: DType) -> Result<bool> {
    Ok(all(&isclose(a, b, tolerance, default)?, None, false)?.item()?.truth())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::promote::testing::{checked, held, show, tensor};

    /// Rows with the results of PyTorch 2.7.0.
    const TABLE: &str = r#"
    Eq | int64 1 2 | float32 1 2.5 | bool True False
    Eq | int8 -24 1 | #1000 | bool True False
    Eq | int8 -24 | #1000.5 | bool False
    Lt | uint8 44 | #-1 | bool True
    Eq | bfloat16 1 2 | #1.001 | bool True False
    Eq | complex64 1+2j | #1 | bool False
    Lt | complex64 1j | #2 | RuntimeError: "lt_cpu" not implemented for 'ComplexFloat'
    Lt | uint16 1 | uint16 2 | RuntimeError: "lt_cpu" not implemented for 'UInt16'
    Lt | uint16 1 | #1.5 | bool True
    Eq | uint16 1 | uint16 1 | bool True
    Eq | float32 nan | float32 nan | bool False
    Ne | float32 nan | float32 nan | bool True
    Gt | bool True False | bool False False | bool True False
    Ge | float8_e5m2 1 | #1 | RuntimeError: "ge_cpu" not implemented for 'Float8_e5m2'
    LogicalAnd | int64 1 0 | float32 2 2 | bool True False
    LogicalXor | complex64 0j 1j | bool True True | bool True False
    LogicalAnd | complex32 1j | complex32 1j | RuntimeError: "logical_and_cpu" not implemented for 'ComplexHalf'
    Eq | float32 1 2 | float32 1 2 3 | RuntimeError: The size of tensor a (2) must match the size of tensor b (3) at non-singleton dimension 0
    "#;

    #[test]
    fn table() {
        for line in TABLE.lines().map(str::trim).filter(|line| !line.is_empty()) {
            let cells: Vec<&str> = line.split(" | ").collect();
            let [name, a, b, want] = cells[..] else { panic!("{line}") };
            let Some(op) = CompareOp::ALL.iter().find(|op| format!("{op:?}") == name) else { panic!("{name}") };
            let got = compare(*op, held(a).operand(), held(b).operand(), Output::New, DType::Float);
            assert_eq!(show(got), want, "{line}");
        }
    }

    #[test]
    fn in_place_results_take_the_dtype_of_the_operand() {
        let a = tensor("int32 1 2");
        assert_eq!(
            show(compare(CompareOp::Eq, (&a).into(), Scalar::Int(1).into(), Output::InPlace(&a), DType::Float)),
            "int32 1 0"
        );
    }

    #[test]
    fn whole_tensors() {
        assert_eq!(equal(&tensor("int64 1"), &tensor("float32 1")), Ok(true));
        assert_eq!(equal(&tensor("float32 nan"), &tensor("float32 nan")), Ok(false));
        assert_eq!(equal(&tensor("float32 1"), &tensor("float32 1 1")), Ok(false));
        let close = |a: &str, b: &str| allclose(&tensor(a), &tensor(b), Tolerance::default(), DType::Float);
        assert!(checked(close("float32 1", "float32 1.000001")));
        assert!(!checked(close("float32 1", "float32 1.1")));
        assert!(checked(close("uint8 1", "uint8 1")));
        assert_eq!(close("float32 1", "float64 1").map_err(|e| e.message), Err("Float did not match Double".into()));
        let (nan, one) = (tensor("float32 nan"), tensor("float32 1"));
        let tolerance = Tolerance { equal_nan: true, ..Tolerance::default() };
        assert_eq!(show(isclose(&nan, &nan, tolerance, DType::Float)), "bool True");
        let negative = Tolerance { rtol: -1.0, ..Tolerance::default() };
        assert_eq!(
            show(isclose(&one, &one, negative, DType::Float)),
            "RuntimeError: rtol must be greater than or equal to zero, but got -1"
        );
    }
}
