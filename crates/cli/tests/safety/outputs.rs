//! Files that a command line asks for.
