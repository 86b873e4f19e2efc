//! Every command in the documentation does what it says: on a simulated drive, on files and loop devices, and, where this
//! machine can attach drives, on attached ones. What a page shows and no test runs does not get past these tests.

mod attach;
mod fields;
mod figures;
mod flags;
mod fleet;
mod page;
mod serve;
mod shell;
mod start;

use lab::plan::Action;
use page::{Block, Page};
use shell::{Instead, Shell};

/// A test for each page that shows commands or plans, and the list of these pages.
macro_rules! pages {
    ($($test:ident: $page:literal, $run:expr;)*) => {
        const TRIED: &[&str] = &[$($page),*];

        $(#[test]
        fn $test() {
            $run(Page::read($page));
        })*
    };
}

pages! {
    both_commands_of_the_readme_run: "README.md", start::readme;
    five_minutes_with_assay_are_as_the_page_says: "docs/start.md", start::page;
    what_is_attached_is_as_the_page_says: "docs/attach.md", attach::page;
    every_example_of_the_page_on_serving_runs: "docs/serve.md", serve::page;
    every_recipe_of_the_page_on_many_machines_runs: "docs/fleet.md", fleet::page;
    every_example_of_the_page_on_figures_runs: "docs/calibration.md", figures::page;
    every_example_of_the_page_on_workloads_runs: "docs/workloads.md", workloads;
    every_example_of_the_page_on_method_runs: "docs/method.md", as_it_stands;
    every_example_of_the_page_on_plans_runs: "docs/plans.md", plans;
    every_example_of_the_page_on_file_systems_runs: "docs/file-systems.md", file_systems;
    every_example_of_the_page_on_databases_runs: "docs/database.md", databases;
    every_example_of_the_page_on_booting_runs: "docs/boot.md", as_it_stands;
    every_example_of_the_page_on_job_files_runs: "docs/import.md", job_files;
    every_example_of_the_page_on_iometer_runs: "docs/iometer.md", as_it_stands;
    every_example_of_the_page_on_what_goes_on_runs: "docs/live.md", as_it_stands;
    every_example_of_the_page_on_models_runs: "docs/models.md", as_it_stands;
    every_example_of_the_page_on_drive_files_runs: "docs/drive-files.md", as_it_stands;
    every_example_of_the_page_on_zones_runs: "docs/models-zoned.md", as_it_stands;
    every_example_of_the_page_on_settings_runs: "docs/configuration.md", as_it_stands;
    every_example_of_the_page_on_the_gate_runs: "docs/gate.md", gate;
    every_example_of_the_page_on_exit_codes_runs: "docs/exit-codes.md", as_it_stands;
    what_the_page_on_contributing_says_can_be_done_in_its_order: "docs/contributing.md", as_it_stands;
    what_introduces_the_command_runs: "crates/cli/README.md", start::introduction;
    what_introduces_the_store_runs: "crates/store/README.md", sql;
}

/// What blocks are called that are no commands: output and drawings, and code, which is documentation's own test, or pytest's
/// (`python/tests/test_docs.py`).
const NOT_TYPED: [&str; 5] = ["text", "rust", "rust,ignore", "python", "mermaid"];

#[test]
fn no_page_shows_what_no_test_runs() {
    let typed = |block: &Block| ["sh", "toml", "yaml"].contains(&block.kind.as_str()) || block.is_transcript();
    let mut shown = Vec::new();
    for page in Page::all() {
        let blocks = page.blocks();
        for block in blocks.iter().filter(|block| !typed(block)) {
            let known = NOT_TYPED.contains(&block.kind.as_str());
            assert!(known, "{}: write ```sh, ```toml, ```text or ```rust, not ```{}", block.at, block.kind);
        }
        shown.extend(blocks.iter().any(typed).then_some(page.name));
    }
    let mut tried: Vec<&str> = TRIED.to_vec();
    tried.sort_unstable();
    assert_eq!(shown, tried, "a page with commands or plans has its line in `pages!`");
}

/// Types every block of commands, and reviews by every plan.
fn as_it_stands(page: Page) {
    let shell = Shell::new(&[]);
    page.of_kind("sh").iter().for_each(|block| drop(shell.runs(block)));
    page.of_kind("toml").iter().for_each(|block| reviews(&shell, block));
}

