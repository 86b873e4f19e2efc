//! A simulated drive as a run keeps it, so that reading the run never asks what the drive is today.

use block::Bytes;
use drive::preset::{ListPrice, Preset, Rated, Spec, is_file_of_changed};
use serde::{Deserialize, Serialize};

use crate::replicate::{KnownFigure, known_figures};

/// What reading a run needs of its simulated drive. It is kept in the store when the run begins.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DriveRecord {
    /// The drive's file with the changes that were asked for; behind a rig's file that of its drives.
    pub files: Vec<String>,
    /// Which drive of its model it is, counted from one.
    #[serde(default = "first")]
    pub specimen: u32,
    pub serial: String,
    /// The version of the firmware.
    pub firmware: String,
    /// What the drive is made of, in labelled lines.
    pub facts: Vec<(String, String)>,
    /// What reviews published of the fresh drive; empty for one that does not come with the program as it is.
    published: Vec<KnownFigure>,
    /// The drive as the program has it now, for a run that kept no record, as in stores of before version 11.
    #[serde(skip)]
    today: Option<Box<Preset>>,
}

/// What drives were before they were numbered.
fn first() -> u32 {
    1
}

impl DriveRecord {
    /// Of the drive as it is when a run begins.
    pub fn of(preset: &Preset) -> Self {
        Self { published: known_figures(preset), ..Self::without_published(preset) }
    }

    fn without_published(preset: &Preset) -> Self {
        let mut files = vec![preset.text.clone()];
        if let Spec::Rig(rig) = &preset.spec {
            files.push(rig.member.text.clone());
        }
        let identity = preset.identity();
        Self {
            files,
            specimen: preset.specimen,
            serial: identity.serial,
            firmware: identity.firmware,
            facts: preset.facts().into_iter().map(|(name, fact)| (name.to_owned(), fact)).collect(),
            published: Vec::new(),
            today: None,
        }
    }

    /// As a store keeps it.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("words and finite numbers always serialise")
    }

    /// Whether fields of the drive were changed by name, so that ratings and price are those of the drive before that.
    pub fn is_changed(&self) -> bool {
        self.files.first().is_some_and(|file| is_file_of_changed(file))
    }

    /// The drive, or the one that a rig has; none where its file can no longer be read.
    pub fn drive(&self) -> Option<Preset> {
        Preset::parse(self.files.last()?).ok()
    }

    /// What the drive's maker promises; none of a rig.
    pub fn rated(&self) -> Option<Rated> {
        Rated::of_file(self.files.first()?)
    }

    /// What the drive cost, as its file has it.
    pub fn price(&self) -> Option<ListPrice> {
        ListPrice::of_file(self.files.first()?)
    }

    /// As a store keeps it.
    ///
    /// # Errors
    /// If it is damaged.
    pub fn from_json(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }

    /// The drive that comes with the program today, for a run on this `target` that kept no record; none where there is
    /// no such drive.
    pub fn of_today(target: &str) -> Option<Self> {
        let preset = target.strip_prefix("sim:").and_then(|name| Preset::find(name).ok())?;
        Some(Self { today: Some(Box::new(preset.clone())), ..Self::without_published(&preset) })
    }

    /// What reviews published of the fresh drive; empty for one that does not come with the program as it is.
    pub fn published(&self) -> Vec<KnownFigure> {
        self.today.as_ref().map_or_else(|| self.published.clone(), |preset| known_figures(preset))
    }

    /// Whether the run kept no record, so that this is the drive as the program has it now.
    pub fn is_of_today(&self) -> bool {
        self.today.is_some()
    }

    /// How much of so many addresses can be written.
    pub fn writable(&self, capacity: Bytes) -> Bytes {
        self.drive().filter(|drive| drive.capacity() == capacity).map_or(capacity, |drive| drive.writable())
    }

    pub fn fact(&self, name: &str) -> Option<String> {
        self.facts.iter().find(|(known, _)| known == name).map(|(_, fact)| fact.clone())
    }
}
