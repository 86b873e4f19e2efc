//! The table of a drive's file that names the host in which it is measured.

use toml::{Table as Toml, Value};

use super::change;
use super::embedded::RIGS;
use super::error::PresetError;
use super::fields::{Part, Table, table};

table!(
/// The host in which a drive is measured.
pub(crate) HostTable {
    /// A built-in rig with one drive, by name, in which the drive is measured; `none`: by itself
    host: String,
    /// What is other in it than in its own file: `host.submit=1us&queues.depth=64`
    changes: String = default,
});

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

/// `changes` to a drive that is in no rig: those to itself in its own file's words, which may begin with `drive.`, and those to
/// its host, which begin with `rig.`, without that.
pub fn of_single(changes: &str) -> (String, Vec<&str>) {
    let (mut own, mut of_host) = (Vec::new(), Vec::new());
    for change in changes.split('&') {
        match change.trim_start().split_once('.') {
            Some(("drive", rest)) => own.push(rest),
            Some(("rig", rest)) if !is_of_table(rest) => of_host.push(rest),
            _ => own.push(change),
        }
    }
    (own.join("&"), of_host)
}

/// Whether a change after `rig.` is to the table `rig` of the drive's file itself.
pub fn is_of_table(rest: &str) -> bool {
    let name = rest.split('=').next().unwrap_or_default().trim();
    HostTable::FIELDS.iter().any(|field| field.name == name)
}

/// The drive's file `text` with `changes` made to its host: each names a field of a rig, whose `tables` are given, without `rig.` before it.
///
/// # Errors
/// If the drive is measured without a host, or one names nothing in a rig.
pub fn apply(text: &str, changes: &[&str], tables: &[Table]) -> Result<String, PresetError> {
    let mut file: Toml = toml::from_str(text)?;
    let mut set = Vec::new();
    for change in changes {
        let refuse = |why| PresetError::Change { change: format!("rig.{change}"), why };
        let table = file.get_mut("rig").and_then(Value::as_table_mut);
        let table = table.filter(|table| table.get("host").and_then(Value::as_str).is_some_and(|host| host != BARE));
        let table = table.ok_or_else(|| refuse(missing(change)))?;
        let (of, field, value) = change::part(change, tables).map_err(refuse)?;
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
