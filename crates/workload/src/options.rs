//! A workload in fio's words.

use block::{Bytes, Nanos};

use crate::{Process, Replay, ReplayPace, Workload};

impl Workload {
    /// What the workload asks for beyond pattern, size, depth, span and stop, as fio's options with their values.
    /// What is as fio has it by default is left out.
    pub fn options(&self) -> Vec<(&'static str, String)> {
        let arrival = &self.arrival;
        let (mixes, open, thinks) = (self.pattern.is_random(), arrival.is_open(), arrival.think > Nanos::ZERO);
        let given = |is: bool, name, value: &dyn Fn() -> String| is.then(|| (name, value()));
        let compresses = self.compressible > 0 && self.compressible < 100;
        let options = [
            given(self.no_repeat, "norandommap", &|| "0".to_owned()),
            given(self.sprandom.is_some(), "sprandom", &|| "1".to_owned()),
            self.sprandom.map(|spare| ("spr_op", spare.share().to_string())),
            self.sizes.as_ref().map(|sizes| ("bssplit", sizes.to_string())),
            given(mixes && self.random_percent < 100, "percentage_random", &|| self.random_percent.to_string()),
            self.align.filter(|_| mixes).map(|align| ("blockalign", amount(align))),
            given(mixes && self.distribution != Default::default(), "random_distribution", &|| {
                self.distribution.to_string()
            }),
            given(compresses, "buffer_compress_percentage", &|| self.compressible.to_string()),
            given(self.compressible == 100, "zero_buffers", &|| "1".to_owned()),
            given(self.duplicates > 0, "dedupe_percentage", &|| self.duplicates.to_string()),
            given(self.durable, "sync", &|| "dsync".to_owned()),
            given(self.fsync > 0, "fsync", &|| self.fsync.to_string()),
            given(self.fdatasync > 0, "fdatasync", &|| self.fdatasync.to_string()),
            given(thinks, "thinktime", &|| duration(arrival.think)),
            given(thinks && arrival.burst != 1, "thinktime_blocks", &|| arrival.burst.to_string()),
            given(open, "rate_iops", &|| arrival.rate.to_string()),
            given(open && arrival.process == Process::Poisson, "rate_process", &|| "poisson".to_owned()),
            given(self.verify.stamps, "verify", &|| "crc32c".to_owned()),
            given(self.verify.stamps && !self.verify.read_back, "do_verify", &|| "0".to_owned()),
            given(self.verify.only, "verify_only", &|| "1".to_owned()),
            given(self.verify.fatal, "verify_fatal", &|| "1".to_owned()),
        ];
        options.into_iter().flatten().chain(self.replay.iter().flat_map(replayed)).collect()
    }

    /// The pattern as fio's `rw` has it: `randread`, or `read:60k` where a sequence passes over something.
    pub fn rw(&self) -> String {
        if self.skip == Bytes::ZERO {
            self.pattern.to_string()
        } else {
            format!("{}:{}", self.pattern, amount(self.skip))
        }
    }

    /// Whether pattern, size, depth, workers and span say all there is to say of the requests.
    pub fn is_plain(&self) -> bool {
        self.skip == Bytes::ZERO && self.options().is_empty()
    }
}

/// A replay as options; what is by default is left out here too.
fn replayed(replay: &Replay) -> impl Iterator<Item = (&'static str, String)> {
    let paced = match replay.pace {
        ReplayPace::Recorded { .. } => None,
        ReplayPace::AsFast => Some(("replay_no_stall", "1".to_owned())),
        ReplayPace::Think | ReplayPace::ThinkAt { .. } => Some(("replay_think", "1".to_owned())),
    };
    let percent = replay.pace.percent().filter(|percent| *percent != 100);
    let speed = percent.map(|percent| ("replay_time_scale", percent.to_string()));
    let scale = (replay.scale > 1).then(|| ("replay_scale", replay.scale.to_string()));
    [Some(("read_iolog", replay.source.clone())), paced, speed, scale].into_iter().flatten()
}

/// An amount of data without rounding: `512`, `4k`, `1m`.
pub fn amount(bytes: Bytes) -> String {
    let units = [("g", Bytes::from_gib(1)), ("m", Bytes::from_mib(1)), ("k", Bytes::from_kib(1))];
    let fitting = units.into_iter().find(|(_, unit)| bytes > Bytes::ZERO && bytes.is_multiple_of(*unit));
    fitting.map_or_else(|| bytes.get().to_string(), |(suffix, unit)| format!("{}{suffix}", bytes.div(unit)))
}

/// A time without rounding: `2s`, `500ms`, `7us`, `30ns`.
pub fn duration(time: Nanos) -> String {
    let units = [("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1_000), ("ns", 1)];
    let (unit, size) =
        units.into_iter().find(|(_, size)| time.as_nanos().is_multiple_of(*size)).expect("ns divide all");
    format!("{}{unit}", time.as_nanos() / size)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Arrival, Pattern};

    #[test]
    fn what_is_by_default_goes_without_saying() {
        assert!(Workload::default().is_plain());
        let sequential = Workload { random_percent: 50, align: Some(Bytes::new(512)), ..Workload::default() };
        assert!(sequential.is_plain(), "a sequential pattern has no random requests");
    }

    #[test]
    fn the_order_that_leaves_the_steady_state_is_fios() {
        let workload = Workload { sprandom: "7.34%".parse().ok(), ..Workload::default() };
        assert_eq!(workload.options(), [("sprandom", "1".to_owned()), ("spr_op", "0.0734".to_owned())]);
    }

    #[test]
    fn what_is_asked_is_told_in_fios_words() {
        let think = Arrival { think: Nanos::from_micros(1500), burst: 8, ..Arrival::default() };
        let workload = Workload {
            pattern: Pattern::RandRw,
            sizes: Some("512/10:4k/90".parse().unwrap()),
            random_percent: 80,
            align: Some(Bytes::new(512)),
            distribution: "zipf:1.2".parse().unwrap(),
            compressible: 46,
            durable: true,
            fdatasync: 32,
            arrival: think,
            ..Workload::default()
        };
        let words: Vec<String> = workload.options().iter().map(|(name, value)| format!("{name}={value}")).collect();
        assert_eq!(
            words.join(" "),
            "bssplit=512/10:4k/90 percentage_random=80 blockalign=512 random_distribution=zipf:1.2 \
             buffer_compress_percentage=46 sync=dsync fdatasync=32 thinktime=1500us thinktime_blocks=8"
        );
        let open = Arrival { rate: 500, process: Process::Poisson, ..Arrival::default() };
        let words = Workload { compressible: 100, fsync: 1, arrival: open, ..Workload::default() }.options();
        let names: Vec<&str> = words.iter().map(|(name, _)| *name).collect();
        assert_eq!(names, ["zero_buffers", "fsync", "rate_iops", "rate_process"]);
    }
}
