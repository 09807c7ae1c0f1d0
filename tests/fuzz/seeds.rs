//! Writes the seeds of every fuzz target into a folder: files of the tests, the pickles in them, their pages, and the
//! programs that these record. Beside each folder of seeds lies a dictionary: words that libFuzzer inserts.

use session::transcript::{Document, Form};
use session::{Language, Session, SessionOptions, keywords};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{Cursor, Read};
use std::path::{Path, PathBuf};
use tensorsh_fuzz::folder_seeds;
use zip::ZipArchive;

/// The most seeds of a target. More are sampled evenly.
const MOST: usize = 400;

/// Words of a dictionary besides keywords and functions: the ends of types, and subscripts.
const WORDS: &[&str] = &[
    "2**63 - 1",
    "-2**63",
    "2**64",
    "10**30",
    "1e308",
    "5e-324",
    "float('nan')",
    "float('inf')",
    "1j",
    "[::-1]",
    "[..., None]",
    "[1:2, None]",
    "dim=-1",
    "keepdim=True",
    "out=",
    "dtype=torch.int8",
    "requires_grad=True",
    ".backward()",
    ".t()",
    ".view(-1)",
    "torch.arange(6).view(2, 3)",
    "torch.zeros(0, 3)",
    "np.arange(6).reshape(2, 3)",
    "torch.as_strided(x, (2, 2), (1, 0), 1)",
];

/// The largest program or page among the seeds, in bytes.
const LONGEST: usize = 6000;

/// The folders with seeds, relative to the project.
const FOLDERS: &[&str] = &[
    "tests/files",
    "tests/documentation",
    "tests/documentation/site",
    "tests/python/cases",
    "tests/python/library",
    "tests/python/written",
    "tests/python/modules",
    "tests/transcripts",
    "tests/mistakes",
    "tests/scripts",
    "scripts",
    "docs/learn",
];

type Seeds = BTreeMap<&'static str, Vec<Vec<u8>>>;

fn main() -> std::io::Result<()> {
    let to = PathBuf::from(std::env::args_os().nth(1).ok_or(std::io::Error::other("name the folder of the seeds"))?);
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut seeds = Seeds::from([("folder", folder_seeds()?)]);
    for folder in FOLDERS {
        let Ok(entries) = fs::read_dir(root.join(folder)) else { continue };
        let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        paths.sort();
        for path in paths.iter().filter(|path| path.is_file()) {
            add(&mut seeds, path, fs::read(path)?);
        }
    }
    for (target, found) in seeds {
        let folder = to.join(target);
        fs::create_dir_all(&folder)?;
        let step = found.len().div_ceil(MOST);
        for (index, seed) in found.iter().step_by(step).enumerate() {
            fs::write(folder.join(format!("seed-{index:03}")), seed)?;
        }
        fs::write(to.join(format!("{target}.dict")), dictionary(target))?;
        println!("{target}: {} seeds", found.len().div_ceil(step));
    }
    Ok(())
}

/// Returns libFuzzer's dictionary for a target: keywords, and what completion offers, or nothing for a format.
fn dictionary(target: &str) -> String {
    let language = match target {
        "python" => Language::Python,
        "rhai" => Language::Rhai,
        _ => return String::new(),
    };
    let mut session = Session::new(SessionOptions::default());
    session
        .eval(Language::Python, "import torch, numpy as np; x = torch.ones(2); a = np.ones(2); s = ''; d = {}; l = []");
    let mut words: BTreeSet<String> = keywords(language).iter().chain(WORDS).map(|word| (*word).to_owned()).collect();
    for owner in ["torch.", "np.", "x.", "a.", "s.", "d.", "l."] {
        let prefix = if owner.len() > 2 { owner } else { "." };
        let offered = session.complete(language, owner, owner.len()).candidates;
        words.extend(offered.iter().map(|candidate| format!("{prefix}{}", candidate.text.trim_start_matches(owner))));
    }
    words.iter().map(|word| format!("\"{}\"\n", word.replace('\\', "\\\\").replace('"', "\\\""))).collect()
}

/// Adds a file to the seeds of every target that reads its like.
fn add(seeds: &mut Seeds, path: &Path, bytes: Vec<u8>) {
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    let target = match extension {
        "pt" if bytes.starts_with(b"PK") => {
            seeds.entry("pickle").or_default().extend(pickle(&bytes));
            "archive"
        }
        "pt" | "pkl" => "pickle",
        "npz" | "tar" => "archive",
        "safetensors" | "npy" | "gguf" => {
            ["safetensors", "npy", "gguf"].into_iter().find(|name| *name == extension).unwrap_or_default()
        }
        "ipynb" => "notebook",
        "rhai" => "rhai",
        "md" | "mdx" | "rst" | "html" | "txt" | "py" => {
            programs(seeds, path, &bytes);
            if bytes.len() > LONGEST {
                return;
            }
            "page"
        }
        _ => return,
    };
    seeds.entry(target).or_default().push(bytes);
}

/// Returns the pickle of a checkpoint.
fn pickle(archive: &[u8]) -> Option<Vec<u8>> {
    let mut zip = ZipArchive::new(Cursor::new(archive)).ok()?;
    let index = (0..zip.len()).find(|index| {
        let entry = zip.by_index(*index);
        entry.is_ok_and(|entry| entry.name().is_ok_and(|name| name.ends_with("data.pkl")))
    })?;
    let mut bytes = Vec::new();
    zip.by_index(index).ok()?.read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// Adds the program of every session of a page, and a page of the first session alone.
fn programs(seeds: &mut Seeds, path: &Path, bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    for case in Document::parse(text, Form::of(path)).cases {
        let Some(language) = case.examples.first().map(|example| example.language) else { continue };
        let sources: Vec<&str> = case
            .examples
            .iter()
            .filter(|example| example.language == language)
            .map(|example| example.source.trim_end())
            .collect();
        let program = format!("{}\n", sources.join(if language == Language::Rhai { ";\n" } else { "\n" }));
        if program.len() <= LONGEST {
            let target = if language == Language::Rhai { "rhai" } else { "python" };
            seeds.entry(target).or_default().push(program.into_bytes());
        }
    }
}
