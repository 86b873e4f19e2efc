//! Plans on real files: what is written, and what is said where nothing was.

use std::fs::{self, File};
use std::path::Path;
use std::sync::Mutex;

use crate::support;
use assay_lab::plan::{self, PlanLength};
use assay_lab::{Real, Session, Silent, Subject};
use block::{Bytes, Seed};
use engine::{Access, Target};
use store::{Store, StoredFinding};

const FILL: &str = "[[step]]\nname = \"fill\"\ndo = \"fill\"\n";
const READ: &str = "[[step]]\nname = \"read\"\nrw = \"randread\"\nnumber_ios = 10\nsweep.iodepth = [1, 2]\n";

/// Carries out these steps on a file of this size; the findings.
fn carry_out(steps: &str, path: &Path, access: &Access) -> Vec<StoredFinding> {
    let plan = plan::parse(&format!("name = \"p\"\nrepeats = 1\n{steps}"), PlanLength::Full).unwrap();
    let mut store = Store::open(&path.with_extension("sqlite")).unwrap();
    let mut subject = Real::new(Target::open(path, access).unwrap());
    let plan = plan.on(subject.capacity());
    let run = support::begin(&mut store, &plan, &path.display().to_string(), access.size);
    let store = Mutex::new(store);
    Session::new(&store, run, &plan, Seed::new(1), &Silent).unwrap().carry_out(&mut subject, true).unwrap();
    store.into_inner().unwrap().notes(run).unwrap()
}

fn sized(size: Bytes) -> Access {
    Access { size: Some(size), writes: true, create: true, ..Access::default() }
}

#[test]
fn a_fill_writes_everything_that_can_be_read_also_behind_the_last_whole_block() {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    // Sectors of 512 B that are written whole: all of them, and of 5,000 B the first nine.
    for (size, written) in [((3 << 20) + 512 * 7, (3 << 20) + 512 * 7), (5000, 4608), (512, 512)] {
        let path = directory.path().join(format!("{size}.bin"));
        assert!(
            carry_out(&format!("{FILL}{READ}").replace("sweep", "bs = 512\nsweep"), &path, &sized(Bytes::new(size)))
                .is_empty()
        );
        let content = fs::read(&path).unwrap();
        assert_eq!(content.len(), size as usize);
        let (whole, rest) = content.split_at(written as usize);
        assert!(whole.chunks(512).all(|sector| sector.iter().any(|byte| *byte != 0)), "{size} B");
        assert!(rest.iter().all(|byte| *byte == 0), "{size} B");
    }
}

#[test]
fn reads_of_what_was_never_written_are_found_once_a_step() {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let path = directory.path().join("new.bin");
    let found = carry_out(READ, &path, &sized(Bytes::from_mib(1)));
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].text.contains("never written") && found[0].step.as_deref() == Some("read"), "{found:?}");
    let filled = carry_out(&format!("{FILL}{READ}"), &directory.path().join("filled.bin"), &sized(Bytes::from_mib(1)));
    assert!(filled.is_empty(), "{filled:?}");
}

#[test]
fn a_hole_that_an_earlier_cell_made_is_found_and_one_outside_the_span_is_not() {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let trim = "[[step]]\nname = \"trim\"\nrw = \"trim\"\nbs = \"64k\"\nnumber_ios = 1\n";
    let before = READ.replace("\"read\"", "\"before\"");
    let behind = format!("{}offset = \"64k\"\n", READ.replace("\"read\"", "\"behind\"").replace("sweep", "#"));
    let path = directory.path().join("trimmed.bin");
    let found = carry_out(&format!("{FILL}{before}{trim}{READ}{behind}"), &path, &sized(Bytes::from_mib(1)));
    let steps: Vec<_> = found.iter().map(|note| note.step.as_deref()).collect();
    assert_eq!(steps, [Some("read")], "{found:?}");
}

#[test]
fn a_foreign_file_with_holes_is_read_with_a_finding() {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let path = directory.path().join("sparse.img");
    File::create(&path).unwrap().set_len(1 << 20).unwrap();
    assert_eq!(carry_out(READ, &path, &Access::default()).len(), 1);
}

/// Which of so many equal parts of the file hold anything.
fn written(path: &Path, parts: usize) -> Vec<bool> {
    let content = fs::read(path).unwrap();
    content.chunks(content.len() / parts).map(|part| part.iter().any(|byte| *byte != 0)).collect()
}

#[test]
fn what_is_written_in_order_goes_on_from_round_to_round() {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let path = directory.path().join("rounds.bin");
    let steps = |rounds| {
        format!(
            "[[step]]\nname = \"w\"\ndo = \"rounds\"\nrw = \"write\"\nbs = \"64k\"\nio_size = \"25%\"\n\
             rounds = {rounds}\nsteady = false\n"
        )
    };
    carry_out(&steps(3), &path, &sized(Bytes::from_mib(1)));
    assert_eq!(written(&path, 4), [true, true, true, false]);
}

#[test]
fn a_span_may_be_a_share_of_the_target() {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let path = directory.path().join("share.bin");
    let write = "[[step]]\nname = \"w\"\nrw = \"write\"\noffset = \"25%\"\nsize = \"50%\"\nio_size = \"200%\"\n";
    carry_out(write, &path, &sized(Bytes::from_mib(1)));
    assert_eq!(written(&path, 4), [false, true, true, false]);
}

#[test]
fn rounds_of_reads_may_begin_with_writes() {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let path = directory.path().join("pre-writes.bin");
    let rounds = "[[step]]\nname = \"r\"\ndo = \"rounds\"\nrw = \"randread\"\nnumber_ios = 4\n\
                  rounds = 2\nsteady = false\n";
    carry_out(rounds, &path, &sized(Bytes::from_kib(16)));
    assert_eq!(written(&path, 1), [false]);
    carry_out(&format!("{rounds}pre-writes = \"200ms\"\n"), &path, &sized(Bytes::from_kib(16)));
    assert_eq!(written(&path, 1), [true]);
}

#[test]
fn a_fill_of_several_files_writes_each_to_its_end_and_leaves_those_alone_that_were_written() {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let paths = ["a", "b", "c"].map(|name| directory.path().join(name));
    carry_out(FILL, &paths[0], &sized(Bytes::from_kib(100)));
    let before = fs::read(&paths[0]).unwrap();
    let parts: Vec<(&Path, Access)> = paths.iter().map(|path| (path.as_path(), sized(Bytes::from_kib(100)))).collect();
    let plan = plan::parse(&format!("name = \"p\"\nrepeats = 1\n{FILL}"), PlanLength::Full).unwrap();
    let mut store = Store::open(&directory.path().join("store.sqlite")).unwrap();
    let mut subject = Real::new(Target::open_parts(&parts).unwrap());
    let plan = plan.on(subject.capacity());
    let run = support::begin(&mut store, &plan, "a:b:c", None);
    let store = Mutex::new(store);
    Session::new(&store, run, &plan, Seed::new(2), &Silent).unwrap().carry_out(&mut subject, true).unwrap();
    assert_eq!(fs::read(&paths[0]).unwrap(), before);
    for path in &paths[1..] {
        let content = fs::read(path).unwrap();
        assert_eq!(content.len(), 100 << 10);
        assert!(content.chunks(4096).all(|page| page.iter().any(|byte| *byte != 0)), "{}", path.display());
    }
}
