use std::path::Path;

use block::{Bytes, Nanos, Op};
use workload::{Pattern, RandomShare, Workload};

use super::*;
use crate::import::{Notice, Severity, render};
use crate::{Action, Field, Plan, PlanLength, parse, profile};

/// What a specification of each profile's name asks for; those at random are aligned to their least size.
/// Source: Tom's Hardware, "Breaking Records With SSDs: 16 Intel X25-Es Do 2.2 GB/s".
const PROFILES: [(&str, &[&str]); 6] = [
    ("database", &["8192,100,67,100,0,1,8192,0"]),
    (
        "file-server",
        &[
            "512,10,80,100,0,1,0,0",
            "1024,5,80,100,0,1,0,0",
            "2048,5,80,100,0,1,0,0",
            "4096,60,80,100,0,1,0,0",
            "8192,2,80,100,0,1,0,0",
            "16384,4,80,100,0,1,0,0",
            "32768,4,80,100,0,1,0,0",
            "65536,10,80,100,0,1,0,0",
        ],
    ),
    (
        "web-server",
        &[
            "512,22,100,100,0,1,512,0",
            "1024,15,100,100,0,1,512,0",
            "2048,8,100,100,0,1,512,0",
            "4096,23,100,100,0,1,512,0",
            "8192,15,100,100,0,1,512,0",
            "16384,2,100,100,0,1,512,0",
            "32768,6,100,100,0,1,512,0",
            "65536,7,100,100,0,1,512,0",
            "131072,1,100,100,0,1,512,0",
            "524288,1,100,100,0,1,512,0",
        ],
    ),
    ("workstation", &["8192,100,80,80,0,1,8192,0"]),
    ("streaming-reads", &["65536,34,100,0,0,1,0,0", "131072,33,100,0,0,1,0,0", "262144,33,100,0,0,1,0,0"]),
    ("streaming-writes", &["65536,34,0,0,0,1,0,0", "131072,33,0,0,0,1,0,0", "262144,33,0,0,0,1,0,0"]),
];

/// A test setup of this type that runs for 90 s after 5 s, as Iometer 1.1.0 saves it.
fn setup(test: &str) -> String {
    format!(
        "Version 1.1.0 \n\
         'TEST SETUP ====================================================================\n\
         'Test Description\n\tDrives, one after another\n\
         'Run Time\n'\thours      minutes    seconds\n\t0          1          30\n\
         'Ramp Up Time (s)\n\t5\n\
         'Default Disk Workers to Spawn\n\t4\n\
         'Default Network Workers to Spawn\n\t0\n\
         'Record Results\n\tALL\n\
         'Worker Cycling\n'\tstart      step       step type\n\t1          1          LINEAR\n\
         'Disk Cycling\n'\tstart      step       step type\n\t1          1          LINEAR\n\
         'Queue Depth Cycling\n'\tstart      end        step       step type\n\t1          32         2          EXPONENTIAL\n\
         'Test Type\n\t{test}\n\
         'END test setup\n\
         'RESULTS DISPLAY ===============================================================\n\
         'Record Last Update Results,Update Frequency,Update Type\n\tDISABLED,4,WHOLE_TEST\n\
         'Bar chart 1 statistic\n\tTotal I/Os per Second\n\
         'END results display\n"
    )
}

fn specs(specs: &[(&str, &[&str])]) -> String {
    let one = |(name, lines): &(&str, &[&str])| {
        let lines: String = lines.iter().map(|line| format!("\t{line}\n")).collect();
        format!(
            "'Access specification name,default assignment\n\t{name},NONE\n\
             'size,% of size,% reads,% random,delay,burst,align,reply\n{lines}"
        )
    };
    let all: String = specs.iter().map(one).collect();
    format!(
        "'ACCESS SPECIFICATIONS =========================================================\n{all}'END access specifications\n"
    )
}

