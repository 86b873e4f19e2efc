//! Stores that are something else, or hostile.
