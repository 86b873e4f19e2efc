use std::path::Path;

use block::Bytes;
use drive::preset::Preset;

use super::*;
use crate::import::{Notice, Severity, render};
use crate::{PlanLength, parse};

/// MQSim's own configuration with these changes, of which an empty text takes a field away.
fn configuration(changes: &[(&str, &str)]) -> String {
    const HOST: &[(&str, &str)] = &[("PCIe_Lane_Bandwidth", "1.0"), ("PCIe_Lane_Count", "4")];
    const DEVICE: &[(&str, &str)] = &[
        ("Enabled_Preconditioning", "false"),
        ("Ideal_Mapping_Table", "true"),
        ("Preemptible_GC_Enabled", "false"),
        ("Channel_Transfer_Rate", "333"),
        ("GC_Block_Selection_Policy", "RGA"),
    ];
    const FLASH: &[(&str, &str)] = &[("CMD_Suspension_Support", "NONE"), ("Block_No_Per_Plane", "2048")];
    let element = |(name, value): &(&str, &str)| {
        let changed = changes.iter().find(|(changed, _)| changed == name).map_or(*value, |(_, value)| value);
        if changed.is_empty() { String::new() } else { format!("<{name}>{changed}</{name}>\n") }
    };
    let section = |fields: &[(&str, &str)]| fields.iter().map(element).collect::<String>();
    let is_known = |name: &str| [HOST, DEVICE, FLASH].iter().any(|all| all.iter().any(|(known, _)| *known == name));
    let added: Vec<(&str, &str)> = changes.iter().filter(|(name, _)| !is_known(name)).copied().collect();
    let of_flash = |name: &str| super::device_fields::FLASH.iter().any(|spec| spec.name == name);
    let of_host = |name: &str| super::device_fields::HOST.iter().any(|spec| spec.name == name);
    let [mut host, mut device, mut flash] = [section(HOST), section(DEVICE), section(FLASH)];
    for field in &added {
        let place = if of_flash(field.0) {
            &mut flash
        } else if of_host(field.0) {
            &mut host
        } else {
            &mut device
        };
        *place += &element(field);
    }
    format!(
        "<?xml version=\"1.0\" encoding=\"us-ascii\"?>\n<Execution_Parameter_Set>\n<Host_Parameter_Set>\n{host}</Host_Parameter_Set>\n\
         <Device_Parameter_Set>\n{device}<Flash_Parameter_Set>\n{flash}</Flash_Parameter_Set>\n</Device_Parameter_Set>\n\
         </Execution_Parameter_Set>\n"
    )
}

const FLOW: &str = "<IO_Flow_Parameter_Set_Synthetic>
<Priority_Class>HIGH</Priority_Class>
<Device_Level_Data_Caching_Mode>WRITE_CACHE</Device_Level_Data_Caching_Mode>
<Channel_IDs>0,1</Channel_IDs>
<Chip_IDs>0,1</Chip_IDs>
<Die_IDs>0,1</Die_IDs>
<Plane_IDs>0,1</Plane_IDs>
<Initial_Occupancy_Percentage>75</Initial_Occupancy_Percentage>
<Working_Set_Percentage>50</Working_Set_Percentage>
<Synthetic_Generator_Type>QUEUE_DEPTH</Synthetic_Generator_Type>
<Read_Percentage>0</Read_Percentage>
<Address_Distribution>RANDOM_UNIFORM</Address_Distribution>
<Percentage_of_Hot_Region>10</Percentage_of_Hot_Region>
<Generated_Aligned_Addresses>true</Generated_Aligned_Addresses>
<Address_Alignment_Unit>16</Address_Alignment_Unit>
<Request_Size_Distribution>FIXED</Request_Size_Distribution>
<Average_Request_Size>8</Average_Request_Size>
<Variance_Request_Size>0</Variance_Request_Size>
<Seed>798</Seed>
<Average_No_of_Reqs_in_Queue>16</Average_No_of_Reqs_in_Queue>
<Bandwidth>409600</Bandwidth>
<Stop_Time>1000000000</Stop_Time>
<Total_Requests_To_Generate>0</Total_Requests_To_Generate>
</IO_Flow_Parameter_Set_Synthetic>
";

