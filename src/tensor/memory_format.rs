//! `torch.memory_format`: the order of a new tensor's dimensions in memory. Follows
//! <https://pytorch.org/docs/2.7/tensor_attributes.html#torch.memory_format>. Pure arithmetic on layouts.

use super::error::Result;
use super::layout::{Dims, Layout, contiguous_strides};
use crate::bail;

/// `torch.memory_format`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryFormat {
    Contiguous,
    Preserve,
    ChannelsLast,
    ChannelsLast3d,
}

impl MemoryFormat {
    pub const ALL: [MemoryFormat; 4] =
        [MemoryFormat::Contiguous, MemoryFormat::Preserve, MemoryFormat::ChannelsLast, MemoryFormat::ChannelsLast3d];

    /// The name after `torch.`.
    pub fn name(self) -> &'static str {
        match self {
            MemoryFormat::Contiguous => "contiguous_format",
            MemoryFormat::Preserve => "preserve_format",
            MemoryFormat::ChannelsLast => "channels_last",
            MemoryFormat::ChannelsLast3d => "channels_last_3d",
        }
    }

    /// Returns the dimensions from the fastest to the slowest, if the format determines their order.
    fn order(self) -> Option<&'static [usize]> {
        match self {
            MemoryFormat::ChannelsLast => Some(&[1, 3, 2, 0]),
            MemoryFormat::ChannelsLast3d => Some(&[1, 4, 3, 2, 0]),
            MemoryFormat::Contiguous | MemoryFormat::Preserve => None,
        }
    }

    /// Returns the strides of a new tensor of these sizes. Without an original to preserve, `Preserve` is row-major.
    ///
    /// # Errors
    /// RuntimeError if the format is for another number of dimensions.
    pub fn strides(self, sizes: &[i64]) -> Result<Dims> {
        let Some(order) = self.order() else { return Ok(contiguous_strides(sizes)) };
        if sizes.len() != order.len() {
            bail!(RuntimeError, "required rank {} tensor to use {} format", order.len(), self.name());
        }
        let mut strides = Dims::from_elem(0, sizes.len());
        let mut step = Some(1i64);
        for &d in order {
            let Some(stride) = step else { bail!(RuntimeError, "Stride calculation overflowed") };
            strides[d] = stride;
            // Unlike in the row-major order, a size of 0 makes the following strides 0.
            step = stride.checked_mul(sizes[d]);
        }
        Ok(strides)
    }

    /// Returns the strides of a new tensor like one with this layout.
    ///
    /// # Errors
    /// Those of [`MemoryFormat::strides`].
    pub fn strides_like(self, layout: &Layout) -> Result<Dims> {
        if self == MemoryFormat::Preserve { Ok(layout.like_strides()) } else { self.strides(&layout.sizes) }
    }

    /// Returns whether the layout is dense in this order: `is_contiguous(memory_format)`.
    pub fn describes(self, layout: &Layout) -> bool {
        match self.order() {
            Some(order) => layout.ndim() == order.len() && layout.is_contiguous_in(order),
            None => layout.is_contiguous(),
        }
    }

    /// Returns the format suggested by a layout's strides; the row-major one if sizes of 1 make it ambiguous.
    pub fn suggested(layout: &Layout) -> MemoryFormat {
        let candidates = [MemoryFormat::ChannelsLast, MemoryFormat::ChannelsLast3d];
        candidates.into_iter().find(|format| format.resembles(layout)).unwrap_or(MemoryFormat::Contiguous)
    }

    /// Returns whether the strides grow in the format's order. Gaps are allowed.
    fn resembles(self, layout: &Layout) -> bool {
        let Some(order) = self.order() else { return false };
        if layout.ndim() != order.len() || layout.strides[1] == 0 {
            return false;
        }
        let mut least = 0;
        for &d in order {
            let (size, stride) = (layout.sizes[d], layout.strides[d]);
            // With one channel and one pixel, both orders are the same.
            if size == 0 || stride < least || d == 0 && least == layout.strides[1] {
                return false;
            }
            least = if size > 1 { stride.saturating_mul(size) } else { stride };
        }
        true
    }
}

/// Checks that the strides of a new row-major tensor fit into 64 bits. They can overflow only if some size is 0:
/// otherwise the number of elements, which is checked before, is larger.
///
/// # Errors
/// RuntimeError, in PyTorch's words.
pub fn check_strides(sizes: &[i64]) -> Result<()> {
    let behind_first = sizes.get(1..).unwrap_or_default();
    match behind_first.iter().try_fold(1i64, |step, &size| step.checked_mul(size.max(1))) {
        Some(_) => Ok(()),
        None => bail!(RuntimeError, "Stride calculation overflowed"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_of_small_images() -> Result<()> {
        assert_eq!(MemoryFormat::ChannelsLast.strides(&[2, 3, 4, 5])?.as_slice(), [60, 1, 15, 3]);
        assert_eq!(MemoryFormat::ChannelsLast.strides(&[2, 0, 4, 5])?.as_slice(), [0, 1, 0, 0]);
        assert!(MemoryFormat::ChannelsLast3d.strides(&[2, 3, 4, 5]).is_err());
        let last =
            Layout { strides: MemoryFormat::ChannelsLast.strides(&[2, 3, 4, 5])?, ..Layout::contiguous(&[2, 3, 4, 5]) };
        assert_eq!(MemoryFormat::suggested(&last), MemoryFormat::ChannelsLast);
        // A single pixel has both orders; the row-major one is suggested.
        let pixel = Layout::contiguous(&[2, 3, 1, 1]);
        assert!(MemoryFormat::ChannelsLast.describes(&pixel));
        assert_eq!(MemoryFormat::suggested(&pixel), MemoryFormat::Contiguous);
        Ok(())
    }
}
