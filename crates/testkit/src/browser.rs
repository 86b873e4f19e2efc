//! Chromium without a window, driven by its own protocol over pipes: chromedevtools.github.io/devtools-protocol.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::PATIENCE;

/// The browser's program, if this machine has it.
pub fn chromium() -> Option<PathBuf> {
    ["chromium", "chromium-browser", "google-chrome"].iter().find_map(|name| crate::tool(name))
}

/// A browser with one page, until dropped.
pub struct Browser {
    child: Child,
    orders: ChildStdin,
    answers: Receiver<Value>,
    session: Option<String>,
    number: u64,
    /// What went wrong on pages: scripts that failed, what their policy forbids, files that are missing.
    pub errors: Vec<String>,
    _profile: tempfile::TempDir,
}

impl Browser {
    /// A browser, if this machine has one.
    pub fn start() -> Option<Self> {
        let Some(program) = chromium() else {
            crate::skip("no Chromium here (apt install chromium)");
            return None;
        };
        let profile = tempfile::tempdir().unwrap();
        // The browser reads orders from descriptor 3 and answers on 4.
        let mut child = Command::new("sh")
            .args(["-c", "exec \"$@\" 3<&0 4>&1 </dev/null >/dev/null 2>&1", "sh"])
            .arg(program)
            .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"])
            .args(["--disable-background-networking", "--disable-component-update", "--disable-sync"])
            .args(["--hide-scrollbars", "--remote-debugging-pipe"])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (orders, told) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let (sender, answers) = channel();
        std::thread::spawn(move || {
            let messages = BufReader::new(told).split(0).map_while(Result::ok);
            messages.filter_map(|one| serde_json::from_slice(&one).ok()).try_for_each(|one| sender.send(one)).ok();
        });
        let mut browser =
            Self { child, orders, answers, session: None, number: 0, errors: Vec::new(), _profile: profile };
        let page = browser.call("Target.createTarget", json!({ "url": "about:blank" }));
        let session = browser.call("Target.attachToTarget", json!({ "targetId": page["targetId"], "flatten": true }));
        browser.session = session["sessionId"].as_str().map(str::to_owned);
        for domain in ["Page.enable", "Runtime.enable", "Log.enable"] {
            browser.call(domain, json!({}));
        }
        Some(browser)
    }

    /// Has the browser do something; what it answers.
    pub fn call(&mut self, method: &str, parameters: Value) -> Value {
        self.order(method, parameters).unwrap_or_else(|error| panic!("{method}: {error}"))
    }

    /// The same where it may fail.
    fn order(&mut self, method: &str, parameters: Value) -> Result<Value, String> {
        self.number += 1;
        let mut order = json!({ "id": self.number, "method": method, "params": parameters });
        if let Some(session) = &self.session {
            order["sessionId"] = json!(session);
        }
        self.orders.write_all(format!("{order}\0").as_bytes()).unwrap();
        loop {
            let answer = self.answers.recv_timeout(PATIENCE).expect("the browser answers");
            if answer["id"] == json!(self.number) {
                return match answer.get("error") {
                    Some(_) => Err(answer.to_string()),
                    None => Ok(answer["result"].clone()),
                };
            }
            match answer["method"].as_str() {
                Some("Runtime.exceptionThrown") => self.errors.push(answer["params"]["exceptionDetails"].to_string()),
                Some("Log.entryAdded") if answer["params"]["entry"]["level"] == "error" => {
                    self.errors.push(answer["params"]["entry"]["text"].to_string());
                }
                _ => {}
            }
        }
    }

    /// Shows pages in a window of this size, dark or light.
    pub fn look(&mut self, width: u32, height: u32, dark: bool) {
        let size = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500 });
        self.call("Emulation.setDeviceMetricsOverride", size);
        let scheme = json!({ "name": "prefers-color-scheme", "value": if dark { "dark" } else { "light" } });
        self.call("Emulation.setEmulatedMedia", json!({ "features": [scheme] }));
    }

    /// Opens a page and waits until it is there.
    pub fn go(&mut self, url: &str) {
        let gone = self.call("Page.navigate", json!({ "url": url }));
        assert!(gone.get("errorText").is_none(), "{url}: {gone}");
        self.until("document.readyState === 'complete'", url);
    }

    /// What an expression of JavaScript gives on the page.
    pub fn ask(&mut self, expression: &str) -> Value {
        let answer = self.call("Runtime.evaluate", question(expression));
        assert!(answer.get("exceptionDetails").is_none(), "{expression}: {answer}");
        answer["result"]["value"].clone()
    }

    /// Waits until an expression is true, also while the page gives way to another.
    pub fn until(&mut self, expression: &str, what: &str) {
        let since = Instant::now();
        let guarded = format!("try {{ Boolean({expression}) }} catch {{ false }}");
        // A page that has gone meanwhile gives no answer.
        while !self.order("Runtime.evaluate", question(&guarded)).is_ok_and(|answer| answer["result"]["value"] == true)
        {
            assert!(since.elapsed() < PATIENCE, "{what}: never came to {expression}; {:?}", self.errors);
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Does what leads to another page, and waits for that.
    pub fn follow(&mut self, action: &str, path: &str) {
        self.ask(action);
        self.until(&format!("location.pathname === '{path}' && document.readyState === 'complete'"), action);
    }

    /// What is wrong with how the page looks, once its charts are drawn: text that is cut, hidden or faint, a page that
    /// is wider than the window, charts without anything in them.
    pub fn faults(&mut self) -> Vec<String> {
        const UNFOLDED: &str =
            "[...document.querySelectorAll('.chart')].filter((chart) => !chart.closest('details:not([open])'))";
        let is_drawn = "(chart) => chart._fullLayout?.width === chart.clientWidth && chart._fullLayout.font.color === \
                        getComputedStyle(document.documentElement).getPropertyValue('--quiet').trim()";
        self.until(&format!("{UNFOLDED}.every({is_drawn})"), "charts");
        let faults = self.ask(include_str!("look.js"));
        serde_json::from_value(faults).expect("the script gives a list of sentences")
    }
}

/// What asks for the value of an expression.
fn question(expression: &str) -> Value {
    json!({ "expression": expression, "returnByValue": true, "userGesture": true })
}

impl Drop for Browser {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}
