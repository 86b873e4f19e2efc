//! The NBD server and clients of every kind: slow, rude, hostile, and gone.

use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::FileExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Duration;

use assay_attach::registry::{AttachedEntry, Registry};
use assay_attach::{AttachError, AttachOptions, Attachment, DataFile, Process, abort, detach, order};
use block::{Bytes, Lba, Nanos, Op, Request, Tag};
use drive::preset::Preset;
use drive::{Device, Drive};

const DRIVE: &str = "x25-m?capacity.user=1GiB";
/// How large that is.
const SIZE: u64 = 1 << 30;
/// One whose writes are answered as soon as they arrived, before flash of four times its time has programmed them.
const RISKY: &str = "x25-m?capacity.user=1GiB&controller.write=0us&controller.page_write=0us&nand.program=4ms";

// Commands of the protocol, flags of commands, errors.
const READ: u16 = 0;
const WRITE: u16 = 1;
const DISCONNECT: u16 = 2;
const FLUSH: u16 = 3;
const TRIM: u16 = 4;
const ZEROES: u16 = 6;
const FUA: u16 = 1 << 0;
const NO_HOLE: u16 = 1 << 1;
const IO: u32 = 5;
const INVALID: u32 = 22;
const NO_SPACE: u32 = 28;

fn registry(folder: &tempfile::TempDir) -> Registry {
    Registry::within(&folder.path().join("registry")).unwrap()
}

/// The file of data in this folder.
fn data(folder: &tempfile::TempDir) -> Option<DataFile> {
    Some(DataFile::backing(&folder.path().join("data"), true).unwrap())
}

/// A drive behind a socket.
struct Served {
    attachment: Attachment,
    socket: PathBuf,
}

impl Served {
    fn new(folder: &tempfile::TempDir, drive: &str) -> Self {
        Self::on(folder, drive, &AttachOptions { content: data(folder), ..AttachOptions::default() })
    }

    fn on(folder: &tempfile::TempDir, drive: &str, terms: &AttachOptions) -> Self {
        Self::of(folder, Preset::find(drive).unwrap().build(), terms)
    }

    fn of(folder: &tempfile::TempDir, drive: Device, terms: &AttachOptions) -> Self {
        let socket = folder.path().join("socket");
        let attachment = Attachment::by_nbd(&registry(folder), "drive", drive, terms, &socket).unwrap();
        Self { attachment, socket }
    }

    /// Somebody who has come and said nothing.
    fn stranger(&self) -> UnixStream {
        let stream = UnixStream::connect(&self.socket).unwrap();
        // A server that does not answer fails the test instead of hanging it.
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        stream
    }

    fn client(&self) -> Client {
        let mut stream = self.stranger();
        stream.read_exact(&mut [0; 18]).unwrap();
        stream.write_all(&hello()).unwrap();
        let mut told = [0; 10];
        stream.read_exact(&mut told).unwrap();
        assert_eq!(told[..8], SIZE.to_be_bytes());
        Client(stream)
    }

    /// That it still serves, and what it reads at a place.
    fn reads(&self, offset: u64, length: u32) -> Vec<u8> {
        let mut client = self.client();
        client.ask(READ, 0, 1, offset, length);
        assert_eq!(client.answer(), (1, 0));
        client.data(length)
    }
}

/// What a client says before its first request: no zeroes are wanted, and the export is the one without a name.
fn hello() -> Vec<u8> {
    [&3_u32.to_be_bytes()[..], b"IHAVEOPT", &1_u32.to_be_bytes(), &0_u32.to_be_bytes()].concat()
}

fn header(command: u16, flags: u16, cookie: u64, offset: u64, length: u32) -> Vec<u8> {
    let words = [0x2560_9513_u32.to_be_bytes(), (u32::from(flags) << 16 | u32::from(command)).to_be_bytes()].concat();
    [&words[..], &cookie.to_be_bytes(), &offset.to_be_bytes(), &length.to_be_bytes()].concat()
}

