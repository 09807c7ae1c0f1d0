//! Tests a page without a browser: requests, their answers, and the events in between. Each row of a session is a
//! request; values in the answer and in the events are looked up by JSON pointers.

#[path = "web_page/teaching.rs"]
mod teaching;

use serde_json::{Value, json};
use std::cell::RefCell;
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use tempfile::TempDir;
use tensorsh::web::{Files, Page};

/// A folder as the files of a page.
struct Folder(PathBuf);

impl Files for Folder {
    fn list(&self) -> Vec<(String, usize)> {
        let entries = fs::read_dir(&self.0).unwrap().map(|entry| entry.unwrap());
        let file = |entry: fs::DirEntry| {
            (entry.path().display().to_string(), usize::try_from(entry.metadata().unwrap().len()).unwrap())
        };
        let mut files: Vec<_> = entries.map(file).collect();
        files.sort();
        files
    }

    fn remove(&self, name: &str) -> Result<(), String> {
        fs::remove_file(name).map_err(|error| error.to_string())
    }

    fn run_in_background(&self, _: Arc<AtomicBool>, work: &mut dyn FnMut(&Path)) -> Result<(), String> {
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        work(folder.path());
        Ok(())
    }
}

struct Visit {
    page: Page,
    events: Rc<RefCell<Vec<Value>>>,
    folder: TempDir,
}

impl Visit {
    fn new() -> Visit {
        tensorsh::provide_texts();
        let (events, folder): (Rc<RefCell<Vec<Value>>>, _) = (Rc::default(), tempfile::tempdir().unwrap());
        let heard = Rc::clone(&events);
        let listener = move |event: &str| heard.borrow_mut().push(serde_json::from_str(event).unwrap());
        let page = Page::new(listener, Rc::new(Folder(folder.path().to_owned())));
        Visit { page, events, folder }
    }

    /// Sends a request. Returns the answer, and the events meanwhile.
    fn ask(&mut self, request: Value) -> (Value, Vec<Value>) {
        let answer = serde_json::from_str(&self.page.answer(&request.to_string())).unwrap();
        (answer, self.events.take())
    }

    fn answer(&mut self, request: Value) -> Value {
        self.ask(request).0
    }

    /// Runs an entry, and returns its events.
    fn run(&mut self, language: &str, source: &str) -> Vec<Value> {
        self.ask(json!({ "ask": "run", "language": language, "source": source })).1
    }

    /// Runs an entry, and returns its output and messages as one text.
    fn shown(&mut self, language: &str, source: &str) -> String {
        text(&self.run(language, source))
    }
}

fn text(events: &[Value]) -> String {
    events.iter().filter_map(|event| event["text"].as_str()).collect()
}

/// Returns the events of one kind.
fn of<'e>(events: &'e [Value], kind: &str) -> Vec<&'e Value> {
    events.iter().filter(|event| event["event"] == kind).collect()
}

#[test]
fn an_entry_prints_what_a_terminal_shows() {
    let mut visit = Visit::new();
    let rows = [
        ("python", "x = torch.arange(6).view(2, 3)", ""),
        ("python", "x", "tensor([[0, 1, 2],\n        [3, 4, 5]])\n"),
        ("python", "x.t()[:, 0]", "tensor([0, 1, 2])\n"),
        ("rhai", "let n = x.sum(); n", "tensor(15)\n"),
        ("rhai", "print(1 + 1)", "2\n"),
        ("python", "for i in range(2):\n    i\n", "0\n1\n"),
        ("python", "x.fill_(7)", "tensor([[7, 7, 7],\n        [7, 7, 7]])\n"),
        (
            "python",
            ":vars",
            "name  type   size    stride  offset  storage  bytes  shared with\n\
             x     int64  [2, 3]  [3, 1]       0  #1          48\n\
             n     int64  []      []           0  #2           8\n\
             i     int 1\n\
             _     int64  [2, 3]  [3, 1]       0  #1          48  x\n\
             __    int 1\n\
             ___   int 0\n",
        ),
        ("python", ":undo", "Undone: `x.fill_(7)`. `x` is as before."),
        ("python", "x[0]", "tensor([0, 1, 2])\n"),
        ("python", ":nothing", "there is no command :nothing; :help lists the commands"),
    ];
    for (language, source, wanted) in rows {
        assert_eq!(visit.shown(language, source), wanted, "{source}");
    }
    let help = visit.shown("python", "?transpose");
    assert!(help.contains("Swaps two dimensions"), "{help}");
}

