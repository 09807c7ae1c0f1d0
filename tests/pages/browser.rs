//! Headless Chromium, controlled with the DevTools protocol over a pair of pipes: presses keys, moves the pointer, sets
//! themes and widths, and collects the browser's complaints.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::{Value, json};

/// The maximum time for an answer.
const PATIENCE: Duration = Duration::from_secs(20);

pub(crate) struct Browser {
    process: Child,
    to: ChildStdin,
    from: Receiver<Value>,
    number: u64,
    page: String,
    /// The events since they were last taken.
    events: Vec<Value>,
    _profile: tempfile::TempDir,
}

impl Browser {
    /// Starts the browser with its own profile, and opens an empty page.
    pub(crate) fn start() -> Browser {
        let profile = tempfile::tempdir().unwrap();
        let name = ["chromium", "chromium-browser", "google-chrome"];
        let name = name.into_iter().find(|name| is_program(name)).expect("Chromium is not installed");
        // The browser reads commands from descriptor 3 and answers on descriptor 4.
        let mut process = Command::new("sh")
            .args(["-c", "exec \"$0\" \"$@\" 3<&0 4>&1 </dev/null >/dev/null 2>/dev/null", name])
            .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"])
            .args(["--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage"])
            .arg("--remote-debugging-pipe")
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let to = process.stdin.take().unwrap();
        let mut pipe = BufReader::new(process.stdout.take().unwrap());
        let (tell, from) = channel();
        std::thread::spawn(move || {
            let mut message = Vec::new();
            while pipe.read_until(0, &mut message).is_ok_and(|length| length > 0) {
                message.pop();
                let Ok(value) = serde_json::from_slice(&message) else { break };
                if tell.send(value).is_err() {
                    break;
                }
                message.clear();
            }
        });
        let (page, events) = (String::new(), Vec::new());
        let mut browser = Browser { process, to, from, number: 0, page, events, _profile: profile };
        let target = browser.ask("Target.createTarget", json!({"url": "about:blank"}));
        let attached = browser.ask("Target.attachToTarget", json!({"targetId": target["targetId"], "flatten": true}));
        browser.page = attached["sessionId"].as_str().unwrap().to_owned();
        for domain in ["Page", "Runtime", "Log", "Network", "Accessibility"] {
            browser.ask(&format!("{domain}.enable"), json!({}));
        }
        browser
    }

    /// Sends a command and waits for the answer.
    pub(crate) fn ask(&mut self, method: &str, parameters: Value) -> Value {
        self.number += 1;
        let mut message = json!({"id": self.number, "method": method, "params": parameters});
        if !self.page.is_empty() {
            message["sessionId"] = json!(self.page);
        }
        self.to.write_all(message.to_string().as_bytes()).unwrap();
        self.to.write_all(&[0]).unwrap();
        loop {
            let answer = self.from.recv_timeout(PATIENCE).unwrap_or_else(|_| panic!("no answer to {method}"));
            if answer["id"] == self.number {
                assert!(answer["error"].is_null(), "{method}: {answer}");
                return answer["result"].clone();
            }
            self.events.push(answer);
        }
    }

    /// Opens a file and waits until it is shown.
    pub(crate) fn open(&mut self, file: &std::path::Path) {
        self.ask("Page.navigate", json!({"url": format!("file://{}", file.display())}));
        let is_shown = |event: &Value| event["method"] == "Page.loadEventFired";
        while !self.events.iter().any(is_shown) {
            let event = self.from.recv_timeout(PATIENCE).unwrap_or_else(|_| panic!("{file:?} is not shown"));
            self.events.push(event);
        }
    }

    /// Sets the width of the window and the theme.
    pub(crate) fn show(&mut self, width: u32, theme: &str) {
        let metrics = json!({"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false});
        self.ask("Emulation.setDeviceMetricsOverride", metrics);
        let features = json!([{"name": "prefers-color-scheme", "value": theme}]);
        self.ask("Emulation.setEmulatedMedia", json!({"features": features}));
    }

    /// Evaluates an expression in the page.
    pub(crate) fn value(&mut self, expression: &str) -> Value {
        let answer = self.ask("Runtime.evaluate", json!({"expression": expression, "returnByValue": true}));
        assert!(answer["exceptionDetails"].is_null(), "{expression}: {answer}");
        answer["result"]["value"].clone()
    }

    pub(crate) fn press(&mut self, key: &str) {
        let code = match key {
            "Tab" => 9,
            "ArrowLeft" => 37,
            "ArrowUp" => 38,
            "ArrowRight" => 39,
            "ArrowDown" => 40,
            _ => panic!("{key}"),
        };
        for kind in ["rawKeyDown", "keyUp"] {
            let event = json!({"type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code});
            self.ask("Input.dispatchKeyEvent", event);
        }
    }

    pub(crate) fn point_at(&mut self, [x, y]: [f64; 2]) {
        self.ask("Input.dispatchMouseEvent", json!({"type": "mouseMoved", "x": x, "y": y}));
    }

    /// Returns the events since the last call.
    pub(crate) fn events(&mut self) -> Vec<Value> {
        std::mem::take(&mut self.events)
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // When asked to close, the browser ends its child processes as well.
        let message = json!({"id": self.number + 1, "method": "Browser.close"});
        let _ = self.to.write_all(format!("{message}\0").as_bytes());
        while self.from.recv_timeout(Duration::from_secs(2)).is_ok() {}
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn is_program(name: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(name).is_file())
}