/// Workers with outstanding I/Os, length and start in sectors, data pattern, and what they run.
fn workers(workers: &[(&str, &str, &[&str])]) -> String {
    let one = |(depth, disk, assigned): &(&str, &str, &[&str])| {
        let assigned: String = assigned.iter().map(|name| format!("\t{name}\n")).collect();
        format!(
            "'Worker\n\tWorker 1\n'Worker type\n\tDISK\n'Default target settings for worker\n\
             'Number of outstanding IOs,test connection rate,transactions per connection,use fixed seed,fixed seed value\n\
             \t{depth},DISABLED,1,DISABLED,0\n\
             'Disk maximum size,starting sector,Data pattern\n\t{disk}\n'End default target settings for worker\n\
             'Assigned access specs\n{assigned}'End assigned access specs\n\
             'Target assignments\n'Target\n\tE: \"Scratch\"\n'Target type\n\tDISK\n'End target\n\
             'End target assignments\n'End worker\n"
        )
    };
    let all: String = workers.iter().map(one).collect();
    format!(
        "'MANAGER LIST ==================================================================\n\
         'Manager ID, manager name\n\t1,BENCH\n'Manager network address\n\t\n{all}'End manager\n'END manager list\nVersion 1.1.0 \n"
    )
}

fn imported(text: &str) -> Import {
    import(Path::new("bench.icf"), text)
}

/// The plan that is written, read again.
fn plan(import: &Import) -> Plan {
    let text = plan_text(import, Path::new("a/bench.icf"), import.layout());
    parse(&text, PlanLength::Full, &[]).unwrap_or_else(|mistakes| panic!("{text}\n{mistakes:?}"))
}

/// The only workload of a text.
fn workload(lines: &[&str]) -> (Workload, Vec<Notice>) {
    let import = imported(&(setup("NORMAL") + &specs(&[("it", lines)]) + &workers(&[("1", "0,0,2", &["it"])])));
    assert!(!import.is_refused(), "{:?}", import.notices);
    let workload = import.jobs().next().unwrap().workload.clone();
    (workload, import.notices)
}

#[test]
fn the_profiles_that_are_built_in_come_out_as_they_are() {
    let names: Vec<&str> = PROFILES.iter().map(|(name, _)| *name).collect();
    let four = [("1", "0,0,2", &names[..]); 4];
    let import = imported(&(setup("NORMAL") + &specs(&PROFILES) + &workers(&four)));
    assert!(!import.is_refused(), "{:?}", import.notices);
    let plan = plan(&import);
    assert_eq!(plan.steps.len(), 7, "the target is written before it is read");
    for ((step, profile), job) in plan.steps[1..].iter().zip(profile::all()).zip(import.jobs()) {
        let Action::Measure(measure) = &step.action else { panic!("{} measures nothing", step.name) };
        let mut expected = Workload { stop: job.workload.stop, ramp: Nanos::from_secs(5), ..Workload::default() };
        profile.fields.iter().for_each(|(field, text)| field.set(&mut expected, text).unwrap());
        assert_eq!((step.name.as_str(), &measure.cells[0].workload), (profile.name, &expected));
        assert_eq!(job.workload, expected, "what is written is what was read");
        assert_eq!(job.workload.stop.time, Some(Nanos::from_secs(90)));
    }
    let told: Vec<&str> = import.notices.iter().map(|notice| notice.code).collect();
    assert_eq!(told, ["icf::sequences"; 2], "all else is as Iometer has it: {:?}", import.notices);
}

#[test]
fn sizes_have_shares_of_their_own_among_reads_and_writes() {
    let (found, notices) = workload(&["4096,50,100,100,0,1,4096,0", "65536,50,0,100,0,1,4096,0"]);
    assert_eq!((found.pattern, found.read_percent), (Pattern::RandRw, 50));
    assert_eq!(found.sizes.as_ref().unwrap().to_string(), "4k/100,64k/100");
    assert_eq!(found.align, Some(Bytes::from_kib(4)), "writes of 64 KiB begin at multiples of 4 KiB too");
    assert_eq!(notices, []);
    let (found, _) = workload(&["4096,60,100,0,0,1,0,0", "4096,20,50,0,0,1,0,0", "8192,20,50,0,0,1,0,0"]);
    assert_eq!((found.pattern, found.read_percent), (Pattern::ReadWrite, 80));
    assert_eq!(found.sizes.unwrap().to_string(), "4k/88:8k/12,4k/50:8k/50", "7 of 8 reads are of 4 KiB");
}

