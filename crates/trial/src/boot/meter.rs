//! What the kernel counts of a block device.

use std::fs;
use std::path::{Path, PathBuf};

use crate::Figure;

/// What the kernel had counted of a device at one moment.
#[derive(Debug)]
pub struct Meter {
    path: PathBuf,
    before: [u64; 3],
}

impl Meter {
    /// From now on; none where the kernel does not count.
    pub fn of(device: &Path) -> Option<Self> {
        let path = Path::new("/sys/class/block").join(device.canonicalize().ok()?.file_name()?).join("stat");
        let before = read(&fs::read_to_string(&path).ok()?)?;
        Some(Self { path, before })
    }

    /// What passed since then; nothing if the device has gone.
    pub fn passed(&self) -> Vec<Figure> {
        let now = fs::read_to_string(&self.path).ok().and_then(|text| read(&text));
        let passed = |now: [u64; 3], place: usize| now[place].saturating_sub(self.before[place]) as f64;
        now.map_or(Vec::new(), |now| {
            vec![
                Figure::neither("Read", "B", passed(now, 0) * 512.0),
                Figure::neither("Written", "B", passed(now, 1) * 512.0),
                Figure::less("Drive busy", "s", passed(now, 2) / 1000.0),
            ]
        })
    }
}

/// Sectors read, sectors written, milliseconds with a request in flight.
/// Source: Linux, Documentation/block/stat.rst.
fn read(text: &str) -> Option<[u64; 3]> {
    let numbers: Vec<u64> = text.split_whitespace().map(str::parse).collect::<Result<_, _>>().ok()?;
    Some([*numbers.get(2)?, *numbers.get(6)?, *numbers.get(9)?])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_counts_are_read_by_their_places() {
        let text = "  1 2 300 4  5 6 700 8  0 1000 11  0 0 0 0  0 0\n";
        assert_eq!(read(text), Some([300, 700, 1000]));
        assert_eq!(read("1 2 3"), None);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("stat");
        fs::write(&path, text).unwrap();
        let figures = Meter { path, before: [100, 700, 250] }.passed();
        assert_eq!(figures.iter().map(|figure| figure.value).collect::<Vec<f64>>(), [102_400.0, 0.0, 0.75]);
    }
}
