//! How the program says that something went wrong.

use std::fmt::Display;
use std::process::ExitCode;

use attach::AttachError;
use lab::LabError;
use lab::plan::catalog::CatalogError;
use lab::plan::{Diagnostic, render};
use store::StoreError;

use crate::exit::Exit;
use crate::terminal::complain;

/// Why a command did not do what was asked: the words, and how the program ends for it.
#[derive(Debug)]
pub struct Failure {
    exit: Exit,
    kind: FailureKind,
}

#[derive(Debug)]
enum FailureKind {
    Sentence(String),
    /// A device holds data that may not be lost yet.
    Consent(String),
    Plan {
        file_name: String,
        text: String,
        mistakes: Vec<Diagnostic>,
    },
    /// A file whose reasons were told before.
    File {
        reasons: String,
        sentence: String,
    },
}

impl Failure {
    /// What was asked makes no sense or is refused.
    pub fn usage(sentence: impl Display) -> Self {
        Self { exit: Exit::Refused, kind: FailureKind::Sentence(sentence.to_string()) }
    }

    /// What was asked was tried and failed.
    pub fn failed(sentence: impl Display) -> Self {
        Self { exit: Exit::Failed, kind: FailureKind::Sentence(sentence.to_string()) }
    }

    /// A gate whose figures cannot tell.
    pub fn inconclusive(sentence: impl Display) -> Self {
        Self { exit: Exit::Inconclusive, kind: FailureKind::Sentence(sentence.to_string()) }
    }

    /// The user, or the system, asked for an end.
    pub fn interrupted(sentence: impl Display) -> Self {
        Self { exit: Exit::Interrupted, kind: FailureKind::Sentence(sentence.to_string()) }
    }

    /// Whether somebody asked for an end.
    pub fn is_interruption(&self) -> bool {
        self.exit == Exit::Interrupted
    }

    /// Whether consent to lose the data of a device would help.
    pub fn asks_consent(&self) -> bool {
        matches!(self.kind, FailureKind::Consent(_))
    }

    /// The plan in this file has mistakes.
    pub fn plan(file_name: &str, text: &str, mistakes: Vec<Diagnostic>) -> Self {
        Self {
            exit: Exit::Refused,
            kind: FailureKind::Plan { file_name: file_name.to_owned(), text: text.to_owned(), mistakes },
        }
    }

    /// A file is refused for reasons that were told by themselves.
    pub fn file(reasons: String, sentence: String) -> Self {
        Self { exit: Exit::Refused, kind: FailureKind::File { reasons, sentence } }
    }

    /// A plan that we wrote ourselves has mistakes: its places would tell the user nothing.
    pub fn own_plan(mistakes: Vec<Diagnostic>) -> Self {
        let sentence = |mistake: &Diagnostic| match &mistake.help {
            Some(help) => format!("{mistake}; {help}"),
            None => mistake.to_string(),
        };
        Self::usage(mistakes.iter().map(sentence).collect::<Vec<_>>().join("\n       "))
    }

    /// The words, with a place in the file where there is one, and all reasons.
    pub fn words(&self, color: bool) -> String {
        match &self.kind {
            FailureKind::File { reasons, sentence } => format!("{reasons}\n\n{sentence}"),
            FailureKind::Sentence(sentence) | FailureKind::Consent(sentence) => sentence.clone(),
            FailureKind::Plan { file_name, text, mistakes } => render(mistakes, file_name, text, color),
        }
    }

    /// Prints the words to standard error.
    pub fn tell(&self, color: bool) -> ExitCode {
        let error = if color { "\x1b[1;31merror\x1b[0m" } else { "error" };
        match &self.kind {
            FailureKind::Plan { .. } => complain(self.words(color).trim_end()),
            FailureKind::Sentence(sentence) | FailureKind::Consent(sentence) | FailureKind::File { sentence, .. } => {
                complain(format_args!("{error}: {sentence}"));
            }
        }
        self.exit_code()
    }

    /// The same as a number: see `docs/exit-codes.md`.
    pub const fn code(&self) -> u8 {
        self.exit.code()
    }

    /// The code that the program ends with.
    pub fn exit_code(&self) -> ExitCode {
        self.exit.into()
    }
}

impl From<AttachError> for Failure {
    fn from(error: AttachError) -> Self {
        match error {
            AttachError::InUse { .. }
            | AttachError::Connected { .. }
            | AttachError::Held { .. }
            | AttachError::Hung { .. }
            | AttachError::NoPartitions { .. }
            | AttachError::Socket { .. }
            | AttachError::Data(_)
            | AttachError::Fault(_)
            | AttachError::Zoned { .. }
            | AttachError::NoFuse(_)
            | AttachError::Mount { .. } => Self::usage(error),
            error => Self::failed(error),
        }
    }
}

impl From<attach::DataError> for Failure {
    fn from(error: attach::DataError) -> Self {
        Self::usage(error)
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::NoSuchRun { .. }
            | StoreError::Owned { .. }
            | StoreError::NotAStore { .. }
            | StoreError::Foreign { .. }
            | StoreError::Newer { .. } => Self::usage(error),
            error => Self::failed(error),
        }
    }
}

impl From<CatalogError> for Failure {
    fn from(error: CatalogError) -> Self {
        Self::usage(error)
    }
}

impl From<drive::preset::PresetError> for Failure {
    fn from(error: drive::preset::PresetError) -> Self {
        Self::usage(error)
    }
}

impl From<engine::TargetError> for Failure {
    fn from(error: engine::TargetError) -> Self {
        if let engine::TargetError::HasData { .. } = error {
            return Self { exit: Exit::Refused, kind: FailureKind::Consent(error.to_string()) };
        }
        Self::usage(error)
    }
}

impl From<lab::TraceFileError> for Failure {
    fn from(error: lab::TraceFileError) -> Self {
        Self::usage(error)
    }
}

impl From<LabError> for Failure {
    fn from(error: LabError) -> Self {
        match error {
            LabError::DoesNotFit { .. } => Self::usage(error),
            error => Self::failed(error),
        }
    }
}
