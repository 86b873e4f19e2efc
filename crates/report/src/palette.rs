//! Whether the page's colours can be told from what they stand on: WCAG 2.2, 1.4.3 and 1.4.11, level AA.

use std::collections::HashMap;

/// Red, green and blue, from 0 to 1.
type Color = [f64; 3];

/// The colours of the page on a light screen and on a dark one, by variable.
fn palettes() -> [HashMap<&'static str, Color>; 2] {
    let style = include_str!("style.css");
    let (light, dark) = style.split_once("@media screen and (prefers-color-scheme: dark)").expect("there are two");
    let read = |text: &'static str| -> HashMap<&str, Color> {
        let end = text.find("color-scheme:").expect("the palette ends with its scheme");
        let lines = text[..end].lines().filter_map(|line| line.trim().strip_prefix("--")?.split_once(": #"));
        lines.map(|(name, digits)| (name, color(digits.trim_end_matches(';')))).collect()
    };
    [read(light), read(dark)]
}

fn color(digits: &str) -> Color {
    [0, 2, 4].map(|at| f64::from(u8::from_str_radix(&digits[at..at + 2], 16).expect("hexadecimal")) / 255.0)
}

/// `share` percent of `ink` over `paper`, as `color-mix(in srgb, …, transparent)` puts it there.
fn over(ink: Color, share: f64, paper: Color) -> Color {
    std::array::from_fn(|i| ink[i] * share / 100.0 + paper[i] * (1.0 - share / 100.0))
}

/// WCAG 2.2, "contrast ratio" and "relative luminance".
fn contrast(one: Color, other: Color) -> f64 {
    let linear = |part: f64| if part <= 0.04045 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) };
    let light = |[r, g, b]: Color| 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
    let (one, other) = (light(one), light(other));
    (one.max(other) + 0.05) / (one.min(other) + 0.05)
}

#[test]
fn text_can_be_read_on_everything_that_it_stands_on() {
    for (scheme, colors) in ["light", "dark"].into_iter().zip(palettes()) {
        for paper in ["paper", "wash"] {
            for ink in ["ink", "quiet", "link", "doubt", "bad", "good"] {
                let found = contrast(colors[ink], colors[paper]);
                assert!(found >= 4.5, "{scheme}: {ink} on {paper} has {found:.2}, text needs 4.5");
            }
        }
        // Behind figures of a matrix and behind errors, at their deepest.
        for (hue, deepest) in [("series-1", 38.0), ("series-1", 45.0), ("series-2", 45.0)] {
            let ground = over(colors[hue], deepest, colors["paper"]);
            let found = contrast(colors["ink"], ground);
            assert!(found >= 4.5, "{scheme}: ink on {deepest} % of {hue} has {found:.2}, text needs 4.5");
        }
    }
}

#[test]
fn lines_and_fields_of_charts_can_be_told_from_the_paper() {
    for (scheme, colors) in ["light", "dark"].into_iter().zip(palettes()) {
        for place in 1..=6 {
            let found = contrast(colors[format!("series-{place}").as_str()], colors["paper"]);
            assert!(found >= 3.0, "{scheme}: series {place} on paper has {found:.2}, graphics need 3");
        }
        let ramp: Vec<f64> =
            (1..=5).map(|step| contrast(colors[format!("heat-{step}").as_str()], colors["paper"])).collect();
        assert!(ramp.is_sorted() && ramp[0] > 1.15, "{scheme}: more stands out more: {ramp:.2?}");
        assert!(ramp.windows(2).all(|two| two[1] / two[0] >= 1.3), "{scheme}: steps can be told apart: {ramp:.2?}");
    }
}
