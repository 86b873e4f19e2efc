//! A small Debian with systemd, built by mmdebstrap from where this machine has its packages.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::Duration;

use block::Bytes;
use host::open;

use super::analysis::PAPERS;
use super::cache::{SystemImage, built};
use super::disk;
use super::work::{BootTools, command};
use crate::TrialError;

/// The programs that build it, and Debian's packages of them.
pub const NEEDS: &[(&str, &str)] =
    &[("mmdebstrap", "mmdebstrap"), ("apt-get", "apt"), ("mkfs.ext4", "e2fsprogs"), ("chroot", "coreutils")];

const PACKAGES: &str = "systemd-sysv,udev,dbus,login,linux-image-amd64,initramfs-tools,e2fsprogs,kmod,zstd,grub-pc-bin,\
                        grub-common";

/// What no virtual machine has, and what nobody reads there.
const WITHOUT: [&str; 13] = [
    "/usr/share/doc/*",
    "/usr/share/man/*",
    "/usr/share/locale/*",
    "/usr/share/i18n/*",
    "/lib/modules/*/kernel/drivers/gpu/*",
    "/lib/modules/*/kernel/drivers/iio/*",
    "/lib/modules/*/kernel/drivers/infiniband/*",
    "/lib/modules/*/kernel/drivers/media/*",
    "/lib/modules/*/kernel/drivers/net/*",
    "/lib/modules/*/kernel/drivers/staging/*",
    "/lib/modules/*/kernel/drivers/usb/*",
    "/lib/modules/*/kernel/net/*",
    "/lib/modules/*/kernel/sound/*",
];

/// Only what a virtual machine's drives need is in the initial RAM disk, which is then small.
const MODULES: &str = r#"mkdir -p "$1/etc/initramfs-tools/conf.d"
echo MODULES=list >"$1/etc/initramfs-tools/conf.d/assay"
printf '%s\n' ahci sd_mod virtio_blk virtio_pci nvme ext4 >"$1/etc/initramfs-tools/modules""#;

/// Its root, wherever it is.
const UUID: &str = "6d1e4f0a-7c2b-4d3e-9a5b-0f1e2d3c4b5a";

/// Besides what is in it: free room, and what ext4 keeps for itself.
const ROOM: Bytes = Bytes::from_mib(96);

/// How long it may take to build: a slow mirror, a busy machine.
const LIMIT: Duration = Duration::from_secs(3600);

/// Tells what the boot took, on the second serial line, when it is asked to.
const TELLER: &str = "[Unit]
Description=What the boot took
DefaultDependencies=no
[Service]
ExecStart=/usr/lib/assay/teller
StandardInput=tty
StandardOutput=tty
TTYPath=/dev/ttyS1
[Install]
WantedBy=multi-user.target
";

/// What GRUB is told, with the kernel's version; the host sees by the words when the kernel is loaded.
fn grub(version: &str) -> String {
    format!(
        "serial --unit=0\nterminal_output serial\n\
         linux /boot/vmlinuz-{version} root=UUID={UUID} ro {}\n\
         initrd /boot/initrd.img-{version}\necho \"{}\"\nboot\n",
        super::machine::KERNEL,
        super::machine::LOADED
    )
}

fn teller() -> String {
    format!(
        "#!/bin/sh\nexport SYSTEMD_COLORS=0\nstty raw -echo\nread -r asked\n\
         echo '=== state'\nsystemctl is-system-running --wait\n\
         for word in {}; do\n  echo \"=== $word\"\n  systemd-analyze --no-pager \"$word\" 2>&1\ndone\n\
         echo '=== end'\nsleep infinity\n",
        PAPERS.join(" ")
    )
}

/// All that decides what it is, but for the state of Debian's archive.
pub fn recipe() -> String {
    [PACKAGES, &WITHOUT.join(" "), MODULES, UUID, TELLER, &grub("V"), &teller(), &format!("{ROOM}")].join("\n")
}

