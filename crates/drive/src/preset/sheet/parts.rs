//! What a drive with given ratings may be made of.

use super::ratings::{Market, Ratings};
use super::value::Interface;

/// A page of the map, unless the drive is too large.
pub const PAGE: f64 = 4096.0;
/// How many bytes a request in order has.
const STREAM: f64 = 131_072.0;
/// What requests spend outside the dies, in microseconds: firmware, link, decoding.
const OUTSIDE: f64 = 22.0;
/// Which share of what it has on the wire a link carries at most, beside packets' headers.
const LINK_SHARE: f64 = 0.97;
/// What a command takes of PCIe beside its data, in microseconds, unless the ratings leave less.
const LINK_COMMAND: f64 = 0.1;

/// What a drive is made of: bytes, microseconds, and bytes a second.
#[derive(Clone, Debug)]
pub struct Parts {
    pub market: Market,
    pub interface: Interface,
    /// In place of DRAM.
    pub has_host_buffer: bool,
    pub bits: u32,
    pub user: f64,
    pub page: f64,
    /// Planes that count as dies.
    pub units: u32,
    pub channels: u32,
    pub die_gib: u32,
    pub dies: u32,
    pub program_bytes: f64,
    pub pages_per_block: u32,
    pub read: f64,
    /// Whether the time of a read follows from a rating.
    pub read_is_derived: bool,
    pub program: f64,
    pub channel: f64,
    /// Fixed, dynamic, read and program of cells of one bit, where there is such a cache.
    pub cache: Option<[f64; 4]>,
    /// What the controller passes on, where flash would take more.
    pub write_rate: Option<f64>,
    /// A share of the user's capacity.
    pub spare: f64,
    /// The write amplification that the ratings of a drive for servers imply.
    pub amplification: Option<f64>,
    pub depth: f64,
    pub cores: u32,
    pub command: f64,
    pub retire: f64,
    pub retire_write: Option<f64>,
    pub page_write: f64,
    pub page_read: f64,
    pub link_rate: f64,
    pub link_command: f64,
    pub buffer_mib: u64,
    pub rated_erases: u32,
}

/// What flash of so many bits a cell has.
struct Flash {
    /// A die, in GiB, from the usual one to the smallest, by halves.
    die: [u32; 2],
    planes: u32,
    program_bytes: f64,
    /// From the fastest to the slowest.
    program: [f64; 2],
    read: f64,
    erases: u32,
    /// More erases than any such flash stands.
    erases_most: f64,
}

impl Flash {
    fn of(bits: u32, market: Market) -> Self {
        let is_server = matches!(market, Market::Server);
        let kib = |client: u32, server: u32| f64::from(if is_server { server } else { client } << 10);
        match bits {
            1 => Self {
                die: [4, 2],
                planes: 2,
                program_bytes: kib(8, 8),
                program: [100.0, 500.0],
                read: 25.0,
                erases: 60_000,
                erases_most: 200_000.0,
            },
            2 => Self {
                die: [16, 4],
                planes: 2,
                program_bytes: kib(32, 32),
                program: [150.0, 1800.0],
                read: 45.0,
                erases: 5000,
                erases_most: 60_000.0,
            },
            3 => Self {
                die: [64, 16],
                planes: 4,
                program_bytes: kib(16, 48),
                program: if is_server { [700.0, 2200.0] } else { [60.0, 250.0] },
                read: if is_server { 50.0 } else { 45.0 },
                erases: 3000,
                erases_most: 40_000.0,
            },
            _ => Self {
                die: [128, 32],
                planes: 4,
                program_bytes: kib(16, 64),
                program: if is_server { [1500.0, 3600.0] } else { [60.0, 250.0] },
                read: 75.0,
                erases: 1500,
                erases_most: 15_000.0,
            },
        }
    }
}

/// The rates that a drive is to have, rated or guessed.
#[derive(Clone, Copy)]
struct Rates {
    read: f64,
    write: f64,
    random_read: f64,
    random_write: f64,
}

