//! Texts of plans that reach other programs.
