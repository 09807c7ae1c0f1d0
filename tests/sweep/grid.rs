//! Tensors whose elements are known independently of the crate: bits in a storage, and a layout to find them. Nothing
//! here uses a loop of the crate; an element is located from its indices and strides.

use tensorsh::tensor::memory::{get, set};
use tensorsh::tensor::{DType, Device, Dims, Layout, Scalar, Tensor, View};

/// A pseudo-random sequence, reproducible from its seed.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        ((self.next() >> 33) as usize) % n.max(1)
    }

    /// Returns a number from 0 to 1.
    pub(crate) fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    pub(crate) fn choose<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())]
    }
}

/// The range of the elements.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Values {
    Mixed,
    /// Including infinities and NaN.
    Special,
    /// So close to one that a product of many neither underflows nor overflows.
    NearOne,
    /// All different.
    Distinct,
}

/// Returns an element of a dtype.
pub(crate) fn element(dtype: DType, values: Values, number: usize, random: &mut Random) -> Scalar {
    let mut real = || match values {
        Values::NearOne => 1.0 + (random.unit() - 0.5) * 0.01,
        Values::Special if random.below(40) == 0 => {
            random.choose(&[f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -0.0])
        }
        Values::Distinct => number as f64 * 0.37 + 0.21,
        _ => (random.unit() - 0.5) * 4.0,
    };
    if dtype.is_complex() {
        let imaginary = if values == Values::NearOne { real() - 1.0 } else { real() };
        return tensorsh::tensor::view::complex(real(), imaginary);
    }
    if dtype.is_floating_point() {
        return Scalar::Float(real());
    }
    if dtype == DType::Bool {
        return Scalar::Bool(random.below(2) == 0);
    }
    let signed = !matches!(dtype, DType::Byte | DType::UInt16 | DType::UInt32 | DType::UInt64);
    match values {
        Values::Distinct => Scalar::Int(number as i64),
        Values::NearOne => Scalar::Int(random.choose(&[1, 1, 1, 2, 3])),
        _ => Scalar::Int(random.below(19) as i64 - if signed { 9 } else { 0 }),
    }
}

/// Encodes elements as bits.
pub(crate) fn encode(dtype: DType, elements: &[Scalar]) -> Vec<u128> {
    let view = View::from_scalars(&[elements.len() as i64], dtype, elements.iter().copied()).unwrap();
    bits(&view)
}

/// Decodes bits to elements.
pub(crate) fn decode(dtype: DType, bits: &[u128]) -> Vec<Scalar> {
    let contiguous = Layout::contiguous(&[bits.len() as i64]);
    tensor(dtype, bits, contiguous).view().scalars().unwrap()
}

/// Returns a tensor that shows the elements of a storage through a layout.
pub(crate) fn tensor(dtype: DType, storage: &[u128], layout: Layout) -> Tensor {
    let view = View::zeros(&[storage.len() as i64], dtype, Device::CPU).unwrap();
    let memory = view.memory().unwrap();
    let cells = memory.bytes();
    for (element, bits) in cells.chunks_exact(dtype.itemsize()).zip(storage) {
        element.iter().zip(bits.to_le_bytes()).for_each(|(cell, byte)| set(cell, byte));
    }
    Tensor::new(view.with_layout(layout))
}

/// Returns the storage positions of a layout's elements, in row-major order.
pub(crate) fn places(layout: &Layout) -> Vec<usize> {
    let mut places = vec![layout.offset];
    for (&size, &stride) in layout.sizes.iter().zip(&layout.strides) {
        places = places.iter().flat_map(|&place| (0..size).map(move |i| place + i * stride)).collect();
    }
    places.into_iter().map(|place| place as usize).collect()
}

/// Returns the bits of a tensor's elements, in row-major order.
pub(crate) fn bits(view: &View) -> Vec<u128> {
    let memory = view.memory().unwrap();
    let (cells, itemsize) = (memory.bytes(), view.dtype.itemsize());
    let element = |place: usize| {
        let mut bytes = [0; 16];
        bytes
            .iter_mut()
            .zip(&cells[place * itemsize..(place + 1) * itemsize])
            .for_each(|(byte, cell)| *byte = get(cell));
        u128::from_le_bytes(bytes)
    };
    places(&view.layout).into_iter().map(element).collect()
}

