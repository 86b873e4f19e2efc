//! Which page an address stands for.

use store::Store;

use super::refusal::{Refusal, number};
use super::site::Site;
use super::{accept, access, catalog, compare, drive, fleet, list, live, run};
use crate::http::{HttpRequest, HttpResponse, JSON};

pub fn answer(site: &Site, request: &HttpRequest) -> HttpResponse {
    // Style and scripts have nothing of the store, and who is asked for a token should see a page as well.
    let refusal = if request.path().starts_with("/assets/") { None } else { site.access.refusal(request) };
    let is_api = request.path().starts_with("/api/");
    if let Some(refusal) = refusal {
        return if is_api { refusal.for_programs(access::REFUSED) } else { refusal };
    }
    if request.is_post() {
        let sent = site.accepts.as_ref().filter(|_| site.access.is_sender(request));
        let taken = sent.ok_or(Refusal::NoSender).and_then(|turn| match request.path() {
            "/api/push" => accept::push(site, turn, request),
            "/api/push/wanted" => accept::wanted(site, request),
            _ => Err(Refusal::NoSuchPage),
        });
        return taken.unwrap_or_else(Refusal::json);
    }
    page(site, request).unwrap_or_else(|refusal| if is_api { refusal.json() } else { refusal.into() })
}

fn page(site: &Site, request: &HttpRequest) -> Result<HttpResponse, Refusal> {
    let store = || Store::open_to_read(&site.store);
    let parts: Vec<&str> = request.path()[1..].split('/').collect();
    match parts[..] {
        [""] => list::page(site, &store()?, request),
        ["run", id] => run::page(&store()?, number(id)?),
        ["run", id, form] => run::document(&store()?, number(id)?, form),
        ["compare"] => compare::page(&store()?, request),
        ["live", id] => live::page(&store()?, number(id)?),
        // The first is the address that it had before the API.
        ["live", id, "state"] | ["api", "runs", id, "live"] => live::state(&store()?, &site.plans, number(id)?),
        ["live", id, "curve"] => live::curve(&store()?, number(id)?),
        ["live", id, "step", place] => live::step(&store()?, number(id)?, place),
        ["api", "runs"] => list::document(&store()?, request),
        ["api", "runs", id] => run::document(&store()?, number(id)?, "json"),
        ["api", "compare"] => compare::document(&store()?, request),
        ["api", "openapi.json"] => Ok(HttpResponse::text(JSON, include_str!("openapi.json"))),
        ["drive"] => drive::page(&store()?, request),
        ["fleet"] => fleet::page(&store()?, request),
        ["api", "drives"] => fleet::document(&store()?, request),
        ["api", "drive"] => drive::document(&store()?, request),
        ["plans"] => catalog::plans(&store()?),
        ["drives"] => catalog::drives(&store()?),
        ["assets", _, name] => {
            let asset = report::site::asset(name).ok_or(Refusal::NoSuchPage)?;
            Ok(HttpResponse::text(asset.media_type, asset.text).kept())
        }
        _ => Err(Refusal::NoSuchPage),
    }
}
