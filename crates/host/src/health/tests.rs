use serde_json::{Value, json};

use super::*;

/// What smartctl prints of a SATA drive with these attributes: number, name, value, threshold, raw value, raw text.
fn ata(is_known: bool, attributes: &[(u64, &str, u64, u64, u64, &str)]) -> Value {
    let table: Vec<Value> = attributes
        .iter()
        .map(|(id, name, value, thresh, raw, text)| {
            json!({"id": id, "name": name, "value": value, "worst": value, "thresh": thresh, "when_failed": "",
                   "raw": {"value": raw, "string": text}})
        })
        .collect();
    json!({
        "json_format_version": [1, 0],
        "smartctl": {"version": [7, 3], "exit_status": 0},
        "device": {"name": "/dev/sda", "type": "sat", "protocol": "ATA"},
        "model_name": "INTEL SSDSC2CW240A3",
        "in_smartctl_database": is_known,
        "logical_block_size": 512,
        "rotation_rate": 0,
        "smart_status": {"passed": true},
        "ata_smart_attributes": {"revision": 10, "table": table},
        "power_on_time": {"hours": 4711},
        "temperature": {"current": 33},
    })
}

fn nvme(written: u64, used: u64, warning: u64, spare: u64) -> Value {
    json!({
        "smartctl": {"version": [7, 4], "exit_status": 0},
        "model_name": "Samsung SSD 990 PRO 1TB",
        "smart_status": {"passed": warning == 0},
        "nvme_composite_temperature_threshold": {"warning": 82, "critical": 85},
        "nvme_smart_health_information_log": {
            "critical_warning": warning, "temperature": 41, "available_spare": spare, "available_spare_threshold": 10,
            "percentage_used": used, "data_units_read": 2_000, "data_units_written": written, "host_reads": 5,
            "host_writes": 6, "controller_busy_time": 7, "power_cycles": 8, "power_on_hours": 9,
            "unsafe_shutdowns": 1, "media_errors": 2, "num_err_log_entries": 3
        },
        "temperature": {"current": 41},
    })
}

fn health(document: &Value) -> Health {
    match of_smartctl(&document.to_string(), "/dev/sda") {
        HealthReading::Health(health) => *health,
        HealthReading::Missing(why) => panic!("{why}"),
    }
}

fn missing(text: &str) -> String {
    match of_smartctl(text, "/dev/sda") {
        HealthReading::Missing(why) => why,
        HealthReading::Health(health) => panic!("{health:?}"),
    }
}

#[test]
fn one_number_means_what_its_maker_says() {
    let mib = Bytes::from_mib(32);
    let gib = Bytes::from_gib(1);
    let table = [
        // number, name, raw: host written, flash written
        (225, "Host_Writes_32MiB", 1_000, Some(mib.times(1_000)), None),
        (241, "Host_Writes_32MiB", 1_000, Some(mib.times(1_000)), None),
        (241, "Total_LBAs_Written", 1_000, Some(Bytes::from_sectors(1_000)), None),
        (241, "Lifetime_Writes_GiB", 1_000, Some(gib.times(1_000)), None),
        (233, "Flash_Writes_GiB", 1_000, None, Some(gib.times(1_000))),
        (249, "NAND_Writes_1GiB", 1_000, None, Some(gib.times(1_000))),
        (233, "Lifetime_Wts_To_Flsh_GB", 1_000, None, None),
        (241, "Unknown_Attribute", 1_000, None, None),
    ];
    for (number, name, raw, written, flash) in table {
        let found = health(&ata(true, &[(number, name, 100, 0, raw, "1000")]));
        assert_eq!((found.host_written, found.flash_written), (written, flash), "{number} {name}");
    }
    let unknown = health(&ata(false, &[(241, "Total_LBAs_Written", 100, 0, 1_000, "1000")]));
    assert_eq!(unknown.host_written, None, "a model that smartctl does not know has units that nobody knows");
}

