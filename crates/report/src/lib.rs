//! What people read: one HTML file, tables for terminals, documents for programs.