/// Reviews a small drive by the plan, or the steps, that a block has; the log of an XFS that a review describes needs room,
/// and a trace all of the drive that it was recorded on.
fn reviews(shell: &Shell, block: &Block) {
    let plan = shell.scaled(&block.text);
    let named = if plan.starts_with("name = ") { plan } else { format!("name = \"example\"\n{plan}") };
    std::fs::write(shell.place.path("example.toml"), named).unwrap();
    let drive = match &block.text {
        text if text.contains("-l size=128m") => "x25-m?capacity.user=4GiB",
        text if text.contains("read_iolog") => "x25-m",
        _ => "x25-m?capacity.user=1GiB",
    };
    let text = format!("assay review --quick --plan example.toml 'sim:{drive}'");
    shell.runs(&Block { at: block.at.clone(), kind: "sh".to_owned(), text });
}

/// The page on the gate: its commands, then those of its CI job. How a file on this machine's disk compares is not asked: the
/// job ends well, or with what it says of a failed gate.
fn gate(page: Page) {
    let shell = Shell::new(&[]);
    page.of_kind("sh").iter().for_each(|block| drop(shell.runs(block)));
    for job in page.of_kind("yaml") {
        let steps = job_steps(&job.text);
        assert_eq!(steps.len(), 2, "{}: {steps:?}", job.at);
        for step in steps {
            std::fs::remove_file(shell.place.path("gate.md")).ok();
            let done = shell.types(&format!("export GITHUB_STEP_SUMMARY=summary.md\n{step}"));
            assert!(matches!(done.code, Some(0 | 1)), "{}: {:?}: {step}\n{}", job.at, done.code, done.err);
        }
        let summary = std::fs::read_to_string(shell.place.path("summary.md")).unwrap();
        assert!(summary.starts_with("### Gate: "), "{summary}");
        let junit = std::fs::read_to_string(shell.place.path("gate.xml")).unwrap();
        assert!(junit.contains("<testsuites "), "{junit}");
    }
}

/// What the steps of a job run: the lines below `run: |`, as far as they are set in.
fn job_steps(job: &str) -> Vec<String> {
    let mut steps: Vec<String> = Vec::new();
    let mut inset = None;
    for line in job.lines() {
        let depth = line.len() - line.trim_start().len();
        match inset {
            Some(outer) if depth > outer || line.trim().is_empty() => {
                let step = steps.last_mut().expect("it has begun");
                *step += &format!("{}\n", line.trim_start());
            }
            _ => inset = None,
        }
        if line.trim() == "run: |" {
            inset = Some(depth);
            steps.push(String::new());
        }
    }
    steps
}

/// The page on workloads, on drives that are soon made.
fn workloads(page: Page) {
    const INSTEAD: [Instead; 3] = [
        ("sim:x25-m ", "'sim:x25-m?capacity.user=4GiB' "),
        ("sim:ssd-320 ", "'sim:ssd-320?capacity.user=8GiB' "),
        ("sim:intel-520 ", "'sim:intel-520?capacity.user=4GiB' "),
    ];
    let shell = Shell::new(&INSTEAD);
    page.of_kind("sh").iter().for_each(|block| drop(shell.runs(block)));
    page.of_kind("toml").iter().for_each(|block| reviews(&shell, block));
    assert_eq!(shell.unused(&page), [""; 0], "the page does not say what is to be replaced");
}

/// The page on plans: those of what stands above a drive need one that is attached.
fn plans(page: Page) {
    const INSTEAD: [Instead; 2] = [
        ("repeats = 3\nsweep = { fs", "repeats = 1\nsweep = { fs"),
        ("runtime = \"1s\", sweep", "runtime = \"100ms\", sweep"),
    ];
    let shell = Shell::new(&INSTEAD);
    let (above, drives): (Vec<Block>, Vec<Block>) =
        page.of_kind("toml").into_iter().partition(|block| block.text.contains("do = \"files\""));
    drives.iter().for_each(|block| reviews(&shell, block));
    if crate::support::attached::can_attach() {
        above.iter().for_each(|block| reviews(&shell, block));
        assert_eq!(shell.unused(&page), [""; 0], "the page does not say what is to be replaced");
    }
}

/// The page on file systems: as many kinds of cells, each smaller and shorter.
fn file_systems(page: Page) {
    const INSTEAD: [Instead; 2] = [
        ("size = \"4GiB\"\nruntime = \"10s\"", "size = \"64MiB\"\nruntime = \"100ms\"\nrepeats = 1"),
        ("\"ext4\", \"xfs\"], threads = [1, 8, 64]", "\"ext4\"], threads = [1, 8]"),
    ];
    trials(&page, &INSTEAD);
}