/// Builds it in the folder `site`, from where its files go.
///
/// # Errors
/// If the packages cannot be had, or a program fails.
pub fn build(site: &Path, work: &BootTools) -> Result<SystemImage, TrialError> {
    let root = site.join("root");
    let (suite, sources) = sources(work)?;
    let list = site.join("sources.list");
    open::write_new(&list, sources.as_bytes(), 0o644).map_err(TrialError::at(&list))?;
    let mut mmdebstrap = command("mmdebstrap")?;
    mmdebstrap.args(["--mode=root", "--variant=minbase", "--aptopt=APT::Install-Recommends \"false\""]);
    mmdebstrap.arg(format!("--include={PACKAGES}")).arg(format!("--essential-hook={MODULES}"));
    mmdebstrap.args(WITHOUT.map(|path| format!("--dpkgopt=path-exclude={path}")));
    mmdebstrap.arg(plain("apt-get", &suite)?).arg(&root).arg(&list);
    work.run(&mut mmdebstrap, LIMIT)?;
    let version = version(&root)?;
    furnish(&root, &version)?;
    let mut grub = command("chroot")?;
    grub.arg(&root).args(["grub-mkimage", "-O", "i386-pc", "-o", "/boot/core.img", "-p", "(hd0,msdos1)/boot/grub"]);
    grub.args(["biosdisk", "part_msdos", "ext2", "linux", "serial", "terminal", "echo", "normal", "configfile"]);
    work.run(&mut grub, LIMIT)?;
    let image = site.join("disk.img");
    let held = work.run(command("du")?.args(["-s", "-B1M"]).arg(&root), LIMIT)?;
    let held = held.split_whitespace().next().and_then(|word| word.parse().ok()).map(Bytes::from_mib);
    let held = held.ok_or(TrialError::Unexpected { program: "du".to_owned(), found: "no size".to_owned() })?;
    disk::make(&image, &root, held + ROOM, UUID, work)?;
    disk::add_grub(&image, &root.join("usr/lib/grub/i386-pc/boot.img"), &root.join("boot/core.img"))?;
    for name in ["vmlinuz", "initrd.img"] {
        let from = root.join("boot").join(format!("{name}-{version}"));
        open::copy_private(&from, &site.join(name), 0o644).map_err(TrialError::at(&from))?;
    }
    let release = fs::read_to_string(root.join("etc/os-release")).unwrap_or_default();
    let named = release.lines().find_map(|line| line.strip_prefix("PRETTY_NAME=")).unwrap_or("Debian");
    fs::remove_dir_all(&root).map_err(TrialError::at(&root))?;
    let about = format!("{} with systemd, Linux {version}", named.trim_matches('"'));
    Ok(built(about, Some(format!("UUID={UUID}"))))
}

/// The suite of Debian that this machine has, and the lines of all places from which it has Debian's packages.
fn sources(work: &BootTools) -> Result<(String, String), TrialError> {
    let mut targets = command("apt-get")?;
    // Only those are told whose lists are there: others may not be reachable.
    let format = "$(ORIGIN)|$(SIGNED_BY)|$(REPO_URI)|$(RELEASE)|$(COMPONENT)";
    targets.args(["indextargets", "--format", format, "Created-By: Packages"]);
    let found = work.run(&mut targets, Duration::from_secs(60))?;
    listed(&found).ok_or_else(|| {
        let lacks = "this machine's apt has no Debian packages, which the system is built from";
        TrialError::Lacks(format!("{lacks}; run `apt-get update`, or choose system = \"micro\""))
    })
}

/// Reads what apt tells of where its lists are from.
fn listed(found: &str) -> Option<(String, String)> {
    let rows = found.lines().map(|line| line.split('|').collect::<Vec<&str>>());
    let debian: Vec<_> = rows.filter(|row| row.len() == 5 && row[0] == "Debian" && row[4] == "main").collect();
    let suite = debian.iter().map(|row| row[3]).find(|suite| !suite.contains('-'))?;
    let lines = debian.iter().map(|row| {
        // What apt does not know it gives back as it was asked.
        let signed = if row[1].starts_with('/') { format!("[signed-by={}] ", row[1]) } else { String::new() };
        format!("deb {signed}{} {} main\n", row[2], row[3])
    });
    Some((suite.to_owned(), lines.collect()))
}

