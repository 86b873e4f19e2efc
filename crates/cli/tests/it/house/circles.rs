//! Modules of a crate that name each other in a circle.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::{LAYERS, code, files, is_test, read, root};

/// Modules of a crate that name each other in a circle, as far as they still do. The list only shrinks.
const CIRCLES: &[&[&str]] = &[
    &["attach::attachment", "attach::attachment::waiting"],
    &["attach::error", "attach::registry", "attach::socket"],
    &["cli::command_line", "cli::commands::shell", "cli::completion", "cli::manual"],
    &["cli::failure", "cli::terminal"],
    &["drive::array", "drive::device", "drive::preset", "drive::rig", "drive::rig::file"],
    &[
        "drive::flash::candidates",
        "drive::flash::collection",
        "drive::flash::copies",
        "drive::flash::mapping",
        "drive::flash::retirement",
    ],
    &["drive::smart", "drive::smart::attributes"],
    &["engine::access", "engine::part"],
    &["engine::worker", "engine::worker::zones"],
    &["host::confine", "host::guard", "host::open", "host::program"],
    &["plan::import::fio::engine", "plan::import::fio::table"],
    &["plan::import::fio::extent", "plan::import::fio::idle", "plan::import::fio::job", "plan::import::fio::trace"],
    &["plan::body", "plan::repetition"],
    &[
        "plan::build",
        "plan::condition",
        "plan::draft",
        "plan::fill",
        "plan::jobs",
        "plan::kind",
        "plan::measure",
        "plan::parse",
        "plan::rounds",
        "plan::trials",
        "plan::work",
    ],
    &["plan::replicate::layout", "plan::replicate::published"],
    &[
        "report::conditions",
        "report::health",
        "report::page",
        "report::report",
        "report::setup",
        "report::sparks",
        "report::summary",
    ],
    &[
        "report::export::fio",
        "report::export::fio::direction",
        "report::export::fio::disk",
        "report::export::fio::options",
    ],
    &[
        "trial::boot",
        "trial::boot::accelerator",
        "trial::boot::cache",
        "trial::boot::debian",
        "trial::boot::machine",
        "trial::boot::micro",
        "trial::database",
        "trial::experiment",
    ],
    &["trial::cleanup", "trial::memory", "trial::trial_device"],
    &["trial::database::options", "trial::database::settings"],
    &["trial::mount::format", "trial::mount::make"],
    &[
        "workload::arrival",
        "workload::field",
        "workload::field::notation",
        "workload::field::table",
        "workload::options",
        "workload::profile",
        "workload::replay",
        "workload::sizes",
        "workload::spec",
    ],
    &["workload::blend", "workload::stream"],
];

/// The modules of a crate that are files of their own: by its path (`plan::field`), the file's code without its tests.
fn modules(name: &str) -> BTreeMap<String, String> {
    let folder = root().join("crates").join(name).join("src");
    let files = files(&folder, &[".rs"]).into_iter().filter(|path| !is_test(path));
    let module = |path: &Path| {
        let path = path.strip_prefix(&folder).unwrap().with_extension("").display().to_string().replace('/', "::");
        let path = path.strip_suffix("::mod").unwrap_or(&path).to_owned();
        if path == "lib" || path == "main" { String::new() } else { path }
    };
    files.map(|path| (module(&path), code(&read(&path)))).collect()
}

/// The paths that a piece of code names, from `crate`, `self` or `super` on, those in braces one by one.
fn named(code: &str) -> Vec<String> {
    fn spread(before: &str, tree: &str, into: &mut Vec<String>) {
        let Some((head, rest)) = tree.split_once('{') else {
            into.push(format!("{before}{}", tree.split(" as ").next().unwrap().trim()));
            return;
        };
        let (before, mut depth, mut start) = (format!("{before}{}", head.trim()), 0, 0);
        for (at, letter) in rest.char_indices() {
            match letter {
                '{' => depth += 1,
                '}' if depth > 0 => depth -= 1,
                ',' | '}' if depth == 0 => {
                    let part = rest[start..at].trim();
                    if !part.is_empty() {
                        spread(&before, part, into);
                    }
                    start = at + 1;
                    if letter == '}' {
                        break;
                    }
                }
                _ => {}
            }
        }
    }
    let mut found = Vec::new();
    let mut rest = code;
    let begins = |text: &str| ["crate::", "self::", "super::"].iter().filter_map(|root| text.find(root)).min();
    while let Some(at) = begins(rest) {
        let is_path_before = rest[..at].ends_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | ':'));
        let tree = &rest[at..];
        let is_use = rest[..at].trim_end().ends_with("use");
        let plain = tree.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | ':'))).unwrap_or(tree.len());
        let end = if is_use { tree.find(';').unwrap_or(tree.len()) } else { plain };
        if !is_path_before {
            spread("", &tree[..end], &mut found);
        }
        rest = &tree[end.max(5)..];
    }
    found
}

/// What a statement hands on from another module, `pub use error::{Error, Kind}`: the path and the names.
fn handed_on(statement: &str) -> Option<&str> {
    let (before, tree) = statement.trim().rsplit_once("use ")?;
    let public = before.trim_end().rsplit(['\n', '}', ']']).next()?;
    public.starts_with("pub").then_some(tree)
}

