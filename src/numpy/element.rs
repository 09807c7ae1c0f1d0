//! The elements of arrays as Rust types, and how NumPy converts between them.

use crate::descr::Descr;
use half::f16;
use num_complex::Complex;
use tensor::memory::{BoolByte, Plain};
use tensor::{DType, Element, Scalar};

/// Evaluates an expression with `$T` as the Rust type of a dtype. Other dtypes than NumPy's count as bytes, which the
/// callers rule out by having a [`Descr`].
macro_rules! each {
    ($dtype:expr, $T:ident => $body:expr) => {
        match $dtype {
            tensor::DType::Bool => {
                type $T = tensor::memory::BoolByte;
                $body
            }
            tensor::DType::Char => {
                type $T = i8;
                $body
            }
            tensor::DType::Short => {
                type $T = i16;
                $body
            }
            tensor::DType::UInt16 => {
                type $T = u16;
                $body
            }
            tensor::DType::Int => {
                type $T = i32;
                $body
            }
            tensor::DType::UInt32 => {
                type $T = u32;
                $body
            }
            tensor::DType::Long => {
                type $T = i64;
                $body
            }
            tensor::DType::UInt64 => {
                type $T = u64;
                $body
            }
            tensor::DType::Half => {
                type $T = half::f16;
                $body
            }
            tensor::DType::Float => {
                type $T = f32;
                $body
            }
            tensor::DType::Double => {
                type $T = f64;
                $body
            }
            tensor::DType::ComplexFloat => {
                type $T = num_complex::Complex<f32>;
                $body
            }
            tensor::DType::ComplexDouble => {
                type $T = num_complex::Complex<f64>;
                $body
            }
            _ => {
                type $T = u8;
                $body
            }
        }
    };
}
pub(crate) use each;

/// An element of an array.
pub(crate) trait Item: Plain + Default + PartialEq {
    /// Widens the value without loss.
    fn load(self) -> Scalar;
    /// Narrows a value as NumPy's casts do.
    fn store(value: Scalar) -> Self;
}

macro_rules! items {
    ($($t:ty),*) => {$(
        impl Item for $t {
            #[inline(always)]
            fn load(self) -> Scalar {
                Element::load(self)
            }
            #[inline(always)]
            fn store(value: Scalar) -> Self {
                <$t as Element>::store(value)
            }
        }
    )*};
}
items!(BoolByte, i8, i16, u16, i32, u32, i64, u64, f32, f64, Complex<f32>, Complex<f64>);

impl Item for u8 {
    #[inline(always)]
    fn load(self) -> Scalar {
        Element::load(self)
    }
    // Unlike PyTorch, NumPy converts floats through 32 bits.
    #[inline(always)]
    fn store(value: Scalar) -> Self {
        match value {
            Scalar::Float(_) | Scalar::Complex(_) => <i32 as Element>::store(value) as u8,
            other => other.to_i64() as u8,
        }
    }
}

impl Item for f16 {
    #[inline(always)]
    fn load(self) -> Scalar {
        Element::load(self)
    }
    // Unlike PyTorch, NumPy rounds a float64 once.
    #[inline(always)]
    fn store(value: Scalar) -> Self {
        match value {
            Scalar::Float(f) => f16::from_f64(f),
            Scalar::Complex(c) => f16::from_f64(c.re),
            other => f16::from_f32(other.to_f32()),
        }
    }
}

/// Reads an element from its bytes, in the order of the dtype.
pub(crate) fn from_bytes(descr: Descr, mut bytes: [u8; 16]) -> Scalar {
    if descr.swapped {
        swap(&mut bytes, descr.dtype);
    }
    each!(descr.dtype, T => Item::load(<T as FromBytes>::from_ne(bytes)))
}

/// Writes an element to its bytes, in the order of the dtype.
pub(crate) fn to_bytes(descr: Descr, value: Scalar) -> [u8; 16] {
    let mut bytes = each!(descr.dtype, T => <T as FromBytes>::to_ne(<T as Item>::store(value)));
    if descr.swapped {
        swap(&mut bytes, descr.dtype);
    }
    bytes
}

/// Reverses the bytes of an element; of a complex number, those of each part.
pub(crate) fn swap(bytes: &mut [u8; 16], dtype: DType) {
    let size = dtype.to_real().itemsize().max(1);
    bytes[..dtype.itemsize()].chunks_mut(size).for_each(<[u8]>::reverse);
}

/// A type that is read from the bytes of the machine's order.
trait FromBytes: Sized {
    fn from_ne(bytes: [u8; 16]) -> Self;
    fn to_ne(self) -> [u8; 16];
}

macro_rules! from_bytes {
    ($($t:ty),*) => {$(
        impl FromBytes for $t {
            fn from_ne(bytes: [u8; 16]) -> Self {
                let mut own = [0; size_of::<$t>()];
                own.copy_from_slice(&bytes[..size_of::<$t>()]);
                <$t>::from_ne_bytes(own)
            }
            fn to_ne(self) -> [u8; 16] {
                let mut bytes = [0; 16];
                bytes[..size_of::<$t>()].copy_from_slice(&self.to_ne_bytes());
                bytes
            }
        }
    )*};
}
from_bytes!(u8, i8, i16, u16, i32, u32, i64, u64, f16, f32, f64);

impl FromBytes for BoolByte {
    fn from_ne(bytes: [u8; 16]) -> Self {
        BoolByte::new(bytes[0] != 0)
    }
    fn to_ne(self) -> [u8; 16] {
        u8::from(self.get()).to_ne()
    }
}

impl<P: FromBytes> FromBytes for Complex<P> {
    fn from_ne(bytes: [u8; 16]) -> Self {
        let mut second = [0; 16];
        second[..16 - size_of::<P>()].copy_from_slice(&bytes[size_of::<P>()..]);
        Complex::new(P::from_ne(bytes), P::from_ne(second))
    }
    fn to_ne(self) -> [u8; 16] {
        let mut bytes = self.re.to_ne();
        bytes[size_of::<P>()..2 * size_of::<P>()].copy_from_slice(&self.im.to_ne()[..size_of::<P>()]);
        bytes
    }
}
