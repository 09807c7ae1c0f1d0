//! Warnings about deprecated uses. The session's state shows each of them once.

use super::state::State;
use std::ops::Deref;
use tensor::{DType, View};

/// Warns about `uint8` masks among index tensors.
pub fn byte_masks(state: &State, indices: impl IntoIterator<Item: Deref<Target = View>>) {
    if indices.into_iter().any(|index| index.dtype == DType::Byte) {
        state.warn_once(
            "UserWarning",
            "indexing with dtype torch.uint8 is now deprecated, please use a dtype torch.bool instead. (Triggered \
             internally at /pytorch/aten/src/ATen/native/IndexingUtils.h:29.)",
        );
    }
}

/// Warns about a `uint8` condition.
pub fn byte_condition(state: &State, condition: &View) {
    if condition.dtype == DType::Byte {
        state.warn_once(
            "UserWarning",
            "where received a uint8 condition tensor. This behavior is deprecated and will be removed in a future version \
             of PyTorch. Use a boolean condition instead. (Triggered internally at \
             /pytorch/aten/src/ATen/native/TensorCompare.cpp:611.)",
        );
    }
}

/// A function that writes by index or mask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writer {
    IndexPut,
    IndexFill,
    MaskedFill,
}

/// Warns about writing to a tensor that shows one element at several positions.
pub fn expanded(state: &State, writer: Writer, target: &View) {
    if !target.layout.has_internal_overlap() {
        return;
    }
    let message = match writer {
        Writer::IndexPut => {
            "Use of index_put_ on expanded tensors is deprecated. Please clone() the tensor before performing this \
             operation. This also applies to advanced indexing e.g. tensor[indices] = tensor (Triggered internally at \
             /pytorch/aten/src/ATen/native/TensorAdvancedIndexing.cpp:987.)"
        }
        Writer::IndexFill => {
            "Use of index_fill_ on expanded tensors is deprecated. Please clone() the tensor before performing this \
             operation. This also applies to advanced indexing e.g. tensor[mask] = scalar (Triggered internally at \
             /pytorch/aten/src/ATen/native/TensorAdvancedIndexing.cpp:1923.)"
        }
        Writer::MaskedFill => {
            "Use of masked_fill_ on expanded tensors is deprecated. Please clone() the tensor before performing this \
             operation. This also applies to advanced indexing e.g. tensor[mask] = scalar (Triggered internally at \
             /pytorch/aten/src/ATen/native/TensorAdvancedIndexing.cpp:2483.)"
        }
    };
    state.warn_once("UserWarning", message);
}

/// Warns about `.T` of a tensor that is not a matrix.
pub fn reversed(state: &State, view: &View) {
    match view.ndim() {
        2 => {}
        0 => state.warn_once(
            "UserWarning",
            "Tensor.T is deprecated on 0-D tensors. This function is the identity in these cases. (Triggered internally at \
             /pytorch/aten/src/ATen/native/TensorShape.cpp:4420.)",
        ),
        _ => state.warn_once(
            "UserWarning",
            "The use of `x.T` on tensors of dimension other than 2 to reverse their shape is deprecated and it will throw \
             an error in a future release. Consider `x.mT` to transpose batches of matrices or \
             `x.permute(*torch.arange(x.ndim - 1, -1, -1))` to reverse the dimensions of a tensor. (Triggered internally \
             at /pytorch/aten/src/ATen/native/TensorShape.cpp:4413.)",
        ),
    }
}

/// Warns about a transpose of a 0-dimensional tensor. `name` is the attribute or method that was used.
pub fn transposed_number(state: &State, name: &str, view: &View) {
    if view.ndim() > 0 {
        return;
    }
    let message = match name {
        "mT" => {
            "Tensor.mT is deprecated on 0-D tensors. This function is the identity in these cases. (Triggered internally \
             at /pytorch/aten/src/ATen/native/TensorShape.cpp:4472.)"
        }
        "H" => {
            "Tensor.H is deprecated on 0-D tensors. Consider using x.conj(). (Triggered internally at \
             /pytorch/aten/src/ATen/native/TensorShape.cpp:4434.)"
        }
        "mH" => {
            "Tensor.mH is deprecated on 0-D tensors. Consider using x.conj(). (Triggered internally at \
             /pytorch/aten/src/ATen/native/TensorShape.cpp:4481.)"
        }
        _ => {
            "adjoint() is deprecated on 0-D tensors. Consider using x.conj(). (Triggered internally at \
             /pytorch/aten/src/ATen/native/TensorShape.cpp:4489.)"
        }
    };
    state.warn_once("UserWarning", message);
}
