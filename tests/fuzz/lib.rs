//! What the fuzz targets share: the ways in which a file, a page or a program is read. Every input is read, or refused
//! with an error. A panic, an abort, a memory error, much memory or a long time is a finding.

mod pages;
mod programs;
mod tensors;

pub use pages::page;
pub use programs::{prepare, program};
pub use tensors::{archive, file, folder, folder_seeds};
