//! The file of a drive that was made of ratings.

use super::parts::{PAGE, Parts, endurance};
use super::ratings::{Market, Ratings};
use super::text::{File, bytes, kib, megabytes, nanoseconds, quoted};
use super::value::Interface;

/// Where a value is from that is derived if a rating is there, or else guessed.
fn derived(from: Option<f64>, words: &str) -> String {
    match from {
        Some(_) => format!("derived from the rated {words}"),
        None => format!("guess: {words} usual of such drives"),
    }
}

/// A capacity as people write it.
fn size(capacity: f64) -> String {
    let size = capacity / 1e9;
    if size >= 1000.0 { format!("{} TB", (size / 10.0).round() / 100.0) } else { format!("{size:.0} GB") }
}

/// The file as it begins, with what was given and is of no use.
pub fn introduced(name: &str, ratings: &Ratings) -> File {
    let mut file = File(format!(
        "# Made of a drive's ratings by `assay drives new`. What is not rated is a guess and says so. Replace what you know better,\n\
         # and its source: `assay drives show ./{name}.toml` has the whole file, docs/models.md what each parameter does.\n"
    ));
    if !ratings.unused.is_empty() {
        file.0 += &format!("# Given, and of no use to the model: {}.\n", ratings.unused.join(", "));
    }
    file
}

/// Says what is guessed where nothing is given, and names the drive and what it is.
pub fn named(file: &mut File, name: &str, ratings: &Ratings, user: f64, what: &str, facts: [(bool, String); 3]) {
    let guessed = facts.into_iter().filter_map(|(is_given, fact)| (!is_given).then_some(fact));
    let guessed: Vec<String> = guessed.collect();
    if !guessed.is_empty() {
        file.0 += &format!("# Not given, guess: {}.\n", guessed.join("; "));
    }
    let title = match &ratings.title {
        Some(title) => format!("{title} ({what})"),
        None => format!("{name}: {} ({what})", size(user)),
    };
    file.0 += &format!("\nname = {}\ntitle = {}\n", quoted(name), quoted(&title));
}

/// The whole file.
pub fn text(name: &str, ratings: &Ratings, parts: &Parts) -> String {
    let bits = ["SLC", "MLC", "TLC", "QLC"][parts.bits as usize - 1];
    let market = if parts.market == Market::Server { "for servers" } else { "for clients" };
    let what = format!("{bits}, {}, {market}; from its ratings", parts.interface.words());
    let mut file = introduced(name, ratings);
    if ratings.has_no_dram && !parts.has_host_buffer {
        file.0 += "# Without DRAM, of which the model knows nothing on SATA: its map is in memory here.\n";
    }
    let facts = [
        (ratings.interface.is_some(), format!("interface, {}", parts.interface.words())),
        (ratings.bits.is_some(), format!("nand, {bits}")),
        (ratings.market.is_some(), format!("class, {market}")),
    ];
    named(&mut file, name, ratings, parts.user, &what, facts);
    file.0 += &format!("kind = \"flash\"\nbase = {}\n", bases(parts));
    rated(&mut file, ratings, parts.depth, |_| true);
    flash(&mut file, ratings, parts);
    controller(&mut file, ratings, parts);
    link(&mut file, ratings, parts);
    if parts.market == Market::Client {
        client(&mut file, parts);
    }
    let erases = format!("{}", parts.rated_erases);
    let wear = "rated_erases: guess, usual of such flash, and at least 2.5 times as often as the rated endurance writes the whole drive. The rest: guess, usual of flash data sheets and controllers";
    let wear_fields = [
        ("rated_erases", erases),
        ("deviation", "\"5%\"".to_owned()),
        ("factory_bad", "\"0.5%\"".to_owned()),
        ("reserve", "\"1%\"".to_owned()),
        ("spread_max", "100".to_owned()),
        ("least_worn_first", "true".to_owned()),
    ];
    file.table("wear", wear, &wear_fields);
    let attributes = if parts.is_nvme() { "\"nvme\"" } else { "\"generic\"" };
    let identity = [
        ("model", quoted(ratings.title.as_deref().unwrap_or(name))),
        ("firmware", "\"1\"".to_owned()),
        ("attributes", attributes.to_owned()),
    ];
    file.table("smart", "guess: the name that was given", &identity);
    file.0
}

