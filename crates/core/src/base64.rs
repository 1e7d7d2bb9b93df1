//! Data in base64, as files stand in messages.

/// Whether a text is data in base64, with its padding.
pub fn is_base64(data: &str) -> bool {
    let digits = data.trim_end_matches('=');
    data.len().is_multiple_of(4)
        && data.len() - digits.len() <= 2
        && digits.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+/".contains(&byte))
}

/// The bytes of data [in base64](is_base64). Its padding gives bytes, too.
pub fn decoded(base64: &str) -> Vec<u8> {
    let value = |digit: u8| match digit {
        b'A'..=b'Z' => digit - b'A',
        b'a'..=b'z' => digit - b'a' + 26,
        b'0'..=b'9' => digit - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let three = |four: &[u8]| {
        let bits = four.iter().fold(0_u32, |bits, digit| (bits << 6) | u32::from(value(*digit)));
        bits.to_be_bytes().into_iter().skip(1)
    };
    base64.as_bytes().chunks_exact(4).flat_map(three).collect()
}
