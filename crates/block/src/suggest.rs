//! What was meant by a word that is not known.

/// The known word nearest to `word`, if one is near enough to have been meant: about a third of its letters differ at most.
pub fn nearest<K: AsRef<str>>(word: &str, known: impl IntoIterator<Item = K>) -> Option<K> {
    // Nothing that has a name here is longer, and the distance takes time in the product of both lengths.
    const LONGEST: usize = 64;
    if word.len() > LONGEST {
        return None;
    }
    let word = word.to_lowercase();
    let far = ((word.chars().count() + 1) / 3).max(1);
    let measured = known.into_iter().map(|known| (strsim::osa_distance(&word, &known.as_ref().to_lowercase()), known));
    measured.filter(|(distance, _)| *distance <= far).min_by_key(|(distance, _)| *distance).map(|(_, known)| known)
}

/// `did you mean …?` if a known word is near, else the list of all.
pub fn suggestion<K: AsRef<str>>(word: &str, known: &[K]) -> String {
    match nearest(word, known) {
        Some(near) => format!("did you mean `{}`?", near.as_ref()),
        None => format!("use one of {}", known.iter().map(AsRef::as_ref).collect::<Vec<_>>().join(", ")),
    }
}

/// The same of a field, of which there may be so many that a list would hide the message: `all` says what lists them.
pub fn field_suggestion<K: AsRef<str>>(word: &str, known: &[K], all: &str) -> String {
    const LISTED: usize = 12;
    match known.len() > LISTED && nearest(word, known).is_none() {
        true => all.to_owned(),
        false => suggestion(word, known),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_word_must_be_near() {
        let known = ["iodepth", "numjobs", "bs"];
        assert_eq!(nearest("iodeph", known), Some("iodepth"));
        assert_eq!(nearest("IODEPTH", known), Some("iodepth"));
        assert_eq!(nearest("sb", known), Some("bs"));
        assert_eq!(nearest("block-size", known), None);
        assert_eq!(nearest(&"x".repeat(100_000), known), None);
        assert_eq!(suggestion("block-size", &known), "use one of iodepth, numjobs, bs");
        assert_eq!(suggestion("numjob", &known), "did you mean `numjobs`?");
        assert_eq!(field_suggestion("block-size", &known, "see there"), "use one of iodepth, numjobs, bs");
        let many: Vec<String> = (0..20).map(|number| format!("field-{number}")).collect();
        assert_eq!(field_suggestion("feld-7", &many, "see there"), "did you mean `field-7`?");
        assert_eq!(field_suggestion("block-size", &many, "see there"), "see there");
    }
}
