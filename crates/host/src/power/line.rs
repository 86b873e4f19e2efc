//! A line to an instrument: text lines out and back, over TCP or a serial device.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::fs::{OFlags, fcntl_setfl};
use rustix::termios::{ControlModes, OptionalActions, SpecialCodeIndex, tcgetattr, tcsetattr};

use super::PowerError;
use super::source::Address;
use crate::open::character_device;

/// How long one look for an answer takes at most.
const GLANCE: Duration = Duration::from_millis(100);
/// The longest answer that is taken for one, in bytes.
const ANSWER_MAX: usize = 4096;

/// A connection on which each line is one command or one answer.
pub(super) struct MeterLine {
    /// Host and port, or the serial device.
    pub address: String,
    port: MeterPort,
    patience: Duration,
    /// What has come behind the last whole line.
    pending: Vec<u8>,
}

enum MeterPort {
    Tcp(TcpStream),
    Serial(File),
}

impl MeterLine {
    /// Connects, and waits for answers no longer than `patience` from then on.
    ///
    /// # Errors
    /// If nobody is there, or the device is no serial one.
    pub fn open(address: &Address, patience: Duration) -> Result<Self, PowerError> {
        let name = match address {
            Address::Tcp(host) => host.clone(),
            Address::Serial { device, .. } => device.display().to_string(),
        };
        let port = match address {
            Address::Tcp(host) => connect(host, patience).map(MeterPort::Tcp),
            Address::Serial { device, baud } => serial(device, *baud).map(MeterPort::Serial),
        };
        let port = port.map_err(|error| PowerError::Unreachable { address: name.clone(), error })?;
        Ok(Self { address: name, port, patience, pending: Vec::new() })
    }

    /// Sends a command that has no answer.
    ///
    /// # Errors
    /// If the connection breaks.
    pub fn say(&mut self, command: &str) -> Result<(), PowerError> {
        let text = format!("{command}\n");
        let sent = match &mut self.port {
            MeterPort::Tcp(stream) => stream.write_all(text.as_bytes()),
            MeterPort::Serial(device) => device.write_all(text.as_bytes()),
        };
        sent.map_err(|error| self.broken(error))
    }

    /// Sends a query; the line that answers it.
    ///
    /// # Errors
    /// If none comes in time, or the connection breaks.
    pub fn ask(&mut self, query: &str) -> Result<String, PowerError> {
        self.say(query)?;
        let begun = Instant::now();
        loop {
            if let Some(end) = self.pending.iter().position(|&byte| byte == b'\n') {
                let line: Vec<u8> = self.pending.drain(..=end).collect();
                let text = String::from_utf8_lossy(&line).trim().to_owned();
                // Some instruments end a line with two signs, in either order.
                if !text.is_empty() {
                    return Ok(text);
                }
                continue;
            }
            if begun.elapsed() > self.patience || self.pending.len() > ANSWER_MAX {
                let (address, query) = (self.address.clone(), query.to_owned());
                return Err(PowerError::Silent { address, query, patience: self.patience });
            }
            self.receive()?;
        }
    }

    /// Takes up what has come, waiting for a moment.
    fn receive(&mut self) -> Result<(), PowerError> {
        let mut buffer = [0; 512];
        let got = match &mut self.port {
            // A stream without more to come has ended; a device without more to come is quiet.
            MeterPort::Tcp(stream) => stream.read(&mut buffer).and_then(|count| match count {
                0 => Err(io::Error::new(ErrorKind::UnexpectedEof, "the meter closed it")),
                count => Ok(count),
            }),
            MeterPort::Serial(device) => device.read(&mut buffer),
        };
        match got {
            Ok(count) => self.pending.extend(&buffer[..count]),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(self.broken(error)),
        }
        Ok(())
    }

    fn broken(&self, error: io::Error) -> PowerError {
        PowerError::Broken { address: self.address.clone(), error }
    }
}

/// A connection to the first address of the host that takes one.
fn connect(host: &str, patience: Duration) -> io::Result<TcpStream> {
    let mut last = io::Error::new(ErrorKind::NotFound, "it has no address");
    for address in host.to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, patience) {
            Ok(stream) => {
                stream.set_nodelay(true)?;
                stream.set_read_timeout(Some(GLANCE))?;
                stream.set_write_timeout(Some(patience))?;
                return Ok(stream);
            }
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// A serial device that passes bytes as they are, eight bits without parity, and whose reads wait for a moment.
fn serial(path: &Path, baud: u32) -> io::Result<File> {
    // Without NONBLOCK the kernel would wait for a modem's carrier.
    let device = character_device(path, OFlags::NOCTTY | OFlags::NONBLOCK)?;
    let mut settings = tcgetattr(&device)?;
    settings.make_raw();
    settings.control_modes |= ControlModes::CLOCAL | ControlModes::CREAD;
    settings.control_modes &= !ControlModes::CSTOPB;
    settings.set_speed(baud)?;
    settings.special_codes[SpecialCodeIndex::VMIN] = 0;
    settings.special_codes[SpecialCodeIndex::VTIME] = (GLANCE.as_millis() / 100) as u8;
    tcsetattr(&device, OptionalActions::Flush, &settings)?;
    fcntl_setfl(&device, OFlags::empty())?;
    Ok(device)
}