/// Returns whether two elements are the same. All NaN are equal.
pub(crate) fn same(dtype: DType, a: u128, b: u128) -> bool {
    if a == b {
        return true;
    }
    let nan = |bits: u128| match decode(dtype, &[bits])[..] {
        [Scalar::Float(value)] => value.is_nan(),
        [Scalar::Complex(value)] => value.re.is_nan() || value.im.is_nan(),
        _ => false,
    };
    nan(a) && nan(b)
}

/// Returns whether two elements have the same bits. All NaN are equal, but only in the same part of complex elements:
/// which of two NaN an addition returns is the compiler's choice.
pub(crate) fn identical(dtype: DType, a: u128, b: u128) -> bool {
    let alike = |a: f64, b: f64| a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan();
    a == b
        || match decode(dtype, &[a, b])[..] {
            [Scalar::Float(a), Scalar::Float(b)] => alike(a, b),
            [Scalar::Complex(a), Scalar::Complex(b)] => alike(a.re, b.re) && alike(a.im, b.im),
            _ => false,
        }
}

/// The layout of a tensor in its storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Form {
    Contiguous,
    /// After other elements.
    Displaced,
    Transposed,
    /// Every second or third element.
    Stepped,
    /// Rows with gaps between them.
    Padded,
    /// The same row, or the same element, throughout.
    Repeated,
    /// The same column throughout.
    RepeatedColumn,
}

pub(crate) const FORMS: &[Form] = &[
    Form::Contiguous,
    Form::Displaced,
    Form::Transposed,
    Form::Stepped,
    Form::Padded,
    Form::Repeated,
    Form::RepeatedColumn,
];

impl Form {
    /// Returns the layout for these sizes, and the number of elements of its storage.
    pub(crate) fn layout(self, sizes: &[i64]) -> (Layout, usize) {
        let (rows, columns) = match *sizes {
            [columns] => (1, columns),
            [rows, columns] => (rows, columns),
            _ => panic!("one or two dimensions"),
        };
        let (offset, [row, column]) = match self {
            Form::Contiguous => (0, [columns, 1]),
            Form::Displaced => (3, [columns, 1]),
            Form::Transposed => (0, [1, rows]),
            Form::Stepped => (1, [3 * columns, 3]),
            Form::Padded => (0, [columns + 5, 1]),
            Form::Repeated => (0, [0, if sizes.len() == 1 { 0 } else { 1 }]),
            Form::RepeatedColumn => (0, [1, 0]),
        };
        let strides = if sizes.len() == 1 { Dims::from_slice(&[column]) } else { Dims::from_slice(&[row, column]) };
        let last = offset + (rows - 1).max(0) * row + (columns - 1).max(0) * column;
        (Layout { sizes: Dims::from_slice(sizes), strides, offset }, last as usize + 1)
    }

    /// Returns whether its elements can be written individually.
    pub(crate) fn is_distinct(self) -> bool {
        !matches!(self, Form::Repeated | Form::RepeatedColumn)
    }
}

/// Known elements in some layout.
#[derive(Clone)]
pub(crate) struct Grid {
    pub dtype: DType,
    storage: Vec<u128>,
    layout: Layout,
    /// The elements in row-major order.
    pub elements: Vec<u128>,
}

impl Grid {
    pub(crate) fn new(dtype: DType, sizes: &[i64], form: Form, values: Values, random: &mut Random) -> Grid {
        let (layout, length) = form.layout(sizes);
        let scalars: Vec<Scalar> = (0..length).map(|i| element(dtype, values, i, random)).collect();
        let storage = encode(dtype, &scalars);
        let elements = places(&layout).into_iter().map(|place| storage[place]).collect();
        Grid { dtype, storage, layout, elements }
    }

    pub(crate) fn sizes(&self) -> &[i64] {
        &self.layout.sizes
    }

    pub(crate) fn strides(&self) -> &[i64] {
        &self.layout.strides
    }

    /// Returns a new tensor of these elements.
    pub(crate) fn tensor(&self) -> Tensor {
        tensor(self.dtype, &self.storage, self.layout.clone())
    }

    /// Returns a row of some of the elements.
    pub(crate) fn part(&self, elements: &[usize]) -> Tensor {
        let storage: Vec<u128> = elements.iter().map(|&i| self.elements[i]).collect();
        tensor(self.dtype, &storage, Layout::contiguous(&[elements.len() as i64]))
    }
}
