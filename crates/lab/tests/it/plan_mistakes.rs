//! Mistakes in plans: each is shown with file, line and column, the words underlined, and what would be right.

use assay_lab::plan::{Diagnostic, PlanLength, catalog, parse, render};
use proptest::prelude::*;

fn shown(text: &str) -> String {
    let mistakes = parse(text, PlanLength::Full).expect_err(text);
    render(&mistakes, "plan.toml", text, false)
}

/// The one mistake of a plan whose last lines are `lines`, and the words that it underlines.
fn only_mistake(lines: &str) -> (Diagnostic, String) {
    let text = format!("name = \"p\"\n{lines}\n");
    let mistakes = parse(&text, PlanLength::Full).expect_err(&text);
    assert_eq!(mistakes.len(), 1, "{text}\n{}", render(&mistakes, "plan.toml", &text, false));
    let mistake = mistakes.into_iter().next().expect("there is one");
    let underlined = text[mistake.span.clone()].to_owned();
    (mistake, underlined)
}

/// A plan with one measuring step that has `lines`.
fn in_step(lines: &str) -> String {
    format!("[[step]]\nname = \"a\"\nruntime = 1\n{lines}")
}

#[test]
fn an_unknown_field_is_underlined_and_the_nearest_named() {
    let text = "name = \"p\"\n\n[[step]]\nname = \"a\"\nruntime = \"1s\"\niodeph = 4\n";
    assert_eq!(
        shown(text),
        "\
error[plan::unknown-field]: unknown field `iodeph` in a `measure` step
 --> plan.toml:6:1
  |
6 | iodeph = 4
  | ^^^^^^ not known here
  |
help: did you mean `iodepth`?"
    );
}

