//! The options by which people add to a run.

use block::Price;
use store::{Annotations, RunNote, RunTag};

/// What is added to a run.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct AnnotationOptions {
    /// Tag the run, to find it by `assay runs --filter tag=TAG`; may be given several times
    #[arg(long, value_name = "TAG")]
    tag: Vec<RunTag>,

    /// Keep a note with the run
    #[arg(long, value_name = "TEXT")]
    note: Option<RunNote>,

    /// Price of the drive, such as 89.90EUR: amount and currency (ISO 4217)
    #[arg(long, value_name = "PRICE")]
    price: Option<Price>,
}

impl AnnotationOptions {
    /// Whether nothing is added.
    pub const fn is_empty(&self) -> bool {
        self.tag.is_empty() && self.note.is_none() && self.price.is_none()
    }

    /// What is there with what is added.
    pub fn on(&self, before: Annotations) -> Annotations {
        let mut tags: Vec<RunTag> = before.tags.into_iter().chain(self.tag.iter().cloned()).collect();
        tags.sort();
        tags.dedup();
        Annotations { tags, note: self.note.clone().or(before.note), price: self.price.or(before.price) }
    }
}
