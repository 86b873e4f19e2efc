//! The table by which a steady state was determined.

use maud::{Markup, html};

use super::course::{RoundsCourse, Window};
use crate::number::with_unit;
use crate::part::MeasuredStep;
use crate::table;

/// A criterion: its name, and what it is for a window.
type Criterion = (&'static str, fn(&Window) -> String);

/// What the rule allows and what was found, a column for each cell that decides.
pub(super) fn table(part: &MeasuredStep, course: &RoundsCourse) -> Markup {
    const ROWS: [Criterion; 8] = [
        ("Rounds of the window", |window| format!("{} to {}", window.first, window.last())),
        ("Mean", |window| with_unit(window.metric, window.found.mean)),
        ("Data excursion, limit", |window| window.share(window.rule.spread)),
        ("Data excursion, measured: maximum − minimum", |window| window.share(window.found.spread)),
        ("Slope excursion, limit", |window| window.share(window.rule.slope)),
        ("Slope excursion, measured: slope × (rounds − 1)", |window| window.share(window.found.slope)),
        ("Least-squares line", Window::formula),
        ("Its values in the first and last round", |window| {
            let at = |round| with_unit(window.metric, window.fitted(round));
            format!("{}, {}", at(window.first), at(window.last()))
        }),
    ];
    let table = html! {
        table.determination {
            caption { "Steady-state determination by " (super::rule_name(&course.rounds.rule())) }
            thead { tr {
                th scope="col" { "Criterion" }
                @for window in &course.windows {
                    th.number scope="col" { @if window.name.is_empty() { "Found" } @else { (window.name) } }
                }
            } }
            tbody {
                @for (criterion, of) in ROWS { tr {
                    th scope="row" { (criterion) }
                    @for window in &course.windows { td.number { (of(window)) } }
                } }
                tr.verdict-row {
                    th scope="row" { "Steady" }
                    @for window in &course.windows {
                        td.number {
                            @if window.found.steady { span.better { "met" } } @else { span.worse { "not met" } }
                        }
                    }
                }
            }
        }
    };
    table::framed(&format!("{}: determination of the steady state", part.step.title), &table)
}
