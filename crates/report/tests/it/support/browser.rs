//! A browser without a window that opens a page and tells what became of it.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde::de::DeserializeOwned;

/// The browser's program, if there is one.
pub fn chromium() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let names = ["chromium", "chromium-browser", "google-chrome"];
    std::env::split_paths(&path)
        .flat_map(|folder| names.map(|name| folder.join(name)))
        .find(|program| program.is_file())
}

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
    serde_json::from_slice(&decoded(&dom[start..end])).expect("what it told is JSON")
}

/// Bytes from base 64.
fn decoded(text: &str) -> Vec<u8> {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digits: Vec<u32> = text
        .bytes()
        .filter(|&byte| byte != b'=')
        .map(|byte| DIGITS.iter().position(|&digit| digit == byte).expect("a digit of base 64") as u32)
        .collect();
    let group = |four: &[u32]| {
        let bits = four.iter().fold(0, |bits, digit| bits << 6 | digit) << (6 * (4 - four.len()));
        bits.to_be_bytes()[1..four.len()].to_vec()
    };
    digits.chunks(4).flat_map(group).collect()
}
