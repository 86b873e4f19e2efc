//! What a configuration of MQSim's is as a drive.

use toml::Value;

use super::super::simulator::drive_text::DriveTable;
use super::super::simulator::field::FieldValues;
use super::super::{Notice, Severity};

/// Of a packet of PCI Express in MQSim, 128 B of payload and 28 B around it (`PCIe_Link.h`).
const PAYLOAD: f64 = 128.0;
const PACKET: f64 = 156.0;
/// What a command sends beside its data, in bytes: doorbell, request for the entry, entry, completion, each in a packet
/// (`Host_Interface_NVMe.cpp`).
const COMMAND: f64 = (2 + 28) as f64 + (4 + 28) as f64 + (64 + 28) as f64 + (16 + 28) as f64;
/// Free blocks of a plane below which MQSim begins collection whatever the file says (`GC_and_WL_Unit_Base.cpp`).
const START_MIN: u64 = 10;
/// The most that `gc.start` can be.
const START_MAX: u64 = 1024;
/// The least that it can be of blocks that wear.
const START_WORN: u64 = 4;
/// Blocks of a plane that writing and collection keep open, beside `gc.start`.
const OPEN_BLOCKS: u64 = 3;

/// The fields of MQSim's configuration that are in force.
#[derive(Clone, Debug)]
pub(super) struct Configuration {
    pub(super) host: FieldValues,
    pub(super) device: FieldValues,
    pub(super) flash: FieldValues,
}

/// The sizes that several tables need.
struct Sizes {
    planes: u64,
    /// Of a plane, as MQSim has them.
    blocks: u64,
    /// Of a plane, of which the host's data takes some.
    of_user: u64,
    /// In bytes.
    block: u64,
    page: u64,
    /// Pages of the host's.
    user_pages: u64,
}

impl Configuration {
    fn sizes(&self) -> Sizes {
        let [channels, chips] = ["Flash_Channel_Count", "Chip_No_Per_Channel"].map(|name| self.device.count(name));
        let [dies, planes, blocks, pages, page] =
            ["Die_No_Per_Chip", "Plane_No_Per_Die", "Block_No_Per_Plane", "Page_No_Per_Block", "Page_Capacity"]
                .map(|name| self.flash.count(name));
        let planes = channels * chips * dies * planes;
        let sectors = blocks.saturating_mul(pages).saturating_mul(page / 512);
        let share = 1.0 - self.device.real("Overprovisioning_Ratio");
        // As in MQSim (`Logical_Address_Partitioning_Unit.cpp`): whole sectors of each plane; whole pages here.
        let of_plane = (sectors as f64 * share) as u64;
        let user_pages = of_plane.saturating_mul(planes) / (page / 512);
        let mut sizes = Sizes { planes, blocks, of_user: 0, block: pages * page, page, user_pages };
        let entries = if self.device.is_on("Ideal_Mapping_Table") { 0 } else { page / self.map_entries(&sizes)[0] };
        let in_flash = user_pages + user_pages.checked_div(entries).map_or(0, |tables| tables + 1);
        sizes.of_user = in_flash.div_ceil(planes).div_ceil(pages);
        sizes
    }

    /// What an entry of the map takes in flash and in MQSim's cache, in bytes: page numbers and a bit for each sector
    /// (`Address_Mapping_Unit_Page_Level.cpp`).
    fn map_entries(&self, sizes: &Sizes) -> [u64; 2] {
        let pages = sizes.planes.saturating_mul(sizes.blocks).saturating_mul(sizes.block / sizes.page).max(2);
        let (number, sectors) = ((pages as f64).log2(), (sizes.page / 512) as f64);
        [number + sectors, 2.0 * number + sectors].map(|bits| (bits / 8.0).ceil() as u64)
    }

    /// The tables of the drive's file.
    pub(super) fn tables(&self, notices: &mut Vec<Notice>) -> Vec<DriveTable> {
        let sizes = self.sizes();
        let mut tables = vec![self.capacity(&sizes, notices), self.geometry(), self.nand(notices), self.controller()];
        tables.extend(self.map(&sizes));
        tables.extend([self.collection(&sizes, notices), self.buffer(&sizes), self.link(), self.wear()]);
        tables.extend([self.suspend(notices), identity()]);
        tables
    }

