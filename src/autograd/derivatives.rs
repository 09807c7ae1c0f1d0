//! THE derivative table: one row per differentiable overload, keyed as in the function table. A row says what printing
//! calls the node, and for every differentiable argument how its gradient comes from that of the result, and which
//! values the formula reads. A sum over broadcast dimensions, the real part where the argument is real and its dtype are
//! seen to by the pass; formulas leave them alone.
//!
//! The formulas are those of PyTorch's `derivatives.yaml` as mathematics; a row of it names arguments, one here counts
//! them.

use super::derivative::Derivative;

mod activation;
mod convolution;
mod elements;
mod fft;
mod linalg;
mod matmul;
mod norms;
mod pointwise;
mod reduce;
mod second;
mod sparse;
mod special;
pub(crate) mod strided;
mod views;

pub(crate) use fft::opposite_norm;
pub(crate) use strided::as_parts as views_parts;

/// Every row.
pub(crate) const TABLES: &[&[Derivative]] = &[
    activation::ROWS,
    convolution::ROWS,
    elements::ROWS,
    fft::ROWS,
    linalg::ROWS,
    matmul::ROWS,
    norms::ROWS,
    pointwise::ROWS,
    reduce::ROWS,
    second::ROWS,
    sparse::ROWS,
    special::ROWS,
    views::ROWS,
];
