//! The crate's public promise, in one program.

mod hang;
mod mutated;
mod nbd;
mod scratch;
