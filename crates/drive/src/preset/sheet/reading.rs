//! Reads what a data sheet says of a drive.

use block::Price;
use toml::Value;

use super::columns::Column;
use super::disk::{self, DiskRatings};
use super::key::{self, Field, Row};
use super::lines;
use super::ratings::{Market, Ratings, RatingsError, TEXT_MAX, clean};
use super::value::{self, Quantity, SEVERAL, VALUE_MAX, amounts, without_brackets};
use crate::preset::ListPrice;

/// More mistakes than so many are not told.
const MISTAKES_MAX: usize = 20;

/// A row that was read.
struct Given {
    field: Field,
    key: String,
    text: String,
}

impl Ratings {
    /// Reads ratings, all texts together. Each is a list `capacity=1TB, interface=PCIe Gen4 x4, …`, lines `capacity: 1 TB`, or
    /// TOML with the same keys.
    ///
    /// # Errors
    /// Names all that is wrong, and what would be right.
    pub fn read<'t>(texts: impl IntoIterator<Item = &'t str>) -> Result<Self, RatingsError> {
        let mut ratings = Self::default();
        let mut mistakes = Vec::new();
        let mut before = Vec::new();
        let mut alone = Vec::new();
        let mut on_another_bus = None;
        let mut sheets = Vec::new();
        for text in texts {
            if text.len() > TEXT_MAX {
                return Err(RatingsError(vec![format!(
                    "the ratings are {} bytes; at most 64 KiB are read",
                    text.len()
                )]));
            }
            sheets.push(lines::rows(text));
        }
        let all: Vec<Row> = sheets.iter().flat_map(|(rows, _)| rows.iter().cloned()).collect();
        let column = Column::of(&all).map_err(|why| RatingsError(vec![why]))?;
        let own = |rows: Vec<Row>| column.iter().fold(rows, |rows, column| column.own(rows));
        let sheets: Vec<_> = sheets.into_iter().map(|(rows, is_sheet)| (own(rows), is_sheet)).collect();
        let words = |(key, value): &Row| format!("{key} {}", value.as_deref().unwrap_or_default());
        let all: Vec<String> = sheets.iter().flat_map(|(rows, _)| rows.iter().map(words)).collect();
        let is_turning = sheets.iter().any(|(rows, _)| disk::is_of_a_disk(rows));
        if let Some(row) = all.iter().find(|row| is_turning && key::is_of_a_hybrid(row)) {
            let row = clean(row, 80);
            mistakes.push(format!(
                "{row}: this is of a disk with flash; drives of the one or the other are made of ratings"
            ));
        }
        // Shops' tables of flash drives have a row of the rotational speed, too.
        if is_turning && !all.iter().any(|row| key::is_of_flash(row)) {
            let mut disk = DiskRatings::default();
            all.iter().for_each(|row| disk.notice(row));
            ratings.disk = Some(disk);
        }
        let heading = sheets.iter().find_map(|(rows, is_sheet)| rows.first().filter(|row| *is_sheet && is_title(row)));
        let heading = heading.map(|(line, _)| line.clone());
        for (rows, is_sheet) in sheets {
            let rows = joined(rows, ratings.disk.is_some());
            for row in rows {
                let is_of_another = key::is_of_another_bus(&words(&row));
                on_another_bus = on_another_bus.or_else(|| is_of_another.then(|| clean(&words(&row), 80)));
                let (key, Some(value)) = row else {
                    alone.push(row.0);
                    continue;
                };
                let text = value.trim();
                let of_a_disk = ratings.disk.as_mut().and_then(|disk| disk.take(&key, text));
                let taken = match of_a_disk {
                    // What a drive of a table does not have.
                    None if is_missing(text) && is_sheet && field_of(&key) != Some(Field::Dram) => Ok(false),
                    None if is_sheet && is_beside(&key, &value) => Ok(false),
                    None => ratings.take(&key, text, &mut before).map(|()| true),
                    Some(taken) => taken,
                };
                match taken {
                    Ok(true) => {}
                    Ok(false) => ratings.unused.push(clean(&key, 40)),
                    Err(why) => mistakes.push(format!("{}: {why}", clean(&format!("{key}={value}"), 80))),
                }
            }
        }
        // What a heading says by the way is of interest only where no row says it.
        for line in alone {
            let is_heading = Some(&line) == heading.as_ref();
            match ratings.take_line(&line, &mut before) {
                Err(_) if is_heading => ratings.unused.push(clean(&line, 40)),
                Err(why) => mistakes.push(format!("{}: {why}", clean(&line, 80))),
                Ok(()) => {}
            }
        }
        ratings.title = ratings.title.or_else(|| heading.map(|line| clean(&line, 100)));
        if let Some(row) = on_another_bus.filter(|_| ratings.interface.is_none() && mistakes.is_empty()) {
            mistakes.push(format!(
                "{row}: drives are made on PCIe, SATA or SAS; give the drive's own, such as `interface=SATA 6Gb/s`"
            ));
        }
        ratings.take_capacity_of_title();
        mistakes.truncate(MISTAKES_MAX);
        if mistakes.is_empty() { Ok(ratings) } else { Err(RatingsError(mistakes)) }
    }

    /// Has the capacity that the product's name says, if no row does: `Crucial T500 1TB`.
    fn take_capacity_of_title(&mut self) {
        let title = self.title.as_deref().filter(|_| self.capacity.is_none()).unwrap_or_default();
        let is_size = |unit: &str| unit.split_whitespace().next().is_some_and(value::is_size);
        let sizes: Vec<_> = value::quantities(title).into_iter().filter(|found| is_size(&found.unit)).collect();
        if let [Quantity { number, unit, .. }] = &sizes[..] {
            self.capacity = value::size_factor(unit).ok().map(|factor| number * factor);
        }
    }

    /// Takes note of a line without a separator: a heading, or one that says by itself what the interface or the flash is.
    fn take_line(&mut self, line: &str, before: &mut Vec<Given>) -> Result<(), String> {
        let lower = line.to_lowercase();
        let last = line.split_whitespace().next_back().unwrap_or_default();
        let ends_with_number = last.starts_with(|c: char| c.is_ascii_digit())
            && last.chars().all(|c| c.is_ascii_digit() || ",.".contains(c));
        let field = key::of(&without_brackets(line));
        let has_amount = ends_with_number && field.is_some_and(lines::is_rating)
            || value::is_amount(line)
            || line.contains(|c: char| c.is_ascii_digit()) && value::UNITS.iter().any(|unit| lower.contains(unit));
        match field {
            // Above a sheet: `2 TB`.
            None => match (&value::quantities(line)[..], self.capacity) {
                ([Quantity { number, unit, .. }], before) if value::is_size(unit) && value::is_amount(line) => {
                    let capacity = number * value::size_factor(unit)?;
                    self.capacity = Some(capacity);
                    if before.is_none_or(|before| before == capacity) { Ok(()) } else { Err(SEVERAL.to_owned()) }
                }
                _ => Ok(()),
            },
            Some(Field::Rates) if !has_amount => Ok(()),
            Some(field @ (Field::Interface | Field::Nand)) if before.iter().any(|given| given.field == field) => {
                self.unused.push(clean(line, 40));
                Ok(())
            }
            Some(Field::Interface) if value::interface(line).is_ok_and(|found| found.is_some()) => {
                self.take("interface", line, before)
            }
            Some(Field::Nand) if value::bits(line).is_ok_and(|found| found.is_some()) => {
                self.take("nand", line, before)
            }
            Some(Field::Dram) => Err("write `DRAM: no` or `HMB: 64 MB`, or leave the line out".to_owned()),
            // A product's name: `Crucial P5 Plus 1TB PCIe M.2 SSD`.
            Some(field) if has_amount && !matches!(field, Field::Unused | Field::Interface | Field::Nand) => {
                Err("there is nothing between a name and its value; write `NAME: VALUE`".to_owned())
            }
            Some(_) => {
                self.unused.push(clean(line, 40));
                Ok(())
            }
        }
    }

    /// Takes note of one value.
    fn take(&mut self, key: &str, text: &str, before: &mut Vec<Given>) -> Result<(), String> {
        let field = match field_of(key) {
            // A heading between the rows of a table.
            None | Some(Field::Rates) if text.is_empty() => return Ok(()),
            Some(field) if text.is_empty() && !lines::is_rating(field) => return Ok(()),
            Some(_) if key::is_of_one_request(key) => Field::Unused,
            // Endurance under random writes is rated beside it, and less.
            Some(Field::Endurance) if key.to_lowercase().contains("sequential") => Field::Unused,
            Some(Field::RandomRead | Field::RandomWrite) if key::is_of_one_request(text) => Field::Unused,
            // Of the slowest requests.
            Some(Field::ReadLatency) if key.contains('%') => Field::Unused,
            Some(Field::Nand)
                if key.to_lowercase().contains("lithography")
                    && !value::bits(text).is_ok_and(|bits| bits.is_some()) =>
            {
                Field::Unused
            }
            Some(Field::Random | Field::RandomRead | Field::RandomWrite) if key::is_of_another_size(key, text) => {
                self.unused.push(format!("{} (not of 4 KiB)", clean(key, 40)));
                return Ok(());
            }
            Some(Field::Rates) => kind_of_rates(text),
            Some(field) => field,
            None => return Err(format!("no rating is called so; known: {}", key::KNOWN)),
        };
        if text.is_empty() || text.chars().count() > VALUE_MAX {
            return Err(format!("a value has 1 to {VALUE_MAX} letters"));
        }
        if field == Field::Unused {
            self.unused.push(clean(key, 40));
            return Ok(());
        }
        if field != Field::Capacity && value::of_a_capacity(text).is_some() {
            return Err("it is of another capacity than the drive's; give the values of one drive".to_owned());
        }
        if !matches!(field, Field::Endurance | Field::Dram) {
            match before.iter().find(|given| given.field == field) {
                // Shops say the capacity as the density of the memory too.
                Some(first) if first.text == text => return Ok(()),
                Some(_) if field == Field::Capacity && is_near(self.capacity, the_capacity(text, key).ok()) => {
                    return Ok(());
                }
                Some(first) if field == Field::Nand && value::bits(&first.text) == value::bits(text) => return Ok(()),
                Some(first) if field == Field::Interface && value::interface(&first.text) == value::interface(text) => {
                    return Ok(());
                }
                // The part numbers of a drive with each interface, for one.
                Some(_) if field == Field::Title => {
                    self.unused.push(clean(key, 40));
                    return Ok(());
                }
                Some(first) => return Err(format!("it is given twice, before as `{}`; give it once", first.key)),
                None => before.push(Given { field, key: clean(key, 40), text: text.to_owned() }),
            }
        }
        match field {
            Field::Title => self.title = Some(clean(text, 100)),
            Field::Source => self.source = Some(clean(text, VALUE_MAX)),
            Field::Capacity => self.capacity = Some(the_capacity(text, key)?),
            // `Interface PCIe Gen4 x4 | NVMe 1.4`
            Field::Interface => match (value::interface(text), value::interface(key)) {
                (Ok(None) | Err(_), Ok(Some(found))) => self.interface = Some(found),
                (found, _) => self.interface = found?,
            },
            Field::Nand => self.bits = value::bits(text)?,
            Field::Sequential => {
                let both = two(text, key, value::rate_factor)?;
                set(&mut self.sequential_read, both[0])?;
                set(&mut self.sequential_write, both[1])?;
            }
            Field::SequentialRead => set(&mut self.sequential_read, the_one(text, key, value::rate_factor)?)?,
            Field::SequentialWrite => set(&mut self.sequential_write, the_one(text, key, value::rate_factor)?)?,
            Field::Random => {
                let both = two(text, key, value::iops_factor)?;
                set(&mut self.random_read, both[0])?;
                set(&mut self.random_write, both[1])?;
            }
            Field::RandomRead => set(&mut self.random_read, the_one(text, key, value::iops_factor)?)?,
            Field::RandomWrite => set(&mut self.random_write, the_one(text, key, value::iops_factor)?)?,
            Field::Depth => self.depth = Some(depth(text)?),
            Field::ReadLatency => self.read_latency = Some(the_one(text, key, value::time_factor)?),
            // `5 Year or 1200 TBW Limited Warranty`
            Field::Years if text.to_lowercase().contains("tbw") && self.endurance.is_none() => {
                self.take_endurance("tbw", text)?
            }
            Field::Years => self.years = Some(years(text).ok_or("a warranty looks like `5 years`")?),
            Field::Endurance => self.take_endurance(key, text)?,
            Field::Market => self.market = Some(market(text)?),
            Field::Price => self.price = Some(price(text)?),
            Field::Dram if value::has_no_dram(key, text) => self.has_no_dram = true,
            Field::Dram => self.unused.push(clean(key, 40)),
            Field::Rates | Field::Unused => {}
        }
        Ok(())
    }

    /// Takes note of `600 TBW`, `1 DWPD` or both: `1752 TBW (1 DWPD, 5 years)`.
    fn take_endurance(&mut self, key: &str, text: &str) -> Result<(), String> {
        if text.contains(['|', '\t']) {
            return Err(SEVERAL.to_owned());
        }
        let wrong = || "an endurance looks like `600 TBW`, `1.2 PBW` or `1 DWPD (5 years)`".to_owned();
        let names_days = |words: &str| {
            let words = words.to_lowercase();
            let is_size = value::size_factor(words.trim_start()).is_ok() && !words.trim_start().starts_with("time");
            !is_size && ["dwpd", "dw/d", "per day", "/day"].iter().any(|word| words.contains(word))
                || words.contains("drive write")
        };
        let key_says = key.to_lowercase().replace(['-', '_'], " ").replace("drive writes per day", "dwpd");
        let place = |words: [&str; 2]| words.iter().filter_map(|word| key_says.find(word)).min();
        // Of a row of both, such as `TBW (DWPD): 876 (1.3)`, each is where its name is.
        let (days_at, bytes_at) = (place(["dwpd", "dw/d"]), place(["tb", "pb"]));
        let (mut per_day, mut is_told) = (None, false);
        for (index, Quantity { number, unit, .. }) in value::quantities(text).into_iter().enumerate() {
            // `1 (5 years)`, `1 for 5 years`: what follows is of the next number.
            let is_plain = matches!(unit.trim_matches(|c: char| !c.is_alphabetic()), "" | "for" | "over");
            let is_of_key = match (days_at, bytes_at) {
                (Some(_), None) => true,
                (Some(days), Some(bytes)) => (days < bytes) == (index == 0),
                (None, _) => false,
            };
            let is_days = names_days(&unit) || is_plain && is_of_key;
            let is_amount = !is_days && (is_plain || unit.starts_with('(') || value::size_factor(&unit).is_ok());
            let is_years = unit.to_lowercase().trim_start_matches('-').starts_with('y');
            if is_days && self.daily.replace(number).is_some() {
                return Err("it is given twice; give it once".to_owned());
            } else if is_years {
                self.years = Some(number);
            } else if is_told && !is_days && (value::is_endurance(&unit) || unit.is_empty()) {
                let bytes = number * value::size_factor(if unit.is_empty() { "tb" } else { &unit })?;
                if self.endurance.or(per_day) != Some(bytes) {
                    return Err(SEVERAL.to_owned());
                }
            } else if !is_days && !is_told && (is_amount || index == 0) {
                is_told = true;
                let name = if is_plain || unit.starts_with('(') {
                    &*value::hint(key, &["pb", "tb", "peta", "tera"])
                } else {
                    &*unit
                };
                let bytes = number * value::size_factor(name).map_err(|_| wrong())?;
                let is_each_day = ["per day", "/day", "a day"].iter().any(|day| unit.to_lowercase().contains(day));
                if is_each_day {
                    per_day = Some(bytes);
                } else if self.endurance.replace(bytes).is_some() {
                    return Err("it is given twice; give it once".to_owned());
                }
            }
        }
        if let Some(bytes) = per_day {
            let years =
                self.years.ok_or("it is an amount a day; say for how many years, or give the whole of it in TB")?;
            self.endurance = Some(bytes * 365.0 * years);
        }
        let given = [self.endurance, self.daily];
        match given.iter().flatten().all(|amount| *amount > 0.0) && given.iter().any(Option::is_some) {
            true => Ok(()),
            false => Err(wrong()),
        }
    }
}