const TRACE: &str = "<IO_Flow_Parameter_Set_Trace_Based>
<Priority_Class>HIGH</Priority_Class>
<Device_Level_Data_Caching_Mode>WRITE_CACHE</Device_Level_Data_Caching_Mode>
<Channel_IDs>0</Channel_IDs>
<Chip_IDs>0</Chip_IDs>
<Die_IDs>0</Die_IDs>
<Plane_IDs>0</Plane_IDs>
<Initial_Occupancy_Percentage>70</Initial_Occupancy_Percentage>
<File_Path>traces/a.trace</File_Path>
<Percentage_To_Be_Executed>100</Percentage_To_Be_Executed>
<Relay_Count>1</Relay_Count>
<Time_Unit>NANOSECOND</Time_Unit>
</IO_Flow_Parameter_Set_Trace_Based>
";

/// The synthetic flow with these changes.
fn flow(changes: &[(&str, &str)]) -> String {
    let lines = FLOW.lines().map(|line| {
        let changed = changes.iter().find(|(name, _)| line.starts_with(&format!("<{name}>")));
        changed.map_or(line.to_owned(), |(name, value)| format!("<{name}>{value}</{name}>")) + "\n"
    });
    lines.collect()
}

fn scenarios(flows: &[String]) -> String {
    format!("<MQSim_IO_Scenarios><IO_Scenario>\n{}</IO_Scenario></MQSim_IO_Scenarios>", flows.concat())
}

fn read(text: &str) -> Import {
    import(Path::new("file.xml"), text, None)
}

fn told(import: &Import) -> String {
    render(&import.notices, &import.sources, false)
}

fn drive_text(text: &str) -> String {
    let import = read(text);
    match &import.imported {
        Imported::Drive(text) => text.clone(),
        other => panic!("{other:?}: {}", told(&import)),
    }
}

fn plan(text: &str) -> String {
    let import = read(text);
    let Imported::Plan(scenarios) = &import.imported else { panic!("{}", told(&import)) };
    let plan = plan_text(scenarios, &import.notices, Path::new("file.xml"));
    parse(&plan, PlanLength::Full, &[]).unwrap_or_else(|mistakes| panic!("{mistakes:?}\n{plan}"));
    plan
}

fn worst(import: &Import) -> &Notice {
    import.notices.iter().max_by_key(|notice| notice.severity).expect("something is told")
}

#[test]
fn mqsims_defaults_become_the_drive_that_they_describe() {
    let text = drive_text(&configuration(&[]));
    for line in [
        "channels = 8",
        "dies_per_channel = 8",
        "planes = 2",
        "page = \"8192 B\"",
        "read = \"75000 ns\"",
        "program = \"750000 ns\"",
        "channel = \"333 MB/s\"",
        "policy = \"choices\"",
        "choices = 11",
        "start = 102",
        "queue_depth = 512",
        "duplex = true",
        "size = \"1048576 B\"",
    ] {
        assert!(text.lines().any(|found| found == line), "{line}\n{text}");
    }
    // 128 planes of 4 GiB less 7 %, in whole sectors of each plane and whole pages; and all the flash that MQSim has.
    let preset = Preset::parse(&text).unwrap();
    let user = 128 * (2048 * 256 * 16 * 93 / 100) / 16 * 8192;
    assert_eq!(preset.capacity(), Bytes::new(user));
    let facts = format!("{:?}", preset.facts());
    assert!(facts.contains("512 GiB of flash"), "{facts}");
}

#[test]
fn every_table_says_which_fields_it_is_from_and_what_is_a_default_or_a_guess() {
    let text = drive_text(&configuration(&[("Flash_Channel_Count", "4")]));
    assert!(text.contains("channels: Flash_Channel_Count (line 13)"), "{text}");
    assert!(text.contains("Chip_No_Per_Channel (MQSim's default 4)"), "{text}");
    assert!(text.contains("reads_first: guess, MQSim has no field for it"), "{text}");
}

