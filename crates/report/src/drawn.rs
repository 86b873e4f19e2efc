//! A chart as it stands in a page.

use maud::{Markup, PreEscaped, html};

use crate::chart::Panel;

/// The panels of a chart with their caption.
pub(crate) fn figure(title: &str, panels: &[Panel], caption: &str) -> Markup {
    html! {
        figure {
            div.panels {
                @for panel in panels {
                    div.panel {
                        p.panel-title { (panel.title) @if panel.is_logarithmic { span { "; log scale" } } }
                        div.chart role="img" aria-label={ (title) ": " (panel.title) ". " (panel.spoken) }
                            data-x=(panel.heads.x) data-y=(panel.heads.y) data-z=[panel.heads.z]
                            data-along=(panel.heads.along.name()) {}
                        script type="application/json" { (PreEscaped(&panel.json)) }
                    }
                }
            }
            figcaption { (caption) }
        }
    }
}
