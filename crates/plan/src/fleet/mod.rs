//! Many drives of a kind held against each other: which of them lies apart from its peers, and in what.

mod drive;
mod effect;
mod figure;
mod peers;

pub use drive::{DriveIdentity, FleetDrive, FleetReading};
pub use effect::{FleetEffect, FleetEffects};
pub use figure::{FleetFigure, FleetPlace};
pub use peers::{Fleet, FleetError, FleetPeers, FleetRule};

#[cfg(test)]
mod tests;
