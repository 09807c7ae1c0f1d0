//! Randomly changed files must be read or rejected, quickly: ten thousand, or as many as each reader (or FUZZ_READER alone)
//! takes in FUZZ_SECONDS. scripts/house/fuzz runs the fuzzers of tests/fuzz instead, which see what code a file reaches.

use super::folders::copied;
use super::hostile::checkpoint;
use super::{contents_at, folder, load_any, load_path, source};
use crate::pace::check;
use std::cell::RefCell;
use std::collections::HashSet;
use std::fs;
use std::io::Read;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};
use tempfile::TempDir;
use tensorsh::explain::format::{Formatter, PrintOptions};
use tensorsh::files::gguf::BlockTensor;
use tensorsh::files::{self, Conversion, Input, Options, ReportForm, Reporting, Source};
use tensorsh::session::transcript::spawn_with_big_stack;
use tensorsh::tensor::{DType, Result};
use tensorsh::value::{Object, Value};

/// A reader: its seed files, how a changed file is wrapped, and how it is read.
struct Reader {
    name: &'static str,
    seeds: fn() -> Vec<Vec<u8>>,
    wrap: fn(&[u8]) -> Vec<u8>,
    read: fn(&Source, bool) -> Result<Value>,
}

const READERS: &[Reader] = &[
    Reader { name: "archive", seeds: || seeds(".pt", false), wrap: <[u8]>::to_vec, read: load },
    // Only the pickle is changed, so that no checksum reveals it.
    Reader { name: "pickle", seeds: pickles, wrap: |bytes| checkpoint(bytes, &[0; 96]), read: load },
    Reader { name: "legacy", seeds: || seeds(".pt", true), wrap: <[u8]>::to_vec, read: load },
    Reader { name: "safetensors", seeds: || seeds(".safetensors", false), wrap: <[u8]>::to_vec, read: load_any },
    Reader { name: "npy", seeds: || seeds(".npy", false), wrap: <[u8]>::to_vec, read: load_any },
    Reader { name: "arrays", seeds: pickles, wrap: |bytes| checkpoint(bytes, &[0; 96]), read: load_any },
    Reader {
        name: "index",
        seeds: || seeds_in("sharded", "model.safetensors.index.json"),
        wrap: <[u8]>::to_vec,
        read: |source, mapped| changed("sharded", "model.safetensors.index.json", source, mapped),
    },
    Reader {
        name: "distributed",
        seeds: || seeds_in("two_writers", ".metadata"),
        wrap: <[u8]>::to_vec,
        read: |source, mapped| changed("two_writers", ".metadata", source, mapped),
    },
    Reader {
        name: "pieces",
        seeds: || seeds_in("two_writers", "__0_0.distcp"),
        wrap: <[u8]>::to_vec,
        read: |source, mapped| changed("two_writers", "__0_0.distcp", source, mapped),
    },
    Reader { name: "gguf", seeds: || seeds(".gguf", false), wrap: <[u8]>::to_vec, read: blocks },
    Reader { name: "npz", seeds: || seeds(".npz", false), wrap: <[u8]>::to_vec, read: load_any },
    Reader { name: "bare pickle", seeds: || seeds(".pkl", false), wrap: <[u8]>::to_vec, read: load_any },
    Reader { name: "tar", seeds: || seeds(".tar", false), wrap: <[u8]>::to_vec, read: load_any },
];

/// `torch.load`. It cannot map bytes, which have no file name.
fn load(source: &Source, _mapped: bool) -> Result<Value> {
    files::load(source, &Options::default())
}

/// Loads the file, and dequantizes blocks.
fn blocks(source: &Source, mapped: bool) -> Result<Value> {
    let value = load_any(source, mapped)?;
    for (_, tensor) in value.entries().expect("a dictionary").iter() {
        if let Some(tensor) = BlockTensor::of(tensor) {
            assert_eq!(tensor.dequantize()?.sizes(), tensor.sizes());
            if tensor.block_count() > 0 {
                assert!(!tensor.block(-1)?.repr().is_empty());
            }
        }
    }
    Ok(value)
}

fn seeds(ending: &str, are_legacy: bool) -> Vec<Vec<u8>> {
    let mut names: Vec<_> = fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path()).collect();
    names.sort();
    let wanted = |name: &str| name.ends_with(ending) && name.contains("legacy") == are_legacy;
    names.retain(|path| wanted(&path.to_string_lossy()));
    names.iter().map(|path| fs::read(path).unwrap()).collect()
}

fn seeds_in(name: &str, file: &str) -> Vec<Vec<u8>> {
    vec![fs::read(folder().join(name).join(file)).unwrap()]
}

thread_local! {
    /// A copy of a folder, with the name of the folder.
    static COPY: RefCell<Option<(&'static str, TempDir)>> = const { RefCell::new(None) };
}

/// Reads a folder in which one file is changed.
fn changed(name: &'static str, file: &str, source: &Source, mapped: bool) -> Result<Value> {
    COPY.with_borrow_mut(|copy| {
        if copy.as_ref().is_none_or(|(of, _)| *of != name) {
            *copy = Some((name, copied(name)));
        }
        let (_, copy) = copy.as_ref().unwrap();
        fs::write(copy.path().join(file), source.bytes(0, source.len()).unwrap()).unwrap();
        let path = copy.path().to_str().unwrap();
        if let Ok(report) = contents_at(path) {
            let _ = (report.text(), report.json());
        }
        load_path(path, mapped)
    })
}

fn pickles() -> Vec<Vec<u8>> {
    let pickle = |archive: Vec<u8>| {
        let mut zip = zip::ZipArchive::new(std::io::Cursor::new(archive)).unwrap();
        let name = (0..zip.len()).map(|i| zip.by_index(i).unwrap().name().unwrap().into_owned());
        let name = name.collect::<Vec<_>>().into_iter().find(|name| name.ends_with("data.pkl")).unwrap();
        let mut bytes = Vec::new();
        zip.by_name(&name).unwrap().read_to_end(&mut bytes).unwrap();
        bytes
    };
    seeds(".pt", false).into_iter().map(pickle).collect()
}

/// Random numbers, reproducible from the same seed.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }
}

