//! Settings: which goes before which, where they are shown, and how mistakes in them are told.

use std::process::Command;

use crate::support::{Place, Said};
use serde_json::Value;

/// The program in a place with this file of settings.
fn command(place: &Place, settings: &str, arguments: &[&str]) -> Command {
    std::fs::create_dir_all(place.path("config/assay")).unwrap();
    std::fs::write(place.path("config/assay/config.toml"), settings).unwrap();
    let mut command = place.command(arguments);
    command.env("XDG_CONFIG_HOME", place.path("config"));
    command
}

fn said(mut command: Command) -> Said {
    let output = command.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Said { stdout: text(output.stdout), stderr: text(output.stderr), code: output.status.code() }
}

/// The seed that a run had.
fn seed(mut command: Command) -> u64 {
    let said = said({
        command.args(["--number_ios", "10", "--format", "json"]);
        command
    });
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    let document: Value = serde_json::from_str(&said.stdout).unwrap();
    document["seed"].as_str().unwrap().parse().unwrap()
}

#[test]
fn what_is_typed_goes_before_the_environment_that_before_the_file_and_that_before_the_default() {
    let place = Place::new();
    let run = |settings: &str, typed: &[&str]| command(&place, settings, &[&["run"], typed].concat());
    let with = |mut command: Command, name: &str| {
        command.env(name, "6");
        command
    };
    assert_eq!(seed(run("", &[])), 1);
    assert_eq!(seed(run("seed = 4", &[])), 4);
    assert_eq!(seed(run("seed = 4\n[run]\nseed = 5", &[])), 5, "the command's own goes before that of all");
    assert_eq!(seed(run("[review]\nseed = 5", &[])), 1, "another command's");
    assert_eq!(seed(with(run("[run]\nseed = 5", &[]), "ASSAY_SEED")), 6);
    assert_eq!(seed(with(with(run("", &[]), "ASSAY_RUN_SEED"), "ASSAY_REVIEW_SEED")), 6);
    assert_eq!(seed(with(run("seed = 5", &["--seed=8"]), "ASSAY_SEED")), 8);
}

#[test]
fn a_setting_never_stands_in_the_way_of_what_is_typed() {
    let place = Place::new();
    let plan = place.short_plan();
    place.succeeds(&["review", "--plan", &plan]);
    let connection = rusqlite::Connection::open(place.store()).unwrap();
    connection.execute("UPDATE run SET state = 'failed'", []).unwrap();
    drop(connection);
    // --seed and --quick beside --resume are refused where they are typed.
    let resumed = said(command(&place, "seed = 9\nquick = true\n", &["review", "--resume"]));
    assert_eq!(resumed.code, Some(0), "{}", resumed.stderr);
    assert!(place.assay(&["review", "--resume", "--seed", "9"]).code == Some(2));
}

#[test]
fn a_mistake_is_told_with_its_place() {
    let place = Place::new();
    let refused = |settings: &str, arguments: &[&str]| {
        let said = said(command(&place, settings, arguments));
        assert_eq!(said.code, Some(2), "{settings}: {}", said.stderr);
        said.stderr
    };
    let unknown = refused("# mine\nsead = 7\n", &["runs"]);
    assert!(unknown.contains("config.toml:2:1") && unknown.contains("did you mean `seed`?"), "{unknown}");
    let value = refused("[show]\nformat = \"fio\"\n", &["show", "last"]);
    assert!(value.contains("config.toml:2:10") && value.contains("give one of text, json, csv"), "{value}");
    let consent = refused("[review]\noverwrite = true\n", &["runs"]);
    assert!(consent.contains("names a target or gives consent"), "{consent}");
    // What is wrong keeps nobody from the help.
    assert_eq!(said(command(&place, "sead = 7\n", &["--help"])).code, Some(0));

    let mut wrong = place.command(&["review"]);
    wrong.env("ASSAY_REPEATS", "many");
    let told = said(wrong);
    assert!(told.code == Some(2) && told.stderr.contains("ASSAY_REPEATS is `many`, which --repeats does not take"));
}

#[test]
fn what_is_set_is_shown_with_its_origin() {
    let place = Place::new();
    let mut asked = command(&place, "[run]\nseed = 5\n", &["config"]);
    asked.env("ASSAY_OUT", "reports").env("ASSAY_SEDE", "3");
    let shown = said(asked).stdout;
    let line = |option: &str| shown.lines().find(|line| line.contains(option)).unwrap_or_default().to_owned();
    assert!(line("--seed").ends_with("config.toml, line 2"), "{shown}");
    assert!(line("--out").ends_with("ASSAY_OUT") && shown.contains("ASSAY_SEDE has no effect"), "{shown}");
    let document: Value = serde_json::from_str(&place.succeeds(&["config", "run", "--format", "json"])).unwrap();
    let options = document["options"].as_array().unwrap();
    let seed = options.iter().find(|option| option["option"] == "seed").unwrap();
    assert_eq!((&seed["values"][0], &seed["variable"]), (&"1".into(), &"ASSAY_SEED".into()));
}