#[test]
fn text_says_what_it_is() {
    let mut visit = Visit::new();
    let events = visit.run("python", "torch.tensor([1, 2], dtype=torch.int8)");
    let roles: Vec<_> =
        events.iter().map(|event| (event["role"].as_str().unwrap(), text(std::slice::from_ref(event)))).collect();
    let wanted = [
        ("plain", "tensor(["),
        ("number", "1"),
        ("plain", ", "),
        ("number", "2"),
        ("plain", "], "),
        ("keyword", "dtype="),
        ("dtype", "torch.int8"),
        ("plain", ")"),
        ("plain", "\n"),
    ];
    assert_eq!(roles, wanted.map(|(role, text)| (role, text.to_owned())));
}

#[test]
fn an_entry_says_how_it_goes_on() {
    let mut visit = Visit::new();
    let run = |language, source| json!({ "ask": "run", "language": language, "source": source });
    let rows = [
        (run("python", "1"), json!({ "unfinished": null, "exit": null, "language": "python" })),
        (run("python", ":rhai"), json!({ "unfinished": null, "exit": null, "language": "rhai" })),
        (run("rhai", ">>> 1 + 1"), json!({ "unfinished": null, "exit": null, "language": "rhai" })),
        (run("rhai", "exit(3)"), json!({ "unfinished": null, "exit": 3, "language": "rhai" })),
        (run("python", "quit()"), json!({ "unfinished": null, "exit": 0, "language": "python" })),
        (
            run("rhai", ">>> a = 1\n>>> print(\"open\","),
            json!({ "unfinished": { "language": "python", "source": "print(\"open\"," }, "exit": null, "language": "rhai" }),
        ),
    ];
    for (request, wanted) in rows {
        assert_eq!(visit.answer(request.clone()), wanted, "{request}");
    }
}

#[test]
fn a_pasted_page_is_run_statement_by_statement() {
    let mut visit = Visit::new();
    let page = ">>> x = torch.ones(2)\n>>> x\ntensor([9., 9.])\n>>> x.view(3)\nTraceback (most recent call last):\n\
                RuntimeError: something\n\nProse.\n\nrhai> x.sum()\ntensor(2.)\n";
    let events = visit.run("rhai", page);
    let inputs: Vec<_> = of(&events, "input").iter().map(|e| (&e["language"], &e["source"])).collect();
    assert_eq!(
        json!(inputs),
        json!([["python", "x = torch.ones(2)"], ["python", "x"], ["python", "x.view(3)"], ["rhai", "x.sum()"]])
    );
    let text = text(&events);
    assert!(text.starts_with("tensor([1., 1.])\nRuntimeError: shape '[3]' is invalid"), "{text}");
    assert!(text.ends_with("tensor(2.)\n"), "{text}");
    let checked = visit.shown("rhai", ":check");
    assert!(checked.ends_with("2 outputs match, 2 differ (- recorded, + printed)\n"), "{checked}");
}

#[test]
fn a_failure_has_its_place() {
    let mut visit = Visit::new();
    visit.run("python", "def f(t):\n    return t.view(9)\n");
    let rows = [
        // The column counts UTF-16 units from 0.
        ("x = 1\n'🚀' + torch.ones(2).view(7)", json!(["RuntimeError", 2, 21])),
        ("torch.nul", json!(["AttributeError", 1, 6])),
        // The fault is in an earlier input.
        ("f(torch.ones(2))", json!(["RuntimeError", null, null])),
        ("1 +", json!(["SyntaxError", 1, 3])),
    ];
    for (source, wanted) in rows {
        let events = visit.run("python", source);
        let [error] = of(&events, "error")[..] else { panic!("{source}: {events:?}") };
        assert_eq!(json!([error["kind"], error["line"], error["column"]]), wanted, "{source}: {error}");
    }
    let events = visit.run("python", "torch.zeroes(2)");
    let error = of(&events, "error")[0];
    assert_eq!(error["hint"], "did you mean 'zeros'?");
    let text = "AttributeError: module 'torch' has no attribute 'zeroes'\n    torch.zeroes(2)\n          ^^^^^^\n\
                hint: did you mean 'zeros'?";
    assert_eq!(error["text"], text);
}