#[test]
fn an_intel_drive_tells_its_wear_and_amplification_with_their_origin() {
    let found = health(&ata(
        true,
        &[
            (5, "Reallocated_Sector_Ct", 100, 0, 0x0003_0000_000c, "12 (0 3)"),
            (187, "Uncorrectable_Error_Cnt", 100, 0, 0, "0"),
            (225, "Host_Writes_32MiB", 100, 0, 3_200, "3200"),
            (232, "Available_Reservd_Space", 98, 10, 0, "0"),
            (233, "Media_Wearout_Indicator", 93, 0, 0, "0"),
            (241, "Host_Writes_32MiB", 100, 0, 3_200, "3200"),
            (249, "NAND_Writes_1GiB", 100, 0, 150, "150"),
        ],
    ));
    assert_eq!(found.reallocated, Some(12), "the first of several numbers in one");
    assert_eq!(
        (found.wear_percent, found.spare_percent, found.spare_threshold_percent),
        (Some(7.0), Some(98), Some(10))
    );
    assert_eq!((found.host_written, found.write_amplification), (Some(Bytes::from_gib(100)), Some(1.5)));
    assert_eq!((found.temperature, found.power_on_hours, found.passed), (Some(33), Some(4711), Some(true)));
    assert_eq!(
        found.origins["host_written_bytes"],
        "attribute 225 Host_Writes_32MiB, in 32 MiB, by smartctl's database"
    );
    assert!(found.source.contains("smartctl 7.3 on /dev/sda (INTEL SSDSC2CW240A3)"), "{}", found.source);
    assert_eq!((found.pending, found.host_read), (None, None), "what it does not say is not zero");
}

#[test]
fn pages_of_two_kinds_give_the_amplification() {
    let found = health(&ata(
        true,
        &[
            (202, "Percent_Lifetime_Remain", 96, 1, 4, "4"),
            (246, "Total_LBAs_Written", 100, 0, 2_048, "2048"),
            (247, "Host_Program_Page_Count", 100, 0, 1_000, "1000"),
            (248, "FTL_Program_Page_Count", 100, 0, 2_000, "2000"),
        ],
    ));
    assert_eq!((found.write_amplification, found.wear_percent), (Some(3.0), Some(4.0)));
    assert_eq!((found.host_written, found.flash_written), (Some(Bytes::from_mib(1)), None), "pages of unknown size");
}

#[test]
fn statistics_of_the_standard_go_before_the_makers_attributes() {
    let mut drive =
        ata(true, &[(241, "Total_LBAs_Written", 100, 0, 1, "1"), (177, "Wear_Leveling_Count", 90, 0, 3, "3")]);
    let entry = |name: &str, value: u64, valid: bool| json!({"name": name, "value": value, "flags": {"valid": valid}});
    drive["ata_device_statistics"] = json!({"pages": [
        {"number": 1, "table": [entry("Logical Sectors Written", 4_096, true), entry("Logical Sectors Read", 9, false)]},
        {"number": 7, "table": [entry("Percentage Used Endurance Indicator", 3, true)]},
    ]});
    let found = health(&drive);
    assert_eq!((found.host_written, found.wear_percent), (Some(Bytes::from_mib(2)), Some(3.0)));
    assert_eq!(found.host_read, None, "a statistic that the drive does not vouch for");
}

#[test]
fn an_nvme_drive_counts_in_thousands_of_sectors() {
    let found = health(&nvme(1_000, 3, 0, 100));
    assert_eq!((found.host_written, found.host_read), (Some(Bytes::new(512_000_000)), Some(Bytes::new(1_024_000_000))));
    assert_eq!((found.wear_percent, found.uncorrectable, found.critical_warning), (Some(3.0), Some(2), Some(0)));
    assert_eq!((found.temperature, found.temperature_limit, found.power_on_hours), (Some(41), Some(82), Some(9)));
    assert_eq!((found.flash_written, found.write_amplification, found.reallocated), (None, None, None));
}

#[test]
fn a_sas_drive_tells_of_defects_and_lost_data() {
    let found = health(&json!({
        "smartctl": {"version": [7, 3], "exit_status": 0}, "scsi_model_name": "X", "scsi_grown_defect_list": 4,
        "scsi_percentage_used_endurance_indicator": 2,
        "scsi_error_counter_log": {"read": {"total_uncorrected_errors": 1}, "write": {"total_uncorrected_errors": 2}},
        "temperature": {"current": 30, "drive_trip": 65}, "rotation_rate": 7200,
    }));
    assert_eq!((found.reallocated, found.uncorrectable, found.wear_percent), (Some(4), Some(3), Some(2.0)));
    assert_eq!(found.temperature_max(), 65);
}

