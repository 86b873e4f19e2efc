//! Requests of several sizes, partly random, aligned, distributed or flushed as a workload asks.

use block::{Bytes, Lba, Op, Request, Seed};
use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::distribution::AddressSampler;
use crate::permutation::Permutation;
use crate::shares::Deck;
use crate::steady_order::SteadyOrder;
use crate::stream::{drawn_op, generator};
use crate::{Pattern, RandomShare, Workload};

/// The endless row of requests of one worker of any workload.
///
/// Kind, size, order and address of a request are drawn from generators of their own, so that one more choice
/// moves none of the others.
#[derive(Clone, Debug)]
pub(crate) struct Blend {
    pattern: Pattern,
    read_percent: u8,
    random_share: RandomShare,
    first: Lba,
    length: u64,
    /// Where the next request begins if it goes on from the one before, in sectors from the start of the span: of reads, writes
    /// and trims.
    next: [u64; 3],
    /// Whether each kind of request has a place of its own there.
    positions_apart: bool,
    /// How many sectors a sequence passes over after each request.
    skip: u64,
    /// The order in which every block comes once.
    once: Option<Once>,
    /// The order that leaves a drive in its steady state.
    steady: Option<SteadyOrder>,
    /// What is drawn for reads, writes and trims; none for those that are not made.
    kinds: [Option<OpSizes>; 3],
    entropy: u8,
    durable: bool,
    /// A flush follows so many writes; zero for never.
    flush_every: u32,
    /// Writes since the last flush.
    unflushed: u32,
    addresses: Xoshiro256PlusPlus,
    directions: Xoshiro256PlusPlus,
    sizes: Xoshiro256PlusPlus,
    orders: Xoshiro256PlusPlus,
}

/// Every block of the span once, then again in another order.
#[derive(Clone, Debug)]
struct Once {
    seed: Seed,
    blocks: u64,
    /// How many have been asked for, over all passes.
    asked: u64,
    pass: Permutation,
}

impl Once {
    fn new(blocks: u64, seed: Seed) -> Self {
        Self { seed, blocks, asked: 0, pass: Permutation::new(blocks, seed.number(0)) }
    }

    fn draw(&mut self) -> u64 {
        let index = self.asked % self.blocks;
        if index == 0 && self.asked > 0 {
            self.pass = Permutation::new(self.blocks, self.seed.number(self.asked / self.blocks));
        }
        self.asked += 1;
        self.pass.at(index)
    }
}

/// The sizes of one kind of requests and where they fall.
#[derive(Clone, Debug)]
struct OpSizes {
    sectors: Vec<u32>,
    least: u32,
    deck: Deck,
    /// Random requests begin at multiples of so many sectors.
    align: u64,
    places: AddressSampler,
}

impl OpSizes {
    fn new(workload: &Workload, op: Op, length: u64) -> Self {
        let sizes = workload.sizes_of(op);
        let sectors: Vec<u32> = sizes.iter().map(|entry| entry.size.sectors() as u32).collect();
        let align = workload.alignment(op).sectors();
        let least = *sectors.iter().min().expect("no list of sizes is empty");
        let places = AddressSampler::new(&workload.distribution, room(length, least, align));
        Self { deck: Deck::of(sizes.iter().map(|entry| entry.percent)), sectors, least, align, places }
    }

    /// The next size, in sectors.
    fn draw(&self, random: &mut Xoshiro256PlusPlus) -> u32 {
        self.sectors[if self.sectors.len() == 1 { 0 } else { self.deck.draw(random) }]
    }
}

/// At how many places of `length` sectors a request can begin.
const fn room(length: u64, sectors: u32, align: u64) -> u64 {
    (length - sectors as u64) / align + 1
}