#[test]
fn warnings_and_notes_come_before_what_follows_them() {
    let mut visit = Visit::new();
    let events = visit.run("python", "torch.ones(2, 2, 2).T");
    let kinds: Vec<_> = events.iter().map(|event| event["event"].as_str().unwrap()).collect();
    assert_eq!(kinds.first(), Some(&"warning"), "{events:?}");
    assert!(text(&events[..1]).starts_with("UserWarning: The use of `x.T`"), "{events:?}");
    let events = visit.run("rhai", "7 // 2");
    assert_eq!(of(&events, "note").len(), 1, "{events:?}");
}

#[test]
fn what_is_typed_is_assisted() {
    let mut visit = Visit::new();
    visit.run("python", "größe = torch.ones(3)");
    let rows = [
        (json!({ "ask": "complete?", "language": "python", "source": "f(" }), "/state", json!("incomplete")),
        (json!({ "ask": "complete?", "language": "python", "source": "f()" }), "/state", json!("complete")),
        (json!({ "ask": "complete?", "language": "python", "source": "f)" }), "/state", json!("invalid")),
        (json!({ "ask": "complete?", "language": "python", "source": ":time f(" }), "/state", json!("complete")),
        (
            json!({ "ask": "highlight", "language": "python", "source": "not '🚀'" }),
            "/pieces",
            json!([["keyword", 3], ["plain", 1], ["text", 4]]),
        ),
        (json!({ "ask": "highlight", "language": "rhai", "source": ":vars" }), "/pieces", json!([["plain", 5]])),
        (json!({ "ask": "complete", "language": "python", "source": "'🚀', grö", "at": 9 }), "/start", json!(6)),
        (
            json!({ "ask": "complete", "language": "python", "source": "'🚀', grö", "at": 9 }),
            "/candidates/0/text",
            json!("größe"),
        ),
        (
            json!({ "ask": "complete", "language": "python", "source": ":unde", "at": 4 }),
            "/candidates/0/text",
            json!(":undo"),
        ),
        (
            json!({ "ask": "signature", "language": "python", "source": "torch.transpose(x, ", "at": 19 }),
            "/usages/0",
            json!("transpose(input, dim0, dim1)"),
        ),
        (json!({ "ask": "signature", "language": "python", "source": "x", "at": 1 }), "/usages", json!([])),
        (json!({ "ask": "help", "topic": " " }), "/text", json!(null)),
    ];
    for (request, pointer, wanted) in rows {
        let answer = visit.answer(request.clone());
        assert_eq!(answer.pointer(pointer), Some(&wanted), "{request}: {answer}");
    }
    let help = visit.answer(json!({ "ask": "help", "topic": "größe" }));
    assert!(help["text"].as_str().unwrap().starts_with("größe: "), "{help}");
}

#[test]
fn variables_are_listed_by_storage() {
    let mut visit = Visit::new();
    visit.run("python", "x = torch.zeros(2, 3)\ny = x[1]\ns = x.untyped_storage()\nn = 3");
    let answer = visit.answer(json!({ "ask": "variables" }));
    let storage = &answer["storages"][0];
    assert_eq!((&storage["label"], &storage["nbytes"]), (&json!("#1"), &json!(24)));
    assert!(storage["picture"].as_str().unwrap().starts_with("<svg"));
    let wanted = json!([
        { "name": "x", "type": "float32", "size": [2, 3], "stride": [3, 1], "offset": 0, "bytes": 24 },
        { "name": "y", "type": "float32", "size": [3], "stride": [1], "offset": 3, "bytes": 12 },
        { "name": "s", "type": "UntypedStorage", "size": null, "stride": null, "offset": null, "bytes": 24 },
    ]);
    assert_eq!(storage["variables"], wanted);
    assert_eq!(answer["others"], json!([{ "name": "n", "type": "int", "value": "int 3" }]));
    assert_eq!(visit.answer(json!({ "ask": "restart" })), json!({}));
    assert_eq!(visit.answer(json!({ "ask": "variables" })), json!({ "storages": [], "others": [] }));
}

