//! Slurm itself, of one node, does the job array of docs/fleet.md: `scripts/soak` asks for it.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use store::{Filter, RunState, Store};
use testkit::soak;

use crate::support::{Place, skip, tool};

/// The daemons of a cluster in a folder of its own, until dropped.
struct Cluster {
    configuration: PathBuf,
    /// In the order in which they end.
    daemons: Vec<Child>,
}

/// Source: man slurm.conf. A node of more processors than it has, no accounting, no control groups.
fn configuration(folder: &Path, host: &str) -> String {
    // Those that are free now, if nobody else takes them meanwhile.
    let [controller, node] = [(), ()].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
    let [controller, node] = [controller, node].map(|listener| listener.local_addr().unwrap().port());
    let folder = folder.display();
    format!(
        "ClusterName=assay\nSlurmctldHost={host}(127.0.0.1)\nSlurmctldPort={controller}\nSlurmdPort={node}\nSlurmUser=root\n\
         AuthType=auth/munge\nAuthInfo=socket={folder}/munge.socket\nCredType=cred/munge\nMpiDefault=none\n\
         StateSaveLocation={folder}/state\nSlurmdSpoolDir={folder}/spool\n\
         SlurmctldPidFile={folder}/controller.pid\nSlurmdPidFile={folder}/node.pid\n\
         ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\nJobAcctGatherType=jobacct_gather/none\nReturnToService=2\n\
         SelectType=select/cons_tres\nSelectTypeParameters=CR_CPU\nSlurmdParameters=config_overrides\n\
         NodeName={host} NodeAddr=127.0.0.1 CPUs=4 State=UNKNOWN\n\
         PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP\n"
    )
}

impl Cluster {
    /// Starts one; what keeps it from running, if anything does.
    fn start(folder: &Path) -> Result<Self, String> {
        let program = |name: &str, package: &str| {
            let sbin = Path::new("/usr/sbin").join(name);
            let found = Some(sbin).filter(|path| path.exists()).or_else(|| tool(name));
            found.ok_or_else(|| format!("there is no {name} (apt install {package})"))
        };
        if !rustix::process::geteuid().is_root() {
            return Err("Slurm's daemons are started as root".to_owned());
        }
        let munged = program("munged", "munge")?;
        let [controller, node] = ["slurmctld", "slurmd"].map(|name| program(name, "slurm-wlm"));
        for part in ["state", "spool"] {
            fs::create_dir(folder.join(part)).unwrap();
        }
        fs::set_permissions(folder, fs::Permissions::from_mode(0o755)).unwrap();
        fs::write(folder.join("munge.key"), "a key of this test alone, which no other cluster has").unwrap();
        fs::set_permissions(folder.join("munge.key"), fs::Permissions::from_mode(0o400)).unwrap();
        let host = rustix::system::uname().nodename().to_str().unwrap().to_owned();
        let configuration_file = folder.join("slurm.conf");
        fs::write(&configuration_file, configuration(folder, &host)).unwrap();
        let mut cluster = Self { configuration: configuration_file, daemons: Vec::new() };
        let mut munge = Command::new(munged);
        for (option, name) in [
            ("--key-file", "munge.key"),
            ("--socket", "munge.socket"),
            ("--pid-file", "munge.pid"),
            ("--log-file", "munge.log"),
            ("--seed-file", "munge.seed"),
        ] {
            munge.arg(option).arg(folder.join(name));
        }
        // The folders above are not root's alone, which munge would refuse.
        cluster.add(folder, "munge", munge.args(["--foreground", "--force"]));
        for (name, program) in [("controller", controller?), ("node", node?)] {
            let mut daemon = Command::new(program);
            cluster.add(folder, name, daemon.arg("-D").arg("-f").arg(cluster.configuration.clone()));
        }
        cluster.await_node(folder)?;
        Ok(cluster)
    }

    fn add(&mut self, folder: &Path, name: &str, command: &mut Command) {
        let said = fs::File::create(folder.join(format!("{name}.out"))).unwrap();
        let child = command.stdin(Stdio::null()).stdout(said.try_clone().unwrap()).stderr(said).spawn().unwrap();
        self.daemons.insert(0, child);
    }

    /// Waits until the node takes jobs.
    fn await_node(&self, folder: &Path) -> Result<(), String> {
        let began = Instant::now();
        while began.elapsed() < Duration::from_secs(120) {
            let told = Command::new("sinfo").arg("--noheader").env("SLURM_CONF", &self.configuration).output().unwrap();
            if String::from_utf8_lossy(&told.stdout).contains(" idle ") {
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(200));
        }
        let said = ["munge", "controller", "node"].map(|name| fs::read_to_string(folder.join(format!("{name}.out"))));
        Err(format!("Slurm does not start here: {said:?}"))
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        for daemon in &mut self.daemons {
            let id = rustix::process::Pid::from_child(daemon);
            rustix::process::kill_process(id, rustix::process::Signal::TERM).ok();
            daemon.wait().ok();
        }
    }
}

/// The block of the page with the script and what is typed around it.
fn script() -> String {
    let page = include_str!("../../../../docs/fleet.md");
    let block = page.split("```sh\n").find(|block| block.contains("sbatch --wait")).expect("the page has the script");
    block.split("```").next().unwrap().to_owned()
}

#[test]
fn a_job_array_of_slurm_gives_the_figures_of_one_process() {
    if !soak::is_asked() {
        return skip("Slurm is started in soaks");
    }
    let place = Place::new();
    // A socket has a short path.
    let folder = tempfile::Builder::new().prefix("assay-slurm-").tempdir().unwrap();
    let cluster = match Cluster::start(folder.path()) {
        Ok(cluster) => cluster,
        Err(why) => return skip(&why),
    };
    let program = Path::new(env!("CARGO_BIN_EXE_assay")).parent().unwrap();
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap());
    let done = Command::new("bash")
        .args(["-euc", &script()])
        .current_dir(place.path("."))
        .env("PATH", path)
        .env("HOME", place.path("."))
        .env("SLURM_CONF", &cluster.configuration)
        .output()
        .unwrap();
    let logs = (1..=4).map(|task| fs::read_to_string(place.path(&format!("slurm-{task}.log"))).unwrap_or_default());
    assert!(done.status.success(), "{}\n{}", String::from_utf8_lossy(&done.stderr), logs.collect::<String>());
    place.succeeds(&["review", "sim:x25-m", "--quick", "--plan", "access-time", "--store", "one.sqlite"]);
    let [array, one] = ["slurm.sqlite", "one.sqlite"].map(|name| {
        let store = Store::open_to_read(&place.path(name)).unwrap();
        let listed = store.listed(&Filter::default(), 0, 9).unwrap();
        assert!(listed.len() == 1 && listed[0].state == RunState::Complete, "{name}: {listed:?}");
        let mut measured = store.measured(listed[0].id).unwrap();
        measured.sort_by(|a, b| (&a.step, &a.key, a.repeat).cmp(&(&b.step, &b.key, b.repeat)));
        measured
    });
    assert!(array == one, "{} and {} measurements", array.len(), one.len());
}
