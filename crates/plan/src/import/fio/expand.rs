//! What stands for something else in an option's value: `${HOME}`, `$ncpus`.

use super::World;

/// The longest value, of which far less makes sense.
const LENGTH_MAX: usize = 1 << 16;

/// A value with everything put in place that something stood for.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Expanded {
    /// The value.
    pub(super) text: String,
    /// Variables that are not set, so that nothing was put in their place.
    pub(super) unset: Vec<String>,
}

/// Puts variables and fio's keywords in place, once: what is put in is not looked at again. None if it grows too long.
pub(super) fn expand(value: &str, world: &dyn World) -> Option<Expanded> {
    let mut expanded = Expanded { text: String::new(), unset: Vec::new() };
    let mut rest = value;
    while let Some(at) = rest.find('$') {
        expanded.text += &rest[..at];
        let behind = &rest[at + 1..];
        let (put, after) = stands_for(behind, world, &mut expanded.unset);
        expanded.text += &put;
        rest = after;
        if expanded.text.len() > LENGTH_MAX {
            return None;
        }
    }
    expanded.text += rest;
    (expanded.text.len() <= LENGTH_MAX).then_some(expanded)
}

/// What the text behind a `$` begins with stands for, and what follows it.
fn stands_for<'t>(behind: &'t str, world: &dyn World, unset: &mut Vec<String>) -> (String, &'t str) {
    if let Some((name, after)) = behind.strip_prefix('{').and_then(|inner| inner.split_once('}')) {
        let value = world.variable(name).filter(|value| !value.is_empty());
        if value.is_none() {
            unset.push(name.to_owned());
        }
        return (value.unwrap_or_default(), after);
    }
    let keywords: [(&str, &dyn Fn() -> u64); 3] =
        [("pagesize", &|| world.page_size()), ("mb_memory", &|| world.memory_mib()), ("ncpus", &|| world.processors())];
    for (name, number) in keywords {
        if let Some(after) = behind.strip_prefix(name) {
            return (number().to_string(), after);
        }
    }
    ("$".to_owned(), behind)
}

#[cfg(test)]
mod tests {
    use super::super::tests::Bench;
    use super::*;

    #[test]
    fn variables_and_keywords_are_put_in_place_once() {
        let bench = Bench::default().with("SIZE", "64m").with("LOOP", "${LOOP}").with("EMPTY", "");
        for (value, wanted) in [
            ("${SIZE}", "64m"),
            ("a${SIZE}b${SIZE}", "a64mb64m"),
            ("8*$mb_memory", "8*1024"),
            ("$pagesize-$ncpus", "4096-2"),
            ("${LOOP}", "${LOOP}"),
            ("$jobname.$x", "$jobname.$x"),
            ("${SIZE", "${SIZE"),
            ("$", "$"),
        ] {
            assert_eq!(expand(value, &bench).unwrap().text, wanted);
        }
        let gone = expand("x${GONE}y${EMPTY}", &bench).unwrap();
        assert_eq!((&*gone.text, &*gone.unset), ("xy", &["GONE".to_owned(), "EMPTY".to_owned()][..]));
    }

    #[test]
    fn what_grows_too_long_is_refused() {
        let bench = Bench::default().with("BIG", &"x".repeat(1 << 15));
        assert!(expand("${BIG}${BIG}", &bench).is_some());
        assert!(expand(&"${BIG}".repeat(1000), &bench).is_none());
    }
}
