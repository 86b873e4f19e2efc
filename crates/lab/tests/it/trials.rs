//! Plans that try what stands above the drive: how they are read, and what keeps them from being carried out.

use assay_lab::plan::{Action, Plan, PlanLength, Trials, parse, render};
use assay_lab::{Simulated, fits};
use block::Bytes;
use drive::preset::Preset;
use trial::{BenchOptions, DatabaseSettings, MakeOptions, MountOptions};

const STEP: &str = "[[step]]\nname = \"rates\"\ndo = \"files\"\n";

fn plan(text: &str, length: PlanLength) -> Plan {
    parse(&format!("name = \"p\"\n{text}"), length).unwrap_or_else(|mistakes| panic!("{mistakes:?}"))
}

fn trials(plan: &Plan) -> &Trials {
    let Action::Trial(trials) = &plan.steps[0].action else { panic!("{:?}", plan.steps[0]) };
    trials
}

/// What is wrong with a plan, one mistake after the other.
fn mistakes(text: &str) -> String {
    let text = format!("name = \"p\"\n{text}");
    let mistakes = parse(&text, PlanLength::Full).expect_err(&text);
    render(&mistakes, "p.toml", &text, false)
}

#[test]
fn a_sweep_of_what_a_trial_is_told_makes_points() {
    let text =
        format!("{STEP}rw = \"randread\"\nsweep = {{ fs = [\"ext4\", \"xfs\"], threads = [1, 4] }}\nrepeats = 3\n");
    let plan = plan(&text, PlanLength::Full);
    let trials = trials(&plan);
    let keys: Vec<String> = trials.points.iter().map(assay_lab::plan::TrialPoint::key).collect();
    assert_eq!(keys, ["fs=ext4 threads=1", "fs=ext4 threads=4", "fs=xfs threads=1", "fs=xfs threads=4"]);
    assert_eq!((trials.repeats, trials.axes.len()), (3, 2));
    let last = &trials.points[3].choices;
    assert_eq!((last.text("fs"), last.count("threads"), last.text("rw")), ("xfs", 4, "randread"));
    assert!(plan.changes_data() && plan.has_trials());
}

#[test]
fn the_shorter_lengths_change_what_is_told_and_swept() {
    let sweep = "sweep = { threads = [1, 2, 4, 8] }\n";
    let quick = "quick = { size = \"1m\", repeats = 1, sweep = { threads = [1, 8] } }\n";
    let text = format!("repeats = 5\n{STEP}size = \"1g\"\n{sweep}{quick}simulated = {{ size = \"4m\" }}\n");
    let of = |length| {
        let plan = plan(&text, length);
        let trials = trials(&plan);
        (trials.points.len(), trials.points[0].choices.bytes("size"), trials.repeats)
    };
    assert_eq!(of(PlanLength::Full), (4, Bytes::from_gib(1), 5));
    assert_eq!(of(PlanLength::Quick), (2, Bytes::from_mib(1), 1));
    assert_eq!(of(PlanLength::Simulated), (4, Bytes::from_mib(4), 5));
    assert_eq!(of(PlanLength::QuickSimulated), (2, Bytes::from_mib(1), 1));
}

#[test]
fn what_cannot_be_told_is_explained_where_it_stands() {
    let cases = [
        ("thread = 4\n", "unknown field `thread` in a `files` step"),
        ("threads = 0\n", "`0` is not a value of threads"),
        ("fs = \"ext5\"\n", "choose one of ext2, ext3, ext4, xfs, btrfs, none"),
        ("threads = 4\nsweep = { threads = [1, 2] }\n", "both swept and fixed"),
        ("sweep = { threads = [1, 1] }\n", "`1` is swept twice"),
        ("sweep = { threads = [] }\n", "a sweep without values"),
        ("sweep = { thread = [1] }\n", "a sweep of this step"),
        ("quick = { sweep = { threads = [1] } }\n", "not swept by the step itself"),
        ("sweep = { threads = [1, 2] }\nquick = { threads = 1 }\n", "both swept and fixed"),
        ("quick = { size = \"1m\", thread = 1 }\n", "`quick` of a `files` step"),
        ("fs = \"none\"\nmkfs = \"-K\"\n", "does not apply to a device without a file system"),
    ];
    for (text, words) in cases {
        let said = mistakes(&format!("{STEP}{text}"));
        assert!(said.contains(words), "{text}:\n{said}");
    }
    let said = mistakes("[[step]]\nname = \"rates\"\ndo = \"filess\"\n");
    assert!(said.contains("unknown kind of step `filess`") && said.contains("`files`"), "{said}");
}

