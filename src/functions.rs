//! The function table: one row per overload. A row holds the schema as PyTorch writes it, the function, and one line of
//! documentation. Methods, module functions, attributes, argument errors, help and completion all come from it.

use crate::call::Row;

mod anomaly;
mod arithmetic;
mod attributes;
pub mod autograd_rows;
mod backward;
pub mod bounds;
mod buffers;
mod byte_streams;
mod bytes;
pub mod calling;
mod casts;
mod characters;
mod classes;
mod codecs;
mod combine;
pub mod container_methods;
pub mod containers;
mod convolution;
mod create;
mod data;
mod defaults;
mod deterministic;
mod dicts;
pub mod dimnames;
mod distributions;
mod dlpack;
mod eigen;
mod einsum;
pub mod exceptions;
mod explain;
mod fft;
mod files;
mod functional;
mod given;
mod graph;
pub mod histograms;
mod hooks;
pub mod identity;
mod indexing;
mod internal;
pub mod iterate;
pub mod lazy;
mod legacy_storages;
mod legacy_tensors;
mod linalg;
mod lists;
mod matmul;
pub mod members;
mod methods;
pub mod named_tuples;
mod normalization;
mod norms;
pub mod numbers;
mod numpy;
mod objects;
pub mod operators;
mod percent;
mod places;
mod pointwise;
mod python;
mod quantized;
mod random;
mod rearrange;
mod reduce;
mod reflections;
mod samples;
mod scatter;
pub mod sequences;
mod sets;
mod short_time;
mod similarity;
pub mod slices;
pub mod sorting;
mod sparse;
mod sparse_kernels;
mod special;
mod special_methods;
mod splits;
mod statistics;
pub mod steps;
mod storage_devices;
mod storages;
pub mod subscript;
mod tensors;
mod text;
mod text_format;
mod tolerances;
mod tuples;
mod typed_storages;
mod view_copies;
mod views;
mod views_in_place;
mod windows;

pub use classes::parent_of_class;
pub use data::index_tensor;
pub use explain::READ_VARIABLES;
pub use graph::attribute as node_attribute;
pub use indexing::{assign, subscript};
pub use legacy_storages::{
    class_attribute, class_of_dtype, is_instance, kind_of_class, legacy_dtype, refuse_elsewhere,
};
pub use legacy_tensors::{cuda_tensor_class, legacy_tensor_class};
pub use numpy::{array_item, array_view, set_array_item};
pub use objects::{CONTEXT, FUNCTION, enter_context, exit_context, is_context, member, module_value};
pub use percent::percent;
pub use quantized::{SCHEMES, scheme};
pub use steps::Steps;
pub use storages::{item as storage_item, set_item as set_storage_item};
pub use typed_storages::{item as typed_storage_item, set_item as set_typed_storage_item};

/// The rows of this room.
const TABLES: &[&[Row]] = &[
    anomaly::ROWS,
    arithmetic::ROWS,
    arithmetic::PAIRS,
    attributes::ROWS,
    autograd_rows::ROWS,
    backward::ROWS,
    buffers::ROWS,
    byte_streams::ROWS,
    casts::ROWS,
    classes::ROWS,
    combine::ROWS,
    convolution::ROWS,
    convolution::FORWARDS,
    convolution::TRANSPOSED,
    create::ROWS,
    defaults::ROWS,
    deterministic::ROWS,
    dlpack::ROWS,
    distributions::ROWS,
    fft::ROWS,
    files::ROWS,
    functional::ROWS,
    given::ROWS,
    graph::ROWS,
    hooks::ROWS,
    internal::ROWS,
    lazy::ROWS,
    named_tuples::ROWS,
    dimnames::ROWS,
    eigen::ROWS,
    einsum::ROWS,
    explain::ROWS,
    crate::dispatch::fake::ROWS,
    linalg::ROWS,
    tolerances::ROWS,
    reflections::ROWS,
    matmul::ROWS,
    normalization::ROWS,
    norms::ROWS,
    numbers::ROWS,
    numpy::ROWS,
    objects::ROWS,
    pointwise::ROWS,
    pointwise::PRODUCT,
    pointwise::PRODUCT_IN_PLACE,
    pointwise::QUOTIENT,
    pointwise::QUOTIENT_IN_PLACE,
    pointwise::SECOND,
    pointwise::SECOND_IN_PLACE,
    pointwise::BINARY,
    pointwise::BINARY_IN_PLACE,
    pointwise::LOGARITHM,
    pointwise::LOGARITHM_IN_PLACE,
    pointwise::STEP,
    pointwise::STEP_IN_PLACE,
    pointwise::BINARY_ONLY,
    pointwise::TENSORS,
    pointwise::TENSORS_IN_PLACE,
    pointwise::LOGICAL,
    pointwise::LOGICAL_IN_PLACE,
    pointwise::COMPARISONS,
    pointwise::COMPARISONS_IN_PLACE,
    pointwise::UNARY,
    pointwise::UNARY_IN_PLACE,
    pointwise::TESTS,
    pointwise::WITHOUT_OUT,
    pointwise::RELU,
    pointwise::PAIRS_IN_PLACE,
    pointwise::UNARY_ONLY,
    places::ROWS,
    python::ROWS,
    quantized::ROWS,
    random::ROWS,
    rearrange::ROWS,
    scatter::ROWS,
    short_time::ROWS,
    similarity::ROWS,
    splits::ROWS,
    reduce::ROWS,
    samples::ROWS,
    sequences::ROWS,
    crate::dispatch::saving::ROWS,
    sparse::ROWS,
    special::ROWS,
    special::UNARY,
    special::BINARY,
    special::POLYNOMIALS,
    statistics::ROWS,
    histograms::ROWS,
    storages::ROWS,
    storage_devices::ROWS,
    legacy_tensors::ON_CUDA,
    typed_storages::ROWS,
    typed_storages::CASTS,
    legacy_storages::LEGACY,
    legacy_storages::ON_CUDA,
    tensors::ROWS,
    text::ROWS,
    bytes::ROWS,
    views::ROWS,
    windows::ROWS,
    view_copies::ROWS,
    views_in_place::ROWS,
];

/// Every row of this room as it is written, table by table; those of the legacy tensor classes come in groups.
pub fn rows() -> impl Iterator<Item = &'static Row> {
    let groups = legacy_tensors::ROWS.iter().chain(legacy_tensors::CLASSES).flatten();
    TABLES.iter().copied().flatten().chain(groups)
}
