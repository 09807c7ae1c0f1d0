//! Files as people have them: from other devices and older versions, with objects beside tensors, names that would be the
//! same, in folders, cut off, or not files of tensors at all.

use super::describe::describe;
use super::{contents_at, entry, folder, load_any, load_path, loading, open, source};
use std::cell::RefCell;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use tempfile::TempDir;
use tensorsh::files::{self, Contents, Conversion, Input, Loading, Location, Options, ReportForm, Reporting, Sort};
use tensorsh::tensor::{ErrorKind, Result};
use tensorsh::value::{Dict, Value};

/// The names in keys.pt, in order: short where they can be, and no two the same.
const KEYS: [&str; 15] = [
    "'a.b'",
    "a.b",
    "a.'c.d'",
    "'a.c'.d",
    "list[0]",
    "'list[0]'",
    "[(1, 'x')]",
    "[None]",
    "[1.5]",
    "[b'k']",
    "[torch.float16]",
    "[0]",
    "0",
    "it's",
    "\u{1b}[31m",
];

fn file(name: &str) -> String {
    folder().join(name).to_str().unwrap().to_owned()
}

fn in_folder(folder: &TempDir, name: &str) -> String {
    folder.path().join(name).to_str().unwrap().to_owned()
}

fn names(contents: &Contents) -> Vec<&str> {
    contents.entries.iter().map(|entry| entry.name.as_str()).collect()
}

fn convert(from: &str, to: &str, how: &Conversion) -> Result<Vec<String>> {
    files::convert(&Input::at(from)?, to, how, &Arc::default())
}

fn refused(from: &str, to: &str, how: &Conversion) -> String {
    let error = convert(from, to, how).expect_err("a refusal");
    assert!(!Path::new(to).exists(), "{to} was written");
    error.message
}

fn differences(a: &str, b: &str) -> String {
    files::diff(&contents_at(a).unwrap(), &contents_at(b).unwrap(), 0.0).unwrap().text()
}

/// Loads a file, and returns what is said of it.
fn said(path: &str) -> Vec<String> {
    let said = RefCell::new(Vec::new());
    let how = Loading { say: &|note| said.borrow_mut().push(note), ..loading(true) };
    Input::at(path).unwrap().load(&how).unwrap();
    said.into_inner()
}

#[test]
fn names_are_never_the_same_and_stay_what_they_are() {
    let target = tempfile::tempdir().unwrap();
    let keys = file("keys.pt");
    assert_eq!(names(&contents_at(&keys).unwrap()), KEYS);
    // The names of a value in a session are those of its file.
    assert_eq!(names(&files::contents_of(&load_path(&keys, true).unwrap()).unwrap()), KEYS);
    for to in ["keys.safetensors", "keys.npz", "keys.pt"] {
        let to = in_folder(&target, to);
        convert(&keys, &to, &Conversion::default()).unwrap();
        assert!(differences(&keys, &to).ends_with("\n15 tensors equal"), "{}", differences(&keys, &to));
    }
    let only = |pattern: &str| Conversion { only: vec![pattern.to_owned()], ..Conversion::default() };
    for (pattern, count) in [("'a.b'", 1), ("a", 2), ("'a.*", 2), ("list", 1), ("[*", 6), ("?", 4), ("l*", 1)] {
        let to = in_folder(&target, "some.safetensors");
        convert(&keys, &to, &only(pattern)).unwrap();
        assert_eq!(contents_at(&to).unwrap().entries.len(), count, "{pattern}");
    }
    let to = in_folder(&target, "no.pt");
    assert_eq!(refused(&keys, &to, &only("b")), "--only b: no name is like this; inspect lists the names");
    let rename = |pairs: &[(&str, &str)]| Conversion {
        rename: pairs.iter().map(|(old, new)| ((*old).to_owned(), (*new).to_owned())).collect(),
        ..Conversion::default()
    };
    let both = refused(&keys, &to, &rename(&[("[None]", "0")]));
    assert_eq!(both, "[None] and 0 would both be called 0");
    assert_eq!(refused(&keys, &in_folder(&target, "no.npz"), &rename(&[("[None]", "0")])), both);
    assert_eq!(refused(&keys, &to, &rename(&[("x", "y")])), "--rename x y: no name begins like this");
    let to = in_folder(&target, "renamed.pt");
    convert(&keys, &to, &Conversion { only: vec!["a".into()], ..rename(&[("a.", "")]) }).unwrap();
    assert_eq!(names(&contents_at(&to).unwrap()), ["b", "c.d"].map(|name| if name == "c.d" { "'c.d'" } else { name }));
}