/// Rows with the value in the line below: an interface, and what only disks' rows are called; lines of such names are parted, too.
fn joined(rows: Vec<Row>, is_of_a_disk: bool) -> Vec<Row> {
    let is_value = |name: &str, line: &str| match key::of(name) {
        Some(Field::Interface) if key::words(name).count() < 3 => matches!(value::interface(line), Ok(Some(_))),
        _ => is_of_a_disk && value::is_amount(line) && disk::is_named(name),
    };
    let mut found: Vec<Row> = Vec::new();
    for (key, value) in rows {
        match (found.last_mut(), value) {
            (Some((name, below @ None)), None) if is_value(name, &key) => *below = Some(key),
            (last, None) => match disk::parted(&key)
                .filter(|_| is_of_a_disk && (last.is_some() || !is_title(&(key.clone(), None))))
            {
                Some((name, text)) => found.push((name.to_owned(), Some(text.to_owned()))),
                None => found.push((key, None)),
            },
            (_, value) => found.push((key, value)),
        }
    }
    found
}

/// Whether the first line of a sheet is a product's name: `Seagate IronWolf Pro 16TB`.
fn is_title((line, value): &Row) -> bool {
    let first = key::words(line).next().unwrap_or_default();
    let is_rating = key::of(&without_brackets(line)).is_some_and(lines::is_rating);
    let is_name = key::words(line).count() > 1 && line.contains(|c: char| c.is_ascii_digit());
    value.is_none() && is_name && !is_rating && !disk::is_named(first) && !value::is_amount(line)
}

