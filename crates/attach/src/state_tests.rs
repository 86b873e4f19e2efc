//! What is saved is what is resumed, or refused.

use block::{Lba, Nanos, Op};

use std::fs::File;

use super::*;

const DRIVE: &str = "x25-m?capacity.user=1GiB";

struct Saved {
    folder: tempfile::TempDir,
    file: StateFile,
}

impl Saved {
    /// The state of a drive that was written to, with data of a gibibyte.
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let backing = folder.path().join("data");
        let data = DataFile::backing(&backing, false).unwrap();
        data.fit(Bytes::from_gib(1)).unwrap();
        let (file, mut drive) = (StateFile::beside(&backing), worked());
        file.prepare().unwrap();
        file.save(DRIVE, &mut drive, Some(&data)).unwrap();
        Self { folder, file }
    }

    fn backing(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn resumed(&self, preset: &str) -> Result<Resumed, StateError> {
        let data = DataFile::backing(&self.backing(), true).unwrap();
        self.file.resume(&Preset::find(preset).unwrap(), Some(&data))
    }

    fn refused(&self, preset: &str) -> String {
        self.resumed(preset).unwrap_err().to_string()
    }

    /// Changes a byte of the file.
    fn damage(&self, place: usize) {
        let mut bytes = fs::read(self.file.path()).unwrap();
        bytes[place] ^= 4;
        fs::write(self.file.path(), bytes).unwrap();
    }
}

/// A drive that holds something unsaved, with a request in flight.
fn worked() -> Device {
    let mut drive = Preset::find(DRIVE).unwrap().build();
    for page in 0..100 {
        drive.submit(drive.now(), Tag(0), Request::new(Op::Write, Lba::new(page * 24), 11));
        drive.complete(Nanos::MAX).unwrap();
    }
    drive.submit(drive.now(), Tag(7), Request::new(Op::Write, Lba::new(3), 5));
    drive
}

#[test]
fn a_drive_goes_on_as_it_was_saved_with_nothing_left_to_lose() {
    let saved = Saved::new();
    assert_eq!(saved.file.path(), saved.folder.path().join("data.state"));
    let preset = Preset::find(DRIVE).unwrap();
    let Resumed { drive, is_behind, knows_data } = saved.resumed(DRIVE).unwrap();
    assert!(!is_behind && knows_data && drive.unsaved(drive.now()).is_empty() && drive.next_event().is_none());
    assert_eq!(drive.counters().requests, [0, 101, 0, 1]);
    let mut settled = worked();
    settle(&mut settled);
    assert_eq!((drive.now(), drive.counters()), (settled.now(), settled.counters()));
    assert!(saved.file.resume(&preset, None).is_ok(), "a state can be used without the data");
}

#[test]
fn what_was_written_since_makes_a_state_that_is_behind() {
    let saved = Saved::new();
    let later = std::time::SystemTime::now() + std::time::Duration::from_secs(5);
    File::options().write(true).open(saved.backing()).unwrap().set_modified(later).unwrap();
    let resumed = saved.resumed(DRIVE).unwrap();
    assert!(resumed.is_behind && !resumed.knows_data);
}

#[test]
fn the_state_of_another_drive_or_of_other_data_is_refused() {
    let saved = Saved::new();
    let said = saved.refused("x25-m?capacity.user=2GiB");
    assert!(said.contains(&format!("is the state of {DRIVE}, not of x25-m?capacity.user=2GiB")), "{said}");
    let changed = Preset { name: DRIVE.to_owned(), ..Preset::find("x25-m?capacity.user=1GiB&nand.read=20us").unwrap() };
    let said = saved.file.resume(&changed, None).unwrap_err().to_string();
    assert!(said.contains("with other parameters"), "{said}");
    File::options().write(true).open(saved.backing()).unwrap().set_len(4096).unwrap();
    let said = saved.refused(DRIVE);
    assert!(said.contains("with data of 1 GiB") && said.contains("has 4 KiB"), "{said}");
    fs::remove_file(saved.backing()).unwrap();
    assert!(saved.refused(DRIVE).contains("has 0 B"));
}