/// A client past its first words.
struct Client(UnixStream);

impl Client {
    fn ask(&mut self, command: u16, flags: u16, cookie: u64, offset: u64, length: u32) {
        self.0.write_all(&header(command, flags, cookie, offset, length)).unwrap();
    }

    fn write(&mut self, flags: u16, cookie: u64, offset: u64, data: &[u8]) {
        self.ask(WRITE, flags, cookie, offset, data.len() as u32);
        self.0.write_all(data).unwrap();
    }

    /// The cookie and the error of the next answer.
    fn answer(&mut self) -> (u64, u32) {
        let mut head = [0; 16];
        self.0.read_exact(&mut head).unwrap();
        assert_eq!(head[..4], 0x6744_6698_u32.to_be_bytes());
        (u64::from_be_bytes(head[8..].try_into().unwrap()), u32::from_be_bytes(head[4..8].try_into().unwrap()))
    }

    fn data(&mut self, length: u32) -> Vec<u8> {
        let mut data = vec![0; length as usize];
        self.0.read_exact(&mut data).unwrap();
        data
    }

    /// That the server has closed the connection.
    fn is_over(&mut self) -> bool {
        match self.0.read(&mut [0]) {
            Ok(length) => length == 0,
            Err(error) => error.kind() == ErrorKind::ConnectionReset,
        }
    }
}

#[test]
fn what_comes_a_byte_at_a_time_is_answered_as_what_comes_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let served = Served::new(&folder, DRIVE);
    let data: Vec<u8> = (0..4096_u32).map(|byte| (byte % 251) as u8).collect();
    let words = [
        hello(),
        header(WRITE, FUA, 1, 8192, 4096),
        data.clone(),
        header(FLUSH, 0, 2, 0, 0),
        header(WRITE, 0, 3, SIZE, 512),
        vec![1; 512],
        header(READ, 0, 4, 8192, 4096),
    ];
    let mut stream = served.stranger();
    stream.read_exact(&mut [0; 18]).unwrap();
    for byte in words.concat() {
        stream.write_all(&[byte]).unwrap();
    }
    stream.read_exact(&mut [0; 10]).unwrap();
    let mut client = Client(stream);
    let mut answers = Vec::new();
    for _ in 0..4 {
        let answer = client.answer();
        if answer == (4, 0) {
            assert_eq!(client.data(4096), data);
        }
        answers.push(answer);
    }
    answers.sort_unstable();
    assert_eq!(answers, [(1, 0), (2, 0), (3, NO_SPACE), (4, 0)]);
}

/// Flash of which some pages cannot be corrected after 1,000 h.
const ERRORS: &str = r#"
[errors]
source = "test"
fresh = "0.05%"
correctable = "0.5%"
retained = "900%"
retained_for = "1000 h"
spread = "60%"
steps = 2
gain = "150%"
step = "15 us"
soft = "600 us"
soft_gain = "110%"
"#;

#[test]
fn what_the_drive_itself_cannot_read_is_an_error_to_who_asks() {
    let folder = tempfile::tempdir().unwrap();
    let text = Preset::find(DRIVE).unwrap().text;
    let mut drive = Preset::parse(&format!("{text}{ERRORS}")).unwrap().build();
    drive.fill(Lba::new(0), Lba::at(Bytes::new(SIZE)), Bytes::from_kib(128), 100);
    let later = drive.now() + Nanos::from_secs(3_600 * 1_000);
    drive.submit(later, Tag(0), Request::new(Op::Read, Lba::new(0), 8));
    drive.complete(Nanos::MAX).unwrap();
    let before = drive.counters().failed;
    let served = Served::of(&folder, drive, &AttachOptions { content: data(&folder), ..AttachOptions::default() });
    let mut client = served.client();
    let mut failed = 0;
    for page in 0..500_u64 {
        client.ask(READ, 0, page, page << 20, 4096);
        match client.answer() {
            (cookie, 0) => {
                assert_eq!(cookie, page);
                client.data(4096);
            }
            (cookie, error) => {
                assert_eq!((cookie, error), (page, IO));
                failed += 1;
            }
        }
    }
    drop(client);
    let drive = served.attachment.detach().unwrap();
    assert!(failed > 0 && drive.counters().failed - before == failed, "{failed}: {:?}", drive.counters());
}