#[test]
fn page_types_are_shares_of_their_mean_and_a_map_in_flash_has_mqsims_entries() {
    let text = drive_text(&configuration(&[
        ("Flash_Technology", "TLC"),
        ("Page_Read_Latency_CSB", "105000"),
        ("Ideal_Mapping_Table", "false"),
    ]));
    assert!(text.contains("read = \"85000 ns\"") && text.contains("read_by_page = [\"88.2353%\", "), "{text}");
    // The numbers of 67 million pages have 26 bits, and 16 sectors one each: 42 bits, with two numbers 68.
    assert!(text.contains("entry = \"6 B\"") && text.contains("extent = \"9 B\""), "{text}");
    assert!(text.contains("lookup = \"1398096 B\""), "233,016 entries of 9 B:\n{text}");
}

#[test]
fn suspension_is_taken_over_with_what_mqsim_does_not_do() {
    let text = configuration(&[("CMD_Suspension_Support", "ERASE")]);
    assert!(told(&read(&text)).contains("MQSim never suspends"));
    let text = drive_text(&text);
    assert!(text.contains("erase_step = \"1 us\"") && text.contains("program_step = \"750000 ns\""), "{text}");
    let text = drive_text(&configuration(&[]));
    assert!(text.contains("limit = 0"), "nothing is suspended:\n{text}");
}

#[test]
fn what_mqsim_has_and_the_model_has_not_is_told_with_its_line() {
    for (name, value, words) in [
        ("Plane_Allocation_Scheme", "PCWD", "a page goes to the next channel"),
        ("Transaction_Scheduling_Policy", "FLIN", "flows have no priorities"),
        ("Address_Mapping", "HYBRID", "the map is one of pages"),
        ("CMT_Sharing_Mode", "EQUAL_PARTITIONING", "share the one cache of the map"),
        ("Preemptible_GC_Enabled", "true", "a few pages for each"),
        ("GC_Block_Selection_Policy", "RANDOM_PP", "however many of their pages are stale"),
        ("Channel_Transfer_Rate", "300", "transfers at 333 MT/s"),
        ("Channel_Transfer_Rate", "1200", "transfers take 0 ns in MQSim"),
        ("Flash_Chanel_Count", "4", "did you mean `Flash_Channel_Count`?"),
        ("Data_Cache_DRAM_Data_Burst_Size", "4", "did you mean `Data_Cache_DRAM_Data_Busrt_Size`?"),
    ] {
        let import = read(&configuration(&[(name, value)]));
        let found: Vec<&Notice> = import.notices.iter().filter(|notice| notice.severity == Severity::Warning).collect();
        let [only] = &found[..] else { panic!("{name}: {}", told(&import)) };
        assert!(only.to_string().contains(words), "{name}: {only}");
        let line = import.sources[0].text.lines().nth(only.place.line - 1).unwrap();
        assert!(line.contains(&format!("<{name}>{value}")), "{name}: line {} is {line}", only.place.line);
        let Imported::Drive(text) = import.imported else { panic!("{name} is refused") };
        assert!(text.contains(words), "{name} is not in the file's comments");
    }
}

#[test]
fn spare_flash_that_leaves_no_room_for_collection_is_told() {
    let import = read(&configuration(&[("Block_No_Per_Plane", "128"), ("Overprovisioning_Ratio", "0.08")]));
    assert!(told(&import).contains("collection begins at 7 free blocks"), "{}", told(&import));
    let import = read(&configuration(&[("Block_No_Per_Plane", "16"), ("Overprovisioning_Ratio", "0.01")]));
    assert!(told(&import).contains("a plane has 7 blocks more than in MQSim"), "{}", told(&import));
    assert!(matches!(import.imported, Imported::Drive(_)));
}

#[test]
fn what_a_field_cannot_be_is_refused_with_what_would_be_right() {
    for (name, value, words) in [
        ("Flash_Channel_Count", "0", "give a whole number from 1 to 1024"),
        ("Flash_Channel_Count", "-8", "give a whole number"),
        ("Flash_Channel_Count", "8channels", "`8channels`"),
        ("Flash_Channel_Count", "18446744073709551616", "from 1 to 1024"),
        ("Flash_Channel_Count", " ", "is nothing"),
        ("Overprovisioning_Ratio", "NaN", "give a number from 0 to 0.99"),
        ("Overprovisioning_Ratio", "1e308", "give a number from 0 to 0.99"),
        ("Overprovisioning_Ratio", "-0.1", "give a number from 0 to 0.99"),
        ("Page_Read_Latency_LSB", "75", "from 500 to 10000000"),
        ("Page_Capacity", "6000", "a page is"),
        ("Block_No_Per_Plane", "16777216", "makes no drive"),
        ("Ideal_Mapping_Table", "yes", "give `true` or `false`"),
        ("Flash_Technology", "QLC", "give one of SLC, MLC, TLC"),
        ("Memory_Type", "PCM", "give one of FLASH"),
        ("Seed", "12</Seed><Seed>13", "is given twice, first in line"),
    ] {
        let import = read(&configuration(&[(name, value)]));
        assert!(import.is_refused(), "{name} = {value}");
        assert!(told(&import).contains(words), "{name} = {value}: {}", told(&import));
        assert!(told(&import).contains("--> file.xml:"), "{}", told(&import));
    }
}

