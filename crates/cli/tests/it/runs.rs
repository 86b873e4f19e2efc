//! What people add to runs, how runs are found by it, and their end.

use serde_json::Value;

use crate::support::Place;

/// A place with three runs of a few requests: tagged `a`, tagged `a` and `b`, and without a tag.
fn place() -> Place {
    let place = Place::new();
    for tags in [&["--tag=a"][..], &["--tag=b", "--tag=a", "--note=second", "--price=89.9EUR"], &[]] {
        place.succeeds(&[&["run", "sim:x25-m", "--number_ios=10"], tags].concat());
    }
    place
}

/// The numbers of the runs that a filter finds.
fn found(place: &Place, filter: &str) -> Vec<i64> {
    let text = place.succeeds(&["runs", "--format", "json", "--filter", filter]);
    let list: Value = serde_json::from_str(&text).unwrap();
    list["runs"].as_array().unwrap().iter().map(|run| run["run"].as_i64().unwrap()).collect()
}

#[test]
fn runs_are_tagged_when_they_are_made_and_later_and_found_by_it() {
    let place = place();
    assert_eq!((found(&place, "tag=a"), found(&place, "tag=b"), found(&place, "tag=c")), (vec![1, 2], vec![2], vec![]));
    let told = place.succeeds(&["tag", "3", "c", "b", "--note", "with a heat sink"]);
    assert!(told.contains("b c") && told.contains("with a heat sink"), "{told}");
    place.succeeds(&["tag", "2", "--remove", "a", "--note", ""]);
    assert_eq!(
        (found(&place, "tag=a"), found(&place, "tag=b state=complete"), found(&place, "tag=b 3")),
        (vec![1], vec![2, 3], vec![3])
    );
    let list: Value = serde_json::from_str(&place.succeeds(&["runs", "--format=json"])).unwrap();
    assert_eq!((&list["runs"][1]["note"], &list["runs"][1]["price"]), (&Value::Null, &"89.90 EUR".into()));
    let shown = place.succeeds(&["runs"]);
    assert!(shown.contains("tags") && shown.contains("b c"), "{shown}");
    assert!(place.succeeds(&["runs", "--filter", "plan=nothing"]).contains("No run matches"));
    let ranked = place.succeeds(&["compare", "1..3", "--by", "tag", "--format", "json"]);
    let families: Value = serde_json::from_str(&ranked).unwrap();
    assert_eq!(families["by"], "tag");

    assert!(place.refuses(&["tag", "1", "--remove", "zzz"]).contains("has no tag `zzz`"));
    assert!(place.refuses(&["tag", "1", "two words"]).contains("letters, digits"));
    assert!(place.refuses(&["runs", "--filter", "plam=x"]).contains("the keys are plan, target"));
    assert!(place.refuses(&["run", "--price", "89.90"]).contains("89.90EUR"));
}

#[test]
fn a_run_is_removed_with_consent_alone_and_a_baseline_of_it_is_named() {
    let place = place();
    place.succeeds(&["baseline", "set", "main", "2"]);
    let asked = place.assay(&["rm", "2"]);
    assert!(asked.code == Some(2) || asked.code == Some(1), "{:?}", asked.code);
    assert!(asked.stderr.contains("--yes") && asked.stderr.contains("baseline main"), "{}", asked.stderr);
    assert_eq!(found(&place, "plan=run"), [1, 2, 3]);
    let removed = place.assay(&["rm", "2", "1", "--yes"]);
    assert!(removed.code == Some(0) && removed.stdout.contains("Removed: 1, 2"), "{}", removed.stderr);
    assert_eq!(found(&place, "plan=run"), [3]);
    assert!(place.succeeds(&["baseline", "show", "main"]).contains("run        2"), "it outlives its run");
    assert!(place.refuses(&["show", "2"]).contains("no run 2"));
    place.succeeds(&["run", "--number_ios=10"]);
    assert_eq!(found(&place, "plan=run"), [3, 4], "no number is given twice");
    assert!(place.refuses(&["rm", "9", "--yes"]).contains("no run 9"));
}

