//! Runs the commands that a page shows in blocks marked `console`, in a shell.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

/// Runs a line of the shell in a folder, with this `tensorsh` first in the path. Returns what it prints.
pub(crate) fn run(line: &str, folder: &Path) -> String {
    let bin = folder.join("bin");
    if !bin.exists() {
        fs::create_dir(&bin).unwrap();
        symlink(env!("CARGO_BIN_EXE_tensorsh"), bin.join("tensorsh")).unwrap();
    }
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap_or_default());
    let mut command = Command::new("sh");
    command.args(["-c", &format!("{{ {line}\n}} 2>&1")]).current_dir(folder).env("PATH", path).env("LC_ALL", "C");
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1").env("HOME", folder);
    String::from_utf8(command.output().unwrap().stdout).unwrap()
}

/// Runs the commands of a page one after the other in a folder, except those that `skips`, and compares what they print
/// with the page. Returns their number.
pub(crate) fn check(page: &Path, folder: &Path, skips: &dyn Fn(&str) -> bool) -> usize {
    let page = fs::read_to_string(page).unwrap();
    let mut commands = 0;
    for block in page.split("```console\n").skip(1) {
        let block = block.split("\n```").next().unwrap();
        for example in format!("\n{block}").split("\n$ ").skip(1) {
            let (line, shown) = example.split_once('\n').unwrap_or((example, ""));
            if !skips(line) {
                assert_eq!(run(line, folder).trim_end(), shown.trim_end(), "{line}");
                commands += 1;
            }
        }
    }
    commands
}
