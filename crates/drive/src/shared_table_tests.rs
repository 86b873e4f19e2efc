//! What shared tables hold, and what memory they take for it.

use testkit::Random;

use super::*;

/// Numbers in order.
fn ascending(length: usize) -> SharedTable {
    let mut table = Table::new(length);
    table.iter_mut().zip(1..).for_each(|(number, ascending)| *number = ascending);
    SharedTable::new(table)
}

fn numbers(table: &SharedTable) -> Vec<u32> {
    (0..table.len()).map(|index| table.get(index)).collect()
}

/// Lines for which a table has memory of its own.
fn lines(table: &SharedTable) -> usize {
    match &table.shared {
        None => table.own.len().div_ceil(LINE),
        Some(Shared::Lent(_)) => 0,
        Some(Shared::Overlay(overlay)) => overlay.changed.len(),
    }
}

#[test]
fn a_table_in_lines_takes_memory_for_what_is_written_and_so_do_its_clones() {
    let mut table = SharedTable::in_lines(Table::new(1_000 * LINE));
    assert_eq!((table.get(77), lines(&table), table.len()), (0, 0, 1_000 * LINE));
    for index in [0, 1, 5 * LINE] {
        table.set(index, 9);
    }
    assert_eq!(lines(&table), 2);
    table.lend();
    let mut clone = table.clone();
    clone.set(3, 4);
    assert_eq!((lines(&clone), clone.get(0), clone.get(3), clone.get(4 * LINE)), (1, 9, 4, 0));
    // What is lent again is lines as before.
    clone.lend();
    assert!(clone.flat().is_none() && clone.get(3) == 4 && clone.get(5 * LINE) == 9 && table.get(3) == 0);
    (0..300).for_each(|line| clone.set(line * LINE, 1));
    assert!(clone.own_already().is_some(), "with so many, a table is as small");
    assert_eq!((clone.get(3), clone.get(299 * LINE), clone.get(300 * LINE)), (4, 1, 0));
}

#[test]
fn a_clone_takes_memory_for_the_lines_that_it_changes_and_for_no_others() {
    let mut original = ascending(100 * LINE + 3);
    let all = numbers(&original);
    original.lend();
    let mut clone = original.clone();
    assert_eq!((lines(&clone), numbers(&clone)), (0, all.clone()), "what is only read is the original's");
    for (index, changed) in [(5 * LINE, 1), (5 * LINE + 7, 1), (100 * LINE + 2, 2), (0, 3)] {
        clone.set(index, 7);
        assert_eq!((lines(&clone), clone.get(index)), (changed, 7));
    }
    assert_eq!(numbers(&original), all, "the original does not see it");
    original.set(1, 9);
    assert_eq!((lines(&original), clone.get(1), original.get(1)), (1, 2, 9), "nor the clone what the original changes");
}

#[test]
fn what_nobody_else_has_any_more_is_changed_where_it_is() {
    let mut original = ascending(50 * LINE);
    let memory = original.flat().unwrap().as_ptr();
    original.lend();
    drop(original.clone());
    original.set(3, 8);
    assert_eq!((original.flat().unwrap().as_ptr(), original.get(3), original.get(4)), (memory, 8, 5));
}

/// Whatever is changed, lent, cloned and let go: as plain vectors that are copied as a whole.
#[test]
fn tables_hold_what_copies_would() {
    for seed in 0..20 {
        let mut random = Random::new(seed);
        let length = 1 + random.place(40 * LINE);
        let mut tables: Vec<SharedTable> = (0..2).map(|_| ascending(length)).collect();
        tables.push(SharedTable::in_lines(Table::new(length)));
        let mut plain: Vec<Vec<u32>> = tables.iter().map(numbers).collect();
        for step in 0..2_000 {
            let (one, other) = (random.place(3), random.place(3));
            match random.below(40) {
                0 => tables[one].lend(),
                39 if random.below(8) == 0 => {
                    tables[one] = SharedTable::in_lines(Table::new(length));
                    plain[one].fill(0);
                }
                1 => assert_eq!(tables[one].own().len(), length),
                2 | 3 => {
                    let source = tables[other].clone();
                    if random.below(2) == 0 {
                        tables[one].let_go(Some(&source));
                    }
                    tables[one].clone_from(&source);
                    plain[one] = plain[other].clone();
                }
                4 => {
                    tables[one].clear();
                    plain[one].fill(0);
                }
                5..20 => {
                    let (first, number) = (random.place(length), random.below(1_000) as u32);
                    let count = random.place(2 * LINE).min(length - first);
                    tables[one].set_row(first, count, |index| number + index);
                    plain[one][first..first + count]
                        .iter_mut()
                        .zip(number..)
                        .for_each(|(place, number)| *place = number);
                }
                _ => {
                    let (index, number) = (random.place(length), random.below(1_000) as u32);
                    tables[one].set(index, number);
                    plain[one][index] = number;
                }
            }
            let are_equal = tables.iter().zip(&plain).all(|(table, plain)| numbers(table) == *plain);
            assert!(are_equal, "seed = {seed}, step {step}");
        }
    }
}

/// Few lines leave the places of all others alone, which large pages of the system would fill; many have large pages, and everything
/// is where it was.
#[test]
fn places_of_lines_have_large_pages_once_many_lines_were_changed() {
    const LINES: usize = 1 << 16;
    let mut table = SharedTable::in_lines(Table::new(LINES * LINE));
    let has_large_pages =
        |table: &SharedTable| matches!(&table.shared, Some(Shared::Overlay(overlay)) if overlay.has_large_pages);
    let mut written = std::collections::BTreeMap::new();
    let mut random = Random::new(8);
    for turn in 1..LINES / 8 {
        let (index, number) = (random.place(LINES * LINE), turn as u32);
        table.set(index, number);
        written.insert(index, number);
        let many = lines(&table) > LINES / CHANGED_MANY;
        assert_eq!(has_large_pages(&table), many, "{turn} of {LINES}");
    }
    assert!(written.iter().all(|(index, number)| table.get(*index) == *number));
    assert_eq!((0..LINES * LINE).filter(|index| table.get(*index) != 0).count(), written.len());
}
