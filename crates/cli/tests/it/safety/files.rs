//! What files from strangers may name: includes, traces, devices, and text that a terminal prints.

use std::fs;
use std::os::unix::fs::symlink;

use crate::support::{FIGURES, LoopDevice, METHOD, Place, tool};

const SECRET: &str = "fio-secret-of-another = 4711";

/// A place with a job file in a folder of its own, and a secret beside that folder.
fn place(job: &str) -> Place {
    let place = Place::new();
    fs::create_dir(place.path("jobs")).unwrap();
    fs::write(place.path("jobs/job.fio"), job).unwrap();
    fs::write(place.path("secret"), SECRET).unwrap();
    place
}

/// Found: `include` took any path, and its words were quoted back.
#[test]
fn a_job_file_includes_what_lies_beside_it_alone_and_nothing_else_is_quoted() {
    let place = place("");
    symlink("../secret", place.path("jobs/link")).unwrap();
    symlink("..", place.path("jobs/up")).unwrap();
    let absolute = place.path("secret").display().to_string();
    for named in ["../secret", "link", "up/secret", &absolute, "/etc/passwd", "/proc/self/environ"] {
        fs::write(place.path("jobs/job.fio"), format!("[a]\nsize=1m\ninclude {named}\n")).unwrap();
        for command in [&["import", "jobs/job.fio"][..], &["run", "jobs/job.fio", "sim:x25-m?capacity.user=1GiB"]] {
            let said = place.refuses(command);
            assert!(said.contains("--allow-path"), "{named}: {said}");
            assert!(!said.contains("4711") && !said.contains("root:"), "{named}: {said}");
        }
    }
    // Where assay was started is no place that a file may name.
    fs::write(place.path("jobs/job.fio"), "[a]\nsize=1m\ninclude secret\n").unwrap();
    assert!(!place.refuses(&["import", "jobs/job.fio"]).contains("4711"));
    fs::write(place.path("shared"), "bs=16k\n").unwrap();
    fs::write(place.path("jobs/job.fio"), "[a]\nsize=1m\ninclude ../shared\n").unwrap();
    let plan = place.succeeds(&["import", "jobs/job.fio", "--allow-path", &place.path("").display().to_string()]);
    assert!(plan.contains("bs = \"16k\""), "{plan}");
}

/// Found: `${NAME}` put any variable of the environment into names that are printed and kept.
#[test]
fn a_job_file_reads_the_variables_that_the_command_line_gives_and_no_others() {
    let place = place("[a]\nsize=1m\nbs=${SIZE}\ndescription=${SECRET_KEY}\n");
    let run = |arguments: &[&str]| {
        let output = place.command(arguments).env("SECRET_KEY", "4711").env("SIZE", "16k").output().unwrap();
        String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap()
    };
    let said = run(&["import", "jobs/job.fio"]);
    assert!(said.contains("no `SECRET_KEY` is given") && !said.contains("4711"), "{said}");
    let said = run(&["import", "jobs/job.fio", "--variable=SIZE", "--variable=SECRET_KEY=mine"]);
    assert!(said.contains("bs = \"16k\"") && said.contains("mine") && !said.contains("4711"), "{said}");
}

/// Found: a job file's `filename` became the target, be it a device.
#[test]
fn a_job_file_chooses_no_device_and_no_file_outside_its_folder() {
    let place = place("");
    let device = LoopDevice::new(&place.path("disk"), 8);
    fs::write(place.path("other"), "kept").unwrap();
    symlink("../other", place.path("jobs/link")).unwrap();
    symlink("../new", place.path("jobs/loose")).unwrap();
    let absolute = place.path("other").display().to_string();
    let mut named = vec!["../other", "link", "loose", "../new", &absolute, "/dev/null", "/dev/zero"];
    if let Some(device) = &device {
        symlink(&device.0, place.path("jobs/disk")).unwrap();
        named.extend([device.0.as_str(), "disk"]);
    }
    for named in named {
        for rw in ["write", "read"] {
            fs::write(place.path("jobs/job.fio"), format!("[a]\nfilename={named}\nrw={rw}\nsize=1m\n")).unwrap();
            let said = place.refuses(&["run", "jobs/job.fio"]);
            assert!(said.contains("name the target") && said.contains("TARGET"), "{named}: {said}");
        }
    }
    assert!(fs::read(place.path("other")).unwrap() == b"kept" && !place.path("new").exists());
    fs::write(place.path("jobs/job.fio"), "[a]\nfilename=own.bin\nrw=write\nsize=1m\n").unwrap();
    place.succeeds(&["run", "jobs/job.fio"]);
    assert_eq!(fs::metadata(place.path("jobs/own.bin")).unwrap().len(), 1 << 20, "beside the job file");
    assert!(!place.path("own.bin").exists());
    if let Some(device) = &device {
        let content = fs::read(&device.0).unwrap();
        assert!(content.iter().all(|byte| *byte == 0), "the device was written");
    }
}