#[test]
fn why_there_is_nothing_is_told_in_smartctls_words() {
    let said = |words: &str, status: u64| {
        let document =
            json!({"smartctl": {"exit_status": status, "messages": [{"string": words, "severity": "error"}]}});
        missing(&document.to_string())
    };
    let denied = said("Smartctl open device: /dev/sda failed: Permission denied", 2);
    assert!(denied.contains("Permission denied") && denied.contains("as root"), "{denied}");
    assert!(said("/dev/vda: Unable to detect device type", 1).contains("Unable to detect device type"));
    assert!(missing("{}").contains("reports no health"));
    assert!(missing("smartctl 6.6").contains("smartctl 7.0 or newer"));
}

fn worsened(before: &Value, after: &Value) -> Vec<String> {
    let reading = |document| Some(HealthReading::Health(Box::new(health(document))));
    HealthRecord { before: reading(before), after: reading(after) }.findings()
}

#[test]
fn what_got_worse_is_found_and_what_stayed_is_not() {
    let sectors = |reallocated: u64, pending: u64, lost: u64| {
        ata(
            false,
            &[
                (5, "Reallocated_Sector_Ct", 100, 0, reallocated, &reallocated.to_string()),
                (197, "Current_Pending_Sector", 100, 0, pending, &pending.to_string()),
                (198, "Offline_Uncorrectable", 100, 0, lost, &lost.to_string()),
            ],
        )
    };
    assert_eq!(worsened(&sectors(8, 2, 1), &sectors(8, 0, 1)), [""; 0], "old damage is no finding of this run");
    let found = worsened(&sectors(8, 0, 0), &sectors(9, 3, 1));
    let words = ["reallocated sectors or blocks rose from 8 to 9", "pending sectors rose from 0 to 3", "lost data"];
    assert!(found.len() == 3 && words.iter().zip(&found).all(|(words, found)| found.contains(words)), "{found:?}");
}

#[test]
fn warnings_thresholds_and_whole_percents_of_wear_are_found() {
    assert_eq!(worsened(&nvme(1, 3, 0, 100), &nvme(9, 3, 0, 100)), [""; 0]);
    let worn = worsened(&nvme(1, 3, 0, 100), &nvme(9, 5, 0, 100));
    assert_eq!(worn, ["The run consumed endurance: 5 % of the rated life is used, 3 % before the run."]);
    let warned = worsened(&nvme(1, 3, 0, 12), &nvme(1, 3, 0b1001, 9)).join("\n");
    for words in [
        "critical warning (0x09), since this run: the available spare is below its threshold, it is read-only",
        "is 9 %, 12 % before the run, below its threshold of 10 %",
        "failing since this run",
    ] {
        assert!(warned.contains(words), "{words}: {warned}");
    }
    let mut hot = nvme(1, 3, 0, 100);
    hot["temperature"]["current"] = json!(83);
    assert!(worsened(&nvme(1, 3, 0, 100), &hot)[0].contains("83 °C after the run, above its own limit of 82 °C"));
}

#[test]
fn rows_have_both_figures_and_their_difference() {
    let reading = |document| Some(HealthReading::Health(Box::new(health(document))));
    let record = HealthRecord { before: reading(&nvme(1_000, 3, 0, 100)), after: reading(&nvme(3_000, 3, 0, 100)) };
    let rows = rows(&record);
    let host = &rows[0];
    assert_eq!((host.name, host.before.as_str(), host.after.as_str()), ("Host writes", "488 MiB", "1.43 GiB"));
    assert_eq!((host.change.as_str(), host.origin.contains("512,000 B")), ("+977 MiB", true));
    assert!(rows.iter().all(|row| row.name != "Pending"), "what is not known has no row");
}

#[test]
fn a_scsi_drive_that_tells_little_tells_that_and_no_zeroes() {
    // smartctl 7.3 on scsi_debug of Linux 6.1, and on the SCSI disk of QEMU 7.2: what it prints without the drive's identity.
    let debug = json!({
        "device": {"protocol": "SCSI"}, "scsi_model_name": "Linux scsi_debug", "smart_status": {"passed": true},
        "scsi_environmental_reports": {"temperature_1": {"parameter_code": 0, "current": 40, "lifetime_maximum": 72}},
    });
    let found = health(&debug);
    assert_eq!((found.temperature, found.passed, found.host_written), (Some(40), Some(true), None));
    let disk = json!({
        "device": {"protocol": "SCSI"}, "scsi_model_name": "QEMU QEMU HARDDISK", "smart_support": {"available": false},
        "temperature": {"current": 0}, "scsi_temperature": {"drive_trip": 0},
    });
    assert!(missing(&disk.to_string()).contains("reports no health"));
}

