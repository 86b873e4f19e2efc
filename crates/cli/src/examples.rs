//! Examples of each command, as its help and its manual page show them. A test runs every one.

/// What to type, and what that does.
type Example = (&'static str, &'static str);

/// The examples of the command of this name; those of the whole program for an empty one.
pub fn of(command: &str) -> &'static [Example] {
    match command {
        "" => &[
            ("assay review", "a simulated drive, in a minute"),
            ("assay review ./scratch.bin --size 2GiB --quick", "a file on this machine's disk"),
            ("assay run sim:x25-m --rw=randread --iodepth=32 --runtime=10s", "one workload"),
            ("assay show last", "the figures of the latest run"),
        ],
        "review" => &[
            ("assay review sim:x25-m --quick", "a simulated drive, shortened"),
            ("assay review ./scratch.bin --size 1GiB --dry-run", "what it would write, and how long it takes"),
            ("assay review sim:x25-m --plan access-time", "another method"),
            ("assay review --quick --live", "with a full-screen live view"),
            ("assay review --resume", "continue an interrupted review"),
        ],
        "sweep" => &[
            ("assay sweep queue-depth --quick", "the grid of a plan on the default drive"),
            ("assay sweep queue-depth sim:x25-e-32 --quick --format csv", "for a spreadsheet"),
            ("assay sweep queue-depth --quick --shard 3/4 --store 3.sqlite", "a part of the cells"),
        ],
        "run" => &[
            ("assay run sim:x25-m --rw=randread --bs=4k --iodepth=32 --runtime=10s", "random reads"),
            ("assay run ./scratch.bin --size=1g --profile file-server --runtime=5", "an access profile"),
            ("assay run job.fio sim:x25-m", "a fio job file"),
        ],
        "fio" => &[
            (
                "assay fio --name=a --filename=scratch.bin --size=8m --rw=randread --runtime=1 --time_based",
                "with fio's output",
            ),
            (
                "assay fio sim:x25-m --name=a --rw=randread --iodepth=32 --runtime=10 --output-format=json",
                "on a simulated drive",
            ),
        ],
        "import" => &[
            ("assay import job.fio --output plan.toml", "convert a job file into a plan"),
            ("assay import ssdconfig.xml --output drive.toml", "convert a configuration of MQSim's into a drive"),
            ("assay import run-blackbox.sh --output drive.toml", "convert a run script of FEMU's into a drive"),
            (
                "assay import ssd_config.h --base-ssd SAMSUNG_970PRO --output drive.toml",
                "convert one of the drives of NVMeVirt's header",
            ),
        ],
        "replicate" => &[
            ("assay replicate ocaholic-x25m", "reproduce one published review"),
            ("assay replicate qos --drive optane-p4800x --quick", "prediction errors of one drive"),
        ],
        "calibrate" => {
            &[("assay calibrate x25-m --figures small.toml --parameters nand.read=20us..80us", "fit one parameter")]
        }
        "drives" => &[
            ("assay drives", "all simulated drives"),
            ("assay drives show x25-m", "the parameters of one, with sources"),
            ("assay drives show --toml x25-m > mine.toml", "its file, to change"),
            ("assay drives fields nand", "what the file's tables may say"),
            (
                "assay drives new mine --from 'capacity=1TB, interface=SATA' > mine.toml",
                "a drive of your own from its data sheet",
            ),
            ("assay drives new disk --from 'capacity=8TB, rpm=7200, seek=8.5ms' > disk.toml", "and a disk"),
        ],
        "plans" => &[
            ("assay plans show review", "what a review does, step by step"),
            ("assay plans show --toml review > mine.toml", "its file, to change"),
            ("assay plans new my-plan > my-plan.toml", "a plan of your own to begin with"),
        ],
        "profiles" => &[("assay profiles", "all access profiles")],
        "runs" => &[
            ("assay runs", "all runs in the store"),
            ("assay runs --filter 'plan=review state=complete x25-m' --format json", "some of them, for programs"),
        ],
        "tag" => &[("assay tag last firmware-1.2 --note 'with the heat sink'", "add to the latest run")],
        "rm" => &[("assay rm 1 --yes", "remove run 1 without asking")],
        "show" => &[
            ("assay show last", "key figures of the latest run"),
            ("assay show 1 --format csv", "every measurement, for spreadsheets"),
            ("assay show last --format markdown", "for an issue or a chat"),
            ("assay show last --format jsonl --output figures.jsonl", "in a file"),
        ],
        "compare" => &[
            ("assay compare 1 2", "the second compared with the first"),
            ("assay compare 1 2 --fail-if-worse 5% --step depth-read --format json", "a guard in CI"),
            (
                "assay compare --interleave --rounds 2 --options=--quick sim:x25-m sim:x25-e-32",
                "two targets, alternately",
            ),
        ],
        "gate" => &[
            ("assay gate last --baseline main --fail-if-worse 10%", "the latest run, against a baseline"),
            ("assay gate last --limit 'randread-4k-qd1.p99 < 5ms' --junit gate.xml", "an absolute limit"),
        ],
        "fleet" => &[
            ("assay fleet", "the drives of the latest group"),
            (
                "assay fleet rack-7 --limit 'randread-4k-qd1.p99 < 5ms' --output fleet.html",
                "a page, with a sheet a drive",
            ),
            ("assay fleet rack-7 --output fleet.csv", "every figure of every drive"),
        ],
        "baseline" => &[
            ("assay baseline set main last", "make the latest run the baseline `main`"),
            ("assay baseline export main baseline.json", "a file for a repository"),
        ],
        "health" => &[
            ("assay health last", "before and after the latest run"),
            ("assay health sim:x25-m", "health of a drive, now"),
        ],
        "report" => &[("assay report last --out reports", "the report of the latest run")],
        "merge" => &[("assay merge a.sqlite b.sqlite -o all.sqlite", "all runs of two stores, each once")],
        "push" => &[("assay push http://localhost:7878 --token-file token", "all runs, to a server")],
        "serve" => &[
            ("assay serve", "at http://127.0.0.1:7878/"),
            ("assay serve --listen 127.0.0.1:0 --open", "at a free port, in the browser at once"),
        ],
        "attach" => &[
            ("assay attach x25-m --daemon", "a block device, printed as /dev/loopN"),
            #[cfg(feature = "ublk")]
            ("assay attach x25-m --ublk --daemon", "by the ublk driver, printed as /dev/ublkbN"),
        ],
        "attached" => &[("assay attached", "attached drives and their activity")],
        "detach" => &[("assay detach /dev/loop0", "detach it")],
        "fault" => &[("assay fault /dev/loop0 delay=50ms every=1000", "delay every thousandth request")],
        "doctor" => &[("assay doctor", "system requirements")],
        "config" => &[
            ("assay config", "current settings and their origin"),
            ("assay config review", "every option of a review"),
        ],
        "completions" => &[
            ("assay completions bash > ~/.local/share/bash-completion/completions/assay", "bash"),
            ("assay completions zsh > ~/.zfunc/_assay", "zsh, with ~/.zfunc in fpath"),
            ("assay completions fish > ~/.config/fish/completions/assay.fish", "fish"),
        ],
        "man" => &[("assay man ~/.local/share/man/man1", "then `man assay` shows the first")],
        _ => &[],
    }
}

/// The examples as help shows them, within 80 columns: the words behind the commands where all have room, else above.
pub fn text(command: &str) -> String {
    let column = of(command).iter().map(|(typed, _)| typed.len()).max().unwrap_or_default();
    let beside = of(command).iter().all(|(_, does)| column + does.len() + 4 <= 80);
    let lines = of(command).iter().map(|(typed, does)| match beside {
        true => format!("  {typed:<column$}  {does}"),
        false => format!("  # {does}\n  {typed}"),
    });
    lines.fold("Examples:".to_owned(), |text, line| format!("{text}\n{line}"))
}