#[test]
fn a_drive_with_zones_is_refused_for_what_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let drive = Preset::find("zn540-1tb?host=none").unwrap().build();
    let socket = folder.path().join("socket");
    let error = Attachment::by_nbd(&registry(&folder), "zn540-1tb", drive, &AttachOptions::default(), &socket);
    let said = error.expect_err("nothing can say that it has zones").to_string();
    assert!(said.starts_with("zn540-1tb is a drive with zones") && said.contains("sim:zn540-1tb itself"), "{said}");
    assert!(!socket.exists(), "nothing is left");
}

#[test]
fn a_short_request_is_answered_before_a_long_one_that_came_earlier() {
    let folder = tempfile::tempdir().unwrap();
    // The long one takes half a second, which no wait for a processor makes up for.
    let slow = AttachOptions { content: data(&folder), speed: 1.0 / 16.0, ..AttachOptions::default() };
    let served = Served::on(&folder, DRIVE, &slow);
    let mut client = served.client();
    client.write(0, 1, 0, &vec![7; 8 << 20]);
    assert_eq!(client.answer(), (1, 0));
    let asked = [header(READ, 0, 2, 0, 8 << 20), header(WRITE, 0, 3, 512 << 20, 512), vec![1; 512]];
    client.0.write_all(&asked.concat()).unwrap();
    assert_eq!((client.answer().0, client.answer().0), (3, 2));
    assert!(client.data(8 << 20).iter().all(|byte| *byte == 7));
}

#[test]
fn zeroes_and_trims_read_as_zeroes_also_where_they_take_room() {
    let folder = tempfile::tempdir().unwrap();
    let served = Served::new(&folder, DRIVE);
    let mut client = served.client();
    client.write(0, 0, 0, &vec![7; 4 << 20]);
    client.answer();
    client.ask(ZEROES, NO_HOLE | FUA, 1, 512, (3 << 20) - 512);
    assert_eq!(client.answer(), (1, 0));
    client.ask(ZEROES, 0, 2, 3 << 20, 512);
    assert_eq!(client.answer(), (2, 0));
    client.ask(TRIM, 0, 3, (4 << 20) - 512, 512);
    assert_eq!(client.answer(), (3, 0));
    let read = served.reads(0, 4 << 20);
    let expected = |sector| if sector == 0 || (6145..8191).contains(&sector) { 7 } else { 0 };
    for (sector, data) in read.chunks(512).enumerate() {
        assert!(data.iter().all(|byte| *byte == expected(sector)), "sector {sector}");
    }
    // More than may be in memory at once.
    client.ask(ZEROES, NO_HOLE, 4, 0, 100 << 20);
    assert_eq!(client.answer(), (4, 0));
    assert!(served.reads(0, 512).iter().all(|byte| *byte == 0));
}

#[test]
fn nonsense_ends_its_own_connection_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let served = Served::new(&folder, DRIVE);
    served.client().write(0, 1, 0, &[7; 4096]);
    let mut random = testkit::Random::new(42);
    let mut garbage = |length: usize| (0..length).map(|_| random.byte()).collect::<Vec<u8>>();
    for round in 0..200 {
        let length = 1 + round * 7919 % 3000;
        let mut stranger = served.stranger();
        // Nobody has to listen to the end.
        stranger.write_all(&garbage(length)).ok();
        let mut stranger = served.stranger();
        stranger.write_all(&[&hello()[..4], &garbage(length)].concat()).ok();
        let mut client = served.client();
        client.0.write_all(&garbage(length.max(28))).ok();
        assert!(client.is_over(), "after {length} bytes of garbage");
        // Well-formed but for one field of the header.
        let mut client = served.client();
        let mut asked = header(READ, 0, 1, 0, 4096);
        let at = 4 + round % 24;
        asked[at] ^= garbage(1)[0];
        client.0.write_all(&asked).unwrap();
    }
    assert!(served.reads(0, 4096).len() == 4096 && served.attachment.is_served());
}