#[test]
fn a_bad_size_in_a_sweep_is_underlined_by_itself() {
    let text = "name = \"p\"\n[[step]]\nname = \"a\"\nruntime = \"1s\"\nsweep.bs = [\"4k\", \"8q\", \"6000\"]\n";
    assert_eq!(
        shown(text),
        "\
error[plan::bad-value]: unknown unit `q` in `8q`
 --> plan.toml:5:19
  |
5 | sweep.bs = [\"4k\", \"8q\", \"6000\"]
  |                   ^^^^ given here
  |
help: use one of B, k (KiB), m (MiB), g (GiB), t (TiB), p (PiB)"
    );
}

#[test]
fn a_sweep_over_parts_says_what_it_lacks() {
    for (line, code, underlined) in [
        ("sweep.drive = [1, 2]", "plan::wrong-type", "[1, 2]"),
        ("sweep.drive.nand.read = \"25us\"", "plan::wrong-type", "\"25us\""),
        ("sweep.drive.nand.read = []", "plan::empty-sweep", "[]"),
        ("sweep.drive.nand.read = [\"1us\", \"1us\"]", "plan::repeated-value", "\"1us\""),
        ("sweep.rig.host.cpus = [\"1&2\"]", "plan::bad-value", "\"1&2\""),
        ("sweep.driv.nand.read = [\"1us\"]", "plan::unknown-field", "driv"),
    ] {
        let (mistake, words) = only_mistake(&in_step(line));
        assert_eq!((mistake.code, words.as_str()), (code, underlined), "{line}");
    }
}

#[test]
fn a_second_step_of_a_name_is_shown_with_the_first() {
    let text = "name = \"p\"\n[[step]]\nname = \"a\"\ndo = \"purge\"\n[[step]]\nname = \"a\"\ndo = \"purge\"\n";
    assert_eq!(
        shown(text),
        "\
error[plan::duplicate-step]: there are two steps `a`
 --> plan.toml:6:8
  |
3 | name = \"a\"
  |        --- first here
...
6 | name = \"a\"
  |        ^^^ again
  |
help: results are stored by step name: give each its own"
    );
}

#[test]
fn all_mistakes_are_told_at_once_and_in_order() {
    let text = "\
nam = \"p\"
[[step]]
name = \"a\"
do = \"purg\"
[[step]]
name = \"b\"
rw = \"randreed\"
bs = \"1000\"
[[step]]
bs = true
";
    let codes: Vec<&str> = parse(text, PlanLength::Full).unwrap_err().iter().map(|mistake| mistake.code).collect();
    assert_eq!(
        codes,
        [
            "plan::unknown-field",
            "plan::missing",
            "plan::unknown-kind",
            "plan::bad-value",
            "plan::missing",
            "plan::wrong-type"
        ]
    );
}

#[test]
fn a_conditioning_tells_all_that_it_lacks_with_all_that_is_wrong() {
    let text = "\
name = \"p\"
[[step]]
name = \"w\"
do = \"condition\"
bs = \"1000\"
";
    assert_eq!(
        shown(text),
        "\
error[plan::missing]: step `w` says neither `round` nor `at-most`
 --> plan.toml:3:8
  |
3 | name = \"w\"
  |        ^^^ in this step
  |
help: add `round = \"60s\"` and `at-most = \"300%\"`

error[plan::workload]: block size 1000 B is not a whole number of 512 B sectors
 --> plan.toml:5:6
  |
5 | bs = \"1000\"
  |      ^^^^^^ given here
  |
help: try 512 or 4k"
    );
}

/// Each row: lines of a plan, the kind of mistake, the words underlined, and what the help or the message says.
#[test]
fn each_mistake_is_named_underlined_and_answered() {
    let worn = "[[step]]\nname = \"b\"\nruntime = 1\n";
    let fresh = "sweep.bs = [\"4k\"]\n";
    let wear = "[[step]]\nname = \"w\"\ndo = \"condition\"\n";
    let count = |last: u32| (1..=last).map(|n| n.to_string()).collect::<Vec<_>>().join(", ");
    let table: &[(String, &str, &str, &str)] = &[
        // Steps and plans.
        ("".into(), "plan::no-step", "", "begin each step with `[[step]]`"),
        ("step = []".into(), "plan::no-step", "[]", "begin each step with `[[step]]`"),
        ("step = [5]".into(), "plan::wrong-type", "5", "expected a table, found a whole number"),
        ("[step]\nname = \"a\"".into(), "plan::wrong-type", "[step]", "begin each step with `[[step]]`"),
        ("[[step]]\ndo = \"purge\"".into(), "plan::missing", "[[step]]", "add `name = \"…\"`"),
        ("[[step]]\nname = \"A b\"\ndo = \"purge\"".into(), "plan::name", "\"A b\"", "lower-case letters"),
        (in_step("do = \"mesure\""), "plan::unknown-kind", "\"mesure\"", "did you mean `measure`?"),
        (in_step("do = \"explode\""), "plan::unknown-kind", "\"explode\"", "use one of purge, fill, idle"),
        (format!("repeats = 0\n{}", in_step("")), "plan::range", "0", "from 1 to 1000"),
        (format!("repeats = \"5\"\n{}", in_step("")), "plan::wrong-type", "\"5\"", "a whole number without quotes"),
        (format!("[quick]\nbs = \"4k\"\n{}", in_step("")), "plan::unknown-field", "bs", "use one of repeats, runtime"),
        (format!("[workload]\nrounds = 1\n{}", in_step("")), "plan::unknown-field", "rounds", "[workload]"),
        // Values.
        (in_step("rw = \"randreed\""), "plan::bad-value", "\"randreed\"", "did you mean `randread`?"),
        (in_step("bs = 1.5"), "plan::wrong-type", "1.5", "put it in quotes"),
        (in_step("bs = -4"), "plan::bad-value", "-4", "negative"),
        (in_step("bs = \"1000\""), "plan::workload", "\"1000\"", "try 512 or 4k"),
        (in_step("iodepth = 0"), "plan::workload", "0", "both must be at least 1"),
        (in_step("numjobs = 0"), "plan::workload", "0", "both must be at least 1"),
        (in_step("iodepth = 70000"), "plan::workload", "70000", "lower iodepth or numjobs"),
        (in_step("iodepth = 0xffffffffffffffffffffffff"), "plan::bad-value", "0xffffffffffffffffffffffff", "65536"),
        (in_step("rwmixread = 101"), "plan::bad-value", "101", "at most 100 %"),
        (in_step("offset = 100"), "plan::workload", "100", "512 B sectors"),
        (in_step("size = \"99999999p\""), "plan::bad-value", "\"99999999p\"", "at most 1 EiB"),
        (in_step("number_ios = 0"), "plan::workload", "0", "give a longer runtime"),
        (in_step("quick = { runtime = \"0s\" }"), "plan::workload", "\"0s\"", "give a longer runtime"),
        // Access specifications.
        (in_step("bssplit = \"4k/60:8k/30\""), "plan::bad-value", "\"4k/60:8k/30\"", "they must make 100 %"),
        (in_step("bssplit = \"4k/60:8q/40\""), "plan::bad-value", "\"4k/60:8q/40\"", "use one of B, k (KiB)"),
        (in_step("bssplit = \"4k/60:1000/40\""), "plan::workload", "\"4k/60:1000/40\"", "try 512 or 4k"),
        (in_step("bssplit = \"4k\"\nsweep.bs = [\"4k\"]"), "plan::given-twice", "\"4k\"", "leave one of them out"),
        (in_step("percentage_random = 101"), "plan::bad-value", "101", "at most 100 %"),
        (in_step("ba = 100"), "plan::workload", "100", "try 512 or 4k"),
        (in_step("random_distribution = \"zipf\""), "plan::bad-value", "\"zipf\"", "try zipf:1.2"),
        (in_step("sync = \"always\""), "plan::bad-value", "\"always\"", "use one of none, 0, sync"),
        (in_step("fsync = 1\nfdatasync = 2"), "plan::workload", "2", "give one of them"),
        (in_step("thinktime = 5\nrate_iops = 9"), "plan::workload", "5", "exclude each other"),
        (in_step("thinktime_blocks = 0"), "plan::workload", "0", "must be at least 1"),
        (in_step("rate_process = \"uniform\""), "plan::bad-value", "\"uniform\"", "use one of linear, poisson"),
        (in_step("profile = \"databse\""), "plan::bad-value", "\"databse\"", "did you mean `database`?"),
        (in_step("sweep.profile = [\"none\"]"), "plan::bad-value", "\"none\"", "use one of database, file-server"),
        (in_step("quick = 3"), "plan::wrong-type", "3", "expected a table"),
        (in_step("title = \" \""), "plan::missing", "\" \"", "leave the key out"),
        (
            "[[step]]\nname = \"a\"\nrw = \"read\"".into(),
            "plan::endless",
            "\"a\"",
            "give runtime, number_ios or io_size",
        ),
        // Sweeps.
        (in_step("sweep.bs = []"), "plan::empty-sweep", "[]", "list the values"),
        (in_step("sweep = {}"), "plan::empty-sweep", "{}", "list the values"),
        (in_step("sweep.bs = \"4k\""), "plan::wrong-type", "\"4k\"", "list the values"),
        (in_step("sweep.iodpeth = [1]"), "plan::unknown-field", "iodpeth", "did you mean `iodepth`?"),
        (in_step("sweep.bs = [\"4k\", \"4096\"]"), "plan::repeated-value", "\"4096\"", "raise `repeats`"),
        (in_step("bs = 512\nsweep.bs = [\"4k\"]"), "plan::given-twice", "512", "leave one of them out"),
        (in_step("sweep.iodepth = [1, 0]"), "plan::workload", "0", "at least 1"),
        (
            in_step(&format!("sweep.iodepth = [{}]\nsweep.rwmixread = [{}]", count(101), count(100))),
            "plan::too-many-cells",
            "\"a\"",
            "more than 10000 points",
        ),
        (in_step("keep-state = true\nsweep.iodepth = [1, 2]"), "plan::keep-state", "\"a\"", "a step of its own"),
        // Other steps.
        (format!("{}\n{worn}beside = \"c\"", in_step("")), "plan::reference", "\"c\"", "did you mean `a`?"),
        (format!("{}\n{worn}beside = \"b\"", in_step("")), "plan::reference", "\"b\"", "names itself"),
        (format!("{worn}beside = \"a\"\n{}", in_step("")), "plan::reference", "\"a\"", "comes later"),
        (format!("{worn}same-as = \"a\"\n{}", in_step("")), "plan::reference", "\"a\"", "move this one behind it"),
        (
            format!("[[step]]\nname = \"a\"\ndo = \"purge\"\n{worn}beside = \"a\""),
            "plan::reference",
            "\"a\"",
            "it is a `purge` step",
        ),
        (format!("{}\n{worn}beside = \"a\"", in_step(fresh)), "plan::beside", "\"a\"", "write `same-as = \"a\"`"),
        (
            format!("{}\n{worn}sweep.bs = [\"8k\"]\nbeside = \"a\"", in_step(fresh)),
            "plan::beside",
            "\"a\"",
            "sweeps points different",
        ),
        // Keys of other kinds of steps, and the kinds' own.
        (in_step("round = \"1s\""), "plan::unknown-field", "round", "only `condition` steps take it"),
        (
            "[[step]]\nname = \"a\"\ndo = \"purge\"\nquick = {}".into(),
            "plan::unknown-field",
            "quick",
            "only `fill`, `idle`, `measure`",
        ),
        ("[[step]]\nname = \"a\"\ndo = \"idle\"".into(), "plan::missing", "\"a\"", "add `time = \"60s\"`"),
        ("[[step]]\nname = \"a\"\ndo = \"idle\"\ntime = 0".into(), "plan::range", "0", "such as `60s`"),
        ("[[step]]\nname = \"a\"\ndo = \"fill\"\nbs = 100".into(), "plan::workload", "100", "try 512 or 4k"),
        (format!("{wear}at-most = \"1s\""), "plan::missing", "\"w\"", "add `round = \"60s\"`"),
        (format!("{wear}round = 1"), "plan::missing", "\"w\"", "add `at-most = \"300%\"`"),
        (
            format!("{wear}round = 1\nat-most = \"1s\"\nruntime = 1"),
            "plan::unknown-field",
            "runtime",
            "a round is `round`",
        ),
        (format!("{wear}round = 1\nat-most = \"5m\""), "plan::bad-value", "\"5m\"", "`min` for minutes"),
        (format!("{wear}round = 1\nat-most = \"300%\""), "plan::endless", "\"300%\"", "`read` writes nothing"),
        (
            format!("{wear}rw = \"write\"\nround = 1\nat-least = \"9%\"\nat-most = \"3%\""),
            "plan::range",
            "\"9%\"",
            "raise at-most",
        ),
        (format!("{wear}round = 1\nat-most = \"1s\"\nsteady = true"), "plan::wrong-type", "true", "give `\"snia\"`"),
        (format!("{wear}round = 1\nat-most = \"1s\"\nsteady = \"sina\""), "plan::bad-value", "\"sina\"", "`\"snia\"`"),
        (format!("{wear}round = 1\nat-most = \"1s\"\nsteady.rounds = 1"), "plan::range", "1", "from 2 to 1000"),
        (format!("{wear}round = 1\nat-most = \"1s\"\nsteady.spread = 0"), "plan::range", "0", "1% to 100%"),
        (format!("{wear}round = 1\nat-most = \"1s\"\nsteady.slop = 5"), "plan::unknown-field", "slop", "`slope`"),
    ];
    for (lines, code, underlined, words) in table {
        let (mistake, found) = only_mistake(lines);
        assert_eq!((mistake.code, found.trim()), (*code, *underlined), "{lines}\n{mistake:?}");
        let said = format!("{} {}", mistake.message, mistake.help.unwrap_or_default());
        assert!(said.contains(words), "{lines}\n{said}");
        assert_ne!(mistake.label, "", "{lines}");
    }
}

#[test]
fn a_bad_default_is_wrong_once_for_all_steps() {
    let text = "name = \"p\"\n[workload]\nbs = 100\nruntime = 1\n[[step]]\nname = \"a\"\n[[step]]\nname = \"b\"\n";
    let mistakes = parse(text, PlanLength::Full).unwrap_err();
    assert_eq!(mistakes.len(), 1);
    assert_eq!(&text[mistakes[0].span.clone()], "100");
}

#[test]
fn what_is_not_toml_is_shown_where_it_breaks() {
    for (text, place) in [
        ("name = \"p\n[[step]]\n", "plan.toml:1:"),
        ("name = \"p\"\n= 5\n", "plan.toml:2:1"),
        ("name = \"p\"\nname = \"q\"\n", "plan.toml:2:1"),
        ("name = \"p\"\n[[step]\n", "plan.toml:2:"),
    ] {
        let shown = shown(text);
        assert!(shown.starts_with("error[plan::syntax]: ") && shown.contains(place), "{shown}");
    }
}

#[test]
fn an_empty_text_lacks_a_name_and_a_step() {
    let codes: Vec<&str> = parse("", PlanLength::Full).unwrap_err().iter().map(|mistake| mistake.code).collect();
    assert_eq!(codes, ["plan::missing", "plan::no-step"]);
}

#[test]
fn colour_is_only_added_where_it_is_asked_for() {
    let mistakes = parse("", PlanLength::Full).unwrap_err();
    assert!(render(&mistakes, "plan.toml", "", true).contains('\u{1b}'));
    assert!(!render(&mistakes, "plan.toml", "", false).contains('\u{1b}'));
}

#[test]
fn chains_of_wide_sweeps_are_refused_before_they_fill_the_memory() {
    let values = (1..=100).map(|n| n.to_string()).collect::<Vec<_>>().join(",");
    let mut text = format!("name = \"p\"\n[[step]]\nname = \"s\"\nruntime = 1\n[step.sweep]\niodepth = [{values}]\n");
    text.push_str(&format!("numjobs = [{values}]\n"));
    for i in 0..1000 {
        text.push_str(&format!("[[step]]\nname = \"s{i}\"\nsame-as = \"s\"\n"));
    }
    let mistakes = parse(&text, PlanLength::Full).unwrap_err();
    assert!(mistakes.iter().all(|mistake| mistake.code == "plan::too-many-cells"), "{:?}", mistakes[0]);
    assert!(render(&mistakes, "plan.toml", &text, false).ends_with("more"));
}

proptest! {
    /// Bytes of the built-in plan are cut, doubled and replaced: whatever comes of it is a plan or a list of mistakes.
    #[test]
    fn no_text_brings_the_reader_down(
        edits in proptest::collection::vec((any::<prop::sample::Index>(), 0..40_usize, edit()), 1..6),
        quick in any::<bool>(),
    ) {
        let review = catalog::find("review").unwrap().text;
        let mut letters: Vec<char> = review.chars().collect();
        for (place, length, replacement) in edits {
            let start = place.index(letters.len() + 1);
            let end = (start + length).min(letters.len());
            letters.splice(start..end, replacement.chars());
        }
        let text: String = letters.into_iter().collect();
        if let Err(mistakes) = parse(&text, if quick { PlanLength::Quick } else { PlanLength::Full }) {
            prop_assert!(!mistakes.is_empty());
            let shown = render(&mistakes, "plan.toml", &text, false);
            prop_assert!(shown.contains("plan.toml:"), "{}", shown);
        }
    }
}

/// What a slip of the hand, or of a generator, may put in.
fn edit() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(String::new()),
        "[ -~\\n]{0,12}",
        "[0-9]{1,30}[kmgtp%s]?",
        prop::sample::select(vec![
            "\"",
            "[",
            "]",
            "{",
            "}",
            "=",
            "\n[[step]]\n",
            "same-as = \"wear\"\n",
            "beside = \"mix\"\n",
            "é\u{301}",
            "\u{0}",
            "\r\n",
            "sweep.",
            "-1",
            "0x10",
            "nan",
            "1e400",
            "18446744073709551615",
            "0",
            "true",
            "\"\"",
            "[]",
        ])
        .prop_map(str::to_owned),
    ]
}