#[test]
fn other_devices_are_left_behind_and_named_once() {
    let target = tempfile::tempdir().unwrap();
    for (name, device) in [("cuda.pt", "cuda:0"), ("cuda_legacy.pt", "cuda:1"), ("mps.pt", "mps")] {
        assert_eq!(said(&file(name)), [format!("tensors saved from {device} are loaded to the CPU")], "{name}");
        // PyTorch refuses them without a place to go, and takes any.
        let load = |location| files::load(&open(&folder().join(name)), &Options { location, ..Options::default() });
        let error = load(Location::Own).unwrap_err();
        let words = match device {
            "mps" => "torch.UntypedStorage(): Storage device not recognized: mps",
            _ => "Attempting to deserialize object on a CUDA device but torch.cuda.is_available() is False. If you",
        };
        assert!(error.kind == ErrorKind::RuntimeError && error.message.starts_with(words), "{error}");
        let told = fs::read_to_string(file(&format!("{name}.txt"))).unwrap();
        for location in [Location::To("cpu".into()), Location::Table(vec![(device.into(), "cpu".into())])] {
            assert_eq!(describe(&load(location).unwrap()), told, "{name}");
        }
        let locations = |path: &str| {
            let storages = contents_at(path).unwrap().storages;
            storages.into_iter().map(|held| held.location).collect::<Vec<_>>()
        };
        let to = in_folder(&target, name);
        let note = format!("tensors saved from {device} are written for the CPU");
        assert_eq!(convert(&file(name), &to, &Conversion::default()).unwrap(), [note]);
        assert_eq!(locations(&to), ["cpu", "cpu"]);
        for (dtype, clone) in [(None, false), (Some("float16"), false), (None, true)] {
            let dtype = dtype.map(str::to_owned);
            let how = Conversion { keep_device: true, dtype, clone, ..Conversion::default() };
            assert_eq!(convert(&file(name), &to, &how).unwrap(), [""; 0]);
            assert_eq!(locations(&to), vec![device; if clone { 3 } else { 2 }], "{how:?}");
        }
    }
    let how = Conversion { keep_device: true, ..Conversion::default() };
    let message = refused(&file("cuda.pt"), &in_folder(&target, "x.npz"), &how);
    assert_eq!(message, "--keep-device is for checkpoints, which alone know of devices");
}

