//! Pickles in PyTorch's form: read by a stack machine that builds only data, and written in protocol 2. Follows
//! `torch.load(weights_only=True)`: the same instructions, classes and refusals.

mod build;
mod names;
mod read;
mod write;

pub(crate) use build::{Builder, key_value};
pub(crate) use names::Class;
pub(crate) use read::{Array, Id, Mode, Node, Pickled, Saved, Scale, TensorDescription, read, read_with};
pub(crate) use write::Attributes;
pub(crate) use write::{Facts, write};

use tensor::{Error, ErrorKind};

/// A refusal by the machine. [`explained`] adds PyTorch's explanation.
fn refused(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::UnpicklingError, message)
}

/// Returns the error in the form of `torch.load`.
pub(crate) fn explained(error: Error) -> Error {
    const UNSAFE: &str = "In PyTorch 2.6, we changed the default value of the `weights_only` argument in `torch.load` \
        from `False` to `True`. Re-running `torch.load` with `weights_only` set to `False` will likely succeed, but it \
        can result in arbitrary code execution. Do it only if you got the file from a trusted source.";
    const PAGE: &str = "\n\nCheck the documentation of torch.load to learn more about types accepted by default with \
        weights_only https://pytorch.org/docs/stable/generated/torch.load.html.";
    let why = &error.message;
    if error.kind != ErrorKind::UnpicklingError {
        return error;
    }
    refused(if why.contains(" was not an allowed global by default.") {
        format!(
            "Weights only load failed. This file can still be loaded, to do so you have two options, \x1b[1mdo those \
             steps only if you trust the source of the checkpoint\x1b[0m. \n\t(1) {UNSAFE}\n\t(2) Alternatively, to load \
             with `weights_only=True` please check the recommended steps in the following error \
             message.\n\tWeightsUnpickler error: {why}{PAGE}"
        )
    } else if why.contains(" must be imported to load ") {
        format!("Weights only load failed. {why}\n {UNSAFE}\n")
    } else if why.contains(" is blocked") {
        format!("Weights only load failed. {UNSAFE}\n{why}{PAGE}")
    } else {
        format!(
            "Weights only load failed. {UNSAFE}\nPlease file an issue with the following so that we can make \
             `weights_only=True` compatible with your use case: WeightsUnpickler error: {why}{PAGE}"
        )
    })
}
