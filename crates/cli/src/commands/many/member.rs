//! The process of one drive, as the one that started it sees it.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use host::program;
use rustix::process::{Pid, Signal, kill_process};
use store::RunId;

use super::order::{MemberNews, MemberOrder, WORD};
use crate::failure::Failure;

/// How long what a process has said takes at most to be heard once it has ended.
const LINGER: Duration = Duration::from_secs(1);
/// As much of what a process complains about is kept.
const WORDS_MAX: u64 = 64 << 10;

/// The process of one drive. It ends in good order when this is dropped.
pub struct Member {
    child: Child,
    /// Open for as long as the process shall go on.
    _orders: ChildStdin,
    news: Receiver<MemberNews>,
    complaints: Option<JoinHandle<String>>,
    pub run: Option<RunId>,
}

impl Member {
    /// Starts the process.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn start(order: &MemberOrder) -> Result<Self, Failure> {
        let failed = |error: std::io::Error| {
            Failure::failed(format!("the process of {} cannot be started: {error}", order.target))
        };
        let mut command = program::at(&std::env::current_exe().map_err(failed)?);
        command.arg(WORD).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // A group of its own: Ctrl-C reaches it once, by the one that started it.
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = program::start(&mut command).map_err(failed)?;
        let (mut orders, said, complained) = match (child.stdin.take(), child.stdout.take(), child.stderr.take()) {
            (Some(orders), Some(said), Some(complained)) => (orders, said, complained),
            _ => unreachable!("all three were asked for"),
        };
        let (sender, news) = channel();
        std::thread::spawn(move || {
            let lines = BufReader::new(said).lines().map_while(Result::ok);
            lines.filter_map(|line| serde_json::from_str(&line).ok()).try_for_each(|one| sender.send(one)).ok();
        });
        let complaints = std::thread::spawn(move || {
            let mut complained = complained;
            let mut bytes = Vec::new();
            // What came before an error is all there is; what is too much is read and forgotten, or it would wait.
            complained.by_ref().take(WORDS_MAX).read_to_end(&mut bytes).ok();
            std::io::copy(&mut complained, &mut std::io::sink()).ok();
            String::from_utf8_lossy(&bytes).trim_end().to_owned()
        });
        let line = serde_json::to_string(order).expect("words and numbers always serialise") + "\n";
        // One that has ended already has said why.
        orders.write_all(line.as_bytes()).ok();
        Ok(Self { child, _orders: orders, news, complaints: Some(complaints), run: None })
    }

    /// Takes what it has said since.
    pub fn hear(&mut self) {
        self.run = self.news.try_iter().last().map_or(self.run, |news| Some(news.run));
    }

    /// How it has ended; none while it runs.
    ///
    /// # Errors
    /// If the kernel does not say.
    pub fn ended(&mut self) -> Result<Option<ExitStatus>, Failure> {
        self.child.try_wait().map_err(Failure::failed)
    }

    /// Asks it to end in good order.
    pub fn stop(&self) {
        if let Some(number) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) {
            // One that has ended hears nothing.
            kill_process(number, Signal::TERM).ok();
        }
    }

    /// What it complained about, once it has ended, and all has been heard that it said.
    pub fn last_words(&mut self) -> String {
        // A process of its own that cleans up after it may hold the pipe for longer.
        while let Ok(news) = self.news.recv_timeout(LINGER) {
            self.run = Some(news.run);
        }
        self.complaints.take().and_then(|reader| reader.join().ok()).unwrap_or_default()
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            self.stop();
            self.child.wait().ok();
        }
    }
}
