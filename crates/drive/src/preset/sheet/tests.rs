use super::*;

fn file(ratings: &str) -> Result<String, String> {
    Ratings::read([ratings]).and_then(|ratings| ratings.file("mine")).map_err(|error| error.to_string())
}

const CLIENT: &str = "capacity=1TB, interface=pcie4x4, nand=tlc, sequential-read=7000MB/s, sequential-write=5000MB/s, \
    random-read=1M, random-write=1M, endurance=600TBW, class=client, price=89.90EUR@2026-11, source=a data sheet";

#[test]
fn the_same_ratings_give_the_same_file_in_every_form() {
    let whole = file(CLIENT).unwrap();
    assert_eq!(whole, file(CLIENT).unwrap());
    let lines = CLIENT.replace(", ", "\n").replace('=', ": ");
    assert_eq!(whole, file(&lines).unwrap());
    let toml: String = CLIENT.split(", ").map(|pair| pair.replace('=', " = \"") + "\"\n").collect();
    assert_eq!(whole, file(&toml).unwrap());
    let (first, rest) = CLIENT.split_once(", ").unwrap();
    assert_eq!(whole, Ratings::read([first, rest]).unwrap().file("mine").unwrap());
}

#[test]
fn every_table_has_a_source_and_guesses_say_so() {
    let text = file(CLIENT).unwrap();
    let file: toml::Table = toml::from_str(&text).unwrap();
    let tables = file.iter().filter_map(|(name, value)| Some((name, value.as_table()?)));
    for (name, table) in tables {
        let source = table["source"].as_str().unwrap();
        let says = ["guess", "derived", "rated", "a data sheet", "measured"].iter().any(|word| source.contains(word));
        assert!(says, "{name}: {source}");
    }
    assert!(
        text.contains("amount = \"89.90 EUR\"") && text.contains("program: derived from the rated sequential write")
    );
    assert!(!text.contains("# Not given"));
    let least = Ratings::read(["capacity=1TB"]).unwrap().file("mine").unwrap();
    assert!(least.contains("# Not given, guess: interface, PCIe 3.0 x4; nand, TLC; class, for clients."), "{least}");
}

#[test]
fn a_drive_without_dram_has_a_buffer_of_the_hosts() {
    let without = file(&format!("{CLIENT}, DRAM=no, HMB=64 MB")).unwrap();
    assert!(without.contains("\"no-dram\"") && !file(CLIENT).unwrap().contains("no-dram"), "{without}");
    let cells = file("capacity=1TB, SLC buffer=24 GB").unwrap();
    assert!(cells.contains("of no use to the model: SLC buffer"), "{cells}");
    let sata = file("capacity=1TB, interface=sata, dram=none").unwrap();
    assert!(sata.contains("its map is in memory here") && !sata.contains("\"no-dram\""), "{sata}");
}