/// The version of the kernel that was installed.
fn version(root: &Path) -> Result<String, TrialError> {
    let boot = root.join("boot");
    let mut files = fs::read_dir(&boot).map_err(TrialError::at(&boot))?.flatten();
    let version = files.find_map(|file| Some(file.file_name().to_str()?.strip_prefix("vmlinuz-")?.to_owned()));
    let none = || TrialError::Unexpected { program: "mmdebstrap".to_owned(), found: "no kernel".to_owned() };
    plain("mmdebstrap", &version.ok_or_else(none)?).map(str::to_owned)
}

/// Writes what makes a system of the packages, as it is after a first boot.
fn furnish(root: &Path, version: &str) -> Result<(), TrialError> {
    let files = [
        ("etc/fstab", format!("UUID={UUID} / ext4 errors=remount-ro 0 1\n")),
        ("etc/hostname", "assay\n".to_owned()),
        ("etc/machine-id", format!("{}\n", UUID.replace('-', ""))),
        ("etc/systemd/system/assay-teller.service", TELLER.to_owned()),
        ("usr/lib/assay/teller", teller()),
        ("boot/grub/grub.cfg", grub(version)),
    ];
    for (path, text) in files {
        write(&root.join(path), &text)?;
    }
    let teller = root.join("usr/lib/assay/teller");
    fs::set_permissions(&teller, PermissionsExt::from_mode(0o755)).map_err(TrialError::at(&teller))?;
    let wants = root.join("etc/systemd/system/multi-user.target.wants");
    fs::create_dir_all(&wants).map_err(TrialError::at(&wants))?;
    let service = PathBuf::from("/etc/systemd/system/assay-teller.service");
    symlink(service, wants.join("assay-teller.service")).map_err(TrialError::at(&wants))
}

/// Writes a file in the place of what is there, be it a link, and makes the folders that it is in.
pub fn write(path: &Path, text: &str) -> Result<(), TrialError> {
    let folder = path.parent().expect("a file is in a folder");
    fs::create_dir_all(folder).map_err(TrialError::at(folder))?;
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(TrialError::at(path)(error)),
        _ => {}
    }
    open::write_new(path, text.as_bytes(), 0o644).map_err(TrialError::at(path))
}

/// A word of what packages or apt say, which goes to a program: nothing that it could take for an option or a path.
///
/// # Errors
/// If it is none.
pub fn plain<'t>(program: &str, word: &'t str) -> Result<&'t str, TrialError> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._+~-".contains(c);
    match !word.is_empty() && !word.starts_with(['-', '.']) && word.chars().all(is_plain) {
        true => Ok(word),
        false => Err(TrialError::Unexpected { program: program.to_owned(), found: word.escape_debug().to_string() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_takes_the_place_of_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("kept"), "kept").unwrap();
        symlink(path("kept"), path("hostname")).unwrap();
        write(&path("hostname"), "assay\n").unwrap();
        assert_eq!(fs::read_to_string(path("kept")).unwrap(), "kept");
        assert_eq!(fs::read_to_string(path("hostname")).unwrap(), "assay\n");
    }

    #[test]
    fn a_word_for_a_program_is_no_option_and_no_path() {
        plain("apt", "6.1.0-42-amd64").unwrap();
        for word in ["", "-x", "../x", "a b", "a;b", "$(x)", "a/b", "a\nb"] {
            plain("apt", word).unwrap_err();
        }
    }

    #[test]
    fn debians_packages_come_from_where_this_machine_has_them() {
        let found = "Debian|/usr/share/keyrings/k.gpg|mirror://a/debian/|trixie|main\n\
                     Debian|$(SIGNED_BY)|mirror://a/security/|trixie-security|main\n\
                     Debian|$(SIGNED_BY)|mirror://a/debian/|trixie|contrib\n\
                     Other|$(SIGNED_BY)|mirror://b/|stable|main\n";
        let (suite, lines) = listed(found).unwrap();
        assert_eq!(suite, "trixie");
        let expected = "deb [signed-by=/usr/share/keyrings/k.gpg] mirror://a/debian/ trixie main\n\
                        deb mirror://a/security/ trixie-security main\n";
        assert_eq!(lines, expected);
        assert_eq!(listed("Other|x|mirror://b/|stable|main\n"), None);
    }
}
