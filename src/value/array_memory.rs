//! [`ArrayMemory`]: where the elements of an array lie, as plain data for the rooms that draw memory.

use super::strides::reshaped_strides;
use tensor::{DType, Layout, Storage};

/// The elements of an array in their storage. NumPy counts in bytes, and so does this.
#[derive(Clone, Debug)]
pub struct ArrayMemory {
    pub storage: Storage,
    pub dtype: DType,
    /// Whether the bytes of each element are in the order that the machine does not use.
    pub swapped: bool,
    /// The dtype as NumPy prints it: `float64`, `>f8`.
    pub dtype_name: String,
    /// The sizes, and the strides and the offset in bytes. Strides may be negative.
    pub layout: Layout,
    pub is_writeable: bool,
    /// Whether the array owns its bytes, so that it has no base.
    pub owns_data: bool,
}

impl ArrayMemory {
    /// Returns the layout that `reshape` gives the same elements, or `None` if it copies them. The number of elements must
    /// be the same.
    pub fn reshaped(&self, sizes: &[i64]) -> Option<Layout> {
        let old = &self.layout;
        if old.sizes.as_slice() == sizes {
            return Some(old.clone());
        }
        let strides = reshaped_strides(&old.sizes, &old.strides, sizes, self.dtype.itemsize(), false)?;
        Some(Layout { sizes: sizes.into(), strides, offset: old.offset })
    }
}
