use block::Temperature;
use serde_json::{Value, json};

use super::*;
use crate::WearSummary;

const WEAR: WearSummary = WearSummary {
    rated: 3_000,
    erases_min: 590,
    erases_max: 640,
    erases_mean: 600,
    factory_bad: 12,
    retired: 3,
    reserve: 20,
    read_only: false,
};

/// A drive in its 51st hour, a fifth of its life behind it.
fn health() -> Health {
    Health {
        power_on: Nanos::from_secs(50 * 3_600 + 1_800),
        busy: Nanos::from_secs(3_600),
        power_cycles: 4,
        temperature: Some(Temperature::from_microdegrees(41_900_000)),
        temperature_max: Some(Temperature::from_celsius(55)),
        wear: Some(WEAR),
    }
}

fn counters() -> Counters {
    Counters {
        requests: [3_000, 1_000, 7, 9],
        host_read: Bytes::from_gib(3),
        host_written: Bytes::from_mib(1_050),
        pages_programmed: 1_000_000,
        page: Bytes::from_kib(4),
        throttled: Nanos::from_secs(150),
        unsafe_shutdowns: 2,
        ..Counters::default()
    }
}

fn says(attributes: AttributeSet, counters: &Counters, health: &Health) -> Value {
    let identity = Identity::new("x25-m", "INTEL SSDSA2MH080G1GC", Bytes::new(80_026_361_856), attributes);
    serde_json::to_value(Smart::of(&identity, counters, health)).unwrap()
}

fn attribute(document: &Value, id: u8) -> Value {
    let table = document["ata_smart_attributes"]["table"].as_array().unwrap();
    table.iter().find(|attribute| attribute["id"] == id).unwrap_or_else(|| panic!("no attribute {id}")).clone()
}

#[test]
fn a_drive_says_who_it_is() {
    let document = says(AttributeSet::IntelX25, &counters(), &health());
    assert_eq!(document["json_format_version"], json!([1, 0]));
    assert_eq!(document["device"]["name"], "sim:x25-m");
    assert_eq!((&document["device"]["type"], &document["device"]["protocol"]), (&json!("sat"), &json!("ATA")));
    assert_eq!(document["model_name"], "INTEL SSDSA2MH080G1GC");
    assert_eq!(document["user_capacity"], json!({ "blocks": 156_301_488, "bytes": 80_026_361_856_u64 }));
    assert_eq!((&document["logical_block_size"], &document["rotation_rate"]), (&json!(512), &json!(0)));
    assert_eq!(document["power_on_time"], json!({ "hours": 50 }));
    assert_eq!((&document["power_cycle_count"], &document["temperature"]), (&json!(4), &json!({ "current": 41 })));
    assert_eq!(
        (&document["smart_status"], &document["smartctl"]["exit_status"]),
        (&json!({ "passed": true }), &json!(0))
    );
    assert!(document.get("nvme_smart_health_information_log").is_none());
    let serial = document["serial_number"].as_str().unwrap().to_owned();
    assert!(serial.starts_with("SIM") && serial.len() == 15, "{serial}");
    assert_eq!(says(AttributeSet::Samsung, &counters(), &health())["serial_number"], serial, "the name decides it");
}

#[test]
fn intels_attributes_count_in_intels_units() {
    let document = says(AttributeSet::IntelX25, &counters(), &health());
    // 1,050 MiB are 32 whole units of 32 MiB. Wear is in 1,024ths of a percent.
    let rows =
        [(5, 3), (9, 50), (12, 4), (192, 2), (225, 32), (226, 20 * 1_024), (227, 75), (228, 3_030), (232, 0), (233, 0)];
    for (id, raw) in rows {
        let attribute = attribute(&document, id);
        assert_eq!(attribute["raw"], json!({ "value": raw, "string": raw.to_string() }), "attribute {id}");
        assert_eq!(attribute["worst"], attribute["value"], "attribute {id}");
    }
    assert_eq!(attribute(&document, 232)["value"], 85, "17 of 20 blocks in reserve");
    assert_eq!(attribute(&document, 233)["value"], 80, "600 of 3,000 erases");
    assert_eq!(attribute(&document, 225)["name"], "Host_Writes_32MiB");
}

#[test]
fn an_attribute_has_every_part_that_smartctl_prints() {
    let document = says(AttributeSet::Intel320, &counters(), &health());
    assert_eq!(
        attribute(&document, 232),
        json!({
            "id": 232, "name": "Available_Reservd_Space", "value": 85, "worst": 85, "thresh": 10, "when_failed": "",
            "flags": {
                "value": 51, "string": "PO--CK ", "prefailure": true, "updated_online": true, "performance": false,
                "error_rate": false, "event_count": true, "auto_keep": true,
            },
            "raw": { "value": 0, "string": "0" },
        })
    );
    assert_eq!(attribute(&document, 9)["flags"]["string"], "-O--CK ");
}

