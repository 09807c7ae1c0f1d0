//! Damaged and malicious files: each must be rejected with an error, quickly and without much memory.

use super::describe::describe;
use super::{entry, folder, load_any, load_bytes, open, references, save_as, source};
use crate::pace::{check, within};
use std::fs;
use std::io::{Cursor, Write};
use std::time::Instant;
use tensorsh::files::{self, Options, SaveOptions};
use tensorsh::session::transcript::spawn_with_big_stack;
use tensorsh::tensor::interrupt::{self, Interrupt};
use tensorsh::tensor::{DType, Device, ErrorKind, Result, View};
use tensorsh::value::Value;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

/// Returns an archive of these entries.
fn archive(entries: &[(&str, &[u8])], method: CompressionMethod) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in entries {
        writer.start_file(*name, SimpleFileOptions::default().compression_method(method)).unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// Returns a checkpoint of this pickle, with one storage.
pub(super) fn checkpoint(pickle: &[u8], data: &[u8]) -> Vec<u8> {
    archive(&[("a/data.pkl", pickle), ("a/byteorder", b"little"), ("a/data/0", data)], CompressionMethod::Stored)
}

/// Returns the instructions for a float tensor on storage 0 of `numel` elements (up to 255).
fn tensor(numel: u8, offset: u8, size: u8, stride: u8) -> Vec<u8> {
    let mut pickle = b"ctorch._utils\n_rebuild_tensor_v2\n((X\x07\0\0\0storagectorch\nFloatStorage\n".to_vec();
    pickle.extend(b"X\x01\0\0\x000X\x03\0\0\0cpu");
    pickle.extend([b'K', numel, b't', b'Q', b'K', offset, b'K', size, 0x85, b'K', stride, 0x85, 0x89]);
    pickle.extend(b"ccollections\nOrderedDict\n)RtR");
    pickle
}

fn pickle(instructions: &[u8]) -> Vec<u8> {
    [b"\x80\x02", instructions, b"."].concat()
}

/// Returns the kind and the first line of the error, which must come quickly.
fn refusal(bytes: &[u8]) -> (ErrorKind, String) {
    let began = Instant::now();
    let error = match load_bytes(bytes) {
        Err(error) => error,
        Ok(value) => panic!("loaded as\n{}", describe(&value)),
    };
    check(began, 1000, &error.message);
    (error.kind, error.message)
}

#[track_caller]
pub(super) fn refused(bytes: &[u8], kind: ErrorKind, part: &str) {
    let (found, message) = refusal(bytes);
    assert!(found == kind && message.contains(part), "{found:?}: {message}");
}

#[test]
fn a_file_cut_anywhere_is_refused() {
    for (name, path, told) in references() {
        let bytes = fs::read(path).unwrap();
        for length in 0..bytes.len() {
            let cut = source(&bytes[..length]);
            // The end of a tar archive is filled with zeros, of which none is missed.
            if let (true, Ok(value)) = (name.ends_with(".tar"), load_any(&cut, false)) {
                assert_eq!(describe(&value), told, "{name} of {length} bytes");
                continue;
            }
            assert!(load_any(&cut, false).is_err(), "{name} of {length} bytes");
            assert!(load_any(&cut, true).is_err(), "{name} of {length} bytes, mapped");
            assert!(files::contents(&cut).is_err(), "{name} of {length} bytes, inspected");
        }
    }
}

#[test]
fn a_flipped_bit_is_noticed_where_there_is_a_checksum() {
    for (name, path, told) in references() {
        let bytes = fs::read(path).unwrap();
        // Without its mark, a big-endian file is a valid little-endian one. Older formats have no checksums.
        let is_checked = name.ends_with(".pt") && !name.contains("legacy") && name != "big_endian.pt";
        // For a long file, flip some of the bytes, and different ones in every file.
        for place in (0..bytes.len()).step_by(1 + bytes.len() / 1500) {
            let mut flipped = bytes.clone();
            flipped[place] ^= 1 << (place % 8);
            let loaded = load_bytes(&flipped);
            if let (true, Ok(value)) = (is_checked, &loaded) {
                assert_eq!(describe(value), told, "{name}, byte {place}");
            }
            // When mapped or inspected, it is read without its checksum.
            let _ = (load_any(&source(&flipped), true), files::contents(&source(&flipped)));
        }
    }
}

#[test]
fn code_is_refused_by_name() {
    let torch_load = |name: &str| files::load(&open(&folder().join(name)), &Options::default());
    let message = |loaded: Result<Value>| match loaded {
        Err(error) if error.kind == ErrorKind::UnpicklingError => error.message,
        _ => panic!("no UnpicklingError"),
    };
    let code = message(torch_load("code.pt"));
    assert!(code.starts_with(
        "Weights only load failed. In PyTorch 2.6, we changed the default value of the `weights_only` argument in \
         `torch.load` from `False` to `True`. Re-running `torch.load` with `weights_only` set to `False` will likely \
         succeed, but it can result in arbitrary code execution. Do it only if you got the file from a trusted \
         source.\nTrying to load unsupported GLOBAL posix.system whose module posix is blocked.\n"
    ));
    let unknown = message(torch_load("unknown.pt"));
    assert!(unknown.starts_with(
        "Weights only load failed. This file can still be loaded, to do so you have two options, \x1b[1mdo those steps \
         only if you trust the source of the checkpoint\x1b[0m. \n"
    ));
    assert!(unknown.contains("Unsupported global: GLOBAL __main__.Unknown was not an allowed global by default."));
    for name in ["builtins\neval", "__builtin__\neval", "nt\nsystem", "subprocess\nPopen", "torch\nload", "os\nsystem"]
    {
        let call = format!("c{name}\n)R");
        let file = checkpoint(&pickle(call.as_bytes()), b"");
        assert!(message(files::load(&source(&file), &Options::default())).starts_with("Weights only load failed"));
        let class = name.replace('\n', ".").replace("__builtin__", "builtins").replace("builtins.", "");
        let words = format!("the file holds {class}, which could run code and is not loaded: inspect lists it");
        refused(&file, ErrorKind::UnpicklingError, &words);
    }
}

#[test]
fn pickles_made_to_exhaust_are_refused() {
    // Sessions have a large stack, too.
    spawn_with_big_stack("exhaust", exhausting_pickles).unwrap().join().unwrap();
}

fn exhausting_pickles() {
    // A list that contains itself is loaded as such.
    let endless = load_bytes(&fs::read(folder().join("endless.pt")).unwrap()).unwrap();
    let Value::List(list) = &endless else { panic!("{endless:?}") };
    assert!(matches!(list.get(1), Some(Value::List(inner)) if inner.is(list)));
    // Lists nested a hundred thousand deep.
    let deep = [b"]".repeat(100_000), b"a".repeat(99_999)].concat();
    refused(&checkpoint(&pickle(&deep), b""), ErrorKind::RecursionError, "nests its containers");
    let tuples = [b"N".to_vec(), b"\x85".repeat(100_000)].concat();
    refused(&checkpoint(&pickle(&tuples), b""), ErrorKind::RecursionError, "nests its containers");
    // Each tuple contains the previous one twice: 2^100 values in 500 bytes.
    let laughs = [b")q\0h\0".to_vec(), b"h\0\x86q\0h\0".repeat(100)].concat();
    refused(&checkpoint(&pickle(&laughs), b""), ErrorKind::RuntimeError, "values is not read");
    // The same as a key, of which a name would be made.
    let key = [&laughs[..], b"}h\0Ns"].concat();
    let report = within(1000, "a report on a key that repeats itself", || {
        files::contents(&source(&checkpoint(&pickle(&key), b"")))
    });
    assert!(report.unwrap().text().contains("value [tuple 0]: NoneType None"));
    // A text of a megabyte, encoded again and again.
    let mut text = vec![b'X', 0, 0, 16, 0];
    text.extend([b'a'; 1 << 20]);
    let again = [b"(".to_vec(), text, b"q\0".to_vec(), b"c_codecs\nencode\nh\0N\x86R".repeat(1000), b"t".to_vec()];
    let again = again.concat();
    refused(&checkpoint(&pickle(&again), b""), ErrorKind::RuntimeError, "copies itself");
}

#[test]
fn broken_pickles_are_refused() {
    let cases: &[(&[u8], ErrorKind, &str)] = &[
        (b"", ErrorKind::IndexError, "pop from empty list"),
        (b"a", ErrorKind::IndexError, "pop from empty list"),
        (b"h\x65", ErrorKind::KeyError, "101"),
        (b"e", ErrorKind::IndexError, "pop from empty list"),
        (b"N(\x85", ErrorKind::IndexError, "list index out of range"),
        (b"(Nu", ErrorKind::UnpicklingError, "without a value"),
        (b"NNNs", ErrorKind::TypeError, "does not support item assignment"),
        (b"NNa", ErrorKind::UnpicklingError, "Can only append to lists"),
        (b"\x97", ErrorKind::UnpicklingError, "Unsupported operand 151"),
        (b"X\xff\xff\xff\xff", ErrorKind::EOFError, ""),
        (b"X\x01\0\0\0\xff", ErrorKind::UnpicklingError, "not UTF-8"),
        (b"c\xff\n\xfe\n", ErrorKind::UnpicklingError, "a name is not UTF-8"),
        (b"\x8a\xff", ErrorKind::EOFError, ""),
        (b"N)R", ErrorKind::UnpicklingError, "Trying to call reduce for unrecognized function"),
        (b"N)b", ErrorKind::UnpicklingError, "Can only build Tensor"),
        (b"NQ", ErrorKind::UnpicklingError, "persistent_load id must be tuple or int"),
        (b"ctorch\nFloatStorage\n", ErrorKind::RuntimeError, "cannot be loaded as a value"),
        (b"}]Ns", ErrorKind::TypeError, "unhashable type: 'list'"),
    ];
    for (instructions, kind, part) in cases {
        refused(&checkpoint(&pickle(instructions), b""), *kind, part);
    }
    refused(&checkpoint(b"", b""), ErrorKind::EOFError, "");
}

/// The instructions for a numpy array, without its state.
const ARRAY: &[u8] = b"cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nNN\x87R";

/// A state for the array: sizes, the letters of a dtype, its byte order, and the data.
fn state(sizes: &[u8], number: &[u8], order: u8, bytes: &[u8]) -> Vec<u8> {
    let text = |bytes: &[u8]| [b"X", &(bytes.len() as u32).to_le_bytes()[..], bytes].concat();
    let dtype = [b"cnumpy\ndtype\n", &text(number)[..], b"\x89\x88\x87R(K\x03", &text(&[order]), b"NNNtb"].concat();
    let bytes = [b"c_codecs\nencode\n", &text(bytes)[..], b"N\x86R"].concat();
    [b"(K\x01", sizes, &dtype, b"\x89", &bytes, b"tb"].concat()
}

#[test]
fn arrays_in_pickles_that_lie_are_refused() {
    let array = |state: &[u8]| checkpoint(&pickle(&[ARRAY, state].concat()), b"");
    let four = b"K\x04\x85";
    assert!(load_bytes(&array(&state(four, b"f4", b'<', &[0; 16]))).is_ok());
    for (state, kind, part) in [
        (state(four, b"f4", b'<', &[0; 12]), ErrorKind::UnpicklingError, "has 12 bytes"),
        (state(four, b"f3", b'<', &[0; 12]), ErrorKind::UnpicklingError, "is not supported"),
        (state(four, b"f4", b'?', &[0; 16]), ErrorKind::UnpicklingError, "is not supported"),
        (state(b"J\xff\xff\xff\xff\x85", b"f4", b'<', &[]), ErrorKind::RuntimeError, "negative dimension"),
        (state(b"\x8a\x08\0\0\0\0\0\0\0\x40\x85", b"f8", b'<', &[]), ErrorKind::UnpicklingError, "has 0 bytes"),
        (state(b"N", b"f4", b'<', &[0; 16]), ErrorKind::UnpicklingError, "sizes are a tuple"),
        (b"Nb".to_vec(), ErrorKind::UnpicklingError, "has unexpected parts"),
        (Vec::new(), ErrorKind::RuntimeError, "an array without its state"),
    ] {
        let bytes = array(&state);
        refused(&bytes, kind, part);
        let _ = files::contents(&source(&bytes)).map(|contents| contents.text());
    }
    refused(
        &checkpoint(&pickle(b"cnumpy\ndtype\nX\x02\0\0\0f4\x89\x88\x87R"), b""),
        ErrorKind::RuntimeError,
        "cannot be loaded",
    );
    // A thousand arrays of the same megabyte.
    let state = state(b"J\0\0\x10\0\x85", b"u1", b'|', &vec![b'a'; 1 << 20]);
    let state = [&state[..state.len() - 1], b"q\x010"].concat();
    let again = [b"(", &state[..], &[ARRAY, b"h\x01b"].concat().repeat(1000), b"t"].concat();
    refused(&checkpoint(&pickle(&again), b""), ErrorKind::RuntimeError, "copies itself");
}

#[test]
fn tensors_beyond_their_storage_are_refused() {
    let four = [0; 16];
    assert!(load_bytes(&checkpoint(&pickle(&tensor(4, 1, 3, 1)), &four)).is_ok());
    for (size, part) in [
        (tensor(4, 2, 3, 1), "requiring a storage size of 20 are out of bounds for storage of size 16"),
        (tensor(4, 0, 2, 200), "are out of bounds for storage of size 16"),
        (tensor(5, 0, 1, 1), "has 16 bytes where 20 are expected"),
        (tensor(3, 0, 1, 1), "has 16 bytes where 12 are expected"),
    ] {
        refused(&checkpoint(&pickle(&size), &four), ErrorKind::RuntimeError, part);
    }
    // Sizes and offsets of 8 bytes: 2^63 - 1, and -1.
    for number in [b"\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f".as_slice(), b"\x8a\x01\xff"] {
        for place in [b"K\x04tQ".as_slice(), b"QK\0", b"K\x02\x85K", b"K\x01\x85\x89"] {
            let mut whole = tensor(4, 0, 2, 1);
            let at = whole.windows(place.len()).position(|window| window == place).unwrap();
            let at = at + place.iter().position(|&byte| byte == b'K').unwrap();
            whole.splice(at..at + 2, number.iter().copied());
            let (kind, message) = refusal(&checkpoint(&pickle(&whole), &four));
            assert_eq!(kind, ErrorKind::RuntimeError, "{message}");
            assert!(
                files::contents(&source(&checkpoint(&pickle(&whole), &four)))
                    .is_ok_and(|report| !report.text().is_empty())
                    || message.contains("invalid"),
                "{message}"
            );
        }
    }
}

#[test]
fn archives_made_to_deceive_are_refused() {
    let good = checkpoint(&pickle(&tensor(4, 0, 4, 1)), &[0; 16]);
    assert!(load_bytes(&good).is_ok());
    // A zip bomb: 64 MB of zeros where 16 bytes are expected, and as the pickle.
    let zeros = vec![0; 64 << 20];
    let entries: [(&str, &[u8]); 2] = [("a/data.pkl", &pickle(&tensor(4, 0, 4, 1))), ("a/data/0", &zeros)];
    let bomb = archive(&entries, CompressionMethod::Deflated);
    assert!(bomb.len() < 1 << 20);
    refused(&bomb, ErrorKind::RuntimeError, "has 67108864 bytes where 16 are expected");
    // Directory entries that refer to the same bytes.
    let entries: [(&str, &[u8]); 3] =
        [("a/data.pkl", &pickle(&tensor(4, 0, 4, 1))), ("a/data/0", &[0; 16]), ("a/data/1", &[0; 16])];
    let mut overlapping = archive(&entries, CompressionMethod::Stored);
    let directory: Vec<usize> = places(&overlapping, b"PK\x01\x02");
    let first: Vec<u8> = overlapping[directory[1] + 42..directory[1] + 46].to_vec();
    overlapping[directory[2] + 42..directory[2] + 46].copy_from_slice(&first);
    refused(&overlapping, ErrorKind::RuntimeError, "entries overlap");
    // Names.
    let rename = |name: &[u8; 8]| {
        let mut bytes = good.clone();
        for place in places(&good, b"a/data/0") {
            bytes[place..place + 8].copy_from_slice(name);
        }
        bytes
    };
    refused(&rename(b"a/\xff\xfea/0\0"), ErrorKind::RuntimeError, "");
    refused(&rename(b"a/data/1"), ErrorKind::RuntimeError, "failed locating file data/0: file not found");
    let bare = archive(&[("data.pkl", b"N.")], CompressionMethod::Stored);
    refused(&bare, ErrorKind::ValueError, "is a zip archive of data.pkl, not a checkpoint");
    let error = files::load(&source(&bare), &Options::default()).unwrap_err();
    assert!(error.kind == ErrorKind::RuntimeError && error.message.contains("not in a subdirectory"), "{error}");
    let script: [(&str, &[u8]); 2] = [("a/data.pkl", b"N."), ("a/constants.pkl", b"N.")];
    refused(&archive(&script, CompressionMethod::Stored), ErrorKind::RuntimeError, "TorchScript");
    // Sizes given in the directory.
    for (field, size) in [(20, u32::MAX - 1), (24, u32::MAX - 1), (24, 1), (42, u32::MAX - 1)] {
        let mut bytes = good.clone();
        let entry = places(&good, b"PK\x01\x02")[2];
        bytes[entry + field..entry + field + 4].copy_from_slice(&size.to_le_bytes());
        let (kind, message) = refusal(&bytes);
        assert_eq!(kind, ErrorKind::RuntimeError, "{message}");
    }
}

/// Returns every position of some bytes.
fn places(bytes: &[u8], wanted: &[u8]) -> Vec<usize> {
    (0..bytes.len()).filter(|&place| bytes[place..].starts_with(wanted)).collect()
}

#[test]
fn the_order_of_bytes_is_one_of_two() {
    let entries: [(&str, &[u8]); 2] = [("a/data.pkl", b"N."), ("a/byteorder", b"middle")];
    let middle = archive(&entries, CompressionMethod::Stored);
    refused(&middle, ErrorKind::ValueError, "Unknown endianness type: middle");
}

fn npy(header: &str) -> Vec<u8> {
    [b"\x93NUMPY\x01\0".as_slice(), &(header.len() as u16).to_le_bytes(), header.as_bytes(), &[0; 64]].concat()
}

#[test]
fn arrays_that_are_no_tensors_are_refused() {
    let good = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }";
    assert!(load_bytes(&npy(good)).is_ok());
    for (from, to, part) in [
        ("<f4", "|O", "Object arrays cannot be loaded when allow_pickle=False"),
        ("<f4", "<U4", "is not supported"),
        ("<f4", "", "is not supported"),
        ("'<f4'", "[('a', '<f4'), ('b', '<U4')]", "the field b: the dtype \"<U4\" is not supported"),
        ("'<f4'", "[('a\\x1b[2J', '<U4')]", "the field a\\u{1b}[2J: the dtype"),
        ("'<f4'", "[('a', [('b', '<M8[s]')])]", "the field a: the field b: the dtype \"<M8[s]\" is not supported"),
        ("'<f4'", "[('a', '|O')]", "Object arrays cannot be loaded when allow_pickle=False"),
        ("'<f4'", "[('a', '<f4'), ('a', '<f4')]", "two fields a"),
        ("'<f4'", "[('', '<f4')]", "without a name"),
        ("'<f4'", "[]", "the records have no bytes"),
        ("'<f4'", "[('', '|V0')]", "the records have no bytes"),
        ("'<f4'", "[('', '|V18446744073709551615')]", "invalid"),
        ("'<f4'", "[('', '|V9223372036854775807')]", "invalid"),
        ("'<f4'", "[('a', '<f4', (-1,))]", "negative dimension"),
        ("'<f4'", "[('a', '<f4', (4611686018427387904,))]", "invalid"),
        ("'<f4'", "[('a', '<f4', (4294967296, 4294967296, 4294967296))]", "overflowed"),
        ("'<f4'", "[('a', '<f4', (1000,))]", "too short"),
        ("'<f4'", "[('a', '<f4', '2')]", "its shape is not a tuple"),
        ("'<f4'", "[('a', '<f4', (2,), 3)]", "a field of a record has a name and a dtype"),
        ("'<f4'", "[('a',)]", "a field of a record has a name and a dtype"),
        ("'<f4'", "[(1, '<f4')]", "the name of a field is not a string"),
        ("'<f4'", "('<f4', (2,))", "a dtype is a string or a list of fields"),
        ("(2, 3)", "(2, 300)", "too short"),
        ("(2, 3)", "(-2, 3)", "negative"),
        ("(2, 3)", "(4294967296, 4294967296, 4294967296)", ""),
        ("(2, 3)", "(4611686018427387904,)", "invalid"),
        ("(2, 3)", "(2, x)", "Cannot parse header"),
        ("False", "Maybe", "Cannot parse header"),
        ("'shape'", "'shapes'", "Cannot parse header"),
        ("}", "} import os", "Cannot parse header"),
    ] {
        let (_, message) = refusal(&npy(&good.replace(from, to)));
        assert!(message.contains(part), "{message}");
    }
    let dimensions = format!("[('a', '<f4', ({}))]", "1, ".repeat(64));
    refused(&npy(&good.replace("'<f4'", &dimensions)), ErrorKind::ValueError, "more than 64 dimensions");
    let deep = format!("{}'<f4'{}", "[('a', ".repeat(1000), ")]".repeat(1000));
    refused(&npy(&good.replace("'<f4'", &deep)), ErrorKind::ValueError, "Cannot parse header");
    refused(b"\x93NUMPY\x03\0\xff\xff\xff\xff", ErrorKind::ValueError, "its length is invalid");
    refused(b"\x93NUMPY\x09\0", ErrorKind::ValueError, "version 9");
    let entries: [(&str, &[u8]); 1] = [("x.npy", &npy(&good.replace("(2, 3)", "(1000000000000,)")))];
    refused(&archive(&entries, CompressionMethod::Deflated), ErrorKind::RuntimeError, "are expected");
}

