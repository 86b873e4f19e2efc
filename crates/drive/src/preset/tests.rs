use block::{Endurance, Nanos};

use super::*;

fn flash(name: &str) -> FlashSpec {
    match Preset::find(name).unwrap().spec {
        Spec::Flash(spec) => spec,
        other => panic!("{name} is {other:?}"),
    }
}

#[test]
fn a_rig_has_the_spare_flash_of_its_drives_and_a_disk_none() {
    let spare = |name| Preset::find(name).unwrap().spare();
    assert!((342_000..343_000).contains(&spare("x25-e-64").unwrap()));
    assert_eq!(spare("toms-x25e-16"), Preset::find("toms-x25e-1").unwrap().spare());
    assert!(spare("toms-x25e-16").is_some());
    assert_eq!((spare("raptor-150"), spare("solid-data-dram")), (None, None));
}

#[test]
fn every_embedded_drive_reads_and_has_its_own_name() {
    for (name, text) in embedded() {
        assert_eq!(Preset::parse(text).unwrap_or_else(|error| panic!("{name}: {error}")).name, *name);
    }
}

#[test]
fn a_rated_endurance_says_where_it_is_from() {
    let rated: Vec<Rated> = Preset::all().map(|preset| preset.rated).collect();
    assert!(rated.iter().all(|rated| rated.endurance.is_some() != rated.endurance_source.is_empty()));
    assert_eq!(
        Preset::find("sata-tlc").unwrap().rated.endurance,
        Some(Endurance::new(Bytes::new(300_000_000_000_000)))
    );
    assert!(rated.iter().filter(|rated| rated.endurance.is_some()).count() >= 7);
}

#[test]
fn what_a_model_was_fitted_to_is_a_figure_that_its_drive_has() {
    for Preset { name, rated, .. } in Preset::all() {
        let has = |promise: &Promise| match promise {
            Promise::SequentialRead => rated.sequential_read.is_some(),
            Promise::SequentialWrite => rated.sequential_write.is_some(),
            Promise::ReadLatency => rated.read_latency.is_some(),
            Promise::RandomReadIops => rated.random_read_iops.is_some(),
            Promise::RandomWriteIops => rated.random_write_iops.is_some(),
        };
        assert!(rated.fitted.iter().all(has), "{name}: {:?}", rated.fitted);
        let is_random = rated.random_read_iops.or(rated.random_write_iops).is_some();
        assert!(!is_random || rated.random_depth.is_some(), "{name}: at which depth?");
    }
}

#[test]
fn the_x25_m_has_the_published_parts() {
    let spec = flash("x25-m");
    assert_eq!(spec.capacity, Bytes::new(80_026_361_856));
    assert_eq!((spec.geometry.channels, spec.geometry.dies_per_channel), (10, 2));
    let raw = spec.geometry.block().times(u64::from(spec.geometry.blocks()));
    let packages = Bytes::from_gib(4).times(20);
    assert!(raw.get().abs_diff(packages.get()) < packages.get() / 2000, "{raw} in twenty packages of 4 GiB");
    assert_eq!(spec.queue_depth, 32);
}

#[test]
fn a_drive_says_who_it_is_as_its_file_has_it() {
    let identity = Preset::find("x25-m").unwrap().identity();
    assert_eq!((&*identity.model, &*identity.device), ("INTEL SSDSA2MH080G1GC", "sim:x25-m"));
    assert_eq!((identity.capacity.sectors(), identity.attributes), (156_301_488, AttributeSet::IntelX25));
    let good = EMBEDDED.iter().find(|(name, _)| *name == "x25-m").unwrap().1;
    let silent = Preset::parse(good.split("[smart]").next().unwrap()).unwrap();
    assert_eq!((&silent.identity().model, silent.identity().attributes), (&silent.title, AttributeSet::Generic));
}