#[test]
fn other_makers_count_in_theirs() {
    for (set, id, raw) in [
        (AttributeSet::Intel520, 249, 3), // a million pages of 4 KiB are 3.8 GiB
        (AttributeSet::Sandforce, 241, 1),
        (AttributeSet::Sandforce, 177, 50),
        (AttributeSet::CrucialM4, 202, 20),
        (AttributeSet::CrucialM4, 189, 12),
        (AttributeSet::Samsung, 241, 1_050 * 2_048),
        (AttributeSet::Samsung, 177, 600),
        (AttributeSet::Generic, 242, 3 << 21),
        (AttributeSet::Disk, 194, 41),
    ] {
        let document = says(set, &counters(), &health());
        assert_eq!(attribute(&document, id)["raw"]["value"], raw, "{set:?} {id}");
    }
    let warm = attribute(&says(AttributeSet::Samsung, &counters(), &health()), 190);
    assert_eq!((&warm["value"], &warm["worst"]), (&json!(59), &json!(45)), "100 less 41 °C, and less 55 °C");
}

#[test]
fn every_set_is_in_order_and_has_hours_and_cycles() {
    use AttributeSet::*;
    for set in [Generic, IntelX25, Intel320, Intel520, Sandforce, CrucialM4, Samsung, Disk] {
        let document = says(set, &counters(), &health());
        let table = document["ata_smart_attributes"]["table"].as_array().unwrap();
        let ids: Vec<_> = table.iter().map(|attribute| attribute["id"].as_u64().unwrap()).collect();
        assert!(ids.is_sorted_by(|a, b| a < b), "{set:?}: {ids:?}");
        assert!([5, 9, 12].iter().all(|id| ids.contains(id)), "{set:?}: {ids:?}");
    }
}

#[test]
fn nvme_has_its_health_log_instead() {
    let document = says(AttributeSet::Nvme, &counters(), &health());
    assert_eq!((&document["device"]["type"], &document["device"]["protocol"]), (&json!("nvme"), &json!("NVMe")));
    assert!(document.get("ata_smart_attributes").is_none());
    assert_eq!(
        document["nvme_smart_health_information_log"],
        json!({
            "critical_warning": 0, "temperature": 41, "available_spare": 85, "available_spare_threshold": 10,
            "percentage_used": 20,
            // 3 GiB and 1,050 MiB in units of 512,000 bytes, rounded up.
            "data_units_read": 6_292, "data_units_written": 2_151, "host_reads": 3_000, "host_writes": 1_000,
            "controller_busy_time": 60, "power_cycles": 4, "power_on_hours": 50, "unsafe_shutdowns": 2,
            "media_errors": 0, "num_err_log_entries": 0, "warning_temp_time": 2, "critical_comp_time": 0,
        })
    );
}

#[test]
fn a_single_sector_is_a_data_unit_and_none_is_none() {
    assert_eq!([0, 512, 512_000, 512_001].map(|bytes| data_units(Bytes::new(bytes))), [0, 1, 1, 2]);
}

#[test]
fn a_drive_at_the_end_of_its_life_says_so() {
    let worn =
        Health { wear: Some(WearSummary { retired: 21, read_only: true, erases_mean: 9_000, ..WEAR }), ..health() };
    let sata = says(AttributeSet::IntelX25, &counters(), &worn);
    assert_eq!((&sata["smart_status"]["passed"], &sata["smartctl"]["exit_status"]), (&json!(false), &json!(8)));
    let reserve = attribute(&sata, 232);
    assert_eq!((&reserve["value"], &reserve["when_failed"]), (&json!(1), &json!("now")));
    assert_eq!(attribute(&sata, 233)["value"], 1, "marks end at one");
    let nvme = says(AttributeSet::Nvme, &counters(), &worn);
    let log = &nvme["nvme_smart_health_information_log"];
    assert_eq!((&log["critical_warning"], &log["available_spare"]), (&json!(0b1001), &json!(0)));
    assert_eq!((&log["percentage_used"], &nvme["smart_status"]["passed"]), (&json!(255), &json!(false)));
}

#[test]
fn a_drive_that_knows_nothing_of_its_wear_and_warmth_is_as_good_as_new() {
    let document = says(AttributeSet::Generic, &Counters::default(), &Health::default());
    assert!(document.get("temperature").is_none());
    assert_eq!(document["smart_status"]["passed"], true);
    let table = document["ata_smart_attributes"]["table"].as_array().unwrap();
    assert!(table.iter().all(|attribute| attribute["id"] != 194 && attribute["value"] == 100));
}