    fn capacity(&self, sizes: &Sizes, notices: &mut Vec<Notice>) -> DriveTable {
        let user = sizes.user_pages.saturating_mul(sizes.page);
        let blocks = sizes.blocks.max(sizes.of_user + OPEN_BLOCKS + START_WORN);
        let raw = u128::from(sizes.block) * u128::from(blocks) * u128::from(sizes.planes);
        // Rounded down, so that a plane has as many blocks as in MQSim and no more.
        let millionths = (raw * 1_000_000 / u128::from(user.max(1))).saturating_sub(1_000_000);
        let spare = format!("{}.{:04}%", millionths / 10_000, millionths % 10_000);
        let (device, flash) = (&self.device, &self.flash);
        let ratio = device.of("Overprovisioning_Ratio");
        if blocks > sizes.blocks {
            notices.push(ratio.not_honoured(format!(
                "a plane has {} blocks more than in MQSim, which the model needs to write at all; MQSim holds writes for ever below \
                 {START_MIN} free blocks",
                blocks - sizes.blocks
            )));
        }
        let counts = [flash.of("Block_No_Per_Plane"), flash.of("Page_No_Per_Block"), ratio];
        DriveTable::new("capacity")
            .from(
                "user",
                format!("{user} B"),
                &counts,
                "so many blocks of all planes, less the share of the flash that is spare",
            )
            .from("spare", spare, &[ratio], "r of the flash is r / (1 - r) of the capacity")
    }

    fn geometry(&self) -> DriveTable {
        let (device, flash) = (&self.device, &self.flash);
        let [chips, dies, planes] =
            [device.of("Chip_No_Per_Channel"), flash.of("Die_No_Per_Chip"), flash.of("Plane_No_Per_Die")];
        let count = |values: &FieldValues, name| values.count(name) as i64;
        let dies_per_channel = count(device, "Chip_No_Per_Channel") * count(flash, "Die_No_Per_Chip");
        let has_planes = flash.count("Plane_No_Per_Die") > 1;
        DriveTable::new("geometry")
            .from("channels", count(device, "Flash_Channel_Count"), &[device.of("Flash_Channel_Count")], "")
            .from(
                "dies_per_channel",
                dies_per_channel,
                &[chips, dies],
                "chips times dies; MQSim lets one die of a chip work at a time",
            )
            .from("planes", count(flash, "Plane_No_Per_Die"), &[planes], "")
            .from(
                "multi_plane",
                has_planes,
                &[planes],
                "if there are several; MQSim does so where pages of one number are due together",
            )
            .from("page", format!("{} B", flash.count("Page_Capacity")), &[flash.of("Page_Capacity")], "")
            .from("pages_per_block", count(flash, "Page_No_Per_Block"), &[flash.of("Page_No_Per_Block")], "")
    }

