//! The names of reports. Two runs never share one, whichever stores they are in.

use block::Seed;
use lab::Environment;
use store::Run;

use crate::outputs::file_name;

/// The most characters of a target's and of a host's name. With a plan's 64, a date, a number of 19 digits and the short
/// id that is less than the 255 bytes that file systems take.
const TARGET_MAX: usize = 80;
const HOST_MAX: usize = 40;

/// The name of a run's report: plan, target, date (UTC), host, the run's number and its short id.
pub fn of_run(run: &Run) -> String {
    let name = match run.target.starts_with("sim:") {
        true => run.target.as_str(),
        false => run.target.rsplit('/').next().unwrap_or_default(),
    };
    let host = serde_json::from_str::<Environment>(&run.environment).ok().and_then(|found| found.hostname);
    let date = report::date(run.started_ms);
    // The plan of a store that somebody sent may have any name.
    let words = file_name(&format!("{}-{}", run.plan, words(name, TARGET_MAX)));
    let date = date.split(' ').next().unwrap_or_default();
    let host = host.map(|host| words_of_host(&host)).unwrap_or_default();
    format!("{words}-{date}{host}-{}-{}.html", run.id, run.short_id())
}

/// The name of a report on several runs: what it is, the first and the last of them, and an id that is drawn from all.
pub fn of_several(what: &str, how: &str, runs: &[&Run]) -> String {
    let id = runs.iter().fold(Seed::new(0), |seed, run| seed.split(&run.short_id()).number(run.id.0.unsigned_abs()));
    let numbers = match runs {
        [first, .., last] if runs.len() > 4 => format!("{}-to-{}", first.id, last.id),
        _ => runs.iter().map(|run| run.id.to_string()).collect::<Vec<_>>().join("-"),
    };
    format!("{what}-{numbers}{how}-{:06x}.html", id.get() >> 40)
}

fn words_of_host(host: &str) -> String {
    format!("-{}", words(host, HOST_MAX))
}

/// Letters and digits of a name, with hyphens for all else.
fn words(name: &str, most: usize) -> String {
    let words: Vec<&str> = name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let words = words.join("-");
    words[..words.len().min(most)].to_owned()
}