#[test]
fn what_is_too_long_or_beyond_the_drive_is_refused_and_the_client_may_go_on() {
    let folder = tempfile::tempdir().unwrap();
    let served = Served::new(&folder, DRIVE);
    let mut client = served.client();
    let table = [
        (READ, 0, u32::MAX, INVALID),
        (READ, 0, (32 << 20) + 512, INVALID),
        (READ, u64::MAX - 511, 512, INVALID),
        (READ, SIZE - 512, 1024, INVALID),
        (READ, 1, 512, INVALID),
        (READ, 0, 0, INVALID),
        (TRIM, u64::MAX, u32::MAX, INVALID),
        (ZEROES, SIZE, 512, NO_SPACE),
        (FLUSH, 1 << 63, 0, INVALID),
        (FLUSH, 0, 512, INVALID),
        (77, 0, 512, INVALID),
    ];
    for (number, (command, offset, length, error)) in table.into_iter().enumerate() {
        client.ask(command, 0, number as u64, offset, length);
        assert_eq!(client.answer(), (number as u64, error), "{command} {offset} {length}");
    }
    client.write(0, 1, 0, &vec![1; (32 << 20) + 512]);
    assert_eq!(client.answer(), (1, INVALID));
    client.write(0, 2, 0, &vec![2; 32 << 20]);
    assert_eq!(client.answer(), (2, 0));
    client.ask(READ, 0, 3, 0, 32 << 20);
    assert_eq!(client.answer(), (3, 0));
    assert!(client.data(32 << 20).iter().all(|byte| *byte == 2));
}

#[test]
fn as_many_idle_clients_as_there_may_be_lock_nobody_out_and_go_if_they_never_begin() {
    let folder = tempfile::tempdir().unwrap();
    let served = Served::new(&folder, DRIVE);
    // One that has begun may be idle for as long as it likes.
    let mut begun = served.client();
    let mut idle: Vec<UnixStream> = (0..64).map(|_| served.stranger()).collect();
    assert_eq!(served.reads(0, 512).len(), 512);
    for stream in &mut idle {
        // The greeting, and then the end.
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let mut told = Vec::new();
        stream.read_to_end(&mut told).unwrap();
        assert!(told.len() <= 18, "{told:?}");
    }
    begun.ask(FLUSH, 0, 1, 0, 0);
    assert_eq!(begun.answer(), (1, 0));
}

#[test]
fn one_who_talks_to_the_door_without_an_end_keeps_no_order_from_it() {
    let folder = tempfile::tempdir().unwrap();
    let served = Served::new(&folder, DRIVE);
    let entry = registry(&folder).entries().unwrap().remove(0);
    let mut name = entry.place.clone().into_os_string();
    name.push(".sock");
    let mut talker = UnixStream::connect(&name).unwrap();
    talker.write_all(&[b'a'; 64 << 10]).unwrap();
    let silent = UnixStream::connect(&name).unwrap();
    talker.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    // It is told something or hung up on, and not listened to any more.
    talker.read_to_end(&mut Vec::new()).ok();
    let mut done = order(&entry, None);
    for _ in 0..20 {
        if done.is_ok() {
            break;
        }
        // The silent one has two seconds.
        done = order(&entry, None);
    }
    done.unwrap();
    drop((silent, served));
}

