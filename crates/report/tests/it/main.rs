//! The crate's public promise, in one program.

mod browser;
mod data;
mod export;
mod html;
mod mutated_stores;
#[cfg(feature = "parquet")]
mod parquet;
mod prediction;
mod replication;
mod rounds;
mod shared;
mod summary;
mod support;
mod trials;
