//! Files and devices that are measured.