impl Parts {
    /// The parts of a drive with these ratings.
    ///
    /// # Errors
    /// All that contradicts itself, the interface or flash.
    pub fn of(ratings: &Ratings) -> Result<Self, Vec<String>> {
        let Some(capacity) = ratings.capacity else {
            return Err(vec!["the capacity is missing; give it, such as `capacity=1TB`".to_owned()]);
        };
        if !(30e9..=128e12).contains(&capacity) {
            let right = "drives of flash have 30 GB to 128 TB here";
            return Err(vec![format!("capacity: {} GB; {right}", capacity / 1e9)]);
        }
        let interface = ratings.interface.unwrap_or_else(|| interface_by(ratings.sequential_read));
        let market = ratings.market.unwrap_or_else(|| market_by(ratings, capacity));
        let bits = ratings.bits.unwrap_or(3);
        let rates = rates(ratings, interface, market);
        let mistakes = contradictions(ratings, interface, bits, capacity, rates);
        if !mistakes.is_empty() {
            return Err(mistakes);
        }
        let flash = Flash::of(bits, market);
        let mut parts = Self::plain(ratings, interface, market, bits, idema(capacity));
        let rates = parts.lay_out(&flash, rates, ratings).map_err(|mistake| vec![mistake])?;
        parts.time(&flash, rates);
        parts.leave_spare(rates);
        parts.firmware(rates);
        parts.link(rates);
        // No more than the controller passes on meanwhile, where that is the limit: the rest would be a cache.
        let passed = parts.write_rate.map_or(f64::INFINITY, |rate| rate * parts.program / 1e6);
        let together = passed.min(f64::from(parts.units) * parts.program_bytes);
        parts.buffer_mib = (4.0 * together / f64::from(1 << 20)).ceil() as u64;
        parts.buffer_mib = parts.buffer_mib.max(if parts.is_nvme() { 16 } else { 4 }).next_power_of_two();
        let writes = endurance(ratings, capacity).unwrap_or_default() / capacity;
        let usual = if market == Market::Server { flash.erases.max(7000) } else { flash.erases };
        parts.rated_erases = usual.max((writes * 2.5).ceil() as u32);
        Ok(parts)
    }

    /// What is known before anything is derived.
    fn plain(ratings: &Ratings, interface: Interface, market: Market, bits: u32, user: f64) -> Self {
        let is_nvme = matches!(interface, Interface::Pcie { .. });
        let channel = match interface {
            Interface::Pcie { generation: 5.., .. } => 2400e6,
            Interface::Pcie { generation: 4, .. } => 1600e6,
            Interface::Pcie { .. } => 1200e6,
            _ => 600e6,
        };
        let depth = ratings.depth.unwrap_or(if is_nvme { 256.0 } else { 32.0 });
        Self {
            market,
            interface,
            has_host_buffer: ratings.has_no_dram && is_nvme,
            bits,
            user,
            page: PAGE,
            units: 0,
            channels: 8,
            die_gib: 0,
            dies: 0,
            program_bytes: 0.0,
            pages_per_block: 0,
            read: 0.0,
            read_is_derived: false,
            program: 0.0,
            channel,
            cache: None,
            write_rate: None,
            spare: 0.0,
            amplification: None,
            depth,
            cores: 1,
            command: 5.0,
            retire: 0.0,
            retire_write: None,
            page_write: 2.0,
            page_read: 0.0,
            link_rate: 0.0,
            link_command: 0.0,
            buffer_mib: 0,
            rated_erases: 0,
        }
        .with_read(ratings, bits, market)
    }

    fn with_read(mut self, ratings: &Ratings, bits: u32, market: Market) -> Self {
        let usual = Flash::of(bits, market).read;
        self.read_is_derived = ratings.read_latency.is_some();
        self.read = ratings.read_latency.map_or(usual, |latency| (latency - OUTSIDE).clamp(20.0, 150.0));
        self
    }

    pub fn is_nvme(&self) -> bool {
        matches!(self.interface, Interface::Pcie { .. })
    }

    /// Whether writes go to cells of one bit first.
    pub fn is_cached(&self) -> bool {
        self.market == Market::Client && self.bits >= 3
    }

