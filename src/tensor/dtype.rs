//! The dtype table: one row per dtype. To add a dtype, add a row here (and, if its bit pattern is new, an
//! [`Element`](super::element::Element) implementation). Promotion between dtypes is also here. Follows
//! <https://pytorch.org/docs/2.7/tensor_attributes.html#torch.dtype>.

use super::error::{Error, Result};
use super::float8::{E4M3Fn, E4M3Fnuz, E5M2, E5M2Fnuz, E8M0Fnu};
use super::memory::BoolByte;
use half::{bf16, f16};
use num_complex::Complex;

/// The kind of number of a dtype, in the order of promotion between categories.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Category {
    Bool,
    Integral,
    Floating,
    Complex,
}

/// Groups of dtypes that PyTorch treats alike, beyond their category.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// Full arithmetic.
    Ordinary,
    /// `uint16`, `uint32`, `uint64`: stored, converted and compared, but with little arithmetic.
    BareUnsigned,
    /// The four 8-bit floating-point formats: stored and converted only.
    Float8,
    /// Integers that represent real numbers with a scale and a zero point. Dtypes only describe the integers.
    Quantized,
}

macro_rules! dtypes {
    (
        $($variant:ident: $rust:ty, $name:literal, [$($alias:literal),*], $category:ident, $family:ident, $storage:literal, $cpp:literal;)*
        @quantized $($quantized:ident: $integer:ident $stored:ty, $qname:literal, $qstorage:literal, $qcpp:literal;)*
    ) => {
        /// An element type; variants carry the names of PyTorch's `ScalarType`.
        #[allow(non_camel_case_types)]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum DType { $($variant,)* $($quantized),* }

        impl DType {
            /// Every dtype that tensors compute with, in the order of the table.
            pub const ALL: &'static [DType] = &[$(DType::$variant),*];

            /// The quantized dtypes.
            pub const QUANTIZED: &'static [DType] = &[$(DType::$quantized),*];

            /// The name after `torch.`, e.g. `float32`.
            pub fn name(self) -> &'static str {
                match self { $(DType::$variant => $name,)* $(DType::$quantized => $qname),* }
            }

            /// Other names after `torch.`, e.g. `float` for `float32`.
            pub fn aliases(self) -> &'static [&'static str] {
                match self { $(DType::$variant => &[$($alias),*],)* $(DType::$quantized => &[]),* }
            }

            /// The `ScalarType` name in error messages, e.g. `Float`.
            pub fn scalar_type(self) -> &'static str {
                match self { $(DType::$variant => stringify!($variant),)* $(DType::$quantized => stringify!($quantized)),* }
            }

            /// The prefix of the legacy storage class, e.g. `Float` of `FloatStorage`; empty if there is no such class.
            pub fn legacy_name(self) -> &'static str {
                match self { $(DType::$variant => $storage,)* $(DType::$quantized => $qstorage),* }
            }

            /// The C++ type name in some of PyTorch's messages, e.g. `long int`.
            pub fn cpp_name(self) -> &'static str {
                match self { $(DType::$variant => $cpp,)* $(DType::$quantized => $qcpp),* }
            }

            /// The number of bytes per element.
            pub fn itemsize(self) -> usize {
                match self { $(DType::$variant => size_of::<$rust>(),)* $(DType::$quantized => size_of::<$stored>()),* }
            }

            pub fn category(self) -> Category {
                match self { $(DType::$variant => Category::$category,)* $(DType::$quantized => Category::Integral),* }
            }

            pub fn family(self) -> Family {
                match self { $(DType::$variant => Family::$family,)* $(DType::$quantized => Family::Quantized),* }
            }

            /// The dtype of the integers that a quantized dtype stores; other dtypes are returned unchanged.
            pub fn stored_integers(self) -> DType {
                match self { $(DType::$quantized => DType::$integer,)* other => other }
            }
        }

        $(impl TypeOf for $rust { const DTYPE: DType = DType::$variant; })*

        /// Runs the body with `$T` naming the Rust type behind a runtime [`DType`].
        #[macro_export]
        macro_rules! dispatch {
            ($dtype:expr, $T:ident => $body:expr) => {
                match $dtype {
                    $($crate::DType::$variant => {
                        #[allow(dead_code)]
                        type $T = $crate::dtype::element_types::$variant;
                        $body
                    })*
                    $($crate::DType::$quantized => {
                        #[allow(dead_code)]
                        type $T = $stored;
                        $body
                    })*
                }
            };
        }

        /// The Rust type of each dtype, named like the dtype.
        pub mod element_types {
            #![allow(non_camel_case_types)]
            #[allow(unused_imports)]
            use super::*;
            $(pub type $variant = $rust;)*
        }
    };
}

/// Connects a Rust element type to its row of the dtype table.
pub trait TypeOf {
    const DTYPE: DType;
}

