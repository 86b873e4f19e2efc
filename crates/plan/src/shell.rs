//! Words of a command line that somebody is to type.

/// A word as a shell takes it: in quotes where any shell could read it otherwise.
pub fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@%+=,".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// The name of a file as a shell and assay take it: for no option.
pub(crate) fn file_name(name: &str) -> String {
    if name.starts_with('-') { quoted(&format!("./{name}")) } else { quoted(name) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_where_a_shell_would_read_them_otherwise() {
        for (word, typed) in [
            ("sim:x25-m", "sim:x25-m"),
            ("a=1,b=50%", "a=1,b=50%"),
            ("my file's", r"'my file'\''s'"),
            ("sim:x25-m?spare=12%&host=none", "'sim:x25-m?spare=12%&host=none'"),
            ("größe", "'größe'"),
            ("", "''"),
        ] {
            assert_eq!(quoted(word), typed);
        }
        assert_eq!(file_name("-rf"), "./-rf");
        assert_eq!(file_name("a b"), "'a b'");
    }
}