#[test]
fn a_disk_says_how_fast_it_turns_and_keeps_the_attributes_of_disks() {
    for (name, turns) in [("raptor-150", 10_000), ("seagate-7200.11", 7_200), ("st320lt020", 5_400)] {
        let identity = Preset::find(name).unwrap().identity();
        assert_eq!((identity.rotation_rate, identity.attributes), (turns, AttributeSet::Disk), "{name}");
    }
    assert_eq!(Preset::find("x25-m").unwrap().identity().rotation_rate, 0, "flash does not turn");
}

#[test]
fn more_flash_than_can_be_numbered_is_refused() {
    let text = Preset::find("x25-m").unwrap().text;
    for user in ["900 TB", "9000 TB", "80 PB", "9000 PB"] {
        let large = text.replace("80026361856 B", user).replace("\"7.34%\"", "\"1000%\"");
        let said = Preset::parse(&large).expect_err(user).to_string();
        assert!(said.contains("pages can be numbered") || said.contains("spare"), "{user}: {said}");
    }
}

#[test]
fn a_wrong_name_is_corrected() {
    let said = Preset::find("x25m").unwrap_err().to_string();
    assert!(said.contains("did you mean `x25-m`?"), "{said}");
    for (model, first) in [("p5520", "p5520-1920"), ("zn540", "zn540-1tb"), ("PM983", "pm983-960")] {
        let said = Preset::find(model).unwrap_err().to_string();
        assert!(said.contains(&format!("did you mean `{first}`?")), "{said}");
    }
}

#[test]
fn a_wrong_unit_an_unknown_field_and_a_lost_source_are_explained() {
    let good = EMBEDDED.iter().find(|(name, _)| *name == "x25-m").unwrap().1;
    for (from, to, words) in [
        ("erase = \"2 ms\"", "erase = \"2 parsec\"", "unknown unit `parsec`"),
        ("planes = 1", "plains = 1", "unknown field `plains`"),
        ("spare = \"7.34%\"", "spare = \"0.001%\"", "raise capacity.spare"),
        ("channels = 10", "channels = 0", "each is 1 to 1,024"),
        ("[buffer]\nsource", "[buffer]\nsauce", "unknown field `sauce`"),
    ] {
        assert!(good.contains(from), "{from}");
        let said = Preset::parse(&good.replacen(from, to, 1)).unwrap_err().to_string();
        assert!(said.contains(words), "{said}");
    }
}

#[test]
fn a_drive_is_changed_by_name() {
    let changed = flash("x25-m?spare=12%&nand.read=25us&channels=8");
    assert_eq!((changed.nand.read, changed.geometry.channels), (Nanos::from_micros(25), 8));
    assert!(changed.geometry.blocks_per_plane > flash("x25-m").geometry.blocks_per_plane);
    assert_eq!(Preset::find("x25-m?spare=12%").unwrap().name, "x25-m?spare=12%");
}

#[test]
fn a_change_may_say_that_it_is_to_the_drive_or_to_the_rig() {
    let long = Preset::find("x25-m?drive.nand.read=25us").unwrap().changed("drive.spare=12%").unwrap();
    assert_eq!(long.spec, Preset::find("x25-m?nand.read=25us&spare=12%").unwrap().spec);
    assert_eq!(long.name, "x25-m?drive.nand.read=25us&drive.spare=12%");
    let said = Preset::find("x25-m?rig.host.cpus=8").unwrap_err().to_string();
    assert!(said.contains("not in a rig"), "{said}");
    let rig = |changes: &str| Preset::find(&format!("toms-x25e-16?{changes}")).unwrap().spec;
    assert_eq!(rig("rig.host.cpus=8&drive.nand.read=25us"), rig("host.cpus=8&drive.nand.read=25us"));
}

