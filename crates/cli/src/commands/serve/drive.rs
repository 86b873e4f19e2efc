//! One drive over its runs.

use lab::recall;
use report::fleet::FleetChecks;
use report::site::{self, DriveHistory};
use store::{Filter, Listed, RunState, Store};

use super::refusal::Refusal;
use crate::http::{HttpRequest, HttpResponse, JSON};

const VERSION: &str = env!("CARGO_PKG_VERSION");
/// The most runs that are looked through for those of a drive.
const FOUND_MAX: u64 = 10_000;
/// The most runs whose figures are shown, the latest.
const SHOWN_MAX: usize = 50;

/// The page of a drive.
pub fn page(store: &Store, request: &HttpRequest) -> Result<HttpResponse, Refusal> {
    Ok(HttpResponse::html(200, site::drive(&history(store, request)?, VERSION)))
}

/// The same for programs.
pub fn document(store: &Store, request: &HttpRequest) -> Result<HttpResponse, Refusal> {
    Ok(HttpResponse::text(JSON, site::drive_json(&history(store, request)?)))
}

/// By which parameter a drive is known, and its value.
fn asked(request: &HttpRequest) -> Result<(&'static str, &str), Refusal> {
    let given = ["serial", "target"].into_iter().filter_map(|key| Some((key, request.parameter(key)?)));
    match given.collect::<Vec<_>>()[..] {
        [one] => Ok(one),
        _ => Err(Refusal::Asked(
            "Name the drive: serial= with its serial number, or target= as it was asked for, such as sim:x25-m#2."
                .to_owned(),
        )),
    }
}

fn history(store: &Store, request: &HttpRequest) -> Result<DriveHistory, Refusal> {
    let (key, value) = asked(request)?;
    let runs = runs(store, key, value)?;
    let Some(latest) = runs.first() else {
        return Err(Refusal::NoSuchDrive(format!("The store has no run of the drive {value}.")));
    };
    let address = |plan: Option<&(String, bool)>| {
        let mut query = form_urlencoded::Serializer::new(String::new());
        query.append_pair(key, value);
        if let Some((plan, quick)) = plan {
            query.append_pair("plan", plan).append_pair("quick", if *quick { "1" } else { "0" });
        }
        query.finish()
    };
    let complete = || runs.iter().filter(|run| run.state == RunState::Complete);
    let mut plans: Vec<((String, bool), u64, String)> = Vec::new();
    for run in complete() {
        let plan = (run.plan.clone(), run.quick);
        match plans.iter_mut().find(|(known, ..)| *known == plan) {
            Some((_, runs, _)) => *runs += 1,
            None => plans.push((plan.clone(), 1, format!("/drive?{}", address(Some(&plan))))),
        }
    }
    let is_asked = |(plan, quick): &(String, bool)| {
        request.parameter("plan").is_some_and(|asked| asked == plan)
            && request.parameter("quick").is_none_or(|asked| (asked == "1") == *quick)
    };
    // Most runs say most; of plans with as many, that of the latest.
    let most = plans.iter().rev().max_by_key(|(_, runs, _)| *runs);
    let plan = match request.parameter("plan") {
        Some(_) => plans.iter().find(|(plan, ..)| is_asked(plan)),
        None => most,
    };
    let plan = plan.map(|(plan, ..)| plan.clone());
    let is_of_it = |run: &&Listed| plan.as_ref().is_some_and(|(plan, quick)| run.plan == *plan && run.quick == *quick);
    let mut ids: Vec<_> = complete().filter(is_of_it).map(|run| run.id).take(SHOWN_MAX).collect();
    ids.reverse();
    let shown = ids.into_iter().map(|run| Ok(report::fleet::drive(&recall(store, run)?, &FleetChecks::default())?));
    let shown = shown.collect::<Result<Vec<_>, Refusal>>()?.into_iter();
    // Runs on files that it holds are listed under its serial number too.
    let shown = shown.filter(|one| key != "serial" || one.identity.serial.as_deref() == Some(value)).collect();
    Ok(DriveHistory {
        serial: (key == "serial").then(|| value.to_owned()),
        plan,
        plans,
        shown,
        all: runs.len() as u64,
        list: format!("/?{}", address(None)),
        name: if key == "serial" { latest.target_identity.clone() } else { value.to_owned() },
    })
}

/// The runs of a drive, the latest first. The first specimen of a simulated drive has two names.
fn runs(store: &Store, key: &str, value: &str) -> Result<Vec<Listed>, Refusal> {
    if key == "serial" {
        let filter = Filter { serial: Some(value.to_owned()), ..Filter::default() };
        return Ok(store.listed(&filter, 0, FOUND_MAX)?);
    }
    let mut names = vec![value.to_owned()];
    if value.starts_with("sim:") && !value.contains('?') {
        match value.strip_suffix("#1") {
            Some(plain) => names.push(plain.to_owned()),
            None if !value.contains('#') => names.push(format!("{value}#1")),
            None => {}
        }
    }
    let mut runs = Vec::new();
    for target in names {
        runs.extend(store.listed(&Filter { target: Some(target), ..Filter::default() }, 0, FOUND_MAX)?);
    }
    runs.sort_by_key(|run| std::cmp::Reverse(run.id));
    Ok(runs)
}
