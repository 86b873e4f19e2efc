//! A test that has a process to itself, and a test program that is started again.

use std::process::Command;

/// Says to a process that it does one test alone.
const ALONE: &str = "ASSAY_TEST_ALONE";

/// Does the test that calls this in a process of its own, and gives whether that was done: then nothing is left to do.
///
/// For tests of what a process has: its control group, its processor time, what it left. `cargo nextest` gives each
/// test a process anyway; with `cargo test` the program is started once more, for this test.
///
/// # Panics
/// If the test fails there.
pub fn done_apart() -> bool {
    if std::env::var_os(ALONE).is_some() || std::env::var_os("NEXTEST_EXECUTION_MODE").is_some() {
        return false;
    }
    let thread = std::thread::current();
    // With `--test-threads=1` tests run on the main thread, one after another.
    let Some(test) = thread.name().filter(|name| *name != "main") else { return false };
    let output = again(test).env(ALONE, "1").output().expect("the test program starts again");
    let said = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    println!("{}", said.concat());
    assert!(output.status.success(), "{test} failed in a process of its own: {}", output.status);
    true
}

/// This test program once more, to do one test by its whole name: `module::test`. It does that also if it is ignored.
///
/// # Panics
/// If the program is no longer there.
pub fn again(test: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("a program knows its file"));
    command.args(["--include-ignored", "--exact", test, "--nocapture"]);
    command
}
