//! Results in SQLite: every run, every measurement, with the conditions.