#[test]
fn hostile_xml_is_refused_where_it_stands() {
    let deep = "<a>".repeat(200_000);
    let wide = format!("<Execution_Parameter_Set>{}</Execution_Parameter_Set>", "<a/>".repeat(200_000));
    for (text, words) in [
        ("<!DOCTYPE a [<!ENTITY b \"c\">]><Execution_Parameter_Set/>", "a document type is not read"),
        ("<!DOCTYPE a SYSTEM \"file:///etc/passwd\"><Execution_Parameter_Set/>", "a document type is not read"),
        ("<Execution_Parameter_Set>&b;</Execution_Parameter_Set>", "this is no XML"),
        ("<Execution_Parameter_Set>", "this is no XML"),
        ("<Execution_Parameter_Set></Host>", "this is no XML"),
        ("<", "this is no XML"),
        ("<MQSim_Results/>", "these are results"),
        ("<html/>", "`html` is no file of MQSim's"),
        ("<MQSim_IO_Scenarios/>", "there is no scenario"),
        ("<MQSim_IO_Scenarios><IO_Scenario/></MQSim_IO_Scenarios>", "the scenario has no flow"),
        ("<MQSim_IO_Scenarios><IO_Scenario><Flow/></IO_Scenario></MQSim_IO_Scenarios>", "`Flow` is no flow"),
        (&*deep, "this is no XML"),
        (&*wide, "this is no XML"),
    ] {
        let import = read(text);
        let shown: String = told(&import).chars().take(400).collect();
        assert!(import.is_refused() && shown.contains(words) && shown.contains("--> file.xml:"), "{shown}");
    }
    assert!(told(&read("<a>\n  &b;\n</a>")).contains("--> file.xml:2:3"));
}

#[test]
fn a_flow_becomes_a_step_and_several_become_jobs_of_their_own_addresses() {
    let alone = plan(&scenarios(&[flow(&[])]));
    for line in [
        "rw = \"randwrite\"",
        "bs = \"4k\"",
        "iodepth = \"16\"",
        "size = \"50%\"",
        "blockalign = \"8k\"",
        "runtime = \"1s\"",
    ] {
        assert!(alone.lines().any(|found| found == line), "{line}\n{alone}");
    }
    assert!(alone.contains("size = \"75%\"") && alone.contains("keep-state = true"), "the layout:\n{alone}");
    let both = plan(&scenarios(&[flow(&[]), flow(&[("Read_Percentage", "70")])]));
    assert_eq!(both.matches("[[step.job]]").count(), 4, "two to write first, two that are measured:\n{both}");
    assert!(
        both.contains("offset = \"50%\"") && both.contains("size = \"25%\"") && both.contains("rwmixread = \"70\""),
        "{both}"
    );
    let apart = scenarios(&[flow(&[]), flow(&[("Channel_IDs", "2,3")])]);
    assert!(told(&read(&apart)).contains("in MQSim this flow has planes that others have not"));
    let third = scenarios(&[flow(&[]), flow(&[]), flow(&[])]);
    assert!(told(&read(&third)).contains("rounded to whole percent"));
    let exact = import(Path::new("file.xml"), &third, Some(Bytes::from_gib(3)));
    let Imported::Plan(exact) = exact.imported else { panic!() };
    assert_eq!(exact[0].jobs[2].workload.offset, Bytes::from_gib(2));
}