#[test]
fn what_cannot_be_is_refused_with_what_would_be_right() {
    for (ratings, words) in [
        ("interface=sata", "the capacity is missing"),
        ("capacity=10GB", "30 GB to 128 TB"),
        ("capacity=480GB; 960GB", "several values"),
        (
            "capacity=1TB, interface=PCIe 3.0 x4, sequential-read=7000MB/s",
            "PCIe 3.0 x4 carries, 3820 MB/s (97 % of 3938 MB/s",
        ),
        ("capacity=1TB, interface=sata, random-read=200K", "SATA 6 Gb/s carries"),
        ("capacity=1TB, sequential-write=2000MB/s, random-write=900K", "sequential-write of 2000 MB/s"),
        ("capacity=1TB, interface=pcie4x4, random-read=1M, random-depth=32", "QD32 with 16 threads is 512"),
        ("capacity=64GB, class=server, interface=pcie4x4, sequential-write=6000MB/s", "such flash take"),
        ("capacity=1TB, endurance=600PBW", "check its unit"),
        ("capacity=-1TB", "below zero"),
        ("capacity=1TB, interface=sata, sequential-read=-560 MB/s", "below zero"),
        ("capacity=1TB, read-latency=3us", "25 to 1,000 us"),
        ("capacity=1TB, sequential-read=7000", "7000 has no unit; a rate looks like `7,000 MB/s` or `7 GB/s`"),
        ("capacity=1TB, sequential-read=6Gb/s", "in bits"),
        ("capacity=1TB, capacity=2TB", "given twice, before as `capacity`; give it once"),
        ("capacity=1TB, colour=red", "no rating is called so; known: capacity"),
        ("capacity=1TB, price=90EUR", "89.90EUR@2026-11"),
        ("capacity=1TB, interface=usb", "SATA 6 Gb/s"),
        ("capacity=1TB, nand=3D XPoint", "one to four bits"),
        ("capacity=1TB, class=wooden", "`client` or `server`"),
    ] {
        let said = file(ratings).expect_err(ratings);
        assert!(said.contains(words), "{ratings}: {said}");
    }
    // What is guessed is no mistake, and the limit is the one that is exceeded.
    let over = file("capacity=1TB, interface=PCIe 3.0 x2, sequential-read=3500 MB/s").unwrap_err();
    let limit =
        "PCIe 3.0 x2 carries, 1910 MB/s (97 % of 1969 MB/s, the rest is packets' headers); check it and the interface";
    assert_eq!(over, format!("sequential-read: 3500 MB/s are more than {limit}"));
    let said = file("capacity=x, interface=y, nand=optane").unwrap_err();
    assert!(said.starts_with("3 mistakes"), "{said}");
    for wrong in ["", "Two", "a b", "x\"\nbase = \"y", &"x".repeat(65)] {
        let said = Ratings::read(["capacity=1TB"]).unwrap().file(wrong).unwrap_err().to_string();
        assert!(said.contains("such as my-drive"), "{wrong}");
    }
}

#[test]
fn random_requests_of_another_size_and_mixed_ones_are_left_out() {
    let sheet = "Capacity: 1TB\nInterface: PCIe 4.0 x4\n4K Rand Read: 1.005M IOPS\n4K Rand Write: 170K IOPS\n";
    let plain = file(sheet).unwrap();
    assert!(plain.contains("random_read_iops = 1005000") && plain.contains("random_write_iops = 170000"), "{plain}");
    for row in ["16K Rand Write: 43.8K IOPS", "Random Write: 43.8K IOPS (16 KB)", "Random Read (8KiB, QD256): 500K"] {
        let more = file(&format!("{sheet}{row}\n")).unwrap_or_else(|error| panic!("{row}: {error}"));
        let key = row.split(':').next().unwrap();
        assert!(more.contains(&format!("of no use to the model: {key} (not of 4 KiB).")), "{row}: {more}");
        assert!(more.contains("random_read_iops = 1005000") && more.contains("random_write_iops = 170000"), "{more}");
    }
    let mixed = file(&format!("{sheet}4K Random 70/30 Read/Write: 400K IOPS")).unwrap();
    assert!(mixed.contains("of no use to the model: 4K Random 70/30 Read/Write."), "{mixed}");
    let written = file("capacity=1TB, interface=PCIe 4.0 x4, class=server, random-write=900K").unwrap();
    assert!(written.contains("random_write_iops = 900000"), "no guess of sequential writes is in its way: {written}");
}

