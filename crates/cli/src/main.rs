//! assay puts a storage drive to the proof.
fn main() {}
