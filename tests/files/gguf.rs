//! GGUF: the contents of headers, and invalid headers. The values of blocks are compared with the gguf package's in
//! `files.rs`, by the descriptions of blocks.gguf, codebooks.gguf and plain.gguf.

use super::describe::describe;
use super::hostile::refused;
use super::{folder, load_any, load_bytes, open, source};
use crate::pace::within;
use std::fs;
use tensorsh::files::{self, gguf::BlockTensor};
use tensorsh::tensor::interrupt::{self, Interrupt};
use tensorsh::tensor::{ErrorKind, memory};
use tensorsh::value::{Dict, Value};

/// A file built by hand, with given settings, tensors and data.
struct Made {
    version: u32,
    counts: [u64; 2],
    head: Vec<u8>,
    data: Vec<u8>,
}

fn text(text: &str) -> Vec<u8> {
    [&(text.len() as u64).to_le_bytes(), text.as_bytes()].concat()
}

fn setting(key: &str, kind: u32, value: &[u8]) -> Vec<u8> {
    [&text(key)[..], &kind.to_le_bytes(), value].concat()
}

/// Encodes a tensor of these sizes, innermost first.
fn tensor(name: &str, sizes: &[u64], kind: u32, place: u64) -> Vec<u8> {
    let mut bytes = text(name);
    bytes.extend((sizes.len() as u32).to_le_bytes());
    bytes.extend(sizes.iter().flat_map(|size| size.to_le_bytes()));
    bytes.extend(kind.to_le_bytes());
    bytes.extend(place.to_le_bytes());
    bytes
}

fn made(settings: &[Vec<u8>], tensors: &[Vec<u8>], nbytes: usize) -> Made {
    let head = [settings.concat(), tensors.concat()].concat();
    Made { version: 3, counts: [tensors.len() as u64, settings.len() as u64], head, data: vec![0; nbytes] }
}

impl Made {
    fn bytes(&self) -> Vec<u8> {
        let [tensors, settings] = self.counts;
        let mut bytes = b"GGUF".to_vec();
        bytes.extend(self.version.to_le_bytes());
        bytes.extend(tensors.to_le_bytes());
        bytes.extend(settings.to_le_bytes());
        bytes.extend(&self.head);
        bytes.resize(bytes.len().next_multiple_of(32), 0);
        [bytes, self.data.clone()].concat()
    }
}

const F32: u32 = 0;
const Q4_0: u32 = 2;
const Q8_0: u32 = 8;
const Q8_1: u32 = 9;

#[test]
fn a_report_tells_the_settings_and_the_types() {
    let report = files::contents(&open(&folder().join("plain.gguf"))).unwrap().text();
    for line in [
        "float32   float32   (2, 3)        (3, 1)         0       24     float32",
        "bfloat16  bfloat16  (2, 3)        (3, 1)         0       12     bfloat16",
        "last      float32   (1, 2, 4, 2)  (16, 8, 2, 1)  0       64     last",
        "metadata general.alignment: 64",
        "metadata one.uint8: 200",
        "metadata one.int8: -100",
        "metadata one.uint16: 60000",
        "metadata one.int16: -30000",
        "metadata one.uint32: 4294967295",
        "metadata one.int32: -2147483648",
        "metadata one.uint64: 18446744073709551615",
        "metadata one.int64: -9223372036854775808",
        "metadata one.float32: 1e-5",
        "metadata one.float64: 0.1",
        "metadata one.bool: True",
        "metadata one.string: a\\u{1b}[31m 'quoted' é\\n",
        "metadata many.uint8: [1, 2]",
        "metadata many.int16: [-1, 2]",
        "metadata many.float32: [0.5, 1.5]",
        "metadata many.float64: [0.1]",
        "metadata many.bool: [True, False]",
        "metadata many.uint64: [0, 1, 2, 3, 4, 5, 6, 7, … (20 in all)]",
        "metadata many.string: ['a', '', 'b\\u{1b}']",
        "metadata nested: [[1, 2], [3], [4, 5, 6]]",
    ] {
        assert!(report.lines().any(|found| found == line), "{line}\n{report}");
    }
    let report = files::contents(&open(&folder().join("blocks.gguf"))).unwrap();
    for line in ["blk.Q4_0  Q4_0     (2, 64)     (64, 1)", "blk.Q6_K  Q6_K     (2, 256)    (256, 1)"] {
        assert!(report.text().lines().any(|found| found.starts_with(line)), "{line}\n{}", report.text());
    }
    assert!(report.json().contains("\"dtype\": \"Q5_K\""), "{}", report.json());
}

