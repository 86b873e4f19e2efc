//! What a client and the server settle before the first request.

use block::{Bytes, SECTOR};
use drive::{Device, Drive, Shape};

use super::abi::{
    ABORT, ABOUT, ABOUT_BLOCK_SIZE, ABOUT_DESCRIPTION, ABOUT_EXPORT, ABOUT_NAME, ACK, EXPORT_NAME, FAST_ZERO,
    FIXED_NEWSTYLE, FLAGS, GO, GREETING, INFO, INVALID, LIST, LONGEST, MULTI_CONN, NO_ZEROES, OPTION, ROTATIONAL,
    SERVER, UNKNOWN, UNSUPPORTED, option_answer, size_and_flags, u16_at, u32_at, u64_at,
};

/// The longest option that is read: an export's name of 4096 bytes and every kind of information there could be.
const OPTION_LONGEST: usize = 8 + 4096 + 2 * u16::MAX as usize;
/// What a client may ask for before it begins; real ones need fewer than ten.
const OPTIONS_MAX: u32 = 256;
/// The request size that suits the drive and the page cache of its clients.
const PREFERRED: u32 = 4096;

/// What is told of a drive.
#[derive(Clone, Debug)]
pub struct Export {
    /// Its name; the empty one is as good.
    pub name: String,
    /// A line about it for people.
    pub description: String,
    /// How much it holds.
    pub size: Bytes,
    /// The smallest request.
    pub block: Bytes,
    /// What it can do, as the protocol has it.
    pub flags: u16,
}

/// How far a client has got.
#[derive(Debug, Default)]
pub struct Handshake {
    /// What the client wants of the handshake; none before it has said.
    flags: Option<u32>,
    options: u32,
}

/// What comes of what was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HandshakeStep {
    /// More has to be read first.
    More,
    /// So many bytes were dealt with.
    Took(usize),
    /// The requests begin, after so many bytes.
    Begins(usize),
    /// The client leaves, or is no client.
    Ends,
}

impl Handshake {
    /// What the server says first.
    pub fn greeting() -> Vec<u8> {
        let flags = (FIXED_NEWSTYLE | NO_ZEROES) as u16;
        [&GREETING.to_be_bytes()[..], &OPTION.to_be_bytes(), &flags.to_be_bytes()].concat()
    }

    /// Deals with what stands first in `input`, and says what there is to say to that in `out`.
    pub fn take(&mut self, input: &[u8], export: &Export, out: &mut Vec<u8>) -> HandshakeStep {
        let Some(flags) = self.flags else {
            let Some(flags) = u32_at(input, 0) else { return HandshakeStep::More };
            self.flags = Some(flags);
            return if flags & !(FIXED_NEWSTYLE | NO_ZEROES) == 0 {
                HandshakeStep::Took(4)
            } else {
                HandshakeStep::Ends
            };
        };
        let (Some(magic), Some(option), Some(length)) = (u64_at(input, 0), u32_at(input, 8), u32_at(input, 12)) else {
            return HandshakeStep::More;
        };
        if magic != OPTION || length as usize > OPTION_LONGEST || self.options == OPTIONS_MAX {
            return HandshakeStep::Ends;
        }
        let end = 16 + length as usize;
        let Some(data) = input.get(16..end) else { return HandshakeStep::More };
        self.options += 1;
        let mut say = |kind, data: &[u8]| out.extend(option_answer(option, kind, data));
        match option {
            EXPORT_NAME => {
                if !export.is_called(data) {
                    return HandshakeStep::Ends;
                }
                out.extend(size_and_flags(export.size, export.flags));
                out.resize(out.len() + if flags & NO_ZEROES == 0 { 124 } else { 0 }, 0);
                return HandshakeStep::Begins(end);
            }
            ABORT => {
                say(ACK, &[]);
                return HandshakeStep::Ends;
            }
            LIST if data.is_empty() => {
                say(SERVER, &[&(export.name.len() as u32).to_be_bytes(), export.name.as_bytes()].concat());
                say(ACK, &[]);
            }
            INFO | GO => match wanted(data) {
                Some((name, about)) if export.is_called(name) => {
                    export.tell(&about).iter().for_each(|told| say(ABOUT, told));
                    say(ACK, &[]);
                    if option == GO {
                        return HandshakeStep::Begins(end);
                    }
                }
                Some(_) => say(UNKNOWN, format!("the drive here is {:?}", export.name).as_bytes()),
                None => say(INVALID, b"the lengths in it do not fit"),
            },
            LIST => say(INVALID, b"nothing more belongs to it"),
            _ => say(UNSUPPORTED, b"this server has simple replies and no TLS"),
        }
        HandshakeStep::Took(end)
    }
}

impl Export {
    /// What is told of `drive`, under this name.
    pub fn of(drive: &Device, name: &str) -> Self {
        let Shape { capacity, block, .. } = drive.shape();
        let turns = if drive.is_rotational() { ROTATIONAL } else { 0 };
        Self {
            name: name.to_owned(),
            description: format!("{name}, {capacity}: a simulated drive with its own timing"),
            size: capacity,
            block: block.max(SECTOR),
            flags: FLAGS | MULTI_CONN | FAST_ZERO | turns,
        }
    }

    /// Whether this is its name.
    fn is_called(&self, name: &[u8]) -> bool {
        name.is_empty() || name == self.name.as_bytes()
    }

