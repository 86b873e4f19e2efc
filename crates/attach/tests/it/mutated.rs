//! Conversations of NBD clients, made of sound and unsound requests, cut and garbled: the drive answers or ends that connection,
//! and serves the next client.
//!
//! This is the target `nbd` of `fuzz/` in a bounded run.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::panic;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use assay_attach::registry::Registry;
use assay_attach::{AttachOptions, Attachment};
use drive::preset::Preset;
use proptest::prelude::*;

/// How large the drive is.
const SIZE: u64 = 1 << 30;
/// What fits into a socket without anybody reading.
const LONGEST: usize = 64 << 10;

/// How many panics there were, those that cost a client alone its connection included.
static PANICS: AtomicU32 = AtomicU32::new(0);

/// A drive behind a socket.
static SERVED: LazyLock<(tempfile::TempDir, Attachment)> = LazyLock::new(|| {
    let tell = panic::take_hook();
    panic::set_hook(Box::new(move |panic| {
        PANICS.fetch_add(1, Ordering::Relaxed);
        tell(panic);
    }));
    let folder = tempfile::tempdir().unwrap();
    let drive = Preset::find("x25-m?capacity.user=1GiB").unwrap().build();
    let registry = Registry::within(&folder.path().join("registry")).unwrap();
    let attachment =
        Attachment::by_nbd(&registry, "drive", drive, &AttachOptions::default(), &folder.path().join("socket"))
            .unwrap();
    (folder, attachment)
});

/// A client's first words: the export without a name, and no zeroes.
fn hello() -> Vec<u8> {
    [&3_u32.to_be_bytes()[..], b"IHAVEOPT", &1_u32.to_be_bytes(), &0_u32.to_be_bytes()].concat()
}

fn connected() -> UnixStream {
    let stream = UnixStream::connect(SERVED.1.device()).unwrap();
    // A server that does not answer fails the test instead of hanging it.
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    stream
}

/// Says this, and hears all that is answered until the end.
fn said(bytes: &[u8]) {
    let mut stream = connected();
    // The server may have hung up before the last word.
    stream.write_all(bytes).ok();
    stream.shutdown(std::net::Shutdown::Write).ok();
    let ended = stream.read_to_end(&mut Vec::new());
    assert!(!ended.is_err_and(|error| error.kind() == std::io::ErrorKind::WouldBlock), "it is still connected");
}

/// That the drive serves the next client, and that nothing went wrong on the way.
fn goes_on() {
    let mut stream = connected();
    stream.write_all(&[&hello()[..], &request(0, 0, 0, 512, &[])].concat()).unwrap();
    let mut told = [0; 18 + 10 + 16];
    stream.read_exact(&mut told).unwrap();
    assert_eq!(told[18..26], SIZE.to_be_bytes());
    assert_eq!(told[28..36], [0x67, 0x44, 0x66, 0x98, 0, 0, 0, 0], "it is answered without an error");
    stream.read_exact(&mut [0; 512]).unwrap();
    assert_eq!(PANICS.load(Ordering::Relaxed), 0);
    assert!(SERVED.1.is_served() && !SERVED.1.live().is_broken);
}

fn request(flags: u16, command: u16, offset: u64, length: u32, data: &[u8]) -> Vec<u8> {
    let head = [&0x2560_9513_u32.to_be_bytes()[..], &flags.to_be_bytes(), &command.to_be_bytes(), &7_u64.to_be_bytes()];
    [&head.concat()[..], &offset.to_be_bytes(), &length.to_be_bytes(), data].concat()
}

fn offset() -> impl Strategy<Value = u64> {
    let odd = [0, 1, 511, SIZE - 512, SIZE, SIZE + 1, 1 << 63, u64::MAX - 511, u64::MAX];
    prop_oneof![(0..SIZE / 512).prop_map(|sector| sector * 512), prop::sample::select(odd.to_vec()), any::<u64>()]
}

fn length() -> impl Strategy<Value = u32> {
    let odd = [0, 1, 512, (32 << 20) + 512, 1 << 31, u32::MAX - 511, u32::MAX];
    prop_oneof![(1..16_u32).prop_map(|sectors| sectors * 512), prop::sample::select(odd.to_vec()), any::<u32>()]
}

/// A request; a write has as much data behind it as it says, more, or less.
fn asked() -> impl Strategy<Value = Vec<u8>> {
    let flags = prop_oneof![Just(0), Just(1), (0..32_u16), any::<u16>()];
    let command = prop_oneof![0..8_u16, any::<u16>()];
    (flags, command, offset(), length(), 0..9000_usize, any::<bool>()).prop_map(
        |(flags, command, offset, length, other, is_right)| {
            let data =
                if command == 1 && is_right { (length as usize).min(16 << 10) } else { other * usize::from(!is_right) };
            request(flags, command, offset, length, &vec![9; data])
        },
    )
}

/// An option of the handshake.
fn option() -> impl Strategy<Value = Vec<u8>> {
    let length = |data: &[u8]| data.len() as u32;
    let odd = prop_oneof![Just(None), Just(Some(u32::MAX)), any::<u32>().prop_map(Some)];
    (0..12_u32, prop::collection::vec(any::<u8>(), 0..40), odd).prop_map(move |(option, data, odd)| {
        let said = odd.unwrap_or_else(|| length(&data));
        [b"IHAVEOPT", &option.to_be_bytes()[..], &said.to_be_bytes(), &data].concat()
    })
}

/// What a client says, with a byte here and there that is another.
fn conversation() -> impl Strategy<Value = Vec<u8>> {
    let start = prop_oneof![
        4 => Just(hello()),
        1 => prop::collection::vec(option(), 0..6).prop_map(|options| [&3_u32.to_be_bytes()[..], &options.concat()].concat()),
    ];
    let changes = prop_oneof![
        3 => Just(Vec::new()),
        1 => prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ];
    (start, prop::collection::vec(asked(), 0..12), changes, any::<prop::sample::Index>(), any::<bool>()).prop_map(
        |(start, asked, changes, end, is_cut)| {
            let mut bytes = [start, asked.concat()].concat();
            for (place, byte) in changes {
                let place = place.index(bytes.len());
                bytes[place] = byte;
            }
            let end = if is_cut { end.index(bytes.len() + 1) } else { bytes.len() };
            bytes.truncate(end.min(LONGEST));
            bytes
        },
    )
}

proptest! {
    // All cases share one drive: after one that failed, smaller ones prove nothing.
    #![proptest_config(ProptestConfig { cases: 400, max_shrink_iters: 0, ..ProptestConfig::default() })]

    #[test]
    fn a_client_is_answered_or_hung_up_on_and_the_next_is_served(bytes in conversation()) {
        said(&bytes);
        goes_on();
    }
}
