//! The crate's public promise, in one program.

mod unchanged;