#[test]
fn a_client_that_hangs_up_in_the_middle_is_forgotten() {
    let folder = tempfile::tempdir().unwrap();
    let served = Served::new(&folder, DRIVE);
    for length in [1, 27, 28, 29, 28 + 4096, 28 + 65536] {
        let mut client = served.client();
        client.ask(READ, 0, 1, 0, 1 << 20);
        let mut half = [header(WRITE, 0, 2, 0, 32 << 20), vec![9; 1 << 17]].concat();
        half.truncate(length);
        client.0.write_all(&half).unwrap();
    }
    assert!(served.reads(0, 4096).iter().all(|byte| *byte == 0), "half a write is no write");
    assert!(served.attachment.is_served());
}

#[test]
fn a_client_that_does_not_listen_keeps_nobody_waiting_and_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let served = Served::new(&folder, DRIVE);
    let mut deaf = served.client();
    let requests = 200;
    for cookie in 0..requests {
        deaf.ask(READ, 0, cookie, cookie << 20, 1 << 20);
    }
    for _ in 0..20 {
        assert_eq!(served.reads(0, 4096).len(), 4096);
    }
    let mut answers: Vec<_> = (0..requests)
        .map(|_| {
            let answer = deaf.answer();
            deaf.data(1 << 20);
            answer
        })
        .collect();
    answers.sort_unstable();
    assert_eq!(answers, (0..requests).map(|cookie| (cookie, 0)).collect::<Vec<_>>());
}

#[test]
fn who_takes_leave_gets_the_answers_first() {
    let folder = tempfile::tempdir().unwrap();
    let served = Served::new(&folder, DRIVE);
    let mut client = served.client();
    client.ask(READ, 0, 1, 0, 65536);
    client.write(0, 2, 0, &[1; 512]);
    client.ask(DISCONNECT, 0, 3, 0, 0);
    let mut answered = Vec::new();
    for _ in 0..2 {
        let (cookie, error) = client.answer();
        assert_eq!(error, 0);
        if cookie == 1 {
            client.data(65536);
        }
        answered.push(cookie);
    }
    answered.sort_unstable();
    assert_eq!((answered, client.is_over()), (vec![1, 2], true));
}

#[test]
fn durable_writes_and_flushes_of_any_client_survive_a_power_cut_and_others_need_not() {
    let folder = tempfile::tempdir().unwrap();
    let mut served = Served::new(&folder, RISKY);
    let (mut one, mut other) = (served.client(), served.client());
    one.write(0, 1, 0, &[1; 4096]);
    assert_eq!(one.answer(), (1, 0));
    other.ask(FLUSH, 0, 2, 0, 0);
    assert_eq!(other.answer(), (2, 0));
    one.write(FUA, 3, 4096, &[2; 4096]);
    assert_eq!(one.answer(), (3, 0));
    one.write(0, 4, 8192, &[3; 512]);
    assert_eq!(one.answer(), (4, 0));
    let switch = served.attachment.switch().unwrap();
    switch.flag.store(true, Ordering::Relaxed);
    drop(switch.waker);
    one.ask(READ, 0, 5, 0, 4096);
    assert_eq!(one.answer(), (5, IO));
    drop(served);
    let served = Served::new(&folder, RISKY);
    let letters: Vec<u8> = served.reads(0, 9 * 1024).chunks(512).map(|sector| sector[0]).collect();
    assert_eq!(letters, [&[1; 8][..], &[2; 8], &[0; 2]].concat());
}

