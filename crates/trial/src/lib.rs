//! Trials of what stands between a program and a drive: file systems, schedulers, databases, a system that boots.
//!
//! A trial takes place on a [`TrialDevice`], a block device that the kernel sees: a real one, a loop device over a file, or an
//! attached simulated drive. An [`Experiment`] is one kind of trial, and its [`Procedure`] how that is done; what it can be told is a list of [`Choice`]s,
//! from which plans are read and documented; what comes of it is a [`Trial`], which is stored and reported without knowledge
//! of its kind. Whatever a trial does to the machine is promised to the [`Cleanup`] first, which undoes it even if the
//! process is killed.

/// The page on contributing holds its code to what compiles.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/contributing.md")]
struct Contributing;

mod boot;
mod cleanup;
mod database;
mod error;
mod experiment;
mod files;
mod folder;
mod memory;
mod meters;
mod mount;
mod permitted;
mod scheduler;
mod task;
mod trial_device;

pub use cleanup::{Cleanup, CleanupAction, CleanupGuard, Settled};
pub use database::{BenchOptions, DatabaseSettings};
pub use error::TrialError;
pub use experiment::{EXPERIMENTS, KNOWN, Procedure, TrialContext, procedure};
pub use host::{Ended, ProgramError, Tools};
pub use measurement::{Better, Course, Figure, Paper, Trial};
pub use mount::{MakeOptions, MountOptions};
pub use plan::{Choice, ChoiceError, ChoiceKind, Choices, ChoicesError, Experiment, Refused};

pub use trial_device::TrialDevice;
