//! What is long by nature, such as two hundred kills: a small form of it in every run, a tenth in `.ci/run`, the whole in
//! `scripts/soak`.

use std::sync::LazyLock;

use crate::Random;

/// How much of the long form is wanted, in percent; none in an ordinary run.
static SHARE: LazyLock<Option<usize>> = LazyLock::new(|| {
    let told = std::env::var("ASSAY_SOAK").ok()?;
    Some(told.parse().unwrap_or_else(|_| panic!("ASSAY_SOAK is a percentage, and `{told}` is none")))
});

/// The seed of what is chosen or timed at random: `ASSAY_SOAK_SEED`, or 1.
static SEED: LazyLock<u64> = LazyLock::new(|| {
    let seed = std::env::var("ASSAY_SOAK_SEED").map_or(1, |told| told.parse().expect("ASSAY_SOAK_SEED is a number"));
    eprintln!("seed = {seed}");
    seed
});

/// How often something is done: `short` times, and in a soak as many as it asks for of `whole`.
pub fn times(short: usize, whole: usize) -> usize {
    SHARE.map_or(short, |percent| (whole * percent).div_ceil(100).max(short))
}

/// Why a test is skipped that [`is_asked`] puts off.
pub const PART: &str = "it is part of .ci/run and make soak";

/// Why a test is skipped that [`is_whole`] puts off.
pub const WHOLE: &str = "it is part of make soak";

/// Whether any of the long form is wanted, as in `.ci/run`: what has no small form, and takes a minute or two, is done then alone.
pub fn is_asked() -> bool {
    SHARE.is_some()
}

/// Whether all of the long form is wanted: what has no small form is done then alone.
pub fn is_whole() -> bool {
    SHARE.is_some_and(|percent| percent >= 100)
}

/// Pseudo-random numbers of the run's seed, which a test that fails has said.
pub fn random() -> Random {
    Random::new(*SEED)
}

/// Which of all these are done, in their order: `short` of them, drawn by the seed, and in a soak as many as it asks for.
pub fn some<T>(all: Vec<T>, short: usize) -> Vec<T> {
    let mut left = times(short, all.len()).min(all.len());
    let (mut random, mut ahead) = (random(), all.len());
    let mut is_drawn = |_: &T| {
        let drawn = random.place(ahead) < left;
        ahead -= 1;
        left -= usize::from(drawn);
        drawn
    };
    all.into_iter().filter(|one| is_drawn(one)).collect()
}
