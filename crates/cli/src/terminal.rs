//! What the terminal, or whatever else is written to, takes.

use std::ffi::OsString;

/// Whether to colour what goes to a terminal or to something else: never where `NO_COLOR` is set, always where
/// `CLICOLOR_FORCE` is, else on terminals that can.
///
/// Source: no-color.org; bixense.com/clicolors.
pub fn color(is_terminal: bool) -> bool {
    decide(is_terminal, |name| std::env::var_os(name))
}

fn decide(is_terminal: bool, variable: impl Fn(&str) -> Option<OsString>) -> bool {
    let set = |name: &str| variable(name).filter(|value| !value.is_empty());
    match (set("NO_COLOR"), set("CLICOLOR_FORCE")) {
        (Some(_), _) => false,
        (None, Some(force)) if force != "0" => true,
        _ => is_terminal && set("CLICOLOR").is_none_or(|wish| wish != "0") && set("TERM").is_none_or(|is| is != "dumb"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colour_is_for_terminals_and_for_those_who_insist() {
        //            terminal  variables                                     coloured
        let table = [
            (true, vec![], true),
            (false, vec![], false),
            (true, vec![("NO_COLOR", "1")], false),
            (true, vec![("NO_COLOR", "")], true),
            (false, vec![("CLICOLOR_FORCE", "1")], true),
            (false, vec![("CLICOLOR_FORCE", "0")], false),
            (true, vec![("NO_COLOR", "1"), ("CLICOLOR_FORCE", "1")], false),
            (true, vec![("CLICOLOR", "0")], false),
            (true, vec![("TERM", "dumb")], false),
        ];
        for (is_terminal, variables, colored) in table {
            let variable = |name: &str| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| value.into());
            assert_eq!(decide(is_terminal, variable), colored, "{is_terminal} {variables:?}");
        }
    }
}
