//! Compressed files, read as what was compressed, in bounded memory.

use std::io::{self, BufRead, BufReader, Cursor, Read};

use flate2::bufread::MultiGzDecoder;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

/// How a file may be compressed: what it begins with, its name, and how it is read, or with what it is unpacked.
const PACKED: [(&[u8], &str, Result<Unpack, &str>); 6] = [
    (b"\x1f\x8b", "gzip", Ok(|file| Box::new(MultiGzDecoder::new(file)))),
    (b"\x28\xb5\x2f\xfd", "zstd", Ok(|file| Box::new(Zstd::new(file)))),
    (b"BZh", "bzip2", Err("bzip2 -dc")),
    (b"\xfd7zXZ\0", "xz", Err("xz -dc")),
    (b"PK\x03\x04", "zip", Err("unzip -p")),
    (b"7z\xbc\xaf\x27\x1c", "7z", Err("7z x -so")),
];

type Unpack = fn(Packed) -> Box<dyn Read>;

/// A file from its begin on.
type Packed = BufReader<io::Chain<Cursor<Vec<u8>>, Box<dyn Read>>>;

/// What `file` holds once it is unpacked.
///
/// # Errors
/// If it cannot be read, or is compressed in a way that is not read here.
pub(super) fn unpacked(mut file: Box<dyn Read>) -> io::Result<Box<dyn Read>> {
    let mut begin = Vec::new();
    file.by_ref().take(8).read_to_end(&mut begin)?;
    let found = PACKED.iter().find(|(magic, ..)| begin.starts_with(magic));
    let file = Cursor::new(begin).chain(file);
    match found {
        None => Ok(Box::new(file)),
        Some((_, _, Ok(unpack))) => Ok(unpack(BufReader::with_capacity(1 << 16, file))),
        Some((_, name, Err(command))) => {
            let words = format!("it is compressed by {name}; unpack it: `{command} FILE | assay run … --read_iolog=-`");
            Err(io::Error::new(io::ErrorKind::Unsupported, words))
        }
    }
}

/// The frames of a file of zstd, one after another. The decoder takes no window of more than 100 MiB.
struct Zstd {
    file: Packed,
    frame: FrameDecoder,
    is_within: bool,
}

impl Zstd {
    fn new(file: Packed) -> Self {
        Self { file, frame: FrameDecoder::new(), is_within: false }
    }

    /// Begins the next frame; false at the end.
    fn begin(&mut self) -> io::Result<bool> {
        while !self.file.fill_buf()?.is_empty() {
            match self.frame.reset(&mut self.file) {
                Ok(()) => return Ok(true),
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame { length, .. })) => {
                    io::copy(&mut self.file.by_ref().take(u64::from(length)), &mut io::sink())?;
                }
                Err(error) => return Err(damaged(&error)),
            }
        }
        Ok(false)
    }
}

impl Read for Zstd {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if self.is_within {
                let read = self.frame.read(buffer)?;
                if read > 0 || buffer.is_empty() {
                    return Ok(read);
                }
            }
            if !self.is_within || self.frame.is_finished() {
                self.is_within = self.begin()?;
                if !self.is_within {
                    return Ok(0);
                }
            }
            let blocks = BlockDecodingStrategy::UptoBlocks(1);
            self.frame.decode_blocks(&mut self.file, blocks).map_err(|error| damaged(&error))?;
        }
    }
}

fn damaged(error: &FrameDecoderError) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("it is no whole file of zstd: {error}"))
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    fn whole(bytes: Vec<u8>) -> Result<Vec<u8>, String> {
        let mut text = Vec::new();
        let read = unpacked(Box::new(Cursor::new(bytes))).and_then(|mut file| file.read_to_end(&mut text));
        read.map(|_| text).map_err(|error| error.to_string())
    }

    /// What a program makes of its input; none where it is not installed.
    fn packed(command: &[&str], text: &[u8]) -> Option<Vec<u8>> {
        let mut child =
            Command::new(command[0]).args(&command[1..]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().ok()?;
        let (mut input, text) = (child.stdin.take().unwrap(), text.to_vec());
        let writer = std::thread::spawn(move || io::Write::write_all(&mut input, &text));
        let output = child.wait_with_output().unwrap();
        writer.join().unwrap().unwrap();
        output.status.success().then_some(output.stdout)
    }

    #[test]
    fn what_is_compressed_is_read_as_what_it_was() {
        let text: Vec<u8> =
            (0..200_000_u32).flat_map(|number| format!("{number},R,{}\n", number * 7 % 1013).into_bytes()).collect();
        assert_eq!(whole(text.clone()).unwrap(), text);
        assert_eq!(whole(Vec::new()).unwrap(), b"");
        for command in [&["gzip", "-c"][..], &["zstd", "-qc"], &["zstd", "-qc", "-19", "--no-check"]] {
            let Some(small) = packed(command, &text) else {
                eprintln!("skipped: {} is not installed", command[0]);
                continue;
            };
            assert_eq!(whole(small.clone()).unwrap(), text, "{command:?}");
            let twice = [&small[..], &small[..]].concat();
            assert_eq!(whole(twice).unwrap().len(), 2 * text.len(), "{command:?}, two in one file");
            assert!(whole(small[..small.len() / 2].to_vec()).is_err(), "{command:?}, cut off");
            let mut bad = small.clone();
            let middle = bad.len() / 2;
            bad[middle..middle + 64].fill(0xaa);
            let _ = whole(bad);
        }
    }

    #[test]
    fn frames_that_are_to_be_skipped_are_skipped() {
        // A frame of five bytes as they are: a window of its size, one raw block.
        let frame = [&b"\x28\xb5\x2f\xfd\x20\x05\x29\0\0"[..], b"hello"].concat();
        let skipped = [&b"\x50\x2a\x4d\x18\x03\0\0\0"[..], b"abc"].concat();
        assert_eq!(whole(frame.clone()).unwrap(), b"hello");
        assert_eq!(whole([frame.clone(), skipped, frame].concat()).unwrap(), b"hellohello");
    }

    #[test]
    fn what_is_not_unpacked_here_is_named_with_what_unpacks_it() {
        for (begin, words) in
            [(&b"\xfd7zXZ\0.."[..], "`xz -dc FILE |"), (b"BZh91AY&SY", "bzip2 -dc"), (b"PK\x03\x04....", "unzip -p")]
        {
            let said = whole(begin.to_vec()).unwrap_err();
            assert!(said.contains(words) && said.contains("--read_iolog=-"), "{said}");
        }
        assert!(whole(b"\x28\xb5\x2f\xfd".to_vec()).unwrap_err().contains("no whole file of zstd"));
    }
}
