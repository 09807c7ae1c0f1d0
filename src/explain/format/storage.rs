//! Formats storages like PyTorch: one element per line without omissions, then a line with the class, device and size.

use super::number::push;
use super::repr::write_scalar;
use tensor::memory::get;
use tensor::{Error, Result, Storage, TypedStorage, interrupt};

/// Number of elements between two checks for available memory.
const BLOCK: i64 = 1 << 12;

/// The maximum length of an element's line (a `complex128` with all its digits).
const MAX_LINE: usize = 64;

/// Appends a storage's bytes, one number per line.
///
/// # Errors
/// Fails with RuntimeError if there is not enough memory for the text.
pub(super) fn write_untyped(out: &mut String, storage: &Storage) -> Result<()> {
    let memory = storage.memory();
    memory.check()?;
    let device = storage.device();
    if device.is_meta() {
        out.push_str("...\n");
    } else if memory.nbytes() == 0 {
        out.push_str(" \n");
    } else {
        let lines: Vec<String> = (0..=u8::MAX).map(|byte| format!(" {byte}\n")).collect();
        let line = |byte: u8| lines.get(usize::from(byte)).map_or("", String::as_str);
        // The text is up to five times as long as the storage. Reserve all of it at once, so that a lack of memory is
        // an error.
        reserve(out, memory.nbytes().saturating_mul(3))?;
        let length = interrupt::watched(memory.bytes()).map(|cell| line(get(cell)).len()).sum();
        reserve(out, length)?;
        for part in memory.bytes().chunks(interrupt::STRIDE) {
            interrupt::check()?;
            part.iter().for_each(|cell| out.push_str(line(get(cell))));
        }
    }
    push(out, format_args!("[torch.storage.UntypedStorage(device={device}) of size {}]", memory.nbytes()));
    Ok(())
}

/// Appends a typed storage's elements, one Python number per line.
///
/// # Errors
/// Fails with RuntimeError if there is not enough memory for the text.
pub(super) fn write_typed(out: &mut String, typed: &TypedStorage) -> Result<()> {
    let view = typed.view();
    let (device, dtype, length) = (typed.storage.device(), typed.dtype.name(), typed.len());
    if device.is_meta() {
        out.push_str("...\n");
    } else if length == 0 {
        out.push_str(" \n");
    } else {
        let memory = view.memory()?;
        for index in 0..length as i64 {
            if index % BLOCK == 0 {
                interrupt::check()?;
                reserve(out, BLOCK as usize * MAX_LINE)?;
            }
            out.push(' ');
            write_scalar(out, view.read(&memory, index));
            out.push('\n');
        }
    }
    push(out, format_args!("[torch.storage.TypedStorage(dtype=torch.{dtype}, device={device}) of size {length}]"));
    Ok(())
}

/// Reserves `length` more bytes of text.
pub(super) fn reserve(out: &mut String, length: usize) -> Result<()> {
    out.try_reserve(length).map_err(|_| Error::runtime(format!("no memory for {length} bytes of text")))
}