#[test]
fn drive_writes_a_day_and_rates_are_read_as_shops_word_them() {
    for endurance in [
        "DWPD: 1 (5 years)",
        "DWPD: 1 for 5 years",
        "DWPD: 1.0 (for 5 years)",
        "Endurance: 1 DWPD (5 years)",
        "DWPD (5 years): 1",
    ] {
        let made = file(&format!("Capacity: 1TB\n{endurance}")).unwrap_or_else(|error| panic!("{endurance}: {error}"));
        assert!(made.contains("endurance = \"1825000 GB\""), "{endurance}: {made}");
    }
    let petabytes = file("Capacity: 7.68TB\nPetabytes Written: 14.02").unwrap();
    assert!(petabytes.contains("endurance = \"14020000 GB\""), "{petabytes}");
    let random =
        file("Capacity: 960GB\nEndurance (TBW, 4K random): 5,256 (3 DWPD)\nEndurance (TBW, 128K sequential): 24.5 PB")
            .unwrap();
    assert!(random.contains("endurance = \"5256000 GB\""), "{random}");
    let grouped =
        file("Capacity: 1TB\nInterface: PCIe 4.0 x4\nRandom read: 1.000K IOPS\nSequential read: 6.500 GB/s").unwrap();
    assert!(grouped.contains("random_read_iops = 1000000") && grouped.contains("6500 MB/s"), "{grouped}");
    let both = file("Capacity: 960GB\nTBW (DWPD): 876 (0.5)").unwrap();
    assert!(both.contains("endurance = \"876000 GB\""), "{both}");
    for rates in [
        "Performance - Data Transfer: up to 500MB/s Read and 450MB/s Write",
        "Speed: write 450 MB/s, read 500 MB/s",
        "Sequential Write/Read: 450/500 MB/s",
    ] {
        let made = file(&format!("Capacity: 1TB\nInterface: SATA\n{rates}"))
            .unwrap_or_else(|error| panic!("{rates}: {error}"));
        assert!(
            made.contains("sequential_read = \"500 MB/s\"") && made.contains("sequential_write = \"450 MB/s\""),
            "{rates}: {made}"
        );
    }
    let random =
        file("Capacity: 1TB\nInterface: SATA\nPerformance: 90K IOPS read, 80K IOPS write\nTransfer rate: 6 Gb/s")
            .unwrap();
    assert!(random.contains("random_write_iops = 80000"), "{random}");
    assert!(random.contains("of no use to the model: Transfer rate."), "{random}");
}

#[test]
fn a_drive_whose_map_has_larger_pages_says_what_it_does_not_sustain() {
    let of = |capacity: &str| {
        let rates = "sequential-read=6900MB/s, sequential-write=4200MB/s, random-read=1M, random-write=170K";
        file(&format!("capacity={capacity}, interface=PCIe 4.0 x4, nand=tlc, class=server, {rates}")).unwrap()
    };
    let says = "not sustained here if they are of 4 KiB: each writes a page of 16 KiB";
    assert!(of("30.72TB").contains(says) && !of("7.68TB").contains(says));
}

#[test]
fn lines_without_a_separator_are_headings_or_speak_for_themselves() {
    let said =
        file("Kioxia CM6-R\nRandom performance\nCapacity: 1TB\nMicron 25nm MLC Flash\nPCIe Gen2 x8 host interface")
            .unwrap();
    let given = file("capacity=1TB, nand=25nm MLC, interface=PCIe 2.0 x8").unwrap();
    let parts = |file: &str| file[file.find("[geometry]").unwrap()..file.find("[smart]").unwrap()].to_owned();
    assert!(said.contains("model = \"Kioxia CM6-R\""), "the heading is the name: {said}");
    assert_eq!(parts(&said), parts(&given));
    assert!(said.contains("of no use to the model: Random performance"), "{said}");
    let named = "Crucial P5 Plus 1TB PCIe M.2 Gaming SSD\nKingston NV2 PCIe 4.0 NVMe SSD\nCapacity: 1TB\nDensity: 1TB\nInterface: PCIe 3.0 x4";
    let named = file(named).unwrap();
    assert!(named.contains("pcie3-x4"), "a row goes before a heading: {named}");
    assert!(file("Kingston NV2 PCIe 4.0 NVMe SSD\nCapacity: 1TB").unwrap().contains("pcie4-x4"));
    let lost = file("Capacity of 960GB in all\nInterface: SATA").unwrap_err();
    assert!(
        lost.contains("Capacity of 960GB in all: there is nothing between a name and its value; write `NAME: VALUE`"),
        "{lost}"
    );
    let less = file("capacity: 1TB\nDRAM-less").unwrap_err();
    assert!(less.contains("DRAM-less: write `DRAM: no` or `HMB: 64 MB`, or leave the line out"), "{less}");
    assert!(file("capacity:\ninterface: sata").unwrap_err().contains("capacity=: a value has 1 to 400 letters"));
}