impl Blend {
    /// The requests of worker number `worker` in a span of this start and length.
    pub fn new(workload: &Workload, worker: u32, (start, length): (Bytes, Bytes), seed: Seed) -> Self {
        let kind = |op| workload.ops().contains(&op).then(|| OpSizes::new(workload, op, length.sectors()));
        let step = workload.ops().iter().map(|&op| workload.alignment(op).sectors()).max();
        // A worker with a part of its own begins where that does.
        let place = if workload.verify.stamps { 0 } else { u64::from(worker) };
        let part = length.sectors() / u64::from(workload.workers);
        let step = step.expect("every pattern makes requests");
        let begin = (place * (part - part % step) + workload.begin.sectors()) % length.sectors();
        Self {
            pattern: workload.pattern,
            read_percent: workload.reads(),
            random_share: if workload.pattern.is_random() { workload.random_share } else { RandomShare::NONE },
            first: Lba::at(start),
            length: length.sectors(),
            next: [begin - begin % step; 3],
            positions_apart: workload.positions_apart || workload.random_share.same().is_none(),
            skip: workload.skip.sectors(),
            once: workload.no_repeat.then(|| {
                let seed = seed.number(u64::from(worker)).split("order");
                Once::new(length.div(workload.block), seed)
            }),
            // All workers share one row.
            steady: workload.sprandom.map(|spare| {
                SteadyOrder::new(length.div(workload.block), spare, (worker, workload.workers), seed.split("steady"))
            }),
            kinds: [Op::Read, Op::Write, Op::Trim].map(kind),
            entropy: 100 - workload.compressible,
            durable: workload.durable,
            flush_every: workload.flush_every(),
            unflushed: 0,
            addresses: generator(seed, worker, "addresses"),
            directions: generator(seed, worker, "directions"),
            sizes: generator(seed, worker, "sizes"),
            orders: generator(seed, worker, "orders"),
        }
    }

