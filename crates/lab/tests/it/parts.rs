//! Sweeps over the parts of a simulated drive or rig: each value is a drive of its own, in the plan's own state.

use crate::support;
use assay_lab::{LabError, Metric, Outcome, Session, Silent, Simulated, Watch};
use block::{Nanos, Seed};
use drive::preset::Preset;

/// Expects that no drive with other parts is brought along.
struct NoOther;

impl Watch for NoOther {
    fn begin(&self, _: Nanos) {}
    fn step(&self, title: &str) {
        assert!(!title.contains("drive."), "{title}");
    }
    fn advance(&self, _: Nanos) {}
}

/// Small enough to be worn at once.
const SMALL: &str = "x25-m?capacity.user=2GiB";

/// Carries out `steps` on a new drive of this name, twice: the second time all is in the store.
fn carry_out(steps: &str, target: &str) -> Result<Outcome, LabError> {
    support::in_new_run(&format!("name = \"p\"\nrepeats = 1\n{steps}"), target, |store, run, plan| {
        let carry_out = |watch: &dyn Watch| {
            let mut subject = Simulated::new(Preset::find(target).unwrap());
            Session::new(store, run, plan, Seed::new(1), watch)?.carry_out(&mut subject, false)
        };
        carry_out(&Silent)?;
        // What is stored already is not measured again, whichever drive it is of.
        carry_out(&NoOther)
    })
}

/// The figure of every cell of the last step, by the cell's key.
fn figures(outcome: &Outcome, metric: Metric) -> Vec<(String, f64)> {
    let cells = &outcome.steps.last().unwrap().points;
    let key = |cell: &assay_lab::PointOutcome| {
        cell.point.iter().map(|(axis, value)| format!("{}={value}", axis.name())).collect::<Vec<_>>().join(" ")
    };
    cells.iter().map(|cell| (key(cell), cell.figure(metric).expect("it was measured").mean)).collect()
}

const WEAR: &str = "\
[[step]]
name = \"fill\"
do = \"fill\"
[[step]]
name = \"wear\"
do = \"condition\"
rw = \"randwrite\"
iodepth = 32
round = \"5s\"
at-least = \"200%\"
at-most = \"200%\"
";

#[test]
fn a_drive_with_more_spare_is_worn_like_the_target_and_writes_faster() {
    let measure = "[[step]]\nname = \"write\"\nrw = \"randwrite\"\niodepth = 32\nruntime = \"5s\"\n";
    let sweep = "sweep.drive.capacity.spare = [\"8%\", \"28%\"]\n";
    let swept = figures(&carry_out(&format!("{WEAR}{measure}{sweep}"), SMALL).unwrap(), Metric::Iops);
    let names: Vec<&str> = swept.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["drive.capacity.spare=8%", "drive.capacity.spare=28%"]);
    for (spare, (_, iops)) in ["8%", "28%"].into_iter().zip(&swept) {
        let alone = carry_out(&format!("{WEAR}{measure}"), &format!("{SMALL}&spare={spare}")).unwrap();
        let alone = figures(&alone, Metric::Iops)[0].1;
        assert!((iops / alone - 1.0).abs() < 0.03, "{spare}: swept {iops}, as a drive of its own {alone}");
    }
    assert!(swept[1].1 > swept[0].1 * 1.5, "{swept:?}");
}

#[test]
fn parts_and_fields_are_swept_together_and_the_target_beside_them() {
    let steps = "\
[[step]]
name = \"fill\"
do = \"fill\"
[[step]]
name = \"read\"
rw = \"randread\"
number_ios = 400
sweep.drive.channels = [1, 10]
sweep.iodepth = [1, 32]
[[step]]
name = \"as-it-is\"
rw = \"randread\"
number_ios = 400
sweep.iodepth = [1, 32]
";
    let outcome = carry_out(steps, SMALL).unwrap();
    let read = &outcome.steps[0].points;
    assert_eq!(read.len(), 4);
    let iops: Vec<f64> = read.iter().map(|cell| cell.figure(Metric::Iops).unwrap().mean).collect();
    assert!(iops[3] > iops[1] * 3.0, "ten channels serve 32 requests faster than one: {iops:?}");
    let own = figures(&outcome, Metric::Iops);
    assert!((own[1].1 / iops[3] - 1.0).abs() < 0.05, "the target has ten channels: {own:?} {iops:?}");
}

#[test]
fn a_faster_processor_lifts_what_holds_a_rig_up() {
    let steps = "[[step]]\nname = \"fill\"\ndo = \"fill\"\nbs = \"1m\"\n[[step]]\nname = \"read\"\nrw = \"randread\"\n\
                 iodepth = 64\nnumber_ios = 4000\nsweep.rig.host.cpus = [1, 8]\n";
    let rig = "toms-x25e-16?drive.capacity.user=1GiB";
    let iops = figures(&carry_out(steps, rig).unwrap(), Metric::Iops);
    assert!(iops[1].1 > iops[0].1 * 1.3, "{iops:?}");
}

#[test]
fn a_wrong_name_and_a_wrong_unit_are_explained_before_anything_is_done() {
    let sweep = |sweep: &str| format!("[[step]]\nname = \"s\"\nruntime = 1\n{sweep}\n");
    for (line, words) in [
        ("sweep.drive.capacity.spair = [\"7%\"]", "did you mean `capacity.spare`?"),
        ("sweep.drive.nand.read = [\"3 parsec\"]", "unknown unit `parsec`"),
        ("sweep.rig.host.cpus = [2]", "not in a rig"),
    ] {
        let said = carry_out(&sweep(line), SMALL).unwrap_err().to_string();
        assert!(said.contains("in step `s`") && said.contains(words), "{line}: {said}");
        assert!(said.contains("Nothing was changed"), "{said}");
    }
}
