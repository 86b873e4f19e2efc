//! Targets that a range stands for: `sim:p5520#1..24`.

use drive::preset::DriveName;

use crate::failure::Failure;

/// As many targets at most.
const TARGETS_MAX: usize = 4096;

/// The targets with each that a range of specimens stands for, in order; each once.
///
/// # Errors
/// If a range is none, there are too many, or one is named twice.
pub fn expanded(targets: &[String]) -> Result<Vec<String>, Failure> {
    let mut all: Vec<String> = Vec::new();
    for target in targets {
        all.extend(range(target)?.unwrap_or_else(|| vec![target.clone()]).iter().map(|name| plain(name)));
        if all.len() > TARGETS_MAX {
            return Err(Failure::usage(format!("these are more than {TARGETS_MAX} targets; review fewer at a time")));
        }
    }
    let mut sorted: Vec<&String> = all.iter().collect();
    sorted.sort();
    match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(twice) => Err(Failure::usage(format!("{} is named twice; name each target once", twice[0]))),
        None => Ok(all),
    }
}

/// The name without the number of the first specimen, which is the drive that has none.
fn plain(name: &str) -> String {
    let (whole, changes) = name.split_at(name.find('?').unwrap_or(name.len()));
    let base = whole.strip_suffix("#1").filter(|_| name.starts_with("sim:"));
    base.map_or_else(|| name.to_owned(), |base| base.to_owned() + changes)
}

/// The specimens that `sim:NAME#FIRST..LAST?CHANGES` stands for; none where it is no range.
fn range(target: &str) -> Result<Option<Vec<String>>, Failure> {
    let Some(name) = target.strip_prefix("sim:") else { return Ok(None) };
    let (whole, changes) = name.split_once('?').map_or((name, None), |(whole, changes)| (whole, Some(changes)));
    // The path of a file may have dots.
    let Some((base, (first, last))) =
        whole.rsplit_once('#').and_then(|(base, behind)| Some((base, behind.split_once("..")?)))
    else {
        return Ok(None);
    };
    if first.contains('/') || last.contains('/') {
        return Ok(None);
    }
    let numbered = |number: u32| {
        let changes = changes.map_or_else(String::new, |changes| format!("?{changes}"));
        format!("sim:{base}#{number}{changes}")
    };
    let number = |text: &str| DriveName::read(&format!("{base}#{text}")).ok().map(|name| name.specimen);
    match (number(first), number(last)) {
        (Some(first), Some(last)) if first <= last && ((last - first) as usize) < TARGETS_MAX => {
            Ok(Some((first..=last).map(numbered).collect()))
        }
        _ => Err(Failure::usage(format!(
            "{target} is no range of specimens; give the first and the last, such as sim:{base}#1..24, at most {TARGETS_MAX}"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(targets: &[&str]) -> Result<Vec<String>, String> {
        let targets: Vec<String> = targets.iter().map(|target| (*target).to_owned()).collect();
        expanded(&targets).map_err(|failure| failure.words(false))
    }

    #[test]
    fn a_range_stands_for_its_specimens_each_with_the_changes() {
        assert_eq!(all(&["sim:p5520#1..3"]).unwrap(), ["sim:p5520", "sim:p5520#2", "sim:p5520#3"]);
        let mixed = all(&["sim:p5520#6", "sim:p5520#7?spare=9%&x=1..2", "sim:p5520#8..9?spare=9%"]).unwrap();
        assert_eq!(
            mixed,
            ["sim:p5520#6", "sim:p5520#7?spare=9%&x=1..2", "sim:p5520#8?spare=9%", "sim:p5520#9?spare=9%"]
        );
        assert_eq!(all(&["./a#1..2", "/dev/nvme0n1"]).unwrap(), ["./a#1..2", "/dev/nvme0n1"], "a file of this name");
        assert_eq!(all(&["sim:./my.toml#2..3"]).unwrap(), ["sim:./my.toml#2", "sim:./my.toml#3"]);
        assert_eq!(all(&["sim:./a#b/../my.toml"]).unwrap(), ["sim:./a#b/../my.toml"]);
    }

    #[test]
    fn what_is_no_range_and_what_is_named_twice_is_refused() {
        for wrong in ["sim:p5520#3..1", "sim:p5520#0..4", "sim:p5520#..4", "sim:p5520#1..", "sim:p5520#1..999999"] {
            assert!(all(&[wrong]).is_err_and(|words| words.contains("sim:p5520#1..24")), "{wrong}");
        }
        assert!(
            all(&["sim:p5520#1..4", "sim:p5520#3"]).is_err_and(|words| words.contains("sim:p5520#3 is named twice"))
        );
    }
}
