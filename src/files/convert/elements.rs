//! The elements of one tensor or storage, converted while they are written.

use crate::archive::Body;
use crate::contents::{Contents, Elements, Entry, shown};
use crate::format::Target;
use crate::parts::{Part, box_of};
use crate::safetensors;
use tensor::layout::checked_numel;
use tensor::ops::copy;
use tensor::thresholds::CONVERTED;
use tensor::{DType, Device, Dims, Error, MemoryFormat, Result, Storage, View, bail};

/// Elements in order, converted to another dtype.
pub(super) struct ConvertedElements {
    /// A single part, unless several processes wrote the tensor.
    parts: Vec<Part>,
    pub sizes: Dims,
    pub dtype: DType,
    /// What the elements are in the new file. Those of less than a byte are copied as their bytes.
    pub written: Elements,
    pub nbytes: usize,
}

impl ConvertedElements {
    /// Returns the elements of a tensor in row-major order. With `bits`, blocks that cannot be dequantized become their
    /// bytes.
    pub(super) fn of(
        told: &Contents,
        entry: &Entry,
        dtype: Option<DType>,
        bits: bool,
        target: Target,
    ) -> Result<ConvertedElements> {
        let name = shown(&entry.name);
        if let Some(scale) = &entry.scale {
            bail!(ValueError, "{name} is quantized ({scale}), which only a checkpoint can hold");
        }
        if entry.kind.starts_with("sparse") && target != Target::Checkpoint {
            bail!(ValueError, "{name} is part of a sparse tensor ({}), which only a checkpoint can hold", entry.kind);
        }
        let mut parts = Part::all(told, entry)?;
        if parts.is_empty() && entry.layout.numel() != 0 {
            bail!(ValueError, "{name} has no data: it was on the meta device");
        }
        let (mut sizes, mut written) = (entry.layout.sizes.clone(), Elements::Plain(becomes(entry.elements, dtype)));
        if let Elements::Blocks(blocks) = entry.elements
            && blocks.take_apart.is_none()
        {
            let nbytes = i64::try_from(entry.nbytes).unwrap_or(i64::MAX);
            parts = parts.iter().map(|part| part.of_bytes(nbytes)).collect();
            match (target, bits) {
                (Target::Safetensors, false) if safetensors::holds(entry.elements) => written = entry.elements,
                (_, true) => {
                    written = Elements::Plain(DType::Byte);
                    sizes = [nbytes].into_iter().collect();
                }
                _ => bail!(
                    ValueError,
                    "{name} has elements of type {}, whose numbers cannot be computed here; safetensors and npz can hold \
                     their bytes (--bits)",
                    blocks.name
                ),
            }
        }
        let dtype = match written {
            Elements::Plain(dtype) => dtype,
            Elements::Blocks(_) => DType::Byte,
        };
        let count = match written {
            Elements::Plain(_) => usize::try_from(checked_count(&sizes)).ok(),
            Elements::Blocks(_) => usize::try_from(entry.nbytes).ok(),
        };
        let nbytes = count.and_then(|count| count.checked_mul(dtype.itemsize()));
        let nbytes = nbytes.ok_or_else(|| Error::runtime(format!("{name} is too large")))?;
        Ok(ConvertedElements { parts, sizes, dtype, written, nbytes })
    }

    /// Returns all elements of a storage.
    pub(super) fn of_storage(storage: &Storage, from: DType, dtype: DType) -> Result<ConvertedElements> {
        let nbytes = storage.nbytes() / from.itemsize() * dtype.itemsize();
        let part = Part::of_storage(storage, from)?;
        let (sizes, written) = (part.layout.sizes.clone(), Elements::Plain(dtype));
        Ok(ConvertedElements { sizes, parts: vec![part], dtype, written, nbytes })
    }

    /// Returns the elements of a dense tensor in row-major order.
    pub(super) fn of_view(view: &View, dtype: DType) -> Result<ConvertedElements> {
        let count = usize::try_from(view.numel()).ok().and_then(|count| count.checked_mul(dtype.itemsize()));
        let nbytes = count.ok_or_else(|| Error::runtime("a tensor is too large"))?;
        let (sizes, written) = (view.layout.sizes.clone(), Elements::Plain(dtype));
        Ok(ConvertedElements { sizes, parts: vec![Part::of_view(view)?], dtype, written, nbytes })
    }
}

fn checked_count(sizes: &[i64]) -> i64 {
    checked_numel(sizes).unwrap_or(i64::MAX)
}

/// Returns the new dtype of elements: `dtype` for floats and blocks, the unchanged dtype for others.
pub(super) fn becomes(elements: Elements, dtype: Option<DType>) -> DType {
    match elements {
        Elements::Plain(own) if own.is_floating_point() => dtype.unwrap_or(own),
        Elements::Plain(own) => own,
        Elements::Blocks(_) => dtype.unwrap_or(DType::Float),
    }
}

impl Body for ConvertedElements {
    fn nbytes(&self) -> usize {
        self.nbytes
    }

    fn pieces(&self, sink: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let mut cast = |piece: View| {
            let is_ready = piece.dtype == self.dtype && covers_storage(&piece);
            let piece = if is_ready { piece } else { copy::cast_as(&piece, self.dtype, MemoryFormat::Contiguous)? };
            sink(&piece.storage.to_vec()?)?;
            Ok(true)
        };
        match self.parts.as_slice() {
            [] => Ok(()),
            [part] => part.pieces(CONVERTED, &mut cast),
            parts => cast(put_together(parts, &self.sizes)?).map(drop),
        }
    }
}

/// Returns whether a storage contains exactly the elements of a tensor, in order.
fn covers_storage(view: &View) -> bool {
    let nbytes = usize::try_from(view.numel()).ok().and_then(|count| count.checked_mul(view.dtype.itemsize()));
    let is_row = view.layout.is_contiguous() && view.layout.offset == 0 && !view.conj && !view.neg;
    is_row && nbytes == Some(view.storage.nbytes())
}

/// Assembles a tensor from its parts.
fn put_together(parts: &[Part], sizes: &Dims) -> Result<View> {
    let dtype = match parts.first().map(|part| part.elements) {
        Some(Elements::Plain(dtype)) => dtype,
        _ => bail!(RuntimeError, "pieces are of plain numbers"),
    };
    let whole = View::unwritten(sizes, dtype, Device::CPU)?;
    for part in parts {
        let view = part.reader()?.block(&[])?;
        copy::copy_into(&box_of(&whole, &part.offsets, &part.layout.sizes), &view)?;
    }
    Ok(whole)
}