#[test]
fn a_socket_is_taken_over_from_a_server_that_is_gone_and_from_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("socket");
    // Its listener ends, and the file stays.
    drop(std::os::unix::net::UnixListener::bind(&socket).unwrap());
    let served = Served::new(&folder, DRIVE);
    let registry = Registry::within(&folder.path().join("others")).unwrap();
    let attach = |socket: &Path, terms: &AttachOptions| {
        Attachment::by_nbd(&registry, "other", Preset::find(DRIVE).unwrap().build(), terms, socket)
    };
    assert!(attach(&socket, &AttachOptions::default()).is_err());
    assert_eq!(served.reads(0, 512).len(), 512);
    assert!(!assay_attach::in_use(&folder.path().join("other")));
    let client = served.client();
    assert!(assay_attach::in_use(&socket));
    drop(client);
    drop(served);
    assert!(!socket.exists());
    let file = folder.path().join("file");
    std::fs::write(&file, "kept").unwrap();
    assert!(attach(&file, &AttachOptions::default()).is_err());
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "kept");
    let asked = AttachOptions { partitions: true, ..AttachOptions::default() };
    assert!(matches!(attach(&socket, &asked), Err(AttachError::NoPartitions { .. })));
    assert!(std::fs::read_dir(folder.path().join("others")).unwrap().next().is_none(), "nothing is left");
}

#[test]
fn it_is_listed_and_fails_as_it_is_told_to_until_it_is_detached() {
    let folder = tempfile::tempdir().unwrap();
    let faults = vec!["read-error@2048-2055".parse().unwrap()];
    let served = Served::on(&folder, DRIVE, &AttachOptions { faults, held: true, ..AttachOptions::default() });
    let read = |offset| {
        let mut client = served.client();
        client.ask(READ, 0, 1, offset, 4096);
        client.answer().1
    };
    assert_eq!([read(0), read(1 << 20)], [0, IO]);
    let entry = registry(&folder).entries().unwrap().remove(0);
    assert_eq!((&entry.device, &*entry.drive, &entry.content), (&served.socket, "drive", &None));
    order(&entry, None).unwrap();
    // Orders are looked at when the server wakes.
    while read(1 << 20) != 0 {}
    let refused = [detach(&registry(&folder), &entry), abort(&entry)];
    assert!(refused.iter().all(|done| matches!(done, Err(AttachError::Held { .. }))), "{refused:?}");
    served.attachment.detach().unwrap();
    assert!(!entry.device.exists());
    assert!(std::fs::read_dir(folder.path().join("registry")).unwrap().next().is_none(), "nothing is left");
}

#[test]
fn what_a_killed_server_left_goes_when_its_socket_is_taken_over() {
    let folder = tempfile::tempdir().unwrap();
    let served = Served::on(&folder, DRIVE, &AttachOptions::default());
    let entry = registry(&folder).entries().unwrap().remove(0);
    served.attachment.detach().unwrap();
    // As it is after `kill -9`.
    let process = Process { pid: u32::MAX, started: 1 };
    registry(&folder).enter(&AttachedEntry { process, ..entry.clone() }).unwrap();
    drop(std::os::unix::net::UnixListener::bind(&entry.device).unwrap());
    let served = Served::on(&folder, DRIVE, &AttachOptions::default());
    assert_eq!(served.reads(0, 512).len(), 512);
}

#[test]
fn an_image_is_read_where_nothing_was_written_and_stays_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let image = folder.path().join("image");
    let file = std::fs::File::options().read(true).write(true).create_new(true).open(&image).unwrap();
    file.set_len(SIZE).unwrap();
    file.write_all_at(&[7; 8192], 1 << 20).unwrap();
    let served = Served::on(
        &folder,
        DRIVE,
        &AttachOptions { image: Some(DataFile::image_to_read(&image).unwrap()), ..AttachOptions::default() },
    );
    let mut client = served.client();
    client.write(0, 1, (1 << 20) + 512, &[9; 512]);
    assert_eq!(client.answer(), (1, 0));
    let found: Vec<u8> = served.reads(1 << 20, 2048).chunks(512).map(|sector| sector[0]).collect();
    assert_eq!(found, [7, 9, 7, 7]);
    let mut kept = [0; 8192];
    file.read_exact_at(&mut kept, 1 << 20).unwrap();
    assert_eq!(kept, [7; 8192]);
}
