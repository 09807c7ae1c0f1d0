//! The function table: one row per overload. A row holds the schema as PyTorch writes it, the function, and one line of
//! documentation. Methods, module functions, attributes, argument errors, help and completion all come from it.

// A user's mistake must not abort the process, so code that panics is denied.
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

pub mod library;

use call::Row;

mod anomaly;
mod arithmetic;
mod array_files;
mod arrays;
mod attributes;
pub(crate) mod autograd_rows;
mod backends;
mod backward;
mod block_tensors;
pub mod calculation;
mod casts;
mod combine;
mod convolution;
mod create;
mod defaults;
mod deterministic;
pub(crate) mod dimnames;
mod distributions;
mod dlpack;
mod dropout;
mod eigen;
mod einsum;
mod explain;
mod fft;
mod files;
mod functional;
mod given;
mod graph;
pub(crate) mod histograms;
mod hooks;
mod internal;
mod legacy_storages;
mod legacy_tensors;
mod linalg;
mod matmul;
mod modes;
mod normalization;
mod norms;
mod ordering;
pub(crate) mod origin;
mod places;
mod pointwise;
mod python;
mod quantized;
mod random;
mod rearrange;
mod reduce;
mod reflections;
mod safetensors;
mod samples;
mod scatter;
mod short_time;
mod similarity;
mod sparse;
mod sparse_arithmetic;
mod sparse_kernels;
mod special;
mod splits;
mod statistics;
pub mod steps;
mod storage_devices;
mod storages;
mod tensors;
mod tolerances;
mod typed_storages;
mod view_copies;
mod views;
mod windows;

pub use explain::READ_VARIABLES;
pub use origin::{RECORDING, origin_finder};
pub use steps::Steps;

