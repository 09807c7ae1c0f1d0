//! Python's object model: attributes, items, iteration, calls, operators and subscripts of values, and the plain types
//! (strings, bytes, numbers, containers, exceptions). PyTorch's functions are in `torch`, which this room must not
//! name: arrays and nodes of the gradient graph define their behaviour through the trait [`value::Object`].

// User input must never end the process.
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

pub mod bounds;
pub mod calling;
pub mod container_methods;
pub mod contexts;
pub mod data;
pub mod identity;
pub mod indexing;
pub mod iterate;
pub mod lazy;
pub mod legacy_classes;
pub mod members;
pub mod methods;
pub mod modules;
pub mod operators;
pub mod plain;
pub mod python;
pub mod sequences;
pub(crate) mod special_methods;
pub mod standard_streams;
pub mod storages;
pub mod strings;
pub mod subscript;

use call::Row;

/// The rows of Python's own types: one entry per table, with its subject.
pub const TABLES: &[(&str, &[Row])] = &[
    ("buffers", strings::buffers::ROWS),
    ("buffers", strings::byte_streams::ROWS),
    ("Python", plain::classes::ROWS),
    ("Python", lazy::ROWS),
    ("Python", plain::numbers::ROWS),
    ("Python", python::ROWS),
    ("Python", sequences::ROWS),
    ("Python", strings::text::ROWS),
    ("Python", strings::bytes::ROWS),
];
