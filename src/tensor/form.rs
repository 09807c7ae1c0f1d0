//! Tensors whose values are not simply the elements of their storage: sparse tensors list their stored elements, and
//! quantized tensors store integers that represent real numbers. Pure data; the computations are in `ops::sparse` and
//! `ops::quantize`.

use super::dtype::DType;
use super::error::Result;
use super::layout::{Dims, Layout, checked_numel};
use super::storage::Storage;
use super::view::View;
use crate::Device;
use std::rc::Rc;

/// `torch.layout`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TensorLayout {
    Strided,
    SparseCoo,
    SparseCsr,
    SparseCsc,
    SparseBsr,
    SparseBsc,
}

impl TensorLayout {
    pub const ALL: [TensorLayout; 6] = [
        TensorLayout::Strided,
        TensorLayout::SparseCoo,
        TensorLayout::SparseCsr,
        TensorLayout::SparseCsc,
        TensorLayout::SparseBsr,
        TensorLayout::SparseBsc,
    ];

    /// The name after `torch.`.
    pub fn name(self) -> &'static str {
        match self {
            TensorLayout::Strided => "strided",
            TensorLayout::SparseCoo => "sparse_coo",
            TensorLayout::SparseCsr => "sparse_csr",
            TensorLayout::SparseCsc => "sparse_csc",
            TensorLayout::SparseBsr => "sparse_bsr",
            TensorLayout::SparseBsc => "sparse_bsc",
        }
    }

    /// The C++ name, which appears in messages.
    pub fn cpp_name(self) -> &'static str {
        match self {
            TensorLayout::Strided => "Strided",
            TensorLayout::SparseCoo => "Sparse",
            TensorLayout::SparseCsr => "SparseCsr",
            TensorLayout::SparseCsc => "SparseCsc",
            TensorLayout::SparseBsr => "SparseBsr",
            TensorLayout::SparseBsc => "SparseBsc",
        }
    }

    /// Returns whether the form is CSR, CSC, BSR or BSC.
    pub fn is_compressed(self) -> bool {
        !matches!(self, TensorLayout::Strided | TensorLayout::SparseCoo)
    }

    /// Returns whether rows are compressed (CSR, BSR) instead of columns.
    pub fn by_rows(self) -> bool {
        matches!(self, TensorLayout::SparseCsr | TensorLayout::SparseBsr)
    }

    /// Returns whether each stored value is a block of elements (BSR, BSC).
    pub fn is_blocked(self) -> bool {
        matches!(self, TensorLayout::SparseBsr | TensorLayout::SparseBsc)
    }

    /// Returns the names of the compressed and the plain indices.
    pub fn index_names(self) -> (&'static str, &'static str) {
        if self.by_rows() { ("crow_indices", "col_indices") } else { ("ccol_indices", "row_indices") }
    }
}

/// How a tensor stores its values, if they are not the elements of its storage.
#[derive(Clone, Debug)]
pub enum Form {
    Coo(Coo),
    Compressed(Compressed),
    Quantized(Quantizer),
}

impl Form {
    /// Returns the component tensors by name: indices and values, or the scales and zero points of channels.
    pub fn parts(&self) -> Vec<(&'static str, &View)> {
        match self {
            Form::Coo(coo) => vec![("indices", &coo.indices), ("values", &coo.values)],
            Form::Compressed(parts) => {
                let (compressed, plain) = parts.layout.index_names();
                vec![(compressed, &parts.compressed), (plain, &parts.plain), ("values", &parts.values)]
            }
            Form::Quantized(Quantizer::PerTensor { .. }) => Vec::new(),
            Form::Quantized(Quantizer::PerChannel { scales, zero_points, .. }) => {
                vec![("scales", scales), ("zero_points", zero_points)]
            }
        }
    }

    /// Returns whether both store the same elements in the same way. The indices may be copies.
    pub fn is_same(&self, other: &Form) -> bool {
        let equal = |a: &View, b: &View| {
            a.is_same(b) || a.sizes() == b.sizes() && a.scalars().is_ok_and(|a| b.scalars().is_ok_and(|b| a == b))
        };
        match (self, other) {
            (Form::Coo(a), Form::Coo(b)) => {
                a.coalesced == b.coalesced && a.values.is_same(&b.values) && equal(&a.indices, &b.indices)
            }
            (Form::Compressed(a), Form::Compressed(b)) => {
                a.layout == b.layout
                    && a.values.is_same(&b.values)
                    && equal(&a.compressed, &b.compressed)
                    && equal(&a.plain, &b.plain)
            }
            (Form::Quantized(Quantizer::PerTensor { scale, zero_point }), Form::Quantized(other)) => {
                matches!(other, Quantizer::PerTensor { scale: s, zero_point: z } if s == scale && z == zero_point)
            }
            (Form::Quantized(Quantizer::PerChannel { scales, zero_points, axis }), Form::Quantized(other)) => {
                matches!(other, Quantizer::PerChannel { scales: s, zero_points: z, axis: a }
                    if equal(s, scales) && equal(z, zero_points) && a == axis)
            }
            _ => false,
        }
    }
}