#[test]
fn names_and_values_are_found_without_a_separator() {
    let given = file("capacity: 1TB\nsequential-read: 7,300 MB/s\nsequential-write: 6,800 MB/s\nrandom-read: 1,150K IOPS\nrandom-write: 1,440K IOPS\nendurance: 600TBW\nread-latency: 60us").unwrap();
    let rated = |file: &str| file[file.find("[rated]").unwrap()..file.find("[geometry]").unwrap()].to_owned();
    for same in [
        // A name and an amount in a line.
        "Capacity 1TB\nSequential read 7300 MB/s\nSequential Bandwidth - 100% Write (up to) 6800 MB/s\nRandom read/write 4K 1,150K / 1,440K IOPS\nTotal bytes written 600 TB\nLatency - Read 60 µs\nLatency - Write 15 µs\nPower - Idle 5 W",
        // Amounts below their names, some with the number of a footnote.
        "Capacity1\n1TB\nSequential Read/Write²\nUp to 7,300/6,800 MB/s\nRandom Read (4KB, QD32)\nUp to 1,150,000 IOPS\nRandom Write3\n1,440,000 IOPS\nTBW4:\n600 TB\nRead latency\n60 us",
        // Reads and writes below what they are of.
        "Capacity: 1TB\nSequential Read/Write Speeds:\n Read: 7,300 MB/s\n Write: 6,800 MB/s\nRandom performance\nRead: 1,150K IOPS\nWrite: 1,440K IOPS\nEndurance:\n600TBW\nRead latency: 60us",
    ] {
        assert_eq!(rated(&file(same).unwrap_or_else(|error| panic!("{same}: {error}"))), rated(&given), "{same}");
    }
    let several = file("Capacity: 1TB\nTotal Bytes Written (TBW)\n256GB – 200TBW\n512GB – 400TBW").unwrap_err();
    assert!(several.contains("it is of another capacity than the drive"), "{several}");
    let twice = file("Capacity 1TB\nSeq Read 7400 MB/s\nSequential read/write: 7000/6500 MB/s").unwrap_err();
    assert!(twice.contains("it is given twice, with another value"), "{twice}");
    // What a sheet says beside ratings is noted; what might be one under a wrong name is not passed over, nor is anything in a list.
    let beside = "Capacity: 1TB\nBox: blue\nNumber of namespaces: 16\nWarranty: Five years\nPrice: $89";
    assert!(file(beside).unwrap().contains("of no use to the model: Box, Number of namespaces, Price."));
    for wrong in [
        "Capcity: 1TB\nBox: blue",
        "Capacity: 1TB\nFlsh: TLC",
        "Capacity: 1TB\nPort: PCIe 4.0 x4",
        "capacity=1TB, box=blue",
    ] {
        assert!(file(wrong).unwrap_err().contains("no rating is called so"), "{wrong}");
    }
    let of_another = file("Capacity 1TB\nRandom Read 16K 100,000 IOPS").unwrap();
    assert!(of_another.contains("Random Read 16K (not of 4 KiB)"), "{of_another}");
}