/// The module that a path leads to from `here`, by way of what modules hand on, and whether it names anything beyond.
fn led_to(modules: &BTreeMap<String, String>, here: &str, path: &str, depth: u32) -> Option<String> {
    let mut place: Vec<&str> = here.split("::").filter(|part| !part.is_empty()).collect();
    let mut parts = path.split("::").peekable();
    match parts.next()? {
        "crate" => place.clear(),
        "super" => drop(place.pop()),
        _ => {}
    }
    while parts.next_if_eq(&"super").is_some() {
        place.pop();
    }
    let mut place = place.join("::");
    for part in parts {
        let deeper = if place.is_empty() { part.to_owned() } else { format!("{place}::{part}") };
        if modules.contains_key(&deeper) {
            place = deeper;
            continue;
        }
        // What is no module of its own may be handed on from one that is.
        let handed = modules.get(&place)?.split(';').filter_map(handed_on);
        let from = handed.filter_map(|tree| {
            let (from, names) = match tree.split_once('{') {
                Some((from, names)) => (from.trim_end().trim_end_matches("::"), names),
                None => tree.rsplit_once("::")?,
            };
            let mut names = names.split(|c: char| !(c.is_alphanumeric() || c == '_'));
            names.any(|name| name == part).then_some(from)
        });
        let mut from = from.filter(|_| depth > 0).map(|from| match from.split("::").next() {
            Some("crate" | "self" | "super") => from.to_owned(),
            _ => format!("self::{from}"),
        });
        return from
            .next_back()
            .and_then(|from| led_to(modules, &place, &format!("{from}::{part}"), depth - 1))
            .or(Some(place));
    }
    Some(place)
}

/// The groups of modules that name each other in a circle.
fn circles(modules: &BTreeMap<String, String>) -> BTreeSet<Vec<String>> {
    let mut reached: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for (here, code) in modules {
        // What is only handed on is not used here.
        let used: Vec<&str> = code.split(';').filter(|part| handed_on(part).is_none()).collect();
        let found = named(&used.join(";")).into_iter().filter_map(|path| led_to(modules, here, &path, 4));
        reached.insert(here, found.filter(|to| to != here && !to.is_empty()).collect());
    }
    loop {
        let mut grown = false;
        let names: Vec<&str> = reached.keys().copied().collect();
        for name in names {
            let beyond: BTreeSet<String> =
                reached[name].iter().filter_map(|to| reached.get(to.as_str())).flatten().cloned().collect();
            let all = reached.get_mut(name).unwrap();
            let before = all.len();
            all.extend(beyond);
            grown |= all.len() > before;
        }
        if !grown {
            break;
        }
    }
    let turns = |name: &&&str| reached[**name].contains(**name);
    let group = |name: &&str| {
        let with = |other: &&String| reached.get(other.as_str()).is_some_and(|back| back.contains(*name));
        reached[*name].iter().filter(with).cloned().collect()
    };
    reached.keys().filter(turns).map(group).collect()
}

#[test]
fn modules_of_a_crate_name_each_other_in_a_circle_only_where_they_are_known_to() {
    let of_crate = |name: &str| {
        let full = |module: String| format!("{name}::{module}");
        circles(&modules(name)).into_iter().map(|circle| circle.into_iter().map(full).collect()).collect::<Vec<_>>()
    };
    let found: Vec<Vec<String>> = LAYERS.iter().flat_map(|(name, _)| of_crate(name)).collect();
    let is_part = |circle: &[String], known: &[&str]| circle.iter().all(|module| known.contains(&module.as_str()));
    let new: Vec<_> = found.iter().filter(|circle| !CIRCLES.iter().any(|known| is_part(circle, known))).collect();
    assert!(new.is_empty(), "these name each other; move a type so that one does not need the other: {new:#?}");
    let gone: Vec<_> = CIRCLES.iter().filter(|known| !found.iter().any(|circle| is_part(circle, known))).collect();
    assert!(gone.is_empty(), "these name each other no more; take them out of the list: {gone:#?}");
}

#[test]
fn circles_are_found_through_what_modules_hand_on() {
    let crate_of = |files: &[(&str, &str)]| -> BTreeMap<String, String> {
        files.iter().map(|(module, code)| ((*module).to_owned(), (*code).to_owned())).collect()
    };
    let house = crate_of(&[
        ("", "mod a; mod b; pub use b::{Brick, Wall};"),
        ("a", "use std::fs; use crate::{Wall, c::{self, Door}};"),
        ("b", "pub use inner::Beam; mod inner; struct Wall(crate::a::Roof);"),
        ("b::inner", "use super::super::c::Door;"),
        ("c", "use std::io;"),
    ]);
    assert_eq!(circles(&house), BTreeSet::from([vec!["a".to_owned(), "b".to_owned()]]));
    let tower =
        crate_of(&[("a", "use crate::b::Beam;"), ("b", "pub use inner::Beam;"), ("b::inner", "use crate::a::Roof;")]);
    assert_eq!(circles(&tower), BTreeSet::from([vec!["a".to_owned(), "b::inner".to_owned()]]));
}