    /// As few dies as hold the data, answer the reads and take the writes: smaller ones where large ones are too few. The
    /// rates that it has: what is not rated is no more than these dies have.
    fn lay_out(&mut self, flash: &Flash, mut rates: Rates, ratings: &Ratings) -> Result<Rates, String> {
        if rates.read > 8e9 || self.user > 8e12 && self.is_nvme() {
            self.channels = 16;
        } else if self.user < 100e9 {
            self.channels = 4;
        }
        self.program_bytes = flash.program_bytes;
        let [mut die, smallest] = flash.die;
        if self.user < 400e9 && self.bits >= 3 {
            die /= 2;
        }
        let rated_reads = ratings.random_read.unwrap_or_default();
        let rated_write = ratings.sequential_write.unwrap_or(1.0);
        loop {
            self.set_dies(die, flash.planes);
            let is_fast = self.program_for(rated_write) >= flash.program[0];
            if die <= smallest || is_fast && self.reads() >= rated_reads * 1.1 {
                break;
            }
            die /= 2;
        }
        let may_go_deeper = ratings.depth.is_none() && self.is_nvme();
        while may_go_deeper && self.reads() < rated_reads * 1.1 && self.depth < 1024.0 {
            self.depth *= 2.0;
        }
        // Faster flash than usual, as far as there is such.
        while !self.read_is_derived && self.reads() < rated_reads * 1.05 && self.read > 25.0 {
            self.read -= 1.0;
        }
        if self.reads() < rated_reads {
            return Err(format!(
                "random-read: {rated_reads:.0} a second with {} in flight are more than {} planes of flash that are read \
                 in {:.0} us answer, {:.0}; check random-read, random-depth (all threads together: QD32 with 16 threads \
                 is 512), read-latency and capacity",
                self.depth,
                self.units,
                self.read,
                self.reads()
            ));
        }
        let most = f64::from(self.units) * self.program_bytes / (flash.program[0] + self.transfer()) * 1e6;
        if rated_write * 1.02 > most {
            return Err(format!(
                "sequential-write: {:.0} MB/s are more than {:.0} GB of such flash take, {:.0} MB/s; check \
                 sequential-write, nand and capacity",
                rated_write / 1e6,
                self.user / 1e9,
                most / 1e6
            ));
        }
        rates.random_read = rates.random_read.min(self.reads() / 1.1);
        rates.write = rates.write.min(most / 1.1);
        if ratings.random_write.is_none() {
            rates.random_write = rates.random_write.min(rates.write / PAGE * 0.9);
        }
        Ok(rates)
    }

    /// So many dies as hold the data, evenly on all channels.
    fn set_dies(&mut self, die_gib: u32, planes: u32) {
        self.die_gib = die_gib;
        self.dies = (self.user * 1.07 / (f64::from(die_gib) * f64::from(1 << 30))).ceil() as u32;
        self.units = (self.dies * planes).next_multiple_of(self.channels);
        let spare = 1.3;
        self.page = PAGE;
        loop {
            let pages = self.user / f64::from(self.units) / self.page;
            self.pages_per_block = (((pages / 512.0 / 192.0).round() * 192.0) as u32).clamp(192, 9216);
            let rounding = f64::from(self.pages_per_block.next_power_of_two()) / f64::from(self.pages_per_block);
            if self.user / self.page * spare * rounding < 4.0e9 {
                break;
            }
            self.page *= 2.0;
        }
        if self.page > 16_384.0 {
            self.program_bytes = self.program_bytes.max(196_608.0);
        }
    }

    /// Microseconds in which what is programmed together crosses a channel.
    fn transfer(&self) -> f64 {
        self.program_bytes / self.channel * 1e6
    }

    /// What one array read brings, in bytes, if that is not all that is programmed together.
    pub fn sense(&self) -> Option<f64> {
        (self.program_bytes > 32_768.0).then(|| self.page.max(16_384.0))
    }

    /// How long an erase takes, in milliseconds.
    pub fn erase_ms(&self) -> u32 {
        if self.bits == 1 { 2 } else { 5 }
    }

    /// How long a program may take at this rate of writes, in microseconds.
    fn program_for(&self, rate: f64) -> f64 {
        f64::from(self.units) * self.program_bytes / (rate * 1.02) * 1e6 - self.transfer()
    }

