//! The derivative table: one row per differentiable overload, keyed as in the function table. A row has the printed
//! name of the node. For every differentiable argument it has the formula of the gradient, and the values that the
//! formula reads. The pass itself sums over broadcast dimensions, takes the real part for a real argument and converts
//! the dtype, so formulas do not.
//!
//! The formulas are mathematically those of PyTorch's `derivatives.yaml`. Its rows name the arguments; the rows here
//! number them.

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
pub(crate) mod views;

pub(crate) use fft::opposite_norm;

/// Every row of the table.
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
    views::VIEWS,
];
