//! The terminal while a view is on it: taken, drawn on, and given back however the program ends.

use std::io::{self, IsTerminal, Stderr, stderr, stdin};
use std::sync::{Arc, Mutex, PoisonError};

use ratatui::backend::{Backend, CrosstermBackend};
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
            return Err("standard error or standard input is not a terminal".to_owned());
        }
        if std::env::var_os("TERM").is_none_or(|term| term.is_empty() || term == "dumb") {
            return Err("TERM names a terminal without cursor control".to_owned());
        }
        let taken = || -> io::Result<_> {
            enable_raw_mode()?;
            execute!(stderr(), EnterAlternateScreen)?;
            let mut terminal = Terminal::new(CrosstermBackend::new(stderr()))?;
            terminal.hide_cursor()?;
            // The terminal's own way to clear asks where the cursor is, which a serial console may never answer.
            terminal.backend_mut().clear()?;
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

#[cfg(test)]
mod tests {
    use std::process::Command;
    use std::time::{Duration, Instant};

    use super::*;

    /// What panics while a screen is taken: whoever does the work, or whoever draws.
    fn panics(draws: bool) {
        let screen = Screen::take().expect("tmux has a terminal");
        let work = move || {
            screen.draw(|frame| {
                frame.render_widget("drawn", frame.area());
                assert!(!draws, "on purpose");
            });
            panic!("on purpose");
        };
        let name = if draws { DRAWS } else { "work" };
        std::thread::Builder::new().name(name.to_owned()).spawn(work).unwrap().join().unwrap_err();
        std::thread::sleep(Duration::from_secs(30));
    }

    #[test]
    #[ignore = "needs a terminal of its own, which the test of panics gives it"]
    fn work_panics() {
        panics(false);
    }

    #[test]
    #[ignore = "needs a terminal of its own, which the test of panics gives it"]
    fn drawing_panics() {
        panics(true);
    }

    /// The program still runs when this looks, so that it is not its end that gave the terminal back.
    #[test]
    fn a_panic_gives_the_terminal_back_and_is_read_there() {
        if Command::new("tmux").arg("-V").output().is_err() {
            eprintln!("skipped: tmux is not installed");
            return;
        }
        for name in ["work_panics", "drawing_panics"] {
            let folder = tempfile::tempdir().unwrap();
            let socket = folder.path().join("tmux");
            let tmux = |arguments: &[&str]| {
                let output = Command::new("tmux").env_remove("TMUX").arg("-S").arg(&socket).args(arguments).output();
                String::from_utf8_lossy(&output.unwrap().stdout).into_owned()
            };
            let program = std::env::current_exe().unwrap();
            let test = format!("{}::{name}", module_path!().split_once("::").unwrap().1);
            let line = format!("{} --ignored --exact --nocapture {test}", program.display());
            tmux(&["-f", "/dev/null", "new-session", "-d", "-x", "120", "-y", "40", &line]);
            let began = Instant::now();
            let shown = loop {
                let shown = tmux(&["capture-pane", "-p"]);
                if shown.contains("on purpose") || began.elapsed() > Duration::from_secs(20) {
                    break shown;
                }
                std::thread::sleep(Duration::from_millis(50));
            };
            let state = tmux(&["display-message", "-p", "#{alternate_on} #{cursor_flag} #{pane_tty}"]);
            let [alternate, cursor, tty] = state.split_whitespace().collect::<Vec<_>>()[..] else { panic!("{state}") };
            let stty = Command::new("stty").args(["-a", "-F", tty]).output().unwrap();
            let settings = String::from_utf8_lossy(&stty.stdout).into_owned();
            tmux(&["kill-server"]);
            assert!(shown.contains("on purpose"), "{name}: {shown}");
            assert_eq!((alternate, cursor), ("0", "1"), "{name}: {shown}");
            assert!(settings.contains(" icanon") && settings.contains(" echo "), "{name}: {settings}");
        }
    }
}