#[test]
fn mistakes_in_jobs_are_explained() {
    let two = "[[step.job]]\nname = \"one\"\n[[step.job]]\nname = \"one\"\n";
    let cases = [
        (two, "plan::duplicate-job", "\"one\"", "give each its own"),
        ("[[step.job]]\nrw = \"read\"\n", "plan::missing", "[[step.job]]", "add `name"),
        ("[[step.job]]\nname = \"A b\"\n", "plan::name", "\"A b\"", "lower-case letters"),
        ("[[step.job]]\nname = \"one\"\niodeph = 4\n", "plan::unknown-field", "iodeph", "did you mean `iodepth`"),
        ("[[step.job]]\nname = \"one\"\nrepeats = 4\n", "plan::unknown-field", "repeats", "belong to the step"),
        ("job = []\n", "plan::no-job", "[]", "[[step.job]]"),
        ("job = 3\n", "plan::wrong-type", "3", "[[step.job]]"),
        (
            "sweep.bs = [\"4k\"]\n[[step.job]]\nname = \"one\"\nbs = \"8k\"\n",
            "plan::given-twice",
            "\"8k\"",
            "leave one",
        ),
        ("[[step.job]]\nname = \"one\"\nbs = \"1000\"\n", "plan::workload", "\"1000\"", ""),
    ];
    for (lines, code, underlined, help) in cases {
        let (mistake, found) = only_mistake(&in_step(lines));
        assert_eq!((mistake.code, found.as_str()), (code, underlined), "{lines}");
        assert!(mistake.help.unwrap_or_default().contains(help), "{lines}");
    }
    let wear = "[[step]]\nname = \"a\"\ndo = \"condition\"\nround = \"1s\"\nat-most = \"1s\"\n";
    let (mistake, found) = only_mistake(&format!("{wear}[[step.job]]\nname = \"one\"\n"));
    assert_eq!((mistake.code, found.as_str()), ("plan::unknown-field", "job"));
    assert!(mistake.help.unwrap_or_default().contains("only `measure` steps take it"));
}

