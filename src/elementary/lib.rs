//! Elementary functions, and the loops over them that a page needs. Knows numbers and slices, and nothing of tensors. It is a
//! crate of its own because WebAssembly is compiled for size, where no loop is vectorised; this crate alone is compiled for
//! speed there.

// Nothing that a user can do may abort the process.
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

pub mod glibc;
pub mod lanes;
#[cfg(not(all(target_os = "linux", target_env = "gnu", target_arch = "x86_64")))]
mod names;
pub mod series;
#[cfg(target_feature = "simd128")]
pub mod singles;
