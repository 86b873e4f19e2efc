//! The state of a drive as bytes, as a program holds it or sends it to another.

use drive::{Device, Drive};
use thiserror::Error;

use crate::port::shielded;
use crate::state::{About, Flaw, MAGIC, packed, unpacked, works};

/// Why bytes are not the state of a drive.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum StateBytesError {
    /// They are something else, or not as they were written.
    #[error("these bytes are no state of a drive: {0}; give what saving a drive returned, whole")]
    Damaged(&'static str),
    /// Another version of the program wrote them.
    #[error("the state has format {0}, which this version of assay does not read; use the version that saved it")]
    Format(u32),
    /// They are another drive's.
    #[error("this is the state of {found}, not of {wanted}; give a drive with the parameters that it was saved with")]
    OtherDrive { found: String, wanted: String },
}

/// The whole state of a drive that is called `name`, whatever it is doing.
///
/// # Panics
/// If the state has a form that cannot be written, which no drive has.
pub fn state_to_bytes(name: &str, drive: &Device) -> Vec<u8> {
    let about = About { drive: name.to_owned(), data: None };
    packed(&about, drive).expect("every drive's state is numbers and lists")
}

/// A drive that was [saved](state_to_bytes) under this name and is made as `like` is.
///
/// # Errors
/// If the bytes are not as they were written, describe no drive that works, or describe another one.
pub fn state_from_bytes(bytes: &[u8], name: &str, like: &Device) -> Result<Device, StateBytesError> {
    use StateBytesError::{Damaged, Format, OtherDrive};
    let rest = bytes.strip_prefix(MAGIC).ok_or(Damaged("they begin otherwise"))?;
    let body = unpacked(rest, bytes.len() as u64, like.shape().capacity).map_err(|flaw| match flaw {
        Flaw::Format(found) => Format(found),
        Flaw::Damaged(what) => Damaged(what),
        Flaw::Io(_) => Damaged("they cannot be read"),
    })?;
    let (about, rest) = postcard::take_from_bytes::<About>(&body).map_err(|_| Damaged("the header is invalid"))?;
    let drive: Device = postcard::from_bytes(rest).map_err(|_| Damaged("they describe no drive"))?;
    if drive.spec() != like.spec() || drive.specimen() != like.specimen() {
        return Err(OtherDrive { found: about.drive, wanted: name.to_owned() });
    }
    match shielded(|| works(&drive)) {
        Some(true) => Ok(drive),
        _ => Err(Damaged("they describe an inconsistent drive")),
    }
}

#[cfg(test)]
mod tests {
    use block::{Lba, Nanos, Op, Request, Tag};
    use drive::preset::Preset;

    use super::*;

    fn drive(changes: &str) -> Device {
        Preset::find(&format!("x25-m?capacity.user=64MiB&channels=2&pages_per_block={changes}")).unwrap().build()
    }

    fn answers(drive: &mut Device) -> Vec<(Nanos, Tag)> {
        std::iter::from_fn(|| drive.complete(Nanos::MAX)).map(|done| (done.at, done.tag)).collect()
    }

    #[test]
    fn a_drive_with_requests_in_flight_goes_on_from_bytes_as_it_would_have() {
        let mut one = drive("32&spare=50%");
        for tag in 0..16 {
            one.submit(Nanos::ZERO, Tag(tag), Request::new(Op::Write, Lba::new(u64::from(tag) * 800), 8));
        }
        let bytes = state_to_bytes("mine", &one);
        let mut other = state_from_bytes(&bytes, "mine", &drive("32&spare=50%")).unwrap();
        assert_eq!(answers(&mut one), answers(&mut other));
        assert_eq!((one.counters(), one.now()), (other.counters(), other.now()));
    }

    #[test]
    fn what_is_damaged_or_another_drives_is_told() {
        let bytes = state_to_bytes("mine", &drive("32&spare=50%"));
        let read = |bytes: &[u8]| state_from_bytes(bytes, "mine", &drive("32&spare=50%")).unwrap_err();
        for place in [0, 5, 20, 30, bytes.len() / 2, bytes.len() - 1] {
            let mut damaged = bytes.clone();
            damaged[place] ^= 0x10;
            assert!(matches!(read(&damaged), StateBytesError::Damaged(_)), "byte {place}");
        }
        assert!(matches!(read(&bytes[..bytes.len() / 2]), StateBytesError::Damaged(_)));
        assert!(matches!(read(b""), StateBytesError::Damaged(_)));
        let mut newer = bytes.clone();
        newer[12] = 99;
        assert_eq!(read(&newer), StateBytesError::Format(99));
        let said = state_from_bytes(&bytes, "other", &drive("16&spare=50%")).unwrap_err().to_string();
        assert!(said.contains("the state of mine, not of other"), "{said}");
    }
}