#[test]
fn a_review_answers_in_json_and_its_report_has_a_name_of_its_own() {
    let place = Place::new();
    let plan = place.short_plan();
    let review = |store: &str| {
        let path = place.path(store);
        let said = place.assay(&["--store", path.to_str().unwrap(), "review", "--plan", &plan, "--format", "json"]);
        assert_eq!(said.code, Some(0), "{}", said.stderr);
        let report = said.stderr.lines().find_map(|line| line.strip_prefix("Report: ")).unwrap().to_owned();
        (serde_json::from_str::<Value>(&said.stdout).unwrap(), report)
    };
    let (one, first) = review("one.sqlite");
    let (two, second) = review("two.sqlite");
    assert_eq!((&one["run"], &two["run"]), (&1.into(), &1.into()), "each is the first of its store");
    assert_ne!(first, second);
    for (run, report) in [(&one, &first), (&two, &second)] {
        let name = report.rsplit('/').next().unwrap();
        let end = format!("-1-{}.html", run["short_id"].as_str().unwrap());
        assert!(name.starts_with("short-sim-x25-m-20") && name.ends_with(&end), "{name}");
        assert!(std::fs::exists(report).unwrap(), "{report}");
    }
    let path = place.path("one.sqlite");
    let again = place.succeeds(&["--store", path.to_str().unwrap(), "report", "1"]);
    assert_eq!(again.trim_end(), format!("Report: {first}"), "the same run has the same report");
}

#[test]
fn the_health_of_a_simulated_drive_counts_what_was_measured() {
    let place = Place::new();
    let plan = place.short_plan();
    place.succeeds(&["review", "--plan", &plan]);
    let health: Value = serde_json::from_str(&place.succeeds(&["health", "last", "--format", "json"])).unwrap();
    let read = |moment: &str| health[moment]["health"]["host_read_bytes"].as_u64();
    assert!(read("after").is_some_and(|read| read > 1 << 20), "{health}");
    assert_eq!(read("before"), Some(0), "{health}");
}

/// Measurements are made on copies of the drive, and each wears it as it would a real one.
#[test]
fn what_measurements_wear_a_simulated_drive_by_is_in_its_health() {
    let place = Place::new();
    let plan = "name = \"wear\"\ntitle = \"Wear\"\nrepeats = 2\n[[step]]\nname = \"write\"\nrw = \"randwrite\"\nbs = \"4k\"\n\
                iodepth = 32\nio_size = \"512m\"\n";
    std::fs::write(place.path("wear.toml"), plan).unwrap();
    let drive = "sim:sata-tlc?capacity.user=64MiB&capacity.spare=28%&geometry.pages_per_block=32&wear.rated_erases=100";
    place.succeeds(&["review", "--plan", "./wear.toml", drive]);
    let health: Value = serde_json::from_str(&place.succeeds(&["health", "last", "--format", "json"])).unwrap();
    let worn = |moment: &str| health[moment]["health"]["wear_percent"].as_f64().unwrap();
    let written = health["after"]["health"]["flash_written_bytes"].as_f64().unwrap();
    // 64 MiB and 28 % can be written a hundred times, of which those of one bit hold a third.
    let least = 100.0 * written / (100.0 * 1.28 * f64::from(64 << 20));
    assert_eq!(worn("before"), 0.0, "{health}");
    assert!((0.8 * least..3.0 * least).contains(&worn("after")), "{} of {least}: {health}", worn("after"));
}

#[test]
fn a_new_plan_can_be_run_as_it_is() {
    let place = Place::new();
    let text = place.succeeds(&["plans", "new", "my-plan"]);
    std::fs::write(place.path("my-plan.toml"), text).unwrap();
    let told = place.succeeds(&["review", "sim:x25-m", "--plan", "./my-plan.toml", "--dry-run"]);
    assert!(told.contains("Random reads by queue depth"), "{told}");
    place.succeeds(&["review", "sim:x25-m", "--plan", "./my-plan.toml", "--quick"]);
    for wrong in ["", "two words", "x\"\nbase = \"y", &"x".repeat(65)] {
        assert!(place.refuses(&["plans", "new", wrong]).contains("such as my-plan"), "{wrong}");
    }
}