#[test]
fn a_line_s_share_is_one_of_bursts() {
    let (found, notices) = workload(&["4096,50,100,100,0,3,4096,0", "8192,50,0,100,0,1,4096,0"]);
    assert_eq!(found.read_percent, 75);
    assert_eq!(notices.iter().map(|notice| notice.code).collect::<Vec<_>>(), ["icf::burst"]);
}

#[test]
fn shares_that_are_no_whole_percents_are_told() {
    let (found, notices) = workload(&["512,50,67,100,0,1,0,0", "4096,50,80,100,0,1,0,0"]);
    assert_eq!((found.read_percent, found.sizes_of(Op::Read)[0].percent), (74, 46));
    assert_eq!(notices.len(), 3, "the share of reads, sizes of reads, sizes of writes: {notices:?}");
    assert!(notices[0].message.contains("73.50 %") && notices[0].to_string().contains("74 %"), "{}", notices[0]);
    let (found, _) = workload(&["512,99,100,100,0,1,0,0", "512,1,90,100,0,1,0,0"]);
    assert_eq!(found.read_percent, 99, "writes that are there are not lost");
}

#[test]
fn random_shares_that_differ_become_one() {
    let (found, notices) = workload(&["8192,50,100,100,0,1,8192,0", "8192,50,100,0,0,1,8192,0"]);
    assert_eq!((found.pattern, found.random_share, found.block), (Pattern::RandRead, 50.into(), Bytes::from_kib(8)));
    assert_eq!((notices[0].code, notices.len()), ("icf::random-by-size", 1));
}

#[test]
fn delays_are_pauses_after_bursts() {
    let (found, notices) = workload(&["4096,100,0,100,15,8,4096,0"]);
    assert_eq!((found.arrival.think, found.arrival.burst), (Nanos::from_millis(15), 8));
    assert_eq!(notices[0].code, "icf::delay");
    let (found, _) = workload(&["4096,75,0,100,0,1,4096,0", "4096,25,0,100,1,5,4096,0"]);
    assert_eq!((found.arrival.think, found.arrival.burst), (Nanos::from_micros(250), 2));
}

#[test]
fn alignment_counts_where_it_changes_anything() {
    for (line, align) in [
        ("4096,100,100,100,0,1,4096,0", None),
        ("4096,100,100,100,0,1,0,0", Some(512)),
        ("4096,100,100,100,0,1,65536,0", Some(65_536)),
        ("4096,100,100,0,0,1,0,0", None),
    ] {
        assert_eq!(workload(&[line]).0.align, align.map(Bytes::new), "{line}");
    }
    let (_, notices) = workload(&["512,100,100,0,0,1,4096,0"]);
    assert_eq!(notices[0].code, "icf::align", "requests in sequence would leave gaps");
}

#[test]
fn content_follows_the_data_pattern() {
    for (disk, compressible, code) in
        [("0,0,0", 100, Some("icf::data-pattern")), ("0,0,1", 0, Some("icf::data-pattern")), ("0,0,2", 0, None)]
    {
        let text =
            setup("NORMAL") + &specs(&[("w", &["4096,100,0,100,0,1,4096,0"])]) + &workers(&[("1", disk, &["w"])]);
        let import = imported(&text);
        assert_eq!(import.jobs().next().unwrap().workload.compressible, compressible, "{disk}");
        assert_eq!(import.notices.first().map(|notice| notice.code), code, "{disk}");
        assert!(!import.layout(), "nothing is read");
    }
}

