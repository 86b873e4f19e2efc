//! Which runs are wanted, in the words of a command line or of an address.

use store::{Filter, RunState};

/// The most words that are searched for.
const WORDS: usize = 16;

/// The keys that a filter has, for people.
pub const KEYS: [&str; 8] = ["plan", "target", "model", "tag", "group", "host", "serial", "state"];

/// Narrows a filter by one key.
///
/// # Errors
/// If there is no such key, or the value is none of it.
pub fn narrow(filter: &mut Filter, key: &str, value: &str) -> Result<(), String> {
    let value = value.to_owned();
    match key {
        "plan" => filter.plan = Some(value),
        "target" => filter.target = Some(value),
        "model" => filter.model = Some(value),
        "tag" => filter.tag = Some(value),
        "group" => filter.group = Some(value),
        "host" => filter.host = Some(value),
        "serial" => filter.serial = Some(value),
        "state" => filter.state = Some(state(&value)?),
        _ => return Err(format!("unknown key `{key}`; the keys are {}", KEYS.join(", "))),
    }
    Ok(())
}

/// Adds words that are searched for.
pub fn search(filter: &mut Filter, words: &str) {
    let left = WORDS.saturating_sub(filter.words.len());
    filter.words.extend(words.split_whitespace().take(left).map(str::to_owned));
}

/// Reads a filter as it is typed: `plan=review host="my host" samsung`.
///
/// # Errors
/// Says what was found and what would be right.
pub fn read(text: &str) -> Result<Filter, String> {
    let mut filter = Filter::default();
    let words = shlex::split(text).ok_or("a quotation mark is not closed")?;
    for word in words {
        match word.split_once('=') {
            Some((_, "")) => return Err(format!("`{word}` has no value")),
            Some((key, value)) => narrow(&mut filter, key, value)?,
            None => search(&mut filter, &word),
        }
    }
    Ok(filter)
}

fn state(word: &str) -> Result<RunState, String> {
    // The name that it had once.
    let word = if word == "unfinished" { RunState::Interrupted.name() } else { word };
    RunState::named(word).ok_or_else(|| "Invalid state; it is complete, running, interrupted or failed.".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_is_keys_and_words() {
        let read = |text: &str| read(text);
        let filter =
            read("plan=review 'target=/dev/my disk' tag=a group=g host=bench state=failed Samsung 990").unwrap();
        assert_eq!((filter.plan.as_deref(), filter.target.as_deref()), (Some("review"), Some("/dev/my disk")));
        assert_eq!((filter.tag.as_deref(), filter.host.as_deref()), (Some("a"), Some("bench")));
        assert_eq!(filter.group.as_deref(), Some("g"));
        assert_eq!(
            (filter.state, filter.words),
            (Some(RunState::Failed), vec!["Samsung".to_owned(), "990".to_owned()])
        );
        for (wrong, words) in
            [("plam=x", "plan, target"), ("plan=", "no value"), ("state=odd", "complete"), ("'a", "quotation")]
        {
            assert!(read(wrong).is_err_and(|error| error.contains(words)), "{wrong}");
        }
    }
}
