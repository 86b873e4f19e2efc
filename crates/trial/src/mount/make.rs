//! What `mkfs` is told, as far as a plan may say it.

use block::Bytes;

use super::tables::{BTRFS, EXT, XFS};
use crate::Refused;
use crate::permitted::{self, OptionRule, PermittedOption};

/// Options of `mkfs` that a plan may give: each is in the table of its file system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MakeOptions {
    fs: &'static str,
    given: Vec<PermittedOption>,
}

impl MakeOptions {
    /// Reads options as they stand on the command line of `mkfs` for such a file system.
    ///
    /// # Errors
    /// With the first word that is not permitted.
    ///
    /// # Panics
    /// If there is no such file system.
    pub fn parse(fs: &str, text: &str) -> Result<Self, Refused> {
        let fs = known(fs);
        Ok(Self { fs, given: permitted::options(&format!("mkfs.{fs}"), rules(fs), text)? })
    }

    /// The options, and keys of their lists, that a plan may give for such a file system.
    pub fn permitted(fs: &str) -> Vec<&'static str> {
        permitted::names(rules(fs))
    }

    /// The same with blocks of this size.
    #[must_use]
    pub(crate) fn with_block(mut self, block: Bytes) -> Self {
        let block = block.get();
        let (name, value) = match self.fs {
            "xfs" => ("-b", format!("size={block}")),
            "btrfs" => ("--sectorsize", block.to_string()),
            _ => ("-b", block.to_string()),
        };
        self.given.push(PermittedOption { name, value: Some(value) });
        self
    }

    /// The words of the command line.
    pub fn words(&self) -> Vec<String> {
        self.given.iter().flat_map(words).collect()
    }

    /// The file system.
    pub(super) const fn fs(&self) -> &'static str {
        self.fs
    }

    pub(super) fn program(&self) -> String {
        super::format::program(self.fs).0
    }

    /// The one option, or part of its list, without which `works` is true of the rest; none if there is no such.
    pub(super) fn refused(&self, works: impl Fn(&Self) -> bool) -> Option<String> {
        let with = |given: Vec<PermittedOption>| Self { fs: self.fs, given };
        let without = |left_out: usize| {
            let kept = self.given.iter().enumerate().filter(|(at, _)| *at != left_out);
            with(kept.map(|(_, given)| given.clone()).collect())
        };
        let at = (0..self.given.len()).find(|&at| works(&without(at)))?;
        let given = &self.given[at];
        let parts: Vec<&str> = given.value.as_deref().unwrap_or_default().split(',').collect();
        let shorter = |left_out: usize| {
            let kept: Vec<&str> = (0..parts.len()).filter(|&at| at != left_out).map(|at| parts[at]).collect();
            let mut all = self.given.clone();
            all[at].value = Some(kept.join(","));
            with(all)
        };
        let part = (0..parts.len()).find(|&at| parts.len() > 1 && works(&shorter(at)));
        Some(part.map_or_else(|| words(given).join(" "), |at| format!("{} {}", given.name, parts[at])))
    }
}

fn words(given: &PermittedOption) -> Vec<String> {
    std::iter::once(given.name.to_owned()).chain(given.value.clone()).collect()
}

/// The table's own name of a file system.
fn known(fs: &str) -> &'static str {
    let known = super::FILE_SYSTEMS.iter().find(|known| **known == fs);
    known.unwrap_or_else(|| panic!("{fs} is not a supported file system"))
}