/// Changes a file in one or more of the ways in which files get damaged.
fn mutate(bytes: &mut Vec<u8>, other: &[u8], random: &mut Random) {
    const NUMBERS: &[u64] = &[0, 1, 127, 128, 255, 65535, 1 << 31, u32::MAX as u64, 1 << 40, i64::MAX as u64, u64::MAX];
    for _ in 0..=random.below(4) {
        let place = random.below(bytes.len());
        let length = random.below(32).min(bytes.len() - place);
        match random.below(8) {
            0 if !bytes.is_empty() => bytes[place] ^= 1 << random.below(8),
            1 if !bytes.is_empty() => bytes[place] = random.next() as u8,
            2 => drop(bytes.drain(place..place + length)),
            3 => {
                let copy = bytes[place..place + length].to_vec();
                let target = random.below(bytes.len());
                drop(bytes.splice(target..target, copy));
            }
            4 => {
                let width = [1, 2, 4, 8][random.below(4)].min(bytes.len() - place);
                let number = NUMBERS[random.below(NUMBERS.len())].to_le_bytes();
                bytes[place..place + width].copy_from_slice(&number[..width]);
            }
            5 => {
                let from = random.below(other.len());
                let part = other[from..(from + length).min(other.len())].to_vec();
                drop(bytes.splice(place..place, part));
            }
            6 => bytes.truncate(place),
            _ => {
                let digits = NUMBERS[random.below(NUMBERS.len())].to_string();
                drop(bytes.splice(place..place + length.min(2), digits.bytes()));
            }
        }
    }
}

/// The number of changed files for all readers, unless a time is given.
const FILES: u64 = 10_000;

/// Runs a reader on changed files for this time, or on its share. Returns the number of files, and of those that could be
/// read.
fn fuzz(reader: &Reader, time: Option<Duration>, random: &mut Random) -> (u64, u64) {
    let share = FILES.div_ceil(READERS.len() as u64);
    let (seeds, began) = ((reader.seeds)(), Instant::now());
    let (mut runs, mut loaded) = (0, 0);
    let formatter = Formatter { options: &PrintOptions::default(), default_dtype: DType::Float };
    while time.map_or(runs < share, |time| began.elapsed() < time) {
        let start = random.0;
        let mut bytes = seeds[random.below(seeds.len())].clone();
        mutate(&mut bytes, &seeds[random.below(seeds.len())], random);
        let file = source(&(reader.wrap)(&bytes));
        let run = Instant::now();
        for mapped in [false, true] {
            if let Ok(value) = (reader.read)(&file, mapped) {
                loaded += 1;
                // Any value that was read can be shown.
                let _ = formatter.repr(&value);
            }
        }
        if let Ok(report) = files::contents(&file) {
            let _ = (report.text(), report.json());
            let names: Vec<&str> = report.entries.iter().map(|entry| entry.name.as_str()).collect();
            let is_distinct = names.iter().collect::<HashSet<_>>().len() == names.len();
            if let (true, Ok(differences)) = (is_distinct, files::diff(&report, &report, 0.0)) {
                assert!(differences.is_equal(), "{}: {} from {start:#x}", reader.name, differences.text());
            }
            for form in [ReportForm::Tree, ReportForm::Summary] {
                let _ = files::contents(&file).unwrap().report(&Reporting { form, ..Reporting::default() }).unwrap();
            }
            converted(&file, start);
        }
        check(run, 2000, &format!("{} from {start:#x}", reader.name));
        runs += 1;
    }
    (runs, loaded)
}

/// Converts a file to every format. What was written is read again.
fn converted(file: &Source, start: u64) {
    let folder = tempfile::tempdir().unwrap();
    let ending = ["pt", "safetensors", "npz", "npy"][(start % 4) as usize];
    let to = folder.path().join(format!("x.{ending}"));
    let how =
        Conversion { tensors: start & 4 > 0, clone: start & 8 > 0, bits: ending != "pt", ..Conversion::default() };
    let to = to.to_str().unwrap();
    if files::convert(&Input::File(file.clone()), to, &how, &Arc::default()).is_ok() {
        let written = contents_at(to).and_then(|_| load_path(to, true));
        written.unwrap_or_else(|error| panic!("{ending} from {start:#x}: {error}"));
    }
}

#[test]
fn changed_files_are_read_or_refused() {
    // Sessions have a large stack, too.
    spawn_with_big_stack("fuzz", fuzz_readers).unwrap().join().unwrap();
}

fn fuzz_readers() {
    let seconds = std::env::var("FUZZ_SECONDS").ok().and_then(|seconds| seconds.parse().ok());
    let only = std::env::var("FUZZ_READER").ok();
    let time = seconds.map(Duration::from_secs);
    for reader in READERS.iter().filter(|reader| only.as_ref().is_none_or(|only| only == reader.name)) {
        // The files are the same every time, unless a time is given to find new ones.
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |now| now.as_nanos() as u64);
        let mut random = Random(if seconds.is_some() { now | 1 } else { 0x9e37_79b9_7f4a_7c15 });
        let (runs, loaded) = fuzz(reader, time, &mut random);
        println!("{}: {runs} files, {loaded} loads succeeded", reader.name);
        assert!(runs > 0 && (loaded > 0 || seconds.is_none()));
    }
}
