//! Which shard of a run this process does: as it is typed, or as a scheduler says.

use store::Shard;

/// Reads `3/64`, `slurm` or `kubernetes/64`.
pub fn read(text: &str) -> Result<Shard, String> {
    of(text, |name| std::env::var(name).ok())
}

fn of(text: &str, variable: impl Fn(&str) -> Option<String>) -> Result<Shard, String> {
    let number = |name: &str, whose: &str| {
        let found = variable(name).ok_or_else(|| format!("{name} is not set: this is no {whose}"))?;
        found.trim().parse::<u64>().map_err(|_| format!("{name} is `{found}`, which is no number"))
    };
    let shard = |index: u64, count: u64| {
        let [number, count] = [index.saturating_add(1), count].map(|number| u32::try_from(number).unwrap_or(u32::MAX));
        Shard::new(number, count)
            .ok_or_else(|| format!("shard {number} of {count} is none of 1 to {}", Shard::COUNT_MAX.min(count)))
    };
    match text.split_once('/') {
        None if text == "slurm" => {
            let task = |name: &str| {
                number(&format!("SLURM_ARRAY_TASK_{name}"), "task of a job array of Slurm (sbatch --array)")
            };
            let (id, count, least, most) = (task("ID")?, task("COUNT")?, task("MIN")?, task("MAX")?);
            // A task that is not there would have nobody do its shard.
            if most.saturating_sub(least).saturating_add(1) != count {
                return Err(format!(
                    "the job array has {count} tasks between {least} and {most}: give all numbers of a range, such as --array=1-{count}"
                ));
            }
            shard(id.checked_sub(least).ok_or("SLURM_ARRAY_TASK_ID is below SLURM_ARRAY_TASK_MIN")?, count)
        }
        Some(("kubernetes", count)) => {
            let count = count
                .parse()
                .map_err(|_| format!("`{count}` is no number; give the job's completions: kubernetes/64"))?;
            shard(
                number("JOB_COMPLETION_INDEX", "pod of an indexed job of Kubernetes (completionMode: Indexed)")?,
                count,
            )
        }
        None if text == "kubernetes" => {
            Err("a pod does not know how many there are; give the job's completions: kubernetes/64".to_owned())
        }
        _ => text.parse().map_err(|wrong: String| format!("{wrong}, slurm, or kubernetes/N")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str, variables: &[(&str, &str)]) -> Result<String, String> {
        let variable =
            |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
        of(text, variable).map(|shard| shard.to_string())
    }

    fn slurm(id: &str, count: &str, least: &str, most: &str) -> Result<String, String> {
        let names = ["ID", "COUNT", "MIN", "MAX"].map(|name| format!("SLURM_ARRAY_TASK_{name}"));
        let all: Vec<(&str, &str)> = names.iter().map(String::as_str).zip([id, count, least, most]).collect();
        told("slurm", &all)
    }

    /// Source: man sbatch, "JOB ARRAYS" and "OUTPUT ENVIRONMENT VARIABLES"; Kubernetes, "Indexed Job for parallel processing with
    /// static work assignment".
    #[test]
    fn schedulers_say_which_shard_it_is() {
        assert_eq!(told("3/64", &[]).as_deref(), Ok("3/64"));
        assert_eq!(slurm("0", "4", "0", "3").as_deref(), Ok("1/4"));
        assert_eq!(slurm("64", "64", "1", "64").as_deref(), Ok("64/64"));
        assert_eq!(told("kubernetes/64", &[("JOB_COMPLETION_INDEX", "0")]).as_deref(), Ok("1/64"));
        for (said, words) in [
            (slurm("1", "3", "1", "5"), "--array=1-3"),
            (slurm("7", "3", "1", "3"), "shard 7 of 3"),
            (slurm("x", "3", "1", "3"), "`x`, which is no number"),
            (told("slurm", &[]), "SLURM_ARRAY_TASK_ID is not set"),
            (told("kubernetes/64", &[]), "JOB_COMPLETION_INDEX is not set"),
            (told("kubernetes/64", &[("JOB_COMPLETION_INDEX", "64")]), "shard 65 of 64"),
            (told("kubernetes/many", &[]), "kubernetes/64"),
            (told("kubernetes", &[]), "kubernetes/64"),
            (told("5/4", &[]), "slurm, or kubernetes/N"),
            (told("", &[]), "slurm, or kubernetes/N"),
        ] {
            assert!(said.as_ref().is_err_and(|said| said.contains(words)), "{said:?}");
        }
    }
}
