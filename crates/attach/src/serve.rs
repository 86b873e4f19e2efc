//! Answering requests at the time at which the drive would.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use block::{Bytes, Lba, Nanos, SECTOR};
use drive::{Device, Drive, Shape};
use rustix::event::Timespec;
use rustix::io::Errno;

use crate::AttachError;
use crate::content::Content;
use crate::faults::{FaultEffect, FaultQueue, Faults};
use crate::live::{SharedStats, SmartData, StatsCounter};
use crate::overhead::PAUSE;
use crate::pace::{Paced, PathOverhead, now};
use crate::port::{IoRequest, IoWork, Port, Received, shielded};
use crate::power::{PowerCut, PowerCutTrigger};
use crate::undo::UndoLog;

/// Sleeping is late by 15 to 25 µs, so that the last of a wait is spent looking.
const AWAKE: Nanos = Nanos::from_micros(50);
/// How often a server without requests looks whether it is to end.
const IDLE: Nanos = Nanos::from_millis(100);

/// A request that the drive has, and what is to be done when it is due.
#[derive(Debug)]
pub struct PendingRequest<N> {
    wanted: IoRequest<N>,
    /// How many writes had been answered when it came, which a flush covers.
    covers: u64,
    /// What faults that were asked for do to it, and how the drive has ended it.
    verdict: FaultEffect,
}

/// Serves a drive at a port until that ends or it is told to stop.
#[derive(Debug)]
pub struct Server<P: Port> {
    port: P,
    content: Content,
    undo: UndoLog,
    paced: Paced<PendingRequest<P::Name>>,
    power: PowerCutTrigger,
    faults: Faults,
    orders: Arc<FaultQueue>,
    /// Requests that a fault has answered later than the drive would, with the machine's time for that.
    late: Vec<(Nanos, PendingRequest<P::Name>)>,
    /// Whether every request is answered after the same time, to learn what the way costs.
    echoes: bool,
    /// Set when the model of the drive had a mistake: then it is not asked for anything any more.
    is_broken: bool,
    shape: Shape,
    count: StatsCounter,
    shared: Arc<SharedStats>,
    /// Whether to look for requests instead of sleeping, which costs a processor.
    busy: bool,
    data: Vec<u8>,
}

impl<P: Port> Server<P> {
    /// Will serve `paced` with its `content` at `port`.
    pub fn new(
        port: P,
        content: Content,
        paced: Paced<PendingRequest<P::Name>>,
        busy: bool,
        shared: Arc<SharedStats>,
    ) -> Self {
        let shape = paced.drive().shape();
        Self {
            port,
            content,
            undo: UndoLog::default(),
            paced,
            power: PowerCutTrigger::default(),
            faults: Faults::default(),
            orders: Arc::default(),
            late: Vec::new(),
            echoes: false,
            is_broken: false,
            shape,
            count: StatsCounter::new(now()),
            shared,
            busy,
            data: vec![0; 1 << 20],
        }
    }

    /// Begins the drive's time now, with what the way costs known, and puts it under this power. Faults come as `orders`.
    pub fn begin(&mut self, floor: PathOverhead, speed: f64, power: PowerCutTrigger, orders: Arc<FaultQueue>) {
        self.paced.begin(floor, speed, now());
        (self.count, self.undo, self.power, self.orders) =
            (StatsCounter::new(now()), UndoLog::default(), power, orders);
    }

    /// Where the requests come from.
    pub fn port(&mut self) -> &mut P {
        &mut self.port
    }

    /// The drive back.
    pub fn into_drive(self) -> Device {
        self.paced.into_drive()
    }

    /// Answers every request after [`PAUSE`], until the port ends or `stop` is set.
    ///
    /// # Errors
    /// If the port breaks.
    pub fn echo(&mut self, stop: &AtomicBool) -> Result<(), AttachError> {
        self.echoes = true;
        let done = self.serve(stop);
        self.echoes = false;
        done
    }

    /// Serves until the port ends or `stop` is set. A mistake in the model of the drive, or here, does not leave those alone
    /// who wait for an answer: from then on everything is answered with an error, as by a drive that has failed.
    ///
    /// # Errors
    /// If the port breaks. [`AttachError::Mistake`] in the end if there was such a mistake.
    pub fn serve(&mut self, stop: &AtomicBool) -> Result<(), AttachError> {
        loop {
            match shielded(|| self.serve_until(stop)) {
                Some(Err(error)) => return Err(error),
                Some(Ok(())) if self.is_broken => return Err(AttachError::Mistake),
                Some(Ok(())) => return Ok(()),
                None if self.is_broken => return Err(AttachError::Mistake),
                None => {
                    self.is_broken = true;
                    let unanswered = self.paced.give_up();
                    self.refuse(unanswered)?;
                }
            }
        }
    }

