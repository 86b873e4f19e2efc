//! Whether the books agree: what each transaction adds to an account, a teller and a branch, its history holds.

use super::options::Transaction;

/// Sums over the tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Balances {
    pub accounts: i64,
    pub tellers: i64,
    pub branches: i64,
    /// Of all changes in the history.
    pub history: i64,
    /// How many changes the history has.
    pub changes: i64,
}

/// The query that answers with them, in the order of the fields.
pub const QUERY: &str = "select (select coalesce(sum(abalance), 0) from pgbench_accounts), \
                         (select coalesce(sum(tbalance), 0) from pgbench_tellers), \
                         (select coalesce(sum(bbalance), 0) from pgbench_branches), \
                         (select coalesce(sum(delta), 0) from pgbench_history), \
                         (select count(*) from pgbench_history)";

impl Balances {
    /// The answer to [`QUERY`].
    pub fn of([accounts, tellers, branches, history, changes]: [i64; 5]) -> Self {
        Self { accounts, tellers, branches, history, changes }
    }

    /// What is wrong with them after so many transactions on a new database; none if nothing is.
    pub fn wrong(&self, transaction: Transaction, done: u64) -> Option<String> {
        let Self { accounts, tellers, branches, history, changes } = *self;
        let expected = match transaction {
            Transaction::TpcbLike => [history; 3],
            Transaction::SimpleUpdate => [history, 0, 0],
            Transaction::SelectOnly => [0; 3],
        };
        let transactions = if transaction == Transaction::SelectOnly { 0 } else { done as i64 };
        if changes != transactions {
            let lost = transactions - changes;
            let what = if lost > 0 { "were lost" } else { "were never committed" };
            return Some(format!(
                "{} of {transactions} transactions {what}: the history table has {changes}",
                lost.unsigned_abs()
            ));
        }
        ([accounts, tellers, branches] != expected).then(|| {
            format!(
                "the balances do not match: accounts {accounts}, tellers {tellers}, branches {branches}, history \
                 {history}"
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn books_that_agree_are_right_and_others_are_told() {
        let right = Balances::of([-5, -5, -5, -5, 7]);
        assert_eq!(right.wrong(Transaction::TpcbLike, 7), None);
        assert!(right.wrong(Transaction::TpcbLike, 9).unwrap().starts_with("2 of 9 transactions were lost"));
        assert!(right.wrong(Transaction::SimpleUpdate, 7).unwrap().contains("do not match"));
        assert_eq!(Balances::of([3, 0, 0, 3, 7]).wrong(Transaction::SimpleUpdate, 7), None);
        assert_eq!(Balances::of([0; 5]).wrong(Transaction::SelectOnly, 100), None);
        assert!(Balances { tellers: 1, ..right }.wrong(Transaction::TpcbLike, 7).unwrap().contains("tellers 1"));
    }
}