/// Takes a rate that may have been given before, by a row of reads and writes.
fn set(rate: &mut Option<f64>, found: f64) -> Result<(), String> {
    match rate.replace(found) {
        Some(before) if before != found => Err("it is given twice, with another value; give it once".to_owned()),
        _ => Ok(()),
    }
}

/// What a row says by its name, in brackets where it says nothing outside of them.
fn field_of(key: &str) -> Option<Field> {
    key::of(&without_brackets(key)).or_else(|| key::of(key))
}

/// Whether a row of a sheet is none of ratings: nobody knows its name, and its value is nothing that a drive is rated by; or it is
/// a shop's price, which has no date.
fn is_beside(key: &str, text: &str) -> bool {
    match field_of(key) {
        None => {
            let has_unit = |unit: &str| value::UNITS.iter().any(|known| unit.to_lowercase().starts_with(known));
            let has_amount = value::quantities(text).iter().any(|quantity| has_unit(&quantity.unit));
            let has_kind = matches!(value::interface(text), Ok(Some(_))) || matches!(value::bits(text), Ok(Some(_)));
            !has_amount && !has_kind && !text.is_empty()
        }
        Some(Field::Price) => price(text).is_err(),
        Some(_) => false,
    }
}

/// Whether two capacities are one, in other units or rounded.
fn is_near(one: Option<f64>, other: Option<f64>) -> bool {
    one.zip(other).is_some_and(|(one, other)| (one / other - 1.0).abs() < 1e-3)
}

