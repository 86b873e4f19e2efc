//! The container image of docs/fleet.md, made of the static program and run as a pod would run it.

use std::process::Command;

use crate::package;
use crate::support::served::Served;
use crate::support::{Place, skip, tool};

/// The Containerfile of the page.
fn containerfile() -> &'static str {
    let page = include_str!("../../../../docs/fleet.md");
    let block = page.split("```").find(|block| block.contains("FROM scratch")).expect("the page has the file");
    block.split_once('\n').expect("the kind of the block stands on a line of its own").1
}

/// buildah with its images in a folder of its own.
struct Buildah<'p>(&'p Place);

impl Buildah<'_> {
    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new("buildah");
        for (option, folder) in [("--root", "images"), ("--runroot", "running")] {
            command.arg(option).arg(self.0.path(folder));
        }
        // No daemon, no network and no kernel feature but chroot is needed.
        command.args(["--storage-driver", "vfs"]).args(words).env("BUILDAH_ISOLATION", "chroot");
        command.current_dir(self.0.path("context"));
        command
    }

    fn does(&self, words: &[&str]) -> String {
        let done = self.command(words).output().unwrap();
        assert!(done.status.success(), "buildah {words:?}: {}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8(done.stdout).unwrap().trim().to_owned()
    }
}

#[test]
fn the_container_image_does_a_shard_and_pushes_it() {
    if tool("buildah").is_none() {
        return skip("there is no buildah (apt install buildah)");
    }
    if !rustix::process::geteuid().is_root() {
        return skip("a folder is mounted into the container as root");
    }
    let place = Place::new();
    std::fs::create_dir(place.path("context")).unwrap();
    std::fs::create_dir(place.path("data")).unwrap();
    if package::static_program(&place.path("context")).is_none() {
        return;
    }
    std::fs::write(place.path("context/Containerfile"), containerfile()).unwrap();
    let buildah = Buildah(&place);
    buildah.does(&["build", "--file", "Containerfile", "--tag", "assay:test", "."]);
    let container = buildah.does(&["from", "assay:test"]);
    // As a volume of a pod is, whose user the image names.
    for folder in ["data", "context"] {
        let path = place.path(folder);
        std::os::unix::fs::chown(path, Some(65534), Some(65534)).unwrap();
    }
    let data = format!("{}:/data", place.path("data").display());
    let scratch = format!("{}:/var/tmp", place.path("context").display());
    let inside = |variable: &str, words: &[&str]| {
        let run = ["run", "--network", "host", "--volume", &data, "--volume", &scratch, "--env", variable, &container];
        buildah.does(&[&run[..], &["--", "/assay"], words].concat())
    };
    for index in [0, 1] {
        let store = format!("/data/shard-{index}.sqlite");
        let review = ["review", "sim:x25-m?capacity.user=1GiB", "--plan", "access-time", "--quick"];
        let shard = ["--shard", "kubernetes/2", "--store", &store, "--out", "/data/reports"];
        inside(&format!("JOB_COMPLETION_INDEX={index}"), &[&review[..], &shard].concat());
    }
    std::fs::write(place.path("token"), "a-token-of-the-tests\n").unwrap();
    let all = place.path("all.sqlite");
    let served = Served::new(&place, &["--accept", "--token-file", "token", "--store", all.to_str().unwrap()]);
    for index in [0, 1] {
        let store = format!("/data/shard-{index}.sqlite");
        let said = inside("ASSAY_TOKEN=a-token-of-the-tests", &["push", &served.url(""), "--store", &store]);
        assert!(said.contains("1 added"), "{said}");
    }
    drop(served);
    let runs = place.succeeds(&["runs", "--store", "all.sqlite", "--format", "json"]);
    assert!(runs.contains("\"found\": 1") && runs.contains("\"state\": \"complete\""), "{runs}");
    buildah.does(&["rm", &container]);
}