/// The classes on which the file is based.
fn bases(parts: &Parts) -> String {
    let mut names = vec![match (parts.market, parts.is_nvme()) {
        (Market::Server, true) => "server-nvme",
        (Market::Server, false) => "server-sata",
        (Market::Client, _) => "firmware",
    }];
    match parts.interface {
        Interface::Pcie { generation: 3, lanes: 4 } => names.push("pcie3-x4"),
        Interface::Pcie { generation: 4, lanes: 4 } => names.push("pcie4-x4"),
        Interface::Pcie { generation: 5, lanes: 4 } => names.push("pcie5-x4"),
        _ => {}
    }
    match parts.bits {
        1 => {}
        2 => names.push("cells-mlc"),
        _ => names.push("cells-tlc"),
    }
    if parts.has_host_buffer {
        names.push("no-dram");
    }
    format!("{names:?}")
}

/// The ratings as they were given, which of them something was fitted to, and the price.
pub fn rated(file: &mut File, ratings: &Ratings, depth: f64, is_fitted: impl Fn(&str) -> bool) {
    let source = ratings.source.as_deref().unwrap_or("given to `assay drives new`, which was told no source");
    let guess = if ratings.depth.is_none() { ". random_depth: guess" } else { "" };
    let mut fields: Vec<(&str, String)> = Vec::new();
    let mut fitted = Vec::new();
    for (field, rate) in [("sequential_read", ratings.sequential_read), ("sequential_write", ratings.sequential_write)]
    {
        if let Some(rate) = rate {
            fields.push((field, megabytes(rate)));
            fitted.push(field);
        }
    }
    if let Some(latency) = ratings.read_latency {
        fields.push(("read_latency", nanoseconds(latency)));
        fitted.push("read_latency");
    }
    for (field, iops) in [("random_read_iops", ratings.random_read), ("random_write_iops", ratings.random_write)] {
        if let Some(iops) = iops {
            fields.push((field, format!("{iops:.0}")));
            fitted.push(field);
        }
    }
    if let Some(written) = endurance(ratings, ratings.capacity.unwrap_or_default()) {
        fields.push(("endurance", format!("\"{:.0} GB\"", written / 1e9)));
        let years = if ratings.years.is_some() { "the years of its warranty" } else { "five years (guess)" };
        let from = match (ratings.endurance, ratings.daily) {
            (None, Some(daily)) => format!("derived: {daily} drive writes a day for {years}"),
            _ => source.to_owned(),
        };
        fields.push(("endurance_source", quoted(&from)));
    }
    if ratings.random_read.or(ratings.random_write).is_some() {
        fields.push(("random_depth", format!("{depth:.0}")));
    }
    fitted.retain(|field| is_fitted(field));
    fields.push(("fitted", format!("{fitted:?}")));
    file.table("rated", &format!("{source}{guess}"), &fields);
    if let Some((amount, date)) = &ratings.price {
        file.table("price", source, &[("amount", quoted(amount)), ("date", quoted(date))]);
    }
}