#[test]
fn tensors_come_out_of_programs_and_objects() {
    let target = tempfile::tempdir().unwrap();
    let tensors = Conversion { tensors: true, ..Conversion::default() };
    for (name, wanted, note) in [
        (
            "scripted.pt",
            &["0.weight", "0.bias"][..],
            "left out 9 values that are not tensors: (all), training, _is_full_backward_hook, 0, 0.training, \
             0._is_full_backward_hook, 1, 1.training, 1._is_full_backward_hook",
        ),
        (
            "module.pt",
            &["0.weight", "0.bias", "1.weight", "1.bias", "1.running_mean", "1.running_var", "1.num_batches_tracked"],
            "left out 16 values that are not tensors: (all), training, _is_full_backward_hook, 0, 0.training, \
             0._is_full_backward_hook, 0.in_features, 0.out_features, 1, 1.training, …",
        ),
        (
            "training.pt",
            &[
                "model.weight",
                "model.bias",
                "optimizer.state[0].step",
                "optimizer.state[0].exp_avg",
                "optimizer.state[0].exp_avg_sq",
                "optimizer.state[1].step",
                "optimizer.state[1].exp_avg",
                "optimizer.state[1].exp_avg_sq",
            ],
            "left out 17 values that are not tensors: optimizer.param_groups[0].lr, ",
        ),
    ] {
        let from = file(name);
        assert_eq!(names(&contents_at(&from).unwrap()), wanted, "{name}");
        let error = load_path(&from, true).unwrap_err();
        let way = "inspect lists it, and `tensorsh convert --tensors` takes its tensors out";
        assert!(error.message.ends_with(way), "{error}");
        for to in ["x.pt", "x.safetensors", "x.npz"] {
            let to = in_folder(&target, to);
            assert!(!Path::new(&to).exists());
            assert!(convert(&from, &to, &Conversion::default()).is_err());
            let notes = convert(&from, &to, &tensors).unwrap();
            assert!(notes.len() == 1 && notes[0].starts_with(note), "{notes:?}");
            let told = differences(&from, &to);
            assert!(told.contains(&format!("\n{} tensors equal", wanted.len())), "{told}");
            assert!(load_path(&to, false).is_ok());
            fs::remove_file(&to).unwrap();
        }
    }
    // The optimizer's state, under other names and as another dtype.
    let to = in_folder(&target, "averages.pt");
    let how = Conversion {
        only: vec!["*.exp_avg".to_owned()],
        rename: vec![("optimizer.state".to_owned(), "average".to_owned())],
        dtype: Some("bfloat16".to_owned()),
        ..Conversion::default()
    };
    convert(&file("training.pt"), &to, &how).unwrap();
    let report = contents_at(&to).unwrap().text();
    assert!(report.contains("average[0].exp_avg  bfloat16  (3, 2)"), "{report}");
}

#[test]
fn attributes_belong_to_their_tensor() {
    let target = tempfile::tempdir().unwrap();
    let report = contents_at(&file("attributes.pt")).unwrap();
    assert_eq!(names(&report), ["weight", "weight.scale", "running"]);
    let values: Vec<_> = report.values.iter().map(|value| value.name.as_str()).collect();
    assert_eq!(values, ["weight.sharded", "running.persistent", "running._is_buffer"]);
    let attributes = |path: &str| {
        let found = RefCell::new(Vec::new());
        let attach = |_: &_, attributes: Dict| found.borrow_mut().push(describe(&Value::Dict(attributes)));
        let how = Loading { attach: Some(&attach), ..loading(true) };
        Input::at(path).unwrap().load(&how).unwrap();
        found.into_inner()
    };
    let before = attributes(&file("attributes.pt"));
    assert_eq!(before.len(), 2);
    let to = in_folder(&target, "attributes.pt");
    convert(&file("attributes.pt"), &to, &Conversion::default()).unwrap();
    assert_eq!(attributes(&to), before);
    convert(&file("attributes.pt"), &to, &Conversion { dtype: Some("float16".into()), ..Conversion::default() })
        .unwrap();
    assert!(contents_at(&to).unwrap().text().contains("weight.scale             float16"));
}

#[test]
fn elements_that_a_format_lacks_are_bytes_on_request() {
    let target = tempfile::tempdir().unwrap();
    let small = file("small.safetensors");
    assert_eq!(said(&small), ["four has dtype F4, and is loaded as its bytes"]);
    assert_eq!(entry(&load_path(&small, true).unwrap(), "four").view().sizes(), [2, 2]);
    // safetensors keeps them.
    let to = in_folder(&target, "x.safetensors");
    convert(&small, &to, &Conversion::default()).unwrap();
    assert_eq!(differences(&small, &to).lines().last(), Some("3 tensors equal"));
    let to = in_folder(&target, "x.npz");
    let message = refused(&small, &to, &Conversion::default());
    assert!(message.starts_with("four has elements of type F4, whose numbers cannot be computed here"), "{message}");
    let only = |name: &str, bits: bool| Conversion { only: vec![name.to_owned()], bits, ..Conversion::default() };
    let message = refused(&small, &to, &only("scale", false));
    assert!(message.starts_with("scale: npz has no float8_e8m0fnu: write the numbers as another dtype"), "{message}");
    convert(&small, &to, &Conversion { bits: true, ..Conversion::default() }).unwrap();
    let report = contents_at(&to).unwrap().text();
    assert!(report.contains("scale  uint8    (4,)") && report.contains("four   uint8    (4,)"), "{report}");
    let to = in_folder(&target, "half.npz");
    let how = Conversion { bits: true, dtype: Some("bfloat16".into()), ..only("plain", true) };
    convert(&small, &to, &how).unwrap();
    assert!(contents_at(&to).unwrap().text().contains("plain  uint16"));
}

