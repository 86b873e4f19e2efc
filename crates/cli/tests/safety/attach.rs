//! Attached drives and those who talk to them.
