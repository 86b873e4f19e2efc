//! Completions and manual pages: what shells and readers of manuals make of them.

use std::path::Path;
use std::process::Command;

use crate::support;
use crate::support::{Place, skip, tool};

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
    let mut bash = Command::new("bash");
    bash.args(["-c", &asked]).env("PATH", path).env("ASSAY_STORE", place.store());
    let output = bash.output().unwrap();
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

#[test]
fn bash_offers_commands_options_and_names() {
    let place = Place::new();
    assert_eq!(offered(&place, "assay rev"), ["review"]);
    assert_eq!(offered(&place, "assay review --dry"), ["--dry-run"]);
    let offers = ["x25-e-32", "x25-e-64", "x25-m", "x25-m-160"];
    assert_eq!(offered(&place, "assay review sim:x25-"), offers, "bash keeps `sim:`");
    assert_eq!(offered(&place, "assay review --plan snia-"), ["snia-enterprise", "snia-client"]);
    assert_eq!(offered(&place, "assay run --profile=oltp"), ["oltp"], "bash keeps `--profile=`");
    assert_eq!(
        offered(&place, "assay drives show optane"),
        ["optane-p4800x", "optane-p4800x-750", "optane-p4800x-1500"]
    );
    assert!(offered(&place, "assay ").contains(&"doctor".to_owned()));
}

#[test]
fn bash_offers_runs_and_the_words_that_an_option_takes() {
    let place = Place::new();
    assert!(!offered(&place, "assay show ").contains(&"last".to_owned()), "there is none");
    assert!(!place.store().exists(), "who only asks leaves nothing behind");
    for _ in 0..2 {
        place.succeeds(&["run", "--number_ios=10"]);
    }
    for command in ["show", "report", "compare", "health", "review --resume"] {
        let offers = offered(&place, &format!("assay {command} "));
        assert!(offers.starts_with(&["last", "2", "1"].map(str::to_owned)), "{command}: {offers:?}");
    }
    let other = format!("assay --store {} show ", place.path("other.sqlite").display());
    assert!(!offered(&place, &other).contains(&"last".to_owned()), "another store has none");
    assert_eq!(offered(&place, "assay config doc"), ["doctor"]);
    assert_eq!(offered(&place, "assay run --ioengine "), ["io_uring", "io_uring_cmd", "psync"]);
    assert_eq!(offered(&place, "assay review --purge s"), ["secure-erase", "sanitize"]);
    assert_eq!(offered(&place, "assay run --rw=randt"), ["randtrim"]);
}

/// What zsh and fish are told, by the question that their scripts ask.
#[test]
fn other_shells_are_told_the_same_with_what_it_means() {
    let place = Place::new();
    place.succeeds(&["run", "--number_ios=10"]);
    let mut asks = place.command(&["--", "assay", "show", ""]);
    let output = asks.env("ASSAY_COMPLETE", "fish").output().unwrap();
    let told = String::from_utf8(output.stdout).unwrap();
    assert!(told.starts_with("last\tthe latest run\n1\trun on sim:x25-m, 20"), "{told}");
    let Some(fish) = tool("fish") else { return skip("fish is not installed") };
    let script = place.path("assay.fish");
    std::fs::write(&script, place.succeeds(&["completions", "fish"])).unwrap();
    let program = Path::new(env!("CARGO_BIN_EXE_assay")).parent().unwrap();
    let mut fish = Command::new(fish);
    fish.args(["--no-config", "-c", &format!("source {}; complete -C 'assay review --plan snia-'", script.display())]);
    fish.env("PATH", format!("{}:{}", program.display(), std::env::var("PATH").unwrap())).env("HOME", place.path("."));
    let shown = String::from_utf8(fish.output().unwrap().stdout).unwrap();
    assert_eq!(shown.lines().collect::<Vec<_>>(), ["snia-enterprise", "snia-client"]);
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
    assert!(review.contains("ASSAY_REVIEW_FULL_LENGTH, ASSAY_FULL_LENGTH") && review.contains("SEE ALSO"), "{review}");
    for page in &pages {
        let text = std::fs::read_to_string(page).unwrap().replace("\\-", "-");
        let names = text.split(|c: char| !(c.is_ascii_alphanumeric() || "-()".contains(c)));
        for named in names.filter_map(|word| word.strip_suffix("(1)")).filter(|word| word.starts_with("assay")) {
            assert!(place.path(&format!("pages/{named}.1")).is_file(), "{} names {named}(1)", page.display());
        }
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