    pub fn next_request(&mut self) -> Request {
        if self.flush_every > 0 && self.unflushed == self.flush_every {
            self.unflushed = 0;
            return Request::FLUSH;
        }
        let op = drawn_op(self.pattern, self.read_percent, &mut self.directions);
        let is_random = match self.random_share.of(op) {
            0 => false,
            100 => true,
            percent => self.orders.random_range(0..100) < percent,
        };
        let number = op.number().expect("a pattern makes no flushes");
        let kind = self.kinds[number].as_ref().expect("only kinds that the pattern makes are drawn");
        let mut sectors = kind.draw(&mut self.sizes);
        let place = if let Some(once) = &mut self.once {
            once.draw() * u64::from(sectors)
        } else if let Some(steady) = &mut self.steady {
            steady.draw() * u64::from(sectors)
        } else if is_random {
            while u64::from(sectors) > self.length {
                sectors = kind.draw(&mut self.sizes);
            }
            let room = room(self.length, sectors, kind.align);
            kind.places.draw(room, &mut self.addresses) * kind.align
        } else {
            let is_at_end = u64::from(kind.least) > self.length.saturating_sub(self.next[number]);
            let place = if is_at_end { 0 } else { self.next[number] };
            // As in fio, a sequence goes on to the end of the span with what fits.
            while u64::from(sectors) > self.length - place {
                sectors = kind.draw(&mut self.sizes);
            }
            place
        };
        let next = place + u64::from(sectors) + self.skip;
        if self.positions_apart {
            self.next[number] = next;
        } else {
            self.next = [next; 3];
        }
        let request = Request::new(op, Lba::new(self.first.get() + place), sectors);
        if op != Op::Write {
            return request;
        }
        self.unflushed += 1;
        Request { entropy: self.entropy, durable: self.durable, ..request }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::{Stop, Stream};

    const REQUESTS: u32 = 100_000;

    fn requests(workload: Workload) -> Vec<Request> {
        let workload = Workload { stop: Stop::after_requests(1), ..workload };
        let mut stream = Stream::new(&workload, 0, Bytes::from_mib(64), Seed::new(7)).unwrap();
        (0..REQUESTS).map(|_| stream.next_request()).collect()
    }

    fn random(bssplit: &str) -> Workload {
        let sizes = (!bssplit.is_empty()).then(|| bssplit.parse().unwrap());
        Workload { pattern: Pattern::RandRw, read_percent: 67, sizes, ..Workload::default() }
    }

    /// That `found` of `of` requests is `percent`, give or take five standard deviations of a fair draw.
    fn assert_share(found: usize, of: usize, percent: u8, what: &str) {
        let expected = of as f64 * f64::from(percent) / 100.0;
        let tolerance = 5.0 * (expected * (1.0 - f64::from(percent) / 100.0)).sqrt();
        assert!((found as f64 - expected).abs() <= tolerance, "{what}: {found} of {of}, expected {expected}");
    }

    #[test]
    fn every_size_has_its_share() {
        let all = requests(random("512/10:1k/5:2k/5:4k/60:8k/2:16k/4:32k/4:64k/10"));
        let mut counts = BTreeMap::new();
        all.iter().for_each(|request| *counts.entry(request.bytes().get()).or_insert(0) += 1);
        let shares = [(512, 10), (1024, 5), (2048, 5), (4096, 60), (8192, 2), (16_384, 4), (32_768, 4), (65_536, 10)];
        assert_eq!(counts.len(), shares.len());
        for (size, percent) in shares {
            assert_share(counts[&size], all.len(), percent, &format!("{size} B"));
        }
    }

    #[test]
    fn reads_and_writes_may_have_sizes_of_their_own() {
        let all = requests(random("4k/100,8k/50:64k/50"));
        let (reads, writes): (Vec<Request>, Vec<Request>) = all.iter().partition(|request| request.op == Op::Read);
        assert_share(reads.len(), all.len(), 67, "reads");
        assert!(reads.iter().all(|read| read.sectors == 8));
        assert_share(writes.iter().filter(|write| write.sectors == 16).count(), writes.len(), 50, "8 KiB writes");
    }

    #[test]
    fn random_requests_begin_at_multiples_of_the_alignment_and_stay_inside() {
        let aligned = |workload: Workload, sectors: u64| {
            let all = requests(workload);
            assert!(all.iter().all(|request| request.lba.get().is_multiple_of(sectors)));
            assert!(all.iter().all(|request| request.end().offset() <= Bytes::from_mib(64)));
            all.iter().any(|request| !request.lba.get().is_multiple_of(2 * sectors))
        };
        assert!(aligned(random("4k/50:64k/50"), 8), "the least size is the default, as in fio");
        let sectors = Workload { align: Some(Bytes::new(512)), ..random("") };
        assert!(aligned(sectors.clone(), 1));
        assert!(aligned(Workload { align: Some(Bytes::from_kib(64)), ..random("4k/50:64k/50") }, 128));
        let last = requests(sectors).iter().map(|request| request.end().offset()).max().unwrap();
        assert!(last > Bytes::from_mib(64) - Bytes::from_kib(32), "the end of the span is reached: {last}");
    }

    #[test]
    fn what_is_not_random_goes_on_from_the_request_before() {
        let goes_on = |percent: u8| {
            let all = requests(Workload { random_share: percent.into(), ..random("4k/50:64k/50") });
            all.windows(2).filter(|pair| pair[1].lba == pair[0].end() || pair[1].lba.get() == 0).count()
        };
        assert_share(goes_on(80), REQUESTS as usize, 20, "going on");
        assert_eq!(goes_on(0), REQUESTS as usize - 1);
    }

    #[test]
    fn reads_are_random_beside_writes_in_sequence() {
        let share = "100,0".parse().unwrap();
        let all = requests(Workload { pattern: Pattern::RandRw, random_share: share, ..Workload::default() });
        let (reads, writes): (Vec<_>, Vec<_>) = all.into_iter().partition(|request| request.op == Op::Read);
        assert!(writes.windows(2).all(|pair| pair[1].lba == pair[0].end() || pair[1].lba.get() == 0));
        assert!(reads.windows(2).filter(|pair| pair[1].lba == pair[0].end()).count() < 10, "16,384 places");
    }

    #[test]
    fn a_sequence_of_several_sizes_leaves_no_gaps_and_wraps() {
        let sizes = Some("64k/34:128k/33:256k/33".parse().unwrap());
        let all = requests(Workload { pattern: Pattern::Write, sizes, ..Workload::default() });
        let wraps = all.windows(2).filter(|pair| pair[1].lba != pair[0].end()).collect::<Vec<_>>();
        assert!(wraps.len() > 100);
        assert!(wraps.iter().all(|pair| pair[1].lba.get() == 0 && pair[0].end().offset() == Bytes::from_mib(64)));
    }

    #[test]
    fn a_sequence_that_begins_again_draws_no_size_that_is_longer_than_the_span() {
        let sizes = Some("4k/25:8k/25:12k/25:16k/25".parse().unwrap());
        let workload = Workload { sizes, size: Some(Bytes::from_kib(10)), ..Workload::default() };
        assert!(requests(workload).iter().all(|request| request.end().offset() <= Bytes::from_kib(10)));
    }

    #[test]
    fn without_repeats_every_block_comes_once_in_each_pass_and_in_another_order() {
        let workload = Workload { no_repeat: true, block: Bytes::from_kib(12), ..random("") };
        let all = requests(workload);
        let blocks = (64 << 20) / (12 << 10);
        let passes: Vec<Vec<u64>> =
            all.chunks_exact(blocks).map(|pass| pass.iter().map(|request| request.lba.get() / 24).collect()).collect();
        assert!(passes.len() > 10);
        for pass in &passes {
            let mut sorted = pass.clone();
            sorted.sort_unstable();
            assert!(sorted.iter().enumerate().all(|(place, &block)| place as u64 == block));
        }
        assert_ne!(passes[0], passes[1]);
    }

    #[test]
    fn a_mixed_sequence_has_one_place_or_one_for_each_kind() {
        let workload = |positions_apart| Workload {
            pattern: Pattern::ReadWrite,
            positions_apart,
            stop: Stop::after_requests(1),
            ..Workload::default()
        };
        let together = requests(workload(false));
        assert!(together[..1000].windows(2).all(|pair| pair[1].lba == pair[0].end()));
        let apart = requests(workload(true));
        for op in [Op::Read, Op::Write] {
            let places: Vec<u64> =
                apart[..1000].iter().filter(|made| made.op == op).map(|made| made.lba.get()).collect();
            assert!(places.len() > 400 && (0..).zip(&places).all(|(place, lba)| *lba == place * 8), "{op}");
        }
    }

    #[test]
    fn a_strided_sequence_passes_over_what_it_is_told_to() {
        let workload = Workload { pattern: Pattern::Read, skip: Bytes::from_kib(60), ..Workload::default() };
        let all = requests(workload);
        assert!(all[..1000].windows(2).all(|pair| pair[1].lba.get() == pair[0].lba.get() + 128));
        assert_eq!((all[1023].lba.get(), all[1024].lba.get()), (1023 * 128, 0), "then from the start");
    }

    #[test]
    fn a_flush_follows_every_so_many_writes() {
        let all = requests(Workload { fdatasync: 8, ..random("") });
        let mut writes = 0;
        for request in &all {
            match request.op {
                Op::Write => writes += 1,
                Op::Flush => assert_eq!(std::mem::take(&mut writes), 8),
                _ => {}
            }
            assert!(writes <= 8);
        }
        assert!(all.iter().any(|request| request.op == Op::Flush));
    }

    #[test]
    fn only_writes_say_how_they_compress_and_that_they_must_last() {
        for request in requests(Workload { compressible: 46, durable: true, ..random("") }) {
            let expected = if request.op == Op::Write { (54, true) } else { (100, false) };
            assert_eq!((request.entropy, request.durable), expected);
        }
    }

    #[test]
    fn asking_for_one_thing_more_moves_nothing_else() {
        let base = requests(random(""));
        let addresses = |all: &[Request]| all.iter().map(|request| (request.op, request.lba)).collect::<Vec<_>>();
        let durable = requests(Workload { durable: true, ..random("") });
        assert_eq!(addresses(&base), addresses(&durable));
        let ops = |all: &[Request]| all.iter().map(|request| request.op).collect::<Vec<_>>();
        assert_eq!(ops(&base), ops(&requests(Workload { random_share: 50.into(), ..random("4k/50:8k/50") })));
    }

    #[test]
    fn one_seed_tells_one_story() {
        let workload = || Workload {
            random_share: 80.into(),
            distribution: "zipf:1.2".parse().unwrap(),
            fsync: 5,
            ..random("512/10:4k/90")
        };
        assert_eq!(requests(workload()), requests(workload()));
    }
}
