//! The table of a drive's file that names the host in which it is measured.

use toml::{Table as Toml, Value};

use super::error::PresetError;
use super::fields::table;
use super::{RIGS, change};
use crate::rig::RigFile;

table!(
    /// The host in which a drive is measured.
    pub(crate) HostTable {
        host: String,
        #[serde(default)]
        changes: String,
    }
);

/// In place of a host's name: the drive is measured by itself.
const BARE: &str = "none";

impl HostTable {
    /// The name of the rig; none for a drive that is measured by itself.
    pub fn rig(&self) -> Option<&str> {
        Some(&*self.host).filter(|host| *host != BARE)
    }

    /// What is other in this drive's host than in the rig's own file: `host.submit=5us&queues.depth=64`.
    pub fn changes(&self) -> &str {
        &self.changes
    }
}

/// The drive's file `text` with `changes` made to its host: each names a field of a rig, without `rig.` before it.
///
/// # Errors
/// If the drive is measured without a host, or one names nothing in a rig.
pub fn apply(text: &str, changes: &[&str]) -> Result<String, PresetError> {
    let mut file: Toml = toml::from_str(text)?;
    let mut set = Vec::new();
    for change in changes {
        let refuse = |why| PresetError::Change { change: format!("rig.{change}"), why };
        let table = file.get_mut("rig").and_then(Value::as_table_mut);
        let table = table.filter(|table| table.get("host").and_then(Value::as_str).is_some_and(|host| host != BARE));
        let table = table.ok_or_else(|| refuse(missing(change)))?;
        let (of, field, value) = change::part(change, RigFile::TABLES).map_err(refuse)?;
        if (of, field) == ("array", "drive") {
            return Err(refuse("the drive in its host is this one; ask for the other in its place".to_owned()));
        }
        change::once((of, field), &mut set).map_err(refuse)?;
        let name = format!("{of}.{field}=");
        let before = table.get("changes").and_then(Value::as_str).unwrap_or_default();
        let kept = before.split('&').filter(|before| !before.is_empty() && !before.starts_with(&name));
        let all: Vec<String> = kept.map(str::to_owned).chain([format!("{name}{value}")]).collect();
        table.insert("changes".to_owned(), Value::String(all.join("&")));
    }
    Ok(toml::to_string(&file).expect("what was read from TOML can be written as TOML"))
}

/// That there is no host to change, and how to name one.
fn missing(change: &str) -> String {
    let hosts: Vec<&str> = RIGS.iter().map(|(name, _)| *name).filter(|name| name.contains("-host")).collect();
    format!(
        "this drive is not in a rig and is measured without a host; name one beside it, as `host={}&rig.{change}`: {}",
        hosts.first().unwrap_or(&"RIG"),
        hosts.join(", ")
    )
}