    /// What there is to tell of it: always how large it and its requests are, and what else was asked about.
    fn tell(&self, about: &[u16]) -> Vec<Vec<u8>> {
        let sizes = [self.block.get() as u32, PREFERRED.max(self.block.get() as u32), LONGEST];
        let all = [
            (ABOUT_EXPORT, size_and_flags(self.size, self.flags), true),
            (ABOUT_BLOCK_SIZE, sizes.map(u32::to_be_bytes).concat(), true),
            (ABOUT_NAME, self.name.clone().into_bytes(), false),
            (ABOUT_DESCRIPTION, self.description.clone().into_bytes(), false),
        ];
        let told = all.into_iter().filter(|(what, _, always)| *always || about.contains(what));
        told.map(|(what, data, _)| [&what.to_be_bytes()[..], &data].concat()).collect()
    }
}

/// The name of an export and what a client wants to know of it; none if that is not what it should be.
fn wanted(data: &[u8]) -> Option<(&[u8], Vec<u16>)> {
    let length = u32_at(data, 0)? as usize;
    let name = data.get(4..4_usize.checked_add(length)?)?;
    let rest = &data[4 + length..];
    let count = u16_at(rest, 0)? as usize;
    let about = rest[2..].chunks_exact(2).map(|two| u16::from_be_bytes([two[0], two[1]])).collect();
    (rest.len() == 2 + 2 * count).then_some((name, about))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn export() -> Export {
        let [name, description] = ["x25-m", "a drive"].map(str::to_owned);
        Export { name, description, size: Bytes::from_gib(1), block: Bytes::new(512), flags: 0x16d }
    }

    fn option(option: u32, data: &[u8]) -> Vec<u8> {
        [&OPTION.to_be_bytes()[..], &option.to_be_bytes(), &(data.len() as u32).to_be_bytes(), data].concat()
    }

    /// What comes of an option after a greeting with these flags, and what is said.
    fn after(flags: u32, option: &[u8]) -> (HandshakeStep, Vec<u8>) {
        let (mut handshake, mut out) = (Handshake::default(), Vec::new());
        assert_eq!(handshake.take(&flags.to_be_bytes(), &export(), &mut out), HandshakeStep::Took(4));
        (handshake.take(option, &export(), &mut out), out)
    }

    fn go(name: &str, about: &[u16]) -> Vec<u8> {
        let about: Vec<u8> = about.iter().flat_map(|what| what.to_be_bytes()).collect();
        let count = (about.len() as u16 / 2).to_be_bytes();
        [&(name.len() as u32).to_be_bytes()[..], name.as_bytes(), &count, &about].concat()
    }

    #[test]
    fn the_oldest_option_is_answered_with_the_size_and_as_many_zeroes_as_were_asked_for() {
        for (flags, length) in [(1, 134), (3, 10)] {
            let (step, out) = after(flags, &option(EXPORT_NAME, b"x25-m"));
            assert_eq!((step, out.len(), u64_at(&out, 0)), (HandshakeStep::Begins(21), length, Some(1 << 30)));
        }
        assert_eq!(after(3, &option(EXPORT_NAME, b"other")), (HandshakeStep::Ends, Vec::new()));
    }

    #[test]
    fn an_export_is_told_of_with_its_block_sizes() {
        let (step, out) = after(3, &option(GO, &go("", &[ABOUT_DESCRIPTION])));
        assert!(matches!(step, HandshakeStep::Begins(_)));
        let expected = [
            option_answer(GO, ABOUT, &[&[0, 0][..], &size_and_flags(Bytes::from_gib(1), 0x16d)].concat()),
            option_answer(GO, ABOUT, &[&[0, 3][..], &[512, 4096, 32 << 20].map(u32::to_be_bytes).concat()].concat()),
            option_answer(GO, ABOUT, b"\0\x02a drive"),
            option_answer(GO, ACK, b""),
        ];
        assert_eq!(out, expected.concat());
        assert!(matches!(after(3, &option(INFO, &go("x25-m", &[]))).0, HandshakeStep::Took(_)));
    }

    #[test]
    fn what_is_not_known_or_not_right_is_told_and_the_client_may_go_on() {
        let table = [
            (option(GO, &go("other", &[])), UNKNOWN),
            (option(GO, &go("", &[])[..5]), INVALID),
            (option(GO, &[255; 6]), INVALID),
            (option(GO, &[&go("", &[3])[..], b"more"].concat()), INVALID),
            (option(LIST, b"more"), INVALID),
            (option(8, b""), UNSUPPORTED),
            (option(5, b""), UNSUPPORTED),
        ];
        for (asked, kind) in table {
            let (step, out) = after(3, &asked);
            assert_eq!((step, u32_at(&out, 12)), (HandshakeStep::Took(asked.len()), Some(kind)), "{asked:?}");
        }
    }

    #[test]
    fn nothing_is_made_of_a_part_and_nonsense_ends_it() {
        let whole = option(GO, &go("x25-m", &[ABOUT_NAME]));
        for length in 0..whole.len() {
            assert_eq!(after(3, &whole[..length]), (HandshakeStep::More, Vec::new()));
        }
        assert_eq!(Handshake::default().take(&4_u32.to_be_bytes(), &export(), &mut Vec::new()), HandshakeStep::Ends);
        assert_eq!(after(3, b"GET / HTTP/1.1\r\n\r\n").0, HandshakeStep::Ends);
        let mut long = option(GO, b"");
        long[12..].copy_from_slice(&u32::MAX.to_be_bytes());
        assert_eq!(after(3, &long).0, HandshakeStep::Ends, "four gigabytes of it are not waited for");
        assert_eq!(after(3, &option(ABORT, b"")), (HandshakeStep::Ends, option_answer(ABORT, ACK, b"")));
    }
}