    /// How many reads a second the dies answer with so many in flight: some wait for the same die.
    fn reads(&self) -> f64 {
        let (units, time) = (f64::from(self.units), (self.read * 1.03 + 4.0) / 1e6);
        // What is outside the dies is in flight too: the rate is where both together are the depth.
        let mut rate = 0.0;
        for _ in 0..40 {
            let within = (self.depth - rate * OUTSIDE / 1e6).max(1.0);
            rate = (rate + units / time * within / (within + units - 1.0)) / 2.0;
        }
        rate
    }

    /// Program times, the cache, and what holds writes where the slowest flash would still be too fast.
    fn time(&mut self, flash: &Flash, rates: Rates) {
        let [_, slowest] = flash.program;
        let program = self.program_for(rates.write);
        if program > slowest {
            self.write_rate = Some(rates.write);
        }
        let program = program.min(slowest);
        if self.is_cached() {
            let usual = if self.bits == 4 { 1600.0 } else { 500.0 };
            let dynamic = if self.bits == 4 { 0.04 } else { 0.1 };
            self.cache = Some([self.user * 0.006, self.user * dynamic, self.read.min(30.0), program]);
            self.program = f64::max(usual, program * 1.5);
        } else {
            self.program = program;
        }
    }

    /// Microseconds of a die for each program where garbage collection goes on: beside the program and its transfer the share of an
    /// erase, and what moved pages take. If u is the valid share of a victim, u of what is programmed is moved, and 1/u sensed
    /// pages are read for each page's worth of it: together one array read for each sensed page of a program. Most of it goes over
    /// the channel twice.
    fn program_in_steady_state(&self) -> f64 {
        let reads = self.read * self.program_bytes / self.sense().unwrap_or(self.program_bytes);
        let erase =
            f64::from(self.erase_ms()) * 1e3 * self.program_bytes / (f64::from(self.pages_per_block) * self.page);
        self.program + self.transfer() * 1.8 + reads + erase
    }

    /// Spare flash: what the dies have, or, of a drive for servers, what its random writes imply.
    fn leave_spare(&mut self, rates: Rates) {
        // What the units of a steady drive lose by having more to do than others, and by programs that vary: the mean of ten made
        // drives, 1.07 to 1.12.
        const UNEVEN: f64 = 1.085;
        // Bad blocks, and those that are open or kept free: as much of all flash, of the same ten drives.
        const OUT_OF_USE: f64 = 0.0155;
        if self.market == Market::Server {
            let flash = f64::from(self.units) * self.program_bytes / self.program_in_steady_state() * 1e6;
            let amplification = flash / UNEVEN / (rates.random_write * self.page);
            // Of greedy collection, (1 + s) / 2s with a spare s.
            let spare = 1.0 / (2.0 * amplification - 1.0);
            if amplification > 1.3 && spare > 0.05 {
                self.amplification = Some(amplification);
                self.spare = (1.0 + spare) * (1.0 + OUT_OF_USE) - 1.0;
                return;
            }
        }
        let raw = f64::from(self.dies) * f64::from(self.die_gib) * f64::from(1 << 30) / self.user - 1.01;
        self.spare = raw.clamp(0.075, 0.095);
    }

    /// Processors and what each command takes of them.
    fn firmware(&mut self, rates: Rates) {
        let is_server = self.market == Market::Server;
        let by_firmware = self.amplification.is_none();
        (self.command, self.page_write) = match (self.is_nvme(), is_server) {
            (true, true) => (6.0, 1.0),
            (true, false) => (4.5, 0.6),
            (false, _) => (5.0, 2.0),
        };
        let each = |cores: u32, rate: f64| f64::from(cores) / rate * 1e6 * if cores == 1 { 0.96 } else { 0.99 };
        let enough = |cores: u32| {
            each(cores, rates.random_read) > self.command + 0.8
                && (!by_firmware || each(cores, rates.random_write) > self.command + self.page_write + 0.3)
        };
        let counts: &[u32] = if self.is_nvme() { &[8, 12, 16, 24, 32, 48, 64] } else { &[1] };
        self.cores = counts.iter().copied().find(|cores| enough(*cores)).unwrap_or(counts[counts.len() - 1]);
        let read = each(self.cores, rates.random_read);
        let write = each(self.cores, rates.random_write);
        self.command = self.command.min(read - 0.4);
        if by_firmware {
            self.page_write = self.page_write.min((write - self.command - 0.1).max(0.1));
            self.command = self.command.min(write - self.page_write);
            self.retire_write = Some((write - self.command - self.page_write).max(0.0));
        }
        // Where the link would carry more in order than is rated, pages of a read take their time.
        let stream = f64::from(self.cores) * STREAM / rates.read * 1e6;
        let carried = match self.interface {
            Interface::Pcie { .. } => rates.read.max(rates.write),
            other => other.most() * 0.93,
        };
        if rates.read < carried * 0.94 {
            self.page_read = ((stream - read) / 31.0).max(0.0);
            self.command = self.command.min((read - self.page_read - 0.2).max(0.5));
        }
        self.retire = (read - self.command - self.page_read).max(0.1);
    }

