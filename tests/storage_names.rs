//! docs/storage.md gives the state of every name on PyTorch's pages about storages. This test reads its tables: no name
//! may be missing, and none may be listed that tensorsh does not know.

use std::collections::BTreeSet;
use tensorsh::call::Receiver;
use tensorsh::call::signature::Kind;
use tensorsh::session::{Language, Session, SessionOptions};
use tensorsh::torch::library::registry;

/// The public names of `torch.UntypedStorage` in PyTorch 2.7.0, as `dir()` lists them.
const UNTYPED: &str = "bfloat16 bool byte byteswap char clone complex_double complex_float copy_ cpu cuda data_ptr device \
    double element_size filename fill_ float float8_e4m3fn float8_e4m3fnuz float8_e5m2 float8_e5m2fnuz from_buffer \
    from_file get_device half hpu int is_cuda is_hpu is_pinned is_shared is_sparse is_sparse_csr long mps nbytes new \
    pin_memory resizable resize_ share_memory_ short size to tolist type untyped";

/// The public names of `torch.TypedStorage`, with `dtype`, which its objects and the legacy classes have.
const TYPED: &str = "bfloat16 bool byte char clone complex_double complex_float copy_ cpu cuda data_ptr device double dtype \
    element_size filename fill_ float float8_e4m3fn float8_e4m3fnuz float8_e5m2 float8_e5m2fnuz from_buffer from_file \
    get_device half hpu int is_cuda is_hpu is_pinned is_shared is_sparse long nbytes pickle_storage_type pin_memory \
    resizable resize_ share_memory_ short size to tolist type untyped";

/// The classes and functions on the pages.
const CLASSES: &str = "UntypedStorage TypedStorage DoubleStorage FloatStorage HalfStorage LongStorage IntStorage \
    ShortStorage CharStorage ByteStorage BoolStorage BFloat16Storage ComplexDoubleStorage ComplexFloatStorage \
    QUInt8Storage QInt8Storage QInt32Storage QUInt4x2Storage QUInt2x4Storage Storage frombuffer from_file";

/// Returns the names in the first column of the table below a heading. Each must have a state.
fn listed(heading: &str) -> BTreeSet<String> {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/storage.md")).unwrap();
    let section = page.split(&format!("\n### {heading}\n")).nth(1).unwrap_or_else(|| panic!("no section {heading}"));
    let rows = section.lines().take_while(|line| !line.starts_with('#')).filter(|line| line.starts_with("| `"));
    rows.map(|row| {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        assert!(cells.len() == 2 && !cells[1].is_empty(), "{row}: a name and its state");
        cells[0].trim_matches('`').trim_start_matches("torch.").to_string()
    })
    .collect()
}

fn names(text: &str) -> BTreeSet<String> {
    text.split_whitespace().map(str::to_string).collect()
}

/// Returns the names that the function table offers for a class, without those used only by Python's own machinery.
fn offered(kind: Kind, class: &'static str) -> BTreeSet<String> {
    let registry = registry();
    let all = registry.names(Receiver::Class(kind)).into_iter().chain(registry.names(Receiver::Module(class)));
    // `is_shared_` is Rhai's name for `is_shared`.
    all.filter(|name| !name.starts_with('_') && *name != "is_shared_").map(str::to_string).collect()
}

fn is_true(expression: &str) -> bool {
    Session::new(SessionOptions::default()).eval(Language::Python, expression).text.trim() == "True"
}

#[test]
fn every_name_of_the_pages_has_a_state() {
    assert_eq!(listed("torch.UntypedStorage"), names(UNTYPED));
    assert_eq!(listed("torch.TypedStorage and the legacy classes"), names(TYPED));
    assert_eq!(listed("Classes and functions"), names(CLASSES));
    assert_eq!(listed("torch.frombuffer"), names("buffer dtype count offset requires_grad"));
}

#[test]
fn every_name_in_the_tables_exists() {
    for (heading, object) in [
        ("torch.UntypedStorage", "torch.UntypedStorage(4)"),
        ("torch.TypedStorage and the legacy classes", "torch.FloatStorage(1)"),
        ("Classes and functions", "torch"),
    ] {
        for name in listed(heading) {
            assert!(is_true(&format!("hasattr({object}, '{name}')")), "{object} has no {name}");
        }
    }
    for class in names(CLASSES).into_iter().filter(|name| name.ends_with("Storage")) {
        for name in listed("torch.TypedStorage and the legacy classes") {
            let here = class != "UntypedStorage" && (class != "TypedStorage" || name != "dtype");
            assert!(!here || is_true(&format!("hasattr(torch.{class}, '{name}')")), "torch.{class} has no {name}");
        }
    }
}

#[test]
fn every_name_of_the_function_table_is_in_the_tables() {
    assert_eq!(offered(Kind::UntypedStorage, "UntypedStorage"), names(UNTYPED));
    assert_eq!(offered(Kind::TypedStorage, "TypedStorage"), names(TYPED));
}
