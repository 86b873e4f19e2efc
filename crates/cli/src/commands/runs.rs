//! `assay runs`, `assay tag`, `assay rm`: the runs of the store, what is added to them, and their end.

use std::io::{self, BufRead, IsTerminal, Write};

use block::Price;
use comfy_table::presets::NOTHING;
use comfy_table::{ContentArrangement, Table};
use lab::Environment;
use lab::gate::Baseline;
use store::{Filter, Run, RunNote, RunTag, Sharding, Store};

use super::history::Which;
use crate::failure::Failure;
use crate::format::Format;
use crate::run_filter;
use crate::terminal::{line, notice, say, width};

/// What was asked of `assay runs`.
#[derive(Clone, Debug, clap::Args)]
pub struct Runs {
    /// Only runs to which all of it applies: plan=, target=, tag=, group=, host=, serial=, state=; other words stand anywhere in
    /// plan, target or model
    #[arg(long, value_name = "KEY=VALUE...", value_parser = run_filter::read)]
    filter: Option<Filter>,

    /// Output format: text or JSON
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

/// What was asked of `assay tag`.
#[derive(Clone, Debug, clap::Args)]
pub struct Tag {
    /// The run: a number of `assay runs`, or `last`
    // Who completes names puts arguments in another order.
    #[arg(index = 1)]
    run: Which,

    /// The tags to add
    #[arg(value_name = "TAG", index = 2)]
    tags: Vec<RunTag>,

    /// Remove a tag; may be given several times
    #[arg(long, value_name = "TAG")]
    remove: Vec<RunTag>,

    /// Replace the note; an empty text removes it
    #[arg(long, value_name = "TEXT")]
    note: Option<String>,

    /// Set the price of the drive, such as 89.90EUR
    #[arg(long, value_name = "PRICE")]
    price: Option<Price>,
}

/// What was asked of `assay rm`.
#[derive(Clone, Debug, clap::Args)]
pub struct Remove {
    /// The runs: numbers of `assay runs`, or `last`
    #[arg(value_name = "RUN", required = true)]
    runs: Vec<Which>,

