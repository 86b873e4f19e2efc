//! What else differs between runs than what was to be compared.

use host::Environment;
use measurement::Run;

/// What a reader must know of the conditions before a difference is put down to the target.
pub(super) fn caveats(base: &Run, other: &Run) -> Vec<String> {
    let is_simulated = |run: &Run| run.target.starts_with("sim:");
    let mut said = Vec::new();
    if (&base.version, &base.commit) != (&other.version, &other.commit) {
        said.push(format!(
            "Runs {} and {} were made by different builds of assay ({} and {}), which may cause differences.",
            base.id,
            other.id,
            build(base),
            build(other)
        ));
    }
    match (is_simulated(base), is_simulated(other)) {
        (true, true) if base.seed == other.seed => said.push(format!(
            "Runs {} and {} used the same random requests (seed {}). The test assumes independent repeats, so it is \
             conservative here.",
            base.id, other.id, base.seed
        )),
        (false, false) => {
            said.push(format!(
                "The repeats of a run are close together in time. Variation between runs (temperature, a reboot, the \
                 placement of a file) is not in their variance: repeat run {} and run {} before attributing a small \
                 difference to the target.",
                base.id, other.id
            ));
            said.extend(hosts(base, other));
        }
        (one, two) if one != two => said.push(format!(
            "Of runs {} and {}, one is on a simulated drive and one on a real target; only the real one's figures \
             include the host's time.",
            base.id, other.id
        )),
        _ => {}
    }
    if base.direct != other.direct {
        said.push(format!("One of runs {} and {} used the page cache and the other bypassed it.", base.id, other.id));
    }
    said
}

fn build(run: &Run) -> String {
    match run.commit.get(..12) {
        Some(commit) => format!("{} {commit}", run.version),
        None => run.version.clone(),
    }
}

/// Where two runs on real targets had different hosts, kernels or file systems.
fn hosts(base: &Run, other: &Run) -> Option<String> {
    let read = |run: &Run| serde_json::from_str::<Environment>(&run.environment).ok();
    let (one, two) = read(base).zip(read(other))?;
    let facts = [
        ("host", one.hostname != two.hostname),
        ("kernel", one.kernel != two.kernel),
        ("processor", one.cpu != two.cpu),
        ("frequency governor", one.governor != two.governor),
        ("file system", one.file_system != two.file_system),
    ];
    let other_ones: Vec<&str> = facts.iter().filter(|(_, differs)| *differs).map(|(name, _)| *name).collect();
    let what = other_ones.join(", ");
    (!other_ones.is_empty()).then(|| format!("Runs {} and {} differ in: {what}.", base.id, other.id))
}

#[cfg(test)]
mod tests {
    use block::Seed;
    use measurement::{Annotations, RunId, RunState};

    use super::*;

    fn run(id: i64, target: &str, seed: u64) -> Run {
        Run {
            id: RunId(id),
            plan: "review".to_owned(),
            plan_text: String::new(),
            quick: false,
            simulated: false,
            target: target.to_owned(),
            target_identity: target.to_owned(),
            target_fingerprint: None,
            direct: true,
            size: None,
            capacity: None,
            seed: Seed::new(seed),
            repeats: None,
            state: RunState::Complete,
            error: None,
            started_ms: 0,
            finished_ms: Some(1),
            version: "0.1.0".to_owned(),
            commit: "0123456789abcdef".to_owned(),
            environment: "{}".to_owned(),
            annotations: Annotations::default(),
            uuid: measurement::Uuid::nil(),
            group: None,
            sharding: None,
        }
    }

    #[test]
    fn simulated_runs_of_two_seeds_differ_in_nothing_else() {
        assert_eq!(caveats(&run(1, "sim:x25-m", 1), &run(2, "sim:x25-e-32", 2)), [""; 0]);
        assert!(caveats(&run(1, "sim:x25-m", 1), &run(2, "sim:x25-m", 1))[0].contains("the same random requests"));
    }

    #[test]
    fn another_build_another_kernel_and_the_page_cache_are_named() {
        let base = run(1, "/dev/sdb", 1);
        let kernel = |release: &str| {
            let environment = Environment { kernel: Some(release.to_owned()), ..Environment::default() };
            serde_json::to_string(&environment).unwrap()
        };
        let base = Run { environment: kernel("6.1"), ..base };
        let commit = "fedcba9876543210".to_owned();
        let other = Run { id: RunId(2), commit, direct: false, environment: kernel("6.12"), ..base.clone() };
        let said = caveats(&base, &other).join("\n");
        for words in ["0.1.0 0123456789ab and 0.1.0 fedcba987654", "differ in: kernel.", "page cache", "repeat run 1"] {
            assert!(said.contains(words), "{words}: {said}");
        }
        let mixed = caveats(&base, &run(3, "sim:x25-m", 1)).join("\n");
        assert!(mixed.contains("one is on a simulated drive"), "{mixed}");
    }
}
