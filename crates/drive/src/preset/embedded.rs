//! The drives that come with the program.

/// Puts drives' files into the program under the files' names.
macro_rules! embed {
    ($($kind:literal / $name:literal,)*) => {
        &[$(($name, include_str!(concat!("../../../../drives/", $kind, "/", $name, ".toml")))),*]
    };
}

/// Every drive that comes with the program: its name and its file.
pub const EMBEDDED: &[(&str, &str)] = embed![
    "disk" / "maxtor-160",
    "disk" / "nearline-7200",
    "disk" / "raptor-150",
    "disk" / "seagate-7200.11",
    "disk" / "st320lt020",
    "dram" / "solid-data-dram",
    "flash" / "x25-m",
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
            assert!(EMBEDDED.iter().any(|(known, _)| *known == name), "{} is not in EMBEDDED", file.display());
        }
    }
}
