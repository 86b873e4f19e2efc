//! Who may look: a browser of this machine, or whoever knows the token.

use std::net::SocketAddr;

use hyper::header;
use subtle::ConstantTimeEq;

use crate::http::{HttpRequest, HttpResponse};

/// The fewest characters of a token, which nobody should find by trying.
const TOKEN_LEAST: usize = 16;
/// The random bytes of a token that is made up.
const TOKEN_BYTES: usize = 16;

/// What a program is told that is not let in.
pub const REFUSED: &str = "access is refused: send the server's token (Authorization: Bearer TOKEN), or, where it has \
                           none, ask http://127.0.0.1 or http://localhost";

/// By what somebody is let in.
#[derive(Debug)]
pub struct Access {
    token: Option<String>,
    /// Cookies are shared by all ports of a host, so each has a name of its own.
    cookie: String,
}

/// A token that the user gives. It stands in an address and a cookie, so it has no characters that mean something
/// there.
pub fn token(text: &str) -> Result<String, String> {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte));
    if !is_plain || text.len() < TOKEN_LEAST {
        return Err(format!("give at least {TOKEN_LEAST} letters, digits or - _ . ~"));
    }
    Ok(text.to_owned())
}

/// A token that nobody can guess.
fn made_up() -> String {
    let mut bytes = [0_u8; TOKEN_BYTES];
    let mut filled = 0;
    while filled < TOKEN_BYTES {
        let rest = &mut bytes[filled..];
        filled += rustix::rand::getrandom(rest, rustix::rand::GetRandomFlags::empty())
            .expect("the kernel has random bytes for every process");
    }
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

impl Access {
    /// Access at this address: to all on loopback unless a token was given, elsewhere by a token alone.
    /// By a token also where runs are taken.
    pub fn on(address: SocketAddr, given: Option<String>, takes_runs: bool) -> Self {
        let token = given.or_else(|| (takes_runs || !address.ip().is_loopback()).then(made_up));
        Self { token, cookie: format!("assay-{}", address.port()) }
    }

    /// The address for people, with the token where there is one.
    pub fn link(&self, address: SocketAddr) -> String {
        let token = self.token.as_ref().map(|token| format!("?token={token}")).unwrap_or_default();
        format!("http://{address}/{token}")
    }

    /// Whether a request brings the token in its head. A cookie, which a browser sends of itself, does not count for what changes
    /// the store.
    pub fn is_sender(&self, request: &HttpRequest) -> bool {
        let bearer = request.header(header::AUTHORIZATION).and_then(|value| value.strip_prefix("Bearer "));
        let token = self.token.as_ref().zip(bearer);
        token.is_some_and(|(token, given)| bool::from(given.as_bytes().ct_eq(token.as_bytes())))
    }

    /// What to answer instead of what was asked; none for whoever may have it.
    pub fn refusal(&self, request: &HttpRequest) -> Option<HttpResponse> {
        let Some(token) = &self.token else { return foreign(request) };
        let is_it = |given: &str| bool::from(given.as_bytes().ct_eq(token.as_bytes()));
        if self.is_sender(request) || request.cookie(&self.cookie).is_some_and(is_it) {
            return None;
        }
        match request.parameter("token") {
            Some(given) if is_it(given) => Some(self.admission(request, token)),
            given => Some(unknown(given.is_some())),
        }
    }

    /// Hands out the cookie and sends on to the same page without the token, which then is in no history.
    fn admission(&self, request: &HttpRequest, token: &str) -> HttpResponse {
        let rest = request.without("token");
        let place = if rest.is_empty() { request.path().to_owned() } else { format!("{}?{rest}", request.path()) };
        let cookie = format!("{}={token}; Path=/; HttpOnly; SameSite=Lax; Max-Age=2592000", self.cookie);
        HttpResponse::see(&place).with(header::SET_COOKIE, cookie)
    }
}

fn unknown(was_wrong: bool) -> HttpResponse {
    let page = report::site::who_are_you(was_wrong, env!("CARGO_PKG_VERSION"));
    HttpResponse::html(401, page).with(header::WWW_AUTHENTICATE, "Bearer".to_owned())
}

/// Refuses whoever calls this machine by another name than its own.
fn foreign(request: &HttpRequest) -> Option<HttpResponse> {
    if request.names_this_machine() {
        return None;
    }
    let words = "This server answers only to http://127.0.0.1 and http://localhost. For another host name start it \
        with `assay serve --token TOKEN`; whoever has the token has access.";
    Some(HttpResponse::trouble(403, "Unknown host name", words))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_made_up_where_strangers_can_reach_the_server() {
        let at = |text: &str| text.parse::<SocketAddr>().unwrap();
        assert_eq!(Access::on(at("127.0.0.1:1"), None, false).token, None);
        assert!(Access::on(at("127.0.0.1:1"), None, true).token.is_some());
        let [one, other] = [(), ()].map(|()| Access::on(at("0.0.0.0:1"), None, false).token.unwrap());
        assert!(token(&one).is_ok() && one.len() == 32 && one != other, "{one} {other}");
        assert!(token("short").is_err_and(|words| words.contains("16")));
        assert!(token("with spaces and; more").is_err());
    }
}