/// Whether a cell says that there is no value.
fn is_missing(text: &str) -> bool {
    matches!(&*text.to_lowercase(), "-" | "–" | "—" | "n/a" | "na" | "tbd")
}

/// The amount of a text that has but one.
fn the_one(text: &str, key: &str, factor: fn(&str) -> Result<f64, String>) -> Result<f64, String> {
    let found = amounts(text, key, factor)?;
    let lower = text.to_lowercase();
    let repeats = value::UNITS.iter().any(|unit| lower.matches(unit).count() > 1);
    let is_list = repeats
        || text.contains([';', '–', '/', '\t', '|', '-'])
        || text.matches(", ").count() > 0
        || text.contains(" to ");
    match found.iter().all(|amount| *amount == found[0]) || !is_list {
        true => Ok(found[0]),
        false => Err(SEVERAL.to_owned()),
    }
}

/// The capacity, which has several amounts where a sheet is of several drives.
fn the_capacity(text: &str, key: &str) -> Result<f64, String> {
    let found = amounts(text, key, value::size_factor)?;
    match found.iter().all(|amount| (amount / found[0] - 1.0).abs() < 0.1) {
        true => Ok(found[0]),
        false => Err(SEVERAL.to_owned()),
    }
}

/// The amounts of reads and writes: `560/530 MB/s`.
fn two(text: &str, key: &str, factor: fn(&str) -> Result<f64, String>) -> Result<Vec<f64>, String> {
    match amounts(text, key, factor)? {
        both if both.len() == 2 && is_write_first(&format!("{key} {text}")) => Ok(vec![both[1], both[0]]),
        both if both.len() == 2 => Ok(both),
        _ => Err("give reads and writes, such as `560/530 MB/s`, or a key for each".to_owned()),
    }
}

