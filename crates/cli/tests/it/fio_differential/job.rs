//! Job files: those that are made at random, and those that show one detail.

use testkit::Random;

/// A job file of some sections, and the files that are there before.
#[derive(Clone, Debug, Default)]
pub struct JobText {
    pub sections: Vec<Section>,
    /// Name and length in bytes.
    pub files: Vec<(String, u64)>,
}

/// A section: its name, and options with their values in order.
#[derive(Clone, Debug, Default)]
pub struct Section {
    pub name: String,
    pub options: Vec<(String, String)>,
}

/// Details in which assay once differed from fio 3.33. `f` is a file of 1 MiB where the options name it.
pub const DETAILS: &[&str] = &[
    "rw=rw size=64k",
    "rw=read:8k bs=16k size=128k",
    "rw=read:16k bs=16k size=128k",
    "rw=read:16k bs=16k size=128k filename=f",
    "rw=read:8k bs=16k size=128k filename=f",
    "rw=read:8k bs=16k size=128k filename=f io_size=256k",
    "rw=read:8k bs=16k size=128k io_size=256k",
    "rw=read:4k bs=16k size=100k",
    "rw=read:512k bs=1m size=8m",
    "rw=read:-8k bs=4k size=64k",
    "rw=randread:8 bs=4k size=128k",
    "rw=read bs=4k size=10k",
    "rw=read bs=4k size=10k filename=f",
    "rw=read bs=4k size=10k loops=3",
    "rw=read bs=4k size=64k io_size=10k",
    "rw=read bs=4k size=64k io_size=100k loops=2",
    "rw=randread bs=4k size=64k io_size=150k norandommap=1",
    "rw=read bs=64k filename=f",
    "rw=read bs=64k filename=f size=50% offset=75%",
    "rw=read bs=64k filename=f size=50% offset=33%",
    "rw=read bs=64k filename=f size=100% offset=256k",
    "rw=read bs=64k filename=f size=200%",
    "rw=read bs=4k filename=f size=16k numjobs=3 offset_increment=10%",
    "rw=randrw bssplit=4k/50:8k/50, size=256k",
    "rw=randrw bssplit=,4k/50:8k/50 size=256k",
    "rw=randread norandommap=1 bssplit=4k/10:8k/20 size=1m",
    "rw=randread norandommap=1 bssplit=4k-16k/10:8k/20:16k size=1m",
    "rw=randread norandommap=1 bssplit=4k/80:8k/80 size=1m",
    "rw=read bssplit=4k/50:64k/50 size=256k",
    "rw=read bsrange=4k-16k size=256k",
    "rw=randrw bs=8k, size=256k",
    "rw=randrw bs=,8k size=256k",
    "rw=randwrite bs=4k size=64k rate_iops=1,",
    "rw=randread bs=64k size=128k numjobs=4 group_reporting=1 filename=f",
    "rw=write bs=64k size=1m numjobs=3",
    "rw=read bs=64k size=1m numjobs=3 filename=f",
    "rw=write bs=16k size=64k end_fsync=1",
    "rw=write bs=16k size=64k fsync_on_close=1",
    "rw=write bs=16k size=64k fsync=2 end_fsync=1",
    "rw=write bs=16k size=64k fsync=3 end_fsync=1",
    "rw=randwrite bs=4k size=64k end_fsync=1 number_ios=7",
    "rw=randrw bs=4k size=256k end_fsync=1",
    "rw=read bs=16k size=64k end_fsync=1",
    "rw=write bs=4k size=64k end_fsync=1 ioengine=libaio iodepth=4",
    "rw=randread bs=4k size=1m random_distribution=normal:10 norandommap=1",
    "rw=write bs=16k size=64k fsync=2",
    "rw=randwrite bs=4k size=64k fsync=3 number_ios=7",
    "rw=randread bs=4k size=256k random_distribution=normal",
    "rw=randread bs=4k size=256k random_distribution=normal:20",
    "rw=randread bs=4k size=256k random_distribution=zipf:1.2:0.5",
    "rw=read bs=4k size=64k thinktime=100us thinktime_blocks=4 iodepth=8 ioengine=libaio direct=1",
    "rw=read bs=4k size=64k rate_iops=2000 thinktime=100us",
    "rw=read bs=4k size=64k percentile_list=50:99.9",
    "rw=read bs=4k size=64k percentile_list=x",
    "rw=randread bs=4k size=256k percentage_random=50",
    "rw=randread bs=4k ba=4k size=256k",
    "rw=randread bs=8k ba=4k size=256k",
    "rw=read bs=8k size=4k",
    "rw=read bs=4k size=64k number_ios=5 loops=2",
    "rw=write bs=4k size=64k numjobs=3 offset_increment=64k",
    "rw=read bssplit=4k:16k size=10k loops=0",
    "rw=randwrite bs=4k,8k size=50k offset=4k",
    "rw=randwrite bs=,8k size=50k norandommap=1 random_distribution=pareto:0.3",
    "rw=read:12k bssplit=4k:8k:16k size=64k",
    "rw=rw:8k bs=8k size=128k",
    "rw=randrw bs=4k size=256k fsync=4",
    "rw=randread bs=4k size=1m number_ios=300 rate_iops=400 ramp_time=500ms",
    "rw=write bs=8k size=64k io_size=50% loops=2",
    "rw=write bs=8k size=64k io_size=50% loops=2 ioengine=libaio iodepth=4",
    "rw=write bs=8k size=64k io_size=50% ioengine=libaio filename=f",
    "rw=write:8k bs=8k size=64k io_size=50% loops=2 ioengine=libaio",
    "rw=randwrite bs=8k size=64k io_size=50% loops=2 ioengine=libaio",
    "rw=rw bs=4k size=64k loops=2 ioengine=libaio",
    "rw=rw bs=8k size=64k io_size=300k",
    "rw=write bs=8k filesize=64k size=32k loops=2",
    "rw=randread bs=4k filesize=256k size=64k",
    "rw=randread bs=4k filesize=256k size=50%",
    "rw=read bs=4k filesize=64k offset=16k",
    "rw=randwrite bs=12k size=256k blockalign=8k",
    "rw=randwrite bs=4k size=64k blockalign=8k random_distribution=zipf:1.2",
    "rw=write:4k bs=4k size=64k numjobs=3 offset_increment=64k filename=new",
    "rw=write bs=12k filename=f numjobs=2 offset_increment=64k",
    "rw=randwrite bs=4k filename=f numjobs=2 offset_increment=16k",
    "rw=write bs=12k size=100k fdatasync=4",
    "rw=randwrite bs=4k size=64k loops=3 fsync=8",
    "rw=write bs=4k size=64k loops=3 end_fsync=1",
    "rw=write bs=4k size=64k fdatasync=4 ioengine=libaio iodepth=16",
    "rw=write bssplit=4k/60:8k/,16k size=10k",
    "rw=read bsrange=4k-16k size=10k io_size=64k",
    "rw=write:8k bs=512 size=64k numjobs=3 offset_increment=16k",
    "rw=randread bs=12k size=256k random_distribution=pareto:0.3",
    "rw=read:8k bs=12k size=64k numjobs=3 offset_increment=64k filename=new",
    "rw=randwrite bs=16k size=100k percentage_random=0 blockalign=8k",
    "rw=randwrite bs=16k size=100k percentage_random=50 blockalign=8k",
    "rw=randrw bs=4k size=256k percentage_random=100,0",
    "rw=randrw bs=8k size=100k percentage_random=20,70, norandommap=1",
    "rw=randwrite bs=4k size=64k percentage_random=0,100",
    "rw=randrw bssplit=4k/60:8k/,16k size=256k percentage_random=100,0 loops=2",
    "rw=rw bs=12k size=10k filesize=100k",
    "rw=rw bs=512 size=64k loops=2 rate_iops=3000,",
    "rw=rw:4k bs=,8k size=50k rwmixread=100 ioengine=libaio iodepth=16",
    "rw=randread bs=4k size=64k io_size=300k loops=3 norandommap=1",
    "rw=randread bs=4k size=64k io_size=300k loops=3 norandommap=1 ioengine=libaio",
    "rw=randwrite bs=4k size=64k io_size=300k loops=3 norandommap=1 ioengine=libaio",
    "rw=write bs=4k,8k,16k size=33% filename=f",
    "rw=randwrite bssplit=4k/60:8k/,16k size=256k",
    "rw=randread bs=12k size=100% io_size=1036k norandommap=1 filename=f",
];