#[test]
fn workers_that_differ_run_side_by_side_and_idle_ones_do_not() {
    let two: [(&str, &[&str]); 2] = [("r", &["4096,100,100,100,0,1,4096,0"]), ("w", &["65536,100,0,0,0,1,0,0"])];
    let text = setup("CYCLE_OUTSTANDING_IOS")
        + &specs(&two)
        + &workers(&[("8", "2048,4096,2", &["r", "r", "Idle"]), ("2", "0,0,2", &["w", "Idle", "Idle"])]);
    let import = imported(&text);
    let [IcfStep::Run { jobs, sweep }, IcfStep::Run { jobs: alone, .. }, IcfStep::Idle { time }] = &import.steps[..]
    else {
        panic!("{:?}", import.steps)
    };
    assert_eq!(jobs.iter().map(|job| job.name.as_str()).collect::<Vec<_>>(), ["r", "w"]);
    let read = &jobs[0].workload;
    assert_eq!(
        (read.queue_depth, read.workers, read.size, read.offset),
        (8, 1, Some(Bytes::from_mib(1)), Bytes::from_mib(2))
    );
    assert_eq!((alone.len(), *time, sweep.is_empty()), (1, Nanos::from_secs(90), true));
    assert!(import.notices.iter().any(|notice| notice.code == "icf::cycling"), "{:?}", import.notices);
    let text = plan_text(&import, Path::new("bench.icf"), false);
    assert!(text.contains("[[step.job]]\nname = \"r\"") && text.contains("iodepth = \"2\""), "{text}");
}

#[test]
fn test_types_become_sweeps() {
    let read: [(&str, &[&str]); 1] = [("r", &["4096,100,100,100,0,1,4096,0"])];
    for (test, expected) in [
        ("NORMAL", vec![]),
        ("CYCLE_OUTSTANDING_IOS", vec![(Field::Iodepth, vec![1, 2, 4, 8, 16, 32])]),
        ("6", vec![(Field::Iodepth, vec![1, 2, 4, 8, 16, 32])]),
        ("CYCLE_WORKERS", vec![(Field::Numjobs, vec![1, 2, 3])]),
    ] {
        let import = imported(&(setup(test) + &specs(&read) + &workers(&[("4", "0,0,2", &["r"][..]); 3])));
        let IcfStep::Run { jobs, sweep } = &import.steps[0] else { panic!("{test}") };
        assert_eq!((&jobs[0].workload.queue_depth, &jobs[0].workload.workers), (&4, &3));
        assert_eq!((sweep, import.notices.len()), (&expected, 0), "{test}: {:?}", import.notices);
        let cells = expected.iter().map(|(_, values)| values.len()).product::<usize>();
        let Action::Measure(measure) = &plan(&import).steps[1].action else { panic!("{test}") };
        assert_eq!(measure.cells.len(), cells, "{test}");
    }
}

/// Line ends, blanks, commas at ends, and headings of older versions change nothing.
#[test]
fn files_of_all_versions_give_the_same_plan() {
    let list: [(&str, &[&str]); 1] = [("All in one", &["8192,100,67,100,0,1,8192,0"])];
    let text = setup("NORMAL") + &specs(&list) + &workers(&[("16", "0,0,2", &["All in one"][..]); 2]);
    let expected = imported(&text);
    assert!(expected.notices.is_empty(), "{:?}", expected.notices);
    let excel: String = text.lines().map(|line| format!("{line},,,\r\n")).collect();
    let blanks = format!("\u{feff}{}", text.replace('\t', "    ").replace('\n', " \n\n"));
    for other in [text.replace('\n', "\r\n"), excel, blanks, text.replace("1.1.0 ", "1.1.0-rc1")] {
        assert_eq!(imported(&other).steps, expected.steps, "{other}");
    }
    for version in ["2004.07.30", "2006.07.27"] {
        let old = text
            .replace("1.1.0", version)
            .replace(",use fixed seed,fixed seed value", "")
            .replace(",DISABLED,1,DISABLED,0", ",DISABLED,1")
            .replace(",Data pattern\n\t0,0,2", "\n\t0,0")
            .replace("'Record Last Update Results,Update Frequency", "'Update Frequency");
        let import = imported(&old);
        assert_eq!((import.version.as_deref(), &import.steps), (Some(version), &expected.steps));
        let codes: Vec<&str> = import.notices.iter().map(|notice| notice.code).collect();
        assert_eq!(codes, ["icf::data-pattern"], "such a file does not say what is written");
    }
}