    fn serve_until(&mut self, stop: &AtomicBool) -> Result<(), AttachError> {
        while !stop.load(Ordering::Relaxed) {
            self.orders.take(&mut self.faults);
            if self.faults.has_vanished() {
                let unanswered = self.paced.give_up();
                self.refuse(unanswered)?;
            }
            while let Some(asked) = self.due(now()) {
                self.finish(asked)?;
                if self.power.is_to_be_cut(self.count.requests()) {
                    break;
                }
            }
            if !self.echoes && !self.is_broken && self.power.is_to_be_cut(self.count.requests()) {
                self.cut_power()?;
            }
            self.tell();
            if let Some(goes_on) = self.take()? {
                if !goes_on {
                    return Ok(());
                }
                continue;
            }
            self.wait()?;
        }
        Ok(())
    }

    /// Takes a request, if one is there; false once there will be no more.
    fn take(&mut self) -> Result<Option<bool>, AttachError> {
        let Self { port, paced, undo, is_broken, shape, .. } = self;
        let wanted = match port.receive()? {
            Received::Nothing => return Ok(None),
            Received::Other => return Ok(Some(true)),
            Received::Request(wanted) => wanted,
            Received::End => return Ok(Some(false)),
        };
        let came = now();
        if !wanted.is_within(*shape) {
            port.answer(wanted.name, Err(Errno::INVAL))?;
            return Ok(Some(true));
        }
        let is_write = matches!(wanted.work, IoWork::Write { .. });
        if is_write && !*is_broken && undo.should_compare(wanted.offset, wanted.length) {
            undo.keep(&paced.unsaved(came));
        }
        let request = wanted.request();
        let asked = PendingRequest { wanted, covers: undo.writes(), verdict: self.faults.judge(&request) };
        if self.is_broken {
            self.refuse([asked].into())?;
            return Ok(Some(true));
        }
        if self.echoes {
            while now().since(came) < PAUSE {
                std::hint::spin_loop();
            }
            self.finish(asked)?;
            return Ok(Some(true));
        }
        if self.power.cut().is_some() || self.faults.has_vanished() {
            self.refuse([asked].into())?;
        } else {
            self.paced.submit(came, request, asked);
        }
        Ok(Some(true))
    }

    /// A request that is to be answered at the machine's time `now`; none if there is none.
    fn due(&mut self, now: Nanos) -> Option<PendingRequest<P::Name>> {
        if self.is_broken {
            return None;
        }
        if let Some(index) = self.late.iter().position(|(at, _)| *at <= now) {
            return Some(self.late.swap_remove(index).1);
        }
        loop {
            let (mut asked, status) = self.paced.due(now)?;
            asked.verdict.status = asked.verdict.status.or(status);
            if asked.verdict.delay == Nanos::ZERO {
                return Some(asked);
            }
            let delay = self.paced.on_machine(asked.verdict.delay);
            // A slow drive's year may be longer than the machine's clock goes.
            self.late.push((Nanos::from_nanos(now.as_nanos().saturating_add(delay.as_nanos())), asked));
        }
    }

    /// Answers requests, and those that are late, with an error.
    fn refuse(&mut self, unanswered: Vec<PendingRequest<P::Name>>) -> Result<(), AttachError> {
        for asked in unanswered.into_iter().chain(self.late.drain(..).map(|(_, asked)| asked)) {
            self.count.fail();
            self.port.answer(asked.wanted.name, Err(Errno::IO))?;
        }
        Ok(())
    }

    /// Cuts the drive's power: what it loses is what was there before, and nothing is answered any more but with an error.
    fn cut_power(&mut self) -> Result<(), AttachError> {
        let (lost, unanswered) = self.paced.cut_power(now());
        let restored = self.undo.restore(&lost.sectors, &self.content);
        let bytes = |lba: Lba| lba.get() * SECTOR.get();
        let mut gone = lost.gone.iter().map(|&(from, until)| (bytes(from), bytes(until) - bytes(from)));
        let restored = restored.and_then(|()| gone.try_for_each(|(from, length)| self.content.forget(from, length)));
        self.power.note(PowerCut::new(self.count.requests(), &lost, unanswered.len() + self.late.len()));
        self.refuse(unanswered)?;
        Ok(restored?)
    }