#[test]
fn a_replay_that_contradicts_itself_is_told_at_the_word_that_does() {
    for (lines, message, underlined) in [
        ("read_iolog = \"t\"\nbs = \"8k\"", "the trace determines what `bs` would", "\"8k\""),
        ("read_iolog = \"t\"\nsweep.rw = [\"read\"]", "the trace determines what `rw` would", "\"read\""),
        (
            "read_iolog = \"t\"\nreplay_no_stall = 1\nreplay_time_scale = 50",
            "`replay_no_stall` and `replay_time_scale` are two timings of one replay",
            "50",
        ),
        ("read_iolog = \"t\"\nnumjobs = 2", "a trace is replayed by one worker, not by 2", "2"),
        ("replay_think = 1", "there is no trace to replay", "1"),
        ("read_iolog = \"t\"\nreplay_scale = 0", "replay_scale=0 is too small", "0"),
        ("read_iolog = \"t\"\nreplay_time_scale = 0", "replay_time_scale=0 is too small", "0"),
        ("read_iolog = \"t\"\nreplay_no_stall = 2", "`2` is not one of its values", "2"),
    ] {
        let (mistake, words) = only_mistake(&in_step(lines));
        assert_eq!((mistake.message.as_str(), words.as_str()), (message, underlined), "{lines}");
    }
    let (mistake, _) =
        only_mistake("[[step]]\nname = \"a\"\ndo = \"condition\"\nround = 1\nat-most = \"1s\"\nread_iolog = \"t\"");
    assert!(mistake.help.unwrap().contains("only `measure` and `rounds` steps take it"));
}
