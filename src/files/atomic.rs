//! Writes files atomically: a file is either complete or unchanged.

use std::io::{self, Write};
use std::path::Path;
use tensor::rehearsal::to_write;
use tensor::system::{File, Files, System, Temporary};
use tensor::{Error, ErrorKind, Result};

/// The mode of a new file readable only by its owner, and of any other, before the umask is applied.
pub const PRIVATE: u32 = 0o600;
pub const COMMON: u32 = 0o666;

/// Replaces the contents of a file with the output of `write`, like [`Files::rewrite`]. A rehearsal writes to another
/// place.
///
/// # Errors
/// Fails with the system's error as converted by `refused`, or with the error of `write`. The old file is then
/// unchanged.
pub(crate) fn rewrite<E>(
    path: &Path,
    mode: u32,
    refused: impl Fn(io::Error) -> E,
    write: impl FnOnce(&mut File) -> std::result::Result<(), E>,
) -> std::result::Result<(), E> {
    System::rewrite(&to_write(path), mode, refused, write)
}

/// Like [`rewrite`], for bytes.
///
/// # Errors
/// Fails with the system's error. The old file is then unchanged.
pub fn replace(path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    rewrite(path, mode, |error| error, |file| file.write_all(bytes))
}

/// Creates an empty temporary file whose name has this prefix and suffix.
///
/// # Errors
/// Fails with OSError if it cannot be created.
pub fn temporary(prefix: &str, suffix: &str) -> Result<Temporary> {
    System::temporary(prefix, suffix).map_err(|error| Error::new(ErrorKind::OSError, error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::super::read_whole;
    use super::*;
    use tensor::Storage;
    use tensor::rehearsal::Rehearsal;

    #[test]
    fn what_is_written_in_a_rehearsal_is_read_there_and_nowhere_else() {
        let (folder, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let [old, new, mapped] = ["old", "new", "mapped"].map(|name| folder.path().join(name));
        let read = |path: &Path| read_whole(path.to_str().unwrap(), 100).ok();
        for path in [&old, &mapped] {
            std::fs::write(path, b"as it was").unwrap();
        }
        let rehearsal = Rehearsal::begin(elsewhere.path());
        assert_eq!(read(&old).as_deref(), Some(&b"as it was"[..]));
        replace(&old, b"changed", COMMON).unwrap();
        replace(&new, b"made", COMMON).unwrap();
        let storage = Storage::from_file(mapped.to_str().unwrap(), true, 4).unwrap();
        storage.memory().bytes().iter().for_each(|byte| tensor::memory::set(byte, b'x'));
        assert_eq!(read(&folder.path().join("./old")).as_deref(), Some(&b"changed"[..]));
        assert_eq!(read(&new).as_deref(), Some(&b"made"[..]));
        assert_eq!(read(&mapped).as_deref(), Some(&b"xxxxt was"[..]));
        drop(rehearsal);
        assert_eq!((read(&old), read(&mapped)), (Some(b"as it was".to_vec()), Some(b"as it was".to_vec())));
        assert_eq!(read(&new), None);
    }

    #[test]
    fn a_file_is_replaced_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.md");
        replace(&path, b"one", 0o600).unwrap();
        replace(&path, b"two", 0o600).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"two");
        assert!(
            replace(&folder.path().join("no/such/folder"), b"x", 0o600).is_err()
                && replace(folder.path(), b"x", 0o600).is_err()
        );
        let failed = rewrite(
            &path,
            0o600,
            |error| error,
            |file| file.write_all(b"half").and(Err(io::Error::other("a failure"))),
        );
        assert!(failed.is_err());
        assert_eq!(std::fs::read(&path).unwrap(), b"two");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn a_replaced_file_keeps_its_permissions_and_its_link() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.md");
        let mode = || path.metadata().unwrap().permissions().mode() & 0o777;
        replace(&path, b"one", 0o600).unwrap();
        assert_eq!(mode(), 0o600);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
        replace(&path, b"two", 0o600).unwrap();
        assert_eq!(mode(), 0o640);
        let link = folder.path().join("link");
        symlink(&path, &link).unwrap();
        replace(&link, b"three", 0o600).unwrap();
        assert!(link.is_symlink());
        assert_eq!(std::fs::read(&path).unwrap(), b"three");
    }
}
