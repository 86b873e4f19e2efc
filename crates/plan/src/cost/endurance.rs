//! How much may be written to the target in its life.

use block::Endurance;
use drive::preset::{Preset, of_unchanged};

/// How much may be written to a drive in its life, and who says so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RatedEndurance {
    /// How much.
    pub rated: Endurance,
    /// Who says so.
    pub source: String,
}

impl RatedEndurance {
    /// What the maker of a simulated drive promises; none where its file does not say.
    pub fn of(preset: &Preset) -> Option<Self> {
        let rated = &preset.rated;
        let original = of_unchanged(preset.is_changed());
        Some(Self { rated: rated.endurance?, source: format!("{}{original}", rated.endurance_source) })
    }

    /// What the user gave.
    pub fn given(rated: Endurance) -> Self {
        Self { rated, source: "--rated-endurance".to_owned() }
    }
}
