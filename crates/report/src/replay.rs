//! What was replayed, and how, in words.

use workload::Replay;

use crate::number::{count, whole};

/// `replay of t.log (1,234 requests of fio's iolog, version 3), twice as fast as recorded`.
pub(crate) fn words(replay: &Replay) -> String {
    let scale = replay.scale;
    let nearer = if scale > 1 { format!(", offsets divided by {}", whole(u64::from(scale))) } else { String::new() };
    format!("{}, {}{nearer}", of(replay), replay.pace)
}

/// `replay of t.log (1,234 requests of fio's iolog, version 3)`: of what, however fast.
pub(crate) fn of(replay: &Replay) -> String {
    let Replay { source, digest, .. } = replay;
    let requests = digest.map_or_else(String::new, |digest| {
        format!(" ({} of {})", count(digest.requests as usize, "request"), digest.format)
    });
    format!("replay of {source}{requests}")
}

/// What of the trace was passed over or put together, in a sentence; none where nothing was.
pub(crate) fn passed_over(replay: &Replay) -> Option<String> {
    let digest = replay.digest?;
    let lines = (digest.passed_over > 0).then(|| {
        let lines = count(digest.passed_over as usize, "line");
        format!("{lines} without a request {} skipped", if digest.passed_over == 1 { "was" } else { "were" })
    });
    let targets = (digest.targets > 1).then(|| {
        format!("requests to {} recorded files or devices went to this one target", whole(digest.targets as u64))
    });
    let told: Vec<String> = lines.into_iter().chain(targets).collect();
    (!told.is_empty()).then(|| format!("Of the trace, {}.", told.join(", and ")))
}

#[cfg(test)]
mod tests {
    use block::{Bytes, Nanos};
    use workload::{ReplayPace, TraceDigest, TraceFormat};

    use super::*;

    #[test]
    fn a_replay_says_of_what_how_and_what_was_left_out() {
        let digest = TraceDigest {
            format: TraceFormat::Blkparse,
            requests: 1234,
            flushes: 0,
            bytes: Bytes::from_mib(1),
            length: Nanos::from_secs(1),
            end: Bytes::from_mib(1),
            unit: Bytes::from_kib(4),
            targets: 2,
            passed_over: 1,
        };
        let replay = Replay {
            digest: Some(digest),
            pace: ReplayPace::Recorded { percent: 200 },
            scale: 4,
            ..Replay::of("t.log")
        };
        let expected =
            "replay of t.log (1,234 requests of blkparse), at 200 % of the recorded speed, offsets divided by 4";
        assert_eq!(words(&replay), expected);
        assert_eq!(
            passed_over(&replay).unwrap(),
            "Of the trace, 1 line without a request was skipped, and requests to 2 recorded files or devices went to \
             this one target."
        );
        let all = TraceDigest { targets: 1, passed_over: 0, ..digest };
        assert_eq!(passed_over(&Replay { digest: Some(all), ..replay }), None);
        assert_eq!(words(&Replay::of("t.log")), "replay of t.log, as recorded");
    }
}
