//! What came of a trial.

use serde::{Deserialize, Serialize};

/// What came of one go of a trial.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    /// What was measured, the most important first.
    pub figures: Vec<Figure>,
    /// What was measured over time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub courses: Vec<Course>,
    /// Under what conditions, each with its name: versions of programs, command lines, settings of the kernel.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<(String, String)>,
    /// What programs wrote that is worth keeping as it is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub papers: Vec<Paper>,
    /// Doubts: what was found and what it means for the reader, in a sentence or two each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<String>,
}

impl Trial {
    /// The value of a figure; none if it was not measured.
    pub fn figure(&self, name: &str) -> Option<f64> {
        self.figures.iter().find(|figure| figure.name == name).map(|figure| figure.value)
    }

    /// What it would have been at full speed, where `speed` of the drive's seconds passed in each of the machine's. The
    /// work of the machine's processors is then taken to be so much faster than it is.
    #[must_use]
    pub fn at_full_speed(mut self, speed: f64) -> Self {
        for figure in &mut self.figures {
            figure.value *= factor(&figure.unit, speed);
        }
        for course in &mut self.courses {
            let by = factor(&course.unit, speed);
            course.points.iter_mut().for_each(|point| *point = (point.0 * speed, point.1 * by));
        }
        self
    }
}

/// By how much a figure of this unit changes if time passes `speed` times as fast.
fn factor(unit: &str, speed: f64) -> f64 {
    match unit {
        "s" => speed,
        unit if unit.ends_with("/s") => 1.0 / speed,
        _ => 1.0,
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// What it is, as a heading: `Transactions`, `Latency, 99 %`.
    pub name: String,
    /// Its unit: `1/s`, `MB/s`, `s`, `%`. Times are in seconds, rates in bytes (`B/s`) or events (`1/s`); those who show
    /// them choose the prefix.
    pub unit: String,
    /// How much it is.
    pub value: f64,
    pub better: Better,
}

impl Figure {
    /// A figure of which more is better.
    pub fn more(name: &str, unit: &str, value: f64) -> Self {
        Self { name: name.to_owned(), unit: unit.to_owned(), value, better: Better::More }
    }

    /// A figure of which less is better.
    pub fn less(name: &str, unit: &str, value: f64) -> Self {
        Self { better: Better::Less, ..Self::more(name, unit, value) }
    }

    /// A figure that tells something and is neither good nor bad.
    pub fn neither(name: &str, unit: &str, value: f64) -> Self {
        Self { better: Better::Neither, ..Self::more(name, unit, value) }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Better {
    More,
    Less,
    /// It only tells something.
    Neither,
}

/// A figure over time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Course {
    /// What it is: `Transactions`.
    pub name: String,
    /// Its unit, as in [`Figure::unit`].
    pub unit: String,
    /// Seconds since the beginning, and how much it was then.
    pub points: Vec<(f64, f64)>,
}

/// What a program wrote, kept as it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Paper {
    /// What it is: `systemd-analyze blame`.
    pub name: String,
    /// Its media type: `text/plain`, `image/svg+xml`.
    pub media: String,
    pub text: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_measured_slowed_down_is_scaled_back() {
        let figures = vec![
            Figure::more("Rate", "B/s", 100.0),
            Figure::less("Latency, mean", "s", 8.0),
            Figure::neither("Processor", "%", 5.0),
        ];
        let course = Course { name: "Rate".into(), unit: "1/s".into(), points: vec![(4.0, 10.0)] };
        let slow = Trial { figures, courses: vec![course], ..Trial::default() };
        let full = slow.at_full_speed(0.25);
        let values: Vec<f64> = full.figures.iter().map(|figure| figure.value).collect();
        assert_eq!(values, [400.0, 2.0, 5.0]);
        assert_eq!(full.courses[0].points, [(1.0, 40.0)]);
    }
}