    /// What the link carries.
    fn link(&mut self, rates: Rates) {
        let most = self.interface.most();
        let fastest = |writes: bool| rates.random_read.max(if writes { rates.random_write } else { 0.0 });
        (self.link_rate, self.link_command) = match self.interface {
            Interface::Pcie { .. } => {
                let busiest = rates.read.max(rates.write).max(fastest(true) * PAGE);
                let rate = ((busiest * 1.025 / 1e7).ceil() * 1e7).min(most);
                (rate, (0.98e6 / fastest(true) - PAGE / rate * 1e6).clamp(0.0, LINK_COMMAND))
            }
            Interface::Sas(_) => (most, 1.0),
            Interface::Sata(_) => {
                let page = PAGE / most * 1e6 + 0.35;
                (most, (0.975e6 / fastest(self.retire_write.is_some()) - page).clamp(0.5, 3.0))
            }
        };
    }
}

/// The interface of a drive that reads so fast, where nobody says.
fn interface_by(read: Option<f64>) -> Interface {
    match read {
        Some(read) if read <= 580e6 => Interface::Sata(600),
        Some(read) if read > 7.6e9 => Interface::Pcie { generation: 5, lanes: 4 },
        Some(read) if read > 3.6e9 => Interface::Pcie { generation: 4, lanes: 4 },
        _ => Interface::Pcie { generation: 3, lanes: 4 },
    }
}

/// Whom a drive is for, by its endurance and its capacity, where nobody says.
fn market_by(ratings: &Ratings, capacity: f64) -> Market {
    const SERVERS: [u32; 18] = [
        200, 400, 480, 800, 960, 1600, 1920, 3200, 3840, 6400, 7680, 12_800, 15_360, 25_600, 30_720, 61_440, 122_880,
        240,
    ];
    let gigabytes = (capacity / 1e9).round() as u32;
    let is_sas = matches!(ratings.interface, Some(Interface::Sas(_)));
    let is_written_much = ratings.daily.is_some_and(|daily| daily >= 0.8);
    if is_sas || is_written_much || SERVERS.contains(&gigabytes) { Market::Server } else { Market::Client }
}

/// The rates that are rated; what is usual of such drives for the others.
fn rates(ratings: &Ratings, interface: Interface, market: Market) -> Rates {
    let is_nvme = matches!(interface, Interface::Pcie { .. });
    let read = ratings.sequential_read.unwrap_or(interface.most() * if is_nvme { 0.86 } else { 0.93 });
    // Nothing is written faster at random than in order.
    let least_write = ratings.random_write.unwrap_or_default() * PAGE;
    let write = ratings.sequential_write.unwrap_or(least_write.max(
        read * match (is_nvme, market) {
            (true, Market::Server) => 0.4,
            (true, Market::Client) => 0.8,
            _ => 0.94,
        },
    ));
    let usual = if is_nvme { read / 4096.0 * 0.55 } else { (read / 4096.0 * 0.7).min(95_000.0) };
    let usual_write = match market {
        Market::Server => write / 4096.0 / 5.0,
        Market::Client => (write / 4096.0 * 0.7).min(if is_nvme { 1.5e6 } else { 88_000.0 }),
    };
    Rates {
        read,
        write,
        random_read: ratings.random_read.unwrap_or(usual),
        random_write: ratings.random_write.unwrap_or(usual_write),
    }
}

