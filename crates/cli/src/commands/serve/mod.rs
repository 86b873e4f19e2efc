//! `assay serve`: the store as pages for a browser.

mod accept;
mod access;
mod catalog;
mod compare;
mod drive;
mod fleet;
mod list;
mod live;
mod refusal;
mod routes;
mod run;
pub mod secret;
mod server;
mod site;

use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use host::program;
use store::Store;

use self::access::Access;
use self::site::Site;
use crate::failure::Failure;
use crate::terminal::{notice, say};

const PORT: u16 = 7878;

const AFTER_HELP: &str = "Whoever can reach the address can read every run. On loopback that is this machine; any \
other address needs a token, which is generated and printed with the address unless --token gives one. Nothing in the \
store can be changed from a browser. With --accept, whoever has the token can also add runs (assay push), on loopback too. Connections \
are not encrypted: across a network put an ssh tunnel or a proxy with TLS in front. Ctrl-C ends the server.";

/// What was asked of `assay serve`.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Arguments {
    /// Address and port to listen on, or a port on localhost; port 0 picks a free one
    #[arg(long, value_name = "ADDR:PORT", default_value = "127.0.0.1:7878", value_parser = address)]
    listen: SocketAddr,

    /// Access token for browsers, at least 16 characters
    #[arg(long, value_parser = access::token)]
    token: Option<String>,

    /// Take runs that other machines push (assay push); they need the token
    #[arg(long, conflicts_with = "token")]
    accept: bool,

    /// Read the access token from this file, which the command line does not show to other users
    #[arg(long, value_name = "FILE", conflicts_with = "token")]
    token_file: Option<PathBuf>,

    /// Open the first page in the browser
    #[arg(long)]
    open: bool,
}

/// `127.0.0.1:7878`, `[::1]:7878`, `localhost:7878`, `7878`.
fn address(text: &str) -> Result<SocketAddr, String> {
    let loopback = |port: &str| port.parse().ok().map(|port: u16| SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
    let bare = || text.parse::<IpAddr>().ok().map(|address| SocketAddr::new(address, PORT));
    text.parse()
        .ok()
        .or_else(|| loopback(text.strip_prefix("localhost:").unwrap_or(text)))
        .or_else(bare)
        .ok_or_else(|| "give an address and a port, such as 127.0.0.1:7878 or [::1]:7878".to_owned())
}

/// Serves the store in this file until somebody asks for the end.
pub fn run(store: &Path, arguments: &Arguments) -> Result<(), Failure> {
    // A file that is no store is told at once, not to whoever asks for a page.
    drop(Store::open_to_read(store)?);
    let token = match &arguments.token {
        Some(token) => Some(token.clone()),
        None => secret::read(arguments.token_file.as_deref())?,
    };
    if arguments.accept {
        // It is made, or brought up to date, before the first run comes.
        drop(Store::open(store)?);
    }
    let listener = TcpListener::bind(arguments.listen).map_err(|error| {
        Failure::usage(format!(
            "cannot listen on {}: {error}; give another address or port with --listen, such as 127.0.0.1:0 for a free port",
            arguments.listen
        ))
    })?;
    let address = listener.local_addr().map_err(Failure::failed)?;
    let access = Access::on(address, token, arguments.accept);
    let link = access.link(address);
    say(&format!("{link}\n"))?;
    let file = std::path::absolute(store).unwrap_or_else(|_| store.to_owned());
    notice(format_args!("Serving {}; Ctrl-C ends it.", file.display()));
    if arguments.open {
        open(&link);
    }
    server::serve(
        &listener,
        Site {
            store: file,
            access,
            plans: live::Plans::default(),
            accepts: arguments.accept.then(site::Turn::default),
        },
    )
    .map_err(|error| Failure::failed(format!("the server ended: {error}")))
}

/// Asks the desktop for a browser.
fn open(link: &str) {
    let start = || -> Result<(), Box<dyn std::error::Error>> {
        let mut command = program::command("xdg-open")?;
        program::start(command.arg(link).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()))?;
        Ok(())
    };
    if let Err(error) = start() {
        notice(format_args!("No browser could be opened (xdg-open: {error}); open the address by hand."));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_written_in_full_or_by_its_port() {
        let read = |text: &str| address(text).map(|address| address.to_string());
        assert_eq!(read("7000").as_deref(), Ok("127.0.0.1:7000"));
        assert_eq!(read("localhost:7000").as_deref(), Ok("127.0.0.1:7000"));
        assert_eq!(read("0.0.0.0:80").as_deref(), Ok("0.0.0.0:80"));
        assert_eq!(read("::1").as_deref(), Ok("[::1]:7878"));
        assert!(read("example").is_err_and(|words| words.contains("127.0.0.1:7878")));
        assert!(read("127.0.0.1:99999").is_err());
    }
}
