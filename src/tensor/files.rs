//! Maps files into memory: opens and extends a file, and undoes both on failure. Follows
//! <https://pytorch.org/docs/2.7/generated/torch.from_file.html>; the messages are PyTorch's.

use super::error::{Error, Result};
use super::memory::{Mapped, Memory};
use super::rehearsal::{to_change, to_read};
use crate::system::{Access, File, Files, OpenFile, PathKind, System, describe_error};
use std::io;
use std::path::Path;

/// Maps the first `nbytes` of a file. With `shared`, the file is created or extended as needed, and writes change the
/// file. Otherwise the file must be long enough, and writes stay private.
///
/// # Errors
/// RuntimeError, in PyTorch's words, if the file cannot be opened, is too short, or cannot be mapped. The file is then
/// unchanged.
pub fn map(name: &str, shared: bool, nbytes: i64) -> Result<Memory> {
    let there = if shared { to_change(name) } else { Ok(to_read(name)) };
    let there = there.map_err(|error| fail("unable to copy file", name, &error))?;
    let place = Path::new(&*there);
    let existed = System::kind(place).is_ok();
    let file = System::open(place, if shared { Access::Change } else { Access::Read }).map_err(|error| match error
        .kind()
    {
        // Windows does not open a folder for reading. Other systems do, and refuse to map it.
        io::ErrorKind::IsADirectory if !shared => {
            Error::runtime(format!("unable to mmap {nbytes} bytes from file <{name}>: No such device (19)"))
        }
        _ => {
            let mode = if shared { "read-write" } else { "read-only" };
            Error::runtime(format!("unable to open file <{name}> in {mode} mode: {}", reason(&error)))
        }
    })?;
    let undo = |length: Option<u64>| {
        // Ignore errors of the cleanup: the original error is reported.
        let _ = match length {
            Some(length) => System::open(place, Access::Change).and_then(|file| OpenFile::set_len(&file, length)),
            None => System::remove(place),
        };
    };
    let Ok(size) = usize::try_from(nbytes) else {
        if !existed {
            undo(None);
        }
        return Err(Error::runtime(format!(
            "unable to mmap {nbytes} bytes from file <{name}>: Cannot allocate memory (12)"
        )));
    };
    let length = length(&file).map_err(|e| fail("unable to stat the file", name, &e))?;
    if length < size as u64 {
        if !shared {
            return Err(Error::runtime(format!(
                "file <{name}> size <{length}> is smaller than the required mapping size <{size}>"
            )));
        }
        if let Err(error) = extend_file(&file, name, length, size as u64) {
            if !existed {
                undo(None);
            }
            return Err(error);
        }
    }
    if size == 0 {
        return Memory::heap(0);
    }
    Mapped::file(file, size, name, shared).map(Memory::Mapped).map_err(|error| {
        if !existed {
            undo(None);
        } else if length < size as u64 {
            undo(Some(length));
        }
        fail(&format!("unable to mmap {size} bytes from file"), name, &error)
    })
}

/// Returns the length of a file. Devices have length 0; folders are left to the system, which refuses to map them.
fn length(file: &File) -> io::Result<u64> {
    Ok(match OpenFile::kind(file)? {
        PathKind::File(length) => length,
        PathKind::Folder => u64::MAX,
        PathKind::Other => 0,
    })
}

/// Extends a file. The new bytes are zero and are allocated at once: on a full disk this fails, whereas PyTorch is
/// killed by a signal at the first write. PyTorch 2.7.0 also sets the file's first byte to zero here, by mistake; we do
/// not.
fn extend_file(file: &File, name: &str, length: u64, size: u64) -> Result<()> {
    let stretched = OpenFile::set_len(file, size).and_then(|()| self::length(file)).and_then(|stretched| {
        if stretched < size {
            return Ok(false);
        }
        file.reserve(length, size).map(|()| true)
    });
    match stretched {
        Ok(true) => Ok(()),
        Ok(false) => Err(Error::runtime(format!("unable to stretch file <{name}> to the right size: Success (0)"))),
        Err(error) => {
            // Ignore errors of the cleanup: the original error is reported.
            let _ = OpenFile::set_len(file, length);
            Err(Error::runtime(format!("unable to resize file <{name}> to the right size: {}", reason(&error))))
        }
    }
}

fn fail(what: &str, name: &str, error: &io::Error) -> Error {
    Error::runtime(format!("{what} <{name}>: {}", reason(error)))
}

/// Returns the system's text for an error with its number, as C programs show them.
fn reason(error: &io::Error) -> String {
    let (text, code) = describe_error(error);
    code.map_or(text.clone(), |code| format!("{text} ({code})"))
}

/// Copies memory to POSIX shared memory.
///
/// # Errors
/// RuntimeError, in PyTorch's words, if no shared memory is available.
pub fn share(memory: &Memory) -> Result<Memory> {
    let nbytes = memory.nbytes();
    let mapped = Mapped::shared_memory(nbytes).map_err(|(call, error)| {
        let why = reason(&error);
        Error::runtime(match call {
            "open" => format!("unable to open shared memory object in read-write mode: {why}"),
            "mmap" => format!("unable to mmap {nbytes} bytes of shared memory: {why}"),
            _ => format!("unable to allocate {nbytes} bytes of shared memory: {why}"),
        })
    })?;
    let shared = Memory::Mapped(mapped);
    shared.copy_from(memory);
    Ok(shared)
}
