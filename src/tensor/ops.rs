//! Operations on views: each takes a [`View`](crate::View) and returns a new view or writes to an existing one.
//! Independent of scripts, autograd and the terminal. One file per family of PyTorch's reference.

pub mod block;
pub mod calculus;
pub mod check;
pub mod compare;
pub mod compose;
pub mod convolution;
pub mod copy;
pub mod create;
pub mod fft;
pub mod gather;
pub mod histogram;
pub mod index;
mod introsort;
pub mod join;
mod lines;
pub mod mask;
pub mod matmul;
pub mod normalization;
pub mod number;
pub mod pixels;
pub mod pointwise;
pub mod promote;
pub mod quantize;
pub mod random;
pub mod rank;
pub mod rearrange;
pub mod reduce;
pub mod slice_scatter;
pub mod softmax;
pub mod sort;
pub mod sparse;
pub mod special;
pub mod split;
pub mod statistics;
pub mod view;
pub mod windows;

pub use elementary::BY_GLIBC;