#[test]
fn repeats_from_the_command_line_count_for_trials_too() {
    let mut plan = plan(STEP, PlanLength::Full);
    plan.repeat(7);
    assert_eq!(trials(&plan).repeats, 7);
}

#[test]
fn without_the_rights_nothing_is_begun() {
    let subject = Simulated::new(Preset::find("x25-m").unwrap());
    let fitting = fits(&plan(STEP, PlanLength::Full), &subject);
    match rustix::process::geteuid().is_root() {
        true => assert!(fitting.is_ok(), "{fitting:?}"),
        false => assert!(fitting.unwrap_err().to_string().contains("needs root")),
    }
}

#[test]
fn everything_that_a_trial_can_be_told_is_in_its_page() {
    let files = include_str!("../../../../docs/file-systems.md");
    let pages = [
        ("files", files),
        ("metadata", files),
        ("flood", files),
        ("cross-check", files),
        ("database", include_str!("../../../../docs/database.md")),
        ("boot", include_str!("../../../../docs/boot.md")),
    ];
    assert_eq!(
        pages.map(|(name, _)| name).to_vec(),
        trial::EXPERIMENTS.iter().map(|one| one.name()).collect::<Vec<_>>()
    );
    for (experiment, (name, page)) in trial::EXPERIMENTS.iter().zip(pages) {
        for choice in experiment.choices() {
            assert!(
                page.contains(&format!("`{}`", choice.name)),
                "the page on `{name}` does not explain `{}`",
                choice.name
            );
        }
    }
}

#[test]
fn every_option_that_a_plan_may_give_is_in_its_page() {
    let files = include_str!("../../../../docs/file-systems.md");
    let database = include_str!("../../../../docs/database.md");
    let of = |fs: &str| [MakeOptions::permitted(fs), MountOptions::permitted(fs)].concat();
    let pages = [(files, ["ext4", "xfs", "btrfs"].map(of).concat()), (database, BenchOptions::permitted())];
    let pages = pages.into_iter().chain([(database, DatabaseSettings::permitted())]);
    for (page, names) in pages {
        let words: Vec<&str> = page.split(|c: char| c.is_whitespace() || "`,;|()".contains(c)).collect();
        let missing: Vec<&str> = names.into_iter().filter(|name| !words.contains(name)).collect();
        assert!(missing.is_empty(), "the page does not have {missing:?}");
    }
}

#[test]
fn what_a_plan_may_not_tell_a_program_is_underlined_to_the_word() {
    let cases = [
        ("fs = \"xfs\"\nmkfs = \"-l logdev=/dev/x,size=64m\"\n", "logdev=/dev/x", "permitted are agnum"),
        ("mkfs = \"-q /dev/x\"\n", "/dev/x", "the only device"),
        ("mkfs = '-m 0 -E strid=16'\n", "strid=16", "did you mean `stride`?"),
        ("mount = \"noatime, journal_path=/dev/x\"\n", "journal_path=/dev/x", "permitted are noatime"),
        ("sweep = { mount = [\"\", \"noatime,data=all\"] }\n", "all", "one of journal, ordered, writeback"),
        ("quick = { mkfs = \"-J device=/dev/x\" }\n", "device=/dev/x", "permitted are size"),
        ("simulated = { mount = \"data=x\" }\n", "x", "one of journal"),
        ("sweep = { fs = [\"ext4\"] }\nquick = { sweep = { fs = [\"xfs\"] } }\nmkfs = \"-j\"\n", "-j", "permitted are"),
        ("sweep = { fs = [\"xfs\", \"ext4\"], mkfs = [\"-d su=64k,sw=4\"] }\n", "-d", "permitted are -b"),
    ];
    for (text, word, help) in cases {
        let text = format!("name = \"p\"\n{STEP}{text}");
        let mistakes = parse(&text, PlanLength::Full).expect_err(&text);
        assert_eq!(mistakes[0].code, "plan::not-permitted", "{text}");
        assert_eq!(&text[mistakes[0].span.clone()], word, "{text}");
        let said = render(&mistakes, "p.toml", &text, false);
        assert!(said.contains(help), "{said}");
    }
    // Where a letter is written in another way its place is not known, and all of the text is underlined.
    let text = format!("name = \"p\"\n{STEP}mkfs = \"-q\\t/dev/x\"\n");
    let mistakes = parse(&text, PlanLength::Full).unwrap_err();
    assert_eq!(&text[mistakes[0].span.clone()], "\"-q\\t/dev/x\"");
}
