//! A browser without a window that opens a page and tells what became of it.

use std::path::Path;
use std::process::Command;

use base64::Engine;
use base64::prelude::BASE64_STANDARD as BASE64;
use serde::de::DeserializeOwned;
pub use testkit::browser::chromium;

/// Runs the browser without a window and without a network; its standard output.
pub fn browse(chromium: &Path, folder: &Path, options: &[&str], page: &Path) -> String {
    let output = Command::new(chromium)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"])
        .args(["--disable-background-networking", "--disable-component-update", "--disable-sync"])
        .args(["--hide-scrollbars", "--virtual-time-budget=30000"])
        .arg(format!("--user-data-dir={}", folder.join("profile").display()))
        .args(options)
        .arg(format!("file://{}", page.display()))
        .output()
        .expect("the browser starts");
    assert!(output.status.success(), "the browser failed: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// What the page `html` tells when opened with `options`: `before` runs before anything in it, `after` behind all of
/// it and leaves JSON in base 64 in an element `told`.
pub fn telling<T: DeserializeOwned>(chromium: &Path, html: &str, before: &str, after: &str, options: &[&str]) -> T {
    let folder = tempfile::tempdir().expect("a folder for the browser");
    let page = folder.path().join("report.html");
    let end = html.rfind("</body>").expect("the page has an end");
    let watched = html.replacen("<head>", &format!("<head>{before}"), 1);
    let end = end + watched.len() - html.len();
    std::fs::write(&page, format!("{}{after}{}", &watched[..end], &watched[end..])).expect("the page is written");
    let mut all = vec!["--dump-dom"];
    all.extend(options);
    let dom = browse(chromium, folder.path(), &all, &page);
    let start = dom.find("id=\"told\">").expect("the page told what became of it") + "id=\"told\">".len();
    let end = start + dom[start..].find('<').expect("what it told ends");
    let told = BASE64.decode(&dom[start..end]).expect("what it told is in base 64");
    serde_json::from_slice(&told).expect("what it told is JSON")
}
