//! A client of an NBD server, past its first words, says anything: it is answered or hung up on, and the next is served.
//!
//! A panic in the server's thread, which costs one client its connection otherwise, ends the run.

#![no_main]

use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::LazyLock;
use std::time::Duration;

use attach::registry::Registry;
use attach::{Attachment, Terms};
use drive::preset::Preset;
use libfuzzer_sys::fuzz_target;

/// What fits into a socket without anybody reading.
const LONGEST: usize = 64 << 10;
/// No zeroes are wanted, and the export is the one without a name.
const HELLO: &[u8] = b"\0\0\0\x03IHAVEOPT\0\0\0\x01\0\0\0\0";

static SERVED: LazyLock<Attachment> = LazyLock::new(|| {
    let folder = std::env::temp_dir().join(format!("assay-fuzz-{}", std::process::id()));
    let registry = Registry::within(&folder).expect("the folder can be made");
    let drive = Preset::find("x25-m?capacity.user=1GiB").expect("it is built in").build();
    let attached = Attachment::by_nbd(&registry, "drive", drive, &Terms::default(), &folder.join("socket"));
    attached.expect("it can be attached")
});

fn connected() -> UnixStream {
    let stream = UnixStream::connect(SERVED.device()).expect("it is served");
    stream.set_read_timeout(Some(Duration::from_secs(4))).expect("it is a socket");
    stream
}

fuzz_target!(|bytes: &[u8]| {
    let mut stream = connected();
    stream.write_all(&[HELLO, &bytes[..bytes.len().min(LONGEST)]].concat()).ok();
    stream.shutdown(Shutdown::Write).ok();
    let ended = stream.read_to_end(&mut Vec::new());
    assert!(!ended.is_err_and(|error| error.kind() == std::io::ErrorKind::WouldBlock), "it is still connected");
    let mut next = connected();
    next.write_all(HELLO).expect("it is served");
    next.read_exact(&mut [0; 28]).expect("it is told how large the drive is");
    assert!(!SERVED.live().is_broken);
});