/// Coordinates: `indices` is `(sparse_dim, nnz)`, `values` is `(nnz, *dense sizes)`. Unless the tensor is `coalesced`,
/// an index may occur several times, and its values are then summed.
#[derive(Clone, Debug)]
pub struct Coo {
    pub indices: View,
    pub values: View,
    pub coalesced: bool,
}

/// Compressed rows or columns, possibly of blocks: `(*batch, rows + 1)` and `(*batch, nnz)` indices and `(*batch, nnz,
/// *block, *dense sizes)` values.
#[derive(Clone, Debug)]
pub struct Compressed {
    pub layout: TensorLayout,
    pub compressed: View,
    pub plain: View,
    pub values: View,
}

impl Compressed {
    pub(crate) fn batch_dims(&self) -> usize {
        self.compressed.ndim().saturating_sub(1)
    }

    /// Returns the rows and columns of a block; 1 by 1 without blocks.
    pub fn block(&self) -> (i64, i64) {
        let at = self.batch_dims() + 1;
        match self.values.sizes().get(at..at + 2) {
            Some(&[rows, columns]) if self.layout.is_blocked() => (rows, columns),
            _ => (1, 1),
        }
    }

    /// Returns the number of dimensions of each element.
    pub fn dense_dims(&self) -> usize {
        self.values.ndim().saturating_sub(self.batch_dims() + 1 + self.block_dims())
    }

    /// Returns the number of dimensions of a stored value: 2 with blocks, otherwise 0.
    pub(crate) fn block_dims(&self) -> usize {
        if self.layout.is_blocked() { 2 } else { 0 }
    }

    /// Returns the number of stored elements in each batch.
    pub fn nnz(&self) -> i64 {
        self.plain.sizes().last().copied().unwrap_or(0)
    }
}

/// How a quantized tensor's integers represent real numbers: `(integer - zero_point) * scale`.
#[derive(Clone, Debug)]
pub enum Quantizer {
    PerTensor {
        scale: f64,
        zero_point: i64,
    },
    /// Scales (float64, or float32 with zero points of float32) and zero points (int64) for each index of a dimension.
    PerChannel {
        scales: Box<View>,
        zero_points: Box<View>,
        axis: usize,
    },
}

impl Quantizer {
    /// The name after `torch.`.
    pub fn scheme(&self) -> &'static str {
        match self {
            Quantizer::PerTensor { .. } => "per_tensor_affine",
            Quantizer::PerChannel { zero_points, .. } if zero_points.dtype.is_floating_point() => {
                "per_channel_affine_float_qparams"
            }
            Quantizer::PerChannel { .. } => "per_channel_affine",
        }
    }
}

/// Returns the real number that an integer represents, in single precision like PyTorch.
pub(crate) fn dequantized(integer: f64, scale: f64, zero_point: f64) -> f64 {
    f64::from((integer - zero_point) as f32 * scale as f32)
}

impl View {
    /// Creates a sparse tensor of these sizes, which has no storage of its own.
    ///
    /// # Errors
    /// RuntimeError if the number of elements overflows.
    pub fn sparse(sizes: &[i64], dtype: DType, form: Form) -> Result<View> {
        checked_numel(sizes)?;
        let strides = Dims::from_elem(0, sizes.len());
        let layout = Layout { sizes: Dims::from_slice(sizes), strides, offset: 0 };
        let device = match &form {
            Form::Coo(coo) => coo.values.device(),
            Form::Compressed(compressed) => compressed.values.device(),
            Form::Quantized(_) => Device::CPU,
        };
        let storage = Storage::zeroed(0, device)?;
        Ok(View { storage, layout, dtype, conj: false, neg: false, form: Some(Rc::new(form)) })
    }

    pub fn coo(&self) -> Option<&Coo> {
        match self.form.as_deref() {
            Some(Form::Coo(coo)) => Some(coo),
            _ => None,
        }
    }

    pub fn compressed(&self) -> Option<&Compressed> {
        match self.form.as_deref() {
            Some(Form::Compressed(compressed)) => Some(compressed),
            _ => None,
        }
    }

    pub fn quantizer(&self) -> Option<&Quantizer> {
        match self.form.as_deref() {
            Some(Form::Quantized(quantizer)) => Some(quantizer),
            _ => None,
        }
    }

    /// `torch.Tensor.layout`.
    pub fn tensor_layout(&self) -> TensorLayout {
        match self.form.as_deref() {
            Some(Form::Coo(_)) => TensorLayout::SparseCoo,
            Some(Form::Compressed(compressed)) => compressed.layout,
            Some(Form::Quantized(_)) | None => TensorLayout::Strided,
        }
    }

    pub fn is_sparse(&self) -> bool {
        matches!(self.form.as_deref(), Some(Form::Coo(_) | Form::Compressed(_)))
    }

    /// Returns PyTorch's name of the backend for this kind of tensor.
    pub fn backend(&self) -> &'static str {
        match self.form.as_deref() {
            Some(Form::Coo(_)) if self.device().is_meta() => "SparseMeta",
            Some(Form::Coo(_)) => "SparseCPU",
            Some(Form::Compressed(_)) if self.device().is_meta() => "SparseCsrMeta",
            Some(Form::Compressed(_)) => "SparseCsrCPU",
            Some(Form::Quantized(_)) => "QuantizedCPU",
            None if self.device().is_meta() => "Meta",
            None => "CPU",
        }
    }
}
