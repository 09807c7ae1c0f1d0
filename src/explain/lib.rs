//! Memory made visible: what a tensor shows of its storage, who shares it, why a view fails, what the bytes
//! mean; and figures of a tensor's numbers.
//!
//! Everything is first a [`Scene`], made of [`View`](tensor::View)s; [`terminal`], [`svg`] and [`html`] draw the
//! same scene. Evaluates nothing, changes nothing and writes no files.

// Nothing a user can reach may end the process.
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

pub mod format;

mod again;
pub mod aliases;
pub mod bits;
pub mod blocks;
pub mod bytes;
mod element;
pub mod figure;
pub mod html;
mod page;
mod picture;
mod quantiles;
mod residents;
mod scene;
mod steps;
pub mod svg;
pub mod tensors;
pub mod terminal;
pub mod watch;
pub mod why;

pub use again::{Again, Fate, Seen};
pub use aliases::Holder;
pub use page::escaped;
pub use picture::Picture;
pub use scene::{Ink, Line, Scene, Span, Table, byte_count, span};
pub use steps::table as chain;