/// The rows of PyTorch, each table with its subject, by which completion and help group names; internal ones have none.
const TABLES: &[(&str, &[Row])] = &[
    ("gradients", anomaly::ROWS),
    ("arithmetic", arithmetic::ROWS),
    ("arithmetic", arithmetic::PAIRS),
    ("attributes", attributes::ROWS),
    ("gradients", autograd_rows::ROWS),
    ("settings", backends::ROWS),
    ("settings", backends::ANSWERS),
    ("settings", backends::FUTURE),
    ("gradients", backward::ROWS),
    ("files", block_tensors::ROWS),
    ("conversion", casts::ROWS),
    ("conversion", casts::CASTS),
    ("matrices", combine::ROWS),
    ("networks", convolution::ROWS),
    ("networks", convolution::FORWARDS),
    ("networks", convolution::TRANSPOSED),
    ("creation", create::ROWS),
    ("settings", defaults::ROWS),
    ("settings", deterministic::ROWS),
    ("conversion", dlpack::ROWS),
    ("random", distributions::ROWS),
    ("networks", dropout::PAIRS),
    ("networks", dropout::FUNCTIONAL),
    ("networks", dropout::NATIVE),
    ("fourier", fft::ROWS),
    ("files", files::ROWS),
    ("networks", functional::ROWS),
    ("elements", given::ROWS),
    ("gradients", graph::ROWS),
    ("gradients", hooks::ROWS),
    ("", internal::ROWS),
    ("names", dimnames::ROWS),
    ("matrices", eigen::ROWS),
    ("matrices", einsum::ROWS),
    ("pictures", explain::ROWS),
    ("pictures", origin::ROWS),
    ("quantization", call::dispatch::fake::ROWS),
    ("matrices", linalg::ROWS),
    ("matrices", tolerances::ROWS),
    ("matrices", reflections::ROWS),
    ("matrices", matmul::ROWS),
    ("networks", normalization::ROWS),
    ("reductions", norms::ROWS),
    ("conversion", arrays::ROWS),
    ("", array_files::ROWS),
    ("files", safetensors::ROWS),
    ("", safetensors::INTERNAL),
    ("settings", modes::ROWS),
    ("arithmetic", pointwise::ROWS),
    ("arithmetic", pointwise::PRODUCT),
    ("arithmetic", pointwise::PRODUCT_IN_PLACE),
    ("arithmetic", pointwise::QUOTIENT),
    ("arithmetic", pointwise::QUOTIENT_IN_PLACE),
    ("mathematics", pointwise::SECOND),
    ("mathematics", pointwise::SECOND_IN_PLACE),
    ("arithmetic", pointwise::BINARY),
    ("arithmetic", pointwise::BINARY_IN_PLACE),
    ("mathematics", pointwise::LOGARITHM),
    ("mathematics", pointwise::LOGARITHM_IN_PLACE),
    ("mathematics", pointwise::STEP),
    ("mathematics", pointwise::STEP_IN_PLACE),
    ("mathematics", pointwise::BINARY_ONLY),
    ("mathematics", pointwise::TENSORS),
    ("mathematics", pointwise::TENSORS_IN_PLACE),
    ("comparisons", pointwise::LOGICAL),
    ("comparisons", pointwise::LOGICAL_IN_PLACE),
    ("comparisons", pointwise::COMPARISONS),
    ("comparisons", pointwise::COMPARISONS_IN_PLACE),
    ("mathematics", pointwise::UNARY),
    ("mathematics", pointwise::UNARY_IN_PLACE),
    ("comparisons", pointwise::TESTS),
    ("mathematics", pointwise::WITHOUT_OUT),
    ("mathematics", pointwise::RELU),
    ("arithmetic", pointwise::PAIRS_IN_PLACE),
    ("mathematics", pointwise::UNARY_ONLY),
    ("indexing", places::ROWS),
    ("quantization", quantized::ROWS),
    ("random", random::ROWS),
    ("rearranging", ordering::ROWS),
    ("rearranging", rearrange::ROWS),
    ("indexing", scatter::ROWS),
    ("fourier", short_time::ROWS),
    ("networks", similarity::ROWS),
    ("views", splits::ROWS),
    ("reductions", reduce::ROWS),
    ("random", samples::ROWS),
    ("gradients", call::dispatch::saving::ROWS),
    ("sparse", sparse::ROWS),
    ("mathematics", special::ROWS),
    ("mathematics", special::UNARY),
    ("mathematics", special::BINARY),
    ("mathematics", special::POLYNOMIALS),
    ("statistics", statistics::ROWS),
    ("statistics", histograms::ROWS),
    ("storage", storages::ROWS),
    ("storage", storage_devices::ROWS),
    ("conversion", legacy_tensors::ON_CUDA),
    ("storage", typed_storages::ROWS),
    ("storage", typed_storages::CASTS),
    ("storage", legacy_storages::LEGACY),
    ("storage", legacy_storages::ON_CUDA),
    ("storage", tensors::ROWS),
    ("views", views::ROWS),
    ("fourier", windows::ROWS),
    ("copies", view_copies::ROWS),
];

/// Every row of this room and of `objects` as it is written, table by table, with its subject. The rows of the legacy tensor
/// classes, which come in groups, have no subject.
pub(crate) fn by_subject() -> impl Iterator<Item = (&'static str, &'static Row)> {
    let classes = legacy_tensors::ROWS.iter().chain(legacy_tensors::CLASSES).flatten();
    let sparse = legacy_tensors::SPARSE_CLASSES.iter().flatten();
    let groups = legacy_tensors::OF_PARTS.iter().chain(classes).chain(sparse).map(|row| ("", row));
    TABLES
        .iter()
        .chain(objects::TABLES)
        .chain(numpy::TABLES)
        .flat_map(|(subject, rows)| rows.iter().map(move |row| (*subject, row)))
        .chain(groups)
}

/// Every row of this room and of `objects`.
pub fn rows() -> impl Iterator<Item = &'static Row> {
    by_subject().map(|(_, row)| row)
}
