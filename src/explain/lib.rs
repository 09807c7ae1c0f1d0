//! Makes memory visible: which parts of a storage a tensor shows, who shares it, why a view fails, and what the bytes
//! mean. Also draws figures of a tensor's numbers.
//!
//! Everything is first a [`Scene`], made from [`View`](tensor::View)s; [`terminal`], [`svg`] and [`html`] draw the same
//! scene. Evaluates nothing, changes nothing and writes no files.

// User input must never panic the process.
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

pub mod format;

mod again;
pub mod aliases;
pub mod arrays;
mod asked;
pub mod bits;
mod blank;
pub mod blocks;
pub mod broadcasting;
pub mod bytes;
pub mod calculation;
mod cells;
pub mod compare;
mod element;
pub mod exact;
pub mod figure;
pub mod html;
pub mod origin;
mod page;
mod picture;
mod places;
pub mod promotion;
mod quantiles;
mod residents;
mod scene;
mod shown;
mod steps;
pub mod sum_steps;
pub mod svg;
pub mod tensors;
pub mod terminal;
pub mod turn;
pub mod watch;
pub mod why;
pub mod why_arrays;

pub use again::{Redraw, RedrawContext, RedrawOutcome, weakly};
pub use aliases::Holder;
pub use blank::{Blank, Blanks};
pub use element::brief;
pub use page::escaped;
pub use picture::{Choose, Picture};
pub use residents::index_of;
pub use scene::{Ink, Line, Scene, Span, Table, byte_count, span};
pub use shown::Shown;
pub use steps::table as chain;
