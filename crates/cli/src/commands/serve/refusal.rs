//! Why a page is not shown, and what is answered instead.

use lab::LabError;
use lab::compare::CompareError;
use lab::gate::LimitError;
use store::{RunId, StoreError};

use crate::http::{HttpResponse, JSON, Trouble};

/// What cannot be shown, and why.
#[derive(Debug)]
pub enum Refusal {
    /// There is no such page.
    NoSuchPage,
    /// The store has no run of such a drive.
    NoSuchDrive(String),
    /// The store has it not, or cannot be read.
    Store(StoreError),
    /// What is stored cannot be read.
    Lab(LabError),
    /// The runs cannot be compared.
    Compare(CompareError),
    /// What was asked makes no sense; what would.
    Asked(String),
    /// Only who brings the token in the head may send something.
    NoSender,
    /// More was sent than is taken.
    Long(String),
    /// It may be done another time.
    Busy(String),
}

impl From<StoreError> for Refusal {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<LabError> for Refusal {
    fn from(error: LabError) -> Self {
        match error {
            LabError::Store(error) => Self::Store(error),
            error => Self::Lab(error),
        }
    }
}

/// Nothing is limited here, so that no limit can be of a point that a run does not measure.
impl From<LimitError> for Refusal {
    fn from(error: LimitError) -> Self {
        Self::Asked(sentence(error))
    }
}

impl From<CompareError> for Refusal {
    fn from(error: CompareError) -> Self {
        Self::Compare(error)
    }
}

impl Refusal {
    /// The number that HTTP has for it, what it is in a few words, and in sentences.
    fn told(self) -> (u16, &'static str, String) {
        match self {
            Self::NoSuchPage => (404, "No such page", "There is no page at this address.".to_owned()),
            Self::NoSuchDrive(words) => (404, "No such drive", words),
            Self::Store(error @ StoreError::NoSuchRun { .. }) => (404, "No such run", sentence(error)),
            Self::Store(error) => (500, "The store cannot be read", sentence(error)),
            Self::Lab(error) => (500, "This run cannot be read", sentence(error)),
            Self::Compare(error) => (400, "The runs cannot be compared", sentence(error)),
            Self::NoSender => (401, "No token", super::access::REFUSED.to_owned()),
            Self::Long(words) => (413, "Too long", words),
            Self::Busy(words) => (503, "Not now", words),
            Self::Asked(words) => (400, "This cannot be shown", words),
        }
    }

    /// The answer for programs.
    pub fn json(self) -> HttpResponse {
        let (status, _, words) = self.told();
        HttpResponse::json_error(status, &words)
    }
}

impl From<Refusal> for HttpResponse {
    fn from(refusal: Refusal) -> Self {
        let (status, title, words) = refusal.told();
        Self::trouble(status, title, &words)
    }
}

impl HttpResponse {
    /// A page that says what went wrong and what to do.
    pub fn trouble(status: u16, title: &str, words: &str) -> Self {
        Self::html(status, report::site::trouble(title, words, env!("CARGO_PKG_VERSION")))
    }
}

impl HttpResponse {
    /// An error as the API tells it.
    pub fn json_error(status: u16, words: &str) -> Self {
        Self::of(status, JSON, serde_json::json!({ "error": words }).to_string() + "\n")
    }
}

impl From<Trouble> for HttpResponse {
    fn from(trouble: Trouble) -> Self {
        Self::trouble(trouble.status, trouble.title, trouble.words)
    }
}

/// An error with a capital at its beginning and a full stop at its end.
fn sentence(error: impl std::fmt::Display) -> String {
    let text = error.to_string();
    let mut letters = text.chars();
    let first = letters.next().map(|first| first.to_ascii_uppercase());
    let end = if text.ends_with('.') { "" } else { "." };
    format!("{}{}{end}", first.map(String::from).unwrap_or_default(), letters.as_str())
}

/// The number of a run, as it stands in an address.
pub fn number(text: &str) -> Result<RunId, Refusal> {
    let wanted = || Refusal::Asked(format!("Invalid run number: {}.", shortened(text)));
    text.trim().parse().map(RunId).map_err(|_| wanted())
}

/// As much of what somebody typed as is worth saying again.
fn shortened(text: &str) -> String {
    let most = 40;
    if text.chars().count() <= most { text.to_owned() } else { text.chars().take(most).chain(['…']).collect() }
}