#[test]
fn a_drive_made_of_its_ratings_can_be_reviewed() {
    let place = Place::new();
    std::fs::write(place.path("sheet.txt"), "Capacity: 64GB\nInterface: SATA 6Gb/s\nNAND | MLC |\nMTBF: 2M hours\n")
        .unwrap();
    let rates = "sequential-read=540 MB/s, sequential-write=120 MB/s, random-read=80K, random-write=20K IOPS";
    let new = ["drives", "new", "my-drive", "--from", "@sheet.txt", "--from", rates];
    let text = place.succeeds(&new);
    assert_eq!(text, place.succeeds(&new));
    assert!(text.contains("guess") && text.contains("of no use to the model: MTBF"), "{text}");
    let told = place.assay(&[&new[..], &["--from", "write latency=15us"]].concat()).stderr;
    assert_eq!(told, "Left out, of no use to the model: MTBF, write latency\n");
    std::fs::write(place.path("my-drive.toml"), text).unwrap();
    assert!(place.succeeds(&["drives", "show", "./my-drive.toml"]).contains("80000 IOPS, 4 KiB random reads"));
    place.succeeds(&["review", "sim:./my-drive.toml", "--quick"]);
    let disk = place.succeeds(&["drives", "new", "my-disk", "--from", "capacity=80GB, rpm=7200, seek=9ms, cache=8MB"]);
    std::fs::write(place.path("my-disk.toml"), disk).unwrap();
    assert!(place.succeeds(&["drives", "show", "./my-disk.toml"]).contains("7200 rpm"));
    place.succeeds(&["review", "sim:./my-disk.toml", "--quick"]);
    let said =
        place.refuses(&["drives", "new", "my-drive", "--from", "capacity=1TB, interface=sata, sequential-read=7GB/s"]);
    assert!(said.contains("more than SATA 6 Gb/s carries"), "{said}");
    assert!(place.refuses(&["drives", "new", "my-drive", "--from", "@none.txt"]).contains("cannot be read"));
    assert!(place.refuses(&["drives", "new", "my-drive", "--from", "sheet.txt"]).contains("give `--from @sheet.txt`"));
    assert!(place.refuses(&["drives", "new", "a b", "--from", "capacity=1TB"]).contains("such as my-drive"));
}

#[test]
fn a_price_gives_the_cost_of_capacity_and_figures_for_the_money() {
    let place = Place::new();
    let plan = place.short_plan();
    let priced = place.succeeds(&["review", "--plan", &plan, "--price", "160.00 EUR"]);
    assert!(priced.contains("Price 160.00 EUR: 2.00 EUR/GB; up to "), "{priced}");
    let page = std::fs::read_to_string(priced.lines().last().unwrap().strip_prefix("Report: ").unwrap()).unwrap();
    assert!(page.contains("Price and efficiency") && page.contains("per EUR"));
    let shown: Value = serde_json::from_str(&place.succeeds(&["show", "1", "--format", "json"])).unwrap();
    let figures = shown["cost"]["figures"].as_array().unwrap();
    assert!(!figures.is_empty(), "{}", shown["cost"]);
    for one in figures {
        let number = |name: &str| one[name].as_f64().unwrap();
        assert_eq!(number("per_price"), number("value") / 160.0, "{one}");
        assert!((number("per_watt") * number("watts") / number("value") - 1.0).abs() < 1e-12, "{one}");
    }

    let plain = place.succeeds(&["review", "--plan", &plan, "--seed", "2"]);
    assert!(!plain.contains("Price"), "{plain}");
    // The price of a drive's own file, which a price for the run replaces.
    let text = place.succeeds(&["drives", "show", "x25-m"]);
    let file = text.lines().skip_while(|line| !line.starts_with("name = ")).collect::<Vec<_>>().join("\n");
    let table = "\n[price]\namount = \"80 USD\"\ndate = \"2024-05\"\nsource = \"a shop\"\n";
    std::fs::write(place.path("mine.toml"), file + table).unwrap();
    let own = place.succeeds(&["review", "sim:./mine.toml", "--plan", &plan]);
    assert!(own.contains("Price 80.00 USD (2024-05): 1.00 USD/GB"), "{own}");
    place.succeeds(&["tag", "3", "--price", "240EUR"]);
    assert!(place.succeeds(&["show", "3"]).contains("Price 240.00 EUR: 3.00 EUR/GB"));
    let compared = place.succeeds(&["compare", "1", "3"]);
    assert!(compared.contains("Run 1: Price 160.00 EUR") && compared.contains("Run 3: Price 240.00 EUR"), "{compared}");
    let page = std::fs::read_to_string(compared.lines().last().unwrap().strip_prefix("Report: ").unwrap()).unwrap();
    assert!(page.contains("Key figures per price") && page.contains("run 3, per EUR"));
}
