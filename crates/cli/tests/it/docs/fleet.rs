//! The page on many drives and many machines.

use std::path::PathBuf;
use std::process::Command;

use super::page::{Page, root};
use super::shell::{Instead, Shell};
use crate::support::{skip, tool};

/// A drive that is soon made, and the tasks of a job array one after the other, as Slurm tells them who they are. The soak test has
/// Slurm itself.
const INSTEAD: [Instead; 3] = [
    ("sim:x25-m ", "'sim:x25-m?capacity.user=1GiB' "),
    ("sim:x25-e-32 ", "'sim:x25-e-32?capacity.user=1GiB' "),
    (
        "sbatch --wait review.sbatch",
        "export SLURM_ARRAY_TASK_COUNT=4 SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_MAX=4
         for i in 1 2 3 4; do SLURM_ARRAY_TASK_ID=$i sh review.sbatch; done",
    ),
];

/// A program of the environment that `scripts/tools` makes for the recipes.
fn recipe_tool(name: &str) -> Option<PathBuf> {
    let ours = root().join("target/tools/fleet/bin").join(name);
    Some(ours).filter(|path| path.exists()).or_else(|| tool(name))
}

pub fn page(page: Page) {
    let shell = Shell::new(&INSTEAD);
    page.of_kind("sh").iter().for_each(|block| drop(shell.runs(block)));
    assert_eq!(shell.unused(&page), [""; 0], "the page does not say what is to be replaced");
    for name in ["whole.sqlite", "slurm.sqlite"] {
        let runs = shell.types(&format!("assay runs --store {name} --format json")).out;
        assert!(runs.contains("\"found\": 1") && runs.contains("\"state\": \"complete\""), "{name}: {runs}");
    }
    let recipes = page.of_kind("yaml");
    for recipe in &recipes {
        std::fs::write(shell.place.path("recipe.yaml"), &recipe.text).unwrap();
        match recipe.text.starts_with("apiVersion:") {
            true => is_a_job(&shell, &recipe.text),
            false => plays(&shell),
        }
    }
    assert_eq!(recipes.len(), 2, "a job and a play");
}

/// The manifest is what the schema of Kubernetes wants, and its commands are commands of ours.
fn is_a_job(shell: &Shell, manifest: &str) {
    for line in manifest.lines().filter_map(|line| line.trim().strip_prefix("args: ")) {
        let words: Vec<String> = serde_json::from_str(line).expect("a list of JSON");
        let help = shell.types(&format!("assay {} --help", words[0]));
        let options = words.iter().filter(|word| word.starts_with("--"));
        assert_eq!(help.code, Some(0));
        options.for_each(|option| assert!(help.out.contains(option.as_str()), "{option} of {}", words[0]));
    }
    assert!(manifest.contains("completions: 64") && manifest.contains("kubernetes/64"), "all shards have a pod");
    match recipe_tool("kubernetes-validate") {
        None => skip("there is no kubernetes-validate (scripts/tools)"),
        Some(program) => {
            let checked = Command::new(program).arg("--strict").arg(shell.place.path("recipe.yaml")).output().unwrap();
            let said =
                String::from_utf8_lossy(&checked.stdout).into_owned() + &String::from_utf8_lossy(&checked.stderr);
            assert!(checked.status.success(), "{said}");
        }
    }
}

/// The play is understood, and done on this machine, with a server to push to.
fn plays(shell: &Shell) {
    let Some(program) = recipe_tool("ansible-playbook") else {
        return skip("there is no ansible-playbook (scripts/tools)");
    };
    shell.link("ansible-playbook", &program);
    let place = shell.place.path(".").canonicalize().unwrap();
    let typed = format!(
        "export ANSIBLE_HOME=$HOME/.ansible ANSIBLE_LOCALHOST_WARNING=0 ASSAY_TOKEN=a-token-of-the-tests
        ansible-playbook -i localhost, -c local --syntax-check recipe.yaml
        assay serve --accept --listen 127.0.0.1:0 --store pushed.sqlite > server &
        until [ -s server ]; do sleep 0.1; done
        for i in 1 2; do
            ansible-playbook -i localhost, -c local recipe.yaml -e folder={folder} -e server=$(cut -d '?' -f 1 server) \
                -e 'target=sim:x25-m?capacity.user=1GiB' \
                -e 'ansible_python_interpreter={{{{ ansible_playbook_python }}}}'
        done
        kill -INT $! && wait $!
        assay runs --store pushed.sqlite",
        folder = place.display()
    );
    let printed = shell.types(&typed);
    assert_eq!(printed.code, Some(0), "{}{}", printed.out, printed.err);
    let runs = printed.out.lines().filter(|line| line.ends_with("complete")).count();
    assert!(printed.out.contains("failed=0") && runs == 2, "{}", printed.out);
}