#[test]
fn without_workers_each_specification_is_a_test_of_the_default_workers() {
    let text = setup("NORMAL") + &specs(&PROFILES[..2]);
    let import = imported(&text);
    assert_eq!(
        import.jobs().map(|job| (job.name.as_str(), job.workload.workers)).collect::<Vec<_>>(),
        [("database", 4), ("file-server", 4)]
    );
    let chosen = imported(&text.replace("database,NONE", "database,DISK"));
    assert_eq!(chosen.jobs().map(|job| job.name.as_str()).collect::<Vec<_>>(), ["database"]);
    assert!(chosen.notices.iter().any(|notice| notice.message.contains("file-server")), "{:?}", chosen.notices);
    let alone = imported(&specs(&PROFILES[..1]));
    let codes: Vec<&str> = alone.notices.iter().map(|notice| notice.code).collect();
    assert!(codes.contains(&"icf::endless") && codes.contains(&"icf::workers"), "{codes:?}");
    assert_eq!(alone.jobs().next().unwrap().workload.stop.time, Some(Nanos::from_secs(60)));
    plan(&alone);
}

#[test]
fn iometer_s_own_specification_needs_no_saving() {
    let import =
        imported(&(setup("NORMAL") + &specs(&PROFILES[..1]) + &workers(&[("1", "0,0,2", &["Default", "lost"])])));
    let found = &import.jobs().next().unwrap().workload;
    assert_eq!((found.block, found.read_percent, found.align), (Bytes::from_kib(2), 67, None));
    let codes: Vec<&str> = import.notices.iter().map(|notice| notice.code).collect();
    assert_eq!((codes, import.jobs().count()), (vec!["icf::default", "icf::unknown-specification"], 1));
}

#[test]
fn what_cannot_be_read_is_told_with_its_line() {
    let good = setup("NORMAL") + &specs(&PROFILES[..1]) + &workers(&[("1", "0,0,2", &["database"])]);
    for (from, to, code, line, words) in [
        ("8192,100,67", "8192,90,67", "icf::shares", 36, "make 90 %"),
        ("8192,100,67", "8K,100,67", "icf::portion", 38, "`8K` is no whole number"),
        ("8192,100,67", "8000,100,67", "icf::size", 38, "give a multiple of 512"),
        ("8192,100,67", "8192,100,167", "icf::portion", 38, "more than 100 %"),
        ("1,8192,0\n", "1,1000,0\n", "icf::align", 38, "1000 B is not"),
        ("1          30", "30", "icf::number", 7, "hours, minutes and seconds"),
        ("\t1,DISABLED", "\t99999,DISABLED", "icf::workload", 36, "99999"),
    ] {
        let import = imported(&good.replacen(from, to, 1));
        let errors: Vec<&Notice> = import.notices.iter().filter(|notice| notice.severity == Severity::Error).collect();
        let error = errors.iter().find(|notice| notice.code == code).unwrap_or_else(|| panic!("{to}: {errors:?}"));
        assert_eq!(error.place.line, line, "{to}: {error}");
        assert!(error.to_string().contains(words), "{to}: {error}");
        assert!(render(&import.notices, &import.sources, false).contains(&format!("bench.icf:{line}:")), "{to}");
    }
    for nothing in ["", "[global]\nrw=read\n", "\u{feff}\r\n,,,"] {
        assert!(imported(nothing).is_refused(), "{nothing:?}");
    }
}