/// Found: `write_iolog` overwrote any file or device, also in a read job on a simulated drive.
#[test]
fn what_a_job_file_wants_kept_goes_to_the_folder_that_the_command_line_names_or_nowhere() {
    let place = place("");
    fs::create_dir(place.path("logs")).unwrap();
    fs::write(place.path("logs/taken.log"), "kept").unwrap();
    let run = |named: &str, more: &[&str]| {
        let job = format!("[a]\nrw=randread\nsize=1m\nnumber_ios=9\nwrite_iolog={named}\n");
        fs::write(place.path("jobs/job.fio"), job).unwrap();
        place.assay(&[&["run", "jobs/job.fio", "sim:x25-m?capacity.user=1GiB"], more].concat())
    };
    let absolute = place.path("secret").display().to_string();
    for named in ["../secret", "secret", &absolute, "/dev/full", "logs/new.log"] {
        let said = run(named, &[]);
        assert_eq!(said.code, Some(0), "{}", said.stderr);
        assert!(said.stderr.contains("is not written") && said.stderr.contains("--log-dir DIR"), "{}", said.stderr);
    }
    assert_eq!(fs::read_to_string(place.path("secret")).unwrap(), SECRET);
    assert_eq!(fs::read_dir(place.path("logs")).unwrap().count(), 1);
    assert_eq!(fs::read_dir(place.path("jobs")).unwrap().count(), 1);
    let said = run("/etc/../some/new.log", &["--log-dir=logs"]);
    assert!(said.code == Some(0) && said.stderr.contains("logs/new.log"), "{}", said.stderr);
    assert!(fs::read_to_string(place.path("logs/new.log")).unwrap().starts_with("fio version 3 iolog"));
    for (named, words) in
        [("taken.log", "exists, and is not as assay wrote it"), ("a/.bashrc", "which is not allowed"), ("a/", "not")]
    {
        let said = run(named, &["--log-dir=logs"]);
        assert!(said.code == Some(2) && said.stderr.contains(words), "{named}: {}", said.stderr);
    }
    assert_eq!(fs::read_to_string(place.path("logs/taken.log")).unwrap(), "kept");
}

/// A trace and a method lie in the folder of the plan and of the figures that name them.
#[test]
fn a_plan_and_a_published_review_name_what_lies_beside_them_alone() {
    let place = place("");
    let plan = |trace: &str| format!("name = \"p\"\ntitle = \"p\"\n[[step]]\nname = \"a\"\nread_iolog = \"{trace}\"\n");
    fs::write(place.path("trace.log"), "fio version 2 iolog\nf read 0 4096\n").unwrap();
    fs::copy(place.path("trace.log"), place.path("jobs/trace.log")).unwrap();
    symlink("../trace.log", place.path("jobs/link")).unwrap();
    let absolute = place.path("trace.log").display().to_string();
    for named in ["../trace.log", "link", &absolute, "../secret", "/etc/passwd", "/dev/zero"] {
        fs::write(place.path("jobs/plan.toml"), plan(named)).unwrap();
        let said = place.refuses(&["review", "--plan=jobs/plan.toml", "sim:x25-m?capacity.user=1GiB"]);
        assert!(said.contains("was not read") && said.contains("--allow-path") && !said.contains("4711"), "{said}");
    }
    fs::write(place.path("jobs/plan.toml"), plan("../trace.log")).unwrap();
    place.succeeds(&["review", "--plan=jobs/plan.toml", "sim:x25-m?capacity.user=1GiB", "--allow-path=."]);
    fs::write(place.path("jobs/plan.toml"), plan("trace.log")).unwrap();
    place.succeeds(&["review", "--plan=jobs/plan.toml", "sim:x25-m?capacity.user=1GiB"]);
    // The command line may name any.
    place.succeeds(&["run", "sim:x25-m?capacity.user=1GiB", &format!("--read_iolog={absolute}")]);
    for (named, is_read) in [("../method.toml", false), ("/etc/passwd", false), ("method.toml", true)] {
        fs::write(place.path("jobs/figures.toml"), FIGURES.replace("small-method.toml", named)).unwrap();
        fs::write(place.path("method.toml"), METHOD).unwrap();
        fs::write(place.path("jobs/method.toml"), METHOD).unwrap();
        let said = place.assay(&["replicate", "jobs/figures.toml"]);
        let said = said.stdout + &said.stderr;
        assert!(is_read != said.contains("--allow-path") && !said.contains("root:"), "{named}: {said}");
    }
}

