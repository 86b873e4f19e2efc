//! The table of a drive's file that names the host in which it is measured.

use super::fields::table;

table!(
    /// The host in which a drive is measured.
    pub(crate) HostTable {
        host: String,
    }
);

/// In place of a host's name: the drive is measured by itself.
const BARE: &str = "none";

impl HostTable {
    /// The name of the rig; none for a drive that is measured by itself.
    pub fn rig(&self) -> Option<&str> {
        Some(&*self.host).filter(|host| *host != BARE)
    }
}
