//! Sentences with what stands between backquotes as code.

use maud::{Markup, html};

use crate::number::bound;

/// `text` with what stands between backquotes as code, and every number bound to its unit.
pub(crate) fn quoting(text: &str) -> Markup {
    html! {
        @for (place, part) in bound(text).split('`').enumerate() {
            @if place % 2 == 1 { code { (part) } } @else { (part) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_between_backquotes_is_code() {
        let said = quoting("look beneath it with `smartctl -x`, for <2 s").into_string();
        assert_eq!(said, "look beneath it with <code>smartctl -x</code>, for &lt;2\u{a0}s");
    }
}