#[test]
fn a_sas_drive_tells_what_it_has_written_in_its_own_unit() {
    let found = health(&json!({
        "device": {"protocol": "SCSI"}, "temperature": {"current": 27, "drive_trip": 85},
        "scsi_error_counter_log": {
            "read": {"gigabytes_processed": "0.512", "total_uncorrected_errors": 0},
            "write": {"gigabytes_processed": "292086.584", "total_uncorrected_errors": 0},
            "verify": {"gigabytes_processed": "0.000", "total_uncorrected_errors": 0},
        },
    }));
    assert_eq!(found.host_written, Some(Bytes::new(292_086_584_000_000)));
    assert_eq!((found.host_read, found.temperature_limit), (Some(Bytes::new(512_000_000)), Some(85)));
    assert_eq!(found.origins["host_written_bytes"], "error counter log, in units of 10⁹ B");
}

/// What nvme-cli 2.3 prints of the drive of QEMU 7.2, but for the counts; older and newer versions print numbers.
#[test]
fn nvme_cli_tells_the_same_where_there_is_no_smartctl() {
    let printed = |count: fn(u64) -> Value| {
        json!({"critical_warning": 0, "temperature": 323, "avail_spare": 100, "spare_thresh": 10, "percent_used": 3,
               "data_units_read": count(1), "data_units_written": count(2_000), "power_on_hours": count(7),
               "media_errors": count(0), "num_err_log_entries": count(5), "warning_temp_time": 0})
        .to_string()
    };
    for count in [|count| Value::from(count), |count: u64| Value::from(count.to_string())] {
        let HealthReading::Health(found) = of_nvme_cli(&printed(count), "/dev/nvme0n1") else { panic!("it is a log") };
        assert_eq!((found.temperature, found.wear_percent, found.spare_percent), (Some(50), Some(3.0), Some(100)));
        assert_eq!(found.host_written, Some(Bytes::new(1_024_000_000)));
        assert_eq!((found.uncorrectable, found.error_log_entries, found.passed), (Some(0), Some(5), Some(true)));
    }
    for text in ["", "{}", "[1]", r#"{"temperature": 3}"#] {
        assert!(matches!(of_nvme_cli(text, "/dev/nvme0n1"), HealthReading::Missing(_)), "{text}");
    }
}

#[test]
fn an_nvme_drive_is_asked_by_the_program_that_is_there() {
    use crate::tools::tests::{asked, fake};
    let device = crate::DeviceInfo {
        name: "nvme0n1".to_owned(),
        transport: Some("NVMe".to_owned()),
        ..crate::DeviceInfo::default()
    };
    let folder = tempfile::tempdir().unwrap();
    let read = || smartctl::read(&device, &crate::Tools::within(folder.path()));
    assert!(matches!(read(), HealthReading::Missing(why) if why.contains("`smartctl` is not installed")));
    fake(folder.path(), "nvme", r#"echo '{"critical_warning": 4, "temperature": 323}'"#);
    assert_eq!(read().health().map(|health| health.passed), Some(Some(false)));
    fake(folder.path(), "nvme", "echo 'Permission denied' >&2; exit 1");
    assert!(matches!(read(), HealthReading::Missing(why) if why.contains("Permission denied")));
    fake(folder.path(), "smartctl", &format!("echo '{}'", nvme(2_000, 3, 0, 100)));
    assert_eq!(read().health().and_then(|health| health.wear_percent), Some(3.0));
    assert_eq!(asked(folder.path()).last().unwrap(), "smartctl --json -x /dev/nvme0n1");
}

#[test]
fn a_virtual_device_is_told_with_whose_health_there_is_instead() {
    for (name, made_of, words, other) in [
        ("md0", Some("sda, sdb"), "underlying drives with `smartctl -x`", "socket"),
        ("nbd0", None, "`assay health SOCKET`", "smartctl"),
        (
            "loop0",
            Some("/run/assay/drive-7-8-0"),
            "an attached simulated drive, whose health root can read",
            "smartctl",
        ),
    ] {
        let device = crate::DeviceInfo {
            name: name.to_owned(),
            transport: Some("virtual".to_owned()),
            made_of: made_of.map(str::to_owned),
            ..crate::DeviceInfo::default()
        };
        let environment = crate::Environment { device: Some(device), ..crate::Environment::default() };
        let HealthReading::Missing(said) = of_device(&environment) else { panic!("{name} has no health") };
        assert!(said.contains(name) && said.contains(words) && !said.contains(other), "{said}");
    }
}
