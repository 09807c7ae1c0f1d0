//! [`Strided`]: where the elements of an array lie among the bytes of its storage. Strides are in bytes, and may be zero
//! or negative. All of this is arithmetic on sizes; no byte is read. Follows
//! <https://numpy.org/doc/2.4/reference/arrays.ndarray.html#internal-memory-layout-of-an-ndarray>.

use tensor::{Dims, Error, Layout, Result, bail};
pub(crate) use value::strides::dense_strides;
use value::strides::{is_dense, reshaped_strides};

/// The maximum number of dimensions of an array.
pub(crate) const MOST_DIMS: usize = 64;

/// A shape, the stride of each dimension in bytes, and the byte of the first element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Strided {
    pub shape: Dims,
    pub strides: Dims,
    pub offset: i64,
}

/// Returns a shape as NumPy shows it in messages: `(2,3)`, `(4,)`.
pub(crate) fn show(shape: &[i64]) -> String {
    match shape {
        [one] => format!("({one},)"),
        shape => format!("({})", shape.iter().map(i64::to_string).collect::<Vec<_>>().join(",")),
    }
}

/// Returns the number of elements.
///
/// # Errors
/// ValueError for negative sizes, too many dimensions, and more bytes than can be addressed.
pub(crate) fn checked_count(shape: &[i64], itemsize: usize) -> Result<i64> {
    if shape.len() > MOST_DIMS {
        bail!(ValueError, "maximum supported dimension for an ndarray is currently {MOST_DIMS}, found {}", shape.len());
    }
    if shape.iter().any(|&size| size < 0) {
        bail!(ValueError, "negative dimensions are not allowed");
    }
    // Sizes of zero do not hide that the others overflow.
    let mut nonzero = shape.iter().filter(|&&size| size != 0);
    let bytes = nonzero.try_fold(itemsize as i64, |bytes, &size| bytes.checked_mul(size));
    match bytes {
        Some(_) if shape.contains(&0) => Ok(0),
        Some(bytes) => Ok(bytes / (itemsize as i64).max(1)),
        None => bail!(
            ValueError,
            "array is too big; `arr.size * arr.dtype.itemsize` is larger than the maximum possible size."
        ),
    }
}

impl Strided {
    /// Returns the places of a dense array at the beginning of its storage.
    pub(crate) fn dense(shape: &[i64], itemsize: usize, column_major: bool) -> Strided {
        Strided { shape: Dims::from_slice(shape), strides: dense_strides(shape, itemsize, column_major), offset: 0 }
    }

    pub(crate) fn ndim(&self) -> usize {
        self.shape.len()
    }

    pub(crate) fn count(&self) -> i64 {
        if self.shape.contains(&0) {
            0
        } else {
            self.shape.iter().fold(1, |count: i64, &size| count.saturating_mul(size))
        }
    }

    /// Returns whether the elements follow each other without gaps, in row-major or column-major order.
    pub(crate) fn is_dense(&self, itemsize: usize, column_major: bool) -> bool {
        is_dense(&self.shape, &self.strides, itemsize, column_major)
    }

    /// Returns the first byte of any element and the byte after the last one; `None` without elements or if the places
    /// overflow.
    pub(crate) fn span(&self, itemsize: usize) -> Option<(i64, i64)> {
        let (mut low, mut high) = (self.offset, self.offset);
        for (&size, &stride) in self.shape.iter().zip(&self.strides) {
            let reach = size.checked_sub(1).filter(|&last| last >= 0)?.checked_mul(stride)?;
            let end = if reach < 0 { &mut low } else { &mut high };
            *end = end.checked_add(reach)?;
        }
        Some((low, high.checked_add(itemsize as i64)?))
    }

    /// Returns whether every place between the first and the last index of each dimension has an offset that fits an
    /// integer. Empty arrays need it too: their other dimensions can be subscripted.
    pub(crate) fn is_addressable(&self, itemsize: usize) -> bool {
        let reach = |(&size, &stride): (&i64, &i64)| stride.checked_abs()?.checked_mul(size.max(1));
        let both = |total: i64, dim: (&i64, &i64)| total.checked_add(reach(dim)?);
        let total = self.shape.iter().zip(&self.strides).try_fold(itemsize as i64, both);
        total.and_then(|total| total.checked_add(self.offset.checked_abs()?)).is_some()
    }

    /// Returns the layout in elements, if all places are multiples of the size of an element.
    pub(crate) fn in_elements(&self, itemsize: usize) -> Option<Layout> {
        let size = itemsize as i64;
        // The stride of a dimension without neighbours does not matter.
        let stride = |(&stride, &count): (&i64, &i64)| match stride % size {
            0 => Some(stride / size),
            _ => (count <= 1).then_some(1),
        };
        let strides = self.strides.iter().zip(&self.shape).map(stride).collect::<Option<Dims>>()?;
        (self.offset % size == 0).then(|| Layout { sizes: self.shape.clone(), strides, offset: self.offset / size })
    }

