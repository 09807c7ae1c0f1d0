//! The folders where a user's programs keep their files.

use std::env;
use std::path::PathBuf;

/// Returns the folder `tensorsh` in that of the variable `xdg`, or where the system's programs keep such files: in the
/// folder of the variable `windows`, and elsewhere in `at_home`.
pub(crate) fn of_user(xdg: &str, windows: &str, at_home: &str) -> Option<PathBuf> {
    let named = |variable| env::var_os(variable).map(PathBuf::from);
    let usual = if cfg!(windows) { named(windows) } else { env::home_dir().map(|home| home.join(at_home)) };
    chosen(named(xdg), usual)
}

/// A relative path in the variable is ignored.
fn chosen(xdg: Option<PathBuf>, usual: Option<PathBuf>) -> Option<PathBuf> {
    Some(xdg.filter(|path| path.is_absolute()).or(usual)?.join("tensorsh"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_relative_path_in_the_variable_is_ignored() {
        let root = if cfg!(windows) { "C:\\s" } else { "/s" };
        let usual = Some("u");
        for (xdg, usual, wanted) in [
            (Some(root), usual, Some(root)),
            (Some("s"), usual, usual),
            (Some(""), usual, usual),
            (None, usual, usual),
            (None, None, None),
        ] {
            let found = chosen(xdg.map(PathBuf::from), usual.map(PathBuf::from));
            assert_eq!(found, wanted.map(|folder| PathBuf::from(folder).join("tensorsh")));
        }
    }
}
