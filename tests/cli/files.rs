//! `tensorsh inspect`, `diff` and `convert`: their options, exit status, and what they leave behind.

use super::{out, run, run_here};
use std::fs;

#[test]
fn inspect_tells_what_is_in_a_file() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/files/rows.npy");
    let (status, text, errors) = run_here(&["inspect", file], b"");
    assert_eq!((status, errors.as_str()), (0, ""));
    assert!(text.ends_with("1 tensor on 1 storage of 48 bytes\n"), "{text}");
    let (status, text, _) = run_here(&["inspect", "--json", file], b"");
    assert!(status == 0 && text.starts_with("{\n") && text.contains("\"file_offset\": 128"), "{text}");
    let (status, _, errors) = run_here(&["inspect", "no.pt"], b"");
    let missing = "no.pt: FileNotFoundError: [Errno 2] No such file or directory: 'no.pt'\n";
    assert_eq!((status, errors.as_str()), (1, missing));
    // Standard input is treated like a file, and a fault names its file.
    let bytes = fs::read(file).unwrap();
    let (status, text, errors) = run_here(&["inspect", "-"], &bytes);
    assert!(status == 0 && text.starts_with("standard input: "), "{text}{errors}");
    let (status, _, errors) = run_here(&["inspect", file, "-"], b"\x80\x02nothing");
    assert!(status == 1 && errors.starts_with("-: ") && !errors.contains('\x1b'), "{errors}");
    let mixed = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/files/mixed.pt");
    let (status, text, errors) = run_here(&["inspect", mixed], b"");
    assert_eq!((status, errors.as_str()), (0, ""));
    assert!(text.contains("\nnot executed: ") && !text.contains('\x1b'), "{text}");
}

#[test]
fn diff_ends_with_what_it_found() {
    let file = |name: &str| format!("{}/tests/files/{name}", env!("CARGO_MANIFEST_DIR"));
    let (rows, columns, scalar) = (file("rows.npy"), file("columns.npy"), file("scalar.npy"));
    let (status, text, errors) = run_here(&["diff", &rows, &columns], b"");
    assert_eq!((status, errors.as_str()), (0, ""));
    assert!(text.ends_with("\n1 tensor equal\n"), "{text}");
    let (status, text, _) = run_here(&["diff", "--json", &rows, &scalar], b"");
    assert!(status == 1 && text.contains("\"is_equal\": false"), "{text}");
    let (status, text, errors) = run_here(&["diff", &rows, "no.npy"], b"");
    let missing = "no.npy: FileNotFoundError: [Errno 2] No such file or directory: 'no.npy'\n";
    assert_eq!((status, text.as_str(), errors.as_str()), (2, "", missing));
    let bytes = fs::read(&rows).unwrap();
    assert_eq!(run_here(&["diff", "-", &columns], &bytes).0, 0);
    for wrong in [&["diff", &rows][..], &["diff", "--tolerance", "-1", &rows, &rows], &["diff", &rows, &rows, &rows]] {
        assert_eq!(run_here(wrong, b"").0, 2);
    }
    assert_eq!(run_here(&["diff", "-", "-"], &bytes).0, 2, "standard input can be read once");
}

#[test]
fn convert_writes_the_other_file_or_none() {
    let file = |name: &str| format!("{}/tests/files/{name}", env!("CARGO_MANIFEST_DIR"));
    let folder = tempfile::tempdir().unwrap();
    let (rows, views) = (file("rows.npy"), file("views.pt"));
    assert_eq!(run(folder.path(), &["convert", &rows, "x.safetensors"], b""), out(""));
    assert_eq!(run(folder.path(), &["diff", &rows, "x.safetensors"], b"").0, 0);
    assert_eq!(run(folder.path(), &["convert", "--dtype", "bfloat16", "x.safetensors", "x.pt"], b""), out(""));
    fs::write(folder.path().join("old.npz"), b"old").unwrap();
    let (status, _, errors) = run(folder.path(), &["convert", &views, "old.npz"], b"");
    assert!(status == 1 && errors.starts_with(&views), "{errors}");
    assert_eq!(fs::read(folder.path().join("old.npz")).unwrap(), b"old");
    assert_eq!(run(folder.path(), &["convert", "--dtype", "int", &rows, "y.pt"], b"").0, 1);
    let (status, _, errors) = run(folder.path(), &["convert", "--dtype", "bf16", &rows, "y.pt"], b"");
    assert!(status == 1 && errors.contains("bfloat16"), "{errors}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3);
    for (size, is_one) in
        [("2GB", true), ("0.5 MiB", true), ("24", true), ("", false), ("0", false), ("2TB", false), ("-1", false)]
    {
        let status = run(folder.path(), &["convert", &format!("--shard-size={size}"), &rows, "z.safetensors"], b"").0;
        assert_eq!(status, if is_one { 0 } else { 2 }, "{size}");
    }
    for wrong in [
        &["convert", "--rename", "a", &rows, "y.pt"][..],
        &["inspect", "--json", "--tree", &rows],
        &["inspect", "--sort", "colour", &rows],
        &["diff", "--json", "--stat", &rows, &rows],
    ] {
        assert_eq!(run(folder.path(), wrong, b"").0, 2, "{wrong:?}");
    }
}
