//! The drives that come with the program.

/// Puts files into the program under their names.
macro_rules! embed {
    ($($folder:literal / $name:literal,)*) => {
        &[$(($name, include_str!(concat!("../../../../", $folder, "/", $name, ".toml")))),*]
    };
}

/// Every drive that comes with the program: its name and its file.
pub const EMBEDDED: &[(&str, &str)] = embed![
    "drives/disk" / "7k100-100",
    "drives/disk" / "7k100-80",
    "drives/disk" / "7k100-60",
    "drives/disk" / "archive-8tb",
    "drives/disk" / "archive-6tb",
    "drives/disk" / "exos-2x18",
    "drives/disk" / "hc620-14tb",
    "drives/disk" / "maxtor-160",
    "drives/disk" / "nearline-7200",
    "drives/disk" / "nearline-16tb",
    "drives/disk" / "nearline-14tb",
    "drives/disk" / "nearline-12tb",
    "drives/disk" / "nearline-10tb",
    "drives/disk" / "raptor-150",
    "drives/disk" / "raptor-74",
    "drives/disk" / "raptor-36",
    "drives/disk" / "seagate-7200.11",
    "drives/disk" / "seagate-7200.11-500",
    "drives/disk" / "seagate-7200.11-750",
    "drives/disk" / "seagate-7200.11-1tb",
    "drives/disk" / "spinpoint-f1",
    "drives/disk" / "spinpoint-f1-320",
    "drives/disk" / "spinpoint-f1-500",
    "drives/disk" / "spinpoint-f1-640",
    "drives/disk" / "spinpoint-f1-750",
    "drives/disk" / "st320lt020",
    "drives/disk" / "wd740gd",
    "drives/disk" / "wd360gd",
    "drives/dram" / "solid-data-dram",
    "drives/pcm" / "optane-p4800x",
    "drives/pcm" / "optane-p4800x-750",
    "drives/pcm" / "optane-p4800x-1500",
    "drives/hybrid" / "ocz-core-64",
    "drives/flash" / "870-qvo",
    "drives/flash" / "870-qvo-2tb",
    "drives/flash" / "870-qvo-4tb",
    "drives/flash" / "870-qvo-8tb",
    "drives/flash" / "970-pro",
    "drives/flash" / "970-pro-1tb",
    "drives/flash" / "990-pro",
    "drives/flash" / "990-pro-2tb",
    "drives/flash" / "990-pro-4tb",
    "drives/flash" / "p4500-1tb",
    "drives/flash" / "p4500-2tb",
    "drives/flash" / "p4500-4tb",
    "drives/flash" / "pcie5",
    "drives/flash" / "t700-2tb",
    "drives/flash" / "t700-4tb",
    "drives/flash" / "sata-tlc",
    "drives/flash" / "870-evo-250",
    "drives/flash" / "870-evo-1tb",
    "drives/flash" / "870-evo-2tb",
    "drives/flash" / "870-evo-4tb",
    "drives/flash" / "7450-max-800",
    "drives/flash" / "7450-max-1600",
    "drives/flash" / "7450-max-3200",
    "drives/flash" / "7450-pro-960",
    "drives/flash" / "7450-pro-1920",
    "drives/flash" / "7450-pro-3840",
    "drives/flash" / "860-pro-1tb",
    "drives/flash" / "860-pro-256",
    "drives/flash" / "860-pro-512",
    "drives/flash" / "860-pro-2tb",
    "drives/flash" / "860-pro-4tb",
    "drives/flash" / "9100-max-2400",
    "drives/flash" / "9100-max-1200",
    "drives/flash" / "980-1tb",
    "drives/flash" / "980-250",
    "drives/flash" / "980-500",
    "drives/flash" / "980-pro-1tb",
    "drives/flash" / "980-pro-250",
    "drives/flash" / "980-pro-500",
    "drives/flash" / "980-pro-2tb",
    "drives/flash" / "cm7-r-3840",
    "drives/flash" / "cm7-r-1920",
    "drives/flash" / "cm7-r-7680",
    "drives/flash" / "dc500m-960",
    "drives/flash" / "dc500m-480",
    "drives/flash" / "dc500m-1920",
    "drives/flash" / "optimus-eco-400",
    "drives/flash" / "optimus-eco-800",
    "drives/flash" / "p3700-800",
    "drives/flash" / "p3700-1600",
    "drives/flash" / "p400m-400",
    "drives/flash" / "p400m-200",
    "drives/flash" / "p400m-100",
    "drives/flash" / "p4510-1tb",
    "drives/flash" / "p4510-2tb",
    "drives/flash" / "p4510-4tb",
    "drives/flash" / "p5520-1920",
    "drives/flash" / "p5520-3840",
    "drives/flash" / "p5520-7680",
    "drives/flash" / "p5316-15360",
    "drives/flash" / "p5316-30720",
    "drives/flash" / "pe8110-960",
    "drives/flash" / "pe8110-1920",
    "drives/flash" / "pe8110-3840",
    "drives/flash" / "pm883-480",
    "drives/flash" / "pm883-240",
    "drives/flash" / "pm883-960",
    "drives/flash" / "pm883-1920",
    "drives/flash" / "pm983-960",
    "drives/flash" / "pm9a3-960",
    "drives/flash" / "pm9a3-3840",
    "drives/flash" / "pm9a3-1920",
    "drives/flash" / "pm983-1920",
    "drives/flash" / "s3500-m2-80",
    "drives/flash" / "s3500-m2-120",
    "drives/flash" / "s3500-m2-340",
    "drives/flash" / "s3610-480",
    "drives/flash" / "s3610-400",
    "drives/flash" / "s3610-800",
    "drives/flash" / "s3610-1600",
    "drives/flash" / "s3700-100",
    "drives/flash" / "s3700-200",
    "drives/flash" / "s3700-400",
    "drives/flash" / "s3700-800",
    "drives/flash" / "s4500-480",
    "drives/flash" / "s4500-960",
    "drives/flash" / "s4610-480",
    "drives/flash" / "s4610-960",
    "drives/flash" / "sm843-480",
    "drives/flash" / "sm843-240",
    "drives/flash" / "sn640-960",
    "drives/flash" / "sn640-1920",
    "drives/flash" / "zn540-1tb",
    "drives/flash" / "intel-520",
    "drives/flash" / "intel-520-120",
    "drives/flash" / "intel-520-180",
    "drives/flash" / "intel-520-480",
    "drives/flash" / "m4-64",
    "drives/flash" / "m4-128",
    "drives/flash" / "m4-256",
    "drives/flash" / "m4-512",
    "drives/flash" / "samsung-830",
    "drives/flash" / "samsung-830-64",
    "drives/flash" / "samsung-830-128",
    "drives/flash" / "samsung-830-512",
    "drives/flash" / "ssd-320",
    "drives/flash" / "ssd-320-40",
    "drives/flash" / "ssd-320-80",
    "drives/flash" / "ssd-320-120",
    "drives/flash" / "ssd-320-160",
    "drives/flash" / "ssd-320-600",
    "drives/flash" / "vertex3-240",
    "drives/flash" / "vertex3-120",
    "drives/flash" / "vertex3-480",
    "drives/flash" / "x25-e-32",
    "drives/flash" / "x25-e-64",
    "drives/flash" / "x25-m",
    "drives/flash" / "x25-m-160",
];

