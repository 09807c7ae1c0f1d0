//! Python's plain types: numbers, lists, dictionaries, sets, tuples, slices, exceptions and classes.

pub mod classes;
pub mod containers;
pub mod dicts;
pub mod exceptions;
pub mod lists;
pub(crate) mod long_ranges;
pub mod numbers;
pub mod sets;
pub mod slices;
pub mod sorting;
pub mod special;
pub mod tuples;
pub mod type_forms;
