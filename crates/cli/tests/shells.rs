//! Completions and manual pages: what shells and readers of manuals make of them.

mod support;

use std::path::Path;
use std::process::Command;

use support::{Place, skip, tool};

#[test]
fn every_shell_understands_its_script() {
    let place = Place::new();
    for (shell, check) in [("bash", "-n"), ("zsh", "-n"), ("fish", "--no-execute")] {
        let script = place.succeeds(&["completions", shell]);
        assert!(script.contains("ASSAY_COMPLETE"), "{script}");
        let path = place.path(&format!("script.{shell}"));
        std::fs::write(&path, script).unwrap();
        match tool(shell) {
            Some(shell) => drop(support::other(&shell.display().to_string(), &[check, &path.display().to_string()])),
            None => skip(&format!("{shell} is not installed")),
        }
    }
}

/// What bash offers once this was typed.
fn offered(place: &Place, typed: &str) -> Vec<String> {
    let script = place.succeeds(&["completions", "bash"]);
    let asked = format!(
        "{script}\nCOMP_LINE='{typed}'\nCOMP_POINT=${{#COMP_LINE}}\n_assay\nprintf '%s\\n' \"${{COMPREPLY[@]}}\""
    );
    let program = Path::new(env!("CARGO_BIN_EXE_assay")).parent().unwrap();
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap());
    let output = Command::new("bash").args(["-c", &asked]).env("PATH", path).output().unwrap();
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

#[test]
fn bash_offers_commands_options_and_names() {
    let place = Place::new();
    assert_eq!(offered(&place, "assay rev"), ["review"]);
    assert_eq!(offered(&place, "assay review --dry"), ["--dry-run"]);
    assert_eq!(offered(&place, "assay review sim:x25-"), ["x25-e-32", "x25-e-64", "x25-m"], "bash keeps `sim:`");
    assert_eq!(offered(&place, "assay review --plan snia-"), ["snia-enterprise", "snia-client"]);
    assert_eq!(offered(&place, "assay run --profile=oltp"), ["oltp"], "bash keeps `--profile=`");
    assert_eq!(offered(&place, "assay drives show optane"), ["optane-p4800x"]);
    assert!(offered(&place, "assay ").contains(&"doctor".to_owned()));
}

#[test]
fn manual_pages_are_without_mistakes() {
    let place = Place::new();
    let told = place.succeeds(&["man", "pages"]);
    let pages: Vec<_> = std::fs::read_dir(place.path("pages")).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(told.starts_with(&format!("{} manual pages", pages.len())) && pages.len() > 15, "{told}");
    let review = std::fs::read_to_string(place.path("pages/assay-review.1")).unwrap();
    for part in [".SH NAME", ".SH SYNOPSIS", ".SH OPTIONS", ".SH EXAMPLES", ".SH \"EXIT STATUS\""] {
        assert!(review.contains(part), "{part} is missing:\n{review}");
    }
    if tool("mandoc").is_none() {
        return skip("mandoc is not installed");
    }
    for page in pages {
        let output = Command::new("mandoc").args(["-T", "lint", "-W", "warning"]).arg(&page).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{}: {said}", page.display());
    }
}