#[test]
fn quiet_and_verbose_are_about_standard_error_alone() {
    let place = Place::new();
    let plan = place.short_plan();
    let told = |more: &[&str]| place.assay(&[&["review", "--plan", &plan], more].concat());
    let [plain, quiet, verbose] = [told(&[]), told(&["--quiet"]), told(&["-v"])];
    assert!(plain.stderr.contains("Run 1: Every kind of step"), "{}", plain.stderr);
    assert_eq!(quiet.stderr, "");
    assert!(quiet.stdout.contains("Report: "), "{}", quiet.stdout);
    let kept = verbose.stderr.lines().filter(|line| line.contains(" IOPS")).count();
    assert!(kept >= 4 && verbose.stderr.contains("bs=4k"), "each cell is told: {}", verbose.stderr);
    assert!(place.assay(&["show", "77", "--quiet"]).stderr.starts_with("error: there is no run 77"));
}

/// What is listed and shown is within the terminal's width; a store's and a report's own path may be longer.
#[test]
fn every_listing_fits_80_columns() {
    let place = Place::new();
    let plan = place.short_plan();
    place.succeeds(&["review", "--plan", &plan]);
    place.succeeds(&["review", "--plan", &plan, "sim:x25-m?link.rate=150 MB/s&capacity.spare=12%&gc.policy=fifo"]);
    let listings: [&[&str]; 13] = [
        &[],
        &["drives"],
        &["plans"],
        &["profiles"],
        &["runs"],
        &["show", "last"],
        &["compare", "1", "2"],
        &["health", "last"],
        &["health", "sim:nearline-7200"],
        &["doctor"],
        &["config"],
        &["config", "run"],
        &["review", "--dry-run"],
    ];
    for listing in listings {
        let mut asked = place.command(listing);
        let told = said({
            asked.env("COLUMNS", "80").env("HOME", "/home/me").env("ASSAY_STORE", "results.sqlite");
            asked
        });
        assert_eq!(told.code, Some(0), "{listing:?}: {}", told.stderr);
        for line in told.stdout.lines().filter(|line| !line.starts_with("Report: ")) {
            let columns = line.chars().count();
            assert!(columns <= 80, "assay {}: {columns} columns: {line}", listing.join(" "));
        }
    }
}

#[test]
fn colour_is_used_only_where_it_is_wanted() {
    let place = Place::new();
    std::fs::write(place.path("wrong.toml"), "name = \"wrong\"\nrepeets = 3\n").unwrap();
    let told = |color: &str, arguments: &[&str]| {
        let mut asked = place.command(arguments);
        asked.env_remove("NO_COLOR");
        let said = said({
            if !color.is_empty() {
                asked.env(color, "1");
            }
            asked
        });
        said.stdout + &said.stderr
    };
    let commands: [&[&str]; 4] =
        [&["doctor"], &["review", "--plan", "wrong.toml"], &["show", "7"], &["review", "--no-such-option"]];
    for arguments in commands {
        for color in ["", "NO_COLOR"] {
            assert!(!told(color, arguments).contains('\x1b'), "{arguments:?} is coloured for a pipe");
        }
        assert!(told("CLICOLOR_FORCE", arguments).contains('\x1b'), "{arguments:?} is not coloured when forced");
    }
}

#[test]
fn a_wrong_value_in_the_file_is_told_by_every_command() {
    let place = Place::new();
    for settings in ["seed = \"x\"", "[review]\nrepeats = 2.5"] {
        let said = said(command(&place, settings, &["runs"]));
        assert!(said.code == Some(2) && said.stderr.contains("give a whole number"), "{settings}: {}", said.stderr);
    }
    // What one of the commands takes is refused by those alone that have the option and do not take it.
    assert_eq!(said(command(&place, "format = \"csv\"", &["baseline", "list"])).code, Some(0));
    let refused = said(command(&place, "format = \"csv\"", &["review", "--dry-run"]));
    assert!(refused.stderr.contains("give one of text, json; or set it") && refused.stderr.contains("[review]"));
}

#[test]
fn every_option_is_shown_with_its_variable() {
    let place = Place::new();
    let shown = place.succeeds(&["config", "review"]);
    let longest = place.succeeds(&["config", "run"]);
    let line = shown.lines().find(|line| line.contains("--full-length")).unwrap();
    assert_eq!(line.split_whitespace().collect::<Vec<_>>(), ["--full-length", "–", "(ASSAY_FULL_LENGTH)"], "{shown}");
    // The table of what every command has is as wide as the store's own path.
    for table in [&shown, &longest] {
        let own = table.split("\nassay ").nth(1).unwrap();
        assert!(own.lines().all(|line| line.chars().count() <= 80), "{own}");
    }
}

#[test]
fn quiet_and_verbose_exclude_each_other_wherever_they_stand() {
    let place = Place::new();
    for typed in [["-v", "runs", "-q"], ["runs", "-v", "-q"], ["-q", "-v", "runs"]] {
        place.refuses(&typed);
    }
    let mut typed = place.command(&["runs", "-v"]);
    typed.env("ASSAY_QUIET", "true");
    assert!(said(typed).stderr.contains("--quiet true by ASSAY_QUIET"), "what is typed goes before what is set");
}