/// Whether a text names writes before reads.
fn is_write_first(text: &str) -> bool {
    let lower = text.to_lowercase();
    key::words(&lower).collect::<Vec<_>>().windows(2).any(|pair| pair == ["w", "r"])
        || matches!((lower.find("write"), lower.find("read")), (Some(write), Some(read)) if write < read)
}

/// What a row is of whose name says only that it is of rates: `Performance: up to 500MB/s Read and 450MB/s Write`.
fn kind_of_rates(text: &str) -> Field {
    let lower = text.to_lowercase();
    let has_both = lower.contains("read") && lower.contains("write");
    match (has_both, two(text, "", value::rate_factor), two(text, "", value::iops_factor)) {
        (true, Ok(_), _) => Field::Sequential,
        (true, _, Ok(_)) if lower.contains("iops") => Field::Random,
        _ => Field::Unused,
    }
}

/// How many requests are in flight: `256`, `QD32`, `QD32 T16`, `32 x 16`.
fn depth(text: &str) -> Result<f64, String> {
    let product: f64 = value::quantities(text).iter().take(2).map(|quantity| quantity.number).product();
    let is_one =
        text.chars().any(|c| c.is_ascii_digit()) && product.fract() == 0.0 && (1.0..=65_536.0).contains(&product);
    if is_one { Ok(product) } else { Err("a depth looks like `32`, `QD256` or `QD32 T16`, up to 65,536".to_owned()) }
}