dtypes! {
    // variant:      Rust type,     name,              aliases,      category, family,      legacy,         C++;
    Bool:            BoolByte,      "bool",            [],           Bool,     Ordinary,     "Bool",          "bool";
    Byte:            u8,            "uint8",           [],           Integral, Ordinary,     "Byte",          "unsigned char";
    Char:            i8,            "int8",            [],           Integral, Ordinary,     "Char",          "signed char";
    Short:           i16,           "int16",           ["short"],    Integral, Ordinary,     "Short",         "short int";
    Int:             i32,           "int32",           ["int"],      Integral, Ordinary,     "Int",           "int";
    Long:            i64,           "int64",           ["long"],     Integral, Ordinary,     "Long",          "long int";
    UInt16:          u16,           "uint16",          [],           Integral, BareUnsigned, "",              "short unsigned int";
    UInt32:          u32,           "uint32",          [],           Integral, BareUnsigned, "",              "unsigned int";
    UInt64:          u64,           "uint64",          [],           Integral, BareUnsigned, "",              "long unsigned int";
    Half:            f16,           "float16",         ["half"],     Floating, Ordinary,     "Half",          "c10::Half";
    BFloat16:        bf16,          "bfloat16",        [],           Floating, Ordinary,     "BFloat16",      "c10::BFloat16";
    Float:           f32,           "float32",         ["float"],    Floating, Ordinary,     "Float",         "float";
    Double:          f64,           "float64",         ["double"],   Floating, Ordinary,     "Double",        "double";
    Float8_e4m3fn:   E4M3Fn,        "float8_e4m3fn",   [],           Floating, Float8,       "",              "c10::Float8_e4m3fn";
    Float8_e5m2:     E5M2,          "float8_e5m2",     [],           Floating, Float8,       "",              "c10::Float8_e5m2";
    Float8_e4m3fnuz: E4M3Fnuz,      "float8_e4m3fnuz", [],           Floating, Float8,       "",              "c10::Float8_e4m3fnuz";
    Float8_e5m2fnuz: E5M2Fnuz,      "float8_e5m2fnuz", [],           Floating, Float8,       "",              "c10::Float8_e5m2fnuz";
    Float8_e8m0fnu:  E8M0Fnu,       "float8_e8m0fnu",  [],           Floating, Float8,       "",              "c10::Float8_e8m0fnu";
    ComplexHalf:     Complex<f16>,  "complex32",       ["chalf"],    Complex,  Ordinary,     "",              "c10::complex<c10::Half>";
    ComplexFloat:    Complex<f32>,  "complex64",       ["cfloat"],   Complex,  Ordinary,     "ComplexFloat",  "c10::complex<float>";
    ComplexDouble:   Complex<f64>,  "complex128",      ["cdouble"],  Complex,  Ordinary,     "ComplexDouble", "c10::complex<double>";
    // Quantized dtypes store ordinary integers: they have no Rust types and kernels of their own.
    @quantized
    QInt8:           Char i8,       "qint8",           "QInt8",      "c10::qint8";
    QUInt8:          Byte u8,       "quint8",          "QUInt8",     "c10::quint8";
    QInt32:          Int i32,       "qint32",          "QInt32",     "c10::qint32";
    QUInt4x2:        Byte u8,       "quint4x2",        "QUInt4x2",   "c10::quint4x2";
    QUInt2x4:        Byte u8,       "quint2x4",        "QUInt2x4",   "c10::quint2x4";
}

impl DType {
    /// Finds the dtype called `name` after `torch.`, by its own name or an alias.
    pub fn from_name(name: &str) -> Option<DType> {
        let mut all = Self::ALL.iter().chain(Self::QUANTIZED).copied();
        all.find(|d| d.name() == name || d.aliases().contains(&name))
    }

    pub fn is_floating_point(self) -> bool {
        self.category() == Category::Floating
    }

    pub fn is_complex(self) -> bool {
        self.category() == Category::Complex
    }

    /// Returns the class of a tensor in messages of PyTorch's engine. Only the oldest dtypes have Python names there.
    pub fn legacy_class(self) -> String {
        use DType::{Byte, Char, Double, Float, Half, Int, Long, Short};
        match self {
            Byte | Char | Short | Int | Long | Half | Float | Double => format!("torch.{}Tensor", self.scalar_type()),
            _ => format!("CPU{}Type", self.scalar_type()),
        }
    }

    pub fn is_integral(self, include_bool: bool) -> bool {
        self.category() == Category::Integral || include_bool && self == DType::Bool
    }

    pub fn is_signed(self) -> bool {
        !matches!(
            self,
            DType::Bool | DType::Byte | DType::UInt16 | DType::UInt32 | DType::UInt64 | DType::Float8_e8m0fnu
        )
    }

    pub fn is_float8(self) -> bool {
        self.family() == Family::Float8
    }

    pub fn is_quantized(self) -> bool {
        self.family() == Family::Quantized
    }

    pub fn is_bare_unsigned(self) -> bool {
        self.family() == Family::BareUnsigned
    }

    /// Returns whether this is `float16` or `bfloat16`, which compute in `float32` and round when stored.
    pub fn is_reduced_floating_point(self) -> bool {
        matches!(self, DType::Half | DType::BFloat16)
    }

