//! A run while it goes on, on the whole of a terminal: charts step by step, the speed and latencies of now, what the
//! drive counts, and doubts as they come up.

mod device;
mod drawing;
mod screen;

use std::io::IsTerminal;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use lab::{Progress, Thermometer};
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEventKind, KeyModifiers};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use signal_hook::low_level::raise;

use crate::terminal::{color, notice};
use device::DeviceCounters;
use drawing::{ViewFrame, draw};
use screen::{DRAWS, Screen};

/// How long the view waits for a key before it draws again: short enough that an end asked for by a signal is seen at
/// once.
const EVERY: Duration = Duration::from_millis(100);
/// How old the device's counters may be.
const COUNTED: Duration = Duration::from_millis(500);

/// What is looked at.
pub struct ViewSource<'a> {
    /// Which run it is, in a line.
    pub title: String,
    /// The real target, with what tells how warm it is; none for a simulated drive.
    pub target: Option<(&'a Path, Option<Thermometer>)>,
    /// How far it has come.
    pub progress: Progress,
}

/// The view, with the thread that draws it.
pub struct View {
    shared: Arc<ViewState>,
    thread: Option<JoinHandle<()>>,
}

struct ViewState {
    title: String,
    progress: Progress,
    screen: Arc<Screen>,
    is_over: AtomicBool,
}

/// What signals ask of the view.
struct Signals {
    /// The one that has come; 0 before.
    asked: Arc<AtomicUsize>,
}

impl View {
    /// Takes the terminal and shows what goes on there.
    ///
    /// # Errors
    /// Why there is no view, in words.
    pub fn open(scene: ViewSource) -> Result<Self, String> {
        let signals = Signals::watch().map_err(|error| format!("cannot install a handler for Ctrl-C: {error}"))?;
        let device = scene.target.map(|(path, thermometer)| DeviceCounters::of(path, thermometer));
        let shared = Arc::new(ViewState {
            title: scene.title,
            progress: scene.progress,
            screen: Screen::take()?,
            is_over: AtomicBool::new(false),
        });
        let drawn = Arc::clone(&shared);
        let draws = move || drawn.go_on(device.as_ref(), &signals);
        let thread =
            std::thread::Builder::new().name(DRAWS.to_owned()).spawn(draws).map_err(|error| error.to_string())?;
        Ok(Self { shared, thread: Some(thread) })
    }
}

/// Gives the terminal back.
impl Drop for View {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::Relaxed);
        // A view that panicked has said so, and the terminal is given back.
        self.thread.take().map(JoinHandle::join);
        self.shared.screen.leave();
    }
}

impl ViewState {
    /// Draws until the run is over, or someone asks for its end.
    fn go_on(&self, device: Option<&DeviceCounters>, signals: &Signals) {
        let color = color(std::io::stderr().is_terminal());
        let mut counted: Option<(Instant, Vec<String>)> = None;
        while !self.is_over.load(Ordering::Relaxed) {
            if let Some(device) = device
                && counted.as_ref().is_none_or(|(when, _)| when.elapsed() >= COUNTED)
            {
                counted = Some((Instant::now(), device.lines()));
            }
            let lines = counted.as_ref().map(|(_, lines)| lines.clone());
            let moment = ViewFrame { title: &self.title, device: lines, color };
            let is_drawn = self.screen.draw(|frame| self.progress.look(|snapshot| draw(frame, snapshot, &moment)));
            let asks = is_drawn && asks_for_the_end();
            if !is_drawn || asks || signals.asked().is_some() {
                self.screen.leave();
                signals.pass_on(asks);
                return;
            }
        }
        self.screen.leave();
    }
}

impl Signals {
    fn watch() -> std::io::Result<Self> {
        let signals = Self { asked: Arc::default() };
        for signal in [SIGINT, SIGTERM] {
            flag::register_usize(signal, Arc::clone(&signals.asked), signal as usize)?;
        }
        Ok(signals)
    }

    /// The one that has come.
    fn asked(&self) -> Option<i32> {
        Some(self.asked.load(Ordering::Relaxed) as i32).filter(|signal| *signal != 0)
    }

    /// Says that the run ends. What came as a signal others have seen themselves; a key becomes one.
    fn pass_on(&self, is_key: bool) {
        if !is_key && self.asked().is_none() {
            return;
        }
        notice("Stopping the run; finished measurements are stored");
        if is_key {
            // A signal to oneself fails only where there is no such signal.
            raise(SIGINT).ok();
        }
    }
}

/// Waits a moment for a key; whether it is one that ends the run. A terminal that tells nothing has no keys.
fn asks_for_the_end() -> bool {
    match event::poll(EVERY) {
        Ok(true) => {
            matches!(event::read(), Ok(Event::Key(key)) if key.kind == KeyEventKind::Press && ends(key.code, key.modifiers))
        }
        Ok(false) => false,
        Err(_) => {
            std::thread::sleep(EVERY);
            false
        }
    }
}

fn ends(code: KeyCode, modifiers: KeyModifiers) -> bool {
    match code {
        KeyCode::Char('c') => modifiers.contains(KeyModifiers::CONTROL),
        KeyCode::Char('q' | 'Q') => true,
        _ => false,
    }
}