#[test]
fn a_sheet_of_several_capacities_is_that_of_the_one_that_is_given_beside_it() {
    let sheet = "Model | 500 GB | 1 TB | 2 TB\nInterface | SATA 6Gb/s\nSequential read | 550 MB/s | 555 MB/s | 560 MB/s\nTBW | 300 | 600 | 1,200";
    let of = |capacity: &str| Ratings::read([sheet, capacity]).and_then(|ratings| ratings.file("mine"));
    for (capacity, rate, endurance) in
        [("capacity=500GB", 550, 300), ("capacity=1TB", 555, 600), ("Capacity: 2000 GB", 560, 1200)]
    {
        let made = of(capacity).unwrap();
        assert!(made.contains(&format!("sequential_read = \"{rate} MB/s\"")), "{capacity}: {made}");
        assert!(made.contains(&format!("endurance = \"{endurance}000 GB\"")), "{capacity}: {made}");
    }
    let other = of("capacity=4TB").unwrap_err().to_string();
    assert_eq!(other, "capacity=4000 GB: the sheet has 500 GB, 1000 GB, 2000 GB; give one of them");
    let none = file(sheet).unwrap_err();
    assert!(none.contains("beside the sheet which capacity it has, such as `capacity=960GB`"), "{none}");
    // As many values as there are capacities, or the row is of none of them.
    let two = file("capacity: 1TB\nModels: 500GB, 1TB, 2TB\nSequential read: 550 MB/s | 560 MB/s").unwrap_err();
    assert!(two.contains("these are several values"), "{two}");
    let long = format!("capacity: 1TB\nCapacities: {}", "1TB 2TB ".repeat(5_000));
    assert!(file(&long).unwrap_err().contains("400 letters"));
    // Long rows are read or refused in a moment, and in no way with a panic.
    for word in ["4k ", "8k ", "1TB", "1TB|", "1TB (2TB), ", "9 / ", "GB1", "up to "] {
        let text = format!("capacity: 1TB\nSequential read {}\nModels | {}", word.repeat(2_000), word.repeat(2_000));
        _ = file(&text);
    }
}

