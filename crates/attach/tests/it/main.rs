//! The crate's public promise, in one program.

mod mutated;
mod nbd;
mod scratch;
