//! Writing a file so that it is there whole or as it was before.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

/// Puts `bytes` in the place of what the file held. Whoever reads it, and whatever ends this process meanwhile, there is
/// the old content or the new one: the new one is written beside the file, and renamed when it has reached the disk.
///
/// # Errors
/// When the folder cannot be written or the disk is full; the old file is as it was.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."));
    let mut new = tempfile::Builder::new().prefix(".tensorsh-").tempfile_in(folder)?;
    new.write_all(bytes)?;
    new.as_file().sync_all()?;
    if let Ok(old) = path.metadata() {
        // A file that replaces another keeps who may read it.
        new.as_file().set_permissions(old.permissions())?;
    }
    new.persist(path)?;
    // The rename itself has to reach the disk; a folder that cannot be opened for that is no reason to fail.
    let _ = File::open(folder).and_then(|folder| folder.sync_all());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.md");
        replace(&path, b"one").unwrap();
        replace(&path, b"two").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"two");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        assert!(replace(&folder.path().join("no/such/folder"), b"x").is_err());
    }
}
