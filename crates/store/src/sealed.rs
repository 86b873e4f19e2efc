//! Bytes that tell whether they are still what was written.
//!
//! SQLite does not check what it reads. A figure from a damaged histogram would look like any other, so
//! each blob ends with a checksum.

/// `bytes` with their checksum behind them.
pub fn seal(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.extend(checksum(&bytes).to_le_bytes());
    bytes
}

/// What was [`seal`]ed; none if it has changed since.
pub fn unseal(sealed: &[u8]) -> Option<&[u8]> {
    let (bytes, sum) = sealed.split_last_chunk()?;
    (checksum(bytes).to_le_bytes() == *sum).then_some(bytes)
}

/// FNV-1a of 64 bits: a single changed byte always shows, more with all but one chance in 2⁶⁴.
///
/// Source: G. Fowler, L. C. Noll, K.-P. Vo, D. Eastlake, "The FNV Non-Cryptographic Hash Algorithm", IETF draft.
fn checksum(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Source: the draft's appendix of test vectors.
    #[test]
    fn the_checksum_is_fnv_1a() {
        assert_eq!(checksum(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(checksum(b"foobar"), 0x8594_4171_f739_67e8);
    }

    #[test]
    fn any_changed_or_missing_byte_shows() {
        let sealed = seal(b"latencies".to_vec());
        assert_eq!(unseal(&sealed), Some(&b"latencies"[..]));
        for i in 0..sealed.len() {
            let mut changed = sealed.clone();
            changed[i] ^= 0x10;
            assert_eq!(unseal(&changed), None, "byte {i} changed");
            assert_eq!(unseal(&sealed[..i]), None, "cut at byte {i}");
        }
    }
}
