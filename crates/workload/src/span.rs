//! Which part of a target a workload uses.

use block::{Bytes, Op, SECTOR};

use crate::{Invalid, Replay, Stop, Workload};

impl Workload {
    /// The part of a target of `capacity` that the workload uses: start and length, in whole blocks where all
    /// requests are blocks.
    ///
    /// # Errors
    /// If the workload makes no sense at all or does not fit the target.
    pub fn span(&self, capacity: Bytes) -> Result<(Bytes, Bytes), Invalid> {
        self.check()?;
        if self.offset >= capacity {
            return Err(Invalid::OffsetBeyond { offset: self.offset, capacity });
        }
        let length = self.size.unwrap_or(capacity - self.offset);
        if self.offset + length > capacity {
            return Err(Invalid::TooLarge { size: length, offset: self.offset, capacity });
        }
        // Of several sizes only those are drawn that fit.
        let least = |op: &Op| self.sizes_of(*op).iter().map(|entry| entry.size).min();
        let block = self.ops().iter().filter_map(least).max().expect("every pattern makes requests");
        // Only workers whose data is checked need a part each.
        let parts = if self.verify.stamps { u64::from(self.workers) } else { 1 };
        if length.div(block) < parts {
            return Err(Invalid::TooSmall { size: length, block, workers: self.workers });
        }
        if let Some(replay) = &self.replay {
            return self.span_of(replay, length);
        }
        let is_in_blocks = self.sizes.is_none() && self.align.is_none() && self.skip == Bytes::ZERO;
        let unit = if is_in_blocks { block } else { SECTOR };
        Ok((self.offset, length.round_down(unit)))
    }

    /// The part of the span that worker number `worker` uses: all of it, unless what is written is checked.
    ///
    /// # Errors
    /// As those of [`span`](Self::span).
    pub fn part(&self, worker: u32, capacity: Bytes) -> Result<(Bytes, Bytes), Invalid> {
        let (start, length) = self.span(capacity)?;
        if !self.verify.stamps {
            return Ok((start, length));
        }
        let part = self.block.times(length.div(self.block) / u64::from(self.workers));
        Ok((start + part.times(u64::from(worker)), part))
    }

    /// The same of a replay, as far as its trace reaches, which must have been read.
    fn span_of(&self, replay: &Replay, room: Bytes) -> Result<(Bytes, Bytes), Invalid> {
        let source_name = replay.source.clone();
        match &replay.trace {
            None => Err(Invalid::TraceUnread { source_name }),
            Some(trace) if trace.end() > room => {
                let (end, scale) = (trace.end(), u64::from(replay.scale));
                // What is rounded off a place may be as long as the longest request.
                let fitting = Bytes::new(room.get().saturating_sub(trace.longest().get())).max(SECTOR);
                Err(Invalid::TraceBeyond { source_name, end, room, scale: scale * (end.div(fitting) + 1) })
            }
            Some(trace) => Ok((self.offset, trace.end())),
        }
    }

    /// The same on a target of this capacity: what is a share of the target or of the span is so much of it.
    pub fn on(&self, capacity: Bytes) -> Self {
        let block = self.block_max().max(SECTOR);
        // Whether any of the span lies on the target is asked by `span`, which says it better.
        let part = |of: Bytes, percent: u128| {
            let part = u128::from(of.get()) * percent / 100;
            if of == Bytes::ZERO { block } else { Bytes::new(u64::try_from(part).unwrap_or(u64::MAX)) }
        };
        let offset = self.place.map_or(self.offset, |percent| part(capacity, u128::from(percent)).round_down(block));
        let rest = Bytes::new(capacity.get().saturating_sub(offset.get()));
        let of_target = |percent| part(capacity, u128::from(percent)).min(rest).round_down(block);
        let size = self.size.or(self.share.map(of_target));
        let length = size.unwrap_or(rest).round_down(block);
        let share = self.stop.span.map(|percent| part(length, u128::from(percent)));
        let bytes = self.stop.bytes.into_iter().chain(share).min();
        Self { offset, place: None, size, share: None, stop: Stop { bytes, span: None, ..self.stop }, ..self.clone() }
    }

    /// The same going on where a run of it that moved so much has ended, if it is sequential.
    pub fn resumed(&self, moved: Bytes) -> Self {
        let each = Bytes::new(moved.get() / u64::from(self.workers.max(1)));
        let begin = if self.pattern.is_random() { Bytes::ZERO } else { each.round_down(self.block_max().max(SECTOR)) };
        Self { begin, ..self.clone() }
    }
}

#[cfg(test)]
mod tests {
    use block::Nanos;

    use super::*;
    use crate::{Pattern, Verify};

    #[test]
    fn the_span_is_the_whole_target_in_whole_blocks() {
        let span =
            Workload { block: Bytes::from_mib(4), stop: Stop::after(Nanos::from_secs(10)), ..Workload::default() }
                .span(Bytes::from_mib(10));
        assert_eq!(span, Ok((Bytes::ZERO, Bytes::from_mib(8))));
    }

    #[test]
    fn workers_whose_data_is_checked_have_a_part_and_a_share_each() {
        let verify = Verify { stamps: true, ..Verify::default() };
        let workload = Workload {
            pattern: Pattern::RandWrite,
            workers: 3,
            offset: Bytes::from_kib(4),
            verify,
            stop: Stop::after_bytes(Bytes::from_kib(100)),
            ..Workload::default()
        };
        let parts: Vec<_> = (0..3).map(|worker| workload.part(worker, Bytes::from_kib(48)).unwrap()).collect();
        let part = |start: u64| (Bytes::from_kib(start), Bytes::from_kib(12));
        assert_eq!(parts, [part(4), part(16), part(28)]);
        assert_eq!(workload.requests_each(), 8);
        let mut stream = crate::Stream::new(&workload, 1, Bytes::from_kib(48), block::Seed::new(7)).unwrap();
        for _ in 0..1000 {
            let request = stream.next_request();
            let (start, length) = parts[1];
            assert!(request.lba.offset() >= start && request.end().offset() <= start + length);
        }
        let plain = Workload { verify: Verify::default(), ..workload };
        assert_eq!(plain.part(2, Bytes::from_kib(48)).unwrap(), (Bytes::from_kib(4), Bytes::from_kib(44)));
        assert_eq!(plain.requests_each(), u64::MAX);
    }
}