#[test]
fn a_damaged_file_is_refused() {
    let saved = Saved::new();
    let length = fs::metadata(saved.file.path()).unwrap().len() as usize;
    for place in [HEAD, HEAD + 40, length / 2, length - 1] {
        saved.damage(place);
        assert!(saved.refused(DRIVE).contains("checksum is wrong"), "byte {place}");
        saved.damage(place);
    }
    saved.damage(MAGIC.len());
    let said = format!("has format {}, and this version of assay reads format {FORMAT}", FORMAT ^ 4);
    assert!(saved.refused(DRIVE).contains(&said));
    saved.damage(MAGIC.len());
    assert!(saved.file.resume(&Preset::find(DRIVE).unwrap(), None).is_ok(), "as it was");
    let whole = fs::read(saved.file.path()).unwrap();
    fs::write(saved.file.path(), &whole[..length - 1]).unwrap();
    assert!(saved.refused(DRIVE).contains("its length does not match its header"));
    fs::write(saved.file.path(), &whole[..HEAD - 1]).unwrap();
    assert!(saved.refused(DRIVE).contains("truncated"));
    fs::write(saved.file.path(), "no state").unwrap();
    assert!(saved.refused(DRIVE).contains("is not the state of a drive"));
}

/// Writes another body behind the head, which has its length and sum.
fn rewrite(path: &Path, body: &[u8]) {
    let head = fs::read(path).unwrap()[..MAGIC.len() + 4].to_vec();
    let (sum, length) = (crc32c::crc32c(body).to_le_bytes(), (body.len() as u64).to_le_bytes());
    fs::write(path, [&head, &sum[..], &length, body].concat()).unwrap();
}

/// Its sum says that a file is as it was written, not that it was written by assay.
#[test]
fn a_state_that_somebody_made_up_is_a_drive_that_works_or_is_refused() {
    let saved = Saved::new();
    let body = fs::read(saved.file.path()).unwrap()[HEAD..].to_vec();
    let preset = Preset::find(DRIVE).unwrap();
    let mut random = testkit::Random::new(42);
    let mut next = |below: usize| random.place(below);
    let mut refused = 0;
    for round in 0..300 {
        let mut changed = body.clone();
        for _ in 0..1 + round % 4 {
            let place = next(changed.len());
            match round % 3 {
                0 => changed[place] = [0, 1, 127, 128, 255][next(5)],
                1 => changed.truncate(place.max(1)),
                _ => changed.splice(place..place, [255, 255, 255, 255, 15]).for_each(drop),
            }
        }
        rewrite(saved.file.path(), &changed);
        refused += u32::from(saved.file.resume(&preset, None).is_err());
    }
    assert!(refused > 100, "{refused} of 300");
}

#[test]
fn a_state_that_is_longer_than_such_a_drive_s_can_be_is_not_read() {
    let saved = Saved::new();
    let length: u64 = 1 << 40;
    let mut bytes = fs::read(saved.file.path()).unwrap();
    bytes[HEAD - 8..HEAD].copy_from_slice(&length.to_le_bytes());
    fs::write(saved.file.path(), bytes).unwrap();
    File::options().write(true).open(saved.file.path()).unwrap().set_len(length + HEAD as u64).unwrap();
    assert!(saved.refused(DRIVE).contains("longer than the state of such a drive can be"));
}

#[test]
fn only_a_state_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let letter = folder.path().join("letter");
    let file = StateFile::at(&letter);
    file.prepare().unwrap();
    // It comes there while the drive is attached.
    fs::write(&letter, "somebody's").unwrap();
    assert!(file.save(DRIVE, &mut worked(), None).unwrap_err().to_string().contains("not the state of a drive"));
    assert!(file.prepare().is_err());
    assert_eq!(fs::read_to_string(&letter).unwrap(), "somebody's");
    std::os::unix::fs::symlink(&letter, folder.path().join("link")).unwrap();
    let said = StateFile::at(&folder.path().join("link")).prepare().unwrap_err().to_string();
    assert!(said.contains("is a symbolic link"), "{said}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "nothing else is left");
}

/// The names of the fields that a drive is made of, in the order in which they are written.
fn fields(name: &str) -> Vec<String> {
    let drive = format!("{:?}", Preset::find(name).unwrap().build());
    let mut names: Vec<String> = Vec::new();
    for (word, _) in drive.split([' ', '(', '[']).filter_map(|word| word.split_once(':')) {
        if !names.iter().any(|name| name == word) {
            names.push(word.to_owned());
        }
    }
    names
}

/// Who changes what drives are made of must make [`FORMAT`] another, and then these sums.
#[test]
fn files_of_this_format_hold_the_fields_that_drives_are_made_of() {
    let sums = [DRIVE, "raptor-150", "solid-data-dram"].map(|name| crc32c::crc32c(fields(name).join(" ").as_bytes()));
    assert_eq!((FORMAT, sums), (31, [4_029_131_453, 3_544_001_463, 3_072_179_381]), "{:?}", fields("solid-data-dram"));
}
