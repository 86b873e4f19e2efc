//! The steady state at which jobs end.

use block::Nanos;
use workload::{ListError, SteadyEnd, Workload};

use super::given::FioOption;
use super::reading::OptionReader;
use super::units::SECOND;

pub(super) const CRITERION: &str = "steadystate";
const DETAILS: [&str; 3] = ["steadystate_duration", "steadystate_ramp_time", "steadystate_check_interval"];

/// Sets the steady state that ends the job, which in fio takes a criterion and a time over which it is judged; the options that
/// change nothing, with the reason.
pub(super) fn set<'s>(reading: &OptionReader<'s>, workload: &mut Workload) -> Vec<(&'s FioOption, &'static str)> {
    let [window, ramp, interval] = DETAILS.map(|name| reading.time(name, SECOND));
    let criterion = reading.option(CRITERION).and_then(|given| {
        let read = given.text().parse();
        read.map_err(|error: ListError| reading.tell(given.bad(error.to_string()))).ok()
    });
    let interval = interval.unwrap_or(SteadyEnd::TICK);
    // fio has windows of whole seconds.
    let window = Nanos::from_secs(window.unwrap_or_default().as_nanos() / SteadyEnd::TICK.as_nanos());
    let end = SteadyEnd { criterion, window, ramp: ramp.unwrap_or_default(), interval };
    if criterion.is_some() && window > Nanos::ZERO {
        workload.stop.steady = end;
        return Vec::new();
    }
    let nothing = "without both `steadystate` and a `steadystate_duration` of a second or more it changes nothing";
    let given = [CRITERION].into_iter().chain(DETAILS).filter_map(|name| reading.option(name));
    given.map(|given| (given, nothing)).collect()
}
