//! The crate's public promise, in one program.

mod device;
mod faults;
mod handover;
mod limits;
mod parts;
mod real;
mod replay;
mod together;
mod verify;
mod zones;
