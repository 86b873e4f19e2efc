//! `assay push`: the runs of the store for an `assay serve --accept` on another machine.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use host::Scratch;
use host::scratch::PLACE;
use serde::{Deserialize, Serialize};
use store::{Annotations, RunId, Sharding, Store, StoreError, Uuid};

use super::merge::Tally;
use super::serve::secret;
use crate::failure::Failure;
use crate::http::client::Server;
use crate::terminal::{complain, line, say};

const AFTER_HELP: &str = "The token comes from --token-file or the environment variable ASSAY_TOKEN, never from the command line, \
which other users of the machine see. The connection is not encrypted: across a network push through an ssh tunnel (ssh -L \
7878:localhost:7878 HOST) or a proxy that you trust. A run is known by its UUID: push again after any interruption, and nothing is \
there twice.";

/// What was asked of `assay push`.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Arguments {
    /// The server: http://HOST:PORT
    #[arg(value_name = "URL")]
    url: Server,

    /// Read the server's token from this file
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
}

/// How many runs are asked about at a time.
const ASKED: usize = 200;
/// A piece that is sent has so many runs at most, and ends with the one that makes it longer than this.
const PIECE_RUNS: usize = 100;
const PIECE_BYTES: u64 = 4 << 20;
/// How often something is tried that the server or the network had no time for, and the first pause.
const TRIES: u32 = 6;
const PAUSE: Duration = Duration::from_millis(200);

/// A run that the server may want.
#[derive(Serialize, Deserialize)]
pub struct Offer {
    pub uuid: Uuid,
    pub digest: String,
}

/// What a client asks first.
#[derive(Serialize, Deserialize)]
pub struct Offers {
    pub runs: Vec<Offer>,
}

/// Which of them the server does not have as they are.
#[derive(Serialize, Deserialize)]
pub struct Wanted {
    pub wanted: HashSet<Uuid>,
}

/// What became of the runs of a piece.
#[derive(Serialize, Deserialize)]
pub struct Taken {
    pub runs: Vec<TakenRun>,
}

/// What became of a run.
#[derive(Serialize, Deserialize)]
pub struct TakenRun {
    pub uuid: Uuid,
    #[serde(flatten)]
    pub outcome: TakenOutcome,
}

#[derive(Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "lowercase")]
pub enum TakenOutcome {
    Added { run: RunId },
    Continued { run: RunId },
    Known { run: RunId },
    Refused { error: String },
}

/// Pushes all runs of the store in this file.
pub fn run(path: &Path, arguments: &Arguments) -> Result<(), Failure> {
    if !path.exists() {
        return Err(Failure::usage(format!("there is no store {}; name one with --store FILE", path.display())));
    }
    let Some(token) = secret::read(arguments.token_file.as_deref())? else {
        return Err(Failure::usage("the server wants a token: give --token-file FILE, or set ASSAY_TOKEN"));
    };
    let push = Push { server: &arguments.url, token: &token, store: Store::open_to_read(path)? };
    let mut tally = Tally::default();
    for some in push.store.offered()?.chunks(ASKED) {
        push.offer(some, &mut tally)?;
    }
    say(&format!("{}: {tally}\n", arguments.url))?;
    tally.judged()
}

struct Push<'p> {
    server: &'p Server,
    token: &'p str,
    store: Store,
}