#[test]
fn both_versions_are_read_and_others_named() {
    let mut bytes = fs::read(folder().join("blocks.gguf")).unwrap();
    bytes[4] = 2;
    assert!(load_bytes(&bytes).is_ok());
    for (version, part) in [
        (1u32.to_le_bytes(), "version 1 is not supported, only 2 and 3"),
        (4u32.to_le_bytes(), "version 4 is not supported"),
        (0u32.to_le_bytes(), "version 0 is not supported"),
        (3u32.to_be_bytes(), "big-endian files are not supported"),
    ] {
        bytes[4..8].copy_from_slice(&version);
        refused(&bytes, ErrorKind::ValueError, part);
    }
}

/// Tensors of a type that cannot be dequantized are loaded with their bytes; one of unknown size is rejected. A report
/// lists everything.
#[test]
fn foreign_types_are_listed_and_named() {
    let weight = tensor("weight", &[32], F32, 0);
    for (kind, listed) in
        [(Q8_1, "odd     Q8_1     (2, 32)  (32, 1)"), (99, "value odd: tensor of type number 99 [2, 32]")]
    {
        let bytes = made(&[], &[weight.clone(), tensor("odd", &[32, 2], kind, 128)], 128 + 80).bytes();
        if kind == Q8_1 {
            let value = load_bytes(&bytes).unwrap();
            let entries = value.entries().unwrap();
            let [(_, Value::Tensor(_)), (_, odd)] = &*entries else { panic!("two tensors") };
            let odd = BlockTensor::of(odd).unwrap();
            assert_eq!(odd.data().sizes(), [2, 40]);
            let error = odd.dequantize().unwrap_err();
            let text = "blocks of type Q8_1 cannot be dequantized";
            assert_eq!((error.kind, error.message.as_str()), (ErrorKind::NotImplementedError, text));
        } else {
            refused(&bytes, ErrorKind::NotImplementedError, "the tensor 'odd' has the unknown type number 99");
        }
        let report = files::contents(&source(&bytes)).unwrap().text();
        for line in [listed, "weight  float32  (32,)"] {
            assert!(report.lines().any(|found| found.starts_with(line)), "{line}\n{report}");
        }
    }
}

#[test]
fn blocks_lie_on_the_file_and_are_looked_at_one_by_one() {
    let value = load_any(&open(&folder().join("blocks.gguf")), true).unwrap();
    let entries = value.entries().unwrap();
    let (_, q4) = entries.iter().find(|(name, _)| matches!(name, Value::Str(name) if &**name == "blk.Q4_0")).unwrap();
    let whole = BlockTensor::of(q4).unwrap();
    let numbers = |tensor: &BlockTensor| {
        let view = tensor.dequantize().unwrap();
        view.memory().unwrap().bytes().iter().map(memory::get).collect::<Vec<u8>>()
    };
    let all = numbers(whole);
    for (place, part) in all.chunks(32 * 4).enumerate() {
        assert_eq!(numbers(&whole.block(place as i64).unwrap()), part);
        assert_eq!(numbers(&whole.block(place as i64 - 4).unwrap()), part);
    }
    for place in [4, -5, i64::MAX, i64::MIN] {
        let error = whole.block(place).err().unwrap();
        assert_eq!(
            (error.kind, error.message),
            (ErrorKind::IndexError, format!("block {place} is out of range: there are 4"))
        );
    }
    // Writes to the bytes change the numbers, but not the file.
    let block = whole.block(1).unwrap();
    block.data().storage.set_byte(0, 0).unwrap();
    block.data().storage.set_byte(1, 0).unwrap();
    assert!(numbers(whole)[32 * 4..64 * 4].chunks(4).all(|number| matches!(number, [0, 0, 0, 0 | 128])));
    let again = load_any(&open(&folder().join("blocks.gguf")), true).unwrap();
    let again = again.entries().unwrap();
    let (_, again) = again.iter().find(|(name, _)| matches!(name, Value::Str(name) if &**name == "blk.Q4_0")).unwrap();
    assert_eq!(numbers(BlockTensor::of(again).unwrap()), all);
}

