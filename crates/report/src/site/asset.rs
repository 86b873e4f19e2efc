//! What pages of the site load beside themselves: style, scripts.

use std::hash::{DefaultHasher, Hasher};
use std::sync::LazyLock;

use crate::page::{CHARTS, DATA, STYLE, plotly_script};

/// A file that pages load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asset {
    /// What it is, for a browser.
    pub media_type: &'static str,
    /// What it holds.
    pub text: &'static str,
}

const SITE_STYLE: &str = include_str!("site.css");
const LIVE: &str = include_str!("live.js");

static SHEET: LazyLock<String> = LazyLock::new(|| format!("{STYLE}\n{SITE_STYLE}"));

/// Plotly's program, without the element that a page with all inside has around it.
static PLOTLY: LazyLock<String> = LazyLock::new(|| {
    let element = plotly_script();
    let start = element.find('>').expect("it is an element") + 1;
    let end = element.rfind("</script>").expect("the element has an end");
    element[start..end].to_owned()
});

/// Changes with what the files hold, so that a browser may keep them under it for good.
static EDITION: LazyLock<String> = LazyLock::new(|| {
    let mut hasher = DefaultHasher::new();
    for text in [&SHEET, &PLOTLY, CHARTS, DATA, LIVE] {
        hasher.write(text.as_bytes());
    }
    format!("{:016x}", hasher.finish())
});

/// The file of this name.
pub fn asset(name: &str) -> Option<Asset> {
    const JAVASCRIPT: &str = "text/javascript; charset=utf-8";
    let (media_type, text) = match name {
        "style.css" => ("text/css; charset=utf-8", SHEET.as_str()),
        "plotly.js" => (JAVASCRIPT, PLOTLY.as_str()),
        "chart.js" => (JAVASCRIPT, CHARTS),
        "data.js" => (JAVASCRIPT, DATA),
        "live.js" => (JAVASCRIPT, LIVE),
        _ => return None,
    };
    Some(Asset { media_type, text })
}

/// Where the file of this name is.
pub(super) fn address(name: &str) -> String {
    format!("/assets/{}/{name}", *EDITION)
}