/// What its `mkfs` may be told.
pub(super) fn rules(fs: &str) -> &'static [OptionRule] {
    match fs {
        "xfs" => XFS,
        "btrfs" => BTRFS,
        _ => EXT,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_option_without_which_it_works_is_the_one_that_is_refused() {
        let options = MakeOptions::parse("xfs", "-q -d sunit=128,swidth=3 -l size=1k").unwrap();
        let wrong = |word: &'static str| move |rest: &MakeOptions| !rest.words().join(" ").contains(word);
        assert_eq!(options.refused(wrong("1k")), Some("-l size=1k".to_owned()));
        assert_eq!(options.refused(wrong("swidth")), Some("-d swidth=3".to_owned()));
        assert_eq!(options.refused(wrong("-q")), Some("-q".to_owned()));
        assert_eq!(options.refused(|_| false), None);
        assert_eq!(MakeOptions::parse("xfs", "").unwrap().refused(|_| true), None);
    }

    #[test]
    fn what_published_reviews_give_is_permitted() {
        let table = [
            ("xfs", "-d sunit=128,swidth=4096 -l size=128m"),
            (
                "xfs",
                "-f -d su=64k,sw=4,agcount=16 -l version=2,lazy-count=1,sunit=128 -i size=512,maxpct=25 -n size=8192",
            ),
            ("xfs", "-b size=4096 -s size=4k -m crc=1,reflink=0,finobt=1,rmapbt=0 -K"),
            ("ext4", "-b 4096 -i 16384 -I 256 -N 100000 -m 0 -O ^has_journal,extent,64bit -T largefile"),
            ("ext4", "-E stride=16,stripe-width=64,lazy_itable_init=0,lazy_journal_init=0,nodiscard -J size=400"),
            ("ext3", "-q -F -j -m1"),
            ("ext2", "-b 1024 -r 1"),
            ("btrfs", "-f -n 16k --sectorsize=4096 -d single -m dup -O no-holes,^extref --checksum xxhash -K"),
        ];
        for (fs, text) in table {
            MakeOptions::parse(fs, text).unwrap_or_else(|refused| panic!("{fs} {text}: {refused}"));
        }
    }

    #[test]
    fn no_option_names_a_file_or_a_device_stands_alone_or_makes_nothing() {
        let table = [
            ("btrfs", "/dev/loop0"),
            ("btrfs", "-- /dev/loop0"),
            ("btrfs", "-r /etc"),
            ("btrfs", "--rootdir=/etc"),
            ("btrfs", "--roo /etc"),
            ("btrfs", "-d raid0"),
            ("btrfs", "-O list-all"),
            ("btrfs", "-V"),
            ("xfs", "-l logdev=/dev/loop0,size=64m"),
            ("xfs", "-llogdev=/dev/loop0"),
            ("xfs", "-l size=64m,name=/dev/loop0"),
            ("xfs", "-l internal=0"),
            ("xfs", "-r rtdev=/dev/loop0"),
            ("xfs", "-d name=/dev/loop0"),
            ("xfs", "-d file=1,size=1g"),
            ("xfs", "-p /etc/passwd"),
            ("xfs", "-c options=/etc/passwd"),
            ("xfs", "-N"),
            ("ext4", "-J device=/dev/loop0"),
            ("ext4", "-J size=4,device=/dev/loop0"),
            ("ext4", "-d /etc"),
            ("ext4", "-d/etc"),
            ("ext4", "-qd /etc"),
            ("ext4", "-l /etc/passwd"),
            ("ext4", "-z /etc/passwd"),
            ("ext4", "-M /x"),
            ("ext4", "-L /dev/sda"),
            ("ext4", "-U 6d1e4f0a-7c2b-4d3e-9a5b-0f1e2d3c4b5a"),
            ("xfs", "-m uuid=6d1e4f0a-7c2b-4d3e-9a5b-0f1e2d3c4b5a"),
            ("ext4", "-O journal_dev"),
            ("ext4", "-E offset=4096"),
            ("ext4", "-n"),
            ("ext4", "-S"),
            ("ext4", "-c"),
            ("ext4", "-t ext2"),
            ("ext4", "-e panic"),
        ];
        for (fs, text) in table {
            let refused = MakeOptions::parse(fs, text).expect_err(text);
            assert!(text.get(refused.at.clone()).is_some_and(|word| !word.is_empty()), "{text}: {refused:?}");
        }
    }
}
