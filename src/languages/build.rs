//! Compresses the modules of Python's library that `python/library/modules.txt` lists, and writes an index of them.

#[path = "python/library/comments.rs"]
mod comments;

use comments::without_comments;
use flate2::Compression;
use flate2::write::DeflateEncoder;
use std::error::Error;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    let ours = Path::new("python/library");
    let list = fs::read_to_string(ours.join("modules.txt"))?;
    let mut paths: Vec<String> = list.lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect();
    for file in fs::read_dir(ours)? {
        let file = file?.path();
        if file.extension().is_some_and(|extension| extension == "py") {
            paths.extend(file.file_stem().map(|stem| stem.to_string_lossy().into_owned()));
        }
    }
    // In the order of their names, by which they are found.
    paths.sort_by_key(|path| path.strip_suffix("/__init__").unwrap_or(path).replace('/', "."));
    paths.dedup();
    let folder = PathBuf::from(env::var("OUT_DIR")?).join("library");
    let mut index = String::new();
    for path in &paths {
        let own = ours.join(format!("{path}.py"));
        let file = if own.exists() { own } else { Path::new(rustpython_pylib::LIB_PATH).join(format!("{path}.py")) };
        let mut text = fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))?;
        // What CPython 3.11 does otherwise than the text, mostly because there it is C.
        let amended = ours.join("amended").join(format!("{path}.py"));
        if amended.exists() {
            amend(&mut text, &fs::read_to_string(&amended)?)
                .map_err(|error| format!("{}: {error}", amended.display()))?;
        }
        let text = without_comments(&text);
        let (module, is_package) = match path.strip_suffix("/__init__") {
            Some(package) => (package, true),
            None => (path.as_str(), false),
        };
        let (module, length, plain) = (module.replace('/', "."), text.len(), folder.join(format!("{path}.py")));
        let mut packer = DeflateEncoder::new(Vec::new(), Compression::best());
        packer.write_all(text.as_bytes())?;
        let packed = plain.with_extension("z");
        fs::create_dir_all(plain.parent().unwrap_or(&folder))?;
        fs::write(&packed, packer.finish()?)?;
        // A page fetches the text itself.
        fs::write(&plain, text)?;
        writeln!(
            index,
            "Module {{ name: {module:?}, path: {path:?}, is_package: {is_package}, length: {length}, \
             part: part!(\"library/{path}.py\", {packed:?}) }},"
        )?;
    }
    fs::write(folder.join("index.rs"), format!("&[\n{index}]\n"))?;
    println!("cargo::rerun-if-changed=python/library");
    Ok(())
}

/// Adds an amendment to the text of a module. A line `#- …` of the amendment is replaced, where it occurs in the text, by the
/// line `#+ …` below it.
fn amend(text: &mut String, amendment: &str) -> Result<(), String> {
    let mut old = "";
    for line in amendment.lines() {
        if let Some(replaced) = line.strip_prefix("#- ") {
            old = replaced;
        } else if let Some(new) = line.strip_prefix("#+ ") {
            if !text.contains(old) {
                return Err(format!("the text does not have {old:?}"));
            }
            *text = text.replace(old, new);
        }
    }
    text.push_str(amendment);
    Ok(())
}