    fn nand(&self, notices: &mut Vec<Notice>) -> DriveTable {
        let (device, flash) = (&self.device, &self.flash);
        let ends: &[&str] = match flash.word("Flash_Technology").as_str() {
            "SLC" => &["LSB"],
            "TLC" => &["LSB", "CSB", "MSB"],
            _ => &["LSB", "MSB"],
        };
        let rate = device.count("Channel_Transfer_Rate") * device.count("Flash_Channel_Width");
        notices.extend(self.rounded_rate());
        let mut table = DriveTable::new("nand");
        for (field, by_page, stem) in
            [("read", "read_by_page", "Page_Read_Latency"), ("program", "program_by_page", "Page_Program_Latency")]
        {
            let names: Vec<String> = ends.iter().map(|end| format!("{stem}_{end}")).collect();
            let given: Vec<_> = names.iter().map(|name| flash.of(name)).collect();
            let times: Vec<u64> = names.iter().map(|name| flash.count(name)).collect();
            let mean = times.iter().sum::<u64>() / times.len() as u64;
            table = table.from(field, format!("{mean} ns"), &given, if ends.len() > 1 { "their mean" } else { "" });
            if times.iter().any(|time| *time != times[0]) {
                let shares = times.iter().map(|time| format!("{:.4}%", *time as f64 * 100.0 / mean as f64));
                table = table.from(by_page, shares.map(Value::from).collect::<Vec<_>>(), &given, "shares of the mean");
            }
        }
        let channel = [device.of("Channel_Transfer_Rate"), device.of("Flash_Channel_Width")];
        table
            .from("erase", format!("{} ns", flash.count("Block_Erase_Latency")), &[flash.of("Block_Erase_Latency")], "")
            .from("channel", format!("{rate} MB/s"), &channel, "transfers a second times the width")
            .from("copy_back", device.is_on("Use_Copyback_for_GC"), &[device.of("Use_Copyback_for_GC")], "")
            .guess("keeps_page", false, "MQSim has no such thing: each read senses its page")
            .guess("reads_first", true, "MQSim has no field for it, and serves reads first")
    }

    /// Tells where MQSim's whole nanoseconds make another rate of the channel's.
    fn rounded_rate(&self) -> Option<Notice> {
        let value = self.device.of("Channel_Transfer_Rate");
        let rate = self.device.count("Channel_Transfer_Rate");
        let whole = 1000 / rate.max(1);
        let follows = match whole {
            0 => "transfers take 0 ns in MQSim, which rounds 1000 / rate down to whole ns; here they take their time"
                .to_owned(),
            _ if 1000.0 / whole as f64 <= rate as f64 * 1.02 => return None,
            _ => format!(
                "MQSim rounds 1000 / rate down to whole ns, and transfers at {} MT/s; here the rate is as given",
                1000 / whole
            ),
        };
        let (severity, code) = (Severity::Warning, "mqsim::rounded");
        let message = format!("`{} = {rate}` is another rate in MQSim", value.spec.name);
        let (option, place) = (value.spec.name.to_owned(), value.place.clone());
        Some(Notice { severity, code, option, message, help: Some(follows), place })
    }

    fn controller(&self) -> DriveTable {
        let device = &self.device;
        let is_sata = self.is_sata();
        let [depth, fetch] = ["IO_Queue_Depth", "Queue_Fetch_Size"].map(|name| device.count(name));
        let (queue, given) = match is_sata {
            true => (depth, vec![device.of("IO_Queue_Depth")]),
            false => (depth.min(fetch), vec![device.of("Queue_Fetch_Size"), device.of("IO_Queue_Depth")]),
        };
        let how = if is_sata { "" } else { "the less of both; of each flow in MQSim, of all jobs here" };
        let dram: Vec<_> = ["Row_Size", "Data_Rate", "Data_Busrt_Size", "tRCD", "tCL", "tRP"]
            .iter()
            .map(|name| device.of(&format!("Data_Cache_DRAM_{name}")))
            .collect();
        let memory =
            "MQSim's time of its one memory for a page, which writes take turns at; for a part of a page too here";
        DriveTable::new("controller")
            .from("queue_depth", queue as i64, &given, how)
            .guess("cores", 2, "MQSim's firmware takes no time; one is for writes, which wait for the memory")
            .guess("write_cores", 1, "the memory has one channel")
            .guess("command", "0 ns", "MQSim's firmware takes no time")
            .guess("retire", "0 ns", "MQSim's firmware takes no time")
            .from("page_write", format!("{} ns", self.memory_time()), &dram, memory)
    }

    /// How long a page takes into the memory, in nanoseconds (`Data_Cache_Manager_Base.h`).
    fn memory_time(&self) -> u64 {
        let count = |name: &str| self.device.count(&format!("Data_Cache_DRAM_{name}"));
        let (row, burst) = (count("Row_Size"), count("Data_Busrt_Size"));
        let page = self.flash.count("Page_Capacity");
        let rows = page.div_ceil(row).max(1);
        // MQSim moves two bursts in each cycle of the given rate.
        let data = page as f64 / (2 * burst) as f64 * 1000.0 / count("Data_Rate") as f64;
        let opening = rows * (count("tRCD") + count("tCL")) + (rows - 1) * count("tRP");
        (data as u64).saturating_add(opening).min(100_000_000)
    }

