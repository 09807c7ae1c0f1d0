//! Tests the files that `html` and `svg` write in a browser, at three widths and in both themes, with pointer, keyboard
//! and screen reader. Needs Chromium, so `scripts/house/check` runs this test only if it is installed.

#[path = "pages/browser.rs"]
mod browser;

use std::path::{Path, PathBuf};
use std::process::Command;

use browser::Browser;
use serde_json::{Value, json};

const LOOK: &str = include_str!("pages/look.js");

/// Returns the files that the script of pictures writes, in order.
fn written(folder: &Path) -> Vec<PathBuf> {
    let status = Command::new(env!("CARGO_BIN_EXE_tensorsh"))
        .current_dir(folder)
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pages/pictures.rhai"))
        .status()
        .unwrap();
    assert!(status.success());
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

fn sentences(value: &Value) -> Vec<String> {
    value.as_array().unwrap().iter().map(|text| text.as_str().unwrap().to_owned()).collect()
}

#[test]
#[ignore = "needs Chromium"]
fn pages_are_read_seen_and_walked_through() {
    let folder = tempfile::tempdir().unwrap();
    let files = written(folder.path());
    assert!(files.len() > 50, "{files:?}");
    let mut browser = Browser::start();
    let (mut faults, mut walked) = (Vec::new(), 0);
    for file in &files {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        let is_page = name.ends_with(".html");
        browser.open(file);
        browser.value(LOOK);
        for width in [400, 800, 1600] {
            // Positions do not depend on the theme. A standalone picture has its own width.
            let light = if is_page { ["contrast", "places", "width"].as_slice() } else { &["contrast", "places"] };
            for (theme, looks) in [("light", light), ("dark", &["contrast"])] {
                browser.show(width, theme);
                for look in looks {
                    let found = sentences(&browser.value(&format!("look.{look}()")));
                    faults.extend(found.into_iter().map(|fault| format!("{name}, {width}, {theme}: {fault}")));
                }
            }
        }
        let mut found = sentences(&browser.value("look.names()"));
        found.extend(heard(&mut browser));
        found.extend(complaints(&mut browser, file));
        browser.show(if is_page { 400 } else { 1600 }, "light");
        let cells = browser.value("look.cells()");
        if cells.as_array().is_some_and(|cells| !cells.is_empty()) {
            walked += 1;
            found.extend(pointed_at(&mut browser, &cells));
            found.extend(walked_through(&mut browser, &cells));
        }
        found.extend(complaints(&mut browser, file));
        faults.extend(found.into_iter().map(|fault| format!("{name}: {fault}")));
    }
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
    assert!(walked >= 20, "only {walked} files have cells");
}

/// Returns the browser's complaints: script errors, and requests for anything other than the file.
fn complaints(browser: &mut Browser, file: &Path) -> Vec<String> {
    let own = format!("file://{}", file.display());
    let complaint = |event: &Value| match event["method"].as_str()? {
        "Runtime.exceptionThrown" | "Runtime.consoleAPICalled" | "Log.entryAdded" => Some(event.to_string()),
        "Network.requestWillBeSent" => {
            let asked = event["params"]["request"]["url"].as_str()?;
            (asked != own).then(|| format!("asks the network for {asked}"))
        }
        _ => None,
    };
    browser.events().iter().filter_map(complaint).collect()
}

/// Returns the elements for which a screen reader has no text.
fn heard(browser: &mut Browser) -> Vec<String> {
    let tree = browser.ask("Accessibility.getFullAXTree", json!({}));
    let nodes = tree["nodes"].as_array().unwrap();
    let is_heard = |node: &&Value| {
        let role = node["role"]["value"].as_str().unwrap_or_default();
        node["ignored"] == false && ["image", "img", "group", "region", "graphics-document"].contains(&role)
    };
    let heard: Vec<&Value> = nodes.iter().filter(is_heard).collect();
    let mute = heard.iter().filter(|node| node["name"]["value"].as_str().unwrap_or_default().is_empty());
    mute.map(|node| format!("nothing to hear of {}", node["role"])).collect()
}

/// Points at cells from first to last. All elements about the same cell of the storage must be highlighted, and no
/// others.
fn pointed_at(browser: &mut Browser, cells: &Value) -> Vec<String> {
    let cells = cells.as_array().unwrap();
    let mut faults = Vec::new();
    for here in cells.iter().step_by(cells.len().div_ceil(8)) {
        let middle = browser.value(&format!("look.middle({})", here["i"]));
        browser.point_at([middle[0].as_f64().unwrap(), middle[1].as_f64().unwrap()]);
        let wanted: Vec<&Value> = cells.iter().filter(|cell| cell["at"] == here["at"]).map(|cell| &cell["i"]).collect();
        let marked = browser.value("look.marked()");
        if json!(wanted) != marked {
            faults.push(format!("pointing at {here} marks {marked}, not {wanted:?}"));
        }
    }
    faults.extend(sentences(&browser.value("look.contrast()")));
    browser.point_at([0.0, 0.0]);
    if browser.value("look.marked()") != json!([]) {
        faults.push("what was pointed at stays marked".to_owned());
    }
    faults
}

/// Reaches the cells by Tab and continues with arrow keys: right and left in order, down and up to the adjacent row.
fn walked_through(browser: &mut Browser, cells: &Value) -> Vec<String> {
    let cells = cells.as_array().unwrap();
    let is_stop = |cell: &&Value| cell["stop"] == true;
    let stops: Vec<&Value> = cells.iter().filter(is_stop).map(|cell| &cell["i"]).collect();
    let (mut faults, mut astray) = (Vec::new(), Vec::new());
    // Presses a key. The focused element must be visible, described and highlighted, with all elements about the same
    // cell.
    let mut pressed = |browser: &mut Browser, key: &str, wanted: Option<&Value>| {
        browser.press(key);
        let focus = browser.value("look.focus()");
        if wanted.is_some_and(|wanted| focus["i"] != *wanted) {
            faults.push(format!("{key} leads to {focus}, not to {wanted:?}"));
        }
        if focus["seen"] != true {
            faults.push(format!("{focus} cannot be seen, reached by {key}"));
        }
        if !focus["told"].is_null() && focus["told"] != focus["name"] {
            faults.push(format!("{focus} is told otherwise"));
        }
        let at = cells.iter().find(|cell| cell["i"] == focus["i"]).map(|cell| &cell["at"]);
        let wanted: Vec<&Value> = cells.iter().filter(|cell| Some(&cell["at"]) == at).map(|cell| &cell["i"]).collect();
        if json!(wanted) != focus["marked"] {
            faults.push(format!("{key} marks {}, not {wanted:?}", focus["marked"]));
        }
        focus
    };
    // Scrolling boxes may be earlier Tab stops.
    let mut focus = Value::Null;
    for _ in 0..20 {
        focus = pressed(browser, "Tab", None);
        if !focus["i"].is_null() {
            break;
        }
    }
    let Some((first, others)) = stops.split_first().filter(|(first, _)| ***first == focus["i"]) else {
        return vec![format!("Tab leads to {focus}, and no first cell")];
    };
    // To the last cell and beyond, then back.
    for stop in others.iter().chain(others.last()) {
        pressed(browser, "ArrowRight", Some(stop));
    }
    for stop in others.iter().rev().skip(1).chain([first, first]) {
        pressed(browser, "ArrowLeft", Some(stop));
    }
    // Down row by row to the lowest, and back up to the start.
    let mut column = vec![focus];
    loop {
        let below = pressed(browser, "ArrowDown", None);
        let last = &column[column.len() - 1];
        if below["i"] == last["i"] {
            break;
        }
        if below["top"].as_f64() <= last["top"].as_f64() {
            astray.push(format!("{below} is not below {last}"));
            break;
        }
        column.push(below);
    }
    while column.len() > 1 {
        let lower = column.pop();
        let above = pressed(browser, "ArrowUp", None);
        if above["top"].as_f64() >= lower.and_then(|lower| lower["top"].as_f64()) {
            astray.push(format!("{above} is not above"));
        }
    }
    faults.extend(astray);
    faults
}