/// Each was once taken as another capacity's, as a thousandth or not at all, without a word.
#[test]
fn values_of_other_capacities_are_never_taken() {
    let of = |sheet: &str, capacity: &str| {
        Ratings::read([sheet, &format!("capacity={capacity}")]).and_then(|ratings| ratings.file("mine"))
    };
    for (sheet, capacity, has) in [
        ("Capacity 1TB 2TB\nSequential Read 5300 6700 MB/s", "1TB", "sequential_read = \"5300 MB/s\""),
        ("Capacity 1TB 2TB\nSequential Read (MB/s) 5300 6700", "1TB", "sequential_read = \"5300 MB/s\""),
        ("Capacity 1TB 2TB\nSequential Write Up to 2,300MB/s Up to 3,300MB/s", "1TB", "\"2300 MB/s\""),
        ("Capacity 1TB 2TB\nSequential Write 950 MB/s 2.5 GB/s", "1TB", "sequential_write = \"950 MB/s\""),
        ("Capacity 1TB 2TB\nRandom Read (4KB, QD32) 800K IOPS 0.9M IOPS", "1TB", "random_read_iops = 800000"),
        ("Capacity 1TB 2TB\nEndurance 600TB 1.2PB", "1TB", "endurance = \"600000 GB\""),
        ("Capacity 1TB 2TB\nSequential Read/Write 3,000/2,900 MB/s 3,000/2,950 MB/s", "1TB", "\"2900 MB/s\""),
        ("Capacity 500 GB 1 TB 2 TB\nTBW 300 TB 600 TB 1200 TB", "500GB", "endurance = \"300000 GB\""),
        ("Capacity: 500/1000 GB\nSequential read: 540 MB/s | 550 MB/s", "500GB", "\"540 MB/s\""),
        ("Capacity: 1TB, 2TB\nInterface: PCIe 4.0 x4, NVMe 1.4\nNAND: QLC, 144-layer", "2TB", "pcie4-x4"),
        ("Capacity: 1TB, 2TB\nInterface: PCIe 4.0 x4, NVMe 1.4\nNAND: QLC, 144-layer", "2TB", "(QLC, PCIe 4.0 x4"),
        ("Capacity: 1TB, 2TB\nSequential Write: 3,000 MB/s (2TB), 1,800 MB/s (1TB)", "1TB", "\"1800 MB/s\""),
        ("Capacity: 1TB, 2TB\nTBW: 600 TBW (1TB) / 1,200 TBW (2TB)", "2TB", "endurance = \"1200000 GB\""),
        ("Specifications   4TB   2TB   1TB\nTotal Bytes Written (TB)  5,050  2,550  1,275", "1TB", "\"1275000 GB\""),
        ("Specifications\t1TB\t2TB\nTBW\t600 TB\t1,200 TB", "2TB", "endurance = \"1200000 GB\""),
        ("\t512GB\t1TB\t2TB\nTBW\t400TB\t800TB\t1.2PB", "512GB", "endurance = \"400000 GB\""),
        ("||512GB|1TB|2TB|\n|TBW|400TB|800TB|1.2PB|", "2TB", "endurance = \"1200000 GB\""),
        ("Capacity: 1TB, 2TB\nEndurance\n(total bytes written)\n600 TBW\n1,200 TBW", "1TB", "\"600000 GB\""),
        ("Capacity\t1TB\t2TB\nMax. Random Read\t570\t600\tKIOPS", "1TB", "random_read_iops = 570000"),
        ("| **Capacity** | **1TB** | **2TB** |\n|---|---|---|\n| TBW | 600 TB | 1200 TB |", "2TB", "\"1200000 GB\""),
        ("Capacity: 480GB, 960GB, 1.92TB\nSequential write: 380 / 500 / 520 MB/s", "960GB", "\"500 MB/s\""),
        ("Interface: PCIe G4 x4\nSequential Read: 4.7 GB/s (4,700 MB/s)", "1TB", "sequential_read = \"4700 MB/s\""),
        ("Sequential Read / Write: 3.3 GB/s / 2.4 GB/s", "1TB", "sequential_write = \"2400 MB/s\""),
        ("Random: 400K/500K IOPS (W/R)", "1TB", "random_read_iops = 500000"),
    ] {
        let made = of(sheet, capacity).unwrap_or_else(|error| panic!("{sheet}: {error}"));
        assert!(made.contains(has), "{sheet}: {made}");
    }
    for (sheet, capacity, words) in [
        ("Capacity 1TB 2TB\nSequential write 1,800 to 3,000 MB/s", "1TB", "nothing between a name and its value"),
        ("Capacity 1TB 2TB\nSequential read 3,000 3,100", "1TB", "nothing between a name and its value"),
        ("Capacity: 1TB / 2TB\nTBW: 600 / 1,200 TB", "2TB", "several values"),
        ("Capacity: 1TB, 2TB\nRandom Write: 350,000 IOPS, QD256", "2TB", "several values"),
        ("Model | PRO 1TB | EVO 1TB | EVO 2TB\nTBW | 600 | 400 | 800", "1TB", "the sheet has several drives of it"),
        ("Capacity: 1TB, 2TB\nTBW: 600 | 400 | 800", "1TB", "several values"),
        ("Columns\nTotal Bytes Written (TB)  5,050  2,550  1,275", "1TB", "several values"),
        ("Endurance: 600 TBW / 1,200 TBW", "2TB", "several values"),
        ("600 TBW\nInterface: SATA", "1TB", "nothing between a name and its value"),
    ] {
        let said = of(sheet, capacity).map_or_else(|error| error.to_string(), |made| panic!("{sheet}: {made}"));
        assert!(said.contains(words), "{sheet}: {said}");
    }
}

#[test]
fn hostile_text_stays_text() {
    let text = file("capacity=1TB, title=x\"\n[link]\nrate = \"1 MB/s\", source=a\u{7}b");
    assert!(text.is_err() || !text.unwrap().contains("\nrate = \"1 MB/s\""));
    let quoted = file("capacity=1TB, title=\"x\" \\ y, source=it's \"so\"").unwrap();
    assert!(quoted.contains("it's") && super::super::Preset::parse(&quoted).is_ok());
    assert!(Ratings::read([&*"x".repeat(TEXT_MAX + 1)]).unwrap_err().to_string().contains("64 KiB"));
}