    /// Do not ask
    #[arg(short, long)]
    yes: bool,
}

/// Lists the runs.
pub fn list(store: &Store, arguments: &Runs) -> Result<(), Failure> {
    let filter = arguments.filter.clone().unwrap_or_default();
    let mut runs = store.wanted(&filter, 0, i64::MAX.unsigned_abs())?;
    runs.reverse();
    if arguments.format == Format::Json {
        return say(&report::export::runs_json(&runs, runs.len() as u64));
    }
    match (runs.is_empty(), &arguments.filter) {
        (true, None) => say("The store has no runs; `assay review` creates the first.\n"),
        (true, Some(_)) => say(
            "No run matches. plan=, target=, model=, tag=, group=, host= and serial= want the whole name; a word alone is found \
             anywhere in plan, target and model.\n",
        ),
        (false, _) => say(&format!("{}\n", table(&runs).trim_fmt())),
    }
}

/// The runs as a table. Hosts are named where there are several, tags where there are any.
fn table(runs: &[Run]) -> Table {
    let hosts: Vec<String> = runs.iter().map(host).collect();
    let has_hosts = hosts.iter().any(|host| *host != hosts[0]);
    let has_tags = runs.iter().any(|run| !run.annotations.tags.is_empty());
    let mut table = Table::new();
    let head = ["run", "started", "plan", "target"].into_iter();
    let more = has_hosts.then_some("host").into_iter().chain(has_tags.then_some("tags"));
    table
        .load_style(NOTHING)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(width())
        .set_header(head.chain(more).chain(["state"]));
    for (run, host) in runs.iter().zip(hosts) {
        let plan = if run.quick { format!("{} (quick)", run.plan) } else { run.plan.clone() };
        let plan = match run.sharding {
            Some(Sharding::Shard { shard, .. }) => format!("{plan}, shard {shard}"),
            _ => plan,
        };
        let tags: Vec<&str> = run.annotations.tags.iter().map(RunTag::as_str).collect();
        let first = [run.id.to_string(), report::date(run.started_ms), line(&plan), line(&run.target)];
        let more = has_hosts.then(|| line(&host)).into_iter().chain(has_tags.then(|| tags.join(" ")));
        table.add_row(first.into_iter().chain(more).chain([run.state.name().to_owned()]));
    }
    table
}

/// The name of a run's host; a dash where it is not known.
fn host(run: &Run) -> String {
    let found = serde_json::from_str::<Environment>(&run.environment).ok();
    found.and_then(|found| found.hostname).unwrap_or_else(|| "–".to_owned())
}

/// Adds to a run, or takes from it what was added.
pub fn tag(mut store: Store, arguments: &Tag) -> Result<(), Failure> {
    let run = arguments.run.find(&store)?;
    let mut now = run.annotations;
    if let Some(missing) = arguments.remove.iter().find(|tag| !now.tags.contains(tag)) {
        return Err(Failure::usage(format!("run {} has no tag `{missing}`", run.id)));
    }
    now.tags.extend(arguments.tags.iter().cloned());
    now.tags.retain(|tag| !arguments.remove.contains(tag));
    now.tags.sort();
    now.tags.dedup();
    match arguments.note.as_deref().map(str::trim) {
        None => {}
        Some("") => now.note = None,
        Some(text) => now.note = Some(text.parse::<RunNote>().map_err(Failure::usage)?),
    }
    now.price = arguments.price.or(now.price);
    let is_asked = !arguments.tags.is_empty() || !arguments.remove.is_empty();
    if is_asked || arguments.note.is_some() || arguments.price.is_some() {
        store.annotate(run.id, &now)?;
    }
    let tags: Vec<&str> = now.tags.iter().map(RunTag::as_str).collect();
    let facts = [
        ("tags", Some(tags.join(" ")).filter(|tags| !tags.is_empty())),
        ("note", now.note.map(|note| line(note.as_str()))),
        ("price", now.price.map(|price| price.to_string())),
    ];
    let told = facts.into_iter().map(|(name, fact)| format!("{name:<6} {}\n", fact.as_deref().unwrap_or("–")));
    say(&told.collect::<String>())
}

/// Removes runs with all that is kept of them, once somebody has agreed.
pub fn remove(mut store: Store, arguments: &Remove) -> Result<(), Failure> {
    let mut runs = arguments.runs.iter().map(|which| which.find(&store)).collect::<Result<Vec<Run>, _>>()?;
    runs.sort_by_key(|run| run.id);
    runs.dedup_by_key(|run| run.id);
    let baselines = baselines(&store)?;
    for run in &runs {
        let started = report::date(run.started_ms);
        notice(format_args!("Run {}: {} on {}, {started}", run.id, line(&run.plan), line(&run.target)));
        for (name, _) in baselines.iter().filter(|(_, baseline)| is_of(baseline, run)) {
            notice(format_args!("  It is the baseline {}, which keeps its own figures and stays.", line(name)));
        }
    }
    if !arguments.yes && !agrees(runs.len())? {
        return Err(Failure::usage("nothing was removed"));
    }
    for run in &runs {
        store.remove(run.id)?;
    }
    let numbers: Vec<String> = runs.iter().map(|run| run.id.to_string()).collect();
    say(&format!("Removed: {}. Reports that were written stay.\n", numbers.join(", ")))
}

/// The baselines of the store; one that is damaged is of no run.
fn baselines(store: &Store) -> Result<Vec<(String, Baseline)>, Failure> {
    let mut found = Vec::new();
    for name in store.baselines()? {
        let document = store.baseline(&name)?.unwrap_or_default();
        found.extend(Baseline::parse(&document).ok().map(|baseline| (name, baseline)));
    }
    Ok(found)
}

/// Whether a baseline was made of this run; another store has other runs of its number.
fn is_of(baseline: &Baseline, run: &Run) -> bool {
    baseline.run == run.id.0 && baseline.started_ms == run.started_ms
}

/// Whether somebody at the terminal agrees.
fn agrees(count: usize) -> Result<bool, Failure> {
    if !io::stdin().is_terminal() {
        return Err(Failure::usage("nobody can be asked here, so nothing was removed; --yes removes without asking"));
    }
    let runs = if count == 1 { "this run and its measurements" } else { "these runs and their measurements" };
    eprint!("Remove {runs}? [y/N] ");
    io::stderr().flush().ok();
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer).map_err(Failure::failed)?;
    Ok(matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
}