/// What drives are based on beside other drives: parts and classes, each the file of a part of a drive.
pub const CLASSES: &[(&str, &str)] = embed![
    "drives/class" / "cells-mlc",
    "drives/class" / "cells-planar",
    "drives/class" / "cells-tlc",
    "drives/class" / "disk-desktop",
    "drives/class" / "firmware",
    "drives/class" / "journal",
    "drives/class" / "nand-imft-20nm-mlc",
    "drives/class" / "nand-imft-25nm-mlc",
    "drives/class" / "nand-imft-64l-tlc",
    "drives/class" / "nand-samsung-128l-tlc",
    "drives/class" / "nand-samsung-64l-mlc",
    "drives/class" / "nand-samsung-64l-tlc",
    "drives/class" / "map-checkpoint",
    "drives/class" / "no-dram",
    "drives/class" / "pcie3-x4",
    "drives/class" / "pcie4-x4",
    "drives/class" / "pcie5-x4",
    "drives/class" / "server-nvme",
    "drives/class" / "server-sata",
    "drives/class" / "steady-moves",
];

/// Every rig that comes with the program: its name and its file.
pub const RIGS: &[(&str, &str)] = embed![
    "rigs" / "lenovo-x220i",
    "rigs" / "lenovo-x220i-disk",
    "rigs" / "nvme-host",
    "rigs" / "nvme-host-busy",
    "rigs" / "nvme-host-polled",
    "rigs" / "sas-hba-host",
    "rigs" / "sata-3g-desktop",
    "rigs" / "sata-6g-desktop",
    "rigs" / "sata-host",
    "rigs" / "solid-data-host",
    "rigs" / "toms-x25e-1",
    "rigs" / "toms-x25e-16",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_is_embedded() {
        let drives = concat!(env!("CARGO_MANIFEST_DIR"), "/../../drives");
        let kinds = std::fs::read_dir(drives).unwrap().map(|kind| kind.unwrap().path());
        let files = kinds.flat_map(|kind| std::fs::read_dir(kind).unwrap()).map(|file| file.unwrap().path());
        for file in files {
            let name = file.file_stem().unwrap().to_str().unwrap().to_owned();
            let all = || EMBEDDED.iter().chain(CLASSES);
            assert!(all().any(|(known, _)| *known == name), "{} is in neither EMBEDDED nor CLASSES", file.display());
        }
    }

    #[test]
    fn every_rig_is_embedded() {
        for file in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../../rigs")).unwrap() {
            let file = file.unwrap().path();
            let name = file.file_stem().unwrap().to_str().unwrap().to_owned();
            assert!(RIGS.iter().any(|(known, _)| *known == name), "{} is not in RIGS", file.display());
        }
    }
}
