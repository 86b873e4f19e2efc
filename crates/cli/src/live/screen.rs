//! The terminal while a view is on it: taken, drawn on, and given back however the program ends.

use std::io::{self, IsTerminal, Stderr, stderr, stdin};
use std::sync::{Arc, Mutex, PoisonError};

use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::cursor::Show;
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode};
use ratatui::{Frame, Terminal};

use crate::terminal::{hold, release};

/// The name of the thread that draws.
pub const DRAWS: &str = "live";

/// A terminal that was taken, until it is given back.
pub struct Screen {
    terminal: Mutex<Option<Terminal<CrosstermBackend<Stderr>>>>,
}

impl Screen {
    /// Takes the terminal, and has a panic give it back.
    ///
    /// # Errors
    /// If there is none, or it cannot be drawn on: why, in words.
    pub fn take() -> Result<Arc<Self>, String> {
        if !stderr().is_terminal() || !stdin().is_terminal() {
            return Err("standard error or standard input is no terminal".to_owned());
        }
        if std::env::var_os("TERM").is_none_or(|term| term.is_empty() || term == "dumb") {
            return Err("TERM says that this terminal cannot be drawn on".to_owned());
        }
        let taken = || -> io::Result<_> {
            enable_raw_mode()?;
            execute!(stderr(), EnterAlternateScreen)?;
            let mut terminal = Terminal::new(CrosstermBackend::new(stderr()))?;
            terminal.hide_cursor()?;
            terminal.clear()?;
            Ok(terminal)
        };
        let terminal = taken().map_err(|error| {
            restore();
            format!("the terminal cannot be drawn on: {error}")
        })?;
        hold();
        let screen = Arc::new(Self { terminal: Mutex::new(Some(terminal)) });
        let seen = Arc::downgrade(&screen);
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if let Some(screen) = seen.upgrade() {
                screen.leave_in_panic();
            }
            before(panic);
        }));
        Ok(screen)
    }

    /// Draws; false once the terminal was given back, which it is at once where it cannot be drawn on.
    pub fn draw(&self, draw: impl FnOnce(&mut Frame)) -> bool {
        let mut terminal = self.lock();
        let Some(own) = terminal.as_mut() else { return false };
        let is_drawn = own.draw(draw).is_ok();
        drop(terminal);
        if !is_drawn {
            self.leave();
        }
        is_drawn
    }

    /// Gives the terminal back as it was found, and tells what was held back meanwhile; false if that was done before.
    pub fn leave(&self) -> bool {
        let was_taken = self.lock().take().is_some();
        if was_taken {
            restore();
            release();
        }
        was_taken
    }

    /// The same, though the panic may be in the midst of drawing.
    fn leave_in_panic(&self) {
        if std::thread::current().name() == Some(DRAWS) {
            restore();
            release();
        } else {
            self.leave();
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Terminal<CrosstermBackend<Stderr>>>> {
        self.terminal.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        self.leave();
    }
}

/// Undoes what was done to the terminal. What fails is left: there is nobody to tell.
fn restore() {
    execute!(stderr(), LeaveAlternateScreen, Show).ok();
    disable_raw_mode().ok();
}