#[test]
fn arrays_are_listed_and_drawn_beside_tensors() {
    let mut visit = Visit::new();
    visit.run("python", "import numpy as np\na = np.arange(4, dtype=np.int32)\nt = torch.from_numpy(a)\nr = a[::-2]");
    let answer = visit.answer(json!({ "ask": "variables" }));
    let wanted = json!([
        { "name": "a", "type": "int32", "size": [4], "stride": [4], "offset": 0, "bytes": 16, "unit": "bytes" },
        { "name": "t", "type": "int32", "size": [4], "stride": [1], "offset": 0, "bytes": 16 },
        { "name": "r", "type": "int32", "size": [2], "stride": [-8], "offset": 12, "bytes": 8, "unit": "bytes" },
    ]);
    assert_eq!(answer["storages"][0]["variables"], wanted);
    assert!(answer["storages"][0]["picture"].as_str().unwrap().contains("bytes 4..16"), "{answer}");
}

#[test]
fn a_layout_is_turned_by_hand() {
    let mut visit = Visit::new();
    visit.run("python", "x = torch.arange(6, dtype=torch.float32).view(2, 3)");
    let drawn = visit.run("python", "explain(x)");
    let picture = of(&drawn, "picture")[0];
    assert_eq!(picture["turns"], true);
    let mut last = json!({});
    let mut turn = |visit: &mut Visit, what: Value| {
        let mut request = json!({
            "ask": "turn", "id": picture["id"], "language": "python", "panel": last["panel"], "state": last["state"],
        });
        request.as_object_mut().unwrap().extend(what.as_object().unwrap().clone());
        let (answer, events) = visit.ask(request);
        last = answer.clone();
        (answer, events)
    };
    let rows = [
        (json!({}), "/state", json!({ "size": [2, 3], "stride": [3, 1], "offset": 0, "dtype": "float32" })),
        (json!({ "change": ["stride", 0, 5] }), "/stopped", json!("stride 5 would reach cell 7; the storage has 6")),
        // A transpose, turned by hand.
        (json!({ "change": ["size", 1, 2] }), "/codes/0", json!("x[:, :2]")),
        (json!({ "change": ["stride", 0, 1] }), "/codes/0", json!("x.as_strided((2, 2), (1, 1), 0)")),
        (json!({ "change": ["size", 0, 3] }), "/stopped", json!(null)),
        (json!({ "change": ["stride", 1, 3] }), "/codes/0", json!("x.t()")),
        (json!({}), "/codes/1", json!("x.as_strided((3, 2), (1, 3), 0)")),
        (json!({}), "/order/3", json!([4, "[1, 1]: cell 0 + 1·1 + 1·3 = 4"])),
        (json!({ "language": "rhai" }), "/codes/0", json!("x.t()")),
        (json!({ "byte": 7 }), "/value", json!(63)),
        (json!({ "change": ["dtype", "int8"] }), "/state/dtype", json!("float32")),
        (json!({ "change": ["dtype", "none"] }), "/stopped", json!("this is not a change of a layout")),
        (json!({ "byte": 7, "set": 256 }), "/stopped", json!("a byte is from 0 to 255, not 256")),
        (json!({ "byte": 24, "set": 1 }), "/stopped", json!("there is no byte 24; the storage has 24")),
    ];
    for (what, pointer, wanted) in rows {
        let (answer, _) = turn(&mut visit, what.clone());
        assert_eq!(answer.pointer(pointer), Some(&wanted), "{what}: {answer}");
    }
    // A byte is written by an input of the session: what shows it is drawn again, and undo knows of it.
    let (answer, events) = turn(&mut visit, json!({ "byte": 7, "set": 64 }));
    assert_eq!((&answer["ran"], &answer["value"]), (&json!("x.untyped_storage()[7] = 64"), &json!(64)));
    let ids: Vec<_> = of(&events, "redrawn").iter().map(|event| &event["id"]).collect();
    assert_eq!(json!(ids), json!([answer["panel"], picture["id"]]));
    assert_eq!(visit.shown("python", "x[0, 1]"), "tensor(4.)\n");
    visit.run("python", ":undo");
    let undone = visit.run("python", ":undo");
    assert_eq!(of(&undone, "redrawn").len(), 2, "{undone:?}");
    assert_eq!(visit.shown("python", "x[0, 1]"), "tensor(1.)\n");
    // Without a variable the byte is written all the same, and an array walks backwards.
    let drawn = visit.run("python", "import numpy as np\nkeep = (np.arange(4, dtype=np.int16),)\nexplain(keep[0])");
    let id = &of(&drawn, "picture")[0]["id"];
    let ask =
        json!({ "ask": "turn", "id": id, "language": "python", "byte": 0, "set": 9, "change": ["stride", 0, -2] });
    let answer = visit.answer(ask);
    assert_eq!(answer["stopped"], "stride -2 would reach byte -6; the storage begins at 0", "{answer}");
    assert_eq!((&answer["ran"], &answer["value"], &answer["codes"]), (&json!(null), &json!(9), &json!([])));
    let bits = visit.run("python", "bits(1.0)");
    let refused = json!({ "refused": "this picture is no longer kept up to date; draw it again" });
    for id in [&of(&bits, "picture")[0]["id"], &json!(999)] {
        assert_eq!(visit.answer(json!({ "ask": "turn", "id": id, "language": "python" })), refused);
    }
    assert_eq!(
        visit.answer(json!({ "ask": "turn", "language": "python" }))["refused"],
        "this request needs a whole number \"id\""
    );
}

