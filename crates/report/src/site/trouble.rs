//! What is said where a page cannot be shown.

use maud::html;

use super::frame::{SiteSection, plain};
use crate::quoting::quoting;

/// What went wrong, with what to do.
pub fn trouble(title: &str, words: &str, version: &str) -> String {
    let heading = html! { h1 { (title) } };
    let main = html! {
        section.trouble {
            p { (quoting(words)) }
            p { a href="/" { "All runs" } }
        }
    };
    plain(title, version, SiteSection::Runs, heading, main)
}

/// Asks for the token; nothing of the store is shown.
pub fn who_are_you(was_wrong: bool, version: &str) -> String {
    const TITLE: &str = "Access token required";
    let heading = html! { h1 { (TITLE) } };
    let main = html! {
        section.trouble {
            @if was_wrong { p.shortfall { "Wrong token." } }
            p { code { "assay serve" } " prints it when it starts, unless " code { "--token" } " sets it." }
            form.token action="/" method="get" {
                label for="token" { "Token" }
                input #token name="token" type="password" autocomplete="current-password" required autofocus;
                button { "Enter" }
            }
        }
    };
    plain(TITLE, version, SiteSection::Outside, heading, main)
}