    /// Returns whether a tensor of this dtype may require gradients.
    pub fn is_differentiable(self) -> bool {
        self.is_floating_point() || self.is_complex()
    }

    /// Returns the complex dtype whose parts have this dtype.
    pub fn to_complex(self) -> Result<DType> {
        Ok(match self {
            DType::Half => DType::ComplexHalf,
            DType::BFloat16 | DType::Float => DType::ComplexFloat,
            DType::Double => DType::ComplexDouble,
            d if d.is_complex() => d,
            d => return Err(Error::runtime(format!("Unknown Complex ScalarType for {}", d.scalar_type()))),
        })
    }

    /// Returns the dtype of a complex dtype's parts; other dtypes are returned unchanged.
    pub fn to_real(self) -> DType {
        match self {
            DType::ComplexHalf => DType::Half,
            DType::ComplexFloat => DType::Float,
            DType::ComplexDouble => DType::Double,
            d => d,
        }
    }

    /// Returns the default dtype of sums over elements of this dtype.
    pub(crate) fn sum_result(self) -> DType {
        if self.is_integral(true) { DType::Long } else { self }
    }
}

/// Returns the smallest dtype that both can be converted to, like
/// [`torch.promote_types`](https://pytorch.org/docs/2.7/generated/torch.promote_types.html).
///
/// # Errors
/// RuntimeError for pairs that PyTorch refuses: two different dtypes one of which is an 8-bit float, or a bare unsigned
/// integer with an integer or a complex number.
pub fn promote_types(a: DType, b: DType) -> Result<DType> {
    use Category::*;
    if a == b {
        return Ok(a);
    }
    if a.is_quantized() || b.is_quantized() {
        return Err(Error::runtime(format!(
            "promoteTypes with quantized numbers is not handled yet; figure out what the correct rules should be, \
             offending types: {} {}",
            a.scalar_type(),
            b.scalar_type()
        )));
    }
    if a.is_float8() || b.is_float8() {
        return Err(Error::runtime(format!(
            "Promotion for Float8 Types is not supported, attempted to promote {} and {}",
            a.scalar_type(),
            b.scalar_type()
        )));
    }
    if a.is_bare_unsigned() || b.is_bare_unsigned() {
        let (unsigned, other) = if a.is_bare_unsigned() { (a, b) } else { (b, a) };
        if other.is_floating_point() {
            return Ok(other);
        }
        let _ = unsigned;
        return Err(Error::runtime(format!(
            "Promotion for uint16, uint32, uint64 types is not supported, attempted to promote {} and {}",
            a.scalar_type(),
            b.scalar_type()
        )));
    }
    let (low, high) = if a.category() <= b.category() { (a, b) } else { (b, a) };
    Ok(match (low.category(), high.category()) {
        (Bool, _) => high,
        (Integral, Integral) => promote_integers(low, high),
        (Integral, _) => high,
        (Floating, Floating) => promote_floats(low, high),
        (Floating, _) => promote_floats(low, high.to_real()).to_complex()?,
        (Complex, _) => promote_floats(low.to_real(), high.to_real()).to_complex()?,
    })
}

fn promote_integers(a: DType, b: DType) -> DType {
    let (small, large) = if a.itemsize() <= b.itemsize() { (a, b) } else { (b, a) };
    // The one mixed-sign pair of equal size needs the next wider signed type.
    if small.itemsize() == large.itemsize() && small != large { DType::Short } else { large }
}

fn promote_floats(a: DType, b: DType) -> DType {
    match (a, b) {
        _ if a == b => a,
        (DType::Double, _) | (_, DType::Double) => DType::Double,
        // Neither of the two 16-bit formats can hold the other.
        _ => DType::Float,
    }
}

/// Returns whether a result computed in `from` may be written to `to`, like
/// [`torch.can_cast`](https://pytorch.org/docs/2.7/generated/torch.can_cast.html).
pub fn can_cast(from: DType, to: DType) -> bool {
    from.category() <= to.category() && !(from != DType::Bool && to == DType::Bool)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn promotion_is_symmetric_and_covers_the_mixed_cases() {
        for &a in DType::ALL {
            for &b in DType::ALL {
                assert_eq!(promote_types(a, b).ok(), promote_types(b, a).ok(), "{a:?} {b:?}");
            }
        }
        for (a, b, want) in [
            ("uint8", "int8", "int16"),
            ("int64", "float16", "float16"),
            ("float16", "bfloat16", "float32"),
            ("bfloat16", "complex32", "complex64"),
            ("float64", "complex64", "complex128"),
            ("uint16", "float32", "float32"),
            ("bool", "int8", "int8"),
        ] {
            let pair = (DType::from_name(a), DType::from_name(b));
            let (Some(a), Some(b)) = pair else { panic!("no such dtype: {pair:?}") };
            assert_eq!(promote_types(a, b).map(DType::name), Ok(want));
        }
    }
}