#[test]
fn what_is_no_request_is_refused() {
    let mut visit = Visit::new();
    let rows = [
        ("", "a request is JSON: EOF while parsing a value at line 1 column 0"),
        ("[]", "a request needs a string \"ask\""),
        (r#"{"ask":"fly"}"#, "there is no request \"fly\""),
        (r#"{"ask":"run","source":"1"}"#, "a request needs a string \"language\""),
        (r#"{"ask":"run","language":"c","source":"1"}"#, "a language is \"python\" or \"rhai\", not \"c\""),
        (r#"{"ask":"complete","language":"rhai","source":"1","at":-1}"#, "this request needs a whole number \"at\""),
    ];
    for (request, why) in rows {
        let answer: Value = serde_json::from_str(&visit.page.answer(request)).unwrap();
        assert_eq!(answer, json!({ "refused": why }), "{request}");
    }
}

#[test]
fn recorded_sessions_are_tested() {
    let mut visit = Visit::new();
    let source = "# A\n\n```pycon\n>>> 1 + 1\n2\n>>> 2 + 2\n5\n>>> 3  # doctest: +SKIP\n>>> exit()\n>>> 4\n4\n```\n";
    let answer = visit.answer(json!({ "ask": "test", "name": "a.md", "source": source }));
    let examples = answer.pointer("/report/files/0/sessions/0/examples").unwrap().as_array().unwrap();
    let verdicts: Vec<_> = examples.iter().map(|example| example["verdict"].as_str().unwrap()).collect();
    assert_eq!(verdicts, ["passed", "differs", "skipped", "passed", "broken"]);
    assert_eq!(answer.pointer("/report/files/0/file"), Some(&json!("a.md")));
    assert_eq!(answer.pointer("/report/totals/sessions/failed"), Some(&json!(1)));
}

#[test]
fn files_are_listed_inspected_and_removed() {
    let mut visit = Visit::new();
    let name = visit.folder.path().join("t.safetensors").display().to_string().replace('\\', "/");
    let entry = format!("from safetensors.torch import save_file\nsave_file({{'w': torch.ones(2)}}, '{name}')");
    assert_eq!(visit.shown("python", &entry), "");
    let files = visit.answer(json!({ "ask": "files" }));
    let listed = files.pointer("/files/0/name").and_then(|name| name.as_str()).unwrap_or_default();
    assert_eq!(listed.replace('\\', "/"), name, "{files}");
    let report = visit.answer(json!({ "ask": "inspect", "name": name }));
    assert!(report["text"].as_str().unwrap().contains("float32"), "{report}");
    assert_eq!(visit.answer(json!({ "ask": "remove", "name": name })), json!({}));
    assert_eq!(visit.answer(json!({ "ask": "files" })), json!({ "files": [] }));
    let refused = visit.answer(json!({ "ask": "inspect", "name": name }));
    assert!(refused["refused"].as_str().unwrap().starts_with(&name), "{refused}");
}

#[test]
fn the_session_is_written_down() {
    let mut visit = Visit::new();
    visit.run("python", "x = torch.ones(2)");
    visit.run("rhai", "let y = x + 1; y");
    let transcript = visit.answer(json!({ "ask": "transcript" }));
    let wanted = "# A session of tensorsh\n\n```pycon\n>>> x = torch.ones(2)\n```\n\n```rhai-session\n\
                  rhai> let y = x + 1; y\ntensor([2., 2.])\n```\n";
    assert_eq!(transcript["text"], wanted);
    let script = visit.answer(json!({ "ask": "script", "language": "rhai" }));
    assert!(script["text"].as_str().unwrap().contains("let x = torch.ones(2);"), "{script}");
    let script = visit.answer(json!({ "ask": "script", "language": "python" }));
    assert!(script["refused"].as_str().unwrap().starts_with("input 2"), "{script}");
}

/// Returns the events about pictures: the kind of each, its number, and whether its description contains a text.
fn fates(events: &[Value], text: &str) -> Vec<(String, u64, bool)> {
    let is_of_picture = |event: &&Value| matches!(event["event"].as_str(), Some("picture" | "redrawn" | "gone"));
    let fate = |event: &Value| {
        let holds = event["alt"].as_str().is_some_and(|alt| alt.contains(text));
        (event["event"].as_str().unwrap().to_owned(), event["id"].as_u64().unwrap(), holds)
    };
    events.iter().filter(is_of_picture).map(fate).collect()
}

#[test]
fn a_picture_stays_true() {
    let mut visit = Visit::new();
    let picture = |id, holds| ("picture".to_owned(), id, holds);
    let redrawn = |id, holds| ("redrawn".to_owned(), id, holds);
    let gone = |id| ("gone".to_owned(), id, false);
    let rows = [
        ("x = torch.zeros(4)", "", vec![]),
        ("explain(x)", "float32", vec![picture(1, true)]),
        ("1 + 1", "", vec![]),
        ("x[0] = 5", "5.0", vec![redrawn(1, true)]),
        ("y = x[1:]", "x, y on this storage", vec![redrawn(1, true)]),
        // A temporary view of memory that persists.
        ("bits(x[0])", "0.5", vec![picture(2, false)]),
        ("x.fill_(0.5)", "0.5", vec![redrawn(2, true), redrawn(1, true)]),
        (":undo", "5.0", vec![redrawn(2, true), redrawn(1, true)]),
        (":aliases", "2 variables on 1 storage", vec![picture(3, true)]),
        ("z = torch.ones(1)", "3 variables on 2 storages", vec![redrawn(3, true)]),
        ("why_view(y, 3, 1)", "view([3, 1])", vec![picture(4, true)]),
        ("hist(z)", "", vec![picture(5, true)]),
        ("show_bytes(z)", "byte by byte", vec![picture(6, true)]),
        ("bits(1.5)", "", vec![picture(7, true)]),
        ("z.mul_(2)", "2 variables", vec![]),
    ];
    for (source, text, wanted) in rows {
        let events = visit.run("python", source);
        let found = fates(&events, text);
        if source == "z.mul_(2)" {
            // The pictures of z: its bytes and its figure, the newest first.
            assert_eq!(
                found.iter().map(|(event, id, _)| (event.as_str(), *id)).collect::<Vec<_>>(),
                [("redrawn", 6), ("redrawn", 5)]
            );
            continue;
        }
        assert_eq!(found, wanted, "{source}: {}", json!(events).to_string().chars().take(3000).collect::<String>());
    }
    // As long as it is one of the latest results, it is there.
    visit.run("python", "del z");
    let mut many = |source, times| (0..times).flat_map(|_| fates(&visit.run("python", source), "")).collect::<Vec<_>>();
    assert_eq!(many("0", 4), [gone(6), gone(5)]);
    let back: Vec<u64> = many(":undo", 5).iter().map(|(_, id, _)| *id).collect();
    assert!(back.contains(&5) && back.contains(&6), "{back:?}");
    let rows = [("t = torch.zeros(3)", vec![]), ("explain(t)", vec![picture(8, true)]), ("t = 1", vec![gone(8)])];
    for (source, wanted) in rows {
        let mut found = fates(&visit.run("python", source), "");
        found.retain(|(_, id, _)| *id == 8);
        assert_eq!(found, wanted, "{source}");
    }
    let (_, events) = visit.ask(json!({ "ask": "restart" }));
    assert!(events.iter().all(|event| event["event"] == "gone") && events.len() > 3, "{events:?}");
    assert_eq!(fates(&visit.run("python", "explain(torch.zeros(1))"), ""), [picture(9, true), gone(9)]);
}

/// Pictures are as wide as the place for them: sentences wrap, and cells go on in the next row.
#[test]
fn pictures_fit_their_column() {
    let mut visit = Visit::new();
    let run =
        |source: &str, width: u64| json!({ "ask": "run", "language": "python", "source": source, "width": width });
    let width_of = |event: &Value| -> f64 {
        let svg = event["svg"].as_str().unwrap();
        svg.split("width=\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap().parse().unwrap()
    };
    visit.ask(run("x = torch.arange(24).view(4, 6)\ny = x[:, ::2]", 320));
    for source in ["explain(x.t())", "why_view(x.t(), 24)", "aliases()", "hist(x)", "bits(1.5)", "show_bytes(y)"] {
        for width in [320, 753, 1600] {
            let (_, events) = visit.ask(run(source, width));
            let drawn = width_of(of(&events, "picture")[0]);
            assert!(drawn <= width as f64 && drawn > 150.0, "{source} is {drawn} wide in {width}");
        }
    }
    // Another width draws all of them again, without a change.
    let (answer, events) = visit.ask(json!({ "ask": "fit", "width": 500 }));
    assert_eq!(answer, json!({}));
    let fitted = of(&events, "refitted");
    assert_eq!(fitted.len(), 18, "{events:?}");
    assert!(fitted.iter().all(|event| width_of(event) <= 500.0));
    assert_eq!(fates(&visit.run("python", "1"), ""), []);
    // The panel of variables has its own width.
    let panel = visit.answer(json!({ "ask": "variables", "width": 280 }));
    let drawn = width_of(&json!({ "svg": panel["storages"][0]["picture"] }));
    assert!(drawn <= 280.0, "{drawn}");
}

#[test]
fn pictures_are_no_holders() {
    let mut visit = Visit::new();
    visit.run("python", "x = torch.zeros(4)");
    let held = |visit: &mut Visit| visit.answer(json!({ "ask": "variables" }))["storages"][0]["picture"].clone();
    let before = held(&mut visit);
    for _ in 0..40 {
        visit.run("python", "explain(x)");
    }
    assert_eq!(held(&mut visit), before);
    // The latest thirty are live.
    let redrawn = fates(&visit.run("python", "x.add_(1)"), "");
    assert_eq!(redrawn.iter().map(|(_, id, _)| *id).collect::<Vec<_>>(), (11..=40).rev().collect::<Vec<_>>());
}

#[test]
fn a_picture_is_described_as_a_terminal_draws_it() {
    let mut visit = Visit::new();
    let events = visit.run("python", "explain(torch.arange(3))\n");
    let [picture] = of(&events, "picture")[..] else { panic!("{events:?}") };
    assert!(picture["svg"].as_str().unwrap().starts_with("<svg "), "{picture}");
    let mut session = tensorsh::session::Session::new(Default::default());
    let drawn = session.eval(tensorsh::session::Language::Python, "explain(torch.arange(3))").text;
    assert_eq!(picture["alt"].as_str().unwrap(), drawn.trim_end());
    assert_eq!(text(&events), "");
}
