//! What systemd tells of a boot.

use crate::{Figure, Paper, Trial, TrialError};

/// What the system is asked for, in the order of the report.
pub const PAPERS: [&str; 4] = ["time", "blame", "critical-chain", "plot"];

/// Adds what the system told to the figures and papers of a trial.
///
/// # Errors
/// If it did not tell how long it took.
pub fn add(told: &str, trial: &mut Trial) -> Result<(), TrialError> {
    let time = section(told, "time").unwrap_or_default();
    let wrong = || TrialError::Unexpected { program: "systemd-analyze time".to_owned(), found: time.clone() };
    let (parts, whole) = startup(&time).ok_or_else(wrong)?;
    trial.figures.extend(parts.iter().map(|(name, seconds)| Figure::less(name, "s", *seconds)));
    trial.figures.push(Figure::less("Kernel to services", "s", whole));
    for name in PAPERS {
        if let Some(text) = section(told, name).filter(|text| !text.is_empty()) {
            let media = if text.trim_start().starts_with("<?xml") { "image/svg+xml" } else { "text/plain" };
            trial.papers.push(Paper { name: format!("systemd-analyze {name}"), media: media.to_owned(), text });
        }
    }
    let state = section(told, "state").unwrap_or_default();
    if state.trim() != "running" {
        trial.findings.push(format!(
            "The system came up as `{}`, not `running`: a unit failed to start, which may affect the time.",
            state.trim()
        ));
    }
    Ok(())
}

/// The lines between `=== NAME` and the next such line.
fn section(told: &str, name: &str) -> Option<String> {
    let (_, after) = told.split_once(&format!("=== {name}\n"))?;
    Some(after.split("=== ").next()?.to_owned())
}

/// The phases of `Startup finished in 2.1s (kernel) + 1min 4s (userspace) = 1min 6.1s`, each with its seconds, and the
/// sum. Source: systemd-analyze(1), "systemd-analyze time".
fn startup(text: &str) -> Option<(Vec<(String, f64)>, f64)> {
    let line = text.lines().find_map(|line| line.strip_prefix("Startup finished in "))?;
    let (phases, whole) = line.split_once(" = ")?;
    let phase = |phase: &str| {
        let (time, name) = phase.trim().strip_suffix(')')?.split_once(" (")?;
        let mut name = name.to_owned();
        name.get_mut(..1)?.make_ascii_uppercase();
        Some((name, seconds(time)?))
    };
    Some((phases.split(" + ").map(phase).collect::<Option<_>>()?, seconds(whole)?))
}

/// A length of time as systemd writes it: `1min 14.019s`, `985ms`.
fn seconds(text: &str) -> Option<f64> {
    let part = |part: &str| {
        let digits = part.find(|c: char| c.is_ascii_alphabetic())?;
        let unit = match &part[digits..] {
            "h" => 3600.0,
            "min" => 60.0,
            "s" => 1.0,
            "ms" => 1e-3,
            "us" => 1e-6,
            _ => return None,
        };
        Some(part[..digits].parse::<f64>().ok()? * unit)
    };
    let parts: Vec<f64> = text.split_whitespace().map(part).collect::<Option<_>>()?;
    if parts.is_empty() { None } else { Some(parts.iter().sum()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_systemd_writes_them() {
        for (text, expected) in [("1min 14.019s", 74.019), ("985ms", 0.985), ("1h 2min", 3720.0), ("30.590s", 30.59)] {
            assert!((seconds(text).unwrap() - expected).abs() < 1e-9, "{text}");
        }
        assert!(seconds("").is_none() && seconds("3").is_none() && seconds("3 days").is_none());
    }

    #[test]
    fn phases_become_figures_and_the_rest_papers() {
        let told = "=== state\nrunning\n=== time\n\
                    Startup finished in 2.500s (kernel) + 1.250s (initrd) + 1min 4s (userspace) = 1min 7.750s \n\
                    graphical.target reached after 1min 2.001s in userspace.\n\
                    === blame\n57.211s dev-sda1.device\n=== critical-chain\n\
                    === plot\n<?xml version=\"1.0\"?>\n<svg/>\n=== end\n";
        let mut trial = Trial::default();
        add(told, &mut trial).unwrap();
        let figure = |name: &str| trial.figure(name).unwrap();
        assert_eq!([figure("Kernel"), figure("Initrd"), figure("Userspace")], [2.5, 1.25, 64.0]);
        assert_eq!(figure("Kernel to services"), 67.75);
        let papers: Vec<_> = trial.papers.iter().map(|paper| (paper.name.as_str(), paper.media.as_str())).collect();
        let expected = [
            ("systemd-analyze time", "text/plain"),
            ("systemd-analyze blame", "text/plain"),
            ("systemd-analyze plot", "image/svg+xml"),
        ];
        assert_eq!(papers, expected, "what is empty is no paper");
        assert_eq!(trial.papers[1].text, "57.211s dev-sda1.device\n");
        assert!(trial.findings.is_empty());
    }

    #[test]
    fn a_system_that_tells_no_time_or_is_not_well_is_told() {
        let said =
            add("=== time\nBootup is not yet finished\n=== end\n", &mut Trial::default()).unwrap_err().to_string();
        assert!(said.contains("Bootup is not yet finished"), "{said}");
        let mut trial = Trial::default();
        let told = "=== state\ndegraded\n=== time\nStartup finished in 2s (kernel) + 1s (userspace) = 3s\n=== end\n";
        add(told, &mut trial).unwrap();
        assert!(trial.findings[0].contains("`degraded`"), "{:?}", trial.findings);
    }
}