    fn is_sata(&self) -> bool {
        self.device.word("HostInterface_Type") == "SATA"
    }

    /// The map, where not all of it is in memory.
    fn map(&self, sizes: &Sizes) -> Option<DriveTable> {
        let device = &self.device;
        if device.is_on("Ideal_Mapping_Table") {
            return None;
        }
        let [entry, cached] = self.map_entries(sizes);
        let capacity = device.count("CMT_Capacity");
        let lookup = (capacity / cached).saturating_mul(entry).min(16 << 30);
        let given = device.of("CMT_Capacity");
        let flash = &self.flash;
        let layout = [flash.of("Page_Capacity"), flash.of("Block_No_Per_Plane"), flash.of("Page_No_Per_Block")];
        let bits = "bits of a page's number and one for each sector";
        Some(
            DriveTable::new("map")
                .from("cache", format!("{} B", capacity.max(sizes.page)), &[given], "for changed entries")
                .from("entry", format!("{entry} B"), &layout, bits)
                .from("extent", format!("{cached} B"), &layout, "two numbers and one bit for each sector")
                .from("lookup", format!("{lookup} B"), &[given], "tables of as many entries as MQSim's cache holds"),
        )
    }

    fn collection(&self, sizes: &Sizes, notices: &mut Vec<Notice>) -> DriveTable {
        let (device, flash) = (&self.device, &self.flash);
        let policy = device.of("GC_Block_Selection_Policy");
        let threshold = device.of("GC_Exec_Threshold");
        let asked = (device.real("GC_Exec_Threshold") * sizes.blocks as f64) as u64;
        let room = sizes.blocks.saturating_sub(sizes.of_user + OPEN_BLOCKS).clamp(START_WORN, START_MAX);
        let start = asked.max(START_MIN).min(room);
        if start < asked.max(START_MIN) {
            notices.push(threshold.not_honoured(format!(
                "collection begins at {start} free blocks of a plane, the most that the spare flash leaves beside the data; \
                 MQSim holds writes for ever below {START_MIN}"
            )));
        }
        let word = device.word("GC_Block_Selection_Policy");
        let name = match word.as_str() {
            "GREEDY" => "greedy",
            "FIFO" => "fifo",
            "RGA" => "choices",
            _ => "random",
        };
        if word == "RANDOM_PP" {
            notices.push(policy.not_honoured("full blocks are drawn, however many of their pages are stale"));
        }
        let mut table = DriveTable::new("gc").from("policy", name, &[policy], "");
        if name == "choices" {
            let choices = sizes.blocks.max(2).ilog2().max(1);
            table = table.from(
                "choices",
                i64::from(choices),
                &[flash.of("Block_No_Per_Plane")],
                "log2 of it, as MQSim has RGA",
            );
        }
        let how = format!("times the blocks of a plane, and {START_MIN} at least");
        table.from("start", start as i64, &[threshold, flash.of("Block_No_Per_Plane")], &how)
    }

    fn buffer(&self, sizes: &Sizes) -> DriveTable {
        let device = &self.device;
        let capacity = device.of("Data_Cache_Capacity");
        // The buffer holds its partial page, what is programmed together, and more.
        let least = 3;
        let pages = (device.count("Data_Cache_Capacity") / sizes.page).min(sizes.planes).clamp(least, 1 << 24);
        DriveTable::new("buffer")
            .from(
                "size",
                format!("{} B", pages * sizes.page),
                &[capacity],
                "and a page for each plane at most, which is what MQSim sends to flash at a time",
            )
            .guess("partial", format!("{} B", sizes.page), "MQSim joins no parts of pages")
            .guess("serves_reads", true, "MQSim has no field for it, and reads what it has")
    }