impl Push<'_> {
    /// Asks which of these runs the server wants, and sends those.
    fn offer(&self, runs: &[RunId], tally: &mut Tally) -> Result<(), Failure> {
        let (mut offers, mut offered) = (Vec::new(), Vec::new());
        for &id in runs {
            let run = self.store.run(id)?;
            // What is made of shards comes with them, except for what people added to it.
            if matches!(run.sharding, Some(Sharding::Whole { .. })) && run.annotations == Annotations::default() {
                continue;
            }
            match self.store.digest(id) {
                Ok(digest) => offers.push(Offer { uuid: run.uuid, digest }),
                Err(error) => {
                    tally.refused += 1;
                    complain(format!("run {id}: {error}"));
                    continue;
                }
            }
            offered.push((id, run));
        }
        let asked = serde_json::to_vec(&Offers { runs: offers }).expect("names always serialise");
        let Wanted { wanted } = self.post("/api/push/wanted", "application/json", &asked)?;
        tally.known += offered.iter().filter(|(_, run)| !wanted.contains(&run.uuid)).count() as u64;
        let wanted: Vec<_> = offered.into_iter().filter(|(_, run)| wanted.contains(&run.uuid)).collect();
        let mut left = &wanted[..];
        while !left.is_empty() {
            let folder = Scratch::new(Path::new(PLACE), "assay-push").map_err(Failure::failed)?;
            let path = folder.path().join("piece.sqlite");
            let mut piece = Store::open(&path)?;
            let mut count = 0;
            for (id, run) in left.iter().take(PIECE_RUNS) {
                count += 1;
                if matches!(run.sharding, Some(Sharding::Whole { .. })) {
                    self.store
                        .shards(*id)?
                        .iter()
                        .take(1)
                        .try_for_each(|shard| piece.merge(&self.store, *shard).map(drop))?;
                }
                match piece.merge(&self.store, *id) {
                    Ok(_) | Err(StoreError::ShardsFirst { .. }) => {}
                    Err(error) => {
                        tally.refused += 1;
                        complain(format!("run {id}: {error}"));
                    }
                }
                if length(&path) > PIECE_BYTES {
                    break;
                }
            }
            // The last to close it writes all of it into the file.
            drop(piece);
            let bytes = std::fs::read(&path).map_err(Failure::failed)?;
            let taken: Taken = self.post("/api/push", "application/vnd.sqlite3", &bytes)?;
            let sent: HashSet<Uuid> = left[..count].iter().map(|(_, run)| run.uuid).collect();
            for run in taken.runs.into_iter().filter(|run| sent.contains(&run.uuid)) {
                match run.outcome {
                    TakenOutcome::Added { .. } => tally.added += 1,
                    TakenOutcome::Continued { .. } => tally.continued += 1,
                    TakenOutcome::Known { .. } => tally.known += 1,
                    TakenOutcome::Refused { error } => {
                        tally.refused += 1;
                        complain(format!("the server refuses run {}: {}", run.uuid, line(&error)));
                    }
                }
            }
            left = &left[count..];
        }
        Ok(())
    }

    /// Sends something and reads the answer; again where the server has no time or the connection breaks.
    fn post<T: serde::de::DeserializeOwned>(
        &self,
        path: &str,
        media_type: &'static str,
        body: &[u8],
    ) -> Result<T, Failure> {
        let mut tried = 0;
        let said = |bytes: &[u8]| {
            let found: Option<serde_json::Value> = serde_json::from_slice(bytes).ok();
            found.and_then(|found| found["error"].as_str().map(line)).unwrap_or_else(|| "no reason".to_owned())
        };
        loop {
            tried += 1;
            let again = match self.server.post(path, self.token, media_type, body) {
                Ok((200, answer)) => {
                    let read = serde_json::from_slice(&answer);
                    return read.map_err(|_| Failure::failed(format!("{} gives no answer of assay", self.server)));
                }
                Ok((503, answer)) => said(&answer),
                Ok((status, answer)) => {
                    return Err(Failure::failed(format!("{} refuses ({status}): {}", self.server, said(&answer))));
                }
                Err(error) => error.to_string(),
            };
            if tried == TRIES {
                return Err(Failure::failed(format!(
                    "{}: {again}; what was pushed is kept there: push again, and the rest follows",
                    self.server
                )));
            }
            thread::sleep(PAUSE * 2_u32.pow(tried - 1));
        }
    }
}

/// The bytes of a store with its log.
fn length(path: &Path) -> u64 {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    let of = |path: &Path| std::fs::metadata(path).map_or(0, |found| found.len());
    of(path) + of(Path::new(&log))
}