#[test]
fn arrays_of_texts_and_objects_do_not_hide_the_others() {
    let target = tempfile::tempdir().unwrap();
    let others = file("others.npz");
    let report = contents_at(&others).unwrap().text();
    for line in ["value words: numpy.ndarray <U3 (2,)", "value objects: numpy.ndarray |O (2,)", "value days: "] {
        assert!(report.contains(line), "{report}");
    }
    let words = "words is left out: an array of texts (<U3), which cannot be a tensor";
    assert!(said(&others).iter().any(|note| note == words), "{:?}", said(&others));
    for to in ["x.safetensors", "x.pt", "x.npz"] {
        let message = refused(&others, &in_folder(&target, to), &Conversion::default());
        assert!(message.contains("--tensors leaves") && message.contains("(numpy.ndarray): "), "{message}");
    }
    let to = in_folder(&target, "x.safetensors");
    let notes = convert(&others, &to, &Conversion { tensors: true, ..Conversion::default() }).unwrap();
    assert_eq!(notes, ["left out 3 values that are not tensors: days, words, objects"]);
    assert_eq!(names(&contents_at(&to).unwrap()), ["x"]);
}

#[test]
fn tensors_that_share_bytes_are_written_alone_on_request() {
    let target = tempfile::tempdir().unwrap();
    let views = file("views.pt");
    let to = in_folder(&target, "x.safetensors");
    let how = |clone| Conversion { clone, only: vec!["base".into(), "row".into()], ..Conversion::default() };
    let message = refused(&views, &to, &how(false));
    assert!(message.starts_with("Some tensors share memory, "), "{message}");
    assert!(message.contains("[{'base', 'row'}]. --clone writes each on its own"), "{message}");
    convert(&views, &to, &how(true)).unwrap();
    let told = differences(&views, &to);
    assert!(told.contains("2 tensors equal"), "{told}");
    // Side by side on one storage, they share nothing.
    let base = in_folder(&target, "base.pt");
    convert(&views, &base, &Conversion { only: vec!["base".into()], ..Conversion::default() }).unwrap();
    convert(&base, &in_folder(&target, "y.safetensors"), &Conversion::default()).unwrap();
    // One view of a large storage takes only its own bytes along.
    let row = in_folder(&target, "row.pt");
    convert(&views, &row, &Conversion { only: vec!["row".into()], ..Conversion::default() }).unwrap();
    assert_eq!(contents_at(&row).unwrap().storages[0].nbytes, 24);
    let all = in_folder(&target, "all.pt");
    convert(&views, &all, &Conversion { clone: true, ..Conversion::default() }).unwrap();
    let contents = contents_at(&all).unwrap();
    let is_own = |storage: usize| contents.entries.iter().filter(|entry| entry.storage == Some(storage)).count() == 1;
    assert!((1..contents.storages.len()).all(is_own), "{}", contents.text());
}

/// Returns a safetensors file whose header speaks of 8 GB.
fn lie() -> Vec<u8> {
    let header = r#"{"a":{"dtype":"U8","shape":[8589934592],"data_offsets":[0,8589934592]}}"#;
    [&(header.len() as u64).to_le_bytes()[..], header.as_bytes()].concat()
}

