//! How a flash drive's file says that blocks are emptied.

use block::Nanos;
use serde::Deserialize;

use super::behaviour::deviation;
use crate::draw::Spread;
use crate::flash::collection::START_MIN;
use crate::flash::{CollectionPolicy, CollectionSpec, IdleSpec, PacingSpec};
use crate::preset::units::{self, given, percent};
use crate::preset::{PresetError, require, table, words};

table!(pub(super) CollectionTable {
    /// Which block is emptied: the one with the fewest valid pages (`greedy`), the oldest (`fifo`), the one with
    /// the most to gain for its cost, older ones preferred (`cost-benefit`), the best of some drawn at random
    /// (`choices`), any (`random`), or whole superblocks (`superblocks`)
    policy: PolicyName,
    /// Blocks that `choices` draws, 1 to 1,024; 1 if left out
    choices: Option<u32>,
    /// Free blocks of a unit at which it collects, 2 to 1,024, 4 and more with `[wear]`; the least if left out
    start: Option<u32>,
    /// Units that collect at the same time; 0, as if left out: as many as need to
    at_once: Option<u32>,
    /// How fast writes are taken while blocks are emptied: the time that the flash needs for a page and its moves
    /// (programs, array reads, transfers) when all dies work, times this share; and each page that is written
    /// brings the same moves, in fractions of a page. If left out, writes are taken as they come and wait when the
    /// buffer is full, and a block is emptied by whole pages for each page written, and so a little too soon
    pacing: Option<units::Share>,
    /// Pages that may come before their time after idle time; 0 if left out. Needs `pacing`
    burst: Option<u32>,
    /// What the controller takes for each page that collection moves, one after the other for all dies: writes are
    /// taken no faster than it moves what they bring, however many dies the drive has. Needs `pacing`
    page_move: Option<units::Duration>,
    /// Relative standard deviation of that from one write to the next (log-normal); the mean stays. Nothing varies
    /// while the flash takes longer than the controller
    page_move_deviation: units::Share = default,
    /// Time without a command after which blocks are emptied in the background; never if left out
    idle_after: Option<units::Duration>,
    /// Free blocks of each unit at which that ends; if left out, one more than `start`, and with a cache of
    /// one-bit cells as many more as `slc.fixed` takes, but no more than half of the spare
    idle_free: Option<u32>,
});

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum PolicyName {
    Greedy,
    Fifo,
    CostBenefit,
    Choices,
    Random,
    Superblocks,
}

words!(PolicyName);

impl CollectionTable {
    /// What it says of the free blocks at which collection begins.
    pub(super) const fn start(&self) -> Option<u32> {
        self.start
    }

    /// What it says of those at which that of idle time ends.
    pub(super) const fn idle_free(&self) -> Option<u32> {
        self.idle_free
    }

    /// Whether the block with the fewest valid pages is emptied first.
    pub(super) const fn is_greedy(&self) -> bool {
        matches!(self.policy, PolicyName::Greedy)
    }

    pub(super) fn spec(&self) -> Result<CollectionSpec, PresetError> {
        let start = self.start.unwrap_or(START_MIN);
        let choices = self.choices.unwrap_or(1);
        require(
            (START_MIN..=1024).contains(&start) && (1..=1024).contains(&choices),
            || format!("gc.start is {start}, gc.choices {choices}"),
            "garbage collection starts at 2 to 1,024 free blocks and draws 1 to 1,024 blocks",
        )?;
        require(
            self.pacing.is_none_or(|share| (100_000..=10_000_000).contains(&share)),
            || format!("gc.pacing is {}", given(self.pacing.map(percent))),
            "writes are taken at 10% to 1000% of the time that the flash needs for them",
        )?;
        let is_of_paced = self.burst.is_some() || self.page_move.is_some() || self.page_move_deviation > 0;
        require(
            self.pacing.is_some() || !is_of_paced,
            || {
                let (burst, page_move) = (given(self.burst), given(self.page_move));
                format!(
                    "gc.burst is {burst}, gc.page_move {page_move}, gc.page_move_deviation {}, gc.pacing not given",
                    percent(self.page_move_deviation)
                )
            },
            "they are of writes that are paced: give gc.pacing, or leave them out",
        )?;
        require(
            self.burst.is_none_or(|pages| pages <= 1_000_000)
                && self.page_move.is_none_or(|each| each <= Nanos::from_millis(10)),
            || format!("gc.burst is {}, gc.page_move {}", given(self.burst), given(self.page_move)),
            "writes come at most 1,000,000 pages early, and the controller takes at most 10 ms for a page that is moved",
        )?;
        require(
            self.idle_free.is_none() || self.idle_after.is_some(),
            || format!("gc.idle_free is {}, and gc.idle_after not given", given(self.idle_free)),
            "blocks are freed after a time without commands: give gc.idle_after, or leave gc.idle_free out",
        )?;
        let page_move_spread = Spread::new(u64::from(deviation("gc.page_move_deviation", self.page_move_deviation)?));
        let policy = match self.policy {
            PolicyName::Greedy => CollectionPolicy::Greedy,
            PolicyName::Fifo => CollectionPolicy::Fifo,
            PolicyName::CostBenefit => CollectionPolicy::CostBenefit,
            PolicyName::Choices => CollectionPolicy::Choices(choices),
            PolicyName::Random => CollectionPolicy::Choices(1),
            PolicyName::Superblocks => CollectionPolicy::Superblocks,
        };
        let idle = self.idle_after.map(|after| IdleSpec { after, until_free: self.idle_free.unwrap_or(start + 1) });
        Ok(CollectionSpec {
            policy,
            start,
            at_once: self.at_once.unwrap_or(0),
            pacing: self.pacing.map(|share| PacingSpec {
                share: share as u32,
                burst: self.burst.unwrap_or_default(),
                page_move: self.page_move.unwrap_or_default(),
                page_move_spread,
            }),
            idle,
        })
    }
}