    /// Returns the places of a layout in elements.
    pub(crate) fn of_layout(layout: &Layout, itemsize: usize) -> Strided {
        let bytes = |elements: i64| elements.saturating_mul(itemsize as i64);
        Strided {
            shape: layout.sizes.clone(),
            strides: layout.strides.iter().map(|&stride| bytes(stride)).collect(),
            offset: bytes(layout.offset),
        }
    }

    /// Returns the part at one index of a dimension, without the dimension.
    pub(crate) fn select(&self, dim: usize, index: i64) -> Strided {
        let mut part = self.clone();
        part.offset += index * self.strides[dim];
        part.shape.remove(dim);
        part.strides.remove(dim);
        part
    }

    /// Returns the dimensions in another order.
    pub(crate) fn permuted(&self, order: &[usize]) -> Strided {
        Strided {
            shape: order.iter().map(|&d| self.shape[d]).collect(),
            strides: order.iter().map(|&d| self.strides[d]).collect(),
            offset: self.offset,
        }
    }

    /// Returns the same elements repeated to fill `shape`, which must be possible.
    pub(crate) fn broadcast_to(&self, shape: &[i64]) -> Strided {
        let added = shape.len().saturating_sub(self.ndim());
        let mut strides = Dims::from_elem(0, shape.len());
        for d in 0..self.ndim() {
            if self.shape[d] != 1 || shape[added + d] == 1 {
                strides[added + d] = self.strides[d];
            }
        }
        Strided { shape: Dims::from_slice(shape), strides, offset: self.offset }
    }

    /// Returns the same elements with another shape, if no element has to move; `column_major` is the order in which
    /// elements are counted. The number of elements must be the same.
    pub(crate) fn reshaped(&self, shape: &[i64], itemsize: usize, column_major: bool) -> Option<Strided> {
        let strides = reshaped_strides(&self.shape, &self.strides, shape, itemsize, column_major)?;
        Some(Strided { shape: Dims::from_slice(shape), strides, offset: self.offset })
    }
}

/// Returns the shape of several shapes broadcast together; `None` if they do not fit.
pub(crate) fn broadcast<'a>(shapes: impl Iterator<Item = &'a [i64]> + Clone) -> Option<Dims> {
    let ndim = shapes.clone().map(<[i64]>::len).max().unwrap_or(0);
    let mut out = Dims::from_elem(1, ndim);
    for shape in shapes {
        for (size, wanted) in shape.iter().rev().zip(out.iter_mut().rev()) {
            match (*size, *wanted) {
                (1, _) => {}
                (size, 1) => *wanted = size,
                (size, wanted) if size == wanted => {}
                _ => return None,
            }
        }
    }
    Some(out)
}

/// Returns a dimension counted from the front.
///
/// # Errors
/// AxisError if it is out of range.
pub(crate) fn axis(axis: i64, ndim: usize) -> Result<usize> {
    let from_front = if axis < 0 { axis.saturating_add(ndim as i64) } else { axis };
    usize::try_from(from_front).ok().filter(|&axis| axis < ndim).ok_or_else(|| axis_error(axis, ndim))
}

pub(crate) fn axis_error(axis: i64, ndim: usize) -> Error {
    Error::new(
        tensor::ErrorKind::Other("AxisError"),
        format!("axis {axis} is out of bounds for array of dimension {ndim}"),
    )
}

/// Returns a requested shape as NumPy shows it: unknown sizes at the front are left out, others are `newaxis`.
fn show_asked(asked: &[i64]) -> String {
    let known = asked.iter().skip_while(|&&size| size < 0);
    let sizes: Vec<String> =
        known.map(|&size| if size < 0 { "newaxis".to_owned() } else { size.to_string() }).collect();
    let end = if asked.len() == 1 && !sizes.is_empty() { "," } else { "" };
    format!("({}{end})", sizes.join(","))
}

/// Returns a requested shape with its -1 replaced.
///
/// # Errors
/// ValueError in NumPy's words if the number of elements does not fit.
pub(crate) fn infer_shape(asked: &[i64], count: i64) -> Result<Dims> {
    let wrong = || Error::value(format!("cannot reshape array of size {count} into shape {}", show_asked(asked)));
    let unknown = asked.iter().filter(|&&size| size < 0).count();
    if unknown > 1 {
        bail!(ValueError, "can only specify one unknown dimension");
    }
    let known =
        asked.iter().filter(|&&size| size >= 0).try_fold(1i64, |all, &size| all.checked_mul(size)).ok_or_else(wrong)?;
    if unknown == 0 {
        return if known == count { Ok(Dims::from_slice(asked)) } else { Err(wrong()) };
    }
    if known == 0 || count % known != 0 {
        return Err(wrong());
    }
    Ok(asked.iter().map(|&size| if size < 0 { count / known } else { size }).collect())
}