#[test]
fn what_is_no_file_of_tensors_is_told_for_what_it_is() {
    let whole = |name: &str| fs::read(file(name)).unwrap();
    let cut = |name: &str, part: usize| whole(name)[..part].to_vec();
    let pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a2146\nsize 12345\n";
    for (bytes, words) in [
        (Vec::new(), "the file is empty: writing, copying or downloading it has failed"),
        (pointer.to_vec(), "the file is a pointer of git-lfs to a file of 12345 bytes (12.3 kB), not the file"),
        (b"  <!DOCTYPE HTML>\n<html>".to_vec(), "the file is a web page: the download gave a page"),
        (b"<?xml version='1.0'?><Error>".to_vec(), "the file is a web page"),
        (b"\x1f\x8b\x08\0\0".to_vec(), "the file is compressed with gzip: decompress it first"),
        (b"7z\xbc\xaf\x27\x1c\0".to_vec(), "the file is a 7z archive: extract the files in it first"),
        (b"\x28\xb5\x2f\xfd....".to_vec(), "the file is compressed with zstd"),
        (b"{\"a\": 1}".to_vec(), "the file is JSON, not a checkpoint"),
        (vec![0; 100], "the file has only zeros where a file of tensors begins"),
        (b"hello".to_vec(), "the file is not a checkpoint, safetensors, npy, npz or GGUF file"),
        (cut("views.pt", 2000), "the file is cut off: it begins like a checkpoint or an npz file"),
        (
            cut("parts.safetensors", 160),
            "it describes a file of 168 bytes, but the file has 160 bytes: the file is cut",
        ),
        (cut("parts.safetensors", 30), "the file is cut off: a safetensors file whose header has 120 bytes"),
        (cut("first.tar", 2000), "the tar archive is cut off"),
        (
            [&(8u64 << 30).to_le_bytes()[..], b"{\"a\":"].concat(),
            "whose header has 8589934592 bytes, but the file has 13",
        ),
        (lie(), "it describes a file of 8589934671 bytes (8.6 GB), but the file has 79 bytes: the file is cut off"),
        (cut("rows.npy", 140), "the file is too short for its array of 48 bytes"),
    ] {
        let error = load_any(&source(&bytes), true).expect_err(words);
        assert!(error.message.contains(words), "{error}\n{words}");
        assert_eq!(files::contents(&source(&bytes)).expect_err(words).message, error.message);
    }
    let mut tar = whole("first.tar");
    tar[..8].copy_from_slice(b"sys_info");
    let at = tar.windows(7).position(|window| window == b"tensors").unwrap();
    tar[at..at + 7].copy_from_slice(b"letters");
    assert!(load_any(&source(&tar), true).is_err());
}

