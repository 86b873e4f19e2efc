//! Plans, with the trials that can be carried out here.

pub use ::plan::{
    Action, Axis, CANNOT_PURGE, Cell, Condition, Construction, Diagnostic, Field, FieldError, Fill, Idle, Limit,
    Measure, Method, MethodPart, PURGE_LEFT_OUT, Passes, Phase, Phrases, Plan, PlanLength, PlanText, Precondition,
    Purge, Repetition, Rounds, Site, Step, StepKind, StepText, Total, TrialPoint, Trials, Watched, Work, Yield,
    catalog, few_requests, leaves_as_found, parse_method, profile, quoted, render,
};

/// Reads a plan.
///
/// All lengths are checked, whichever is asked for.
///
/// # Errors
/// All mistakes that can be found in one go, in the order of the text. Where the text is not TOML, only
/// those that keep it from being so.
pub fn parse(text: &str, length: PlanLength) -> Result<Plan, Vec<Diagnostic>> {
    ::plan::parse(text, length, trial::KNOWN)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is kept of a step is known by its key: two results of one key would overwrite each other.
    #[test]
    fn every_step_of_every_plan_does_something_and_tells_its_results_apart() {
        for (name, text) in catalog::builtin() {
            let plan = parse(text, PlanLength::Full).unwrap();
            assert_eq!(plan.name, *name);
            assert_eq!(catalog::find(name).unwrap().text, *text);
            for step in plan.steps {
                let work = step.work(&Site::ANY);
                assert!(!work.phases.is_empty(), "{name}: {}", step.name);
                let keys = work.keys();
                let distinct: std::collections::HashSet<&String> = keys.iter().collect();
                assert_eq!(distinct.len(), keys.len(), "{name}: {}", step.name);
                let written = format!("name = \"p\"\n[[step]]\nname = \"s\"\ndo = \"{}\"", step.action.kind().name());
                let mistakes = parse(&written, PlanLength::Full).err().unwrap_or_default();
                let is_unknown = mistakes.iter().any(|mistake| mistake.code == "plan::unknown-kind");
                assert!(!is_unknown, "{name}: {}", step.name);
            }
        }
    }
}