impl JobText {
    /// The job file with one section of these options.
    pub fn of(options: &str) -> Self {
        let options = options.split_whitespace().map(|option| {
            let (name, value) = option.split_once('=').unwrap();
            (name.to_owned(), value.to_owned())
        });
        let section = Section { name: "only".to_owned(), options: options.collect() };
        let files = if section.get("filename") == Some("f") { vec![("f".to_owned(), 1 << 20)] } else { Vec::new() };
        Self { sections: vec![section], files }
    }

    pub fn drawn(random: &mut Random) -> Self {
        let mut made = Self::default();
        let count = [1, 1, 2, 3][random.place(4)];
        for number in 0..count {
            let mut section = Section { name: format!("s{number}"), options: Vec::new() };
            let is_there = chance(random, 25);
            if is_there {
                let name = format!("there{number}");
                section.set("filename", &name);
                made.files.push((name, (64 << 10) * (1 + random.below(8))));
            } else if chance(random, 30) {
                section.set("filename", &format!("named{number}"));
            }
            section.draw(random, is_there, number > 0);
            made.sections.push(section);
        }
        made
    }

    /// The text of the file, in which each job logs what it asks for.
    pub fn text(&self) -> String {
        let section = |section: &Section| {
            let options: String = section.options.iter().map(|(name, value)| format!("{name}={value}\n")).collect();
            format!("[{}]\n{options}write_iolog={}.log\n", section.name, section.name)
        };
        self.sections.iter().map(section).collect()
    }

    /// Which section a line of the text is in.
    pub fn section_of(&self, line: usize) -> Option<&Section> {
        let mut end = 0;
        self.sections.iter().find(|section| {
            end += section.options.len() + 2;
            line <= end
        })
    }
}

