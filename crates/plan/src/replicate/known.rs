//! Published figures of a fresh drive, with the workload that each is of.

use drive::preset::{Preset, Spec};
use serde::{Deserialize, Serialize};
use workload::Workload;

use super::{Expect, Published, Use, catalog};
use crate::{Group, MethodPart, Metric, leaves_filled};

/// A figure that a review published, with its conditions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KnownFigure {
    /// What was asked of the drive.
    pub workload: Workload,
    /// What was measured.
    pub metric: Metric,
    /// In the metric's unit.
    pub value: f64,
    /// Whether a parameter of the model may be fitted to it.
    pub usage: Use,
    /// Who published it.
    pub source: String,
    /// The title of the rig in which the drive was; none where it was measured alone.
    pub rig: Option<String>,
}

/// The published figures of a drive that comes with the program as it is; none of another.
///
/// They are those of the fresh drive, the one state in which all drives are alike: how a drive was worn is each reviewer's
/// own way.
pub fn known_figures(preset: &Preset) -> Vec<KnownFigure> {
    let is_own = !preset.name.contains('?') && Preset::find(&preset.name).is_ok_and(|own| own == *preset);
    // They are as true of another specimen of the model.
    let Ok(preset) = &preset.clone().numbered(1) else { return Vec::new() };
    let names = if is_own { catalog::names() } else { Vec::new() };
    let reviews = names.into_iter().filter_map(|name| catalog::find(name).ok());
    let of_review = |review: catalog::Review| {
        let of_part = |part| of_part(part, &review.published, preset);
        review.method.parts.iter().flat_map(of_part).collect::<Vec<_>>()
    };
    reviews.flat_map(of_review).collect()
}

/// The figures that a part of a review's method has of `preset`, alone or in a rig, while it is filled once and nothing
/// else was written to it.
fn of_part(part: &MethodPart, published: &Published, preset: &Preset) -> Vec<KnownFigure> {
    let rig = match Preset::find(&part.target) {
        Ok(target) if target == *preset => None,
        Ok(Preset { title, spec: Spec::Rig(rig), .. }) if rig.drives == 1 && *rig.member == *preset => Some(title),
        _ => return Vec::new(),
    };
    let (mut found, mut is_filled) = (Vec::new(), false);
    for step in &part.plan.steps {
        is_filled = leaves_filled(step, is_filled);
        let Some(measure) = step.action.measure() else { continue };
        for cell in &measure.cells {
            let key = cell.key();
            for yielded in part.yields.iter().filter(|one| is_filled && one.step == step.name && one.cell == key) {
                let metric = yielded.quantity;
                if matches!(metric.group(), Group::Energy | Group::Elapsed) {
                    continue;
                }
                let Some(figure) = published.figures().find(|figure| figure.id == yielded.id) else { continue };
                let (Some(Expect::Value { value, .. }), None) = (figure.expect, &figure.odd) else { continue };
                let (workload, source, rig) = (cell.workload.clone(), published.source.clone(), rig.clone());
                found.push(KnownFigure { workload, metric, value, usage: figure.usage, source, rig });
            }
            if cell.workload.reads() < 100 {
                return found;
            }
        }
    }
    found
}
