//! A server over a place's store, and requests to it as they go over the wire.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::time::Duration;

use super::Place;

/// `assay serve` at a free port, until dropped.
pub struct Served {
    pub child: Child,
    /// What it printed first.
    pub link: String,
    /// `127.0.0.1:PORT`.
    pub host: String,
}

/// What the server answered.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub head: String,
    pub body: String,
}

impl Served {
    pub fn new(place: &Place, options: &[&str]) -> Self {
        Self::at(place, "127.0.0.1:0", options)
    }

    pub fn at(place: &Place, listen: &str, options: &[&str]) -> Self {
        let mut command = place.command(&["serve", "--listen", listen]);
        let mut child = command.args(options).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut link = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut link).unwrap();
        let link = link.trim().to_owned();
        let port = link.trim_start_matches("http://").split(['/', '?']).next().unwrap().rsplit(':').next().unwrap();
        let host = format!("127.0.0.1:{port}");
        Self { child, link, host }
    }

    /// The address of a page.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.host)
    }

    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.host).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        stream
    }

    /// Asks for a page as a browser of this machine does.
    pub fn get(&self, path: &str) -> Answer {
        self.ask(path, &[])
    }

    /// The same with lines of the head, which may name another host.
    pub fn ask(&self, path: &str, lines: &[&str]) -> Answer {
        let own = format!("Host: {}", self.host);
        let host = if lines.iter().any(|line| line.starts_with("Host:")) { None } else { Some(own.as_str()) };
        let all: Vec<&str> = host.into_iter().chain(lines.iter().copied()).collect();
        self.raw(&format!("GET {path} HTTP/1.1\r\n{}\r\n\r\n", all.join("\r\n")))
    }

    /// Sends just this.
    pub fn raw(&self, request: &str) -> Answer {
        let mut stream = self.connect();
        stream.write_all(request.as_bytes()).unwrap();
        self.answer(stream)
    }

    /// What comes of what was sent.
    pub fn answer(&self, mut stream: TcpStream) -> Answer {
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no answer: {text}"));
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Answer { status, head: head.to_owned(), body: body.to_owned() }
    }

    /// The processor time that the server has used, of all its threads and with the kernel's on their behalf.
    pub fn processor_time(&self) -> Duration {
        // Ticks of `USER_HZ`, which Linux has fixed at 100 a second: man 5 proc_pid_stat, fields 14 and 15.
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id())).unwrap();
        let fields: Vec<&str> = stat.rsplit_once(") ").unwrap().1.split(' ').collect();
        let ticks: u64 = fields[11..13].iter().map(|ticks| ticks.parse::<u64>().unwrap()).sum();
        Duration::from_millis(ticks * 10)
    }

    /// Asks the server to end, as Ctrl-C does; how it did.
    pub fn interrupt(&mut self) -> Option<i32> {
        let id = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(id, rustix::process::Signal::INT).unwrap();
        self.child.wait().unwrap().code()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}
