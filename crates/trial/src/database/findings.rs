//! Doubts whether it is the drive that was measured.

use std::fs;

use block::Bytes;

use super::Measured;
use super::terms::{Terms, Transaction, Verify};

/// From which share of the processors' time on, in percent, they and not the drive are what limits.
const BUSY: f64 = 90.0;

/// From which part of a transaction on the lateness of an attached drive's answers is told.
const LATE: f64 = 0.1;

/// What is to be doubted of what was measured.
pub fn of(measured: &Measured, terms: &Terms) -> Vec<String> {
    let done = measured.transactions.count();
    let balances = measured.balances.and_then(|balances| balances.wrong(terms.transaction, done));
    let all = [
        balances.map(|wrong| {
            let after = if terms.verify == Verify::Crash { "a crash" } else { "a restart" };
            format!("After {after} {wrong}.")
        }),
        (measured.failed > 0)
            .then(|| format!("{} transactions failed; rates are of those that did not.", measured.failed)),
        memory(measured, terms, terms.memory().unwrap_or_else(of_machine)),
        measured.forgets.as_ref().filter(|_| terms.transaction != Transaction::SelectOnly).map(|setting| {
            format!("With {setting}, transactions do not wait until the drive has what they changed: it may be lost.")
        }),
        processors(measured),
        late(measured),
    ];
    all.into_iter().flatten().collect()
}

/// That the database, or much of it, is in memory.
fn memory(measured: &Measured, terms: &Terms, memory: Bytes) -> Option<String> {
    if measured.size >= memory.times(2) {
        return None;
    }
    let (size, read) = (measured.size, measured.usage.bytes_read);
    let found = if size <= memory { "fits in" } else { "is less than twice" };
    let means = match terms.transaction {
        Transaction::SelectOnly => "what was measured is memory more than the drive",
        _ => "the drive is measured by what is written and flushed, hardly by what is read",
    };
    let scale = (memory.times(2).get() * terms.scale).div_ceil(size.get().max(1)).max(terms.scale + 1);
    Some(format!(
        "The database of {size} {found} the memory of {memory}: {means}; {read} were read from the drive meanwhile. \
         `scale = {scale}` would be twice the memory, and for PostgreSQL `memory` makes that smaller."
    ))
}

/// That the processors were what limited.
fn processors(measured: &Measured) -> Option<String> {
    let busy = measured.usage.user + measured.usage.system;
    let drive = measured.usage.busy;
    (busy >= BUSY).then(|| {
        format!(
            "The processors were busy for {busy:.0} % of the time, and the drive for {drive:.0} %: it is this machine that \
             limits the rate."
        )
    })
}

/// That a simulated drive was served later than it would have answered, by enough to be seen in the transactions.
fn late(measured: &Measured) -> Option<String> {
    let late = measured.live?.late_99;
    let mean = measured.transactions.latency()[0].value;
    (late.as_secs_f64() > LATE * mean).then(|| {
        format!(
            "One answer of the simulated drive in a hundred came {late} or more after the drive would have given it, where a              transaction took {:.3} ms: the processors were busy with the database or something else, and the drive appears              slower than it is.",
            mean * 1e3
        )
    })
}

/// The machine's memory; all there could be where the kernel does not say.
/// Source: proc(5), `/proc/meminfo`.
fn of_machine() -> Bytes {
    let text = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let total = text.lines().find_map(|line| line.strip_prefix("MemTotal:")?.split_whitespace().next()?.parse().ok());
    total.map_or(Bytes::new(u64::MAX / 2), Bytes::from_kib)
}
