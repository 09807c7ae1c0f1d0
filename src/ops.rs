//! Operations on views: a [`View`](crate::tensor::View) in, a new or written one out. Knows no script, no autograd and
//! no terminal. One file per family of PyTorch's reference.

pub mod block;
mod check;
pub mod compare;
pub mod copy;
pub mod create;
pub mod gather;
pub mod index;
mod introsort;
pub mod join;
pub mod mask;
pub mod number;
pub mod pointwise;
pub mod promote;
pub mod random;
pub mod rearrange;
pub mod reduce;
pub mod slice_scatter;
pub mod sort;
pub mod split;
pub mod view;
