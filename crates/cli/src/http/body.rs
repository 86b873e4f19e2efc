//! What comes behind the head of a request.

use std::fmt::Display;
use std::io::Write;
use std::time::Duration;

use http_body_util::BodyExt;
use hyper::body::{Body, Incoming};
use tokio::runtime::Handle;
use tokio::time::timeout;

/// How long the next part may take to come.
const PATIENCE: Duration = Duration::from_secs(30);

/// What comes behind the head, not read yet.
#[derive(Debug)]
pub(super) struct RequestBody {
    incoming: Incoming,
    runtime: Handle,
}

/// Why a body was not read to its end.
#[derive(Debug)]
pub enum BodyError {
    /// It is longer than so many bytes.
    Long(u64),
    /// It did not come, or could not be kept.
    Broken(String),
}

impl RequestBody {
    /// Of a request that this runtime serves.
    pub fn new(incoming: Incoming, runtime: Handle) -> Self {
        Self { incoming, runtime }
    }

    /// Writes it somewhere as it comes, for a thread beside the runtime.
    pub fn write_to(mut self, into: &mut impl Write, most: u64) -> Result<(), BodyError> {
        let broken = |error: &dyn Display| BodyError::Broken(error.to_string());
        if self.incoming.size_hint().lower() > most {
            return Err(BodyError::Long(most));
        }
        let mut left = most;
        loop {
            let next = self.runtime.block_on(async { timeout(PATIENCE, self.incoming.frame()).await });
            let Some(frame) = next.map_err(|_| broken(&"nothing came for too long"))? else { return Ok(()) };
            let Ok(part) = frame.map_err(|error| broken(&error))?.into_data() else { continue };
            left = left.checked_sub(part.len() as u64).ok_or(BodyError::Long(most))?;
            into.write_all(&part).map_err(|error| broken(&error))?;
        }
    }
}
