//! Doubts whether it is the drive that was measured.

use block::Bytes;

use super::DatabaseMeasurement;
use super::options::{DatabaseOptions, Transaction, VerifyMode};

/// From which share of the processors' time on, in percent, they and not the drive are what limits.
const BUSY: f64 = 90.0;

/// What is to be doubted of what was measured.
pub fn of(measured: &DatabaseMeasurement, terms: &DatabaseOptions) -> Vec<String> {
    let done = measured.transactions.count();
    let balances = measured.balances.and_then(|balances| balances.wrong(terms.transaction, done));
    let all = [
        balances.map(|wrong| {
            let after = if terms.verify == VerifyMode::Crash { "a crash" } else { "a restart" };
            format!("After {after} {wrong}.")
        }),
        (measured.failed > 0).then(|| format!("{} transactions failed; rates exclude them.", measured.failed)),
        memory(measured, terms, terms.memory().unwrap_or_else(of_machine)),
        measured.forgets.as_ref().filter(|_| terms.transaction != Transaction::SelectOnly).map(|setting| {
            format!("With {setting}, commits do not wait for the drive: the last transactions may be lost.")
        }),
        processors(measured),
    ];
    all.into_iter().flatten().collect()
}

fn memory(measured: &DatabaseMeasurement, terms: &DatabaseOptions, memory: Bytes) -> Option<String> {
    if measured.size >= memory.times(2) {
        return None;
    }
    let (size, read) = (measured.size, measured.usage.bytes_read);
    let found = if size <= memory { "fits in" } else { "is less than twice" };
    let means = match terms.transaction {
        Transaction::SelectOnly => "the figures are of memory rather than of the drive",
        _ => "the figures depend on the drive's writes and flushes, hardly on its reads",
    };
    let scale = (memory.times(2).get() * terms.scale).div_ceil(size.get().max(1)).max(terms.scale + 1);
    Some(format!(
        "The database of {size} {found} the memory of {memory}: {means}; {read} were read from the drive. `scale = \
         {scale}` would be twice the memory; for PostgreSQL `memory` lowers the memory."
    ))
}

/// That the processors were what limited.
fn processors(measured: &DatabaseMeasurement) -> Option<String> {
    let busy = measured.usage.user + measured.usage.system;
    let drive = measured.usage.busy_percent();
    (busy >= BUSY)
        .then(|| format!("Bottleneck: the host CPU, busy {busy:.0} % of the time; the drive was busy {drive:.0} %."))
}

/// The machine's memory.
fn of_machine() -> Bytes {
    let system = rustix::system::sysinfo();
    Bytes::new(system.totalram as u64).times(u64::from(system.mem_unit))
}

#[cfg(test)]
mod tests {
    use block::Nanos;

    use super::super::balances::Balances;
    use super::super::options::CHOICES;
    use super::super::transactions::Transactions;
    use super::*;
    use crate::Choices;
    use crate::meters::Usage;

    /// Ten transactions of 2 ms on a database of 1 GiB, of which nothing is to be doubted where memory is half a GiB.
    fn measured() -> DatabaseMeasurement {
        let mut transactions = Transactions::default();
        (1..=10).for_each(|number| transactions.record(Nanos::from_millis(2 * number), Nanos::from_millis(2)));
        let usage = Usage {
            user: 20.0,
            system: 10.0,
            waiting: 60.0,
            reads: 0,
            bytes_read: Bytes::ZERO,
            writes: 10,
            bytes_written: Bytes::from_mib(1),
            flushes: None,
            busy: Nanos::from_millis(800),
            time: Nanos::from_secs(1),
        };
        DatabaseMeasurement {
            transactions,
            rates: [500.0; 2],
            failed: 0,
            usage,
            size: Bytes::from_gib(1),
            filling: Nanos::from_secs(1),
            hits: None,
            forgets: None,
            balances: Some(Balances::of([7, 7, 7, 7, 10])),
            conditions: Vec::new(),
            papers: Vec::new(),
        }
    }

    fn told(memory: &str, transaction: &str) -> Choices {
        let mut choices = Choices::of(CHOICES);
        choices.tell("memory", memory).unwrap();
        choices.tell("transaction", transaction).unwrap();
        choices
    }

    #[test]
    fn nothing_is_doubted_where_the_drive_limits_and_the_books_agree() {
        assert_eq!(of(&measured(), &DatabaseOptions::of(&told("512MiB", "tpcb-like"))), Vec::<String>::new());
    }

    #[test]
    fn a_database_that_memory_holds_is_told_with_the_scale_that_would_do() {
        for (memory, words) in [("1GiB", "fits in the memory of 1 GiB"), ("600MiB", "is less than twice")] {
            let findings = of(&measured(), &DatabaseOptions::of(&told(memory, "tpcb-like")));
            assert_eq!(findings.len(), 1);
            assert!(findings[0].contains(words), "{findings:?}");
        }
        // Twice the memory are two such databases.
        assert!(of(&measured(), &DatabaseOptions::of(&told("1GiB", "tpcb-like")))[0].contains("`scale = 200`"));
    }

    #[test]
    fn each_other_doubt_is_told() {
        type SettingCheck = fn(&mut DatabaseMeasurement);
        let changes: [(SettingCheck, &str); 4] = [
            (|measured| measured.failed = 3, "3 transactions failed"),
            (|measured| measured.usage.user = 85.0, "busy 95 % of the time; the drive was busy 80 %"),
            (|measured| measured.forgets = Some("fsync = off".into()), "With fsync = off"),
            (|measured| measured.balances = Some(Balances::of([7, 7, 7, 7, 9])), "1 of 10 transactions were lost"),
        ];
        for (change, words) in changes {
            let mut measured = measured();
            change(&mut measured);
            let findings = of(&measured, &DatabaseOptions::of(&told("512MiB", "tpcb-like")));
            assert!(findings.len() == 1 && findings[0].contains(words), "{words}: {findings:?}");
        }
        let forgetful = DatabaseMeasurement { forgets: Some("fsync = off".into()), ..measured() };
        let forgetful = DatabaseMeasurement { balances: None, ..forgetful };
        assert!(
            of(&forgetful, &DatabaseOptions::of(&told("512MiB", "select-only"))).is_empty(),
            "queries change nothing"
        );
    }
}