#[test]
fn what_has_no_place_in_a_plan_is_told() {
    let good = setup("NORMAL") + &specs(&PROFILES[..1]) + &workers(&[("1", "0,0,2", &["database"])]);
    for (from, to, code) in [
        ("'Test Type\n\tNORMAL", "'Test Type\n\tCYCLE_TARGETS", "icf::targets"),
        ("'Test Type\n\tNORMAL", "'Test Type\n\tSOMETHING", "icf::test-type"),
        ("'Ramp Up Time (s)", "'Warm Up Time", "icf::unknown-key"),
        ("1,8192,0\n", "1,8192,64\n", "icf::reply"),
        ("1,DISABLED,1", "1,ENABLED,1", "icf::connection-rate"),
        ("'End worker\n", "'End worker\n'Worker\n\tN\n'Worker type\n\tNETWORK,TCP\n'End worker\n", "icf::network"),
        ("'End target\n", "'End target\n'Target\n\tF: \"\"\n'Target type\n\tDISK\n'End target\n", "icf::targets"),
    ] {
        let import = imported(&good.replacen(from, to, 1));
        let codes: Vec<&str> = import.notices.iter().map(|notice| notice.code).collect();
        assert_eq!(codes, [code], "{to}: {:?}", import.notices);
        let text = plan_text(&import, Path::new("bench.icf"), true);
        assert!(text.contains(&format!("line {}: ", import.notices[0].place.line)), "the plan tells it too: {text}");
        plan(&import);
    }
}

/// The files of 1998, whose facts are in the corpus.
const OF_1998: [&str; 3] = [
    include_str!("../../../../cli/tests/corpus/traces/iometer-1998.icf"),
    include_str!("../../../../cli/tests/corpus/traces/iometer-1998-two-sizes.icf"),
    include_str!("../../../../cli/tests/corpus/traces/iometer-1998-named.icf"),
];

#[test]
fn specifications_of_1998_have_no_name_and_blanks_between_their_numbers() {
    let told = OF_1998.map(|text| {
        let import = imported(text);
        assert!(!import.is_refused(), "{:?}", import.notices);
        let jobs: Vec<_> = import.jobs().cloned().collect();
        let [job] = &jobs[..] else { panic!("{jobs:?}") };
        plan(&import);
        let mut workload = job.workload.clone();
        workload.stop = workload::Stop::default();
        (job.name.clone(), workload)
    });
    let [(one, alone), (two, sizes), (three, named)] = told;
    assert_eq!([&one[..], &two, &three], ["2 KiB; 67% Read; 100% random", "Untitled 1", "Office"]);
    // Random requests are aligned to sectors, for there is no word of another alignment.
    let sectors = Some(Bytes::new(512));
    let random =
        Workload { pattern: Pattern::RandRw, random_share: RandomShare::ALL, align: sectors, ..Workload::default() };
    assert_eq!(alone, Workload { block: Bytes::from_kib(2), read_percent: 67, ..random.clone() });
    let halves = Workload { random_share: 50.into(), read_percent: 50, ..random.clone() };
    assert_eq!(sizes, Workload { sizes: sizes.sizes.clone(), block: sizes.block, ..halves }, "half of each");
    assert_eq!(sizes.sizes.unwrap().to_string(), "512/100,4k/100");
    assert_eq!((named.read_percent, named.random_share), (65, 68.into()));
}

#[test]
fn a_line_of_1998_that_is_none_is_told_with_its_place() {
    let text = OF_1998[0].replace("2048 100 67", "2048 100 x");
    let import = imported(&text);
    assert!(import.is_refused());
    let is_it = |notice: &&Notice| notice.to_string().contains("`x` is no whole number");
    let notice = import.notices.iter().find(is_it).unwrap_or_else(|| panic!("{:?}", import.notices));
    assert_eq!(notice.place.line, 4);
}
