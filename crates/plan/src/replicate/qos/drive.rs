//! The drives of a file of figures, and what simulates each.

use drive::preset::{Preset, PresetError};

/// A drive of which something was published.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QosDrive {
    pub id: String,
    /// What it is, in a line.
    pub model: String,
    /// The preset that simulates it; none where the file names none and none is known of its id.
    pub preset: Option<String>,
    /// The host in which it was measured; none for the one that the preset names.
    pub host: Option<String>,
}

impl QosDrive {
    /// What it is called in tables: its preset, or its id where it has none.
    pub fn name(&self) -> &str {
        self.preset.as_deref().unwrap_or(&self.id)
    }

    /// What simulates it, in the host in which it was measured. A file of figures comes from anywhere: it names drives
    /// that come with the program, as they are, and nothing else is read.
    ///
    /// # Errors
    /// Why it is not simulated, and what to do.
    pub fn simulated(&self) -> Result<Preset, String> {
        let id = &self.id;
        let own = |drive: &str| format!("`--drive {id} --on {drive}` simulates it on a drive's file");
        let Some(name) = &self.preset else {
            let own = own("./DRIVE.toml");
            return Err(format!("its entry names no preset; add `preset = \"NAME\"`, a name of `assay drives`; {own}"));
        };
        let is_plain = |word: &str| word.chars().all(|letter| letter.is_ascii_alphanumeric() || "-_.".contains(letter));
        if !is_plain(name) || name.ends_with(".toml") {
            let own = own(if name.ends_with(".toml") { name } else { "./DRIVE.toml" });
            return Err(format!("`{name}` is no built-in preset, and a file of figures names no others; {own}"));
        }
        if let Some(host) = self.host.as_ref().filter(|host| !is_plain(host)) {
            return Err(format!("`{host}` is no host; take a rig with one drive from `assay drives`, or leave it out"));
        }
        Preset::find(name).and_then(|preset| self.hosted(preset)).map_err(|error| error.to_string())
    }

    /// What simulates it, which `preset` is but for the host, in the host in which it was measured.
    ///
    /// # Errors
    /// If there is no such host.
    pub fn hosted(&self, preset: Preset) -> Result<Preset, PresetError> {
        let Some(host) = &self.host else { return Ok(preset) };
        let (name, title) = (preset.name.clone(), preset.title.clone());
        Ok(Preset { name, title, ..preset.changed(&format!("host={host}"))? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drive(preset: Option<&str>, host: Option<&str>) -> QosDrive {
        let word = |word: Option<&str>| word.map(str::to_owned);
        QosDrive { id: "mine".to_owned(), model: "M".to_owned(), preset: word(preset), host: word(host) }
    }

    #[test]
    fn a_drive_is_simulated_by_what_comes_with_the_program_and_by_nothing_else() {
        assert_eq!(drive(Some("x25-m"), None).simulated().unwrap(), Preset::find("x25-m").unwrap());
        let busy = drive(Some("pm9a3-960"), Some("nvme-host-busy"));
        assert!(busy.simulated().is_ok_and(|preset| preset.name == "pm9a3-960" && preset.host().unwrap().is_some()));
        for (preset, host, words) in [
            (None, None, "names no preset; add `preset = \"NAME\"`"),
            (Some("x25m"), None, "did you mean `x25-m`?"),
            (Some("./mine.toml"), None, "`--drive mine --on ./mine.toml`"),
            (Some("mine.toml"), None, "`--drive mine --on mine.toml`"),
            (Some("/etc/passwd"), None, "no built-in preset"),
            (Some("x25-m?capacity.user=1TiB"), None, "no built-in preset"),
            (Some("x25-m#2"), None, "no built-in preset"),
            (Some("pm9a3-960"), Some("nvme-host&drive.nand.read=1us"), "is no host"),
            (Some("pm9a3-960"), Some("nvme-hots"), "nvme-hots"),
        ] {
            let said = drive(preset, host).simulated().unwrap_err();
            assert!(said.contains(words), "{preset:?} {host:?}: {said}");
        }
    }
}