    /// Tells every so often what the drive is doing.
    fn tell(&mut self) {
        let Self { count, paced, power, shared, faults, late, is_broken, .. } = self;
        let smart = || (!*is_broken).then(|| SmartData::of(paced.drive()));
        if let Some(live) = count.told(now(), smart) {
            live.is_broken = *is_broken;
            live.in_flight = paced.in_flight() + late.len();
            live.own_median = paced.own().percentile(50.0);
            live.has_vanished = faults.has_vanished();
            [live.late_median, live.late_99] = [50.0, 99.0].map(|percent| paced.late().percentile(percent));
            live.cut = power.cut();
            shared.write(*live);
        }
    }

    /// Answers a request that is due.
    fn finish(&mut self, asked: PendingRequest<P::Name>) -> Result<(), AttachError> {
        let Self { port, content, undo, data, count, .. } = self;
        let PendingRequest { wanted: IoRequest { name, offset, length, work }, covers, verdict } = asked;
        if !verdict.status.is_success() {
            count.fail();
            return Ok(port.answer(name, Err(Errno::IO))?);
        }
        count.add(Bytes::new(length));
        let done: std::io::Result<&[u8]> = match work {
            IoWork::Read => {
                data.resize(data.len().max(length as usize), 0);
                let data = &mut data[..length as usize];
                content.read(offset, data).map(|()| &*data)
            }
            IoWork::Write { data: new, .. } => {
                let mut before = vec![0; new.len()];
                content.read(offset, &mut before).and_then(|()| content.write(offset, &new)).map(|()| {
                    undo.note(offset, before);
                    &[][..]
                })
            }
            IoWork::Trim => content.forget(offset, length).map(|()| &[][..]),
            IoWork::Flush => {
                undo.settle(covers);
                Ok(&[])
            }
        };
        Ok(port.answer(name, done.map_err(|error| errno(&error)))?)
    }

    /// Waits until a request comes or, short of the last moments, until one is due.
    fn wait(&mut self) -> Result<(), AttachError> {
        let late = self.late.iter().map(|(at, _)| *at).min();
        let next = if self.is_broken { None } else { self.paced.next() };
        let left = match next.into_iter().chain(late).min() {
            _ if self.busy => return Ok(()),
            Some(at) => at.since(now()).since(AWAKE).min(IDLE),
            None => IDLE,
        };
        if left > Nanos::ZERO {
            let timeout =
                Timespec { tv_sec: left.as_secs_f64() as i64, tv_nsec: (left.as_nanos() % 1_000_000_000) as i64 };
            self.port.wait(self.power.woken(), &timeout)?;
        }
        Ok(())
    }
}

fn errno(error: &std::io::Error) -> Errno {
    Errno::from_io_error(error).unwrap_or(Errno::IO)
}

#[cfg(test)]
mod tests {
    use std::io::{self, PipeReader};
    use std::sync::atomic::Ordering;

    use drive::preset::Preset;

    use super::*;

    /// Asks for a read, has a mistake, and asks for another read.
    struct Mistaken {
        turns: u32,
        answers: Vec<(u32, Result<usize, Errno>)>,
        stop: Arc<AtomicBool>,
    }

    impl Port for Mistaken {
        type Name = u32;

        fn receive(&mut self) -> Result<Received<u32>, AttachError> {
            self.turns += 1;
            match self.turns {
                1 | 3 => {
                    let wanted = IoRequest { name: self.turns, offset: 0, length: 4096, work: IoWork::Read };
                    Ok(Received::Request(wanted))
                }
                2 => panic!("a mistake that this test makes"),
                _ => Ok(Received::Nothing),
            }
        }

        fn answer(&mut self, name: u32, answer: Result<&[u8], Errno>) -> io::Result<()> {
            self.answers.push((name, answer.map(<[u8]>::len)));
            self.stop.store(self.answers.len() == 2, Ordering::Relaxed);
            Ok(())
        }

        fn wait(&mut self, _: Option<&PipeReader>, _: &Timespec) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_mistake_of_ours_has_everything_answered_with_an_error_and_nobody_wait() {
        let folder = tempfile::tempdir().unwrap();
        let drive = Preset::find("x25-m?capacity.user=1GiB").unwrap().build();
        let content = Content::scratch(tempfile::tempfile_in(&folder).unwrap(), Bytes::from_gib(1)).unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let port = Mistaken { turns: 0, answers: Vec::new(), stop: Arc::clone(&stop) };
        // So slow that the first read is still in flight when the mistake is made.
        let paced = Paced::new(drive, 1e-6, PathOverhead::default(), now());
        let mut server = Server::new(port, content, paced, true, Arc::default());
        let served = server.serve(&stop);
        assert!(matches!(served, Err(AttachError::Mistake)), "{served:?}");
        assert_eq!(server.port().answers, [(1, Err(Errno::IO)), (3, Err(Errno::IO))]);
    }
}
