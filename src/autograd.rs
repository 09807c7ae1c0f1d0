//! Gradients: recording operations as they run, and walking the record backwards.
//! Follows <https://pytorch.org/docs/2.7/notes/autograd.html>. Knows operations and values, no script and no terminal.

mod derivatives;
mod tape;

pub use tape::{
    Before, Inputs, backward, prepare_assignment, prepare_in_place, record, record_assignment, record_subscript,
    retain_grad,
};
