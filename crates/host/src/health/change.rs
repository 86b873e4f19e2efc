//! What got worse between two looks at a drive's health, and what is not well.

use super::Health;

/// The bits of an NVMe drive's critical warning.
///
/// Source: NVM Express Base Specification 1.4, figure 194 "SMART / Health Information Log Page".
const WARNINGS: [&str; 6] = [
    "the available spare is below its threshold",
    "the temperature is beyond its threshold",
    "the reliability is degraded by media or internal errors",
    "it is read-only",
    "the backup of its volatile memory has failed",
    "its persistent memory is read-only or unreliable",
];

/// A figure that counts.
type HealthCount = fn(&Health) -> Option<u64>;

/// What is to be said of a drive that is `after`, and was `before` if that is known.
pub(super) fn findings(before: Option<&Health>, after: &Health) -> Vec<String> {
    let mut findings = Vec::new();
    let counts: [(&str, HealthCount, &str); 3] = [
        ("reallocated sectors or blocks", |health| health.reallocated, "the drive remapped defective ones"),
        (
            "pending sectors",
            |health| health.pending,
            "the drive could not read them and will remap them when they are written",
        ),
        ("uncorrectable errors", |health| health.uncorrectable, "the drive lost data"),
    ];
    for (name, count, meaning) in counts {
        if let (Some(was), Some(is)) = (before.and_then(count), count(after))
            && is > was
        {
            findings.push(format!(
                "The drive's health degraded during the run: {name} rose from {was} to {is}; {meaning}."
            ));
        }
    }
    findings.extend(before.and_then(|before| wear(before, after)));
    findings.extend(warning(before, after));
    findings.extend(spare(before, after));
    if let Some(warm) = after.temperature.filter(|warm| *warm > after.temperature_max()) {
        let limit = after.temperature_max();
        let whose = if after.temperature_limit.is_some() { "its own limit" } else { "the limit of most data sheets" };
        findings.push(format!(
            "The drive is at {warm} °C after the run, above {whose} of {limit} °C: cool it, or \
            thermal throttling may affect the figures."
        ));
    }
    if after.passed == Some(false) {
        let since = if before.and_then(|before| before.passed) == Some(true) { " since this run" } else { "" };
        findings.push(format!(
            "The drive reports that it is failing{since}: back up its data, and do not trust its figures."
        ));
    }
    findings
}

/// That the wear has passed a whole percent.
fn wear(before: &Health, after: &Health) -> Option<String> {
    let (was, is) = (before.wear_percent?, after.wear_percent?);
    (is.floor() > was.floor()).then(|| {
        format!(
            "The run consumed endurance: {:.0} % of the rated life is used, {:.0} % before the run.",
            is.floor(),
            was.floor()
        )
    })
}

/// What an NVMe drive warns of.
fn warning(before: Option<&Health>, after: &Health) -> Option<String> {
    let bits = after.critical_warning.filter(|bits| *bits != 0)?;
    let named = WARNINGS.iter().enumerate().filter(|(bit, _)| bits >> bit & 1 == 1).map(|(_, words)| *words);
    let words = named.collect::<Vec<_>>().join(", ");
    let is_new = before.and_then(|before| before.critical_warning) == Some(0);
    let since = if is_new { ", since this run" } else { "" };
    let words = if words.is_empty() { "of an unknown bit".to_owned() } else { words };
    Some(format!("The drive gives a critical warning (0x{bits:02x}){since}: {words}."))
}

/// That the reserve is used up, or nearly.
fn spare(before: Option<&Health>, after: &Health) -> Option<String> {
    let (spare, threshold) = (after.spare_percent?, after.spare_threshold_percent.filter(|threshold| *threshold > 0)?);
    let was = before.and_then(|before| before.spare_percent);
    let was = was.filter(|was| *was != spare).map_or_else(String::new, |was| format!(", {was} % before the run"));
    (spare < threshold).then(|| {
        format!(
            "The drive's available spare is {spare} %{was}, below its threshold of {threshold} %: the drive is near \
             its end of life."
        )
    })
}
