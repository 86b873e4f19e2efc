//! A workload in fio's words.

use block::Bytes;

use crate::{Field, Mark, Workload};

impl Workload {
    /// All that the workload asks for, as fields with their values: pattern, size, depth and mix, and whatever else is
    /// not as fio has it by default.
    pub fn fields(&self) -> Vec<(Field, String)> {
        let plain = Self::default();
        let given = |field: Field| {
            let value = field.get(self)?;
            let is_said = field.is(Mark::Always) || field.get(&plain).as_ref() != Some(&value);
            is_said.then_some((field, value))
        };
        let with_a_say = Field::ALL.into_iter().filter(|field| !field.is(Mark::Summary) && field.applies(self));
        with_a_say.filter_map(given).collect()
    }

    /// What the workload asks for beyond pattern, size, depth, span and stop, as fio's options with their values.
    pub fn options(&self) -> Vec<(&'static str, String)> {
        self.details_given().map(|(field, value)| (field.name(), value)).collect()
    }

    fn details_given(&self) -> impl Iterator<Item = (Field, String)> {
        self.fields().into_iter().filter(|(field, _)| !field.is(Mark::Basic))
    }

    /// The same in words, a phrase each; of a replay what is not the trace's.
    pub fn details(&self) -> Vec<String> {
        let skip = (self.skip > Bytes::ZERO).then(|| format!("skipping {} after each", self.skip));
        let others = self.details_given().map(|(field, _)| field.detail(self)).filter(|words| !words.is_empty());
        skip.into_iter().chain(others).collect()
    }

    /// The sizes of requests: `4 KiB`, or `512 B 10 %, 4 KiB 90 %`; of reads and of writes where they differ.
    pub fn sizes_shown(&self) -> String {
        if self.sizes.is_none() {
            return self.block.to_string();
        }
        let list = |op| {
            let entries = self.sizes_of(op).into_iter().map(|entry| match entry.percent {
                100 => entry.size.to_string(),
                percent => format!("{} {percent} %", entry.size),
            });
            entries.collect::<Vec<_>>().join(", ")
        };
        match self.ops() {
            &[first, second] if list(first) != list(second) => {
                format!("{first}s of {}, {second}s of {}", list(first), list(second))
            }
            ops => list(ops[0]),
        }
    }

    /// The pattern as fio's `rw` has it: `randread`, or `read:60k` where a sequence passes over something.
    pub fn rw(&self) -> String {
        Field::Rw.get(self).expect("every workload has a pattern")
    }

    /// Whether pattern, size, depth, workers and span say all there is to say of the requests.
    pub fn is_plain(&self) -> bool {
        self.skip == Bytes::ZERO && self.details_given().next().is_none()
    }
}

#[cfg(test)]
mod tests {
    use block::Nanos;

    use super::*;
    use crate::{Arrival, ArrivalProcess, Pattern};

    #[test]
    fn what_is_by_default_goes_without_saying() {
        assert!(Workload::default().is_plain());
        let sequential = Workload { random_share: 50.into(), align: Some(Bytes::new(512)), ..Workload::default() };
        assert!(sequential.is_plain(), "a sequential pattern has no random requests");
    }

    #[test]
    fn the_order_that_leaves_the_steady_state_is_fios() {
        let workload = Workload { sprandom: "7.34%".parse().ok(), ..Workload::default() };
        assert_eq!(workload.options(), [("spr_op", "0.0734".to_owned()), ("sprandom", "1".to_owned())]);
    }

    #[test]
    fn what_is_asked_is_told_in_fios_words() {
        let think = Arrival { think: Nanos::from_micros(1500), burst: 8, ..Arrival::default() };
        let workload = Workload {
            pattern: Pattern::RandRw,
            sizes: Some("512/10:4k/90".parse().unwrap()),
            random_share: 80.into(),
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
        let open = Arrival { rate: 500, process: ArrivalProcess::Poisson, ..Arrival::default() };
        let words = Workload { compressible: 100, fsync: 1, arrival: open, ..Workload::default() }.options();
        let names: Vec<&str> = words.iter().map(|(name, _)| *name).collect();
        assert_eq!(names, ["zero_buffers", "fsync", "rate_iops", "rate_process"]);
    }
    #[test]
    fn what_is_asked_is_told_in_words() {
        let arrival = Arrival { rate: 1500, process: ArrivalProcess::Poisson, ..Arrival::default() };
        let workload = Workload {
            pattern: Pattern::RandRw,
            sizes: Some("4k/100,512/10:64k/90".parse().unwrap()),
            random_share: 80.into(),
            fdatasync: 8,
            compressible: 46,
            arrival,
            ..Workload::default()
        };
        assert_eq!(workload.sizes_shown(), "reads of 4 KiB, writes of 512 B 10 %, 64 KiB 90 %");
        assert_eq!(
            workload.details().join(", "),
            "80 % random, 46 % compressible, data flush every 8 writes, \
             1,500 requests per second (Poisson) per worker, latency from arrival"
        );
        let slow = Workload { arrival: Arrival { rate: 1, ..Arrival::default() }, ..Workload::default() };
        assert_eq!(slow.details(), ["1 request per second per worker, latency from arrival"]);
        assert_eq!(Workload { fsync: 1, ..Workload::default() }.details(), ["flush every write"]);
        assert!(Workload::default().details().is_empty());
    }
}