/// Capacity, dies, their times, and the cache.
fn flash(file: &mut File, ratings: &Ratings, parts: &Parts) {
    let spare = match (parts.amplification, ratings.random_write) {
        (Some(by), Some(_)) => {
            format!("derived from the rated random and sequential writes, which imply a write amplification of {by:.1}")
        }
        (Some(by), None) => format!("guess: for a write amplification of {by:.1}"),
        (None, rated) => {
            let guess = "guess: what the dies have beyond the user's, less 1 %, from 7.5 to 9.5 %";
            let is_short = parts.market == Market::Server && parts.page > PAGE && rated.is_some();
            let why =
                "with which the rated random writes are not sustained here if they are of 4 KiB: each writes a page of";
            if is_short { format!("{guess}, {why} {}", kib(parts.page).trim_matches('"')) } else { guess.to_owned() }
        }
    };
    let capacity = [("user", bytes(parts.user)), ("spare", format!("\"{:.2}%\"", parts.spare * 100.0))];
    file.table(
        "capacity",
        &format!("user: the rated capacity, by IDEMA's rule from 50 GB on. spare: {spare}"),
        &capacity,
    );
    let geometry = format!(
        "guess: {} dies of {} GiB on {} channels, as many as hold the capacity and meet the ratings, whose planes read and program by themselves \
         and so count as dies. page: a map of {} in the drive's memory. program, pages_per_block: guess, usual of such flash",
        parts.dies,
        parts.die_gib,
        parts.channels,
        kib(parts.page).trim_matches('"')
    );
    let mut fields = vec![
        ("channels", parts.channels.to_string()),
        ("dies_per_channel", (parts.units / parts.channels).to_string()),
        ("planes", "1".to_owned()),
        ("multi_plane", "false".to_owned()),
        ("page", kib(parts.page)),
        ("program", kib(parts.program_bytes)),
        ("pages_per_block", parts.pages_per_block.to_string()),
    ];
    if let Some(sense) = parts.sense() {
        fields.insert(6, ("sense", kib(sense)));
    }
    file.table("geometry", &geometry, &fields);
    let read = if parts.read_is_derived { "derived from the rated latency" } else { "guess, usual of such flash" };
    let program = match parts.cache {
        Some(_) => "guess, usual of such flash: what is written after the cache".to_owned(),
        None => derived(ratings.sequential_write, "sequential write"),
    };
    let source = format!("read: {read}. program: {program}. erase, channel: guess");
    let nand = [
        ("read", nanoseconds(parts.read)),
        ("program", nanoseconds(parts.program)),
        ("erase", format!("\"{} ms\"", parts.erase_ms())),
        ("channel", megabytes(parts.channel)),
        ("copy_back", "false".to_owned()),
        ("keeps_page", "true".to_owned()),
        ("reads_first", "true".to_owned()),
    ];
    file.table("nand", &source, &nand);
    if let Some([fixed, dynamic, read, program]) = parts.cache {
        let source = format!(
            "fixed, dynamic: guess, shares of the capacity. read: guess. program: {}",
            derived(ratings.sequential_write, "sequential write")
        );
        let fields = [
            ("bits", parts.bits.to_string()),
            ("fixed", bytes(fixed)),
            ("dynamic", bytes(dynamic)),
            ("read", nanoseconds(read)),
            ("program", nanoseconds(program)),
        ];
        file.table("slc", &source, &fields);
    }
    if parts.bits == 4 {
        file.table("errors", "fresh: guess, twice what three bits a cell have", &[("fresh", "\"0.04%\"".to_owned())]);
    }
}

