//! `_posix`: what `posix.py` asks of the system. A function that fails returns the number and the text of the system's
//! error, as a list, from which `posix.py` makes an OSError.

use call::{Call, Row, function};
use std::io;
use std::path::Path;
use tensor::Result;
use tensor::system::{Files, Folders, Machine, System, describe_error};
use value::{Dict, Value};

pub(in crate::library) const ROWS: &[Row] = &[
    function(
        "_posix.status(str path, bool of_link) -> any",
        |c| {
            answer(System::status(path(c, 0)?, c.bool(1)?).map(|known| {
                let numbers = [
                    i64::from(known.mode),
                    known.inode as i64,
                    known.device as i64,
                    known.links as i64,
                    i64::from(known.owner),
                    i64::from(known.group),
                    known.size as i64,
                ];
                Value::tuple(numbers.into_iter().chain(known.times).map(Value::Int))
            }))
        },
        "Returns what the system says of a file.",
    ),
    function(
        "_posix.names(str path) -> any",
        |c| answer(System::names(path(c, 0)?).map(|names| Value::tuple(names.into_iter().map(Value::str)))),
        "Returns the names in a folder.",
    ),
    function(
        "_posix.mkdir(str path, int mode) -> any",
        |c| {
            let mode = u32::try_from(c.int(1)?).unwrap_or(0o777);
            done(System::create_folder(path(c, 0)?, mode))
        },
        "Creates a folder.",
    ),
    function("_posix.rmdir(str path) -> any", |c| done(System::remove_folder(path(c, 0)?)), "Removes an empty folder."),
    function(
        "_posix.unlink(str path) -> any",
        |c| {
            let path = path(c, 0)?;
            // Linux says so of a folder; other systems deny permission.
            done(match System::status(path, true).map(|known| known.mode & 0o170_000) {
                Ok(0o040_000) => Err(io::Error::from(io::ErrorKind::IsADirectory)),
                _ => System::remove(path),
            })
        },
        "Removes a file.",
    ),
    function(
        "_posix.rename(str old, str new) -> any",
        |c| done(System::rename(path(c, 0)?, path(c, 1)?)),
        "Renames a file.",
    ),
    function(
        "_posix.readlink(str path) -> any",
        |c| answer(System::read_link(path(c, 0)?).map(|target| Value::str(target.display().to_string()))),
        "Returns the target of a link.",
    ),
    function(
        "_posix.symlink(str target, str path) -> any",
        |c| done(System::link(path(c, 0)?, path(c, 1)?)),
        "Creates a link.",
    ),
    function(
        "_posix.chmod(str path, int mode) -> any",
        |c| {
            let mode = u32::try_from(c.int(1)?).unwrap_or_default();
            done(System::set_mode(path(c, 0)?, mode))
        },
        "Sets the permissions of a file.",
    ),
    function(
        "_posix.utime(str path, int accessed, int changed) -> any",
        |c| {
            let time = |at: usize| c.int(at).map(|time| u64::try_from(time).unwrap_or_default());
            done(System::set_times(path(c, 0)?, time(1)?, time(2)?))
        },
        "Sets the times of the last access and change of a file, in nanoseconds.",
    ),
    function("_posix.chdir(str path) -> any", |c| done(System::enter(path(c, 0)?)), "Goes to a folder."),
    function(
        "_posix.getcwd() -> str",
        |_| Ok(Value::str(System::current_folder().display().to_string())),
        "Returns the folder that relative paths refer to.",
    ),
    function(
        "_posix.environment() -> any",
        |_| {
            let pairs = System::environment().into_iter().map(|(name, value)| (Value::str(name), Value::str(value)));
            Dict::new(pairs).map(Value::Dict)
        },
        "Returns the variables of the environment.",
    ),
    function(
        "_posix.getpid() -> int",
        |_| Ok(Value::Int(i64::from(System::process()))),
        "Returns the number of the process.",
    ),
    function(
        "_posix.entropy() -> int",
        |_| Ok(Value::Int((System::entropy() >> 1) as i64)),
        "Returns an unpredictable number.",
    ),
];

fn path<'c>(call: &'c Call, at: usize) -> Result<&'c Path> {
    call.str(at).map(Path::new)
}

fn answer(outcome: io::Result<Value>) -> Result<Value> {
    Ok(outcome.unwrap_or_else(|error| {
        let (text, number) = describe_error(&error);
        let known = match error.kind() {
            io::ErrorKind::AlreadyExists => 17,
            io::ErrorKind::InvalidInput => 22,
            io::ErrorKind::DirectoryNotEmpty => 39,
            _ => 95,
        };
        Value::list([Value::Int(number.map_or(known, i64::from)), Value::str(text)])
    }))
}

fn done(outcome: io::Result<()>) -> Result<Value> {
    answer(outcome.map(|()| Value::None))
}
