//! docs/reference.md lists the function table as it is.

use std::fs;
use std::path::Path;

#[test]
fn the_reference_lists_every_function() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/reference.md");
    let page = tensorsh::torch::library::reference::page();
    if std::env::var_os("UPDATE_REFERENCE").is_some() {
        fs::write(&path, page).expect("docs/ can be written to");
        return;
    }
    let written = fs::read_to_string(&path).unwrap_or_default();
    let differs = page.lines().zip(written.lines()).find(|(now, then)| now != then);
    assert!(page == written, "docs/reference.md is stale; run scripts/house/reference\nfirst difference: {differs:#?}");
}