/// Found: a drive file from `/dev/zero` was read without a limit.
#[test]
fn no_text_is_read_from_a_device_or_without_a_limit() {
    let place = place("");
    let large = place.path("large");
    fs::File::create(&large).unwrap().set_len(3 << 30).unwrap();
    for ending in ["toml", "fio", "icf"] {
        symlink("/dev/zero", place.path(&format!("zero.{ending}"))).unwrap();
        symlink(&large, place.path(&format!("large.{ending}"))).unwrap();
    }
    let mut commands: Vec<Vec<String>> = Vec::new();
    for name in ["zero", "large"] {
        let typed = |words: &[&str]| words.iter().map(|word| word.replace("NAME", name)).collect::<Vec<_>>();
        commands.extend([
            typed(&["run", "sim:./NAME.toml", "--number_ios=1"]),
            typed(&["drives", "show", "./NAME.toml"]),
            typed(&["review", "--plan=NAME.toml", "sim:x25-m?capacity.user=1GiB"]),
            typed(&["plans", "show", "./NAME.toml"]),
            typed(&["replicate", "./NAME.toml"]),
            typed(&["calibrate", "sim:x25-m", "./NAME.toml"]),
            typed(&["import", "NAME.fio"]),
            typed(&["import", "NAME.icf"]),
            typed(&["run", "NAME.fio", "sim:x25-m?capacity.user=1GiB"]),
            typed(&["attach", "./NAME.toml"]),
        ]);
    }
    commands.push(["run", "sim:x25-m?capacity.user=1GiB", "--read_iolog=zero.toml"].map(str::to_owned).to_vec());
    for command in commands {
        let said = place.assay(&command.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(said.code, Some(2), "{command:?}: {}{}", said.stdout, said.stderr);
    }
    for settings in ["zero.toml", "large.toml", "."] {
        let said = place.command(&["runs"]).env("ASSAY_CONFIG", place.path(settings)).output().unwrap();
        assert_eq!(said.status.code(), Some(2), "{settings}");
    }
}

/// Found: the words of a file went to the terminal as they stood there, with all that they had it do.
#[test]
fn what_a_file_has_a_terminal_do_is_spelled_out() {
    let loud = "\u{1b}]0;owned\u{7}\u{9b}2J\u{202e}\u{0}";
    let place = place(&format!("[a{loud}]\nsize=1m\nrw=read{loud}\nverify=md5{loud}\ninclude gone{loud}\n"));
    fs::write(place.path("plan.toml"), format!("name = \"{loud}\"\n[[step]]\nnome = \"a{loud}\"\n")).unwrap();
    fs::write(place.path("drive.toml"), format!("title = \"{loud}\"\n{loud} = 7\n")).unwrap();
    fs::write(place.path("spec.icf"), format!("Version 1.1.0 \n'ACCESS SPECIFICATIONS\n{loud}\n")).unwrap();
    fs::write(place.path("bytes.fio"), b"[a]\n\xff\xfe\x1b[2J\n").unwrap();
    for command in [
        &["import", "jobs/job.fio"][..],
        &["run", "jobs/job.fio"],
        &["review", "--plan=plan.toml", "sim:x25-m?capacity.user=1GiB"],
        &["drives", "show", "./drive.toml"],
        &["run", "sim:./drive.toml"],
        &["import", "spec.icf"],
        &["import", "bytes.fio"],
    ] {
        for force in ["0", "1"] {
            let output = place.command(command).env_remove("NO_COLOR").env("CLICOLOR_FORCE", force).output().unwrap();
            let said = [output.stdout, output.stderr].concat();
            let said = String::from_utf8(said).expect("what is printed is UTF-8");
            let is_loud = |c: char| matches!(c, '\u{7}' | '\u{9b}' | '\u{202e}' | '\0');
            assert!(!said.contains(is_loud) && !said.contains("\u{1b}]"), "{command:?}: {said:?}");
        }
    }
}

/// A job file runs nothing, whatever it asks for.
#[test]
fn a_job_file_starts_no_program() {
    let place = place("");
    let touched = place.path("touched").display().to_string();
    for line in [
        format!("exec_prerun=touch {touched}"),
        format!("exec_postrun=touch {touched}"),
        format!("ioengine=external:{touched}"),
        format!("ioengine=exec\nprogram=/usr/bin/touch\narguments={touched}"),
        format!("description=$(touch {touched})"),
        format!("description=`touch {touched}`"),
    ] {
        fs::write(place.path("jobs/job.fio"), format!("[a]\nsize=1m\nnumber_ios=1\n{line}\n")).unwrap();
        place.assay(&["run", "jobs/job.fio", "sim:x25-m?capacity.user=1GiB"]);
        place.assay(&["import", "jobs/job.fio"]);
        assert!(!place.path("touched").exists(), "{line}");
    }
    assert!(tool("touch").is_some());
}