/// `5 years`, `Five years`.
fn years(text: &str) -> Option<f64> {
    const WORDS: [&str; 10] = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];
    let first = text.split(|c: char| !c.is_alphabetic()).next().unwrap_or_default();
    let word = WORDS.iter().position(|word| first.eq_ignore_ascii_case(word)).map(|index| index as f64 + 1.0);
    let number = || value::quantities(text).first().map(|quantity| quantity.number);
    word.or_else(number).filter(|years| (1.0..=20.0).contains(years))
}

fn market(text: &str) -> Result<Market, String> {
    let words = text.to_lowercase();
    let has = |known: &[&str]| known.iter().any(|word| words.contains(word));
    match (
        has(&["server", "enterprise", "center", "centre", "cloud"]),
        has(&["client", "consumer", "desktop", "laptop", "gam"]),
    ) {
        (true, _) => Ok(Market::Server),
        (false, true) => Ok(Market::Client),
        _ => Err("give `client` or `server`".to_owned()),
    }
}

/// An amount and a date: `89.90EUR@2026-11`, `$169.99 @ 2022-11`.
fn price(text: &str) -> Result<(String, String), String> {
    let wrong = "a price looks like `89.90EUR@2026-11`: amount, currency, and the year, month or day";
    let (amount, date) = text.split_once('@').ok_or(wrong)?;
    let amount = [("US$", "USD"), ("$", "USD"), ("€", "EUR"), ("£", "GBP")]
        .iter()
        .fold(amount.trim().to_owned(), |amount, (sign, letters)| amount.replace(sign, letters));
    let amount: Price = amount.parse().map_err(|error| format!("{error}"))?;
    let list = format!("amount = \"{amount}\"\ndate = {}\nsource = \"\"", Value::String(clean(date, 10)));
    toml::from_str::<ListPrice>(&list).map_err(|_| wrong.to_owned())?;
    Ok((amount.to_string(), date.trim().to_owned()))
}
