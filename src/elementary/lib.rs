//! Elementary functions, and the loops over them that a page needs. Knows numbers and slices, and nothing of tensors. It is a
//! crate of its own because WebAssembly is compiled for size, where no loop is vectorised; this crate alone is compiled for
//! speed there.

// Nothing that a user can do may abort the process.
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

/// Whether the C library is glibc for x86-64, whose digits PyTorch has. Elsewhere the functions of `names` stand in for it; those
/// of `f64` differ from glibc's in the last bit of a few results in a thousand.
pub const BY_GLIBC: bool = cfg!(all(target_os = "linux", target_env = "gnu", target_arch = "x86_64"));

pub mod glibc;
pub mod lanes;
#[cfg(not(all(target_os = "linux", target_env = "gnu", target_arch = "x86_64")))]
mod names;
pub mod series;
#[cfg(target_feature = "simd128")]
pub mod singles;