/// What in the ratings cannot be, or cannot be together.
fn contradictions(ratings: &Ratings, interface: Interface, bits: u32, capacity: f64, rates: Rates) -> Vec<String> {
    let most = interface.most() * LINK_SHARE;
    let mut found = Vec::new();
    let carried = format!(
        "{} carries, {:.0} MB/s ({:.0} % of {:.0} MB/s, the rest is packets' headers)",
        interface.words(),
        most / 1e6,
        LINK_SHARE * 100.0,
        interface.most() / 1e6
    );
    // What is guessed follows from these: it is mistaken only where they are.
    for (name, rate) in [
        ("sequential-read", ratings.sequential_read),
        ("sequential-write", ratings.sequential_write),
        ("random-read", ratings.random_read.map(|rate| rate * PAGE)),
        ("random-write", ratings.random_write.map(|rate| rate * PAGE)),
    ] {
        if let Some(rate) = rate.filter(|rate| *rate > most) {
            let of = if name.starts_with('r') { " in requests of 4 KiB" } else { "" };
            found.push(format!(
                "{name}: {:.0} MB/s{of} are more than {carried}; check it and the interface",
                rate / 1e6
            ));
        }
    }
    if found.is_empty() && rates.random_write * 4096.0 > rates.write * 1.03 {
        let write = format!("{:.0} MB/s in requests of 4 KiB", rates.random_write * 4096.0 / 1e6);
        found.push(format!(
            "random-write: {write} are more than the sequential-write of {:.0} MB/s; check both: flash takes no more at random than in order",
            rates.write / 1e6
        ));
    }
    if ratings.random_read.is_some_and(|rate| !(500.0..=2e7).contains(&rate)) {
        found.push(format!("random-read: {:.0} a second; drives of flash answer 500 to 20,000,000", rates.random_read));
    }
    if ratings.random_write.is_some_and(|rate| !(100.0..=2e7).contains(&rate)) {
        found.push(format!("random-write: {:.0} a second; drives of flash take 100 to 20,000,000", rates.random_write));
    }
    if rates.read < 20e6 || rates.write < 20e6 {
        found.push(
            "sequential-read, sequential-write: drives of flash have 20 MB/s and more; check the units".to_owned(),
        );
    }
    if ratings.read_latency.is_some_and(|latency| !(25.0..=1000.0).contains(&latency)) {
        let latency = ratings.read_latency.unwrap_or_default();
        found.push(format!("read-latency: {latency} us; a read of flash takes 25 to 1,000 us with its host"));
    }
    let erases = endurance(ratings, capacity).unwrap_or_default() / capacity;
    let most = Flash::of(bits, Market::Server).erases_most;
    if erases > most {
        found.push(format!("endurance: {erases:.0} times the capacity are more than flash of {bits} bits a cell stands, {most:.0} erases; check its unit"));
    }
    found
}

/// Bytes that may be written, where that is said.
pub fn endurance(ratings: &Ratings, capacity: f64) -> Option<f64> {
    ratings.endurance.or_else(|| Some(ratings.daily? * capacity * 365.0 * ratings.years.unwrap_or(5.0)))
}

/// Bytes of a drive that is sold with this capacity.
///
/// Source: IDEMA, LBA1-03, from 50 GB to 8 TB; SFF-8447 above, whole GiB. Both recalled and not read; the capacities of the
/// drives that come with the program agree.
pub fn idema(capacity: f64) -> f64 {
    let gib = f64::from(1 << 30);
    let gigabytes = (capacity / 1e9).round();
    // To the byte, or of flash.
    let capacity = capacity.round();
    let is_exact = capacity % 512.0 == 0.0 && capacity % 1e6 != 0.0;
    match is_exact || (capacity / gib).fract() == 0.0 {
        false if gigabytes > 8000.0 => (capacity / gib).ceil() * gib,
        false if gigabytes >= 50.0 => (97_696_368.0 + 1_953_504.0 * (gigabytes - 50.0)) * 512.0,
        _ if is_exact => capacity,
        _ => (capacity / 131_072.0).floor() * 131_072.0,
    }
}