    fn link(&self) -> DriveTable {
        let host = &self.host;
        let [lane, lanes] = [host.of("PCIe_Lane_Bandwidth"), host.of("PCIe_Lane_Count")];
        let raw = host.real("PCIe_Lane_Bandwidth") * 1e9 * host.count("PCIe_Lane_Count") as f64;
        let rate = (raw * PAYLOAD / PACKET) as u64;
        let table = DriveTable::new("link")
            .from("rate", format!("{rate} B/s"), &[lane, lanes], "128 of the 156 B of each packet")
            .guess("frame", "128 B", "a packet's payload in MQSim")
            .guess("frame_overhead", "0 ns", "in the rate");
        if self.is_sata() {
            let delay = host.of("SATA_Processing_Delay");
            let time = format!("{} ns", host.count("SATA_Processing_Delay"));
            let how = "once for each command; in MQSim also for each completion";
            return table.from("command", time, &[delay], how).guess("duplex", false, "SATA sends one way at a time");
        }
        let command = (COMMAND * 1e9 / raw).round() as u64;
        table
            .from(
                "command",
                format!("{} ns", command.min(100_000_000)),
                &[lane, lanes],
                "the 198 B of a command's doorbell, entry and completion",
            )
            .guess("duplex", true, "PCI Express sends both ways")
    }

    fn wear(&self) -> DriveTable {
        let device = &self.device;
        let [dynamic, fixed, threshold] =
            ["Dynamic_Wearleveling_Enabled", "Static_Wearleveling_Enabled", "Static_Wearleveling_Threshold"];
        let limit = self.flash.count("Block_PE_Cycles_Limit") as i64;
        let table = DriveTable::new("wear")
            .from("rated_erases", limit, &[self.flash.of("Block_PE_Cycles_Limit")], "")
            .guess("reserve", "0%", "MQSim's blocks do not fail")
            .from("least_worn_first", device.is_on(dynamic), &[device.of(dynamic)], "");
        if !device.is_on(fixed) {
            return table;
        }
        table.from("spread_max", device.count(threshold) as i64, &[device.of(fixed), device.of(threshold)], "")
    }

    /// Reads before what a die has not begun, and what is suspended for them.
    fn suspend(&self, notices: &mut Vec<Notice>) -> DriveTable {
        let flash = &self.flash;
        let support = flash.of("CMD_Suspension_Support");
        let word = flash.word("CMD_Suspension_Support");
        let (programs, erases) = (word.starts_with("PROGRAM"), word.ends_with("ERASE"));
        if programs || erases {
            let (severity, code) = (Severity::Note, "mqsim::suspension");
            let message = format!("`{} = {word}`: MQSim never suspends", support.spec.name);
            let help =
                "its scheduler returns before it does; with `suspend.limit = 0` the drive does not either".to_owned();
            let (option, place) = (support.spec.name.to_owned(), support.place.clone());
            notices.push(Notice { severity, code, option, message, help: Some(help), place });
        }
        let [program, erase] = ["Suspend_Program_Time", "Suspend_Erase_Time"].map(|name| flash.of(name));
        let latency = if erases && !programs { erase } else { program };
        let whole = |name: &str| format!("{} ns", flash.count(name));
        let step = |is_suspended: bool, whole: String| if is_suspended { "1 us".to_owned() } else { whole };
        let how = |is_suspended: bool| if is_suspended { "at once" } else { "not before its end" };
        DriveTable::new("suspend")
            .from("program_step", step(programs, whole("Page_Program_Latency_LSB")), &[support], how(programs))
            .from("erase_step", step(erases, whole("Block_Erase_Latency")), &[support], how(erases))
            .from(
                "latency",
                whole(latency.spec.name),
                &[latency],
                if programs && erases { "of both kinds" } else { "" },
            )
            .from("limit", i64::from(programs || erases), &[support], "MQSim suspends no operation twice")
    }
}

fn identity() -> DriveTable {
    DriveTable::new("smart")
        .guess("model", "MQSim", "MQSim's drives have no names")
        .guess("firmware", "1", "MQSim's drives have no names")
        .guess("attributes", "nvme", "what drives of its kind have")
}
