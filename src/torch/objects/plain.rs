//! Python's plain types: numbers, lists, dictionaries, sets, tuples, slices, exceptions and classes.

pub(crate) mod classes;
pub mod containers;
pub(crate) mod dicts;
pub mod exceptions;
pub(crate) mod lists;
pub(crate) mod named_tuples;
pub mod numbers;
pub(crate) mod sets;
pub mod slices;
pub mod sorting;
pub(crate) mod tuples;