#[test]
fn folders_lead_to_their_model() {
    let target = tempfile::tempdir().unwrap();
    let path = |name: &str| in_folder(&target, name);
    let make = |name: &str| fs::create_dir_all(path(name)).unwrap();
    let same = |folder: &str, of: &str| {
        let told = differences(&path(folder), of);
        assert!(!told.contains("changed") && !told.contains("added") && !told.contains("removed"), "{told}");
        load_path(&path(folder), true).unwrap();
    };
    // One file alone, beside files of other kinds.
    make("alone");
    fs::copy(file("parts.safetensors"), path("alone/model.safetensors")).unwrap();
    fs::write(path("alone/config.json"), "{}").unwrap();
    same("alone", &file("parts.safetensors"));
    // The same model in both formats.
    fs::copy(file("cuda.pt"), path("alone/pytorch_model.bin")).unwrap();
    same("alone", &file("parts.safetensors"));
    fs::copy(file("parts.safetensors"), path("alone/adapter.safetensors")).unwrap();
    same("alone", &file("parts.safetensors"));
    fs::rename(path("alone/model.safetensors"), path("alone/other.safetensors")).unwrap();
    let error = Input::at(&path("alone")).err().unwrap();
    assert!(error.message.ends_with("of which one must be named: adapter.safetensors, other.safetensors"), "{error}");
    // Checkpoints in shards.
    make("shards");
    for (name, shard) in [("1", "model.weight"), ("2", "model.bias")] {
        let to = path(&format!("shards/pytorch_model-0000{name}-of-00002.bin"));
        convert(&file("training.pt"), &to, &Conversion { only: vec![shard.into()], ..Conversion::default() }).unwrap();
    }
    let index = r#"{"metadata": {"total_size": 36}, "weight_map": {
        "model.weight": "pytorch_model-00001-of-00002.bin", "model.bias": "pytorch_model-00002-of-00002.bin"}}"#;
    fs::write(path("shards/pytorch_model.bin.index.json"), index).unwrap();
    let report = contents_at(&path("shards")).unwrap().text();
    assert!(report.contains(": PyTorch checkpoint in several files, "), "{report}");
    assert!(
        report.contains("model.bias    float32  (3,)    (1,)    0       12     pytorch_model-00002-of-00002.bin/0"),
        "{report}"
    );
    assert_eq!(load_path(&path("shards"), true).unwrap().entries().unwrap().len(), 2);
    fs::write(path("shards/pytorch_model.bin.index.json"), index.replace("00002-of", "00001-of")).unwrap();
    let error = contents_at(&path("shards")).unwrap_err();
    assert_eq!(error.message, "the model's index is wrong: model.bias is not in pytorch_model-00001-of-00002.bin");
    // A cache of downloads: a revision is a folder of links.
    make("cache/blobs");
    make("cache/refs");
    make("cache/snapshots/abc");
    make("cache/snapshots/old");
    fs::copy(file("parts.safetensors"), path("cache/blobs/123")).unwrap();
    let revision = path("cache/snapshots/abc/model.safetensors");
    #[cfg(unix)]
    std::os::unix::fs::symlink("../../blobs/123", revision).unwrap();
    // Where making a link needs a privilege, a revision has copies.
    #[cfg(windows)]
    fs::copy(path("cache/blobs/123"), revision).unwrap();
    fs::write(path("cache/refs/main"), "abc").unwrap();
    same("cache/snapshots/abc", &file("parts.safetensors"));
    same("cache", &file("parts.safetensors"));
    make("empty");
    let error = Input::at(&path("empty")).err().unwrap();
    assert!(error.message.contains("has no tensors: no index, no .metadata, and no file that ends in"), "{error}");
}