#[test]
fn safetensors_with_a_false_header_are_refused() {
    let file = |header: &str, data: &[u8]| [&(header.len() as u64).to_le_bytes(), header.as_bytes(), data].concat();
    let good = r#"{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}"#;
    assert!(load_bytes(&file(good, &[0; 8])).is_ok());
    for (from, to) in [
        ("[0,8]", "[0,4]"),
        ("[0,8]", "[8,16]"),
        ("[0,8]", "[8,0]"),
        ("[2]", "[18446744073709551615,18446744073709551615]"),
        ("[2]", "[-2]"),
        ("F32", "F8_E8M0"),
        ("}}", "},\"b\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}"),
        ("{", "{\"a\":["),
    ] {
        refused(&file(&good.replacen(from, to, 1), &[0; 8]), ErrorKind::SafetensorError, "deserializing header");
    }
    let long = file(good, &[0; 9]);
    refused(&long, ErrorKind::SafetensorError, "it describes a file of 70 bytes, but the file has 71 bytes");
    let error = files::load_safetensors(&source(&long), false).unwrap_err();
    assert!(error.message.ends_with("incomplete metadata, file not fully covered"), "{error}");
    // A dtype that is not known is refused by the library's function. `load` reads the bytes.
    let unknown = file(&good.replace("F32", "C128").replace("[2]", "[1]"), &[7; 8]);
    let error = files::load_safetensors(&source(&unknown), false).unwrap_err();
    assert!(error.message.contains("unknown variant `C128`"), "{error}");
    assert_eq!(entry(&load_bytes(&unknown).unwrap(), "a").view().storage.to_vec().unwrap(), [7; 8]);
    refused(&file(&good.replace("F32", "C128"), &[0; 7]), ErrorKind::SafetensorError, "");
    let deep = format!("{{\"a\":{}", "[".repeat(100_000));
    refused(&file(&deep, b""), ErrorKind::SafetensorError, "");
    let long = [&(90_000_000u64).to_le_bytes()[..], b"{"].concat();
    refused(&long, ErrorKind::ValueError, "");
}

