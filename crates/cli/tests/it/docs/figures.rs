//! The page on published figures.

use std::fs;

use super::page::{Block, Page};
use super::shell::{Instead, Shell};

/// The review that is soonest repeated, and a drive fitted to one that is made up: what the published ones come to is what
/// the tests of the drives hold.
const INSTEAD: [Instead; 8] = [
    ("assay replicate    ", "assay replicate ocaholic-x25m "),
    ("assay replicate solid-data", "assay replicate ocaholic-x25m"),
    ("assay replicate --format", "assay replicate ocaholic-x25m --format"),
    (
        "assay replicate qos      ",
        "assay replicate qos --drive pm983-960 --quick --on 'x25-m?capacity.user=256MiB&spare=20%' ",
    ),
    (
        "qos --drive optane-p4800x --quick",
        "qos --drive s3500-m2-80 --quick --on 'x25-m?capacity.user=256MiB&spare=20%'",
    ),
    (
        "assay replicate ./my-figures.toml  ",
        "assay replicate ./my-figures.toml --quick --on 'x25-m?capacity.user=256MiB&spare=20%'  ",
    ),
    ("--on ./my-drive.toml", "--quick --on 'x25-m?capacity.user=256MiB&spare=20%'"),
    ("--figures solid-data --only new/read", "--figures small.toml --only small/4k --rounds 1"),
];

pub fn page(page: Page) {
    let shell = Shell::new(&INSTEAD);
    shell.place.small_review();
    let files = page.of_kind("toml");
    assert_eq!(files.len(), 3, "what was published, how it is repeated, and figures of one's own");
    for (block, name) in files.iter().zip(["my-review.toml", "my-method.toml", "my-figures.toml"]) {
        fs::write(shell.place.path(name), &block.text).unwrap();
    }
    for block in page.of_kind("sh") {
        shell.runs(&block);
    }
    let text = "assay replicate my-review.toml".to_owned();
    shell.runs(&Block { at: files[0].at.clone(), kind: "sh".to_owned(), text });
    assert_eq!(shell.unused(&page), [""; 0], "the page does not say what is to be replaced");
}
