//! A token that is in no command line, which other users of the machine see.

use std::path::Path;

use host::Within;

use super::access;
use crate::failure::Failure;

/// The variable that may have it.
const VARIABLE: &str = "ASSAY_TOKEN";
/// The longest file that may have it, in bytes.
const LONGEST: u64 = 4096;

/// The token in this file, or that of the environment; none where neither has one.
///
/// # Errors
/// If the file cannot be read, or what is found is no token.
pub fn read(file: Option<&Path>) -> Result<Option<String>, Failure> {
    let (place, found) = match file {
        Some(file) => {
            let wrong = |error| Failure::usage(format!("the token cannot be read from {}: {error}", file.display()));
            (file.display().to_string(), Within::folder_of(file).text(file, LONGEST).map_err(wrong)?)
        }
        None => match std::env::var(VARIABLE) {
            Ok(found) if !found.is_empty() => (VARIABLE.to_owned(), found),
            _ => return Ok(None),
        },
    };
    let token = access::token(found.trim());
    token.map(Some).map_err(|wanted| Failure::usage(format!("{place} has no token; {wanted}")))
}