fn controller(file: &mut File, ratings: &Ratings, parts: &Parts) {
    let mut source =
        format!("queue_depth, cores, command: guess. retire: {}", derived(ratings.random_read, "random reads"));
    let depth = match (parts.interface, parts.market) {
        (Interface::Sata(_), _) => 32,
        (Interface::Sas(_), _) => 128,
        (_, Market::Server) => 4096,
        _ => 1024,
    };
    let mut fields = vec![
        ("queue_depth", depth.to_string()),
        ("cores", parts.cores.to_string()),
        ("command", nanoseconds(parts.command)),
        ("retire", nanoseconds(parts.retire)),
        ("page_write", nanoseconds(parts.page_write)),
    ];
    if let Some(retire) = parts.retire_write {
        source += &format!(". page_write, retire_write: {}", derived(ratings.random_write, "random writes"));
        fields.push(("retire_write", nanoseconds(retire)));
    } else {
        source += ". page_write: guess; flash holds the random writes";
    }
    if parts.page_read > 0.0 {
        source += &format!(
            ". page_read: {}, less than the link carries",
            derived(ratings.sequential_read, "sequential read")
        );
        fields.push(("page_read", nanoseconds(parts.page_read)));
    }
    if let Some(rate) = parts.write_rate {
        source +=
            &format!(". write_rate: {}, less than flash takes", derived(ratings.sequential_write, "sequential write"));
        fields.push(("write_rate", megabytes(rate)));
    }
    if parts.market == Market::Client {
        source += ". flush_journal: guess, without a capacitor the map must be found again after a power cut";
        fields.push(("flush_journal", "true".to_owned()));
    }
    file.table("controller", &source, &fields);
    let partial = if parts.is_nvme() { "\"1 MiB\"" } else { "\"256 KiB\"" };
    let fields = [("size", format!("\"{} MiB\"", parts.buffer_mib)), ("partial", partial.to_owned())];
    file.table(
        "buffer",
        "guess: at least four times what dies program together, no more of them than the controller passes data to",
        &fields,
    );
}

fn link(file: &mut File, ratings: &Ratings, parts: &Parts) {
    let words = parts.interface.words();
    match parts.interface {
        Interface::Pcie { generation, lanes } => {
            let source = format!(
                "{words}, of which the drive uses: {}. command: guess, no more than the rated random rates leave",
                derived(ratings.sequential_read, "sequential rates")
            );
            let mut fields = vec![("rate", megabytes(parts.link_rate))];
            if !(3..=5).contains(&generation) || lanes != 4 {
                fields.extend([
                    ("frame", "\"4 KiB\"".to_owned()),
                    ("frame_overhead", "\"0 ns\"".to_owned()),
                    ("duplex", "true".to_owned()),
                ]);
            }
            fields.push(("command", nanoseconds(parts.link_command)));
            file.table("link", &source, &fields);
        }
        Interface::Sata(_) | Interface::Sas(_) => {
            let is_sas = matches!(parts.interface, Interface::Sas(_));
            let source = format!(
                "{words} less 8b/10b, frames by the specification. frame_overhead, command: guess, as of the other drives; no more than the rated random rates leave"
            );
            let fields = [
                ("rate", megabytes(parts.link_rate)),
                ("frame", if is_sas { "\"1 KiB\"" } else { "\"8 KiB\"" }.to_owned()),
                ("frame_overhead", if is_sas { "\"100 ns\"" } else { "\"700 ns\"" }.to_owned()),
                ("command", nanoseconds(parts.link_command)),
                ("duplex", is_sas.to_string()),
            ];
            file.table("link", &source, &fields);
        }
    }
}

/// What drives for clients have and no class says.
fn client(file: &mut File, parts: &Parts) {
    let gc = [("policy", "\"greedy\"".to_owned()), ("idle_after", "\"1 s\"".to_owned())];
    file.table("gc", "policy, idle_after: guess", &gc);
    let (idle, active, host) = match parts.is_nvme() {
        true => ("\"400 mW\"", "\"1500 mW\"", "\"nvme-host\""),
        false => ("\"30 mW\"", "\"700 mW\"", "\"sata-host\""),
    };
    let power = [
        ("idle", idle.to_owned()),
        ("active", active.to_owned()),
        ("page_read", "\"3 uJ\"".to_owned()),
        ("page_program", "\"5 uJ\"".to_owned()),
        ("block_erase", "\"400 uJ\"".to_owned()),
        ("byte_sent", "\"300 pJ\"".to_owned()),
    ];
    file.table("power", "guess, usual of such drives", &power);
    file.table("rig", "where such drives are measured: a Linux host", &[("host", host.to_owned())]);
}
