//! Disk images on an attached drive: each of their partitions can be mounted.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};

use crate::support::attached::{Attached, can_attach, left_behind};
use crate::support::{Place, other, skip, tool};

/// An image with three partitions, the third an ext4 that has a file; its path.
fn image(place: &Place) -> String {
    let path = place.path("disk.img");
    File::create(&path).unwrap().set_len(256 << 20).unwrap();
    let table = place.path("table");
    fs::write(&table, "label: gpt\nsize=64MiB\nsize=64MiB\nsize=64MiB\n").unwrap();
    let mut sfdisk = Command::new(tool("sfdisk").unwrap());
    let done = sfdisk.arg("--quiet").arg(&path).stdin(Stdio::from(File::open(table).unwrap())).status().unwrap();
    assert!(done.success());
    let folder = place.path("in-it");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("greeting"), "hello").unwrap();
    // The third begins behind the first MiB and two partitions of 64.
    let (path, folder) = (path.display().to_string(), folder.display().to_string());
    other("mkfs.ext4", &["-q", "-d", &folder, "-E", &format!("offset={}", 129 << 20), &path, "64M"]);
    path
}

fn can_be_tried() -> bool {
    let missing = ["sfdisk", "mkfs.ext4", "partx"].into_iter().find(|program| tool(program).is_none());
    missing.iter().for_each(|program| skip(&format!("there is no {program}")));
    missing.is_none() && can_attach()
}

/// Attaches an image, whose third partition must be told; it.
fn attach<'p>(place: &'p Place, image: &str, more: &[&str]) -> (Attached<'p>, String) {
    let said = place.assay(&[&["attach", "--image", image, "--partitions", "--daemon"], more].concat());
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    let drive = Attached { place, device: said.stdout.trim().to_owned() };
    let device = &drive.device;
    let third = format!("{device}p3");
    assert!(said.stderr.contains(&format!("Its partitions: {device}p1, {device}p2, {third}.")), "{}", said.stderr);
    (drive, third)
}

/// Mounts a device and does something there.
fn mounted<T>(place: &Place, device: &str, work: impl FnOnce(&Path) -> T) -> T {
    let point = place.path("mounted");
    fs::create_dir_all(&point).unwrap();
    other("mount", &[device, &point.display().to_string()]);
    let done = work(&point);
    other("umount", &[&point.display().to_string()]);
    done
}

#[test]
fn the_third_partition_of_an_image_is_mounted_and_written_in_place() {
    if !can_be_tried() {
        return;
    }
    let place = Place::new();
    let image = image(&place);
    let (drive, third) = attach(&place, &image, &[]);
    let pid = drive.pid();
    mounted(&place, &third, |point| {
        assert_eq!(fs::read_to_string(point.join("greeting")).unwrap(), "hello");
        fs::write(point.join("answer"), "good day").unwrap();
        assert!(place.refuses(&["detach", &drive.device]).contains("in use"), "its partition is");
    });
    drive.detach();
    assert_eq!(left_behind(pid), [""; 0]);
    assert_eq!(fs::metadata(&image).unwrap().len(), 256 << 20);
    let (_drive, third) = attach(&place, &image, &[]);
    let answer = mounted(&place, &third, |point| fs::read_to_string(point.join("answer")).unwrap());
    assert_eq!(answer, "good day");
}

#[test]
fn a_snapshot_leaves_the_image_as_it_is() {
    if !can_be_tried() {
        return;
    }
    let place = Place::new();
    let image = image(&place);
    let before = fs::read(&image).unwrap();
    let (drive, third) = attach(&place, &image, &["--snapshot"]);
    mounted(&place, &third, |point| fs::write(point.join("answer"), "good day").unwrap());
    let answer = mounted(&place, &third, |point| fs::read_to_string(point.join("answer")).unwrap());
    assert_eq!(answer, "good day");
    other("fsck.ext4", &["-f", "-n", &third]);
    drive.detach();
    assert!(fs::read(&image).unwrap() == before);
}
