use super::*;

const SPEC: WearSpec = WearSpec {
    rated: 3_000,
    deviation_ppm: 50_000,
    factory_bad_ppm: 0,
    failures_ppb: 0,
    reserve_ppm: 20_000,
    spread_max: Some(8),
    least_worn_first: false,
};

fn wear(spec: WearSpec, units: u32, blocks: u32) -> Wear {
    Wear::new(spec, units, blocks, Seed::new(1).split("x25-m"))
}

/// Erases of `block` up to and with the one that it does not stand.
fn life(wear: &mut Wear, block: u32) -> u32 {
    while wear.erased(block) == EraseVerdict::Good {}
    wear.erases(block)
}

#[test]
fn blocks_stand_about_what_they_are_rated_for() {
    let mut wear = wear(SPEC, 1, 4_000);
    let lives: Vec<f64> = (0..4_000).map(|block| f64::from(life(&mut wear, block) - 1)).collect();
    let mean = lives.iter().sum::<f64>() / 4_000.0;
    let deviation = (lives.iter().map(|life| (life - mean).powi(2)).sum::<f64>() / 4_000.0).sqrt();
    // The mean of 4,000 draws is within four of its own standard errors, 150 / 63.
    assert!((mean - 3_000.0).abs() < 10.0, "{mean}");
    assert!((deviation - 150.0).abs() < 8.0, "{deviation}");
    let extreme = lives.iter().fold(0.0_f64, |extreme, life| extreme.max((life - 3_000.0).abs()));
    assert!(extreme <= 3.47 * 150.0, "{extreme}");
}

#[test]
fn without_deviation_every_block_stands_exactly_its_rating() {
    let mut wear = wear(WearSpec { rated: 5, deviation_ppm: 0, ..SPEC }, 2, 4);
    for block in 0..8 {
        for _ in 0..5 {
            assert_eq!(wear.erased(block), EraseVerdict::Good);
        }
        assert_eq!(wear.erased(block), EraseVerdict::Retired);
        assert!(wear.is_bad(block));
    }
    assert_eq!(wear.summary().erases_mean, 6);
    assert_eq!((wear.summary().erases_min, wear.summary().erases_max), (0, 0), "no good block is left");
}

#[test]
#[should_panic(expected = "after it had gone bad")]
fn a_bad_block_that_is_erased_is_our_own_bug() {
    let mut wear = wear(WearSpec { rated: 1, deviation_ppm: 0, ..SPEC }, 1, 1);
    (0..3).for_each(|_| _ = wear.erased(0));
}

#[test]
fn the_drive_is_read_only_when_the_reserve_is_used_up() {
    // Two in a hundred of 200 blocks.
    let mut wear = wear(SPEC, 2, 100);
    for block in 0..5 {
        assert!(!wear.is_read_only(), "{block} blocks are bad, four may be");
        life(&mut wear, block * 40);
    }
    let summary = wear.summary();
    assert_eq!((summary.retired, summary.reserve, summary.read_only), (5, 4, true));
}

#[test]
fn bad_blocks_from_the_factory_are_as_many_as_said_and_not_of_the_reserve() {
    let wear = wear(WearSpec { factory_bad_ppm: 10_000, ..SPEC }, 20, 2_000);
    let bad = (0..40_000).filter(|&block| wear.is_bad(block)).count() as u32;
    assert_eq!(bad, wear.summary().factory_bad);
    // One in a hundred of 40,000: four standard deviations are 80.
    assert!((320..=480).contains(&bad), "{bad}");
    assert_eq!(wear.summary().retired, 0);
}

#[test]
fn blocks_fail_before_their_time_as_often_as_said() {
    let mut wear = wear(WearSpec { failures_ppb: 100_000, ..SPEC }, 1, 10_000);
    for block in 0..10_000 {
        (0..100).take_while(|_| wear.erased(block) == EraseVerdict::Good).count();
    }
    // One erase in 10,000 of a million, less those that the failed blocks were spared.
    let retired = wear.summary().retired;
    assert!((60..=140).contains(&retired), "{retired}");
}

#[test]
fn one_seed_tells_one_story_and_names_tell_different_ones() {
    let spec = WearSpec { factory_bad_ppm: 5_000, ..SPEC };
    let bad = |name| {
        let wear = Wear::new(spec, 4, 1_000, Seed::new(1).split(name));
        (0..4_000).filter(|&block| wear.is_bad(block)).collect::<Vec<_>>()
    };
    assert_eq!(bad("x25-m"), bad("x25-m"));
    assert_ne!(bad("x25-m"), bad("m4"));
}

#[test]
fn least_and_most_worn_are_those_that_a_count_finds() {
    let mut wear = wear(WearSpec { rated: 40, failures_ppb: 5_000_000, factory_bad_ppm: 20_000, ..SPEC }, 3, 50);
    let mut random = testkit::Random::new(7);
    for _ in 0..6_000 {
        let block = random.below(150) as u32;
        if wear.is_bad(block) {
            continue;
        }
        wear.erased(block);
        let good = |unit| wear.blocks_of(unit).filter(|&block| !wear.is_bad(block)).map(|block| wear.erases(block));
        for unit in 0..3 {
            let state = wear.units[unit as usize];
            let known = (state.at_min > 0).then_some((state.min, state.max));
            assert_eq!(good(unit).min().zip(good(unit).max()), known);
        }
    }
    assert!(wear.summary().retired > 20);
}

/// Erases the way a drive does that collects `hot` blocks in turn, unless a cold one must go first.
fn collect(wear: &mut Wear, hot: u32, erases: u32) -> u32 {
    let mut cold = 0;
    for index in 0..erases {
        let block = match wear.cold(0, |_| true) {
            Some(block) => {
                cold += 1;
                block
            }
            None => index % hot,
        };
        assert_eq!(wear.erased(block), EraseVerdict::Good);
        let summary = wear.summary();
        assert!(summary.erases_max - summary.erases_min <= 9, "{summary:?}");
    }
    cold
}

#[test]
fn the_spread_of_wear_is_bounded_by_the_rule() {
    let mut levelled = wear(SPEC, 1, 100);
    let cold = collect(&mut levelled, 5, 20_000);
    assert!(cold > 15_000, "95 of 100 blocks are cold, so most erases must be theirs: {cold}");
    let mut one = wear(SPEC, 1, 10);
    assert_eq!(collect(&mut one, 10, 5_000), 0, "even wear needs no help");
}

#[test]
fn a_cold_block_that_cannot_go_is_passed_over_for_the_next() {
    let mut wear = wear(SPEC, 1, 4);
    (0..9).for_each(|_| _ = wear.erased(3));
    wear.erased(1);
    assert_eq!(wear.cold(0, |_| true), Some(0));
    assert_eq!(wear.cold(0, |block| block != 0), Some(2));
    assert_eq!(wear.cold(0, |block| block == 3), None, "the most worn block is not cold");
    assert_eq!(wear.cold(0, |block| block == 1), None, "nor is one within the spread");
}

#[test]
fn without_a_rule_no_block_is_cold() {
    let mut wear = wear(WearSpec { spread_max: None, ..SPEC }, 1, 4);
    (0..1_000).for_each(|_| _ = wear.erased(3));
    assert_eq!(wear.cold(0, |_| true), None);
}
