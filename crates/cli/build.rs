//! Tells the program which commit it was built from, and of which day that is.

use std::process::Command;

fn main() {
    let said = |program: &str, arguments: &[&str]| {
        let output = Command::new(program).args(arguments).output().ok().filter(|output| output.status.success())?;
        Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let git = |arguments: &[&str]| said("git", arguments);
    let commit = git(&["rev-parse", "--short=12", "HEAD"]).unwrap_or_default();
    println!("cargo:rustc-env=ASSAY_COMMIT={commit}");
    // Manual pages have a date. Sources without their history are of the day on which they are built.
    let date = git(&["log", "-1", "--format=%cs"]).or_else(|| said("date", &["-u", "+%F"])).unwrap_or_default();
    println!("cargo:rustc-env=ASSAY_DATE={date}");
    let version = env!("CARGO_PKG_VERSION");
    // Of sources without their history only the version is known.
    let whole = if commit.is_empty() { version.to_owned() } else { format!("{version} ({commit} {date})") };
    println!("cargo:rustc-env=ASSAY_VERSION={whole}");
    // Built anew when HEAD moves: HEAD itself changes on a checkout, the branch's log on a commit.
    for file in ["HEAD", "logs/HEAD"] {
        if let Some(path) = git(&["rev-parse", "--git-path", file]) {
            println!("cargo:rerun-if-changed={path}");
        }
    }
}