#[test]
fn distributions_rates_and_ends_are_mqsims() {
    let made = |changes: &[(&str, &str)]| {
        let Imported::Plan(scenarios) = read(&scenarios(&[flow(changes)])).imported else { panic!("{changes:?}") };
        scenarios[0].jobs[0].workload.clone()
    };
    let hot = made(&[("Address_Distribution", "RANDOM_HOTCOLD")]);
    assert_eq!(hot.distribution.to_string(), "zoned:90/10:10/90");
    let stream = made(&[("Address_Distribution", "STREAMING")]);
    assert_eq!(stream.skip, Bytes::from_kib(4), "the next request is at the next 8 KiB");
    let open = made(&[("Synthetic_Generator_Type", "BANDWIDTH")]);
    assert_eq!(open.arrival.rate, 100, "409,600 B/s in requests of 4 KiB");
    let counted = made(&[("Stop_Time", "0"), ("Total_Requests_To_Generate", "500")]);
    assert_eq!((counted.stop.time, counted.stop.requests), (None, Some(500)));
    let durable = made(&[("Device_Level_Data_Caching_Mode", "TURNED_OFF")]);
    assert!(durable.durable && !hot.durable);
    let normal = made(&[("Request_Size_Distribution", "NORMAL"), ("Variance_Request_Size", "2")]);
    let sizes = normal.sizes.unwrap();
    let sizes = sizes.of(block::Op::Write);
    let mean: f64 = sizes.iter().map(|entry| entry.size.get() as f64 / 512.0 * f64::from(entry.percent) / 100.0).sum();
    // Rounding up adds half a sector.
    assert!((mean - 8.5).abs() < 0.1, "{mean}");
    assert_eq!(sizes.iter().map(|entry| u32::from(entry.percent)).sum::<u32>(), 100);
    let endless = read(&scenarios(&[flow(&[("Stop_Time", "0")])]));
    assert_eq!(worst(&endless).code, "mqsim::endless");
}

#[test]
fn a_trace_is_replayed_from_the_folder_of_the_plan() {
    let text = plan(&scenarios(&[TRACE.to_owned()]));
    assert!(text.contains("read_iolog = \"traces/a.trace\""), "{text}");
    assert!(text.contains("replay_format = \"time_ns,volume,offset_sectors,size_sectors,is_read\""), "{text}");
    for path in ["/etc/passwd", "../../a.trace"] {
        let import = read(&scenarios(&[TRACE.replace("traces/a.trace", path)]));
        assert!(!import.is_refused() && told(&import).contains("--allow-path"), "{path}: {}", told(&import));
    }
}

#[test]
fn a_tag_that_closes_as_mqsim_has_it_is_taken_as_it_is_meant() {
    let import = read(&scenarios(&[flow(&[]).replace("</Seed>", "</<Seed>")]));
    assert!(!import.is_refused() && told(&import).contains("`</<` is taken for `</`"), "{}", told(&import));
}

#[test]
fn whatever_is_cut_out_or_put_in_is_refused_or_makes_what_can_be_used() {
    let whole = [configuration(&[("Ideal_Mapping_Table", "false")]), scenarios(&[flow(&[]), TRACE.to_owned()])];
    let put = ["", "0", "-", "999999999999", "<", "</<", "&#0;", "NaN", "é", "]]>", "<!--"];
    let mut count = [0; 2];
    for (text, (at, put)) in
        whole.iter().flat_map(|text| (0..text.len()).step_by(5).zip(put.iter().cycle()).map(move |at| (text, at)))
    {
        for length in [0, 1, 7] {
            let end = (at + length).min(text.len());
            let changed = format!("{}{put}{}", &text[..at], &text[end..]);
            let import = import(Path::new("file.xml"), &changed, None);
            count[usize::from(import.is_refused())] += 1;
            assert!(!told(&import).is_empty() || !import.is_refused());
            match &import.imported {
                Imported::Drive(text) => drop(Preset::parse(text).unwrap()),
                Imported::Plan(scenarios) => {
                    let plan = plan_text(scenarios, &import.notices, Path::new("file.xml"));
                    assert!(parse(&plan, PlanLength::Full, &[]).is_ok(), "{plan}");
                }
                Imported::Nothing => assert!(import.is_refused(), "{changed}"),
            }
        }
    }
    assert!(count.iter().all(|count| *count > 50), "{count:?}");
}