/// Blocks are compared by their dequantized numbers, also with floats, on a file or loaded from it.
#[test]
fn blocks_are_compared_with_each_other_and_with_floats() {
    let path = folder().join("blocks.gguf");
    let file = || files::contents(&open(&path)).unwrap();
    let value = load_any(&open(&path), true).unwrap();
    let loaded = files::contents_of(&value).unwrap();
    let told = files::diff(&file(), &loaded, 0.0).unwrap().text();
    assert!(told.contains("12 tensors equal") && !told.contains("blk"), "{told}");
    // One byte of the first block of Q4_0 contains two elements, one in each half.
    let mut bytes = fs::read(&path).unwrap();
    let start = file().storages[0].place().unwrap();
    bytes[start + 2] ^= 0x11;
    let told = files::diff(&file(), &files::contents(&source(&bytes)).unwrap(), 0.0).unwrap().text();
    assert!(told.contains("blk.Q4_0  Q4_0 (2, 64)  2 of 128 elements differ"), "{told}");
    let entries = value.entries().unwrap();
    let numbers = entries.iter().map(|(name, tensor)| {
        let numbers = BlockTensor::of(tensor).map(|tensor| Value::from(tensor.dequantize().unwrap()));
        (name.clone(), numbers.unwrap_or_else(|| tensor.clone()))
    });
    let numbers = files::contents_of(&Value::Dict(Dict::new(numbers.collect::<Vec<_>>()).unwrap())).unwrap();
    let told = files::diff(&file(), &numbers, 0.0).unwrap().text();
    assert!(told.lines().filter(|line| line.ends_with("all elements equal")).count() == 11, "{told}");
    // For a type that cannot be dequantized, only the bytes are compared.
    let foreign = |last: u8| {
        let mut made = made(&[], &[tensor("odd", &[32], Q8_1, 0)], 40);
        made.data[39] = last;
        files::contents(&source(&made.bytes())).unwrap()
    };
    assert!(files::diff(&foreign(1), &foreign(1), 0.0).unwrap().is_equal());
    let told = files::diff(&foreign(1), &foreign(2), 0.0).unwrap().text();
    assert!(told.contains("odd  Q8_1 (32,)  different bytes, in blocks that cannot be dequantized"), "{told}");
}