/// The page on databases: the least and a middling number of clients, and each once.
fn databases(page: Page) {
    const INSTEAD: [Instead; 3] = [
        ("clients = [1, 2, 4, 8, 16, 32, 64, 128]", "clients = [1, 8]"),
        ("scale = 1, runtime = \"2s\" }", "scale = 1, runtime = \"1s\", repeats = 1 }"),
        ("clients = 10, transactions = 20 }", "clients = 10, transactions = 20, repeats = 1 }"),
    ];
    trials(&page, &INSTEAD);
}

/// Steps that try what stands above a drive. Where they cannot be tried they are read.
fn trials(page: &Page, instead: &'static [Instead]) {
    let shell = Shell::new(instead);
    for block in page.of_kind("toml") {
        let text = format!("name = \"example\"\n{}", shell.scaled(&block.text));
        let read = lab::plan::parse(&text, lab::plan::PlanLength::Quick);
        let plan = read
            .unwrap_or_else(|error| panic!("{}: {}", block.at, lab::plan::render(&error, &page.name, &text, false)));
        let lacking = plan.steps.iter().find_map(|step| match &step.action {
            Action::Trial(trials) => {
                trials.points.iter().find_map(|point| trials.experiment.unavailable(&point.choices))
            }
            _ => None,
        });
        match lacking {
            Some(lacking) => crate::support::skip(&lacking),
            None if crate::support::attached::can_attach() => reviews(&shell, &block),
            None => {}
        }
    }
    assert_eq!(shell.unused(page), [""; 0], "the page does not say what is to be replaced");
}

/// A scenario of MQSim's that takes a moment.
const MQSIMS: &str = "<MQSim_IO_Scenarios><IO_Scenario><IO_Flow_Parameter_Set_Synthetic>
<Device_Level_Data_Caching_Mode>WRITE_CACHE</Device_Level_Data_Caching_Mode>
<Channel_IDs>0</Channel_IDs><Chip_IDs>0</Chip_IDs><Die_IDs>0</Die_IDs><Plane_IDs>0</Plane_IDs>
<Initial_Occupancy_Percentage>0</Initial_Occupancy_Percentage><Working_Set_Percentage>1</Working_Set_Percentage>
<Synthetic_Generator_Type>QUEUE_DEPTH</Synthetic_Generator_Type><Average_No_of_Reqs_in_Queue>4</Average_No_of_Reqs_in_Queue>
<Read_Percentage>0</Read_Percentage><Address_Distribution>RANDOM_UNIFORM</Address_Distribution>
<Generated_Aligned_Addresses>false</Generated_Aligned_Addresses>
<Request_Size_Distribution>FIXED</Request_Size_Distribution><Average_Request_Size>8</Average_Request_Size>
<Stop_Time>1000000</Stop_Time></IO_Flow_Parameter_Set_Synthetic></IO_Scenario></MQSim_IO_Scenarios>";

/// The page on fio's job files and simulators' files, with one of each.
fn job_files(page: Page) {
    let shell = Shell::new(&[]);
    let job = "[job]\nfilename=scratch.fio\nrw=randread\nbs=4k\nsize=16m\nnumber_ios=100\n";
    std::fs::write(shell.place.path("job.fio"), job).unwrap();
    std::fs::write(shell.place.path("ssdconfig.xml"), "<Execution_Parameter_Set/>").unwrap();
    std::fs::write(shell.place.path("workload.xml"), MQSIMS).unwrap();
    std::fs::write(shell.place.path("run-blackbox.sh"), "qemu-system-x86_64 -device femu,devsz_mb=1024,femu_mode=1\n")
        .unwrap();
    std::fs::write(shell.place.path("ssd_config.h"), crate::simulator_corpus::header()).unwrap();
    page.of_kind("sh").iter().for_each(|block| drop(shell.runs(block)));
}

/// A question to the store in SQL, once there is something in it.
fn sql(page: Page) {
    let shell = Shell::new(&[]);
    assert_eq!(shell.types("assay run --number_ios=100").code, Some(0));
    for block in page.of_kind("sh") {
        let Some(printed) = shell.runs(&block) else { continue };
        let figures = printed.out.trim().split('|').count();
        assert_eq!(figures, 4, "{}: a step, a cell and two figures: {}", block.at, printed.out);
    }
}
