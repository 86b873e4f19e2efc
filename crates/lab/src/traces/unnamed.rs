//! A file without a name for the requests of a long trace.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

use host::scratch::PLACE;
use workload::TraceFile;

/// How much of the file system stays free, whatever a trace has.
const FREE_MIN: u64 = 1 << 30;

/// A file that nobody else can open, and that goes with this process.
#[derive(Debug)]
struct Unnamed(File);

/// Makes one where large files of programs belong.
///
/// # Errors
/// If it cannot be made.
pub(super) fn new_file() -> io::Result<Arc<dyn TraceFile>> {
    Ok(Arc::new(Unnamed(host::open::nameless(Path::new(PLACE))?)))
}

impl TraceFile for Unnamed {
    fn write(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        let system = rustix::fs::fstatvfs(&self.0)?;
        if system.f_bavail.saturating_mul(system.f_frsize) < FREE_MIN + bytes.len() as u64 {
            let words = format!("less than 1 GiB would stay free in {PLACE}; make room there");
            return Err(io::Error::new(io::ErrorKind::StorageFull, words));
        }
        self.0.write_all_at(bytes, offset)
    }

    fn read(&self, bytes: &mut [u8], offset: u64) -> io::Result<()> {
        self.0.read_exact_at(bytes, offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again_and_has_no_name() {
        let file = new_file().unwrap();
        let files = std::fs::read_dir("/proc/self/fd").unwrap().flatten();
        let mut names = files.filter_map(|entry| std::fs::read_link(entry.path()).ok());
        let name = names.find(|name| name.starts_with(PLACE)).expect("the file is open");
        assert!(name.to_string_lossy().ends_with("(deleted)"), "{}", name.display());
        file.write(b"hello", 4096).unwrap();
        let mut read = [1; 6];
        file.read(&mut read[..5], 4096).unwrap();
        assert_eq!(&read, b"hello\x01");
        assert!(file.read(&mut read, 4096).is_err(), "there are five bytes");
    }
}