#[test]
fn shards_are_written_all_or_none() {
    let target = tempfile::tempdir().unwrap();
    let path = |name: &str| in_folder(&target, name);
    let shards = |size| Conversion { shard_size: Some(size), tensors: true, ..Conversion::default() };
    convert(&file("training.pt"), &path("model.safetensors"), &shards(40)).unwrap();
    let mut written: Vec<_> =
        fs::read_dir(target.path()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    written.sort();
    let shard = |k: usize| format!("model-{k:05}-of-00004.safetensors");
    let index = "model.safetensors.index.json".to_owned();
    assert_eq!(written, [shard(1), shard(2), shard(3), shard(4), index]);
    assert!(differences(&file("training.pt"), target.path().to_str().unwrap()).contains("8 tensors equal"));
    // What fits into one file is one.
    let alone = tempfile::tempdir().unwrap();
    convert(&file("training.pt"), &in_folder(&alone, "model.safetensors"), &shards(1 << 20)).unwrap();
    assert_eq!(fs::read_dir(alone.path()).unwrap().count(), 1);
    // Ctrl-C leaves what was there.
    let before = fs::read(path(&shard(1))).unwrap();
    let stop = Arc::new(AtomicBool::new(true));
    let from = Input::at(&file("module.pt")).unwrap();
    let error = files::convert(&from, &path("model.safetensors"), &shards(40), &stop).unwrap_err();
    assert_eq!(error.kind, ErrorKind::KeyboardInterrupt, "{error}");
    assert_eq!(fs::read(path(&shard(1))).unwrap(), before);
    assert_eq!(fs::read_dir(target.path()).unwrap().count(), 5);
    // A file that cannot be written lets none take its place.
    let last = tempfile::tempdir().unwrap();
    fs::create_dir(in_folder(&last, "model-00003-of-00004.safetensors")).unwrap();
    assert!(convert(&file("training.pt"), &in_folder(&last, "model.safetensors"), &shards(40)).is_err());
    assert_eq!(fs::read_dir(last.path()).unwrap().count(), 1);
    let message = refused(&file("training.pt"), &in_folder(&alone, "x.npz"), &shards(40));
    assert_eq!(message, "--shard-size is for safetensors");
}

#[test]
fn many_tensors_are_filtered_sorted_and_summed_up() {
    let report = |how: Reporting| contents_at(&file("training.pt")).unwrap().report(&how).unwrap();
    let filtered = report(Reporting { filter: vec!["*.step".into()], ..Reporting::default() });
    assert_eq!(filtered.lines().filter(|line| line.contains(".step ")).count(), 2);
    assert!(filtered.ends_with("\n2 tensors on 2 storages of 8 bytes\n2 of 8 selected"), "{filtered}");
    let sorted = |sort| {
        let text = report(Reporting { sort: Some(sort), ..Reporting::default() });
        let lines: Vec<_> =
            text.lines().skip(2).take(8).map(|line| line.split(' ').next().unwrap().to_owned()).collect();
        lines
    };
    assert_eq!(sorted(Sort::Name)[..3], ["model.bias", "model.weight", "optimizer.state[0].exp_avg"]);
    assert_eq!(sorted(Sort::Size)[..2], ["model.weight", "optimizer.state[0].exp_avg"]);
    let tree = report(Reporting { form: ReportForm::Tree, ..Reporting::default() });
    let lines: Vec<_> = tree.lines().skip(1).collect();
    assert_eq!(
        lines[..5],
        [
            "model            2 tensors       36 bytes",
            "  .weight        float32 (3, 2)  24 bytes",
            "  .bias          float32 (3,)    12 bytes",
            "optimizer.state  6 tensors       80 bytes",
            "  [0]            3 tensors       52 bytes",
        ]
    );
    let summary = report(Reporting { form: ReportForm::Summary, ..Reporting::default() });
    for line in [
        "optimizer.state[0].*  3        13        52 bytes  float32",
        "float32  8        29        116 bytes",
        "8 tensors of 116 bytes; 17 other values",
    ] {
        assert!(summary.lines().any(|found| found == line), "{line}\n{summary}");
    }
    let error = contents_at(&file("training.pt")).unwrap();
    let error = error.report(&Reporting { filter: vec!["x".into()], ..Reporting::default() }).unwrap_err();
    assert_eq!(error.message, "--filter x: no name is like this; inspect lists the names");
}

#[test]
fn a_replaced_beginning_is_one_line() {
    let target = tempfile::tempdir().unwrap();
    let path = |name: &str| in_folder(&target, name);
    let how = |old: &str, new: &str| Conversion {
        tensors: true,
        rename: vec![(old.to_owned(), new.to_owned())],
        ..Conversion::default()
    };
    let (from, plain) = (file("module.pt"), path("plain.safetensors"));
    convert(&from, &plain, &Conversion { tensors: true, ..Conversion::default() }).unwrap();
    convert(&plain, &path("one.safetensors"), &how("0", "encoder.0")).unwrap();
    let told = differences(&plain, &path("one.safetensors"));
    assert!(told.contains("renamed  0.*  → encoder.0.*, 2 tensors equal\n5 tensors equal, 2 renamed"), "{told}");
    // A tensor that changed as well is compared under its new name.
    let as_half = Conversion { dtype: Some("float16".into()), ..how("0", "encoder.0") };
    convert(&plain, &path("two.safetensors"), &as_half).unwrap();
    let told = differences(&plain, &path("two.safetensors"));
    assert!(told.contains("dtype    0.weight") && told.contains("0.*"), "{told}");
    assert!(told.contains("→ encoder.0.*, 0 tensors equal, 2 changed"), "{told}");
    let stat = files::diff(
        &contents_at(&plain).unwrap(),
        &contents_at(&path("two.safetensors")).unwrap(),
        files::Comparing { tolerance: 0.0, with_norms: true },
    );
    let stat = stat.unwrap().stat();
    assert!(stat.lines().nth(1).unwrap().starts_with("changed                  "), "{stat}");
    assert!(stat.contains("0.weight → encoder.0.weight  (3, 2)  6"), "{stat}");
}
