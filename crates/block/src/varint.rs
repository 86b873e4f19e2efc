//! Whole numbers in as few bytes as they need.
//!
//! LEB128: seven bits a byte from the least, the top bit set in all bytes but the last.

/// Appends `number`: one byte below 128, ten at the most.
pub fn push(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Takes a number from the front of `rest`; none if it does not end there or holds more than 64 bits.
pub fn take(rest: &mut &[u8]) -> Option<u64> {
    let mut number = 0_u64;
    for shift in (0..64).step_by(7) {
        let (&byte, tail) = rest.split_first()?;
        *rest = tail;
        let bits = u64::from(byte & 0x7f);
        if bits << shift >> shift != bits {
            return None;
        }
        number |= bits << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_comes_back_in_as_few_bytes_as_it_needs() {
        for (number, length) in [(0, 1), (127, 1), (128, 2), (16_383, 2), (1 << 56, 9), (u64::MAX, 10)] {
            let mut bytes = Vec::new();
            push(&mut bytes, number);
            assert_eq!(bytes.len(), length, "{number}");
            let mut rest = &bytes[..];
            assert_eq!((take(&mut rest), rest), (Some(number), &[][..]));
        }
    }

    #[test]
    fn what_does_not_end_or_is_too_large_is_no_number() {
        assert_eq!(take(&mut &[0x80, 0x80][..]), None, "truncated");
        assert_eq!(take(&mut &[0x80; 12][..]), None, "endless");
        let mut large = [0xff; 10];
        large[9] = 2;
        assert_eq!(take(&mut &large[..]), None, "65 bits");
    }
}