#[test]
fn ctrl_c_leaves_the_old_file() {
    let target = tempfile::tempdir().unwrap();
    let path = target.path().join("x.pt");
    fs::write(&path, b"old").unwrap();
    let flag = Interrupt::default();
    interrupt::watch(&flag);
    flag.set();
    let tensor = View::zeros(&[1000], DType::Float, Device::CPU).unwrap();
    for ending in ["x.pt", "x.npy"] {
        let error = save_as(&Value::from(tensor.clone()), target.path().join(ending).to_str().unwrap());
        assert_eq!(error.unwrap_err().kind, ErrorKind::KeyboardInterrupt);
    }
    flag.clear();
    assert_eq!(fs::read(&path).unwrap(), b"old");
    assert_eq!(fs::read_dir(target.path()).unwrap().count(), 1);
}

#[test]
fn a_file_that_cannot_be_written_leaves_the_old_one() {
    let target = tempfile::tempdir().unwrap();
    let path = target.path().join("x.pt");
    fs::write(&path, b"old").unwrap();
    let closure = Value::list([Value::Module("torch")]);
    let error = files::save(&closure, path.to_str().unwrap(), &SaveOptions::default()).unwrap_err();
    assert_eq!((error.kind, error.message.as_str()), (ErrorKind::TypeError, "cannot pickle 'module' object"));
    assert_eq!(fs::read(&path).unwrap(), b"old");
    fs::create_dir(target.path().join("folder.pt")).unwrap();
    let folder = target.path().display();
    for (name, message) in [
        ("no/such/x.pt", format!("Parent directory {folder}/no/such does not exist.")),
        ("folder.pt", format!("File {folder}/folder.pt cannot be opened.")),
        (".pt", format!("[enforce fail at inline_container.cc:707] . invalid file name: {folder}/.pt")),
    ] {
        let path = format!("{folder}/{name}");
        let error = files::save(&Value::None, &path, &SaveOptions::default()).unwrap_err();
        assert_eq!((error.kind, error.message), (ErrorKind::RuntimeError, message));
    }
    assert_eq!(fs::read_dir(target.path()).unwrap().count(), 2);
}
