//! What figures lie along, where it is no axis of a sweep: names one beside the other, or a few numbers.

use plotly::common::TickMode;
use plotly::layout::{Axis, AxisType};

use super::{Along, Heads, axis, hover};

/// The ratio of the largest to the smallest number beyond which the axis is logarithmic.
const WIDE: f64 = 8.0;
/// How far apart the figures of two runs stand under one name, where names are one apart.
const ASIDE: f64 = 0.16;

/// What lies along the horizontal axis of a chart.
pub(crate) struct Ground {
    axis: Axis,
    /// What the column of its places is called in data.
    head: String,
    along: Along,
    /// Where it begins and ends.
    pub(super) ends: [f64; 2],
}

impl Ground {
    /// Names one beside the other, at 0, 1, 2 …; in data they stand below `head`.
    pub(crate) fn names(head: &str, names: &[String]) -> Self {
        let ends = [-0.5, names.len() as f64 - 0.5];
        let axis = axis("")
            .show_grid(false)
            .range(ends.to_vec())
            .tick_mode(TickMode::Array)
            .tick_values((0..names.len()).map(|at| at as f64).collect())
            .tick_text(names.iter().map(|name| hover(std::slice::from_ref(name))).collect());
        Self { axis, head: head.to_owned(), along: Along::Names, ends }
    }

    /// Numbers with their labels, under `title`; in data they stand below `head`, which has their unit.
    pub(crate) fn numbers(title: &str, head: &str, mut ticks: Vec<(f64, &str)>) -> Self {
        ticks.sort_by(|one, other| one.0.total_cmp(&other.0));
        ticks.dedup_by(|one, other| one.0 == other.0);
        let ends = [ticks.first(), ticks.last()].map(|tick| tick.map_or(0.0, |tick| tick.0));
        let is_wide = ends[0] > 0.0 && ends[1] / ends[0] > WIDE;
        let axis = axis(title)
            .type_(if is_wide { AxisType::Log } else { AxisType::Linear })
            .show_grid(false)
            .tick_mode(TickMode::Array)
            .tick_values(ticks.iter().map(|tick| tick.0).collect())
            .tick_text(ticks.iter().map(|tick| tick.1.to_owned()).collect());
        Self { axis, head: head.to_owned(), along: Along::Numbers, ends }
    }

    /// The axis with its labels.
    pub(crate) fn axis(&self) -> Axis {
        self.axis.clone()
    }

    /// Whether what lies along it has an order, so that lines may join its figures.
    pub(super) fn is_ordered(&self) -> bool {
        self.along == Along::Numbers
    }

    /// How far aside of a name the figure of the run at `rank` among `runs` stands; numbers are where they are.
    pub(crate) fn aside(&self, rank: usize, runs: usize) -> f64 {
        let middle = (runs as f64 - 1.0) / 2.0;
        if self.is_ordered() { 0.0 } else { (rank as f64 - middle) * ASIDE }
    }

    /// What the columns of its data are called, with `what` is drawn.
    pub(crate) fn heads(&self, what: &str) -> Heads {
        Heads::new(self.head.clone(), what).along(self.along)
    }
}
