//! The program.

use std::process::ExitCode;

fn main() -> ExitCode {
    assay_cli::main()
}