#[test]
fn headers_that_lie_are_refused() {
    let good =
        || made(&[setting("a", 4, &[1, 0, 0, 0])], &[tensor("w", &[32, 2], Q4_0, 0), tensor("x", &[4], F32, 64)], 80);
    assert!(load_bytes(&good().bytes()).is_ok());
    // Counts.
    for (index, what) in [(0, "tensors do not fit into"), (1, "settings do not fit into")] {
        for count in [u64::MAX, 1 << 63, 1 << 40, 100] {
            let mut file = good();
            file.counts[index] = count;
            refused(&file.bytes(), ErrorKind::ValueError, what);
        }
    }
    let file = |settings: &[Vec<u8>], tensors: &[Vec<u8>]| made(settings, tensors, 128).bytes();
    let weight = |sizes: &[u64], kind, place| file(&[], &[tensor("w", sizes, kind, place)]);
    let array = |kind: u32, count: u64, items: &[u8]| [&kind.to_le_bytes()[..], &count.to_le_bytes(), items].concat();
    let deep = || [array(9, 1, &[]).repeat(20), array(0, 0, &[])].concat();
    for (bytes, part) in [
        // Settings.
        (file(&[setting("a", 13, &[0; 8])], &[]), "a setting is of type 13, which does not exist"),
        (file(&[setting("a", 0, &[0]), setting("a", 0, &[0])], &[]), "the setting 'a' occurs twice"),
        (file(&[setting("a\u{1b}", 0, &[0]), setting("a\u{1b}", 0, &[0])], &[]), "the setting 'a\\u{1b}' occurs twice"),
        (file(&[setting("a", 7, &[2])], &[]), "2 is not a boolean"),
        (file(&[setting("a", 8, &u64::MAX.to_le_bytes())], &[]), "the file ends within its header"),
        (file(&[setting("a", 8, &1000u64.to_le_bytes())], &[]), "the file ends within its header"),
        (file(&[setting("a", 9, &array(0, u64::MAX, &[]))], &[]), "items of an array do not fit into"),
        (file(&[setting("a", 9, &array(10, 1 << 61, &[]))], &[]), "items of an array do not fit into"),
        (file(&[setting("a", 9, &array(8, 1000, &[]))], &[]), "items of an array do not fit into"),
        (file(&[setting("a", 9, &array(77, 1, &[0; 8]))], &[]), "a setting is of type 77"),
        (file(&[setting("a", 9, &deep())], &[]), "arrays are nested more than 16 deep"),
        (file(&[setting("general.alignment", 4, &[0; 4])], &[]), "not a power of two"),
        (file(&[setting("general.alignment", 4, &[24, 0, 0, 0])], &[]), "not a power of two"),
        (file(&[setting("general.alignment", 10, &[32, 0, 0, 0, 0, 0, 0, 0])], &[]), "not a power of two"),
        (
            file(&[setting("general.alignment", 4, &[0, 0, 0, 128])], &[tensor("w", &[4], F32, 0)]),
            "does not lie within",
        ),
        // Names.
        (file(&[], &[tensor("w", &[4], F32, 0), tensor("w", &[4], F32, 32)]), "the tensor 'w' occurs twice"),
        (file(&[], &[[&2u64.to_le_bytes(), &b"\xff\xfe"[..], &[0; 24]].concat()]), "is not UTF-8"),
        (file(&[], &[[&u64::MAX.to_le_bytes()[..], &[0; 24]].concat()]), "the file ends within its header"),
        // Sizes.
        (weight(&[1, 1, 1, 1, 1], F32, 0), "has 5 dimensions; at most 4 are possible"),
        (weight(&[u64::MAX], F32, 0), "has an invalid size"),
        (weight(&[1 << 62, 2], F32, 0), "has invalid sizes"),
        (weight(&[1 << 62], F32, 0), "has invalid sizes"),
        (weight(&[1 << 33, 1 << 33], Q4_0, 0), "has invalid sizes"),
        (weight(&[i64::MAX as u64 - 31, 0], Q8_0, 0), "has invalid sizes"),
        (weight(&[33], Q4_0, 0), "has rows of 33 elements, which is not a multiple of the 32 of a Q4_0 block"),
        (weight(&[16, 2], Q4_0, 0), "has rows of 16 elements"),
        (weight(&[], Q4_0, 0), "has rows of 1 elements"),
        (weight(&[33], F32, 0), "the data of 'w' does not lie within the"),
        (weight(&[1 << 60], Q4_0, 0), "the data of 'w' does not lie within the"),
        // Places.
        (weight(&[4], F32, 16), "begins at byte 16 of the data, which is not a multiple of the alignment of 32"),
        (weight(&[4], F32, 128), "does not lie within"),
        (weight(&[4], F32, 1 << 63), "does not lie within"),
        (weight(&[4], F32, u64::MAX - 31), "does not lie within"),
        (weight(&[4], 99, 1 << 40), "does not lie within"),
        (file(&[], &[tensor("v", &[9], F32, 0), tensor("w", &[4], F32, 32)]), "the data of 'v' and 'w' overlap"),
        (file(&[], &[tensor("v", &[4], F32, 32), tensor("w", &[4], F32, 32)]), "the data of 'v' and 'w' overlap"),
    ] {
        refused(&bytes, ErrorKind::ValueError, part);
        assert!(files::contents(&source(&bytes)).is_err());
    }
    // A tensor without elements cannot overlap, or extend beyond the file.
    assert!(load_bytes(&file(&[], &[tensor("v", &[0], F32, 32), tensor("w", &[4], F32, 32)])).is_ok());
    // Its sizes are valid as long as they fit in a number of bytes.
    for kind in [F32, Q8_0] {
        for sizes in [&[1 << 60, 0][..], &[0, 1 << 62], &[1 << 60, 1 << 60, 1 << 60, 0], &[0, 1 << 62, 1 << 62]] {
            if let Ok(value) = load_bytes(&weight(sizes, kind, 0)) {
                describe(&value);
            }
        }
    }
    // A single number has no dimensions.
    assert!(load_bytes(&weight(&[], F32, 0)).is_ok());
}

/// A vocabulary of a million words is skipped, not stored.
#[test]
fn long_arrays_are_shortened() {
    let words = b"\x02\0\0\0\0\0\0\0ab".repeat(1_000_000);
    let array = [&8u32.to_le_bytes()[..], &1_000_000u64.to_le_bytes(), &words].concat();
    let long = "x".repeat(100_000);
    let bytes = made(&[setting("words", 9, &array), setting("long", 8, &text(&long))], &[], 0).bytes();
    let file = source(&bytes);
    let contents = within(500, "a vocabulary", || files::contents(&file).unwrap());
    let words = "['ab', 'ab', 'ab', 'ab', 'ab', 'ab', 'ab', 'ab', … (1000000 in all)]";
    assert_eq!(contents.metadata.get("words").map(String::as_str), Some(words));
    assert!(contents.metadata["long"].ends_with("x… (100000 bytes)"));
    // Ctrl-C ends the reading.
    let flag = Interrupt::default();
    interrupt::watch(&flag);
    flag.set();
    let error = files::gguf::header(&file).unwrap_err();
    flag.clear();
    assert_eq!(error.kind, ErrorKind::KeyboardInterrupt);
}
