//! Runs that other machines push.
//!
//! What comes is a store like any other: it may be a stranger's. It is read as `assay merge` reads a store, and can add its own runs
//! and nothing else.

use std::io::Write;
use std::path::Path;

use host::scratch::PLACE;
use host::{Scratch, open};
use store::{Merged, Store, StoreError};

use super::refusal::Refusal;
use super::site::{Site, Turn};
use crate::commands::merge::is_of;
use crate::commands::push::{Offers, Taken, TakenOutcome, TakenRun, Wanted};
use crate::http::{BodyError, HttpRequest, HttpResponse, JSON};

/// The longest store that is taken at once. `assay push` sends a few MiB, or one run.
pub const BODY_MOST: u64 = 512 << 20;
/// The longest question, in bytes.
const QUESTION_MOST: u64 = 1 << 20;

/// Which of the runs that are offered are wanted: those that are not here as they are there.
pub fn wanted(site: &Site, request: &HttpRequest) -> Result<HttpResponse, Refusal> {
    let mut question = Vec::new();
    request.body(&mut question, QUESTION_MOST).map_err(refused)?;
    let wrong = |error| Refusal::Asked(format!("The runs on offer cannot be read: {error}."));
    let offers: Offers = serde_json::from_slice(&question).map_err(wrong)?;
    let store = Store::open_to_read(&site.store)?;
    let mut wanted = Wanted { wanted: Default::default() };
    for offer in offers.runs {
        let here = store.find(offer.uuid)?.map(|run| store.digest(run)).transpose()?;
        if here.is_none_or(|digest| digest != offer.digest) {
            wanted.wanted.insert(offer.uuid);
        }
    }
    Ok(HttpResponse::text(JSON, serde_json::to_string(&wanted).expect("names always serialise") + "\n"))
}

/// Takes the runs of a store that was sent.
pub fn push(site: &Site, turn: &Turn, request: &HttpRequest) -> Result<HttpResponse, Refusal> {
    let failed = |error: std::io::Error| Refusal::Busy(format!("The runs cannot be received: {error}."));
    let folder = Scratch::new(Path::new(PLACE), "assay-accept").map_err(failed)?;
    let path = folder.path().join("pushed.sqlite");
    let mut file = open::new_file(&path, 0o600).map_err(failed)?;
    request.body(&mut file, BODY_MOST).map_err(refused)?;
    file.flush().map_err(failed)?;
    // An empty file would be a store without runs.
    if file.metadata().map_err(failed)?.len() == 0 {
        return Err(Refusal::Asked("Nothing was pushed; send a store of assay.".to_owned()));
    }
    drop(file);
    let unlike = |error: StoreError| Refusal::Asked(format!("What was pushed is no store that can be read: {error}."));
    let from = Store::open_to_read(&path).map_err(unlike)?;
    let _turn = turn.take();
    let mut into = Store::open(&site.store)?;
    let mut taken = Taken { runs: Vec::new() };
    for run in from.offered().map_err(unlike)? {
        let uuid = from.run(run).map_err(unlike)?.uuid;
        let outcome = match into.merge(&from, run) {
            Ok(Merged::Added(run)) => TakenOutcome::Added { run },
            Ok(Merged::Continued(run)) => TakenOutcome::Continued { run },
            Ok(Merged::Known(run)) => TakenOutcome::Known { run },
            Err(StoreError::ShardsFirst { .. }) => continue,
            Err(error) if is_of(&error, &site.store) => return Err(Refusal::Busy(error.to_string())),
            Err(error) => TakenOutcome::Refused { error: error.to_string() },
        };
        taken.runs.push(TakenRun { uuid, outcome });
    }
    Ok(HttpResponse::text(JSON, serde_json::to_string(&taken).expect("names always serialise") + "\n"))
}

fn refused(error: BodyError) -> Refusal {
    match error {
        BodyError::Long(most) => Refusal::Long(format!(
            "More than {} MiB are not taken at once; copy the store here and merge it (assay merge).",
            most >> 20
        )),
        BodyError::Broken(error) => Refusal::Busy(format!("What was sent did not arrive: {error}.")),
    }
}