#[test]
fn a_change_that_is_none_is_explained() {
    for (change, words) in [
        ("spair=12%", "did you mean `capacity.spare`?"),
        ("nand.reed=1us", "did you mean `nand.read`?"),
        ("read=1us", "`nand.read` or `slc.read`"),
        ("erase=5 parsec", "unknown unit `parsec`"),
        ("erase", "name=value"),
        ("=5", "name=value"),
        (
            "buffer=5",
            "`buffer` is a table; say which field of it: `buffer.size`, `buffer.partial`, `buffer.serves_reads`",
        ),
        ("buffer.=5", "`buffer` is a table"),
        ("channels=99999999999999999999", "expected a whole number"),
        ("channels=x", "channels"),
        ("spare=0.001%", "raise capacity.spare"),
        ("nand.read=50us&nand.read=60us", "`nand.read` is given twice; give it once"),
        ("spare=8%&drive.capacity.spare=9%", "`capacity.spare` is given twice"),
        ("nand.read=inf", "`inf` is not a number"),
        ("nand.read=1e400", "`1e400` has an exponent and no unit; give all digits and a unit, such as `50us`"),
        ("nand.read=1e3us", "`1e3us` has an exponent; give all digits"),
        ("controller.write=5", "`5` has no unit; give the time with one, such as `5us`"),
        ("spare=0", "`0` has no unit; use one of %"),
        ("channels=1.5", "expected a whole number from 0 to 4294967295"),
        ("geometry.sense=0", "geometry.sense is 0 B, geometry.page 4 KiB, geometry.program 4 KiB"),
        ("geometry.program=5KiB", "geometry.program is 5 KiB, geometry.page 4 KiB"),
        (
            "gc.policy=greedy&gc.burst=5",
            "gc.burst is 5, gc.page_move not given, gc.page_move_deviation 0%, gc.pacing not given",
        ),
        ("planes=0", "geometry.channels is 10, dies_per_channel"),
    ] {
        let said = Preset::find(&format!("x25-m?{change}")).unwrap_err().to_string();
        assert!(said.contains(words), "{change}: {said}");
    }
}

/// Whatever a field is set to, a message is in the file's terms: units in place of the program's types and numbers.
#[test]
fn no_message_shows_a_type_of_the_program() {
    let values =
        ["0", "-1", "inf", "nan", "1e400", "abc", "1.5", "0%", "99999%", "0ns", "584d", "0B", "18446744073709551615"];
    for name in
        ["990-pro", "p5520-1920", "optane-p4800x", "ocz-core-64", "nearline-7200", "solid-data-dram", "sata-host"]
    {
        let preset = Preset::find(name).unwrap();
        let fields = preset.spec.tables().iter().flat_map(|table| table.names().map(move |field| (table.name, field)));
        for (table, field) in fields {
            for value in values {
                let change = format!("{table}.{field}={value}");
                let Err(error) = preset.clone().changed(&change) else { continue };
                let said = error.to_string();
                let words = ["Some(", "None", "Bytes(", "Nanos(", "u32", "u64", "millionths (", "struct ", "untagged"];
                for word in words {
                    assert!(!said.contains(word), "{name}?{change}: {said}");
                }
            }
        }
    }
}

#[test]
fn what_contradicts_the_rest_of_a_file_is_refused_and_not_passed_over() {
    for (drive, words) in [
        ("990-pro?nand.reads_first=false", "nand.reads_first is false, and the drive has [suspend]"),
        ("990-pro?gc.start=2", "gc.start is 2, and the drive has [wear]"),
        // Its map is kept beside what the user has.
        ("x25-m?capacity.user=600MiB", "capacity.spare leaves 65 blocks a plane"),
        ("zn540-1tb?capacity.user=9693000MiB", "pages; at most 4.29 billion pages can be numbered"),
        ("990-pro?pages_per_block=8", "blocks of 8 pages, and slc.bits is 3"),
        ("x25-m?gc.policy=greedy&gc.idle_free=9", "gc.idle_free is 9, and gc.idle_after not given"),
    ] {
        let said = Preset::find(drive).expect_err(drive).to_string();
        assert!(said.contains(words), "{drive}: {said}");
    }
}