impl Section {
    pub fn get(&self, name: &str) -> Option<&str> {
        self.options.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    pub fn number(&self, name: &str, default: u64) -> u64 {
        self.get(name).map_or(default, |value| value.parse().unwrap())
    }

    fn set(&mut self, name: &str, value: &str) {
        self.options.push((name.to_owned(), value.to_owned()));
    }

    /// Gives the option one of these values, so many times of a hundred.
    fn perhaps(&mut self, random: &mut Random, percent: u64, name: &str, values: &[&str]) {
        if chance(random, percent) {
            let value = values[random.place(values.len())];
            self.set(name, value);
        }
    }

    fn draw(&mut self, random: &mut Random, is_there: bool, is_later: bool) {
        let rw = ["read", "write", "randread", "randwrite", "rw", "randrw"][random.place(6)];
        let (is_random, is_mixed, writes) =
            (rw.starts_with("rand"), rw.ends_with("rw"), rw != "read" && rw != "randread");
        let modifier = match random.below(100) {
            0..15 if !is_random => [":4k", ":8k", ":12k"][random.place(3)],
            15..20 if !is_random => ":-4k",
            0..5 => ":4",
            _ => "",
        };
        self.set("rw", &format!("{rw}{modifier}"));
        match random.below(10) {
            0..6 => self.perhaps(
                random,
                80,
                "bs",
                &["4k", "8k", "16k", "12k", "512", "1k", "4k,8k", "8k,", ",8k", "4k,8k,16k"],
            ),
            6..8 => {
                let lists = [
                    "4k/50:8k/50",
                    "4k/10:8k/20",
                    "4k:8k:16k",
                    "4k/60:8k/,16k",
                    "4k/50:8k/50,",
                    "8k/100",
                    "512/5:4k/95",
                ];
                self.perhaps(random, 100, "bssplit", &lists);
            }
            _ => self.perhaps(random, 100, "bsrange", &["4k-16k", "1k-4k", "4k-8k,8k-16k"]),
        }
        match is_there {
            true => self.perhaps(random, 70, "size", &["50%", "33%", "100%", "40k", "50k", "64k"]),
            false => self.perhaps(random, 100, "size", &["64k", "128k", "256k", "100k", "50k", "1m", "10k", "0x10000"]),
        }
        if !is_there {
            self.perhaps(random, 10, "filesize", &["256k", "100k"]);
        }
        self.perhaps(random, 20, "offset", if is_there { &["25%", "10%", "4k", "0"] } else { &["4k", "64k", "0"] });
        self.perhaps(random, 20, "io_size", &["300k", "10k", "64k", "50%", "0"]);
        self.perhaps(random, 20, "number_ios", &["7", "40", "0"]);
        self.perhaps(random, 15, "loops", &["2", "3", "0"]);
        self.perhaps(random, 20, "numjobs", &["2", "3"]);
        if self.get("numjobs").is_some() {
            self.perhaps(random, 30, "offset_increment", &["16k", "64k"]);
            self.perhaps(random, 30, "group_reporting", &["1"]);
        }
        if is_random {
            self.perhaps(random, 25, "norandommap", &["1", "0"]);
            let laws = ["zipf:1.2", "pareto:0.3", "zoned:50/10:30/20:20/", "random", "normal:10"];
            // Where there are few places fio may never come to the end of a draw: `lib/gauss.c`, `gauss_next`.
            let has_many = ["128k", "256k", "1m"].iter().any(|size| self.get("size") == Some(size));
            self.perhaps(random, 20, "random_distribution", &laws[..if has_many { 5 } else { 4 }]);
            self.perhaps(random, 10, "percentage_random", &["80", "0", "100", "100,0", "30,80"]);
            self.perhaps(random, 10, "blockalign", &["512", "4k", "8k"]);
        }
        if is_mixed {
            self.perhaps(random, 50, "rwmixread", &["70", "100", "0", "30"]);
            self.perhaps(random, 20, "rwmixwrite", &["60", "90"]);
        }
        if writes {
            self.perhaps(random, 15, "fsync", &["3", "8"]);
            self.perhaps(random, 10, "fdatasync", &["4"]);
            self.perhaps(random, 10, "end_fsync", &["1", "0"]);
        }
        self.perhaps(random, 15, "rate_iops", &["2000", "3000,", "4000,2000"]);
        self.perhaps(random, 10, "thinktime", &["50", "100us"]);
        self.perhaps(random, 10, "thinktime_blocks", &["4"]);
        if chance(random, 15) {
            self.set("ioengine", "libaio");
            self.set("iodepth", ["2", "4", "16"][random.place(3)]);
        }
        self.perhaps(random, 10, "percentile_list", &["50:99:99.9", "90"]);
        if is_later {
            self.perhaps(random, 40, "stonewall", &["1"]);
        }
        self.perhaps(random, 5, "startdelay", &["100ms"]);
    }
}

fn chance(random: &mut Random, percent: u64) -> bool {
    random.below(100) < percent
}
